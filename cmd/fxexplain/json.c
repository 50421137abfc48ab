/* json.c - --json: an explanation as the document of docs/EXPLAIN.md. */
#include "emit.h"

static void put_id(struct json_out *o, const struct explanation *x, const char *key, uint32_t id)
{
	json_member(o, key, explain_text(x, id));
}

static void put_loc(struct json_out *o, const struct explanation *x, const char *key, const struct fact_loc *loc)
{
	json_key(o, key);
	if (loc->file == NONE) {
		json_out_null(o);
		return;
	}
	json_obj(o);
	put_id(o, x, "file", loc->file);
	json_member_count(o, "line", loc->line ? (int64_t)loc->line : -1);
	put_id(o, x, "function", loc->function);
	put_id(o, x, "code", loc->code);
	json_close(o);
}

/* Where in the inputs it is said, and of which compilation. */
static void put_src(struct json_out *o, const struct fact_src *src, uint32_t compile)
{
	json_member_u64(o, "input", src->input);
	json_member_count(o, "log_line", src->line ? (int64_t)src->line : -1);
	json_member_index(o, "compile", compile);
}

static void put_gb(struct json_out *o, int32_t gb)
{
	char text[16];
	snprintf(text, sizeof(text), "GB%04d", gb);
	json_member(o, "gb", gb < 0 ? slice_of(NULL, 0) : slice_str(text));
}

/* ---- inputs, summary, verdict ---- */

static void put_inputs(struct json_out *o, const struct explanation *x)
{
	static const char *const kind[] = {"trace", "text", "debug-folder"};
	json_member_arr(o, "inputs");
	for (uint32_t i = 0; i < x->facts->n_input; i++) {
		const struct fact_input *in = &x->facts->input[i];
		json_obj(o);
		put_id(o, x, "path", in->path);
		json_member(o, "kind", slice_str(kind[in->kind]));
		json_member_u64(o, "bytes", in->bytes);
		json_member_u64(o, "lines", in->lines);
		json_member_u64(o, "records", in->records);
		json_member_count(o, "rank", in->rank);
		put_id(o, x, "torch_version", in->torch_version);
		put_id(o, x, "python_version", in->python_version);
		put_id(o, x, "cuda_version", in->cuda_version);
		put_id(o, x, "command", in->command);
		json_member_seconds(o, "compile_seconds", in->seconds);
		json_close(o);
	}
	json_close(o);
}

static int by_value(const void *a, const void *b)
{
	int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;
	return (p > q) - (p < q);
}

static void put_ranks(struct json_out *o, const struct explanation *x)
{
	uint32_t n = x->facts->n_input;
	int64_t *rank = xcalloc(n + 1u, sizeof(*rank));
	for (uint32_t i = 0; i < n; i++)
		rank[i] = x->facts->input[i].rank;
	qsort(rank, n, sizeof(*rank), by_value);
	json_member_arr(o, "ranks");
	for (uint32_t i = 0; i < n; i++)
		if (rank[i] >= 0 && (!i || rank[i] != rank[i - 1]))
			json_out_i64(o, rank[i]);
	json_close(o);
	free(rank);
}

static void put_cache_counts(struct json_out *o, const struct explain_sums *s)
{
	json_member_obj(o, "cache");
	for (unsigned i = 0; i < ARRAY_LEN(cache_kind_name); i++) {
		json_member_obj(o, cache_kind_name[i]);
		for (unsigned k = 0; k < ARRAY_LEN(cache_what_name); k++)
			json_member_u64(o, cache_what_name[k], s->cache[i][k]);
		json_close(o);
	}
	json_close(o);
}

