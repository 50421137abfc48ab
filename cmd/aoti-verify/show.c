/* show.c - the verdict as text. */
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

enum { MOST_SUSPECTS = 8 };

/* "calls 2, 7 and 14", from there on in verify.suspect. */
static void add_numbers(struct buf *b, const struct trial *t, uint32_t from, uint32_t n)
{
	for (uint32_t i = 0; i < n && i < MOST_SUSPECTS; i++)
		buf_addf(b, "%s%u", !i ? "" : i + 1 == n ? " and " : ", ", t->h.observed.call[t->h.verify.suspect[from + i]].d->call);
	if (n > MOST_SUSPECTS)
		buf_addf(b, " and %u more", n - MOST_SUSPECTS);
}

static void narrowed(struct screen *s, const struct trial *t, const struct verify_finding *f)
{
	struct buf b = {0};
	if (f->n_narrowed) {
		buf_adds(&b, "by running: calls ");
		add_numbers(&b, t, f->narrowed, f->n_narrowed);
		buf_adds(&b, " -> ");
		add_numbers(&b, t, f->kept, f->n_kept);
		show_row(s, "narrowed", &b);
	}
	buf_release(&b);
}

static void add_suspects(struct buf *b, const struct trial *t, const struct verify_finding *f)
{
	for (uint32_t i = 0; i < f->n_suspects && i < MOST_SUSPECTS; i++) {
		buf_adds(b, !i ? "" : i + 1 == f->n_suspects ? " and " : ", ");
		add_trial_call(b, t, t->h.verify.suspect[f->suspect + i]);
	}
	if (f->n_suspects > MOST_SUSPECTS)
		buf_addf(b, " and %u more calls", f->n_suspects - MOST_SUSPECTS);
}

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

static struct slice weight_path(const struct trial *t, uint32_t node)
{
	const struct contract *c = &t->h.ref.program->contract;
	const struct slice name = graph_name(t->h.ref.g, t->h.ref.first + node);
	for (uint32_t i = 0; i < c->n_constants; i++)
		if (slice_eq(c->constant[i].name, name))
			return c->constant[i].fqn;
	return name;
}

static void inlined(struct screen *s, const struct verifier *v, const struct trial *t, const struct verify_finding *f)
{
	struct buf b = {0};
	uint32_t node, n = 0;
	for (; n < 5 && (node = finding_inlined(v, t, f, n)) != NONE; n++) {
		if (node != f->node || n)
			buf_adds(&b, n ? ", " : "or ");
		buf_add_slice(&b, weight_path(t, node));
	}
	if (n) {
		buf_addf(&b, ": the code holds %s values: if they have changed since it was compiled, compile it again",
			 n == 1 ? "its" : "their");
		show_row(s, "weight", &b);
	}
	buf_release(&b);
}

static void frozen(struct screen *s, const struct verifier *v, const struct trial *t, const struct verify_finding *f)
{
	struct buf b = {0};
	uint32_t node, n = 0;
	for (; n < 5 && (node = finding_frozen(v, t, f, n)) != NONE; n++) {
		if (n)
			buf_adds(&b, " or ");
		buf_add_slice(&b, weight_path(t, node));
	}
	if (n) {
		buf_adds(&b, ": the code holds its first value (with it the graph gives the same result): pytorch#165444");
		show_row(s, "buffer", &b);
	}
	buf_release(&b);
}

