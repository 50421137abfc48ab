/* libshim and pt2-runner: recorded packages without torch give what torch gave; what cannot run is refused by name. */
#include "../../lib/test.h"
#include "../../lib/missing.h"

#include <complex.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "watch/run.h"
#include "base/text.h"

static char dir[64];

static int setup(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/test_shim.XXXXXX");
	return mkdtemp(dir) ? setenv("TMPDIR", dir, 1) : -1;
}

static int teardown(void **state)
{
	(void)state;
	char *cmd = xasprintf("rm -rf '%s'", dir);
	int rc = system(cmd);
	free(cmd);
	return rc;
}

struct fixture {
	struct package pkg;
	char *path;
	struct tensor_file *io;
	struct tensor_view in[16];
	size_t n_in;
};

static void fixture_open(struct fixture *f, const char *name, const char *io)
{
	struct buf b = {0};
	struct err err;
	const char *base = path_base(io); /* v215/mlp: v215/io/mlp.pt */
	char *xz = xasprintf("aoti/%s.pt2.xz", name), *at = xasprintf("aoti/%.*sio/%s.pt", (int)(base - io), io, base),
	     *io_path = data_path(at);
	*f = (struct fixture){.path = xasprintf("%s/model.pt2", dir)};
	if (!data_load(xz, &b))
		fail_msg("cannot unpack %s", xz);
	FILE *file = fopen(f->path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(b.p, 1, b.len, file), b.len);
	fclose(file);
	f->io = tensor_file_open(io_path, &err);
	if (!f->io || package_open(&f->pkg, f->path, &err) < 0)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < f->io->n; i++) {
		struct tensor *t = &f->io->v[i];
		if (!slice_starts(t->name, "in"))
			continue;
		assert_true(f->n_in < ARRAY_LEN(f->in));
		f->in[f->n_in] = (struct tensor_view){t->name, t->meta, NULL};
		struct slice data;
		assert_int_equal(tensor_data(f->io, i, &data, &err), 0);
		f->in[f->n_in++].data = data.p;
	}
	buf_release(&b);
	free(xz);
	free(at);
	free(io_path);
}

static void fixture_close(struct fixture *f)
{
	package_close(&f->pkg);
	tensor_file_close(f->io);
	unlink(f->path);
	free(f->path);
}

/* ---- comparing ---- */

static float half(uint16_t h)
{
	int e = h >> 10 & 31, m = h & 1023;
	float v = e == 31 ? (m ? NAN : INFINITY) : ldexpf((float)(e ? m + 1024 : m), (e ? e : 1) - 25);
	return h & 0x8000 ? -v : v;
}

static double complex number(int dtype, const char *p)
{
#define AS(type) \
	(__extension__({ \
		type v_; \
		memcpy(&v_, p, sizeof(v_)); \
		v_; \
	}))
	switch (dtype) {
	case DTYPE_F32: return (double)AS(float);
	case DTYPE_F64: return AS(double);
	case DTYPE_F16: return (double)half(AS(uint16_t));
	case DTYPE_BF16: {
		uint32_t u = (uint32_t)AS(uint16_t) << 16;
		float v;
		memcpy(&v, &u, 4);
		return (double)v;
	}
	case DTYPE_C64: return (double)AS(float) + I * (double)((p += 4), AS(float));
	default: fail_msg("%s", dtype_name(dtype)); return 0;
	}
}

static bool is_exact(int dtype) { return dtype <= DTYPE_I64 || dtype == DTYPE_BOOL; }

static void same_element(const char *what, int dtype, const char *got, const char *want)
{
	if (is_exact(dtype)) {
		if (memcmp(got, want, (size_t)dtype_info(dtype)->bytes))
			fail_msg("%s: an integer differs", what);
		return;
	}
	double complex g = number(dtype, got), w = number(dtype, want);
	double tolerance = dtype == DTYPE_BF16 || dtype == DTYPE_F16 ? 1e-2 : 1e-5;
	if (!(cabs(g - w) <= tolerance * (1 + cabs(w))) && !(isnan(creal(g)) && isnan(creal(w))) && g != w)
		fail_msg("%s: %g instead of %g", what, creal(g), creal(w));
}

