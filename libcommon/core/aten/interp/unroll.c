#include "aten/interp/unroll.h"

#include "aten/interp/autocast.h"
#include "aten/interp/interp.h"

/* ---- which path it takes ---- */

enum { MOST_EVENTS = 100000 };
#define LAYER (UINT32_C(1) << 31)

/* In order: a subgraph is entered; a recurrent layer ran this many steps. */
struct event {
	uint32_t id; /* of the module; LAYER + of the node */
	int64_t steps;
};
struct path {
	const struct graph *g;
	struct event *event;
	size_t n, cap, at;
};

static bool is_recurrent(const struct graph *g, uint32_t node)
{
	const struct slice op = graph_op_text(g, node);
	return slice_is(op, "aten.gru.input") || slice_is(op, "aten.lstm.input");
}

static bool is_hop(const struct graph *g, uint32_t node)
{
	return g->node[node].op == GRAPH_CALL_FUNCTION && slice_starts(graph_text(g, g->node[node].target), "torch.ops.higher_order.");
}

/* The last operand of both: batch_first. */
static bool batch_first(const struct graph *g, uint32_t node)
{
	const struct gnode *n = &g->node[node];
	return n->n_args == 9 && g->value[n->args + 8].kind == GV_BOOL && g->value[n->args + 8].i;
}

static bool follow(void *user, uint32_t node, const struct aten_value *v, struct err *err)
{
	struct path *p = user;
	const struct gnode *n = &p->g->node[node];
	struct event e = {n->module, 0};
	const bool enters = n->module != 0 && node == p->g->module[n->module].first, steps = is_recurrent(p->g, node);
	for (int k = 0; k < 2; k++) {
		if (k ? !steps : !enters)
			continue;
		if (k) {
			const struct aten_tensor *t =
			    v->kind == ATEN_LIST && v->n && v->item[0].kind == ATEN_TENSOR ? v->item[0].tensor : NULL;
			e = (struct event){LAYER + node, t && t->n_dim == 3 ? t->size[batch_first(p->g, node)] : 0};
		}
		if (p->n == MOST_EVENTS) {
			err_set(err, EXIT_INPUT, "too many iterations");
			return false;
		}
		PUSH_TO(p->event, p->n, p->cap) = e;
	}
	return true;
}

/* ---- building a graph from a graph ---- */

struct maker {
	const struct graph *g;
	struct graph *to;
	struct path *path;
	struct unrolled *u;
	bool failed;
	struct casting {
		bool on, gpu;
		int dtype;
	} cast; /* the region of torch.autocast */
};

/* A node of a module is represented by a node of the new graph, a number, or a list of these. */
struct frame {
	uint32_t module;
	struct gvalue *value;
	struct slice prefix; /* of names: "while_loop.2." */
};

static struct gvalue give_up(struct maker *k)
{
	k->failed = true;
	return graph_none_value();
}

static struct gvalue carry_over(struct maker *k, const struct frame *f, struct gvalue v)
{
	if (v.kind == GV_NODE)
		return f->value[v.node - k->g->module[f->module].first];
	if (gvalue_has_text(v))
		v.text = graph_copy_text(k->to, k->g, v.text);
	if (!gvalue_has_children(v))
		return v;
	FREED struct gvalue *child = xcalloc(v.n + 1, sizeof(*child));
	for (uint32_t i = 0; i < v.n; i++)
		child[i] = carry_over(k, f, k->g->value[v.first + i]);
	return graph_sequence(k->to, v.kind, child, v.n);
}

static uint32_t new_node(struct maker *k, enum graph_op op, struct slice prefix, struct slice name, struct slice target, uint32_t like)
{
	LOCAL_BUF b = {0};
	k->failed |= k->to->n_nodes > UNROLL_NODES;
	buf_addf(&b, "%.*s%.*s", SL(prefix), SL(name));
	const uint32_t id = graph_add_node(k->to, 0, op, buf_slice(&b), target);
	k->to->node[id].stack = graph_copy_text(k->to, k->g, k->g->node[like].stack);
	return id;
}

/* An operator that the graph does not have, at the position of `like`: its name is prefix + op. */
static struct gvalue call(struct maker *k, struct slice prefix, const char *name, const char *target, uint32_t like,
			  const struct gvalue *args, size_t n)
{
	const uint32_t id = new_node(k, GRAPH_CALL_FUNCTION, prefix, slice_str(name), slice_str(target), like);
	graph_set_args(k->to, id, args, n);
	return graph_node_value(id);
}

