#include "model/package/package.h"

#include <sys/stat.h>
#include <unistd.h>

#include "model/elf/modelso.h"
#include "model/package/package_part.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "base/io/write.h"

/* ---- names ---- */

static bool package_is_library(struct slice name)
{
	return slice_ends(name, ".so") || slice_ends(name, ".pyd") || slice_ends(name, ".dll") || slice_ends(name, ".dylib");
}

/* The file's name without the parts that give its kind: HASH of HASH.wrapper.so, HASH.so, HASH.wrapper_metadata.json. */
static struct slice package_stem(struct slice name)
{
	static const char *const ends[] = {".wrapper.so", ".wrapper.pyd", ".wrapper.dll", ".so", ".pyd", ".dll", ".dylib"};
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (slice_ends(name, ends[i]) && name.n > strlen(ends[i]))
			return slice_of(name.p, name.n - strlen(ends[i]));
	return name;
}

/* ---- files ---- */

/* Purposes of files, by the end of their names. The first match counts; of two files for one purpose, the one with the earlier entry is
 * used, if equal the first file. */
struct role {
	const char *end;
	size_t member;
};
#define ROLE(end, member) \
	{ \
		end, offsetof(struct package_model, member) \
	}
static const struct role roles[] = {
    ROLE(".wrapper.so", so),
    ROLE(".wrapper.pyd", so),
    ROLE(".wrapper.dll", so),
    ROLE(".so", so),
    ROLE(".pyd", so),
    ROLE(".dll", so),
    ROLE(".dylib", so),
    ROLE(".wrapper.cpp", wrapper_cpp),
    ROLE(".kernel.cpp", kernel_cpp),
    ROLE(".cpp", wrapper_cpp),
    ROLE(".wrapper_metadata.json", metadata),
    ROLE("_metadata.json", metadata),
    ROLE("_weights.blob", weights_blob),
    ROLE("kernel_information.json", kernel_information),
    ROLE("custom_objs_config.json", custom_objs),
    ROLE("extern_nodes.json", extern_nodes),
    ROLE(".wrapper.json", extern_nodes),
};

static size_t role_of(struct slice name)
{
	size_t i = 0;
	while (i < ARRAY_LEN(roles) && !slice_ends(name, roles[i].end))
		i++;
	return i;
}

static bool gpu_code(struct slice name)
{
	return slice_ends(name, ".cubin") || slice_ends(name, ".spv") || slice_ends(name, ".hsaco") || slice_ends(name, ".fatbin");
}

static void take_member(struct package *pkg, struct package_model *m, uint32_t file)
{
	struct slice name = pkg->file[file].name;
	size_t role = role_of(name);
	if (role < ARRAY_LEN(roles)) {
		uint32_t *to = (uint32_t *)((char *)m + roles[role].member);
		if (!*to || role < role_of(pkg->file[*to].name))
			*to = file;
	}
	if (gpu_code(name))
		PUSH_TO(m->cubin, m->n_cubin, m->cap_cubin) = file;
	PUSH_TO(m->file, m->n_file, m->cap_file) = file;
}

/* torch 2.5 to 2.7 call the extern nodes HASH.json; only the library's own stem distinguishes them from other JSON. */
static void old_extern_nodes(struct package *pkg, struct package_model *m)
{
	struct slice stem = package_stem(pkg->file[m->so].name);
	for (uint32_t i = 0; m->so && !m->extern_nodes && i < m->n_file; i++) {
		struct slice name = pkg->file[m->file[i]].name;
		if (name.n == stem.n + 5 && slice_ends(name, ".json") && slice_eq(slice_of(name.p, stem.n), stem))
			m->extern_nodes = m->file[i];
	}
}

static struct package_model *new_model(struct package *pkg, struct slice name)
{
	struct package_model *m = &PUSH_TO(pkg->model, pkg->n, pkg->cap);
	*m = (struct package_model){.name = name};
	return m;
}

/* ---- ROOT/data/aotinductor/MODEL/FILE, in a zip or a directory ---- */

/* The model's name is everything between; the last such directory counts, since a package may be unpacked below another. */
static bool model_of(struct slice path, struct slice *model, struct slice *folder)
{
	static const char dir[] = "data/aotinductor/";
	struct slice rest = path, base = slice_base(path);
	const char *at = NULL;
	for (const char *p; (p = slice_find(rest, dir)); rest = slice_of(p + 1, (size_t)(path.p + path.n - p - 1)))
		if (p == path.p || p[-1] == '/')
			at = p + sizeof(dir) - 1;
	if (!at || !base.n || base.p - 1 <= at)
		return false;
	*model = slice_of(at, (size_t)(base.p - 1 - at));
	*folder = slice_of(path.p, (size_t)(base.p - 1 - path.p));
	return true;
}

