/* diffjson.c - two runs as one JSON document, which the page contains, too. */
#include "diff.h"

#include "run/document.h"

bool diff_differs(const struct diff_set *d)
{
	for (unsigned i = 0; i < d->n; i++)
		if (!d->pair[i].a || !d->pair[i].b || compare_differs(&d->pair[i].c))
			return true;
	return false;
}

struct facts_sums diff_sums(const struct diff_side *side)
{
	struct facts_sums all = {.compile_seconds = -1}, one;
	for (unsigned i = 0; i < side->n; i++) {
		facts_sums(side->log[i].t.f, NONE, &one);
		facts_sums_add(&all, &one);
	}
	return all;
}

/* The first with a name. */
static struct slice side_version(const struct diff_side *side)
{
	for (unsigned i = 0; i < side->n; i++)
		if (side->log[i].t.torch_version != NONE)
			return facts_text(side->log[i].t.f, side->log[i].t.torch_version);
	return slice_of(NULL, 0);
}

static void put_seconds(struct json_out *o, const char *key, double v, bool known)
{
	if (known)
		json_member_double(o, key, v, 6);
	else
		json_member_null(o, key);
}

static void put_place(struct json_out *o, const struct srcloc *at)
{
	json_key(o, "location");
	srcloc_json(o, at);
}

const char *diff_unit(const struct compare_log *l, uint32_t unit, char text[COMPILE_ID_TEXT])
{
	struct compile_id id = compare_last(l, unit)->id;
	id.attempt = 0;
	return compile_id_text(&id, text);
}

/* The path of the log; an input of a document with several uses the path recorded there. */
struct slice diff_name(const struct compare_log *l)
{
	return !l ? SLICE("(none)") : l->inputs > 1 ? facts_text(l->t.f, l->t.f->input[0].path) : slice_str(l->t.path);
}

static void put_log_name(struct json_out *o, const char *key, const struct compare_log *l)
{
	if (!json_member_obj_if(o, key, l))
		return;
	json_member_str(o, "path", diff_name(l));
	json_member_count(o, "rank", l->t.rank);
	json_member_u64(o, "pid", l->t.pid);
	json_member_bool(o, "damaged", trace_damaged(&l->t));
	json_close(o);
}

static void put_compiles(struct json_out *o, const struct compare *c)
{
	char text[COMPILE_ID_TEXT];
	json_rows(o, "compile_ids", i, c->n_pair) {
		const struct compare_pair *p = &c->pair[i];
		json_member(o, "before", p->a == NONE ? slice_of("", 0) : slice_str(diff_unit(c->a, p->a, text)));
		json_member(o, "after", p->b == NONE ? slice_of("", 0) : slice_str(diff_unit(c->b, p->b, text)));
		put_place(o, &p->at);
		put_seconds(o, "before_seconds", p->seconds[0], p->seconds[0] >= 0);
		put_seconds(o, "after_seconds", p->seconds[1], p->seconds[1] >= 0);
		json_fields(o, *p, timed, changes, texts);
	}
}

static void put_changes(struct json_out *o, const struct compare *c, enum compare_kind kind)
{
	json_member_arr(o, compare_kind_name[kind]);
	for (uint32_t i = 0; i < c->n_change; i++) {
		const struct compare_change *x = &c->change[i];
		if (x->kind != kind)
			continue;
		json_obj(o);
		json_member_str(o, "how", slice_str(compare_how_name[x->how]));
		json_member_index(o, "compile_id", x->pair);
		json_fields(o, *x, subject, before, after);
		put_place(o, &x->at);
		json_member_u64(o, "count", x->count);
		put_seconds(o, "seconds", x->seconds, x->seconds < 0 || x->seconds > 0);
		json_close(o);
	}
	json_close(o);
}

static void put_texts(struct json_out *o, const struct compare *c, const struct diff_place *place)
{
	json_rows(o, "texts", i, c->n_text) {
		const struct compare_text *t = &c->text[i];
		const struct trace_artifact *a = &c->a->t.artifact[t->a], *b = &c->b->t.artifact[t->b];
		json_member_u64(o, "compile_id", t->pair);
		json_member_str(o, "name", intern_get(&c->b->t.f->names, b->name));
		json_member_u64(o, "before_line", a->line);
		json_member_u64(o, "after_line", b->line);
		json_fields(o, *t, removed, added, shown);
		json_member_index(o, "same_as", t->same_as);
		json_fields(o, *t, coarse, left_out);
		if (!place) {
			json_member(o, "diff", t->diff);
		} else if (t->diff.n) {
			json_fields(o, place[i], block, offset);
			json_member_u64(o, "size", t->diff.n);
		}
	}
}

static void put_drawing(struct json_out *o, const struct diff_place *place)
{
	if (!place || place->block == NONE)
		return;
	json_member_obj(o, "drawing");
	json_fields(o, *place, block, offset, size);
	json_close(o);
}

