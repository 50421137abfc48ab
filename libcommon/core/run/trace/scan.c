/* scan.c - phase 1: splits a window of the log into records. It needs only the window, so windows are scanned in parallel. */
#include "base/bytes16.h"
#include "base/untab.h"
#include "run/trace/trace.h"

#include <errno.h>

const struct trace_kind_info trace_kind[KIND_COUNT] = {
#define X(name, form, fields, flags) {#name, sizeof(#name) - 1, form, flags},
    TRACE_KINDS(X)
#undef X
};

enum trace_kind trace_kind_of(struct slice key)
{
	for (unsigned i = 0; i < KIND_COUNT; i++)
		if (trace_kind[i].name_len == key.n && !memcmp(trace_kind[i].name, key.p, key.n))
			return i;
	return KIND_COUNT;
}

bool trace_is_context(struct slice key)
{
	static const char *const context[] = {"frame_id", "frame_compile_id", "attempt", "compiled_autograd_id", "has_payload", "rank",
					      "stack",    "subgraph_name"};
	for (unsigned i = 0; i < ARRAY_LEN(context); i++)
		if (slice_is(key, context[i]))
			return true;
	return false;
}

/* ---- the glog prefix ---- */

struct prefix {
	const char *start, *source, *source_end, *envelope;
	unsigned year, month, day;
	uint64_t usec, thread, line;
};

static inline bool digits(const char *p, int n)
{
	for (int i = 0; i < n; i++)
		if (p[i] < '0' || p[i] > '9')
			return false;
	return true;
}

static inline unsigned dec(const char *p, int n)
{
	unsigned v = 0;
	while (n--)
		v = v * 10 + (unsigned)(*p++ - '0');
	return v;
}

/* Does a prefix start at p? V1121 07:59:23.043000 1234 torch/x.py:915] { */
static bool prefix_at(const char *p, const char *end, struct prefix *x)
{
	enum { MIN = sizeof("V1121 07:59:23.043000 1 a:1] {") - 1 };
	if (end - p < MIN || !digits(p + 1, 4))
		return false;
	x->start = p;
	x->year = 0;
	p++;
	if (digits(p, 8)) { /* glog's own year, not Python's */
		x->year = dec(p, 4);
		p += 4;
		if (end - p < MIN)
			return false;
	}
	/* "1121 07:59:23.04" at once, then "3000 " */
	enum { DIGITS = 0xdb6f };
	const bytes16 c = bytes16_load(p);
	if ((bytes16_mask((bytes16_yes)(c - '0' < 10)) & DIGITS) != DIGITS || p[4] != ' ' || p[7] != ':' || p[10] != ':' ||
	    !digits(p + 16, 4) || p[20] != ' ')
		return false;
	x->month = dec(p, 2);
	x->day = dec(p + 2, 2);
	x->usec = ((dec(p + 5, 2) * 60ull + dec(p + 8, 2)) * 60 + dec(p + 11, 2)) * 1000000 + dec(p + 14, 6);
	p += 21;
	x->thread = 0;
	const char *from = p;
	while (p < end && is_digit(*p) && p - from < 19)
		x->thread = x->thread * 10 + (uint64_t)(*p++ - '0');
	if (p == from)
		return false;
	x->source = p;
	const char *colon = memchr(p, ':', (size_t)(end - p > 4096 ? 4096 : end - p));
	if (!colon || colon == p)
		return false;
	x->source_end = p = colon;
	p++;
	x->line = 0;
	from = p;
	while (p < end && is_digit(*p) && p - from < 9)
		x->line = x->line * 10 + (uint64_t)(*p++ - '0');
	if (p == from || end - p < 3 || p[0] != ']' || p[1] != ' ')
		return false;
	x->envelope = p + 2;
	return true;
}

/* Anywhere in a line, but not after a tab: that is a payload that contains a log, under a scheduler's label. */
static bool find_prefix(const char *p, const char *end, struct prefix *x)
{
	for (; end - p > 28 && *p != '\t'; p++)
		if ((*p == 'V' || *p == 'I' || *p == 'W' || *p == 'E' || *p == 'C') && prefix_at(p, end, x))
			return true;
	return false;
}

