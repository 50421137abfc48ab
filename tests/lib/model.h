/* model.h - a struct trace as text, to compare two of them. */
#ifndef PT2_TEST_MODEL_H
#define PT2_TEST_MODEL_H
#include "run/trace/trace.h"

static inline void model_name(struct buf *b, const struct trace *t, uint32_t name)
{
	struct slice s = intern_get(&t->f->names, name);
	if (name == NONE)
		buf_adds(b, " -");
	else
		buf_addf(b, " '%.*s'", SL(s));
}
static inline void model_loc(struct buf *b, const struct trace *t, const struct fact_loc *l)
{
	buf_adds(b, " at");
	model_name(b, t, l->file);
	buf_addf(b, ":%u", l->line);
	model_name(b, t, l->function);
	model_name(b, t, l->code);
}
static inline void model_trie(struct buf *b, const struct trace *t, const struct trace_trie *trie)
{
	for (uint32_t i = 0; i < trie->n; i++) {
		const struct trace_stack *n = &trie->node[i];
		const struct trace_frame *f = &t->frame[n->frame];
		buf_addf(b, "  node %u parent %d child %d sibling %d", i, (int)n->parent, (int)n->child, (int)n->sibling);
		model_name(b, t, f->file);
		model_name(b, t, f->name);
		buf_addf(b, " %d", f->line);
		for (uint32_t k = n->first_start; k != UINT32_MAX; k = trie->start[k].next)
			buf_addf(b, " start %d", (int)trie->start[k].compile);
		buf_addc(b, '\n');
	}
}

