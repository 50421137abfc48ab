/* graph/fxcode: what torch.fx writes, and what a person writes; errors; every graph of the recorded logs there and
 * back.
 *
 *     test_fxcode DIR     reads each file of DIR and writes FILE.run and FILE.read beside it
 * (tests/live/graph_roundtrip.py)
 */
#include <dirent.h>

#include "graph/fxcode.h"
#include "graph/graph_forms.h"
#include "../../lib/graph_same.h"
#include "../../lib/test.h"

static struct guard guard;
static struct err err;

static int read_graph(struct graph *g, const char *text)
{
	size_t n = strlen(text);
	*g = (struct graph){0};
	return fxcode_read(g, slice_of(guard_put(&guard, text, n), n), "t.py", &err);
}

static void must_read(struct graph *g, const char *text)
{
	if (read_graph(g, text) < 0)
		fail_msg("%s\n%s", err.text, text);
}

/* Written in a form, read, and written again: the same graph and the same text. */
static void there_and_back(const struct graph *g, enum fxcode_form form, struct buf *out)
{
	struct graph again;
	struct buf second = {0}, why = {0};
	buf_reset(out);
	fxcode_write(g, form, out);
	must_read(&again, buf_str(out));
	if ((form == FXCODE_RUNNABLE || !g->n_attrs) && !graph_same(g, &again, &why))
		fail_msg("%s\n%s", buf_str(&why), buf_str(out));
	fxcode_write(&again, form, &second);
	assert_string_equal(buf_str(&second), buf_str(out));
	graph_release(&again);
	buf_release(&second);
	buf_release(&why);
}

/* The forward() of the root as written, without the indentation of its class. */
static void forward_of(const char *text, struct buf *out)
{
	const char *p = strstr(text, "\n    def forward(");
	struct slice rest = slice_str(p ? p + 1 : text), line;
	buf_reset(out);
	while (slice_line(&rest, &line)) {
		if (line.n > 4)
			buf_add(out, line.p + 4, line.n - 4);
		buf_addc(out, '\n');
	}
}

