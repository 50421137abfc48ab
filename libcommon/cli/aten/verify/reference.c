#include "aten/verify/reference.h"
#include "graph/graph_forms.h"

/* ---- nodes ---- */

static const struct gnode *node_of(const struct reference *ref, uint32_t i) { return &ref->g->node[ref->first + i]; }

/* torch's Tag.nondeterministic_seeded (native_functions.yaml of 2.13), by the operator's name without its overload; dropout only while
 * training. */
static bool draws(const struct reference *ref, uint32_t i)
{
	static const char *const names[] = {
	    "rand",          "rand_like",       "randn",        "randn_like",       "randint",        "randint_like",      "randperm",
	    "bernoulli",     "bernoulli_",      "multinomial",  "normal",           "normal_",        "normal_functional", "uniform",
	    "uniform_",      "exponential",     "exponential_", "poisson",          "native_dropout", "dropout",           "dropout_",
	    "alpha_dropout", "feature_dropout", "rrelu",        "rrelu_with_noise", "geometric_",     "cauchy_",           "log_normal_",
	    "random_",       "binomial"};
	struct slice op = slice_behind(graph_op_text(ref->g, ref->first + i), "aten.");
	const struct gnode *n = node_of(ref, i);
	op = slice_until(op, ".");
	for (size_t k = 0; k < ARRAY_LEN(names); k++) {
		if (!slice_is(op, names[k]))
			continue;
		const bool drops = slice_find(op, "dropout") != NULL || slice_starts(op, "rrelu");
		const struct gvalue *train = graph_kwarg(ref->g, ref->first + i, "train");
		for (uint32_t a = 0; !train && drops && a < n->n_args; a++)
			if (ref->g->value[n->args + a].kind == GV_BOOL)
				train = &ref->g->value[n->args + a];
		return !drops || !train || train->i;
	}
	return false;
}

struct asked {
	const struct reference *ref;
	const bool *known;
	bool all;
};

static bool is_known(void *user, uint32_t operand)
{
	struct asked *a = user;
	a->all &= a->known[operand - a->ref->first];
	return a->all;
}

static void give_up(struct reference *ref, uint32_t i, const char *why)
{
	const struct slice name = graph_name(ref->g, ref->first + i);
	buf_addf(&ref->unknown, "%.*s: %s\n", SLN(name, 100), why);
	ref->n_unknown++;
}

/* Computes what can be computed. record: add to .unknown what cannot (the first time). */
static void evaluate(struct reference *ref, struct interp *run, struct aten_value *v, bool *known, bool record)
{
	for (uint32_t i = 0; i < ref->n; i++) {
		const struct gnode *n = node_of(ref, i);
		struct asked a = {ref, known, true};
		struct err err = {0};
		if (n->op == GRAPH_PLACEHOLDER || (ref->adopted && ref->adopted[i])) /* is there */
			continue;
		graph_operands(ref->g, ref->first + i, is_known, &a);
		known[i] = a.all && n->op != GRAPH_OUTPUT;
		if (!known[i])
			continue;
		if (draws(ref, i) && !ref->drop[i]) {
			known[i] = false;
			if (record)
				give_up(ref, i, "it draws random numbers");
		} else if (interp_eval(run, ref->first + i, v, &err) < 0) {
			known[i] = false;
			if (record)
				give_up(ref, i, err.text);
		}
	}
}

struct below {
	struct reference *ref;
	uint64_t *row;
};

static bool add_below(void *user, uint32_t operand)
{
	struct below *b = user;
	const uint32_t i = operand - b->ref->first;
	for (size_t w = 0; w < b->ref->words; w++)
		b->row[w] |= b->ref->below[i * b->ref->words + w];
	b->row[i / 64] |= UINT64_C(1) << i % 64;
	return true;
}

static void find_below(struct reference *ref)
{
	ref->words = (ref->n + 63) / 64;
	ref->below = xcalloc(ref->n * ref->words + 1, sizeof(*ref->below));
	for (uint32_t i = 0; i < ref->n; i++) {
		struct below b = {ref, ref->below + i * ref->words};
		graph_operands(ref->g, ref->first + i, add_below, &b);
	}
}

/* ---- open ---- */

enum { MOST_NODES = 60000 }; /* one bit per pair: 450 MB */

bool reference_keeps_state(const struct program *p)
{
	bool changed = false;
	for (uint32_t i = 0; p->functional.node && i < p->n_inputs; i++)
		changed |= p->input[i].from == PROGRAM_WEIGHT && p->functional.after[i] != p->graph.module[0].first + i;
	for (uint32_t i = 0; i < p->contract.n_constants; i++)
		changed |= p->contract.constant[i].becomes.n > 0;
	return changed;
}

