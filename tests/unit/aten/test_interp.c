/* interp: graphs as torch.fx writes them, run over aten; numbers as Python has them; subgraphs; what is refused, and that nothing leaks. */
#include "../../lib/test.h"

#include "aten/interp/interp.h"
#include "aten/interp/shapes.h"
#include "graph/fxcode.h"

static struct err err;

static void read_graph(struct graph *g, const char *text)
{
	*g = (struct graph){0};
	if (fxcode_read(g, slice_str(text), "t.py", &err) < 0)
		fail_msg("%s\n%s", err.text, text);
}

/* def forward(self, x): BODY, x being [0, 1, ..., 5] of float32 as [2, 3]. */
static int run_with(const char *head, const char *body, const char *rest, const struct interp_options *o, struct aten_value *out)
{
	static const int64_t size[] = {2, 3}, stride[] = {3, 1};
	struct graph g;
	struct buf b = {0};
	float data[6];
	struct aten_value x = {.kind = ATEN_NONE};
	for (int i = 0; i < 6; i++)
		data[i] = (float)i;
	buf_addf(&b, "class Repro(torch.nn.Module):\n    def forward(self, %s):\n        %s\n%s", head, body, rest);
	read_graph(&g, buf_str(&b));
	ATEN_TRY("test") { x = aten_of(aten_keep(aten_of_blob(data, DTYPE_F32, 2, size, stride, 0))); }
	assert_false(ATEN_END);
	err = (struct err){0};
	const int r = interp_run(&g, &x, 1, o, out, &err);
	aten_value_release(&x);
	graph_release(&g);
	buf_release(&b);
	return r;
}

static int run_body(const char *body, struct aten_value *out) { return run_with("x", body, "", NULL, out); }

static const struct {
	const char *expr;
	enum aten_kind kind;
	int64_t i;
	double f;
} numbers[] = {
    {"_operator.add(2, 3)", ATEN_INT, 5, 0},
    {"_operator.floordiv(-7, 2)", ATEN_INT, -4, 0},
    {"_operator.mod(-7, 2)", ATEN_INT, 1, 0},
    {"_operator.mod(7, -2)", ATEN_INT, -1, 0},
    {"_operator.truediv(7, 2)", ATEN_FLOAT, 0, 3.5},
    {"_operator.pow(3, 4)", ATEN_INT, 81, 0},
    {"_operator.pow(2, -1)", ATEN_FLOAT, 0, 0.5},
    {"_operator.neg(3)", ATEN_INT, -3, 0},
    {"_operator.lshift(3, 2)", ATEN_INT, 12, 0},
    {"_operator.rshift(-3, 1)", ATEN_INT, -2, 0},
    {"_operator.lt(2, 2.5)", ATEN_BOOL, 1, 0},
    {"_operator.ge(2, 3)", ATEN_BOOL, 0, 0},
    {"_operator.and_(True, False)", ATEN_BOOL, 0, 0},
    {"_operator.and_(6, 3)", ATEN_INT, 2, 0},
    {"torch.sym_max(2, 5)", ATEN_INT, 5, 0},
    {"torch.sym_min(2, 1.5)", ATEN_FLOAT, 0, 1.5},
    {"torch.sym_ite(False, 1, 2)", ATEN_INT, 2, 0},
    {"torch.sym_sum([1, 2, 3])", ATEN_INT, 6, 0},
    {"torch.sym_not(0)", ATEN_BOOL, 1, 0},
    {"torch.sym_float(3)", ATEN_FLOAT, 0, 3},
    {"math.ceil(2.1)", ATEN_INT, 3, 0},
    {"math.floor(-2.1)", ATEN_INT, -3, 0},
    {"math.trunc(-2.9)", ATEN_INT, -2, 0},
    {"torch.ops.aten.sym_size.int(x, -1)", ATEN_INT, 3, 0},
    {"torch.ops.aten.sym_stride.int(x, 0)", ATEN_INT, 3, 0},
    {"torch.ops.aten.sym_numel.default(x)", ATEN_INT, 6, 0},
};

static void numbers_are_pythons(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		struct aten_value out;
		char *body = xasprintf("v = %s\n        return (v,)", numbers[i].expr);
		if (run_body(body, &out) < 0)
			fail_msg("%s: %s", numbers[i].expr, err.text);
		assert_int_equal(out.n, 1);
		if (out.item[0].kind != numbers[i].kind ||
		    (numbers[i].kind == ATEN_FLOAT ? out.item[0].f != numbers[i].f : out.item[0].i != numbers[i].i))
			fail_msg("%s: kind %d, %lld, %g", numbers[i].expr, out.item[0].kind, (long long)out.item[0].i, out.item[0].f);
		aten_value_release(&out);
		free(body);
	}
}

