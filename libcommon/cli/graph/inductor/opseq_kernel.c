/* opseq_kernel.c - operations of a kernel's own text, statement by statement. */
#include "graph/inductor/opseq.h"
#include "graph/inductor/words.h"

struct body {
	struct opseq *s;
	enum outlang lang;
	const struct opseq_param *param;
	uint32_t n_params;
	uint32_t line, depth;
	uint32_t undo;        /* where the stores of the loop's main part start */
	struct slice pending; /* "auto tmp0 = [&] {": the block's return value */
	uint32_t pending_depth;
};

/* ---- names of pointers ---- */

static struct slice pointer_of(const struct body *b, struct slice name)
{
	for (int hops = 0; hops < 8; hops++) { /* auto out_ptr1 = in_out_ptr0; */
		uint32_t i = 0;
		while (i < b->s->n_memory && !(slice_eq(b->s->memory[i].name, name) && b->s->memory[i].of.n))
			i++;
		if (i == b->s->n_memory)
			break;
		name = b->s->memory[i].of;
	}
	return name;
}

static const struct opseq_param *param_of(const struct body *b, struct slice name)
{
	for (uint32_t i = 0; i < b->n_params; i++)
		if (slice_eq(b->param[i].name, name))
			return &b->param[i];
	return NULL;
}

/* tmp_acc0_vec, masked_tmp_acc0_vec_arr, _tmp4 -> tmp_acc0, _tmp4: empty if it is not an accumulator */
static struct slice accumulator(const struct body *b, struct slice name)
{
	if (b->lang == OUT_TRITON)
		return slice_starts(name, "_tmp") ? name : SLICE("");
	const char *at = slice_find(name, "tmp_acc");
	if (!at)
		return SLICE("");
	size_t n = 7;
	struct slice s = slice_of(at, (size_t)(name.p + name.n - at));
	while (n < s.n && is_digit(s.p[n]))
		n++;
	return slice_of(s.p, n);
}

/* A value by its name: a variable, or an accumulator's content. */
static uint32_t value_named(const struct body *b, struct slice name)
{
	uint32_t at = opseq_find(b->s, name);
	if (at != NONE)
		return at;
	struct slice acc = accumulator(b, name);
	return acc.n ? opseq_get(b->s, acc) : NONE;
}

static bool is_variable(struct slice name) { return slice_starts(name, "tmp") || slice_starts(name, "_tmp"); }

/* The values mentioned in a text, each once. */
static uint32_t values_in(const struct body *b, struct slice s, uint32_t *args, uint32_t max)
{
	uint32_t n = 0;
	while (s.n && n < max) {
		if (!is_name_start(*s.p)) {
			bool digit = is_digit(*s.p);
			do
				s = after(s, 1);
			while (digit && s.n && is_name_char(*s.p));
			continue;
		}
		struct slice name = take_name(&s);
		uint32_t at = is_variable(name) ? value_named(b, name) : NONE, i = 0;
		while (i < n && args[i] != at)
			i++;
		if (at != NONE && i == n)
			args[n++] = at;
	}
	return n;
}

/* ---- parsing expressions ---- */

static bool opens(char c) { return c == '(' || c == '[' || c == '{'; }
static bool closes(char c) { return c == ')' || c == ']' || c == '}'; }

/* From an opening bracket: the offset after the closing one; 0: none. */
static size_t group(struct slice s, size_t i)
{
	int depth = 0;
	for (; i < s.n; i++) {
		depth += opens(s.p[i]);
		if (closes(s.p[i]) && --depth == 0)
			return i + 1;
	}
	return 0;
}

static bool next_arg(struct slice *rest, struct slice *arg)
{
	int depth = 0, angle = 0;
	size_t i = 0;
	*rest = slice_trim(*rest);
	if (!rest->n)
		return false;
	for (; i < rest->n; i++) {
		char c = rest->p[i];
		depth += opens(c);
		depth -= closes(c);
		if (c == '<' && i && is_name_char(rest->p[i - 1]) && i + 1 < rest->n && rest->p[i + 1] != ' ')
			angle++;
		else if (c == '>' && angle && rest->p[i - 1] != '-')
			angle--;
		else if (c == ',' && depth <= 0 && !angle)
			break;
	}
	*arg = slice_trim(slice_of(rest->p, i));
	*rest = i < rest->n ? after(*rest, i + 1) : SLICE("");
	return true;
}

