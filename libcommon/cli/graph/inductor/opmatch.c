#include "graph/inductor/opmatch.h"

#define CANDIDATES 8
#define ROUNDS 4
#define USES_MAX 256      /* examined per value */
#define BUDGET (1u << 23) /* comparisons of an operation with a node, per kernel: no recorded kernel needs 1 % of it */

/* ---- the graph ---- */

struct slice fx_op_name(const struct graph *g, uint32_t node)
{
	struct slice t = graph_op_text(g, node);
	const char *dot = slice_chr(t, '.');
	if (!dot)
		return t;
	struct slice rest = slice_of(dot + 1, (size_t)(t.p + t.n - dot - 1));
	if (slice_starts(t, "torch.")) { /* torch.nn.functional.relu */
		const char *last = slice_rchr(rest, '.');
		return last ? slice_of(last + 1, (size_t)(rest.p + rest.n - last - 1)) : rest;
	}
	dot = slice_chr(rest, '.');
	return dot ? slice_of(rest.p, (size_t)(dot - rest.p)) : rest;
}

static bool one_of(struct slice name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (slice_is(name, list[i]))
			return true;
	return false;
}

bool fx_is_view(const struct graph *g, uint32_t node)
{
	static const char *const views[] = {
	    "view",
	    "_unsafe_view",
	    "reshape",
	    "permute",
	    "t",
	    "transpose",
	    "expand",
	    "unsqueeze",
	    "squeeze",
	    "clone",
	    "alias",
	    "contiguous",
	    "detach",
	    "slice",
	    "select",
	    "as_strided",
	    "lift_fresh_copy",
	    "convert_element_type",
	    "_to_copy",
	    "diagonal",
	    "unfold",
	    "view_as",
	    "movedim",
	    "flatten",
	    "numpy_T",
	    "inductor_force_stride_order",
	    "_reshape_alias",
	    "expand_as",
	};
	return g->node[node].op == GRAPH_CALL_FUNCTION && one_of(fx_op_name(g, node), views, ARRAY_LEN(views));
}

/* A node with a constant number: full([], 1.0), scalar_tensor(2). */
static bool fx_number(const struct graph *g, uint32_t node, double *v)
{
	const struct gnode *n = &g->node[node];
	if (n->op != GRAPH_CALL_FUNCTION)
		return false;
	struct slice name = fx_op_name(g, node);
	bool full = slice_is(name, "full") || slice_is(name, "full_like"), scalar = slice_is(name, "scalar_tensor");
	if ((!full && !scalar) || n->n_args < (full ? 2u : 1u))
		return false;
	struct gvalue a = g->value[n->args + (full ? 1 : 0)];
	if (a.kind == GV_FLOAT)
		*v = a.f;
	else if (a.kind == GV_INT || a.kind == GV_BOOL)
		*v = (double)a.i;
	else
		return false;
	return true;
}

static bool first_operand(void *user, uint32_t operand)
{
	*(uint32_t *)user = operand;
	return false;
}

/* x.split(...)[1]: a piece of x. */
static bool is_piece(const struct graph *g, uint32_t node)
{
	static const char *const pieces[] = {"split", "split_with_sizes", "unbind", "chunk", "tensor_split"};
	uint32_t of = NONE;
	if (!graph_is_getitem(g, node))
		return false;
	graph_operands(g, node, first_operand, &of);
	return of != NONE && g->node[of].op == GRAPH_CALL_FUNCTION && one_of(fx_op_name(g, of), pieces, ARRAY_LEN(pieces));
}

struct uses {
	struct fxindex *x;
	uint32_t node;
	bool count;
};

static bool add_use(void *user, uint32_t operand)
{
	struct uses *u = user;
	uint32_t of = u->x->rep[operand];
	if (u->count)
		u->x->use_of[of + 1]++;
	else
		u->x->use[u->x->use_of[of]++] = u->node;
	return true;
}

