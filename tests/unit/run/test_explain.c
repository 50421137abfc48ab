/* libcommon/cli/run/diagnose: where the time went, caches, CUDA graphs, dynamic shapes. (Verdicts, breaks and recompiles: test_verdict.c.) */
#include "../../lib/test.h"

#include "run/diagnose/finding.h"

static struct facts f;
static struct explanation x;

static int setup(void **state)
{
	(void)state;
	facts_init(&f);
	facts_input(&f, FACT_TRACE, "t.log");
	x = (struct explanation){.facts = &f, .sum.compile_seconds = -1};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	explanation_release(&x);
	facts_release(&f);
	return 0;
}

static const struct fact_src src = {0, NONE, NONE, 1, UINT64_MAX};

static uint32_t text(const char *s) { return facts_intern(&f, slice_str(s)); }

static struct fact_compile *compile(const char *id, double seconds)
{
	uint32_t row = facts_compile(&f, 0, 0, 0, slice_str(id), 1);
	f.compile[row].seconds = seconds;
	x.sum.compile_seconds = (x.sum.compile_seconds > 0 ? x.sum.compile_seconds : 0) + (seconds > 0 ? seconds : 0);
	return &f.compile[row];
}

static void phase(uint32_t row, const char *name, double self)
{
	struct fact_phase *p = facts_new_phase(&f, src);
	p->compile = row;
	p->name = text(name);
	p->seconds = p->self = self;
	p->calls = 2;
}

static const struct finding *find(const char *id)
{
	for (uint32_t i = 0; i < x.n_finding; i++)
		if (slice_is(x.finding[i].id, id))
			return &x.finding[i];
	return NULL;
}

static const struct finding *need(const char *id)
{
	const struct finding *g = find(id);
	if (!g)
		fail_msg("no finding %s", id);
	return g;
}

static void holds(struct slice s, const char *what)
{
	if (!slice_find(s, what))
		fail_msg("'%.*s' without '%s'", SL(s), what);
}

static bool near(double a, double b) { return a - b < 1e-9 && b - a < 1e-9; }

/* ---- times ---- */

static void parts_add_up(void **state)
{
	(void)state;
	compile("0/0", 4);
	compile("1/0", 6);
	compile("2/0", 0);
	phase(NONE, "bytecode_tracing", 1);
	phase(NONE, "GraphLowering.run", 2);
	phase(NONE, "GraphLowering.run", 1); /* of another log */
	phase(NONE, "never heard of", 1);
	phase(1, "Scheduler.codegen", 7); /* more than the metrics say */
	explain_times(&x);
	assert_int_equal(x.n_time, 3);
	assert_int_equal(x.time[0].compile, NONE);
	assert_true(near(x.time[0].seconds, 10));
	assert_int_equal(x.time[0].n, 3);
	assert_text(x.part[x.time[0].first].name, "lowering");
	assert_true(near(x.part[x.time[0].first].seconds, 3));
	assert_int_equal(x.part[x.time[0].first].calls, 4);
	assert_text(x.part[x.time[0].first + 2].name, "other"); /* last, with what has no name */
	assert_true(near(x.part[x.time[0].first + 2].seconds, 6));
	assert_int_equal(x.time[1].compile, 1); /* slowest first */
	assert_true(near(x.time[1].seconds, 7));
	assert_int_equal(x.time[2].compile, 0);
	assert_int_equal(x.time[2].n, 1);
	assert_int_equal(x.n_finding, 0);
}

static void parts_from_metrics(void **state)
{
	(void)state;
	struct fact_compile *c = compile("0/0", 4);
	c->dynamo = 1;
	c->codegen = 2.5;
	explain_times(&x);
	for (unsigned i = 0; i < 2; i++) { /* the run's, and the compile id's */
		assert_int_equal(x.time[i].n, 3);
		assert_text(x.part[x.time[i].first].name, "code generation, compile");
		assert_text(x.part[x.time[i].first + 2].name, "other");
		assert_true(near(x.part[x.time[i].first + 2].seconds, 0.5));
	}
}

