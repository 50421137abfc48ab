/* faketorch.c - as much of libtorch_cpu.so as recorded models without operators of torch's own need (first, second,
 * nested, derived, mixed): tensors of the C ABI on plain malloc. For tests of the probe in processes without torch; its
 * SONAME is libtorch_cpu.so. Numbers and signatures: torch 2.13, torch/csrc/inductor/aoti_torch/c/shim.h. Memory of tensors
 * on CUDA is libtorch_cuda.so's (faketorchcuda.c), which is loaded with the first of them.
 *
 * It does not call libcommon/core/aten: it chooses no shape (its two operators copy between tensors that are given, and refuse any that are
 * not alike), and what is under test has no part in what stands in for torch. scripts/one-operator holds it to these two.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { MAX_DIMS = 16 };

struct storage {
	atomic_int refs;
	bool owned, cuda;
	char *data;
	int64_t bytes;
};

struct tensor {
	struct storage *s;
	int32_t dtype, device, device_index;
	int64_t n_dim, offset, size[MAX_DIMS], stride[MAX_DIMS];
};

static atomic_long alive;
static _Thread_local bool grad = true;

static struct {
	int32_t (*alloc)(int64_t, int32_t, void **);
	void (*free)(void *);
	int32_t (*copy)(void *, const void *, int64_t, int32_t);
	int32_t (*move)(void *, const void *, int64_t, int32_t);
} cuda;

static bool cuda_ready(void)
{
	void *so = cuda.copy ? NULL : dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_LOCAL);
	if (so) {
		*(void **)&cuda.alloc = dlsym(so, "faketorch_cuda_alloc");
		*(void **)&cuda.free = dlsym(so, "faketorch_cuda_free");
		*(void **)&cuda.copy = dlsym(so, "faketorch_cuda_copy");
		*(void **)&cuda.move = dlsym(so, "faketorch_cuda_move");
	}
	if (!cuda.copy)
		fprintf(stderr, "Exception in aoti_torch: PyTorch is not linked with support for cuda devices\n");
	return cuda.copy != NULL;
}

/* Tensors that somebody has forgotten. */
long faketorch_alive(void) { return alive; }

static int64_t element(int32_t dtype)
{
	static const int8_t bytes[] = {1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 1, 1, 4, 2};
	return dtype >= 0 && dtype < (int32_t)sizeof(bytes) ? bytes[dtype] : 8;
}

static struct tensor *make(struct storage *s, int64_t n_dim, const int64_t *size, const int64_t *stride, int64_t offset, int32_t dtype,
			   int32_t device, int32_t index)
{
	struct tensor *t = calloc(1, sizeof(*t));
	*t = (struct tensor){.s = s, .dtype = dtype, .device = device, .device_index = index, .n_dim = n_dim, .offset = offset};
	for (int64_t i = 0; i < n_dim; i++) {
		t->size[i] = size[i];
		t->stride[i] = stride[i];
	}
	alive++;
	return t;
}

static int64_t reach(int64_t n_dim, const int64_t *size, const int64_t *stride)
{
	int64_t last = 1;
	for (int64_t i = 0; i < n_dim; i++) {
		if (!size[i])
			return 0;
		last += (size[i] - 1) * stride[i];
	}
	return last;
}

int32_t aoti_torch_empty_strided(int64_t n_dim, const int64_t *size, const int64_t *stride, int32_t dtype, int32_t device, int32_t index,
				 struct tensor **out)
{
	int64_t bytes = reach(n_dim, size, stride) * element(dtype);
	void *data = NULL;
	if (n_dim > MAX_DIMS || (device == 1 && (!cuda_ready() || cuda.alloc(bytes, index, &data))))
		return 1;
	struct storage *s = calloc(1, sizeof(*s));
	*s = (struct storage){.refs = 1, .owned = true, .cuda = device == 1, .data = data, .bytes = bytes};
	if (!s->cuda) {
		s->data = aligned_alloc(64, (size_t)(s->bytes + 127) / 64 * 64);
		memset(s->data, 0, (size_t)(s->bytes + 127) / 64 * 64);
	}
	*out = make(s, n_dim, size, stride, 0, dtype, device, index);
	return 0;
}

