/* fxexplain's emitters: an explanation that is filled by hand, with names that want to be markup, written in every form. */
#include "../../lib/test.h"
#include "../../lib/missing.h"

#include "../../../cmd/fxexplain/explain/emit.h"
#include "base/emit/markdown.h"
#include "../../../cmd/fxexplain/report/report.h"

#include "base/tool/limit.h"
#include "run/diagnose/limits.h"

#include <unistd.h>

/* Of main.c, which is not linked. */
void explain_write(struct screen *b, const char *path) { (void)b, (void)path; }

static const struct explain_options plain;

static struct slice text(const char *s) { return slice_str(s); }

static struct fact_loc loc(struct facts *f, const char *file, uint32_t line, const char *function, const char *code)
{
	return (struct fact_loc){facts_intern(f, text(file)), line, facts_intern(f, text(function)), facts_intern(f, text(code))};
}

#define EVIL "</script><img src=x onerror=alert(1)>\"'&|`@torch.compile 100%\r\n\x1b[31m \xff"

static void fill(struct facts *f, struct explanation *x)
{
	facts_init(f);
	*x = (struct explanation){.facts = f, .sum.compile_seconds = 3.5};
	uint32_t in = facts_input(f, FACT_TRACE, "trace.log");
	f->input[in].torch_version = facts_intern(f, SLICE("2.13.0+cpu"));
	f->input[in].lines = 12;
	f->input[in].config.text[CONFIG_DYNAMO] =
	    facts_intern(f, SLICE("{\"capture_scalar_outputs\": true, \"recompile_limit\": 8, \"new\": 1}"));
	struct fact_src src = fact_src(in, 7);
	uint32_t c0 = facts_compile(f, in, 0, 0, SLICE("0/0"), 3), c1 = facts_compile(f, in, 0, 0, SLICE("0/1"), 9);
	f->compile[c0].loc = f->compile[c1].loc = loc(f, "/home/ann/app/m.py", 4, "f", "");
	f->compile[c0].seconds = 1;
	f->compile[c1].seconds = 2.5;
	f->compile[c1].status = COMPILE_FAILED;
	struct fact_break *b = facts_new_brk(f, src);
	b->compile = c0;
	b->loc = loc(f, "/home/ann/app/m.py", 5, "f", "x = x.item()");
	b->reason = facts_intern(f, SLICE(EVIL));
	b->hints = facts_intern(f, SLICE("one\ntwo"));
	b->url = facts_intern(f, SLICE("https://example.org/gb0124.html"));
	b->gb = 124;
	struct fact_recompile *r = facts_new_recompile(f, src);
	r->compile = c1;
	r->loc = f->compile[c1].loc;
	r->guard = facts_intern(f, SLICE("tensor 'x' size mismatch at index 0. expected 3, actual 5"));
	r->old = facts_intern(f, SLICE("3"));
	r->new = facts_intern(f, SLICE("5"));
	struct fact_failure *e = facts_new_failure(f, src);
	e->compile = c1;
	e->type = facts_intern(f, SLICE("torch._inductor.exc.InductorError"));
	e->reason = facts_intern(f, SLICE("ValueError: no\nsecret ghp_0123456789abcdefghij"));
	e->user = loc(f, "/home/ann/app/m.py", 6, "f", "");
	struct fact_symbol *s = facts_new_symbol(f, src);
	s->symbol = facts_intern(f, SLICE("s77"));
	struct fact_bound *k = facts_new_bound(f, src);
	k->kind = BOUND_SPECIALIZED;
	k->loc = f->compile[c0].loc;
	struct fact_cache *h = facts_new_cache(f, src);
	h->what = FACT_MISS;
	h->compile = c0;
	facts_new_cudagraph(f, src)->reason = facts_intern(f, SLICE("mutated inputs"));

	struct finding *g = explain_finding(x, FINDING_FAILURE, FINDING_ERROR);
	g->id = SLICE("failure-inductor");
	g->title = SLICE("InductorError: " EVIL);
	g->loc = f->failure[0].user;
	g->src = src;
	g->count = 1;
	g->compiles = SLICE("0/1");
	g = explain_finding(x, FINDING_BREAK, FINDING_WARNING);
	g->id = SLICE("GB0124");
	g->title = SLICE("Tensor.item()");
	g->loc = f->brk[0].loc;
	g->src = src;
	g->count = 2;
	g->seconds = 0.5;
	g->fix = SLICE("first\nsecond");
	g->cost = SLICE("1 more graph");
	g->url = SLICE("https://example.org/gb0124.html");
	g = explain_finding(x, FINDING_BREAK, FINDING_WARNING);
	*g = x->finding[1];
	g->title = SLICE("Tensor.tolist()");
	g->rank = 2;
	g->loc.line = 8;
	g = explain_finding(x, FINDING_TIME, FINDING_NOTE);
	g->id = SLICE("slow");
	g->title = SLICE("slow");

	GROW(x->component, x->n_component, x->cap_component, 1);
	x->component[x->n_component++] = (struct component_view){.component = COMPONENT_INDUCTOR,
								 .sure = SURE_LIKELY,
								 .compile = c1,
								 .evidence = SLICE("one\ntwo"),
								 .experiment = SLICE("three"),
								 .minify = SLICE("fxminify --graph 0/1 trace.log")};
	GROW(x->group, x->n_group, x->cap_group, 1);
	x->group[x->n_group++] =
	    (struct break_group){.loc = f->brk[0].loc, .gb = 124, .count = 2, .ops_after = -1, .seconds = -1, .finding = 1};
	GROW(x->step, x->n_step, x->cap_step, 2);
	x->step[x->n_step++] = (struct frame_step){.compile = c0, .recompile = NONE};
	x->step[x->n_step++] = (struct frame_step){.compile = c1, .recompile = 0, .change = SLICE("size of x at dim 0: 3 -> 5")};
	GROW(x->frame, x->n_frame, x->cap_frame, 1);
	facts_frames(f);
	x->frame[x->n_frame++] = (struct frame_view){.n = 2, .finding = NONE};
	GROW(x->bound_row, x->n_bound_row, x->cap_bound_row, 1);
	x->bound_row[x->n_bound_row++] = 0;
	GROW(x->symbol, x->n_symbol, x->cap_symbol, 1);
	x->symbol[x->n_symbol++] = (struct symbol_view){.name = SLICE("s77"), .n_bound = 1, .specialized = true, .finding = NONE};
	GROW(x->part, x->n_part, x->cap_part, 1);
	x->part[x->n_part++] = (struct time_part){SLICE("lowering"), 2, 3};
	GROW(x->time, x->n_time, x->cap_time, 1);
	x->time[x->n_time++] = (struct time_view){.compile = NONE, .seconds = 3.5, .n = 1};
	facts_sums(f, NONE, &x->sum);
	x->sum.compile_seconds = 3.5;
}

