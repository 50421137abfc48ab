/* Bundles: read, checked, unpacked. */
#include "base/process/elsewhere.h"
#include "run/bundle/bundle_part.h"
#include "tensor/tensor.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- names ---- */

/* Relative, inside its folder; components are not dots and contain nothing that drives a terminal or means something in another system's
 * paths. */
static const char *name_fault(struct slice name, enum bundle_kind kind)
{
	const char *folder = bundle_kind_folder[kind];
	size_t part = 0;
	if (!name.n || name.n > BUNDLE_MAX_NAME)
		return "has a name that is empty or too long";
	if (name.p[0] == '/')
		return "has an absolute name";
	if (!utf8_valid(name))
		return "has a name that is not text";
	for (size_t i = 0; i <= name.n; i++) {
		if (i < name.n && (name.p[i] == '\\' || name.p[i] == ':' || text_drives(name.p + i, name.n - i)))
			return "has a name with invalid characters";
		if (i < name.n && name.p[i] != '/')
			continue;
		if (i == part || name.p[part] == '.')
			return "has a name that leads out of its folder, or is hidden";
		part = i + 1;
	}
	if (!slice_starts(name, folder) || name.n == strlen(folder) || (!*folder && slice_chr(name, '/')))
		return "is not where files of its kind belong";
	if (slice_is(name, BUNDLE_MANIFEST))
		return "has the manifest's name";
	if ((kind == BUNDLE_PROGRAM || kind == BUNDLE_SOURCE) && !slice_ends(name, ".py"))
		return "is a program but not a .py file";
	return NULL;
}

