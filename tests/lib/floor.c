/* floor.c - the least that a reader of structured traces must do, for scripts/bench-floor:
 *
 *     floor LOG OUTPUT THREADS
 *
 * It reads LOG, takes the MD5 of each payload, and writes what a tool had made of it again: OUTPUT is that file or folder, and OUTPUT.floor gets files of
 * the same names and sizes, whatever bytes are in them. Each thread has a part of the log and its share of the files. It prints the
 * seconds that passed, those of the processor, and how many payloads there were: "0.150 0.148 142316". Records are not looked into, so no reader
 * can be faster that does not leave payloads out.
 */
#include "base/md5many.h"
#include <err.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 2 << 20, THREADS_MAX = 64 };

static const char *log_path, *output;
static off_t log_size;
static unsigned threads;
static atomic_size_t payloads;

/* ---- read and hash ---- */

struct part {
	int fd;
	off_t at, end; /* records that begin before end are this part's */
	char *data;
	size_t n, cap;
	struct md5_job *job;
	size_t n_job, cap_job;
	uint8_t (*digest)[16];
};

static void add_job(struct part *p, const char *payload, size_t n)
{
	if (p->n_job == p->cap_job) {
		p->cap_job = p->cap_job ? 2 * p->cap_job : 1024;
		p->job = realloc(p->job, p->cap_job * sizeof *p->job);
		p->digest = realloc(p->digest, p->cap_job * sizeof *p->digest);
		if (!p->job || !p->digest)
			err(1, "jobs");
	}
	p->job[p->n_job++] = (struct md5_job){payload, n, NULL, NULL};
}

/* A payload's lines, tabs removed, put together in place; where they end. */
static char *take_payload(struct part *p, char *s, char *end)
{
	char *to = s, *payload = s;
	while (s < end && *s == '\t') {
		char *next = memchr(s, '\n', end - s);
		next = next ? next + 1 : end;
		memmove(to, s + 1, next - s - 1);
		to += next - s - 1;
		s = next;
	}
	if (to > payload)
		add_job(p, payload, to - payload - (to[-1] == '\n'));
	return s;
}

/* The records in the first n bytes, which are whole. */
static void hash_block(struct part *p, size_t n)
{
	p->n_job = 0;
	for (char *s = p->data, *end = p->data + n; s < end;) {
		char *line = memchr(s, '\n', end - s);
		s = take_payload(p, line ? line + 1 : end, end);
	}
	for (size_t i = 0; i < p->n_job; i++)
		p->job[i].digest = p->digest[i];
	md5_many(p->job, p->n_job);
	payloads += p->n_job;
}

/* Where the last record of the buffer begins, or its end when the part ends there. */
static size_t whole_records(const struct part *p, bool last)
{
	size_t n = p->n;
	while (!last && n > 0 && !(p->data[n - 1] == '\n' && n < p->n && p->data[n] != '\t'))
		n--;
	return n;
}

static void fill(struct part *p)
{
	if (p->cap < p->n + BLOCK && !(p->data = realloc(p->data, p->cap = p->n + BLOCK)))
		err(1, "buffer");
	ssize_t got = pread(p->fd, p->data + p->n, BLOCK, p->at);
	if (got < 0)
		err(1, "%s", log_path);
	p->n += got;
	p->at += got;
}

/* The offset of the first record that begins at or after offset. */
static off_t record_at(int fd, off_t offset)
{
	char two[2];
	if (offset == 0)
		return 0;
	while (offset < log_size && (pread(fd, two, 2, offset - 1) != 2 || two[0] != '\n' || two[1] == '\t'))
		offset++;
	return offset;
}

static void *read_part(void *arg)
{
	struct part p = {.fd = open(log_path, O_RDONLY | O_CLOEXEC)};
	size_t k = (size_t)arg;
	if (p.fd < 0)
		err(1, "%s", log_path);
	p.at = record_at(p.fd, log_size / threads * k);
	p.end = k + 1 == threads ? log_size : record_at(p.fd, log_size / threads * (k + 1));
	while (p.at < p.end) {
		fill(&p);
		bool last = p.at >= p.end;
		if (last)
			p.n -= p.at - p.end;
		size_t n = whole_records(&p, last);
		hash_block(&p, n);
		memmove(p.data, p.data + n, p.n - n);
		p.n -= n;
	}
	close(p.fd);
	free(p.data);
	free(p.job);
	free(p.digest);
	return NULL;
}

/* ---- write ---- */

static struct file {
	char *path;
	off_t size;
} * file;
static size_t n_file, cap_file;
static atomic_size_t next_file;

static int note(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)ftw;
	char *to;
	if (asprintf(&to, "%s.floor%s", output, path + strlen(output)) < 0)
		err(1, "name");
	if (type == FTW_D) {
		if (mkdir(to, 0777) < 0)
			err(1, "%s", to);
		free(to);
		return 0;
	}
	if (n_file == cap_file && !(file = realloc(file, (cap_file = cap_file ? 2 * cap_file : 1024) * sizeof *file)))
		err(1, "files");
	file[n_file++] = (struct file){to, st->st_size};
	return 0;
}

static void *write_files(void *arg)
{
	static char bytes[BLOCK];
	(void)arg;
	for (size_t i; (i = next_file++) < n_file;) {
		int fd = open(file[i].path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd < 0)
			err(1, "%s", file[i].path);
		for (off_t left = file[i].size; left > 0;) {
			ssize_t put = write(fd, bytes, left < BLOCK ? left : BLOCK);
			if (put < 0)
				err(1, "%s", file[i].path);
			left -= put;
		}
		close(fd);
	}
	return NULL;
}

static void in_threads(void *(*f)(void *))
{
	pthread_t thread[THREADS_MAX];
	for (size_t k = 1; k < threads; k++)
		if (pthread_create(&thread[k], NULL, f, (void *)k) != 0)
			errx(1, "no thread");
	f((void *)0);
	for (size_t k = 1; k < threads; k++)
		pthread_join(thread[k], NULL);
}

static double seconds(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	struct stat st;
	if (argc != 4 || (threads = strtoul(argv[3], NULL, 10)) < 1 || threads > THREADS_MAX)
		errx(2, "usage: floor LOG OUTPUT THREADS");
	log_path = argv[1], output = argv[2];
	if (stat(log_path, &st) < 0)
		err(1, "%s", log_path);
	log_size = st.st_size;
	if (nftw(output, note, 16, FTW_PHYS) < 0)
		err(1, "%s", output);
	double passed = seconds(CLOCK_MONOTONIC), used = seconds(CLOCK_PROCESS_CPUTIME_ID);
	in_threads(read_part);
	in_threads(write_files);
	printf("%.3f %.3f %zu\n", seconds(CLOCK_MONOTONIC) - passed, seconds(CLOCK_PROCESS_CPUTIME_ID) - used, payloads);
	return 0;
}
