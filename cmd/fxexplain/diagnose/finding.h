/* finding.h - what the analyses make of facts: findings, worst first, and the views that emitters show.
 *
 *     struct explanation x;
 *     explain(&x, &facts);
 *     for (uint32_t i = 0; i < x.n_finding; i++) ...     // ranked: failures, then by cost
 *     explanation_release(&x);
 *
 * An analysis is one file with one function, explain_NAME(x), which reads x->facts and adds findings and its view; explain()
 * runs them in the order below. A text of a finding is a slice into x->arena or into the facts' names (both live as long).
 *
 *     component.c    which part failed, the evidence, the experiment that would prove it
 *     breaks.c       graph breaks by user line, with their cost
 *     recompiles.c   recompiles by frame, the guard that changed, limits
 *     shapes.c       symbols: source, value, range, what bounded them
 *     times.c        compile time by compile id and phase, caches, CUDA graphs
 *     known.c        messages of the knowledge base
 *
 * A finding is something a person should do something about, or know. The rest is in the views.
 */
#ifndef PT2_FINDING_H
#define PT2_FINDING_H
#include "diagnose/facts.h"

enum finding_level { FINDING_NOTE, FINDING_WARNING, FINDING_ERROR };
extern const char *const finding_level_name[3]; /* "note", "warning", "error": SARIF's words */

enum finding_kind {
	FINDING_FAILURE, /* compilation or the program failed */
	FINDING_KNOWN,   /* a message of the knowledge base */
	FINDING_LIMIT,   /* recompile limit reached: the frame runs in eager from then on */
	FINDING_RECOMPILE,
	FINDING_BREAK,
	FINDING_SHAPE,
	FINDING_TIME,
	FINDING_CACHE,
	FINDING_CUDAGRAPH,
	FINDING_DAMAGE, /* the input could not be read whole */
	FINDING_KINDS,
};
extern const char *const finding_kind_name[FINDING_KINDS]; /* "failure", "known", "limit", "recompile", "graph-break", ... */

struct finding {
	enum finding_kind kind;
	enum finding_level level;
	struct slice id;       /* stable: "GB0025", "recompile", a pattern's id: what SARIF calls a rule */
	struct slice title;    /* one line: "graph break at app/m.py:5: Tensor.item()" without the place */
	struct fact_loc loc;   /* the user's line */
	struct fact_src src;   /* where it is first said */
	uint64_t count;        /* how often: breaks, recompiles, messages */
	double seconds;        /* of compile time that it costs; < 0: not known */
	struct slice cost;     /* "2 more graphs, 1 call in eager, 0.31 s of compiling" */
	struct slice why;      /* cause, as the log or the knowledge base says */
	struct slice evidence; /* lines quoted from the input, one a line; at most 6 */
	struct slice fix;      /* what to change; one a line, best first; code where it can be code */
	struct slice next;     /* commands to run next, one a line */
	struct slice url;
	struct slice compiles; /* "0/0 0/1", bounded */
	uint32_t rank;         /* place in the order */
};

/* breaks.c: all breaks of one user line with one reason. */
struct break_group {
	uint32_t first; /* row of facts.brk; the others by next */
	struct fact_loc loc;
	enum fact_break_kind kind;
	int32_t gb;
	uint32_t count, inferred;
	uint32_t graphs;   /* resume functions that were compiled because of it */
	uint32_t eager;    /* frames left to Python whole */
	int64_t ops_after; /* ops in those resume functions */
	double seconds;    /* compiling them, and restarts; < 0 */
	uint32_t finding;
};
/* recompiles.c: one frame (code object) and its compilations in order. */
struct frame_view {
	struct fact_loc loc;
	uint32_t input;
	int64_t frame;
	uint32_t compiles; /* how many */
	uint32_t recompiles;
	uint32_t first; /* row of x.step: its steps side by side */
	uint32_t n;
	bool limited; /* a limit was reached */
	double seconds;
	uint32_t finding; /* NONE */
};
struct frame_step {
	uint32_t compile;    /* row of facts.compile, NONE */
	uint32_t recompile;  /* row of facts.recompile that led to it, NONE for the first */
	struct slice change; /* "size of x at dim 0: 3 -> 5"; empty for the first */
	struct slice fix;
};
/* shapes.c */
struct symbol_view {
	uint32_t row; /* of facts.symbol; NONE: only bounds name it */
	struct slice name;
	struct slice range;            /* after all that was learned, where the log tells */
	uint32_t first_bound, n_bound; /* of x.bound_row: rows of facts.bound */
	bool specialized;
	uint32_t finding;
};
/* times.c: parts of the compile time, the run's or one compile id's. */
struct time_view {
	uint32_t compile; /* NONE: the run */
	double seconds;
	uint32_t first, n; /* of x.part */
};
struct time_part {
	struct slice name; /* "dynamo tracing", "AOTAutograd", "lowering", "C++ compile", ... */
	double seconds;
	uint64_t calls;
};

struct component_view {
	enum component component; /* COMPONENT_NONE: nothing failed */
	enum { SURE_NOT, SURE_LIKELY, SURE_PROVEN } sure;
	uint32_t failure; /* row of facts.failure, NONE */
	uint32_t compile;
	struct slice evidence;   /* one a line */
	struct slice experiment; /* what would prove it, one a line: commands and settings */
	struct slice minify;     /* the fxminify command to run next; empty */
};

#define VIEW_ROWS(type, name) \
	type *name; \
	uint32_t n_##name, cap_##name

struct explanation {
	struct facts *facts;
	struct arena arena;
	VIEW_ROWS(struct finding, finding);
	VIEW_ROWS(struct component_view, component); /* one per failure that ended something, the first is the verdict */
	VIEW_ROWS(struct break_group, group);
	VIEW_ROWS(struct frame_view, frame);
	VIEW_ROWS(struct frame_step, step);
	VIEW_ROWS(struct symbol_view, symbol);
	VIEW_ROWS(uint32_t, bound_row);
	VIEW_ROWS(struct time_view, time);
	VIEW_ROWS(struct time_part, part);
	/* the run in numbers */
	uint64_t breaks, inferred_breaks, recompiles, limits, failures, restarts, graphs, ops, guards, skips;
	uint64_t hits, misses, bypasses;
	double seconds; /* < 0: not known */
	struct buf tmp;
};

void explain(struct explanation *x, struct facts *f);
void explanation_release(struct explanation *x);
void explain_component(struct explanation *x);
void explain_breaks(struct explanation *x);
void explain_recompiles(struct explanation *x);
void explain_shapes(struct explanation *x);
void explain_times(struct explanation *x);
void explain_known(struct explanation *x);
/* Was something compiled by AOTInductor? Such a compilation has no compile id, and so no record of its own. times.c */
bool explain_aot_compiled(const struct facts *f);

/* For the analyses: a new finding (all empty, seconds -1), a text in the arena. */
struct finding *explain_finding(struct explanation *x, enum finding_kind kind, enum finding_level level);
struct slice explain_textf(struct explanation *x, const char *fmt, ...) PRINTF_LIKE(2, 3);
struct slice explain_keep(struct explanation *x, struct slice s);
static inline struct slice explain_text(const struct explanation *x, uint32_t id) { return facts_text(x->facts, id); }
/* "app/m.py:5 in f"; of what goes on behind a graph break "app/m.py:5 in f behind line 5"; "" when not known. */
struct slice explain_place(struct explanation *x, const struct fact_loc *loc);
/* The same for emitters: appended to b. */
void explain_add_place(struct buf *b, const struct explanation *x, const struct fact_loc *loc);

#endif
