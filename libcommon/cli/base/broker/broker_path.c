/* Where files are made and removed for a sealed tool: below folders that the broker made itself. Each component of a path is opened
 * relative to the previous one, and no link is followed, so nothing in these folders can lead out of them. */
#include "base/broker/broker.h"
#include "base/broker/broker_part.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static char **folders;
static size_t n_folders, cap_folders;

void broker_path_add(const char *folder) { PUSH_TO(folders, n_folders, cap_folders) = xstrdup(folder); }

void broker_path_drop(const char *folder)
{
	for (size_t i = 0; i < n_folders; i++)
		if (!strcmp(folders[i], folder)) {
			free(folders[i]);
			folders[i] = folders[--n_folders];
			return;
		}
}

/* The rest of path below one of the folders: "" for the folder itself; NULL: it is in none of them. */
static const char *below(const char *path, const char **folder)
{
	const char *rest = NULL;
	for (size_t i = 0; i < n_folders && !rest; i++)
		if ((rest = path_below(path, folders[i])))
			*folder = folders[i];
	return rest;
}

/* True: no name is empty, "." or "..". */
static bool stays(const char *rest)
{
	for (;;) {
		const size_t n = strcspn(rest, "/");
		if (!n || (n <= 2 && !strncmp(rest, "..", n)))
			return false;
		if (!rest[n])
			return true;
		rest += n + 1;
	}
}

bool broker_path_is_ours(const char *path)
{
	const char *folder, *rest = below(path, &folder);
	return rest && (!*rest || stays(rest));
}

int broker_path_parent(const char *path, const char **name)
{
	const char *folder, *rest = below(path, &folder);
	errno = EACCES;
	if (!rest || !stays(rest))
		return -1;
	int at = open(folder, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	for (const char *slash; at >= 0 && (slash = strchr(rest, '/')); rest = slash + 1) {
		char *one = xstrndup(rest, (size_t)(slash - rest));
		int next = openat(at, one, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), why = errno;
		close(at);
		free(one);
		errno = why;
		at = next;
	}
	*name = rest;
	return at;
}
