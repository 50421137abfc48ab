/* unroll: branches, loops and recurrent layers as nodes of the root give what the graph itself gives, under names that tell the turn. */
#include "../../lib/test.h"

#include "aten/interp/interp.h"
#include "aten/interp/unroll.h"
#include "graph/fxcode.h"

#include <math.h>

static struct err err;

struct given {
	const char *what, *head, *text;
	const char *name; /* a node that there is then */
	int64_t size[3];  /* of x */
};

#define CLASS "class Repro(torch.nn.Module):\n    def forward(self, x):\n        "
#define SUB(name, of) "\n    class " name "(torch.nn.Module):\n        def forward(self, " of "):\n            "
#define IS "            "

static const struct given graphs[] = {
    {"a branch",
     "yes = self.yes\n        no = self.no\n        c = torch.ops.higher_order.cond(True, yes, no, (x,))\n        r = c[0]\n"
     "        return (r,)\n",
     SUB("yes", "a") "b = torch.ops.aten.neg.default(a)\n" IS "return (b,)\n" SUB("no", "a") "return (a,)\n",
     "c.b",
     {2, 3, 4}},
    {"a loop",
     "go = self.go\n        body = self.body\n        w = torch.ops.higher_order.while_loop(go, body, (0, x), ())\n"
     "        i = w[0]\n        r = w[1]\n        s = torch.ops.aten.add.Tensor(r, i)\n        return (r, s)\n",
     SUB("go", "i, a") "t = _operator.lt(i, 3)\n" IS "return (t,)\n" SUB(
	 "body", "i, a") "j = _operator.add(i, 1)\n" IS "b = torch.ops.aten.add.Tensor(a, i)\n" IS "return (j, b)\n",
     "w.2.b",
     {2, 3, 4}},
    {"a loop that has no turn",
     "go = self.go\n        body = self.body\n        w = torch.ops.higher_order.while_loop(go, body, (x,), ())\n"
     "        r = w[0]\n        return (r,)\n",
     SUB("go", "a") "t = _operator.lt(4, 3)\n" IS "return (t,)\n" SUB("body", "a") "b = torch.ops.aten.neg.default(a)\n" IS "return (b,)\n",
     "w.0.t",
     {2, 3, 4}},
    {"a scan",
     "f = self.f\n        h = torch.ops.aten.select.int(x, 0, 0)\n"
     "        s = torch.ops.higher_order.scan(f, [h], [x], ())\n        a = s[0]\n        b = s[1]\n        return (a, b)\n",
     SUB("f", "h, y") "n = torch.ops.aten.add.Tensor(h, y)\n" IS "m = torch.ops.aten.neg.default(n)\n" IS "return (n, m)\n",
     "s.1.m",
     {2, 3, 4}},
    {"a map",
     "f = self.f\n        s = torch.ops.higher_order.map_impl(f, [x], [])\n        a = s[0]\n        return (a,)\n",
     SUB("f", "y") "m = torch.ops.aten.neg.default(y)\n" IS "return (m,)\n",
     "s.0.m",
     {3, 2, 2}},
    {"a loop in a branch",
     "yes = self.yes\n        no = self.no\n        c = torch.ops.higher_order.cond(True, yes, no, (x,))\n        r = c[0]\n        return "
     "(r,)\n",
     SUB("yes",
	 "a") "f = self.f\n" IS "s = torch.ops.higher_order.map_impl(f, [a], [])\n" IS "b = s[0]\n" IS "return (b,)\n"
	      "\n        class f(torch.nn.Module):\n            def forward(self, y):\n                m = torch.ops.aten.neg.default(y)\n"
	      "                return (m,)\n" SUB("no", "a") "return (a,)\n",
     "c.s.1.m",
     {2, 3, 4}},
    {"gru",
     "w = torch.ops.aten.full.default([12, 4], 0.25)\n        u = torch.ops.aten.full.default([12, 4], -0.5)\n"
     "        b = torch.ops.aten.full.default([12], 0.125)\n        h = torch.ops.aten.full.default([1, 3, 4], 0.5)\n"
     "        g = torch.ops.aten.gru.input(x, h, [w, u, b, b], True, 1, 0.0, False, False, False)\n        y = g[0]\n        z = g[1]\n"
     "        return (y, z)\n",
     "",
     "g.1.tanh",
     {2, 3, 4}},
    {"lstm, both ways, batch first",
     "w = torch.ops.aten.full.default([16, 4], 0.25)\n        u = torch.ops.aten.full.default([16, 4], -0.5)\n"
     "        h = torch.ops.aten.full.default([2, 2, 4], 0.5)\n"
     "        g = torch.ops.aten.lstm.input(x, [h, h], [w, u, u, w], False, 1, 0.0, False, True, True)\n        q = g[0]\n        z = "
     "g[2]\n"
     "        y = torch.ops.aten.reshape.default(q, [48])\n        return (y, z)\n",
     "",
     "g.l0d1.2.c",
     {2, 3, 4}},
};