/* "at::vec::convert<float,1>(tmp0, 8)", "tmp0.template cast<float,1>()", "std::exp(tmp1)": the last name before the brackets that
 * end the expression, what precedes that name, and what is between the brackets. decltype(tmp0)(x) has the name "decltype". */
struct call {
	struct slice before, name, args;
};
static bool whole_call(struct slice e, struct call *c)
{
	if (e.n < 3 || e.p[e.n - 1] != ')')
		return false;
	size_t i = e.n;
	int depth = 0;
	while (i-- > 0) { /* the bracket closed by the last one */
		depth += closes(e.p[i]);
		depth -= opens(e.p[i]);
		if (!depth)
			break;
	}
	if (depth || !i || i == SIZE_MAX || e.p[i] != '(')
		return false;
	c->args = slice_of(e.p + i + 1, e.n - i - 2);
	size_t end = i;
	if (e.p[end - 1] == ')') { /* decltype(x)(y) */
		size_t k = end;
		for (depth = 0; k-- > 0;) {
			depth += closes(e.p[k]);
			depth -= opens(e.p[k]);
			if (!depth)
				break;
		}
		if (k >= 8 && k < end && !memcmp(e.p + k - 8, "decltype", 8)) {
			c->before = slice_of(e.p, k - 8);
			c->name = SLICE("decltype");
			return true;
		}
		return false;
	}
	if (e.p[end - 1] == '>') { /* template arguments */
		for (depth = 0; end-- > 0;) {
			depth += e.p[end] == '>';
			depth -= e.p[end] == '<';
			if (!depth)
				break;
		}
		if (depth || end == SIZE_MAX)
			return false;
	}
	size_t from = end;
	while (from && is_name_char(e.p[from - 1]))
		from--;
	if (from == end)
		return false;
	c->name = slice_of(e.p + from, end - from);
	c->before = slice_of(e.p, from);
	return true;
}

static bool converts(struct slice name)
{
	static const char *const names[] = {"static_cast",
					    "convert",
					    "Vectorized",
					    "VectorizedN",
					    "VecMask",
					    "decltype",
					    "cast",
					    "to",
					    "bool",
					    "int64_t",
					    "int32_t",
					    "float",
					    "double",
					    "from",
					    "broadcast_to",
					    "int",
					    "long",
					    "loadu_one_fourth",
					    "convert_float_to_half",
					    "float2half",
					    "promote_to_tensor"};
	return slice_any(name, names, slice_is);
}

/* Is the prefix of a name a value's ("tmp0."), not a scope's ("std::", "tl.")? */
static bool of_value(const struct body *b, struct slice before, struct slice *value)
{
	if (!slice_ends(before, ".") && !slice_ends(before, ".template "))
		return false;
	*value = slice_of(before.p, before.n - (slice_ends(before, ".") ? 1 : 10));
	struct slice s = *value, name = take_name(&s);
	return (name.n && !s.n) ? value_named(b, name) != NONE : slice_ends(*value, ")");
}

/* Strips surrounding brackets, casts and broadcasts. */
static struct slice bare(const struct body *b, struct slice e)
{
	for (int i = 0; i < 32; i++) {
		struct call c;
		struct slice value, rest, arg;
		e = slice_trim(e);
		if (e.n > 2 && *e.p == '(' && group(e, 0) == e.n) {
			e = slice_of(e.p + 1, e.n - 2);
			continue;
		}
		if (e.n > 3 && e.p[e.n - 1] == ']' && (slice_ends(e, "[:, None]") || slice_ends(e, "[None, :]"))) {
			e.n -= 9;
			continue;
		}
		if (!whole_call(e, &c))
			return e;
		if (slice_is(c.name, "full") && slice_ends(c.before, "tl.")) { /* tl.full([1], 1.0, tl.float32) */
			rest = c.args;
			if (!next_arg(&rest, &arg) || !next_arg(&rest, &arg))
				return e;
			e = arg;
			continue;
		}
		if (!converts(c.name))
			return e;
		if (of_value(b, c.before, &value)) {
			e = value;
			continue;
		}
		/* only a scope before it: not an operator */
		if (slice_chr(c.before, ' '))
			return e;
		rest = c.args;
		if (!next_arg(&rest, &arg))
			return e;
		if (slice_chr(arg, '+') && slice_is(c.name, "from"))
			return e; /* a load */
		e = arg;
	}
	return e;
}

