/* against.c - --against: runs the graph that a package was compiled from with the same inputs, node by node: does the NaN come from the
 * model itself, and from which numbers? */
#include "aten/firstnan/firstnan.h"
#include "aten/verify/pair.h"
#include "watch/inputs.h"
#include "nanassert.h"
#include "tensor/stats.h"

struct looking {
	const struct session *s;
	const struct program *p;
	struct against *a;
	enum nan_what what;
	const struct tensor_stats *found; /* of the buffer with the finding */
	bool *bad;                        /* of each node */
	uint32_t node;                    /* the first bad one; NONE */
};

static uint64_t count_bad(const struct looking *l, const struct tensor_meta *m, const void *data, struct tensor_stats *t)
{
	tensor_stats(m, data, STATS_ALL, t);
	if (!t->known)
		return 0;
	if (l->what == NAN_RANGE)
		return t->min < l->s->o->lo || t->max > l->s->o->hi;
	return l->what == NAN_INF ? t->pos_inf + t->neg_inf : t->nan;
}

/* Any tensor of a value; with as many elements and bad ones as the buffer, it is taken to be that buffer. */
static bool is_bad(struct looking *l, const struct aten_value *v)
{
	bool bad = false;
	for (uint32_t i = 0; v->kind == ATEN_LIST && i < v->n; i++)
		bad |= is_bad(l, &v->item[i]);
	if (v->kind != ATEN_TENSOR || !v->tensor->storage || !aten_data(v->tensor))
		return bad;
	struct tensor_stats t;
	struct tensor_meta m = {.dtype = v->tensor->dtype, .n_dim = v->tensor->n_dim};
	memcpy(m.size, v->tensor->size, (size_t)m.n_dim * sizeof(*m.size));
	memcpy(m.stride, v->tensor->stride, (size_t)m.n_dim * sizeof(*m.stride));
	bad = count_bad(l, &m, aten_data(v->tensor), &t) != 0;
	if (bad && l->found && l->found->n == t.n && l->found->nan == t.nan &&
	    l->found->pos_inf + l->found->neg_inf == t.pos_inf + t.neg_inf)
		l->a->same = true;
	return bad;
}

static bool operand_is_clean(void *user, uint32_t operand) { return !((const struct looking *)user)->bad[operand]; }

static bool look_at_node(void *user, uint32_t node, const struct aten_value *v, struct err *err)
{
	struct looking *l = user;
	const struct graph *g = &l->p->graph;
	(void)err;
	l->bad[node] = is_bad(l, v);
	if (l->bad[node] && l->a->node.n == 0 && (g->node[node].op != GRAPH_PLACEHOLDER || g->node[node].module == 0) &&
	    graph_operands(g, node, operand_is_clean, l)) {
		const uint32_t stack = g->node[node].stack;
		l->node = node;
		l->a->node = arena_slice(&l->a->arena, graph_name(g, node));
		l->a->op = arena_slice(&l->a->arena, g->node[node].op == GRAPH_PLACEHOLDER ? SLICE("an input") : graph_op_text(g, node));
		l->a->python = stack == NONE ? (struct slice){0} : arena_slice(&l->a->arena, graph_text(g, stack));
	}
	return true;
}

/* The numbers from which that node made it: from the program's inputs on, once more, as far as the node needs. */
static void explain_node(struct session *s, const struct looking *l, const struct tensor_view *in, size_t n_in)
{
	const struct graph *g = &l->p->graph;
	const uint32_t n = l->p->n_inputs;
	struct aten_value *v = xcalloc(n + 1, sizeof(*v));
	struct firstnan f;
	struct err ignored;
	uint32_t node, k = 0;
	if (g->node[l->node].module == 0 && program_inputs(l->p, in, n_in, v, &ignored) == 0) {
		firstnan_open(&f, g, l->what == NAN_INF);
		for (uint32_t i = f.first; i < f.first + f.n && k < n; i++)
			if (g->node[i].op == GRAPH_PLACEHOLDER)
				firstnan_know_value(&f, i, &v[k++]);
		const int found = firstnan_find(&f, &l->node, 1, &node);
		struct nan_cause *c = evaluate_new(s);
		if (found > 0) {
			evaluate_result(s, &f, found, node, c);
			s->nan.finding[0].why = c;
		}
		firstnan_close(&f);
		for (uint32_t i = 0; i < n; i++)
			aten_value_release(&v[i]);
	}
	free(v);
}

