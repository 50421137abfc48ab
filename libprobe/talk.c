/* talk.c - communication with the tool: events, counters, contracts. Nothing is kept open, except in a process of our own. */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* clang-format off */
#define NAME(id, name) [LIVE_##id] = name,
static const char *const kind_name[] = { LIVE_EVENTS(NAME) };
#undef NAME
/* clang-format on */

static enum { UNKNOWN, OFF, ON } state;
static char folder[sizeof(((struct sockaddr_un *)0)->sun_path)];
static bool fail_calls, no_check;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct live_counters *counters;
static int events = -1; /* stays open after talk_keep() */

static bool in_folder(char *path, size_t room, const char *name)
{
	int n = snprintf(path, room, "%s/%s", folder, name);
	return n > 0 && (size_t)n < room;
}

/* Not in a constructor: the initialisers of a program's own model may run before ours. */
static void read_environment(void)
{
	const char *dir = getenv(live_env_name(LIVE_ENV_DIR)), *fail = getenv(live_env_name(LIVE_ENV_FAIL));
	const char *unchecked = getenv(live_env_name(LIVE_ENV_NO_CHECK));
	size_t n = dir ? strlen(dir) : 0;
	if (n && n < sizeof(folder) - sizeof("/" LIVE_FILE_COUNTERS)) {
		memcpy(folder, dir, n + 1);
		fail_calls = fail && *fail == '1';
		no_check = unchecked && *unchecked == '1';
	}
	__atomic_store_n(&state, *folder ? ON : OFF, __ATOMIC_RELEASE);
}

bool talk_on(void)
{
	if (UNLIKELY(__atomic_load_n(&state, __ATOMIC_ACQUIRE) == UNKNOWN))
		pthread_once(&once, read_environment);
	return state == ON;
}

bool talk_fail(void) { return fail_calls; }
bool talk_check(void) { return !no_check; }
bool talk_path(char *path, size_t room, const char *name) { return in_folder(path, room, name); }

/* Called by one thread at a time. The mapping stays forever; a forked child counts in the same place. */
static bool map_counters(void)
{
	char path[sizeof(folder) + 16];
	if (counters)
		return true;
	if (!in_folder(path, sizeof(path), LIVE_FILE_COUNTERS))
		return false;
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return false;
	struct live_counters *c = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	off_t size = lseek(fd, 0, SEEK_END);
	close(fd);
	if (c == MAP_FAILED)
		return false;
	if (size != (off_t)sizeof(*c) || memcmp(c->magic, LIVE_MAGIC, sizeof(c->magic))) {
		munmap(c, sizeof(*c));
		return false;
	}
	counters = c;
	return true;
}

struct live_count *talk_slot(uint32_t *id)
{
	*id = LIVE_NO_MODEL;
	if (!map_counters())
		return NULL;
	uint32_t k = atomic_fetch_add(&counters->used, 1);
	if (k >= LIVE_MODELS)
		return NULL;
	*id = k;
	counters->model[k].pid = (uint32_t)getpid();
	return &counters->model[k];
}

/* Events. */

/* Set by torchrun, and by others the same way (torch.distributed, init_method="env://"). */
static void add_rank(struct json_out *o)
{
	const char *text = getenv("RANK");
	const struct slice rank = slice_str(text ? text : "");
	uint64_t n;
	if (slice_u64(rank, &n) && n < UINT32_MAX)
		json_member_u64(o, "rank", n);
}

void event_begin(struct json_out *o, struct buf *b, enum live_kind kind, uint32_t model)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	buf_reset(b);
	*o = (struct json_out){.b = b};
	json_obj(o);
	json_member_str(o, "ev", slice_str(kind_name[kind]));
	json_member_double(o, "t", (double)now.tv_sec + (double)now.tv_nsec * 1e-9, 6);
	json_member_i64(o, "pid", getpid());
	json_member_i64(o, "tid", syscall(SYS_gettid));
	add_rank(o);
	if (model != LIVE_NO_MODEL)
		json_member_u64(o, "model", model);
}

/* A process may have a file size limit (ulimit -f), at which a write kills it unless the signal is blocked. */
int talk_write_at(int fd, const void *p, size_t n, int64_t at)
{
	sigset_t limit, old, pending;
	sigemptyset(&limit);
	sigaddset(&limit, SIGXFSZ);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &limit, &old);
	ssize_t r = 0;
	while (n && ((r = at < 0 ? write(fd, p, n) : pwrite(fd, p, n, at)) > 0 || (r < 0 && errno == EINTR))) {
		p = (const char *)p + (r > 0 ? r : 0);
		n -= r > 0 ? (size_t)r : 0;
		at += r > 0 && at >= 0 ? r : 0;
	}
	int why = errno;
	if (r < 0 && why == EFBIG && !sigismember(&pending, SIGXFSZ))
		sigtimedwait(&limit, NULL, &(struct timespec){0});
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = why;
	return n ? -1 : 0;
}

int talk_write(int fd, const void *p, size_t n) { return talk_write_at(fd, p, n, -1); }

