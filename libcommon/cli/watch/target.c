/* Looks at a command before it runs: would a preload library take effect? */
#include "base/text.h"
#include "watch/live.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define MAX_SCRIPTS 4 /* a script whose interpreter is a script ...; the same limit as Linux */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OUR_DATA ELFDATA2LSB
#else
#define OUR_DATA ELFDATA2MSB
#endif

static size_t read_at(int fd, off_t at, void *p, size_t n)
{
	ssize_t r;
	while ((r = pread(fd, p, n, at)) < 0 && errno == EINTR)
		;
	return r > 0 ? (size_t)r : 0;
}

static int own_machine(void)
{
	Elf64_Ehdr own = {0};
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		read_at(fd, 0, &own, sizeof(own));
		close(fd);
	}
	return own.e_machine;
}

static bool elf_unseen(int fd, const char *program, const char *head, size_t n, char *why, size_t room)
{
	Elf64_Ehdr eh;
	if (n < sizeof(eh))
		return false;
	memcpy(&eh, head, sizeof(eh));
	int own = own_machine();
	if (eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_ident[EI_DATA] != OUR_DATA || (own && eh.e_machine != own)) {
		snprintf(why, room, "'%s' is a program for another machine, which cannot load the probe library", program);
		return true;
	}
	for (unsigned i = 0; i < eh.e_phnum && eh.e_phentsize == sizeof(Elf64_Phdr); i++) {
		Elf64_Phdr ph;
		if (eh.e_phoff > INT64_MAX / 2 || read_at(fd, (off_t)(eh.e_phoff + i * sizeof(ph)), &ph, sizeof(ph)) != sizeof(ph))
			return false;
		if (ph.p_type == PT_INTERP)
			return false;
	}
	snprintf(why, room, "'%s' is a static program: no library can be preloaded into it", program);
	return true;
}

static bool privileged(int fd, const char *program, char *why, size_t room)
{
	struct stat st;
	char caps[64];
	if (fstat(fd, &st) < 0)
		return false;
	if ((st.st_mode & S_ISUID && st.st_uid != geteuid()) ||
	    ((st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && st.st_gid != getegid())) {
		snprintf(why, room, "'%s' is a setuid or setgid program: the loader ignores LD_PRELOAD", program);
		return true;
	}
	if (geteuid() && fgetxattr(fd, "security.capability", caps, sizeof(caps)) > 0) {
		snprintf(why, room, "'%s' has file capabilities: the loader ignores LD_PRELOAD", program);
		return true;
	}
	return false;
}

/* "#!/usr/bin/env python3" is the program env, which runs python3: env itself is checked. */
static bool interpreter_of(const char *head, size_t n, char path[PATH_MAX])
{
	if (n < 3 || head[0] != '#' || head[1] != '!')
		return false;
	size_t at = 2, len = 0;
	while (at < n && (head[at] == ' ' || head[at] == '\t'))
		at++;
	while (at < n && !strchr(" \t\n\r", head[at]) && len < PATH_MAX - 1)
		path[len++] = head[at++];
	path[len] = 0;
	return len > 0;
}

bool live_unseen(const char *program, char *why, size_t room)
{
	char path[PATH_MAX], head[512];
	why[0] = 0;
	char *found = child_which(program);
	if (!found)
		return false;
	int n = snprintf(path, sizeof(path), "%s", found);
	free(found);
	for (int i = 0; n > 0 && (size_t)n < sizeof(path) && i < MAX_SCRIPTS; i++) {
		int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0)
			return false;
		size_t len = read_at(fd, 0, head, sizeof(head));
		bool is_elf = len > SELFMAG && !memcmp(head, ELFMAG, SELFMAG);
		/* A script's setuid bits do not count: its interpreter's do. */
		bool unseen = is_elf && (privileged(fd, path, why, room) || elf_unseen(fd, path, head, len, why, room));
		close(fd);
		if (is_elf || !interpreter_of(head, len, path))
			return unseen;
	}
	return false;
}

/* Options without arguments, before the program: "-Iu" has I and u. */
static bool has_option(char *const *command, const char *of)
{
	for (int i = 1; command[i] && command[i][0] == '-' && command[i][1] && command[i][1] != '-'; i++)
		for (const char *p = command[i] + 1; *p && !strchr("cmWX", *p); p++)
			if (strchr(of, *p))
				return true;
	return false;
}

void live_apart(char *const *command, char *why, size_t room)
{
	const char *name = path_base(command[0]);
	if (!strncmp(name, "python", 6) && has_option(command, "IES"))
		snprintf(why, room,
			 "with -I, -E or -S, Python ignores the hook that watches torch.compile graphs (PYTHONPATH, sitecustomize)");
	else if (!strcmp(name, "env") && has_option(command, "i"))
		snprintf(why, room, "'env -i' clears the environment variables that the watching needs");
}

void live_path_of(pid_t pid, struct slice path, struct buf *b)
{
	static const char *const own[] = {"/proc/self/", "/proc/thread-self/"};
	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		if (slice_starts(path, own[i])) {
			size_t n = strlen(own[i]);
			buf_addf(b, "/proc/%d/%.*s", (int)pid, (int)(path.n - n), path.p + n);
			return;
		}
	if (slice_starts(path, "/dev/fd/"))
		buf_addf(b, "/proc/%d/fd/%.*s", (int)pid, (int)(path.n - 8), path.p + 8);
	else if (path.n && path.p[0] != '/')
		buf_addf(b, "/proc/%d/cwd/%.*s", (int)pid, SL(path));
	else
		buf_add_slice(b, path);
}
