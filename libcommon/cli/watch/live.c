#include "watch/live.h"
#include "base/broker/broker.h"
#include "base/process/elsewhere.h"

#include "base/html/html.h"
#include "base/process/confine.h"
#include "base/text.h"
#include "base/tool/output.h"
#include "base/tool/parts.h"
#include "base/tool/tempfolder.h"
#include "watch/given.h"
#include "watch/run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define MAX_QUESTION (64u << 10)
#define MAX_CLIENTS 64
#define ONLY_GRAPHS \
	"only torch.compile graphs were seen, whose inputs torch's own guards check: use aoti-nanassert or aoti-printer to look inside " \
	"them, " \
	"fxexplain to see why they are recompiled"

struct client {
	int fd; /* -1: a free place */
	pid_t pid;
	struct buf question, answer;
	size_t sent;
};

struct live {
	const struct live_options *o;
	struct live_result *r;
	char *dir, contract[PATH_MAX]; /* contract: a file, "" if none */
	int epoll, listen, notify, log;
	struct live_counters *counters;
	struct client client[MAX_CLIENTS];
	struct buf tail; /* of the log: bytes of an incomplete line */
	struct json_tape tape;
	char **path; /* of the models, by number */
	uint32_t n_path, cap_path;
};

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* ---- the folder ---- */

static void in_dir(const struct live *l, const char *name, char *path, size_t room) { snprintf(path, room, "%s/%s", l->dir, name); }

static int make_counters(struct live *l, struct err *err)
{
	char path[PATH_MAX];
	in_dir(l, LIVE_FILE_COUNTERS, path, sizeof(path));
	int fd = make_file(path, O_RDWR | O_EXCL, 0600);
	/* Allocates its blocks: on a full disk, a hole would mean a SIGBUS in the target process. */
	if (fd < 0 || (errno = posix_fallocate(fd, 0, sizeof(*l->counters)))) {
		int why = errno;
		close_fd(&fd);
		errno = why;
		return err_errno(err, EXIT_ENVIRON, "cannot write '%s'", path);
	}
	void *p = mmap(NULL, sizeof(*l->counters), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return err_errno(err, EXIT_ENVIRON, "cannot map '%s'", path);
	l->counters = p;
	memcpy(l->counters->magic, LIVE_MAGIC, sizeof(l->counters->magic));
	return 0;
}

static int make_log(struct live *l, struct err *err)
{
	char path[PATH_MAX];
	in_dir(l, LIVE_FILE_EVENTS, path, sizeof(path));
	l->log = make_file(path, O_RDWR | O_EXCL | O_APPEND, 0600);
	if (l->log < 0)
		return err_errno(err, EXIT_ENVIRON, "cannot write '%s'", path);
	/* A model's own process writes little before it ends, and closing an inotify takes the kernel 10 to 20 ms. */
	if (l->o->apart)
		return 0;
	/* Without it (no watches left) the log is polled twice a second. */
	l->notify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (l->notify >= 0 && inotify_add_watch(l->notify, path, IN_MODIFY) < 0)
		close_fd(&l->notify);
	return 0;
}

static int make_socket(struct live *l, struct err *err)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	if (l->o->library) /* it uses none: its contract lies there already */
		return 0;
	int n = snprintf(at.sun_path, sizeof(at.sun_path), "%.90s/" LIVE_FILE_SOCKET, l->dir);
	l->listen = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (n < 0 || (size_t)n >= sizeof(at.sun_path) || l->listen < 0 || bind(l->listen, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    listen(l->listen, 64) < 0)
		return err_errno(err, EXIT_ENVIRON, "cannot listen on '%s'", at.sun_path);
	return 0;
}

/* Contracts that a process cannot ask for are placed in the folder before it starts. */
static int put_contract(struct live *l, struct err *err)
{
	struct stat st;
	struct buf json = {0};
	struct err why = {0};
	char name[64];
	if (stat(l->o->library, &st) < 0)
		return err_errno(err, EXIT_INPUT, "cannot open '%s'", l->o->library);
	buf_addc(&json, '+');
	if (l->o->contract(l->o->user, l->o->library, getpid(), &json, &why) < 0) {
		buf_reset(&json);
		buf_addf(&json, "-%s", why.text);
	}
	snprintf(name, sizeof(name), LIVE_FILE_CONTRACT, (unsigned long long)st.st_dev, (unsigned long long)st.st_ino);
	in_dir(l, name, l->contract, sizeof(l->contract));
	int fd = make_file(l->contract, O_WRONLY | O_EXCL, 0600);
	int r = fd < 0 ? err_errno(err, EXIT_ENVIRON, "cannot write '%s'", l->contract) : write_all(fd, json.p, json.len, l->contract, err);
	close_fd(&fd);
	buf_release(&json);
	return r;
}

static int put_given(struct live *l, struct err *err)
{
	char path[PATH_MAX];
	if (!l->o->given.n)
		return 0;
	in_dir(l, GIVEN_FILE, path, sizeof(path));
	int fd = make_file(path, O_RDWR | O_EXCL, 0600);
	int r = fd < 0 ? err_errno(err, EXIT_ENVIRON, "cannot write '%s'", path) : write_all(fd, l->o->given.p, l->o->given.n, path, err);
	close_fd(&fd);
	return r;
}

static int watch_fd(struct live *l, int fd, uint32_t events, uint64_t id)
{
	struct epoll_event e = {.events = events, .data.u64 = id};
	return epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &e);
}
enum { ID_LISTEN = MAX_CLIENTS, ID_NOTIFY };

