/* files.c - the user's files for `fxexplain fix`: found by the paths in a trace, read, and written. */
#include "fix/fix_part.h"

#include "base/srcloc.h"
#include "explain/emit.h"
#include "base/tool/output.h"
#include "run/diagnose/sourcefile.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { COPIES = 100 };

static int no(struct fix_file *f, const char *why)
{
	f->why = xstrdup(why);
	return -1;
}

/* "DIR/app/m.py" as it is with symlinks in directories resolved; NULL if missing, or not below the root. */
static char *resolved_below(const char *root, const char *path)
{
	FREED char *all = xasprintf("%s/%s", root, path);
	char *slash = strrchr(all, '/'), *real = NULL;
	*slash = 0;
	FREED char *folder = realpath(*all ? all : "/", NULL), *top = realpath(root, NULL);
	size_t n = top ? strlen(top) : 0;
	bool in = folder && top && (n == 1 || (!strncmp(folder, top, n) && (!folder[n] || folder[n] == '/')));
	if (in) {
		real = xasprintf("%s/%s", strcmp(folder, "/") ? folder : "", slash + 1);
		if (access(real, F_OK) < 0) {
			free(real);
			real = NULL;
		}
	}
	return real;
}

/* Looks below the root for /home/me/app/m.py, then for me/app/m.py, app/m.py and m.py. */
static char *longest_end(const char *root, const char *path)
{
	while (*path == '/')
		path++;
	for (char *found; path; path = strchr(path, '/'), path = path ? path + 1 : NULL)
		if (*path && (found = resolved_below(root, path)))
			return found;
	return NULL;
}

static const char *name_below(const char *root, const char *path)
{
	FREED char *top = realpath(root, NULL);
	size_t n = top && strcmp(top, "/") ? strlen(top) : 0;
	const char *name = !strncmp(path, top ? top : "", n) && path[n] == '/' ? path + n + 1 : path + 1;
	return name;
}

static int find_on_disk(struct fix_files *files, struct fix_file *f, struct slice path)
{
	if (!path.n || path.p[0] == '<' || slice_chr(path, '\0'))
		return no(f, "the code is not in a file");
	if (srcloc_origin(path) != SRCLOC_USER)
		return no(f, "the line is in an installed package");
	FREED char *given = xstrndup(path.p, path.n);
	if (!source_leads_out(given)) {
		f->path = !files->root && *given == '/' ? resolved_below("/", given + 1) : NULL;
		f->path = f->path ? f->path : longest_end(files->root ? files->root : ".", given);
	}
	if (!f->path)
		return no(f, files->root ? "the file is not below --root" : "file not found: pass --root=DIR to say where the program is");
	f->name = name_below(files->root ? files->root : ".", f->path);
	return 0;
}

static int read_it(const struct fix_files *files, struct fix_file *f)
{
	struct err err;
	struct slice text;
	if (lstat(f->path, &f->was) < 0 || !S_ISREG(f->was.st_mode))
		return no(f, "the file is a symlink, or not a regular file");
	for (const char *p = f->name; *p; p++)
		if ((unsigned char)*p < 32 || *p == '"' || *p == '\\' || *p == 127)
			return no(f, "the file name cannot appear in a diff");
	bool given = files->text && files->text(files->of, f->path, &text);
	if (!given && mapfile_open(&f->map, f->path, &err) < 0)
		return no(f, err.text);
	if (source_read(&f->source, given ? text : f->map.bytes, "it", &err) == 0)
		return 0;
	mapfile_close(&f->map);
	const char *syntax = slice_starts(slice_str(err.text), "'it' ") ? err.text + strlen("'it' ") : NULL;
	f->why = xasprintf("the file %s%s", syntax ? "cannot be parsed: " : "", syntax ? syntax : err.text);
	return -1;
}

