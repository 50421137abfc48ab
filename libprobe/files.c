/* files.c - creates files while the model runs: directly, or, if the process may not, through the keeper (watch/keeper.h). */
#include "watch/keeper.h"
#include "ops.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

static int keeper = -1;
static char folder[KEEPER_NAME]; /* the keeper's folder */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The answer: an errno, or 0. *fd: a descriptor sent with it. */
static int receive(int *fd)
{
	int answer = -1;
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = {&answer, sizeof(answer)};
	struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	ssize_t n;
	while ((n = recvmsg(keeper, &m, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
		;
	const struct cmsghdr *c = n == sizeof(answer) ? CMSG_FIRSTHDR(&m) : NULL;
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	return n == sizeof(answer) ? answer : EIO;
}

/* 0, or the new file's descriptor; -1 and errno. */
static int ask_keeper(enum keeper_what what, const char *path)
{
	struct keeper_ask q = {.what = what};
	size_t n = strlen(folder);
	ssize_t sent;
	int fd = 0, why = EACCES;
	if (!strncmp(path, folder, n) && path[n] == '/' && snprintf(q.name, sizeof(q.name), "%s", path + n + 1) < KEEPER_NAME) {
		pthread_mutex_lock(&lock);
		while ((sent = write(keeper, &q, sizeof(q))) < 0 && errno == EINTR)
			;
		why = sent == sizeof(q) ? receive(&fd) : EIO;
		pthread_mutex_unlock(&lock);
		if (!why && !fd && what == KEEPER_MAKE) /* there was no room for it here */
			why = EMFILE;
	}
	errno = why;
	return why ? -1 : fd;
}

int files_make(const char *path)
{
	return keeper < 0 ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600) : ask_keeper(KEEPER_MAKE, path);
}

void files_unmake(const char *path)
{
	if (keeper < 0)
		unlink(path);
	else
		ask_keeper(KEEPER_UNMAKE, path);
}

void files_keep(int fd, const char *in)
{
	snprintf(folder, sizeof(folder), "%s", in);
	keeper = fd;
}
