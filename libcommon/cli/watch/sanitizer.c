#include "watch/sanitizer.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* What follows these words; false: they are missing. */
static bool after(struct slice line, const char *words, struct slice *rest)
{
	const char *at = slice_find(line, words);
	if (!at)
		return false;
	at += strlen(words);
	*rest = slice_of(at, line.n - (size_t)(at - line.p));
	return true;
}

/* "1,024" or "0x74505bcccca0" at the start; what is behind it stays in *s. */
static bool take_number(struct slice *s, uint64_t *n)
{
	const bool hex = slice_starts(*s, "0x");
	size_t i = hex ? 2 : 0;
	const size_t from = i;
	*n = 0;
	for (; i < s->n; i++) {
		const char c = s->p[i];
		const int digit = c >= '0' && c <= '9' ? c - '0' : hex && c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
		if (digit < 0 && !(c == ',' && !hex && i > from))
			break;
		if (digit >= 0 && (__builtin_mul_overflow(*n, hex ? 16u : 10u, n) || __builtin_add_overflow(*n, (uint64_t)digit, n)))
			return false;
	}
	*s = slice_of(s->p + i, s->n - i);
	return i > from;
}

/* "(18,0,0)" after these words. */
static void take_place(struct slice line, const char *words, uint64_t place[3])
{
	struct slice rest;
	if (!after(line, words, &rest))
		return;
	for (int i = 0; i < 3; i++) {
		uint64_t n = 0;
		size_t k = 0;
		for (; k < rest.n && rest.p[k] >= '0' && rest.p[k] <= '9' && n < UINT32_MAX; k++)
			n = n * 10 + (uint64_t)(rest.p[k] - '0');
		place[i] = n;
		if (k == rest.n || (rest.p[k] != ',' && rest.p[k] != ' '))
			return;
		rest = slice_trim(slice_of(rest.p + k + 1, rest.n - k - 1));
	}
}

/* "void name<int>(float *, int)" is name<int>. */
static struct slice plain_name(struct slice s)
{
	int deep = 0;
	if (slice_starts(s, "void "))
		s = slice_of(s.p + 5, s.n - 5);
	for (size_t i = 0; i < s.n; i++) {
		deep += (s.p[i] == '<') - (s.p[i] == '>');
		if (s.p[i] == '(' && i && deep <= 0)
			return slice_of(s.p, i);
	}
	return s;
}

/* FILE:LINE, or FILE:LINE:KERNEL, whose rest is *kernel. False: it is neither. */
static bool take_file(struct slice s, struct sanitizer_error *e, struct slice *kernel)
{
	for (size_t i = 1; i + 1 < s.n; i++) {
		size_t k = i + 1;
		uint64_t line = 0;
		if (s.p[i] != ':')
			continue;
		for (; k < s.n && s.p[k] >= '0' && s.p[k] <= '9' && line < UINT32_MAX; k++)
			line = line * 10 + (uint64_t)(s.p[k] - '0');
		if (k == i + 1 || line > UINT32_MAX || (k < s.n && s.p[k] != ':'))
			continue;
		e->file = slice_of(s.p, i);
		e->line = (uint32_t)line;
		*kernel = k < s.n ? slice_of(s.p + k + 1, s.n - k - 1) : slice_of(s.p, 0);
		return true;
	}
	return false;
}

static void take_kernel(struct slice at, struct sanitizer_error *e)
{
	struct slice rest, kernel;
	if (slice_starts(at, "0x")) {
		if (!take_number(&at, &e->offset) || !after(at, " in ", &rest))
			return;
		e->kernel = plain_name(take_file(rest, e, &kernel) ? kernel : rest);
		return;
	}
	kernel = at;
	for (size_t i = 1; i + 3 < at.n; i++) {
		struct slice offset = slice_of(at.p + i + 1, at.n - i - 1), none;
		if (at.p[i] != '+' || !slice_starts(offset, "0x") || !take_number(&offset, &e->offset))
			continue;
		kernel = slice_of(at.p, i);
		if (slice_starts(offset, " in "))
			take_file(slice_of(offset.p + 4, offset.n - 4), e, &none);
		break;
	}
	e->kernel = plain_name(kernel);
}

