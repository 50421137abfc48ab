/* linux.h - calls of Linux that the headers of older systems (Debian 11, glibc 2.28) do not name. The numbers are those of every
 * architecture; whether the kernel that runs has the call is seen when it is made (ENOSYS).
 *
 *     syscall(SYS_close_range, first, last, 0u)
 */
#ifndef PT2_PROCESS_LINUX_H
#define PT2_PROCESS_LINUX_H
#include <fcntl.h>
#include <stdint.h>
#include <sys/syscall.h>

#ifndef SYS_close_range
#define SYS_close_range 436 /* Linux 5.9 */
#endif
#ifndef SYS_open_tree /* Linux 5.2 */
#define SYS_open_tree 428
#define SYS_move_mount 429
#endif
#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442 /* Linux 5.12 */
#endif
#ifndef SYS_landlock_create_ruleset /* Linux 5.13 */
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

#if __has_include(<linux/landlock.h>)
#include <linux/landlock.h>
#else
/* include/uapi/linux/landlock.h of Linux 5.13, as far as it is used here. */
struct landlock_ruleset_attr {
	uint64_t handled_access_fs;
};
struct landlock_path_beneath_attr {
	uint64_t allowed_access;
	int32_t parent_fd;
} __attribute__((packed));
#define LANDLOCK_CREATE_RULESET_VERSION (1U << 0)
#define LANDLOCK_RULE_PATH_BENEATH 1
#define LANDLOCK_ACCESS_FS_EXECUTE (1ULL << 0)
#define LANDLOCK_ACCESS_FS_WRITE_FILE (1ULL << 1)
#define LANDLOCK_ACCESS_FS_READ_FILE (1ULL << 2)
#define LANDLOCK_ACCESS_FS_READ_DIR (1ULL << 3)
#endif
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14) /* Linux 6.2 */
#endif

#endif
