/* facts_ranks.c - data for comparing ranks, from records as they are read: what is started, captured and generated, and when something
 * compiled. */
#include "run/trace/facts_part.h"

#include "base/text.h"
#include "run/text.h"

/* NULL: too many. */
static struct fact_step *new_step(struct trace_reading *r, enum fact_step_kind kind, uint64_t fingerprint, struct slice what)
{
	if (r->f->n_step - r->t->from.step >= RANK_EVENTS)
		return NULL;
	uint32_t name = facts_intern(r->f, what);
	struct fact_step *to = facts_new_step(r->f, r->t->at);
	to->compile = r->f->attempt[r->t->at.attempt].compile;
	to->kind = kind;
	to->fingerprint = fingerprint;
	to->what = name;
	return to;
}

static void take_start(struct trace_reading *r)
{
	const struct trace *t = r->t;
	uint32_t node = r->f->attempt[t->at.attempt].stack;
	buf_reset(&r->tmp);
	if (node != NONE) {
		const struct trace_frame *x = &t->frame[t->starts.node[node].frame];
		put_function(&r->tmp, facts_text(r->f, x->file), x->line, facts_text(r->f, x->name));
	}
	new_step(r, STEP_START, hash_bytes(r->tmp.p, r->tmp.len), buf_slice(&r->tmp));
}

static void keep_text(struct trace_reading *r, struct fact_step *to, struct slice text)
{
	struct rank_reading *x = &r->ranks;
	uint32_t before = x->graphs.n;
	if (intern_add(&x->graphs, slice_of((const char *)&to->fingerprint, sizeof(to->fingerprint))) < before)
		return;
	to->cut = text.n > RANK_TEXT_ONE;
	if (to->cut) {
		const char *nl = memrchr(text.p, '\n', RANK_TEXT_ONE);
		text.n = nl ? (size_t)(nl - text.p) + 1 : RANK_TEXT_ONE;
	}
	size_t *kept = &x->text[to->kind == STEP_GRAPH];
	if (*kept + text.n > RANK_TEXT_LOG)
		return;
	*kept += text.n;
	to->graph = facts_intern(r->f, text);
}

static void take_graph(struct trace_reading *r, const struct trace_scan *s, const struct trace_record *rec, struct slice what,
		       enum fact_step_kind kind)
{
	struct slice text = trace_payload(s, rec);
	uint64_t fingerprint = graph_fingerprint(text, &r->tmp);
	buf_reset(&r->tmp);
	if (!slice_is(what, "dynamo_output_graph") || rec->nodes < 0) {
		put_flat(&r->tmp, what, 200);
		buf_adds(&r->tmp, rec->nodes >= 0 ? ", " : "");
	}
	if (rec->nodes >= 0)
		put_count(&r->tmp, (uint64_t)rec->nodes, "node");
	struct fact_step *to = new_step(r, kind, fingerprint, buf_slice(&r->tmp));
	if (to)
		keep_text(r, to, text);
}

static void new_span(struct trace_reading *r, struct fact_src src, enum fact_span_kind kind, uint64_t start, uint64_t end)
{
	if (r->f->n_span - r->t->from.span >= RANK_EVENTS)
		return;
	struct fact_span *to = facts_new_span(r->f, src);
	to->compile = r->f->attempt[src.attempt].compile;
	to->kind = kind;
	to->start = (double)start / 1e6;
	to->end = (double)end / 1e6;
}

/* Before now, given seconds. */
static void take_span(struct trace_reading *r, double seconds, enum fact_span_kind kind)
{
	uint64_t us = seconds > 0 && seconds < 1e6 ? (uint64_t)(seconds * 1e6) : 0, end = r->t->elapsed;
	struct rank_attempt *a = reading_attempt(r, r->t->at.attempt);
	uint64_t since = end > a->first ? end - a->first : 0;
	if (kind == SPAN_COMPILE && !a->closed && us < since)
		us = since; /* the log has its own clock; a metric may leave out earlier time */
	a->closed = true;
	new_span(r, r->t->at, kind, us > end ? 0 : end - us, end);
}

static double backward_seconds(const struct trace_scan *s, const struct trace_record *rec)
{
	uint32_t v = trace_value(s, rec, KIND_bwd_compilation_metrics);
	double us = json_number(&s->tape, v, "duration_us", -1);
	return us >= 0 ? us / 1e6 : json_number(&s->tape, v, "inductor_compile_time_s", 0);
}

static void take_artifact(struct trace_reading *r, const struct trace_scan *s, const struct trace_record *rec, uint32_t index)
{
	const struct trace_artifact *a = &r->t->artifact[index];
	struct slice name = facts_text(r->f, a->name), payload = trace_payload(s, rec);
	if (a->kind == KIND_inductor_output_code)
		reading_code(r, payload);
	if (a->kind != KIND_artifact)
		return;
	if (a->flags & ART_JSON && !slice_chr(name, '/'))
		reading_list(r, a, name, payload);
	if (slice_starts(name, "inductor_post_grad_graph"))
		take_graph(r, s, rec, name, STEP_MADE);
}

void reading_ranks(struct trace_reading *r, const struct trace_scan *s, const struct trace_record *rec)
{
	static const uint64_t captured = 1ull << KIND_dynamo_output_graph | 1ull << KIND_compiled_autograd_graph |
					 1ull << KIND_optimize_ddp_split_graph | 1ull << KIND_optimize_ddp_split_child;
	struct rank_attempt *a = reading_attempt(r, rec->attempt);
	if (!a->seen) {
		a->seen = true;
		a->first = r->t->elapsed;
	}
	a->last = r->t->elapsed;
	if (rec->kinds == 1ull << KIND_chromium_event)
		return;
	if (rec->kinds >> KIND_dynamo_start & 1)
		take_start(r);
	for (uint64_t k = rec->kinds; k && rec->payload_len; k &= k - 1) {
		unsigned kind = (unsigned)__builtin_ctzll(k);
		if (trace_kind[kind].flags & K_GRAPH)
			take_graph(r, s, rec, slice_of(trace_kind[kind].name, trace_kind[kind].name_len),
				   captured >> kind & 1 ? STEP_GRAPH : STEP_MADE);
	}
	for (uint32_t i = 0; i < rec->artifacts; i++)
		take_artifact(r, s, rec, rec->first_artifact + i);
	if (rec->kinds >> KIND_compilation_metrics & 1)
		take_span(r, r->f->attempt[rec->attempt].seconds, SPAN_COMPILE);
	if (rec->kinds >> KIND_bwd_compilation_metrics & 1)
		take_span(r, backward_seconds(s, rec), SPAN_BACKWARD);
}

void reading_ranks_end(struct trace_reading *r)
{
	for (uint32_t i = 0; i < r->ranks.n_attempt; i++) {
		const struct rank_attempt *x = &r->ranks.attempt[i];
		uint32_t attempt = r->t->from.attempt + i;
		const struct fact_attempt *a = &r->f->attempt[attempt];
		struct fact_src src = {r->t->input, attempt, NONE, a->line, UINT64_MAX};
		if (x->seen && !x->closed && a->id.frame >= 0 && !a->id.bad_line)
			new_span(r, src, SPAN_OPEN, x->first, x->last);
		if (x->counts)
			reading_parity(r, &r->ranks.counts[x->counts - 1], src);
	}
}

void reading_ranks_release(struct rank_reading *x)
{
	intern_release(&x->graphs);
	free(x->attempt);
	free(x->counts);
	buf_release(&x->text_buf);
}
