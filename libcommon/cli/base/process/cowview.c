#include "base/process/cowview.h"

#include "base/json.h"
#include "base/process/child.h"
#include "base/process/linux.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_PLACES = 512, MOST_ENTRIES = 200, DEEPEST = 8 };

/* A folder or file of the view. That an overlay has no mounts below its lower layer is asked for by the kernel in a user namespace
 * (clone_private_mount). */
struct place {
	char *path, *at; /* at: where it is put */
	char *upper, *work, *options, *to;
	enum { PLACE_OVERLAY, PLACE_FOLDER, PLACE_MEMORY, PLACE_AS_IS, PLACE_SHOWN, PLACE_READ_ONLY, PLACE_LINK } how;
	bool dir;
	struct stat st;
};
struct mounted {
	char *path;
	bool kernels;
};
struct cowview {
	char *stage, *root, *cwd, *shown;
	char **needed; /* NULL-terminated */
	bool on_disk;
	char uid_map[32], gid_map[32]; /* user and group to themselves */
	struct mounted *mount;
	size_t n_mount, cap_mount;
	struct place *v; /* a folder before what is in it */
	size_t n, cap;
};

/* ---- what there is ---- */

/* File systems of the kernel's, not of the user's files: shown as they are, with all that is below. */
static bool is_kernels(struct slice type)
{
	static const char *const types[] = {"proc",       "sysfs",    "cgroup",    "cgroup2",    "devtmpfs",   "devpts",
					    "mqueue",     "bpf",      "debugfs",   "tracefs",    "securityfs", "pstore",
					    "configfs",   "efivarfs", "hugetlbfs", "fusectl",    "autofs",     "nsfs",
					    "rpc_pipefs", "binder",   "selinuxfs", "binfmt_misc"};
	return slice_any(type, types, slice_is);
}

/* The kernel writes blanks, tabs, newlines and backslashes in octal. */
static char *unescape(struct slice s)
{
	char *out = xstrndup(s.p, s.n), *to = out;
	for (const char *p = out; *p; p++)
		if (p[0] == '\\' && p[1] && p[2] && p[3]) {
			*to++ = (char)((p[1] - '0') * 64 + (p[2] - '0') * 8 + (p[3] - '0'));
			p += 3;
		} else {
			*to++ = *p;
		}
	*to = 0;
	return out;
}

static struct slice next_word(struct slice *rest)
{
	const char *blank = slice_chr(*rest, ' ');
	struct slice word = slice_of(rest->p, blank ? (size_t)(blank - rest->p) : rest->n);
	*rest = blank ? slice_of(blank + 1, rest->n - word.n - 1) : slice_of(NULL, 0);
	return word;
}

/* "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue" (proc(5)) */
static void read_mount(struct cowview *v, struct slice line)
{
	struct slice rest = line, word = {0};
	for (int i = 0; i < 5; i++)
		word = next_word(&rest);
	const char *dash = slice_find(rest, " - ");
	struct slice after = dash ? slice_of(dash + 3, (size_t)(rest.p + rest.n - dash - 3)) : slice_of(NULL, 0);
	PUSH_TO(v->mount, v->n_mount, v->cap_mount) = (struct mounted){.path = unescape(word), .kernels = is_kernels(next_word(&after))};
}

static int read_mounts(struct cowview *v, struct err *err)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t room = 0;
	ssize_t n;
	if (!f)
		return err_errno(err, EXIT_ENVIRON, "cannot read '/proc/self/mountinfo'");
	while ((n = getline(&line, &room, f)) > 0)
		read_mount(v, slice_trim(slice_of(line, (size_t)n)));
	free(line);
	fclose(f);
	return 0;
}

/* ---- how each is shown ---- */

static const char *below(const char *path, const char *top) { return path_below(path, top[1] ? top : ""); }

static bool has_mounts(const struct cowview *v, const char *path)
{
	for (size_t i = 0; i < v->n_mount; i++) {
		const char *rest = below(v->mount[i].path, path);
		if (rest && *rest)
			return true;
	}
	return false;
}

static bool is_kernel_mount(const struct cowview *v, const char *path)
{
	for (size_t i = v->n_mount; i-- > 0;) /* of two at one place, the later one is on top */
		if (!strcmp(v->mount[i].path, path))
			return v->mount[i].kernels;
	return false;
}

