/* fakecudart.c - the CUDA runtime over the fake driver (fakecuda.h), as far as models of AOTInductor, hosts and torch's allocator
 * use it. libcudart.so.12 with that version on its symbols, as the real one. Numbers: cuda_runtime_api.h and driver_types.h of CUDA 12;
 * those of errors are the driver's.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

extern int cuInit(unsigned), cuDeviceGetCount(int *), cuCtxGetCurrent(void **), cuCtxSetCurrent(void *), cuCtxGetDevice(int *);
extern int cuDevicePrimaryCtxRetain(void **, int), cuDeviceGetAttribute(int *, int, int), cuCtxSynchronize(void);
extern int cuMemAlloc_v2(uint64_t *, size_t), cuMemFree_v2(uint64_t), cuMemsetD8_v2(uint64_t, unsigned char, size_t);
extern int cuMemAllocAsync(uint64_t *, size_t, void *), cuMemFreeAsync(uint64_t, void *), cuMemGetInfo_v2(size_t *, size_t *);
extern int cuMemcpyHtoD_v2(uint64_t, const void *, size_t), cuMemcpyDtoH_v2(void *, uint64_t, size_t),
    cuMemcpyDtoD_v2(uint64_t, uint64_t, size_t);
extern int cuMemcpyHtoDAsync_v2(uint64_t, const void *, size_t, void *), cuMemcpyDtoHAsync_v2(void *, uint64_t, size_t, void *);
extern int cuMemcpyDtoDAsync_v2(uint64_t, uint64_t, size_t, void *), cuMemsetD8Async(uint64_t, unsigned char, size_t, void *);
extern int cuPointerGetAttribute(void *, int, uint64_t), cuGetErrorString(int, const char **), cuGetErrorName(int, const char **);
extern int cuStreamCreate(void **, unsigned), cuStreamDestroy_v2(void *), cuStreamSynchronize(void *), cuStreamQuery(void *);
extern int cuStreamWaitEvent(void *, void *, unsigned), cuStreamIsCapturing(void *, int *), cuStreamBeginCapture_v2(void *, int);
extern int cuStreamEndCapture(void *, void **), cuThreadExchangeStreamCaptureMode(int *);
extern int cuEventCreate(void **, unsigned), cuEventRecord(void *, void *), cuEventSynchronize(void *), cuEventQuery(void *);
extern int cuEventDestroy_v2(void *), cuEventElapsedTime(float *, void *, void *);
extern int cuGraphInstantiateWithFlags(void **, void *, unsigned long long), cuGraphLaunch(void *, void *), cuGraphDestroy(void *);
extern int cuGraphExecDestroy(void *), cuDriverGetVersion(int *), cuGraphInstantiateWithParams(void **, void *, void *);
extern int cuGraphClone(void **, void *), cuGraphExecUpdate_v2(void *, void *, void *), cuGraphCreate(void **, unsigned);
extern int cuGraphAddChildGraphNode(void **, void *, const void *, size_t, void *), cuFuncGetName(const char **, void *);
extern int cuLibraryLoadData(void **, const void *, int *, void **, unsigned, int *, void **, unsigned);
extern int cuLibraryGetKernel(void **, void *, const char *), cuKernelGetFunction(void **, void *);
extern int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
extern int cuLaunchCooperativeKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **);

enum { NOT_READY = 600, INVALID_VALUE = 1, DEVICE_ORDINAL = 9 /* CUpointer_attribute */ };
enum { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, BY_ADDRESS };

static _Thread_local int last;

static int note(int rc)
{
	if (rc && rc != NOT_READY)
		last = rc;
	return rc;
}

/* The first call of a thread makes device 0 its own. */
static int begin(void)
{
	void *context = NULL;
	int rc = cuInit(0);
	rc = rc ? rc : cuCtxGetCurrent(&context);
	if (rc || context)
		return rc;
	rc = cuDevicePrimaryCtxRetain(&context, 0);
	return rc ? rc : cuCtxSetCurrent(context);
}

#define CALL(expr) \
	int rc = begin(); \
	return note(rc ? rc : (expr))

