/* Any bytes as a text with source locations: slices stay inside it, the loop ends, and what is formatted reads back. */
#include "base/srcloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
	if (!ok)
		abort();
}

static void inside(struct slice s, const uint8_t *data, size_t size)
{
	if (s.n)
		require(s.p >= (const char *)data && s.n <= size && s.p + s.n <= (const char *)data + size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice rest = slice_of((const char *)data, size);
	struct srcloc at;
	struct buf b = {0};
	struct arena a = {0};
	size_t before = rest.n;
	while (srcloc_next(&rest, &at)) {
		require(rest.n < before);
		before = rest.n;
		require(at.file.n > 0);
		inside(at.file, data, size);
		inside(at.func, data, size);
		inside(at.code, data, size);
		inside(at.severity, data, size);
		inside(at.message, data, size);
		inside(srcloc_short_file(at.file), data, size);
		require(srcloc_short_file(at.file).n > 0);
		srcloc_origin(at.file);
		struct srcloc copy = srcloc_copy(&a, &at);
		require(!srcloc_cmp(&at, &copy));
		buf_reset(&b);
		srcloc_format(&b, &at, SRCLOC_COMPILER, true);
		/* Python's form quotes the name and is read first, so it must survive. */
		buf_reset(&b);
		at.code.n = 0;
		srcloc_format(&b, &at, SRCLOC_PYTHON, false);
		struct slice text = buf_slice(&b);
		struct srcloc again;
		if (!slice_find(at.file, "\", line ") && !slice_find(at.file, "File \"")) {
			require(srcloc_next(&text, &again));
			require(again.form == SRCLOC_PYTHON && slice_eq(again.file, at.file) && again.line == at.line);
		}
	}
	buf_release(&b);
	arena_release(&a);
	return 0;
}