/* Writes the modules that Python programs are to find first (share/jit). */
static int put_jit(struct live *l, struct err *err)
{
	static const char *const files[][2] = {{"sitecustomize.py", "after_import.py"},
					       {"sitecustomize.py", "sitecustomize.py"},
					       {"rewrite.py", "rewrite.py"},
					       {"nodes.py", "nodes.py"},
					       {"foreach.py", "foreach.py"},
					       {"scaler.py", "scaler.py"}};
	char path[PATH_MAX], name[64];
	in_dir(l, LIVE_FOLDER_JIT, path, sizeof(path));
	if (make_folder(path, 0700) < 0)
		return err_errno(err, EXIT_ENVIRON, "cannot create directory '%s'", path);
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		snprintf(name, sizeof(name), "jit/%s", files[i][1]);
		const struct slice text = share_file(name);
		snprintf(name, sizeof(name), "jit/%s", files[i][0]);
		in_dir(l, name, path, sizeof(path));
		int fd = make_file(path, O_WRONLY | O_APPEND | O_NOFOLLOW, 0600);
		int r = fd < 0 ? err_errno(err, EXIT_ENVIRON, "cannot write '%s'", path) : write_all(fd, text.p, text.n, path, err);
		close_fd(&fd);
		if (r < 0)
			return r;
	}
	return 0;
}

static int set_up(struct live *l, struct err *err)
{
	if (!(l->dir = temp_folder(TEMP_LIVE, err)))
		return -1;
	if (make_counters(l, err) < 0 || make_log(l, err) < 0 || make_socket(l, err) < 0 || (l->o->library && put_contract(l, err) < 0) ||
	    put_given(l, err) < 0 || (l->o->calls && calls_create(l->dir, l->o->calls, make_file, err) < 0) ||
	    (!l->o->apart && put_jit(l, err) < 0))
		return temp_failed(err);
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (l->epoll < 0 || (l->listen >= 0 && watch_fd(l, l->listen, EPOLLIN, ID_LISTEN) < 0) ||
	    (l->notify >= 0 && watch_fd(l, l->notify, EPOLLIN, ID_NOTIFY) < 0))
		return err_errno(err, EXIT_ENVIRON, "cannot watch '%s'", l->dir);
	return 0;
}

