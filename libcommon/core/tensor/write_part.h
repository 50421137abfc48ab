/* write_part.h - shared by the writers of tensor files and of other archives (cli/run/bundle): writes bytes to a descriptor through a small
 * buffer.
 *
 *     struct sink s;
 *     sink_open(&s, fd, "x.zip", &err);
 *     struct archive a = {.s = &s};
 *     archive_put(&a, "one", p, n) ... archive_end(&a), sink_flush(&s);
 *     archive_release(&a);
 */
#ifndef PT2_WRITE_PART_H
#define PT2_WRITE_PART_H
#include "tensor/write.h"

enum { SINK_ROOM = 16384 };

struct sink {
	int fd;
	const char *what;
	struct err *err;
	uint64_t at;  /* bytes so far, including those in room */
	bool sum;     /* keep crc */
	uint32_t crc; /* of the bytes written since it was set to 0 */
	uint32_t table[4][256];
	size_t n;
	_Alignas(64) char room[SINK_ROOM];
};

/* Starts at fd's current position, ready for an archive. */
void sink_open(struct sink *s, int fd, const char *what, struct err *err);
int sink_flush(struct sink *s);
int sink_put(struct sink *s, const void *p, size_t n);
int sink_put_run(struct sink *s, const char *p, uint64_t n); /* of any length */

/* ---- write_zip.c: an archive of stored or deflated members, from the sink's current position on ---- */

struct archive_deflated;
struct archive {
	struct sink *s;
	struct buf directory;
	uint64_t members, header, size;          /* header, size: of the member being written */
	const struct archive_deflated *deflated; /* ... if it is */
};
/* The bytes that a deflated member inflates to. */
struct archive_deflated {
	uint64_t size;
	uint32_t crc;
};
/* size: number of bytes that will be put into the sink until archive_member_end. */
int archive_begin(struct archive *a, const char *name, uint64_t size);
int archive_member_end(struct archive *a, const char *name);
int archive_put(struct archive *a, const char *name, const void *p, uint64_t size);
/* p: a raw deflate stream. */
int archive_put_deflated(struct archive *a, const char *name, const void *p, uint64_t packed, struct archive_deflated of);
int archive_end(struct archive *a);
void archive_release(struct archive *a);

/* named: a dict; else a list, or one tensor. */
int pt_write(struct sink *s, const struct tensor_view *v, size_t n, bool named);
int pt_write_storage(struct sink *s, struct slice bytes, struct slice device);

#endif
