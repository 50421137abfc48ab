/* frames.c - frames: groups the compilations of a code object. */
#include "base/chain.h"
#include "run/facts.h"

static int by_frame(const void *a, const void *b, void *facts)
{
	const struct facts *f = facts;
	const struct fact_compile *p = &f->compile[*(const uint32_t *)a], *q = &f->compile[*(const uint32_t *)b];
	const int64_t x[] = {p->src.input, p->process, p->generation, p->frame, p->compile, *(const uint32_t *)a};
	const int64_t y[] = {q->src.input, q->process, q->generation, q->frame, q->compile, *(const uint32_t *)b};
	for (unsigned i = 0; i < ARRAY_LEN(x); i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

static bool same_frame(const struct fact_compile *p, const struct fact_compile *q)
{
	return p->src.input == q->src.input && p->process == q->process && p->generation == q->generation && p->frame == q->frame;
}

/* Recompiles by compilation; limits by compilation, and those without one (texts) by the function they mention. */
struct events {
	uint32_t *recompile; /* first of each compilation, or NONE */
	struct chain limit, function;
};

static void find_events(const struct facts *f, struct events *e)
{
	e->recompile = xreallocarray(NULL, f->n_compile + 1u, sizeof(*e->recompile));
	memset(e->recompile, 255, (f->n_compile + 1u) * sizeof(*e->recompile));
	for (uint32_t i = f->n_recompile; i-- > 0;)
		if (f->recompile[i].compile != NONE)
			e->recompile[f->recompile[i].compile] = i;
	for (uint32_t i = 0; i < f->n_limit; i++) {
		const struct fact_limit *l = &f->limit[i];
		if (l->compile != NONE)
			chain_add(&e->limit, i, CHAIN_KEY(l->compile));
		else if (l->loc.function != NONE)
			chain_add(&e->function, i, CHAIN_KEY(l->src.input, l->loc.function));
	}
}

static void find_limit(struct facts *f, const struct events *e, struct fact_frame *v)
{
	v->limit = NONE;
	for (uint32_t k = v->first; k < v->first + v->n && v->limit == NONE; k++)
		v->limit = chain_first(&e->limit, CHAIN_KEY(f->frame_compile[k]));
	if (v->limit == NONE && v->loc.function != NONE)
		v->limit = chain_first(&e->function, CHAIN_KEY(v->input, v->loc.function));
	v->limited = v->limit != NONE;
}

static void add_frame(struct facts *f, const struct events *e, struct fact_frame v)
{
	find_limit(f, e, &v);
	PUSH(f, frame) = v;
}

static struct fact_frame frame_of(const struct facts *f, const struct events *e, uint32_t first, uint32_t n)
{
	const struct fact_compile *c = &f->compile[f->frame_compile[first]];
	struct fact_frame v = FACT_NEW(fact_frame);
	v.input = c->src.input;
	v.process = c->process;
	v.generation = c->generation;
	v.frame = c->frame;
	v.loc = c->loc;
	v.first = first;
	v.n = v.compiles = n;
	for (uint32_t k = first; k < first + n; k++) {
		const struct fact_compile *x = &f->compile[f->frame_compile[k]];
		bool again = e->recompile[f->frame_compile[k]] != NONE;
		if (v.loc.file == NONE && x->loc.file != NONE)
			v.loc = x->loc;
		if (x->seconds >= 0 && again)
			v.seconds = (v.seconds < 0 ? 0 : v.seconds) + x->seconds;
		v.recompiles += again;
		/* A text mentions only frames with events. */
		if (f->input[v.input].kind == FACT_TEXTLOG && x->compile >= v.compiles && x->compile < UINT32_MAX)
			v.compiles = (uint32_t)x->compile + 1;
	}
	return v;
}

/* Recompiles with an unknown compile id (older text logs): by the location they mention. */
static void add_places(struct facts *f, const struct events *e)
{
	struct chain place = {0};
	for (uint32_t i = 0; i < f->n_recompile; i++) {
		const struct fact_recompile *x = &f->recompile[i];
		if (x->compile == NONE)
			chain_add(&place, i, CHAIN_KEY(x->src.input, x->loc.file, x->loc.function));
	}
	for (uint32_t k = 0; k < place.keys.n; k++) {
		const struct fact_recompile *x = &f->recompile[place.first[k]];
		struct fact_frame v = FACT_NEW(fact_frame);
		v.input = x->src.input;
		v.loc = x->loc;
		v.first = f->n_frame_compile;
		v.compiles = 1;
		for (uint32_t i = place.first[k]; i != NONE; i = place.next[i])
			v.recompiles++;
		v.compiles += v.recompiles;
		add_frame(f, e, v);
	}
	chain_release(&place);
}

void facts_frames(struct facts *f)
{
	struct events e = {0};
	find_events(f, &e);
	f->n_frame = f->n_frame_compile = 0;
	GROW(f->frame_compile, 0, f->cap_frame_compile, f->n_compile + 1);
	for (uint32_t i = 0; i < f->n_compile; i++)
		if (f->compile[i].frame >= 0)
			f->frame_compile[f->n_frame_compile++] = i;
	qsort_r(f->frame_compile, f->n_frame_compile, sizeof(*f->frame_compile), by_frame, f);
	for (uint32_t i = 0, k; i < f->n_frame_compile; i = k) {
		for (k = i + 1; k < f->n_frame_compile && same_frame(&f->compile[f->frame_compile[i]], &f->compile[f->frame_compile[k]]);
		     k++)
			;
		add_frame(f, &e, frame_of(f, &e, i, k - i));
	}
	add_places(f, &e);
	free(e.recompile);
	chain_release(&e.limit);
	chain_release(&e.function);
}
