/* reduce_text.c - reads texts and metrics of a compilation: breaks, recompiles, restarts, failures, times. */
#include "run/trace/reduce.h"
#include "run/text.h"

static bool same_compile(const struct compile_id *a, const struct compile_id *b)
{
	return a->autograd == b->autograd && a->frame == b->frame && a->compile == b->compile && a->bad_line == b->bad_line;
}

static void add_break(struct trace *t, const struct break_text *b)
{
	buf_reset(&t->tmp2);
	for (unsigned i = 0; i < b->hints; i++) {
		if (i)
			buf_addc(&t->tmp2, '\n');
		for (size_t j = 0; j < b->hint[i].n; j++)
			buf_addc(&t->tmp2, b->hint[i].p[j] == '\n' ? ' ' : b->hint[i].p[j]);
	}
	struct fact_break *to = facts_new_brk(t->f, t->at);
	to->compile = t->f->attempt[t->at.attempt].compile;
	to->time = (double)t->elapsed / 1e6;
	to->loc = facts_loc(t->f, &b->at);
	to->reason = reduce_name(t, b->reason);
	to->explanation = reduce_name_or_none(t, b->explanation);
	to->hints = reduce_name_or_none(t, buf_slice(&t->tmp2));
	traceback_frames(b->stack, BREAK_FRAMES, &t->tmp2);
	to->stack = reduce_name_or_none(t, buf_slice(&t->tmp2));
	to->context = reduce_name_or_none(t, b->context);
	to->url = reduce_name_or_none(t, b->url);
	to->gb = b->gb;
	t->f->attempt[t->at.attempt].breaks++;
}

void reduce_break(struct trace *t, struct slice payload)
{
	struct break_text b;
	break_text_parse(payload, &b);
	add_break(t, &b);
}

/* One text, or a JSON list of texts when several compiled versions rejected the call. */
void reduce_recompile(struct trace *t, struct slice payload)
{
	struct slice first = payload, all = payload;
	struct json_tape *tape = &t->tape;
	uint32_t root;
	LOCAL_BUF copy = {0};
	json_tape_text(tape, payload.p, payload.n);
	if (payload.n && payload.p[0] == '[' && !json_parse(tape, 0, payload.n, &root) && json_end(tape, root) > root + 1) {
		buf_add_slice(&copy, json_text_at(tape, root + 1, &t->tmp));
		first = buf_slice(&copy);
		all = reduce_list_text(t, tape, root);
	} else if (payload.n && payload.p[0] == '"' && !json_parse(tape, 0, payload.n, &root)) {
		buf_add_slice(&copy, json_text_at(tape, root, &t->tmp));
		first = all = buf_slice(&copy);
	}
	struct recompile_text x;
	uint32_t all_name = reduce_name(t, all);
	recompile_text_parse(first, &x);
	struct fact_recompile *to = facts_new_recompile(t->f, t->at);
	to->compile = t->f->attempt[t->at.attempt].compile;
	to->time = (double)t->elapsed / 1e6;
	to->against = facts_intern(t->f, x.rejected_by);
	to->loc = facts_loc(t->f, &x.at);
	to->reason = reduce_name(t, first);
	to->guard = reduce_name_or_none(t, x.guard);
	to->old = reduce_name_or_none(t, x.old);
	to->new = reduce_name_or_none(t, x.new);
	to->all = all_name;
}

static void add_phase(struct trace *t, struct slice name, double seconds)
{
	uint32_t n = reduce_name(t, name), i = 0;
	while (i < t->n_phase && t->phase[i].name != n)
		i++;
	if (i == t->n_phase) {
		GROW(t->phase, t->n_phase, t->cap_phase, 1);
		t->phase[t->n_phase++] = (struct trace_phase){n, 0};
	}
	t->phase[i].seconds += seconds;
}

/* Durations: every *_us except points in time; logs before torch 2.6 have only the *_time_s. */
void reduce_phases(struct trace *t, const struct json_tape *tape, uint32_t v)
{
	bool us = json_get(tape, v, "duration_us") != NONE;
	json_each_pair(tape, v, k) {
		struct slice key = json_slice(tape, k);
		double d;
		if (!(us ? slice_ends(key, "_us") : slice_ends(key, "_time_s")) || slice_is(key, "duration_us") ||
		    slice_starts(key, "start_time") || slice_starts(key, "end_time") || !json_double(tape, k + 1, &d) || d <= 0)
			continue;
		add_phase(t, key, us ? d / 1e6 : d);
	}
}

void reduce_version(struct trace *t, const struct json_tape *tape, uint32_t v)
{
	if (t->torch_version == NONE)
		t->torch_version = reduce_token(t, tape, json_get(tape, v, "pytorch_version"));
}

