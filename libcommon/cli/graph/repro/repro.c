/* The memory of a repro: growing arrays, inputs joined with placeholders, metadata. */
#include "graph/repro/repro_part.h"
#include "tensor/tensor.h"
#include "base/text.h"

void repro_release(struct repro *r)
{
	graph_release(&r->graph);
	free(r->line);
	free(r->input);
	free(r->storage);
	arena_release(&r->arena);
	if (r->file.path)
		mapfile_close(&r->file);
	zip_close(&r->zip);
	if (r->package.path)
		mapfile_close(&r->package);
	*r = (struct repro){0};
}

const char *const repro_input_word[] = {"tensor", "symint", "const", "unsupported", "generator", "opaque"};

struct slice repro_keep(struct repro *r, struct slice text) { return text.n ? arena_slice(&r->arena, text) : SLICE(""); }

/* Room for one more, without a stored capacity: capacities are powers of two. */
static void *one_more(void *p, size_t n, size_t size) { return n & (n - 1) ? p : xreallocarray(p, n ? 2 * n : 1, size); }

struct repro_line *repro_add_line(struct repro *r, enum repro_line_kind kind, struct slice text)
{
	r->line = one_more(r->line, r->n_lines, sizeof(*r->line));
	struct repro_line *l = &r->line[r->n_lines++];
	*l = (struct repro_line){.kind = kind, .text = text, .name = SLICE(""), .value = SLICE("")};
	return l;
}

struct repro_input *repro_add_input(struct repro *r, enum repro_input_kind kind)
{
	r->input = one_more(r->input, r->n_inputs, sizeof(*r->input));
	struct repro_input *in = &r->input[r->n_inputs++];
	*in = (struct repro_input){.kind = kind, .meta = NONE, .storage = NONE, .name = SLICE(""), .expr = SLICE("")};
	return in;
}

uint32_t repro_add_storage(struct repro *r, const struct repro_storage *s)
{
	r->storage = one_more(r->storage, r->n_storages, sizeof(*r->storage));
	r->storage[r->n_storages] = *s;
	return (uint32_t)r->n_storages++;
}

const struct gattr *repro_lost_module(const struct repro *r)
{
	for (size_t i = 0; i < r->graph.n_attrs; i++) {
		const struct gattr *a = &r->graph.attr[i];
		if (a->kind == GATTR_MODULE && a->expr != NONE && slice_starts(graph_text(&r->graph, a->expr), "<lambda>("))
			return a;
	}
	return NULL;
}

uint32_t repro_find_input(const struct repro *r, struct slice name)
{
	/* Placeholders are nearly always the first nodes. */
	const uint32_t node = r->graph.n_modules && r->graph.by_name ? graph_find(&r->graph, 0, name) : NONE;
	const uint32_t guess = node == NONE ? NONE : node - r->graph.module[0].first;
	if (guess < r->n_inputs && slice_eq(r->input[guess].name, name))
		return guess;
	for (size_t i = 0; i < r->n_inputs; i++)
		if (slice_eq(r->input[i].name, name))
			return (uint32_t)i;
	return NONE;
}

bool repro_is_view(const struct repro *r, uint32_t i)
{
	const struct repro_input *in = &r->input[i];
	int64_t bytes;
	if (in->kind != REPRO_TENSOR || in->storage >= r->n_storages)
		return false;
	const struct symsize n = r->storage[in->storage].nbytes;
	return r->storage[in->storage].users > 1 || !symsize_is_int(in->offset) || in->offset.k ||
	       (symsize_is_int(n) && tensor_needs(r, in->meta, in->offset, &bytes) && bytes < n.k);
}

/* ---- texts to values ---- */

struct slice take_device(struct repro *r, struct slice text)
{
	struct slice callee, inside, name = {0};
	struct pyarg arg[2];
	LOCAL_BUF b = {0};
	int n = 0, type, index;
	if (pytext_call(text, &callee, &inside) && (slice_is(callee, "device") || slice_is(callee, "torch.device")))
		n = pytext_args(inside, arg, 2);
	else if (text.n)
		arg[0] = (struct pyarg){.value = text}, n = 1;
	if (n >= 1 && n <= 2 && pytext_string(arg[0].value, &b)) {
		if (n == 2) {
			buf_addc(&b, ':');
			buf_add_slice(&b, arg[1].value);
		}
		if (device_parse(buf_slice(&b), &type, &index) == 0)
			name = repro_keep(r, buf_slice(&b));
	}
	return name;
}

