/* settings.h - what a project has settled for these tools: .pt2utils.toml, or [tool.pt2utils] of pyproject.toml. For tools.
 *
 *     [tool.pt2utils]                       # in .pt2utils.toml without "tool.pt2utils"
 *     python = ".venv/bin/python"           # as PT2_PYTHON: the Python with torch
 *     patterns = "ci/patterns"              # as fxexplain --patterns
 *     ignore = ["GB0124", "cache"]          # findings that are not shown (run/diagnose/ignore.h)
 *     [tool.pt2utils.max]                   # as --max
 *     graph-breaks = 0
 *     [tool.pt2utils.per-file-ignores]
 *     "vendor/..." = ["graph-break"]
 *
 *     const struct settings *s = settings_load();          // ends with EXIT_USAGE and "pyproject.toml:12: ..." where it is wrong
 *     for (size_t i = 0; i < s->n; i++) ... s->v[i].name, .value, .from
 *
 * The file is the first that is found in the working directory or above it, up to the root of the repository (.git) or the home
 * directory; a pyproject.toml without the table does not count. PT2_SETTINGS names another file; empty: none is read. Relative paths are
 * relative to the file. An option comes before an environment variable, and that before the file: python becomes PT2_PYTHON only if that
 * is not set.
 *
 * python says which program runs. It is taken only from a file that belongs to this user, root or who called sudo, and that nobody else
 * may write to; else a warning says so. Nothing else in it runs anything.
 *
 * The file is read once, in bounds (base/toml.h); its texts live as long as the program. A tool that seals itself (broker.h) asks after
 * that.
 */
#ifndef PT2_SETTINGS_H
#define PT2_SETTINGS_H
#include "base/base.h"

enum setting_kind { SETTING_PYTHON, SETTING_PATTERNS, SETTING_IGNORE, SETTING_MAX, SETTING_FILE_IGNORE };
struct setting {
	enum setting_kind kind;
	const char *name;  /* MAX: of the limit; FILE_IGNORE: the glob; else of the setting */
	const char *value; /* one id of a list; a number as written */
	const char *from;  /* "pyproject.toml:12" */
};
struct settings {
	const char *file; /* as found: "pyproject.toml", "../.pt2utils.toml"; NULL: none */
	struct setting *v;
	size_t n, cap;
};
const struct settings *settings_load(void);

#endif
