/* The globals that a pickle may use, and the results of calling them. */
#include "tensor/pickle.h"

enum call {
	CALL_STORAGE, /* these four are values, not functions: node.n has the dtype */
	CALL_DTYPE,
	CALL_TENSOR_TYPE,
	CALL_ORDERED_DICT,
	CALL_TENSOR_V2,
	CALL_TENSOR_V3,
	CALL_META_TENSOR,
	CALL_PARAMETER,
	CALL_FROM_TYPE,
	CALL_WRAPPER,
	CALL_SIZE,
	CALL_SET,
	CALL_BYTES,
	CALL_ENCODE,
	CALL_OTHER,
};

static const struct {
	const char *module, *name;
	enum call call;
} globals[] = {
    {"torch._utils", "_rebuild_tensor_v2", CALL_TENSOR_V2},
    {"torch._utils", "_rebuild_tensor_v3", CALL_TENSOR_V3},
    {"torch._utils", "_rebuild_meta_tensor_no_storage", CALL_META_TENSOR},
    {"torch._utils", "_rebuild_parameter", CALL_PARAMETER},
    {"torch._utils", "_rebuild_parameter_with_state", CALL_PARAMETER},
    {"torch._utils", "_rebuild_wrapper_subclass", CALL_WRAPPER},
    {"torch._tensor", "_rebuild_from_type_v2", CALL_FROM_TYPE},
    {"torch.serialization", "_get_layout", CALL_OTHER},
    {"torch", "Tensor", CALL_TENSOR_TYPE},
    {"torch.nn.parameter", "Parameter", CALL_TENSOR_TYPE},
    {"torch", "Size", CALL_SIZE},
    {"torch", "device", CALL_OTHER},
    {"collections", "OrderedDict", CALL_ORDERED_DICT},
    {"_codecs", "encode", CALL_ENCODE},
};

static const struct {
	const char *name;
	enum call call;
} builtins[] = {
    {"set", CALL_SET}, {"frozenset", CALL_SET}, {"bytes", CALL_BYTES}, {"bytearray", CALL_BYTES}, {"complex", CALL_OTHER},
};

static int refuse_callable(struct pickle *p, struct slice module, struct slice name)
{
	const char *hint = "save only tensors";
	if (slice_is(module, "torch._utils") || slice_is(module, "torch._tensor"))
		hint = "save it as a plain dense tensor";
	else if (slice_starts(module, "torch.nn.modules") || slice_is(module, "__main__"))
		hint = "save the model's state_dict()";
	else if (slice_starts(module, "numpy"))
		hint = "save torch.from_numpy(array), or use np.save";
	return err_set(p->err, EXIT_INPUT, "'%s': refuses global '%.*s.%.*s': only tensors and plain containers are read; %s", p->path,
		       SLN(module, 100), SLN(name, 100), hint);
}

static bool torch_value(struct slice name, enum call *call, int *dtype)
{
	*call = CALL_STORAGE;
	*dtype = dtype_by_storage(name);
	if (*dtype != DTYPE_NONE)
		return true;
	*call = CALL_DTYPE;
	*dtype = slice_starts(name, "torch.") ? DTYPE_NONE : (int)dtype_by_name(name);
	return *dtype != DTYPE_NONE;
}

int pickle_global(struct pickle *p, struct slice module, struct slice name, uint32_t *out)
{
	enum call call = CALL_OTHER;
	int dtype = DTYPE_NONE;
	bool known = false;
	for (size_t i = 0; i < ARRAY_LEN(globals) && !known; i++)
		if (slice_is(module, globals[i].module) && slice_is(name, globals[i].name)) {
			call = globals[i].call;
			known = true;
		}
	bool builtin = slice_is(module, "builtins") || slice_is(module, "__builtin__");
	for (size_t i = 0; i < ARRAY_LEN(builtins) && builtin && !known; i++)
		if (slice_is(name, builtins[i].name)) {
			call = builtins[i].call;
			known = true;
		}
	if (!known && slice_is(module, "torch"))
		known = torch_value(name, &call, &dtype);
	if (!known && slice_is(module, "torch.storage") && slice_is(name, "UntypedStorage")) {
		call = CALL_STORAGE;
		known = true;
	}
	if (!known && !p->wrappers)
		return refuse_callable(p, module, name);
	p->wrappers |= known && call == CALL_WRAPPER;
	*out = pickle_new(p, PICKLE_GLOBAL);
	p->node[*out].i = call;
	p->node[*out].n = (uint32_t)dtype;
	return 0;
}

