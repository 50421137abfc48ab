/* select.h - the k smallest of n, with equal ones in the same order as in torch.
 *
 *     pairs_nth(v, k - 1, n);      // v[k - 1] is the element that would be there if sorted; none before it is larger
 *     pairs_sort(v, k - 1);        // sorts these
 *     pairs_first(v, k, n);        // the same for few of many, with a heap
 *     pairs_quick(v, k, n);        // torch's own quick_select_template (kthvalue)
 *
 * Which of equal elements is selected, and its position, is not defined by topk but by C++'s nth_element, sort and partial_sort, with which
 * torch is built (aten/src/ATen/native/TopKImpl.h; GNU's library does the same since 2011: bits/stl_algo.h, bits/stl_heap.h). These
 * functions make exactly the same comparisons and swaps; quick_select_template is in aten/src/ATen/native/Sorting.cpp.
 */
#ifndef PT2_ATEN_SELECT_H
#define PT2_ATEN_SELECT_H
#include <stdint.h>

struct pair {
	uint64_t key; /* elem_key(), inverted for the largest */
	int64_t at;
};

void pairs_nth(struct pair *v, int64_t nth, int64_t n);
void pairs_sort(struct pair *v, int64_t n);
void pairs_first(struct pair *v, int64_t k, int64_t n);
void pairs_quick(struct pair *v, int64_t k, int64_t n);

#endif