static void take_nearest(struct slice line, struct sanitizer_error *e)
{
	static const char *const relation[] = {"after", "before", "inside"};
	struct slice rest, size;
	uint64_t distance = 0, base, bytes;
	if (!after(line, "nearest allocation at ", &rest) || !take_number(&rest, &base) || !after(rest, "of size ", &size) ||
	    !take_number(&size, &bytes))
		return;
	struct slice from = slice_trim(line);
	if (after(line, "and is ", &from))
		take_number(&from, &distance);
	for (size_t i = 0; i < ARRAY_LEN(relation) && !e->relation.n; i++)
		if (slice_has(line, relation[i]))
			e->relation = slice_str(relation[i]);
	e->distance = distance;
	e->base = base;
	e->allocation = bytes;
}

static void take_line(struct slice line, struct sanitizer_error *e)
{
	struct slice rest;
	if (slice_starts(line, "at ") && !e->kernel.n)
		take_kernel(slice_trim(slice_of(line.p + 3, line.n - 3)), e);
	else if (slice_starts(line, "by thread ")) {
		take_place(line, "thread (", e->thread);
		take_place(line, "block (", e->block);
	} else if ((slice_starts(line, "Address ") || slice_starts(line, "Access ")) && !e->has_address && after(line, " 0x", &rest)) {
		rest = slice_of(rest.p - 2, rest.n + 2);
		e->has_address = take_number(&rest, &e->address);
		e->misaligned = slice_has(rest, "misaligned");
	} else if (slice_has(line, "nearest allocation at ")) {
		take_nearest(line, e);
	}
}

static bool begins_error(struct slice line, struct sanitizer_error *e)
{
	struct slice rest;
	const char *of = slice_find(line, " of size ");
	if (!slice_starts(line, "Invalid __") || !of || !after(line, " of size ", &rest) || !take_number(&rest, &e->bytes))
		return false;
	e->what = slice_of(line.p, (size_t)(of - line.p));
	e->writes = slice_ends(e->what, " write") || slice_ends(e->what, " atomic");
	return true;
}

static void keep(struct sanitizer *s, struct sanitizer_error *e)
{
	for (size_t i = 0; i < s->n; i++) {
		struct sanitizer_error *o = &s->v[i];
		if (o->offset == e->offset && o->line == e->line && slice_eq(o->what, e->what) && slice_eq(o->kernel, e->kernel) &&
		    slice_eq(o->file, e->file)) {
			o->times++;
			return;
		}
	}
	if (s->n == SANITIZER_MOST) {
		s->left_out++;
		return;
	}
	e->times = 1;
	e->what = arena_slice(&s->arena, e->what);
	e->kernel = arena_slice(&s->arena, e->kernel);
	e->file = arena_slice(&s->arena, e->file);
	PUSH_TO(s->v, s->n, s->cap) = *e;
}

void sanitizer_read(struct sanitizer *s, struct slice text)
{
	struct slice line, rest;
	struct sanitizer_error e;
	bool inside = false;
	while (slice_line(&text, &line)) {
		if (!slice_starts(line, "========="))
			continue;
		rest = slice_trim(slice_of(line.p + 9, line.n - 9));
		struct sanitizer_error next = {0};
		if (begins_error(rest, &next)) {
			if (inside)
				keep(s, &e);
			e = next;
			inside = true;
		} else if (inside && (!rest.n || slice_starts(rest, "ERROR SUMMARY"))) {
			keep(s, &e);
			inside = false;
		} else if (inside) {
			take_line(rest, &e);
		}
	}
	if (inside)
		keep(s, &e);
}

void sanitizer_release(struct sanitizer *s)
{
	free(s->v);
	arena_release(&s->arena);
	*s = (struct sanitizer){0};
}

bool sanitizer_is_kernel(struct slice symbol, struct slice kernel)
{
	if (!kernel.n || symbol.n < kernel.n || memcmp(symbol.p, kernel.p, kernel.n) != 0)
		return false;
	const struct slice rest = slice_of(symbol.p + kernel.n, symbol.n - kernel.n);
	if (!rest.n)
		return true;
	if (rest.n < 3 || rest.p[0] != '_')
		return false;
	for (size_t i = 1; i < rest.n; i++)
		if (!(rest.p[i] >= '0' && rest.p[i] <= '9') && !memchr("cde", rest.p[i], 3))
			return false;
	return rest.p[1] == '0';
}