/* A scheduler's label before every line, including payload lines: as long as the text before the first prefix. */
static size_t find_label(const char *data, size_t len, const char **of)
{
	struct slice rest = slice_of(data, len), line;
	struct prefix x;
	for (int i = 0; i < 100 && slice_line(&rest, &line); i++)
		if (find_prefix(line.p, line.p + line.n, &x)) {
			*of = line.p;
			return (size_t)(x.start - line.p);
		}
	return 0;
}

/* Is this a payload line after a label, as far as it is visible? */
static bool label_payload(struct slice rest, struct slice label)
{
	if (rest.n <= label.n)
		return !memcmp(rest.p, label.p, rest.n);
	return rest.p[label.n] == '\t' && !memcmp(rest.p, label.p, label.n);
}

size_t trace_cut(const char *data, size_t len)
{
	struct prefix x;
	size_t plain = 0, tried = 0, label;
	const char *of = NULL, *p = memrchr(data, '\n', len);
	label = find_label(data, len, &of);
	/* Backwards over line starts. A record starts at a line with a prefix; if none is in sight, any non-payload line will do, so that a
	 * file that is not a log is not read into one window. */
	while (p) {
		const char *line = p + 1, *end = memchr(line, '\n', len - (size_t)(line - data));
		if (line < data + len && *line != '\t' && *line != '\n' && *line != '\r' &&
		    !(label && label_payload(slice_of(line, (size_t)(data + len - line)), slice_of(of, label)))) {
			if (!plain)
				plain = (size_t)(line - data);
			if (find_prefix(line, end ? end : data + len, &x))
				return (size_t)(line - data);
			if (++tried > 1000)
				break;
		}
		p = p > data ? memrchr(data, '\n', (size_t)(p - data)) : NULL;
	}
	return plain;
}

/* ---- records ---- */

/* Nodes of a graph as written by print_readable: `name: "f32[8]" = expr`. Aliases of inputs (l_x_ = L_x_) do not count. */
static int32_t count_nodes(struct slice text)
{
	int32_t n = 0;
	struct slice line;
	while (slice_line(&text, &line)) {
		const char *p = line.p, *end = line.p + line.n;
		while (p < end && (*p == ' ' || *p == '\t'))
			p++;
		if (p == line.p || p >= end || *p == '#')
			continue;
		const char *name = p;
		while (p < end && (*p == '_' || is_digit(*p) || ((*p | 32) >= 'a' && (*p | 32) <= 'z')))
			p++;
		if (p == name)
			continue;
		if (p + 2 < end && p[0] == ':' && p[1] == ' ' && p[2] == '"') {
			p = memchr(p + 3, '"', (size_t)(end - p - 3));
			if (!p)
				continue;
			p++;
		}
		if (end - p > 3 && !memcmp(p, " = ", 3) && !(end - p > 5 && p[3] == 'L' && p[4] == '_'))
			n++;
	}
	return n;
}

/* MD5 of all payloads of the window, and whether it is the original one. Records no longer move. */
static void hash_payloads(struct trace_scan *s)
{
	s->n_md5 = 0;
	for (uint32_t k = 0; k < s->n; k++) {
		struct trace_record *r = &s->rec[k];
		if (!(r->flags & REC_PAYLOAD))
			continue;
		GROW(s->md5, s->n_md5, s->cap_md5, 1);
		s->md5[s->n_md5++] = (struct md5_job){trace_payload(s, r).p, r->payload_len, r->md5, NULL};
	}
	md5_many(s->md5, s->n_md5);
	for (uint32_t k = 0; k < s->n; k++) {
		struct trace_record *r = &s->rec[k];
		if (r->flags & REC_PAYLOAD && memcmp(r->md5, r->want, sizeof(r->md5)))
			r->flags |= REC_MD5_BAD;
	}
}