/* ---- casts of torch.autocast: nodes of their own ---- */

enum { MOST_CAST = 256 };

struct dtypes {
	int v[MOST_CAST];
	size_t n;
};

static int dtype_of(const struct graph *g, struct gvalue v)
{
	const uint32_t m = v.kind == GV_NODE ? g->node[v.node].meta : NONE;
	return m != NONE && g->meta[m].kind == GMETA_TENSOR ? g->meta[m].dtype : DTYPE_NONE;
}

static void collect_dtypes(const struct graph *g, struct gvalue v, struct dtypes *d)
{
	const int dtype = dtype_of(g, v);
	if (dtype != DTYPE_NONE && autocast_applies(dtype) && d->n < MOST_CAST)
		d->v[d->n++] = dtype;
	for (uint32_t i = 0; (v.kind == GV_LIST || v.kind == GV_TUPLE) && i < v.n; i++)
		collect_dtypes(g, g->value[v.first + i], d);
}

/* The dtype that a node's float operands are cast to; DTYPE_NONE: they are not. */
static int cast_of(const struct maker *k, uint32_t node)
{
	const struct graph *g = k->g;
	const struct gnode *n = &g->node[node];
	struct slice op = graph_op_text(g, node);
	struct dtypes d = {.n = 0};
	if (!k->cast.on || n->op != GRAPH_CALL_FUNCTION || !slice_starts(op, "aten."))
		return DTYPE_NONE;
	op = slice_behind(op, "aten.");
	if (slice_ends(op, ".default"))
		op.n -= strlen(".default");
	for (uint32_t i = 0; i < n->n_args; i++)
		collect_dtypes(g, g->value[n->args + i], &d);
	for (uint32_t i = 0; i < n->n_kwargs; i++)
		collect_dtypes(g, g->value[n->kwargs + 2 * i + 1], &d);
	return autocast_dtype(op, k->cast.gpu, k->cast.dtype, d.v, d.n);
}

/* v carried over, its floats of another dtype through a cast; *number counts these. */
static struct gvalue cast_over(struct maker *k, const struct frame *f, uint32_t node, struct gvalue v, int to, unsigned *number)
{
	const struct graph *g = k->g;
	if ((v.kind == GV_LIST || v.kind == GV_TUPLE) && v.n) {
		FREED struct gvalue *child = xcalloc(v.n, sizeof(*child));
		for (uint32_t i = 0; i < v.n; i++)
			child[i] = cast_over(k, f, node, g->value[v.first + i], to, number);
		return graph_sequence(k->to, v.kind, child, v.n);
	}
	const int dtype = dtype_of(g, v);
	const struct gvalue x = carry_over(k, f, v);
	if (v.kind == GV_NODE && dtype == DTYPE_NONE)
		k->failed = true; /* it may have to be cast */
	if (dtype == DTYPE_NONE || !autocast_applies(dtype) || dtype == to)
		return x;
	LOCAL_BUF name = {0};
	buf_addf(&name, "%.*s.cast%u", SL(graph_name(g, node)), (*number)++);
	LOCAL_BUF type = {0};
	buf_addf(&type, "torch.%s", dtype_name(to));
	const struct gvalue args[] = {x, graph_text_value(k->to, GV_NAME, buf_slice(&type))};
	return call(k, f->prefix, buf_str(&name), "torch.ops.aten.to.dtype", node, args, 2);
}