bool bundle_env_known(struct slice name)
{
	static const char *const start[] = {"TORCH", "PYTORCH_", "INDUCTOR_", "AOT_", "AOTI", "TRITON_"};
	static const char *const whole[] = {"OMP_NUM_THREADS", "MKL_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "CUDA_LAUNCH_BLOCKING"};
	bool known = slice_any(name, start, slice_starts);
	for (size_t i = 0; i < name.n; i++)
		known &= is_name_char(name.p[i]);
	return known || slice_any(name, whole, slice_is);
}

/* ---- the manifest ---- */

struct reading {
	struct json_tape t;
	struct bundle *b;
	const char *path;
	struct err *err;
	struct intern names;
};

static int bad_bundle(const struct reading *r, const char *what) { return err_set(r->err, EXIT_INPUT, "'%s': %s", r->path, what); }

static int bad_file(const struct reading *r, struct slice name, const char *what)
{
	return err_set(r->err, EXIT_INPUT, "'%s': member '%.*s' %s", r->path, SLN(name, 200), what);
}

static int take_file(struct reading *r, uint32_t k)
{
	struct bundle_file *f = &r->b->file[r->b->n];
	struct slice kind = json_word(&r->t, k, "kind");
	*f = (struct bundle_file){.name = json_dup(&r->t, k, "name", &r->b->arena),
				  .about = json_dup(&r->t, k, "about", &r->b->arena),
				  .made_up = json_flag(&r->t, k, "made_up"),
				  .bytes = json_count(&r->t, k, "bytes", UINT64_MAX),
				  .kind = BUNDLE_N_KINDS};
	for (int i = 0; i < BUNDLE_N_KINDS; i++)
		if (slice_is(kind, bundle_kind_name[i]))
			f->kind = (enum bundle_kind)i;
	if (f->kind == BUNDLE_N_KINDS)
		return bad_file(r, f->name, "is of an unknown kind: was the bundle made by a newer release?");
	const char *fault = name_fault(f->name, f->kind);
	if (fault)
		return bad_file(r, f->name, fault);
	const uint32_t before = r->names.n;
	if (intern_add(&r->names, f->name) < before)
		return bad_file(r, f->name, "is in the manifest twice");
	if (f->kind == BUNDLE_PROGRAM && bundle_find(r->b, BUNDLE_PROGRAM))
		return bad_file(r, f->name, "is a second program; there can be only one");
	r->b->n++;
	return 0;
}

static void take_findings(struct reading *r, uint32_t list)
{
	struct bundle_about *a = &r->b->about;
	struct arena *arena = &r->b->arena;
	struct bundle_finding *f = arena_alloc(arena, (json_length(&r->t, list) + 1) * sizeof(*f));
	a->finding = f;
	json_each(&r->t, list, k)
		f[a->n_finding++] = (struct bundle_finding){.kind = json_dup(&r->t, k, "kind", arena),
							    .id = json_dup(&r->t, k, "id", arena),
							    .level = json_dup(&r->t, k, "level", arena),
							    .title = json_dup(&r->t, k, "title", arena),
							    .key = json_dup(&r->t, k, "key", arena)};
}

static int take_environment(struct reading *r, uint32_t list)
{
	struct bundle_about *a = &r->b->about;
	struct bundle_env *e = arena_alloc(&r->b->arena, (json_length(&r->t, list) + 1) * sizeof(*e));
	a->env = e;
	json_each(&r->t, list, k) {
		struct bundle_env one = {json_dup(&r->t, k, "name", &r->b->arena), json_dup(&r->t, k, "value", &r->b->arena)};
		if (!bundle_env_known(one.name) || slice_chr(one.value, 0))
			return err_set(r->err, EXIT_INPUT, "'%s': sets the variable '%.*s', which is not one of torch's", r->path,
				       SLN(one.name, 100));
		e[a->n_env++] = one;
	}
	return 0;
}

static int take_manifest(struct reading *r, struct slice text)
{
	uint32_t root;
	struct bundle *b = r->b;
	struct bundle_about *a = &b->about;
	if (text.n > BUNDLE_MAX_MANIFEST)
		return bad_bundle(r, "its manifest is too long");
	json_tape_text(&r->t, text.p, text.n);
	if (json_parse(&r->t, 0, text.n, &root) < 0 || !json_is(&r->t, root, JSON_OBJECT))
		return bad_bundle(r, "its manifest is not a JSON object");
	struct slice schema = json_word(&r->t, root, "schema");
	if (!slice_is(schema, BUNDLE_SCHEMA))
		return err_set(r->err, EXIT_INPUT, "'%s': the schema of its manifest is '%.*s', not %s", r->path, SLN(schema, 60),
			       BUNDLE_SCHEMA);
	uint32_t files = json_get_as(&r->t, root, "files", JSON_ARRAY), arguments;
	if (files == NONE || json_length(&r->t, files) > BUNDLE_MAX_FILES)
		return bad_bundle(r, "the list of files in its manifest is missing or too long");
	a->generator = json_dup(&r->t, root, "generator", &b->arena);
	a->torch = json_dup(&r->t, root, "torch", &b->arena);
	a->python = json_dup(&r->t, root, "python", &b->arena);
	a->cuda = json_dup(&r->t, root, "cuda", &b->arena);
	a->component = json_dup(&r->t, root, "component", &b->arena);
	a->title = json_dup(&r->t, root, "title", &b->arena);
	a->redacted = json_flag(&r->t, root, "redacted");
	int64_t status = json_int(&r->t, root, "status", INT64_MAX);
	a->has_status = status > -256 && status < 256;
	a->status = a->has_status ? (int)status : 0;
	a->argument = json_dup_list(&r->t, json_get_as(&r->t, root, "arguments", JSON_ARRAY), 4096, &arguments, &b->arena);
	a->n_argument = arguments;
	for (size_t i = 0; i < a->n_argument; i++)
		if (slice_chr(a->argument[i], 0))
			return bad_bundle(r, "an argument of its program contains a zero byte");
	take_findings(r, json_get_as(&r->t, root, "findings", JSON_ARRAY));
	if (take_environment(r, json_get_as(&r->t, root, "environment", JSON_ARRAY)) < 0)
		return -1;
	b->file = arena_alloc(&b->arena, (json_length(&r->t, files) + 1) * sizeof(*b->file));
	json_each(&r->t, files, k)
		if (take_file(r, k) < 0)
			return -1;
	return 0;
}

int bundle_read(struct bundle *b, struct slice manifest, const char *what, struct err *err)
{
	struct reading r = {.b = b, .path = what, .err = err};
	int status = take_manifest(&r, manifest);
	json_tape_release(&r.t);
	intern_release(&r.names);
	return status;
}

/* ---- the members ---- */

static int check_member(struct bundle *b, struct zip_member *m, uint64_t *inflated, struct err *err)
{
	struct reading r = {.b = b, .path = b->zip.path, .err = err};
	if (slice_ends(m->name, "/") && !m->size) /* a directory entry, as other programs write it: ignored */
		return 0;
	if (m->mode && (m->mode & S_IFMT) && !S_ISREG(m->mode))
		return bad_file(&r, m->name, S_ISLNK(m->mode) ? "is a symbolic link" : "is not a regular file");
	if (m->flags & 1)
		return bad_file(&r, m->name, "is encrypted");
	if (zip_find(&b->zip, m->name) != m)
		return bad_file(&r, m->name, "occurs twice");
	if (m->method)
		*inflated += m->size;
	if (*inflated > BUNDLE_MAX_INFLATED || m->size > BUNDLE_MAX_INFLATED * 64)
		return bad_file(&r, m->name, "and those before it decompress to more than a bundle may hold: a zip bomb?");
	if (slice_is(m->name, BUNDLE_MANIFEST))
		return 0;
	for (size_t i = 0; i < b->n; i++)
		if (slice_eq(b->file[i].name, m->name))
			return b->file[i].bytes == m->size ? 0 : bad_file(&r, m->name, "does not have the size given in the manifest");
	return bad_file(&r, m->name, "is not in the manifest");
}

static bool holds_tensors(enum bundle_kind kind, struct slice name)
{
	return kind == BUNDLE_INPUTS || kind == BUNDLE_DATA ||
	       (kind == BUNDLE_RUN && (slice_ends(name, ".npy") || slice_ends(name, ".safetensors")));
}

/* Checks that they are tensors and nothing else: whoever uses them next (torch.load) may be less careful. */
static int check_tensors(struct bundle *b, const struct bundle_file *f, struct err *err)
{
	struct slice data;
	FREED char *shown = xasprintf("%s: %.*s", b->zip.path, SL(f->name));
	int r = zip_data(&b->zip, zip_find(&b->zip, f->name), &data, err);
	if (!r) {
		struct tensor_file *t = tensor_file_bytes(data, shown, err);
		r = t ? 0 : -1;
		if (t)
			tensor_file_close(t);
	}
	return r;
}

static int check_members(struct bundle *b, struct err *err)
{
	uint64_t inflated = 0;
	if (b->zip.n > BUNDLE_MAX_FILES + 1)
		return err_set(err, EXIT_INPUT, "'%s' has %zu members, more than a bundle may have", b->zip.path, b->zip.n);
	for (size_t i = 0; i < b->zip.n; i++)
		if (check_member(b, &b->zip.v[i], &inflated, err) < 0)
			return -1;
	for (size_t i = 0; i < b->n; i++) {
		if (!zip_find(&b->zip, b->file[i].name))
			return err_set(err, EXIT_INPUT, "'%s': member '%.*s' is in the manifest but not in the bundle", b->zip.path,
				       SLN(b->file[i].name, 200));
		if (holds_tensors(b->file[i].kind, b->file[i].name) && check_tensors(b, &b->file[i], err) < 0)
			return -1;
	}
	return 0;
}

int bundle_open(struct bundle *b, const char *path, struct err *err)
{
	*b = (struct bundle){.map.fd = -1};
	if (mapfile_open(&b->map, path, err) < 0)
		return -1;
	if (zip_open(&b->zip, b->map.bytes, b->map.path, err) < 0) {
		mapfile_close(&b->map);
		return -1;
	}
	struct zip_member *m = zip_find(&b->zip, SLICE(BUNDLE_MANIFEST));
	int r = !m ? err_set(err, EXIT_INPUT, "'%s' has no " BUNDLE_MANIFEST ": not a bundle of fxexplain report --bundle", path)
		: m->size > BUNDLE_MAX_MANIFEST
		    ? err_set(err, EXIT_INPUT, "'%s': its manifest is too long: %llu bytes", path, (unsigned long long)m->size)
		    : zip_data(&b->zip, m, &b->manifest, err);
	if (!r)
		r = bundle_read(b, b->manifest, path, err);
	if (!r)
		r = check_members(b, err);
	if (r < 0)
		bundle_close(b);
	return r;
}

void bundle_close(struct bundle *b)
{
	if (b->zip.path) {
		zip_close(&b->zip);
		mapfile_close(&b->map);
	}
	arena_release(&b->arena);
	*b = (struct bundle){.map.fd = -1};
}

const struct bundle_file *bundle_find(const struct bundle *b, enum bundle_kind kind)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->file[i].kind == kind)
			return &b->file[i];
	return NULL;
}

