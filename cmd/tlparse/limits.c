/* limits.c - --max NAME=N: the counts of the summary held against what is wanted. */
#include "tlparse.h"

#include "base/diag.h"
#include "base/opt.h"

#include <math.h>

enum { PLACES = 3 };

/* The first places of what was counted, each once. */
struct places {
	struct intern text;
	uint32_t times[PLACES];
	uint64_t n, shown;
	struct buf tmp;
};

static void put_place(struct places *p)
{
	struct slice text = buf_slice(&p->tmp);
	uint32_t k = intern_find(&p->text, text);
	p->n++;
	if (k == INTERN_NONE && p->text.n < PLACES) {
		k = intern_add(&p->text, text);
		p->times[k] = 0;
	}
	if (k != INTERN_NONE) {
		p->times[k]++;
		p->shown++;
	}
}

/* A place in the program, or the compile id where it is not known. */
static void name_place(struct places *p, const struct trace *t, const struct trace_loc *loc, uint32_t compile)
{
	struct buf *b = &p->tmp;
	char text[COMPILE_ID_TEXT];
	buf_reset(b);
	if (loc->file == INTERN_NONE && compile < t->n_compile)
		loc = &t->compile[compile].loc;
	if (loc->file == INTERN_NONE) {
		if (compile < t->n_compile)
			buf_addf(b, "compile id %s", compile_id_text(&t->compile[compile].id, text));
		else
			buf_adds(b, t->path);
		return;
	}
	buf_add_slice(b, intern_get(&t->names, loc->file));
	buf_addf(b, ":%u", loc->line);
	if (loc->function != INTERN_NONE) {
		buf_adds(b, " in ");
		buf_add_slice(b, intern_get(&t->names, loc->function));
	}
}

static void add_place(struct places *p, const struct trace *t, const struct trace_loc *loc, uint32_t compile)
{
	name_place(p, t, loc, compile);
	put_place(p);
}

static void at_breaks(struct places *p, const struct trace *t)
{
	for (uint32_t i = 0; i < t->n_brk; i++)
		add_place(p, t, &t->brk[i].loc, t->brk[i].compile);
}

static void at_recompiles(struct places *p, const struct trace *t)
{
	for (uint32_t i = 0; i < t->n_recompile; i++)
		add_place(p, t, &t->recompile[i].loc, t->recompile[i].compile);
}

static void at_failures_of(struct places *p, const struct trace *t, bool restarts)
{
	for (uint32_t i = 0; i < t->n_failure; i++)
		if ((t->failure[i].type == INTERN_NONE) == restarts)
			add_place(p, t, &t->failure[i].loc, t->failure[i].compile);
}
static void at_failures(struct places *p, const struct trace *t) { at_failures_of(p, t, false); }
static void at_restarts(struct places *p, const struct trace *t) { at_failures_of(p, t, true); }

/* Compilations that came to an end; an attempt that was restarted has no place of its own. */
static void at_compiles(struct places *p, const struct trace *t)
{
	for (uint32_t i = 0; i < t->n_compile; i++)
		if (t->compile[i].id.frame >= 0 && t->compile[i].loc.file != INTERN_NONE)
			add_place(p, t, &t->compile[i].loc, i);
}

/* The slowest first. */
static void at_slow(struct places *p, const struct trace *t)
{
	double below = INFINITY;
	for (unsigned k = 0; k < PLACES; k++) {
		uint32_t best = UINT32_MAX;
		for (uint32_t i = 0; i < t->n_compile; i++)
			if (t->compile[i].seconds > 0 && t->compile[i].seconds < below &&
			    (best == UINT32_MAX || t->compile[i].seconds > t->compile[best].seconds))
				best = i;
		if (best == UINT32_MAX)
			return;
		below = t->compile[best].seconds;
		name_place(p, t, &t->compile[best].loc, best);
		buf_addf(&p->tmp, " (%.1f s)", below);
		put_place(p);
	}
}

static void at_skips(struct places *p, const struct trace *t)
{
	for (uint32_t i = 0; i < t->n_skip; i++)
		add_place(p, t, &t->compile[t->skip[i].compile].loc, t->skip[i].compile);
}

static void at_misses(struct places *p, const struct trace *t)
{
	for (uint32_t i = 0; i < t->n_artifact; i++) {
		const struct trace_artifact *a = &t->artifact[i];
		if (!(a->flags & ART_MISS))
			continue;
		name_place(p, t, &t->compile[a->compile].loc, a->compile);
		buf_adds(&p->tmp, " (");
		buf_add_slice(&p->tmp, intern_get(&t->names, a->name));
		buf_addc(&p->tmp, ')');
		put_place(p);
	}
}

static void at_unknown(struct places *p, const struct trace *t)
{
	for (uint32_t i = 0; i < t->n_unknown; i++) {
		buf_reset(&p->tmp);
		buf_addf(&p->tmp, "line %llu: ", (unsigned long long)t->unknown[i].line);
		buf_add_slice(&p->tmp, intern_get(&t->names, t->unknown[i].key));
		put_place(p);
	}
}

