/* explain.c - the analyses in their order, and the order of findings. */
#include "diagnose/finding.h"

const char *const finding_level_name[3] = {"note", "warning", "error"};
const char *const finding_kind_name[FINDING_KINDS] = {
    [FINDING_FAILURE] = "failure",     [FINDING_KNOWN] = "known",       [FINDING_LIMIT] = "recompile-limit",
    [FINDING_RECOMPILE] = "recompile", [FINDING_BREAK] = "graph-break", [FINDING_SHAPE] = "dynamic-shape",
    [FINDING_TIME] = "compile-time",   [FINDING_CACHE] = "cache",       [FINDING_CUDAGRAPH] = "cudagraph",
    [FINDING_DAMAGE] = "damage",
};

struct finding *explain_finding(struct explanation *x, enum finding_kind kind, enum finding_level level)
{
	GROW(x->finding, x->n_finding, x->cap_finding, 1);
	x->finding[x->n_finding] =
	    (struct finding){.kind = kind, .level = level, .loc = facts_no_loc(), .seconds = -1, .rank = x->n_finding};
	return &x->finding[x->n_finding++];
}

struct slice explain_keep(struct explanation *x, struct slice s) { return s.n ? arena_slice(&x->arena, s) : s; }

struct slice explain_textf(struct explanation *x, const char *fmt, ...)
{
	va_list ap;
	buf_reset(&x->tmp);
	va_start(ap, fmt);
	buf_addvf(&x->tmp, fmt, ap);
	va_end(ap);
	return explain_keep(x, buf_slice(&x->tmp));
}

void explain_add_place(struct buf *b, const struct explanation *x, const struct fact_loc *loc)
{
	if (loc->file == NONE)
		return;
	struct slice function = explain_text(x, loc->function);
	buf_add_slice(b, srcloc_short_file(explain_text(x, loc->file)));
	if (loc->line)
		buf_addf(b, ":%u", loc->line);
	struct slice of;
	uint32_t behind;
	if (facts_resume_name(function, &of, &behind))
		buf_addf(b, " in %.*s behind line %u", SL(of), behind);
	else if (function.n)
		buf_addf(b, " in %.*s", SL(function));
}

struct slice explain_place(struct explanation *x, const struct fact_loc *loc)
{
	buf_reset(&x->tmp);
	explain_add_place(&x->tmp, x, loc);
	return explain_keep(x, buf_slice(&x->tmp));
}

static int worst_first(const void *a, const void *b)
{
	const struct finding *p = a, *q = b;
	bool p_failure = p->kind == FINDING_FAILURE, q_failure = q->kind == FINDING_FAILURE;
	if (p_failure != q_failure)
		return p_failure ? -1 : 1;
	if (p->level != q->level)
		return p->level > q->level ? -1 : 1;
	if (p->seconds != q->seconds)
		return p->seconds > q->seconds ? -1 : 1;
	if (p->kind != q->kind)
		return p->kind < q->kind ? -1 : 1;
	if (p->count != q->count)
		return p->count > q->count ? -1 : 1;
	return p->rank < q->rank ? -1 : p->rank > q->rank;
}

/* Views name findings by their row before the sorting. */
static void renumber(struct explanation *x)
{
	uint32_t *row = xreallocarray(NULL, x->n_finding + 1, sizeof(*row));
	if (x->n_finding)
		qsort(x->finding, x->n_finding, sizeof(*x->finding), worst_first);
	for (uint32_t i = 0; i < x->n_finding; i++) {
		row[x->finding[i].rank] = i;
		x->finding[i].rank = i;
	}
	for (uint32_t i = 0; i < x->n_group; i++)
		x->group[i].finding = x->group[i].finding == NONE ? NONE : row[x->group[i].finding];
	for (uint32_t i = 0; i < x->n_frame; i++)
		x->frame[i].finding = x->frame[i].finding == NONE ? NONE : row[x->frame[i].finding];
	for (uint32_t i = 0; i < x->n_symbol; i++)
		x->symbol[i].finding = x->symbol[i].finding == NONE ? NONE : row[x->symbol[i].finding];
	free(row);
}

static void explain_damage(struct explanation *x)
{
	const struct facts *f = x->facts;
	for (uint32_t i = 0; i < f->n_damage; i++) {
		struct finding *g = explain_finding(x, FINDING_DAMAGE, FINDING_NOTE);
		g->id = SLICE("damage");
		g->src = (struct fact_src){f->damage[i].input, f->damage[i].line};
		g->count = f->damage[i].count;
		g->title = facts_text(f, f->damage[i].what);
	}
}

static void count(struct explanation *x)
{
	const struct facts *f = x->facts;
	x->seconds = -1;
	for (uint32_t i = 0; i < f->n_brk; i++)
		f->brk[i].inferred ? x->inferred_breaks++ : x->breaks++;
	x->recompiles = f->n_recompile;
	x->limits = f->n_limit;
	for (uint32_t i = 0; i < f->n_failure; i++)
		f->failure[i].restart ? x->restarts++ : x->failures++;
	for (uint32_t i = 0; i < f->n_compile; i++) {
		const struct fact_compile *c = &f->compile[i];
		x->graphs += c->graphs > 0 ? (uint64_t)c->graphs : 0;
		x->ops += c->ops > 0 ? (uint64_t)c->ops : 0;
		x->guards += c->guards > 0 ? (uint64_t)c->guards : 0;
	}
	for (uint32_t i = 0; i < f->n_cache; i++)
		++*(f->cache[i].what == FACT_HIT ? &x->hits : f->cache[i].what == FACT_MISS ? &x->misses : &x->bypasses);
	x->skips = f->n_cudagraph;
	for (uint32_t i = 0; i < f->n_input; i++)
		if (f->input[i].seconds >= 0)
			x->seconds = (x->seconds < 0 ? 0 : x->seconds) + f->input[i].seconds;
}

void explain(struct explanation *x, struct facts *f)
{
	*x = (struct explanation){.facts = f};
	count(x);
	explain_component(x);
	explain_breaks(x);
	explain_recompiles(x);
	explain_shapes(x);
	explain_times(x);
	explain_known(x);
	explain_damage(x);
	renumber(x);
}

void explanation_release(struct explanation *x)
{
	arena_release(&x->arena);
	free(x->finding);
	free(x->component);
	free(x->group);
	free(x->frame);
	free(x->step);
	free(x->symbol);
	free(x->bound_row);
	free(x->time);
	free(x->part);
	buf_release(&x->tmp);
	*x = (struct explanation){0};
}
