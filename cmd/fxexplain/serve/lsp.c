/* lsp.c - positions, file URIs. */
#include "serve/lsp.h"

#include "base/html/html.h"
#include "base/text.h"

/* UTF-16 units of a text in UTF-8: two for a four-byte character. */
static size_t utf16_units(struct slice s)
{
	size_t n = 0;
	for (size_t i = 0; i < s.n; i++)
		n += ((unsigned char)s.p[i] & 0xc0) != 0x80 ? 1 + ((unsigned char)s.p[i] >= 0xf0) : 0;
	return n;
}

void lsp_position(struct json_out *o, bool utf8, const char *key, struct slice text, size_t at)
{
	size_t start;
	uint64_t line = text_line(text, at, &start);
	json_member_obj(o, key);
	json_member_u64(o, "line", line);
	json_member_u64(o, "character", utf8 ? at - start : utf16_units(slice_of(text.p + start, at - start)));
	json_close(o);
}

bool lsp_path(struct slice uri, struct buf *path)
{
	buf_reset(path);
	if (!slice_starts(uri, "file://"))
		return false;
	const char *from = slice_chr(slice_of(uri.p + 7, uri.n - 7), '/'); /* after the host, which is this one */
	if (!from)
		return false;
	html_unhref(path, slice_of(from, (size_t)(uri.p + uri.n - from)));
	return !memchr(path->p, 0, path->len);
}

void lsp_uri(struct buf *uri, const char *path)
{
	buf_adds(uri, "file://");
	html_href(uri, slice_str(path));
}
