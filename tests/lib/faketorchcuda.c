/* faketorchcuda.c - as much of libtorch_cuda.so as the model of cudamodel/ needs, over the fake CUDA runtime: operators, guards,
 * streams, and a caching allocator. Signatures: torch 2.13, aoti_torch/c/shim.h and generated/c_shim_cuda.h.
 *
 * The allocator (c10/cuda/CUDACachingAllocator.cpp): sizes are rounded up to 512; up to 1 MB they are cut from segments of 2 MB, more
 * gets segments of its own, a multiple of 2 MB. What is freed is kept for its stream. An access behind a tensor therefore stays inside
 * a segment, and no driver sees it. PYTORCH_NO_CUDA_MEMORY_CACHING: every tensor is an allocation of the driver's.
 * PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True: a segment's memory is mapped in handles of 2 MB (torch's small pool).
 *
 * It does not call libcommon/core/aten: mm and addmm write into a result that is given, so no shape is chosen, and compute as a kernel of the
 * fake GPU, whose accesses are what is under test.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fakecuda.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

extern int cudaMalloc(void **, size_t), cudaFree(void *), cudaGetDevice(int *), cudaSetDevice(int), cudaStreamIsCapturing(void *, int *);
extern int cudaThreadExchangeStreamCaptureMode(int *), cudaMemcpyAsync(void *, const void *, size_t, int, void *), cudaGetLastError(void);
extern int cudaMemcpy(void *, const void *, size_t, int);
extern int cuMemAddressReserve(void **, size_t, size_t, uint64_t, unsigned long long);
extern int cuMemCreate(unsigned long long *, size_t, const void *, unsigned long long),
    cuMemSetAccess(void *, size_t, const void *, size_t);
extern int cuMemMap(void *, size_t, size_t, unsigned long long, unsigned long long);
extern int cudaStreamBeginCapture(void *, int), cudaStreamEndCapture(void *, void **), cudaGraphLaunch(void *, void *);
extern int cudaGraphInstantiate(void **, void *, unsigned long long), cudaGraphDestroy(void *);
extern const char *cudaGetErrorString(int);
struct tensor;
extern int32_t aoti_torch_get_data_ptr(struct tensor *, void **), aoti_torch_get_dim(struct tensor *, int64_t *);
extern int32_t aoti_torch_get_sizes(struct tensor *, int64_t **), aoti_torch_get_strides(struct tensor *, int64_t **);
extern int32_t aoti_torch_get_dtype(struct tensor *, int32_t *), aoti_torch_get_device_type(struct tensor *, int32_t *);
extern int32_t aoti_torch_get_device_index(struct tensor *, int32_t *);

enum { MAX_DEVICES = 8, FLOAT32 = 6, CUDA = 1, ROUND = 512, SMALL = 1 << 20, SEGMENT = 2 << 20 };

/* What torch prints when an exception does not get over the C interface. */
static int32_t failed(const char *text)
{
	fprintf(stderr, "Exception in aoti_torch: %s\n", text);
	return 1;
}

static int32_t cuda_failed(int rc)
{
	char text[256];
	cudaGetLastError();
	snprintf(text, sizeof(text), "CUDA error: %s", cudaGetErrorString(rc));
	return failed(text);
}

/* ---- streams and guards ---- */

static _Thread_local void *stream_now[MAX_DEVICES];

struct guard {
	int device, stream_device;
	void *stream;
};

int32_t aoti_torch_get_current_cuda_stream(int32_t device, void **stream)
{
	int now = 0;
	if (device < 0 && cudaGetDevice(&now))
		return 1;
	*stream = stream_now[(device < 0 ? now : device) % MAX_DEVICES];
	return 0;
}

int32_t aoti_torch_create_cuda_guard(int32_t device, struct guard **out)
{
	struct guard g = {.stream_device = -1};
	int rc = cudaGetDevice(&g.device);
	rc = rc || device < 0 ? rc : cudaSetDevice(device);
	if (rc)
		return cuda_failed(rc);
	*out = malloc(sizeof(g));
	**out = g;
	return 0;
}

