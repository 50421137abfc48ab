/* repro.h: programs that run one graph, as torch 2.13 wrote them and in the forms of 1.13 and 2.0; what is written is read back the
 * same; every mistake is told with its line. */
#include "../../lib/repros.h"
#include "../../lib/missing.h"

#define PROGRAM(forward, body, foot) \
	"import torch\nclass Repro(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n" \
	"    def forward(self, " forward "):\n        return (a,)\ndef load_args(reader):\n" body "load_args._version = 0\n" \
	"mod = Repro()\n" foot
#define RUN_FOOT "if __name__ == '__main__':\n    run_repro(mod, load_args, accuracy=False, command='run', tracing_mode='real')\n"
#define ONE(body) PROGRAM("a", "    b = reader.storage(None, 16)\n" body, RUN_FOOT)

static void read_text(struct repro *r, const char *text)
{
	struct err err = {0};
	*r = (struct repro){0};
	if (repro_read(r, slice_str(text), "t.py", &err) < 0)
		fail_msg("%s", err.text);
}

static const struct repro_line *find_line(const struct repro *r, enum repro_line_kind kind, const char *name)
{
	for (size_t i = 0; i < r->n_lines; i++)
		if (r->line[i].kind == kind && slice_is(r->line[i].name, name))
			return &r->line[i];
	fail_msg("no line '%s'", name);
	return NULL;
}

static const struct {
	const char *name;
	enum repro_form form;
	size_t inputs, storages;
	const char *command, *tracing, *accuracy, *backend;
	size_t config;
} samples[] = {
    {"minifier/aot_accuracy/minifier_launcher.py", REPRO_AFTER_AOT, 5, 5, "minify", "real", "True", "", 9},
    {"minifier/aot_compile_error/minifier_launcher.py", REPRO_AFTER_AOT, 5, 5, "minify", "real", "False", "", 8},
    {"minifier/aot_compile_error/repro.py", REPRO_AFTER_AOT, 1, 1, "run", "real", "False", "", 10},
    {"minifier/aot_dynamic/minifier_launcher.py", REPRO_AFTER_AOT, 6, 5, "minify", "symbolic", "False", "", 8},
    {"minifier/aot_nan/minifier_launcher.py", REPRO_AFTER_AOT, 5, 5, "minify", "real", "False", "", 8},
    {"minifier/aot_runtime_error/minifier_launcher.py", REPRO_AFTER_AOT, 5, 5, "minify", "real", "False", "", 9},
    {"minifier/dynamo_accuracy/minifier_launcher.py", REPRO_AFTER_DYNAMO, 5, 5, "minify", "", "True", "relu_accuracy_error_TESTING_ONLY",
     1},
    {"minifier/dynamo_compile_error/minifier_launcher.py", REPRO_AFTER_DYNAMO, 5, 5, "minify", "", "False", "inductor", 8},
    {"minifier/dynamo_compile_error/repro.py", REPRO_AFTER_DYNAMO, 1, 1, "run", "", "False", "inductor", 8},
    {"minifier/runnable/forward.py", REPRO_AFTER_AOT, 2, 2, "run", "real", "False", "", 7},
    {"minifier/runnable/backward.py", REPRO_AFTER_AOT, 3, 3, "run", "real", "False", "", 11},
    {"repro/aot_forward/minifier_launcher.py", REPRO_AFTER_AOT, 3, 3, "minify", "real", "False", "", 10},
    {"repro/aot_backward/minifier_launcher.py", REPRO_AFTER_AOT, 3, 3, "minify", "real", "False", "", 8},
    {"repro/aot_strides/minifier_launcher.py", REPRO_AFTER_AOT, 2, 1, "minify", "real", "False", "", 8},
    {"repro/dynamo_dynamic/minifier_launcher.py", REPRO_AFTER_DYNAMO, 7, 2, "minify", "", "False", "failing", 9},
    {"repro/kinds.py", REPRO_AFTER_AOT, 4, 1, "run", "real", "False", "", 8},
    {"repro/repeats.py", REPRO_AFTER_AOT, 2, 1, "run", "real", "False", "", 8},
    {"repro/distributed.py", REPRO_AFTER_AOT, 1, 1, "run", "real", "False", "", 8},
    {"repro/cond_2_15.py", REPRO_AFTER_AOT, 2, 2, "minify", "real", "False", "", 6},
    {"repro/flex_2_15.py", REPRO_AFTER_AOT, 3, 3, "minify", "real", "False", "", 6},
    {"repro/while_2_15.py", REPRO_AFTER_AOT, 2, 2, "minify", "real", "False", "", 6},
    {"repro/cond_2_13.txt", REPRO_AFTER_AOT, 2, 2, "minify", "real", "False", "", 10},
    {"repro/triton.py", REPRO_AFTER_AOT, 1, 1, "run", "real", "False", "", 0},
    {"repro/old_aot_1_13.py", REPRO_AFTER_AOT, 2, 2, "run", "real", "False", "", 0},
    {"repro/old_aot_2_0_accuracy.py", REPRO_AFTER_AOT, 2, 1, "run", "symbolic", "True", "", 0},
    {"repro/old_aot_2_0_minify.py", REPRO_AFTER_AOT, 1, 1, "minify", "real", "False", "", 0},
    {"repro/old_dynamo_2_0.py", REPRO_AFTER_DYNAMO, 1, 1, "run", "", "False", "inductor", 0},
};

