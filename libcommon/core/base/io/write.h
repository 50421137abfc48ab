/* write.h - writes everything or says why not.
 *
 *     if (write_all(fd, p, n, "report.html", &err) < 0) ...
 */
#ifndef PT2_WRITE_H
#define PT2_WRITE_H
#include "base/base.h"

/* Write everything; `what` names the target in the error text. EPIPE is reported with err->text empty and status
 * EXIT_FINE: the reader stopped reading, which is not an error. */
int write_all(int fd, const void *p, size_t n, const char *what, struct err *err);
int pwrite_all(int fd, const void *p, size_t n, uint64_t at, const char *what, struct err *err);
/* Copy a whole file (from its start) to fd. */
int copy_all(int from, int to, const char *what, struct err *err);

#endif
