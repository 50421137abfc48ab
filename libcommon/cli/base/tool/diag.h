/* diag.h - messages of the tools (never used by the library's core).
 *
 * One form: "tool: what failed: 'subject': why", lower case, no full stop, built whole and written once.
 * Control bytes in it are shown as `?`, so that a hostile name cannot drive the terminal.
 */
#ifndef PT2_DIAG_H
#define PT2_DIAG_H
#include "base/base.h"

extern const char *diag_tool; /* set first thing in main */

_Noreturn void die(enum exit_status status, const char *fmt, ...) PRINTF_LIKE(2, 3);
_Noreturn void die_errno(enum exit_status status, const char *fmt, ...) PRINTF_LIKE(2, 3);
_Noreturn void die_err(const struct err *e);
void warn(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* A warning for each line. */
void warn_lines(struct slice lines);
/* For people, on standard error: a line without the name of the tool. */
void note(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* Run before die() exits, and when memory runs out (base/oom.h): remove temporary outputs. At most 8. */
void diag_at_die(void (*fn)(void));

#endif
