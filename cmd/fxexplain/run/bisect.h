/* bisect.h - what bisect.c tries, bisect_trial.c compares and bisect_show.c prints. */
#ifndef BISECT_H
#define BISECT_H
#include "base/arena.h"
#include "base/process/child.h"
#include "base/json.h"
#include "run/run_part.h"

enum place { DISABLED, EAGER, AOT, DECOMP, AS_IS, PLACES };
struct bisect_place {
	const char *name, *backend;
	enum component component;
	const char *what; /* added at this stage */
};
extern const struct bisect_place places[PLACES];

/* Tried when Inductor's code fails at run time: each switches one thing off. */
struct bisect_part {
	const char *setting, *since, *what; /* since: torch version */
};
enum { PARTS_TRIED = 9 };
extern const struct bisect_part parts[PARTS_TRIED];

struct trial {
	const char *name, *backend, *setting;
	bool failed, stopped;
	struct child_result r;
	const char *error, *key;   /* the exception, one line; the same without what varies between runs; "" if none */
	const char *where;         /* the user's line, "FILE:LINE"; "" */
	const char *minify;        /* the command that reduces its graph; "" */
	enum component component;  /* according to its own log */
	const char *torch, *asked; /* torch's version, the backends that the program requested; "" if unknown */
	bool no_setting;           /* this torch does not have it */
};
#define MOST_TRIALS 24

struct bisect {
	const struct explain_options *o;
	char *const *command;
	int timeout_ms;
	void (*tell)(const struct bisect *b); /* a signal ended it: shows what is known */
	struct arena arena;
	const char *folder;
	bool kept;              /* the folder: it stays */
	char *site;             /* PYTHONPATH */
	struct patterns *known; /* which component a message belongs to */
	struct trial trial[MOST_TRIALS];
	unsigned n;
	struct trial *at[PLACES];
	const struct trial *first, *again;
	enum place found;
	bool flaky, cached, own_too, unreached, no_parts;
	int passes, fails;        /* stages: the last known to pass (-1), the first known to fail */
	int ended_by;             /* the signal that interrupted the search, or 0 */
	const struct trial *part; /* the setting that avoids the failure */
};

/* bisect.c: the exit status. keep: --keep DIR, or NULL; kept: is the folder of the runs to be used? */
int bisect_run(char *const *command, const char *keep, bool kept, int timeout_ms);
/* The same in steps, for `run --wrong`: b has .o, .command, .folder and .timeout_ms. */
void bisect_open(struct bisect *b);
void bisect_search(struct bisect *b);
/* If Inductor's code fails when it runs: which setting avoids it? bisect_search() does it, unless b->no_parts. only: try this one. */
void bisect_parts(struct bisect *b, const char *only);
void bisect_close(struct bisect *b);
/* Runs the command, or another one, with these variables; what it prints goes to stdout.txt and stderr.txt in this new folder. A signal
 * from the user ends the search: what was found so far is shown. */
void bisect_start(struct bisect *b, const char *const *argv, const char *const *env, const char *dir, struct child_result *r);

/* ---- bisect_trial.c ---- */

/* Two runs failed the same way: exit, exception and its first line (ignoring numbers and paths). */
bool bisect_same(const struct trial *a, const struct trial *b);
/* The first stage that is expected to fail. */
int bisect_expected(const struct trial *t);
/* Does the log record a compiler failure? If not, the program failed while it ran. */
bool bisect_while_compiling(const struct trial *t);
/* The backends that the program requested, and its torch version: "" if unknown. */
const char *bisect_asked(const struct bisect *b);
const char *bisect_torch(const struct bisect *b);

static inline bool bisect_inductor(const struct bisect *b) { return strstr(bisect_asked(b), "inductor") != NULL; }

/* ---- bisect_show.c ---- */

void bisect_show(struct screen *s, const struct bisect *b);
/* Its parts: the component, a sentence about it, lines of evidence, lines of commands, the table of runs, and "runs" of the document. */
enum component bisect_verdict(const struct bisect *b);
void bisect_sentence(struct buf *out, const struct bisect *b);
void bisect_evidence(struct buf *out, const struct bisect *b);
void bisect_next(struct buf *out, const struct bisect *b);
void bisect_table(struct screen *s, const struct bisect *b);
void bisect_runs(struct json_out *o, const struct bisect *b);
void bisect_document(struct buf *out, const struct bisect *b);

#endif
