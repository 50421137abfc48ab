/* safetensors (the format's own README, and MAX_HEADER_SIZE and the checks of safetensors 0.5's src/tensor.rs):
 *     u64 length of the header, little-endian; the header, JSON, padded with spaces; the data
 *     {"NAME": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ..., "__metadata__": {"key": "text"}}
 * Offsets count from the data's begin; together the tensors cover it without holes or overlaps.
 */
#include "base/json.h"
#include "tensor/reader.h"

enum { HEADER_MAX = 100000000 };

struct range {
	uint64_t from, to;
	uint32_t tensor;
};

struct header {
	struct tensor_file *f;
	struct json_tape t;
	struct slice data;
	struct range *range;
	uint32_t cap;
	struct buf name;
	struct err *err;
};

static int header_fail(const struct header *h, const char *what)
{
	return err_set(h->err, EXIT_INPUT, "'%s': tensor '%.*s' %s", h->f->path, SLN(buf_slice(&h->name), 200), what);
}

static int read_shape(const struct header *h, uint32_t k, struct tensor_meta *m)
{
	const struct json_tape *t = &h->t;
	if (!json_is(t, k, JSON_ARRAY))
		return header_fail(h, "has no shape: the header is damaged");
	json_each(t, k, i) {
		if (m->n_dim == TENSOR_MAX_DIMS)
			return header_fail(h, "has more than 64 dimensions");
		if (!json_i64(t, i, &m->size[m->n_dim]) || m->size[m->n_dim] < 0)
			return header_fail(h, "has a size that is not a non-negative integer: the header is damaged");
		m->n_dim++;
	}
	tensor_contiguous(m);
	return 0;
}

static int read_dtype(const struct header *h, uint32_t k, struct tensor_meta *m)
{
	if (!json_is(&h->t, k, JSON_STRING))
		return header_fail(h, "has no dtype: the header is damaged");
	struct slice s = json_slice(&h->t, k);
	m->dtype = dtype_by_safetensors(s);
	if (m->dtype != DTYPE_NONE)
		return 0;
	char what[128];
	snprintf(what, sizeof(what), "has unknown dtype '%.*s': convert it to another", SLN(s, 40));
	return header_fail(h, what);
}

static int read_range(const struct header *h, uint32_t k, const struct tensor_meta *m, struct range *r)
{
	const struct json_tape *t = &h->t;
	int64_t bytes;
	if (!json_is(t, k, JSON_ARRAY) || json_end(t, k) != k + 3 || !json_u64(t, k + 1, &r->from) || !json_u64(t, k + 2, &r->to) ||
	    r->from > r->to)
		return header_fail(h, "has no data_offsets [begin, end]: the header is damaged");
	if (r->to > h->data.n)
		return header_fail(h, "is outside the file, which is truncated, or its header is damaged");
	if (!tensor_extent(m, &bytes) || (uint64_t)bytes != r->to - r->from)
		return header_fail(h, "has data_offsets that do not match its shape: the header is damaged");
	return 0;
}

static int read_tensor(struct header *h, uint32_t key)
{
	struct tensor_file *f = h->f;
	const struct json_tape *t = &h->t;
	struct tensor_meta m = {.device = DEVICE_CPU, .device_index = -1};
	struct range r = {0};
	buf_reset(&h->name);
	json_unescape(t, key, &h->name);
	if (slice_is(buf_slice(&h->name), "__metadata__"))
		return 0;
	uint32_t v = key + 1;
	if (!json_is(t, v, JSON_OBJECT))
		return header_fail(h, "is not a JSON object: the header is damaged");
	if (read_dtype(h, json_get(t, v, "dtype"), &m) < 0 || read_shape(h, json_get(t, v, "shape"), &m) < 0 ||
	    read_range(h, json_get(t, v, "data_offsets"), &m, &r) < 0)
		return -1;
	GROW(h->range, f->n, h->cap, 1);
	r.tensor = (uint32_t)f->n;
	h->range[f->n] = r;
	tensor_add(f, buf_slice(&h->name), &m)->data = slice_of(h->data.p + r.from, r.to - r.from);
	return 0;
}