static void test_samples(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
		struct repro r;
		open_sample(&r, samples[i].name);
		print_message("# %s\n", samples[i].name);
		assert_int_equal(r.form, samples[i].form);
		assert_int_equal(r.n_inputs, samples[i].inputs);
		assert_int_equal(r.n_storages, samples[i].storages);
		assert_text(r.command, samples[i].command);
		assert_text(r.tracing_mode, samples[i].tracing);
		assert_text(r.accuracy, samples[i].accuracy);
		assert_text(r.backend, samples[i].backend);
		assert_int_equal(count_lines(&r, REPRO_CONFIG), samples[i].config);
		assert_int_equal(r.old, slice_starts(slice_str(samples[i].name), "repro/old_"));
		for (size_t k = 0; k < r.n_inputs; k++) {
			assert_true(r.input[k].name.n > 0);
			assert_int_equal(repro_find_input(&r, r.input[k].name), k);
		}
		repro_release(&r);
	}
}

static void test_head(void **state)
{
	(void)state;
	struct repro r;
	open_sample(&r, "minifier/aot_dynamic/minifier_launcher.py");
	assert_text(find_line(&r, REPRO_SYMBOL, "s77")->value, "4");
	assert_int_equal(find_line(&r, REPRO_SYMBOL, "s77")->line, 1);
	assert_text(find_line(&r, REPRO_ENV_SET, "TORCHINDUCTOR_CACHE_DIR")->value, "/tmp/torchinductor_user");
	find_line(&r, REPRO_ENV_POP, "TORCHDYNAMO_REPRO_LEVEL");
	assert_text(find_line(&r, REPRO_CONFIG, "torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY")->value, "'compile_error'");
	assert_text(r.torch_version, "2.13.0+cpu");
	assert_int_equal(count_lines(&r, REPRO_IMPORT), 12);
	struct symbind env = {0};
	int64_t v;
	repro_bind(&r, &env);
	assert_true(symbind_get(&env, symtab_symbol(&r.graph.tab, SLICE("s77")), &v));
	assert_int_equal(v, 4);
	symbind_release(&env);
	repro_release(&r);
	open_sample(&r, "repro/triton.py");
	assert_int_equal(count_lines(&r, REPRO_TRITON), 2);
	assert_true(slice_starts(find_line(&r, REPRO_TRITON, "add_kernel_0")->text, "@triton.autotune("));
	assert_true(slice_ends(find_line(&r, REPRO_TRITON, "add_kernel_0")->text, "mask=mask)"));
	assert_text(r.storage[0].device, "cuda:0");
	repro_release(&r);
}

