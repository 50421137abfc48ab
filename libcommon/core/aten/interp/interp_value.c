/* interp_value.c - operands and calls of operators: what every kind of node needs. */
#include "aten/interp/interp_part.h"

int interp_bad(const struct interp *run, const char *fmt, ...)
{
	const struct gnode *n = &run->g->node[run->node];
	LOCAL_BUF b = {0};
	va_list ap;
	va_start(ap, fmt);
	buf_addvf(&b, fmt, ap);
	va_end(ap);
	if (n->stack != NONE)
		buf_addf(&b, " (%.*s)", SLN(graph_text(run->g, n->stack), 200));
	err_set(run->err, EXIT_INPUT, "node '%.*s' (%.*s): %s", SLN(graph_name(run->g, run->node), 100),
		SLN(graph_op_text(run->g, run->node), 100), buf_str(&b));
	return -1;
}

static int share_tensor(struct interp *run, struct aten_tensor *t, struct aten_value *out)
{
	struct aten_tensor *mine = NULL;
	ATEN_TRY("interp") { mine = aten_keep(t); }
	if (ATEN_END)
		return interp_bad(run, "%s", aten_last_error());
	*out = aten_of(mine);
	return 0;
}

static int share_list(struct interp *run, struct aten_value v, struct aten_value *out)
{
	*out = (struct aten_value){.kind = ATEN_LIST, .item = xcalloc(v.n + 1, sizeof(*v.item))};
	while (out->n < v.n && interp_share(run, v.item[out->n], &out->item[out->n]) == 0)
		out->n++;
	if (out->n == v.n)
		return 0;
	aten_value_release(out);
	return -1;
}

int interp_share(struct interp *run, struct aten_value v, struct aten_value *out)
{
	if (v.kind == ATEN_TENSOR)
		return share_tensor(run, v.tensor, out);
	if (v.kind == ATEN_LIST)
		return share_list(run, v, out);
	*out = v;
	return 0;
}

/* torch.float32, torch.strided, torch.channels_last: constants that torch.fx writes as names. */
static int named_constant(struct interp *run, struct slice text, struct aten_value *out)
{
	static const char *const layout[] = {"torch.strided", "torch.sparse_coo", "torch.sparse_csr", "torch._mkldnn"};
	static const char *const format[] = {"torch.contiguous_format", "torch.preserve_format", "torch.channels_last",
					     "torch.channels_last_3d"};
	const int dtype = dtype_by_name(text);
	if (dtype != DTYPE_NONE)
		return *out = aten_dtype(run->o->as_double ? interp_real_of_double(dtype) : dtype), 0;
	for (size_t i = 0; i < ARRAY_LEN(format); i++)
		if (slice_is(text, format[i]))
			return *out = (struct aten_value){.kind = ATEN_FORMAT, .i = (int64_t)i}, 0;
	for (size_t i = 0; i < ARRAY_LEN(layout); i++)
		if (slice_is(text, layout[i]))
			return *out = (struct aten_value){.kind = ATEN_LAYOUT, .i = (int64_t)i}, 0;
	return interp_bad(run, "unsupported operand '%.*s'", SLN(text, 100));
}

static int device_operand(struct interp *run, struct slice text, struct aten_value *out)
{
	int type, index;
	if (device_parse(text, &type, &index) < 0)
		return interp_bad(run, "unknown device '%.*s'", SLN(text, 100));
	*out = (struct aten_value){.kind = ATEN_DEVICE, .i = type};
	return 0;
}

/* "(1+2j)", "1j" */
static int complex_operand(struct interp *run, struct slice text, struct aten_value *out)
{
	char s[100], *end;
	if (text.n && text.p[0] == '(')
		text = slice_of(text.p + 1, text.n - 1 - (text.p[text.n - 1] == ')'));
	snprintf(s, sizeof(s), "%.*s", SLN(text, 99));
	double re = strtod(s, &end), im = 0;
	if (*end == 'j')
		im = re, re = 0, end++;
	else if (*end)
		im = strtod(end, &end), end += *end == 'j';
	if (*end || end == s)
		return interp_bad(run, "unsupported operand '%s'", s);
	*out = (struct aten_value){.kind = ATEN_COMPLEX, .z = CMPLX(re, im)};
	return 0;
}