/* ---- extraction ---- */

static int extract(struct bundle *b, const struct bundle_file *f, const char *folder, struct err *err)
{
	FREED char *path = xasprintf("%s/%.*s", folder, SL(f->name));
	int r = 0;
	for (char *p = path + strlen(folder) + 1; !r && (p = strchr(p, '/')); *p++ = '/') {
		*p = 0;
		if (make_folder(path, 0700) < 0 && errno != EEXIST)
			r = err_errno(err, EXIT_ENVIRON, "cannot create '%s'", path);
	}
	int fd = r ? -1 : make_file(path, O_WRONLY | O_EXCL | O_NOFOLLOW, 0600);
	if (!r && fd < 0)
		r = err_errno(err, EXIT_ENVIRON, "cannot write '%s'", path);
	if (!r)
		r = zip_copy(&b->zip, zip_find(&b->zip, f->name), fd, path, err);
	if (fd >= 0 && close(fd) < 0 && !r)
		r = err_errno(err, EXIT_ENVIRON, "cannot write '%s'", path);
	return r;
}

int bundle_extract(struct bundle *b, const char *folder, struct err *err)
{
	for (size_t i = 0; i < b->n; i++)
		if (extract(b, &b->file[i], folder, err) < 0)
			return -1;
	return 0;
}