static struct gvalue copy(struct maker *k, const struct frame *f, uint32_t node)
{
	const struct gnode *n = &k->g->node[node];
	const int to = cast_of(k, node);
	if (to != DTYPE_NONE) { /* the casts come first */
		unsigned number = 0;
		FREED struct gvalue *w = xcalloc(n->n_args + 2 * n->n_kwargs + 1, sizeof(*w));
		for (uint32_t i = 0; i < n->n_args; i++)
			w[i] = cast_over(k, f, node, k->g->value[n->args + i], to, &number);
		for (uint32_t i = 0; i < 2 * n->n_kwargs; i++)
			w[n->n_args + i] = i % 2 ? cast_over(k, f, node, k->g->value[n->kwargs + i], to, &number)
						 : carry_over(k, f, k->g->value[n->kwargs + i]);
		const uint32_t made = new_node(k, n->op, f->prefix, graph_name(k->g, node), graph_text(k->g, n->target), node);
		graph_set_args(k->to, made, w, n->n_args);
		graph_set_kwargs(k->to, made, w + n->n_args, n->n_kwargs);
		k->to->node[made].meta = graph_copy_meta(k->to, k->g, n->meta);
		return graph_node_value(made);
	}
	const uint32_t id = new_node(k, n->op, f->prefix, graph_name(k->g, node), graph_text(k->g, n->target), node);
	FREED struct gvalue *v = xcalloc(n->n_args + 2 * n->n_kwargs + 1, sizeof(*v));
	for (uint32_t i = 0; i < n->n_args; i++)
		v[i] = carry_over(k, f, k->g->value[n->args + i]);
	for (uint32_t i = 0; i < 2 * n->n_kwargs; i++)
		v[n->n_args + i] = carry_over(k, f, k->g->value[n->kwargs + i]);
	graph_set_args(k->to, id, v, n->n_args);
	graph_set_kwargs(k->to, id, v + n->n_args, n->n_kwargs);
	k->to->node[id].meta = graph_copy_meta(k->to, k->g, n->meta);
	k->to->node[id].type = graph_copy_text(k->to, k->g, n->type);
	return graph_node_value(id);
}

/* ---- operands of higher-order operators ---- */

struct values {
	struct gvalue *v;
	size_t n, cap;
};

static void push(struct values *to, struct gvalue v) { PUSH_TO(to->v, to->n, to->cap) = v; }

/* Lists are flattened; None is skipped. */
static void push_all(struct maker *k, struct values *to, struct gvalue v)
{
	for (uint32_t i = 0; (v.kind == GV_LIST || v.kind == GV_TUPLE) && i < v.n; i++)
		push(to, k->to->value[v.first + i]);
	if (v.kind != GV_LIST && v.kind != GV_TUPLE && v.kind != GV_NONE)
		push(to, v);
}

static struct gvalue operand(struct maker *k, const struct frame *f, uint32_t node, uint32_t at, const char *name)
{
	const struct gvalue *v = graph_kwarg(k->g, node, name);
	v = v ? v : at < k->g->node[node].n_args ? &k->g->value[k->g->node[node].args + at] : NULL;
	return v ? carry_over(k, f, *v) : graph_none_value();
}

/* NONE, and gives up: not a subgraph, or others call it, too. */
static uint32_t subgraph(struct maker *k, const struct frame *f, uint32_t node, uint32_t at, const char *name)
{
	const struct graph *g = k->g;
	const struct gvalue *v = graph_kwarg(g, node, name);
	v = v ? v : at < g->node[node].n_args ? &g->value[g->node[node].args + at] : NULL;
	const uint32_t a = v && v->kind == GV_NODE && g->node[v->node].op == GRAPH_GET_ATTR ? v->node : NONE;
	const uint32_t m = a == NONE ? NONE : graph_child(g, f->module, graph_text(g, g->node[a].target));
	if (m == NONE || g->user_of[a + 1] - g->user_of[a] != 1)
		return give_up(k), NONE;
	return m;
}

static bool enters_next(const struct maker *k, uint32_t module)
{
	return !k->failed && k->path->at < k->path->n && k->path->event[k->path->at].id == module;
}

static struct gvalue run_module(struct maker *k, uint32_t module, const struct values *in, struct slice prefix);

/* Calls a subgraph for one iteration: it returns a list. */
static struct gvalue turn(struct maker *k, const struct frame *f, uint32_t node, uint32_t module, const struct values *in, int64_t number)
{
	LOCAL_BUF b = {0};
	if (!enters_next(k, module))
		return give_up(k);
	k->path->at++;
	buf_addf(&b, "%.*s%.*s.", SL(f->prefix), SL(graph_name(k->g, node)));
	if (number >= 0)
		buf_addf(&b, "%lld.", (long long)number);
	return run_module(k, module, in, buf_slice(&b));
}

static struct gvalue cond(struct maker *k, const struct frame *f, uint32_t node)
{
	struct values in = {0};
	const uint32_t yes = subgraph(k, f, node, 1, "true_fn"), no = subgraph(k, f, node, 2, "false_fn");
	push_all(k, &in, operand(k, f, node, 3, "operands"));
	const struct gvalue out = k->failed ? graph_none_value() : turn(k, f, node, enters_next(k, yes) ? yes : no, &in, -1);
	free(in.v);
	return out;
}

