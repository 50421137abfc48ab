/* json.c - --json: the document of docs/formats/EXPLAIN.md, built around the rows shared with tlparse. */
#include "explain/emit.h"

#include "run/document.h"

static void put_id(struct json_out *o, const struct explanation *x, const char *key, uint32_t id)
{
	json_member(o, key, explain_text(x, id));
}

/* ---- summary ---- */

static void put_summary(struct json_out *o, const struct explanation *x)
{
	uint64_t level[3] = {0};
	for (uint32_t i = 0; i < x->n_finding; i++)
		level[x->finding[i].level]++;
	document_summary(o, x->facts, NONE);
	json_member_u64(o, "findings", x->n_finding);
	json_member_u64(o, "errors", level[FINDING_ERROR]);
	json_member_u64(o, "warnings", level[FINDING_WARNING]);
	json_member_u64(o, "notes", level[FINDING_NOTE]);
	json_member_u64(o, "ignored", x->n_ignored);
	json_close(o);
}

/* ---- breaks by line, steps of frames, symbols with everything that bounds them ---- */

static void put_groups(struct json_out *o, const struct explanation *x)
{
	json_rows(o, "breaks", i, x->n_group) {
		const struct break_group *g = &x->group[i];
		json_fields(o, *g, first, count, inferred);
		json_member_u64(o, "graphs_after", g->graphs);
		json_member_u64(o, "frames_in_eager", g->eager);
		json_member_count(o, "ops_after", g->ops_after);
		json_member_seconds(o, "seconds", g->seconds);
		json_member_index(o, "finding", g->finding);
	}
}

static void put_steps(struct json_out *o, const struct explanation *x)
{
	json_rows(o, "frame_steps", i, x->n_frame) {
		const struct frame_view *v = &x->frame[i];
		json_member_index(o, "finding", v->finding);
		json_rows(o, "steps", k, v->n) {
			const struct frame_step *s = &x->step[v->first + k];
			json_member_index(o, "compile", s->compile);
			json_member_index(o, "recompile", s->recompile);
			json_fields(o, *s, change, fix);
		}
	}
}

static void put_symbols(struct json_out *o, const struct explanation *x)
{
	json_rows(o, "symbol_views", i, x->n_symbol) {
		const struct symbol_view *v = &x->symbol[i];
		json_member(o, "name", v->name);
		json_member_index(o, "symbol", v->row);
		json_fields(o, *v, range, specialized);
		json_member_index(o, "finding", v->finding);
		json_member_arr(o, "bounds");
		for (uint32_t k = 0; k < v->n_bound; k++)
			json_out_u64(o, x->bound_row[v->first_bound + k]);
		json_close(o);
	}
}

/* ---- metrics, graphs ---- */

/* A value as in the log; as a string if it is not JSON (NaN). */
static void put_raw(struct json_out *o, struct json_tape *tape, struct slice text)
{
	uint32_t root;
	json_tape_text(tape, text.p, text.n);
	if (text.n && json_parse(tape, 0, text.n, &root) == 0 && !tape->loose)
		json_out_raw(o, json_raw(tape, root));
	else
		json_out_str(o, text);
}

static void put_metrics(struct json_out *o, const struct explanation *x)
{
	const struct facts *f = x->facts;
	OWNED(json_tape_release) struct json_tape tape = {0};
	json_member_arr(o, "metrics");
	for (uint32_t i = 0; i < f->n_compile; i++)
		for (uint32_t k = 0; k < f->compile[i].n_metric; k++) {
			const struct fact_metric *m = &f->metric[f->compile[i].first_metric + k];
			json_obj(o);
			json_member_u64(o, "compile", i);
			put_id(o, x, "name", m->name);
			json_key(o, "value");
			put_raw(o, &tape, explain_text(x, m->value));
			json_fields(o, *m, backward, runtime);
			json_close(o);
		}
	json_close(o);
}

static void put_graphs(struct json_out *o, const struct explanation *x, const char *key, bool guards)
{
	json_member_arr(o, key);
	for (uint32_t i = 0; i < x->facts->n_graph; i++) {
		const struct fact_graph *g = &x->facts->graph[i];
		if ((slice_find(explain_text(x, g->name), "guards") != NULL) != guards)
			continue;
		json_obj(o);
		document_src(o, &g->src, g->compile);
		put_id(o, x, "name", g->name);
		json_member_count(o, "ops", g->ops);
		json_member_u64(o, "bytes", g->bytes);
		put_id(o, x, "text", g->text);
		json_close(o);
	}
	json_close(o);
}

void emit_json(struct buf *b, const struct explanation *x, const struct explain_options *opt)
{
	struct json_out o = {.b = b};
	json_obj(&o);
	document_head(&o, "fxexplain", x->facts);
	put_summary(&o, x);
	explain_out(x, &o, false);
	put_groups(&o, x);
	put_steps(&o, x);
	put_symbols(&o, x);
	document_rows(&o, x->facts);
	if (opt->show >> PART_METRICS & 1)
		put_metrics(&o, x);
	if (opt->show >> PART_GRAPHS & 1)
		put_graphs(&o, x, "graphs", false);
	if (opt->show >> PART_GUARDS & 1)
		put_graphs(&o, x, "guards", true);
	json_close(&o);
	buf_addc(b, '\n');
}