static bool is_global(const struct pickle *p, uint32_t node, enum call call)
{
	return p->node[node].kind == PICKLE_GLOBAL && p->node[node].i == call;
}

static bool is_kind(const struct pickle *p, uint32_t node, enum pickle_kind kind) { return p->node[node].kind == kind; }

/* ---- tensors ---- */

/* A tuple of non-negative numbers; *n_dim is their count. */
static bool numbers(const struct pickle *p, uint32_t node, int64_t *v, int *n_dim)
{
	const struct pickle_node *t = &p->node[node];
	if (t->kind != PICKLE_TUPLE || t->n > TENSOR_MAX_DIMS)
		return false;
	for (uint32_t i = 0; i < t->n; i++) {
		const struct pickle_node *k = &p->node[t->item[i]];
		if (k->kind != PICKLE_INT || k->i < 0)
			return false;
		v[i] = k->i;
	}
	*n_dim = (int)t->n;
	return true;
}

void pickle_tensor_meta(const struct pickle *p, const struct pickle_tensor *t, struct tensor_meta *m)
{
	int n_stride;
	*m = (struct tensor_meta){.dtype = t->dtype, .device = t->device, .device_index = t->device_index};
	if (!numbers(p, t->size, m->size, &m->n_dim) || !numbers(p, t->stride, m->stride, &n_stride))
		m->n_dim = 0; /* not reached: they were checked, and tuples do not change */
}

static int check_shape(struct pickle *p, const struct pickle_tensor *t)
{
	struct tensor_meta m = {.dtype = t->dtype};
	int n_stride;
	int64_t extent;
	if (!numbers(p, t->size, m.size, &m.n_dim))
		return pickle_fail(p, "a tensor's sizes are not up to 64 non-negative numbers: the file is damaged");
	if (!numbers(p, t->stride, m.stride, &n_stride) || n_stride != m.n_dim)
		return pickle_fail(p, "a tensor's strides do not match its sizes: the file is damaged");
	if (!tensor_extent(&m, &extent))
		return pickle_fail(p, "a tensor's sizes are too large: the file is damaged");
	return 0;
}

static struct pickle_tensor *new_tensor(struct pickle *p)
{
	struct pickle_tensor *t = arena_alloc(&p->arena, sizeof(*t));
	*t = (struct pickle_tensor){.device = DEVICE_CPU, .device_index = -1};
	return t;
}

static uint32_t tensor_node(struct pickle *p, const struct pickle_tensor *t)
{
	uint32_t k = pickle_new(p, PICKLE_TENSOR);
	p->node[k].tensor = t;
	return k;
}

/* {"conj": True} or {"neg": True}: the data in the file is not yet conjugated or negated. */
static bool lazy(const struct pickle *p, uint32_t metadata)
{
	const struct pickle_node *d = &p->node[metadata];
	for (uint32_t i = 1; d->kind == PICKLE_DICT && i < d->n; i += 2)
		if (is_kind(p, d->item[i], PICKLE_BOOL) && p->node[d->item[i]].i)
			return true;
	return false;
}

/* (storage, offset, size, stride, requires_grad, hooks[, metadata]); v3 has (..., hooks, dtype[, metadata]) */
static int call_tensor(struct pickle *p, const struct pickle_node *args, bool v3, uint32_t *out)
{
	uint32_t *a = args->item, n = args->n, known = v3 ? 7 : 6;
	if (n < known || n > known + 1 || !is_kind(p, a[0], PICKLE_STORAGE) || !is_kind(p, a[1], PICKLE_INT) || p->node[a[1]].i < 0)
		return pickle_fail(p, "unexpected arguments for a tensor: the file is damaged, or from a newer torch");
	struct pickle_tensor *t = new_tensor(p);
	t->storage = p->node[a[0]].storage;
	t->offset = p->node[a[1]].i;
	/* _rebuild_tensor_v2 takes the dtype from the storage; an untyped one counts as bytes. */
	t->dtype = t->storage->dtype == DTYPE_NONE ? DTYPE_U8 : t->storage->dtype;
	if (v3) {
		if (!is_global(p, a[6], CALL_DTYPE))
			return pickle_fail(p, "invalid dtype of a tensor: the file is damaged");
		t->dtype = (int)p->node[a[6]].n;
	}
	t->lazy = n > known && lazy(p, a[known]);
	if (device_parse(t->storage->location, &t->device, &t->device_index) < 0)
		return pickle_fail(p, "a tensor is on the unknown device '%.*s': save it from the cpu (x.cpu())",
				   SLN(t->storage->location, 100));
	t->size = a[2];
	t->stride = a[3];
	if (check_shape(p, t) < 0)
		return -1;
	*out = tensor_node(p, t);
	return 0;
}