/* A body that fails, and what is said. */
static const struct {
	const char *body, *why;
} refused[] = {
    {"v = _operator.floordiv(1, 0)\n        return (v,)",
     "node 'v' (_operator.floordiv): 1 and 0: division by zero, or overflow of 64 bits"},
    {"v = _operator.mul(9223372036854775807, 2)\n        return (v,)", "overflow of 64 bits"},
    {"v = _operator.truediv(1, 0)\n        return (v,)", "division by zero"},
    {"v = torch.ops.aten.no_such_thing.default(x)\n        return (v,)", "node 'v' (aten.no_such_thing.default): unsupported operator"},
    {"v = torch.ops.aten.sym_size.int(x, 7)\n        return (v,)", "the dimension is out of range for a 2D tensor"},
    {"v = torch.ops.aten._assert_scalar.default(False, 'x is odd')\n        return (v,)", "the program's own assertion failed: x is odd"},
    {"v = torch.ops.aten._assert_tensor_metadata.default(x, None, None, torch.float64)\n        return (v,)",
     "the program asserts that this is float64, but it is float32"},
    {"v = torch.ops.aten._assert_tensor_metadata.default(x, [2, 4])\n        return (v,)", "asserts sizes that differ"},
    {"v = torch.ops.higher_order.run_and_save_rng_state(x)\n        return (v,)", "unsupported higher-order operator"},
    {"v = torch.ops.higher_order.with_effects(x)\n        return (v,)", "its operand 1 (op) is not an operator"},
    {"v = torch.ops.higher_order.with_effects(x, torch.ops.mine.one.default)\n        return (v,)", "unsupported operator"},
    {"v = torch.ops.higher_order.cond(True, x, x, ())\n        return (v,)", "its operand 1 (true_fn) is not a subgraph"},
    {"v = torch.ops.aten.unbind.int(x)\n        w = v[2]\n        return (w,)", "item 2 of a list of 2"},
    {"v = torch.ops.aten.to.dtype(x, torch.nothing)\n        return (v,)", "unsupported operand 'torch.nothing'"},
    {"v = x.relu()\n        return (v,)", "a graph with call_method is from TorchDynamo"},
    {"v = _operator.add(x, 1)\n        return (v,)", "supported only for numbers here"},
    {"v = torch.sym_max()\n        return (v,)", "wrong number of operands"},
};

static void refusals_name_node_and_reason(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		struct aten_value out;
		if (run_body(refused[i].body, &out) == 0)
			fail_msg("it runs: %s", refused[i].body);
		if (err.status != EXIT_INPUT || !strstr(err.text, refused[i].why))
			fail_msg("%s\n%d: %s", refused[i].body, err.status, err.text);
	}
}

static float element(const struct aten_value *v, size_t i) { return ((const float *)aten_data(v->tensor))[i]; }

static void views_share_and_are_written_to(void **state)
{
	(void)state;
	struct aten_value out;
	if (run_body("row = torch.ops.aten.select.int(x, 0, 1)\n        t = torch.ops.aten.transpose.int(x, 0, 1)\n"
		     "        c = torch.ops.aten.copy_.default(row, t)\n        return (t,)",
		     &out) == 0)
		fail_msg("[3] cannot be what [3, 2] is copied to");
	assert_int_equal(
	    run_body("row = torch.ops.aten.select.int(x, 0, 1)\n        other = torch.ops.aten.select.int(x, 0, 0)\n"
		     "        c = torch.ops.aten.copy_.default(row, other)\n        t = torch.ops.aten.transpose.int(x, 0, 1)\n"
		     "        return (t,)",
		     &out),
	    0);
	assert_int_equal(out.item[0].tensor->size[0], 3);
	assert_int_equal(out.item[0].tensor->stride[0], 1);
	aten_value_release(&out);
	struct graph g;
	read_graph(&g, "class R(torch.nn.Module):\n    def forward(self, x):\n        y = torch.ops.aten.copy_.default(x, x)\n"
		       "        return (y,)\n");
	assert_true(interp_writes(&g));
	graph_release(&g);
}

