#include "tensor/reader.h"

static bool npy_like(struct slice b) { return slice_starts(b, "\x93NUMPY"); }

/* u64 length of the JSON text that follows, which begins with a brace. */
static bool safetensors_like(struct slice b) { return b.n > 8 && b.p[8] == '{' && !b.p[6] && !b.p[7]; }

/* .npz and .pt are both zip archives: those with a data.pkl are for pt_read. */
static bool has_pickle(struct tensor_file *f)
{
	const struct zip *z = &tensor_state(f)->zip;
	for (size_t i = 0; i < z->n; i++)
		if (slice_is(z->v[i].name, "data.pkl") || slice_ends(z->v[i].name, "/data.pkl"))
			return true;
	return false;
}

static bool has_npy(struct tensor_file *f)
{
	const struct zip *z = &tensor_state(f)->zip;
	for (size_t i = 0; i < z->n; i++)
		if (slice_ends(z->v[i].name, ".npy"))
			return true;
	return false;
}

static const struct {
	enum tensor_format format;
	bool zip;
	bool (*like)(struct slice bytes);        /* of a plain file */
	bool (*like_zip)(struct tensor_file *f); /* of a zip archive */
	int (*read)(struct tensor_file *f, struct err *err);
} formats[] = {
    {TENSOR_NPY, false, npy_like, NULL, npy_read},
    {TENSOR_SAFETENSORS, false, safetensors_like, NULL, safetensors_read},
    {TENSOR_PT, true, NULL, has_pickle, pt_read},
    {TENSOR_NPZ, true, NULL, has_npy, npz_read},
};

static int read_any(struct tensor_file *f, struct err *err)
{
	struct tensor_state *s = f->state;
	if (!s->bytes.n)
		return err_set(err, EXIT_INPUT, "'%s': is empty", f->path);
	bool plain = npy_like(s->bytes) || safetensors_like(s->bytes), zip = !plain && zip_like(s->bytes);
	if (zip && zip_open(&s->zip, s->bytes, f->path, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
		if (formats[i].zip != zip || !(zip ? formats[i].like_zip(f) : formats[i].like(s->bytes)))
			continue;
		f->format = formats[i].format;
		if (formats[i].read(f, err) < 0)
			return -1;
		return 0;
	}
	return pt_refuse(f, err);
}

static struct tensor_file *new_file(const char *path)
{
	struct tensor_file *f = xcalloc(1, sizeof(*f));
	f->path = arena_strndup(&f->arena, path, strlen(path));
	f->state = xcalloc(1, sizeof(struct tensor_state));
	return f;
}

static struct tensor_file *read_or_close(struct tensor_file *f, bool empty, struct err *err)
{
	if (read_any(f, err) == 0 && (f->n || empty || err_set(err, EXIT_INPUT, "'%s': contains no tensors", f->path) == 0))
		return f;
	tensor_file_close(f);
	return NULL;
}

typedef int open_fn(struct mapfile *f, const char *path, struct err *err);
static struct tensor_file *open_map(open_fn *open_file, const char *path, struct err *err)
{
	struct mapfile map;
	if (open_file(&map, path, err) < 0)
		return NULL;
	struct tensor_file *f = new_file(map.path);
	tensor_state(f)->map = map;
	tensor_state(f)->bytes = map.bytes;
	return read_or_close(f, false, err);
}

struct tensor_file *tensor_file_open(const char *path, struct err *err) { return open_map(mapfile_open, path, err); }
struct tensor_file *tensor_file_copy(const char *path, struct err *err) { return open_map(mapfile_copy, path, err); }

static struct tensor_file *of_bytes(struct slice bytes, const char *path, bool empty, struct err *err)
{
	struct tensor_file *f = new_file(path);
	tensor_state(f)->bytes = bytes;
	return read_or_close(f, empty, err);
}

struct tensor_file *tensor_file_bytes(struct slice bytes, const char *path, struct err *err) { return of_bytes(bytes, path, false, err); }
struct tensor_file *tensor_file_some(struct slice bytes, const char *path, struct err *err) { return of_bytes(bytes, path, true, err); }

void tensor_file_close(struct tensor_file *f)
{
	if (!f)
		return;
	struct tensor_state *s = f->state;
	zip_close(&s->zip);
	if (s->map.path)
		mapfile_close(&s->map);
	free(s->at);
	free(s);
	free(f->v);
	arena_release(&f->arena);
	free(f);
}

int tensor_data(struct tensor_file *f, size_t i, struct slice *data, struct err *err)
{
	struct tensor_state *s = f->state;
	const struct tensor *t = &f->v[i];
	int64_t bytes;
	/* Not an archive, or a tensor without elements whose storage was omitted. */
	if (!s->zip.n || (t->member == NONE && t->data.p)) {
		*data = t->data;
		return 0;
	}
	if (t->member == NONE)
		return err_set(err, EXIT_INPUT, "'%s': tensor '%.*s' is on the meta device and has no data: save it from the cpu", f->path,
			       SL(t->name));
	if (zip_data(&s->zip, &s->zip.v[t->member], data, err) < 0)
		return -1;
	/* For a deflated member, the readers saw only its directory entry. */
	if (!tensor_extent(&t->meta, &bytes) || s->at[i] > data->n || (uint64_t)bytes > data->n - s->at[i])
		return err_set(err, EXIT_INPUT, "'%s': tensor '%.*s' has fewer bytes than its sizes need: the file is damaged", f->path,
			       SL(t->name));
	*data = slice_of(data->p + s->at[i], (size_t)bytes);
	return 0;
}