static void take_down(struct live *l, bool keep)
{
	static const char *const files[] = {LIVE_FILE_EVENTS, LIVE_FILE_SOCKET, LIVE_FILE_COUNTERS, "libpt2probe.so", "libpt2alloc.so"};
	char path[PATH_MAX];
	for (int i = 0; i < MAX_CLIENTS; i++) {
		close_fd(&l->client[i].fd);
		buf_release(&l->client[i].question);
		buf_release(&l->client[i].answer);
	}
	close_fd(&l->listen);
	close_fd(&l->notify);
	close_fd(&l->log);
	close_fd(&l->epoll);
	if (l->counters)
		munmap(l->counters, sizeof(*l->counters));
	for (size_t i = 0; l->dir && keep && i < ARRAY_LEN(files); i++) {
		in_dir(l, files[i], path, sizeof(path));
		remove_file(path);
	}
	if (l->contract[0])
		remove_file(l->contract);
	if (keep) /* the call log, once nobody writes to it any more */
		l->r->folder = l->dir;
	else
		temp_folder_remove(l->dir);
	for (uint32_t i = 0; i < l->n_path; i++)
		free(l->path[i]);
	free(l->path);
	buf_release(&l->tail);
	json_tape_release(&l->tape);
}

/* ---- events ---- */

static struct slice path_of(const struct live *l, uint32_t model)
{
	return model < l->n_path && l->path[model] ? slice_str(l->path[model]) : (struct slice){"", 0};
}

static void learn_path(struct live *l, const struct live_event *ev)
{
	if (ev->model >= LIVE_MODELS || json_get_as(ev->tape, ev->root, "path", JSON_STRING) == NONE)
		return;
	while (l->n_path <= ev->model)
		PUSH_TO(l->path, l->n_path, l->cap_path) = NULL;
	free(l->path[ev->model]);
	const bool packed = json_get(ev->tape, ev->root, "package") != NONE;
	l->path[ev->model] = json_strdup(ev->tape, ev->root, packed ? "package" : "path");
}

static void take_event_line(struct live *l, struct slice line)
{
	struct live_event ev;
	if (!live_event_parse(&ev, &l->tape, line)) {
		l->r->bad_lines++;
		return;
	}
	if (ev.kind == LIVE_MODEL_SEEN) {
		const bool graph = json_get(ev.tape, ev.root, "graph") != NONE;
		*(graph ? &l->r->graphs : &l->r->models) += 1;
		l->r->unnumbered += graph && ev.model == LIVE_NO_MODEL;
		learn_path(l, &ev);
	}
	l->r->without_contract += ev.kind == LIVE_NO_CONTRACT;
	ev.path = path_of(l, ev.model);
	if (l->o->event)
		l->o->event(l->o->user, &ev);
}

static void read_log(struct live *l)
{
	char drop[4096];
	while (l->notify >= 0 && read(l->notify, drop, sizeof(drop)) > 0)
		;
	for (;;) {
		ssize_t n = read(l->log, buf_room(&l->tail, 1 << 16), 1 << 16);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		buf_wrote(&l->tail, (size_t)n);
		size_t used = 0;
		for (char *nl; (nl = memchr(l->tail.p + used, '\n', l->tail.len - used)); used = (size_t)(nl - l->tail.p) + 1)
			take_event_line(l, slice_of(l->tail.p + used, (size_t)(nl - l->tail.p) - used));
		memmove(l->tail.p, l->tail.p + used, l->tail.len - used);
		buf_cut(&l->tail, l->tail.len - used);
		if (l->tail.len > 4 * LIVE_MAX_LINE) { /* no probe writes such lines */
			l->r->bad_lines++;
			buf_reset(&l->tail);
		}
	}
}

