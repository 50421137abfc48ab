/* factors.c - compares the keys of vLLM's folders in two caches: HASH/rank_R_D[/PREFIX]/cache_key_factors.json.
 *
 * The file (vllm/compilation/backends.py, VllmBackend.__call__) has an object of objects and lists: env, config, compiler and code, from
 * which HASH is computed, and config_hash, compiler_hash, code_hash; earlier releases have only env and the three hashes. */
#include "base/json.h"
#include "base/text.h"
#include "cache/asked.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { FACTORS_MAX = 8 << 20, FACTORS_DEPTH = 8 };

struct factors {
	struct slice hash, rest; /* of the path: "1517964802", "rank_0_0/backbone" */
	uint32_t file;
	struct intern name; /* "env.VLLM_USE_V1"; value[] is its JSON, of text */
	struct slice *value;
	uint32_t n, cap;
	struct buf text;
};
struct all_factors {
	struct factors *v;
	uint32_t n, cap;
};

/* ---- reading ---- */

static bool read_file(const struct cachedir *d, struct slice path, struct buf *b)
{
	FREED char *name = xstrndup(path.p, path.n);
	int fd = openat(d->fd, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
	ssize_t n = fd < 0 ? -1 : 1;
	while (n > 0 && b->len < FACTORS_MAX) {
		n = read(fd, buf_room(b, 1 << 16), 1 << 16);
		if (n > 0)
			buf_wrote(b, (size_t)n);
		else if (n < 0 && errno == EINTR)
			n = 1;
	}
	if (fd >= 0)
		close(fd);
	return n == 0;
}

static void add_leaf(struct factors *f, struct slice name, struct slice value)
{
	if (intern_add(&f->name, name) != f->n) /* a duplicate */
		return;
	PUSH_TO(f->value, f->n, f->cap) = value;
}

static void flatten(struct factors *f, const struct json_tape *t, uint32_t k, struct buf *name, unsigned depth)
{
	const size_t at = name->len;
	unsigned i = 0;
	if (depth == FACTORS_DEPTH || (!json_is(t, k, JSON_OBJECT) && !json_is(t, k, JSON_ARRAY))) {
		add_leaf(f, buf_slice(name), json_raw(t, k));
		return;
	}
	json_each_pair(t, k, p) {
		buf_addf(name, "%s%.*s", at ? "." : "", SL(json_slice(t, p)));
		flatten(f, t, p + 1, name, depth + 1);
		buf_cut(name, at);
	}
	json_each(t, k, e) {
		buf_addf(name, "[%u]", i++);
		flatten(f, t, e, name, depth + 1);
		buf_cut(name, at);
	}
}

static void release(struct factors *f)
{
	intern_release(&f->name);
	free(f->value);
	buf_release(&f->text);
}

/* False: not such a file. */
static bool read_factors(const struct cachedir *d, uint32_t file, struct factors *f)
{
	struct slice path = cachedir_name(d, d->file[file].path), folder = slice_until(path, "/cache_key_factors.json");
	OWNED(json_tape_release) struct json_tape t = {0};
	LOCAL_BUF name = {0};
	const char *rank = slice_find(folder, "rank_");
	uint32_t root;
	*f = (struct factors){.file = file};
	if (!slice_is(slice_base(path), "cache_key_factors.json") || !rank || rank < folder.p + 2)
		return false;
	f->hash = slice_base(slice_of(folder.p, (size_t)(rank - folder.p - 1)));
	f->rest = slice_of(rank, folder.n - (size_t)(rank - folder.p));
	bool is = read_file(d, path, &f->text);
	if (is) {
		json_tape_text(&t, buf_str(&f->text), f->text.len);
		is = json_parse(&t, 0, f->text.len, &root) == 0 && json_is(&t, root, JSON_OBJECT);
	}
	if (is)
		flatten(f, &t, root, &name, 0);
	if (!is)
		release(f);
	return is;
}

static void read_all(const struct cachedir *d, struct all_factors *all)
{
	struct factors f;
	for (uint32_t i = 0; i < d->n_file; i++)
		if (d->file[i].kind == CACHE_VLLM && read_factors(d, i, &f))
			PUSH_TO(all->v, all->n, all->cap) = f;
}

static void release_all(struct all_factors *all)
{
	for (uint32_t i = 0; i < all->n; i++)
		release(&all->v[i]);
	free(all->v);
}

/* ---- comparing ---- */

/* config_hash adds nothing if config is there. */
static bool is_sum(const struct factors *f, struct slice name)
{
	if (!slice_ends(name, "_hash") || slice_chr(name, '.'))
		return false;
	for (uint32_t i = 0; i < f->n; i++) {
		struct slice of = intern_get(&f->name, i);
		if (of.n > name.n - 5 && !memcmp(of.p, name.p, name.n - 5) && (of.p[name.n - 5] == '.' || of.p[name.n - 5] == '['))
			return true;
	}
	return false;
}

static struct slice value_of(const struct factors *f, struct slice name)
{
	uint32_t k = intern_find(&f->name, name);
	return k == NONE ? slice_of("", 0) : f->value[k];
}

/* Counts the factors that differ, and adds the first `most` of them to a->change if a is given. */
static uint32_t differ(const struct factors *before, const struct factors *after, struct asked *a, uint32_t most)
{
	uint32_t n = 0;
	for (int side = 0; side < 2; side++) {
		const struct factors *f = side ? after : before, *g = side ? before : after;
		for (uint32_t i = 0; i < f->n; i++) {
			struct slice name = intern_get(&f->name, i), other = value_of(g, name);
			if ((side && other.n) || slice_eq(f->value[i], other) || is_sum(f, name))
				continue;
			if (n++ >= most || !a)
				continue;
			PUSH(a, change) = (struct key_change){.name = arena_slice(&a->arena, name),
							      .before = arena_slice(&a->arena, side ? slice_of("", 0) : f->value[i]),
							      .after = arena_slice(&a->arena, side ? f->value[i] : other)};
		}
	}
	return n;
}

static const struct factors *nearest(const struct all_factors *all, const struct factors *f)
{
	const struct factors *best = NULL;
	uint32_t least = UINT32_MAX;
	for (uint32_t i = 0; i < all->n; i++) {
		uint32_t n = slice_eq(all->v[i].rest, f->rest) ? differ(&all->v[i], f, NULL, 0) : UINT32_MAX;
		if (n < least) {
			least = n;
			best = &all->v[i];
		}
	}
	return best;
}

void asked_of_factors(struct asked *a, const struct cachedir *d, const struct cachedir *other)
{
	struct all_factors here = {0}, there = {0};
	read_all(d, &here);
	read_all(other, &there);
	for (uint32_t i = 0; i < there.n; i++) {
		const struct factors *f = &there.v[i], *near = nearest(&here, f);
		struct asked_row r = {.cache = FACT_CACHE_OTHER,
				      .verdict = ASKED_MISSING,
				      .key = arena_slice(&a->arena, f->hash),
				      .label = arena_slice(&a->arena, f->rest),
				      .times = 1,
				      .entry = near ? near->file : NONE,
				      .first = a->n_change};
		r.changes = near ? differ(near, f, a, KEY_CHANGES) : 0;
		r.told = r.changes < KEY_CHANGES ? r.changes : KEY_CHANGES;
		if (near && !r.changes && slice_eq(near->hash, f->hash))
			r.verdict = ASKED_HIT;
		else
			r.why = !near       ? SLICE("there is no folder of this rank and part to compare with")
				: r.changes ? SLICE("no folder has this hash; differences from the closest one:")
					    : SLICE("no folder has this hash, although the file of one lists the same factors");
		PUSH(a, row) = r;
	}
	release_all(&here);
	release_all(&there);
}