static void drop(struct facts *f, struct explanation *x)
{
	explanation_release(x);
	facts_release(f);
}

/* One document at a time; jq reads them in tests/cli/fxexplain-emit.t. */
static struct json_tape tape;
typedef uint32_t node;

static node parse(struct buf *b)
{
	node root;
	json_tape_text(&tape, b->p, b->len);
	if (json_parse(&tape, 0, b->len, &root) < 0)
		fail_msg("%s at %zu: %.60s", tape.error, tape.error_at, buf_str(b));
	assert_int_equal(tape.loose, 0);
	assert_true(utf8_valid(buf_slice(b)));
	return root;
}

static node get(node j, const char *key) { return json_get(&tape, j, key); }
static bool is(node j, enum json_type type) { return j != NONE && json_is(&tape, j, type); }
static size_t size_of(node j)
{
	size_t n = 0;
	assert_true(is(j, JSON_ARRAY));
	for (node k = json_first(&tape, j); k < json_end(&tape, j); k = json_next(&tape, k))
		n++;
	return n;
}
static node at(node j, const char *key, size_t i)
{
	node k = get(j, key);
	assert_true(i < size_of(k));
	for (k = json_first(&tape, k); i; i--)
		k = json_next(&tape, k);
	return k;
}
static const char *string(node j, const char *key)
{
	static struct buf b[4]; /* the last four live */
	static unsigned next;
	struct buf *t = &b[next++ % 4];
	node k = get(j, key);
	if (!is(k, JSON_STRING))
		fail_msg("%s is no text", key);
	buf_reset(t);
	json_unescape(&tape, k, t);
	return buf_str(t);
}
static int number(node j, const char *key)
{
	uint64_t v = 0;
	node k = get(j, key);
	assert_true(k != NONE && json_u64(&tape, k, &v));
	return (int)v;
}