void fxindex_init(struct fxindex *x, const struct graph *g)
{
	uint32_t n = g->n_modules ? g->module[0].n : 0, first = g->n_modules ? g->module[0].first : 0;
	*x = (struct fxindex){.g = g, .n = (uint32_t)g->n_nodes};
	x->rep = xcalloc(x->n + 1, sizeof(*x->rep));
	x->used = xcalloc(x->n + 1, sizeof(*x->used));
	x->use_of = xcalloc((size_t)x->n + 2, sizeof(*x->use_of));
	for (uint32_t i = 0; i < x->n; i++) {
		uint32_t from = NONE;
		x->rep[i] = i;
		if (fx_is_view(g, i))
			graph_operands(g, i, first_operand, &from);
		if (is_piece(g, i)) {
			uint32_t split = NONE;
			graph_operands(g, i, first_operand, &split);
			graph_operands(g, split, first_operand, &from);
		}
		if (from != NONE && from < i)
			x->rep[i] = x->rep[from];
	}
	for (int pass = 0; pass < 2; pass++) {
		struct uses u = {x, 0, !pass};
		for (u.node = first; u.node < first + n; u.node++)
			if (!fx_is_view(g, u.node) && g->node[u.node].op == GRAPH_CALL_FUNCTION)
				graph_operands(g, u.node, add_use, &u);
		if (!pass) {
			for (uint32_t i = 0; i <= x->n; i++)
				x->use_of[i + 1] += x->use_of[i];
			x->use = xcalloc(x->use_of[x->n + 1] + 1, sizeof(*x->use));
		}
	}
	/* Each start was advanced to the next one's: move them back. */
	for (uint32_t i = x->n + 1; i > 0; i--)
		x->use_of[i] = x->use_of[i - 1];
	x->use_of[0] = 0;
}

void fxindex_release(struct fxindex *x)
{
	free(x->rep);
	free(x->used);
	free(x->use_of);
	free(x->use);
	free(x->bound);
	intern_release(&x->buffers);
	*x = (struct fxindex){0};
}

void fxindex_bind(struct fxindex *x, struct slice buffer, uint32_t node)
{
	uint32_t row = intern_add(&x->buffers, buffer), had = x->cap_bound;
	GROW(x->bound, row, x->cap_bound, 1);
	for (uint32_t i = had; i < x->cap_bound; i++)
		x->bound[i] = NONE;
	if (node < x->n)
		x->bound[row] = x->rep[node];
}

uint32_t fxindex_bound(const struct fxindex *x, struct slice buffer)
{
	uint32_t i = intern_find(&x->buffers, buffer);
	if (i != NONE)
		return x->bound[i];
	uint32_t node = x->g->n_modules ? graph_find(x->g, 0, buffer) : NONE;
	if (node == NONE || (x->g->node[node].op != GRAPH_PLACEHOLDER && x->g->node[node].op != GRAPH_GET_ATTR))
		return NONE;
	return node;
}

/* ---- does an operation match a node? ---- */

struct matcher {
	struct opmatch *m;
	const struct opseq *s;
	struct fxindex *x;
	const uint8_t *allowed;
	uint32_t (*cand)[CANDIDATES];
	uint8_t *n_cand;
	uint32_t *used, round; /* per node: in this round of opmatch_fx */
	bool *fixed;           /* per operation: it is a step, whatever else has its value */
	bool changed;
	uint32_t budget;
};

static bool is_allowed(const struct matcher *w, uint32_t node)
{
	return !w->allowed || (w->allowed[node / 8] >> (node % 8) & 1) || graph_is_getitem(w->x->g, node);
}

/* The operands of a node in terms of operations: tensors by their representative, and numbers. */
struct inputs {
	struct {
		bool tensor;
		uint32_t fx;
		double number;
	} at[OPSEQ_ARGS];
	uint32_t n;
	const struct matcher *w;
};

static bool add_input(void *user, uint32_t operand)
{
	struct inputs *in = user;
	double v = 0;
	if (in->n == OPSEQ_ARGS)
		return false;
	in->at[in->n].tensor = !fx_number(in->w->x->g, operand, &v);
	in->at[in->n].fx = in->w->x->rep[operand];
	in->at[in->n++].number = v;
	return true;
}

