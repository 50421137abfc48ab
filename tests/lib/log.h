/* log.h - structured traces made for a test: records put together, windows scanned and reduced, the model as text. */
#ifndef PT2_TEST_LOG_H
#define PT2_TEST_LOG_H
#include <md5.h>

#include "test.h"
#include "trace/trace.h"

#define PREFIX "V1121 07:59:23.043000 1234 torch/x.py:915] "

static inline void md5_text(const char *p, size_t n, char out[33])
{
	MD5_CTX c;
	uint8_t sum[16];
	MD5Init(&c);
	MD5Update(&c, (const uint8_t *)p, n);
	MD5Final(sum, &c);
	for (int i = 0; i < 16; i++)
		snprintf(out + 2 * i, 3, "%02x", sum[i]);
}

/* A record: the members of its envelope, and its payload or NULL. before stands at the start of each line. */
static inline void add_record(struct buf *b, const char *before, const char *members, const char *payload)
{
	buf_addf(b, "%s" PREFIX "{%s", before, members);
	if (payload) {
		char md5[33];
		md5_text(payload, strlen(payload), md5);
		buf_addf(b, ", \"has_payload\": \"%s\"", md5);
	}
	buf_adds(b, "}\n");
	struct slice rest = slice_str(payload ? payload : ""), line;
	while (slice_line(&rest, &line))
		buf_addf(b, "%s\t%.*s\n", before, (int)line.n, line.p);
}

/* Scan and reduce one window, its end against memory that cannot be read. The records live until the next call. */
struct reader {
	struct trace t;
	struct trace_scan s;
	struct guard g;
};
static inline void reader_init(struct reader *r)
{
	*r = (struct reader){0};
	trace_init(&r->t, "test.log");
}
static inline void reader_window(struct reader *r, struct slice text, bool last)
{
	r->s.window = (struct window){.data = guard_put(&r->g, text.p, text.n), .len = text.n, .last = last};
	trace_scan_window(&r->s);
	if (trace_reduce_window(&r->t, &r->s, NULL) < 0)
		abort();
}
static inline void reader_release(struct reader *r)
{
	r->s.window.data = NULL;
	trace_scan_release(&r->s);
	trace_release(&r->t);
	guard_release(&r->g);
}

