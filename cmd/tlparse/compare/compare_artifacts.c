/* compare_artifacts.c - artifacts of matched compilations, and guards one by one. */
#include "compare/compare_part.h"
#include "base/srcloc.h"

static bool is_guards(unsigned kind) { return kind == KIND_dynamo_guards || kind == KIND_dynamo_cpp_guards_str; }

struct item {
	uint64_t key; /* attempt counted from the last one, name without its numbers */
	uint64_t hash;
	uint32_t artifact;
};

static int by_item(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	return x->key != y->key ? (x->key < y->key ? -1 : 1) : x->artifact < y->artifact ? -1 : x->artifact > y->artifact;
}

static uint64_t name_key(struct slice name)
{
	uint64_t key = 5;
	size_t from = 0;
	if (slice_starts(name, "inductor_output_code_"))
		return 1;
	for (size_t i = 0; i <= name.n; i++)
		if (i == name.n || is_digit(name.p[i])) {
			if (i > from)
				key = hash_join(key, hash_bytes(name.p + from, i - from));
			from = i + 1;
		}
	return key;
}

static bool told_elsewhere(struct slice name)
{
	return slice_is(name, "recompile_reasons") || slice_is(name, "dynamo_graph_break_reason") || slice_is(name, "torch_version") ||
	       slice_is(name, compare_config_name[COMPARE_ARTIFACT_CONFIG]);
}

static uint32_t list_items(const struct compare_log *l, uint32_t unit, bool guards, struct item **item, uint32_t *cap)
{
	const struct compare_unit *u = &l->unit[unit];
	uint32_t n = 0;
	for (uint32_t i = u->first; i < u->last; i++)
		for (uint32_t k = l->t.f->attempt[l->attempt[i]].first_artifact; k != NONE; k = l->t.artifact[k].next) {
			const struct trace_artifact *a = &l->t.artifact[k];
			struct slice name = compare_name(l, a->name);
			if (a->flags & (ART_LINK | ART_NO_PAYLOAD) || !l->artifact[k].lines || is_guards(a->kind) != guards ||
			    told_elsewhere(name))
				continue;
			uint64_t key = hash_join(u->last - i, name_key(name));
			if (a->subgraph != NONE)
				key = hash_join(key, name_key(compare_name(l, a->subgraph)));
			PUSH_TO(*item, n, *cap) = (struct item){key, l->artifact[k].hash, k};
		}
	if (n)
		qsort(*item, n, sizeof(**item), by_item);
	return n;
}

static void artifact_row(struct compare *c, unsigned side, uint32_t pair, uint32_t artifact)
{
	const struct compare_log *l = compare_side(c, side);
	const struct trace_artifact *a = &l->t.artifact[artifact];
	if (a->flags & (ART_HIT | ART_MISS | ART_BYPASS))
		return; /* the cache rows report it */
	compare_add(c, COMPARE_ARTIFACT, compare_side_how(side), pair, compare_name(l, a->name));
}

/* Artifacts of one name: first those with equal texts, the rest by order. */
static void match_items(struct compare *c, uint32_t pair, const struct item *a, uint32_t na, const struct item *b, uint32_t nb)
{
	if (na == 1 && nb == 1 && a->hash == b->hash)
		return;
	uint64_t *key[2];
	compare_keys(key, na, nb);
	for (uint32_t i = 0; i < na; i++)
		key[0][i] = a[i].hash;
	for (uint32_t i = 0; i < nb; i++)
		key[1][i] = b[i].hash;
	const struct linediff *d = compare_align(c, key, na, nb);
	for (uint32_t i = 0; i < d->n; i++) {
		const struct linediff_row *r = &d->row[i];
		if (r->same)
			continue;
		if (r->a == NONE || r->b == NONE) {
			artifact_row(c, r->a == NONE, pair, r->a == NONE ? b[r->b].artifact : a[r->a].artifact);
			continue;
		}
		PUSH(c, text) = (struct compare_text){.pair = pair, .a = a[r->a].artifact, .b = b[r->b].artifact, .same_as = NONE};
	}
}

static int by_artifact(const void *a, const void *b)
{
	const struct compare_text *x = a, *y = b;
	return x->pair != y->pair ? (x->pair < y->pair ? -1 : 1) : x->b < y->b ? -1 : x->b > y->b;
}

void compare_artifacts(struct compare *c)
{
	uint32_t cap[2] = {64, 64}, n[2];
	struct item *item[2] = {xcalloc(cap[0], sizeof(**item)), xcalloc(cap[1], sizeof(**item))}; /* never NULL: NULL + 0 is undefined */
	for (uint32_t p = 0; p < c->n_pair; p++) {
		if (!compare_is_matched(c, p))
			continue;
		n[0] = list_items(c->a, c->pair[p].a, false, &item[0], &cap[0]);
		n[1] = list_items(c->b, c->pair[p].b, false, &item[1], &cap[1]);
		for (uint32_t i = 0, j = 0; i < n[0] || j < n[1];) {
			uint64_t key = i < n[0] && (j == n[1] || item[0][i].key <= item[1][j].key) ? item[0][i].key : item[1][j].key;
			uint32_t ei = i, ej = j;
			while (ei < n[0] && item[0][ei].key == key)
				ei++;
			while (ej < n[1] && item[1][ej].key == key)
				ej++;
			match_items(c, p, item[0] + i, ei - i, item[1] + j, ej - j);
			i = ei;
			j = ej;
		}
	}
	free(item[0]);
	free(item[1]);
	if (c->n_text)
		qsort(c->text, c->n_text, sizeof(*c->text), by_artifact);
}

