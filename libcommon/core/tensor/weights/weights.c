/* Sources of weights: files of tensors, exported programs, packages that contain them. */
#include "tensor/weights/weights.h"

#include "model/contract/exported.h"
#include "base/hash.h"
#include "base/json.h"

/* ---- tensors ---- */

static void add_view(struct weights *w, struct slice name, const struct tensor_meta *m, const void *data)
{
	PUSH_TO(w->v, w->n, w->cap) = (struct tensor_view){.name = name, .meta = *m, .data = data};
}

/* w takes ownership of the file; its tensors are added, unless `alone`: then there must be exactly one. */
static struct tensor_file *add_file(struct weights *w, struct tensor_file *f, bool alone, struct err *err)
{
	if (!f)
		return NULL;
	PUSH_TO(w->file, w->n_file, w->cap_file) = f;
	if (alone && f->n != 1)
		return err_set(err, EXIT_INPUT, "'%s': '%s' contains %zu tensors, not one", w->path, f->path, f->n), NULL;
	for (size_t i = 0; i < f->n && !alone; i++) {
		struct slice data;
		if (tensor_data(f, i, &data, err) < 0)
			return NULL;
		add_view(w, f->v[i].name, &f->v[i].meta, data.p);
	}
	return f;
}

/* ---- files of a package ---- */

struct shelf {
	struct weights *w;
	struct package *pkg;
	struct slice root, name; /* "mlp/", "model" */
	struct json_tape t;
	struct err *err;
};

/* The bytes of ROOT FOLDER NAME TAIL. 1; 0: no such file; -1: failure. */
static int shelf_file(struct shelf *s, const char *folder, struct slice name, const char *tail, struct slice *data)
{
	LOCAL_BUF b = {0};
	buf_addf(&b, "%.*s%s%.*s%s", SL(s->root), folder, SL(name), tail);
	int r = 0;
	for (uint32_t i = 1; i < s->pkg->n_file && !r; i++)
		if (slice_eq(s->pkg->file[i].path, buf_slice(&b)))
			r = package_data(s->pkg, i, data, s->err) < 0 ? -1 : 1;
	return r;
}

static struct tensor_file *shelf_tensors(struct shelf *s, struct slice bytes, struct slice name, bool alone)
{
	FREED char *shown = xasprintf("%.*s", SLN(name, 200));
	return add_file(s->w, tensor_file_some(bytes, shown, s->err), alone, s->err);
}

/* [16, 8], or [{"as_int": 16}, {"as_int": 8}]. -1: neither. */
static int64_t one_number(const struct json_tape *t, uint32_t k)
{
	int64_t n;
	const uint32_t wrapped = json_get(t, k, "as_int");
	return json_i64(t, wrapped == NONE ? k : wrapped, &n) && n >= 0 ? n : -1;
}

static int read_numbers(const struct json_tape *t, uint32_t list, int64_t *v)
{
	int n = 0;
	json_each(t, list, k)
		if (n == TENSOR_MAX_DIMS || (v[n++] = one_number(t, k)) < 0)
			return -1;
	return json_is(t, list, JSON_ARRAY) ? n : -1;
}

/* The layout of a weight in its storage. */
struct place {
	uint32_t sizes, strides, offset; /* tokens */
};

static int add_placed(struct shelf *s, struct slice name, int dtype, struct place p, struct slice storage)
{
	struct tensor_meta m = {.dtype = dtype, .device_index = -1};
	const struct dtype_info *d = dtype_info(dtype);
	int64_t bytes, from = one_number(&s->t, p.offset);
	m.n_dim = read_numbers(&s->t, p.sizes, m.size);
	if (!d || m.n_dim < 0 || read_numbers(&s->t, p.strides, m.stride) != m.n_dim || from < 0 || !tensor_extent(&m, &bytes) ||
	    __builtin_mul_overflow(from, d->bytes, &from) || (uint64_t)from > storage.n || (uint64_t)bytes > storage.n - (uint64_t)from)
		return err_set(s->err, EXIT_INPUT, "'%s': weight '%.*s' is outside its file: the package is damaged", s->w->path,
			       SLN(name, 200));
	add_view(s->w, name, &m, storage.p + from);
	return 0;
}

