/* random.c - wrappers for aten/random.c. */
#include "aten/elem.h"
#include "aten/ops.h"
#include "shim.h"

void shim_seed(uint64_t seed) { aten_seed(seed); }

typedef void *AtenGeneratorHandle;

static void need_default(AtenGeneratorHandle *generator) { aten_need_default_generator(!generator || !*generator); }

struct fresh {
	char how; /* aten_fill_fresh() */
	int64_t low, high;
	AtenGeneratorHandle *generator;
};

static AOTITorchError fresh_op(const char *op, const struct fresh *f, const int64_t *size, int64_t n, const int32_t *dtype,
			       AtenTensorHandle *ret)
{
	SHIM_TRY_AS(op) {
		if (n < 0 || n > ATEN_DIMS)
			aten_fail("%lld dims", (long long)n);
		struct aten_tensor *t = aten_new(dtype ? *dtype : f->how == 'i' ? DTYPE_I64 : DTYPE_F32, (int)n, size, NULL);
		need_default(f->generator);
		SHIM_GIVE(ret, aten_fill_fresh(t, f->how, f->low, f->high));
	}
	SHIM_END
}

static AOTITorchError like_op(const char *op, const struct fresh *f, AtenTensorHandle self, const int32_t *dtype, const int32_t *format,
			      AtenTensorHandle *ret)
{
	SHIM_TRY_AS(op) {
		struct aten_tensor *t = aten_empty_like(self, dtype ? *dtype : self->dtype, format ? *format : ATEN_PRESERVE);
		need_default(f->generator);
		SHIM_GIVE(ret, aten_fill_fresh(t, f->how, f->low, f->high));
	}
	SHIM_END
}

#define OPTIONS int32_t *dtype, int32_t *layout, int32_t *device, int32_t device_index_, int32_t *pin_memory
#define UNUSED_OPTIONS (void)layout, (void)device, (void)device_index_, (void)pin_memory
#define SIZE const int64_t *size, int64_t size_len_

#define UNPACK(...) __VA_ARGS__
#define FRESH_OP(name, params, ...) \
	AOTITorchError aoti_torch_cpu_##name(UNPACK params, OPTIONS, AtenTensorHandle *ret0) \
	{ \
		UNUSED_OPTIONS; \
		return fresh_op(__func__, &(struct fresh){__VA_ARGS__}, size, size_len_, dtype, ret0); \
	}
#define LIKE_OP(name, params, ...) \
	AOTITorchError aoti_torch_cpu_##name(AtenTensorHandle self, UNPACK params OPTIONS, int32_t *memory_format, AtenTensorHandle *ret0) \
	{ \
		UNUSED_OPTIONS; \
		return like_op(__func__, &(struct fresh){__VA_ARGS__}, self, dtype, memory_format, ret0); \
	}
#define GENERATOR AtenGeneratorHandle *generator
FRESH_OP(rand, (SIZE), .how = 'u')
FRESH_OP(rand_generator, (SIZE, GENERATOR), .how = 'u', .generator = generator)
LIKE_OP(rand_like, (), .how = 'u')
LIKE_OP(rand_like_generator, (GENERATOR, ), .how = 'u', .generator = generator)
FRESH_OP(randn, (SIZE), .how = 'n')
FRESH_OP(randn_generator, (SIZE, GENERATOR), .how = 'n', .generator = generator)
LIKE_OP(randn_like, (), .how = 'n')
LIKE_OP(randn_like_generator, (GENERATOR, ), .how = 'n', .generator = generator)
FRESH_OP(randint, (int64_t high, SIZE), .how = 'i', .high = high)
FRESH_OP(randint_generator, (int64_t high, SIZE, GENERATOR), .how = 'i', .high = high, .generator = generator)
FRESH_OP(randint_low, (int64_t low, int64_t high, SIZE), .how = 'i', .low = low, .high = high)
LIKE_OP(randint_like, (int64_t high, ), .how = 'i', .high = high)
LIKE_OP(randint_like_low_dtype, (int64_t low, int64_t high, ), .how = 'i', .low = low, .high = high)

/* Inductor draws the seeds of its own (Philox) random numbers with this. */
AOTITorchError aoti_torch_cpu_randint_low_out(AtenTensorHandle out, int64_t low, int64_t high, SIZE)
{
	SHIM_TRY {
		if (size_len_ != out->n_dim || memcmp(size, out->size, (size_t)size_len_ * sizeof(*size)))
			aten_fail("out does not have the requested size");
		aten_fill_int(out, low, high);
	}
	SHIM_END
}

SHIM_OP(aoti_torch_cpu_randperm(int64_t n, OPTIONS, AtenTensorHandle *ret0), UNUSED_OPTIONS;
	SHIM_GIVE(ret0, aten_randperm(n, dtype ? *dtype : DTYPE_I64)))

/* A tensor like self. */
static AtenTensorHandle target_of(AtenTensorHandle self, AtenGeneratorHandle *generator)
{
	struct aten_tensor *t = aten_like(self, self->dtype);
	need_default(generator);
	return t;
}

SHIM_OP(aoti_torch_cpu_uniform(AtenTensorHandle self, double from, double to, AtenGeneratorHandle *generator, AtenTensorHandle *ret0),
	struct aten_tensor *t = target_of(self, generator);
	aten_fill_uniform(t, from, to); SHIM_GIVE(ret0, t))

SHIM_OP(aoti_torch_cpu_normal_functional(AtenTensorHandle self, double mean, double std, AtenGeneratorHandle *generator,
					 AtenTensorHandle *ret0),
	struct aten_tensor *t = target_of(self, generator);
	aten_fill_normal(t, mean, std); SHIM_GIVE(ret0, t))

SHIM_OP(aoti_torch_cpu_exponential(AtenTensorHandle self, double lambd, AtenGeneratorHandle *generator, AtenTensorHandle *ret0),
	struct aten_tensor *t = target_of(self, generator);
	if (elem_complex(self->dtype)) aten_fail("exponential is not implemented for %s", dtype_name(self->dtype));
	aten_fill_exponential(t, lambd); SHIM_GIVE(ret0, t))

SHIM_OP(aoti_torch_cpu_bernoulli__float(AtenTensorHandle self, double p, AtenGeneratorHandle *generator), need_default(generator);
	aten_fill_bernoulli(self, p))

SHIM_OP(aoti_torch_cpu_bernoulli__Tensor(AtenTensorHandle self, AtenTensorHandle p, AtenGeneratorHandle *generator),
	need_default(generator);
	aten_fill_bernoulli_tensor(self, p))

SHIM_OP(aoti_torch_cpu_native_dropout(AtenTensorHandle input, double p, int32_t *train, AtenTensorHandle *ret0, AtenTensorHandle *ret1),
	SHIM_GIVE_TWO(ret0, ret1, aten_native_dropout(input, p, !train || *train)))
