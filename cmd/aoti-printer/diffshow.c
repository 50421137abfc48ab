/* diffshow.c - a comparison as text and as JSON (docs/formats/DUMP.md). */
#include "diff.h"
#include "base/text.h"
#include "watch/show.h"

#include <inttypes.h>
#include <math.h>

enum {
	NARROW = 100, /* columns of a terminal too narrow for all measures */
	SOME = 40,    /* rows of the table without --all */
};

static const char *diff_what_name(enum diff_what w)
{
	static const char *const names[] = {"same", "values", "sizes", "dtype", "only-a", "only-b", "not-saved", "other"};
	return names[w];
}

static void add_spec(struct buf *b, const struct dump_value *v)
{
	if (v->meta.n_dim < 0) {
		buf_addc(b, '?');
		return;
	}
	buf_addf(b, "%s [", dtype_name(v->meta.dtype));
	show_numbers(b, v->meta.size, v->meta.n_dim);
	buf_addc(b, ']');
}

static void add_buffer(struct buf *b, const struct dump_value *v)
{
	if (v->buffer.n)
		buf_add_clean(b, v->buffer);
	else
		buf_addf(b, "argument %u", v->arg);
	if (v->path.n) {
		buf_adds(b, " (");
		buf_add_clean(b, v->path);
		buf_addc(b, ')');
	}
}

/* ---- text ---- */

static void show_value(struct screen *s, const struct diff_value *v)
{
	const struct tensor_close *c = &v->close;
	struct buf *b = &s->b;
	const struct dump_value *any = diff_any(v);
	buf_adds(b, any->before ? "  reads  " : "  writes ");
	add_buffer(b, any);
	buf_adds(b, ", ");
	add_spec(b, any);
	buf_adds(b, ": ");
	switch (v->what) {
	case DIFF_SAME: buf_adds(b, "agrees\n"); return;
	case DIFF_UNSAVED: buf_adds(b, "not saved\n"); return;
	case DIFF_OTHER: buf_adds(b, "something else, of which both make the same\n"); return;
	case DIFF_ONLY_A: put_error(s, "only the first has it\n"); return;
	case DIFF_ONLY_B: put_error(s, "only the second has it\n"); return;
	case DIFF_SIZES:
	case DIFF_DTYPE:
		put_error(s, "the second has ");
		add_spec(b, v->b);
		buf_addc(b, '\n');
		return;
	case DIFF_VALUES: break;
	}
	struct buf t = {0};
	if (v->allowed > 0 && !c->not_finite)
		buf_addf(&t, "relative error %.2g (rms); rounding explains %.2g", c->rms, v->allowed);
	else
		buf_addf(&t, "%" PRIu64 " of %" PRIu64 " elements differ", c->bad, c->n);
	put_error(s, buf_str(&t));
	buf_release(&t);
	if (c->known) {
		buf_adds(b, "\n         at [");
		show_numbers(b, v->index, v->n_index);
		show_exact(b, "] ", c->a);
		show_exact(b, " vs ", c->b);
		if (isfinite(c->worst))
			buf_addf(b, ", %.3g times the tolerance", c->worst);
		buf_addf(b, " (rtol %g, atol %g)", c->rtol, c->atol);
	}
	buf_addc(b, '\n');
}

static void add_where(struct buf *b, const struct diff *d, const struct dump_call *c)
{
	bool many = d->a.n && d->a.call[0].model_id != d->a.call[d->a.n - 1].model_id;
	if (many) {
		buf_add_clean(b, c->model);
		buf_adds(b, ", ");
	}
	buf_addf(b, "run %u", c->run);
	if (c->kind == DUMP_RUN) {
		buf_adds(b, ", the model's inputs and outputs");
		return;
	}
	buf_addf(b, ", call %u: ", c->call);
	add_saved_name(b, c);
}