/* The operands begin at `from`. */
static struct gvalue call_one(struct maker *k, const struct frame *f, uint32_t node, uint32_t at, const char *name, uint32_t from)
{
	struct values in = {0};
	const uint32_t module = subgraph(k, f, node, at, name);
	for (uint32_t i = from; i < k->g->node[node].n_args; i++)
		push_all(k, &in, carry_over(k, f, k->g->value[k->g->node[node].args + i]));
	const struct gvalue out = k->failed ? graph_none_value() : turn(k, f, node, module, &in, -1);
	free(in.v);
	return out;
}

static struct gvalue autocast(struct maker *k, const struct frame *f, uint32_t node)
{
	const struct graph *g = k->g;
	const struct gnode *n = &g->node[node];
	const struct gvalue *a = &g->value[n->args];
	const struct casting before = k->cast;
	if (n->n_args < 5 || a[0].kind != GV_STR || a[2].kind != GV_BOOL || (a[1].kind != GV_NAME && a[1].kind != GV_NONE))
		return give_up(k);
	const struct slice device = graph_text(g, a[0].text);
	if (a[2].i && !slice_is(device, "cpu"))
		return give_up(k); /* whether it has an effect depends on the devices of its tensors */
	k->cast = (struct casting){.on = a[2].i != 0,
				   .dtype = a[1].kind == GV_NAME ? dtype_by_name(graph_text(g, a[1].text)) : autocast_default(device)};
	const struct gvalue out = call_one(k, f, node, 4, "wrapped_func", 5);
	k->cast = before;
	return out;
}

static struct gvalue while_loop(struct maker *k, const struct frame *f, uint32_t node)
{
	struct values in = {0};
	const uint32_t test = subgraph(k, f, node, 0, "cond_fn"), body = subgraph(k, f, node, 1, "body_fn");
	push_all(k, &in, operand(k, f, node, 2, "carried_inputs"));
	const size_t carried = in.n;
	push_all(k, &in, operand(k, f, node, 3, "additional_inputs"));
	for (int64_t i = 0; !k->failed; i++) {
		turn(k, f, node, test, &in, i);
		if (!enters_next(k, body))
			break;
		const struct gvalue out = turn(k, f, node, body, &in, i);
		if (!k->failed && out.n != carried)
			give_up(k);
		for (size_t c = 0; c < carried && !k->failed; c++)
			in.v[c] = k->to->value[out.first + c];
	}
	const struct gvalue out = graph_sequence(k->to, GV_LIST, in.v, carried);
	free(in.v);
	return out;
}

/* xs: the scanned inputs; their rows follow the carried values in `in`. */
static struct gvalue scan(struct maker *k, const struct frame *f, uint32_t node, uint32_t body, size_t carried, const struct values *xs,
			  struct values *in)
{
	struct values rows = {0}, all = {0};
	size_t n_rows = 0, turns = 0;
	for (; enters_next(k, body); turns++) {
		LOCAL_BUF b = {0};
		buf_addf(&b, "%.*s%.*s.%zu.", SL(f->prefix), SL(graph_name(k->g, node)), turns);
		for (size_t i = 0; i < xs->n; i++) {
			char name[32];
			snprintf(name, sizeof(name), "x%zu", i);
			const struct gvalue args[] = {xs->v[i], graph_int_value(0), graph_int_value((int64_t)turns)};
			in->v[carried + i] = call(k, buf_slice(&b), name, "torch.ops.aten.select.int", node, args, 3);
		}
		const struct gvalue out = turn(k, f, node, body, in, (int64_t)turns);
		if (k->failed || out.n < carried || (turns && out.n - carried != n_rows)) {
			give_up(k);
			break;
		}
		n_rows = out.n - carried;
		for (uint32_t i = 0; i < out.n; i++)
			if (i < carried)
				in->v[i] = k->to->value[out.first + i];
			else
				push(&rows, k->to->value[out.first + i]);
	}
	for (size_t c = 0; c < carried; c++)
		push(&all, in->v[c]);
	for (size_t r = 0; r < n_rows && !k->failed; r++) {
		struct values one = {0};
		LOCAL_BUF b = {0};
		for (size_t i = 0; i < turns; i++)
			push(&one, rows.v[i * n_rows + r]);
		const struct gvalue args[] = {graph_sequence(k->to, GV_LIST, one.v, one.n), graph_int_value(0)};
		buf_addf(&b, "%.*s%.*s.y%zu", SL(f->prefix), SL(graph_name(k->g, node)), r);
		push(&all, call(k, SLICE(""), buf_str(&b), "torch.ops.aten.stack.default", node, args, 2));
		free(one.v);
	}
	const struct gvalue list = turns ? graph_sequence(k->to, GV_LIST, all.v, all.n) : give_up(k);
	free(rows.v);
	free(all.v);
	return list;
}

