/* prune.c - see prune.h. */
#include "cache/prune.h"
#include "base/rows.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *reason(const struct cachedir *d, const struct cache_file *f, int days)
{
	if (f->kind == CACHE_TEMP)
		return "left by an interrupted write";
	if (f->kind != CACHE_FX && f->kind != CACHE_AOT && f->kind != CACHE_CODE && f->kind != CACHE_TRITON)
		return NULL;
	if (state_is_bad(f->state))
		return cache_state_name[f->state];
	return days && d->now - f->mtime > (int64_t)days * 86400 ? "old" : NULL;
}

/* Opens the folder of a file component by component, so that no symlink is followed. -1: it no longer exists. */
static int open_folder(const struct cachedir *d, struct slice path, const char **name)
{
	int fd = openat(d->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *p = path.p, *slash;
	while (fd >= 0 && (slash = strchr(p, '/'))) {
		FREED char *part = xstrndup(p, (size_t)(slash - p));
		int sub = openat(fd, part, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		close(fd);
		fd = sub;
		p = slash + 1;
	}
	*name = p;
	return fd;
}

static bool is_the_same(const struct cache_file *f, const struct stat *st)
{
	return S_ISREG(st->st_mode) && (uint64_t)st->st_dev == f->dev && (uint64_t)st->st_ino == f->ino &&
	       (uint64_t)st->st_size == f->bytes && st->st_mtim.tv_sec == f->mtime && st->st_mtim.tv_nsec == f->mtime_ns;
}

void prune_plan(struct prune *p, const struct cachedir *d, int days)
{
	for (uint32_t i = 0; i < d->n_file; i++) {
		const struct cache_file *f = &d->file[i];
		const char *why = reason(d, f, days);
		if (!why)
			continue;
		if (d->now - f->mtime < PRUNE_QUIET) {
			p->young++;
			continue;
		}
		if (f->uid != geteuid()) {
			p->foreign++;
			continue;
		}
		PUSH(p, row) = (struct prune_row){i, why, false};
		p->bytes += f->bytes;
	}
}

static void remove_one(struct prune *p, const struct cachedir *d, struct prune_row *r)
{
	const struct cache_file *f = &d->file[r->file];
	FREED char *path = xstrndup(cachedir_name(d, f->path).p, cachedir_name(d, f->path).n);
	const char *name;
	struct stat st;
	int dir = open_folder(d, slice_str(path), &name);
	if (dir < 0 || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !is_the_same(f, &st)) {
		p->changed++;
	} else if (unlinkat(dir, name, 0) < 0) {
		if (!p->failed++)
			err_errno(&p->err, EXIT_ENVIRON, "cannot remove '%s/%s'", d->path, path);
	} else {
		r->gone = true;
		p->removed++;
	}
	if (dir >= 0)
		close(dir);
	/* A key's folder is removed with its last entry; one that is not empty stays. */
	char *slash = strrchr(path, '/');
	if (r->gone && slash && (f->kind == CACHE_FX || f->kind == CACHE_AOT)) {
		*slash = 0;
		dir = open_folder(d, slice_str(path), &name);
		if (dir >= 0) {
			(void)unlinkat(dir, name, AT_REMOVEDIR);
			close(dir);
		}
	}
}

void prune_apply(struct prune *p, const struct cachedir *d)
{
	for (uint32_t i = 0; i < p->n_row; i++)
		remove_one(p, d, &p->row[i]);
}

void prune_release(struct prune *p)
{
	free(p->row);
	*p = (struct prune){.n_row = 0};
}
