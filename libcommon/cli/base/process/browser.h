/* browser.h - a page that was written, shown: what tlparse and fxexplain run do with it. */
#ifndef PT2_BROWSER_H
#define PT2_BROWSER_H
#include "base/base.h"

/* Hands it to $BROWSER, a program, or else to xdg-open where there is a display. Only where both standard output and standard error are
 * terminals. Does not wait for what it starts. False: nobody was shown it. */
bool browser_open(const char *page);

#endif
