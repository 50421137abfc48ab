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
 *     cause.c        what a message of torch's really says: the exception inside, the operator
 *     wrapper.c      breaks in torch's own wrappers: DDP, FSDP2, optimizers
 *     headline.c     the whole before the parts
 *     event.c        one event is one finding
 *     place.c        the user's own line of it
 *     title.c        its cause in a few words, its one line
 *     order.c        what is first: what findings cost
 *     component.c    which part failed, the evidence, the experiment that would prove it
 *     breaks.c       graph breaks by user line, with their cost
 *     recompiles.c   recompiles by frame, the guard that changed, limits
 *     workers.c      processes that compile kernels: which died, which hang
 *     shapes.c       symbols: source, value, range, what bounded them
 *     times.c        compile time by compile id and phase, caches, CUDA graphs
 *     known.c        messages of the knowledge base
 *     release.c      fixes that name what this torch does not have are left out
 *
 * A finding is something a person should do something about, or know. The rest is in the views.
 */
#ifndef PT2_FINDING_H
#define PT2_FINDING_H
#include "run/facts.h"
#include "run/sums.h"

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

/* Against an earlier run's document (fxexplain --baseline). */
enum finding_change { CHANGE_NOT_COMPARED, CHANGE_NONE, CHANGE_MORE, CHANGE_NEW };

struct finding {
	enum finding_kind kind;
	enum finding_level level;
	struct slice id;         /* stable: "GB0025", "recompile", a pattern's id: what SARIF calls a rule */
	struct slice title;      /* one line: "graph break at app/m.py:5: Tensor.item()" without the place */
	struct slice cause;      /* of a break or recompile, in few words, the end of the title: "print", "size of x at dim 0: 4 -> 6" */
	struct fact_loc loc;     /* the user's line: of the innermost frame that is neither torch's nor an installed package's */
	struct fact_loc through; /* the line below it where it happens, torch's or a package's; none where loc is that line */
	struct fact_loc call;    /* of torch.export's failures: the line that called it, where loc is what it stopped at */
	struct slice frames;     /* that lead there, outermost first: lines "FILE:LINE in f: code", or a traceback */
	struct fact_src src;     /* where it is first said */
	uint64_t count;          /* how often: breaks, recompiles, messages */
	double seconds;          /* of compile time that it costs; < 0: not known */
	double call_us;          /* microseconds that it costs on each call (order.h); < 0: nothing, or not known */
	bool in_python;          /* a whole function runs in Python for ever */
	struct slice cost;       /* "2 more graphs, 1 call in eager, 0.31 s of compiling" */
	struct slice why;        /* cause, as the log or the knowledge base says */
	struct slice evidence;   /* lines quoted from the input, one a line; at most 6 */
	struct slice fix;        /* what to change, as tried (tests/live/fixes); one a line, best first; code where it can be code */
	struct slice hint;       /* what may help, not tried; one a line */
	struct slice torch_hint; /* torch's own, one a line */
	struct slice next;       /* commands to run next, one a line */
	struct slice url;
	struct slice compiles; /* "0/0 0/1", bounded */
	int64_t *ranks;        /* of a run of several: on which it is, in order, at most 64; none of what is of all */
	uint32_t n_ranks;
	uint32_t rank;    /* place in the order */
	uint32_t compile; /* of facts.compile, NONE */
	bool ended;       /* a failure: the program ended with it */
	uint32_t into;    /* the finding that tells of it, too: this one is left out; NONE */
	enum finding_change change;
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
	double call_us;    /* crossing it, and the guards of those graphs; < 0 */
	uint32_t finding;
};
/* recompiles.c: one frame (code object) and its compilations in order. */
struct frame_view {
	uint32_t row;      /* of facts.frame */
	uint32_t first, n; /* of x.step: its steps side by side */
	uint32_t finding;  /* NONE */
};
struct frame_step {
	uint32_t compile;    /* row of facts.compile, NONE */
	uint32_t recompile;  /* row of facts.recompile that led to it, NONE for the first */
	struct slice change; /* "size of x at dim 0: 3 -> 5"; empty for the first */
	struct slice fix, hint;
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
	double seconds;    /* by the clock */
	double threads;    /* of all threads together; as much as seconds where none ran side by side */
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
	struct facts_sums sum; /* the run in numbers */
	uint32_t n_ranks;      /* that wrote the inputs */
	uint32_t slowest;      /* the input of the rank that compiled longest, NONE */
	double guard_us;       /* what one guard takes on a call (order.h), < 0: not known */
	struct slice headline; /* what the findings come to; empty: nothing that they do not say themselves */
	struct buf tmp;
};

