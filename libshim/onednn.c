/* Layers with packed weights, as Inductor makes them of a frozen model. Outputs of convolutions are channels_last, those of linear
 * layers contiguous (torch/_meta_registrations.py of 2.13). All is computed in float32 and rounded once. */
#include "onednn.h"
#include "aten/conv.h"
#include "aten/cpu.h"
#include "aten/elem.h"
#include "shim.h"
#include "aten/mat.h"

#include <math.h>

ATEN_LOOPS

/* ---- packed weights ---- */

enum { MD_DIMS = 12, MD_BYTES = 772, MD_BLOCKED = 2 };

struct packed {
	int32_t n_dim, n_blocks;
	int64_t size[MD_DIMS], stride[MD_DIMS], block[MD_DIMS], block_dim[MD_DIMS], offset;
};

static void read_packed(const uint8_t *o, int64_t n, struct packed *p)
{
	int32_t kind;

	if (n != MD_BYTES)
		aten_fail("a packed weight with a description of %lld bytes; only that of torch 2.13 (%d bytes) is known; use libtorch",
			  (long long)n, MD_BYTES);
	memcpy(&p->n_dim, o + 4, 4);
	memcpy(p->size, o + 8, sizeof(p->size));
	memcpy(&p->offset, o + 304, 8);
	memcpy(&kind, o + 312, 4);
	memcpy(p->stride, o + 320, sizeof(p->stride));
	memcpy(&p->n_blocks, o + 416, 4);
	memcpy(p->block, o + 424, sizeof(p->block));
	memcpy(p->block_dim, o + 520, sizeof(p->block_dim));
	if (kind != MD_BLOCKED || p->n_dim < 1 || p->n_dim > MD_DIMS || p->n_blocks < 0 || p->n_blocks > MD_DIMS)
		aten_fail("a weight packed in a way that is not known here (kind %d); use libtorch", kind);
	for (int i = 0; i < p->n_blocks; i++)
		if (p->block[i] < 1 || p->block_dim[i] < 0 || p->block_dim[i] >= p->n_dim)
			aten_fail("the description of a packed weight is damaged");
}

/* dnnl_memory_desc: blocks from the innermost one out, then the strides of whole blocks. */
static int64_t packed_at(const struct packed *p, const int64_t *index)
{
	int64_t left[MD_DIMS], at = p->offset, step = 1;

	memcpy(left, index, sizeof(left));
	for (int i = p->n_blocks - 1; i >= 0; i--) {
		int64_t *d = &left[p->block_dim[i]];
		at += *d % p->block[i] * step;
		*d /= p->block[i];
		step *= p->block[i];
	}
	for (int i = 0; i < p->n_dim; i++)
		at += left[i] * p->stride[i];
	return at;
}

/* Position in torch's tensor -> index in oneDNN's, which has the groups as a dim of their own. */
static void packed_index(const struct packed *p, int n_dim, const int64_t *pos, int64_t *index)
{
	int first = p->n_dim - n_dim;

	for (int i = 0; i < n_dim; i++)
		index[first + i] = pos[i];
	if (first) {
		index[0] = pos[0] / p->size[1];
		index[1] = pos[0] % p->size[1];
	}
}

static bool same_sizes(const struct packed *p, int n_dim, const int64_t *size)
{
	int first = p->n_dim - n_dim;

	if (first < 0 || first > 1 || size[0] != p->size[first] * (first ? p->size[0] : 1) || (first && p->size[1] < 1))
		return false;
	return !memcmp(size + 1, p->size + first + 1, (size_t)(n_dim - 1) * sizeof(*size));
}

struct aten_tensor *aten_onednn_unpack(const void *data, int dtype, int n_dim, const int64_t *size, const uint8_t *opaque,
				       int64_t opaque_size)
{
	struct packed p;
	int64_t pos[MD_DIMS] = {0}, index[MD_DIMS] = {0};

	read_packed(opaque, opaque_size, &p);
	if (n_dim < 1 || n_dim > MD_DIMS - 1 || !same_sizes(&p, n_dim, size))
		aten_fail("a packed weight whose description has other sizes than it");
	struct aten_tensor *t = aten_new(dtype, n_dim, size, NULL);
	t->storage->packed = true;
	char *to = aten_data(t);
	int bytes = elem_bytes(dtype);
	for (int64_t left = aten_numel(t); left > 0; left--, to += bytes) {
		packed_index(&p, n_dim, pos, index);
		elem_copy(to, (const char *)data + packed_at(&p, index) * bytes, bytes);
		for (int i = n_dim - 1; i >= 0 && ++pos[i] == size[i]; i--)
			pos[i] = 0;
	}
	return t;
}