/* The final counters, as an event of each model, so that the log is complete. */
static void sum_up(struct live *l)
{
	uint32_t n = l->counters->used < LIVE_MODELS ? l->counters->used : LIVE_MODELS;
	for (uint32_t i = 0; i < n; i++) {
		const struct live_count *c = &l->counters->model[i];
		struct buf b = {0};
		struct json_out o = {.b = &b};
		const struct {
			const char *key;
			uint64_t v;
		} sums[] = {{"calls", c->calls},
			    {"mismatched", c->mismatched},
			    {"unchecked", c->unchecked},
			    {"failed", c->failed},
			    {"past", c->past}};
		json_obj(&o);
		json_member_str(&o, "ev", slice_str(live_kind_name(LIVE_CALLS_SUMMARY)));
		json_member_u64(&o, "pid", c->pid);
		json_member_u64(&o, "model", i);
		for (size_t k = 0; k < ARRAY_LEN(sums); k++)
			json_member_u64(&o, sums[k].key, sums[k].v);
		json_close(&o);
		take_event_line(l, buf_slice(&b));
		buf_release(&b);
		l->r->calls += c->calls;
		l->r->mismatched += c->mismatched;
		l->r->unchecked += c->unchecked;
		l->r->failed += c->failed;
		l->r->past += c->past;
	}
}

/* ---- questions ---- */

static int answer_for(struct live *l, struct client *c, struct buf *json, struct err *err)
{
	struct json_tape t = {0};
	struct buf tmp = {0}, real = {0};
	struct slice path;
	uint32_t root;
	struct stat st;
	int r = -1;
	json_tape_text(&t, c->question.p, c->question.len);
	if (!c->question.len || json_parse(&t, 0, c->question.len, &root) < 0 || !(path = json_text(&t, root, "path", &tmp)).p) {
		err_set(err, EXIT_INPUT, "not a valid question");
		goto out;
	}
	live_path_of(c->pid, path, &real);
	if (memchr(real.p, 0, real.len))
		err_set(err, EXIT_INPUT, "the path contains a zero byte");
	else if (stat(buf_str(&real), &st) < 0)
		err_errno(err, EXIT_INPUT, "cannot open '%s'", buf_str(&real));
	else if (st.st_dev != json_count(&t, root, "dev", 0) || st.st_ino != json_count(&t, root, "ino", 0))
		err_set(err, EXIT_INPUT, "'%s' is a different file here than in the process", buf_str(&real));
	else
		r = l->o->contract(l->o->user, buf_str(&real), c->pid, json, err);
out:
	json_tape_release(&t);
	buf_release(&tmp);
	buf_release(&real);
	return r;
}

static void end_client(struct client *c)
{
	close_fd(&c->fd);
	buf_release(&c->question);
	buf_release(&c->answer);
	c->sent = 0;
}

/* Sends as much of the answer as the socket accepts now. */
static void send_answer(struct live *l, struct client *c, size_t i)
{
	while (c->sent < c->answer.len) {
		ssize_t n = send(c->fd, c->answer.p + c->sent, c->answer.len - c->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			struct epoll_event e = {.events = EPOLLOUT, .data.u64 = i};
			epoll_ctl(l->epoll, EPOLL_CTL_MOD, c->fd, &e);
			return;
		}
		if (n < 0)
			break;
		c->sent += (size_t)n;
	}
	end_client(c);
}

static void serve_client(struct live *l, size_t i)
{
	struct client *c = &l->client[i];
	if (c->fd < 0)
		return;
	if (c->answer.len) {
		send_answer(l, c, i);
		return;
	}
	ssize_t n = recv(c->fd, buf_room(&c->question, 4096), 4096, MSG_DONTWAIT);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n > 0) {
		buf_wrote(&c->question, (size_t)n);
		if (c->question.len <= MAX_QUESTION)
			return;
	}
	if (n != 0) {
		end_client(c);
		return;
	}
	struct err err = {0};
	buf_addc(&c->answer, '+');
	if (answer_for(l, c, &c->answer, &err) < 0) {
		buf_reset(&c->answer);
		buf_addf(&c->answer, "-%s", err.text);
	}
	send_answer(l, c, i);
}