/* Subgraphs: torch 2.15 writes them as classes before Repro, torch 2.13 loses them. What is written is read as the same again. */
static void test_subgraphs(void **state)
{
	(void)state;
	static const struct {
		const char *name, *child;
	} all[] = {{"repro/cond_2_15.py", "false_graph_0"},
		   {"repro/flex_2_15.py", "sdpa_mask0"},
		   {"repro/while_2_15.py", "while_loop_body_graph_0"}};
	struct repro r, again;
	struct buf text = {0};
	struct err err = {0};
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		open_sample(&r, all[i].name);
		assert_int_equal(r.graph.n_modules, 3);
		assert_int_equal(r.graph.n_attrs, 0);
		assert_int_not_equal(graph_child(&r.graph, 0, slice_str(all[i].child)), NONE);
		assert_null(repro_lost_module(&r));
		assert_text(r.is_inference, "True");
		buf_reset(&text);
		add_launcher(&r, &text);
		again = (struct repro){0};
		assert_int_equal(repro_read(&again, buf_slice(&text), "again.py", &err), 0);
		assert_same(&r, &again);
		repro_release(&again);
		repro_release(&r);
	}
	open_sample(&r, "repro/cond_2_13.txt");
	assert_text(graph_text(&r.graph, repro_lost_module(&r)->name), "true_graph_0");
	repro_release(&r);
	buf_release(&text);
}

/* Which inputs share memory, or are a part of it. */
static void test_views(void **state)
{
	(void)state;
	static const struct {
		const char *inputs;
		bool view[3];
	} all[] = {
	    {"    b = reader.storage(None, 16)\n    reader.tensor(b, (4,))\n", {false}},
	    {"    b = reader.storage(None, 32)\n    reader.tensor(b, (4,))\n", {true}},
	    {"    b = reader.storage(None, 32)\n    reader.tensor(b, (4,), storage_offset=4)\n", {true}},
	    {"    b = reader.storage(None, 16)\n    reader.tensor(b, (4,))\n    c = reader.storage(None, 4)\n    reader.tensor(c, (1,))\n"
	     "    reader.tensor(b, (2, 2))\n",
	     {true, false, true}},
	};
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		struct repro r = {0};
		struct buf b = {0};
		struct err err = {0};
		const size_t n = i == 3 ? 3 : 1;
		buf_addf(&b,
			 "class Repro(torch.nn.Module):\n    def forward(self%s): return (x0,)\ndef "
			 "load_args(reader):\n%sload_args._version = 0\n"
			 "mod = Repro()\nif __name__ == '__main__':\n    from torch._dynamo.repro.after_aot import run_repro\n    "
			 "run_repro(mod, load_args)\n",
			 n == 3 ? ", x0, x1, x2" : ", x0", all[i].inputs);
		if (repro_read(&r, buf_slice(&b), "views.py", &err) < 0)
			fail_msg("%s", err.text);
		for (uint32_t k = 0; k < n; k++)
			assert_int_equal(repro_is_view(&r, k), all[i].view[k]);
		repro_release(&r);
		buf_release(&b);
	}
}