static void test_json(void **state)
{
	(void)state;
	struct facts f;
	struct explanation x;
	struct buf b = {0}, again = {0};
	fill(&f, &x);
	emit_json(&b, &x, &plain);
	emit_json(&again, &x, &plain);
	assert_true(slice_eq(buf_slice(&b), buf_slice(&again)));
	node j = parse(&b), sum = get(j, "summary");
	assert_string_equal(string(j, "tool"), "fxexplain");
	assert_int_equal(number(j, "schema"), 2);
	assert_int_equal(number(sum, "graph_breaks"), 1);
	assert_int_equal(number(sum, "compiles"), 2);
	assert_int_equal(number(sum, "frames"), 1);
	assert_int_equal(number(sum, "specializations"), 1);
	assert_int_equal(number(sum, "warnings"), 2);
	assert_string_equal(string(sum, "torch_version"), "2.13.0+cpu");
	assert_string_equal(string(get(j, "verdict"), "component"), "inductor");
	assert_string_equal(string(get(j, "verdict"), "sure"), "likely");
	node g = at(j, "findings", 1);
	assert_string_equal(string(g, "kind"), "graph-break");
	assert_int_equal(size_of(get(g, "fix")), 2);
	assert_true(is(get(g, "why"), JSON_NULL));
	assert_true(is(get(at(j, "findings", 0), "seconds"), JSON_NULL));
	assert_string_equal(string(at(j, "graph_breaks", 0), "gb"), "GB0124");
	assert_int_equal(number(at(at(j, "frame_steps", 0), "steps", 1), "compile"), 1);
	assert_int_equal(size_of(get(at(j, "symbol_views", 0), "bounds")), 1);
	assert_string_equal(string(at(j, "bounds", 0), "kind"), "specialized");
	assert_string_equal(string(at(at(j, "times", 0), "parts", 0), "name"), "lowering");
	assert_int_equal(get(j, "metrics"), NONE);
	/* Metrics as they stand; what is no JSON as a text. */
	struct explain_options all = {.show = (1ull << PARTS) - 1};
	GROW(f.metric, f.n_metric, f.cap_metric, 2);
	f.metric[f.n_metric++] =
	    (struct fact_metric){.name = facts_intern(&f, SLICE("a")), .value = facts_intern(&f, SLICE("{\"x\": [1]}"))};
	f.metric[f.n_metric++] = (struct fact_metric){.name = facts_intern(&f, SLICE("b")), .value = facts_intern(&f, SLICE("NaN"))};
	f.compile[0].n_metric = 2;
	buf_reset(&b);
	emit_json(&b, &x, &all);
	j = parse(&b);
	assert_true(is(get(at(j, "metrics", 0), "value"), JSON_OBJECT));
	assert_string_equal(string(at(j, "metrics", 1), "value"), "NaN");
	assert_true(is(get(j, "graphs"), JSON_ARRAY) && is(get(j, "guards"), JSON_ARRAY));
	drop(&f, &x);
	/* Of nothing. */
	facts_init(&f);
	explain(&x, &f);
	buf_reset(&b);
	emit_json(&b, &x, &all);
	j = parse(&b);
	assert_true(is(get(get(j, "summary"), "compile_seconds"), JSON_NULL));
	drop(&f, &x);
	buf_release(&b);
	buf_release(&again);
}

