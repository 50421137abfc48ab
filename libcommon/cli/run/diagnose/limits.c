/* limits.c - --max of both tools: counts checked against their limits. */
#include "run/diagnose/limits.h"

#include "base/tool/diag.h"
#include "base/tool/limit.h"

#include <math.h>

/* ---- places: where in the program, or which compile id ---- */

static void put_place(struct limit_places *p, const struct explanation *x, const struct fact_loc *loc, uint32_t compile)
{
	const struct facts *f = x->facts;
	if (loc->file == NONE && compile < f->n_compile)
		loc = &f->compile[compile].loc;
	explain_add_place(&p->tmp, x, loc);
	if (!p->tmp.len && compile < f->n_compile) {
		buf_adds(&p->tmp, "compile id ");
		buf_add_slice(&p->tmp, facts_label(f, compile));
	}
}

static void no_place(struct limit_places *p, const struct explanation *x, const struct fact_src *src)
{
	if (!p->tmp.len && src->input < x->facts->n_input) {
		buf_add_slice(&p->tmp, explain_text(x, x->facts->input[src->input].path));
		if (src->line)
			buf_addf(&p->tmp, ":%llu", (unsigned long long)src->line);
	}
	limit_place(p);
}

#define AT(table, location, condition) \
	for (uint32_t i = 0; i < x->facts->n_##table; i++) { \
		if (!(condition)) \
			continue; \
		put_place(p, x, location, x->facts->table[i].compile); \
		no_place(p, x, &x->facts->table[i].src); \
	}

/* Is what is there ignored? Rows that are one event may have different places: then the others are shown. */
static bool ignored_at(const struct explanation *x, const struct fact_loc *loc)
{
	for (uint32_t i = 0; i < x->n_ignored; i++)
		if (loc->file != NONE && x->ignored[i].loc.file == loc->file && x->ignored[i].loc.line == loc->line)
			return true;
	return false;
}

static void at_breaks(struct limit_places *p, const struct explanation *x)
{
	AT(brk, &x->facts->brk[i].loc, !x->facts->brk[i].inferred && !ignored_at(x, &x->facts->brk[i].loc))
}
static void at_inferred(struct limit_places *p, const struct explanation *x) { AT(brk, &x->facts->brk[i].loc, x->facts->brk[i].inferred) }
static void at_recompiles(struct limit_places *p, const struct explanation *x)
{
	AT(recompile, &x->facts->recompile[i].loc, !ignored_at(x, &x->facts->recompile[i].loc))
}
static void at_limits(struct limit_places *p, const struct explanation *x) { AT(limit, &x->facts->limit[i].loc, true) }
static void at_failures(struct limit_places *p, const struct explanation *x)
{
	AT(failure, &x->facts->failure[i].user, !x->facts->failure[i].restart)
}
static void at_restarts(struct limit_places *p, const struct explanation *x)
{
	AT(failure, &x->facts->failure[i].user, x->facts->failure[i].restart)
}
static void at_skips(struct limit_places *p, const struct explanation *x) { AT(cudagraph, &x->facts->cudagraph[i].loc, true) }
static void at_special(struct limit_places *p, const struct explanation *x)
{
	AT(bound, &x->facts->bound[i].loc, x->facts->bound[i].kind == BOUND_SPECIALIZED)
}

static void at_compiles(struct limit_places *p, const struct explanation *x)
{
	for (uint32_t i = 0; i < x->facts->n_compile; i++)
		if (x->facts->compile[i].frame >= 0) {
			put_place(p, x, &x->facts->compile[i].loc, i);
			limit_place(p);
		}
}

static void at_misses(struct limit_places *p, const struct explanation *x)
{
	for (uint32_t i = 0; i < x->facts->n_cache; i++) {
		const struct fact_cache *c = &x->facts->cache[i];
		struct fact_loc none = facts_no_loc();
		if (c->what != FACT_MISS)
			continue;
		put_place(p, x, &none, c->compile);
		buf_addf(&p->tmp, "%s(%s)", p->tmp.len ? " " : "", cache_kind_name[c->kind]);
		limit_place(p);
	}
}

/* The slowest first. */
static void at_slow(struct limit_places *p, const struct explanation *x)
{
	const struct facts *f = x->facts;
	double below = INFINITY;
	for (unsigned k = 0; k < LIMIT_PLACES; k++) {
		uint32_t best = NONE;
		for (uint32_t i = 0; i < f->n_compile; i++)
			if (f->compile[i].seconds > 0 && f->compile[i].seconds < below &&
			    (best == NONE || f->compile[i].seconds > f->compile[best].seconds))
				best = i;
		if (best == NONE)
			return;
		below = f->compile[best].seconds;
		put_place(p, x, &f->compile[best].loc, best);
		buf_addf(&p->tmp, " (%.1f s)", below);
		limit_place(p);
	}
}

static void at_findings_of(struct limit_places *p, const struct explanation *x, int level)
{
	for (uint32_t i = 0; i < x->n_finding; i++) {
		const struct finding *g = &x->finding[i];
		if (level >= 0 && (int)g->level != level)
			continue;
		buf_add_slice(&p->tmp, g->title);
		if (g->loc.file != NONE) {
			buf_adds(&p->tmp, " at ");
			explain_add_where(&p->tmp, x, g);
		}
		limit_place(p);
	}
}
static void at_findings(struct limit_places *p, const struct explanation *x) { at_findings_of(p, x, -1); }
static void at_errors(struct limit_places *p, const struct explanation *x) { at_findings_of(p, x, FINDING_ERROR); }
static void at_warnings(struct limit_places *p, const struct explanation *x) { at_findings_of(p, x, FINDING_WARNING); }

