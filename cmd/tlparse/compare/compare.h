/* compare.h - compares two traces of one program: what happened differently the second time.
 *
 *     struct compare_log before = {0}, after = {0};
 *     if (compare_read(&before, "before.log", temp_file, NULL, &err) < 0 || compare_read(&after, ...) < 0) ...
 *     struct compare c;
 *     compare_run(&c, &before, &after);
 *     ... c.pair[]: matched compilations; c.change[]: differences; c.text[]: texts line by line
 *     compare_release(&c); compare_log_release(&before); compare_log_release(&after);
 *
 * How compilations are matched. A frame is identified by its code: file, line and function (torch's co_filename, co_firstlineno,
 * co_name in compilation_metrics, else the last entry of the stack of dynamo_start), then by file and function alone (lines
 * move), then by function and graph (a renamed script), never by its number. Several frames of the same code are aligned by the
 * graph that Dynamo captured first, the rest by order. The compilations of a frame are aligned by the reason of the recompile,
 * the rest by order. Attempts are matched from the last one backwards.
 *
 * The logs are read once. Of every artifact only the normal_hash of its text and its place in the file are kept; texts
 * of matched artifacts with different hashes are read again (a compressed log or a pipe is spooled to an unlinked file).
 * All lists are bounded; the excess is counted in more[] and texts_left.
 */
#ifndef PT2_COMPARE_H
#define PT2_COMPARE_H
#include "compare/normal.h"
#include "graph/graphdiff.h"
#include "graph/inductor/fusionlog.h"
#include "run/trace/trace.h"

enum { COMPARE_CONFIGS = 5 };
/* Keep the output small enough to look at: rows of one kind, texts shown, bytes shown of one text and in total. */
enum { COMPARE_ROWS = 2000, COMPARE_TEXTS = 500, COMPARE_TEXT_BYTES = 256 << 10, COMPARE_BYTES = 24 << 20, COMPARE_READ = 96 << 20 };

struct compare_artifact {
	uint64_t hash, offset; /* offset: of the payload in the file, if no record changed it yet */
	uint32_t lines;        /* of payload; 0: no text */
};
struct compare_configs {                /* of one attempt */
	uint32_t text[COMPARE_CONFIGS]; /* of compare_log.texts, NONE */
};
struct compare_unit { /* a compile id with all its attempts */
	uint32_t frame;
	uint32_t first, last; /* attempts: rows of unit_attempt, sorted by attempt */
	int64_t compile;
	uint32_t recompile; /* row of trace.recompile, NONE */
	uint32_t pair;
	double seconds; /* of its row of compiles: including restarts and backward; < 0: unknown */
};
struct compare_frame {
	struct fact_loc loc;
	uint32_t first, last; /* units */
	uint32_t match;       /* of the other log, NONE */
	uint64_t signature;
	bool none; /* for events outside any frame */
};

struct compare_log {
	struct trace t;
	bool document;   /* read from a --json document: rows, without artifacts and configurations */
	uint32_t inputs; /* number of inputs of the document that this is one of; or 1 */
	int fd;          /* to read payloads again, -1 */
	struct intern texts;
	struct intern versions; /* "name\0value" */
	ROWS(struct compare_artifact, artifact);
	ROWS(struct compare_configs, configs);
	ROWS(struct compare_unit, unit);
	ROWS(struct compare_frame, frame);
	uint32_t *attempt;              /* compile rows, by unit */
	uint32_t *unit_of;              /* of each compile row */
	const struct fusionlog *fusion; /* TORCH_LOGS=fusion of this run, NULL; the caller's */
};

#define COMPARE_KINDS(X) \
	X(VERSION, "versions", "Versions") \
	X(CONFIG, "config", "Configuration") \
	X(FAILURE, "failures", "Failures") \
	X(BREAK, "graph_breaks", "Graph breaks") \
	X(RECOMPILE, "recompiles", "Recompiles") \
	X(COMPILE, "compiles", "Compilations") \
	X(TIME, "times", "Compile time") \
	X(CACHE, "cache", "Caches") \
	X(KEY, "cache_keys", "Cache keys") \
	X(GUARD, "guards", "Guards") \
	X(SYMBOL, "symbols", "Symbols") \
	X(SPECIAL, "specializations", "Specializations") \
	X(SKIP, "cudagraph_skips", "CUDA graph skips") \
	X(METRIC, "metrics", "Metrics") \
	X(ARTIFACT, "artifacts", "Artifacts")

enum compare_kind {
#define X(id, name, title) COMPARE_##id,
	COMPARE_KINDS(X)
#undef X
	    COMPARE_KIND_COUNT
};
extern const char *const compare_kind_name[COMPARE_KIND_COUNT], *const compare_kind_title[COMPARE_KIND_COUNT];

enum compare_how { HOW_NEW, HOW_GONE, HOW_CHANGED, HOW_SLOWER, HOW_FASTER };
extern const char *const compare_how_name[5];

/* Compile times vary randomly: only a change of a quarter and 0.2 s counts as a difference. */
#define COMPARE_RATIO 1.25
#define COMPARE_SECONDS 0.2