static void inputs_of(const struct matcher *w, uint32_t node, struct inputs *in)
{
	const struct graph *g = w->x->g;
	const struct gnode *n = &g->node[node];
	in->n = 0;
	in->w = w;
	for (uint32_t i = 0; i < n->n_args && in->n < OPSEQ_ARGS; i++) {
		struct gvalue v = g->value[n->args + i];
		if (v.kind == GV_FLOAT || v.kind == GV_INT || v.kind == GV_BOOL) {
			in->at[in->n].tensor = false;
			in->at[in->n].fx = NONE;
			in->at[in->n++].number = v.kind == GV_FLOAT ? v.f : (double)v.i;
		} else {
			graph_value_nodes(g, v, add_input, in);
		}
	}
}

static bool same_number(double a, double b)
{
	double d = a > b ? a - b : b - a, size = a < 0 ? -a : a;
	return a == b || (a != a && b != b) || d <= 1e-6 * size; /* code has them as printed by their type */
}

static bool ordered(struct slice name)
{
	static const char *const names[] = {"sub",   "truediv", "pow",       "lt",       "gt",    "le",       "ge",
					    "where", "fmod",    "remainder", "floordiv", "atan2", "copysign", "gather"};
	return one_of(name, names, ARRAY_LEN(names));
}

static uint32_t known(const struct matcher *w, uint32_t op)
{
	uint32_t v = opseq_value(w->s, op);
	uint8_t how = v == NONE ? MATCH_NONE : w->m[v].how;
	return how == MATCH_SAME || how == MATCH_GUESS ? w->m[v].fx : NONE;
}

/* The value that an index was computed from, if it is one: code adds sizes and compares before using it. */
static uint32_t leaf(const struct matcher *w, uint32_t op)
{
	for (int hops = 0; hops < 16; hops++) {
		uint32_t only = NONE, v = opseq_value(w->s, op);
		if (v == NONE || known(w, v) != NONE)
			return v;
		const struct seqop *o = &w->s->op[v];
		for (uint32_t i = 0; i < o->n_args; i++) {
			uint32_t a = opseq_value(w->s, w->s->arg[o->arg + i]);
			if (a == NONE || w->s->op[a].kind == OP_CONST)
				continue;
			if (only == NONE || a < only)
				only = a; /* the earliest: the others are computed from it */
		}
		if (only == NONE)
			return v;
		op = only;
	}
	return op;
}

/* The operation's operands: values (aliases followed); a load with an index reads its buffer at values. */
static uint32_t operands(const struct matcher *w, uint32_t op, uint32_t *value)
{
	const struct seqop *o = &w->s->op[op];
	uint32_t n = 0;
	for (uint32_t i = 0; i < o->n_args && n < OPSEQ_ARGS; i++) {
		uint32_t a = w->s->arg[o->arg + i];
		value[n++] = o->kind == OP_LOAD ? leaf(w, a) : opseq_value(w->s, a);
	}
	return n;
}

