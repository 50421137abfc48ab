#include "aten/interp/shapes.h"
#include "aten/interp/interp.h"

struct shaping {
	struct graph *g;
	const struct symbind *env;
	struct interp *run;
	struct aten_value *value;
	bool *known;
	size_t n; /* nodes that got metadata */
	struct err first;
};

static bool size_number(const struct shaping *s, struct symsize size, int64_t *v)
{
	struct err ignored;
	return symsize_eval(&s->g->tab, size, s->env, v, &ignored) == 0;
}

/* A tensor with this metadata, or a number. */
static bool shaped_value(const struct shaping *s, const struct gmeta *m, struct aten_value *out)
{
	int64_t size[GRAPH_MAX_DIMS], stride[GRAPH_MAX_DIMS];
	if (m->kind == GMETA_SYM && size_number(s, m->expr, &size[0]))
		return *out = aten_int(size[0]), true;
	if (m->kind != GMETA_TENSOR || m->dtype == DTYPE_NONE)
		return false;
	for (uint32_t i = 0; i < m->n_dim; i++)
		if (!size_number(s, s->g->dim[m->dim + i], &size[i]) ||
		    (m->has_stride && !size_number(s, s->g->dim[m->dim + m->n_dim + i], &stride[i])))
			return false;
	struct aten_tensor *t = NULL;
	ATEN_TRY("shapes") { t = aten_keep(aten_fake(m->dtype, m->n_dim, size, m->has_stride ? stride : NULL)); }
	if (ATEN_END)
		return false;
	*out = aten_of(t);
	return true;
}

/* ---- metadata of a value ---- */

static uint32_t tensor_meta(struct graph *g, const struct aten_tensor *t)
{
	struct symsize size[GRAPH_MAX_DIMS], stride[GRAPH_MAX_DIMS];
	for (int i = 0; i < t->n_dim; i++) {
		size[i] = symsize_int(t->size[i]);
		stride[i] = symsize_int(t->stride[i]);
	}
	return graph_add_tensor(g, t->dtype, (size_t)t->n_dim, size, stride, SLICE("cpu"));
}

static uint32_t meta_of(struct graph *g, const struct aten_value *v)
{
	if (v->kind == ATEN_TENSOR)
		return tensor_meta(g, v->tensor);
	if (v->kind == ATEN_INT)
		return graph_add_sym(g, symsize_int(v->i));
	if (v->kind != ATEN_LIST || !v->n)
		return NONE;
	FREED struct gmeta *part = xcalloc(v->n, sizeof(*part));
	for (uint32_t i = 0; i < v->n; i++) {
		const uint32_t m = meta_of(g, &v->item[i]);
		if (m != NONE)
			part[i] = g->meta[m];
	}
	return graph_add_tuple_meta(g, part, v->n);
}

/* ---- nodes ---- */

struct asked {
	const struct shaping *s;
	bool known;
};

static bool ask_known(void *user, uint32_t operand)
{
	struct asked *a = user;
	return a->known = a->s->known[operand - a->s->g->module[0].first];
}

static void shape_node(struct shaping *s, uint32_t node)
{
	struct graph *g = s->g;
	const uint32_t i = node - g->module[0].first;
	struct gnode *n = &g->node[node];
	struct asked a = {s, true};
	struct err why;
	if (n->meta != NONE && shaped_value(s, &g->meta[n->meta], &s->value[i])) {
		s->known[i] = true;
		return;
	}
	if (n->op != GRAPH_CALL_FUNCTION && n->op != GRAPH_GET_ATTR)
		return;
	graph_operands(g, node, ask_known, &a);
	if (!a.known)
		return;
	if (interp_eval(s->run, node, s->value, &why) < 0) {
		if (!s->first.text[0])
			s->first = why;
		return;
	}
	s->known[i] = s->value[i].kind != ATEN_NONE || !graph_is_getitem(g, node);
	if (!s->known[i] && !s->first.text[0])
		err_set(&s->first, EXIT_INPUT, "node '%.*s': its shape depends on values", SLN(graph_name(g, node), 100));
	if (graph_computes(n) && n->meta == NONE && (n->meta = meta_of(g, &s->value[i])) != NONE)
		s->n++;
}

size_t interp_shapes(struct graph *g, const struct symbind *env, struct err *why)
{
	static const struct interp_options o = {.shapes = true};
	const struct gmodule *root = &g->module[0];
	struct shaping s = {.g = g, .env = env, .run = interp_open(g, &o)};
	s.value = xcalloc(root->n + 1, sizeof(*s.value));
	s.known = xcalloc(root->n + 1, sizeof(*s.known));
	for (uint32_t i = root->first; i < root->first + root->n; i++)
		shape_node(&s, i);
	for (uint32_t i = 0; i < root->n; i++)
		aten_value_release(&s.value[i]);
	free(s.value);
	free(s.known);
	interp_close(s.run);
	if (why)
		*why = s.first;
	return s.n;
}
