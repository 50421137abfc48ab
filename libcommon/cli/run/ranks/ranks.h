/* ranks.h - many processes of one program: where their logs diverge.
 *
 *     struct ranks all = {0};
 *     ranks_add(&all, &f, input, 0);                 // one input of a model read with facts_options.ranks, or from a document of
 *                                                    // tlparse --json; the model may be released afterwards
 *     ranks_lost(&all, path, "the file is empty");   // a log that could not be read
 *     ranks_flight(&all, &flight);                   // a dump of a Flight Recorder, which `all` owns from then on
 *     ranks_finish(&all);                            // order, names (rank_0, rank_0_2, proc_1234), comparison
 *     ... all.process[], all.check[], all.split[], all.desync[]
 *     ranks_release(&all);
 *
 * Only what is compared is kept of each log, small and bounded, and texts shared by many ranks are kept once: so there may be thousands.
 * What a process did depends only on its rows, and everything that ranks_finish derives only on that.
 *
 * What is compared: each process has several sequences of items; two processes agree in a sequence if all items are equal.
 * The reference of a check is the process whose sequence most processes share (in case of a tie, the first in order). For every
 * other group the first item in which it differs from the reference is found; processes that diverge from the reference at the same
 * item and in the same way are one group, a split.
 *
 * Graphs are compared by a 64-bit fingerprint of their text in which all device numbers (cuda:3) count as the same. Texts of
 * graphs are kept up to RANK_TEXT_ALL bytes together. Durations and times are in microseconds. Times are those of the log's
 * lines, the clock of the machine that wrote it, counted from the start of an unknown year.
 */
#ifndef PT2_RANKS_H
#define PT2_RANKS_H
#include "run/flight/flight.h"
#include "run/lookups.h"
#include "run/trace/trace.h"

enum {
	RANK_TEXT_ALL = 64 << 20,
	RANK_PROCESSES = 1 << 20,
	RANK_DESYNCS = 4096,
};

/* Kinds of events, kept in log order. The first ones are about capturing, the last about the graphs made from that. */
#define RANK_EVENT_KINDS(X) \
	X(START, "start", "compiles") \
	X(GRAPH, "graph", "captures a graph") \
	X(BREAK, "break", "breaks the graph") \
	X(RECOMPILE, "recompile", "recompiles") \
	X(FAILURE, "failure", "fails") \
	X(CACHE, "cache", "looks up the cache") \
	X(MADE, "made", "makes a graph")
enum rank_event_kind {
#define X(id, name, text) RANK_##id,
	RANK_EVENT_KINDS(X)
#undef X
	    RANK_EVENT_COUNT
};
extern const char *const rank_event_name[RANK_EVENT_COUNT], *const rank_event_text[RANK_EVENT_COUNT];

enum rank_cache { RANK_CACHE_NONE, RANK_CACHE_BYPASS, RANK_CACHE_HIT, RANK_CACHE_MISS };

struct rank_event {
	uint64_t fp;
	uint64_t line;
	uint32_t compile, text; /* text: in words */
	uint32_t guard;         /* of RANK_RECOMPILE: "s77 = 17 (tensor 'x' size mismatch ...)"; else NONE */
	int64_t at;             /* since the log's start, for RANK_BREAK, RANK_RECOMPILE and RANK_FAILURE; -1: unknown */
	uint8_t kind, cache;    /* cache: enum rank_cache, of RANK_CACHE */
};
struct rank_compile {
	uint32_t id, dir, loc; /* "0/1", "-_0_1_0", "step (app.py:12)" or NONE */
	int64_t us;            /* -1: unknown */
	uint32_t breaks;
	uint8_t status, cache; /* enum compile_status; the worst of its cache events */
	bool unknown;          /* its records had no usable compile id */
};
/* An operator of a list: in a schedule its name, in estimates also its nanoseconds. */
struct rank_op {
	struct slice name, ns;
};
/* A component of a cache key that differs between two ranks, or another reason of the miss (run/lookups.h). */
struct rank_key_change {
	enum fact_cache_kind kind;
	struct key_change of;
};
struct rank_process {
	char *path;
	int64_t rank;        /* -1: none; from the file's name, else from the records */
	int64_t record_rank; /* from the records */
	uint64_t pid;
	int64_t start, end;
	uint32_t torch_version;
	ROWS(struct rank_compile, compile);
	ROWS(struct rank_event, event);
	/* The compared rows of the model; `compile` is a row of compile[], texts are ids of all->names. */
	ROWS(struct fact_span, span);
	ROWS(struct fact_list, list); /* all except the next */
	ROWS(struct fact_parity, parity);
	ROWS(struct fact_cache, lookup);
	ROWS(uint32_t, order); /* compile ids ("0/1") in the order in which graphs ran */
	struct trace_damage damage[DAMAGE_COUNT];
	uint64_t cut_events, cut_ops; /* what exceeded the limits, and unreadable lists */