static void finding(struct screen *s, const struct verifier *v, const struct trial *t, const struct verify_finding *f)
{
	const struct slice line = held_line(&t->h, f->node);
	struct buf b = {0};
	if (f->given)
		buf_adds(&b, "wrong arguments: ");
	add_trial_call(&b, t, f->call);
	buf_adds(&b, f->given        ? " was not given "
		     : f->less_exact ? " is less exact than eager: "
		     : f->ends       ? (f->got ? " goes on after the loop's last turn: " : " ends the loop before its last turn: ")
				     : " does not compute ");
	add_node(&b, t, f->node);
	clean_lines(b.p, b.len);
	f->less_exact ? put_bold(s, buf_str(&b)) : put_error(s, buf_str(&b));
	buf_addc(&s->b, '\n');
	buf_reset(&b);
	if (line.n) {
		buf_add_slice(&b, line);
		show_row(s, "line", &b);
	}
	if (f->write != NONE) {
		buf_addf(&b, "%.*s: ", SLN(t->h.observed.write[f->write].v->buffer, 100));
		verify_add_count(&b, f);
		buf_adds(&b, "; at ");
		held_add_place(&b, &t->h, f->node, f->at);
		show_exact(&b, " got ", f->got);
		show_exact(&b, ", expected ", f->want);
		show_row(s, "values", &b);
		read_values(s, t, f);
	}
	inlined(s, v, t, f);
	frozen(s, v, t, f);
	if (f->subtle) {
		buf_addf(&b, "%.3g ulp off the float64 result for the same inputs; eager is %.3g off", f->compiled_ulp, f->eager_ulp);
		show_row(s, "error", &b);
	} else if (f->right) {
		buf_addf(&b, "treating %.*s as %.*s's output makes %u more tensor%s match",
			 SLN(f->write == NONE ? SLICE("it") : t->h.observed.write[f->write].v->buffer, 100),
			 SL(graph_name(t->h.ref.g, t->h.ref.first + f->node)), f->right, f->right == 1 ? "" : "s");
		show_row(s, "evidence", &b);
	}
	if (f->others != NONE) {
		buf_adds(&b, "or a kernel from ");
		add_trial_call(&b, t, f->others);
		buf_adds(&b, " on: the values between them are not in the graph");
		show_row(s, "which", &b);
	}
	if (f->n_suspects) {
		buf_adds(&b, "or ");
		add_suspects(&b, t, f);
		buf_adds(&b, f->n_suspects == 1 ? ": what it wrote is not in the graph" : ": what they wrote is not in the graph");
		show_row(s, "which", &b);
	}
	narrowed(s, t, f);
	buf_release(&b);
}

/* ---- outputs ---- */

static void output_finding(struct screen *s, const struct trial *t, const struct verify_output *x)
{
	const struct slice line = x->node == NONE ? SLICE("") : held_line(&t->h, x->node);
	struct buf b = {0};
	char room[32];
	buf_addf(&b, "%.*s differs from the graph%s", SLN(output_name(t, x, room), 200), x->node == NONE ? "" : ": ");
	if (x->node != NONE)
		add_node(&b, t, x->node);
	clean_lines(b.p, b.len);
	put_error(s, buf_str(&b));
	buf_addc(&s->b, '\n');
	buf_reset(&b);
	if (line.n) {
		buf_add_slice(&b, line);
		show_row(s, "line", &b);
	}
	if (x->at.at >= 0) {
		verify_add_count(&b, &x->at);
		if (output_has_place(t, x)) {
			buf_adds(&b, "; at ");
			held_add_place(&b, &t->h, x->node, x->at.at);
		}
		show_exact(&b, " got ", x->at.got);
		show_exact(&b, ", expected ", x->at.want);
	} else {
		buf_adds(&b, "another size or type than in the graph");
	}
	show_row(s, "values", &b);
	if (x->at.n_suspects) {
		buf_adds(&b, x->at.n_suspects == 1 ? "" : "one of ");
		add_suspects(&b, t, &x->at);
	} else {
		buf_adds(&b, "not known which kernel");
	}
	show_row(s, "which", &b);
	narrowed(s, t, &x->at);
	buf_release(&b);
}

/* Those that differ because of the kernels above: their names. */
static void explained_outputs(struct screen *s, const struct trial *t)
{
	struct buf b = {0};
	char room[32];
	uint32_t n = 0;
	for (uint32_t i = 0; i < t->h.verify.n_outputs; i++) {
		const struct verify_output *x = &t->h.verify.output[i];
		if (x->what == VERIFY_DIFFERS && x->explained && n++ < 10)
			buf_addf(&b, "%s%.*s", n > 1 ? ", " : "", SLN(output_name(t, x, room), 100));
	}
	if (n > 10)
		buf_addf(&b, " and %u more", n - 10);
	if (n) {
		buf_adds(&b, n == 1 ? " differs because of that" : " differ because of that");
		show_row(s, "outputs", &b);
	}
	buf_release(&b);
}

/* ---- calls ---- */

