/* live.h - run a command and watch every AOTInductor model that it or one of its child processes loads.
 *
 *     static int contract(void *user, const char *so_path, pid_t pid, struct buf *json, struct err *err);
 *     static void event(void *user, const struct live_event *ev);
 *     struct live_options o = {.contract = contract, .event = event, .user = &mine};
 *     struct live_result r;
 *     child_signals(CHILD_SIGNALS_FORWARD);                 // once, by the tool
 *     if (live_run(&o, command, &r, &err) < 0)              // it could not be started
 *         die_err(&err);
 *     if (!r.models)
 *         r.unseen ...                                      // why: "'serve' is a static program", or ""
 *     live_result_release(&r);
 *
 * The command runs in the tool's process group with the tool's streams and environment; libpt2probe.so is prepended
 * to LD_PRELOAD (appended, if a sanitizer's runtime is already there: those must come first). The probe asks for
 * the contract of each model; meanwhile the process waits in dlopen(), so answer within LIVE_ASK_MS. Events arrive
 * while the command runs, in the order they were written. The private folder (event.h) is removed at the end.
 * Processes that the command leaves running (a daemon) are not waited for, and no longer watched.
 *
 * The library is $PT2_PROBE, else ../lib/pt2utils/libpt2probe.so from the program's own folder.
 *
 * Graphs of torch.compile in Python programs (libprobe/jit.h): share/jit is copied to the private folder, which is prepended to
 * PYTHONPATH. python -I, -S and -E, and programs that clear their environment, escape.
 *
 * Not watched, and reported in r.unseen if the command itself is such a file: static and setuid programs (the
 * loader ignores LD_PRELOAD), programs for another machine or C library.
 *
 * A tool that found nothing wrong asks live_watched() whether it can say so: if no model was seen, none was called, or a Run was entered
 * unseen, it says that instead and ends with EXIT_ENVIRON.
 *
 * Failure: -1 and err (EXIT_ENVIRON): no library, no private folder, no such command. A failing command is not
 * a failure of live_run().
 */
#ifndef PT2_LIVE_H
#define PT2_LIVE_H
#include "base/buf.h"
#include "base/process/child.h"
#include "base/json.h"
#include "watch/calls.h"
#include "watch/event.h"

#include <sys/types.h>

struct live_event {
	enum live_kind kind; /* LIVE_KINDS: unknown to this version */
	double time;
	pid_t pid, tid;
	uint32_t rank;                /* of the process among those that torchrun started (RANK); NONE */
	uint32_t model;               /* LIVE_NO_MODEL for none */
	struct slice path;            /* of the model's library, "" while unknown */
	struct slice line;            /* the whole event, JSON */
	const struct json_tape *tape; /* its tokens; the event is token `root` */
	uint32_t root;
};

struct live_options {
	/* The contract (contract_to_json) of the library so_path, which can be opened right now but may be gone later:
	 * torch unpacks packages into a folder that it deletes. pid: the process that loads it. -1 and err: there is
	 * none. */
	int (*contract)(void *user, const char *so_path, pid_t pid, struct buf *json, struct err *err);
	void (*event)(void *user, const struct live_event *ev); /* may be NULL */
	void *user;
	bool fail; /* calls with mismatched inputs return an error */

	/* Kernels and ops are watched, too: the call log (calls.h) with this configuration is in the result's folder. */
	const struct calls_config *calls; /* NULL: only the models' calls are */
	struct slice given;               /* the file for CALLS_GIVE (watch/given.h); empty: none */
	bool no_check;                    /* inputs are not checked against the contract */
	/* Our own program, not the user's: it runs in its own process group, which ends with the tool and after this many
	 * seconds (0: no limit). */
	bool apart;
	unsigned timeout_s;
	const char *library; /* loaded by the command: its contract is put into the folder before the start. NULL: the probe asks */
	int in_memory;       /* .apart: a descriptor passed as RUN_IN_MEMORY (run.h); -1: none */
	/* Called every 50 ms while the command runs, and once when it has ended; folder: where calls_open() finds the log. May be NULL. */
	void (*tick)(void *user, const char *folder);
	/* Called before the events are read that come ahead of a tick. May be NULL. */
	void (*before)(void *user, const char *folder);
};

struct live_result {
	struct child_result command;
	pid_t pid; /* it had */
	uint32_t models;
	uint32_t graphs;     /* of torch.compile, which run without a package */
	uint32_t unnumbered; /* among them: without a call log one is reported per process, and its calls are not counted */
	uint64_t calls, mismatched, unchecked, failed;
	uint64_t past;             /* Runs that were entered unseen (event.h), not in calls */
	uint32_t without_contract; /* models */
	uint64_t bad_lines;        /* of the event log that are not events */
	char unseen[512];          /* a possible reason why no model was seen; "" if none is known */
	char *folder;              /* of the call log, until live_result_release(); NULL without one */
};

int live_run(const struct live_options *o, char *const *command, struct live_result *r, struct err *err);
void live_result_release(struct live_result *r);
/* Was a model called, and every Run seen? False: why (may be NULL) says what is missing, without a newline. */
bool live_watched(const struct live_result *r, struct buf *why);
/* "2 models", "3 torch.compile graphs", or both. */
void live_models(const struct live_result *r, struct buf *b);

/* Reads a line of the event log. False if it is not an event; `path` is left empty. Uses the tape, which must stay alive. */
bool live_event_parse(struct live_event *ev, struct json_tape *t, struct slice line);
/* A numeric member of the event; 0 if missing. */
uint64_t live_event_number(const struct live_event *ev, const char *key);
/* An event in words, without a final newline: "model 0 (/tmp/m.so), call 3: input 1 (arg1_1) ...". */
void live_event_text(const struct live_event *ev, struct buf *b);
const char *live_kind_name(enum live_kind k);

/* ---- parts, for tests ---- */

/* Why a preload library would have no effect on this program; false if no reason is known. Scripts are
 * followed to their interpreters. */
bool live_unseen(const char *program, char *why, size_t room);
/* Why nothing was seen of a watchable command: python -I, -E, -S, env -i; otherwise why is unchanged. */
void live_apart(char *const *command, char *why, size_t room);
/* "process 4711 (rank 3)" */
void live_process_text(struct buf *b, uint32_t pid, uint32_t rank);
/* A path of process pid, as this process can open it: /proc/self/..., /dev/fd/... and relative ones. */
void live_path_of(pid_t pid, struct slice path, struct buf *b);

#endif
