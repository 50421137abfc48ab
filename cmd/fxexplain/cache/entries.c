/* entries.c - reads a cache entry: a pickle of objects of unknown classes, and the key it contains.
 *
 * torch 2.13.0, torch/_inductor/output_code.py (CompiledFxGraph): its state has _fx_graph_cache_key, _fx_graph_cache_debug_lines and
 * guards_expr. torch/_functorch/_aot_autograd/aot_autograd_result.py: the state of a compiled forward or backward has fx_graph_cache_info,
 * (key, lines), and guards_expr; a bundled one holds the CompiledFxGraph itself.
 */
#include "cache/cachedir.h"
#include "tensor/pickle.h"

static struct slice node_text(const struct pickle *p, uint32_t node)
{
	return node != NONE && pickle_node(p, node)->kind == PICKLE_STR ? pickle_text(pickle_node(p, node)) : slice_of("", 0);
}

static void keep_lines(struct cachedir *d, const struct pickle *p, uint32_t list, uint32_t text[KEY_TEXTS])
{
	OWNED(key_release) struct key_lines k = {.n = 0};
	const struct pickle_node *n = list == NONE ? NULL : pickle_node(p, list);
	for (uint32_t i = 0; n && (n->kind == PICKLE_LIST || n->kind == PICKLE_TUPLE) && i < n->n; i++)
		key_add(&k, node_text(p, n->item[i]));
	for (unsigned i = 0; i < KEY_TEXTS; i++) {
		struct slice s = buf_slice(&k.text[i]);
		text[i] = s.n ? intern_add(&d->names, s) : NONE;
	}
}

static void add_need(struct cachedir *d, struct cache_file *f, const struct pickle *p, uint32_t info)
{
	const struct pickle_node *n = pickle_node(p, info);
	if (n->kind != PICKLE_TUPLE || n->n < 2 || !node_text(p, n->item[0]).n || f->n_need >= 64)
		return;
	GROW(d->need, d->n_need, d->cap_need, 1);
	struct cache_need *need = &d->need[d->n_need];
	need->key = intern_add(&d->names, node_text(p, n->item[0]));
	keep_lines(d, p, n->item[1], need->text);
	if (!f->n_need++)
		f->first_need = d->n_need;
	d->n_need++;
}

static void take_state(struct cachedir *d, struct cache_file *f, const struct pickle *p, uint32_t state)
{
	uint32_t info = pickle_member(p, state, "fx_graph_cache_info"), lines = pickle_member(p, state, "_fx_graph_cache_debug_lines");
	struct slice guards = node_text(p, pickle_member(p, state, "guards_expr"));
	if (info != NONE && f->kind == CACHE_AOT)
		add_need(d, f, p, info);
	if (lines != NONE && f->kind == CACHE_FX && f->text[KEY_GRAPH] == NONE)
		keep_lines(d, p, lines, f->text);
	if (guards.n && f->guards == NONE)
		f->guards = intern_add(&d->names, guards.n < 2000 ? guards : slice_of(guards.p, 2000));
}

void entry_read(struct cachedir *d, struct cache_file *f, struct slice bytes)
{
	struct pickle p;
	struct err err;
	if (pickle_read_objects(&p, bytes, "", &err) < 0) {
		const char *why = strncmp(err.text, "'': ", 4) ? err.text : err.text + 4;
		f->state = strstr(why, "the file is truncated") ? STATE_CUT : STATE_DAMAGED;
		f->why = intern_add(&d->names, slice_str(why));
		return;
	}
	if (pickle_node(&p, p.top)->kind != PICKLE_OBJECT) {
		f->state = STATE_DAMAGED;
		f->why = intern_add(&d->names, SLICE("a pickle, but not a compiled graph"));
	}
	for (uint32_t i = 0; f->state == STATE_WHOLE && i < p.n_node; i++)
		if (pickle_node(&p, i)->kind == PICKLE_DICT)
			take_state(d, f, &p, i);
	pickle_release(&p);
}

/* ---- the closest entry ---- */

enum { NEAREST_TRIED = 24 };

struct near {
	uint32_t score, file;
};

static int by_score(const void *a, const void *b)
{
	const struct near *x = a, *y = b;
	return x->score != y->score ? (x->score < y->score) - (x->score > y->score) : (x->file > y->file) - (x->file < y->file);
}

uint32_t cachedir_nearest(const struct cachedir *d, const struct slice text[KEY_TEXTS], struct arena *arena)
{
	struct key_part gm = key_part_named(text[KEY_GRAPH], "gm"), kind = key_part_named(text[KEY_GRAPH], "fx_kwargs[is_backward]");
	FREED struct near *near = xcalloc(d->n_key + 1u, sizeof(*near));
	LOCAL_BUF ops = {0};
	uint32_t n = 0, best = NONE, least = UINT32_MAX;
	key_graph_ops(text[KEY_GRAPH], &ops);
	for (uint32_t i = 0; i < d->n_key; i++) {
		const struct cache_key *k = &d->key[i];
		if (k->kind != CACHE_FX || k->entry == NONE || k->graph == NONE)
			continue;
		near[n].file = k->entry;
		near[n++].score = 8 * slice_eq(cachedir_name(d, k->graph), gm.hash) +
				  4 * slice_eq(cachedir_name(d, k->ops), buf_slice(&ops)) +
				  2 * slice_eq(cachedir_name(d, k->side), kind.hash) +
				  slice_eq(cachedir_name(d, d->file[k->entry].text[KEY_SETTINGS]), text[KEY_SETTINGS]);
	}
	if (n)
		qsort(near, n, sizeof(*near), by_score);
	for (uint32_t i = 0; i < n && i < NEAREST_TRIED; i++) {
		struct key_change change[1];
		struct slice t[KEY_TEXTS];
		if (i && near[i].score / 4 != near[0].score / 4) /* another graph */
			break;
		cachedir_texts(d, d->file[near[i].file].text, t);
		uint32_t differ = key_compare(t, text, change, 1, arena);
		if (differ < least || (differ == least && d->file[near[i].file].mtime > d->file[best].mtime)) {
			least = differ;
			best = near[i].file;
		}
	}
	return best;
}
