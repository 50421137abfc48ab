#include "graph/fxcode_part.h"

/* The position after the bracket that closes the one at p, or NULL. */
static const char *behind(const char *p, const char *end)
{
	size_t depth = 0;
	for (; p < end; p++) {
		if (*p == '(' || *p == '[')
			depth++;
		else if ((*p == ')' || *p == ']') && !--depth)
			return p + 1;
	}
	return NULL;
}

/* The next part of a list, at its commas. */
static bool next_part(struct slice *rest, struct slice *out)
{
	const char *p = rest->p, *end = p + rest->n;
	size_t depth = 0;
	if (!slice_trim(*rest).n)
		return false;
	for (; p < end && (*p != ',' || depth); p++) {
		depth += *p == '(' || *p == '[';
		depth -= (*p == ')' || *p == ']') && depth;
	}
	*out = slice_trim(slice_of(rest->p, (size_t)(p - rest->p)));
	p += p < end;
	*rest = slice_of(p, (size_t)(end - p));
	return true;
}

static struct symsize size_of(struct fxparse *p, struct slice s)
{
	uint64_t v;
	if (s.n < 18 && slice_u64(s, &v))
		return symsize_int((int64_t)v);
	const uint32_t known = p->dims.n, id = intern_add(&p->dims, s);
	GROW(p->dim_of, known, p->cap_dim_of, 1);
	if (id == known)
		p->dim_of[id] = symsize_parse_any(&p->g->tab, s);
	return p->dim_of[id];
}

/* "[8, s77]" into out; how many, or -1. */
static int sizes(struct fxparse *p, struct slice list, struct symsize *out)
{
	struct slice rest = slice_of(list.p + 1, list.n - 2), one;
	int n = 0;
	while (next_part(&rest, &one)) {
		if (n == GRAPH_MAX_DIMS || !one.n)
			return -1;
		out[n++] = size_of(p, one);
	}
	return n;
}

