#include "top/proc.h"

#include "base/buf.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1 << 20, DEEPEST = 64 };

bool proc_alive(pid_t pid) { return pid > 0 && (kill(pid, 0) == 0 || errno == EPERM); }

bool proc_holds(pid_t pid, const char *path)
{
	char folder[64];
	struct stat file, st;
	snprintf(folder, sizeof(folder), "/proc/%d/fd", (int)pid);
	DIR *d = opendir(folder);
	bool holds = !d && errno == EACCES;
	if (stat(path, &file) < 0)
		holds = false;
	else
		for (struct dirent *e; d && !holds && (e = readdir(d));)
			holds = fstatat(dirfd(d), e->d_name, &st, 0) == 0 && st.st_dev == file.st_dev && st.st_ino == file.st_ino;
	if (d)
		closedir(d);
	return holds;
}

static bool read_proc(pid_t pid, const char *name, struct buf *b)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 0;
	while (fd >= 0 && b->len < MOST && (n = read(fd, buf_room(b, 4096), 4096)) > 0)
		buf_wrote(b, (size_t)n);
	if (fd >= 0)
		close(fd);
	return fd >= 0 && n >= 0;
}

bool proc_readable(pid_t pid)
{
	LOCAL_BUF b = {0};
	return read_proc(pid, "environ", &b);
}

bool proc_maps(pid_t pid, const char *text)
{
	LOCAL_BUF b = {0};
	return read_proc(pid, "maps", &b) && slice_has(buf_slice(&b), text);
}

void proc_command(pid_t pid, struct buf *b)
{
	LOCAL_BUF words = {0};
	if (!read_proc(pid, "cmdline", &words))
		return;
	for (size_t i = 0; i < words.len; i++)
		buf_addc(b, words.p[i] ? words.p[i] : ' ');
	while (b->len && b->p[b->len - 1] == ' ')
		buf_cut(b, b->len - 1);
}

char *proc_environ(pid_t pid, const char *name)
{
	LOCAL_BUF b = {0};
	const size_t len = strlen(name);
	if (!read_proc(pid, "environ", &b))
		return NULL;
	for (const char *p = buf_str(&b), *end = p + b.len; p < end; p += strlen(p) + 1)
		if (!strncmp(p, name, len) && p[len] == '=')
			return xstrdup(p + len + 1);
	return NULL;
}

/* A field of /proc/PID/stat, from 1 as proc(5) counts them, after the name, which may hold blanks and brackets; 0: none. */
static uint64_t stat_field(pid_t pid, int field)
{
	LOCAL_BUF b = {0};
	uint64_t value = 0;
	if (!read_proc(pid, "stat", &b))
		return 0;
	const char *p = strrchr(buf_str(&b), ')');
	struct slice rest = p ? slice_str(p + 1) : slice_of(NULL, 0);
	for (int at = 2; rest.n && at < field; at++)
		rest = slice_behind(rest, " ");
	return slice_u64(slice_until(slice_until(rest, " "), "\n"), &value) ? value : 0;
}

static pid_t parent_of(pid_t pid) { return (pid_t)stat_field(pid, 4); }
static uint64_t start_of(pid_t pid) { return stat_field(pid, 22); } /* clock ticks since the machine started */

static pid_t *all_processes(size_t *n)
{
	DIR *d = opendir("/proc");
	pid_t *v = NULL;
	size_t cap = 0;
	*n = 0;
	for (struct dirent *e; d && (e = readdir(d));) {
		uint64_t pid;
		if (slice_u64(slice_str(e->d_name), &pid))
			PUSH_TO(v, *n, cap) = (pid_t)pid;
	}
	if (d)
		closedir(d);
	return v;
}

pid_t proc_newest_with(const char *name)
{
	size_t n;
	FREED pid_t *v = all_processes(&n);
	pid_t found = 0;
	uint64_t newest = 0;
	for (size_t i = 0; i < n; i++) {
		FREED char *value = v[i] == getpid() ? NULL : proc_environ(v[i], name);
		const uint64_t start = value && *value ? start_of(v[i]) : 0;
		if (start > newest) {
			newest = start;
			found = v[i];
		}
	}
	return found;
}

bool proc_descends(pid_t pid, pid_t from)
{
	for (int i = 0; i < DEEPEST && pid > 1; i++, pid = parent_of(pid))
		if (pid == from)
			return true;
	return false;
}

/* Of the machine, also of the time that it slept: what start_of() counts from. */
static double uptime(void)
{
	struct timespec t;
	clock_gettime(CLOCK_BOOTTIME, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double proc_seconds(pid_t pid)
{
	const double seconds = uptime() - (double)start_of(pid) / (double)sysconf(_SC_CLK_TCK);
	return seconds > 0 ? seconds : 0;
}

pid_t proc_child_with(pid_t pid, const char *name)
{
	size_t n;
	FREED pid_t *v = all_processes(&n);
	pid_t found = 0;
	uint64_t first = UINT64_MAX;
	for (size_t i = 0; i < n; i++) {
		FREED char *value = v[i] != pid && proc_descends(v[i], pid) ? proc_environ(v[i], name) : NULL;
		const uint64_t start = value && *value ? start_of(v[i]) : UINT64_MAX;
		if (start < first) {
			first = start;
			found = v[i];
		}
	}
	return found;
}

/* What a compiler compiles: its last argument that is a source. torch/_inductor/cpp_builder.py starts g++ and the like, Triton its own
 * ptxas. */
static char *job_of(pid_t pid)
{
	static const char *const compiler[] = {"cc1plus", "cc1", "clang", "nvcc", "cicc", "ptxas", "ld", "ld.lld", "hipcc"};
	static const char *const source[] = {".cpp", ".cu", ".ptx", ".c"};
	LOCAL_BUF args = {0};
	struct slice what = {0};
	bool is = false;
	if (!read_proc(pid, "cmdline", &args) || !args.len)
		return NULL;
	const char *name = path_base(buf_str(&args));
	for (size_t i = 0; i < ARRAY_LEN(compiler); i++)
		is |= !strcmp(name, compiler[i]);
	for (const char *p = buf_str(&args), *end = p + args.len; is && p < end; p += strlen(p) + 1)
		if (*p != '.' && slice_any(slice_str(p), source, slice_ends)) /* not the .cpp of -dumpbase-ext .cpp */
			what = slice_base(slice_str(p));
	/* its name is a hash */
	return is ? xasprintf("%s%s%.*s%s", name, what.n ? " " : "", SLN(what, 8), what.n > 8 ? "..." : "") : NULL;
}

static int longest_first(const void *a, const void *b)
{
	const struct proc_job *x = a, *y = b;
	return (x->seconds < y->seconds) - (x->seconds > y->seconds);
}

void proc_compilers(pid_t pid, struct proc_list *list)
{
	size_t n;
	FREED pid_t *v = all_processes(&n);
	for (size_t i = 0; i < n; i++) {
		char *what = v[i] == pid ? NULL : job_of(v[i]);
		if (what && proc_descends(v[i], pid)) {
			PUSH_TO(list->v, list->n, list->cap) = (struct proc_job){v[i], what, proc_seconds(v[i])};
		} else {
			free(what);
		}
	}
	if (list->n)
		qsort(list->v, list->n, sizeof(*list->v), longest_first);
}

void proc_list_release(struct proc_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->v[i].what);
	free(list->v);
	*list = (struct proc_list){0};
}
