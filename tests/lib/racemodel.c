/* racemodel.c - a fake model that writes into everything that it shares with the watching tool, while the tool reads it.
 *
 * Its initialiser finds the call log and its names where libpt2probe.so has mapped them. For RACE_MS milliseconds (default: 250) its threads
 * do what RACE names: they switch a value between one that passes a check and one that does harm, over and over:
 *
 *     slash   a byte of a name, which looks like a path, between '/' and NUL
 *     nul     the last NUL of a name, with no other after it
 *     dims    the number of dimensions and the sizes of a value, and how it was saved
 *     state   whether a record is complete, and its ticket
 *     grow    the number of records and of bytes of names
 *     head    the head of the log: how many records there are, where tensors are saved
 *     event   lines of the log of events, cut and joined
 *     file    the header of a tensor's file, made through the keeper (watch/keeper.h)
 *
 * RACE_VICTIM: a file of the user that must not change. tests/cli/aoti-race.t runs it under each tool.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "modelentry.h"
#include "watch/calls.h"
#include "watch/keeper.h"

extern int32_t aoti_torch_device_type_cpu(void);

static struct calls_log *calls;
static struct calls_names *names;
static volatile bool over;
static const char *victim;

static void *mapping(const char *suffix)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[4096], rights[8];
	void *found = NULL;
	while (f && !found && fgets(line, sizeof(line), f)) {
		unsigned long from, to;
		line[strcspn(line, "\n")] = 0;
		const size_t n = strlen(line), k = strlen(suffix);
		if (n > k && !strcmp(line + n - k, suffix) && sscanf(line, "%lx-%lx %7s", &from, &to, rights) == 3 && rights[1] == 'w')
			found = (void *)from;
	}
	if (f)
		fclose(f);
	return found;
}

static void a_moment(void)
{
	for (volatile int i = 0; i < 20; i++)
		;
}

/* ---- changed while the tool reads ---- */

struct toggle {
	volatile unsigned char *at;
	unsigned char a, b;
};

static void *toggle(void *user)
{
	const struct toggle *t = user;
	while (!over) {
		*t->at = t->a;
		a_moment();
		*t->at = t->b;
		a_moment();
	}
	return NULL;
}

static void start(void *(*f)(void *), void *user)
{
	pthread_t p;
	if (!pthread_create(&p, NULL, f, user))
		pthread_detach(p);
}

static void toggle_byte(volatile void *at, unsigned char a, unsigned char b)
{
	static struct toggle t[64];
	static size_t n;
	if (n == sizeof(t) / sizeof(*t))
		return;
	t[n] = (struct toggle){(volatile unsigned char *)at, a, b};
	start(toggle, &t[n++]);
}

static void *change_slots(void *user)
{
	const char *how = user;
	uint64_t k = 0;
	while (!over) {
		struct calls_slot *slot = &calls->slot[k % 64];
		struct calls_room *room = calls_room_of(calls, calls->config.records, calls->config.values, k % 64);
		k++;
		if (!strcmp(how, "state")) {
			const uint64_t was = atomic_load(&slot->state);
			atomic_store(&slot->state, k % 3 ? was + k : UINT64_MAX - k);
			slot->more = k % 5 ? k : UINT64_MAX;
			atomic_store(&slot->state, was);
		} else {
			room->v.n_dim = (uint8_t)(k % 7 ? 255 : 2);
			room->v.saved = (uint32_t)(k % 4 ? k : 1);
			room->v.role = (uint8_t)k;
			room->v.dtype = (int16_t)k;
			for (int d = 0; d < CALL_DIMS; d++)
				room->v.size[d] = k % 2 ? INT64_MAX : -1;
			slot->call = (uint32_t)k;
			slot->name = (uint32_t)(k % 2 ? k : UINT32_MAX);
		}
	}
	return NULL;
}

static void *change_counts(void *user)
{
	(void)user;
	for (uint64_t k = 1; !over; k++) {
		const uint64_t was = atomic_load(&calls->ticket);
		atomic_store(&calls->ticket, k % 2 ? UINT64_MAX - k : was + (k << 20));
		atomic_store(&names->used, (uint32_t)(k % 2 ? UINT32_MAX : 0));
		a_moment();
		atomic_store(&calls->ticket, was);
		usleep(1000);
	}
	return NULL;
}

static void *change_head(void *user)
{
	(void)user;
	const struct calls_config was = calls->config;
	for (unsigned k = 0; !over; k++) {
		calls->config.records = calls->config.values = k % 2 ? UINT64_MAX : 0;
		calls->config.tick = k % 3 ? 0 : UINT64_MAX;
		calls->config.n_filters = UINT32_MAX;
		snprintf(calls->config.save_dir, sizeof(calls->config.save_dir), "%.500s", victim);
		a_moment();
		calls->config = was;
	}
	return NULL;
}

