/* Checks the driver's CUDA version against its users: the runtime that the model or its torch was linked with, cubins, PTX. */
#include "base/io/mapfile.h"
#include "model/doctor/doctor_part.h"

enum { CLIP = 200 }; /* maximum bytes of input text in a message */

/* "CUDA 12.8", from cuDriverGetVersion()'s number. */
static struct slice cuda(struct exam *x, unsigned version) { return doctor_text(x, "CUDA %u.%u", version / 1000, version % 1000 / 10); }

/* 12 of libcudart.so.12; older wheels name it libcudart-9335f6a2.so.11.0. 0 for another library. */
static unsigned runtime_major(struct slice soname)
{
	uint64_t major;
	const char *so = slice_starts(soname, "libcudart") ? slice_find(soname, ".so.") : NULL;
	if (!so)
		return 0;
	struct slice number = slice_of(so + 4, (size_t)(soname.p + soname.n - so) - 4);
	const char *dot = slice_chr(number, '.');
	if (dot)
		number.n = (size_t)(dot - number.p);
	return slice_u64(number, &major) && major < 1000 ? (unsigned)major : 0;
}

static void take_runtime(void *arg, struct slice soname)
{
	unsigned *major = arg, this = runtime_major(soname);
	*major = this > *major ? this : *major;
}

/* A model linked by torch 2.13 does not name a runtime: it comes with libtorch_cuda.so. */
static unsigned torch_runtime(struct exam *x)
{
	static const char *const library[] = {"libtorch_cuda.so", "libc10_cuda.so"};
	unsigned major = 0;
	for (size_t i = 0; x->torch.n && i < ARRAY_LEN(library); i++) {
		struct mapfile f;
		FREED char *path = xasprintf("%.*s/%s", SL(x->torch), library[i]);
		if (mapfile_open(&f, path, NULL) == 0) {
			modelso_lib_needed(f.bytes, path, take_runtime, &major, NULL);
			mapfile_close(&f);
		}
	}
	return major;
}

/* Within one major version a driver runs the output of a newer toolkit, except PTX (docs.nvidia.com/deploy/cuda-compatibility). */
static void check_runtime(struct exam *x, unsigned major, const char *who)
{
	const unsigned have = x->host.driver_version;
	if (!major)
		return;
	const struct slice driver = cuda(x, have);
	if (have / 1000 < major)
		doctor_add(x, DOCTOR_FATAL, "gpu-driver",
			   doctor_text(x, "%s CUDA %u, but the driver supports only %.*s and older", who, major, SLN(driver, CLIP)),
			   SLICE("creating the model fails: \"CUDA driver version is insufficient for CUDA runtime version\""),
			   SLICE("update the driver (nvidia-smi shows its version), or use a torch for an older CUDA"));
	else
		doctor_add(x, DOCTOR_OK, "gpu-driver",
			   doctor_text(x, "%s CUDA %u; the driver supports %.*s and older", who, major, SLN(driver, CLIP)), SLICE(""),
			   SLICE(""));
}

/* The newest toolkit whose ptxas built a cubin. */
static void check_cubins(struct exam *x, const struct sm_need *v, size_t n)
{
	unsigned newest = 0, have = x->host.driver_version;
	struct slice from = {"", 0};
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < v[i].n; k++)
			if (!v[i].code[k].ptx && v[i].code[k].cuda > newest)
				newest = v[i].code[k].cuda, from = v[i].from;
	if (newest / 1000 <= have / 1000)
		return;
	const struct slice made = cuda(x, newest), driver = cuda(x, have);
	doctor_add(x, DOCTOR_WARNING, "gpu-cubin",
		   doctor_text(x, "its kernels (%.*s) are compiled by %.*s, but the driver supports only %.*s and older", SLN(from, CLIP),
			       SLN(made, CLIP), SLN(driver, CLIP)),
		   SLICE("a driver supports cubins of its own and older major versions: it may reject them when the "
			 "model is created"),
		   SLICE("update the driver (nvidia-smi shows its version), or compile with a Triton whose ptxas is older "
			 "(TRITON_PTXAS_PATH)"));
}

/* PTX counts if nothing else matches a GPU. The driver does not compile PTX newer than itself, even within its own major version. */
static void check_ptx(struct exam *x, const struct sm_need *need, unsigned sm)
{
	const struct modelso_code *ptx = NULL;
	unsigned have = x->host.driver_version;
	for (size_t i = 0; i < need->n; i++) {
		const struct modelso_code *c = &need->code[i];
		if (!doctor_code_runs(c, sm))
			continue;
		if (!c->ptx || c->cuda <= have)
			return;
		ptx = c;
	}
	if (!ptx)
		return;
	const struct slice made = cuda(x, ptx->cuda), driver = cuda(x, have);
	doctor_add(
	    x, DOCTOR_FATAL, "gpu-ptx",
	    doctor_text(x, "sm_%u runs its kernels (%.*s) only from PTX, which is from %.*s, but the driver supports only %.*s and older",
			sm, SLN(need->from, CLIP), SLN(made, CLIP), SLN(driver, CLIP)),
	    SLICE("creating the model fails: \"the provided PTX was compiled with an unsupported toolchain\""),
	    SLICE("update the driver (nvidia-smi shows its version), or compile on this GPU"));
}

void doctor_driver(struct exam *x, const struct sm_need *v, size_t n)
{
	unsigned model = 0;
	if (!x->host.driver_version)
		return;
	for (uint32_t i = 0; i < x->so.n_needed; i++)
		take_runtime(&model, x->so.needed[i]);
	check_runtime(x, model, "compiled with");
	check_runtime(x, torch_runtime(x), "this torch is for");
	check_cubins(x, v, n);
	for (size_t i = 0; i < n; i++)
		for (unsigned g = 0; g < x->host.n_gpu; g++)
			check_ptx(x, &v[i], x->host.sm[g]);
}

/* A cubin runs on its own SM and on newer ones of the same generation, PTX on all newer ones; sm_90a only on that one. */
bool doctor_code_runs(const struct modelso_code *c, unsigned gpu)
{
	if (c->exact || c->sm > gpu)
		return c->sm == gpu;
	return c->ptx || c->sm / 10 == gpu / 10;
}
