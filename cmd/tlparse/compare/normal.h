/* normal.h - texts of two runs made comparable: graphs, generated code, guards, reasons.
 *
 * The same program compiled twice gives texts that differ in what means nothing: buf12 is buf13 because one kernel more stands
 * before it, kernels and caches are named by hashes, objects by their addresses, files lie in another temporary folder. Two
 * things are made of every word of a text:
 *
 *     name    a word that a generator numbered: buf12, add_3, primals_1, tmp4, s77, cpp_fused_add_0; and whatever the text
 *             itself defines (`add: "f32[8]" = ...`). Only its stem and its place among the others count
 *     noise   an address, an object id, a hash, a uuid, a path below /tmp or in a cache, the counter of <eval_with_key>.3, the
 *             line in "m.py:7", the value of a member "..._ns" of JSON. Only its kind counts
 *     word    all else, as it stands
 *
 * Two texts have the same normal_hash when one becomes the other by renaming names one to one (and by changing noise):
 *
 *     struct normal n = {0};                                      // scratch memory; one per thread
 *     normal_hash(&n, SLICE("buf7 = f(buf3, buf3)")) == normal_hash(&n, SLICE("buf1 = f(buf0, buf0)"))
 *     normal_release(&n);
 *
 * To show what differs, line by line, names need not match by number: normal_diff aligns lines without them, then lets
 * the aligned lines vote which name stands for which, and calls a common line changed when it breaks the vote.
 *
 * Any bytes are accepted, the work is linear (but for the line diff, which is bounded).
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
	uint64_t *key;   /* of the line: names by their stem, noise by its kind */
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
/* Names count as words: for reasons and values. */
uint64_t normal_plain(struct slice text);

/* n->diff holds the rows; n->side[0], [1] the lines. True when a row is not the same. */
bool normal_diff(struct normal *n, struct slice a, struct slice b);

/* Guards: "| +- TENSOR_MATCH: check_tensor(L['x'], ...)  # y = x  # app/m.py:7 in f" of dynamo_cpp_guards_str. What is
 * left of it is the guard and the user's place; a line that is none (the tree of managers) gives false. Object ids are
 * noise in ___check_obj_id and its like whatever their size. The hash of all guards does not depend on their order. */
bool normal_guard(struct slice line, struct slice *guard, struct slice *note);
uint64_t normal_guard_hash(struct slice guard);
uint64_t normal_guards(struct slice text);

/* JSON in one line into lines: one member or element a line, texts of several lines unfolded. False (and nothing added):
 * not JSON, or lines already. */
bool normal_unfold(struct slice json, struct buf *out);

#endif
