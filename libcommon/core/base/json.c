#include "base/json.h"
#include "base/bytes16.h"
#include "base/jsonlong.h"

#include <math.h>

void json_tape_text(struct json_tape *t, const char *text, size_t len)
{
	t->text = len ? text : ""; /* an empty text may be NULL */
	t->len = len;
	t->n = 0;
	t->loose = 0;
	t->error = NULL;
}

void json_tape_release(struct json_tape *t)
{
	free(t->tok);
	*t = (struct json_tape){0};
}

static int hex4(const char *p, const char *end)
{
	int v = 0;
	if (end - p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		char c = p[i];
		int d = is_digit(c) ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
		if (d < 0)
			return -1;
		v = v * 16 + d;
	}
	return v;
}

/* p: after the opening quote. Returns the closing quote, or NULL with *why set and *at where. */
static const char *scan_string(const char *p, const char *end, struct json_tok *tok, unsigned *loose, const char **why, const char **at)
{
	static const uint8_t simple[256] = {['"'] = 1, ['\\'] = 1, ['/'] = 1, ['b'] = 1, ['f'] = 1, ['n'] = 1, ['r'] = 1, ['t'] = 1};
	for (;;) {
		/* Sixteen at a time, including the simplest escapes: configurations are JSON in strings. */
		for (unsigned stop = 0, blocks = 0; !stop && end - p > 16;) {
			if (++blocks % 8 == 0)
				p = json_string_long(p, end, &tok->escaped);
			if (end - p <= 16)
				break;
			const bytes16 c = bytes16_load(p);
			unsigned back = bytes16_mask(c == '\\'), step = 16;
			stop = bytes16_mask((c == '"') | (c <= 0x1f));
			if (back && !(back & back << 1) && (!(back >> 15) || simple[(uint8_t)p[16]]) &&
			    !(back << 1 & ~bytes16_mask((c == '"') | (c == 'n') | (c == '/') | (c == 't')) & 0xffff)) {
				stop &= ~(back << 1); /* none is escaped itself, and each is one byte */
				tok->escaped |= !stop || (back & -back) < (stop & -stop);
				step += back >> 15;
			} else {
				stop |= back;
			}
			p += stop ? (unsigned)__builtin_ctz(stop) : step;
		}
		if (p < end && *p == '"')
			return p;
		while (p < end && *p != '"' && *p != '\\' && (unsigned char)*p > 0x1f)
			p++;
		if (p >= end) {
			*why = "unterminated string";
			*at = end;
			return NULL;
		}
		if (*p == '"')
			return p;
		*at = p;
		if (*p != '\\') {
			*why = "control byte in a string";
			return NULL;
		}
		tok->escaped = 1;
		if (end - p < 2) {
			*why = "unterminated string";
			return NULL;
		}
		if (simple[(uint8_t)p[1]]) {
			p += 2;
		} else if (p[1] == 'u') {
			int v = hex4(p + 2, end);
			if (v < 0) {
				*why = "invalid \\u escape";
				return NULL;
			}
			p += 6;
			if (v >= 0xd800 && v < 0xdc00) {
				int low = end - p >= 6 && p[0] == '\\' && p[1] == 'u' ? hex4(p + 2, end) : -1;
				if (low >= 0xdc00 && low < 0xe000)
					p += 6;
				else
					*loose |= JSON_LOOSE_SURROGATE;
			} else if (v >= 0xdc00 && v < 0xe000) {
				*loose |= JSON_LOOSE_SURROGATE;
			}
		} else {
			*why = "invalid escape";
			return NULL;
		}
	}
}

/* p: at a digit or '-'. Returns the byte after the number, or NULL. */
static const char *scan_number(const char *p, const char *end, unsigned *loose)
{
	const char *start = p;
	if (*p == '-')
		p++;
	if (p >= end || !is_digit(*p))
		return NULL;
	if (*p == '0')
		p++;
	else
		while (p < end && is_digit(*p))
			p++;
	bool wide = p - start > 300;
	if (p < end && *p == '.') {
		if (++p >= end || !is_digit(*p))
			return NULL;
		while (p < end && is_digit(*p))
			p++;
	}
	if (p < end && (*p == 'e' || *p == 'E')) {
		p++;
		if (p < end && (*p == '+' || *p == '-'))
			p++;
		if (p >= end || !is_digit(*p))
			return NULL;
		while (p < end && is_digit(*p))
			p++;
		wide = true;
	}
	if (UNLIKELY(wide)) {
		FREED char *copy = xstrndup(start, (size_t)(p - start));
		if (isinf(strtod(copy, NULL)))
			*loose |= JSON_LOOSE_RANGE;
	}
	return p;
}