static void test_sarif(void **state)
{
	(void)state;
	struct facts f;
	struct explanation x;
	struct buf b = {0};
	fill(&f, &x);
	emit_sarif(&b, &x, &plain);
	node j = parse(&b), run = at(j, "runs", 0), driver = get(get(run, "tool"), "driver");
	assert_string_equal(string(j, "version"), "2.1.0");
	assert_int_equal(size_of(get(driver, "rules")), 3);
	assert_int_equal(size_of(get(run, "results")), 4);
	char first[64] = "", *marks[4];
	for (size_t i = 0; i < 4; i++) {
		node r = at(run, "results", i), rule = at(driver, "rules", (size_t)number(r, "ruleIndex"));
		assert_string_equal(string(r, "ruleId"), string(rule, "id"));
		assert_non_null(string(get(rule, "help"), "text"));
		assert_non_null(string(rule, "helpUri"));
		assert_non_null(string(get(r, "message"), "text"));
		marks[i] = xstrdup(string(get(r, "partialFingerprints"), "fxexplain/v1"));
	}
	node where = get(at(at(run, "results", 1), "locations", 0), "physicalLocation");
	assert_int_equal(number(get(where, "region"), "startLine"), 5);
	assert_string_equal(string(get(where, "artifactLocation"), "uri"), "file:///home/ann/app/m.py");
	/* Without a place of its own, the line of the log. */
	where = get(at(at(run, "results", 3), "locations", 0), "physicalLocation");
	assert_string_equal(string(get(where, "artifactLocation"), "uri"), "trace.log");
	assert_string_equal(string(get(where, "artifactLocation"), "uriBaseId"), "%SRCROOT%");
	/* Two of a kind in one function are two; lines do not matter. */
	assert_string_not_equal(marks[1], marks[2]);
	assert_memory_equal(marks[1], marks[2], 17);
	snprintf(first, sizeof(first), "%s", marks[1]);
	x.finding[1].loc.line = 77;
	buf_reset(&b);
	emit_sarif(&b, &x, &plain);
	j = parse(&b);
	assert_string_equal(string(get(at(at(j, "runs", 0), "results", 1), "partialFingerprints"), "fxexplain/v1"), first);
	for (size_t i = 0; i < 4; i++)
		free(marks[i]);
	buf_release(&b);
	drop(&f, &x);
}

/* A file of a checkout is named as the repository has it, wherever the log was made. */
static void test_places(void **state)
{
	(void)state;
	static const struct {
		const char *file, *want;
		bool relative;
	} c[] = {
	    {"app/m.py", "app/m.py", true},
	    {"./m.py", "m.py", true},
	    {"<eval_with_key>.3", "", false},
	    {"../m.py", "", false},
	    {"..m.py", "..m.py", true},
	    {"/nowhere/x.py", "/nowhere/x.py", false},
	    {"/build/agent7/w/tests/unit/cmd/test_emit.c", "tests/unit/cmd/test_emit.c", true},
	    {"/x/../../etc/passwd", "/x/../../etc/passwd", false},
	};
	struct facts f;
	struct explanation x;
	struct buf b = {0};
	char cwd[4096], here[4200];
	if (getenv("PT2_SOURCE"))
		assert_int_equal(chdir(getenv("PT2_SOURCE")), 0);
	facts_init(&f);
	explain(&x, &f);
	for (size_t i = 0; i < ARRAY_LEN(c); i++) {
		buf_reset(&b);
		assert_int_equal(emit_source(&x, facts_intern(&f, text(c[i].file)), &b), c[i].relative);
		assert_text(buf_slice(&b), c[i].want);
	}
	assert_non_null(getcwd(cwd, sizeof(cwd)));
	snprintf(here, sizeof(here), "%s/no/such/file.py", cwd);
	buf_reset(&b);
	assert_true(emit_source(&x, facts_intern(&f, text(here)), &b));
	assert_text(buf_slice(&b), "no/such/file.py");
	buf_release(&b);
	drop(&f, &x);
}

static void test_github(void **state)
{
	(void)state;
	struct facts f;
	struct explanation x;
	struct buf b = {0};
	char path[] = "/tmp/test_emit.XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0 && write(fd, "before\n", 7) == 7);
	setenv("GITHUB_STEP_SUMMARY", path, 1);
	fill(&f, &x);
	f.compile[0].loc = loc(&f, "a,b:c.py", 3, "f", "");
	x.finding[1].loc.file = f.compile[0].loc.file;
	emit_github(&b, &x, &plain);
	struct slice rest = buf_slice(&b), line;
	unsigned lines = 0;
	while (slice_line(&rest, &line)) {
		lines++;
		assert_true(slice_starts(line, "::error ") || slice_starts(line, "::warning ") || slice_starts(line, "::notice "));
	}
	assert_int_equal(lines, 4); /* no line of a text begins a line of its own */
	assert_non_null(slice_find(buf_slice(&b), "100%25%0D%0A"));
	assert_non_null(
	    slice_find(buf_slice(&b), "::warning file=a%2Cb%3Ac.py,line=5,title=graph-break GB0124::Tensor.item()%0ACost: 1 more graph"));
	/* The summary is appended, and nothing in it is markup. */
	char got[8192];
	ssize_t n = pread(fd, got, sizeof(got) - 1, 0);
	assert_true(n > 7);
	got[n] = 0;
	assert_memory_equal(got, "before\n", 7);
	assert_non_null(strstr(got, "| warning | Tensor.item() | `a,b:c.py:5 in f` | 1 more graph | `first` |"));
	assert_null(strstr(got, "<img"));
	assert_null(strstr(got, "@torch"));
	unsetenv("GITHUB_STEP_SUMMARY");
	close(fd);
	unlink(path);
	buf_release(&b);
	drop(&f, &x);
}

