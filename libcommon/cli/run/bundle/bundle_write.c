/* Bundles: written in one pass, the manifest last. */
#include "run/bundle/bundle.h"

#include "base/json.h"
#include "base/tool/output.h"
#include "run/bundle/bundle_part.h"
#include "tensor/write_part.h"

#include <dirent.h>
#include <libdeflate.h>
#include <sys/stat.h>

enum { LEVEL = 9, PIECE_MAX = 1 << 30 };

const char *const bundle_kind_name[BUNDLE_N_KINDS] = {
#define X(id, name, folder) name,
    BUNDLE_KINDS(X)
#undef X
};
const char *const bundle_kind_folder[BUNDLE_N_KINDS] = {
#define X(id, name, folder) folder,
    BUNDLE_KINDS(X)
#undef X
};

struct bundle_writer {
	struct output *out;
	struct sink sink;
	struct archive archive;
	struct libdeflate_compressor *z;
	struct buf packed, left_out, tensors; /* the last two: elements of the manifest's lists */
	struct json_out tensor_out;
	struct arena arena;
	struct intern names;
	struct bundle_file *file;
	size_t n, cap;
	char *path;
	struct err failed; /* the sink's */
};

struct bundle_writer *bundle_new(const char *path, struct err *err)
{
	struct output *out = output_file(path, err);
	if (!out)
		return NULL;
	struct bundle_writer *w = xcalloc(1, sizeof(*w));
	w->out = out;
	w->path = xstrdup(path);
	w->z = libdeflate_alloc_compressor(LEVEL);
	w->tensor_out.b = &w->tensors;
	json_arr(&w->tensor_out);
	sink_open(&w->sink, output_fd(out), w->path, &w->failed);
	w->archive.s = &w->sink;
	return w;
}

static void release(struct bundle_writer *w)
{
	libdeflate_free_compressor(w->z);
	archive_release(&w->archive);
	buf_release(&w->packed);
	buf_release(&w->left_out);
	buf_release(&w->tensors);
	arena_release(&w->arena);
	intern_release(&w->names);
	free(w->file);
	free(w->path);
	free(w);
}

void bundle_abort(struct bundle_writer *w)
{
	if (!w)
		return;
	output_abort(w->out);
	release(w);
}

/* A name that the reader accepts: invalid characters become '_'. */
static const char *free_name(struct bundle_writer *w, const char *name)
{
	LOCAL_BUF b = {0};
	const char *dot = strrchr(path_base(name), '.');
	const size_t stem = dot ? (size_t)(dot - name) : strlen(name);
	for (unsigned k = 1;; k++) {
		buf_reset(&b);
		for (size_t i = 0; i < stem; i++)
			buf_addc(&b, name[i] == '\\' || (unsigned char)name[i] < ' ' || name[i] == 127 ||
					     (name[i] == '.' && (!i || name[i - 1] == '/'))
					 ? '_'
					 : name[i]);
		if (k > 1)
			buf_addf(&b, "-%u", k);
		buf_adds(&b, name + stem);
		if (!utf8_valid(buf_slice(&b)))
			for (size_t i = 0; i < b.len; i++)
				b.p[i] = b.p[i] & 0x80 ? '_' : b.p[i];
		uint32_t before = w->names.n;
		if (intern_add(&w->names, buf_slice(&b)) == before)
			break;
	}
	return arena_strndup(&w->arena, buf_str(&b), b.len);
}

static int put_member(struct bundle_writer *w, const char *name, struct slice bytes)
{
	bool packed = zip_like(bytes) || bytes.n > PIECE_MAX;
	if (!packed) {
		size_t bound = libdeflate_deflate_compress_bound(w->z, bytes.n);
		buf_reset(&w->packed);
		char *room = buf_room(&w->packed, bound);
		size_t n = libdeflate_deflate_compress(w->z, bytes.p, bytes.n, room, bound);
		if (n && n < bytes.n)
			return archive_put_deflated(&w->archive, name, room, n,
						    (struct archive_deflated){bytes.n, libdeflate_crc32(0, bytes.p, bytes.n)});
	}
	return archive_put(&w->archive, name, bytes.p, bytes.n);
}

static int failed(const struct bundle_writer *w, struct err *err)
{
	*err = w->failed;
	return -1;
}

struct bundle_file *bundle_put(struct bundle_writer *w, enum bundle_kind kind, const char *name, struct slice bytes, struct err *err)
{
	const char *own = free_name(w, name);
	if (put_member(w, own, bytes) < 0) {
		failed(w, err);
		return NULL;
	}
	struct bundle_file *f = &PUSH_TO(w->file, w->n, w->cap);
	*f = (struct bundle_file){.name = slice_str(own), .kind = kind, .about = SLICE(""), .bytes = bytes.n};
	return f;
}