int32_t aoti_torch_create_cuda_stream_guard(void *stream, int32_t device, struct guard **out)
{
	if (device < 0 || device >= MAX_DEVICES || aoti_torch_create_cuda_guard(device, out))
		return 1;
	(*out)->stream_device = device;
	(*out)->stream = stream_now[device];
	stream_now[device] = stream;
	return 0;
}

int32_t aoti_torch_delete_cuda_guard(struct guard *g)
{
	int rc = cudaSetDevice(g->device);
	free(g);
	return rc ? cuda_failed(rc) : 0;
}

int32_t aoti_torch_delete_cuda_stream_guard(struct guard *g)
{
	stream_now[g->stream_device] = g->stream;
	return aoti_torch_delete_cuda_guard(g);
}

int32_t aoti_torch_cuda_guard_set_index(struct guard *g, int32_t device)
{
	(void)g;
	int rc = cudaSetDevice(device);
	return rc ? cuda_failed(rc) : 0;
}

/* torch.cuda.CUDAGraph (aten/src/ATen/cuda/CUDAGraph.cpp): this library's own calls. mode 0: "global", the default of torch.cuda.graph. */
int32_t faketorch_cuda_capture_begin(void *stream) { return cudaStreamBeginCapture(stream, 0); }

int32_t faketorch_cuda_capture_end(void *stream, void **exec)
{
	void *graph = NULL;
	int rc = cudaStreamEndCapture(stream, &graph);
	rc = rc ? rc : cudaGraphInstantiate(exec, graph, 0);
	return rc ? rc : cudaGraphDestroy(graph);
}

int32_t faketorch_cuda_replay(void *exec, void *stream) { return cudaGraphLaunch(exec, stream); }

/* ---- memory ---- */

struct block {
	struct block *before, *after; /* in the segment */
	struct block *next;           /* of all */
	char *at;
	size_t bytes;
	int device;
	void *stream;
	bool used, small;
};
static struct block *blocks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Set to whatever. */
static bool caching(void) { return !getenv("PYTORCH_NO_CUDA_MEMORY_CACHING"); }

static struct block *add_block(struct block like)
{
	struct block *b = malloc(sizeof(*b));
	*b = like;
	b->next = blocks;
	return blocks = b;
}

static struct block *best(size_t bytes, int device, void *stream)
{
	struct block *found = NULL;
	for (struct block *b = blocks; b; b = b->next)
		if (!b->used && b->device == device && b->stream == stream && b->small == (bytes <= SMALL) && b->bytes >= bytes &&
		    (!found || b->bytes < found->bytes))
			found = b;
	return found;
}

static void split(struct block *b, size_t bytes)
{
	if (b->bytes - bytes < (b->small ? ROUND : SMALL))
		return;
	struct block rest = *b;
	rest.used = false;
	rest.at += bytes;
	rest.bytes -= bytes;
	rest.before = b;
	struct block *r = add_block(rest);
	if (b->after)
		b->after->before = r;
	b->after = r;
	b->bytes = bytes;
}

static bool expandable(void)
{
	const char *conf = getenv("PYTORCH_CUDA_ALLOC_CONF");
	return conf && strstr(conf, "expandable_segments:True");
}

static int mapped(void **p, size_t bytes)
{
	unsigned long long handle;
	int rc = cuMemAddressReserve(p, bytes, 0, 0, 0);
	for (size_t at = 0; at < bytes && !rc; at += SEGMENT) {
		rc = cuMemCreate(&handle, SEGMENT, NULL, 0);
		rc = rc ? rc : cuMemMap((char *)*p + at, SEGMENT, 0, handle, 0);
		rc = rc ? rc : cuMemSetAccess((char *)*p + at, SEGMENT, NULL, 0);
	}
	return rc;
}

