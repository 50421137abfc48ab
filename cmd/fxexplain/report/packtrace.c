/* packtrace.c - logs as they go into a bundle. A record is a line, followed by the lines of its payload (run/trace/trace.h has the format).
 * */
#include "report/bundle.h"

#include "base/tool/diag.h"
#include "base/io/window.h"
#include "base/md5many.h"

struct copy {
	struct buf *b;
	const struct intern *ids; /* NULL: all of it */
	struct redact *r;         /* NULL: unchanged */
	struct buf payload, safe;
	struct buf envelope;
	bool open;
	uint64_t cut;
};

/* Cut at each escape: what a literal that cannot be decoded gives away is still looked for. */
static void redact_pieces(struct redact *r, struct buf *b, struct slice text)
{
	size_t from = 0;
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] != '\\' || i + 1 == text.n)
			continue;
		redact_add(r, b, slice_of(text.p + from, i - from));
		buf_add(b, text.p + i, 2);
		from = ++i + 1;
	}
	redact_add(r, b, slice_of(text.p + from, text.n - from));
}

/* A string with its quotes. With escapes it is decoded first: a path may hold some ("/home/\u00e4nn"), and one in quotes of its own
 * ("File \"/my disk/m.py\"") ends at those. */
static void redact_literal(struct redact *r, struct buf *b, struct slice literal)
{
	LOCAL_BUF plain = {0}, safe = {0};
	OWNED(json_tape_release) struct json_tape t = {0};
	uint32_t root;
	if (!slice_chr(literal, '\\')) {
		redact_add(r, b, literal);
		return;
	}
	json_tape_text(&t, literal.p, literal.n);
	if (json_parse(&t, 0, literal.n, &root) < 0) {
		redact_pieces(r, b, literal);
		return;
	}
	json_unescape(&t, root, &plain);
	buf_addc(b, '"');
	if (plain.len && *plain.p == '/' && !memchr(plain.p, '\n', plain.len)) { /* a path, all of it */
		FREED char *quoted = xasprintf("\"%.*s\"", SL(buf_slice(&plain)));
		redact_add(r, &safe, slice_str(quoted));
		json_escape(b, slice_of(safe.p + 1, safe.len - 2), false);
	} else {
		redact_add(r, &safe, buf_slice(&plain));
		json_escape(b, buf_slice(&safe), false);
	}
	buf_addc(b, '"');
}

void pack_redact_json(struct redact *r, struct buf *b, struct slice text)
{
	size_t from = 0;
	for (size_t i = 0, end; i < text.n; i++) {
		if (text.p[i] != '"')
			continue;
		for (end = i + 1; end < text.n && text.p[end] != '"'; end++)
			end += text.p[end] == '\\';
		if (end >= text.n)
			break;
		redact_add(r, b, slice_of(text.p + from, i - from));
		redact_literal(r, b, slice_of(text.p + i, end + 1 - i));
		from = (i = end) + 1;
	}
	redact_pieces(r, b, slice_of(text.p + from, text.n - from));
}

static int64_t number_behind(struct slice text, const char *key)
{
	struct slice rest = slice_behind(text, key);
	uint64_t v = 0;
	size_t n = 0;
	while (n < rest.n && is_digit(rest.p[n]))
		n++;
	return n && slice_u64(slice_of(rest.p, n), &v) ? (int64_t)v : -1;
}

/* Is it a long payload of a compilation without findings? */
static bool is_beside(const struct copy *c)
{
	char id[64];
	int64_t frame = number_behind(buf_slice(&c->envelope), "\"frame_id\": "),
		compile = number_behind(buf_slice(&c->envelope), "\"frame_compile_id\": ");
	if (!c->ids || c->payload.len < PACK_LONG || frame < 0)
		return false;
	int n = snprintf(id, sizeof(id), "%lld/%lld", (long long)frame, (long long)compile);
	return intern_find(c->ids, slice_of(id, (size_t)n)) == NONE;
}