/* All that the model knows, one row a line: two models are the same when their texts are. */
static inline void model_text(const struct trace *t, struct buf *b)
{
	char id[COMPILE_ID_TEXT];
	buf_addf(b, "lines %llu bytes %llu records %llu graphs %llu events %llu payload %llu rank %lld pid %llu day %u time %llu %llu\n",
		 (unsigned long long)t->lines, (unsigned long long)t->bytes, (unsigned long long)t->records, (unsigned long long)t->graphs,
		 (unsigned long long)t->events, (unsigned long long)t->payload_bytes, (long long)t->rank, (unsigned long long)t->pid,
		 t->first_day, (unsigned long long)t->first_usec, (unsigned long long)t->last_usec);
	buf_addf(b, "version");
	model_name(b, t, t->torch_version);
	buf_addf(b, " compile %.9g next number %u\n", t->compile_seconds, t->number);
	for (uint32_t i = 0; i < t->f->n_attempt; i++) {
		const struct fact_attempt *c = &t->f->attempt[i];
		buf_addf(b, "attempt %u.%u %s %s line %llu artifacts %u status %d stack %d breaks %u %g %g %g %g %lld %lld %lld %lld %lld",
			 c->process, c->generation, compile_id_text(&c->id, id), c->id.bad_line ? "bad" : "", (unsigned long long)c->line,
			 c->artifacts, c->status, (int)c->stack, c->breaks, c->seconds, c->backend_seconds, c->inductor_seconds,
			 c->code_gen_seconds, (long long)c->ops, (long long)c->nodes, (long long)c->inputs, (long long)c->guards,
			 (long long)c->cache_size);
		model_loc(b, t, &c->loc);
		model_name(b, t, c->fail_type);
		model_name(b, t, c->fail_reason);
		for (uint32_t a = c->first_artifact; a != UINT32_MAX; a = t->artifact[a].next)
			buf_addf(b, " #%u", a);
		buf_addc(b, '\n');
	}
	for (uint32_t i = 0; i < t->n_artifact; i++) {
		const struct trace_artifact *a = &t->artifact[i];
		buf_adds(b, "artifact ");
		trace_artifact_path(t, a, false, b);
		buf_addf(b, " attempt %u size %u line %llu kind %u lang %u flags %u nodes %d %g", a->attempt, a->size,
			 (unsigned long long)a->line, (unsigned)a->kind, (unsigned)a->lang, (unsigned)a->flags, a->nodes, a->seconds);
		model_name(b, t, a->extra);
		buf_addc(b, '\n');
	}
	for (uint32_t i = 0; i < t->f->n_brk; i++) {
		const struct fact_break *x = &t->f->brk[i];
		buf_addf(b, "break %u artifact %d line %llu gb %d", x->src.attempt, (int)x->src.artifact, (unsigned long long)x->src.line,
			 x->gb);
		model_loc(b, t, &x->loc);
		model_name(b, t, x->reason);
		model_name(b, t, x->explanation);
		model_name(b, t, x->hints);
		model_name(b, t, x->context);
		model_name(b, t, x->url);
		buf_addc(b, '\n');
	}
	for (uint32_t i = 0; i < t->f->n_recompile; i++) {
		const struct fact_recompile *x = &t->f->recompile[i];
		buf_addf(b, "recompile %u artifact %u line %llu", x->src.attempt, x->src.artifact, (unsigned long long)x->src.line);
		model_loc(b, t, &x->loc);
		model_name(b, t, x->reason);
		model_name(b, t, x->guard);
		model_name(b, t, x->old);
		model_name(b, t, x->new);
		model_name(b, t, x->all);
		buf_addc(b, '\n');
	}
	for (uint32_t i = 0; i < t->f->n_failure; i++) {
		const struct fact_failure *x = &t->f->failure[i];
		buf_addf(b, "failure %u metrics %u line %llu", x->src.attempt, x->src.artifact, (unsigned long long)x->src.line);
		model_loc(b, t, &x->user);
		model_name(b, t, x->type);
		model_name(b, t, x->reason);
		buf_addc(b, '\n');
	}
	for (uint32_t i = 0; i < t->f->n_symbol; i++) {
		const struct fact_symbol *x = &t->f->symbol[i];
		buf_addf(b, "symbol %u line %llu %d", x->src.attempt, (unsigned long long)x->src.line, x->unbacked);
		model_loc(b, t, &x->loc);
		model_name(b, t, x->symbol);
		model_name(b, t, x->value);
		model_name(b, t, x->range);
		model_name(b, t, x->source);
		buf_addc(b, '\n');
	}
	for (uint32_t i = 0; i < t->f->n_bound; i++) {
		const struct fact_bound *x = &t->f->bound[i];
		buf_addf(b, "bound %u kind %d line %llu", x->src.attempt, x->kind, (unsigned long long)x->src.line);
		model_loc(b, t, &x->loc);
		model_name(b, t, x->expr);
		model_name(b, t, x->symbol);
		model_name(b, t, x->value);
		model_name(b, t, x->sources);
		model_name(b, t, x->reason);
		buf_addc(b, '\n');
	}
	for (uint32_t i = 0; i < t->f->n_cudagraph; i++) {
		buf_addf(b, "skip %u", t->f->cudagraph[i].src.attempt);
		model_name(b, t, t->f->cudagraph[i].reason);
		buf_addc(b, '\n');
	}
	for (uint32_t i = 0; i < t->n_unknown; i++) {
		buf_addf(b, "unknown %llu line %llu", (unsigned long long)t->unknown[i].count, (unsigned long long)t->unknown[i].line);
		model_name(b, t, t->unknown[i].key);
		buf_addc(b, '\n');
	}
	for (uint32_t i = 0; i < t->n_phase; i++) {
		buf_addf(b, "phase %.9g", t->phase[i].seconds);
		model_name(b, t, t->phase[i].name);
		buf_addc(b, '\n');
	}
	buf_adds(b, "starts\n");
	model_trie(b, t, &t->starts);
	buf_adds(b, "stacks\n");
	model_trie(b, t, &t->stacks);
	for (unsigned i = 0; i < DAMAGE_COUNT; i++)
		if (t->damage[i].count)
			buf_addf(b, "damage %s %llu line %llu\n", trace_damage_name[i], (unsigned long long)t->damage[i].count,
				 (unsigned long long)t->damage[i].line);
}

#endif
