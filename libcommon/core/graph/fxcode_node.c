#include "graph/fxcode_part.h"

enum { MAX_CONSTANT = 1 << 16 }; /* longest constant expression kept as text, in bytes */

static struct slice path_text(const struct fxparse *p, uint32_t id) { return graph_text(p->g, id); }

/* ---- nodes ---- */

uint32_t fx_new_node(struct fxparse *p, enum graph_op op, uint32_t target, const struct gvalue *args, size_t n)
{
	uint32_t i = graph_add_node_ids(p->g, p->module, op, target, target);
	p->g->node[i].stack = op == GRAPH_OUTPUT ? NONE : p->stack;
	p->g->node[i].line = p->lex.tok_line;
	graph_set_args(p->g, i, args, n);
	return i;
}

/* name: of Python's operators without "_operator.". */
uint32_t fx_function(struct fxparse *p, const char *name, const struct gvalue *args, size_t n)
{
	char target[64];
	snprintf(target, sizeof(target), "_operator.%s", name);
	return fx_new_node(p, GRAPH_CALL_FUNCTION, graph_intern(p->g, slice_str(target)), args, n);
}

uint32_t fx_unique(struct fxparse *p, uint32_t name)
{
	const uint32_t stamp = p->module + 1;
	struct fxenv *e = fx_env(p, name);
	uint32_t id = name; /* names that the text uses from outside cannot be assigned: assign() */
	while (e->used_stamp == stamp || (e->state == FXENV_OUTSIDE && id != name)) {
		struct slice base = path_text(p, name);
		uint32_t k = ++fx_env(p, name)->counter;
		buf_reset(&p->tmp);
		buf_add_slice(&p->tmp, base);
		buf_addc(&p->tmp, '_');
		buf_add_u64(&p->tmp, k);
		id = graph_intern(p->g, buf_slice(&p->tmp));
		e = fx_env(p, id);
	}
	e->used_stamp = stamp;
	return id;
}

/* "relu" for torch.ops.aten.relu.default, "weight" for self.weight, "layers_0" for self.layers.0. */
static uint32_t base_name(struct fxparse *p, const struct gnode *n)
{
	struct slice s = graph_text(p->g, n->target), last;
	const char *dot = slice_rchr(s, '.');
	if (slice_starts(s, "torch.ops.") && dot) {
		struct slice op = slice_of(s.p, (size_t)(dot - s.p));
		const char *before = slice_rchr(op, '.');
		s = before && before > s.p + 9 ? slice_of(before + 1, (size_t)(dot - before - 1))
					       : slice_of(dot + 1, (size_t)(s.p + s.n - dot - 1));
	} else if (n->op == GRAPH_CALL_FUNCTION && dot) {
		s = slice_of(dot + 1, (size_t)(s.p + s.n - dot - 1));
	}
	last = s;
	buf_reset(&p->tmp);
	if (!last.n || !fx_name_start((unsigned char)*last.p))
		buf_addc(&p->tmp, '_');
	for (size_t i = 0; i < last.n; i++)
		buf_addc(&p->tmp, fx_name_part((unsigned char)last.p[i]) ? last.p[i] : '_');
	if (fx_reserved(buf_slice(&p->tmp)))
		buf_adds(&p->tmp, "_1");
	return graph_intern(p->g, buf_slice(&p->tmp));
}

void fx_name_nodes(struct fxparse *p, uint32_t result, uint32_t name)
{
	for (uint32_t i = p->first_node; i < p->g->n_nodes; i++)
		p->g->node[i].name = fx_unique(p, i == result ? name : base_name(p, &p->g->node[i]));
}

/* ---- constants as text ---- */

static int text_item(struct fxparse *p, struct buf *b, struct fxitem *out)
{
	int rc = 0;
	if (b->len > MAX_CONSTANT)
		rc = fx_error_at(p, p->lex.text.p, "a constant of more than %d characters", MAX_CONSTANT);
	else
		*out = (struct fxitem){.kind = FXI_VALUE, .v = graph_text_value(p->g, GV_TEXT, buf_slice(b)), .at = out->at};
	buf_release(b);
	return rc;
}

