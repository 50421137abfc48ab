/* Which component failed, and what changed between recompiles: on facts made by hand, in the words of torch 2.0 to 2.13. */
#include "run/diagnose/recompiles.h"

#include <setjmp.h>
#include <cmocka.h>

static uint32_t text(struct facts *f, const char *s) { return facts_intern(f, slice_str(s)); }

/* ---- the verdict ---- */

static const struct {
	const char *type, *reason, *frames;
	enum component component;
	int sure;
} failures[] = {
    {"torch._inductor.exc.InductorError", "CppCompileError: C++ compile error\n\nCommand:\ng++ x.cpp",
     "/usr/lib/python3/site-packages/torch/_inductor/graph.py:2669 in compile_to_module: x\n"
     "/usr/lib/python3/site-packages/torch/_inductor/cpp_builder.py:713 in _run_compile_cmd: raise",
     COMPONENT_COMPILER, SURE_PROVEN},
    {"torch._inductor.exc.InductorError", "AssertionError: ",
     "/p/torch/_inductor/graph.py:1 in run: x\n/p/torch/_inductor/codegen/cpp.py:7 in codegen: assert a", COMPONENT_CODEGEN, SURE_PROVEN},
    {"torch._dynamo.exc.BackendCompilerFailed",
     "backend='inductor' raised:\nLoweringException: AssertionError: \n  target: aten._foobar.default",
     "/p/torch/_inductor/graph.py:246 in call_function: return lowerings[target]\n/p/torch/_inductor/lowering.py:810 in _foobar: assert "
     "False",
     COMPONENT_INDUCTOR, SURE_PROVEN},
    {"torch._dynamo.exc.BackendCompilerFailed", "backend='toy_compiler' raised:\nAssertionError: ",
     "/p/torch/_dynamo/output_graph.py:1 in call_user_compiler: x\nt.py:9 in toy_compiler: assert False", COMPONENT_BACKEND, SURE_LIKELY},
    {"torch._dynamo.exc.InternalTorchDynamoError", "AttributeError: 'NoneType' object", "/p/torch/_dynamo/variables/builder.py:9 in f: x",
     COMPONENT_DYNAMO, SURE_PROVEN},
    {"torch._dynamo.exc.TorchRuntimeError", "Failed running call_function mm: a and b must have same reduction dim",
     "/p/torch/_dynamo/utils.py:1 in f: x", COMPONENT_NONE, SURE_NOT},
    /* Eager mode has no symbolic sizes. */
    {"torch._dynamo.exc.TorchRuntimeError",
     "Failed running call_function scatter(): Cannot call sizes() on tensor with symbolic sizes/strides",
     "/p/torch/_dynamo/utils.py:1 in f: x", COMPONENT_DYNAMO, SURE_LIKELY},
    /* The fake kernel of a custom operator; one of torch's own rejects its operands. */
    {"torch._dynamo.exc.TorchRuntimeError",
     "RuntimeError when making fake tensor call\n  Explanation: Dynamo failed to run FX node with fake tensors: call_function "
     "app.scale.default(*(FakeTensor(..., size=(8,)), 2.0), **{}): got KeyError('layout')",
     "/p/torch/_dynamo/utils.py:1 in f: x", COMPONENT_NONE, SURE_LIKELY},
    {"torch._dynamo.exc.TorchRuntimeError",
     "RuntimeError when making fake tensor call\n  Explanation: Dynamo failed to run FX node with fake tensors: call_function "
     "aten.foo.default(*(FakeTensor(..., size=(8,)), 2.0), **{}): got RuntimeError('bad')",
     "/p/torch/_dynamo/utils.py:1 in f: x", COMPONENT_NONE, SURE_NOT},
    {"RuntimeError", "something", "/p/torch/_functorch/aot_autograd.py:903 in aot_module_simplified: x", COMPONENT_AOTAUTOGRAD,
     SURE_LIKELY},
    /* torch 1.13, as the guide prints it */
    {"AssertionError", "",
     "/scratch/me/torchdynamo/torchinductor/graph.py:246 in call_function: x\n"
     "/scratch/me/torchdynamo/torchinductor/lowering.py:810 in _foobar: assert False",
     COMPONENT_INDUCTOR, SURE_LIKELY},
    {"ValueError", "bad", "/home/user/app/m.py:3 in f: raise ValueError", COMPONENT_NONE, SURE_NOT},
    {"torch.fx.experimental.symbolic_shapes.ConstraintViolationError", "Constraints violated (batch)!", "/p/torch/_export/x.py:1 in f: x",
     COMPONENT_EXPORT, SURE_PROVEN},
    {"RuntimeError", "CUDA error", "/tmp/torchinductor_user/ab/cab.py:33 in call: triton_poi_fused_add_0.run(arg0_1)", COMPONENT_RUNTIME,
     SURE_LIKELY},
};

