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
typedef int make_fn(const char *path, int flags, mode_t mode);
static int open_new(const char *path, int flags, mode_t mode) { return open(path, flags | O_CREAT | O_CLOEXEC, mode); }

static int make_file(make_fn *make, const char *folder, const char *name, const void *head, size_t n_head, size_t size, struct err *err)
{
	char *path = xasprintf("%s/%s", folder, name);
	int r = 0, fd = make(path, O_RDWR | O_EXCL, 0600);
	if (fd < 0)
		r = err_errno(err, EXIT_ENVIRON, "'%s': cannot be made", path);
	else if ((errno = posix_fallocate(fd, 0, (off_t)size)))
		r = err_errno(err, EXIT_ENVIRON, "'%s': no room for %zu MB of what is watched (set TMPDIR to a larger disk)", path,
			      (size + (1 << 20) - 1) >> 20);
	else
		r = pwrite_all(fd, head, n_head, 0, path, err);
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && r < 0 && make == open_new)
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

int calls_create(const char *folder, const struct calls_config *config, make_fn *make, struct err *err)
{
	struct calls_config c = *config;
	const bool many = c.want & (CALLS_STATS | CALLS_SAVE);
	memcpy(c.magic, CALLS_MAGIC, sizeof(c.magic));
	c.size = sizeof(struct calls_log);
	c.slot_size = sizeof(struct calls_slot);
	c.room_size = sizeof(struct calls_room);
	if (!c.records)
		c.records = many ? CALLS_VALUES : CALLS_RECORDS;
	c.values = (c.want & ~(uint32_t)CALLS_TIMES) == CALLS_NAMES ? CALLS_LAUNCHES
		   : many || c.records < CALLS_VALUES               ? c.records
								    : CALLS_VALUES;
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
	if (!make)
		make = open_new;
	return make_file(make, folder, CALLS_FILE_NAMES, &n, offsetof(struct calls_names, used), CALLS_NAMES_BYTES, err) < 0
		   ? -1
		   : make_file(make, folder, CALLS_FILE, &c, sizeof(c), (size_t)calls_log_size(&c), err);
}

/* ---- files of tensors ---- */

const char *const call_saved_ending[CALL_SAVEDS] = {"", ".npy", ".safetensors", ".arena"};

/* Letters, digits, '_' and '-' as they are; all else is '_'. */
static size_t add_word(char *name, size_t n, const char *word, size_t max)
{
	for (; *word && max-- && n + 1 < CALLS_FILE_NAME; word++)
		name[n++] = strchr("_-", *word) || (*word >= '0' && *word <= '9') || (*word >= 'a' && *word <= 'z') ||
				    (*word >= 'A' && *word <= 'Z')
				? *word
				: '_';
	name[n] = 0;
	return n;
}

void calls_file_name(const struct call_record *v, const char *call, const char *buffer, char name[CALLS_FILE_NAME])
{
	char run[32], place[24];
	name[0] = 0;
	if (v->what != CALL_VALUE || v->v.saved == CALL_UNSAVED || v->v.saved >= CALL_SAVEDS)
		return;
	if (v->v.saved == CALL_SAVED_ARENA) {
		snprintf(name, CALLS_FILE_NAME, "p%u%s", v->pid, call_saved_ending[CALL_SAVED_ARENA]);
		return;
	}
	const bool of_run = v->v.role == CALL_ROLE_MODEL_INPUT || v->v.role == CALL_ROLE_MODEL_OUTPUT;
	/* A model that has no number of its own, or a call outside of any Run, is identified by process and call. */
	if (v->run == CALLS_NO_RUN)
		snprintf(run, sizeof(run), "s%llu", (unsigned long long)v->seq);
	else
		snprintf(run, sizeof(run), "r%06u", v->run);
	snprintf(place, sizeof(place), of_run ? "run" : "c%04u", v->call);
	size_t n = (size_t)snprintf(name, CALLS_FILE_NAME, "%c%u.%s.%s.%s.", v->model == LIVE_NO_MODEL ? 'p' : 'm',
				    v->model == LIVE_NO_MODEL ? v->pid : v->model, run, place, v->v.before ? "before" : "after");
	n = add_word(name, n, v->v.role == CALL_ROLE_MODEL_INPUT ? "input" : of_run ? "output" : call, 100);
	n += (size_t)snprintf(name + n, CALLS_FILE_NAME - n, ".a%u.", v->v.arg);
	n = add_word(name, n, *buffer ? buffer : "tensor", 60);
	snprintf(name + n, CALLS_FILE_NAME - n, "%s", call_saved_ending[v->v.saved]);
}

