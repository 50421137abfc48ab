/* facts_part.h - what the files that read a structured trace into facts share (facts_trace*.c); nobody else includes it.
 *
 * Most facts are rows of struct trace already and are taken over when the log has been read (facts_trace.c, facts_trace_shapes.c).
 * What struct trace does not keep is taken from the records as they pass: metrics and bounds in order (hook `record`),
 * chromium events side by side (hook `emit`), joined in order by `commit` (facts_trace_phases.c).
 * `record` and `commit` run at the same time on different windows: what commit touches is in struct trace_phases alone.
 */
#ifndef PT2_FACTS_PART_H
#define PT2_FACTS_PART_H
#include "diagnose/facts.h"
#include "trace/trace.h"

/* A dynamo_error artifact, or the exception of metrics, until the failure that it belongs to is known. */
struct trace_error {
	uint32_t compile; /* row of facts.compile */
	uint64_t line;
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

/* Sums by compile id (row of trace.compile, NONE: the run) and name; what is open now. Belongs to `commit`. */
struct phase_sum {
	uint32_t compile, name;
	uint64_t line;
	double us, self;
	uint64_t calls;
};
struct open_phase {
	uint32_t name, compile;
	uint64_t line, thread;
	double ts, nested; /* nested: microseconds of what was within it and has ended */
};
struct trace_phases {
	struct intern names, keys; /* keys: {compile, name} -> sum, the same index */
	struct phase_sum *sum;
	uint32_t n_sum, cap_sum;
	struct open_phase *open;
	uint32_t n_open, cap_open;
};

struct trace_reading {
	struct facts *f;
	const struct facts_options *o;
	struct trace t;
	uint32_t input, first_compile, first_bound; /* rows from there on are this input's */
	uint32_t *row;                              /* row of t.compile -> row of facts.compile, NONE: it names no frame */
	uint32_t n_row, cap_row;
	struct trace_error *error;
	uint32_t n_error, cap_error;
	struct compile_notes *note; /* by row of facts.compile, less first_compile; and one for no compile id */
	struct trace_metric *metric;
	uint32_t n_metric, cap_metric;
	bool have_config;
	uint32_t *new_type; /* by row of t.recompile: the type that a type guard stands for now, NONE */
	uint32_t n_new_type, cap_new_type;
	struct trace_phases phases;
	struct json_tape tape;
	struct buf tmp;
};

/* Whose record this is: a row of facts.compile, NONE. */
uint32_t reading_compile(struct trace_reading *r, uint32_t compile, uint64_t line);
/* A text, a place of the trace in the facts' names. */
uint32_t reading_text(struct trace_reading *r, uint32_t name);
struct fact_loc reading_loc(struct trace_reading *r, const struct trace_loc *loc);
static inline struct fact_src reading_src(const struct trace_reading *r, uint64_t line) { return (struct fact_src){r->input, line}; }

/* facts_trace_metrics.c: the value of a metrics record; after the last record. */
void reading_metrics(struct trace_reading *r, uint32_t compile, const struct json_tape *tape, uint32_t v, bool backward, bool runtime);
void reading_metrics_end(struct trace_reading *r);

/* facts_trace_phases.c: hooks for chromium events; after the last record. */
int phases_emit(void *ctx, struct trace_scan *s);
int phases_commit(void *ctx, struct trace_scan *s);
void phases_free_slot(void *ctx, struct trace_scan *s);
void phases_end(struct trace_reading *r);

/* facts_trace_shapes.c: a record that names a bound; symbols and what struct trace has of bounds. */
void reading_bound(struct trace_reading *r, uint32_t compile, uint64_t line, const struct json_tape *tape, uint32_t v,
		   enum trace_kind kind);
void reading_shapes(struct trace_reading *r);

static inline struct compile_notes *reading_note(struct trace_reading *r, uint32_t compile)
{
	return &r->note[compile == NONE ? r->f->n_compile - r->first_compile : compile - r->first_compile];
}

/* facts_trace_error.c: a payload of dynamo_error; the failures and restarts of the trace. */
void reading_error(struct trace_reading *r, uint32_t compile, uint64_t line, struct slice text);
void reading_failures(struct trace_reading *r);

#endif
