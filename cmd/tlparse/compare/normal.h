/* normal.h - makes texts of two runs comparable: graphs, generated code, guards, reasons.
 *
 * Compiling the same program twice gives texts with meaningless differences: buf12 is buf13 because of one more kernel before
 * it, kernels and caches are named by hashes, objects by their addresses, files are in another temporary folder. Each word of a
 * text is one of:
 *
 *     name    a word numbered by a generator: buf12, add_3, primals_1, tmp4, s77, cpp_fused_add_0; and whatever the text
 *             itself defines (`add: "f32[8]" = ...`). Only its stem and its position among the others count
 *     noise   an address, an object id, a hash, a uuid, a path below /tmp or in a cache, the counter of <eval_with_key>.3, the
 *             line in "m.py:7", the value of a member "..._ns" of JSON. Only its kind counts
 *     word    anything else, unchanged
 *
 * Two texts have the same normal_hash if renaming names one to one (and changing noise) turns one into the other:
 *
 *     struct normal n = {0};                                      // scratch memory; one per thread
 *     normal_hash(&n, SLICE("buf7 = f(buf3, buf3)")) == normal_hash(&n, SLICE("buf1 = f(buf0, buf0)"))
 *     normal_release(&n);
 *
 * To show differences line by line, names need not match by number: normal_diff aligns lines without them, then lets
 * the aligned lines vote on which name matches which, and marks a common line as changed if it contradicts the vote.
 *
 * Any bytes are accepted, in linear time (except the line diff, which is bounded).
 */
#ifndef PT2_NORMAL_H
#define PT2_NORMAL_H
#include "base/buf.h"
#include "base/linediff.h"

struct normal_slot {
	uint64_t hash;
	uint32_t generation, index;
};
struct normal_side {
	struct slice *line;
	uint64_t *key;   /* of the line: names by stem, noise by kind */
	uint32_t *first; /* names of line i: name[first[i] .. first[i + 1]) */
	uint64_t *name;
	uint32_t n, cap, n_name, cap_name;
};
struct normal_vote {
	uint64_t a, b;
	uint32_t count;
};
struct normal {
	struct normal_slot *slot;
	uint32_t mask, used, generation;
	struct normal_side side[2];
	struct linediff diff;
	struct normal_vote *vote;
	uint32_t n_vote, cap_vote;
};

void normal_release(struct normal *n);
uint64_t normal_hash(struct normal *n, struct slice text);
/* Names count as plain words: for reasons and values. */
uint64_t normal_plain(struct slice text);

/* n->diff holds the rows; n->side[0], [1] the lines. True if a row differs. */
bool normal_diff(struct normal *n, struct slice a, struct slice b);

/* Guards: "| +- TENSOR_MATCH: check_tensor(L['x'], ...)  # y = x  # app/m.py:7 in f" of dynamo_cpp_guards_str. Keeps
 * the guard and the user's place; false for a line that is not a guard (the tree of managers). Object ids are noise in
 * ___check_obj_id and the like whatever their size. The hash of all guards does not depend on their order. */
bool normal_guard(struct slice line, struct slice *guard, struct slice *note);
uint64_t normal_guard_hash(struct slice guard);
uint64_t normal_guards(struct slice text);

/* Splits one-line JSON into lines: one member or element per line, multi-line strings unfolded. False (and nothing added):
 * not JSON, or already split. */
bool normal_unfold(struct slice json, struct buf *out);

#endif
