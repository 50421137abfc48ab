/* guard_look.c - what a kernel has done to the copies of its tensors, and whether two calls of it did the same. */
#include "guard_call.h"

/* The tensor at that end of the cluster. */
static const struct part *part_at_end(const struct guard_call *c, const struct cluster *k, bool before)
{
	const struct part *best = &c->part[k->first];
	for (uint32_t i = k->first + 1; i < k->first + k->n; i++)
		if (before ? c->part[i].low < best->low : c->part[i].high > best->high)
			best = &c->part[i];
	return best;
}

static void look_beyond(struct ops_thread *t, const struct ops_run *run, struct guard_call *c, const struct cluster *k, bool before)
{
	const struct guard_region *r = k->copy[guard_copy_of(c)];
	const struct guard_fault *fault = before ? r->before : r->after;
	const struct part *p = part_at_end(c, k, before);
	const int64_t shift = (int64_t)(p->low - k->low), edge = before ? 0 : (int64_t)(p->high - p->low);
	int64_t first, last;
	if (guard_changed(r, before, &first, &last)) {
		guard_tell(t, run, c, p, before ? "write-before" : "write-after", first - shift, last - shift,
			   guard_faulted(&fault[1]) ? &fault[1] : NULL, true);
		c->explained = true;
	} else if (guard_faulted(&fault[1])) { /* it wrote what was there */
		const int64_t at = (int64_t)(fault[1].address - (uintptr_t)r->data) - shift;
		guard_tell(t, run, c, p, before ? "write-before" : "write-after", at, at + p->item - 1, &fault[1], true);
		c->explained = true;
	}
	if (guard_faulted(&fault[0])) {
		const struct insn *i = &fault[0].insn;
		first = (int64_t)(fault[0].address - (uintptr_t)r->data) - shift;
		last = first + p->item - 1;
		if (fault[0].decoded && i->width && i->address <= fault[0].address && fault[0].address < i->address + i->width) {
			first = (int64_t)(i->address - (uintptr_t)r->data) - shift;
			last = first + i->width - 1;
			if (!before && fault[0].high > i->address + i->width)
				last = (int64_t)(fault[0].high - (uintptr_t)r->data) - shift - 1;
			first = !before && first < edge ? edge : first;
			last = before && last >= 0 ? -1 : last;
		}
		guard_tell(t, run, c, p, before ? "read-before" : "read-after", first, last, &fault[0], false);
		c->explained = true;
	}
}

struct span {
	int64_t first, last; /* bytes of the cluster */
};

static void extend(struct span *s, size_t at)
{
	s->first = s->last < 0 ? (int64_t)at : s->first;
	s->last = (int64_t)at;
}

/* What was written where it may not be: between a tensor's elements, or to one that is only read. */
static void look_inside(struct ops_thread *t, const struct ops_run *run, struct guard_call *c, const struct cluster *k)
{
	const struct guard_region *r = k->copy[guard_copy_of(c)];
	const size_t bytes = k->high - k->low;
	const struct made *m = k->fresh ? guard_made_at(c, k->low) : NULL;
	struct span others = {0, -1}, read = {0, -1};
	if (!bytes || (k->writes && !k->whose))
		return;
	if (!k->whose && !k->fresh && !memcmp(r->data, (const void *)k->low, bytes))
		return;
	for (size_t i = 0; i < bytes; i++) {
		const uint8_t whose = k->whose ? k->whose[i] : k->plain;
		const uintptr_t at = k->low + i;
		if (whose == WRITTEN)
			continue;
		const bool filled = whose == OTHERS || guard_is_unwritten(m, at);
		const uint8_t was = filled ? guard_filler(k->n > 1 ? guard_part_at(c, k, at) : &c->part[k->first], at, guard_side_of(c))
					   : *(const uint8_t *)at;
		if ((uint8_t)r->data[i] != was)
			extend(whose == OTHERS ? &others : &read, i);
	}
	const struct guard_fault *f = guard_faulted(&r->inside) ? &r->inside : NULL;
	if (others.last >= 0) {
		const struct part *p = guard_part_at(c, k, k->low + (uintptr_t)others.first);
		const int64_t shift = (int64_t)(p->low - k->low);
		guard_tell(t, run, c, p, "write-neighbour", others.first - shift, others.last - shift, f, true);
		c->explained = true;
	}
	if (read.last >= 0) {
		const struct part *p = guard_part_at(c, k, k->low + (uintptr_t)read.first);
		const int64_t shift = (int64_t)(p->low - k->low);
		guard_tell(t, run, c, p, k->constant ? "write-weight" : "write-input", read.first - shift, read.last - shift, f, true);
		c->explained = true;
	}
}

