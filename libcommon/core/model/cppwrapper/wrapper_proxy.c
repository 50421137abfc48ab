#include "model/cppwrapper/optypes.h"
#include "model/cppwrapper/wrapper.h"
#include "model/package/externnodes.h"

static bool proxy_index(struct slice name, uint64_t *k)
{
	static const char head[] = "proxy_executor[";
	return slice_starts(name, head) && slice_ends(name, "]") &&
	       slice_u64(slice_of(name.p + sizeof(head) - 1, name.n - sizeof(head)), k);
}

static void take_type(struct contract *c, uint32_t value, int dtype)
{
	if (c->value[value].dtype != DTYPE_NONE || dtype == DTYPE_NONE)
		return;
	c->value[value].dtype = dtype;
	for (uint32_t i = 0; i < c->n_outputs; i++)
		if (c->output[i].value == value)
			c->output[i].dtype = dtype;
}

/* Dtypes of the results of torch's own operators, and then of what others compute from them; from 2.15 on they are in the text. */
static void type_results(struct contract *c, const struct contract_call *call)
{
	const char *types = op_result_types(call->name.p);
	int given[2] = {DTYPE_NONE, DTYPE_NONE};
	uint32_t n_in = 0;
	for (uint32_t i = call->arg; i < call->arg + call->n_args; i++) {
		const struct contract_arg *a = &c->arg[i];
		if (a->value == NONE)
			continue;
		if (a->role != ARG_OUT && n_in < 2)
			given[n_in++] = c->value[a->value].dtype;
		else if (a->role == ARG_OUT && *types)
			take_type(c, a->value, op_result_type(*types++, given[0], given[1]));
	}
}

static void name_call(struct contract *c, struct contract_call *call, const struct extern_node *node)
{
	call->name = arena_slice(&c->arena, slice_str(node->target));
	if (!slice_ends(slice_str(node->op), "_")) /* add_ and add_.Tensor, but not add._x */
		return;
	for (uint32_t i = 0; i < call->n_args; i++) {
		struct contract_arg *a = &c->arg[call->arg + i];
		if (a->role == ARG_IN) {
			a->role = ARG_INOUT;
			return;
		}
	}
}

int wrapper_name_proxies(struct contract *c, struct slice extern_nodes_json, struct err *err)
{
	struct extern_nodes x;
	if (extern_nodes_read(&x, extern_nodes_json, err) < 0)
		return -1;
	for (uint32_t i = 0; i < c->n_calls; i++) {
		uint64_t k;
		if (c->call[i].kind != CALL_PROXY || !proxy_index(c->call[i].name, &k))
			continue;
		if (k < x.n && *x.node[k].target)
			name_call(c, &c->call[i], &x.node[k]);
		else
			contract_note(c, "extern nodes: node %llu, which the text calls, is missing", (unsigned long long)k);
	}
	for (uint32_t i = 0; i < c->n_calls; i++)
		if (c->call[i].kind != CALL_KERNEL)
			type_results(c, &c->call[i]);
	extern_nodes_release(&x);
	return 0;
}
