/* The broker: answers questions until the tool has ended, and then removes what is left of it. */
#include "base/broker/broker.h"
#include "base/broker/broker_part.h"
#include "base/process/child_part.h"
#include "base/process/confine.h"
#include "base/process/passfd.h"
#include "base/io/tempfile.h"
#include "base/tool/output.h"
#include "base/tool/tempfolder.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* ---- what it keeps ---- */

struct kept_output {
	struct output *o; /* NULL: finished or dropped */
	char *folder;     /* its temporary name, if it is a folder of outputs */
};
static struct kept_output *outputs;
static size_t n_outputs, cap_outputs;

static char **kept_temps; /* NULL: removed */
static size_t n_temps, cap_temps;

/* What a tool that has ended left behind. */
static void remove_rest(void)
{
	output_abort_all();
	temp_folder_remove_all();
	n_outputs = n_temps = 0;
}

/* ---- signals ---- */

/* The parent of a process, and its group; 0: no such process. */
static pid_t parent_of(pid_t pid, pid_t *group)
{
	char path[64], text[1024];
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC), parent = 0, of_group = 0;
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	child_close_fd(&fd);
	text[n > 0 ? n : 0] = 0;
	const char *state = strrchr(text, ')');
	if (!state || sscanf(state + 1, " %*c %d %d", &parent, &of_group) != 2)
		return 0;
	*group = of_group;
	return parent;
}

static int send_signal(const struct broker_question *q)
{
	const pid_t pid = q->ask.n <= INT32_MAX ? (pid_t)q->ask.n : 0;
	const int sig = (int)q->ask.mode;
	pid_t group = 0;
	if (pid <= 1 || sig <= 0 || sig >= NSIG || parent_of(pid, &group) != q->tool)
		return errno = EPERM, -1;
	/* A child that does not lead a group yet is signalled alone. */
	return kill(q->ask.flags && group == pid ? -pid : pid, sig);
}

/* ---- processes ---- */

static int start_child(const struct broker_question *q, struct broker_answer *a)
{
	const char *argv[1024], *set[1024];
	const size_t n = q->ask.n < q->n_words ? (size_t)q->ask.n : q->n_words;
	int stream[3] = {-1, -1, -1};
	size_t fd = 0;
	for (size_t i = 0; i < n; i++)
		argv[i] = q->word[i];
	argv[n] = NULL;
	for (size_t i = n; i < q->n_words; i++)
		set[i - n] = q->word[i];
	set[q->n_words - n] = NULL;
	for (int i = 0; i < 3; i++)
		if (q->ask.flags & 1u << i && fd < q->n_fds)
			stream[i] = q->fd[fd++];
	const bool more = q->ask.flags & 1u << 3 && fd < q->n_fds && q->ask.mode >= 3 && q->ask.mode < 64;
	const struct child_fd extra = {.from = more ? q->fd[fd++] : -1, .to = (int)q->ask.mode};
	const struct child_spec spec = {
	    .argv = argv,
	    .env_set = set,
	    .fds = &extra,
	    .n_fds = more,
	    .in.how = CHILD_FD,
	    .out.how = CHILD_FD,
	    .err.how = stream[2] < 0 && stream[1] >= 0 ? CHILD_MERGE : CHILD_FD,
	    .die_with_parent = true,
	};
	errno = EPERM;
	if (!n || fd + 1 != q->n_fds || stream[0] < 0 || stream[1] < 0 || !broker_may_start(&spec))
		return -1;
	const pid_t pid = child_clone(&spec, stream, q->fd[fd], q->tool);
	a->n = (uint64_t)pid;
	return pid < 0 ? -1 : 0;
}

void (*broker_offered)(char *text, size_t max);

enum { CALL_MS = 30000 }; /* drivers take a second or two to start */