static bool exported_program(struct slice path)
{
	const char *p = slice_find(path, "models/");
	return slice_is(slice_base(path), "serialized_exported_program.json") ||
	       (p && (p == path.p || p[-1] == '/') && slice_ends(path, ".json") && !memchr(p + 7, '/', (size_t)(path.p + path.n - p) - 7));
}

/* Several packages unpacked below one directory each have a "model"; they are named a/model, b/model. */
static void name_apart(struct package *pkg, const struct slice *folder)
{
	static const char dir[] = "data/aotinductor/";
	OWNED(intern_release) struct intern names = {0};
	FREED uint32_t *times = xcalloc(pkg->n, sizeof(*times));
	for (size_t i = 0; i < pkg->n; i++)
		times[intern_add(&names, pkg->model[i].name)]++;
	for (size_t i = 0; i < pkg->n; i++) {
		struct slice root = folder[i], name = pkg->model[i].name;
		size_t top = strlen(pkg->path), all = name.n + sizeof(dir) - 1;
		if (times[intern_find(&names, name)] < 2 || root.n <= all)
			continue;
		root.n -= all;
		if (pkg->kind == PACKAGE_DIR && root.n > top && slice_starts(root, pkg->path))
			root = slice_of(root.p + top, root.n - top);
		while (root.n && root.p[0] == '/')
			root.p++, root.n--;
		pkg->model[i].name = arena_textf(&pkg->arena, "%.*s%.*s", SL(root), SL(name));
	}
}

static void find_models(struct package *pkg)
{
	OWNED(intern_release) struct intern folders = {0};
	for (uint32_t i = 1; i < pkg->n_file; i++) {
		struct slice path = pkg->file[i].path, name, folder;
		if (model_of(path, &name, &folder)) {
			uint32_t k = intern_add(&folders, folder);
			if (k == pkg->n)
				new_model(pkg, name);
			take_member(pkg, &pkg->model[k], i);
		} else if (exported_program(path)) {
			PUSH_TO(pkg->exported, pkg->n_exported, pkg->cap_exported) = i;
		}
	}
	name_apart(pkg, folders.item);
	size_t n = 0; /* a packed directory without any model files is not a model */
	for (size_t i = 0; i < pkg->n; i++) {
		struct package_model *m = &pkg->model[i];
		old_extern_nodes(pkg, m);
		if (m->so || m->wrapper_cpp) {
			pkg->model[n++] = *m;
		} else {
			free(m->file);
			free(m->cubin);
		}
	}
	pkg->n = n;
}

/* ---- flat files next to a library ---- */

/* Part of the model whose library has this stem: HASH.wrapper.cpp, HASH_metadata.json, but not HASH2.so. */
static bool same_stem(struct slice name, struct slice stem)
{
	return name.n > stem.n && slice_eq(slice_of(name.p, stem.n), stem) && (name.p[stem.n] == '.' || name.p[stem.n] == '_');
}

/* Names used only by Inductor. A lone a.cpp next to a library need not be its text. */
static bool inductor_name(struct slice name)
{
	static const char *const ends[] = {".wrapper.cpp", ".kernel.cpp", "_metadata.json", "_weights.blob", ".wrapper.json"};
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (slice_ends(name, ends[i]))
			return true;
	return gpu_code(name) || slice_is(name, "kernel_information.json") || slice_is(name, "custom_objs_config.json") ||
	       slice_is(name, "extern_nodes.json");
}

static void count_flat(const struct package *pkg, unsigned *libraries, unsigned *wrappers)
{
	*libraries = *wrappers = 0;
	for (uint32_t i = 1; i < pkg->n_file; i++) {
		*libraries += package_is_library(pkg->file[i].name);
		*wrappers += slice_ends(pkg->file[i].name, ".wrapper.cpp");
	}
}

static void flat_model(struct package *pkg, uint32_t so, bool alone)
{
	struct slice stem = package_stem(pkg->file[so].name);
	struct package_model *m = new_model(pkg, stem);
	take_member(pkg, m, so);
	for (uint32_t i = 1; i < pkg->n_file; i++)
		if (i != so && !package_is_library(pkg->file[i].name) && same_stem(pkg->file[i].name, stem))
			take_member(pkg, m, i);
	for (uint32_t i = 1; alone && i < pkg->n_file; i++)
		if (i != so && !same_stem(pkg->file[i].name, stem) && inductor_name(pkg->file[i].name))
			take_member(pkg, m, i);
	old_extern_nodes(pkg, m);
}

