/* The tool's side: the questions, as the functions of elsewhere.h that other rooms call. */
#include "base/broker/broker.h"
#include "base/broker/broker_part.h"
#include "base/process/child_part.h"
#include "base/io/tempfile.h"
#include "base/process/elsewhere.h"
#include "base/process/passfd.h"
#include "base/tool/diag.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>

static int questions = -1, signals = -1;
static pid_t owner; /* a fork of the tool asks nothing: the sockets are the tool's */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct question {
	struct broker_ask ask;
	struct buf text;
	int fd[BROKER_MAX_FDS];
	size_t n_fds;
};

static void add_text(struct question *q, const char *text)
{
	buf_adds(&q->text, text);
	buf_addc(&q->text, 0);
}

static ssize_t send_question(int to, const struct question *q)
{
	struct iovec part[2] = {{(void *)(uintptr_t)&q->ask, sizeof(q->ask)}, {q->text.p, q->text.len}};
	return pass_fds(to, part, q->text.len ? 2 : 1, q->fd, q->n_fds);
}

static ssize_t receive_answer(struct broker_answer *a, int *fd)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = {a, sizeof(*a)};
	struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	ssize_t n;
	while ((n = recvmsg(questions, &m, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
		;
	const struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	return n;
}

/* Questions that may fail after the broker has ended: before that it removes what is left of the tool. */
static bool is_clean_up(uint32_t what)
{
	return what == BROKER_ASK_SIGNAL || what == BROKER_ASK_REMOVE || what == BROKER_ASK_UNTEMP || what == BROKER_ASK_ABORT ||
	       what == BROKER_ASK_DISCARD || what == BROKER_ASK_END;
}

static bool brings_file(uint32_t what)
{
	return what == BROKER_ASK_FILE || what == BROKER_ASK_UNNAMED || what == BROKER_ASK_OUTPUT || what == BROKER_ASK_OUTDIR;
}

/* Asks, and releases the question's text. -1 and errno, with the message for err in a->text; else the descriptor received, or 0. If the
 * broker is gone, the tool ends: it could no longer do what it reports. */
static int ask(struct question *q, struct broker_answer *a)
{
	int fd = 0;
	bool lost = false;
	a->error = EPIPE;
	a->text[0] = 0;
	if (getpid() == owner && q->text.len <= BROKER_MAX_TEXT) {
		pthread_mutex_lock(&lock);
		if (send_question(questions, q) > 0 && receive_answer(a, &fd) < (ssize_t)offsetof(struct broker_answer, text))
			a->error = EPIPE;
		pthread_mutex_unlock(&lock);
		lost = a->error == EPIPE && !is_clean_up(q->ask.what);
		if (!a->error && !fd && brings_file(q->ask.what)) /* this process has no free descriptor */
			a->error = EMFILE;
	}
	a->text[sizeof(a->text) - 1] = 0;
	buf_release(&q->text);
	if (lost)
		die(EXIT_ENVIRON, "lost this tool's own helper process, which makes its files");
	errno = a->error;
	return a->error ? -1 : fd;
}

static int failed(const struct broker_answer *a, struct err *err)
{
	if (a->error == EPIPE || !a->text[0])
		return errno = a->error, err_errno(err, EXIT_ENVIRON, "cannot reach this tool's own helper process, which makes its files");
	return err_set(err, (enum exit_status)a->status, "%s", a->text);
}

/* ---- processes ---- */

static pid_t start(const struct child_spec *spec, const int stream[3], int report)
{
	struct question q = {.ask.what = BROKER_ASK_START};
	struct broker_answer a;
	for (const char *const *s = spec->argv; *s; s++, q.ask.n++)
		add_text(&q, *s);
	for (const char *const *s = spec->env_set; s && *s; s++)
		add_text(&q, *s);
	for (int i = 0; i < 3; i++) {
		const int fd = stream[i] >= 0 ? stream[i] : i == 2 && spec->err.how == CHILD_MERGE ? -1 : i;
		if (fd < 0)
			continue;
		q.ask.flags |= 1u << i;
		q.fd[q.n_fds++] = fd;
	}
	if (spec->n_fds == 1) {
		q.ask.flags |= 1u << 3;
		q.ask.mode = (uint32_t)spec->fds[0].to;
		q.fd[q.n_fds++] = spec->fds[0].from;
	}
	q.fd[q.n_fds++] = report;
	return ask(&q, &a) < 0 ? -1 : (pid_t)a.n;
}

static void send_signal(pid_t child, bool group, int sig, bool done)
{
	struct question q = {.ask = {.what = BROKER_ASK_SIGNAL, .n = (uint64_t)child, .flags = group, .mode = (uint32_t)sig}};
	struct broker_answer a;
	if (done)
		ask(&q, &a);
	else if (getpid() == owner)
		send_question(signals, &q);
}

/* ---- files ---- */

static int ask_path(enum broker_what what, const char *path, int flags, mode_t mode)
{
	struct question q = {.ask = {.what = what, .flags = (uint32_t)flags, .mode = mode}};
	struct broker_answer a;
	add_text(&q, path);
	return ask(&q, &a);
}

static int ask_file(const char *path, int flags, mode_t mode) { return ask_path(BROKER_ASK_FILE, path, flags, mode); }
static int ask_folder(const char *path, mode_t mode) { return ask_path(BROKER_ASK_FOLDER, path, 0, mode); }
static int remove_path(const char *path) { return ask_path(BROKER_ASK_REMOVE, path, 0, 0); }
static void remove_temp(const char *path) { ask_path(BROKER_ASK_UNTEMP, path, 0, 0); }

static char *make_temp(int kind, struct err *err)
{
	struct question q = {.ask = {.what = BROKER_ASK_TEMP, .n = (uint64_t)kind}};
	struct broker_answer a;
	return ask(&q, &a) < 0 ? failed(&a, err), NULL : xstrdup(a.text);
}

static int find_probe(char *path, struct err *err)
{
	struct question q = {.ask.what = BROKER_ASK_PROBE};
	struct broker_answer a;
	if (ask(&q, &a) < 0)
		return failed(&a, err);
	snprintf(path, PATH_MAX, "%.*s", PATH_MAX - 1, a.text);
	return 0;
}

bool broker_call(char *text, size_t max)
{
	struct question q = {.ask.what = BROKER_ASK_CALL};
	struct broker_answer a;
	if (!elsewhere && broker_offered) {
		broker_offered(text, max);
		return true;
	}
	if (!elsewhere || ask(&q, &a) < 0)
		return false;
	snprintf(text, max, "%s", a.text);
	return true;
}

/* ---- outputs ---- */

static int begin_output(struct question *q, const char *path, uint32_t *number, struct err *err)
{
	struct broker_answer a;
	add_text(q, path);
	const int fd = ask(q, &a);
	if (fd < 0)
		return failed(&a, err);
	*number = (uint32_t)a.n;
	return fd;
}

static int output_file_elsewhere(const char *path, uint32_t *number, struct err *err)
{
	struct question q = {.ask.what = BROKER_ASK_OUTPUT};
	return begin_output(&q, path, number, err);
}

static int output_dir_elsewhere(const char *path, bool replace, bool (*is_ours)(int fd), uint32_t *number, struct err *err)
{
	struct question q = {.ask = {.what = BROKER_ASK_OUTDIR, .flags = replace, .hook = is_ours}};
	return begin_output(&q, path, number, err);
}

static int end_output(enum broker_what what, uint32_t number, const char *name, struct err *err)
{
	struct question q = {.ask = {.what = what, .n = number}};
	struct broker_answer a;
	if (name)
		add_text(&q, name);
	return ask(&q, &a) < 0 ? failed(&a, err) : 0;
}

static int commit_output(uint32_t number, struct err *err) { return end_output(BROKER_ASK_COMMIT, number, NULL, err); }
static void abort_output(uint32_t number) { end_output(BROKER_ASK_ABORT, number, NULL, NULL); }
static void discard_output(uint32_t number, const char *name) { end_output(BROKER_ASK_DISCARD, number, name, NULL); }

static int ask_unnamed(struct err *err)
{
	struct question q = {.ask.what = BROKER_ASK_UNNAMED};
	struct broker_answer a;
	const int fd = ask(&q, &a);
	return fd < 0 ? failed(&a, err) : fd;
}

/* Removed before the tool ends, not shortly after: a caller that checks right then finds nothing left. */
static void ask_end(void)
{
	struct question q = {.ask.what = BROKER_ASK_END};
	struct broker_answer a;
	ask(&q, &a);
}

static struct elsewhere asked = {
    .start = start,
    .signal = send_signal,
    .make_file = ask_file,
    .make_folder = ask_folder,
    .remove = remove_path,
    .temp_folder = make_temp,
    .temp_folder_remove = remove_temp,
    .output_file = output_file_elsewhere,
    .output_dir = output_dir_elsewhere,
    .output_commit = commit_output,
    .output_abort = abort_output,
    .output_discard = discard_output,
    .probe = find_probe,
    .null = -1,
};

/* ---- the start, and the seal ---- */

/* Two pairs of sockets whose numbers are none of a standard stream's: one that is closed must stay closed. */
static bool make_pairs(int pair[2][2])
{
	int low[3], n = 0;
	for (int fd; n < 3 && (fd = fcntl(asked.null, F_DUPFD_CLOEXEC, 0)) >= 0;) {
		if (fd > 2) {
			close(fd);
			break;
		}
		low[n++] = fd;
	}
	const bool made = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair[0]) == 0 &&
			  socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair[1]) == 0;
	while (n)
		close(low[--n]);
	return made;
}