static void accept_client(struct live *l)
{
	for (size_t i = 0; i < MAX_CLIENTS; i++) {
		struct client *c = &l->client[i];
		if (c->fd >= 0)
			continue;
		struct ucred who;
		socklen_t n = sizeof(who);
		c->fd = accept4(l->listen, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (c->fd < 0)
			return;
		if (getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &who, &n) < 0 || watch_fd(l, c->fd, EPOLLIN, i) < 0)
			end_client(c);
		else
			c->pid = who.pid;
	}
}

static void serve(struct live *l)
{
	struct epoll_event ev[16];
	int n = epoll_wait(l->epoll, ev, ARRAY_LEN(ev), 0);
	for (int i = 0; i < n; i++) {
		if (ev[i].data.u64 == ID_LISTEN)
			accept_client(l);
		else if (ev[i].data.u64 < MAX_CLIENTS)
			serve_client(l, ev[i].data.u64);
	}
	read_log(l);
}

/* ---- the command ---- */

static int find_library(struct live *l, char path[PATH_MAX], struct err *err)
{
	return elsewhere ? elsewhere->probe(path, err) : part_probe(l->dir, path, err);
}

/* A sanitizer's runtime aborts a process in which it is not the first library. */
static bool wants_to_be_first(const char *preload)
{
	return strstr(preload, "libasan") || strstr(preload, "libtsan") || strstr(preload, "libclang_rt.");
}

static char *preload_variable(const char *probe, bool alloc)
{
	const char *old = getenv("LD_PRELOAD");
	FREED char *beside = part_alloc(probe), *library = xasprintf("%s%s%s", probe, alloc ? ":" : "", alloc ? beside : "");
	if (!old || !*old)
		return xasprintf("LD_PRELOAD=%s", library);
	return wants_to_be_first(old) ? xasprintf("LD_PRELOAD=%s:%s", old, library) : xasprintf("LD_PRELOAD=%s:%s", library, old);
}

/* In front of the existing path: only the first sitecustomize is run, and ours runs the next one. */
static char *python_path(const struct live *l)
{
	const char *old = getenv("PYTHONPATH");
	return xasprintf("PYTHONPATH=%s/" LIVE_FOLDER_JIT "%s%s", l->dir, old && *old ? ":" : "", old ? old : "");
}

static void move_result(struct child_result *to, const struct child_result *from)
{
	*to = *from;
	/* Its streams were inherited: nothing was collected. */
	to->out = to->err = (struct child_output){0};
}

static int wait_for_command(struct live *l, struct childset *set, struct child *c, const char *name, struct err *err)
{
	for (;;) {
		struct child_event ev;
		if (l->o->apart && child_signalled()) /* the signal was forwarded; a model's process that ignores it is ended anyway */
			child_stop(c);
		if (childset_wait(set, l->epoll, l->o->tick ? 50 : l->notify >= 0 ? -1 : 500, &ev) < 0)
			return err_errno(err, EXIT_ENVIRON, "cannot wait for '%s'", name);
		if (l->o->before)
			l->o->before(l->o->user, l->dir);
		serve(l);
		if (l->o->tick)
			l->o->tick(l->o->user, l->dir);
		if (ev.what == CHILD_ENDED) {
			move_result(&l->r->command, child_result(ev.child));
			return 0;
		}
	}
}

