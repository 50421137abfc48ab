/* libcommon/cli/run/diagnose: what facts a structured trace gives. */
#include "../../lib/log.h"

#include "run/facts.h"
#include "run/metrics.h"
#include "run/phases.h"
#include "run/symbols.h"
#include "run/trace/trace.h"

#include <sys/mman.h>
#include <unistd.h>

static struct facts f;
static struct buf in;
static struct facts_options options;

static int setup(void **state)
{
	(void)state;
	facts_init(&f);
	buf_reset(&in);
	options = (struct facts_options){0};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	facts_release(&f);
	buf_release(&in);
	return 0;
}

/* `in` as one more trace. */
static int read_it(void)
{
	struct err err;
	char path[64];
	int fd = memfd_create("trace", 0);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, buf_str(&in), in.len), (ssize_t)in.len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	int status = facts_add_trace(&f, path, &options, &err);
	close(fd);
	buf_reset(&in);
	return status;
}

#define AT(frame, compile, attempt) ", \"frame_id\": " #frame ", \"frame_compile_id\": " #compile ", \"attempt\": " #attempt
#define AT00 AT(0, 0, 0)
#define METRICS_HEAD "\"compilation_metrics\": {\"co_name\": \"f\", \"co_filename\": \"app/m.py\", \"co_firstlineno\": 3"

static void add(const char *members, const char *payload) { add_record(&in, "", members, payload); }

static void artifact(const char *name, const char *at, const char *payload)
{
	char members[256];
	snprintf(members, sizeof(members), "\"artifact\": {\"name\": \"%s\", \"encoding\": \"string\"}%s", name, at);
	add(members, payload);
}

static void event(const char *name, char phase, double ts, int tid, const char *at)
{
	char members[128], payload[256];
	snprintf(members, sizeof(members), "\"chromium_event\": {}%s", at);
	snprintf(payload, sizeof(payload), "{\n\"name\": \"%s\",\n\"ts\": %.1f,\n\"ph\": \"%c\",\n\"tid\": %d,\n\"pid\": 0\n}", name, ts,
		 phase, tid);
	add(members, payload);
}

static void is(uint32_t id, const char *want)
{
	struct slice s = facts_text(&f, id);
	if (id == NONE ? want != NULL : !want || !slice_is(s, want))
		fail_msg("'%.*s', not '%s'", SL(s), want ? want : "(none)");
}

static bool near(double a, double b) { return a - b < 1e-9 && b - a < 1e-9; }

/* ---- metrics ---- */

static void metrics_table(void **state)
{
	(void)state;
	assert_int_equal(METRIC_COUNT, 99);
	for (unsigned i = 0; i < METRIC_COUNT; i++) {
		const struct metric_info *m = &metric_info[i];
		assert_int_equal(metric_find(m->name), i); /* no name twice */
		assert_true(strlen(m->text) > 5 && m->unit < METRIC_UNITS && m->group < METRIC_GROUP_COUNT);
		assert_non_null(metric_unit_name[m->unit]);
		assert_non_null(metric_group_name[m->group]);
		if (slice_ends(m->name, "_us"))
			assert_true(m->unit == METRIC_US || m->unit == METRIC_POINT_US || m->unit == METRIC_JSON);
		if (slice_ends(m->name, "_time_s"))
			assert_int_equal(m->unit, METRIC_S);
		if (slice_ends(m->name, "_count"))
			assert_int_equal(m->unit, METRIC_COUNT_OF);
	}
	assert_int_equal(metric_find(SLICE("")), METRIC_UNKNOWN);
	assert_int_equal(metric_find(SLICE("duration")), METRIC_UNKNOWN);
	assert_int_equal(metric_find_from(SLICE("compile_id"), METRIC_functorch_config), METRIC_compile_id);
}

/* Every metric that torch 2.13 wrote, null or not, has a row. */
static void recorded_metrics(void **state)
{
	(void)state;
	static const char head[] = "{\"compilation_metrics\": {";
	struct json_tape tape = {0};
	struct buf log = {0};
	uint32_t root, records = 0;
	assert_true(data_load("traces/simple.log", &log));
	struct slice rest = buf_slice(&log), line;
	while (slice_line(&rest, &line)) {
		const char *at = slice_find(line, head);
		if (!at || line.p[0] == '\t')
			continue;
		json_tape_text(&tape, line.p, line.n);
		assert_int_equal(json_parse(&tape, (size_t)(at - line.p), line.n - (size_t)(at - line.p), &root), 0);
		uint32_t v = json_get(&tape, root, "compilation_metrics"), seen = 0;
		for (uint32_t k = json_first(&tape, v); k < json_end(&tape, v); k = json_next_pair(&tape, k), seen++)
			assert_int_equal(metric_find(json_slice(&tape, k)), seen); /* in the table's order */
		assert_int_equal(seen, METRIC_COUNT);
		records++;
	}
	assert_int_equal(records, 1);
	json_tape_release(&tape);
	buf_release(&log);
}

