/* Higher-order operators (torch 2.15, torch/_higher_order_ops/{cond,while_loop,scan,associative_scan,map,invoke_subgraph,wrap}.py): their
 * operands refer to subgraphs, which are called here as in eager. */
#include "aten/interp/autocast.h"
#include "aten/interp/interp_part.h"

enum { MAX_LEAVES = 4096 };

struct hop {
	struct activation *a;
	struct interp *run;
	const struct gnode *node;
};

const char *interp_why_missing(struct slice op)
{
	static const char *const why[][2] = {
	    {"higher_order.call_torchbind", "a method of a torchbind object, whose code is not in the file"},
	    {"higher_order.executorch_call_delegate", "a part that executorch lowered, which only its backend runs"},
	    {"higher_order.triton_kernel_wrapper_functional", "a Triton kernel of your own, which only Triton runs"},
	    {"higher_order.triton_kernel_wrapper_mutation", "a Triton kernel of your own, which only Triton runs"},
	};
	for (size_t i = 0; i < ARRAY_LEN(why); i++)
		if (slice_is(op, why[i][0]))
			return why[i][1];
	return NULL;
}

bool interp_hop_has(struct slice name)
{
	/* The comments are their rows in docs/user/GRAPHS.md (scripts/gen-operators). */
	static const char *const known[] = {
	    "associative_scan",   /* row by row, also with combine_mode="generic" (which is torch.vmap) */
	    "cond",               /* the branch that its condition selects */
	    "flex_attention",     /* as in eager: score_mod and mask_mod for all elements at once */
	    "hints_wrapper",      /* its body; hints are for the compiler */
	    "invoke_subgraph",    /* its body: a nested compile region */
	    "map_impl",           /* torch.map: row by row, the results stacked */
	    "print",              /* nothing is printed */
	    "scan",               /* row by row, with the carried values */
	    "while_loop",         /* until its condition is false; a million times at most */
	    "with_effects",       /* its operator; the token is passed on */
	    "wrap_with_autocast", /* on: its body with the casts of torch.autocast for its device, operator by operator; off: its body */
	    "wrap_with_set_grad_enabled", /* its body */
	};
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (slice_is(name, known[i]))
			return true;
	return false;
}

/* ---- operands: by position, or by name, as 2.15 writes some ---- */

static const struct gvalue *operand(const struct hop *h, uint32_t at, const char *name)
{
	const struct gvalue *v = graph_kwarg(h->run->g, h->run->node, name);
	return v ? v : at < h->node->n_args ? &h->run->g->value[h->node->args + at] : NULL;
}

static int subgraph(const struct hop *h, uint32_t at, const char *name, uint32_t *module)
{
	const struct graph *g = h->run->g;
	const struct gvalue *v = operand(h, at, name);
	*module = NONE;
	if (v && v->kind == GV_NODE && g->node[v->node].op == GRAPH_GET_ATTR)
		*module = graph_child(g, h->a->module, graph_text(g, g->node[v->node].target));
	return *module != NONE ? 0 : interp_bad(h->run, "its operand %u (%s) is not a subgraph in this file", at, name);
}

static int operand_value(const struct hop *h, uint32_t at, const char *name, struct aten_value *out)
{
	const struct gvalue *v = operand(h, at, name);
	*out = (struct aten_value){.kind = ATEN_NONE};
	return v ? interp_operand(h->a, *v, out) : 0;
}

/* Operands one after the other; lists are flattened. */
struct leaves {
	struct aten_value v[MAX_LEAVES];
	size_t n;
};

static int add_leaves(struct interp *run, struct leaves *l, const struct aten_value *v)
{
	if (v->kind == ATEN_NONE)
		return 0;
	const size_t n = v->kind == ATEN_LIST ? v->n : 1;
	if (n > MAX_LEAVES - l->n)
		return interp_bad(run, "more than %d operands", MAX_LEAVES);
	for (size_t i = 0; i < n; i++)
		l->v[l->n++] = v->kind == ATEN_LIST ? v->item[i] : *v;
	return 0;
}

/* ---- cond, and operators that call one subgraph ---- */

