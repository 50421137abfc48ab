/* json.c - `fxexplain slow --json` (docs/formats/EXPLAIN.md). */
#include "slow/slow.h"

#include "base/json.h"

static void put_phases(struct json_out *o, const struct slow *s)
{
	json_rows(o, "phases", i, TIME_PART_COUNT) {
		json_member_str(o, "name", slice_str(time_part_name[i]));
		json_member_seconds(o, "seconds", s->part[i]);
		json_member_bool(o, "grows_with_graph", slow_grows((enum time_part_kind)i));
	}
}

static void put_frames(struct json_out *o, const struct slow *s)
{
	const struct facts *f = s->x->facts;
	json_rows(o, "frames", i, f->n_compile) {
		const struct fact_compile *c = &f->compile[i];
		LOCAL_BUF where = {0};
		explain_add_place(&where, s->x, &c->loc);
		json_member_str(o, "compile", facts_label(f, i));
		json_member_str(o, "where", buf_slice(&where));
		json_member_seconds(o, "seconds", c->seconds);
		json_member_seconds(o, "backward_seconds", c->backward);
		json_member_seconds(o, "grows_seconds", s->grows[i]);
		json_member_i64(o, "nodes", c->nodes);
	}
}

static void put_repeats(struct json_out *o, const struct slow *s)
{
	json_rows(o, "blocks", i, s->n_block) {
		const struct slow_block *b = &s->block[i];
		json_member_str(o, "compile", facts_label(s->x->facts, b->compile));
		json_member_str(o, "name", b->name);
		json_member_str(o, "where", b->where);
		json_member_u64(o, "copies", b->copies);
		json_member_u64(o, "nodes", b->nodes);
		json_member_u64(o, "of_nodes", b->of);
	}
	json_rows(o, "equal_graphs", i, s->n_twins) {
		const struct slow_twins *t = &s->twins[i];
		json_member_arr(o, "compiles");
		for (uint32_t k = 0; k < t->n; k++)
			json_out_str(o, facts_label(s->x->facts, s->twin_row[t->first + k]));
		json_close(o);
		json_member_u64(o, "nodes", t->nodes);
		json_member_seconds(o, "seconds", t->seconds);
	}
	json_rows(o, "modules", i, s->n_module) {
		const struct slow_module *m = &s->module[i];
		json_member_str(o, "name", m->name);
		json_member_str(o, "where", m->where);
		json_member_u64(o, "nodes", m->nodes);
		json_member_seconds(o, "seconds", m->seconds);
	}
}

static void put_compilers(struct json_out *o, const struct slow *s)
{
	const struct slow_builds *b = &s->build;
	json_rows(o, "kernels", i, s->n_kernel) {
		const struct slow_kernel *k = &s->kernel[i];
		json_member_str(o, "name", k->name);
		json_member_str(o, "compile", k->compile);
		json_member_str(o, "language", slice_str(k->lang));
		json_member_str(o, "where", k->where);
		json_member_u64(o, "lines", k->lines);
		json_member_seconds(o, "seconds", k->seconds);
		json_member_bool(o, "measured", k->measured);
	}
	json_member_obj(o, "cpp_compiler");
	json_member_u64(o, "runs", b->n);
	json_member_u64(o, "kernels", b->kernels);
	json_member_u64(o, "kernels_not_built", b->elsewhere);
	json_member_seconds(o, "kernel_seconds", b->kernel);
	json_member_seconds(o, "kernel_wall_seconds", b->wall);
	json_member_u64(o, "at_once", b->most);
	json_member_seconds(o, "header_seconds", b->header);
	json_member_seconds(o, "header_check_seconds", b->preprocess);
	json_member_seconds(o, "package_seconds", b->package);
	json_member_seconds(o, "probe_seconds", b->probe);
	json_member_i64(o, "compile_threads", b->threads);
	json_close(o);
	json_rows(o, "passes", i, s->n_pass) {
		json_member_str(o, "name", s->pass[i].name);
		json_member_seconds(o, "seconds", s->pass[i].seconds);
		json_member_u64(o, "calls", s->pass[i].calls);
	}
}

static void put_remedies(struct json_out *o, const struct slow *s)
{
	json_rows(o, "remedies", i, s->n_remedy) {
		const struct slow_remedy *r = &s->remedy[i];
		json_member_str(o, "id", slice_str(r->id));
		json_member_str(o, "what", r->what);
		json_member_seconds(o, "saves_seconds", r->saves);
		json_member_bool(o, "measured", slice_starts(r->how, "measured"));
		json_member_str(o, "how", r->how);
		json_member_str(o, "steps", r->steps);
		json_member_str(o, "next", r->next);
	}
}

void slow_json(struct buf *b, const struct slow *s)
{
	struct json_out o = {.b = b};
	json_obj(&o);
	json_member(&o, "schema", SLICE("pt2utils.slow/1"));
	json_member(&o, "tool", SLICE("fxexplain slow"));
	json_member(&o, "version", SLICE(PT2_VERSION));
	json_member_seconds(&o, "seconds", s->seconds);
	json_member_seconds(&o, "backward_seconds", s->backward);
	json_member_seconds(&o, "recompile_seconds", s->recompiles);
	json_member_seconds(&o, "restart_seconds", s->restarts);
	json_member_u64(&o, "graphs", s->graphs);
	json_member_u64(&o, "graphs_not_read", s->unread);
	put_phases(&o, s);
	put_frames(&o, s);
	put_repeats(&o, s);
	put_compilers(&o, s);
	put_remedies(&o, s);
	json_close(&o);
	buf_addc(b, '\n');
}
