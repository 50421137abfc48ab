/* graphdiff_meta.c - metadata of matched nodes: shapes, strides, dtypes, devices, whatever the symbols are called. */
#include "graph/graphdiff_part.h"
#include "graph/fxcode.h"

void gd_symbols_release(struct gd_symbols *s)
{
	intern_release(&s->a);
	intern_release(&s->b);
	free(s->partner);
	buf_release(&s->text[0]);
	buf_release(&s->text[1]);
}

static void add_sizes(const struct graph *g, uint32_t first, uint32_t n, struct buf *b)
{
	buf_addc(b, '[');
	for (uint32_t i = 0; i < n; i++) {
		buf_adds(b, i ? ", " : "");
		symsize_print(&g->tab, g->dim[first + i], b);
	}
	buf_addc(b, ']');
}

static void one_text(const struct graph *g, const struct gmeta *m, enum graphdiff_kind kind, struct buf *b)
{
	bool tensor = m->kind == GMETA_TENSOR;
	if (kind == GRAPHDIFF_SHAPE && tensor)
		add_sizes(g, m->dim, m->n_dim, b);
	else if (kind == GRAPHDIFF_SHAPE && m->kind == GMETA_SYM)
		symsize_print(&g->tab, m->expr, b);
	else if (kind == GRAPHDIFF_STRIDE && tensor && m->has_stride)
		add_sizes(g, m->dim + m->n_dim, m->n_dim, b);
	else if (kind == GRAPHDIFF_DTYPE && tensor)
		buf_adds(b, dtype_name(m->dtype));
	else if (kind == GRAPHDIFF_DEVICE && tensor && m->device != NONE)
		buf_add_slice(b, graph_text(g, m->device));
	else if (kind == GRAPHDIFF_TYPE)
		buf_adds(b, tensor ? "a tensor" : m->kind == GMETA_SYM ? "a number" : m->kind == GMETA_TUPLE ? "several values" : "");
}

void gd_meta_text(const struct graph *g, uint32_t meta, enum graphdiff_kind kind, struct buf *b)
{
	const struct gmeta *m = meta == NONE ? NULL : &g->meta[meta];
	if (!m)
		return;
	if (m->kind != GMETA_TUPLE || kind == GRAPHDIFF_TYPE) {
		one_text(g, m, kind, b);
		return;
	}
	for (uint32_t i = 0; i < m->n_parts; i++) {
		buf_adds(b, i ? ", " : "");
		one_text(g, &g->meta[m->first + i], kind, b);
	}
}

/* ---- symbols ---- */

/* The end of the symbol at p: s77, u0, zf3, zuf1; p: none. */
static const char *symbol_end(const char *p, const char *end)
{
	const char *q = p;
	if (q < end && *q == 'z')
		q++;
	if (q < end && *q == 'u' && q > p)
		q++;
	if (q == end || (q == p ? *q != 's' && *q != 'u' : *q != 'f'))
		return p;
	const char *digits = ++q;
	while (q < end && is_digit(*q))
		q++;
	bool word = q < end && (is_digit(*q) || *q == '_' || ((unsigned char)(*q | 32) >= 'a' && (unsigned char)(*q | 32) <= 'z'));
	return q > digits && !word ? q : p;
}

/* The next symbol in text from *p on. False: none. */
static bool next_symbol(const char **p, const char *end, struct slice *out)
{
	for (const char *q = *p; q < end;) {
		const char *e = symbol_end(q, end);
		if (e > q) {
			*out = slice_of(q, (size_t)(e - q));
			*p = e;
			return true;
		}
		/* Not a symbol: the rest of the word. */
		do
			q++;
		while (q < end &&
		       (is_digit(q[-1]) || q[-1] == '_' || ((unsigned char)(q[-1] | 32) >= 'a' && (unsigned char)(q[-1] | 32) <= 'z')) &&
		       (is_digit(*q) || *q == '_' || ((unsigned char)(*q | 32) >= 'a' && (unsigned char)(*q | 32) <= 'z')));
	}
	return false;
}

uint64_t gd_meta_hash(const struct graph *g, uint32_t meta, struct buf *tmp)
{
	static const enum graphdiff_kind kinds[] = {GRAPHDIFF_TYPE, GRAPHDIFF_DTYPE, GRAPHDIFF_DEVICE, GRAPHDIFF_SHAPE};
	uint64_t h = 11;
	buf_reset(tmp);
	for (unsigned i = 0; i < ARRAY_LEN(kinds); i++)
		gd_meta_text(g, meta, kinds[i], tmp);
	const char *p = tmp->p, *end = tmp->p + tmp->len;
	struct slice symbol;
	for (const char *from = p; tmp->len; from = p) {
		bool more = next_symbol(&p, end, &symbol);
		h = gd_mix(h, hash_bytes(from, (size_t)((more ? symbol.p : end) - from)));
		if (!more)
			break;
	}
	return h;
}