/* --function leaves phases of compile ids alone. */
static void one_function(void **state)
{
	(void)state;
	compile("0/0", 4);
	compile("1/0", 2);
	phase(0, "bytecode_tracing", 3);
	phase(1, "bytecode_tracing", 2);
	x.sum.compile_seconds = 100;
	explain_times(&x);
	assert_true(near(x.time[0].seconds, 6));
	assert_true(near(x.part[x.time[0].first].seconds, 5));
}

static void nothing_known(void **state)
{
	(void)state;
	explain_times(&x);
	explain_shapes(&x);
	assert_int_equal(x.n_time + x.n_finding + x.n_symbol, 0);
}

static void what_dominates(void **state)
{
	(void)state;
	static const struct {
		const char *phase, *id;
	} parts[] = {
	    {"compile_file", "time-compiler"},
	    {"bytecode_tracing", "time-dynamo"},
	    {"build_guards", "time-guards"},
	    {"aot_collect_metadata", "time-aotautograd"},
	    {"_recursive_post_grad_passes", "time-passes"},
	    {"GraphLowering.run", "time-lowering"},
	    {"Scheduler.fused_nodes", "time-scheduling"},
	    {"Scheduler.codegen", "time-codegen"},
	    {"mm_template_autotuning", "time-autotune"},
	    {"FxGraphCache.load", "time-cache"},
	};
	for (unsigned i = 0; i < ARRAY_LEN(parts); i++)
		for (int enough = 0; enough < 3; enough++) {
			teardown(NULL);
			setup(NULL);
			compile("0/0", enough == 1 ? 11 : 8);
			phase(NONE, parts[i].phase, enough == 2 ? 4.9 : 5.2); /* half of it and five seconds */
			explain_times(&x);
			assert_int_equal(find(parts[i].id) != NULL, enough == 0);
			if (enough == 0) {
				assert_int_equal(x.n_finding, 1);
				assert_true((x.finding[0].fix.n || x.finding[0].hint.n) && x.finding[0].why.n &&
					    near(x.finding[0].seconds, 5.2));
				holds(x.finding[0].title, "5.2 s of 8.0 s");
				holds(x.finding[0].evidence, parts[i].phase);
			}
		}
}

static void overheads(void **state)
{
	(void)state;
	compile("0/0", 20)->restarts = 3;
	phase(NONE, "gc", 2.5);
	explain_times(&x);
	assert_int_equal(x.n_finding, 2);
	holds(need("time-gc")->hint, "run_gc_after_compile");
	holds(need("time-restarts")->title, "3.0 s of 20.0 s");
}

static void recompiles_cost(void **state)
{
	(void)state;
	compile("0/0", 10);
	compile("0/1", 3);
	compile("0/2", 4);
	explain_times(&x);
	const struct finding *g = need("time-recompiles");
	assert_int_equal(g->count, 2);
	assert_true(near(g->seconds, 7));
	assert_text(g->compiles, "0/1 0/2");
	assert_int_equal(x.n_finding, 1);
}

static void slow_guards(void **state)
{
	(void)state;
	static const double us[] = {999, 1500.5, -1};
	for (unsigned i = 0; i < 3; i++) {
		char id[8];
		snprintf(id, sizeof(id), "%u/0", i);
		compile(id, 0.1)->guard_eval = us[i] / 1e6;
	}
	explain_times(&x);
	const struct finding *g = need("guard-latency");
	assert_int_equal(x.n_finding, 1);
	assert_int_equal(g->count, 1);
	assert_text(g->compiles, "1/0");
	holds(g->title, "1.5 ms");
}

/* ---- caches ---- */

static void cache(uint32_t row, enum fact_cache_kind kind, enum fact_cache_what what, const char *reason)
{
	struct fact_cache *c = facts_new_cache(&f, src);
	c->compile = row;
	c->kind = kind;
	c->what = what;
	c->reason = reason ? text(reason) : NONE;
}

