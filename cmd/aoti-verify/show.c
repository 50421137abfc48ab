/* The verdict for people. */
#include "base/text.h"
#include "verifier.h"
#include "watch/show.h"

#include <math.h>

static void add_trial_call(struct buf *b, const struct trial *t, uint32_t call)
{
	const struct dump_call *d = t->h.observed.call[call].d;
	buf_addf(b, "%.*s (call %u", SLN(d->name, 200), d->call);
	if (d->line)
		buf_addf(b, ", %.*s:%u", SLN(d->text.n ? slice_base(d->text) : SLICE("wrapper.cpp"), 200), d->line);
	buf_addc(b, ')');
}

static void add_node(struct buf *b, const struct trial *t, uint32_t node)
{
	const struct slice name = graph_name(t->h.ref.g, t->h.ref.first + node), op = graph_op_text(t->h.ref.g, t->h.ref.first + node);
	buf_addf(b, "%.*s (%.*s)", SLN(name, 100), SLN(op, 100));
}

static void show_row(struct screen *s, const char *what, struct buf *text)
{
	const size_t from = s->b.len;
	buf_addf(&s->b, "  %-9s ", what);
	!strcmp(what, "line") ? put_style_text(s, STYLE_LINE, buf_slice(text)) : put_text(s, buf_slice(text));
	buf_addc(&s->b, '\n');
	put_wraps(s, from, 12);
	buf_reset(text);
}

/* ---- a finding ---- */

static void read_values(struct screen *s, const struct trial *t, const struct verify_finding *f)
{
	const struct observed_call *c = &t->h.observed.call[f->call];
	struct buf b = {0};
	double v;
	for (uint32_t r = c->read; r < c->read + c->n_reads; r++)
		if (read_there(t, f, r, &v)) {
			buf_addf(&b, "%s%.*s", b.len ? ", " : "", SLN(t->h.observed.read[r].v->buffer, 100));
			show_exact(&b, " ", v);
		}
	if (b.len)
		show_row(s, "reads", &b);
	buf_release(&b);
}

static void finding(struct screen *s, const struct trial *t, const struct verify_finding *f)
{
	const struct slice line = held_line(&t->h, f->node);
	struct buf b = {0};
	if (f->given)
		buf_adds(&b, "wrong arguments: ");
	add_trial_call(&b, t, f->call);
	buf_adds(&b, f->given ? " was given something else than " : " does not compute ");
	add_node(&b, t, f->node);
	clean_lines(b.p, b.len);
	put_error(s, buf_str(&b));
	buf_addc(&s->b, '\n');
	buf_reset(&b);
	if (line.n) {
		buf_add_slice(&b, line);
		show_row(s, "line", &b);
	}
	if (f->write != NONE) {
		buf_addf(&b, "%.*s: %llu of %llu elements differ; at ", SLN(t->h.observed.write[f->write].v->buffer, 100),
			 (unsigned long long)f->wrong, (unsigned long long)f->n);
		held_add_place(&b, &t->h, f->node, f->at);
		show_exact(&b, " it is ", f->got);
		show_exact(&b, ", and should be ", f->want);
		show_row(s, "values", &b);
		read_values(s, t, f);
	}
	if (f->subtle) {
		buf_addf(&b, "%.3g ulp from what float64 gives for what it read; eager is %.3g", f->compiled_ulp, f->eager_ulp);
		show_row(s, "error", &b);
	} else if (f->right) {
		buf_addf(&b, "held for %.*s, it makes %u more tensor%s right", SL(graph_name(t->h.ref.g, t->h.ref.first + f->node)),
			 f->right, f->right == 1 ? "" : "s");
		show_row(s, "evidence", &b);
	}
	if (f->others != NONE) {
		buf_adds(&b, "or one of the kernels from ");
		add_trial_call(&b, t, f->others);
		buf_adds(&b, " on: what they hand on is no value of the graph");
		show_row(s, "which", &b);
	}
	buf_release(&b);
}

