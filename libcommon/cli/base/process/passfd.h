/* passfd.h - sends a message with descriptors over a local socket (SCM_RIGHTS).
 *
 *     struct iovec part = {&answer, sizeof(answer)};
 *     pass_fds(to, &part, 1, &fd, 1);                    // n_fds 0: none
 */
#ifndef PT2_PASSFD_H
#define PT2_PASSFD_H
#include <stddef.h>
#include <sys/uio.h>

#define PASS_MAX_FDS 8

/* As sendmsg(2), again after EINTR and without SIGPIPE. The receiver gets copies. More than PASS_MAX_FDS: -1, EINVAL. */
ssize_t pass_fds(int to, struct iovec *part, size_t n_parts, const int *fd, size_t n_fds);

#endif
