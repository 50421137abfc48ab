#include "base/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>

int confine_limit(__rlimit_resource_t what, uint64_t value, const char *name, struct err *err)
{
	struct rlimit old, lim;
	if (getrlimit(what, &old) < 0)
		return err_errno(err, EXIT_ENVIRON, "cannot read the limit of %s", name);
	lim.rlim_cur = lim.rlim_max = value < old.rlim_max ? value : old.rlim_max;
	return setrlimit(what, &lim) < 0 ? err_errno(err, EXIT_ENVIRON, "cannot limit %s", name) : 0;
}

int confine_no_new_privs(struct err *err)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return err_errno(err, EXIT_ENVIRON, "cannot give up new privileges");
	return 0;
}

void confine_begin(struct confine_filter *f, uint32_t others)
{
	f->ctx = seccomp_init(others);
	f->rc = f->ctx ? 0 : -ENOMEM;
	/* no_new_privs is set and checked before; libseccomp must not be the one to decide about it. */
	if (!f->rc)
		f->rc = seccomp_attr_set(f->ctx, SCMP_FLTATR_CTL_NNP, 0);
	if (!f->rc)
		f->rc = seccomp_attr_set(f->ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
}

void confine_allow(struct confine_filter *f, const int *calls, size_t n)
{
	for (size_t i = 0; i < n && !f->rc; i++)
		f->rc = seccomp_rule_add(f->ctx, SCMP_ACT_ALLOW, calls[i], 0);
}

void confine_allow_if(struct confine_filter *f, int call, struct scmp_arg_cmp argument)
{
	if (!f->rc)
		f->rc = seccomp_rule_add(f->ctx, SCMP_ACT_ALLOW, call, 1, argument);
}

void confine_read_only(struct confine_filter *f)
{
	/* The values and what else a flag word may ask for: O_TMPFILE holds O_DIRECTORY, so only its own bit. */
	const scmp_datum_t mask = O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY);
	confine_allow_if(f, SCMP_SYS(openat), CONFINE_BITS(2, mask, O_RDONLY));
	confine_allow_if(f, SCMP_SYS(open), CONFINE_BITS(1, mask, O_RDONLY));
}

int confine_load(struct confine_filter *f, const char *which, struct err *err)
{
	if (!f->rc)
		f->rc = seccomp_load(f->ctx);
	if (f->ctx)
		seccomp_release(f->ctx);
	f->ctx = NULL;
	if (!f->rc)
		return 0;
	errno = -f->rc;
	return err_errno(err, EXIT_ENVIRON, "cannot install %s", which);
}