static const struct literal {
	char text[10];
	uint8_t len, type;
	bool loose;
} literals[] = {
    {"null", 4, JSON_NULL, false}, {"true", 4, JSON_TRUE, false},      {"false", 5, JSON_FALSE, false},
    {"NaN", 3, JSON_NUMBER, true}, {"Infinity", 8, JSON_NUMBER, true}, {"-Infinity", 9, JSON_NUMBER, true},
};

static inline bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

/* While a container is open its token's `next` holds its parent, so the tape itself is the stack. */
int json_parse(struct json_tape *t, size_t off, size_t len, uint32_t *root)
{
	const char *text = t->text, *p = text + off, *end = p + len, *why = "expected a value", *at, *close;
	const uint32_t first = t->n;
	uint32_t open = NONE;
	unsigned depth = 0, loose = 0;
	struct json_tok *k;

	t->loose = 0;
	t->error = NULL;
value:
	while (p < end && is_space(*p))
		p++;
	at = p;
	if (p >= end)
		goto bad;
	if (UNLIKELY(t->n == t->cap)) {
		if (t->n > UINT32_MAX / 2)
			goto bad;
		GROW(t->tok, t->n, t->cap, 1);
	}
	k = &t->tok[t->n++];
	k->off = (uint32_t)(p - text);
	k->escaped = 0;
	switch (*p) {
	case '"': {
		close = scan_string(p + 1, end, k, &loose, &why, &at);
		if (!close)
			goto bad;
		k->type = JSON_STRING;
		k->off++;
		k->len = (uint32_t)(close - p - 1);
		k->next = t->n;
		p = close + 1;
		goto after_value;
	}
	case '{':
	case '[':
		if (++depth >= JSON_STRICT_DEPTH) {
			loose |= JSON_LOOSE_DEPTH;
			if (depth > JSON_MAX_DEPTH) {
				why = "nested too deep";
				goto bad;
			}
		}
		k->type = *p == '{' ? JSON_OBJECT : JSON_ARRAY;
		k->next = open;
		open = t->n - 1;
		p++;
		while (p < end && is_space(*p))
			p++;
		if (k->type == JSON_OBJECT) {
			if (p < end && *p == '}')
				goto close;
			goto key;
		}
		if (p < end && *p == ']')
			goto close;
		goto value;
	default:
		if (is_digit(*p) || (*p == '-' && end - p > 1 && p[1] != 'I')) {
			const char *e = scan_number(p, end, &loose);
			if (!e) {
				why = "invalid number";
				goto bad;
			}
			k->type = JSON_NUMBER;
			k->len = (uint32_t)(e - p);
			k->next = t->n;
			p = e;
			goto after_value;
		}
		for (size_t i = 0; i < ARRAY_LEN(literals); i++) {
			const struct literal *l = &literals[i];
			if (end - p >= l->len && !memcmp(p, l->text, l->len)) {
				k->type = l->type;
				k->len = l->len;
				k->next = t->n;
				if (l->loose)
					loose |= JSON_LOOSE_NAN;
				p += l->len;
				goto after_value;
			}
		}
		goto bad;
	}
key:
	while (p < end && is_space(*p))
		p++;
	at = p;
	if (p >= end || *p != '"') {
		why = "expected a member name";
		goto bad;
	}
	if (UNLIKELY(t->n == t->cap))
		GROW(t->tok, t->n, t->cap, 1);
	k = &t->tok[t->n++];
	k->escaped = 0;
	close = scan_string(p + 1, end, k, &loose, &why, &at);
	if (!close)
		goto bad;
	k->type = JSON_STRING;
	k->off = (uint32_t)(p + 1 - text);
	k->len = (uint32_t)(close - p - 1);
	k->next = t->n;
	p = close + 1;
	while (p < end && is_space(*p))
		p++;
	at = p;
	if (p >= end || *p != ':') {
		why = "expected ':'";
		goto bad;
	}
	p++;
	goto value;
after_value:
	if (open == NONE)
		goto done;
	while (p < end && is_space(*p))
		p++;
	at = p;
	k = &t->tok[open];
	if (p < end && *p == ',') {
		p++;
		if (k->type == JSON_OBJECT)
			goto key;
		goto value;
	}
	if (p >= end || *p != (k->type == JSON_OBJECT ? '}' : ']')) {
		why = p >= end ? "unexpected end inside a value" : k->type == JSON_OBJECT ? "expected ',' or '}'" : "expected ',' or ']'";
		goto bad;
	}
close:
	k = &t->tok[open];
	open = k->next;
	k->len = (uint32_t)(p + 1 - text) - k->off;
	k->next = t->n;
	depth--;
	p++;
	goto after_value;
done:
	while (p < end && is_space(*p))
		p++;
	if (p < end) {
		at = p;
		why = "extra text after the value";
		goto bad;
	}
	t->loose = loose;
	*root = first;
	return 0;
bad:
	t->n = first;
	t->error = why;
	t->error_at = (size_t)(at - text);
	return -1;
}

