/* Any bytes as two graphs, cut at a zero byte: compared, and the first with itself, which is no difference. */
#include "graph/fxcode.h"
#include "graph/graphdiff.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *cut = memchr(data, 0, size);
	size_t n = cut ? (size_t)(cut - data) : size / 2, from = cut ? n + 1 : n;
	struct graph a = {0}, b = {0};
	struct graphdiff d;
	struct err err;
	if (fxcode_read(&a, slice_of((const char *)data, n), "before", &err) < 0)
		return 0;
	graphdiff_run(&d, &a, &a);
	if (d.n_row)
		abort();
	graphdiff_release(&d);
	if (fxcode_read(&b, slice_of((const char *)data + from, size - from), "after", &err) == 0) {
		graphdiff_run(&d, &a, &b);
		graphdiff_release(&d);
		graph_release(&b);
	}
	graph_release(&a);
	return 0;
}
