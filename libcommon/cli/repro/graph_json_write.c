#include "repro/graph_json_part.h"
#include "base/base64.h"
#include "base/json.h"

/* Lines of our own: one per node and input, so that a person can read it and a line tool compare it. Everything below a line is
 * written without json_out, which ends at 63 levels; operands have up to GRAPH_MAX_DEPTH. */
struct writer {
	const struct repro *r;
	const struct graph *g;
	struct buf *b;
	bool more; /* a member or item came before */
};

static void put_str(struct writer *w, struct slice s)
{
	buf_addc(w->b, '"');
	json_escape(w->b, s, false);
	buf_addc(w->b, '"');
}

static void put_key(struct writer *w, const char *key)
{
	buf_addf(w->b, "%s\"%s\": ", w->more ? ", " : "", key);
	w->more = true;
}

static void member(struct writer *w, const char *key, struct slice s)
{
	put_key(w, key);
	put_str(w, s);
}

/* Left out when there is none. */
static void some(struct writer *w, const char *key, struct slice s)
{
	if (s.n)
		member(w, key, s);
}

static void flag(struct writer *w, const char *key, bool v)
{
	if (v) {
		put_key(w, key);
		buf_adds(w->b, "true");
	}
}

static void number(struct writer *w, const char *key, uint64_t v)
{
	put_key(w, key);
	buf_add_u64(w->b, v);
}