static uint32_t add_op(struct body *b, struct seqop op, const uint32_t *args, uint32_t n)
{
	op.line = b->line;
	op.node = NONE;
	return opseq_add(b->s, op, args, n);
}

static uint32_t unknown(struct body *b, struct slice e)
{
	uint32_t args[OPSEQ_ARGS], n = values_in(b, e, args, OPSEQ_ARGS);
	return n ? add_op(b, (struct seqop){.kind = OP_CALC, .name = SLICE("?")}, args, n) : NONE;
}

/* An operand: a name, a number, or something that is not analyzed. */
static uint32_t operand(struct body *b, struct slice e)
{
	double v;
	e = bare(b, e);
	struct slice s = e, name = take_name(&s);
	if (name.n && (!s.n || slice_is(s, "()")) && value_named(b, name) != NONE) /* tmp8(): a block's result */
		return value_named(b, name);
	if (op_number(e, &v))
		return add_op(b, (struct seqop){.kind = OP_CONST, .name = SLICE("constant"), .number = v, .has_number = true}, NULL, 0);
	if (name.n && s.n && *s.p == '[' && group(s, 0) == s.n && opseq_get(b->s, name) != NONE) /* tmpbuf[x1_inner] */
		return opseq_get(b->s, name);
	return unknown(b, e);
}

/* ---- loads ---- */

static uint32_t load_of(struct body *b, struct slice pointer, struct slice index, struct slice result)
{
	uint32_t args[OPSEQ_ARGS], n;
	struct slice name = pointer_of(b, pointer);
	const struct opseq_param *p = param_of(b, name);
	uint32_t held = opseq_get(b->s, name);
	for (uint32_t i = 0; i < b->s->n_memory && held != NONE; i++)
		b->s->memory[i].read |= slice_eq(b->s->memory[i].name, name);
	if (held != NONE)
		return add_op(b, (struct seqop){.kind = OP_ALIAS, .name = SLICE("load"), .buffer = name, .result = result}, &held, 1);
	n = values_in(b, index, args, OPSEQ_ARGS);
	return add_op(
	    b, (struct seqop){.kind = OP_LOAD, .name = SLICE("load"), .buffer = p && p->loaded.n ? p->loaded : name, .result = result},
	    args, n);
}

/* in_ptr0[...], ...::loadu(in_ptr0 + ..., n), ...::from(in_ptr0 + ...), tl.load(in_ptr0 + (x0), xmask) */
static bool is_load(const struct body *b, struct slice e, struct slice *pointer, struct slice *index)
{
	struct call c;
	struct slice s = e, rest, arg;
	*pointer = take_name(&s);
	if (pointer->n && s.n && *s.p == '[' && group(s, 0) == s.n && value_named(b, *pointer) == NONE) {
		*index = s;
		return true;
	}
	if (!whole_call(e, &c) || (!slice_is(c.name, "loadu") && !slice_is(c.name, "from") && !slice_is(c.name, "load")))
		return false;
	rest = c.args;
	if (!next_arg(&rest, &arg))
		return false;
	s = arg;
	while (s.n && (*s.p == '(' || *s.p == '&'))
		s = after(s, 1);
	*pointer = take_name(&s);
	*index = s;
	return pointer->n && (slice_is(c.name, "loadu") || slice_is(c.name, "load") || slice_chr(s, '+'));
}

/* ---- operations ---- */

