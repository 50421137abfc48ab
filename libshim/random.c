/* random.c of aten. */
#include "aten/elem.h"
#include "aten/ops.h"
#include "shim.h"

#define REFUSED "random numbers of torch's generator are not reproduced here: run with --torch"

void shim_seed(uint64_t seed) { aten_seed(seed); }

typedef void *AtenGeneratorHandle;

static void need_default(AtenGeneratorHandle *generator)
{
	if (generator && *generator)
		aten_fail(REFUSED);
}

enum fill { FILL_UNIFORM, FILL_NORMAL, FILL_INT };

struct fresh {
	enum fill how;
	int64_t low, high;
	AtenGeneratorHandle *generator;
};

static void fill_fresh(const struct fresh *f, const struct aten_tensor *t)
{
	need_default(f->generator);
	if (f->how == FILL_UNIFORM)
		aten_fill_uniform(t, 0, 1);
	else if (f->how == FILL_NORMAL)
		aten_fill_normal(t, 0, 1);
	else
		aten_fill_int(t, f->low, f->high);
}

static AOTITorchError fresh_op(const char *op, const struct fresh *f, const int64_t *size, int64_t n, const int32_t *dtype,
			       AtenTensorHandle *ret)
{
	SHIM_TRY_AS(op) {
		if (n < 0 || n > ATEN_DIMS)
			aten_fail("%lld dims", (long long)n);
		struct aten_tensor *t = aten_new(dtype ? *dtype : f->how == FILL_INT ? DTYPE_I64 : DTYPE_F32, (int)n, size, NULL);
		fill_fresh(f, t);
		SHIM_GIVE(ret, t);
	}
	SHIM_END
}

static AOTITorchError like_op(const char *op, const struct fresh *f, AtenTensorHandle self, const int32_t *dtype, const int32_t *format,
			      AtenTensorHandle *ret)
{
	SHIM_TRY_AS(op) {
		int to = dtype ? *dtype : self->dtype;
		struct aten_tensor *t =
		    !format || *format == 1 ? aten_like(self, to) : aten_new_format(to, self->n_dim, self->size, *format > 1);
		fill_fresh(f, t);
		SHIM_GIVE(ret, t);
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
FRESH_OP(rand, (SIZE), .how = FILL_UNIFORM)
FRESH_OP(rand_generator, (SIZE, GENERATOR), .how = FILL_UNIFORM, .generator = generator)
LIKE_OP(rand_like, (), .how = FILL_UNIFORM)
LIKE_OP(rand_like_generator, (GENERATOR, ), .how = FILL_UNIFORM, .generator = generator)
FRESH_OP(randn, (SIZE), .how = FILL_NORMAL)
FRESH_OP(randn_generator, (SIZE, GENERATOR), .how = FILL_NORMAL, .generator = generator)
LIKE_OP(randn_like, (), .how = FILL_NORMAL)
LIKE_OP(randn_like_generator, (GENERATOR, ), .how = FILL_NORMAL, .generator = generator)
FRESH_OP(randint, (int64_t high, SIZE), .how = FILL_INT, .high = high)
FRESH_OP(randint_generator, (int64_t high, SIZE, GENERATOR), .how = FILL_INT, .high = high, .generator = generator)
FRESH_OP(randint_low, (int64_t low, int64_t high, SIZE), .how = FILL_INT, .low = low, .high = high)
LIKE_OP(randint_like, (int64_t high, ), .how = FILL_INT, .high = high)
LIKE_OP(randint_like_low_dtype, (int64_t low, int64_t high, ), .how = FILL_INT, .low = low, .high = high)

/* Inductor draws the seeds of its own (Philox) random numbers with this. */
AOTITorchError aoti_torch_cpu_randint_low_out(AtenTensorHandle out, int64_t low, int64_t high, SIZE)
{
	SHIM_TRY {
		if (size_len_ != out->n_dim || memcmp(size, out->size, (size_t)size_len_ * sizeof(*size)))
			aten_fail("out is not of the size asked for");
		aten_fill_int(out, low, high);
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu_randperm(int64_t n, OPTIONS, AtenTensorHandle *ret0)
{
	UNUSED_OPTIONS;
	SHIM_TRY {
		SHIM_GIVE(ret0, aten_randperm(n, dtype ? *dtype : DTYPE_I64));
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu_uniform(AtenTensorHandle self, double from, double to, AtenGeneratorHandle *generator, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		struct aten_tensor *t = aten_like(self, self->dtype);
		need_default(generator);
		aten_fill_uniform(t, from, to);
		SHIM_GIVE(ret0, t);
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu_normal_functional(AtenTensorHandle self, double mean, double std, AtenGeneratorHandle *generator,
						AtenTensorHandle *ret0)
{
	SHIM_TRY {
		struct aten_tensor *t = aten_like(self, self->dtype);
		need_default(generator);
		aten_fill_normal(t, mean, std);
		SHIM_GIVE(ret0, t);
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu_exponential(AtenTensorHandle self, double lambd, AtenGeneratorHandle *generator, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		struct aten_tensor *t = aten_like(self, self->dtype);
		need_default(generator);
		if (elem_complex(self->dtype))
			aten_fail("exponential is not implemented for %s", dtype_name(self->dtype));
		aten_fill_exponential(t, lambd);
		SHIM_GIVE(ret0, t);
	}
	SHIM_END
}

SHIM_OP(aoti_torch_cpu_bernoulli__float(AtenTensorHandle self, double p, AtenGeneratorHandle *generator), need_default(generator);
	aten_fill_bernoulli(self, p))

SHIM_OP(aoti_torch_cpu_bernoulli__Tensor(AtenTensorHandle self, AtenTensorHandle p, AtenGeneratorHandle *generator),
	need_default(generator);
	aten_fill_bernoulli_tensor(self, p))

SHIM_OP(aoti_torch_cpu_native_dropout(AtenTensorHandle input, double p, int32_t *train, AtenTensorHandle *ret0, AtenTensorHandle *ret1),
	aten_native_dropout(input, p, !train || *train, ret0, ret1);
	SHIM_KEEP(ret0); SHIM_KEEP(ret1))