static struct gvalue scanned(struct maker *k, const struct frame *f, uint32_t node, bool carries)
{
	struct values in = {0}, xs = {0};
	const uint32_t body = subgraph(k, f, node, 0, carries ? "combine_fn" : "f");
	if (carries)
		push_all(k, &in, operand(k, f, node, 1, "init"));
	const size_t carried = in.n;
	push_all(k, &xs, operand(k, f, node, carries ? 2 : 1, "xs"));
	for (size_t i = 0; i < xs.n; i++)
		push(&in, xs.v[i]);
	push_all(k, &in, operand(k, f, node, carries ? 3 : 2, carries ? "additional_inputs" : "pos_args"));
	const struct gvalue out = k->failed ? graph_none_value() : scan(k, f, node, body, carried, &xs, &in);
	free(in.v);
	free(xs.v);
	return out;
}

static struct gvalue higher_order(struct maker *k, const struct frame *f, uint32_t node)
{
	const struct slice name = slice_behind(graph_text(k->g, k->g->node[node].target), "torch.ops.higher_order.");
	if (slice_is(name, "cond"))
		return cond(k, f, node);
	if (slice_is(name, "while_loop"))
		return while_loop(k, f, node);
	if (slice_is(name, "scan"))
		return scanned(k, f, node, true);
	if (slice_is(name, "map_impl"))
		return scanned(k, f, node, false);
	if (slice_is(name, "invoke_subgraph"))
		return call_one(k, f, node, 0, "subgraph", 2);
	if (slice_is(name, "wrap_with_set_grad_enabled"))
		return call_one(k, f, node, 1, "wrapped_func", 2);
	if (slice_is(name, "hints_wrapper"))
		return call_one(k, f, node, 0, "body_fn", 1);
	if (slice_is(name, "wrap_with_autocast"))
		return autocast(k, f, node);
	return give_up(k);
}

/* ---- recurrent layers ---- */

/* A step of one layer and direction. Names are "gru.3.tanh", for further layers and directions "gru.l1d0.3.tanh". */
struct step {
	struct maker *k;
	struct slice prefix;
	uint32_t like;
};

static struct gvalue op1(const struct step *s, const char *name, const char *target, struct gvalue a)
{
	return call(s->k, s->prefix, name, target, s->like, &a, 1);
}

static struct gvalue op2(const struct step *s, const char *name, const char *target, struct gvalue a, struct gvalue b)
{
	return call(s->k, s->prefix, name, target, s->like, (struct gvalue[]){a, b}, 2);
}

#define ADD "torch.ops.aten.add.Tensor"
#define SUB "torch.ops.aten.sub.Tensor"
#define MUL "torch.ops.aten.mul.Tensor"
#define TANH "torch.ops.aten.tanh.default"
#define SIGMOID "torch.ops.aten.sigmoid.default"

static struct gvalue linear(const struct step *s, const char *name, struct gvalue x, struct gvalue w, const struct gvalue *bias)
{
	struct gvalue args[] = {x, w, bias ? *bias : graph_none_value()};
	return call(s->k, s->prefix, name, "torch.ops.aten.linear.default", s->like, args, bias ? 3 : 2);
}

static struct gvalue pick(const struct step *s, const char *name, struct gvalue x, int64_t i)
{
	const struct gvalue args[] = {x, graph_int_value(0), graph_int_value(i)};
	return call(s->k, s->prefix, name, "torch.ops.aten.select.int", s->like, args, 3);
}

/* Gates are contiguous in the last dim: i.0, i.1 ... */
static void gates(const struct step *s, const char *name, struct gvalue x, int n, struct gvalue *out)
{
	const struct gvalue args[] = {x, graph_int_value(n), graph_int_value(-1)};
	const struct gvalue list = call(s->k, s->prefix, name, "torch.ops.aten.chunk.default", s->like, args, 3);
	for (int i = 0; i < n; i++) {
		char item[32];
		snprintf(item, sizeof(item), "%s_%d", name, i);
		out[i] = op2(s, item, "_operator.getitem", list, graph_int_value(i));
	}
}