/* " OP " outside of brackets, if there is exactly one; for comparisons that is in its own brackets. */
static bool infix(struct slice e, struct slice *left, struct slice *right, const char **name)
{
	static const struct {
		const char *text, *name;
	} table[] = {
	    {" + ", "add"},
	    {" - ", "sub"},
	    {" * ", "mul"},
	    {" / ", "truediv"},
	    {" < ", "lt"},
	    {" > ", "gt"},
	    {" <= ", "le"},
	    {" >= ", "ge"},
	    {" == ", "eq"},
	    {" != ", "ne"},
	    {" & ", "and"},
	    {" | ", "or"},
	    {" ^ ", "xor"},
	    {" && ", "and"},
	    {" || ", "or"},
	    {" % ", "remainder"},
	    {" << ", "bitwise_left_shift"},
	    {" >> ", "bitwise_right_shift"},
	    {" // ", "floordiv"},
	};
	int depth = 0, found = 0;
	for (size_t i = 0; i < e.n; i++) {
		depth += opens(e.p[i]);
		depth -= closes(e.p[i]);
		if (depth || e.p[i] != ' ')
			continue;
		for (size_t k = 0; k < ARRAY_LEN(table); k++) {
			size_t n = strlen(table[k].text);
			if (e.n - i < n || memcmp(e.p + i, table[k].text, n))
				continue;
			found++;
			*left = slice_of(e.p, i);
			*right = after(e, i + n);
			*name = table[k].name;
			i += n - 2;
			break;
		}
	}
	return found == 1;
}

static bool ternary(struct slice e, struct slice part[3])
{
	int depth = 0;
	size_t q = 0;
	for (size_t i = 0; i + 2 < e.n; i++) {
		depth += opens(e.p[i]);
		depth -= closes(e.p[i]);
		if (depth)
			continue;
		if (!q && !memcmp(e.p + i, " ? ", 3))
			q = i;
		else if (q && !memcmp(e.p + i, " : ", 3)) {
			part[0] = slice_of(e.p, q);
			part[1] = slice_of(e.p + q + 3, i - q - 3);
			part[2] = after(e, i + 3);
			return true;
		}
	}
	return false;
}

/* decltype(x)(1) / (decltype(x)(1) + std::exp(-x)) and its vector form; 1 / std::sqrt(x) */
static const char *idiom(struct slice e)
{
	bool sum = slice_find(e, "/") && slice_find(e, "exp(") && slice_find(e, "+");
	if (slice_starts(e, "decltype(") && slice_find(e, "(1)") && sum)
		return "sigmoid";
	if (slice_starts(e, "1 / std::sqrt("))
		return "rsqrt";
	return NULL;
}

static struct slice strip_helper(struct slice name) { return slice_ends(name, "_") && name.n > 1 ? slice_of(name.p, name.n - 1) : name; }

static uint32_t called(struct body *b, struct slice e, const struct call *c, struct slice result)
{
	uint32_t args[OPSEQ_ARGS], n = 0;
	struct slice rest = c->args, arg, value;
	struct seqop op = {.kind = OP_CALC, .name = op_canonical(strip_helper(c->name)), .result = result};
	bool method = of_value(b, c->before, &value);
	if (!method && slice_chr(c->before, ' '))
		return unknown(b, e);
	if (method)
		args[n++] = operand(b, value);
	while (n < OPSEQ_ARGS && next_arg(&rest, &arg))
		if (!slice_chr(arg, '=') || slice_find(arg, "=="))
			args[n++] = operand(b, arg);
	if (n == 2 && !method && (slice_is(c->name, "max") || slice_is(c->name, "min"))) /* std::max(x, y) */
		op.name = slice_is(c->name, "max") ? SLICE("maximum") : SLICE("minimum");
	if (slice_is(c->name, "blendv") && n == 3) { /* blendv(if not, if, mask) */
		uint32_t mask = args[2];
		args[2] = args[0];
		args[0] = mask;
	}
	if (b->lang == OUT_TRITON && (slice_is(c->name, "sum") || slice_is(op.name, "max2") || slice_is(op.name, "min2") ||
				      slice_is(op.name, "any") || slice_is(op.name, "prod"))) {
		op.kind = OP_REDUCE;
		op.name = slice_is(op.name, "max2") ? SLICE("max") : slice_is(op.name, "min2") ? SLICE("min") : op.name;
		n = n > 1 ? 1 : n;
	}
	return add_op(b, op, args, n);
}

