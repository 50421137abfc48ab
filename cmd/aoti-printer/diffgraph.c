/* diffgraph.c - --diff with a graph: compares its nodes, computed one by one (in their own types: eager; and in float64), with what
 * kernels wrote. */
#include "base/process/child.h"
#include "base/tool/diag.h"
#include "base/tool/tempfolder.h"
#include "diff.h"
#include "aten/verify/pair.h"
#include "watch/show.h"

#include <math.h>

enum nearer { NEARER_ALIKE, NEARER_EAGER, NEARER_COMPILED };
struct node_row {
	uint32_t node, write; /* write: NONE: no kernel wrote it, it is internal to one */
	bool known;           /* the errors are known */
	bool differs;
	double eager, compiled; /* maximum errors relative to float64, in ulp of the node's largest number; for integers absolute */
	enum nearer nearer;
	struct verify_finding at; /* .n, .wrong, .at; .got: compiled, .want: eager */
	double exact;             /* at that place, in float64 */
};
struct node_diff {
	struct pair pair;
	struct held held;
	struct dump dump;
	struct reference own, *ref; /* own: if kernels were wrong, held.ref continues from their results */
	struct node_row *row;
	uint32_t n, cap, first, n_differing, nearer[3];
	double rtol, atol; /* negative: allow what rounding explains */
};

static const char *const nearer_names[] = {"alike", "eager", "compiled"};

/* ---- rows ---- */

static bool found(const struct node_diff *d, uint32_t write)
{
	for (uint32_t i = 0; i < d->held.verify.n_findings; i++)
		if (d->held.verify.finding[i].write == write)
			return true;
	return false;
}

static bool beyond(const struct node_diff *d, struct node_row *r, const double *c, const struct numbers *b, struct numbers *e)
{
	struct layout l;
	if (d->rtol < 0)
		return found(d, r->write) || !numbers_match(b, e, reference_error(d->ref, r->node, e), &l);
	r->at.wrong = 0;
	for (int64_t i = 0; i < e->n; i++)
		r->at.wrong +=
		    !(fabs(c[i] - e->v[i]) <= d->atol + d->rtol * fabs(e->v[i])) && c[i] != e->v[i] && !(isnan(c[i]) && isnan(e->v[i]));
	return r->at.wrong > 0;
}

/* Neither is closer if both have the same error. */
static enum nearer nearer(const struct numbers_errors *e, const struct numbers_errors *c)
{
	if (e->other != c->other)
		return e->other ? NEARER_COMPILED : NEARER_EAGER;
	const double least = fmin(e->max, c->max), most = fmax(e->max, c->max);
	return most <= least * 1.01 ? NEARER_ALIKE : e->max < c->max ? NEARER_EAGER : NEARER_COMPILED;
}

static void measure_row(struct node_diff *d, struct node_row *r, const struct layout *l)
{
	struct numbers *e = reference_numbers(d->ref, r->node), exact;
	const struct numbers *b = r->write == NONE ? NULL : &d->held.observed.write[r->write].x;
	if (!e || reference_double(d->ref, r->node, &exact) < 0)
		return;
	const double eps = e->class == NUMBERS_INT ? 1 / fmax(exact.max, 1) : numbers_eps(e->dtype);
	if (exact.n == e->n && exact.class == e->class) {
		const struct numbers_errors ee = numbers_errors(e->v, &exact, eps);
		r->known = true;
		r->eager = ee.other ? INFINITY : ee.max;
		if (b && b->n == e->n && b->class == e->class) {
			double *c = xcalloc((size_t)b->n * 2 + 1, sizeof(*c));
			numbers_lay(b, e, l, c);
			const struct numbers_errors ce = numbers_errors(c, &exact, eps);
			r->compiled = ce.other ? INFINITY : ce.max;
			r->nearer = nearer(&ee, &ce);
			verify_compare(&r->at, c, e, verify_slack(e, reference_error(d->ref, r->node, e)));
			r->differs = beyond(d, r, c, b, e);
			if (r->at.at >= 0)
				r->exact = exact.v[r->at.at * (exact.class == NUMBERS_COMPLEX ? 2 : 1)];
			d->nearer[r->nearer]++;
			free(c);
		}
	}
	numbers_release(&exact);
}

