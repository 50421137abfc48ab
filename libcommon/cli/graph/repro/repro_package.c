/* An exported program (torch.export.save) as a graph with inputs. In the zip (torch 2.13, torch/export/pt2_archive/constants.py and
 * _package.py):
 *     ROOT/models/NAME.json                              the graph: graph_exported_read
 *     ROOT/data/weights/NAME_weights_config.json         {"config": {"fc.weight": {"path_name": "weight_0", "use_pickle": false, ...}}}
 *     ROOT/data/weights/weight_0                         raw bytes, or torch.save's
 *     ROOT/data/constants/NAME_constants_config.json     the same
 *     ROOT/data/sample_inputs/NAME.pt                    torch.save of (args, kwargs)
 * graph_module.signature.input_specs of the graph describes each placeholder.
 */
#include <unistd.h>
#include "base/json.h"
#include "graph/graph_forms.h"
#include "graph/repro/repro_part.h"
#include "tensor/tensor.h"
#include "base/text.h"

struct packaged {
	struct repro *r;
	struct slice root, name; /* "exported_program/", "model" */
	struct slice model;
	struct json_tape t, weights, constants;
	uint32_t weights_root, constants_root; /* "config" */
	struct tensor_file *samples;
	struct err *err;
	const char *path;
	bool no_constants; /* their placeholders have been dropped */
};

static int find_model(struct packaged *p)
{
	struct zip_member *found = NULL;
	size_t at = 0;
	for (size_t i = 0; i < p->r->zip.n; i++) {
		const struct slice n = p->r->zip.v[i].name;
		if (slice_is(slice_base(n), "serialized_exported_program.json"))
			return err_set(p->err, EXIT_INPUT,
				       "'%s': exported programs of torch before 2.8 (serialized_exported_program.json) are not supported: "
				       "export it with a newer torch",
				       p->path);
		const char *models = slice_find(n, "models/");
		if (!models || !slice_ends(n, ".json") || (models > n.p && models[-1] != '/'))
			continue;
		if (found)
			return err_set(p->err, EXIT_INPUT, "'%s' holds several exported programs: pass a file with one", p->path);
		found = &p->r->zip.v[i];
		at = (size_t)(models - n.p);
	}
	if (!found)
		return err_set(p->err, EXIT_INPUT, "'%s' holds no exported program (models/NAME.json): an AOTInductor package has no graph",
			       p->path);
	p->root = slice_of(found->name.p, at);
	p->name = slice_of(found->name.p + at + 7, found->name.n - at - 7 - 5);
	return zip_text(&p->r->zip, found, &p->model, p->err);
}

/* A member under ROOT; false: missing or unreadable. */
static bool get_member(struct packaged *p, const char *folder, struct slice name, const char *tail, struct slice *data)
{
	LOCAL_BUF b = {0};
	buf_add_slice(&b, p->root);
	buf_adds(&b, folder);
	buf_add_slice(&b, name);
	buf_adds(&b, tail);
	struct zip_member *m = zip_find(&p->r->zip, buf_slice(&b));
	struct err ignored;
	return m && (slice_ends(m->name, ".json") ? zip_text : zip_data)(&p->r->zip, m, data, &ignored) == 0;
}

static uint32_t read_config(struct packaged *p, struct json_tape *t, const char *folder, const char *tail)
{
	struct slice data;
	uint32_t root;
	if (!get_member(p, folder, p->name, tail, &data))
		return NONE;
	json_tape_text(t, data.p, data.n);
	return json_parse(t, 0, data.n, &root) < 0 ? NONE : json_get(t, root, "config");
}

/* The raw values of the weight `key`: "fc.weight". */
static struct slice stored_value(struct packaged *p, struct slice key)
{
	const struct {
		const struct json_tape *t;
		uint32_t root;
		const char *folder;
	} in[2] = {{&p->weights, p->weights_root, "data/weights/"}, {&p->constants, p->constants_root, "data/constants/"}};
	struct slice data = {0};
	for (size_t i = 0; i < 2 && !data.p; i++) {
		const uint32_t entry = json_find(in[i].t, in[i].root, key);
		const struct slice file = json_word(in[i].t, entry, "path_name");
		if (!file.p || json_flag(in[i].t, entry, "use_pickle") || !get_member(p, in[i].folder, file, "", &data))
			data = (struct slice){0};
	}
	return data;
}

/* ---- the placeholders ---- */

struct given {
	bool user; /* an argument; else a weight */
	bool tensor;
	struct slice value; /* of a weight; p NULL: unknown */
};

