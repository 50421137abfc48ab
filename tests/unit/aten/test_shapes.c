/* aten/interp/shapes: of every node of an exported program the operators' rules tell what torch wrote down: its recorded annotations are taken
 * away and told anew. With arguments: of these programs, a line each, and what differs (tests/live/shapes.t). */
#include "aten/interp/shapes.h"
#include "graph/repro/repro.h"
#include "../../lib/test.h"

struct told {
	size_t n, same; /* nodes that torch has annotated */
	struct buf why; /* a line for each of the others */
};

struct annotated {
	const struct graph *g;
	const struct symbind *env;
};

/* Its n numbers; false: one is a symbol that comes from data. */
static bool numbers_of(const struct annotated *a, uint32_t first, uint32_t n, int64_t *v)
{
	struct err ignored;
	for (uint32_t i = 0; i < n; i++)
		if (symsize_eval(&a->g->tab, a->g->dim[first + i], a->env, &v[i], &ignored) < 0)
			return false;
	return true;
}

/* "?": what has such a symbol, or is not told. */
static void add_meta(const struct annotated *a, const struct gmeta *m, struct buf *b)
{
	int64_t v[2 * GRAPH_MAX_DIMS];
	struct err ignored;
	if (m->kind == GMETA_SYM && symsize_eval(&a->g->tab, m->expr, a->env, v, &ignored) == 0)
		buf_addf(b, "%lld ", (long long)*v);
	for (uint32_t i = 0; m->kind == GMETA_TUPLE && i < m->n_parts; i++)
		add_meta(a, &a->g->meta[m->first + i], b);
	if (m->kind == GMETA_NONE || (m->kind == GMETA_TENSOR && !numbers_of(a, m->dim, m->n_dim * (m->has_stride ? 2u : 1u), v)))
		buf_adds(b, "? ");
	else if (m->kind == GMETA_TENSOR) {
		buf_adds(b, dtype_name(m->dtype));
		for (uint32_t i = 0; i < m->n_dim; i++)
			buf_addf(b, "%c%lld", i ? ',' : ' ', (long long)v[i]);
		/* The stride of a dim of one element means nothing: fake tensors keep another than eager does. */
		for (uint32_t i = 0; i < m->n_dim && m->has_stride; i++)
			buf_addf(b, "%c%lld", i ? ',' : '/', v[i] == 1 ? 1LL : (long long)v[m->n_dim + i]);
		buf_addc(b, ' ');
	}
}

static struct buf meta_text(const struct annotated *a, uint32_t meta)
{
	struct buf b = {0};
	if (meta != NONE)
		add_meta(a, &a->g->meta[meta], &b);
	else
		buf_adds(&b, "not told");
	return b;
}

static void compare_node(const struct annotated *a, uint32_t node, uint32_t before, struct told *t)
{
	const struct gnode *n = &a->g->node[node];
	struct buf want = meta_text(a, before), got = meta_text(a, n->meta);
	t->n++;
	/* Of floats (zuf0) nothing is written, and a size that comes from data (u0) is not told. */
	if (slice_eq(buf_slice(&want), buf_slice(&got)) || (n->meta == NONE && (!want.len || slice_chr(buf_slice(&want), '?'))))
		t->same++;
	else
		buf_addf(&t->why, "%.*s %.*s: %s instead of %s\n", SL(graph_name(a->g, node)), SL(graph_op_text(a->g, node)), buf_str(&got),
			 buf_str(&want));
	buf_release(&want);
	buf_release(&got);
}

static int tell(const char *path, struct told *t, struct err *err)
{
	struct repro r = {0};
	struct symbind env = {0};
	if (repro_open(&r, path, err) < 0)
		return -1;
	repro_bind(&r, &env);
	const struct gmodule *root = &r.graph.module[0];
	const struct annotated a = {&r.graph, &env};
	uint32_t *before = xcalloc(root->n, sizeof(*before));
	for (uint32_t i = 0; i < root->n; i++) {
		struct gnode *n = &r.graph.node[root->first + i];
		before[i] = n->meta;
		if (graph_computes(n))
			n->meta = NONE;
	}
	struct err why = {0};
	interp_shapes(&r.graph, &env, &why);
	if (why.text[0])
		buf_addf(&t->why, "first: %s\n", why.text);
	for (uint32_t i = 0; i < root->n; i++)
		if (graph_computes(&r.graph.node[root->first + i]) && before[i] != NONE)
			compare_node(&a, root->first + i, before[i], t);
	free(before);
	symbind_release(&env);
	repro_release(&r);
	return 0;
}

static int tell_files(char **path)
{
	for (; *path; path++) {
		struct told t = {0};
		struct err err;
		if (tell(*path, &t, &err) < 0)
			printf("%s: %s\n", *path, err.text);
		else
			printf("%s: %zu of %zu\n%s", *path, t.same, t.n, buf_str(&t.why));
		buf_release(&t.why);
	}
	return 0;
}

static void recorded_programs(void **state)
{
	static const char *const names[] = {"mlp",          "conv",      "derived",    "mixed",       "unbounded",
					    "run/whole",    "run/scans", "run/image",  "run/state",   "run/maps",
					    "run/branches", "run/loop",  "run/halves", "run/symbols", "run/transformer"};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct told t = {0};
		struct err err;
		char *name = xasprintf("export/%s.pt2", names[i]), *path = data_path(name);
		if (tell(path, &t, &err) < 0)
			fail_msg("%s", err.text);
		if (!t.n || t.same != t.n)
			fail_msg("%s: %zu of %zu\n%s", path, t.same, t.n, buf_str(&t.why));
		free(path);
		free(name);
		buf_release(&t.why);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(recorded_programs)};
	return argc > 1 ? tell_files(argv + 1) : RUN(tests);
}