/* Does operation `op`, under `name`, compute node u? *open: a still unknown operand, which then must be *is. */
static bool fits(const struct matcher *w, uint32_t op, uint32_t u, uint32_t *open, uint32_t *is)
{
	const struct seqop *o = &w->s->op[op];
	const struct graph *g = w->x->g;
	struct slice name = o->kind == OP_LOAD ? SLICE("gather") : o->name, fx = op_canonical(fx_op_name(g, u));
	uint32_t value[OPSEQ_ARGS], n = operands(w, op, value), left = 0;
	bool taken[OPSEQ_ARGS] = {false};
	struct inputs in;
	*open = NONE;
	*is = NONE;
	inputs_of(w, u, &in);
	bool relu = slice_is(name, "relu") && slice_is(fx, "maximum"), square = slice_is(name, "mul") && slice_is(fx, "pow");
	if (!slice_eq(name, fx) && !relu && !square)
		return false;
	if (relu && !(in.n == 2 && !in.at[1].tensor && in.at[1].number == 0))
		return false;
	if (square && !(in.n == 2 && !in.at[1].tensor && in.at[1].number == 2 && n == 2 && value[0] == value[1]))
		return false;
	if (o->kind == OP_LOAD) { /* gather: the buffer is the first operand */
		uint32_t buffer = fxindex_bound(w->x, o->buffer);
		if (buffer == NONE)
			return false;
		uint32_t k = 0;
		while (k < in.n && !(in.at[k].tensor && in.at[k].fx == buffer))
			k++;
		if (k == in.n)
			return false;
		taken[k] = true;
	}
	bool strict = ordered(name) && o->kind == OP_CALC && n <= in.n;
	for (uint32_t i = 0; i < n; i++) {
		if (value[i] == NONE)
			return false;
		const struct seqop *a = &w->s->op[value[i]];
		uint32_t node = known(w, value[i]), k;
		if (a->kind != OP_CONST && node == NONE) {
			if (*open != NONE && *open != value[i])
				return false;
			*open = value[i];
			left++;
			if (strict && in.at[i].tensor) {
				if (*is != NONE && *is != in.at[i].fx)
					return false;
				*is = in.at[i].fx;
				taken[i] = true;
			}
			continue;
		}
		for (k = strict ? i : 0; k < (strict ? i + 1 : in.n); k++) {
			bool same = in.at[k].tensor ? a->kind != OP_CONST && in.at[k].fx == node
						    : a->kind == OP_CONST && a->has_number && same_number(in.at[k].number, a->number);
			if (same && (!taken[k] || strict || in.at[k].tensor))
				break;
		}
		if (k == (strict ? i + 1 : in.n))
			return false;
		taken[k] = true;
	}
	for (uint32_t k = 0; k < in.n; k++) { /* every tensor operand of the node must be used, and every number of an arithmetic one */
		if (taken[k])
			continue;
		if (!in.at[k].tensor) {
			if (o->kind == OP_CALC && n == in.n && !relu && !square)
				return false;
			continue;
		}
		bool again = false; /* mul(x, x) */
		for (uint32_t j = 0; j < in.n; j++)
			again |= j != k && taken[j] && in.at[j].tensor && in.at[j].fx == in.at[k].fx;
		if (again)
			continue;
		if (!left || *is != NONE)
			return false;
		*is = in.at[k].fx;
	}
	return left ? *is != NONE : true;
}

/* Two calls that differ only in the names of their results. */
static bool alike(const struct graph *g, uint32_t a, uint32_t b)
{
	const struct gnode *x = &g->node[a], *y = &g->node[b];
	if (x->target != y->target || x->n_args != y->n_args || x->n_kwargs || y->n_kwargs)
		return false;
	for (uint32_t i = 0; i < x->n_args; i++) {
		struct gvalue v = g->value[x->args + i], z = g->value[y->args + i];
		if (v.kind != z.kind || gvalue_has_children(v))
			return false;
		if (v.kind == GV_NODE ? v.node != z.node : v.kind == GV_NONE ? false : v.i != z.i)
			return false;
	}
	return true;
}

/* ---- steps of a node ---- */

/* getitem of node? */
static bool is_result(const struct matcher *w, uint32_t item, uint32_t node)
{
	uint32_t of = NONE;
	if (graph_is_getitem(w->x->g, item))
		graph_operands(w->x->g, item, first_operand, &of);
	return of == node;
}

/* Everything that v was computed from, back to known values, is a step of node. */
static void mark_steps(struct matcher *w, uint32_t v, uint32_t node)
{
	uint32_t stack[256], n = 0;
	stack[n++] = v;
	for (uint32_t left = 4096; n && left; left--) {
		uint32_t at = stack[--n];
		const struct seqop *o = &w->s->op[at];
		for (uint32_t i = 0; i < o->n_args; i++) {
			uint32_t a = opseq_value(w->s, w->s->arg[o->arg + i]);
			if (a == NONE || w->s->op[a].kind == OP_CONST)
				continue;
			/* Nodes come after their operands: this cannot be computed from a later node. */
			if (w->m[a].how != MATCH_NONE && (w->m[a].how != MATCH_PART || w->m[a].fx != node) &&
			    (w->m[a].fx <= node || w->s->op[a].kind == OP_LOAD || is_result(w, w->m[a].fx, node)))
				continue;
			if (w->m[a].how != MATCH_PART || w->m[a].fx != node)
				w->changed = true;
			w->fixed[a] |= w->m[a].how == MATCH_SAME;
			w->m[a].how = MATCH_PART;
			w->m[a].fx = node;
			if (n < ARRAY_LEN(stack))
				stack[n++] = a;
		}
	}
}