/* The log of events: any open descriptor above 2 that accepts bytes. */
static void *write_events(void *user)
{
	static const char line[] =
	    "{\"ev\":\"model-seen\",\"model\":0,\"path\":\"../../x\",\"graph\":\"g\",\"table\":\"/etc/passwd\"}\n{\"ev\":";
	(void)user;
	for (unsigned k = 0; !over; k++) {
		for (int fd = 3; fd < 32; fd++)
			if (write(fd, line, 1 + k * 7 % (sizeof(line) - 1)) < 0)
				continue;
		usleep(500);
	}
	return NULL;
}

/* ---- a tensor's file ---- */

static int ask_keeper(int keeper, const char *name)
{
	struct keeper_ask q = {.what = KEEPER_MAKE};
	int answer = -1, fd = -1;
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = {&answer, sizeof(answer)};
	struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	snprintf(q.name, sizeof(q.name), "%s", name);
	if (write(keeper, &q, sizeof(q)) != sizeof(q) || recvmsg(keeper, &m, 0) < 0)
		return -1;
	const struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

static void *change_file(void *user)
{
	char name[CALLS_FILE_NAME];
	static const char good[] = "\x93NUMPY\x01\0v\0{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }";
	static const char bad[] = "\x93NUMPY\x01\0\xff\xff{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 9), }";
	int fd = -1;
	for (int keeper = 3; keeper < 32 && fd < 0; keeper++) {
		calls_file_name(user, "evil", "", name);
		fd = ask_keeper(keeper, name);
	}
	for (unsigned k = 0; fd >= 0 && !over; k++) {
		char text[512];
		memset(text, ' ', sizeof(text));
		memcpy(text, k % 2 ? bad : good, sizeof(good));
		text[127] = '\n';
		lseek(fd, 0, SEEK_SET);
		if (write(fd, text, k % 3 ? sizeof(text) : 20) < 0)
			break;
	}
	return NULL;
}

/* ---- */

static void record_calls(uint32_t kernel, uint32_t buffer)
{
	for (uint32_t c = 0; !over; c++) {
		struct call_record r = {
		    .what = CALL_BEGIN, .pid = (uint32_t)getpid(), .tid = 1, .name = kernel, .call = c, .contract_call = CALLS_NO_CALL};
		const uint64_t seq = calls_begin(calls, &r);
		for (unsigned i = 0; i < 200; i++) {
			struct call_record v = {.what = CALL_VALUE, .seq = seq, .pid = r.pid, .tid = 1, .name = buffer, .call = c};
			v.v.arg = (uint8_t)(i & 63);
			v.v.role = CALL_ROLE_OUT;
			v.v.n_dim = 2;
			v.v.size[0] = v.v.size[1] = 2;
			v.v.stride[0] = 2;
			v.v.stride[1] = 1;
			v.v.dtype = 6;
			v.v.saved = CALL_SAVED_NPY;
			calls_append(calls, &v);
		}
		struct call_record e = {.what = CALL_END, .seq = seq, .pid = r.pid, .tid = 1, .name = kernel, .call = c};
		calls_append(calls, &e);
		usleep(5000);
	}
}

static void *end(void *user)
{
	const char *ms = getenv("RACE_MS");
	(void)user;
	usleep(1000 * (ms ? (useconds_t)strtoul(ms, NULL, 10) : 250));
	over = true;
	return NULL;
}

__attribute__((constructor)) static void race(void)
{
	const char *how = getenv("RACE");
	char path[CALLS_MAX_NAME];
	victim = getenv("RACE_VICTIM");
	calls = mapping("/" CALLS_FILE);
	names = mapping("/" CALLS_FILE_NAMES);
	if (aoti_torch_device_type_cpu() || !how || !victim || !calls || !names) /* calling it marks this as a model */
		return;
	snprintf(path, sizeof(path), "..@%s", victim + 1);
	const uint32_t bad = calls_text(names, path, strlen(path)), evil = calls_text(names, "evil", 4);
	static struct call_record value = {.what = CALL_VALUE, .v.saved = CALL_SAVED_NPY, .v.role = CALL_ROLE_OUT};
	start(end, NULL);
	if (!strcmp(how, "slash"))
		toggle_byte((char *)names + bad + 2, '/', 0);
	else if (!strcmp(how, "nul"))
		memset((char *)names + bad, 'x', names->size - bad), toggle_byte((char *)names + bad + strlen(path), 'x', 0);
	else if (!strcmp(how, "grow"))
		start(change_counts, NULL);
	else if (!strcmp(how, "head"))
		start(change_head, NULL);
	else if (!strcmp(how, "event"))
		start(write_events, NULL);
	else if (!strcmp(how, "file"))
		start(change_file, &value);
	else
		start(change_slots, (void *)(uintptr_t)how);
	record_calls(!strcmp(how, "file") ? evil : bad, bad);
}

/* ---- what makes it a model ---- */

int32_t AOTInductorModelContainerGetNumInputs(void *c, size_t *n) { return (void)c, *n = 1, 0; }
int32_t AOTInductorGetLastError(const char **text) { return *text = "raced", 0; }
int32_t AOTInductorModelContainerRun(void *c, void **in, size_t n_in, void **out, size_t n_out, void *stream, void *proxy)
{
	(void)c, (void)in, (void)n_in, (void)out, (void)n_out, (void)stream, (void)proxy;
	return 1;
}