static const struct {
	const char *text, *want; /* statements of forward(self, x, y); want NULL: the same */
} bodies[] = {
    /* As torch writes them. */
    {"a = torch.ops.aten.add.Tensor(x, y);  x = y = None\nreturn (a,)\n", NULL},
    {"a = torch.ops.aten.var_mean.correction(x, [1], correction = 0, keepdim = True);  x = None\nb = a[0];  a = "
     "None\nreturn (b, y)\n",
     NULL},
    {"a = x + y\nb = a - 1;  a = None\nc = 2 ** b;  b = None\nd = -c\ne = ~d;  d = None\nf = c == e;  c = e = "
     "None\nreturn f\n",
     "a = x + y;  x = y = None\nb = a - 1;  a = None\nc = 2 ** b;  b = None\nd = -c\ne = ~d;  d = None\nf = c == e;  c "
     "= e = None\n"
     "return f\n"},
    {"a = x @ y;  x = y = None\nb = a // 2\nc = a % 3\nd = a << b;  b = None\ne = d >> c;  d = c = None\nf = e & a;  e "
     "= None\n"
     "g = f | a;  f = None\nh = g ^ a;  g = a = None\nreturn [h]\n",
     NULL},
    {"x += y;  a = x;  x = y = None\na[(slice(None, None, None), 0)] = 1.5;  b = a;  b = None\nreturn {'k': a, 'l': "
     "[None, ()]}\n",
     NULL},
    {"a = x.shape;  x = None\nb = a[(Ellipsis, slice(None, 2, None), None)];  a = None\nc = y.view(-1, 2);  y = "
     "None\nreturn (b, c)\n",
     NULL},
    {"w = self.layers.fc.weight\na = self.layers.fc(x, bias = w);  x = w = None\nb = getattr(self.layers, '0');  b = "
     "None\n"
     "c = getattr(self.layers, '0')(y);  y = None\nreturn (a, c)\n",
     NULL},
    {"a = torch.full([2], -inf, dtype = torch.float32, layout = torch.strided, device = device(type='cuda', index=1), "
     "z = nan)\n"
     "return (inf, -1e-05, 1e+22, 123456789012345.6, -0.0, 5e-324, 1.7976931348623157e+308, (1+2j), -1j, (nan+infj), "
     "-9223372036854775808)\n",
     "a = torch.full([2], -inf, dtype = torch.float32, layout = torch.strided, device = device(type='cuda', index=1), "
     "z = nan);  a = None\n"
     "return (inf, -1e-05, 1e+22, 123456789012345.6, -0.0, 5e-324, 1.7976931348623157e+308, (1+2j), complex(0.0, "
     "-1.0), complex(nan, inf), "
     "-9223372036854775808)\n"},
    {"return ('it\\'s \"q\"', \"it's\", 'tab\\t', 'nul\\x00', 'b\\\\s', '\xc3\xa9', b'\\x00\"', 98765432109876543210, "
     "-98765432109876543210)\n",
     NULL},
    {"a = torch.ops.higher_order.triton_kernel_wrapper_functional(kernel_idx = 0, grid = [(y, 1, 1)], kwargs = {'in': "
     "x, 3: [y]}, "
     "tensors_to_clone = ['in']);  y = x = None\nreturn a\n",
     NULL},
    {"a = torch.ops.higher_order.auto_functionalized_v2(torch.ops.mylib.f.default, _x_base_index = 0, _all_bases = "
     "[x]);  x = None\nreturn (a,)\n",
     NULL},
    {"_check = torch._check(x);  x = _check = None\nreturn (None, (), [], {}, True, False)\n", NULL},
    {"a = torch.sym_sum((x, y, 1));  y = None\nb = getattr(x, 'grad', None);  x = None\nreturn (a, b)\n", NULL},
    {"a = torch_my_library_fn(x, [((None, None, device(type='cpu'), 6, 0, None), [], False, 6)]);  x = None\nreturn "
     "a\n",
     NULL},
    {"a = _operator.truth(x)\nb = math.floor(x);  x = None\nreturn (a, b)\n", NULL},
    {"a = _operator_truth(x)\nb = math_floor(x);  x = None\nreturn (a, b)\n",
     "a = _operator.truth(x)\nb = math.floor(x);  x = None\nreturn (a, b)\n"},
    {"a = getattr(torch.ops.aten.random, 'from')(x, **{'from': 1});  x = None\nreturn (a,)\n", NULL},
    {"a = torch.ops.aten.random.from(x, from = 1)\nreturn (a,)\n",
     "a = getattr(torch.ops.aten.random, 'from')(x, **{'from': 1});  x = None\nreturn (a,)\n"},
    {"a = (-1) ** x;  x = None\nreturn a\n", NULL},
    {"a = f(x, torch.Size([2]), torch.finfo(torch.float32).min, Foo(1, k=(2,)), {1, 2}, s0, (2 * s0), MyEnum.A);  x = "
     "None\nreturn a\n",
     NULL},
    {"a = f(x, <function g at 0x7f00>, [<a.B object>]);  x = None\nreturn a\n", NULL},
    {"a = self.layers.0.fc(x, self.layers.0.w)\nreturn a\n",
     "layers_0_w = getattr(self.layers, '0').w\na = getattr(self.layers, '0').fc(x, layers_0_w);  x = layers_0_w = "
     "None\nreturn a\n"},
    /* A person's ways. */
    {"return torch.relu(x + y * 2).sum(dim=-1)\n",
     "mul = y * 2;  y = None\nadd = x + mul;  x = mul = None\nrelu = torch.relu(add);  add = None\nsum_1 = "
     "relu.sum(dim = -1);  relu = None\n"
     "return sum_1\n"},
    {"x = torch.relu(x)\nx = torch.relu(x)\nreturn x\n",
     "x_1 = torch.relu(x);  x = None\nx_2 = torch.relu(x_1);  x_1 = None\nreturn x_2\n"},
    {"a, b = torch.split(x, 2)\nreturn b, a\n",
     "split = torch.split(x, 2);  x = None\na = split[0]\nb = split[1];  split = None\nreturn (b, a)\n"},
    {"a, b = (x, [y])\nx += a\nreturn a, b, x\n", "a = x\na += a;  x_1 = a\nreturn (a, [y], x_1)\n"},
    {"n = 3\ns = (n, 2*n)\nmask = None\na = x.view(s, mask, -n, 2 ** -2)\nreturn a\n",
     "a = x.view((3, 6), None, -3, (2 ** -2));  x = None\nreturn a\n"},
    {"a = -x ** 2 + (x + y) * y\nreturn a\n", "pow_1 = x ** 2\nneg = -pow_1;  pow_1 = None\nadd = x + y;  x = "
					      "None\nmul = add * y;  add = y = None\na = neg + mul;  neg = mul = None\n"
					      "return a\n"},
    {"a = x[:, 1:y, ..., None, ::2, -1:]\nb = x[1:][0]\nreturn (a, b)\n",
     "a = x[(slice(None, None, None), slice(1, y, None), Ellipsis, None, slice(None, None, 2), slice(-1, None, "
     "None))];  y = None\n"
     "getitem = x[slice(1, None, None)];  x = None\nb = getitem[0];  getitem = None\nreturn (a, b)\n"},
    {"x[0] = y\ny.add_(1)\ndel x\nreturn y\n", "x[0] = y;  setitem = x;  x = setitem = None\nadd_ = y.add_(1);  add_ = None\nreturn y\n"},
    {"d = torch.device('cuda:0')\na = x.to(torch.device('cuda', 0), float('nan'), complex(1, -2), device('cpu'), "
     "torch.inf)\nreturn a\n",
     "d = torch.device('cuda:0');  d = None\na = x.to(device(type='cuda', index=0), nan, (1-2j), device(type='cpu'), "
     "inf);  x = None\nreturn a\n"},
    {"a = f('a' \"b\" r'\\n', '''x\ny''', f'k', u'u', 0x10, 0b11, 0o17, 1_000, 1e3, .5, 5.)\nreturn a\n",
     "a = f('ab\\\\n', 'x\\n    y', 'k', 'u', 16, 3, 15, 1000, 1000.0, 0.5, 5.0)\nreturn a\n"},
    {"# a comment\nif_ = x\n\n   \n# another\nreturn (if_  # why\n  , y)\n", "if_ = x\nreturn (if_, y)\n"},
    {"'''A docstring.'''\npass\na = x\nb = a\nreturn b\n", "a = x\nreturn a\n"},
    {"a = not x; return (a)\n", "a = not x;  x = None\nreturn a\n"},
    {"a = x.shape[0] + x.size(0)\nreturn a\n", "getattr_1 = x.shape\ngetitem = getattr_1[0];  getattr_1 = None\nsize = "
					       "x.size(0);  x = None\na = getitem + size;  getitem = size = None\n"
					       "return a\n"},
    {"a = relu(relu(x).relu()) + relu(y)\nreturn a\n",
     "relu_4 = relu(x);  x = None\nrelu_1 = relu_4.relu();  relu_4 = None\nrelu_2 = relu(relu_1);  relu_1 = None\n"
     "relu_3 = relu(y);  y = None\na = relu_2 + relu_3;  relu_2 = relu_3 = None\nreturn a\n"},
    {"a = x(y)\nreturn a\n", "a = x.__call__(y);  x = y = None\nreturn a\n"},
    {"_rf = torch._C._profiler._RecordFunctionFast('## 1 ##'); _rf.__enter__()\na = torch.relu(x);  x = "
     "None\n_rf.__exit__(None, None, None)\nreturn a\n",
     "a = torch.relu(x);  x = None\nreturn a\n"},
};