static int open_flat(struct package *pkg, struct err *err)
{
	unsigned libraries, wrappers;
	bool named = false;
	count_flat(pkg, &libraries, &wrappers);
	for (uint32_t i = 1; i < pkg->n_file; i++)
		named = named || slice_ends(pkg->file[i].name, ".wrapper.so");
	for (uint32_t i = 1; i < pkg->n_file && pkg->n < 4096; i++)
		if (package_is_library(pkg->file[i].name) && (!named || slice_find(pkg->file[i].name, ".wrapper.")))
			flat_model(pkg, i, libraries == 1 && wrappers <= 1);
	if (!pkg->n)
		return err_set(err, EXIT_INPUT,
			       "'%s' contains no compiled model: neither data/aotinductor/ below it nor "
			       "a .so in it",
			       pkg->path);
	return 0;
}

/* ---- the three kinds ---- */

static int open_dir(struct package *pkg, bool exported, struct err *err)
{
	pkg->kind = PACKAGE_DIR;
	if (package_list(pkg, pkg->path, 8, err) < 0)
		return -1;
	find_models(pkg);
	if (pkg->n || (exported && pkg->n_exported))
		return 0;
	if (pkg->n_exported)
		return err_set(err, EXIT_INPUT,
			       "'%s' is an exported program, not compiled: compile it with "
			       "torch._inductor.aoti_compile_and_package(torch.export.load(...))",
			       pkg->path);
	pkg->n_file = 1;
	return package_list(pkg, pkg->path, 1, err) < 0 ? -1 : open_flat(pkg, err);
}

static int open_so(struct package *pkg, struct err *err)
{
	struct slice path = slice_str(pkg->path), base = slice_base(path), dir = {path.p, path.n - base.n};
	pkg->kind = PACKAGE_SO;
	const char *folder = dir.n ? arena_strndup(&pkg->arena, dir.p, dir.n) : ".";
	uint32_t so = 0;
	unsigned libraries, wrappers;
	/* A directory that cannot be listed counts as having no other files; the library itself is already open. */
	if (package_list(pkg, folder, 1, err) < 0)
		pkg->n_file = 1;
	for (uint32_t i = 1; i < pkg->n_file; i++)
		if (slice_eq(pkg->file[i].name, base))
			so = i;
	if (!so)
		so = package_add_file(pkg, path, 0, NULL);
	pkg->file[so].path = path;
	pkg->file[so].size = pkg->map.bytes.n;
	pkg->file[so].map = &pkg->map;
	count_flat(pkg, &libraries, &wrappers);
	flat_model(pkg, so, libraries <= 1 && wrappers <= 1);
	pkg->model[0].so = so; /* whatever its name is */
	return 0;
}

static int open_zip(struct package *pkg, bool exported, struct err *err)
{
	pkg->kind = PACKAGE_PT2;
	if (zip_open(&pkg->zip, pkg->map.bytes, pkg->path, err) < 0)
		return -1;
	for (size_t i = 0; i < pkg->zip.n && pkg->n_file < PACKAGE_MAX_FILES; i++)
		if (pkg->zip.v[i].name.n && !slice_ends(pkg->zip.v[i].name, "/"))
			package_add_file(pkg, pkg->zip.v[i].name, pkg->zip.v[i].size, &pkg->zip.v[i]);
	find_models(pkg);
	if (!pkg->n && !(exported && pkg->n_exported)) {
		package_not(pkg, pkg->map.bytes, err);
		return -1;
	}
	return 0;
}

/* exported: a file with an exported program and no compiled model is accepted. */
static int open_path(struct package *pkg, const char *path, bool exported, struct err *err)
{
	struct stat st;
	*pkg = (struct package){.map = {.fd = -1}};
	pkg->path = arena_strndup(&pkg->arena, path, strlen(path));
	package_add_file(pkg, SLICE(""), 0, NULL);
	int r = -1;
	if (strcmp(path, "-") && stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		r = open_dir(pkg, exported, err);
	} else if (mapfile_open(&pkg->map, path, err) == 0) {
		bool elf;
		modelso_what(pkg->map.bytes, &elf);
		if (elf)
			r = open_so(pkg, err);
		else if (zip_like(pkg->map.bytes))
			r = open_zip(pkg, exported, err);
		else
			package_not(pkg, pkg->map.bytes, err);
	}
	if (r < 0)
		package_close(pkg);
	return r;
}

int package_open(struct package *pkg, const char *path, struct err *err) { return open_path(pkg, path, false, err); }

int package_open_exported(struct package *pkg, const char *path, struct err *err)
{
	if (open_path(pkg, path, true, err) < 0)
		return -1;
	if (pkg->n_exported)
		return 0;
	package_close(pkg);
	return err_set(err, EXIT_INPUT, "'%s' contains no exported program: pass a file saved by torch.export.save", path);
}

