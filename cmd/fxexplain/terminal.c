/* terminal.c - the explanation for a person. */
#include "fxexplain.h"

void emit_terminal(struct screen *s, const struct explanation *x, const struct explain_options *opt)
{
	(void)opt;
	for (uint32_t i = 0; i < x->n_finding; i++) {
		buf_add_slice(&s->b, x->finding[i].title);
		buf_addc(&s->b, '\n');
	}
}
