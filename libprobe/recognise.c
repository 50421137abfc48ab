/* recognise.c - the functions that reveal a model: what crti.o calls in every object, and libtorch's own, forwarded to it. */
#include "probe.h"

#include <dlfcn.h>
#include <errno.h>

#define EXPORT __attribute__((visibility("default")))

/* Name, and torch's number (torch/headeronly/core/DeviceType.h, ScalarType.h, Layout.h), which is part of the stable C
 * ABI: for a process that has no libtorch at all. */
/* clang-format off */
#define CONSTANTS(X) \
	X(aoti_torch_device_type_cpu, 0) X(aoti_torch_device_type_cuda, 1) X(aoti_torch_device_type_xpu, 12) \
	X(aoti_torch_device_type_mps, 13) X(aoti_torch_device_type_meta, 14) X(aoti_torch_device_type_privateuse1, 20) \
	X(aoti_torch_dtype_uint8, 0) X(aoti_torch_dtype_int8, 1) X(aoti_torch_dtype_int16, 2) \
	X(aoti_torch_dtype_int32, 3) X(aoti_torch_dtype_int64, 4) X(aoti_torch_dtype_float16, 5) \
	X(aoti_torch_dtype_float32, 6) X(aoti_torch_dtype_float64, 7) X(aoti_torch_dtype_complex32, 8) \
	X(aoti_torch_dtype_complex64, 9) X(aoti_torch_dtype_complex128, 10) X(aoti_torch_dtype_bool, 11) \
	X(aoti_torch_dtype_bfloat16, 15) X(aoti_torch_dtype_float8_e5m2, 23) X(aoti_torch_dtype_float8_e4m3fn, 24) \
	X(aoti_torch_dtype_float8_e5m2fnuz, 25) X(aoti_torch_dtype_float8_e4m3fnuz, 26) \
	X(aoti_torch_dtype_uint16, 27) X(aoti_torch_dtype_uint32, 28) X(aoti_torch_dtype_uint64, 29) \
	X(aoti_torch_layout_strided, 0)

enum constant {
#define ID(name, number) ID_##name,
	CONSTANTS(ID)
#undef ID
	N_CONSTANTS
};
static const struct {
	const char *name;
	int32_t number;
} constant[] = {
#define ROW(name, number) {#name, number},
	CONSTANTS(ROW)
#undef ROW
};
/* clang-format on */

typedef int32_t (*constant_fn)(void);
typedef bool (*grad_fn)(void);
static _Atomic(constant_fn) real[N_CONSTANTS];

/* Python loads libtorch outside the global scope, where RTLD_NEXT does not see it. The library is then kept:
 * nobody unloads libtorch, and a pointer into it must not outlive it. */
static void *find_real(const char *name)
{
	void *p = dlsym(RTLD_NEXT, name);
	static void *_Atomic torch;
	if (!p && !torch)
		torch = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
	if (!p && torch)
		p = dlsym(torch, name);
	if (!p)
		dlerror(); /* hides our lookup from the process's next dlerror() */
	return p;
}

/* The order matters: __gmon_start__ is also called by libraries initialised before libc, when the environment is not available. */
static void look_at_caller(const void *caller)
{
	static const struct probe_entries ours = {entry_address, ops_import_address};
	struct object o;
	if (object_at(caller, &o) && model_like(&o) && talk_on() && probe_enter()) {
		model_look(&o, &ours);
		probe_leave();
	}
}

/* Called by DT_INIT of every object linked with glibc's crti.o (sysdeps/x86_64/crti.S and aarch64's, all releases), before its
 * initialisers, from its own code. It belongs to the profiler: a program built with -pg has its own, which that program calls. */
EXPORT void __gmon_start__(void);
EXPORT void __gmon_start__(void)
{
	int saved = errno;
	look_at_caller(__builtin_return_address(0));
	errno = saved;
}

static int32_t answer(enum constant which, const void *caller)
{
	int saved = errno;
	look_at_caller(caller);
	constant_fn fn = atomic_load_explicit(&real[which], memory_order_acquire);
	if (!fn && (fn = (constant_fn)find_real(constant[which].name)))
		atomic_store_explicit(&real[which], fn, memory_order_release);
	errno = saved;
	return fn ? fn() : constant[which].number;
}

#define DEFINE(name, number) \
	EXPORT int32_t name(void); \
	EXPORT int32_t name(void) { return answer(ID_##name, __builtin_return_address(0)); }
CONSTANTS(DEFINE)

/* The first thing that each run of a model calls (AOTINoGradGuard; torch 2.13 and 2.15,
 * torch/_inductor/codegen/aoti_runtime/interface.cpp). A run not through our functions was fetched before the model was known. */
EXPORT bool aoti_torch_grad_mode_is_enabled(void);
EXPORT bool aoti_torch_grad_mode_is_enabled(void)
{
	static _Atomic(grad_fn) real_grad;
	const void *caller = __builtin_return_address(0);
	int saved = errno;
	if (!probe_expects_run && talk_on())
		model_entered(caller);
	probe_expects_run = false;
	grad_fn fn = atomic_load_explicit(&real_grad, memory_order_acquire);
	if (!fn && (fn = (grad_fn)find_real("aoti_torch_grad_mode_is_enabled")))
		atomic_store_explicit(&real_grad, fn, memory_order_release);
	errno = saved;
	return fn ? fn() : true;
}
