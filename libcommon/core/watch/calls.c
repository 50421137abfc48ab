#include "base/io/write.h"
#include "watch/calls.h"

#include <fcntl.h>
#include <math.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

const char *const call_role_word[CALL_ROLES] = {"in", "out", "inout", "constant", "model-input", "model-output"};

/* ---- making ---- */

/* A new file of `size` bytes that are really there and begin with `head`. That is written, not mapped: what is touched first in a mapping
 * is read ahead, and megabytes of zeros may be filled in for it. */
static int make_file(const char *folder, const char *name, const void *head, size_t n_head, size_t size, struct err *err)
{
	char *path = xasprintf("%s/%s", folder, name);
	int r = 0, fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		r = err_errno(err, EXIT_ENVIRON, "'%s': cannot be made", path);
	else if ((errno = posix_fallocate(fd, 0, (off_t)size)))
		r = err_errno(err, EXIT_ENVIRON, "'%s': no room for %zu MB of what is watched (set TMPDIR to a larger disk)", path,
			      (size + (1 << 20) - 1) >> 20);
	else
		r = pwrite_all(fd, head, n_head, 0, path, err);
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && r < 0)
		unlink(path);
	free(path);
	return r;
}

static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Both clocks at one moment: the pair that took the shortest. */
static void both_clocks(uint64_t *tick, uint64_t *ns)
{
	uint64_t best = UINT64_MAX;
	for (int i = 0; i < 8; i++) {
		uint64_t before = calls_ticks(), t = now(), took = calls_ticks() - before;
		if (took >= best)
			continue;
		best = took;
		*tick = before + took / 2;
		*ns = t;
	}
}

int calls_create(const char *folder, const struct calls_config *config, struct err *err)
{
	struct calls_config c = *config;
	const bool many = c.want & (CALLS_STATS | CALLS_SAVE);
	memcpy(c.magic, CALLS_MAGIC, sizeof(c.magic));
	c.size = sizeof(struct calls_log);
	c.slot_size = sizeof(struct calls_slot);
	c.room_size = sizeof(struct calls_room);
	if (!c.records)
		c.records = many ? CALLS_VALUES : CALLS_RECORDS;
	c.values = c.want == CALLS_NAMES ? CALLS_LAUNCHES : many || c.records < CALLS_VALUES ? c.records : CALLS_VALUES;
	c.tick = c.tick_ns = 0;
	if (calls_ticking())
		both_clocks(&c.tick, &c.tick_ns);
	if (c.records > CALLS_MAX_RECORDS)
		return err_set(err, EXIT_USAGE, "a call log of %llu records: at most %u are possible", (unsigned long long)c.records,
			       CALLS_MAX_RECORDS);
	if (c.n_filters > CALLS_FILTERS)
		return err_set(err, EXIT_USAGE, "%u patterns of kernels: at most %d are possible", c.n_filters, CALLS_FILTERS);
	if (c.lo == 0 && c.hi == 0) {
		c.lo = -INFINITY;
		c.hi = INFINITY;
	}
	/* Names first: who finds a log finds its names, too. */
	struct calls_names n = {.size = CALLS_NAMES_BYTES};
	memcpy(n.magic, CALLS_NAMES_MAGIC, sizeof(n.magic));
	return make_file(folder, CALLS_FILE_NAMES, &n, offsetof(struct calls_names, used), CALLS_NAMES_BYTES, err) < 0
		   ? -1
		   : make_file(folder, CALLS_FILE, &c, sizeof(c), (size_t)calls_log_size(&c), err);
}

/* ---- reading ---- */

int calls_open_bytes(struct calls_reader *r, struct slice log, struct slice names, const char *what, struct err *err)
{
	*r = (struct calls_reader){.size = log.n, .names_size = names.n};
	struct calls_log *l = (struct calls_log *)(uintptr_t)log.p;
	const struct calls_names *n = (const struct calls_names *)(uintptr_t)names.p;
	if (!calls_log_fits(l, log.n))
		return err_set(err, EXIT_INPUT, "'%s': is no call log of this version, or not whole", what);
	if (names.n && !calls_names_fit(n, names.n))
		return err_set(err, EXIT_INPUT, "'%s': the names of its call log are not whole", what);
	r->log = l;
	r->config = &l->config;
	r->records = l->config.records;
	r->values = l->config.values;
	r->names = names.n ? n : NULL;
	return 0;
}

static struct slice map_file(const char *folder, const char *name, struct err *err)
{
	char *path = xasprintf("%s/%s", folder, name);
	struct slice s = {0};
	struct stat st;
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) < 0) {
		err_errno(err, EXIT_INPUT, "'%s': cannot be read", path);
	} else if (!S_ISREG(st.st_mode) || st.st_size <= 0) {
		err_set(err, EXIT_INPUT, "'%s': is no call log of this version, or not whole", path);
	} else {
		void *p = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (p == MAP_FAILED)
			err_errno(err, EXIT_INPUT, "'%s': cannot be mapped", path);
		else
			s = slice_of(p, (size_t)st.st_size);
	}
	if (fd >= 0)
		close(fd);
	free(path);
	return s;
}

static void unmap(struct slice s)
{
	if (s.p)
		munmap((void *)(uintptr_t)s.p, s.n);
}

int calls_open(struct calls_reader *r, const char *folder, struct err *err)
{
	*r = (struct calls_reader){0};
	struct slice log = map_file(folder, CALLS_FILE, err), names = {0};
	if (log.p)
		names = map_file(folder, CALLS_FILE_NAMES, err);
	if (!names.p || calls_open_bytes(r, log, names, folder, err) < 0) {
		unmap(log);
		unmap(names);
		*r = (struct calls_reader){0};
		return -1;
	}
	r->mapped = true;
	return 0;
}