static void put_digest(struct buf *b, struct slice envelope, const uint8_t digest[16])
{
	static const char key[] = "\"has_payload\": \"";
	const char *at = slice_find(envelope, key);
	size_t head = at ? (size_t)(at - envelope.p) + sizeof(key) - 1 : envelope.n;
	if (!at || envelope.n - head < 32) {
		buf_add_slice(b, envelope);
		return;
	}
	buf_add(b, envelope.p, head);
	for (int i = 0; i < 16; i++)
		buf_addf(b, "%02x", digest[i]);
	buf_add(b, envelope.p + head + 32, envelope.n - head - 32);
}

static void end_record(struct copy *c)
{
	struct slice payload = buf_slice(&c->payload), rest, line;
	uint8_t digest[16];
	if (!c->open)
		return;
	c->open = false;
	if (is_beside(c)) {
		c->cut++;
		return;
	}
	struct slice envelope = buf_slice(&c->envelope);
	LOCAL_BUF safe = {0};
	if (c->r) {
		pack_redact_json(c->r, &safe, envelope);
		envelope = buf_slice(&safe);
		buf_reset(&c->safe);
		if (payload.n && strchr("{[\"", *payload.p))
			pack_redact_json(c->r, &c->safe, payload);
		else
			redact_add(c->r, &c->safe, payload);
		payload = buf_slice(&c->safe);
		md5_many(&(struct md5_job){payload.p, payload.n, digest}, 1);
		put_digest(c->b, envelope, digest);
	} else {
		buf_add_slice(c->b, envelope);
	}
	buf_addc(c->b, '\n');
	for (rest = payload; slice_line(&rest, &line);) {
		buf_addc(c->b, '\t');
		buf_add_slice(c->b, line);
		buf_addc(c->b, '\n');
	}
	/* a payload that ends in a newline is followed by an empty line */
	if (payload.n && payload.p[payload.n - 1] == '\n')
		buf_adds(c->b, "\t\n");
}

static void take_line(struct copy *c, struct slice line)
{
	if (c->open && line.n && *line.p == '\t') {
		if (c->payload.len || c->payload.p)
			buf_addc(&c->payload, '\n');
		buf_add(&c->payload, line.p + 1, line.n - 1);
		if (!c->payload.p) /* an empty first line counts */
			buf_grow(&c->payload, 1);
		return;
	}
	end_record(c);
	buf_reset(&c->envelope);
	buf_release(&c->payload);
	buf_add_slice(&c->envelope, line);
	c->open = true;
}

static size_t whole_lines(const char *data, size_t n)
{
	const char *end = n ? memrchr(data, '\n', n) : NULL;
	return end ? (size_t)(end - data) + 1 : 0;
}

int pack_trace(struct buf *b, const char *path, const struct intern *ids, struct redact *r, uint64_t *cut, struct err *err)
{
	struct input in;
	OWNED(window_release) struct window w = {0};
	const size_t start = b->len;
	struct copy c = {.b = b, .r = r};
	if (input_open(&in, path, err) < 0)
		return -1;
	if (in.size > PACK_WHOLE)
		c.ids = ids;
	while (input_next(&in, &w, 4 << 20, whole_lines) > 0) {
		struct slice rest = slice_of(w.data, w.len), line;
		if (!c.ids && !r)
			buf_add_slice(b, rest);
		else
			while (slice_line(&rest, &line))
				take_line(&c, line);
		if (b->len - start > 16u * PACK_WHOLE)
			break;
	}
	end_record(&c);
	*cut += c.cut;
	if (in.lost && !in.packed) /* of a damaged .gz the report has said so */
		warn("'%s' is not whole in the bundle: %s", path, in.lost);
	input_close(&in);
	buf_release(&c.payload);
	buf_release(&c.safe);
	buf_release(&c.envelope);
	return 0;
}