static void put_summary(struct json_out *o, const struct explanation *x)
{
	struct explain_sums s;
	explain_add_up(x, &s);
	json_member_obj(o, "summary");
	put_id(o, x, "torch_version", emit_torch_version(x));
	json_member_u64(o, "logs", x->facts->n_input);
	put_ranks(o, x);
	json_member_u64(o, "bytes", s.bytes);
	json_member_u64(o, "lines", s.lines);
	json_member_u64(o, "records", s.records);
	json_member_u64(o, "frames", s.frames);
	json_member_u64(o, "compiles", s.compiles);
	json_member_u64(o, "recompiles", x->recompiles);
	json_member_u64(o, "recompile_limits", x->limits);
	json_member_u64(o, "restarts", x->restarts);
	json_member_u64(o, "graph_breaks", x->breaks);
	json_member_u64(o, "inferred_graph_breaks", x->inferred_breaks);
	json_member_u64(o, "failures", x->failures);
	json_member_u64(o, "graphs", x->graphs);
	json_member_u64(o, "graph_ops", x->ops);
	json_member_u64(o, "guards", x->guards);
	json_member_u64(o, "specializations", s.specializations);
	put_cache_counts(o, &s);
	json_member_u64(o, "cudagraph_skips", x->skips);
	json_member_seconds(o, "compile_seconds", x->seconds);
	json_member_u64(o, "findings", x->n_finding);
	json_member_u64(o, "errors", s.level[FINDING_ERROR]);
	json_member_u64(o, "warnings", s.level[FINDING_WARNING]);
	json_member_u64(o, "notes", s.level[FINDING_NOTE]);
	json_member_u64(o, "damaged", s.damaged);
	json_close(o);
}

static void put_component(struct json_out *o, const struct component_view *c)
{
	static const char *const sure[] = {"no", "likely", "proven"};
	json_obj(o);
	json_member(o, "component", slice_str(c->component == COMPONENT_NONE ? "" : component_name[c->component]));
	json_member(o, "title", slice_str(c->component == COMPONENT_NONE ? "" : component_title[c->component]));
	json_member(o, "sure", slice_str(sure[c->sure]));
	json_member_index(o, "failure", c->failure);
	json_member_index(o, "compile", c->compile);
	json_member_lines(o, "evidence", c->evidence);
	json_member_lines(o, "experiment", c->experiment);
	json_member(o, "minify", c->minify);
	json_close(o);
}

static void put_verdict(struct json_out *o, const struct explanation *x)
{
	json_key(o, "verdict");
	if (x->n_component)
		put_component(o, &x->component[0]);
	else
		json_out_null(o);
	json_member_arr(o, "other_verdicts");
	for (uint32_t i = 1; i < x->n_component; i++)
		put_component(o, &x->component[i]);
	json_close(o);
}

/* ---- findings ---- */

/* "0/0 0/1" */
static void put_words(struct json_out *o, const char *key, struct slice text)
{
	json_member_arr(o, key);
	while ((text = slice_trim(text)).n) {
		const char *end = slice_chr(text, ' ');
		size_t n = end ? (size_t)(end - text.p) : text.n;
		json_out_str(o, slice_of(text.p, n));
		text = slice_of(text.p + n, text.n - n);
	}
	json_close(o);
}

static void put_findings(struct json_out *o, const struct explanation *x)
{
	char fingerprint[FINGERPRINT_TEXT];
	json_member_arr(o, "findings");
	for (uint32_t i = 0; i < x->n_finding; i++) {
		const struct finding *g = &x->finding[i];
		finding_fingerprint(x, g, fingerprint);
		json_obj(o);
		json_member(o, "kind", slice_str(finding_kind_name[g->kind]));
		json_member(o, "level", slice_str(finding_level_name[g->level]));
		json_member(o, "id", g->id);
		json_member(o, "title", g->title);
		put_loc(o, x, "location", &g->loc);
		json_member_u64(o, "input", g->src.input);
		json_member_count(o, "log_line", g->src.line ? (int64_t)g->src.line : -1);
		json_member_u64(o, "count", g->count);
		json_member_seconds(o, "seconds", g->seconds);
		json_member(o, "cost", g->cost);
		json_member(o, "why", g->why);
		json_member_lines(o, "evidence", g->evidence);
		json_member_lines(o, "fix", g->fix);
		json_member_lines(o, "next", g->next);
		json_member(o, "url", g->url);
		put_words(o, "compile_ids", g->compiles);
		json_member(o, "fingerprint", slice_str(fingerprint));
		json_close(o);
	}
	json_close(o);
}

/* ---- breaks, recompiles ---- */

static const char *const break_kind[] = {"call", "jump", "asked", "skipped", "inferred"};

