#include "model/cppwrapper/wrapper_read.h"

/* Names in torch/utils/_sympy/printers.py (CppPrinter) that symsize_parse knows under another name. */
static const struct {
	const char *cpp, *name;
} spelling[] = {
    {"std::max", "max"}, {"std::min", "min"}, {"std::abs", "abs"}, {"c10::div_mod", "PythonMod"}, {"c10::div_floor_integer", "FloorDiv"},
    {"static_cast", ""},
};

/* Rewrite a C++ expression for symsize_parse: symbols by their values, functions by their names. False if a part of it is not an integer
 * known in the text. align(n) rounds up to 64 (torch/csrc/inductor/aoti_include/common.h). */
static bool rewrite(struct wrapper *w, struct slice text, struct buf *b)
{
	size_t depth = 0, align[8], n_align = 0;
	for (struct slice s = text; s.n;) {
		struct slice name = text_name(&s);
		if (!name.n) {
			char c = *s.p;
			depth += c == '(';
			if (c == ')' && n_align && align[n_align - 1] == depth) {
				n_align--;
				buf_adds(b, ",64)");
			}
			depth -= c == ')' && depth;
			if (c == '?' || c == '"' || c == '[' || c == '!' || c == '=')
				return false;
			if (c != '{' && c != '}') /* std::max<int64_t>({a, b, c}) */
				buf_addc(b, c);
			s.p++;
			s.n--;
			continue;
		}
		if (is_digit(*name.p)) {
			buf_add_slice(b, name);
			continue;
		}
		bool call = s.n && *s.p == '(';
		if (s.n && *s.p == '<' && (slice_is(name, "static_cast") || slice_starts(name, "std::m"))) {
			if (!text_take(&s, "<int64_t>"))
				return false;
			call = true;
		}
		if (!call) {
			const struct wvar *v = wrapper_var(w, name);
			if (!v || v->kind != VAR_SYMBOL)
				return false;
			buf_addc(b, '(');
			symsize_print(&w->c->tab, v->size, b);
			buf_addc(b, ')');
			continue;
		}
		if (slice_is(name, "align")) {
			if (n_align == ARRAY_LEN(align))
				return false;
			align[n_align++] = depth + 1;
			buf_adds(b, "(64*CeilDiv");
			continue;
		}
		size_t k = 0;
		while (k < ARRAY_LEN(spelling) && !slice_is(name, spelling[k].cpp))
			k++;
		if (k == ARRAY_LEN(spelling))
			return false;
		buf_adds(b, spelling[k].name);
	}
	return !n_align && b->len <= SYMSIZE_MAX_TEXT;
}

struct symsize wrapper_size(struct wrapper *w, struct slice text)
{
	int64_t v;
	text = slice_trim(text);
	if (text_i64(text, &v))
		return symsize_int(v);
	const struct wvar *var = wrapper_var(w, text);
	if (var)
		return var->kind == VAR_SYMBOL ? var->size : w->unknown;
	if (text.n > SYMSIZE_MAX_TEXT)
		return w->unknown;
	buf_reset(&w->tmp);
	struct symsize s;
	if (!rewrite(w, text, &w->tmp) || symsize_parse(&w->c->tab, buf_slice(&w->tmp), &s, NULL) < 0 || !contract_known(w->c, s))
		return w->unknown;
	return s;
}

/* ---- integer arrays ---- */

static struct wints parse_ints(struct wrapper *w, struct slice inner)
{
	struct symsize v[TENSOR_MAX_DIMS];
	struct wints r = {0};
	for (struct slice arg; text_arg(&inner, &arg); r.n++) {
		if (r.n == TENSOR_MAX_DIMS)
			return (struct wints){.n = -1};
		v[r.n] = wrapper_size(w, arg);
	}
	if (r.n) {
		r.v = arena_alloc(&w->c->arena, (size_t)r.n * sizeof(*v));
		memcpy(r.v, v, (size_t)r.n * sizeof(*v));
	}
	return r;
}

struct wints wrapper_ints(struct wrapper *w, struct slice text)
{
	struct slice inner;
	text = slice_trim(text);
	if (text_braces(text, &inner))
		return parse_ints(w, inner);
	if (slice_is(text, "nullptr"))
		return (struct wints){0};
	const struct wvar *v = wrapper_var(w, text);
	return v && v->kind == VAR_INTS ? w->ints[v->value] : (struct wints){.n = -1};
}

