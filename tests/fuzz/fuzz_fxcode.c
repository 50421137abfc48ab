/* Any bytes as FX code: what is read is written in both forms, and the runnable one is read back as the same graph. */
#include "graph/fxcode.h"
#include "graph/graph_forms.h"
#include "../lib/graph_same.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Text that no reader of ours makes (reprs of objects, names of other roots) may read differently: then only not crash.
 */
static bool plain(const struct graph *g)
{
	for (size_t i = 0; i < g->n_values; i++)
		if (g->value[i].kind == GV_TEXT || g->value[i].kind == GV_NAME || g->value[i].kind == GV_STR ||
		    g->value[i].kind == GV_DEVICE)
			return false;
	return !g->n_attrs;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct graph g = {0}, again = {0};
	struct err err;
	struct buf b = {0}, why = {0};
	if (fxcode_read(&g, slice_of((const char *)data, size), "fuzz", &err) < 0)
		return 0;
	fxcode_write(&g, FXCODE_READABLE, &b);
	buf_reset(&b);
	fxcode_write(&g, FXCODE_RUNNABLE, &b);
	int rc = fxcode_read(&again, buf_slice(&b), "again", &err);
	if (plain(&g) && (rc < 0 || !graph_same(&g, &again, &why))) {
		fprintf(stderr, "%s\n%s\n%s\n", rc < 0 ? err.text : "", buf_str(&why), buf_str(&b));
		abort();
	}
	graph_release(&g);
	if (rc == 0)
		graph_release(&again);
	buf_release(&b);
	buf_release(&why);
	return 0;
}
