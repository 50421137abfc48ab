/* show.c - findings as text. */
#include "nanassert.h"
#include "base/text.h"
#include "base/tool/diag.h"
#include "watch/show.h"

#include <inttypes.h>
#include <math.h>

enum { SOME_LINES = 4, SOME_NODES = 12, INDENT = 13 /* of continuation lines: a bit more than the text after a label */ };

static const char *what_text(enum nan_what w) { return w == NAN_INF ? "infinity" : w == NAN_RANGE ? "number out of range" : "NaN"; }

static void row(struct screen *s, const char *label) { buf_addf(&s->b, "  %-9s", label); }

static void add_number(struct buf *b, double v)
{
	if (isnan(v))
		buf_adds(b, "nan");
	else if (isinf(v))
		buf_adds(b, v < 0 ? "-inf" : "inf");
	else
		buf_addf(b, "%.6g", v);
}

static void add_value_name(struct buf *b, const struct nan_value *v)
{
	if (v->v.path.n && v->v.buffer.n)
		buf_addf(b, "%.*s (%.*s)", SL(v->v.path), SL(v->v.buffer));
	else if (v->v.path.n || v->v.buffer.n)
		buf_add_slice(b, v->v.path.n ? v->v.path : v->v.buffer);
	else
		buf_addf(b, "argument %u", v->v.arg);
}

static void add_place(struct buf *b, const struct tensor_meta *m, int64_t at)
{
	int64_t index[TENSOR_MAX_DIMS];
	tensor_index(m, at, index);
	buf_addc(b, '[');
	show_numbers(b, index, m->n_dim);
	buf_addc(b, ']');
}

/* "2 NaN and 1 infinite" of "32 elements" */
static void add_counts(struct buf *b, const struct tensor_stats *t)
{
	uint64_t inf = t->pos_inf + t->neg_inf;
	if (t->nan)
		buf_addf(b, "%" PRIu64 " NaN", t->nan);
	if (inf)
		buf_addf(b, "%s%" PRIu64 " %s", t->nan ? " and " : "", inf, t->neg_inf == inf ? "-inf" : "inf");
	if (t->nan || inf)
		buf_addf(b, " of %" PRIu64 " element%s", t->n, plural(t->n));
}

static void add_range(struct buf *b, const struct tensor_stats *t, const char *before)
{
	if (isnan(t->min))
		return;
	buf_addf(b, "%smin ", before);
	add_number(b, t->min);
	buf_adds(b, ", max ");
	add_number(b, t->max);
	buf_adds(b, ", mean ");
	add_number(b, t->mean);
}

static void show_value(struct screen *s, const struct nan_value *v, bool bad)
{
	const struct tensor_stats *t = &v->v.stats;
	const bool some = t->nan || t->pos_inf || t->neg_inf;
	add_value_name(&s->b, v);
	if (v->v.role == CALL_ROLE_CONSTANT)
		buf_adds(&s->b, ", a weight");
	else if (v->is_input)
		buf_adds(&s->b, ", an input of the model");
	buf_addc(&s->b, ' ');
	tensor_spec_print(&v->v.meta, &s->b);
	if (t->known && t->n) {
		buf_adds(&s->b, ": ");
		add_counts(&s->b, t);
		add_range(&s->b, t, some ? "; " : "");
		if (!some && isnan(t->min))
			buf_adds(&s->b, "no NaN, no infinity");
	} else if (t->known) {
		buf_adds(&s->b, ": no elements");
	}
	/* The place of the first bad element, if it was bad before; else the place where the output is bad. */
	bool first = bad && (!v->has_element || (v->v.before && v->has_bad_value)), placed = v->has_element && !first;
	int64_t at = placed ? v->at : first && t->known && v->has_bad_value ? t->first_bad : -1;
	bool there = placed && (!bad || v->v.before);
	if (at >= 0) {
		buf_adds(&s->b, there ? "; there " : "; the first at ");
		if (!there || v->v.meta.n_dim)
			add_place(&s->b, &v->v.meta, at);
		buf_adds(&s->b, !there || v->v.meta.n_dim ? " = " : "= ");
		add_number(&s->b, placed ? v->element : v->bad_value);
	}
	buf_addc(&s->b, '\n');
}

static void show_values(struct screen *s, const struct nan_finding *f)
{
	for (int out = 1; out >= 0; out--) {
		bool first = true;
		for (uint32_t i = 0; i < f->call.n_values; i++) {
			const struct nan_value *v = &f->call.value[i];
			if (out ? !dump_written(&v->v) : !v->v.before)
				continue;
			row(s, !first ? "" : out ? "wrote" : "read");
			first = false;
			show_value(s, v, i == f->bad || i == f->cause);
		}
	}
}

