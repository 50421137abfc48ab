/* limits.c - --max NAME=N: the counts of the summary held against what is wanted. */
#include "tlparse.h"

#include "tool/diag.h"
#include "tool/limit.h"

#include <math.h>

/* A place in the program, or the compile id where it is not known. */
static void name_place(struct limit_places *p, const struct trace *t, const struct trace_loc *loc, uint32_t compile)
{
	struct buf *b = &p->tmp;
	char text[COMPILE_ID_TEXT];
	buf_reset(b);
	if (loc->file == NONE && compile < t->n_compile)
		loc = &t->compile[compile].loc;
	if (loc->file == NONE) {
		if (compile < t->n_compile)
			buf_addf(b, "compile id %s", compile_id_text(&t->compile[compile].id, text));
		else
			buf_adds(b, t->path);
		return;
	}
	buf_add_slice(b, intern_get(&t->names, loc->file));
	buf_addf(b, ":%u", loc->line);
	if (loc->function != NONE) {
		buf_adds(b, " in ");
		buf_add_slice(b, intern_get(&t->names, loc->function));
	}
}

static void add_place(struct limit_places *p, const struct trace *t, const struct trace_loc *loc, uint32_t compile)
{
	name_place(p, t, loc, compile);
	limit_place(p);
}

static void at_breaks(struct limit_places *p, const struct trace *t)
{
	for (uint32_t i = 0; i < t->n_brk; i++)
		add_place(p, t, &t->brk[i].loc, t->brk[i].compile);
}

static void at_recompiles(struct limit_places *p, const struct trace *t)
{
	for (uint32_t i = 0; i < t->n_recompile; i++)
		add_place(p, t, &t->recompile[i].loc, t->recompile[i].compile);
}

static void at_failures_of(struct limit_places *p, const struct trace *t, bool restarts)
{
	for (uint32_t i = 0; i < t->n_failure; i++)
		if ((t->failure[i].type == NONE) == restarts)
			add_place(p, t, &t->failure[i].loc, t->failure[i].compile);
}
static void at_failures(struct limit_places *p, const struct trace *t) { at_failures_of(p, t, false); }
static void at_restarts(struct limit_places *p, const struct trace *t) { at_failures_of(p, t, true); }

/* Compilations that came to an end; an attempt that was restarted has no place of its own. */
static void at_compiles(struct limit_places *p, const struct trace *t)
{
	for (uint32_t i = 0; i < t->n_compile; i++)
		if (t->compile[i].id.frame >= 0 && t->compile[i].loc.file != NONE)
			add_place(p, t, &t->compile[i].loc, i);
}

/* The slowest first. */
static void at_slow(struct limit_places *p, const struct trace *t)
{
	double below = INFINITY;
	for (unsigned k = 0; k < LIMIT_PLACES; k++) {
		uint32_t best = NONE;
		for (uint32_t i = 0; i < t->n_compile; i++)
			if (t->compile[i].seconds > 0 && t->compile[i].seconds < below &&
			    (best == NONE || t->compile[i].seconds > t->compile[best].seconds))
				best = i;
		if (best == NONE)
			return;
		below = t->compile[best].seconds;
		name_place(p, t, &t->compile[best].loc, best);
		buf_addf(&p->tmp, " (%.1f s)", below);
		limit_place(p);
	}
}

static void at_skips(struct limit_places *p, const struct trace *t)
{
	for (uint32_t i = 0; i < t->n_skip; i++)
		add_place(p, t, &t->compile[t->skip[i].compile].loc, t->skip[i].compile);
}

static void at_misses(struct limit_places *p, const struct trace *t)
{
	for (uint32_t i = 0; i < t->n_artifact; i++) {
		const struct trace_artifact *a = &t->artifact[i];
		if (!(a->flags & ART_MISS))
			continue;
		name_place(p, t, &t->compile[a->compile].loc, a->compile);
		buf_adds(&p->tmp, " (");
		buf_add_slice(&p->tmp, intern_get(&t->names, a->name));
		buf_addc(&p->tmp, ')');
		limit_place(p);
	}
}

static void at_unknown(struct limit_places *p, const struct trace *t)
{
	for (uint32_t i = 0; i < t->n_unknown; i++) {
		buf_reset(&p->tmp);
		buf_addf(&p->tmp, "line %llu: ", (unsigned long long)t->unknown[i].line);
		buf_add_slice(&p->tmp, intern_get(&t->names, t->unknown[i].key));
		limit_place(p);
	}
}

static void at_damage(struct limit_places *p, const struct trace *t)
{
	for (unsigned i = 0; i < DAMAGE_COUNT; i++) {
		if (!t->damage[i].count)
			continue;
		buf_reset(&p->tmp);
		buf_addf(&p->tmp, "line %llu: %s", (unsigned long long)t->damage[i].line, trace_damage_name[i]);
		limit_place(p);
	}
}

static uint64_t misses(const struct report_sums *s)
{
	uint64_t n = 0;
	for (unsigned i = 0; i < CACHE_COUNT; i++)
		n += s->cache[i][1];
	return n;
}

/* X(name, words, count, places) */
#define LIMITS(X) \
	X("graph-breaks", "graph breaks", s->breaks, at_breaks) \
	X("recompiles", "recompiles", s->recompiles, at_recompiles) \
	X("restarts", "restarts", s->restarts, at_restarts) \
	X("failures", "failures", s->failures, at_failures) \
	X("compile-seconds", "seconds compiling", s->seconds, at_slow) \
	X("frames", "frames", s->frames, at_compiles) \
	X("compiles", "compiles", s->compiles, at_compiles) \
	X("graphs", "graphs", s->graphs, at_compiles) \
	X("artifacts", "artifacts", s->artifacts, NULL) \
	X("cache-misses", "cache misses", misses(s), at_misses) \
	X("cudagraph-skips", "CUDA graph skips", s->skips, at_skips) \
	X("unknown-keys", "records with unknown keys", s->unknown, at_unknown) \
	X("damage", "kinds of damage", s->damaged, at_damage)

static const struct limit limit[] = {
#define X(name, words, count, places) {name, words},
    LIMITS(X)
#undef X
};
static void (*const places_of[])(struct limit_places *p, const struct trace *t) = {
#define X(name, words, count, places) places,
    LIMITS(X)
#undef X
};

static void places(void *ctx, int k, struct limit_places *p)
{
	const struct report *r = ctx;
	for (unsigned n = 0; places_of[k] && n < r->n; n++)
		places_of[k](p, &r->log[n]);
}

void limits_check(const struct opt_pairs *max)
{
	struct err err;
	if (limits_wrong(limit, ARRAY_LEN(limit), max, &err) < 0)
		die_err(&err);
}

bool limits_exceeded(const struct opt_pairs *max, const struct report *r)
{
	struct report_sums sums = {0};
	const struct report_sums *s = &sums;
	struct buf lines = {0};
	if (!max->n)
		return false;
	for (unsigned i = 0; i < r->n; i++)
		report_add(&r->log[i], &sums);
	const double count[] = {
#define X(name, words, n, places) (double)(n),
		LIMITS(X)
#undef X
	};
	bool over = limits_over(limit, ARRAY_LEN(limit), max, count, places, (void *)(uintptr_t)r, &lines) > 0;
	warn_lines(buf_slice(&lines));
	buf_release(&lines);
	return over;
}
