#include "base/io/mapfile.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads a file without a size to map: a pipe, a socket, a file of /proc. */
static int read_whole(struct mapfile *f, struct err *err)
{
	struct buf b = {0};
	for (;;) {
		char *at = buf_room(&b, 1 << 16);
		ssize_t r = read(f->fd, at, b.cap - b.len);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0) {
			err_errno(err, EXIT_INPUT, "cannot read '%s'", f->path);
			break;
		}
		if (r == 0) {
			f->bytes = b.len ? buf_slice(&b) : SLICE("");
			if (!b.len)
				buf_release(&b);
			return 0;
		}
		buf_wrote(&b, (size_t)r);
		if (b.len > MAPFILE_MAX_PIPE) {
			err_set(err, EXIT_INPUT, "cannot read more than %llu GiB of '%s' into memory: write it to a file first",
				MAPFILE_MAX_PIPE >> 30, f->path);
			break;
		}
	}
	buf_release(&b);
	return -1;
}

static int map_fd(struct mapfile *f, struct err *err)
{
	struct stat st;
	if (fstat(f->fd, &st) < 0)
		return err_errno(err, EXIT_INPUT, "cannot read '%s'", f->path);
	if (S_ISDIR(st.st_mode))
		return err_set(err, EXIT_INPUT, "cannot read '%s': is a directory", f->path);
	/* /dev/zero never ends, a terminal does not provide a binary file. */
	if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode))
		return err_set(err, EXIT_INPUT, "cannot read '%s': is a device, not a file", f->path);
	/* Standard input may be in the middle of a file that another process has started to read. */
	bool rewound = lseek(f->fd, 0, SEEK_CUR) == 0;
	if (!S_ISREG(st.st_mode) || !st.st_size || !rewound)
		return read_whole(f, err);
	if ((uint64_t)st.st_size > SIZE_MAX / 2)
		return err_set(err, EXIT_INPUT, "cannot map '%s': too large for this machine", f->path);
	void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, f->fd, 0);
	if (p == MAP_FAILED)
		return err_errno(err, EXIT_INPUT, "cannot map '%s'", f->path);
	f->bytes = slice_of(p, (size_t)st.st_size);
	f->mapped = true;
	return 0;
}

/* f->fd is open (or errno has the reason); on failure nothing is left to close. */
static int map_or_close(struct mapfile *f, const char *shown, struct err *err)
{
	if (f->fd < 0)
		return err_errno(err, EXIT_INPUT, "cannot open '%s'", shown);
	f->path = xstrdup(shown);
	if (map_fd(f, err) < 0) {
		mapfile_close(f);
		return -1;
	}
	if (!f->mapped) {
		close(f->fd);
		f->fd = -1;
	}
	return 0;
}

int mapfile_openat(struct mapfile *f, int dir, const char *name, const char *shown, struct err *err)
{
	*f = (struct mapfile){.fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOCTTY)};
	return map_or_close(f, shown, err);
}

int mapfile_open(struct mapfile *f, const char *path, struct err *err)
{
	if (strcmp(path, "-"))
		return mapfile_openat(f, AT_FDCWD, path, path, err);
	/* A descriptor of its own, so that closing it leaves standard input alone. */
	*f = (struct mapfile){.fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)};
	return map_or_close(f, "(standard input)", err);
}

int mapfile_copy(struct mapfile *f, const char *path, struct err *err)
{
	struct stat st;
	*f = (struct mapfile){.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK)};
	if (f->fd < 0)
		return err_errno(err, EXIT_INPUT, "cannot open '%s'", path);
	f->path = xstrdup(path);
	int r = fstat(f->fd, &st) < 0 || !S_ISREG(st.st_mode) ? err_set(err, EXIT_INPUT, "cannot read '%s': not a regular file", path) : 0;
	if (!r && read_whole(f, err) < 0)
		r = -1;
	if (r < 0) {
		mapfile_close(f);
		return -1;
	}
	close(f->fd);
	f->fd = -1;
	return 0;
}

void mapfile_close(struct mapfile *f)
{
	if (f->mapped)
		munmap((void *)(uintptr_t)f->bytes.p, f->bytes.n);
	else if (f->bytes.n)
		free((void *)(uintptr_t)f->bytes.p);
	if (f->path && f->fd >= 0)
		close(f->fd);
	free(f->path);
	*f = (struct mapfile){.fd = -1};
}
