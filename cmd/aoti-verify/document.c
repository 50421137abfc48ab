/* document.c - the verdict as JSON (docs/user/VERIFY.md). */
#include "verifier.h"

#include <math.h>

static const char *const words[] = {
    [VERIFY_EQUAL] = "equal", [VERIFY_ROUNDING] = "rounding", [VERIFY_EFFECT] = "effect",
    [VERIFY_WRONG] = "wrong", [VERIFY_OPEN] = "open",         [VERIFY_OPERATOR] = "operator",
};

static void out_names(struct json_out *o, const struct trial *t, uint32_t node)
{
	json_member_some(o, "name", graph_name(t->h.ref.g, t->h.ref.first + node));
	json_member_some(o, "target", graph_op_text(t->h.ref.g, t->h.ref.first + node));
	json_member_some(o, "python", held_line(&t->h, node));
}

static void out_node(struct json_out *o, const char *key, const struct trial *t, uint32_t node)
{
	if (node == NONE)
		return;
	json_member_obj(o, key);
	out_names(o, t, node);
	json_close(o);
}

/* The tensors that a call wrote, each with the graph's values that match it: all that are as close as the closest. */
static void out_writes(struct json_out *o, const struct trial *t, const struct observed_call *c)
{
	json_member_arr(o, "writes");
	for (uint32_t w = c->write; w < c->write + c->n_writes; w++) {
		const struct verify_tensor *x = &t->h.verify.write[w];
		double least = INFINITY;
		for (uint32_t i = 0; i < x->n; i++)
			least = x->m[i].off < least ? x->m[i].off : least;
		json_obj(o);
		json_member_some(o, "buffer", t->h.observed.write[w].v->buffer);
		json_member_arr(o, "nodes");
		for (uint32_t i = 0; i < x->n && !x->accused; i++)
			if (x->m[i].off <= least)
				json_out_str(o, graph_name(t->h.ref.g, t->h.ref.first + x->m[i].node));
		json_close(o);
		if (t->h.observed.call[t->h.observed.write[w].call].compiled &&
		    t->h.verify.row[t->h.observed.write[w].call].what != VERIFY_WRONG)
			json_member_some(o, "verdict", slice_str(words[x->what]));
		json_close(o);
	}
	json_close(o);
}

/* The graph, as compared with the kernels: the nodes that compute something. */
static void out_nodes(struct json_out *o, const struct trial *t)
{
	json_member_arr(o, "nodes");
	for (uint32_t i = 0; i < t->h.ref.n; i++) {
		const uint8_t op = t->h.ref.g->node[t->h.ref.first + i].op;
		if (op == GRAPH_PLACEHOLDER || op == GRAPH_OUTPUT || op == GRAPH_GET_ATTR)
			continue;
		json_obj(o);
		out_names(o, t, i);
		json_close(o);
	}
	json_close(o);
}

static void out_call(struct json_out *o, const struct trial *t, uint32_t c)
{
	const struct dump_call *d = t->h.observed.call[c].d;
	const struct verify_row *r = &t->h.verify.row[c];
	json_member_u64(o, "call", d->call);
	json_member_some(o, "kernel", d->name);
	if (d->line)
		json_member_u64(o, "line", d->line);
	json_member_some(o, "source", d->text);
	json_member_some(o, "verdict", slice_str(words[r->what]));
	out_node(o, "node", t, r->node);
	if (r->what == VERIFY_ROUNDING) {
		json_member_float(o, "compiled_ulp", r->compiled_ulp);
		json_member_float(o, "eager_ulp", r->eager_ulp);
	}
	out_writes(o, t, &t->h.observed.call[c]);
	if (r->together != NONE)
		json_member_u64(o, "together_from", t->h.observed.call[r->together].d->call);
	if (r->why)
		json_member_some(o, "why", slice_str(r->why));
	if (r->reduced == REDUCED_TF32)
		json_member_bool(o, "tf32", true);
	if (r->reduced != REDUCED_NO)
		json_member_some(o, "precision",
				 r->reduced == REDUCED_TF32   ? SLICE("tf32")
				 : r->reduced == REDUCED_BF16 ? SLICE("bfloat16")
							      : SLICE("float16"));
}

