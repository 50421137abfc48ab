/* fakecudart.c - the CUDA runtime over the fake driver (fakecuda.h), as far as models of AOTInductor, hosts and torch's allocator
 * use it. libcudart.so.12 with that version on its symbols, as the real one. Numbers: cuda_runtime_api.h and driver_types.h of CUDA 12;
 * those of errors are the driver's.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

extern int cuInit(unsigned), cuDeviceGetCount(int *), cuCtxGetCurrent(void **), cuCtxSetCurrent(void *), cuCtxGetDevice(int *);
extern int cuDevicePrimaryCtxRetain(void **, int), cuDeviceGetAttribute(int *, int, int), cuCtxSynchronize(void);
extern int cuMemAlloc_v2(uint64_t *, size_t), cuMemFree_v2(uint64_t), cuMemsetD8_v2(uint64_t, unsigned char, size_t);
extern int cuMemAllocAsync(uint64_t *, size_t, void *), cuMemFreeAsync(uint64_t, void *), cuMemGetInfo_v2(size_t *, size_t *);
extern int cuMemcpyHtoD_v2(uint64_t, const void *, size_t), cuMemcpyDtoH_v2(void *, uint64_t, size_t), cuMemcpyDtoD_v2(uint64_t, uint64_t, size_t);
extern int cuMemcpyHtoDAsync_v2(uint64_t, const void *, size_t, void *), cuMemcpyDtoHAsync_v2(void *, uint64_t, size_t, void *);
extern int cuMemcpyDtoDAsync_v2(uint64_t, uint64_t, size_t, void *), cuMemsetD8Async(uint64_t, unsigned char, size_t, void *);
extern int cuPointerGetAttribute(void *, int, uint64_t), cuGetErrorString(int, const char **), cuGetErrorName(int, const char **);
extern int cuStreamCreate(void **, unsigned), cuStreamDestroy_v2(void *), cuStreamSynchronize(void *), cuStreamQuery(void *);
extern int cuStreamWaitEvent(void *, void *, unsigned), cuStreamIsCapturing(void *, int *), cuStreamBeginCapture_v2(void *, int);
extern int cuStreamEndCapture(void *, void **), cuThreadExchangeStreamCaptureMode(int *);
extern int cuEventCreate(void **, unsigned), cuEventRecord(void *, void *), cuEventSynchronize(void *), cuEventQuery(void *);
extern int cuEventDestroy_v2(void *), cuEventElapsedTime(float *, void *, void *);
extern int cuGraphInstantiateWithFlags(void **, void *, unsigned long long), cuGraphLaunch(void *, void *), cuGraphDestroy(void *);
extern int cuGraphExecDestroy(void *), cuDriverGetVersion(int *);

enum { NOT_READY = 600, INVALID_VALUE = 1 };
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

#define CALL(expr)                                                                                                     \
	int rc = begin();                                                                                              \
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
	return !text ? "unrecognized error code" : error == 700 ? "cudaErrorIllegalAddress" : error == 2 ? "cudaErrorMemoryAllocation" : text;
}

int cudaMalloc(void **p, size_t n) { CALL(cuMemAlloc_v2((uint64_t *)p, n)); }
int cudaFree(void *p) { CALL(cuMemFree_v2((uint64_t)(uintptr_t)p)); }
int cudaMallocAsync(void **p, size_t n, void *stream) { CALL(cuMemAllocAsync((uint64_t *)p, n, stream)); }
int cudaFreeAsync(void *p, void *stream) { CALL(cuMemFreeAsync((uint64_t)(uintptr_t)p, stream)); }
int cudaMemGetInfo(size_t *left, size_t *total) { CALL(cuMemGetInfo_v2(left, total)); }
int cudaMemset(void *p, int value, size_t n) { CALL(cuMemsetD8_v2((uint64_t)(uintptr_t)p, (unsigned char)value, n)); }
int cudaMemsetAsync(void *p, int value, size_t n, void *stream) { CALL(cuMemsetD8Async((uint64_t)(uintptr_t)p, (unsigned char)value, n, stream)); }

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
	return kind == HOST_TO_DEVICE	? cuMemcpyHtoD_v2((uint64_t)(uintptr_t)to, from, n)
	       : kind == DEVICE_TO_HOST ? cuMemcpyDtoH_v2(to, (uint64_t)(uintptr_t)from, n)
	       : kind == DEVICE_TO_DEVICE ? cuMemcpyDtoD_v2((uint64_t)(uintptr_t)to, (uint64_t)(uintptr_t)from, n)
					  : INVALID_VALUE;
}

static int copy_async(void *to, const void *from, size_t n, int kind, void *stream)
{
	kind = kind == BY_ADDRESS ? kind_of(to, from) : kind;
	return kind == HOST_TO_DEVICE	? cuMemcpyHtoDAsync_v2((uint64_t)(uintptr_t)to, from, n, stream)
	       : kind == DEVICE_TO_HOST ? cuMemcpyDtoHAsync_v2(to, (uint64_t)(uintptr_t)from, n, stream)
	       : kind == DEVICE_TO_DEVICE ? cuMemcpyDtoDAsync_v2((uint64_t)(uintptr_t)to, (uint64_t)(uintptr_t)from, n, stream)
					  : INVALID_VALUE;
}

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
