/* browser.h - shows a page that was written, for tlparse and fxexplain run. */
#ifndef PT2_BROWSER_H
#define PT2_BROWSER_H
#include "base/base.h"

/* Opens it with $BROWSER, a program, or else with xdg-open if there is a display. Only if both standard output and standard error are
 * terminals. Does not wait for the browser. False: not shown. */
bool browser_open(const char *page);

#endif
