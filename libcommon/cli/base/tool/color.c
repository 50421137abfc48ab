/* Which colour each kind of text has, and whether there is any. */
#include "base/tool/color.h"

#include <unistd.h>

const char *const style_code[STYLES] = {
    [STYLE_ERROR] = "31", [STYLE_WARNING] = "33", [STYLE_FIX] = "32", [STYLE_LINE] = "36", [STYLE_STRONG] = "1", [STYLE_FAINT] = "2",
};
const char *const color_names[] = {[COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never", NULL};
int color_when = COLOR_AUTO;

static bool is_set(const char *name)
{
	const char *value = getenv(name);
	return value && *value;
}

bool color_on(int fd)
{
	if (color_when != COLOR_AUTO)
		return color_when == COLOR_ALWAYS;
	if (is_set("NO_COLOR"))
		return false;
	if (is_set("CLICOLOR_FORCE") && strcmp(getenv("CLICOLOR_FORCE"), "0") != 0)
		return true;
	return isatty(fd) && is_set("TERM") && strcmp(getenv("TERM"), "dumb") != 0;
}