static void add_call_text(struct fxparse *p, struct buf *b, const struct gvalue *v, size_t n, const struct gvalue *kw, size_t n_kw)
{
	buf_addc(b, '(');
	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_adds(b, ", ");
		fxcode_value(p->g, v[i], b);
	}
	for (size_t i = 0; i < n_kw; i++) {
		if (i || n)
			buf_adds(b, ", ");
		buf_add_slice(b, graph_text(p->g, kw[2 * i].text));
		buf_addc(b, '=');
		fxcode_value(p->g, kw[2 * i + 1], b);
	}
	buf_addc(b, ')');
}

/* ---- names ---- */

static bool number_name(struct slice s, struct gvalue *v)
{
	static const char *const inf[] = {"inf", "math.inf", "torch.inf", "float.inf"}, *const nan_[] = {"nan", "math.nan", "torch.nan"};
	for (unsigned i = 0; i < ARRAY_LEN(inf); i++)
		if (slice_is(s, inf[i]))
			return *v = graph_float_value(__builtin_inf()), true;
	for (unsigned i = 0; i < ARRAY_LEN(nan_); i++)
		if (slice_is(s, nan_[i]))
			return *v = graph_float_value(__builtin_nan("")), true;
	return false;
}

/* Names that need no module and mean the same everywhere: types, mostly. */
static bool known_name(struct slice s)
{
	static const char *const words[] = {"int",   "float", "bool",   "str",   "list",  "tuple",  "dict",   "set",   "complex",
					    "bytes", "type",  "object", "slice", "range", "device", "tensor", "torch", "math"};
	for (unsigned i = 0; i < ARRAY_LEN(words); i++)
		if (slice_is(s, words[i]))
			return true;
	return *s.p >= 'A' && *s.p <= 'Z';
}

/* The later line that defines a name, or 0; only for the message. */
static uint32_t made_later(const struct fxparse *p, struct slice name)
{
	struct slice rest = slice_of(p->lex.p, (size_t)(p->lex.end - p->lex.p)), line;
	for (uint32_t n = p->lex.line; slice_line(&rest, &line); n++) {
		line = slice_trim(line);
		if (line.n > name.n && slice_starts(line, "class "))
			return 0;
		if (line.n > name.n && !memcmp(line.p, name.p, name.n) && (line.p[name.n] == ' ' || line.p[name.n] == ':'))
			return n;
	}
	return 0;
}

static int undefined(struct fxparse *p, struct slice name)
{
	uint32_t later = made_later(p, name);
	if (later)
		return fx_error_at(p, name.p, "'%.*s' is used before its definition in line %u", SLN(name, 100), later);
	return fx_error_at(p, name.p, "'%.*s' is not defined", SLN(name, 100));
}

/* "operator.add", "_operator_add" (torch's text where it cannot import it) -> "_operator.add". */
static uint32_t canonical(struct fxparse *p, struct slice s)
{
	static const struct {
		const char *from, *to;
	} roots[] = {{"operator.", "_operator."}, {"_operator_", "_operator."}, {"math_", "math."}};
	for (unsigned i = 0; i < ARRAY_LEN(roots); i++) {
		const size_t skip = strlen(roots[i].from);
		if (slice_starts(s, roots[i].from) && s.n > skip && fx_name_start((unsigned char)s.p[skip])) {
			buf_reset(&p->tmp);
			buf_adds(&p->tmp, roots[i].to);
			buf_add(&p->tmp, s.p + skip, s.n - skip);
			return graph_intern(p->g, buf_slice(&p->tmp));
		}
	}
	return graph_intern(p->g, s);
}

/* A name that is not set in this function: "torch.float32", "inf", a function that is called. */
static int outside(struct fxparse *p, struct slice s, struct slice root, bool called, struct fxitem *out)
{
	*out = (struct fxitem){.kind = FXI_PATH, .at = s.p};
	if (!called && number_name(s, &out->v)) {
		out->kind = FXI_VALUE;
		return 0;
	}
	if (root.n < s.n || !called) {
		if (root.n == s.n && slice_is(s, "Ellipsis")) {
			out->kind = FXI_VALUE;
			out->v = (struct gvalue){.kind = GV_ELLIPSIS};
			return 0;
		}
		if (root.n == s.n && (slice_is(s, "nanj") || slice_is(s, "infj"))) {
			out->kind = FXI_VALUE;
			out->v = graph_text_value(p->g, GV_COMPLEX, s);
			return 0;
		}
		if (root.n == s.n && !known_name(s) && sym_kind(s) == SYM_OTHER)
			return undefined(p, s);
		if (!slice_is(root, "torch")) {
			struct fxenv *e = fx_env(p, graph_intern(p->g, root));
			e->state = FXENV_OUTSIDE;
			e->line = p->lex.tok_line;
		}
	}
	out->path = canonical(p, s);
	return 0;
}

