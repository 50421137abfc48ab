/* torch.profiler traces: recorded ones against torch's own key_averages(), others made for one behaviour each. */
#include "base/json.h"
#include "../../lib/folder.h"
#include "profile/advice.h"
#include "profile/compare.h"
#include "profile/profile_part.h"

#include <inttypes.h>
#include <math.h>

/* ---- helpers ---- */

static void read_text(struct profile *p, struct slice text)
{
	struct err err;
	folder_put("p.json", text);
	char *path = xasprintf("%s/p.json", folder_path);
	if (profile_read(p, path, &err) < 0)
		fail_msg("%s", err.text);
	free(path);
}

static void read_events(struct profile *p, const char *events)
{
	struct buf b = {0};
	buf_addf(&b, "{\"schemaVersion\": 1, \"traceEvents\": [%s]}", events);
	read_text(p, buf_slice(&b));
	buf_release(&b);
}

static void refuse_text(const char *text, const char *why)
{
	struct profile p;
	struct err err = {0};
	folder_put("p.json", slice_str(text));
	char *path = xasprintf("%s/p.json", folder_path);
	assert_int_equal(profile_read(&p, path, &err), -1);
	assert_int_equal(err.status, EXIT_INPUT);
	if (!strstr(err.text, why))
		fail_msg("'%s' does not say '%s'", err.text, why);
	free(path);
}

static bool read_recorded(struct profile *p, const char *name)
{
	struct buf b = {0};
	char *file = xasprintf("profiles/%s", name);
	if (!data_load(file, &b))
		fail_msg("cannot read tests/data/%s", file);
	read_text(p, buf_slice(&b));
	assert_int_equal(p->bytes, b.len);
	buf_release(&b);
	free(file);
	return true;
}

static const struct profile_row *row_named(const struct profile *p, const char *name)
{
	for (uint32_t i = 0; i < p->n_row; i++)
		if (slice_is(profile_name(p, i), name))
			return &p->row[i];
	fail_msg("no row '%s'", name);
	return NULL;
}

static uint64_t sum_of_parts(const struct profile *p)
{
	uint64_t n = 0;
	for (unsigned i = 0; i < SPENT_PARTS; i++)
		n += p->spent[i];
	return n;
}

/* ---- recorded, against torch ---- */

struct totals {
	double count, total, self;
};

/* Ours of one name, over classes; torch's self time is negative where callees overlap. */
static struct totals ours(const struct profile *p, struct slice name)
{
	struct totals t = {0};
	for (uint32_t i = 0; i < p->n_row; i++) {
		const struct profile_row *r = &p->row[i];
		if (r->class > CLASS_RUNTIME || !slice_eq(profile_name(p, i), name))
			continue;
		t.count += (double)r->count;
		t.total += (double)r->total / 1e3;
		t.self += ((double)r->self - (double)r->overlap) / 1e3;
	}
	return t;
}

static void near(const char *what, struct slice name, double got, double want, double room)
{
	if (fabs(got - want) > room)
		fail_msg("%.*s: %s %.3f, torch has %.3f", SL(name), what, got, want);
}

/* with_stacks: torch nests ops and Python functions in one another, so that what an annotation calls in Python is not
 * its self time; and its table has the Python functions, too. Here they nest among themselves. */
static void against_torch(const char *name, bool with_stacks, unsigned most_missing)
{
	struct profile p;
	struct buf rows = {0};
	struct json_tape t = {0};
	uint32_t root, checked = 0, missing = 0;
	char *file = xasprintf("profiles/%s.rows.json", name), *profile = xasprintf("%s.json.xz", name);
	read_recorded(&p, profile);
	assert_true(data_load(file, &rows));
	json_tape_text(&t, rows.p, rows.len);
	assert_int_equal(json_parse(&t, 0, rows.len, &root), 0);
	for (uint32_t k = json_first(&t, root); k < json_end(&t, root); k = json_next(&t, k)) {
		struct buf key = {0};
		double want[3];
		uint32_t m = json_first(&t, k);
		json_unescape(&t, m, &key);
		for (unsigned i = 0; i < 3; i++)
			assert_true(json_double(&t, m = json_next(&t, m), &want[i]));
		const struct totals got = ours(&p, buf_slice(&key));
		if (!got.count) {
			missing++;
		} else {
			checked++;
			near("calls", buf_slice(&key), got.count, want[0], 0);
			near("total", buf_slice(&key), got.total, want[1], 0.002);
			if (!with_stacks || !slice_starts(buf_slice(&key), "Optimizer."))
				near("self", buf_slice(&key), got.self, want[2], 0.002);
		}
		buf_release(&key);
	}
	assert_true(checked > 30);
	if (missing > most_missing)
		fail_msg("%s: %u rows of torch are missing", name, missing);
	assert_int_equal(p.damage.len, 0);
	json_tape_release(&t);
	buf_release(&rows);
	free(file);
	free(profile);
	profile_release(&p);
}

