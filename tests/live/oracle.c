/* The torch oracle with real torch: every outcome, where it fails, what happens when processes die. oracle.t compiles and runs it.
 *
 *     oracle PYTHON FIXTURES [base | forms]           (tests/data/minifier; a half of it)
 *
 * Speaks TAP; the seconds of each case are comments. */
#include "graph/fxcode.h"
#include "reduce/candidate.h"
#include "reduce/oracle_torch.h"

#include <dirent.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static unsigned tests, failures;
static const char *python, *fixtures;

static void ok(bool good, const char *name, const char *detail)
{
	printf("%sok %u - %s\n", good ? "" : "not ", ++tests, name);
	if (!good) {
		failures++;
		printf("# %s\n", detail ? detail : "");
	}
	fflush(stdout);
}

static void is(struct slice have, const char *want, const char *name)
{
	char *detail = xasprintf("have '%.*s', want '%s'", SL(have), want);
	ok(slice_is(have, want), name, detail);
	free(detail);
}

static void has(struct slice have, const char *want, const char *name)
{
	char *detail = xasprintf("'%.*s' has no '%s'", SLN(have, 1500), want);
	ok(memmem(have.p, have.n, want, strlen(want)), name, detail);
	free(detail);
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void took(const char *what, double seconds) { printf("# %-52s %6.2f s\n", what, seconds); }

static void open_fixture(struct repro *r, const char *name)
{
	char *path = xasprintf("%s/%s/minifier_launcher.py", fixtures, name);
	struct err err;
	*r = (struct repro){0};
	if (repro_open(r, path, &err) < 0) {
		printf("Bail out! %s\n", err.text);
		exit(4);
	}
	free(path);
}

/* The head with Inductor's switch for a broken ReLU as `bug` ("" leaves it out), and more lines behind it. */
static struct repro edited(const struct repro *r, const char *bug, const char *more)
{
	struct repro e = *r;
	e.line = xcalloc(r->n_lines + 2, sizeof(*e.line));
	e.n_lines = 0;
	for (size_t i = 0; i < r->n_lines; i++)
		if (!memmem(r->line[i].text.p, r->line[i].text.n, "inject_relu_bug", 15))
			e.line[e.n_lines++] = r->line[i];
	if (*bug)
		e.line[e.n_lines++] = (struct repro_line){
		    .kind = REPRO_CONFIG,
		    .text = slice_str(xasprintf("torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY = '%s'", bug))};
	if (*more)
		e.line[e.n_lines++] = (struct repro_line){.kind = REPRO_OTHER, .text = slice_str(more)};
	return e;
}

/* What happens when a node that is a ReLU is lowered. */
#define AT_RELU(what) \
	"import torch._inductor.graph as g, ctypes, os, signal, time\n" \
	"real = g.GraphLowering.run_node\n" \
	"def run_node(self, n):\n" \
	"    if 'relu' in str(n.target):\n" \
	"        " what "\n" \
	"    return real(self, n)\n" \
	"g.GraphLowering.run_node = run_node\n"

static uint64_t begin(struct oracle *o, const struct candidate *c, const struct repro *head, bool where)
{
	struct test t = candidate_test(c, head);
	t.want_where = where;
	struct err err = {0};
	uint64_t id = oracle_start(o, &t, &err);
	if (!id)
		ok(false, "a test starts", err.text);
	return id;
}

static bool finish(struct oracle *o, struct outcome *out)
{
	struct err err = {0};
	*out = (struct outcome){.kind = OUTCOME_INFRA};
	int r = oracle_wait(o, 180000, out, &err);
	if (r != 1)
		ok(false, "an outcome comes", r < 0 ? err.text : "nothing came");
	return r == 1;
}

/* One test to its end; checks what it is. */
static struct outcome one(struct oracle *o, const struct candidate *c, const struct repro *head, bool where, const char *name,
			  enum outcome_kind want)
{
	struct outcome out;
	begin(o, c, head, where);
	finish(o, &out);
	char *detail = xasprintf("%s: %.*s", outcome_words[out.kind], SL(out.detail));
	ok(out.kind == want, name, detail);
	free(detail);
	took(name, out.seconds);
	return out;
}

static bool drop_unit(const struct repro *r, const struct units *u, const char *only, struct candidate *c)
{
	uint64_t *keep = xcalloc(u->n / 64 + 1, sizeof(*keep));
	uint32_t node = graph_find(&r->graph, 0, slice_str(only));
	struct err err;
	bit_add(keep, u->of[node]);
	int status = candidate_cut(c, r, u, keep, NULL, &err);
	free(keep);
	return status == 0;
}

static int folders(void)
{
	DIR *d = opendir(getenv("TMPDIR"));
	int n = 0;
	for (struct dirent *e; d && (e = readdir(d));)
		n += !!strstr(e->d_name, "fxminify");
	if (d)
		closedir(d);
	return n;
}

/* Those whose folder is in TMPDIR, this one aside. */
static int processes(void)
{
	DIR *d = opendir("/proc");
	const char *tmp = getenv("TMPDIR");
	int n = 0;
	for (struct dirent *e; d && (e = readdir(d));) {
		char path[300], to[4096];
		snprintf(path, sizeof(path), "/proc/%s/cwd", e->d_name);
		ssize_t len = strtol(e->d_name, NULL, 10) > 0 ? readlink(path, to, sizeof(to) - 1) : -1;
		to[len > 0 ? len : 0] = 0;
		if (len > 0 && !strncmp(to, tmp, strlen(tmp))) {
			printf("# process %s in %s\n", e->d_name, to);
			n++;
		}
	}
	if (d)
		closedir(d);
	return n;
}

static int pid_of(struct oracle *o)
{
	struct slice hello = oracle_torch_hello(o);
	const char *p = memmem(hello.p, hello.n, "\"pid\": ", 7);
	return p ? (int)strtol(p + 7, NULL, 10) : 0;
}

/* Two at once: one hangs and does not mind SIGTERM, one eats memory. */
static void limits(struct oracle *o, const struct candidate *c, const struct repro *r)
{
	struct repro hang =
	    edited(r, "", AT_RELU("signal.signal(signal.SIGTERM, signal.SIG_IGN); os.system('setsid -f sleep 1000'); time.sleep(1000)"));
	struct repro eat = edited(r, "", AT_RELU("bytearray(8 << 30)"));
	struct repro leave = edited(r, "", AT_RELU("os._exit(7)"));
	uint64_t id[3] = {begin(o, c, &hang, true), begin(o, c, &eat, false), begin(o, c, &leave, false)};
	for (int i = 0; i < 3; i++) {
		struct outcome out;
		if (!finish(o, &out))
			return;
		if (out.id == id[0]) {
			ok(out.kind == OUTCOME_TIMEOUT, "a hang is a timeout", outcome_words[out.kind]);
			has(out.signature.message, "while in compile", "a timeout says in which phase");
			has(out.extra, "\"suspects\": [\"relu\"]", "a hang: where");
			took("hang (30 s allowed), SIGTERM ignored", out.seconds);
		} else if (out.id == id[1]) {
			ok(out.kind == OUTCOME_MEMORY, "memory that ran out is a failure of its own", outcome_words[out.kind]);
			has(out.detail, "out of memory in phase compile: ", "memory: it says so");
			has(out.detail, "requested more than 3.0 GiB", "memory: and how much there is");
			took("memory limit", out.seconds);
		} else {
			ok(out.kind == OUTCOME_CRASHED, "a compiler that ends the process is a crash", outcome_words[out.kind]);
			is(out.signature.type, "exit status 7", "... with its status");
		}
	}
	/* Cancelled: its slot is free, and no outcome comes. */
	uint64_t gone = begin(o, c, &hang, false);
	struct outcome out;
	struct err err;
	ok(oracle_wait(o, 1500, &out, &err) == 0, "nothing comes of a hang at once", NULL);
	oracle_cancel(o, gone);
	ok(oracle_wait(o, 2000, &out, &err) == 0, "a cancelled test has no outcome", NULL);
	free(hang.line);
	free(eat.line);
	free(leave.line);
}

static void zygote_killed(struct oracle *o, const struct candidate *c, const struct repro *r)
{
	struct repro hang = edited(r, "", AT_RELU("time.sleep(1000)"));
	struct outcome out;
	struct err err;
	begin(o, c, &hang, false);
	oracle_wait(o, 1000, &out, &err);
	double t = now();
	kill(pid_of(o), SIGKILL);
	finish(o, &out);
	ok(out.kind == OUTCOME_INFRA, "the torch process is killed: its test is infrastructure", outcome_words[out.kind]);
	has(out.detail, "killed by SIGKILL", "... and says so");
	one(o, c, r, false, "the next test runs in a new process", OUTCOME_RAISED);
	took("... with its start", now() - t);
	free(hang.line);
}

static void after_aot(void)
{
	struct repro r;
	struct err err = {0};
	open_fixture(&r, "aot_compile_error");
	double t = now();
	struct oracle *o = oracle_torch(
	    &(struct oracle_torch_spec){.python = python, .repro = &r, .jobs = 2, .timeout_ms = 30000, .max_memory = 3ull << 30}, &err);
	ok(o, "it starts", err.text);
	if (!o)
		return;
	took("start, import, warm-up compile, recording", now() - t);
	printf("# %.*s\n", SL(oracle_torch_hello(o)));
	ok(oracle_torch_recorded(o)->kind == OUTCOME_PASSES, "the original runs in eager", oracle_torch_recorded(o)->detail.p);
	struct verifier *v = verifier_start(&(struct oracle_torch_spec){.python = python, .repro = &r, .timeout_ms = 60000}, &err);
	ok(v, "a verifier starts", err.text);

	ok(oracle_torch_annotate(o, &r.graph, &err) == 0, "metadata is recorded", err.text);
	struct buf meta = {0};
	fxcode_meta(&r.graph, r.graph.node[graph_find(&r.graph, 0, SLICE("sum_1"))].meta, &meta);
	is(buf_slice(&meta), "f32[4][1]cpu", "a node's metadata");
	buf_reset(&meta);
	uint32_t var = r.graph.node[graph_find(&r.graph, 0, SLICE("var_mean"))].meta;
	ok(var != NONE && r.graph.meta[var].kind == GMETA_TUPLE && r.graph.meta[var].n_parts == 2, "a tuple's metadata", NULL);
	buf_release(&meta);

	struct candidate whole, relu, cosine, bad;
	struct units u = {0};
	units_find(&r.graph, &u);
	candidate_whole(&whole, &r);
	ok(drop_unit(&r, &u, "relu", &relu) && drop_unit(&r, &u, "cos", &cosine), "parts are cut", NULL);

	struct outcome out = one(o, &whole, &r, true, "compile error, whole graph, where", OUTCOME_RAISED);
	is(out.signature.type, "torch._inductor.exc.CppCompileError", "compile error: type");
	has(out.signature.message,
	    "PATH: error: \xe2\x80\x98"
	    "compile\xe2\x80\x99 was not declared",
	    "compile error: message");
	has(out.signature.frames, "_inductor/cpp_builder.py:", "compile error: frames");
	has(out.extra, "{\"suspects\": [\"relu\"", "compile error: where");
	struct arena arena = {0};
	struct signature want = signature_copy(&arena, &out.signature);
	out = one(o, &relu, &r, false, "compile error, one op", OUTCOME_RAISED);
	ok(verdict_of(&out, &want, (struct slice){"", 0}) == VERDICT_SAME, "it is the same failure", out.detail.p);
	one(o, &cosine, &r, false, "another op passes, C++ compiled", OUTCOME_PASSES);
	one(o, &cosine, &r, false, "the same again, C++ not compiled", OUTCOME_PASSES);

	struct repro none = edited(&r, "", ""), run = edited(&r, "runtime_error", ""),
		     print = edited(&r, "", "print('{\"re\": \"test\"}', flush=True)");
	one(o, &whole, &none, false, "whole graph passes", OUTCOME_PASSES);
	one(o, &whole, &print, false, "whole graph again; what is printed disturbs nothing", OUTCOME_PASSES);
	out = one(o, &whole, &run, true, "run-time error, whole graph, where", OUTCOME_RAISED);
	is(out.signature.type, "RuntimeError", "run-time error: type");
	has(out.extra, "last kernel called", "run-time error: where");
	has(out.extra, "\"relu\"", "run-time error: relu is among them");
	struct repro crash = edited(&r, "", AT_RELU("ctypes.string_at(0)"));
	out = one(o, &whole, &crash, true, "segfault", OUTCOME_CRASHED);
	is(out.signature.type, "SIGSEGV", "segfault: the signal");
	has(out.signature.frames, "launcher.py:run_node;fx/interpreter.py:run;_inductor/graph.py:run", "segfault: the stack");
	has(out.extra, "{\"suspects\": [\"relu\"]", "segfault: where");
	struct repro raise = edited(&r, "", AT_RELU("raise KeyError(n.name)"));
	out = one(o, &whole, &raise, true, "an exception in lowering", OUTCOME_RAISED);
	has(out.extra, "{\"suspects\": [\"relu\"]", "an exception in lowering: where");

	struct repro broken = edited(&r, "", "raise ValueError('no such thing')");
	out = one(o, &whole, &broken, false, "a changed head that raises: invalid", OUTCOME_INVALID);
	has(out.detail, "(head): ValueError: no such thing", "... and says so");
	static const char text[] = "class Repro(torch.nn.Module):\n    def forward(self, x):\n"
				   "        mm = torch.ops.aten.mm.default(x, x);  x = None\n        return (mm,)\n";
	bad = (struct candidate){0};
	ok(fxcode_read(&bad.graph, SLICE(text), "bad.py", &err) == 0, "a graph that cannot run is read", err.text);
	struct symsize size[2] = {symsize_int(3), symsize_int(4)};
	struct feed feed = {
	    .kind = FEED_RANDOM, .name = SLICE("relu"), .meta = graph_add_tensor(&bad.graph, DTYPE_F64, 2, size, NULL, SLICE("cpu"))};
	bad.feed = &feed;
	bad.n_feeds = 1;
	bad.line = r.line;
	bad.n_lines = r.n_lines;
	out = one(o, &bad, &none, false, "eager fails already: invalid", OUTCOME_INVALID);
	has(out.detail, "mat1 and mat2 shapes", "invalid: why");

	struct test inputs = candidate_test(&bad, &none);
	struct oracle_value value;
	ok(oracle_torch_values(o, &inputs, &arena, &value, &err) == 0, "values of inputs", err.text);
	double *p = (double *)(uintptr_t)value.bytes.p;
	ok(value.kind == ORACLE_TENSOR && value.bytes.n == 12 * sizeof(double) && p[0] >= 0, "a corner of what relu gave, as float64",
	   NULL);

	limits(o, &whole, &r);
	zygote_killed(o, &relu, &r);
	oracle_close(o);
	int status = 0;
	char *repro = xasprintf("%s/aot_compile_error/repro.py", fixtures);
	double began = now();
	status = v ? verifier_run(v, repro, &r, false, &out, &err) : -1;
	ok(status == 0 && verdict_of(&out, &want, (struct slice){"", 0}) == VERDICT_SAME,
	   "a repro.py fails the same way in a fresh process", status ? err.text : out.detail.p);
	took("verified", now() - began);
	verifier_close(v);
	free(repro);
	arena_release(&arena);
	repro_release(&r);
}

/* Through a prefix, so that nothing is read from files; accuracy. */
static void accuracy(void)
{
	struct repro r;
	struct err err = {0};
	open_fixture(&r, "aot_accuracy");
	const char *const env[] = {"env", "PT2_TEST=1", NULL}, *const *const launcher[] = {env, NULL};
	double t = now();
	struct oracle *o =
	    oracle_torch(&(struct oracle_torch_spec){.python = python, .repro = &r, .timeout_ms = 60000, .launcher = launcher}, &err);
	ok(o, "accuracy: it starts behind a prefix", err.text);
	if (!o)
		return;
	took("start through a prefix", now() - t);
	has(oracle_torch_record(o), "\"random\": []", "stored inputs arrive");
	struct candidate whole;
	candidate_whole(&whole, &r);
	struct outcome out = one(o, &whole, &r, true, "accuracy, whole graph, where", OUTCOME_ACCURACY);
	is(out.signature.message, "values", "accuracy: its class");
	has(out.extra, "{\"suspects\": [\"relu\"", "accuracy: where");
	struct repro none = edited(&r, "", "");
	one(o, &whole, &none, false, "accuracy is fine without the bug", OUTCOME_PASSES);
	oracle_close(o);
	repro_release(&r);
}

/* The original of a fixture in a process of its own; where it fails must begin with `suspects`. */
static void form(const char *fixture, const char *name, void (*edit)(struct repro *r), enum outcome_kind want, const char *suspects)
{
	struct repro r;
	struct err err = {0};
	struct outcome out = {0};
	const char *path[] = {getenv("TMPDIR"), NULL};
	open_fixture(&r, fixture);
	if (edit)
		edit(&r);
	struct oracle *o =
	    oracle_torch(&(struct oracle_torch_spec){.python = python, .repro = &r, .timeout_ms = 120000, .path = path}, &err);
	struct candidate whole;
	candidate_whole(&whole, &r);
	if (o)
		out = one(o, &whole, &r, true, name, want);
	else
		ok(false, name, err.text);
	char *where = xasprintf("%s: where", name);
	if (*suspects)
		has(out.extra, suspects, where);
	free(where);
	oracle_close(o);
	candidate_release(&whole);
	repro_release(&r);
}

static void make_aoti(struct repro *r) { r->form = REPRO_AOTI; }
static void forward_only(struct repro *r) { r->only_fwd = SLICE("True"); }
/* The troubleshooting guide's backend: it refuses a graph with a ReLU. */
static void toy_backend(struct repro *r)
{
	char *path = xasprintf("%s/toys.py", getenv("TMPDIR"));
	FILE *f = fopen(path, "w");
	fputs("def toy_compiler(gm, _):\n    for n in gm.graph.nodes:\n        if 'relu' in str(n.target):\n            raise "
	      "AssertionError('no relu')\n"
	      "    return gm\n",
	      f);
	fclose(f);
	free(path);
	r->backend = SLICE("toys:toy_compiler");
}

static void forms(void)
{
	form("aot_dynamic", "dynamic shapes: compile error", NULL, OUTCOME_RAISED, "{\"suspects\": [\"relu\"");
	form("aot_nan", "a NaN constant: compile error", NULL, OUTCOME_RAISED, "{\"suspects\": [\"relu\"");
	form("dynamo_compile_error", "after dynamo: compile error", NULL, OUTCOME_RAISED, "{\"suspects\": [\"y_2\"");
	form("dynamo_accuracy", "after dynamo: accuracy, forward and backward", NULL, OUTCOME_ACCURACY, "{\"suspects\": [\"y_2\"");
	form("dynamo_accuracy", "after dynamo: accuracy, forward only", forward_only, OUTCOME_ACCURACY, "{\"suspects\": [\"y_2\"");
	form("dynamo_compile_error", "after dynamo: a backend of one's own", toy_backend, OUTCOME_RAISED, "");
	form("aot_compile_error", "aot inductor: compile error", make_aoti, OUTCOME_RAISED, "{\"suspects\": [\"relu\"");
}

static void no_python(void)
{
	struct repro r;
	struct err err = {0};
	open_fixture(&r, "aot_compile_error");
	ok(!oracle_torch(&(struct oracle_torch_spec){.python = "./missing/python", .repro = &r}, &err), "no Python", NULL);
	has(slice_str(err.text), "no Python is found", "no Python: it says so");
	ok(!oracle_torch(&(struct oracle_torch_spec){.python = "/usr/bin/python3", .repro = &r, .start_timeout_ms = 60000}, &err),
	   "no torch", NULL);
	has(slice_str(err.text), "cannot import torch", "no torch: it says so");
	ok(err.status == EXIT_ENVIRON, "no torch: the environment", NULL);
	ok(!oracle_torch(&(struct oracle_torch_spec){.python = "false", .repro = &r, .start_timeout_ms = 60000}, &err), "no interpreter",
	   NULL);
	has(slice_str(err.text), "exited with status 1", "no interpreter: it says so");
	repro_release(&r);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	python = argv[1];
	fixtures = argv[2];
	const char *only = argc > 3 ? argv[3] : "";
	if (!*only || !strcmp(only, "base")) {
		no_python();
		after_aot();
		accuracy();
	}
	if (!*only || !strcmp(only, "forms"))
		forms();
	ok(folders() == 0, "no folder is left", getenv("TMPDIR"));
	int left = processes();
	for (int i = 0; left && i < 20; i++) { /* one that was killed takes a moment to go */
		usleep(250000);
		left = processes();
	}
	ok(left == 0, "no test runs on", NULL);
	printf("1..%u\n", tests);
	return failures != 0;
}