static void test_component(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(failures); i++) {
		struct facts f;
		struct explanation x;
		facts_init(&f);
		uint32_t in = facts_input(&f, FACT_TEXTLOG, "stderr.txt");
		struct fact_failure *r = facts_new_failure(&f, fact_src(in, 1));
		r->type = text(&f, failures[i].type);
		r->reason = text(&f, failures[i].reason);
		r->frames = text(&f, failures[i].frames);
		explain(&x, &f);
		assert_int_equal(x.n_component, 1);
		if (x.component[0].component != failures[i].component)
			print_error("%s: %s\n", failures[i].type, component_name[x.component[0].component]);
		assert_int_equal(x.component[0].component, failures[i].component);
		assert_int_equal(x.component[0].sure, failures[i].sure);
		assert_true(x.n_finding >= 1 && x.finding[0].kind == FINDING_FAILURE);
		bool minify = failures[i].component == COMPONENT_INDUCTOR || failures[i].component == COMPONENT_CODEGEN ||
			      failures[i].component == COMPONENT_COMPILER || failures[i].component == COMPONENT_RUNTIME ||
			      failures[i].component == COMPONENT_AOTAUTOGRAD || failures[i].component == COMPONENT_BACKEND;
		assert_int_equal(x.component[0].minify.n > 0, minify);
		explanation_release(&x);
		facts_release(&f);
	}
}

/* The program's own checks of numbers, and what else is not known before eager was run. */
static void test_not_known(void **state)
{
	static const struct {
		const char *type, *reason, *frames, *title, *next;
	} checks[] = {
	    {"AssertionError", "Tensor-likes are not close!\n\nMismatched elements: 1 / 16 (6.2%)",
	     "/home/user/app/m.py:3 in f: assert_close(a, b)\n/p/torch/testing/_comparison.py:1 in assert_close: raise error",
	     "other numbers", "run --wrong"},
	    {"AssertionError", "", "/home/user/app/m.py:3 in f: assert torch.allclose(a, b)", "other numbers", "TORCH_COMPILE_DISABLE=1"},
	    {"ValueError", "loss is NaN", "/home/user/app/m.py:3 in f: raise ValueError(m)", "other numbers", "aoti-nanassert"},
	    {"RuntimeError", "Function 'CompiledFunctionBackward' returned nan values in its 0th output.",
	     "/home/user/app/m.py:3 in f: loss.backward()\n/p/torch/autograd/graph.py:9 in g: return x", "other numbers", "aoti-nanassert"},
	    {"ValueError", "nano is not an editor", "/home/user/app/m.py:3 in f: raise ValueError(m)", "eager was not run",
	     "TORCH_COMPILE_DISABLE=1"},
	};
	static const struct {
		enum facts_eager eager;
		enum component component;
		int sure;
		const char *title;
	} again[] = {{EAGER_SAME, COMPONENT_EAGER, SURE_PROVEN, "eager fails too"},
		     {EAGER_PASSES, COMPONENT_NONE, SURE_NOT, "eager passes"},
		     {EAGER_OTHER, COMPONENT_NONE, SURE_NOT, "another way"}};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(checks) + ARRAY_LEN(again); i++) {
		const size_t c = i < ARRAY_LEN(checks) ? i : 0, e = i - c;
		struct facts f;
		struct explanation x;
		facts_init(&f);
		struct fact_failure *r = facts_new_failure(&f, fact_src(facts_input(&f, FACT_TEXTLOG, "stderr.txt"), 1));
		r->type = text(&f, checks[c].type);
		r->reason = text(&f, checks[c].reason);
		r->frames = text(&f, checks[c].frames);
		r->user.file = text(&f, "/home/user/app/m.py");
		r->user.line = 3;
		r->ended = true;
		if (i >= ARRAY_LEN(checks))
			f.eager = again[e - ARRAY_LEN(checks)].eager;
		explain(&x, &f);
		const struct component_view *v = &x.component[0];
		if (i < ARRAY_LEN(checks)) {
			assert_int_equal(v->component, COMPONENT_NONE);
			assert_int_equal(v->basis, BASIS_NONE);
			assert_true(slice_has(v->title, checks[i].title) && slice_has(v->next, checks[i].next));
			assert_true(slice_eq(x.finding[0].next, v->next));
		} else {
			assert_int_equal(v->component, again[e - ARRAY_LEN(checks)].component);
			assert_int_equal(v->sure, again[e - ARRAY_LEN(checks)].sure);
			assert_true(slice_has(v->title, again[e - ARRAY_LEN(checks)].title));
		}
		explanation_release(&x);
		facts_release(&f);
	}
}