static void seven_places(void *ctx, int k, struct limit_places *p)
{
	(void)ctx, (void)k;
	for (int i = 0; i < 6; i++) {
		buf_addf(&p->tmp, "m.py:%d", i == 5 ? 7 : i / 2);
		limit_place(p);
	}
	buf_adds(&p->tmp, "m.py:0");
	limit_place(p);
}

static void test_limits(void **state)
{
	(void)state;
	static const struct {
		const char *name, *max;
		unsigned over;
	} c[] = {
	    {"graph-breaks", "0", 1},      {"graph-breaks", "1", 0},    {"recompiles", "0", 1},   {"compile-seconds", "3.4", 1},
	    {"compile-seconds", "3.5", 0}, {"failures", "0", 1},        {"findings", "3", 1},     {"errors", "0", 1},
	    {"warnings", "2", 0},          {"specializations", "0", 1}, {"cache-misses", "0", 1}, {"cudagraph-skips", "0", 1},
	    {"recompile-limits", "0", 0},  {"compiles", "1", 1},        {"frames", "1", 0},       {"damage", "0", 0},
	};
	struct facts f;
	struct explanation x;
	fill(&f, &x);
	for (size_t i = 0; i < ARRAY_LEN(c); i++) {
		struct opt_pair pair = {text(c[i].name), c[i].max};
		struct explain_options o = {.max = {&pair, 1, 1}};
		limits_check(&o.max);
		if (limits_exceeded(&x, &o.max) != c[i].over)
			fail_msg("%s=%s", c[i].name, c[i].max);
	}
	drop(&f, &x);
	/* The line itself. */
	static const struct limit l[] = {{"graph-breaks", "graph breaks"}};
	struct opt_pair pair = {SLICE("graph-breaks"), "0"};
	struct buf b = {0};
	assert_int_equal(limits_over(l, 1, &(struct opt_pairs){&pair, 1, 1}, &(const double){7}, seven_places, NULL, &b), 1);
	struct slice lines = buf_slice(&b);
	assert_text(slice_first_line(lines), "graph breaks: 7, at most 0 allowed: m.py:0 (3 times), m.py:1 (2 times), m.py:2 and 1 more");
	buf_release(&b);
}

static int compare(struct explanation *x, const char *path, unsigned *worse)
{
	struct explain_options o = {.baseline = path, .quiet = true};
	struct err err = {.text = ""};
	*worse = 0;
	int status = baseline_compare(x, &o, worse, &err);
	if (status < 0)
		assert_int_equal(err.status, EXIT_INPUT);
	return status;
}

static void test_baseline(void **state)
{
	(void)state;
	struct facts f;
	struct explanation x;
	struct buf b = {0};
	char path[] = "/tmp/test_emit.XXXXXX";
	int fd = mkstemp(path);
	unsigned worse;
	fill(&f, &x);
	emit_json(&b, &x, &plain);
	assert_true(fd >= 0 && write(fd, b.p, b.len) == (ssize_t)b.len);
	assert_int_equal(compare(&x, path, &worse), 0);
	assert_int_equal(worse, 0);
	x.finding[1].loc.line = 500; /* lines move */
	x.finding[3].title = SLICE("times are not compared");
	x.finding[3].count = 100;
	compare(&x, path, &worse);
	assert_int_equal(worse, 0);
	x.sum.graph_breaks++; /* a count */
	compare(&x, path, &worse);
	assert_int_equal(worse, 1);
	x.finding[1].count++; /* more of one kind */
	compare(&x, path, &worse);
	assert_int_equal(worse, 2);
	x.finding[2].id = SLICE("GB0001"); /* new, and one of the old less: its count is now lower */
	compare(&x, path, &worse);
	assert_int_equal(worse, 2);
	x.n_finding = 0;
	x.sum.graph_breaks = 0;
	compare(&x, path, &worse); /* fewer is fine */
	assert_int_equal(worse, 0);
	/* What is no document of ours: a line, no crash. */
	static const char *const bad[] = {
	    "", "{", "[]", "null", "{\"tool\":\"tlparse\"}", "{\"tool\":\"fxexplain\"}", "{\"tool\":\"fxexplain\",\"schema\":1}"};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(pwrite(fd, bad[i], strlen(bad[i]), 0), (ssize_t)strlen(bad[i]));
		assert_int_equal(compare(&x, path, &worse), -1);
	}
	/* Any bytes in the place of any byte. */
	uint64_t seed = 1;
	for (int i = 0; i < 300; i++) {
		uint32_t k = pick(&seed, (uint32_t)b.len);
		char was = b.p[k];
		b.p[k] = (char)pick(&seed, 256);
		assert_int_equal(pwrite(fd, b.p, b.len, 0), (ssize_t)b.len);
		compare(&x, path, &worse);
		b.p[k] = was;
	}
	assert_int_equal(compare(&x, missing_path("x.json"), &worse), -1);
	close(fd);
	unlink(path);
	buf_release(&b);
	drop(&f, &x);
}

