/* The fake CUDA driver (tests/lib/fakecuda.h) behaves as the tests of the CUDA tools need it: calls of the driver in this process, the
 * model in processes of its own (cudahost), since an error stays until the process ends. */
#include "../../lib/live.h"

#include <dlfcn.h>
#include <glob.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>

#include "../../lib/fakecuda.h"
#include "../../lib/probeptx.h"
#include "base/process/child.h"
#include "../../../libprobe/cuda_scan.h"
#include "model/elf/modelso.h"
#include "tensor/dtype.h"
#include "tensor/stats.h"

static struct buf probe, scan_probe;
static char *build, cuda_host[PATH_MAX], model_so[PATH_MAX];

/* ---- the model ---- */

static struct buf said;

/* What cudahost prints, with "NAME=VALUE" for its environment. */
static const char *run(const char *const *env, const char *const *args)
{
	char load[PATH_MAX + 8];
	const char *argv[16] = {cuda_host, load};
	size_t n = 2;
	struct child_result r;
	struct err err;
	snprintf(load, sizeof(load), "load=%s", model_so);
	while (*args)
		argv[n++] = *args++;
	struct child_spec spec = {.argv = argv,
				  .env_set = env,
				  .env_unset =
				      ARGS("FAKECUDA_*", "PYTORCH_NO_CUDA_MEMORY_CACHING", "CUDA_LAUNCH_BLOCKING", "LD_LIBRARY_PATH"),
				  .out.how = CHILD_PIPE,
				  .err.how = CHILD_NULL,
				  .timeout_ms = 60000};
	if (child_run(&spec, &r, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(r.how, CHILD_EXITED);
	buf_reset(&said);
	buf_add_slice(&said, buf_slice(&r.out.head));
	child_result_release(&r);
	return buf_str(&said);
}

#define CALLS(...) run(ARGS("A=1"), ARGS(__VA_ARGS__))
#define ILLEGAL "an illegal memory access was encountered"

static void test_numbers(void **state)
{
	(void)state;
	assert_string_equal(CALLS("call=32", "single=64", "nan=32", "call=4096", "alive"),
			    "rc 0 as computed\nrc 0 as computed\nrc 0 NaN, as computed\nrc 0 as computed\nalive 2\n");
	assert_string_equal(run(ARGS("AOTI_RUNTIME_CHECK_INPUTS=1"), ARGS("call=32")), "rc 0 as computed\n");
	assert_string_equal(CALLS("streams=4:32"), "rc 0 as computed\nrc 0 as computed\nrc 0 as computed\nrc 0 as computed\n");
	assert_string_equal(CALLS("threads=4x25:96"), "threads: 0 failed, 0 wrong\n");
}

/* A run of 5 rows goes behind its tensors: inside a segment nobody sees it, between allocations the driver does. */
static void test_caching(void **state)
{
	(void)state;
	assert_string_equal(CALLS("call=5", "wait", "call=32"), "rc 0 as computed\nwait 0\nrc 0 as computed\n");
	assert_string_equal(run(ARGS("PYTORCH_NO_CUDA_MEMORY_CACHING=1"), ARGS("call=32", "issue=5", "wait", "call=32")),
			    "rc 0 as computed\nrc 1 CUDA error: " ILLEGAL "\nwait 700 " ILLEGAL "\nno inputs: " ILLEGAL "\n");
	/* The second input has half of its rows. */
	assert_non_null(strstr(CALLS("wide=64"), "rc 0 wrong at "));
	assert_non_null(strstr(run(ARGS("PYTORCH_NO_CUDA_MEMORY_CACHING=1"), ARGS("wide=64", "wait")), "wait 700"));
}

/* The first call does not know yet; everything after the synchronisation does. */
static void test_late_and_sticky(void **state)
{
	(void)state;
	assert_string_equal(run(ARGS("FAKECUDA_FAIL=illegal@5"), ARGS("call=32", "single=32", "wait", "wait", "issue=32")),
			    "rc 0 as computed\nrc 0, then 700 " ILLEGAL "\nwait 700 " ILLEGAL "\nwait 700 " ILLEGAL "\nno inputs: " ILLEGAL
			    "\n");
	assert_string_equal(run(ARGS("FAKECUDA_FAIL=illegal@2"), ARGS("issue=32", "wait")), "issued\nwait 700 " ILLEGAL "\n");
	assert_string_equal(run(ARGS("FAKECUDA_FAIL=illegal@2", "CUDA_LAUNCH_BLOCKING=1"), ARGS("issue=32")),
			    "rc 1 CUDA driver error: " ILLEGAL "\n");
}

static void test_failures(void **state)
{
	(void)state;
	static const char no_image[] = "rc 1 CUDA driver error: no kernel image is available for execution on the device\n";
	assert_string_equal(run(ARGS("FAKECUDA_FAIL=launch@2"), ARGS("call=32", "wait")),
			    "rc 1 CUDA driver error: unspecified launch failure\nwait 719 unspecified launch failure\n");
	assert_string_equal(run(ARGS("FAKECUDA_FAIL=module"), ARGS("call=32")), no_image);
	assert_string_equal(run(ARGS("FAKECUDA_SM=80"), ARGS("call=32")), no_image);
	assert_string_equal(run(ARGS("FAKECUDA_FAIL=oom"), ARGS("call=32")), "no container: CUDA error: out of memory\n");
	assert_non_null(strstr(run(ARGS("FAKECUDA_FAIL=oom@3000000"), ARGS("call=32", "call=65536")), "rc 0 as computed\nno inputs: "));
	assert_string_equal(run(ARGS("FAKECUDA_FAIL=nodevice"), ARGS("call=32")),
			    "no container: CUDA error: no CUDA-capable device is detected\n");
}

static void test_graph(void **state)
{
	(void)state;
	assert_string_equal(CALLS("graph=3:32"), "captured: 0\nrc 0 as computed\nrc 0 as computed\nrc 0 as computed\n");
	/* The capture makes no launch: 3 of the first run, the third of the first replay is the sixth. */
	assert_string_equal(run(ARGS("FAKECUDA_FAIL=illegal@9"), ARGS("graph=3:32")),
			    "captured: 0\nrc 0 as computed\nrc 700 " ILLEGAL "\n");
	/* An allocation of the driver's ends a capture, as in torch without its cache. */
	assert_non_null(strstr(run(ARGS("PYTORCH_NO_CUDA_MEMORY_CACHING=1"), ARGS("graph=1:32")), "captured: 1\n"));
}

/* A graph is made executable again, cloned, a child of another, updated; executables of one graph in threads of their own. */
static void test_graphs_again(void **state)
{
	(void)state;
	assert_string_equal(CALLS("remade=2:32"), "captured: 0\nrc 0 as computed\nrc 0 as computed\nrc 0 as computed\nrc 0 as computed\n"
						  "rc 0 as computed\nrc 0 as computed\nrc 0 as computed\ncaptured: 0\nrc 0 as computed\n");
	assert_string_equal(CALLS("replays=4x20:32"), "captured: 0\nreplays: 0 failed\n");
}

/* Every way to load and to launch computes the same; only where it must has an old driver not the functions. */
static void test_forms(void **state)
{
	(void)state;
	static const char *const forms[] = {"data",
					    "fatbin",
					    "library",
					    "function",
					    "unseen",
					    "ex",
					    "cooperative",
					    "ptsz",
					    "runtime",
					    "runtime-ex",
					    "kernel",
					    "runtime-ptsz",
					    "runtime-cooperative",
					    "inside"};
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		char form[64];
		snprintf(form, sizeof(form), "CUDAMODEL_FORM=%s", forms[i]);
		assert_string_equal(run(ARGS(form, "FAKECUDA_FAIL=old"), ARGS("call=32", "alive")), "rc 0 as computed\nalive 2\n");
	}
	assert_string_equal(run(ARGS("CUDAMODEL_FORM=library", "FAKECUDA_SM=80"), ARGS("call=32")),
			    "rc 1 CUDA driver error: no kernel image is available for execution on the device\n");
	assert_string_equal(run(ARGS("CUDAMODEL_FORM=runtime", "FAKECUDA_FAIL=illegal@2"), ARGS("issue=32", "wait")),
			    "issued\nwait 700 " ILLEGAL "\n");
}

static void test_two_devices(void **state)
{
	(void)state;
	const char *const *two = ARGS("FAKECUDA_DEVICES=2");
	assert_string_equal(run(two, ARGS("device=1", "call=32", "device=0", "call=32")), "rc 0 as computed\nrc 0 as computed\n");
	/* A tensor of the other one: it cannot be reached, and only the device that tried is gone. */
	assert_string_equal(run(two, ARGS("other=32", "wait", "device=1", "call=32")),
			    "rc 0, then 700 " ILLEGAL "\nwait 700 " ILLEGAL "\nrc 0 as computed\n");
	assert_string_equal(run(two, ARGS("both=10:32", "call=32")), "both: 0 failed, 0 wrong\nrc 0 as computed\n");
	assert_string_equal(CALLS("device=1", "call=32"), "no container: CUDA error: invalid device ordinal\n");
}

static void test_host_tensor(void **state)
{
	(void)state;
	const char *out = CALLS("host=32", "wait");
	assert_non_null(strstr(out, "rc 1 aoti_torch_cuda_addmm_out("));
	assert_non_null(strstr(out, "wait 700 " ILLEGAL));
}

static void test_log(void **state)
{
	(void)state;
	char env[PATH_MAX + 16], path[PATH_MAX];
	struct buf b = {0};
	snprintf(path, sizeof(path), "%s/log", folder);
	snprintf(env, sizeof(env), "FAKECUDA_LOG=%s", path);
	run(ARGS(env), ARGS("call=32"));
	read_file(path, &b);
	has(&b, "cuModuleGetFunction triton_per_fused_relu_sum_1 = 0\n");
	has(&b, "cuLaunchKernel triton_poi_fused_mul_2 grid 1,1,1 block 128,1,1 shared 0 stream (nil) = 0\n");
	has(&b, "run fake_sgemm = 0\nrun triton_per_fused_relu_sum_1 = 0\n");
	buf_release(&b);
}

/* ---- the driver, called from here ---- */

typedef uint64_t ptr;
static int (*mem_alloc)(ptr *, size_t), (*mem_free)(ptr), (*to_host)(void *, ptr, size_t), (*to_device)(ptr, const void *, size_t);
static int (*host_register)(void *, size_t, unsigned), (*host_pointer)(ptr *, void *, unsigned), (*host_unregister)(void *);
static int (*load_data)(void **, const void *), (*unload)(void *), (*get_function)(void **, void *, const char *);
static int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
static int (*param_info)(void *, size_t, size_t *, size_t *), (*sync_all)(void), (*address_range)(ptr *, size_t *, ptr);
static int (*attribute)(void *, int, ptr), (*attributes)(unsigned, int *, void **, ptr);
static int (*stream_create)(void **, unsigned), (*begin_capture)(void *, int), (*end_capture)(void *, void **);
static int (*is_capturing)(void *, int *), (*stream_sync)(void *), (*instantiate)(void **, void *, unsigned long long),
    (*graph_launch)(void *, void *);
static int (*stream_destroy)(void *), (*graph_destroy)(void *), (*exec_destroy)(void *);

static void driver(void)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%.4000s/tests-lib/cuda/libcuda.so.1", build);
	void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL), *context = NULL;
	if (!so)
		fail_msg("%s", dlerror());
	int (*proc)(const char *, void **, int, uint64_t, int *), (*init)(unsigned), (*retain)(void **, int), (*set)(void *);
	*(void **)&proc = dlsym(so, "cuGetProcAddress_v2");
	const struct {
		const char *name;
		void *to;
	} names[] = {{"cuInit", &init},
		     {"cuDevicePrimaryCtxRetain", &retain},
		     {"cuCtxSetCurrent", &set},
		     {"cuMemAlloc", &mem_alloc},
		     {"cuMemFree", &mem_free},
		     {"cuMemcpyDtoH", &to_host},
		     {"cuMemcpyHtoD", &to_device},
		     {"cuModuleLoadData", &load_data},
		     {"cuMemHostRegister_v2", &host_register},
		     {"cuMemHostUnregister", &host_unregister},
		     {"cuMemHostGetDevicePointer_v2", &host_pointer},
		     {"cuModuleUnload", &unload},
		     {"cuModuleGetFunction", &get_function},
		     {"cuLaunchKernel", &launch},
		     {"cuFuncGetParamInfo", &param_info},
		     {"cuCtxSynchronize", &sync_all},
		     {"cuMemGetAddressRange", &address_range},
		     {"cuPointerGetAttribute", &attribute},
		     {"cuPointerGetAttributes", &attributes},
		     {"cuStreamCreate", &stream_create},
		     {"cuStreamDestroy", &stream_destroy},
		     {"cuStreamBeginCapture", &begin_capture},
		     {"cuStreamEndCapture", &end_capture},
		     {"cuStreamIsCapturing", &is_capturing},
		     {"cuStreamSynchronize", &stream_sync},
		     {"cuGraphInstantiate", &instantiate},
		     {"cuGraphLaunch", &graph_launch},
		     {"cuGraphDestroy", &graph_destroy},
		     {"cuGraphExecDestroy", &exec_destroy}};
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (proc(names[i].name, names[i].to, 12080, 0, NULL))
			fail_msg("no %s", names[i].name);
	void *nothing;
	assert_int_equal(proc("cuNoSuchThing", &nothing, 12080, 0, NULL), 500);
	assert_int_equal(init(0), 0);
	assert_int_equal(retain(&context, 0), 0);
	assert_int_equal(set(context), 0);
}