static uint32_t partner_of(struct gd_symbols *s, struct slice a)
{
	uint32_t before = s->a.n, i = intern_add(&s->a, a);
	if (i == before) {
		GROW(s->partner, i, s->cap, 1);
		s->partner[i] = NONE;
	}
	return i;
}

static bool is_symbol(struct slice text) { return text.n && symbol_end(text.p, text.p + text.n) == text.p + text.n; }

/* The same text but for symbols; learn: those that have no partner yet become partners. */
static bool same_text(struct gd_symbols *s, struct slice a, struct slice b, bool learn)
{
	const char *p = a.p, *q = b.p;
	for (;;) {
		struct slice x = {a.p + a.n, 0}, y = {b.p + b.n, 0};
		const char *from = p, *to = q;
		bool more = a.n && next_symbol(&p, a.p + a.n, &x), both = b.n && next_symbol(&q, b.p + b.n, &y);
		if (more != both || !slice_eq(slice_of(from, (size_t)(x.p - from)), slice_of(to, (size_t)(y.p - to))))
			return false;
		if (!more)
			return true;
		uint32_t i = partner_of(s, x), before = s->b.n, k = intern_add(&s->b, y);
		if (learn && s->partner[i] == NONE && k == before)
			s->partner[i] = k;
		if (!learn && s->partner[i] != k && !(s->partner[i] == NONE && slice_eq(x, y)))
			return false;
	}
}

static void learn_dims(struct gd_symbols *s, const struct graphdiff *d, const struct gmeta *x, const struct gmeta *y)
{
	for (uint32_t i = 0; i < (x->kind == GMETA_SYM ? 1 : x->n_dim); i++) {
		for (unsigned k = 0; k < 2; k++) {
			const struct graph *g = k ? d->b : d->a;
			const struct gmeta *m = k ? y : x;
			buf_reset(&s->text[k]);
			symsize_print(&g->tab, m->kind == GMETA_SYM ? m->expr : g->dim[m->dim + i], &s->text[k]);
		}
		if (is_symbol(buf_slice(&s->text[0])) && is_symbol(buf_slice(&s->text[1])))
			same_text(s, buf_slice(&s->text[0]), buf_slice(&s->text[1]), true);
	}
}

void gd_symbols_match(struct gd_symbols *s, const struct graphdiff *d)
{
	for (uint32_t i = 0; i < d->a->n_nodes; i++) {
		uint32_t k = d->match[0][i], ma = d->a->node[i].meta, mb = k == NONE ? NONE : d->b->node[k].meta;
		if (ma == NONE || mb == NONE)
			continue;
		const struct gmeta *x = &d->a->meta[ma], *y = &d->b->meta[mb];
		if (x->kind == y->kind && (x->kind == GMETA_SYM || (x->kind == GMETA_TENSOR && x->n_dim == y->n_dim)))
			learn_dims(s, d, x, y);
	}
}

unsigned gd_meta_differs(struct gd_symbols *s, const struct graphdiff *d, uint32_t a, uint32_t b)
{
	uint32_t ma = d->a->node[a].meta, mb = d->b->node[b].meta;
	unsigned differs = 0;
	if (ma == NONE || mb == NONE || d->a->meta[ma].kind == GMETA_NONE || d->b->meta[mb].kind == GMETA_NONE)
		return 0; /* not written down: unknown */
	for (unsigned kind = GRAPHDIFF_SHAPE; kind <= GRAPHDIFF_TYPE; kind++) {
		buf_reset(&s->text[0]);
		buf_reset(&s->text[1]);
		gd_meta_text(d->a, ma, kind, &s->text[0]);
		gd_meta_text(d->b, mb, kind, &s->text[1]);
		bool optional = kind == GRAPHDIFF_STRIDE || kind == GRAPHDIFF_DEVICE;
		if (optional && (!s->text[0].len || !s->text[1].len))
			continue;
		if (!same_text(s, buf_slice(&s->text[0]), buf_slice(&s->text[1]), false))
			differs |= 1u << kind;
	}
	if (differs & 1u << GRAPHDIFF_TYPE)
		return 1u << GRAPHDIFF_TYPE;
	/* Other sizes have other strides. */
	return differs & 1u << GRAPHDIFF_SHAPE ? differs & ~(1u << GRAPHDIFF_STRIDE) : differs;
}
