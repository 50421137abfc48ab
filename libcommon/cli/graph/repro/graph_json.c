/* graph.json: the program around the graph, both ways. See graph_json.h. */
#include "base/base64.h"
#include "graph/pytext.h"
#include "graph/repro/graph_json_part.h"

/* ---- lines of the head ---- */

/* The text of a line that is given by its parts. */
static void make_line(struct gjson *d, struct repro_line *l)
{
	LOCAL_BUF b = {0};
	switch (l->kind) {
	case REPRO_ENV_SET:
		buf_adds(&b, "os.environ[");
		pytext_quote(&b, l->name);
		buf_adds(&b, "] = ");
		pytext_quote(&b, l->value);
		break;
	case REPRO_ENV_POP:
		buf_adds(&b, "os.environ.pop(");
		pytext_quote(&b, l->name);
		buf_adds(&b, ", None)");
		break;
	case REPRO_COMMENT: buf_addf(&b, "# %.*s", SL(l->value)); break;
	default: buf_addf(&b, "%.*s = %.*s", SL(l->name), SL(l->value));
	}
	l->text = repro_keep(d->r, buf_slice(&b));
}

static void line_row(struct gjson *d, void *of)
{
	static const char *const kinds[] = {"import", "env", "unset", "config", "symbol", "comment", "triton", "other"};
	struct repro_line *l = of;
	l->kind = gj_word(d, "kind", l->kind, kinds, ARRAY_LEN(kinds));
	gj_some(d, "name", &l->name);
	gj_some(d, "value", &l->value);
	gj_str(d, "text", &l->text);
	gj_number(d, "line", &l->line, 0);
}

static int read_line(struct gjson *d, uint32_t obj)
{
	struct repro_line l = {.kind = REPRO_OTHER};
	if (gj_read_row(d, obj, "a line of \"head\"", line_row, &l) < 0)
		return -1;
	bool by_parts = l.kind == REPRO_ENV_SET || l.kind == REPRO_ENV_POP || l.kind == REPRO_CONFIG || l.kind == REPRO_SYMBOL;
	bool has_text = json_get(&d->t, obj, "text") != NONE;
	if (by_parts && !l.name.n)
		return gj_bad(d, obj, "a line of this kind requires a name");
	if (!has_text && !by_parts && l.kind != REPRO_COMMENT)
		return gj_bad(d, obj, "a line of this kind requires its text");
	if (!has_text)
		make_line(d, &l);
	*repro_add_line(d->r, l.kind, l.text) = l;
	return 0;
}

/* A setting in Python's form: True, None, 'text', a number. */
static int python_value(struct gjson *d, uint32_t k, struct slice *out)
{
	static const char *const word[] = {[JSON_NULL] = "None", [JSON_FALSE] = "False", [JSON_TRUE] = "True"};
	LOCAL_BUF b = {0};
	struct slice s;
	int rc = 0;
	uint8_t type = d->t.tok[k].type;
	if (type == JSON_ARRAY || type == JSON_OBJECT)
		return gj_bad(d, k, "a setting must be a string, a number, true, false or null (put others into a line of \"head\")");
	if (type == JSON_NUMBER)
		buf_add_slice(&b, json_slice(&d->t, k));
	else if (type != JSON_STRING)
		buf_adds(&b, word[type]);
	else if ((rc = gj_text(d, k, "a setting", &s)) == 0)
		pytext_quote(&b, s);
	*out = repro_keep(d->r, buf_slice(&b));
	return rc;
}

