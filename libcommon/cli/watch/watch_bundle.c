/* A bundle: a model and the inputs of a Run, kept by libpt2probe.so. */
#include "base/text.h"
#include "watch/bundle.h"
#include "watch/watch_part.h"
#include "model/check/check.h"
#include "model/cppwrapper/operands.h"

#include <dirent.h>
#include <sys/stat.h>

#define MAX_INDEX (64u << 20)
#define MAX_TENSOR (INT64_C(1) << 36) /* bytes of an input, gaps included */

static bool has_index(const char *folder)
{
	char *path = xasprintf("%s/" BUNDLE_INDEX, folder);
	struct stat st;
	bool yes = stat(path, &st) == 0 && S_ISREG(st.st_mode);
	free(path);
	return yes;
}

/* The folder of the bundle itself; NULL. */
static char *folder_of(const char *path)
{
	if (has_index(path))
		return xstrdup(path);
	char *first = NULL;
	DIR *d = opendir(path);
	for (struct dirent *e; d && (e = readdir(d));) {
		if (strncmp(e->d_name, "bundle.", 7))
			continue;
		char *one = xasprintf("%s/%s", path, e->d_name);
		bool better = has_index(one) && (!first || strcmp(one, first) < 0);
		if (better) {
			free(first);
			first = one;
		} else {
			free(one);
		}
	}
	if (d)
		closedir(d);
	return first;
}

bool watch_bundle_like(const char *path)
{
	char *folder = folder_of(path);
	free(folder);
	return folder != NULL;
}

struct index {
	struct json_tape t;
	struct buf text;
	const char *path;
	struct err *err;
};

static int bad_bundle(const struct index *x, const char *why)
{
	return err_set(x->err, EXIT_INPUT, "'%s': %s: is the bundle complete?", x->path, why);
}

static bool plain(struct slice name) { return name.n && name.p[0] != '.' && !slice_chr(name, '/') && !slice_chr(name, 0); }

static int take_input(struct watch_bundle *b, struct index *x, uint32_t k, struct err *err)
{
	struct watch_bundle_input *in = &b->input[b->n];
	if (json_i64(&x->t, json_get(&x->t, k, "number"), &in->number)) {
		b->n++;
		return 0;
	}
	struct slice file = json_text(&x->t, k, "file", &x->text);
	if (!file.n)
		return err_set(err, EXIT_INPUT, "'%s': input %zu could not be kept when the model ran", x->path, b->n);
	if (!plain(file))
		return bad_bundle(x, "the file name of an input is a path");
	in->file = xasprintf("%s/%.*s", b->folder, SL(file));
	b->n++;
	return tensor_spec_parse(json_text(&x->t, k, "spec", &x->text), &in->meta, NULL) < 0 ? bad_bundle(x, "an input has no \"spec\"")
											     : 0;
}

/* The path of a file in model/. */
static int take_path(const struct watch_bundle *b, struct index *x, uint32_t root, const char *key, char **path)
{
	const size_t head = sizeof(BUNDLE_MODEL "/") - 1;
	struct slice name = json_text(&x->t, root, key, &x->text);
	if (!name.n)
		return 0;
	if (!slice_starts(name, BUNDLE_MODEL "/") || !plain(slice_of(name.p + head, name.n - head)))
		return err_set(x->err, EXIT_INPUT, "'%s': \"%s\" is outside the bundle: is the bundle complete?", x->path, key);
	*path = xasprintf("%s/%.*s", b->folder, SL(name));
	return 0;
}

static char *take_text(struct index *x, uint32_t root, const char *key)
{
	struct slice text = json_text(&x->t, root, key, &x->text);
	return xstrndup(text.n ? text.p : "", text.n);
}

/* The generated Python has the name in model/ that it had in its process. */
static void take_generated(struct watch_bundle *b, struct index *x, uint32_t root)
{
	const struct slice name = slice_base(json_text(&x->t, root, "path", &x->text));
	if (*b->graph && plain(name))
		b->text = xasprintf("%s/" BUNDLE_MODEL "/%.*s", b->folder, SL(name));
}