/* Of verify.suspect. */
static void out_suspects(struct json_out *o, const char *key, const struct trial *t, uint32_t from, uint32_t n)
{
	if (!n)
		return;
	json_member_arr(o, key);
	for (uint32_t i = 0; i < n; i++)
		json_out_u64(o, t->h.observed.call[t->h.verify.suspect[from + i]].d->call);
	json_close(o);
}

/* Those that `kth` gives; without any, no member. */
static void out_weights(struct json_out *o, const char *member,
			uint32_t (*kth)(const struct verifier *, const struct trial *, const struct verify_finding *, uint32_t),
			const struct verifier *v, const struct trial *t, const struct verify_finding *f)
{
	uint32_t n = 0;
	for (uint32_t node; (node = kth(v, t, f, n)) != NONE; n++) {
		if (!n)
			json_member_arr(o, member);
		json_out_str(o, graph_name(t->h.ref.g, t->h.ref.first + node));
	}
	if (n)
		json_close(o);
}

static void out_finding(struct json_out *o, const struct verifier *v, const struct trial *t, const struct verify_finding *f)
{
	const struct observed_call *c = &t->h.observed.call[f->call];
	double there;
	struct buf place = {0};
	json_obj(o);
	json_member_u64(o, "call", t->h.observed.call[f->call].d->call);
	json_member_some(o, "kernel", t->h.observed.call[f->call].d->name);
	json_member_some(o, "what",
			 f->given        ? SLICE("arguments")
			 : f->less_exact ? SLICE("less_exact")
			 : f->ends       ? SLICE("turns")
			 : f->subtle     ? SLICE("error")
					 : SLICE("value"));
	out_node(o, "node", t, f->node);
	if (f->write != NONE) {
		json_member_some(o, "buffer", t->h.observed.write[f->write].v->buffer);
		json_member_u64(o, "elements", f->n);
		json_member_u64(o, "differ", f->wrong);
		held_add_place(&place, &t->h, f->node, f->at);
		json_member_some(o, "worst", buf_slice(&place));
		json_member_float(o, "got", f->got);
		json_member_float(o, "want", f->want);
	}
	json_member_arr(o, "reads"); /* at that place */
	for (uint32_t r = c->read; r < c->read + c->n_reads; r++)
		if (f->write != NONE && read_there(t, f, r, &there)) {
			json_obj(o);
			json_member_some(o, "buffer", t->h.observed.read[r].v->buffer);
			json_member_float(o, "value", there);
			json_close(o);
		}
	json_close(o);
	out_weights(o, "inlined_weights", finding_inlined, v, t, f);
	out_weights(o, "first_values", finding_frozen, v, t, f);
	json_member_u64(o, "right_with_it", f->right);
	if (f->subtle) {
		json_member_float(o, "compiled_ulp", f->compiled_ulp);
		json_member_float(o, "eager_ulp", f->eager_ulp);
	}
	if (f->others != NONE)
		json_member_u64(o, "or_from", t->h.observed.call[f->others].d->call);
	out_suspects(o, "or", t, f->suspect, f->n_suspects);
	out_suspects(o, "narrowed_from", t, f->narrowed, f->n_narrowed);
	json_close(o);
	buf_release(&place);
}

static void out_output(struct json_out *o, const struct trial *t, const struct verify_output *x)
{
	static const char *const verdicts[] = {[VERIFY_AGREES] = "agrees", [VERIFY_DIFFERS] = "differs", [VERIFY_UNKNOWN] = "open"};
	struct buf place = {0};
	char room[32];
	json_member_some(o, "name", output_name(t, x, room));
	json_member_some(o, "kind",
			 x->input == NONE                                           ? SLICE("output")
			 : t->h.ref.program->input[x->input].from == PROGRAM_WEIGHT ? SLICE("buffer")
										    : SLICE("input"));
	out_node(o, "node", t, x->node);
	json_member_some(o, "verdict", slice_str(verdicts[x->what]));
	if (x->why && x->what == VERIFY_UNKNOWN)
		json_member_some(o, "why", slice_str(x->why));
	if (x->what != VERIFY_DIFFERS)
		return;
	if (x->at.at >= 0) {
		json_member_u64(o, "elements", x->at.n);
		json_member_u64(o, "differ", x->at.wrong);
		if (output_has_place(t, x)) {
			held_add_place(&place, &t->h, x->node, x->at.at);
			json_member_some(o, "worst", buf_slice(&place));
		}
		json_member_float(o, "got", x->at.got);
		json_member_float(o, "want", x->at.want);
	}
	json_member_bool(o, "explained", x->explained);
	if (!x->explained)
		out_suspects(o, "one_of", t, x->at.suspect, x->at.n_suspects);
	if (!x->explained)
		out_suspects(o, "narrowed_from", t, x->at.narrowed, x->at.n_narrowed);
	buf_release(&place);
}