static void test_totals_are_torchs(void **state)
{
	(void)state;
	against_torch("eager", false, 0);
	against_torch("compiled", false, 0);
	against_torch("kernels", false, 0);
	against_torch("cold", false, 0);
	against_torch("stack", true, 500);
}

static void test_eager(void **state)
{
	struct profile p;
	(void)state;
	read_recorded(&p, "eager.json.xz");
	assert_false(p.compiled);
	assert_int_equal(p.n_step, 4);
	assert_int_equal(p.step[0].number, 1);
	assert_int_equal(p.n_region, 0);
	assert_int_equal(p.spent[SPENT_KERNEL] + p.spent[SPENT_GUARDS] + p.spent[SPENT_COMPILE], 0);
	assert_int_equal(sum_of_parts(&p), p.wall);
	assert_int_equal(p.spent[SPENT_PYTHON], p.gaps);
	assert_true(p.has_shapes);
	assert_string_equal(row_named(&p, "aten::tanh")->shape, "[[256, 64]]");
	assert_int_equal(row_named(&p, "aten::tanh")->step_count, 4);
	profile_release(&p);
}

static void test_compiled(void **state)
{
	struct profile p;
	(void)state;
	read_recorded(&p, "kernels.json.xz");
	assert_true(p.compiled);
	assert_int_equal(p.n_region, 2); /* the graph break makes two */
	assert_text(intern_get(&p.names, p.region[0].id), "0/0");
	assert_text(intern_get(&p.names, p.region[1].id), "1/0");
	assert_int_equal(p.region[0].calls, 4);
	assert_int_equal(p.region[0].nested, 0);
	assert_int_equal(p.region[1].nested, 4);
	assert_int_equal(p.region[1].after, 0);
	assert_int_equal(p.breaks, 4);
	assert_int_equal(p.break_wait, p.region[1].wait);
	assert_true(p.break_wait >= p.region[1].lookup);
	assert_int_equal(p.region[0].lookup + p.region[1].lookup, row_named(&p, "TorchDynamo Cache Lookup")->total);
	assert_int_equal(p.n_compile, 0);
	assert_true(p.spent[SPENT_KERNEL] > 0 && p.spent[SPENT_EXTERN] > 0);
	assert_int_equal(sum_of_parts(&p), p.wall);
	const struct profile_row *mm = row_named(&p, "aten::mm");
	assert_int_equal(mm->graph_self, mm->step_self);              /* compiled code calls all of them */
	assert_int_equal(row_named(&p, "aten::add_")->graph_self, 0); /* the optimizer's */
	profile_release(&p);
}

static void test_cold(void **state)
{
	struct profile p;
	(void)state;
	read_recorded(&p, "cold.json.xz");
	assert_int_equal(p.n_step, 0);
	static const struct {
		const char *id;
		bool backward, again;
	} want[] = {{"0/0", false, false}, {"1/0", false, false}, {"1/0", true, false},
		    {"0/0", true, false},  {"0/1", false, true},  {"1/1", false, true}};
	assert_int_equal(p.n_compile, ARRAY_LEN(want));
	uint64_t sum = 0;
	for (uint32_t i = 0; i < p.n_compile; i++) {
		assert_text(intern_get(&p.names, p.compile[i].id), want[i].id);
		assert_int_equal(p.compile[i].backward, want[i].backward);
		assert_int_equal(p.compile[i].again, want[i].again);
		sum += p.compile[i].dur;
	}
	assert_int_equal(p.n_region, 4);
	/* All that ran while compiling is compiling, whatever its name. */
	assert_true(p.spent[SPENT_COMPILE] >= sum && p.spent[SPENT_COMPILE] < sum + sum / 1000);
	assert_true(row_named(&p, "prims::var")->compile_count == row_named(&p, "prims::var")->count + row_named(&p, "prims::var")->folded);
	assert_int_equal(row_named(&p, "prims::var")->step_count, 0);
	profile_release(&p);
}