/* Without values, takes the first branch: torch requires both to return the same shapes. */
static int cond(const struct hop *h, struct leaves *l, struct aten_value *out)
{
	struct aten_value pred, number = aten_bool(true), operands;
	uint32_t yes, no;
	if (operand_value(h, 0, "pred", &pred) < 0 || (!h->run->mode.shapes && interp_number(h->run, &pred, &number) < 0) ||
	    subgraph(h, 1, "true_fn", &yes) < 0 || subgraph(h, 2, "false_fn", &no) < 0 || operand_value(h, 3, "operands", &operands) < 0 ||
	    add_leaves(h->run, l, &operands) < 0)
		return -1;
	return interp_call(h->run, interp_truth(&number) ? yes : no, l->v, l->n, out);
}

/* name(..., subgraph, ..., *operands): the operands begin at `from`. */
static int call_one(const struct hop *h, uint32_t at, const char *name, uint32_t from, struct leaves *l, struct aten_value *out)
{
	uint32_t module;
	struct aten_value v;
	if (subgraph(h, at, name, &module) < 0)
		return -1;
	for (uint32_t i = from; i < h->node->n_args; i++)
		if (operand_value(h, i, "", &v) < 0 || add_leaves(h->run, l, &v) < 0)
			return -1;
	return interp_call(h->run, module, l->v, l->n, out);
}

/* wrap_with_autocast(device_type, dtype, enabled, cache_enabled, submodule, *operands) */
static int autocast(const struct hop *h, struct leaves *l, struct aten_value *out)
{
	struct interp *run = h->run;
	const struct interp_cast before = run->cast;
	struct aten_value device, dtype, enabled;
	if (operand_value(h, 0, "device_type", &device) < 0 || operand_value(h, 1, "dtype", &dtype) < 0 ||
	    operand_value(h, 2, "enabled", &enabled) < 0)
		return -1;
	if (device.kind != ATEN_STRING || enabled.kind != ATEN_BOOL || (dtype.kind != ATEN_DTYPE && dtype.kind != ATEN_NONE))
		return interp_bad(run, "unsupported operands");
	const bool gpu = slice_is(device.text, "cuda");
	if (gpu || slice_is(device.text, "cpu")) /* regions of other devices have no effect here; a nested one is for its own device */
		run->cast = (struct interp_cast){
		    .on = enabled.i != 0, .gpu = gpu, .dtype = dtype.kind == ATEN_DTYPE ? (int)dtype.i : autocast_default(device.text)};
	const int r = call_one(h, 4, "wrapped_func", 5, l, out);
	run->cast = before;
	return r;
}

/* ---- loops ---- */

/* Owned values become the first n of l, replacing the previous ones (`mine`: those were owned, too). */
static void carry_on(struct leaves *l, struct aten_value *list, size_t n, bool mine)
{
	for (size_t i = 0; i < n; i++) {
		if (mine)
			aten_value_release(&l->v[i]);
		l->v[i] = list->item[i];
		list->item[i] = (struct aten_value){.kind = ATEN_NONE};
	}
	aten_value_release(list);
}

static int share_first(struct interp *run, struct leaves *l, size_t n, struct aten_value *out)
{
	return interp_share(run, (struct aten_value){.kind = ATEN_LIST, .n = (uint32_t)n, .item = l->v}, out);
}

/* Without values it is true once: each iteration returns the shapes it received (torch requires that), but other numbers. */
static int test_condition(const struct hop *h, uint32_t module, struct leaves *l, size_t carried, bool *go)
{
	struct aten_value out, number;
	if (h->run->mode.shapes) {
		*go = !*go;
		for (size_t i = 0; i < carried; i++)
			if (l->v[i].kind != ATEN_TENSOR)
				return interp_bad(h->run, "a number used for counting depends on values");
		return 0;
	}
	if (interp_call(h->run, module, l->v, l->n, &out) < 0)
		return -1;
	const int r =
	    out.n == 1 ? interp_number(h->run, &out.item[0], &number) : interp_bad(h->run, "its condition does not return a bool");
	*go = r == 0 && interp_truth(&number);
	aten_value_release(&out);
	return r;
}

