/* sort.c - sorts lanes of marks by time: a natural merge sort, since most files are sorted, or consist of a few runs. */
#include "profile/profile_part.h"

static bool goes_before(const struct mark *a, const struct mark *b) { return a->ts != b->ts ? a->ts < b->ts : mark_dur(a) > mark_dur(b); }

void lane_add(struct lane *l, struct mark m)
{
	GROW(l->v, l->n, l->cap, 1);
	if (l->n && goes_before(&m, &l->v[l->n - 1]))
		l->unsorted = true;
	l->v[l->n++] = m;
}

void lane_release(struct lane *l)
{
	free(l->v);
	*l = (struct lane){0};
}

static size_t run_end(const struct mark *v, size_t from, size_t n)
{
	size_t i = from + 1;
	while (i < n && !goes_before(&v[i], &v[i - 1]))
		i++;
	return i < n ? i : n;
}

/* The left run is copied aside and merged back: the buffer is as large as the largest left run. */
static void merge(struct mark *v, size_t mid, size_t n, struct mark *aside)
{
	memcpy(aside, v, mid * sizeof(*v));
	size_t a = 0, b = mid, to = 0;
	while (a < mid && b < n)
		v[to++] = goes_before(&v[b], &aside[a]) ? v[b++] : aside[a++];
	memcpy(v + to, aside + a, (mid - a) * sizeof(*v));
}

void lane_sort(struct lane *l)
{
	if (!l->unsorted)
		return;
	FREED struct mark *aside = xreallocarray(NULL, l->n, sizeof(*aside));
	for (bool merged = true; merged;) {
		merged = false;
		for (size_t from = 0; from < l->n;) {
			const size_t mid = run_end(l->v, from, l->n);
			if (mid == l->n)
				break;
			const size_t end = run_end(l->v, mid, l->n);
			merge(l->v + from, mid - from, end - from, aside);
			merged = true;
			from = end;
		}
	}
	l->unsorted = false;
}
