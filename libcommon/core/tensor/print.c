/* print(tensor): by the rules of torch/_tensor_str.py in torch 2.13, without its recursion. */
#include "tensor/stats_part.h"
#include "tensor/write.h"

enum { THRESHOLD = 1000, EDGE = 3, PREFIX = 7 /* "tensor(" */, MAX_PRECISION = 60 };
#define MAX_SHOWN (INT64_C(1) << 26) /* elements; more would be unreadable, and strides of 0 cost no memory */

enum form { FORM_FLOAT, FORM_SIGNED, FORM_UNSIGNED, FORM_BOOL };

/* The format of all elements (or all real, all imaginary parts); torch's _Formatter. */
struct formatter {
	enum form form;
	int dtype, bytes;
	size_t offset; /* of the part in the element */
	int precision, width;
	bool int_mode, sci_mode;
};

struct printer {
	struct buf *b;
	size_t end; /* of b: enough */
	const struct tensor_meta *m;
	const char *data;
	int bytes, n_dim, width;
	bool summarize;
	int64_t shown[TENSOR_MAX_DIMS]; /* number of elements shown in a dim */
	int64_t place[TENSOR_MAX_DIMS]; /* the current one of these */
	struct formatter part[2];
	int parts; /* 2: complex */
};

/* ---- elements ---- */

static double float_at(const struct formatter *f, const char *p)
{
	switch (f->dtype) {
	case DTYPE_F16: return stats_load(STATS_F16, p);
	case DTYPE_BF16: return stats_load(STATS_BF16, p);
	case DTYPE_F32: return stats_load(STATS_F32, p);
	case DTYPE_F64: return stats_load(STATS_F64, p);
	case DTYPE_F4E2M1FN_X2: return (uint8_t)*p; /* torch shows the byte */
	default: return stats_byte(f->dtype, (uint8_t)*p);
	}
}

static void int_text(const struct formatter *f, const char *p, char *text, size_t room)
{
	uint64_t u = 0;
	memcpy(&u, p, (size_t)f->bytes);
	if (f->form == FORM_BOOL)
		snprintf(text, room, "%s", u ? "True" : "False");
	else if (f->form == FORM_UNSIGNED)
		snprintf(text, room, "%llu", (unsigned long long)u);
	else
		snprintf(text, room, "%lld", (long long)(int64_t)(u << (64 - 8 * f->bytes)) >> (64 - 8 * f->bytes));
}

/* Python writes nan without a sign. */
static void float_text(double v, const char *how, int precision, char *text, size_t room)
{
	if (v != v)
		snprintf(text, room, "nan");
	else if (v - v != 0)
		snprintf(text, room, v < 0 ? "-inf" : "inf");
	else
		snprintf(text, room, *how == 'e' ? "%.*e" : "%.*f", precision, v);
}

/* Writes a part of an element, padded to the formatter's width. */
static int part_text(const struct formatter *f, const char *p, char *text, size_t room)
{
	char raw[512];
	if (f->form != FORM_FLOAT) {
		int_text(f, p + f->offset, raw, sizeof(raw));
	} else {
		double v = float_at(f, p + f->offset);
		float_text(v, f->sci_mode ? "e" : "f", f->int_mode && !f->sci_mode ? 0 : f->precision, raw, sizeof(raw) - 1);
		if (f->int_mode && !f->sci_mode && v - v == 0)
			memcpy(raw + strlen(raw), ".", 2);
	}
	return snprintf(text, room, "%*s", f->width, raw);
}

static void add_element(struct printer *q, const char *p)
{
	char text[1024];
	part_text(&q->part[0], p, text, sizeof(text));
	buf_adds(q->b, text);
	if (q->parts == 1)
		return;
	part_text(&q->part[1], p, text, sizeof(text));
	const char *im = text + strspn(text, " ");
	if (*im != '+' && *im != '-')
		buf_addc(q->b, '+');
	buf_adds(q->b, im);
	buf_addc(q->b, 'j');
}

/* ---- which elements ---- */

static int64_t index_of(const struct printer *q, int dim, int64_t place)
{
	int64_t size = q->m->size[dim];
	return q->shown[dim] < size && place >= EDGE ? size - 2 * EDGE + place : place;
}

static const char *address(const struct printer *q)
{
	int64_t at = 0;
	for (int k = 0; k < q->n_dim; k++)
		at += index_of(q, k, q->place[k]) * q->m->stride[k];
	return q->data + at * q->bytes;
}

/* Advances in dims 0 .. dims-1. Returns the dim that advanced, -1 at the end. */
static int advance(struct printer *q, int dims)
{
	for (int k = dims; k-- > 0;) {
		if (++q->place[k] < q->shown[k])
			return k;
		q->place[k] = 0;
	}
	return -1;
}

