/* confine.c - the namespaces that the user's program runs in, and the process that makes a view of the files for each try.
 *
 * A process with threads cannot make a user namespace, and torch has threads: so this is done between fork and exec. The tries enter a
 * mount namespace that the keeper (base/process/cowview.h) made for them (share/mend/sandbox.py).
 *
 * The user keeps the user id, which is the only one mapped. The two powers that the tries need to show other files (CAP_SYS_ADMIN for
 * mount, CAP_SYS_CHROOT) are ambient, since exec drops what a user that is not root has otherwise; each try gives them up before the
 * program starts. */
#include "mend/server.h"

#include "base/process/cowview.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char uid_map[64], gid_map[64];

struct cowview *mend_confine_prepare(const char *folder, const struct mend_program *p, struct err *err)
{
	FREED char *stage = xasprintf("%s/view", folder);
	const char *const needed[] = {p->python, p->main ? p->main : folder, NULL};
	snprintf(uid_map, sizeof(uid_map), "%u %u 1", (unsigned)geteuid(), (unsigned)geteuid());
	snprintf(gid_map, sizeof(gid_map), "%u %u 1", (unsigned)getegid(), (unsigned)getegid());
	if (mkdir(stage, 0700) < 0) {
		err_errno(err, EXIT_ENVIRON, "cannot create '%s'", stage);
		return NULL;
	}
	return cowview_plan(&(struct cowview_spec){.folder = stage, .on_disk = true, .shown = folder, .needed = needed}, err);
}

static int put(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	size_t n = strlen(text);
	int status = write(fd, text, n) == (ssize_t)n ? 0 : errno;
	close(fd);
	return status;
}

static void keep_powers(void)
{
	static const int power[] = {CAP_SYS_ADMIN, CAP_SYS_CHROOT};
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2] = {0};
	if (syscall(SYS_capget, &header, data) < 0)
		return;
	for (size_t i = 0; i < ARRAY_LEN(power); i++)
		data[0].inheritable |= 1u << power[i];
	if (syscall(SYS_capset, &header, data) < 0)
		return;
	for (size_t i = 0; i < ARRAY_LEN(power); i++)
		prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, power[i], 0, 0);
}

static void loopback(void)
{
	struct ifreq r = {.ifr_name = "lo"};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (ioctl(fd, SIOCGIFFLAGS, &r) == 0) {
		r.ifr_flags = (short)(r.ifr_flags | IFF_UP);
		(void)ioctl(fd, SIOCSIFFLAGS, &r);
	}
	close(fd);
}

int mend_confine(void *arg)
{
	int status, ends[2];
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC) < 0)
		return errno;
	(void)put("/proc/self/setgroups", "deny");
	if ((status = put("/proc/self/uid_map", uid_map)) || (status = put("/proc/self/gid_map", gid_map)))
		return status;
	loopback();
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0 || dup2(ends[0], MEND_VIEW_FD) < 0)
		return errno;
	close(ends[0]);
	if ((status = cowview_keeper(arg, ends[1]))) /* it keeps all powers of the namespace */
		return status;
	keep_powers();
	return 0;
}