/* has_payload, 32 lower-case hex digits; anything else is not a valid MD5. */
static bool read_md5(struct slice hex, uint8_t md5[16])
{
	unsigned good = hex.n == 32 ? 0xffff : 0;
	for (unsigned half = 0; half < 2 && good; half++) {
		bytes16 c = bytes16_load(hex.p + 16 * half), low = c - 'a' + 10, digit = c - '0';
		bytes16 is_digit = (bytes16)(digit < 10), is_letter = (bytes16)((low > 9) & (low < 16)),
			v = (digit & is_digit) | (low & is_letter);
		good &= bytes16_mask((bytes16_yes)(is_digit | is_letter));
		for (unsigned i = 0; i < 8; i++)
			md5[8 * half + i] = (uint8_t)(v[2 * i] << 4 | v[2 * i + 1]);
	}
	return good == 0xffff;
}

/* Called when the record's last line has been seen. */
static void finish(struct trace_scan *s, struct trace_record *r, bool ascii)
{
	if (!(r->flags & REC_PAYLOAD))
		return;
	struct slice pay = trace_payload(s, r);
	if (!ascii && !utf8_valid(pay))
		r->flags |= REC_NOT_UTF8;
	for (uint64_t k = r->kinds; k; k &= k - 1)
		if (trace_kind[__builtin_ctzll(k)].flags & K_GRAPH)
			r->nodes = count_nodes(pay);
	if (r->kinds & 1ull << KIND_dynamo_guards) {
		uint32_t root;
		json_tape_text(&s->payload_tape, pay.p, pay.n);
		if (json_parse(&s->payload_tape, 0, pay.n, &root) < 0 || s->payload_tape.loose ||
		    !trace_guards_valid(&s->payload_tape, root))
			r->flags |= REC_GUARDS_BAD;
	}
}

/* An id: a number below 2^32, or null. Anything else makes all ids of the record unusable. */
static void read_id(const struct json_tape *t, uint32_t k, int64_t *id, bool *bad)
{
	uint64_t v;
	if (json_is(t, k, JSON_NULL))
		return;
	if (json_u64(t, k, &v) && v <= UINT32_MAX)
		*id = (int64_t)v;
	else
		*bad = true;
}

static bool take(const char **p, const char *end, const char *text, size_t n)
{
	bool is = (size_t)(end - *p) >= n && !memcmp(*p, text, n);
	*p += is ? n : 0;
	return is;
}
#define TAKE(p, end, text) take(p, end, text, sizeof(text) - 1)

static bool take_id(const char **p, const char *end, int64_t *id)
{
	const char *from = *p;
	for (*id = 0; *p < end && *p - from < 9 && is_digit(**p); ++*p)
		*id = *id * 10 + (**p - '0');
	return *p > from && (*from != '0' || *p == from + 1);
}

/* Four of five records are events, whose envelope has only their ids. In torch's own form it is read without a JSON parser: its tokens are
 * the envelope and has_payload in it. Any other: false, with nothing changed. */
static bool read_event(struct trace_scan *s, struct trace_record *r)
{
	struct json_tape *t = &s->tape;
	const char *p = s->window.data + r->envelope, *end = p + r->envelope_len;
	struct compile_id id = r->id;
	int64_t rank = r->rank;
	if (!TAKE(&p, end, "{\"chromium_event\": {}") || (TAKE(&p, end, ", \"rank\": ") && !take_id(&p, end, &rank)) ||
	    (TAKE(&p, end, ", \"compiled_autograd_id\": ") && !take_id(&p, end, &id.autograd)) ||
	    (TAKE(&p, end, ", \"frame_id\": ") && !take_id(&p, end, &id.frame)) ||
	    (TAKE(&p, end, ", \"frame_compile_id\": ") && !take_id(&p, end, &id.compile)) ||
	    (TAKE(&p, end, ", \"attempt\": ") && !take_id(&p, end, &id.attempt)) || !TAKE(&p, end, ", \"has_payload\": \"") ||
	    end - p != sizeof(r->md5) * 2 + 2 || memcmp(end - 2, "\"}", 2) || !read_md5(slice_of(p, sizeof(r->md5) * 2), r->want))
		return false;
	uint32_t at = (uint32_t)(p - s->window.data), k = t->n;
	GROW(t->tok, t->n, t->cap, 3);
	t->tok[t->n++] = (struct json_tok){r->envelope, r->envelope_len, k + 3, JSON_OBJECT, 0};
	t->tok[t->n++] =
	    (struct json_tok){at - (uint32_t)sizeof("has_payload\": \"") + 1, sizeof("has_payload") - 1, k + 2, JSON_STRING, 0};
	t->tok[t->n++] = (struct json_tok){at, sizeof(r->md5) * 2, k + 3, JSON_STRING, 0};
	r->id = id;
	r->rank = rank;
	r->root = k;
	r->has_payload = k + 2;
	r->flags |= REC_PAYLOAD;
	r->kinds = 1ull << KIND_chromium_event;
	return true;
}