static void test_stack(void **state)
{
	struct profile p;
	(void)state;
	read_recorded(&p, "stack.json.xz");
	assert_true(p.has_stacks);
	assert_true(p.class_events[CLASS_PYTHON] > 100 && p.memory_events > 50 && p.flows > 10);
	assert_int_equal(row_named(&p, "nn.Module: Net_0")->class, CLASS_PYTHON);
	assert_int_not_equal(p.gap[0].python, NONE);
	profile_release(&p);
}

/* ---- a device: tests/data/profiles/gpu_*.json are made by hand (scripts/fixtures/profile_gpu.py has the numbers) ----
 */

static void test_device(void **state)
{
	struct profile e, c;
	struct profile_compare x;
	(void)state;
	read_recorded(&e, "gpu_eager.json");
	read_recorded(&c, "gpu_compiled.json");
	assert_int_equal(e.devices, 1);
	assert_int_equal(e.device_busy, 3 * 440000); /* 40 + 4 * 50 + 2 * 100 */
	assert_int_equal(c.device_busy, 3 * 270000); /* 40 + 80 + 60 + 90 */
	assert_int_equal(e.device_span, 2000000 + 690000 - 40000);
	assert_true(c.compiled && !e.compiled);
	assert_int_equal(e.n_busy_thread, 2);
	assert_int_equal(e.wall, 3000000);
	assert_int_equal(sum_of_parts(&e), e.wall);
	assert_int_equal(e.spent[SPENT_WAIT], 3 * 200000); /* the autograd thread runs 2 * 100 */
	assert_int_equal(e.gaps, 3 * (1000 - 30 - 4 * 30 - 200) * 1000);
	assert_int_equal(e.n_step, 3);                         /* not six: those on the device are none */
	assert_int_equal(c.spent[SPENT_DEVICE], 3 * 3 * 5000); /* on the main thread: a copy, two launches */
	profile_compare(&x, &c, &e);
	assert_true(x.swapped && !x.same_kind && x.per_step);
	assert_ptr_equal(x.side[0], &e);
	bool seen = false;
	for (uint32_t i = 0; i < x.n_device; i++)
		if (slice_is(x.device[i].name, "triton_poi_fused_add_gelu_0")) {
			seen = true;
			assert_int_equal(x.device[i].fate, FATE_NEW);
			assert_int_equal(x.device[i].self[1], 60000);
		}
	assert_true(seen);
	assert_int_equal(x.beside[0], 200000);
	profile_compare_release(&x);
	profile_release(&e);
	profile_release(&c);
}

/* ---- forms ---- */

#define EV(name, tid, ts, dur) \
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"" name "\",\"pid\":1,\"tid\":" #tid ",\"ts\":" #ts ",\"dur\":" #dur "},"

static void test_times(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {{"0", 0},      {"12", 12000},    {"4432190440254.764", 4432190440254764}, {"1.5", 1500},   {"0.0015", 2},
		    {"0.0014", 1}, {"1e3", 1000000}, {"1.6e+15", 1600000000000000000},        {"7.25e-1", 725}};
	static const char *const bad[] = {"",      "-1",   "NaN", "Infinity", "1e400", "99999999999999999999",
					  "1.2.3", "0x10", "nan", "1e16",     "1 2"};
	uint64_t ns;
	struct guard g = {0};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		const size_t n = strlen(good[i].text);
		assert_true(event_time(slice_of(guard_put(&g, good[i].text, n), n), &ns));
		assert_int_equal(ns, good[i].ns);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		const size_t n = strlen(bad[i]);
		if (event_time(slice_of(guard_put(&g, bad[i], n), n), &ns))
			fail_msg("'%s' is taken for a time", bad[i]);
	}
	guard_release(&g);
}