static void show_first(struct screen *s, const struct diff *d)
{
	const struct diff_row *r = &d->row[d->first];
	const size_t from = s->b.len;
	struct buf b = {0};
	buf_adds(&b, "First difference: ");
	add_where(&b, d, diff_call(r));
	put_bold(s, buf_str(&b));
	buf_addc(&s->b, '\n');
	buf_release(&b);
	if (!r->a || !r->b) {
		buf_addf(&s->b, "  only %s has this call\n\n", d->name[r->a ? 0 : 1]);
		put_wraps(s, from, 9);
		return;
	}
	if (!slice_eq(r->a->name, r->b->name)) {
		buf_adds(&s->b, "  vs ");
		add_saved_name(&s->b, r->b);
		buf_addf(&s->b, ", call %u in the second\n", r->b->call);
	}
	for (size_t k = r->value; k < r->value + r->n_values; k++)
		show_value(s, &d->value[k]);
	if (r->origin)
		buf_adds(&s->b, "  What it reads agrees, what it writes does not: the difference starts here.\n");
	else if (r->in_differs)
		buf_adds(&s->b,
			 "  What it reads already differs: it comes from the model's inputs, or from a call that only one side has.\n");
	buf_addc(&s->b, '\n');
	put_wraps(s, from, 9);
}

static void add_number(struct buf *b, double v)
{
	if (v == 0)
		buf_adds(b, "0\t");
	else if (isinf(v))
		buf_adds(b, "inf\t");
	else
		buf_addf(b, "%.2e\t", v);
}

static void add_row(struct buf *b, const struct diff_row *r, const struct diff_value *v, bool narrow)
{
	const struct dump_call *c = diff_call(r);
	const struct dump_value *any = diff_any(v);
	const struct tensor_close *k = &v->close;
	buf_addf(b, "%u\t%u\t", c->run, c->call);
	buf_add_clean(b, c->kind == DUMP_RUN ? SLICE("(run)") : c->name);
	buf_addf(b, "\t%s", any->before ? "<- " : any->role == CALL_ROLE_MODEL_INPUT ? "<- " : "-> ");
	add_buffer(b, any);
	if (v->what == DIFF_SAME || v->what == DIFF_VALUES || v->what == DIFF_DTYPE) {
		buf_addf(b, "\t%.3g%%\t", k->n ? 100.0 * (double)k->bad / (double)k->n : k->bad ? 100.0 : 0.0);
		add_number(b, k->max_abs);
		if (!narrow) {
			add_number(b, k->max_rel);
			add_number(b, k->rms);
		}
		add_number(b, k->worst);
		buf_adds(b, r->origin && !any->before && v->what != DIFF_SAME ? "starts here\n" : v->what == DIFF_DTYPE ? "dtype\n" : "\n");
	} else {
		buf_addf(b, "\t\t\t\t%s%s\n", narrow ? "" : "\t\t", diff_what_name(v->what));
	}
}

/* How the error propagates: only written tensors, unless all are requested. */
static void show_table(struct screen *s, const struct diff *d, bool all)
{
	struct buf b = {0};
	size_t shown = 0, more = 0;
	const bool narrow = s->width && s->width < NARROW;
	buf_addf(&b, "run\tcall\tkernel or op\ttensor\tdiffer\tmax abs\t%sx tolerance\t\n", narrow ? "" : "max rel\trms\t");
	for (size_t i = 0; i < d->n_rows; i++) {
		const struct diff_row *r = &d->row[i];
		if ((!r->a || !r->b) && (all || (r->nodes ? !r->elsewhere : !d->live || r->a))) {
			const struct dump_call *c = diff_call(r);
			if (shown++ >= SOME && !all) {
				more++;
				continue;
			}
			buf_addf(&b, "%u\t%u\t", c->run, c->call);
			buf_add_clean(&b, c->name);
			buf_addf(&b, "\t\t\t\t\t%sonly in the %s%s\n", narrow ? "" : "\t\t", r->a ? "first" : "second",
				 r->elsewhere ? ", fused differently" : "");
		}
		for (size_t k = r->value; k < r->value + r->n_values; k++) {
			const struct diff_value *v = &d->value[k];
			bool quiet = v->what == DIFF_SAME || v->what == DIFF_UNSAVED || v->what == DIFF_OTHER || diff_any(v)->before ||
				     ((d->two_types || r->elsewhere) && (!v->a || !v->b));
			if (!all && (quiet || shown++ >= SOME))
				more += !quiet;
			else
				add_row(&b, r, v, narrow);
		}
	}
	put_bold(s, all ? "Every tensor" : "How it propagates");
	buf_addc(&s->b, '\n');
	put_table(s, buf_slice(&b));
	if (more)
		buf_addf(&s->b, "  ... and %zu more (--all shows them)\n", more);
	buf_release(&b);
}