/* type NONE: a restart. */
static void add_failure(struct trace *t, struct fact_loc loc, uint32_t type, uint32_t reason)
{
	struct fact_failure *to = facts_new_failure(t->f, t->at);
	to->compile = t->f->attempt[t->at.attempt].compile;
	to->time = (double)t->elapsed / 1e6;
	to->user = loc;
	to->type = type;
	to->reason = reason;
	to->restart = type == NONE;
}

/* A restart reason is a graph break already known from an artifact of the same compile id, one known only from here, or not a graph break
 * at all. */
static void restart_break(struct trace *t, struct slice reason)
{
	const struct fact_attempt *of = &t->f->attempt[t->at.attempt];
	struct break_text b;
	break_text_parse(reason, &b);
	if (!break_text_is_break(&b))
		return;
	for (uint32_t i = t->f->n_brk; i-- > t->from.brk;) {
		const struct fact_break *x = &t->f->brk[i];
		const struct fact_attempt *a = &t->f->attempt[x->src.attempt];
		if (a->process != of->process || a->generation != of->generation || !same_compile(&a->id, &of->id)) {
			if (t->f->n_brk - i > 256)
				break;
			continue;
		}
		if (slice_eq(facts_text(t->f, x->reason), b.reason))
			return;
	}
	struct fact_src at = t->at;
	t->at.artifact = NONE;
	add_break(t, &b);
	t->at = at;
}

/* The values read from a compilation metrics record, in its order. */
#define METRICS_TAKEN(X) \
	X(co_name) \
	X(co_filename) \
	X(co_firstlineno) \
	X(cache_size) \
	X(guard_count) \
	X(graph_op_count) \
	X(graph_node_count) \
	X(graph_input_count) \
	X(entire_frame_compile_time_s) \
	X(backend_compile_time_s) \
	X(inductor_compile_time_s) \
	X(code_gen_time_s) \
	X(fail_type) \
	X(fail_reason) \
	X(fail_user_frame_filename) \
	X(fail_user_frame_lineno) \
	X(restart_reasons) \
	X(duration_us) \
	X(cudagraph_skip_reason)
enum {
#define X(name) TAKEN_##name,
	METRICS_TAKEN(X)
#undef X
	    TAKEN_COUNT
};
static const struct slice metric_taken[TAKEN_COUNT] = {
#define X(name) {#name, sizeof(#name) - 1},
    METRICS_TAKEN(X)
#undef X
};

static double number_or(const struct json_tape *tape, uint32_t k, double none)
{
	double v;
	return json_double(tape, k, &v) ? v : none;
}

static int64_t count_or_none(const struct json_tape *tape, uint32_t k)
{
	int64_t v;
	return json_i64(tape, k, &v) ? v : -1;
}

void reduce_metrics(struct trace *t, struct trace_scan *s, struct trace_record *r)
{
	const struct json_tape *tape = &s->tape;
	uint32_t v = trace_value(s, r, KIND_compilation_metrics), m[TAKEN_COUNT];
	reduce_artifact(t, s, r, KIND_compilation_metrics, SLICE("compilation_metrics"), LANG_TEXT, ART_HTML | ART_NO_PAYLOAD);
	t->at.artifact = t->artifact[t->n_artifact - 1].number;
	reduce_version(t, tape, v);
	reduce_phases(t, tape, v);
	json_get_many(tape, v, metric_taken, m, TAKEN_COUNT);
	struct fact_attempt *c = &t->f->attempt[r->attempt];
	c->seconds = number_or(tape, m[TAKEN_entire_frame_compile_time_s], -1);
	if (c->seconds < 0)
		c->seconds = number_or(tape, m[TAKEN_duration_us], -1e6) * 1e-6;
	if (c->seconds > 0)
		t->compile_seconds += c->seconds;
	c->backend_seconds = number_or(tape, m[TAKEN_backend_compile_time_s], -1);
	c->inductor_seconds = number_or(tape, m[TAKEN_inductor_compile_time_s], -1);
	c->code_gen_seconds = number_or(tape, m[TAKEN_code_gen_time_s], -1);
	c->ops = count_or_none(tape, m[TAKEN_graph_op_count]);
	c->nodes = count_or_none(tape, m[TAKEN_graph_node_count]);
	c->inputs = count_or_none(tape, m[TAKEN_graph_input_count]);
	c->guards = count_or_none(tape, m[TAKEN_guard_count]);
	c->cache_size = count_or_none(tape, m[TAKEN_cache_size]);
	int64_t first = count_or_none(tape, m[TAKEN_co_firstlineno]);
	c->loc.file = reduce_token(t, tape, m[TAKEN_co_filename]);
	c->loc.function = reduce_token(t, tape, m[TAKEN_co_name]);
	c->loc.line = first > 0 ? (uint32_t)first : 0;
	uint32_t restarts = m[TAKEN_restart_reasons];
	bool restarted = !json_is(tape, restarts, JSON_ARRAY) || json_end(tape, restarts) > restarts + 1;
	json_each(tape, restarts, k) {
		uint32_t reason = reduce_token(t, tape, k);
		add_failure(t, facts_no_loc(), NONE, reason);
		restart_break(t, facts_text(t->f, reason));
	}
	c = &t->f->attempt[r->attempt];
	uint32_t type = reduce_token(t, tape, m[TAKEN_fail_type]);
	if (type != NONE) {
		int64_t at = count_or_none(tape, m[TAKEN_fail_user_frame_lineno]);
		struct fact_loc loc = {reduce_token(t, tape, m[TAKEN_fail_user_frame_filename]), at > 0 ? (uint32_t)at : 0, NONE, NONE};
		c->fail_type = type;
		c->fail_reason = reduce_token(t, tape, m[TAKEN_fail_reason]);
		add_failure(t, loc, type, c->fail_reason);
		c->status = COMPILE_FAILED;
	} else if (c->ops <= 0) {
		c->status = COMPILE_EMPTY;
	} else {
		c->status = restarted || c->breaks ? COMPILE_BREAK : COMPILE_OK;
	}
	uint32_t skip = reduce_token(t, tape, m[TAKEN_cudagraph_skip_reason]);
	if (skip != NONE) {
		struct fact_cudagraph *to = facts_new_cudagraph(t->f, t->at);
		to->compile = c->compile;
		to->reason = skip;
	}
}

