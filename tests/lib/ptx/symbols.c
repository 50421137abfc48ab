/* Words and symbols of PTX text. Names are slices of the text; a table finds them by name and scope. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

bool ptx_fail(struct ptx_reader *r, const char *fmt, ...)
{
	if (!r->failed) {
		va_list args;
		int n = snprintf(r->e->text, sizeof(r->e->text), "line %u: ", r->line);
		va_start(args, fmt);
		vsnprintf(r->e->text + n, sizeof(r->e->text) - (size_t)n, fmt, args);
		va_end(args);
		for (char *p = r->e->text; *p; p++)
			*p = *p < ' ' || *p > '~' ? '?' : *p;
	}
	r->failed = true;
	return false;
}

void *ptx_grow(void *p, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return p;
	*cap = *cap ? 2 * *cap : 16;
	p = realloc(p, *cap * size);
	if (!p)
		abort();
	return p;
}

/* ---- words ---- */

static bool skip_comment(struct ptx_reader *r)
{
	if (r->end - r->p < 2 || r->p[0] != '/')
		return false;
	if (r->p[1] == '/') {
		ptx_skip_line(r);
		return true;
	}
	if (r->p[1] != '*')
		return false;
	for (r->p += 2; r->end - r->p >= 2 && (r->p[0] != '*' || r->p[1] != '/'); r->p++)
		r->line += *r->p == '\n';
	r->p = r->end - r->p >= 2 ? r->p + 2 : r->end;
	return true;
}

void ptx_space(struct ptx_reader *r)
{
	for (;;) {
		while (r->p < r->end && (*r->p == ' ' || *r->p == '\t' || *r->p == '\r' || *r->p == '\n'))
			r->line += *r->p++ == '\n';
		if (!skip_comment(r))
			return;
	}
}

void ptx_skip_line(struct ptx_reader *r)
{
	while (r->p < r->end && *r->p != '\n')
		r->p++;
}

bool ptx_skip_to(struct ptx_reader *r, char c)
{
	while (ptx_peek(r) && ptx_peek(r) != c)
		r->p++;
	return ptx_want(r, c);
}

char ptx_peek(struct ptx_reader *r)
{
	ptx_space(r);
	return r->p < r->end ? *r->p : 0;
}

bool ptx_take(struct ptx_reader *r, char c)
{
	if (!c || ptx_peek(r) != c)
		return false;
	r->p++;
	return true;
}

bool ptx_want(struct ptx_reader *r, char c)
{
	if (ptx_take(r, c))
		return true;
	char got = ptx_peek(r);
	return got ? ptx_fail(r, "'%c' instead of '%c'", got, c) : ptx_fail(r, "the text ends where a '%c' should be", c);
}

static bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%' || c == '.'; }
static bool digit(char c) { return c >= '0' && c <= '9'; }

/* "::" is part of an opcode (.L1::evict_first), ":" behind a label is not. */
bool ptx_word(struct ptx_reader *r, struct ptx_word *w)
{
	ptx_space(r);
	w->p = r->p;
	if (r->p < r->end && letter(*r->p))
		while (r->p < r->end && (letter(*r->p) || digit(*r->p) ||
					 (r->end - r->p > 2 && r->p[0] == ':' && r->p[1] == ':' && (letter(r->p[2]) || digit(r->p[2])))))
			r->p += *r->p == ':' ? 2 : 1;
	w->n = (size_t)(r->p - w->p);
	return w->n > 0;
}

bool ptx_is(struct ptx_word w, const char *s) { return w.n == strlen(s) && !memcmp(w.p, s, w.n); }

static int hex(char c) { return digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1; }

static bool radix(struct ptx_reader *r, unsigned base, uint64_t *v)
{
	const char *begin = r->p;
	for (*v = 0; r->p < r->end && hex(*r->p) >= 0 && (unsigned)hex(*r->p) < base; r->p++)
		if (__builtin_mul_overflow(*v, base, v) || __builtin_add_overflow(*v, (unsigned)hex(*r->p), v))
			return ptx_fail(r, "a number has more than 64 bits");
	return r->p > begin || ptx_fail(r, "a number without digits");
}

