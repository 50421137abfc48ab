/* cuda.h - kernels that a model launches on a GPU: CUDA's driver API as AOTInductor's code uses it.
 *
 * The code of a model for CUDA does this (torch 2.13, torch/_inductor/codegen/cuda/device_op_overrides.py, kernel_driver(), and
 * cpp_wrapper_gpu.py, generate_launch_kernel()): for each Triton kernel, once, cuModuleLoad(FILE.cubin) or cuModuleLoadData(start),
 * then cuModuleGetFunction(&f, module, "triton_poi_fused_add_0"); for each call
 *
 *     CUdeviceptr var_0 = reinterpret_cast<CUdeviceptr>(in_ptr0.data_ptr());      // aoti_torch_get_data_ptr, as on the CPU
 *     int var_1 = xnumel; CUdeviceptr global_scratch_2 = 0;
 *     void *kernel_args_[] = {&var_0, &var_1, &global_scratch_2};
 *     cuLaunchKernel(f, grid_0, grid_1, grid_2, 32 * num_warps, 1, 1, shared, stream, kernel_args_, nullptr)
 *
 * The model's own slots of these are changed like all others (sites.c). Function handles are known by name from cuModuleGetFunction
 * on (cuda.c); a launch becomes a call of the kernel of that name, by a site that has no stub (cuda_launch.c). How many
 * parameters there are and how long says the driver (cuFuncGetParamInfo, CUDA 12.4), else the cubin's own table; where neither
 * does, they are read as far as their pointers lie on this thread's stack. Which of them are tensors: their addresses were asked for.
 *
 * Seen in the same way: cuModuleLoadDataEx and cuModuleLoadFatBinary; libraries (cuLibraryLoadData, cuLibraryLoadFromFile,
 * cuLibraryGetKernel), whose CUkernel may be launched as it is or be asked for its function (cuKernelGetFunction); cuLaunchKernelEx and
 * cuLaunchCooperativeKernel; all that take a stream also as NAME_ptsz. A handle that came another way (cuGetProcAddress, dlsym; no code
 * that torch 2.13 generates uses them) is asked for its name (cuFuncGetName, cuKernelGetName, CUDA 12.3); where that is not to be had,
 * it is "(unnamed kernel)". A function that launches and was itself found by dlsym() is not seen.
 *
 * CUTLASS kernels (torch/_inductor/codegen/cutlass): nvcc compiles each to an object that is linked into the model, with a function
 * cutlass_fused_mm_HASH(pointers, ..., stream) that Run calls by a slot. That call is watched as a C++ kernel's is; what it launches
 * belongs to it (cuda_inside). It launches by the runtime: cudaLaunchKernel, cudaLaunchKernelExC, cudaLaunchCooperativeKernel, and
 * nvcc's own __cudaGetKernel and __cudaLaunchKernel (<<<>>>, since CUDA 12.8 at the latest). cpp_builder.py links models to
 * libcuda.so.1 and libtorch_cuda.so, which brings libcudart.so.N: then there are slots. A model that is linked to libcudart_static.a
 * (is_fbcode(), and the CMakeLists.txt that package_cpp_only writes) has none: its function is seen, its launches are not. Names:
 * cuda_runtime.c.
 * A parameter that is a structure is looked at in its first eight bytes: tensors are told by the function's own arguments.
 *
 * Values (cuda_read.c) are copied on the stream that the call was made on, and waited for. Never while that stream is being
 * captured into a graph: such a launch is named, and no more. Statistics of larger tensors of floating-point numbers are made on the
 * device (cuda_reduce.c). A graph that holds such launches is told ("graph" event), and its replays by whoever makes them are calls of
 * "cuda_graph[N]" outside of any Run (cuda_graph.c says how they are seen).
 *
 * With CALLS_SYNC (cuda_fault.c) each launch and each op is waited for, on its own stream; before it, all that the GPU was given on
 * whatever stream, so that a fault of other work is not told as this call's (while a graph is captured its own stream alone). An
 * error of the driver is told once, as a "device-fault" event, with everything that is known of the call. All errors that matter here
 * are sticky: whatever is called later returns
 * the same. Before a launch its tensors are looked at: "device-finding" events.
 *
 * With CALLS_SYNC a replay of a graph is waited for as one call, and its fault tells the calls that were captured, in order: which of them
 * it was the driver does not say.
 *
 * Functions of the driver are looked up when a model that imports them is taken on, in the libcuda.so.1 that the process has; nothing
 * links it. Not seen: kernels that libtorch launches itself (they count as the op that was called); graphs that are replayed by functions
 * which dlsym() or cuGetProcAddress gave, whose address was kept before, or by a runtime that is linked statically.
 */
