/* compare_part.h - shared by the files of compare.h; not included elsewhere.
 *
 *     compare.c            runs the steps in order
 *     compare_rows.c       rows for differences; two bags of things
 *     compare_read.c       a log -> struct compare_log: hashes of its texts, frames and their compilations; payloads read again
 *     compare_match.c      matches frames and compilations
 *     compare_config.c     versions, configuration
 *     compare_events.c     failures, graph breaks, CUDA graph skips, symbols and specializations
 *     compare_compiles.c   compilations that are new or gone, recompiles, times, caches, metrics
 *     compare_lookups.c    why caches were missed
 *     compare_artifacts.c  artifacts of matched compilations; their guards one by one
 *     compare_texts.c      texts that differ, line by line
 *     compare_graphs.c     those that are graphs, node by node
 *     compare_fusions.c    kernels made of them: what is fused otherwise, and why
 *     compare_draw.c       graphs before and after as one drawing
 *
 * compare_run() runs them in this order, and each adds rows to the struct compare; c->pair is complete before any change is added. The
 * logs are not modified, except that matching marks their frames and units. "Side" is 0 for the log before and 1 for the one after. Texts
 * of rows are the logs' own names, or copies in c->arena: a text built in a buf goes through arena_slice(), and one that may be long
 * through compare_cut().
 */
#ifndef PT2_COMPARE_PART_H
#define PT2_COMPARE_PART_H
#include "compare/compare.h"

/* ---- members of compilation_metrics that are read ---- */

/* Configuration: JSON in a string; the last is an artifact. */
enum { COMPARE_FUNCTORCH = 2, COMPARE_ARTIFACT_CONFIG = 4 };
extern const char *const compare_config_name[COMPARE_CONFIGS];
enum { COMPARE_VERSIONS = 6 };
extern const char *const compare_version_name[COMPARE_VERSIONS];

static inline uint64_t hash_join(uint64_t a, uint64_t b)
{
	uint64_t pair[2] = {a, b};
	return hash_bytes(pair, sizeof(pair));
}
static inline uint64_t hash_slice(struct slice s) { return hash_bytes(s.p, s.n); }
static inline struct slice compare_name(const struct compare_log *l, uint32_t name)
{
	return name == NONE ? slice_of("", 0) : intern_get(&l->t.f->names, name);
}

/* ---- compare_rows.c ---- */

/* A new row; if its kind has too many already, one that is not kept. */
struct compare_change *compare_add(struct compare *c, enum compare_kind kind, enum compare_how how, uint32_t pair, struct slice subject);
/* The same with copies of all texts, of before and after the first 500 bytes. */
struct compare_change *compare_row(struct compare *c, enum compare_kind kind, enum compare_how how, uint32_t pair, struct slice subject,
				   struct slice before, struct slice after);
struct srcloc compare_loc_text(const struct compare_log *l, const struct fact_loc *loc);
/* At most 500 bytes, whole characters. */
struct slice compare_cut(struct slice s);

static inline struct compare_log *compare_side(struct compare *c, unsigned side) { return side ? c->b : c->a; }
static inline enum compare_how compare_side_how(unsigned side) { return side ? HOW_NEW : HOW_GONE; }
/* How a value changed; empty means no value. */
static inline enum compare_how compare_values_how(struct slice before, struct slice after)
{
	return !before.n ? HOW_NEW : !after.n ? HOW_GONE : HOW_CHANGED;
}
static inline uint32_t compare_pair_of(const struct compare_log *l, uint32_t compile)
{
	return compile < l->t.f->n_attempt ? l->unit[l->unit_of[compile]].pair : NONE;
}
/* Is it in both logs? */
static inline bool compare_is_matched(const struct compare *c, uint32_t pair)
{
	return pair != NONE && c->pair[pair].a != NONE && c->pair[pair].b != NONE;
}

/* Things of both logs with two keys: equal key means the same; equal alt means one became the other (0: never).
 *
 *     struct bag bag[2] = {{0}};
 *     ... bag_add(&bag[side], key, alt, row);
 *     bag_match(c, bag, row, ctx);         // calls row for each that changed
 *     bag_end(c, bag, row, ctx);           // and for the rest: b is NONE if gone, a is NONE if new; in order; frees both
 */
