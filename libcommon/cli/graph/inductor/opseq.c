/* opseq.c - lists of operations, and the IR's operations. */
#include "graph/inductor/opseq.h"

#include <math.h>

/* Operations with several spellings get one: maximum(x, 0) is relu(x), square(x) is mul(x, x). */
static uint32_t normal(const struct opseq *s, struct seqop *op, const uint32_t *args, uint32_t n, uint32_t out[2])
{
	if (op->kind != OP_CALC || !n || n > 2)
		return 0;
	out[0] = args[0];
	out[1] = n == 2 ? args[1] : args[0];
	if (n == 1 && slice_is(op->name, "square")) {
		op->name = SLICE("mul");
		return 2;
	}
	if (n == 2 && slice_is(op->name, "maximum"))
		for (int i = 0; i < 2; i++) {
			uint32_t at = opseq_value(s, args[i]);
			if (at == NONE || s->op[at].kind != OP_CONST || !s->op[at].has_number || s->op[at].number != 0)
				continue;
			op->name = SLICE("relu");
			out[0] = args[!i];
			return 1;
		}
	return 0;
}

uint32_t opseq_add(struct opseq *s, struct seqop op, const uint32_t *args, uint32_t n)
{
	uint32_t changed[2], k = normal(s, &op, args, n, changed);
	if (k) {
		args = changed;
		n = k;
	}
	if (s->n_op >= OPSEQ_MAX)
		return NONE;
	GROW(s->op, s->n_op, s->cap_op, 1);
	GROW(s->arg, s->n_arg, s->cap_arg, n);
	op.arg = s->n_arg;
	for (uint32_t i = 0; i < n; i++)
		if (args[i] != NONE) {
			s->arg[s->n_arg++] = args[i];
			op.n_args++;
		}
	s->op[s->n_op] = op;
	return s->n_op++;
}

void opseq_name(struct opseq *s, struct slice name, uint32_t op, uint32_t depth)
{
	if (!name.n || op == NONE)
		return;
	GROW(s->scope, s->n_scope, s->cap_scope, 1);
	s->scope[s->n_scope].name = name;
	s->scope[s->n_scope].op = op;
	s->scope[s->n_scope++].depth = depth;
}

uint32_t opseq_find(const struct opseq *s, struct slice name)
{
	uint32_t look = OPSEQ_SCOPE;
	for (uint32_t i = s->n_scope; i-- > 0 && look--;)
		if (slice_eq(s->scope[i].name, name))
			return s->scope[i].op;
	return NONE;
}

void opseq_put(struct opseq *s, struct slice buffer, uint32_t op)
{
	uint32_t i = 0;
	while (i < s->n_memory && !slice_eq(s->memory[i].name, buffer))
		i++;
	if (i == s->n_memory) {
		if (i == OPSEQ_SCOPE)
			return;
		GROW(s->memory, s->n_memory, s->cap_memory, 1);
		s->memory[s->n_memory].name = buffer;
		s->memory[s->n_memory].op = NONE;
		s->memory[s->n_memory++].of = SLICE("");
	}
	GROW(s->undo, s->n_undo, s->cap_undo, 1);
	s->undo[s->n_undo].row = i;
	s->undo[s->n_undo++].op = s->memory[i].op;
	s->memory[i].op = op;
	s->memory[i].read = false;
}

uint32_t opseq_get(const struct opseq *s, struct slice buffer)
{
	for (uint32_t i = 0; i < s->n_memory; i++)
		if (slice_eq(s->memory[i].name, buffer))
			return s->memory[i].op;
	return NONE;
}

uint32_t opseq_value(const struct opseq *s, uint32_t op)
{
	while (op != NONE && s->op[op].kind == OP_ALIAS && s->op[op].n_args)
		op = s->arg[s->op[op].arg];
	return op;
}

void opseq_release(struct opseq *s)
{
	free(s->op);
	free(s->arg);
	free(s->scope);
	free(s->memory);
	free(s->undo);
	*s = (struct opseq){0};
}