static struct given read_spec(struct packaged *p, uint32_t spec)
{
	static const char *const kinds[][2] = {
	    {"parameter", "parameter_name"}, {"buffer", "buffer_name"}, {"tensor_constant", "tensor_constant_name"}};
	const struct json_tape *t = &p->t;
	struct given g = {0};
	const uint32_t user = json_get(t, spec, "user_input");
	if (user != NONE) {
		g.user = true;
		g.tensor = json_get(t, json_get(t, user, "arg"), "as_tensor") != NONE;
	}
	for (size_t i = 0; i < ARRAY_LEN(kinds) && !g.user; i++) {
		const struct slice name = json_word(t, json_get(t, spec, kinds[i][0]), kinds[i][1]);
		if (name.p)
			g.value = stored_value(p, name);
	}
	return g;
}

static uint32_t find_specs(struct packaged *p)
{
	uint32_t root;
	json_tape_text(&p->t, p->model.p, p->model.n);
	if (json_parse(&p->t, 0, p->model.n, &root) < 0)
		return NONE;
	return json_get_as(&p->t, json_get(&p->t, json_get(&p->t, root, "graph_module"), "signature"), "input_specs", JSON_ARRAY);
}

static uint32_t next_placeholder(const struct graph *g, uint32_t i)
{
	while (g->n_modules && i < g->module[0].n && g->node[g->module[0].first + i].op != GRAPH_PLACEHOLDER)
		i++;
	return i;
}

/* {"constant_input": {"name": "mask", "value": {"as_none": true}}}: an argument that was None, a flag or a text. An integer
 * is a placeholder with a value. */
static bool is_constant(const struct packaged *p, uint32_t spec)
{
	const uint32_t c = json_get(&p->t, spec, "constant_input"), value = c == NONE ? NONE : json_get(&p->t, c, "value");
	return c != NONE && (value == NONE || json_get(&p->t, value, "as_int") == NONE);
}

static bool is_unused_constant(const struct graph *g, uint32_t node)
{
	const struct gnode *n = &g->node[node];
	return n->module == 0 && n->op == GRAPH_PLACEHOLDER && n->meta == NONE && g->user_of[node + 1] == g->user_of[node];
}

/* Such arguments are written into the graph where they matter: their placeholders have no users, and a program of the graph needs none. */
static int drop_constants(struct packaged *p)
{
	struct graph *from = &p->r->graph, to = {0};
	FREED uint32_t *map = xcalloc(from->n_nodes + 1, sizeof(*map));
	for (uint32_t i = 0; i < from->n_nodes && !p->no_constants; i++)
		p->no_constants = is_unused_constant(from, i);
	if (!p->no_constants)
		return 0;
	for (uint32_t m = 0; m < from->n_modules; m++) {
		const struct gmodule *o = &from->module[m];
		const uint32_t id = graph_add_module(&to, o->parent, graph_text(from, o->name), graph_text(from, o->class_name));
		graph_copy_attrs(&to, id, from, m);
		for (uint32_t i = o->first; i < o->first + o->n; i++)
			map[i] = is_unused_constant(from, i) ? NONE : graph_copy_node(&to, id, from, i, map);
	}
	if (graph_finish(&to, p->err) < 0) {
		graph_release(&to);
		return -1;
	}
	graph_release(from);
	*from = to;
	return 0;
}

/* Calls fn for each placeholder with its spec, and the sample input exported with it. */
static void each_placeholder(struct packaged *p,
			     void (*fn)(struct packaged *p, uint32_t k, uint32_t node, struct slice value, const struct tensor *sample))
{
	const struct graph *g = &p->r->graph;
	const uint32_t specs = find_specs(p);
	uint32_t i = next_placeholder(g, 0), n = 0;
	size_t used = 0;
	if (specs == NONE || !g->n_modules)
		return;
	for (uint32_t k = json_first(&p->t, specs); k < json_end(&p->t, specs) && i < g->module[0].n; k = json_next(&p->t, k)) {
		if (p->no_constants && is_constant(p, k))
			continue;
		const struct given v = read_spec(p, k);
		const struct tensor *sample = v.user && v.tensor && p->samples && used < p->samples->n ? &p->samples->v[used++] : NULL;
		fn(p, n++, g->module[0].first + i, v.value, sample);
		i = next_placeholder(g, i + 1);
	}
}