static void metric_rows(void **state)
{
	(void)state;
	add(METRICS_HEAD ", \"guard_count\": 4, \"fail_type\": null, \"dynamo_config\": \"{\\\"recompile_limit\\\": 3, "
			 "\\\"suppress_errors\\\": true}\", "
			 "\"inductor_config\": \"{\\\"triton.cudagraphs\\\": false, \\\"compile_threads\\\": 8}\", \"my_own\": [1, 2], "
			 "\"python_version\": \"3.11\"}" AT00,
	    NULL);
	add(METRICS_HEAD ", \"guard_count\": 5, \"guard_latency_us\": 58}" AT(1, 0, 0), NULL);
	add("\"bwd_compilation_metrics\": {\"guard_count\": 6}" AT00, NULL);
	add("\"compilation_metrics_runtime\": {\"runtime_triton_autotune_time_us\": 7}", NULL);
	assert_int_equal(read_it(), 0);
	assert_int_equal(f.n_compile, 2);
	const struct fact_compile *c = &f.compile[0];
	const struct fact_metric *m = &f.metric[c->first_metric];
	assert_int_equal(c->n_metric, 9); /* without null; the backward's beside it */
	is(m[3].name, "guard_count");
	is(m[3].value, "4");
	assert_int_equal(m[3].known, METRIC_guard_count);
	is(m[6].name, "my_own");
	is(m[6].value, "[1, 2]");
	assert_int_equal(m[6].known, METRIC_UNKNOWN);
	assert_true(m[8].backward && !m[8].runtime);
	is(m[8].value, "6");
	assert_int_equal(f.compile[1].n_metric, 5);
	assert_true(f.compile[0].guard_eval < 0 && f.compile[1].guard_eval == 58e-6);
	is(f.metric[f.compile[1].first_metric + 3].value, "5");
	assert_true(f.metric[f.n_metric - 1].runtime); /* of no compile id: last */
	is(f.input[0].python_version, "3.11");
	assert_int_equal(f.input[0].config.recompile_limit, 3);
	assert_int_equal(f.input[0].config.suppress_errors, 1);
	assert_int_equal(f.input[0].config.cudagraphs, 0);
	assert_int_equal(f.input[0].config.compile_threads, 8);
	assert_int_equal(f.input[0].config.max_autotune, -1);
}

/* ---- compilations ---- */

static void attempts_joined(void **state)
{
	(void)state;
	add("\"dynamo_start\": {\"stack\": [{\"line\": 9, \"name\": \"<module>\", \"filename\": 0, \"uninterned_filename\": "
	    "\"app/main.py\", \"loc\": \"f(x)\"}, "
	    "{\"line\": 2, \"name\": \"run\", \"filename\": 0, \"uninterned_filename\": \"/usr/lib/python3/site-packages/torch/_x.py\"}, "
	    "{\"line\": 3, \"name\": \"f\", \"filename\": 0, \"uninterned_filename\": \"app/m.py\"}]}" AT00,
	    NULL);
	add("\"dynamo_output_graph\": {\"sizes\": {}}" AT(0, 0, 1), "class G:\n    x = 1\n");
	add(METRICS_HEAD ", \"entire_frame_compile_time_s\": 10, \"backend_compile_time_s\": 8, \"inductor_compile_time_s\": 5, "
			 "\"code_gen_time_s\": 4, \"dynamo_time_before_restart_s\": 1.5, \"graph_op_count\": 2, \"restart_reasons\": "
			 "[\"Speculation log\"]}" AT(0, 0, 1),
	    NULL);
	add("\"bwd_compilation_metrics\": {\"inductor_compile_time_s\": 3}" AT(0, 0, 1), NULL);
	add(METRICS_HEAD ", \"duration_us\": 2000000}" AT00, NULL); /* the same id after a reset */
	assert_int_equal(read_it(), 0);
	assert_int_equal(f.n_compile, 1);
	const struct fact_compile *c = &f.compile[0];
	is(c->id, "0/0");
	is(c->loc.file, "app/m.py");
	is(c->loc.function, "f");
	is(c->stack, "app/main.py:9 in <module>: f(x)\napp/m.py:3 in f");
	assert_int_equal(c->attempts, 2);
	assert_int_equal(c->restarted, 1);
	assert_int_equal(c->graphs, 1);
	assert_int_equal(c->ops, 2);
	assert_true(near(c->seconds, 15) && near(c->dynamo, 4) && near(c->aot, 3) && near(c->inductor, 1) && near(c->codegen, 4));
	assert_true(near(c->backward, 3) && near(c->restarts, 1.5) && near(c->start, 0));
	assert_true(near(f.input[0].seconds, 15));
	assert_int_equal(f.n_marker, 0);
}