struct thing {
	uint64_t key, alt;
	uint32_t row;
	bool done;
};
struct bag {
	struct thing *v;
	uint32_t n, cap;
};
typedef void bag_row(struct compare *c, void *ctx, uint32_t a, uint32_t b);
static inline enum compare_how bag_how(uint32_t a, uint32_t b) { return a == NONE ? HOW_NEW : b == NONE ? HOW_GONE : HOW_CHANGED; }
void bag_add(struct bag *b, uint64_t key, uint64_t alt, uint32_t row);
/* By key, then by row. */
void bag_sort(struct bag *b);
/* row may be NULL. */
void bag_match(struct compare *c, struct bag b[2], bag_row *row, void *ctx);
void bag_end(struct compare *c, struct bag b[2], bag_row *row, void *ctx);

/* Aligns two ordered lists by key. The rows are valid until the next call.
 *
 *     uint64_t *key[2];
 *     compare_keys(key, na, nb);
 *     ... key[0][i] = ..., key[1][k] = ...;
 *     const struct linediff *d = compare_align(c, key, na, nb);     // frees the keys
 */
static inline void compare_keys(uint64_t *key[2], uint32_t na, uint32_t nb)
{
	key[0] = xcalloc(na + 1u, sizeof(*key[0]));
	key[1] = xcalloc(nb + 1u, sizeof(*key[1]));
}
const struct linediff *compare_align(struct compare *c, uint64_t *key[2], uint32_t na, uint32_t nb);

/* ---- compare_read.c ---- */
/* dynamo_guards (before torch 2.6 the only list of guards) in the form of dynamo_cpp_guards_str. False: not such a list. */
bool compare_list_guards(struct slice payload, struct json_tape *tape, struct buf *out);

/* ---- compare_match.c ---- */
void compare_match_frames(struct compare *c);
void compare_match_units(struct compare *c);
/* A place in the program, ignoring its folder: by its line, or by its function. */
uint64_t compare_loc_key(const struct compare_log *l, const struct fact_loc *loc, bool line);
uint64_t compare_frame_key(struct compare *c, unsigned side, uint32_t frame);
/* "0/1: tensor 'x' size mismatch ...": the guard, without the number of the guarded code. */
struct slice compare_reason(const struct compare_log *l, const struct compare_unit *u);
uint64_t compare_unit_key(const struct compare_log *l, const struct compare_unit *u);

/* ---- the others ---- */
void compare_versions(struct compare *c);
void compare_configs(struct compare *c);
void compare_failures(struct compare *c);
void compare_breaks(struct compare *c);
void compare_skips(struct compare *c);
void compare_symbols(struct compare *c);
void compare_compiles(struct compare *c, bool recompiles);
void compare_times(struct compare *c);
void compare_caches(struct compare *c);
void compare_keys_of_caches(struct compare *c);
void compare_metrics(struct compare *c);
void compare_guards(struct compare *c);
void compare_artifacts(struct compare *c);
void compare_texts(struct compare *c);
void compare_fusions(struct compare *c);

/* ---- compare_graphs.c: two texts as graphs; made by a thread, kept in order ---- */
struct compare_graphs {
	struct graph g[2];
	struct graphdiff d;
	bool both; /* both texts are graphs */
};
void compare_graphs_make(struct compare_graphs *x, struct slice a, struct slice b);
/* Graphs without a difference, whatever the texts say. */
static inline bool compare_graphs_alike(const struct compare_graphs *x) { return x->both && !x->d.n_row; }
void compare_graphs_keep(struct compare *c, const struct compare_graphs *x, uint32_t text);
void compare_graphs_release(struct compare_graphs *x);

/* ---- compare_draw.c ---- */
/* kernel[side]: of each node, of name[side]; NULL: none. Empty: too large. */
struct compare_boxes {
	const uint32_t *kernel[2];
	const struct slice *name[2];
	uint32_t n[2];
};
struct slice compare_draw(struct compare *c, const struct graphdiff *d, const struct compare_boxes *boxes);

/* Two texts that differ, by their hashes: the same pair is shown once. Returns the index of this pair; *again: it was seen before. */
static inline uint32_t compare_seen(struct intern *seen, uint64_t a, uint64_t b, bool *again)
{
	uint64_t pair[2] = {a, b};
	uint32_t before = seen->n, k = intern_add(seen, slice_of((const char *)pair, sizeof(pair)));
	*again = k < before;
	return k;
}

#endif