/* "env": {"NAME": "value", "OTHER": null}, "config": {"torch._inductor.config.x": true}, "symbols": {"s77": 6}: lines, in short form. */
static int read_settings(struct gjson *d, uint32_t obj, enum repro_line_kind kind, const char *what)
{
	const struct json_tape *t = &d->t;
	if (obj == NONE)
		return 0;
	if (!json_is(t, obj, JSON_OBJECT))
		return gj_bad(d, obj, "%s must be an object", what);
	json_each_pair(t, obj, k) {
		int64_t v;
		bool pop = kind == REPRO_ENV_SET && json_is(t, k + 1, JSON_NULL);
		struct repro_line *l = repro_add_line(d->r, pop ? REPRO_ENV_POP : kind, SLICE(""));
		if (kind == REPRO_SYMBOL && !json_i64(t, k + 1, &v))
			return gj_bad(d, k + 1, "the value of a symbol must be an integer");
		if (gj_keep(d, k, "a name", &l->name) < 0 ||
		    (!pop && (kind == REPRO_ENV_SET ? gj_keep(d, k + 1, "the value of a variable", &l->value)
						    : python_value(d, k + 1, &l->value)) < 0))
			return -1;
		if (!l->name.n)
			return gj_bad(d, k, "a setting without a name");
		make_line(d, l);
	}
	return 0;
}

/* ---- inputs, storages ---- */

static void input_row(struct gjson *d, void *of)
{
	struct repro_input *in = of;
	in->kind = gj_word(d, "kind", in->kind, repro_input_word, REPRO_INPUT_KINDS);
	gj_str(d, "name", &in->name);
	gj_meta(d, &in->meta);
	gj_number(d, "storage", &in->storage, NONE);
	gj_size(d, "offset", &in->offset, !symsize_eq(in->offset, symsize_int(0)));
	gj_flag(d, "is_leaf", &in->is_leaf);
	gj_flag(d, "requires_grad", &in->requires_grad);
	gj_size(d, "value", &in->value, in->kind == REPRO_SYMINT);
	gj_some(d, "expr", &in->expr);
	gj_some(d, "extra", &in->extra);
	gj_some(d, "block", &in->block);
	gj_number(d, "line", &in->line, 0);
}

static int read_input(struct gjson *d, uint32_t obj)
{
	struct repro_input in = {.kind = REPRO_TENSOR, .meta = NONE, .storage = NONE};
	if (gj_read_row(d, obj, "an input", input_row, &in) < 0)
		return -1;
	*repro_add_input(d->r, in.kind) = in;
	if (in.kind != REPRO_TENSOR)
		return 0;
	if (in.meta == NONE || d->g->meta[in.meta].kind != GMETA_TENSOR || d->g->meta[in.meta].dtype == DTYPE_NONE)
		return gj_bad(d, obj, "a tensor requires \"meta\" with dtype and size");
	return in.storage == NONE ? gj_bad(d, obj, "a tensor requires \"storage\"") : 0;
}

static void bytes_member(struct gjson *d, struct slice *bytes)
{
	struct slice text;
	struct buf b = {0};
	if (!gj_member(d, "base64", bytes->p != NULL))
		return;
	if (d->out) {
		buf_addc(d->out, '"');
		base64_add(d->out, bytes->p, bytes->n);
		buf_addc(d->out, '"');
	} else if (d->k != NONE && gj_text(d, d->k, d->what, &text) == 0) {
		if (base64_decode(&b, text.p, text.n))
			*bytes = arena_slice(&d->r->arena, buf_slice(&b));
		else
			gj_bad(d, d->k, "\"base64\" is not valid base64");
		buf_release(&b);
	}
}

static void storage_row(struct gjson *d, void *of)
{
	struct repro_storage *s = of;
	gj_some(d, "hash", &s->hash);
	gj_size(d, "nbytes", &s->nbytes, true);
	gj_some(d, "device", &s->device);
	gj_some(d, "dtype_hint", &s->dtype_hint);
	bytes_member(d, &s->bytes);
}

static int read_storage(struct gjson *d, uint32_t obj)
{
	struct repro_storage s = {.hash = SLICE("")};
	if (gj_read_row(d, obj, "a storage", storage_row, &s) < 0)
		return -1;
	if (json_get(&d->t, obj, "nbytes") == NONE)
		return gj_bad(d, obj, "a storage requires \"nbytes\"");
	repro_add_storage(d->r, &s);
	return 0;
}

static void fixup_row(struct gjson *d, void *of)
{
	struct repro_fixup *f = of;
	gj_number(d, "repeats", &f->repeats, NONE);
	gj_number(d, "output_size", &f->output_size, NONE);
}