static void put_graphs(struct json_out *o, const struct compare *c, const struct diff_place *place)
{
	json_rows(o, "graphs", i, c->n_graph) {
		const struct compare_graph *g = &c->graph[i];
		json_member_u64(o, "text", g->text);
		json_member_u64(o, "before_nodes", g->nodes[0]);
		json_member_u64(o, "after_nodes", g->nodes[1]);
		json_fields(o, *g, own, renamed, reordered);
		json_rows(o, "changes", k, g->n) {
			const struct compare_node *n = &c->node[g->first + k];
			json_member_str(o, "how", slice_str(graphdiff_kind_name[n->kind]));
			json_member_index(o, "follows", n->cause);
			json_member(o, "before_node", n->node[0]);
			json_member(o, "after_node", n->node[1]);
			json_member_str(o, "operator", n->op);
			json_fields(o, *n, before, after);
			put_place(o, &n->at);
		}
		json_field(o, "more", g->more);
		put_drawing(o, place ? &place[i] : NULL);
	}
}

static void put_kernels(struct json_out *o, const char *key, const struct compare_kernel *kernel, uint32_t n)
{
	json_rows(o, key, i, n) {
		json_member_str(o, "kernel", kernel[i].name);
		json_member_lines(o, "nodes", kernel[i].nodes);
	}
}

static void put_fusions(struct json_out *o, const struct compare *c, const struct diff_place *place)
{
	json_rows(o, "fusions", i, c->n_code) {
		const struct compare_code *x = &c->code[i];
		json_member_u64(o, "text", x->text);
		json_member_u64(o, "before_kernels", x->kernels[0]);
		json_member_u64(o, "after_kernels", x->kernels[1]);
		json_member_u64(o, "before_operators", x->externs[0]);
		json_member_u64(o, "after_operators", x->externs[1]);
		json_rows(o, "changes", k, x->n) {
			const struct compare_fusion *f = &c->fusion[x->first + k];
			json_member_str(o, "how", slice_str(compare_fused_name[f->how]));
			put_kernels(o, "before", &c->kernel[f->first], f->n[0]);
			put_kernels(o, "after", &c->kernel[f->first + f->n[0]], f->n[1]);
			json_field(o, "reason", f->why);
			json_field(o, "logged", f->logged);
		}
		json_field(o, "more", x->more);
		put_drawing(o, place ? &place[i] : NULL);
	}
}

static void put_pair(struct json_out *o, const struct diff_pair *p, const struct diff_place *place)
{
	const struct compare *c = &p->c;
	json_obj(o);
	put_log_name(o, "before", p->a);
	put_log_name(o, "after", p->b);
	json_member_bool(o, "differs", !p->a || !p->b || compare_differs(c));
	json_member_obj(o, "frames");
	json_member_u64(o, "matched", c->frames[0]);
	json_member_u64(o, "gone", c->frames[1]);
	json_member_u64(o, "new", c->frames[2]);
	json_close(o);
	put_compiles(o, c);
	for (unsigned k = 0; k < COMPARE_KIND_COUNT; k++)
		put_changes(o, c, k);
	put_texts(o, c, place);
	put_graphs(o, c, place ? place + c->n_text : NULL);
	put_fusions(o, c, place ? place + c->n_text + c->n_graph : NULL);
	json_member_obj(o, "more");
	for (unsigned k = 0; k < COMPARE_KIND_COUNT; k++)
		if (c->more[k])
			json_member_u64(o, compare_kind_name[k], c->more[k]);
	json_close(o);
	json_fields(o, *c, texts_left, graphs_alike, unread);
	json_close(o);
}

void diff_document(struct json_out *o, const struct diff_set *d, const struct diff_place *place, uint32_t blocks)
{
	json_obj(o);
	json_member_str(o, "schema", SLICE("pt2utils.tlparse.diff/1"));
	json_member_str(o, "generator", SLICE("tlparse (pt2utils) " PT2_VERSION));
	json_member_bool(o, "differs", diff_differs(d));
	for (unsigned s = 0; s < 2; s++) {
		json_member_obj(o, s ? "after" : "before");
		json_member_str(o, "name", slice_str(d->side[s].name));
		struct facts_sums sums = diff_sums(&d->side[s]);
		json_member_obj(o, "summary");
		json_member(o, "torch_version", side_version(&d->side[s]));
		json_member_u64(o, "logs", d->side[s].n);
		document_sums(o, &sums);
		json_close(o);
		json_close(o);
	}
	json_member_obj(o, "counts");
	uint64_t texts = 0;
	for (unsigned k = 0; k < COMPARE_KIND_COUNT; k++) {
		uint64_t n = 0;
		for (unsigned i = 0; i < d->n; i++)
			n += (uint64_t)d->pair[i].c.rows[k] + d->pair[i].c.more[k];
		json_member_u64(o, compare_kind_name[k], n);
	}
	uint64_t graphs = 0, fusions = 0;
	for (unsigned i = 0; i < d->n; i++) {
		const struct compare *c = &d->pair[i].c;
		texts += c->n_text;
		graphs += c->n_graph;
		for (uint32_t k = 0; k < c->n_code; k++)
			fusions += (uint64_t)c->code[k].n + c->code[k].more;
	}
	json_member_u64(o, "texts", texts);
	json_member_u64(o, "graphs", graphs);
	json_member_u64(o, "fusions", fusions);
	json_close(o);
	json_member_arr(o, "logs");
	const struct diff_place *at = place;
	for (unsigned i = 0; i < d->n; i++) {
		put_pair(o, &d->pair[i], at);
		at = at ? at + diff_places(&d->pair[i].c) : NULL;
	}
	json_close(o);
	if (place)
		json_member_u64(o, "blocks", blocks);
	json_close(o);
}