static void put_break_text(struct json_out *o, const struct explanation *x, const struct fact_break *b)
{
	put_gb(o, b->gb);
	put_id(o, x, "reason", b->reason);
	put_id(o, x, "explanation", b->explanation);
	json_member_lines(o, "hints", explain_text(x, b->hints));
	put_id(o, x, "context", b->context);
	put_id(o, x, "url", b->url);
}

static void put_groups(struct json_out *o, const struct explanation *x)
{
	json_member_arr(o, "breaks");
	for (uint32_t i = 0; i < x->n_group; i++) {
		const struct break_group *g = &x->group[i];
		json_obj(o);
		json_member(o, "kind", slice_str(break_kind[g->kind]));
		put_loc(o, x, "location", &g->loc);
		put_break_text(o, x, &x->facts->brk[g->first]);
		json_member_u64(o, "count", g->count);
		json_member_u64(o, "inferred", g->inferred);
		json_member_u64(o, "graphs_after", g->graphs);
		json_member_u64(o, "frames_in_eager", g->eager);
		json_member_count(o, "ops_after", g->ops_after);
		json_member_seconds(o, "seconds", g->seconds);
		json_member_u64(o, "first", g->first);
		json_member_index(o, "finding", g->finding);
		json_close(o);
	}
	json_close(o);
	json_member_arr(o, "graph_breaks");
	for (uint32_t i = 0; i < x->facts->n_brk; i++) {
		const struct fact_break *b = &x->facts->brk[i];
		json_obj(o);
		put_src(o, &b->src, b->compile);
		json_member(o, "kind", slice_str(break_kind[b->kind]));
		put_loc(o, x, "location", &b->loc);
		put_break_text(o, x, b);
		json_member_bool(o, "inferred", b->inferred);
		json_member_bool(o, "explained", b->explained);
		json_close(o);
	}
	json_close(o);
}

static void put_step(struct json_out *o, const struct explanation *x, const struct frame_step *s)
{
	const struct fact_recompile *r = s->recompile == NONE ? NULL : &x->facts->recompile[s->recompile];
	json_obj(o);
	json_member_index(o, "compile", s->compile);
	json_member(o, "id", emit_compile_id(x, s->compile));
	json_member_seconds(o, "seconds", s->compile == NONE ? -1 : x->facts->compile[s->compile].seconds);
	json_member(o, "change", s->change);
	json_member(o, "fix", s->fix);
	json_member_index(o, "recompile", s->recompile);
	put_id(o, x, "guard", r ? r->guard : NONE);
	put_id(o, x, "old", r ? r->old : NONE);
	put_id(o, x, "new", r ? r->new : NONE);
	json_close(o);
}

static void put_frames(struct json_out *o, const struct explanation *x)
{
	json_member_arr(o, "frames");
	for (uint32_t i = 0; i < x->n_frame; i++) {
		const struct frame_view *v = &x->frame[i];
		json_obj(o);
		put_loc(o, x, "location", &v->loc);
		json_member_u64(o, "input", v->input);
		json_member_count(o, "frame_id", v->frame);
		json_member_u64(o, "compiles", v->compiles);
		json_member_u64(o, "recompiles", v->recompiles);
		json_member_bool(o, "limited", v->limited);
		json_member_seconds(o, "seconds", v->seconds);
		json_member_index(o, "finding", v->finding);
		json_member_arr(o, "steps");
		for (uint32_t k = 0; k < v->n; k++)
			put_step(o, x, &x->step[v->first + k]);
		json_close(o);
		json_close(o);
	}
	json_close(o);
}

static void put_recompiles(struct json_out *o, const struct explanation *x)
{
	json_member_arr(o, "recompiles");
	for (uint32_t i = 0; i < x->facts->n_recompile; i++) {
		const struct fact_recompile *r = &x->facts->recompile[i];
		json_obj(o);
		put_src(o, &r->src, r->compile);
		put_id(o, x, "against", r->against);
		put_loc(o, x, "location", &r->loc);
		put_id(o, x, "guard", r->guard);
		put_id(o, x, "old", r->old);
		put_id(o, x, "new", r->new);
		put_id(o, x, "type_old", r->type_old);
		put_id(o, x, "type_new", r->type_new);
		json_member_lines(o, "all", explain_text(x, r->all));
		json_close(o);
	}
	json_close(o);
	json_member_arr(o, "recompile_limits");
	for (uint32_t i = 0; i < x->facts->n_limit; i++) {
		const struct fact_limit *l = &x->facts->limit[i];
		json_obj(o);
		put_src(o, &l->src, l->compile);
		put_loc(o, x, "location", &l->loc);
		json_member_u64(o, "limit", l->limit);
		json_member_bool(o, "accumulated", l->accumulated);
		put_id(o, x, "reason", l->reason);
		json_close(o);
	}
	json_close(o);
}

