/* broker.h - seals a tool that reads untrusted files, and does what the sealed tool no longer can.
 *
 *     broker_start();                          // first: nothing untrusted has been read
 *     ... options; outputs are opened
 *     broker_trust(BROKER_PATH, torch);        // what a model's process may be given besides files in private folders
 *     broker_seal(0);                          // permanent
 *     ... packages, inputs, dumps, call logs are read; models are run, outputs written
 *
 * A bug in a reader, or a hostile file that exploits one, then gains little: a sealed process cannot open a file for writing, make,
 * rename or remove one, start a program, use the network or signal other processes, and (with Landlock, where the kernel has it) cannot
 * look into them. A second process does these things for it: the broker, forked from the tool before anything was read. It knows the
 * tool's options, parses no files, and answers questions by its own rules:
 *
 *     a model's process    the program is our pt2-runner, each word of its command line one that this tool may ask for; its files are in
 *                          private folders, its libraries those that the user named (broker_start.c)
 *     files                new ones, in private folders and folders of outputs that the broker made, reached without following links
 *                          (broker_path.c)
 *     outputs              under the names that the user gave; the broker gives them these names when they are complete
 *     signals              to children of the tool
 *
 * The processes it starts are the tool's own children (CLONE_PARENT): the tool waits for them as usual. When the tool has ended, in any
 * way, the broker removes its private folders and unfinished outputs, and exits.
 *
 * A user's command is started before the tool seals itself (live.h), and is not confined. docs/user/RUN.md says which wall does what.
 *
 * Without seccomp in the kernel the tool goes on unsealed: pt2-runner then refuses to run a model.
 */
#ifndef PT2_BROKER_H
#define PT2_BROKER_H
#include "base/buf.h"

/* A function that the broker may run for the sealed tool, in a process of its own which has read nothing and is not sealed: for what
 * the seal prevents, like loading a GPU's driver. Its answer is a text. Only before broker_start(). */
void broker_offer(void (*f)(char *text, size_t max));
/* Runs it: here, if there is no broker. False: no answer within 30 s. */
bool broker_call(char *text, size_t max);

/* Before threads, before child_signals(). If it fails (no processes, no memory), the tool goes on without a broker, unsealed. */
void broker_start(void);

enum broker_trust {
	BROKER_PATH,       /* a path that a model's process may be given: libtorch, a library of operators */
	BROKER_OUTPUT,     /* a file that output_file() may make after the seal */
	BROKER_UNCONFINED, /* the user passed --unconfined: a model's process may run unconfined; NULL */
	BROKER_GPU,        /* an installed libtorch: models for a GPU may run, which cannot be confined; NULL */
};
/* Only before the seal. NULL where a path is expected: nothing is trusted. */
void broker_trust(enum broker_trust what, const char *path);

enum { BROKER_SEES_PROCESSES = 1 }; /* the tool watches the user's own processes: /proc/PID can be read */
void broker_seal(unsigned flags);

#endif