void package_close(struct package *pkg)
{
	for (uint32_t i = 0; i < pkg->n_file; i++)
		if (pkg->file[i].map && pkg->file[i].map != &pkg->map) {
			mapfile_close(pkg->file[i].map);
			free(pkg->file[i].map);
		}
	for (size_t i = 0; i < pkg->n; i++) {
		free(pkg->model[i].cubin);
		free(pkg->model[i].file);
	}
	if (pkg->kind == PACKAGE_PT2)
		zip_close(&pkg->zip);
	mapfile_close(&pkg->map);
	free(pkg->model);
	free(pkg->file);
	free(pkg->exported);
	arena_release(&pkg->arena);
	*pkg = (struct package){.map = {.fd = -1}};
}

static void list_names(const struct package *pkg, struct buf *b)
{
	for (size_t i = 0; i < pkg->n && b->len < 600; i++)
		buf_addf(b, "%s%.*s", i ? ", " : "", SLN(pkg->model[i].name, 100));
}

struct package_model *package_model(struct package *pkg, const char *name, struct err *err)
{
	LOCAL_BUF b = {0};
	if (!name && pkg->n == 1)
		return &pkg->model[0];
	for (size_t i = 0; name && i < pkg->n; i++)
		if (slice_is(pkg->model[i].name, name))
			return &pkg->model[i];
	list_names(pkg, &b);
	if (name)
		err_set(err, EXIT_USAGE, "'%s' has no model '%.100s', but: %s", pkg->path, name, buf_str(&b));
	else
		err_set(err, EXIT_USAGE, "'%s' contains %zu models, choose one with --model: %s", pkg->path, pkg->n, buf_str(&b));
	return NULL;
}

static bool is_text(struct slice name)
{
	static const char *const ends[] = {".cpp", ".json", ".py", ".txt", ".h"};
	bool text = false;
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		text |= slice_ends(name, ends[i]);
	return text;
}

int package_data(struct package *pkg, uint32_t file, struct slice *data, struct err *err)
{
	*data = (struct slice){"", 0};
	if (!file || file >= pkg->n_file)
		return err_set(err, EXIT_INPUT, "'%s': no such file in the package", pkg->path);
	struct package_file *f = &pkg->file[file];
	if (f->member)
		return (is_text(f->name) ? zip_text : zip_data)(&pkg->zip, f->member, data, err);
	if (!f->map) {
		struct mapfile *map = xcalloc(1, sizeof(*map));
		FREED char *path = xstrndup(f->path.p, f->path.n);
		int r = mapfile_open(map, path, err);
		if (r < 0) {
			free(map);
			return -1;
		}
		f->map = map;
	}
	*data = f->map->bytes;
	return 0;
}

int package_copy(struct package *pkg, uint32_t file, int fd, const char *what, struct err *err)
{
	struct slice data;
	if (file && file < pkg->n_file && pkg->file[file].member && !is_text(pkg->file[file].name))
		return zip_copy(&pkg->zip, pkg->file[file].member, fd, what, err);
	return package_data(pkg, file, &data, err) < 0 ? -1 : write_all(fd, data.p, data.n, what, err);
}

/* ---- metadata ---- */

int package_metadata(struct package *pkg, const struct package_model *m, struct package_metadata *md, struct err *err)
{
	struct slice data;
	OWNED(json_tape_release) struct json_tape t = {0};
	uint32_t root;
	*md = (struct package_metadata){SLICE(""), SLICE(""), SLICE(""), SLICE(""), SLICE("")};
	if (!m->metadata)
		return 0;
	if (package_data(pkg, m->metadata, &data, err) < 0)
		return -1;
	struct slice name = pkg->file[m->metadata].name;
	json_tape_text(&t, data.p, data.n < UINT32_MAX ? data.n : 0);
	int r = json_parse(&t, 0, data.n < UINT32_MAX ? data.n : 0, &root);
	if (r < 0) {
		err_set(err, EXIT_INPUT, "'%s': %.*s is not valid JSON: %s at byte %zu", pkg->path, SLN(name, 200), t.error, t.error_at);
	} else {
		md->device = json_dup(&t, root, "AOTI_DEVICE_KEY", &pkg->arena);
		md->platform = json_dup(&t, root, "AOTI_PLATFORM", &pkg->arena);
		md->machine = json_dup(&t, root, "AOTI_MACHINE", &pkg->arena);
		md->cpu_isa = json_dup(&t, root, "AOTI_CPU_ISA", &pkg->arena);
		md->compute_capability = json_dup(&t, root, "AOTI_COMPUTE_CAPABILITY", &pkg->arena);
	}
	return r;
}
