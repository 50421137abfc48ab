#include "tensor/pickle.h"

/* The known opcodes, by their names in CPython's Lib/pickle.py. */
enum {
	OP_MARK = '(',
	OP_STOP = '.',
	OP_POP = '0',
	OP_POP_MARK = '1',
	OP_DUP = '2',
	OP_BINFLOAT = 'G',
	OP_BININT = 'J',
	OP_BININT1 = 'K',
	OP_BININT2 = 'M',
	OP_NONE = 'N',
	OP_BINPERSID = 'Q',
	OP_REDUCE = 'R',
	OP_BINSTRING = 'T',
	OP_SHORT_BINSTRING = 'U',
	OP_BINUNICODE = 'X',
	OP_EMPTY_LIST = ']',
	OP_APPEND = 'a',
	OP_BUILD = 'b',
	OP_GLOBAL = 'c',
	OP_DICT = 'd',
	OP_EMPTY_DICT = '}',
	OP_APPENDS = 'e',
	OP_BINGET = 'h',
	OP_LONG_BINGET = 'j',
	OP_LIST = 'l',
	OP_EMPTY_TUPLE = ')',
	OP_BINPUT = 'q',
	OP_LONG_BINPUT = 'r',
	OP_SETITEM = 's',
	OP_TUPLE = 't',
	OP_SETITEMS = 'u',
	OP_PROTO = 0x80,
	OP_NEWOBJ = 0x81,
	OP_TUPLE1 = 0x85,
	OP_TUPLE2 = 0x86,
	OP_TUPLE3 = 0x87,
	OP_NEWTRUE = 0x88,
	OP_NEWFALSE = 0x89,
	OP_LONG1 = 0x8a,
	OP_LONG4 = 0x8b,
	OP_BINBYTES = 'B',
	OP_SHORT_BINBYTES = 'C',
	OP_SHORT_BINUNICODE = 0x8c,
	OP_BINUNICODE8 = 0x8d,
	OP_BINBYTES8 = 0x8e,
	OP_EMPTY_SET = 0x8f,
	OP_ADDITEMS = 0x90,
	OP_FROZENSET = 0x91,
	OP_NEWOBJ_EX = 0x92,
	OP_STACK_GLOBAL = 0x93,
	OP_MEMOIZE = 0x94,
	OP_FRAME = 0x95,
	OP_BYTEARRAY8 = 0x96,
	UNSET = UINT32_MAX, /* an unset memo entry */
};

static int damaged(struct pickle *p, const char *what) { return pickle_fail(p, "%s: the file is damaged", what); }

/* ---- nodes, stack and memo ---- */

static int push(struct pickle *p, uint32_t node)
{
	PUSH_TO(p->stack, p->n_stack, p->cap_stack) = node;
	return 0;
}

static int push_int(struct pickle *p, enum pickle_kind kind, int64_t v)
{
	uint32_t k = pickle_new(p, kind);
	p->node[k].i = v;
	return push(p, k);
}

/* How many values are above the last mark: nothing may be popped from below it. */
static uint32_t above_mark(const struct pickle *p) { return p->n_stack - (p->n_mark ? p->mark[p->n_mark - 1] : 0); }

static int need_values(struct pickle *p, uint32_t n)
{
	return above_mark(p) < n ? damaged(p, "it pops more values from the stack than there are") : 0;
}

static int pop(struct pickle *p, uint32_t *node)
{
	if (need_values(p, 1) < 0)
		return -1;
	*node = p->stack[--p->n_stack];
	return 0;
}

/* Remove the last mark; the values above it are stack[*from] and those after. */
static int pop_mark(struct pickle *p, uint32_t *from)
{
	if (!p->n_mark)
		return damaged(p, "it pops values from a mark that was not set");
	*from = p->mark[--p->n_mark];
	return 0;
}