static void bypasses(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		char id[8];
		snprintf(id, sizeof(id), "%u/0", i);
		struct fact_compile *c = compile(id, 4);
		c->aot = 1;
		c->inductor = 1;
		c->codegen = 2;
	}
	cache(0, FACT_CACHE_AOT, FACT_BYPASS, "Unsupported call_function target cond. Function module: torch.ops.higher_order");
	cache(0, FACT_CACHE_FX, FACT_BYPASS, "Can't cache HigherOrderOperator: cond");
	cache(1, FACT_CACHE_FX, FACT_BYPASS, "Can't cache HigherOrderOperator: cond");
	cache(2, FACT_CACHE_FX, FACT_BYPASS, NULL);
	cache(3, FACT_CACHE_AOT, FACT_BYPASS, "Unsupported call_function target autograd_function_apply.");
	explain_times(&x);
	assert_int_equal(x.n_finding, 3); /* AOTAutograd's of 0/0 is told with the FX graph's */
	const struct finding *g = &x.finding[0];
	assert_int_equal(g->count, 2);
	assert_true(near(g->seconds, 6));
	assert_int_equal(g->level, FINDING_WARNING); /* five seconds and more */
	assert_text(g->compiles, "0/0 1/0");
	assert_text(g->evidence, "Can't cache HigherOrderOperator: cond");
	assert_true(g->hint.n > 0);
	assert_int_equal(x.finding[1].level, FINDING_NOTE);
	holds(x.finding[1].title, "no reason logged");
	g = need("cache-bypass-aotautograd");
	assert_true(near(g->seconds, 1)); /* only its own tracing: the FX graph cache works */
	holds(g->hint, "autograd_cache_allow_custom_autograd_functions");
}

static void cold_or_new(void **state)
{
	(void)state;
	for (int warm = 0; warm < 3; warm++) {
		teardown(NULL);
		setup(NULL);
		compile("0/0", 12)->codegen = warm == 2 ? 9 : 11;
		if (warm == 1)
			cache(0, FACT_CACHE_FX, FACT_HIT, NULL);
		cache(0, FACT_CACHE_FX, FACT_MISS, NULL);
		cache(0, FACT_CACHE_FX, FACT_HIT, NULL); /* the same graph after a reset */
		explain_times(&x);
		assert_int_equal(find("cache-cold") != NULL, warm == 0);
	}
}

static void caches_off(void **state)
{
	(void)state;
	compile("0/0", 12)->codegen = 6;
	phase(NONE, "fx_graph_cache_disabled", 0);
	explain_times(&x);
	assert_int_equal(need("cache-off")->count, 2);
	holds(need("cache-off")->hint, "TORCHINDUCTOR_FORCE_DISABLE_CACHES");
}

/* The settings say that it is on: what is compiled is AOTInductor's. */
static void caches_of_aot(void **state)
{
	(void)state;
	compile("0/0", 12)->codegen = 6;
	phase(NONE, "fx_graph_cache_disabled", 0);
	f.input[0].config.fx_graph_cache = 1;
	f.input[0].config.force_disable_caches = 0;
	explain_times(&x);
	for (uint32_t i = 0; i < x.n_finding; i++)
		assert_false(slice_is(x.finding[i].id, "cache-off"));
}

/* Ranks in few words, however many they are. */
static void ranks_in_words(void **state)
{
	(void)state;
	static const struct {
		uint32_t ranks;
		int64_t without, from;
		const char *words;
	} want[] = {{200, -1, 0, "all"}, {200, 137, 0, "199 of 200, not 137"}, {200, 3, 100, "100-199"}, {4, 2, 0, "0, 1, 3"}};
	for (size_t k = 0; k < ARRAY_LEN(want); k++) {
		struct facts many;
		LOCAL_BUF b = {0};
		facts_init(&many);
		for (uint32_t i = 0; i < want[k].ranks; i++)
			facts_input(&many, FACT_TRACE, "t");
		for (uint32_t i = 0; i < want[k].ranks; i++)
			many.input[i].rank = i;
		struct explanation e = {.facts = &many};
		explain_count_ranks(&e);
		struct finding *g = explain_finding(&e, FINDING_BREAK, FINDING_WARNING);
		for (uint32_t i = want[k].ranks; i-- > want[k].from;)
			if ((int64_t)i != want[k].without)
				explain_on_input(&e, g, i);
		explain_put_ranks(&b, &e, g);
		assert_string_equal(buf_str(&b), want[k].words);
		explanation_release(&e);
		facts_release(&many);
	}
}

