/* A torch.export program as a graph. Source: torch 2.13, torch/_export/serde/{schema,serialize}.py (GraphModuleDeserializer), which builds
 * the same graph: the nodes have the names torch gives them when it loads the file, including getitems and subgraphs. */
#include "model/contract/exported.h"
#include "base/sym/srepr.h"
#include "graph/graph_exported_part.h"

enum { MIN_MAJOR = 5, MAX_MAJOR = 8 };
enum { KIND_NONE, KIND_POSITIONAL, KIND_KEYWORD }; /* ArgumentKind */

/* ---- operands ---- */

/* Since 2.7 the file records how an argument is passed. Before, an operator's arguments are passed by name except the first, which any
 * schema allows; Python's operators and higher-order operators do not take names. */
static bool positional(struct exported *x, uint32_t input, bool first, bool nameless)
{
	int64_t kind = KIND_NONE;
	uint32_t k = json_get_as(&x->t, input, "kind", JSON_NUMBER);
	if (k != NONE)
		json_i64(&x->t, k, &kind);
	if (kind == KIND_NONE)
		return first || nameless || !json_text(&x->t, input, "name", &x->b).n;
	return kind == KIND_POSITIONAL;
}

struct operands {
	struct gvalue *arg, *kwarg;
	size_t n, n_kw, cap, cap_kw;
};

static int read_inputs(struct exported *x, uint32_t inputs, bool nameless, struct operands *o)
{
	json_each(&x->t, inputs, k) {
		struct gvalue v;
		uint32_t arg = json_get_as(&x->t, k, "arg", JSON_OBJECT), name = json_get_as(&x->t, k, "name", JSON_STRING);
		if (arg == NONE)
			return gx_bad(x, k, "missing argument of an input");
		if (gx_argument(x, arg, 0, &v) < 0)
			return -1;
		if (positional(x, k, o->n + o->n_kw == 0, nameless)) {
			PUSH_TO(o->arg, o->n, o->cap) = v;
		} else {
			GROW(o->kwarg, o->n_kw, o->cap_kw, 2);
			o->kwarg[o->n_kw++] = graph_text_value(x->g, GV_STR, json_text_at(&x->t, name, &x->b));
			o->kwarg[o->n_kw++] = v;
		}
	}
	return 0;
}

/* ---- results ---- */

static void set_stack(struct exported *x, uint32_t node, uint32_t stack) { x->g->node[node].stack = stack; }

static uint32_t add_getitem(struct exported *x, uint32_t source, uint32_t index, struct slice name)
{
	struct gvalue args[] = {graph_node_value(source), graph_int_value(index)};
	uint32_t id = graph_intern(x->g, name);
	uint32_t node = gx_add_node(x, GRAPH_CALL_FUNCTION, graph_text(x->g, id), SLICE("_operator.getitem"));
	graph_set_args(x->g, node, args, 2);
	set_stack(x, node, x->g->node[source].stack);
	gx_name_value(x, id, node);
	return node;
}

/* {"name": "x"} of a tensor, {"as_name": "n"} of a symbol. */
static struct slice result_name(struct exported *x, uint32_t k)
{
	uint32_t name = json_get_as(&x->t, k, "name", JSON_STRING);
	return json_text_at(&x->t, name != NONE ? name : json_get_as(&x->t, k, "as_name", JSON_STRING), &x->b);
}

/* The elements of a result, as getitems on it: they are not in the file. */
static int add_parts(struct exported *x, uint32_t source, uint32_t array, unsigned depth)
{
	uint32_t i = 0;
	size_t self = x->n_parts;
	GROW(x->parts, x->n_parts, x->cap_parts, 1);
	x->parts[x->n_parts++].node = source;
	json_each(&x->t, array, k) {
		uint32_t key = gx_union(x, k), value = key == NONE ? k : key + 1;
		bool none = key != NONE && slice_is(json_slice(&x->t, key), "as_none");
		/* In "as_tensors" an item is {"name": ...}, among outputs {"as_tensor": {"name": ...}}. */
		struct slice name = result_name(x, k);
		if (!name.n && json_is(&x->t, value, JSON_OBJECT))
			name = result_name(x, value);
		if (json_is(&x->t, value, JSON_ARRAY)) {
			if (depth)
				return gx_bad(x, k, "nested results");
			if (add_parts(x, add_getitem(x, source, i, SLICE("getitem")), value, 1) < 0)
				return -1;
		} else if (name.n) {
			add_getitem(x, source, i, name);
		} else if (!none && json_is(&x->t, value, JSON_OBJECT) && gx_union(x, value) == NONE) {
			return gx_bad(x, k, "missing name of a result");
		}
		i++;
	}
	x->parts[self].end = (uint32_t)x->g->n_nodes;
	x->parts[self].n = i;
	return 0;
}

