/* document.c - the JSON form: docs/formats/CALLS.md. */
#include "watch/guard.h"
#include "nanassert.h"

static void out_place(struct json_out *o, const char *key, const struct tensor_meta *m, int64_t at)
{
	int64_t index[TENSOR_MAX_DIMS];
	tensor_index(m, at, index);
	json_member_i64s(o, key, index, m->n_dim);
}

static void out_value(struct json_out *o, const struct nan_value *v)
{
	const struct tensor_meta *m = &v->v.meta;
	json_fields(o, v->v, buffer, path, arg);
	json_member(o, "role", slice_str(call_role_name(v->v.role)));
	json_member(o, "when", v->v.before ? SLICE("before") : SLICE("after"));
	json_member(o, "dtype", slice_str(dtype_name(m->dtype)));
	json_member_i64s(o, "sizes", m->size, m->n_dim);
	json_member_i64s(o, "strides", m->stride, m->n_dim);
	dump_stats(o, &v->v.stats);
	if (v->has_element) {
		out_place(o, "position", m, v->at);
		json_member_float(o, "element", v->element);
	} else if (v->v.stats.known && v->v.stats.first_bad >= 0 && !v->v.before) {
		out_place(o, "position", m, v->v.stats.first_bad);
		if (v->has_bad_value)
			json_member_float(o, "element", v->bad_value);
	}
}

static void out_guesses(struct json_out *o, const struct nan_finding *f)
{
	struct nan_guess g[NAN_GUESSES];
	size_t n = nan_guess(f, g, NAN_GUESSES);
	json_rows(o, "guesses", i, n) {
		json_fields(o, g[i], text, seen);
	}
}

/* By evaluation; no member if it was not evaluated. */
static void out_why(struct json_out *o, const struct nan_cause *c)
{
	if (!c)
		return;
	json_member_obj(o, "why");
	json_member(o, "status", slice_str(c->found ? "found" : c->clean ? "not in the graph" : "unknown"));
	json_member_some(o, "reason", c->reason);
	json_member_some(o, "text", c->text);
	json_member_some(o, "node", c->node);
	json_member_some(o, "op", c->op);
	json_member_some(o, "python", c->line);
	json_member_some(o, "python_too", c->other);
	json_member_some(o, "infinity", c->infinity);
	json_member_some(o, "unknown", c->unknown);
	json_close(o);
}

static void out_finding(struct json_out *o, const struct nan_finding *f)
{
	const struct dump_call *c = &f->call.c;
	struct slice op[64];
	size_t n = nan_ops_of_name(c->name, op, ARRAY_LEN(op));
	json_obj(o);
	json_member(o, "kind", slice_str(nan_kind_name(f->kind)));
	json_member(o, "what", slice_str(nan_what_name(f->what)));
	json_fields(o, *c, model, model_id);
	json_member_some(o, "source", c->text);
	json_fields(o, *c, pid, tid);
	if (c->rank != NONE)
		json_member_u64(o, "rank", c->rank);
	json_member_index(o, "run", c->run);
	if (c->kind != DUMP_RUN)
		json_member_u64(o, "call", c->call);
	if (f->call.scanned)
		json_member_bool(o, "scanned", true);
	if (f->call.replay) {
		json_member_u64(o, "graph", f->call.graph);
		json_member_u64(o, "replay", f->call.replay);
	}
	json_member(o, "ended", f->call.ended);
	json_member(o, "kernel", c->name);
	json_member(o, "kernel_kind", slice_str(dump_kind_name(c->kind)));
	json_member_positive(o, "line", c->line);
	json_member(o, "source_nodes", c->nodes);
	json_member(o, "original_aten", c->aten);
	json_member_texts(o, "ops", op, (uint32_t)(n < ARRAY_LEN(op) ? n : ARRAY_LEN(op)));
	json_member_texts(o, "pre_grad_nodes", f->pre, f->n_pre);
	json_member_texts(o, "post_grad_nodes", f->node, f->n_nodes);
	json_member_texts(o, "python", f->line, f->n_lines);
	json_member_index(o, "bad", f->bad);
	json_member_index(o, "cause", f->cause);
	json_rows(o, "values", i, f->call.n_values)
		out_value(o, &f->call.value[i]);
	if (f->inf_kernel.n) {
		json_member_obj(o, "infinities_of");
		json_member(o, "kernel", f->inf_kernel);
		json_member_u64(o, "call", f->inf_call);
		json_member(o, "buffer", f->inf_buffer);
		json_close(o);
	}
	if (f->since.model.n) {
		json_member_obj(o, "infinities_since");
		json_member(o, "model", f->since.model);
		json_member_u64(o, "run", f->since.run);
		json_member(o, "kernel", f->since.kernel);
		json_member_u64(o, "call", f->since.call);
		json_member(o, "buffer", f->since.buffer);
		json_close(o);
	}
	if (f->scaled) {
		json_member_obj(o, "scaler");
		json_member_u64(o, "skipped", f->skipped);
		if (f->skipped) {
			json_member_real(o, "scale_from", f->scale_from);
			json_member_real(o, "scale_to", f->scale_to);
		}
		json_close(o);
	}
	out_why(o, f->why);
	out_guesses(o, f);
	json_fields(o, *f, times, passed_on);
	json_close(o);
}