void broker_offer(void (*f)(char *text, size_t max)) { broker_offered = f; }

static void give_up(int pair[2][2])
{
	for (int i = 0; i < 2; i++)
		for (int k = 0; k < 2; k++)
			child_close_fd(&pair[i][k]);
	child_close_fd(&asked.null);
}

void broker_start(void)
{
	int pair[2][2] = {{-1, -1}, {-1, -1}};
	sigset_t all, before;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	asked.null = fcntl(null, F_DUPFD_CLOEXEC, 3);
	child_close_fd(&null);
	if (asked.null < 0 || !make_pairs(pair)) {
		give_up(pair);
		return;
	}
	/* Signals that end or stop the tool must not reach the broker: it ends after the tool. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	const pid_t tool = getpid(), pid = fork();
	if (!pid) {
		child_start_mask = before;
		broker_serve(pair[0][1], pair[1][1], tool);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (pid < 0) {
		give_up(pair);
		return;
	}
	close(pair[0][1]);
	close(pair[1][1]);
	questions = pair[0][0];
	signals = pair[1][0];
	owner = tool;
	elsewhere = &asked;
	temp_file_elsewhere = ask_unnamed;
	diag_at_die(ask_end);
	atexit(ask_end);
}

void broker_trust(enum broker_trust what, const char *path)
{
	struct question q = {.ask = {.what = BROKER_ASK_TRUST, .n = what}};
	struct broker_answer a;
	add_text(&q, path ? path : "");
	if (elsewhere)
		ask(&q, &a);
}

void broker_seal(unsigned flags)
{
	struct question q = {.ask.what = BROKER_ASK_SEAL};
	struct broker_answer a;
	struct err err;
	if (!elsewhere || asked.sealed)
		return;
	if (ask(&q, &a) < 0) {
		failed(&a, &err);
		die_err(&err);
	}
	asked.sealed = seal_process(flags, &err) == 0;
	/* Only a kernel without filters is excused: a filter that failed for lack of memory is an error. */
	if (!asked.sealed && errno == ENOMEM)
		die_err(&err);
}
