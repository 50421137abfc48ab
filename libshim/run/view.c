/* A view of the files for the model's process: its own, the libraries that it may need, and nothing else of the user's. A mount namespace
 * (as bubblewrap makes it): a small root of its own with binds of what is listed here, read-only, and the old root gone. Who is not root
 * has the power for that in a user namespace only, which the kernel, its administrator or a container may refuse; then all stays as it
 * was, and the filter and Landlock stand as they do anyhow. Before Landlock, under which nothing can be mounted; after keeper_start(),
 * whose process stays outside. */
#include "run.h"

#include "aten/blas.h"
#include "watch/event.h"
#include "base/process/linux.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/* A tree that is taken before the root changes and put where it was afterwards. Nothing is made below a place, for that would be made on
 * the user's disk. */
struct place {
	char *path;
	int tree; /* -1: a link */
	bool dir;
};
struct view {
	struct place v[128];
	size_t n;
};

static bool covered(const struct view *w, const char *path)
{
	for (size_t i = 0; i < w->n; i++)
		if (path_below(path, w->v[i].path))
			return true;
	return false;
}

static void add_place(struct view *w, const char *path, int tree, bool dir)
{
	if (w->n == ARRAY_LEN(w->v)) {
		if (tree >= 0)
			close(tree);
		return;
	}
	w->v[w->n++] = (struct place){.path = xstrdup(path), .tree = tree, .dir = dir};
}

/* False: it is missing, or cannot be taken. */
static bool show(struct view *w, const char *path)
{
	struct stat st;
	if (covered(w, path))
		return true;
	if (*path != '/' || !path[1] || strstr(path, "/../") || stat(path, &st) < 0)
		return false;
	int tree = (int)syscall(SYS_open_tree, AT_FDCWD, path, 1u /* OPEN_TREE_CLONE */ | O_CLOEXEC | AT_RECURSIVE);
	if (tree >= 0)
		add_place(w, path, tree, S_ISDIR(st.st_mode));
	return tree >= 0;
}

static bool show_folder_of(struct view *w, const char *path)
{
	const struct slice folder = path_folder(path);
	FREED char *name = xstrndup(folder.p, folder.n);
	return show(w, name);
}

static void show_folder(void *arg, const char *path) { show_folder_of(arg, path); }

/* ---- what it sees ---- */

/* Folders of the system's; of a link (/lib, usually) the link. */
static bool show_system(struct view *w)
{
	static const char *const links[] = {"/lib", "/lib32", "/lib64", "/libx32"};
	static const char *const rest[] = {"/nix/store",
					   "/gnu/store",
					   "/etc/alternatives",
					   "/etc/ld.so.cache",
					   "/sys/devices/system/cpu",
					   "/sys/devices/system/node",
					   "/dev/null",
					   "/dev/zero",
					   "/dev/full",
					   "/dev/random",
					   "/dev/urandom",
					   "/proc/cpuinfo",
					   "/proc/meminfo",
					   "/proc/stat",
					   "/proc/sys/vm/overcommit_memory"};
	char own[32];
	snprintf(own, sizeof(own), "/proc/%d", getpid());
	if (!show(w, "/usr") || !show(w, own))
		return false;
	add_place(w, "/proc/self", -1, false);
	for (size_t i = 0; i < ARRAY_LEN(links); i++) {
		struct stat st;
		if (lstat(links[i], &st) == 0 && S_ISLNK(st.st_mode))
			add_place(w, links[i], -1, false);
		else
			show(w, links[i]);
	}
	for (size_t i = 0; i < ARRAY_LEN(rest); i++)
		show(w, rest[i]);
	return true;
}

/* An installed libtorch needs libraries of packages beside torch (nvidia/, mkl): those of its environment, ENV/lib. Else its folder. */
static bool show_torch(struct view *w, const char *torch)
{
	const char *in = strstr(torch, "/lib/python"), *site = strstr(torch, "/torch/lib/");
	for (const char *next = in; next && (next = strstr(next + 1, "/lib/python"));)
		in = next;
	if ((!in && !site) || slice_ends(slice_str(torch), "/libpt2shim.so"))
		return show_folder_of(w, torch);
	FREED char *top = xstrndup(torch, in ? (size_t)(in - torch) + 4 : (size_t)(site - torch));
	return show(w, top);
}

/* A library of operators, and the libraries beside it. */
static bool show_library(struct view *w, const char *path)
{
	const struct slice folder = path_folder(path);
	FREED char *name = xstrndup(folder.p, folder.n);
	bool seen = show(w, path);
	DIR *d = opendir(name);
	for (struct dirent *e; d && (e = readdir(d));)
		if (strstr(e->d_name, ".so")) {
			FREED char *beside = xasprintf("%s/%s", name, e->d_name);
			show(w, beside);
		}
	if (d)
		closedir(d);
	return seen;
}