/* The file given in a config. */
static int named_file(struct shelf *s, const char *folder, uint32_t file, struct slice name, struct slice *data)
{
	int r = 0;
	if (json_is(&s->t, file, JSON_STRING))
		r = shelf_file(s, folder, json_slice(&s->t, file), "", data);
	if (!r)
		return err_set(s->err, EXIT_INPUT, "'%s': the file of weight '%.*s' is missing: the package is damaged", s->w->path,
			       SLN(name, 200));
	return r < 0 ? -1 : 0;
}

/* A tensor subclass: "fc.weight.qdata", "fc.weight.scale". */
static int add_parts(struct shelf *s, struct slice name, struct tensor_file *f)
{
	PUSH_TO(s->w->file, s->w->n_file, s->w->cap_file) = f;
	for (size_t i = 0; i < f->n; i++) {
		struct slice data;
		LOCAL_BUF b = {0};
		if (tensor_data(f, i, &data, s->err) < 0)
			return -1;
		buf_addf(&b, "%.*s.%.*s", SL(name), SL(f->v[i].name));
		add_view(s->w, arena_slice(&s->w->arena, buf_slice(&b)), &f->v[i].meta, data.p);
	}
	return 0;
}

/* {"path_name": "weight_0", "use_pickle": false, "tensor_meta": {...}} */
static int add_exported(struct shelf *s, const char *folder, uint32_t key)
{
	const struct json_tape *t = &s->t;
	const uint32_t meta = json_get_as(t, key + 1, "tensor_meta", JSON_OBJECT);
	struct slice name = json_dup_at(&s->t, key, &s->w->arena), data;
	if (meta == NONE)
		return 0; /* an object of a class: not a weight */
	if (named_file(s, folder, json_get(t, key + 1, "path_name"), name, &data) < 0)
		return -1;
	if (json_flag(t, key + 1, "use_pickle")) {
		struct tensor_file *f = tensor_file_bytes(data, "", s->err);
		if (f && f->top == TENSOR_TOP_MAPPING && f->n)
			return add_parts(s, name, f);
		tensor_file_close(f);
		f = shelf_tensors(s, data, name, true);
		if (!f || tensor_data(f, 0, &data, s->err) < 0)
			return -1;
		add_view(s->w, name, &f->v[0].meta, data.p);
		return 0;
	}
	return add_placed(s, name, exported_dtype(json_int(t, meta, "dtype", -1)),
			  (struct place){json_get(t, meta, "sizes"), json_get(t, meta, "strides"), json_get(t, meta, "storage_offset")},
			  data);
}

/* ["weight_0", [16, 8], [8, 1], 0] */
static int add_packaged(struct shelf *s, const char *folder, uint32_t key)
{
	const struct json_tape *t = &s->t;
	uint32_t part[4], n = 0;
	struct slice name = json_dup_at(&s->t, key, &s->w->arena), data;
	if (json_is(t, key + 1, JSON_ARRAY))
		for (uint32_t k = json_first(t, key + 1); k < json_end(t, key + 1) && n < 4; k = json_next(t, k))
			part[n++] = k;
	if (named_file(s, folder, n == 4 ? part[0] : NONE, name, &data) < 0)
		return -1;
	struct tensor_file *f = shelf_tensors(s, data, name, true);
	if (!f || tensor_data(f, 0, &data, s->err) < 0)
		return -1;
	return add_placed(s, name, f->v[0].meta.dtype, (struct place){part[1], part[2], part[3]}, data);
}

/* Each member of an object of the config. member NULL: the config itself. */
static int read_config(struct shelf *s, struct slice text, const char *member, const char *folder,
		       int (*add)(struct shelf *s, const char *folder, uint32_t key))
{
	uint32_t root;
	json_tape_text(&s->t, text.p, text.n);
	if (json_parse(&s->t, 0, text.n, &root) < 0)
		return err_set(s->err, EXIT_INPUT, "'%s': its list of weights is not valid JSON: %s at byte %zu", s->w->path, s->t.error,
			       s->t.error_at);
	if (member)
		root = json_get(&s->t, root, member);
	if (!json_is(&s->t, root, JSON_OBJECT))
		return err_set(s->err, EXIT_INPUT, "'%s': its list of weights has an unknown form", s->w->path);
	json_each_pair(&s->t, root, k)
		if (add(s, folder, k) < 0)
			return -1;
	return 0;
}