/* Dynamo's refusal of a frame that then runs in eager mode; not where it ended the program, or may have (fullgraph=True). */
static void test_survived(void **state)
{
	static const struct {
		bool caught, ended;
		const char *reason;
		enum finding_kind kind;
	} cases[] = {{true, false, "Call to `torch._dynamo.graph_break()`", FINDING_BREAK},
		     {false, false, "Call to `torch._dynamo.graph_break()`", FINDING_FAILURE},
		     {false, false, "Unsupported functorch tracing attempt", FINDING_BREAK},
		     {false, true, "Unsupported functorch tracing attempt", FINDING_FAILURE}};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct facts f;
		struct explanation x;
		facts_init(&f);
		uint32_t in = facts_input(&f, FACT_TRACE, "t");
		struct fact_break *b = facts_new_brk(&f, fact_src(in, 1));
		b->reason = text(&f, "Failed to trace builtin operator");
		struct fact_failure *r = facts_new_failure(&f, fact_src(in, 2));
		r->type = text(&f, "torch._dynamo.exc.Unsupported");
		r->reason = text(&f, cases[i].reason);
		r->caught = cases[i].caught;
		r->ended = cases[i].ended;
		explain(&x, &f);
		assert_int_equal(x.n_component, cases[i].kind == FINDING_FAILURE);
		bool there = false;
		for (uint32_t k = 0; k < x.n_finding; k++)
			there |= slice_has(x.finding[k].title, cases[i].reason) && x.finding[k].kind == cases[i].kind;
		assert_true(there);
		explanation_release(&x);
		facts_release(&f);
	}
}

/* "the most recent logged step whose end has not yet been logged" (the troubleshooting guide of torch 2.0). */
static void test_markers(void **state)
{
	static const struct {
		enum component c;
		bool end;
	} steps[] = {{COMPONENT_DYNAMO, false},   {COMPONENT_DYNAMO, true},   {COMPONENT_BACKEND, false},
		     {COMPONENT_INDUCTOR, false}, {COMPONENT_INDUCTOR, true}, {COMPONENT_INDUCTOR, false}};
	static const enum component expect[] = {COMPONENT_NONE,     COMPONENT_DYNAMO,  COMPONENT_NONE,    COMPONENT_BACKEND,
						COMPONENT_INDUCTOR, COMPONENT_BACKEND, COMPONENT_INDUCTOR};
	(void)state;
	for (size_t n = 0; n <= ARRAY_LEN(steps); n++) {
		struct facts f;
		struct explanation x;
		facts_init(&f);
		uint32_t in = facts_input(&f, FACT_TEXTLOG, "debug.log");
		for (size_t i = 0; i < n; i++) {
			struct fact_marker *m = facts_new_marker(&f, fact_src(in, i + 1));
			m->component = steps[i].c;
			m->end = steps[i].end;
			m->what = text(&f, "Step");
		}
		explain(&x, &f);
		assert_int_equal(x.n_component ? x.component[0].component : COMPONENT_NONE, expect[n]);
		assert_true(!x.n_component || (x.component[0].unfinished && x.component[0].sure == SURE_NOT));
		explanation_release(&x);
		facts_release(&f);
	}
}

/* ---- recompiles ---- */