static void at_damage(struct places *p, const struct trace *t)
{
	for (unsigned i = 0; i < DAMAGE_COUNT; i++) {
		if (!t->damage[i].count)
			continue;
		buf_reset(&p->tmp);
		buf_addf(&p->tmp, "line %llu: %s", (unsigned long long)t->damage[i].line, trace_damage_name[i]);
		put_place(p);
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
#define LIMITS(X)                                                                                                      \
	X("graph-breaks", "graph breaks", s->breaks, at_breaks)                                                        \
	X("recompiles", "recompiles", s->recompiles, at_recompiles)                                                    \
	X("restarts", "restarts", s->restarts, at_restarts)                                                            \
	X("failures", "failures", s->failures, at_failures)                                                            \
	X("compile-seconds", "seconds compiling", s->seconds, at_slow)                                                 \
	X("frames", "frames", s->frames, at_compiles)                                                                  \
	X("compiles", "compiles", s->compiles, at_compiles)                                                            \
	X("graphs", "graphs", s->graphs, at_compiles)                                                                  \
	X("artifacts", "artifacts", s->artifacts, NULL)                                                                \
	X("cache-misses", "cache misses", misses(s), at_misses)                                                        \
	X("cudagraph-skips", "CUDA graph skips", s->skips, at_skips)                                                   \
	X("unknown-keys", "records with unknown keys", s->unknown, at_unknown)                                         \
	X("damage", "kinds of damage", s->damaged, at_damage)

static const struct {
	const char *name, *words;
	void (*places)(struct places *p, const struct trace *t);
} limit[] = {
#define X(name, words, count, places) {name, words, places},
	LIMITS(X)
#undef X
};

static double count_of(int k, const struct report_sums *s)
{
	const double v[] = {
#define X(name, words, count, places) (double)(count),
		LIMITS(X)
#undef X
	};
	return v[k];
}

static int find_limit(struct slice name)
{
	for (unsigned i = 0; i < ARRAY_LEN(limit); i++)
		if (slice_is(name, limit[i].name))
			return (int)i;
	return -1;
}

/* "compile-seconds" may have a fraction; counts are whole. */
static bool parse_number(const char *text, bool fraction, double *out)
{
	char *end;
	uint64_t n;
	if (!fraction) {
		bool ok = slice_u64(slice_str(text), &n);
		*out = (double)n;
		return ok;
	}
	if (*text < '0' || *text > '9')
		return false;
	*out = strtod(text, &end);
	return !*end && isfinite(*out);
}

void limits_check(const struct opt_pairs *max)
{
	for (size_t i = 0; i < max->n; i++) {
		int k = find_limit(max->v[i].name);
		double want;
		if (k < 0) {
			struct buf b = {0};
			for (unsigned n = 0; n < ARRAY_LEN(limit); n++)
				buf_addf(&b, "%s%s", n ? ", " : "", limit[n].name);
			die(EXIT_USAGE, "--max: unknown name '%.*s'; known are %s", (int)max->v[i].name.n, max->v[i].name.p, buf_str(&b));
		}
		if (!parse_number(max->v[i].value, !strcmp(limit[k].name, "compile-seconds"), &want))
			die(EXIT_USAGE, "--max %s: not a number: '%s'", limit[k].name, max->v[i].value);
	}
}

bool limits_exceeded(const struct opt_pairs *max, const struct report *r)
{
	struct report_sums s = {0};
	bool over = false;
	for (unsigned i = 0; max->n && i < r->n; i++)
		report_add(&r->log[i], &s);
	for (size_t i = 0; i < max->n; i++) {
		int k = find_limit(max->v[i].name);
		double want = 0, got = count_of(k, &s);
		bool seconds = !strcmp(limit[k].name, "compile-seconds");
		parse_number(max->v[i].value, seconds, &want);
		if (got <= want)
			continue;
		over = true;
		struct places p = {0};
		struct buf text = {0};
		for (unsigned n = 0; limit[k].places && n < r->n; n++)
			limit[k].places(&p, &r->log[n]);
		for (uint32_t n = 0; n < p.text.n; n++) {
			buf_adds(&text, n ? ", " : ": ");
			buf_add_slice(&text, intern_get(&p.text, n));
			if (p.times[n] > 1)
				buf_addf(&text, " (%u times)", p.times[n]);
		}
		if (p.n > p.shown && !seconds)
			buf_addf(&text, " and %llu more", (unsigned long long)(p.n - p.shown));
		warn("%s: %.*f, at most %s wanted%s", limit[k].words, seconds ? 1 : 0, got, max->v[i].value, buf_str(&text));
		buf_release(&text);
		buf_release(&p.tmp);
		intern_release(&p.text);
	}
	return over;
}
