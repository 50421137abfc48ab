/* patterns_builtin.c - the patterns that are built into the program. */
#include "run/patterns/patterns.h"
#include "base/html/html.h"

struct adding {
	struct patterns *k;
	struct err *err;
};

static int add_builtin(void *ctx, const char *name, struct slice text)
{
	struct adding *a = ctx;
	return slice_ends(slice_str(name), ".pattern") ? patterns_add_text(a->k, name, text, a->err) : 0;
}

struct patterns *patterns_load(const char *dir, struct err *err)
{
	struct patterns *k = patterns_new();
	struct adding a = {k, err};
	if (share_each("patterns/", add_builtin, &a) == 0 && (!dir || patterns_add_dir(k, dir, err) == 0) && patterns_compile(k, err) == 0)
		return k;
	patterns_free(k);
	return NULL;
}