static void gru_cell(const struct step *s, struct gvalue in, struct gvalue *h, const struct gvalue *p, bool biased)
{
	struct gvalue i[3], g[3];
	gates(s, "input", in, 3, i);
	gates(s, "hidden", linear(s, "linear", *h, p[1], biased ? &p[3] : NULL), 3, g);
	const struct gvalue reset = op1(s, "reset", SIGMOID, op2(s, "add", ADD, g[0], i[0])),
			    update = op1(s, "update", SIGMOID, op2(s, "add_1", ADD, g[1], i[1])),
			    fresh = op1(s, "tanh", TANH, op2(s, "add_2", ADD, i[2], op2(s, "mul", MUL, g[2], reset)));
	*h = op2(s, "h", ADD, op2(s, "mul_1", MUL, op2(s, "sub", SUB, *h, fresh), update), fresh);
}

static void lstm_cell(const struct step *s, struct gvalue in, struct gvalue *h, struct gvalue *c, const struct gvalue *p, bool biased)
{
	struct gvalue g[4];
	gates(s, "gates", op2(s, "add", ADD, linear(s, "linear", *h, p[1], biased ? &p[3] : NULL), in), 4, g);
	const struct gvalue enter = op1(s, "in", SIGMOID, g[0]), keep = op1(s, "forget", SIGMOID, g[1]), cell = op1(s, "tanh", TANH, g[2]),
			    leave = op1(s, "out", SIGMOID, g[3]);
	*c = op2(s, "c", ADD, op2(s, "mul", MUL, keep, *c), op2(s, "mul_1", MUL, enter, cell));
	*h = op2(s, "h", MUL, leave, op1(s, "tanh_1", TANH, *c));
}

struct layers {
	bool lstm, biased, both_ways, batch_first;
	int64_t n, steps;
	struct gvalue hx, cx;
	struct values params, h, c; /* h, c: the final state of each layer and direction */
};

/* Layer l in one direction over x: all its steps stacked. */
static struct gvalue one_way(struct maker *k, const struct frame *f, uint32_t node, struct layers *r, int64_t l, int d, struct gvalue x)
{
	const size_t per = r->biased ? 4 : 2, at = (size_t)(l * (r->both_ways + 1) + d);
	const struct gvalue *p = r->params.v + at * per;
	struct buf whole = {0}, one = {0};
	FREED struct gvalue *out = xcalloc((size_t)r->steps + 1, sizeof(*out));
	buf_addf(&whole, "%.*s%.*s.", SL(f->prefix), SL(graph_name(k->g, node)));
	if (r->n > 1 || r->both_ways)
		buf_addf(&whole, "l%lldd%d.", (long long)l, d);
	struct step s = {k, buf_slice(&whole), node};
	struct gvalue h = pick(&s, "h0", r->hx, (int64_t)at), c = r->lstm ? pick(&s, "c0", r->cx, (int64_t)at) : h;
	const struct gvalue in = linear(&s, "linear", x, p[0], r->biased ? &p[2] : NULL);
	for (int64_t t = 0; t < r->steps && !k->failed; t++) {
		const int64_t place = d ? r->steps - 1 - t : t;
		buf_reset(&one);
		buf_addf(&one, "%.*s%lld.", SL(s.prefix), (long long)place);
		const struct step now = {k, buf_slice(&one), node};
		const struct gvalue row = pick(&now, "x", in, place);
		if (r->lstm)
			lstm_cell(&now, row, &h, &c, p, r->biased);
		else
			gru_cell(&now, row, &h, p, r->biased);
		out[place] = h;
	}
	push(&r->h, h);
	push(&r->c, c);
	const struct gvalue args[] = {graph_sequence(k->to, GV_LIST, out, (size_t)r->steps), graph_int_value(0)};
	const struct gvalue stacked = call(k, s.prefix, "stack", "torch.ops.aten.stack.default", node, args, 2);
	buf_release(&whole);
	buf_release(&one);
	return stacked;
}