	uint32_t tag; /* for the caller */

	/* after ranks_finish */
	char *name;       /* rank_0, rank_0_2, proc_1234 */
	uint32_t nth;     /* ordinal of this log among the rank's logs, from 1 */
	uint64_t process; /* pid in timelines: the rank; a separate number for a process without a rank, or with one already used */
	int64_t us;       /* sum of its compilations */
};

/* The rank that PyTorch put into the name of a log (dedicated_log_torch_trace_rank_3_x.log), or -1. */
FOR_TESTS int64_t rank_of_path(const char *path);

/* ---- together ---- */

enum rank_check {
	RANK_CHECK_IDS,     /* the set of compile ids */
	RANK_CHECK_CAPTURE, /* what Dynamo did: starts, graphs, breaks, recompiles, failures */
	RANK_CHECK_CACHE,   /* hits, misses and bypasses */
	RANK_CHECK_COLLECT, /* collective operators, in the order of the schedules */
	RANK_CHECK_TENSORS, /* outputs of operators: type, shape, stride */
	RANK_CHECK_ORDER,   /* the order in which graphs ran */
	RANK_CHECK_MADE,    /* graphs that AOTAutograd and Inductor made */
	RANK_CHECK_VERSION, /* of torch */
	RANK_CHECK_COUNT
};

struct rank_item {
	uint64_t fp;
	uint64_t graph;   /* fingerprint of the graph that the event is about; 0: none */
	uint32_t compile; /* NONE: none */
	struct slice text;
	uint8_t kind; /* enum rank_event_kind; RANK_EVENT_COUNT if it is not an event */
};
/* Processes that diverge from the reference at the same place in the same way. */
struct rank_split {
	enum rank_check check;
	uint32_t ref;                      /* process */
	uint32_t at, ref_items, items;     /* the item that differs; the lengths of both (for the first of the group) */
	bool ref_ends, ends;               /* this side has no more items */
	bool swapped;                      /* key: "before" is the group's, because the reference missed */
	struct rank_item theirs, own;      /* the reference's item, and the group's */
	ROWS(struct rank_key_change, key); /* for RANK_CHECK_CACHE: why, as far as the logs show */
	ROWS(uint32_t, member);
};
struct rank_group { /* processes whose whole sequence is the same */
	uint64_t signature;
	ROWS(uint32_t, member);
};
struct rank_verdict {
	bool recorded, agree;
	uint32_t ref;
	ROWS(struct rank_group, group); /* largest first */
	uint32_t first_split, splits;
};
struct rank_missing {
	char *path, *why;
	int64_t rank;
};
/* ---- collectives that not all members of a group entered: ranks_desync.c ---- */

enum rank_desync_kind {
	DESYNC_MISSED,   /* the culprits did not enter it */
	DESYNC_OPERATOR, /* they entered a different operator */
	DESYNC_SIZES,    /* or with different sizes or dtypes */
	DESYNC_NO_DUMP,  /* it did not finish, and some members have no dump */
	DESYNC_NO_END,   /* all entered it, and it did not finish */
	DESYNC_KINDS
};
struct rank_culprit {
	uint32_t flight, op;     /* what it entered instead; NONE: nothing */
	uint32_t process, event; /* its trace, and the last thing that only it did before; NONE */
};
struct rank_desync {
	enum rank_desync_kind kind;
	uint32_t flight, op; /* the first waiting member, and what it waits in */
	uint64_t seq;
	ROWS(struct rank_culprit, culprit);
	ROWS(uint32_t, waiter); /* of all->flight */
	ROWS(int64_t, absent);  /* members without a dump */
	uint32_t cause;         /* the desync in which the culprits wait; NONE: it started here */
	int64_t since;          /* ns since 1970: when the first member started to wait; 0: unknown */
};

