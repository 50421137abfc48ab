/* watch: records become calls; models that run here under the probe; bundles. */
#include "../../lib/test.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../lib/calllog.h"
#include "watch/bundle.h"
#include "watch/watch_part.h"

/* ---- records ---- */

static char folder[64];
static struct watch w;
static struct watch_options options;
static uint64_t next_time;
static struct calllog l; /* the side of the writers */

static void begin_log(uint64_t records)
{
	struct err err = {0};
	struct calls_config c = {.want = CALLS_BAD, .records = records, .last_run = UINT32_MAX};
	snprintf(folder, sizeof(folder), "%s/pt2watch.XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	w = (struct watch){.o = &options};
	assert_non_null(mkdtemp(folder));
	if (calls_create(folder, &c, NULL, &err) < 0 || calls_open(&w.calls, folder, &err) < 0)
		fail_msg("%s", err.text);
	l = calllog_map(folder);
	w.opened = true;
	next_time = 0;
}

static void end_log(void)
{
	char *p = xasprintf("%s/" CALLS_FILE, folder), *n = xasprintf("%s/" CALLS_FILE_NAMES, folder);
	watch_release_calls(&w);
	calls_close(&w.calls);
	calllog_unmap(&l);
	for (size_t i = 0; i < w.n_models; i++) {
		contract_release(&w.model[i].contract);
		intern_release(&w.model[i].names);
		free(w.model[i].value);
	}
	free(w.model);
	unlink(p);
	unlink(n);
	assert_int_equal(rmdir(folder), 0);
	free(p);
	free(n);
}

static struct call_record put(uint32_t what, uint32_t tid, uint64_t seq, const char *name)
{
	struct call_record r = {
	    .what = what, .seq = seq, .pid = (uint32_t)getpid(), .tid = tid, .time = ++next_time, .contract_call = CALLS_NO_CALL};
	r.name = calls_intern(l.names, name, strlen(name));
	return r;
}

static void say(uint32_t what, uint32_t tid, uint64_t seq, const char *name)
{
	struct call_record r = put(what, tid, seq, name);
	calls_append(l.log, &r);
}

static void say_value(uint32_t tid, uint64_t seq, const char *name, bool before, uint8_t arg)
{
	struct call_record r = put(CALL_VALUE, tid, seq, name);
	r.v.before = before;
	r.v.arg = arg;
	calls_append(l.log, &r);
}

/* "relu(a b -> c)" for each call, "!" behind one that did not return, "~" behind one that is cut, "run" for a Run. */
static const char *joined(void)
{
	static struct buf b;
	struct watch_call c;
	buf_reset(&b);
	while (watch_next(&w, &c)) {
		buf_addf(&b, "%s%s(", b.len ? " " : "", c.begin.what == CALL_RUN_BEGIN ? "run" : c.name);
		for (uint32_t i = 0; i < c.n_values; i++)
			buf_addf(&b, "%s%s", i ? c.value[i].rec.v.before == c.value[i - 1].rec.v.before ? " " : " > " : "",
				 c.value[i].name);
		buf_addf(&b, ")%s%s", c.end.what == CALL_NONE ? "!" : "", c.cut ? "~" : "");
	}
	return buf_str(&b);
}

static void say_launch(uint64_t seq, const char *name, uint32_t grid, uint32_t graph)
{
	struct call_record r = put(CALL_LAUNCH, 1, seq, name);
	memset(&r.launch, 0, sizeof(r.launch));
	r.launch.grid[0] = grid;
	r.launch.captured = graph != 0;
	r.launch.graph = graph;
	calls_append(l.log, &r);
}

static void say_replay(uint32_t tid, uint64_t seq, uint32_t graph, uint64_t times)
{
	struct call_record r = put(CALL_BEGIN, tid, seq, "cuda_graph");
	r.run = CALLS_NO_RUN;
	calls_append(l.log, &r);
	r.what = CALL_REPLAY;
	r.replay = (struct call_replay){.graph = graph, .captured = 2, .times = times};
	calls_append(l.log, &r);
	r.what = CALL_END;
	r.took = 0;
	calls_append(l.log, &r);
}

/* A launch is its call's, also where its kernel has another name; of several the first is kept. */
static void test_launches(void **state)
{
	(void)state;
	struct watch_call c;
	begin_log(0);
	say(CALL_BEGIN, 1, 1, "add");
	say_launch(1, "add", 7, 0);
	say(CALL_END, 1, 1, "add");
	say(CALL_BEGIN, 1, 2, "gemm");
	say_launch(2, "cutlass_a", 8, 0);
	say_launch(2, "cutlass_b", 9, 0);
	say(CALL_END, 1, 2, "gemm");
	say_launch(3, "lost", 1, 0); /* its call was overwritten */
	w.ended = w.calls.final = true;
	assert_true(watch_next(&w, &c) && c.launch && c.launch->grid[0] == 7 && c.n_launches == 1 && !*c.function && !c.replay);
	assert_true(watch_next(&w, &c) && c.launch && c.launch->grid[0] == 8 && c.n_launches == 2);
	assert_string_equal(c.function, "cutlass_a");
	assert_false(watch_next(&w, &c));
	assert_int_equal(w.n_graphs, 0);
	end_log();
}

static void tell_graph(const char *members)
{
	struct live_event ev;
	struct json_tape t = {0};
	char *line = xasprintf("{\"ev\":\"graph\",\"t\":1,\"pid\":%d,\"tid\":1,\"model\":0,%s}", (int)getpid(), members);
	assert_true(live_event_parse(&ev, &t, slice_str(line)) && ev.kind == LIVE_GRAPH);
	watch_graph_event(&w, &ev);
	json_tape_release(&t);
	free(line);
}

static const char *graph_text(size_t i)
{
	static struct buf b;
	buf_reset(&b);
	watch_graph_text(&w, &w.graph[i], &b);
	return buf_str(&b);
}

static void test_graphs(void **state)
{
	(void)state;
	struct watch_call c;
	uint32_t replays = 0;
	begin_log(0);
	say(CALL_RUN_BEGIN, 1, 1, "");
	say(CALL_BEGIN, 1, 2, "add");
	say_launch(2, "add", 1, 1);
	say(CALL_END, 1, 2, "add");
	say_replay(1, 3, 1, 1); /* inside of a Run, from two threads */
	say_replay(2, 4, 1, 3);
	say_replay(1, 5, 1, 2);
	say_replay(1, 6, 0, 9); /* of none */
	say(CALL_RUN_END, 1, 1, "");
	say(CALL_BEGIN, 1, 7, "mul");
	say_launch(7, "mul", 1, 4);
	say(CALL_END, 1, 7, "mul");
	tell_graph("\"graph\":1,\"captured\":1,\"kernels\":[\"old\"]");
	tell_graph("\"graph\":1,\"captured\":12,\"kernels\":[\"add\",\"a\\u0007\",3,\"x\",\"x\",\"x\",\"x\",\"x\",\"y\"]");
	tell_graph("\"graph\":2,\"captured\":1,\"kernels\":[\"mul\"]");
	tell_graph("\"graph\":0,\"captured\":1");
	tell_graph("\"graph\":3,\"captured\":1,\"kernels\":7");
	w.ended = w.calls.final = true;
	while (watch_next(&w, &c))
		replays += c.replay != NULL;
	assert_int_equal(replays, 4);
	assert_int_equal(w.n_graphs, 4);
	assert_string_equal(graph_text(0), "CUDA graph 1: 12 calls captured (add, a?, , x, x, x, x, x, ...), replayed 3 times");
	assert_string_equal(graph_text(1), "CUDA graph 2: 1 call captured (mul), never replayed");
	assert_string_equal(graph_text(2), "CUDA graph 3: 1 call captured, never replayed");
	assert_int_equal(w.graph[0].launches, 1);
	assert_non_null(strstr(graph_text(3), "CUDA graph 4: 1 kernel captured; replays were not seen"));
	w.graph[3].pid++;
	assert_non_null(strstr(graph_text(1), "CUDA graph 2 of process "));
	end_log();
}

static void test_join(void **state)
{
	(void)state;
	begin_log(0);
	assert_string_equal(joined(), "");
	say(CALL_RUN_BEGIN, 1, 1, "");
	say_value(1, 1, "x", true, 0);
	say(CALL_BEGIN, 1, 2, "relu");
	assert_string_equal(joined(), "");
	say(CALL_END, 1, 2, "relu");
	/* Values come behind the end, inputs and outputs mixed. */
	say_value(1, 2, "out", false, 1);
	say_value(1, 2, "in1", true, 1);
	say_value(1, 2, "in0", true, 0);
	assert_string_equal(joined(), "");
	say(CALL_BEGIN, 1, 3, "add");
	assert_string_equal(joined(), "relu(in0 in1 > out)");
	say(CALL_END, 1, 3, "add");
	say_value(1, 1, "y", false, 0);
	say(CALL_RUN_END, 1, 1, "");
	assert_string_equal(joined(), "add() run(x > y)");
	w.ended = w.calls.final = true;
	assert_string_equal(joined(), "");
	end_log();
}

static void test_threads(void **state)
{
	(void)state;
	begin_log(0);
	say(CALL_RUN_BEGIN, 1, 1, "");
	say(CALL_RUN_BEGIN, 2, 2, "");
	say(CALL_BEGIN, 1, 3, "a");
	say(CALL_BEGIN, 2, 4, "b");
	say(CALL_END, 2, 4, "b");
	say_value(2, 4, "of_b", false, 0);
	say(CALL_END, 1, 3, "a");
	say(CALL_RUN_END, 2, 2, "");
	say_value(1, 3, "of_a", false, 0);
	say(CALL_RUN_END, 1, 1, "");
	assert_string_equal(joined(), "b(of_b) run() a(of_a) run()");
	end_log();
}

/* The last that has begun is the one that crashed; what had returned comes first, the Run last. */
static void test_crash(void **state)
{
	(void)state;
	begin_log(0);
	say(CALL_RUN_BEGIN, 1, 1, "");
	say(CALL_BEGIN, 1, 2, "a");
	say(CALL_END, 1, 2, "a");
	say_value(1, 2, "of_a", false, 0);
	say(CALL_BEGIN, 1, 3, "bad");
	say_value(1, 3, "in", true, 0);
	say(CALL_BEGIN, 2, 4, "other");
	say(CALL_END, 2, 4, "other");
	assert_string_equal(joined(), "a(of_a)");
	w.ended = w.calls.final = true;
	assert_string_equal(joined(), "other() bad(in)! run()!");
	end_log();
}

/* A custom op may run another model: the Run inside does not end the call outside. */
static void test_nested(void **state)
{
	(void)state;
	begin_log(0);
	say(CALL_BEGIN, 1, 1, "outer");
	struct call_record r = put(CALL_RUN_BEGIN, 1, 2, "");
	r.model = 7;
	calls_append(l.log, &r);
	r = put(CALL_BEGIN, 1, 3, "inner");
	r.model = 7;
	calls_append(l.log, &r);
	r.what = CALL_END;
	calls_append(l.log, &r);
	r = put(CALL_RUN_END, 1, 2, "");
	r.model = 7;
	calls_append(l.log, &r);
	say(CALL_END, 1, 1, "outer");
	say(CALL_BEGIN, 1, 4, "next");
	assert_string_equal(joined(), "inner() run() outer()");
	end_log();
}

static void test_overwritten(void **state)
{
	(void)state;
	begin_log(8);
	say(CALL_BEGIN, 1, 1, "a");
	for (uint64_t i = 2; i < 40; i++)
		say(CALL_BEGIN, 2, i, "noise"), say(CALL_END, 2, i, "noise");
	say(CALL_END, 1, 1, "a");
	w.ended = w.calls.final = true;
	const char *text = joined();
	assert_non_null(strstr(text, "a()~")); /* its beginning is gone */
	assert_null(strstr(text, "!"));
	assert_true(w.calls.lost > 60);
	end_log();
	/* An end that was lost is no crash: the thread went on. */
	begin_log(0);
	say(CALL_BEGIN, 1, 1, "a");
	say(CALL_BEGIN, 1, 2, "b");
	say(CALL_END, 1, 2, "b");
	w.ended = w.calls.final = true;
	assert_string_equal(joined(), "a()~ b()");
	end_log();
}

/* Records of a process that lies: bounded, and everything is released. */
static void test_garbage(void **state)
{
	(void)state;
	uint64_t seed = 5;
	for (int round = 0; round < 20; round++) {
		begin_log(512);
		for (int i = 0; i < 3000; i++) {
			struct call_record r;
			for (size_t k = 0; k < sizeof(r) / 4; k++)
				((uint32_t *)&r)[k] = random_u32(&seed) >> (random_u32(&seed) % 32);
			r.what = pick(&seed, 8);
			r.ticks = pick(&seed, 2);
			r.seq = pick(&seed, 40);
			r.tid = pick(&seed, 3);
			r.pid = (uint32_t)getpid();
			calls_append(l.log, &r);
			if (i % 100 == 0)
				joined();
		}
		w.ended = w.calls.final = true;
		joined();
		assert_int_equal(w.n_open, 0);
		end_log();
	}
}

/* ---- processes ---- */

/* A process that has begun a call; it waits for its end. */
static pid_t begin_in_child(uint64_t seq)
{
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct call_record r = put(CALL_BEGIN, (uint32_t)getpid(), seq, "relu");
		calls_append(l.log, &r);
		alarm(60); /* should the test fail meanwhile */
		for (;;)
			pause();
	}
	while (atomic_load(&l.log->ticket) < seq)
		usleep(1000);
	return pid;
}