/* [groups * out, in, ...] -> [groups * in, out, ...] */
static struct aten_tensor *input_first(struct aten_tensor *w, int64_t groups)
{
	int n = w->n_dim;
	int64_t size[ATEN_DIMS], from[ATEN_DIMS], to[ATEN_DIMS];

	if (n < 3 || groups < 1 || w->size[0] % groups)
		aten_fail("a packed weight of %d dimensions for %lld groups", n, (long long)groups);
	int64_t out = w->size[0] / groups, in = w->size[1];
	memcpy(to, w->size, sizeof(to));
	to[0] = groups * in;
	to[1] = out;
	struct aten_tensor *t = aten_new(w->dtype, n, to, NULL);
	size[0] = groups;
	size[1] = in;
	size[2] = out;
	from[0] = out * w->stride[0];
	from[1] = w->stride[1];
	from[2] = w->stride[0];
	to[0] = in * t->stride[0];
	to[1] = t->stride[0];
	to[2] = t->stride[1];
	for (int i = 2; i < n; i++) {
		size[i + 1] = w->size[i];
		from[i + 1] = w->stride[i];
		to[i + 1] = t->stride[i];
	}
	aten_copy(aten_view(t, n + 1, size, to, t->offset), aten_view(w, n + 1, size, from, w->offset));
	return t;
}

/* ---- what follows a layer ---- */

static double scalar(const struct post_op *op, int64_t i, double otherwise)
{
	return i < op->n_scalars && op->scalars && op->scalars[i] ? *op->scalars[i] : otherwise;
}

static float clip(float v, float low, float high) { return v < low ? low : v > high ? high : v; }

static float gelu(float x) { return 0.5f * x * (1 + erff(x * (float)M_SQRT1_2)); }

static float gelu_tanh(float x) { return 0.5f * x * (1 + tanhf(0.797884561f * (x + 0.044715f * x * x * x))); }

ATEN_WIDE static void rectify(float *v, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		v[i] = v[i] < 0 ? 0 : v[i];
}

void aten_post_op(const struct post_op *op, float *v, int64_t n)
{
	const char *name = op->name ? op->name : "none";
	float a = (float)scalar(op, 0, 0), b = (float)scalar(op, 1, 0);
#define EACH(what, expression) \
	if (!strcmp(name, what)) { \
		for (int64_t i = 0; i < n; i++) { \
			float x = v[i]; \
			v[i] = (expression); \
		} \
		return; \
	}
	if (!strcmp(name, "none") || !*name)
		return;
	if (!strcmp(name, "gelu") && op->algorithm && !strcmp(op->algorithm, "tanh"))
		name = "gelu_tanh";
	if (!strcmp(name, "relu")) {
		rectify(v, n);
		return;
	}
	EACH("sigmoid", aten_sigmoid(x))
	EACH("tanh", tanhf(x))
	EACH("gelu", gelu(x))
	EACH("gelu_tanh", gelu_tanh(x))
	EACH("swish", x * aten_sigmoid(x))
	EACH("hardswish", x * clip(x / 6 + 0.5f, 0, 1))
	EACH("hardsigmoid", clip(x / 6 + 0.5f, 0, 1))
	EACH("leaky_relu", x < 0 ? x * a : x)
	EACH("hardtanh", clip(x, a, b))
#undef EACH
	aten_fail("'%s' behind a layer is not known here; use libtorch", name);
}

static void binary(const char *name, float *v, const float *other, double alpha, int64_t n)
{
	float a = (float)alpha;
	if (!strcmp(name, "add") || !strcmp(name, "sum"))
		for (int64_t i = 0; i < n; i++)
			v[i] += a * other[i];
	else if (!strcmp(name, "sub"))
		for (int64_t i = 0; i < n; i++)
			v[i] -= a * other[i];
	else if (!strcmp(name, "mul"))
		for (int64_t i = 0; i < n; i++)
			v[i] *= other[i];
	else
		aten_fail("'%s' behind a layer is not known here; use libtorch", name);
}