static int memo_put(struct pickle *p, uint64_t i)
{
	/* Python counts from 0, so a valid number is below the number of bytes. */
	if (i >= p->bytes.n)
		return damaged(p, "a memo number is impossibly high");
	if (need_values(p, 1) < 0)
		return -1;
	if (i >= p->n_memo) {
		uint32_t n = p->n_memo ? p->n_memo : 32;
		while (n <= i)
			n *= 2;
		p->memo = xreallocarray(p->memo, n, sizeof(*p->memo));
		memset(p->memo + p->n_memo, 0xff, (n - p->n_memo) * sizeof(*p->memo));
		p->n_memo = n;
	}
	p->memo_next += p->memo[i] == UNSET; /* MEMOIZE's number: the number of entries */
	p->memo[i] = p->stack[p->n_stack - 1];
	return 0;
}

static int memo_get(struct pickle *p, uint32_t i)
{
	if (i >= p->n_memo || p->memo[i] == UNSET)
		return damaged(p, "it reads an unset memo entry");
	return push(p, p->memo[i]);
}

/* ---- operands of an opcode ---- */

static int take_bytes(struct pickle *p, uint64_t n, const char **at)
{
	if (n > p->bytes.n - p->at)
		return err_set(p->err, EXIT_INPUT, "'%s': its pickle ends at byte %zu: the file is truncated", p->path, p->bytes.n);
	*at = p->bytes.p + p->at;
	p->at += n;
	return 0;
}

/* Little-endian, 1 to 8 bytes. */
static int take_uint(struct pickle *p, unsigned n, uint64_t *v)
{
	const char *at = NULL;
	if (take_bytes(p, n, &at) < 0)
		return -1;
	*v = 0;
	for (unsigned i = n; i-- > 0;)
		*v = *v << 8 | (uint8_t)at[i];
	return 0;
}

static int push_bytes(struct pickle *p, enum pickle_kind kind, unsigned length_bytes)
{
	uint64_t n;
	const char *at = NULL;
	if (take_uint(p, length_bytes, &n) < 0 || take_bytes(p, n, &at) < 0)
		return -1;
	uint32_t k = pickle_new(p, kind);
	p->node[k].s = at;
	p->node[k].n = (uint32_t)n;
	return push(p, k);
}

/* Two's complement, little-endian, of any length. */
static int push_long(struct pickle *p, unsigned length_bytes)
{
	uint64_t n, v = 0;
	const char *at = NULL;
	if (take_uint(p, length_bytes, &n) < 0 || take_bytes(p, n, &at) < 0)
		return -1;
	if (n > 8)
		return push(p, pickle_new(p, PICKLE_OTHER));
	bool negative = n && (uint8_t)at[n - 1] & 0x80; /* char may be signed or unsigned */
	for (uint64_t i = 8; i-- > 0;)
		v = v << 8 | (i < n ? (uint8_t)at[i] : negative ? 0xff : 0);
	return push_int(p, PICKLE_INT, (int64_t)v);
}

static int push_float(struct pickle *p)
{
	const char *at = NULL;
	if (take_bytes(p, 8, &at) < 0)
		return -1;
	uint64_t v = 0;
	for (unsigned i = 0; i < 8; i++)
		v = v << 8 | (uint8_t)at[i];
	uint32_t k = pickle_new(p, PICKLE_FLOAT);
	memcpy(&p->node[k].f, &v, 8);
	return push(p, k);
}

static int take_text_line(struct pickle *p, struct slice *line)
{
	const char *from = p->bytes.p + p->at, *nl = p->bytes.n > p->at ? memchr(from, '\n', p->bytes.n - p->at) : NULL;
	if (!nl)
		return damaged(p, "unterminated name of a global");
	*line = slice_of(from, (size_t)(nl - from));
	p->at += line->n + 1;
	return 0;
}

/* ---- containers ---- */

/* Turns the values above the mark (or the last n, if there is no mark) into one container. */
static int push_container(struct pickle *p, enum pickle_kind kind, uint32_t from)
{
	uint32_t k = pickle_new(p, kind), n = p->n_stack - from;
	if (kind == PICKLE_DICT && n % 2)
		return damaged(p, "missing value of a dict key");
	if (n && pickle_add(p, k, p->stack + from, n) < 0)
		return -1;
	p->n_stack = from;
	return push(p, k);
}

static int push_marked(struct pickle *p, enum pickle_kind kind)
{
	uint32_t from = 0;
	return pop_mark(p, &from) < 0 ? -1 : push_container(p, kind, from);
}