/* By evaluation; false: there is none, and rules may guess. */
static bool show_cause(struct screen *s, const struct nan_finding *f)
{
	const struct nan_cause *c = f->why;
	if (!c)
		return false;
	row(s, "cause");
	if (c->found) {
		buf_addf(&s->b, "%.*s\n", SL(c->text));
		if (c->line.n) {
			row(s, "Python");
			put_style_text(s, STYLE_LINE, c->line);
			buf_addc(&s->b, '\n');
		}
		if (c->other.n) {
			row(s, "");
			put_style_text(s, STYLE_LINE, c->other);
			buf_addc(&s->b, '\n');
		}
		if (c->infinity.n) {
			row(s, "first inf");
			buf_addf(&s->b, "%.*s\n", SL(c->infinity));
		}
	} else if (c->clean) {
		buf_addf(&s->b,
			 "not in the graph: its nodes, run one by one with what the call read, give no %s; aoti-verify compares the two\n",
			 what_text(f->what));
	} else {
		buf_addf(&s->b, "not known: %.*s\n", SL(c->unknown));
	}
	return c->found;
}

static void show_guesses(struct screen *s, const struct nan_finding *f)
{
	struct nan_guess g[NAN_GUESSES];
	size_t n = show_cause(s, f) ? 0 : nan_guess(f, g, NAN_GUESSES);
	if (f->kind == NAN_PRODUCED && f->inf_kernel.n) {
		row(s, f->why && f->why->found ? "before" : "likely");
		buf_addf(&s->b, "the infinities that it read, produced by %.*s (call %u)", SL(f->inf_kernel), f->inf_call);
		if (f->inf_buffer.n)
			buf_addf(&s->b, " in %.*s", SL(f->inf_buffer));
		buf_addc(&s->b, '\n');
	}
	if (f->since.model.n) {
		row(s, "inf since");
		buf_addf(&s->b, "run %u of %.*s: %.*s (call %u)", f->since.run, SL(f->since.model), SL(f->since.kernel), f->since.call);
		if (f->since.buffer.n)
			buf_addf(&s->b, " wrote the first infinity, into %.*s", SL(f->since.buffer));
		buf_addc(&s->b, '\n');
	}
	for (size_t i = 0; i < n; i++) {
		bool first = !i && !(f->kind == NAN_PRODUCED && f->inf_kernel.n);
		row(s, !first ? "or" : f->kind == NAN_PRODUCED ? "perhaps" : "likely");
		buf_addf(&s->b, "%s\n", g[i].text);
	}
}

static void show_scaler(struct screen *s, const struct nan_finding *f)
{
	if (!f->scaled)
		return;
	row(s, "scaler");
	if (!f->skipped)
		buf_adds(&s->b, "GradScaler did not skip this step\n");
	else
		buf_addf(&s->b, "not its own: in %u steps in a row that GradScaler skipped, while its scale fell from %g to %g\n",
			 f->skipped, f->scale_from, f->scale_to);
}

static void show_list(struct screen *s, const char *label, const struct slice *v, uint32_t n)
{
	if (!n)
		return;
	row(s, label);
	for (uint32_t i = 0; i < n && i < SOME_NODES; i++)
		buf_addf(&s->b, "%s%.*s", i ? ", " : "", SL(v[i]));
	buf_adds(&s->b, n > SOME_NODES ? ", ...\n" : "\n");
}

static void show_sources(struct screen *s, const struct nan_finding *f)
{
	const struct dump_call *c = &f->call.c;
	struct slice op[32];
	size_t n = nan_ops_of_name(c->name, op, ARRAY_LEN(op));
	if (f->n_pre || f->n_nodes) {
		show_list(s, "nodes", f->n_pre ? f->pre : f->node, f->n_pre ? f->n_pre : f->n_nodes);
	} else if (c->nodes.n) {
		show_list(s, "nodes", &c->nodes, 1);
	}
	if (c->aten.n)
		show_list(s, "ATen", &c->aten, 1);
	else if (c->kind == DUMP_KERNEL && n)
		show_list(s, "ATen", op, (uint32_t)(n < ARRAY_LEN(op) ? n : ARRAY_LEN(op)));
	const bool evaluated = f->why && f->why->found && f->why->line.n;
	uint32_t from = f->n_lines > SOME_LINES ? f->n_lines - SOME_LINES : 0, shown = 0;
	for (uint32_t i = from; i < f->n_lines; i++) {
		if (evaluated && slice_eq(f->line[i], f->why->line))
			continue;
		row(s, shown++ ? "" : evaluated ? "also of" : "Python");
		put_style_text(s, STYLE_LINE, f->line[i]);
		buf_addc(&s->b, '\n');
	}
}

