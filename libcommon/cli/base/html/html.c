#include "base/html/html.h"

#include "base/base64.h"
#include "base/bytes16.h"
#include "base/json.h"
#include "base/tool/screen.h"

#include <sha256.h>

#define LOST "\xef\xbf\xbd"
/* The text that replaces a byte in HTML; for a first byte of characters that may drive a terminal: CLOSER and the length. */
enum { CLOSER = 16 };
#define ENTITY(s) \
	{ \
		s, sizeof(s) - 1 \
	}
#define ENTITY_LOST \
	{ \
		LOST, sizeof(LOST) - 1 \
	}
#define ENTITY_CLOSER \
	{ \
		LOST, CLOSER + sizeof(LOST) - 1 \
	}
static const struct entity {
	char text[7];
	uint8_t n;
} entity[256] = {[0 ... '\t' - 1] = ENTITY_LOST, ['\n' + 1 ... '\r' - 1] = ENTITY_LOST,
		 ['\r'] = ENTITY("&#13;"),       ['\r' + 1 ... ' ' - 1] = ENTITY_LOST,
		 [0x7f] = ENTITY_LOST,           ['<'] = ENTITY("&lt;"),
		 ['>'] = ENTITY("&gt;"),         ['&'] = ENTITY("&amp;"),
		 ['"'] = ENTITY("&quot;"),       ['\''] = ENTITY("&#39;"),
		 [0xc2] = ENTITY_CLOSER,         [0xd8] = ENTITY_CLOSER,
		 [0xe2] = ENTITY_CLOSER};

/* Pieces of 1 KiB, with room for the longest replacement of each byte: no other check of room is needed. */
static void escape(struct buf *b, struct slice s)
{
	enum { PIECE = 1024, LONGEST = 8 };
	for (const char *p = s.p, *end = s.p + s.n; p < end;) {
		const char *piece = end - p > PIECE ? p + PIECE : end;
		char *from = buf_room(b, (size_t)(piece - p + 16) * LONGEST), *to = from;
		while (p < piece) {
			/* What may be replaced; < > are 3c 3e, & ' are 26 27. */
			unsigned hit = 1, n = 0;
			if (end - p >= 16) {
				bytes16 c = bytes16_load(p);
				hit = bytes16_mask((c - 0x20 > 0x5e) | ((c & 0xfd) == 0x3c) | ((c | 1) == 0x27) | (c == '"'));
				memcpy(to, &c, sizeof(c));
				n = hit ? (unsigned)__builtin_ctz(hit) : 16;
			}
			p += n;
			to += n;
			if (!hit)
				continue;
			const struct entity *as = &entity[(uint8_t)*p];
			size_t take = !as->n ? 0 : as->n < CLOSER ? 1 : text_drives(p, (size_t)(end - p));
			if (!take) {
				*to++ = *p++;
				continue;
			}
			p += take;
			memcpy(to, as->text, sizeof(as->text));
			to += as->n % CLOSER;
		}
		buf_wrote(b, (size_t)(to - from));
	}
}

void html_text(struct buf *b, struct slice s)
{
	if (!s.n)
		return;
	if (utf8_valid(s)) {
		escape(b, s);
		return;
	}
	/* Sequence by sequence is fine: damaged texts are rare. Only the bad bytes are lost. */
	for (size_t i = 0, n; i < s.n; i += n) {
		for (n = 1; n <= 4 && i + n <= s.n && !utf8_valid(slice_of(s.p + i, n)); n++)
			;
		if (n <= 4 && i + n <= s.n) {
			escape(b, slice_of(s.p + i, n));
		} else {
			buf_adds(b, LOST);
			n = 1;
		}
	}
}

void html_put_texts(struct buf *b, const char *form, const struct slice *text, size_t n)
{
	for (const char *hole; n && (hole = strstr(form, "{}")); form = hole + 2, n--) {
		buf_add(b, form, (size_t)(hole - form));
		html_text(b, *text++);
	}
	html_raw(b, form);
}