static void same_id_in_two_logs(void **state)
{
	(void)state;
	struct slice function;
	uint32_t line;
	for (int i = 0; i < 2; i++) {
		add("\"compilation_metrics\": {\"co_name\": \"torch_dynamo_resume_in_f_at_5\", \"co_filename\": \"app/m.py\"}" AT00, NULL);
		assert_int_equal(read_it(), 0);
	}
	assert_int_equal(f.n_compile, 2);
	assert_int_equal(f.compile[1].src.input, 1);
	is(f.compile[1].resume_of, "f");
	assert_int_equal(f.compile[1].resume_line, 5);
	assert_false(facts_resume_name(SLICE("torch_dynamo_resume_in_f_at_"), &function, &line));
	buf_adds(&in, "nothing that is a record\n");
	assert_int_equal(read_it(), -1);
	assert_int_equal(f.n_input, 2);
}

static void job_that_died(void **state)
{
	(void)state;
	add("\"dynamo_start\": {\"stack\": [{\"line\": 3, \"name\": \"f\", \"filename\": 0, \"uninterned_filename\": \"app/m.py\"}]}" AT00,
	    NULL);
	event("entire_frame_compile", 'B', 1000, 0, AT00);
	event("GraphLowering.run", 'B', 2000, 0, AT00);
	artifact("dynamo_error", AT00, "Traceback (most recent call last):\n  File \"app/m.py\", line 4, in f\n    g()\nMyError: no\n");
	assert_int_equal(read_it(), 0);
	assert_int_equal(f.compile[0].status, COMPILE_UNKNOWN);
	is(f.compile[0].loc.function, "f");
	assert_int_equal(f.n_marker, 3);
	is(f.marker[0].what, "dynamo_start");
	is(f.marker[2].what, "GraphLowering.run");
	assert_int_equal(f.marker[2].component, COMPONENT_INDUCTOR);
	assert_int_equal(f.n_failure, 1);
	assert_true(f.failure[0].inferred && !f.failure[0].restart);
	is(f.failure[0].type, "MyError");
	is(f.failure[0].reason, "no");
	assert_int_equal(f.failure[0].user.line, 4);
}

/* ---- breaks, recompiles, failures ---- */

static void failures(void **state)
{
	(void)state;
	artifact("dynamo_error", AT00,
		 "Traceback (most recent call last):\n  File \"/usr/lib/python3/site-packages/torch/_dynamo/x.py\", line 1, in c\n    "
		 "raise A()\n"
		 "torch._dynamo.exc.BackendCompilerFailed: backend='mine' raised:\nValueError: no\n\nfrom user code:\n   File "
		 "\"app/m.py\", line 8, in f\n    g()\n");
	add(METRICS_HEAD ", \"fail_type\": \"BackendCompilerFailed\", \"fail_reason\": \"backend='mine' raised:\\nValueError: no\"}" AT00,
	    NULL);
	add(METRICS_HEAD ", \"fail_type\": \"Unsupported\", \"fail_reason\": \"Dynamo recompile limit exceeded\\n  Explanation: exceeding "
			 "the recompile_limit "
			 "cache size limit (currently set to 8).\", \"restart_reasons\": []}" AT(1, 8, 0),
	    NULL);
	assert_int_equal(read_it(), 0);
	assert_int_equal(f.n_failure, 2);
	const struct fact_failure *x = &f.failure[0];
	is(x->type, "torch._dynamo.exc.BackendCompilerFailed");
	is(x->frames, "/usr/lib/python3/site-packages/torch/_dynamo/x.py:1 in c: raise A()");
	assert_int_equal(x->user.line, 8);
	assert_int_equal(x->torch.line, 1);
	assert_false(x->caught || x->inferred);
	is(f.compile[0].backend, "mine");
	assert_int_equal(f.compile[0].status, COMPILE_FAILED);
	assert_true(f.failure[1].caught); /* the frame goes on in Python */
	assert_int_equal(f.compile[1].status, COMPILE_SKIPPED);
	assert_int_equal(f.n_limit, 1);
	assert_int_equal(f.limit[0].limit, 8);
	assert_false(f.limit[0].accumulated);
}