static int list_operand(struct activation *a, struct gvalue v, struct aten_value *out)
{
	struct aten_value *item = arena_alloc(&a->arena, (v.n + 1) * sizeof(*item));
	for (uint32_t i = 0; i < v.n; i++)
		if (interp_operand(a, a->run->g->value[v.first + i], &item[i]) < 0)
			return -1;
	*out = (struct aten_value){.kind = ATEN_LIST, .n = v.n, .item = item};
	return 0;
}

int interp_operand(struct activation *a, struct gvalue v, struct aten_value *out)
{
	const struct graph *g = a->run->g;
	switch ((enum gvalue_kind)v.kind) {
	case GV_NONE: *out = (struct aten_value){.kind = ATEN_NONE}; return 0;
	case GV_BOOL: *out = aten_bool(v.i != 0); return 0;
	case GV_INT: *out = aten_int(v.i); return 0;
	case GV_FLOAT: *out = aten_float(v.f); return 0;
	case GV_COMPLEX: return complex_operand(a->run, graph_text(g, v.text), out);
	case GV_STR: *out = (struct aten_value){.kind = ATEN_STRING, .text = graph_text(g, v.text)}; return 0;
	case GV_NODE: *out = a->value[v.node - g->module[a->module].first]; return 0;
	case GV_LIST:
	case GV_TUPLE: return list_operand(a, v, out);
	case GV_NAME: return named_constant(a->run, graph_text(g, v.text), out);
	case GV_DEVICE: return device_operand(a->run, graph_text(g, v.text), out);
	case GV_DICT:
	case GV_SLICE:
	case GV_ELLIPSIS: return interp_bad(a->run, "unsupported operand: a dict, a slice or '...'");
	case GV_TEXT: return interp_bad(a->run, "unsupported operand '%.*s'", SLN(graph_text(g, v.text), 100));
	}
	return interp_bad(a->run, "operand of an invalid kind");
}

static const struct aten_op *look_up(struct interp *run, uint32_t target)
{
	struct aten_op *op = &run->op[target];
	struct err why;
	if (!op->entry && !run->no_op[target])
		run->no_op[target] = aten_find(op, graph_text(run->g, target), &why) < 0;
	return op->entry ? op : NULL;
}

const struct aten_op *interp_find(struct interp *run, uint32_t target)
{
	const struct aten_op *op = look_up(run, target);
	if (!op)
		interp_bad(run, "unsupported operator");
	return op;
}

int interp_more(struct interp *run, uint32_t target, struct slice op, const struct interp_operands *o, struct aten_value *out)
{
	const struct interp_more *more = run->o->more;
	struct err why;
	if (!more || look_up(run, target) || !more->has(more->user, op))
		return 1;
	return more->call(more->user, op, run->o->as_double, o->arg, o->n, o->named, o->n_named, out, &why) < 0
		   ? interp_bad(run, "%s", why.text)
		   : 0;
}

int interp_call_op(struct interp *run, const struct aten_op *op, const struct interp_operands *o, struct aten_value *out)
{
	struct aten_value result[ATEN_RESULTS];
	struct interp_operands cast = *o;
	struct cast_made made;
	struct err why;
	if (interp_autocast(run, op, &cast, &made) < 0)
		return interp_bad(run, "%s", aten_last_error());
	const int r = aten_call(op, &run->mode, cast.arg, cast.n, cast.named, cast.n_named, result, &why);
	interp_autocast_end(&made);
	if (r < 0)
		return interp_bad(run, "%s", why.text);
	if (op->n_results == 0) {
		*out = (struct aten_value){.kind = ATEN_NONE};
	} else if (op->n_results == 1) {
		*out = result[0];
	} else {
		*out = (struct aten_value){.kind = ATEN_LIST, .n = op->n_results, .item = xcalloc(op->n_results, sizeof(*out->item))};
		memcpy(out->item, result, op->n_results * sizeof(*result));
	}
	return 0;
}

int interp_aten(struct interp *run, struct slice name, struct aten_value *arg, size_t n, struct aten_value *out)
{
	struct aten_op op;
	struct err why;
	if (aten_find(&op, name, &why) < 0)
		return interp_bad(run, "%s", why.text);
	const int r = interp_call_op(run, &op, &(struct interp_operands){.arg = arg, .n = n}, out);
	aten_op_release(&op);
	return r;
}
