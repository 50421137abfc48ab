/* calllog.h - the writer's side of a call log: tests both write and read it.
 *
 *     struct calllog l = calllog_map(folder);           // after calls_create()
 *     calls_append(l.log, &record);
 *     calllog_unmap(&l);
 */
#ifndef PT2_TESTS_CALLLOG_H
#define PT2_TESTS_CALLLOG_H
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "watch/calls.h"

struct calllog {
	struct calls_log *log;
	struct calls_names *names;
	size_t log_size, names_size;
};

static inline void *calllog_file(const char *folder, const char *name, size_t *size)
{
	char *path = xasprintf("%s/%s", folder, name);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	*size = (size_t)lseek(fd, 0, SEEK_END);
	void *p = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(p != MAP_FAILED);
	close(fd);
	free(path);
	return p;
}

static inline struct calllog calllog_map(const char *folder)
{
	struct calllog l;
	l.log = calllog_file(folder, CALLS_FILE, &l.log_size);
	l.names = calllog_file(folder, CALLS_FILE_NAMES, &l.names_size);
	return l;
}

static inline void calllog_unmap(struct calllog *l)
{
	munmap(l->log, l->log_size);
	munmap(l->names, l->names_size);
	*l = (struct calllog){0};
}

#endif