static void read_envelope(struct trace_scan *s, struct trace_record *r)
{
	struct json_tape *t = &s->tape;
	if (json_parse(t, r->envelope, r->envelope_len, &r->root) < 0) {
		r->root = NONE;
		r->flags |= REC_NO_JSON;
		return;
	}
	if (t->loose)
		r->flags |= REC_LOOSE;
	if (!json_is(t, r->root, JSON_OBJECT)) {
		r->flags |= REC_NO_JSON;
		return;
	}
	bool bad_id = false;
	unsigned context = 0; /* bit per context key, to see duplicates */
	uint64_t seen = 0;    /* bit per kind, null or not */
	json_each_pair(t, r->root, k) {
		struct slice key = json_slice(t, k);
		uint32_t v = k + 1;
		uint64_t n;
		int bit = -1;
		if (slice_is(key, "frame_id")) {
			bit = 3;
			read_id(t, v, &r->id.frame, &bad_id);
		} else if (slice_is(key, "frame_compile_id")) {
			bit = 4;
			read_id(t, v, &r->id.compile, &bad_id);
		} else if (slice_is(key, "attempt")) {
			bit = 5;
			read_id(t, v, &r->id.attempt, &bad_id);
		} else if (slice_is(key, "compiled_autograd_id")) {
			bit = 6;
			read_id(t, v, &r->id.autograd, &bad_id);
		} else if (slice_is(key, "has_payload")) {
			bit = 0;
			if (json_is(t, v, JSON_STRING)) {
				r->has_payload = v;
				r->flags |= REC_PAYLOAD;
				if (!read_md5(json_slice(t, v), r->want))
					r->flags |= REC_MD5_BAD;
			} else if (!json_is(t, v, JSON_NULL)) {
				r->flags |= REC_MALFORMED;
			}
		} else if (slice_is(key, "rank")) {
			bit = 1;
			if (json_u64(t, v, &n) && n <= UINT32_MAX)
				r->rank = (int64_t)n;
			else if (!json_is(t, v, JSON_NULL))
				r->flags |= REC_MALFORMED;
		} else if (slice_is(key, "stack")) {
			bit = 2;
			if (!json_is(t, v, JSON_NULL)) {
				r->stack = v;
				if (!schema_stack(t, v))
					r->flags |= REC_MALFORMED;
			}
		} else if (slice_is(key, "subgraph_name")) {
			r->subgraph = json_is(t, v, JSON_STRING) ? v : NONE;
		} else {
			enum trace_kind kind = trace_kind_of(key);
			if (kind == KIND_COUNT) {
				r->flags |= REC_UNKNOWN;
				if (slice_is(key, "timestamp") || slice_is(key, "thread") || slice_is(key, "pathname") ||
				    slice_is(key, "lineno") || slice_is(key, "payload_filename"))
					r->flags |= REC_RESERVED;
				continue;
			}
			bool is_new = trace_kind[kind].flags & K_NEW;
			if (seen >> kind & 1 && !is_new)
				r->flags |= REC_MALFORMED;
			seen |= 1ull << kind;
			if (json_is(t, v, JSON_NULL) && !is_new)
				continue;
			if (!schema_fits(t, kind, v))
				r->flags |= REC_MALFORMED;
			r->kinds |= 1ull << kind;
			r->value = v;
		}
		if (bit >= 0) {
			if (context >> bit & 1) {
				if (bit < 3)
					r->flags |= REC_MALFORMED;
				else
					bad_id = true;
			}
			context |= 1u << bit;
		}
	}
	if (bad_id)
		r->id = (struct compile_id){-1, -1, -1, -1, 1};
}