static void def(struct buf *b, const char *body)
{
	struct slice rest = slice_str(body), line;
	buf_reset(b);
	buf_adds(b, "def forward(self, x, y):\n");
	while (slice_line(&rest, &line))
		buf_addf(b, "    %.*s\n", SL(line));
}

static void test_bodies(void **state)
{
	(void)state;
	struct buf in = {0}, out = {0}, got = {0};
	for (unsigned i = 0; i < ARRAY_LEN(bodies); i++) {
		struct graph g;
		def(&in, bodies[i].text);
		must_read(&g, buf_str(&in));
		there_and_back(&g, FXCODE_READABLE, &out);
		there_and_back(&g, FXCODE_RUNNABLE, &out);
		forward_of(buf_str(&out), &got);
		def(&in, bodies[i].want ? bodies[i].want : bodies[i].text);
		assert_string_equal(buf_str(&got), buf_str(&in));
		graph_release(&g);
	}
	buf_release(&in);
	buf_release(&out);
	buf_release(&got);
}

/* Whole texts: what is written in the readable form, without "# No stacktrace" lines. */
static const struct {
	const char *text, *want;
} texts[] = {
    {"class <lambda>(torch.nn.Module):\n"
     "    def forward(self, arg0_1: \"f32[s77, 8][8, 1]cpu\", arg1_1: \"Sym(s77)\", w: \"Parameter(f32[8]cuda:1)\", t "
     ": torch.Tensor, d: \"DTensor(f32[4], "
     "S(0))\"):\n"
     "        # File: model.py:3 in forward, code: return x.relu()\n"
     "        relu: \"f32[s77, 8][8, 1]cpu\" = torch.ops.aten.relu.default(arg0_1);  arg0_1 = None\n"
     "        mul: \"Sym(2*s77)\" = 2 * arg1_1;  arg1_1 = None\n"
     "\n"
     "        # Annotation: {'a': 1} File: model.py:4 in forward, code: b\n"
     "        empty: \"b8[]\" = f();  empty = None\n"
     "        odd: \"NestedTensor(x)\" = f();  odd = None\n"
     "        return (relu, mul, w, t, d)\n"
     "\n",
     NULL},
    {"class GraphModule(torch.nn.Module):\n"
     "    def forward(self, L_x_: \"f32[4][1]cpu\", *rest, k = 1):\n"
     "        l_x_ = L_x_\n"
     "\n"
     "        # File: a.py:1 in <module>, code: y\n"
     "        true_graph_0 = self.true_graph_0\n"
     "        cond = torch.ops.higher_order.cond(rest, true_graph_0, (l_x_,));  rest = true_graph_0 = l_x_ = None\n"
     "        return (cond, k)\n"
     "\n"
     "    class true_graph_0(torch.nn.Module):\n"
     "        def forward(self, l_x_: \"f32[4][1]cpu\"):\n"
     "            l_x__1 = l_x_\n"
     "            return l_x__1\n"
     "\n"
     "        class deep(torch.nn.Module):\n"
     "            def forward(self):\n"
     "                return ()\n"
     "\n"
     "    class b(torch.nn.Module):\n"
     "        def forward(self) -> \"None\":\n"
     "            return None\n"
     "\n",
     NULL},
    {"class GraphModule(torch.nn.Module):\n"
     "    def forward(self, input, torch_):\n"
     "        input_1 = input\n"
     "        return (input_1, torch_)\n\n",
     NULL},
    /* torch.export: names by pytree, a table of annotations, outputs put together again. */
    {"class inner_f(torch.nn.Module):\n"
     "    def forward(\n        self,\n        primals,\n        tangents,\n    ):\n"
     "        primals_1: \"f32[2][1]cpu\"  # PlainAOTInput(idx=0)\n"
     "        tangents_1: \"f32[2][1]cpu\"; \n"
     "        primals_1, tangents_1, = fx_pytree.tree_flatten_spec([primals, tangents], self._in_spec)\n"
     "        # File: a.py:1 in f, code: y\n"
     "        mul: \"f32[2]\" = torch.ops.aten.mul.Tensor(primals_1, tangents_1);  primals_1 = tangents_1 = None\n"
     "        return pytree.tree_unflatten([\n            mul,  # GradAOTOutput(grad_of=PlainAOTInput(idx=0))\n        "
     "], self._out_spec)\n",
     "class inner_f(torch.nn.Module):\n"
     "    def forward(self, primals_1: \"f32[2][1]cpu\", tangents_1: \"f32[2][1]cpu\"):\n"
     "        # File: a.py:1 in f, code: y\n"
     "        mul: \"f32[2]\" = torch.ops.aten.mul.Tensor(primals_1, tangents_1);  primals_1 = tangents_1 = None\n"
     "        return [mul]\n\n"},
    {"def forward(self, x, k):\n"
     "    a, b, = pytree.tree_leaves((self, x, k,))\n"
     "    c, = self._in_shuffle_graph(a, b)\n"
     "    # File: a.py:1 in f, code: y\n"
     "    relu = torch.ops.aten.relu.default(c);  c = None\n"
     "    return pytree.tree_unflatten(self._out_shuffle_graph(a, b, relu), self._out_spec)\n",
     "class GraphModule(torch.nn.Module):\n"
     "    def forward(self, c):\n"
     "        # File: a.py:1 in f, code: y\n"
     "        relu = torch.ops.aten.relu.default(c);  c = None\n"
     "        return (relu,)\n\n"},
    {"def forward(self, args_list):\n"
     "    args_iter = iter(args_list)\n"
     "    a = next(args_iter)\n"
     "    b = next(args_iter)\n"
     "    args_list.clear()\n"
     "    return (b, a)\n",
     "class GraphModule(torch.nn.Module):\n    def forward(self, a, b):\n        return (b, a)\n\n"},
    /* torch 2.15 writes subgraphs as classes before the one that makes them, the inner ones first; one may be made twice. */
    {"class inner_0_0(torch.nn.Module):\n"
     "    def __init__(self) -> None:\n        super().__init__()\n\n"
     "    def forward(self, a):\n        sin = torch.ops.aten.sin.default(a);  a = None\n        return (sin,)\n\n\n"
     "class true_graph_0_1(torch.nn.Module):\n"
     "    def __init__(self) -> None:\n        super().__init__()\n        self.inner_0 = inner_0_0()\n"
     "        self.inner_1 = inner_0_0()\n\n"
     "    def forward(self, a):\n        inner_0 = self.inner_0\n        inner_1 = self.inner_1\n"
     "        cond = torch.ops.higher_order.cond(True, inner_0, inner_1, (a,));  inner_0 = inner_1 = a = None\n"
     "        return (cond,)\n\n"
     "class Repro(torch.nn.Module):\n"
     "    def __init__(self) -> None:\n        super().__init__()\n        self.true_graph_0 = true_graph_0_1()\n\n"
     "    def forward(self, x):\n        true_graph_0 = self.true_graph_0\n        return (x, true_graph_0)\n"
     "class Unmade(torch.nn.Module):\n    def forward(self, y): return y\n",
     "class Repro(torch.nn.Module):\n"
     "    def forward(self, x):\n"
     "        # No stacktrace found for following nodes\n"
     "        true_graph_0 = self.true_graph_0\n"
     "        return (x, true_graph_0)\n\n"
     "    class true_graph_0(torch.nn.Module):\n"
     "        def forward(self, a):\n"
     "            # No stacktrace found for following nodes\n"
     "            inner_0 = self.inner_0\n"
     "            inner_1 = self.inner_1\n"
     "            cond = torch.ops.higher_order.cond(True, inner_0, inner_1, (a,));  inner_0 = inner_1 = a = None\n"
     "            return (cond,)\n\n"
     "        class inner_0(torch.nn.Module):\n"
     "            def forward(self, a):\n"
     "                # No stacktrace found for following nodes\n"
     "                sin = torch.ops.aten.sin.default(a);  a = None\n"
     "                return (sin,)\n\n"
     "        class inner_1(torch.nn.Module):\n"
     "            def forward(self, a):\n"
     "                # No stacktrace found for following nodes\n"
     "                sin = torch.ops.aten.sin.default(a);  a = None\n"
     "                return (sin,)\n\n"},
    /* A class that makes the one it stands in, and two that make each other: neither is a subgraph of a later one. */
    {"class A(torch.nn.Module):\n"
     "    class B(torch.nn.Module):\n        def __init__(self):\n            self.a = A()\n            self.c = C()\n"
     "        def forward(self, x): return x\n"
     "    def __init__(self):\n        self.b = B()\n"
     "    def forward(self, x): return (x,)\n"
     "class C(torch.nn.Module):\n    def __init__(self):\n        self.c = C()\n    def forward(self, x): return x\n",
     "class A(torch.nn.Module):\n    def forward(self, x):\n        return (x,)\n\n"
     "    class b(torch.nn.Module):\n        def forward(self, x):\n            return x\n\n"},
    /* Logs, colours, other line ends, tabs. */
    {"V1121 10:00:00.000000 12 torch/_dynamo/output_graph.py:1] [0/0] [__graph_code] TRACED GRAPH\n"
     "V1121 10:00:00.000000 12 torch/_dynamo/output_graph.py:1] [0/0] [__graph_code]  ===== g =====\n"
     "V1121 10:00:00.000000 12 torch/_dynamo/output_graph.py:1] [0/0] [__graph_code]  /x/fx.py class "
     "GraphModule(torch.nn.Module):\n"
     "V1121 10:00:00.000000 12 torch/_dynamo/output_graph.py:1] [0/0] [__graph_code]     def forward(self, x: "
     "\"\33[31mf32\33[0m\33[34m[2]\33[0m\"):\n"
     "V1121 10:00:00.000000 12 torch/_dynamo/output_graph.py:1] [0/0] [__graph_code]         return (x,)\n"
     "V1121 10:00:00.000000 12 torch/_dynamo/output_graph.py:1] [0/0] [__graph_code]         \n",
     "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[2]\"):\n        return (x,)\n\n"},
    {"import torch\r\nclass A:\r\n  x = 1\r\nclass R(torch.nn.Module):\r\n\t@decorated\r\n\tdef forward(self, "
     "x):\r\n\t\ty = torch.relu(\r\n(x)\r\n)\r\n\t\treturn y\r\n",
     "class R(torch.nn.Module):\n    def forward(self, x):\n        # No stacktrace found for following nodes\n        "
     "y = torch.relu(x);  x = None\n        return y\n\n"},
    {"def forward(self, x: (int) = 3, y: [int, 'a'] = [4], z: dict[str, int] = {1: 2}) -> (int, str): return x\n",
     "class GraphModule(torch.nn.Module):\n    def forward(self, x : (int) = 3, y : [int, 'a'] = [4], z : dict[str, "
     "int] = {1: 2}) -> (int, str):\n"
     "        return x\n\n"},
    {"def forward(self, x): return x.sin()\n",
     "class GraphModule(torch.nn.Module):\n    def forward(self, x):\n        # No stacktrace found for following "
     "nodes\n        sin = x.sin();  x = None\n        return sin\n\n"},
    {"def forward(self, x):\n    y = x.sin()\n",
     "class GraphModule(torch.nn.Module):\n    def forward(self, x):\n        # No stacktrace found for following "
     "nodes\n        y = x.sin();  x = y = None\n        return None\n\n"},
};

