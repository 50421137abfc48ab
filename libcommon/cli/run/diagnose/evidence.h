/* evidence.h - what a failure's message proves about the component, and what it cannot prove. For component.c.
 *
 * No component is a default: where neither the exception nor its frames belong to one, the verdict is "not known yet", and the next command
 * is the one that would tell. The program itself is named only where eager was seen to fail (facts.eager), or, as likely, where the
 * knowledge base has the message.
 */
#ifndef PT2_EVIDENCE_H
#define PT2_EVIDENCE_H
#include "run/diagnose/finding.h"

/* A check of the program's own on its numbers failed: torch.testing.assert_close, `assert torch.allclose(a, b)`, "loss is nan", and
 * autograd's anomaly mode ("Function 'CompiledFunctionBackward' returned nan values"). */
enum own_check { CHECK_NONE, CHECK_NUMBERS, CHECK_NAN };
enum own_check evidence_own_check(const struct explanation *x, const struct fact_failure *r);
/* Only tracing raises it: eager mode has neither symbolic sizes nor fake tensors. */
bool evidence_only_tracing(struct slice reason, struct slice frames);
/* "app::scale": the operator, not one of torch's, whose fake kernel raised this; empty: none. */
struct slice evidence_fake_kernel(struct explanation *x, struct slice reason);
/* What to run next where a check failed, or where it is not known whether eager fails, too. */
struct slice evidence_next(enum own_check check, bool exported);
/* Adds what running the command again without torch.compile has shown. */
void evidence_eager(struct explanation *x, const struct fact_failure *r, struct component_view *v);
/* Dynamo gave up this frame, and the program went on in eager mode: a graph break, however it is recorded. */
bool evidence_survived(const struct explanation *x, const struct fact_failure *r);

#endif
