/* What the model returns and leaves behind, end to end, whatever its kernels write; and the calls that can have made it wrong. */
#include "aten/verify/verify.h"

#include <math.h>

/* ---- which values ---- */

static struct verify_output *add_output(struct verify *v)
{
	struct verify_output *x = &PUSH_TO(v->output, v->n_outputs, v->cap_outputs);
	*x = (struct verify_output){.read = NONE, .write = NONE, .input = NONE, .node = NONE};
	return x;
}

static struct slice path_of(const struct reference *ref, uint32_t input)
{
	const struct contract *c = &ref->program->contract;
	const struct slice name = graph_name(ref->g, ref->first + input);
	for (uint32_t i = 0; i < c->n_constants; i++)
		if (slice_eq(c->constant[i].name, name))
			return c->constant[i].fqn;
	return SLICE("");
}

/* The last write into a buffer, which has a path, or into an input, which is known by its name and its memory: the model may free an input
 * early, and the memory is then another tensor's. */
static uint32_t last_write(const struct verify *v, uint32_t input)
{
	const struct observed *o = v->o;
	const struct program_input *p = &v->ref->program->input[input];
	const struct slice path = path_of(v->ref, input);
	const struct observed_tensor *in = p->from == PROGRAM_INPUT && p->index < o->n_inputs ? &o->write[p->index] : NULL;
	for (uint32_t w = o->n_writes; w-- > o->n_inputs;) {
		const struct observed_tensor *x = &o->write[w];
		if ((path.n && slice_eq(x->v->path, path)) ||
		    (in && in->to && x->from == in->from && x->to == in->to && slice_eq(x->v->buffer, in->v->buffer)))
			return w;
	}
	return NONE;
}

/* Values of the graph that a call leaves in its buffers and inputs. */
static void list_left(struct verify *v)
{
	for (uint32_t i = 0; i < v->ref->program->n_inputs; i++) {
		const enum program_from from = v->ref->program->input[i].from;
		const uint32_t node = from == PROGRAM_WEIGHT || from == PROGRAM_INPUT ? reference_after(v->ref, i) : NONE;
		if (node == NONE || node == i)
			continue;
		struct verify_output *x = add_output(v);
		x->input = i;
		x->node = node;
		x->write = last_write(v, i);
		if (x->write == NONE)
			continue;
		const bool is_tensor = reference_is_tensor(v->ref, node);
		v->write[x->write].unknown |= !is_tensor;
		if (is_tensor && aten_numel(v->ref->v[node].tensor) == v->o->write[x->write].x.n)
			v->write[x->write].expect = node;
	}
}

static void list_returned(struct verify *v)
{
	const struct observed *o = v->o;
	for (uint32_t r = o->first_output; r < o->n_reads; r++) {
		struct verify_output *x = add_output(v);
		x->read = r;
		x->node = reference_output(v->ref, o->read[r].v->arg);
		v->read[r].expect = x->node != NONE && reference_is_tensor(v->ref, x->node) ? x->node : NONE;
		if (o->read[r].same != NONE && v->read[r].expect != NONE)
			v->write[o->read[r].same].expect = v->read[r].expect;
	}
}

/* ---- do they agree? ---- */

static const struct numbers *numbers_in(const struct verify *v, const struct verify_output *x)
{
	return x->read != NONE ? observed_numbers(v->o, &v->o->read[x->read]) : x->write != NONE ? &v->o->write[x->write].x : NULL;
}

static bool same_sizes(const struct numbers *a, const struct numbers *b)
{
	return a->n_dim == b->n_dim && !memcmp(a->size, b->size, (size_t)a->n_dim * sizeof(*a->size));
}

static void unknown(struct verify_output *x, const char *why)
{
	x->what = VERIFY_UNKNOWN;
	x->why = why;
}

static void compare_number(struct verify_output *x, const struct numbers *got, double want)
{
	if (got->n == 1 && got->v[0] == want)
		return;
	x->what = VERIFY_DIFFERS;
	x->at = (struct verify_finding){.n = 1, .wrong = 1, .at = 0, .got = got->n ? got->v[0] : NAN, .want = want};
}

/* An integer or a float that the graph computes from sizes. */
static void compare_computed(const struct verify *v, struct verify_output *x, const struct numbers *got)
{
	const struct aten_value *want = &v->ref->v[x->node];
	if (want->kind == ATEN_INT || want->kind == ATEN_BOOL || want->kind == ATEN_FLOAT)
		compare_number(x, got, want->kind == ATEN_FLOAT ? want->f : (double)want->i);
	else
		unknown(x, "its value in the graph is not a tensor");
}