static void test_fates(void **state)
{
	(void)state;
	struct child_result how;
	struct watch_call c;
	siginfo_t info;
	begin_log(64);
	pid_t killed = begin_in_child(1), alive = begin_in_child(2);
	assert_false(watch_next(&w, &c));
	watch_look_around(&w, watch_finish_process);
	assert_int_equal(watch_fate(&w, (uint32_t)killed, &how), WATCH_RUNS);
	/* Told how it ended before anybody has asked, it is known on every Linux. */
	kill(killed, SIGKILL); /* cmocka catches those of a crash */
	assert_int_equal(waitid(P_PID, (id_t)killed, &info, WEXITED | WNOWAIT), 0);
	watch_look_around(&w, watch_finish_process);
	assert_int_equal(watch_fate(&w, (uint32_t)killed, &how), WATCH_KILLED);
	assert_int_equal(how.sig, SIGKILL);
	assert_int_equal(waitpid(killed, NULL, 0), killed);
	assert_int_equal(watch_fate(&w, (uint32_t)killed, &how), WATCH_KILLED);
	/* Its call is over the next time; that of the other one goes on. */
	assert_false(watch_next(&w, &c));
	watch_look_around(&w, watch_finish_process);
	assert_true(watch_next(&w, &c));
	assert_true(c.begin.pid == (uint32_t)killed && c.end.what == CALL_NONE);
	assert_false(watch_next(&w, &c));
	/* One that nobody has met while it lived. */
	pid_t gone = begin_in_child(3);
	kill(gone, SIGKILL);
	assert_int_equal(waitpid(gone, NULL, 0), gone);
	assert_false(watch_next(&w, &c));
	assert_int_equal(watch_fate(&w, (uint32_t)gone, &how), WATCH_GONE);
	assert_int_equal(watch_fate(&w, (uint32_t)alive, &how), WATCH_RUNS);
	kill(alive, SIGKILL);
	assert_int_equal(waitpid(alive, NULL, 0), alive);
	end_log();
}

