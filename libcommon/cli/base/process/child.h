/* child.h - running other programs: limits, time-outs, pipes, and no orphans.
 *
 * One child, run to its end:
 *
 *     struct child_spec spec = {
 *         .argv = (const char *[]){"python3", "-c", code, NULL},
 *         .out.how = CHILD_PIPE, .err.how = CHILD_PIPE, // collected: head and tail, always bounded
 *         .timeout_ms = 60000, .max_memory = 4ull << 30,
 *     };
 *     struct child_result r;
 *     if (child_run(&spec, &r, &err) < 0)
 *         die_err(&err);                                 // it could not start: "cannot run 'python3': No such file ..."
 *     if (r.how == CHILD_EXITED && r.status == 0) ...
 *     child_result_release(&r);
 *
 * Several at once, without threads:
 *
 *     struct childset set = {0};
 *     struct child *c = child_start(&set, &spec, &err);  // any number
 *     struct child_event ev;
 *     while (childset_wait(&set, -1, 1000, &ev) == 0 && ev.what != CHILD_NOTHING)
 *         if (ev.what == CHILD_ENDED) {
 *             use(child_result(ev.child));
 *             child_free(&set, ev.child);
 *         }
 *     childset_release(&set);                            // whatever still runs is killed and reaped
 *
 * Invariants
 *  - A child leads a process group of its own unless .same_group (a command that owns the terminal needs the tool's).
 *    When it ends, and when it is freed, the rest of its group gets SIGKILL, unless .leave_running (a browser).
 *    Processes that moved to another session are out of reach.
 *  - A time-out sends SIGTERM (and SIGCONT) to the group, and SIGKILL after .grace_ms.
 *  - The child sees stdin, stdout, stderr and the descriptors in .fds; every other one is closed on exec.
 *  - Standard input defaults to the tool's own; .in.how = CHILD_NULL for /dev/null.
 *  - Core files are off unless .allow_core. A limit of 0 means no limit; one above the hard limit means the hard limit.
 *  - Ownership: the set owns its children; the result of a child lives until child_free; child_run hands its
 *    result to the caller. .argv and the other pointers of a spec are needed only during child_start.
 *  - A set and its children belong to one thread; two sets in two threads are independent. .die_with_parent is bound
 *    to the thread that started the child (prctl(2), PR_SET_PDEATHSIG).
 *
 * Failure: child_start returns NULL and fills err with the step that failed (chdir, exec, ...) and its errno, reported
 * by the child through a close-on-exec pipe, so "no such program" is never confused with a program's own status 127.
 * Nothing here prints. The only global state is the list of groups that a signal handler needs (child_signals).
 */
#ifndef PT2_CHILD_H
#define PT2_CHILD_H
#include "base/buf.h"

#include <sys/resource.h>
#include <sys/types.h>

enum child_io {
	CHILD_INHERIT, /* the tool's own stream */
	CHILD_NULL,    /* /dev/null */
	CHILD_PIPE,    /* stdin: .input and child_send; stdout, stderr: collected in the result */
	CHILD_RAW,     /* stdout, stderr: a non-blocking pipe the caller reads (child_fd), with CHILD_READABLE events */
	CHILD_FD,      /* the descriptor .fd, still owned by the caller */
	CHILD_MERGE,   /* stderr only: where stdout goes */
};

struct child_stream {
	enum child_io how;
	int fd; /* for CHILD_FD */
};

/* An extra descriptor: the caller's `from` becomes the child's `to`. */
struct child_fd {
	int from, to;
};

struct child_spec {
	const char *const *argv; /* NULL-terminated; argv[0] is looked up in PATH if it has no slash */
	const char *cwd;
	const char *const *env_allow; /* if set, only these names are inherited; "OMP_*" is a prefix */
	const char *const *env_unset; /* names to remove, same patterns */
	const char *const *env_set;   /* "NAME=VALUE" to add or replace, after the two above */
	struct child_stream in, out, err;
	struct slice input; /* written to stdin if .in is CHILD_PIPE */
	bool keep_stdin;    /* leave stdin open after .input, for child_send */
	const struct child_fd *fds;
	size_t n_fds;
	int timeout_ms;      /* 0: none */
	int grace_ms;        /* from TERM to KILL; 0: 2000 */
	uint64_t max_memory; /* bytes of address space */
	uint64_t max_cpu_s;  /* SIGXCPU, a second later SIGKILL */
	uint64_t max_file;   /* bytes per written file */
	uint64_t max_procs;  /* processes of this user */
	bool allow_core;
	bool same_group;             /* stay in the tool's process group */
	bool leave_running;          /* do not kill what it leaves behind, nor itself at child_free */
	bool die_with_parent;        /* SIGKILL when the tool dies, for whatever reason */
	size_t keep_head, keep_tail; /* of each collected stream, in bytes; both 0: 64 KiB each */
	/* Instead of a program: run this in a fork and _exit with its result (data left in stdio buffers is
	 * lost: use write(2)). Only stdin, stdout, stderr and .fds are open; .argv names it in messages, the environment is
	 * the tool's. The caller's threads do not exist there. */
	int (*function)(void *arg);
	/* Called in the child just before exec (or before .function); async-signal-safe code only. 0, or an errno. */
	int (*before_exec)(void *arg);
	void *arg;
};

