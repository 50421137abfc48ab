/* replay.h - shared by main.c (what a bundle holds and what can be run from it) and program.c (runs its program again). */
#ifndef FXEXPLAIN_REPLAY_H
#define FXEXPLAIN_REPLAY_H
#include "report/bundle.h"

/* 0 if it fails the same way, EXIT_FOUND if not, EXIT_PARTIAL if there is nothing to compare. folder: where the bundle is unpacked. */
int replay_program(const struct bundle *b, const char *folder, const char *python, int timeout_ms);
/* given: --python, or NULL. */
const char *replay_python(const char *given);

#endif
