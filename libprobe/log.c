/* log.c - the call log in this process. */
#include "ops.h"
#include "watch/given.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <math.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define FETCH_MOST (32u << 20)

struct calls_log *ops_the_log;
struct given_file *ops_given;
bool ops_ticks;
static struct calls_names *the_names;

static void *map_whole(const char *name, size_t *size)
{
	char path[256];
	if (!talk_path(path, sizeof(path), name))
		return NULL;
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return NULL;
	off_t n = lseek(fd, 0, SEEK_END);
	void *p = n > 0 ? mmap(NULL, (size_t)n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
	close(fd);
	*size = (size_t)n;
	return p == MAP_FAILED ? NULL : p;
}

#ifndef MADV_POPULATE_WRITE /* headers of glibc 2.34 */
#define MADV_POPULATE_WRITE 23
#endif

/* The first touch of a page costs a microsecond or more, in the middle of a model: better all at once now (about 0.2 us each). Linux before
 * 5.14 does not support this, and pages are faulted in later. If tensors are saved, a file each costs a hundred times more than its page,
 * and few pages are used: touching all of them, or the disk's read-ahead (8 MB), would dominate a small model's time. */
static void fetch_ahead(struct calls_log *l)
{
	const struct calls_config *c = &l->config;
	uint64_t size = sizeof(*l) + c->records * sizeof(struct calls_slot);
	if (c->want & (CALLS_STATS | CALLS_SAVE))
		size = calls_log_size(c);
	if (c->want & CALLS_SAVE)
		madvise(l, size, MADV_RANDOM);
	else
		madvise(l, size < FETCH_MOST ? size : FETCH_MOST, MADV_POPULATE_WRITE);
}

struct calls_log *ops_log_open(void)
{
	static bool tried;
	size_t size, names_size;
	if (tried)
		return ops_the_log;
	tried = true;
	struct calls_log *l = map_whole(CALLS_FILE, &size);
	if (!l)
		return NULL;
	struct calls_names *n = map_whole(CALLS_FILE_NAMES, &names_size);
	if (!calls_log_fits(l, size) || !n || !calls_names_fit(n, names_size)) {
		munmap(l, size);
		if (n)
			munmap(n, names_size);
		event_aside(LIVE_NO_MODEL, "the call log has another version; kernels and ops are not watched");
		return NULL;
	}
	the_names = n;
	if (l->config.want & CALLS_GIVE) {
		void *given = map_whole(GIVEN_FILE, &size);
		ops_given = given && given_fits(given, size) ? given : NULL;
	}
	fetch_ahead(l);
	int mode = 0;
	ops_ticks = l->config.tick && !prctl(PR_GET_TSC, &mode) && mode == PR_TSC_ENABLE;
	return ops_the_log = l;
}

uint32_t ops_name(struct slice text) { return calls_intern(the_names, text.p, text.n); }

const char *ops_text(uint32_t name) { return (const char *)the_names + name; }

bool ops_filtered(struct slice name)
{
	const struct calls_config *c = ops_config();
	char text[512];
	snprintf(text, sizeof(text), "%.*s", SLN(name, sizeof(text) - 1));
	bool passes = !c->n_filters;
	for (uint32_t i = 0; i < c->n_filters && !passes; i++)
		passes = memchr(c->filter[i], 0, sizeof(c->filter[i])) && !fnmatch(c->filter[i], text, 0);
	return passes;
}

void ops_append(const struct ops_thread *t, const struct ops_run *run, struct call_record *rec)
{
	ops_fill_record(t, run, rec);
	calls_append(ops_log(), rec);
}
