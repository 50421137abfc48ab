/* select.h - the k smallest of n, equal ones in the order in which torch leaves them.
 *
 *     pairs_nth(v, k - 1, n);      // v[k - 1] is the one that would be there if all were in order; none before it is larger
 *     pairs_sort(v, k - 1);        // these in order
 *     pairs_first(v, k, n);        // the same for few of many, by a heap
 *     pairs_quick(v, k, n);        // torch's own quick_select_template (kthvalue)
 *
 * Which of equal elements is taken, and where it comes to stand, is no property of topk but of C++'s nth_element, sort and partial_sort,
 * with which torch is built (aten/src/ATen/native/TopKImpl.h; GNU's library does the same since 2011: bits/stl_algo.h, bits/stl_heap.h).
 * These make the same comparisons and exchanges, one by one; quick_select_template is in aten/src/ATen/native/Sorting.cpp.
 */
#ifndef PT2_ATEN_SELECT_H
#define PT2_ATEN_SELECT_H
#include <stdint.h>

struct pair {
	uint64_t key; /* elem_key(), turned around for the largest */
	int64_t at;
};

void pairs_nth(struct pair *v, int64_t nth, int64_t n);
void pairs_sort(struct pair *v, int64_t n);
void pairs_first(struct pair *v, int64_t k, int64_t n);
void pairs_quick(struct pair *v, int64_t k, int64_t n);

#endif
