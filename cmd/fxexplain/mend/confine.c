/* confine.c - the namespaces that the user's program runs in. A process with threads cannot make a user namespace, and torch has
 * threads: so this is done between fork and exec, and the tries only add a mount namespace (share/mend/sandbox.py).
 *
 * The user keeps the user id, which is the only one mapped. The two powers that the tries need to show other files (CAP_SYS_ADMIN for
 * mount, CAP_SYS_CHROOT) are ambient, since exec drops what a user that is not root has otherwise; each try gives them up before the
 * program starts. */
#include "mend/server.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static char uid_map[64], gid_map[64];

void mend_confine_prepare(void)
{
	snprintf(uid_map, sizeof(uid_map), "%u %u 1", (unsigned)geteuid(), (unsigned)geteuid());
	snprintf(gid_map, sizeof(gid_map), "%u %u 1", (unsigned)getegid(), (unsigned)getegid());
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
	int status;
	(void)arg;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC) < 0)
		return errno;
	(void)put("/proc/self/setgroups", "deny");
	if ((status = put("/proc/self/uid_map", uid_map)) || (status = put("/proc/self/gid_map", gid_map)))
		return status;
	loopback();
	keep_powers();
	return 0;
}