static void cuda_graphs(void **state)
{
	(void)state;
	static const struct {
		const char *reason, *title, *hint;
	} skips[] = {
	    {"skipping cudagraphs due to mutated inputs (1 instances). Found from : \n   File \"m.py\", line 3, in f",
	     "No CUDA graph: mutated inputs (1 instances)", "mark_static_address"},
	    {"skipping cudagraphs due to cpu device (arg0_1)", "No CUDA graph: cpu device (arg0_1)", "to(\"cuda\")"},
	    {"skipping cudagraphs due to multiple devices: device(type='cuda', index=0)", "multiple devices", "one GPU"},
	    {"something new", "No CUDA graph: something new", NULL},
	};
	compile("0/0", 1);
	for (unsigned i = 0; i < 2 * ARRAY_LEN(skips); i++) {
		struct fact_cudagraph *c = facts_new_cudagraph(&f, src);
		c->compile = 0;
		c->reason = text(skips[i % ARRAY_LEN(skips)].reason);
	}
	explain_times(&x);
	assert_int_equal(x.n_finding, ARRAY_LEN(skips));
	for (unsigned i = 0; i < ARRAY_LEN(skips); i++) {
		assert_int_equal(x.finding[i].count, 2);
		assert_text(x.finding[i].compiles, "0/0");
		holds(x.finding[i].title, skips[i].title);
		if (skips[i].hint)
			holds(x.finding[i].hint, skips[i].hint);
		else
			assert_int_equal(x.finding[i].hint.n, 0);
	}
}

/* ---- shapes ---- */

static struct fact_symbol *symbol(uint32_t row, const char *name, const char *range)
{
	struct fact_symbol *s = facts_new_symbol(&f, src);
	s->compile = row;
	s->symbol = text(name);
	s->range = text(range);
	return s;
}

static struct fact_bound *bound(uint32_t row, enum fact_bound_kind kind, const char *expr, const char *name, const char *value,
				uint32_t line)
{
	struct fact_bound *b = facts_new_bound(&f, fact_src(0, line));
	b->compile = row;
	b->kind = kind;
	b->expr = text(expr);
	b->symbol = text(name);
	b->value = text(value);
	b->loc = (struct fact_loc){text("app/m.py"), line, text("f"), text("if x.size(0) == 6:")};
	return b;
}

static void ranges(void **state)
{
	(void)state;
	static const struct {
		const char *expr, *range;
		enum fact_bound_kind kind;
	} learned[] = {
	    {"s1 <= 10", "[2, 10]", BOUND_GUARD},
	    {"s1 < 10", "[2, 9]", BOUND_GUARD},
	    {"s1 >= 5", "[5, int_oo]", BOUND_GUARD},
	    {"s1 > 5", "[6, int_oo]", BOUND_ASSERT},
	    {"5 <= s1", "[5, int_oo]", BOUND_GUARD},
	    {"10 > s1", "[2, 9]", BOUND_GUARD},
	    {"Eq(s1, 6)", "[6, 6]", BOUND_GUARD},
	    {"s1 >= -3", "[2, int_oo]", BOUND_GUARD},
	    {"Ne(s1, 6)", "[2, int_oo]", BOUND_GUARD},
	    {"2*s1 <= 10", "[2, int_oo]", BOUND_GUARD},
	    {"s1 <= s2", "[2, int_oo]", BOUND_GUARD},
	    {"s1 <= 1", "[2, int_oo]", BOUND_GUARD},
	    {"s1 <= 99999999999999999999", "[2, int_oo]", BOUND_GUARD},
	    {"s1 <= 10", "[2, int_oo]", BOUND_DATA},
	};
	for (unsigned i = 0; i < ARRAY_LEN(learned); i++) {
		teardown(NULL);
		setup(NULL);
		compile("0/0", 1);
		symbol(0, "s1", "[2, int_oo]");
		bound(0, learned[i].kind, learned[i].expr, "s1", "", 3);
		explain_shapes(&x);
		assert_text(x.symbol[0].range, learned[i].range);
		assert_false(x.symbol[0].specialized);
	}
}