int32_t aoti_torch_create_tensor_from_blob(void *data, int64_t n_dim, const int64_t *size, const int64_t *stride, int64_t offset,
					   int32_t dtype, int32_t device, int32_t index, struct tensor **out)
{
	struct storage *s = calloc(1, sizeof(*s));
	*s = (struct storage){.refs = 1, .data = data, .bytes = (offset + reach(n_dim, size, stride)) * element(dtype)};
	*out = make(s, n_dim, size, stride, offset, dtype, device, index);
	return 0;
}

int32_t aoti_torch_create_tensor_from_blob_v2(void *data, int64_t n_dim, const int64_t *size, const int64_t *stride, int64_t offset,
					      int32_t dtype, int32_t device, int32_t index, struct tensor **out, int32_t layout,
					      const uint8_t *opaque, int64_t opaque_bytes)
{
	(void)layout, (void)opaque, (void)opaque_bytes;
	return aoti_torch_create_tensor_from_blob(data, n_dim, size, stride, offset, dtype, device, index, out);
}

int32_t aoti_torch_new_tensor_handle(struct tensor *t, struct tensor **out)
{
	t->s->refs++;
	*out = make(t->s, t->n_dim, t->size, t->stride, t->offset, t->dtype, t->device, t->device_index);
	return 0;
}

int32_t aoti_torch__reinterpret_tensor(struct tensor *t, int64_t n_dim, const int64_t *size, const int64_t *stride, int64_t offset,
				       struct tensor **out)
{
	t->s->refs++;
	*out = make(t->s, n_dim, size, stride, t->offset + offset, t->dtype, t->device, t->device_index);
	return 0;
}

int32_t aoti_torch_delete_tensor_object(struct tensor *t)
{
	if (!t)
		return 0;
	if (!--t->s->refs) {
		if (t->s->owned)
			(t->s->cuda ? cuda.free : free)(t->s->data);
		free(t->s);
	}
	free(t);
	alive--;
	return 0;
}

/* Of the host, always. */
int32_t aoti_torch_empty_strided_pinned(int64_t n_dim, const int64_t *size, const int64_t *stride, int32_t dtype, int32_t device,
					int32_t index, struct tensor **out)
{
	return aoti_torch_empty_strided(n_dim, size, stride, dtype, device, index, out);
}

int32_t aoti_torch_clone(struct tensor *t, struct tensor **out)
{
	if (aoti_torch_empty_strided(t->n_dim, t->size, t->stride, t->dtype, t->device, t->device_index, out))
		return 1;
	if (t->device == 1)
		return cuda.copy((*out)->s->data, t->s->data + t->offset * element(t->dtype), (*out)->s->bytes, t->device_index);
	memcpy((*out)->s->data, t->s->data + t->offset * element(t->dtype), (size_t)(*out)->s->bytes);
	return 0;
}

/* Between the host and a device, and of the same sizes and strides. */
int32_t aoti_torch_copy_(struct tensor *self, struct tensor *src, int32_t non_blocking)
{
	int64_t bytes = reach(self->n_dim, self->size, self->stride) * element(self->dtype);
	char *to = self->s->data + self->offset * element(self->dtype), *from = src->s->data + src->offset * element(src->dtype);
	(void)non_blocking;
	if (self->n_dim != src->n_dim || self->dtype != src->dtype || memcmp(self->size, src->size, sizeof(self->size)) ||
	    memcmp(self->stride, src->stride, sizeof(self->stride))) {
		fprintf(stderr, "Exception in aoti_torch: faketorch copies between tensors that are alike only\n");
		return 1;
	}
	if (self->device == 1 || src->device == 1)
		return !cuda_ready() || cuda.move(to, from, bytes, self->device == 1 ? 1 : src->device == 1 ? 2 : 3);
	memcpy(to, from, (size_t)bytes);
	return 0;
}

int32_t aoti_torch_clone_preserve_strides(struct tensor *t, struct tensor **out) { return aoti_torch_clone(t, out); }

