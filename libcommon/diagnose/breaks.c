/* breaks.c - graph breaks by the user's line, what they cost and what to change. */
#include "diagnose/breaks.h"

#include "html/html.h"

/* ---- fixes ---- */

static bool has_number(struct slice list, int gb)
{
	while (list.n) {
		const char *blank = memchr(list.p, ' ', list.n);
		struct slice one = slice_of(list.p, blank ? (size_t)(blank - list.p) : list.n);
		uint64_t number;
		if (gb >= 0 && slice_u64(one, &number) && number == (uint64_t)gb)
			return true;
		list = blank ? slice_of(blank + 1, list.n - one.n - 1) : slice_of(NULL, 0);
	}
	return false;
}

static bool stands_in(struct slice text, struct slice what) { return what.n && memmem(text.p, text.n, what.p, what.n); }

struct entry {
	bool numbers, number, text, without; /* without: what must stand there does not */
	size_t fixes;                        /* where they begin in out */
};

struct slice break_fix_find(struct slice table, int gb, struct slice text, struct buf *out)
{
	struct entry e = {0};
	struct slice line;
	bool more = true;
	buf_reset(out);
	while (more) {
		more = slice_line(&table, &line);
		if (more && line.n && line.p[0] == '#')
			continue;
		if (!more || !line.n) {
			bool fits = e.number || (e.text && (gb < 0 || !e.numbers));
			if (fits && !e.without && out->len)
				return slice_of(out->p, out->len - 1);
			buf_reset(out);
			e = (struct entry){0};
			continue;
		}
		const char *colon = memchr(line.p, ':', line.n);
		struct slice key = slice_of(line.p, colon ? (size_t)(colon - line.p) : 0);
		struct slice value = colon ? slice_trim(slice_of(colon + 1, line.n - key.n - 1)) : line;
		if (slice_is(key, "gb")) {
			e.numbers = true;
			e.number |= has_number(value, gb);
		} else if (slice_is(key, "text")) {
			e.text |= stands_in(text, value);
		} else if (slice_is(key, "with")) {
			e.without |= !stands_in(text, value);
		} else if (slice_is(key, "fix")) {
			buf_add_slice(out, value);
			buf_addc(out, '\n');
		}
	}
	return slice_of(NULL, 0);
}

struct slice break_fix(struct explanation *x, int gb, const struct slice *text, unsigned n)
{
	struct buf all = {0}, out = {0};
	for (unsigned i = 0; i < n; i++) {
		buf_add_slice(&all, text[i]);
		buf_addc(&all, '\n');
	}
	struct slice fix = explain_keep(x, break_fix_find(share_file("breaks/fixes.txt"), gb, buf_slice(&all), &out));
	buf_release(&all);
	buf_release(&out);
	return fix;
}

/* ---- groups ---- */

/* One group: the same line of the program, for the same reason (by number where there is one). */
static bool same_place(const struct facts *f, const struct fact_break *a, const struct fact_break *b)
{
	if (a->loc.file != b->loc.file || a->loc.line != b->loc.line)
		return false;
	if (a->loc.file == INTERN_NONE)
		return a->reason == b->reason && a->context == b->context;
	if (a->inferred || b->inferred)
		return true;
	return a->gb >= 0 && b->gb >= 0 ? a->gb == b->gb : slice_eq(facts_text(f, a->reason), facts_text(f, b->reason));
}

/* The function of a compile id without the resume prefix. */
static uint32_t function_of(const struct fact_compile *c) { return c->resume_of == INTERN_NONE ? c->loc.function : c->resume_of; }

/* A compile id ends at its first break, so that what goes on behind it is the next resume function of the same function that no
 * other break has claimed. Where the break is in the compiled function itself, its line tells. */
static uint32_t rest_line(const struct facts *f, const struct fact_break *b, const bool *claimed)
{
	const struct fact_compile *c = &f->compile[b->compile];
	if (b->loc.function != INTERN_NONE && b->loc.function == function_of(c))
		return b->loc.line;
	for (uint32_t i = b->compile + 1; i < f->n_compile; i++) {
		const struct fact_compile *r = &f->compile[i];
		if (r->src.input == c->src.input && r->resume_of == function_of(c) && r->loc.file == c->loc.file && !claimed[i])
			return r->resume_line;
	}
	return 0;
}

static void claim(struct explanation *x, struct break_group *g, const struct fact_break *b, bool *claimed)
{
	const struct facts *f = x->facts;
	if (b->compile == FACT_NONE)
		return;
	const struct fact_compile *c = &f->compile[b->compile];
	if (c->restarts > 0)
		g->seconds = (g->seconds < 0 ? 0 : g->seconds) + c->restarts;
	g->eager += b->kind == BREAK_SKIPPED;
	uint32_t line = b->inferred ? b->loc.line : rest_line(f, b, claimed);
	for (uint32_t i = 0; line && i < f->n_compile; i++) {
		const struct fact_compile *r = &f->compile[i];
		if (claimed[i] || r->src.input != c->src.input || r->resume_of != function_of(c) || r->resume_line != line ||
		    r->loc.file != c->loc.file)
			continue;
		claimed[i] = true;
		g->graphs += r->ops > 0;
		g->ops_after += r->ops > 0 ? r->ops : 0;
		if (r->seconds >= 0)
			g->seconds = (g->seconds < 0 ? 0 : g->seconds) + r->seconds;
	}
}

