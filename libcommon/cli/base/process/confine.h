/* confine.h - what a process lays on itself before it runs somebody else's code: limits, and a filter of system calls.
 *
 *     static const int some[] = {SCMP_SYS(mmap), SCMP_SYS(brk)};
 *     struct confine_filter f;
 *     if (confine_limit(RLIMIT_CORE, 0, "core files", &err) < 0 || confine_no_new_privs(&err) < 0) ...
 *     confine_begin(&f, SCMP_ACT_ERRNO(EPERM));              // what happens to all other calls
 *     confine_calculate(&f);
 *     confine_read_only(&f);
 *     confine_allow(&f, some, ARRAY_LEN(some));
 *     confine_allow_if(&f, SCMP_SYS(write), CONFINE_EQUAL(0, 1));
 *     if (confine_load(&f, "the filter of system calls", &err) < 0) ...
 *
 * Steps between begin and load may fail without a word: load tells, and releases the filter in any case. All failures are
 * EXIT_ENVIRON. Calls of other architectures kill the process at once. The filter holds for all threads that there are.
 *
 * Two run foreign code: the prober's child (model/binprobe/binprobe_sandbox.c) and pt2-runner (libshim/run/confine.c). What both permit is
 * written here and nowhere else. An argument is compared as 64 bits, of which the kernel may take 32: a rule says what is permitted, never
 * what is not.
 */
#ifndef PT2_CONFINE_H
#define PT2_CONFINE_H
#include "base/buf.h"

#include <seccomp.h>
#include <sys/resource.h>

struct confine_filter {
	scmp_filter_ctx ctx;
	int rc; /* of the first step that failed, a negative errno */
};

/* (libseccomp's SCMP_A0() and its kin leave a member out, which compilers warn of.) */
#define CONFINE_EQUAL(n, value) ((struct scmp_arg_cmp){.arg = (n), .op = SCMP_CMP_EQ, .datum_a = (scmp_datum_t)(value)})
#define CONFINE_BITS(n, mask, are) \
	((struct scmp_arg_cmp){.arg = (n), .op = SCMP_CMP_MASKED_EQ, .datum_a = (scmp_datum_t)(mask), .datum_b = (scmp_datum_t)(are)})

/* Soft and hard limit, or the hard one there is if that is lower. name: "core files". */
int confine_limit(__rlimit_resource_t what, uint64_t value, const char *name, struct err *err);
int confine_no_new_privs(struct err *err);
/* Drops root's capabilities, but for that of reading what others own (CAP_DAC_READ_SEARCH), for the calling thread and those it starts.
 * processes: and but for that of looking at theirs in /proc (CAP_SYS_PTRACE). */
int confine_drop_powers(bool processes, struct err *err);
/* Close all descriptors from 3 on but these; -1 among them is none. */
int confine_close_others(const int *keep, size_t n, struct err *err);
/* While a model runs: who runs as the same user can neither read the tool's memory, environment or descriptors (/proc/PID) nor trace
 * it. Only the kernel's own power over processes (CAP_SYS_PTRACE) passes that. Gives what was, for confine_unhide. */
bool confine_hide(void);
void confine_unhide(bool was);

void confine_begin(struct confine_filter *f, uint32_t others);
void confine_allow(struct confine_filter *f, const int *calls, size_t n);
void confine_allow_if(struct confine_filter *f, int call, struct scmp_arg_cmp argument);
/* Memory, locks, clocks, the end: what a calculation needs. */
void confine_calculate(struct confine_filter *f);
/* Files may be opened to be read, and neither made nor cut. */
void confine_read_only(struct confine_filter *f);
/* Landlock: nowhere may anything be written, and of /proc only what is not another process may be read, of /dev no
 * terminals and disks. For the calling thread and those it starts; needs confine_no_new_privs() before. False: this kernel has it not,
 * or not for us. */
bool confine_paths(void);
/* Landlock: from now on no file is read or written but what lies below these (NULL-terminated; a missing one is ignored),
 * and nothing is written but below the second ones. Calls nothing that a child may not call between fork and exec. False: as above. */
bool confine_below(const char *const *read, const char *const *write);
bool confine_has_landlock(void);
/* which: "the first filter of system calls". Needs confine_no_new_privs() before. */
int confine_load(struct confine_filter *f, const char *which, struct err *err);

/* AddressSanitizer needs memory and system calls of its own: with it, the limits and filters are looser. */
#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif
#ifndef WITH_ASAN
#define WITH_ASAN 0
#endif

#endif