static int while_loop(const struct hop *h, struct leaves *l, struct aten_value *out)
{
	struct interp *run = h->run;
	uint32_t cond_fn, body;
	struct aten_value v;
	bool go = false, mine = false;
	if (subgraph(h, 0, "cond_fn", &cond_fn) < 0 || subgraph(h, 1, "body_fn", &body) < 0 ||
	    operand_value(h, 2, "carried_inputs", &v) < 0 || add_leaves(run, l, &v) < 0)
		return -1;
	const size_t carried = l->n;
	int r = operand_value(h, 3, "additional_inputs", &v) < 0 ? -1 : add_leaves(run, l, &v);
	while (!r && (r = test_condition(h, cond_fn, l, carried, &go)) == 0 && go) {
		if ((r = interp_call(run, body, l->v, l->n, &v)) == 0 && v.n != carried) {
			aten_value_release(&v);
			r = interp_bad(run, "its body returns %u values, expected %zu", v.n, carried);
		}
		if (!r) {
			carry_on(l, &v, carried, mine);
			mine = true;
		}
	}
	if (!r)
		r = share_first(run, l, carried, out);
	for (size_t i = 0; mine && i < carried; i++)
		aten_value_release(&l->v[i]);
	return r;
}

/* Rows of the scanned operands: the results of the iterations, by output and iteration. */
struct rows {
	struct aten_value *v; /* all iterations of one output, then the next output */
	size_t n_out, turns, done;
};

static void rows_release(struct rows *r)
{
	for (size_t o = 0; o < r->n_out; o++)
		for (size_t i = 0; i < r->done; i++)
			aten_value_release(&r->v[o * r->turns + i]);
	free(r->v);
}

static int stack_rows(struct interp *run, struct rows *rows, struct aten_value *out, size_t from)
{
	for (size_t o = 0; o < rows->n_out; o++) {
		struct aten_value list = {.kind = ATEN_LIST, .n = (uint32_t)rows->done, .item = rows->v + o * rows->turns};
		if (interp_aten(run, SLICE("aten.stack.default"), (struct aten_value[]){list, aten_int(0)}, 2, &out->item[from + o]) < 0)
			return -1;
		out->n++;
	}
	return 0;
}

static int select_row(struct interp *run, struct aten_value x, size_t i, struct aten_value *out)
{
	if (x.kind != ATEN_TENSOR || !x.tensor->n_dim)
		return interp_bad(run, "the scanned input is not a tensor with a dimension");
	return interp_aten(run, SLICE("aten.select.int"), (struct aten_value[]){x, aten_int(0), aten_int((int64_t)i)}, 3, out);
}

/* In each iteration, body(*carried, *rows of xs, *more) returns the new carried values, and a row of each output. */
struct scan {
	uint32_t body;
	size_t carried, n_x, turns;
	struct aten_value *x;   /* scanned, borrowed */
	struct leaves *l;       /* carried, a row of each x, more */
	bool mine;              /* the carried values are owned */
	bool outputs_are_carry; /* associative_scan: the carried value is the output */
	struct rows rows;
};

static int turn(struct interp *run, struct scan *s, size_t i)
{
	struct aten_value out = {.kind = ATEN_NONE};
	size_t k = 0;
	int r = 0;
	while (k < s->n_x && (r = select_row(run, s->x[k], i, &s->l->v[s->carried + k])) == 0)
		k++;
	if (!r)
		r = interp_call(run, s->body, s->l->v, s->l->n, &out);
	while (k-- > 0)
		aten_value_release(&s->l->v[s->carried + k]);
	if (r)
		return r;
	const size_t want = s->outputs_are_carry ? s->carried : s->carried + s->rows.n_out;
	if (!s->rows.v) { /* the number of results is known now */
		s->rows.n_out = s->outputs_are_carry ? s->carried : out.n >= s->carried ? out.n - s->carried : 0;
		s->rows.v = xcalloc(s->rows.n_out * s->rows.turns + 1, sizeof(*s->rows.v));
	} else if (out.n != want) {
		r = interp_bad(run, "an iteration returns %u values, expected %zu", out.n, want);
	}
	if (!r && out.n < s->carried)
		r = interp_bad(run, "an iteration returns %u values, expected at least %zu", out.n, s->carried);
	size_t o = 0;
	for (; !r && o < s->rows.n_out; o++) {
		struct aten_value *from = &out.item[s->outputs_are_carry ? o : s->carried + o],
				  *to = &s->rows.v[o * s->rows.turns + s->rows.done];
		if (s->outputs_are_carry)
			r = interp_share(run, *from, to);
		else
			*to = *from, *from = (struct aten_value){.kind = ATEN_NONE};
	}
	if (r) {
		while (o-- > 0)
			aten_value_release(&s->rows.v[o * s->rows.turns + s->rows.done]);
		aten_value_release(&out);
		return r;
	}
	s->rows.done++;
	carry_on(s->l, &out, s->carried, s->mine);
	s->mine = true;
	return 0;
}