/* ---- failures ---- */

static void put_failures(struct json_out *o, const struct explanation *x)
{
	json_member_arr(o, "failures");
	for (uint32_t i = 0; i < x->facts->n_failure; i++) {
		const struct fact_failure *e = &x->facts->failure[i];
		json_obj(o);
		put_src(o, &e->src, e->compile);
		json_member_bool(o, "restart", e->restart);
		json_member_bool(o, "caught", e->caught);
		json_member_count(o, "signal", e->signal ? e->signal : -1);
		put_id(o, x, "type", e->type);
		put_id(o, x, "reason", e->reason);
		put_loc(o, x, "location", &e->user);
		put_loc(o, x, "torch", &e->torch);
		json_member_index(o, "cause", e->cause);
		json_member_lines(o, "frames", explain_text(x, e->frames));
		json_close(o);
	}
	json_close(o);
}

static void put_compiler_errors(struct json_out *o, const struct explanation *x)
{
	json_member_arr(o, "compiler_errors");
	for (uint32_t i = 0; i < x->facts->n_compiler_error; i++) {
		const struct fact_compiler_error *e = &x->facts->compiler_error[i];
		json_obj(o);
		put_src(o, &e->src, e->compile);
		put_loc(o, x, "at", &e->at);
		json_member_count(o, "column", e->column ? (int64_t)e->column : -1);
		put_id(o, x, "severity", e->severity);
		put_id(o, x, "message", e->message);
		put_id(o, x, "command", e->command);
		json_close(o);
	}
	json_close(o);
}

static void put_paths(struct json_out *o, const struct explanation *x)
{
	json_member_arr(o, "paths");
	for (uint32_t i = 0; i < x->facts->n_path; i++) {
		const struct fact_path *p = &x->facts->path[i];
		json_obj(o);
		put_src(o, &p->src, p->compile);
		put_id(o, x, "what", p->what);
		put_id(o, x, "path", p->path);
		json_close(o);
	}
	json_close(o);
}

/* ---- shapes, times, caches ---- */

static void put_bound(struct json_out *o, const struct explanation *x, const struct fact_bound *b)
{
	static const char *const kind[] = {"guard", "specialized", "replaced", "assert", "data-dependent", "constraint"};
	json_obj(o);
	put_src(o, &b->src, b->compile);
	json_member(o, "kind", slice_str(kind[b->kind]));
	put_id(o, x, "expr", b->expr);
	put_id(o, x, "symbol", b->symbol);
	put_id(o, x, "value", b->value);
	put_loc(o, x, "location", &b->loc);
	put_loc(o, x, "torch", &b->torch);
	json_member_lines(o, "sources", explain_text(x, b->sources));
	put_id(o, x, "reason", b->reason);
	json_close(o);
}

static void put_symbols(struct json_out *o, const struct explanation *x)
{
	json_member_arr(o, "symbols");
	for (uint32_t i = 0; i < x->n_symbol; i++) {
		const struct symbol_view *v = &x->symbol[i];
		const struct fact_symbol *s = v->row == NONE ? NULL : &x->facts->symbol[v->row];
		struct fact_loc none = facts_no_loc();
		json_obj(o);
		json_member(o, "symbol", v->name);
		json_member_index(o, "compile", s ? s->compile : NONE);
		put_id(o, x, "value", s ? s->value : NONE);
		json_member(o, "range", v->range);
		put_id(o, x, "range_at_first", s ? s->range : NONE);
		put_id(o, x, "source", s ? s->source : NONE);
		put_loc(o, x, "location", s ? &s->loc : &none);
		json_member_bool(o, "unbacked", s && s->unbacked);
		json_member_bool(o, "specialized", v->specialized);
		json_member_index(o, "finding", v->finding);
		json_member_arr(o, "bounds");
		for (uint32_t k = 0; k < v->n_bound; k++)
			put_bound(o, x, &x->facts->bound[x->bound_row[v->first_bound + k]]);
		json_close(o);
		json_close(o);
	}
	json_close(o);
}