static void out_models(struct json_out *o, const struct watch *w)
{
	json_member_arr(o, "models");
	for (size_t i = 0; w && i < w->n_models; i++) {
		const struct watch_model *m = &w->model[i];
		json_obj(o);
		json_member_u64(o, "model_id", m->id);
		json_member(o, "path", slice_str(m->path));
		json_member_bool(o, "contract", m->has_contract);
		json_member(o, "why", slice_str(m->why ? m->why : ""));
		json_close(o);
	}
	json_close(o);
}

static void out_against(struct json_out *o, const struct against *a)
{
	json_member_obj(o, "against");
	json_member(o, "whose", slice_str(against_name(a->whose)));
	json_fields(o, *a, node, op, python);
	json_member_bool(o, "same_counts", a->same);
	json_member(o, "why", buf_slice(&a->why));
	json_close(o);
}

void document_write(struct buf *b, const struct session *s)
{
	struct json_out o = {.b = b};
	json_obj(&o);
	json_member(&o, "schema", SLICE("pt2utils.nanassert/1"));
	json_member(&o, "subject", slice_str(s->subject));
	json_member_u64(&o, "calls", s->nan.calls);
	json_member_u64(&o, "lost", s->watch ? s->watch->calls.lost : s->dump ? s->dump->lost : 0);
	json_member_bool(&o, "found", s->nan.n || exploded_n(s->exploded) || guard_found(s->watch ? s->watch->guard : NULL));
	json_member_arr(&o, "findings");
	for (size_t i = 0; i < s->nan.n && (i == 0 || s->o->all); i++)
		out_finding(&o, &s->nan.finding[i]);
	json_close(&o);
	json_member_u64(&o, "more", s->o->all || !s->nan.n ? s->nan.more : s->nan.n - 1 + s->nan.more);
	if (s->nan.n_scalers)
		json_member_u64(&o, "skipped_steps", s->nan.skipped_steps);
	if (s->exploded)
		exploded_document(&o, s->exploded);
	out_models(&o, s->watch);
	json_member_lines(&o, "asides", s->watch ? buf_slice(&s->watch->asides) : SLICE(""));
	if (s->against.asked)
		out_against(&o, &s->against);
	if (s->watch && s->watch->guard)
		guard_json(&o, s->watch->guard);
	json_member(&o, "failure", buf_slice(&s->failure));
	json_member_u64(&o, "unread", session_unread(s));
	json_close(&o);
	buf_addc(b, '\n');
}
