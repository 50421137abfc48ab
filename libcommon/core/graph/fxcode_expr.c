#include "graph/fxcode_part.h"
#include "graph/pytext.h"

/* Expressions: Python's atoms with their trailers ("items"), between operators, between brackets ("frames"). There is no recursion:
 * brackets are frames on a stack, operators wait on another until a weaker one comes (Dijkstra's shunting yard).
 */

enum { PREC_NOT = 3, PREC_COMPARE, PREC_OR, PREC_XOR, PREC_AND, PREC_SHIFT, PREC_SUM, PREC_PRODUCT, PREC_UNARY, PREC_POWER };
/* The state of reading an expression: what may come next. */
enum state { OPERAND, TRAILER, OPERATOR, DONE, FAILED };

static struct fxframe *top(struct fxparse *p) { return &p->frame[p->n_frame - 1]; }

static enum state expr_fail(struct fxparse *p, const char *at, const char *what)
{
	fx_error_at(p, at, "%s", what);
	return FAILED;
}

static enum state unexpected(struct fxparse *p, const char *wanted)
{
	fx_unexpected(p, wanted);
	return FAILED;
}

static void push_value(struct fxparse *p, struct gvalue v, bool node)
{
	GROW(p->val, p->n_val, p->cap_val, 1);
	GROW(p->val_node, p->n_val, p->cap_val_node, 1);
	p->val[p->n_val] = v;
	p->val_node[p->n_val++] = node;
}

static bool push_frame(struct fxparse *p, enum fxframe_kind kind, const struct fxitem *callee, const char *at)
{
	if (p->n_frame == GRAPH_MAX_DEPTH)
		return false;
	struct fxframe *f = &PUSH_TO(p->frame, p->n_frame, p->cap_frame);
	*f = (struct fxframe){
	    .kind = (uint8_t)kind, .kw = NONE, .vals = (uint32_t)p->n_val, .kws = (uint32_t)p->n_kw, .ops = (uint32_t)p->n_ops, .at = at};
	f->first.path = NONE;
	if (callee)
		f->callee = *callee;
	return true;
}

static enum state open_frame(struct fxparse *p, enum fxframe_kind kind, const struct fxitem *callee)
{
	const char *at = p->lex.text.p;
	if (!push_frame(p, kind, callee, at))
		return expr_fail(p, at, "brackets are nested too deeply");
	fxlex_next(&p->lex);
	return OPERAND;
}

/* ---- atoms ---- */

static enum state atom(struct fxparse *p, struct fxitem *i, struct gvalue v)
{
	*i = (struct fxitem){.kind = FXI_VALUE, .v = v, .at = p->lex.text.p};
	fxlex_next(&p->lex);
	return TRAILER;
}

static int digit(char c) { return is_digit(c) ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : 99; }

/* An int; beyond int64 it stays text. */
static struct gvalue integer(struct fxparse *p, struct slice s)
{
	const char kind = s.n > 2 && s.p[0] == '0' ? (char)(s.p[1] | 32) : 0;
	const uint64_t base = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 10;
	uint64_t v = 0;
	for (size_t k = base == 10 ? 0 : 2; k < s.n; k++) {
		if (s.p[k] == '_')
			continue;
		const uint64_t d = (uint64_t)digit(s.p[k]);
		if (d >= base || __builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, d, &v) || v > INT64_MAX)
			return graph_text_value(p->g, GV_TEXT, s);
	}
	return graph_int_value((int64_t)v);
}

