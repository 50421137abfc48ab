/* broker_part.h - between a tool and its broker; nobody else includes it.
 *
 * Two pairs of sockets (SOCK_SEQPACKET). Over the first the tool sends a question: a struct broker_ask with its texts, each ended by
 * NUL, and possibly descriptors. It waits for the struct broker_answer, which may bring one descriptor. Over the second it sends
 * signals without waiting for an answer (from a signal handler): a struct broker_ask alone.
 *
 * Until BROKER_ASK_SEAL a question is certainly the tool's own: any output may be started, and it may name what to trust. After that
 * it may come from code that has taken over the tool.
 */
#ifndef PT2_BROKER_PART_H
#define PT2_BROKER_PART_H
#include "base/process/child.h"

#include <limits.h>

enum broker_what {
	/* texts: .argv, then .env_set; n: how many belong to .argv; descriptors: the three streams whose bits are set in flags, one more that
	 * becomes number `mode` in the process (bit 3), and the pipe for the report */
	BROKER_ASK_START,
	BROKER_ASK_SIGNAL,  /* n: the child; flags: to its group; mode: the signal */
	BROKER_ASK_FILE,    /* text: path; flags, mode: of open(2) */
	BROKER_ASK_UNNAMED, /* an unnamed temporary file */
	BROKER_ASK_FOLDER,  /* text: path; mode */
	BROKER_ASK_REMOVE,  /* text: path */
	BROKER_ASK_TEMP,    /* n: enum temp_kind. text: the path */
	BROKER_ASK_UNTEMP,  /* text: the path */
	BROKER_ASK_OUTPUT,  /* text: path. n: its number */
	BROKER_ASK_OUTDIR,  /* text: path; flags: replace; hook. n: its number */
	BROKER_ASK_COMMIT,  /* n */
	BROKER_ASK_ABORT,   /* n */
	BROKER_ASK_DISCARD, /* n; text: a name in it */
	BROKER_ASK_PROBE,   /* answers with a path of libpt2probe.so that fits LD_PRELOAD */
	BROKER_ASK_CALL,    /* answers with the text of the function that was offered */
	BROKER_ASK_TRUST,   /* n: enum broker_trust; text: path */
	BROKER_ASK_SEAL,
	BROKER_ASK_END, /* the tool is ending: remove what is left of it */
	BROKER_ASKS
};

#define BROKER_MAX_TEXT (160u << 10) /* of a question: less than a socket accepts in one message */
#define BROKER_MAX_FDS 5

struct broker_ask {
	uint32_t what, flags, mode;
	uint64_t n;
	bool (*hook)(int fd); /* a function of the tool, before the seal: both run the same program */
	uint32_t n_text;      /* bytes that follow */
};
struct broker_answer {
	int32_t error;  /* an errno, or 0 */
	int32_t status; /* enum exit_status, where text is an error */
	uint64_t n;
	char text[PATH_MAX + 512];
};

/* A question as received. */
struct broker_question {
	struct broker_ask ask;
	char *text; /* n_text bytes and a NUL */
	const char *word[1024];
	size_t n_words;
	int fd[BROKER_MAX_FDS];
	size_t n_fds;
	pid_t tool;
	bool sealed;
};

/* ---- broker_serve.c ---- */
_Noreturn void broker_serve(int questions, int signals, pid_t tool);

/* The function that was offered; NULL: none. */
extern void (*broker_offered)(char *text, size_t max);

/* ---- broker_path.c: files in folders that the broker has made ---- */
void broker_path_add(const char *folder);
void broker_path_drop(const char *folder);
/* Is it one of these folders, or below one, without empty names, "." or ".."? */
bool broker_path_is_ours(const char *path);
/* A descriptor of the folder that contains path, reached without following links, and the last name of path; -1: EACCES. */
int broker_path_parent(const char *path, const char **name);

/* ---- broker_start.c ---- */
void broker_trusts(enum broker_trust what, const char *path);
bool broker_is_trusted(enum broker_trust what, const char *path);
/* libpt2probe.so, by a path that LD_PRELOAD can name; NULL and err. */
const char *broker_probe(struct err *err);
/* May this be started for a sealed tool? */
bool broker_may_start(const struct child_spec *spec);

/* ---- seal.c ---- */
/* flags: those of broker_seal(). -1: this kernel has no filters; what was given up before stays given up. */
int seal_process(unsigned flags, struct err *err);

#endif