void html_href(struct buf *b, struct slice path)
{
	static const char hex[] = "0123456789ABCDEF";
	for (size_t i = 0; i < path.n; i++) {
		unsigned char c = (unsigned char)path.p[i];
		if (is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'z') || (c && strchr("/-_.~!,", c))) {
			buf_addc(b, (char)c);
		} else {
			buf_addc(b, '%');
			buf_addc(b, hex[c >> 4]);
			buf_addc(b, hex[c & 15]);
		}
	}
}

void html_unhref(struct buf *b, struct slice href)
{
	for (const char *p = href.p, *end = href.p + href.n; p < end; p++) {
		int high = *p == '%' && end - p > 2 ? hex_digit(p[1]) : -1, low = high < 0 ? -1 : hex_digit(p[2]);
		buf_addc(b, low < 0 ? *p : (char)(high << 4 | low));
		p += low < 0 ? 0 : 2;
	}
}

void html_link(struct buf *b, struct slice path, struct slice text)
{
	html_raw(b, "<a href=\"");
	html_href(b, path);
	html_raw(b, "\">");
	html_text(b, text);
	html_raw(b, "</a>");
}

void html_url(struct buf *b, struct slice url, struct slice text)
{
	bool ok = slice_starts(url, "https://") || slice_starts(url, "http://");
	if (ok) {
		html_raw(b, "<a rel=\"noopener noreferrer\" href=\"");
		html_text(b, url);
		html_raw(b, "\">");
	}
	html_text(b, text);
	if (ok)
		html_raw(b, "</a>");
}

/* A template of share/ with marks like @PT2_CSS@: cuts the text up to the next mark off *rest, and the mark's name ("CSS"; empty
 * after the last one). False if nothing is left. */
static bool share_next(struct slice *rest, struct slice *text, struct slice *mark)
{
	if (!rest->n)
		return false;
	const char *stop = rest->p + rest->n, *at = slice_find(*rest, "@PT2_");
	const char *end = at ? memchr(at + 1, '@', (size_t)(stop - at - 1)) : NULL;
	if (!end) {
		*text = *rest;
		*mark = slice_of("", 0);
		*rest = slice_of(stop, 0);
		return true;
	}
	*text = slice_of(rest->p, (size_t)(at - rest->p));
	*mark = slice_of(at + 5, (size_t)(end - at - 5));
	*rest = slice_of(end + 1, (size_t)(stop - end - 1));
	return true;
}

/* " 'sha256-...'" of each element of this kind. */
static void add_hashes(struct buf *b, struct slice markup, const char *open, const char *close)
{
	for (const char *at; (at = slice_find(markup, open));) {
		struct slice rest = slice_of(at + strlen(open), (size_t)(markup.p + markup.n - at) - strlen(open));
		const char *end = slice_find(rest, close);
		size_t n = end ? (size_t)(end - rest.p) : rest.n;
		SHA256_CTX ctx;
		uint8_t digest[SHA256_DIGEST_LENGTH];
		SHA256Init(&ctx);
		SHA256Update(&ctx, (const uint8_t *)rest.p, n);
		SHA256Final(digest, &ctx);
		buf_adds(b, " 'sha256-");
		base64_add(b, (const char *)digest, sizeof(digest));
		buf_addc(b, '\'');
		markup = slice_of(rest.p + n, rest.n - n);
	}
}

/* The policy that allows these scripts and styles. */
static void add_policy(struct buf *b, struct slice markup, bool files)
{
	static const char *const kind[][3] = {{"; script-src", "<script>", "</script>"}, {"; style-src", "<style>", "</style>"}};
	html_raw(b, "<meta http-equiv=\"Content-Security-Policy\" "
		    "content=\"default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'");
	for (size_t i = 0; i < ARRAY_LEN(kind); i++) {
		html_raw(b, kind[i][0]);
		size_t had = b->len;
		html_raw(b, files ? " 'self'" : "");
		add_hashes(b, markup, kind[i][1], kind[i][2]);
		html_raw(b, b->len == had ? " 'none'" : "");
	}
	html_raw(b, "\">\n");
}