/* A node of the program's root as one of .g's; NONE: none. */
static uint32_t here(const struct reference *ref, uint32_t node)
{
	const uint32_t first = ref->program->graph.module[0].first;
	return ref->unrolled.now ? ref->unrolled.now[node - first] : node - first;
}

uint32_t reference_after(const struct reference *ref, uint32_t i)
{
	const struct contract *c = &ref->program->contract;
	const struct slice name = graph_name(ref->g, ref->first + i);
	const struct functionalized *f = &ref->program->functional;
	if (f->node && f->after[i] != ref->program->graph.module[0].first + i)
		return here(ref, f->after[i]);
	for (uint32_t k = 0; k < c->n_constants; k++)
		if (c->constant[k].becomes.n && slice_eq(c->constant[k].name, name)) {
			const uint32_t node = graph_find(&ref->program->graph, 0, c->constant[k].becomes);
			return node == NONE ? NONE : here(ref, node);
		}
	return NONE;
}

/* Buffers as the previous call left them; what that could not compute is unknown. */
static void take_state(struct reference *ref, const struct reference *before)
{
	for (uint32_t i = 0; i < ref->program->n_inputs; i++) {
		const uint32_t from = reference_is_weight(ref, i) ? reference_after(before, i) : NONE;
		if (from == NONE)
			continue;
		ref->known[i] = reference_is_tensor(before, from);
		if (!ref->known[i])
			continue;
		aten_value_release(&ref->v[i]);
		ATEN_TRY("state") { ref->v[i] = aten_of(aten_keep(aten_alias(before->v[from].tensor))); }
		ref->known[i] = !ATEN_END;
	}
}

static void take_graph(struct reference *ref, const struct graph *g)
{
	ref->g = g;
	ref->first = g->module[0].first;
	ref->n = g->module[0].n;
}

/* The first n of v become the first of `want`, the others are zero. */
static void *more_of(void *v, size_t n, size_t want, size_t size)
{
	void *more = xcalloc(want, size);
	memcpy(more, v, n * size);
	free(v);
	return more;
}

int reference_open(struct reference *ref, const struct program *p, const struct tensor_view *in, size_t n, const struct reference *before,
		   uint64_t max_bytes, struct err *err)
{
	const struct interp_options o = {.max_bytes = max_bytes, .more = p->more};
	*ref = (struct reference){.program = p, .o = o, .o_wide = o};
	take_graph(ref, &p->graph);
	if (ref->n > MOST_NODES)
		return err_set(err, EXIT_INPUT, "the graph has %u nodes; at most %d are supported", ref->n, MOST_NODES);
	ref->v = xcalloc(ref->n + 1, sizeof(*ref->v));
	ref->known = xcalloc(ref->n + 1, sizeof(*ref->known));
	if (program_inputs(p, in, n, ref->v, err) < 0) {
		reference_close(ref);
		return -1;
	}
	for (uint32_t i = 0; i < p->n_inputs; i++)
		ref->known[i] = true;
	if (before)
		take_state(ref, before);
	if (unroll(&p->graph, ref->v, p->n_inputs, max_bytes, p->more, &ref->unrolled) == 0) {
		take_graph(ref, &ref->unrolled.graph);
		ref->v = more_of(ref->v, p->n_inputs, ref->n + 1, sizeof(*ref->v));
		ref->known = more_of(ref->known, p->n_inputs, ref->n + 1, sizeof(*ref->known));
	}
	ref->x = xcalloc(ref->n + 1, sizeof(*ref->x));
	ref->error = xcalloc(ref->n + 1, sizeof(*ref->error));
	ref->error_of = xcalloc(ref->n + 1, sizeof(*ref->error_of));
	ref->drop = xcalloc(ref->n + 1, sizeof(*ref->drop));
	ref->o.drop = ref->o_wide.drop = ref->drop;
	ref->run = interp_open(ref->g, &ref->o);
	find_below(ref);
	evaluate(ref, ref->run, ref->v, ref->known, true);
	return 0;
}

static void release_values(struct aten_value *v, uint32_t n)
{
	for (uint32_t i = 0; v && i < n; i++)
		aten_value_release(&v[i]);
	free(v);
}

