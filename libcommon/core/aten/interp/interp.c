#include "aten/interp/functionalize.h"
#include "aten/interp/interp_part.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- errors ---- */

int interp_bad(const struct interp *run, const char *fmt, ...)
{
	const struct gnode *n = &run->g->node[run->node];
	struct buf b = {0};
	va_list ap;
	va_start(ap, fmt);
	buf_addvf(&b, fmt, ap);
	va_end(ap);
	if (n->stack != NONE)
		buf_addf(&b, " (%.*s)", SLN(graph_text(run->g, n->stack), 200));
	err_set(run->err, EXIT_INPUT, "node '%.*s' (%.*s): %s", SLN(graph_name(run->g, run->node), 100),
		SLN(graph_op_text(run->g, run->node), 100), buf_str(&b));
	buf_release(&b);
	return -1;
}

/* ---- values ---- */

static int share_tensor(struct interp *run, struct aten_tensor *t, struct aten_value *out)
{
	struct aten_tensor *mine = NULL;
	ATEN_TRY("interp") { mine = aten_keep(t); }
	if (ATEN_END)
		return interp_bad(run, "%s", aten_last_error());
	*out = aten_of(mine);
	return 0;
}

static int share_list(struct interp *run, struct aten_value v, struct aten_value *out)
{
	*out = (struct aten_value){.kind = ATEN_LIST, .item = xcalloc(v.n + 1, sizeof(*v.item))};
	while (out->n < v.n && interp_share(run, v.item[out->n], &out->item[out->n]) == 0)
		out->n++;
	if (out->n == v.n)
		return 0;
	aten_value_release(out);
	return -1;
}

int interp_share(struct interp *run, struct aten_value v, struct aten_value *out)
{
	if (v.kind == ATEN_TENSOR)
		return share_tensor(run, v.tensor, out);
	if (v.kind == ATEN_LIST)
		return share_list(run, v, out);
	*out = v;
	return 0;
}

/* ---- operands ---- */

static int real_of_double(int dtype)
{
	if (aten_is_float(dtype))
		return DTYPE_F64;
	return aten_is_complex(dtype) ? DTYPE_C128 : dtype;
}

/* torch.float32, torch.strided, torch.channels_last: constants that torch.fx writes as names. */
static int named_constant(struct interp *run, struct slice text, struct aten_value *out)
{
	static const char *const layout[] = {"torch.strided", "torch.sparse_coo", "torch.sparse_csr", "torch._mkldnn"};
	static const char *const format[] = {"torch.contiguous_format", "torch.preserve_format", "torch.channels_last",
					     "torch.channels_last_3d"};
	const int dtype = dtype_by_name(text);
	if (dtype != DTYPE_NONE)
		return *out = aten_dtype(run->o->as_double ? real_of_double(dtype) : dtype), 0;
	for (size_t i = 0; i < ARRAY_LEN(format); i++)
		if (slice_is(text, format[i]))
			return *out = (struct aten_value){.kind = ATEN_FORMAT, .i = (int64_t)i}, 0;
	for (size_t i = 0; i < ARRAY_LEN(layout); i++)
		if (slice_is(text, layout[i]))
			return *out = (struct aten_value){.kind = ATEN_LAYOUT, .i = (int64_t)i}, 0;
	return interp_bad(run, "unsupported operand '%.*s'", SLN(text, 100));
}

static int device_operand(struct interp *run, struct slice text, struct aten_value *out)
{
	int type, index;
	if (device_parse(text, &type, &index) < 0)
		return interp_bad(run, "unknown device '%.*s'", SLN(text, 100));
	*out = (struct aten_value){.kind = ATEN_DEVICE, .i = type};
	return 0;
}