/* Adjacent literals are one: 'a' "b". */
static enum state string(struct fxparse *p, struct fxitem *i)
{
	const char *at = p->lex.text.p;
	bool bytes = false;
	buf_reset(&p->tmp);
	for (bool first = true; p->lex.kind == FXT_STRING; first = false) {
		struct slice s = p->lex.text;
		size_t prefix = strcspn(s.p, "'\"");
		bool b = false, f = false;
		for (size_t k = 0; k < prefix; k++) {
			b |= (s.p[k] | 32) == 'b';
			f |= (s.p[k] | 32) == 'f';
		}
		if (!first && b != bytes)
			return expr_fail(p, s.p, "adjacent bytes and str literals");
		bytes = b;
		if (f && (slice_chr(s, '{') || slice_chr(s, '}')))
			return expr_fail(p, s.p, "an f-string with values is not allowed in a graph");
		if (bytes) {
			if (!first)
				buf_addc(&p->tmp, ' ');
			buf_add_slice(&p->tmp, s);
		} else {
			const size_t skip = prefix && (s.p[prefix - 1] | 32) == 'r' ? prefix - 1 : prefix;
			if ((skip && memrchr(s.p, 'r', skip)) || !pytext_string(slice_of(s.p + skip, s.n - skip), &p->tmp))
				return expr_fail(p, s.p, "invalid escape in this string");
		}
		fxlex_next(&p->lex);
	}
	*i = (struct fxitem){.kind = FXI_VALUE, .at = at};
	i->v = graph_text_value(p->g, bytes ? GV_TEXT : GV_STR, p->tmp.len ? buf_slice(&p->tmp) : SLICE(""));
	return TRAILER;
}

/* The longest dotted name from the current token on; after "self." components may be numbers. Consumes it. */
static struct slice dotted(struct fxparse *p)
{
	const char *from = p->lex.text.p, *q = from + p->lex.text.n, *end = p->lex.end;
	const bool self = slice_is(p->lex.text, "self");
	while (end - q >= 2 && *q == '.' && (fx_name_start((unsigned char)q[1]) || (self && is_digit(q[1]))))
		for (q++; q < end && fx_name_part((unsigned char)*q); q++)
			;
	p->lex.p = q;
	return slice_of(from, (size_t)(q - from));
}

static enum state prefix_operator(struct fxparse *p, unsigned op, uint8_t prec)
{
	if (p->n_ops - top(p)->ops > GRAPH_MAX_DEPTH)
		return expr_fail(p, p->lex.text.p, "operators are nested too deeply");
	PUSH_TO(p->ops, p->n_ops, p->cap_ops) = (struct fxoperator){.op = op, .unary = true, .prec = prec, .at = p->lex.text.p};
	fxlex_next(&p->lex);
	return OPERAND;
}

static enum state name_operand(struct fxparse *p, struct fxitem *i)
{
	struct slice s = p->lex.text;
	struct fxframe *f = top(p);
	/* also random(x, from = 1), which torch writes and Python rejects */
	if (f->kind == FXF_CALL && f->kw == NONE && p->n_ops == f->ops && fxlex_peek(&p->lex) == '=' &&
	    !(p->lex.end - p->lex.p >= 2 && p->lex.p[1] == '=')) {
		f->kw = graph_intern(p->g, s);
		fxlex_next(&p->lex);
		fxlex_next(&p->lex);
		return OPERAND;
	}
	if (fx_keyword(s)) {
		if (slice_is(s, "None"))
			return atom(p, i, graph_none_value());
		if (slice_is(s, "True") || slice_is(s, "False"))
			return atom(p, i, graph_bool_value(*s.p == 'T'));
		if (slice_is(s, "not"))
			return prefix_operator(p, FXOP3('n', 'o', 't'), PREC_NOT);
		fx_error_at(p, s.p, "%s %.*s is not allowed in a graph", slice_is(s, "lambda") ? "a" : "the keyword", SLN(s, 60));
		return FAILED;
	}
	s = dotted(p);
	const bool called = fxlex_peek(&p->lex) == '(';
	if (fx_name(p, s, called, i) < 0)
		return FAILED;
	i->at = s.p;
	fxlex_next(&p->lex);
	return TRAILER;
}

/* "<function f at 0x7f...>": repr() of an object without its own text. Kept unchanged. */
static enum state object_repr(struct fxparse *p, struct fxitem *i)
{
	const char *from = p->lex.text.p, *q = from, *end = p->lex.end;
	int depth = 0;
	for (; q < end && *q != '\n'; q++) {
		depth += *q == '<';
		if (*q == '>' && q[-1] != '-' && !--depth)
			break;
	}
	if (q == end || *q == '\n')
		return unexpected(p, "a value");
	*i = (struct fxitem){.kind = FXI_VALUE, .at = from, .v = graph_text_value(p->g, GV_TEXT, slice_of(from, (size_t)(q + 1 - from)))};
	p->lex.p = q + 1;
	fxlex_next(&p->lex);
	return TRAILER;
}