int cudaGetDeviceCount(int *n)
{
	*n = 0;
	int rc = cuInit(0);
	return note(rc ? rc : cuDeviceGetCount(n));
}
int cudaGetDevice(int *device) { CALL(cuCtxGetDevice(device)); }
int cudaSetDevice(int device)
{
	void *context = NULL;
	int rc = cuInit(0);
	rc = rc ? rc : cuDevicePrimaryCtxRetain(&context, device);
	return note(rc ? rc : cuCtxSetCurrent(context));
}
int cudaDeviceSynchronize(void) { CALL(cuCtxSynchronize()); }
int cudaDeviceGetAttribute(int *value, int attribute, int device) { CALL(cuDeviceGetAttribute(value, attribute, device)); }
int cudaDriverGetVersion(int *version) { return cuDriverGetVersion(version); }
int cudaRuntimeGetVersion(int *version) { return *version = 12080, 0; }

int cudaGetLastError(void)
{
	int rc = last;
	last = 0;
	return rc;
}
int cudaPeekAtLastError(void) { return last; }
const char *cudaGetErrorString(int error)
{
	const char *text = NULL;
	cuGetErrorString(error, &text);
	return text ? text : "unrecognized error code";
}
const char *cudaGetErrorName(int error)
{
	const char *text = NULL;
	cuGetErrorName(error, &text);
	return !text          ? "unrecognized error code"
	       : error == 700 ? "cudaErrorIllegalAddress"
	       : error == 2   ? "cudaErrorMemoryAllocation"
			      : text;
}

int cudaMalloc(void **p, size_t n) { CALL(cuMemAlloc_v2((uint64_t *)p, n)); }
int cudaFree(void *p) { CALL(cuMemFree_v2((uint64_t)(uintptr_t)p)); }
int cudaMallocAsync(void **p, size_t n, void *stream) { CALL(cuMemAllocAsync((uint64_t *)p, n, stream)); }
int cudaFreeAsync(void *p, void *stream) { CALL(cuMemFreeAsync((uint64_t)(uintptr_t)p, stream)); }
int cudaMemGetInfo(size_t *left, size_t *total) { CALL(cuMemGetInfo_v2(left, total)); }
int cudaMemset(void *p, int value, size_t n) { CALL(cuMemsetD8_v2((uint64_t)(uintptr_t)p, (unsigned char)value, n)); }
int cudaMemsetAsync(void *p, int value, size_t n, void *stream)
{
	CALL(cuMemsetD8Async((uint64_t)(uintptr_t)p, (unsigned char)value, n, stream));
}

static bool on_device(const void *p)
{
	unsigned type = 0;
	return !cuPointerGetAttribute(&type, 2, (uint64_t)(uintptr_t)p) && type == 2;
}

static int kind_of(const void *to, const void *from)
{
	return on_device(to) ? (on_device(from) ? DEVICE_TO_DEVICE : HOST_TO_DEVICE) : on_device(from) ? DEVICE_TO_HOST : HOST_TO_HOST;
}

static int copy(void *to, const void *from, size_t n, int kind)
{
	kind = kind == BY_ADDRESS ? kind_of(to, from) : kind;
	if (kind == HOST_TO_HOST)
		return __builtin_memmove(to, from, n), 0;
	return kind == HOST_TO_DEVICE     ? cuMemcpyHtoD_v2((uint64_t)(uintptr_t)to, from, n)
	       : kind == DEVICE_TO_HOST   ? cuMemcpyDtoH_v2(to, (uint64_t)(uintptr_t)from, n)
	       : kind == DEVICE_TO_DEVICE ? cuMemcpyDtoD_v2((uint64_t)(uintptr_t)to, (uint64_t)(uintptr_t)from, n)
					  : INVALID_VALUE;
}

static int copy_async(void *to, const void *from, size_t n, int kind, void *stream)
{
	kind = kind == BY_ADDRESS ? kind_of(to, from) : kind;
	return kind == HOST_TO_DEVICE     ? cuMemcpyHtoDAsync_v2((uint64_t)(uintptr_t)to, from, n, stream)
	       : kind == DEVICE_TO_HOST   ? cuMemcpyDtoHAsync_v2(to, (uint64_t)(uintptr_t)from, n, stream)
	       : kind == DEVICE_TO_DEVICE ? cuMemcpyDtoDAsync_v2((uint64_t)(uintptr_t)to, (uint64_t)(uintptr_t)from, n, stream)
					  : INVALID_VALUE;
}

struct attributes {       /* cudaPointerAttributes */
	int type, device; /* type: 0 memory that the driver does not know, 2 of a GPU */
	const void *on_device, *on_host;
};

