#include "graph/fxcode_part.h"

/* torch/fx/graph.py, magic_methods and inplace_methods; "not" is Python's. */
static const struct fxop ops[] = {
    {"add", "+", FXOP_BINARY},       {"sub", "-", FXOP_BINARY},       {"mul", "*", FXOP_BINARY},
    {"floordiv", "//", FXOP_BINARY}, {"truediv", "/", FXOP_BINARY},   {"mod", "%", FXOP_BINARY},
    {"pow", "**", FXOP_BINARY},      {"lshift", "<<", FXOP_BINARY},   {"rshift", ">>", FXOP_BINARY},
    {"and_", "&", FXOP_BINARY},      {"or_", "|", FXOP_BINARY},       {"xor", "^", FXOP_BINARY},
    {"matmul", "@", FXOP_BINARY},    {"eq", "==", FXOP_BINARY},       {"ne", "!=", FXOP_BINARY},
    {"lt", "<", FXOP_BINARY},        {"gt", ">", FXOP_BINARY},        {"le", "<=", FXOP_BINARY},
    {"ge", ">=", FXOP_BINARY},       {"neg", "-", FXOP_UNARY},        {"pos", "+", FXOP_UNARY},
    {"invert", "~", FXOP_UNARY},     {"not_", "not", FXOP_UNARY},     {"getitem", "[]", FXOP_GETITEM},
    {"setitem", "[]=", FXOP_SETITEM}, {"iadd", "+=", FXOP_INPLACE},   {"iand", "&=", FXOP_INPLACE},
    {"ifloordiv", "//=", FXOP_INPLACE}, {"ilshift", "<<=", FXOP_INPLACE}, {"imod", "%=", FXOP_INPLACE},
    {"imul", "*=", FXOP_INPLACE},    {"imatmul", "@=", FXOP_INPLACE}, {"ior", "|=", FXOP_INPLACE},
    {"ipow", "**=", FXOP_INPLACE},   {"irshift", ">>=", FXOP_INPLACE}, {"isub", "-=", FXOP_INPLACE},
    {"itruediv", "/=", FXOP_INPLACE}, {"ixor", "^=", FXOP_INPLACE},
};

const struct fxop *fxop_by_name(struct slice name)
{
	for (unsigned i = 0; i < ARRAY_LEN(ops); i++)
		if (slice_is(name, ops[i].name))
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

bool fx_reserved(struct slice s)
{
	/* What written text uses by itself, or what stands around it (repro.h's header). */
	static const char *const words[] = {"torch", "device", "tensor",  "inf",  "nan",   "self",   "getattr", "setattr", "slice",  "math",
					    "float", "complex", "_operator", "fx", "super", "rand_strided", "os", "Ellipsis", "fx_pytree",
					    "pytree", "NoneType", "bytes", "range", "operator"};
	if (s.n < 2 || s.n > 12)
		return false;
	for (unsigned i = 0; i < ARRAY_LEN(words); i++)
		if (*words[i] == *s.p && slice_is(s, words[i]))
			return true;
	return fx_keyword(s);
}