static void add_node_row(struct node_diff *d, uint32_t node, uint32_t write, const struct layout *l)
{
	struct node_row *r = &PUSH_TO(d->row, d->n, d->cap);
	*r = (struct node_row){.node = node, .write = write};
	measure_row(d, r, l);
	if (r->differs && !d->n_differing++)
		d->first = d->n - 1;
}

static bool is_computed(const struct node_diff *d, uint32_t node)
{
	const uint8_t op = d->ref->g->node[d->ref->first + node].op;
	return op != GRAPH_PLACEHOLDER && op != GRAPH_OUTPUT && op != GRAPH_GET_ATTR && reference_is_tensor(d->ref, node);
}

/* Rows are what kernels wrote, in order; then the nodes internal to kernels. */
static void find_rows(struct node_diff *d, const struct filter *f)
{
	const struct verify *v = &d->held.verify;
	bool *there = xcalloc(d->ref->n + 1, sizeof(*there));
	for (uint32_t w = d->held.observed.n_inputs; w < d->held.observed.n_writes; w++) {
		const struct observed_tensor *x = &d->held.observed.write[w];
		const struct dump_call *c = d->held.observed.call[x->call].d;
		const struct verify_match *m = verify_written_as(v, w);
		for (uint32_t i = 0; i < v->write[w].n; i++)
			there[v->write[w].m[i].node] = true;
		if (m && filter_call(f, c->name, c->run, c->call) && filter_buffer(f, x->v->role, x->v->buffer, SLICE("")))
			add_node_row(d, m->node, w, &m->l);
	}
	for (uint32_t i = 0; i < d->ref->n; i++)
		if (!there[i] && is_computed(d, i))
			add_node_row(d, i, NONE, NULL);
	free(there);
}

/* ---- text ---- */

static void add_ulp(struct buf *b, bool known, double ulp)
{
	buf_addc(b, '\t');
	if (known)
		buf_addf(b, "%.2g", ulp);
}

static void show_rows(struct screen *s, const struct node_diff *d, bool all)
{
	struct buf b = {0};
	buf_addf(&b, "call\tkernel\tnode\teager\tcompiled\tcloser to float64%s\n", d->n_differing ? "\tdiffer" : "");
	for (uint32_t i = 0; i < d->n; i++) {
		const struct node_row *r = &d->row[i];
		if (r->write == NONE && !all)
			continue;
		if (r->write == NONE) {
			buf_adds(&b, "\t(inside a kernel)");
		} else {
			const struct dump_call *c = d->held.observed.call[d->held.observed.write[r->write].call].d;
			buf_addf(&b, "%u\t%.*s", c->call, SLN(c->name, 200));
		}
		buf_addf(&b, "\t%.*s", SLN(graph_name(d->ref->g, d->ref->first + r->node), 100));
		add_ulp(&b, r->known, r->eager);
		add_ulp(&b, r->known && r->write != NONE, r->compiled);
		buf_addf(&b, "\t%s%s", r->known && r->write != NONE ? nearer_names[r->nearer] : "", d->n_differing ? "\t" : "");
		if (r->differs)
			buf_addf(&b, "%llu of %llu", (unsigned long long)r->at.wrong, (unsigned long long)r->at.n);
		buf_addc(&b, '\n');
	}
	put_table(s, buf_slice(&b));
	buf_release(&b);
}