/* "self.a.b": data has no modules below it, so the rest are attributes of its value. */
static int self_name(struct fxparse *p, struct slice path, bool called, struct fxitem *out, const char *at)
{
	*out = (struct fxitem){.kind = FXI_SELF, .at = at};
	if (slice_is(path, "_in_spec") || slice_is(path, "_out_spec")) {
		out->kind = FXI_VALUE;
		out->v = graph_text_value(p->g, GV_TEXT, path);
		return 0;
	}
	for (size_t i = 0; i < path.n; i++) {
		const struct gattr *a = path.p[i] == '.' ? graph_attr(p->g, p->module, slice_of(path.p, i)) : NULL;
		if (!a || (a->kind != GATTR_BUFFER && a->kind != GATTR_PARAMETER))
			continue;
		out->path = graph_intern(p->g, slice_of(path.p, i));
		if (fx_resolve(p, out) < 0)
			return -1;
		while (i < path.n) {
			const char *from = path.p + i + 1, *dot = memchr(from, '.', path.n - i - 1);
			struct slice one = slice_of(from, dot ? (size_t)(dot - from) : path.n - i - 1);
			i += one.n + 1;
			if (fx_attribute(p, out, one, called && i == path.n) < 0)
				return -1;
		}
		return 0;
	}
	out->path = graph_intern(p->g, path);
	return 0;
}

int fx_name(struct fxparse *p, struct slice s, bool called, struct fxitem *out)
{
	const char *dot = slice_chr(s, '.');
	struct slice root = dot ? slice_of(s.p, (size_t)(dot - s.p)) : s;
	if (slice_is(root, "torch"))
		return outside(p, s, root, called, out);
	const uint32_t id = intern_find(&p->g->text, root);
	struct fxenv *e = id == NONE ? NULL : fx_env(p, id);
	if (e && e->state == FXENV_FREED)
		return fx_error_at(p, s.p, "'%.*s' was freed in line %u (%.*s = None)", SLN(root, 100), e->line, SLN(root, 100));
	if (!e || e->state != FXENV_VALUE) {
		if (slice_is(root, "self"))
			return self_name(p, dot ? slice_of(dot + 1, s.n - root.n - 1) : slice_of(s.p, 0), called, out, s.p);
		return outside(p, s, root, called, out);
	}
	p->spent += e->weight;
	if (p->spent > p->budget)
		return fx_error_at(p, s.p, "lists are nested in lists too often");
	*out = (struct fxitem){.kind = FXI_VALUE, .v = e->v, .node = e->node, .at = s.p};
	while (dot) {
		const char *from = dot + 1, *stop = s.p + s.n;
		dot = memchr(from, '.', (size_t)(stop - from));
		if (fx_attribute(p, out, slice_of(from, (size_t)((dot ? dot : stop) - from)), called && !dot) < 0)
			return -1;
	}
	return 0;
}

/* The item as a value. */
int fx_resolve(struct fxparse *p, struct fxitem *i)
{
	struct gvalue args[2];
	if (i->kind == FXI_PATH) {
		i->v = (struct gvalue){.kind = GV_NAME, .text = i->path};
	} else if (i->kind == FXI_SELF) {
		if (!path_text(p, i->path).n)
			return fx_error_at(p, i->at, "self is not a value in a graph");
		i->v = graph_node_value(fx_new_node(p, GRAPH_GET_ATTR, i->path, NULL, 0));
		i->node = true;
	} else if (i->kind == FXI_METHOD) {
		args[0] = i->v;
		args[1] = (struct gvalue){.kind = GV_STR, .text = i->path};
		i->v = graph_node_value(fx_new_node(p, GRAPH_CALL_FUNCTION, graph_intern(p->g, SLICE("getattr")), args, 2));
		i->node = true;
	}
	i->kind = FXI_VALUE;
	return 0;
}

