/* model.c - struct trace: its begin and end, damage, compile ids in words, and finding one. */
#include "trace/reduce.h"

const char *const trace_damage_name[DAMAGE_COUNT] = {
#define X(id, name, text) name,
    TRACE_DAMAGE(X)
#undef X
};
const char *const trace_damage_text[DAMAGE_COUNT] = {
#define X(id, name, text) text,
    TRACE_DAMAGE(X)
#undef X
};
const char *const trace_cache_name[CACHE_COUNT] = {"fx_graph", "aotautograd", "fx_graph_bundled", "other"};

void trace_damage_add(struct trace_damage d[DAMAGE_COUNT], enum trace_damage_kind kind, uint64_t line)
{
	if (!d[kind].count++)
		d[kind].line = line;
}

bool trace_damaged(const struct trace *t)
{
	for (unsigned i = 0; i < DAMAGE_COUNT; i++)
		if (t->damage[i].count)
			return true;
	return false;
}

void trace_init(struct trace *t, const char *path)
{
	*t = (struct trace){.path = path, .rank = -1, .torch_version = NONE, .exported = NONE};
}

static void trie_release(struct trace_trie *trie)
{
	free(trie->node);
	free(trie->start);
	intern_release(&trie->edges);
}

void trace_release(struct trace *t)
{
	intern_release(&t->names);
	intern_release(&t->ids);
	intern_release(&t->frames);
	trie_release(&t->starts);
	trie_release(&t->stacks);
	trie_release(&t->export_stacks);
	intern_release(&t->expr_ids);
	arena_release(&t->links);
	provset_release(t);
	free(t->export);
	free(t->expr);
	free(t->expr_arg);
	free(t->expr_row);
	free(t->provenance);
	free(t->string);
	free(t->compile);
	free(t->artifact);
	free(t->brk);
	free(t->recompile);
	free(t->failure);
	free(t->symbol);
	free(t->special);
	free(t->skip);
	free(t->unknown);
	free(t->phase);
	free(t->frame);
	buf_release(&t->tmp);
	buf_release(&t->tmp2);
	json_tape_release(&t->tape);
	*t = (struct trace){0};
}

static size_t put_id(char *out, size_t at, int64_t v)
{
	return at + (size_t)(v < 0 ? snprintf(out + at, COMPILE_ID_TEXT - at, "-")
				   : snprintf(out + at, COMPILE_ID_TEXT - at, "%lld", (long long)v));
}

const char *compile_id_text(const struct compile_id *id, char out[COMPILE_ID_TEXT])
{
	size_t n = 0;
	if (id->bad_line) {
		snprintf(out, COMPILE_ID_TEXT, "unknown");
		return out;
	}
	if (id->autograd >= 0)
		n = (size_t)snprintf(out, COMPILE_ID_TEXT, "!%lld/", (long long)id->autograd);
	n = put_id(out, n, id->frame);
	out[n++] = '/';
	n = put_id(out, n, id->compile);
	if (id->attempt > 0)
		snprintf(out + n, COMPILE_ID_TEXT - n, "_%lld", (long long)id->attempt);
	return out;
}

const char *compile_id_dir(const struct compile_id *id, char out[COMPILE_ID_TEXT])
{
	size_t n = put_id(out, 0, id->autograd);
	out[n++] = '_';
	n = put_id(out, n, id->frame);
	out[n++] = '_';
	n = put_id(out, n, id->compile);
	out[n++] = '_';
	put_id(out, n, id->attempt);
	return out;
}

/* A break without a count of ops is one that only a later attempt tells (finish_status in read.c). */
static bool has_metrics(const struct trace_compile *c) { return c->status != STATUS_MISSING && !(c->status == STATUS_BREAK && c->ops < 0); }

const struct trace_compile *trace_find_compile(const struct trace *t, const char *text)
{
	const struct trace_compile *best = NULL;
	char a[COMPILE_ID_TEXT], b[COMPILE_ID_TEXT];
	struct slice want = slice_str(text);
	if (want.n > 2 && want.p[0] == '[' && want.p[want.n - 1] == ']')
		want = slice_of(want.p + 1, want.n - 2);
	for (uint32_t i = 0; i < t->n_compile; i++) {
		const struct trace_compile *c = &t->compile[i];
		if (slice_is(want, compile_id_dir(&c->id, b)) || (c->id.attempt > 0 && slice_is(want, compile_id_text(&c->id, a))))
			return c;
		struct compile_id first = c->id;
		first.attempt = 0;
		if (slice_is(want, compile_id_text(&first, a)) && (!best || has_metrics(c) || !has_metrics(best)))
			best = c;
	}
	return best;
}