/* With the capture mode that lets allocations be made while a graph is captured, as torch does. */
static int from_driver(void **p, size_t bytes)
{
	int mode = 2;
	cudaThreadExchangeStreamCaptureMode(&mode);
	int rc = expandable() ? mapped(p, bytes) : cudaMalloc(p, bytes);
	cudaThreadExchangeStreamCaptureMode(&mode);
	return rc;
}

static int take(size_t bytes, int device, void *stream, void **p)
{
	struct block *b = best(bytes, device, stream);
	if (!b) {
		size_t room = bytes <= SMALL ? SEGMENT : (bytes + SEGMENT - 1) / SEGMENT * SEGMENT;
		int rc = from_driver(p, room);
		if (rc)
			return rc;
		b = add_block((struct block){.at = *p, .bytes = room, .device = device, .stream = stream, .small = bytes <= SMALL});
	}
	b->used = true;
	split(b, bytes);
	*p = b->at;
	return 0;
}

int32_t faketorch_cuda_alloc(int64_t bytes, int32_t device, void **p)
{
	int before = 0, rc = cudaGetDevice(&before);
	size_t n = ((size_t)bytes + ROUND - 1) / ROUND * ROUND;
	n = n ? n : ROUND;
	rc = rc || before == device ? rc : cudaSetDevice(device);
	pthread_mutex_lock(&lock);
	if (!rc)
		rc = caching() ? take(n, device, stream_now[device], p) : cudaMalloc(p, (size_t)bytes ? (size_t)bytes : 1);
	pthread_mutex_unlock(&lock);
	if (before != device)
		cudaSetDevice(before);
	if (rc == 2) {
		char text[128];
		snprintf(text, sizeof(text), "CUDA out of memory. Tried to allocate %zu bytes. GPU %d", n, (int)device);
		cudaGetLastError();
		return failed(text);
	}
	return rc ? cuda_failed(rc) : 0;
}

static void forget(struct block *b)
{
	struct block **at = &blocks;
	while (*at != b)
		at = &(*at)->next;
	*at = b->next;
	free(b);
}

static void join(struct block *a, struct block *b)
{
	if (!a || !b || a->used || b->used)
		return;
	a->bytes += b->bytes;
	a->after = b->after;
	if (b->after)
		b->after->before = a;
	forget(b);
}

void faketorch_cuda_free(void *p)
{
	pthread_mutex_lock(&lock);
	struct block *b = blocks;
	while (b && !(b->used && b->at == p))
		b = b->next;
	if (b) {
		struct block *before = b->before;
		b->used = false;
		join(b, b->after);
		join(before, b);
	} else {
		cudaFree(p);
	}
	pthread_mutex_unlock(&lock);
}

int32_t faketorch_cuda_copy(void *to, const void *from, int64_t bytes, int32_t device)
{
	int rc = cudaMemcpyAsync(to, from, (size_t)bytes, 3, stream_now[device % MAX_DEVICES]);
	return rc ? cuda_failed(rc) : 0;
}

/* kind: of cudaMemcpy() */
int32_t faketorch_cuda_move(void *to, const void *from, int64_t bytes, int32_t kind)
{
	int rc = cudaMemcpy(to, from, (size_t)bytes, kind);
	return rc ? cuda_failed(rc) : 0;
}

int32_t aoti_torch_cuda_caching_allocator_raw_alloc(uint64_t bytes, void **p)
{
	int device = 0;
	return cudaGetDevice(&device) ? 1 : faketorch_cuda_alloc((int64_t)bytes, device, p);
}

int32_t aoti_torch_cuda_caching_allocator_raw_delete(void *p) { return faketorch_cuda_free(p), 0; }

/* ---- operators ---- */

struct matrix {
	void *data;
	int64_t rows, columns, row, column; /* strides in elements */
	int32_t device;
};

