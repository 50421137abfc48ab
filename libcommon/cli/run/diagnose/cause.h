/* cause.h - what a message of torch really means. Dynamo wraps what happened in its own words ("Observed exception", "RuntimeError when
 * making fake tensor call") and puts the actual error into the context or the explanation.
 *
 *     struct cause c;
 *     cause_find(x, reason, explanation, context, &c);
 *     if (c.kind == CAUSE_NO_FAKE) ... c.op "shop::scale" has no fake kernel
 *
 * These are the forms of torch 2.13 and 2.15 (torch/_dynamo/symbolic_convert.py, utils.py get_fake_value, variables/torch.py). */
#ifndef PT2_CAUSE_H
#define PT2_CAUSE_H
#include "run/diagnose/finding.h"

enum cause_kind {
	CAUSE_NONE,
	CAUSE_RAISED,       /* the traced code raises: GB0088 with context "raised exception KeyError('missing')" */
	CAUSE_FAKE,         /* an operation fails on fake tensors: "...: got RuntimeError('a and b must have same reduction dim')" */
	CAUSE_HIGHER_ORDER, /* torch.cond and the like reject what a branch does */
	CAUSE_NO_FAKE,      /* an operator that has no fake kernel */
};
struct cause {
	enum cause_kind kind;
	struct slice title; /* one line: "KeyError: 'missing'" */
	struct slice type;  /* "KeyError"; empty for CAUSE_NO_FAKE */
	struct slice op;    /* "shop::scale"; empty: unknown, or one of torch's own */
};
void cause_find(struct explanation *x, struct slice reason, struct slice explanation, struct slice context, struct cause *out);
/* "scatter" of "call_function <built-in method scatter of type object at 0x7f>(*(...": what tracing was running; empty: not in the text. */
struct slice cause_node(struct slice text);
/* Code that registers a fake kernel for op; empty for torch's own operators. */
struct slice cause_fake_kernel(struct explanation *x, struct slice op);
/* "shop.cut.default" is shop::cut in the program. */
struct slice cause_op_name(struct explanation *x, struct slice op);

#endif
