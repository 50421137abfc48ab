/* host.c - services that a model needs from its host besides tensors: checks, warnings, printing, profiler ranges, ops without a C
 * function. */
#include "aten/elem.h"
#include "aten/ops.h"
#include "shim.h"

#include "tensor/write.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- throwing errors ---- */

/* In libtorch this throws, from inside a kernel; the model catches std::exception around it. We do the same with the
 * C++ runtime's own functions: the model brought it along. */
static _Noreturn void throw(const char *text)
{
	typedef void *allocate_function(size_t size);
	typedef void construct_function(void *self, const char *text);
	typedef void throw_function(void *object, void *type, void (*destroy)(void *));
	void *cxx = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
	if (!cxx)
		cxx = RTLD_DEFAULT;
	/* dlsym() gives functions as data pointers */
	union {
		void *p;
		allocate_function *f;
	} allocate = {dlsym(cxx, "__cxa_allocate_exception")};
	union {
		void *p;
		construct_function *f;
	} construct = {dlsym(cxx, "_ZNSt13runtime_errorC1EPKc")};
	union {
		void *p;
		throw_function *f;
	} throw_it = {dlsym(cxx, "__cxa_throw")};
	union {
		void *p;
		void (*f)(void *);
	} destroy = {dlsym(cxx, "_ZNSt13runtime_errorD1Ev")};
	void *type = dlsym(cxx, "_ZTISt13runtime_error");
	enum { SIZE_OF_RUNTIME_ERROR = 16 }; /* libstdc++'s ABI: a table and a string's pointer */
	if (allocate.p && construct.p && throw_it.p && destroy.p && type) {
		void *e = allocate.f(SIZE_OF_RUNTIME_ERROR);
		construct.f(e, text);
		throw_it.f(e, type, destroy.f);
	}
	dprintf(2, "%s\n", text);
	abort();
}

void aoti_torch_check(bool cond, const char *func, const char *file, uint32_t line, const char *msg)
{
	char text[1024];
	if (cond)
		return;
	snprintf(text, sizeof(text), "%s (%s, %s:%u)", msg, func, file, line);
	aten_note(text);
	throw(text);
}

void aoti_torch_warn(const char *func, const char *file, uint32_t line, const char *msg)
{
	dprintf(2, "Warning: %s (%s, %s:%u)\n", msg, func, file, line);
}

/* ---- ops and values of the dispatcher ---- */

SHIM_OP(aoti_torch_call_dispatcher(const char *op, const char *overload, uint64_t *stack), (void)stack;
	aten_fail("%s%s%s has no C function: it needs libtorch", op, *overload ? "." : "", overload))

/* Values for the profiler: not used. */
AOTITorchError aoti_torch_int64_to_ivalue(int64_t v, void **ret)
{
	(void)v;
	*ret = NULL;
	return 0;
}
AOTITorchError aoti_torch_strlist_to_ivalue(const char **v, int64_t n, void **ret)
{
	(void)v, (void)n;
	*ret = NULL;
	return 0;
}
AOTITorchError aoti_torch_str_to_ivalue(const char *v, void **ret)
{
	(void)v;
	*ret = NULL;
	return 0;
}
AOTITorchError aoti_torch_tensor_to_ivalue(AtenTensorHandle v, void **ret)
{
	(void)v;
	*ret = NULL;
	return 0;
}
AOTITorchError aoti_torch_delete_c10_value_object(void *v)
{
	(void)v;
	return 0;
}

AOTITorchError aoti_record_function_start(const char *name, void *kwargs, void *const *inputs, uint64_t n, void **guard)
{
	(void)name, (void)kwargs, (void)inputs, (void)n;
	*guard = NULL;
	return 0;
}
AOTITorchError aoti_record_function_end(void *guard)
{
	(void)guard;
	return 0;
}

/* ---- devices: there is only one, and nothing to guard ---- */

AOTITorchError aoti_torch_create_device_guard(int32_t index, void **ret)
{
	(void)index;
	*ret = NULL;
	return 0;
}
AOTITorchError aoti_torch_delete_device_guard(void *guard)
{
	(void)guard;
	return 0;
}
AOTITorchError aoti_torch_device_guard_set_index(void *guard, int32_t index)
{
	(void)guard, (void)index;
	return 0;
}
SHIM_OP(aoti_torch_get_current_stream(int32_t index, void **ret), (void)index, (void)ret; aten_fail("the CPU has no streams"))