/* The command will want to write in it, or reads what is in it. */
static bool is_above_work(const struct cowview *v, const char *path)
{
	const char *const work[] = {v->cwd, getenv("HOME"), getenv("TMPDIR"), "/tmp", "/var/tmp"};
	for (size_t i = 0; i < ARRAY_LEN(work); i++)
		if (work[i] && below(work[i], path))
			return true;
	for (char **n = v->needed; n && *n; n++)
		if (below(*n, path))
			return true;
	return false;
}

/* Above the stage, where an overlay's upper layer would be in its lower one. */
static bool is_above_stage(const struct cowview *v, const char *path) { return v->on_disk && below(v->stage, path); }

/* Has to be shown, however many others there are: it is needed, or leads to what is. */
static bool has_to_be(const struct cowview *v, const char *path)
{
	if (is_above_stage(v, path) || below(v->cwd, path))
		return true;
	for (size_t i = 0; i < v->n_mount; i++)
		if (below(v->mount[i].path, path))
			return true;
	for (char **n = v->needed; n && *n; n++)
		if (below(*n, path))
			return true;
	return false;
}

static void drop(struct place *p)
{
	free(p->path);
	free(p->at);
	free(p->upper);
	free(p->work);
	free(p->options);
	free(p->to);
}

static bool fill_place(struct cowview *v, struct place *p, const char *path, unsigned depth)
{
	char to[PATH_MAX];
	if (lstat(path, &p->st) < 0)
		return false;
	p->dir = S_ISDIR(p->st.st_mode);
	const bool mounts = p->dir && has_mounts(v, path);
	if (S_ISLNK(p->st.st_mode)) {
		ssize_t n = readlink(path, to, sizeof(to) - 1);
		to[n > 0 ? n : 0] = 0;
		p->to = xstrdup(to);
		p->how = PLACE_LINK;
	} else if (v->shown && !strcmp(path, v->shown)) {
		p->how = PLACE_SHOWN;
	} else if (v->on_disk && !strcmp(path, "/dev/shm")) { /* memory stays memory */
		p->how = PLACE_MEMORY;
	} else if (!strcmp(path, "/dev") || is_kernel_mount(v, path)) {
		p->how = PLACE_AS_IS;
	} else if (is_above_stage(v, path) || (mounts && depth < DEEPEST && is_above_work(v, path))) {
		p->how = PLACE_FOLDER;
	} else if (mounts || !p->dir || strpbrk(path, ":,\\\"")) { /* a colon separates the layers of an overlay, a comma its options */
		p->how = PLACE_READ_ONLY;
	}
	p->path = xstrdup(path);
	p->at = xasprintf("%s%s", v->root, path[1] ? path : "");
	p->upper = xasprintf("%s/u%zu", v->stage, v->n);
	p->work = xasprintf("%s/w%zu", v->stage, v->n);
	p->options = xasprintf("lowerdir=%s,upperdir=%s,workdir=%s,userxattr", path, p->upper, p->work);
	return true;
}

static unsigned entries_of(const char *path)
{
	unsigned n = 0;
	DIR *d = opendir(path);
	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

/* The places of a path and, where the folder is made again, of what is in it: DEEPEST levels. */
static void add_place(struct cowview *v, const char *path, unsigned depth)
{
	struct place p = {.how = PLACE_OVERLAY};
	if ((v->n >= MOST_PLACES && !has_to_be(v, path)) || !fill_place(v, &p, path, depth))
		return;
	PUSH_TO(v->v, v->n, v->cap) = p;
	if (!strcmp(path, "/dev")) /* files like others, in a folder that is shown as it is */
		add_place(v, "/dev/shm", DEEPEST);
	if (p.how != PLACE_FOLDER && p.how != PLACE_MEMORY)
		return;
	const bool all = entries_of(path) <= MOST_ENTRIES;
	DIR *d = opendir(path);
	for (struct dirent *e; d && (e = readdir(d));) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		FREED char *in = xasprintf("%s/%s", path[1] ? path : "", e->d_name);
		if (all || has_to_be(v, in))
			add_place(v, in, depth + 1);
	}
	if (d)
		closedir(d);
}

void cowview_overlays(const struct cowview *v, struct buf *b)
{
	struct json_out o = {.b = b};
	json_arr(&o);
	for (size_t i = 0; i < v->n; i++)
		if (v->v[i].how == PLACE_OVERLAY) {
			json_arr(&o);
			json_out_str(&o, slice_str(v->v[i].path));
			json_out_str(&o, slice_str(v->v[i].upper));
			json_close(&o);
		}
	json_close(&o);
}