static void settle_match(struct matcher *w, uint32_t op, uint32_t node, uint8_t how)
{
	if (w->m[op].how == how && w->m[op].fx == node)
		return;
	w->m[op].fx = node;
	w->m[op].how = how;
	w->used[node] = w->round;
	w->changed = true;
}

static bool guessed(const struct matcher *w, uint32_t op)
{
	const struct seqop *o = &w->s->op[op];
	for (uint32_t i = 0; i < o->n_args; i++) {
		uint32_t a = opseq_value(w->s, w->s->arg[o->arg + i]);
		if (a != NONE && w->m[a].how == MATCH_GUESS)
			return true;
	}
	return false;
}

/* Among the users of value f: the nodes that may be the operation. */
static bool match_users(struct matcher *w, uint32_t op, uint32_t f)
{
	const struct fxindex *x = w->x;
	uint32_t best = NONE, open, is, best_open = NONE, best_is = NONE, fitting = 0, end = x->use_of[f + 1];
	bool doubt = false;
	if (end - x->use_of[f] > USES_MAX)
		end = x->use_of[f] + USES_MAX;
	for (uint32_t i = x->use_of[f]; i < end; i++) {
		uint32_t u = x->use[i];
		if (!w->budget || u == best || !is_allowed(w, u))
			continue;
		w->budget--;
		if (!fits(w, op, u, &open, &is))
			continue;
		fitting++;
		if (best == NONE) {
			best = u;
			best_open = open;
			best_is = is;
			continue;
		}
		if (!alike(x->g, best, u))
			doubt = true;
		if (w->used[best] == w->round && w->used[u] != w->round) {
			best = u;
			best_open = open;
			best_is = is;
		}
	}
	if (!fitting)
		return false;
	if (best_open != NONE) {
		/* The open operand is the result of another node, if possible. */
		bool could = false;
		uint32_t maker = best_is;
		if (graph_is_getitem(x->g, maker)) {
			uint32_t from = NONE;
			graph_operands(x->g, maker, first_operand, &from);
			maker = from;
		}
		for (uint32_t i = 0; i < w->n_cand[best_open]; i++)
			could |= w->cand[best_open][i] == maker;
		if (!could || (w->m[best_open].how == MATCH_PART && w->m[best_open].fx != maker))
			return false;
		w->m[best_open].how = MATCH_NONE;
		settle_match(w, best_open, best_is, MATCH_SAME);
		mark_steps(w, best_open, maker);
	}
	settle_match(w, op, best, doubt || guessed(w, op) ? MATCH_GUESS : MATCH_SAME);
	return true;
}

/* Operators that are one operation: they are not a step of anything else. */
static bool is_simple(struct slice name)
{
	static const char *const names[] = {
	    "add",  "sub",   "mul",  "truediv", "neg",     "abs",   "exp", "log", "sin",     "cos", "tanh",
	    "sqrt", "rsqrt", "relu", "maximum", "minimum", "where", "eq",  "ne",  "lt",      "gt",  "le",
	    "ge",   "and",   "or",   "not",     "sum",     "max",   "min", "erf", "sigmoid", "pow",
	};
	return one_of(name, names, ARRAY_LEN(names));
}

static void add_candidates(struct matcher *w, uint32_t op, const uint32_t *from, uint32_t n, bool *any)
{
	uint32_t kept = 0;
	if (!*any) {
		for (uint32_t i = 0; i < n && kept < CANDIDATES; i++)
			w->cand[op][kept++] = from[i];
		*any = true;
	} else {
		for (uint32_t i = 0; i < w->n_cand[op]; i++)
			for (uint32_t k = 0; k < n; k++)
				if (from[k] == w->cand[op][i]) {
					w->cand[op][kept++] = from[k];
					break;
				}
	}
	w->n_cand[op] = (uint8_t)kept;
}