void reduce_bwd_metrics(struct trace *t, struct trace_scan *s, struct trace_record *r, enum trace_kind kind)
{
	uint32_t v = trace_value(s, r, kind);
	reduce_artifact(t, s, r, kind, slice_of(trace_kind[kind].name, trace_kind[kind].name_len), LANG_TEXT, ART_HTML | ART_NO_PAYLOAD);
	reduce_version(t, &s->tape, v);
	reduce_phases(t, &s->tape, v);
	double d = json_number(&s->tape, v, "inductor_compile_time_s", -1);
	if (d > 0)
		t->compile_seconds += d;
}

struct slice reduce_list_text(struct trace *t, const struct json_tape *tape, uint32_t k)
{
	buf_reset(&t->tmp2);
	json_each(tape, k, i) {
		if (t->tmp2.len)
			buf_addc(&t->tmp2, '\n');
		buf_add_slice(&t->tmp2, json_text_at(tape, i, &t->tmp));
	}
	return buf_slice(&t->tmp2);
}

struct trace_artifact *reduce_artifact(struct trace *t, struct trace_scan *s, struct trace_record *r, enum trace_kind kind,
				       struct slice name, enum trace_lang lang, unsigned flags)
{
	struct fact_attempt *c = &t->f->attempt[r->attempt];
	uint64_t line = s->first_line + r->line;
	GROW(t->artifact, t->n_artifact, t->cap_artifact, 1);
	uint32_t k = t->n_artifact++;
	if (!r->artifacts++)
		r->first_artifact = k;
	if (c->first_artifact == NONE)
		c->first_artifact = k;
	else
		t->artifact[c->last_artifact].next = k;
	c->last_artifact = k;
	c->artifacts++;
	struct trace_folder *folder = &t->folder[c->folder];
	if (folder->first_artifact == NONE)
		folder->first_artifact = k;
	else
		t->artifact[folder->last_artifact].folder_next = k;
	folder->last_artifact = k;
	if (r->flags & REC_NO_ATTEMPT)
		flags |= ART_NO_ATTEMPT;
	const uint32_t subgraph = r->subgraph == NONE ? NONE : reduce_name_or_none(t, json_text_at(&s->tape, r->subgraph, &t->tmp2));
	struct trace_artifact *a = &t->artifact[k];
	*a = (struct trace_artifact){
	    .attempt = r->attempt,
	    .name = reduce_name(t, name),
	    .number = flags & ART_UNLISTED ? NONE : t->number++,
	    .size = flags & ART_NO_PAYLOAD ? 0 : r->payload_len,
	    .line = line,
	    .kind = kind,
	    .lang = lang,
	    .nodes = r->nodes,
	    .seconds = (float)((double)t->elapsed / 1e6),
	    .next = NONE,
	    .folder_next = NONE,
	    .block = NONE,
	    .extra = NONE,
	    .subgraph = subgraph,
	};
	if (!(flags & ART_LINK)) {
		if (slice_find(name, "cache_"))
			flags |= slice_find(name, "cache_miss")     ? ART_MISS
				 : slice_find(name, "cache_hit")    ? ART_HIT
				 : slice_find(name, "cache_bypass") ? ART_BYPASS
								    : 0;
		buf_reset(&t->tmp2);
		if (trace_safe_path(name, &t->tmp2))
			trace_damage_add(t->damage, DAMAGE_NAME, line);
	}
	a->flags = flags & 0xfff;
	return a;
}
