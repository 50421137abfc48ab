/* oom.h - what is still done when memory has run out (base.h: x*alloc end the process with status 4).
 *
 *     out_of_memory = remove_what_is_unfinished;
 *
 * Called once, after the message and before the end, in the thread that got no memory; others that get none wait for the end. It may
 * allocate: what was refused need not be all there is. If that fails, too, the process ends at once.
 */
#ifndef PT2_OOM_H
#define PT2_OOM_H

extern void (*out_of_memory)(void); /* NULL: nothing */

/* The end, for who has allocated in another way. */
__attribute__((noreturn)) void end_without_memory(void); /* (part of its type, which _Noreturn is not: for libdw) */
/* Around calls of a library that only says that it has nothing (libdw), where memory may be what it had not:
 *     errno = 0; ...; end_if_without_memory(); */
void end_if_without_memory(void);

#endif
