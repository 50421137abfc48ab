/* emit.c - shared by the emitters. */
#include "explain/emit.h"
#include "base/text.h"
#include "run/diagnose/bugs.h"
#include "run/diagnose/sourcefile.h"

/* ---- places ---- */

bool emit_source(const struct explanation *x, uint32_t file, struct buf *b)
{
	struct slice name = explain_text(x, file);
	if (!name.n || name.p[0] == '<' || slice_chr(name, '\0'))
		return false;
	while (slice_starts(name, "./"))
		name = slice_of(name.p + 2, name.n - 2);
	FREED char *path = xstrndup(name.p, name.n);
	const char *here = *path == '/' ? source_relative(path) : source_leads_out(path) ? NULL : path;
	if (!here && *path != '/')
		return false;
	buf_adds(b, here ? here : path);
	return here != NULL;
}

/* ---- texts ---- */

static void put_lines(struct buf *b, const char *what, struct slice text)
{
	struct slice line;
	while (slice_line(&text, &line)) {
		if (b->len && b->p[b->len - 1] != '\n')
			buf_addc(b, '\n');
		buf_adds(b, what);
		buf_add_slice(b, line);
		what = "";
	}
}

void emit_details(const struct explanation *x, const struct finding *g, struct buf *b)
{
	LOCAL_BUF bugs = {0};
	explain_bug_lines(x, g, &bugs);
	put_lines(b, "Cost: ", g->cost);
	put_lines(b, "Why: ", g->why);
	put_lines(b, "Known: ", buf_slice(&bugs));
	put_lines(b, "Fix: ", g->fix);
	put_lines(b, "Hint, not tried: ", g->hint);
	put_lines(b, "torch says: ", g->torch_hint);
	put_lines(b, "Next: ", g->next);
	put_lines(b, "See ", g->url);
}

void emit_same(struct slice s, struct buf *out)
{
	buf_reset(out);
	for (size_t i = 0; i < s.n;) {
		size_t n = 0;
		char mark = 0;
		while (i + n < s.n && s.p[i + n] != ' ') {
			char c = s.p[i + n++];
			mark = c == '/' || mark == '/' ? '/' : c >= '0' && c <= '9' ? '#' : mark;
		}
		if (mark)
			buf_addc(out, mark);
		else
			buf_add(out, s.p + i, n);
		i += n;
		if (i < s.n)
			buf_addc(out, s.p[i++]);
	}
}
