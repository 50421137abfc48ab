#include "live/calls.h"

#include <fcntl.h>
#include <math.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- making ---- */

/* A new file of `size` bytes that are really there, mapped. */
static void *make_file(const char *folder, const char *name, size_t size, struct err *err)
{
	char *path = xasprintf("%s/%s", folder, name);
	void *p = MAP_FAILED;
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0) {
		err_errno(err, EXIT_ENVIRON, "'%s': cannot be made", path);
	} else if ((errno = posix_fallocate(fd, 0, (off_t)size))) {
		err_errno(err, EXIT_ENVIRON, "'%s': no room for %zu MB of what is watched (set TMPDIR to a larger disk)", path,
			  (size + (1 << 20) - 1) >> 20);
	} else {
		p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (p == MAP_FAILED)
			err_errno(err, EXIT_ENVIRON, "'%s': cannot be mapped", path);
	}
	if (fd >= 0) {
		close(fd);
		if (p == MAP_FAILED)
			unlink(path);
	}
	free(path);
	return p == MAP_FAILED ? NULL : p;
}

int calls_create(const char *folder, const struct calls_config *config, struct err *err)
{
	struct calls_config c = *config;
	memcpy(c.magic, CALLS_MAGIC, sizeof(c.magic));
	c.size = sizeof(struct calls_log);
	c.record_size = sizeof(struct call_record);
	if (!c.records)
		c.records = CALLS_RECORDS;
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
	struct calls_names *n = make_file(folder, CALLS_FILE_NAMES, CALLS_NAMES_BYTES, err);
	if (!n)
		return -1;
	n->size = CALLS_NAMES_BYTES;
	memcpy(n->magic, CALLS_NAMES_MAGIC, sizeof(n->magic));
	munmap(n, CALLS_NAMES_BYTES);
	size_t size = sizeof(struct calls_log) + (size_t)c.records * sizeof(struct call_record);
	struct calls_log *l = make_file(folder, CALLS_FILE, size, err);
	if (!l)
		return -1;
	l->config = c;
	munmap(l, size);
	return 0;
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

static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A record that is claimed and not done: is it one that will never be? */
static bool given_up(struct calls_reader *r, uint64_t end)
{
	struct call_record *slot = &r->log->record[r->at % r->records];
	if (r->final)
		return true;
	bool later = false;
	for (uint64_t t = r->at + 1; t < end && !later; t++)
		later = atomic_load_explicit(&r->log->record[t % r->records].state, memory_order_relaxed) == 2 * t + 2;
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

/* What readers index by, within its limits; nothing of an older record behind a short one. */
static void settle(struct call_record *rec)
{
	if (rec->what > CALL_VALUE)
		rec->what = CALL_NONE;
	if (rec->what != CALL_VALUE) {
		const size_t end = offsetof(struct call_record, took) + sizeof(rec->took);
		memset((char *)rec + end, 0, sizeof(*rec) - end);
	} else if (rec->v.n_dim > CALL_DIMS) {
		rec->v.n_dim = CALL_DIMS;
	}
}

bool calls_next(struct calls_reader *r, struct call_record *rec)
{
	for (;;) {
		uint64_t end = atomic_load_explicit(&r->log->ticket, memory_order_acquire);
		if (r->at >= end)
			return false;
		if (end - r->at > r->records) {
			r->lost += end - r->records - r->at;
			r->at = end - r->records;
			r->waiting = 0;
		}
		struct call_record *slot = &r->log->record[r->at % r->records];
		const uint64_t done = 2 * r->at + 2;
		uint64_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
		if (state == done) {
			memcpy((char *)rec, (const char *)slot, sizeof(*rec));
			atomic_thread_fence(memory_order_acquire);
			state = atomic_load_explicit(&slot->state, memory_order_relaxed);
		}
		if (state < done && !given_up(r, end))
			return false;
		r->lost += state > done;
		r->torn += state < done;
		r->at++;
		r->waiting = 0;
		if (state == done) {
			settle(rec);
			return true;
		}
	}
}

const char *calls_name(const struct calls_reader *r, uint32_t name)
{
	if (!r->names || name < sizeof(*r->names) || name >= r->names_size ||
	    !memchr((const char *)r->names + name, 0, r->names_size - name))
		return "";
	return (const char *)r->names + name;
}