static void compiler_errors(void **state)
{
	(void)state;
	artifact("dynamo_error", AT00,
		 "Traceback (most recent call last):\n  File \"/usr/lib/python3/site-packages/torch/_inductor/cpp_builder.py\", line 1, in "
		 "c\n    raise A()\n"
		 "torch._inductor.exc.InductorError: CppCompileError: C++ compile error\n\nCommand:\ng++ k.cpp -o k.so\n\nOutput:\n"
		 "/tmp/k.cpp: In function 'int f()':\n/tmp/k.cpp:4:7: warning: unused\n/tmp/k.cpp:17:57: error: no matching function for "
		 "call to 'g'\n"
		 "   17 |     auto x = g(y);\n      |              ^~~~\n");
	assert_int_equal(read_it(), 0);
	assert_int_equal(f.n_compiler_error, 1);
	const struct fact_compiler_error *e = f.compiler_error;
	is(e->at.file, "/tmp/k.cpp");
	assert_int_equal(e->at.line, 17);
	assert_int_equal(e->column, 57);
	is(e->at.code, "auto x = g(y);");
	is(e->message, "no matching function for call to 'g'");
	is(e->command, "g++ k.cpp -o k.so");
}

/* A violated constraint stands in a failure's message. */
static void constraint_failure(void **state)
{
	(void)state;
	add(METRICS_HEAD ", \"fail_type\": \"UserError\", \"fail_reason\": \"Constraints violated (b)! For more\\n  - You marked b as "
			 "dynamic\\n\"}" AT00,
	    NULL);
	assert_int_equal(read_it(), 0);
	assert_int_equal(f.n_bound, 0);
	facts_finish(&f);
	assert_int_equal(f.n_bound, 1);
	assert_int_equal(f.bound[0].kind, BOUND_CONSTRAINT);
	assert_int_equal(f.bound[0].compile, 0);
}

static void break_kinds(void **state)
{
	(void)state;
	static const struct {
		const char *reason;
		enum fact_break_kind kind;
	} breaks[] = {
	    {"Data-dependent branching", BREAK_JUMP},
	    {"Call to `torch._dynamo.graph_break()`", BREAK_ASKED},
	    {"Skip calling `torch.compiler.disable()`d function", BREAK_ASKED},
	    {"Unsupported Tensor.item() call", BREAK_CALL},
	};
	char text[300];
	for (unsigned i = 0; i < ARRAY_LEN(breaks); i++) {
		snprintf(text, sizeof(text), "Graph break in user code at app/m.py:%u\nGraph Break Reason: %s\n  Explanation: e\n", i + 5,
			 breaks[i].reason);
		artifact("dynamo_graph_break_reason", AT00, text);
	}
	assert_int_equal(read_it(), 0);
	assert_int_equal(f.n_brk, 4);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(f.brk[i].kind, breaks[i].kind);
		assert_int_equal(f.brk[i].loc.line, i + 5);
		assert_false(f.brk[i].inferred);
	}
	assert_int_equal(f.compile[0].breaks, 4);
}

static void types_by_name(void **state)
{
	(void)state;
	artifact("recompile_reasons", AT(0, 1, 0),
		 "0/0: ___check_type_id(self.mode, 77), type=<class 'm.Fast'>  # if x:  # app/m.py:22 in step (HINT: type Fast)");
	add("\"dynamo_cpp_guards_str\": {}" AT(0, 1, 0),
	    "| +- TYPE_MATCH: ___check_type_id(L['self'], 1), type=<class 'm.Net'>\n"
	    "| +- TYPE_MATCH: ___check_type_id(L['self'].mode, 78), type=<class 'm.Slow'>  # if x:\n");
	artifact("recompile_reasons", AT(0, 2, 0), "0/1: n == 2");
	assert_int_equal(read_it(), 0);
	assert_int_equal(f.n_recompile, 2);
	is(f.recompile[0].against, "0/0");
	is(f.recompile[0].type_old, "m.Fast");
	is(f.recompile[0].type_new, "m.Slow");
	is(f.recompile[1].old, "2");
	is(f.recompile[1].type_new, NULL);
}

/* ---- phases ---- */

static const struct fact_phase *phase(uint32_t compile, const char *name)
{
	for (uint32_t i = 0; i < f.n_phase; i++)
		if (f.phase[i].compile == compile && slice_is(facts_text(&f, f.phase[i].name), name))
			return &f.phase[i];
	fail_msg("no phase %s", name);
	return NULL;
}

