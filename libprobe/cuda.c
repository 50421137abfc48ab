/* The driver of the process, and the functions that a model has loaded from its modules. */
#include "cuda.h"

#include "ops.h"

#include <dlfcn.h>
#include <errno.h>

#define FUNCTIONS 16384 /* of all models; those beyond have no names */

struct cuda_driver cuda;

static _Atomic(struct cuda_function *) table[FUNCTIONS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for adding */

/* loadKernel() loads a module and asks for its function right after, in one thread. */
static _Thread_local struct {
	void *module;
	const void *image; /* NULL: it was the file */
	char *path;        /* not an array: a library that is opened late gets little room for what threads have of their own */
} last;

void cuda_after_fork(void) { pthread_mutex_init(&lock, NULL); }

static size_t place(const void *handle) { return (uintptr_t)handle * 0x9e3779b97f4a7c15ull >> 40 & (FUNCTIONS - 1); }

struct cuda_function *cuda_function_of(void *handle)
{
	struct cuda_function *f;
	for (size_t i = place(handle), n = 0; n < FUNCTIONS && (f = atomic_load_explicit(&table[i], memory_order_acquire));
	     i = (i + 1) & (FUNCTIONS - 1), n++)
		if (f->handle == handle)
			return f;
	return NULL;
}

void cuda_forget(const struct model *m)
{
	for (size_t i = 0; cuda.module_get_function && i < FUNCTIONS; i++) {
		struct cuda_function *f = atomic_load_explicit(&table[i], memory_order_acquire);
		uint32_t s = f ? f->site : OPS_SITES;
		if (s < OPS_SITES && ops_site[s].model == m)
			f->site = OPS_SITES;
	}
}

static void find_params(struct cuda_function *f, const void *module)
{
	size_t offset, size;
	f->n_params = UINT32_MAX;
	if (cuda.param_info && !cuda.param_info(f->handle, 0, &offset, &size)) {
		f->n_params = 0;
		while (f->n_params < CUDA_PARAMS && !cuda.param_info(f->handle, f->n_params, &offset, &size))
			f->size[f->n_params++] = (uint16_t)(size < UINT16_MAX ? size : UINT16_MAX);
		return;
	}
	if (!module || module != last.module)
		return;
	size_t n = last.image ? cuda_image_length(last.image) : 0;
	int k = last.image ? (n ? cuda_params_of_cubin(last.image, n, f->name, f->size, CUDA_PARAMS) : -1)
			   : last.path ? cuda_params_of_file(last.path, f->name, f->size, CUDA_PARAMS) : -1;
	if (k >= 0)
		f->n_params = (uint32_t)k;
}

/* A handle that was unloaded comes back as another function: what is there is replaced, and stays for who is reading it. */
static void learn(void *handle, const void *module, const char *name)
{
	struct cuda_function *f = calloc(1, sizeof(*f)), *there;
	if (!f || !(f->name = strdup(name))) {
		free(f);
		return;
	}
	f->handle = handle;
	f->site = OPS_SITES;
	f->name_id = ops_name(slice_str(name));
	f->passes = ops_filtered(slice_str(name));
	find_params(f, module);
	pthread_mutex_lock(&lock);
	size_t i = place(handle), n = 0;
	while (n < FUNCTIONS && (there = table[i]) && there->handle != handle) {
		i = (i + 1) & (FUNCTIONS - 1);
		n++;
	}
	if (n < FUNCTIONS / 2)
		atomic_store_explicit(&table[i], f, memory_order_release);
	pthread_mutex_unlock(&lock);
}

/* ---- what the model's slots hold ---- */

static void loaded(void *module, const void *image, const char *path)
{
	last.module = module;
	last.image = image;
	free(last.path);
	last.path = path ? strdup(path) : NULL;
}

static int module_load(void **module, const char *file)
{
	int r = cuda.module_load(module, file);
	if (!r)
		loaded(*module, NULL, file);
	return r;
}

static int module_load_data(void **module, const void *image)
{
	int r = cuda.module_load_data(module, image);
	if (!r)
		loaded(*module, image, NULL);
	return r;
}

static int module_load_data_ex(void **module, const void *image, unsigned n, int *options, void **values)
{
	int r = cuda.module_load_data_ex(module, image, n, options, values);
	if (!r)
		loaded(*module, image, NULL);
	return r;
}

static int module_get_function(void **function, void *module, const char *name)
{
	int r = cuda.module_get_function(function, module, name);
	int saved = errno;
	if (!r && name && probe_enter()) {
		learn(*function, module, name);
		probe_leave();
	}
	errno = saved;
	return r;
}

bool cuda_take_slot(struct model *m, uintptr_t *at, void *target, const char *name)
{
	const struct {
		const char *name;
		void *ours, *real;
	} t[] = {
	    {"cuModuleLoad", (void *)module_load, &cuda.module_load},
	    {"cuModuleLoadData", (void *)module_load_data, &cuda.module_load_data},
	    {"cuModuleLoadDataEx", (void *)module_load_data_ex, &cuda.module_load_data_ex},
	    {"cuModuleGetFunction", (void *)module_get_function, &cuda.module_get_function},
	};
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		if (strcmp(name, t[i].name))
			continue;
		if (!target || target == t[i].ours)
			return true;
		memcpy(t[i].real, &target, sizeof(target));
		if (object_write(at, (uintptr_t)t[i].ours) < 0)
			event_aside(m->id, "the loading of GPU kernels cannot be watched: they have no names");
		return true;
	}
	return false;
}

void cuda_open(const struct object *o)
{
	const struct {
		void *to;
		const char *name;
	} want[] = {
	    {&cuda.load_text, "cuModuleLoadData"},
	    {&cuda.get_function, "cuModuleGetFunction"},
	    {&cuda.launch, "cuLaunchKernel"},
	    {&cuda.mem_alloc, "cuMemAlloc_v2"},
	    {&cuda.ctx_get_current, "cuCtxGetCurrent"},
	    {&cuda.param_info, "cuFuncGetParamInfo"},
	    {&cuda.ctx_get_device, "cuCtxGetDevice"},
	    {&cuda.ctx_synchronize, "cuCtxSynchronize"},
	    {&cuda.stream_synchronize, "cuStreamSynchronize"},
	    {&cuda.stream_is_capturing, "cuStreamIsCapturing"},
	    {&cuda.exchange_capture_mode, "cuThreadExchangeStreamCaptureMode"},
	    {&cuda.memcpy_dtoh_async, "cuMemcpyDtoHAsync_v2"},
	    {&cuda.address_range, "cuMemGetAddressRange_v2"},
	    {&cuda.pointer_attribute, "cuPointerGetAttribute"},
	    {&cuda.device_attribute, "cuDeviceGetAttribute"},
	    {&cuda.error_name, "cuGetErrorName"},
	    {&cuda.error_string, "cuGetErrorString"},
	};
	if (cuda.stream_synchronize)
		return;
	void *lib = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		void *p = lib ? dlsym(lib, want[i].name) : NULL;
		if (!p && lib)
			dlerror(); /* what the process asks for later is not about our search */
		if (!p)
			p = model_import(o, want[i].name);
		memcpy(want[i].to, &p, sizeof(p));
	}
	if (lib)
		dlclose(lib);
	else
		dlerror();
}
