/* linediff.h - compares two texts line by line.
 *
 *     struct linediff d = {0};
 *     linediff_run(&d, before, after, NULL, NULL);
 *     for (uint32_t i = 0; i < d.n; i++)          // rows from top to bottom; a side without a line is NONE
 *         d.row[i].a, d.row[i].b                  // numbers of lines, from 0; linediff_line(&d, 0, a) is the text
 *     linediff_release(&d);
 *
 * A row with both sides and `same` is a common line; with both sides and not same, a changed line; with one side, a line that only that
 * text has. Line numbers grow on both sides, every line is in exactly one row.
 *
 * The common lines are a longest common subsequence (E. Myers, An O(ND) Difference Algorithm and Its Variations, 1986, in
 * linear space): no other answer has fewer lines that differ. The work is bounded by LINEDIFF_STEPS: a part that would take more is
 * reported as changed as a whole (except for its equal beginning and end), and `coarse` is set.
 *
 * key: what must be equal for two lines to count as the same (NULL: all their bytes). Texts belong to the caller. A struct may be
 * used again for the next two texts; its memory is kept.
 */
#ifndef PT2_LINEDIFF_H
#define PT2_LINEDIFF_H
#include "base/base.h"

enum { LINEDIFF_STEPS = 1 << 25 };

struct linediff_row {
	uint32_t a, b;
	bool same;
};
struct linediff {
	struct slice *line[2];
	uint32_t lines[2], cap_line[2];
	struct linediff_row *row;
	uint32_t n, cap;
	uint32_t removed, added, changed; /* rows of each kind */
	bool coarse;
};

typedef uint64_t linediff_key(void *ctx, struct slice line);
void linediff_run(struct linediff *d, struct slice a, struct slice b, linediff_key *key, void *ctx);
/* The same for any two sequences, given by their keys: fills rows and counts, touches no lines. */
void linediff_keys(struct linediff *d, const uint64_t *a, uint32_t na, const uint64_t *b, uint32_t nb);
static inline struct slice linediff_line(const struct linediff *d, unsigned side, uint32_t n)
{
	return n < d->lines[side] ? d->line[side][n] : (struct slice){"", 0};
}
void linediff_release(struct linediff *d);

#endif
