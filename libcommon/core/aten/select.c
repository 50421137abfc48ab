/* select.c - see select.h. A pair a precedes b if a.key < b.key; nothing else is compared. */
#include "select.h"

#include <stdbool.h>
#include <string.h>

enum { FEW = 16 }; /* this many are sorted by insertion */

static bool before(const struct pair *a, const struct pair *b) { return a->key < b->key; }

static void swap(struct pair *a, struct pair *b)
{
	struct pair x = *a;
	*a = *b;
	*b = x;
}

/* Twice the logarithm: this many partitions, then a heap. */
static int depth_for(int64_t n) { return 2 * (63 - __builtin_clzll((uint64_t)n)); }

/* ---- a heap, the last one on top ---- */

/* x goes down from an empty slot to a leaf, via the later child, and up again. */
static void heap_put(struct pair *v, int64_t at, int64_t n, struct pair x)
{
	int64_t top = at, child = at;
	while (child < (n - 1) / 2) {
		child = 2 * (child + 1);
		child -= before(&v[child], &v[child - 1]);
		v[at] = v[child];
		at = child;
	}
	if (!(n & 1) && child == (n - 2) / 2) {
		v[at] = v[2 * child + 1];
		at = 2 * child + 1;
	}
	for (; at > top && before(&v[(at - 1) / 2], &x); at = (at - 1) / 2)
		v[at] = v[(at - 1) / 2];
	v[at] = x;
}

/* The k smallest, as a heap. */
static void heap_of_first(struct pair *v, int64_t k, int64_t n)
{
	for (int64_t i = (k - 2) / 2; k > 1 && i >= 0; i--)
		heap_put(v, i, k, v[i]);
	for (int64_t i = k; i < n; i++)
		if (before(&v[i], &v[0])) {
			struct pair x = v[i];
			v[i] = v[0];
			heap_put(v, 0, k, x);
		}
}

void pairs_first(struct pair *v, int64_t k, int64_t n)
{
	heap_of_first(v, k, n);
	for (int64_t i = k - 1; i > 0; i--) {
		struct pair x = v[i];
		v[i] = v[0];
		heap_put(v, 0, i, x);
	}
}

/* ---- cuts ---- */

/* Partitions around the median of three, which comes first; returns the start of the second part. */
static int64_t cut_around_middle(struct pair *v, int64_t from, int64_t end)
{
	struct pair *a = &v[from + 1], *b = &v[from + (end - from) / 2], *c = &v[end - 1], *middle;
	if (before(a, b))
		middle = before(b, c) ? b : before(a, c) ? c : a;
	else
		middle = before(a, c) ? a : before(b, c) ? c : b;
	swap(&v[from], middle);
	for (int64_t i = from + 1, k = end;; i++) {
		while (before(&v[i], &v[from]))
			i++;
		for (k--; before(&v[from], &v[k]);)
			k--;
		if (i >= k)
			return i;
		swap(&v[i], &v[k]);
	}
}

static void insert_all(struct pair *v, int64_t n)
{
	for (int64_t i = 1; i < n; i++) {
		struct pair x = v[i];
		int64_t k = i;
		for (; k && before(&x, &v[k - 1]); k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
}

void pairs_nth(struct pair *v, int64_t nth, int64_t n)
{
	int64_t from = 0, end = n;
	if (nth >= n)
		return;
	for (int depth = depth_for(n); end - from > 3; depth--) {
		if (!depth) {
			heap_of_first(v + from, nth + 1 - from, end - from);
			swap(&v[from], &v[nth]);
			return;
		}
		int64_t at = cut_around_middle(v, from, end);
		*(at <= nth ? &from : &end) = at;
	}
	insert_all(v + from, end - from);
}

/* Leaves the parts nearly sorted, so that insertion has little to do. It recurses into the second one, not deeper than depth. */
static void cut_all(struct pair *v, int64_t from, int64_t end, int depth)
{
	for (; end - from > FEW; depth--) {
		if (!depth) {
			pairs_first(v + from, end - from, end - from);
			return;
		}
		int64_t at = cut_around_middle(v, from, end);
		cut_all(v, at, end, depth - 1);
		end = at;
	}
}

void pairs_sort(struct pair *v, int64_t n)
{
	if (n < 2)
		return;
	cut_all(v, 0, n, depth_for(n));
	insert_all(v, n);
}

/* ---- torch's own ---- */

static void put_before(struct pair *a, struct pair *b)
{
	if (before(b, a))
		swap(a, b);
}

void pairs_quick(struct pair *v, int64_t k, int64_t n)
{
	int64_t left = 0, right = n - 1;
	while (right > left) {
		if (right == left + 1) {
			put_before(&v[left], &v[right]);
			return;
		}
		swap(&v[left + (right - left) / 2], &v[left + 1]); /* the median of three */
		put_before(&v[left + 1], &v[right]);
		put_before(&v[left], &v[right]);
		put_before(&v[left + 1], &v[left]);
		int64_t i = left + 1, j = right;
		const struct pair pivot = v[left];
		for (;;) {
			do
				i++;
			while (before(&v[i], &pivot));
			do
				j--;
			while (before(&pivot, &v[j]));
			if (j < i)
				break;
			swap(&v[i], &v[j]);
		}
		swap(&v[left], &v[j]);
		if (j <= k)
			left = i;
		if (j >= k)
			right = j - 1;
	}
}