void explain(struct explanation *x, struct facts *f);
/* "headline", "verdict", "other_verdicts", "findings" into the object that is open. */
struct json_out;
void explain_out(const struct explanation *x, struct json_out *o);
/* Of kind, id, file and function, not of lines, numbers and times: what stays the same while a program is worked on. */
enum { FINGERPRINT_TEXT = 17 };
void finding_fingerprint(const struct explanation *x, const struct finding *g, char id[FINGERPRINT_TEXT]);
void explanation_release(struct explanation *x);
void explain_component(struct explanation *x);
void explain_breaks(struct explanation *x);
void explain_recompiles(struct explanation *x);
void explain_shapes(struct explanation *x);
void explain_times(struct explanation *x);
void explain_workers(struct explanation *x);
void explain_known(struct explanation *x);
void explain_release(struct explanation *x);        /* release.c, after those that have fixes */
void explain_headline(struct explanation *x);       /* headline.c */
void explain_events(struct explanation *x);         /* event.c, after all others */
void explain_same_call(struct explanation *x);      /* event.c, after explain_own_lines */
void explain_foreign_breaks(struct explanation *x); /* the same */
void explain_own_lines(struct explanation *x);      /* place.c */
/* ranks_of.c: of a run of several ranks, first and after all findings; a finding is on an input's rank, on those of another. */
void explain_count_ranks(struct explanation *x);
void explain_ranks(struct explanation *x);
void explain_on_input(struct explanation *x, struct finding *g, uint32_t input);
void explain_on_ranks_of(struct explanation *x, struct finding *g, const struct finding *other);
void explain_put_ranks(struct buf *b, const struct finding *g); /* "0, 3" */
/* Was something compiled by AOTInductor? Such a compilation has no compile id, and so no record of its own. times.c */
bool explain_aot_compiled(const struct facts *f);
/* Is it the trace of an export alone? Then its compilation ids and graphs are not those of compiled code. headline.c */
bool explain_exports(const struct explanation *x);

/* place.c: the next frame of such a text, with its code; the user's own line of it: of what stands below "from user code" first. */
bool explain_frame(struct slice *frames, struct srcloc *at);
/* event.c: the finding that tells of this one: itself, or at the end of `into`. */
uint32_t explain_told_by(const struct explanation *x, uint32_t finding);
/* For the analyses: a new finding (all empty, seconds -1), a text in the arena. */
struct finding *explain_finding(struct explanation *x, enum finding_kind kind, enum finding_level level);
struct slice explain_textf(struct explanation *x, const char *fmt, ...) PRINTF_LIKE(2, 3);
struct slice explain_keep(struct explanation *x, struct slice s);
static inline struct slice explain_text(const struct explanation *x, uint32_t id) { return facts_text(x->facts, id); }
/* "app/m.py:5 in f"; of what goes on behind a graph break "app/m.py:5 in f behind line 5"; "" when not known. */
struct slice explain_place(struct explanation *x, const struct fact_loc *loc);
/* The same for emitters: appended to b; of a finding with ", through torch/optim/sgd.py:106" behind it. */
void explain_add_place(struct buf *b, const struct explanation *x, const struct fact_loc *loc);
void explain_add_where(struct buf *b, const struct explanation *x, const struct finding *g);
/* title.c: the cause behind the title, in all findings: after this a title ends in ": CAUSE". */
void explain_titles(struct explanation *x);
/* The title in at most so many bytes: what stands before the cause is cut first. */
void explain_add_title(struct buf *b, const struct finding *g, size_t most);
/* What a graph break is about: "zlib.crc32" of its context, else the line of code. */
struct slice explain_break_cause(struct explanation *x, struct slice title, struct slice context, struct slice code);

#endif
