/* component.c - which component of the compiler failed, the evidence, and what would prove it.
 *
 * Three witnesses: the exception (its type says most where torch has one for the component), the frames that it came through (the
 * innermost that belongs to a component), and the records of that compile id (what they show has worked). Without an exception - a
 * crash, a job that was killed - it is the last phase that started and did not end.
 */
#include "run/diagnose/component_part.h"
#include "run/diagnose/evidence.h"

enum { BREAKS_LOOKED_AT = 512 };

static int by_line(const void *a, const void *b, void *facts)
{
	const struct facts *f = facts;
	const struct fact_src *p = &f->known[*(const uint32_t *)a].src, *q = &f->known[*(const uint32_t *)b].src;
	if (p->input != q->input)
		return p->input < q->input ? -1 : 1;
	if (p->line != q->line)
		return p->line < q->line ? -1 : 1;
	return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

static bool is_torchs(const struct facts *f, const struct fact_failure *r)
{
	return slice_starts(facts_text(f, r->type), "torch.") || slice_find(facts_text(f, r->frames), "torch/");
}

/* What another process raised first is what the others report; that the program ended with their exception is said of it. */
static void follow_carriers(struct witnesses *w)
{
	struct facts *f = w->x->facts;
	w->carrier = xcalloc(f->n_failure + 1, sizeof(*w->carrier));
	w->root = NONE;
	for (uint32_t i = 0; i < f->n_failure; i++) {
		const struct fact_failure *r = &f->failure[i];
		w->carrier[i] = r->restart || r->caught || r->signal ? NULL : carrier_of(w->x, r);
		if (w->root == NONE && !w->carrier[i] && !r->restart && !r->caught)
			w->root = i;
	}
	for (uint32_t i = 0; i < f->n_failure; i++)
		if (w->carrier[i] && !w->carrier[i]->hint && (w->root == NONE || w->root > i || !is_torchs(f, &f->failure[w->root])))
			w->carrier[i] = NULL; /* the program's own words */
	for (uint32_t i = 0; i < f->n_failure && w->root != NONE; i++)
		if (w->carrier[i] && f->failure[i].ended) {
			f->failure[i].ended = false;
			f->failure[w->root].ended = true;
		}
}

static void call_witnesses(struct explanation *x, struct witnesses *w)
{
	const struct facts *f = x->facts;
	*w = (struct witnesses){.x = x, .resolved = xcalloc(f->n_compile + 1, sizeof(bool)), .launcher = NONE};
	for (uint32_t i = 0; i < f->n_graph; i++)
		if (f->graph[i].compile != NONE)
			chain_add(&w->graph, i, CHAIN_KEY(f->graph[i].compile));
	for (uint32_t i = 0; i < f->n_known; i++) {
		chain_add(&w->known_at, i,
			  CHAIN_KEY(f->known[i].src.input, (uint32_t)f->known[i].src.line, (uint32_t)(f->known[i].src.line >> 32)));
		if (f->known[i].compile != NONE)
			chain_add(&w->known, i, CHAIN_KEY(f->known[i].compile));
	}
	w->known_line = xreallocarray(NULL, f->n_known + 1, sizeof(*w->known_line));
	for (uint32_t i = 0; i < f->n_known; i++)
		w->known_line[i] = i;
	if (f->n_known)
		qsort_r(w->known_line, f->n_known, sizeof(*w->known_line), by_line, x->facts);
	for (uint32_t i = 0; i < f->n_compiler_error; i++) {
		if (!slice_find(facts_text(f, f->compiler_error[i].severity), "error"))
			continue;
		if (f->compiler_error[i].compile != NONE)
			chain_add(&w->error, i, CHAIN_KEY(f->compiler_error[i].compile));
		else if (w->n_loose < ARRAY_LEN(w->loose_errors))
			w->loose_errors[w->n_loose++] = i;
	}
	for (uint32_t i = 0; i < f->n_brk; i++)
		if (f->brk[i].compile != NONE)
			w->resolved[f->brk[i].compile] = true;
	for (uint32_t i = 0; i < f->n_limit; i++)
		if (f->limit[i].compile != NONE)
			w->resolved[f->limit[i].compile] = true;
	for (uint32_t i = 0; i < f->n_path && w->launcher == NONE; i++)
		if (slice_find(facts_text(f, f->path[i].path), "minifier_launcher.py"))
			w->launcher = i;
	follow_carriers(w);
}

static void dismiss_witnesses(struct witnesses *w)
{
	chain_release(&w->graph);
	chain_release(&w->known);
	chain_release(&w->known_at);
	free(w->known_line);
	chain_release(&w->error);
	free(w->resolved);
	free(w->carrier);
}
/* The same exception in many compile ids is reported once: the key they must share. */
static struct slice sameness(struct explanation *x, const struct fact_failure *r, struct buf *b)
{
	uint32_t key[] = {r->type, r->user.file, r->user.line};
	buf_reset(b);
	buf_add(b, key, sizeof(key));
	buf_add_slice(b, component_first_line(explain_text(x, r->reason)));
	return buf_slice(b);
}

static int worst_verdict(const void *a, const void *b, void *facts)
{
	const struct component_view *p = a, *q = b;
	const struct facts *f = facts;
	bool p_caught = p->failure == NONE || f->failure[p->failure].caught;
	bool q_caught = q->failure == NONE || f->failure[q->failure].caught;
	bool p_ended = p->failure != NONE && f->failure[p->failure].ended, q_ended = q->failure != NONE && f->failure[q->failure].ended;
	if (p_ended != q_ended)
		return p_ended ? -1 : 1;
	if (p_caught != q_caught)
		return p_caught ? 1 : -1;
	if (p->sure != q->sure)
		return p->sure > q->sure ? -1 : 1;
	return p->failure < q->failure ? -1 : p->failure > q->failure;
}

/* Is it the reason of a graph break or a recompile limit? In a text log the exception may lack a compile id: then by its place. */
static bool told_elsewhere(const struct witnesses *w, const struct fact_failure *r)
{
	const struct facts *f = w->x->facts;
	if (r->compile != NONE)
		return w->resolved[r->compile];
	if (f->n_limit && slice_starts(facts_text(f, r->reason), "Dynamo recompile limit exceeded"))
		return true;
	for (uint32_t i = 0; i < f->n_brk && i < BREAKS_LOOKED_AT; i++)
		if (f->brk[i].src.input == r->src.input && r->user.line && f->brk[i].loc.line == r->user.line &&
		    f->brk[i].loc.file == r->user.file &&
		    slice_eq(slice_first_line(facts_text(f, f->brk[i].reason)), slice_first_line(facts_text(f, r->reason))))
			return true;
	return false;
}

/* Nor is a known message of a carrier a finding: a pool of the program is not torch's pool of compile workers. */
static void dismiss_carriers(const struct witnesses *w)
{
	for (uint32_t i = 0; i < w->x->facts->n_failure && w->root != NONE; i++) {
		const struct fact_failure *r = &w->x->facts->failure[i];
		struct fact_known *k = w->carrier[i] ? component_known(w, r) : NULL;
		if (!k)
			continue;
		k->told = true;
		component_known_in(w, r, k);
	}
}

void explain_component(struct explanation *x)
{
	struct facts *f = x->facts;
	OWNED(dismiss_witnesses) struct witnesses w;
	OWNED(chain_release) struct chain same = {0};
	LOCAL_BUF key = {0};
	FREED bool *cause = xcalloc(f->n_failure + 1, sizeof(*cause)), *failed = xcalloc(f->n_input + 1, sizeof(*failed));
	call_witnesses(x, &w);
	dismiss_carriers(&w);
	for (uint32_t i = 0; i < f->n_failure; i++)
		if (f->failure[i].cause != NONE && !w.carrier[i])
			cause[f->failure[i].cause] = true;
	for (uint32_t i = 0; i < f->n_failure; i++) {
		const struct fact_failure *r = &f->failure[i];
		failed[r->src.input] = true;
		/* An attempt abandoned because of a break or the recompile limit is reported with that. */
		if (!r->restart && !cause[i] && !(w.carrier[i] && w.root != NONE) && !(r->caught && told_elsewhere(&w, r)))
			chain_add(&same, i, sameness(x, r, &key));
	}
	for (uint32_t k = 0; k < same.keys.n; k++) {
		uint64_t count = 0;
		uint32_t row = same.first[k];
		for (uint32_t i = row; i != NONE; i = same.next[i], count++)
			row = f->failure[i].ended ? i : row;
		struct component_view v = component_judge(&w, row);
		v.fell_back = f->failure[row].caught && !f->failure[row].ended;
		const bool survived = evidence_survived(x, &f->failure[row]);
		component_tell(&w, &v, count, survived);
		if (!survived)
			PUSH(x, component) = v;
	}
	for (uint32_t i = 0; i < f->n_input; i++)
		if (!failed[i])
			component_tell_unfinished(&w, i);
	if (x->n_component)
		qsort_r(x->component, x->n_component, sizeof(*x->component), worst_verdict, f);
}