/* ---- pages ---- */

#define SHELL "page/shell.html"

/* An element whose text is these files. */
static void add_element(struct buf *b, const char *tag, const char *first, const char *const *more)
{
	buf_addf(b, "<%s>\n", tag);
	if (first)
		buf_add_slice(b, share_file(first));
	while (more && *more)
		buf_add_slice(b, share_file(*more++));
	buf_addf(b, "</%s>\n", tag);
}

/* What the head has of scripts and styles. */
static void add_parts(struct buf *b, const struct html_page *page)
{
	if (page->themed) {
		html_raw(b, "<link rel=\"icon\" href=\"data:,\">\n");
		add_element(b, "script", "page/theme.js", NULL);
	}
	if (page->files)
		buf_addf(b, "<link rel=\"stylesheet\" href=\"%s.css\">\n<script defer src=\"%s.js\"></script>\n", page->files, page->files);
	else
		add_element(b, "style", page->themed ? "page/theme.css" : NULL, page->css);
}

void html_script(struct buf *b, const struct html_page *page) { add_element(b, "script", NULL, page->js); }

/* The body with its scripts; with fn the other marks, too. */
static int add_body(struct buf *b, const struct html_page *page, html_mark_fn *fn, void *user)
{
	struct slice rest = page->body ? share_file(page->body) : SLICE(""), text, mark;
	int r = 0;
	while (!r && share_next(&rest, &text, &mark)) {
		buf_add_slice(b, text);
		if (slice_is(mark, "JS"))
			html_script(b, page);
		else if (mark.n && fn)
			r = fn(user, mark);
	}
	return r;
}

static void policy_of(struct buf *b, const struct html_page *page)
{
	struct buf all = {0};
	add_parts(&all, page);
	add_body(&all, page, NULL, NULL);
	if (!page->body && page->js)
		html_script(&all, page);
	if (page->more_css)
		add_element(&all, "style", page->more_css, NULL);
	add_policy(b, buf_slice(&all), page->files != NULL);
	buf_release(&all);
}

void html_head(struct buf *b, const struct html_page *page, struct slice title)
{
	struct slice rest = share_file(SHELL), text, mark;
	while (share_next(&rest, &text, &mark)) {
		buf_add_slice(b, text);
		if (slice_is(mark, "BODY"))
			break;
		if (slice_is(mark, "CSP") && !page->own)
			policy_of(b, page);
		else if (slice_is(mark, "TITLE"))
			html_text(b, title);
		else if (slice_is(mark, "PARTS"))
			add_parts(b, page);
	}
	html_raw(b, page->own ? page->own : "");
}

void html_tail(struct buf *b) { html_raw(b, slice_find(share_file(SHELL), "</body>")); }

int html_page(struct buf *b, const struct html_page *page, html_mark_fn *fn, void *user)
{
	html_head(b, page, slice_str(page->title));
	const int r = add_body(b, page, fn, user);
	html_tail(b);
	return r;
}

struct document {
	struct json_out o;
	html_document_fn *fn;
	const void *of;
};

static int put_document(void *user, struct slice mark)
{
	struct document *d = user;
	if (slice_is(mark, "MODEL"))
		d->fn(&d->o, d->of);
	return 0;
}

int html_save_document(const char *path, const struct html_page *page, html_document_fn *fn, const void *of, struct err *err)
{
	struct screen s = {0};
	struct document d = {{.b = &s.b, .html = true}, fn, of};
	html_page(&s.b, page, put_document, &d);
	const int r = screen_save(&s, path, err);
	buf_release(&s.b);
	return r;
}