static uint32_t users(const struct matcher *w, uint32_t op, uint32_t f, uint32_t *out, bool simple)
{
	const struct fxindex *x = w->x;
	uint32_t n = 0, end = x->use_of[f + 1];
	if (end - x->use_of[f] > USES_MAX)
		end = x->use_of[f] + USES_MAX;
	for (uint32_t i = x->use_of[f]; i < end && n < 64; i++) {
		uint32_t u = x->use[i];
		if ((n && out[n - 1] == u) || !is_allowed(w, u) || graph_is_getitem(x->g, u))
			continue;
		struct slice name = op_canonical(fx_op_name(x->g, u));
		if (is_simple(name) != simple || (simple && slice_eq(name, w->s->op[op].name))) /* it would have matched */
			continue;
		out[n++] = u;
	}
	return n;
}

/* The nodes that the operation may be a step of: those that use all the known values it is computed from. */
static void candidates(struct matcher *w, uint32_t op)
{
	uint32_t value[OPSEQ_ARGS + 1], n = operands(w, op, value), list[64 + CANDIDATES];
	const struct seqop *o = &w->s->op[op];
	/* The simple operations match only if nothing else does: mul of booleans is an "and". Last, an operand that is a node's
	 * result by value may still be a step of another node: var_mean subtracts the mean, as layer_norm does after it. */
	for (int way = 0; way < 3; way++) {
		bool any = false, simple = way == 1;
		w->n_cand[op] = 0;
		if (o->kind == OP_LOAD) {
			uint32_t f = fxindex_bound(w->x, o->buffer);
			if (f != NONE)
				add_candidates(w, op, list, users(w, op, f, list, simple), &any);
		}
		for (uint32_t i = 0; i < n; i++) {
			uint32_t v = value[i], f;
			if (v == NONE || w->s->op[v].kind == OP_CONST)
				continue;
			f = known(w, v);
			if (f != NONE) {
				uint32_t k = users(w, op, f, list, simple);
				for (uint32_t j = 0; way == 2 && j < w->n_cand[v] && k < ARRAY_LEN(list); j++)
					list[k++] = w->cand[v][j];
				add_candidates(w, op, list, k, &any);
			} else
				add_candidates(w, op, w->cand[v], w->n_cand[v], &any);
		}
		if (w->n_cand[op])
			return;
	}
}

/* ---- operation by operation ---- */

static void match_calc(struct matcher *w, uint32_t op)
{
	uint32_t value[OPSEQ_ARGS], n;
	struct opmatch *m = &w->m[op];
	if (m->how == MATCH_SAME || m->how == MATCH_GUESS || w->fixed[op])
		return;
	candidates(w, op);
	n = operands(w, op, value);
	if (w->s->op[op].kind == OP_LOAD) {
		uint32_t f = fxindex_bound(w->x, w->s->op[op].buffer);
		if (f != NONE && match_users(w, op, f))
			return;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t f = value[i] == NONE ? NONE : known(w, value[i]);
		if (f != NONE) {
			if (match_users(w, op, f))
				return;
			continue;
		}
		/* An operand that may be the result of one of these: then the operation may be one of its users. */
		for (uint32_t k = 0; value[i] != NONE && k < w->n_cand[value[i]]; k++) {
			uint32_t maker = w->cand[value[i]][k];
			if (match_users(w, op, maker))
				return;
			for (uint32_t u = w->x->use_of[maker], end = w->x->use_of[maker + 1]; u < end && u < w->x->use_of[maker] + 16; u++)
				if (graph_is_getitem(w->x->g, w->x->use[u]) && match_users(w, op, w->x->use[u]))
					return;
		}
	}
}

static void match_store(struct matcher *w, uint32_t op)
{
	const struct seqop *o = &w->s->op[op];
	uint32_t v = o->n_args ? opseq_value(w->s, w->s->arg[o->arg]) : NONE, known_as = fxindex_bound(w->x, o->buffer);
	if (v == NONE)
		return;
	if (known(w, v) == NONE && known_as != NONE && w->s->op[v].kind != OP_CONST && w->s->op[v].kind != OP_LOAD) {
		uint32_t maker = known_as;
		if (graph_is_getitem(w->x->g, maker))
			graph_operands(w->x->g, known_as, first_operand, &maker);
		bool could = false;
		for (uint32_t i = 0; i < w->n_cand[v]; i++)
			could |= w->cand[v][i] == maker;
		if (could) {
			w->m[v].how = MATCH_NONE;
			settle_match(w, v, known_as, MATCH_SAME);
			mark_steps(w, v, maker);
		}
	}
	/* Unless contradicted, the stored value is the result of the only node that it can be a step of. */
	if (known(w, v) == NONE && w->n_cand[v] == 1 && known_as == NONE && w->m[v].how == MATCH_NONE) {
		w->m[v].how = MATCH_PART;
		w->m[v].fx = w->cand[v][0];
		w->changed = true;
	}
	w->m[op] = (struct opmatch){w->m[v].fx, w->m[v].how, NONE};
	if (known(w, v) != NONE)
		fxindex_bind(w->x, o->buffer, w->m[v].fx);
}

