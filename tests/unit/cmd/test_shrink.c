/* reduce/candidate, nodes and shrink: every candidate that is asked about is a graph that can be written and read, its feeds fit its
 * placeholders; and each pass ends where it should. */
#include "../../lib/test.h"

#include "graph/fxcode.h"
#include "reduce/oracle_part.h"
#include "reduce/shrink.h"

/* ---- an oracle: does the text of the candidate hold all of these words, and none of those? ---- */

struct words {
	struct oracle oracle;
	const char *const *has, *const * not ;
	bool (*also)(const struct test *t);
	bool fails, busy;
	uint64_t id;
	size_t asked;
};

static void check_graph(const struct test *t)
{
	const struct graph *g = t->graph;
	const struct gmodule *root = &g->module[0];
	size_t feeds = 0;
	for (uint32_t i = root->first; i < root->first + root->n; i++)
		if (g->node[i].op == GRAPH_PLACEHOLDER) {
			assert_true(feeds < t->n_feeds);
			assert_int_equal(t->feed[feeds++].meta, g->node[i].meta);
		}
	assert_int_equal(feeds, t->n_feeds);
}

static bool holds(struct slice text, const char *word) { return memmem(text.p, text.n, word, strlen(word)) != NULL; }

static bool judge(struct words *w, const struct test *t)
{
	struct buf b = {0};
	struct err err = {0};
	struct graph again = {0};
	check_graph(t);
	fxcode_write(t->graph, FXCODE_READABLE, &b);
	if (fxcode_read(&again, buf_slice(&b), "candidate", &err) < 0)
		fail_msg("%s\n%.*s", err.text, (int)b.len, b.p);
	assert_int_equal(graph_n_ops(&again), graph_n_ops(t->graph));
	graph_release(&again);
	for (size_t i = 0; i < t->repro->n_lines; i++) {
		buf_add_slice(&b, t->repro->line[i].text);
		buf_addc(&b, '\n');
	}
	bool fails = true;
	for (size_t i = 0; w->has && w->has[i]; i++)
		fails &= holds(buf_slice(&b), w->has[i]);
	for (size_t i = 0; w->not &&w->not [i]; i++)
		fails &= !holds(buf_slice(&b), w->not [i]);
	buf_release(&b);
	return fails && (!w->also || w->also(t));
}

static unsigned one_job(const struct oracle *o)
{
	(void)o;
	return 1;
}
static uint64_t words_start(struct oracle *o, const struct test *t, struct err *err)
{
	struct words *w = (struct words *)o;
	(void)err;
	assert_false(w->busy);
	w->busy = true;
	w->fails = judge(w, t);
	w->asked++;
	return ++w->id;
}
static int words_wait(struct oracle *o, int timeout_ms, struct outcome *out, struct err *err)
{
	struct words *w = (struct words *)o;
	(void)timeout_ms;
	(void)err;
	*out = (struct outcome){.id = w->id, .kind = w->fails ? OUTCOME_FAILED : OUTCOME_PASSES};
	w->busy = false;
	return 1;
}
static void words_cancel(struct oracle *o, uint64_t id)
{
	(void)id;
	((struct words *)o)->busy = false;
}
static void words_close(struct oracle *o) { (void)o; }
static const struct oracle_ops ops = {one_job, words_start, words_wait, words_cancel, words_close};

/* ---- a reduction from a text to a text ---- */

static struct repro original;
static struct runner r;
static struct words oracle;
static struct buf result, source;
static bool guess;
static const struct suspects *suspects;

#define NODES 0x10000u
#define PASS(p) (1u << SHRINK_##p)
#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

