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
	uint32_t compile;        /* row of facts.compile */
	uint64_t line;
	uint32_t type, message, frames, stack;
	struct fact_loc user, torch;
	bool used;
};

struct trace_reading {
	struct facts *f;
	const struct facts_options *o;
	struct trace t;
	uint32_t input, first_compile; /* first_compile: rows of facts.compile from here on are this input's */
	uint32_t *row;           /* row of t.compile -> row of facts.compile, FACT_NONE: it names no frame */
	uint32_t n_row, cap_row;
	struct trace_error *error;
	uint32_t n_error, cap_error;
	struct buf tmp;
};

/* Whose record this is: a row of facts.compile, FACT_NONE. */
uint32_t reading_compile(struct trace_reading *r, uint32_t compile, uint64_t line);
/* A text, a place of the trace in the facts' names. */
uint32_t reading_text(struct trace_reading *r, uint32_t name);
struct fact_loc reading_loc(struct trace_reading *r, const struct trace_loc *loc);
static inline struct fact_src reading_src(const struct trace_reading *r, uint64_t line)
{
	return (struct fact_src){r->input, line};
}

/* facts_trace_error.c: a payload of dynamo_error; the failures and restarts of the trace. */
void reading_error(struct trace_reading *r, uint32_t compile, uint64_t line, struct slice text);
void reading_failures(struct trace_reading *r);

#endif