static void test_texts(void **state)
{
	(void)state;
	struct buf out = {0};
	for (unsigned i = 0; i < ARRAY_LEN(texts); i++) {
		struct graph g;
		must_read(&g, texts[i].text);
		there_and_back(&g, FXCODE_RUNNABLE, &out);
		there_and_back(&g, FXCODE_READABLE, &out);
		assert_string_equal(buf_str(&out), texts[i].want ? texts[i].want : texts[i].text);
		graph_release(&g);
	}
	buf_release(&out);
}

static void test_metadata(void **state)
{
	(void)state;
	struct graph g;
	must_read(&g, texts[0].text);
	const struct gnode *n = g.node;
	const struct gmeta *m = &g.meta[n[0].meta];
	assert_int_equal(m->kind, GMETA_TENSOR);
	assert_int_equal(m->dtype, DTYPE_F32);
	assert_int_equal(m->n_dim, 2);
	assert_true(m->has_stride);
	assert_text(graph_text(&g, m->device), "cpu");
	assert_true(symsize_eq(g.dim[m->dim], symsize_symbol(&g.tab, SLICE("s77"))));
	assert_int_equal(g.dim[m->dim + 2].k, 8);
	assert_int_equal(g.meta[n[1].meta].kind, GMETA_SYM);
	m = &g.meta[n[2].meta];
	assert_true(m->is_param);
	assert_false(m->has_stride);
	assert_text(graph_text(&g, m->device), "cuda:1");
	assert_int_equal(n[3].meta, NONE);
	assert_text(graph_text(&g, n[3].type), "torch.Tensor");
	assert_text(graph_text(&g, g.meta[n[4].meta].subclass), "DTensor(S(0))");
	assert_text(graph_text(&g, n[5].stack), "model.py:3 in forward, code: return x.relu()");
	assert_int_equal(n[5].line, 4);
	assert_int_not_equal(n[0].meta, n[5].meta); /* each its own, though the text is one */
	assert_int_not_equal(g.meta[n[0].meta].dim, g.meta[n[5].meta].dim);
	assert_int_equal(n[7].meta == NONE ? 0 : g.meta[n[7].meta].n_dim, 0);
	graph_release(&g);
}