/* How many elements are shown; -1 for too many to read. */
static int64_t choose(struct printer *q, bool full)
{
	int64_t numel, n = 1;
	tensor_numel(q->m, &numel);
	q->summarize = !full && numel > THRESHOLD;
	for (int k = 0; k < q->n_dim; k++) {
		int64_t size = q->m->size[k];
		q->shown[k] = q->summarize && size > 2 * EDGE ? 2 * EDGE : size;
		if (__builtin_mul_overflow(n, q->shown[k], &n) || n > MAX_SHOWN)
			return -1;
	}
	return n;
}

/* ---- the formatter ---- */

static void widen(struct formatter *f, int length)
{
	if (length > f->width)
		f->width = length;
}

static void set_width(struct printer *q, struct formatter *f)
{
	char text[512];
	do {
		const char *p = address(q) + f->offset;
		if (f->form != FORM_FLOAT) {
			int_text(f, p, text, sizeof(text));
			widen(f, (int)strlen(text));
			continue;
		}
		double v = float_at(f, p);
		if (v - v != 0 || v == 0)
			continue;
		float_text(v, f->sci_mode ? "e" : "f", f->int_mode && !f->sci_mode ? 0 : f->precision, text, sizeof(text));
		widen(f, (int)strlen(text) + (f->int_mode && !f->sci_mode));
	} while (advance(q, q->n_dim) >= 0);
}

/* Integers, and scientific notation if numbers are far apart: decided by the elements shown, without zeros. */
static void set_mode(struct printer *q, struct formatter *f)
{
	double low = __builtin_inf(), high = 0;
	f->int_mode = true;
	do {
		double v = float_at(f, address(q) + f->offset), a = __builtin_fabs(v);
		if (v - v != 0 || v == 0)
			continue;
		low = a < low ? a : low;
		high = a > high ? a : high;
		/* Beyond 2^53 there are no fractions. */
		if (a < 0x1p53 && (double)(int64_t)v != v)
			f->int_mode = false;
	} while (advance(q, q->n_dim) >= 0);
	if (high > 0)
		f->sci_mode = high / low > 1000.0 || high > 1.0e8 || low < 1.0e-4;
}

static struct formatter make_formatter(int dtype, size_t offset, int precision)
{
	struct formatter f = {.dtype = dtype, .bytes = dtype_info(dtype)->bytes, .offset = offset, .precision = precision, .width = 1};
	switch (dtype) {
	case DTYPE_BOOL: f.form = FORM_BOOL; break;
	case DTYPE_I8:
	case DTYPE_I16:
	case DTYPE_I32:
	case DTYPE_I64:
	case DTYPE_QI8:
	case DTYPE_QI32: f.form = FORM_SIGNED; break;
	case DTYPE_U8:
	case DTYPE_U16:
	case DTYPE_U32:
	case DTYPE_U64:
	case DTYPE_QU8: f.form = FORM_UNSIGNED; break;
	default: f.form = FORM_FLOAT;
	}
	return f;
}

static void make_formatters(struct printer *q, int precision)
{
	int dtype = q->m->dtype, part = DTYPE_NONE;
	switch (dtype) {
	case DTYPE_C32: part = DTYPE_F16; break;
	case DTYPE_BC32: part = DTYPE_BF16; break;
	case DTYPE_C64: part = DTYPE_F32; break;
	case DTYPE_C128: part = DTYPE_F64; break;
	default: break;
	}
	bool complex = part != DTYPE_NONE;
	q->parts = complex ? 2 : 1;
	for (int i = 0; i < q->parts; i++) {
		struct formatter *f = &q->part[i];
		*f = make_formatter(complex ? part : dtype, (size_t)i * (size_t)q->bytes / 2, precision);
		if (f->form == FORM_FLOAT)
			set_mode(q, f);
		set_width(q, f);
	}
}

/* ---- the text ---- */

static void repeat(struct buf *b, char c, int n)
{
	while (n-- > 0)
		buf_addc(b, c);
}

/* The last dim at the current position of the others. */
static void add_row(struct printer *q)
{
	const int k = q->n_dim - 1, indent = PREFIX + k;
	const int64_t step = q->m->stride[k] * q->bytes;
	const char *row = address(q);
	int length = q->part[0].width + 2 + (q->parts == 2 ? q->part[1].width + 1 : 0);
	int per_line = (q->width - indent) / length < 1 ? 1 : (q->width - indent) / length;
	int64_t items = 0;
	buf_addc(q->b, '[');
	for (int64_t i = 0; i < q->shown[k] && q->b->len < q->end; i++) {
		bool gap = i == EDGE && q->shown[k] < q->m->size[k];
		for (int item = !gap; item < 2; item++) {
			if (items && items % per_line == 0) {
				buf_adds(q->b, ",\n");
				repeat(q->b, ' ', indent + 1);
			} else if (items) {
				buf_adds(q->b, ", ");
			}
			items++;
			if (item)
				add_element(q, row + index_of(q, k, i) * step);
			else
				buf_adds(q->b, " ...");
		}
	}
	buf_addc(q->b, ']');
}

