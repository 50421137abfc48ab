/* cuda_slots.c - the functions that a model's slots contain instead of the driver's that load modules and find functions in them. */
#include "cuda.h"

#include "ops.h"

#include <errno.h>

static int module_load(void **module, const char *file)
{
	int r = cuda.module_load(module, file);
	if (!r)
		cuda_loaded(*module, NULL, file);
	return r;
}

static int module_load_data(void **module, const void *image)
{
	int r = cuda.module_load_data(module, image);
	if (!r)
		cuda_loaded(*module, image, NULL);
	return r;
}

static int module_load_data_ex(void **module, const void *image, unsigned n, int *options, void **values)
{
	int r = cuda.module_load_data_ex(module, image, n, options, values);
	if (!r)
		cuda_loaded(*module, image, NULL);
	return r;
}

static int module_load_fat_binary(void **module, const void *image)
{
	int r = cuda.module_load_fat_binary(module, image);
	if (!r)
		cuda_loaded(*module, NULL, NULL);
	return r;
}

static int library_load_data(void **library, const void *code, int *jit, void **jit_values, unsigned n_jit, int *options, void **values,
			     unsigned n)
{
	int r = cuda.library_load_data(library, code, jit, jit_values, n_jit, options, values, n);
	if (!r)
		cuda_loaded(*library, code, NULL);
	return r;
}

static int library_load_file(void **library, const char *file, int *jit, void **jit_values, unsigned n_jit, int *options, void **values,
			     unsigned n)
{
	int r = cuda.library_load_file(library, file, jit, jit_values, n_jit, options, values, n);
	if (!r)
		cuda_loaded(*library, NULL, file);
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