static int push_tuple(struct pickle *p, uint32_t n) { return need_values(p, n) < 0 ? -1 : push_container(p, PICKLE_TUPLE, p->n_stack - n); }

/* Adds the values from `from` on to the container below them. */
static int extend(struct pickle *p, enum pickle_kind kind, uint32_t from)
{
	uint32_t n = p->n_stack - from;
	/* The container itself must be above the previous mark. */
	if (from <= (p->n_mark ? p->mark[p->n_mark - 1] : 0))
		return damaged(p, "items for a missing container");
	uint32_t c = p->stack[from - 1];
	if (p->node[c].kind != kind && !(p->objects && p->node[c].kind == PICKLE_OBJECT))
		return damaged(p, kind == PICKLE_LIST   ? "items for something other than a list"
				  : kind == PICKLE_DICT ? "items for something other than a dict"
							: "items for something other than a set");
	if (kind == PICKLE_DICT && n % 2)
		return damaged(p, "missing value of a dict key");
	if (pickle_add(p, c, p->stack + from, n) < 0)
		return -1;
	p->n_stack = from;
	return 0;
}

static int extend_marked(struct pickle *p, enum pickle_kind kind)
{
	uint32_t from = 0;
	return pop_mark(p, &from) < 0 ? -1 : extend(p, kind, from);
}

static int extend_by(struct pickle *p, enum pickle_kind kind, uint32_t n)
{
	return need_values(p, n + 1) < 0 ? -1 : extend(p, kind, p->n_stack - n);
}

/* ---- objects ---- */

static uint32_t name_node(struct pickle *p, struct slice module, struct slice name)
{
	const struct slice text[2] = {module, name};
	uint32_t item[2];
	for (unsigned i = 0; i < 2; i++) {
		item[i] = pickle_new(p, PICKLE_STR);
		p->node[item[i]].s = text[i].p;
		p->node[item[i]].n = (uint32_t)text[i].n;
	}
	uint32_t k = pickle_new(p, PICKLE_NAME);
	return pickle_add(p, k, item, 2) < 0 ? NONE : k;
}

/* An object created by calling a global is kept as the global and its arguments. */
static int push_object(struct pickle *p, uint32_t func, uint32_t args)
{
	const uint32_t item[2] = {func, args};
	uint32_t k = pickle_new(p, PICKLE_OBJECT);
	return pickle_add(p, k, item, 2) < 0 ? -1 : push(p, k);
}

static int op_new(struct pickle *p, bool keywords)
{
	uint32_t func, args, ignored;
	if ((keywords && pop(p, &ignored) < 0) || pop(p, &args) < 0 || pop(p, &func) < 0)
		return -1;
	return push_object(p, func, args);
}

/* An attribute of a tensor subclass that is an object of a class: nothing of it is kept. */
static int op_new_other(struct pickle *p, bool keywords)
{
	uint32_t ignored;
	if ((keywords && pop(p, &ignored) < 0) || pop(p, &ignored) < 0 || pop(p, &ignored) < 0)
		return -1;
	return push(p, pickle_new(p, PICKLE_OTHER));
}

uint32_t pickle_member(const struct pickle *p, uint32_t dict, const char *key)
{
	const struct pickle_node *d = &p->node[dict];
	for (uint32_t i = 0; d->kind == PICKLE_DICT && i + 1 < d->n; i += 2)
		if (p->node[d->item[i]].kind == PICKLE_STR && slice_is(pickle_text(&p->node[d->item[i]]), key))
			return d->item[i + 1];
	return NONE;
}

/* ---- globals ---- */

static int push_global(struct pickle *p, struct slice module, struct slice name)
{
	uint32_t k;
	if (p->objects)
		k = name_node(p, module, name);
	else if (pickle_global(p, module, name, &k) < 0)
		return -1;
	return k == NONE ? -1 : push(p, k);
}

static int op_global(struct pickle *p)
{
	struct slice module, name;
	return take_text_line(p, &module) < 0 || take_text_line(p, &name) < 0 ? -1 : push_global(p, module, name);
}

static int op_stack_global(struct pickle *p)
{
	uint32_t name, module;
	if (pop(p, &name) < 0 || pop(p, &module) < 0)
		return -1;
	if (p->node[name].kind != PICKLE_STR || p->node[module].kind != PICKLE_STR)
		return damaged(p, "the name of a global is not text");
	return push_global(p, pickle_text(&p->node[module]), pickle_text(&p->node[name]));
}

