#include "base/tool/parts.h"
#include "base/buf.h"
#include "base/tool/diag.h"
#include "base/process/child.h"
#include "base/text.h"
#include "base/tool/tempfolder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where it may be, relative to the program's own folder: as installed, and in a wheel that was only unpacked (uv --link-mode=symlink). */
static const char *const places[] = {"../data/lib/pt2utils", "../lib/pt2utils"};

static int part_beside(const char *name, char at[2 * PATH_MAX], char path[PATH_MAX], struct err *err)
{
	ssize_t n = readlink("/proc/self/exe", at, PATH_MAX);
	if (n < 0)
		return err_errno(err, EXIT_ENVIRON, "cannot find the program's own folder");
	at[n] = 0;
	char *slash = strrchr(at, '/');
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		snprintf(slash + 1, 2 * PATH_MAX - (size_t)(slash + 1 - at), "%s/%s", places[i], name);
		if (realpath(at, path))
			return 0;
	}
	/* `pip install --target` does not copy lib (pip 20 to 26, _handle_target_dir). */
	const char *why = errno == ENOENT ? " (pip install --target leaves it out: use --prefix or a virtual environment)" : "";
	return err_errno(err, EXIT_ENVIRON, "cannot find '%s', a part of pt2utils%s", at, why);
}

int part_find(const char *variable, const char *name, char path[PATH_MAX], struct err *err)
{
	const char *asked = getenv(variable);
	char at[2 * PATH_MAX];
	if (!asked || !*asked)
		return part_beside(name, at, path, err);
	if (!realpath(asked, path))
		return err_errno(err, EXIT_ENVIRON, "cannot find '%s', a part of pt2utils", asked);
	return 0;
}

int part_probe(const char *folder, char path[PATH_MAX], struct err *err)
{
	static const char breaks[] = ": \t\n";
	if (part_find("PT2_PROBE", "libpt2probe.so", path, err) < 0)
		return -1;
	if (!strpbrk(path, breaks))
		return 0;
	if (!folder && !(folder = temp_folder(TEMP_LIVE, err)))
		return -1;
	FREED char *link = xasprintf("%s/libpt2probe.so", folder);
	if (strpbrk(link, breaks) || strlen(link) >= PATH_MAX || symlink(path, link) < 0)
		return err_set(err, EXIT_ENVIRON,
			       "cannot preload '%s': its path contains a colon or a space; set TMPDIR to a directory without", path);
	FREED char *alloc = part_alloc(path), *alloc_link = part_alloc(link);
	if (symlink(alloc, alloc_link) < 0)
		return err_errno(err, EXIT_ENVIRON, "cannot write '%s'", alloc_link);
	memcpy(path, link, strlen(link) + 1);
	return 0;
}

char *part_alloc(const char *probe) { return xasprintf("%.*s/libpt2alloc.so", SL(path_folder(probe))); }

char *tool_find(const char *name)
{
	char exe[PATH_MAX];
	const ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	exe[n > 0 ? n : 0] = 0;
	for (int renamed = 0; n > 0 && renamed < 2; renamed++) {
		char *beside = xasprintf("%.*s/%s%s", SL(path_folder(exe)), renamed ? "pt2-" : "", name);
		if (access(beside, X_OK) == 0)
			return beside;
		free(beside);
	}
	return child_which(name);
}

char *tool_need(const char *name, struct err *err)
{
	char *path = tool_find(name);
	if (!path)
		err_set(err, EXIT_ENVIRON, "cannot find '%s', a tool of pt2utils: it should lie beside this program", name);
	return path;
}

char *tool_or_die(const char *name)
{
	struct err err;
	char *path = tool_need(name, &err);
	if (!path)
		die_err(&err);
	return path;
}