static void phases(void **state)
{
	(void)state;
	add("\"dynamo_start\": {\"stack\": []}" AT00, NULL);
	event("dynamo", 'B', 0, 0, AT00);
	event("pass.post.a", 'B', 1e6, 0, AT00);
	event("pass.post.a", 'E', 2e6, 0, AT00);
	event("pass.post.b", 'B', 2e6, 0, AT00);
	event("pass.post.b", 'E', 4e6, 0, AT00);
	event("other", 'B', 4e6, 1, ""); /* another thread, over the end of the first */
	event("nobody", 'E', 5e6, 0, AT00);
	event("dynamo", 'E', 10e6, 0, AT(0, 0, 1));
	event("other", 'E', 12e6, 1, "");
	event("mark", 'i', 12e6, 0, AT00);
	add("\"chromium_event\": {}" AT00, "{\"name\": \"whole\", \"ph\": \"X\", \"ts\": 1, \"dur\": 3000000, \"tid\": 0}");
	add("\"chromium_event\": {}" AT00, "{\"name\": \"broken\", \"ph\": \"X\", \"ts\": 1}");
	add("\"chromium_event\": {}" AT00, "no JSON");
	assert_int_equal(read_it(), 0);
	const struct fact_phase *p = phase(NONE, "dynamo");
	assert_true(near(p->seconds, 10) && near(p->self, 7) && p->calls == 1);
	p = phase(0, "pass.post"); /* of one compile id the group */
	assert_true(near(p->seconds, 3) && p->calls == 2);
	assert_true(near(phase(NONE, "pass.post.b")->seconds, 2));
	assert_true(near(phase(NONE, "other")->seconds, 8));
	assert_int_equal(phase(NONE, "mark")->calls, 1);
	assert_true(near(phase(0, "whole")->seconds, 3));
	assert_int_equal(f.n_marker, 0);
	double sum = 0;
	for (uint32_t i = 0; i < f.n_phase; i++)
		sum += f.phase[i].compile == NONE ? f.phase[i].self : 0;
	assert_true(near(sum, 7 + 1 + 2 + 8 + 3));
}

/* Two kernels are compiled side by side while the main thread goes on: 8 seconds by the clock, as torch 2.13 logs it (every tid is 0). */
static void parallel_phases(void **state)
{
	(void)state;
	add("\"dynamo_start\": {\"stack\": []}" AT00, NULL);
	event("codegen", 'B', 0, 0, AT00);
	event("compile_file", 'B', 1e6, 0, AT00);
	event("compile_file", 'B', 2e6, 0, AT00);
	event("codegen", 'E', 3e6, 0, AT00);
	event("async_compile.wait", 'B', 3e6, 0, AT00);
	event("compile_file", 'E', 6e6, 0, AT00);
	event("compile_file", 'E', 7e6, 0, AT00);
	event("async_compile.wait", 'E', 8e6, 0, AT00);
	assert_int_equal(read_it(), 0);
	const struct fact_phase *p = phase(NONE, "compile_file");
	assert_true(near(p->seconds, 6) && near(p->each, 10) && p->calls == 2);
	assert_true(near(phase(NONE, "codegen")->seconds, 3) && near(phase(0, "codegen")->self, 1));
	double sum = 0;
	for (uint32_t i = 0; i < f.n_phase; i++)
		sum += f.phase[i].compile == NONE ? f.phase[i].self : 0;
	assert_true(near(sum, 8));
}

static void phase_names(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		enum time_part_kind part;
	} names[] = {
	    {"bytecode_tracing", PART_DYNAMO_TIME},
	    {"build_guards", PART_GUARDS_TIME},
	    {"create_aot_dispatcher_function", PART_AOT_TIME},
	    {"pass.joint_graph_passes.x", PART_PASSES_TIME},
	    {"GraphLowering.run", PART_LOWERING_TIME},
	    {"Scheduler.__init__", PART_SCHEDULING_TIME},
	    {"Scheduler.codegen", PART_CODEGEN_TIME},
	    {"compile_file", PART_COMPILER_TIME},
	    {"mm_template_autotuning", PART_AUTOTUNE_TIME},
	    {"inductor_codecache_torch_key", PART_CACHE_TIME},
	    {"entire_backward_compile", PART_BACKWARD_TIME},
	    {"gc", PART_GC_TIME},
	    {"CachingAutotuner.benchmark_all_configs", PART_AUTOTUNE_TIME},
	    {"async_compile.wait", PART_COMPILER_TIME},
	    {"cpp_wrapper_compile", PART_COMPILER_TIME},
	    {"offload_constants_spill", PART_AUTOTUNE_TIME},
	    {"what is this", PART_OTHER_TIME},
	    {"", PART_OTHER_TIME},
	};
	for (unsigned i = 0; i < ARRAY_LEN(names); i++)
		assert_int_equal(phase_part(slice_str(names[i].name)), names[i].part);
	assert_int_equal(phase_component(SLICE("compile_file")), COMPONENT_COMPILER);
	assert_int_equal(phase_component(SLICE("what is this")), COMPONENT_NONE);
}

