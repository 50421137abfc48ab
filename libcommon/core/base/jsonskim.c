#include "base/jsonskim.h"
#include "base/bytes16.h"

static int damaged(struct json_skim *s, const char *what)
{
	s->error = what;
	return -1;
}

static void skip_space(struct json_skim *s)
{
	while (s->at < s->text.n &&
	       (s->text.p[s->at] == ' ' || s->text.p[s->at] == '\n' || s->text.p[s->at] == '\t' || s->text.p[s->at] == '\r'))
		s->at++;
}

static int peek(const struct json_skim *s) { return s->at < s->text.n ? (unsigned char)s->text.p[s->at] : -1; }

/* Skips from an opening quote past the closing one. */
static int skip_string(struct json_skim *s)
{
	const char *end = s->text.p + s->text.n;
	for (const char *p = s->text.p + s->at + 1; p < end;) {
		BYTES16_SKIP(p, end, c, (c == '"') | (c == '\\'))
		while (p < end && *p != '"' && *p != '\\')
			p++;
		if (p < end && *p == '"') {
			s->at = (size_t)(p + 1 - s->text.p);
			return 0;
		}
		p += end - p > 1 ? 2 : end - p; /* over an escape */
	}
	s->at = s->text.n;
	return damaged(s, "unterminated string");
}

enum { PLAIN, QUOTE, OPEN, CLOSE };

static int skip_brackets(struct json_skim *s)
{
	static const unsigned char class[256] = {['"'] = QUOTE, ['{'] = OPEN, ['['] = OPEN, ['}'] = CLOSE, [']'] = CLOSE};
	size_t depth = 0;
	while (s->at < s->text.n) {
		unsigned char k = class[(unsigned char)s->text.p[s->at]];
		if (k == QUOTE) {
			if (skip_string(s) < 0)
				return -1;
			continue;
		}
		s->at++;
		if (k == OPEN)
			depth++;
		else if (k == CLOSE && !--depth)
			return 0;
	}
	return damaged(s, "unclosed bracket");
}

static int skip_value(struct json_skim *s)
{
	size_t from = s->at;
	int c = peek(s);
	if (c == '"')
		return skip_string(s);
	if (c == '{' || c == '[')
		return skip_brackets(s);
	while ((c = peek(s)) > ' ' && c != ',' && c != '}' && c != ']' && c != '"' && c != ':' && c != '{' && c != '[')
		s->at++;
	return s->at > from ? 0 : damaged(s, "missing value");
}

int json_skim_open(struct json_skim *s, struct slice text)
{
	*s = (struct json_skim){.text = text};
	skip_space(s);
	if (peek(s) != '{' && peek(s) != '[')
		return damaged(s, "neither an object nor an array");
	s->object = peek(s) == '{';
	s->at++;
	return 0;
}

int json_skim_next(struct json_skim *s, struct slice *key, struct slice *value)
{
	skip_space(s);
	int c = peek(s);
	if (c == (s->object ? '}' : ']')) {
		s->at++;
		skip_space(s);
		return s->at == s->text.n ? 0 : damaged(s, "extra text after the end");
	}
	if (s->begun) {
		if (c != ',')
			return damaged(s, "missing comma");
		s->at++;
		skip_space(s);
	}
	s->begun = true;
	*key = (struct slice){"", 0};
	if (s->object) {
		if (peek(s) != '"')
			return damaged(s, "missing key");
		size_t from = s->at + 1;
		if (skip_string(s) < 0)
			return -1;
		*key = slice_of(s->text.p + from, s->at - 1 - from);
		skip_space(s);
		if (peek(s) != ':')
			return damaged(s, "missing colon");
		s->at++;
		skip_space(s);
	}
	size_t from = s->at;
	if (skip_value(s) < 0)
		return -1;
	*value = slice_of(s->text.p + from, s->at - from);
	return 1;
}

/* Keys are short: no calls. */
static bool is_key(struct slice key, const char *want)
{
	size_t k = 0;
	while (k < key.n && want[k] && want[k] == key.p[k])
		k++;
	return k == key.n && !want[k];
}

int json_skim_members(struct json_skim *s, struct slice text, const char *const *keys, struct slice *values, size_t n)
{
	struct slice key, value;
	int rc = json_skim_open(s, text);
	for (size_t i = 0; i < n; i++)
		values[i] = (struct slice){0};
	while (rc >= 0 && (rc = json_skim_next(s, &key, &value)) > 0)
		for (size_t i = 0; i < n; i++)
			if (is_key(key, keys[i]))
				values[i] = value;
	return rc;
}