static void show_search_path(struct view *w)
{
	const char *path = getenv("LD_LIBRARY_PATH");
	for (const char *end; path && *path; path = *end ? end + 1 : end) {
		end = path + strcspn(path, ":;");
		FREED char *folder = xstrndup(path, (size_t)(end - path));
		show(w, folder);
	}
}

static bool show_all(struct view *w, const struct job *j)
{
	const char *const own[] = {j->weights, j->blob, j->extern_nodes};
	const char *probe = j->watched ? getenv(live_env_name(LIVE_ENV_DIR)) : NULL;
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	exe[n > 0 ? n : 0] = 0;
	bool all = show_system(w) && show_folder_of(w, j->model) && show_torch(w, j->torch) && show_folder_of(w, exe);
	for (size_t i = 0; i < ARRAY_LEN(own) && all; i++)
		all = !own[i] || show(w, own[i]);
	if (probe && all)
		all = show(w, probe);
	for (unsigned i = 0; i < j->n_load && all; i++)
		all = show_library(w, j->load[i]);
	if (all)
		show_search_path(w);
	if (all)
		aten_blas_files(show_folder, w);
	return all;
}

/* ---- the root ---- */

/* Makes the folders that a place lies in, below the present folder. */
static bool make_above(const char *path)
{
	FREED char *p = xstrdup(path + 1);
	for (char *slash = p; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = 0;
		if (mkdir(p, 0755) < 0 && errno != EEXIST)
			return false;
	}
	return true;
}

static bool put_link(const char *path)
{
	char to[4096];
	ssize_t n = readlink(path, to, sizeof(to) - 1);
	to[n > 0 ? n : 0] = 0;
	return n > 0 && symlink(to, path + 1) == 0;
}

static bool put(const struct place *p)
{
	if (!make_above(p->path))
		return false;
	if (p->tree < 0)
		return put_link(p->path);
	if (p->dir ? mkdir(p->path + 1, 0755) < 0 && errno != EEXIST : mknod(p->path + 1, S_IFREG | 0644, 0) < 0)
		return false;
	return syscall(SYS_move_mount, p->tree, "", AT_FDCWD, p->path + 1, 4u /* MOVE_MOUNT_F_EMPTY_PATH */) == 0;
}

/* struct mount_attr of Linux 5.12. Before it binds can be written as far as their owner may; the filter lets nothing be written. */
static void read_only(void)
{
	const uint64_t attr[4] = {1 /* MOUNT_ATTR_RDONLY */ | 2 /* _NOSUID */};
	syscall(SYS_mount_setattr, AT_FDCWD, "/", AT_RECURSIVE, attr, sizeof(attr));
}

/* False, and errno: all is as it was. */
static bool change_root(const struct view *w, const char *over)
{
	int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC), why;
	bool done = here >= 0 && mount("tmpfs", over, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=64k") == 0, made = done;
	done = done && chdir(over) == 0;
	for (size_t i = 0; i < w->n && done; i++)
		done = put(&w->v[i]);
	done = done && syscall(SYS_pivot_root, ".", ".") == 0;
	why = errno;
	if (made) /* the old root, or what was made */
		umount2(done ? "." : over, MNT_DETACH);
	if (done)
		read_only();
	if (done ? chdir("/") < 0 : here >= 0 && fchdir(here) < 0)
		why = errno;
	if (here >= 0)
		close(here);
	errno = why;
	return done;
}

/* ---- the namespace ---- */

static bool write_map(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool wrote = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	if (fd >= 0)
		close(fd);
	return wrote;
}

static bool own_namespace(void)
{
	const unsigned uid = geteuid(), gid = getegid();
	char map[64];
	if (unshare(CLONE_NEWNS) == 0) /* our mounts are seen nowhere else */
		return mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 || !write_map("/proc/self/setgroups", "deny"))
		return false;
	snprintf(map, sizeof(map), "%u %u 1", uid, uid);
	if (!write_map("/proc/self/uid_map", map))
		return false;
	snprintf(map, sizeof(map), "%u %u 1", gid, gid);
	return write_map("/proc/self/gid_map", map);
}

bool view_enter(const struct job *j, const char **why)
{
	struct view w = {.n = 0};
	const struct slice folder = path_folder(j->model);
	FREED char *over = xstrndup(folder.p, folder.n);
	bool done = false;
	*why = NULL;
	if (!own_namespace())
		*why = strerror(errno);
	else if (errno = 0, !show_all(&w, j))
		*why = errno ? strerror(errno) : "a path is not absolute";
	else if (!(done = change_root(&w, over)))
		*why = strerror(errno);
	for (size_t i = 0; i < w.n; i++) {
		if (w.v[i].tree >= 0)
			close(w.v[i].tree);
		free(w.v[i].path);
	}
	return done;
}
