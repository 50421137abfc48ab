/* orphans.h - processes that outlive the one that started them: their nearest ancestor that asked for them becomes their parent.
 *
 *     orphans_adopt();                 // before the child starts
 *     ... the child ended, or was killed ...
 *     orphans_end(ORPHANS_OF_SESSION); // and so do those that it left
 */
#ifndef PT2_PROCESS_ORPHANS_H
#define PT2_PROCESS_ORPHANS_H

enum orphans_which {
	ORPHANS_OF_SESSION, /* daemons, which have a session of their own, are left alone; SIGTERM first, two seconds later SIGKILL */
	ORPHANS_ALL,        /* what they work on is removed: SIGKILL at once */
};
void orphans_adopt(void);
/* Ends all children of this process, and theirs; returns after three seconds at the latest. */
void orphans_end(enum orphans_which which);

#endif
