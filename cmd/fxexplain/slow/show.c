/* show.c - prints `fxexplain slow`. */
#include "explain/explain.h"
#include "slow/slow.h"

#include "base/text.h"

enum { ROWS_SHOWN = 6, REMEDIES_SHOWN = 5, BAR = 20, CLIP = 60 };

static uint32_t shown(const struct explain_options *o, uint32_t n) { return o->all || n < ROWS_SHOWN ? n : ROWS_SHOWN; }

static void and_more(struct screen *out, uint32_t n, uint32_t had)
{
	if (n > had)
		buf_addf(&out->b, "  and %u more (--all)\n", n - had);
}

static double percent(const struct slow *s, double seconds) { return s->seconds > 0 ? seconds / s->seconds * 100 : 0; }

static void put_cell(struct buf *b, struct slice text, size_t most)
{
	LOCAL_BUF flat = {0};
	put_flat(&flat, text, most);
	buf_add_slice(b, buf_slice(&flat));
}

/* ---- phases, and what the compilers did ---- */

static void head(struct screen *out, const struct slow *s)
{
	const struct facts *f = s->x->facts;
	LOCAL_BUF b = {0};
	buf_adds(&b, "Compile time  ");
	put_seconds(&b, s->seconds);
	put_bold(out, buf_str(&b));
	buf_reset(&b);
	buf_adds(&b, "  in ");
	put_count(&b, f->n_compile, "compilation");
	if (s->backward > 0) {
		buf_adds(&b, ", of it backward ");
		put_seconds(&b, s->backward);
	}
	if (s->recompiles > 0) {
		buf_adds(&b, ", recompiles ");
		put_seconds(&b, s->recompiles);
	}
	if (s->restarts > 0.001) {
		buf_adds(&b, ", restarts ");
		put_seconds(&b, s->restarts);
	}
	buf_addf(&out->b, "%s\n", buf_str(&b));
}

static void phases(struct screen *out, const struct slow *s)
{
	const struct explanation *x = s->x;
	const struct time_view *v = x->n_time && x->time[0].compile == NONE ? &x->time[0] : NULL;
	for (uint32_t i = 0; v && i < v->n; i++) {
		const struct time_part *p = &x->part[v->first + i];
		LOCAL_BUF b = {0};
		if (p->seconds < 0.005 * s->seconds)
			continue;
		buf_addf(&out->b, "  %-24.*s ", SL(p->name));
		put_bar(out, s->seconds > 0 ? p->seconds / s->seconds : 0, BAR);
		put_seconds(&b, p->seconds);
		buf_addf(&out->b, " %3.0f %%  %s\n", percent(s, p->seconds), buf_str(&b));
	}
}

static void builds(struct screen *out, const struct slow *s)
{
	const struct slow_builds *w = &s->build;
	LOCAL_BUF b = {0};
	if (!w->n)
		return;
	buf_adds(&b, "  The C++ compiler ran ");
	put_count(&b, w->n, "time");
	if (w->kernels) {
		buf_adds(&b, ": ");
		put_count(&b, w->kernels, "kernel");
		buf_adds(&b, " in ");
		put_seconds(&b, w->wall);
		if (w->most > 1) {
			buf_addf(&b, ", up to %u at once (", w->most);
			put_seconds(&b, w->kernel);
			buf_adds(&b, " in all)");
		}
	}
	if (w->elsewhere) {
		buf_adds(&b, "; ");
		put_count(&b, w->elsewhere, w->kernels ? "more kernel" : "kernel");
		buf_addf(&b, " %s there, or built by another process with this cache", w->elsewhere == 1 ? "was" : "were");
	}
	if (w->header > 0) {
		buf_adds(&b, "; the precompiled header ");
		put_seconds(&b, w->header);
	}
	if (w->package > 0) {
		buf_adds(&b, "; AOTInductor's library ");
		put_seconds(&b, w->package);
	}
	if (w->preprocess > 0) {
		buf_adds(&b, "; whether it is still the right one ");
		put_seconds(&b, w->preprocess);
	}
	if (w->probe > 0) {
		buf_adds(&b, "; which vector instructions work here ");
		put_seconds(&b, w->probe);
	}
	if (w->threads > 0)
		buf_addf(&b, "; compile_threads is %lld", (long long)w->threads);
	const size_t from = out->b.len;
	buf_addf(&out->b, "%s\n", buf_str(&b));
	put_wraps(out, from, 4);
}

/* ---- tables ---- */

static void frames(struct screen *out, const struct slow *s, const struct explain_options *o)
{
	const struct explanation *x = s->x;
	LOCAL_BUF t = {0};
	uint32_t n = 0, had = 0;
	buf_adds(&t, "  frame\tseconds\tnodes\twhere\n");
	for (uint32_t i = 0; i < x->n_time; i++) {
		const struct time_view *v = &x->time[i];
		if (v->compile == NONE || (n++ >= ROWS_SHOWN && !o->all))
			continue;
		const struct fact_compile *c = &x->facts->compile[v->compile];
		had++;
		buf_addf(&t, "  %.*s\t%.2f\t", SL(facts_label(x->facts, v->compile)), v->seconds);
		if (c->nodes >= 0)
			buf_addf(&t, "%lld", (long long)c->nodes);
		LOCAL_BUF where = {0};
		explain_add_place(&where, x, &c->loc);
		buf_addc(&t, '\t');
		put_cell(&t, buf_slice(&where), 2 * CLIP);
		buf_addc(&t, '\n');
	}
	if (!n)
		return;
	put_heading(out, "By frame");
	put_table(out, buf_slice(&t));
	and_more(out, n, had);
}