static uint32_t expression(struct body *b, struct slice e, struct slice result)
{
	struct slice pointer, index, part[3], s, name;
	struct call c;
	const char *op;
	double v;
	uint32_t args[3];
	e = bare(b, e);
	const char *known = idiom(e);
	if (known) {
		uint32_t x, n = values_in(b, e, &x, 1);
		return add_op(b, (struct seqop){.kind = OP_CALC, .name = slice_str(known), .result = result}, &x, n);
	}
	if (is_load(b, e, &pointer, &index))
		return load_of(b, pointer, index, result);
	s = e;
	name = take_name(&s);
	if (name.n && !s.n) {
		args[0] = value_named(b, name);
		return args[0] == NONE ? NONE
				       : add_op(b, (struct seqop){.kind = OP_ALIAS, .name = SLICE("cast"), .result = result}, args, 1);
	}
	if (op_number(e, &v))
		return add_op(
		    b, (struct seqop){.kind = OP_CONST, .name = SLICE("constant"), .number = v, .has_number = true, .result = result}, NULL,
		    0);
	if (ternary(e, part)) {
		for (int i = 0; i < 3; i++)
			args[i] = operand(b, part[i]);
		return add_op(b, (struct seqop){.kind = OP_CALC, .name = SLICE("where"), .result = result}, args, 3);
	}
	if (infix(e, &part[0], &part[1], &op)) {
		args[0] = operand(b, part[0]);
		args[1] = operand(b, part[1]);
		return add_op(b, (struct seqop){.kind = OP_CALC, .name = slice_str(op), .result = result}, args, 2);
	}
	if (e.n > 1 && (*e.p == '-' || *e.p == '!' || *e.p == '~') && (is_name_start(e.p[1]) || e.p[1] == '(')) {
		args[0] = operand(b, after(e, 1));
		return add_op(b, (struct seqop){.kind = OP_CALC, .name = *e.p == '-' ? SLICE("neg") : SLICE("not"), .result = result}, args,
			      1);
	}
	if (whole_call(e, &c))
		return called(b, e, &c, result);
	uint32_t all[OPSEQ_ARGS], n = values_in(b, e, all, OPSEQ_ARGS);
	return add_op(b, (struct seqop){.kind = OP_CALC, .name = SLICE("?"), .result = result}, all, n);
}

/* ---- statements ---- */

static void store(struct body *b, struct slice pointer, struct slice value)
{
	uint32_t of = operand(b, value);
	struct slice name = pointer_of(b, pointer);
	const struct opseq_param *p = param_of(b, name);
	if (of == NONE || !name.n)
		return;
	/* A value stored there earlier and read again is an intermediate one. */
	uint32_t first = b->s->n_op > OPSEQ_SCOPE ? b->s->n_op - OPSEQ_SCOPE : 0;
	for (uint32_t i = 0; i < b->s->n_memory && p; i++)
		for (uint32_t k = first; b->s->memory[i].read && slice_eq(b->s->memory[i].name, name) && k < b->s->n_op; k++)
			if (b->s->op[k].kind == OP_STORE && slice_eq(b->s->op[k].buffer, p->stored.n ? p->stored : name))
				b->s->op[k].buffer = SLICE("");
	add_op(b, (struct seqop){.kind = OP_STORE, .name = SLICE("store"), .buffer = p && p->stored.n ? p->stored : name}, &of, 1);
	opseq_put(b->s, name, of);
}