struct compare_change {
	enum compare_kind kind;
	enum compare_how how;
	uint32_t pair, count;                /* pair: NONE if it concerns no compilation or several */
	struct slice subject, before, after; /* n == 0: none */
	struct srcloc at;
	double seconds; /* what it costs (or saves, < 0); 0: unknown */
};
struct compare_pair {
	uint32_t a, b; /* units, NONE: missing */
	struct srcloc at;
	double seconds[2];
	uint32_t changes, texts;
	bool timed; /* slower or faster beyond noise */
};
struct compare_text {
	uint32_t pair, a, b; /* a, b: artifacts of the two traces */
	uint32_t same_as;    /* an earlier row with the same two texts, NONE */
	uint32_t added, removed;
	bool shown;        /* diff has it; else it is only known to differ */
	bool coarse;       /* too different for the shortest diff */
	uint32_t left_out; /* lines of the diff beyond COMPARE_TEXT_BYTES */
	struct slice diff; /* "@@ -a,n +b,m @@", lines with ' ', '-', '+', or '~': equal except for names */
};

/* Texts that are graphs are compared as graphs (graph/graphdiff.h), too. Those that differ only in names and order are not listed. */
enum { COMPARE_GRAPH_ROWS = 500, COMPARE_FUSION_ROWS = 200, COMPARE_DRAWN = 20000, COMPARE_DRAWN_BYTES = 16 << 20 };
struct compare_node { /* a node that changed */
	enum graphdiff_kind kind;
	uint32_t cause;             /* of the same graph's rows, from 0: it follows from that one; NONE */
	struct slice node[2], op;   /* names before and after, empty: none; its operator */
	struct slice before, after; /* what changed */
	struct srcloc at;
};
struct compare_graph {
	uint32_t text;        /* row of text */
	uint32_t nodes[2];    /* of each graph */
	uint32_t first, n;    /* rows of node */
	uint32_t own, more;   /* changes that follow from no other; rows not kept */
	uint32_t renamed;     /* nodes with another name that are the same */
	bool reordered;       /* nodes that are the same are in another order */
	struct slice drawing; /* JSON for the page (docs/formats/REPORT.md), empty: too large */
};

/* What Inductor made of matched compilations whose code differs: kernels before and after, by the nodes that are in them. */
struct compare_kernel {
	struct slice name, nodes; /* nodes: of the graph, one per line; a node that several kernels compute is listed with the first */
};
struct compare_fusion {
	enum compare_fused { FUSED_SPLIT, FUSED_MERGED, FUSED_REGROUPED, FUSED_NEW, FUSED_GONE } how;
	uint32_t first, n[2]; /* rows of kernel: those before, then those after */
	struct slice why;     /* what is known of the reason; empty: nothing */
	bool logged;          /* why is torch's own word (TORCH_LOGS=fusion), not concluded from what changed */
};
struct compare_code {
	uint32_t text;                   /* row of text */
	uint32_t kernels[2], externs[2]; /* calls of generated kernels, and of libraries' and torch's operators */
	uint32_t first, n, more;         /* rows of fusion */
	struct slice drawing;
};
extern const char *const compare_fused_name[5];

struct compare {
	struct compare_log *a, *b;
	struct arena arena;
	ROWS(struct compare_pair, pair);
	ROWS(struct compare_change, change);
	ROWS(struct compare_text, text);
	ROWS(struct compare_graph, graph);
	ROWS(struct compare_node, node);
	ROWS(struct compare_code, code);
	ROWS(struct compare_fusion, fusion);
	ROWS(struct compare_kernel, kernel);
	uint32_t graphs_alike;             /* texts of graphs that differ only in names and order */
	uint64_t drawn;                    /* bytes of drawings */
	uint32_t rows[COMPARE_KIND_COUNT]; /* of change */
	uint32_t more[COMPARE_KIND_COUNT]; /* rows beyond COMPARE_ROWS */
	uint32_t texts_left;               /* texts that differ but are not shown */
	uint32_t unread;                   /* texts that could not be read again: the file changed */
	uint64_t shown, read;              /* bytes */
	uint32_t frames[3];                /* matched, gone, new */
	struct normal normal;
	struct compare_log none; /* used for a missing log */
	struct facts no_facts;
	struct compare_change beyond; /* receives rows beyond the limit */
};

/* spool makes an unlinked temporary file (base/tool/output.h); hooks: provides progress and threads, may be NULL. */
int compare_read(struct compare_log *l, const char *path, int (*spool)(struct err *err), const struct trace_hooks *hooks, struct err *err);
/* Uses an input of a --json document (run/document.h) instead: all inputs' logs share the document until the last is released. */
void compare_input(struct compare_log *l, const char *path, const struct facts *all, uint32_t input);
void compare_log_release(struct compare_log *l);
/* Either log may be NULL: everything in the other is then new or gone. c must not move. */
void compare_run(struct compare *c, struct compare_log *a, struct compare_log *b);
void compare_release(struct compare *c);
static inline bool compare_differs(const struct compare *c) { return c->n_change || c->n_text; }
/* Reads the payload of an artifact again. False: it changed. */
bool compare_payload(struct compare_log *l, uint32_t artifact, struct buf *out);
/* The last attempt of a compile id. */
const struct fact_attempt *compare_last(const struct compare_log *l, uint32_t unit);

#endif
