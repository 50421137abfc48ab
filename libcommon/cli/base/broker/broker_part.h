/* broker_part.h - between a tool and its broker; nobody else includes it.
 *
 * Two pairs of sockets (SOCK_SEQPACKET). Over the first the tool sends a question, a struct broker_ask with its texts, each ended by
 * NUL, and maybe descriptors, and waits for the struct broker_answer, which may bring one descriptor. Over the second go signals that
 * nobody waits for (from a handler): a struct broker_ask alone.
 *
 * Before BROKER_SEAL all that is asked is the tool's own will, and granted. After it a question may be anybody's.
 */
#ifndef PT2_BROKER_PART_H
#define PT2_BROKER_PART_H
#include "base/process/child.h"

#include <limits.h>

enum broker_what {
	/* texts: .argv, then .env_set; n: of .argv; descriptors: three streams, where flags has their bits, one more, which the process has as
	 * `mode` (bit 3), and the report */
	BROKER_ASK_START,
	BROKER_ASK_SIGNAL,  /* n: the child; flags: to its group; mode: the signal */
	BROKER_ASK_FILE,    /* text: path; flags, mode: of open(2) */
	BROKER_ASK_UNNAMED, /* a temporary file without a name */
	BROKER_ASK_FOLDER,  /* text: path; mode */
	BROKER_ASK_REMOVE,  /* text: path */
	BROKER_ASK_TEMP,    /* n: enum temp_kind. text: the path */
	BROKER_ASK_UNTEMP,  /* text: the path */
	BROKER_ASK_OUTPUT,  /* text: path. n: its number */
	BROKER_ASK_OUTDIR,  /* text: path; flags: replace; hook. n: its number */
	BROKER_ASK_COMMIT,  /* n */
	BROKER_ASK_ABORT,   /* n */
	BROKER_ASK_DISCARD, /* n; text: a name in it */
	BROKER_ASK_PROBE,   /* text: where libpt2probe.so is found by LD_PRELOAD */
	BROKER_ASK_TRUST,   /* n: enum broker_trust; text: path */
	BROKER_ASK_SEAL,
	BROKER_ASK_END, /* the tool ends: what is left of it goes */
	BROKER_ASKS
};

#define BROKER_MAX_TEXT (160u << 10) /* of a question: less than a socket takes at once */
#define BROKER_MAX_FDS 5

struct broker_ask {
	uint32_t what, flags, mode;
	uint64_t n;
	bool (*hook)(int fd); /* the tool's own function, before the seal: both are one program */
	uint32_t n_text;      /* bytes that follow */
};
struct broker_answer {
	int32_t error;  /* an errno; 0 */
	int32_t status; /* enum exit_status, where text is an error */
	uint64_t n;
	char text[PATH_MAX + 512];
};

/* A question as it came. */
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

/* ---- broker_path.c: files of folders that the broker has made ---- */
void broker_path_add(const char *folder);
void broker_path_drop(const char *folder);
/* Is it one of these folders, or below one of them, by names that stay there? */
bool broker_path_is_ours(const char *path);
/* The descriptor of the folder that path lies in, reached without links, and its last name; -1: EACCES. */
int broker_path_parent(const char *path, const char **name);

/* ---- broker_start.c ---- */
void broker_trusts(enum broker_trust what, const char *path);
bool broker_is_trusted(enum broker_trust what, const char *path);
/* libpt2probe.so, by a path that LD_PRELOAD can name; NULL and err. */
const char *broker_probe(struct err *err);
/* May this be started for a tool that is sealed? */
bool broker_may_start(const struct child_spec *spec);

/* ---- seal.c ---- */
/* flags: of broker_seal(). -1: this kernel has no filters, and what was refused by then stays so. */
int seal_process(unsigned flags, struct err *err);

#endif