static const char branches[] = "\n    class yes(torch.nn.Module):\n        def forward(self, a):\n"
			       "            s = torch.ops.aten.select.int(a, 0, 0)\n            return (s,)\n"
			       "\n    class no(torch.nn.Module):\n        def forward(self, a):\n"
			       "            s = torch.ops.aten.select.int(a, 0, 1)\n            return (s,)\n";

static void cond_takes_one_branch(void **state)
{
	(void)state;
	for (int yes = 0; yes < 2; yes++) {
		struct aten_value out;
		char *body =
		    xasprintf("yes = self.yes\n        no = self.no\n"
			      "        c = torch.ops.higher_order.cond(%s, yes, no, (x,))\n        r = c[0]\n        return (r,)\n",
			      yes ? "True" : "False");
		if (run_with("x", body, branches, NULL, &out) < 0)
			fail_msg("%s", err.text);
		assert_true(element(&out.item[0], 0) == (yes ? 0 : 3));
		aten_value_release(&out);
		free(body);
	}
}

static const char forever[] = "\n    class go(torch.nn.Module):\n        def forward(self, a):\n"
			      "            t = _operator.eq(1, 1)\n            return (t,)\n"
			      "\n    class body(torch.nn.Module):\n        def forward(self, a):\n            return (a,)\n";

static void a_loop_without_end_ends(void **state)
{
	(void)state;
	struct aten_value out;
	const struct interp_options o = {.max_steps = 1000};
	assert_int_equal(run_with("x",
				  "go = self.go\n        body = self.body\n"
				  "        w = torch.ops.higher_order.while_loop(go, body, (x,), ())\n        return (w,)\n",
				  forever, &o, &out),
			 -1);
	assert_non_null(strstr(err.text, "endless: subgraphs were called 1000 times"));
}