void wrapper_declare_ints(struct wrapper *w, struct slice name, struct slice init)
{
	struct wints r = wrapper_ints(w, init);
	wrapper_declare(w, name, VAR_INTS)->value = w->n_ints;
	PUSH_TO(w->ints, w->n_ints, w->cap_ints) = r;
}

int wrapper_dims(struct wrapper *w, struct wints size, struct wints stride, struct contract_dim **dim)
{
	*dim = NULL;
	if (size.n < 0 || size.n != stride.n)
		return -1;
	if (size.n)
		*dim = arena_alloc(&w->c->arena, (size_t)size.n * sizeof(**dim));
	for (int i = 0; i < size.n; i++)
		(*dim)[i] = (struct contract_dim){.size = size.v[i], .stride = stride.v[i], .range = SYMRANGE_ALL};
	return size.n;
}

/* As torch counts (c10's computeStorageNbytes): 1 + sum of (size - 1) * stride. In symbols it is correct for sizes from 1 on; a literal
 * size of 0 makes it 0. */
struct symsize wrapper_extent(struct wrapper *w, int n, const struct contract_dim *dim, int dtype)
{
	const struct dtype_info *d = dtype_info(dtype);
	struct symtab *t = &w->c->tab;
	struct symsize sum = symsize_int(1), x;
	if (n < 0 || !d)
		return w->unknown;
	for (int i = 0; i < n; i++) {
		if (!contract_known(w->c, dim[i].size) || !contract_known(w->c, dim[i].stride))
			return w->unknown;
		if (symsize_eq(dim[i].size, symsize_int(0)))
			return symsize_int(0);
		if (symsize_sub(t, dim[i].size, symsize_int(1), &x, NULL) < 0 || symsize_mul(t, x, dim[i].stride, &x, NULL) < 0 ||
		    symsize_add(t, sum, x, &sum, NULL) < 0)
			return w->unknown;
	}
	return symsize_mul(t, sum, symsize_int(d->bytes), &x, NULL) < 0 ? w->unknown : x;
}

/* ---- symbols ---- */

static void declare_symbol(struct wrapper *w, struct slice name, struct symsize size) { wrapper_declare(w, name, VAR_SYMBOL)->size = size; }

static struct contract_symbol *bounded(struct wrapper *w, uint32_t id)
{
	int64_t at;
	return symbind_get(&w->sym_at, id, &at) ? &w->sym[at] : NULL;
}

static struct contract_symbol *add_symbol(struct wrapper *w, uint32_t id)
{
	symbind_set(&w->sym_at, id, w->n_sym);
	PUSH_TO(w->sym, w->n_sym, w->cap_sym) = (struct contract_symbol){id, SYMRANGE_ALL, NONE, 0};
	return &w->sym[w->n_sym - 1];
}

/* arg0_1_size[0], and arg0_1.sizes()[0] (2.15, bind_input_symbol): the size or stride of an input. */
static bool input_size(struct wrapper *w, struct slice init, uint32_t *input, int *dim, bool *stride)
{
	struct slice rest = init, name = text_name(&rest);
	int64_t d;
	const struct wvar *v = name.n ? wrapper_var(w, name) : NULL;
	if (!v)
		return false;
	bool whole = v->kind == VAR_TENSOR && v->value != NONE && w->wv[v->value].whole;
	bool strides = whole ? text_take(&rest, ".strides()") : v->kind == VAR_STRIDES;
	if (!strides && !(whole ? text_take(&rest, ".sizes()") : v->kind == VAR_SIZES))
		return false;
	if (rest.n < 3 || rest.p[0] != '[' || text_group(rest, 0) != rest.n || !text_i64(slice_of(rest.p + 1, rest.n - 2), &d) || d < 0 ||
	    d >= TENSOR_MAX_DIMS)
		return false;
	*input = whole ? w->c->value[v->value].index : v->value;
	*dim = (int)d;
	*stride = strides;
	return true;
}

/* codegen_input_symbol_assignment of cpp_wrapper_cpu.py, and every other integer that gets a name:
 *     int64_t s77 = arg0_1_size[0];            a symbol
 *     int64_t s17 = s77;                       another name of it
 *     int64_t arg0_1_size_0 = arg0_1_size[0];  for the next line only,
 *     int64_t s17 = (1.0/2.0)*arg0_1_size_0;   which solves 2*s17 for the symbol
 *     auto u0 = buf8.size(0);                  from data */