static void add_where(struct buf *b, const struct nan_finding *f)
{
	const struct dump_call *c = &f->call.c;
	if (c->kind == DUMP_RUN) {
		buf_addf(b, "run %u", c->run);
	} else {
		buf_addf(b, "call %u", c->call);
		if (c->run != CALLS_NO_RUN)
			buf_addf(b, " of run %u", c->run);
		if (f->call.replay)
			buf_addf(b, ", in replay %u of CUDA graph %u", f->call.replay, f->call.graph);
		if (c->line)
			buf_addf(b, ", %sline %u", c->text.n ? "" : "wrapper.cpp ", c->line);
	}
}

/* "NaN at loss.py:19: 0 * -inf" */
static void add_cause_title(struct buf *b, const struct nan_finding *f)
{
	const struct nan_cause *c = f->why;
	buf_adds(b, what_text(f->what));
	if (c->place.n)
		buf_addf(b, " at %.*s", SL(c->place));
	if (c->reason.n)
		buf_addf(b, ": %.*s", SL(c->reason));
	else
		buf_addf(b, ": in %.*s", SL(c->op));
}

static void add_title(struct screen *s, const struct session *x, const struct nan_finding *f)
{
	const struct dump_call *c = &f->call.c;
	struct buf b = {0};
	const struct nan_value *cause = f->cause != NONE ? &f->call.value[f->cause] : NULL;
	switch (f->kind) {
	case NAN_PRODUCED:
		if (f->why && f->why->found)
			add_cause_title(&b, f);
		else
			buf_addf(&b, "%s produced by %.*s", what_text(f->what), SL(c->name));
		break;
	case NAN_CRASHED:
		buf_addf(&b, "%.*s did not return", SL(c->name));
		if (f->call.ended.n)
			buf_addf(&b, ": the process was %.*s", SL(f->call.ended));
		else if (x->live)
			buf_adds(&b, ": the process ended in it (only its parent knows how)");
		break;
	case NAN_INPUT:
		/* "the gradient of output 0", "the result of eager code at m.py:8: y = f(x)" */
		buf_addf(&b, slice_starts(cause->v.path, "the ") ? "%s in " : "%s in the input ", what_text(f->what));
		add_value_name(&b, cause);
		break;
	case NAN_CONSTANT:
		buf_addf(&b, "%s in the weight ", what_text(f->what));
		add_value_name(&b, cause);
		break;
	case NAN_UNWRITTEN:
	case NAN_PASSED:
		buf_addf(&b, "%s in ", what_text(f->what));
		add_value_name(&b, cause);
		buf_addf(&b, ", read by %.*s", SL(c->name));
	}
	if ((f->kind == NAN_INPUT || f->kind == NAN_CONSTANT) && c->name.n)
		buf_addf(&b, ", read by %.*s", SL(c->name));
	put_error(s, buf_str(&b));
	buf_release(&b);
}

/* Where it comes from. What the unfused graph does is what the model does. */
static void show_against(struct screen *s, const struct session *x, const struct nan_finding *f)
{
	const struct against *a = &x->against;
	const char *what = what_text(f->what);
	row(s, "origin");
	if (a->whose == AGAINST_COMPILER)
		buf_addf(&s->b, "the compiler: the exported program, run node by node with these inputs, has no %s\n", what);
	else if (a->whose == AGAINST_UNKNOWN)
		buf_addf(&s->b, "unknown: %.*s\n", SL(buf_slice(&a->why)));
	else
		buf_addf(&s->b, "the model itself: the exported program has its first %s in %.*s (%.*s)%s\n", what, SL(a->node), SL(a->op),
			 a->same ? "" : "; but no node has as many as this buffer");
	if (a->whose == AGAINST_MODEL && a->python.n) {
		row(s, "");
		buf_addf(&s->b, "%.*s\n", SL(a->python));
	}
}

/* A package's graph is not in it: only its exported program gives the cause by evaluation. */
static void show_against_next(struct screen *s, const struct session *x, const struct nan_finding *f)
{
	if (f->kind != NAN_PRODUCED || f->what == NAN_RANGE || f->why || f->call.c.text.n || x->against.asked || x->o->recorded)
		return;
	row(s, x->command ? "then" : "next");
	buf_addf(&s->b, "%s --against EXPORTED ", diag_tool);
	if (x->command)
		buf_adds(&s->b, "DIR, after aoti-printer -i -o DIR of this run");
	else
		buf_adds(&s->b, "... evaluates the cause");
	buf_adds(&s->b, " (EXPORTED: written by torch.export.save())\n");
}

