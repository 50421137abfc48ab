#include "proxy.h"

#include "base/buf.h"
#include "aten/elem.h"
#include "shim.h"

struct proxy_call {
	const struct extern_nodes *nodes;
	const struct extern_node *node;
	const struct aten_op *aten;
	const int64_t *ints;
	AtenTensorHandle *tensors, *out;
};

struct executor {
	struct extern_nodes nodes;
	struct aten_op *aten; /* of each node */
	struct counts {
		int tensors, ints; /* of the inputs */
	} * count;
};

/* ---- opening ---- */

/* The words of the call used by the values before the end'th. */
static struct counts counts_until(const struct extern_nodes *x, const struct extern_node *node, uint32_t end)
{
	struct counts n = {0};
	for (uint32_t k = 0; k < end; k++) {
		const struct extern_value *v = &x->value[node->in + k];
		if (v->kind == EXTERN_INT)
			n.ints += (int)v->n;
		for (uint32_t i = 0; v->kind == EXTERN_TENSOR && i < v->n; i++)
			n.tensors += x->item[v->item + i].given;
	}
	return n;
}

static bool results_fit(const struct extern_nodes *x, const struct extern_node *node, uint32_t results)
{
	for (uint32_t i = 0; i < node->n_out; i++) {
		const struct extern_value *v = &x->value[node->out + i];
		if (v->kind != EXTERN_TENSOR || v->list)
			return false;
	}
	return node->n_out == results;
}

static void add_missing(struct buf *why, const struct extern_node *n)
{
	const char *name = *n->target ? n->target : "(a node without a target)";
	if (why->len < 400 && !slice_find(buf_slice(why), name))
		buf_addf(why, "%s%.100s", why->len ? ", " : "", name);
}

void *shim_proxy_open(const char *json, size_t n, char *why, size_t room)
{
	struct executor *e = calloc(1, sizeof(*e));
	struct buf missing = {0};
	struct err err;
	if (!e || extern_nodes_read(&e->nodes, slice_of(json, n), &err) < 0) {
		snprintf(why, room, "%s", e ? err.text : "out of memory");
		free(e);
		return NULL;
	}
	e->aten = xcalloc((size_t)e->nodes.n + 1, sizeof(*e->aten));
	e->count = xcalloc((size_t)e->nodes.n + 1, sizeof(*e->count));
	for (uint32_t k = 0; k < e->nodes.n; k++) {
		const struct extern_node *node = &e->nodes.node[k];
		bool found = aten_find(&e->aten[k], slice_str(node->target), &err) == 0;
		e->count[k] = counts_until(&e->nodes, node, node->n_in);
		if (!found || !results_fit(&e->nodes, node, e->aten[k].n_results))
			add_missing(&missing, node);
	}
	snprintf(why, room, "%s", buf_str(&missing));
	if (missing.len) {
		shim_proxy_close(e);
		e = NULL;
	}
	buf_release(&missing);
	return e;
}

void shim_proxy_close(void *executor)
{
	struct executor *e = executor;
	if (!e)
		return;
	for (uint32_t k = 0; k < e->nodes.n; k++)
		aten_op_release(&e->aten[k]);
	extern_nodes_release(&e->nodes);
	free(e->aten);
	free(e->count);
	free(e);
}

/* ---- parameters ---- */

static struct counts before(const struct proxy_call *c, const struct extern_value *v)
{
	return counts_until(c->nodes, c->node, (uint32_t)(v - &c->nodes->value[c->node->in]));
}

static struct aten_value item_value(enum extern_kind kind, const struct extern_item *item)
{
	switch (kind) {
	case EXTERN_FLOAT: return aten_float(item->f);
	case EXTERN_BOOL: return aten_bool(item->i != 0);
	case EXTERN_COMPLEX: return (struct aten_value){.kind = ATEN_COMPLEX, .z = CMPLX(item->f, item->imag)};
	case EXTERN_STRING: return (struct aten_value){.kind = ATEN_STRING, .text = item->text};
	case EXTERN_DTYPE: return aten_dtype((int)item->i);
	case EXTERN_LAYOUT: return (struct aten_value){.kind = ATEN_LAYOUT, .i = item->i};
	case EXTERN_FORMAT: return (struct aten_value){.kind = ATEN_FORMAT, .i = item->i};
	case EXTERN_DEVICE: return (struct aten_value){.kind = ATEN_DEVICE, .i = DEVICE_CPU};
	default: return (struct aten_value){.kind = ATEN_NONE};
	}
}