/* The node's own value, if it has exactly one: its key in the file; else NONE. */
static uint32_t single_result(struct exported *x, uint32_t obj, uint32_t outputs)
{
	uint32_t target = json_get_as(&x->t, obj, "target", JSON_STRING);
	if (outputs == NONE || json_length(&x->t, outputs) != 1)
		return NONE;
	uint32_t key = gx_union(x, json_first(&x->t, outputs));
	if (key == NONE || !json_is(&x->t, key + 1, JSON_OBJECT) ||
	    (slice_starts(json_text_at(&x->t, target, &x->b), "torch.ops.higher_order.") &&
	     json_get_as(&x->t, obj, "is_hop_single_tensor_return", JSON_FALSE) != NONE))
		return NONE;
	return key;
}

static int take_results(struct exported *x, uint32_t node, uint32_t obj)
{
	uint32_t outputs = json_get_as(&x->t, obj, "outputs", JSON_ARRAY), key = single_result(x, obj, outputs);
	if (outputs == NONE || !json_length(&x->t, outputs))
		return 0;
	if (key != NONE) {
		struct slice name = result_name(x, key + 1);
		if (name.n)
			gx_name_value(x, graph_intern(x->g, name), node);
		return 0;
	}
	uint32_t only = json_length(&x->t, outputs) == 1 ? gx_union(x, json_first(&x->t, outputs)) : NONE;
	if (only != NONE && json_is(&x->t, only + 1, JSON_ARRAY))
		return add_parts(x, node, only + 1, 1);
	return add_parts(x, node, outputs, 0);
}

/* ---- the source of a node ---- */

/* 'File "model.py", line 3, in forward\n    return x', the innermost frame, in the form of torch.fx's comments:
 * "model.py:3 in forward, code: return x". */
static uint32_t read_stack(struct exported *x, uint32_t metadata)
{
	struct slice text = json_text(&x->t, metadata, "stack_trace", &x->b), line, code = {0}, frame = {0};
	while (slice_line(&text, &line)) {
		line = slice_trim(line);
		if (slice_starts(line, "File \"")) {
			frame = line;
			code = (struct slice){0};
		} else if (frame.p && !code.p && line.n && line.p[0] != '^' && line.p[0] != '~') {
			code = line;
		}
	}
	const char *end = frame.p ? slice_find(frame, "\", line ") : NULL;
	if (!end)
		return NONE;
	struct slice file = slice_of(frame.p + 6, (size_t)(end - frame.p - 6));
	struct slice rest = slice_of(end + 8, (size_t)(frame.p + frame.n - end - 8));
	const char *in = slice_find(rest, ", in ");
	LOCAL_BUF b = {0};
	buf_addf(&b, "%.*s:%.*s", SL(file), (int)(in ? in - rest.p : (ptrdiff_t)rest.n), rest.p);
	if (in)
		buf_addf(&b, " in %.*s", (int)(rest.p + rest.n - in - 5), in + 5);
	if (code.n)
		buf_addf(&b, ", code: %.*s", SL(code));
	return graph_intern(x->g, buf_slice(&b));
}

/* ---- nodes ---- */

static struct slice node_name(struct exported *x, uint32_t obj, struct slice target)
{
	uint32_t key = single_result(x, obj, json_get_as(&x->t, obj, "outputs", JSON_ARRAY));
	struct slice name = json_text(&x->t, obj, "name", &x->b);
	if (name.n)
		return name;
	name = key == NONE ? SLICE("") : result_name(x, key + 1);
	if (name.n)
		return name;
	/* "torch.ops.aten.split.Tensor" -> "split": torch.fx would use split_tensor or similar. */
	const char *dot = slice_starts(target, "torch.ops.") ? memchr(target.p + 10, '.', target.n - 10) : NULL;
	if (!dot)
		return SLICE("node");
	const char *end = memchr(dot + 1, '.', (size_t)(target.p + target.n - dot - 1));
	return slice_of(dot + 1, (size_t)((end ? end : target.p + target.n) - dot - 1));
}