static int run_scan(struct interp *run, struct scan *s, size_t first, struct aten_value *out)
{
	int r = 0;
	for (size_t i = first; i < s->turns && !r; i++)
		r = turn(run, s, i);
	if (!r && !s->rows.done && !s->outputs_are_carry)
		r = interp_bad(run, "the scanned input has no rows");
	if (!r) {
		const size_t kept = s->outputs_are_carry ? 0 : s->carried;
		*out = (struct aten_value){.kind = ATEN_LIST, .item = xcalloc(kept + s->rows.n_out + 1, sizeof(*out->item))};
		while (out->n < kept && (r = interp_share(run, s->l->v[out->n], &out->item[out->n])) == 0)
			out->n++;
		if (r || (r = stack_rows(run, &s->rows, out, kept)) < 0)
			aten_value_release(out);
	}
	for (size_t i = 0; s->mine && i < s->carried; i++)
		aten_value_release(&s->l->v[i]);
	rows_release(&s->rows);
	return r;
}

/* Gets the scanned operands from a list; all have the same number of rows. */
static int take_scanned(struct interp *run, struct aten_value *list, struct scan *s)
{
	if (list->kind != ATEN_LIST || !list->n || list->item[0].kind != ATEN_TENSOR || !list->item[0].tensor->n_dim)
		return interp_bad(run, "the scanned input is not a list of tensors");
	s->x = list->item;
	s->n_x = list->n;
	s->turns = s->rows.turns = (size_t)list->item[0].tensor->size[0];
	for (size_t i = 1; i < s->n_x; i++)
		if (list->item[i].kind != ATEN_TENSOR || !list->item[i].tensor->n_dim || (size_t)list->item[i].tensor->size[0] != s->turns)
			return interp_bad(run, "the scanned inputs have different numbers of rows");
	return 0;
}

static int scan(const struct hop *h, struct leaves *l, struct aten_value *out)
{
	struct scan s = {.l = l};
	struct aten_value init, xs, more, gap = {.kind = ATEN_LIST};
	if (subgraph(h, 0, "combine_fn", &s.body) < 0 || operand_value(h, 1, "init", &init) < 0 || operand_value(h, 2, "xs", &xs) < 0 ||
	    operand_value(h, 3, "additional_inputs", &more) < 0 || take_scanned(h->run, &xs, &s) < 0 || add_leaves(h->run, l, &init) < 0)
		return -1;
	s.carried = l->n;
	gap.n = xs.n, gap.item = xs.item;
	if (add_leaves(h->run, l, &gap) < 0 || add_leaves(h->run, l, &more) < 0)
		return -1;
	return run_scan(h->run, &s, 0, out);
}

/* The first row is the first output, unchanged. */
static int associative_scan(const struct hop *h, struct leaves *l, struct aten_value *out)
{
	struct scan s = {.l = l, .outputs_are_carry = true, .mine = true};
	struct aten_value xs, more;
	int r = 0;
	if (subgraph(h, 0, "combine_fn", &s.body) < 0 || operand_value(h, 1, "xs", &xs) < 0 ||
	    operand_value(h, 2, "additional_inputs", &more) < 0 || take_scanned(h->run, &xs, &s) < 0)
		return -1;
	if (!s.turns)
		return interp_bad(h->run, "the scanned input has no rows");
	s.carried = s.rows.n_out = s.n_x;
	if (2 * s.n_x > MAX_LEAVES || add_leaves(h->run, l, &xs) < 0 || add_leaves(h->run, l, &xs) < 0 || add_leaves(h->run, l, &more) < 0)
		return -1;
	s.rows.v = xcalloc(s.n_x * s.turns + 1, sizeof(*s.rows.v));
	size_t k = 0;
	while (k < s.n_x && (r = select_row(h->run, s.x[k], 0, &l->v[k])) == 0)
		k++;
	s.carried = k; /* ours */
	for (size_t i = 0; i < k && !r; i++)
		r = interp_share(h->run, l->v[i], &s.rows.v[i * s.turns]);
	if (r) {
		while (k-- > 0)
			aten_value_release(&l->v[k]), aten_value_release(&s.rows.v[k * s.turns]);
		free(s.rows.v);
		return r;
	}
	s.rows.done = 1;
	return run_scan(h->run, &s, 1, out);
}