static void test_nesting(void **state)
{
	struct profile p;
	(void)state;
	/* In any order; b is inside of a, c overlaps a in part and is beside it, d passes on to its own name. */
	read_events(&p, EV("b", 1, 20, 30) EV("d", 1, 201, 8) EV("c", 1, 90, 20) EV("a", 1, 10, 90) EV("d", 1, 200, 10) EV("a", 2, 10, 5)
			    EV("b", 1, 50, 10));
	assert_int_equal(row_named(&p, "a")->count, 2);
	assert_int_equal(row_named(&p, "a")->self, 50000 + 5000);
	assert_int_equal(row_named(&p, "a")->min, 5000);
	assert_int_equal(row_named(&p, "a")->max, 90000);
	assert_int_equal(row_named(&p, "b")->total, 40000);
	assert_int_equal(row_named(&p, "c")->self, 20000);
	assert_int_equal(row_named(&p, "d")->count, 1);
	assert_int_equal(row_named(&p, "d")->folded, 1);
	assert_int_equal(row_named(&p, "d")->total, 10000);
	assert_int_equal(row_named(&p, "d")->self, 10000);
	assert_int_equal(p.wall, 200000); /* 10 to 210 */
	assert_int_equal(p.gaps, 90000);  /* 110 to 200 */
	assert_int_equal(p.thread[p.main_thread].busy, 110000);
	profile_release(&p);
}

/* Any order of the same events gives the same numbers. */
static void test_order_does_not_matter(void **state)
{
	enum { N = 500 };
	char *event[N];
	uint64_t seed = 7, self = 0;
	(void)state;
	for (int i = 0; i < N; i++) /* a tree of five levels, all times different */
		event[i] = xasprintf("{\"ph\":\"X\",\"name\":\"n%d\",\"pid\":1,\"tid\":1,\"ts\":%d.%03d,\"dur\":%d}", i % 5,
				     i / 5 * 1000 + i % 5 * 10, i, 900 - i % 5 * 20);
	for (int round = 0; round < 5; round++) {
		struct buf b = {0};
		struct profile p;
		for (int i = 0; i < N; i++)
			buf_addf(&b, "%s%s", i ? "," : "", event[i]);
		read_events(&p, buf_str(&b));
		const struct profile_row *r = row_named(&p, "n2");
		assert_int_equal(r->count, 100);
		assert_int_equal(r->total, 100 * 860000);
		assert_true(!round || r->self == self);
		self = r->self;
		assert_int_equal(self, 100 * 20000);
		profile_release(&p);
		buf_release(&b);
		for (uint32_t i = N - 1; i; i--) {
			const uint32_t k = pick(&seed, i + 1);
			char *x = event[i];
			event[i] = event[k];
			event[k] = x;
		}
	}
	for (int i = 0; i < N; i++)
		free(event[i]);
}

static void test_other_forms(void **state)
{
	struct profile p;
	(void)state;
	/* A bare array; B and E, E without a name; times as texts; ids as texts; args before the rest; an escaped name.
	 */
	read_text(&p, SLICE(" [{\"name\":\"outer\",\"ph\":\"B\",\"ts\":\"100\",\"pid\":\"CPU functions\",\"tid\":0},"
			    "{\"args\":{\"x\":[{\"ts\":5}],\"y\":\"}\"},\"name\":\"in\\\"ner\\u0041\",\"ph\":\"X\","
			    "\"dur\":2.5,\"ts\":110,\"pid\":\"CPU functions\",\"tid\":0},"
			    "{\"ph\":\"E\",\"ts\":130,\"pid\":\"CPU functions\",\"tid\":0}, "
			    "{\"ph\":\"C\",\"name\":\"counter\"}, NaN, ]"));
	assert_int_equal(p.events, 2);
	assert_int_equal(row_named(&p, "outer")->self, 27500);
	assert_int_equal(row_named(&p, "in\"nerA")->total, 2500);
	assert_int_equal(p.damage.len, 0);
	profile_release(&p);
	read_events(&p, "{\"ph\":\"E\",\"ts\":1,\"pid\":1,\"tid\":1},{\"ph\":\"B\",\"name\":\"open\",\"ts\":1,\"pid\":1,\"tid\":1}"
			"," EV("a", 1, 1, 2) "{\"ph\":\"X\",\"name\":\"no time\",\"pid\":1,\"tid\":1,\"ts\":NaN,\"dur\":1}");
	assert_int_equal(p.events, 1);
	assert_int_equal(p.bad_events, 2);
	assert_non_null(strstr(buf_str(&p.damage), "2 events without a usable time"));
	assert_non_null(strstr(buf_str(&p.damage), "1 events start but do not end"));
	profile_release(&p);
}

