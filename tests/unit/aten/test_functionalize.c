/* functionalize: graphs with operators in place give what they gave, and no value of a node is ever changed. */
#include "../../lib/test.h"

#include "aten/interp/functionalize.h"
#include "aten/interp/interp.h"
#include "graph/fxcode.h"

static struct err err;

#define A "torch.ops.aten."
#define P "torch._functorch.predispatch."
static const char branches[] =
    "    class yes(torch.nn.Module):\n        def forward(self, a):\n"
    "            v = " A "select.int(a, 0, 0)\n            c = " A "clone.default(v)\n"
    "            s = " A "select.int(c, 0, 1)\n            w = " A "mul_.Tensor(s, 10)\n            return (c,)\n"
    "    class no(torch.nn.Module):\n        def forward(self, a):\n"
    "            s = " A "select.int(a, 0, 1)\n            w = " A "add_.Tensor(s, 1)\n            return (s,)\n";
static const char loop[] =
    "    class go(torch.nn.Module):\n        def forward(self, i, a):\n            t = " A "lt.Scalar(i, 3)\n            return (t,)\n"
    "    class body(torch.nn.Module):\n        def forward(self, i, a):\n            n = " A "add.Tensor(i, 1)\n"
    "            c = " A "clone.default(a)\n            r = " A "select.int(c, 0, 0)\n            w = " A "add_.Tensor(r, n)\n"
    "            s = " A "mul.Tensor(c, 2)\n            return (n, s)\n";

