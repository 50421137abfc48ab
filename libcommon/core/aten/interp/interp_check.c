/* Operators by which torch.export states facts about a graph: assertions (torch 2.15, torch/export/_unlift.py and
 * torch/fx/passes/runtime_assert.py), sizes and numbers of a tensor. */
#include "aten/interp/interp_part.h"

enum check_op { C_PART, C_SIZE, C_STRIDE, C_NUMEL, C_OFFSET, C_ITEM, C_ASSERT, C_METADATA, C_NOTHING };
static const struct check_row {
	const char *name;
	enum check_op op;
} rows[] = {
    {"export.access_subclass_inner_tensor.default", C_PART},
    {"aten.sym_size.int", C_SIZE},
    {"aten.sym_stride.int", C_STRIDE},
    {"aten.sym_numel.default", C_NUMEL},
    {"aten.sym_storage_offset.default", C_OFFSET},
    {"aten.item.default", C_ITEM},
    {"aten._local_scalar_dense.default", C_ITEM},
    {"aten._assert_scalar.default", C_ASSERT},
    {"aten._assert_async.msg", C_ASSERT},
    {"aten._assert_async.default", C_ASSERT},
    {"aten._functional_assert_async.msg", C_ASSERT},
    {"aten._functional_assert_scalar.default", C_ASSERT},
    {"aten._assert_tensor_metadata.default", C_METADATA},
    {"aten._print.default", C_NOTHING}, /* prints nothing here */
    {"aten.sym_constrain_range.default", C_NOTHING},
    {"aten.sym_constrain_range_for_size.default", C_NOTHING},
};

static const struct check_row *find_check(struct slice op)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (slice_is(op, rows[i].name))
			return &rows[i];
	return NULL;
}

bool interp_check_has(struct slice op) { return find_check(op) != NULL; }

/* An argument by position or name; NULL or None: absent. */
static const struct aten_value *given(size_t at, const char *name, const struct aten_value *arg, size_t n, const struct aten_named *named,
				      size_t n_named)
{
	const struct aten_value *v = at < n ? &arg[at] : NULL;
	for (size_t i = 0; i < n_named; i++)
		if (slice_is(named[i].name, name))
			v = &named[i].value;
	return v && v->kind != ATEN_NONE ? v : NULL;
}

static int metadata(struct interp *run, const struct aten_tensor *t, const struct aten_value *size, const struct aten_value *dtype)
{
	if (dtype && dtype->i != t->dtype && !run->o->as_double)
		return interp_bad(run, "the program asserts that this is %s, but it is %s", dtype_info((int)dtype->i)->name,
				  dtype_info(t->dtype)->name);
	if (!size)
		return 0;
	bool same = size->kind == ATEN_LIST && size->n == (uint32_t)t->n_dim;
	for (uint32_t i = 0; same && i < size->n; i++)
		same = size->item[i].kind == ATEN_INT && size->item[i].i == t->size[i];
	return same ? 0 : interp_bad(run, "the program asserts sizes that differ from this tensor's");
}

/* access_subclass_inner_tensor(x, "qdata"): of a list of names and tensors; a name that others begin with is a subclass in it. */
static int part(struct interp *run, const struct aten_value *arg, size_t n, struct aten_value *out)
{
	if (n != 2 || arg[0].kind != ATEN_LIST || arg[1].kind != ATEN_STRING)
		return interp_bad(run, "the parts of this tensor subclass are not in the file");
	const struct slice want = arg[1].text;
	struct aten_value below = {.kind = ATEN_LIST, .item = xcalloc(arg[0].n + 1, sizeof(*below.item))};
	for (uint32_t i = 0; i + 1 < arg[0].n; i += 2) {
		const struct slice name = arg[0].item[i].kind == ATEN_STRING ? arg[0].item[i].text : (struct slice){0};
		if (slice_eq(name, want)) {
			free(below.item);
			return interp_share(run, arg[0].item[i + 1], out);
		}
		if (name.n <= want.n + 1 || memcmp(name.p, want.p, want.n) != 0 || name.p[want.n] != '.')
			continue;
		below.item[below.n++] =
		    (struct aten_value){.kind = ATEN_STRING, .text = slice_of(name.p + want.n + 1, name.n - want.n - 1)};
		below.item[below.n++] = arg[0].item[i + 1];
	}
	const int r = below.n ? interp_share(run, below, out) : interp_bad(run, "no part '%.*s'", SLN(want, 60));
	free(below.item);
	return r;
}

static int property(struct interp *run, enum check_op op, const struct aten_value *arg, size_t n, struct aten_value *out)
{
	if (!n || arg[0].kind != ATEN_TENSOR)
		return interp_bad(run, "its first operand is not a tensor");
	const struct aten_tensor *t = arg[0].tensor;
	if (op == C_NUMEL || op == C_OFFSET)
		return *out = aten_int(op == C_NUMEL ? aten_numel(t) : t->offset), 0;
	const int64_t dim = n > 1 && arg[1].kind == ATEN_INT ? arg[1].i + (arg[1].i < 0 ? t->n_dim : 0) : -1;
	if (dim < 0 || dim >= t->n_dim)
		return interp_bad(run, "the dimension is out of range for a %dD tensor", t->n_dim);
	*out = aten_int(op == C_SIZE ? t->size[dim] : t->stride[dim]);
	return 0;
}

int interp_check(struct interp *run, struct slice op, const struct aten_value *arg, size_t n, const struct aten_named *named,
		 size_t n_named, struct aten_value *out)
{
	const struct check_row *row = find_check(op);
	struct aten_value v;
	if (!row)
		return 1;
	*out = (struct aten_value){.kind = ATEN_NONE};
	if (row->op == C_NOTHING)
		return 0;
	if (row->op == C_PART)
		return part(run, arg, n, out);
	if (row->op <= C_OFFSET)
		return property(run, row->op, arg, n, out);
	const struct aten_value *self = given(0, "self", arg, n, named, n_named);
	if (!self && !(self = given(0, "a", arg, n, named, n_named)))
		return interp_bad(run, "its first operand is missing");
	if (row->op == C_METADATA) {
		const struct aten_value *dtype = given(3, "dtype", arg, n, named, n_named);
		if (self->kind != ATEN_TENSOR || (dtype && (dtype->kind != ATEN_DTYPE || !dtype_info((int)dtype->i))))
			return interp_bad(run, "unsupported operands");
		return metadata(run, self->tensor, given(1, "size", arg, n, named, n_named), dtype);
	}
	if (interp_number(run, self, &v) < 0)
		return -1;
	if (row->op == C_ITEM)
		return *out = v, 0;
	const struct aten_value *text = given(1, "assert_msg", arg, n, named, n_named);
	if (interp_truth(&v))
		return 0;
	return interp_bad(run, "the program's own assertion failed: %.*s",
			  SLN(text && text->kind == ATEN_STRING ? text->text : SLICE("(no message)"), 300));
}