static void same_tensor(const char *what, const struct tensor_view *got, const struct tensor *want, const char *data)
{
	const struct tensor_meta *g = &got->meta, *w = &want->meta;
	int64_t n, at[TENSOR_MAX_DIMS] = {0}, bytes = dtype_info(w->dtype)->bytes;
	if (g->dtype != w->dtype || g->n_dim != w->n_dim)
		fail_msg("%s: %s of %d dims instead of %s of %d", what, dtype_name(g->dtype), g->n_dim, dtype_name(w->dtype), w->n_dim);
	for (int i = 0; i < w->n_dim; i++)
		if (g->size[i] != w->size[i] || g->stride[i] != w->stride[i])
			fail_msg("%s: dim %d is %lld/%lld instead of %lld/%lld", what, i, (long long)g->size[i], (long long)g->stride[i],
				 (long long)w->size[i], (long long)w->stride[i]);
	assert_true(tensor_numel(w, &n));
	for (; n; n--) {
		int64_t offset = 0;
		for (int i = 0; i < w->n_dim; i++)
			offset += at[i] * w->stride[i];
		same_element(what, w->dtype, (const char *)got->data + offset * bytes, data + offset * bytes);
		for (int i = w->n_dim - 1; i >= 0 && ++at[i] == w->size[i]; i--)
			at[i] = 0;
	}
}

static void same_outputs(const struct fixture *f, const struct run_result *r, const char *name)
{
	size_t k = 0;
	for (size_t i = 0; i < f->io->n; i++) {
		const struct tensor *t = &f->io->v[i];
		char what[128];
		struct slice data;
		struct err err;
		if (!slice_starts(t->name, "out"))
			continue;
		snprintf(what, sizeof(what), "%s %.*s", name, SL(t->name));
		k += k < r->out.n && tensor_is_none(&r->out.v[k]); /* the file has a gap there: out[0], out[2] */
		if (k >= r->out.n)
			fail_msg("%s is missing", what);
		assert_int_equal(tensor_data(f->io, i, &data, &err), 0);
		same_tensor(what, &r->out.v[k++], t, data.p);
	}
	assert_int_equal(k, r->out.n);
}

/* ---- all recorded packages ---- */

/* PT2_TEST_TORCH names a libtorch: the same, with it (make check-live does that). */
static void run_one(const char *package, const char *model, const char *io)
{
	struct fixture f;
	struct run_options o = {.how = {.model = model, .runs = 2, .torch = getenv("PT2_TEST_TORCH")}, .threads = 1};
	struct run_result r;
	struct err err;
	fixture_open(&f, package, io);
	if (run_model(&f.pkg, f.in, f.n_in, &o, &r, &err) < 0)
		fail_msg("%s: %s", io, err.text);
	same_outputs(&f, &r, io);
	assert_int_equal(r.out.times.runs, 2);
	run_result_release(&r);
	fixture_close(&f);
}

