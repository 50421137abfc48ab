/* color.h - which colour each kind of text has, and whether there is any: the one place for both. For tools.
 *
 *     if (color_on(STDERR_FILENO))
 *         fprintf(stderr, "\033[%smerror\033[m\n", style_code[STYLE_ERROR]);
 *
 * screen.h (text), diag.h (messages) and opt.h (--color=WHEN, which every tool has) use it.
 *
 * --color=always or never decides. Otherwise (auto): a NO_COLOR that is set and not empty turns colour off (https://no-color.org), a
 * CLICOLOR_FORCE that is neither empty nor 0 turns it on (https://bixense.com/clicolors), and without either it is on for a terminal
 * whose TERM is set and not "dumb".
 */
#ifndef PT2_COLOR_H
#define PT2_COLOR_H
#include "base/base.h"

enum style {
	STYLE_ERROR,   /* what is wrong */
	STYLE_WARNING, /* what may be wrong */
	STYLE_FIX,     /* what to do about it */
	STYLE_LINE,    /* the user's own line: file, line, source text */
	STYLE_STRONG,  /* a heading */
	STYLE_FAINT,   /* what a reader may skip */
	STYLES
};
extern const char *const style_code[STYLES]; /* the n of "\033[nm", which "\033[m" ends */

enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };
extern const char *const color_names[]; /* of these, NULL-terminated */
extern int color_when;
bool color_on(int fd);

#endif
