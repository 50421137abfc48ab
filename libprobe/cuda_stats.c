/* cuda_stats.c - statistics of a tensor on a GPU: computed there, or from copies. */
#include "cuda.h"

#include "ops.h"

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

static bool stats_in_parts(const struct tensor_meta *m, const void *data, uint64_t n, int what, struct tensor_stats *s)
{
	const size_t each = (size_t)dtype_info(m->dtype)->bytes;
	struct ops_thread *t = ops_thread_if_any();
	const uint64_t at_once = CUDA_STAGE / each;
	if (!t || (!t->stage && !(t->stage = cuda_room(CUDA_STAGE))))
		return false;
	for (uint64_t at = 0; at < n; at += at_once) {
		struct tensor_stats part;
		uint64_t k = n - at < at_once ? n - at : at_once;
		if (!cuda_copy(t->stage, (const char *)data + at * each, k * each))
			return false;
		tensor_stats_dense(m->dtype, k, t->stage, what, at ? &part : s);
		if (at)
			join_stats(s, &part);
	}
	return true;
}

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

static bool stats_on_device(const struct tensor_meta *m, const void *data, struct tensor_stats *s)
{
	struct cuda_layout l;
	uint64_t elements, times;
	if (!cuda_layout_of(m, &l, &elements, &times) || !cuda_reduce(m->dtype, data, elements, &l, s))
		return false;
	repeat(s, times);
	return true;
}

static bool stats_of_copy(const struct tensor_meta *m, const void *data, int64_t bytes, int what, struct tensor_stats *s)
{
	if (bytes > (int64_t)CUDA_WHOLE) {
		tell_unread(m, bytes);
		return false;
	}
	void *p = cuda_fetch(data, (size_t)bytes);
	if (p)
		tensor_stats(m, p, what, s);
	cuda_drop(p, (size_t)bytes);
	return p != NULL;
}

void cuda_stats(const struct tensor_meta *m, const void *data, int64_t bytes, int what, struct tensor_stats *s)
{
	int64_t n;
	if (!data || !tensor_numel(m, &n)) {
		*s = (struct tensor_stats){.first_bad = -1};
		return;
	}
	tensor_stats_dense(m->dtype, 0, NULL, what, s);
	s->n = (uint64_t)n;
	/* Nothing to be found in it: nothing is read. */
	if (!n || !s->known || (!(what & STATS_ALL) && dtype_is_integer(m->dtype)))
		return;
	if (bytes > CUDA_SMALL && stats_on_device(m, data, s))
		return;
	if (tensor_is_contiguous(m) ? !stats_in_parts(m, data, (uint64_t)n, what, s) : !stats_of_copy(m, data, bytes, what, s))
		*s = (struct tensor_stats){.first_bad = -1};
}
