/* kernelmap_locate.c - a compiler's message -> the line of a kernel. */
#include "graph/inductor/kernelmap.h"

/* "   16 |     auto tmp2 = compile error!;": the line that gcc and clang quote, without the number. Old clang shows it bare. */
static struct slice quoted(struct slice line)
{
	struct slice s = slice_trim(line);
	size_t i = 0;
	while (i < s.n && is_digit(s.p[i]))
		i++;
	size_t k = i;
	while (k < s.n && s.p[k] == ' ')
		k++;
	if (i && k < s.n && s.p[k] == '|')
		s = slice_trim(slice_of(s.p + k + 1, s.n - k - 1));
	return s;
}

struct search {
	struct kmlocation *out;
	uint64_t best;
};

static void look(struct search *f, const struct kernelmap *m, uint32_t map)
{
	for (uint32_t u = 0; u < m->n_use; u++) {
		struct slice rest = kernelmap_text(m, &m->use[u]), line;
		bool again = false; /* a kernel called twice counts once */
		for (uint32_t i = 0; i < u; i++)
			again |= m->use[i].kernel == m->use[u].kernel;
		for (uint32_t n = 1; !again && n <= m->use[u].n_lines && slice_line(&rest, &line); n++) {
			if (!slice_eq(slice_trim(line), f->out->quoted))
				continue;
			/* The compiled file starts with one extra line (2.13), AOTInductor's contains all kernels. */
			uint32_t base = m->in.wrapper.n && m->use[u].kernel != NONE ? m->code.kernel[m->use[u].kernel].line - 1 : 1;
			uint64_t at = (uint64_t)n + base, want = f->out->error.line;
			uint64_t away = at > want ? at - want : want - at;
			f->out->several |= f->out->line != NONE;
			if (f->out->line != NONE && away >= f->best)
				continue;
			f->best = away;
			f->out->map = map;
			f->out->use = u;
			f->out->line = n;
		}
	}
}

static bool is_error(const struct srcloc *at) { return at->form == SRCLOC_COMPILER && slice_ends(at->severity, "error"); }

bool kernelmap_locate(struct kernelmap *const *map, uint32_t n, struct slice text, struct kmlocation *out)
{
	struct slice rest = text, line;
	bool any = false;
	struct kmlocation first = {0};
	while (slice_line(&rest, &line)) {
		struct search f = {.out = out};
		if (!slice_find(line, "error:") || !srcloc_parse(line, &out->error) || !is_error(&out->error))
			continue;
		struct slice behind = rest, next;
		out->map = out->use = out->line = NONE;
		out->several = false;
		out->quoted = slice_line(&behind, &next) ? quoted(next) : SLICE("");
		for (uint32_t i = 0; i < n && out->quoted.n; i++)
			look(&f, map[i], i);
		if (out->line != NONE)
			return true;
		if (!any)
			first = *out;
		any = true;
	}
	*out = first;
	return any;
}

void kernelmap_source(struct buf *b, const struct kernelmap *m, uint32_t source)
{
	LOCAL_BUF at = {0};
	if (source != NONE)
		srcloc_format(&at, &m->source[source], SRCLOC_AT, true);
	buf_add_clean(b, buf_slice(&at));
}

void kernelmap_node(struct buf *b, const struct kmnode *n)
{
	buf_add_clean(b, n->name);
	if (n->text.n) {
		buf_adds(b, " = ");
		buf_add_clean(b, n->text);
	}
}
