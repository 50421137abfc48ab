/* diag.h - messages of the tools (never used by the library's core).
 *
 * One form: "tool: what failed: 'subject': why", lower case, no full stop, built completely and written once.
 * Control bytes in it are shown as `?`, so that a hostile name cannot drive the terminal.
 */
#ifndef PT2_DIAG_H
#define PT2_DIAG_H
#include "base/base.h"

extern const char *diag_tool; /* set first in main */

_Noreturn void die(enum exit_status status, const char *fmt, ...) PRINTF_LIKE(2, 3);
_Noreturn void die_errno(enum exit_status status, const char *fmt, ...) PRINTF_LIKE(2, 3);
_Noreturn void die_err(const struct err *e);
void warn(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* One warning per line. */
void warn_lines(struct slice lines);
/* For people, on standard error: a line without the tool's name. */
void note(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* --max-text: the limit on text from a model: names, values, what it prints. Everything that a run of the tool shows on screens (screen.h)
 * counts together; warnings count separately. 0: no limit, as in tools that show nothing from a model. */
enum { SHOWN_MOST = 16 << 20 };
extern uint64_t shown_most;
/* How many of n bytes may still be shown; they count as shown. If it is not all of them, a warning says so, once. */
size_t shown_take(size_t n);
size_t shown_room(void);
/* "[cut: more than 16 MiB of text; --max-text=SIZE shows more]" */
void shown_cut(char text[128]);

/* Called before die() exits, and when memory runs out (base/oom.h), to remove temporary outputs. At most 8. */
void diag_at_die(void (*fn)(void));

#endif
