#include "graph/fxcode_part.h"

/* torch/fx/graph.py, magic_methods and inplace_methods; "not" is Python's. */
#define OP(name, text, kind) \
	{ \
		name, text, sizeof(name) - 1, kind \
	}
static const struct fxop ops[] = {
    OP("add", "+", FXOP_BINARY),          OP("sub", "-", FXOP_BINARY),        OP("mul", "*", FXOP_BINARY),
    OP("floordiv", "//", FXOP_BINARY),    OP("truediv", "/", FXOP_BINARY),    OP("mod", "%", FXOP_BINARY),
    OP("pow", "**", FXOP_BINARY),         OP("lshift", "<<", FXOP_BINARY),    OP("rshift", ">>", FXOP_BINARY),
    OP("and_", "&", FXOP_BINARY),         OP("or_", "|", FXOP_BINARY),        OP("xor", "^", FXOP_BINARY),
    OP("matmul", "@", FXOP_BINARY),       OP("eq", "==", FXOP_BINARY),        OP("ne", "!=", FXOP_BINARY),
    OP("lt", "<", FXOP_BINARY),           OP("gt", ">", FXOP_BINARY),         OP("le", "<=", FXOP_BINARY),
    OP("ge", ">=", FXOP_BINARY),          OP("neg", "-", FXOP_UNARY),         OP("pos", "+", FXOP_UNARY),
    OP("invert", "~", FXOP_UNARY),        OP("not_", "not", FXOP_UNARY),      OP("getitem", "[]", FXOP_GETITEM),
    OP("setitem", "[]=", FXOP_SETITEM),   OP("iadd", "+=", FXOP_INPLACE),     OP("iand", "&=", FXOP_INPLACE),
    OP("ifloordiv", "//=", FXOP_INPLACE), OP("ilshift", "<<=", FXOP_INPLACE), OP("imod", "%=", FXOP_INPLACE),
    OP("imul", "*=", FXOP_INPLACE),       OP("imatmul", "@=", FXOP_INPLACE),  OP("ior", "|=", FXOP_INPLACE),
    OP("ipow", "**=", FXOP_INPLACE),      OP("irshift", ">>=", FXOP_INPLACE), OP("isub", "-=", FXOP_INPLACE),
    OP("itruediv", "/=", FXOP_INPLACE),   OP("ixor", "^=", FXOP_INPLACE),
};

const struct fxop *fxop_by_name(struct slice name)
{
	for (unsigned i = 0; i < ARRAY_LEN(ops); i++)
		if (name.n == ops[i].n && !memcmp(name.p, ops[i].name, name.n))
			return &ops[i];
	return NULL;
}

static unsigned op_number(const char *s)
{
	unsigned n = 0;
	for (unsigned i = 0; s[i]; i++)
		n |= (unsigned)(unsigned char)s[i] << 8 * i;
	return n;
}

const char *fxop_by_text(unsigned op, enum fxop_kind kind)
{
	for (unsigned i = 0; i < ARRAY_LEN(ops); i++)
		if (ops[i].kind == kind && op_number(ops[i].text) == op)
			return ops[i].name;
	return NULL;
}

bool fx_hides(struct slice s)
{
	static const char *const words[] = {"torch",     "device",   "inf",     "nan",   "self",  "math",
					    "_operator", "NoneType", "getattr", "slice", "float", "complex"};
	for (unsigned i = 0; i < ARRAY_LEN(words); i++)
		if (*words[i] == *s.p && slice_is(s, words[i]))
			return true;
	return false;
}

bool fx_reserved(struct slice s)
{
	/* torch never gives a node the name of one of Python's functions (torch/fx/graph.py, _illegal_names): it may be
	 * called. */
	static const char *const words[] = {"Ellipsis", "abs",   "all",      "any",    "bin",  "bool",    "bytes",  "callable",  "chr",
					    "dict",     "dir",   "divmod",   "eval",   "exec", "filter",  "format", "frozenset", "hasattr",
					    "hash",     "hex",   "id",       "input",  "int",  "iter",    "len",    "list",      "map",
					    "max",      "min",   "next",     "object", "oct",  "open",    "ord",    "pow",       "print",
					    "range",    "repr",  "reversed", "round",  "set",  "setattr", "sorted", "str",       "sum",
					    "super",    "tuple", "type",     "vars",   "zip"};
	if (s.n < 2 || s.n > 12)
		return false;
	for (unsigned i = 0; i < ARRAY_LEN(words); i++)
		if (*words[i] == *s.p && slice_is(s, words[i]))
			return true;
	return fx_hides(s) || fx_keyword(s);
}