bool calls_is_file_name(const char *name)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.";
	const size_t n = strlen(name);
	return (*name == 'm' || *name == 'p') && name[1] >= '0' && name[1] <= '9' && n < CALLS_FILE_NAME && strspn(name, letters) == n;
}

/* ---- reading ---- */

int calls_open_bytes(struct calls_reader *r, struct slice log, struct slice names, const char *what, struct err *err)
{
	*r = (struct calls_reader){.log = shared_of(log.p, log.n), .names = shared_of(names.p, names.n), .upto = UINT64_MAX};
	struct {
		char magic[8];
		uint32_t size;
	} n;
	if (!shared_copy(r->log, 0, &r->config, sizeof(r->config)) || !calls_config_fits(&r->config, log.n))
		return err_set(err, EXIT_INPUT, "'%s': not a call log of this version, or cut short", what);
	if (names.n && (!shared_copy(r->names, 0, &n, sizeof(n)) || memcmp(n.magic, CALLS_NAMES_MAGIC, sizeof(n.magic)) != 0 ||
			n.size != names.n || names.n <= sizeof(struct calls_names)))
		return err_set(err, EXIT_INPUT, "'%s': the names of its call log are cut short", what);
	return 0;
}

static struct slice map_file(const char *folder, const char *name, struct err *err)
{
	char *path = xasprintf("%s/%s", folder, name);
	struct slice s = {0};
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW);
	if (fd < 0 || fstat(fd, &st) < 0) {
		err_errno(err, EXIT_INPUT, "cannot read '%s'", path);
	} else if (!S_ISREG(st.st_mode) || st.st_size <= 0) {
		err_set(err, EXIT_INPUT, "'%s': not a call log of this version, or cut short", path);
	} else {
		void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
		if (p == MAP_FAILED)
			err_errno(err, EXIT_INPUT, "cannot map '%s'", path);
		else
			s = slice_of(p, (size_t)st.st_size);
	}
	if (fd >= 0)
		close(fd);
	free(path);
	return s;
}

static void unmap(struct shared s)
{
	if (!shared_is_none(s))
		munmap((void *)(uintptr_t)s.private_, s.n);
}

int calls_open(struct calls_reader *r, const char *folder, struct err *err)
{
	*r = (struct calls_reader){0};
	struct slice log = map_file(folder, CALLS_FILE, err), names = {0};
	if (log.p)
		names = map_file(folder, CALLS_FILE_NAMES, err);
	if (!names.p || calls_open_bytes(r, log, names, folder, err) < 0) {
		unmap(shared_of(log.p, log.n));
		unmap(shared_of(names.p, names.n));
		*r = (struct calls_reader){0};
		return -1;
	}
	r->mapped = true;
	return 0;
}

void calls_close(struct calls_reader *r)
{
	if (r->mapped) {
		unmap(r->log);
		unmap(r->names);
	}
	free(r->text);
	arena_release(&r->texts);
	*r = (struct calls_reader){0};
}

static size_t slot_at(const struct calls_reader *r, uint64_t ticket)
{
	return sizeof(struct calls_log) + calls_place(ticket, r->config.records) * sizeof(struct calls_slot);
}
static size_t room_at(const struct calls_reader *r, uint64_t ticket)
{
	return sizeof(struct calls_log) + r->config.records * sizeof(struct calls_slot) +
	       calls_place(ticket, r->config.values) * sizeof(struct calls_room);
}
static uint64_t state_of(const struct calls_reader *r, uint64_t ticket)
{
	return shared_u64(r->log, slot_at(r, ticket) + offsetof(struct calls_slot, state));
}