static void show_agreement(struct screen *s, const struct diff *d)
{
	const struct diff_value *worst = NULL;
	const struct diff_row *row = NULL;
	for (size_t i = 0; i < d->n_rows; i++)
		for (size_t k = d->row[i].value; k < d->row[i].value + d->row[i].n_values; k++)
			if (d->value[k].what == DIFF_SAME && (!worst || d->value[k].close.worst > worst->close.worst)) {
				worst = &d->value[k];
				row = &d->row[i];
			}
	buf_adds(&s->b, d->cut ? "They agree up to the point where a GPU error cut one short" : "They agree");
	if (worst && worst->close.worst > 0) {
		buf_addf(&s->b, "; the largest difference is %.2g times the tolerance: ", worst->close.worst);
		add_buffer(&s->b, diff_any(worst));
		buf_adds(&s->b, ", ");
		add_where(&s->b, d, diff_call(row));
	} else {
		buf_adds(&s->b, ", bit for bit or numerically");
	}
	buf_adds(&s->b, "\n");
}

void diff_show(struct screen *s, const struct diff *d, bool all)
{
	put_bold(s, d->name[0]);
	buf_adds(&s->b, " vs ");
	put_bold(s, d->name[1]);
	buf_addf(&s->b, ": %zu call%s in both", d->both, plural(d->both));
	if (d->only[0])
		buf_addf(&s->b, ", %zu only in the first", d->only[0]);
	if (d->only[1])
		buf_addf(&s->b, ", %zu only in the second", d->only[1]);
	buf_addf(&s->b, "; %zu tensor%s compared, %zu differ%s", d->compared, plural(d->compared), d->differing, verb_s(d->differing));
	if (d->unsaved)
		buf_addf(&s->b, ", %zu not saved", d->unsaved);
	if (d->how.given)
		buf_addf(&s->b, " (rtol %g, atol %g)", d->how.rtol, d->how.atol);
	if (d->two_types) {
		buf_addf(&s->b, ".\nThe first uses %s", dtype_name(d->type[0]));
		buf_addf(&s->b, ", the second %s: what rounding explains, call by call, is not a difference", dtype_name(d->type[1]));
	}
	buf_adds(&s->b, "\n\n");
	if (d->first != SIZE_MAX)
		show_first(s, d);
	else
		show_agreement(s, d);
	if (d->nodes)
		buf_adds(&s->b, "One side ran node by node: nodes inside kernels, and kernel outputs that are not any node's, are "
				"not differences.\n");
	else if (d->first == SIZE_MAX && d->only[0] + (d->live ? 0 : d->only[1]))
		buf_addf(&s->b,
			 "The code is %s and fused differently: calls on one side only are not differences, since both end "
			 "with the same result.\n",
			 d->two_types ? "in two types" : "for two devices");
	if (d->different || all)
		show_table(s, d, all);
	if (d->origins > 1)
		buf_addf(&s->b, "\n%zu calls introduce a difference of their own: their inputs agree.\n", d->origins);
}