/* The folder before "models/NAME.json", "data/aotinductor/MODEL/FILE"; the last of several such directories. */
static struct slice root_of(struct slice path, const char *folder)
{
	struct slice rest = path, root = {path.p, 0};
	for (const char *p; (p = slice_find(rest, folder)); rest = slice_of(p + 1, (size_t)(path.p + path.n - p - 1)))
		root.n = (size_t)(p - path.p);
	return root;
}

/* Before 2.8, and executorch's exir.save: two state dicts beside the program. */
static int read_flat(struct shelf *s, struct slice root)
{
	static const char *const name[] = {"serialized_state_dict", "serialized_constants"};
	int r = 0;
	s->root = root;
	for (size_t i = 0; i < ARRAY_LEN(name) && r >= 0; i++) {
		struct slice data;
		if ((r = shelf_file(s, "", slice_str(name[i]), ".pt", &data)) > 0 && !shelf_tensors(s, data, slice_str(name[i]), false))
			r = -1;
	}
	return r < 0 ? -1 : 0;
}

static int read_exported(struct weights *w, struct err *err)
{
	static const struct {
		const char *folder, *config;
	} kind[] = {{"data/weights/", "_weights_config.json"}, {"data/constants/", "_constants_config.json"}};
	struct shelf s = {.w = w, .pkg = &w->own, .err = err};
	const struct package_file *program = &w->own.file[w->own.exported[0]];
	if (w->own.n_exported > 1)
		return err_set(err, EXIT_INPUT, "'%s' contains several exported programs: pass a file with one", w->path);
	if (slice_is(program->name, "serialized_exported_program.json"))
		return read_flat(&s, slice_of(program->path.p, program->path.n - program->name.n));
	s.root = root_of(program->path, "models/");
	s.name = slice_of(program->name.p, program->name.n - strlen(".json"));
	int r = 0;
	for (size_t i = 0; i < ARRAY_LEN(kind) && r >= 0; i++) {
		struct slice data;
		if ((r = shelf_file(&s, kind[i].folder, s.name, kind[i].config, &data)) > 0)
			r = read_config(&s, data, "config", kind[i].folder, add_exported);
		else if (!r && (r = shelf_file(&s, kind[i].folder, s.name, ".pt", &data)) > 0 && !shelf_tensors(&s, data, s.name, false))
			r = -1;
	}
	json_tape_release(&s.t);
	return r < 0 ? -1 : 0;
}

/* ---- the three ---- */

int weights_open(struct weights *w, const char *path, struct err *err)
{
	struct err other;
	*w = (struct weights){.path = path, .own.map.fd = -1};
	struct tensor_file *f = tensor_file_open(path, err);
	int r = f && add_file(w, f, false, err) ? 0 : -1;
	if (!f && package_open_exported(&w->own, path, &other) == 0)
		r = read_exported(w, err);
	else if (!f && slice_ends(slice_str(path), ".pt2"))
		*err = other;
	if (r < 0)
		weights_close(w);
	return r;
}

int weights_of_package(struct weights *w, struct package *pkg, const struct package_model *m, struct err *err)
{
	struct shelf s = {.w = w, .pkg = pkg, .err = err};
	struct slice text;
	*w = (struct weights){.path = pkg->path, .own.map.fd = -1};
	for (uint32_t i = 0; i < m->n_file; i++) {
		const struct package_file *f = &pkg->file[m->file[i]];
		if (!slice_is(f->name, "weights_config.json"))
			continue;
		s.root = root_of(f->path, "data/aotinductor/");
		int r = package_data(pkg, m->file[i], &text, err) < 0 ? -1 : read_config(&s, text, NULL, "data/weights/", add_packaged);
		json_tape_release(&s.t);
		if (r < 0)
			weights_close(w);
		return r < 0 ? -1 : 1;
	}
	return 0;
}

void weights_behind(struct weights *w, const struct weights *other)
{
	OWNED(intern_release) struct intern names = {0};
	for (size_t i = 0; i < w->n; i++)
		intern_add(&names, w->v[i].name);
	for (size_t i = 0; i < other->n; i++)
		if (intern_find(&names, other->v[i].name) == NONE) {
			add_view(w, other->v[i].name, &other->v[i].meta, other->v[i].data);
			w->n_behind++;
		}
}

void weights_close(struct weights *w)
{
	for (size_t i = 0; i < w->n_file; i++)
		tensor_file_close(w->file[i]);
	if (w->own.path)
		package_close(&w->own);
	free(w->file);
	free(w->v);
	arena_release(&w->arena);
	*w = (struct weights){.own.map.fd = -1};
}