static void test_memory(void **state)
{
	(void)state;
	ptr p, base, q;
	size_t n;
	unsigned type = 0;
	int ordinal = 9, which[] = {2, 9};
	void *values[] = {&type, &ordinal};
	char text[] = "hello", back[6] = "";
	assert_int_equal(mem_alloc(&p, 1000), 0);
	assert_int_equal(to_device(p, text, 6), 0);
	assert_int_equal(to_host(back, p, 6), 0);
	assert_string_equal(back, "hello");
	assert_int_equal(address_range(&base, &n, p + 999), 0);
	assert_int_equal(base, p);
	assert_int_equal(n, 1000);
	assert_int_equal(to_device(p + 1020, text, 6), 1); /* 1024 bytes are there */
	assert_int_equal(to_device((ptr)(uintptr_t)back, text, 6), 1);
	assert_int_equal(attribute(&type, 2, p + 5), 0);
	assert_int_equal(type, 2);
	assert_int_equal(attribute(&type, 2, (ptr)(uintptr_t)back), 1);
	assert_int_equal(attributes(2, which, values, (ptr)(uintptr_t)back), 0);
	assert_int_equal(type, 0);
	assert_int_equal(ordinal, -2);
	assert_int_equal(attributes(2, which, values, p), 0);
	assert_int_equal(ordinal, 0);
	/* The host cannot read it. */
	pid_t pid = fork();
	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		_exit(*(volatile char *)(uintptr_t)p == 'h' ? 1 : 2);
	}
	int status = 0;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	assert_int_equal(mem_free(p + 1), 1);
	assert_int_equal(mem_free(p), 0);
	assert_int_equal(address_range(&base, &n, p), 500);
	assert_int_equal(mem_alloc(&q, 1024), 0); /* addresses come back, what was there does not */
	assert_int_equal(q, p);
	assert_int_equal(to_host(back, q, 6), 0);
	assert_memory_equal(back, "\xff\xff\xff\xff\xff\xff", 6);
	assert_int_equal(mem_free(q), 0);
}

