/* Any bytes as a pattern file ("a.pattern", up to a line "====") and as a text: what is found in pieces is what is found in the
 * whole, by that pattern and by those of share/. */
#include "run/patterns/patterns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_down(void *ctx, const struct pattern_match *m)
{
	struct buf *b = ctx;
	if (!m->pattern || !m->line || m->quote.n > PATTERN_QUOTE || m->captures > PATTERN_CAPTURES)
		abort();
	buf_add_slice(b, m->pattern->id);
	buf_addf(b, " %llu %llu ", (unsigned long long)m->line, (unsigned long long)m->offset);
	buf_add_slice(b, m->quote);
	for (uint32_t i = 0; i < m->captures; i++)
		if (m->capture[i].value.n > PATTERN_VALUE)
			abort();
	pattern_expand(b, m->pattern->title, m);
	for (uint32_t i = 0; i < m->pattern->fix.n; i++)
		pattern_expand(b, m->pattern->fix.item[i], m);
	buf_addc(b, '\n');
}

static void scan(const struct patterns *k, struct slice text, size_t piece, struct buf *found)
{
	struct pattern_scan s;
	pattern_scan_init(&s, k, write_down, found);
	for (size_t at = 0; at < text.n; at += piece)
		pattern_scan_feed(&s, slice_of(text.p + at, text.n - at < piece ? text.n - at : piece), false);
	pattern_scan_feed(&s, (struct slice){0}, true);
	pattern_scan_release(&s);
}

static void compare(const struct patterns *k, struct slice text)
{
	static const size_t piece[] = {1, 7, 64, 4096};
	struct buf whole = {0}, parts = {0};
	scan(k, text, text.n + 1, &whole);
	for (size_t i = 0; i < ARRAY_LEN(piece); i++) {
		buf_reset(&parts);
		scan(k, text, piece[i], &parts);
		if (!slice_eq(buf_slice(&parts), buf_slice(&whole)))
			abort();
	}
	buf_release(&whole);
	buf_release(&parts);
}

static const struct patterns *known(void)
{
	static struct patterns *k;
	struct err err;
	if (!k && !(k = patterns_load(NULL, &err)))
		abort();
	return k;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice all = slice_of((const char *)data, size), text = all;
	const char *end = slice_find(all, "\n====\n");
	struct patterns *k = patterns_new();
	struct err err = {0};
	if (end) {
		all.n = (size_t)(end + 1 - all.p);
		text = slice_of(end + 6, size - (size_t)(end + 6 - text.p));
	}
	if (patterns_add_text(k, "a.pattern", all, &err) < 0) {
		if (!err.text[0] || err.status != EXIT_INPUT)
			abort();
	} else if (!patterns_compile(k, &err)) {
		compare(k, text);
	}
	patterns_free(k);
	compare(known(), text);
	return 0;
}
