#include "tensor/write_part.h"

#include <errno.h>
#include <unistd.h>

#include "base/json.h"

static int put_strided(struct sink *s, const char *p, int64_t n, int64_t step, size_t bytes)
{
	for (int64_t i = 0; i < n; i++, p += step)
		if (sink_put(s, p, bytes) < 0)
			return -1;
	return 0;
}

/* The elements of v in index order, contiguous. */
static int sink_elements(struct sink *s, const struct tensor_view *v)
{
	const struct tensor_meta *m = &v->meta;
	const int64_t bytes = dtype_info(m->dtype)->bytes;
	int64_t index[TENSOR_MAX_DIMS] = {0}, n, at = 0;
	int k = m->n_dim - 1;
	if (!tensor_numel(m, &n) || !n)
		return 0;
	if (tensor_is_contiguous(m))
		return sink_put_run(s, v->data, (uint64_t)(n * bytes));
	for (;;) {
		const char *row = (const char *)v->data + at * bytes;
		if ((m->stride[k] == 1 ? sink_put_run(s, row, (uint64_t)(m->size[k] * bytes))
				       : put_strided(s, row, m->size[k], m->stride[k] * bytes, (size_t)bytes)) < 0)
			return -1;
		int i = k;
		while (i-- > 0) {
			at += m->stride[i];
			if (++index[i] < m->size[i])
				break;
			at -= m->size[i] * m->stride[i];
			index[i] = 0;
		}
		if (i < 0)
			return 0;
	}
}

/* ---- .npy (numpy/lib/format.py) ---- */

/* Is the memory dense with the first index running fastest? */
static bool is_fortran(const struct tensor_meta *m)
{
	struct tensor_meta t = {.n_dim = m->n_dim};
	for (int i = 0; i < m->n_dim; i++) {
		t.size[i] = m->size[m->n_dim - 1 - i];
		t.stride[i] = m->stride[m->n_dim - 1 - i];
	}
	return tensor_is_contiguous(&t) && !tensor_is_contiguous(m);
}

/* Magic, version, length, the dict that describes the data, spaces; returns its size. */
enum { NPY_HEAD = 10 + 128 + TENSOR_MAX_DIMS * 24 + 64 };
static size_t npy_head(char *head, const struct tensor_meta *m, bool fortran)
{
	size_t n = 10, room = NPY_HEAD - 64;
	memset(head, 0, NPY_HEAD);
	memcpy(head, "\x93NUMPY\x01", 7);
	n += (size_t)snprintf(head + n, room - n, "{'descr': '%s', 'fortran_order': %s, 'shape': (", dtype_info(m->dtype)->npy,
			      fortran ? "True" : "False");
	for (int i = 0; i < m->n_dim; i++)
		n += (size_t)snprintf(head + n, room - n, "%s%lld%s", i ? ", " : "", (long long)m->size[i], m->n_dim == 1 ? "," : "");
	n += (size_t)snprintf(head + n, room - n, "), }");
	/* numpy leaves room for the size to grow when rows are appended: 21 digits. */
	if (m->n_dim) {
		int digits = snprintf(NULL, 0, "%lld", (long long)m->size[fortran ? m->n_dim - 1 : 0]);
		memset(head + n, ' ', (size_t)(21 - digits));
		n += (size_t)(21 - digits);
	}
	size_t end = (n + 1 + 63) / 64 * 64; /* at least a newline */
	memset(head + n, ' ', end - n);
	head[end - 1] = '\n';
	head[8] = (char)((end - 10) & 0xff);
	head[9] = (char)((end - 10) >> 8);
	return end;
}

static int npy_write(struct sink *s, const struct tensor_view *v)
{
	const bool fortran = is_fortran(&v->meta);
	char head[NPY_HEAD];
	int64_t bytes;
	if (sink_put(s, head, npy_head(head, &v->meta, fortran)) < 0)
		return -1;
	if (fortran && tensor_extent(&v->meta, &bytes))
		return sink_put_run(s, v->data, (uint64_t)bytes);
	return sink_elements(s, v);
}