static void reduce(const char *text, const char *const *has, const char *const * not, unsigned passes)
{
	struct err err = {0};
	struct outcome out;
	struct candidate whole;
	buf_reset(&source);
	buf_adds(&source, text);
	original = (struct repro){0};
	if (repro_read(&original, buf_slice(&source), "g.py", &err) < 0)
		fail_msg("%s", err.text);
	oracle.oracle.ops = &ops;
	oracle.has = has;
	oracle.not = not ;
	r = (struct runner){.oracle = &oracle.oracle, .original = &original, .repeat = 1};
	struct reduction red = {.runner = &r, .qx_limit = 64, .guess = guess};
	candidate_whole(&whole, &original);
	assert_int_equal(runner_baseline(&r, &whole, &out, &err), 1);
	candidate_release(&whole);
	if (passes & NODES)
		assert_int_equal(reduce_nodes(&red, suspects, &err), 0);
	assert_int_equal(reduce_rest(&red, passes & SHRINK_ALL, &err), 0);
	buf_reset(&result);
	fxcode_write(&r.best.graph, FXCODE_RUNNABLE, &result);
}

/* The program that comes of it can be read, and has an input for each placeholder. */
static void check_program(void)
{
	struct err err = {0};
	struct buf b = {0};
	struct repro again = {0};
	struct repro_given *given = candidate_given(&r.best, &original);
	struct repro head = original;
	head.line = r.best.line;
	head.n_lines = r.best.n_lines;
	struct repro_program p = {.style = REPRO_ALONE, .graph = &r.best.graph, .given = given, .n_given = r.best.n_feeds};
	if (repro_text(&head, &p, &b, &err) < 0 || repro_read(&again, buf_slice(&b), "result.py", &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(again.n_inputs, r.best.n_feeds);
	repro_release(&again);
	buf_release(&b);
	free(given);
}

static void done(void)
{
	check_program();
	runner_release(&r);
	repro_release(&original);
	buf_release(&result);
	buf_release(&source);
	oracle = (struct words){0};
}

static void assert_line(const char *line)
{
	if (!holds(buf_slice(&result), line))
		fail_msg("no '%s' in\n%.*s", line, (int)result.len, result.p);
}

static struct gmeta meta_of(size_t feed) { return r.best.graph.meta[r.best.feed[feed].meta]; }
static void assert_sizes(size_t feed, const char *want)
{
	struct gmeta m = meta_of(feed);
	struct buf b = {0};
	for (size_t i = 0; i < (size_t)m.n_dim * (m.has_stride ? 2 : 1); i++) {
		buf_adds(&b, i == m.n_dim ? " | " : i ? " " : "");
		symsize_print(&r.best.graph.tab, r.best.graph.dim[m.dim + i], &b);
	}
	assert_text(buf_slice(&b), want);
	buf_release(&b);
}

#define HEAD "class G(torch.nn.Module):\n    def forward(self, "
#define A "        "

/* ---- tests ---- */

static bool connected(const struct test *t)
{
	/* tanh is computed from relu. */
	const struct graph *g = t->graph;
	uint32_t relu = graph_find(g, 0, SLICE("relu")), tanh = graph_find(g, 0, SLICE("tanh"));
	if (relu == NONE || tanh == NONE || g->node[relu].op != GRAPH_CALL_FUNCTION || g->node[tanh].op != GRAPH_CALL_FUNCTION)
		return false;
	bool reach[64] = {false};
	assert_true(g->n_nodes < 64);
	reach[relu] = true;
	for (uint32_t i = 0; i < g->n_nodes; i++)
		for (uint32_t k = g->user_of[i]; reach[i] && k < g->user_of[i + 1]; k++)
			reach[g->user[k]] = true;
	return reach[tanh];
}

static void test_bypass(void **state)
{
	(void)state;
	static const char text[] = HEAD
	    "x: \"f32[4, 4]\", y: \"f32[4, 4]\"):\n" A "relu: \"f32[4, 4]\" = torch.ops.aten.relu.default(x)\n" A
	    "add: \"f32[4, 4]\" = torch.ops.aten.add.Tensor(y, relu)\n" A "sum_1: \"f32[4]\" = torch.ops.aten.sum.dim_IntList(add, [1])\n" A
	    "neg: \"f32[4]\" = torch.ops.aten.neg.default(sum_1)\n" A "mul: \"f32[4, 4]\" = torch.ops.aten.mul.Tensor(neg, y)\n" A
	    "sin: \"f32[4, 4]\" = torch.ops.aten.sin.default(mul)\n" A "tanh: \"f32[4, 4]\" = torch.ops.aten.tanh.default(sin)\n" A
	    "cos: \"f32[4, 4]\" = torch.ops.aten.cos.default(tanh)\n" A "return (cos,)\n";
	oracle.also = connected;
	reduce(text, NULL, NULL, NODES);
	/* Not the sum, which makes another type, nor the product, which makes that one again. */
	assert_int_equal(r.best.ops, 4);
	assert_line("sum_1 = torch.ops.aten.sum.dim_IntList(relu, [1])");
	assert_line("tanh = torch.ops.aten.tanh.default(mul)");
	done();
}

/* Of 12 suspects in a row the first alone passes, then 8 of them, then all; what is part of these is not asked. */
static void test_suspects(void **state)
{
	(void)state;
	struct buf b = {0}, names = {0};
	struct slice name[12];
	buf_adds(&b, HEAD "x: \"f32[4, 4]\"):\n");
	for (int i = 0; i < 40; i++) {
		if (i >= 10 && i < 22)
			buf_addf(&names, "s%02d ", i);
		buf_addf(&b, A "s%02d: \"f32[4, 4]\" = torch.ops.aten.%s.default(%s%.0d)\n", i,
			 i == 12   ? "relu"
			 : i == 30 ? "cos"
				   : "sin",
			 i > 10 ? "s"
			 : i    ? "s0"
				: "x",
			 i ? i - 1 : 0);
	}
	buf_adds(&b, A "return (s39,)\n");
	for (size_t i = 0; i < 12; i++)
		name[i] = slice_of(names.p + 4 * i, 3);
	const struct suspects twelve = {name, 12, 0};
	suspects = &twelve;
	oracle.asked = 0;
	reduce(buf_str(&b), LIST("relu", "cos"), NULL, NODES);
	assert_int_equal(r.best.ops, 2);
	const size_t with = oracle.asked;
	done();
	/* Two suspects that fail together are the second question. */
	const struct slice both[] = {SLICE("s12"), SLICE("s30")};
	const struct suspects pair = {(struct slice *)(uintptr_t)both, 2, 0};
	suspects = &pair;
	oracle.asked = 0;
	reduce(buf_str(&b), LIST("relu", "cos"), NULL, NODES);
	assert_int_equal(r.best.ops, 2);
	assert_true(oracle.asked <= 8 && oracle.asked < with);
	suspects = NULL;
	done();
	oracle.asked = 0;
	reduce(buf_str(&b), LIST("relu", "cos"), NULL, NODES);
	assert_int_equal(r.best.ops, 2);
	assert_true(with <= oracle.asked + 4); /* three that pass, not 15 */
	buf_release(&b);
	buf_release(&names);
	done();
}

/* Values, inputs, sizes and dtypes in one question; if that passes, without sizes and dtypes. */
static void test_at_once(void **state)
{
	(void)state;
	static const char text[] =
	    HEAD "x: \"f64[4, 8]\", y: \"f64[4, 8]\", z: \"f64[4, 8]\"):\n" A "add: \"f64[4, 8]\" = torch.ops.aten.add.Tensor(x, y)\n" A
		 "mul: \"f64[4, 8]\" = torch.ops.aten.mul.Tensor(add, z)\n" A "return (mul,)\n";
	static const unsigned all = PASS(VALUES) | PASS(INPUTS) | PASS(SIZES) | PASS(DTYPES);
	oracle.asked = 0;
	reduce(text, LIST("add.Tensor", "mul.Tensor"), NULL, all);
	assert_int_equal(r.best.n_feeds, 1);
	assert_sizes(0, "1 1");
	assert_int_equal(meta_of(0).dtype, DTYPE_F32);
	assert_int_equal(oracle.asked, 2); /* and the original */
	done();
	oracle.asked = 0;
	reduce(text, LIST("add.Tensor", "f64[4, 8]"), NULL, all);
	assert_int_equal(r.best.n_feeds, 1);
	assert_sizes(0, "4 8");
	assert_int_equal(meta_of(0).dtype, DTYPE_F64);
	done();
}

/* Graphs of torch have no shapes: what is not known becomes an input all the same, where that is allowed; else it brings with it what
 * computes it, and what was tested then is the result. */
static void test_unknown_shapes(void **state)
{
	(void)state;
	static const char text[] =
	    HEAD "x: \"f32[4, 4]\"):\n" A "cos = torch.ops.aten.cos.default(x)\n" A "sin = torch.ops.aten.sin.default(cos)\n" A
		 "exp = torch.ops.aten.exp.default(sin)\n" A "relu = torch.ops.aten.relu.default(exp)\n" A
		 "neg = torch.ops.aten.neg.default(relu)\n" A "tanh = torch.ops.aten.tanh.default(neg)\n" A "return (tanh,)\n";
	reduce(text, LIST("relu.default"), NULL, NODES);
	assert_int_equal(r.best.ops, 4);
	assert_line("relu = torch.ops.aten.relu.default(exp)");
	assert_true(oracle.asked <= 6);
	done();
	guess = true;
	reduce(text, LIST("relu.default"), NULL, NODES);
	assert_int_equal(r.best.ops, 1);
	assert_line("forward(self, exp)");
	guess = false;
	done();
}

/* Returned, and used by tanh. */
static bool used_and_returned(const struct test *t)
{
	const struct graph *g = t->graph;
	uint32_t relu = graph_find(g, 0, SLICE("relu")), tanh = graph_find(g, 0, SLICE("tanh"));
	bool used = false, returned = false;
	if (relu == NONE || tanh == NONE)
		return false;
	for (uint32_t k = g->user_of[relu]; k < g->user_of[relu + 1]; k++) {
		used |= g->user[k] == tanh;
		returned |= g->user[k] == g->module[0].output;
	}
	return used && returned;
}

static bool input_returned(const struct test *t)
{
	const struct graph *g = t->graph;
	uint32_t y = graph_find(g, 0, SLICE("y"));
	return y != NONE && g->user_of[y + 1] > g->user_of[y] && g->user[g->user_of[y + 1] - 1] == g->module[0].output;
}

/* The original's outputs stay while operations go, and then go in a pass of their own. */
static void test_outputs(void **state)
{
	(void)state;
	static const char text[] =
	    HEAD "x: \"f32[4, 4]\", y: \"f32[4]\", z: \"f32[8]\"):\n" A "cos: \"f32[4, 4]\" = torch.ops.aten.cos.default(x)\n" A
		 "relu: \"f32[4, 4]\" = torch.ops.aten.relu.default(cos)\n" A "tanh: \"f32[4, 4]\" = torch.ops.aten.tanh.default(relu)\n" A
		 "neg: \"f32[4, 4]\" = torch.ops.aten.neg.default(tanh)\n" A "return (y, tanh, None, relu, z, neg, tanh, cos)\n";
	oracle.also = used_and_returned;
	reduce(text, NULL, NULL, NODES);
	assert_int_equal(r.best.ops, 2);
	assert_line("forward(self, x, y, z)");
	assert_line("return (y, tanh, None, relu, z, tanh)");
	done();
	oracle.also = used_and_returned;
	reduce(text, NULL, NULL, NODES | PASS(OUTPUTS));
	assert_line("forward(self, x)");
	assert_line("return (tanh, relu)");
	done();
	oracle.also = input_returned;
	reduce(text, LIST("neg"), NULL, NODES | PASS(OUTPUTS));
	assert_int_equal(r.best.ops, 1);
	assert_int_equal(r.best.n_feeds, 2);
	assert_line("forward(self, y, tanh)");
	assert_line("return (y, neg)");
	done();
}

static void test_tuples(void **state)
{
	(void)state;
	static const char text[] =
	    HEAD "x: \"f32[8]\"):\n" A "split = torch.ops.aten.split.Tensor(x, 4)\n" A "getitem: \"f32[4]\" = split[0]\n" A
		 "getitem_1: \"f32[4]\" = split[1];  split = None\n" A "add: \"f32[4]\" = torch.ops.aten.add.Tensor(getitem, getitem_1)\n" A
		 "relu: \"f32[4]\" = torch.ops.aten.relu.default(add)\n" A "return (relu,)\n";
	reduce(text, LIST("split.Tensor"), NULL, NODES);
	assert_int_equal(r.best.ops, 1);
	assert_line("getitem_1 = split[1]");
	done();
	reduce(text, LIST("add.Tensor"), NULL, NODES);
	assert_int_equal(r.best.ops, 1);
	assert_int_equal(r.best.n_feeds, 2);
	done();
}

static void test_values_and_inputs(void **state)
{
	(void)state;
	static const char text[] =
	    HEAD "x: \"f32[4, 4]\", y: \"f32[4, 4]\", z: \"f32[4]\", w: \"f64[4, 4]\"):\n" A
		 "add: \"f32[4, 4]\" = torch.ops.aten.add.Tensor(x, y)\n" A "mul: \"f32[4, 4]\" = torch.ops.aten.mul.Tensor(add, z)\n" A
		 "mul_1: \"f64[4, 4]\" = torch.ops.aten.mul.Tensor(mul, w)\n" A "return (mul_1,)\n";
	reduce(text, LIST("add.Tensor", "mul.Tensor"), NULL, PASS(VALUES) | PASS(INPUTS));
	assert_int_equal(r.best.n_feeds, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(r.best.feed[i].kind, FEED_RANDOM);
	assert_line("add.Tensor(x, x)");
	assert_sizes(1, "4");
	assert_int_equal(meta_of(2).dtype, DTYPE_F64);
	done();
}

static void test_sizes(void **state)
{
	(void)state;
	/* 6 is spelled in view, 12 is twice that; 5 has to stay. */
	static const char text[] =
	    HEAD "x: \"f32[6, 5][1, 6]cpu\", y: \"f32[12]\"):\n" A "view: \"f32[2, 6]\" = torch.ops.aten.view.default(y, [2, 6])\n" A
		 "mm: \"f32[2, 5]\" = torch.ops.aten.mm.default(view, x)\n" A "return (mm,)\n";
	reduce(text, LIST("mm.default", ", 5"), NULL, PASS(SIZES));
	assert_sizes(0, "1 5 | 1 1");
	assert_sizes(1, "1");
	done();
	/* Strides keep their order: the first dimension is the innermost. */
	reduce(text, LIST("mm.default"), LIST("\"f32[1,"), PASS(SIZES));
	struct gmeta m = meta_of(0);
	const struct symsize *d = &r.best.graph.dim[m.dim];
	assert_true(d[0].k >= 2 && d[2].k == 1 && d[3].k == d[0].k);
	done();
	/* An expanded dimension stays one. */
	reduce(HEAD "x: \"f32[7, 9][0, 1]cpu\"):\n" A "relu: \"f32[7, 9]\" = torch.ops.aten.relu.default(x)\n" A "return (relu,)\n",
	       LIST("relu"), LIST("f32[1", ", 1]["), PASS(SIZES));
	assert_sizes(0, "2 2 | 0 1");
	done();
}

static void test_dtypes(void **state)
{
	(void)state;
	static const char text[] =
	    HEAD "x: \"f64[4]\", i: \"i32[4]\", h: \"bf16[4]\"):\n" A
		 "full: \"f64[4]\" = torch.ops.aten.full.default([4], 1, dtype = torch.float64)\n" A
		 "add: \"f64[4]\" = torch.ops.aten.add.Tensor(x, full)\n" A "index: \"f64[4]\" = torch.ops.aten.index.Tensor(add, [i])\n" A
		 "mul: \"f64[4]\" = torch.ops.aten.mul.Tensor(index, h)\n" A "return (mul,)\n";
	reduce(text, LIST("mul", "bf16"), NULL, PASS(DTYPES));
	assert_int_equal(meta_of(0).dtype, DTYPE_F32);
	assert_int_equal(meta_of(1).dtype, DTYPE_I64);
	assert_int_equal(meta_of(2).dtype, DTYPE_BF16);
	assert_line("dtype = torch.float32");
	done();
}

static void test_symbols(void **state)
{
	(void)state;
	static const char text[] =
	    HEAD "s: \"Sym(s77)\", x: \"f32[s77, 8]\"):\n" A "view: \"f32[8*s77]\" = torch.ops.aten.view.default(x, [-1])\n" A
		 "add: \"f32[8*s77]\" = torch.ops.aten.add.Tensor(view, s)\n" A "return (add,)\n";
	reduce(text, LIST("add"), NULL, PASS(SYMBOLS));
	assert_sizes(1, "8 8");
	done();
	reduce(text, LIST("add", "s77"), NULL, SHRINK_ALL);
	assert_int_equal(r.best.ops, 2);
	done();
}

static void test_arguments_and_constants(void **state)
{
	(void)state;
	static const char text[] =
	    HEAD "x: \"f32[4, 4]\"):\n" A "sum_1: \"f32[4, 1]\" = torch.ops.aten.sum.dim_IntList(x, [1], True, dtype = torch.float32)\n" A
		 "mul: \"f32[4, 1]\" = torch.ops.aten.mul.Tensor(sum_1, 37.5)\n" A "topk = torch.ops.aten.topk.default(mul, 3)\n" A
		 "getitem: \"f32[4, 3]\" = topk[1];  topk = None\n" A "return (getitem,)\n";
	reduce(text, LIST("sum.dim_IntList(x, [1]", "topk.default(mul, 3)"), LIST("mul.Tensor(sum_1)"), PASS(ARGUMENTS) | PASS(CONSTANTS));
	assert_line("sum.dim_IntList(x, [1])");
	assert_line("mul.Tensor(sum_1, 0.0)");
	assert_line("topk[1]");
	done();
}

static void test_subgraphs(void **state)
{
	(void)state;
	static const char text[] =
	    "class G(torch.nn.Module):\n"
	    "    def forward(self, p: \"b8[]\", x: \"f32[4]\"):\n" A "true_graph_0 = self.true_graph_0\n" A
	    "false_graph_0 = self.false_graph_0\n" A
	    "cond = torch.ops.higher_order.cond(p, true_graph_0, false_graph_0, (x,));  p = true_graph_0 = false_graph_0 = x = None\n" A
	    "getitem: \"f32[4]\" = cond[0];  cond = None\n" A "return (getitem,)\n\n"
	    "    class true_graph_0(torch.nn.Module):\n"
	    "        def forward(self, x: \"f32[4]\"):\n"
	    "            sin: \"f32[4]\" = torch.ops.aten.sin.default(x);  x = None\n"
	    "            relu: \"f32[4]\" = torch.ops.aten.relu.default(sin);  sin = None\n"
	    "            cos: \"f32[4]\" = torch.ops.aten.cos.default(relu);  relu = None\n"
	    "            return (cos,)\n\n"
	    "    class false_graph_0(torch.nn.Module):\n"
	    "        def forward(self, x: \"f32[4]\"):\n"
	    "            neg: \"f32[4]\" = torch.ops.aten.neg.default(x);  x = None\n"
	    "            return (neg,)\n";
	reduce(text, LIST("cond", "relu.default"), NULL, PASS(SUBGRAPHS));
	assert_line("torch.ops.aten.relu.default(x)");
	assert_false(holds(buf_slice(&result), "sin") || holds(buf_slice(&result), "cos") || holds(buf_slice(&result), "neg"));
	done();
}

static void test_head(void **state)
{
	(void)state;
	struct buf launcher = {0};
	assert_true(data_load("repro/aot_forward/minifier_launcher.py", &launcher));
	reduce(launcher.p, LIST("config.deterministic = False", "torch.ops"), NULL, PASS(HEAD));
	size_t config = 0, imports = 0;
	for (size_t i = 0; i < r.best.n_lines; i++) {
		config += r.best.line[i].kind == REPRO_CONFIG;
		imports += r.best.line[i].kind == REPRO_IMPORT;
		assert_true(r.best.line[i].kind != REPRO_ENV_SET || repro_env_is_private(r.best.line[i].name));
	}
	assert_true(config == 1 && imports > 3);
	done();
	buf_release(&launcher);
}

static bool shares(const struct test *t) { return t->n_feeds == 2 && t->feed[0].memory && t->feed[1].memory; }
static bool any_history(const struct test *t) { return t->feed[0].non_leaf || t->feed[1].non_leaf; }

static size_t count_text(struct slice text, const char *word)
{
	size_t n = 0;
	for (const char *p; (p = slice_find(text, word)); n++)
		text = slice_of(p + 1, (size_t)(text.p + text.n - p - 1));
	return n;
}

/* What kind of input each is stays, in candidates and in what is written, until a pass of its own changes that. */
static void test_kinds_of_inputs(void **state)
{
	(void)state;
	static const char text[] = "class Repro(torch.nn.Module):\n"
				   "    def forward(self, x, y):\n" A "add = torch.ops.aten.add.Tensor(x, y)\n" A
				   "cos = torch.ops.aten.cos.default(add)\n" A "return (cos,)\n"
				   "def load_args(reader):\n"
				   "    buf0 = reader.storage('00', 512)\n"
				   "    reader.tensor(buf0, (8, 4), (1, 8), storage_offset=8, requires_grad=True)  # x\n"
				   "    reader.tensor(buf0, (4,), requires_grad=True)  # y\n"
				   "load_args._version = 0\n"
				   "mod = Repro()\n"
				   "if __name__ == '__main__':\n"
				   "    from torch._dynamo.repro.after_aot import run_repro\n"
				   "    run_repro(mod, load_args)\n";
	static const struct {
		bool (*also)(const struct test *t);
		const char *storages;
		unsigned n, leaves, dense;
	} all[] = {{shares, "reader.storage(", 1, 2, 2}, {any_history, "reader.storage(", 2, 1, 2}, {NULL, "reader.storage(", 2, 2, 2}};
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		struct buf b = {0};
		struct err err;
		oracle.also = all[i].also;
		reduce(text, LIST("add"), NULL, NODES | PASS(MEMORY) | PASS(LEAVES) | PASS(STRIDES));
		assert_int_equal(r.best.ops, 1);
		struct repro_given *given = candidate_given(&r.best, &original);
		const struct repro_program p = {.style = REPRO_ALONE, .graph = &r.best.graph, .given = given, .n_given = r.best.n_feeds};
		if (repro_text(&original, &p, &b, &err) < 0)
			fail_msg("%s", err.text);
		assert_int_equal(count_text(buf_slice(&b), all[i].storages), all[i].n);
		assert_int_equal(count_text(buf_slice(&b), "is_leaf=True"), all[i].leaves);
		assert_int_equal(count_text(buf_slice(&b), "requires_grad=True"), 2);
		assert_sizes(0, "8 4 | 4 1");
		free(given);
		buf_release(&b);
		done();
	}
	/* Without those passes all of it stays, random or not; a document says the same. */
	reduce(text, LIST("add"), NULL, NODES | PASS(VALUES));
	struct repro doc;
	candidate_repro(&r.best, &original, &doc);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(r.best.feed[i].kind, FEED_RANDOM);
		assert_int_equal(doc.input[i].storage, 0);
		assert_false(doc.input[i].is_leaf);
		assert_int_equal(doc.input[i].offset.k, i ? 0 : 8);
	}
	assert_int_equal(doc.n_storages, 1);
	candidate_repro_release(&doc);
	struct buf b = {0};
	struct err err;
	struct repro_given *given = candidate_given(&r.best, &original);
	const struct repro_program p = {.style = REPRO_ALONE, .graph = &r.best.graph, .given = given, .n_given = r.best.n_feeds};
	assert_int_equal(repro_text(&original, &p, &b, &err), 0);
	assert_int_equal(count_text(buf_slice(&b), "reader.storage(None, 512)"), 1);
	assert_true(holds(buf_slice(&b), "reader.tensor(buf0, (8, 4), (1, 8), storage_offset=8, requires_grad=True)  # x"));
	free(given);
	buf_release(&b);
	done();
}

/* Equal questions have equal keys, others have others. */
static void test_hash(void **state)
{
	(void)state;
	struct candidate a, b;
	reduce(HEAD "x: \"f32[4]\", y: \"f32[4]\"):\n" A "add: \"f32[4]\" = torch.ops.aten.add.Tensor(x, y)\n" A "return (add,)\n",
	       LIST("add"), NULL, 0);
	candidate_whole(&a, &original);
	candidate_copy(&b, &a);
	assert_true(candidate_hash(&a) == candidate_hash(&b));
	b.feed[1].kind = FEED_RANDOM;
	assert_true(candidate_hash(&a) != candidate_hash(&b));
	uint64_t random = candidate_hash(&b);
	b.graph.dim[b.graph.meta[b.feed[1].meta].dim].k = 2;
	assert_true(candidate_hash(&b) != random);
	candidate_release(&b);
	candidate_copy(&b, &a);
	b.graph.value[b.graph.node[b.n_feeds].args + 1] = b.graph.value[b.graph.node[b.n_feeds].args];
	assert_true(candidate_hash(&a) != candidate_hash(&b));
	candidate_release(&b);
	candidate_release(&a);
	done();
}

/* As a document: inputs with storages of their size, none that nobody has. */
static void test_document(void **state)
{
	(void)state;
	struct buf launcher = {0};
	struct repro doc;
	assert_true(data_load("repro/aot_forward/minifier_launcher.py", &launcher));
	reduce(launcher.p, LIST("torch.ops"), NULL, NODES);
	candidate_repro(&r.best, &original, &doc);
	assert_int_equal(doc.n_inputs, r.best.n_feeds);
	for (size_t i = 0; i < doc.n_inputs; i++)
		if (doc.input[i].kind == REPRO_TENSOR) {
			struct symbind env = {0};
			struct err err;
			int64_t bytes;
			assert_true(doc.input[i].storage < doc.n_storages);
			repro_bind(&doc, &env);
			assert_int_equal(repro_tensor_bytes(&doc.graph, &doc.graph.meta[doc.input[i].meta], &env, &bytes, &err), 0);
			assert_true(doc.storage[doc.input[i].storage].nbytes.k >= bytes);
			symbind_release(&env);
		}
	assert_true(doc.n_storages <= doc.n_inputs);
	candidate_repro_release(&doc);
	done();
	buf_release(&launcher);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_bypass),
	    cmocka_unit_test(test_suspects),
	    cmocka_unit_test(test_at_once),
	    cmocka_unit_test(test_unknown_shapes),
	    cmocka_unit_test(test_outputs),
	    cmocka_unit_test(test_tuples),
	    cmocka_unit_test(test_values_and_inputs),
	    cmocka_unit_test(test_sizes),
	    cmocka_unit_test(test_dtypes),
	    cmocka_unit_test(test_symbols),
	    cmocka_unit_test(test_arguments_and_constants),
	    cmocka_unit_test(test_subgraphs),
	    cmocka_unit_test(test_kinds_of_inputs),
	    cmocka_unit_test(test_head),
	    cmocka_unit_test(test_hash),
	    cmocka_unit_test(test_document),
	};
	return RUN(tests);
}