static struct gvalue join(struct maker *k, struct slice prefix, const char *name, uint32_t node, const char *target, const struct gvalue *v,
			  size_t n, int64_t dim)
{
	const struct gvalue args[] = {graph_sequence(k->to, GV_LIST, v, n), graph_int_value(dim)};
	return call(k, prefix, name, target, node, args, 2);
}

static struct gvalue swap(struct maker *k, struct slice prefix, const char *name, uint32_t node, struct gvalue x)
{
	const struct gvalue args[] = {x, graph_int_value(0), graph_int_value(1)};
	return call(k, prefix, name, "torch.ops.aten.transpose.int", node, args, 3);
}

static struct gvalue all_layers(struct maker *k, const struct frame *f, uint32_t node, struct layers *r, struct gvalue x)
{
	LOCAL_BUF b = {0};
	struct values out = {0};
	buf_addf(&b, "%.*s%.*s.", SL(f->prefix), SL(graph_name(k->g, node)));
	const struct slice prefix = buf_slice(&b);
	if (r->batch_first)
		x = swap(k, prefix, "transpose", node, x);
	for (int64_t l = 0; l < r->n && !k->failed; l++) {
		char name[32];
		struct gvalue way[2];
		snprintf(name, sizeof(name), "l%lld", (long long)l);
		for (int d = 0; d <= r->both_ways; d++)
			way[d] = one_way(k, f, node, r, l, d, x);
		x = r->both_ways ? join(k, prefix, name, node, "torch.ops.aten.cat.default", way, 2, -1) : way[0];
	}
	push(&out, r->batch_first ? swap(k, prefix, "transpose_1", node, x) : x);
	push(&out, join(k, prefix, "h", node, "torch.ops.aten.stack.default", r->h.v, r->h.n, 0));
	if (r->lstm)
		push(&out, join(k, prefix, "c", node, "torch.ops.aten.stack.default", r->c.v, r->c.n, 0));
	const struct gvalue list = graph_sequence(k->to, GV_LIST, out.v, out.n);
	free(out.v);
	return list;
}

/* Operands: input, hx (lstm: two), params, has_biases, num_layers, dropout, train, bidirectional, batch_first. */
static bool read_layers(struct maker *k, const struct frame *f, uint32_t node, struct layers *r)
{
	const struct graph *g = k->g;
	const struct gnode *n = &g->node[node];
	const struct gvalue *a = g->value + n->args;
	struct values hx = {0};
	if (n->n_args != 9 || n->n_kwargs || a[3].kind != GV_BOOL || a[4].kind != GV_INT || a[6].kind != GV_BOOL || a[7].kind != GV_BOOL ||
	    a[8].kind != GV_BOOL)
		return false;
	*r = (struct layers){.lstm = slice_is(graph_op_text(g, node), "aten.lstm.input"),
			     .biased = a[3].i,
			     .n = a[4].i,
			     .both_ways = a[7].i,
			     .batch_first = a[8].i};
	push_all(k, &r->params, carry_over(k, f, a[2]));
	push_all(k, &hx, carry_over(k, f, a[1]));
	const bool ok = hx.n == (r->lstm ? 2 : 1) && !a[6].i && r->n > 0 && r->n < 64 && /* .train draws numbers between layers */
			r->params.n == (size_t)r->n * (r->both_ways + 1) * (r->biased ? 4 : 2);
	if (ok) {
		r->hx = hx.v[0];
		r->cx = r->lstm ? hx.v[1] : hx.v[0];
	}
	free(hx.v);
	return ok;
}

static struct gvalue recurrent(struct maker *k, const struct frame *f, uint32_t node)
{
	struct layers r = {0};
	struct gvalue out;
	if (!enters_next(k, LAYER + node))
		return give_up(k);
	const int64_t steps = k->path->event[k->path->at++].steps;
	if (read_layers(k, f, node, &r) && steps > 0 && steps < UNROLL_NODES / 16) {
		r.steps = steps;
		out = all_layers(k, f, node, &r, carry_over(k, f, k->g->value[k->g->node[node].args]));
	} else {
		out = copy(k, f, node);
	}
	free(r.params.v);
	free(r.h.v);
	free(r.c.v);
	return out;
}

/* ---- modules ---- */