static const char *const words[] = {
    [VERIFY_EQUAL] = "equal", [VERIFY_ROUNDING] = "rounding", [VERIFY_EFFECT] = "indirect",
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

static void open_calls(struct screen *s, const struct verifier *v, const struct trial *t)
{
	struct buf b = {0};
	for (uint32_t c = 0; c < t->h.observed.n_calls; c++) {
		if (t->h.verify.row[c].what != VERIFY_OPEN)
			continue;
		add_trial_call(&b, t, c);
		buf_addf(&b, ": %s", t->h.verify.row[c].why ? t->h.verify.row[c].why : "");
		show_row(s, "open", &b);
	}
	for (uint32_t i = 0, n = 0; i < t->h.verify.n_outputs && n < 5; i++) {
		const struct verify_output *x = &t->h.verify.output[i];
		char room[32];
		if (x->what != VERIFY_UNKNOWN)
			continue;
		n++;
		buf_addf(&b, "%.*s: %s", SLN(output_name(t, x, room), 200), x->why);
		show_row(s, "open", &b);
	}
	const struct reference *ref = &t->h.ref;
	for (uint32_t i = 0, n = 0; ref->adopted && i < ref->n && n < 5; i++) {
		if (!ref->adopted[i])
			continue;
		n++;
		buf_add_slice(&b, graph_name(ref->g, ref->first + i));
		buf_addf(&b, ": %.*s: its recorded value was taken", SLN(graph_op_text(ref->g, ref->first + i), 200));
		show_row(s, "graph", &b);
	}
	struct slice rest = buf_slice(&ref->unknown), line;
	const char *op;
	for (size_t i = 0; (op = custom_ops_used(v->o->custom, i)) && i < 5; i++) {
		buf_addf(&b, "%s: computed by %s", op, v->o->ops.file);
		show_row(s, "graph", &b);
	}
	for (int i = 0; i < 5 && slice_line(&rest, &line); i++) {
		buf_add_slice(&b, line);
		show_row(s, "graph", &b);
	}
	buf_release(&b);
}

/* ---- kernels, over all calls that count ---- */

struct kernel {
	struct slice name;
	bool wrong, open;
};
struct kernels {
	uint32_t n, wrong, open, memory; /* memory: those with memory errors, which are neither wrong nor open here */
};

static int by_name(const void *a, const void *b)
{
	const struct kernel *x = a, *y = b;
	const int d = memcmp(x->name.p, y->name.p, x->name.n < y->name.n ? x->name.n : y->name.n);
	return d ? d : (x->name.n > y->name.n) - (x->name.n < y->name.n);
}

static bool has_memory_errors(const struct verifier *v, struct slice kernel)
{
	for (size_t i = 0; v->guarded && i < v->guard.n; i++)
		if (guard_counts(&v->guard.v[i]) && slice_eq(v->guard.v[i].kernel, kernel))
			return true;
	return false;
}

static struct kernels count_kernels(const struct verifier *v)
{
	struct kernels n = {0};
	struct kernel *k = NULL;
	size_t n_k = 0, cap = 0;
	for (uint32_t i = 0; i < v->n_trials; i++)
		for (uint32_t c = 0; trial_counts(v->trial[i]) && c < v->trial[i]->h.observed.n_calls; c++) {
			const enum verify_what what = v->trial[i]->h.verify.row[c].what;
			if (what != VERIFY_OPERATOR)
				PUSH_TO(k, n_k, cap) = (struct kernel){v->trial[i]->h.observed.call[c].d->name, what == VERIFY_WRONG,
								       what == VERIFY_OPEN && !trial_is_alone(v->trial[i])};
		}
	if (n_k)
		qsort(k, n_k, sizeof(*k), by_name);
	for (size_t i = 0; i < n_k;) {
		const bool memory = has_memory_errors(v, k[i].name);
		bool wrong = false, open = false;
		for (const size_t first = i; i < n_k && slice_eq(k[i].name, k[first].name); i++)
			wrong |= k[i].wrong, open |= k[i].open;
		n.n++;
		n.wrong += wrong;
		n.memory += memory && !wrong;
		n.open += open && !wrong && !memory;
	}
	free(k);
	return n;
}

/* The most of one trial; explained ones are counted with their kernels. */
struct most {
	uint32_t differ, open, less_exact;
};

static struct most most_outputs(const struct verifier *v)
{
	struct most m = {0};
	for (uint32_t i = 0; i < v->n_trials; i++) {
		const struct tally n = tally(v->trial[i]);
		if (!trial_counts(v->trial[i]))
			continue;
		m.differ = n.outputs_differ > m.differ ? n.outputs_differ : m.differ;
		m.open = n.outputs_open > m.open ? n.outputs_open : m.open;
		m.less_exact = n.less_exact > m.less_exact ? n.less_exact : m.less_exact;
	}
	return m;
}

static void headline(struct screen *s, const struct verifier *v)
{
	const struct kernels n = count_kernels(v);
	const struct most m = most_outputs(v);
	struct buf b = {0};
	buf_addf(&b, "%s: ", v->pair.package);
	if (n.wrong) {
		buf_addf(&b, "%u of %u kernels wrong", n.wrong, n.n);
	} else if (m.differ) {
		buf_addf(&b, "%u output%s differ%s from the graph", m.differ, m.differ == 1 ? "" : "s", m.differ == 1 ? "s" : "");
	} else if (n.open || m.open) {
		if (n.memory)
			buf_addf(&b, "%u of %u kernels with memory errors, and ", n.memory, n.n);
		else
			buf_adds(&b, "nothing wrong, but ");
		if (n.open)
			buf_addf(&b, "%u of %u kernels", n.open, n.n);
		if (m.open)
			buf_addf(&b, "%s%u output%s", n.open ? " and " : "", m.open, m.open == 1 ? "" : "s");
		buf_adds(&b, " could not be verified");
	} else if (n.memory) {
		buf_addf(&b, "%u of %u kernels with memory errors, nothing else wrong", n.memory, n.n);
	} else {
		buf_addf(&b, "%u kernel%s verified, nothing wrong", n.n, n.n == 1 ? "" : "s");
	}
	if (m.less_exact)
		buf_addf(&b, "; %u result%s less exact than eager", m.less_exact, m.less_exact == 1 ? "" : "s");
	clean_lines(b.p, b.len);
	put_bold(s, buf_str(&b));
	buf_addc(&s->b, '\n');
	buf_release(&b);
}

enum { MOST_PRODUCTS = 4 };

/* Equal texts of int8.c are the same pointer. */
static bool said_before(const struct int8_report *r, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (r->v[k].why == r->v[i].why)
			return true;
	return false;
}

/* "linear (call 1, aoti_torch_cpu_mm_out), linear_1 (...): why", from product i on. */
static void add_products(struct buf *b, const struct held *h, const struct int8_report *r, uint32_t i, uint32_t most)
{
	const char *why = r->v[i].why;
	uint32_t n = 0;
	for (; i < r->n; i++) {
		const struct int8_product *p = &r->v[i];
		if (p->why != why || n++ >= most)
			continue;
		buf_addf(b, "%s%.*s", n > 1 ? ", " : "", SLN(graph_name(h->ref.g, h->ref.first + p->node), 60));
		if (p->call != NONE)
			buf_addf(b, " (call %u, %.*s)", h->observed.call[p->call].d->call, SLN(h->observed.call[p->call].d->name, 60));
	}
	if (n > most)
		buf_addf(b, " and %u more", n - most);
	buf_addf(b, ": %s", why);
}

/* Of a quantized model: how many products ran in int8, and why others did not. */
static void int8_rows(struct screen *s, const struct verifier *v)
{
	struct int8_report r;
	struct buf b = {0};
	int8_report(&r, v);
	const struct held *h = v->n_trials ? &v->trial[0]->h : NULL;
	if (r.n) {
		buf_addf(&b, "%u of %u quantized product%s ran in int8 (matrix products and convolutions)", r.n_int8, r.n,
			 r.n == 1 ? "" : "s");
		if (r.n_others)
			buf_addf(&b, "; %u %s not quantized", r.n_others, r.n_others == 1 ? "is" : "are");
		show_row(s, "int8", &b);
	}
	for (uint32_t i = 0; i < r.n; i++)
		if (!r.v[i].int8 && !said_before(&r, i)) {
			add_products(&b, h, &r, i, v->o->all ? UINT32_MAX : MOST_PRODUCTS);
			show_row(s, "not int8", &b);
		}
	if (r.no_vnni) {
		buf_adds(&b, "this processor has no VNNI: oneDNN adds pairs of 8-bit products in 16 bits there, which can saturate");
		show_row(s, "int8", &b);
	}
	buf_release(&b);
	int8_release(&r);
}

/* A row for each trial. */
static void trials(struct screen *s, const struct verifier *v)
{
	struct buf b = {0};
	buf_adds(&b, "calls with\tequal\trounding\tindirect\twrong\topen\tworst\teager\toperators\n");
	for (uint32_t i = 0; i < v->n_trials; i++) {
		const struct trial *t = v->trial[i];
		const struct tally n = tally(t);
		if (trial_is_alone(t) && !(n.equal + n.rounding + n.effect + n.wrong)) /* there was no time for any */
			continue;
		buf_addf(&b, "%s%s\t%u\t%u\t%u\t%u\t%u\t", input_text[t->kind], t->run && !trial_is_alone(t) ? ", again" : "", n.equal,
			 n.rounding, n.effect, n.wrong, n.open);
		if (n.rounding)
			buf_addf(&b, "%.2g ulp\t%.2g ulp", n.compiled_ulp, n.eager_ulp);
		else
			buf_addc(&b, '\t');
		buf_addf(&b, "\t%u\n", n.operators);
	}
	put_table(s, buf_slice(&b));
	buf_release(&b);
}

static void reduced_row(struct screen *s, uint32_t n, const char *in, const char *rest)
{
	struct buf b = {0};
	buf_addf(&b, "%u matrix product%s (or convolution%s) in %s: %s", n, n == 1 ? "" : "s", n == 1 ? "" : "s", in, rest);
	if (n)
		show_row(s, "precision", &b);
	buf_release(&b);
}

/* Rows if there are products in less than their type: of the trial with the most. */
static void reduced(struct screen *s, const struct verifier *v)
{
	struct tally most = {0};
	bool known = true;
	for (uint32_t i = 0; i < v->n_trials; i++) {
		const struct tally n = tally(v->trial[i]);
		most.tf32 = n.tf32 > most.tf32 ? n.tf32 : most.tf32;
		most.bf16 = n.bf16 > most.bf16 ? n.bf16 : most.bf16;
		most.fp16 = n.fp16 > most.fp16 ? n.fp16 : most.fp16;
		known &= !n.tf32 || verify_tf32_known(&v->trial[i]->h.observed);
	}
	reduced_row(s, most.tf32, "TF32",
		    known ? "right to 10 bits, which is all that TF32 keeps"
			  : "right to 10 bits, which is all that TF32 keeps. That it was on is not recorded");
	reduced_row(s, most.bf16, "bfloat16", "right to 8 bits, as float32_matmul_precision 'medium' allows");
	reduced_row(s, most.fp16, "float16", "sums in float16, as allow_fp16_accumulation allows");
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
		    "%u of %u weights differ between package and graph: kernels were checked against the graph with the package's weights",
		    v->pair.n_differing, v->pair.n_weights);
		show_row(s, "weights", &b);
	}
	buf_release(&b);
}

