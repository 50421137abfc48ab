/* broker: what a tool can still do once it is sealed, and what its broker does for somebody who has taken it over. */
#include "../../lib/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/broker/broker.h"
#include "base/broker/broker_part.h"
#include "base/process/confine.h"
#include "base/process/elsewhere.h"
#include "base/tool/output.h"
#include "base/tool/tempfolder.h"

static char folder[64], victim[128], fresh[128];

static void make_victim(void)
{
	snprintf(folder, sizeof(folder), "%s/pt2broker.XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	assert_non_null(mkdtemp(folder));
	snprintf(victim, sizeof(victim), "%s/victim", folder);
	snprintf(fresh, sizeof(fresh), "%s/fresh", folder);
	int fd = open(victim, O_WRONLY | O_CREAT, 0666);
	assert_true(fd >= 0 && write(fd, "precious", 8) == 8);
	close(fd);
}

static void check_victim(void)
{
	struct stat st;
	assert_true(stat(victim, &st) == 0 && st.st_size == 8 && (st.st_mode & 0777) != 0777);
	assert_int_not_equal(access(fresh, F_OK), 0);
	assert_int_equal(unlink(victim), 0);
	assert_int_equal(rmdir(folder), 0); /* nothing else is in it */
}

/* Runs a part in a process of its own, which says by its status that all went well; else what it has printed tells why. */
static void in_process(void (*part)(void))
{
	int status;
	make_victim();
	fflush(NULL);
	pid_t pid = fork();
	if (!pid) {
		part();
		exit(0); /* atexit: the broker takes away what is left */
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status)
		fail_msg("status %x", status);
	check_victim();
}

#define REQUIRE(ok) ((ok) ? (void)0 : (dprintf(2, "%s:%d: %s\n", __FILE__, __LINE__, #ok), _exit(1)))

static void seal(void)
{
	broker_start();
	REQUIRE(elsewhere);
	broker_seal(0);
	REQUIRE(elsewhere->sealed);
}

/* ---- by itself ---- */

static int opens(int flags)
{
	int fd = open(victim, flags, 0600);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int executes(void)
{
	pid_t pid = fork();
	if (!pid) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(99);
	}
	int status = 0;
	waitpid(pid, &status, 0);
	return pid > 0 && WEXITSTATUS(status) != 99;
}

static int of_parent(const char *name, int flags)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/%s", getppid(), name);
	int fd = open(path, flags);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* clang-format off */
#define ATTEMPTS(X) \
	X(write, opens(O_WRONLY)) X(readwrite, opens(O_RDWR)) X(append, opens(O_WRONLY | O_APPEND)) X(cut, opens(O_RDONLY | O_TRUNC)) \
	X(create, open(fresh, O_RDONLY | O_CREAT, 0600) >= 0) X(unnamed, open(folder, O_TMPFILE | O_RDWR, 0600) >= 0) \
	X(creat, syscall(SYS_creat, victim, 0600) >= 0) X(openat2, syscall(SYS_openat2, AT_FDCWD, victim, (uint64_t[3]){O_WRONLY}, 24) >= 0) \
	X(truncate, truncate(victim, 0) == 0) X(unlink, unlink(victim) == 0) X(unlinkat, unlinkat(AT_FDCWD, victim, 0) == 0) \
	X(rename, rename(victim, fresh) == 0) X(renameat2, syscall(SYS_renameat2, AT_FDCWD, victim, AT_FDCWD, fresh, 0) == 0) \
	X(link, link(victim, fresh) == 0) X(symlink, symlink(victim, fresh) == 0) X(mkdir, mkdir(fresh, 0700) == 0) X(rmdir, rmdir(folder) == 0) \
	X(chmod, chmod(victim, 0777) == 0) X(fchmod, fchmod(open(victim, O_RDONLY), 0777) == 0) X(chown, chown(victim, 1, 1) == 0) \
	X(times, utimensat(AT_FDCWD, victim, NULL, 0) == 0) X(xattr, syscall(SYS_setxattr, victim, "user.a", "b", 1, 0) == 0) \
	X(mknod, mknod(fresh, S_IFIFO | 0600, 0) == 0) X(execute, executes()) X(execveat, syscall(SYS_execveat, AT_FDCWD, "/bin/true", NULL, NULL, 0) == 0) \
	X(socket, socket(AF_INET, SOCK_STREAM, 0) >= 0) X(local, socket(AF_UNIX, SOCK_STREAM, 0) >= 0) X(netlink, socket(AF_NETLINK, SOCK_RAW, 0) >= 0) \
	X(kill, kill(getppid(), SIGCONT) == 0) X(group, kill(0, SIGCONT) == 0) X(all, kill(-1, SIGCONT) == 0) \
	X(tgkill, syscall(SYS_tgkill, getppid(), getppid(), SIGCONT) == 0) X(queue, syscall(SYS_rt_sigqueueinfo, getppid(), SIGCONT, &(siginfo_t){0}) == 0) \
	X(pidfd_signal, syscall(424, (int)syscall(434, getppid(), 0), SIGCONT, NULL, 0) == 0) X(pidfd_getfd, syscall(438, (int)syscall(434, getppid(), 0), 0, 0) >= 0) \
	X(ptrace, ptrace(PTRACE_ATTACH, getppid(), NULL, NULL) == 0) X(memory, of_parent("mem", O_RDWR)) X(environ, of_parent("environ", O_RDONLY)) \
	X(readv, process_vm_readv(getppid(), &(struct iovec){folder, 1}, 1, &(struct iovec){folder, 1}, 1, 0) >= 0) \
	X(setown, fcntl(0, F_SETOWN, getppid()) == 0) X(type, ioctl(0, TIOCSTI, "x") == 0) X(limits, syscall(SYS_prlimit64, getppid(), RLIMIT_CPU, NULL, &(struct rlimit){0}) == 0) \
	X(priority, setpriority(PRIO_PROCESS, (id_t)getppid(), 19) == 0) X(pin, sched_setaffinity(getppid(), sizeof(cpu_set_t), &(cpu_set_t){0}) == 0) \
	X(unshare, unshare(CLONE_NEWUSER) == 0) X(namespace, syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0) > 0) X(sibling, syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0) > 0) \
	X(mount, mount("none", "/mnt", "tmpfs", 0, NULL) == 0) X(chroot, chroot("/") == 0) X(chdir, chdir("/") == 0) X(setuid, setuid(65534) == 0) \
	X(io_uring, syscall(425, 8, (char[256]){0}) >= 0) X(userfaultfd, syscall(SYS_userfaultfd, 0) >= 0) X(bpf, syscall(SYS_bpf, 0, NULL, 0) >= 0) \
	X(keys, syscall(SYS_add_key, "user", "x", "y", 1, -3) >= 0) X(shm, syscall(SYS_shmget, 0x1234, 4096, 01600) >= 0) X(session, setsid() >= 0)