static const struct {
	const char *guard, *old, *new, *change, *fix;
	enum guard_kind kind;
	const char *reason; /* torch's, with its hint */
} guards[] = {
    {"tensor 'x' size mismatch at index 0. expected 3, actual 5", "3", "5", "size of x at dim 0: 3 -> 5", "mark_dynamic(x, 0)", GUARD_SIZE},
    {"tensor 'L['x']' size mismatch at index 1. expected 3, actual 5", "3", "5", "size of x at dim 1: 3 -> 5", "mark_dynamic(x, 1)",
     GUARD_SIZE},
    {"tensor 'x' stride mismatch at index 0. expected 4, actual 1", "", "", "stride of x at dim 0: 4 -> 1", "contiguous()", GUARD_STRIDE},
    {"tensor 'x' dtype mismatch. expected Float, actual Double", "", "", "dtype of x: Float -> Double", ".to(dtype)", GUARD_DTYPE},
    {"tensor 'x' rank mismatch. expected 1, actual 2", "", "", "rank of x: 1 -> 2", "reshape", GUARD_RANK},
    {"tensor 'x' requires_grad mismatch. expected requires_grad=0", "", "", "x now requires grad", "requires_grad", GUARD_GRAD},
    {"n == 2", "2", "", "n is no longer 2", "torch.tensor(2)", GUARD_VALUE},
    {"L['self']._modules['norm'].steps == 3", "3", "", "self.norm.steps is no longer 3", "self.norm.steps = torch.tensor(3)", GUARD_VALUE},
    {"tensor 'L['self']._modules['body']._modules['0']._parameters['weight']' size mismatch at index 0. expected 3, actual 5", "3", "5",
     "size of self.body[0].weight at dim 0: 3 -> 5", "mark_dynamic(self.body[0].weight, 0)", GUARD_SIZE},
    {"G['stats']['seen'] == 3", "", "", "stats['seen'] is no longer 3", "Or pass stats['seen'] as an argument", GUARD_VALUE},
    {"n == 2", "2", "3", "n: 2 -> 3", "dynamic=True", GUARD_VALUE},
    {"L['scale'] == 0.5", "", "", "scale is no longer 0.5", "torch.tensor(0.5)", GUARD_VALUE},
    {"self.step == 3", "", "", "self.step is no longer 3", "allow_unspec_int_on_nn_module", GUARD_VALUE,
     "0/0: self.step == 3  # return x + self.step  # app/m.py:9 in forward (HINT: torch.compile considers integer attributes of the "
     "nn.Module to be static. If you are observing recompilation, ...)"},
    {"self.step == 3", "", "", "self.step is no longer 3", "self.step = torch.tensor(3)", GUARD_VALUE},
    {"G['ctr'].n == 3", "", "", "ctr.n is no longer 3", "Or pass ctr.n as an argument", GUARD_VALUE},
    {"n == 1", "", "", "n is no longer 1", "0 and 1 always get their own graphs", GUARD_VALUE},
    {"k <= 16", "", "", "no longer true: k <= 16", "--show shapes", GUARD_OTHER},
    {"tensor 'p' size mismatch at index 0. expected 4, actual 5. Guard failed on a parameter, consider using "
     "torch._dynamo.config.force_parameter_static_shapes = False to allow dynamism on parameters.",
     "4", "5", "size of p at dim 0: 4 -> 5", "torch._dynamo.config.force_parameter_static_shapes = False", GUARD_SIZE},
    {"GLOBAL_STATE changed: grad_mode ", "", "", "global state: grad_mode", "no_grad", GUARD_STATE},
    {"not extra", "", "", "no longer true: not extra", "same length", GUARD_CONTAINER},
    {"len(xs) == 2", "", "", "no longer true: len(xs) == 2", "same length", GUARD_CONTAINER},
    {"2 <= x.size()[0] <= 64", "", "", "no longer true: 2 <= x.size()[0] <= 64", "--show shapes", GUARD_SHAPE},
    {"2 <= x.size()[0]", "", "", "no longer true: 2 <= x.size()[0]", "0 and 1", GUARD_SHAPE},
    {"x.size()[0] != 6", "", "", "no longer true: x.size()[0] != 6", "--show shapes", GUARD_SHAPE},
    {"___check_obj_id(f, 140522)", "", "", "f is a different object", "once", GUARD_OBJECT},
    {"", "", "", "the log does not say which guard failed", "another backend=", GUARD_OTHER},
    {"Unexpected recompilation: runtime guards failed even though they passed during recompilation-reason analysis. Please open an issue",
     "", "", "torch does not know which guard failed: all passed when it checked again", "TorchDispatchMode", GUARD_OTHER},
    {"BACKEND_MATCH failure: torch.compile detected different backend callables. Cached backend: _TorchCompileWrapper(compiler='one', "
     "dynamic=None) (id=0x7f48830910d0). New backend: _TorchCompileWrapper(compiler='two', dynamic=None) (id=0x7f488300f690). If this is "
     "unexpected, wrap your backend in functools.partial",
     "", "", "backend of torch.compile: one -> two", "Call torch.compile once", GUARD_STATE},
    {"BACKEND_MATCH failure: torch.compile detected different backend callables. Cached backend: <function f> (id=0x1). New backend: "
     "<function f> (id=0x2).",
     "", "", "backend of torch.compile: a new <function f> object", "Call torch.compile once", GUARD_STATE},
};