/* Calls may change a model's state; the program starts with the state in its file. */
static int run_program(struct session *s, struct looking *l, const struct tensor_view *in, size_t n, struct err *err)
{
	const struct interp_options o = {.seen = look_at_node, .user = l};
	struct program_result r;
	if (l->s->nan.finding[0].call.c.run > 0 && interp_writes(&l->p->graph))
		return err_set(err, EXIT_PARTIAL, "it was found in a later call, and the program has state that changes between calls");
	const int rc = program_run(l->p, in, n, &o, &r, err);
	if (!rc)
		program_result_release(&r);
	if (!rc && l->node != NONE)
		explain_node(s, l, in, n);
	return rc;
}

static int run_operands(struct session *s, struct looking *l, const struct operands *in, struct err *err)
{
	struct inputs given;
	if (inputs_read(&given, &l->p->contract, in->v + 1, in->n - 1, err) < 0)
		return -1;
	const int rc = run_program(s, l, given.v, given.n, err);
	inputs_release(&given);
	return rc;
}

/* The inputs of the run that the finding is in. */
static const struct dump_call *run_in_dump(const struct dump *d, const struct dump_call *of)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct dump_call *c = &d->call[i];
		if (c->kind == DUMP_RUN && c->model_id == of->model_id && c->pid == of->pid && c->run == of->run)
			return c;
	}
	return NULL;
}

static int run_saved(struct session *s, struct looking *l, const struct dump *d, struct err *err)
{
	const struct dump_call *run = run_in_dump(d, &s->nan.finding[0].call.c);
	const size_t room = run ? run->n_values : 0;
	struct dump_tensor *t = xcalloc(room + 1, sizeof(*t));
	struct tensor_view *in = xcalloc(room + 1, sizeof(*in));
	size_t n = 0;
	int rc = 0;
	for (size_t i = 0; i < room && !rc; i++) {
		const struct dump_value *v = &run->value[i];
		if (v->role != CALL_ROLE_MODEL_INPUT || v->arg != n || !v->file.n)
			continue;
		if (!(rc = dump_tensor_open(&t[n], d, v, err))) {
			in[n] = (struct tensor_view){.name = v->buffer, .meta = t[n].meta, .data = t[n].data};
			n++;
		}
	}
	if (!rc && n < l->p->contract.n_inputs)
		rc = err_set(err, EXIT_PARTIAL, "the folder does not have all inputs of that run: save them with aoti-printer -i -o");
	if (!rc)
		rc = run_program(s, l, in, n, err);
	for (size_t i = 0; i < n; i++)
		dump_tensor_close(&t[i]);
	free(t);
	free(in);
	return rc;
}

/* d: the saved run; NULL: the model is run with these operands. */
static void compare(struct session *s, const char *subject, const struct operands *in, const struct dump *d)
{
	struct against *a = &s->against;
	const struct nan_finding *f = s->nan.n ? &s->nan.finding[0] : NULL;
	struct pair p;
	struct err err = {0};
	if (!f || f->kind != NAN_PRODUCED || f->bad == NONE) /* an input, a weight: the finding already says whose */
		return;
	a->asked = true;
	if (pair_open(&p, s->o->against, subject, (struct pair_options){.weights = s->o->how.weights, .model = s->o->how.model}, &err) <
	    0) {
		buf_adds(&a->why, err.text);
		pair_close(&p);
		return;
	}
	const struct tensor_stats *t = &f->call.value[f->bad].v.stats;
	struct looking l = {.s = s, .p = &p.program, .a = a, .what = f->what, .found = t->known ? t : NULL, .node = NONE};
	l.bad = xcalloc(p.program.graph.n_nodes + 1, sizeof(*l.bad));
	if ((d ? run_saved(s, &l, d, &err) : run_operands(s, &l, in, &err)) < 0)
		buf_adds(&a->why, err.text);
	else
		a->whose = a->node.n ? AGAINST_MODEL : AGAINST_COMPILER;
	free(l.bad);
	pair_close(&p);
}

void against_run(struct session *s, const struct operands *in) { compare(s, in->v[0], in, NULL); }

void against_dump(struct session *s, const struct dump *d) { compare(s, d->path, NULL, d); }

const char *against_name(enum against_whose w) { return w == AGAINST_MODEL ? "model" : w == AGAINST_COMPILER ? "compiler" : "unknown"; }

void against_release(struct against *a)
{
	arena_release(&a->arena);
	buf_release(&a->why);
}