static void modules(struct screen *out, const struct slow *s, const struct explain_options *o)
{
	LOCAL_BUF t = {0};
	const uint32_t n = shown(o, s->n_module);
	if (s->n_module < 2)
		return;
	put_heading(out, "By module (estimated: its share of the graph, of what grows with the graph)");
	buf_adds(&t, "  module\tseconds\tnodes\tfirst line\n");
	for (uint32_t i = 0; i < n; i++) {
		const struct slow_module *m = &s->module[i];
		buf_adds(&t, "  ");
		put_cell(&t, m->name, CLIP);
		buf_addf(&t, "\t%.2f\t%u\t", m->seconds, m->nodes);
		put_cell(&t, m->where, CLIP);
		buf_addc(&t, '\n');
	}
	put_table(out, buf_slice(&t));
	and_more(out, s->n_module, n);
}

static void kernels(struct screen *out, const struct slow *s, const struct explain_options *o)
{
	LOCAL_BUF t = {0};
	const uint32_t n = shown(o, s->n_kernel);
	bool estimated = false, known = false;
	for (uint32_t i = 0; i < s->n_kernel; i++) {
		estimated |= s->kernel[i].seconds >= 0 && !s->kernel[i].measured;
		known |= s->kernel[i].seconds >= 0;
	}
	if (!n)
		return;
	put_heading(out, estimated ? "By kernel (C++ kernels about: torch does not tell which run was whose)"
			 : known   ? "By kernel"
				   : "By kernel (longest code first: their times are not in this log)");
	buf_adds(&t, "  kernel\tseconds\tlines\tin\twhat it computes\n");
	for (uint32_t i = 0; i < n; i++) {
		const struct slow_kernel *k = &s->kernel[i];
		buf_adds(&t, "  ");
		put_cell(&t, k->name, CLIP);
		buf_addc(&t, '\t');
		if (k->seconds >= 0)
			buf_addf(&t, "%.2f", k->seconds);
		buf_addc(&t, '\t');
		if (k->lines)
			buf_addf(&t, "%u", k->lines);
		buf_addf(&t, "\t%.*s\t", SL(k->compile));
		put_cell(&t, k->where, CLIP);
		buf_addc(&t, '\n');
	}
	put_table(out, buf_slice(&t));
	and_more(out, s->n_kernel, n);
}

static void passes(struct screen *out, const struct slow *s, const struct explain_options *o)
{
	LOCAL_BUF t = {0};
	uint32_t n = shown(o, s->n_pass);
	while (!o->all && n && s->pass[n - 1].seconds < 0.001)
		n--;
	if (!n)
		return;
	put_heading(out, "By pass");
	buf_adds(&t, "  pass\tseconds\tcalls\n");
	for (uint32_t i = 0; i < n; i++) {
		const struct slow_pass *p = &s->pass[i];
		buf_adds(&t, "  ");
		put_cell(&t, p->name, CLIP);
		buf_addf(&t, "\t%.3f\t%llu\n", p->seconds, (unsigned long long)p->calls);
	}
	put_table(out, buf_slice(&t));
	and_more(out, s->n_pass, n);
}

/* ---- what to do ---- */

static void put_steps(struct screen *out, struct slice steps)
{
	for (struct slice line; slice_line(&steps, &line);) {
		const size_t from = out->b.len;
		buf_adds(&out->b, "       ");
		put_text(out, line);
		buf_addc(&out->b, '\n');
		put_wraps(out, from, 9);
	}
}

static void put_remedy(struct screen *out, const struct slow *s, uint32_t i)
{
	const struct slow_remedy *r = &s->remedy[i];
	LOCAL_BUF b = {0};
	size_t from = out->b.len;
	buf_addf(&out->b, "  %2u  ", i + 1);
	put_style_text(out, STYLE_STRONG, r->what);
	buf_addc(&out->b, '\n');
	put_wraps(out, from, 6);
	buf_adds(&b, "saves about ");
	put_seconds(&b, r->saves);
	buf_addf(&b, " (%.0f %%): %.*s", percent(s, r->saves), SL(r->how));
	from = out->b.len;
	buf_adds(&out->b, "      ");
	put_style_text(out, STYLE_FAINT, buf_slice(&b));
	buf_addc(&out->b, '\n');
	put_wraps(out, from, 6);
	put_steps(out, r->steps);
	if (r->next.n) {
		from = out->b.len;
		buf_adds(&out->b, "       why: ");
		put_text(out, r->next);
		buf_addc(&out->b, '\n');
		put_wraps(out, from, 9);
	}
}

static void remedies(struct screen *out, const struct slow *s, const struct explain_options *o)
{
	const uint32_t n = o->all || s->n_remedy < REMEDIES_SHOWN ? s->n_remedy : REMEDIES_SHOWN;
	put_heading(out, "What would help (savings overlap)");
	for (uint32_t i = 0; i < n; i++)
		put_remedy(out, s, i);
	if (!s->n_remedy)
		buf_adds(&out->b, "  Nothing that repeats, misses a cache or waits for one thread was found.\n");
	and_more(out, s->n_remedy, n);
}

void slow_show(struct screen *out, const struct slow *s, const struct explain_options *o)
{
	head(out, s);
	phases(out, s);
	builds(out, s);
	remedies(out, s, o);
	frames(out, s, o);
	modules(out, s, o);
	kernels(out, s, o);
	passes(out, s, o);
	if (s->unread)
		buf_addf(&out->b, "\n%u of %u graphs could not be read: modules and repeated blocks are those of the others.\n", s->unread,
			 s->graphs);
	if (s->n_remedy)
		buf_adds(&out->b, "\nTo have regions and settings tried on the program, by the clock, with equal results:\n"
				  "  fxexplain mend --slow -- python app.py\n");
}