static uint32_t join(struct fxparse *p, uint32_t path, struct slice name)
{
	buf_reset(&p->tmp);
	buf_add_slice(&p->tmp, path_text(p, path));
	if (p->tmp.len)
		buf_addc(&p->tmp, '.');
	buf_add_slice(&p->tmp, name);
	return graph_intern(p->g, buf_slice(&p->tmp));
}

/* i.name; called: "(" follows. */
int fx_attribute(struct fxparse *p, struct fxitem *i, struct slice name, bool called)
{
	if (i->kind == FXI_PATH || i->kind == FXI_SELF) {
		i->path = join(p, i->path, name);
		return 0;
	}
	if (i->kind == FXI_VALUE && !called && !i->node) {
		struct buf b = {0};
		fxcode_value(p->g, i->v, &b);
		buf_addc(&b, '.');
		buf_add_slice(&b, name);
		return text_item(p, &b, i);
	}
	if (fx_resolve(p, i) < 0)
		return -1;
	i->kind = FXI_METHOD;
	i->path = graph_intern(p->g, name);
	return called ? 0 : fx_resolve(p, i);
}

/* ---- calls ---- */

struct args {
	struct gvalue *v, *kw;
	size_t n, n_kw;
	bool node;
};

static void make_node(struct fxparse *p, enum graph_op op, uint32_t target, const struct args *a, struct fxitem *out)
{
	uint32_t node = fx_new_node(p, op, target, a->v, a->n);
	graph_set_kwargs(p->g, node, a->kw, a->n_kw);
	*out = (struct fxitem){.kind = FXI_VALUE, .node = true, .v = graph_node_value(node)};
}

static const struct gvalue *keyword(const struct fxparse *p, const struct args *a, const char *name)
{
	for (size_t i = 0; i < a->n_kw; i++)
		if (slice_is(graph_text(p->g, a->kw[2 * i].text), name))
			return &a->kw[2 * i + 1];
	return NULL;
}

/* device(type='cuda', index=0), torch.device('cuda:0'), device('cuda', 0). */
static bool device_value(struct fxparse *p, const struct args *a, struct gvalue *v)
{
	const struct gvalue *type = a->n ? &a->v[0] : keyword(p, a, "type"), *index = a->n > 1 ? &a->v[1] : keyword(p, a, "index");
	if (!type)
		type = keyword(p, a, "device");
	if (!type || type->kind != GV_STR || (index && (index->kind != GV_INT || index->i < 0)))
		return false;
	buf_reset(&p->tmp);
	buf_add_slice(&p->tmp, graph_text(p->g, type->text));
	if (index) {
		buf_addc(&p->tmp, ':');
		buf_add_u64(&p->tmp, (uint64_t)index->i);
	}
	*v = graph_text_value(p->g, GV_DEVICE, buf_slice(&p->tmp));
	return true;
}

static bool real_value(const struct gvalue *v, double *d)
{
	*d = v->kind == GV_INT ? (double)v->i : v->f;
	return v->kind == GV_INT || v->kind == GV_FLOAT;
}

static struct gvalue complex_value(struct fxparse *p, double re, double im)
{
	buf_reset(&p->tmp);
	fx_add_complex(&p->tmp, re, im);
	return graph_text_value(p->g, GV_COMPLEX, buf_slice(&p->tmp));
}

/* float('nan'), complex(1, 2). */
static bool number_value(struct fxparse *p, struct slice fn, const struct args *a, struct gvalue *v)
{
	double re, im = 0;
	if (a->n_kw || !a->n || a->n > 2)
		return false;
	if (slice_is(fn, "float") && a->n == 1 && a->v->kind == GV_STR && fx_parse_float(graph_text(p->g, a->v->text), &re))
		return *v = graph_float_value(re), true;
	if (slice_is(fn, "complex") && real_value(a->v, &re) && (a->n < 2 || real_value(a->v + 1, &im)))
		return *v = complex_value(p, re, im), true;
	return false;
}