struct ranks {
	struct intern names;
	ROWS(struct rank_process, process);
	ROWS(struct rank_missing, lost);
	ROWS(struct rank_split, split);
	struct rank_verdict check[RANK_CHECK_COUNT];
	ROWS(struct fact_step, graph); /* the first one of each fingerprint, with its text */
	struct intern graphs;
	struct arena keys;           /* texts of rank_split.key */
	ROWS(struct flight, flight); /* by rank, each once */
	ROWS(struct rank_desync, desync);
	uint64_t desyncs_left_out; /* beyond RANK_DESYNCS */
	size_t text_bytes;
	int64_t start, end;    /* of all */
	ROWS(int64_t, absent); /* ranks below the highest without a log, the first 1000 */
	uint64_t absents;
};

void ranks_add(struct ranks *all, const struct facts *f, uint32_t input, uint32_t tag);
void ranks_lost(struct ranks *all, const char *path, const char *why);
void ranks_flight(struct ranks *all, struct flight *f);
void ranks_finish(struct ranks *all);
void ranks_release(struct ranks *all);

/* Called by ranks_finish(): finds who keeps others waiting, and why. */
void ranks_find_desyncs(struct ranks *all);
/* "rank 3 recompiled 12/4 because s77 = 17 (...) and missed collective 183 (all_reduce, 4.00 MB)": for one culprit, or (NONE) for none. */
void rank_desync_text(struct buf *b, const struct ranks *all, const struct rank_desync *d, uint32_t culprit);
/* "collectives": {"dumps": ..., "desyncs": [...]}, docs/formats/REPORT.md. */
void ranks_desync_json(struct json_out *o, const struct ranks *all);

/* The items of one check of a process, appended to rows; the caller frees them. */
struct rank_items {
	ROWS(struct rank_item, item);
};
void rank_items_of(const struct ranks *all, const struct rank_process *f, enum rank_check check, struct rank_items *out);
/* The graph captured (or else made) at this compile id of a process: index into all->graph, NONE if there is none or its
 * text was not kept; *fp is its fingerprint, 0 for none. */
uint32_t rank_graph_of(const struct ranks *all, const struct rank_process *f, uint32_t compile, uint64_t *fp);
uint32_t rank_graph_by_fp(const struct ranks *all, uint64_t fp);
/* Lists of one kind, sorted by the folder of their compilation, then by the artifact's number, as in the Rust tool; the caller frees
 * them. */
struct rank_list {
	struct slice dir;
	const struct fact_list *row;
};
struct rank_list *rank_lists_of(const struct ranks *all, const struct rank_process *f, enum fact_list_kind kind, uint32_t *n);
/* The next operator of a list of LIST_SCHEDULE or LIST_ESTIMATES: cut off *lines, which starts as the text of row->lines. */
bool rank_next_op(struct slice *lines, enum fact_list_kind kind, struct rank_op *op);
/* A row's seconds in microseconds; 0 if unknown. */
static inline int64_t rank_us(double seconds) { return seconds > 0 && seconds < 1e12 ? (int64_t)(seconds * 1e6 + 0.5) : 0; }
/* Does "rank 3" identify it? */
static inline bool rank_is_plain(const struct rank_process *f) { return f->rank >= 0 && f->nth == 1; }
/* Combines two fingerprints. */
static inline uint64_t rank_mix(uint64_t a, uint64_t b) { return hash_bytes((const uint64_t[]){a, b}, 2 * sizeof(a)); }
void rank_desync_release(struct rank_desync *d);
/* A number in a log's form. */
double rank_number(struct slice text);
static inline struct slice rank_text(const struct ranks *all, uint32_t name)
{
	return name == NONE ? SLICE("") : intern_get(&all->names, name);
}
#endif
