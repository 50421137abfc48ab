#include "tensor/tensor.h"

void tensor_contiguous(struct tensor_meta *m)
{
	int64_t stride = 1;
	for (int i = m->n_dim; i-- > 0;) {
		m->stride[i] = stride;
		if (m->size[i] > 1 && __builtin_mul_overflow(stride, m->size[i], &stride))
			stride = INT64_MAX; /* impossible sizes: tensor_numel reports it */
	}
}

/* As in c10/core/Contiguity.h: a size of 1 may have any stride, and no elements are always contiguous. */
bool tensor_is_contiguous(const struct tensor_meta *m)
{
	int64_t want = 1;
	for (int i = 0; i < m->n_dim; i++)
		if (!m->size[i])
			return true;
	for (int i = m->n_dim; i-- > 0;) {
		if (m->size[i] == 1)
			continue;
		if (m->stride[i] != want || __builtin_mul_overflow(want, m->size[i], &want))
			return false;
	}
	return true;
}

bool tensor_numel(const struct tensor_meta *m, int64_t *numel)
{
	int64_t n = 1;
	bool none = false, ok = true;
	for (int i = 0; i < m->n_dim; i++) {
		if (m->size[i] < 0)
			return false;
		none |= !m->size[i];
		ok = ok && !__builtin_mul_overflow(n, m->size[i], &n);
	}
	*numel = none ? 0 : n;
	return ok || none;
}

bool tensor_extent(const struct tensor_meta *m, int64_t *bytes)
{
	const struct dtype_info *t = dtype_info(m->dtype);
	int64_t n, last = 0, step;
	if (!t || !tensor_numel(m, &n))
		return false;
	for (int i = 0; i < m->n_dim && n; i++)
		if (m->stride[i] < 0 || __builtin_mul_overflow(m->size[i] - 1, m->stride[i], &step) ||
		    __builtin_add_overflow(last, step, &last))
			return false;
	if (!n) {
		*bytes = 0;
		return true;
	}
	return !__builtin_add_overflow(last, 1, &last) && !__builtin_mul_overflow(last, t->bytes, bytes);
}

bool tensor_is_compact(const struct tensor_meta *m)
{
	const struct dtype_info *t = dtype_info(m->dtype);
	int64_t n, bytes, own;
	return t && tensor_numel(m, &n) && tensor_extent(m, &bytes) && !__builtin_mul_overflow(n, t->bytes, &own) && bytes <= own;
}

/* ---- specs ---- */

/* A spec being read; `at` advances. */
struct spec {
	struct slice text;
	size_t at;
	struct err *err;
};

#define SPEC_FORM "a spec is DTYPE[sizes], e.g. f32[8,10], bf16[2,3]/(1,2) or i64[]@cuda:0"

static int wrong(const struct spec *s, const char *what)
{
	return err_set(s->err, EXIT_USAGE, "'%.*s': %s: " SPEC_FORM, SLN(s->text, 200), what);
}

static bool take_char(struct spec *s, char c)
{
	if (s->at >= s->text.n || s->text.p[s->at] != c)
		return false;
	s->at++;
	return true;
}

static void skip_spaces(struct spec *s)
{
	while (take_char(s, ' '))
		;
}

static bool take_number(struct spec *s, int64_t *v)
{
	size_t from = s->at;
	while (s->at < s->text.n && is_digit(s->text.p[s->at]))
		s->at++;
	uint64_t u;
	if (s->at == from || !slice_u64(slice_of(s->text.p + from, s->at - from), &u) || u > INT64_MAX)
		return false;
	*v = (int64_t)u;
	return true;
}

/* "1, 2, 3" up to the closing bracket, which is consumed; a trailing comma is allowed, as in Python's (1,). */
static int take_list(struct spec *s, char close, int64_t *v, int *n, const char *what)
{
	*n = 0;
	for (;;) {
		skip_spaces(s);
		if (take_char(s, close))
			return 0;
		if (*n == TENSOR_MAX_DIMS)
			return wrong(s, "more than 64 dimensions");
		if (!take_number(s, &v[*n]))
			return wrong(s, what);
		++*n;
		skip_spaces(s);
		if (take_char(s, close))
			return 0;
		if (!take_char(s, ','))
			return wrong(s, what);
	}
}