struct slice op_canonical(struct slice name)
{
	static const char *const same[][2] = {
	    {"max_propagate_nan", "maximum"},
	    {"min_propagate_nan", "minimum"},
	    {"div", "truediv"},
	    {"true_divide", "truediv"},
	    {"clamp_max", "minimum"},
	    {"clamp_min", "maximum"},
	    {"logical_and", "and"},
	    {"bitwise_and", "and"},
	    {"and_", "and"},
	    {"logical_or", "or"},
	    {"bitwise_or", "or"},
	    {"or_", "or"},
	    {"logical_not", "not"},
	    {"bitwise_not", "not"},
	    {"logical_xor", "xor"},
	    {"bitwise_xor", "xor"},
	    {"blendv", "where"},
	    {"nearbyint", "round"},
	    {"fabs", "abs"},
	    {"amax", "max"},
	    {"amin", "min"},
	    {"index_select", "gather"},
	    {"index", "gather"},
	    {"_unsafe_index", "gather"},
	    {"embedding", "gather"},
	    {"libdevice_abs", "abs"},
	    {"tensor", "constant"},
	    {"Sleef_expf_u10", "exp"},
	    {"calc_erfinv", "erfinv"},
	    {"special_erf", "erf"},
	    {"floor_divide_integral", "floordiv"},
	    {"div_floor_integer", "floordiv"},
	    {"prod", "prod"},
	    {"inline_asm_elementwise", "?"},
	};
	for (size_t i = 0; i < ARRAY_LEN(same); i++)
		if (slice_is(name, same[i][0]))
			return slice_str(same[i][1]);
	return name;
}

bool op_number(struct slice t, double *v)
{
	char text[64];
	t = slice_trim(t);
	bool minus = t.n && *t.p == '-';
	if (minus)
		t = slice_trim(slice_of(t.p + 1, t.n - 1));
	double x;
	if (slice_is(t, "True") || slice_is(t, "true")) {
		x = 1;
	} else if (slice_is(t, "False") || slice_is(t, "false")) {
		x = 0;
	} else if (slice_is(t, "inf") || slice_ends(t, "::infinity()") || slice_is(t, "float(\"inf\")")) {
		x = INFINITY;
	} else if (slice_is(t, "nan") || slice_ends(t, "::quiet_NaN()") || slice_is(t, "float(\"nan\")")) {
		x = NAN;
	} else {
		char *end;
		if (!t.n || t.n >= sizeof(text) || ((*t.p < '0' || *t.p > '9') && *t.p != '.'))
			return false;
		memcpy(text, t.p, t.n);
		text[t.n] = 0;
		x = strtod(text, &end);
		while (*end == 'L' || *end == 'U' || *end == 'f' || *end == 'u' || *end == 'l')
			end++;
		if (*end || end == text)
			return false;
	}
	*v = minus ? -x : x;
	return true;
}

/* ---- the IR ---- */

struct ir_part {
	struct opseq *s;
	const struct irtext *ir;
	uint32_t node;
	const struct irnode *n;
};

/* Values in the expression of an index: "20*indirect0 + p1" -> the argument of set_indirect0. */
static uint32_t indirect(struct ir_part *p, struct slice get_index, uint32_t *args, uint32_t max)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < p->n->n_indexes; i++) {
		const struct irindex *x = &p->ir->index[p->n->index + i];
		if (!slice_eq(x->name, get_index))
			continue;
		struct slice rest = x->expr;
		for (const char *at; n < max && (at = slice_find(rest, "indirect"));) {
			rest = slice_of(at, (size_t)(rest.p + rest.n - at));
			size_t len = 8;
			while (len < rest.n && is_digit(rest.p[len]))
				len++;
			uint32_t op = opseq_find(p->s, slice_of(rest.p, len));
			if (op != NONE)
				args[n++] = op;
			rest = slice_of(rest.p + len, rest.n - len);
		}
	}
	return n;
}

static uint32_t operands(struct ir_part *p, const struct irop *op, uint32_t *args, bool *is_number, double *number)
{
	struct slice rest = op->args, arg;
	uint32_t n = 0;
	*is_number = false;
	while (n < OPSEQ_ARGS && irop_arg(&rest, &arg)) {
		double v;
		uint32_t at = opseq_find(p->s, arg);
		if (at != NONE) {
			args[n++] = at;
		} else if (op_number(arg, &v)) {
			if (!*is_number)
				*number = v;
			*is_number = true;
			if (op->self || slice_is(op->name, "constant"))
				continue;
			at = opseq_add(p->s,
				       (struct seqop){.kind = OP_CONST,
						      .name = SLICE("constant"),
						      .number = v,
						      .has_number = true,
						      .line = op->line,
						      .node = p->node},
				       NULL, 0);
			if (at != NONE)
				args[n++] = at;
		}
	}
	return n;
}