static char *put_utf8(char *p, unsigned c)
{
	if (c < 0x80) {
		*p++ = (char)c;
		return p;
	}
	if (c < 0x800) {
		*p++ = (char)(0xc0 | c >> 6);
	} else {
		if (c < 0x10000) {
			*p++ = (char)(0xe0 | c >> 12);
		} else {
			*p++ = (char)(0xf0 | c >> 18);
			*p++ = (char)(0x80 | (c >> 12 & 63));
		}
		*p++ = (char)(0x80 | (c >> 6 & 63));
	}
	*p++ = (char)(0x80 | (c & 63));
	return p;
}

void json_unescape(const struct json_tape *t, uint32_t k, struct buf *b)
{
	struct slice s = json_slice(t, k);
	if (!t->tok[k].escaped) {
		buf_add_slice(b, s);
		return;
	}
	static const char plain[256] = {
	    ['b'] = '\b', ['f'] = '\f', ['n'] = '\n', ['r'] = '\r', ['t'] = '\t', ['"'] = '"', ['\\'] = '\\', ['/'] = '/'};
	const char *p = s.p, *end = s.p + s.n;
	char *to = buf_room(b, s.n); /* no escape is shorter than its result */
	while (p < end) {
		unsigned hit = 0, n = 16;
		if (end - p >= 16) {
			bytes16 c = bytes16_load(p);
			hit = bytes16_mask(c == '\\');
			memcpy(to, &c, sizeof(c));
			n = hit ? (unsigned)__builtin_ctz(hit) : 16;
		} else if (*p == '\\') {
			n = 0;
			hit = 1;
		} else {
			n = 1;
			*to = *p;
		}
		p += n;
		to += n;
		if (!hit)
			continue;
		if (p[1] != 'u') {
			*to++ = plain[(uint8_t)p[1]];
			p += 2;
			continue;
		}
		unsigned v = (unsigned)hex4(p + 2, end);
		p += 6;
		if (v >= 0xd800 && v < 0xdc00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u') {
			unsigned low = (unsigned)hex4(p + 2, end);
			if (low >= 0xdc00 && low < 0xe000) {
				v = 0x10000 + ((v - 0xd800) << 10) + (low - 0xdc00);
				p += 6;
			}
		}
		to = put_utf8(to, v >= 0xd800 && v < 0xe000 ? 0xfffd : v);
	}
	buf_wrote(b, (size_t)(to - (b->p + b->len)));
}

bool utf8_valid(struct slice s)
{
	if (!s.n) /* p may be NULL then, and NULL + 0 is undefined */
		return true;
	const unsigned char *p = (const unsigned char *)s.p, *end = p + s.n;
	while (p < end) {
		uint64_t w[4];
		while (end - p >= 32 && (memcpy(w, p, 32), !((w[0] | w[1] | w[2] | w[3]) & 0x8080808080808080ull)))
			p += 32;
		while (end - p >= 8 && (memcpy(w, p, 8), !(w[0] & 0x8080808080808080ull)))
			p += 8;
		if (p >= end)
			break;
		size_t n = utf8_len((const char *)p, (size_t)(end - p));
		if (!n)
			return false;
		p += n;
	}
	return true;
}