/* Parameters as ptxas tells them, also for those who read the file (the image is one to modelso.h). */
static void test_cubin(void **state)
{
	(void)state;
	struct buf b = {0};
	struct modelso_image image;
	glob_t g;
	void *m, *f;
	char pattern[PATH_MAX];
	size_t offset, size, found = 0;
	static const size_t offsets[] = {0, 8, 16, 24, 32, 40}, sizes[] = {8, 8, 8, 4, 8, 8};
	snprintf(pattern, sizeof(pattern), "%.4000s/tests-lib/cuda/model/*.cubin", build);
	assert_int_equal(glob(pattern, 0, NULL, &g), 0);
	assert_int_equal(g.gl_pathc, 3);
	for (size_t k = 0; k < g.gl_pathc; k++) {
		buf_reset(&b);
		read_file(g.gl_pathv[k], &b);
		assert_true(modelso_image_read(buf_slice(&b), &image));
		assert_int_equal(image.kind, IMAGE_CUBIN);
		assert_int_equal(image.sm, 90);
		assert_int_equal(image.size, b.len);
		assert_int_equal(load_data(&m, b.p), 0);
		if (get_function(&f, m, "triton_poi_fused_add_0") == 0) {
			found++;
			for (size_t i = 0; i < 6; i++) {
				assert_int_equal(param_info(f, i, &offset, &size), 0);
				assert_int_equal(offset, offsets[i]);
				assert_int_equal(size, sizes[i]);
			}
			assert_int_equal(param_info(f, 6, &offset, &size), 1);
		}
		assert_int_equal(get_function(&f, m, "triton_no"), 500);
		assert_int_equal(unload(m), 0);
		assert_int_equal(unload(m), 400);
	}
	assert_int_equal(found, 1);
	globfree(&g);
	buf_release(&b);
}

