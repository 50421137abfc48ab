#include "base/tool/tempfolder.h"

#include "base/tool/diag.h"
#include "base/tool/output.h"
#include "base/process/elsewhere.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define BOOT_ID 64
#define NEW_PREFIX ".pt2utils-new." /* a folder without a mark yet; then it gets its name */

static const struct {
	const char *prefix;
	size_t longest; /* maximum length of the parent folder; 0: no limit */
} kinds[TEMP_KINDS] = {
    [TEMP_PRINTER] = {"aoti-printer.", 0},
    [TEMP_NANASSERT] = {"aoti-nanassert.", 0},
    [TEMP_EXPLAIN] = {"fxexplain.", 0},
    [TEMP_MINIFY] = {"fxminify.", 0},
    [TEMP_VERIFY] = {"aoti-verify.", 0},
    [TEMP_RUN] = {"pt2run.", 0},
    [TEMP_FRONT] = {"pt2.", 0},
    [TEMP_LIVE] = {"pt2live.", 64}, /* a socket's path is short (sun_path) */
};

struct temp {
	struct temp *next;
	char *path;
	int mark; /* -1: another process keeps it (base/process/elsewhere.h) */
	pid_t owner;
};
static struct temp *temps;
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER; /* of the list; not taken when the tool dies */

static void boot_id(char id[BOOT_ID])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, id, BOOT_ID - 1);
	id[n > 0 ? n : 0] = 0;
	if (fd >= 0)
		close(fd);
}

/* The mark goes last, and under the name of a folder that has none yet: whenever this is interrupted, the rest is swept later. */
static void remove_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	FREED char *new = xasprintf("%.*s/" NEW_PREFIX "%s", (int)(slash - path), path, path + strlen(path) - strlen(TEMP_RANDOM));
	DIR *d = opendir(path);
	for (struct dirent *e; d && (e = readdir(d));) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") || !strcmp(e->d_name, TEMP_MARK))
			continue;
		FREED char *in = xasprintf("%s/%s", path, e->d_name);
		remove_tree(in);
	}
	if (d)
		closedir(d);
	remove_tree(rename(path, new) == 0 ? new : path);
}

/* ---- leftovers of others ---- */

static bool has_prefix(const char *name, const char *prefix)
{
	size_t n = strlen(prefix);
	return !strncmp(name, prefix, n) && strlen(name) == n + strlen(TEMP_RANDOM);
}

static bool name_is_ours(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (has_prefix(name, kinds[i].prefix))
			return true;
	return false;
}

/* The lock of a folder whose owner is gone, now ours; -1: it has an owner, or is not our folder. A new one without a mark
 * is removed at once: its owner, if there is one, creates another. */
static int take_lock(int parent_fd, const char *name, const char *boot)
{
	bool is_new = has_prefix(name, NEW_PREFIX);
	char id[BOOT_ID] = "";
	struct stat st;
	int dir = is_new || name_is_ours(name) ? openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1, fd = -1;
	if (dir < 0)
		return -1;
	if (fstat(dir, &st) == 0 && st.st_uid == geteuid()) {
		fd = openat(dir, TEMP_MARK, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0 && is_new)
			unlinkat(parent_fd, name, AT_REMOVEDIR); /* if it is empty */
	}
	close(dir);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    (is_new || (read(fd, id, sizeof(id) - 1) > 0 && !strcmp(id, boot))) && flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	close(fd);
	return -1;
}

static void sweep(const char *path, const char *boot)
{
	DIR *d = *boot ? opendir(path) : NULL;
	for (struct dirent *e; d && (e = readdir(d));) {
		int lock = take_lock(dirfd(d), e->d_name, boot);
		if (lock < 0)
			continue;
		FREED char *left = xasprintf("%s/%s", path, e->d_name);
		remove_folder(left);
		close(lock);
	}
	if (d)
		closedir(d);
}

/* ---- our own folder ---- */

/* Has this process a folder there? Then what others left was removed when it made that one: a large /tmp takes a millisecond. */
static bool is_swept(const char *in)
{
	const size_t n = strlen(in);
	bool swept = false;
	pthread_mutex_lock(&list_lock);
	for (const struct temp *t = temps; t; t = t->next)
		swept |= t->mark >= 0 && t->owner == getpid() && !strncmp(t->path, in, n) && strrchr(t->path, '/') == t->path + n;
	pthread_mutex_unlock(&list_lock);
	return swept;
}

