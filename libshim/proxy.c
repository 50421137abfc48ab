#include "proxy.h"

#include "base/buf.h"
#include "elem.h"

static const struct proxy_op ops[] = {
    {"aten::_fft_c2r", 1, proxy_fft_c2r},
    {"aten::_linalg_check_errors", 0, proxy_linalg_check_errors},
    {"aten::_linalg_det", 3, proxy_linalg_det},
    {"aten::_linalg_eigh", 2, proxy_linalg_eigh},
    {"aten::_linalg_eigvals", 1, proxy_linalg_eigvals},
    {"aten::_linalg_slogdet", 4, proxy_linalg_slogdet},
    {"aten::_linalg_solve_ex", 4, proxy_linalg_solve_ex},
    {"aten::_linalg_svd", 3, proxy_linalg_svd},
    {"aten::_unique2", 3, proxy_unique2},
    {"aten::_upsample_bicubic2d_aa", 1, proxy_upsample_bicubic_aa},
    {"aten::_upsample_bilinear2d_aa", 1, proxy_upsample_bilinear_aa},
    {"aten::bincount", 1, proxy_bincount},
    {"aten::cholesky", 1, proxy_cholesky},
    {"aten::linalg_cholesky_ex", 2, proxy_linalg_cholesky_ex},
    {"aten::linalg_eig", 2, proxy_linalg_eig},
    {"aten::linalg_eigvals", 1, proxy_linalg_eigvals},
    {"aten::linalg_householder_product", 1, proxy_linalg_householder_product},
    {"aten::linalg_inv_ex", 2, proxy_linalg_inv_ex},
    {"aten::linalg_ldl_factor_ex", 3, proxy_linalg_ldl_factor_ex},
    {"aten::linalg_ldl_solve", 1, proxy_linalg_ldl_solve},
    {"aten::linalg_lstsq", 4, proxy_linalg_lstsq},
    {"aten::linalg_lu", 3, proxy_linalg_lu},
    {"aten::linalg_lu_factor", 2, proxy_linalg_lu_factor_ex},
    {"aten::linalg_lu_factor_ex", 3, proxy_linalg_lu_factor_ex},
    {"aten::linalg_lu_solve", 1, proxy_linalg_lu_solve},
    {"aten::linalg_matrix_exp", 1, proxy_linalg_matrix_exp},
    {"aten::linalg_pinv.atol_rtol_tensor", 1, proxy_linalg_pinv},
    {"aten::linalg_qr", 2, proxy_linalg_qr},
    {"aten::linalg_solve_triangular", 1, proxy_linalg_solve_triangular},
    {"aten::median.dim", 2, proxy_median_dim},
    {"aten::multinomial", 1, proxy_multinomial},
    {"aten::nanmedian.dim", 2, proxy_nanmedian_dim},
    {"aten::unique_consecutive", 3, proxy_unique_consecutive},
    {"aten::unique_dim", 3, proxy_unique_dim},
    {"aten::unique_dim_consecutive", 3, proxy_unique_dim_consecutive},
};

struct executor {
	struct extern_nodes nodes;
	const struct proxy_op **op; /* of each node */
	struct counts {
		int tensors, ints; /* of the inputs */
	} * count;
};

/* ---- opening ---- */

static const struct proxy_op *op_of(const struct extern_node *node)
{
	for (size_t i = 0; i < ARRAY_LEN(ops); i++)
		if (!strcmp(ops[i].target, node->target))
			return &ops[i];
	return proxy_complex_op(node->op, node->overload);
}

/* What values before the end'th take of the call. */
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