static void test_refused(void **state)
{
	(void)state;
	refuse_text("", "it is not JSON");
	refuse_text("   \n", "it is not JSON");
	refuse_text("V1121 07:59:23.043000 1 torch/x.py:1] {}", "it is not JSON");
	refuse_text("{\"nodes\": [{\"ph\": \"X\"}]}", "no \"traceEvents\"");
	refuse_text("{\"a\": {\"traceEvents\": [" EV("a", 1, 1, 1) "]}}", "no \"traceEvents\"");
	refuse_text("{\"traceEvents\": []}", "has no events");
	refuse_text("[1, 2]", "has no events");
}

/* ---- damage ---- */

/* Cut off at each byte: what came before is there, and it is said. */
static void test_cut_off(void **state)
{
	static const char text[] = "{\"traceEvents\": [" EV("a", 1, 1, 2)
	    EV("b]\\\"{", 1, 10, 2) "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"c\",\"pid\":1,\"tid\":1,\"ts\":20,\"dur\":3}]}";
	const size_t first = strlen("{\"traceEvents\": [" EV("a", 1, 1, 2)) - 1;
	(void)state;
	for (size_t n = first; n < sizeof(text) - 3; n++) {
		struct profile p;
		read_text(&p, slice_of(text, n));
		assert_true(p.events >= 1 && p.events <= 3);
		assert_int_equal(row_named(&p, "a")->count, 1);
		if (!strstr(buf_str(&p.damage), "the file ends"))
			fail_msg("cut at %zu: nothing is said", n);
		profile_release(&p);
	}
}

/* Far between, and with much that is none: nothing of it is kept. */
static void test_events_far_between(void **state)
{
	struct buf b = {0};
	struct profile p;
	(void)state;
	buf_adds(&b, "[");
	buf_adds(&b, EV("a", 1, 1, 2));
	for (unsigned i = 0; i < 3 << 20; i++)
		buf_adds(&b, i % 3 ? "{}, " : "      \n");
	for (unsigned i = 0; i < 18 << 20; i++)
		buf_addc(&b, ' ');
	buf_adds(&b, EV("a", 1, 10, 2) "]");
	read_text(&p, buf_slice(&b));
	assert_int_equal(row_named(&p, "a")->count, 2);
	assert_int_equal(p.damage.len, 0);
	profile_release(&p);
	/* An event without end: given up, and said. */
	buf_reset(&b);
	buf_adds(&b, "[" EV("a", 1, 1, 2) "{\"name\": \"");
	for (unsigned i = 0; i < 20 << 20; i++)
		buf_addc(&b, 'x');
	read_text(&p, buf_slice(&b));
	assert_int_equal(p.events, 1);
	assert_non_null(strstr(buf_str(&p.damage), "no event ends within"));
	profile_release(&p);
	buf_release(&b);
}

static void test_many_names(void **state)
{
	struct buf b = {0};
	struct profile p;
	(void)state;
	buf_adds(&b, "[");
	for (int i = 0; i < PROFILE_ROWS_MAX + 1000; i++)
		buf_addf(&b, "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"n%d\",\"pid\":1,\"tid\":%d,\"ts\":%d,\"dur\":1},", i, i % 5000,
			 i);
	read_text(&p, buf_slice(&b));
	assert_true(p.n_row <= PROFILE_ROWS_MAX + PROFILE_CLASSES);
	assert_int_equal(p.other_names, 1000);
	assert_int_equal(row_named(&p, "(other names)")->count, 1000);
	assert_non_null(strstr(buf_str(&p.damage), "1000 events are in \"(other names)\""));
	assert_non_null(strstr(buf_str(&p.damage), "threads"));
	profile_release(&p);
	buf_release(&b);
}