static void put_times(struct json_out *o, const struct explanation *x)
{
	json_member_arr(o, "times");
	for (uint32_t i = 0; i < x->n_time; i++) {
		const struct time_view *t = &x->time[i];
		json_obj(o);
		json_member_index(o, "compile", t->compile);
		json_member(o, "id", emit_compile_id(x, t->compile));
		json_member_seconds(o, "seconds", t->seconds);
		json_member_arr(o, "parts");
		for (uint32_t k = 0; k < t->n; k++) {
			const struct time_part *p = &x->part[t->first + k];
			json_obj(o);
			json_member(o, "name", p->name);
			json_member_seconds(o, "seconds", p->seconds);
			json_member_u64(o, "calls", p->calls);
			json_close(o);
		}
		json_close(o);
		json_close(o);
	}
	json_close(o);
}

static void put_caches(struct json_out *o, const struct explanation *x)
{
	json_member_arr(o, "caches");
	for (uint32_t i = 0; i < x->facts->n_cache; i++) {
		const struct fact_cache *c = &x->facts->cache[i];
		json_obj(o);
		put_src(o, &c->src, c->compile);
		json_member(o, "cache", slice_str(cache_kind_name[c->kind]));
		json_member(o, "what", slice_str(cache_what_name[c->what]));
		put_id(o, x, "name", c->name);
		put_id(o, x, "reason", c->reason);
		json_close(o);
	}
	json_close(o);
	json_member_arr(o, "cudagraphs");
	for (uint32_t i = 0; i < x->facts->n_cudagraph; i++) {
		const struct fact_cudagraph *c = &x->facts->cudagraph[i];
		json_obj(o);
		put_src(o, &c->src, c->compile);
		put_id(o, x, "reason", c->reason);
		put_loc(o, x, "location", &c->loc);
		json_close(o);
	}
	json_close(o);
}

/* ---- compilations ---- */

static void put_compile(struct json_out *o, const struct explanation *x, const struct fact_compile *c)
{
	static const char *const status[] = {"missing", "ok", "empty", "break", "error", "skipped"}; /* as tlparse has them */
	json_obj(o);
	put_id(o, x, "id", c->id);
	json_member_u64(o, "input", c->src.input);
	json_member_count(o, "log_line", c->src.line ? (int64_t)c->src.line : -1);
	json_member_count(o, "compiled_autograd_id", c->autograd);
	json_member_count(o, "frame_id", c->frame);
	json_member_count(o, "frame_compile_id", c->compile);
	json_member_u64(o, "attempts", c->attempts);
	json_member(o, "status", slice_str(status[c->status]));
	put_loc(o, x, "location", &c->loc);
	put_id(o, x, "resume_of", c->resume_of);
	json_member_count(o, "resume_line", c->resume_of == NONE ? -1 : (int64_t)c->resume_line);
	put_id(o, x, "backend", c->backend);
	json_member_seconds(o, "start", c->start);
	json_member_seconds(o, "seconds", c->seconds);
	json_member_seconds(o, "dynamo_seconds", c->dynamo);
	json_member_seconds(o, "aot_seconds", c->aot);
	json_member_seconds(o, "inductor_seconds", c->inductor);
	json_member_seconds(o, "code_gen_seconds", c->codegen);
	json_member_seconds(o, "backward_seconds", c->backward);
	json_member_seconds(o, "restart_seconds", c->restarts);
	json_member_count(o, "graph_ops", c->ops);
	json_member_count(o, "graph_nodes", c->nodes);
	json_member_count(o, "graph_inputs", c->inputs);
	json_member_count(o, "guards", c->guards);
	json_member_count(o, "cache_size", c->cache_size);
	json_member_count(o, "graphs", c->graphs);
	json_member_u64(o, "graph_breaks", c->breaks);
	json_member_u64(o, "restarts", c->restarted);
	put_id(o, x, "fail_type", c->fail_type);
	put_id(o, x, "fail_reason", c->fail_reason);
	json_member_lines(o, "stack", explain_text(x, c->stack));
	json_close(o);
}