/* The command that shows all numbers of this call. */
static void show_next(struct screen *s, const struct session *x, const struct nan_finding *f)
{
	const struct dump_call *c = &f->call.c;
	if (!x->command || c->kind == DUMP_RUN || c->run == CALLS_NO_RUN || f->call.replay || f->kind == NAN_CRASHED)
		return;
	row(s, "next");
	buf_adds(&s->b, "aoti-printer");
	if (x->o->recorded) {
		buf_addf(&s->b, " --calls %u ", c->call);
		buf_add_command(&s->b, (const char *const[]){x->o->recorded->bundle, NULL});
		buf_addc(&s->b, '\n');
		return;
	}
	if (c->text.n)
		buf_addf(&s->b, " --graph %.*s", SL(c->model));
	buf_addf(&s->b, " --runs %u --calls %u -- ", c->run, c->call);
	buf_add_command(&s->b, (const char *const *)x->command);
	buf_addc(&s->b, '\n');
}

/* The command that examines this call alone; a captured one only without CUDA graphs. */
static void show_again(struct screen *s, const struct session *x, const struct nan_finding *f)
{
	const struct dump_call *c = &f->call.c;
	row(s, "again");
	buf_adds(&s->b, diag_tool);
	if (c->text.n)
		buf_addf(&s->b, " --graph %.*s", SL(c->model));
	if (f->call.replay || c->run == CALLS_NO_RUN)
		buf_adds(&s->b, " --exact");
	else
		buf_addf(&s->b, " --stop-at %u:%u", c->run, c->call);
	buf_adds(&s->b, " -- ");
	buf_add_command(&s->b, (const char *const *)x->command);
	buf_addc(&s->b, '\n');
}

void show_finding(struct screen *s, const struct session *x, const struct nan_finding *f)
{
	const size_t from = s->b.len;
	add_title(s, x, f);
	buf_adds(&s->b, " (");
	add_where(&s->b, f);
	buf_adds(&s->b, ")\n");
	if (x->live) {
		row(s, "in");
		live_process_text(&s->b, f->call.c.pid, f->call.c.rank);
		buf_adds(&s->b, ", ");
		if (f->call.c.tid != f->call.c.pid)
			buf_addf(&s->b, "thread %u, ", f->call.c.tid);
		buf_addf(&s->b, "%s%.*s%s", f->call.c.text.n ? "graph " : "", SL(f->call.c.model), f->call.c.text.n ? " (" : "\n");
		if (f->call.c.text.n)
			buf_addf(&s->b, "%.*s)\n", SL(f->call.c.text));
	}
	show_guesses(s, f);
	show_scaler(s, f);
	if (f->why && f->why->found)
		row(s, "kernel"), buf_addf(&s->b, "%.*s\n", SL(f->call.c.name));
	if (f->call.c.kind != DUMP_RUN)
		show_values(s, f);
	else if (f->cause != NONE) {
		row(s, "given");
		show_value(s, &f->call.value[f->cause], true);
	}
	show_sources(s, f);
	if (x->against.asked && f == &x->nan.finding[0])
		show_against(s, x, f);
	if (!x->live && f->times > 1)
		row(s, "times"), buf_addf(&s->b, "%" PRIu64 "\n", f->times);
	if (!x->live && f->passed_on)
		row(s, "later"), buf_addf(&s->b, "%" PRIu64 " call%s propagated it\n", f->passed_on, plural(f->passed_on));
	put_wraps(s, from, INDENT);
	if (f->call.scanned && x->command) /* in one line, to be copied */
		show_again(s, x, f);
	else
		show_next(s, x, f);
	show_against_next(s, x, f);
}

void add_unread(struct buf *b, const struct session *s)
{
	uint32_t n = session_unread(s);
	if (n)
		buf_addf(b, " as far as known: %u statement%s of the generated code %s not understood", n, plural(n),
			 n == 1 ? "was" : "were");
}

void show_summary(struct screen *s, const struct session *x)
{
	const struct nanassert_options *o = x->o;
	uint64_t n = x->nan.calls;
	const char *what = o->inf && o->range ? "NaN, infinity or number out of range"
			   : o->inf           ? "NaN or infinity"
			   : o->range         ? "NaN or number out of range"
					      : "NaN";
	if (!x->nan.n) {
		buf_addf(&s->b, "no %s in %" PRIu64 " call%s of kernels and operators", what, n, plural(n));
		add_unread(&s->b, x);
		buf_addc(&s->b, '\n');
	} else if (!o->all && x->nan.n > 1)
		buf_addf(&s->b, "%zu more place%s (--all shows them)\n", x->nan.n - 1, plural(x->nan.n - 1));
	if (x->nan.more)
		buf_addf(&s->b, "and %" PRIu64 " more that are not listed\n", x->nan.more);
}

uint32_t session_unread(const struct session *s)
{
	uint32_t n = 0;
	for (size_t i = 0; s->watch && i < s->watch->n_models; i++)
		n += s->watch->model[i].contract.n_unread - s->watch->model[i].contract.n_unread_checks;
	return n;
}