/* ---- the parts, against unmapped memory ---- */

static void test_cutter_in_pieces(void **state)
{
	struct buf b = {0};
	struct guard g = {0};
	uint64_t seed = 3;
	(void)state;
	assert_true(data_load("profiles/gpu_eager.json", &b));
	buf_adds(&b, "garbage \\ \"");
	struct cutter whole = {.from = NONE};
	cut_scan(&whole, guard_put(&g, b.p, b.len), 0, b.len);
	assert_int_equal(whole.where, CUT_END);
	assert_true(whole.n > 100);
	for (unsigned round = 0; round < 20; round++) {
		struct cutter c = {.from = NONE};
		const char *text = guard_put(&g, b.p, b.len);
		for (size_t at = 0; at < b.len;) {
			size_t to = at + 1 + pick(&seed, round ? 300 : 1);
			to = to > b.len ? b.len : to;
			cut_scan(&c, text, at, to);
			at = to;
		}
		assert_int_equal(c.n, whole.n);
		assert_memory_equal(c.span, whole.span, c.n * sizeof(*c.span));
		free(c.span);
	}
	free(whole.span);
	guard_release(&g);
	buf_release(&b);
}

static void test_events_end_where_memory_ends(void **state)
{
	static const char text[] = "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\\\\\", \"pid\": 1, \"tid\": "
				   "\"x\", \"ts\": 1.5, \"dur\": 2, \"args\": {\"a\": [1, \"}\"]}}";
	struct guard g = {0};
	(void)state;
	for (size_t n = 0; n < sizeof(text); n++) {
		struct event e;
		event_read(&e, slice_of(guard_put(&g, text, n), n));
		if (e.has_ts && n > strlen(text) - 30) {
			assert_int_equal(e.ts, 1500);
			assert_text(e.name, "a\\\\");
		}
	}
	guard_release(&g);
}

static void test_names(void **state)
{
	(void)state;
	assert_text(profile_compile_id(SLICE("entire_frame_compile_data: fn_name=_compile, compile_id=0/1")), "0/1");
	assert_text(profile_compile_id(SLICE("x_data: compile_id=!1/0/0, more=1")), "!1/0/0");
	assert_text(profile_compile_id(SLICE("x_data: compile_id=None")), "");
	assert_text(profile_compile_id(SLICE("my compile_id=1")), "");
	assert_text(profile_region_id(SLICE("Torch-Compiled Region: 3/1")), "3/1");
	assert_text(profile_region_id(SLICE("Torch-Compiled Region")), "");
	assert_text(profile_kernel_name(SLICE("graph_12_cpp_fused_gelu_1")), "cpp_fused_gelu_1");
	assert_text(profile_kernel_name(SLICE("graph_x")), "graph_x");
	assert_int_equal(profile_kind_of(SLICE("graph_0_cpp_fused_gelu_1"), CLASS_OP), KIND_KERNEL);
	assert_int_equal(profile_kind_of(SLICE("graph_0_kernel_cpp_0"), CLASS_OP), KIND_KERNEL); /* 2.0 */
	assert_int_equal(profile_kind_of(SLICE("_compile.compile_inner (dynamo_timed)"), CLASS_OP), KIND_COMPILE);
	assert_int_equal(profile_kind_of(SLICE("aten::cpp_fused"), CLASS_OP), KIND_OP);
	assert_int_equal(profile_kind_of(SLICE("step 1"), CLASS_ANNOTATION), KIND_USER);
	assert_int_equal(profile_family_of(SLICE("mkldnn::_linear_pointwise"), CLASS_OP, KIND_OP), FAMILY_MATMUL);
	assert_int_equal(profile_family_of(SLICE("aten::summary"), CLASS_OP, KIND_OP), FAMILY_POINTWISE);
}

/* ---- comparison, advice ---- */

