/* rows.h - growing arrays of rows, as members of a struct.
 *
 *     struct graph {
 *             ROWS(struct edge, edge);                  // the members edge, n_edge and cap_edge
 *     };
 *     PUSH(g, edge) = (struct edge){from, to};
 *     struct edge *e = &PUSH(g, edge);                  // valid until the next PUSH
 */
#ifndef PT2_ROWS_H
#define PT2_ROWS_H
#include "base/base.h"

#define ROWS(type, name) \
	type *name; \
	uint32_t n_##name, cap_##name
#define PUSH(of, name) PUSH_TO((of)->name, (of)->n_##name, (of)->cap_##name)

#endif
