/* machine.h - what registers and memory of a crash say: the instruction that failed, and glibc's last words in a core. */
#ifndef PT2_CRASH_MACHINE_H
#define PT2_CRASH_MACHINE_H
#include "crash/crashmap.h"
#include "watch/insn.h"

/* The message of abort() in a core (core.h): c->what, and the sign of a damaged heap or an assertion. */
void machine_abort_message(struct crash *c, struct slice core);
/* The instruction at the crash, from the core's registers and the library's code. False: unknown. */
bool machine_instruction(const struct crash *c, const struct crashmap *map, struct insn *i);

#endif