void event_end(struct json_out *o, struct buf *b)
{
	char path[sizeof(folder) + 16];
	json_close(o);
	buf_addc(b, '\n');
	if (b->len <= LIVE_MAX_LINE && in_folder(path, sizeof(path), LIVE_FILE_EVENTS)) {
		int fd = events >= 0 ? events : open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
		if (fd >= 0)
			talk_write(fd, b->p, b->len);
		if (fd >= 0 && events < 0)
			close(fd);
	}
	buf_release(b);
}

int talk_keep(void)
{
	char path[sizeof(folder) + 16];
	if (!talk_on() || !in_folder(path, sizeof(path), LIVE_FILE_EVENTS))
		return -1;
	events = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
	return events >= 0 && map_counters() ? events : -1;
}

void event_aside(uint32_t model, const char *text)
{
	struct buf b = {0};
	struct json_out o;
	event_begin(&o, &b, LIVE_STEPPED_ASIDE, model);
	json_member_str(&o, "text", slice_str(text));
	event_end(&o, &b);
}

/* Contracts. */

static int64_t now_ms(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static bool wait_for(int fd, short what, int64_t end)
{
	for (;;) {
		int64_t left = end - now_ms();
		struct pollfd p = {.fd = fd, .events = what};
		int r = left > 0 ? poll(&p, 1, (int)left) : 0;
		if (r > 0)
			return true;
		if (!r)
			errno = ETIMEDOUT;
		if (!r || errno != EINTR)
			return false;
	}
}

static int send_all(int fd, const char *p, size_t n, int64_t end)
{
	while (n) {
		ssize_t k = send(fd, p, n, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0 && (errno != EAGAIN || !wait_for(fd, POLLOUT, end)))
			return -1;
		if (k > 0) {
			p += k;
			n -= (size_t)k;
		}
	}
	return shutdown(fd, SHUT_WR);
}

static int receive_all(int fd, struct buf *b, int64_t end)
{
	for (;;) {
		if (b->len > LIVE_MAX_CONTRACT) {
			errno = EMSGSIZE;
			return -1;
		}
		if (!wait_for(fd, POLLIN, end))
			return -1;
		ssize_t n = recv(fd, buf_room(b, 1 << 16), 1 << 16, MSG_DONTWAIT);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return -1;
		if (n == 0)
			return 0;
		if (n > 0)
			buf_wrote(b, (size_t)n);
	}
}

static int ask_contract(int fd, const char *path, uint64_t dev, uint64_t ino, struct buf *answer)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int64_t end = now_ms() + LIVE_ASK_MS;
	if (!in_folder(at.sun_path, sizeof(at.sun_path), LIVE_FILE_SOCKET)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	/* The backlog of a busy tool is full: connect does not wait. */
	while (connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0) {
		if (errno == EAGAIN && now_ms() < end)
			poll(NULL, 0, 10);
		else if (errno != EINTR)
			return -1;
	}
	struct buf q = {0};
	struct json_out o = {.b = &q};
	json_obj(&o);
	json_member_str(&o, "path", slice_str(path));
	json_member_u64(&o, "dev", dev);
	json_member_u64(&o, "ino", ino);
	json_close(&o);
	int r = send_all(fd, q.p, q.len, end);
	buf_release(&q);
	return r < 0 ? -1 : receive_all(fd, answer, end);
}

/* The answer prepared in the folder; false: there is none. */
static bool read_answer(uint64_t dev, uint64_t ino, struct buf *json)
{
	char name[64], path[sizeof(folder) + sizeof(name)];
	snprintf(name, sizeof(name), LIVE_FILE_CONTRACT, (unsigned long long)dev, (unsigned long long)ino);
	int fd = in_folder(path, sizeof(path), name) ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
	if (fd < 0)
		return false;
	ssize_t n;
	while (json->len <= LIVE_MAX_CONTRACT && (n = read(fd, buf_room(json, 1 << 16), 1 << 16)) != 0)
		if (n > 0)
			buf_wrote(json, (size_t)n);
		else if (errno != EINTR)
			break;
	close(fd);
	return true;
}

static int ask_tool(const char *path, uint64_t dev, uint64_t ino, struct buf *json, struct err *err)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_errno(err, EXIT_ENVIRON, "cannot request the model's contract");
	int r = ask_contract(fd, path, dev, ino, json);
	int why = errno;
	close(fd);
	errno = why;
	if (r < 0)
		return err_errno(err, EXIT_ENVIRON, "no answer to the request for the model's contract");
	return 0;
}

int talk_contract(const char *path, uint64_t dev, uint64_t ino, struct buf *json, struct err *err)
{
	if (!read_answer(dev, ino, json) && ask_tool(path, dev, ino, json, err) < 0)
		return -1;
	if (json->len && json->p[0] == '-')
		return err_set(err, EXIT_INPUT, "%.*s", SLN(slice_of(json->p + 1, json->len - 1), 999));
	if (!json->len || json->p[0] != '+')
		return err_set(err, EXIT_ENVIRON, "the tool sent no contract");
	return 0;
}