/* "(1+2j)", "1j" */
static int complex_operand(struct interp *run, struct slice text, struct aten_value *out)
{
	char s[100], *end;
	if (text.n && text.p[0] == '(')
		text = slice_of(text.p + 1, text.n - 1 - (text.p[text.n - 1] == ')'));
	snprintf(s, sizeof(s), "%.*s", SLN(text, 99));
	double re = strtod(s, &end), im = 0;
	if (*end == 'j')
		im = re, re = 0, end++;
	else if (*end)
		im = strtod(end, &end), end += *end == 'j';
	if (*end || end == s)
		return interp_bad(run, "unsupported operand '%s'", s);
	*out = (struct aten_value){.kind = ATEN_COMPLEX, .z = CMPLX(re, im)};
	return 0;
}

static int list_operand(struct activation *a, struct gvalue v, struct aten_value *out)
{
	struct aten_value *item = arena_alloc(&a->arena, (v.n + 1) * sizeof(*item));
	for (uint32_t i = 0; i < v.n; i++)
		if (interp_operand(a, a->run->g->value[v.first + i], &item[i]) < 0)
			return -1;
	*out = (struct aten_value){.kind = ATEN_LIST, .n = v.n, .item = item};
	return 0;
}

int interp_operand(struct activation *a, struct gvalue v, struct aten_value *out)
{
	const struct graph *g = a->run->g;
	switch ((enum gvalue_kind)v.kind) {
	case GV_NONE: *out = (struct aten_value){.kind = ATEN_NONE}; return 0;
	case GV_BOOL: *out = aten_bool(v.i != 0); return 0;
	case GV_INT: *out = aten_int(v.i); return 0;
	case GV_FLOAT: *out = aten_float(v.f); return 0;
	case GV_COMPLEX: return complex_operand(a->run, graph_text(g, v.text), out);
	case GV_STR: *out = (struct aten_value){.kind = ATEN_STRING, .text = graph_text(g, v.text)}; return 0;
	case GV_NODE: *out = a->value[v.node - g->module[a->module].first]; return 0;
	case GV_LIST:
	case GV_TUPLE: return list_operand(a, v, out);
	case GV_NAME: return named_constant(a->run, graph_text(g, v.text), out);
	case GV_DEVICE: return device_operand(a->run, graph_text(g, v.text), out);
	case GV_DICT:
	case GV_SLICE:
	case GV_ELLIPSIS: return interp_bad(a->run, "unsupported operand: a dict, a slice or '...'");
	case GV_TEXT: return interp_bad(a->run, "unsupported operand '%.*s'", SLN(graph_text(g, v.text), 100));
	}
	return interp_bad(a->run, "operand of an invalid kind");
}

/* ---- calls ---- */

static struct slice without(struct slice text, const char *prefix)
{
	const size_t n = strlen(prefix);
	return slice_starts(text, prefix) ? slice_of(text.p + n, text.n - n) : (struct slice){0};
}

const struct aten_op *interp_find(struct interp *run, uint32_t target)
{
	struct aten_op *op = &run->op[target];
	struct err why;
	if (!op->entry && !run->no_op[target])
		run->no_op[target] = aten_find(op, graph_text(run->g, target), &why) < 0;
	if (op->entry)
		return op;
	interp_bad(run, "unsupported operator");
	return NULL;
}

int interp_call_op(struct interp *run, const struct aten_op *op, const struct interp_operands *o, struct aten_value *out)
{
	struct aten_value result[ATEN_RESULTS];
	struct err why;
	if (aten_call(op, &run->mode, o->arg, o->n, o->named, o->n_named, result, &why) < 0)
		return interp_bad(run, "%s", why.text);
	if (op->n_results == 0) {
		*out = (struct aten_value){.kind = ATEN_NONE};
	} else if (op->n_results == 1) {
		*out = result[0];
	} else {
		*out = (struct aten_value){.kind = ATEN_LIST, .n = op->n_results, .item = xcalloc(op->n_results, sizeof(*out->item))};
		memcpy(out->item, result, op->n_results * sizeof(*result));
	}
	return 0;
}

int interp_aten(struct interp *run, struct slice name, struct aten_value *arg, size_t n, struct aten_value *out)
{
	struct aten_op op;
	struct err why;
	if (aten_find(&op, name, &why) < 0)
		return interp_bad(run, "%s", why.text);
	const int r = interp_call_op(run, &op, &(struct interp_operands){.arg = arg, .n = n}, out);
	aten_op_release(&op);
	return r;
}

