/* A model's inputs from operands: files, or generated from specs. */
#include "watch/watch_part.h"

#include "model/check/check.h"
#include "watch/names.h"

#include <math.h>

#define MAX_MADE (UINT64_C(1) << 32) /* bytes */

/* A pseudo-random number in (-1, 1), the same in every run. splitmix64. */
static double next_number(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	x ^= x >> 31;
	return (double)(int64_t)x / 9223372036854775808.0;
}

/* The upper half of a float, rounded: bfloat16. */
static uint16_t to_bf16(float f)
{
	uint32_t u;
	memcpy(&u, &f, sizeof(u));
	return (uint16_t)((u + 0x7fff + ((u >> 16) & 1)) >> 16);
}

/* Converts numbers of magnitude below 1; what is below the smallest normal number becomes 0. */
static uint16_t to_f16(double v)
{
	int e;
	double m = frexp(fabs(v), &e); /* m in [0.5, 1) */
	uint16_t sign = v < 0 ? 0x8000 : 0;
	if (v == 0 || e < -13)
		return sign;
	return (uint16_t)(sign | ((unsigned)(e + 14) << 10) | (unsigned)((m * 2 - 1) * 1023));
}

/* Integers stay 0: they may be indices. */
static void fill_random(char *data, int dtype, uint64_t n, uint64_t *state)
{
	for (uint64_t i = 0; i < n; i++) {
		double v = next_number(state);
		switch (dtype) {
		case DTYPE_F32: ((float *)data)[i] = (float)v; break;
		case DTYPE_F64: ((double *)data)[i] = v; break;
		case DTYPE_F16: ((uint16_t *)data)[i] = to_f16(v); break;
		case DTYPE_BF16: ((uint16_t *)data)[i] = to_bf16((float)v); break;
		case DTYPE_C64: ((float *)data)[2 * i] = (float)v, ((float *)data)[2 * i + 1] = (float)next_number(state); break;
		case DTYPE_C128: ((double *)data)[2 * i] = v, ((double *)data)[2 * i + 1] = next_number(state); break;
		case DTYPE_BOOL: data[i] = v > 0; break;
		default: return;
		}
	}
}

/* Made on the host; want: the device that it will be copied to. */
static int make_data(struct arena *a, const struct tensor_meta *m, int want, const char *from, uint64_t *state, struct slice *data,
		     struct err *err)
{
	int64_t bytes;
	const struct dtype_info *d = dtype_info(m->dtype);
	if (!d || !tensor_extent(m, &bytes) || (uint64_t)bytes > MAX_MADE)
		return err_set(err, EXIT_USAGE, "'%s' is too large to generate: pass a file", from);
	if (m->device != DEVICE_CPU && (m->device != DEVICE_CUDA || want != DEVICE_CUDA))
		return err_set(err, EXIT_USAGE, "'%s': inputs can be generated only on cpu, or on cuda for a CUDA model", from);
	char *p = arena_alloc(a, (size_t)bytes + 64);
	p += (64 - (uintptr_t)p % 64) % 64;
	memset(p, 0, (size_t)bytes);
	fill_random(p, m->dtype, (uint64_t)bytes / (uint64_t)d->bytes, state);
	*data = slice_of(p, (size_t)bytes);
	return 0;
}

static int make_input(struct given *g, const struct contract *c, size_t i, struct arena *a, uint64_t *state, struct tensor_view *v,
		      struct err *err)
{
	struct slice data;
	/* Files and generated numbers are on no device: they go where they are needed. */
	const int want = c->input[i].device == DEVICE_NONE ? c->device : c->input[i].device;
	if (g->meta[i].device == DEVICE_CPU && want == DEVICE_CUDA)
		g->meta[i].device = DEVICE_CUDA;
	v->name = c->input[i].name;
	v->meta = g->meta[i];
	if (v->meta.n_dim < 0) {
		struct buf b = {0};
		add_input_name(&b, c, (uint32_t)i);
		err_set(err, EXIT_USAGE, "no input given for %s: the model takes %u (aoti-checkinputs lists them)", buf_str(&b),
			c->n_inputs);
		buf_release(&b);
		return -1;
	}
	if (!g->source[i].file) {
		if (make_data(a, &v->meta, want, g->from[i], state, &data, err) < 0)
			return -1;
	} else if (given_data(g, i, &data, err) < 0) {
		return -1;
	}
	v->data = data.p;
	return 0;
}

/* in->given has been read. */
static int make_inputs(struct inputs *in, const struct contract *c, struct err *err)
{
	uint64_t state = 0;
	in->v = xcalloc(c->n_inputs + 1, sizeof(*in->v));
	in->n = c->n_inputs;
	for (size_t i = 0; i < in->n; i++)
		if (make_input(&in->given, c, i, &in->arena, &state, &in->v[i], err) < 0)
			goto bad;
	if (!inputs_check(c, in->given.meta, in->given.n, err))
		return 0;
bad:
	inputs_release(in);
	return -1;
}

int inputs_read(struct inputs *in, const struct contract *c, const char *const *operand, int n, struct err *err)
{
	*in = (struct inputs){0};
	return given_read(&in->given, c, operand, n, err) < 0 ? -1 : make_inputs(in, c, err);
}

static int read_for(struct loaded *l, struct inputs *in, const char *names, const char *const *operand, int n, struct err *err)
{
	*in = (struct inputs){0};
	return names_given(&in->given, l, &l->contract, names, operand, n, false, err) < 0 ? -1 : make_inputs(in, &l->contract, err);
}

int inputs_load(struct loaded *l, struct inputs *in, const char *path, const struct run_how *how, const char *const *operand, int n,
		struct err *err)
{
	struct watch_bundle b;
	const bool bundle = watch_bundle_like(path);
	if (bundle && n)
		return err_set(err, EXIT_USAGE, "'%s' is a bundle, which has its own inputs: pass no others", path);
	if (bundle && watch_bundle_open(&b, path, err) < 0)
		return -1;
	int r = load_model(l, bundle ? b.library : path, (struct load_options){.model = how->model}, err);
	if (!r && (bundle ? watch_bundle_inputs(&b, in, &l->contract, err) : read_for(l, in, how->names, operand, n, err)) < 0) {
		loaded_release(l);
		r = -1;
	}
	if (bundle)
		watch_bundle_close(&b);
	return r;
}