/* (dtype, size, stride, requires_grad) */
static int call_meta_tensor(struct pickle *p, const struct pickle_node *args, uint32_t *out)
{
	if (args->n != 4 || !is_global(p, args->item[0], CALL_DTYPE))
		return pickle_fail(p, "unexpected arguments for a meta tensor: the file is damaged, or from a newer torch");
	struct pickle_tensor *t = new_tensor(p);
	t->device = DEVICE_META;
	t->dtype = (int)p->node[args->item[0]].n;
	t->size = args->item[1];
	t->stride = args->item[2];
	if (check_shape(p, t) < 0)
		return -1;
	*out = tensor_node(p, t);
	return 0;
}

/* (data, requires_grad, hooks[, state]): data */
static int call_parameter(struct pickle *p, const struct pickle_node *args, uint32_t *out)
{
	if (args->n < 3 || args->n > 4 || !is_kind(p, args->item[0], PICKLE_TENSOR))
		return pickle_fail(p, "unexpected arguments for a Parameter: the file is damaged, or from a newer torch");
	*out = args->item[0];
	return 0;
}

/* ---- the rest ---- */

/* set([...]), and OrderedDict() or OrderedDict([(k, v), ...]) as in old versions of Python. */
static int call_container(struct pickle *p, const struct pickle_node *args, enum pickle_kind kind, uint32_t *out)
{
	uint32_t from = args->n ? args->item[0] : 0, n_args = args->n;
	uint32_t k = *out = pickle_new(p, kind);
	if (!n_args)
		return 0;
	struct pickle_node list = p->node[from];
	if (n_args > 1 || (list.kind != PICKLE_LIST && list.kind != PICKLE_TUPLE))
		return pickle_fail(p, "a container is not created from a list: the file is damaged");
	if (kind == PICKLE_SET)
		return pickle_add(p, k, list.item, list.n);
	for (uint32_t i = 0; i < list.n; i++) {
		struct pickle_node pair = p->node[list.item[i]];
		if ((pair.kind != PICKLE_LIST && pair.kind != PICKLE_TUPLE) || pair.n != 2)
			return pickle_fail(p, "an OrderedDict is not created from pairs: the file is damaged");
		if (pickle_add(p, k, pair.item, 2) < 0)
			return -1;
	}
	return 0;
}

/* _codecs.encode("text", "latin1") */
static int call_encode(struct pickle *p, const struct pickle_node *args, uint32_t *out)
{
	if (!args->n || !is_kind(p, args->item[0], PICKLE_STR))
		return pickle_fail(p, "bytes are not created from text: the file is damaged");
	struct pickle_node text = p->node[args->item[0]];
	text.kind = PICKLE_BYTES;
	*out = pickle_new(p, PICKLE_BYTES);
	p->node[*out] = text;
	return 0;
}

/* torch.Size((2, 3)): the tuple */
static int call_size(struct pickle *p, const struct pickle_node *args, uint32_t *out)
{
	if (args->n != 1 || !is_kind(p, args->item[0], PICKLE_TUPLE))
		return pickle_fail(p, "a torch.Size is not created from a tuple: the file is damaged");
	*out = args->item[0];
	return 0;
}

/* (function, type, args, state): function(*args), once; a tensor's attributes are left out */
static int unwrap_from_type(struct pickle *p, struct pickle_node *func, struct pickle_node *args)
{
	const bool wrapper = args->n == 4 && is_global(p, args->item[0], CALL_WRAPPER) && is_kind(p, args->item[1], PICKLE_GLOBAL);
	if (args->n != 4 || !is_kind(p, args->item[0], PICKLE_GLOBAL) || (!wrapper && !is_global(p, args->item[1], CALL_TENSOR_TYPE)) ||
	    !is_kind(p, args->item[2], PICKLE_TUPLE) || is_global(p, args->item[0], CALL_FROM_TYPE))
		return pickle_fail(p, "unexpected arguments for a tensor with attributes: the file is damaged");
	*func = p->node[args->item[0]];
	*args = p->node[args->item[2]];
	return 0;
}

