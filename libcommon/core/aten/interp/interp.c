#include "aten/interp/functionalize.h"
#include "aten/interp/interp_part.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- calls ---- */

int interp_operands(struct activation *a, const struct gnode *node, uint32_t from, struct interp_operands *o)
{
	const struct graph *g = a->run->g;
	*o = (struct interp_operands){.n = node->n_args - from, .n_named = node->n_kwargs};
	o->arg = arena_alloc(&a->arena, (o->n + 1) * sizeof(*o->arg));
	o->named = arena_alloc(&a->arena, (o->n_named + 1) * sizeof(*o->named));
	for (uint32_t i = 0; i < o->n; i++)
		if (interp_operand(a, g->value[node->args + from + i], &o->arg[i]) < 0)
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
	const struct slice hop = interp_without(graph_text(run->g, node->target), "torch.ops.higher_order.");
	struct interp_operands o;
	if (hop.p && run->levels && run->levels[run->node] && !interp_vmap_region(graph_text(run->g, node->target)))
		return interp_bad(run, "unsupported within torch.vmap");
	if (hop.p)
		return interp_hop(a, hop, out);
	if (interp_operands(a, node, 0, &o) < 0)
		return -1;
	const int r = interp_vmap(a, node, &o, out);
	return r > 0 ? interp_call_node(run, node, &o, out) : r;
}

int interp_call_node(struct interp *run, const struct gnode *node, struct interp_operands *o, struct aten_value *out)
{
	const struct slice target = graph_text(run->g, node->target), op = graph_op_text(run->g, run->node);
	if (slice_is(target, "_operator.getitem"))
		return getitem(run, o, out);
	if (run->o->as_double && reads_bits(op))
		return interp_bad(run, "it reads the bits of a number, which differ in float64");
	const uint32_t at = run->node - run->g->module[0].first;
	if (run->o->drop && at < run->g->module[0].n && run->o->drop[at]) {
		struct aten_value two[] = {o->arg[0], aten_of(run->o->drop[at])};
		return interp_aten(run, SLICE("aten.mul.Tensor"), two, 2, out);
	}
	int r = run->g->functional ? interp_functional(run, target, o, out) : 1;
	if (r <= 0)
		return r;
	r = interp_check(run, op, o->arg, o->n, o->named, o->n_named, out);
	if (r > 0)
		r = interp_scalar(run, target, o->arg, o->n, out);
	if (r > 0)
		r = interp_more(run, node->target, op, o, out);
	if (r <= 0)
		return r;
	const struct aten_op *found = interp_find(run, node->target);
	return found ? interp_call_op(run, found, o, out) : -1;
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
	return interp_share(run, v.kind == ATEN_LIST ? v : (struct aten_value){.kind = ATEN_LIST, .n = 1, .item = &v}, out);
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
	const int dtype = in->kind == ATEN_TENSOR ? interp_real_of_double(in->tensor->dtype) : DTYPE_NONE;
	*out = *in;
	if (in->kind == ATEN_LIST) { /* a tensor subclass: names and tensors */
		*out = (struct aten_value){.kind = ATEN_LIST, .item = xcalloc(in->n + 1, sizeof(*out->item))};
		while (out->n < in->n && interp_to_double(&in->item[out->n], mode, &out->item[out->n], err) == 0)
			out->n++;
		if (out->n == in->n)
			return 0;
		aten_value_release(out);
		return -1;
	}
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
	run->levels = interp_levels(g);
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
	free(run->levels);
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

/* What a node calls: with_effects is its operator. */
static struct slice called(const struct graph *g, uint32_t node)
{
	const uint32_t effect = interp_effect(g, node);
	return effect != NONE ? interp_without(graph_text(g, effect), "torch.ops.") : graph_op_text(g, node);
}

static bool runs(const struct graph *g, const struct interp_more *more, uint32_t node)
{
	const struct slice target = graph_text(g, g->node[node].target), op = called(g, node), hop = interp_without(op, "higher_order.");
	struct aten_op found;
	struct err ignored;
	if (hop.p)
		return interp_hop_has(hop);
	if (slice_is(target, "_operator.getitem") || interp_scalar_has(target) || interp_vmap_has(target) || interp_check_has(op) ||
	    interp_functional_has(target))
		return true;
	if (aten_find(&found, op, &ignored) < 0)
		return more && more->has(more->user, op);
	aten_op_release(&found);
	return true;
}

size_t interp_missing(const struct graph *g, const struct interp_more *more, struct interp_missing *v, size_t n)
{
	uint32_t *times = xcalloc(g->text.n + 1, sizeof(*times)); /* of a target */
	size_t found = 0;
	for (uint32_t i = 0; i < g->n_nodes; i++)
		times[g->node[i].target] += graph_computes(&g->node[i]);
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const uint32_t target = g->node[i].target;
		if (graph_computes(&g->node[i]) && times[target] && !runs(g, more, i)) {
			if (found < n)
				v[found] = (struct interp_missing){called(g, i), times[target]};
			found++;
		}
		times[target] = 0;
	}
	free(times);
	return found;
}