static int map_impl(const struct hop *h, struct leaves *l, struct aten_value *out)
{
	struct scan s = {.l = l};
	struct aten_value xs, more;
	if (subgraph(h, 0, "f", &s.body) < 0 || operand_value(h, 1, "xs", &xs) < 0 || operand_value(h, 2, "pos_args", &more) < 0 ||
	    take_scanned(h->run, &xs, &s) < 0 || add_leaves(h->run, l, &xs) < 0 || add_leaves(h->run, l, &more) < 0)
		return -1;
	return run_scan(h->run, &s, 0, out);
}

/* ---- with_effects(token, op, *args, **kwargs): the token, and op's results (torch 2.13, torch/_higher_order_ops/effects.py) ---- */

uint32_t interp_effect(const struct graph *g, uint32_t node)
{
	const struct gnode *n = &g->node[node];
	if (!slice_is(graph_text(g, n->target), "torch.ops.higher_order.with_effects") || n->n_args < 2)
		return NONE;
	const struct gvalue *op = &g->value[n->args + 1];
	return op->kind == GV_NAME ? op->text : NONE;
}

static int call_effect(const struct hop *h, uint32_t target, const struct interp_operands *o, struct aten_value *out)
{
	struct interp *run = h->run;
	const struct slice text = graph_text(run->g, target), op = interp_without(text, "torch.ops.");
	if (slice_is(op, "higher_order.print"))
		return *out = (struct aten_value){.kind = ATEN_NONE}, 0;
	int r = interp_check(run, op, o->arg, o->n, o->named, o->n_named, out);
	if (r > 0)
		r = interp_more(run, target, op, o, out);
	const struct aten_op *found = r > 0 ? interp_find(run, target) : NULL;
	return found ? interp_call_op(run, found, o, out) : r > 0 ? -1 : r;
}

static int with_effects(const struct hop *h, struct aten_value *out)
{
	const uint32_t target = interp_effect(h->run->g, h->run->node);
	struct interp_operands o;
	struct aten_value token, result;
	if (target == NONE)
		return interp_bad(h->run, "its operand 1 (op) is not an operator");
	if (operand_value(h, 0, "token", &token) < 0 || interp_operands(h->a, h->node, 2, &o) < 0)
		return -1;
	if (call_effect(h, target, &o, &result) < 0)
		return -1;
	const uint32_t n = result.kind == ATEN_LIST ? result.n : 1;
	*out = (struct aten_value){.kind = ATEN_LIST, .item = xcalloc(n + 1, sizeof(*out->item))};
	if (interp_share(h->run, token, &out->item[0]) < 0) {
		free(out->item);
		aten_value_release(&result);
		return -1;
	}
	out->n = n + 1;
	memcpy(out->item + 1, result.kind == ATEN_LIST ? result.item : &result, n * sizeof(result));
	if (result.kind == ATEN_LIST)
		free(result.item);
	return 0;
}

int interp_hop(struct activation *a, struct slice name, struct aten_value *out)
{
	const struct hop h = {.a = a, .run = a->run, .node = &a->run->g->node[a->run->node]};
	FREED struct leaves *l = xcalloc(1, sizeof(*l));
	int r;
	if (slice_is(name, "cond"))
		r = cond(&h, l, out);
	else if (slice_is(name, "while_loop"))
		r = while_loop(&h, l, out);
	else if (slice_is(name, "scan"))
		r = scan(&h, l, out);
	else if (slice_is(name, "associative_scan"))
		r = associative_scan(&h, l, out);
	else if (slice_is(name, "map_impl"))
		r = map_impl(&h, l, out);
	else if (slice_is(name, "invoke_subgraph"))
		r = call_one(&h, 0, "subgraph", 2, l, out);
	else if (slice_is(name, "wrap_with_set_grad_enabled"))
		r = call_one(&h, 1, "wrapped_func", 2, l, out);
	else if (slice_is(name, "wrap_with_autocast"))
		r = autocast(&h, l, out);
	else if (slice_is(name, "flex_attention"))
		r = interp_flex(a, out);
	else if (slice_is(name, "with_effects"))
		r = with_effects(&h, out);
	else if (slice_is(name, "print"))
		*out = (struct aten_value){.kind = ATEN_NONE}, r = 0;
	else if (slice_is(name, "hints_wrapper")) /* (body, (operands), {}, hints={...}): the hints are for the compiler */
		r = call_one(&h, 0, "body_fn", 1, l, out);
	else
		r = interp_bad(a->run, "unsupported higher-order operator");
	return r;
}
