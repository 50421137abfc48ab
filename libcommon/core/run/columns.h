/* columns.h - many rows as few short strings, for a page: a column is the differences between its values, a text is written once.
 *
 * A page has the rows of the document (document.h), but 100,000 compilations as objects are 150 MB. Here a list of rows is
 *
 *     "attempts": {"rows": 3, "columns": {"line": ["i", "GE0B"], "status": ["w", "C", ["missing", "ok"]],
 *                                         "location": ["o", "CA", "G", "C", "A"]}}
 *
 * and a column [KIND, NUMBERS, ...]. NUMBERS are the differences from the previous value (the first: from 0), each as a base64 VLQ: the
 * numbers of source maps (sign in the lowest bit, 5 bits a character, the sixth: another one follows). Trailing differences of 0 are
 * left out, so a column that never changes is a character or two. KIND:
 *
 *     n   the number             i   number + 1, 0: null     s   microseconds + 1, 0: null     b   0 or 1
 *     t   index into the document's "texts" + 1, 0: null     l   the same: a list of texts, in one with newlines
 *     w   index into the third member, a list of words       g   a graph break's number + 1: "GB0025"
 *     o   LOCATION: NUMBERS of file (t), line (i), function (t), code (t); null where file is
 *     x   no numbers, but a list of the texts as they are
 *
 * share/report/store.js and tests/lib/report.py read it.
 */
#ifndef PT2_COLUMNS_H
#define PT2_COLUMNS_H
#include "base/hash.h"
#include "base/json.h"

/* The texts that columns refer to: each once. */
struct columns {
	const struct intern *names;
	uint32_t *place, *name; /* by name of the model: its index + 1, or 0; by index */
	uint32_t n;
};
void columns_begin(struct columns *c, const struct intern *names);
/* Index + 1; 0 for NONE. */
int64_t columns_text(struct columns *c, uint32_t name);
/* Writes "texts" and releases. */
void columns_end(struct columns *c, struct json_out *o);

struct column {
	struct buf b;
	int64_t last;
	size_t end; /* behind the last difference that is not 0 */
};
void column_add(struct column *x, int64_t v);
/* Writes the string; then it is empty again. */
void column_out(struct column *x, struct json_out *o);

#endif
