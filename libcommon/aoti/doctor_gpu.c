/* GPUs: what the code was compiled for, and what is here. */
#include <dlfcn.h>

#include "aoti/doctor_part.h"

enum { MAX_IMAGES = 4096, CU_MAJOR = 75, CU_MINOR = 76 };

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
	if (init && count && get && attribute && init(0) == 0 && count(&n) == 0)
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
	if (!bad && n)
		doctor_add(x, DOCTOR_OK, "gpu-sm",
			   doctor_text(x, "GPU code for sm_%u runs on the GPU here (%.*s)", v[0].sm, S(gpus(x))),
			   SLICE(""), SLICE(""));
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
		doctor_add(x, DOCTOR_FATAL, "gpu-missing", SLICE("compiled for CUDA, but the driver finds no GPU"),
			   SLICE("creating the model fails: \"no CUDA-capable device is detected\""),
			   SLICE("look at nvidia-smi and at CUDA_VISIBLE_DEVICES"));
	else
		check_code(x, need, n, portable);
}