static const char with_init[] = "s77 = 6\n"
				"def load_args(reader): pass\n"
				"from torch.nn import *\n"
				"class Repro(torch.nn.Module):\n"
				"    def __init__(self) -> None:\n"
				"        super().__init__()\n"
				"        self.fc = Linear(in_features=2, out_features=2, bias=True)\n"
				"        self.seq = Sequential(\n"
				"  (0): Linear(in_features=2)\n"
				").cuda()\n"
				"        class a_class(torch.nn.Module):\n"
				"            def __init__(self):\n"
				"                super().__init__()\n"
				"                self.register_buffer('b', tensor([1,\n2]))\n"
				"            def forward(self, x): return self.b + x\n"
				"        self.a = a_class()\n"
				"        self.register_buffer('_tensor_constant0', tensor(1))\n"
				"        self.w = torch.nn.Parameter(torch.randn([2, 2], dtype=torch.float32), requires_grad=False)\n"
				"        self.x = [1, '(']\n"
				"        setattr(self, '0', torch.ones(2))\n"
				"        self.lay = torch.nn.Module()\n"
				"        self.lay.deep = torch.nn.Module()\n"
				"        self.get_submodule('lay.deep').register_buffer('0', torch.ones(1))\n"
				"        self.lay.w = torch.zeros(1)\n"
				"    def forward(self, x):\n"
				"        y = self.fc(x)\n"
				"        z = self.w.sum() + self.a(y)\n"
				"        return z\n"
				"class Repro2(torch.nn.Module):\n"
				"    def forward(self, y): return y\n";

