/* Graphs in torch's everyday names (plain.h). */
#include "graph/repro/plain.h"

#include "graph/fxcode_part.h"

#include <limits.h>

#define NS "torch.ops.aten."

struct respelling {
	struct graph *g; /* the graph being changed */
	const struct plain_how *how;
	struct intern used; /* names in the root */
};

/* ---- the table ---- */

static struct slice line_at(struct slice text, size_t at)
{
	while (at && text.p[at - 1] != '\n')
		at--;
	struct slice rest = slice_of(text.p + at, text.n - at);
	return slice_first_line(rest);
}

static struct slice first_word(struct slice line)
{
	const char *space = slice_chr(line, ' ');
	return space ? slice_of(line.p, (size_t)(space - line.p)) : line;
}

/* Finds where the rows of op start, or would start. */
static size_t lower_bound(struct slice table, struct slice op)
{
	size_t lo = 0, hi = table.n;
	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;
		const struct slice line = line_at(table, mid);
		if (*line.p == '#' || slice_cmp(first_word(line), op) < 0)
			lo = (size_t)(line.p - table.p) + line.n + 1;
		else
			hi = (size_t)(line.p - table.p);
	}
	return lo < table.n ? lo : table.n;
}

struct slice plain_spelling(struct slice table, struct slice op, bool infix)
{
	const size_t at = lower_bound(table, op);
	struct slice rest = slice_of(table.p + at, table.n - at), line;
	while (slice_line(&rest, &line) && slice_eq(first_word(line), op)) {
		const struct slice spelling = slice_trim(slice_of(line.p + op.n, line.n - op.n));
		const bool is_infix = spelling.n && spelling.p[spelling.n - 1] < 'A';
		if ((is_infix || slice_is(spelling, "|") || slice_is(spelling, "^") || slice_is(spelling, "u~")) == infix)
			return spelling;
	}
	return SLICE("");
}

/* ---- one node ---- */

static const struct gvalue *arg(const struct graph *g, const struct gnode *n, uint32_t i) { return &g->value[n->args + i]; }

static void call(struct respelling *w, uint32_t node, enum graph_op op, const char *target)
{
	w->g->node[node].op = (uint8_t)op;
	w->g->node[node].target = graph_intern(w->g, slice_str(target));
}

/* "x + y": for two values, the first a tensor. */
static bool by_infix(struct respelling *w, uint32_t node, struct slice op)
{
	const struct gnode *n = &w->g->node[node];
	const struct slice spelling = plain_spelling(w->how->table, op, true);
	const bool unary = spelling.n == 2 && *spelling.p == 'u';
	if (!spelling.n || n->n_kwargs || n->n_args != (unary ? 1u : 2u) || arg(w->g, n, 0)->kind != GV_NODE)
		return false;
	unsigned text = 0;
	for (size_t i = unary; i < spelling.n; i++)
		text |= (unsigned)(unsigned char)spelling.p[i] << 8 * (i - unary);
	const char *name = fxop_by_text(text, unary ? FXOP_UNARY : FXOP_BINARY);
	LOCAL_BUF b = {0};
	if (name) {
		buf_addf(&b, "_operator.%s", name);
		call(w, node, GRAPH_CALL_FUNCTION, buf_str(&b));
	}
	return name != NULL;
}

/* x.view([2, 3]) is x.view(2, 3). */
static void splice_sizes(struct respelling *w, uint32_t node)
{
	static const char *const methods[] = {"view", "expand", "repeat", "reshape", "permute"};
	const struct gnode *n = &w->g->node[node];
	struct slice name = graph_text(w->g, n->target);
	if (!slice_any(name, methods, slice_is) || n->n_args != 2 || n->n_kwargs || arg(w->g, n, 1)->kind != GV_LIST ||
	    !arg(w->g, n, 1)->n || arg(w->g, n, 1)->n > GRAPH_MAX_DIMS)
		return;
	struct gvalue v[GRAPH_MAX_DIMS + 1] = {*arg(w->g, n, 0)};
	const struct gvalue list = *arg(w->g, n, 1);
	memcpy(v + 1, w->g->value + list.first, list.n * sizeof(*v));
	graph_set_args(w->g, node, v, list.n + 1);
}

