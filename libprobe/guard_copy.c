/* guard_copy.c - the copies of a kernel's tensors: which of them are one piece of memory, what they hold, and what of it is taken back. */
#include "guard_call.h"

enum { KEPT = 1024 };

uint8_t guard_filler(const struct part *p, uintptr_t at, enum guard_side side)
{
	if (dtype_is_integer(p->view->dtype))
		return side == GUARD_RIGHT && (at - p->low) % (uintptr_t)p->item == 0;
	return side == GUARD_RIGHT ? 0x7f : 0xff; /* a large number, NaN */
}

const struct part *guard_part_at(const struct guard_call *c, const struct cluster *k, uintptr_t at)
{
	const struct part *p = &c->part[k->first];
	for (uint32_t i = 0; i < k->n; i++, p++)
		if (at >= p->low && at < p->high)
			return p;
	return &c->part[k->first];
}

/* All of it: most outputs are that. */
static void fill_copy(const struct part *p, struct guard_region *r, enum guard_side fill)
{
	const size_t bytes = p->high - p->low, item = (size_t)p->item;
	if (!dtype_is_integer(p->view->dtype)) {
		memset(r->data, guard_filler(p, p->low, fill), bytes);
		return;
	}
	memset(r->data, 0, bytes);
	for (size_t i = 0; i < bytes && fill == GUARD_RIGHT; i += item)
		r->data[i] = 1;
}

static void put_copy(struct guard_call *c, struct cluster *k, struct guard_region *r, enum guard_side fill)
{
	const size_t bytes = k->high - k->low;
	const struct made *m = k->fresh ? guard_made_at(c, k->low) : NULL;
	if (k->n == 1 && !k->whose && m && !m->unwritten && m->low <= k->low && m->high >= k->high) {
		fill_copy(&c->part[k->first], r, fill);
		return;
	}
	if (bytes)
		memcpy(r->data, (const void *)k->low, bytes);
	if (!k->whose && !k->fresh)
		return;
	const struct part *p = &c->part[k->first];
	for (size_t i = 0; i < bytes; i++) {
		const uintptr_t at = k->low + i;
		if (guard_is_unwritten(m, at) || (k->whose && k->whose[i] == OTHERS)) {
			if (k->n > 1)
				p = guard_part_at(c, k, at);
			r->data[i] = (char)guard_filler(p, at, fill);
		}
	}
}

/* Marks the bytes of a tensor's elements. */
static void mark_elements(const struct part *p, uint8_t *whose, uint8_t as)
{
	int64_t index[TENSOR_MAX_DIMS] = {0};
	const struct ops_view *v = p->view;
	for (;;) {
		int64_t at = 0;
		for (int64_t d = 0; d < v->n_dim; d++)
			at += index[d] * v->stride[d];
		uint8_t *to = whose + at * p->item;
		for (int b = 0; b < p->item; b++)
			to[b] = to[b] > as ? to[b] : as;
		int64_t d = v->n_dim - 1;
		while (d >= 0 && ++index[d] == v->size[d])
			index[d--] = 0;
		if (d < 0)
			return;
	}
}

static int by_address(const void *a, const void *b)
{
	const struct part *x = a, *y = b;
	return x->low != y->low ? (x->low > y->low) - (x->low < y->low) : (x->high < y->high) - (x->high > y->high);
}

/* Parts of one tensor that lie between each other (the halves of a concatenation) share no element: each gets a copy of its own. */
static bool is_apart(const struct guard_call *c, const struct cluster *k)
{
	const size_t bytes = k->high - k->low;
	uint8_t *all = calloc(2, bytes), *one = all + bytes;
	bool apart = all != NULL;
	for (uint32_t i = k->first; i < k->first + k->n && apart; i++) {
		const struct part *p = &c->part[i];
		const size_t from = p->low - k->low, n = p->high - p->low;
		memset(one, 0, bytes);
		mark_elements(p, one + from, 1);
		for (size_t b = from; b < from + n && apart; b++) {
			apart = !(all[b] & one[b]);
			all[b] |= one[b];
		}
	}
	free(all);
	return apart;
}

static struct cluster *add_cluster(struct guard_call *c, uint32_t first)
{
	struct part *p = &c->part[first];
	struct cluster *k = &c->cluster[c->n_clusters++];
	*k = (struct cluster){.low = p->low, .high = p->high, .first = first, .constant = true, .unit = 1};
	return k;
}

static void add_to_cluster(struct guard_call *c, struct cluster *k, struct part *p)
{
	p->cluster = (uint32_t)(k - c->cluster);
	k->n++;
	k->high = p->high > k->high ? p->high : k->high;
	k->writes |= p->writes;
	k->constant &= p->constant;
	while (k->unit < (size_t)p->item && k->unit < 16)
		k->unit *= 2;
}

static void split_last(struct guard_call *c)
{
	const struct cluster whole = c->cluster[c->n_clusters - 1];
	bool dense = false;
	for (uint32_t i = whole.first; i < whole.first + whole.n; i++)
		dense |= c->part[i].dense;
	if (whole.n < 2 || dense || !is_apart(c, &whole))
		return;
	c->n_clusters--;
	for (uint32_t i = whole.first; i < whole.first + whole.n; i++)
		add_to_cluster(c, add_cluster(c, i), &c->part[i]);
}

