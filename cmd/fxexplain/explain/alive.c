/* alive.c - /proc/PID/fd and fdinfo (proc(5)), and the time of the last write. */
#include "explain/alive.h"

#include "base/buf.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FILES = 4096, RECENT_S = 24 * 3600 }; /* older logs have ended */

struct open_file {
	dev_t dev;
	ino_t ino;
	uint32_t writer;
};
static struct open_file *file;
static size_t n_file, cap_file;

static void add_candidate(const struct stat *st)
{
	if (S_ISREG(st->st_mode) && n_file < MOST_FILES && time(NULL) - st->st_mtime < RECENT_S)
		PUSH_TO(file, n_file, cap_file) = (struct open_file){.dev = st->st_dev, .ino = st->st_ino};
}

static void add_folder(const char *path)
{
	DIR *d = opendir(path);
	struct stat st;
	for (struct dirent *e; d && (e = readdir(d));)
		if (*e->d_name != '.' && fstatat(dirfd(d), e->d_name, &st, 0) == 0)
			add_candidate(&st);
	if (d)
		closedir(d);
}

/* "flags:	0100001", octal */
static bool is_for_writing(int process, const char *fd)
{
	char name[300], text[256];
	snprintf(name, sizeof(name), "fdinfo/%s", fd);
	int in = openat(process, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = in < 0 ? 0 : read(in, text, sizeof(text) - 1);
	if (in >= 0)
		close(in);
	text[n > 0 ? n : 0] = 0;
	const char *flags = strstr(text, "flags:");
	return flags && (strtoul(flags + strlen("flags:"), NULL, 8) & O_ACCMODE) != O_RDONLY;
}

static void look_into(int process, uint32_t pid)
{
	int in = openat(process, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = in < 0 ? NULL : fdopendir(in);
	struct stat st;
	if (!d && in >= 0)
		close(in);
	for (struct dirent *e; d && (e = readdir(d));) {
		if (*e->d_name == '.' || fstatat(dirfd(d), e->d_name, &st, 0) < 0 || !S_ISREG(st.st_mode))
			continue;
		for (size_t i = 0; i < n_file; i++)
			if (file[i].ino == st.st_ino && file[i].dev == st.st_dev && !file[i].writer && is_for_writing(process, e->d_name))
				file[i].writer = pid;
	}
	if (d)
		closedir(d);
}

void alive_look(const char *const *path, int n)
{
	struct stat st;
	for (int i = 0; i < n; i++)
		if (stat(path[i], &st) == 0 && S_ISDIR(st.st_mode))
			add_folder(path[i]);
		else if (stat(path[i], &st) == 0)
			add_candidate(&st);
	DIR *d = n_file ? opendir("/proc") : NULL;
	for (struct dirent *e; d && (e = readdir(d));) {
		uint64_t pid;
		int process;
		if (!slice_u64(slice_str(e->d_name), &pid) || pid == (uint64_t)getpid())
			continue;
		process = openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (process < 0)
			continue;
		look_into(process, (uint32_t)pid);
		close(process);
	}
	if (d)
		closedir(d);
}

void alive_tell(struct facts *f, uint32_t input)
{
	struct fact_input *in = &f->input[input];
	struct slice name = in->file == NONE ? slice_of("", 0) : facts_text(f, in->file);
	FREED char *path = xstrndup(name.p, name.n);
	struct stat st;
	if (!*path || stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	time_t now = time(NULL);
	in->age = now > st.st_mtime ? (double)(now - st.st_mtime) : 0;
	for (size_t i = 0; i < n_file; i++)
		if (file[i].dev == st.st_dev && file[i].ino == st.st_ino)
			in->writer = file[i].writer;
}
