/* NumPy's .npy (numpy/lib/format.py of 1.26 and 2.x: versions 1.0, 2.0, 3.0):
 *     "\x93NUMPY" u8 major, u8 minor, u16 length (1.0) or u32 (2.0, 3.0), then a Python dict of that length, padded with spaces:
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (3, 8), }
 */
#include "tensor/reader.h"

/* The current position, and the file name for messages. */
struct cursor {
	const char *p, *end;
	const char *path;
	struct slice member;
	struct err *err;
};

static int npy_fail(const struct cursor *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
static int npy_fail(const struct cursor *c, const char *fmt, ...)
{
	char what[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (c->member.n)
		return err_set(c->err, EXIT_INPUT, "'%s': member '%.*s': %s", c->path, SLN(c->member, 200), what);
	return err_set(c->err, EXIT_INPUT, "'%s': %s", c->path, what);
}

static int damaged(const struct cursor *c) { return npy_fail(c, "its .npy header is damaged"); }

/* ---- the header's dict ---- */

static void spaces(struct cursor *c)
{
	while (c->p < c->end && (*c->p == ' ' || *c->p == '\n' || *c->p == '\t'))
		c->p++;
}

static bool take_char(struct cursor *c, char want)
{
	spaces(c);
	if (c->p == c->end || *c->p != want)
		return false;
	c->p++;
	return true;
}

static bool take_word(struct cursor *c, const char *word)
{
	spaces(c);
	if (!slice_starts(slice_of(c->p, (size_t)(c->end - c->p)), word))
		return false;
	c->p += strlen(word);
	return true;
}

/* 'text' or "text": no useful one contains a backslash. */
static bool take_string(struct cursor *c, struct slice *s)
{
	spaces(c);
	if (c->p == c->end || (*c->p != '\'' && *c->p != '"'))
		return false;
	const char *close = memchr(c->p + 1, *c->p, (size_t)(c->end - c->p - 1));
	if (!close)
		return false;
	*s = slice_of(c->p + 1, (size_t)(close - c->p - 1));
	c->p = close + 1;
	return true;
}

static int take_shape(struct cursor *c, struct tensor_meta *m)
{
	m->n_dim = 0;
	if (!take_char(c, '('))
		return damaged(c);
	while (!take_char(c, ')')) {
		if (take_char(c, '-'))
			return npy_fail(c, "its shape has a negative size: the file is damaged");
		const char *from = c->p;
		uint64_t v;
		while (c->p < c->end && is_digit(*c->p))
			c->p++;
		if (c->p == from)
			return damaged(c);
		if (!slice_u64(slice_of(from, (size_t)(c->p - from)), &v) || v > INT64_MAX)
			return npy_fail(c, "its shape is larger than any array: the file is damaged");
		if (m->n_dim == TENSOR_MAX_DIMS)
			return npy_fail(c, "it has more than 64 dimensions");
		m->size[m->n_dim++] = (int64_t)v;
		if (c->p < c->end && *c->p == 'L') /* a Python 2 long */
			c->p++;
		if (!take_char(c, ',')) {
			if (!take_char(c, ')'))
				return damaged(c);
			break;
		}
	}
	return 0;
}

/* ---- the dtype ---- */

/* Why it is not supported, and what to do. */
static int refuse_dtype(const struct cursor *c, struct slice d)
{
	char kind = d.n > 1 ? d.p[1] : 0;
	if (slice_is(d, "O") || kind == 'O')
		return npy_fail(c, "contains Python objects, which require unpickling: save an array of numbers (arr.astype('float32'))");
	if (kind == 'V' && d.n == 3 && (d.p[2] == '1' || d.p[2] == '2'))
		return npy_fail(c,
				"has dtype '%.*s', %c raw bytes: .npy does not store the name of ml_dtypes' %s; save the tensor with "
				"torch.save or as .safetensors",
				SLN(d, 40), d.p[2], d.p[2] == '2' ? "bfloat16" : "float8");
	if (kind == 'V')
		return npy_fail(c, "has raw bytes as its dtype ('%.*s'): save an array of numbers", SLN(d, 40));
	if (kind == 'U' || kind == 'S' || kind == 'a')
		return npy_fail(c, "contains text (dtype '%.*s'): a tensor holds numbers", SLN(d, 40));
	if (kind == 'M' || kind == 'm')
		return npy_fail(c, "contains times (dtype '%.*s'): save them as numbers (arr.astype('int64'))", SLN(d, 40));
	return npy_fail(c, "has dtype '%.*s', unsupported for tensors: convert it (arr.astype('float32'))", SLN(d, 40));
}

static int set_dtype(const struct cursor *c, struct slice d, struct tensor_meta *m)
{
	for (int i = 0; i <= DTYPE_F4E2M1FN_X2 && d.n > 1; i++) {
		const struct dtype_info *t = dtype_info(i);
		if (!t || !*t->npy || !slice_is(slice_of(d.p + 1, d.n - 1), t->npy + 1))
			continue;
		if (d.p[0] == '>' && t->bytes > 1)
			return npy_fail(c, "is big-endian (dtype '%.*s'): save arr.astype(arr.dtype.newbyteorder('<'))", SL(d));
		if (d.p[0] == '<' || t->bytes == 1) {
			m->dtype = i;
			return 0;
		}
	}
	return refuse_dtype(c, d);
}

/* ---- the file ---- */

static int read_dict(struct cursor *c, struct tensor_meta *m, bool *fortran)
{
	struct slice key, descr;
	unsigned seen = 0, bit;
	if (!take_char(c, '{'))
		return damaged(c);
	while (!take_char(c, '}')) {
		if (!take_string(c, &key) || !take_char(c, ':'))
			return damaged(c);
		if (slice_is(key, "descr")) {
			bit = 1;
			if (take_char(c, '['))
				return npy_fail(c, "is a record array (a structured dtype): save each of its fields as an array");
			if (!take_string(c, &descr))
				return damaged(c);
			if (set_dtype(c, descr, m) < 0)
				return -1;
		} else if (slice_is(key, "fortran_order")) {
			bit = 2;
			*fortran = take_word(c, "True");
			if (!*fortran && !take_word(c, "False"))
				return damaged(c);
		} else if (slice_is(key, "shape")) {
			bit = 4;
			if (take_shape(c, m) < 0)
				return -1;
		} else {
			return damaged(c);
		}
		if (seen & bit)
			return damaged(c);
		seen |= bit;
		if (!take_char(c, ',')) {
			if (!take_char(c, '}'))
				return damaged(c);
			break;
		}
	}
	spaces(c);
	return seen == 7 && c->p == c->end ? 0 : damaged(c);
}

static void fortran_strides(struct tensor_meta *m)
{
	int64_t stride = 1;
	for (int i = 0; i < m->n_dim; i++) {
		m->stride[i] = stride;
		if (m->size[i] > 1)
			stride *= m->size[i];
	}
}

size_t npy_header_size(struct slice b)
{
	const uint8_t *u = (const uint8_t *)b.p;
	if (b.n < 12 || !slice_starts(b, "\x93NUMPY"))
		return 0;
	if (u[6] == 1)
		return 10 + (size_t)(u[8] | u[9] << 8);
	return 12 + (u[8] | (size_t)u[9] << 8 | (size_t)u[10] << 16 | (size_t)u[11] << 24);
}

int npy_header(struct slice b, uint64_t size, const char *path, struct slice member, struct tensor_meta *m, size_t *at, struct err *err)
{
	struct cursor c = {.path = path, .member = member, .err = err};
	size_t n = npy_header_size(b);
	if (!n)
		return slice_starts(b, "\x93NUMPY") ? npy_fail(&c, "is truncated: its .npy header is incomplete")
						    : npy_fail(&c, "is not an .npy file");
	if (b.p[6] < 1 || b.p[6] > 3)
		return npy_fail(&c, "has .npy version %u.%u: 1.0, 2.0 and 3.0 are supported", (uint8_t)b.p[6], (uint8_t)b.p[7]);
	if (n > b.n)
		return npy_fail(&c, "is truncated: its .npy header is incomplete");
	*m = (struct tensor_meta){.device = DEVICE_CPU, .device_index = -1};
	c.p = b.p + (b.p[6] == 1 ? 10 : 12);
	c.end = b.p + n;
	bool fortran = false;
	int64_t numel, bytes;
	if (read_dict(&c, m, &fortran) < 0)
		return -1;
	tensor_contiguous(m);
	if (!tensor_numel(m, &numel) || !tensor_extent(m, &bytes))
		return npy_fail(&c, "its shape is larger than any array: the file is damaged");
	if (fortran)
		fortran_strides(m);
	if ((uint64_t)bytes > size - n)
		return npy_fail(&c, "is truncated: its shape needs %lld bytes, but %llu follow the header", (long long)bytes,
				(unsigned long long)(size - n));
	if ((uint64_t)bytes < size - n)
		return npy_fail(&c, "has %llu bytes after its array: save one array per file, or several with np.savez",
				(unsigned long long)(size - n - (uint64_t)bytes));
	*at = n;
	return 0;
}

int npy_read(struct tensor_file *f, struct err *err)
{
	struct slice b = tensor_state(f)->bytes;
	struct tensor_meta m;
	size_t at = 0;
	if (npy_header(b, b.n, f->path, SLICE(""), &m, &at, err) < 0)
		return -1;
	f->top = TENSOR_TOP_ONE;
	tensor_add(f, SLICE(""), &m)->data = slice_of(b.p + at, b.n - at);
	return 0;
}