static enum state close_frame(struct fxparse *p, struct fxitem *i);

static enum state operand(struct fxparse *p, struct fxitem *i)
{
	struct fxlex *x = &p->lex;
	double d;
	switch (x->kind) {
	case FXT_NAME: return name_operand(p, i);
	case FXT_INT: return atom(p, i, integer(p, x->text));
	case FXT_FLOAT: return fx_parse_float(x->text, &d) ? atom(p, i, graph_float_value(d)) : unexpected(p, "a number");
	case FXT_IMAG:
		if (!fx_parse_float(slice_of(x->text.p, x->text.n - 1), &d))
			return unexpected(p, "a number");
		buf_reset(&p->tmp);
		fx_add_complex(&p->tmp, 0, d);
		return atom(p, i, graph_text_value(p->g, GV_COMPLEX, buf_slice(&p->tmp)));
	case FXT_STRING: return string(p, i);
	case FXT_OP: break;
	default: return unexpected(p, "a value");
	}
	switch (x->op) {
	case '(': return open_frame(p, FXF_PAREN, NULL);
	case '[': return open_frame(p, FXF_LIST, NULL);
	case '{': return open_frame(p, FXF_BRACE, NULL);
	case '-':
	case '+':
	case '~': return prefix_operator(p, x->op, PREC_UNARY);
	case FXOP3('.', '.', '.'): return atom(p, i, (struct gvalue){.kind = GV_ELLIPSIS});
	case '<': return object_repr(p, i);
	case FXOP2('*', '*'):
		if (top(p)->kind == FXF_CALL && top(p)->kw == NONE) {
			top(p)->star2 = true;
			fxlex_next(x);
			return OPERAND;
		}
		break;
	case '*': return expr_fail(p, x->text.p, "a starred argument is not allowed in a graph");
	case ')':
	case ']':
	case '}':
		if (p->n_ops == top(p)->ops && p->n_frame > 1)
			return close_frame(p, i);
		break;
	case ':':
		if (top(p)->kind == FXF_INDEX && p->n_ops == top(p)->ops) {
			*i = (struct fxitem){.kind = FXI_VALUE, .v = graph_none_value(), .at = x->text.p};
			return TRAILER;
		}
		break;
	default: break;
	}
	return unexpected(p, "a value");
}

/* ---- trailers ---- */

static enum state trailer(struct fxparse *p, struct fxitem *i)
{
	struct fxlex *x = &p->lex;
	if (x->kind != FXT_OP)
		return OPERATOR;
	if (x->op == '(') {
		struct fxitem callee = *i;
		return open_frame(p, FXF_CALL, &callee);
	}
	if (x->op == '[') {
		if (fx_resolve(p, i) < 0)
			return FAILED;
		struct fxitem base = *i;
		return open_frame(p, FXF_INDEX, &base);
	}
	if (x->op != '.')
		return OPERATOR;
	fxlex_next(x);
	if (x->kind != FXT_NAME)
		return unexpected(p, "a name");
	struct slice name = x->text;
	if (fx_attribute(p, i, name, fxlex_peek(x) == '(') < 0)
		return FAILED;
	fxlex_next(x);
	return TRAILER;
}

/* ---- operators ---- */

static uint8_t binary_prec(unsigned op)
{
	switch (op) {
	case '<':
	case '>':
	case FXOP2('=', '='):
	case FXOP2('!', '='):
	case FXOP2('<', '='):
	case FXOP2('>', '='): return PREC_COMPARE;
	case '|': return PREC_OR;
	case '^': return PREC_XOR;
	case '&': return PREC_AND;
	case FXOP2('<', '<'):
	case FXOP2('>', '>'): return PREC_SHIFT;
	case '+':
	case '-': return PREC_SUM;
	case '*':
	case '/':
	case '%':
	case '@':
	case FXOP2('/', '/'): return PREC_PRODUCT;
	case FXOP2('*', '*'): return PREC_POWER;
	default: return 0;
	}
}

