/* A zip archive of stored or deflated members, written in one pass (PKWARE's APPNOTE.TXT 6.3.10): sizes and checksums follow the data
 * (flag 8), names are UTF-8 (flag 0x800), data begin at multiples of 64. */
#include "tensor/write_part.h"

#define ZIP32_MAX 0xffffffffu
/* The same for all, so that the same tensors give the same file: midnight of 1980-01-01, the first valid one in MS-DOS's form (0 is
 * invalid, and unzip turns it into a date before 1980, which Python's zipfile refuses to pack). */
#define TIME_AND_DATE (0x0021u << 16)

static void put16(struct buf *b, unsigned v)
{
	uint16_t w = (uint16_t)v;
	buf_add(b, &w, 2);
}

static void put32(struct buf *b, uint64_t v)
{
	uint32_t w = v > ZIP32_MAX ? ZIP32_MAX : (uint32_t)v;
	buf_add(b, &w, 4);
}

static void put64(struct buf *b, uint64_t v) { buf_add(b, &v, 8); }

static int put_buf(struct sink *s, struct buf *b)
{
	int rc = sink_put(s, b->p, b->len);
	buf_release(b);
	return rc;
}

/* The local header, padded in an extra field ("FB", as in torch) so that data begins at a multiple of 64. */
static int local_header(struct archive *a, const char *name, bool big)
{
	struct buf b = {0};
	size_t n = strlen(name), fixed = 30 + n + (big ? 20 : 0) + 4, pad = (64 - (a->s->at + fixed) % 64) % 64;
	buf_add(&b, "PK\3\4", 4);
	put16(&b, big ? 45 : 20);
	put16(&b, 0x808);
	put16(&b, a->deflated ? 8 : 0);
	put32(&b, TIME_AND_DATE);
	put32(&b, 0);
	put32(&b, big ? ZIP32_MAX : 0);
	put32(&b, big ? ZIP32_MAX : 0);
	put16(&b, (unsigned)n);
	put16(&b, (unsigned)((big ? 20 : 0) + 4 + pad));
	buf_adds(&b, name);
	if (big) {
		put16(&b, 1);
		put16(&b, 16);
		put64(&b, 0);
		put64(&b, 0);
	}
	buf_add(&b, "FB", 2);
	put16(&b, (unsigned)pad);
	for (size_t i = 0; i < pad; i++)
		buf_addc(&b, 'Z');
	return put_buf(a->s, &b);
}

static int data_descriptor(struct archive *a, const char *name, bool big, uint64_t header, uint64_t size)
{
	struct buf b = {0}, *d = &a->directory;
	const bool far = big || header >= ZIP32_MAX;
	const uint64_t whole = a->deflated ? a->deflated->size : size;
	const uint32_t crc = a->deflated ? a->deflated->crc : a->s->crc;
	buf_add(&b, "PK\7\10", 4);
	put32(&b, crc);
	for (int i = 0; i < 2; i++) {
		if (big)
			put64(&b, i ? whole : size);
		else
			put32(&b, i ? whole : size);
	}
	buf_add(d, "PK\1\2", 4);
	put16(d, 45);
	put16(d, far ? 45 : 20);
	put16(d, 0x808);
	put16(d, a->deflated ? 8 : 0);
	put32(d, TIME_AND_DATE);
	put32(d, crc);
	put32(d, far ? ZIP32_MAX : size);
	put32(d, far ? ZIP32_MAX : whole);
	put16(d, (unsigned)strlen(name));
	put16(d, far ? 28 : 0);
	put16(d, 0); /* comment, disk, attributes */
	put16(d, 0);
	put16(d, 0);
	put32(d, 0);
	put32(d, far ? ZIP32_MAX : header);
	buf_adds(d, name);
	if (far) {
		put16(d, 1);
		put16(d, 24);
		put64(d, whole);
		put64(d, size);
		put64(d, header);
	}
	a->members++;
	return put_buf(a->s, &b);
}

/* Either of its sizes. */
static bool is_big(const struct archive *a) { return a->size >= ZIP32_MAX || (a->deflated && a->deflated->size >= ZIP32_MAX); }

int archive_begin(struct archive *a, const char *name, uint64_t size)
{
	a->header = a->s->at;
	a->size = size;
	if (local_header(a, name, is_big(a)) < 0)
		return -1;
	a->s->crc = 0;
	a->s->sum = true;
	return 0;
}

int archive_member_end(struct archive *a, const char *name)
{
	a->s->sum = false;
	return data_descriptor(a, name, is_big(a), a->header, a->size);
}

int archive_put(struct archive *a, const char *name, const void *p, uint64_t size)
{
	return archive_begin(a, name, size) < 0 || sink_put_run(a->s, p, size) < 0 ? -1 : archive_member_end(a, name);
}

int archive_put_deflated(struct archive *a, const char *name, const void *p, uint64_t packed, struct archive_deflated of)
{
	a->deflated = &of;
	int rc = archive_put(a, name, p, packed);
	a->deflated = NULL;
	return rc;
}

int archive_end(struct archive *a)
{
	struct buf *d = &a->directory;
	const uint64_t at = a->s->at, size = d->len, end = at + size;
	if (a->members >= 0xffff || end >= ZIP32_MAX) {
		buf_add(d, "PK\6\6", 4);
		put64(d, 44);
		put16(d, 45);
		put16(d, 45);
		put32(d, 0);
		put32(d, 0);
		put64(d, a->members);
		put64(d, a->members);
		put64(d, size);
		put64(d, at);
		buf_add(d, "PK\6\7", 4);
		put32(d, 0);
		put64(d, end);
		put32(d, 1);
	}
	buf_add(d, "PK\5\6", 4);
	put16(d, 0);
	put16(d, 0);
	put16(d, a->members > 0xffff ? 0xffff : (unsigned)a->members);
	put16(d, a->members > 0xffff ? 0xffff : (unsigned)a->members);
	put32(d, size);
	put32(d, at);
	put16(d, 0);
	return put_buf(a->s, d);
}

void archive_release(struct archive *a) { buf_release(&a->directory); }
