#include "base/bytes16.h"
#include "base/json.h"

#include <math.h>

void json_add_raw(struct buf *b, struct slice json)
{
	const char *from = json.p, *end = from + json.n;
	for (const char *p = from; p < end; p++) {
		BYTES16_SKIP(p, end, c, c >= 0x7f)
		if (p == end)
			break;
		size_t n = (unsigned char)*p < 0x7f ? 0 : text_drives(p, (size_t)(end - p));
		if (!n || (n == 1 && *p != 0x7f)) /* invalid UTF-8 is the caller's responsibility */
			continue;
		buf_add(b, from, (size_t)(p - from));
		buf_add_u(b, p, n);
		from = p + n;
		p = from - 1;
	}
	buf_add(b, from, (size_t)(end - from));
}

/* The first byte from p on that is not printable ASCII, or is a quote, a backslash or, for HTML, <. */
static const char *plain_end(const char *p, const char *end, bool html)
{
	const uint8_t less = html ? '<' : '"';
	BYTES16_SKIP(p, end, c, (c - 0x20 > 0x5e) | (c == '"') | (c == '\\') | (c == less))
	while (p < end && (unsigned char)*p >= 0x20 && *p != '"' && *p != '\\' && (unsigned char)*p < 0x7f && !(html && *p == '<'))
		p++;
	return p;
}

void json_escape(struct buf *b, struct slice s, bool html)
{
	if (!s.n)
		return;
	const char *p = s.p, *end = s.p + s.n;
	while (p < end) {
		const char *run = plain_end(p, end, html);
		buf_add(b, p, (size_t)(run - p));
		p = run;
		if (p >= end)
			break;
		unsigned char c = (unsigned char)*p;
		if (c >= 0x80) {
			size_t n = utf8_len(p, (size_t)(end - p));
			if (n && text_drives(p, n))
				buf_add_u(b, p, n);
			else if (n)
				buf_add(b, p, n);
			else
				buf_add(b, "\xef\xbf\xbd", 3);
			p += n ? n : 1;
			continue;
		}
		static const char map[] = "btn?fr"; /* 8..13 */
		if (c == '"' || c == '\\') {
			buf_addc(b, '\\');
			buf_addc(b, (char)c);
		} else if (c >= 8 && c <= 13 && c != 11) {
			buf_addc(b, '\\');
			buf_addc(b, map[c - 8]);
		} else {
			buf_addf(b, "\\u%04x", c);
		}
		p++;
	}
}

/* Before a value or a key: the comma, unless it is the first of its container or follows a key. */
static void separate(struct json_out *o)
{
	uint64_t bit = 1ull << (o->depth & 63);
	if (o->depth && (o->has_item & bit) && !o->after_key)
		buf_addc(o->b, ',');
	o->after_key = false;
	o->has_item |= bit;
}

static void open_container(struct json_out *o, char c)
{
	separate(o);
	buf_addc(o->b, c);
	o->depth++;
	uint64_t bit = 1ull << (o->depth & 63);
	o->has_item &= ~bit;
	o->is_array = c == '[' ? o->is_array | bit : o->is_array & ~bit;
}

void json_obj(struct json_out *o) { open_container(o, '{'); }

void json_arr(struct json_out *o) { open_container(o, '['); }

void json_close(struct json_out *o)
{
	buf_addc(o->b, o->is_array >> (o->depth & 63) & 1 ? ']' : '}');
	o->depth--;
	if (o->full && o->b->len > JSON_OUT_FULL)
		o->full(o);
}

void json_key_slice(struct json_out *o, struct slice key)
{
	separate(o);
	buf_addc(o->b, '"');
	if (key.n && plain_end(key.p, key.p + key.n, o->html) == key.p + key.n)
		buf_add_slice(o->b, key);
	else
		json_escape(o->b, key, o->html);
	buf_add(o->b, "\":", 2);
	o->after_key = true;
}

void json_key(struct json_out *o, const char *key) { json_key_slice(o, slice_str(key)); }

void json_out_str(struct json_out *o, struct slice s)
{
	separate(o);
	buf_addc(o->b, '"');
	json_escape(o->b, s, o->html);
	buf_addc(o->b, '"');
}

void json_out_u64(struct json_out *o, uint64_t v)
{
	separate(o);
	buf_add_u64(o->b, v);
}