/* The first trial with findings, among those that count or among the others. */
static const struct trial *first_found(const struct verifier *v, bool counts)
{
	for (uint32_t i = 0; i < v->n_trials; i++)
		if (trial_counts(v->trial[i]) == counts && trial_found(v->trial[i]))
			return v->trial[i];
	for (uint32_t i = 0; i < v->n_trials; i++) /* less exact */
		if (trial_counts(v->trial[i]) == counts && v->trial[i]->h.verify.n_findings)
			return v->trial[i];
	return NULL;
}

/* The same kernel at the same line of Python, in another iteration of a loop. */
static bool same_finding(const struct trial *t, uint32_t f, uint32_t g)
{
	const struct verify_finding *x = &t->h.verify.finding[f], *y = &t->h.verify.finding[g];
	return x->call != y->call && x->less_exact == y->less_exact &&
	       slice_eq(t->h.observed.call[x->call].d->name, t->h.observed.call[y->call].d->name) &&
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

static void findings(struct screen *s, const struct verifier *v, const struct trial *t)
{
	if (!t)
		return;
	buf_addc(&s->b, '\n');
	if (!trial_counts(t))
		buf_addf(&s->b, "only with generated inputs (%s):\n", input_text[t->kind]);
	else if (trial_is_alone(t))
		buf_addf(&s->b, "called %s, instead of what the model computed:\n", input_text[t->kind]);
	else if (t->kind > INPUTS_MADE)
		buf_addf(&s->b, "with generated inputs (%s%s):\n", input_text[t->kind], t->run ? ", called again" : "");
	else if (t->run)
		buf_adds(&s->b, "when called again:\n");
	for (int less_exact = 0; less_exact < 2; less_exact++) {
		for (uint32_t f = 0; f < t->h.verify.n_findings; f++)
			if (t->h.verify.finding[f].less_exact == less_exact && !is_again(t, f)) {
				finding(s, v, t, &t->h.verify.finding[f]);
				again(s, t, f);
			}
		if (less_exact)
			break;
		explained_outputs(s, t);
		for (uint32_t i = 0; i < t->h.verify.n_outputs; i++)
			if (t->h.verify.output[i].what == VERIFY_DIFFERS && !t->h.verify.output[i].explained)
				output_finding(s, t, &t->h.verify.output[i]);
	}
}

/* Whose operators ran beside the kernels, if not torch's. */
static void operators(struct screen *s, const struct verifier *v)
{
	enum { MOST = 5 };
	static const char *const before[] = {"aoti_torch_", "cpu_"};
	const struct observed *o = &v->trial[0]->h.observed;
	struct slice name[MOST];
	struct buf b = {0};
	uint32_t n = 0;
	for (uint32_t c = 0; !v->pair.is_dump && !v->o->how.torch && c < o->n_calls; c++) {
		struct slice op = o->call[c].d->name;
		bool again = o->call[c].compiled;
		for (size_t i = 0; i < ARRAY_LEN(before); i++)
			op = slice_starts(op, before[i]) ? slice_of(op.p + strlen(before[i]), op.n - strlen(before[i])) : op;
		op = slice_ends(op, "_out") ? slice_of(op.p, op.n - 4) : op;
		for (uint32_t i = 0; i < n && i < MOST; i++)
			again |= slice_eq(name[i], op);
		if (!again && n++ < MOST)
			name[n - 1] = op;
	}
	for (uint32_t i = 0; i < n && i < MOST; i++)
		buf_addf(&b, "%s%.*s", i ? ", " : "", SLN(name[i], 60));
	if (n) {
		buf_addf(&b, "%s: pt2-run's own operators; --torch takes torch's", n > MOST ? " and others" : "");
		show_row(s, "operators", &b);
	}
	buf_release(&b);
}

static uint32_t tried_alone(const struct trial *t)
{
	uint32_t n = 0;
	for (uint32_t c = 0; c < t->h.observed.n_calls; c++)
		n += t->h.verify.row[c].what != VERIFY_OPEN;
	return n;
}

/* How many kernels were called alone, if not all: with any numbers, and with all of them. */
static void alone(struct screen *s, const struct verifier *v)
{
	struct buf b = {0};
	uint32_t any = 0, all = NONE;
	for (uint32_t i = 0; i < v->n_trials; i++) {
		const uint32_t n = trial_is_alone(v->trial[i]) ? tried_alone(v->trial[i]) : NONE;
		any = n != NONE && n > any ? n : any;
		all = n < all ? n : all;
	}
	if (v->has_alone && v->n_trials && (any < v->alone.n_kernels || all < any)) {
		buf_addf(&b, "%u of %u kernels were called alone", any, v->alone.n_kernels);
		if (all < any)
			buf_addf(&b, ", %u of them with all kinds of numbers", all);
		if (v->alone_cut || v->alone.n_too_large)
			buf_adds(&b, ", within 2 seconds and 32 MB; --kernels-alone tries all");
		show_row(s, "alone", &b);
	}
	buf_release(&b);
}

void verifier_show(struct screen *s, const struct verifier *v)
{
	const struct trial *t = first_found(v, true);
	headline(s, v);
	trials(s, v);
	operators(s, v);
	reduced(s, v);
	int8_rows(s, v);
	weights(s, v);
	findings(s, v, t);
	findings(s, v, first_found(v, false));
	alone(s, v);
	const struct trial *whole = t && !trial_is_alone(t) ? t : v->trial[0];
	open_calls(s, v, whole);
	if (v->o->all) {
		buf_addc(&s->b, '\n');
		show_calls(s, whole);
	}
}