void calls_close(struct calls_reader *r)
{
	if (r->mapped) {
		munmap(r->log, r->size);
		munmap((void *)(uintptr_t)r->names, r->names_size);
	}
	*r = (struct calls_reader){0};
}

/* A record that is claimed and not done: is it one that will never be? */
static bool given_up(struct calls_reader *r, uint64_t end)
{
	struct calls_slot *slot = calls_slot_of(r->log, r->records, r->at);
	if (r->final)
		return true;
	bool later = false;
	for (uint64_t t = r->at + 1; t < end && !later; t++)
		later = atomic_load_explicit(&calls_slot_of(r->log, r->records, t)->state, memory_order_relaxed) == 2 * t + 2;
	if (!later)
		return false;
	if (atomic_load_explicit(&slot->state, memory_order_relaxed) == 2 * r->at + 1 &&
	    calls_gone(__atomic_load_n(&slot->pid, __ATOMIC_RELAXED)))
		return true;
	uint64_t t = now();
	if (!r->waiting)
		r->waiting = t;
	return t - r->waiting >= CALLS_PATIENCE_MS * UINT64_C(1000000);
}

#define TICK_MIN_NS 2000000 /* between the two moments by which ticks are measured: one in 10^5 */

/* How long a tick is. A command that was over at once waits for it. */
static double tick_of(const struct calls_config *c)
{
	uint64_t tick = 0, ns = 0;
	both_clocks(&tick, &ns);
	if (c->tick_ns <= ns && ns - c->tick_ns < TICK_MIN_NS) {
		nanosleep(&(struct timespec){.tv_nsec = TICK_MIN_NS}, NULL);
		both_clocks(&tick, &ns);
	}
	return ns > c->tick_ns && tick > c->tick ? (double)(ns - c->tick_ns) / (double)(tick - c->tick) : 1;
}

static uint64_t clamped(double ns) { return ns >= 0x1p63 ? UINT64_C(1) << 63 : ns > 0 ? (uint64_t)ns : 0; }

static void to_nanoseconds(struct calls_reader *r, struct call_record *rec)
{
	const struct calls_config *c = r->config;
	if (!r->tick)
		r->tick = tick_of(c);
	double since = (double)(int64_t)(rec->time - c->tick) * r->tick;
	rec->time = since >= 0 ? c->tick_ns + clamped(since) : c->tick_ns - clamped(-since);
	if (rec->what < CALL_VALUE)
		rec->took = clamped((double)rec->took * r->tick);
}

/* Takes over a record; numbers that readers index by are held within their limits. */
static void unpack(struct calls_reader *r, const struct calls_slot *s, struct call_record *rec)
{
	uint32_t what = s->what & (CALLS_TICKS - 1);
	*rec = (struct call_record){
	    .what = what <= CALL_REPLAY ? what : CALL_NONE,
	    .model = ((s->what >> 8) - 1) & UINT32_MAX >> 8,
	    .seq = s->seq,
	    .time = s->time,
	    .run = s->run,
	    .call = s->call,
	    .contract_call = s->contract_call,
	    .pid = s->pid,
	    .tid = s->tid,
	    .name = s->name,
	    .result = s->result,
	};
	if (rec->model == NONE >> 8)
		rec->model = LIVE_NO_MODEL;
	if (what < CALL_VALUE)
		rec->took = s->more;
	if (s->what & CALLS_TICKS)
		to_nanoseconds(r, rec);
}

/* False when it was overwritten. */
static bool read_room(struct calls_reader *r, uint64_t ticket, struct call_record *rec)
{
	struct call_value *v = &rec->v;
	struct calls_room *room = calls_room_of(r->log, r->records, r->values, ticket);
	const uint64_t done = 2 * ticket + 2;
	if (atomic_load_explicit(&room->state, memory_order_acquire) != done)
		return false;
	memcpy(v, &room->v, sizeof(*v));
	atomic_thread_fence(memory_order_acquire);
	/* Whatever lies there is a truth value from here on. */
	uint8_t known;
	if (rec->what != CALL_VALUE)
		return atomic_load_explicit(&room->state, memory_order_relaxed) == done;
	memcpy(&known, &v->stats.known, sizeof(known));
	v->stats.known = known != 0;
	if (v->n_dim > CALL_DIMS)
		v->n_dim = CALL_DIMS;
	return atomic_load_explicit(&room->state, memory_order_relaxed) == done;
}

bool calls_next(struct calls_reader *r, struct call_record *rec)
{
	for (;;) {
		uint64_t end = atomic_load_explicit(&r->log->ticket, memory_order_acquire);
		struct calls_slot copy;
		if (r->at >= end)
			return false;
		if (end - r->at > r->records) {
			r->lost += end - r->records - r->at;
			r->at = end - r->records;
			r->waiting = 0;
		}
		struct calls_slot *slot = calls_slot_of(r->log, r->records, r->at);
		const uint64_t done = 2 * r->at + 2;
		uint64_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
		if (state == done) {
			memcpy((char *)&copy, (const char *)slot, sizeof(copy));
			atomic_thread_fence(memory_order_acquire);
			state = atomic_load_explicit(&slot->state, memory_order_relaxed);
		}
		if (state < done && !given_up(r, end))
			return false;
		r->torn += state < done;
		r->at++;
		r->waiting = 0;
		if (state == done) {
			unpack(r, &copy, rec);
			if (rec->what < CALL_VALUE || read_room(r, copy.more, rec))
				return true;
		}
		r->lost += state >= done;
	}
}

const char *calls_name(const struct calls_reader *r, uint32_t name)
{
	if (!r->names || name < sizeof(*r->names) || name >= r->names_size ||
	    !memchr((const char *)r->names + name, 0, r->names_size - name))
		return "";
	return (const char *)r->names + name;
}
