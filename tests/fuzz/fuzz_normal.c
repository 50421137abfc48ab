/* Two texts, split at the first NUL: hashed, diffed, unfolded. A text differs in nothing from itself. */
#include "compare/normal.h"

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
	struct slice a = slice_of((const char *)data, n), b = slice_of((const char *)data + n + (zero != NULL), size - n - (zero != NULL));
	struct normal x = {0};
	struct buf out = {0};
	uint64_t h = normal_hash(&x, a);
	require(h == normal_hash(&x, a));
	require(!normal_diff(&x, a, a));
	normal_diff(&x, a, b);
	uint32_t i = 0, j = 0;
	for (uint32_t k = 0; k < x.diff.n; k++) {
		i += x.diff.row[k].a != NONE;
		j += x.diff.row[k].b != NONE;
	}
	require(i == x.side[0].n && j == x.side[1].n);
	normal_guards(a);
	normal_plain(b);
	normal_unfold(a, &out);
	buf_release(&out);
	normal_release(&x);
	return 0;
}
