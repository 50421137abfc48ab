/* GPUs: what the code was compiled for, and what is here. */
#include <dlfcn.h>

#include "aoti/doctor_part.h"

enum { MAX_IMAGES = 4096, CU_MAJOR = 75, CU_MINOR = 76, CU_NO_DEVICE = 100 };

#define S(s) (int)((s).n > 200 ? 200 : (s).n), (s).p

/* The driver's own library, by dlopen: it is not there on most machines, and this program must not need it. */
static void ask_driver(struct doctor_host *h)
{
	int n = 0, device, major, minor;
	void *so = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
	h->gpu_asked = true;
	if (!so)
		return;
	h->gpu_driver = true;
	int (*init)(unsigned) = (int (*)(unsigned))(uintptr_t)dlsym(so, "cuInit");
	int (*count)(int *) = (int (*)(int *))(uintptr_t)dlsym(so, "cuDeviceGetCount");
	int (*get)(int *, int) = (int (*)(int *, int))(uintptr_t)dlsym(so, "cuDeviceGet");
	int (*attribute)(int *, int, int) = (int (*)(int *, int, int))(uintptr_t)dlsym(so, "cuDeviceGetAttribute");
	int (*version)(int *) = (int (*)(int *))(uintptr_t)dlsym(so, "cuDriverGetVersion");
	if (version && version(&n) == 0 && n > 0)
		h->driver_version = (unsigned)n;
	n = 0;
	h->gpu_error = init ? init(0) : 0;
	if (init && count && get && attribute && h->gpu_error == 0 && count(&n) == 0)
		for (int i = 0; i < n && h->n_gpu < ARRAY_LEN(h->sm); i++)
			if (get(&device, i) == 0 && attribute(&major, CU_MAJOR, device) == 0 &&
			    attribute(&minor, CU_MINOR, device) == 0)
				h->sm[h->n_gpu++] = (unsigned)(major * 10 + minor);
	/* Never closed: drivers leave threads behind. */
}

/* A cubin runs on its own SM and on newer ones of the same generation. */
static bool runs_on(unsigned code, bool exact, unsigned gpu)
{
	return exact ? code == gpu : code / 10 == gpu / 10 && code <= gpu;
}

struct sm_need {
	unsigned sm;
	bool exact;
	struct slice from;
};

static void add_need(struct sm_need *v, size_t *n, size_t max, struct sm_need need)
{
	for (size_t i = 0; i < *n; i++)
		if (v[i].sm == need.sm && v[i].exact == need.exact)
			return;
	if (need.sm && *n < max)
		v[(*n)++] = need;
}

static size_t collect(struct exam *x, struct sm_need *v, size_t max, unsigned *portable)
{
	size_t n = 0;
	uint64_t cc;
	struct modelso_image image, *inside = xcalloc(MAX_IMAGES, sizeof(*inside));
	size_t k = modelso_images(&x->so, inside, MAX_IMAGES);
	for (size_t i = 0; i < k; i++) {
		*portable += inside[i].kind == IMAGE_FATBIN;
		add_need(v, &n, max, (struct sm_need){inside[i].sm, inside[i].exact, inside[i].name});
	}
	free(inside);
	for (uint32_t i = 0; i < x->m->n_cubin; i++) {
		struct slice data;
		if (package_data(x->pkg, x->m->cubin[i], &data, NULL) < 0 || !modelso_image_read(data, &image))
			continue;
		*portable += image.kind == IMAGE_FATBIN;
		add_need(v, &n, max, (struct sm_need){image.sm, image.exact, x->pkg->file[x->m->cubin[i]].name});
	}
	/* Where no code says so itself. */
	if (!n && !*portable && slice_u64(x->md.compute_capability, &cc) && cc < 1000)
		add_need(v, &n, max, (struct sm_need){(unsigned)cc, false, SLICE("AOTI_COMPUTE_CAPABILITY")});
	return n;
}

static struct slice gpus(struct exam *x)
{
	struct buf b = {0};
	for (unsigned i = 0; i < x->host.n_gpu; i++)
		buf_addf(&b, "%ssm_%u", i ? ", " : "", x->host.sm[i]);
	struct slice s = arena_slice(&x->d->arena, buf_slice(&b));
	buf_release(&b);
	return s;
}

/* A GPU that some of the code is not for, beside one that runs it all. */
static void check_each(struct exam *x, const struct sm_need *v, size_t n)
{
	unsigned fits = ARRAY_LEN(x->host.sm), worst = fits;
	for (unsigned g = 0; g < x->host.n_gpu; g++) {
		bool all = true;
		for (size_t i = 0; i < n; i++)
			all = all && runs_on(v[i].sm, v[i].exact, x->host.sm[g]);
		if (all && fits == ARRAY_LEN(x->host.sm))
			fits = g;
		else if (!all && worst == ARRAY_LEN(x->host.sm))
			worst = g;
	}
	if (worst == ARRAY_LEN(x->host.sm) || fits == ARRAY_LEN(x->host.sm)) {
		doctor_add(x, DOCTOR_OK, "gpu-sm", doctor_text(x, "GPU code for sm_%u runs on the GPU here (%.*s)", v[0].sm, S(gpus(x))),
			   SLICE(""), SLICE(""));
		return;
	}
	doctor_add(x, DOCTOR_WARNING, "gpu-sm",
		   doctor_text(x, "GPU %u here (sm_%u) cannot run its code for sm_%u", worst, x->host.sm[worst], v[0].sm),
		   SLICE("on that one: \"no kernel image is available for execution on the device\""),
		   doctor_text(x, "use GPU %u: device_index=%u when it is loaded, or CUDA_VISIBLE_DEVICES=%u", fits, fits, fits));
}