int take_size(struct repro *r, struct slice text, struct symsize *out)
{
	*out = symsize_parse_any(&r->graph.tab, text);
	return symsize_has_opaque(&r->graph.tab, *out) ? -1 : 0;
}

int take_sizes(struct repro *r, struct slice text, struct symsize *dim)
{
	struct slice callee, inside;
	struct pyarg a;
	int n = 0, more;
	if (pytext_call(text, &callee, &inside) && callee.n)
		text = inside;
	if (!pytext_inside(text, '(', &inside) && !pytext_inside(text, '[', &inside))
		return -1;
	while ((more = pytext_arg(&inside, &a)) == 1) {
		if (n == GRAPH_MAX_DIMS || a.name.n || take_size(r, a.value, &dim[n]) < 0)
			return -1;
		n++;
	}
	return more < 0 ? -1 : n;
}

/* Like torch's make_contiguous_strides_for: a size of 0 counts as 1. Expressions that get too large become opaque. */
static void contiguous(struct repro *r, int n, const struct symsize *size, struct symsize *stride)
{
	struct symsize at = symsize_int(1);
	for (int i = n; i-- > 0;) {
		const bool none = symsize_is_int(size[i]) && size[i].k == 0;
		stride[i] = at;
		if (!none && symsize_mul(&r->graph.tab, at, size[i], &at, NULL) < 0)
			at = symsize_opaque(&r->graph.tab, SLICE("?"));
	}
}

uint32_t take_tensor(struct repro *r, int dtype, int n_dim, const struct symsize *size, const struct symsize *stride, struct slice device)
{
	struct symsize own[GRAPH_MAX_DIMS];
	if (!stride) {
		contiguous(r, n_dim, size, own);
		stride = own;
	}
	return graph_add_tensor(&r->graph, dtype, (size_t)n_dim, size, stride, device);
}

bool tensor_needs(const struct repro *r, uint32_t meta, struct symsize offset, int64_t *bytes)
{
	const struct gmeta *m = &r->graph.meta[meta];
	const struct symsize *dim = r->graph.dim + m->dim;
	int64_t last = 0, part;
	if (!symsize_is_int(offset))
		return false;
	for (int i = 0; i < 2 * m->n_dim; i++)
		if (!symsize_is_int(dim[i]))
			return false;
	*bytes = 0;
	for (int i = 0; i < m->n_dim; i++) {
		if (dim[i].k == 0)
			return true;
		if (__builtin_mul_overflow(dim[i].k - 1, dim[m->n_dim + i].k, &part) || __builtin_add_overflow(last, part, &last))
			return *bytes = INT64_MAX, true;
	}
	if (__builtin_add_overflow(last, offset.k, &last) || __builtin_add_overflow(last, 1, &last) ||
	    __builtin_mul_overflow(last, dtype_info(m->dtype)->bytes, bytes))
		*bytes = INT64_MAX;
	return true;
}

/* ---- inputs and placeholders ---- */

static size_t count_placeholders(const struct graph *g)
{
	size_t n = 0;
	for (uint32_t i = 0; g->n_modules && i < g->module[0].n; i++)
		n += g->node[g->module[0].first + i].op == GRAPH_PLACEHOLDER;
	return n;
}

int repro_join(struct repro *r, struct err *err)
{
	struct graph *g = &r->graph;
	const size_t takes = count_placeholders(g);
	if (takes != r->n_inputs)
		return err_set(err, EXIT_INPUT, "'%.*s': %s has %zu input%s, forward takes %zu", SL(r->path), r->old ? "args" : "load_args",
			       r->n_inputs, plural(r->n_inputs), takes);
	for (size_t i = 0; i < r->n_inputs; i++)
		if (r->input[i].kind == REPRO_TENSOR && r->input[i].storage < r->n_storages)
			r->storage[r->input[i].storage].users++;
	for (uint32_t i = 0, k = 0; g->n_modules && i < g->module[0].n; i++) {
		struct gnode *node = &g->node[g->module[0].first + i];
		if (node->op != GRAPH_PLACEHOLDER)
			continue;
		struct repro_input *in = &r->input[k++];
		in->name = graph_text(g, node->name);
		if (node->meta == NONE || g->meta[node->meta].kind == GMETA_NONE)
			node->meta = in->meta;
	}
	return 0;
}