static void test_load_args(void **state)
{
	(void)state;
	struct repro r;
	open_sample(&r, "repro/aot_strides/minifier_launcher.py");
	const struct gmeta *m = &r.graph.meta[r.input[0].meta];
	assert_int_equal(m->dtype, DTYPE_F64);
	assert_int_equal(m->n_dim, 2);
	assert_int_equal(r.graph.dim[m->dim].k, 4);
	assert_int_equal(r.graph.dim[m->dim + 2].k, 1);
	assert_int_equal(r.graph.dim[m->dim + 3].k, 4);
	assert_int_equal(r.input[0].offset.k, 8);
	assert_int_equal(r.input[1].storage, 0);
	assert_text(r.storage[0].dtype_hint, "float64");
	assert_text(graph_text(&r.graph, m->device), "cpu");
	assert_int_equal(r.graph.node[0].meta, r.input[0].meta);
	repro_release(&r);

	open_sample(&r, "repro/dynamo_dynamic/minifier_launcher.py");
	assert_int_equal(r.input[0].kind, REPRO_SYMINT);
	assert_int_equal(r.input[0].value.k, 3);
	assert_text(r.input[3].name, "l_n_");
	assert_text(r.input[3].expr, "s86");
	repro_release(&r);

	open_sample(&r, "repro/kinds.py");
	assert_int_equal(r.input[1].kind, REPRO_CONST);
	assert_int_equal(r.input[2].kind, REPRO_UNSUPPORTED);
	assert_true(slice_find(r.input[2].block, "items[0]") != NULL);
	assert_int_equal(r.input[3].kind, REPRO_GENERATOR);
	assert_text(r.input[3].expr, "'cpu', None");
	repro_release(&r);

	open_sample(&r, "repro/repeats.py");
	assert_int_equal(r.n_fixups, 1);
	assert_int_equal(r.fixup[0].repeats, 0);
	assert_int_equal(r.fixup[0].output_size, 1);
	repro_release(&r);

	open_sample(&r, "repro/distributed.py");
	assert_true(slice_find(r.setup, "setup_fake_process_groups({'0': {'size': 2, 'rank': 0}})") != NULL);
	assert_text(r.teardown, "    dist.destroy_process_group()");
	repro_release(&r);
}

/* What is rarely seen: views that conjugate, objects of a script class, a device in quotes, strides by name. */
static void test_rare(void **state)
{
	(void)state;
	struct repro r, again = {0};
	struct buf text = {0};
	struct err err = {0};
	read_text(&r, PROGRAM("a, b",
			      "    x = reader.storage(None, 64, device='cuda:1', dtype_hint=torch.complex64)\n"
			      "    reader.tensor(x, [2, 4], stride=(1, 2), dtype=torch.complex64, conj=True, neg=True)  # a\n"
			      "    reader.opaque('torch.MyClass')  # b\n",
			      RUN_FOOT));
	assert_text(r.input[0].extra, "conj=True, neg=True");
	assert_text(r.storage[0].device, "cuda:1");
	assert_int_equal(r.graph.dim[r.graph.meta[r.input[0].meta].dim + 3].k, 2);
	assert_int_equal(r.input[1].kind, REPRO_OPAQUE);
	assert_text(r.input[1].expr, "'torch.MyClass'");
	add_launcher(&r, &text);
	assert_non_null(slice_find(buf_slice(&text), "device=device(type='cuda', index=1)"));
	assert_int_equal(repro_read(&again, buf_slice(&text), "again.py", &err), 0);
	assert_same(&r, &again);
	buf_reset(&text);
	r.storage[0].hash = SLICE("../x");
	assert_int_equal(repro_storage_path(&r, 0, &text), -1);
	buf_release(&text);
	repro_release(&again);
	repro_release(&r);
}

static void test_old(void **state)
{
	(void)state;
	struct repro r;
	open_sample(&r, "repro/old_aot_1_13.py");
	assert_int_equal(r.storage[0].nbytes.k, 1600);
	assert_int_equal(r.graph.meta[r.input[1].meta].dtype, DTYPE_I64);
	assert_text(r.input[0].name, "add");
	repro_release(&r);
	open_sample(&r, "repro/old_aot_2_0_accuracy.py");
	assert_int_equal(r.input[0].kind, REPRO_SYMINT);
	assert_text(r.input[0].expr, "s0");
	repro_release(&r);
	open_sample(&r, "repro/old_dynamo_2_0.py");
	assert_true(r.input[0].requires_grad);
	assert_text(r.autocast, "False");
	repro_release(&r);
}

static void test_aoti(void **state)
{
	(void)state;
	struct repro r;
	open_sample(&r, "repro/aoti/minifier_launcher.py");
	assert_int_equal(r.form, REPRO_AOTI);
	assert_true(slice_ends(r.exported, "/exported_program.pt2"));
	assert_text(r.config_patches, "{'aot_inductor.package': True}");
	assert_int_equal(r.n_inputs, 3);
	assert_int_equal(r.storage[0].bytes.n, 64);
	assert_true(r.input[0].requires_grad);
	assert_text(r.command, "minify");
	repro_release(&r);
}

/* ---- mistakes ---- */