static void test_init(void **state)
{
	(void)state;
	static const struct {
		const char *name, *expr;
		enum gattr_kind kind;
	} want[] = {{"fc", "Linear(in_features=2, out_features=2, bias=True)", GATTR_MODULE},
		    {"seq", "Sequential(\n  (0): Linear(in_features=2)\n).cuda()", GATTR_MODULE},
		    {"_tensor_constant0", "tensor(1)", GATTR_BUFFER},
		    {"w", "torch.randn([2, 2], dtype=torch.float32), requires_grad=False", GATTR_PARAMETER},
		    {"x", "[1, '(']", GATTR_OTHER},
		    {"0", "torch.ones(2)", GATTR_OTHER},
		    {"lay.deep.0", "torch.ones(1)", GATTR_BUFFER},
		    {"lay.w", "torch.zeros(1)", GATTR_OTHER},
		    {"b", "tensor([1,\n2])", GATTR_BUFFER}};
	struct graph g;
	struct buf out = {0};
	must_read(&g, with_init);
	assert_int_equal(g.n_attrs, ARRAY_LEN(want));
	for (unsigned i = 0; i < ARRAY_LEN(want); i++) {
		assert_text(graph_text(&g, g.attr[i].name), want[i].name);
		assert_text(graph_text(&g, g.attr[i].expr), want[i].expr);
		assert_int_equal(g.attr[i].kind, want[i].kind);
	}
	assert_int_equal(g.n_modules, 2);
	assert_int_equal(graph_child(&g, 0, SLICE("a")), 1);
	assert_text(graph_text(&g, g.module[0].class_name), "Repro");
	assert_int_equal(g.node[1].op, GRAPH_CALL_MODULE);
	assert_int_equal(g.node[2].op, GRAPH_GET_ATTR);
	assert_int_equal(g.node[3].op, GRAPH_CALL_METHOD);
	there_and_back(&g, FXCODE_RUNNABLE, &out);
	graph_release(&g);
	buf_release(&out);
}

/* What is refused, and where. */
static const struct {
	const char *text, *why;
} bad[] = {
    {"", "t.py: no graph found: neither a class with a forward() nor a standalone def forward()"},
    {"class A:\n    pass\nx = 1\n", "t.py: no graph found: neither a class with a forward() nor a standalone def forward()"},
    {"class A:\n  x = (\n  def forward(self): pass\n", "t.py:2:7: this bracket or string is never closed, and no forward() was found"},
    {"def forward(self, x):\n    y = map(lambda a: a, x)\n", "t.py:2:13: a lambda is not allowed in a graph"},
    {"def forward(self, x):\n    y = [a for a in x]\n", "t.py:2:10: 'a' is not defined"},
    {"def forward(self, x):\n    y = [x for a in x]\n", "t.py:2:12: 'for' is not allowed in a graph"},
    {"def forward(self, x):\n    y = x if x else x\n", "t.py:2:11: 'if' is not allowed in a graph"},
    {"def forward(self, x):\n    if x:\n        return x\n", "t.py:2:5: 'if' is not allowed in a graph"},
    {"def forward(self, x):\n    with torch.no_grad():\n        return x\n", "t.py:2:5: 'with' is not allowed in a graph"},
    {"def forward(self, x):\n    a = 0 < x < 3\n", "t.py:2:15: a chained comparison is not allowed in a graph"},
    {"def forward(self, x):\n    a = f'{x}'\n", "t.py:2:9: an f-string with values is not allowed in a graph"},
    {"def forward(self, x):\n    a = f(*x)\n", "t.py:2:11: a starred argument is not allowed in a graph"},
    {"def forward(self, x):\n    a = f(**x)\n", "t.py:2:10: a starred argument is not allowed in a graph"},
    {"def forward(self, x):\n    a = (x\n", "t.py:2:9: this bracket is never closed"},
    {"def forward(self, x):\n    a = f(x]\n", "t.py:2:12: expected another closing bracket, found ']'"},
    {"def forward(self, x):\n    a = x +\n", "t.py:2:12: expected a value, but the line ends"},
    {"def forward(self, x):\n    a = 'x\n", "t.py:2:9: unterminated string"},
    {"def forward(self, x):\n    a = x y\n", "t.py:2:11: 'y' is not allowed in a graph"},
    {"def forward(self, x):\n    a = x $ 1\n", "t.py:2:11: expected the end of the line, found '$'"},
    {"def forward(self, x):\n    a = b + x\n    b = x.sin()\n", "t.py:2:9: 'b' is used before its definition in line 3"},
    {"def forward(self, x):\n    a = b.sin()\n    b = x.sin()\n", "t.py:3:5: 'b' is defined here, but line 2 uses it"},
    {"def forward(self, x):\n    a = x.sin();  x = None\n    return x\n", "t.py:3:12: 'x' was freed in line 2 (x = None)"},
    {"def forward(self, x):\n    a, b = (x,)\n", "t.py:2:5: 2 names for 1 values"},
    {"def forward(self, x):\n    a, b = 3\n", "t.py:2:5: this value cannot be unpacked"},
    {"def forward(self, x):\n    a = 3(x)\n", "t.py:2:10: this is called, but is not a function"},
    {"def forward(self, x):\n    a = self\n", "t.py:2:9: self is not a value in a graph"},
    {"def forward(self, x):\n    self.a = x\n", "t.py:2:5: cannot assign to this in a graph"},
    {"def forward(self, x):\n    x[0] += 1\n", "t.py:2:10: '+=' on an element is not allowed in a graph"},
    {"def forward(self, x):\n    a = {x}\n", "t.py:2:9: a set of tensors is not allowed in a graph"},
    {"def forward(self, x):\n    a = {1: 2, 3}\n", "t.py:2:9: missing value for a dict key"},
    {"def forward(self, x):\n    a = x\n      b = x\n", "t.py:3:7: the line is not indented like the previous ones"},
    {"def forward(self, x, x):\n    return x\n", "t.py:1:22: duplicate parameter 'x'"},
    {"def forward(self, x", "t.py:1:20: expected a comma or the end of the parameters, but the line ends"},
    {"def forward(self, x)\n    return x\n", "t.py:1:21: expected a colon, but the line ends"},
    {"def forward(self, 3):\n    return x\n", "t.py:1:19: expected a parameter, found '3'"},
};