static int read_fixup(struct gjson *d, uint32_t obj)
{
	struct repro *r = d->r;
	struct repro_fixup f = {NONE, NONE};
	if (gj_read_row(d, obj, "a fixup", fixup_row, &f) < 0)
		return -1;
	if (f.repeats >= r->n_inputs || f.output_size >= r->n_inputs)
		return gj_bad(d, obj, "a fixup must name two inputs by their numbers");
	r->fixup[r->n_fixups++] = f; /* there is room: read_fixups */
	return 0;
}

static int read_fixups(struct gjson *d, uint32_t array)
{
	if (array == NONE)
		return 0;
	d->r->fixup = arena_alloc(&d->r->arena, ((size_t)json_length(&d->t, array) + 1) * sizeof(*d->r->fixup));
	return gj_list(d, array, "\"fixups\"", read_fixup);
}

/* ---- the document ---- */

static void run_row(struct gjson *d, void *of)
{
	struct repro *r = of;
	d->bare = true;
	gj_some(d, "accuracy", &r->accuracy);
	gj_some(d, "command", &r->command);
	gj_some(d, "save_dir", &r->save_dir);
	gj_some(d, "tracing_mode", &r->tracing_mode);
	gj_some(d, "check_str", &r->check_str);
	gj_some(d, "autocast", &r->autocast);
	gj_some(d, "only_fwd", &r->only_fwd);
	gj_some(d, "backend", &r->backend);
	gj_some(d, "exported", &r->exported);
	gj_some(d, "config_patches", &r->config_patches);
	gj_some(d, "setup", &r->setup);
	gj_some(d, "teardown", &r->teardown);
	gj_some(d, "foot", &r->foot);
	gj_some(d, "is_inference", &r->is_inference);
	d->bare = false;
	gj_flag(d, "backend_is_text", &r->backend_text);
}

/* The first members: texts and numbers. */
static void head_row(struct gjson *d, void *of)
{
	static const char *const forms[] = {"aot", "dynamo", "aot_inductor", "graph"}; /* enum repro_form */
	struct repro *r = of;
	r->form = gj_word(d, "form", r->form, forms, ARRAY_LEN(forms));
	gj_flag(d, "old", &r->old);
	gj_some(d, "torch_version", &r->torch_version);
	if (!gj_member(d, "seed", r->has_seed))
		return;
	if (d->out)
		buf_add_u64(d->out, r->seed);
	else if ((r->has_seed = d->k != NONE) && !json_u64(&d->t, d->k, &r->seed))
		gj_bad(d, d->k, "\"seed\" must be a non-negative integer");
}

static int read_head(struct gjson *d, uint32_t root)
{
	struct repro *r = d->r;
	if (json_count(&d->t, root, "graph_json", 0) != GRAPH_JSON_VERSION)
		return gj_bad(d, root, "not a graph.json: \"graph_json\": %d is missing", GRAPH_JSON_VERSION);
	r->form = REPRO_GRAPH;
	d->at = root;
	head_row(d, r);
	d->at = NONE;
	if (!d->bad && json_get(&d->t, root, "nodes") == NONE && !(r->form == REPRO_AOTI && json_get(&d->t, root, "run") != NONE))
		gj_bad(d, root, "\"nodes\" is missing");
	return d->bad ? -1 : 0;
}

static int read_run(struct gjson *d, uint32_t obj)
{
	if (obj != NONE)
		return gj_read_row(d, obj, "\"run\"", run_row, d->r);
	run_row(d, d->r); /* the defaults */
	return 0;
}

static int finish_document(struct gjson *d, bool inputs)
{
	struct err why;
	if (d->g->n_modules && graph_finish(d->g, &why) < 0)
		return err_set(d->err, EXIT_INPUT, "'%s': %s", d->name, why.text);
	for (size_t i = 0; i < d->r->n_inputs; i++)
		if (d->r->input[i].kind == REPRO_TENSOR && d->r->input[i].storage >= d->r->n_storages)
			return err_set(d->err, EXIT_INPUT, "'%s': input %zu is in storage %u, but there are only %zu", d->name, i,
				       d->r->input[i].storage, d->r->n_storages);
	if (!d->g->n_modules)
		return 0;
	return inputs ? repro_join(d->r, d->err) : repro_inputs_from_graph(d->r, d->err);
}

