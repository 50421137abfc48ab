/* Tensors between a tool and pt2-runner. */
#include "watch/runfile.h"

#include "base/tool/output.h"

static uint64_t aligned(uint64_t at) { return (at + 63) & ~63ull; }

int runfile_write(int fd, const struct tensor_view *v, size_t n, const struct run_times *times, const char *what, struct err *err)
{
	struct runfile_head head = {.magic = RUNFILE_MAGIC, .n = (uint32_t)n};
	static const char zeros[64];
	if (n > RUNFILE_MAX)
		return err_set(err, EXIT_INPUT, "%zu tensors in '%s'; at most %d are supported", n, what, RUNFILE_MAX);
	if (times)
		head.times = *times;
	struct runfile_entry *e = xcalloc(n + 1, sizeof(*e));
	uint64_t at = sizeof(head) + n * sizeof(*e);
	int r = 0;
	for (size_t i = 0; i < n && !r; i++) {
		int64_t bytes = 0;
		e[i] = (struct runfile_entry){
		    .dtype = v[i].meta.dtype, .device = v[i].meta.device, .device_index = v[i].meta.device_index, .n_dim = v[i].meta.n_dim};
		memcpy(e[i].size, v[i].meta.size, (size_t)v[i].meta.n_dim * sizeof(*e[i].size));
		memcpy(e[i].stride, v[i].meta.stride, (size_t)v[i].meta.n_dim * sizeof(*e[i].stride));
		if (!tensor_is_none(&v[i]) && !tensor_extent(&v[i].meta, &bytes))
			r = err_set(err, EXIT_INPUT, "tensor %zu in '%s' is larger than any memory", i, what);
		e[i].name_at = at;
		e[i].name_len = v[i].name.n;
		e[i].data_at = aligned(at + v[i].name.n);
		e[i].data_len = (uint64_t)bytes;
		at = e[i].data_at + e[i].data_len;
	}
	if (!r)
		r = write_all(fd, &head, sizeof(head), what, err);
	if (!r)
		r = write_all(fd, e, n * sizeof(*e), what, err);
	for (size_t i = 0; i < n && !r; i++) {
		uint64_t gap = e[i].data_at - e[i].name_at - e[i].name_len;
		r = write_all(fd, v[i].name.p, v[i].name.n, what, err);
		if (!r)
			r = write_all(fd, zeros, gap, what, err);
		if (!r)
			r = write_all(fd, v[i].data, e[i].data_len, what, err);
	}
	free(e);
	return r;
}

int runfile_write_error(int fd, const struct err *error, struct err *err)
{
	struct runfile_head head = {
	    .magic = RUNFILE_MAGIC, .status = error->status, .error_at = sizeof(head), .error_len = strlen(error->text)};
	return write_all(fd, &head, sizeof(head), "outputs", err) < 0 ? -1 : write_all(fd, error->text, head.error_len, "outputs", err);
}

static bool inside(struct slice bytes, uint64_t at, uint64_t n) { return at <= bytes.n && n <= bytes.n - at; }

static bool read_entry(struct tensor_view *v, struct slice bytes, const struct runfile_entry *e)
{
	const bool none = e->dtype == DTYPE_NONE;
	int64_t need;
	if (e->n_dim < 0 || e->n_dim > TENSOR_MAX_DIMS || (none ? e->n_dim || e->data_len : !dtype_info(e->dtype)) ||
	    !inside(bytes, e->name_at, e->name_len) || !inside(bytes, e->data_at, e->data_len) || e->data_at % 64)
		return false;
	v->name = slice_of(bytes.p + e->name_at, e->name_len);
	v->data = none ? NULL : bytes.p + e->data_at;
	v->meta = (struct tensor_meta){.dtype = e->dtype, .device = e->device, .device_index = e->device_index, .n_dim = e->n_dim};
	memcpy(v->meta.size, e->size, sizeof(e->size));
	memcpy(v->meta.stride, e->stride, sizeof(e->stride));
	for (int i = 0; i < e->n_dim; i++)
		if (e->size[i] < 0 || e->stride[i] < 0)
			return false;
	return none || (tensor_extent(&v->meta, &need) && (uint64_t)need <= e->data_len);
}

int runfile_read(struct runfile *f, struct slice bytes, const char *what, struct err *err)
{
	struct runfile_head head;
	*f = (struct runfile){.map.fd = -1};
	if (bytes.n < sizeof(head))
		return err_set(err, EXIT_INPUT, "'%s' is truncated: %zu bytes", what, bytes.n);
	memcpy(&head, bytes.p, sizeof(head));
	if (memcmp(head.magic, RUNFILE_MAGIC, sizeof(head.magic)))
		return err_set(err, EXIT_INPUT, "'%s' does not hold the tensors of a run", what);
	f->times = head.times;
	if (head.status) {
		if (!inside(bytes, head.error_at, head.error_len) || head.status > EXIT_ENVIRON)
			return err_set(err, EXIT_INPUT, "'%s' is damaged: an error without text", what);
		size_t n = head.error_len < sizeof(f->error.text) ? head.error_len : sizeof(f->error.text) - 1;
		memcpy(f->error.text, bytes.p + head.error_at, n);
		f->error.text[n] = 0;
		f->error.status = (enum exit_status)head.status;
		return 0;
	}
	if (head.n > RUNFILE_MAX || !inside(bytes, sizeof(head), head.n * sizeof(struct runfile_entry)))
		return err_set(err, EXIT_INPUT, "'%s' is damaged: %u tensors in %zu bytes", what, head.n, bytes.n);
	f->v = arena_alloc(&f->arena, ((size_t)head.n + 1) * sizeof(*f->v));
	f->n = head.n;
	for (size_t i = 0; i < f->n; i++) {
		struct runfile_entry e;
		memcpy(&e, bytes.p + sizeof(head) + i * sizeof(e), sizeof(e));
		if (!read_entry(&f->v[i], bytes, &e)) {
			arena_release(&f->arena);
			return err_set(err, EXIT_INPUT, "'%s' is damaged: tensor %zu", what, i);
		}
	}
	return 0;
}

int runfile_open(struct runfile *f, const char *path, struct err *err)
{
	struct mapfile map;
	if (mapfile_open(&map, path, err) < 0)
		return -1;
	if (runfile_read(f, map.bytes, path, err) < 0) {
		mapfile_close(&map);
		return -1;
	}
	f->map = map;
	return 0;
}

void runfile_close(struct runfile *f)
{
	arena_release(&f->arena);
	if (f->map.path)
		mapfile_close(&f->map);
	*f = (struct runfile){.map.fd = -1};
}
