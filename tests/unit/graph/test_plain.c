/* graph/repro/plain.h and REPRO_PLAIN: what a person would have written. That each name means the same operation is torch's to say:
 * tests/live/spellings.t. */
#include "../../lib/test.h"

#include "graph/fxcode.h"
#include "graph/repro/plain.h"
#include "graph/repro/repro.h"
#include "base/html/html.h"

static struct slice table(void) { return share_file("fxminify/spellings.txt"); }

/* ---- one operation ---- */

#define X "x: \"f32[8, 16]\", y: \"f32[8, 16]\", i: \"i64[4]\""
static const struct {
	const char *call, *plain;
} calls[] = {
    {"torch.ops.aten.relu.default(x)", "torch.relu(x)"},
    {"torch.ops.aten.relu_.default(x)", "x.relu_()"},
    {"torch.ops.aten.add.Tensor(x, y)", "x + y"},
    {"torch.ops.aten.add.Tensor(x, 2.5)", "x + 2.5"},
    {"torch.ops.aten.add.Tensor(x, y, alpha = 2)", "torch.add(x, y, alpha=2)"},
    {"torch.ops.aten.neg.default(x)", "-x"},
    {"torch.ops.aten.pow.Tensor_Scalar(x, 2)", "x ** 2"},
    {"torch.ops.aten.le.Scalar(x, 0)", "x <= 0"},
    {"torch.ops.aten.bitwise_xor.Tensor(i, i)", "z ^ z"},
    {"torch.ops.aten.bitwise_not.default(i)", "torch.bitwise_not(z)"},
    {"torch.ops.aten.sum.dim_IntList(x, [1], True)", "torch.sum(x, [1], True)"},
    {"torch.ops.aten.gelu.default(x, approximate = 'tanh')", "torch.nn.functional.gelu(x, approximate='tanh')"},
    {"torch._C._nn.gelu(x)", "torch.nn.functional.gelu(x)"},
    {"torch.ops.aten.view.default(x, [4, 32])", "x.view(4, 32)"},
    {"torch.ops.aten.view.default(x, [])", "x.view([])"},
    {"torch.ops.aten.expand.default(x, [8, 16])", "x.expand(8, 16)"},
    {"torch.ops.aten.permute.default(x, [1, 0])", "torch.permute(x, [1, 0])"},
    {"torch.ops.aten.slice.Tensor(x, 0, 0, 4)", "x[:4]"},
    {"torch.ops.aten.slice.Tensor(x, 1, 2, 9223372036854775807)", "x[:, 2:]"},
    {"torch.ops.aten.slice.Tensor(x, 1, 2, 12, 2)", "x[:, 2:12:2]"},
    {"torch.ops.aten.slice.Tensor(x, 0, 0, 9223372036854775807)", "torch.ops.aten.slice.Tensor(x, 0, 0, 9223372036854775807)"},
    {"torch.ops.aten.index.Tensor(x, [i])", "x[z]"},
    {"torch.ops.aten.index.Tensor(x, [None, i])", "x[:, z]"},
    {"torch.ops.aten.select.int(x, 1, 3)", "torch.select(x, 1, 3)"},
    {"torch.ops.aten._softmax.default(x, 1, False)", "torch.softmax(x, 1)"},
    {"torch.ops.aten._softmax.default(x, 1, True)", "torch.ops.aten._softmax.default(x, 1, True)"},
    {"torch.ops.prims.convert_element_type.default(x, torch.float64)", "x.to(torch.float64)"},
    {"torch.ops.prims.convert_element_type.default(x, torch.float32)", "torch.ops.prims.convert_element_type.default(x, torch.float32)"},
    {"torch.ops.aten._to_copy.default(x, dtype = torch.bfloat16)", "x.to(torch.bfloat16)"},
    {"torch.ops.aten._to_copy.default(x, dtype = torch.float32)", "torch.ops.aten._to_copy.default(x, dtype=torch.float32)"},
    {"torch.ops.aten.full.default([2], 1.0, dtype = torch.float32, layout = torch.strided, device = device(type='cpu'), pin_memory = "
     "False)",
     "torch.full([2], 1.0, dtype=torch.float32)"},
    {"torch.ops.aten.full_like.default(x, 0, device = device(type='cpu'), pin_memory = False)",
     "torch.full_like(x, 0, device=device(type='cpu'))"},
    {"torch.ops.aten.sym_size.int(x, 0)", "x.size(0)"},
    {"torch.ops.aten._unsafe_view.default(x, [4, 32])", "torch.ops.aten._unsafe_view.default(x, [4, 32])"},
    {"torch.ops.mylib.relu.default(x)", "torch.ops.mylib.relu.default(x)"},
    {"torch.tanh(x)", "torch.tanh(x)"},
};