/* ---- models ---- */

static const char *missing;
static char *mlp, *x_file;

static bool put_file(const char *path, const void *p, size_t n)
{
	FILE *f = fopen(path, "w");
	bool ok = f && fwrite(p, 1, n, f) == n;
	return f && fclose(f) == 0 && ok;
}

static void put_npy(const char *path, const char *shape, const float *v, size_t n)
{
	char head[128];
	memset(head, ' ', sizeof(head));
	memcpy(head, "\x93NUMPY\x01\x00\x76\x00", 10);
	int len = snprintf(head + 10, sizeof(head) - 10, "{'descr': '<f4', 'fortran_order': False, 'shape': %s}", shape);
	head[10 + len] = ' ';
	head[sizeof(head) - 1] = '\n';
	struct buf b = {0};
	buf_add(&b, head, sizeof(head));
	buf_add(&b, v, n * sizeof(*v));
	assert_true(put_file(path, b.p, b.len));
	buf_release(&b);
}

static int group_setup(void **state)
{
	(void)state;
	static char at[4096];
	ssize_t n = readlink("/proc/self/exe", at, sizeof(at) - 64);
	assert_true(n > 0);
	at[n] = 0;
	*strrchr(at, '/') = 0; /* BUILD/tests */
	static const char *const part[][2] = {{"PT2_PROBE", "libpt2probe.so"}, {"PT2_RUNNER", "pt2-runner"}, {"PT2_SHIM", "libpt2shim.so"}};
	for (size_t i = 0; i < ARRAY_LEN(part); i++) {
		char *path = xasprintf("%s/../lib/pt2utils/%s", at, part[i][1]);
		if (access(path, R_OK) < 0)
			missing = "the libraries are not built";
		setenv(part[i][0], path, 1);
		free(path);
	}
	setenv("OMP_NUM_THREADS", "1", 1);
	struct buf b = {0};
#ifdef __x86_64__
	if (!__builtin_cpu_supports("avx2"))
#endif
		missing = "the recorded models are x86-64-v3 code";
	if (!data_load("aoti/mlp.pt2.xz", &b))
		missing = "no recorded models";
	mlp = xasprintf("/tmp/pt2watch.%d.pt2", (int)getpid());
	x_file = xasprintf("/tmp/pt2watch.%d.npy", (int)getpid());
	assert_true(put_file(mlp, b.p, b.len));
	buf_release(&b);
	return 0;
}

