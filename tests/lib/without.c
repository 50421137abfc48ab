/* without.c - run a command on a kernel that has not what it names: without landlock|namespaces|seccomp COMMAND...  The calls fail with ENOSYS, those for
 * namespaces with EPERM, as where an administrator forbids them. */
#include <errno.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	if (argc < 3 || !ctx)
		return 2;
	int r;
	if (!strcmp(argv[1], "landlock"))
		r = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(landlock_create_ruleset), 0);
	else if (!strcmp(argv[1], "namespaces"))
		r = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(unshare), 0);
	else
		r = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(seccomp), 0) ||
		    seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(prctl), 1,
				     (struct scmp_arg_cmp){.arg = 0, .op = SCMP_CMP_EQ, .datum_a = PR_SET_SECCOMP});
	if (r || seccomp_load(ctx))
		return 4;
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 4;
}
