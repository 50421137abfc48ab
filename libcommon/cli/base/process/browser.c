#include "base/process/browser.h"
#include "base/process/child.h"

#include <unistd.h>

bool browser_open(const char *page)
{
	const char *browser = getenv("BROWSER");
	/* xdg-open handles a list of commands with %s in them. */
	const bool own = browser && *browser && !strpbrk(browser, ":% \t");
	if (!isatty(STDOUT_FILENO) || !isatty(STDERR_FILENO) || !(own || getenv("DISPLAY") || getenv("WAYLAND_DISPLAY")))
		return false;
	struct child_spec c = {
	    .argv = (const char *[]){own ? browser : "xdg-open", page, NULL},
	    .in.how = CHILD_NULL,
	    .out.how = CHILD_NULL,
	    .err.how = CHILD_NULL,
	    .leave_running = true,
	    .timeout_ms = 5000,
	};
	struct child_result r;
	if (child_run(&c, &r, NULL) < 0)
		return false;
	const bool shown = r.how != CHILD_EXITED || r.status == 0; /* one that still runs is a browser */
	child_result_release(&r);
	return shown;
}