static void add_separator(struct printer *q, int dim)
{
	buf_addc(q->b, ',');
	repeat(q->b, '\n', q->n_dim - dim - 1);
	repeat(q->b, ' ', PREFIX + dim + 1);
}

static void add_contents(struct printer *q)
{
	const int outer = q->n_dim - 1;
	if (!q->n_dim) {
		add_element(q, q->data);
		return;
	}
	repeat(q->b, '[', outer);
	for (;;) {
		add_row(q);
		int moved = advance(q, outer);
		repeat(q->b, ']', moved < 0 ? outer : outer - 1 - moved);
		if (moved < 0 || q->b->len >= q->end)
			return;
		add_separator(q, moved);
		if (q->place[moved] == EDGE && q->shown[moved] < q->m->size[moved]) {
			buf_adds(q->b, "...");
			add_separator(q, moved);
		}
		repeat(q->b, '[', outer - 1 - moved);
	}
}

static void add_size(struct buf *b, const struct tensor_meta *m)
{
	buf_adds(b, "size=(");
	for (int k = 0; k < m->n_dim; k++)
		buf_addf(b, "%s%lld%s", k ? ", " : "", (long long)m->size[k], m->n_dim == 1 ? "," : "");
	buf_addc(b, ')');
}

/* ", suffix", on a line of its own where the last one is too long; *last is what torch uses as its length. */
static void add_suffix(struct printer *q, struct buf *suffix, size_t *last)
{
	if (!suffix->len)
		return;
	if (*last + suffix->len + 2 > (size_t)q->width) {
		buf_adds(q->b, ",\n");
		repeat(q->b, ' ', PREFIX);
		*last = PREFIX + suffix->len;
	} else {
		buf_adds(q->b, ", ");
		*last += suffix->len + 2;
	}
	buf_add(q->b, suffix->p, suffix->len);
	buf_reset(suffix);
}

enum shown { SHOWN_ALL, SHOWN_EMPTY, SHOWN_NOTHING };

static void add_suffixes(struct printer *q, size_t start, enum shown shown)
{
	const struct tensor_meta *m = q->m;
	LOCAL_BUF s = {0};
	size_t last = q->b->len - start + 2; /* of one line: one more than it has, and one */
	for (size_t i = q->b->len; i-- > start;)
		if (q->b->p[i] == '\n') {
			last = q->b->len - i + 1;
			break;
		}
	if (m->device != DEVICE_CPU) {
		buf_addf(&s, "device='%s", device_name(m->device));
		if (m->device_index >= 0)
			buf_addf(&s, ":%d", m->device_index);
		buf_addc(&s, '\'');
		add_suffix(q, &s, &last);
	}
	if (shown == SHOWN_NOTHING || (shown == SHOWN_EMPTY && m->n_dim != 1)) {
		add_size(&s, m);
		add_suffix(q, &s, &last);
	}
	bool usual =
	    m->dtype == DTYPE_F32 || (shown == SHOWN_ALL && (m->dtype == DTYPE_C64 || m->dtype == DTYPE_I64 || m->dtype == DTYPE_BOOL));
	if (!usual) {
		buf_addf(&s, "dtype=%s%s", dtype_info(m->dtype) ? "torch." : "", dtype_name(m->dtype));
		add_suffix(q, &s, &last);
	}
}

void tensor_print(struct buf *b, const struct tensor_meta *m, const void *data, struct tensor_print how)
{
	struct printer q = {.b = b, .m = m, .data = data, .n_dim = m->n_dim, .width = how.width > 0 ? how.width : 80};
	const struct dtype_info *t = dtype_info(m->dtype);
	const size_t start = b->len;
	q.end = how.most && how.most < SIZE_MAX - start ? start + how.most : SIZE_MAX;
	int64_t numel = 0;
	enum shown shown = SHOWN_ALL;
	buf_adds(b, "tensor(");
	if (!t || m->device == DEVICE_META || !tensor_numel(m, &numel))
		shown = SHOWN_NOTHING;
	else if (!numel)
		shown = SHOWN_EMPTY;
	else if (choose(&q, how.full) < 0)
		shown = SHOWN_NOTHING;
	if (shown == SHOWN_ALL) {
		q.bytes = t->bytes;
		make_formatters(&q, how.precision <= 0 ? 4 : how.precision > MAX_PRECISION ? MAX_PRECISION : how.precision);
		add_contents(&q);
	} else {
		buf_adds(b, shown == SHOWN_EMPTY ? "[]" : "...");
	}
	add_suffixes(&q, start, shown);
	buf_addc(b, ')');
}