/* Operators of this frame that bind at least as strongly as prec (0: all). alone: the result is the value of the whole statement. */
static bool reduce(struct fxparse *p, uint8_t prec, bool alone)
{
	while (p->n_ops > top(p)->ops) {
		const struct fxoperator op = p->ops[p->n_ops - 1];
		if (op.prec < prec || (op.prec == prec && prec == PREC_POWER))
			return true;
		p->n_ops--;
		if ((op.unary ? fx_unary(p, &op) : fx_binary(p, &op, alone && p->n_ops == top(p)->ops)) < 0)
			return false;
	}
	return true;
}

/* The item becomes a value, unless it is getattr's first argument, whose path may go on. */
static bool settle_item(struct fxparse *p, struct fxitem *i)
{
	struct fxframe *f = top(p);
	if (f->kind == FXF_CALL && f->callee.kind == FXI_PATH && p->n_val == f->vals && p->n_ops == f->ops && fx_op_is(p, ',') &&
	    i->kind != FXI_VALUE && slice_is(graph_text(p->g, f->callee.path), "getattr")) {
		f->first = *i;
		push_value(p, graph_none_value(), false);
		return true;
	}
	if (fx_resolve(p, i) < 0)
		return false;
	push_value(p, i->v, i->node);
	return true;
}

/* The parts of "a:b:c" so far: what is missing is None. */
static void end_slice(struct fxparse *p)
{
	struct fxframe *f = top(p);
	if (!f->colons)
		return;
	while (f->colons++ < 2)
		push_value(p, graph_none_value(), false);
	bool node = p->val_node[p->n_val - 1] | p->val_node[p->n_val - 2] | p->val_node[p->n_val - 3];
	struct gvalue v = graph_sequence(p->g, GV_SLICE, p->val + p->n_val - 3, 3);
	p->n_val -= 3;
	push_value(p, v, node);
	f->colons = 0;
}

/* "**{'from': 1}" in a call: its entries are keyword arguments. */
static bool spread(struct fxparse *p, struct fxframe *f)
{
	struct gvalue d = p->val[--p->n_val];
	for (uint32_t k = 0; d.kind == GV_DICT && k < d.n; k += 2) {
		if (p->g->value[d.first + k].kind != GV_STR)
			return false;
		GROW(p->kw, p->n_kw, p->cap_kw, 2);
		p->kw[p->n_kw++] = p->g->value[d.first + k];
		p->kw[p->n_kw++] = p->g->value[d.first + k + 1];
	}
	f->star2 = false;
	return d.kind == GV_DICT;
}

/* A value between commas is complete: it is on the stack. */
static enum state end_element(struct fxparse *p)
{
	struct fxframe *f = top(p);
	f->node |= p->val_node[p->n_val - 1];
	if (f->kind == FXF_INDEX) {
		end_slice(p);
		f->node |= p->val_node[p->n_val - 1];
	} else if (f->kind == FXF_CALL && f->star2) {
		if (!spread(p, f))
			return expr_fail(p, f->at, "a starred argument is not allowed in a graph");
	} else if (f->kind == FXF_CALL && f->kw != NONE) {
		GROW(p->kw, p->n_kw, p->cap_kw, 2);
		p->kw[p->n_kw++] = (struct gvalue){.kind = GV_STR, .text = f->kw};
		p->kw[p->n_kw++] = p->val[--p->n_val];
		f->kw = NONE;
	}
	return OPERAND;
}

static enum state comma(struct fxparse *p, bool tuple)
{
	struct fxframe *f = top(p);
	if (f->kind == FXF_TOP && !tuple)
		return DONE;
	if (!reduce(p, 0, false) || end_element(p) == FAILED)
		return FAILED;
	f = top(p);
	f->comma = true;
	if (f->kind == FXF_BRACE && f->dict && (p->n_val - f->vals) % 2)
		return expr_fail(p, p->lex.text.p, "missing value for a dict key");
	fxlex_next(&p->lex);
	if (f->kind == FXF_TOP && (p->lex.kind == FXT_END || p->lex.kind == FXT_NEWLINE || fx_op_is(p, ';')))
		return DONE;
	return OPERAND;
}