/* ---- caches, CUDA graphs, graphs ---- */

static void caches(void **state)
{
	(void)state;
	artifact("fx_graph_cache_bypass", AT00, "{\"cache_state\": \"bypass\", \"cache_bypass_reason\": \"Can't\\ncache\"}");
	artifact("fx_graph_cache_miss", AT00, "{\"cache_status_detailed\": \"full_miss\", \"key\": \"k\"}");
	artifact("aotautograd_cache_miss", AT00, "{\"cache_status_detailed\": \"guard_miss\"}");
	artifact("aotautograd_cache_hit", AT00, "{}");
	artifact("fx_graph_bundled_cache_hit", "", "not JSON");
	add(METRICS_HEAD ", \"cudagraph_skip_reason\": \"skipping cudagraphs due to mutated inputs (1 instances). Found from : \\n   File "
			 "\\\"app/m.py\\\", "
			 "line 7, in g\\n    x.add_(1)\\n\"}" AT00,
	    NULL);
	assert_int_equal(read_it(), 0);
	assert_int_equal(f.n_cache, 5);
	static const enum fact_cache_kind kind[] = {FACT_CACHE_FX, FACT_CACHE_FX, FACT_CACHE_AOT, FACT_CACHE_AOT, FACT_CACHE_BUNDLED};
	static const enum fact_cache_what what[] = {FACT_BYPASS, FACT_MISS, FACT_MISS, FACT_HIT, FACT_HIT};
	static const char *const reason[] = {"Can't cache", NULL, "guard_miss", NULL, NULL};
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(f.cache[i].kind, kind[i]);
		assert_int_equal(f.cache[i].what, what[i]);
		is(f.cache[i].reason, reason[i]);
	}
	assert_int_equal(f.cache[4].compile, NONE);
	assert_int_equal(f.n_cudagraph, 1);
	assert_int_equal(f.cudagraph[0].loc.line, 7);
	is(f.cudagraph[0].loc.code, "x.add_(1)");
}

static void graphs_when_asked(void **state)
{
	(void)state;
	for (int keep = 0; keep < 2; keep++) {
		options.keep_graphs = options.keep_guards = keep;
		add("\"aot_forward_graph\": {}" AT00, "class G:\n    def forward(self):\n        x = 1\n");
		add("\"dynamo_cpp_guards_str\": {}" AT00, "TREE");
		assert_int_equal(read_it(), 0);
	}
	assert_int_equal(f.n_graph, 3);
	is(f.graph[0].name, "aot_forward_graph");
	is(f.graph[0].text, NULL);
	assert_int_equal(f.graph[0].ops, 1);
	is(f.graph[1].text, "class G:\n    def forward(self):\n        x = 1");
	is(f.graph[2].name, "dynamo_cpp_guards_str");
	is(f.graph[2].text, "TREE");
}

/* ---- shapes ---- */

#define TORCH_FRAME(file, line) \
	"{\"line\": " #line ", \"name\": \"t\", \"filename\": 0, \"uninterned_filename\": \"/usr/lib/python3/site-packages/torch/" file \
	"\", \"loc\": \"\"}"
#define USER_FRAME(line) \
	"{\"line\": " #line ", \"name\": \"f\", \"filename\": 0, \"uninterned_filename\": \"app/m.py\", \"loc\": \"if x.size(0) == 6:\"}"

