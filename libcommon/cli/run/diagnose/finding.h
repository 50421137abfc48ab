/* finding.h - the results of the analyses of facts: findings, worst first, and the views that emitters show.
 *
 *     struct explanation x;
 *     explain(&x, &facts);
 *     for (uint32_t i = 0; i < x.n_finding; i++) ...     // ranked: failures, then by cost
 *     explanation_release(&x);
 *
 * An analysis is one file with one function, explain_NAME(x), which reads x->facts and adds findings and its view; explain()
 * runs them in the order below. Texts of a finding are slices into x->arena or into the facts' names (which live as long as x).
 *
 *     cause.c        what a message of torch really means: the exception inside, the operator
 *     wrapper.c      breaks in torch's own wrappers: DDP, FSDP2, optimizers
 *     headline.c     the run as a whole
 *     event.c        one finding per event
 *     place.c        the user's own line
 *     title.c        the one-line title, with the cause in a few words
 *     order.c        order by cost
 *     component.c    which component failed, the evidence, the experiment that would prove it
 *     evidence.c     what a message proves about it, and what not
 *     breaks.c       graph breaks by user line, with their cost
 *     recompiles.c   recompiles by frame, the guard that failed, limits
 *     consequence.c  recompiles that are there only because of a break
 *     workers.c      processes that compile kernels: those that died or hang
 *     shapes.c       symbols: source, value, range, what bounded them
 *     times.c        compile time by compile id and phase, caches, CUDA graphs
 *     finding.c      rows of findings
 *     known.c        messages of the knowledge base
 *     bugs.c         known bugs of torch that a failure looks like
 *     ignore.c       sets aside what the user silenced
 *     release.c      drops fixes that name something this torch lacks
 *     tried.c        in how many programs a fix was tried, and worked
 *
 * A finding is something a person should act on or know. The rest is in the views.
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

/* Compared with an earlier run's document (fxexplain --baseline). */
enum finding_change { CHANGE_NOT_COMPARED, CHANGE_NONE, CHANGE_MORE, CHANGE_NEW };

struct finding {
	enum finding_kind kind;
	enum finding_level level;
	struct slice id;         /* stable: "GB0025", "recompile", a pattern's id: a rule in SARIF */
	struct slice title;      /* one line: "graph break at app/m.py:5: Tensor.item()" without the place */
	struct slice cause;      /* of a break or recompile, in a few words; the end of the title: "print", "size of x at dim 0: 4 -> 6" */
	struct fact_loc loc;     /* the user's line: the innermost frame that belongs neither to torch nor to an installed package */
	struct fact_loc through; /* torch's or a package's line, called from it, where it happens; none if that is loc */
	struct fact_loc call;    /* of torch.export's failures: the line that called it, where loc is where it stopped */
	struct slice frames;     /* the stack, outermost first: lines "FILE:LINE in f: code", or a traceback */
	struct fact_src src;     /* where the log first reports it */
	uint64_t count;          /* how often: breaks, recompiles, messages */
	double seconds;          /* compile time that it costs; < 0: unknown */
	double call_us;          /* microseconds that it costs on each call (order.h); < 0: none, or unknown */
	bool in_python;          /* a whole function permanently falls back to eager */
	struct slice cost;       /* "2 more graphs, 1 call in eager, 0.31 s of compile time" */
	struct slice follows;    /* titles of the findings that are consequences of this one, one per line; also at the end of cost */
	struct slice why;        /* the cause, from the log or the knowledge base */
	struct slice evidence;   /* lines quoted from the input, one per line; at most 6 */
	struct slice fix;        /* what to change, tried in tests/live/fixes; one per line, best first; code where possible */
	struct slice hint;       /* what may help, not tried; one per line */
	struct slice torch_hint; /* torch's own, one per line */
	struct slice next;       /* commands to run next, one per line */
	struct slice url;
	struct slice compiles; /* "0/0 0/1", bounded */
	int64_t *ranks;        /* of a run of several ranks: those that have it, sorted, at most 64; none if it concerns all */
	uint32_t n_ranks;
	uint32_t rank;             /* place in the order */
	uint32_t compile;          /* of facts.compile, NONE */
	bool ended;                /* a failure that ended the program */
	uint32_t first_bug, n_bug; /* of x.bug: known bugs of torch that it looks like (bugs.h) */
	uint32_t into;             /* the finding that covers this one, which is then not shown; NONE */
	enum finding_change change;
	struct slice ignored; /* by what: "# pt2: ignore", "pyproject.toml:12" (ignore.h); empty: it is not */
	bool in_source;       /* by a comment */
};