static enum state colon(struct fxparse *p)
{
	struct fxframe *f = top(p);
	if (!reduce(p, 0, false))
		return FAILED;
	f = top(p);
	if (f->kind == FXF_INDEX && f->colons < 2) {
		f->colons++;
		fxlex_next(&p->lex);
		if (fx_op_is(p, ',') || fx_op_is(p, ']') || fx_op_is(p, ':')) {
			if (fx_op_is(p, ':'))
				return OPERAND; /* an empty part: operand() puts None there */
			push_value(p, graph_none_value(), false);
			return OPERATOR;
		}
		return OPERAND;
	}
	if (f->kind == FXF_BRACE && (p->n_val - f->vals) % 2 && (f->dict || p->n_val - f->vals == 1)) {
		f->dict = true;
		fxlex_next(&p->lex);
		return OPERAND;
	}
	if (f->kind == FXF_TOP)
		return DONE;
	return unexpected(p, "a comma or a closing bracket");
}

static enum state binary(struct fxparse *p)
{
	const uint8_t prec = binary_prec(p->lex.op);
	if (!reduce(p, prec, false))
		return FAILED;
	if (p->n_ops - top(p)->ops > GRAPH_MAX_DEPTH)
		return expr_fail(p, p->lex.text.p, "operators are nested too deeply");
	PUSH_TO(p->ops, p->n_ops, p->cap_ops) = (struct fxoperator){.op = p->lex.op, .prec = prec, .at = p->lex.text.p};
	fxlex_next(&p->lex);
	return OPERAND;
}

/* A chain "a < b < c" is two comparisons and an and. */
static bool chained(struct fxparse *p)
{
	for (size_t k = p->n_ops; k > top(p)->ops; k--)
		if (p->ops[k - 1].prec <= PREC_COMPARE)
			return p->ops[k - 1].prec == PREC_COMPARE;
	return false;
}

static enum state operator_state(struct fxparse *p, struct fxitem *i, bool tuple)
{
	struct fxlex *x = &p->lex;
	if (x->kind == FXT_NAME) {
		fx_error_at(p, x->text.p, "'%.*s' is not allowed in a graph", SLN(x->text, 60));
		return FAILED;
	}
	if (x->kind != FXT_OP || x->op == ';')
		return DONE;
	switch (x->op) {
	case ',': return comma(p, tuple);
	case ':': return colon(p);
	case ')':
	case ']':
	case '}': return p->n_frame > 1 ? close_frame(p, i) : DONE;
	default: break;
	}
	if (!binary_prec(x->op))
		return DONE;
	if (binary_prec(x->op) == PREC_COMPARE && chained(p))
		return expr_fail(p, x->text.p, "a chained comparison is not allowed in a graph");
	return binary(p);
}

/* ---- frames ---- */

static struct fxitem value_item(struct gvalue v, bool node, const char *at)
{
	return (struct fxitem){.kind = FXI_VALUE, .v = v, .node = node, .at = at};
}

static bool bracket_fits(enum fxframe_kind kind, unsigned op)
{
	return op == (kind == FXF_PAREN || kind == FXF_CALL ? ')' : kind == FXF_BRACE ? '}' : ']');
}

/* A set of constants: text. */
static enum state close_set(struct fxparse *p, const struct fxframe *f, struct fxitem *i)
{
	LOCAL_BUF b = {0};
	if (f->node)
		return expr_fail(p, f->at, "a set of tensors is not allowed in a graph");
	buf_addc(&b, '{');
	for (size_t k = f->vals; k < p->n_val; k++) {
		if (k > f->vals)
			buf_adds(&b, ", ");
		fxcode_value(p->g, p->val[k], &b);
	}
	buf_addc(&b, '}');
	*i = value_item(graph_text_value(p->g, GV_TEXT, buf_slice(&b)), false, f->at);
	p->n_val = f->vals;
	return TRAILER;
}