static int op_reduce(struct pickle *p)
{
	uint32_t args, func, k;
	if (p->objects)
		return op_new(p, false);
	if (pop(p, &args) < 0 || pop(p, &func) < 0 || pickle_call(p, func, args, &k) < 0)
		return -1;
	return push(p, k);
}

static int op_persistent(struct pickle *p)
{
	uint32_t id, k;
	if (p->objects)
		return pop(p, &id) < 0 ? -1 : push_object(p, NONE, id);
	if (pop(p, &id) < 0 || pickle_persistent(p, id, &k) < 0)
		return -1;
	return push(p, k);
}

/* An OrderedDict's attributes (a state dict has _metadata) do not contain its tensors: they are left out. */
static int op_build(struct pickle *p)
{
	uint32_t state;
	if (need_values(p, 2) < 0 || pop(p, &state) < 0)
		return -1;
	uint8_t kind = p->node[p->stack[p->n_stack - 1]].kind;
	if (p->objects)
		return kind == PICKLE_OBJECT ? pickle_add(p, p->stack[p->n_stack - 1], &state, 1) : 0;
	if (kind != PICKLE_DICT && kind != PICKLE_TENSOR && !(kind == PICKLE_OTHER && p->wrappers))
		return pickle_fail(p, "refuses to set attributes: only tensors and plain containers are read");
	return 0;
}

/* ---- the machine ---- */

static int unknown(struct pickle *p, unsigned op)
{
	return pickle_fail(p,
			   "refuses opcode 0x%02x: only those that torch.save writes for tensors and plain containers are supported; "
			   "the file is damaged, or contains objects: save their state_dict()",
			   op);
}

static int simple(struct pickle *p, unsigned op)
{
	uint64_t v = 0;
	uint32_t k;
	switch (op) {
	case OP_PROTO:
		if (take_uint(p, 1, &v) < 0)
			return -1;
		return v <= 5 ? 0 : pickle_fail(p, "has protocol %u: 2 to 5 are supported", (unsigned)v);
	case OP_FRAME: return take_uint(p, 8, &v);
	case OP_MARK: PUSH_TO(p->mark, p->n_mark, p->cap_mark) = p->n_stack; return 0;
	case OP_POP: /* of a mark, if one is on top */
		if (p->n_mark && !above_mark(p)) {
			p->n_mark--;
			return 0;
		}
		return pop(p, &k);
	case OP_POP_MARK: return pop_mark(p, &p->n_stack);
	case OP_DUP: return need_values(p, 1) < 0 ? -1 : push(p, p->stack[p->n_stack - 1]);
	case OP_NONE: return push(p, pickle_new(p, PICKLE_NONE));
	case OP_NEWTRUE:
	case OP_NEWFALSE: return push_int(p, PICKLE_BOOL, op == OP_NEWTRUE);
	case OP_BININT: return take_uint(p, 4, &v) < 0 ? -1 : push_int(p, PICKLE_INT, (int32_t)v);
	case OP_BININT1: return take_uint(p, 1, &v) < 0 ? -1 : push_int(p, PICKLE_INT, (int64_t)v);
	case OP_BININT2: return take_uint(p, 2, &v) < 0 ? -1 : push_int(p, PICKLE_INT, (int64_t)v);
	case OP_LONG1: return push_long(p, 1);
	case OP_LONG4: return push_long(p, 4);
	case OP_BINFLOAT: return push_float(p);
	case OP_BINGET: return take_uint(p, 1, &v) < 0 ? -1 : memo_get(p, (uint32_t)v);
	case OP_LONG_BINGET: return take_uint(p, 4, &v) < 0 ? -1 : memo_get(p, (uint32_t)v);
	case OP_BINPUT: return take_uint(p, 1, &v) < 0 ? -1 : memo_put(p, v);
	case OP_LONG_BINPUT: return take_uint(p, 4, &v) < 0 ? -1 : memo_put(p, v);
	case OP_MEMOIZE: return memo_put(p, p->memo_next);
	default: return unknown(p, op);
	}
}