static void test_comparison(void **state)
{
	struct profile e, c;
	struct profile_compare x;
	(void)state;
	read_recorded(&e, "eager.json.xz");
	read_recorded(&c, "kernels.json.xz");
	profile_compare(&x, &e, &c);
	assert_false(x.swapped);
	double ops[2] = {0};
	for (unsigned k = 0; k < 2; k++) {
		double sum = 0;
		for (unsigned f = 0; f < FAMILIES; f++)
			sum += x.family[k][f];
		assert_true(fabs(sum - x.wall[k] - x.beside[k]) < 1); /* nothing is lost */
		for (uint32_t i = 0; i < x.n_op; i++)
			ops[k] += x.op[i].self[k];
	}
	assert_true(fabs(ops[0] - x.gone - x.stays[0]) < 1);
	assert_true(fabs(ops[1] - x.fresh - x.stays[1]) < 1);
	for (uint32_t i = 0; i < x.n_op; i++) {
		const struct profile_op *o = &x.op[i];
		if (slice_is(o->name, "aten::gelu"))
			assert_int_equal(o->fate, FATE_GONE);
		if (slice_is(o->name, "aten::mm"))
			assert_true(o->fate == FATE_STAYS && o->count[1] == 8);
		if (slice_is(o->name, "cpp_fused_gelu_1"))
			assert_true(o->fate == FATE_NEW && o->family == FAMILY_KERNEL && o->count[1] == 2); /* of two graphs */
	}
	profile_compare_release(&x);
	profile_compare(&x, &e, &e);
	assert_true(x.same_kind && x.gone == 0 && x.fresh == 0);
	profile_compare_release(&x);
	profile_release(&e);
	profile_release(&c);
}

static const struct profile_advice *advice_of(const struct profile_advices *x, enum profile_advice_kind kind)
{
	for (uint32_t i = 0; i < x->n; i++)
		if (x->v[i].kind == kind)
			return &x->v[i];
	return NULL;
}

static void test_advice(void **state)
{
	static const struct {
		const char *file;
		enum profile_advice_kind yes, no;
		const char *says;
	} want[] = {
	    {"compiled.json.xz", ADVICE_HIDDEN, ADVICE_COLD, "enable_kernel_profile = True"},
	    {"kernels.json.xz", ADVICE_BREAKS, ADVICE_HIDDEN, "graph_breaks"},
	    {"cold.json.xz", ADVICE_COLD, ADVICE_NOT_COMPILED, "schedule("},
	    {"cold.json.xz", ADVICE_RECOMPILES, ADVICE_HIDDEN, "mark_dynamic"},
	    {"eager.json.xz", ADVICE_NOT_COMPILED, ADVICE_BREAKS, "fxexplain profile"},
	    {"gpu_compiled.json", ADVICE_DEVICE_IDLE, ADVICE_HIDDEN, "reduce-overhead"},
	    {"stack.json.xz", ADVICE_PYTHON, ADVICE_EXTERN, "that function"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		struct profile p;
		struct profile_advices x;
		read_recorded(&p, want[i].file);
		profile_advise(&x, &p);
		const struct profile_advice *a = advice_of(&x, want[i].yes);
		if (!a || !strstr(a->next, want[i].says))
			fail_msg("%s: '%s' is not said", want[i].file, profile_advice_name[want[i].yes]);
		if (advice_of(&x, want[i].no))
			fail_msg("%s: '%s' is said", want[i].file, profile_advice_name[want[i].no]);
		for (uint32_t k = 1; k < x.n; k++)
			assert_true(x.v[k - 1].ns >= x.v[k].ns);
		profile_advices_release(&x);
		profile_release(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_totals_are_torchs),
	    cmocka_unit_test(test_eager),
	    cmocka_unit_test(test_compiled),
	    cmocka_unit_test(test_cold),
	    cmocka_unit_test(test_stack),
	    cmocka_unit_test(test_device),
	    cmocka_unit_test(test_times),
	    cmocka_unit_test(test_nesting),
	    cmocka_unit_test(test_order_does_not_matter),
	    cmocka_unit_test(test_other_forms),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_cut_off),
	    cmocka_unit_test(test_events_far_between),
	    cmocka_unit_test(test_many_names),
	    cmocka_unit_test(test_cutter_in_pieces),
	    cmocka_unit_test(test_events_end_where_memory_ends),
	    cmocka_unit_test(test_names),
	    cmocka_unit_test(test_comparison),
	    cmocka_unit_test(test_advice),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name(__FILE__, tests, folder_make, folder_remove);
}
