/* run_part.c - folders, names, signals: see run_part.h. */
#include "run/run_part.h"
#include "base/process/child.h"
#include "base/text.h"
#include "base/tool/diag.h"
#include "base/tool/tempfolder.h"
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

static char *private;

const char *run_private_folder(void)
{
	struct err err;
	private = temp_folder(TEMP_EXPLAIN, &err);
	if (!private)
		die_err(&err);
	return private;
}

void run_remove_folder(void)
{
	temp_folder_remove(private);
	private = NULL;
}

/* --keep: a new or empty folder; its absolute path, since the command may change directory. */
char *run_kept_folder(const char *path)
{
	char whole[PATH_MAX];
	unsigned n = 0;
	if (mkdir(path, 0777) < 0 && errno != EEXIST)
		die_errno(EXIT_ENVIRON, "cannot create '%s'", path);
	DIR *d = opendir(path);
	if (!d || !realpath(path, whole))
		die_errno(EXIT_ENVIRON, "cannot use '%s'", path);
	for (struct dirent *e; (e = readdir(d));)
		n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
	closedir(d);
	if (n)
		die(EXIT_USAGE, "'%s' is not empty: --keep needs a new or empty directory", path);
	return xstrdup(whole);
}

void run_list(struct run_names *names, const char *dir)
{
	DIR *d = opendir(dir);
	for (struct dirent *e; d && (e = readdir(d));) {
		size_t n = strlen(e->d_name);
		if (n < 4 || strcmp(e->d_name + n - 4, ".log"))
			continue;
		PUSH_TO(names->v, names->n, names->cap) = xasprintf("%s/%s", dir, e->d_name);
	}
	if (d)
		closedir(d);
}

void run_names_release(struct run_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->v[i]);
	free(names->v);
	*names = (struct run_names){0};
}

static struct sigaction xfsz; /* as inherited */

void run_keep_signal(void) { sigaction(SIGXFSZ, NULL, &xfsz); }

int run_as_before(void *arg)
{
	(void)arg;
	return sigaction(SIGXFSZ, &xfsz, NULL) < 0 ? errno : 0;
}