/* ---- calls ---- */

static const char *const words[] = {
    [VERIFY_EQUAL] = "equal", [VERIFY_ROUNDING] = "rounding", [VERIFY_EFFECT] = "by effect",
    [VERIFY_WRONG] = "WRONG", [VERIFY_OPEN] = "not verified", [VERIFY_OPERATOR] = "operator",
};

static void show_calls(struct screen *s, const struct trial *t)
{
	struct buf b = {0};
	buf_adds(&b, "call\tverdict\tkernel\tnode\tulp\teager\n");
	for (uint32_t c = 0; c < t->h.observed.n_calls; c++) {
		const struct verify_row *r = &t->h.verify.row[c];
		buf_addf(&b, "%u\t%s\t%.*s\t", t->h.observed.call[c].d->call, words[r->what], SLN(t->h.observed.call[c].d->name, 200));
		if (r->node != NONE)
			buf_add_slice(&b, graph_name(t->h.ref.g, t->h.ref.first + r->node));
		if (r->what == VERIFY_ROUNDING)
			buf_addf(&b, "\t%.2g\t%.2g\n", r->compiled_ulp, r->eager_ulp);
		else
			buf_adds(&b, "\t\t\n");
	}
	put_table(s, buf_slice(&b));
	buf_release(&b);
}

static void open_calls(struct screen *s, const struct trial *t)
{
	struct buf b = {0};
	for (uint32_t c = 0; c < t->h.observed.n_calls; c++) {
		if (t->h.verify.row[c].what != VERIFY_OPEN)
			continue;
		add_trial_call(&b, t, c);
		buf_addf(&b, ": %s", t->h.verify.row[c].why ? t->h.verify.row[c].why : "");
		show_row(s, "open", &b);
	}
	struct slice rest = buf_slice(&t->h.ref.unknown), line;
	for (int i = 0; i < 5 && slice_line(&rest, &line); i++) {
		buf_add_slice(&b, line);
		show_row(s, "graph", &b);
	}
	buf_release(&b);
}

static void headline(struct screen *s, const struct verifier *v)
{
	struct tally worst = {0};
	struct buf b = {0};
	for (uint32_t i = 0; i < v->n_trials; i++) {
		const struct tally n = tally(v->trial[i]);
		const bool is_worse = n.wrong ? n.wrong > worst.wrong : !worst.wrong && n.open >= worst.open;
		if (trial_counts(v->trial[i]) && (!i || is_worse))
			worst = n;
	}
	const uint32_t kernels = worst.equal + worst.rounding + worst.effect + worst.wrong + worst.open;
	buf_addf(&b, "%s: ", v->pair.package);
	if (worst.wrong)
		buf_addf(&b, "%u of %u kernels wrong", worst.wrong, kernels);
	else if (worst.open)
		buf_addf(&b, "nothing wrong, but %u of %u kernels could not be verified", worst.open, kernels);
	else
		buf_addf(&b, "%u kernel%s verified, nothing wrong", kernels, kernels == 1 ? "" : "s");
	clean_lines(b.p, b.len);
	put_bold(s, buf_str(&b));
	buf_addc(&s->b, '\n');
	buf_release(&b);
}

/* A row for each trial. */
static void trials(struct screen *s, const struct verifier *v)
{
	struct buf b = {0};
	buf_adds(&b, "inputs\tequal\trounding\tby effect\twrong\topen\tworst\teager\toperators\n");
	for (uint32_t i = 0; i < v->n_trials; i++) {
		const struct trial *t = v->trial[i];
		const struct tally n = tally(t);
		buf_addf(&b, "%s%s\t%u\t%u\t%u\t%u\t%u\t", input_words[t->kind], t->run ? ", again" : "", n.equal, n.rounding, n.effect,
			 n.wrong, n.open);
		if (n.rounding)
			buf_addf(&b, "%.2g ulp\t%.2g ulp", n.compiled_ulp, n.eager_ulp);
		else
			buf_addc(&b, '\t');
		buf_addf(&b, "\t%u\n", n.operators);
	}
	put_table(s, buf_slice(&b));
	buf_release(&b);
}