static void test_mistakes(void **state)
{
	(void)state;
	static const struct {
		const char *text, *why;
	} bad[] = {
	    {"", "has no class with a forward()"},
	    {"x = 1\n", "has no class with a forward()"},
	    {"class Repro:\n  def forward(self, a):\n    return (a,)\n" RUN_FOOT, "has no load_args"},
	    {PROGRAM("a, b, c", "    reader.symint(1)\n", RUN_FOOT), "load_args has 1 input, forward takes 3"},
	    {PROGRAM("a", "    pass\n", "if __name__ == '__main__':\n    print(1)\n"), "line 11: no call of run_repro"},
	    {ONE("    reader.tensor(c, (4,))\n"), "line 9: 'c' is not defined"},
	    {ONE("    reader.tensor(b, (5,))\n"), "line 9: the tensor needs 20 bytes, but its storage has 16"},
	    {ONE("    reader.tensor(b, (4,), storage_offset=1)\n"), "line 9: the tensor needs 20 bytes"},
	    {ONE("    reader.tensor(b, (-4,))\n"), "line 9: negative size"},
	    {ONE("    reader.tensor(b, 4)\n"), "line 9: '4' is not a shape"},
	    {ONE("    reader.tensor(b, (4,), (1, 1))\n"), "line 9: '(1, 1)' are not strides of 1 dimensions"},
	    {ONE("    reader.tensor(b, (4,), dtype=torch.float31)\n"), "line 9: unknown dtype 'torch.float31'"},
	    {ONE("    reader.tensor(b, (4,), is_leaf=yes)\n"), "line 9: is_leaf must be True or False"},
	    {ONE("    reader.tensor(b)\n"), "line 9: a tensor must have a storage"},
	    {ONE("    reader.tensor(b, (4,),, x=1)\n"), "line 9: malformed arguments of tensor"},
	    {ONE("    reader.something(1)\n"), "line 9: unknown method 'something'"},
	    {ONE("    x = 5\n"), "line 9: unknown statement 'x = 5' in load_args"},
	    {ONE("    os.system('x')\n"), "line 9: unknown statement 'os.system('x')' in load_args"},
	    {ONE("    b = reader.storage('../../etc/passwd', 16)\n"), "line 9: '../../etc/passwd' is not the hash of a storage"},
	    {ONE("    b = reader.storage(None, -1)\n"), "line 9: a storage cannot have -1 bytes"},
	    {ONE("    b = reader.storage(None, 'x')\n"), "line 9: ''x'' is not a number of bytes"},
	    {ONE("    b = reader.storage(None)\n"), "line 9: a storage must have a hash and a number of bytes"},
	    {ONE("    reader.storage(None, 4)\n"), "line 9: a storage must have a name"},
	    {ONE("    b = reader.storage(None, 4, device=torch)\n"), "line 9: 'torch' is not a device"},
	    {ONE("    b = _repro_bytes(reader, 'AAA', 4)\n"), "line 9: the values of a storage are not valid base64"},
	    {ONE("    b = _repro_bytes(reader, 'AAAA', 4)\n"), "line 9: the storage has 3 bytes of values"},
	    {ONE("    reader.symint()\n"), "line 9: a symint must have an integer"},
	    {ONE("    reader.symint(4, expr=s0)\n"), "line 9: 's0' is not an expression in quotes"},
	    {ONE("    torch.manual_seed(x)\n"), "line 9: the seed is not a number"},
	    {ONE("    reader.tensor(b, (4,\n"), "line 9: unclosed bracket"},
	    {ONE("    if hasattr(reader, 'args'):\n        _repeats = reader.args[7]\n"), "line 10: no input 7"},
	    {PROGRAM("a", "    reader.symint(1)\n", "load_args._version = 3\n" RUN_FOOT), "line 11: load_args has version 3"},
	    {"class R:\n  def forward(self, a):\n    return (a,)\nargs = [((2,), (1,), torch.float32)]\n",
	     "line 4: a tensor must have a shape, strides"},
	    {"class R:\n  def forward(self, a):\n    return (a,)\nargs = [((2,), (1,), torch.float31, 'cpu')]\n",
	     "line 4: unknown dtype 'torch.float31'"},
	    {"class R:\n  def forward(self, a):\n    return (a,)\nargs = [((2,), (1,), torch.float32, 'gpu')]\n",
	     "line 4: ''gpu'' is not a device"},
	    {"class R:\n  def forward(self, a):\n    return (a,)\nargs = 5\n", "line 4: args must be a list"},
	    {"class R:\n  def forward(self, a):\n    return (a,)\nargs = []\nargs.append(open('x'))\n",
	     "line 5: unknown input 'open('x')'"},
	    {"class R:\n  def forward(self, a):\n    return (a,)\n", "line 2: no load_args, and the placeholder 'a' has no annotation"},
	    {"args = [5]\nclass R:\n  def forward(self, a):\n    return (a,)", "args has 0 inputs, forward takes 1"},
	    {"a\0b", "contains NUL bytes"},
	};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct repro r = {0};
		struct err err = {0};
		const size_t n = bad[i].text[0] == 'a' && !bad[i].text[1] ? 3 : strlen(bad[i].text);
		if (repro_read(&r, slice_of(bad[i].text, n), "t.py", &err) == 0)
			fail_msg("case %zu was read: %s", i, bad[i].why);
		assert_int_equal(err.status, EXIT_INPUT);
		if (!slice_find(slice_str(err.text), bad[i].why) || !slice_starts(slice_str(err.text), "'t.py'"))
			fail_msg("case %zu: '%s' instead of '%s'", i, err.text, bad[i].why);
	}
	struct repro r = {0};
	struct err err = {0};
	assert_int_equal(repro_open(&r, missing_path("x.py"), &err), -1);
}

