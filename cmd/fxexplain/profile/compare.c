#include "profile/compare.h"

#include <math.h>

const char *const profile_family_name[FAMILIES] = {
#define X(id, name) [FAMILY_##id] = name,
    PROFILE_FAMILIES(X)
#undef X
};
const char *const profile_fate_name[3] = {"gone", "stays", "new"};

/* Parts of op names; the first that matches counts. Anything else is pointwise or other. */
static const struct {
	const char *word;
	enum profile_family family;
	bool whole; /* matches the whole name, else any part of it */
} words[] = {
    {"c10d::", FAMILY_COMM, false},
    {"nccl", FAMILY_COMM, false},
    {"gloo", FAMILY_COMM, false},
    {"all_reduce", FAMILY_COMM, false},
    {"all_gather", FAMILY_COMM, false},
    {"reduce_scatter", FAMILY_COMM, false},
    {"attention", FAMILY_ATTENTION, false},
    {"flash_fwd", FAMILY_ATTENTION, false},
    {"flash_bwd", FAMILY_ATTENTION, false},
    {"conv", FAMILY_CONV, false},
    {"addmm", FAMILY_MATMUL, false},
    {"bmm", FAMILY_MATMUL, false},
    {"aten::mm", FAMILY_MATMUL, true},
    {"matmul", FAMILY_MATMUL, false},
    {"linear", FAMILY_MATMUL, false},
    {"gemm", FAMILY_MATMUL, false},
    {"aten::mv", FAMILY_MATMUL, true},
    {"aten::dot", FAMILY_MATMUL, true},
    {"einsum", FAMILY_MATMUL, false},
    {"_norm", FAMILY_NORM, false},
    {"softmax", FAMILY_NORM, false},
    {"embedding", FAMILY_INDEX, false},
    {"gather", FAMILY_INDEX, false},
    {"scatter", FAMILY_INDEX, false},
    {"aten::index", FAMILY_INDEX, false},
    {"aten::sum", FAMILY_REDUCE, true},
    {"aten::mean", FAMILY_REDUCE, true},
    {"aten::max", FAMILY_REDUCE, true},
    {"aten::min", FAMILY_REDUCE, true},
    {"aten::amax", FAMILY_REDUCE, true},
    {"aten::argmax", FAMILY_REDUCE, true},
    {"aten::var", FAMILY_REDUCE, true},
    {"aten::cumsum", FAMILY_REDUCE, true},
    {"reduce_kernel", FAMILY_REDUCE, false},
    {"aten::copy_", FAMILY_COPY, true},
    {"aten::clone", FAMILY_COPY, true},
    {"aten::contiguous", FAMILY_COPY, true},
    {"aten::to", FAMILY_COPY, true},
    {"aten::_to_copy", FAMILY_COPY, true},
    {"aten::cat", FAMILY_COPY, true},
    {"aten::stack", FAMILY_COPY, true},
    {"Memcpy", FAMILY_COPY, false},
    {"Memset", FAMILY_CREATE, false},
    {"memcpy", FAMILY_COPY, false},
    {"empty", FAMILY_CREATE, false},
    {"zero", FAMILY_CREATE, false},
    {"ones", FAMILY_CREATE, false},
    {"fill_", FAMILY_CREATE, false},
    {"aten::full", FAMILY_CREATE, false},
    {"aten::arange", FAMILY_CREATE, false},
    {"resize_", FAMILY_CREATE, false},
    {"aten::t", FAMILY_VIEW, true},
    {"transpose", FAMILY_VIEW, false},
    {"view", FAMILY_VIEW, false},
    {"reshape", FAMILY_VIEW, false},
    {"permute", FAMILY_VIEW, false},
    {"expand", FAMILY_VIEW, false},
    {"squeeze", FAMILY_VIEW, false},
    {"as_strided", FAMILY_VIEW, false},
    {"aten::select", FAMILY_VIEW, true},
    {"aten::slice", FAMILY_VIEW, true},
    {"detach", FAMILY_VIEW, false},
    {"aten::alias", FAMILY_VIEW, true},
    {"resolve_conj", FAMILY_VIEW, false},
    {"aten::split", FAMILY_VIEW, false},
    {"aten::chunk", FAMILY_VIEW, true},
    {"aten::unbind", FAMILY_VIEW, true},
    {"aten::narrow", FAMILY_VIEW, true},
    {"aten::flatten", FAMILY_VIEW, true},
};

enum profile_family profile_family_of(struct slice name, enum profile_class class, enum profile_kind kind)
{
	if (class == CLASS_RUNTIME)
		return FAMILY_DEVICE;
	switch (kind) {
	case KIND_KERNEL: return FAMILY_KERNEL;
	case KIND_REGION:
	case KIND_WRAPPER: return FAMILY_DYNAMO;
	case KIND_LOOKUP: return FAMILY_GUARDS;
	case KIND_GRAPH: return FAMILY_GENERATED;
	case KIND_AUTOGRAD: return FAMILY_AUTOGRAD;
	case KIND_COMPILE:
	case KIND_COMPILE_DATA: return FAMILY_COMPILE;
	case KIND_STEP:
	case KIND_USER: return FAMILY_PYTHON;
	default: break;
	}
	if (class == CLASS_KERNEL && slice_starts(name, "triton_"))
		return FAMILY_KERNEL;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (words[i].whole ? slice_is(name, words[i].word) : slice_find(name, words[i].word) != NULL)
			return words[i].family;
	return FAMILY_POINTWISE;
}

/* ---- rows of both profiles, by name ---- */