static int take_index(struct watch_bundle *b, struct index *x, struct slice text, struct err *err)
{
	uint32_t root;
	if (text.n > MAX_INDEX)
		return bad_bundle(x, "too long");
	json_tape_text(&x->t, text.p, text.n);
	if (json_parse(&x->t, 0, text.n, &root) < 0 || !json_is(&x->t, root, JSON_OBJECT))
		return bad_bundle(x, "not JSON");
	if (json_count(&x->t, root, "bundle", UINT64_MAX) != BUNDLE_VERSION)
		return bad_bundle(x, "unknown version");
	if (take_path(b, x, root, "library", &b->library) < 0 || take_path(b, x, root, "program", &b->program) < 0 ||
	    take_path(b, x, root, "table", &b->table) < 0)
		return -1;
	b->graph = take_text(x, root, "graph");
	b->finding = take_text(x, root, "finding");
	b->run = json_count(&x->t, root, "run", 0);
	take_generated(b, x, root);
	if (!b->library && *b->graph && !b->program)
		return err_set(err, EXIT_INPUT, "'%s': the FX graph of %s was not kept: that requires torch 2.7 or newer", x->path,
			       b->graph);
	if (!b->library && !b->program)
		return err_set(err, EXIT_INPUT,
			       "'%s': the model's library was already deleted when the bundle was made: run its package with these inputs",
			       x->path);
	uint32_t list = json_get_as(&x->t, root, "inputs", JSON_ARRAY), n = json_length(&x->t, list);
	if (list == NONE)
		return bad_bundle(x, "no \"inputs\"");
	if (n > CONTRACT_MAX_INPUTS)
		return bad_bundle(x, "too many inputs");
	b->input = xcalloc(n + 1, sizeof(*b->input));
	json_each(&x->t, list, k)
		if (take_input(b, x, k, err) < 0)
			return -1;
	return 0;
}

int watch_bundle_read(struct watch_bundle *b, struct slice text, const char *folder, const char *what, struct err *err)
{
	*b = (struct watch_bundle){.folder = xstrdup(folder)};
	struct index x = {.path = what, .err = err};
	int r = take_index(b, &x, text, err);
	json_tape_release(&x.t);
	buf_release(&x.text);
	if (r < 0)
		watch_bundle_close(b);
	return r;
}

int watch_bundle_open(struct watch_bundle *b, const char *path, struct err *err)
{
	struct mapfile map;
	char *folder = folder_of(path);
	*b = (struct watch_bundle){0};
	if (!folder)
		return err_set(err, EXIT_INPUT, "'%s' is not a bundle", path);
	char *index = xasprintf("%s/" BUNDLE_INDEX, folder);
	int r = mapfile_open(&map, index, err);
	if (!r) {
		r = watch_bundle_read(b, map.bytes, folder, index, err);
		mapfile_close(&map);
	}
	free(index);
	free(folder);
	return r;
}

void watch_bundle_close(struct watch_bundle *b)
{
	for (size_t i = 0; i < b->n; i++)
		free(b->input[i].file);
	free(b->input);
	free(b->library);
	free(b->program);
	free(b->table);
	free(b->text);
	free(b->graph);
	free(b->finding);
	free(b->folder);
	*b = (struct watch_bundle){0};
}

/* ---- the inputs ---- */

/* The elements of `from` in the layout of `to`. */
static void restride(char *out, const struct tensor_meta *to, const char *in, const struct tensor_meta *from, int64_t n, size_t each)
{
	int64_t index[TENSOR_MAX_DIMS] = {0};
	for (int64_t i = 0; i < n; i++) {
		int64_t a = 0, b = 0;
		for (int d = 0; d < to->n_dim; d++) {
			a += index[d] * to->stride[d];
			b += index[d] * from->stride[d];
		}
		memcpy(out + (size_t)a * each, in + (size_t)b * each, each);
		for (int d = to->n_dim; d-- > 0;) {
			if (++index[d] < to->size[d])
				break;
			index[d] = 0;
		}
	}
}

