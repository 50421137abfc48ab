/* unwind.h - the stacks of a core file, unwound by elfutils' libdwfl from the .eh_frame of the libraries.
 *
 *     struct unwind_module m[] = {{.path = SLICE("/tmp/x/abc.wrapper.so"), .bytes = so}};      // what the user's package has
 *     if (unwind_core(&c, core, m, 1, &err) < 0) ...    // c: as core_read() left it
 *
 * Each library is found by its path, as the core has it, or is given (.bytes). One whose build id is not that of the core is left
 * out, and so is what is no plain file. From a frame without a library on the stack is followed by frame pointers, if at all: those
 * frames are .guessed. *missing is the path of the first such library of the stack that crashed.
 *
 * This runs in a child: libdwfl reads DWARF of files that somebody has sent, calls it input it does not guard against, and recurses.
 * The child opens the files, then gives up everything but reading them and writing its answer (base/process/confine.h), with limits of
 * memory and time; when it crashes or is too slow, that is an err, and c has one frame for each thread, from its registers.
 * For tools.
 */
#ifndef PT2_CRASH_UNWIND_H
#define PT2_CRASH_UNWIND_H
#include "crash/crash.h"

struct unwind_module {
	struct slice path;  /* as in the core's maps */
	struct slice bytes; /* of the file; empty: open path */
};

/* Adds a stack for each thread. core: the bytes that core_read() had. -1: only registers are known, and why. */
int unwind_core(struct crash *c, struct slice core, const struct unwind_module *given, size_t n, struct slice *missing, struct err *err);

#endif