static bool decimal_fraction(struct ptx_reader *r, const char *begin, uint64_t *v)
{
	char text[64], *rest;
	size_t n = 0;
	for (r->p = begin; r->p < r->end && n + 1 < sizeof(text) &&
			   (digit(*r->p) || *r->p == '.' || *r->p == 'e' || *r->p == 'E' ||
			    ((*r->p == '-' || *r->p == '+') && n && (text[n - 1] == 'e' || text[n - 1] == 'E')));
	     r->p++)
		text[n++] = *r->p;
	text[n] = 0;
	*v = ptx_f64_bits(strtod(text, &rest));
	return *rest ? ptx_fail(r, "no number: '%s'", text) : true;
}

bool ptx_literal(struct ptx_reader *r, uint64_t *v, bool *real)
{
	bool minus = ptx_take(r, '-');
	ptx_space(r);
	const char *begin = r->p;
	char kind = r->end - r->p >= 2 && *r->p == '0' ? (char)(r->p[1] | 0x20) : 0;
	*real = false;
	if (kind == 'x' || kind == 'f' || kind == 'd') {
		r->p += 2;
		if (!radix(r, 16, v))
			return false;
		if ((kind == 'f' && r->p - begin != 10) || (kind == 'd' && r->p - begin != 18))
			return ptx_fail(r, "a floating-point number in hexadecimal has 8 or 16 digits");
	} else if (kind == 'b') {
		r->p += 2;
		if (!radix(r, 2, v))
			return false;
	} else {
		if (!radix(r, 10, v))
			return false;
		*real = r->p < r->end && (*r->p == '.' || *r->p == 'e' || *r->p == 'E');
		if (*real && !decimal_fraction(r, begin, v))
			return false;
	}
	if (r->p < r->end && *r->p == 'U')
		r->p++;
	if (minus)
		*v = *real || kind == 'd' ? *v ^ 1ull << 63 : kind == 'f' ? *v ^ 1u << 31 : -*v;
	return true;
}

bool ptx_count(struct ptx_reader *r, uint64_t most, uint64_t *v)
{
	bool real;
	ptx_space(r);
	if (!ptx_literal(r, v, &real))
		return false;
	return (!real && *v <= most) || ptx_fail(r, "a number that is too large");
}

/* ---- symbols ---- */

static size_t hash(struct ptx_word w, uint32_t scope)
{
	uint64_t h = 1469598103934665603ull ^ scope;
	for (size_t i = 0; i < w.n; i++)
		h = (h ^ (unsigned char)w.p[i]) * 1099511628211ull;
	return (size_t)(h ^ h >> 29);
}

static bool same(const struct symbol *s, struct ptx_word name, uint32_t scope)
{
	return s->scope == scope && s->name.n == name.n && !memcmp(s->name.p, name.p, name.n);
}

static size_t place(const struct ptx_reader *r, struct ptx_word name, uint32_t scope)
{
	size_t i = hash(name, scope) & (r->n_buckets - 1);
	while (r->bucket[i] && !same(&r->symbol[r->bucket[i] - 1], name, scope))
		i = (i + 1) & (r->n_buckets - 1);
	return i;
}

static void more_buckets(struct ptx_reader *r)
{
	free(r->bucket);
	r->n_buckets = r->n_buckets ? 2 * r->n_buckets : 256;
	r->bucket = calloc(r->n_buckets, sizeof(*r->bucket));
	if (!r->bucket)
		abort();
	for (size_t i = 0; i < r->n_symbols; i++)
		r->bucket[place(r, r->symbol[i].name, r->symbol[i].scope)] = (uint32_t)i + 1;
}

static struct symbol *add(struct ptx_reader *r, struct symbol s)
{
	if (2 * r->n_symbols >= r->n_buckets)
		more_buckets(r);
	size_t i = place(r, s.name, s.scope);
	if (r->bucket[i])
		return ptx_fail(r, "'%.*s' is declared twice", (int)s.name.n, s.name.p), NULL;
	r->symbol = ptx_grow(r->symbol, r->n_symbols, &r->cap_symbols, sizeof(*r->symbol));
	r->symbol[r->n_symbols++] = s;
	r->bucket[i] = (uint32_t)r->n_symbols;
	return &r->symbol[r->n_symbols - 1];
}

struct symbol *ptx_declare(struct ptx_reader *r, struct ptx_word name, enum symbol_kind kind)
{
	return add(r, (struct symbol){.name = name, .scope = r->scope, .kind = (uint8_t)kind, .owner = UINT32_MAX});
}