static void put_line(struct limit_places *p, const struct explanation *x, uint64_t line, uint32_t text)
{
	buf_addf(&p->tmp, "line %llu: ", (unsigned long long)line);
	buf_add_slice(&p->tmp, explain_text(x, text));
	limit_place(p);
}

static void at_damage(struct limit_places *p, const struct explanation *x)
{
	for (uint32_t i = 0; i < x->facts->n_damage; i++)
		put_line(p, x, x->facts->damage[i].line, x->facts->damage[i].what);
}

static void at_unknown(struct limit_places *p, const struct explanation *x)
{
	for (uint32_t i = 0; i < x->facts->n_unknown; i++)
		put_line(p, x, x->facts->unknown[i].line, x->facts->unknown[i].key);
}

static void at_nothing(struct limit_places *p, const struct explanation *x)
{
	(void)p;
	(void)x;
}

static uint64_t findings(const struct explanation *x, enum finding_level level)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < x->n_finding; i++)
		n += x->finding[i].level == level;
	return n;
}

static uint64_t misses(const struct facts_sums *s)
{
	uint64_t n = 0;
	for (unsigned i = 0; i < ARRAY_LEN(s->cache); i++)
		n += s->cache[i][FACT_MISS];
	return n;
}

/* X(name, words, count, places) */
#define LIMITS(X) \
	X("graph-breaks", "graph breaks", x->sum.graph_breaks - x->ignored_breaks, at_breaks) \
	X("inferred-graph-breaks", "graph breaks without a record", x->sum.inferred_graph_breaks - x->ignored_inferred, at_inferred) \
	X("recompiles", "recompiles", x->sum.recompiles - x->ignored_recompiles, at_recompiles) \
	X("recompile-limits", "recompile limits reached", x->sum.recompile_limits - x->ignored_limits, at_limits) \
	X("restarts", "restarts", x->sum.restarts, at_restarts) \
	X("failures", "failures", x->sum.failures, at_failures) \
	X("compile-seconds", "seconds compiling", x->sum.compile_seconds, at_slow) \
	X("frames", "frames", x->sum.frames, at_compiles) \
	X("compiles", "compiles", x->sum.compiles, at_compiles) \
	X("graphs", "graphs", x->sum.graphs, at_compiles) \
	X("guards", "guards", x->sum.guards, at_compiles) \
	X("specializations", "specializations", x->sum.specializations, at_special) \
	X("cache-misses", "cache misses", misses(&x->sum), at_misses) \
	X("artifacts", "artifacts", x->sum.artifacts, at_nothing) \
	X("unknown-keys", "records with unknown keys", x->sum.unknown_keys, at_unknown) \
	X("cudagraph-skips", "CUDA graph skips", x->sum.cudagraph_skips, at_skips) \
	X("findings", "findings", x->n_finding, at_findings) \
	X("errors", "errors", findings(x, FINDING_ERROR), at_errors) \
	X("warnings", "warnings", findings(x, FINDING_WARNING), at_warnings) \
	X("damage", "kinds of damage", x->sum.damaged, at_damage)

static const struct limit limit[] = {
#define X(name, words, count, places) {name, words},
    LIMITS(X)
#undef X
};
static void (*const places_of[])(struct limit_places *p, const struct explanation *x) = {
#define X(name, words, count, places) places,
    LIMITS(X)
#undef X
};

static void places(void *ctx, int k, struct limit_places *p) { places_of[k](p, ctx); }

int limits_valid(const struct opt_pairs *max, struct err *err) { return limits_wrong(limit, ARRAY_LEN(limit), max, err); }

void limits_check(const struct opt_pairs *max)
{
	struct err err;
	if (limits_valid(max, &err) < 0)
		die_err(&err);
}

unsigned limits_exceeded(const struct explanation *x, const struct opt_pairs *max)
{
	LOCAL_BUF lines = {0};
	if (!max->n)
		return 0;
	const double count[] = {
#define X(name, words, n, places) (double)(n),
		LIMITS(X)
#undef X
	};
	unsigned over = limits_over(limit, ARRAY_LEN(limit), max, count, places, (void *)(uintptr_t)x, &lines);
	warn_lines(buf_slice(&lines));
	return over;
}

/* A text log without events is that of a run without breaks; a trace without a compilation is another process's, or an export's. */
static bool nothing_of_torch(const struct explanation *x)
{
	const struct facts *f = x->facts;
	for (uint32_t i = 0; i < f->n_input; i++)
		if (f->input[i].kind == FACT_DEBUGDIR || (f->input[i].kind == FACT_TEXTLOG && f->input[i].torch_version != NONE))
			return false;
	return !(f->n_compile + f->n_brk + f->n_recompile + f->n_phase + f->n_cache + f->n_known + f->n_path + x->n_finding);
}

bool limits_blind(const struct explanation *x, const struct opt_pairs *max)
{
	if (!max->n || !nothing_of_torch(x))
		return false;
	warn("--max: the input has no output of torch.compile, so there is no verdict (use TORCH_TRACE=DIR, or "
	     "TORCH_LOGS=graph_breaks,recompiles)");
	return true;
}
