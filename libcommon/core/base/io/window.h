/* window.h - read a file of any size through windows that end where a record ends.
 *
 * Works for regular files, pipes and standard input ("-"), plain or compressed (gzip, xz, zstd; recognised by the first
 * bytes, also on a pipe: inflate.h). One pass; memory use depends on the windows, never on the file's size.
 *
 *     struct input in;
 *     if (input_open(&in, path, &err) < 0) …
 *     struct window w = {0};
 *     while ((r = input_next(&in, &w, 4 << 20, my_cut, &err)) > 0)
 *         use(w.data, w.len);           // the bytes may be changed in place
 *     window_release(&w);
 *     input_close(&in);
 *
 * The cut function says where in a window the last complete record ends: a window never splits a record, unless the
 * record is larger than RECORD_MAX (256 MiB): then the window ends anywhere and the next one has `continued` set.
 */
#ifndef PT2_WINDOW_H
#define PT2_WINDOW_H
#include "base/buf.h"

enum { RECORD_MAX = 256 << 20 };

struct input {
	const char *path; /* for messages; "-" is shown as (standard input) */
	int fd;
	bool seekable;
	uint64_t size;     /* of the file on disk, 0 if unknown */
	uint64_t consumed; /* bytes of it read so far: for progress */
	uint64_t offset;   /* of the next window, in uncompressed bytes */
	struct buf tail;   /* read, but belongs to the next window */
	bool eof, continued;
	struct inflate *packed; /* NULL when plain */
	char *chunk;            /* compressed bytes; those in [chunk_at, chunk_to) are to come */
	size_t chunk_at, chunk_to;
	bool packed_ended; /* a member is complete; the file may end here */
	bool packed_full;  /* the last piece filled its room */
	const char *lost;  /* why the input broke off (a truncated or corrupt compressed file, a read error); what came before is valid */
	bool unread;       /* ... because of a system error: then no result may pass for one about the whole input */
};

struct window {
	char *data;
	size_t len, cap;
	uint64_t offset;
	bool last, continued;
};

/* Number of leading bytes of data[0,len) that are complete records; 0 if not even one is known to be complete. */
typedef size_t window_cut(const char *data, size_t len);

int input_open(struct input *in, const char *path, struct err *err);
/* 1: a window, 0: the end. Read errors and damaged compressed data end the input early and set in->lost. */
int input_next(struct input *in, struct window *w, size_t want, window_cut *cut);
void input_close(struct input *in);
/* Reads the first n bytes of a file, or as many as there are, to detect its format; unchanged (a .gz is not decompressed). 0 unless it is a
 * regular file. A pipe's data would be gone once read: it is not even opened, since closing it would cut off its writer. */
size_t input_head(const char *path, char *head, size_t n);
/* By errno, after input_open() or input_head() (0 bytes): was it the machine (an I/O error, no descriptor, no memory)? The file may be
 * there then, and nobody knows what is in it. */
bool input_failed_here(void);
void window_release(struct window *w);

#endif