void json_out_i64(struct json_out *o, int64_t v)
{
	separate(o);
	if (v < 0)
		buf_addc(o->b, '-');
	buf_add_u64(o->b, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

/* Like "%.*f" without trailing zeros, exact to the last bit: v is m / 2^k, so that m * 10^decimals / 2^k is rounded once, a tie to even.
 * False: too large for that. */
static bool out_fixed(struct buf *b, double v, int decimals)
{
	static const uint64_t ten[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000};
	int k;
	uint64_t m = (uint64_t)ldexp(frexp(fabs(v), &k), 53);
	if (decimals < 0 || decimals >= (int)ARRAY_LEN(ten) || fabs(v) >= 1e9)
		return false;
	k = m ? 53 - k : 53; /* 24 and more */
	unsigned __int128 n = (unsigned __int128)m * ten[decimals], unit = (unsigned __int128)1 << (k < 127 ? k : 127),
			  rest = n & (unit - 1);
	uint64_t q = k < 127 ? (uint64_t)(n >> k) : 0;
	if (rest > unit / 2 || (rest == unit / 2 && q & 1))
		q += k < 127;
	if (signbit(v))
		buf_addc(b, '-');
	buf_add_u64(b, q / ten[decimals]);
	q %= ten[decimals];
	for (int i = decimals; i > 0 && q; q %= ten[i]) {
		if (i == decimals)
			buf_addc(b, '.');
		buf_addc(b, (char)('0' + q / ten[--i]));
	}
	return true;
}

void json_out_double(struct json_out *o, double v, int decimals)
{
	if (!isfinite(v)) {
		json_out_null(o);
		return;
	}
	separate(o);
	if (out_fixed(o->b, v, decimals))
		return;
	size_t start = o->b->len;
	buf_addf(o->b, "%.*f", decimals, v);
	if (memchr(o->b->p + start, '.', o->b->len - start)) {
		while (o->b->p[o->b->len - 1] == '0')
			buf_cut(o->b, o->b->len - 1);
		if (o->b->p[o->b->len - 1] == '.')
			buf_cut(o->b, o->b->len - 1);
	}
}

static void out_shortest(struct json_out *o, double v)
{
	char text[32];
	for (int digits = 6; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	json_out_raw(o, slice_str(text));
}

void json_out_bool(struct json_out *o, bool v) { json_out_raw(o, v ? SLICE("true") : SLICE("false")); }

void json_out_null(struct json_out *o) { json_out_raw(o, SLICE("null")); }

void json_out_raw(struct json_out *o, struct slice json)
{
	separate(o);
	json_add_raw(o->b, json);
}

void json_member_obj(struct json_out *o, const char *key)
{
	json_key(o, key);
	json_obj(o);
}

bool json_member_obj_if(struct json_out *o, const char *key, bool there)
{
	there ? json_member_obj(o, key) : json_member_null(o, key);
	return there;
}

void json_member_arr(struct json_out *o, const char *key)
{
	json_key(o, key);
	json_arr(o);
}

void json_member_str(struct json_out *o, const char *key, struct slice text)
{
	json_key(o, key);
	json_out_str(o, text);
}

void json_member_u64(struct json_out *o, const char *key, uint64_t v)
{
	json_key(o, key);
	json_out_u64(o, v);
}

void json_member_i64(struct json_out *o, const char *key, int64_t v)
{
	json_key(o, key);
	json_out_i64(o, v);
}

void json_member_double(struct json_out *o, const char *key, double v, int decimals)
{
	json_key(o, key);
	json_out_double(o, v, decimals);
}

void json_member_real(struct json_out *o, const char *key, double v)
{
	json_key(o, key);
	if (isfinite(v))
		out_shortest(o, v);
	else
		json_out_null(o);
}

void json_member_float(struct json_out *o, const char *key, double v)
{
	json_key(o, key);
	if (isfinite(v))
		out_shortest(o, v);
	else
		json_out_str(o, isnan(v) ? SLICE("nan") : v < 0 ? SLICE("-inf") : SLICE("inf"));
}

void json_member_bool(struct json_out *o, const char *key, bool v)
{
	json_key(o, key);
	json_out_bool(o, v);
}

void json_member_null(struct json_out *o, const char *key)
{
	json_key(o, key);
	json_out_null(o);
}

void json_member_raw(struct json_out *o, const char *key, struct slice json)
{
	json_key(o, key);
	json_out_raw(o, json);
}

void json_member(struct json_out *o, const char *key, struct slice text)
{
	if (text.n)
		json_member_str(o, key, text);
	else
		json_member_null(o, key);
}

void json_member_some(struct json_out *o, const char *key, struct slice text)
{
	if (text.n)
		json_member_str(o, key, text);
}

void json_member_name(struct json_out *o, const char *key, const struct intern *names, uint32_t name)
{
	if (name == NONE)
		json_member_null(o, key);
	else
		json_member_str(o, key, intern_get(names, name));
}

void json_member_count(struct json_out *o, const char *key, int64_t v)
{
	if (v < 0)
		json_member_null(o, key);
	else
		json_member_i64(o, key, v);
}

void json_member_seconds(struct json_out *o, const char *key, double v)
{
	if (v < 0)
		json_member_null(o, key);
	else
		json_member_double(o, key, v, 6);
}

void json_member_index(struct json_out *o, const char *key, uint32_t v)
{
	if (v == NONE)
		json_member_null(o, key);
	else
		json_member_u64(o, key, v);
}

void json_member_positive(struct json_out *o, const char *key, uint64_t v)
{
	if (v)
		json_member_u64(o, key, v);
	else
		json_member_null(o, key);
}

void json_member_i64s(struct json_out *o, const char *key, const int64_t *v, int64_t n)
{
	json_member_arr(o, key);
	for (int64_t i = 0; i < n; i++)
		json_out_i64(o, v[i]);
	json_close(o);
}

void json_member_texts(struct json_out *o, const char *key, const struct slice *v, size_t n)
{
	json_member_arr(o, key);
	for (size_t i = 0; i < n; i++)
		json_out_str(o, v[i]);
	json_close(o);
}

void json_member_lines(struct json_out *o, const char *key, struct slice text)
{
	struct slice line;
	json_member_arr(o, key);
	while (slice_line(&text, &line))
		json_out_str(o, line);
	json_close(o);
}