static int by_from(const void *a, const void *b)
{
	const struct range *x = a, *y = b;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to); /* an empty one before one that begins there */
}

static int check_cover(struct header *h)
{
	struct tensor_file *f = h->f;
	uint64_t at = 0;
	if (f->n)
		qsort(h->range, f->n, sizeof(*h->range), by_from);
	for (size_t i = 0; i < f->n; i++) {
		const struct range *r = &h->range[i];
		if (r->from != at) {
			struct slice name = f->v[r->tensor].name;
			buf_reset(&h->name);
			buf_add_slice(&h->name, name);
			return header_fail(h, r->from < at ? "overlaps another: the header is damaged"
							   : "has a gap before it: the header is damaged");
		}
		at = r->to;
	}
	if (at != h->data.n)
		return err_set(h->err, EXIT_INPUT, "'%s': has %llu bytes after its last tensor: the file is damaged", f->path,
			       (unsigned long long)(h->data.n - at));
	return 0;
}

static int compare_tensors(const void *a, const void *b, void *v)
{
	const struct tensor *t = v;
	return slice_cmp(t[*(const uint32_t *)a].name, t[*(const uint32_t *)b].name);
}

/* Other readers would use one or the other. */
static int check_names(struct header *h)
{
	struct tensor_file *f = h->f;
	uint32_t *order = xreallocarray(NULL, f->n, sizeof(*order));
	int r = 0;
	for (size_t i = 0; i < f->n; i++)
		order[i] = (uint32_t)i;
	if (f->n)
		qsort_r(order, f->n, sizeof(*order), compare_tensors, f->v);
	for (size_t i = 1; i < f->n && r == 0; i++)
		if (compare_tensors(&order[i - 1], &order[i], f->v) == 0) {
			buf_reset(&h->name);
			buf_add_slice(&h->name, f->v[order[i]].name);
			r = header_fail(h, "is duplicated in the header: the header is damaged");
		}
	free(order);
	return r;
}

static int read_header(struct header *h, struct slice text)
{
	struct tensor_file *f = h->f;
	uint32_t root;
	json_tape_text(&h->t, text.p, text.n);
	if (json_parse(&h->t, 0, text.n, &root) < 0)
		return err_set(h->err, EXIT_INPUT, "'%s': its safetensors header is not valid JSON: %s at byte %zu", f->path, h->t.error,
			       8 + h->t.error_at);
	if (!json_is(&h->t, root, JSON_OBJECT))
		return err_set(h->err, EXIT_INPUT, "'%s': its safetensors header is not a JSON object", f->path);
	json_each_pair(&h->t, root, k)
		if (read_tensor(h, k) < 0)
			return -1;
	return check_cover(h) < 0 ? -1 : check_names(h);
}

int safetensors_read(struct tensor_file *f, struct err *err)
{
	struct slice b = tensor_state(f)->bytes;
	uint64_t n = 0;
	for (unsigned i = 8; i-- > 0;)
		n = n << 8 | (uint8_t)b.p[i];
	if (n > b.n - 8)
		return err_set(err, EXIT_INPUT,
			       "'%s': its safetensors header should have %llu bytes, but %zu follow: the file is truncated", f->path,
			       (unsigned long long)n, b.n - 8);
	if (n > HEADER_MAX)
		return err_set(err, EXIT_INPUT, "'%s': its safetensors header exceeds the format's limit of 100 MB", f->path);
	f->top = TENSOR_TOP_MAPPING;
	struct header h = {.f = f, .data = slice_of(b.p + 8 + n, b.n - 8 - n), .err = err};
	int r = read_header(&h, slice_of(b.p + 8, n));
	json_tape_release(&h.t);
	buf_release(&h.name);
	free(h.range);
	return r;
}