static bool is_device(struct slice s)
{
	size_t i = 0;
	while (i < s.n && ((s.p[i] >= 'a' && s.p[i] <= 'z') || s.p[i] == '_'))
		i++;
	if (!i || (i < s.n && s.p[i] != ':'))
		return !s.n;
	for (i++; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return true;
}

/* "f32[8, s77][s77, 1]cuda:0". The metadata's index, or NONE. */
static uint32_t tensor(struct fxparse *p, struct slice s)
{
	struct symsize size[GRAPH_MAX_DIMS], stride[GRAPH_MAX_DIMS];
	const char *open = slice_chr(s, '['), *end = s.p + s.n, *close = open ? behind(open, end) : NULL;
	enum dtype dtype = close ? dtype_by_short(slice_of(s.p, (size_t)(open - s.p))) : DTYPE_NONE;
	if (dtype == DTYPE_NONE)
		return NONE;
	const int n = sizes(p, slice_of(open, (size_t)(close - open)), size);
	const bool strided = close < end && *close == '[';
	if (n < 0)
		return NONE;
	if (strided) {
		const char *from = close;
		close = behind(from, end);
		if (!close || sizes(p, slice_of(from, (size_t)(close - from)), stride) != n)
			return NONE;
	}
	struct slice device = slice_of(close, (size_t)(end - close));
	if (!is_device(device))
		return NONE;
	return graph_add_tensor(p->g, dtype, (size_t)n, size, strided ? stride : NULL, device);
}

/* "Parameter(f32[8])", "DTensor(f32[8], S(0))": the class, with anything else in the brackets, is subclass,
 * "DTensor(S(0))". */
static uint32_t wrapped(struct fxparse *p, struct slice s)
{
	const char *open = slice_chr(s, '(');
	struct slice rest, core;
	if (!open || open == s.p || s.p[s.n - 1] != ')' || behind(open, s.p + s.n) != s.p + s.n)
		return NONE;
	struct slice cls = slice_of(s.p, (size_t)(open - s.p));
	rest = slice_of(open + 1, s.n - cls.n - 2);
	if (!fx_identifier(cls) || !next_part(&rest, &core))
		return NONE;
	uint32_t m = tensor(p, core);
	if (m == NONE)
		return m;
	rest = slice_trim(rest);
	buf_reset(&p->tmp);
	buf_add_slice(&p->tmp, cls);
	if (rest.n) {
		buf_addc(&p->tmp, '(');
		buf_add_slice(&p->tmp, rest);
		buf_addc(&p->tmp, ')');
	}
	p->g->meta[m].subclass = graph_intern(p->g, buf_slice(&p->tmp));
	p->g->meta[m].is_param = slice_is(cls, "Parameter");
	return m;
}

static uint32_t read_meta(struct fxparse *p, struct slice s)
{
	if (slice_starts(s, "Sym(") && s.p[s.n - 1] == ')')
		return graph_add_sym(p->g, size_of(p, slice_trim(slice_of(s.p + 4, s.n - 5))));
	uint32_t m = tensor(p, s);
	return m == NONE ? wrapped(p, s) : m;
}

/* The same text gives the same metadata: a copy of the first result, since every node has its own. */
static uint32_t meta_of(struct fxparse *p, struct slice s)
{
	struct graph *g = p->g;
	const uint32_t known = p->metas.n, id = intern_add(&p->metas, s);
	GROW(p->meta_of, known, p->cap_meta_of, 1);
	if (id == known)
		return p->meta_of[id] = read_meta(p, s);
	if (p->meta_of[id] == NONE)
		return NONE;
	struct gmeta m = g->meta[p->meta_of[id]];
	if (m.kind == GMETA_TENSOR) {
		const size_t n = (size_t)m.n_dim << m.has_stride;
		GROW(g->dim, g->n_dims, g->cap_dims, n);
		if (n)
			memcpy(g->dim + g->n_dims, g->dim + m.dim, n * sizeof(*g->dim));
		m.dim = (uint32_t)g->n_dims;
		g->n_dims += n;
	}
	GROW(g->meta, g->n_meta, g->cap_meta, 1);
	g->meta[g->n_meta] = m;
	return (uint32_t)g->n_meta++;
}

void fx_annotate(struct fxparse *p, uint32_t node, struct slice a)
{
	a = slice_trim(a);
	if (!a.n)
		return;
	if (a.n > 2 && (*a.p == '"' || *a.p == '\'') && a.p[a.n - 1] == *a.p) {
		uint32_t m = meta_of(p, slice_of(a.p + 1, a.n - 2));
		p->g->node[node].meta = m;
		if (m != NONE)
			return;
	}
	p->g->node[node].type = graph_intern(p->g, a);
}

/* ---- as text ---- */

static void add_size(const struct graph *g, struct symsize s, struct buf *b)
{
	if (!symsize_is_int(s)) {
		symsize_print(&g->tab, s, b);
	} else if (s.k >= 0) {
		buf_add_u64(b, (uint64_t)s.k);
	} else {
		buf_addc(b, '-');
		buf_add_u64(b, -(uint64_t)s.k);
	}
}

static void add_sizes(const struct graph *g, const struct symsize *s, unsigned n, struct buf *b)
{
	buf_addc(b, '[');
	for (unsigned i = 0; i < n; i++) {
		if (i)
			buf_add(b, ", ", 2);
		add_size(g, s[i], b);
	}
	buf_addc(b, ']');
}

static void add_tensor(const struct graph *g, const struct gmeta *m, struct buf *b)
{
	const struct dtype_info *d = dtype_info(m->dtype);
	buf_adds(b, d ? d->brief : "unknown");
	add_sizes(g, g->dim + m->dim, m->n_dim, b);
	if (m->has_stride)
		add_sizes(g, g->dim + m->dim + m->n_dim, m->n_dim, b);
	if (m->device != NONE)
		buf_add_slice(b, graph_text(g, m->device));
}

void fxcode_meta(const struct graph *g, uint32_t meta, struct buf *b)
{
	const struct gmeta *m = meta < g->n_meta ? &g->meta[meta] : NULL;
	if (m && m->kind == GMETA_SYM) {
		buf_add(b, "Sym(", 4);
		add_size(g, m->expr, b);
		buf_addc(b, ')');
	}
	if (!m || m->kind != GMETA_TENSOR)
		return;
	if (m->subclass == NONE) {
		add_tensor(g, m, b);
		return;
	}
	struct slice cls = graph_text(g, m->subclass);
	const char *open = cls.n && cls.p[cls.n - 1] == ')' ? slice_chr(cls, '(') : NULL;
	buf_add(b, cls.p, open ? (size_t)(open - cls.p) : cls.n);
	buf_addc(b, '(');
	add_tensor(g, m, b);
	if (open) {
		buf_add(b, ", ", 2);
		buf_add(b, open + 1, (size_t)(cls.p + cls.n - open - 2));
	}
	buf_addc(b, ')');
}
