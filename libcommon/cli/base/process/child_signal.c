/* child_signal.c - signals that end the tool, and its children with it. */
#include "base/process/child_part.h"
#include "base/process/elsewhere.h"

#include <stdatomic.h>

const struct elsewhere *elsewhere;

void child_send_signal(pid_t pid, bool group, int sig, bool done)
{
	if (elsewhere && elsewhere->sealed)
		elsewhere->signal(pid, group, sig, done);
	else
		kill(group ? -pid : pid, sig);
}

static void signal_guarded(int id, int sig) { child_send_signal(id < 0 ? -id : id, id < 0, sig, false); }

/* Process ids (negative: groups) that a signal handler must reach. */
static atomic_int guarded[CHILD_GUARDED];

void child_guard_add(struct child *c)
{
	int id = c->own_group ? -c->pid : c->pid;
	for (int i = 0; i < CHILD_GUARDED; i++) {
		int empty = 0;
		if (atomic_compare_exchange_strong(&guarded[i], &empty, id)) {
			c->guard = i;
			return;
		}
	}
}

void child_guard_remove(struct child *c)
{
	if (c->guard >= 0)
		atomic_store(&guarded[c->guard], 0);
	c->guard = -1;
}

void child_exit_like(const struct child_result *r)
{
	fflush(NULL);
	if (r->how == CHILD_NOT_STARTED || r->how == CHILD_RUNNING)
		exit(EXIT_ENVIRON);
	if (!r->sig)
		exit(r->status);
	/* The command left its core file, if any; one of the tool would overwrite it. */
	struct rlimit none = {0, 0};
	setrlimit(RLIMIT_CORE, &none);
	signal(r->sig, SIG_DFL);
	sigset_t one;
	sigemptyset(&one);
	sigaddset(&one, r->sig);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	raise(r->sig);
	exit(128 + r->sig); /* a signal that does not end a process by default */
}

static void kill_all(int sig)
{
	int saved = errno;
	for (int i = 0; i < CHILD_GUARDED; i++) {
		int id = atomic_load(&guarded[i]);
		if (id)
			signal_guarded(id, SIGKILL);
	}
	errno = saved;
	raise(sig); /* SA_RESETHAND has restored the default */
}

static volatile sig_atomic_t signalled, signal_count;

int child_signalled(void) { return signalled; }
unsigned child_signal_count(void) { return (unsigned)signal_count; }

static void forward(int sig, siginfo_t *info, void *context)
{
	(void)context;
	int saved = errno;
	signalled = sig;
	signal_count = signal_count + 1;
	/* A signal from the terminal (no sender) reached everyone in our group, but not children in their own groups. */
	bool from_terminal = info->si_code > 0;
	for (int i = 0; i < CHILD_GUARDED; i++) {
		int id = atomic_load(&guarded[i]);
		if (id && (!from_terminal || id < 0))
			signal_guarded(id, sig);
	}
	errno = saved;
}

static const int sigs[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

bool child_asks_to_end(int sig)
{
	for (size_t i = 0; i < ARRAY_LEN(sigs); i++)
		if (sigs[i] == sig)
			return true;
	return false;
}

void child_signals(enum child_signal_mode mode)
{
	for (size_t i = 0; i < ARRAY_LEN(sigs); i++) {
		struct sigaction sa = {0}, old;
		if (sigaction(sigs[i], NULL, &old) < 0 || old.sa_handler == SIG_IGN)
			continue;
		sigfillset(&sa.sa_mask);
		if (mode == CHILD_SIGNALS_KILL) {
			sa.sa_handler = kill_all;
			sigemptyset(&sa.sa_mask);
			sa.sa_flags = SA_RESETHAND | SA_NODEFER;
		} else {
			sa.sa_sigaction = forward;
			sa.sa_flags = SA_SIGINFO | SA_RESTART;
		}
		sigaction(sigs[i], &sa, NULL);
	}
}
