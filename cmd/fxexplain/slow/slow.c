/* slow.c - sums of the run: frames, phases, passes; what the parts share. */
#include "slow/slow.h"

#include <stdlib.h>

bool slow_grows(enum time_part_kind part)
{
	switch (part) {
	case PART_DYNAMO_TIME:
	case PART_GUARDS_TIME:
	case PART_AOT_TIME:
	case PART_PASSES_TIME:
	case PART_LOWERING_TIME:
	case PART_SCHEDULING_TIME:
	case PART_CODEGEN_TIME:
	case PART_BACKWARD_TIME: return true;
	default: return false;
	}
}

static double positive(double v) { return v > 0 ? v : 0; }

/* A log without events has only the metrics, where code generation includes the compilers. */
static void grows_of_metrics(struct slow *s, uint32_t i)
{
	const struct fact_compile *c = &s->x->facts->compile[i];
	s->grows[i] = positive(c->dynamo) + positive(c->aot) + positive(c->inductor);
}

static void add_phases(struct slow *s)
{
	const struct facts *f = s->x->facts;
	FREED bool *events = xcalloc(f->n_compile + 1, sizeof(*events));
	for (uint32_t i = 0; i < f->n_phase; i++) {
		const struct fact_phase *p = &f->phase[i];
		const enum time_part_kind part = phase_part(facts_text(f, p->name));
		if (p->compile == NONE) {
			s->part[part] += p->self;
		} else {
			events[p->compile] = true;
			s->grows[p->compile] += slow_grows(part) ? p->self : 0;
		}
	}
	for (uint32_t i = 0; i < f->n_compile; i++)
		if (!events[i])
			grows_of_metrics(s, i);
}

static void add_totals(struct slow *s)
{
	const struct facts *f = s->x->facts;
	s->seconds = s->x->n_time && s->x->time[0].compile == NONE ? s->x->time[0].seconds : positive(s->x->sum.compile_seconds);
	for (uint32_t i = 0; i < f->n_compile; i++) {
		const struct fact_compile *c = &f->compile[i];
		s->backward += positive(c->backward);
		s->restarts += positive(c->restarts);
		s->recompiles += c->compile > 0 ? positive(c->seconds) : 0;
	}
}

static int longest_pass(const void *a, const void *b)
{
	const struct slow_pass *x = a, *y = b;
	return (x->seconds < y->seconds) - (x->seconds > y->seconds);
}

/* "pass.joint_graph_passes.pass_pattern_0": torch/fx/passes/graph_transform_observer.py. */
static void add_passes(struct slow *s)
{
	const struct facts *f = s->x->facts;
	for (uint32_t i = 0; i < f->n_phase; i++) {
		const struct fact_phase *p = &f->phase[i];
		struct slice name = facts_text(f, p->name);
		if (p->compile != NONE || !slice_starts(name, "pass."))
			continue;
		PUSH(s, pass) = (struct slow_pass){slice_of(name.p + 5, name.n - 5), p->self, p->calls};
	}
	if (s->n_pass)
		qsort(s->pass, s->n_pass, sizeof(*s->pass), longest_pass);
}

void slow_make(struct slow *s, const struct explanation *x)
{
	*s = (struct slow){.x = x};
	s->grows = xcalloc(x->facts->n_compile + 1, sizeof(*s->grows));
	s->maps = xcalloc(x->facts->n_input + 1, sizeof(*s->maps));
	add_phases(s);
	add_totals(s);
	add_passes(s);
	slow_kernels(s);
	slow_blocks(s);
	slow_remedies(s);
}

void slow_release(struct slow *s)
{
	for (uint32_t i = 0; i < s->x->facts->n_input; i++)
		kernelmaps_release(&s->maps[i]);
	free(s->maps);
	arena_release(&s->arena);
	free(s->grows);
	free(s->block);
	free(s->twins);
	free(s->twin_row);
	free(s->module);
	free(s->kernel);
	free(s->pass);
	free(s->remedy);
	*s = (struct slow){0};
}