/* ---- round trips ---- */

static void test_round_trip(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
		struct repro r, again = {0};
		struct buf text = {0}, twice = {0};
		struct err err = {0};
		print_message("# %s\n", samples[i].name);
		open_sample(&r, samples[i].name);
		add_launcher(&r, &text);
		assert_non_null(slice_find(buf_slice(&text), "from math import inf, nan\n"));
		if (repro_read(&again, buf_slice(&text), "again.py", &err) < 0)
			fail_msg("%s\n%s", err.text, buf_str(&text));
		assert_same(&r, &again);
		assert_slices(r.command, again.command);
		for (size_t k = 0; k < r.n_storages; k++)
			assert_slices(r.storage[k].hash, again.storage[k].hash);
		/* Torch forgets to import the modules of some functions: those come in. */
		if (!r.old)
			assert_in_range(again.n_lines, r.n_lines, r.n_lines + 2);
		add_launcher(&again, &twice);
		if (!r.old)
			assert_slices(buf_slice(&text), buf_slice(&twice));
		buf_release(&text);
		buf_release(&twice);
		repro_release(&again);
		repro_release(&r);
	}
}

/* A launcher as it is but for nan: torch's own text, statement for statement. */
static void test_same_text(void **state)
{
	(void)state;
	struct repro r;
	struct buf text = {0};
	open_sample(&r, "repro/repeats.py");
	add_launcher(&r, &text);
	struct slice rest = r.file.bytes, line, have = buf_slice(&text);
	while (slice_line(&rest, &line)) {
		char *want = xstrndup(line.p, line.n);
		if (slice_trim(line).n && !slice_is(line, "from math import inf") && !slice_find(have, want))
			fail_msg("missing: %s", want);
		free(want);
	}
	buf_release(&text);
	repro_release(&r);
}

/* ---- what else there is ---- */

