/* json.c - `fxexplain cache --json` (docs/formats/EXPLAIN.md). */
#include "cache/cache_view.h"

static void put_sums(struct json_out *o, const struct cachedir *d)
{
	json_member_obj(o, "kinds");
	for (unsigned k = 0; k < CACHE_KIND_COUNT; k++) {
		json_member_obj(o, cache_file_kind_name[k]);
		json_fields(o, d->sum[k], files, bytes);
		json_member_u64(o, "broken", d->sum[k].bad);
		json_close(o);
	}
	json_close(o);
}

static void put_keys(struct json_out *o, const struct cachedir *d)
{
	json_rows(o, "keys", i, d->n_key) {
		const struct cache_key *k = &d->key[i];
		json_member_str(o, "key", cachedir_name(d, k->name));
		json_member_str(o, "cache", slice_str(cache_file_kind_name[k->kind]));
		json_member_name(o, "graph", &d->names, k->ops);
		json_member_name(o, "guards", &d->names, k->entry == NONE ? NONE : d->file[k->entry].guards);
		json_member_u64(o, "entries", k->files);
		json_member_u64(o, "whole", k->whole);
		json_member_u64(o, "broken", k->bad);
		json_member_u64(o, "bytes", k->bytes);
		json_member_i64(o, "oldest", k->oldest);
		json_member_i64(o, "newest", k->newest);
	}
}

static void put_bad(struct json_out *o, const struct cachedir *d)
{
	json_member_arr(o, "broken");
	for (uint32_t i = 0; i < d->n_file; i++) {
		const struct cache_file *f = &d->file[i];
		if (!state_is_bad(f->state))
			continue;
		json_obj(o);
		json_member_str(o, "path", cachedir_name(d, f->path));
		json_member_str(o, "kind", slice_str(cache_file_kind_name[f->kind]));
		json_member_str(o, "state", slice_str(cache_state_name[f->state]));
		json_member_name(o, "why", &d->names, f->why);
		json_member_u64(o, "bytes", f->bytes);
		json_close(o);
	}
	json_close(o);
}

static void put_dir(struct json_out *o, const struct cachedir *d)
{
	json_obj(o);
	json_member_str(o, "path", slice_str(d->path));
	put_sums(o, d);
	json_member_u64(o, "not_read", d->unread);
	json_member_u64(o, "closed_folders", d->closed);
	json_member_bool(o, "more", d->more);
	put_keys(o, d);
	put_bad(o, d);
	json_close(o);
}

static void put_asked(struct json_out *o, const struct cache_view *v)
{
	const struct asked *a = &v->asked;
	const struct cachedir *d = &v->dir[0];
	json_rows(o, "asked", i, a->n_row) {
		const struct asked_row *r = &a->row[i];
		json_member_str(o, "verdict", slice_str(asked_verdict_name[r->verdict]));
		json_member_str(o, "cache", slice_str(asked_cache(r)));
		json_fields(o, *r, key, graph, label, why, times);
		json_member(o, "entry", r->entry == NONE ? slice_of("", 0) : cachedir_name(d, d->file[r->entry].path));
		json_member_u64(o, "changes", r->changes);
		json_rows(o, "components", k, r->told) {
			const struct key_change *c = &a->change[r->first + k];
			json_member_str(o, "name", c->name);
			json_fields(o, *c, before, after);
		}
	}
}

static void put_prune(struct json_out *o, const struct cache_view *v)
{
	const struct prune *p = &v->prune;
	const struct cachedir *d = &v->dir[0];
	if (!json_member_obj_if(o, "prune", v->pruned))
		return;
	json_member_bool(o, "applied", v->applied);
	json_fields(o, *p, bytes, young, foreign);
	json_rows(o, "files", i, p->n_row) {
		json_member_str(o, "path", cachedir_name(d, d->file[p->row[i].file].path));
		json_member_str(o, "why", slice_str(p->row[i].why));
		json_member_bool(o, "removed", p->row[i].gone);
	}
	json_close(o);
}

void cache_json(struct buf *b, const struct cache_view *v)
{
	struct json_out o = {.b = b};
	json_obj(&o);
	json_member(&o, "schema", SLICE("pt2utils.cache/1"));
	json_member(&o, "tool", SLICE("fxexplain cache"));
	json_member(&o, "version", SLICE(PT2_VERSION));
	json_member_arr(&o, "folders");
	for (unsigned i = 0; i < v->n; i++)
		put_dir(&o, &v->dir[i]);
	json_close(&o);
	put_asked(&o, v);
	put_prune(&o, v);
	json_close(&o);
	buf_addc(b, '\n');
}