/* executorch's edge dialect has torch's operators under another name, and some of its own (dim_order_ops). */
static struct slice read_target(struct exported *x, uint32_t tok)
{
	static const char *const before[] = {"executorch.exir.dialects.edge._ops.", "executorch.exir.dialects.edge.ops."}; /* exir.save's */
	const struct slice text = json_text_at(&x->t, tok, &x->b);
	LOCAL_BUF b = {0};
	for (size_t i = 0; i < ARRAY_LEN(before); i++)
		if (slice_starts(text, before[i]))
			buf_addf(&b, "torch.ops.%.*s", SL(slice_behind(text, before[i])));
	return graph_text(x->g, graph_intern(x->g, b.len ? buf_slice(&b) : text));
}

static int read_node(struct exported *x, uint32_t obj)
{
	uint32_t target_tok = json_get_as(&x->t, obj, "target", JSON_STRING), inputs = json_get_as(&x->t, obj, "inputs", JSON_ARRAY);
	struct operands o = {0};
	if (target_tok == NONE || inputs == NONE)
		return gx_bad(x, obj, "missing target or inputs of a node");
	struct slice target = read_target(x, target_tok);
	bool nameless = slice_starts(target, "_operator.") || slice_starts(target, "math.") || slice_starts(target, "torch.sym_");
	uint32_t name = graph_intern(x->g, node_name(x, obj, target));
	x->node = name;
	/* Operands come first: a subgraph among them is a node of its own. */
	int rc = read_inputs(x, inputs, nameless, &o);
	if (rc == 0) {
		uint32_t node = gx_add_node(x, GRAPH_CALL_FUNCTION, graph_text(x->g, name), target);
		graph_set_args(x->g, node, o.arg, o.n);
		graph_set_kwargs(x->g, node, o.kwarg, o.n_kw / 2);
		set_stack(x, node, read_stack(x, json_get(&x->t, obj, "metadata")));
		rc = take_results(x, node, obj);
	}
	free(o.arg);
	free(o.kwarg);
	x->node = NONE;
	return rc;
}

/* An input has the name of its value; one that was constant in the call (flags, None) has that of the signature. */
static int read_input(struct exported *x, uint32_t obj, uint32_t spec)
{
	uint32_t key = gx_union(x, obj), constant = json_get(&x->t, spec, "constant_input");
	struct slice name = key == NONE ? SLICE("") : result_name(x, key + 1);
	if (!name.n && constant != NONE)
		name = json_text(&x->t, constant, "name", &x->b);
	uint32_t id = graph_intern(x->g, name.n ? name : SLICE("arg"));
	uint32_t node = gx_add_node(x, GRAPH_PLACEHOLDER, graph_text(x->g, id), graph_text(x->g, id));
	x->g->node[node].target = x->g->node[node].name;
	gx_name_value(x, id, node);
	int64_t v;
	if (key != NONE && slice_is(json_slice(&x->t, key), "as_int") && json_i64(&x->t, key + 1, &v))
		x->g->node[node].meta = graph_add_sym(x->g, symsize_int(v));
	return 0;
}

static int read_outputs(struct exported *x, uint32_t graph, uint32_t outputs)
{
	size_t base = x->n_stack;
	struct gvalue v;
	json_each(&x->t, outputs, k) {
		if (gx_argument(x, k, 0, &v) < 0)
			return -1;
		gx_push(x, v);
	}
	bool single = json_get_as(&x->t, graph, "is_single_tensor_return", JSON_TRUE) != NONE && x->n_stack - base == 1;
	if (!single)
		v = graph_sequence(x->g, GV_TUPLE, x->stack + base, x->n_stack - base);
	x->n_stack = base;
	uint32_t node = gx_add_node(x, GRAPH_OUTPUT, SLICE("output"), SLICE("output"));
	graph_set_args(x->g, node, &v, 1);
	return 0;
}

/* ---- metadata ---- */

/* An unsupported value stays as text, equal to nothing else. */
static struct symsize expression(struct exported *x, uint32_t k)
{
	struct slice s = json_text_at(&x->t, k, &x->b);
	LOCAL_BUF infix = {0};
	struct err ignored;
	if (srepr_like(s) && srepr_to_infix(s, &infix, &ignored) == 0)
		s = buf_slice(&infix);
	return symsize_parse_any(&x->g->tab, s);
}