static struct symbol *exactly(struct ptx_reader *r, struct ptx_word name, uint32_t scope)
{
	size_t i = r->n_buckets ? place(r, name, scope) : 0;
	return r->n_buckets && r->bucket[i] ? &r->symbol[r->bucket[i] - 1] : NULL;
}

/* %r12 of .reg .b32 %r<20> in this scope. */
static struct symbol *of_range(struct ptx_reader *r, struct ptx_word name, uint32_t scope)
{
	struct ptx_word prefix = name;
	uint64_t number = 0;
	while (prefix.n && digit(prefix.p[prefix.n - 1]) && name.n - prefix.n < 9)
		prefix.n--;
	if (prefix.n == name.n || (name.p[prefix.n] == '0' && name.n - prefix.n > 1))
		return NULL;
	for (size_t i = prefix.n; i < name.n; i++)
		number = 10 * number + (uint64_t)(name.p[i] - '0');
	struct symbol *range = exactly(r, prefix, scope);
	if (!range || range->kind != SYMBOL_REGS || number >= range->count)
		return NULL;
	unsigned bytes = range->bytes;
	uint32_t reg = ptx_new_reg(r, bytes);
	return reg == NO_REG ? NULL : add(r, (struct symbol){.name = name, .scope = scope, .kind = SYMBOL_REG, .reg = reg});
}

struct symbol *ptx_find_in(struct ptx_reader *r, struct ptx_word name, uint32_t scope)
{
	for (;; scope = r->parent[scope]) {
		struct symbol *s = exactly(r, name, scope);
		if (!s || s->kind == SYMBOL_REGS)
			s = of_range(r, name, scope);
		if (s || !scope)
			return s;
	}
}

struct symbol *ptx_find(struct ptx_reader *r, struct ptx_word name) { return ptx_find_in(r, name, r->scope); }

bool ptx_enter(struct ptx_reader *r)
{
	if (++r->depth > MAX_SCOPES)
		return ptx_fail(r, "more than %d braces inside of each other", MAX_SCOPES);
	r->parent = ptx_grow(r->parent, r->n_scopes, &r->cap_scopes, sizeof(*r->parent));
	r->parent[r->n_scopes] = r->scope;
	r->scope = (uint32_t)r->n_scopes++;
	return true;
}

void ptx_leave(struct ptx_reader *r)
{
	r->scope = r->parent[r->scope];
	r->depth--;
}

uint32_t ptx_new_reg(struct ptx_reader *r, unsigned bytes)
{
	struct ptx_code *c = r->k->code;
	if (c->n_regs >= MAX_REGS)
		return ptx_fail(r, "more than %d registers", MAX_REGS), NO_REG;
	c->bytes = ptx_grow(c->bytes, c->n_regs, &c->cap_bytes, 1);
	c->bytes[c->n_regs] = (uint8_t)bytes;
	return c->n_regs++;
}

/* Those that are used again are often the same: the last ones are looked at. */
uint32_t ptx_constant(struct ptx_reader *r, uint64_t value)
{
	struct ptx_code *c = r->k->code;
	for (size_t i = c->n_constants; i > 0 && c->n_constants - i < 64; i--)
		if (c->constant[i - 1].value == value)
			return c->constant[i - 1].reg;
	uint32_t reg = ptx_new_reg(r, 8);
	if (reg != NO_REG) {
		c->constant = ptx_grow(c->constant, c->n_constants, &c->cap_constants, sizeof(*c->constant));
		c->constant[c->n_constants++] = (struct ptx_const){reg, value};
	}
	return reg;
}

uint32_t ptx_relocated(struct ptx_reader *r, int what, uint64_t offset)
{
	struct ptx_code *c = r->k->code;
	for (size_t i = c->n_relocs; i > 0 && c->n_relocs - i < 64; i--)
		if (c->reloc[i - 1].what == what && c->reloc[i - 1].offset == offset)
			return c->reloc[i - 1].reg;
	uint32_t reg = ptx_new_reg(r, 8);
	if (reg != NO_REG) {
		c->reloc = ptx_grow(c->reloc, c->n_relocs, &c->cap_relocs, sizeof(*c->reloc));
		c->reloc[c->n_relocs++] = (struct ptx_reloc){reg, (uint8_t)what, offset};
	}
	return reg;
}