static int attributes_of(struct attributes *a, const void *p)
{
	*a = (struct attributes){.device = -2, .on_host = p};
	if (!on_device(p))
		return 0;
	*a = (struct attributes){.type = 2, .on_device = p};
	return cuPointerGetAttribute(&a->device, DEVICE_ORDINAL, (uint64_t)(uintptr_t)p);
}

int cudaPointerGetAttributes(struct attributes *a, const void *p) { CALL(attributes_of(a, p)); }

int cudaMemcpy(void *to, const void *from, size_t n, int kind) { CALL(copy(to, from, n, kind)); }
int cudaMemcpyAsync(void *to, const void *from, size_t n, int kind, void *stream) { CALL(copy_async(to, from, n, kind, stream)); }

int cudaStreamCreate(void **stream) { CALL(cuStreamCreate(stream, 0)); }
int cudaStreamCreateWithFlags(void **stream, unsigned flags) { CALL(cuStreamCreate(stream, flags)); }
int cudaStreamDestroy(void *stream) { CALL(cuStreamDestroy_v2(stream)); }
int cudaStreamSynchronize(void *stream) { CALL(cuStreamSynchronize(stream)); }
int cudaStreamQuery(void *stream) { CALL(cuStreamQuery(stream)); }
int cudaStreamWaitEvent(void *stream, void *event, unsigned flags) { CALL(cuStreamWaitEvent(stream, event, flags)); }
int cudaStreamIsCapturing(void *stream, int *status) { CALL(cuStreamIsCapturing(stream, status)); }
int cudaStreamBeginCapture(void *stream, int mode) { CALL(cuStreamBeginCapture_v2(stream, mode)); }
int cudaStreamEndCapture(void *stream, void **graph) { CALL(cuStreamEndCapture(stream, graph)); }
int cudaThreadExchangeStreamCaptureMode(int *mode) { CALL(cuThreadExchangeStreamCaptureMode(mode)); }

int cudaEventCreate(void **event) { CALL(cuEventCreate(event, 0)); }
int cudaEventCreateWithFlags(void **event, unsigned flags) { CALL(cuEventCreate(event, flags)); }
int cudaEventRecord(void *event, void *stream) { CALL(cuEventRecord(event, stream)); }
int cudaEventSynchronize(void *event) { CALL(cuEventSynchronize(event)); }
int cudaEventQuery(void *event) { CALL(cuEventQuery(event)); }
int cudaEventDestroy(void *event) { CALL(cuEventDestroy_v2(event)); }
int cudaEventElapsedTime(float *ms, void *a, void *b) { CALL(cuEventElapsedTime(ms, a, b)); }

int cudaGraphInstantiate(void **exec, void *graph, unsigned long long flags) { CALL(cuGraphInstantiateWithFlags(exec, graph, flags)); }
int cudaGraphLaunch(void *exec, void *stream) { CALL(cuGraphLaunch(exec, stream)); }
int cudaGraphDestroy(void *graph) { CALL(cuGraphDestroy(graph)); }
int cudaGraphExecDestroy(void *exec) { CALL(cuGraphExecDestroy(exec)); }

int cudaGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags)
{
	CALL(cuGraphInstantiateWithFlags(exec, graph, flags));
}
int cudaGraphInstantiateWithParams(void **exec, void *graph, void *params) { CALL(cuGraphInstantiateWithParams(exec, graph, params)); }
int cudaGraphClone(void **clone, void *graph) { CALL(cuGraphClone(clone, graph)); }
int cudaGraphExecUpdate(void *exec, void *graph, void *result) { CALL(cuGraphExecUpdate_v2(exec, graph, result)); }
int cudaGraphCreate(void **graph, unsigned flags) { CALL(cuGraphCreate(graph, flags)); }
int cudaGraphAddChildGraphNode(void **node, void *graph, const void *after, size_t n, void *child)
{
	CALL(cuGraphAddChildGraphNode(node, graph, after, n, child));
}

static void *own(void *stream) { return stream ? stream : (void *)2; }

int cudaGraphLaunch_ptsz(void *exec, void *stream) { CALL(cuGraphLaunch(exec, own(stream))); }
int cudaStreamEndCapture_ptsz(void *stream, void **graph) { CALL(cuStreamEndCapture(own(stream), graph)); }

/* ---- kernels that nvcc compiled: known by a function on the host (crt/host_runtime.h) ---- */

enum { INVALID_DEVICE_FUNCTION = 98, MAX_FUNCTIONS = 64 };

struct fat_binary { /* what the model registers: here its data are a cubin, which must stay */
	int magic, version;
	const void *data;
	void *unused;
};