/* A symbol's value is the size of the sample. */
static void take_symbols(struct packaged *p, uint32_t k, uint32_t node, struct slice value, const struct tensor *sample)
{
	struct repro *r = p->r;
	const uint32_t meta = r->graph.node[node].meta;
	(void)k;
	(void)value;
	if (!sample || meta == NONE || r->graph.meta[meta].kind != GMETA_TENSOR || r->graph.meta[meta].n_dim != sample->meta.n_dim)
		return;
	for (int i = 0; i < sample->meta.n_dim; i++) {
		uint32_t id;
		int64_t mul, add;
		LOCAL_BUF b = {0};
		const int64_t size = sample->meta.size[i];
		if (!symsize_linear(&r->graph.tab, r->graph.dim[r->graph.meta[meta].dim + (uint32_t)i], &id, &mul, &add) || size < add ||
		    (size - add) % mul)
			continue;
		const struct slice name = repro_keep(r, symtab_name(&r->graph.tab, id));
		bool known = false;
		for (size_t j = 0; j < r->n_lines; j++)
			known |= r->line[j].kind == REPRO_SYMBOL && slice_eq(r->line[j].name, name);
		if (known)
			continue;
		buf_addf(&b, "%.*s = %lld", SL(name), (long long)((size - add) / mul));
		const struct slice text = repro_keep(r, buf_slice(&b));
		struct repro_line *l = repro_add_line(r, REPRO_SYMBOL, text);
		l->name = name;
		l->value = slice_of(text.p + name.n + 3, text.n - name.n - 3);
	}
}

/* Values are used if they have as many bytes as the graph requires; otherwise (a view of a larger storage) they are random. */
static void take_values(struct packaged *p, uint32_t k, uint32_t node, struct slice value, const struct tensor *sample)
{
	struct repro *r = p->r;
	(void)node;
	if (k >= r->n_inputs || r->input[k].kind != REPRO_TENSOR)
		return;
	struct repro_storage *st = &r->storage[r->input[k].storage];
	if (sample)
		value = sample->data;
	if (value.p && symsize_is_int(st->nbytes) && (uint64_t)st->nbytes.k == value.n)
		st->bytes = value;
}

static void open_samples(struct packaged *p)
{
	struct slice data;
	struct err ignored;
	if (get_member(p, "data/sample_inputs/", p->name, ".pt", &data))
		p->samples = tensor_file_bytes(data, p->path, &ignored);
}

static int read_all(struct packaged *p)
{
	struct repro *r = p->r;
	if (find_model(p) < 0 || graph_exported_read(&r->graph, p->model, p->path, p->err) < 0)
		return -1;
	p->weights_root = read_config(p, &p->weights, "data/weights/", "_weights_config.json");
	p->constants_root = read_config(p, &p->constants, "data/constants/", "_constants_config.json");
	open_samples(p);
	each_placeholder(p, take_symbols);
	if (drop_constants(p) < 0)
		return -1;
	if (repro_inputs_from_graph(r, p->err) < 0)
		return -1;
	each_placeholder(p, take_values);
	return 0;
}

int repro_read_package(struct repro *r, const char *path, struct err *err)
{
	struct packaged p = {.r = r, .path = path, .err = err};
	if (zip_open(&r->zip, r->package.bytes, arena_strndup(&r->arena, path, strlen(path)), err) < 0)
		return -1;
	const int rc = read_all(&p);
	if (p.samples)
		tensor_file_close(p.samples);
	json_tape_release(&p.t);
	json_tape_release(&p.weights);
	json_tape_release(&p.constants);
	return rc;
}

bool repro_exported_path(const struct repro *r, struct buf *b)
{
	const struct slice e = r->exported;
	size_t base = e.n;
	while (base && e.p[base - 1] != '/')
		base--;
	static const char *const folders[] = {"", "checkpoints/"};
	if (slice_eq(e, r->path)) { /* no launcher: relative to the current folder */
		buf_reset(b);
		buf_add_slice(b, e);
		return access(buf_str(b), R_OK) == 0;
	}
	for (size_t i = 0; i <= ARRAY_LEN(folders); i++) {
		const struct slice name = i ? slice_of(e.p + base, e.n - base) : e;
		buf_reset(b);
		if (r->dir.n && name.p[0] != '/') {
			buf_add_slice(b, r->dir);
			buf_addc(b, '/');
		}
		buf_adds(b, i ? folders[i - 1] : "");
		buf_add_slice(b, name);
		if (access(buf_str(b), R_OK) == 0)
			return true;
	}
	return false;
}

int repro_open_exported(struct repro *r, struct err *err)
{
	LOCAL_BUF path = {0};
	struct mapfile f;
	int rc = -1;
	if (!r->exported.n || !repro_exported_path(r, &path)) {
		err_set(err, EXIT_INPUT, "'%.*s': its graph is in '%.*s', which is missing: keep that file beside it", SL(r->path),
			SLN(r->exported, 300));
	} else if (mapfile_open(&f, buf_str(&path), err) == 0) {
		r->package = f;
		rc = repro_read_package(r, buf_str(&path), err);
	}
	return rc;
}
