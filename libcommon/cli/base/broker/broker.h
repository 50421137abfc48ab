/* broker.h - a tool that reads what a model, a package or a log wrote gives up what it does not need for that.
 *
 *     broker_start();                          // first of all: nothing that is not trusted was read
 *     ... options; outputs are opened
 *     broker_trust(BROKER_PATH, torch);        // what a model's process may be given besides files of private folders
 *     broker_seal(0);                          // no way back
 *     ... packages, inputs, dumps, call logs are read; models are run, outputs written
 *
 * A mistake in a reader, or one that a hostile file makes use of, is then worth little: a sealed process opens no file for writing,
 * makes, renames and removes none, starts no program, uses no network, sends no signal to others, and (Landlock, where the kernel
 * has it) cannot look into other processes. What it needs of that, a second process does, the broker: a fork of the tool from before
 * anything was read. It knows the tool's options, reads nothing but what it is asked, and that by its own rules:
 *
 *     a model's process    the program is our pt2-runner, each word of its command line one that this tool may ask for; its files lie in
 *                          private folders, libraries are those that the user named (broker_start.c)
 *     files                new ones, in private folders and folders of outputs that it has made itself, reached without links
 *                          (broker_path.c)
 *     outputs              under the names that the user gave; they get these names from the broker, when they are whole
 *     signals              to children of the tool
 *
 * Children are the tool's own (CLONE_PARENT), so that it waits for them as ever. When the tool has ended, however it did, the broker
 * removes its private folders and unfinished outputs, and ends.
 *
 * A command of the user's is started before the tool seals itself (live.h), and is not confined. docs/user/RUN.md says which wall does
 * what.
 *
 * Without seccomp in the kernel a tool goes on unsealed: what then runs a model refuses by itself (pt2-runner).
 */
#ifndef PT2_BROKER_H
#define PT2_BROKER_H
#include "base/buf.h"

/* Before threads, before child_signals(). Where it cannot be had (no processes, no memory), the tool goes on without. */
void broker_start(void);

enum broker_trust {
	BROKER_PATH,       /* a path that a model's process may be given: of libtorch, a library of operators */
	BROKER_OUTPUT,     /* a file that output_file() may make after the seal */
	BROKER_UNCONFINED, /* --unconfined of the user's: a model's process may run so; NULL */
	BROKER_GPU,        /* with an installed libtorch: a model for a GPU, which cannot be confined; NULL */
};
/* Until the seal. NULL is none where a path is expected. */
void broker_trust(enum broker_trust what, const char *path);

enum { BROKER_SEES_PROCESSES = 1 }; /* what is watched are processes of the user's: /proc/PID may be read */
void broker_seal(unsigned flags);

#endif
