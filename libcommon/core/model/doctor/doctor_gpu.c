/* GPUs: what the code was compiled for, and what this machine has. */
#include <dlfcn.h>

#include "model/doctor/doctor_part.h"

enum {
	MAX_IMAGES = 4096,
	CU_MAJOR = 75,
	CU_MINOR = 76,
	CU_NO_DEVICE = 100,
	DRIVER_SILENT = -1, /* not one of cuInit()'s errors: nothing came back */
	CLIP = 200          /* maximum bytes of input text in a message */
};

#define NO_ANSWER "1 -1 0" /* DRIVER_SILENT */

bool (*doctor_driver_elsewhere)(char *text, size_t max);

/* The driver's own library, loaded with dlopen: most machines lack it, and this program must not require it. */
static void ask_driver(struct doctor_host *h)
{
	int n = 0, device, major, minor;
	void *so = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
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
			if (get(&device, i) == 0 && attribute(&major, CU_MAJOR, device) == 0 && attribute(&minor, CU_MINOR, device) == 0)
				h->sm[h->n_gpu++] = (unsigned)(major * 10 + minor);
	/* Never closed: drivers leave threads behind. */
}

void doctor_driver_text(char *text, size_t max)
{
	struct doctor_host h = {0};
	ask_driver(&h);
	int at = snprintf(text, max, "%d %d %u", h.gpu_driver, h.gpu_error, h.driver_version);
	for (unsigned i = 0; i < h.n_gpu && at > 0 && (size_t)at < max; i++)
		at += snprintf(text + at, max - (size_t)at, " %u", h.sm[i]);
}

static void read_driver_text(struct doctor_host *h, const char *text)
{
	char *p = NULL;
	h->gpu_driver = strtol(text, &p, 10) == 1;
	h->gpu_error = (int)strtol(p, &p, 10);
	h->driver_version = (unsigned)strtoul(p, &p, 10);
	while (*p == ' ' && h->n_gpu < ARRAY_LEN(h->sm))
		h->sm[h->n_gpu++] = (unsigned)strtoul(p, &p, 10);
}

void doctor_ask_driver(struct exam *x)
{
	char text[256] = "";
	if (x->host.gpu_asked)
		return;
	x->host.gpu_asked = true;
	if (!doctor_driver_elsewhere)
		ask_driver(&x->host);
	else
		read_driver_text(&x->host, doctor_driver_elsewhere(text, sizeof(text)) ? text : NO_ANSWER);
}

static bool need_runs(const struct sm_need *need, unsigned gpu)
{
	for (size_t i = 0; i < need->n; i++)
		if (doctor_code_runs(&need->code[i], gpu))
			return true;
	return false;
}

static bool same_need(const struct sm_need *a, const struct sm_need *b)
{
	bool same = a->n == b->n;
	for (size_t i = 0; same && i < a->n; i++)
		same = a->code[i].sm == b->code[i].sm && a->code[i].exact == b->code[i].exact && a->code[i].ptx == b->code[i].ptx;
	return same;
}

static void add_need(struct sm_need *v, size_t *n, size_t max, struct sm_need need)
{
	if (need.n > ARRAY_LEN(need.code))
		need.n = ARRAY_LEN(need.code);
	for (size_t i = 0; i < *n; i++) {
		if (same_need(&v[i], &need)) {
			for (size_t k = 0; k < need.n; k++)
				if (need.code[k].cuda > v[i].code[k].cuda)
					v[i].code[k].cuda = need.code[k].cuda;
			return;
		}
	}
	if (need.n && *n < max)
		v[(*n)++] = need;
}

static void add_image(struct sm_need *v, size_t *n, size_t max, struct slice bytes, struct slice from, unsigned *unknown)
{
	struct sm_need need = {.from = from};
	need.n = modelso_codes(bytes, need.code, ARRAY_LEN(need.code));
	*unknown += !need.n;
	add_need(v, n, max, need);
}

