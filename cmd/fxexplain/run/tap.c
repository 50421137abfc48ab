/* tap.c - a pipe or a pseudo terminal between the command and standard error (tap.h). */
#include "run/tap.h"

#include "base/io/write.h"
#include "base/tool/diag.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define KEEP_BYTES (256ull << 20) /* of standard error; the rest is only passed on */

static void set_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	if (flags >= 0)
		fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

/* Bytes pass unchanged: the real terminal does the processing. */
static bool open_terminal(struct tap *t)
{
	struct termios raw;
	struct winsize size;
	char name[64];
	int ours = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), theirs = -1;
	if (ours < 0)
		return false;
	if (grantpt(ours) == 0 && unlockpt(ours) == 0 && ptsname_r(ours, name, sizeof(name)) == 0)
		theirs = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (theirs < 0 || tcgetattr(theirs, &raw) < 0) {
		close(ours);
		if (theirs >= 0)
			close(theirs);
		return false;
	}
	cfmakeraw(&raw);
	tcsetattr(theirs, TCSANOW, &raw);
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0)
		ioctl(ours, TIOCSWINSZ, &size);
	t->ours = ours;
	t->theirs = theirs;
	return t->terminal = true;
}

void tap_open(struct tap *t, const char *copy)
{
	int p[2];
	*t = (struct tap){.ours = -1, .theirs = -1};
	t->copy = open(copy, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (t->copy < 0)
		die_errno(EXIT_ENVIRON, "cannot write '%s'", copy);
	if (!isatty(STDERR_FILENO) || !open_terminal(t)) {
		if (pipe2(p, O_CLOEXEC) < 0)
			die_errno(EXIT_ENVIRON, "cannot create a pipe");
		t->ours = p[0];
		t->theirs = p[1];
	}
	set_nonblocking(t->ours);
}

/* The terminal was resized. */
static void tap_resize(const struct tap *t)
{
	struct winsize now, then;
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &now) == 0 && ioctl(t->ours, TIOCGWINSZ, &then) == 0 &&
	    (now.ws_row != then.ws_row || now.ws_col != then.ws_col))
		ioctl(t->ours, TIOCSWINSZ, &now);
}

/* Reads everything available. A pseudo terminal whose other end is closed reads as EIO. */
void tap_pump(struct tap *t)
{
	char chunk[1 << 15];
	ssize_t n;
	struct err err;
	if (t->terminal)
		tap_resize(t);
	while (!t->end) {
		n = read(t->ours, chunk, sizeof(chunk));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			t->end = true;
			return;
		}
		/* The reader may be gone: then it is lost, as it would be without us. */
		(void)write_all(STDERR_FILENO, chunk, (size_t)n, "standard error", &err);
		if (t->kept < KEEP_BYTES && write_all(t->copy, chunk, (size_t)n, "the copy of standard error", &err) < 0)
			t->kept = KEEP_BYTES;
		t->kept += (uint64_t)n;
	}
}

static int pass_on(void *arg)
{
	struct tap *t = arg;
	char chunk[1 << 12];
	ssize_t n;
	struct err err;
	fcntl(3, F_SETFL, fcntl(3, F_GETFL) & ~O_NONBLOCK);
	(void)t;
	while ((n = read(3, chunk, sizeof(chunk))) > 0 || (n < 0 && errno == EINTR))
		if (n > 0 && write_all(STDERR_FILENO, chunk, (size_t)n, "standard error", &err) < 0)
			return 1;
	return 0;
}

/* A process that the command left running on purpose (a server) may still write here: passed on as long as it lives. */
void tap_close(struct tap *t, struct childset *set)
{
	tap_pump(t);
	close(t->copy);
	if (!t->end) {
		const struct child_fd fd = {t->ours, 3};
		const char *const name[] = {diag_tool, NULL};
		struct child_spec spec = {.argv = name,
					  .function = pass_on,
					  .arg = t,
					  .in.how = CHILD_NULL,
					  .out.how = CHILD_NULL,
					  .fds = &fd,
					  .n_fds = 1,
					  .leave_running = true};
		struct err err;
		(void)child_start(set, &spec, &err);
	}
	close(t->ours);
}