int pickle_call(struct pickle *p, uint32_t func, uint32_t args, uint32_t *out)
{
	/* Copies: creating a node moves the others. */
	struct pickle_node f = p->node[func], a = p->node[args];
	if (f.kind != PICKLE_GLOBAL || a.kind != PICKLE_TUPLE)
		return pickle_fail(p, "it calls something other than a function: the file is damaged");
	/* (_rebuild_wrapper_subclass, type, args, attributes): its parts are among the attributes */
	const bool wrapper = f.i == CALL_FROM_TYPE && a.n == 4 && is_global(p, a.item[0], CALL_WRAPPER);
	if (wrapper && is_kind(p, a.item[3], PICKLE_DICT))
		return *out = a.item[3], 0;
	if (f.i == CALL_FROM_TYPE && unwrap_from_type(p, &f, &a) < 0)
		return -1;
	switch ((enum call)f.i) {
	case CALL_TENSOR_V2: return call_tensor(p, &a, false, out);
	case CALL_TENSOR_V3: return call_tensor(p, &a, true, out);
	case CALL_META_TENSOR: return call_meta_tensor(p, &a, out);
	case CALL_PARAMETER: return call_parameter(p, &a, out);
	case CALL_ORDERED_DICT: return call_container(p, &a, PICKLE_DICT, out);
	case CALL_SET: return call_container(p, &a, PICKLE_SET, out);
	case CALL_SIZE: return call_size(p, &a, out);
	case CALL_ENCODE: return call_encode(p, &a, out);
	case CALL_BYTES:
	case CALL_WRAPPER:
	case CALL_OTHER: *out = pickle_new(p, PICKLE_OTHER); return 0;
	case CALL_STORAGE:
	case CALL_DTYPE:
	case CALL_TENSOR_TYPE:
	case CALL_FROM_TYPE: break;
	}
	return pickle_fail(p, "it calls a type: the file is damaged");
}

/* ("storage", torch.FloatStorage, key, location, numel) */
int pickle_persistent(struct pickle *p, uint32_t id, uint32_t *out)
{
	const struct pickle_node *t = &p->node[id];
	if (t->kind != PICKLE_TUPLE || t->n != 5 || !is_kind(p, t->item[0], PICKLE_STR) ||
	    !slice_is(pickle_text(&p->node[t->item[0]]), "storage") || !is_global(p, t->item[1], CALL_STORAGE) ||
	    !is_kind(p, t->item[2], PICKLE_STR) || !is_kind(p, t->item[3], PICKLE_STR) || !is_kind(p, t->item[4], PICKLE_INT) ||
	    p->node[t->item[4]].i < 0)
		return pickle_fail(p, "unexpected name of a storage: the file is damaged, or from a newer torch");
	struct pickle_storage *s = arena_alloc(&p->arena, sizeof(*s));
	*s = (struct pickle_storage){.dtype = (int)p->node[t->item[1]].n,
				     .key = pickle_text(&p->node[t->item[2]]),
				     .location = pickle_text(&p->node[t->item[3]]),
				     .numel = p->node[t->item[4]].i};
	*out = pickle_new(p, PICKLE_STORAGE);
	p->node[*out].storage = s;
	return 0;
}

int pickle_fail(struct pickle *p, const char *fmt, ...)
{
	char what[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return err_set(p->err, EXIT_INPUT, "'%s': at byte %zu of its pickle: %s", p->path, p->op, what);
}

uint32_t pickle_new(struct pickle *p, enum pickle_kind kind)
{
	GROW(p->node, p->n_node, p->cap_node, 1);
	p->node[p->n_node] = (struct pickle_node){.kind = (uint8_t)kind};
	return p->n_node++;
}

int pickle_add(struct pickle *p, uint32_t container, const uint32_t *item, uint32_t n)
{
	struct pickle_node *c = &p->node[container];
	if (c->cap - c->n < n) {
		uint32_t cap = c->n + n > 2 * c->cap ? c->n + n : 2 * c->cap;
		/* An honest stream needs two or three per byte; one that repeatedly builds sets from one long list, any number. */
		p->room += cap;
		if (p->room > 16 * (uint64_t)p->bytes.n)
			return pickle_fail(p, "it copies its containers too often: the file is damaged");
		uint32_t *more = arena_alloc(&p->arena, cap * sizeof(*more));
		if (c->n)
			memcpy(more, c->item, c->n * sizeof(*more));
		c->item = more;
		c->cap = cap;
	}
	if (n)
		memcpy(c->item + c->n, item, n * sizeof(*item));
	c->n += n;
	return 0;
}
