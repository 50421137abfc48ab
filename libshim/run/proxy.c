#include "proxy.h"

#include "model/package/externnodes.h"
#include "base/buf.h"
#include "tensor/dtype.h"

#include <dlfcn.h>
#include <errno.h>

typedef struct opaque *tensor;
/* torch's StableIValue: a number, or the address of a tensor's handle, a list, a string, an optional value. The dispatcher owns what it is
 * given, and we own what it returns. */
typedef uint64_t value;

struct torch_calls {
	int32_t (*dispatch)(const char *op, const char *overload, value *stack);
	int32_t (*new_handle)(tensor t, tensor *ret);
	int32_t (*assign)(tensor src, tensor dst);
	int32_t (*drop)(tensor t);
	/* since 2.10; NULL before */
	int32_t (*list_new)(size_t n, void **ret);
	int32_t (*list_add)(void *list, value v);
	int32_t (*list_get)(void *list, size_t i, value *ret);
	int32_t (*list_size)(void *list, size_t *ret);
	int32_t (*list_drop)(void *list);
	int32_t (*string_new)(const char *p, size_t n, void **ret);
	/* since 2.13; before, use C++'s new */
	int32_t (*optional_new)(value **ret);
	int32_t (*optional_drop)(value *v);
};

enum type { T_TENSOR, T_INT, T_FLOAT, T_BOOL, T_STRING, T_DTYPE, T_LAYOUT, T_FORMAT, T_DEVICE, T_NOT_CARRIED };

/* The source of a parameter's value. */
struct source {
	enum type type;
	const struct extern_value *given; /* NULL: the default */
	uint32_t tensor, number;          /* the first of the call's that belong to it */
	struct op_param param;
};

struct plan {
	struct op_schema schema;
	struct source *source;      /* schema.n */
	uint32_t n_tensors, n_ints; /* of the inputs */
	uint32_t out_tensors, out_ints;
};

struct proxy {
	void *shim; /* libpt2shim.so's own executor, which does everything; else NULL */
	int32_t (*shim_call)(void *shim, int node, int n_ints, int64_t *ints, int n_tensors, tensor *tensors);
	void (*shim_close)(void *shim);
	struct torch_calls torch;
	struct extern_nodes nodes;
	struct plan *plan;
	struct arena arena;
	char error[512];
};

#define FIND(so, name, into) (*(void **)&(into) = dlsym((so), (name)))

/* ---- which operators can be called, and how ---- */

static enum type type_of(struct slice name)
{
	static const struct {
		const char *name;
		enum type type;
	} types[] = {{"Tensor", T_TENSOR}, {"int", T_INT},          {"SymInt", T_INT},    {"float", T_FLOAT},   {"bool", T_BOOL},
		     {"str", T_STRING},    {"ScalarType", T_DTYPE}, {"Layout", T_LAYOUT}, {"Device", T_DEVICE}, {"MemoryFormat", T_FORMAT}};
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (slice_is(name, types[i].name))
			return types[i].type;
	return T_NOT_CARRIED;
}

/* Does a value in the list of nodes have that type? None only if optional. */
static bool fits_type(const struct extern_value *v, enum type type, const struct op_param *p)
{
	static const enum extern_kind kinds[] = {
	    [T_TENSOR] = EXTERN_TENSOR, [T_INT] = EXTERN_INT,       [T_FLOAT] = EXTERN_FLOAT,
	    [T_BOOL] = EXTERN_BOOL,     [T_STRING] = EXTERN_STRING, [T_DTYPE] = EXTERN_DTYPE,
	    [T_LAYOUT] = EXTERN_LAYOUT, [T_FORMAT] = EXTERN_FORMAT, [T_DEVICE] = EXTERN_DEVICE,
	};
	if (v->kind == EXTERN_NONE)
		return p->optional;
	return v->list == p->list && (v->kind == kinds[type] || (type == T_FLOAT && v->kind == EXTERN_INT));
}

struct opening {
	struct proxy *p;
	const char *model;
	const struct extern_node *node;
	struct plan *plan;
	struct buf missing, python; /* operators that this libtorch does not have */
	struct err *err;
	void *so;
};

static int refuse_node(const struct opening *o, const char *what, struct slice name)
{
	return err_set(o->err, EXIT_INPUT, "'%s' calls %s, %s%.*s", o->model, o->node->target, what, SLN(name, 100));
}

static bool has_default(const struct op_param *p) { return p->has_default || p->optional; }