/* A collected stream: its first bytes, its last bytes, and the total number. */
struct child_output {
	struct buf head;
	char *ring;
	size_t ring_cap, ring_at;
	size_t keep_head, keep_tail;
	uint64_t total;
};

enum child_how {
	CHILD_RUNNING,
	CHILD_EXITED,      /* status */
	CHILD_SIGNALED,    /* sig */
	CHILD_TIMED_OUT,   /* by .timeout_ms; sig or status says how it ended then */
	CHILD_STOPPED,     /* by child_stop or child_kill; likewise */
	CHILD_NOT_STARTED, /* start_errno */
};

struct child_result {
	enum child_how how;
	int status; /* exit status, 0 if a signal ended it */
	int sig;    /* signal, 0 if it exited */
	bool core_dumped;
	int start_errno;
	struct rusage usage; /* of the child and the children that it waited for */
	uint64_t wall_ns;
	struct child_output out, err;
};

struct child;
struct childset {
	struct child **v;
	size_t n, cap, turn;
};

enum child_what {
	CHILD_NOTHING,     /* the deadline passed, or nothing is left to wait for */
	CHILD_ENDED,       /* reported once per child */
	CHILD_READABLE,    /* a CHILD_RAW stream has data or is at its end; child_close_stream after read gives 0 */
	CHILD_WATCHED,     /* watch_fd is readable */
	CHILD_INTERRUPTED, /* a signal handler of the caller ran */
};
struct child_event {
	enum child_what what;
	struct child *child;
	int stream; /* 1 or 2 for CHILD_READABLE */
};

int child_run(const struct child_spec *spec, struct child_result *r, struct err *err);
void child_result_release(struct child_result *r);

struct child *child_start(struct childset *set, const struct child_spec *spec, struct err *err);
/* The next event, waiting at most timeout_ms (-1: until there is one). watch_fd, if not -1, is polled as well.
 * 0, or -1 if poll itself fails (errno). */
int childset_wait(struct childset *set, int watch_fd, int timeout_ms, struct child_event *ev);
/* This signal, to it or its group. */
void child_signal(struct child *c, int sig);
/* TERM, then KILL after the grace time; returns at once, CHILD_ENDED follows. */
void child_stop(struct child *c);
/* KILL now; CHILD_ENDED follows. */
FOR_TESTS void child_kill(struct child *c);
/* Takes a child out of its set; a running one is killed and reaped first (see leave_running). */
void child_free(struct childset *set, struct child *c);
void childset_release(struct childset *set);

/* Queues bytes for a CHILD_PIPE stdin; childset_wait writes them. A child that closed its stdin is not an error. */
void child_send(struct child *c, struct slice bytes);
/* Closes stdin once all queued bytes are written. */
void child_send_end(struct child *c);
/* The tool's end of a CHILD_RAW stream, or -1. */
int child_fd(const struct child *c, int stream);
void child_close_stream(struct child *c, int stream);
pid_t child_pid(const struct child *c);
const struct child_result *child_result(const struct child *c);

/* Appends what was kept: the head, a line with the number of dropped bytes if any, and the tail. */
void child_output_text(const struct child_output *o, struct buf *b);
/* "exited with status 3", "killed by SIGSEGV (Segmentation fault)", "timed out (killed by SIGTERM)". */
void child_describe(const struct child_result *r, struct buf *b);

/* The file that `name` would run: itself if it has a slash, else found in PATH; NULL if there is none. free() it. */
char *child_which(const char *name);

/* Ends the tool the way the command ended: same status, or the same signal (without a core file of the tool's
 * own). If the command could not start, the status is 4. Flushes stdio first. */
_Noreturn void child_exit_like(const struct child_result *r);

/* How SIGINT, SIGTERM, SIGHUP and SIGQUIT to the tool reach its children. Signals ignored since the tool's start
 * (nohup) stay ignored. Call it once, before the first child. At most CHILD_GUARDED children at a time are covered. */
enum child_signal_mode {
	CHILD_SIGNALS_KILL,    /* kill every group, then die of the same signal */
	CHILD_SIGNALS_FORWARD, /* forward it, unless the terminal already sent it to them, and keep waiting */
};
#define CHILD_GUARDED 256
void child_signals(enum child_signal_mode mode);
/* With CHILD_SIGNALS_FORWARD: the last of these signals that the tool received; 0: none. */
int child_signalled(void);
/* How many were received. */
unsigned child_signal_count(void);
/* Does this signal ask a process to end (one of those four), rather than report an error of its own? */
bool child_asks_to_end(int sig);

#endif