struct joined {
	struct profile_op **list;
	uint32_t *n, *cap;
	struct intern names;
};

static struct profile_op *op_of(struct joined *j, struct slice name)
{
	const uint32_t i = intern_find(&j->names, name);
	if (i != NONE)
		return &(*j->list)[i];
	intern_add(&j->names, name);
	struct profile_op *o = &PUSH_TO(*j->list, *j->n, *j->cap);
	*o = (struct profile_op){.name = name, .row = {NONE, NONE}};
	return o;
}

static void add_row(struct joined *j, const struct profile_compare *c, unsigned side, uint32_t i)
{
	const struct profile *p = c->side[side];
	const struct profile_row *r = &p->row[i];
	struct slice name = profile_name(p, i);
	if (r->kind == KIND_KERNEL)
		name = profile_kernel_name(name);
	struct profile_op *o = op_of(j, name);
	o->family = profile_family_of(name, r->class, r->kind);
	o->count[side] += (double)r->step_count / c->unit[side];
	o->self[side] += (double)r->step_self / c->unit[side];
	if (side)
		o->in_graph += (double)r->graph_self / c->unit[side];
	if (o->row[side] == NONE || p->row[o->row[side]].step_self < r->step_self)
		o->row[side] = i;
}

static bool is_op(const struct profile_row *r)
{
	return r->step_count &&
	       (r->class == CLASS_RUNTIME || (r->class <= CLASS_ANNOTATION && (r->kind == KIND_OP || r->kind == KIND_KERNEL)));
}

static bool on_device(const struct profile_row *r) { return r->step_count && (r->class == CLASS_KERNEL || r->class == CLASS_COPY); }

static void add_families(struct profile_compare *c, unsigned side)
{
	const struct profile *p = c->side[side];
	double *f = c->family[side], sum = 0;
	for (uint32_t i = 0; i < p->n_row; i++) {
		const struct profile_row *r = &p->row[i];
		if (r->class <= CLASS_RUNTIME && r->kind != KIND_STEP && r->kind != KIND_USER)
			f[profile_family_of(profile_name(p, i), r->class, r->kind)] += (double)r->step_self / c->unit[side];
	}
	f[FAMILY_COMPILE] = (double)p->spent[SPENT_COMPILE] / c->unit[side];
	f[FAMILY_PYTHON] = (double)(p->spent[SPENT_PYTHON] + p->spent[SPENT_WAIT]) / c->unit[side];
	for (unsigned k = 0; k < FAMILIES; k++)
		sum += f[k];
	c->beside[side] = sum > c->wall[side] ? sum - c->wall[side] : 0;
}

static double change(const struct profile_op *o) { return fabs(o->self[1] - o->self[0]); }

static int by_change(const void *a, const void *b)
{
	const struct profile_op *x = a, *y = b;
	const double dx = change(x), dy = change(y);
	if (dx != dy)
		return dx > dy ? -1 : 1;
	return slice_cmp(x->name, y->name);
}

static int by_self(const void *a, const void *b)
{
	const struct profile_op *x = a, *y = b;
	return x->self[1] != y->self[1] ? (x->self[1] > y->self[1] ? -1 : 1) : by_change(a, b);
}

static void set_fates(struct profile_compare *c)
{
	for (uint32_t i = 0; i < c->n_op + c->n_device; i++) {
		struct profile_op *o = i < c->n_op ? &c->op[i] : &c->device[i - c->n_op];
		o->fate = !o->count[1] ? FATE_GONE : !o->count[0] ? FATE_NEW : FATE_STAYS;
		if (i >= c->n_op)
			continue;
		c->n_fate[o->fate]++;
		if (o->fate == FATE_GONE)
			c->gone += o->self[0];
		if (o->fate == FATE_NEW)
			c->fresh += o->self[1];
		for (unsigned k = 0; k < 2 && o->fate == FATE_STAYS; k++)
			c->stays[k] += o->self[k];
	}
	if (c->n_op)
		qsort(c->op, c->n_op, sizeof(*c->op), c->one ? by_self : by_change);
	if (c->n_device)
		qsort(c->device, c->n_device, sizeof(*c->device), c->one ? by_self : by_change);
}

void profile_compare(struct profile_compare *c, const struct profile *a, const struct profile *b)
{
	*c = (struct profile_compare){.side = {a, b ? b : a}, .one = !b, .same_kind = b && a->compiled == b->compiled};
	if (b && a->compiled && !b->compiled) {
		c->swapped = true;
		c->side[0] = b;
		c->side[1] = a;
	}
	struct joined ops = {.list = &c->op, .n = &c->n_op, .cap = &c->cap_op};
	struct joined device = {.list = &c->device, .n = &c->n_device, .cap = &c->cap_device};
	c->per_step = c->side[0]->n_step && c->side[1]->n_step;
	for (unsigned k = 0; k < 2; k++) {
		const struct profile *p = c->side[k];
		c->unit[k] = p->n_step ? (double)p->n_step : 1;
		c->wall[k] = (double)p->wall / c->unit[k];
		c->device_busy[k] = (double)p->device_busy / c->unit[k];
		add_families(c, k);
		for (uint32_t i = 0; i < p->n_row; i++) {
			if (is_op(&p->row[i]))
				add_row(&ops, c, k, i);
			else if (on_device(&p->row[i]))
				add_row(&device, c, k, i);
		}
	}
	intern_release(&ops.names);
	intern_release(&device.names);
	set_fates(c);
}

void profile_compare_release(struct profile_compare *c)
{
	free(c->op);
	free(c->device);
	*c = (struct profile_compare){0};
}
