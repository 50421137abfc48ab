/* probeptx.h - the PTX text that the probe ships, taken out of the library as it is installed. */
#ifndef PT2_TEST_PROBEPTX_H
#define PT2_TEST_PROBEPTX_H
#include "test.h"

/* NUL-terminated; good until b is released. */
static inline const char *probe_ptx(const char *build, struct buf *b)
{
	char *path = xasprintf("%s/lib/pt2utils/libpt2probe.so", build);
	static const char begin[] = ".version 6.4\n.target sm_50\n";
	FILE *f = fopen(path, "r");
	size_t n;
	if (!f)
		fail_msg("no %s", path);
	while ((n = fread(buf_room(b, 65536), 1, 65536, f)) > 0)
		buf_wrote(b, n);
	fclose(f);
	free(path);
	const char *text = memmem(b->p, b->len, begin, sizeof(begin) - 1);
	assert_non_null(text);
	assert_non_null(memchr(text, 0, b->len - (size_t)(text - b->p)));
	return text;
}

#endif