static const char *ptx, *scan_ptx; /* what the probe ships */

/* The probe's kernels say what tensor_stats does. */
static void check_stats(void *module, const char *name, int dtype, const void *data, uint64_t n, size_t bytes)
{
	enum { BLOCKS = 3, THREADS = 32 };
	struct pt2_stats_part part[BLOCKS], all = {.first_bad = UINT64_MAX, .min = INFINITY, .max = -INFINITY};
	struct tensor_stats want;
	void *f;
	ptr d, out;
	uint64_t layout[12] = {0};
	tensor_stats_dense(dtype, n, data, STATS_ALL, &want);
	assert_int_equal(get_function(&f, module, name), 0);
	assert_int_equal(mem_alloc(&d, n * bytes), 0);
	assert_int_equal(mem_alloc(&out, sizeof(part)), 0);
	assert_int_equal(to_device(d, data, n * bytes), 0);
	assert_int_equal(launch(f, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, (void *[]){&d, &n, &out, layout}, NULL), 0);
	assert_int_equal(to_host(part, out, sizeof(part)), 0);
	for (int i = 0; i < BLOCKS; i++) {
		all.nan += part[i].nan;
		all.pos_inf += part[i].pos_inf;
		all.neg_inf += part[i].neg_inf;
		all.zero += part[i].zero;
		all.first_bad = part[i].first_bad < all.first_bad ? part[i].first_bad : all.first_bad;
		all.min = fmin(all.min, part[i].min);
		all.max = fmax(all.max, part[i].max);
		all.sum += part[i].sum;
	}
	assert_int_equal(all.nan, want.nan);
	assert_int_equal(all.pos_inf, want.pos_inf);
	assert_int_equal(all.neg_inf, want.neg_inf);
	assert_int_equal(all.zero, want.zero);
	assert_int_equal((int64_t)all.first_bad, want.first_bad);
	assert_true(all.min == want.min && all.max == want.max);
	if (isfinite(want.mean))
		assert_true(fabs(all.sum / (double)(n - all.nan) - want.mean) <= 1e-6 * (1 + fabs(want.mean)));
	else
		assert_true(all.sum == want.mean || (isnan(all.sum) && isnan(want.mean)));
	assert_int_equal(mem_free(d), 0);
	assert_int_equal(mem_free(out), 0);
}