static int step(struct pickle *p, unsigned op)
{
	switch (op) {
	case OP_BINUNICODE: return push_bytes(p, PICKLE_STR, 4);
	case OP_SHORT_BINUNICODE: return push_bytes(p, PICKLE_STR, 1);
	case OP_BINUNICODE8: return push_bytes(p, PICKLE_STR, 8);
	case OP_BINSTRING: return push_bytes(p, PICKLE_STR, 4);
	case OP_SHORT_BINSTRING: return push_bytes(p, PICKLE_STR, 1);
	case OP_BINBYTES: return push_bytes(p, PICKLE_BYTES, 4);
	case OP_SHORT_BINBYTES: return push_bytes(p, PICKLE_BYTES, 1);
	case OP_BINBYTES8:
	case OP_BYTEARRAY8: return push_bytes(p, PICKLE_BYTES, 8);
	case OP_EMPTY_TUPLE: return push(p, pickle_new(p, PICKLE_TUPLE));
	case OP_EMPTY_LIST: return push(p, pickle_new(p, PICKLE_LIST));
	case OP_EMPTY_DICT: return push(p, pickle_new(p, PICKLE_DICT));
	case OP_EMPTY_SET: return push(p, pickle_new(p, PICKLE_SET));
	case OP_TUPLE: return push_marked(p, PICKLE_TUPLE);
	case OP_LIST: return push_marked(p, PICKLE_LIST);
	case OP_DICT: return push_marked(p, PICKLE_DICT);
	case OP_FROZENSET: return push_marked(p, PICKLE_SET);
	case OP_TUPLE1:
	case OP_TUPLE2:
	case OP_TUPLE3: return push_tuple(p, op - OP_TUPLE1 + 1);
	case OP_APPEND: return extend_by(p, PICKLE_LIST, 1);
	case OP_APPENDS: return extend_marked(p, PICKLE_LIST);
	case OP_SETITEM: return extend_by(p, PICKLE_DICT, 2);
	case OP_SETITEMS: return extend_marked(p, PICKLE_DICT);
	case OP_ADDITEMS: return extend_marked(p, PICKLE_SET);
	case OP_GLOBAL: return op_global(p);
	case OP_STACK_GLOBAL: return op_stack_global(p);
	case OP_REDUCE: return op_reduce(p);
	case OP_BINPERSID: return op_persistent(p);
	case OP_BUILD: return op_build(p);
	case OP_NEWOBJ:
	case OP_NEWOBJ_EX:
		return p->objects ? op_new(p, op == OP_NEWOBJ_EX) : p->wrappers ? op_new_other(p, op == OP_NEWOBJ_EX) : unknown(p, op);
	default: return simple(p, op);
	}
}

static int run_pickle(struct pickle *p)
{
	for (;;) {
		const char *at = NULL;
		p->op = p->at;
		if (take_bytes(p, 1, &at) < 0)
			return -1;
		unsigned op = (uint8_t)*at;
		if (op == OP_STOP)
			break;
		if (step(p, op) < 0)
			return -1;
	}
	if (p->n_mark || p->n_stack != 1)
		return damaged(p, "it ends with unused values");
	p->top = p->stack[0];
	return 0;
}

static int read_stream(struct pickle *p, struct slice bytes, const char *path, bool objects, struct err *err)
{
	*p = (struct pickle){.path = path, .bytes = bytes, .objects = objects, .err = err};
	if (bytes.n > PICKLE_MAX)
		return err_set(err, EXIT_INPUT, "'%s': its pickle exceeds 64 MiB without the tensors' data: not read", path);
	int r = run_pickle(p);
	if (r < 0)
		pickle_release(p);
	p->err = NULL;
	return r;
}

int pickle_read(struct pickle *p, struct slice bytes, const char *path, struct err *err) { return read_stream(p, bytes, path, false, err); }

int pickle_read_objects(struct pickle *p, struct slice bytes, const char *path, struct err *err)
{
	return read_stream(p, bytes, path, true, err);
}

void pickle_release(struct pickle *p)
{
	free(p->node);
	free(p->stack);
	free(p->mark);
	free(p->memo);
	arena_release(&p->arena);
	*p = (struct pickle){0};
}