/* ---- in the child ---- */

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool wrote = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	if (fd >= 0)
		close(fd);
	return wrote;
}

/* Who has the power needs no user namespace, in which all other users' files would belong to nobody. */
static bool new_namespaces(const struct cowview *v)
{
	const int own = CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC;
	if (unshare(own) < 0 && (unshare(CLONE_NEWUSER | own) < 0 || !write_file("/proc/self/setgroups", "deny") ||
				 !write_file("/proc/self/uid_map", v->uid_map) || !write_file("/proc/self/gid_map", v->gid_map)))
		return false;
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static bool make_folder(const char *path, const struct stat *st)
{
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		return false;
	(void)!chown(path, st->st_uid, st->st_gid); /* another user's, in a user namespace: ours instead */
	return chmod(path, st->st_mode & 07777) == 0;
}

static bool make_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	return fd >= 0 && close(fd) == 0;
}

static bool bind_tree(const struct place *p) { return mount(p->path, p->at, NULL, MS_BIND | MS_REC, NULL) == 0; }

static bool bind_read_only(const struct place *p)
{
	const uint64_t attr[4] = {1 /* MOUNT_ATTR_RDONLY, Linux 5.12 */};
	return bind_tree(p) && syscall(SYS_mount_setattr, AT_FDCWD, p->at, AT_RECURSIVE, attr, sizeof(attr)) == 0;
}

static bool put(const struct place *p)
{
	switch (p->how) {
	case PLACE_LINK: return symlink(p->to, p->at) == 0;
	case PLACE_FOLDER: return make_folder(p->at, &p->st);
	default: break;
	}
	if (access(p->at, F_OK) < 0 && (p->dir ? !make_folder(p->at, &p->st) : !make_file(p->at)))
		return false;
	if (p->how == PLACE_MEMORY)
		return mount("tmpfs", p->at, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") == 0;
	if (p->how == PLACE_SHOWN) /* the stage's own mounts are in it */
		return mount(p->path, p->at, NULL, MS_BIND, NULL) == 0;
	if (p->how == PLACE_AS_IS)
		return bind_tree(p);
	if (p->how == PLACE_OVERLAY && make_folder(p->upper, &p->st) && mkdir(p->work, 0755) == 0 &&
	    mount("overlay", p->at, "overlay", MS_NOSUID | MS_NODEV, p->options) == 0)
		return true;
	return bind_read_only(p);
}

static bool loopback_up(void)
{
	struct ifreq r = {.ifr_flags = IFF_UP | IFF_RUNNING};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	memcpy(r.ifr_name, "lo", 3);
	bool done = fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &r) == 0;
	if (fd >= 0)
		close(fd);
	return done;
}

static bool enter(const struct cowview *v)
{
	char size[64];
	snprintf(size, sizeof(size), "mode=0755,size=%llu", COWVIEW_BYTES);
	if (!new_namespaces(v))
		return false;
	if (v->on_disk ? (mkdir(v->root, 0755) < 0 && errno != EEXIST) || mount("tmpfs", v->root, "tmpfs", MS_NOSUID | MS_NODEV, size) < 0
		       : mount("tmpfs", v->stage, "tmpfs", MS_NOSUID | MS_NODEV, size) < 0 || mkdir(v->root, 0755) < 0 ||
			     mount(v->root, v->root, NULL, MS_BIND, NULL) < 0)
		return false;
	for (size_t i = 0; i < v->n; i++) /* others' files come and go: those that the plan had are not all there */
		if (!put(&v->v[i]) && has_to_be(v, v->v[i].path))
			return false;
	return chdir(v->root) == 0 && syscall(SYS_pivot_root, ".", ".") == 0 && umount2(".", MNT_DETACH) == 0 && chdir(v->cwd) == 0 &&
	       loopback_up();
}

int cowview_enter(const struct cowview *v)
{
	int sig = 0;
	prctl(PR_GET_PDEATHSIG, &sig);
	errno = 0;
	if (!enter(v))
		return errno ? errno : EPERM;
	if (sig) /* other credentials end it (prctl(2)) */
		prctl(PR_SET_PDEATHSIG, sig);
	return 0;
}

/* ---- a process that makes views for others ---- */