uint32_t trace_value(const struct trace_scan *s, const struct trace_record *r, enum trace_kind k)
{
	if (!(r->kinds >> k & 1))
		return NONE;
	return r->kinds == 1ull << k ? r->value : json_get(&s->tape, r->root, trace_kind[k].name);
}

static struct trace_record *new_record(struct trace_scan *s, uint32_t line, uint32_t flags, const char *p, size_t n)
{
	GROW(s->rec, s->n, s->cap, 1);
	struct trace_record *r = &s->rec[s->n++];
	memset(r, 0, sizeof(*r)); /* in place: records are large, and each line has one */
	r->line = line;
	r->flags = flags;
	r->envelope = (uint32_t)(p - s->window.data);
	r->envelope_len = (uint32_t)n;
	r->root = r->value = r->has_payload = r->stack = r->subgraph = NONE;
	r->nodes = -1;
	r->rank = -1;
	r->id = (struct compile_id){-1, -1, -1, -1, 0};
	return r;
}

/* A line that is not a record. Adjacent ones of the same kind are one entry: payload_lines counts them. */
static void no_record(struct trace_scan *s, uint32_t line, uint32_t flags, const char *p, size_t n)
{
	struct trace_record *last = s->n ? &s->rec[s->n - 1] : NULL;
	if (last && last->flags == flags && last->line + last->payload_lines == line) {
		last->payload_lines++;
		last->envelope_len = (uint32_t)(p + n - s->window.data) - last->envelope;
	} else {
		new_record(s, line, flags, p, n)->payload_lines = 1;
	}
}

/* The newline that ends the line at p, or end; *high: it contains a byte above 0x7f. */
static char *line_end(char *p, char *end, bool *high)
{
	bytes16 all = {0};
	for (unsigned hit; end - p >= 16; p += 16) {
		bytes16 c = bytes16_load(p);
		hit = bytes16_mask(c == '\n');
		if (hit) {
			*high = (bytes16_mask((bytes16_yes)all) | (bytes16_mask((bytes16_yes)c) & (hit - 1))) != 0;
			return p + __builtin_ctz(hit);
		}
		all |= c;
	}
	char *nl = memchr(p, '\n', (size_t)(end - p));
	*high = true; /* not examined */
	return nl ? nl : end;
}