/* breaks.c: all breaks of one user line with one reason. */
struct break_group {
	uint32_t first; /* row of facts.brk; the others by next */
	struct fact_loc loc;
	enum fact_break_kind kind;
	int32_t gb;
	uint32_t count, inferred;
	uint32_t graphs;   /* resume functions compiled because of it */
	uint32_t eager;    /* whole frames that fall back to eager */
	int64_t ops_after; /* ops in those resume functions */
	double seconds;    /* compiling them, and restarts; < 0 */
	double call_us;    /* crossing it, and the guards of those graphs; < 0 */
	uint32_t finding;
};
/* recompiles.c: one frame (code object) and its compilations in order. */
struct frame_view {
	uint32_t row;      /* of facts.frame */
	uint32_t first, n; /* of x.step: its steps, contiguous */
	uint32_t finding;  /* NONE */
};
struct frame_step {
	uint32_t compile;    /* row of facts.compile, NONE */
	uint32_t recompile;  /* row of facts.recompile that caused it, NONE for the first */
	struct slice change; /* "size of x at dim 0: 3 -> 5"; empty for the first */
	struct slice fix, hint;
	bool placed;  /* a line of the program made the guard: recompile's loc */
	bool crosses; /* a value on the stack at the break before this code */
	bool grad;    /* requires_grad of a tensor */
};
/* shapes.c */
struct symbol_view {
	uint32_t row; /* of facts.symbol; NONE: only bounds name it */
	struct slice name;
	struct slice range;            /* after all bounds, if the log has them */
	uint32_t first_bound, n_bound; /* of x.bound_row: rows of facts.bound */
	bool specialized;
	uint32_t finding;
};
/* times.c: phases of the compile time of the run or of one compile id. */
struct time_view {
	uint32_t compile; /* NONE: the run */
	double seconds;
	uint32_t first, n; /* of x.part */
};
struct time_part {
	struct slice name; /* "dynamo tracing", "AOTAutograd", "lowering", "C++ compile", ... */
	double seconds;    /* wall time */
	double threads;    /* of all threads together; equal to seconds where nothing ran in parallel */
	uint64_t calls;
};

/* What a verdict rests on. */
enum basis {
	BASIS_NONE,    /* not known yet: `next` would tell */
	BASIS_LIKELY,  /* a known message */
	BASIS_FOLLOWS, /* from what the log says, with the lines in `evidence` */
	BASIS_SEEN,    /* this run showed it */
	BASES,
};
extern const char *const basis_name[BASES]; /* "not known", "likely", "follows", "seen" */

struct component_view {
	enum component component; /* COMPONENT_NONE: nothing failed, or not known which part */
	enum { SURE_NOT, SURE_LIKELY, SURE_PROVEN } sure;
	enum basis basis;
	bool unfinished;        /* nothing failed: the log ends in this component */
	bool interrupted;       /* nothing failed: Ctrl-C; the title says what was going on */
	bool fell_back;         /* it was logged, and the program went on in eager */
	struct slice title;     /* instead of the component's; empty: that */
	struct slice why, hint; /* for its finding, where the message does not mean what it seems to; empty: as the message says */
	struct slice next;      /* commands that would tell, where it is not known; one per line */
	uint32_t failure;       /* row of facts.failure, NONE */
	uint32_t compile;
	struct slice evidence;   /* one per line */
	struct slice experiment; /* what would prove it, one per line: commands and settings */
	struct slice minify;     /* the fxminify command to run next; empty */
};

#define VIEW_ROWS(type, name) \
	type *name; \
	uint32_t n_##name, cap_##name

struct bug_hit; /* bugs.h */
struct explanation {
	struct facts *facts;
	struct arena arena;
	VIEW_ROWS(struct finding, finding);
	VIEW_ROWS(struct finding, ignored);          /* ignore.h */
	VIEW_ROWS(struct component_view, component); /* one per failure that ended something, the first is the verdict */
	VIEW_ROWS(struct break_group, group);
	VIEW_ROWS(struct frame_view, frame);
	VIEW_ROWS(struct frame_step, step);
	VIEW_ROWS(struct symbol_view, symbol);
	VIEW_ROWS(uint32_t, bound_row);
	VIEW_ROWS(struct time_view, time);
	VIEW_ROWS(struct time_part, part);
	VIEW_ROWS(struct bug_hit, bug);
	struct facts_sums sum;                                                         /* the run in numbers */
	uint64_t ignored_breaks, ignored_inferred, ignored_recompiles, ignored_limits; /* of them, those of ignored findings */
	uint32_t n_ranks;                                                              /* that wrote the inputs */
	uint32_t slowest;      /* the input of the rank that compiled longest, NONE */
	uint64_t *raised;      /* while recompiles are explained (recompiles.c) */
	double guard_us;       /* time of one guard on a call (order.h), < 0: unknown */
	struct slice headline; /* the findings in one sentence; empty: they speak for themselves */
	struct buf tmp;
};