void repro_bind(const struct repro *r, struct symbind *env)
{
	struct symtab *tab = (struct symtab *)&r->graph.tab; /* symbols are only looked up: all of them were read before */
	for (size_t i = 0; i < r->n_lines; i++) {
		uint64_t v;
		if (r->line[i].kind == REPRO_SYMBOL && slice_u64(r->line[i].value, &v) && v <= INT64_MAX &&
		    intern_find(&tab->names, r->line[i].name) != NONE)
			symbind_set(env, symtab_symbol(tab, r->line[i].name), (int64_t)v);
	}
	for (size_t i = 0; i < r->n_inputs; i++) {
		const struct repro_input *in = &r->input[i];
		uint32_t symbol;
		int64_t mul, add, v;
		if (in->kind == REPRO_SYMINT && symsize_is_int(in->value) && in->meta != NONE &&
		    symsize_linear(tab, r->graph.meta[in->meta].expr, &symbol, &mul, &add) && mul == 1 && add == 0 &&
		    !symbind_get(env, symbol, &v))
			symbind_set(env, symbol, in->value.k);
	}
}

/* ---- a bare graph ---- */

/* Gives values to the symbols of s that have none yet. */
static void give_values(struct repro *r, struct symsize s, struct symbind *env, int64_t *next)
{
	uint32_t id[64];
	size_t n = symsize_symbols(&r->graph.tab, s, id, ARRAY_LEN(id));
	for (size_t i = 0; i < n && i < ARRAY_LEN(id); i++) {
		int64_t v;
		LOCAL_BUF b = {0};
		if (symbind_get(env, id[i], &v))
			continue;
		struct slice name = repro_keep(r, symtab_name(&r->graph.tab, id[i]));
		symbind_set(env, id[i], *next);
		buf_addf(&b, "%.*s = %lld", SL(name), (long long)*next);
		struct slice text = repro_keep(r, buf_slice(&b));
		struct repro_line *l = repro_add_line(r, REPRO_SYMBOL, text);
		l->name = name;
		l->value = slice_of(text.p + name.n + 3, text.n - name.n - 3);
		++*next;
	}
}

int repro_tensor_bytes(const struct graph *g, const struct gmeta *m, const struct symbind *env, int64_t *bytes, struct err *err)
{
	const struct symsize *dim = g->dim + m->dim;
	int64_t size, step, last = 0, next = 1, part;
	*bytes = 0;
	for (int i = m->n_dim; i-- > 0;) {
		step = next;
		if (symsize_eval(&g->tab, dim[i], env, &size, err) < 0 ||
		    (m->has_stride && symsize_eval(&g->tab, dim[m->n_dim + i], env, &step, err) < 0))
			return -1;
		if (size == 0)
			return 0;
		if (size < 0 || step < 0 || __builtin_mul_overflow(size - 1, step, &part) || __builtin_add_overflow(last, part, &last) ||
		    __builtin_mul_overflow(next, size, &next))
			return err_set(err, EXIT_INPUT, "invalid sizes");
	}
	if (__builtin_add_overflow(last, 1, &last) || __builtin_mul_overflow(last, dtype_info(m->dtype)->bytes, bytes))
		return err_set(err, EXIT_INPUT, "invalid sizes");
	return 0;
}