void reference_close(struct reference *ref)
{
	release_values(ref->v, ref->n);
	release_values(ref->wide, ref->n);
	for (uint32_t i = 0; ref->x && i < ref->n; i++)
		numbers_release(&ref->x[i]);
	free(ref->x);
	free(ref->known);
	free(ref->adopted);
	for (uint32_t i = 0; ref->drop && i < ref->n; i++)
		aten_release(ref->drop[i]);
	free(ref->drop);
	free(ref->error);
	free(ref->error_of);
	free(ref->below);
	if (ref->run)
		interp_close(ref->run);
	if (ref->run_wide)
		interp_close(ref->run_wide);
	buf_release(&ref->unknown);
	unrolled_release(&ref->unrolled);
	*ref = (struct reference){0};
}

/* ---- values ---- */

enum how_much { SIGNATURE, ALL };

static struct numbers *numbers_at(struct numbers *x, const struct aten_value *v, enum how_much much)
{
	struct err ignored;
	if (x->n < 0 || x->v || (x->known && much == SIGNATURE))
		return x->n < 0 ? NULL : x;
	if (v->kind != ATEN_TENSOR || (x->known      ? numbers_fill(x, v->tensor, &ignored)
				       : much == ALL ? numbers_of(x, v->tensor, &ignored)
						     : numbers_sign(x, v->tensor, &ignored)) < 0)
		x->n = -1;
	return x->n < 0 ? NULL : x;
}

/* An operand with the same elements in the same order, of which the node is a view. */
struct viewed {
	const struct reference *ref;
	const struct aten_tensor *t;
	uint32_t node;
};

static bool is_viewed(void *user, uint32_t operand)
{
	struct viewed *x = user;
	const uint32_t i = operand - x->ref->first;
	const struct aten_tensor *from = reference_is_tensor(x->ref, i) ? x->ref->v[i].tensor : NULL;
	if (from && from->storage == x->t->storage && from->offset == x->t->offset && from->dtype == x->t->dtype &&
	    aten_numel(from) == aten_numel(x->t) && aten_is_contiguous(from))
		x->node = i;
	return x->node == NONE;
}

static uint32_t viewed(const struct reference *ref, uint32_t node)
{
	enum { MOST = 64 };
	for (int i = 0; i < MOST && reference_is_tensor(ref, node) && aten_is_contiguous(ref->v[node].tensor); i++) {
		struct viewed x = {ref, ref->v[node].tensor, NONE};
		graph_operands(ref->g, ref->first + node, is_viewed, &x);
		if (x.node == NONE)
			break;
		node = x.node;
	}
	return node;
}

static struct numbers *numbers_of_node(struct reference *ref, uint32_t node, enum how_much much)
{
	struct numbers *to = &ref->x[node];
	if (!ref->known[node] || to->v || (to->known && much == SIGNATURE))
		return ref->known[node] ? to : NULL;
	const uint32_t from = viewed(ref, node);
	struct numbers *x = from == node ? NULL : numbers_at(&ref->x[from], &ref->v[from], much);
	if (x)
		numbers_share(to, x, ref->v[node].tensor);
	return numbers_at(to, &ref->v[node], much);
}

struct numbers *reference_numbers(struct reference *ref, uint32_t node) { return numbers_of_node(ref, node, ALL); }
struct numbers *reference_signature(struct reference *ref, uint32_t node) { return numbers_of_node(ref, node, SIGNATURE); }

void reference_wide(struct reference *ref)
{
	if (ref->run_wide)
		return;
	ref->o_wide.as_double = true;
	ref->run_wide = interp_open(ref->g, &ref->o_wide);
}

void reference_errors(struct reference *ref)
{
	if (ref->has_wide)
		return;
	bool *known = xcalloc(ref->n + 1, sizeof(*known));
	struct err ignored;
	ref->has_wide = true;
	reference_wide(ref);
	ref->wide = xcalloc(ref->n + 1, sizeof(*ref->wide));
	for (uint32_t i = 0; i < ref->program->n_inputs; i++)
		known[i] = interp_to_double(&ref->v[i], NULL, &ref->wide[i], &ignored) == 0;
	for (uint32_t i = 0; ref->adopted && i < ref->n; i++)
		if (ref->adopted[i])
			known[i] = interp_to_double(&ref->v[i], NULL, &ref->wide[i], &ignored) == 0;
	evaluate(ref, ref->run_wide, ref->wide, known, false);
	for (uint32_t i = 0; i < ref->n; i++) {
		struct numbers wide = {0};
		ref->error[i] = ref->error_of[i] = 0;
		if (known[i] && reference_is_tensor(ref, i) && ref->wide[i].kind == ATEN_TENSOR &&
		    numbers_of(&wide, ref->wide[i].tensor, &ignored) == 0) {
			const struct numbers *x = reference_numbers(ref, i);
			ref->error_of[i] = x ? x->max : 0;
			for (int64_t k = 0; x && x->class != NUMBERS_INT && k < x->n * (x->class == NUMBERS_COMPLEX ? 2 : 1); k++) {
				const double d = x->v[k] > wide.v[k] ? x->v[k] - wide.v[k] : wide.v[k] - x->v[k];
				if (d > ref->error[i] && d <= 1e300)
					ref->error[i] = d;
			}
			numbers_release(&wide);
		}
	}
	free(known);
}

