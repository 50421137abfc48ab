/* write_part.h - what the writers of tensor files share: bytes onto a descriptor through a small buffer. For write*.c only. */
#ifndef PT2_WRITE_PART_H
#define PT2_WRITE_PART_H
#include "tensor/write.h"

enum { SINK_ROOM = 16384 };

struct sink {
	int fd;
	const char *what;
	struct err *err;
	uint64_t at;  /* bytes so far, those in room too */
	bool sum;     /* keep crc */
	uint32_t crc; /* of the bytes since it was set to 0 */
	uint32_t table[4][256];
	size_t n;
	_Alignas(64) char room[SINK_ROOM];
};

int sink_put(struct sink *s, const void *p, size_t n);
int sink_put_run(struct sink *s, const char *p, uint64_t n); /* of any length */

/* ---- write_zip.c: an archive of stored members, from the sink's present position on ---- */

struct archive {
	struct sink *s;
	struct buf directory;
	uint64_t members, header, size; /* header, size: of the member that is being written */
};
/* size: of the bytes that are put into the sink until archive_member_end. */
int archive_begin(struct archive *a, const char *name, uint64_t size);
int archive_member_end(struct archive *a, const char *name);
int archive_put(struct archive *a, const char *name, const void *p, uint64_t size);
int archive_end(struct archive *a);
void archive_release(struct archive *a);

/* named: a dict; else a list, or one tensor. */
int pt_write(struct sink *s, const struct tensor_view *v, size_t n, bool named);
int pt_write_storage(struct sink *s, struct slice bytes);

#endif