static int input_of_tensor(struct repro *r, uint32_t node, struct symbind *env, int64_t *next, struct err *err)
{
	const struct gmeta m = r->graph.meta[r->graph.node[node].meta];
	struct symsize size[GRAPH_MAX_DIMS], stride[GRAPH_MAX_DIMS];
	for (int i = 0; i < m.n_dim; i++) {
		size[i] = r->graph.dim[m.dim + (uint32_t)i];
		give_values(r, size[i], env, next);
		if (m.has_stride) {
			stride[i] = r->graph.dim[m.dim + m.n_dim + (uint32_t)i];
			give_values(r, stride[i], env, next);
		}
	}
	struct slice device = m.device == NONE ? SLICE("cpu") : graph_text(&r->graph, m.device);
	const uint32_t meta = take_tensor(r, m.dtype, m.n_dim, size, m.has_stride ? stride : NULL, repro_keep(r, device));
	int64_t bytes;
	if (repro_tensor_bytes(&r->graph, &r->graph.meta[meta], env, &bytes, err) < 0)
		return -1;
	struct repro_storage st = {.nbytes = symsize_int(bytes), .device = slice_is(device, "cpu") ? SLICE("") : repro_keep(r, device)};
	if (m.dtype != DTYPE_F32)
		st.dtype_hint = slice_str(dtype_info(m.dtype)->name);
	r->graph.meta[meta].requires_grad = m.requires_grad;
	struct repro_input *in = repro_add_input(r, REPRO_TENSOR);
	in->meta = meta;
	in->is_leaf = true;
	in->requires_grad = m.requires_grad;
	in->storage = repro_add_storage(r, &st);
	return 0;
}

static int input_of_symint(struct repro *r, uint32_t node, struct symbind *env, int64_t *next, struct err *err)
{
	const uint32_t meta = r->graph.node[node].meta;
	const struct symsize s = r->graph.meta[meta].expr;
	int64_t v;
	give_values(r, s, env, next);
	if (symsize_eval(&r->graph.tab, s, env, &v, err) < 0)
		return -1;
	struct repro_input *in = repro_add_input(r, REPRO_SYMINT);
	in->meta = meta;
	in->value = symsize_int(v);
	if (!symsize_is_int(s)) {
		LOCAL_BUF b = {0};
		symsize_print(&r->graph.tab, s, &b);
		in->expr = repro_keep(r, buf_slice(&b));
	}
	return 0;
}

static int input_of(struct repro *r, uint32_t node, struct symbind *env, int64_t *next, struct err *err)
{
	const struct gnode *n = &r->graph.node[node];
	const struct gmeta *m = n->meta == NONE ? NULL : &r->graph.meta[n->meta];
	struct err why = {0};
	int rc = -1;
	if (m && m->kind == GMETA_TENSOR && dtype_info(m->dtype))
		rc = input_of_tensor(r, node, env, next, &why);
	else if (m && m->kind == GMETA_SYM)
		rc = input_of_symint(r, node, env, next, &why);
	if (rc == 0)
		return 0;
	const struct slice name = graph_name(&r->graph, node);
	return err_set(err, EXIT_INPUT, "'%.*s' line %u: no load_args, and the placeholder '%.*s' %s%s", SL(r->path), n->line, SL(name),
		       why.text[0] ? "cannot be generated:  " : "has no annotation to generate its value from (\"f32[8, 16]\")", why.text);
}

int repro_inputs_from_graph(struct repro *r, struct err *err)
{
	OWNED(symbind_release) struct symbind env = {0};
	int64_t next = 8;
	int rc = 0;
	r->n_inputs = 0;
	r->n_storages = 0;
	repro_bind(r, &env);
	for (uint32_t i = 0; r->graph.n_modules && i < r->graph.module[0].n && !rc; i++)
		if (r->graph.node[r->graph.module[0].first + i].op == GRAPH_PLACEHOLDER)
			rc = input_of(r, r->graph.module[0].first + i, &env, &next, err);
	return rc < 0 ? -1 : repro_join(r, err);
}

int bad_line(const struct reading *s, uint32_t line, const char *fmt, ...)
{
	LOCAL_BUF b = {0};
	va_list ap;
	va_start(ap, fmt);
	buf_addvf(&b, fmt, ap);
	va_end(ap);
	err_set(s->err, EXIT_INPUT, "'%s' line %u: %s", s->path, line, buf_str(&b));
	return -1;
}

struct slice take_string(struct repro *r, struct slice literal, bool *ok)
{
	LOCAL_BUF b = {0};
	const bool is = pytext_string(literal, &b);
	if (ok)
		*ok = is;
	return is ? repro_keep(r, buf_slice(&b)) : SLICE("");
}