static void test_stats(void **state)
{
	(void)state;
	enum { N = 1000 };
	void *m;
	float f[N];
	double d[N];
	uint16_t h[N];
	uint64_t seed = 7;
	for (int i = 0; i < N; i++) {
		f[i] = (float)pick(&seed, 2000) - 1000;
		d[i] = (double)f[i] / 3;
		h[i] = (uint16_t)(pick(&seed, 0x7000) | pick(&seed, 2) << 15);
	}
	f[400] = NAN;
	f[700] = INFINITY;
	f[5] = 0;
	d[3] = 0;
	h[999] = 0x7e00; /* NaN as f16, a number as bf16 */
	assert_int_equal(load_data(&m, ptx), 0);
	check_stats(m, "pt2_stats_f32", DTYPE_F32, f, N, 4);
	check_stats(m, "pt2_stats_f64", DTYPE_F64, d, N, 8);
	check_stats(m, "pt2_stats_f16", DTYPE_F16, h, N, 2);
	check_stats(m, "pt2_stats_bf16", DTYPE_BF16, h, N, 2);
	assert_int_equal(unload(m), 0);
	static const char *const bad[] = {"", "nonsense", ".version 6.4\n.target sm_99\n.address_size 64\n",
					  ".version 6.4\n.target sm_50\n.address_size 64\n{"};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(load_data(&m, bad[i]), i < 2 ? 200 : 218);
}

/* ---- what finds NaN without waiting (libprobe/cuda_scan.h) ---- */

struct scan {
	void *m, *few, *many, *tick;
	ptr word, counter;
	struct scan_mail *mail;
	struct scan_head head;
	struct scan_tensor tensor[SCAN_MANY];
};

static void scan_begin(struct scan *s)
{
	const uint64_t words[2] = {UINT64_MAX, 0};
	uint64_t at;
	*s = (struct scan){.mail = aligned_alloc(4096, 8192)};
	memset(s->mail, 0, sizeof(*s->mail));
	assert_int_equal(load_data(&s->m, scan_ptx), 0);
	assert_int_equal(get_function(&s->few, s->m, "pt2_scan_few"), 0);
	assert_int_equal(get_function(&s->many, s->m, "pt2_scan_many"), 0);
	assert_int_equal(get_function(&s->tick, s->m, "pt2_scan_tick"), 0);
	assert_int_equal(mem_alloc(&s->word, sizeof(words)), 0);
	assert_int_equal(to_device(s->word, words, sizeof(words)), 0);
	assert_int_equal(host_register(s->mail, 8192, 3), 0);
	assert_int_equal(host_pointer(&at, s->mail, 0), 0);
	s->head = (struct scan_head){.word = s->word, .mail = at, .run = 3, .call = 5};
}

