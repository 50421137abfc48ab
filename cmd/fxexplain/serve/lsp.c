/* lsp.c - messages, positions, file URIs. */
#include "serve/lsp.h"

#include "base/html/html.h"
#include "base/text.h"
#include "base/tool/output.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

enum { HEAD_MAX = 4096 };

/* ---- in ---- */

/* 1: more bytes. 0: none in time. -1: error or end. */
static int more(struct lsp *l, int timeout_ms, struct err *err)
{
	struct pollfd p = {.fd = l->in, .events = POLLIN};
	int ready = poll(&p, 1, timeout_ms);
	if (ready <= 0)
		return ready == 0 || errno == EINTR ? 0 : err_errno(err, EXIT_ENVIRON, "cannot wait for standard input");
	ssize_t n = read(l->in, buf_room(&l->got, 1 << 16), 1 << 16);
	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : err_errno(err, EXIT_INPUT, "cannot read standard input");
	if (n == 0)
		return l->got.len ? err_set(err, EXIT_INPUT, "standard input ends within a message") : -1;
	buf_wrote(&l->got, (size_t)n);
	return 1;
}

/* Finds where the message's JSON begins and how long it is: 1. 0: its header is incomplete. */
static int head(const struct lsp *l, size_t *from, uint64_t *n, struct err *err)
{
	struct slice rest = buf_slice(&l->got), line;
	const char *end = slice_find(rest, "\r\n\r\n");
	if (!end)
		return rest.n < HEAD_MAX ? 0 : err_set(err, EXIT_INPUT, "standard input is not a Language Server Protocol message");
	*from = (size_t)(end - rest.p) + 4;
	rest = slice_of(rest.p, (size_t)(end - rest.p));
	while (slice_line(&rest, &line))
		if (line.n > 15 && !strncasecmp(line.p, "Content-Length:", 15) &&
		    slice_u64(slice_trim(slice_of(line.p + 15, line.n - 15)), n))
			return *n <= LSP_MAX ? 1 : err_set(err, EXIT_INPUT, "a message of %llu bytes", (unsigned long long)*n);
	return err_set(err, EXIT_INPUT, "a message without Content-Length: serve speaks the Language Server Protocol with an editor");
}

int lsp_read(struct lsp *l, int timeout_ms, struct err *err)
{
	size_t from = 0;
	uint64_t n = 0;
	*err = (struct err){0};
	if (l->used) {
		memmove(l->got.p, l->got.p + l->used, l->got.len - l->used);
		buf_cut(&l->got, l->got.len - l->used);
		l->used = 0;
	}
	for (int status;;) {
		if ((status = head(l, &from, &n, err)) < 0)
			return -1;
		if (status && l->got.len - from >= n)
			break;
		if ((status = more(l, timeout_ms, err)) <= 0)
			return status;
	}
	l->used = from + (size_t)n;
	json_tape_text(&l->tape, l->got.p + from, (size_t)n);
	if (json_parse(&l->tape, 0, (size_t)n, &l->root) < 0)
		l->root = NONE;
	return 1;
}

void lsp_release(struct lsp *l)
{
	json_tape_release(&l->tape);
	buf_release(&l->got);
	buf_release(&l->body);
}

/* ---- out ---- */

struct json_out lsp_begin(struct lsp *l)
{
	buf_reset(&l->body);
	struct json_out o = {.b = &l->body};
	json_obj(&o);
	json_member_str(&o, "jsonrpc", SLICE("2.0"));
	return o;
}

struct json_out lsp_answer(struct lsp *l)
{
	struct json_out o = lsp_begin(l);
	uint32_t id = l->root == NONE ? NONE : json_get(&l->tape, l->root, "id");
	if (id == NONE)
		json_member_null(&o, "id");
	else
		json_member_raw(&o, "id", json_raw(&l->tape, id));
	return o;
}

int lsp_send(struct lsp *l, struct json_out *o, struct err *err)
{
	char text[64];
	while (o->depth)
		json_close(o);
	int n = snprintf(text, sizeof(text), "Content-Length: %zu\r\n\r\n", l->body.len);
	return write_all(l->out, text, (size_t)n, "standard output", err) < 0
		   ? -1
		   : write_all(l->out, l->body.p, l->body.len, "standard output", err);
}

/* ---- positions ---- */

/* UTF-16 units of a text in UTF-8: two for a four-byte character. */
static size_t utf16_units(struct slice s)
{
	size_t n = 0;
	for (size_t i = 0; i < s.n; i++)
		n += ((unsigned char)s.p[i] & 0xc0) != 0x80 ? 1 + ((unsigned char)s.p[i] >= 0xf0) : 0;
	return n;
}

void lsp_position(const struct lsp *l, struct json_out *o, const char *key, struct slice text, size_t at)
{
	size_t start;
	uint64_t line = text_line(text, at, &start);
	json_member_obj(o, key);
	json_member_u64(o, "line", line);
	json_member_u64(o, "character", l->utf8 ? at - start : utf16_units(slice_of(text.p + start, at - start)));
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
	for (const char *p = from, *end = uri.p + uri.n; p < end; p++) {
		int high = *p == '%' && end - p > 2 ? hex_digit(p[1]) : -1, low = high < 0 ? -1 : hex_digit(p[2]);
		buf_addc(path, low < 0 ? *p : (char)(high << 4 | low));
		p += low < 0 ? 0 : 2;
	}
	return !memchr(path->p, 0, path->len);
}

void lsp_uri(struct buf *uri, const char *path)
{
	buf_adds(uri, "file://");
	html_href(uri, slice_str(path));
}