/* *unknown: how many images do not record their GPUs. */
static size_t collect(struct exam *x, struct sm_need *v, size_t max, unsigned *unknown)
{
	size_t n = 0;
	uint64_t cc;
	struct slice data, so = x->so.bytes;
	struct modelso_image *inside = xcalloc(MAX_IMAGES, sizeof(*inside));
	size_t k = modelso_images(&x->so, inside, MAX_IMAGES);
	for (size_t i = 0; i < k && i < MAX_IMAGES; i++)
		add_image(v, &n, max, slice_of(so.p + inside[i].offset, so.n - inside[i].offset), inside[i].name, unknown);
	free(inside);
	for (uint32_t i = 0; i < x->m->n_cubin; i++)
		if (package_data(x->pkg, x->m->cubin[i], &data, NULL) == 0)
			add_image(v, &n, max, data, x->pkg->file[x->m->cubin[i]].name, unknown);
	/* If no code records it itself. */
	if (!n && !*unknown && slice_u64(x->md.compute_capability, &cc) && cc < 1000)
		add_need(v, &n, max, (struct sm_need){{{.sm = (unsigned)cc}}, 1, SLICE("AOTI_COMPUTE_CAPABILITY")});
	return n;
}

/* "sm_90a", "sm_80 and PTX" */
static struct slice codes(struct exam *x, const struct sm_need *need)
{
	struct buf b = {0};
	unsigned last = 0;
	for (size_t i = 0; i < need->n; i++) {
		const struct modelso_code *c = &need->code[i];
		buf_addf(&b, i ? i + 1 < need->n ? ", " : " and " : "");
		if (c->ptx && c->sm == last)
			buf_addf(&b, "PTX");
		else
			buf_addf(&b, "%ssm_%u%s", c->ptx ? "PTX for " : "", c->sm, c->exact ? "a" : "");
		last = c->sm;
	}
	return arena_take(&x->d->arena, &b);
}

static struct slice gpus(struct exam *x)
{
	struct buf b = {0};
	for (unsigned i = 0; i < x->host.n_gpu; i++)
		buf_addf(&b, "%ssm_%u", i ? ", " : "", x->host.sm[i]);
	return arena_take(&x->d->arena, &b);
}

/* A GPU that cannot run some of the code, beside one that can run all of it. */
static void check_each(struct exam *x, const struct sm_need *v, size_t n)
{
	unsigned fits = ARRAY_LEN(x->host.sm), worst = fits;
	for (unsigned g = 0; g < x->host.n_gpu; g++) {
		bool all = true;
		for (size_t i = 0; i < n; i++)
			all = all && need_runs(&v[i], x->host.sm[g]);
		if (all && fits == ARRAY_LEN(x->host.sm))
			fits = g;
		else if (!all && worst == ARRAY_LEN(x->host.sm))
			worst = g;
	}
	const struct slice code = codes(x, &v[0]), here = gpus(x);
	if (worst == ARRAY_LEN(x->host.sm) || fits == ARRAY_LEN(x->host.sm)) {
		doctor_ok(x, "gpu-sm",
			  doctor_text(x, "GPU code for %.*s runs on this machine's GPU (%.*s)", SLN(code, CLIP), SLN(here, CLIP)));
		return;
	}
	doctor_add(x, DOCTOR_WARNING, "gpu-sm",
		   doctor_text(x, "this machine's GPU %u (sm_%u) cannot run its code for %.*s", worst, x->host.sm[worst], SLN(code, CLIP)),
		   SLICE("on that GPU: \"no kernel image is available for execution on the device\""),
		   doctor_text(x, "use GPU %u: load it with device_index=%u, or set CUDA_VISIBLE_DEVICES=%u", fits, fits, fits));
}

/* PTX in the package (emit_multi_arch_kernel) helps newer GPUs, but not if it is for only one. */
static struct slice remedy(const struct exam *x, const struct sm_need *need)
{
	for (size_t i = 0; i < need->n; i++)
		if (need->code[i].exact || need->code[i].sm > x->host.sm[0])
			return SLICE("compile on this GPU");
	return SLICE("compile on this GPU, or on the older one with torch._inductor.config.aot_inductor.emit_multi_arch_kernel = True");
}