static struct slice group_cost(struct explanation *x, const struct break_group *g)
{
	struct buf b = {0};
	if (g->graphs)
		buf_addf(&b, "%u more graph%s (%lld op%s)", g->graphs, g->graphs == 1 ? "" : "s", (long long)g->ops_after,
			 g->ops_after == 1 ? "" : "s");
	if (g->eager)
		buf_addf(&b, "%sthe whole function runs in Python", b.len ? ", " : "");
	else
		buf_addf(&b, "%sthis line runs in Python at every call", b.len ? ", " : "");
	if (g->seconds >= 0)
		buf_addf(&b, ", %.2f s of compiling", g->seconds);
	struct slice s = explain_keep(x, buf_slice(&b));
	buf_release(&b);
	return s;
}

static struct slice group_compiles(struct explanation *x, const uint32_t *group, uint32_t k)
{
	const struct facts *f = x->facts;
	struct buf b = {0};
	unsigned n = 0;
	for (uint32_t i = 0; i < f->n_brk && n < 12; i++)
		if (group[i] == k && f->brk[i].compile != FACT_NONE) {
			buf_addf(&b, "%s", n++ ? " " : "");
			buf_add_slice(&b, facts_text(f, f->compile[f->brk[i].compile].id));
		}
	struct slice s = explain_keep(x, buf_slice(&b));
	buf_release(&b);
	return s;
}

/* Reason and explanation of older torch may be one text of several lines: the title is one line. */
static struct slice first_line(struct slice s)
{
	const char *end = s.n ? memchr(s.p, '\n', s.n) : NULL;
	return end ? slice_of(s.p, (size_t)(end - s.p)) : s;
}

static void describe(struct explanation *x, struct break_group *g, struct slice compiles)
{
	const struct facts *f = x->facts;
	const struct fact_break *b = &f->brk[g->first];
	struct finding *r = explain_finding(x, FINDING_BREAK, FINDING_WARNING);
	g->finding = x->n_finding - 1;
	r->loc = g->loc;
	r->src = b->src;
	r->count = g->count + g->inferred;
	r->seconds = g->seconds;
	r->compiles = compiles;
	r->id = g->gb >= 0 ? explain_textf(x, "GB%04d", g->gb) : SLICE("graph-break");
	r->title = first_line(explain_text(x, b->reason));
	if (!r->title.n)
		r->title = SLICE("graph break (the log has no reason; older torch writes none for a branch on data)");
	r->why = explain_text(x, b->explanation);
	r->url = explain_text(x, b->url);
	r->cost = group_cost(x, g);
	r->evidence = explain_text(x, b->loc.code);
	/* Not the explanation: it names examples that are not this one. */
	const struct slice text[] = {explain_text(x, b->reason), explain_text(x, b->context), explain_text(x, b->loc.code)};
	struct slice own = break_fix(x, b->gb, text, ARRAY_LEN(text)), hints = explain_text(x, b->hints);
	r->fix = !own.n ? hints : own;
}

void explain_breaks(struct explanation *x)
{
	const struct facts *f = x->facts;
	uint32_t *group = xreallocarray(NULL, f->n_brk + 1, sizeof(*group));
	bool *claimed = xcalloc(f->n_compile + 1, sizeof(*claimed));
	struct intern places = {0};
	uint32_t *head = xreallocarray(NULL, f->n_brk + 1, sizeof(*head));   /* newest group of a place */
	uint32_t *before = xreallocarray(NULL, f->n_brk + 1, sizeof(*before)); /* the one before it, by group */
	for (uint32_t i = 0; i < f->n_brk; i++) {
		const struct fact_break *b = &f->brk[i];
		uint32_t key[2] = {b->loc.file, b->loc.line}, n = places.n;
		uint32_t place = intern_add(&places, slice_of((char *)key, sizeof(key)));
		if (place == n)
			head[place] = FACT_NONE;
		uint32_t k = head[place];
		while (k != FACT_NONE && !same_place(f, &f->brk[x->group[k].first], b))
			k = before[k];
		if (k == FACT_NONE) {
			k = x->n_group;
			before[k] = head[place];
			head[place] = k;
			GROW(x->group, x->n_group, x->cap_group, 1);
			x->group[x->n_group++] = (struct break_group){.first = i, .loc = b->loc, .kind = b->kind, .gb = b->gb, .seconds = -1,
								      .finding = FACT_NONE};
		}
		group[i] = k;
		b->inferred ? x->group[k].inferred++ : x->group[k].count++;
	}
	for (uint32_t i = 0; i < f->n_brk; i++)
		claim(x, &x->group[group[i]], &f->brk[i], claimed);
	for (uint32_t k = 0; k < x->n_group; k++)
		describe(x, &x->group[k], group_compiles(x, group, k));
	intern_release(&places);
	free(head);
	free(before);
	free(group);
	free(claimed);
}