static void load(struct ir_part *p, const struct irop *op, struct seqop made)
{
	uint32_t args[OPSEQ_ARGS], n = 0, at;
	struct slice rest = op->args, name, index = SLICE("");
	if (!irop_arg(&rest, &name))
		return;
	irop_arg(&rest, &index);
	made.buffer = ir_unquote(name);
	at = opseq_get(p->s, made.buffer);
	if (at != NONE) {
		made.kind = OP_ALIAS;
		args[n++] = at;
	} else {
		made.kind = OP_LOAD;
		for (uint32_t i = p->s->n_scope, look = OPSEQ_SCOPE; i-- > 0 && look--;) /* get_index_2 = self.get_index('index2') */
			if (slice_eq(p->s->scope[i].name, index)) {
				n = indirect(p, p->s->op[p->s->scope[i].op].buffer, args, OPSEQ_ARGS);
				break;
			}
	}
	opseq_name(p->s, op->result, opseq_add(p->s, made, args, n), 0);
}

static void store(struct ir_part *p, const struct irop *op, struct seqop made)
{
	struct slice rest = op->args, name, index, value;
	if (!irop_arg(&rest, &name) || !irop_arg(&rest, &index) || !irop_arg(&rest, &value))
		return;
	uint32_t of = opseq_find(p->s, value);
	made.kind = OP_STORE;
	made.name = SLICE("store");
	made.buffer = ir_unquote(name);
	opseq_add(p->s, made, &of, 1);
	if (of != NONE)
		opseq_put(p->s, made.buffer, of);
}

/* reduction = ops.reduction(torch.float32, torch.float32, 'sum', mul_4) */
static void reduction(struct ir_part *p, const struct irop *op, struct seqop made)
{
	struct slice rest = op->args, arg;
	uint32_t args[OPSEQ_ARGS], n = 0;
	while (n < OPSEQ_ARGS && irop_arg(&rest, &arg)) {
		uint32_t at = opseq_find(p->s, arg);
		if (arg.n && (*arg.p == '\'' || *arg.p == '"'))
			made.name = op_canonical(ir_unquote(arg));
		else if (at != NONE)
			args[n++] = at;
	}
	if (slice_starts(made.name, "welford"))
		made.name = SLICE("welford");
	made.kind = OP_REDUCE;
	opseq_name(p->s, op->result, opseq_add(p->s, made, args, n), 0);
}

static void add_op(struct ir_part *p, const struct irop *op)
{
	struct seqop made = {.kind = OP_CALC, .name = op_canonical(op->name), .result = op->result, .line = op->line, .node = p->node};
	uint32_t args[OPSEQ_ARGS], n;
	bool number;
	if (op->self && slice_is(op->name, "getitem")) { /* of a reduction with several results */
		uint32_t of = opseq_find(p->s, op->args);
		opseq_name(p->s, op->result, opseq_add(p->s, made, &of, 1), 0);
		return;
	}
	if (op->self && slice_is(op->name, "get_index")) {
		/* Only its name is needed, for the load that uses it. */
		made.kind = OP_NOTE;
		made.buffer = ir_unquote(slice_trim(op->args));
		opseq_name(p->s, op->result, opseq_add(p->s, made, NULL, 0), 0);
		return;
	}
	if (slice_is(op->name, "load")) {
		load(p, op, made);
		return;
	}
	if (slice_starts(op->name, "store")) {
		store(p, op, made);
		return;
	}
	if (slice_is(op->name, "reduction")) {
		reduction(p, op, made);
		return;
	}
	n = operands(p, op, args, &number, &made.number);
	if (slice_is(op->name, "constant")) {
		made.kind = OP_CONST;
		made.has_number = number;
		n = 0;
	} else if (slice_starts(op->name, "to_dtype") || slice_starts(op->name, "set_indirect")) {
		made.kind = n ? OP_ALIAS : OP_CALC;
	} else if (op->self) {
		made.name = slice_starts(op->name, "masked_subblock") ? SLICE("masked") : SLICE("?");
	}
	uint32_t at = opseq_add(p->s, made, args, n);
	opseq_name(p->s, op->result, at, 0);
	if (slice_starts(op->name, "set_indirect")) /* the index names it indirect0 */
		opseq_name(p->s, slice_of(op->name.p + 4, op->name.n - 4), at, 0);
}

void opseq_add_ir(struct opseq *s, const struct irtext *ir, uint32_t node)
{
	const struct irnode *n = &ir->node[node];
	struct ir_part p = {s, ir, node, n};
	s->n_scope = 0;
	for (uint32_t i = 0; i < n->n_ops; i++)
		add_op(&p, &ir->op[n->op + i]);
}