static int plan_param(struct opening *o, uint32_t i)
{
	struct plan *plan = o->plan;
	struct source *s = &plan->source[i];
	char name[128];
	*s = (struct source){.param = plan->schema.param[i]};
	snprintf(name, sizeof(name), "%.*s", (int)(s->param.name.n < 120 ? s->param.name.n : 0), s->param.name.p);
	s->given = extern_input(&o->p->nodes, o->node, name);
	s->type = type_of(s->param.type);
	if (!s->given && !has_default(&s->param))
		return refuse_node(o, "without a value for ", s->param.name);
	bool none =
	    !s->given ? s->param.optional && (!s->param.has_default || slice_is(s->param.value, "None")) : s->given->kind == EXTERN_NONE;
	if (s->type == T_NOT_CARRIED && none)
		return 0;
	if (s->type == T_NOT_CARRIED)
		return refuse_node(o, "with an argument type that torch's C interface does not support: ", s->param.type);
	if (s->given && !fits_type(s->given, s->type, &s->param))
		return refuse_node(o, "with the wrong kind of value for ", s->param.name);
	if ((s->param.list && !o->p->torch.list_new) || (s->type == T_STRING && !o->p->torch.string_new))
		return refuse_node(o, "with an argument that needs torch 2.10: ", s->param.name);
	return 0;
}

/* In the order of the file, which is the order in the call. */
static void count_inputs(struct opening *o)
{
	struct plan *plan = o->plan;
	for (uint32_t k = 0; k < o->node->n_in; k++) {
		const struct extern_value *v = &o->p->nodes.value[o->node->in + k];
		struct source *s = NULL;
		for (uint32_t i = 0; i < plan->schema.n && !s; i++)
			if (plan->source[i].given == v)
				s = &plan->source[i];
		if (!s)
			continue;
		s->tensor = plan->n_tensors;
		s->number = plan->n_ints;
		for (uint32_t i = 0; i < v->n; i++)
			if (v->kind == EXTERN_TENSOR)
				plan->n_tensors += o->p->nodes.item[v->item + i].given;
			else if (v->kind == EXTERN_INT && s->type == T_INT)
				plan->n_ints++;
	}
}

static int plan_results(struct opening *o)
{
	struct plan *plan = o->plan;
	if (plan->schema.n_result != o->node->n_out)
		return refuse_node(o, "with a different number of results than in the package", SLICE(""));
	for (uint32_t i = 0; i < plan->schema.n_result; i++) {
		const struct op_param *r = &plan->schema.result[i];
		const struct extern_value *v = &o->p->nodes.value[o->node->out + i];
		enum type type = type_of(r->type);
		bool none = v->kind == EXTERN_NONE && (slice_is(r->type, "NoneType") || r->optional);
		if (!none && !(type == T_TENSOR && v->kind == EXTERN_TENSOR && v->list == r->list) &&
		    !(type == T_INT && v->kind == EXTERN_INT && !v->list && !r->list))
			return refuse_node(o, "with an unsupported result type: ", r->type);
		if (v->kind == EXTERN_TENSOR)
			plan->out_tensors += v->n;
		plan->out_ints += v->kind == EXTERN_INT;
	}
	return 0;
}

static int make_plan(struct opening *o)
{
	bool untold;
	const char *text = dispatcher_schema(o->so, &o->p->arena, o->node->op, o->node->overload, &untold);
	if (!text && untold)
		return refuse_node(o, "but this libtorch does not provide its schema", SLICE(""));
	if (!text) {
		struct buf *b = o->node->python ? &o->python : &o->missing;
		if (b->len < 400 && !slice_find(buf_slice(b), o->node->target))
			buf_addf(b, "%s%.100s", b->len ? ", " : "", o->node->target);
		return 0;
	}
	struct plan *plan = o->plan;
	if (op_schema_read(&plan->schema, slice_str(text), o->err) < 0)
		return -1;
	plan->source = arena_alloc(&o->p->arena, (plan->schema.n + 1) * sizeof(*plan->source));
	for (uint32_t i = 0; i < plan->schema.n; i++)
		if (plan_param(o, i) < 0)
			return -1;
	count_inputs(o);
	return plan_results(o);
}

#define PYTHON_ONLY "custom ops defined in Python: %s; watch their Python program instead (-- python ...)"

static int name_unknown(struct opening *o)
{
	int r = 0;
	if (o->python.len)
		r = err_set(o->err, EXIT_INPUT, "'%s' calls " PYTHON_ONLY, o->model, buf_str(&o->python));
	else if (o->missing.len)
		r = err_set(o->err, EXIT_INPUT, "'%s' calls %s, which this libtorch lacks: pass --load with the library that defines them",
			    o->model, buf_str(&o->missing));
	buf_release(&o->python);
	buf_release(&o->missing);
	return r;
}

