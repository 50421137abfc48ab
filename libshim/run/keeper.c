/* Makes the files of --save-dir for a process that may make none (watch/keeper.h). Single-threaded; ends with the model's process. */
#include "run.h"

#include "base/process/confine.h"
#include "base/process/passfd.h"
#include "watch/calls.h"
#include "watch/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* 0, a descriptor for KEEPER_MAKE, or -1 and errno. made: the file that can be taken back. */
static int serve(int top, const struct keeper_ask *q, struct keeper_ask *made)
{
	int r = -1;
	errno = EACCES;
	if (!calls_is_file_name(q->name))
		return -1;
	if (q->what == KEEPER_MAKE)
		r = openat(top, q->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	else if (q->what == KEEPER_UNMAKE && *q->name && !strcmp(q->name, made->name))
		r = unlinkat(top, q->name, 0);
	if (r >= 0)
		*made = q->what == KEEPER_MAKE ? *q : (struct keeper_ask){0};
	return r;
}

/* False: who asked would wait in vain; it sees the end of this process instead. */
static bool answer(int to, int why, int fd)
{
	struct iovec part = {&why, sizeof(why)};
	return pass_fds(to, &part, 1, &fd, fd >= 0) >= 0;
}

static _Noreturn void keep_folder(int top, int from)
{
	struct keeper_ask q, made = {0};
	struct err err;
	ssize_t n;
	const int mine[] = {top, from};
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (confine_close_others(mine, ARRAY_LEN(mine), &err) < 0)
		_exit(EXIT_ENVIRON);
	while ((n = recv(from, &q, sizeof(q), 0)) > 0 || (n < 0 && errno == EINTR)) {
		if (n < 0)
			continue;
		q.name[sizeof(q.name) - 1] = 0;
		int r = n == sizeof(q) ? serve(top, &q, &made) : (errno = EINVAL, -1);
		bool file = r >= 0 && q.what == KEEPER_MAKE;
		const bool sent = answer(from, r < 0 ? errno : 0, file ? r : -1);
		if (file)
			close(r);
		if (!sent)
			break;
	}
	_exit(0);
}

int keeper_start(const char *folder, struct err *err)
{
	int pair[2], top = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (top < 0)
		return err_errno(err, EXIT_ENVIRON, "cannot open the folder '%s'", folder);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		close(top);
		return err_errno(err, EXIT_ENVIRON, "cannot make files in '%s'", folder);
	}
	pid_t pid = fork();
	if (!pid)
		keep_folder(top, pair[1]);
	close(top);
	close(pair[1]);
	if (pid > 0)
		return pair[0];
	close(pair[0]);
	return err_errno(err, EXIT_ENVIRON, "cannot make files in '%s'", folder);
}