void guard_find_clusters(struct guard_call *c)
{
	c->n_clusters = 0;
	qsort(c->part, c->n, sizeof(*c->part), by_address);
	for (uint32_t i = 0; i < c->n; i++) {
		struct part *p = &c->part[i];
		struct cluster *k = c->n_clusters ? &c->cluster[c->n_clusters - 1] : NULL;
		if (!k || (p->low >= k->high && !(p->low == p->high && p->low == k->low))) {
			if (k)
				split_last(c);
			k = add_cluster(c, i);
		}
		add_to_cluster(c, k, p);
	}
	if (c->n)
		split_last(c);
}

bool guard_find_whose(struct guard_call *c, struct cluster *k)
{
	bool all = false;
	k->plain = k->writes ? WRITTEN : READ;
	for (uint32_t i = k->first; i < k->first + k->n; i++)
		all |= c->part[i].dense && c->part[i].low == k->low && c->part[i].high == k->high && c->part[i].writes == k->writes;
	if (all || k->high == k->low)
		return true;
	k->whose = calloc(1, k->high - k->low);
	for (uint32_t i = k->first; k->whose && i < k->first + k->n; i++)
		mark_elements(&c->part[i], k->whose + (c->part[i].low - k->low), c->part[i].writes ? WRITTEN : READ);
	return k->whose != NULL;
}

/* ---- weights: copied once ---- */

static struct kept {
	uintptr_t low, high;
	struct guard_region *copy[2];
} kept[KEPT];
static uint32_t n_kept;
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;

bool guard_keep_weight(struct guard_call *c, struct cluster *k)
{
	const size_t bytes = k->high - k->low;
	struct kept *at = NULL;
	pthread_mutex_lock(&kept_lock);
	for (uint32_t i = 0; i < n_kept && !at; i++)
		at = kept[i].low == k->low && kept[i].high == k->high ? &kept[i] : NULL;
	/* Another thread may be using the copies of one that has changed: then this call gets its own. */
	const bool same = at && !memcmp(at->copy[0]->data, (const void *)k->low, bytes);
	if (!at && n_kept < KEPT) {
		struct kept made = {k->low, k->high, {NULL}};
		for (int side = 0; side < 2; side++)
			if ((made.copy[side] = guard_take(bytes, k->low, k->unit, (enum guard_side)side))) {
				put_copy(c, k, made.copy[side], (enum guard_side)side);
				guard_arm(made.copy[side]);
				guard_protect(made.copy[side]);
			}
		if (made.copy[0] && made.copy[1])
			*(at = &kept[n_kept++]) = made;
		for (int side = 0; side < 2 && !at; side++)
			if (made.copy[side])
				guard_give(made.copy[side]);
	} else if (!same) {
		at = NULL;
	}
	pthread_mutex_unlock(&kept_lock);
	if (!at)
		return false;
	k->kept = true;
	k->copy[0] = at->copy[c->side];
	k->copy[1] = at->copy[!c->side];
	k->copy[2] = k->copy[0];
	return true;
}

/* ---- copies of a call ---- */

static bool make_copy(struct guard_call *c, struct cluster *k)
{
	struct guard_region **r = &k->copy[guard_copy_of(c)];
	enum guard_side fill = guard_side_of(c);
	if (k->kept)
		return true;
	if (c->try >= TRY_FILLS && (uint32_t)(k - c->cluster) == c->candidate_of[c->candidate])
		fill = !fill;
	if (*r)
		guard_give(*r);
	if (!(*r = guard_take(k->high - k->low, k->low, k->unit, guard_side_of(c))))
		return false;
	put_copy(c, k, *r, fill);
	guard_arm(*r);
	return true;
}

void guard_drop_cluster(struct cluster *k)
{
	for (int i = 0; i < 3 && !k->kept; i++)
		if (k->copy[i])
			guard_give(k->copy[i]);
	free(k->whose);
	*k = (struct cluster){.low = k->low, .high = k->high};
}

bool guard_make_copies(struct guard_call *c)
{
	bool all = true;
	for (uint32_t i = 0; i < c->n_clusters && all; i++)
		all = make_copy(c, &c->cluster[i]);
	return all;
}

void guard_copy_back(struct guard_call *c, const struct cluster *k, bool twice)
{
	const size_t bytes = k->high - k->low;
	const char *from = k->copy[0]->data, *other = twice && k->copy[1] ? k->copy[1]->data : NULL;
	if (!k->writes || !bytes)
		return;
	if (!k->whose && (!k->fresh || (other && !memcmp(from, other, bytes)))) {
		memcpy((void *)k->low, from, bytes);
		guard_wrote(c, k->low, k->high);
		return;
	}
	struct made *m = k->fresh ? guard_made_at(c, k->low) : NULL;
	if (m && !guard_keep_bytes(c, m))
		m = NULL;
	for (size_t i = 0; i < bytes; i++) {
		const uintptr_t at = k->low + i;
		if ((k->whose ? k->whose[i] : k->plain) != WRITTEN)
			continue;
		if (guard_is_unwritten(m, at)) {
			const struct part *p = k->n > 1 ? guard_part_at(c, k, at) : &c->part[k->first];
			if (other && (uint8_t)from[i] == guard_filler(p, at, c->side) && (uint8_t)other[i] == guard_filler(p, at, !c->side))
				continue;
			m->unwritten[at - m->low] = 0;
		}
		*(char *)at = from[i];
	}
	if (m && !memchr(m->unwritten, 1, m->high - m->low))
		guard_forget_made(c, m);
}