/* y (dense, float32) with other, then what follows; into a tensor of y's shape and that dtype. */
static struct aten_tensor *finish_output(struct aten_tensor *y, struct aten_tensor *other, const char *how, const double *alpha,
					 const struct post_op *op, int dtype)
{
	float *v = (float *)aten_data(y);
	if (other) {
		struct aten_tensor *o = other;
		if (o->dtype != DTYPE_F32 || o->n_dim != y->n_dim || memcmp(o->size, y->size, (size_t)y->n_dim * sizeof(*o->size)) ||
		    memcmp(o->stride, y->stride, (size_t)y->n_dim * sizeof(*o->stride))) {
			o = aten_new(DTYPE_F32, y->n_dim, y->size, y->stride);
			aten_copy(o, other);
		}
		binary(how, v, (float *)aten_data(o), alpha ? *alpha : 1, aten_numel(y));
	}
	aten_post_op(op, v, aten_numel(y));
	if (dtype == DTYPE_F32)
		return y;
	struct aten_tensor *out = aten_new(dtype, y->n_dim, y->size, y->stride);
	aten_copy(out, y);
	return out;
}

static struct aten_tensor *wide(struct aten_tensor *t)
{
	if (!t || t->dtype == DTYPE_F32)
		return t;
	if (t->dtype != DTYPE_BF16 && t->dtype != DTYPE_F16)
		aten_fail("a layer of oneDNN with %s", dtype_name(t->dtype));
	struct aten_tensor *w = aten_like(t, DTYPE_F32);
	aten_copy(w, t);
	return w;
}

/* ---- convolutions ---- */

static struct aten_tensor *conv(struct aten_tensor *x, struct aten_tensor *w, struct aten_tensor *const *bias, struct conv_params p,
				struct aten_tensor *other, const char *how, const double *alpha, const struct post_op *op)
{
	p.channels_last = x->n_dim > 3;
	return finish_output(aten_conv(wide(x), wide(w), wide(bias ? *bias : NULL), &p), other, how, alpha, op, x->dtype);
}

AOTITorchError aoti_torch_cpu_mkldnn__convolution_pointwise(AtenTensorHandle X, AtenTensorHandle W, AtenTensorHandle *B,
							    const int64_t *padding, int64_t n_padding, const int64_t *stride,
							    int64_t n_stride, const int64_t *dilation, int64_t n_dilation, int64_t groups,
							    const char *attr, const double **scalars, int64_t n_scalars,
							    const char **algorithm, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		struct conv_params p = {stride, padding, dilation, NULL, n_stride, n_padding, n_dilation, 0, groups, false, 1};
		struct post_op op = {attr, algorithm ? *algorithm : NULL, scalars, n_scalars};
		SHIM_GIVE(ret0, conv(X, W, B, p, NULL, NULL, NULL, &op));
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu_mkldnn__convolution_transpose_pointwise(
    AtenTensorHandle X, AtenTensorHandle W, AtenTensorHandle *B, const int64_t *padding, int64_t n_padding, const int64_t *output_padding,
    int64_t n_output_padding, const int64_t *stride, int64_t n_stride, const int64_t *dilation, int64_t n_dilation, int64_t groups,
    const char *attr, const double **scalars, int64_t n_scalars, const char **algorithm, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		struct conv_params p = {stride,     padding,          dilation, output_padding, n_stride, n_padding,
					n_dilation, n_output_padding, groups,   true,           1};
		struct post_op op = {attr, algorithm ? *algorithm : NULL, scalars, n_scalars};
		if (W->storage->packed)
			W = input_first(W, groups);
		SHIM_GIVE(ret0, conv(X, W, B, p, NULL, NULL, NULL, &op));
	}
	SHIM_END
}

#define BINARY_CONV \
	AtenTensorHandle W, AtenTensorHandle *B, const int64_t *padding, int64_t n_padding, const int64_t *stride, int64_t n_stride, \
	    const int64_t *dilation, int64_t n_dilation, int64_t groups, const char *binary_attr, double *alpha, const char **unary_attr, \
	    const double **unary_scalars, int64_t n_scalars, const char **unary_algorithm, AtenTensorHandle *ret0