static void scan_launch(struct scan *s, uint32_t written, uint32_t all, bool many)
{
	s->head.n_written = written;
	s->head.n_all = all;
	assert_int_equal(launch(many ? s->many : s->few, 3, 1, 1, SCAN_THREADS, 1, 1, 0, NULL, (void *[]){&s->head, s->tensor}, NULL), 0);
	assert_int_equal(to_host(&(uint64_t){0}, s->word, 8), 0);
}

static void scan_end(struct scan *s)
{
	assert_int_equal(mem_free(s->word), 0);
	assert_int_equal(unload(s->m), 0);
	assert_int_equal(host_unregister(s->mail), 0);
	free(s->mail);
}

/* Rows of 64 elements of which the first 60 are looked at, or all of them. */
static struct scan_tensor tensor_at_device(ptr at, enum scan_kind kind, uint64_t n, bool rows)
{
	static const uint8_t shift[] = {0, 0, 1, 1, 2, 3};
	static const uint64_t lane[][2] = {
	    {0x80, 1}, {0x80, 3}, {0x8000, 0x3ff}, {0x8000, 0x7f}, {0x80000000, 0x7fffff}, {0x8000000000000000, 0xfffffffffffff}};
	struct scan_tensor t = {.at = at,
				.n = rows ? n / 64 * 60 : n,
				.kind = kind,
				.shift = shift[kind],
				.dense = !rows,
				.parts = 1,
				.first_dim = rows ? 3 : 4,
				.size = {1, 1, 1, n / 64, 60},
				.stride = {0, 0, 0, 64, 1}};
	if (!rows)
		t.size[3] = 1, t.size[4] = n;
	for (unsigned i = 0; i < 64; i += 8u << t.shift) {
		t.high |= lane[kind][0] << i;
		t.add |= lane[kind][1] << i;
	}
	return t;
}

static void check_scan(enum scan_kind kind, int dtype, const void *data, uint64_t n, size_t bytes, bool rows, bool many)
{
	struct scan s;
	struct tensor_stats want;
	struct tensor_meta meta = {
	    .dtype = dtype, .n_dim = rows ? 2 : 1, .size = {(int64_t)(rows ? n / 64 : n), 60}, .stride = {rows ? 64 : 1, 1}};
	ptr d;
	tensor_stats(&meta, data, STATS_ALL, &want);
	assert_int_equal(mem_alloc(&d, (n + 1) * bytes), 0);
	/* Not at a multiple of 16. */
	assert_int_equal(to_device(d + bytes, data, n * bytes), 0);
	scan_begin(&s);
	s.tensor[0] = s.tensor[1] = tensor_at_device(d + bytes, kind, n, rows);
	scan_launch(&s, 1, 2, many);
	assert_int_equal(s.mail->done, want.nan != 0);
	for (int i = 0; i < 2 && want.nan; i++) {
		const struct scan_part *p = &s.mail->part[i];
		assert_int_equal(p->nan, want.nan);
		assert_int_equal(p->pos_inf, want.pos_inf);
		assert_int_equal(p->neg_inf, want.neg_inf);
		assert_int_equal(p->zero, want.zero);
		assert_int_equal((int64_t)p->first_bad, want.first_bad);
		assert_true(p->min == want.min && p->max == want.max);
		assert_true(isnan(p->element) && p->at == p->first_nan + 1);
		assert_true(isnan(tensor_at(&meta, data, (int64_t)p->first_nan)));
		if (isfinite(want.mean))
			assert_true(fabs(p->sum / (double)(s.tensor[0].n - p->nan) - want.mean) <= 1e-6 * (1 + fabs(want.mean)));
	}
	if (want.nan)
		assert_true(s.mail->head.run == 3 && s.mail->head.call == 5 && s.mail->tensor[1].n == s.tensor[1].n);
	scan_end(&s);
	assert_int_equal(mem_free(d), 0);
}