static void show_first(struct screen *s, const struct node_diff *d)
{
	const struct node_row *r = &d->row[d->first];
	const struct observed_tensor *w = &d->held.observed.write[r->write];
	const struct dump_call *c = d->held.observed.call[w->call].d;
	const struct slice name = graph_name(d->ref->g, d->ref->first + r->node), op = graph_op_text(d->ref->g, d->ref->first + r->node),
			   line = held_line(&d->held, r->node);
	struct buf b = {0};
	buf_addf(&b, "First difference: node %.*s (%.*s), call %u: ", SLN(name, 100), SLN(op, 100), c->call);
	add_saved_name(&b, c);
	clean_lines(b.p, b.len);
	size_t from = s->b.len;
	buf_addc(&s->b, '\n');
	put_bold(s, buf_str(&b));
	buf_addc(&s->b, '\n');
	put_wraps(s, from, 9);
	buf_reset(&b);
	if (line.n) {
		buf_addf(&b, "  line   %.*s", SLN(line, 400));
		put_text(s, buf_slice(&b));
		buf_addc(&s->b, '\n');
		buf_reset(&b);
	}
	buf_addf(&b, "  %.*s: ", SLN(w->v->buffer, 100));
	verify_add_count(&b, &r->at);
	buf_adds(&b, "; at ");
	if (r->at.at >= 0)
		held_add_place(&b, &d->held, r->node, r->at.at);
	show_exact(&b, " eager has ", r->at.want);
	show_exact(&b, ", compiled ", r->at.got);
	show_exact(&b, ", float64 ", r->exact);
	from = s->b.len;
	put_text(s, buf_slice(&b));
	buf_addc(&s->b, '\n');
	put_wraps(s, from, 9);
	buf_release(&b);
}

static void show_node_diff(struct screen *s, const struct node_diff *d, bool all)
{
	uint32_t inside = 0;
	struct buf b = {0};
	for (uint32_t i = 0; i < d->n; i++)
		inside += d->row[i].write == NONE;
	buf_addf(&b, "%s vs %s: %u of %u tensors differ; closer to float64: eager %u, compiled %u, alike %u", d->pair.graph,
		 d->pair.package, d->n_differing, d->n - inside, d->nearer[NEARER_EAGER], d->nearer[NEARER_COMPILED],
		 d->nearer[NEARER_ALIKE]);
	clean_lines(b.p, b.len);
	const size_t from = s->b.len;
	put_bold(s, buf_str(&b));
	buf_addc(&s->b, '\n');
	put_wraps(s, from, 2);
	show_rows(s, d, all);
	if (inside && !all)
		buf_addf(&s->b, "%u node%s inside kernels (--all)\n", inside, inside == 1 ? " is" : "s are");
	struct slice rest = buf_slice(&d->ref->unknown), line;
	for (int i = 0; i < 5 && slice_line(&rest, &line); i++) {
		buf_adds(&s->b, "unknown: ");
		put_text(s, line);
		buf_addc(&s->b, '\n');
	}
	buf_release(&b);
	if (d->n_differing)
		show_first(s, d);
}

/* ---- JSON (docs/formats/DUMP.md) ---- */

static void out_row(struct json_out *o, const struct node_diff *d, const struct node_row *r)
{
	json_member_some(o, "node", graph_name(d->ref->g, d->ref->first + r->node));
	json_member_some(o, "target", graph_op_text(d->ref->g, d->ref->first + r->node));
	json_member_some(o, "python", held_line(&d->held, r->node));
	if (r->known)
		json_member_float(o, "eager_ulp", r->eager);
	if (r->write != NONE) {
		const struct observed_tensor *w = &d->held.observed.write[r->write];
		const struct dump_call *c = d->held.observed.call[w->call].d;
		struct buf place = {0};
		json_member_u64(o, "call", c->call);
		json_member_some(o, "kernel", c->name);
		if (c->line)
			json_member_u64(o, "line", c->line);
		json_member_some(o, "source", c->text);
		json_member_some(o, "buffer", w->v->buffer);
		json_member_bool(o, "differs", r->differs);
		if (r->known) {
			json_member_float(o, "compiled_ulp", r->compiled);
			json_member_str(o, "nearer", slice_str(nearer_names[r->nearer]));
			json_member_u64(o, "elements", r->at.n);
			json_member_u64(o, "differ", r->at.wrong);
		}
		if (r->known && r->at.at >= 0) {
			held_add_place(&place, &d->held, r->node, r->at.at);
			json_member_some(o, "worst", buf_slice(&place));
			json_member_float(o, "eager", r->at.want);
			json_member_float(o, "compiled", r->at.got);
			json_member_float(o, "float64", r->exact);
		}
		buf_release(&place);
	}
}

