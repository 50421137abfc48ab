/* alive.h - is the program that writes this log still running?
 *
 *     alive_look(path, n);         // before the seal (broker.h): which process has one of these open for writing
 *     alive_tell(f, i);            // when input i has been read: its `writer`, and its `age` since it was last written
 *
 * Only processes of the same user can be seen, on this machine and in this container: no writer does not mean that it has ended. */
#ifndef FXEXPLAIN_ALIVE_H
#define FXEXPLAIN_ALIVE_H
#include "run/facts.h"

/* Operands: files, and folders with files in them. */
void alive_look(const char *const *path, int n);
void alive_tell(struct facts *f, uint32_t input);

#endif