/* Each value has 240000 bytes, and at most two of them live at a time. */
static void memory_is_bounded(void **state)
{
	(void)state;
	static const char body[] =
	    "a = torch.ops.aten.repeat.default(x, [100, 100])\n        b = torch.ops.aten.neg.default(a)\n"
	    "        c = torch.ops.aten.neg.default(b)\n        d = torch.ops.aten.neg.default(c)\n        return (d,)";
	struct aten_value out;
	struct interp_options o = {.max_bytes = 2 * 240000 + 4096};
	const uint64_t before = aten_live_bytes();
	if (run_with("x", body, "", &o, &out) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(aten_live_bytes(), before + 240000);
	aten_value_release(&out);
	o.max_bytes = 300000;
	assert_int_equal(run_with("x", body, "", &o, &out), -1);
	assert_non_null(strstr(err.text, "node 'b' (aten.neg.default): neg: cannot allocate 240000 bytes: with the "));
	assert_int_equal(aten_live_bytes(), before);
}

static bool count(void *user, uint32_t node, const struct aten_value *v, struct err *e)
{
	(void)node;
	(void)v;
	if (++*(int *)user < 3)
		return true;
	err_set(e, EXIT_USAGE, "enough");
	return false;
}

static void each_value_is_seen(void **state)
{
	(void)state;
	struct aten_value out;
	int seen = 0;
	const struct interp_options o = {.seen = count, .user = &seen};
	assert_int_equal(
	    run_with("x", "a = torch.ops.aten.t.default(x)\n        b = torch.ops.aten.t.default(a)\n        return (b,)", "", &o, &out),
	    -1);
	assert_int_equal(seen, 3);
	assert_string_equal(err.text, "enough");
}

static void in_double_precision(void **state)
{
	(void)state;
	struct aten_value out;
	const struct interp_options o = {.as_double = true};
	if (run_with("x",
		     "h = torch.ops.aten.to.dtype(x, torch.bfloat16)\n        i = torch.ops.aten.to.dtype(x, torch.int32)\n        return "
		     "(h, i)",
		     "", &o, &out) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(out.item[0].tensor->dtype, DTYPE_F64);
	assert_int_equal(out.item[1].tensor->dtype, DTYPE_I32);
	aten_value_release(&out);
	assert_int_equal(run_with("x", "h = torch.ops.aten.view.dtype(x, torch.int32)\n        return (h,)", "", &o, &out), -1);
	assert_non_null(strstr(err.text, "it reads the bits of a number"));
}

static void missing_operators_are_counted(void **state)
{
	(void)state;
	struct graph g;
	struct interp_missing m[1];
	read_graph(&g, "class R(torch.nn.Module):\n    def forward(self, x):\n        a = torch.ops.mine.one.default(x)\n"
		       "        b = torch.ops.mine.one.default(a)\n        c = torch.ops.mine.two.default(b)\n        return (c,)\n");
	assert_int_equal(interp_missing(&g, NULL, m, 1), 2);
	assert_int_equal(m[0].n, 2);
	assert_true(slice_is(m[0].op, "mine.one.default"));
	graph_release(&g);
}

static void shapes_without_values(void **state)
{
	(void)state;
	struct graph g;
	struct symbind env = {0};
	struct err why;
	read_graph(
	    &g, "class R(torch.nn.Module):\n    def forward(self, x: \"f32[4, 6]\"):\n        a = torch.ops.aten.view.default(x, [2, -1])\n"
		"        b = torch.ops.aten.split.Tensor(a, 5, 1)\n        c = b[2]\n        d = torch.ops.mine.one.default(c)\n"
		"        e = torch.ops.aten.t.default(d)\n        return (e,)\n");
	assert_int_equal(interp_shapes(&g, &env, &why), 3);
	assert_non_null(strstr(why.text, "node 'd'"));
	const struct gmeta *m = &g.meta[g.node[graph_find(&g, 0, SLICE("c"))].meta];
	assert_int_equal(m->n_dim, 2);
	assert_int_equal(g.dim[m->dim + 1].k, 2);
	assert_int_equal(g.dim[m->dim + 2].k, 12); /* its stride */
	assert_int_equal(g.node[graph_find(&g, 0, SLICE("e"))].meta, NONE);
	graph_release(&g);
	symbind_release(&env);
}

/* torch.vmap over the rows of x: an element-wise operator at once, a sum lane by lane. */
static void vmap_has_lanes(void **state)
{
	(void)state;
	struct aten_value out;
	const char *body = "a = torch._functorch.predispatch._add_batch_dim(x, 0, 1)\n"
			   "        b = torch.ops.aten.mul.Tensor(a, 2)\n"
			   "        c = torch.ops.aten.sum.default(b)\n"
			   "        d = torch.ops.aten.sub.Tensor(a, c)\n"
			   "        n = torch.ops.aten.sym_size.int(a, 0)\n"
			   "        e = torch._functorch.predispatch._remove_batch_dim(d, 1, 2, 1)\n"
			   "        f = torch._functorch.predispatch._remove_batch_dim(c, 1, 2, 0)\n"
			   "        return (e, f, n)";
	if (run_body(body, &out) < 0)
		fail_msg("%s", err.text);
	const struct aten_tensor *e = out.item[0].tensor, *f = out.item[1].tensor;
	assert_int_equal(e->n_dim, 2);
	assert_int_equal(e->size[0], 3);
	assert_int_equal(e->size[1], 2);
	float v[6];
	aten_convert(DTYPE_F32, v, 4, DTYPE_F32, aten_data(f), f->stride[0] * 4, 2);
	assert_true(v[0] == 6 && v[1] == 24);
	for (int64_t k = 0; k < 2; k++) /* lane k: x[k] - 2 * sum(x[k]) */
		for (int64_t i = 0; i < 3; i++) {
			float got;
			memcpy(&got, aten_data(e) + (i * e->stride[0] + k * e->stride[1]) * 4, sizeof(got));
			assert_true(got == (float)(3 * k + i) - (k ? 24 : 6));
		}
	assert_int_equal(out.item[2].i, 3);
	aten_value_release(&out);
	assert_int_equal(run_body("a = torch._functorch.predispatch._add_batch_dim(x, 2, 1)\n        return (a,)", &out), -1);
	assert_non_null(strstr(err.text, "out of range"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(numbers_are_pythons),
	    cmocka_unit_test(refusals_name_node_and_reason),
	    cmocka_unit_test(views_share_and_are_written_to),
	    cmocka_unit_test(cond_takes_one_branch),
	    cmocka_unit_test(a_loop_without_end_ends),
	    cmocka_unit_test(memory_is_bounded),
	    cmocka_unit_test(each_value_is_seen),
	    cmocka_unit_test(in_double_precision),
	    cmocka_unit_test(missing_operators_are_counted),
	    cmocka_unit_test(shapes_without_values),
	    cmocka_unit_test(vmap_has_lanes),
	};
	return RUN(tests);
}
