#include "graph/slice.h"

/* A function is known by its name without namespace and overload: "add_" of torch.ops.aten.add_.Tensor. */
static struct slice base_name(const struct graph *g, uint32_t node)
{
	struct slice s = graph_text(g, g->node[node].target), last = s;
	bool op = slice_starts(s, "torch.ops.") && !slice_starts(s, "torch.ops.higher_order.");
	const char *dot = slice_rchr(s, '.');
	if (dot) {
		last = slice_of(dot + 1, (size_t)(s.p + s.n - dot - 1));
		s.n = (size_t)(dot - s.p);
	}
	/* Five components: the last one is the overload. torch.ops.aten.add alone is a packet of overloads. */
	size_t dots = 0;
	for (size_t i = 0; op && i < s.n; i++)
		dots += s.p[i] == '.';
	if (dots == 3 && (dot = slice_rchr(s, '.')))
		last = slice_of(dot + 1, (size_t)(s.p + s.n - dot - 1));
	return last;
}

static bool in_list(struct slice s, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (slice_is(s, list[i]))
			return true;
	return false;
}
#define IN(s, list) in_list(s, list, ARRAY_LEN(list))

static const char *const no_value[] = {
    "_assert",
    "_assert_async",
    "_assert_scalar",
    "_assert_tensor_metadata",
    "sym_constrain_range",
    "sym_constrain_range_for_size",
    "_check",
    "_check_is_size",
    "_print",
    "print",
    "setitem",
    "__setitem__",
    "_set_grad_enabled",
    "_enter_autocast",
    "_exit_autocast",
    "_record_function_enter",
    "_record_function_enter_new",
    "_record_function_exit",
    "resize_storage_bytes_",
    "accumulate_grad_",
    "triton_kernel_wrapper_mutation",
    "manual_seed",
};

static const char *const draws[] = {
    "rand",
    "randn",
    "randint",
    "randperm",
    "rand_like",
    "randn_like",
    "randint_like",
    "bernoulli",
    "normal",
    "uniform",
    "exponential",
    "geometric",
    "cauchy",
    "log_normal",
    "multinomial",
    "poisson",
    "binomial",
    "dropout",
    "native_dropout",
    "alpha_dropout",
    "feature_dropout",
    "feature_alpha_dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "rrelu",
    "rrelu_with_noise",
    "gumbel_softmax",
    "inductor_seed",
    "inductor_seeds",
    "inductor_random",
    "inductor_randint",
    "_standard_gamma",
    "_sample_dirichlet",
    "philox_rand",
    "run_with_rng_state",
    "run_and_save_rng_state",
    "graphsafe_run_with_rng_state",
    "auto_functionalized",
    "auto_functionalized_v2",
    "with_effects",
};

static const char *const views[] = {
    "view",
    "view_as",
    "reshape",
    "reshape_as",
    "_unsafe_view",
    "_reshape_alias",
    "flatten",
    "unflatten",
    "ravel",
    "squeeze",
    "unsqueeze",
    "permute",
    "transpose",
    "t",
    "numpy_T",
    "matrix_H",
    "mT",
    "mH",
    "adjoint",
    "swapaxes",
    "swapdims",
    "movedim",
    "moveaxis",
    "expand",
    "expand_as",
    "broadcast_to",
    "slice",
    "select",
    "narrow",
    "split",
    "split_with_sizes",
    "chunk",
    "unbind",
    "tensor_split",
    "hsplit",
    "vsplit",
    "dsplit",
    "diagonal",
    "as_strided",
    "alias",
    "detach",
    "contiguous",
    "to",
    "type_as",
    "type",
    "float",
    "half",
    "double",
    "unfold",
    "view_as_real",
    "view_as_complex",
    "real",
    "imag",
    "lift_fresh",
    "positive",
    "getitem",
    "__getitem__",
    "getattr",
    "data",
};

/* Numbers and shapes, for any operands. Python functions of only these are not tensors, either. */
static const char *const no_tensor[] = {
    "sym_size",
    "sym_stride",
    "sym_numel",
    "sym_storage_offset",
    "_local_scalar_dense",
    "item",
    "tolist",
    "size",
    "stride",
    "numel",
    "dim",
    "ndim",
    "len",
    "getattr",
    "is_nonzero",
    "storage_offset",
    "element_size",
    "is_contiguous",
    "data_ptr",
};
static const char *const sequences[] = {"split", "split_with_sizes", "chunk", "unbind", "tensor_split", "hsplit", "vsplit", "dsplit"};

/* "add_", not "__iadd__"; Python's "iadd" of _operator. */
static bool in_place(const struct graph *g, uint32_t node, struct slice base)
{
	static const char *const inplace[] = {"iadd", "isub", "imul",    "itruediv", "ifloordiv", "imod",    "ipow",   "iand",
					      "ior",  "ixor", "ilshift", "irshift",  "imatmul",   "iconcat", "setitem"};
	struct slice target = graph_text(g, g->node[node].target);
	if (slice_ends(base, "__"))
		return slice_is(base, "__setitem__") || slice_starts(base, "__i");
	return slice_ends(base, "_") || (slice_starts(target, "_operator.") && IN(base, inplace));
}