/* ---- .safetensors ---- */

static int compare_names(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;
	return slice_cmp(*x, *y);
}

/* Keys of a file: Unicode texts, each once. */
static int check_names(struct sink *s, const struct tensor_view *v, size_t n, bool safetensors)
{
	struct slice *name = xreallocarray(NULL, n + 1, sizeof(*name));
	for (size_t i = 0; i < n; i++)
		name[i] = v[i].name;
	qsort(name, n, sizeof(*name), compare_names);
	int rc = 0;
	for (size_t i = 0; i < n && !rc; i++) {
		if (name[i].n && (!utf8_valid(name[i]) || slice_chr(name[i], 0)))
			rc = err_set(s->err, EXIT_INPUT, "'%s': the tensor name '%.*s' is not valid UTF-8: rename it", s->what,
				     SLN(name[i], 200));
		else if (i && slice_eq(name[i], name[i - 1]))
			rc = err_set(s->err, EXIT_INPUT, "'%s': two tensors are named '%.*s': rename one", s->what, SLN(name[i], 200));
		else if (safetensors && slice_is(name[i], "__metadata__"))
			rc = err_set(s->err, EXIT_INPUT, "'%s': a .safetensors file cannot have a tensor named '__metadata__'", s->what);
	}
	free(name);
	return rc;
}

static int64_t bytes_of(const struct tensor_view *v)
{
	int64_t n;
	tensor_numel(&v->meta, &n);
	return n * dtype_info(v->meta.dtype)->bytes;
}

static void safetensors_header(struct buf *b, const struct tensor_view *v, size_t n)
{
	struct json_out o = {.b = b};
	uint64_t at = 0;
	json_obj(&o);
	for (int bytes = 16; bytes; bytes /= 2)
		for (size_t i = 0; i < n; i++) {
			const struct tensor_meta *m = &v[i].meta;
			if (dtype_info(m->dtype)->bytes != bytes)
				continue;
			char *name = xstrndup(v[i].name.p ? v[i].name.p : "", v[i].name.n);
			json_key(&o, name);
			free(name);
			json_obj(&o);
			json_member_str(&o, "dtype", slice_str(dtype_info(m->dtype)->safetensors));
			json_member_arr(&o, "shape");
			for (int k = 0; k < m->n_dim; k++)
				json_out_i64(&o, m->size[k]);
			json_close(&o);
			json_member_arr(&o, "data_offsets");
			json_out_u64(&o, at);
			json_out_u64(&o, at += (uint64_t)bytes_of(&v[i]));
			json_close(&o);
			json_close(&o);
		}
	json_close(&o);
	while (b->len % 8)
		buf_addc(b, ' ');
}

/* ---- .npz (numpy/lib/_npyio_impl.py, _savez: a zip archive of NAME.npy) ---- */

static int npz_write(struct sink *s, const struct tensor_view *v, size_t n, bool named)
{
	struct archive a = {.s = s};
	int rc = named ? check_names(s, v, n, false) : 0;
	for (size_t i = 0; i < n && !rc; i++) {
		char head[NPY_HEAD], *name = v[i].name.n ? xasprintf("%.*s.npy", SL(v[i].name)) : xasprintf("arr_%zu.npy", i);
		const uint64_t size = npy_head(head, &v[i].meta, is_fortran(&v[i].meta)) + (uint64_t)bytes_of(&v[i]);
		if (strlen(name) > UINT16_MAX)
			rc = err_set(s->err, EXIT_INPUT, "'%s': a tensor's name is too long", s->what);
		else if (archive_begin(&a, name, size) < 0 || npy_write(s, &v[i]) < 0 || archive_member_end(&a, name) < 0)
			rc = -1;
		free(name);
	}
	if (!rc)
		rc = archive_end(&a);
	archive_release(&a);
	return rc;
}