/* In a fork, so that whatever a driver leaves behind (threads, open devices) ends with it. */
static int call_offered(struct broker_answer *a)
{
	int ends[2];
	ssize_t n = -1;
	if (!broker_offered)
		return errno = ENOSYS, -1;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	const pid_t pid = fork();
	if (!pid) {
		broker_offered(a->text, sizeof(a->text));
		_exit(write(ends[1], a->text, strlen(a->text)) < 0);
	}
	close(ends[1]);
	if (pid > 0) {
		struct pollfd f = {.fd = ends[0], .events = POLLIN};
		int r;
		while ((r = poll(&f, 1, CALL_MS)) < 0 && errno == EINTR)
			;
		n = r > 0 ? read(ends[0], a->text, sizeof(a->text) - 1) : -1;
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	close(ends[0]);
	a->text[n > 0 ? n : 0] = 0;
	return n > 0 ? 0 : (errno = ENODATA, -1);
}

/* ---- files ---- */

static int serve_file(const struct broker_question *q)
{
	const char *name;
	const int flags = (int)q->ask.flags & (O_ACCMODE | O_APPEND | O_TRUNC | O_EXCL);
	int at = broker_path_parent(q->word[0], &name);
	int fd = at < 0 ? -1 : openat(at, name, flags | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, q->ask.mode & 0777), why = errno;
	child_close_fd(&at);
	errno = why;
	return fd;
}

static int serve_folder(const struct broker_question *q)
{
	const char *name;
	int at = broker_path_parent(q->word[0], &name), r = at < 0 ? -1 : mkdirat(at, name, q->ask.mode & 0777), why = errno;
	child_close_fd(&at);
	errno = why;
	return r;
}

/* A file, or a folder with everything in it. */
static int remove_one(const struct broker_question *q)
{
	const char *name;
	int at = broker_path_parent(q->word[0], &name), r = at < 0 ? -1 : unlinkat(at, name, 0), why = errno;
	if (at >= 0 && r < 0 && (errno == EISDIR || errno == EPERM)) {
		char *path = xasprintf("/proc/self/fd/%d/%s", at, name);
		remove_tree(path);
		free(path);
		r = faccessat(at, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 ? 0 : -1;
		why = EBUSY;
	}
	child_close_fd(&at);
	errno = why;
	return r;
}

static int make_temp(const struct broker_question *q, struct broker_answer *a, struct err *err)
{
	char *path = q->ask.n < TEMP_KINDS ? temp_folder((enum temp_kind)q->ask.n, err) : NULL;
	if (!path)
		return q->ask.n < TEMP_KINDS ? -1 : err_set(err, EXIT_ENVIRON, "no such private folder");
	broker_path_add(path);
	snprintf(a->text, sizeof(a->text), "%s", path);
	PUSH_TO(kept_temps, n_temps, cap_temps) = path;
	return 0;
}

static int remove_temp(const struct broker_question *q)
{
	for (size_t i = 0; i < n_temps; i++)
		if (kept_temps[i] && !strcmp(kept_temps[i], q->word[0])) {
			broker_path_drop(kept_temps[i]);
			temp_folder_remove(kept_temps[i]);
			kept_temps[i] = NULL;
			return 0;
		}
	return errno = EACCES, -1;
}

/* ---- outputs ---- */

static int begin_output(const struct broker_question *q, struct broker_answer *a, struct err *err)
{
	char link[64], folder[PATH_MAX];
	struct output *o = NULL;
	const bool dir = q->ask.what == BROKER_ASK_OUTDIR;
	if (q->sealed && (dir || !broker_is_trusted(BROKER_OUTPUT, q->word[0])))
		return err_set(err, EXIT_ENVIRON, "cannot write '%s': it was not named on the command line", q->word[0]);
	o = dir ? output_dir(q->word[0], q->ask.flags, q->ask.hook, err) : output_file(q->word[0], err);
	if (!o)
		return -1;
	struct kept_output *k = &PUSH_TO(outputs, n_outputs, cap_outputs);
	*k = (struct kept_output){o, NULL};
	snprintf(link, sizeof(link), "/proc/self/fd/%d", output_fd(o));
	ssize_t n = dir ? readlink(link, folder, sizeof(folder) - 1) : -1;
	if (n > 0) {
		folder[n] = 0;
		k->folder = xstrdup(folder);
		broker_path_add(folder);
	}
	a->n = n_outputs - 1;
	return output_fd(o);
}

static int end_output(const struct broker_question *q, struct err *err)
{
	struct kept_output *k = q->ask.n < n_outputs ? &outputs[q->ask.n] : NULL;
	int r = 0;
	if (!k || !k->o)
		return err_set(err, EXIT_ENVIRON, "no such output");
	if (q->ask.what == BROKER_ASK_DISCARD) {
		if (*q->word[0] && !strchr(q->word[0], '/') && strcmp(q->word[0], "..") != 0 && strcmp(q->word[0], ".") != 0)
			output_discard(k->o, q->word[0]);
		return 0;
	}
	if (k->folder)
		broker_path_drop(k->folder);
	if (q->ask.what == BROKER_ASK_COMMIT)
		r = output_commit(k->o, err);
	else
		output_abort(k->o);
	k->o = NULL;
	free(k->folder);
	k->folder = NULL;
	return r;
}

/* ---- questions ---- */

/* -1: it failed, with errno or err set; else 0, or a descriptor to send with the answer (*brings), to be closed afterwards if *close_it. */
static int answer(struct broker_question *q, struct broker_answer *a, bool *brings, bool *close_it, struct err *err)
{
	if (!q->n_words)
		q->word[0] = "";
	switch ((enum broker_what)q->ask.what) {
	case BROKER_ASK_START: return start_child(q, a);
	case BROKER_ASK_SIGNAL: return send_signal(q);
	case BROKER_ASK_FILE: return *brings = *close_it = true, serve_file(q);
	case BROKER_ASK_UNNAMED: return *brings = *close_it = true, temp_file(err);
	case BROKER_ASK_FOLDER: return serve_folder(q);
	case BROKER_ASK_REMOVE: return remove_one(q);
	case BROKER_ASK_TEMP: return make_temp(q, a, err);
	case BROKER_ASK_UNTEMP: return remove_temp(q);
	case BROKER_ASK_OUTPUT:
	case BROKER_ASK_OUTDIR: return *brings = true, begin_output(q, a, err);
	case BROKER_ASK_COMMIT:
	case BROKER_ASK_ABORT:
	case BROKER_ASK_DISCARD: return end_output(q, err);
	case BROKER_ASK_PROBE: {
		const char *probe = broker_probe(err);
		snprintf(a->text, sizeof(a->text), "%s", probe ? probe : "");
		return probe ? 0 : -1;
	}
	case BROKER_ASK_CALL: return call_offered(a);
	case BROKER_ASK_TRUST:
		if (!q->sealed)
			broker_trusts((enum broker_trust)q->ask.n, q->word[0]);
		return 0;
	case BROKER_ASK_SEAL: q->sealed = true; return 0;
	case BROKER_ASK_END: remove_rest(); return 0;
	case BROKER_ASKS: break;
	}
	return errno = EINVAL, -1;
}

/* False: the tool would wait forever for this answer; the broker must end, which the tool notices. */
static bool send_answer(int to, const struct broker_answer *a, int fd)
{
	struct iovec part = {(void *)(uintptr_t)a, offsetof(struct broker_answer, text) + strlen(a->text) + 1};
	return pass_fds(to, &part, 1, &fd, fd >= 0) >= 0;
}

static void take_descriptors(struct broker_question *q, struct msghdr *m)
{
	q->n_fds = 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < (c->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++) {
			int fd;
			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
			if (q->n_fds < BROKER_MAX_FDS)
				q->fd[q->n_fds++] = fd;
			else
				close(fd);
		}
	}
}

/* False: the tool has ended, or sent what it could never send. */
static bool receive(int from, struct broker_question *q)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(BROKER_MAX_FDS * sizeof(int))];
	} control;
	struct iovec part[2] = {{&q->ask, sizeof(q->ask)}, {q->text, BROKER_MAX_TEXT}};
	struct msghdr m = {.msg_iov = part, .msg_iovlen = 2, .msg_control = &control, .msg_controllen = sizeof(control)};
	ssize_t n;
	while ((n = recvmsg(from, &m, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
		;
	if (n < (ssize_t)sizeof(q->ask))
		return false;
	take_descriptors(q, &m);
	const size_t text = (size_t)n - sizeof(q->ask);
	q->text[text] = 0;
	q->n_words = 0;
	for (size_t at = 0; at < text && q->n_words < ARRAY_LEN(q->word) - 2; at += strlen(q->text + at) + 1)
		q->word[q->n_words++] = q->text + at;
	return !(m.msg_flags & (MSG_TRUNC | MSG_CTRUNC));
}

static bool serve_question(int from, struct broker_question *q, bool answers)
{
	struct broker_answer a = {0};
	struct err err = {0};
	bool brings = false, close_it = false, sent = true;
	if (!receive(from, q))
		return false;
	if (answers || q->ask.what == BROKER_ASK_SIGNAL) {
		errno = 0;
		int r = answer(q, &a, &brings, &close_it, &err);
		if (r < 0) {
			a.error = errno ? errno : EIO;
			a.status = (int32_t)err.status;
			snprintf(a.text, sizeof(a.text), "%s", err.text);
		}
		if (answers)
			sent = send_answer(from, &a, brings && r >= 0 ? r : -1);
		if (close_it && r >= 0)
			close(r);
	}
	for (size_t i = 0; i < q->n_fds; i++)
		close(q->fd[i]);
	return sent;
}

_Noreturn void broker_serve(int questions, int signals, pid_t tool)
{
	static struct broker_question q;
	struct err err;
	/* Only these two descriptors of the tool are kept: a reader that waits for the end of its output must not wait for the broker. */
	int null = open("/dev/null", O_RDWR);
	for (int i = 0; i < 3 && null >= 0; i++)
		dup2(null, i);
	if (confine_close_others((const int[]){questions, signals}, 2, &err) < 0)
		_exit(EXIT_ENVIRON); /* holding the tool's end of the sockets, the broker would not notice when the tool ends */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	q.tool = tool;
	q.text = xmalloc(BROKER_MAX_TEXT + 1);
	struct pollfd f[2] = {{.fd = questions, .events = POLLIN}, {.fd = signals, .events = POLLIN}};
	for (;;) {
		if (poll(f, 2, -1) < 0 && errno != EINTR)
			break;
		if (f[1].revents & POLLIN)
			serve_question(signals, &q, false);
		if (f[0].revents && !serve_question(questions, &q, true))
			break;
	}
	remove_rest();
	_exit(0);
}
