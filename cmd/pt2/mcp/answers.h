/* answers.h - answers that a client reads in pieces: an assistant's attention is small, and a report is not.
 *
 *     unsigned id = answers_keep(&a, &text);               // takes the text
 *     answers_piece(&a, id, 0, 8000, &b);                  // "...\n[12,000 bytes more: call `more` with id 3 and from 7,950]"
 *
 * The oldest are dropped when all of them together are larger than ANSWERS_MOST.
 */
#ifndef PT2_MCP_ANSWERS_H
#define PT2_MCP_ANSWERS_H
#include "base/buf.h"

#define ANSWERS_MOST (32u << 20)

struct answer {
	unsigned id; /* from 1 */
	char *title; /* what was asked */
	struct buf text;
};
struct answers {
	struct answer *v; /* oldest first */
	size_t n, cap;
	unsigned last;
};
/* The text is empty afterwards. */
const struct answer *answers_keep(struct answers *a, const char *title, struct buf *text);
const struct answer *answers_find(const struct answers *a, uint64_t id);
void answers_release(struct answers *a);

/* From that byte on, about `most` bytes, to the end of a line; a last line says how to go on. */
void answer_piece(const struct answer *a, size_t from, size_t most, struct buf *b);

#endif