#define PACKAGE(name) \
	static void test_##name(void **state) \
	{ \
		(void)state; \
		run_one(#name, NULL, #name); \
	}
PACKAGE(mlp)
PACKAGE(mlp_provenance)
PACKAGE(conv)
PACKAGE(attn)
PACKAGE(emb)
PACKAGE(misc)
PACKAGE(mixed)
PACKAGE(derived)
PACKAGE(nested)
PACKAGE(weights_appended)
PACKAGE(weights_blob)
PACKAGE(kwargs)
PACKAGE(unbounded)
PACKAGE(strided)
PACKAGE(halves)
PACKAGE(cond)
PACKAGE(folded)
PACKAGE(proxied)

static void test_multi(void **state)
{
	(void)state;
	run_one("multi", "first", "multi_first");
	run_one("multi", "second", "multi_second");
}

static void test_v26(void **state)
{
	(void)state;
	if (getenv("PT2_TEST_TORCH")) /* a package of 2.6 aborts in the libtorch of 2.13 */
		skip();
	run_one("v26/mlp", NULL, "v26/mlp");
}

/* The default wheel of 2.15: its packages name libtorch.so, too. */
static void test_v215(void **state)
{
	(void)state;
	static const char *const name[] = {"v215/mlp",  "v215/none",  "v215/sdpa",     "v215/complex", "v215/decomp", "v215/switch",
					   "v215/cond", "v215/fourk", "v215/kprofile", "v215/div",     "v215/frozen", "v215/proxied"};
	for (size_t i = 0; i < ARRAY_LEN(name); i++)
		run_one(name[i], NULL, name[i]);
}

/* None keeps its place. */
static void test_none(void **state)
{
	(void)state;
	struct fixture f;
	struct run_options o = {.how.torch = getenv("PT2_TEST_TORCH")};
	struct run_result r;
	struct err err;
	fixture_open(&f, "v215/none", "v215/none");
	if (run_model(&f.pkg, f.in, f.n_in, &o, &r, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(r.out.n, 3);
	assert_true(!tensor_is_none(&r.out.v[0]) && tensor_is_none(&r.out.v[1]) && !tensor_is_none(&r.out.v[2]));
	assert_text(r.out.v[2].name, "out2");
	run_result_release(&r);
	fixture_close(&f);
}

/* ---- what cannot run says why ---- */

static void must_fail(struct package *pkg, const struct tensor_view *in, size_t n, struct run_options o, enum exit_status status,
		      const char *want)
{
	struct run_result r;
	struct err err = {0};
	if (run_model(pkg, in, n, &o, &r, &err) == 0)
		fail_msg("it ran; expected: %s", want);
	if (err.status != status || !strstr(err.text, want) || strchr(err.text, '\n'))
		fail_msg("%d '%s' instead of %d '... %s ...'", err.status, err.text, status, want);
}

static char *library_path(const char *name)
{
	char self[512];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	assert_true(n > 0);
	self[n] = 0;
	*strrchr(self, '/') = 0;
	return xasprintf("%s/../tests-lib/%s", self, name);
}

static void test_custom_ops(void **state)
{
	(void)state;
	struct fixture f;
	const char *torch = getenv("PT2_TEST_TORCH");
	fixture_open(&f, "custom_op", "custom_op");
	must_fail(&f.pkg, f.in, f.n_in, (struct run_options){.how.torch = torch}, EXIT_INPUT,
		  "pt2fix::soft_clip, pt2fix::add_; watch their Python program instead (-- python ...)");
	fixture_close(&f);
	fixture_open(&f, "custom_cpp", "custom_cpp");
	must_fail(&f.pkg, f.in, f.n_in, (struct run_options){.how.torch = torch}, EXIT_INPUT,
		  torch ? "calls pt2fix::mix, pt2fix::halves, which this libtorch lacks: pass --load with the library that defines them"
			: "calls operators through the proxy executor that libpt2shim.so lacks: pt2fix::mix, pt2fix::halves; run it with");
	fixture_close(&f);
}

/* Operators of a library, with every kind of argument. Without torch there is nothing to load it into. */
static void test_load(void **state)
{
	(void)state;
	struct fixture f;
	struct run_result r;
	struct err err;
	char *lib = library_path("customop.so");
	const char *torch = getenv("PT2_TEST_TORCH");
	struct run_options o = {.how = {.torch = torch, .load = {.v = (const char *[]){lib}, .n = 1}, .runs = 2}};
	fixture_open(&f, "custom_cpp", "custom_cpp");
	if (torch) {
		if (run_model(&f.pkg, f.in, f.n_in, &o, &r, &err) < 0)
			fail_msg("%s", err.text);
		same_outputs(&f, &r, "custom_cpp");
		run_result_release(&r);
		o.how.load.v = (const char *[]){missing_path("custom.so")};
		must_fail(&f.pkg, f.in, f.n_in, o, EXIT_INPUT, "cannot open '/tmp/");
	} else {
		must_fail(&f.pkg, f.in, f.n_in, o, EXIT_USAGE, "need an installed libtorch (--torch)");
	}
	fixture_close(&f);
	free(lib);
}

/* The package's files in a folder of their own, with all names of a library changed to another of the same length. */
static char *renamed_library(const struct fixture *f, const char *old, const char *new)
{
	struct err err;
	char *folder = xasprintf("%s/renamed", dir);
	assert_int_equal(mkdir(folder, 0700), 0);
	struct package *pkg = (struct package *)(uintptr_t)&f->pkg;
	for (uint32_t i = 0; i < pkg->model[0].n_file; i++) {
		const struct package_file *file = &pkg->file[pkg->model[0].file[i]];
		struct slice bytes;
		assert_int_equal(package_data(pkg, pkg->model[0].file[i], &bytes, &err), 0);
		char *copy = xmalloc(bytes.n + 1), *path = xasprintf("%s/%.*s", folder, SL(file->name));
		memcpy(copy, bytes.p, bytes.n);
		for (char *at = copy; (at = memmem(at, bytes.n - (size_t)(at - copy), old, strlen(old) + 1));)
			memcpy(at, new, strlen(new));
		FILE *out = fopen(path, "w");
		assert_int_equal(fwrite(copy, 1, bytes.n, out), bytes.n);
		fclose(out);
		free(copy);
		free(path);
	}
	return folder;
}

/* Whatever name of torch's a package was linked with, and without it on any path; weights behind the library, too. */
static void test_needed(void **state)
{
	(void)state;
	static const char *const package[] = {"mlp", "weights_appended"};
	for (size_t i = 0; i < ARRAY_LEN(package); i++) {
		struct fixture f;
		struct package pkg;
		struct run_options o = {.how.torch = getenv("PT2_TEST_TORCH")};
		struct run_result r;
		struct err err;
		fixture_open(&f, package[i], package[i]);
		char *folder = renamed_library(&f, "libtorch_cpu.so", "libtorch_new.so");
		if (package_open(&pkg, folder, &err) < 0 || run_model(&pkg, f.in, f.n_in, &o, &r, &err) < 0)
			fail_msg("%s: %s", package[i], err.text);
		same_outputs(&f, &r, package[i]);
		run_result_release(&r);
		package_close(&pkg);
		fixture_close(&f);
		char *cmd = xasprintf("rm -r '%s'", folder);
		assert_int_equal(system(cmd), 0);
		free(cmd);
		free(folder);
	}
}

static void test_inputs(void **state)
{
	(void)state;
	struct fixture f;
	fixture_open(&f, "mlp", "mlp");
	must_fail(&f.pkg, f.in, 0, (struct run_options){0}, EXIT_INPUT, "takes 1 input, but got 0");
	f.in[0].meta.size[0] = 1;
	must_fail(&f.pkg, f.in, 1, (struct run_options){.check_inputs = true}, EXIT_INPUT, "dim value is too small at 0");
	must_fail(&f.pkg, f.in, 1, (struct run_options){.max_memory = 1 << 20}, EXIT_INPUT, "Cannot allocate memory");
	fixture_close(&f);
}

/* An exception of C++ that our C throws goes through a kernel of the model. */
static void test_thrown(void **state)
{
	(void)state;
	struct fixture f;
	int64_t index[10] = {0, 1, 99};
	fixture_open(&f, "emb", "emb");
	f.in[0].data = index;
	must_fail(&f.pkg, f.in, 1, (struct run_options){0}, EXIT_INPUT, "index out of bounds");
	fixture_close(&f);
}

static void open_library(struct package *pkg, const char *name)
{
	struct err err;
	char *path = library_path(name);
	if (package_open(pkg, path, &err) < 0)
		fail_msg("%s", err.text);
	free(path);
}

static void test_confined(void **state)
{
	(void)state;
	struct package pkg;
	struct stat st;
	char *victim = xasprintf("%s/victim", dir), *made = xasprintf("%s/victim.new", dir);
	FILE *f = fopen(victim, "w");
	assert_true(f && fputs("precious", f) >= 0 && fclose(f) == 0);
	setenv("HOSTILE_VICTIM", victim, 1);
	open_library(&pkg, "hostilemodel.so");
	must_fail(&pkg, NULL, 0, (struct run_options){0}, EXIT_INPUT, "could: read; and: read.");
	must_fail(&pkg, NULL, 0, (struct run_options){.watched = true}, EXIT_INPUT, "could: read; and: read.");
	setenv("HOSTILE_CRASH", "1", 1);
	must_fail(&pkg, NULL, 0, (struct run_options){0}, EXIT_INPUT, "the model's process: killed by SIGSEGV");
	setenv("HOSTILE_CRASH", "2", 1);
	must_fail(&pkg, NULL, 0, (struct run_options){.how.timeout_s = 1}, EXIT_INPUT, "the model's process: timed out");
	unsetenv("HOSTILE_CRASH");
	assert_int_equal(stat(victim, &st), 0);
	assert_int_equal(st.st_size, 8);
	assert_true(access(made, F_OK) < 0);
	package_close(&pkg);
	free(victim);
	free(made);
}

/* An interface without what the model needs: all of it is listed, nothing has run. */
static void test_missing(void **state)
{
	(void)state;
	struct fixture f;
	char *path = library_path("faketorch.so");
	setenv("PT2_SHIM", path, 1);
	free(path);
	fixture_open(&f, "misc", "misc");
	must_fail(&f.pkg, f.in, f.n_in, (struct run_options){0}, EXIT_INPUT,
		  "lacks: aoti_torch_cpu_cumsum, aoti_torch_cpu_nonzero, aoti_torch_cpu_sort_stable, aoti_torch_cpu_topk, "
		  "aoti_torch_get_size");
	unsetenv("PT2_SHIM");
	fixture_close(&f);
}

static void test_no_torch(void **state)
{
	(void)state;
	struct fixture f;
	fixture_open(&f, "mlp", "mlp");
	must_fail(&f.pkg, f.in, f.n_in, (struct run_options){.how.torch = missing_path("torch")}, EXIT_ENVIRON,
		  "no libtorch_cpu.so in '/tmp/");
	setenv("PT2_RUNNER", missing_path("pt2-runner"), 1);
	must_fail(&f.pkg, f.in, f.n_in, (struct run_options){0}, EXIT_ENVIRON, "/pt2-runner', a part of pt2utils");
	unsetenv("PT2_RUNNER");
	fixture_close(&f);
}

/* ---- the file between tool and runner ---- */

static void test_runfile(void **state)
{
	(void)state;
	struct guard g = {0};
	struct err err;
	float data[12] = {1, 2, 3};
	struct tensor_view v[3] = {
	    {SLICE("a"), {.dtype = DTYPE_F32, .device_index = -1, .n_dim = 2, .size = {3, 2}, .stride = {1, 4}}, data},
	    {SLICE("empty"), {.dtype = DTYPE_BF16, .n_dim = 1, .size = {0}, .stride = {1}}, NULL},
	    {SLICE("none"), {.dtype = DTYPE_NONE}, NULL}};
	char *path = xasprintf("%s/file", dir);
	FILE *f = fopen(path, "w");
	assert_int_equal(runfile_write(fileno(f), v, 3, &(struct run_times){.runs = 7}, path, &err), 0);
	fclose(f);
	struct mapfile map;
	assert_int_equal(mapfile_open(&map, path, &err), 0);
	char *copy = xmalloc(map.bytes.n);
	memcpy(copy, map.bytes.p, map.bytes.n);
	struct runfile r;
	assert_int_equal(runfile_read(&r, map.bytes, "x", &err), 0);
	assert_int_equal(r.n, 3);
	assert_int_equal(r.times.runs, 7);
	assert_text(r.v[1].name, "empty");
	assert_non_null(r.v[1].data);
	assert_text(r.v[2].name, "none");
	assert_true(tensor_is_none(&r.v[2]) && !r.v[2].data && !r.v[2].meta.n_dim);
	assert_int_equal(r.v[0].meta.stride[1], 4);
	assert_memory_equal(r.v[0].data, data, 7 * sizeof(float));
	runfile_close(&r);
	for (size_t n = 0; n < map.bytes.n; n++) /* cut off anywhere */
		if (runfile_read(&r, slice_of(guard_put(&g, copy, n), n), "x", &err) == 0)
			runfile_close(&r);
	uint64_t seed = 7;
	for (int k = 0; k < 20000; k++) { /* damaged anywhere */
		memcpy(copy, map.bytes.p, map.bytes.n);
		for (uint32_t i = 0; i <= pick(&seed, 4); i++)
			copy[pick(&seed, (uint32_t)map.bytes.n)] = (char)random_u32(&seed);
		if (runfile_read(&r, slice_of(guard_put(&g, copy, map.bytes.n), map.bytes.n), "x", &err) < 0)
			continue;
		for (size_t i = 0; i < r.n; i++) {
			int64_t bytes = 0, sum = 0;
			assert_true(tensor_is_none(&r.v[i]) || tensor_extent(&r.v[i].meta, &bytes));
			for (int64_t at = 0; at < bytes; at++)
				sum += ((const char *)r.v[i].data)[at];
			assert_true(sum < INT64_MAX);
		}
		runfile_close(&r);
	}
	guard_release(&g);
	mapfile_close(&map);
	free(copy);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_mlp),          cmocka_unit_test(test_mlp_provenance),
	    cmocka_unit_test(test_conv),         cmocka_unit_test(test_attn),
	    cmocka_unit_test(test_emb),          cmocka_unit_test(test_misc),
	    cmocka_unit_test(test_mixed),        cmocka_unit_test(test_derived),
	    cmocka_unit_test(test_nested),       cmocka_unit_test(test_weights_appended),
	    cmocka_unit_test(test_weights_blob), cmocka_unit_test(test_kwargs),
	    cmocka_unit_test(test_unbounded),    cmocka_unit_test(test_strided),
	    cmocka_unit_test(test_halves),       cmocka_unit_test(test_cond),
	    cmocka_unit_test(test_folded),       cmocka_unit_test(test_multi),
	    cmocka_unit_test(test_proxied),      cmocka_unit_test(test_load),
	    cmocka_unit_test(test_custom_ops),   cmocka_unit_test(test_inputs),
	    cmocka_unit_test(test_thrown),       cmocka_unit_test(test_confined),
	    cmocka_unit_test(test_missing),      cmocka_unit_test(test_no_torch),
	    cmocka_unit_test(test_needed),       cmocka_unit_test(test_v26),
	    cmocka_unit_test(test_v215),         cmocka_unit_test(test_none),
	    cmocka_unit_test(test_runfile),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name(__FILE__, tests, setup, teardown);
}
