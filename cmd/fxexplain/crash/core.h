/* core.h - a core file (ELF ET_CORE of Linux): reads its notes and memory; unwind.h unwinds.
 *
 *     if (core_like(bytes)) core_read(&c, bytes, "core.123", &err);
 *     c.signal, c.fault, c.reg, c.command, c.map[i].path, c.map[i].build_id, c.thread[0].pc ...
 *
 * Layouts (Linux include/uapi/linux/elfcore.h, fs/binfmt_elf.c; elf(5)): all structures are those of a 64-bit process.
 *     NT_PRSTATUS  one for each thread, the one that got the signal first: signal at 12, pid at 32, registers at 112
 *                  (x86-64: struct user_regs_struct, 27 of 8 bytes; aarch64: x0..x30, sp, pc, pstate)
 *     NT_PRPSINFO  command's arguments, the first 80 bytes, at 56
 *     NT_SIGINFO   siginfo_t: si_signo, si_errno, si_code at 8, si_addr at 16
 *     NT_FILE      count, page size, then start, end, page of the file for each mapping, then as many names
 *     PT_LOAD      one for each mapping; p_filesz 0 where /proc/PID/coredump_filter left its contents out
 * A file with 65535 or more segments has their number in its first section header (PN_XNUM).
 * gdb's gcore writes the same notes. A truncated core (RLIMIT_CORE, a full disk) is read as far as it goes: memory past the end is
 * missing.
 *
 * Untrusted: each offset is checked against the bytes, counts are bounded. Failure: -1 and EXIT_INPUT if it is not a core file, is 32-bit
 * or big-endian, or has no notes.
 */
#ifndef PT2_CRASH_CORE_H
#define PT2_CRASH_CORE_H
#include "crash/crash.h"

FOR_TESTS bool core_like(struct slice bytes);
/* The last words of abort(): glibc keeps them in a mapping of their own (sysdeps/posix/libc_fatal.c, __libc_message; assert/assert.c).
 * Empty: none, or not in the core. */
struct slice core_abort_message(struct slice core);
int core_read(struct crash *c, struct slice bytes, const char *name, struct err *err);

#endif