/* Everything in the frame is on the stack; the current token is after the bracket. */
static enum state finish_frame(struct fxparse *p, struct fxframe *f, struct fxitem *i)
{
	const size_t n = p->n_val - f->vals;
	struct gvalue *v = p->val + f->vals, one = n ? v[0] : graph_none_value();
	const bool tuple = f->comma || !n;
	switch (f->kind) {
	case FXF_PAREN: *i = value_item(tuple ? graph_sequence(p->g, GV_TUPLE, v, n) : one, f->node, f->at); break;
	case FXF_LIST: *i = value_item(graph_sequence(p->g, GV_LIST, v, n), f->node, f->at); break;
	case FXF_BRACE:
		if (n && !f->dict)
			return close_set(p, f, i);
		if (n % 2)
			return expr_fail(p, f->at, "missing value for a dict key");
		*i = value_item(graph_sequence(p->g, GV_DICT, v, n), f->node, f->at);
		break;
	case FXF_INDEX:
		if (!n)
			return expr_fail(p, f->at, "missing index");
		if (f->comma)
			one = graph_sequence(p->g, GV_TUPLE, v, n);
		p->n_val = f->vals;
		*i = f->callee;
		if (p->n_frame == 1 && p->target_ok && p->n_ops == 0 && p->lex.kind == FXT_OP &&
		    (p->lex.op == '=' || fxop_by_text(p->lex.op, FXOP_INPLACE))) {
			push_value(p, f->callee.v, f->callee.node);
			push_value(p, one, f->node);
			p->target = (struct fxitem){.kind = FXI_TARGET, .at = f->at};
			return DONE;
		}
		return fx_index(p, i, one, f->node) < 0 ? FAILED : TRAILER;
	case FXF_CALL: {
		const bool alone =
		    p->n_frame == 1 && p->n_ops == 0 && (p->lex.kind == FXT_NEWLINE || p->lex.kind == FXT_END || fx_op_is(p, ';'));
		if (fx_call(p, f, alone, i) < 0)
			return FAILED;
		i->at = f->callee.at;
		p->n_kw = f->kws;
		break;
	}
	default: break;
	}
	p->n_val = f->vals;
	return TRAILER;
}

/* At a closing bracket, with a complete element before it or none. */
static enum state close_frame(struct fxparse *p, struct fxitem *i)
{
	struct fxframe f;
	if (!bracket_fits(top(p)->kind, p->lex.op))
		return unexpected(p, "another closing bracket");
	if (!reduce(p, 0, false))
		return FAILED;
	if ((top(p)->kw != NONE || top(p)->star2) && !p->element)
		return unexpected(p, "a value");
	if (p->element && end_element(p) == FAILED)
		return FAILED;
	f = *top(p);
	p->n_frame--;
	fxlex_next(&p->lex);
	return finish_frame(p, &f, i);
}

int fx_expr(struct fxparse *p, bool tuple, bool target_ok, struct gvalue *out)
{
	const size_t vals = p->n_val;
	struct fxitem item = {0};
	enum state s = OPERAND;
	p->n_frame = p->n_ops = 0;
	push_frame(p, FXF_TOP, NULL, p->lex.text.p);
	p->target.kind = FXI_VALUE;
	p->target_ok = target_ok;
	while (s != DONE && s != FAILED) {
		switch (s) {
		case OPERAND:
			p->element = false;
			s = operand(p, &item);
			break;
		case TRAILER:
			s = trailer(p, &item);
			if (s == OPERATOR && !settle_item(p, &item))
				s = FAILED;
			break;
		default:
			p->element = true;
			s = operator_state(p, &item, tuple);
			break;
		}
	}
	if (s == FAILED)
		return -1;
	if (p->target.kind == FXI_TARGET) {
		*out = graph_none_value();
		return 0;
	}
	if (p->n_frame > 1) {
		unexpected(p, "a comma or a closing bracket");
		return -1;
	}
	if (!reduce(p, 0, !top(p)->comma))
		return -1;
	*out = top(p)->comma ? graph_sequence(p->g, GV_TUPLE, p->val + vals, p->n_val - vals) : p->val[vals];
	p->n_val = vals;
	return 0;
}