/* Bodies of forward(self, x), x being [0 .. 5] of float32 as [2, 3]; their lines. What they give is what they give in place. */
static const struct {
	const char *what, *body[12], *rest;
} cases[] = {
    {"the operand itself", {"y = " A "mul.Tensor(x, 2)", "w = " A "add_.Tensor(y, 1)", "z = " A "mul.Tensor(y, w)", "return (z, y)"}, ""},
    {"a view is written to",
     {"y = " A "mul.Tensor(x, 2)", "v = " A "select.int(y, 0, 1)", "w = " A "add_.Tensor(v, 1)", "z = " A "mul.Tensor(y, 3)",
      "return (z, y, v)"},
     ""},
    {"its base is",
     {"y = " A "mul.Tensor(x, 2)", "v = " A "select.int(y, 0, 1)", "b = " A "neg.default(v)", "w = " A "add_.Tensor(y, 1)",
      "z = " A "mul.Tensor(v, 3)", "return (z, b)"},
     ""},
    {"views of views",
     {"y = " A "mul.Tensor(x, 2)", "t = " A "t.default(y)", "v = " A "slice.Tensor(t, 0, 1, 3)", "u = " A "select.int(v, 1, 0)",
      "w = " A "mul_.Tensor(u, 7)", "k = " A "select.int(y, 1, 2)", "w2 = " A "sub_.Tensor(v, 1)", "w3 = " A "add_.Tensor(k, w)",
      "return (y, t, v, u, k, w, w2, w3)"},
     ""},
    {"an input, and views of it",
     {"v = " A "select.int(x, 0, 0)", "w = " A "fill_.Scalar(v, 9.5)", "z = " A "add.Tensor(x, 1)", "return (z, v)"},
     ""},
    {"index_put_ with sums",
     {"i = " A "arange.default(2)", "o = " A "clone.default(x)", "t = " A "t.default(o)", "v = " A "select.int(t, 0, 2)",
      "w = " A "index_put_.default(t, [i], v, True)", "return (o, v)"},
     ""},
    {"a reshape that is a view, and one that is none",
     {"y = " A "mul.Tensor(x, 2)", "a = " A "reshape.default(y, [6])", "t = " A "t.default(y)", "b = " A "reshape.default(t, [6])",
      "w = " A "add_.Tensor(a, 1)", "w2 = " A "mul_.Tensor(b, 5)", "return (y, a, b, t)"},
     ""},
    {"parts of a split",
     {"y = " A "mul.Tensor(x, 2)", "s = " A "split.Tensor(y, 1, 1)", "a = s[1]", "w = " A "relu_.default(a)",
      "w2 = " A "fill_.Scalar(a, 4)", "b = s[1]", "c = s[2]", "return (y, b, c)"},
     ""},
    {"bits as another type",
     {"y = " A "mul.Tensor(x, 2)", "i = " A "view.dtype(y, torch.int32)", "w = " A "bitwise_and_.Scalar(i, 255)", "return (y, i)"},
     ""},
    {"as_strided of what was written to",
     {"y = " A "mul.Tensor(x, 2)", "v = " A "slice.Tensor(y, 1, 1, 3)", "w = " A "add_.Tensor(v, 1)",
      "u = " A "as_strided.default(w, [2], [3], 1)", "return (u, y)"},
     ""},
    {"what dropout leaves as it is",
     {"y = " A "mul.Tensor(x, 2)", "d = " A "dropout.default(y, 0.5, False)", "w = " A "add_.Tensor(d, 1)", "return (y, d)"},
     ""},
    {"a branch that writes to what is its own",
     {"yes = self.yes", "no = self.no", "c = torch.ops.higher_order.cond(True, yes, no, (x,))", "r = c[0]", "w = " A "add_.Tensor(r, 1)",
      "return (r, x)"},
     branches},
    {"a loop that does",
     {"i = " A "zeros.default([])", "go = self.go", "body = self.body", "l = torch.ops.higher_order.while_loop(go, body, (i, x), ())",
      "r = l[1]", "w = " A "neg_.default(r)", "return (r, x)"},
     loop},
    {"running statistics",
     {"m = " A "zeros.default([3])", "v = " A "ones.default([3])", "h = " A "slice.Tensor(m, 0, 0, 2)",
      "b = " A "batch_norm.default(x, None, None, m, v, True, 0.25, 1e-05, False)", "z = " A "add.Tensor(m, v)", "return (b, z, h)"},
     ""},
    {"a view in torch.vmap is written to",
     {"b = " P "_add_batch_dim(x, 1, 1)", "c = " A "clone.default(b)", "v = " A "select.int(c, 0, 1)", "w = " A "mul_.Tensor(v, 10)",
      "s = " A "slice.Tensor(c, 0, 0, 1)", "u = " A "add_.Tensor(s, w)", "r = " P "_remove_batch_dim(c, 1, 3, 0)",
      "q = " P "_remove_batch_dim(v, 1, 3, 0)", "return (r, q)"},
     ""},
    {"an input is, in torch.vmap",
     {"b = " P "_add_batch_dim(x, 1, 1)", "v = " A "select.int(b, 0, 1)", "w = " A "add_.Tensor(v, 10)", "y = " A "mul.Tensor(x, 2)",
      "r = " P "_remove_batch_dim(b, 1, 3, 0)", "return (r, y)"},
     ""},
    {"in a region of torch.vmap",
     {"g = self.g", "b = " P "_add_batch_dim(x, 0, 1)", "c = " A "clone.default(b)",
      "h = torch.ops.higher_order.wrap_with_set_grad_enabled(False, g, c)", "i = h[0]", "j = h[1]", "w = " A "add_.Tensor(i, 1)",
      "r = " P "_remove_batch_dim(w, 1, 2, 1)", "q = " P "_remove_batch_dim(j, 1, 2, 0)", "return (r, q)"},
     "    class g(torch.nn.Module):\n        def forward(self, a):\n            s = " A "sum.default(a)\n            m = " A
     "mul.Tensor(a, s)\n            n = " A "full.default([2], 3)\n            return (m, n)\n"},
};

static void read_case(struct graph *g, size_t k)
{
	struct buf b = {0};
	buf_addf(&b, "class R(torch.nn.Module):\n    def forward(self, x):\n");
	for (const char *const *line = cases[k].body; *line; line++)
		buf_addf(&b, "        %s\n", *line);
	buf_addf(&b, "%s", cases[k].rest);
	*g = (struct graph){0};
	if (fxcode_read(g, buf_slice(&b), "t.py", &err) < 0)
		fail_msg("%s\n%s", err.text, buf_str(&b));
	buf_release(&b);
}

/* 0, 1, ... */
static struct aten_value counted(int n_dim, const int64_t *size)
{
	struct aten_tensor *t = NULL;
	ATEN_TRY("test") { t = aten_keep(aten_new(DTYPE_F32, n_dim, size, NULL)); }
	assert_false(ATEN_END);
	for (int64_t i = 0; i < aten_numel(t); i++)
		((float *)t->storage->data)[i] = (float)i;
	return aten_of(t);
}

