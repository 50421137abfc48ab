#include "aoti/wrapper.h"
#include "base/json.h"

static bool proxy_index(struct slice name, uint64_t *k)
{
	static const char head[] = "proxy_executor[";
	return slice_starts(name, head) && slice_ends(name, "]") &&
	       slice_u64(slice_of(name.p + sizeof(head) - 1, name.n - sizeof(head)), k);
}

/* add_ and add_.Tensor, but not add._x */
static bool in_place(struct slice target)
{
	const char *dot = memchr(target.p, '.', target.n);
	if (dot)
		target.n = (size_t)(dot - target.p);
	return slice_ends(target, "_");
}

static void name_call(struct contract *c, struct contract_call *call, struct slice target)
{
	call->name = target;
	if (!in_place(target))
		return;
	for (uint32_t i = 0; i < call->n_args; i++) {
		struct contract_arg *a = &c->arg[call->arg + i];
		if (a->role == ARG_IN) {
			a->role = ARG_INOUT;
			return;
		}
	}
}

/* Tokens of the nodes, in order. */
static uint32_t *list_nodes(const struct json_tape *t, uint32_t nodes, size_t *n)
{
	uint32_t *v = NULL;
	size_t cap = 0;
	*n = 0;
	for (uint32_t k = json_first(t, nodes); k < json_end(t, nodes); k = json_next(t, k)) {
		GROW(v, *n, cap, 1);
		v[(*n)++] = k;
	}
	return v;
}

int wrapper_name_proxies(struct contract *c, struct slice extern_nodes_json, struct err *err)
{
	struct json_tape t = {0};
	struct buf name = {0};
	uint32_t root, nodes = JSON_NONE;
	json_tape_text(&t, extern_nodes_json.p, extern_nodes_json.n);
	int r = 0;
	if (extern_nodes_json.n > UINT32_MAX / 2)
		r = err_set(err, EXIT_INPUT, "extern nodes: the file is too long");
	else if (json_parse(&t, 0, extern_nodes_json.n, &root) < 0)
		r = err_set(err, EXIT_INPUT, "extern nodes: %s at offset %zu", t.error, t.error_at);
	else if ((nodes = json_get(&t, root, "nodes")) == JSON_NONE || !json_is(&t, nodes, JSON_ARRAY))
		r = err_set(err, EXIT_INPUT, "extern nodes: there is no list of nodes");
	size_t n = 0;
	uint32_t *node = r == 0 ? list_nodes(&t, nodes, &n) : NULL;
	for (uint32_t i = 0; r == 0 && i < c->n_calls; i++) {
		uint64_t k;
		if (c->call[i].kind != CALL_PROXY || !proxy_index(c->call[i].name, &k))
			continue;
		uint32_t target = k < n ? json_get(&t, json_get(&t, node[k], "node"), "target") : JSON_NONE;
		if (target == JSON_NONE || !json_is(&t, target, JSON_STRING)) {
			contract_note(c, "extern nodes: node %llu, which the text calls, is not there",
				      (unsigned long long)k);
			continue;
		}
		buf_reset(&name);
		json_unescape(&t, target, &name);
		name_call(c, &c->call[i], arena_slice(&c->arena, buf_slice(&name)));
	}
	free(node);
	buf_release(&name);
	json_tape_release(&t);
	return r;
}