static void symbols_once(void **state)
{
	(void)state;
	compile("0/0", 1);
	compile("0/1", 1);
	symbol(0, "s1", "[2, int_oo]");
	symbol(0, "s1", "[2, int_oo]"); /* another attempt */
	symbol(1, "s1", "[2, int_oo]");
	bound(0, BOUND_GUARD, "s1 + s1 <= s2", "", "", 3); /* s2 has no row of its own */
	bound(0, BOUND_REPLACED, "Eq(s1, s2)", "s2", "s1", 4);
	explain_shapes(&x);
	assert_int_equal(x.n_symbol, 3);
	assert_int_equal(x.symbol[0].row, 0);
	assert_int_equal(x.symbol[0].n_bound, 2);
	assert_int_equal(x.symbol[1].row, 2);
	assert_int_equal(x.symbol[1].n_bound, 0);
	assert_int_equal(x.symbol[2].row, NONE);
	assert_text(x.symbol[2].name, "s2");
	assert_text(x.symbol[2].range, "= s1");
	assert_int_equal(x.n_finding, 0); /* guards that hold are none */
}

static void became_constant(void **state)
{
	(void)state;
	compile("0/0", 1);
	compile("0/1", 1);
	for (uint32_t i = 0; i < 2; i++) {
		symbol(i, "s77", "[2, int_oo]");
		bound(i, BOUND_GUARD, "Eq(s77, 6)", "s77", "", 3);
		bound(i, BOUND_SPECIALIZED, "s77 = 6", "s77", "6", 3)->sources = text("L['x'].size()[1]");
	}
	symbol(1, "s16", "[-int_oo, int_oo]");
	bound(1, BOUND_SPECIALIZED, "s16 = 3", "s16", "3", 9)->sources = text("L['k']");
	symbol(1, "u0", "[0, int_oo]");
	bound(1, BOUND_SPECIALIZED, "u0 = 16", "u0", "16", 12);
	explain_shapes(&x);
	assert_int_equal(x.n_finding, 3);
	assert_text(x.finding[2].title, "u0, a number that the data decides, got specialized to 16");
	const struct finding *g = &x.finding[0];
	assert_text(g->title, "Size of x at dim 1 was dynamic but got specialized to 6");
	assert_int_equal(g->loc.line, 3);
	assert_int_equal(g->count, 2);
	assert_text(g->compiles, "0/0 0/1");
	holds(g->evidence, "Eq(s77, 6)");
	holds(g->hint, "branch on the size");
	holds(g->hint, "mark_static(x, 1)");
	holds(x.finding[1].title, "L['k'] was dynamic but got specialized to 3");
	assert_true(x.symbol[0].specialized);
	assert_int_equal(x.symbol[0].finding, 0);
	assert_text(x.symbol[0].range, "[6, 6]");
	assert_int_equal(x.symbol[2].finding, 1);
}

static void zero_one(void **state)
{
	(void)state;
	static const struct {
		const char *guard, *old, *new;
		bool told;
	} guards[] = {
	    {"tensor 'x' size mismatch at index 0. expected 1, actual 8", "1", "8", true},
	    {"tensor 'x' size mismatch at index 0. expected 3, actual 1", "3", "1", true},
	    {"tensor 'x' size mismatch at index 0. expected 3, actual 8", "3", "8", false},
	    {"tensor 'x' stride mismatch at index 0. expected 3, actual 1", "3", "1", false},
	    {"tensor 'x' size mismatch at index ", "1", "2", false},
	};
	for (unsigned i = 0; i < ARRAY_LEN(guards); i++) {
		teardown(NULL);
		setup(NULL);
		compile("0/1", 1);
		struct fact_recompile *r = facts_new_recompile(&f, src);
		r->compile = 0;
		r->guard = text(guards[i].guard);
		r->old = text(guards[i].old);
		r->new = text(guards[i].new);
		explain_shapes(&x);
		assert_int_equal(x.n_finding, guards[i].told);
		if (guards[i].told)
			holds(need("shape-zero-one")->hint, "mark_unbacked(x, 0)");
	}
}