static void test_backends(void **state)
{
	(void)state;
	static const struct {
		const char *given, *want;
		bool text;
	} cases[] = {{"'inductor'", "inductor", false}, {"None", "", false},      {"toys.toy_compiler", "toys:toy_compiler", false},
		     {"mine", "my.module:mine", false}, {"other", "other", true}, {"partial(f, 1)", "partial(f, 1)", true}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct buf b = {0}, text = {0};
		struct repro r, again = {0};
		struct err err;
		buf_addf(&b, "from my.module import mine\n%s", PROGRAM("a", "    reader.symint(1)\n", ""));
		buf_addf(&b,
			 "if __name__ == '__main__':\n    from torch._dynamo.repro.after_dynamo import run_repro\n"
			 "    run_repro(mod, load_args, accuracy=False, command='run',\n        save_dir=None, backend=%s)\n",
			 cases[i].given);
		read_text(&r, buf_str(&b));
		assert_text(r.backend, cases[i].want);
		assert_int_equal(r.backend_text, cases[i].text);
		add_launcher(&r, &text);
		assert_int_equal(repro_read(&again, buf_slice(&text), "x", &err), 0);
		assert_slices(r.backend, again.backend);
		repro_release(&again);
		repro_release(&r);
		buf_release(&b);
		buf_release(&text);
	}
}

/* A graph alone: its annotations are its inputs. */
static void test_bare(void **state)
{
	(void)state;
	struct repro r, again = {0};
	struct buf text = {0};
	struct err err = {0};
	read_text(&r, "class <lambda>(torch.nn.Module):\n"
		      "    def forward(self, arg0_1: \"Sym(s77)\", arg1_1: \"bf16[s77, 8][1, s77]cpu\", arg2_1: \"i64[0]\"):\n"
		      "        # File: a.py:3 in f, code: x\n"
		      "        mul: \"bf16[s77, 8]\" = torch.ops.aten.mul.Tensor(arg1_1, arg0_1);  arg1_1 = arg0_1 = None\n"
		      "        return (mul, arg2_1)\n");
	assert_int_equal(r.form, REPRO_GRAPH);
	assert_int_equal(r.n_inputs, 3);
	assert_text(find_line(&r, REPRO_SYMBOL, "s77")->value, "8");
	assert_int_equal(r.input[0].value.k, 8);
	assert_int_equal(r.storage[0].nbytes.k, 128);
	assert_int_equal(r.storage[1].nbytes.k, 0);
	add_launcher(&r, &text);
	assert_true(slice_starts(buf_slice(&text), "s77 = 8\n"));
	assert_int_equal(repro_read(&again, buf_slice(&text), "again.py", &err), 0);
	assert_same_inputs(&r, &again);
	assert_int_equal(again.form, REPRO_AFTER_AOT);
	assert_text(again.tracing_mode, "symbolic");
	buf_release(&text);
	repro_release(&again);
	repro_release(&r);
}

/* Any program cut anywhere, and with bytes changed: no crash, no read beyond its end. */
static void test_damaged(void **state)
{
	(void)state;
	struct guard g = {0};
	uint64_t seed = 3;
	for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
		struct buf text = {0}, out = {0};
		assert_true(data_load(samples[i].name, &text));
		for (int k = 0; k < 300; k++) {
			const size_t n = pick(&seed, (uint32_t)text.len + 1);
			char *p = guard_put(&g, text.p + (text.len - n) * (k & 1), n);
			for (int j = 0; n && j < (k >> 1) % 4; j++)
				p[pick(&seed, (uint32_t)n)] = "()[]'\"#\n,=0x"[pick(&seed, 12)];
			struct repro r = {0};
			struct err err;
			if (repro_read(&r, slice_of(p, n), "t.py", &err) == 0) {
				buf_reset(&out);
				launcher_text(&r, &out, &err);
			}
			repro_release(&r);
		}
		buf_release(&text);
		buf_release(&out);
	}
	guard_release(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_samples),   cmocka_unit_test(test_head),      cmocka_unit_test(test_subgraphs),
	    cmocka_unit_test(test_views),     cmocka_unit_test(test_load_args), cmocka_unit_test(test_old),
	    cmocka_unit_test(test_aoti),      cmocka_unit_test(test_mistakes),  cmocka_unit_test(test_round_trip),
	    cmocka_unit_test(test_same_text), cmocka_unit_test(test_backends),  cmocka_unit_test(test_bare),
	    cmocka_unit_test(test_rare),      cmocka_unit_test(test_damaged),
	};
	return RUN(tests);
}