/* The defaults of torch.full and the like. */
static bool is_default(const struct graph *g, struct slice name, struct gvalue v, bool like)
{
	if (slice_is(name, "pin_memory"))
		return v.kind == GV_NONE || (v.kind == GV_BOOL && !v.i);
	if (slice_is(name, "layout"))
		return v.kind == GV_NAME && slice_is(graph_text(g, v.text), "torch.strided");
	return slice_is(name, "device") && !like && v.kind == GV_DEVICE && slice_is(graph_text(g, v.text), "cpu");
}

static void drop_defaults(struct respelling *w, uint32_t node)
{
	struct graph *g = w->g;
	const struct gnode *n = &g->node[node];
	const bool like = slice_ends(graph_text(g, n->target), "_like") || n->op == GRAPH_CALL_METHOD;
	FREED struct gvalue *kept = xcalloc(2 * (size_t)n->n_kwargs + 1, sizeof(*kept));
	size_t k = 0;
	for (uint32_t i = 0; i < n->n_kwargs; i++) {
		const struct gvalue *pair = &g->value[n->kwargs + 2 * i];
		if (is_default(g, graph_text(g, pair[0].text), pair[1], like))
			continue;
		kept[2 * k] = pair[0];
		kept[2 * k++ + 1] = pair[1];
	}
	if (k < n->n_kwargs)
		graph_set_kwargs(g, node, kept, k);
}

static bool respell_as_function(struct respelling *w, uint32_t node, struct slice op)
{
	const struct slice spelling = plain_spelling(w->how->table, op, false);
	const bool method = spelling.n && *spelling.p == '.';
	if (!spelling.n || (method && (!w->g->node[node].n_args || arg(w->g, &w->g->node[node], 0)->kind != GV_NODE)))
		return false;
	LOCAL_BUF b = {0};
	buf_add_slice(&b, method ? slice_of(spelling.p + 1, spelling.n - 1) : spelling);
	call(w, node, method ? GRAPH_CALL_METHOD : GRAPH_CALL_FUNCTION, buf_str(&b));
	if (method)
		splice_sizes(w, node);
	drop_defaults(w, node);
	return true;
}

/* ---- operators that are Python's syntax ---- */

static void set_index(struct respelling *w, uint32_t node, struct gvalue x, struct gvalue index)
{
	call(w, node, GRAPH_CALL_FUNCTION, "_operator.getitem");
	graph_set_args(w->g, node, (struct gvalue[]){x, index}, 2);
}

static struct gvalue whole_slice(struct graph *g)
{
	return graph_sequence(g, GV_SLICE, (struct gvalue[]){graph_none_value(), graph_none_value(), graph_none_value()}, 3);
}

/* slice.Tensor(x, 1, 0, 3) is x[:, :3]. */
static bool as_slice(struct respelling *w, uint32_t node)
{
	struct graph *g = w->g;
	const struct gnode *n = &g->node[node];
	struct gvalue v[5] = {graph_none_value(), graph_int_value(0), graph_none_value(), graph_none_value(), graph_int_value(1)};
	if (n->n_kwargs || n->n_args < 1 || n->n_args > 5)
		return false;
	memcpy(v, arg(g, n, 0), n->n_args * sizeof(*v));
	if (v[0].kind != GV_NODE || v[1].kind != GV_INT || v[1].i < 0 || v[1].i >= GRAPH_MAX_DIMS || v[4].kind != GV_INT)
		return false;
	const int64_t dim = v[1].i;
	if (v[2].kind == GV_INT && v[2].i == 0)
		v[2] = graph_none_value();
	if (v[3].kind == GV_INT && v[3].i == INT64_MAX)
		v[3] = graph_none_value();
	if (v[2].kind == GV_NONE && v[3].kind == GV_NONE && v[4].i == 1)
		return false; /* for torch, x[:] is not a slice but x itself */
	if (v[4].i == 1)
		v[4] = graph_none_value();
	struct gvalue part[GRAPH_MAX_DIMS];
	for (int64_t i = 0; i < dim; i++)
		part[i] = whole_slice(g);
	part[dim] = graph_sequence(g, GV_SLICE, v + 2, 3);
	set_index(w, node, v[0], dim ? graph_sequence(g, GV_TUPLE, part, (size_t)dim + 1) : part[0]);
	return true;
}