/* tmp_acc0_vec = tmp_acc0_vec + tmp3; tmp_acc0 = tmp_acc0 + at::vec::vec_reduce_all<...>(..., tmp_acc0_vec); */
static void accumulate(struct body *b, struct slice acc, struct slice e)
{
	uint32_t args[OPSEQ_ARGS], n = values_in(b, e, args, OPSEQ_ARGS), held = opseq_get(b->s, acc), kept = 0;
	static const struct {
		const char *mark, *name;
	} table[] = {
	    {"welford", "welford"}, {"argmax", "argmax"}, {"argmin", "argmin"},  {"max", "max"},     {"min", "min"},
	    {"sum_masked", "sum"},  {"prod", "prod"},     {"any_masked", "any"}, {" || ", "any"},    {" | ", "any"},
	    {" + ", "sum"},         {" * ", "prod"},      {"xor", "xor_sum"},    {" ^ ", "xor_sum"}, {"cascade_sum", "sum"},
	};
	struct seqop op = {.kind = OP_REDUCE, .name = SLICE("?"), .result = acc};
	for (uint32_t i = 0; i < n; i++)
		if (args[i] != held)
			args[kept++] = args[i];
	if (!kept) {
		if (held != NONE)
			add_op(b, (struct seqop){.kind = OP_NOTE, .name = SLICE("reduced")}, &held, 1);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (slice_find(e, table[i].mark)) {
			op.name = slice_str(table[i].name);
			break;
		}
	opseq_put(b->s, acc, add_op(b, op, args, kept));
}

static void assign(struct body *b, struct slice name, struct slice e, bool declared)
{
	struct slice acc = accumulator(b, name);
	struct slice s = e, word = take_name(&s);
	if (acc.n) {
		if (declared || (b->lang == OUT_TRITON && slice_starts(e, "tl.full(")))
			opseq_put(b->s, acc, NONE);
		else
			accumulate(b, acc, e);
		return;
	}
	if (word.n && !s.n && param_of(b, pointer_of(b, word))) { /* auto out_ptr1 = in_out_ptr0; */
		opseq_put(b->s, name, NONE);
		for (uint32_t i = 0; i < b->s->n_memory; i++)
			if (slice_eq(b->s->memory[i].name, name) && !slice_eq(name, word))
				b->s->memory[i].of = word;
		return;
	}
	if (is_variable(name))
		opseq_name(b->s, name, expression(b, e, name), b->depth);
}

/* at::vec::transpose_mxn<float,8,8>(in_ptr0 + ..., ld, tmp0, 8): a transposed tile */
static void transpose(struct body *b, struct slice line)
{
	struct slice rest, from, ld, to;
	struct call c;
	if (!whole_call(slice_ends(line, ";") ? slice_of(line.p, line.n - 1) : line, &c))
		return;
	rest = c.args;
	if (!next_arg(&rest, &from) || !next_arg(&rest, &ld) || !next_arg(&rest, &to))
		return;
	struct slice source = take_name(&from), target = take_name(&to);
	if (param_of(b, pointer_of(b, target))) {
		uint32_t held = opseq_get(b->s, source);
		if (held != NONE)
			store(b, target, source);
	} else if (target.n) {
		opseq_put(b->s, target, load_of(b, source, from, target));
	}
}

static void statement(struct body *b, struct slice line)
{
	struct slice s = line, name;
	uint32_t args[OPSEQ_ARGS], n;
	if (slice_find(line, "transpose_mxn")) {
		transpose(b, line);
		return;
	}
	if (slice_find(line, "TORCH_CHECK(") || slice_starts(line, "tl.device_assert(")) {
		n = values_in(b, line, args, OPSEQ_ARGS);
		if (n)
			add_op(b, (struct seqop){.kind = OP_NOTE, .name = SLICE("check")}, args, n);
		return;
	}
	/* tmp3.store(out_ptr0 + ...); tl.store(out_ptr0 + (x0), tmp3, xmask); atomic_add(&out_ptr0[...], tmp3); */
	struct slice end = slice_ends(line, ";") ? slice_of(line.p, line.n - 1) : line;
	struct call c;
	if (whole_call(end, &c) && (slice_is(c.name, "store") || slice_is(c.name, "atomic_add") || slice_is(c.name, "atomic_add_vec"))) {
		struct slice rest = c.args, pointer, value;
		if (!next_arg(&rest, &pointer))
			return;
		while (pointer.n && (*pointer.p == '&' || *pointer.p == '('))
			pointer = after(pointer, 1);
		if (!of_value(b, c.before, &value) && !next_arg(&rest, &value))
			return;
		store(b, take_name(&pointer), value);
		return;
	}
	if (slice_starts(line, "return ") && b->pending.n) {
		struct slice e = slice_of(end.p + 7, end.n - 7);
		uint32_t of = expression(b, e, b->pending);
		opseq_name(b->s, b->pending, of, b->pending_depth);
		b->pending = SLICE("");
		return;
	}
	bool declared = false;
	name = take_name(&s);
	if (slice_is(name, "const") || slice_is(name, "auto") || slice_is(name, "constexpr")) {
		while (slice_is(name, "const") || slice_is(name, "auto") || slice_is(name, "constexpr")) {
			s = slice_trim(s);
			name = take_name(&s);
		}
	} else if (b->lang == OUT_CPP && name.n && s.n && *s.p != '[' && !slice_starts(s, " =") && !slice_starts(s, ".")) {
		/* a type before the name: float tmp_acc0 = 0; at::vec::Vectorized<float> tmp_acc0_vec = ...; */
		const char *eq = slice_find(s, " = ");
		const char *p = eq;
		while (p && p > s.p && is_name_char(p[-1]))
			p--;
		if (!p || p == eq)
			return;
		name = slice_of(p, (size_t)(eq - p));
		s = slice_of(eq, (size_t)(s.p + s.n - eq));
		declared = true;
	}
	if (slice_ends(s, ";"))
		s.n--;
	if (is_variable(name) && (slice_is(s, " =") || slice_is(s, " = [&]"))) {
		b->pending = name;
		b->pending_depth = b->depth;
	} else if (slice_is(name, "tmpbuf") && s.n && *s.p == '[') { /* a vector assembled from scattered elements */
		size_t g = group(s, 0);
		struct slice pointer, index;
		if (g && slice_starts(after(s, g), " = ") && is_load(b, after(s, g + 3), &pointer, &index))
			opseq_put(b->s, name, load_of(b, pointer, index, SLICE("")));
	} else if (name.n && slice_starts(s, " = ")) {
		assign(b, name, after(s, 3), declared);
	} else if (name.n && s.n && *s.p == '[') { /* out_ptr0[...] = tmp3; += too */
		size_t g = group(s, 0);
		struct slice rest = after(s, g);
		if (g && (slice_starts(rest, " = ") || slice_starts(rest, " += ")) && value_named(b, name) == NONE)
			store(b, name, after(rest, rest.p[1] == '+' ? 4 : 3));
	}
}

static void scope_end(struct body *b)
{
	while (b->s->n_scope && b->s->scope[b->s->n_scope - 1].depth > b->depth)
		b->s->n_scope--;
}

/* The remainder loop after a loop's main part: the main part's stores do not count for it. */
static bool is_rest(struct slice line)
{
	if (slice_starts(line, "if(C10_UNLIKELY("))
		return true;
	const char *eq = slice_starts(line, "for") ? slice_chr(line, '=') : NULL; /* for(long x0=static_cast<long>(96L); ... */
	const char *semi = eq ? memchr(eq, ';', (size_t)(line.p + line.n - eq)) : NULL;
	const char *open = semi ? memchr(eq, '(', (size_t)(semi - eq)) : NULL;
	const char *p = open ? open + 1 : eq ? eq + 1 : NULL;
	return p && semi && p<semi && * p> '0' && *p <= '9';
}

static void undo(struct body *b)
{
	for (uint32_t i = b->s->n_undo; i-- > b->undo;) {
		uint32_t row = b->s->undo[i].row;
		if (!accumulator(b, b->s->memory[row].name).n)
			b->s->memory[row].op = b->s->undo[i].op;
	}
}

void opseq_add_kernel(struct opseq *s, struct slice text, enum outlang lang, const struct opseq_param *param, uint32_t n_params)
{
	struct body b = {.s = s, .lang = lang, .param = param, .n_params = n_params};
	struct slice rest = text, line;
	s->n_scope = 0;
	while (slice_line(&rest, &line)) {
		b.line++;
		line = slice_trim(line);
		if (!line.n || slice_starts(line, "//") || slice_starts(line, "#"))
			continue;
		if (lang == OUT_CPP && slice_is(line, "{")) {
			b.depth++;
		} else if (lang == OUT_CPP && *line.p == '}') {
			b.depth -= b.depth > 0;
			scope_end(&b);
		} else if (slice_starts(line, "for") || slice_starts(line, "if")) {
			if (is_rest(line))
				undo(&b);
			else if (slice_starts(line, "for") || slice_starts(line, "if(C10_LIKELY("))
				b.undo = s->n_undo;
		} else if (line.n < 65536) {
			statement(&b, line);
		}
	}
}