static int take_operands(struct activation *a, const struct gnode *node, struct interp_operands *o)
{
	const struct graph *g = a->run->g;
	*o = (struct interp_operands){.n = node->n_args, .n_named = node->n_kwargs};
	o->arg = arena_alloc(&a->arena, (o->n + 1) * sizeof(*o->arg));
	o->named = arena_alloc(&a->arena, (o->n_named + 1) * sizeof(*o->named));
	for (uint32_t i = 0; i < o->n; i++)
		if (interp_operand(a, g->value[node->args + i], &o->arg[i]) < 0)
			return -1;
	for (uint32_t i = 0; i < o->n_named; i++) {
		o->named[i].name = graph_text(g, g->value[node->kwargs + 2 * i].text);
		if (interp_operand(a, g->value[node->kwargs + 2 * i + 1], &o->named[i].value) < 0)
			return -1;
	}
	return 0;
}

static int getitem(struct interp *run, const struct interp_operands *o, struct aten_value *out)
{
	if (o->n != 2 || o->arg[0].kind != ATEN_LIST || o->arg[1].kind != ATEN_INT)
		return interp_bad(run, "getitem needs a list and an integer here");
	const int64_t n = o->arg[0].n, i = o->arg[1].i < 0 ? o->arg[1].i + n : o->arg[1].i;
	if (i < 0 || i >= n)
		return interp_bad(run, "item %lld of a list of %lld is out of range", (long long)o->arg[1].i, (long long)n);
	return interp_share(run, o->arg[0].item[i], out);
}

static bool reads_bits(struct slice op) { return slice_starts(op, "aten.view.dtype") || slice_starts(op, "aten.view_copy.dtype"); }

static int call_function(struct activation *a, const struct gnode *node, struct aten_value *out)
{
	struct interp *run = a->run;
	const struct slice target = graph_text(run->g, node->target), op = graph_op_text(run->g, run->node);
	const struct slice hop = without(target, "torch.ops.higher_order.");
	struct interp_operands o;
	if (hop.p)
		return interp_hop(a, hop, out);
	if (take_operands(a, node, &o) < 0)
		return -1;
	if (slice_is(target, "_operator.getitem"))
		return getitem(run, &o, out);
	if (run->o->as_double && reads_bits(op))
		return interp_bad(run, "it reads the bits of a number, which differ in float64");
	int r = run->g->functional ? interp_functional(run, target, &o, out) : 1;
	if (r <= 0)
		return r;
	r = interp_check(run, op, o.arg, o.n, o.named, o.n_named, out);
	if (r > 0)
		r = interp_scalar(run, target, o.arg, o.n, out);
	if (r <= 0)
		return r;
	const struct aten_op *found = interp_find(run, node->target);
	return found ? interp_call_op(run, found, &o, out) : -1;
}

/* ---- a module ---- */

static int run_node(struct activation *a, const struct aten_value *input, size_t n, size_t *given, struct aten_value *out)
{
	struct interp *run = a->run;
	const struct gnode *node = &run->g->node[run->node];
	switch ((enum graph_op)node->op) {
	case GRAPH_PLACEHOLDER:
		if (*given == n)
			return interp_bad(run, "no value for this input: only %zu were given", n);
		return interp_share(run, input[(*given)++], out);
	case GRAPH_CALL_FUNCTION: return call_function(a, node, out);
	case GRAPH_GET_ATTR: /* a subgraph, which its operator looks up by the node */
		if (graph_child(run->g, a->module, graph_text(run->g, node->target)) == NONE)
			return interp_bad(run, "the value of this attribute is not in the file");
		*out = (struct aten_value){.kind = ATEN_NONE};
		return 0;
	case GRAPH_CALL_METHOD:
	case GRAPH_CALL_MODULE:
		return interp_bad(run, "a graph with %s is from TorchDynamo, which cannot be run here; use the one after AOTAutograd",
				  graph_op_name(node->op));
	case GRAPH_OUTPUT: break;
	}
	struct aten_value v;
	if (!node->n_args || interp_operand(a, run->g->value[node->args], &v) < 0)
		return node->n_args ? -1 : interp_bad(run, "the output has no operand");
	return v.kind == ATEN_LIST ? interp_share(run, v, out) : share_list(run, (struct aten_value){.n = 1, .item = &v}, out);
}

