/* html.c - --html. */
#include "fxexplain.h"

int emit_html(struct buf *b, const struct explanation *x, const struct explain_options *opt, struct err *err)
{
	(void)b, (void)x, (void)opt, (void)err;
	return 0;
}