static size_t name_length(struct slice text)
{
	size_t n = 0;
	while (n < text.n && (text.p[n] == '_' || text.p[n] == '.' || is_digit(text.p[n]) || is_letter(text.p[n])))
		n++;
	return n;
}

bool tensor_spec_like(struct slice text)
{
	size_t n = name_length(text);
	if (n && n == text.n)
		return dtype_by_short(text) != DTYPE_NONE; /* a scalar */
	if (!n || text.p[n] != '[')
		return false;
	if (dtype_by_short(slice_of(text.p, n)) != DTYPE_NONE)
		return true;
	/* "f31[2]" is an invalid spec, "x[1].npy" the name of a file. */
	const char *close = memchr(text.p + n, ']', text.n - n);
	size_t after = close ? (size_t)(close + 1 - text.p) : text.n + 1;
	return after == text.n ||
	       (after < text.n && (text.p[after] == '@' || (text.p[after] == '/' && after + 1 < text.n && text.p[after + 1] == '(')));
}

int tensor_spec_parse(struct slice text, struct tensor_meta *m, struct err *err)
{
	struct spec s = {.text = text, .err = err};
	*m = (struct tensor_meta){.device = DEVICE_CPU, .device_index = -1};
	s.at = name_length(text);
	m->dtype = dtype_by_short(slice_of(text.p, s.at));
	if (s.at == text.n && m->dtype != DTYPE_NONE)
		return 0;
	if (s.at == text.n || text.p[s.at] != '[')
		return wrong(&s, "missing '[' after the dtype");
	if (m->dtype == DTYPE_NONE)
		return wrong(&s, "unknown dtype (known: f32 f64 f16 bf16 i64 i32 i16 i8 u8 b8 c64 f8e4m3fn ...)");
	s.at++;
	if (take_list(&s, ']', m->size, &m->n_dim, "sizes are integers separated by commas") < 0)
		return -1;
	tensor_contiguous(m);
	if (take_char(&s, '/')) {
		int n;
		if (!take_char(&s, '('))
			return wrong(&s, "strides are in (), e.g. /(10,1)");
		if (take_list(&s, ')', m->stride, &n, "strides are integers separated by commas") < 0)
			return -1;
		if (n != m->n_dim)
			return wrong(&s, "the number of strides must match the number of sizes");
	}
	if (take_char(&s, '@')) {
		if (device_parse(slice_of(text.p + s.at, text.n - s.at), &m->device, &m->device_index) < 0)
			return wrong(&s, "unknown device (known: cpu, cuda, cuda:0, xpu:1, mps, meta ...)");
		s.at = text.n;
	}
	int64_t bytes;
	if (s.at != text.n)
		return wrong(&s, "unexpected text at the end");
	if (!tensor_extent(m, &bytes))
		return wrong(&s, "the tensor is too large");
	return 0;
}

static void add_list(struct buf *b, const int64_t *v, int n)
{
	for (int i = 0; i < n; i++)
		buf_addf(b, "%s%lld", i ? "," : "", (long long)v[i]);
}

void tensor_spec_print(const struct tensor_meta *m, struct buf *b)
{
	const struct dtype_info *t = dtype_info(m->dtype);
	buf_adds(b, t ? t->brief : dtype_name(m->dtype));
	buf_addc(b, '[');
	add_list(b, m->size, m->n_dim);
	buf_addc(b, ']');
	if (!tensor_is_contiguous(m)) {
		buf_adds(b, "/(");
		add_list(b, m->stride, m->n_dim);
		buf_addc(b, ')');
	}
	if (m->device != DEVICE_CPU || m->device_index > 0) {
		buf_addf(b, "@%s", device_name(m->device));
		if (m->device_index >= 0)
			buf_addf(b, ":%d", m->device_index);
	}
}
