#include "base/io/write.h"

#include <errno.h>
#include <sys/sendfile.h>
#include <unistd.h>

static int write_failed(const char *what, struct err *err)
{
	if (errno == EPIPE) {
		if (err) {
			err->status = EXIT_FINE;
			err->text[0] = 0;
		}
		return -1;
	}
	return err_errno(err, EXIT_ENVIRON, "cannot write '%s'", what);
}

/* Below 0: at the descriptor's current position. */
static int write_at(int fd, const char *p, size_t n, off_t at, const char *what, struct err *err)
{
	while (n) {
		ssize_t r = at < 0 ? write(fd, p, n) : pwrite(fd, p, n, at);
		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return write_failed(what, err);
		p += r;
		n -= (size_t)r;
		at += at < 0 ? 0 : r;
	}
	return 0;
}

int write_all(int fd, const void *p, size_t n, const char *what, struct err *err) { return write_at(fd, p, n, -1, what, err); }

int pwrite_all(int fd, const void *p, size_t n, uint64_t at, const char *what, struct err *err)
{
	return write_at(fd, p, n, (off_t)at, what, err);
}

int copy_all(int from, int to, const char *what, struct err *err)
{
	off_t at = 0;
	for (;;) {
		ssize_t r = sendfile(to, from, &at, 1 << 30);
		if (r == 0)
			return 0;
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0 && at == 0 && (errno == EINVAL || errno == ENOSYS))
			break; /* an output opened with O_APPEND */
		if (r < 0)
			return write_failed(what, err);
	}
	char buf[1 << 16];
	for (;;) {
		ssize_t r = pread(from, buf, sizeof(buf), at);
		if (r < 0)
			return err_errno(err, EXIT_ENVIRON, "cannot read back temporary data");
		if (r == 0)
			return 0;
		if (write_all(to, buf, (size_t)r, what, err) < 0)
			return -1;
		at += r;
	}
}
