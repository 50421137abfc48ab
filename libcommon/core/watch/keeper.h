/* keeper.h - how libpt2probe.so makes files in a model's process that may make none (docs/user/RUN.md, Confinement).
 *
 * Before pt2-runner locks the door it calls, if the library is preloaded,
 *
 *     pt2_probe_settle(keeper, folder, &events);   // found by dlsym(RTLD_DEFAULT, KEEPER_SETTLE)
 *
 * From then on the library opens nothing for writing: the counters, the call log and its names are mapped already, `events` is the
 * descriptor that events are appended to (-1: one of them could not be opened, and the model is not run), and files of tensors are made
 * by the keeper: a fork of
 * pt2-runner that holds the folder (--save-dir) and nothing else, at the other end of the socket `keeper` (SOCK_SEQPACKET; -1: nothing
 * is saved). It reads requests (struct keeper_ask), and answers each with an int, an errno or 0, and KEEPER_MAKE with the new file's
 * descriptor (SCM_RIGHTS). The requester is not trusted: a name has the form of calls_file_name(), no link is followed, what is there
 * already is neither opened nor replaced, and only the last file that was made can be taken back. Bundles (bundle.h) are for commands,
 * which are not confined.
 */
#ifndef PT2_LIVE_KEEPER_H
#define PT2_LIVE_KEEPER_H
#include <stdint.h>

#define KEEPER_SETTLE "pt2_probe_settle"
typedef void keeper_settle_fn(int keeper, const char *folder, int *events);

enum keeper_what {
	KEEPER_MAKE,   /* a new file, for writing */
	KEEPER_UNMAKE, /* the one that was made last */
};
#define KEEPER_NAME 600
struct keeper_ask {
	uint32_t what;
	char name[KEEPER_NAME];
};

#endif