void wrapper_declare_size(struct wrapper *w, struct slice name, struct slice init)
{
	uint32_t input;
	int dim;
	bool stride;
	struct symtab *t = &w->c->tab;
	enum sym_kind kind = sym_kind(name);
	init = slice_trim(init);
	if (kind == SYM_UNBACKED) {
		uint32_t id = symtab_symbol(t, name);
		declare_symbol(w, name, symsize_symbol(t, name));
		if (!bounded(w, id))
			add_symbol(w, id);
	} else if (input_size(w, init, &input, &dim, &stride)) {
		struct winput *in = &w->in[input];
		if (kind != SYM_BACKED) {
			wrapper_declare(w, name, VAR_OTHER);
			return;
		}
		struct symsize s = symsize_symbol(t, name);
		declare_symbol(w, name, s);
		PUSH_TO(in->bound, in->n_bound, in->cap_bound) = (struct wbound){dim, stride, s};
	} else {
		struct symsize s = wrapper_size(w, init);
		if (contract_known(w->c, s))
			declare_symbol(w, name, s);
		else if (kind == SYM_BACKED)
			declare_symbol(w, name, symsize_symbol(t, name));
		else
			wrapper_declare(w, name, VAR_OTHER);
	}
}

/* d <= 0 holds. */
static void not_positive(struct wrapper *w, struct symsize d)
{
	uint32_t id;
	int64_t mul, add;
	if (symsize_is_int(d) || !symsize_linear(&w->c->tab, d, &id, &mul, &add) || add == INT64_MIN || mul == INT64_MIN)
		return;
	struct symrange r = SYMRANGE_ALL;
	if (mul > 0) {
		r.hi = sym_floor_div(-add, mul);
		r.hi_inf = false;
	} else {
		r.lo = -sym_floor_div(-add, -mul); /* rounded up */
		r.lo_inf = false;
	}
	struct contract_symbol *s = bounded(w, id);
	if (!s)
		s = add_symbol(w, id);
	struct symrange both;
	if (symrange_intersect(s->range, r, &both))
		s->range = both;
}

void wrapper_bound(struct wrapper *w, struct slice cond)
{
	static const char *const ops[] = {"<=", ">=", "==", "<", ">"};
	struct symtab *t = &w->c->tab;
	if (slice_find(cond, "&&") || slice_find(cond, "||"))
		return;
	for (size_t k = 0; k < ARRAY_LEN(ops); k++) {
		const char *at = slice_find(cond, ops[k]);
		size_t n = strlen(ops[k]);
		if (!at)
			continue;
		struct symsize a = wrapper_size(w, slice_of(cond.p, (size_t)(at - cond.p))), d,
			       b = wrapper_size(w, slice_of(at + n, (size_t)(cond.p + cond.n - at) - n));
		if (!contract_known(w->c, a) || !contract_known(w->c, b))
			return;
		bool less = *ops[k] == '<', equal = *ops[k] == '=';
		if ((less || equal) && symsize_sub(t, a, b, &d, NULL) == 0 && (n == 2 || symsize_add(t, d, symsize_int(1), &d, NULL) == 0))
			not_positive(w, d);
		if (!less && symsize_sub(t, b, a, &d, NULL) == 0 && (n == 2 || symsize_add(t, d, symsize_int(1), &d, NULL) == 0))
			not_positive(w, d);
		return;
	}
}

struct wvar *wrapper_var(struct wrapper *w, struct slice name)
{
	uint32_t i = intern_find(&w->names, name);
	return i == NONE ? NULL : &w->var[i];
}

struct wvar *wrapper_declare(struct wrapper *w, struct slice name, enum var_kind kind)
{
	uint32_t i = intern_add(&w->names, name);
	if (i == w->n_var)
		PUSH_TO(w->var, w->n_var, w->cap_var) = (struct wvar){0};
	struct wvar *v = &w->var[i];
	wrapper_drop(w, v);
	*v = (struct wvar){.kind = kind, .value = NONE, .depth = w->depth};
	PUSH_TO(w->declared, w->n_declared, w->cap_declared) = i;
	return v;
}

void wrapper_unclear(struct wrapper *w, struct slice text)
{
	w->c->n_unread++;
	w->c->n_unread_checks += w->in_check;
	if (w->n_unclear++ < MAX_UNCLEAR)
		contract_note(w->c, "line %u: not understood: %.*s%s", w->line, SLN(text, 120), text.n > 120 ? " ..." : "");
}

void wrapper_drop(struct wrapper *w, struct wvar *v)
{
	if (!v->owns)
		return;
	v->owns = false;
	uint32_t s = w->c->value[v->value].storage;
	if (s != NONE && !--w->ws[s].refs && !w->ws[s].pinned)
		w->c->storage[s].dies = w->c->n_calls ? w->c->n_calls - 1 : 0;
}