int bundle_add(struct bundle_writer *w, enum bundle_kind kind, const char *name, struct slice bytes, struct slice about, struct err *err)
{
	struct bundle_file *f = bundle_put(w, kind, name, bytes, err);
	if (f)
		f->about = arena_slice(&w->arena, about);
	return f ? 0 : -1;
}

int bundle_add_file(struct bundle_writer *w, enum bundle_kind kind, const char *name, const char *path, struct err *err)
{
	OWNED(mapfile_close) struct mapfile m = {0};
	if (mapfile_open(&m, path, err) < 0)
		return -1;
	return bundle_add(w, kind, name, m.bytes, slice_str(path_base(path)), err);
}

int bundle_add_folder(struct bundle_writer *w, enum bundle_kind kind, const char *name, const char *path, struct err *err)
{
	struct dirent **e;
	int n = scandir(path, &e, NULL, alphasort), r = 0;
	if (n < 0)
		return err_errno(err, EXIT_INPUT, "cannot read directory '%s'", path);
	for (int i = 0; i < n; i++) {
		FREED char *from = xasprintf("%s/%s", path, e[i]->d_name), *to = xasprintf("%s/%s", name, e[i]->d_name);
		struct stat st;
		if (!r && e[i]->d_name[0] != '.' && lstat(from, &st) == 0) {
			if (S_ISDIR(st.st_mode))
				r = bundle_add_folder(w, kind, to, from, err);
			else if (S_ISREG(st.st_mode))
				r = bundle_add_file(w, kind, to, from, err);
			else
				bundle_leave_out(w, slice_str(to), SLICE("is not a file"));
		}
		free(e[i]);
	}
	free(e);
	return r;
}

void bundle_leave_out(struct bundle_writer *w, struct slice what, struct slice why)
{
	struct json_out o = {.b = &w->left_out};
	if (w->left_out.len)
		buf_addc(&w->left_out, ',');
	json_obj(&o);
	json_member_str(&o, "name", what);
	json_member_str(&o, "why", why);
	json_close(&o);
}

struct json_out *bundle_tensor_out(struct bundle_writer *w) { return &w->tensor_out; }

/* ---- the manifest ---- */

static void put_files(struct json_out *o, const struct bundle_writer *w)
{
	json_rows(o, "files", i, w->n) {
		const struct bundle_file *f = &w->file[i];
		json_member_str(o, "name", f->name);
		json_member_str(o, "kind", slice_str(bundle_kind_name[f->kind]));
		json_fields(o, *f, bytes, about, made_up);
	}
}

static void put_findings(struct json_out *o, const struct bundle_about *a)
{
	json_rows(o, "findings", i, a->n_finding) {
		json_member_str(o, "kind", a->finding[i].kind);
		json_member_str(o, "id", a->finding[i].id);
		json_member_str(o, "level", a->finding[i].level);
		json_member_str(o, "title", a->finding[i].title);
		json_member_str(o, "key", a->finding[i].key);
	}
}

static void put_manifest(struct buf *b, struct bundle_writer *w, const struct bundle_about *a)
{
	struct json_out o = {.b = b};
	LOCAL_BUF list = {0};
	json_obj(&o);
	json_member_str(&o, "schema", SLICE("pt2utils.bundle/1"));
	json_fields(&o, *a, generator, redacted, torch, python, cuda, component, title);
	json_key(&o, "status");
	if (a->has_status)
		json_out_i64(&o, a->status);
	else
		json_out_null(&o);
	json_member_texts(&o, "arguments", a->argument, a->n_argument);
	json_rows(&o, "environment", i, a->n_env) {
		json_member_str(&o, "name", a->env[i].name);
		json_member_str(&o, "value", a->env[i].value);
	}
	put_findings(&o, a);
	put_files(&o, w);
	json_close(&w->tensor_out);
	json_member_raw(&o, "tensors", buf_slice(&w->tensors));
	buf_addf(&list, "[%s]", buf_str(&w->left_out));
	json_member_raw(&o, "left_out", buf_slice(&list));
	json_close(&o);
	buf_addc(b, '\n');
}

int bundle_end(struct bundle_writer *w, const struct bundle_about *about, struct err *err)
{
	LOCAL_BUF b = {0};
	put_manifest(&b, w, about);
	int r = put_member(w, BUNDLE_MANIFEST, buf_slice(&b)) < 0 || archive_end(&w->archive) < 0 || sink_flush(&w->sink) < 0
		    ? failed(w, err)
		    : 0;
	if (r < 0)
		output_abort(w->out);
	else
		r = output_commit(w->out, err);
	release(w);
	return r;
}