int watch_bundle_values(const struct watch_bundle_input *x, const struct tensor_meta *meta, char *to, struct err *err)
{
	struct slice data;
	struct tensor_file *f = tensor_file_open(x->file, err);
	int64_t n;
	int r = -1;
	if (!f)
		return -1;
	const struct dtype_info *d = dtype_info(x->meta.dtype);
	const struct tensor_meta *from = f->n == 1 ? &f->v[0].meta : NULL;
	if (!from || !d || from->dtype != x->meta.dtype || meta->dtype != x->meta.dtype || !tensor_same_sizes(from, &x->meta) ||
	    !tensor_same_sizes(meta, &x->meta) || !tensor_numel(from, &n)) {
		err_set(err, EXIT_INPUT, "'%s': not the tensor described in the bundle", x->file);
	} else if (tensor_data(f, 0, &data, err) == 0) {
		restride(to, meta, data.p, from, n, (size_t)d->bytes);
		r = 0;
	}
	tensor_file_close(f);
	return r;
}

void inputs_release(struct inputs *in)
{
	given_release(&in->given);
	free(in->v);
	arena_release(&in->arena);
	*in = (struct inputs){0};
}

int inputs_check(const struct contract *c, const struct tensor_meta *meta, size_t n, struct err *err)
{
	struct check k = {0};
	int r = 0;
	check_inputs(&k, c, meta, n);
	for (size_t i = 0; i < k.n && !r; i++) {
		const struct check_finding *f = &k.v[i];
		const bool bound = f->what == CHECK_SMALL || f->what == CHECK_LARGE;
		if (f->advice || (bound && c->source != CONTRACT_FROM_EXPORT)) /* compiled code checks its bounds itself, or runs anyway */
			continue;
		struct buf b = {0};
		if (f->input != NONE) {
			add_input_name(&b, c, f->input);
			buf_adds(&b, ": ");
		}
		r = err_set(err, EXIT_INPUT, "%s%s: expected %.*s, given %.*s (aoti-checkinputs lists all mismatches)", buf_str(&b),
			    f->what == CHECK_COUNT ? "inputs" : check_what_name(f->what), SL(f->expected), SL(f->given));
		buf_release(&b);
	}
	check_release(&k);
	return r;
}

static int read_input(struct inputs *in, const struct watch_bundle_input *x, struct tensor_view *v, struct err *err)
{
	int64_t bytes;
	v->meta = x->meta;
	if (!x->file || !dtype_info(x->meta.dtype) || !tensor_extent(&x->meta, &bytes) || bytes > MAX_TENSOR)
		return err_set(err, EXIT_INPUT, "'%s': not the tensor described in the bundle", x->file ? x->file : "a number");
	char *p = arena_alloc(&in->arena, (size_t)bytes + 64);
	p += (64 - (uintptr_t)p % 64) % 64;
	memset(p, 0, (size_t)bytes);
	v->data = p;
	return watch_bundle_values(x, &x->meta, p, err);
}

int watch_bundle_inputs(const struct watch_bundle *b, struct inputs *in, const struct contract *c, struct err *err)
{
	*in = (struct inputs){.n = b->n};
	in->v = xcalloc(b->n + 1, sizeof(*in->v));
	struct tensor_meta *meta = xcalloc(b->n + 1, sizeof(*meta));
	int r = 0;
	if (b->n != c->n_inputs)
		r = err_set(err, EXIT_INPUT, "'%s' holds %zu inputs, its model takes %u", b->folder, b->n, c->n_inputs);
	for (size_t i = 0; i < b->n && !r; i++) {
		in->v[i].name = c->input[i].name;
		r = read_input(in, &b->input[i], &in->v[i], err);
		meta[i] = in->v[i].meta;
	}
	if (!r)
		r = inputs_check(c, meta, b->n, err);
	free(meta);
	if (r)
		inputs_release(in);
	return r;
}