static void data(void **state)
{
	(void)state;
	compile("0/0", 1);
	symbol(0, "u0", "[0, 1]")->loc = (struct fact_loc){text("app/m.py"), 2, text("f"), NONE};
	bound(0, BOUND_DATA, "Eq(u0, 1)", "u0", "", 3);
	bound(0, BOUND_DATA, "u1 > 2", "u1", "True", 5);
	explain_shapes(&x);
	assert_int_equal(x.n_finding, 2);
	const struct finding *g = need("shape-data-dependent");
	assert_int_equal(g->level, FINDING_ERROR);
	assert_true(slice_starts(g->fix, "torch.cond(")); /* a yes or no: both ways */
	holds(g->evidence, "app/m.py:2 in f");
	g = need("shape-real-tensors");
	assert_int_equal(g->level, FINDING_WARNING);
	assert_true(slice_starts(g->fix, "torch._check(u1 > 2)"));
	holds(g->title, "True");
}

static void constraints_together(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++)
		bound(NONE, BOUND_CONSTRAINT, i == 1 ? "You marked b as dynamic" : "Not all values", "a, b", "", i < 2 ? 7 : 9)->reason =
		    i < 2 ? text("a = 6") : NONE;
	explain_shapes(&x);
	assert_int_equal(x.n_finding, 2); /* one a message */
	assert_text(x.finding[0].evidence, "Not all values\nYou marked b as dynamic");
	assert_text(x.finding[0].torch_hint, "a = 6");
	holds(x.finding[1].fix, "Dim.AUTO");
	assert_int_equal(x.n_symbol, 0);
}

static void native_kernels(void **state)
{
	(void)state;
	static const struct {
		const char *op, *key, *outcome;
		double seconds;
	} call[] = {
	    {"aten::topk", "128", "compiled", 2}, {"aten::topk", "128", "cache_hit", 0}, {"aten::topk", "128", "compiled", 1},
	    {"aten::topk", "256", "compiled", 1}, {"aten::bmm", "128", "compiled", 1},   {"aten::bmm", "128", "error", 50},
	};
	for (unsigned times = 1; times <= 2; times++) {
		for (unsigned i = 0; i < ARRAY_LEN(call); i++) {
			struct fact_native *k = facts_new_native(&f, src);
			k->op = text(call[i].op);
			k->key = text(call[i].key);
			k->outcome = text(call[i].outcome);
			k->seconds = times == 1 ? call[i].seconds : 10;
		}
		x.n_finding = 0;
		explain_times(&x);
		assert_int_equal(x.n_finding, times == 1 ? 1 : 4); /* the same again: each twice and more, and all together ten seconds */
		assert_text(x.finding[0].id, "native-kernel-again");
		assert_int_equal(x.finding[0].count, times * 2);
		assert_text(x.finding[0].cost, times == 1 ? "3.00 s of compile time" : "23.00 s of compile time");
		holds(x.finding[0].why, "for 128");
	}
	assert_text(x.finding[3].id, "native-kernels");
	holds(x.finding[3].title, "3 different");
	assert_int_equal(x.finding[3].count, 8);
}

/* Who hangs is told by its job's last status, where the compilation does not end; one that died is an error. */
static void workers(void **state)
{
	(void)state;
	compile("0/0", -1);
	struct fact_worker *w = facts_new_worker(&f, src);
	w->pid = 4711;
	w->signal = 9;
	w->tail = text("1\n2\n3\n4\n5\n6\n7");
	for (unsigned i = 0; i < 4; i++) {
		w = facts_new_worker(&f, src);
		w->what = WORKER_STATUS;
		w->job = i == 3 ? 8 : 7;
		w->compile = 0;
		w->pid = 4712;
		w->time = w->seconds = 60.0 * (i + 1);
		w->phase = text(i == 3 ? "queued" : "compiling");
		w->phase_seconds = w->seconds - 1;
	}
	f.compile[0].status = COMPILE_UNKNOWN;
	explain_workers(&x);
	assert_int_equal(x.n_finding, 3);
	assert_text(x.finding[0].id, "compile-worker-died");
	assert_int_equal(x.finding[0].level, FINDING_ERROR);
	holds(x.finding[0].title, "(pid 4711) was killed by SIGKILL");
	assert_text(x.finding[0].evidence, "2\n3\n4\n5\n6\n7");
	holds(x.finding[0].why, "memory");
	assert_text(x.finding[1].id, "compile-worker-hangs");
	holds(x.finding[1].title, "(pid 4712): 3 min 0 s, compiling for 2 min 59 s");
	assert_int_equal(x.finding[1].count, 3);
	assert_int_equal(x.finding[1].level, FINDING_WARNING);
	holds(x.finding[2].title, "Kernel waits for a compile worker");
	f.compile[0].status = COMPILE_OK;
	x.n_finding = 0;
	explain_workers(&x);
	assert_text(x.finding[1].id, "compile-worker-slow");
	assert_int_equal(x.finding[1].level, FINDING_NOTE);
}

