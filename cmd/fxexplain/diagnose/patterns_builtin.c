/* patterns_builtin.c - the patterns that are part of the program. */
#include "diagnose/patterns.h"
#include "html/html.h"

struct adding {
	struct patterns *k;
	struct err *err;
};

static int add(void *ctx, const char *name, struct slice text)
{
	struct adding *a = ctx;
	return slice_ends(slice_str(name), ".pattern") ? patterns_add_text(a->k, name, text, a->err) : 0;
}

int patterns_add_builtin(struct patterns *k, struct err *err)
{
	struct adding a = {k, err};
	return share_each("patterns/", add, &a);
}