static bool results_fit(const struct extern_nodes *x, const struct extern_node *node, const struct proxy_op *op)
{
	for (uint32_t i = 0; i < node->n_out; i++) {
		const struct extern_value *v = &x->value[node->out + i];
		if (v->kind != EXTERN_TENSOR || v->list)
			return false;
	}
	return node->n_out == op->results;
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
	e->op = xcalloc((size_t)e->nodes.n + 1, sizeof(*e->op));
	e->count = xcalloc((size_t)e->nodes.n + 1, sizeof(*e->count));
	for (uint32_t k = 0; k < e->nodes.n; k++) {
		const struct extern_node *node = &e->nodes.node[k];
		e->op[k] = op_of(node);
		e->count[k] = counts_until(&e->nodes, node, node->n_in);
		if (!e->op[k] || !results_fit(&e->nodes, node, e->op[k]))
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
	extern_nodes_release(&e->nodes);
	free(e->op);
	free(e->count);
	free(e);
}

/* ---- parameters ---- */

static const struct extern_value *parameter(const struct proxy_call *c, const char *name, enum extern_kind kind, bool list)
{
	const struct extern_value *v = extern_input(c->nodes, c->node, name);
	if (!v || v->kind == EXTERN_NONE)
		return NULL;
	if (v->kind != kind || v->list != list)
		shim_fail("another kind of value for %s than torch's", name);
	return v;
}

static struct counts before(const struct proxy_call *c, const struct extern_value *v)
{
	return counts_until(c->nodes, c->node, (uint32_t)(v - &c->nodes->value[c->node->in]));
}

struct shim_tensor *proxy_tensor_or_none(const struct proxy_call *c, const char *name)
{
	const struct extern_value *v = parameter(c, name, EXTERN_TENSOR, false);
	struct shim_tensor *t = v ? c->tensors[before(c, v).tensors] : NULL;
	if (t && !t->storage)
		shim_fail("%s is a tensor that is not defined", name);
	return t;
}

struct shim_tensor *proxy_tensor(const struct proxy_call *c, const char *name)
{
	struct shim_tensor *t = proxy_tensor_or_none(c, name);
	if (!t)
		shim_fail("no tensor for %s", name);
	return t;
}

bool proxy_is_none(const struct proxy_call *c, const char *name)
{
	const struct extern_value *v = extern_input(c->nodes, c->node, name);
	return !v || v->kind == EXTERN_NONE;
}

int64_t proxy_int(const struct proxy_call *c, const char *name, int64_t otherwise)
{
	const struct extern_value *v = parameter(c, name, EXTERN_INT, false);
	return v ? c->ints[before(c, v).ints] : otherwise;
}

bool proxy_bool(const struct proxy_call *c, const char *name, bool otherwise)
{
	const struct extern_value *v = parameter(c, name, EXTERN_BOOL, false);
	return v ? c->nodes->item[v->item].i != 0 : otherwise;
}

double proxy_float(const struct proxy_call *c, const char *name, double otherwise)
{
	const struct extern_value *v = extern_input(c->nodes, c->node, name);
	if (v && v->kind == EXTERN_INT)
		return (double)proxy_int(c, name, 0);
	v = parameter(c, name, EXTERN_FLOAT, false);
	return v ? c->nodes->item[v->item].f : otherwise;
}

double complex proxy_number(const struct proxy_call *c, const char *name, double otherwise)
{
	const struct extern_value *v = extern_input(c->nodes, c->node, name);
	if (v && v->kind == EXTERN_COMPLEX)
		return CMPLX(c->nodes->item[v->item].f, c->nodes->item[v->item].imag);
	if (v && v->kind == EXTERN_BOOL)
		return proxy_bool(c, name, false);
	return proxy_float(c, name, otherwise);
}

struct slice proxy_string(const struct proxy_call *c, const char *name, const char *otherwise)
{
	const struct extern_value *v = parameter(c, name, EXTERN_STRING, false);
	return v ? c->nodes->item[v->item].text : slice_str(otherwise);
}

const int64_t *proxy_ints(const struct proxy_call *c, const char *name, int64_t *n)
{
	const struct extern_value *v = parameter(c, name, EXTERN_INT, true);
	*n = v ? v->n : 0;
	return v ? c->ints + before(c, v).ints : NULL;
}

void proxy_give(const struct proxy_call *c, int i, struct shim_tensor *result) { shim_assign(c->out[i], result); }

/* ---- the call ---- */

static void check_call(const struct executor *e, int node, int n_ints, int n_tensors)
{
	if (!e)
		shim_fail("extern node %d without a list of them: the runner gave none", node);
	if (node < 0 || (uint32_t)node >= e->nodes.n)
		shim_fail("extern node %d is not in the package's list", node);
	const struct counts *n = &e->count[node];
	/* Of a default that is an integer Scalar torch 2.13 gives the number, but does not list it: sub's alpha. It comes last. */
	if (n_ints < n->ints || n_tensors < n->tensors || (uint32_t)(n_tensors - n->tensors) != e->op[node]->results)
		shim_fail("%d integers and %d tensors, other than the package's list has", n_ints, n_tensors);
}

AOTITorchError aoti_torch_proxy_executor_call_function(void *executor, int node, int n_ints, int64_t *ints, int n_tensors,
						       AtenTensorHandle *tensors)
{
	const struct executor *e = executor;
	SHIM_TRY_AS(e &&node >= 0 && (uint32_t)node < e->nodes.n ? e->nodes.node[node].target : "proxy_executor") {
		check_call(e, node, n_ints, n_tensors);
		struct proxy_call c = {.nodes = &e->nodes,
				       .node = &e->nodes.node[node],
				       .ints = ints,
				       .tensors = tensors,
				       .out = tensors + e->count[node].tensors};
		e->op[node]->run(&c);
	}
	SHIM_END
}