static struct gvalue slice_value(struct fxparse *p, const struct args *a)
{
	struct gvalue part[3] = {graph_none_value(), graph_none_value(), graph_none_value()};
	if (a->n == 1)
		part[1] = a->v[0];
	for (size_t i = 0; a->n > 1 && i < a->n && i < 3; i++)
		part[i] = a->v[i];
	return graph_sequence(p->g, GV_SLICE, part, 3);
}

/* Creates a constant if its arguments are constant: a class, or one of Python's functions of that kind. */
static bool constructor(struct slice fn)
{
	static const char *const words[] = {"float",     "int",    "bool",         "complex",     "range",      "set",
					    "frozenset", "tuple",  "list",         "dict",        "type",       "bytes",
					    "str",       "device", "torch.device", "torch.finfo", "torch.iinfo"};
	const char *dot = slice_rchr(fn, '.'), *last = dot ? dot + 1 : fn.p;
	for (unsigned i = 0; i < ARRAY_LEN(words); i++)
		if (slice_is(fn, words[i]))
			return true;
	return !slice_starts(fn, "torch.ops.") && last < fn.p + fn.n && *last >= 'A' && *last <= 'Z';
}

/* 1: the call is a constant; *out. */
static int constant_call(struct fxparse *p, struct slice fn, const struct args *a, bool alone, struct fxitem *out)
{
	out->kind = FXI_VALUE;
	out->node = a->node;
	if (slice_is(fn, "pytree.tree_unflatten") && a->n == 2) {
		out->v = a->v[0];
		return 1;
	}
	if (!alone && slice_is(fn, "slice") && a->n && a->n <= 3 && !a->n_kw) {
		out->v = slice_value(p, a);
		return 1;
	}
	if (a->node)
		return 0;
	if (number_value(p, fn, a, &out->v))
		return 1;
	if (alone || !constructor(fn))
		return 0;
	if ((slice_is(fn, "device") || slice_is(fn, "torch.device")) && device_value(p, a, &out->v))
		return 1;
	struct buf b = {0};
	buf_add_slice(&b, fn);
	add_call_text(p, &b, a->v, a->n, a->kw, a->n_kw);
	return text_item(p, &b, out) < 0 ? -1 : 1;
}

/* getattr(x, 'y'): on a path, a longer path; before "(", a method. 1: done. */
static int getattr_call(struct fxparse *p, const struct fxframe *f, struct args *a, struct fxitem *out)
{
	struct fxitem first = f->first;
	const bool two = a->n == 2 && !a->n_kw && a->v[1].kind == GV_STR, has_first = first.path != NONE;
	if (two && has_first) {
		first.path = join(p, first.path, graph_text(p->g, a->v[1].text));
		*out = first;
		return 1;
	}
	if (has_first) {
		if (fx_resolve(p, &first) < 0)
			return -1;
		a->v[0] = first.v;
		a->node |= first.node;
	}
	if (two && p->lex.kind == FXT_OP && p->lex.op == '(') {
		*out = (struct fxitem){.kind = FXI_METHOD, .v = a->v[0], .node = a->node, .path = a->v[1].text};
		return 1;
	}
	return 0;
}

static int path_call(struct fxparse *p, const struct fxframe *f, struct args *a, bool alone, struct fxitem *out)
{
	struct slice fn = path_text(p, f->callee.path);
	int r = slice_is(fn, "getattr") ? getattr_call(p, f, a, out) : 0;
	if (r == 0)
		r = constant_call(p, fn, a, alone, out);
	if (r == 0)
		make_node(p, GRAPH_CALL_FUNCTION, f->callee.path, a, out);
	return r < 0 ? -1 : 0;
}

static int module_call(struct fxparse *p, const struct fxframe *f, const struct args *a, struct fxitem *out)
{
	struct slice path = path_text(p, f->callee.path);
	if (!path.n)
		return fx_error_at(p, f->callee.at, "a call of self is not allowed in a graph");
	if (slice_is(path, "_out_shuffle_graph") && a->n >= p->n_leaves) {
		*out = (struct fxitem){.kind = FXI_VALUE, .node = a->node};
		out->v = graph_sequence(p->g, GV_TUPLE, a->v + p->n_leaves, a->n - p->n_leaves);
		return 0;
	}
	make_node(p, GRAPH_CALL_MODULE, f->callee.path, a, out);
	return 0;
}