double reference_error(struct reference *ref, uint32_t node, const struct numbers *x)
{
	reference_errors(ref);
	return x->max < ref->error_of[node] ? ref->error[node] * (x->max / ref->error_of[node]) : ref->error[node];
}

int reference_double(struct reference *ref, uint32_t node, struct numbers *x)
{
	struct err ignored;
	*x = (struct numbers){0};
	reference_errors(ref);
	return ref->wide[node].kind == ATEN_TENSOR ? numbers_of(x, ref->wide[node].tensor, &ignored) : -1;
}

static const struct gvalue *output_value(const struct reference *ref, uint32_t k)
{
	const struct gnode *out = node_of(ref, ref->n - 1);
	const struct gvalue *list = out->op == GRAPH_OUTPUT && out->n_args ? &ref->g->value[out->args] : NULL;
	const uint32_t at = ref->program->n_outputs - ref->program->contract.n_outputs + k;
	if (list && (list->kind == GV_TUPLE || list->kind == GV_LIST))
		list = at < list->n ? &ref->g->value[list->first + at] : NULL;
	return list;
}

uint32_t reference_output(const struct reference *ref, uint32_t k)
{
	const struct gvalue *v = output_value(ref, k);
	return v && v->kind == GV_NODE ? v->node - ref->first : NONE;
}

bool reference_output_number(const struct reference *ref, uint32_t k, double *number)
{
	const struct gvalue *v = output_value(ref, k);
	if (!v || (v->kind != GV_INT && v->kind != GV_BOOL && v->kind != GV_FLOAT))
		return false;
	*number = v->kind == GV_FLOAT ? v->f : (double)v->i;
	return true;
}

struct aten_tensor *reference_tensor(const struct reference *ref, uint32_t node, const double *v, struct err *err)
{
	const struct aten_tensor *like = ref->v[node].tensor;
	struct aten_tensor *t = NULL;
	ATEN_TRY("tensor")
	{
		const int wide = aten_is_complex(like->dtype) ? DTYPE_C128 : DTYPE_F64;
		int64_t stride[ATEN_DIMS];
		aten_contiguous_strides(like->n_dim, like->size, stride);
		t = aten_like(like, like->dtype);
		aten_copy(t, aten_of_blob((void *)(uintptr_t)v, wide, like->n_dim, like->size, stride, 0));
		aten_keep(t);
	}
	return ATEN_END ? (err_set(err, EXIT_INPUT, "%s", aten_last_error()), NULL) : t;
}

bool reference_is_weight(const struct reference *ref, uint32_t node)
{
	return node < ref->program->n_inputs && ref->program->input[node].from == PROGRAM_WEIGHT;
}

/* What depends on the node can be computed now: appended to newly, which has n. */
static uint32_t compute_below(struct reference *ref, uint32_t node, uint32_t *newly, uint32_t n)
{
	for (uint32_t i = node + 1; i < ref->n; i++) {
		struct asked a = {ref, ref->known, true};
		struct err ignored;
		if (ref->known[i] || !reference_below(ref, i, node) || node_of(ref, i)->op == GRAPH_OUTPUT ||
		    (draws(ref, i) && !ref->drop[i]))
			continue;
		graph_operands(ref->g, ref->first + i, is_known, &a);
		if (!a.all || interp_eval(ref->run, ref->first + i, ref->v, &ignored) < 0)
			continue;
		ref->known[i] = true;
		newly[n++] = i;
	}
	return n;
}

uint32_t reference_adopt(struct reference *ref, uint32_t node, struct aten_tensor *t, uint32_t *newly)
{
	if (!ref->adopted)
		ref->adopted = xcalloc(ref->n + 1, sizeof(*ref->adopted));
	ref->v[node] = aten_of(t);
	ref->known[node] = ref->adopted[node] = true;
	newly[0] = node;
	return compute_below(ref, node, newly, 1);
}