/* Releases values without later uses. */
struct last {
	struct activation *a;
	uint32_t node;
};

static bool drop(void *user, uint32_t operand)
{
	struct last *l = user;
	const struct graph *g = l->a->run->g;
	const uint32_t end = g->user_of[operand + 1], at = operand - g->module[l->a->module].first;
	if (end == g->user_of[operand] || g->user[end - 1] <= l->node)
		aten_value_release(&l->a->value[at]), l->a->value[at] = (struct aten_value){.kind = ATEN_NONE};
	return true;
}

static int run_nodes(struct activation *a, const struct aten_value *input, size_t n, struct aten_value *out)
{
	struct interp *run = a->run;
	const struct gmodule *m = &run->g->module[a->module];
	size_t given = 0;
	for (uint32_t i = 0; i < m->n; i++) {
		run->node = m->first + i;
		struct aten_value *v = &a->value[i];
		const int r = run_node(a, input, n, &given, v);
		arena_release(&a->arena);
		if (r < 0) {
			*v = (struct aten_value){.kind = ATEN_NONE};
			return -1;
		}
		run->node = m->first + i; /* a subgraph's was here */
		if (run->g->node[run->node].op == GRAPH_OUTPUT)
			return *out = *v, *v = (struct aten_value){.kind = ATEN_NONE}, 0;
		if (run->o->seen && !run->o->seen(run->o->user, run->node, v, run->err))
			return -1;
		struct last l = {a, run->node};
		graph_operands(run->g, run->node, drop, &l);
		if (run->g->user_of[run->node + 1] == run->g->user_of[run->node])
			drop(&l, run->node);
	}
	return interp_bad(run, "module without an output");
}

int interp_call(struct interp *run, uint32_t module, const struct aten_value *input, size_t n, struct aten_value *out)
{
	const struct gmodule *m = &run->g->module[module];
	struct activation a = {.run = run, .module = module};
	const uint32_t caller = run->node;
	if (run->depth == INTERP_DEPTH)
		return interp_bad(run, "subgraphs are nested more than %d deep", INTERP_DEPTH);
	if (run->steps++ >= (run->o->max_steps ? run->o->max_steps : 1000000))
		return interp_bad(run, "endless: subgraphs were called %llu times", (unsigned long long)run->steps - 1);
	a.value = xcalloc(m->n + 1, sizeof(*a.value));
	run->depth++;
	const int r = run_nodes(&a, input, n, out);
	run->depth--;
	for (uint32_t i = 0; i < m->n; i++)
		aten_value_release(&a.value[i]);
	free(a.value);
	if (r == 0)
		run->node = caller;
	return r;
}

/* ---- the whole ---- */

int interp_to_double(const struct aten_value *in, const struct aten_mode *mode, struct aten_value *out, struct err *err)
{
	const int dtype = in->kind == ATEN_TENSOR ? real_of_double(in->tensor->dtype) : DTYPE_NONE;
	*out = *in;
	if (in->kind != ATEN_TENSOR)
		return 0;
	ATEN_TRY("input")
	{
		if (mode)
			aten_frame_.mode = *mode;
		struct aten_tensor *t = dtype == in->tensor->dtype ? aten_alias(in->tensor) : aten_like(in->tensor, dtype);
		if (dtype != in->tensor->dtype)
			aten_copy(t, in->tensor);
		*out = aten_of(aten_keep(t));
	}
	return ATEN_END ? err_set(err, EXIT_INPUT, "%s", aten_last_error()) : 0;
}

