/* A Python file with, up to the first NUL, a line, a function and a fix before it: whatever is changed, the file is one that can be read again, and
 * the diff's context and minus lines are the file. */
#include "fix/edit.h"
#include "base/unified.h"
#include "base/html/html.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
	if (!ok)
		abort();
}

/* The lines of a diff that stand on one side are lines of that text, in order. */
static void check_side(struct slice diff, struct slice text, char sign)
{
	struct slice line, in;
	slice_line(&diff, &line);
	slice_line(&diff, &line);
	while (slice_line(&diff, &line)) {
		if (line.p[0] != ' ' && line.p[0] != sign)
			continue;
		bool there = false;
		while (!there && slice_line(&text, &in))
			there = slice_eq(in, slice_of(line.p + 1, line.n - 1));
		require(there);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
	struct slice head = slice_of((const char *)data, zero ? (size_t)(zero - data) : 0);
	struct slice number = {0}, function = {0};
	size_t at = head.n + (zero != NULL);
	struct slice text = slice_of((const char *)data + at, size - at);
	struct edit_rules r;
	struct source s, after;
	struct err err;
	uint64_t line = 1;
	struct buf b = {0}, diff = {0};
	slice_line(&head, &number);
	slice_line(&head, &function);
	if (size > 1 << 16 || !slice_u64(number, &line) || line > UINT32_MAX || source_read(&s, text, "it", &err) < 0)
		return 0;
	require(edit_rules_read(&r, share_file("breaks/edits.txt"), &err) == 0);
	while (slice_line(&head, &number))
		edit_make(&r, &s, (uint32_t)line, function, number, &err);
	source_text(&s, &b);
	require(source_read(&after, buf_slice(&b), "it", &err) == 0 || !s.n_change);
	unified_diff(&diff, "it", text, buf_slice(&b));
	check_side(buf_slice(&diff), text, '-');
	check_side(buf_slice(&diff), buf_slice(&b), '+');
	if (after.n)
		source_release(&after);
	source_release(&s);
	edit_rules_release(&r);
	buf_release(&b);
	buf_release(&diff);
	return 0;
}
