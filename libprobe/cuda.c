/* cuda.c - the process's driver, and the functions that a model loaded from its modules. */
#include "cuda.h"

#include "ops.h"

#include <dlfcn.h>
#include <errno.h>

#define FUNCTIONS 16384 /* of all models; further ones have no names */

struct cuda_driver cuda;

static _Atomic(struct cuda_function *) table[FUNCTIONS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for adding */

/* loadKernel() loads a module and gets its function right after, in one thread. */
static _Thread_local struct {
	void *module;
	const void *image; /* NULL: it was a file */
	char *path;        /* not an array: a library opened late gets little thread-local storage */
} last;

void cuda_after_fork(void)
{
	pthread_mutex_init(&lock, NULL);
	cuda_graph_after_fork();
	cuda_scan_after_fork();
	cuda_time_after_fork();
}

static size_t handle_slot(const void *handle) { return (uintptr_t)handle * 0x9e3779b97f4a7c15ull >> 40 & (FUNCTIONS - 1); }

struct cuda_function *cuda_function_of(void *handle)
{
	struct cuda_function *f;
	for (size_t i = handle_slot(handle), n = 0; n < FUNCTIONS && (f = atomic_load_explicit(&table[i], memory_order_acquire));
	     i = (i + 1) & (FUNCTIONS - 1), n++)
		if (f->handle == handle)
			return f->gone ? NULL : f;
	return NULL;
}

void cuda_forget(const struct model *m)
{
	for (size_t i = 0; m->ops->cuda && i < FUNCTIONS; i++) {
		struct cuda_function *f = atomic_load_explicit(&table[i], memory_order_acquire);
		uint32_t s = f ? f->site : OPS_SITES;
		if (s < OPS_SITES && ops_site[s].model == m)
			f->site = OPS_SITES;
		/* The next library at this address has other functions. */
		if (f && (uintptr_t)f->handle >= m->object.start && (uintptr_t)f->handle < m->object.end)
			f->gone = true;
	}
}

/* A kernel without parameters is not distinguished from one unknown to the driver: neither has parameters to read. */
static bool ask_params(struct cuda_function *f, int (*info)(void *, size_t, size_t *, size_t *), void *handle)
{
	size_t offset, size;
	if (!info || !handle || info(handle, 0, &offset, &size))
		return false;
	f->n_params = 0;
	while (f->n_params < CUDA_PARAMS && !info(handle, f->n_params, &offset, &size))
		f->size[f->n_params++] = (uint16_t)(size < UINT16_MAX ? size : UINT16_MAX);
	return true;
}

static void find_params(struct cuda_function *f, const void *module, const struct cuda_params_by *by)
{
	f->n_params = NONE;
	if (ask_params(f, cuda.param_info, by->function) || ask_params(f, cuda.kernel_param_info, by->kernel))
		return;
	if (!module || module != last.module)
		return;
	int k = -1;
	if (last.image)
		k = cuda_params_of_image(slice_of(last.image, cuda_image_length(last.image)), f->name, f->size, CUDA_PARAMS);
	else if (last.path)
		k = cuda_params_of_file(last.path, f->name, f->size, CUDA_PARAMS);
	if (k >= 0)
		f->n_params = (uint32_t)k;
}

/* An unloaded handle may be reused for another function: the entry is replaced, and the old one stays for concurrent readers. */
struct cuda_function *cuda_learn(void *handle, const void *module, const char *name, const struct cuda_params_by *by)
{
	struct cuda_function *f = calloc(1, sizeof(*f)), *there;
	if (!f || !(f->name = strdup(name))) {
		free(f);
		return NULL;
	}
	f->handle = handle;
	f->site = OPS_SITES;
	f->name_id = ops_name(slice_str(name));
	f->passes = ops_filtered(slice_str(name));
	find_params(f, module, by);
	pthread_mutex_lock(&lock);
	size_t i = handle_slot(handle), n = 0;
	while (n < FUNCTIONS && (there = table[i]) && there->handle != handle) {
		i = (i + 1) & (FUNCTIONS - 1);
		n++;
	}
	bool room = n < FUNCTIONS / 2;
	if (room)
		atomic_store_explicit(&table[i], f, memory_order_release);
	pthread_mutex_unlock(&lock);
	if (room)
		return f;
	free(f->name);
	free(f);
	return NULL;
}

int cuda_relax_capture(void)
{
	int mode = CUDA_CAPTURE_RELAXED;
	return cuda.exchange_capture_mode && !cuda.exchange_capture_mode(&mode) ? mode : -1;
}

void cuda_restore_capture(int mode)
{
	if (mode >= 0)
		cuda.exchange_capture_mode(&mode);
}

bool cuda_capturing(void *stream)
{
	int status = 0;
	return cuda.stream_is_capturing && !cuda.stream_is_capturing(stream, &status) && status;
}

/* torch does not set a device that is current already, and 0 is from the start (c10/cuda/CUDAFunctions.cpp, SetDevice); Triton's launcher
 * does the same as this (ensureCudaContext in its driver.c). */
void cuda_enter(const struct model *m)
{
	void *context = NULL;
	unsigned flags;
	int32_t device = 0;
	int active = 0;
	if (!cuda.ctx_get_current || cuda.ctx_get_current(&context) || context || !cuda.ctx_push_current || !cuda.primary_state ||
	    !cuda.primary_retain)
		return;
	if (m->ops->current_device && m->ops->current_device(&device))
		return;
	if (!cuda.primary_state(device, &flags, &active) && active && !cuda.primary_retain(&context, device))
		cuda.ctx_push_current(context);
}

/* Loaded unseen, for instance by functions from cuGetProcAddress; the driver may load it only now. */
struct cuda_function *cuda_function_ask(void *handle, bool kernel)
{
	struct cuda_function *f = cuda_function_of(handle);
	const char *name = NULL;
	if (f || !handle || (!cuda.func_get_name && !cuda.kernel_get_name))
		return f;
	struct cuda_params_by by = {0};
	int mode = cuda_relax_capture();
	if (!kernel && cuda.func_get_name && !cuda.func_get_name(&name, handle) && name)
		by.function = handle;
	else if (cuda.kernel_get_name && !cuda.kernel_get_name(&name, handle) && name)
		by.kernel = handle;
	if (by.function || by.kernel)
		f = cuda_learn(handle, NULL, name, &by);
	cuda_restore_capture(mode);
	return f;
}

/* ---- what the model's slots contain ---- */

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

static int module_load_fat_binary(void **module, const void *image)
{
	int r = cuda.module_load_fat_binary(module, image);
	if (!r)
		loaded(*module, NULL, NULL);
	return r;
}

static int library_load_data(void **library, const void *code, int *jit, void **jit_values, unsigned n_jit, int *options, void **values,
			     unsigned n)
{
	int r = cuda.library_load_data(library, code, jit, jit_values, n_jit, options, values, n);
	if (!r)
		loaded(*library, code, NULL);
	return r;
}

static int library_load_file(void **library, const char *file, int *jit, void **jit_values, unsigned n_jit, int *options, void **values,
			     unsigned n)
{
	int r = cuda.library_load_file(library, file, jit, jit_values, n_jit, options, values, n);
	if (!r)
		loaded(*library, NULL, file);
	return r;
}

static void learn(void *handle, const void *module, const char *name, struct cuda_params_by by)
{
	int saved = errno;
	if (name && probe_enter()) {
		cuda_learn(handle, module, name, &by);
		probe_leave();
	}
	errno = saved;
}

static int module_get_function(void **function, void *module, const char *name)
{
	int r = cuda.module_get_function(function, module, name);
	if (!r)
		learn(*function, module, name, (struct cuda_params_by){.function = *function});
	return r;
}

/* A CUkernel may be launched directly (CUDA 12), or be asked for its function in the context. */
static int library_get_kernel(void **kernel, void *library, const char *name)
{
	int r = cuda.library_get_kernel(kernel, library, name);
	if (!r)
		learn(*kernel, library, name, (struct cuda_params_by){.kernel = *kernel});
	return r;
}

static int kernel_get_function(void **function, void *kernel)
{
	int r = cuda.kernel_get_function(function, kernel);
	const struct cuda_function *k = r ? NULL : cuda_function_of(kernel);
	if (k)
		learn(*function, NULL, k->name, (struct cuda_params_by){.function = *function, .kernel = kernel});
	return r;
}

/* crt/host_runtime.h: before a kernel is launched for the first time. */
static int runtime_get_kernel(void **kernel, void *symbol)
{
	int r = cuda.runtime_get_kernel(kernel, symbol), saved = errno;
	if (!r && probe_enter()) {
		cuda_learn_symbol(*kernel, symbol);
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
	    {"cuModuleLoadFatBinary", (void *)module_load_fat_binary, &cuda.module_load_fat_binary},
	    {"cuModuleGetFunction", (void *)module_get_function, &cuda.module_get_function},
	    {"cuLibraryLoadData", (void *)library_load_data, &cuda.library_load_data},
	    {"cuLibraryLoadFromFile", (void *)library_load_file, &cuda.library_load_file},
	    {"cuLibraryGetKernel", (void *)library_get_kernel, &cuda.library_get_kernel},
	    {"cuKernelGetFunction", (void *)kernel_get_function, &cuda.kernel_get_function},
	    {"__cudaGetKernel", (void *)runtime_get_kernel, &cuda.runtime_get_kernel},
	};
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		if (strcmp(name, t[i].name))
			continue;
		if (!target || target == t[i].ours)
			return true;
		memcpy(t[i].real, &target, sizeof(target));
		if (object_write(at, (uintptr_t)t[i].ours) < 0)
			event_aside(m->id, "cannot watch the loading of GPU kernels: they have no names");
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
	    {&cuda.memset_async, "cuMemsetD8Async"},
	    {&cuda.host_register, "cuMemHostRegister_v2"},
	    {&cuda.host_pointer, "cuMemHostGetDevicePointer_v2"},
	    {&cuda.stream_create, "cuStreamCreate"},
	    {&cuda.event_create, "cuEventCreate"},
	    {&cuda.event_record, "cuEventRecord"},
	    {&cuda.event_query, "cuEventQuery"},
	    {&cuda.event_elapsed, "cuEventElapsedTime"},
	    {&cuda.ctx_set_current, "cuCtxSetCurrent"},
	    {&cuda.ctx_get_current, "cuCtxGetCurrent"},
	    {&cuda.ctx_push_current, "cuCtxPushCurrent_v2"},
	    {&cuda.primary_state, "cuDevicePrimaryCtxGetState"},
	    {&cuda.primary_retain, "cuDevicePrimaryCtxRetain"},
	    {&cuda.param_info, "cuFuncGetParamInfo"},
	    {&cuda.kernel_param_info, "cuKernelGetParamInfo"},
	    {&cuda.func_get_name, "cuFuncGetName"},
	    {&cuda.kernel_get_name, "cuKernelGetName"},
	    {&cuda.ctx_get_device, "cuCtxGetDevice"},
	    {&cuda.ctx_synchronize, "cuCtxSynchronize"},
	    {&cuda.stream_synchronize, "cuStreamSynchronize"},
	    {&cuda.stream_is_capturing, "cuStreamIsCapturing"},
	    {&cuda.capture_info, "cuStreamGetCaptureInfo_v2"},
	    {&cuda.capture_info, "cuStreamGetCaptureInfo_v3"},
	    {&cuda.capture_info, "cuStreamGetCaptureInfo"},
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
		void *there, *p;
		memcpy(&there, want[i].to, sizeof(there));
		if (there) /* under another name */
			continue;
		p = lib ? dlsym(lib, want[i].name) : NULL;
		if (!p && lib)
			dlerror(); /* hides our lookup from the process's next dlerror() */
		if (!p)
			p = model_import(o, want[i].name);
		memcpy(want[i].to, &p, sizeof(p));
	}
	if (lib)
		dlclose(lib);
	else
		dlerror();
}