/* The order of its elements counts here: another order is another output. */
static void compare(struct verify *v, struct verify_output *x)
{
	const struct numbers *got = numbers_in(v, x);
	struct layout l;
	double number;
	x->what = VERIFY_AGREES;
	x->why = NULL;
	if (x->read != NONE && v->o->read[x->read].v->meta.n_dim < 0 && x->node == NONE)
		return; /* None */
	if (x->node == NONE && got && got->v && reference_output_number(v->ref, v->o->read[x->read].v->arg, &number))
		return compare_number(x, got, number);
	if (x->node == NONE)
		return unknown(x, "the graph does not compute it");
	if (!v->ref->known[x->node])
		return unknown(x, "its value in the graph is unknown");
	if (x->read == NONE && x->write == NONE) {
		struct numbers *now = reference_numbers(v->ref, x->node), *was = reference_numbers(v->ref, x->input);
		if (!now || !was || !numbers_match(was, now, 0, &l) || numbers_off(was, now, &l) != 0)
			unknown(x, "no call was seen to change it, but the graph does");
		return;
	}
	if (!got || !got->v)
		return unknown(x, "its numbers were not saved");
	if ((x->write != NONE && v->write[x->write].adopted) ||
	    (x->read != NONE && v->o->read[x->read].same != NONE && v->write[v->o->read[x->read].same].adopted))
		return unknown(x, "its value in the graph is unknown");
	if (v->ref->v[x->node].kind != ATEN_TENSOR)
		return compare_computed(v, x, got);
	struct numbers *want = reference_numbers(v->ref, x->node);
	if (!want)
		return unknown(x, "its type has no numbers here");
	if (got->n != want->n && x->write != NONE)
		return unknown(x, "the last call that writes to it writes a part");
	const double error = v->ref->has_wide ? reference_error(v->ref, x->node, want) : 0;
	if (same_sizes(got, want) && numbers_match(got, want, error, &l) && l.identity)
		return;
	if (x->write != NONE && !same_sizes(got, want) && numbers_match(got, want, error, &l)) /* a kernel's view of the buffer */
		return;
	x->what = VERIFY_DIFFERS;
	x->at = (struct verify_finding){.at = -1, .node = x->node};
	if (got->n == want->n && got->class == want->class)
		verify_compare(&x->at, got->v, want, verify_slack(want, error));
	if (!x->at.wrong && !same_sizes(got, want))
		x->at.at = -1;
}

void verify_outputs(struct verify *v)
{
	list_returned(v);
	list_left(v);
	for (int with_errors = 0; with_errors < 2; with_errors++) {
		v->n_differ = v->n_unknown = 0;
		for (uint32_t i = 0; i < v->n_outputs; i++) {
			compare(v, &v->output[i]);
			v->n_differ += v->output[i].what == VERIFY_DIFFERS;
			v->n_unknown += v->output[i].what == VERIFY_UNKNOWN;
		}
		if (!v->n_differ)
			break;
		reference_errors(v->ref); /* worth a run in float64: the nodes' own errors allow for more */
	}
}

/* ---- which calls can it be? ---- */

/* Marks the calls from whose results a tensor comes, those that are not values of the graph. */
static void mark_producers(const struct verify *v, const struct observed_tensor *r, bool even_if_node, bool *marked)
{
	for (uint32_t k = 0; k < r->n_links; k++) {
		const uint32_t w = v->o->link[r->link + k], call = v->o->write[w].call;
		const struct verify_tensor *t = &v->write[w];
		if (call != NONE && (even_if_node || (!t->n && !t->empty && t->derived == NONE && !t->counter)))
			marked[call] = true;
	}
}

static bool is_open_read(const struct verify *v, uint32_t read)
{
	return !v->read[read].n && !v->read[read].empty && !v->read[read].counter;
}

/* From the marked calls to those before them. Compiled ones are suspects, except `but`. */
static void collect(struct verify *v, bool *marked, uint32_t but, bool only_open, struct verify_finding *f)
{
	f->suspect = v->n_suspects;
	for (uint32_t c = v->o->n_calls; c-- > 0;) {
		const struct observed_call *call = &v->o->call[c];
		if (!marked[c])
			continue;
		for (uint32_t r = call->read; r < call->read + call->n_reads; r++)
			if (is_open_read(v, r))
				mark_producers(v, &v->o->read[r], false, marked);
		if (c != but && call->compiled && (!only_open || v->row[c].what == VERIFY_OPEN))
			PUSH_TO(v->suspect, v->n_suspects, v->cap_suspects) = c;
	}
	f->n_suspects = v->n_suspects - f->suspect;
	for (uint32_t i = 0; i < f->n_suspects / 2; i++) { /* in their order */
		uint32_t *a = &v->suspect[f->suspect + i], *b = &v->suspect[v->n_suspects - 1 - i], was = *a;
		*a = *b, *b = was;
	}
}

/* Does it agree with the graph as it continues from the results of the kernels that are accused? */
static bool is_explained(struct verify *v, const struct verify_output *x)
{
	struct verify_output now = *x;
	compare(v, &now);
	return now.what == VERIFY_AGREES;
}

/* Has one of its suspects run in a loop that went on for too many turns, or too few? */
static bool follows_from_turns(const struct verify *v, const struct verify_finding *f)
{
	for (uint32_t i = 0; i < v->n_findings; i++)
		for (uint32_t k = 0; v->finding[i].ends && k < f->n_suspects; k++)
			if (verify_same_loop(v, v->suspect[f->suspect + k], v->finding[i].call))
				return true;
	return false;
}

void verify_suspects(struct verify *v)
{
	bool *marked = xcalloc(v->o->n_calls + 1, sizeof(*marked));
	for (uint32_t i = 0; i < v->n_findings; i++) {
		struct verify_finding *f = &v->finding[i];
		if (f->subtle || f->others != NONE)
			continue;
		memset(marked, 0, v->o->n_calls * sizeof(*marked));
		marked[f->call] = true;
		collect(v, marked, f->call, true, f);
	}
	for (uint32_t i = 0; i < v->n_outputs; i++) {
		struct verify_output *x = &v->output[i];
		if (x->what != VERIFY_DIFFERS)
			continue;
		x->explained = is_explained(v, x);
		if (x->explained)
			continue;
		memset(marked, 0, v->o->n_calls * sizeof(*marked));
		if (x->read != NONE)
			mark_producers(v, &v->o->read[x->read], true, marked);
		else
			marked[v->o->write[x->write].call] = true;
		collect(v, marked, NONE, false, &x->at);
		x->explained = follows_from_turns(v, &x->at);
	}
	free(marked);
}