#ifndef PT2_PROBE_CUDA_H
#define PT2_PROBE_CUDA_H
#include "base/base.h"

#include <stdatomic.h>

struct model;
struct ops_open;
struct ops_regs;
struct ops_run;
struct ops_site;
struct ops_thread;
struct ops_view;
struct object;
struct tensor_stats;

/* ---- cuda.c: the driver, modules, functions ---- */

#define CUDA_SUCCESS 0
#define CUDA_CAPTURE_RELAXED 2      /* CU_STREAM_CAPTURE_MODE_RELAXED */
#define CUDA_PER_THREAD ((void *)2) /* CU_STREAM_PER_THREAD */
#define CUDA_PARAMS 128             /* of a kernel; more are not looked at */

/* cuda.h of the CUDA toolkit: the ABI of the driver, which does not change. */
struct cuda_driver {
	/* what the model's slots held */
	int (*module_load)(void **module, const char *file);
	int (*module_load_data)(void **module, const void *image);
	int (*module_load_data_ex)(void **module, const void *image, unsigned n, int *options, void **values);
	int (*module_load_fat_binary)(void **module, const void *image);
	int (*module_get_function)(void **function, void *module, const char *name);
	int (*library_load_data)(void **library, const void *code, int *jit, void **jit_values, unsigned n_jit, int *options, void **values,
				 unsigned n);
	int (*library_load_file)(void **library, const char *file, int *jit, void **jit_values, unsigned n_jit, int *options, void **values,
				 unsigned n);
	int (*library_get_kernel)(void **kernel, void *library, const char *name);
	int (*kernel_get_function)(void **function, void *kernel);
	int (*runtime_get_kernel)(void **kernel, void *symbol);
	/* our own kernels (cuda_reduce.c) */
	int (*load_text)(void **module, const void *text);
	int (*get_function)(void **function, void *module, const char *name);
	int (*launch)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
		      void *stream, void **params, void **extra);
	int (*mem_alloc)(uint64_t *address, size_t n);
	int (*ctx_get_current)(void **context);
	int (*param_info)(void *function, size_t i, size_t *offset, size_t *size);      /* CUDA 12.4 */
	int (*kernel_param_info)(void *kernel, size_t i, size_t *offset, size_t *size); /* 12.4 */
	int (*func_get_name)(const char **name, void *function);                        /* 12.3 */
	int (*kernel_get_name)(const char **name, void *kernel);                        /* 12.3 */
	int (*ctx_get_device)(int *device);
	int (*ctx_synchronize)(void);
	int (*stream_synchronize)(void *stream);
	int (*stream_is_capturing)(void *stream, int *status);
	/* Whichever of cuStreamGetCaptureInfo, _v2 and _v3 there is: they take the first 3, 6 and 7 of these. */
	int (*capture_info)(void *stream, int *status, uint64_t *id, void **graph, const void ***nodes, const void **edges, size_t *n);
	int (*exchange_capture_mode)(int *mode);
	int (*memcpy_dtoh_async)(void *to, uint64_t from, size_t n, void *stream);
	int (*address_range)(uint64_t *base, size_t *size, uint64_t address);
	int (*pointer_attribute)(void *to, int attribute, uint64_t address);
	int (*device_attribute)(int *to, int attribute, int device);
	int (*error_name)(int error, const char **text);
	int (*error_string)(int error, const char **text);
};
extern struct cuda_driver cuda;