/* Does it match the schema? The operator checks the rest. */
static bool fits_schema(const struct op_param *p, const struct extern_value *v)
{
	static const struct {
		const char *type;
		enum extern_kind kind, too;
	} kinds[] = {
	    {"int", EXTERN_INT, EXTERN_INT},    {"SymInt", EXTERN_INT, EXTERN_INT},    {"float", EXTERN_FLOAT, EXTERN_INT},
	    {"bool", EXTERN_BOOL, EXTERN_BOOL}, {"str", EXTERN_STRING, EXTERN_STRING}, {"Tensor", EXTERN_TENSOR, EXTERN_TENSOR},
	};
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (slice_is(p->type, kinds[i].type))
			return v->kind == EXTERN_NONE || v->kind == kinds[i].kind || v->kind == kinds[i].too;
	return v->kind != EXTERN_OTHER;
}

/* The value of one input; tensors and integers are the call's. */
static struct aten_value input_value(const struct proxy_call *c, const struct extern_value *v)
{
	struct counts at = before(c, v);
	struct aten_value *all = aten_scratch((uint64_t)v->n + 1, sizeof(*all));
	for (uint32_t i = 0; i < v->n; i++) {
		const struct extern_item *item = &c->nodes->item[v->item + i];
		if (v->kind == EXTERN_TENSOR)
			all[i] = item->given ? aten_of(c->tensors[at.tensors++]) : aten_of(NULL);
		else
			all[i] = v->kind == EXTERN_INT ? aten_int(c->ints[at.ints++]) : item_value(v->kind, item);
	}
	return v->list ? (struct aten_value){.kind = ATEN_LIST, .n = v->n, .item = all} : v->kind == EXTERN_NONE ? aten_of(NULL) : all[0];
}

static void run_node(const struct proxy_call *c)
{
	const struct op_schema *s = &c->aten->parsed;
	struct aten_named *named = aten_scratch((uint64_t)s->n + 1, sizeof(*named));
	struct aten_value ret[ATEN_RESULTS] = {{0}};
	size_t n = 0;
	for (uint32_t i = 0; i < s->n; i++) {
		char name[64];
		snprintf(name, sizeof(name), "%.*s", SLN(s->param[i].name, sizeof(name) - 1));
		const struct extern_value *v = extern_input(c->nodes, c->node, name);
		if (v && !fits_schema(&s->param[i], v))
			aten_fail("wrong kind of value for %s", name);
		if (v)
			named[n++] = (struct aten_named){s->param[i].name, input_value(c, v)};
	}
	aten_run(c->aten, NULL, 0, named, n, ret);
	for (uint32_t i = 0; i < c->node->n_out; i++)
		aten_assign(c->out[i], ret[i].tensor);
}

/* ---- the call ---- */

static void check_call(const struct executor *e, int node, int n_ints, int n_tensors)
{
	if (!e)
		aten_fail("extern node %d, but the runner provided no list of extern nodes", node);
	if (node < 0 || (uint32_t)node >= e->nodes.n)
		aten_fail("extern node %d is not in the package's list", node);
	const struct counts *n = &e->count[node];
	/* torch 2.13 passes the value of an integer Scalar default (sub's alpha) but does not list it. It comes last. */
	if (n_ints < n->ints || n_tensors < n->tensors || (uint32_t)(n_tensors - n->tensors) != e->nodes.node[node].n_out)
		aten_fail("%d integers and %d tensors do not match the package's list", n_ints, n_tensors);
}

AOTITorchError aoti_torch_proxy_executor_call_function(void *executor, int node, int n_ints, int64_t *ints, int n_tensors,
						       AtenTensorHandle *tensors)
{
	const struct executor *e = executor;
	SHIM_TRY_AS(e &&node >= 0 && (uint32_t)node < e->nodes.n ? e->nodes.node[node].target : "proxy_executor") {
		check_call(e, node, n_ints, n_tensors);
		struct proxy_call c = {.nodes = &e->nodes,
				       .node = &e->nodes.node[node],
				       .aten = &e->aten[node],
				       .ints = ints,
				       .tensors = tensors,
				       .out = tensors + e->count[node].tensors};
		run_node(&c);
	}
	SHIM_END
}
