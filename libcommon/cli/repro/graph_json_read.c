#include "repro/graph_json_part.h"
#include "base/base64.h"
#include "graph/pytext.h"

/* ---- errors, parts of the document ---- */

static size_t line_of(const struct json_tape *t, size_t off)
{
	size_t line = 1;
	for (size_t i = 0; i < off && i < t->len; i++)
		line += t->text[i] == '\n';
	return line;
}

int gj_bad(struct gjson *rd, uint32_t tok, const char *fmt, ...)
{
	size_t line = line_of(&rd->t, rd->t.tok[tok].off);
	char what[512], where[256] = "";
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (rd->in)
		snprintf(where, sizeof(where), "%s '%.*s': ", rd->in, SLN(rd->in_name, 150));
	return err_set(rd->err, EXIT_INPUT, "'%s', line %zu: %s%s", rd->name, line, where, what);
}

/* The value of each key, NONE when it is not there; another key than these is a mistake. */
int gj_members(struct gjson *rd, uint32_t obj, const char *what, const char *const *key, uint32_t *value, size_t n)
{
	const struct json_tape *t = &rd->t;
	if (!json_is(t, obj, JSON_OBJECT))
		return gj_bad(rd, obj, "%s is to be an object", what);
	for (size_t i = 0; i < n; i++)
		value[i] = NONE;
	json_each_pair(t, obj, k) {
		size_t i = 0;
		while (i < n && !slice_is(json_slice(t, k), key[i]))
			i++;
		if (i == n)
			return gj_bad(rd, k, "%s has no member '%.*s'", what, SLN(json_slice(t, k), 80));
		value[i] = k + 1;
	}
	return 0;
}

/* A string's characters, valid until the next call. NONE: "". */
int gj_text(struct gjson *rd, uint32_t k, const char *what, struct slice *s)
{
	*s = SLICE("");
	if (k == NONE)
		return 0;
	if (!json_is(&rd->t, k, JSON_STRING))
		return gj_bad(rd, k, "%s is to be a string", what);
	*s = json_text_at(&rd->t, k, &rd->b);
	return 0;
}

/* The same, as long as the repro lives. */
int gj_keep(struct gjson *rd, uint32_t k, const char *what, struct slice *s)
{
	if (gj_text(rd, k, what, s) < 0)
		return -1;
	*s = repro_keep(rd->r, *s);
	return 0;
}

int gj_bool(struct gjson *rd, uint32_t k, const char *what, bool *v)
{
	*v = json_is(&rd->t, k, JSON_TRUE);
	return k == NONE || *v || json_is(&rd->t, k, JSON_FALSE) ? 0 : gj_bad(rd, k, "%s is to be true or false", what);
}

int gj_u32(struct gjson *rd, uint32_t k, const char *what, uint32_t none, uint32_t *v)
{
	uint64_t wide = none;
	if (k != NONE && (!json_u64(&rd->t, k, &wide) || wide >= UINT32_MAX))
		return gj_bad(rd, k, "%s is to be a number from 0 on", what);
	*v = (uint32_t)wide;
	return 0;
}

