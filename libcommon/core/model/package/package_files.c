/* Directories, and descriptions of files that are not packages. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "model/elf/modelso.h"
#include "model/package/package_part.h"
#include "base/rows.h"
#include "base/text.h"

/* ---- folders ---- */

struct folder {
	const char *path;
	unsigned depth;
};

struct folder_stack {
	struct folder *v;
	size_t n, cap;
	unsigned entries;
};

/* If the given directory is data/aotinductor itself, or below it: readers search the paths for that name. */
static int list_one(struct package *pkg, struct folder_stack *todo, struct folder f, unsigned depth, struct err *err)
{
	DIR *d = opendir(f.path);
	if (!d)
		return f.depth ? 0 : err_errno(err, EXIT_INPUT, "cannot read '%s'", f.path);
	struct dirent *e;
	while ((e = readdir(d)) && todo->entries < PACKAGE_MAX_DIR) {
		struct stat st;
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		todo->entries++;
		size_t n = strlen(f.path), has = n && f.path[n - 1] == '/';
		const char *joined = !strcmp(f.path, ".") ? "" : f.path;
		const char *path = arena_textf(&pkg->arena, "%s%s%s", joined, !*joined || has ? "" : "/", e->d_name).p;
		/* Links to files count; links to directories could be cyclic. */
		if (fstatat(dirfd(d), e->d_name, &st, 0) < 0)
			continue;
		if (S_ISREG(st.st_mode)) {
			package_add_file(pkg, slice_str(path), (uint64_t)st.st_size, NULL);
		} else if (S_ISDIR(st.st_mode) && f.depth + 1 < depth && fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			   S_ISDIR(st.st_mode)) {
			PUSH_TO(todo->v, todo->n, todo->cap) = (struct folder){path, f.depth + 1};
		}
	}
	closedir(d);
	return 0;
}

/* readdir has no defined order; the same directory must give the same package. */
static int by_path(const void *a, const void *b)
{
	const struct package_file *x = a, *y = b;
	return slice_cmp(x->path, y->path);
}

uint32_t package_add_file(struct package *pkg, struct slice path, uint64_t size, struct zip_member *member)
{
	PUSH_TO(pkg->file, pkg->n_file, pkg->cap_file) = (struct package_file){slice_base(path), path, size, member, NULL};
	return pkg->n_file - 1;
}

int package_list(struct package *pkg, const char *dir, unsigned depth, struct err *err)
{
	struct folder_stack todo = {0};
	uint32_t first = pkg->n_file;
	int r = list_one(pkg, &todo, (struct folder){dir, 0}, depth, err);
	while (r == 0 && todo.n)
		r = list_one(pkg, &todo, todo.v[--todo.n], depth, err);
	free(todo.v);
	if (pkg->n_file > first)
		qsort(pkg->file + first, pkg->n_file - first, sizeof(*pkg->file), by_path);
	return r;
}

/* ---- what is it, if no package? ---- */

static bool has_part(struct slice path, const char *name)
{
	const char *p = slice_find(path, name);
	return p && (p == path.p || p[-1] == '/');
}

static const char *zip_not(const struct package *pkg)
{
	bool pickle = false, code = false, npy = false, aoti = false;
	for (uint32_t i = 1; i < pkg->n_file; i++) {
		struct slice path = pkg->file[i].path;
		aoti = aoti || has_part(path, "data/aotinductor/");
		code = code || (has_part(path, "code/") && slice_ends(path, ".py"));
		pickle = pickle || slice_ends(path, "data.pkl");
		npy = npy || slice_ends(path, ".npy");
	}
	if (aoti)
		return "is a package without a compiled model: data/aotinductor/ contains neither a library nor its C++ "
		       "text";
	if (pkg->n_exported)
		return "is an exported program, not compiled: compile it with "
		       "torch._inductor.aoti_compile_and_package(torch.export.load(...))";
	if (code)
		return "is a TorchScript archive (torch.jit.save), not an AOTInductor package";
	if (pickle)
		return "is a checkpoint (torch.save), not a compiled model";
	if (npy)
		return "is an .npz file (tensors), not a compiled model";
	return "is a zip archive, but not an AOTInductor package: it has no data/aotinductor/";
}

static bool begins(struct slice b, const char *magic, size_t n) { return b.n >= n && !memcmp(b.p, magic, n); }

static bool has(struct slice b, const char *text) { return memmem(b.p, b.n < 65536 ? b.n : 65536, text, strlen(text)) != NULL; }

/* A safetensors file: the length of its header, then JSON. */
static bool safetensors(struct slice b)
{
	uint64_t n;
	if (b.n < 10)
		return false;
	memcpy(&n, b.p, 8);
	return n < b.n && b.p[8] == '{' && b.p[9] == '"';
}

static bool is_text(struct slice b)
{
	for (size_t i = 0; i < b.n && i < 4096; i++)
		if ((unsigned char)b.p[i] < 9 || (b.p[i] > 13 && (unsigned char)b.p[i] < 32))
			return false;
	return true;
}

static const char *text_not(struct slice b)
{
	struct slice t = slice_trim(slice_of(b.p, b.n < 4096 ? b.n : 4096));
	if (has(b, "aoti_runtime") || has(b, "AOTInductorModel"))
		return "is the C++ text of a model, not the model: pass the library (.so) or the package (.pt2) that "
		       "it "
		       "belongs to";
	if (has(b, "extern \"C\"") && has(b, "cpp_fused_"))
		return "is the C++ text of a model's kernels, not the model: pass the library (.so) or the package "
		       "(.pt2)";
	if (t.n && (t.p[0] == '{' || t.p[0] == '['))
		return "is a JSON file, not a compiled model";
	if (slice_starts(t, "version https://git-lfs"))
		return "is a Git LFS pointer, not the file itself: run git lfs pull";
	return "is a text file, not a compiled model";
}

static const char *bytes_not(struct slice b)
{
	if (!b.n)
		return "is empty";
	if (begins(b, "\x1f\x8b", 2) ||
	    begins(b,
		   "\xfd"
		   "7zXZ",
		   5) ||
	    begins(b, "\x28\xb5\x2f\xfd", 4) || begins(b, "BZh", 3))
		return "is compressed: decompress it first";
	if (begins(b, "\x93NUMPY", 6))
		return "is an .npy file (a tensor), not a compiled model";
	if (b.n >= 2 && (unsigned char)b.p[0] == 0x80 && b.p[1] >= 2 && b.p[1] <= 5)
		return "is a pickle (a checkpoint from an old torch?), not a compiled model";
	if (safetensors(b))
		return "is a safetensors file (tensors), not a compiled model";
	if (is_text(b))
		return text_not(b);
	return "is not an AOTInductor package: neither a zip archive (.pt2) nor an ELF library (.so)";
}

void package_not(const struct package *pkg, struct slice bytes, struct err *err)
{
	const char *what = modelso_what(bytes, NULL);
	if (pkg->kind == PACKAGE_PT2 && pkg->n_file > 1)
		err_set(err, EXIT_INPUT, "'%s' %s", pkg->path, zip_not(pkg));
	else if (what)
		err_set(err, EXIT_INPUT, "'%s' is %s: only Linux libraries (ELF) and packages (.pt2) can be read", pkg->path, what);
	else
		err_set(err, EXIT_INPUT, "'%s' %s", pkg->path, bytes_not(bytes));
}