static inline void put_text(struct buf *b, const struct trace *t, uint32_t name)
{
	struct slice s = intern_get(&t->names, name);
	if (name == INTERN_NONE)
		buf_adds(b, " -");
	else
		buf_addf(b, " '%.*s'", (int)s.n, s.p);
}
static inline void put_loc(struct buf *b, const struct trace *t, const struct trace_loc *l)
{
	buf_adds(b, " at");
	put_text(b, t, l->file);
	buf_addf(b, ":%u", l->line);
	put_text(b, t, l->function);
	put_text(b, t, l->code);
}
static inline void put_trie(struct buf *b, const struct trace *t, const struct trace_trie *trie)
{
	for (uint32_t i = 0; i < trie->n; i++) {
		const struct trace_stack *n = &trie->node[i];
		const struct trace_frame *f = &t->frame[n->frame];
		buf_addf(b, "  node %u parent %d child %d sibling %d", i, (int)n->parent, (int)n->child, (int)n->sibling);
		put_text(b, t, f->file);
		put_text(b, t, f->name);
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
		 (unsigned long long)t->lines, (unsigned long long)t->bytes, (unsigned long long)t->records,
		 (unsigned long long)t->graphs, (unsigned long long)t->events, (unsigned long long)t->payload_bytes, (long long)t->rank,
		 (unsigned long long)t->pid, t->first_day, (unsigned long long)t->first_usec, (unsigned long long)t->last_usec);
	buf_addf(b, "version");
	put_text(b, t, t->torch_version);
	buf_addf(b, " compile %.9g next number %u\n", t->compile_seconds, t->number);
	for (unsigned i = 0; i < CACHE_COUNT; i++)
		buf_addf(b, "cache %llu %llu %llu\n", (unsigned long long)t->cache[i][0], (unsigned long long)t->cache[i][1],
			 (unsigned long long)t->cache[i][2]);
	for (uint32_t i = 0; i < t->n_compile; i++) {
		const struct trace_compile *c = &t->compile[i];
		buf_addf(b, "compile %s %s line %llu artifacts %u status %d stack %d breaks %u %g %g %g %g %lld %lld %lld %lld %lld",
			 compile_id_text(&c->id, id), c->id.bad_line ? "bad" : "", (unsigned long long)c->line, c->artifacts, c->status,
			 (int)c->stack, c->breaks, c->seconds, c->backend_seconds, c->inductor_seconds, c->code_gen_seconds,
			 (long long)c->ops, (long long)c->nodes, (long long)c->inputs, (long long)c->guards, (long long)c->cache_size);
		put_loc(b, t, &c->loc);
		put_text(b, t, c->fail_type);
		put_text(b, t, c->fail_reason);
		for (uint32_t a = c->first_artifact; a != UINT32_MAX; a = t->artifact[a].next)
			buf_addf(b, " #%u", a);
		buf_addc(b, '\n');
	}
	for (uint32_t i = 0; i < t->n_artifact; i++) {
		const struct trace_artifact *a = &t->artifact[i];
		buf_adds(b, "artifact ");
		trace_artifact_path(t, a, false, b);
		buf_addf(b, " compile %u size %u line %llu kind %u lang %u flags %u nodes %d %g", a->compile, a->size,
			 (unsigned long long)a->line, (unsigned)a->kind, (unsigned)a->lang, (unsigned)a->flags, a->nodes, a->seconds);
		put_text(b, t, a->extra);
		buf_addc(b, '\n');
	}
	for (uint32_t i = 0; i < t->n_brk; i++) {
		const struct trace_break *x = &t->brk[i];
		buf_addf(b, "break %u artifact %d line %llu gb %d", x->compile, (int)x->artifact, (unsigned long long)x->line, x->gb);
		put_loc(b, t, &x->loc);
		put_text(b, t, x->reason);
		put_text(b, t, x->explanation);
		put_text(b, t, x->hints);
		put_text(b, t, x->context);
		put_text(b, t, x->url);
		buf_addc(b, '\n');
	}
	for (uint32_t i = 0; i < t->n_recompile; i++) {
		const struct trace_recompile *x = &t->recompile[i];
		buf_addf(b, "recompile %u artifact %u line %llu", x->compile, x->artifact, (unsigned long long)x->line);
		put_loc(b, t, &x->loc);
		put_text(b, t, x->reason);
		put_text(b, t, x->guard);
		put_text(b, t, x->old);
		put_text(b, t, x->new);
		put_text(b, t, x->all);
		buf_addc(b, '\n');
	}
	for (uint32_t i = 0; i < t->n_failure; i++) {
		const struct trace_failure *x = &t->failure[i];
		buf_addf(b, "failure %u metrics %u line %llu", x->compile, x->metrics, (unsigned long long)x->line);
		put_loc(b, t, &x->loc);
		put_text(b, t, x->type);
		put_text(b, t, x->reason);
		buf_addc(b, '\n');
	}
	for (uint32_t i = 0; i < t->n_symbol; i++) {
		const struct trace_symbol *x = &t->symbol[i];
		buf_addf(b, "symbol %u line %llu %d", x->compile, (unsigned long long)x->line, x->unbacked);
		put_loc(b, t, &x->loc);
		put_text(b, t, x->symbol);
		put_text(b, t, x->value);
		put_text(b, t, x->range);
		put_text(b, t, x->source);
		buf_addc(b, '\n');
	}
	for (uint32_t i = 0; i < t->n_special; i++) {
		const struct trace_special *x = &t->special[i];
		buf_addf(b, "special %u line %llu", x->compile, (unsigned long long)x->line);
		put_loc(b, t, &x->loc);
		put_text(b, t, x->symbol);
		put_text(b, t, x->value);
		put_text(b, t, x->sources);
		put_text(b, t, x->reason);
		buf_addc(b, '\n');
	}
	for (uint32_t i = 0; i < t->n_skip; i++) {
		buf_addf(b, "skip %u", t->skip[i].compile);
		put_text(b, t, t->skip[i].reason);
		buf_addc(b, '\n');
	}
	for (uint32_t i = 0; i < t->n_unknown; i++) {
		buf_addf(b, "unknown %llu line %llu", (unsigned long long)t->unknown[i].count, (unsigned long long)t->unknown[i].line);
		put_text(b, t, t->unknown[i].key);
		buf_addc(b, '\n');
	}
	for (uint32_t i = 0; i < t->n_phase; i++) {
		buf_addf(b, "phase %.9g", t->phase[i].seconds);
		put_text(b, t, t->phase[i].name);
		buf_addc(b, '\n');
	}
	buf_adds(b, "starts\n");
	put_trie(b, t, &t->starts);
	buf_adds(b, "stacks\n");
	put_trie(b, t, &t->stacks);
	for (unsigned i = 0; i < DAMAGE_COUNT; i++)
		if (t->damage[i].count)
			buf_addf(b, "damage %s %llu line %llu\n", trace_damage_name[i], (unsigned long long)t->damage[i].count,
				 (unsigned long long)t->damage[i].line);
}

#endif
