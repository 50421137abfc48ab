/* cuda.c - the process's driver, and the functions that a model loaded from its modules. */
#include "cuda.h"

#include "ops.h"

#include <dlfcn.h>

#define FUNCTIONS 16384 /* of all models; further ones have no names */

struct cuda_driver cuda;
_Atomic int cuda_broken;

static _Atomic(struct cuda_function *) table[FUNCTIONS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for adding */
static pthread_mutex_t holding = PTHREAD_MUTEX_INITIALIZER;
static uint32_t n_capturing; /* streams whose capture was seen to start; `holding` is held */

/* loadKernel() loads a module and gets its function right after, in one thread. */
static _Thread_local struct {
	void *module;
	const void *image; /* NULL: it was a file */
	char *path;        /* not an array: a library opened late gets little thread-local storage */
} last;

void cuda_after_fork(void)
{
	pthread_mutex_init(&lock, NULL);
	pthread_mutex_init(&holding, NULL);
	n_capturing = 0;
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

void cuda_loaded(void *module, const void *image, const char *path)
{
	last.module = module;
	last.image = image;
	free(last.path);
	last.path = path ? strdup(path) : NULL;
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

/* ---- captures, and waiting ---- */

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

void cuda_capture_begins(void) { pthread_mutex_lock(&holding); }

void cuda_capture_begun(bool capturing)
{
	n_capturing += capturing;
	pthread_mutex_unlock(&holding);
}

void cuda_capture_ended(void)
{
	pthread_mutex_lock(&holding);
	n_capturing -= n_capturing > 0;
	pthread_mutex_unlock(&holding);
}

int cuda_wait(void *stream)
{
	int mode = cuda_relax_capture();
	int r = cuda.stream_synchronize(stream);
	cuda_restore_capture(mode);
	return r;
}

/* Prevents captures until `holding` is released. False: one is in progress. */
static bool hold(void)
{
	pthread_mutex_lock(&holding);
	if (!n_capturing)
		return true;
	pthread_mutex_unlock(&holding);
	return false;
}

/* Earlier work on other streams may fail while this call runs, and would be attributed to it. A context with a stream being captured cannot
 * be waited for: that would end the capture (cuStreamBeginCapture in cuda.h). */
int cuda_wait_all(void *stream)
{
	int r;
	if (!cuda.ctx_synchronize || !hold())
		return cuda_wait(stream);
	int mode = cuda_relax_capture();
	r = cuda.ctx_synchronize();
	cuda_restore_capture(mode);
	pthread_mutex_unlock(&holding);
	return r;
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

/* ---- the parameters of a launch ---- */

/* Unknown number: as many as point into this thread's stack above the call. */
static void words_on_stack(struct ops_thread *t, const struct ops_open *o, struct cuda_words *w)
{
	const uintptr_t from = o->sp, to = ops_stack_top(t) & ~(uintptr_t)7;
	for (uintptr_t at = (uintptr_t)o->launch.params; w->n < CUDA_PARAMS && at >= from && at + 8 <= to; at += 8) {
		uintptr_t p = *(const uintptr_t *)at;
		if (p < from || p + 8 > to)
			break;
		memcpy(&w->word[w->n++], (const void *)p, 8);
	}
}

void cuda_words(struct ops_thread *t, const struct ops_open *o, struct cuda_words *w)
{
	const struct cuda_launch *l = &o->launch;
	w->n = 0;
	memset(w->size, 0, sizeof(w->size));
	if (!l->kernel || !l->params)
		return;
	if (!l->function || l->function->n_params == NONE) {
		words_on_stack(t, o, w);
		return;
	}
	for (uint32_t i = 0; i < l->function->n_params && i < CUDA_PARAMS; i++) {
		size_t size = l->function->size[i], n = size < 8 ? size : 8;
		w->word[i] = 0;
		w->size[i] = (uint8_t)(size < 255 ? size : 255);
		if (l->params[i])
			memcpy(&w->word[i], l->params[i], n);
		w->n = i + 1;
	}
}

/* ---- the driver ---- */

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
			p = torch_import(o, want[i].name);
		memcpy(want[i].to, &p, sizeof(p));
	}
	if (lib)
		dlclose(lib);
	else
		dlerror();
}