static bool take_first(void *user, uint32_t operand)
{
	*(uint32_t *)user = operand;
	return false;
}

static uint32_t first_operand(const struct graph *g, uint32_t node)
{
	uint32_t first = NONE;
	graph_operands(g, node, take_first, &first);
	return first;
}

/* Effects known from the target's name. */
enum { SEEN = 1, NO_VALUE = 2, VIEW = 4, IN_PLACE = 8, EFFECT = 16, ENDS_CONTEXT = 32, NO_TENSOR = 64, OF_PYTHON = 128, SEQUENCE = 256 };

static uint16_t look_at_target(const struct graph *g, uint32_t node)
{
	struct slice base = base_name(g, node), target = graph_text(g, g->node[node].target);
	uint16_t is = SEEN;
	if (IN(base, no_value) || (slice_starts(base, "_foreach_") && slice_ends(base, "_")))
		is |= NO_VALUE;
	if (IN(base, no_value) || IN(base, draws))
		is |= EFFECT;
	if (IN(base, views))
		is |= VIEW;
	if (in_place(g, node, base))
		is |= IN_PLACE;
	if (slice_is(base, "_exit_autocast") || slice_is(base, "_record_function_exit"))
		is |= ENDS_CONTEXT;
	if (IN(base, no_tensor))
		is |= NO_TENSOR;
	if (IN(base, sequences))
		is |= SEQUENCE;
	if (slice_starts(target, "_operator.") || slice_starts(target, "torch.sym_") || slice_starts(target, "math."))
		is |= OF_PYTHON;
	return is;
}

/* The effect of the node alone, without what its subgraphs do. */
static bool own_effect(const struct graph *g, uint32_t node, uint16_t target, uint32_t *mutates)
{
	const struct gnode *n = &g->node[node];
	const struct gvalue *kw;
	*mutates = NONE;
	if (n->op != GRAPH_CALL_FUNCTION && n->op != GRAPH_CALL_METHOD)
		return false;
	if (target & IN_PLACE || ((kw = graph_kwarg(g, node, "inplace")) && kw->kind == GV_BOOL && kw->i))
		*mutates = first_operand(g, node);
	else if ((kw = graph_kwarg(g, node, "out")) && kw->kind == GV_NODE)
		*mutates = kw->node;
	else
		return target & EFFECT;
	return true;
}

struct subgraphs {
	const struct graph *g;
	bool effect;
};

/* A get_attr among the operands whose module has an effect: checked with all modules below it. */
static bool look_into(void *user, uint32_t operand)
{
	struct subgraphs *s = user;
	const struct graph *g = s->g;
	const struct gnode *n = &g->node[operand];
	uint32_t mutates, child;
	if (n->op != GRAPH_GET_ATTR || (child = graph_child(g, n->module, graph_text(g, n->target))) == NONE)
		return true;
	FREED bool *below = xcalloc(g->n_modules, sizeof(*below));
	below[child] = true;
	for (uint32_t m = child; m < g->n_modules && !s->effect; m++) {
		below[m] |= g->module[m].parent < m && below[g->module[m].parent];
		for (uint32_t i = g->module[m].first; below[m] && i < g->module[m].first + g->module[m].n && !s->effect; i++)
			s->effect = own_effect(g, i, look_at_target(g, i), &mutates);
	}
	return !s->effect;
}

static bool has_effect(const struct graph *g, uint32_t node, uint16_t target, uint32_t *mutates)
{
	struct subgraphs s = {g, false};
	if (own_effect(g, node, target, mutates))
		return true;
	if (g->n_modules > 1 && g->node[node].op == GRAPH_CALL_FUNCTION)
		graph_operands(g, node, look_into, &s);
	return s.effect;
}

bool node_has_effect(const struct graph *g, uint32_t node, uint32_t *mutates)
{
	uint32_t unused;
	return has_effect(g, node, look_at_target(g, node), mutates ? mutates : &unused);
}

/* ---- units ---- */

/* A tensor can be indexed as well (x[0], after dynamo), so without metadata only an int on a non-tensor counts. */
static bool takes_part(const struct graph *g, uint32_t node, uint32_t *source)
{
	const struct gnode *n = &g->node[node];
	if (!graph_is_getitem(g, node) || n->n_args != 2 || g->value[n->args].kind != GV_NODE)
		return false;
	*source = g->value[n->args].node;
	uint32_t meta = g->node[*source].meta;
	if (meta != NONE && g->meta[meta].kind != GMETA_NONE)
		return g->meta[meta].kind == GMETA_TUPLE;
	return g->value[n->args + 1].kind == GV_INT;
}