/* {"as_int": 8}, {"as_expr": {"expr_str": "Symbol('s77', ...)"}}, {"as_float": 0.5}, {"as_bool": true} */
static struct symsize read_size(struct exported *x, uint32_t obj)
{
	uint32_t key = gx_union(x, obj), expr = key == NONE ? NONE : json_get_as(&x->t, key + 1, "expr_str", JSON_STRING);
	int64_t v;
	if (expr != NONE)
		return expression(x, expr);
	if (key != NONE && json_i64(&x->t, key + 1, &v))
		return symsize_int(v);
	if (key != NONE && json_is(&x->t, key + 1, JSON_TRUE))
		return symsize_int(1);
	if (key != NONE && json_is(&x->t, key + 1, JSON_FALSE))
		return symsize_int(0);
	return symsize_opaque(&x->g->tab, key == NONE ? SLICE("?") : json_raw(&x->t, key + 1));
}

static int read_sizes(struct exported *x, uint32_t array, struct symsize *dim, size_t *n)
{
	*n = 0;
	json_each(&x->t, array, k) {
		if (*n == GRAPH_MAX_DIMS)
			return gx_bad(x, array, "a tensor has at most %d dims", GRAPH_MAX_DIMS);
		dim[(*n)++] = read_size(x, k);
	}
	return 0;
}

static int tensor_meta(struct exported *x, uint32_t obj, uint32_t *meta)
{
	struct symsize size[GRAPH_MAX_DIMS], stride[GRAPH_MAX_DIMS];
	size_t n, n_stride = 0;
	int64_t number = 0;
	uint32_t sizes = json_get_as(&x->t, obj, "sizes", JSON_ARRAY), strides = json_get_as(&x->t, obj, "strides", JSON_ARRAY);
	uint32_t dtype = json_get_as(&x->t, obj, "dtype", JSON_NUMBER);
	LOCAL_BUF device = {0};
	if (sizes == NONE)
		return gx_bad(x, obj, "missing sizes of a tensor");
	if (read_sizes(x, sizes, size, &n) < 0 || (strides != NONE && read_sizes(x, strides, stride, &n_stride) < 0))
		return -1;
	if (dtype != NONE)
		json_i64(&x->t, dtype, &number);
	gx_device(x, json_get_as(&x->t, obj, "device", JSON_OBJECT), &device);
	*meta =
	    graph_add_tensor(x->g, exported_dtype(number), n, size, strides != NONE && n_stride == n ? stride : NULL, buf_slice(&device));
	x->g->meta[*meta].requires_grad = json_get_as(&x->t, obj, "requires_grad", JSON_TRUE) != NONE;
	return 0;
}

static int give_metas(struct exported *x, uint32_t graph)
{
	static const char *const values[] = {"tensor_values", "sym_int_values", "sym_float_values", "sym_bool_values"};
	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		uint32_t all = json_get_as(&x->t, graph, values[i], JSON_OBJECT);
		if (all == NONE)
			continue;
		json_each_pair(&x->t, all, k) {
			uint32_t meta, node = gx_value_named(x, json_text_at(&x->t, k, &x->b));
			if (node == NONE)
				continue;
			if (i == 0 && tensor_meta(x, k + 1, &meta) < 0)
				return -1;
			if (i)
				meta = graph_add_sym(x->g, read_size(x, k + 1));
			x->g->node[node].meta = meta;
		}
	}
	return 0;
}

/* A tuple's metadata is that of its elements; inner ones come after outer ones, and are needed first. */
static void give_tuples(struct exported *x)
{
	struct graph *g = x->g;
	for (; x->n_parts; x->n_parts--) {
		const struct parts *p = &x->parts[x->n_parts - 1];
		FREED struct gmeta *part = xcalloc((size_t)p->n + 1, sizeof(*part));
		for (uint32_t k = 0; k < p->n; k++)
			part[k] = (struct gmeta){.dtype = DTYPE_NONE, .device = NONE, .subclass = NONE};
		for (uint32_t k = p->node + 1; k < p->end; k++) {
			const struct gvalue *v = g->value + g->node[k].args;
			if (v[0].node == p->node && g->node[k].meta != NONE)
				part[v[1].i] = g->meta[g->node[k].meta];
		}
		g->node[p->node].meta = graph_add_tuple_meta(g, part, p->n);
	}
}

/* ---- a graph, and the whole ---- */