static void node_diff_document(struct json_out *o, const struct node_diff *d)
{
	json_obj(o);
	json_member_str(o, "schema", SLICE("pt2utils.printer.nodes/1"));
	json_member_some(o, "graph", slice_str(d->pair.graph));
	json_member_some(o, "package", slice_str(d->pair.package));
	json_member_bool(o, "different", d->n_differing > 0);
	json_member_obj(o, "nearer");
	for (size_t i = 0; i < ARRAY_LEN(nearer_names); i++)
		json_member_u64(o, nearer_names[i], d->nearer[i]);
	json_close(o);
	json_rows(o, "nodes", i, d->n)
		out_row(o, d, &d->row[i]);
	json_member_lines(o, "unknown", buf_slice(&d->ref->unknown));
	json_close(o);
}

/* ---- the whole comparison ---- */

static int hold(struct node_diff *d, const struct printer_options *o, const char *folder, struct err *err)
{
	uint32_t model_id;
	if (dump_open(&d->dump, folder, err) < 0 || pair_choose(&d->pair, &d->dump, o->how.model, &model_id, err) < 0 ||
	    held_open(&d->held, &d->pair, &d->dump, model_id, 0, NULL, 0, err) < 0)
		return -1;
	d->ref = &d->held.ref;
	if (!d->held.verify.n_findings)
		return 0;
	d->ref = &d->own;
	return reference_open(&d->own, &d->pair.program, d->held.in, d->held.n_in, NULL, 0, err);
}

static void node_diff_release(struct node_diff *d)
{
	free(d->row);
	reference_close(&d->own);
	held_close(&d->held);
	dump_close(&d->dump);
	pair_close(&d->pair);
}

char *diff_run_now(const struct printer_options *o, const struct operands *in, int *status, struct err *err)
{
	struct printer_options how = *o;
	child_signals(CHILD_SIGNALS_FORWARD);
	char *folder = temp_folder(TEMP_PRINTER, err);
	if (!folder)
		return NULL;
	how.format = -1;
	how.inputs = how.constants = true; /* what the first lacks is left out later */
	how.json = false;
	how.quiet = true;
	how.log = NULL;
	how.level = LEVEL_SAVE;
	*status = save_into(&how, in, 0, folder, false, err);
	if (!err->text[0])
		return folder;
	temp_folder_remove(folder);
	return NULL;
}

int diff_graph(struct session *s, const struct operands *in, struct err *err)
{
	const struct printer_options *o = s->o;
	struct node_diff d = {.rtol = o->rtol, .atol = o->atol};
	char *now = NULL;
	int status = EXIT_FINE;
	const char *what = in->v[0];
	struct printer_options whole = *o; /* tensors that are not shown are compared with the graph, too */
	whole.kernels = whole.buffers = (struct opt_list){0};
	whole.calls = whole.runs = whole.step = NULL;
	if (pair_open(&d.pair, o->diff, what, (struct pair_options){.weights = o->how.weights, .model = o->how.model}, err) < 0 ||
	    (!d.pair.is_dump && !(now = diff_run_now(&whole, in, &status, err))) || (!status && hold(&d, o, now ? now : what, err) < 0)) {
		node_diff_release(&d);
		temp_folder_remove(now);
		return -1;
	}
	if (!status) {
		find_rows(&d, &s->filter);
		if (o->json) {
			struct json_out out = {.b = &s->screen.b};
			node_diff_document(&out, &d);
			buf_addc(&s->screen.b, '\n');
		} else if (!o->quiet) {
			show_node_diff(&s->screen, &d, o->all);
		}
		session_flush(s);
		status = d.n_differing ? EXIT_FOUND : EXIT_FINE;
	}
	node_diff_release(&d);
	temp_folder_remove(now);
	return status;
}