static void bounds(void **state)
{
	(void)state;
	add("\"create_symbol\": {\"symbol\": \"s77\", \"val\": \"6\", \"vr\": \"[2, int_oo]\", \"source\": \"L['x'].size()[0]\", "
	    "\"user_stack\": [" USER_FRAME(4) "]}" AT00,
	    NULL);
	add("\"guard_added_fast\": {\"expr\": \"Eq(s77, s17)\", \"user_stack\": [], \"stack\": [" USER_FRAME(5) ", " TORCH_FRAME(
		"_meta.py", 8) ", " TORCH_FRAME("fx/experimental/symbolic_shapes.py", 9) "]}" AT00,
	    NULL);
	add("\"propagate_real_tensors\": {\"expr\": \"u0 > 2\", \"result\": \"True\", \"stack\": []}" AT00, NULL);
	add("\"guard_added_fast\": {\"expr\": \"u0 > 2\", \"user_stack\": [" USER_FRAME(7) "], \"stack\": []}" AT00, NULL);
	add("\"symbolic_shape_specialization\": {\"symbol\": \"s77\", \"sources\": [\"L['x'].size()[0]\"], \"value\": \"6\", \"reason\": "
	    "\"r\", \"user_stack\": [" USER_FRAME(8) "], \"stack\": []}" AT00,
	    NULL);
	add("\"guard_added_fast\": {\"expr\": 7}" AT00, NULL);
	assert_int_equal(read_it(), 0);
	assert_int_equal(f.n_symbol, 1);
	assert_int_equal(f.symbol[0].loc.line, 4);
	assert_int_equal(f.n_bound, 4);
	const struct fact_bound *b = f.bound;
	assert_int_equal(b[0].kind, BOUND_REPLACED);
	is(b[0].symbol, "s17");
	is(b[0].value, "s77");
	assert_int_equal(b[0].loc.line, 5);
	assert_int_equal(b[0].torch.line, 8); /* who asked, not who answered */
	assert_int_equal(b[1].kind, BOUND_DATA);
	is(b[1].value, "True");
	assert_int_equal(b[1].loc.line, 7); /* from the assertion that follows */
	assert_int_equal(b[2].kind, BOUND_ASSERT);
	assert_int_equal(b[3].kind, BOUND_SPECIALIZED);
	is(b[3].expr, "s77 = 6");
	is(b[3].reason, "r");
}

/* As torch 2.15 wrote them (torch/_native/instrumentation.py); one in a compilation, one that is damaged. */
static void native_kernels(void **state)
{
	(void)state;
	static const char artifact[] = "\"artifact\": {\"name\": \"native_dsl_compile\", \"encoding\": \"json\"}";
	add(artifact, "{\"compiled\": true, \"dsl\": \"cutedsl\", \"hits\": 1, \"key\": \"((128, 64), 'bf16')\", \"misses\": 2, "
		      "\"op\": \"aten::topk\", \"outcome\": \"compiled\", \"wall_ms\": 202.92303799942601}");
	add("\"artifact\": {\"name\": \"native_dsl_compile\", \"encoding\": \"json\"}" AT00, "{\"dsl\": \"triton\", \"hits\": 0}");
	add(artifact, "{\"dsl\": ");
	add(artifact, "[]");
	assert_int_equal(read_it(), 0);
	assert_int_equal(f.n_native, 2);
	const struct fact_native *k = f.native;
	is(k[0].op, "aten::topk");
	is(k[0].dsl, "cutedsl");
	is(k[0].key, "((128, 64), 'bf16')");
	is(k[0].outcome, "compiled");
	assert_true(k[0].seconds > 0.2029 && k[0].seconds < 0.203);
	assert_int_equal(k[0].hits * 10 + k[0].misses, 12);
	assert_int_equal(k[0].compile, NONE);
	is(f.compile[k[1].compile].id, "0/0");
	assert_int_equal(k[1].op, NONE);
	assert_true(k[1].seconds < 0);
}

/* As torch 2.15 writes them (torch/_inductor/compile_worker/subproc_pool.py). */
static void workers(void **state)
{
	(void)state;
	static const char death[] = "\"artifact\": {\"name\": \"compile_worker_sidecar_death\", \"encoding\": \"string\"}";
	add(death, "sidecar pid=4711 returncode=-9\n\nfirst\nlast\n");
	add(death, "sidecar pid=4712 returncode=3\n\n");
	add(death, "sidecar pid=-1 returncode=99999999999999999999");
	add("\"artifact\": {\"name\": \"compile_worker_status\", \"encoding\": \"json\"}" AT00,
	    "{\"job_id\": 3, \"elapsed_s\": 120.2, \"phase\": \"compiling\", \"phase_elapsed_s\": 118.9, \"worker_pid\": 4713, "
	    "\"compile_id\": \"0/0\"}");
	add("\"artifact\": {\"name\": \"compile_worker_status\", \"encoding\": \"json\"}", "[1]");
	assert_int_equal(read_it(), 0);
	assert_int_equal(f.n_worker, 4);
	const struct fact_worker *w = f.worker;
	assert_int_equal(w[0].pid, 4711);
	assert_int_equal(w[0].signal * 10 + w[0].code, 89);
	is(w[0].tail, "first\nlast");
	assert_int_equal(w[1].signal * 10 + w[1].code, 3);
	assert_int_equal(w[1].tail, NONE);
	assert_true(w[2].pid == -1 && w[2].code == -1 && !w[2].signal);
	assert_int_equal(w[3].what, WORKER_STATUS);
	is(f.compile[w[3].compile].id, "0/0");
	is(w[3].phase, "compiling");
	assert_true(w[3].seconds > 120 && w[3].phase_seconds < 119 && w[3].job == 3 && w[3].pid == 4713);
}