struct cuda_function {
	void *handle; /* a CUfunction, a CUkernel, or the address of the host's function (cuda_runtime.c) */
	char *name;
	uint32_t name_id;      /* of the log */
	bool passes;           /* the filters, by its name */
	_Atomic uint32_t site; /* OPS_SITES: not launched yet */
	_Atomic bool gone;     /* its library was unloaded */
	uint32_t n_params;     /* NONE: not known */
	uint16_t size[CUDA_PARAMS];
};

/* Is this slot one of the driver's functions that functions are learned by? Then it is ours from now on. */
bool cuda_take_slot(struct model *m, uintptr_t *at, void *target, const char *name);
/* Find the driver. */
void cuda_open(const struct object *o);
/* NULL: never seen. No lock. */
struct cuda_function *cuda_function_of(void *handle);
/* The same, and the driver is asked where it was never seen. kernel: it is a CUkernel; else it may be either. */
struct cuda_function *cuda_function_ask(void *handle, bool kernel);
/* Who knows how long a kernel's parameters are; NULL members are not asked. */
struct cuda_params_by {
	void *function, *kernel;
};
/* A new one. module: what was loaded last by this thread may be it, and has a table. NULL: no room. */
struct cuda_function *cuda_learn(void *handle, const void *module, const char *name, const struct cuda_params_by *by);
/* The sites of this model are gone. */
void cuda_forget(const struct model *m);
void cuda_after_fork(void);

/* Another thread may be capturing, in the mode in which nobody may wait, load or take memory (cudaStreamCaptureModeGlobal). What we do
 * is not meant: between these two it is allowed. */
int cuda_relax_capture(void);
void cuda_restore_capture(int mode);
/* Is this stream being captured? */
bool cuda_capturing(void *stream);

/* ---- cuda_elf.c ---- */

/* The bytes of a file; empty when it cannot be mapped. */
struct slice cuda_map_file(const char *path);
void cuda_unmap_file(struct slice file);
/* Sizes of the parameters of a kernel by its cubin, or by a cubin of a fat binary (model/elf/cubin.h). -1: not known. */
int cuda_params_of_image(struct slice image, const char *kernel, uint16_t *size, uint32_t max);
int cuda_params_of_file(const char *path, const char *kernel, uint16_t *size, uint32_t max);
/* The length that a cubin or a fat binary in memory says it has; 0: it is none. */
size_t cuda_image_length(const void *image);
/* The function at this address of an ELF64 file: .symtab, else .dynsym. False: there is none, or its name does not fit. */
bool cuda_symbol_at(struct slice file, uint64_t address, char *name, size_t room);

/* ---- cuda_runtime.c: kernels that were compiled into the model (nvcc: CUTLASS) and are known by the address of a function on the
 * host ---- */

/* target: the runtime's function that launches it. NULL: it has no name. */
struct cuda_function *cuda_function_by_symbol(const void *target, void *symbol);
/* This CUkernel is what it stands for. */
void cuda_learn_symbol(void *kernel, const void *symbol);

/* ---- cuda_launch.c ---- */

/* A function that launches: how its arguments stand. */
struct cuda_form {
	const char *name;
	enum { CUDA_ARGS, CUDA_CONFIG, CUDART_ARGS } how;
	uint32_t words;  /* of arguments on the stack */
	bool symbol;     /* the function is known by an address on the host */
	bool kernel;     /* it is a CUkernel */
	bool per_thread; /* no stream: this thread's */
};
/* NULL: it launches nothing. */
const struct cuda_form *cuda_form_of(const char *name);

struct cuda_launch {
	bool gpu;        /* the call is made on a GPU's stream */
	bool kernel;     /* a launch: what follows is known */
	bool captured;   /* into a graph */
	uint32_t graph;  /* which (cuda_graph.c); 0: not known */
	uint32_t inside; /* launches that a function of the model has made itself: what follows is the last one's, but for params */
	uint32_t grid[3], block[3], shared;
	void *stream;
	void **params;
	struct cuda_function *function; /* NULL: not known */
};