static void same(const char *what, const struct aten_value *a, const struct aten_value *b)
{
	if (a->n != b->n)
		fail_msg("%s: %u outputs, not %u", what, b->n, a->n);
	for (uint32_t i = 0; i < a->n; i++) {
		const struct aten_tensor *x = a->item[i].tensor, *y = b->item[i].tensor;
		assert_int_equal(aten_numel(x), aten_numel(y));
		if (!aten_is_contiguous(x) || !aten_is_contiguous(y))
			fail_msg("%s: output %u is not contiguous", what, i);
		const float *p = (const float *)(const void *)aten_data(x), *q = (const float *)(const void *)aten_data(y);
		for (int64_t k = 0; k < aten_numel(x); k++)
			if (fabsf(p[k] - q[k]) > 1e-6f)
				fail_msg("%s: element %lld of output %u is %g, not %g", what, (long long)k, i, (double)q[k], (double)p[k]);
	}
}

static void run_one(const struct given *t)
{
	int64_t stride[] = {t->size[1] * t->size[2], t->size[2], 1};
	struct aten_value x = {.kind = ATEN_NONE}, want, got;
	struct graph g = {0};
	struct unrolled u;
	float data[24];
	struct buf text = {0};
	for (int i = 0; i < 24; i++)
		data[i] = (float)(i % 7) / 4 - 1;
	buf_addf(&text, CLASS "%s%s", t->head, t->text);
	if (fxcode_read(&g, buf_slice(&text), "t.py", &err) < 0)
		fail_msg("%s: %s", t->what, err.text);
	ATEN_TRY("test") { x = aten_of(aten_keep(aten_of_blob(data, DTYPE_F32, 3, t->size, stride, 0))); }
	assert_false(ATEN_END);
	if (interp_run(&g, &x, 1, NULL, &want, &err) < 0)
		fail_msg("%s: %s", t->what, err.text);
	if (unroll(&g, &x, 1, 0, NULL, &u) < 0)
		fail_msg("%s: is not unrolled", t->what);
	assert_int_equal(u.graph.n_modules, 1);
	if (graph_find(&u.graph, 0, slice_str(t->name)) == NONE)
		fail_msg("%s: there is no node %s", t->what, t->name);
	assert_int_equal(u.now[0], 0); /* x is where it was */
	if (interp_run(&u.graph, &x, 1, NULL, &got, &err) < 0)
		fail_msg("%s, unrolled: %s", t->what, err.text);
	same(t->what, &want, &got);
	aten_value_release(&want);
	aten_value_release(&got);
	unrolled_release(&u);
	aten_value_release(&x);
	graph_release(&g);
	buf_release(&text);
}

static void the_same_comes_of_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(graphs); i++)
		run_one(&graphs[i]);
}

static const struct given others[] = {
    {"nothing of the sort", "r = torch.ops.aten.neg.default(x)\n        return (r,)\n", "", "", {2, 3, 4}},
    {"too many iterations",
     "go = self.go\n        body = self.body\n        w = torch.ops.higher_order.while_loop(go, body, (0, x), ())\n"
     "        r = w[1]\n        return (r,)\n",
     SUB("go", "i, a") "t = _operator.lt(i, 20000)\n" IS "return (t,)\n" SUB("body", "i, a") "j = _operator.add(i, 1)\n" IS
											     "return (j, a)\n",
     "",
     {2, 3, 4}},
    {"a subgraph with two users",
     "f = self.f\n        s = torch.ops.higher_order.map_impl(f, [x], [])\n"
     "        t = torch.ops.higher_order.map_impl(f, [x], [])\n        a = s[0]\n        return (a,)\n",
     SUB("f", "y") "m = torch.ops.aten.neg.default(y)\n" IS "return (m,)\n",
     "",
     {3, 2, 2}},
    {"gru whose operands are not all there", "g = torch.ops.aten.gru.input(x, x, [x], True)\n        return (x,)\n", "", "", {2, 3, 4}},
};

static void what_cannot_be_told_stays(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		const struct given *t = &others[i];
		int64_t stride[] = {t->size[1] * t->size[2], t->size[2], 1};
		float data[24] = {0};
		struct aten_value x = {.kind = ATEN_NONE};
		struct graph g = {0};
		struct unrolled u;
		struct buf text = {0};
		buf_addf(&text, CLASS "%s%s", t->head, t->text);
		if (fxcode_read(&g, buf_slice(&text), "t.py", &err) < 0)
			fail_msg("%s: %s", t->what, err.text);
		ATEN_TRY("test") { x = aten_of(aten_keep(aten_of_blob(data, DTYPE_F32, 3, t->size, stride, 0))); }
		assert_false(ATEN_END);
		if (unroll(&g, &x, 1, 0, NULL, &u) == 0)
			fail_msg("%s: is unrolled", t->what);
		assert_null(u.now);
		assert_int_equal(u.graph.n_nodes, 0);
		aten_value_release(&x);
		graph_release(&g);
		buf_release(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_same_comes_of_it),
	    cmocka_unit_test(what_cannot_be_told_stays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