static int run_preloaded(struct live *l, char *const *command, struct err *err)
{
	char library[PATH_MAX];
	if (set_up(l, err) < 0 || find_library(l, library, err) < 0)
		return -1;
	char *dir = xasprintf("%s=%s", live_env_name(LIVE_ENV_DIR), l->dir),
	     *preload = preload_variable(library, l->o->calls && l->o->calls->want & CALLS_BOUNDS_ALLOC);
	char *fail = xasprintf("%s=%d", live_env_name(LIVE_ENV_FAIL), l->o->fail);
	char *no_check = xasprintf("%s=%d", live_env_name(LIVE_ENV_NO_CHECK), l->o->no_check);
	char *python = l->o->apart ? NULL : python_path(l); /* NULL ends the list */
	struct child_spec spec = {
	    .argv = (const char *const *)command,
	    .env_set = (const char *const[]){dir, preload, fail, no_check, python, NULL},
	    .same_group = !l->o->apart,
	    .allow_core = !l->o->apart,
	    .die_with_parent = l->o->apart,
	    .fds = &(const struct child_fd){.from = l->o->in_memory, .to = RUN_IN_MEMORY},
	    .n_fds = l->o->apart && l->o->in_memory >= 0,
	    .timeout_ms = (int)(l->o->timeout_s < INT_MAX / 1000 ? l->o->timeout_s * 1000 : INT_MAX),
	};
	struct childset set = {0};
	if (l->o->apart) { /* a model's process, which gets no signals of the user's */
		spec.in.how = CHILD_NULL;
		spec.out.how = CHILD_NULL;
	}
	const bool was = l->o->apart && confine_hide();
	struct child *c = child_start(&set, &spec, err);
	l->r->pid = c ? child_pid(c) : 0;
	/* Nothing that it wrote has been read; from here on what is read is not trusted. (A model's process was started for a tool that was
	 * sealed before.) */
	if (c && !l->o->apart)
		broker_seal(BROKER_SEES_PROCESSES);
	if (c && child_signalled()) /* it came before there was anybody to pass it on to */
		child_signal(c, child_signalled());
	int r = c ? wait_for_command(l, &set, c, command[0], err) : -1;
	childset_release(&set);
	confine_unhide(was);
	free(dir);
	free(preload);
	free(fail);
	free(no_check);
	free(python);
	return r;
}

int live_run(const struct live_options *o, char *const *command, struct live_result *r, struct err *err)
{
	struct live l = {.o = o, .r = r, .epoll = -1, .listen = -1, .notify = -1, .log = -1};
	*r = (struct live_result){0};
	for (int i = 0; i < MAX_CLIENTS; i++)
		l.client[i].fd = -1;
	if (!live_unseen(command[0], r->unseen, sizeof(r->unseen)))
		live_apart(command, r->unseen, sizeof(r->unseen));
	int rc = run_preloaded(&l, command, err);
	if (!rc) {
		read_log(&l);
		sum_up(&l);
	}
	take_down(&l, !rc && o->calls);
	return rc;
}

bool live_watched(const struct live_result *r, struct buf *why)
{
	struct buf drop = {0}, *b = why ? why : &drop;
	bool one = r->models == 1;
	if (!r->models && r->graphs && !r->calls)
		buf_adds(b, r->unnumbered ? ONLY_GRAPHS : "torch.compile graphs were seen but never run: nothing was checked");
	else if (!r->models && !r->graphs)
		buf_addf(b, "no compiled model was seen in this command%s%s", r->unseen[0] ? ": " : "", r->unseen);
	else if (r->past)
		buf_addf(b, "%llu Run%s called through a pointer obtained before the model was known: not checked",
			 (unsigned long long)r->past, r->past == 1 ? " was" : "s were");
	else if (!r->calls)
		buf_addf(b, "%u model%s seen but %s: nothing was checked", r->models, one ? " was" : "s were",
			 one ? "never called" : "none was called");
	buf_release(&drop);
	return (r->models || r->graphs) && r->calls && !r->past;
}

void live_models(const struct live_result *r, struct buf *b)
{
	if (r->models || !r->graphs)
		buf_addf(b, "%u model%s", r->models, plural(r->models));
	if (r->graphs)
		buf_addf(b, "%s%u torch.compile graph%s", r->models ? ", " : "", r->graphs, plural(r->graphs));
}

void live_result_release(struct live_result *r)
{
	child_result_release(&r->command);
	temp_folder_remove(r->folder);
	r->folder = NULL;
}