/* An answer with the descriptor of this process's mount namespace; how >= 0: with that errno's text. */
static void answer(int sock, int failed)
{
	char text[128] = "ok", room[CMSG_SPACE(sizeof(int))] = {0};
	int fd = failed ? -1 : open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		snprintf(text, sizeof(text), "%s", strerror(failed ? failed : errno));
	struct iovec part = {text, strlen(text)};
	struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
	if (fd >= 0) {
		m.msg_control = room;
		m.msg_controllen = sizeof(room);
		struct cmsghdr *c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	(void)sendmsg(sock, &m, MSG_NOSIGNAL);
}

/* The descriptor keeps the namespace: who made it ends. */
static void keep(const struct cowview *v, int sock)
{
	char c;
	while (recv(sock, &c, 1, 0) > 0) {
		pid_t pid = fork();
		if (!pid) {
			answer(sock, cowview_enter(v));
			_exit(0);
		}
		if (pid < 0)
			answer(sock, errno);
		else
			waitpid(pid, NULL, 0);
	}
}

int cowview_keeper(const struct cowview *v, int sock)
{
	const pid_t parent = getpid();
	pid_t pid = fork();
	if (pid < 0)
		return errno;
	if (pid) {
		close(sock);
		return 0;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent) {
		/* pipes end with the program, not with this */
		if (dup2(sock, 0) == 0 && syscall(SYS_close_range, 1, ~0u, 0) == 0)
			keep(v, 0);
	}
	_exit(0);
}

/* ---- in the parent ---- */

void cowview_free(struct cowview *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < v->n; i++)
		drop(&v->v[i]);
	free(v->v);
	for (size_t i = 0; i < v->n_mount; i++)
		free(v->mount[i].path);
	free(v->mount);
	free(v->root);
	free(v->cwd);
	free(v->shown);
	for (char **n = v->needed; n && *n; n++)
		free(*n);
	free(v->needed);
	free(v->stage);
	free(v);
}

static int nothing(void *arg)
{
	(void)arg;
	return 0;
}

static int enter_of_trial(void *arg) { return cowview_enter(arg); }

static int try_it(struct cowview *v, struct err *err)
{
	static const char *const name[] = {"a confined command", NULL};
	struct child_result r;
	struct child_spec spec = {.argv = name,
				  .function = nothing,
				  .before_exec = enter_of_trial,
				  .arg = v,
				  .in.how = CHILD_NULL,
				  .out.how = CHILD_NULL,
				  .err.how = CHILD_NULL};
	if (child_run(&spec, &r, err) < 0)
		return -1;
	bool fine = r.how == CHILD_EXITED && r.status == 0;
	child_result_release(&r);
	return fine ? 0 : err_set(err, EXIT_ENVIRON, "a copy-on-write view of the files cannot be made here");
}

static void copy_needed(struct cowview *v, const char *const *needed)
{
	size_t n = 0;
	while (needed && needed[n])
		n++;
	v->needed = xcalloc(n + 1, sizeof(*v->needed));
	for (size_t i = 0; i < n; i++) {
		char real[PATH_MAX];
		v->needed[i] = xstrdup(realpath(needed[i], real) ? real : needed[i]);
	}
}

struct cowview *cowview_plan(const struct cowview_spec *spec, struct err *err)
{
	char cwd[PATH_MAX];
	struct cowview *v = xcalloc(1, sizeof(*v));
	snprintf(v->uid_map, sizeof(v->uid_map), "%u %u 1", geteuid(), geteuid());
	snprintf(v->gid_map, sizeof(v->gid_map), "%u %u 1", getegid(), getegid());
	if (!getcwd(cwd, sizeof(cwd))) {
		err_errno(err, EXIT_ENVIRON, "cannot read the working directory");
		free(v);
		return NULL;
	}
	v->cwd = xstrdup(cwd);
	v->stage = xstrdup(spec->folder);
	v->root = xasprintf("%s/root", spec->folder);
	v->shown = spec->shown ? xstrdup(spec->shown) : NULL;
	v->on_disk = spec->on_disk;
	copy_needed(v, spec->needed);
	if (read_mounts(v, err) == 0) {
		add_place(v, "/", 0);
		return v;
	}
	cowview_free(v);
	return NULL;
}

struct cowview *cowview_new(const char *folder, struct err *err)
{
	struct cowview *v = cowview_plan(&(struct cowview_spec){.folder = folder}, err);
	if (!v || try_it(v, err) == 0)
		return v;
	cowview_free(v);
	return NULL;
}