/* x, which the run may write to. */
static struct aten_value input(void) { return counted(2, (const int64_t[]){2, 3}); }

/* "[2,3] 0 1 2 3 4 5; " of each tensor in it. */
static void show(struct buf *b, const struct aten_value *v)
{
	for (uint32_t i = 0; v->kind == ATEN_LIST && i < v->n; i++)
		show(b, &v->item[i]);
	if (v->kind != ATEN_TENSOR)
		return;
	struct aten_tensor *flat = NULL;
	ATEN_TRY("test")
	{
		flat = aten_new(DTYPE_F64, v->tensor->n_dim, v->tensor->size, NULL);
		aten_copy(flat, v->tensor);
		aten_keep(flat);
	}
	assert_false(ATEN_END);
	for (int i = 0; i < flat->n_dim; i++)
		buf_addf(b, "%s%lld", i ? "," : "[", (long long)flat->size[i]);
	for (int64_t i = 0; i < aten_numel(flat); i++)
		buf_addf(b, " %g", ((double *)aten_data(flat))[i]);
	buf_addf(b, "; ");
	aten_release(flat);
}

static char *text_of(const struct aten_value *v)
{
	struct buf b = {0};
	show(&b, v);
	char *s = xstrdup(buf_str(&b));
	buf_release(&b);
	return s;
}

/* What g gives, node by node over value; changes of a value are found. put: a value in place of a node's. */
static char *evaluate(const struct graph *g, struct aten_value *value, const char *put)
{
	struct interp *run = interp_open(g, NULL);
	const struct gmodule *root = &g->module[0];
	char **was = xcalloc(root->n, sizeof(*was));
	value[0] = input();
	for (uint32_t i = 0; i < root->n; i++) {
		if (i && interp_eval(run, i, value, &err) < 0)
			fail_msg("%s", err.text);
		if (put && slice_is(graph_name(g, i), put)) {
			struct aten_value old = value[i];
			value[i] = counted(old.tensor->n_dim, old.tensor->size);
			aten_value_release(&old);
		}
		was[i] = text_of(&value[i]);
	}
	for (uint32_t i = 0; i < root->n; i++) {
		char *is = text_of(&value[i]);
		if (strcmp(is, was[i]) != 0)
			fail_msg("'%.*s' was %s and is %s", SL(graph_name(g, i)), was[i], is);
		free(is);
		free(was[i]);
	}
	free(was);
	interp_close(run);
	return text_of(&value[root->n - 1]);
}

static void release_all(struct aten_value *value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		aten_value_release(&value[i]);
	free(value);
}

static void values_are_snapshots(void **state)
{
	(void)state;
	for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
		struct graph g;
		struct functionalized f;
		struct aten_value x = input(), out;
		read_case(&g, k);
		if (interp_run(&g, &x, 1, NULL, &out, &err) < 0)
			fail_msg("%s: %s", cases[k].what, err.text);
		char *want = text_of(&out), *x_after = text_of(&x);
		assert_true(interp_writes(&g));
		if (functionalize(&g, &f, &err) < 0)
			fail_msg("%s: %s", cases[k].what, err.text);
		assert_false(interp_writes(&f.graph));
		struct aten_value *value = xcalloc(f.graph.module[0].n, sizeof(*value));
		char *got = evaluate(&f.graph, value, NULL), *x_got = text_of(&value[f.after[0]]);
		if (strcmp(got, want) != 0)
			fail_msg("%s: %s for %s", cases[k].what, got, want);
		if (strcmp(x_got, x_after) != 0)
			fail_msg("%s: the input is %s for %s", cases[k].what, x_got, x_after);
		free(got);
		free(want);
		free(x_got);
		free(x_after);
		release_all(value, f.graph.module[0].n);
		aten_value_release(&x);
		aten_value_release(&out);
		functionalized_release(&f);
		graph_release(&g);
	}
}