static int run_doubled(struct interp *run, const struct aten_value *input, size_t n, struct aten_value *out)
{
	struct aten_value *in = xcalloc(n + 1, sizeof(*in));
	int r = 0;
	size_t i = 0;
	while (i < n && (r = interp_to_double(&input[i], &run->mode, &in[i], run->err)) == 0)
		i++;
	if (r == 0)
		r = interp_call(run, 0, in, n, out);
	while (i-- > 0)
		aten_value_release(&in[i]);
	free(in);
	return r;
}

struct interp *interp_open(const struct graph *g, const struct interp_options *o)
{
	static const struct interp_options plain;
	struct interp *run = xcalloc(1, sizeof(*run));
	*run = (struct interp){.g = g, .o = o ? o : &plain};
	run->op = xcalloc(g->text.n + 1, sizeof(*run->op));
	run->no_op = xcalloc(g->text.n + 1, sizeof(*run->no_op));
	run->n_texts = g->text.n;
	run->mode = (struct aten_mode){.shapes = run->o->shapes,
				       .default_dtype = run->o->as_double ? DTYPE_F64 : 0,
				       .max_bytes = run->o->max_bytes ? aten_live_bytes() + run->o->max_bytes : 0};
	return run;
}

void interp_close(struct interp *run)
{
	for (uint32_t i = 0; i < run->n_texts; i++)
		if (run->op[i].entry)
			aten_op_release(&run->op[i]);
	free(run->op);
	free(run->no_op);
	free(run);
}

int interp_eval(struct interp *run, uint32_t node, struct aten_value *value, struct err *err)
{
	struct activation a = {.run = run, .value = value};
	size_t none = 0;
	run->err = err;
	run->node = node;
	run->steps = 0;
	struct aten_value *v = &value[node - run->g->module[0].first];
	const int r = run_node(&a, NULL, 0, &none, v);
	arena_release(&a.arena);
	if (r < 0)
		*v = (struct aten_value){.kind = ATEN_NONE};
	return r;
}

int interp_run(const struct graph *g, const struct aten_value *input, size_t n, const struct interp_options *o, struct aten_value *out,
	       struct err *err)
{
	if (!g->n_modules || !g->module[0].n)
		return err_set(err, EXIT_INPUT, "the graph is empty: nothing to run");
	struct interp *run = interp_open(g, o);
	run->err = err;
	run->node = g->module[0].first;
	const int r = run->o->as_double ? run_doubled(run, input, n, out) : interp_call(run, 0, input, n, out);
	interp_close(run);
	return r;
}

/* ---- before a run ---- */

bool interp_writes(const struct graph *g)
{
	uint32_t ignored[FUNCTIONAL_WRITTEN];
	bool writes = false;
	for (uint32_t i = 0; i < g->n_nodes && !writes && !g->functional; i++)
		writes = functional_written(g, i, ignored) != 0;
	return writes;
}

static bool runs(const struct graph *g, uint32_t node)
{
	const struct slice target = graph_text(g, g->node[node].target), hop = without(target, "torch.ops.higher_order.");
	struct aten_op op;
	struct err ignored;
	if (hop.p)
		return interp_hop_has(hop);
	if (slice_is(target, "_operator.getitem") || interp_scalar_has(target) || interp_check_has(graph_op_text(g, node)) ||
	    interp_functional_has(target))
		return true;
	if (aten_find(&op, target, &ignored) < 0)
		return false;
	aten_op_release(&op);
	return true;
}

size_t interp_missing(const struct graph *g, struct interp_missing *v, size_t n)
{
	uint32_t *times = xcalloc(g->text.n + 1, sizeof(*times)); /* of a target */
	size_t found = 0;
	for (uint32_t i = 0; i < g->n_nodes; i++)
		times[g->node[i].target] += graph_computes(&g->node[i]);
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const uint32_t target = g->node[i].target;
		if (graph_computes(&g->node[i]) && times[target] && !runs(g, i)) {
			if (found < n)
				v[found] = (struct interp_missing){graph_op_text(g, i), times[target]};
			found++;
		}
		times[target] = 0;
	}
	free(times);
	return found;
}
