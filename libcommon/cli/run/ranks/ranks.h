/* ranks.h - many processes of one program: where their logs stop saying the same.
 *
 *     struct ranks all = {0};
 *     ranks_add(&all, &f, input, 0);                 // one input of a model that was read with facts_options.ranks, or of a document of
 *                                                    // tlparse --json; the model may be released after this
 *     ranks_lost(&all, path, "the file is empty");   // a log that could not be read
 *     ranks_flight(&all, &flight);                   // a dump of a Flight Recorder, which is all's from then on
 *     ranks_finish(&all);                            // order, names (rank_0, rank_0_2, proc_1234), comparison
 *     ... all.process[], all.check[], all.split[], all.desync[]
 *     ranks_release(&all);
 *
 * Of each log stays what is compared, small and bounded, and texts that many ranks share are kept once: so there may be thousands.
 * What a process did depends on its rows alone, and everything that ranks_finish makes of all on these.
 *
 * What is compared. Every process is some sequences of items; two processes agree in a sequence when all items are the same.
 * The reference of a check is the process whose sequence most processes share (of equals: the first in order). For every
 * other group the first item in which it differs from the reference is found; processes that leave the reference at the same
 * item and in the same way are one group, a split.
 *
 * Graphs are compared by a 64-bit fingerprint of their text in which the numbers of devices (cuda:3) count as one. Texts of
 * graphs are kept up to RANK_TEXT_ALL bytes together. Durations and times are microseconds. Times are those of the log's
 * lines, the clock of the machine that wrote it, counted from the start of a year that is not known.
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

/* Kinds of events, which are kept in the order of the log. The first ones are what was captured, the last what was made of it. */
#define RANK_EVENT_KINDS(X) \
	X(START, "start", "compiles") \
	X(GRAPH, "graph", "captures a graph") \
	X(BREAK, "break", "breaks the graph") \
	X(RECOMPILE, "recompile", "recompiles") \
	X(FAILURE, "failure", "fails") \
	X(CACHE, "cache", "asks the cache") \
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
	int64_t at;             /* since the log's start, of RANK_BREAK, RANK_RECOMPILE and RANK_FAILURE; -1: not known */
	uint8_t kind, cache;    /* cache: enum rank_cache, of RANK_CACHE */
};
struct rank_compile {
	uint32_t id, dir, loc; /* "0/1", "-_0_1_0", "step (app.py:12)" or NONE */
	int64_t us;            /* -1: not known */
	uint32_t breaks;
	uint8_t status, cache; /* enum compile_status; the worst of its cache events */
	bool unknown;          /* its records had no usable compile id */
};
/* An operator of a list: of a schedule its name, of estimates its nanoseconds, too. */
struct rank_op {
	struct slice name, ns;
};
/* A component of a key that two ranks have otherwise, or what else one missed (run/lookups.h). */
struct rank_key_change {
	enum fact_cache_kind kind;
	struct key_change of;
};
struct rank_process {
	char *path;
	int64_t rank;        /* -1: none; the file's name tells, or else the records */
	int64_t record_rank; /* what the records say */
	uint64_t pid;
	int64_t start, end;
	uint32_t torch_version;
	ROWS(struct rank_compile, compile);
	ROWS(struct rank_event, event);
	/* Rows of the model, as far as they are compared; `compile` is a row of compile[], texts are ids of all->names. */
	ROWS(struct fact_span, span);
	ROWS(struct fact_list, list); /* all but the next */
	ROWS(struct fact_parity, parity);
	ROWS(struct fact_cache, lookup);
	ROWS(uint32_t, order); /* compile ids ("0/1") in the order in which graphs ran */
	struct trace_damage damage[DAMAGE_COUNT];
	uint64_t cut_events, cut_ops; /* what did not fit, and lists that could not be read */

	uint32_t tag; /* the caller's own */

	/* after ranks_finish */
	char *name;       /* rank_0, rank_0_2, proc_1234 */
	uint32_t nth;     /* 1, or the how manieth log of this rank */
	uint64_t process; /* pid for timelines: the rank; a number of its own for what is no rank, or a rank again */
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
	RANK_CHECK_ORDER,   /* in which order graphs ran */
	RANK_CHECK_MADE,    /* graphs that AOTAutograd and Inductor made */
	RANK_CHECK_VERSION, /* of torch */
	RANK_CHECK_COUNT
};

struct rank_item {
	uint64_t fp;
	uint64_t graph;   /* fingerprint of the graph that the event is about; 0: none */
	uint32_t compile; /* NONE: none */
	struct slice text;
	uint8_t kind; /* enum rank_event_kind; RANK_EVENT_COUNT where it is no event */
};
/* Processes that leave the reference at the same place in the same way. */
struct rank_split {
	enum rank_check check;
	uint32_t ref;                      /* process */
	uint32_t at, ref_items, items;     /* the item that differs; how many either has (of the first of the group) */
	bool ref_ends, ends;               /* this side has no more items */
	bool swapped;                      /* key: before is the group's, for the reference is who missed */
	struct rank_item theirs, own;      /* the reference's item, and the group's */
	ROWS(struct rank_key_change, key); /* of RANK_CHECK_CACHE: why, as far as the logs tell */
	ROWS(uint32_t, member);
};
struct rank_group { /* processes whose whole sequence is the same */
	uint64_t signature;
	ROWS(uint32_t, member);
};
struct rank_verdict {
	bool recorded, agree;
	uint32_t ref;
	ROWS(struct rank_group, group); /* the largest first */
	uint32_t first_split, splits;
};
struct rank_missing {
	char *path, *why;
	int64_t rank;
};
/* ---- collectives that not all members of a group asked for: ranks_desync.c ---- */