/* Item k of a list. */
static bool item_of(struct maker *k, const struct frame *f, uint32_t node, struct gvalue *out)
{
	const struct gvalue *a = k->g->value + k->g->node[node].args;
	const struct gvalue list = carry_over(k, f, a[0]);
	if (list.kind != GV_LIST || a[1].kind != GV_INT || a[1].i < 0 || a[1].i >= list.n)
		return false;
	*out = k->to->value[list.first + (uint32_t)a[1].i];
	return true;
}

static struct gvalue make(struct maker *k, const struct frame *f, uint32_t node)
{
	const struct gnode *n = &k->g->node[node];
	struct gvalue item;
	if (n->op == GRAPH_GET_ATTR && graph_child(k->g, f->module, graph_text(k->g, n->target)) != NONE)
		return graph_none_value();
	if (n->op == GRAPH_GET_ATTR && f->module)
		return give_up(k); /* it would have to be the root's */
	if (is_hop(k->g, node))
		return higher_order(k, f, node);
	if (is_recurrent(k->g, node))
		return recurrent(k, f, node);
	if (graph_is_getitem(k->g, node) && n->n_args == 2 && item_of(k, f, node, &item))
		return item;
	return copy(k, f, node);
}

/* The operands of its output as one list. */
static struct gvalue run_module(struct maker *k, uint32_t module, const struct values *in, struct slice prefix)
{
	const struct gmodule *m = &k->g->module[module];
	struct frame f = {module, xcalloc(m->n + 1, sizeof(*f.value)), prefix};
	struct gvalue out = graph_none_value();
	size_t given = 0;
	for (uint32_t i = 0; i < m->n && !k->failed; i++) {
		const struct gnode *n = &k->g->node[m->first + i];
		if (n->op == GRAPH_OUTPUT) {
			struct values all = {0};
			push_all(k, &all, n->n_args ? carry_over(k, &f, k->g->value[n->args]) : graph_none_value());
			out = graph_sequence(k->to, GV_LIST, all.v, all.n);
			free(all.v);
		} else if (n->op == GRAPH_PLACEHOLDER) {
			f.value[i] = given < in->n ? in->v[given++] : give_up(k);
		} else {
			f.value[i] = make(k, &f, m->first + i);
		}
	}
	free(f.value);
	return out;
}

static void run_root(struct maker *k)
{
	const struct gmodule *m = &k->g->module[0];
	struct frame f = {0, xcalloc(m->n + 1, sizeof(*f.value)), {0}};
	graph_add_module(k->to, NONE, graph_text(k->g, m->name), graph_text(k->g, m->class_name));
	graph_copy_attrs(k->to, 0, k->g, 0);
	for (uint32_t i = 0; i < m->n; i++)
		k->u->now[i] = NONE;
	for (uint32_t i = 0; i < m->n && !k->failed; i++) {
		const uint8_t op = k->g->node[m->first + i].op;
		f.value[i] = op == GRAPH_PLACEHOLDER || op == GRAPH_OUTPUT ? copy(k, &f, m->first + i) : make(k, &f, m->first + i);
		if (f.value[i].kind == GV_NODE)
			k->u->now[i] = f.value[i].node;
	}
	free(f.value);
}

static bool is_wanted(const struct graph *g)
{
	for (uint32_t i = 0; i < g->n_nodes; i++)
		if (is_hop(g, i) || is_recurrent(g, i))
			return true;
	return false;
}

int unroll(const struct graph *g, const struct aten_value *value, uint32_t n, uint64_t max_bytes, const struct interp_more *more,
	   struct unrolled *u)
{
	struct path path = {.g = g};
	const struct interp_options o = {.more = more, .seen = follow, .user = &path, .max_bytes = max_bytes, .max_steps = MOST_EVENTS};
	struct aten_value out;
	struct err ignored;
	*u = (struct unrolled){0};
	if (!is_wanted(g))
		return -1;
	int r = interp_run(g, value, n, &o, &out, &ignored);
	if (!r) {
		struct maker k = {.g = g, .to = &u->graph, .path = &path, .u = u};
		aten_value_release(&out);
		u->now = xcalloc(g->module[0].n + 1, sizeof(*u->now));
		run_root(&k);
		u->graph.functional = g->functional;
		r = k.failed || path.at != path.n ? -1 : graph_finish(&u->graph, &ignored);
		if (r < 0)
			unrolled_release(u);
	}
	free(path.event);
	return r;
}

void unrolled_release(struct unrolled *u)
{
	graph_release(&u->graph);
	free(u->now);
	*u = (struct unrolled){0};
}