static void out_trial(struct json_out *o, const struct verifier *v, const struct trial *t)
{
	const struct tally n = tally(t);
	json_member_some(o, "inputs", slice_str(input_words[t->kind]));
	json_member_bool(o, "counts", trial_counts(t));
	json_member_u64(o, "run", t->run);
	json_member_u64(o, "equal", n.equal);
	json_member_u64(o, "rounding", n.rounding);
	json_member_u64(o, "effect", n.effect);
	json_member_u64(o, "wrong", n.wrong);
	json_member_u64(o, "open", n.open);
	json_member_u64(o, "operators", n.operators);
	json_member_u64(o, "less_exact", n.less_exact);
	json_rows(o, "outputs", i, t->h.verify.n_outputs)
		out_output(o, t, &t->h.verify.output[i]);
	json_member_arr(o, "findings");
	for (uint32_t i = 0; i < t->h.verify.n_findings; i++)
		out_finding(o, v, t, &t->h.verify.finding[i]);
	json_close(o);
	json_rows(o, "calls", c, t->h.observed.n_calls)
		out_call(o, t, c);
	json_member_lines(o, "unknown", buf_slice(&t->h.ref.unknown));
}

static void out_int8(struct json_out *o, const struct verifier *v)
{
	struct int8_report r;
	int8_report(&r, v);
	if (!r.n) {
		int8_release(&r);
		return;
	}
	const struct trial *t = v->trial[0];
	json_member_obj(o, "int8");
	json_member_u64(o, "quantized", r.n);
	json_member_u64(o, "in_int8", r.n_int8);
	json_member_u64(o, "not_quantized", r.n_others);
	if (r.n_int8)
		json_member_bool(o, "no_vnni", r.no_vnni);
	json_rows(o, "products", i, r.n) {
		const struct int8_product *p = &r.v[i];
		out_node(o, "node", t, p->node);
		json_member_bool(o, "int8", p->int8);
		if (p->call != NONE) {
			json_member_u64(o, "call", t->h.observed.call[p->call].d->call);
			json_member_some(o, "kernel", t->h.observed.call[p->call].d->name);
		}
		if (p->why)
			json_member_some(o, "why", slice_str(p->why));
	}
	json_close(o);
	int8_release(&r);
}

void verifier_document(struct json_out *o, const struct verifier *v)
{
	json_obj(o);
	json_member_str(o, "schema", SLICE("pt2utils.verify/1"));
	json_member_some(o, "graph", slice_str(v->pair.graph));
	json_member_some(o, "package", slice_str(v->pair.package));
	json_member_u64(o, "status", verifier_status(v));
	if (!v->pair.is_dump)
		json_member_some(o, "operators", v->o->how.torch ? SLICE("torch") : SLICE("pt2-run"));
	const char *op;
	if (custom_ops_used(v->o->custom, 0))
		json_member_arr(o, "custom");
	for (size_t i = 0; (op = custom_ops_used(v->o->custom, i)); i++)
		json_out_str(o, slice_str(op));
	if (custom_ops_used(v->o->custom, 0))
		json_close(o);
	json_member_u64(o, "weights_compared", v->pair.n_weights);
	json_rows(o, "weights", i, v->pair.n_differing) {
		json_member_str(o, "path", v->pair.weight[i].fqn);
		json_member_u64(o, "elements", v->pair.weight[i].n);
		json_member_u64(o, "differ", v->pair.weight[i].bad);
		json_member_float(o, "max_abs", v->pair.weight[i].max_abs);
	}
	out_int8(o, v);
	if (v->n_trials) /* else it crashed */
		out_nodes(o, v->trial[0]);
	json_rows(o, "runs", i, v->n_trials)
		out_trial(o, v, v->trial[i]);
	if (v->guarded)
		guard_json(o, &v->guard);
	json_close(o);
}