int gj_word(struct gjson *rd, uint32_t k, const char *what, const char *const *word, size_t n, unsigned *v)
{
	struct slice s;
	if (k == NONE)
		return 0;
	if (gj_text(rd, k, what, &s) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (slice_is(s, word[i])) {
			*v = (unsigned)i;
			return 0;
		}
	return gj_bad(rd, k, "%s '%.*s' is not known", what, SLN(s, 80));
}

int gj_array(struct gjson *rd, uint32_t k, const char *what)
{
	return k == NONE || json_is(&rd->t, k, JSON_ARRAY) ? 0 : gj_bad(rd, k, "%s is to be an array", what);
}

/* 8, "s77", "2*s0 + 1". */
int gj_size(struct gjson *rd, uint32_t k, const char *what, struct symsize *out)
{
	struct slice s;
	int64_t v = 0;
	if (k == NONE || json_is(&rd->t, k, JSON_NUMBER)) {
		if (k != NONE && !json_i64(&rd->t, k, &v))
			return gj_bad(rd, k, "%s is no 64-bit integer", what);
		*out = symsize_int(v);
		return 0;
	}
	if (gj_text(rd, k, what, &s) < 0)
		return -1;
	*out = symsize_parse_any(&rd->g->tab, s);
	return 0;
}

/* ---- the program around the graph ---- */

/* The text of a line that says it by its parts. */
static void make_line(struct gjson *rd, struct repro_line *l)
{
	struct buf b = {0};
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
	l->text = repro_keep(rd->r, buf_slice(&b));
	buf_release(&b);
}

static int read_line(struct gjson *rd, uint32_t obj)
{
	static const char *const key[] = {"kind", "name", "value", "text", "line"};
	uint32_t at[ARRAY_LEN(key)];
	unsigned kind = REPRO_OTHER;
	if (gj_members(rd, obj, "a line of \"head\"", key, at, ARRAY_LEN(key)) < 0 ||
	    gj_word(rd, at[0], "\"kind\"", graph_json_line_kind, ARRAY_LEN(graph_json_line_kind), &kind) < 0)
		return -1;
	struct repro_line *l = repro_add_line(rd->r, kind, SLICE(""));
	bool by_parts = kind == REPRO_ENV_SET || kind == REPRO_ENV_POP || kind == REPRO_CONFIG || kind == REPRO_SYMBOL;
	if (gj_keep(rd, at[1], "\"name\"", &l->name) < 0 || gj_keep(rd, at[2], "\"value\"", &l->value) < 0 ||
	    gj_keep(rd, at[3], "\"text\"", &l->text) < 0 || gj_u32(rd, at[4], "\"line\"", 0, &l->line) < 0)
		return -1;
	if (by_parts && !l->name.n)
		return gj_bad(rd, obj, "a line of this kind needs a name");
	if (at[3] == NONE && !by_parts && kind != REPRO_COMMENT)
		return gj_bad(rd, obj, "a line of this kind needs its text");
	if (at[3] == NONE)
		make_line(rd, l);
	return 0;
}

/* A setting as Python has it: True, None, 'text', a number. */
static int python_value(struct gjson *rd, uint32_t k, struct slice *out)
{
	static const char *const word[] = {[JSON_NULL] = "None", [JSON_FALSE] = "False", [JSON_TRUE] = "True"};
	struct buf b = {0};
	struct slice s;
	int rc = 0;
	uint8_t type = rd->t.tok[k].type;
	if (type == JSON_ARRAY || type == JSON_OBJECT)
		return gj_bad(rd, k, "a setting is to be a string, a number, true, false or null (others: a line of \"head\")");
	if (type == JSON_NUMBER)
		buf_add_slice(&b, json_slice(&rd->t, k));
	else if (type != JSON_STRING)
		buf_adds(&b, word[type]);
	else if ((rc = gj_text(rd, k, "a setting", &s)) == 0)
		pytext_quote(&b, s);
	*out = repro_keep(rd->r, buf_slice(&b));
	buf_release(&b);
	return rc;
}

/* "env": {"NAME": "value", "OTHER": null}, "config": {"torch._inductor.config.x": true}, "symbols": {"s77": 6}: lines, in short. */
static int read_settings(struct gjson *rd, uint32_t obj, enum repro_line_kind kind, const char *what)
{
	const struct json_tape *t = &rd->t;
	if (obj == NONE)
		return 0;
	if (!json_is(t, obj, JSON_OBJECT))
		return gj_bad(rd, obj, "%s is to be an object", what);
	json_each_pair(t, obj, k) {
		int64_t v;
		bool pop = kind == REPRO_ENV_SET && json_is(t, k + 1, JSON_NULL);
		struct repro_line *l = repro_add_line(rd->r, pop ? REPRO_ENV_POP : kind, SLICE(""));
		if (kind == REPRO_SYMBOL && !json_i64(t, k + 1, &v))
			return gj_bad(rd, k + 1, "the value of a symbol is to be an integer");
		if (gj_keep(rd, k, "a name", &l->name) < 0 ||
		    (!pop && (kind == REPRO_ENV_SET ? gj_keep(rd, k + 1, "the value of a variable", &l->value)
						    : python_value(rd, k + 1, &l->value)) < 0))
			return -1;
		if (!l->name.n)
			return gj_bad(rd, k, "a setting without a name");
		make_line(rd, l);
	}
	return 0;
}

enum {
	INPUT_KIND,
	INPUT_NAME,
	INPUT_META,
	INPUT_STORAGE,
	INPUT_OFFSET,
	INPUT_LEAF,
	INPUT_GRAD,
	INPUT_VALUE,
	INPUT_EXPR,
	INPUT_EXTRA,
	INPUT_BLOCK,
	INPUT_LINE,
	INPUT_MEMBERS,
};

static int read_input(struct gjson *rd, uint32_t obj)
{
	static const char *const key[] = {"kind",          "name",  "meta", "storage", "offset", "is_leaf",
					  "requires_grad", "value", "expr", "extra",   "block",  "line"};
	uint32_t at[INPUT_MEMBERS];
	unsigned kind = REPRO_TENSOR;
	if (gj_members(rd, obj, "an input", key, at, INPUT_MEMBERS) < 0 ||
	    gj_word(rd, at[INPUT_KIND], "\"kind\"", graph_json_input_kind, ARRAY_LEN(graph_json_input_kind), &kind) < 0)
		return -1;
	struct repro_input *in = repro_add_input(rd->r, kind);
	if (gj_keep(rd, at[INPUT_NAME], "\"name\"", &in->name) < 0 || gj_meta(rd, at[INPUT_META], &in->meta) < 0 ||
	    gj_u32(rd, at[INPUT_STORAGE], "\"storage\"", NONE, &in->storage) < 0 ||
	    gj_size(rd, at[INPUT_OFFSET], "\"offset\"", &in->offset) < 0 || gj_bool(rd, at[INPUT_LEAF], "\"is_leaf\"", &in->is_leaf) < 0 ||
	    gj_bool(rd, at[INPUT_GRAD], "\"requires_grad\"", &in->requires_grad) < 0 ||
	    gj_size(rd, at[INPUT_VALUE], "\"value\"", &in->value) < 0 || gj_keep(rd, at[INPUT_EXPR], "\"expr\"", &in->expr) < 0 ||
	    gj_keep(rd, at[INPUT_EXTRA], "\"extra\"", &in->extra) < 0 || gj_keep(rd, at[INPUT_BLOCK], "\"block\"", &in->block) < 0 ||
	    gj_u32(rd, at[INPUT_LINE], "\"line\"", 0, &in->line) < 0)
		return -1;
	if (kind != REPRO_TENSOR)
		return 0;
	if (in->meta == NONE || rd->g->meta[in->meta].kind != GMETA_TENSOR || rd->g->meta[in->meta].dtype == DTYPE_NONE)
		return gj_bad(rd, obj, "a tensor needs its \"meta\" with dtype and size");
	return in->storage == NONE ? gj_bad(rd, obj, "a tensor needs its \"storage\"") : 0;
}

static int read_storage(struct gjson *rd, uint32_t obj)
{
	static const char *const key[] = {"hash", "nbytes", "device", "dtype_hint", "base64"};
	uint32_t at[ARRAY_LEN(key)];
	struct repro_storage s = {.hash = SLICE("")};
	struct slice text;
	struct buf b = {0};
	if (gj_members(rd, obj, "a storage", key, at, ARRAY_LEN(key)) < 0 || gj_keep(rd, at[0], "\"hash\"", &s.hash) < 0 ||
	    gj_size(rd, at[1], "\"nbytes\"", &s.nbytes) < 0 || gj_keep(rd, at[2], "\"device\"", &s.device) < 0 ||
	    gj_keep(rd, at[3], "\"dtype_hint\"", &s.dtype_hint) < 0 || gj_text(rd, at[4], "\"base64\"", &text) < 0)
		return -1;
	if (at[1] == NONE)
		return gj_bad(rd, obj, "a storage needs its \"nbytes\"");
	if (at[4] != NONE) {
		bool ok = base64_decode(&b, text.p, text.n);
		s.bytes = ok ? arena_slice(&rd->r->arena, buf_slice(&b)) : (struct slice){0};
		buf_release(&b);
		if (!ok)
			return gj_bad(rd, at[4], "\"base64\" is none");
	}
	repro_add_storage(rd->r, &s);
	return 0;
}

static int read_fixup(struct gjson *rd, uint32_t obj)
{
	static const char *const key[] = {"repeats", "output_size"};
	uint32_t at[ARRAY_LEN(key)];
	struct repro *r = rd->r;
	struct repro_fixup f;
	if (gj_members(rd, obj, "a fixup", key, at, ARRAY_LEN(key)) < 0 || gj_u32(rd, at[0], "\"repeats\"", NONE, &f.repeats) < 0 ||
	    gj_u32(rd, at[1], "\"output_size\"", NONE, &f.output_size) < 0)
		return -1;
	if (f.repeats >= r->n_inputs || f.output_size >= r->n_inputs)
		return gj_bad(rd, obj, "a fixup names two inputs by their numbers");
	r->fixup[r->n_fixups++] = f; /* there is room: read_fixups */
	return 0;
}

static int read_list(struct gjson *rd, uint32_t array, const char *what, int (*read)(struct gjson *, uint32_t))
{
	const struct json_tape *t = &rd->t;
	if (array == NONE)
		return 0;
	if (gj_array(rd, array, what) < 0)
		return -1;
	json_each(t, array, k)
		if (read(rd, k) < 0)
			return -1;
	return 0;
}

static int read_fixups(struct gjson *rd, uint32_t array)
{
	if (array == NONE || gj_array(rd, array, "\"fixups\"") < 0)
		return array == NONE ? 0 : -1;
	rd->r->fixup = arena_alloc(&rd->r->arena, ((size_t)json_length(&rd->t, array) + 1) * sizeof(*rd->r->fixup));
	return read_list(rd, array, "\"fixups\"", read_fixup);
}

static int read_run(struct gjson *rd, uint32_t obj)
{
	struct graph_json_text text[GRAPH_JSON_RUN];
	const char *key[GRAPH_JSON_RUN + 1];
	uint32_t at[GRAPH_JSON_RUN + 1];
	graph_json_run(rd->r, text);
	for (size_t i = 0; i < GRAPH_JSON_RUN; i++) {
		key[i] = text[i].key;
		*text[i].at = SLICE("");
	}
	key[GRAPH_JSON_RUN] = "backend_is_text";
	if (obj == NONE)
		return 0;
	if (gj_members(rd, obj, "\"run\"", key, at, ARRAY_LEN(key)) < 0)
		return -1;
	for (size_t i = 0; i < GRAPH_JSON_RUN; i++)
		if (gj_keep(rd, at[i], text[i].key, text[i].at) < 0)
			return -1;
	return gj_bool(rd, at[GRAPH_JSON_RUN], "\"backend_is_text\"", &rd->r->backend_text);
}

enum {
	TOP_VERSION,
	TOP_FORM,
	TOP_OLD,
	TOP_TORCH,
	TOP_SEED,
	TOP_ENV,
	TOP_HEAD,
	TOP_CONFIG,
	TOP_SYMBOLS,
	TOP_INPUTS,
	TOP_STORAGES,
	TOP_FIXUPS,
	TOP_RUN,
	TOP_CLASS,
	TOP_ATTRIBUTES,
	TOP_NODES,
	TOP_MODULES,
	TOP_MEMBERS,
};

static int read_top(struct gjson *rd, uint32_t root, uint32_t *at)
{
	static const char *const forms[] = {"aot", "dynamo", "aot_inductor", "graph"}; /* enum repro_form */
	struct repro *r = rd->r;
	uint64_t version = 0;
	unsigned form = REPRO_GRAPH;
	if (!json_u64(&rd->t, at[TOP_VERSION], &version) || version != GRAPH_JSON_VERSION)
		return gj_bad(rd, root, "no graph.json: \"graph_json\": %d is missing", GRAPH_JSON_VERSION);
	if (gj_word(rd, at[TOP_FORM], "\"form\"", forms, ARRAY_LEN(forms), &form) < 0 || gj_bool(rd, at[TOP_OLD], "\"old\"", &r->old) < 0 ||
	    gj_keep(rd, at[TOP_TORCH], "\"torch_version\"", &r->torch_version) < 0)
		return -1;
	r->form = form;
	r->has_seed = at[TOP_SEED] != NONE;
	if (r->has_seed && !json_u64(&rd->t, at[TOP_SEED], &r->seed))
		return gj_bad(rd, at[TOP_SEED], "\"seed\" is to be a number from 0 on");
	if (at[TOP_NODES] == NONE && !(form == REPRO_AOTI && at[TOP_RUN] != NONE))
		return gj_bad(rd, root, "\"nodes\" is missing");
	return 0;
}

static int finish_document(struct gjson *rd, bool inputs)
{
	struct err why;
	if (rd->g->n_modules && graph_finish(rd->g, &why) < 0)
		return err_set(rd->err, EXIT_INPUT, "'%s': %s", rd->name, why.text);
	for (size_t i = 0; i < rd->r->n_inputs; i++)
		if (rd->r->input[i].kind == REPRO_TENSOR && rd->r->input[i].storage >= rd->r->n_storages)
			return err_set(rd->err, EXIT_INPUT, "'%s': input %zu is in storage %u, but there are %zu", rd->name, i,
				       rd->r->input[i].storage, rd->r->n_storages);
	if (!rd->g->n_modules)
		return 0;
	return inputs ? repro_join(rd->r, rd->err) : repro_inputs_from_graph(rd->r, rd->err);
}

static int read_document(struct gjson *rd, uint32_t root)
{
	static const char *const key[] = {"graph_json", "form",   "old",        "torch_version", "seed",     "env",
					  "head",       "config", "symbols",    "inputs",        "storages", "fixups",
					  "run",        "class",  "attributes", "nodes",         "modules"};
	uint32_t at[TOP_MEMBERS];
	if (gj_members(rd, root, "the document", key, at, TOP_MEMBERS) < 0 || read_top(rd, root, at) < 0 ||
	    read_settings(rd, at[TOP_ENV], REPRO_ENV_SET, "\"env\"") < 0 || read_list(rd, at[TOP_HEAD], "\"head\"", read_line) < 0 ||
	    read_settings(rd, at[TOP_CONFIG], REPRO_CONFIG, "\"config\"") < 0 ||
	    read_settings(rd, at[TOP_SYMBOLS], REPRO_SYMBOL, "\"symbols\"") < 0 || read_run(rd, at[TOP_RUN]) < 0)
		return -1;
	if (at[TOP_NODES] != NONE && (gj_module(rd, NONE, NONE, at[TOP_CLASS]) < 0 || gj_body(rd, at[TOP_ATTRIBUTES], at[TOP_NODES]) < 0 ||
				      gj_modules(rd, at[TOP_MODULES]) < 0))
		return -1;
	if (read_list(rd, at[TOP_STORAGES], "\"storages\"", read_storage) < 0 ||
	    read_list(rd, at[TOP_INPUTS], "\"inputs\"", read_input) < 0 || read_fixups(rd, at[TOP_FIXUPS]) < 0)
		return -1;
	return finish_document(rd, at[TOP_INPUTS] != NONE);
}

int graph_json_read(struct repro *r, struct slice text, const char *name, struct err *err)
{
	struct gjson rd = {.r = r, .g = &r->graph, .name = name, .err = err};
	uint32_t root;
	int rc;
	if (text.n >= UINT32_MAX)
		return err_set(err, EXIT_INPUT, "'%s': larger than 4 GiB", name);
	if (!utf8_valid(text))
		return err_set(err, EXIT_INPUT, "'%s': is not UTF-8", name);
	GROW(rd.stack, 0, rd.cap_stack, 16);
	json_tape_text(&rd.t, text.p, text.n);
	if (json_parse(&rd.t, 0, text.n, &root) < 0)
		rc = err_set(err, EXIT_INPUT, "'%s', line %zu: %s (byte %zu)", name, line_of(&rd.t, rd.t.error_at), rd.t.error,
			     rd.t.error_at);
	else
		rc = read_document(&rd, root);
	json_tape_release(&rd.t);
	buf_release(&rd.b);
	free(rd.node_of);
	free(rd.stack);
	return rc;
}