/* clang-format on */

/* A sanitized program may trace, for LeakSanitizer. */
static bool of_asan(const char *name) { return !strcmp(name, "ptrace") || !strcmp(name, "readv") || !strcmp(name, "tgkill"); }

static void try_all(void)
{
	struct buf could = {0};
	seal();
	REQUIRE(open(victim, O_RDONLY) >= 0); /* files are read */
	pid_t prober = fork();                /* and the prober is a fork */
	if (!prober)
		_exit(0);
	REQUIRE(prober > 0 && waitpid(prober, NULL, 0) == prober);
#define TRY(name, attempt) \
	if (!(WITH_ASAN && of_asan(#name)) && (attempt)) \
		buf_addf(&could, " %s", #name);
	ATTEMPTS(TRY)
#undef TRY
	if (could.len)
		dprintf(2, "could:%s\n", buf_str(&could));
	REQUIRE(!could.len);
}

static void test_sealed(void **state)
{
	(void)state;
	in_process(try_all);
}

/* ---- by the broker ---- */

static bool makes(const char *path)
{
	int fd = elsewhere->make_file(path, O_WRONLY, 0600);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void ask_for_files(void)
{
	char path[PATH_MAX];
	struct err err;
	broker_start();
	REQUIRE(elsewhere);
	char *own = temp_folder(TEMP_RUN, &err);
	REQUIRE(own);
	/* What lies in the folder may be anybody's: a link out of it. */
	snprintf(path, sizeof(path), "%s/link", own);
	REQUIRE(symlink(folder, path) == 0);
	snprintf(path, sizeof(path), "%s/file", own);
	REQUIRE(symlink(victim, path) == 0);
	broker_seal(0);
	static const char *const bad[] = {"%s/../x",        "%s/a/../../x", "%s/./x", "%s//x", "%s/link/fresh",
					  "%s/link/victim", "%s/..",        "%s",     "%sx",   "%s/file"};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		snprintf(path, sizeof(path), bad[i], own); // NOLINT
		REQUIRE(!makes(path));
		if (strcmp(bad[i], "%s/file")) /* a link may go, what it names may not */
			REQUIRE(elsewhere->remove(path) < 0);
		REQUIRE(elsewhere->make_folder(path, 0700) < 0);
	}
	const char *const outside[] = {victim, fresh, "/etc/passwd", "", "relative", "/"};
	for (size_t i = 0; i < ARRAY_LEN(outside); i++) {
		REQUIRE(!makes(outside[i]) && elsewhere->remove(outside[i]) < 0 && elsewhere->make_folder(outside[i], 0700) < 0);
		elsewhere->temp_folder_remove(outside[i]);
	}
	/* In its own it is served. */
	snprintf(path, sizeof(path), "%s/sub", own);
	REQUIRE(elsewhere->make_folder(path, 0700) == 0);
	snprintf(path, sizeof(path), "%s/sub/x", own);
	REQUIRE(makes(path) && access(path, F_OK) == 0);
	int fd = elsewhere->make_file(path, O_WRONLY | O_EXCL, 0600);
	REQUIRE(fd < 0 && errno == EEXIST);
	snprintf(path, sizeof(path), "%s/sub", own);
	REQUIRE(elsewhere->remove(path) == 0 && access(path, F_OK) < 0);
	temp_folder_remove(own);
	REQUIRE(temp_file(&err) >= 0);
}

static void test_files(void **state)
{
	(void)state;
	in_process(ask_for_files);
}

static bool is_ours(int fd) { return (void)fd, true; }

static void ask_for_outputs(void)
{
	char named[PATH_MAX], later[PATH_MAX];
	struct err err;
	uint32_t number;
	snprintf(named, sizeof(named), "%s/named", folder);
	snprintf(later, sizeof(later), "%s/later", folder);
	broker_start();
	REQUIRE(elsewhere);
	struct output *o = output_file(named, &err);
	REQUIRE(o);
	broker_trust(BROKER_OUTPUT, later);
	broker_seal(0);
	REQUIRE(!output_file(fresh, &err) && strstr(err.text, "was not named"));
	REQUIRE(!output_dir(fresh, true, is_ours, &err));
	broker_trust(BROKER_OUTPUT, fresh); /* too late */
	REQUIRE(!output_file(fresh, &err));
	REQUIRE(elsewhere->output_commit(7, &err) < 0 && elsewhere->output_commit(UINT32_MAX, &err) < 0);
	struct output *p = output_file(later, &err);
	REQUIRE(p && write(output_fd(p), "x", 1) == 1 && write(output_fd(o), "y", 1) == 1);
	REQUIRE(access(later, F_OK) < 0 && access(named, F_OK) < 0);
	REQUIRE(output_commit(o, &err) == 0 && access(named, F_OK) == 0);
	output_abort(p);
	REQUIRE(access(later, F_OK) < 0);
	REQUIRE(elsewhere->output_file(later, &number, &err) >= 0); /* and left: it goes with the process */
}

static void test_outputs(void **state)
{
	char named[PATH_MAX];
	(void)state;
	int status;
	make_victim();
	snprintf(named, sizeof(named), "%s/named", folder);
	fflush(NULL);
	pid_t pid = fork();
	if (!pid) {
		ask_for_outputs();
		exit(0);
	}
	assert_true(waitpid(pid, &status, 0) == pid && !status);
	assert_int_equal(unlink(named), 0);
	check_victim();
}

static pid_t start(const char *const *argv, const char *const *env)
{
	int report[2], stream[3] = {elsewhere->null, elsewhere->null, elsewhere->null};
	if (pipe(report) < 0)
		_exit(2);
	struct child_spec spec = {.argv = argv, .env_set = env, .die_with_parent = true};
	pid_t pid = elsewhere->start(&spec, stream, report[1]);
	close(report[0]);
	close(report[1]);
	return pid;
}

static char runner[PATH_MAX], shim[PATH_MAX], inside[PATH_MAX];

static void ask_for_processes(void)
{
	struct err err;
	broker_start();
	REQUIRE(elsewhere);
	const char *own = temp_folder(TEMP_RUN, &err);
	snprintf(inside, sizeof(inside), "%s/x", own);
	broker_trust(BROKER_PATH, "/opt/ops.so");
	broker_seal(0);
#define LINE(...) ((const char *const[]){__VA_ARGS__, NULL})
	REQUIRE(start(LINE("/bin/true"), NULL) < 0);
	REQUIRE(start(LINE("/bin/sh", "-c", "true"), NULL) < 0);
	REQUIRE(start(LINE(runner, "--unconfined"), NULL) < 0);
	REQUIRE(start(LINE(runner, "--gpu"), NULL) < 0);
	REQUIRE(start(LINE(runner, "--torch", victim), NULL) < 0);
	REQUIRE(start(LINE(runner, "--torch", shim, "--outputs", victim), NULL) < 0);
	REQUIRE(start(LINE(runner, "--save-dir", folder), NULL) < 0);
	REQUIRE(start(LINE(runner, "--load", "/opt/other.so"), NULL) < 0);
	REQUIRE(start(LINE(runner, "--runs", "1x"), NULL) < 0);
	REQUIRE(start(LINE(runner, "--model"), NULL) < 0);
	REQUIRE(start(LINE(runner, "--no-such-option"), NULL) < 0);
	REQUIRE(start(LINE(runner, "--outputs=/etc/passwd"), NULL) < 0);
	REQUIRE(start(LINE(runner, "--quiet"), LINE("LD_PRELOAD=/opt/ops.so")) < 0);
	REQUIRE(start(LINE(runner, "--quiet"), LINE("LD_LIBRARY_PATH=/tmp")) < 0);
	REQUIRE(start(LINE(runner, "--quiet"), LINE("PT2_PROBE_DIR=/tmp")) < 0);
	REQUIRE(start(LINE(runner, "--quiet"), LINE("NOTHING")) < 0);
	/* What live/run.c asks for is served, as a child of this process. */
	pid_t pid = start(LINE(runner, "--torch", shim, "--model", inside, "--load", "/opt/ops.so", "--runs", "3", "--quiet"), NULL);
	int status;
	REQUIRE(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_USAGE);
	/* Signals: to children, and nobody else. */
	pid = fork();
	if (!pid)
		for (;;)
			pause();
	elsewhere->signal(getppid(), false, SIGKILL, true);
	elsewhere->signal(1, false, SIGKILL, true);
	elsewhere->signal(-1, true, SIGKILL, true);
	elsewhere->signal(pid, true, SIGKILL, true); /* it leads no group: it alone */
	REQUIRE(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
}

static void test_processes(void **state)
{
	(void)state;
	const char *build = getenv("BUILD");
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s/lib/pt2utils/pt2-runner", build ? build : "build");
	if (!realpath(path, runner))
		skip();
	snprintf(path, sizeof(path), "%s/lib/pt2utils/libpt2shim.so", build ? build : "build");
	assert_non_null(realpath(path, shim));
	setenv("PT2_RUNNER", runner, 1);
	setenv("PT2_SHIM", shim, 1);
	in_process(ask_for_processes);
}

/* Bytes of any kind over its socket: it answers, or ends and takes away what is left; it does nothing else. */
static void send_garbage(void)
{
	struct err err;
	uint64_t seed = 7;
	broker_start();
	REQUIRE(elsewhere);
	const char *own = temp_folder(TEMP_RUN, &err);
	REQUIRE(own && access(own, F_OK) == 0);
	broker_seal(0);
	int socket = -1;
	for (int fd = 3; fd < 64 && socket < 0; fd++) { /* as somebody would who has taken over the process */
		int type = 0;
		socklen_t n = sizeof(type);
		if (!getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) && type == SOCK_SEQPACKET)
			socket = fd;
	}
	REQUIRE(socket >= 0);
	struct timeval limit = {.tv_sec = 20};
	setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	for (int i = 0; i < 4000; i++) {
		char message[600];
		struct broker_ask q = {.what = random_u32(&seed) % (BROKER_ASKS + 2),
				       .n = random_u32(&seed) % 5,
				       .flags = random_u32(&seed),
				       .mode = random_u32(&seed) % 70};
		if (i % 3 == 0)
			q.n = (uint64_t)random_u32(&seed) << 32 | random_u32(&seed);
		if (q.what == BROKER_ASK_END || q.what == BROKER_ASK_SIGNAL)
			continue;
		size_t n = random_u32(&seed) % (sizeof(message) - sizeof(q));
		for (size_t k = 0; k < n; k++)
			message[sizeof(q) + k] = (char)(i % 2 ? "/.x\0"[random_u32(&seed) % 4] : (int)random_u32(&seed));
		memcpy(message, &q, sizeof(q));
		if (i % 5 == 0 && n > strlen(victim) + 1)
			memcpy(message + sizeof(q), victim, strlen(victim) + 1);
		char answer[sizeof(struct broker_answer)];
		REQUIRE(send(socket, message, sizeof(q) + n, MSG_NOSIGNAL) > 0 && recv(socket, answer, sizeof(answer), 0) > 0);
	}
	/* A question that is too short ends the talk, and all that was made goes. */
	REQUIRE(send(socket, "x", 1, MSG_NOSIGNAL) == 1);
	for (int i = 0; i < 2000 && access(own, F_OK) == 0; i++)
		usleep(10000);
	REQUIRE(access(own, F_OK) < 0);
}

static void test_garbage(void **state)
{
	(void)state;
	in_process(send_garbage);
}

/* Killed at once, the tool leaves nothing. */
static void test_killed(void **state)
{
	(void)state;
	int p[2], status;
	char path[PATH_MAX] = "";
	make_victim();
	assert_int_equal(pipe(p), 0);
	pid_t pid = fork();
	if (!pid) {
		struct err err;
		broker_start();
		const char *own = temp_folder(TEMP_RUN, &err);
		REQUIRE(own && output_file(fresh, &err) && write(p[1], own, strlen(own) + 1) > 0);
		broker_seal(0);
		for (;;)
			pause();
	}
	assert_true(read(p[0], path, sizeof(path)) > 0);
	assert_int_equal(access(path, F_OK), 0);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	close(p[0]);
	close(p[1]);
	bool left = true;
	for (int i = 0; i < 2000 && left; i++) {
		usleep(10000);
		size_t n = 0;
		DIR *d = opendir(folder);
		while (readdir(d))
			n++;
		closedir(d);
		left = access(path, F_OK) == 0 || n > 3; /* ".", ".." and the victim */
	}
	assert_false(left);
	check_victim();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_sealed),    cmocka_unit_test(test_files),   cmocka_unit_test(test_outputs),
	    cmocka_unit_test(test_processes), cmocka_unit_test(test_garbage), cmocka_unit_test(test_killed),
	};
	return RUN(tests);
}