static void test_scan(void **state)
{
	(void)state;
	enum { N = 640 };
	static const struct {
		enum scan_kind kind;
		int dtype;
		size_t bytes;
		uint64_t nan, inf, minus;
	} type[] = {{SCAN_F32, DTYPE_F32, 4, 0x7fc00000, 0x7f800000, 0xff800001},
		    {SCAN_F64, DTYPE_F64, 8, 0x7ff0000000000001, 0x7ff0000000000000, 0xfff0000000000000},
		    {SCAN_F16, DTYPE_F16, 2, 0xfe00, 0x7c00, 0xfc00},
		    {SCAN_BF16, DTYPE_BF16, 2, 0x7f81, 0xff80, 0x7f80},
		    {SCAN_E5M2, DTYPE_F8E5M2, 1, 0xfd, 0x7c, 0xfc},
		    {SCAN_E4M3, DTYPE_F8E4M3FN, 1, 0xff, 0x7e, 0xfe}};
	for (size_t k = 0; k < ARRAY_LEN(type); k++)
		for (int what = 0; what < 6; what++) {
			unsigned char data[N * 8];
			const size_t each = type[k].bytes;
			uint64_t seed = 11;
			for (size_t i = 0; i < N; i++) { /* never all ones in the exponent */
				uint64_t v = (uint64_t)pick(&seed, UINT32_MAX) << 32 | pick(&seed, UINT32_MAX);
				v &= ~(UINT64_C(1) << (8 * each - 3));
				memcpy(data + i * each, &v, each);
			}
			memset(data + 7 * each, 0, each);
			memcpy(data + 300 * each, &type[k].inf, each);
			memcpy(data + 301 * each, &type[k].minus, each);
			/* none; the last; the first; in the rows' padding; several */
			static const int place[6][2] = {{-1, -1}, {N - 1, -1}, {0, -1}, {64 * 4 + 61, -1}, {130, 579}, {64 * 4 + 61, 9}};
			for (int i = 0; i < 2; i++)
				if (place[what][i] >= 0)
					memcpy(data + (size_t)place[what][i] * each, &type[k].nan, each);
			check_scan(type[k].kind, type[k].dtype, data, N, each, what == 3 || what == 5, what & 1);
			check_scan(type[k].kind, type[k].dtype, data, N - 1, each, false, false);
		}
}

/* The first of all is kept; a captured run counts its replays; what was bad before is counted with its run. */
static void test_scan_order(void **state)
{
	(void)state;
	struct scan s;
	void *stream, *g, *exec;
	float v[8] = {1, 2, NAN, 4, 5, 6, 7, NAN};
	ptr d;
	scan_begin(&s);
	assert_int_equal(mem_alloc(&d, sizeof(v)), 0);
	assert_int_equal(stream_create(&stream, 0), 0);
	s.tensor[0] = tensor_at_device(d, SCAN_F32, 2, false);
	s.head.counter = s.word + 8;
	s.head.graph = 4;
	s.head.n_written = s.head.n_all = 1;
	ptr counter = s.word + 8;
	assert_int_equal(begin_capture(stream, 0), 0);
	assert_int_equal(launch(s.tick, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&counter}, NULL), 0);
	assert_int_equal(launch(s.few, 1, 1, 1, SCAN_THREADS, 1, 1, 0, stream, (void *[]){&s.head, s.tensor}, NULL), 0);
	assert_int_equal(end_capture(stream, &g), 0);
	assert_int_equal(instantiate(&exec, g, 0), 0);
	for (int i = 0; i < 4; i++) {
		if (i == 2)
			v[1] = NAN;
		assert_int_equal(to_device(d, v, sizeof(v)), 0);
		assert_int_equal(graph_launch(exec, stream), 0);
		assert_int_equal(to_host(&(uint64_t){0}, s.word, 8), 0);
		assert_int_equal(s.mail->done, i >= 2);
	}
	assert_int_equal(s.mail->head.replay, 3);
	assert_int_equal(s.mail->head.graph, 4);
	assert_int_equal(s.mail->part[0].nan, 1);
	scan_end(&s);

	scan_begin(&s);
	ptr mark;
	assert_int_equal(mem_alloc(&mark, 8), 0);
	s.tensor[0] = tensor_at_device(d, SCAN_F32, 8, false);
	s.head.mark = mark;
	s.head.run = 1;
	s.head.before = 1;
	scan_launch(&s, 1, 1, false); /* of another run */
	s.head.run = 2;
	scan_launch(&s, 1, 1, false);
	assert_int_equal(s.mail->done, 0);
	s.head.before = 0;
	scan_launch(&s, 1, 1, false);
	assert_int_equal(s.mail->done, 1);
	assert_int_equal(s.mail->marked, 3);
	s.head.call = 9;
	s.mail->done = 0;
	scan_launch(&s, 1, 1, false);
	assert_int_equal(s.mail->done, 0);
	scan_end(&s);
	assert_int_equal(mem_free(d), 0);
	assert_int_equal(mem_free(mark), 0);
}

