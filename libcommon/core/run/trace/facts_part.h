/* facts_part.h - shared by the files that read a structured trace into facts (facts*.c); nothing else includes it.
 *
 * Most facts are rows of struct trace already and are copied after the log has been read (facts.c, facts_shapes.c). What struct trace does
 * not keep is taken from the records as they are read: metrics and bounds in order (reading_record), chromium events in parallel, then
 * joined in order (facts_phases.c); read.c and reduce.c call these before an emitter's hooks. reading_record() and phases_commit() run at
 * the same time on different windows: the latter touches only struct trace_phases.
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
	uint32_t before; /* the previous one of the same compile id, or NONE */
	bool used;
};
/* Notes on a row of facts.compile while a trace is copied, to avoid searches. */
struct compile_notes {
	uint32_t error;     /* its last error, or NONE */
	uint32_t recompile; /* its last recompile, or NONE */
	bool skipped;       /* one of its breaks made the frame fall back to Python */
};

/* A value of metrics, until all values of its compile id are collected. */
struct trace_metric {
	uint32_t compile;
	struct fact_metric value;
};

/* Maps an index to the first of a list, or NONE. */
struct heads {
	uint32_t *v, n, cap;
};
struct open_phase {
	uint32_t name, compile;
	uint64_t line, thread;
	double ts, self, since; /* since: when it became the innermost of its thread */
	double ran;             /* of a run of the C++ compiler: when it began (add_build) */
};
/* Sums by compile id and name; currently open events. Belongs to `commit`. Until phases_end() the rows of facts.phase have rows of
 * facts.attempt for compiles (NONE: the run), names of this table, and microseconds. */
struct trace_phases {
	struct facts *f;
	uint32_t input;
	struct intern names;
	struct heads of_run, of_compile; /* rows, by name and by compile: a compile has few names, so a list is shorter than a table */
	struct heads next;               /* by row, minus those of other inputs: the next of its compile */
	struct open_phase *open;
	uint32_t n_open, cap_open;
	double first, last; /* ts of the first event and of the last */
	uint32_t n_build;   /* rows of facts.build; until phases_end() their compiles are rows of facts.attempt, and times microseconds */
};

/* The observed events of one attempt, for spans; most have no collectives in schedule or code. */
struct rank_attempt {
	uint64_t first, last; /* microseconds since the first record */
	bool seen, closed;
	uint32_t counts; /* of rank_reading, + 1; or 0 */
};
enum { RANK_COLLECTIVES = 6 }; /* kinds that are counted */
struct rank_counts {
	bool schedule, code;
	uint64_t in_schedule[RANK_COLLECTIVES], in_code[RANK_COLLECTIVES], waits;
};
struct rank_reading {
	ROWS(struct rank_attempt, attempt); /* by row of facts.attempt, minus first_attempt */
	ROWS(struct rank_counts, counts);
	size_t text[2];       /* bytes of graphs kept: made, captured */
	uint64_t ops;         /* in lists */
	struct intern graphs; /* fingerprints */
	struct buf text_buf;
};

/* The current vLLM call and piece of a process; the last graph of a pass, to VLLM_TEXT bytes, as long as all of them have VLLM_TEXTS. */
enum { VLLM_TEXT = 4 << 20, VLLM_TEXTS = 64 << 20, VLLM_DIFF = 256 << 10, VLLM_DIFFS = 64 << 20 };
struct vllm_process {
	uint64_t call, piece; /* their lines, or 0 */
	uint32_t row;         /* of facts.vllm_call: its event was read, its configuration was not; or NONE */
	uint32_t artifact;    /* the graph's number, or NONE */
	struct buf graph;
	bool there;
};
struct vllm_reading {
	ROWS(struct vllm_process, process); /* by row of trace.process */
	size_t texts;                       /* bytes of graphs */
	size_t diffs;                       /* bytes of kept texts of passes' changes, to VLLM_DIFFS */
};

struct trace_reading {
	struct facts *f;
	const struct facts_options *o;
	struct trace *t;
	struct trace_error *error;
	uint32_t n_error, cap_error;
	struct compile_notes *note; /* by row of facts.compile, minus first_compile; and one for no compile id */
	struct trace_metric *metric;
	uint32_t n_metric, cap_metric;
	uint32_t metric_name[METRIC_COUNT]; /* for each that occurred: its name + 1 */
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

/* facts_metrics.c: the value of a metrics record; call the second after the last record. */
void reading_metrics(struct trace_reading *r, uint32_t compile, const struct json_tape *tape, uint32_t v, bool backward, bool runtime);
void reading_metrics_end(struct trace_reading *r);

/* facts_records.c: each record, in order, once it is in struct trace. */
void reading_record(struct trace_reading *r, struct trace_scan *s, struct trace_record *rec);
/* facts_phases.c: chromium events, in parallel (before an emitter may overwrite their texts) and in order; then after the last record. */
void phases_emit(const struct trace_reading *r, struct trace_scan *s);
void phases_commit(struct trace_reading *r, const struct trace_scan *s);
void phases_free_slot(struct trace_scan *s);
void phases_end(struct trace_reading *r);

/* facts_shapes.c: a record with a bound; symbols and the bounds in struct trace. */
void reading_bound(struct trace_reading *r, uint32_t compile, const struct json_tape *tape, uint32_t v, enum trace_kind kind);
void reading_shapes(struct trace_reading *r);

static inline struct compile_notes *reading_note(struct trace_reading *r, uint32_t compile)
{
	return &r->note[compile == NONE ? r->f->n_compile - r->t->from.compile : compile - r->t->from.compile];
}

/* facts_error.c: a payload of dynamo_error; the failures and restarts of the trace. */
void reading_error(struct trace_reading *r, uint32_t compile, struct fact_src src, struct slice text);
/* The partial graph when make_fx failed (torch/fx/experimental/proxy_tensor.py): from torch.export, whose exceptions are not in traces. */
void reading_partial(struct trace_reading *r, uint32_t compile, struct fact_src src, struct slice text);
void reading_partial_end(struct trace_reading *r); /* after reading_failures */
void reading_failures(struct trace_reading *r);

/* facts_vllm.c: an artifact of this name, or a graph. */
void reading_vllm(struct trace_reading *r, uint32_t compile, struct fact_src src, struct slice name, struct slice payload);
void reading_vllm_release(struct vllm_reading *v);

/* facts_ranks.c: steps, spans, lists; after the last record. */
void reading_ranks(struct trace_reading *r, const struct trace_scan *s, const struct trace_record *rec);
void reading_ranks_end(struct trace_reading *r);
void reading_ranks_release(struct rank_reading *x);
/* Valid until the next call. */
struct rank_attempt *reading_attempt(struct trace_reading *r, uint32_t attempt);
/* facts_lists.c, of the current record */
void reading_list(struct trace_reading *r, const struct trace_artifact *a, struct slice name, struct slice payload);
void reading_code(struct trace_reading *r, struct slice code);
void reading_parity(struct trace_reading *r, const struct rank_counts *x, struct fact_src src);

#endif