/* A weight's pages were written: they are made as they were. */
static void mend_weight(struct ops_thread *t, const struct ops_run *run, struct guard_call *c, struct cluster *k)
{
	struct guard_region *r = k->copy[guard_copy_of(c)];
	if (!atomic_load(&r->spoilt))
		return;
	if (guard_faulted(&r->inside)) {
		const struct part *p = guard_part_at(c, k, k->low + (r->inside.address - (uintptr_t)r->data));
		const int64_t at = (int64_t)(r->inside.address - (uintptr_t)r->data) - (int64_t)(p->low - k->low);
		const int64_t width = r->inside.decoded ? r->inside.insn.width : p->item;
		guard_tell(t, run, c, p, "write-weight", at, at + width - 1, &r->inside, true);
		c->explained = true;
	}
	guard_renew(r);
	memcpy(r->data, (const void *)k->low, k->high - k->low);
	guard_arm(r);
	guard_protect(r);
}

void guard_look_after(struct ops_thread *t, const struct ops_run *run, struct guard_call *c)
{
	for (uint32_t i = 0; i < c->n_clusters; i++) {
		struct cluster *k = &c->cluster[i];
		if (k->unused)
			continue;
		look_beyond(t, run, c, k, true);
		look_beyond(t, run, c, k, false);
		if (k->kept)
			mend_weight(t, run, c, k);
		else
			look_inside(t, run, c, k);
	}
}

/* ---- two calls ---- */

/* Do the results of this try differ from those of the first? What neither has written does not count. *at: the first byte. */
static bool differs(struct guard_call *c, const struct cluster *k, size_t *at)
{
	const uint8_t *a = (const uint8_t *)k->copy[0]->data, *b = (const uint8_t *)k->copy[guard_copy_of(c)]->data;
	const size_t bytes = k->high - k->low;
	const struct made *m = k->fresh ? guard_made_at(c, k->low) : NULL;
	if (!k->writes || !memcmp(a, b, bytes))
		return false;
	for (size_t i = 0; i < bytes; i++) {
		const uintptr_t address = k->low + i;
		if (a[i] == b[i] || (k->whose ? k->whose[i] : k->plain) != WRITTEN)
			continue;
		if (guard_is_unwritten(m, address)) {
			const struct part *p = k->n > 1 ? guard_part_at(c, k, address) : &c->part[k->first];
			enum guard_side fill = guard_side_of(c);
			if (c->try >= TRY_FILLS && (uint32_t)(k - c->cluster) == c->candidate_of[c->candidate])
				fill = !fill;
			if (a[i] == guard_filler(p, address, c->side) && b[i] == guard_filler(p, address, fill))
				continue;
		}
		*at = i;
		return true;
	}
	return false;
}

bool guard_any_differs(struct guard_call *c, uint32_t *cluster, size_t *at)
{
	for (uint32_t i = 0; i < c->n_clusters; i++)
		if (differs(c, &c->cluster[i], at)) {
			*cluster = i;
			return true;
		}
	return false;
}

/* Sums of another order differ by rounding; a race by more. */
static bool differs_much(const struct part *p, const char *a, const char *b, size_t *at)
{
	const struct tensor_meta one = {.dtype = p->view->dtype};
	const size_t n = (p->high - p->low) / (size_t)p->item;
	const double room = p->item > 2 ? 1e-3 : 5e-2;
	double most = 0;
	if (p->item > 8 || !dtype_info(p->view->dtype))
		return false;
	for (size_t i = 0; i < n; i++) {
		const double v = tensor_at(&one, a + i * (size_t)p->item, 0);
		most = __builtin_isfinite(v) && __builtin_fabs(v) > most ? __builtin_fabs(v) : most;
	}
	const double allowed = dtype_is_integer(p->view->dtype) ? 0 : room * most;
	for (*at = 0; *at < n * (size_t)p->item; *at += (size_t)p->item) {
		const double x = tensor_at(&one, a + *at, 0), y = tensor_at(&one, b + *at, 0);
		if (__builtin_fabs(x - y) > allowed || __builtin_isnan(x) != __builtin_isnan(y))
			return true;
	}
	return false;
}

bool guard_part_differs(const struct guard_call *c, const struct part *p, size_t *at)
{
	const struct cluster *k = &c->cluster[p->cluster];
	const size_t from = p->low - k->low;
	const char *a = k->copy[0]->data + from, *b = k->copy[guard_copy_of(c)]->data + from;
	if (!p->writes || !p->dense || !memcmp(a, b, p->high - p->low) || !differs_much(p, a, b, at))
		return false;
	*at += from;
	return true;
}