static int32_t matrix_of(struct tensor *t, struct matrix *m)
{
	int64_t dim = 0, *size, *stride;
	int32_t dtype = 0, type = 0;
	aoti_torch_get_data_ptr(t, &m->data);
	aoti_torch_get_dim(t, &dim);
	aoti_torch_get_sizes(t, &size);
	aoti_torch_get_strides(t, &stride);
	aoti_torch_get_dtype(t, &dtype);
	aoti_torch_get_device_type(t, &type);
	aoti_torch_get_device_index(t, &m->device);
	if (type != CUDA)
		return failed("Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!");
	if (dtype != FLOAT32 || dim < 1 || dim > 2)
		return failed("faketorchcuda: matrices of float32 only");
	m->rows = dim == 2 ? size[0] : 1;
	m->row = dim == 2 ? stride[0] : 0;
	m->columns = size[dim - 1];
	m->column = stride[dim - 1];
	return 0;
}

/* FAKETORCH_TF32: of an operand's mantissa the tensor cores read 10 bits. */
static float short_of(float x)
{
	uint32_t bits;
	memcpy(&bits, &x, 4);
	bits &= getenv("FAKETORCH_TF32") ? ~UINT32_C(0x1fff) : ~UINT32_C(0);
	memcpy(&x, &bits, 4);
	return x;
}

/* out, self (0: none), a, b: address and two strides each; rows, columns, inner; beta, alpha */
static void gemm(const struct fakecuda_kernel *k)
{
	enum { OUT = 0, SELF = 3, A = 6, B = 9, SIZES = 12, SCALES = 15 };
	uint64_t v[17];
	double scale[2];
	for (int i = 0; i < 17; i++)
		v[i] = FAKECUDA_ARG(k, i, uint64_t);
	memcpy(scale, v + SCALES, sizeof(scale));
#define AT(what, i, j) (*(float *)fakecuda_at(k, v[what] + 4 * ((i)*v[what + 1] + (j)*v[what + 2]), 4))
	for (uint64_t i = 0; i < v[SIZES]; i++)
		for (uint64_t j = 0; j < v[SIZES + 1]; j++) {
			float sum = 0;
			for (uint64_t n = 0; n < v[SIZES + 2]; n++)
				sum += short_of(AT(A, i, n)) * short_of(AT(B, n, j));
			AT(OUT, i, j) = (float)scale[1] * sum + (v[SELF] && scale[0] != 0 ? (float)scale[0] * AT(SELF, i, j) : 0);
		}
}

int32_t aoti_torch_cuda_addmm_out(struct tensor *out, struct tensor *self, struct tensor *mat1, struct tensor *mat2, double beta,
				  double alpha)
{
	struct matrix m[4] = {0};
	struct tensor *const t[] = {out, self, mat1, mat2};
	uint64_t v[17] = {0};
	double scale[2] = {beta, alpha};
	for (int i = 0; i < 4; i++)
		if (t[i] && matrix_of(t[i], &m[i]))
			return 1;
	if (m[2].columns != m[3].rows || m[0].rows != m[2].rows || m[0].columns != m[3].columns)
		return failed("mat1 and mat2 shapes cannot be multiplied");
	if (self && ((m[1].rows != m[0].rows && m[1].rows != 1) || m[1].columns != m[0].columns))
		return failed("The size of tensor self must match the size of the product");
	for (int i = 0; i < 4; i++) {
		v[3 * i] = (uint64_t)(uintptr_t)m[i].data;
		v[3 * i + 1] = m[i].rows == 1 ? 0 : (uint64_t)m[i].row;
		v[3 * i + 2] = (uint64_t)m[i].column;
	}
	v[12] = (uint64_t)m[0].rows;
	v[13] = (uint64_t)m[0].columns;
	v[14] = (uint64_t)m[2].columns;
	memcpy(v + 15, scale, sizeof(scale));
	int rc = fakecuda_enqueue(stream_now[m[0].device % MAX_DEVICES], "fake_sgemm", gemm, v, 17);
	return rc ? cuda_failed(rc) : 0;
}

int32_t aoti_torch_cuda_mm_out(struct tensor *out, struct tensor *self, struct tensor *mat2)
{
	return aoti_torch_cuda_addmm_out(out, NULL, self, mat2, 0, 1);
}