static void test_errors(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ARRAY_LEN(bad); i++) {
		struct graph g;
		assert_int_equal(read_graph(&g, bad[i].text), -1);
		assert_int_equal(err.status, EXIT_INPUT);
		assert_string_equal(err.text, bad[i].why);
		assert_null(g.node);
	}
}

/* Every beginning of a text is read or refused. */
static void test_cut_short(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ARRAY_LEN(texts); i++)
		for (size_t n = strlen(texts[i].text); n-- > 0;) {
			struct graph g = {0};
			if (fxcode_read(&g, slice_of(guard_put(&guard, texts[i].text, n), n), "t.py", &err) == 0)
				graph_release(&g);
		}
}

/* Many brackets, operators and statements that grow: bounded. */
static void test_bounds(void **state)
{
	(void)state;
	static const char *const units[] = {"(", "[", "-", "f(", "x[", "{1:", "x+(", "not ", "x**"};
	struct buf b = {0};
	struct graph g;
	for (unsigned i = 0; i < ARRAY_LEN(units); i++) {
		buf_reset(&b);
		buf_adds(&b, "def forward(self, x):\n    a = ");
		for (int k = 0; k < 100000; k++)
			buf_adds(&b, units[i]);
		assert_int_equal(read_graph(&g, buf_str(&b)), -1);
	}
	buf_reset(&b);
	buf_adds(&b, "def forward(self, x):\n    a0 = [x, x]\n");
	for (int k = 0; k < 100; k++)
		buf_addf(&b, "    a%d = [a%d, a%d]\n", k + 1, k, k);
	assert_int_equal(read_graph(&g, buf_str(&b)), -1);
	assert_non_null(strstr(err.text, "lists are nested in lists too often"));
	buf_reset(&b);
	for (int k = 0; k < 1000; k++)
		buf_addf(&b, "%*sclass c%d(torch.nn.Module):\n%*sdef forward(self): return 1\n", k, "", k, k + 1, "");
	assert_int_equal(read_graph(&g, buf_str(&b)), -1);
	buf_reset(&b);
	buf_adds(&b, "class c0(torch.nn.Module):\n def forward(self, x): return x\n");
	for (int k = 1; k < 100; k++)
		buf_addf(&b,
			 "class c%d(torch.nn.Module):\n def __init__(self):\n  self.a = c%d()\n  self.b = c%d()\n def forward(self, x): "
			 "return x\n",
			 k, k - 1, k - 1);
	assert_int_equal(read_graph(&g, buf_str(&b)), -1);
	assert_non_null(strstr(err.text, "its classes instantiate each other too often"));
	buf_reset(&b);
	buf_adds(&b, "def forward(self, x):\n    a = (s0");
	for (int k = 0; k < 100000; k++)
		buf_adds(&b, " + s0");
	buf_adds(&b, ") * x\n");
	assert_int_equal(read_graph(&g, buf_str(&b)), -1);
	assert_non_null(strstr(err.text, "a constant of more than"));
	buf_release(&b);
}