/* ---- JSON ---- */

static void out_value(struct json_out *o, const struct diff_value *v)
{
	const struct dump_value *any = diff_any(v);
	const struct tensor_close *c = &v->close;
	struct buf spec = {0};
	json_obj(o);
	json_fields(o, *any, buffer, path);
	json_member(o, "role", slice_str(call_role_name(any->role)));
	json_member(o, "when", any->before ? SLICE("before") : SLICE("after"));
	json_member(o, "what", slice_str(diff_what_name(v->what)));
	for (int side = 0; side < 2; side++) {
		const struct dump_value *x = side ? v->b : v->a;
		buf_reset(&spec);
		if (x && x->meta.n_dim >= 0)
			tensor_spec_print(&x->meta, &spec);
		json_member(o, side ? "b" : "a", buf_slice(&spec));
	}
	buf_release(&spec);
	if (v->what == DIFF_SAME || v->what == DIFF_VALUES || v->what == DIFF_DTYPE) {
		json_member_u64(o, "elements", c->n);
		json_member_u64(o, "differ", c->bad);
		json_member_real(o, "max_abs", c->max_abs);
		json_member_float(o, "max_rel", c->max_rel);
		json_member_float(o, "rms", c->rms);
		json_member_float(o, "times_allowed", c->worst);
		if (v->allowed > 0)
			json_member_float(o, "rms_allowed", v->allowed);
		json_member_real(o, "rtol", c->rtol);
		json_member_real(o, "atol", c->atol);
		if (c->worst_at >= 0 && c->known) {
			json_member_obj(o, "worst");
			json_member_i64s(o, "index", v->index, v->n_index);
			json_member_float(o, "a", c->a);
			json_member_float(o, "b", c->b);
			json_close(o);
		}
	}
	json_close(o);
}

void diff_document(struct json_out *o, const struct diff *d)
{
	json_obj(o);
	json_member(o, "schema", SLICE("pt2utils.printer.diff/1"));
	json_member(o, "a", slice_str(d->name[0]));
	json_member(o, "b", slice_str(d->name[1]));
	json_member_bool(o, "different", d->different);
	d->first == SIZE_MAX ? json_member_null(o, "first") : json_member_u64(o, "first", d->first); /* index into calls */
	json_member_u64(o, "both", d->both);
	json_member_u64(o, "only_a", d->only[0]);
	json_member_u64(o, "only_b", d->only[1]);
	if (d->two_types) {
		json_member(o, "type_a", slice_str(dtype_name(d->type[0])));
		json_member(o, "type_b", slice_str(dtype_name(d->type[1])));
	}
	json_fields(o, *d, compared, differing, origins);
	json_member_u64(o, "not_saved", d->unsaved);
	json_member(o, "failed_a", d->a.failed);
	json_member(o, "failed_b", d->b.failed);
	json_rows(o, "calls", i, d->n_rows) {
		const struct diff_row *r = &d->row[i];
		const struct dump_call *c = diff_call(r);
		json_fields(o, *c, model, run, call);
		json_member(o, "kernel", c->name);
		if (r->a && r->b && !slice_eq(r->a->name, r->b->name))
			json_member(o, "kernel_b", r->b->name);
		json_member(o, "kind", slice_str(dump_kind_name(c->kind)));
		json_fields(o, *c, line, nodes);
		if (r->nodes && r->a && r->b)
			json_member(o, "nodes_b", r->b->nodes);
		json_member(o, "in", r->a && r->b ? SLICE("both") : r->a ? SLICE("a") : SLICE("b"));
		if (r->elsewhere)
			json_member_bool(o, "elsewhere", true);
		json_member_bool(o, "origin", r->origin);
		json_member_arr(o, "values");
		for (size_t k = r->value; k < r->value + r->n_values; k++)
			out_value(o, &d->value[k]);
		json_close(o);
	}
	json_close(o);
}