static void test_report(void **state)
{
	(void)state;
	struct facts f;
	struct explanation x;
	struct buf b = {0};
	fill(&f, &x);
	report_write(&b, &x, &(struct report_options){0});
	static const char *const parts[] = {"Describe the bug\n", "### Error logs\n", "### Minified repro\n", "### Versions\n"};
	struct slice rest = buf_slice(&b);
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		const char *p = slice_find(rest, parts[i]);
		assert_non_null(p);
		rest = slice_of(p, (size_t)(rest.p + rest.n - p));
	}
	assert_non_null(slice_find(buf_slice(&b), "[GB0124](https://example.org/gb0124.html)"));
	assert_non_null(slice_find(buf_slice(&b), "fxminify --graph 0/1 trace.log"));
	assert_non_null(slice_find(buf_slice(&b), "/home/ann/app/m.py:5 in f"));
	assert_non_null(slice_find(buf_slice(&b), "`torch._dynamo.config.capture_scalar_outputs = true`"));
	assert_null(slice_find(buf_slice(&b), "recompile_limit = 8"));
	assert_null(slice_find(buf_slice(&b), "<img"));
	assert_null(slice_find(buf_slice(&b), "@torch"));
	struct report_options o = {.redact = true};
	buf_reset(&b);
	report_write(&b, &x, &o);
	if (slice_find(buf_slice(&b), "ann"))
		fail_msg("%.60s", slice_find(buf_slice(&b), "ann"));
	assert_null(slice_find(buf_slice(&b), "ghp_"));
	assert_non_null(slice_find(buf_slice(&b), "`<path1>/m.py:5 in f`"));

	/* However much there is, GitHub takes it. */
	struct buf huge = {0};
	while (huge.len < 1 << 20)
		buf_addf(&huge, "  File \"/home/ann/p%zu/m.py\", line 5, in f\n    <@|`%zu *\n", huge.len, huge.len);
	f.failure[0].stack = f.failure[0].frames = f.failure[0].reason = facts_intern(&f, buf_slice(&huge));
	f.brk[0].reason = f.recompile[0].guard = facts_intern(&f, (struct slice){huge.p + 50, 1000});
	x.component[0].evidence = x.component[0].experiment = x.component[0].minify = buf_slice(&huge);
	for (int i = 0; i < 100; i++) {
		struct fact_recompile *r = facts_new_recompile(&f, fact_src(0, 1));
		*r = f.recompile[0];
		GROW(x.group, x.n_group, x.cap_group, 1);
		x.group[x.n_group++] = x.group[0];
		*explain_finding(&x, FINDING_KNOWN, FINDING_ERROR) =
		    (struct finding){.kind = FINDING_KNOWN, .loc = f.brk[0].loc, .title = buf_slice(&huge)};
		uint32_t in = facts_input(&f, FACT_TEXTLOG, "x");
		f.input[in].torch_version = f.brk[0].reason;
	}
	for (int redact = 0; redact < 2; redact++) {
		o.redact = redact;
		buf_reset(&b);
		report_write(&b, &x, &o);
		if (b.len >= REPORT_MAX)
			fail_msg("%zu bytes", b.len);
		assert_non_null(slice_find(buf_slice(&b), "### Versions"));
	}
	buf_release(&huge);
	buf_release(&b);
	drop(&f, &x);
}