enum rank_desync_kind {
	DESYNC_MISSED,   /* the culprits did not ask for it */
	DESYNC_OPERATOR, /* they asked for another operator */
	DESYNC_SIZES,    /* or other sizes or dtypes */
	DESYNC_NO_DUMP,  /* it does not end, and there is no dump of some members */
	DESYNC_NO_END,   /* all asked for it, and it has not ended */
	DESYNC_KINDS
};
struct rank_culprit {
	uint32_t flight, op;     /* what it asked for instead; NONE: nothing */
	uint32_t process, event; /* its trace, and what it alone did there before; NONE */
};
struct rank_desync {
	enum rank_desync_kind kind;
	uint32_t flight, op; /* the first of those who wait, and what it waits in */
	uint64_t seq;
	ROWS(struct rank_culprit, culprit);
	ROWS(uint32_t, waiter); /* of all->flight */
	ROWS(int64_t, absent);  /* members of whom there is no dump */
	uint32_t cause;         /* the culprits wait in that one; NONE: it began here */
	int64_t since;          /* ns since 1970: when the first began to wait; 0: not told */
};

struct ranks {
	struct intern names;
	ROWS(struct rank_process, process);
	ROWS(struct rank_missing, lost);
	ROWS(struct rank_split, split);
	struct rank_verdict check[RANK_CHECK_COUNT];
	ROWS(struct fact_step, graph); /* the first of each fingerprint, with its text */
	struct intern graphs;
	struct arena keys;           /* texts of rank_split.key */
	ROWS(struct flight, flight); /* by rank, each once */
	ROWS(struct rank_desync, desync);
	uint64_t desyncs_left_out; /* beyond RANK_DESYNCS */
	size_t text_bytes;
	int64_t start, end;    /* of all */
	ROWS(int64_t, absent); /* ranks below the highest of which there is no log, the first 1000 */
	uint64_t absents;
};

void ranks_add(struct ranks *all, const struct facts *f, uint32_t input, uint32_t tag);
void ranks_lost(struct ranks *all, const char *path, const char *why);
void ranks_flight(struct ranks *all, struct flight *f);
void ranks_finish(struct ranks *all);
void ranks_release(struct ranks *all);

/* Made by ranks_finish(): who keeps others waiting, and why. */
void ranks_find_desyncs(struct ranks *all);
/* "rank 3 recompiled 12/4 because s77 = 17 (...) and missed collective 183 (all_reduce, 4.00 MB)": of one culprit, or (NONE) of none. */
void rank_desync_text(struct buf *b, const struct ranks *all, const struct rank_desync *d, uint32_t culprit);
/* "collectives": {"dumps": ..., "desyncs": [...]}, docs/formats/REPORT.md. */
void ranks_desync_json(struct json_out *o, const struct ranks *all);

/* The items of one check of a process, appended to rows that the caller frees. */
struct rank_items {
	ROWS(struct rank_item, item);
};
void rank_items_of(const struct ranks *all, const struct rank_process *f, enum rank_check check, struct rank_items *out);
/* The graph captured (or else made) at this compile id of a process: index into all->graph, NONE when there is none or its
 * text was not kept; *fp is its fingerprint, 0 for none. */
uint32_t rank_graph_of(const struct ranks *all, const struct rank_process *f, uint32_t compile, uint64_t *fp);
uint32_t rank_graph_by_fp(const struct ranks *all, uint64_t fp);
/* Lists of one kind, sorted by the folder of their compilation, then by the artifact's number, as the Rust tool has them; the caller frees
 * them. */
struct rank_list {
	struct slice dir;
	const struct fact_list *row;
};
struct rank_list *rank_lists_of(const struct ranks *all, const struct rank_process *f, enum fact_list_kind kind, uint32_t *n);
/* The next operator of a list of LIST_SCHEDULE or LIST_ESTIMATES: cut off *lines, which begins as the text of row->lines. */
bool rank_next_op(struct slice *lines, enum fact_list_kind kind, struct rank_op *op);
/* Microseconds of a row's seconds; 0 for what is not known. */
static inline int64_t rank_us(double seconds) { return seconds > 0 && seconds < 1e12 ? (int64_t)(seconds * 1e6 + 0.5) : 0; }
/* Is "rank 3" enough to name it? */
static inline bool rank_is_plain(const struct rank_process *f) { return f->rank >= 0 && f->nth == 1; }
/* Two fingerprints as one. */
static inline uint64_t rank_mix(uint64_t a, uint64_t b) { return hash_bytes((const uint64_t[]){a, b}, 2 * sizeof(a)); }
void rank_desync_release(struct rank_desync *d);
/* A number as a log has it. */
double rank_number(struct slice text);
static inline struct slice rank_text(const struct ranks *all, uint32_t name)
{
	return name == NONE ? SLICE("") : intern_get(&all->names, name);
}
#endif