static void test_guards(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(guards); i++) {
		struct facts f;
		facts_init(&f);
		struct explanation x = {.facts = &f};
		struct fact_recompile *r = facts_new_recompile(&f, fact_src(facts_input(&f, FACT_TRACE, "t"), 1));
		r->guard = text(&f, guards[i].guard);
		r->old = text(&f, guards[i].old);
		r->new = text(&f, guards[i].new);
		r->reason = text(&f, guards[i].reason ? guards[i].reason : "");
		struct guard_words w = guard_words(&x, r);
		struct buf b = {0};
		buf_add_slice(&b, w.change);
		assert_string_equal(buf_str(&b), guards[i].change);
		assert_int_equal(w.kind, guards[i].kind);
		if (*guards[i].fix)
			assert_true(slice_find(w.fix, guards[i].fix) || slice_find(w.hint, guards[i].fix));
		buf_release(&b);
		explanation_release(&x);
		facts_release(&f);
	}
}

/* A type whose name the log has is said by name. */
static void test_type(void **state)
{
	(void)state;
	struct facts f;
	facts_init(&f);
	struct explanation x = {.facts = &f};
	struct fact_recompile *r = facts_new_recompile(&f, fact_src(facts_input(&f, FACT_TRACE, "t"), 1));
	r->guard = text(&f, "___check_type_id(mode, 94393191699040), type=<class '__main__.Slow'>");
	r->type_new = text(&f, "Slow");
	struct guard_words w = guard_words(&x, r);
	assert_true(slice_is(w.change, "type of mode is now Slow"));
	f.recompile[0].type_old = text(&f, "Fast");
	assert_true(slice_is(guard_words(&x, &f.recompile[0]).change, "type of mode: Fast -> Slow"));
	explanation_release(&x);
	facts_release(&f);
}

/* Frames side by side, a limit, and --function. */
static void test_frames(void **state)
{
	(void)state;
	struct facts f;
	struct explanation x;
	facts_init(&f);
	uint32_t in = facts_input(&f, FACT_TRACE, "t");
	static const char *const id[] = {"0/0", "1/0", "0/1", "1/1", "0/2", "0/1_1"};
	for (size_t i = 0; i < ARRAY_LEN(id); i++) {
		uint32_t c = facts_compile(&f, in, 0, 0, slice_str(id[i]), i + 1);
		if (i == 5)
			assert_int_equal(c, 2); /* an attempt is no compile id of its own */
		f.compile[c].loc = (struct fact_loc){text(&f, "app/m.py"), 3, text(&f, id[i][0] == '0' ? "step" : "other"), NONE};
		f.compile[c].seconds = 1;
		if (id[i][2] != '0' && i < 5) {
			struct fact_recompile *r = facts_new_recompile(&f, fact_src(in, i + 1));
			r->compile = c;
			r->guard = text(&f, "n == 2");
		}
	}
	struct fact_limit *l = facts_new_limit(&f, fact_src(in, 9));
	l->compile = 4;
	l->limit = 8;
	explain(&x, &f);
	assert_int_equal(x.n_frame, 2);
	assert_int_equal(f.frame[0].compiles, 3);
	assert_int_equal(f.frame[0].recompiles, 2);
	assert_true(f.frame[0].limited && !f.frame[1].limited);
	assert_true(f.frame[0].seconds == 2);
	assert_int_equal(x.finding[x.frame[0].finding].kind, FINDING_LIMIT);
	assert_int_equal(x.finding[x.frame[1].finding].kind, FINDING_RECOMPILE);
	explanation_release(&x);
	assert_int_equal(facts_only_function(&f, "nobody"), 0);
	assert_int_equal(f.n_compile, 5);
	assert_int_equal(facts_only_function(&f, "other"), 2);
	assert_int_equal(f.n_recompile, 1);
	assert_int_equal(f.n_limit, 0);
	assert_int_equal(f.recompile[0].compile, 1);
	facts_release(&f);
}

static void test_resume(void **state)
{
	struct slice function;
	uint32_t line;
	(void)state;
	assert_true(facts_resume_name(SLICE("torch_dynamo_resume_in_a_at_b_at_17"), &function, &line));
	assert_true(slice_is(function, "a_at_b"));
	assert_int_equal(line, 17);
	assert_false(facts_resume_name(SLICE("torch_dynamo_resume_in_f"), &function, &line));
	assert_false(facts_resume_name(SLICE("torch_dynamo_resume_in_f_at_x"), &function, &line));
	assert_false(facts_resume_name(SLICE("f_at_5"), &function, &line));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_component), cmocka_unit_test(test_not_known), cmocka_unit_test(test_survived),
	    cmocka_unit_test(test_markers),   cmocka_unit_test(test_guards),    cmocka_unit_test(test_type),
	    cmocka_unit_test(test_frames),    cmocka_unit_test(test_resume),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