struct finding {
	const struct graph *g;
	struct units *u;
	uint16_t *target; /* text of a target -> its properties, so that each is examined once */
};

static bool of_numbers(void *user, uint32_t operand)
{
	const struct finding *f = user;
	uint32_t meta = f->g->node[operand].meta;
	return meta == NONE ? f->u->is[operand] & NODE_NO_TENSOR : f->g->meta[meta].kind == GMETA_SYM;
}

static void look_at(struct finding *f, uint32_t i)
{
	const struct graph *g = f->g;
	struct units *u = f->u;
	uint32_t source, mutates = NONE, meta = g->node[i].meta;
	uint16_t *target = &f->target[g->node[i].target];
	if (!*target)
		*target = look_at_target(g, i);
	if (has_effect(g, i, *target, &mutates))
		u->is[i] |= NODE_EFFECT;
	if (*target & NO_VALUE)
		u->is[i] |= NODE_NO_VALUE;
	if (meta == NONE ? *target & SEQUENCE : g->meta[meta].kind == GMETA_TUPLE)
		u->is[i] |= NODE_TUPLE;
	if (meta == NONE && (*target & NO_TENSOR || (*target & OF_PYTHON && graph_operands(g, i, of_numbers, f))))
		u->is[i] |= NODE_NO_TENSOR;
	bool part = takes_part(g, i, &source);
	if (part) {
		u->is[source] |= NODE_TUPLE;
		if (u->of[source] != NONE) {
			u->is[i] |= NODE_GETITEM;
			u->of[i] = u->of[source];
		}
	} else if (*target & ENDS_CONTEXT && (source = first_operand(g, i)) != NONE) {
		u->of[i] = u->of[source];
	}
	if (u->of[i] == NONE)
		u->of[i] = (uint32_t)u->n++;
	if (mutates != NONE) {
		u->alias[i] = u->alias[mutates];
		u->writer[u->n_writers++] = i;
	} else if (part || *target & VIEW) {
		source = first_operand(g, i);
		u->alias[i] = source == NONE ? i : u->alias[source];
	}
}

static void list_nodes(struct units *u, const struct gmodule *root)
{
	u->first = xcalloc(u->n + 2, sizeof(*u->first));
	for (uint32_t i = root->first; i < root->first + root->n; i++)
		if (u->of[i] != NONE)
			u->first[u->of[i] + 2]++;
	for (size_t k = 2; k < u->n + 2; k++)
		u->first[k] += u->first[k - 1];
	u->n_nodes = u->first[u->n + 1];
	u->node = xreallocarray(NULL, u->n_nodes + 1, sizeof(*u->node));
	for (uint32_t i = root->first; i < root->first + root->n; i++)
		if (u->of[i] != NONE)
			u->node[u->first[u->of[i] + 1]++] = i;
}

static int by_written(const void *a, const void *b, void *alias)
{
	const uint32_t *of = alias;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return of[x] != of[y] ? (of[x] > of[y]) - (of[x] < of[y]) : (x > y) - (x < y);
}

void units_find(const struct graph *g, struct units *u)
{
	const struct gmodule *root = &g->module[0];
	struct finding f = {.g = g, .u = u, .target = xcalloc((size_t)g->text.n + 1, sizeof(uint16_t))};
	*u = (struct units){0};
	u->of = xreallocarray(NULL, g->n_nodes + 1, sizeof(*u->of));
	u->alias = xreallocarray(NULL, g->n_nodes + 1, sizeof(*u->alias));
	u->writer = xreallocarray(NULL, (size_t)root->n + 1, sizeof(*u->writer));
	u->is = xcalloc(g->n_nodes + 1, 1);
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		u->of[i] = NONE;
		u->alias[i] = i;
	}
	for (uint32_t i = root->first; i < root->first + root->n; i++)
		if (g->node[i].op != GRAPH_PLACEHOLDER && g->node[i].op != GRAPH_OUTPUT && g->node[i].op != GRAPH_GET_ATTR)
			look_at(&f, i);
	free(f.target);
	list_nodes(u, root);
	/* A writer's alias is that of the operand it writes to. */
	qsort_r(u->writer, u->n_writers, sizeof(*u->writer), by_written, u->alias);
	u->written = xreallocarray(NULL, u->n_writers + 1, sizeof(*u->written));
	for (size_t i = 0; i < u->n_writers; i++)
		u->written[i] = u->alias[u->writer[i]];
}

void units_release(struct units *u)
{
	free(u->of);
	free(u->first);
	free(u->node);
	free(u->is);
	free(u->alias);
	free(u->writer);
	free(u->written);
	*u = (struct units){0};
}

size_t bits_count(const uint64_t *set, size_t n)
{
	size_t count = 0;
	for (size_t i = 0; i < (n + 63) / 64; i++) {
		uint64_t w = set[i];
		if (i == n / 64)
			w &= (1ull << n % 64) - 1;
		count += (size_t)__builtin_popcountll(w);
	}
	return count;
}