static AOTITorchError conv_binary(const char *name, bool in_place, AtenTensorHandle X, AtenTensorHandle other, BINARY_CONV)
{
	SHIM_TRY_AS(name) {
		struct conv_params p = {stride, padding, dilation, NULL, n_stride, n_padding, n_dilation, 0, groups, false, 1};
		struct post_op op = {unary_attr ? *unary_attr : NULL, unary_algorithm ? *unary_algorithm : NULL, unary_scalars, n_scalars};
		struct aten_tensor *y = conv(X, W, B, p, other, binary_attr, alpha, &op);
		if (in_place)
			aten_copy(other, y);
		SHIM_GIVE(ret0, in_place ? other : y);
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu_mkldnn__convolution_pointwise_binary(AtenTensorHandle X, AtenTensorHandle other, BINARY_CONV)
{
	return conv_binary(__func__, false, X, other, W, B, padding, n_padding, stride, n_stride, dilation, n_dilation, groups, binary_attr,
			   alpha, unary_attr, unary_scalars, n_scalars, unary_algorithm, ret0);
}

AOTITorchError aoti_torch_cpu_mkldnn__convolution_pointwise_binary_(AtenTensorHandle other, AtenTensorHandle X, BINARY_CONV)
{
	return conv_binary(__func__, true, X, other, W, B, padding, n_padding, stride, n_stride, dilation, n_dilation, groups, binary_attr,
			   alpha, unary_attr, unary_scalars, n_scalars, unary_algorithm, ret0);
}

/* ---- linear layers ---- */

/* [..., K] with [N, K] -> [..., N] in float32 */
static struct aten_tensor *linear(struct aten_tensor *x, struct aten_tensor *w, struct aten_tensor *const *bias)
{
	int64_t size[ATEN_DIMS], rows = 1, k = x->n_dim ? x->size[x->n_dim - 1] : 1;

	if (!x->n_dim || w->n_dim != 2 || w->size[1] != k)
		aten_fail("a linear layer of %lld features on %lld", w->n_dim == 2 ? (long long)w->size[1] : -1, (long long)k);
	for (int i = 0; i < x->n_dim; i++)
		size[i] = x->size[i];
	size[x->n_dim - 1] = w->size[0];
	struct aten_tensor *y = aten_new(DTYPE_F32, x->n_dim, size, NULL);
	for (int i = 0; i + 1 < x->n_dim; i++)
		rows *= x->size[i];
	struct mat a = mat_of(x, -1), c = {aten_data(y), DTYPE_F32, rows, w->size[0], w->size[0], 1};
	if (x->n_dim != 2)
		a = (struct mat){aten_data(aten_contiguous(x)), x->dtype, rows, k, k, 1};
	mat_mul(c, bias && *bias ? mat_broadcast(*bias, rows, w->size[0]) : (struct mat){0}, a, mat_t(mat_of(w, -1)), 1, 1);
	return y;
}

AOTITorchError aoti_torch_cpu__linear_pointwise(AtenTensorHandle X, AtenTensorHandle W, AtenTensorHandle *B, const char *attr,
						const double **scalars, int64_t n_scalars, const char **algorithm, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		struct post_op op = {attr, algorithm ? *algorithm : NULL, scalars, n_scalars};
		SHIM_GIVE(ret0, finish_output(linear(X, W, B), NULL, NULL, NULL, &op, X->dtype));
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu__linear_pointwise_binary(AtenTensorHandle X, AtenTensorHandle other, AtenTensorHandle W, AtenTensorHandle *B,
						       const char *attr, AtenTensorHandle *ret0)
{
	SHIM_TRY {
		struct post_op op = {0};
		SHIM_GIVE(ret0, finish_output(linear(X, W, B), other, attr, NULL, &op, X->dtype));
	}
	SHIM_END
}

/* W is packed for MKL; origin_W is the same one as it was. */
AOTITorchError aoti_torch_cpu__mkl_linear(AtenTensorHandle X, AtenTensorHandle W, AtenTensorHandle origin_W, AtenTensorHandle *B,
					  int64_t prepack_batch_size, AtenTensorHandle *ret0)
{
	(void)W, (void)prepack_batch_size;
	SHIM_TRY {
		struct post_op op = {0};
		SHIM_GIVE(ret0, finish_output(linear(X, origin_W, B), NULL, NULL, NULL, &op, X->dtype));
	}
	SHIM_END
}
