/* title.c - a finding's title in one line, with its cause. */
#include "base/text.h"
#include "run/diagnose/finding.h"

enum { CLIP = 200, LEAST = 16 };

/* Contexts of torch 2.13 and 2.15 (torch/_dynamo/variables/functions.py, builtin.py, misc.py): "module: zlib, qualname: crc32, skip reason:
 * ...", "qualname: Optimizer.zero_grad, name: inner, filename: ...", "builtin print [<class ...>] False", "<function inner at 0x7f...>",
 * "method: <Logger app (WARNING)>.info, args: ...". */
static struct slice called(struct explanation *x, struct slice context)
{
	struct slice name = slice_until(slice_behind(context, "qualname: "), ", ");
	struct slice module = slice_until(slice_behind(context, "module: "), ", ");
	if (slice_starts(context, "module: ") && name.n)
		return module.n && module.p[0] != '<' /* "<unknown module>": a method of C, as random.random */
			   ? explain_textf(x, "%.*s.%.*s", SLN(module, CLIP), SLN(name, CLIP))
			   : name;
	if (slice_starts(context, "qualname: "))
		return name;
	if (slice_starts(context, "builtin "))
		return slice_until(slice_behind(context, "builtin "), " [");
	if (slice_starts(context, "<function "))
		return slice_until(slice_behind(context, "<function "), " at 0x");
	if (slice_starts(context, "method: <"))
		return slice_until(slice_behind(context, ">."), ", ");
	return slice_of(NULL, 0);
}

/* A line of Python without the comment at its end. */
static struct slice without_comment(struct slice code)
{
	char quote = 0;
	for (size_t i = 0; i < code.n; i++) {
		if (!quote && code.p[i] == '#')
			return slice_trim(slice_of(code.p, i));
		if (code.p[i] == quote)
			quote = 0;
		else if (!quote && (code.p[i] == '\'' || code.p[i] == '"'))
			quote = code.p[i];
	}
	return slice_trim(code);
}

struct slice explain_break_cause(struct explanation *x, struct slice title, struct slice context, struct slice code)
{
	struct slice name = called(x, slice_first_line(context));
	name = name.n && name.n < CLIP ? name : without_comment(slice_first_line(code));
	bool said = !name.n || (title.n >= name.n && memmem(title.p, title.n, name.p, name.n));
	return said ? slice_of(NULL, 0) : explain_textf(x, "%.*s", SLN(name, CLIP));
}

/* At most n bytes; a longer text is cut and ends in "...". */
static void add_cut(struct buf *b, struct slice s, size_t n)
{
	if (s.n <= n) {
		buf_add_slice(b, s);
		return;
	}
	n = n > 3 ? n - 3 : 0;
	while (n && ((unsigned char)s.p[n] & 0xc0) == 0x80)
		n--;
	while (n && s.p[n - 1] == ' ')
		n--;
	buf_add(b, s.p, n);
	buf_adds(b, "...");
}

void explain_add_title(struct buf *b, const struct finding *g, size_t most)
{
	struct slice title = g->title, cause = g->cause;
	if (cause.n)
		title.n -= cause.n + 2;
	size_t n = title.n, rest = cause.n;
	if (n + (rest ? rest + 2 : 0) > most) {
		size_t least = most / 3 > LEAST ? most / 3 : LEAST, left = most > rest + 2 ? most - rest - 2 : 0;
		n = !rest ? most : left > least ? left : least; /* the title gets what is left, but at least that much */
		n = n < title.n ? n : title.n;
		rest = most > n + 2 ? most - n - 2 : 0;
	}
	add_cut(b, title, n);
	if (!cause.n)
		return;
	buf_adds(b, ": ");
	add_cut(b, cause, rest);
}

void explain_titles(struct explanation *x)
{
	for (uint32_t i = 0; i < x->n_finding; i++) {
		struct finding *g = &x->finding[i];
		if (g->cause.n && g->into == NONE)
			g->title = explain_textf(x, "%.*s: %.*s", SL(g->title), SL(g->cause));
	}
}