void trace_scan_window(struct trace_scan *s)
{
	char *data = s->window.data, *p = data, *end = data + s->window.len;
	struct trace_record *cur = NULL;
	bool ascii = true; /* cur's payload */
	const char *label = data;
	size_t before = 0; /* bytes before the prefix of the current record: a scheduler's label, also on its payload lines */
	uint32_t line = 0;

	s->n = 0;
	json_tape_text(&s->tape, data, s->window.len);
	for (char *next; p < end; p = next, line++) {
		if (*p == '\t' && cur && cur->flags & REC_PAYLOAD) {
			if (!cur->payload_lines)
				cur->payload = (uint32_t)(p - data);
			else
				data[cur->payload + cur->payload_len++] = '\n';
			struct untab u = {.from = p, .to = data + cur->payload + cur->payload_len};
			untab(&u, end);
			cur->payload_len = (uint32_t)(u.to - data) - cur->payload;
			cur->payload_lines += u.lines;
			ascii &= !u.high;
			next = u.from;
			line += u.lines - 1;
			continue;
		}
		bool high;
		char *nl = line_end(p, end, &high), *stop = nl;
		next = nl < end ? nl + 1 : end;
		if (nl < end && stop > p && stop[-1] == '\r')
			stop--;
		if (stop == p)
			continue;
		if (s->window.continued && line == 0) { /* the rest of a line that was too long */
			no_record(s, line, REC_NO_PREFIX, p, (size_t)(stop - p));
			continue;
		}
		char *text = NULL; /* of a payload line */
		if (*p == '\t')
			text = p + 1;
		else if (before && cur && (size_t)(stop - p) > before && p[before] == '\t' && !memcmp(p, label, before))
			text = p + before + 1;
		if (text) {
			if (!cur || !(cur->flags & REC_PAYLOAD)) {
				no_record(s, line, REC_NO_PREFIX | REC_ORPHAN, p, (size_t)(stop - p));
				cur = NULL;
				before = 0;
				continue;
			}
			if (!cur->payload_lines++)
				cur->payload = (uint32_t)(p - data);
			else
				data[cur->payload + cur->payload_len++] = '\n';
			memmove(data + cur->payload + cur->payload_len, text, (size_t)(stop - text));
			cur->payload_len += (uint32_t)(stop - text);
			ascii = false; /* not examined */
			continue;
		}
		if (cur)
			finish(s, cur, ascii);
		before = 0;
		ascii = true;
		struct prefix x;
		if (!find_prefix(p, stop, &x)) {
			no_record(s, line, REC_NO_PREFIX, p, (size_t)(stop - p));
			cur = NULL;
			continue;
		}
		cur = new_record(s, line, x.year ? REC_YEAR : 0, x.envelope, (size_t)(stop - x.envelope));
		cur->start = (uint32_t)(p - data);
		cur->month_day = (uint16_t)(x.month * 100 + x.day);
		cur->year = (uint16_t)x.year;
		cur->usec = x.usec;
		cur->thread = x.thread;
		cur->source = (uint32_t)(x.source - data);
		cur->source_len = (uint32_t)(x.source_end - x.source);
		cur->source_line = (uint32_t)x.line;
		if (high && !utf8_valid(slice_of(p, (size_t)(stop - p))))
			cur->flags |= REC_NOT_UTF8;
		if (!read_event(s, cur))
			read_envelope(s, cur);
		if (cur->id.compile >= 0 && cur->id.attempt < 0) {
			/* Some run-time records have no attempt: they count as the first. */
			cur->flags |= REC_NO_ATTEMPT;
			cur->id.attempt = 0;
		}
		before = (size_t)(x.start - p);
		label = p;
	}
	if (cur)
		finish(s, cur, ascii);
	hash_payloads(s);
	/* A line that continues in the next window is counted there. */
	s->lines = line - (line && end[-1] != '\n' && !s->window.last);
	if (s->n && s->window.last) {
		struct trace_record *last = &s->rec[s->n - 1];
		/* An invalid MD5 is not a truncated one. */
		if (end[-1] != '\n' || (last->flags & REC_MD5_BAD && json_slice(&s->tape, last->has_payload).n == 32))
			last->flags |= REC_LAST;
	}
}

void trace_scan_release(struct trace_scan *s)
{
	window_release(&s->window);
	json_tape_release(&s->tape);
	json_tape_release(&s->payload_tape);
	free(s->rec);
	free(s->md5);
	s->rec = NULL;
	s->md5 = NULL;
	s->n = s->cap = s->n_md5 = s->cap_md5 = 0;
}

static size_t first_window(const char *data, size_t len)
{
	(void)data;
	return len;
}

bool trace_is_log(const char *path)
{
	struct input in;
	struct window w = {0};
	bool found = false;
	if (input_open(&in, path, NULL) < 0)
		return input_failed_here();
	if (in.seekable && input_next(&in, &w, 1 << 16, first_window) > 0) {
		struct slice rest = slice_of(w.data, w.len), line;
		struct prefix x;
		while (!found && slice_line(&rest, &line))
			found = line.n && line.p[0] != '\t' && find_prefix(line.p, line.p + line.n, &x) && *x.envelope == '{';
	}
	const bool broke_off = in.lost && !in.packed;
	window_release(&w);
	input_close(&in);
	errno = broke_off ? EIO : 0;
	return found || broke_off;
}
