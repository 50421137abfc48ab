/* probeptx.h - the PTX text that the probe ships, taken out of the library as it is installed. */
#ifndef PT2_TEST_PROBEPTX_H
#define PT2_TEST_PROBEPTX_H
#include "test.h"

/* NUL-terminated; good until b is released. target: sm_50 (cuda_reduce.c), sm_52 (scan.ptx). */
static inline const char *probe_ptx(const char *build, const char *target, struct buf *b)
{
	char begin[64];
	const size_t n_begin = (size_t)snprintf(begin, sizeof(begin), ".version 6.4\n.target %s\n", target);
	char *path = xasprintf("%s/lib/pt2utils/libpt2probe.so", build);
	FILE *f = fopen(path, "r");
	size_t n;
	if (!f)
		fail_msg("no %s", path);
	while ((n = fread(buf_room(b, 65536), 1, 65536, f)) > 0)
		buf_wrote(b, n);
	fclose(f);
	free(path);
	const char *text = memmem(b->p, b->len, begin, n_begin);
	assert_non_null(text);
	assert_non_null(memchr(text, 0, b->len - (size_t)(text - b->p)));
	return text;
}

#endif