void explain(struct explanation *x, struct facts *f);
/* "headline", "verdict", "other_verdicts", "findings" into the open object. */
struct json_out;
void explain_out(const struct explanation *x, struct json_out *o, bool page);
/* A hash of kind, id, file and function, not of lines, numbers and times: it stays the same while a program is edited. */
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
void explain_release(struct explanation *x);                                /* release.c, after those that have fixes */
void explain_tried(struct explanation *x);                                  /* tried.c, after that */
FOR_TESTS void explain_tried_in(struct explanation *x, struct slice table); /* with a table like share/breaks/tried.txt */
void explain_headline(struct explanation *x);                               /* headline.c */
void explain_events(struct explanation *x);                                 /* event.c, after all others */
void explain_consequences(struct explanation *x);                           /* consequence.c, after that */
void explain_bugs(struct explanation *x);                                   /* bugs.c, after that */
void explain_same_call(struct explanation *x);                              /* event.c, after explain_own_lines */
void explain_foreign_breaks(struct explanation *x);                         /* the same */
void explain_own_lines(struct explanation *x);                              /* place.c */
/* ranks_of.c: for a run of several ranks, before and after all other analyses; marks a finding as on an input's rank, on another's. */
void explain_count_ranks(struct explanation *x);
void explain_ranks(struct explanation *x);
void explain_on_input(struct explanation *x, struct finding *g, uint32_t input);
void explain_on_ranks_of(struct explanation *x, struct finding *g, const struct finding *other);
/* "0, 3-7", "199 of 200, not 137", "all" */
void explain_put_ranks(struct buf *b, const struct explanation *x, const struct finding *g);
/* Did AOTInductor compile something? Such a compilation has no compile id, and so no row of its own. times.c */
bool explain_aot_compiled(const struct facts *f);
/* Is it the trace of an export only? Then its compile ids and graphs do not belong to compiled code. headline.c */
bool explain_exports(const struct explanation *x);

/* evidence.c: "Failed: ", "Likely cause: ", "Not known yet: ", "Unfinished: ", "Interrupted: ": precedes the verdict's title. */
const char *explain_verdict_label(const struct component_view *v);
/* The title; empty: there is no verdict to show. */
struct slice explain_verdict_title(const struct component_view *v);
/* place.c: the next frame of such a text, with its code. */
bool explain_frame(struct slice *frames, struct srcloc *at);
/* event.c: the finding that covers this one: itself, or the end of its `into` chain. */
uint32_t explain_told_by(const struct explanation *x, uint32_t finding);
/* For the analyses: a new finding (all empty, seconds -1), a text in the arena. */
struct finding *explain_finding(struct explanation *x, enum finding_kind kind, enum finding_level level);
#define explain_textf(x, ...) arena_textf(&(x)->arena, __VA_ARGS__)
static inline struct slice explain_keep(struct explanation *x, struct slice s) { return s.n ? arena_slice(&x->arena, s) : s; }
static inline struct slice explain_text(const struct explanation *x, uint32_t id) { return facts_text(x->facts, id); }
/* "app/m.py:5 in f"; for the code after a graph break "app/m.py:5 in f after line 5"; "" if unknown. */
struct slice explain_place(struct explanation *x, const struct fact_loc *loc);
/* The same for emitters, appended to b; for a finding followed by ", through torch/optim/sgd.py:106". */
void explain_add_place(struct buf *b, const struct explanation *x, const struct fact_loc *loc);
void explain_add_where(struct buf *b, const struct explanation *x, const struct finding *g);
/* title.c: appends the cause to the title of all findings: after this a title ends in ": CAUSE". */
void explain_titles(struct explanation *x);
/* The title in at most `most` bytes: what precedes the cause is cut first. */
void explain_add_title(struct buf *b, const struct finding *g, size_t most);
/* What a graph break is about: "zlib.crc32" from its context, else the line of code. */
struct slice explain_break_cause(struct explanation *x, struct slice title, struct slice context, struct slice code);

#endif