struct fix_file *fix_file(struct fix_files *files, uint32_t id, struct slice path)
{
	for (uint32_t i = 0; i < files->n; i++)
		if (files->v[i]->id == id)
			return files->v[i];
	struct fix_file *f = xcalloc(1, sizeof(*f));
	f->id = id;
	PUSH_TO(files->v, files->n, files->cap) = f;
	if (find_on_disk(files, f, path) < 0 || read_it(files, f) < 0) {
		free(f->path);
		f->path = NULL;
	}
	return f;
}

void fix_files_release(struct fix_files *files)
{
	for (uint32_t i = 0; i < files->n; i++) {
		struct fix_file *f = files->v[i];
		if (f->path) {
			source_release(&f->source);
			mapfile_close(&f->map);
		}
		buf_release(&f->said);
		free(f->path);
		free(f->why);
		free(f->kept);
		free(f);
	}
	free(files->v);
	*files = (struct fix_files){0};
}

/* ---- writing ---- */

/* vfat, exfat, most of FUSE and some network file systems have no hard links. */
static bool no_links(int why) { return why == EPERM || why == EOPNOTSUPP || why == ENOTSUP || why == ENOSYS || why == EMLINK; }

/* Writes the bytes that were read under an unused name: it exists only once all of them are on disk. */
static int copy(const struct fix_file *f, const char *kept, struct err *err)
{
	struct stat there;
	if (lstat(kept, &there) == 0) {
		errno = EEXIST;
		return -1;
	}
	struct output *o = output_file(kept, err);
	if (!o)
		return -1;
	int status = write_all(output_fd(o), f->map.bytes.p, f->map.bytes.n, kept, err);
	if (status == 0 && (fchmod(output_fd(o), f->was.st_mode & 07777) < 0 || fsync(output_fd(o)) < 0))
		status = err_errno(err, EXIT_ENVIRON, "cannot write '%s'", kept);
	if (status == 0)
		return output_commit(o, err);
	output_abort(o);
	return -1;
}

/* A hard link keeps the original: nothing is copied, so there is never half a copy. Without hard links it is copied. */
static int keep(struct fix_file *f, struct err *err)
{
	for (int i = 0; i < COPIES; i++) {
		char *name = i ? xasprintf("%s.orig.%d", f->path, i) : xasprintf("%s.orig", f->path);
		bool kept = link(f->path, name) == 0;
		*err = (struct err){0};
		if (!kept && no_links(errno))
			kept = copy(f, name, err) == 0;
		int why = errno;
		if (kept) {
			f->kept = name;
			return 0;
		}
		free(name);
		if (err->text[0])
			return -1;
		errno = why;
		if (why != EEXIST)
			break;
	}
	return err_errno(err, EXIT_ENVIRON, "cannot keep '%s' as '%s.orig'", f->path, f->path);
}

int fix_write(struct fix_file *f, struct slice text, struct err *err)
{
	struct stat now;
	if (!(f->was.st_mode & 0222) || access(f->path, W_OK) < 0) /* root could write it, but it is marked read-only */
		return err_set(err, EXIT_ENVIRON, "cannot change '%s': it is read-only", f->path);
	struct output *o = output_file(f->path, err);
	if (!o)
		return -1;
	bool same = lstat(f->path, &now) == 0 && now.st_ino == f->was.st_ino && now.st_size == f->was.st_size &&
		    now.st_mtim.tv_sec == f->was.st_mtim.tv_sec && now.st_mtim.tv_nsec == f->was.st_mtim.tv_nsec;
	int status = same ? 0 : err_set(err, EXIT_ENVIRON, "'%s' was changed in the meantime: run fix again", f->path);
	if (status == 0 && fchmod(output_fd(o), f->was.st_mode & 07777) < 0)
		status = err_errno(err, EXIT_ENVIRON, "cannot write '%s'", f->path);
	if (status == 0)
		status = write_all(output_fd(o), text.p, text.n, f->path, err);
	if (status == 0)
		status = keep(f, err);
	if (status < 0) {
		output_abort(o);
		return -1;
	}
	if (output_commit(o, err) == 0)
		return 0;
	unlink(f->kept);
	free(f->kept);
	f->kept = NULL;
	return -1;
}
