/* unwind.h - the stacks of a core file, unwound by elfutils' libdwfl using the .eh_frame of the libraries.
 *
 *     struct unwind_module m[] = {{.path = SLICE("/tmp/x/abc.wrapper.so"), .bytes = so}};      // from the user's package
 *     if (unwind_core(&c, core, m, 1, &err) < 0) ...    // c: as core_read() left it
 *
 * Each library is found by its path in the core, or is given (.bytes). A library whose build id differs from the core's is not used, nor
 * is anything but a regular file. Past a frame without its library the stack is followed by frame pointers, if at all: those frames are
 * .guessed. *missing is the path of the first such library on the crashed stack.
 *
 * This runs in a child process: libdwfl recurses, and does not guard against malicious DWARF, and these files may come from anyone. The
 * child opens the files, then drops every right but reading them and writing its answer (base/process/confine.h), with memory and time
 * limits; if it crashes or is too slow, that is an err, and c has one frame for each thread, from its registers. For tools.
 */
#ifndef PT2_CRASH_UNWIND_H
#define PT2_CRASH_UNWIND_H
#include "crash/crash.h"

struct unwind_module {
	struct slice path;  /* as in the core's maps */
	struct slice bytes; /* the file's contents; empty: open path */
};

/* Adds a stack for each thread. core: the bytes given to core_read(). -1: only registers are known; err says why. */
int unwind_core(struct crash *c, struct slice core, const struct unwind_module *given, size_t n, struct slice *missing, struct err *err);

#endif