/* index.Tensor(x, [None, i]) is x[:, i]. */
static bool as_index(struct respelling *w, uint32_t node)
{
	struct graph *g = w->g;
	const struct gnode *n = &g->node[node];
	if (n->n_kwargs || n->n_args != 2 || arg(g, n, 0)->kind != GV_NODE || arg(g, n, 1)->kind != GV_LIST ||
	    arg(g, n, 1)->n > GRAPH_MAX_DIMS)
		return false;
	const struct gvalue x = *arg(g, n, 0), list = *arg(g, n, 1);
	struct gvalue part[GRAPH_MAX_DIMS];
	for (uint32_t i = 0; i < list.n; i++) {
		part[i] = g->value[list.first + i];
		if (part[i].kind != GV_NODE && part[i].kind != GV_NONE)
			return false;
	}
	for (uint32_t i = 0; i < list.n; i++)
		if (part[i].kind == GV_NONE)
			part[i] = whole_slice(g);
	set_index(w, node, x, list.n == 1 ? part[0] : graph_sequence(g, GV_TUPLE, part, list.n));
	return list.n > 0;
}

/* sym_size.int(x, 0) is x.size(0). */
static bool as_method(struct respelling *w, uint32_t node, const char *method, uint32_t n_args)
{
	const struct gnode *n = &w->g->node[node];
	if (n->n_kwargs || n->n_args != n_args || arg(w->g, n, 0)->kind != GV_NODE)
		return false;
	call(w, node, GRAPH_CALL_METHOD, method);
	return true;
}

/* _softmax(x, 1, False) is torch.softmax(x, 1). */
static bool as_softmax(struct respelling *w, uint32_t node, const char *function)
{
	const struct gnode *n = &w->g->node[node];
	if (n->n_kwargs || n->n_args != 3 || arg(w->g, n, 2)->kind != GV_BOOL || arg(w->g, n, 2)->i)
		return false;
	const struct gvalue v[2] = {*arg(w->g, n, 0), *arg(w->g, n, 1)};
	call(w, node, GRAPH_CALL_FUNCTION, function);
	graph_set_args(w->g, node, v, 2);
	return true;
}

/* To another dtype: x.to(torch.float64). */
static bool as_conversion(struct respelling *w, uint32_t node, bool keyword)
{
	struct graph *g = w->g;
	const struct gnode *n = &g->node[node];
	if (n->n_args != (keyword ? 1u : 2u) || n->n_kwargs != keyword || arg(g, n, 0)->kind != GV_NODE)
		return false;
	if (keyword && !slice_is(graph_text(g, g->value[n->kwargs].text), "dtype"))
		return false;
	const struct gvalue x = *arg(g, n, 0), to = keyword ? g->value[n->kwargs + 1] : *arg(g, n, 1);
	const uint32_t meta = g->node[x.node].meta;
	if (to.kind != GV_NAME || meta == NONE || g->meta[meta].kind != GMETA_TENSOR || g->meta[meta].dtype == DTYPE_NONE ||
	    dtype_by_name(graph_text(g, to.text)) == (enum dtype)g->meta[meta].dtype)
		return false;
	call(w, node, GRAPH_CALL_METHOD, "to");
	graph_set_args(g, node, (struct gvalue[]){x, to}, 2);
	graph_set_kwargs(g, node, NULL, 0);
	return true;
}

static bool by_syntax(struct respelling *w, uint32_t node, struct slice op)
{
	if (slice_is(op, "slice.Tensor"))
		return as_slice(w, node);
	if (slice_is(op, "index.Tensor"))
		return as_index(w, node);
	if (slice_is(op, "sym_size.int"))
		return as_method(w, node, "size", 2);
	if (slice_is(op, "sym_numel.default"))
		return as_method(w, node, "numel", 1);
	if (slice_is(op, "_softmax.default"))
		return as_softmax(w, node, "torch.softmax");
	if (slice_is(op, "_log_softmax.default"))
		return as_softmax(w, node, "torch.log_softmax");
	return slice_is(op, "_to_copy.default") && as_conversion(w, node, true);
}

static void respell(struct respelling *w, uint32_t node)
{
	struct slice target = graph_text(w->g, w->g->node[node].target);
	LOCAL_BUF key = {0};
	if (w->g->node[node].op != GRAPH_CALL_FUNCTION)
		return;
	if (slice_is(target, "torch.ops.prims.convert_element_type.default")) {
		as_conversion(w, node, false);
	} else if (slice_starts(target, NS)) {
		buf_add(&key, target.p + sizeof(NS) - 1, target.n - sizeof(NS) + 1);
		if (!by_syntax(w, node, buf_slice(&key)) && !by_infix(w, node, buf_slice(&key)))
			respell_as_function(w, node, buf_slice(&key));
	} else if (slice_starts(target, "torch._C._nn.")) {
		buf_add(&key, target.p + sizeof("torch._C.") - 1, target.n - sizeof("torch._C.") + 1);
		respell_as_function(w, node, buf_slice(&key));
	}
}