static void fake_kernels(void **state)
{
	(void)state;
	static const char *const ops[] = {"lib.op.default", "lib.op.out", "noname"};
	static const char *const names[] = {"lib::op has", "lib::op.out has", "noname has"};
	for (unsigned i = 0; i < 3; i++) {
		struct fact_fake_kernel *k = facts_new_fake_kernel(&f, src);
		k->op = text(ops[i]);
		k->missing = true;
	}
	facts_new_fake_kernel(&f, src)->op = text(ops[0]);
	explain_shapes(&x);
	assert_int_equal(x.n_finding, 4);
	for (unsigned i = 0; i < 3; i++)
		assert_true(slice_starts(x.finding[i].title, names[i]));
	assert_text(x.finding[3].id, "fake-kernel-mismatched");
}

static void fixes_that_were_tried(void **state)
{
	(void)state;
	const struct slice table = SLICE("# about it\n9 7 torch.where(\n9 8 best(\n5 0 mark_dynamic(\n2 0 f.seldom\n");
	struct finding *g = explain_finding(&x, FINDING_BREAK, FINDING_WARNING);
	g->fix =
	    SLICE("torch._dynamo.mark_dynamic(x, 1)    # before the first call\ny = torch.where(c, a, b)\nf.seldom = True\nbest()\nother");
	g = explain_finding(&x, FINDING_RECOMPILE, FINDING_WARNING);
	g->fix = SLICE("torch._dynamo.mark_dynamic(x, 1)");
	g = explain_finding(&x, FINDING_BREAK, FINDING_WARNING);
	g->fix = g->hint = SLICE("other");
	x.step = xcalloc(1, sizeof(*x.step));
	x.n_step = 1;
	x.step[0].fix = SLICE("torch._dynamo.mark_dynamic(x, 1)\ny = torch.where(c, a, b)");
	explain_tried_in(&x, table);
	assert_text(x.finding[0].fix, "best()    # tried in 9 programs: 8\nf.seldom = True\n"
				      "y = torch.where(c, a, b)    # tried in 9 programs: 7\nother");
	assert_text(x.finding[0].hint, "Not torch._dynamo.mark_dynamic(x, 1): it was tried in 5 programs, and helped in none");
	assert_int_equal(x.finding[1].fix.n, 0);
	assert_text(x.finding[1].hint, "Not torch._dynamo.mark_dynamic(x, 1): it was tried in 5 programs, and helped in none\n"
				       "fxexplain mend -- python app.py searches for an edit that helps in your program");
	assert_text(x.finding[2].fix, "other");
	assert_text(x.finding[2].hint, "other");
	assert_text(x.step[0].fix, "y = torch.where(c, a, b)"); /* what fix --apply makes edits of */
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
	    T(parts_add_up),
	    T(parts_from_metrics),
	    T(one_function),
	    T(nothing_known),
	    T(what_dominates),
	    T(overheads),
	    T(recompiles_cost),
	    T(slow_guards),
	    T(bypasses),
	    T(cold_or_new),
	    T(caches_off),
	    T(caches_of_aot),
	    T(ranks_in_words),
	    T(cuda_graphs),
	    T(ranges),
	    T(symbols_once),
	    T(became_constant),
	    T(zero_one),
	    T(data),
	    T(constraints_together),
	    T(fake_kernels),
	    T(native_kernels),
	    T(workers),
	    T(fixes_that_were_tried),
	};
	return RUN(tests);
}