static void remove_temp(struct temp *t)
{
	if (t->owner != getpid()) /* not in a fork that dies */
		return;
	if (t->mark < 0)
		elsewhere->temp_folder_remove(t->path);
	else
		remove_folder(t->path);
}

void temp_folder_remove_all(void)
{
	for (struct temp *t = temps; t; t = t->next)
		remove_temp(t);
}

/* Allocates nothing: the folder is there, and would be left. */
static char *add_temp(struct temp *t, char *path, int mark)
{
	static bool told;
	pthread_mutex_lock(&list_lock);
	*t = (struct temp){temps, path, mark, getpid()};
	temps = t;
	if (!told)
		diag_at_die(temp_folder_remove_all);
	told = true;
	pthread_mutex_unlock(&list_lock);
	return path;
}

/* Gives the new folder its locked mark and then its name, so that none has a name but no mark. Returns the mark, or -1 with errno. */
static int make_mark(const char *folder, const char *name, const char *boot)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s/" TEMP_MARK, folder);
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600), why = 0;
	if (fd < 0 || (*boot && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) ||
	    write_all(fd, boot, strlen(boot), path, NULL) < 0 || rename(folder, name) < 0)
		why = errno;
	if (why && fd >= 0)
		close(fd);
	errno = why;
	return why ? -1 : fd;
}

static const char MEMORY[] = "/dev/shm";
static bool in_memory[TEMP_KINDS];

void temp_folder_in_memory(enum temp_kind kind, uint64_t bytes)
{
	const char *tmp = getenv("TMPDIR");
	struct statfs fs;
	in_memory[kind] = (!tmp || !*tmp) && statfs(MEMORY, &fs) == 0 && (unsigned long)fs.f_type == TMPFS_MAGIC &&
			  (kind != TEMP_RUN || !((unsigned long)fs.f_flags & ST_NOEXEC)) && access(MEMORY, W_OK | X_OK) == 0 &&
			  (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize >= bytes;
}

char *temp_folder(enum temp_kind kind, struct err *err)
{
	char in[PATH_MAX], boot[BOOT_ID];
	if (elsewhere) {
		char *far = elsewhere->temp_folder((int)kind, err);
		return far ? add_temp(xcalloc(1, sizeof(struct temp)), far, -1) : NULL;
	}
	if (temp_place(kinds[kind].longest, in, err) < 0)
		return NULL;
	if (in_memory[kind])
		memcpy(in, MEMORY, sizeof(MEMORY));
	boot_id(boot);
	if (!is_swept(in))
		sweep(in, boot);
	for (int tries = 0; tries < 10; tries++) {
		const size_t random = strlen(TEMP_RANDOM);
		struct temp *t = xcalloc(1, sizeof(*t));
		char *new = xasprintf("%s/" NEW_PREFIX TEMP_RANDOM, in), *path = xasprintf("%s/%s" TEMP_RANDOM, in, kinds[kind].prefix);
		const char *made = mkdtemp(new);
		memcpy(path + strlen(path) - random, new + strlen(new) - random, random);
		int mark = made ? make_mark(new, path, boot) : -1, why = errno;
		if (mark < 0 && made)
			remove_tree(new);
		free(new);
		if (mark >= 0)
			return add_temp(t, path, mark);
		free(t);
		free(path);
		errno = why;
		/* swept before it had its mark, or the name is taken: try another */
		if (!made || (why != EWOULDBLOCK && why != ENOENT && why != ENOTEMPTY && why != EEXIST && why != ENOTDIR))
			break;
	}
	err_errno(err, EXIT_ENVIRON, "cannot create a directory in '%s'", in);
	temp_failed(err);
	return NULL;
}

void temp_folder_remove(char *path)
{
	if (!path)
		return;
	struct temp *t;
	pthread_mutex_lock(&list_lock);
	for (t = temps; t && t->path != path; t = t->next)
		;
	pthread_mutex_unlock(&list_lock);
	if (t) {
		remove_temp(t); /* in the list until it is gone: when memory runs out, the list is what is cleaned up (base/oom.h) */
		pthread_mutex_lock(&list_lock);
		struct temp **p = &temps;
		while (*p != t)
			p = &(*p)->next;
		*p = t->next;
		pthread_mutex_unlock(&list_lock);
		if (t->mark >= 0)
			close(t->mark); /* after: nobody sweeps what is being removed */
		free(t);
	}
	free(path);
}