static int read_document(struct gjson *d, uint32_t root)
{
	static const char *const key[] = {"graph_json", "form",   "old",        "torch_version", "seed",     "env",
					  "head",       "config", "symbols",    "inputs",        "storages", "fixups",
					  "run",        "class",  "attributes", "nodes",         "modules"};
	const struct json_tape *t = &d->t;
	if (gj_members(d, root, "the document", key, ARRAY_LEN(key)) < 0 || read_head(d, root) < 0 ||
	    read_settings(d, json_get(t, root, "env"), REPRO_ENV_SET, "\"env\"") < 0 ||
	    gj_list(d, json_get(t, root, "head"), "\"head\"", read_line) < 0 ||
	    read_settings(d, json_get(t, root, "config"), REPRO_CONFIG, "\"config\"") < 0 ||
	    read_settings(d, json_get(t, root, "symbols"), REPRO_SYMBOL, "\"symbols\"") < 0 || read_run(d, json_get(t, root, "run")) < 0)
		return -1;
	if (json_get(t, root, "nodes") != NONE &&
	    (gj_read_module(d, root, NONE) < 0 || gj_read_modules(d, json_get(t, root, "modules")) < 0))
		return -1;
	const uint32_t inputs = json_get(t, root, "inputs");
	if (gj_list(d, json_get(t, root, "storages"), "\"storages\"", read_storage) < 0 ||
	    gj_list(d, inputs, "\"inputs\"", read_input) < 0 || read_fixups(d, json_get(t, root, "fixups")) < 0)
		return -1;
	return finish_document(d, inputs != NONE);
}

int graph_json_read(struct repro *r, struct slice text, const char *name, struct err *err)
{
	struct gjson d = {.r = r, .g = &r->graph, .name = name, .err = err, .at = NONE};
	uint32_t root;
	int rc;
	if (text.n >= UINT32_MAX)
		return err_set(err, EXIT_INPUT, "'%s': larger than 4 GiB", name);
	if (!utf8_valid(text))
		return err_set(err, EXIT_INPUT, "'%s': invalid UTF-8", name);
	GROW(d.stack, 0, d.cap_stack, 16);
	json_tape_text(&d.t, text.p, text.n);
	if (json_parse(&d.t, 0, text.n, &root) < 0)
		rc = err_set(err, EXIT_INPUT, "'%s', line %zu: %s (byte %zu)", name, gj_line(&d.t, d.t.error_at), d.t.error, d.t.error_at);
	else
		rc = read_document(&d, root);
	json_tape_release(&d.t);
	buf_release(&d.b);
	free(d.node_of);
	free(d.stack);
	return rc;
}

/* Our own line breaks: one line per node and input, readable for people and comparable with line tools. */
void graph_json_write(const struct repro *written, struct buf *b)
{
	struct repro *r = (struct repro *)(uintptr_t)written; /* rows are described for both directions: nothing is changed here */
	struct gjson d = {.r = r, .g = &r->graph, .out = b};
	buf_addf(b, "{\"graph_json\": %d,\n ", GRAPH_JSON_VERSION);
	head_row(&d, r);
	if (r->n_lines)
		gj_write_list(&d, " ", "head", line_row, r->line, sizeof(*r->line), r->n_lines);
	if (r->n_inputs)
		gj_write_list(&d, " ", "inputs", input_row, r->input, sizeof(*r->input), r->n_inputs);
	if (r->n_storages)
		gj_write_list(&d, " ", "storages", storage_row, r->storage, sizeof(*r->storage), r->n_storages);
	if (r->n_fixups)
		gj_write_list(&d, " ", "fixups", fixup_row, r->fixup, sizeof(*r->fixup), r->n_fixups);
	const size_t at = b->len;
	buf_adds(b, ",\n \"run\": ");
	const size_t empty = b->len + 2;
	gj_write_row(&d, run_row, r);
	if (b->len == empty)
		buf_cut(b, at);
	if (r->graph.n_modules) {
		buf_adds(b, ",\n");
		gj_write_module(&d, 0, " ");
		gj_write_modules(&d);
	}
	buf_adds(b, "}\n");
}