/* With TORCH_DTRACE the same guard is written twice. */
static void guard_once(void **state)
{
	(void)state;
	add("\"guard_added\": {\"expr\": \"Eq(s77, 6)\", \"prefix\": \"eval\", \"expr_node_id\": 1, \"user_stack\": [" USER_FRAME(
		4) "], \"stack\": [], "
		   "\"symbol_to_sources\": {\"s77\": \"L['x'].size()[0]\"}}",
	    NULL);
	assert_int_equal(read_it(), 0);
	assert_int_equal(f.n_bound, 1);
	is(f.bound[0].sources, "s77 = L['x'].size()[0]");
	add("\"guard_added\": {\"expr\": \"Eq(s77, 6)\", \"prefix\": \"eval\", \"expr_node_id\": 1, \"user_stack\": [], \"stack\": []}",
	    NULL);
	add("\"guard_added_fast\": {\"expr\": \"Eq(s77, 6)\", \"user_stack\": [" USER_FRAME(4) "], \"stack\": []}", NULL);
	add("\"missing_fake_kernel\": {\"op\": \"lib.op.default\"}", NULL);
	assert_int_equal(read_it(), 0);
	assert_int_equal(f.n_bound, 2);
	assert_int_equal(f.bound[1].loc.line, 4);
	assert_int_equal(f.n_fake_kernel, 1);
	assert_true(f.fake_kernel[0].missing);
	is(f.fake_kernel[0].op, "lib.op.default");
}

static void constraints(void **state)
{
	(void)state;
	static const char text[] = "Constraints violated (batch, width)! For more information, run with TORCH_LOGS=\"+dynamic\".\n"
				   "  - Not all values of batch = L['x'].size()[0] satisfy the generated guard L['x'].size()[0] <= 10.\n"
				   "  - You marked width as dynamic but your code specialized it to be a constant (6).\n"
				   "Suggested fixes:\n  batch = Dim('batch', max=10)\n  width = 6\n\nSet TORCHDYNAMO_VERBOSE=1";
	struct guard g = {0};
	const struct fact_src src = fact_src(0, 3);
	const struct fact_loc none = facts_no_loc();
	facts_add_constraints(&f, src, NONE, &none, SLICE(text));
	assert_int_equal(f.n_bound, 2);
	is(f.bound[0].symbol, "batch, width");
	is(f.bound[1].expr, "You marked width as dynamic but your code specialized it to be a constant (6).");
	is(f.bound[0].reason, "batch = Dim('batch', max=10)\n  width = 6");
	for (size_t n = 0; n < sizeof(text); n++) {
		const char *p = guard_put(&g, text, n);
		facts_add_constraints(&f, src, NONE, &none, slice_of(p, n));
	}
	guard_release(&g);
}

static void symbols(void **state)
{
	(void)state;
	struct guard g = {0};
	static const char text[] = "4*s23 + 64*zuf1 <= Max(u0, xs5, s5x, s, 7s, zf3)";
	static const char *const want[] = {"s23", "zuf1", "u0", "zf3"};
	struct slice rest = slice_of(guard_put(&g, text, sizeof(text) - 1), sizeof(text) - 1), symbol;
	unsigned n = 0;
	while (symbol_next(&rest, &symbol)) {
		assert_true(n < ARRAY_LEN(want) && slice_is(symbol, want[n]));
		assert_int_equal(symbol_unbacked(symbol), n == 1 || n == 2);
		n++;
	}
	assert_int_equal(n, ARRAY_LEN(want));
	guard_release(&g);
}

static void damage(void **state)
{
	(void)state;
	add("\"artifact\": {\"name\": \"a\", \"encoding\": \"string\"}" AT00, "text");
	buf_adds(&in, "no record\n");
	assert_int_equal(read_it(), 0);
	assert_int_equal(f.n_damage, 1);
	assert_int_equal(f.damage[0].line, 3);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
	    T(metrics_table),     T(recorded_metrics), T(metric_rows),     T(attempts_joined),    T(same_id_in_two_logs),
	    T(job_that_died),     T(failures),         T(compiler_errors), T(constraint_failure), T(break_kinds),
	    T(types_by_name),     T(phases),           T(parallel_phases), T(phase_names),        T(caches),
	    T(graphs_when_asked), T(bounds),           T(guard_once),      T(native_kernels),     T(constraints),
	    T(workers),           T(symbols),          T(damage),
	};
	return RUN(tests);
}