static struct host_function {
	const void *symbol;
	const char *name;
	const struct fat_binary *binary;
	void *kernel;
} functions[MAX_FUNCTIONS];
static int n_functions;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void **__cudaRegisterFatBinary(void *binary)
{
	void **handle = malloc(sizeof(*handle));
	*handle = binary;
	return handle;
}

void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }
void __cudaUnregisterFatBinary(void **handle) { free(handle); }

void __cudaRegisterFunction(void **handle, const char *symbol, char *device, const char *name, int limit, void *a, void *b, void *c,
			    void *d, int *e)
{
	(void)device, (void)limit, (void)a, (void)b, (void)c, (void)d, (void)e;
	pthread_mutex_lock(&lock);
	if (n_functions < MAX_FUNCTIONS)
		functions[n_functions++] = (struct host_function){.symbol = symbol, .name = name, .binary = *handle};
	pthread_mutex_unlock(&lock);
}

static int kernel_of(void **kernel, const void *symbol)
{
	struct host_function *f = NULL;
	void *library;
	pthread_mutex_lock(&lock);
	for (int i = 0; i < n_functions; i++)
		f = functions[i].symbol == symbol ? &functions[i] : f;
	int rc = f ? 0 : INVALID_DEVICE_FUNCTION;
	if (f && !f->kernel) {
		rc = cuLibraryLoadData(&library, f->binary->data, NULL, NULL, 0, NULL, NULL, 0);
		rc = rc ? rc : cuLibraryGetKernel(&f->kernel, library, f->name);
	}
	*kernel = rc ? NULL : f->kernel;
	pthread_mutex_unlock(&lock);
	return rc;
}

static int function_of(void **function, const void *symbol)
{
	void *kernel;
	int rc = kernel_of(&kernel, symbol);
	return rc ? rc : cuKernelGetFunction(function, kernel);
}

static int name_of(const char **name, const void *symbol)
{
	void *function;
	int rc = function_of(&function, symbol);
	return rc ? rc : cuFuncGetName(name, function);
}

struct dim3 {
	unsigned x, y, z;
};

static int launch(void *kernel, struct dim3 g, struct dim3 b, void **args, size_t shared, void *stream)
{
	return cuLaunchKernel(kernel, g.x, g.y, g.z, b.x, b.y, b.z, (unsigned)shared, stream, args, NULL);
}

static int launch_symbol(const void *symbol, struct dim3 g, struct dim3 b, void **args, size_t shared, void *stream)
{
	void *kernel;
	int rc = kernel_of(&kernel, symbol);
	return rc ? rc : launch(kernel, g, b, args, shared, stream);
}

static int launch_together(const void *symbol, struct dim3 g, struct dim3 b, void **args, size_t shared, void *stream)
{
	void *function;
	int rc = function_of(&function, symbol);
	return rc ? rc : cuLaunchCooperativeKernel(function, g.x, g.y, g.z, b.x, b.y, b.z, (unsigned)shared, stream, args);
}

struct config { /* cudaLaunchConfig_t */
	struct dim3 grid, block;
	size_t shared;
	void *stream, *attributes;
	unsigned n_attributes;
};

int cudaFuncGetName(const char **name, const void *symbol) { CALL(name_of(name, symbol)); }
int cudaGetFuncBySymbol(void **function, const void *symbol) { CALL(function_of(function, symbol)); }
int __cudaGetKernel(void **kernel, const void *symbol) { CALL(kernel_of(kernel, symbol)); }
int __cudaLaunchKernel(void *kernel, struct dim3 g, struct dim3 b, void **args, size_t n, void *s)
{
	CALL(launch(kernel, g, b, args, n, s));
}
int cudaLaunchKernel(const void *f, struct dim3 g, struct dim3 b, void **args, size_t n, void *s)
{
	CALL(launch_symbol(f, g, b, args, n, s));
}
int cudaLaunchKernel_ptsz(const void *f, struct dim3 g, struct dim3 b, void **args, size_t n, void *s)
{
	CALL(launch_symbol(f, g, b, args, n, own(s)));
}
int cudaLaunchCooperativeKernel(const void *f, struct dim3 g, struct dim3 b, void **args, size_t n, void *s)
{
	CALL(launch_together(f, g, b, args, n, s));
}
int cudaLaunchKernelExC(const struct config *c, const void *f, void **args)
{
	CALL(launch_symbol(f, c->grid, c->block, args, c->shared, c->stream));
}