int32_t aoti_torch_get_numel(struct tensor *t, int64_t *out)
{
	*out = 1;
	for (int64_t i = 0; i < t->n_dim; i++)
		*out *= t->size[i];
	return 0;
}

int32_t aoti_torch_get_data_ptr(struct tensor *t, void **out)
{
	*out = t->s->data + t->offset * element(t->dtype);
	return 0;
}

int32_t aoti_torch_get_sizes(struct tensor *t, int64_t **out)
{
	*out = t->size;
	return 0;
}

int32_t aoti_torch_get_strides(struct tensor *t, int64_t **out)
{
	*out = t->stride;
	return 0;
}

int32_t aoti_torch_get_dim(struct tensor *t, int64_t *out) { return *out = t->n_dim, 0; }
int32_t aoti_torch_get_dtype(struct tensor *t, int32_t *out) { return *out = t->dtype, 0; }
int32_t aoti_torch_get_device_type(struct tensor *t, int32_t *out) { return *out = t->device, 0; }
int32_t aoti_torch_get_device_index(struct tensor *t, int32_t *out) { return *out = t->device == 1 ? t->device_index : 0, 0; }
int32_t aoti_torch_get_layout(struct tensor *t, int32_t *out) { return (void)t, *out = 0, 0; }
int32_t aoti_torch_get_storage_offset(struct tensor *t, int64_t *out) { return *out = t->offset, 0; }
int32_t aoti_torch_get_storage_size(struct tensor *t, int64_t *out) { return *out = t->s->bytes, 0; }

bool aoti_torch_grad_mode_is_enabled(void) { return grad; }
void aoti_torch_grad_mode_set_enabled(bool on) { grad = on; }
void aoti_torch_check(bool ok, const char *func, const char *file, uint32_t line, const char *text)
{
	(void)func, (void)file, (void)line, (void)text;
	if (!ok)
		abort();
}

void aoti_torch_warn(const char *func, const char *file, uint32_t line, const char *text)
{
	(void)func;
	fprintf(stderr, "[W %s:%u] Warning: %s\n", file, line, text);
}

/* What a model says of each call with cpp.enable_kernel_profile. Nobody looks at it; the values are only freed again. */
static int32_t value(void **out) { return *out = malloc(1), 0; }
int32_t aoti_torch_int64_to_ivalue(int64_t v, void **out) { return (void)v, value(out); }
int32_t aoti_torch_strlist_to_ivalue(const char **v, int64_t n, void **out) { return (void)v, (void)n, value(out); }
int32_t aoti_torch_tensor_to_ivalue(struct tensor *t, void **out) { return (void)t, value(out); }
int32_t aoti_torch_delete_c10_value_object(void *v) { return free(v), 0; }
int32_t aoti_record_function_start(const char *name, void *kwargs, void *const *in, uint64_t n, void **out)
{
	(void)name, (void)kwargs, (void)in, (void)n;
	return value(out);
}
int32_t aoti_record_function_end(void *guard) { return free(guard), 0; }

int32_t aoti_torch_device_type_cpu(void) { return 0; }
int32_t aoti_torch_device_type_cuda(void) { return 1; }
int32_t aoti_torch_layout_strided(void) { return 0; }
int32_t aoti_torch_dtype_uint8(void) { return 0; }
int32_t aoti_torch_dtype_int32(void) { return 3; }
int32_t aoti_torch_dtype_int64(void) { return 4; }
int32_t aoti_torch_dtype_float16(void) { return 5; }
int32_t aoti_torch_dtype_float32(void) { return 6; }
int32_t aoti_torch_dtype_bool(void) { return 11; }
int32_t aoti_torch_dtype_bfloat16(void) { return 15; }

#ifdef __x86_64__
typedef float float8 __attribute__((vector_size(32)));
#pragma GCC diagnostic ignored "-Wpsabi"
__attribute__((target("avx2"))) float8 Sleef_sinf8_u35(float8 x)
{
	for (int i = 0; i < 8; i++)
		x[i] = sinf(x[i]);
	return x;
}
__attribute__((target("avx2"))) float8 Sleef_cosf8_u35(float8 x)
{
	for (int i = 0; i < 8; i++)
		x[i] = cosf(x[i]);
	return x;
}
#endif