static int read_graph(struct exported *x, uint32_t graph, uint32_t specs)
{
	uint32_t inputs = json_get_as(&x->t, graph, "inputs", JSON_ARRAY), nodes = json_get_as(&x->t, graph, "nodes", JSON_ARRAY);
	uint32_t outputs = json_get_as(&x->t, graph, "outputs", JSON_ARRAY);
	uint32_t spec = specs == NONE ? NONE : json_first(&x->t, specs);
	if (inputs == NONE || nodes == NONE || outputs == NONE)
		return gx_bad(x, graph, "missing inputs, nodes or outputs of a graph");
	json_each(&x->t, inputs, k) {
		bool more = spec != NONE && spec < json_end(&x->t, specs);
		if (read_input(x, k, more ? spec : NONE) < 0)
			return -1;
		spec = more ? json_next(&x->t, spec) : spec;
	}
	json_each(&x->t, nodes, k)
		if (read_node(x, k) < 0)
			return -1;
	if (read_outputs(x, graph, outputs) < 0 || give_metas(x, graph) < 0)
		return -1;
	give_tuples(x);
	return 0;
}

/* Which inputs are parameters. */
static void mark_parameters(struct exported *x, uint32_t specs)
{
	json_each(&x->t, specs, k) {
		uint32_t parameter = json_get(&x->t, k, "parameter");
		uint32_t name = json_get_as(&x->t, json_get(&x->t, parameter, "arg"), "name", JSON_STRING);
		uint32_t node = name == NONE ? NONE : gx_value_named(x, json_text_at(&x->t, name, &x->b));
		if (node != NONE && x->g->node[node].meta != NONE)
			x->g->meta[x->g->node[node].meta].is_param = true;
	}
}

static int check_version(struct exported *x, uint32_t root)
{
	uint64_t major;
	uint32_t version = json_get(&x->t, root, "schema_version");
	if (!json_u64(&x->t, json_get_as(&x->t, version, "major", JSON_NUMBER), &major))
		return gx_bad(x, root, "'schema_version' is missing: not an exported program");
	if (major < MIN_MAJOR || major > MAX_MAJOR)
		return gx_bad(x, version, "schema %llu: only %d to %d are supported (PyTorch 2.3 to 2.13)", (unsigned long long)major,
			      MIN_MAJOR, MAX_MAJOR);
	return 0;
}

static int read_all(struct exported *x, uint32_t root)
{
	if (check_version(x, root) < 0)
		return -1;
	uint32_t module = json_get_as(&x->t, root, "graph_module", JSON_OBJECT), graph = json_get_as(&x->t, module, "graph", JSON_OBJECT);
	uint32_t specs = json_get_as(&x->t, json_get(&x->t, module, "signature"), "input_specs", JSON_ARRAY);
	if (graph == NONE)
		return gx_bad(x, root, "'graph_module' is missing");
	x->module = graph_add_module(x->g, NONE, SLICE(""), SLICE("GraphModule"));
	if (read_graph(x, graph, specs) < 0)
		return -1;
	if (specs != NONE)
		mark_parameters(x, specs);
	for (size_t i = 0; i < x->n_waiting; i++) {
		struct waiting w = x->waiting[i];
		struct slice name = graph_text(x->g, w.name);
		x->module = graph_add_module(x->g, w.parent, name, name);
		if (read_graph(x, w.graph, NONE) < 0)
			return -1;
	}
	return 0;
}

int graph_exported_read(struct graph *g, struct slice model_json, const char *name, struct err *err)
{
	struct exported x = {.g = g, .name = name, .err = err, .node = NONE};
	uint32_t root;
	int rc;
	if (model_json.n >= UINT32_MAX)
		return err_set(err, EXIT_INPUT, "'%s': the exported program is larger than 4 GiB", name);
	GROW(x.stack, 0, x.cap_stack, 16);
	json_tape_text(&x.t, model_json.p, model_json.n);
	if (json_parse(&x.t, 0, model_json.n, &root) < 0) {
		rc = err_set(err, EXIT_INPUT, "'%s': exported program, byte %zu: %s", name, x.t.error_at, x.t.error);
	} else if ((rc = read_all(&x, root)) == 0) {
		struct err why;
		if (graph_finish(g, &why) < 0)
			rc = err_set(err, EXIT_INPUT, "'%s': exported program: %s", name, why.text);
	}
	json_tape_release(&x.t);
	buf_release(&x.b);
	free(x.known);
	free(x.waiting);
	free(x.parts);
	free(x.stack);
	if (rc < 0)
		graph_release(g);
	return rc;
}