/* The receiver becomes the first argument. */
static int method_call(struct fxparse *p, const struct fxframe *f, struct args *a, bool alone, struct fxitem *out)
{
	const struct fxitem *c = &f->callee;
	if (!c->node && !a->node && !alone) {
		struct buf b = {0};
		fxcode_value(p->g, c->v, &b);
		buf_addc(&b, '.');
		buf_add_slice(&b, path_text(p, c->path));
		add_call_text(p, &b, a->v, a->n, a->kw, a->n_kw);
		return text_item(p, &b, out);
	}
	GROW(p->val, p->n_val, p->cap_val, 1); /* fx_expr keeps val_node equally large when pushing */
	struct gvalue *v = p->val + f->vals;
	memmove(v + 1, v, a->n * sizeof(*v));
	v[0] = c->v;
	a->v = v;
	a->n++;
	make_node(p, GRAPH_CALL_METHOD, c->path, a, out);
	return 0;
}

int fx_call(struct fxparse *p, const struct fxframe *f, bool alone, struct fxitem *out)
{
	struct args a = {
	    .v = p->val + f->vals, .kw = p->kw + f->kws, .n = p->n_val - f->vals, .n_kw = (p->n_kw - f->kws) / 2, .node = f->node};
	switch ((enum fxitem_kind)f->callee.kind) {
	case FXI_PATH: return path_call(p, f, &a, alone, out);
	case FXI_SELF: return module_call(p, f, &a, out);
	case FXI_METHOD: return method_call(p, f, &a, alone, out);
	default: {
		struct fxframe call = *f;
		if (!f->callee.node)
			return fx_error_at(p, f->at, "this is called, but is not a function");
		call.callee.kind = FXI_METHOD;
		call.callee.path = graph_intern(p->g, SLICE("__call__"));
		return method_call(p, &call, &a, true, out);
	}
	}
}

int fx_index(struct fxparse *p, struct fxitem *base, struct gvalue index, bool index_node)
{
	struct gvalue args[2] = {base->v, index};
	if (base->node || index_node) {
		base->v = graph_node_value(fx_function(p, "getitem", args, 2));
		base->node = true;
		return 0;
	}
	struct buf b = {0};
	fxcode_value(p->g, base->v, &b);
	buf_addc(&b, '[');
	fxcode_value(p->g, index, &b);
	buf_addc(&b, ']');
	return text_item(p, &b, base);
}

/* ---- operators ---- */

/* 1 + 2j; ints that do not overflow. */
static bool fold(struct fxparse *p, unsigned op, struct gvalue a, struct gvalue b, bool ints, struct gvalue *out)
{
	double re, im, ignored;
	if (b.kind == GV_COMPLEX && (op == '+' || op == '-') && real_value(&a, &re) &&
	    fx_parse_complex(graph_text(p->g, b.text), &ignored, &im) && ignored == 0) {
		*out = complex_value(p, re, op == '+' ? im : -im);
		return true;
	}
	if (!ints || a.kind != GV_INT || b.kind != GV_INT)
		return false;
	*out = graph_int_value(0);
	if (op == '+')
		return !__builtin_add_overflow(a.i, b.i, &out->i);
	if (op == '-')
		return !__builtin_sub_overflow(a.i, b.i, &out->i);
	return op == '*' && !__builtin_mul_overflow(a.i, b.i, &out->i);
}

int fx_binary(struct fxparse *p, const struct fxoperator *op, bool alone)
{
	struct gvalue *v = p->val + p->n_val - 2;
	bool *node = p->val_node + p->n_val - 2;
	const char *name = fxop_by_text(op->op, FXOP_BINARY);
	struct fxitem text = {.at = op->at};
	if (node[0] || node[1]) {
		v[0] = graph_node_value(fx_function(p, name, v, 2));
		node[0] = true;
	} else if (!fold(p, op->op, v[0], v[1], !alone, &text.v)) {
		if (alone) {
			v[0] = graph_node_value(fx_function(p, name, v, 2));
			node[0] = true;
		} else {
			struct buf b = {0};
			char sign[4] = {(char)op->op, (char)(op->op >> 8), (char)(op->op >> 16), 0};
			buf_addc(&b, '(');
			fxcode_value(p->g, v[0], &b);
			buf_addf(&b, " %s ", sign);
			fxcode_value(p->g, v[1], &b);
			buf_addc(&b, ')');
			if (text_item(p, &b, &text) < 0)
				return -1;
			v[0] = text.v;
		}
	} else {
		v[0] = text.v;
	}
	p->n_val--;
	return 0;
}