static void plain_of(const char *text, struct buf *b)
{
	struct graph g = {0}, plain = {0};
	struct err err;
	assert_int_equal(fxcode_read(&g, slice_str(text), "test", &err), 0);
	assert_int_equal(graph_plain(&g, &(struct plain_how){.table = table()}, &plain, &err), 0);
	fxcode_write(&plain, FXCODE_PLAIN, b);
	graph_release(&plain);
	graph_release(&g);
}

static void test_calls(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		struct buf text = {0}, got = {0}, want = {0};
		buf_addf(&text, "def forward(self, " X "):\n    out = %s\n    return (out,)\n", calls[i].call);
		buf_addf(&want, "def f(x, y, z):\n    return %s\n", calls[i].plain);
		plain_of(buf_str(&text), &got);
		assert_string_equal(buf_str(&got), buf_str(&want));
		buf_release(&text);
		buf_release(&got);
		buf_release(&want);
	}
}

/* What the names of nodes become, what is returned, and how several statements look. */
static void test_functions(void **state)
{
	static const char *const both[][2] = {
	    {"def forward(self, arg0_1: \"f32[8]\"):\n    relu_3 = torch.ops.aten.relu.default(arg0_1);  arg0_1 = None\n"
	     "    relu_4 = torch.ops.aten.relu.default(relu_3)\n    return (relu_3, relu_4)\n",
	     "def f(x):\n    relu = torch.relu(x)\n    relu_1 = torch.relu(relu)\n    return relu, relu_1\n"},
	    {"def forward(self, a, b, c, d):\n    sum_1 = torch.ops.aten.sum.default(d)\n    return [sum_1]\n",
	     "def f(x0, x1, x2, x3):\n    return torch.sum(x3)\n"},
	    {"def forward(self, a):\n    return (a, None)\n", "def f(x):\n    return x, None\n"},
	    {"def forward(self, a):\n    f = torch.ops.aten.relu.default(a)\n    x = torch.ops.aten.mul.Tensor(f, f)\n    return (x, f)\n",
	     "def f(x):\n    f_1 = torch.relu(x)\n    x_1 = f_1 * f_1\n    return x_1, f_1\n"},
	    {"def forward(self):\n    full = torch.ops.aten.full.default([2], 1)\n    return (full,)\n",
	     "def f():\n    return torch.full([2], 1)\n"},
	    {"def forward(self, a):\n    a += 1;  b = a\n    return (b,)\n", "def f(x):\n    x += 1;  b = x\n    return b\n"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(both); i++) {
		struct buf got = {0};
		plain_of(both[i][0], &got);
		assert_string_equal(buf_str(&got), both[i][1]);
		buf_release(&got);
	}
}

static void test_table(void **state)
{
	struct slice rest = table(), line, before = SLICE("");
	size_t rows = 0;
	(void)state;
	slice_line(&rest, &line);
	assert_true(slice_starts(line, "# "));
	while (slice_line(&rest, &line)) {
		const char *space = slice_chr(line, ' ');
		assert_non_null(space);
		struct slice op = slice_of(line.p, (size_t)(space - line.p));
		const size_t n = op.n < before.n ? op.n : before.n;
		const int c = memcmp(before.p, op.p, n);
		assert_true(c < 0 || (c == 0 && before.n <= op.n)); /* sorted: it is searched by halves */
		before = op;
		rows++;
		assert_true(plain_spelling(table(), op, false).n || plain_spelling(table(), op, true).n);
	}
	assert_true(rows > 500);
	assert_int_equal(plain_spelling(table(), SLICE("relu"), false).n, 0);
	assert_int_equal(plain_spelling(table(), SLICE(""), false).n, 0);
	assert_int_equal(plain_spelling(table(), SLICE("zzz.default"), true).n, 0);
	assert_int_equal(plain_spelling(SLICE(""), SLICE("relu.default"), false).n, 0);
}

/* ---- programs ---- */

#define HEAD(settings, args, body) "import torch\n" settings "class Repro(torch.nn.Module):\n    def forward(self, " args "):\n" body "\n"
#define LOAD(lines) "mod = Repro()\ndef load_args(reader):\n" lines "load_args._version = 0\nif __name__ == '__main__':\n"
#define AOT(mode) \
	"    from torch._dynamo.repro.after_aot import run_repro\n    with torch.no_grad():\n" \
	"        run_repro(mod, load_args, accuracy=False, command='run', save_dir=None, tracing_mode='" mode "', check_str=None)\n"
#define DYNAMO(backend) \
	"    from torch._dynamo.repro.after_dynamo import run_repro\n" \
	"    run_repro(mod, load_args, accuracy=False, command='run',\n        save_dir=None, autocast=False, backend='" backend "')\n"
#define RELU "        relu = torch.ops.aten.relu.default(a);  a = None\n        return (relu,)\n"

static const struct {
	const char *name, *launcher;
	enum repro_check check;
	const char *plain;   /* without the notes; NULL: */
	const char *refused; /* a part of why not */
} programs[] = {
    {"one operation",
     HEAD("", "a", RELU) LOAD("    buf0 = reader.storage(None, 512)\n    reader.tensor(buf0, (8, 16), is_leaf=True)  # a\n") AOT("real"),
     REPRO_CHECK_RUNS,
     "import torch\n\ndef f(x):\n    return torch.relu(x)\n\ntorch.manual_seed(0)\nx = torch.randn(8, 16)\ntorch.compile(f)(x)\n", NULL},
    {"settings and environment",
     "import os\nos.environ['TORCH_X'] = '1'\nos.environ['TORCHINDUCTOR_CACHE_DIR'] = '/tmp/x'\n" HEAD(
	 "import torch._inductor.config\nimport torchvision\ntorch._inductor.config.cpp.x = 'y'\ntorch._dynamo.config.repro_level = 2\n",
	 "a", RELU) LOAD("    buf0 = reader.storage(None, 16)\n    reader.tensor(buf0, (4,), is_leaf=True)  # a\n") AOT("real"),
     REPRO_CHECK_RUNS,
     "import os\nos.environ['TORCH_X'] = '1'\nimport torch\nimport torchvision\nimport "
     "torch._inductor.config\n\ntorch._inductor.config.cpp.x = 'y'\n\n"
     "def f(x):\n    return torch.relu(x)\n\ntorch.manual_seed(0)\nx = torch.randn(4)\ntorch.compile(f)(x)\n",
     NULL},
    {"values are compared",
     HEAD("", "a", RELU) LOAD("    buf0 = reader.storage(None, 16)\n    reader.tensor(buf0, (4,), is_leaf=True)  # a\n") AOT("real"),
     REPRO_CHECK_SAME,
     "import torch\nfrom torch._dynamo.utils import same\n\ndef f(x):\n    return torch.relu(x)\n\ntorch.manual_seed(0)\nx = "
     "torch.randn(4)\n"
     "expected, actual = f(x), torch.compile(f)(x)\nprint(expected, actual, sep='\\n')\n"
     "assert same(expected, actual, f(x.double()), tol=1e-3, equal_nan=True)\n",
     NULL},
    {"strides, dtypes, one storage for two",
     HEAD("", "a, b, c, d", "        add = torch.ops.aten.add.Tensor(a, b)\n        return (add, c, d)\n")
	 LOAD("    buf0 = reader.storage(None, 64)\n    reader.tensor(buf0, (2, 4), is_leaf=True)  # a\n"
	      "    reader.tensor(buf0, (2, 4), (1, 2), storage_offset=8, is_leaf=True)  # b\n"
	      "    buf1 = reader.storage(None, 64, dtype_hint=torch.int64)\n    reader.tensor(buf1, (2, 4), dtype=torch.int64, "
	      "is_leaf=True)  # c\n"
	      "    buf2 = reader.storage(None, 16, dtype_hint=torch.bfloat16)\n    reader.tensor(buf2, (2, 4), (1, 2), "
	      "dtype=torch.bfloat16, is_leaf=True)  # d\n") AOT("real"),
     REPRO_CHECK_RUNS,
     "import torch\n\ndef f(x0, x1, x2, x3):\n    add = x0 + x1\n    return add, x2, x3\n\ntorch.manual_seed(0)\nmemory0 = "
     "torch.randn(16)\n"
     "x0 = memory0.as_strided((2, 4), (4, 1))\nx1 = memory0.as_strided((2, 4), (1, 2), 8)\nx2 = torch.zeros(2, 4, dtype=torch.int64)\n"
     "x3 = torch.randn(4, 2, dtype=torch.bfloat16).t()\ntorch.compile(f)(x0, x1, x2, x3)\n",
     NULL},
    {"sizes that change",
     HEAD("", "s, a", "        mul = torch.ops.aten.mul.Tensor(a, s)\n        return (mul,)\n")
	 LOAD("    reader.symint(6, expr='s77')  # s\n    buf0 = reader.storage(None, 64*s77)\n    reader.tensor(buf0, (s77, 16), "
	      "is_leaf=True)  # a\n") AOT("symbolic"),
     REPRO_CHECK_RUNS,
     "import torch\n\ndef f(x):\n    s = x.size(0)\n    return x * s\n\ntorch.manual_seed(0)\nx = torch.randn(6, 16)\n"
     "torch._dynamo.mark_dynamic(x, 0)\ntorch.compile(f)(x)\n",
     NULL},
    {"a number",
     HEAD("", "s, a", "        mul = torch.ops.aten.mul.Tensor(a, s)\n        return (mul,)\n") LOAD(
	 "    reader.symint(6)  # s\n    buf0 = reader.storage(None, 64)\n    reader.tensor(buf0, (16,), is_leaf=True)  # a\n") AOT("real"),
     REPRO_CHECK_RUNS,
     "import torch\n\ndef f(x, y):\n    return y * x\n\ntorch.manual_seed(0)\ny = torch.randn(16)\ntorch.compile(f)(6, y)\n", NULL},
    {"None",
     HEAD("", "a, b", "        clamp = torch.ops.aten.clamp.default(b, a, 2.0)\n        return (clamp,)\n")
	 LOAD("    reader.const('a')  # a\n    buf0 = reader.storage(None, 64)\n    reader.tensor(buf0, (16,), is_leaf=True)  # b\n")
	     AOT("real"),
     REPRO_CHECK_SAME,
     "import torch\nfrom torch._dynamo.utils import same\n\ndef f(x, y):\n    return torch.clamp(y, x, 2.0)\n\ntorch.manual_seed(0)\n"
     "y = torch.randn(16)\nexpected, actual = f(None, y), torch.compile(f)(None, y)\nprint(expected, actual, sep='\\n')\n"
     "assert same(expected, actual, f(None, y.double()), tol=1e-3, equal_nan=True)\n",
     NULL},
    {"after dynamo, with a backward",
     HEAD("import toys\n", "a : torch.Tensor", "        relu = torch.relu(a);  a = None\n        return (relu,)\n")
	 LOAD("    buf0 = reader.storage(None, 64)\n    reader.tensor(buf0, (16,), requires_grad=True, is_leaf=True)  # a\n")
	     DYNAMO("toys:toy_compiler"),
     REPRO_CHECK_RUNS,
     "import torch\nimport toys\n\ndef f(x):\n    return torch.relu(x)\n\ntorch.manual_seed(0)\nx = torch.randn(16, requires_grad=True)\n"
     "torch.compile(f, backend=toys.toy_compiler)(x).sum().backward()\n",
     NULL},
    {"after dynamo, gradients are compared",
     HEAD("", "a : torch.Tensor", "        relu = torch.relu(a);  a = None\n        return (relu,)\n")
	 LOAD("    buf0 = reader.storage(None, 64)\n    reader.tensor(buf0, (4, 4), (1, 4), requires_grad=True)  # a\n") DYNAMO("inductor"),
     REPRO_CHECK_SAME,
     "import copy\nimport torch\nfrom torch._dynamo.utils import same\n\ndef f(x):\n    return torch.relu(x)\n\ntorch.manual_seed(0)\n"
     "x = torch.randn(4, 4).t().requires_grad_().clone()\n\ndef run(f):\n    args = copy.deepcopy((x,))\n    out = f(*args)\n    "
     "out.sum().backward()\n"
     "    return out, [a.grad for a in args if getattr(a, 'requires_grad', False)]\n\nexpected, actual = run(f), run(torch.compile(f))\n"
     "print(expected, actual, sep='\\n')\nassert same(expected, actual, tol=1e-3, equal_nan=True)\n",
     NULL},
    {"an input that is written to",
     HEAD("", "a",
	  "        add = torch.ops.aten.add.Tensor(a, 1)\n"
	  "        copy_ = torch.ops.aten.copy_.default(a, add);  a = add = None\n        return (copy_,)\n")
	 LOAD("    buf0 = reader.storage(None, 16)\n    reader.tensor(buf0, (4,), is_leaf=True)  # a\n") AOT("real"),
     REPRO_CHECK_SAME,
     "import copy\nimport torch\nfrom torch._dynamo.utils import same\n\ndef f(x):\n    add = x + 1\n    return "
     "x.copy_(add)\n\ntorch.manual_seed(0)\n"
     "x = torch.randn(4)\n\ndef run(f):\n    args = copy.deepcopy((x,))\n    out = f(*args)\n    return [out, args[0]]\n\nexpected, actual "
     "= run(f), "
     "run(torch.compile(f))\n"
     "print(expected, actual, sep='\\n')\nassert same(expected, actual, tol=1e-3, equal_nan=True)\n",
     NULL},
    {"no tensor", HEAD("", "a", RELU) LOAD("    reader.unsupported('a')  # a\n") AOT("real"), REPRO_CHECK_RUNS, NULL,
     "'a' is neither a tensor nor an integer"},
    {"two dtypes in one storage",
     HEAD("", "a, b", "        relu = torch.ops.aten.relu.default(a)\n        return (relu, b)\n")
	 LOAD("    buf0 = reader.storage(None, 16)\n    reader.tensor(buf0, (4,), is_leaf=True)  # a\n"
	      "    reader.tensor(buf0, (4,), dtype=torch.int32, is_leaf=True)  # b\n") AOT("real"),
     REPRO_CHECK_RUNS, NULL, "another dtype"},
    {"a user's Triton kernel",
     HEAD("", "a",
	  "        w = torch.ops.higher_order.triton_kernel_wrapper_mutation(kernel_idx = 0, kwargs = {'x': a})\n        return (a,)\n")
	 LOAD("    buf0 = reader.storage(None, 16)\n    reader.tensor(buf0, (4,), is_leaf=True)  # a\n") AOT("real"),
     REPRO_CHECK_RUNS, NULL, "Triton"},
};

static void test_programs(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
		struct repro r = {0};
		struct buf b = {0};
		struct err err = {0};
		const struct repro_program how = {.style = REPRO_PLAIN, .check = programs[i].check, .spellings = table()};
		assert_int_equal(repro_read(&r, slice_str(programs[i].launcher), "launcher.py", &err), 0);
		const int status = repro_text(&r, &how, &b, &err);
		if (programs[i].plain) {
			assert_int_equal(status, 0);
			assert_string_equal(buf_str(&b), programs[i].plain);
		} else {
			assert_int_equal(status, -1);
			assert_int_equal(err.status, EXIT_INPUT);
			assert_non_null(strstr(err.text, programs[i].refused));
		}
		buf_release(&b);
		repro_release(&r);
	}
}