/* ---- looking at tensors (a model compiled with PyTorch's own debug printer) ---- */

AOTITorchError aoti_torch_check_inf_and_nan(const char *name, AtenTensorHandle t)
{
	SHIM_TRY {
		int64_t n = aten_numel(t), bad = 0;
		if (aten_is_float(t->dtype) || aten_is_complex(t->dtype)) {
			const int wide = aten_is_complex(t->dtype) ? DTYPE_C128 : DTYPE_F64;
			const double *v = (const double *)aten_data(aten_to_copy(t, wide, ATEN_CONTIGUOUS));
			for (int64_t i = 0; i < (aten_is_complex(t->dtype) ? 2 * n : n); i++)
				bad += !isfinite(v[i]);
		}
		if (bad)
			aten_fail("At least one INF or NAN in %s", name);
	}
	SHIM_END
}

static void print_list(const char *what, const int64_t *v, int n)
{
	printf("%s: [", what);
	for (int i = 0; i < n; i++)
		printf("%s%lld", i ? ", " : "", (long long)v[i]);
	printf("]\n");
}

static void print_tensor(const struct aten_tensor *t, const char *msg)
{
	int64_t n = aten_numel(t);
	printf("[");
	printf("  %s  ]:\n", msg);
	printf("Number of elements: %lld\nDtype: %s\n", (long long)n, dtype_name(t->dtype));
	if (n && !aten_is_complex(t->dtype)) {
		const double *v = (const double *)aten_data(aten_to_copy(t, DTYPE_F64, ATEN_CONTIGUOUS));
		double sum = 0, lo = v[0], hi = v[0];
		for (int64_t i = 0; i < n; i++) {
			sum += v[i];
			lo = v[i] < lo || v[i] != v[i] ? v[i] : lo;
			hi = v[i] > hi || v[i] != v[i] ? v[i] : hi;
		}
		printf("Mean value: %g\nMin value: %g\nMax value: %g\n", sum / (double)n, lo, hi);
	}
	printf("Device: cpu\n");
	print_list("Size", t->size, t->n_dim);
	print_list("Stride", t->stride, t->n_dim);
	printf("Layout: strided\nIs contiguous: %d\nRequires grad: 0\n\n", aten_is_contiguous(t));
	fflush(stdout);
}

/* torch's lines (torch/csrc/inductor/aoti_torch/aten_common.cpp), without the elements themselves. */
void aoti_torch_print_tensor_handle(AtenTensorHandle t, const char *msg)
{
	ATEN_TRY(__func__) { print_tensor(t, msg); }
	ATEN_END;
}

/* As libtorch does (aten_common.cpp): one file per tensor in tmp/aoti_torch/ of the current folder. */
void aoti_torch_save_tensor_handle(AtenTensorHandle t, const char *tensor_name, const char *launch_prefix, const char *kernel_name)
{
	char path[4096];
	struct err err = {0};
	struct tensor_view v = {.meta = {.dtype = t->dtype, .device = DEVICE_CPU, .device_index = -1, .n_dim = t->n_dim},
				.data = aten_data(t)};
	memcpy(v.meta.size, t->size, (size_t)t->n_dim * sizeof(*t->size));
	memcpy(v.meta.stride, t->stride, (size_t)t->n_dim * sizeof(*t->stride));
	snprintf(path, sizeof(path), "tmp/aoti_torch/%s_%s_%s_cpu.pt", launch_prefix, kernel_name, tensor_name);
	int fd = -1;
	if ((mkdir("tmp", 0777) == 0 || errno == EEXIST) && (mkdir("tmp/aoti_torch", 0777) == 0 || errno == EEXIST))
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		err_errno(&err, EXIT_ENVIRON, "cannot write '%s'", path);
	else
		tensor_write(fd, TENSOR_PT, &v, 1, path, &err);
	if (fd >= 0)
		close(fd);
	if (err.text[0])
		dprintf(2, "aoti_torch_save_tensor_handle: %s\n", err.text);
}