static void weights(struct screen *s, const struct verifier *v)
{
	struct buf b = {0};
	for (uint32_t i = 0; i < v->pair.n_differing && i < 5; i++) {
		const struct differing *w = &v->pair.weight[i];
		buf_addf(&b, "%.*s: %llu of %llu elements differ, by up to %.3g", SLN(w->fqn, 200), (unsigned long long)w->bad,
			 (unsigned long long)w->n, w->max_abs);
		show_row(s, "weight", &b);
	}
	if (v->pair.n_differing) {
		buf_addf(
		    &b,
		    "%u of %u weights are others in the package than in the graph: kernels were held against the graph with the package's",
		    v->pair.n_differing, v->pair.n_weights);
		show_row(s, "weights", &b);
	}
	buf_release(&b);
}

/* The first trial that shows something, of those that count or of the others. */
static const struct trial *first_found(const struct verifier *v, bool counts)
{
	for (uint32_t i = 0; i < v->n_trials; i++)
		if (trial_counts(v->trial[i]) == counts && v->trial[i]->h.verify.n_findings)
			return v->trial[i];
	return NULL;
}

/* The same kernel at the same line of Python, in another turn of a loop. */
static bool same_finding(const struct trial *t, uint32_t f, uint32_t g)
{
	const struct verify_finding *x = &t->h.verify.finding[f], *y = &t->h.verify.finding[g];
	return x->call != y->call && slice_eq(t->h.observed.call[x->call].d->name, t->h.observed.call[y->call].d->name) &&
	       slice_eq(held_line(&t->h, x->node), held_line(&t->h, y->node)) &&
	       slice_chr(graph_name(t->h.ref.g, t->h.ref.first + x->node), '.') &&
	       slice_chr(graph_name(t->h.ref.g, t->h.ref.first + y->node), '.');
}

static bool is_again(const struct trial *t, uint32_t f)
{
	for (uint32_t g = 0; g < f; g++)
		if (same_finding(t, g, f))
			return true;
	return false;
}

static void again(struct screen *s, const struct trial *t, uint32_t f)
{
	struct buf b = {0};
	for (uint32_t g = f + 1; g < t->h.verify.n_findings; g++)
		if (same_finding(t, f, g))
			buf_addf(&b, "%s%u", b.len ? ", " : "and in calls ", t->h.observed.call[t->h.verify.finding[g].call].d->call);
	if (b.len)
		show_row(s, "again", &b);
	buf_release(&b);
}

static void findings(struct screen *s, const struct trial *t)
{
	if (!t)
		return;
	buf_addc(&s->b, '\n');
	if (!trial_counts(t))
		buf_addf(&s->b, "only with %s, which were made up:\n", input_words[t->kind]);
	else if (t->kind > INPUTS_MADE)
		buf_addf(&s->b, "with inputs that were made up (%s%s):\n", input_words[t->kind], t->run ? ", called again" : "");
	else if (t->run)
		buf_adds(&s->b, "when it is called again:\n");
	for (uint32_t f = 0; f < t->h.verify.n_findings; f++)
		if (!is_again(t, f)) {
			finding(s, t, &t->h.verify.finding[f]);
			again(s, t, f);
		}
}

void verifier_show(struct screen *s, const struct verifier *v)
{
	const struct trial *t = first_found(v, true);
	headline(s, v);
	trials(s, v);
	weights(s, v);
	findings(s, t);
	findings(s, first_found(v, false));
	open_calls(s, t ? t : v->trial[0]);
	if (v->o->all) {
		buf_addc(&s->b, '\n');
		show_calls(s, t ? t : v->trial[0]);
	}
}
