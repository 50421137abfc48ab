/* save.c - writes tensors to files, without allocating: .npy (numpy/lib/format.py, version 1.0), and .safetensors for dtypes that
 * numpy lacks; or all of a process to one file. */
#include "ops.h"

#include <unistd.h>

struct out {
	int fd;
	char *scratch;
	size_t used;
	int failed; /* errno */
	bool placed;
	uint64_t at; /* .placed: of the next byte */
};

static void put_bytes(struct out *o, const void *p, size_t n)
{
	if (!o->failed && n && talk_write_at(o->fd, p, n, o->placed ? (int64_t)o->at : -1) < 0)
		o->failed = errno;
	o->at += n;
}

static void flush(struct out *o)
{
	put_bytes(o, o->scratch, o->used);
	o->used = 0;
}

static void add_bytes(struct out *o, const char *p, size_t n)
{
	if (n > OPS_SCRATCH - o->used)
		flush(o);
	memcpy(o->scratch + o->used, p, n);
	o->used += n;
}

/* Row-major, whatever the strides. */
static void add_elements(struct out *o, const struct tensor_meta *m, const char *data, int64_t n, size_t bytes)
{
	int64_t index[TENSOR_MAX_DIMS] = {0};
	int64_t at = 0;
	for (int64_t i = 0; i < n && !o->failed; i++) {
		add_bytes(o, data + at * (int64_t)bytes, bytes);
		for (int d = m->n_dim - 1; d >= 0; d--) {
			at += m->stride[d];
			if (++index[d] < m->size[d])
				break;
			at -= m->stride[d] * m->size[d];
			index[d] = 0;
		}
	}
}

static size_t add_shape(char *p, size_t room, const struct tensor_meta *m, const char *one)
{
	size_t n = 0;
	for (int d = 0; d < m->n_dim; d++)
		n += (size_t)snprintf(p + n, room - n, "%s%lld", d ? ", " : "", (long long)m->size[d]);
	if (m->n_dim == 1)
		n += (size_t)snprintf(p + n, room - n, "%s", one);
	return n;
}

static size_t npy_head(char *p, size_t room, const struct tensor_meta *m, const char *descr)
{
	size_t n = 10;
	n += (size_t)snprintf(p + n, room - n, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
	n += add_shape(p + n, room - n, m, ",");
	n += (size_t)snprintf(p + n, room - n, "), }");
	while ((n + 1) % 64)
		p[n++] = ' ';
	p[n++] = '\n';
	memcpy(p, "\x93NUMPY\x01", 8);
	p[8] = (char)((n - 10) & 255);
	p[9] = (char)((n - 10) >> 8);
	return n;
}

static size_t safetensors_head(char *p, size_t room, const struct tensor_meta *m, const char *type, uint64_t bytes)
{
	size_t n = 8;
	n += (size_t)snprintf(p + n, room - n, "{\"tensor\":{\"dtype\":\"%s\",\"shape\":[", type);
	n += add_shape(p + n, room - n, m, "");
	n += (size_t)snprintf(p + n, room - n, "],\"data_offsets\":[0,%llu]}}", (unsigned long long)bytes);
	while (n % 8)
		p[n++] = ' ';
	uint64_t len = n - 8;
	memcpy(p, &len, 8);
	return n;
}

/* As set by the tool. */
static bool not_saved(int why)
{
	uint64_t none = 0;
	struct calls_log *l = ops_log();
	if (l)
		atomic_compare_exchange_strong(&l->unsaved, &none, (uint64_t)why);
	return false;
}

enum call_saved ops_saved_as(enum tensor_format format, const struct tensor_meta *m)
{
	const struct dtype_info *d = dtype_info(m->dtype);
	return !d                                        ? CALL_UNSAVED
	       : format != TENSOR_SAFETENSORS && *d->npy ? CALL_SAVED_NPY
	       : *d->safetensors                         ? CALL_SAVED_SAFETENSORS
							 : CALL_UNSAVED;
}

bool ops_save(const char *path, enum call_saved as, const struct tensor_meta *m, const void *data, char *scratch)
{
	const struct dtype_info *d = dtype_info(m->dtype);
	char head[2048];
	int64_t n;
	size_t len;
	if (!d || !tensor_numel(m, &n))
		return false;
	const uint64_t bytes = (uint64_t)n * (uint64_t)d->bytes;
	const bool npy = as == CALL_SAVED_NPY;
	len = npy ? npy_head(head, sizeof(head), m, d->npy) : safetensors_head(head, sizeof(head), m, d->safetensors, bytes);
	struct out o = {.scratch = scratch};
	o.fd = files_make(path);
	if (o.fd < 0)
		return not_saved(errno);
	add_bytes(&o, head, len);
	if (tensor_is_contiguous(m)) {
		flush(&o);
		put_bytes(&o, data, bytes);
	} else {
		add_elements(&o, m, data, n, (size_t)d->bytes);
		flush(&o);
	}
	close(o.fd);
	if (!o.failed)
		return true;
	files_unmake(path);
	return not_saved(o.failed);
}

/* ---- one file for all of a process ---- */

/* The file of a process is made by the first tensor that it saves: a forked one has its own. */
static struct {
	pthread_mutex_t lock;
	_Atomic uint32_t pid;
	_Atomic uint64_t next;
	int fd;
} arena = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

static bool arena_ready(const char *path, uint32_t pid)
{
	if (LIKELY(atomic_load_explicit(&arena.pid, memory_order_acquire) == pid))
		return true;
	pthread_mutex_lock(&arena.lock);
	if (atomic_load_explicit(&arena.pid, memory_order_relaxed) != pid) {
		if (arena.fd >= 0)
			close(arena.fd);
		arena.fd = files_make(path);
		atomic_store_explicit(&arena.next, 0, memory_order_relaxed);
		if (arena.fd >= 0)
			atomic_store_explicit(&arena.pid, pid, memory_order_release);
	}
	const bool there = arena.fd >= 0;
	const int why = errno;
	pthread_mutex_unlock(&arena.lock);
	return there || not_saved(why);
}

bool ops_put(const char *path, uint32_t pid, const struct tensor_meta *m, const void *data, char *scratch, uint64_t *place)
{
	const struct dtype_info *d = dtype_info(m->dtype);
	int64_t n;
	if (!d || !tensor_numel(m, &n) || !arena_ready(path, pid))
		return false;
	uint64_t bytes = (uint64_t)n * (uint64_t)d->bytes;
	int64_t extent;
	const bool as_it_is = tensor_is_compact(m) && tensor_extent(m, &extent);
	if (as_it_is)
		bytes = (uint64_t)extent;
	*place = atomic_fetch_add_explicit(&arena.next, (bytes + 63) & ~UINT64_C(63), memory_order_relaxed);
	struct out o = {.fd = arena.fd, .scratch = scratch, .placed = true, .at = *place};
	if (as_it_is) {
		put_bytes(&o, data, bytes);
	} else {
		add_elements(&o, m, data, n, (size_t)d->bytes);
		flush(&o);
	}
	return !o.failed || not_saved(o.failed);
}

bool ops_may_save(uint32_t model, uint64_t bytes)
{
	struct calls_log *l = ops_log();
	static _Atomic bool told;
	uint64_t was = atomic_fetch_add_explicit(&l->saved, bytes, memory_order_relaxed);
	if (!l->config.save_max || (was <= l->config.save_max && bytes <= l->config.save_max - was))
		return true;
	atomic_fetch_sub_explicit(&l->saved, bytes, memory_order_relaxed);
	if (!atomic_exchange(&told, true))
		event_aside(model, "the save limit is reached; tensors are no longer saved");
	return false;
}
