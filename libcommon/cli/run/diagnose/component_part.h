/* component_part.h - shared by the files that say which component failed: component.c asks for what belongs to each failure and puts the
 * verdicts in order, component_judge.c decides, component_known.c knows the message, component_tell.c makes a finding of it,
 * unfinished.c says what a log without an exception ends in. */
#ifndef PT2_COMPONENT_PART_H
#define PT2_COMPONENT_PART_H
#include "run/diagnose/blame.h"
#include "run/diagnose/breaks.h"
#include "run/diagnose/carrier.h"
#include "run/diagnose/cause.h"
#include "run/diagnose/phase_of.h"
#include "base/chain.h"
#include "run/text.h"

enum {
	CLIP = 300, /* most bytes of quoted input in one of our lines */
	FAILURES_LOOKED_AT = 512,
};

/* What belongs to a compile id, and what else is known of a failure. */
struct witnesses {
	struct explanation *x;
	struct chain graph, known, known_at, error; /* by compile id; known_at by input and line; error by compile id */
	uint32_t *known_line;                       /* rows of known by input and line */
	bool *resolved;                             /* by compile id: a break or a limit reports it */
	const struct carrier **carrier;             /* by failure: it only reports another process's; NULL: its own */
	uint32_t root;                              /* the failure that those report: a row, NONE */
	uint32_t loose_errors[16], n_loose;         /* the first compiler errors without a compile id */
	uint32_t launcher;                          /* row of path, NONE */
};

/* Triton's message: "at 9:11:\ndef scale_kernel(x_ptr, ...):\n ... out = y + z\n     ^\nValueError('Cannot make_shape_compatible')". */
struct triton_message {
	struct slice kernel, code, why;
	unsigned line;
};

/* ---- component_judge.c ---- */
struct component_view component_judge(const struct witnesses *w, uint32_t row);
/* The first line with content: "backend='x' raised:" only introduces the next. */
struct slice component_first_line(struct slice s);
bool component_triton(struct slice reason, struct triton_message *out);
/* What Dynamo wraps: the exception inside, the operator. Returns the number of the break, -1 if it has none. */
int component_cause(struct explanation *x, const struct fact_failure *r, struct cause *out);
/* What Ctrl-C, or a limit of time, ended; NULL. */
const struct compile_phase *component_interrupted(const struct explanation *x, const struct fact_failure *r);

/* ---- component_known.c ---- */
/* The known message is part of the failure's, or the failure's first line is part of it. */
bool component_quoted(struct slice reason, struct slice quote);
/* What the knowledge base has of this failure; NULL. */
struct fact_known *component_known(const struct witnesses *w, const struct fact_failure *r);
/* In a text log a known message is part of the failure's message, below its traceback or that of its cause. With `same`, all matches of
 * that pattern there are marked as reported. */
struct fact_known *component_known_in(const struct witnesses *w, const struct fact_failure *r, const struct fact_known *same);

/* ---- component_tell.c ---- */
/* survived: it is a graph break, since the program went on in eager mode. */
void component_tell(const struct witnesses *w, const struct component_view *v, uint64_t count, bool survived);

/* ---- unfinished.c ---- */
/* No exception, but something started and did not end, or the log ends inside a record. */
void component_tell_unfinished(const struct witnesses *w, uint32_t input);

#endif
