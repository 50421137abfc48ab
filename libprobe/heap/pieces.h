/* pieces.h - guarded pieces of memory (pieces.c), as malloc.c hands them out. Calls take the lock of the pieces; none allocates. */
#ifndef PT2_PROBE_HEAP_PIECES_H
#define PT2_PROBE_HEAP_PIECES_H
#include "heap.h"

/* Zeros. NULL: no room. */
void *pieces_make(size_t bytes, size_t alignment);
/* Is it in the reserved addresses? */
bool pieces_have(const void *p);
/* False: not the start of a living piece. */
bool pieces_size(const void *p, size_t *bytes);
/* ... *p, *w: what it was, and what was written beside it. Then its pages are unmapped. */
bool pieces_free(const void *address, struct heap_piece *p, struct heap_written *w);
extern _Thread_local bool pieces_in_run; /* this thread is in a model's run */

extern const struct heap pieces_heap;

#endif
