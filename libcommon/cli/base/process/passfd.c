#include "base/process/passfd.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

ssize_t pass_fds(int to, struct iovec *part, size_t n_parts, const int *fd, size_t n_fds)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(PASS_MAX_FDS * sizeof(int))];
	} control = {0};
	struct msghdr m = {.msg_iov = part, .msg_iovlen = n_parts};
	ssize_t n;
	if (n_fds > PASS_MAX_FDS)
		return errno = EINVAL, -1;
	if (n_fds) {
		m.msg_control = &control;
		m.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
		struct cmsghdr *c = CMSG_FIRSTHDR(&m);
		*c = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(n_fds * sizeof(int))};
		memcpy(CMSG_DATA(c), fd, n_fds * sizeof(int));
	}
	while ((n = sendmsg(to, &m, MSG_NOSIGNAL)) < 0 && errno == EINTR)
		;
	return n;
}
