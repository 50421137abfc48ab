/* bisect.h - what bisect.c finds and bisect_show.c says. */
#ifndef BISECT_H
#define BISECT_H
#include "base/arena.h"
#include "base/process/child.h"
#include "run_part.h"

enum place { DISABLED, EAGER, AOT, DECOMP, AS_IS, PLACES };
struct bisect_place {
	const char *name, *backend;
	enum component component;
	const char *what; /* is new here */
};
extern const struct bisect_place places[PLACES];

/* What is tried when Inductor's code runs and fails: each takes one thing out of it. */
struct bisect_part {
	const char *setting, *since, *what; /* since: which torch */
};
enum { PARTS_TRIED = 9 };
extern const struct bisect_part parts[PARTS_TRIED];

struct trial {
	const char *name, *backend, *setting;
	bool failed, stopped;
	struct child_result r;
	const char *error, *key;   /* the exception, one line; the same without what differs from run to run; "" */
	const char *where;         /* the user's line, "FILE:LINE"; "" */
	enum component component;  /* as its own log has it */
	const char *torch, *asked; /* torch's version, the backends that the program asked for; "" */
	bool no_setting;           /* this torch does not have it */
};
#define MOST_TRIALS 24

struct bisect {
	const struct explain_options *o;
	char *const *command;
	struct arena arena;
	const char *folder;
	char *site;             /* PYTHONPATH */
	struct patterns *known; /* whose a message is */
	struct trial trial[MOST_TRIALS];
	unsigned n;
	struct trial *at[PLACES];
	const struct trial *first, *again;
	enum place found;
	bool flaky, cached, own_too, unreached;
	int passes, fails;        /* places: the last known not to fail (-1), the first known to */
	int ended_by;             /* the signal before all was tried, 0 */
	const struct trial *part; /* with this setting it does not fail */
};

/* Two runs failed alike: end, exception, its first line (numbers and paths aside). */
bool bisect_same(const struct trial *a, const struct trial *b);
/* Is there a record of a failure of the compiler's; else the program failed while it ran. */
bool bisect_while_compiling(const struct trial *t);
/* The backends that the program asked for, and its torch: "" when not known. */
const char *bisect_asked(const struct bisect *b);
const char *bisect_torch(const struct bisect *b);

static inline bool bisect_inductor(const struct bisect *b) { return strstr(bisect_asked(b), "inductor") != NULL; }

void bisect_show(struct screen *s, const struct bisect *b);
void bisect_document(struct buf *out, const struct bisect *b);

#endif
