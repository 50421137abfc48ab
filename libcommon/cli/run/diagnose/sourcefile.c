#include "run/diagnose/sourcefile.h"
#include "base/text.h"

#include <unistd.h>

bool source_leads_out(const char *path)
{
	for (const char *p = path; (p = strstr(p, "..")); p += 2)
		if ((p == path || p[-1] == '/') && (!p[2] || p[2] == '/'))
			return true;
	return false;
}

static bool is_here(const char *path) { return *path && !source_leads_out(path) && access(path, F_OK) == 0; }

const char *source_relative(const char *path)
{
	char cwd[4096];
	const char *rest = getcwd(cwd, sizeof(cwd)) && cwd[0] && cwd[1] ? path_below(path, cwd) : NULL;
	if (rest && *rest)
		return rest;
	for (const char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/'))
		if (is_here(p + 1))
			return p + 1;
	return NULL;
}

char *source_here(const char *path)
{
	const char *here = *path == '/' ? source_relative(path) : is_here(path) ? path : NULL;
	if (here && access(here, F_OK) == 0)
		return xstrdup(here);
	return *path == '/' && access(path, F_OK) == 0 ? xstrdup(path) : NULL;
}