/* Something in place of the view, then of what was written: it reaches what they are views of. */
static void what_is_put_in_place_of_a_view_reaches_its_base(void **state)
{
	(void)state;
	static const struct {
		const char *put, *want;
	} puts[] = {
	    {"y", "[2,3 0 1 2 3 14 15; "},
	    {"t", "[2,3 0 2 4 6 14 15; "},
	    {"w", "[2,3 0 2 4 6 0 1; "},
	};
	for (size_t i = 0; i < ARRAY_LEN(puts); i++) {
		struct graph g = {0};
		struct functionalized f;
		static const char text[] = "class R(torch.nn.Module):\n    def forward(self, x):\n        y = " A "mul.Tensor(x, 2)\n"
					   "        t = " A "view.default(y, [2, 3])\n        v = " A "slice.Tensor(t, 0, 1, 2)\n"
					   "        u = " A "slice.Tensor(v, 1, 1, 3)\n        w = " A "add_.Tensor(u, 10)\n"
					   "        return (y,)\n";
		if (fxcode_read(&g, slice_str(text), "t.py", &err) < 0 || functionalize(&g, &f, &err) < 0)
			fail_msg("%s", err.text);
		struct aten_value *value = xcalloc(f.graph.module[0].n, sizeof(*value));
		char *got = evaluate(&f.graph, value, puts[i].put);
		if (strcmp(got, puts[i].want) != 0)
			fail_msg("%s: %s for %s", puts[i].put, got, puts[i].want);
		free(got);
		release_all(value, f.graph.module[0].n);
		functionalized_release(&f);
		graph_release(&g);
	}
}

static void a_graph_without_writes_is_left_alone(void **state)
{
	(void)state;
	struct graph g = {0};
	struct functionalized f;
	static const char text[] = "class R(torch.nn.Module):\n    def forward(self, x):\n        y = " A "__and__.Tensor(x, x)\n"
				   "        d = " A "detach_.default(y)\n        return (d,)\n";
	assert_int_equal(fxcode_read(&g, slice_str(text), "t.py", &err), 0);
	assert_false(interp_writes(&g));
	assert_int_equal(functionalize(&g, &f, &err), 0);
	assert_null(f.node);
	functionalized_release(&f);
	graph_release(&g);
}

static void nodes_are_told_apart(void **state)
{
	(void)state;
	struct graph g;
	struct functionalized f;
	size_t after = 0, same = 0;
	read_case(&g, 1);
	assert_int_equal(functionalize(&g, &f, &err), 0);
	for (uint32_t i = 0; i < f.graph.n_nodes; i++) {
		const struct functional_node *n = &f.node[i];
		same += n->kind == FUNCTIONAL_NODE;
		after += n->kind == FUNCTIONAL_AFTER;
		if (n->kind == FUNCTIONAL_NODE)
			assert_true(slice_eq(graph_name(&f.graph, i), graph_name(&g, n->of)));
	}
	assert_int_equal(same, g.n_nodes);
	assert_int_equal(after, 1);
	const uint32_t y = graph_find(&f.graph, 0, SLICE("y_after_w"));
	assert_int_not_equal(y, NONE);
	assert_true(slice_is(graph_name(&g, f.node[y].of), "y"));
	functionalized_release(&f);
	graph_release(&g);
}

static void a_branch_that_changes_its_input_is_refused(void **state)
{
	(void)state;
	struct graph g = {0};
	struct functionalized f;
	struct aten_value x = input(), out;
	char *text = xasprintf("class R(torch.nn.Module):\n    def forward(self, x):\n        yes = self.yes\n        no = self.no\n"
			       "        c = torch.ops.higher_order.cond(False, yes, no, (x,))\n        r = c[0]\n        return (r,)\n%s",
			       branches);
	if (fxcode_read(&g, slice_str(text), "t.py", &err) < 0 || functionalize(&g, &f, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(interp_run(&f.graph, &x, 1, NULL, &out, &err), -1);
	assert_non_null(strstr(err.text, "a subgraph changes one of its inputs in place"));
	aten_value_release(&x);
	functionalized_release(&f);
	graph_release(&g);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(values_are_snapshots),
	    cmocka_unit_test(what_is_put_in_place_of_a_view_reaches_its_base),
	    cmocka_unit_test(a_graph_without_writes_is_left_alone),
	    cmocka_unit_test(nodes_are_told_apart),
	    cmocka_unit_test(a_branch_that_changes_its_input_is_refused),
	};
	return RUN(tests);
}