static void check_code(struct exam *x, const struct sm_need *v, size_t n, unsigned unknown)
{
	unsigned bad = 0;
	if (!n && unknown)
		doctor_add(x, DOCTOR_NOTE, "gpu-sm", SLICE("its GPU code does not record which GPUs it is for"),
			   SLICE("whether it runs on this machine's GPU is known only when it is loaded"), SLICE(""));
	for (size_t i = 0; i < n; i++) {
		bool some = false;
		for (unsigned g = 0; g < x->host.n_gpu; g++)
			some = some || need_runs(&v[i], x->host.sm[g]);
		if (some)
			continue;
		bad++;
		const struct slice code = codes(x, &v[i]), here = gpus(x);
		doctor_add(x, DOCTOR_FATAL, "gpu-sm",
			   doctor_text(x, "has code for %.*s (%.*s), but this machine's GPU is %.*s", SLN(code, CLIP), SLN(v[i].from, CLIP),
				       SLN(here, CLIP)),
			   SLICE("kernels are compiled for one GPU generation: \"no kernel image is available for "
				 "execution on the device\""),
			   remedy(x, &v[i]));
	}
	if (!bad && n)
		check_each(x, v, n);
}

/* Why the driver offers no GPU: cuInit()'s error (cuda.h, CUresult). */
static void no_gpu(struct exam *x)
{
	static const struct {
		int error;
		const char *what, *why, *fix;
	} known[] = {
	    {DRIVER_SILENT, "compiled for CUDA, but the driver did not answer", "not known whether it would run here",
	     "check that nvidia-smi answers"},
	    {34, "compiled for CUDA, but libcuda.so.1 is the toolkit's stub", "the stub is only for linking; nothing runs with it",
	     "remove the stubs directory from LD_LIBRARY_PATH; the real library comes with the driver"},
	    {803, "compiled for CUDA, but the driver's library and kernel module have different versions",
	     "creating the model fails: \"system has unsupported display driver / cuda driver combination\"",
	     "reboot after updating the driver; in a container: its own libcuda.so.1 must not hide the host's"},
	    {804, "compiled for CUDA, but the driver's compatibility package is not for this GPU",
	     "creating the model fails: \"forward compatibility was attempted on non supported HW\"",
	     "remove cuda-compat from LD_LIBRARY_PATH, or update the driver"},
	};
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (x->host.gpu_error == known[i].error) {
			doctor_add(x, DOCTOR_FATAL, "gpu-missing", slice_str(known[i].what), slice_str(known[i].why),
				   slice_str(known[i].fix));
			return;
		}
	if (x->host.gpu_error && x->host.gpu_error != CU_NO_DEVICE)
		doctor_add(
		    x, DOCTOR_FATAL, "gpu-missing",
		    doctor_text(x, "compiled for CUDA, but the driver cannot be initialized (error %d from cuInit)", x->host.gpu_error),
		    SLICE("creating the model fails"), SLICE("check nvidia-smi and the kernel log"));
	else
		doctor_add(x, DOCTOR_FATAL, "gpu-missing", SLICE("compiled for CUDA, but the driver finds no GPU"),
			   SLICE("creating the model fails: \"no CUDA-capable device is detected\""),
			   SLICE("check nvidia-smi and CUDA_VISIBLE_DEVICES"));
}

void doctor_gpu(struct exam *x)
{
	struct sm_need need[16];
	unsigned unknown = 0;
	if (x->so.device_code != DEVICE_CODE_CUDA) {
		if (x->so.device_code != DEVICE_CODE_CPU)
			doctor_add(x, DOCTOR_NOTE, "gpu-other", SLICE("compiled for a GPU other than NVIDIA's"),
				   SLICE("not checked whether this machine has one that can run it"), SLICE(""));
		return;
	}
	size_t n = collect(x, need, ARRAY_LEN(need), &unknown);
	doctor_ask_driver(x);
	if (!x->host.gpu_driver)
		doctor_add(x, DOCTOR_FATAL, "gpu-missing", SLICE("compiled for CUDA, but no NVIDIA driver (libcuda.so.1) is installed"),
			   SLICE("it will not load: \"libcuda.so.1: cannot open shared object file\""),
			   SLICE("run it on a machine with a GPU, in a container with access to one, or compile for the cpu"));
	else if (!x->host.n_gpu)
		no_gpu(x);
	else
		check_code(x, need, n, unknown);
	if (x->host.gpu_driver)
		doctor_driver(x, need, n);
}
