/* mkzip.h - zip archives made for a test: members stored or deflated, plain or zip64, each field open to lies.
 *
 *     struct mkzip z = {0};
 *     mkzip_add(&z, "a.txt", SLICE("text"), 0);           // flags: MKZIP_DEFLATE | MKZIP_ZIP64 | MKZIP_STREAMED
 *     z.entry[0].size = 99;                                // what the directory will say
 *     mkzip_end(&z);                                       // z.b is the archive
 *     mkzip_release(&z);
 */
#ifndef PT2_TEST_MKZIP_H
#define PT2_TEST_MKZIP_H
#include <zlib.h>

#include "base/buf.h"

enum { MKZIP_DEFLATE = 1, MKZIP_ZIP64 = 2, MKZIP_STREAMED = 4 };

struct mkzip_entry {
	char name[64];
	unsigned flags, method, bits;
	uint32_t crc;
	uint64_t packed, size, header;
};

struct mkzip {
	struct buf b;
	struct mkzip_entry entry[32];
	unsigned n;
	bool zip64;            /* the end record too */
	uint64_t base;         /* taken from all offsets: what stands before the archive */
	uint64_t entries;      /* what the end record says is larger by this */
	size_t directory, end; /* where they were written */
};

static inline void mkzip_int(struct buf *b, unsigned bytes, uint64_t v)
{
	while (bytes--) {
		buf_addc(b, (char)v);
		v >>= 8;
	}
}

static inline void mkzip_deflate(struct buf *b, struct slice data)
{
	z_stream s = {0};
	if (deflateInit2(&s, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		abort();
	size_t room = deflateBound(&s, data.n);
	s.next_in = (Bytef *)(uintptr_t)data.p;
	s.avail_in = (uInt)data.n;
	s.next_out = (Bytef *)buf_room(b, room);
	s.avail_out = (uInt)room;
	if (deflate(&s, Z_FINISH) != Z_STREAM_END)
		abort();
	buf_wrote(b, room - s.avail_out);
	deflateEnd(&s);
}

static inline void mkzip_add(struct mkzip *z, const char *name, struct slice data, unsigned flags)
{
	struct buf body = {0};
	struct mkzip_entry *e = &z->entry[z->n++];
	*e = (struct mkzip_entry){.flags = flags, .size = data.n, .header = z->b.len, .method = flags & MKZIP_DEFLATE ? 8 : 0};
	snprintf(e->name, sizeof(e->name), "%s", name);
	e->crc = (uint32_t)crc32(0, (const Bytef *)data.p, (uInt)data.n);
	e->bits = flags & MKZIP_STREAMED ? 8 : 0;
	if (flags & MKZIP_DEFLATE)
		mkzip_deflate(&body, data);
	else
		buf_add_slice(&body, data);
	e->packed = body.len;
	bool streamed = flags & MKZIP_STREAMED, big = flags & MKZIP_ZIP64;
	struct buf *b = &z->b;
	mkzip_int(b, 4, 0x04034b50);
	mkzip_int(b, 2, 45);
	mkzip_int(b, 2, e->bits);
	mkzip_int(b, 2, e->method);
	mkzip_int(b, 4, 0);
	mkzip_int(b, 4, streamed ? 0 : e->crc);
	mkzip_int(b, 4, streamed ? 0 : big ? UINT32_MAX : e->packed);
	mkzip_int(b, 4, streamed ? 0 : big ? UINT32_MAX : e->size);
	mkzip_int(b, 2, strlen(e->name));
	mkzip_int(b, 2, big && !streamed ? 24 : 4);
	buf_adds(b, e->name);
	mkzip_int(b, 4, 0x4246); /* a field of padding, of 0 bytes */
	if (big && !streamed) {
		mkzip_int(b, 2, 1);
		mkzip_int(b, 2, 16);
		mkzip_int(b, 8, e->size);
		mkzip_int(b, 8, e->packed);
	}
	buf_add_slice(b, buf_slice(&body));
	buf_release(&body);
	if (streamed) {
		mkzip_int(b, 4, 0x08074b50);
		mkzip_int(b, 4, e->crc);
		mkzip_int(b, big ? 8 : 4, e->packed);
		mkzip_int(b, big ? 8 : 4, e->size);
	}
}

static inline void mkzip_end(struct mkzip *z)
{
	struct buf *b = &z->b;
	z->directory = b->len;
	for (unsigned i = 0; i < z->n; i++) {
		const struct mkzip_entry *e = &z->entry[i];
		bool big = e->flags & MKZIP_ZIP64;
		mkzip_int(b, 4, 0x02014b50);
		mkzip_int(b, 4, 45 << 16 | 45);
		mkzip_int(b, 2, e->bits);
		mkzip_int(b, 2, e->method);
		mkzip_int(b, 4, 0);
		mkzip_int(b, 4, e->crc);
		mkzip_int(b, 4, big ? UINT32_MAX : e->packed);
		mkzip_int(b, 4, big ? UINT32_MAX : e->size);
		mkzip_int(b, 2, strlen(e->name));
		mkzip_int(b, 2, big ? 28 : 0);
		mkzip_int(b, 8, 0); /* comment, disk, attributes */
		mkzip_int(b, 2, 0);
		mkzip_int(b, 4, big ? UINT32_MAX : e->header - z->base);
		buf_adds(b, e->name);
		if (big) {
			mkzip_int(b, 2, 1);
			mkzip_int(b, 2, 24);
			mkzip_int(b, 8, e->size);
			mkzip_int(b, 8, e->packed);
			mkzip_int(b, 8, e->header - z->base);
		}
	}
	z->end = b->len;
	if (z->zip64) {
		mkzip_int(b, 4, 0x06064b50);
		mkzip_int(b, 8, 44);
		mkzip_int(b, 4, 45 << 16 | 45);
		mkzip_int(b, 8, 0);
		mkzip_int(b, 8, z->n + z->entries);
		mkzip_int(b, 8, z->n + z->entries);
		mkzip_int(b, 8, z->end - z->directory);
		mkzip_int(b, 8, z->directory - z->base);
		mkzip_int(b, 4, 0x07064b50);
		mkzip_int(b, 4, 0);
		mkzip_int(b, 8, z->end - z->base);
		mkzip_int(b, 4, 1);
	}
	mkzip_int(b, 4, 0x06054b50);
	mkzip_int(b, 4, 0);
	mkzip_int(b, 2, z->zip64 ? UINT16_MAX : z->n + z->entries);
	mkzip_int(b, 2, z->zip64 ? UINT16_MAX : z->n + z->entries);
	mkzip_int(b, 4, z->zip64 ? UINT32_MAX : z->end - z->directory);
	mkzip_int(b, 4, z->zip64 ? UINT32_MAX : z->directory - z->base);
	mkzip_int(b, 2, 0);
}

static inline void mkzip_release(struct mkzip *z)
{
	buf_release(&z->b);
	*z = (struct mkzip){0};
}

#endif