static int group_teardown(void **state)
{
	(void)state;
	unlink(mlp);
	unlink(x_file);
	free(mlp);
	free(x_file);
	return 0;
}

#define NEED_MODELS() \
	if (missing) { \
		print_message("# %s\n", missing); \
		skip(); \
	}

static void test_model(void **state)
{
	(void)state;
	NEED_MODELS();
	float x[3 * 8];
	for (int i = 0; i < 24; i++)
		x[i] = (float)i / 24;
	put_npy(x_file, "(3, 8)", x, 24);
	const char *const operand[] = {x_file};
	options = (struct watch_options){.calls = {.want = CALLS_NAMES | CALLS_STATS, .last_run = UINT32_MAX},
					 .model = mlp,
					 .operand = operand,
					 .n_operand = 1,
					 .how.runs = 2};
	struct err err = {0};
	struct watch_call c;
	struct buf b = {0};
	if (watch_run(&w, &options, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(w.failed.text, "");
	while (watch_next(&w, &c)) {
		if (c.begin.what == CALL_RUN_BEGIN) {
			buf_addf(&b, "| ");
			continue;
		}
		assert_non_null(c.contract);
		assert_true(c.model && !strcmp(c.model->path, mlp));
		assert_true(c.contract->line > 0);
		buf_addf(&b, "%s(", c.name);
		for (uint32_t i = 0; i < c.n_values; i++) {
			const struct watch_value *v = &c.value[i];
			assert_non_null(v->value);
			assert_true(v->rec.v.stats.known && !v->rec.v.stats.nan);
			buf_addf(&b, "%s%s%s", i ? " " : "", v->rec.v.before ? "" : ">",
				 v->value->kind == VALUE_CONSTANT ? "const" : v->name);
		}
		buf_adds(&b, ") ");
	}
	const char *once = "aoti_torch_cpu_addmm_out(const arg4_1 const >buf0) cpp_fused_relu_0(buf1 >buf1 >buf2) ";
	if (strncmp(buf_str(&b), once, strlen(once)))
		fail_msg("%s", buf_str(&b));
	assert_non_null(strstr(buf_str(&b), "| aoti_torch_cpu_addmm_out")); /* the second Run */
	assert_int_equal(w.outputs.out.n, 1);
	assert_int_equal(watch_status(&w, 0, -1), EXIT_FINE);
	assert_int_equal(watch_status(&w, 2, -1), EXIT_FOUND);
	assert_int_equal(watch_end(&w, watch_status(&w, 2, 9)), 9);
	buf_release(&b);
}

static void refused(const char *const *operand, int n, bool no_exec, enum exit_status status, const char *text)
{
	struct err err = {0};
	options = (struct watch_options){
	    .calls = {.want = CALLS_NAMES, .last_run = UINT32_MAX}, .model = mlp, .operand = operand, .n_operand = n, .no_exec = no_exec};
	assert_int_equal(watch_run(&w, &options, &err), -1);
	if (err.status != status || !strstr(err.text, text))
		fail_msg("%d: %s", (int)err.status, err.text);
}

static void test_refused(void **state)
{
	(void)state;
	NEED_MODELS();
	refused(NULL, 0, false, EXIT_USAGE, "no input given for args[0] (arg4_1)");
	refused((const char *const[]){"f32[3,8]"}, 1, true, EXIT_USAGE, "--no-exec conflicts");
	refused((const char *const[]){"f64[3,8]"}, 1, false, EXIT_INPUT, "dtype: expected float32, given float64");
	refused((const char *const[]){"f32[3,9]"}, 1, false, EXIT_INPUT, "args[0] (arg4_1): size: expected 8, given 9");
	refused((const char *const[]){"f32[3,8]@cuda"}, 1, false, EXIT_USAGE, "inputs can be generated only on cpu");
}

/* Made up inputs are the same each time, and beyond a bound it runs. */
static void test_specs(void **state)
{
	(void)state;
	NEED_MODELS();
	const char *const operand[] = {"f32[100,8]"};
	double max[2];
	for (int round = 0; round < 2; round++) {
		struct err err = {0};
		struct watch_call c;
		options = (struct watch_options){
		    .calls = {.want = CALLS_STATS, .last_run = UINT32_MAX}, .model = mlp, .operand = operand, .n_operand = 1};
		if (watch_run(&w, &options, &err) < 0)
			fail_msg("%s", err.text);
		assert_true(watch_next(&w, &c) && c.n_values >= 3);
		assert_string_equal(c.value[1].name, "arg4_1");
		max[round] = c.value[1].rec.v.stats.max;
		assert_true(max[round] > 0.9 && max[round] < 1 && c.value[1].rec.v.stats.min < -0.9);
		watch_end(&w, 0);
	}
	assert_true(max[0] == max[1]);
}

/* ---- bundles ---- */

static void put_text(const char *dir, const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", dir, name);
	assert_true(put_file(path, text, strlen(text)));
	free(path);
}

static void bundle_is_bad(const char *dir, const char *text, const char *why)
{
	struct err err = {0};
	struct watch_bundle b;
	put_text(dir, BUNDLE_INDEX, text);
	assert_true(watch_bundle_like(dir));
	assert_int_equal(watch_bundle_open(&b, dir, &err), -1);
	if (!strstr(err.text, why))
		fail_msg("%s", err.text);
}

static void test_bundle(void **state)
{
	(void)state;
	char dir[] = "/tmp/pt2bundle.XXXXXX";
	struct err err = {0};
	struct watch_bundle b;
	assert_non_null(mkdtemp(dir));
	assert_false(watch_bundle_like(dir));
	bundle_is_bad(dir, "", "not JSON");
	bundle_is_bad(dir, "{\"bundle\": 2}", "version");
	bundle_is_bad(dir, "{\"bundle\": 1, \"library\": null, \"inputs\": []}", "was already deleted");
	bundle_is_bad(dir, "{\"bundle\": 1, \"library\": \"model/../../x\", \"inputs\": []}", "outside");
	bundle_is_bad(dir, "{\"bundle\": 1, \"library\": \"/lib/x.so\", \"inputs\": []}", "outside");
	bundle_is_bad(dir, "{\"bundle\": 1, \"library\": \"model/x.so\"}", "no \"inputs\"");
	bundle_is_bad(dir, "{\"bundle\": 1, \"library\": \"model/x.so\", \"inputs\": [{\"file\": null}]}", "could not be kept");
	bundle_is_bad(dir, "{\"bundle\": 1, \"library\": \"model/x.so\", \"inputs\": [{\"file\": \"../x\"}]}", "is a path");
	bundle_is_bad(dir, "{\"bundle\": 1, \"library\": \"model/x.so\", \"inputs\": [{\"file\": \"x\", \"spec\": \"?\"}]}", "no \"spec\"");
	put_text(dir, BUNDLE_INDEX,
		 "{\"bundle\": 1, \"library\": \"model/x.so\", \"inputs\": [{\"file\": \"input0.npy\", \"spec\": \"f32[2,3]/(1,2)\"}]}");
	if (watch_bundle_open(&b, dir, &err) < 0)
		fail_msg("%s", err.text);
	/* Row-major in the file, column-major in the process. */
	char *npy = xasprintf("%s/input0.npy", dir), *index = xasprintf("%s/" BUNDLE_INDEX, dir);
	put_npy(npy, "(2, 3)", (const float[]){0, 1, 2, 3, 4, 5}, 6);
	struct contract c = {.n_inputs = 1, .input = &(struct contract_input){.dtype = DTYPE_F32, .device = DEVICE_NONE}};
	struct inputs in;
	if (watch_bundle_inputs(&b, &in, &c, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(in.v[0].meta.stride[1], 2);
	const float *v = in.v[0].data;
	assert_true(v[0] == 0 && v[1] == 3 && v[2] == 1 && v[5] == 5);
	inputs_release(&in);
	put_npy(npy, "(3, 2)", (const float[]){0, 1, 2, 3, 4, 5}, 6);
	assert_int_equal(watch_bundle_inputs(&b, &in, &c, &err), -1);
	assert_non_null(strstr(err.text, "not the tensor described in the bundle"));
	c.n_inputs = 2;
	assert_int_equal(watch_bundle_inputs(&b, &in, &c, &err), -1);
	assert_non_null(strstr(err.text, "holds 1 inputs, its model takes 2"));
	watch_bundle_close(&b);
	unlink(npy);
	unlink(index);
	free(npy);
	free(index);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_launches),    cmocka_unit_test(test_graphs),  cmocka_unit_test(test_join),
	    cmocka_unit_test(test_threads),     cmocka_unit_test(test_crash),   cmocka_unit_test(test_nested),
	    cmocka_unit_test(test_overwritten), cmocka_unit_test(test_garbage), cmocka_unit_test(test_model),
	    cmocka_unit_test(test_refused),     cmocka_unit_test(test_specs),   cmocka_unit_test(test_bundle),
	    cmocka_unit_test(test_fates),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name(__FILE__, tests, group_setup, group_teardown);
}