/* Finds the kernel that is launched here: gives its site, and fills *l. */
const struct ops_site *cuda_launch(struct ops_run *run, const struct ops_site *s, const struct ops_regs *r, const uint64_t *stack,
				   struct cuda_launch *l);
/* Is it launched inside of an open call, by a function of the model? Then it is told as a part of that. */
bool cuda_inside(struct ops_thread *t, struct ops_run *run, const struct ops_site *s, const struct ops_regs *r, const uint64_t *stack);
/* Fills in the stream of an op of a model for a GPU. */
void cuda_op(const struct model *m, struct cuda_launch *l);
struct cuda_words {
	uint32_t n;
	uint64_t word[CUDA_PARAMS];
	uint8_t size[CUDA_PARAMS]; /* 0: not known */
};
/* The parameters of an open launch. */
void cuda_words(struct ops_thread *t, const struct ops_open *o, struct cuda_words *w);
/* Its CALL_LAUNCH record. */
void cuda_tell_launch(struct ops_thread *t, const struct ops_run *run, struct ops_open *o);

/* ---- cuda_read.c ---- */

#define CUDA_STAGE (16u << 20) /* bytes that are copied at a time */
#define CUDA_WHOLE (1u << 30)  /* a tensor that is not dense is copied whole, up to this */

/* From now on this thread reads device memory on this stream, if it may. */
void cuda_look_on(struct ops_thread *t, const struct model *m, void *stream);
void cuda_look_away(struct ops_thread *t);
/* May a tensor on a GPU be read? */
bool cuda_readable(void);
bool cuda_copy(void *to, const void *from, size_t n);
/* .known false when it could not be read. */
void cuda_stats(const struct ops_view *v, int what, struct tensor_stats *s);
/* n bytes in memory of their own; NULL. cuda_drop() frees them. */
void *cuda_fetch(const void *from, size_t n);
void cuda_drop(void *p, size_t n);

/* ---- cuda_reduce.c ---- */

#define CUDA_SMALL (64u << 10) /* bytes that are copied rather than looked at on the device */
/* The same of n elements that lie one behind the other, made on the device. False: copy them. */
bool cuda_reduce(int dtype, const void *data, uint64_t n, struct tensor_stats *s);

/* ---- cuda_graph.c: captured calls, and who replays them ---- */

/* From now on the process's own calls that make and launch graphs are seen: of all libraries that are loaded. */
void cuda_graph_open(void);
/* This call is captured on that stream: the number of its graph, from 1; 0: that cannot be told. */
uint32_t cuda_graph_take(uint32_t model, uint32_t name, void *stream);
/* Nothing is captured, and nothing will be until it is let go. False: something is. */
bool cuda_graph_hold(void);
void cuda_graph_let_go(void);
void cuda_graph_after_fork(void);

/* ---- cuda_fault.c ---- */

/* Wait for this stream; the driver's error. */
int cuda_wait(void *stream);
/* The same for all that this GPU was given, where that may be done; else for this stream. */
int cuda_wait_all(void *stream);
/* A replay has failed: once for a process, as all faults. */
struct cuda_replay {
	uint32_t model, graph, call, captured;
	uint32_t name;       /* of the log: "cuda_graph[1]" */
	uint64_t seq, times; /* times: how many with this one */
	void *stream;
};
/* name: the n first of the calls that were captured. */
void cuda_tell_replay(const struct cuda_replay *r, const uint32_t *name, uint32_t n, const char *when, int error);
/* With CALLS_SYNC: is the device still well, before this call? */
void cuda_before(struct ops_thread *t, struct ops_run *run, struct ops_open *o);
/* After it: was it launched, and (CALLS_SYNC) did it end well? False when it did not; then no value can be read any more. */
bool cuda_after(struct ops_thread *t, struct ops_run *run, const struct ops_open *o, int32_t result);
/* Reading its values has failed. */
void cuda_unread(struct ops_thread *t, struct ops_run *run, const struct ops_open *o);
/* Are the tensors of this launch where they should be? */
void cuda_check(struct ops_thread *t, const struct ops_run *run, const struct ops_open *o);
extern _Atomic int cuda_broken; /* the error; 0: none */

#endif
