/* Libraries and kernels (CUDA 12): a module that is loaded on a device when its functions are used there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { MAX_IMAGE = 64 << 20 };

struct kernel {
	struct kernel *next;
	struct library *library;
	char *name;
};

struct library {
	struct library *next;
	char *image;
	size_t bytes; /* 0: as its headers say */
	struct module *module[MAX_DEVICES];
	struct kernel *kernels;
};
static struct library *libraries;

static struct kernel *kernel_of(const void *handle)
{
	for (struct library *l = libraries; l; l = l->next)
		for (struct kernel *k = l->kernels; k; k = k->next)
			if (k == handle)
				return k;
	return NULL;
}

static int function_of(struct device *d, struct library *l, const char *name, struct function **f)
{
	struct module **m = &l->module[d->index];
	int rc = *m ? CUDA_SUCCESS : fake_load(d, l->image, l->bytes, m);
	return rc ? rc : fake_get_function(*m, name, f);
}

struct function *fake_function_of(struct device *d, void *handle)
{
	struct kernel *k = kernel_of(handle);
	struct function *f = handle;
	if (k)
		return function_of(d, k->library, k->name, &f) ? NULL : f;
	return fake_is_function(f) ? f : NULL;
}

static int new_library(struct device *d, const char *image, size_t bytes, struct library **out)
{
	struct library l = {.image = (char *)(uintptr_t)image, .bytes = bytes};
	int rc = fake_load(d, image, bytes, &l.module[d->index]);
	if (rc)
		return rc;
	*out = fake_alloc(sizeof(l));
	**out = l;
	(*out)->next = libraries;
	libraries = *out;
	return CUDA_SUCCESS;
}

/* The code must stay where it is, as with CU_LIBRARY_BINARY_IS_PRESERVED. */
int cuLibraryLoadData(struct library **out, const void *code, int *jit, void **jit_values, unsigned n_jit, int *options, void **values,
		      unsigned n)
{
	struct device *d;
	int rc = fake_enter(&d);
	(void)jit, (void)jit_values, (void)n_jit, (void)options, (void)values, (void)n;
	rc = rc ? rc : code ? new_library(d, code, 0, out) : CUDA_ERROR_INVALID_VALUE;
	return fake_leave(rc, "cuLibraryLoadData");
}

int cuLibraryLoadFromFile(struct library **out, const char *path, int *jit, void **jit_values, unsigned n_jit, int *options, void **values,
			  unsigned n)
{
	struct device *d;
	int rc = fake_enter(&d);
	FILE *f = rc ? NULL : fopen(path, "re");
	(void)jit, (void)jit_values, (void)n_jit, (void)options, (void)values, (void)n;
	if (!rc && !f)
		rc = CUDA_ERROR_FILE_NOT_FOUND;
	if (f) {
		char *image = fake_alloc(MAX_IMAGE);
		size_t got = fread(image, 1, MAX_IMAGE - 1, f);
		fclose(f);
		rc = new_library(d, image, got + 1, out);
		if (rc)
			free(image);
	}
	return fake_leave(rc, "cuLibraryLoadFromFile %s", path);
}

int cuLibraryGetKernel(struct kernel **out, struct library *l, const char *name)
{
	struct device *d;
	struct function *f;
	int rc = fake_enter(&d);
	rc = rc ? rc : function_of(d, l, name, &f);
	for (struct kernel *k = rc ? NULL : l->kernels; k; k = k->next)
		if (!strcmp(k->name, name)) {
			*out = k;
			return fake_leave(rc, "cuLibraryGetKernel %s", name);
		}
	if (!rc) {
		*out = fake_alloc(sizeof(**out));
		**out = (struct kernel){.next = l->kernels, .library = l, .name = strdup(name)};
		l->kernels = *out;
	}
	return fake_leave(rc, "cuLibraryGetKernel %s", name);
}

static int kernel_call(const void *handle, struct kernel **k, struct device **d)
{
	int rc = fake_enter(d);
	*k = kernel_of(handle);
	return rc || *k ? rc : CUDA_ERROR_INVALID_HANDLE;
}

int cuKernelGetFunction(struct function **out, void *kernel)
{
	struct device *d;
	struct kernel *k;
	int rc = kernel_call(kernel, &k, &d);
	rc = rc ? rc : function_of(d, k->library, k->name, out);
	return fake_leave(rc, "cuKernelGetFunction");
}

int cuKernelGetName(const char **name, void *kernel)
{
	struct device *d;
	struct kernel *k;
	int rc = kernel_call(kernel, &k, &d);
	rc = rc ? rc : fake_newer();
	if (!rc)
		*name = k->name;
	return fake_leave(rc, "cuKernelGetName");
}

int cuKernelGetParamInfo(void *kernel, size_t i, size_t *offset, size_t *size)
{
	struct device *d;
	struct kernel *k;
	struct function *f = NULL;
	int rc = kernel_call(kernel, &k, &d);
	rc = rc ? rc : fake_newer();
	rc = rc ? rc : function_of(d, k->library, k->name, &f);
	rc = rc || i < f->n_params ? rc : CUDA_ERROR_INVALID_VALUE;
	if (!rc) {
		*offset = f->offset[i];
		if (size)
			*size = f->size[i];
	}
	return fake_leave(rc, "cuKernelGetParamInfo %zu", i);
}
