/* Two texts, split at the first NUL: every line of both is in exactly one row, in order, and common lines are equal. */
#include "base/linediff.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
	if (!ok)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
	size_t n = zero ? (size_t)(zero - data) : size;
	struct linediff d = {0};
	size_t after = n + (zero != NULL);
	linediff_run(&d, slice_of((const char *)data, n), slice_of((const char *)data + after, size - after), NULL, NULL);
	uint32_t i = 0, j = 0;
	for (uint32_t k = 0; k < d.n; k++) {
		const struct linediff_row *r = &d.row[k];
		require(r->a == NONE || r->a == i++);
		require(r->b == NONE || r->b == j++);
		require(!r->same || slice_eq(linediff_line(&d, 0, r->a), linediff_line(&d, 1, r->b)));
	}
	require(i == d.lines[0] && j == d.lines[1]);
	linediff_release(&d);
	return 0;
}