static void match_op(struct matcher *w, uint32_t op)
{
	const struct seqop *o = &w->s->op[op];
	uint32_t v;
	switch (o->kind) {
	case OP_LOAD:
		if (o->n_args) {
			match_calc(w, op);
		} else {
			uint32_t f = fxindex_bound(w->x, o->buffer);
			if (f != NONE && w->m[op].how == MATCH_NONE)
				settle_match(w, op, f, MATCH_SAME);
		}
		break;
	case OP_CALC:
	case OP_REDUCE: match_calc(w, op); break;
	case OP_STORE: match_store(w, op); break;
	case OP_ALIAS:
	case OP_NOTE:
		v = o->n_args ? opseq_value(w->s, w->s->arg[o->arg]) : NONE;
		if (v != NONE)
			w->m[op] = w->m[v];
		break;
	default: break;
	}
}

/* Numbers belong to their user, if that is one node. */
static void give_numbers(struct matcher *w)
{
	for (uint32_t i = 0; i < w->s->n_op; i++)
		for (uint32_t k = 0; k < w->s->op[i].n_args && w->m[i].how != MATCH_NONE && w->s->op[i].kind <= OP_REDUCE; k++) {
			uint32_t a = opseq_value(w->s, w->s->arg[w->s->op[i].arg + k]);
			if (a == NONE || w->s->op[a].kind != OP_CONST)
				continue;
			if (w->m[a].how == MATCH_NONE)
				w->m[a] = (struct opmatch){w->m[i].fx, MATCH_PART, NONE};
			else if (w->m[a].fx != w->m[i].fx)
				w->m[a] = (struct opmatch){NONE, MATCH_GUESS, NONE}; /* of several */
		}
	for (uint32_t i = 0; i < w->s->n_op; i++) {
		if (w->m[i].fx == NONE)
			w->m[i].how = MATCH_NONE;
		uint32_t v = w->s->op[i].kind == OP_ALIAS ? opseq_value(w->s, i) : NONE;
		if (v != NONE && w->m[v].fx != NONE)
			w->m[i] = w->m[v];
	}
}

void opmatch_fx(struct opmatch *m, const struct opseq *s, struct fxindex *x, const uint8_t *allowed)
{
	struct matcher w = {.m = m, .s = s, .x = x, .allowed = allowed, .budget = BUDGET, .used = x->used, .round = ++x->round};
	w.cand = xcalloc(s->n_op + 1, sizeof(*w.cand));
	w.n_cand = xcalloc(s->n_op + 1, sizeof(*w.n_cand));
	w.fixed = xcalloc(s->n_op + 1, sizeof(*w.fixed));
	for (uint32_t i = 0; i < s->n_op; i++)
		m[i] = (struct opmatch){NONE, MATCH_NONE, NONE};
	w.changed = true;
	for (int round = 0; round < ROUNDS && w.changed; round++) {
		w.changed = false;
		for (uint32_t i = 0; i < s->n_op; i++)
			match_op(&w, i);
	}
	for (uint32_t i = 0; i < s->n_op; i++) /* steps of one node, whatever its result */
		if (m[i].how == MATCH_NONE && w.n_cand[i] == 1 && s->op[i].kind <= OP_REDUCE && s->op[i].kind != OP_CONST) {
			m[i].how = MATCH_PART;
			m[i].fx = w.cand[i][0];
		}
	for (uint32_t i = 0; i < s->n_op; i++)
		if (s->op[i].kind == OP_STORE || s->op[i].kind == OP_NOTE)
			match_op(&w, i);
	give_numbers(&w);
	free(w.cand);
	free(w.n_cand);
	free(w.fixed);
}