static void put_float(struct buf *b, double v)
{
	if (v != v || v - v != 0) {
		buf_addf(b, "{\"float\": \"%s\"}", v != v ? "nan" : v < 0 ? "-inf" : "inf");
		return;
	}
	char text[40];
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	buf_addf(b, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

static void put_value(struct writer *w, struct gvalue v);

static void put_children(struct writer *w, struct gvalue v)
{
	const struct graph *g = w->g;
	buf_addc(w->b, '[');
	for (uint32_t i = 0; i < v.n; i++) {
		if (i)
			buf_adds(w->b, ", ");
		if (v.kind == GV_DICT)
			buf_addc(w->b, '[');
		put_value(w, g->value[v.first + i]);
		if (v.kind == GV_DICT) {
			buf_adds(w->b, ", ");
			put_value(w, g->value[v.first + ++i]);
			buf_addc(w->b, ']');
		}
	}
	buf_addc(w->b, ']');
}

/* Depth is bounded by graph_finish. */
static void put_value(struct writer *w, struct gvalue v)
{
	static const char *const key[] = {
	    [GV_COMPLEX] = "complex", [GV_STR] = "str",   [GV_TUPLE] = "tuple",   [GV_DICT] = "dict",
	    [GV_SLICE] = "slice",     [GV_NAME] = "name", [GV_DEVICE] = "device", [GV_TEXT] = "text",
	};
	if (v.kind == GV_NONE)
		buf_adds(w->b, "null");
	else if (v.kind == GV_BOOL)
		buf_adds(w->b, v.i ? "true" : "false");
	else if (v.kind == GV_INT)
		buf_addf(w->b, "%lld", (long long)v.i);
	else if (v.kind == GV_FLOAT)
		put_float(w->b, v.f);
	else if (v.kind == GV_NODE)
		put_str(w, graph_name(w->g, v.node));
	else if (v.kind == GV_LIST)
		put_children(w, v);
	else if (v.kind == GV_ELLIPSIS)
		buf_adds(w->b, "{\"ellipsis\": true}");
	else {
		buf_addf(w->b, "{\"%s\": ", key[v.kind]);
		if (gvalue_has_children(v))
			put_children(w, v);
		else
			put_str(w, graph_text(w->g, v.text));
		buf_addc(w->b, '}');
	}
}

/* ---- metadata ---- */

static void put_size(struct writer *w, struct symsize s)
{
	if (symsize_is_int(s)) {
		buf_addf(w->b, "%lld", (long long)s.k);
		return;
	}
	struct buf text = {0};
	symsize_print(&w->g->tab, s, &text);
	put_str(w, buf_slice(&text));
	buf_release(&text);
}

static void put_sizes(struct writer *w, const char *key, const struct symsize *s, unsigned n)
{
	put_key(w, key);
	buf_addc(w->b, '[');
	for (unsigned i = 0; i < n; i++) {
		if (i)
			buf_adds(w->b, ", ");
		put_size(w, s[i]);
	}
	buf_addc(w->b, ']');
}

static void put_one_meta(struct writer *w, const struct gmeta *m)
{
	buf_addc(w->b, '{');
	w->more = false;
	if (m->kind == GMETA_SYM) {
		put_key(w, "sym");
		put_size(w, m->expr);
	} else if (m->kind == GMETA_TENSOR) {
		if (m->dtype != DTYPE_NONE)
			member(w, "dtype", slice_str(dtype_name(m->dtype)));
		put_sizes(w, "size", w->g->dim + m->dim, m->n_dim);
		if (m->has_stride)
			put_sizes(w, "stride", w->g->dim + m->dim + m->n_dim, m->n_dim);
		some(w, "device", graph_text(w->g, m->device));
		flag(w, "requires_grad", m->requires_grad);
		flag(w, "param", m->is_param);
		some(w, "subclass", graph_text(w->g, m->subclass));
	}
	buf_addc(w->b, '}');
	w->more = true;
}

static void put_meta(struct writer *w, uint32_t meta)
{
	if (meta == NONE)
		return;
	const struct gmeta *m = &w->g->meta[meta];
	put_key(w, "meta");
	if (m->kind != GMETA_TUPLE) {
		put_one_meta(w, m);
		return;
	}
	buf_addc(w->b, '[');
	for (uint32_t i = 0; i < m->n_parts; i++) {
		if (i)
			buf_adds(w->b, ", ");
		put_one_meta(w, &w->g->meta[m->first + i]);
	}
	buf_addc(w->b, ']');
}

/* ---- the graph ---- */

static void put_node(struct writer *w, const struct gnode *n)
{
	const struct graph *g = w->g;
	w->more = false;
	member(w, "name", graph_text(g, n->name));
	member(w, "op", slice_str(graph_op_name(n->op)));
	if (n->target != n->name || (n->op >= GRAPH_CALL_FUNCTION && n->op <= GRAPH_CALL_MODULE))
		member(w, "target", graph_text(g, n->target));
	if (n->n_args) {
		put_key(w, "args");
		put_children(w, (struct gvalue){.kind = GV_LIST, .n = n->n_args, .first = n->args});
	}
	if (n->n_kwargs) {
		put_key(w, "kwargs");
		w->more = false;
		buf_addc(w->b, '{');
		for (uint32_t i = 0; i < n->n_kwargs; i++) {
			if (i)
				buf_adds(w->b, ", ");
			put_str(w, graph_text(g, g->value[n->kwargs + 2 * i].text));
			buf_adds(w->b, ": ");
			put_value(w, g->value[n->kwargs + 2 * i + 1]);
		}
		buf_addc(w->b, '}');
		w->more = true;
	}
	put_meta(w, n->meta);
	if (n->type != NONE)
		member(w, "type", graph_text(g, n->type));
	if (n->stack != NONE)
		member(w, "stack", graph_text(g, n->stack));
	if (n->line)
		number(w, "line", n->line);
}

static void put_attr(struct writer *w, const struct gattr *a)
{
	static const char *const kind[] = {"buffer", "parameter", "module", "other"};
	w->more = false;
	member(w, "name", graph_text(w->g, a->name));
	member(w, "kind", slice_str(kind[a->kind]));
	if (a->expr != NONE)
		member(w, "expr", graph_text(w->g, a->expr));
	put_meta(w, a->meta);
}

/* "class", "attributes" and "nodes": members of the document for the root, of an item of "modules" for others. */
static void put_module(struct writer *w, uint32_t module, const char *indent)
{
	const struct gmodule *m = &w->g->module[module];
	buf_addf(w->b, "%s\"class\": ", indent);
	put_str(w, graph_text(w->g, m->class_name));
	if (m->n_attr) {
		buf_addf(w->b, ",\n%s\"attributes\": [", indent);
		for (uint32_t i = 0; i < m->n_attr; i++) {
			buf_addf(w->b, "%s\n%s {", i ? "," : "", indent);
			put_attr(w, &w->g->attr[m->first_attr + i]);
			buf_addc(w->b, '}');
		}
		buf_addc(w->b, ']');
	}
	buf_addf(w->b, ",\n%s\"nodes\": [", indent);
	for (uint32_t i = 0; i < m->n; i++) {
		buf_addf(w->b, "%s\n%s {", i ? "," : "", indent);
		put_node(w, &w->g->node[m->first + i]);
		buf_addc(w->b, '}');
	}
	buf_addc(w->b, ']');
}

static void put_modules(struct writer *w)
{
	if (w->g->n_modules < 2)
		return;
	buf_adds(w->b, ",\n \"modules\": [");
	for (uint32_t i = 1; i < w->g->n_modules; i++) {
		buf_addf(w->b, "%s\n  {\"name\": ", i > 1 ? "," : "");
		put_str(w, graph_text(w->g, w->g->module[i].name));
		buf_addf(w->b, ", \"parent\": %u,\n", w->g->module[i].parent);
		put_module(w, i, "   ");
		buf_addc(w->b, '}');
	}
	buf_addc(w->b, ']');
}

/* ---- the program ---- */

const char *const graph_json_line_kind[] = {"import", "env", "unset", "config", "symbol", "comment", "triton", "other"};
const char *const graph_json_input_kind[] = {"tensor", "symint", "const", "unsupported", "generator", "opaque"};

static void put_line(struct writer *w, const struct repro_line *l)
{
	member(w, "kind", slice_str(graph_json_line_kind[l->kind]));
	some(w, "name", l->name);
	some(w, "value", l->value);
	member(w, "text", l->text);
	if (l->line)
		number(w, "line", l->line);
}

static void put_input(struct writer *w, const struct repro_input *in)
{
	member(w, "kind", slice_str(graph_json_input_kind[in->kind]));
	member(w, "name", in->name);
	put_meta(w, in->meta);
	if (in->storage != NONE)
		number(w, "storage", in->storage);
	if (!symsize_eq(in->offset, symsize_int(0))) {
		put_key(w, "offset");
		put_size(w, in->offset);
	}
	flag(w, "is_leaf", in->is_leaf);
	flag(w, "requires_grad", in->requires_grad);
	if (in->kind == REPRO_SYMINT) {
		put_key(w, "value");
		put_size(w, in->value);
	}
	some(w, "expr", in->expr);
	some(w, "extra", in->extra);
	some(w, "block", in->block);
	if (in->line)
		number(w, "line", in->line);
}

static void put_storage(struct writer *w, const struct repro_storage *s)
{
	some(w, "hash", s->hash);
	put_key(w, "nbytes");
	put_size(w, s->nbytes);
	some(w, "device", s->device);
	some(w, "dtype_hint", s->dtype_hint);
	if (s->bytes.p) {
		put_key(w, "base64");
		buf_addc(w->b, '"');
		base64_add(w->b, s->bytes.p, s->bytes.n);
		buf_addc(w->b, '"');
	}
}

#define LIST(w, key, n, put, item) \
	do { \
		if (!(n)) \
			break; \
		buf_addf((w)->b, ",\n \"%s\": [", key); \
		for (size_t i = 0; i < (n); i++) { \
			buf_addf((w)->b, "%s\n  {", i ? "," : ""); \
			(w)->more = false; \
			put(w, &(item)[i]); \
			buf_addc((w)->b, '}'); \
		} \
		buf_addc((w)->b, ']'); \
	} while (0)

static void put_fixup(struct writer *w, const struct repro_fixup *f)
{
	number(w, "repeats", f->repeats);
	number(w, "output_size", f->output_size);
}

static void put_run(struct writer *w)
{
	struct graph_json_text text[GRAPH_JSON_RUN];
	graph_json_run((struct repro *)w->r, text);
	size_t at = w->b->len;
	buf_adds(w->b, ",\n \"run\": {");
	w->more = false;
	for (size_t i = 0; i < ARRAY_LEN(text); i++)
		some(w, text[i].key, *text[i].at);
	flag(w, "backend_is_text", w->r->backend_text);
	if (w->more)
		buf_addc(w->b, '}');
	else
		buf_cut(w->b, at);
}

void graph_json_run(struct repro *r, struct graph_json_text text[GRAPH_JSON_RUN])
{
	const struct graph_json_text all[GRAPH_JSON_RUN] = {
	    {"accuracy", &r->accuracy},   {"command", &r->command},
	    {"save_dir", &r->save_dir},   {"tracing_mode", &r->tracing_mode},
	    {"check_str", &r->check_str}, {"autocast", &r->autocast},
	    {"only_fwd", &r->only_fwd},   {"backend", &r->backend},
	    {"exported", &r->exported},   {"config_patches", &r->config_patches},
	    {"setup", &r->setup},         {"teardown", &r->teardown},
	    {"foot", &r->foot},           {"is_inference", &r->is_inference},
	};
	memcpy(text, all, sizeof(all));
}

void graph_json_write(const struct repro *r, struct buf *b)
{
	struct writer w = {.r = r, .g = &r->graph, .b = b};
	buf_addf(b, "{\"graph_json\": %d,\n \"form\": \"%s\"", GRAPH_JSON_VERSION, repro_form_name(r->form));
	w.more = true;
	flag(&w, "old", r->old);
	some(&w, "torch_version", r->torch_version);
	if (r->has_seed)
		number(&w, "seed", r->seed);
	LIST(&w, "head", r->n_lines, put_line, r->line);
	LIST(&w, "inputs", r->n_inputs, put_input, r->input);
	LIST(&w, "storages", r->n_storages, put_storage, r->storage);
	LIST(&w, "fixups", r->n_fixups, put_fixup, r->fixup);
	put_run(&w);
	if (r->graph.n_modules) {
		buf_adds(b, ",\n");
		put_module(&w, 0, " ");
		put_modules(&w);
	}
	buf_adds(b, "}\n");
}