/* Values that were recorded: bytes -> how the input is written. */
static void test_values(void **state)
{
	static const float some[] = {1.5f, -0.1f, 1e-30f, 3}, ones[] = {1, 1, 1, 1}, odd[] = {0.0f / 1, 1.0f / 0.0f, -1.0f / 0.0f, 2};
	static const int64_t wide[] = {INT64_MAX, -1};
	static const uint16_t halves[] = {0x3fc0, 0x3fc0}; /* bfloat16: 1.5 */
	static float many[40];
	static const struct {
		const char *tensor;
		const void *data;
		size_t n;
		const char *line;
	} values[] = {
	    {"f32[2, 2]", some, sizeof(some), "x = torch.tensor([[1.5, -0.1], [1e-30, 3.0]])"},
	    {"f32[2, 2][1, 2]", some, sizeof(some), "x = torch.tensor([1.5, -0.1, 1e-30, 3.0]).as_strided((2, 2), (1, 2))"},
	    {"f32[4]", ones, sizeof(ones), "x = torch.ones(4)"},
	    {"f32[4]", odd, sizeof(odd), "x = torch.tensor([0.0, inf, -inf, 2.0])"},
	    {"i64[2]", wide, sizeof(wide), "x = torch.tensor([9223372036854775807, -1])"},
	    {"bf16[2]", halves, sizeof(halves), "x = torch.full((2,), 1.5, dtype=torch.bfloat16)"},
	    {"b8[2, 2]", "\1\0\1\1", 4, "x = torch.tensor([[True, False], [True, True]])"},
	    {"f32[]", some, 4, "x = torch.tensor(1.5)"},
	    {"f32[0, 3]", "", 0, "x = torch.empty(0, 3)"},
	    {"f32[8, 5]", many, sizeof(many), "x = torch.frombuffer(bytearray(base64.b64decode('AAAAAAAAgD8AAABA"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(many); i++)
		many[i] = (float)i;
	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		struct repro r = {0};
		struct buf text = {0}, b = {0};
		struct err err = {0};
		const struct repro_given given = {.how = REPRO_GIVE_DATA, .bytes = slice_of(values[i].data, values[i].n)};
		const struct repro_program how = {.style = REPRO_PLAIN, .given = &given, .n_given = 1, .spellings = table()};
		buf_addf(&text, "def forward(self, a: \"%s\"):\n    out = torch.ops.aten.relu.default(a)\n    return (out,)\n",
			 values[i].tensor);
		assert_int_equal(repro_read(&r, buf_slice(&text), "graph.py", &err), 0);
		assert_int_equal(repro_text(&r, &how, &b, &err), 0);
		if (!strstr(buf_str(&b), values[i].line))
			fail_msg("%s\nis not in\n%s", values[i].line, buf_str(&b));
		assert_int_equal(strstr(buf_str(&b), "inf, nan") != NULL, strstr(values[i].line, "inf") != NULL);
		/* Bytes that do not reach are refused, not read. */
		if (values[i].n) {
			const struct repro_given less = {.how = REPRO_GIVE_DATA, .bytes = slice_of(values[i].data, values[i].n - 1)};
			const struct repro_program cut = {.style = REPRO_PLAIN, .given = &less, .n_given = 1, .spellings = table()};
			assert_int_equal(repro_text(&r, &cut, &b, &err), -1);
		}
		buf_release(&text);
		buf_release(&b);
		repro_release(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_calls),    cmocka_unit_test(test_functions), cmocka_unit_test(test_table),
	    cmocka_unit_test(test_programs), cmocka_unit_test(test_values),
	};
	return RUN(tests);
}
