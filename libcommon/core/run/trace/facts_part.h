/* facts_part.h - what the files that read a structured trace into facts share (facts*.c); nobody else includes it.
 *
 * Most facts are rows of struct trace already and are taken over when the log has been read (facts.c, facts_shapes.c).
 * What struct trace does not keep is taken from the records as they pass: metrics and bounds in order (reading_record), chromium
 * events side by side, and joined in order (facts_phases.c); read.c and reduce.c call these before an emitter's hooks.
 * reading_record() and phases_commit() run at the same time on different windows: what the latter touches is in struct trace_phases alone.
 */
#ifndef PT2_FACTS_PART_H
#define PT2_FACTS_PART_H
#include "run/metrics.h"
#include "run/facts.h"
#include "run/trace/trace.h"

/* A dynamo_error artifact, or the exception of metrics, until the failure that it belongs to is known. */
struct trace_error {
	uint32_t compile; /* row of facts.compile */
	struct fact_src src;
	uint32_t type, message, frames, stack;
	struct fact_loc user, torch;
	uint32_t before; /* the one before it of the same compile id, NONE */
	bool used;
};
/* What is known of a row of facts.compile while a trace is taken over, so that nothing is searched for. */
struct compile_notes {
	uint32_t error;     /* its last error, NONE */
	uint32_t recompile; /* its last recompile, NONE */
	bool skipped;       /* a break of it left the frame to Python */
};

/* A value of metrics, until all of its compile id are together. */
struct trace_metric {
	uint32_t compile;
	struct fact_metric value;
};

/* Indices by an index: of the first in a list; NONE. */
struct heads {
	uint32_t *v, n, cap;
};
struct open_phase {
	uint32_t name, compile;
	uint64_t line, thread;
	double ts, self, since; /* since: when it became the innermost of its thread */
};
/* Sums by compile id and name; what is open now. Belongs to `commit`. Until phases_end() the rows of facts.phase have rows of facts.attempt
 * for compiles (NONE: the run), names of this table, and microseconds. */
struct trace_phases {
	struct facts *f;
	uint32_t input;
	struct intern names;
	struct heads of_run, of_compile; /* rows, by name and by compile: a compile has few names, so that a list is shorter than a table */
	struct heads next;               /* by row, less those of other inputs: the next of its compile */
	struct open_phase *open;
	uint32_t n_open, cap_open;
};

/* What one attempt has been seen to do: for spans, and for the count of collectives in schedule and code. */
enum { RANK_COLLECTIVES = 6 }; /* kinds that are counted */
struct rank_attempt {
	uint64_t first, last; /* microseconds since the first record */
	bool seen, closed, schedule, code;
	uint64_t in_schedule[RANK_COLLECTIVES], in_code[RANK_COLLECTIVES], waits;
};
struct rank_reading {
	ROWS(struct rank_attempt, attempt); /* by row of facts.attempt, less first_attempt */
	size_t text[2];                     /* bytes of graphs kept: made, captured */
	uint64_t ops;                       /* in lists */
	struct intern graphs;               /* fingerprints */
	struct buf text_buf;
};

/* What of vLLM is at work; the last graph of a pass, to VLLM_TEXT bytes. */
enum { VLLM_TEXT = 4 << 20, VLLM_DIFF = 256 << 10, VLLM_DIFFS = 64 << 20 };
struct vllm_reading {
	uint64_t call, piece; /* their lines, 0 */
	uint32_t artifact;    /* the graph's number, NONE */
	struct buf graph;
	size_t diffs; /* bytes of texts kept of what passes changed, to VLLM_DIFFS */
	bool there;
};

struct trace_reading {
	struct facts *f;
	const struct facts_options *o;
	struct trace *t;
	struct trace_error *error;
	uint32_t n_error, cap_error;
	struct compile_notes *note; /* by row of facts.compile, less first_compile; and one for no compile id */
	struct trace_metric *metric;
	uint32_t n_metric, cap_metric;
	uint32_t metric_name[METRIC_COUNT]; /* of each that there was: its name, and 1 */
	bool have_config;
	struct trace_phases phases;
	struct rank_reading ranks;
	struct vllm_reading vllm;
	struct {
		struct fact_src src; /* line 0: none */
		uint32_t compile, operation;
		struct fact_loc loc;
	} partial; /* the last make_fx_fail_partial */
	struct json_tape tape;
	struct buf tmp;
};

/* facts_metrics.c: the value of a metrics record; after the last record. */
void reading_metrics(struct trace_reading *r, uint32_t compile, const struct json_tape *tape, uint32_t v, bool backward, bool runtime);
void reading_metrics_end(struct trace_reading *r);

/* facts.c: each record, in order, when struct trace has it. */
void reading_record(struct trace_reading *r, struct trace_scan *s, struct trace_record *rec);
/* facts_phases.c: chromium events, side by side (before an emitter may write over their texts) and in order; after the last record. */
void phases_emit(const struct trace_reading *r, struct trace_scan *s);
void phases_commit(struct trace_reading *r, const struct trace_scan *s);
void phases_free_slot(struct trace_scan *s);
void phases_end(struct trace_reading *r);

/* facts_shapes.c: a record that names a bound; symbols and what struct trace has of bounds. */
void reading_bound(struct trace_reading *r, uint32_t compile, const struct json_tape *tape, uint32_t v, enum trace_kind kind);
void reading_shapes(struct trace_reading *r);

static inline struct compile_notes *reading_note(struct trace_reading *r, uint32_t compile)
{
	return &r->note[compile == NONE ? r->f->n_compile - r->t->from.compile : compile - r->t->from.compile];
}

/* facts_error.c: a payload of dynamo_error; the failures and restarts of the trace. */
void reading_error(struct trace_reading *r, uint32_t compile, struct fact_src src, struct slice text);
/* The graph that was made when make_fx failed (torch/fx/experimental/proxy_tensor.py): of torch.export, whose exceptions no trace has. */
void reading_partial(struct trace_reading *r, uint32_t compile, struct fact_src src, struct slice text);
void reading_partial_end(struct trace_reading *r); /* after reading_failures */
void reading_failures(struct trace_reading *r);

/* facts_vllm.c: an artifact of this name, or a graph. */
void reading_vllm(struct trace_reading *r, uint32_t compile, struct fact_src src, struct slice name, struct slice payload);
void reading_vllm_begin(struct vllm_reading *v);
void reading_vllm_release(struct vllm_reading *v);

/* facts_ranks.c: steps, spans, lists; after the last record. */
void reading_ranks(struct trace_reading *r, const struct trace_scan *s, const struct trace_record *rec);
void reading_ranks_end(struct trace_reading *r);
void reading_ranks_release(struct rank_reading *x);
/* Good until the next one. */
struct rank_attempt *reading_attempt(struct trace_reading *r, uint32_t attempt);
/* facts_lists.c, of the record at hand */
void reading_list(struct trace_reading *r, const struct trace_artifact *a, struct slice name, struct slice payload);
void reading_code(struct trace_reading *r, struct slice code);
void reading_parity(struct trace_reading *r, const struct rank_attempt *x, struct fact_src src);

#endif
