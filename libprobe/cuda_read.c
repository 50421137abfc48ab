/* cuda_read.c - reads device memory, where allowed. */
#include "cuda.h"

#include "ops.h"

#include <sys/mman.h>

void cuda_look_on(struct ops_thread *t, const struct model *m, void *stream)
{
	int status = 0;
	cuda_enter(m);
	t->stream = stream;
	t->readable = m->ops->cuda && !cuda_broken && cuda.memcpy_dtoh_async && cuda.stream_synchronize &&
		      !(cuda.stream_is_capturing && (cuda.stream_is_capturing(stream, &status) || status));
	t->read_error = 0;
}

void cuda_look_away(struct ops_thread *t) { t->readable = false; }

bool cuda_readable(void)
{
	const struct ops_thread *t = ops_thread_if_any();
	return t && t->readable;
}

bool cuda_copy(void *to, const void *from, size_t n)
{
	struct ops_thread *t = ops_thread_if_any();
	if (!t || !t->readable)
		return false;
	int mode = cuda_relax_capture();
	int r = n ? cuda.memcpy_dtoh_async(to, (uintptr_t)from, n, t->stream) : 0;
	if (!r)
		r = cuda.stream_synchronize(t->stream);
	cuda_restore_capture(mode);
	if (!r)
		return true;
	t->readable = false;
	t->read_error = r;
	return false;
}

static void *room_for(size_t n)
{
	void *p = mmap(NULL, n ? n : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

void cuda_drop(void *p, size_t n)
{
	if (p)
		munmap(p, n ? n : 1);
}

void *cuda_fetch(const void *from, size_t n)
{
	void *p = room_for(n);
	if (p && !cuda_copy(p, from, n)) {
		cuda_drop(p, n);
		return NULL;
	}
	return p;
}

/* Combines two parts of one tensor. n: elements of the first. */
static void join_stats(struct tensor_stats *s, const struct tensor_stats *part)
{
	const uint64_t a = s->n - s->nan, b = part->n - part->nan;
	if (s->first_bad < 0 && part->first_bad >= 0)
		s->first_bad = (int64_t)s->n + part->first_bad;
	if (!a || part->min < s->min)
		s->min = b ? part->min : s->min;
	if (!a || part->max > s->max)
		s->max = b ? part->max : s->max;
	if (a && b)
		s->mean = (s->mean * (double)a + part->mean * (double)b) / (double)(a + b);
	else if (b)
		s->mean = part->mean;
	s->n += part->n;
	s->nan += part->nan;
	s->pos_inf += part->pos_inf;
	s->neg_inf += part->neg_inf;
	s->zero += part->zero;
}

static bool stats_in_parts(const struct ops_view *v, uint64_t n, size_t each, int what, struct tensor_stats *s)
{
	struct ops_thread *t = ops_thread_if_any();
	const uint64_t at_once = CUDA_STAGE / each;
	if (!t || (!t->stage && !(t->stage = room_for(CUDA_STAGE))))
		return false;
	for (uint64_t at = 0; at < n; at += at_once) {
		struct tensor_stats part;
		uint64_t k = n - at < at_once ? n - at : at_once;
		if (!cuda_copy(t->stage, (const char *)v->data + at * each, k * each))
			return false;
		tensor_stats_dense(v->dtype, k, t->stage, what, at ? &part : s);
		if (at)
			join_stats(s, &part);
	}
	return true;
}

/* ---- statistics ---- */

static void repeat(struct tensor_stats *s, uint64_t times)
{
	s->n *= times;
	s->nan *= times;
	s->pos_inf *= times;
	s->neg_inf *= times;
	s->zero *= times;
}

/* Too large to be copied, and there is no kernel for it: not silently. */
static void tell_unread(const struct tensor_meta *m, int64_t bytes)
{
	static _Atomic bool told;
	char text[256];
	if (atomic_exchange(&told, true))
		return;
	snprintf(text, sizeof(text),
		 "a %s tensor on the GPU was not examined: a copy of its %.2f GiB would be too large (others may follow)",
		 dtype_name(m->dtype), (double)bytes / (1 << 30));
	event_aside(LIVE_NO_MODEL, text);
}

static bool stats_on_device(const struct ops_view *v, const struct tensor_meta *m, struct tensor_stats *s)
{
	struct cuda_layout l;
	uint64_t elements, times;
	if (!cuda_layout_of(m, &l, &elements, &times) || !cuda_reduce(v->dtype, v->data, elements, &l, s))
		return false;
	repeat(s, times);
	return true;
}

static bool stats_of_copy(const struct ops_view *v, const struct tensor_meta *m, int64_t bytes, int what, struct tensor_stats *s)
{
	if (bytes > (int64_t)CUDA_WHOLE) {
		tell_unread(m, bytes);
		return false;
	}
	void *p = cuda_fetch(v->data, (size_t)bytes);
	if (p)
		tensor_stats(m, p, what, s);
	cuda_drop(p, (size_t)bytes);
	return p != NULL;
}

void cuda_stats(const struct ops_view *v, int what, struct tensor_stats *s)
{
	const struct dtype_info *d = dtype_info(v->dtype);
	struct tensor_meta m;
	int64_t bytes, n;
	if (!d || !v->data || !ops_meta_of(v, &m, &bytes) || !tensor_numel(&m, &n)) {
		*s = (struct tensor_stats){.first_bad = -1};
		return;
	}
	tensor_stats_dense(v->dtype, 0, NULL, what, s);
	s->n = (uint64_t)n;
	/* Nothing to be found in it: nothing is read. */
	if (!n || !s->known || (!(what & STATS_ALL) && dtype_is_integer(v->dtype)))
		return;
	if (bytes > CUDA_SMALL && stats_on_device(v, &m, s))
		return;
	if (tensor_is_contiguous(&m) ? !stats_in_parts(v, (uint64_t)n, (size_t)d->bytes, what, s) : !stats_of_copy(v, &m, bytes, what, s))
		*s = (struct tensor_stats){.first_bad = -1};
}