static int find_calls(void *so, struct torch_calls *t, struct err *err)
{
	FIND(so, "torch_new_list_reserve_size", t->list_new);
	FIND(so, "torch_list_push_back", t->list_add);
	FIND(so, "torch_list_get_item", t->list_get);
	FIND(so, "torch_list_size", t->list_size);
	FIND(so, "torch_delete_list", t->list_drop);
	FIND(so, "torch_new_string_handle", t->string_new);
	FIND(so, "torch_new_stable_ivalue", t->optional_new);
	FIND(so, "torch_delete_stable_ivalue", t->optional_drop);
	if (!t->list_add || !t->list_get || !t->list_size || !t->list_drop)
		t->list_new = NULL;
	if (FIND(so, "aoti_torch_call_dispatcher", t->dispatch) && FIND(so, "aoti_torch_new_tensor_handle", t->new_handle) &&
	    FIND(so, "aoti_torch_assign_tensors", t->assign) && FIND(so, "aoti_torch_delete_tensor_object", t->drop))
		return 0;
	return err_set(err, EXIT_ENVIRON, "this libtorch is too old to call operators by name (needs 2.7 or later)");
}

static int open_torch(struct proxy *p, void *so, const char *model, struct err *err)
{
	struct opening o = {.p = p, .model = model, .so = so, .err = err};
	if (find_calls(so, &p->torch, err) < 0)
		return -1;
	p->plan = xcalloc((size_t)p->nodes.n + 1, sizeof(*p->plan));
	int r = 0;
	for (uint32_t k = 0; k < p->nodes.n && !r; k++) {
		o.node = &p->nodes.node[k];
		o.plan = &p->plan[k];
		r = make_plan(&o);
	}
	if (!r)
		return name_unknown(&o);
	buf_release(&o.python);
	buf_release(&o.missing);
	return r;
}

static int open_shim(struct proxy *p, void *so, const char *model, struct slice json, struct err *err)
{
	void *(*open)(const char *json, size_t n, char *why, size_t room);
	char why[600];
	if (!FIND(so, "shim_proxy_open", open) || !FIND(so, "shim_proxy_close", p->shim_close) ||
	    !FIND(so, "aoti_torch_proxy_executor_call_function", p->shim_call))
		return err_set(err, EXIT_ENVIRON, "libpt2shim.so has a different version");
	p->shim = open(json.p, json.n, why, sizeof(why));
	if (p->shim)
		return 0;
	const char *python = extern_targets(&p->nodes, EXTERN_PYTHON);
	if (python)
		return err_set(err, EXIT_INPUT, "'%s' calls " PYTHON_ONLY, model, python);
	return err_set(err, EXIT_INPUT,
		       "'%s' calls operators through the proxy executor that libpt2shim.so lacks: %s; run it with an "
		       "installed libtorch (--torch; --load LIB for custom ops)",
		       model, why);
}

struct proxy *proxy_open(void *so, const char *model, struct slice json, struct err *err)
{
	struct proxy *p = xcalloc(1, sizeof(*p));
	bool own = dlsym(so, "shim_last_error") != NULL;
	if (extern_nodes_read(&p->nodes, json, err) == 0 && (own ? open_shim(p, so, model, json, err) : open_torch(p, so, model, err)) == 0)
		return p;
	proxy_close(p);
	return NULL;
}

void proxy_close(struct proxy *p)
{
	if (!p)
		return;
	if (p->shim)
		p->shim_close(p->shim);
	for (uint32_t k = 0; p->plan && k < p->nodes.n; k++)
		op_schema_release(&p->plan[k].schema);
	free(p->plan);
	extern_nodes_release(&p->nodes);
	arena_release(&p->arena);
	free(p);
}

const char *proxy_last_error(const struct proxy *p) { return p ? p->error : ""; }

/* ---- values ---- */

struct call {
	struct proxy *p;
	const struct plan *plan;
	const struct extern_node *node;
	const int64_t *ints;
	tensor *tensors;
};

static value of_double(double d)
{
	value v;
	memcpy(&v, &d, sizeof(v));
	return v;
}

static bool make_string(const struct torch_calls *t, struct slice s, value *out)
{
	void *handle;
	bool made = !t->string_new(s.p ? s.p : "", s.n, &handle);
	*out = made ? (value)(uintptr_t)handle : 0;
	return made;
}