void reference_relist(struct reference *ref)
{
	buf_reset(&ref->unknown);
	ref->n_unknown = 0;
	for (uint32_t i = 0; i < ref->n; i++) {
		struct asked a = {ref, ref->known, true};
		struct err err = {0};
		if (ref->known[i] || node_of(ref, i)->op == GRAPH_OUTPUT || node_of(ref, i)->op == GRAPH_PLACEHOLDER)
			continue;
		graph_operands(ref->g, ref->first + i, is_known, &a);
		if (a.all && draws(ref, i))
			give_up(ref, i, "it draws random numbers");
		else if (a.all && interp_eval(ref->run, ref->first + i, ref->v, &err) < 0)
			give_up(ref, i, err.text);
	}
}

uint32_t reference_drop(struct reference *ref, uint32_t node, struct aten_tensor *mask, uint32_t *newly)
{
	struct err ignored;
	ref->drop[node] = mask;
	if (interp_eval(ref->run, ref->first + node, ref->v, &ignored) < 0) {
		aten_release(mask);
		ref->drop[node] = NULL;
		return 0;
	}
	ref->known[node] = true;
	newly[0] = node;
	return compute_below(ref, node, newly, 1);
}

void reference_abandon(struct reference *ref, const uint32_t *newly, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++) {
		const uint32_t i = newly[k];
		aten_value_release(&ref->v[i]);
		numbers_release(&ref->x[i]);
		ref->known[i] = false;
		if (ref->adopted)
			ref->adopted[i] = false;
		if (ref->drop[i])
			aten_release(ref->drop[i]);
		ref->drop[i] = NULL;
	}
}

/* ---- what if ---- */

void what_if_begin(struct what_if *w, struct reference *ref, uint32_t node, struct aten_tensor *t)
{
	*w = (struct what_if){.ref = ref, .node = node};
	w->v = xcalloc(ref->n + 1, sizeof(*w->v));
	memcpy(w->v, ref->v, ref->n * sizeof(*w->v)); /* the reference's, which are not released here */
	w->done = xcalloc(ref->n + 1, 1);
	w->x = xcalloc(ref->n + 1, sizeof(*w->x));
	w->v[node] = aten_of(t);
	w->done[node] = 1;
}

/* The nodes in between, in order; not recursive, since the depth would be the graph's. */
static bool compute_between(struct what_if *w, uint32_t node)
{
	if (!reference_below(w->ref, node, w->node) || w->done[node])
		return w->ref->known[node] && w->done[node] != 2;
	for (uint32_t i = w->node + 1; i < node; i++)
		if (!w->done[i] && w->ref->known[i] && reference_below(w->ref, i, w->node) && reference_below(w->ref, node, i)) {
			struct err ignored;
			w->done[i] = interp_eval(w->ref->run, w->ref->first + i, w->v, &ignored) < 0 ? 2 : 1;
			w->evaluated++;
			if (w->done[i] == 2)
				return w->done[node] = 2, false;
		}
	struct err ignored;
	w->done[node] = !w->ref->known[node] || interp_eval(w->ref->run, w->ref->first + node, w->v, &ignored) < 0 ? 2 : 1;
	w->evaluated++;
	return w->done[node] == 1;
}

struct numbers *what_if_numbers(struct what_if *w, uint32_t node)
{
	if (node != w->node && !reference_below(w->ref, node, w->node))
		return reference_numbers(w->ref, node);
	return compute_between(w, node) ? numbers_at(&w->x[node], &w->v[node], ALL) : NULL;
}

/* Computed values belong to w; a node that failed has none. */
void what_if_end(struct what_if *w)
{
	for (uint32_t i = 0; i < w->ref->n; i++) {
		if (w->done[i] == 1)
			aten_value_release(&w->v[i]);
		numbers_release(&w->x[i]);
	}
	free(w->v);
	free(w->done);
	free(w->x);
	*w = (struct what_if){0};
}

void what_if_keep(struct what_if *w)
{
	struct reference *ref = w->ref;
	for (uint32_t i = w->node; i < ref->n; i++) {
		if (i != w->node && !reference_below(ref, i, w->node))
			continue;
		if (ref->known[i] && !compute_between(w, i))
			ref->known[i] = false;
		if (w->done[i] == 1) {
			aten_value_release(&ref->v[i]);
			ref->v[i] = w->v[i];
			w->done[i] = 0;
		}
		numbers_release(&ref->x[i]);
	}
	what_if_end(w);
}