static int safetensors_write(struct sink *s, const struct tensor_view *v, size_t n)
{
	struct buf b = {0};
	if (check_names(s, v, n, true) < 0)
		return -1;
	safetensors_header(&b, v, n);
	uint64_t length = b.len;
	int rc = sink_put(s, &length, 8) < 0 || sink_put(s, b.p, b.len) < 0 ? -1 : 0;
	for (int bytes = 16; bytes && !rc; bytes /= 2)
		for (size_t i = 0; i < n && !rc; i++)
			if (dtype_info(v[i].meta.dtype)->bytes == bytes)
				rc = sink_elements(s, &v[i]);
	buf_release(&b);
	return rc;
}

/* ---- all ---- */

bool tensor_writable(enum tensor_format format, int dtype)
{
	const struct dtype_info *t = dtype_info(dtype);
	if (!t)
		return false;
	switch (format) {
	case TENSOR_NPY:
	case TENSOR_NPZ: return *t->npy;
	case TENSOR_SAFETENSORS: return *t->safetensors;
	case TENSOR_PT: return dtype != DTYPE_QI8 && dtype != DTYPE_QU8 && dtype != DTYPE_QI32; /* scales are unknown */
	default: return false;
	}
}

static int check_view(struct sink *s, enum tensor_format format, const struct tensor_view *v)
{
	static const char *const advice[] = {[TENSOR_NPY] = ".npy does not support it: save as .safetensors or .pt",
					     [TENSOR_NPZ] = ".npz does not support it: save as .safetensors or .pt",
					     [TENSOR_SAFETENSORS] = ".safetensors does not support it: save as .pt",
					     [TENSOR_PT] = ".pt does not store quantization parameters"};
	int64_t bytes, n;
	if (tensor_is_none(v))
		return format == TENSOR_PT ? 0 : err_set(s->err, EXIT_INPUT, "'%s': a None cannot be saved: save as .pt", s->what);
	if (!tensor_writable(format, v->meta.dtype))
		return err_set(s->err, EXIT_INPUT, "'%s': a %s tensor cannot be saved: %s", s->what, dtype_name(v->meta.dtype),
			       advice[format]);
	if (!tensor_extent(&v->meta, &bytes) || !tensor_numel(&v->meta, &n) ||
	    __builtin_mul_overflow(n, dtype_info(v->meta.dtype)->bytes, &bytes))
		return err_set(s->err, EXIT_INPUT, "'%s': a tensor has impossible sizes or strides", s->what);
	return 0;
}

int tensor_write_storage(int fd, struct slice bytes, struct slice device, const char *what, struct err *err)
{
	struct sink s;
	sink_open(&s, fd, what, err);
	return pt_write_storage(&s, bytes, device) < 0 ? -1 : sink_flush(&s);
}

int tensor_write(int fd, enum tensor_format format, const struct tensor_view *v, size_t n, const char *what, struct err *err)
{
	struct sink s;
	sink_open(&s, fd, what, err);
	if (format == TENSOR_NPY && n != 1)
		return err_set(err, EXIT_INPUT, "'%s': a .npy file contains one tensor, not %zu: save as .npz, .safetensors or .pt", what,
			       n);
	for (size_t i = 0; i < n; i++)
		if (check_view(&s, format, &v[i]) < 0)
			return -1;
	bool named = false;
	for (size_t i = 0; i < n; i++)
		named |= v[i].name.n > 0;
	int rc = -1;
	switch (format) {
	case TENSOR_NPY: rc = npy_write(&s, v); break;
	case TENSOR_NPZ: rc = npz_write(&s, v, n, named); break;
	case TENSOR_SAFETENSORS: rc = safetensors_write(&s, v, n); break;
	case TENSOR_PT: rc = named && check_names(&s, v, n, false) < 0 ? -1 : pt_write(&s, v, n, named); break;
	}
	return rc < 0 ? -1 : sink_flush(&s);
}
