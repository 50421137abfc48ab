/* model.c - struct trace: setup and release, damage, compile ids as text, and lookups. */
#include "run/trace/reduce.h"

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

void trace_init(struct trace *t, const char *path, struct facts *f)
{
	*t = (struct trace){.path = path, .rank = -1, .torch_version = NONE, .exported = NONE};
	if (!f) {
		f = t->own = xcalloc(1, sizeof(*f));
		facts_init(f);
	}
	t->f = f;
}

uint64_t trace_strings(const struct trace *t)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < t->n_process; i++)
		n = t->process[i].n_string > n ? t->process[i].n_string : n;
	return n;
}

uint32_t trace_string_of_any(const struct trace *t, uint64_t i)
{
	for (uint32_t k = t->n_process; k-- > 0;)
		if (i < t->process[k].n_string && t->process[k].string[i] != NONE)
			return t->process[k].string[i];
	return NONE;
}

/* Strings defined earlier in another log of this process. */
static uint32_t string_of_others(const struct trace *t, uint64_t pid, uint64_t i)
{
	uint64_t key[2] = {pid, i};
	uint32_t k = intern_find(&t->f->string_ids, slice_of((const char *)key, sizeof(key)));
	return k == NONE ? NONE : t->f->string_name[k];
}

uint32_t trace_string(const struct trace *t, uint64_t i)
{
	const struct trace_process *p = &t->process[t->now];
	if (!t->n_process)
		return NONE;
	if (i < p->n_string && p->string[i] != NONE)
		return p->string[i];
	uint32_t name = trace_string_of_any(t, i); /* a forked child does not repeat its parent's strings */
	return name == NONE ? string_of_others(t, p->pid, i) : name;
}

void trace_keep_strings(struct trace *t)
{
	struct facts *f = t->f;
	for (uint32_t i = 0; i < t->n_process; i++)
		for (uint32_t k = 0; k < t->process[i].n_string; k++) {
			uint64_t key[2] = {t->process[i].pid, k};
			uint32_t n = f->string_ids.n;
			if (t->process[i].string[k] == NONE || intern_add(&f->string_ids, slice_of((const char *)key, sizeof(key))) < n)
				continue;
			GROW(f->string_name, n, f->cap_string_name, 1);
			f->string_name[n] = t->process[i].string[k];
		}
}

/* Numbers increase with the rows; some rows have none. */
const struct trace_artifact *trace_numbered(const struct trace *t, uint32_t number)
{
	uint32_t from = 0, to = t->n_artifact;
	while (from < to) {
		uint32_t mid = from + (to - from) / 2, k = mid;
		while (k < to && t->artifact[k].number == NONE)
			k++;
		if (k < to && t->artifact[k].number == number)
			return &t->artifact[k];
		if (k == to || t->artifact[k].number > number)
			to = mid;
		else
			from = k + 1;
	}
	return NULL;
}

const struct fact_attempt *trace_attempt(const struct trace *t, const struct compile_id *id, uint32_t process, uint32_t generation)
{
	for (uint32_t k = identity_newest(t, id); k != NONE; k = t->f->attempt[k].before)
		if (t->f->attempt[k].process == process && t->f->attempt[k].generation == generation)
			return &t->f->attempt[k];
	return NULL;
}

static void trie_release(struct trace_trie *trie)
{
	free(trie->node);
	free(trie->start);
	intern_release(&trie->edges);
}

void trace_release(struct trace *t)
{
	if (t->own)
		facts_release(t->own);
	free(t->own);
	row_index_release(&t->ids);
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
	for (uint32_t i = 0; i < t->n_process; i++)
		free(t->process[i].string);
	free(t->process);
	identity_end(t);
	free(t->folder);
	free(t->artifact);
	free(t->unknown);
	free(t->phase);
	free(t->frame);
	buf_release(&t->tmp);
	buf_release(&t->tmp2);
	json_tape_release(&t->tape);
	*t = (struct trace){0};
}

/* A break without a count of ops is one known only from a later attempt (finish_status in read.c). */
static bool has_metrics(const struct fact_attempt *c)
{
	return c->status != COMPILE_UNKNOWN && !(c->status == COMPILE_BREAK && c->ops < 0);
}

const struct fact_attempt *trace_find_compile(const struct trace *t, const char *text)
{
	const struct fact_attempt *best = NULL;
	char a[COMPILE_ID_TEXT], b[COMPILE_ID_TEXT];
	struct slice want = slice_str(text);
	if (want.n > 2 && want.p[0] == '[' && want.p[want.n - 1] == ']')
		want = slice_of(want.p + 1, want.n - 2);
	for (uint32_t i = t->from.attempt; i < t->f->n_attempt; i++) {
		const struct fact_attempt *c = &t->f->attempt[i];
		if (slice_is(want, compile_id_dir(&c->id, b)) || (c->id.attempt > 0 && slice_is(want, compile_id_text(&c->id, a))))
			return c;
		struct compile_id first = c->id;
		first.attempt = 0;
		if (slice_is(want, compile_id_text(&first, a)) && (!best || has_metrics(c) || !has_metrics(best)))
			best = c;
	}
	return best;
}