/* A record that is claimed and not done: is it one that will never be? */
static bool given_up(struct calls_reader *r, uint64_t end)
{
	if (r->final)
		return true;
	bool later = false;
	for (uint64_t t = r->at + 1; t < end && !later; t++)
		later = state_of(r, t) == 2 * t + 2;
	if (!later)
		return false;
	if (state_of(r, r->at) == 2 * r->at + 1 && calls_gone(shared_u32(r->log, slot_at(r, r->at) + offsetof(struct calls_slot, pid))))
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
	const struct calls_config *c = &r->config;
	if (!r->tick)
		r->tick = tick_of(c);
	double since = (double)(int64_t)(rec->time - c->tick) * r->tick;
	rec->time = since >= 0 ? c->tick_ns + clamped(since) : c->tick_ns - clamped(-since);
	/* A scanned call has the numbers of a graph and its replay there. */
	if (rec->what < CALL_VALUE && !(rec->what == CALL_BEGIN && rec->result == CALLS_SCANNED))
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
	const size_t at = room_at(r, ticket), state = at + offsetof(struct calls_room, state);
	const uint64_t done = 2 * ticket + 2;
	if (shared_u64(r->log, state) != done || !shared_copy(r->log, at + offsetof(struct calls_room, v), v, sizeof(*v)))
		return false;
	atomic_thread_fence(memory_order_acquire);
	if (shared_u64(r->log, state) != done)
		return false;
	if (rec->what != CALL_VALUE)
		return true;
	/* Whatever lies there is a truth value from here on. */
	uint8_t known;
	memcpy(&known, &v->stats.known, sizeof(known));
	v->stats.known = known != 0;
	if (v->n_dim > CALL_DIMS)
		v->n_dim = CALL_DIMS;
	return true;
}

bool calls_next(struct calls_reader *r, struct call_record *rec)
{
	for (;;) {
		uint64_t end = calls_begun(r);
		struct calls_slot copy;
		if (r->at >= end || r->at >= r->upto)
			return false;
		if (end - r->at > r->config.records) {
			r->lost += end - r->config.records - r->at;
			r->at = end - r->config.records;
			r->waiting = 0;
		}
		const uint64_t done = 2 * r->at + 2;
		uint64_t state = state_of(r, r->at);
		if (state == done) {
			shared_copy(r->log, slot_at(r, r->at), &copy, sizeof(copy));
			atomic_thread_fence(memory_order_acquire);
			state = state_of(r, r->at);
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

/* ---- names ---- */

static struct calls_text *text_place(struct calls_text *text, size_t cap, uint32_t id)
{
	size_t i = (id * UINT32_C(2654435761)) % cap;
	while (text[i].id && text[i].id != id)
		i = (i + 1) % cap;
	return &text[i];
}

static void more_texts(struct calls_reader *r)
{
	const size_t cap = r->cap_text ? 2 * r->cap_text : 64;
	struct calls_text *text = xcalloc(cap, sizeof(*text));
	for (size_t i = 0; i < r->cap_text; i++)
		if (r->text[i].id)
			*text_place(text, cap, r->text[i].id) = r->text[i];
	free(r->text);
	r->text = text;
	r->cap_text = cap;
}

/* The first copy of a name is what it is from then on. */
const char *calls_name(struct calls_reader *r, uint32_t name)
{
	char copy[CALLS_MAX_NAME + 1];
	if (name < sizeof(struct calls_names))
		return "";
	if (2 * r->n_text >= r->cap_text)
		more_texts(r);
	struct calls_text *t = text_place(r->text, r->cap_text, name);
	if (t->id)
		return t->text;
	const ptrdiff_t n = shared_text(r->names, name, copy, sizeof(copy));
	/* Texts are contiguous: more of them than there is room are ids that nobody was given. */
	if (n <= 0 || (uint64_t)n + 1 > r->names.n - r->text_bytes)
		return "";
	r->text_bytes += (uint64_t)n + 1;
	r->n_text++;
	*t = (struct calls_text){name, arena_strndup(&r->texts, copy, (size_t)n)};
	return t->text;
}