static value of_device(const struct extern_item *i)
{
	int type = device_by_name(i->text);
	return (value)(uint32_t)(type < 0 ? DEVICE_CPU : type) << 32 | (uint32_t)(int32_t)i->i;
}

static bool make_tensor(const struct torch_calls *t, tensor from, value *out)
{
	tensor handle;
	bool made = !t->new_handle(from, &handle);
	*out = made ? (value)(uintptr_t)handle : 0;
	return made;
}

/* Item i of the given value; *tensor_at and *int_at advance over the call's. */
static bool make_item(const struct call *c, const struct source *s, uint32_t i, uint32_t *tensor_at, uint32_t *int_at, value *out)
{
	const struct extern_item *x = &c->p->nodes.item[s->given->item + i];
	switch (s->type) {
	case T_TENSOR: return make_tensor(&c->p->torch, c->tensors[(*tensor_at)++], out);
	case T_INT: *out = (value)c->ints[(*int_at)++]; return true;
	case T_FLOAT: *out = of_double(s->given->kind == EXTERN_INT ? (double)x->i : x->f); return true;
	case T_STRING: return make_string(&c->p->torch, x->text, out);
	case T_DEVICE: *out = of_device(x); return true;
	default: *out = (value)x->i; return true;
	}
}

/* Into memory that libtorch takes over and frees. */
static bool wrap_optional(const struct torch_calls *t, value *v)
{
	value *box = NULL;
	if (t->optional_new ? t->optional_new(&box) != 0 : !(box = malloc(sizeof(*box))))
		return false;
	*box = *v;
	*v = (value)(uintptr_t)box;
	return true;
}

static bool make_list(const struct call *c, const struct source *s, value *out)
{
	const struct torch_calls *t = &c->p->torch;
	uint32_t tensor_at = s->tensor, int_at = s->number;
	void *list;
	if (t->list_new(s->given->n, &list))
		return false;
	for (uint32_t i = 0; i < s->given->n; i++) {
		value v = 0;
		bool given = s->given->kind != EXTERN_TENSOR || c->p->nodes.item[s->given->item + i].given;
		if (given && (!make_item(c, s, i, &tensor_at, &int_at, &v) || (s->param.items_optional && !wrap_optional(t, &v))))
			return false;
		if (t->list_add(list, v))
			return false;
	}
	*out = (value)(uintptr_t)list;
	return true;
}

/* ---- defaults ---- */

static bool number_text(struct slice s, enum type type, value *out)
{
	char text[64], *end;
	s = slice_trim(s);
	if (!s.n || s.n >= sizeof(text))
		return false;
	memcpy(text, s.p, s.n);
	text[s.n] = 0;
	if (type == T_BOOL) {
		*out = slice_is(s, "True");
		return *out || slice_is(s, "False");
	}
	errno = 0;
	if (type == T_FLOAT)
		*out = of_double(strtod(text, &end));
	else
		*out = (value)strtoll(text, &end, 10);
	return !*end && !errno;
}

static bool scalar_default(const struct call *c, enum type type, struct slice text, value *out)
{
	if (type == T_STRING && text.n >= 2 && (*text.p == '"' || *text.p == '\''))
		return make_string(&c->p->torch, slice_of(text.p + 1, text.n - 2), out);
	return type != T_TENSOR && type != T_DEVICE && type != T_STRING && number_text(text, type, out);
}

static bool list_default(const struct call *c, const struct source *s, value *out)
{
	const struct torch_calls *t = &c->p->torch;
	struct slice rest = s->param.value;
	void *list;
	if (rest.n < 2 || *rest.p != '[' || t->list_new(0, &list))
		return false;
	rest = slice_of(rest.p + 1, rest.n - 2);
	while (slice_trim(rest).n) {
		const char *comma = slice_chr(rest, ',');
		size_t n = comma ? (size_t)(comma - rest.p) : rest.n;
		value v;
		if (!scalar_default(c, s->type, slice_trim(slice_of(rest.p, n)), &v) || t->list_add(list, v))
			return false;
		n += comma != NULL;
		rest = slice_of(rest.p + n, rest.n - n);
	}
	*out = (value)(uintptr_t)list;
	return true;
}

static bool make_value(const struct call *c, const struct source *s, value *out)
{
	uint32_t tensor_at = s->tensor, int_at = s->number;
	bool made;
	*out = 0;
	if (s->given ? s->given->kind == EXTERN_NONE : !s->param.has_default || slice_is(s->param.value, "None"))
		return s->param.optional;
	if (s->given)
		made = s->param.list ? make_list(c, s, out) : make_item(c, s, 0, &tensor_at, &int_at, out);
	else
		made = s->param.list ? list_default(c, s, out) : scalar_default(c, s->type, s->param.value, out);
	return made && (!s->param.optional || wrap_optional(&c->p->torch, out));
}