/* ---- guards ---- */

struct guard {
	struct slice text, note;
};

static void list_of_guards(struct slice text, struct guard **v, uint32_t *n, uint32_t *cap)
{
	struct slice line, guard, note;
	*n = 0;
	while (slice_line(&text, &line))
		if (normal_guard(line, &guard, &note))
			PUSH_TO(*v, *n, *cap) = (struct guard){guard, note};
}

struct guards {
	struct guard *v[2];
	uint32_t n[2], cap[2], pair;
};

static void guard_row(struct compare *c, void *ctx, uint32_t row_a, uint32_t row_b)
{
	const struct guards *g = ctx;
	const struct guard none = {{"", 0}, {"", 0}}, *a = row_a == NONE ? &none : &g->v[0][row_a],
			   *b = row_b == NONE ? &none : &g->v[1][row_b];
	struct compare_change *x = compare_row(c, COMPARE_GUARD, bag_how(row_a, row_b), g->pair, slice_of("", 0), a->text, b->text);
	struct srcloc at;
	struct slice note = row_b == NONE ? a->note : b->note;
	const char *last = note.n ? slice_find(note, "# ") : NULL;
	for (const char *next = last; next;
	     last = next, next = slice_find(slice_of(last + 2, (size_t)(note.p + note.n - last - 2)), "  # "))
		if (next == last && next != note.p)
			break;
	if (last && srcloc_parse(slice_of(last, (size_t)(note.p + note.n - last)), &at) && at.file.n) {
		at.code = slice_trim(slice_of(note.p + 1, note.n > 1 ? (size_t)(last - note.p > 1 ? last - note.p - 1 : 0) : 0));
		x->at = srcloc_copy(&c->arena, &at);
	}
}

/* "TENSOR_MATCH: check_tensor(L['x']": the subject of a guard. */
static uint64_t guard_about(struct slice guard)
{
	const char *comma = slice_chr(guard, ','), *eq = slice_find(guard, " == ");
	const char *end = guard.p + guard.n;
	if (comma)
		end = comma;
	if (eq && eq < end)
		end = eq;
	return hash_bytes(guard.p, (size_t)(end - guard.p));
}

static bool read_guards(struct compare *c, struct compare_log *l, uint32_t artifact, struct buf *out)
{
	LOCAL_BUF raw = {0};
	bool ok = compare_payload(l, artifact, &raw);
	c->read += raw.len;
	buf_reset(out);
	if (ok && l->t.artifact[artifact].kind == KIND_dynamo_guards)
		ok = compare_list_guards(buf_slice(&raw), &l->t.tape, out);
	else if (ok)
		buf_add_slice(out, buf_slice(&raw));
	return ok;
}

/* The two lists of guards in text, one by one. */
static void guards_differ(struct compare *c, struct guards *g, const struct buf text[2])
{
	struct bag bag[2] = {{0}};
	for (unsigned s = 0; s < 2; s++) {
		list_of_guards(buf_slice(&text[s]), &g->v[s], &g->n[s], &g->cap[s]);
		for (uint32_t q = 0; q < g->n[s]; q++)
			bag_add(&bag[s], normal_guard_hash(g->v[s][q].text), guard_about(g->v[s][q].text), q);
	}
	bag_match(c, bag, guard_row, g);
	bag_end(c, bag, guard_row, g);
}

/* Guards of a pair of compilations whose hashes differ; text: buffers for both lists. */
static void compare_guard_lists(struct compare *c, struct guards *g, struct intern *seen, const struct item *a, const struct item *b,
				struct buf text[2])
{
	bool again;
	compare_seen(seen, a->hash, b->hash, &again);
	if (again || c->read > COMPARE_READ) {
		struct slice what = again ? SLICE("same guards as in a compilation above") : SLICE("guards differ; not listed");
		compare_add(c, COMPARE_GUARD, HOW_CHANGED, g->pair, what)->count = 0;
	} else if (!read_guards(c, c->a, a->artifact, &text[0]) || !read_guards(c, c->b, b->artifact, &text[1])) {
		c->unread++;
		compare_add(c, COMPARE_GUARD, HOW_CHANGED, g->pair, SLICE("guards differ, but could not be read again"));
	} else {
		guards_differ(c, g, text);
	}
}

void compare_guards(struct compare *c)
{
	uint32_t cap[2] = {64, 64}, n[2];
	struct item *item[2] = {xcalloc(cap[0], sizeof(**item)), xcalloc(cap[1], sizeof(**item))}; /* never NULL: NULL + 0 is undefined */
	OWNED(intern_release) struct intern seen = {0};
	struct guards g = {0};
	struct buf text[2] = {{0}};
	for (g.pair = 0; g.pair < c->n_pair; g.pair++) {
		if (!compare_is_matched(c, g.pair))
			continue;
		n[0] = list_items(c->a, c->pair[g.pair].a, true, &item[0], &cap[0]);
		n[1] = list_items(c->b, c->pair[g.pair].b, true, &item[1], &cap[1]);
		for (uint32_t i = 0, j = 0; i < n[0] && j < n[1];) {
			if (item[0][i].key != item[1][j].key) {
				*(item[0][i].key < item[1][j].key ? &i : &j) += 1;
				continue;
			}
			const struct item *a = &item[0][i++], *b = &item[1][j++];
			if (a->hash != b->hash)
				compare_guard_lists(c, &g, &seen, a, b, text);
		}
	}
	for (unsigned s = 0; s < 2; s++) {
		free(item[s]);
		free(g.v[s]);
		buf_release(&text[s]);
	}
}