static void check_code(struct exam *x, const struct sm_need *v, size_t n, unsigned portable)
{
	unsigned bad = 0;
	for (size_t i = 0; i < n; i++) {
		bool some = false;
		for (unsigned g = 0; g < x->host.n_gpu; g++)
			some = some || runs_on(v[i].sm, v[i].exact, x->host.sm[g]);
		if (some || portable)
			continue;
		bad++;
		doctor_add(x, DOCTOR_FATAL, "gpu-sm",
			   doctor_text(x, "has code for sm_%u%s (%.*s), but the GPU here is %.*s", v[i].sm,
				       v[i].exact ? "a" : "", S(v[i].from), S(gpus(x))),
			   SLICE("kernels are compiled for one generation: \"no kernel image is available for "
				 "execution on the device\""),
			   SLICE("compile on this GPU, or with "
				 "torch._inductor.config.aot_inductor.emit_multi_arch_kernel = True"));
	}
	if (!bad && n && !portable)
		check_each(x, v, n);
	else if (!bad && n)
		doctor_add(x, DOCTOR_OK, "gpu-sm", doctor_text(x, "GPU code for sm_%u runs on the GPU here (%.*s)", v[0].sm, S(gpus(x))),
			   SLICE(""), SLICE(""));
}

/* Within one major version a driver runs what a newer toolkit made; PTX aside (docs.nvidia.com/deploy/cuda-compatibility). */
static void check_driver(struct exam *x)
{
	uint64_t major = 0;
	struct slice lib = SLICE("libcudart.so.");
	for (uint32_t i = 0; i < x->so.n_needed; i++)
		if (slice_starts(x->so.needed[i], lib.p) && !slice_u64(slice_of(x->so.needed[i].p + lib.n, x->so.needed[i].n - lib.n), &major))
			major = 0;
	unsigned have = x->host.driver_version;
	if (!major || major > 1000 || !have)
		return;
	if (have / 1000 < major)
		doctor_add(x, DOCTOR_FATAL, "gpu-driver",
			   doctor_text(x, "compiled with CUDA %u, but the driver is for CUDA %u.%u and older", (unsigned)major, have / 1000, have % 1000 / 10),
			   SLICE("creating the model fails: \"CUDA driver version is insufficient for CUDA runtime version\""),
			   SLICE("update the driver (nvidia-smi names its version), or compile with a torch for an older CUDA"));
	else
		doctor_add(x, DOCTOR_OK, "gpu-driver", doctor_text(x, "compiled with CUDA %u; the driver is for CUDA %u.%u and older", (unsigned)major,
			   have / 1000, have % 1000 / 10), SLICE(""), SLICE(""));
}

/* Why the driver has no GPU to offer: cuInit()'s error (cuda.h, CUresult). */
static void no_gpu(struct exam *x)
{
	static const struct {
		int error;
		const char *what, *why, *fix;
	} known[] = {
	    {34, "compiled for CUDA, but libcuda.so.1 is the toolkit's stub", "it is there to link with; nothing runs with it",
	     "take the folder stubs out of LD_LIBRARY_PATH; the real one comes with the driver"},
	    {803, "compiled for CUDA, but the driver's library and its kernel module are of two versions",
	     "creating the model fails: \"system has unsupported display driver / cuda driver combination\"",
	     "reboot after the driver's update; in a container: its own libcuda.so.1 must not hide the machine's"},
	    {804, "compiled for CUDA, but the driver's compatibility package is not for this GPU",
	     "creating the model fails: \"forward compatibility was attempted on non supported HW\"",
	     "take cuda-compat out of LD_LIBRARY_PATH, or update the driver"},
	};
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (x->host.gpu_error == known[i].error) {
			doctor_add(x, DOCTOR_FATAL, "gpu-missing", slice_str(known[i].what), slice_str(known[i].why), slice_str(known[i].fix));
			return;
		}
	if (x->host.gpu_error && x->host.gpu_error != CU_NO_DEVICE)
		doctor_add(x, DOCTOR_FATAL, "gpu-missing",
			   doctor_text(x, "compiled for CUDA, but the driver cannot be started (error %d of cuInit)", x->host.gpu_error),
			   SLICE("creating the model fails"), SLICE("look at nvidia-smi and at the kernel's log"));
	else
		doctor_add(x, DOCTOR_FATAL, "gpu-missing", SLICE("compiled for CUDA, but the driver finds no GPU"),
			   SLICE("creating the model fails: \"no CUDA-capable device is detected\""),
			   SLICE("look at nvidia-smi and at CUDA_VISIBLE_DEVICES"));
}

void doctor_gpu(struct exam *x)
{
	struct sm_need need[16];
	unsigned portable = 0;
	if (x->so.device_code != DEVICE_CODE_CUDA) {
		if (x->so.device_code != DEVICE_CODE_CPU)
			doctor_add(x, DOCTOR_NOTE, "gpu-other", SLICE("compiled for a GPU that is not NVIDIA's"),
				   SLICE("whether one is here that can run it was not checked"), SLICE(""));
		return;
	}
	size_t n = collect(x, need, ARRAY_LEN(need), &portable);
	if (!x->host.gpu_asked)
		ask_driver(&x->host);
	if (!x->host.gpu_driver)
		doctor_add(x, DOCTOR_FATAL, "gpu-missing",
			   SLICE("compiled for CUDA, but there is no NVIDIA driver (libcuda.so.1)"),
			   SLICE("it will not load"), SLICE("run on a machine with a GPU, or compile for the cpu"));
	else if (!x->host.n_gpu)
		no_gpu(x);
	else
		check_code(x, need, n, portable);
	if (x->host.gpu_driver)
		check_driver(x);
}