static void test_traceback(void **state)
{
	(void)state;
	struct buf in = {0}, out = {0};
	buf_adds(&in, "Traceback (most recent call last):\n  File \"/home/ann/m.py\", line 3, in <module>\n    f(x)\n");
	for (int i = 0; i < 20; i++)
		buf_addf(&in, "  File \"/usr/lib/python3/site-packages/torch/a%d.py\", line %d, in g\n    return h()\n           ^^^\n", i,
			 i + 1);
	buf_adds(&in, "  File \"/home/ann/m.py\", line 9, in f\n    y\nValueError: no");
	traceback_shorten(&out, buf_slice(&in));
	assert_text(buf_slice(&out),
		    "Traceback (most recent call last):\n  File \"/home/ann/m.py\", line 3, in <module>\n    f(x)\n"
		    "  File \"/usr/lib/python3/site-packages/torch/a0.py\", line 1, in g\n    return h()\n           ^^^\n"
		    "  [... 16 frames of torch ...]\n"
		    "  File \"/usr/lib/python3/site-packages/torch/a17.py\", line 18, in g\n    return h()\n           ^^^\n"
		    "  File \"/usr/lib/python3/site-packages/torch/a18.py\", line 19, in g\n    return h()\n           ^^^\n"
		    "  File \"/usr/lib/python3/site-packages/torch/a19.py\", line 20, in g\n    return h()\n           ^^^\n"
		    "  File \"/home/ann/m.py\", line 9, in f\n    y\nValueError: no\n");
	buf_reset(&out);
	traceback_shorten(&out, slice_of(NULL, 0));
	assert_int_equal(out.len, 0);
	buf_release(&in);
	buf_release(&out);
}

static void test_redact(void **state)
{
	(void)state;
	static const struct {
		const char *in, *want;
	} c[] = {
	    {"File \"/home/ann/proj x/m.py\", line 5", "File \"<path1>/m.py\", line 5"},
	    {"at /home/ann/proj/m.py:5 and /home/ann/proj/n.py, /srv/m.py", "at <path1>/m.py:5 and <path1>/n.py, <path2>/m.py"},
	    {"/tmp/torchinductor_ann/ab/cabc.py", "<tmp1>/cabc.py"},
	    {"/usr/lib/python3/site-packages/torch/_inductor/ir.py:3", "torch/_inductor/ir.py:3"},
	    {"C:\\Users\\ann\\m.py ok", "<path1>/m.py ok"},
	    {"-I/home/ann/env/include -L/usr/lib x-I/y/z", "-I<path1>/include -L<path2>/lib x-I/y/z"},
	    {"at /my disk/a (b)/m.py:7 in f, /my disk/a", "at <path1>/m.py:7 in f, /my disk/a"},
	    {"\\\"/some disk/x.py\\\"", "\\\"<path1>/x.py\\\""},
	    {"by ann, annual", "by <user1>, annual"},
	    {"from 10.2.3.4:8080 and 10.2.3.4, fe80::1 at 12:30:45", "from <ip1>:8080 and <ip1>, <ip2> at 12:30:45"},
	    {"nvidia-cudnn==9.1.0.70 2.13.0 127.0.0.1", "nvidia-cudnn==9.1.0.70 2.13.0 127.0.0.1"},
	    {"ssh://ann@node7:22/x http://node7/y", "ssh://<host1> http://<host1>"},
	    {"see https://docs.pytorch.org/x#y, https://github.com/pytorch/pytorch/issues/1",
	     "see https://docs.pytorch.org/x#y, https://github.com/pytorch/pytorch/issues/1"},
	    {"mail ann.lee@corp.example.com node7.corp.example.com", "mail <mail1> <host1>"},
	    {"torch._inductor.exc.InductorError self.w@self.x at::kFloat a/b x / y 3/4 0/0",
	     "torch._inductor.exc.InductorError self.w@self.x at::kFloat a/b x / y 3/4 0/0"},
	    {"ghp_0123456789abcdefghij hf_ABCDEFGHIJKLMNOP ghp_0123456789abcdefghij", "<secret1> <secret2> <secret1>"},
	    {"HF_TOKEN=abc \"api_key\": \"xyz\" Authorization: Bearer q.w.e",
	     "HF_TOKEN=<secret1> \"api_key\": \"<secret2>\" Authorization: Bearer <secret3>"},
	    {"token = tokenizer(x); tokens: 5", "token = tokenizer(x); tokens: 5"},
	    {"cpp_fused_add_0 c6ybzpqxvbk4l3cd7h2xk5nv6z2ezhxw5q4sxdmhg3bgyl6v3qkj",
	     "cpp_fused_add_0 c6ybzpqxvbk4l3cd7h2xk5nv6z2ezhxw5q4sxdmhg3bgyl6v3qkj"},
	    {"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln done", "<secret1> done"},
	    {"</b> ~/x s77 f32[8, 8] (L['x'].size()[0])", "</b> ~/x s77 f32[8, 8] (L['x'].size()[0])"},
	    {"run_*/minifier/x.py ${A}/b/c", "run_*/minifier/x.py ${A}/b/c"},
	    {"", ""},
	    {"/", "/"},
	    {"\"/", "\"/"},
	};
	for (size_t i = 0; i < ARRAY_LEN(c); i++) {
		struct redact r = {0};
		struct buf b = {0};
		redact_learn(&r, SLICE("/home/ann/x"));
		redact_learn(&r, SLICE("/my disk/a (b)/n.py"));
		redact_add(&r, &b, text(c[i].in));
		assert_text(buf_slice(&b), c[i].want);
		redact_release(&r);
		buf_release(&b);
	}
	/* Any bytes, at the end of a page. */
	static const char alphabet[] = "/home/ann:@.-\"'=\\C _\n0123456789abcdefTOKEN<>\xff";
	uint64_t seed = 3;
	struct guard g = {0};
	for (int i = 0; i < 3000; i++) {
		struct redact r = {0};
		struct buf b = {0}, in = {0};
		for (uint32_t n = pick(&seed, 80); n--;)
			buf_addc(&in, alphabet[pick(&seed, sizeof(alphabet) - 1)]);
		char *p = guard_put(&g, in.p, in.len);
		redact_learn(&r, slice_of(p, in.len));
		redact_add(&r, &b, slice_of(p, in.len));
		redact_release(&r);
		buf_release(&b);
		buf_release(&in);
	}
	guard_release(&g);
}