/* -1, -1.5, -1j, ~1, and an int beyond int64. */
static bool fold_unary(struct fxparse *p, unsigned op, struct gvalue *v)
{
	double re, im;
	if (op == '~' && v->kind == GV_INT)
		return v->i = ~v->i, true;
	if (op != '-' && op != '+')
		return false;
	const bool minus = op == '-';
	switch ((enum gvalue_kind)v->kind) {
	case GV_INT:
		if (minus && v->i == INT64_MIN)
			return false;
		v->i = minus ? -v->i : v->i;
		return true;
	case GV_FLOAT: v->f = minus ? -v->f : v->f; return true;
	case GV_COMPLEX:
		if (!fx_parse_complex(graph_text(p->g, v->text), &re, &im))
			return false;
		*v = minus ? complex_value(p, re == 0 ? re : -re, -im) : *v; /* repr() of complex(0, -1) is "-1j" */
		return true;
	case GV_TEXT: {
		struct slice s = graph_text(p->g, v->text);
		if (!s.n || *s.p < '0' || *s.p > '9')
			return false;
		if (minus && slice_is(s, "9223372036854775808")) {
			*v = graph_int_value(INT64_MIN);
			return true;
		}
		for (size_t i = 0; i < s.n; i++)
			if (!fx_name_part((unsigned char)s.p[i]))
				return false;
		buf_reset(&p->tmp);
		if (minus)
			buf_addc(&p->tmp, '-');
		buf_add_slice(&p->tmp, s);
		*v = graph_text_value(p->g, GV_TEXT, buf_slice(&p->tmp));
		return true;
	}
	default: return false;
	}
}

int fx_unary(struct fxparse *p, const struct fxoperator *op)
{
	struct gvalue *v = p->val + p->n_val - 1;
	bool *node = p->val_node + p->n_val - 1;
	struct fxitem text = {.at = op->at};
	if (*node) {
		*v = graph_node_value(fx_function(p, fxop_by_text(op->op, FXOP_UNARY), v, 1));
		return 0;
	}
	if (fold_unary(p, op->op, v))
		return 0;
	struct buf b = {0};
	buf_adds(&b, op->op == FXOP3('n', 'o', 't') ? "(not " : "(");
	if (op->op != FXOP3('n', 'o', 't'))
		buf_addc(&b, (char)op->op);
	fxcode_value(p->g, *v, &b);
	buf_addc(&b, ')');
	if (text_item(p, &b, &text) < 0)
		return -1;
	*v = text.v;
	return 0;
}

int fx_error_at(struct fxparse *p, const char *at, const char *fmt, ...)
{
	char what[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return fx_error(&p->lex, at, p->err, "%s", what);
}

struct fxenv *fx_env(struct fxparse *p, uint32_t id)
{
	if (UNLIKELY(id >= p->n_env)) {
		const size_t had = p->n_env;
		GROW(p->env, had, p->n_env, id + 1 - had);
		memset(p->env + had, 0, (p->n_env - had) * sizeof(*p->env));
	}
	struct fxenv *e = &p->env[id];
	if (e->stamp != p->module + 1)
		*e = (struct fxenv){.stamp = p->module + 1};
	return e;
}

/* Fails with the current token instead of the expected one. */
int fx_unexpected(struct fxparse *p, const char *wanted)
{
	const struct fxlex *x = &p->lex;
	if (x->kind == FXT_END && p->n_frame > 1)
		return fx_error_at(p, p->frame[p->n_frame - 1].at, "this bracket is never closed");
	if (x->kind == FXT_END || x->kind == FXT_NEWLINE)
		return fx_error_at(p, x->text.p, "expected %s, but the line ends", wanted);
	if (x->kind == FXT_BAD && x->text.n > 1)
		return fx_error_at(p, x->text.p, "unterminated string");
	return fx_error_at(p, x->text.p, "expected %s, found '%.*s'", wanted, SLN(x->text, 60));
}