/* ---- results ---- */

static bool unwrap(const struct torch_calls *t, value *v)
{
	value *box = (value *)(uintptr_t)*v;
	if (!box)
		return false;
	*v = *box;
	if (t->optional_drop)
		t->optional_drop(box);
	else
		free(box);
	return true;
}

static bool give(const struct torch_calls *t, value v, tensor to)
{
	tensor made = (tensor)(uintptr_t)v;
	bool given = made && !t->assign(made, to);
	if (made)
		t->drop(made);
	return given;
}

static bool give_list(const struct torch_calls *t, value v, uint32_t n, tensor *to)
{
	void *list = (void *)(uintptr_t)v;
	size_t size = 0;
	bool same = !t->list_size(list, &size) && size == n;
	for (size_t i = 0; i < size; i++) {
		value item;
		if (t->list_get(list, i, &item))
			same = false;
		else if (i < n)
			same &= give(t, item, to[i]);
		else
			t->drop((tensor)(uintptr_t)item);
	}
	t->list_drop(list);
	return same;
}

static bool give_results(const struct call *c, value *stack)
{
	const struct torch_calls *t = &c->p->torch;
	tensor *to = c->tensors + c->plan->n_tensors;
	const int64_t *known = c->ints + c->plan->n_ints;
	for (uint32_t i = 0; i < c->node->n_out; i++) {
		const struct extern_value *v = &c->p->nodes.value[c->node->out + i];
		const struct op_param *r = &c->plan->schema.result[i];
		if (slice_is(r->type, "NoneType"))
			continue;
		if (v->kind == EXTERN_INT) {
			if ((int64_t)stack[i] != *known++)
				return false;
			continue;
		}
		bool there = !r->optional || unwrap(t, &stack[i]);
		if (v->kind == EXTERN_NONE) {
			if (there)
				t->drop((tensor)(uintptr_t)stack[i]);
			continue;
		}
		if (!there || !(r->list ? give_list(t, stack[i], v->n, to) : give(t, stack[i], *to)))
			return false;
		to += v->n;
	}
	return true;
}

/* ---- the call ---- */

static int32_t proxy_fail(struct proxy *p, const struct extern_node *n, const char *why)
{
	snprintf(p->error, sizeof(p->error), "%.200s: %s", n ? n->target : "proxy executor", why);
	return 1;
}

static int32_t call(struct call *c)
{
	uint32_t n = c->plan->schema.n > c->plan->schema.n_result ? c->plan->schema.n : c->plan->schema.n_result;
	value *stack = xcalloc((size_t)n + 1, sizeof(*stack));
	int32_t r = 0;
	for (uint32_t i = 0; i < c->plan->schema.n && !r; i++)
		if (!make_value(c, &c->plan->source[i], &stack[i]))
			r = proxy_fail(c->p, c->node, "cannot create an argument");
	if (!r && c->p->torch.dispatch(c->node->op, c->node->overload, stack)) {
		r = 1; /* libtorch prints why */
		snprintf(c->p->error, sizeof(c->p->error), "%.200s", c->node->target);
	}
	if (!r && !give_results(c, stack))
		r = proxy_fail(c->p, c->node, "its results differ from when it was compiled");
	free(stack);
	return r;
}

int32_t aoti_torch_proxy_executor_call_function(void *executor, int node, int n_ints, int64_t *ints, int n_tensors, tensor *tensors);
int32_t aoti_torch_proxy_executor_call_function(void *executor, int node, int n_ints, int64_t *ints, int n_tensors, tensor *tensors)
{
	struct proxy *p = executor;
	if (!p)
		return 1;
	if (p->shim)
		return p->shim_call(p->shim, node, n_ints, ints, n_tensors, tensors);
	if (node < 0 || (uint32_t)node >= p->nodes.n)
		return proxy_fail(p, NULL, "call not in the package's list");
	struct call c = {.p = p, .plan = &p->plan[node], .node = &p->nodes.node[node], .ints = ints, .tensors = tensors};
	if (n_ints < 0 || n_tensors < 0 || (uint64_t)n_ints != (uint64_t)c.plan->n_ints + c.plan->out_ints ||
	    (uint64_t)n_tensors != (uint64_t)c.plan->n_tensors + c.plan->out_tensors)
		return proxy_fail(p, c.node, "number of arguments differs from the package's list");
	return call(&c);
}