static void test_markdown(void **state)
{
	(void)state;
	struct guard g = {0};
	struct buf b = {0};
	md_text(&b, SLICE("a|b <i> @x `c`\nd"), 0);
	assert_text(buf_slice(&b), "a\\|b &lt;i&gt; @<!-- -->x \\`c\\` d");
	buf_reset(&b);
	md_text(&b, SLICE("\303\244\303\244\303\244"), 3);
	assert_text(buf_slice(&b), "\303\244...");
	buf_reset(&b);
	md_code(&b, SLICE("a `` b"), 0);
	assert_text(buf_slice(&b), "``` a `` b ```");
	buf_reset(&b);
	md_link(&b, SLICE("x"), SLICE("javascript:alert(1)"));
	assert_text(buf_slice(&b), "x");
	buf_reset(&b);
	md_block(&b, "py", SLICE("a\n```\nb"), 100);
	assert_text(buf_slice(&b), "````py\na\n```\nb\n````\n");
	buf_reset(&b);
	struct buf big = {0};
	for (int i = 0; i < 1000; i++)
		buf_addf(&big, "line %d\n", i);
	md_block(&b, "", buf_slice(&big), 600);
	assert_true(b.len < 700);
	assert_non_null(slice_find(buf_slice(&b), "lines left out"));
	assert_non_null(slice_find(buf_slice(&b), "line 999"));
	for (size_t most = 0; most < 40; most++) { /* never outside of the text */
		char *p = guard_put(&g, big.p, 30);
		buf_reset(&b);
		md_block(&b, "", slice_of(p, 30), most);
		md_text(&b, slice_of(p, 30), most);
		traceback_shorten(&b, slice_of(p, 30 - most % 30));
	}
	guard_release(&g);
	buf_release(&big);
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_json),   cmocka_unit_test(test_sarif),    cmocka_unit_test(test_places), cmocka_unit_test(test_github),
	    cmocka_unit_test(test_limits), cmocka_unit_test(test_baseline), cmocka_unit_test(test_report), cmocka_unit_test(test_traceback),
	    cmocka_unit_test(test_redact), cmocka_unit_test(test_markdown),
	};
	return RUN(tests);
}