/* Nothing that is captured runs; who waits meanwhile spoils the capture. */
static void test_capture(void **state)
{
	(void)state;
	void *stream, *g, *exec, *m, *f;
	int status = 9;
	uint64_t n = 4;
	float v[4] = {1, 2, 3, 4};
	struct pt2_stats_part part;
	ptr data, out;
	assert_int_equal(load_data(&m, ptx), 0);
	assert_int_equal(get_function(&f, m, "pt2_stats_f32"), 0);
	assert_int_equal(mem_alloc(&data, sizeof(v)), 0);
	assert_int_equal(mem_alloc(&out, sizeof(part)), 0);
	assert_int_equal(to_device(data, v, sizeof(v)), 0);
	assert_int_equal(stream_create(&stream, 0), 0);
	uint64_t layout[12] = {0};
	void *params[] = {&data, &n, &out, layout};
	assert_int_equal(begin_capture(stream, 0), 0);
	assert_int_equal(is_capturing(stream, &status), 0);
	assert_int_equal(status, 1);
	assert_int_equal(launch(f, 1, 1, 1, 32, 1, 1, 0, stream, params, NULL), 0);
	assert_int_equal(end_capture(stream, &g), 0);
	assert_int_equal(instantiate(&exec, g, 0), 0);
	assert_int_equal(to_host(&part, out, sizeof(part)), 0);
	assert_true(isnan(part.sum)); /* not yet written */
	assert_int_equal(graph_launch(exec, stream), 0);
	assert_int_equal(stream_sync(stream), 0);
	assert_int_equal(to_host(&part, out, sizeof(part)), 0);
	assert_true(part.sum == 10);
	assert_int_equal(graph_destroy(g), 0);
	assert_int_equal(exec_destroy(exec), 0);
	assert_int_equal(exec_destroy(exec), 1);

	assert_int_equal(begin_capture(stream, 0), 0);
	assert_int_equal(sync_all(), 900);
	assert_int_equal(is_capturing(stream, &status), 0);
	assert_int_equal(status, 2);
	assert_int_equal(launch(f, 1, 1, 1, 32, 1, 1, 0, stream, params, NULL), 901);
	assert_int_equal(end_capture(stream, &g), 901);
	assert_int_equal(begin_capture(stream, 0), 0);
	assert_int_equal(launch(f, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL), 906); /* the legacy stream waits for all */
	assert_int_equal(end_capture(stream, &g), 901);
	assert_int_equal(stream_sync(stream), 0);

	assert_int_equal(launch(f, 1, 1, 1, 2048, 1, 1, 0, stream, params, NULL), 1);
	assert_int_equal(launch(f, 0, 1, 1, 32, 1, 1, 0, stream, params, NULL), 1);
	assert_int_equal(launch(m, 1, 1, 1, 32, 1, 1, 0, stream, params, NULL), 400);
	assert_int_equal(stream_destroy(stream), 0);
	assert_int_equal(mem_free(data), 0);
	assert_int_equal(mem_free(out), 0);
	assert_int_equal(unload(m), 0);
}

static int set_up(void **state)
{
	(void)state;
	glob_t g;
	char pattern[PATH_MAX];
	build = live_begin();
	snprintf(cuda_host, sizeof(cuda_host), "%.4000s/tests-lib/cudahost", build);
	snprintf(pattern, sizeof(pattern), "%.4000s/tests-lib/cuda/model/*.wrapper.so", build);
	assert_int_equal(glob(pattern, 0, NULL, &g), 0);
	assert_int_equal(g.gl_pathc, 1);
	snprintf(model_so, sizeof(model_so), "%s", g.gl_pathv[0]);
	globfree(&g);
	driver();
	ptx = probe_ptx(build, "sm_50", &probe);
	scan_ptx = probe_ptx(build, "sm_52", &scan_probe);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	char *cmd = xasprintf("rm -r '%s'", folder);
	assert_int_equal(system(cmd), 0);
	free(cmd);
	free(build);
	buf_release(&said);
	buf_release(&probe);
	buf_release(&scan_probe);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_graphs_again), cmocka_unit_test(test_forms),           cmocka_unit_test(test_numbers),
	    cmocka_unit_test(test_caching),      cmocka_unit_test(test_late_and_sticky), cmocka_unit_test(test_failures),
	    cmocka_unit_test(test_graph),        cmocka_unit_test(test_two_devices),     cmocka_unit_test(test_log),
	    cmocka_unit_test(test_host_tensor),  cmocka_unit_test(test_memory),          cmocka_unit_test(test_cubin),
	    cmocka_unit_test(test_scan),         cmocka_unit_test(test_scan_order),      cmocka_unit_test(test_stats),
	    cmocka_unit_test(test_capture),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name(__FILE__, tests, set_up, tear_down);
}