/* A value as the log has it; what is no JSON (NaN) as a text, and in a page everything. */
static void put_raw(struct json_out *o, struct json_tape *tape, struct slice text)
{
	uint32_t root;
	json_tape_text(tape, text.p, text.n);
	if (!o->html && text.n && json_parse(tape, 0, text.n, &root) == 0 && !tape->loose)
		json_out_raw(o, json_raw(tape, root));
	else
		json_out_str(o, text);
}

static void put_metrics(struct json_out *o, const struct explanation *x)
{
	const struct facts *f = x->facts;
	struct json_tape tape = {0};
	json_member_arr(o, "metrics");
	for (uint32_t i = 0; i < f->n_compile; i++)
		for (uint32_t k = 0; k < f->compile[i].n_metric; k++) {
			const struct fact_metric *m = &f->metric[f->compile[i].first_metric + k];
			json_obj(o);
			json_member_u64(o, "compile", i);
			put_id(o, x, "name", m->name);
			json_key(o, "value");
			put_raw(o, &tape, explain_text(x, m->value));
			json_member_bool(o, "backward", m->backward);
			json_member_bool(o, "runtime", m->runtime);
			json_close(o);
		}
	json_close(o);
	json_tape_release(&tape);
}

static void put_graphs(struct json_out *o, const struct explanation *x, const char *key, bool guards)
{
	json_member_arr(o, key);
	for (uint32_t i = 0; i < x->facts->n_graph; i++) {
		const struct fact_graph *g = &x->facts->graph[i];
		if ((slice_find(explain_text(x, g->name), "guards") != NULL) != guards)
			continue;
		json_obj(o);
		put_src(o, &g->src, g->compile);
		put_id(o, x, "name", g->name);
		json_member_count(o, "ops", g->ops);
		json_member_u64(o, "bytes", g->bytes);
		put_id(o, x, "text", g->text);
		json_close(o);
	}
	json_close(o);
}

static void put_damage(struct json_out *o, const struct explanation *x)
{
	json_member_arr(o, "damage");
	for (uint32_t i = 0; i < x->facts->n_damage; i++) {
		const struct fact_damage *d = &x->facts->damage[i];
		json_obj(o);
		json_member_u64(o, "input", d->input);
		json_member_count(o, "log_line", d->line ? (int64_t)d->line : -1);
		json_member_u64(o, "count", d->count);
		put_id(o, x, "text", d->what);
		json_close(o);
	}
	json_close(o);
}

void explain_document(struct buf *b, const struct explanation *x, const struct explain_options *opt, bool html)
{
	struct json_out o = {.b = b, .html = html};
	json_obj(&o);
	json_member(&o, "tool", slice_str("fxexplain"));
	json_member(&o, "version", slice_str(PT2_VERSION));
	json_member_u64(&o, "schema", 1);
	put_inputs(&o, x);
	put_summary(&o, x);
	put_verdict(&o, x);
	put_findings(&o, x);
	put_groups(&o, x);
	put_frames(&o, x);
	put_recompiles(&o, x);
	put_failures(&o, x);
	put_compiler_errors(&o, x);
	put_paths(&o, x);
	put_symbols(&o, x);
	put_times(&o, x);
	put_caches(&o, x);
	json_member_arr(&o, "compiles");
	for (uint32_t i = 0; i < x->facts->n_compile; i++)
		put_compile(&o, x, &x->facts->compile[i]);
	json_close(&o);
	if (opt->show >> PART_METRICS & 1)
		put_metrics(&o, x);
	if (opt->show >> PART_GRAPHS & 1)
		put_graphs(&o, x, "graphs", false);
	if (opt->show >> PART_GUARDS & 1)
		put_graphs(&o, x, "guards", true);
	put_damage(&o, x);
	json_close(&o);
}

void emit_json(struct buf *b, const struct explanation *x, const struct explain_options *opt)
{
	explain_document(b, x, opt, false);
	buf_addc(b, '\n');
}