/* ---- names ---- */

/* "relu" of "relu_3" if it is free, else "relu_1", ... */
static void name_node(struct respelling *w, uint32_t node)
{
	struct slice s = graph_name(w->g, node);
	LOCAL_BUF b = {0};
	size_t n = s.n;
	while (n && is_digit(s.p[n - 1]))
		n--;
	if (n > 1 && n < s.n && s.p[n - 1] == '_')
		s.n = n - 1;
	buf_add_slice(&b, s);
	const size_t base = b.len;
	uint32_t known = w->used.n;
	for (uint32_t k = 1; !fx_good_name(buf_slice(&b)) || intern_add(&w->used, buf_slice(&b)) < known; k++) {
		buf_cut(&b, base);
		buf_addf(&b, "_%u", k);
	}
	w->g->node[node].name = graph_intern(w->g, buf_slice(&b));
}

static void name_input(struct respelling *w, uint32_t node, uint32_t i, uint32_t n)
{
	char text[16];
	if (n <= 3)
		snprintf(text, sizeof(text), "%c", "xyz"[i]);
	else
		snprintf(text, sizeof(text), "x%u", i);
	intern_add(&w->used, slice_str(text));
	w->g->node[node].name = w->g->node[node].target = graph_intern(w->g, slice_str(text));
	w->g->node[node].n_args = 0; /* a default value: all sizes are given */
}

/* Nodes of submodules keep their names: a subgraph is a module of its own. */
static void name_all(struct respelling *w)
{
	const struct gmodule *root = &w->g->module[0];
	uint32_t n = 0, k = 0;
	intern_add(&w->used, SLICE("f"));
	for (uint32_t i = root->first; i < root->first + root->n; i++)
		n += w->g->node[i].op == GRAPH_PLACEHOLDER;
	for (uint32_t i = root->first; i < root->first + root->n; i++)
		if (w->g->node[i].op == GRAPH_PLACEHOLDER)
			name_input(w, i, k++, n);
	for (uint32_t i = root->first; i < root->first + root->n; i++)
		if (w->g->node[i].op != GRAPH_PLACEHOLDER && w->g->node[i].op != GRAPH_OUTPUT)
			name_node(w, i);
}

/* ---- the whole graph ---- */

/* The placeholders that stay, then the sizes that replace others, then the rest. */
static void copy_root(const struct graph *g, const struct plain_how *how, struct graph *out)
{
	const struct gmodule *root = &g->module[0];
	FREED uint32_t *map = xreallocarray(NULL, g->n_nodes + 1, sizeof(*map)),
		       *place = xreallocarray(NULL, (size_t)root->n + 1, sizeof(*place));
	uint32_t n = 0;
	graph_add_module(out, NONE, SLICE(""), graph_text(g, root->class_name));
	for (uint32_t i = root->first; i < root->first + root->n; i++)
		if (g->node[i].op == GRAPH_PLACEHOLDER) {
			place[n] = i;
			if (!how->size || how->size[n].of == NONE)
				map[i] = graph_copy_node(out, 0, g, i, map);
			n++;
		}
	for (uint32_t k = 0; how->size && k < n; k++)
		if (how->size[k].of != NONE) {
			const uint32_t id = graph_add_node(out, 0, GRAPH_CALL_METHOD, graph_name(g, place[k]), SLICE("size"));
			const struct gvalue v[2] = {graph_node_value(map[place[how->size[k].of]]), graph_int_value(how->size[k].dim)};
			graph_set_args(out, id, v, 2);
			map[place[k]] = id;
		}
	for (uint32_t i = root->first; i < root->first + root->n; i++)
		if (g->node[i].op != GRAPH_PLACEHOLDER)
			map[i] = graph_copy_node(out, 0, g, i, map);
	graph_copy_attrs(out, 0, g, 0);
	for (uint32_t m = 1; m < g->n_modules; m++)
		if (g->module[m].parent == 0)
			graph_copy_module(out, 0, g, m);
}

int graph_plain(const struct graph *g, const struct plain_how *how, struct graph *out, struct err *err)
{
	struct respelling w = {.g = out, .how = how};
	copy_root(g, how, out);
	for (uint32_t i = 0; i < out->n_nodes; i++)
		respell(&w, i);
	name_all(&w);
	intern_release(&w.used);
	return graph_finish(out, err);
}