/* Names that are no names. */
static void test_names(void **state)
{
	(void)state;
	struct graph g = {0}, again;
	struct buf out = {0};
	uint32_t m = graph_add_module(&g, NONE, SLICE(""), SLICE("")), last = 0;
	static const char *const names[] = {"lambda", "torch", "a.b", "", "3x", "sum", "lambda_1", "_a_b_1"};
	for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
		last = graph_add_node(&g, m, i ? GRAPH_CALL_FUNCTION : GRAPH_PLACEHOLDER, slice_str(names[i]),
				      i ? SLICE("torch.neg") : SLICE("lambda"));
		struct gvalue v = graph_node_value(last - 1);
		if (i)
			graph_set_args(&g, last, &v, 1);
	}
	struct gvalue v = graph_node_value(last);
	graph_set_args(&g, graph_add_node(&g, m, GRAPH_OUTPUT, SLICE("output"), SLICE("output")), &v, 1);
	assert_int_equal(graph_finish(&g, &err), 0);
	fxcode_write(&g, FXCODE_RUNNABLE, &out);
	must_read(&again, buf_str(&out));
	assert_int_equal(again.n_nodes, g.n_nodes);
	for (unsigned i = 1; i < ARRAY_LEN(names); i++)
		assert_int_equal(again.value[again.node[i].args].node, i - 1);
	graph_release(&again);
	graph_release(&g);
	buf_release(&out);
}

static const char *const logs[] = {"aoti",      "big",       "caches_cold",  "caches_warm",    "compile_error", "compiled_autograd",
				   "custom_op", "ddp_split", "draft_export", "dynamic",        "export",        "graph_breaks",
				   "hop",       "mix",       "models",       "provenance_jit", "recompiles",    "simple",
				   "training"};

/* Payloads of a log (lines that begin with a tab) that hold a forward(). Returns how many graphs there were. */
static unsigned graphs_of(struct slice log)
{
	struct slice line;
	struct buf payload = {0}, out = {0};
	unsigned n = 0;
	for (bool more = true; more;) {
		more = slice_line(&log, &line);
		if (more && line.n && *line.p == '\t') {
			buf_add(&payload, line.p + 1, line.n - 1);
			buf_addc(&payload, '\n');
			continue;
		}
		struct slice text = slice_trim(buf_slice(&payload));
		if (text.n && *text.p != '{' && *text.p != '"' && *text.p != '[' && slice_find(text, "def forward(")) {
			struct graph g;
			must_read(&g, buf_str(&payload));
			there_and_back(&g, FXCODE_RUNNABLE, &out);
			there_and_back(&g, FXCODE_READABLE, &out);
			graph_release(&g);
			n++;
		}
		buf_reset(&payload);
	}
	buf_release(&payload);
	buf_release(&out);
	return n;
}

static void test_logs(void **state)
{
	(void)state;
	struct buf b = {0};
	unsigned n = 0;
	for (unsigned i = 0; i < ARRAY_LEN(logs); i++) {
		char name[64];
		snprintf(name, sizeof(name), "traces/%s.log", logs[i]);
		if (!data_load(name, &b)) {
			snprintf(name, sizeof(name), "traces/%s.log.xz", logs[i]);
			if (!data_load(name, &b))
				fail_msg("%s is not there", name);
		}
		n += graphs_of(buf_slice(&b));
	}
	assert_in_range(n, 450, 600);
	buf_release(&b);
}

/* For the live test: files in a folder, there and back. */
static int convert(const char *dir)
{
	struct dirent **entry;
	struct buf in = {0}, out = {0};
	int n = scandir(dir, &entry, NULL, alphasort), failed = n < 0;
	for (int i = 0; i < n; i++) {
		char *path = xasprintf("%s/%s", dir, entry[i]->d_name);
		FILE *f = *entry[i]->d_name == '.' ? NULL : fopen(path, "r");
		struct graph g = {0};
		size_t k;
		buf_reset(&in);
		while (f && (k = fread(buf_room(&in, 1 << 16), 1, 1 << 16, f)) > 0)
			buf_wrote(&in, k);
		if (f && fxcode_read(&g, buf_slice(&in), entry[i]->d_name, &err) < 0) {
			fprintf(stderr, "%s\n", err.text);
			failed = 1;
		}
		for (int form = 0; f && g.n_modules && form < 2; form++) {
			char *to = xasprintf("%s.%s", path, form == FXCODE_RUNNABLE ? "run" : "read");
			FILE *w = fopen(to, "w");
			buf_reset(&out);
			fxcode_write(&g, (enum fxcode_form)form, &out);
			failed |= !w || fwrite(out.p, 1, out.len, w) != out.len || fclose(w);
			free(to);
		}
		if (f)
			fclose(f);
		graph_release(&g);
		free(path);
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
	buf_release(&in);
	buf_release(&out);
	return failed;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_bodies), cmocka_unit_test(test_texts),  cmocka_unit_test(test_metadata),
	    cmocka_unit_test(test_init),   cmocka_unit_test(test_errors), cmocka_unit_test(test_cut_short),
	    cmocka_unit_test(test_bounds), cmocka_unit_test(test_names),  cmocka_unit_test(test_logs),
	};
	if (argc == 2)
		return convert(argv[1]);
	int rc = RUN(tests);
	guard_release(&guard);
	return rc;
}
