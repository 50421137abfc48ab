/* sink.c - bytes to a descriptor through a small buffer, with a checksum (write_part.h). */
#include "tensor/write_part.h"
#include <errno.h>
#include <unistd.h>

/* Four tables: the checksum keeps up with a disk (zlib is not linked into preload libraries). */
static void crc_tables(struct sink *s)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;
		for (int k = 0; k < 8; k++)
			c = c >> 1 ^ (c & 1 ? 0xedb88320u : 0);
		s->table[0][i] = c;
	}
	for (int k = 1; k < 4; k++)
		for (uint32_t i = 0; i < 256; i++)
			s->table[k][i] = s->table[k - 1][i] >> 8 ^ s->table[0][s->table[k - 1][i] & 0xff];
}

static void crc_add(struct sink *s, const char *p, size_t n)
{
	uint32_t c = ~s->crc, w;
	for (; n >= 4; n -= 4, p += 4) {
		memcpy(&w, p, 4);
		c ^= w;
		c = s->table[3][c & 0xff] ^ s->table[2][c >> 8 & 0xff] ^ s->table[1][c >> 16 & 0xff] ^ s->table[0][c >> 24];
	}
	for (; n; n--, p++)
		c = c >> 8 ^ s->table[0][(c ^ (uint8_t)*p) & 0xff];
	s->crc = ~c;
}

static int write_out(struct sink *s, const char *p, size_t n)
{
	while (n) {
		ssize_t k = write(s->fd, p, n > 1u << 30 ? 1u << 30 : n);
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return err_errno(s->err, EXIT_ENVIRON, "'%s': cannot be written", s->what);
		p += k;
		n -= (size_t)k;
	}
	return 0;
}

int sink_flush(struct sink *s)
{
	size_t n = s->n;
	s->n = 0;
	return write_out(s, s->room, n);
}

int sink_put(struct sink *s, const void *p, size_t n)
{
	if (!n)
		return 0;
	if (s->sum)
		crc_add(s, p, n);
	s->at += n;
	if (n > SINK_ROOM - s->n && sink_flush(s) < 0)
		return -1;
	if (n > SINK_ROOM)
		return write_out(s, p, n);
	memcpy(s->room + s->n, p, n);
	s->n += n;
	return 0;
}

/* In pieces, so that the checksum is computed while the data is still in the cache. */
int sink_put_run(struct sink *s, const char *p, uint64_t n)
{
	while (n) {
		size_t part = n > 1u << 18 ? 1u << 18 : (size_t)n;
		if (sink_put(s, p, part) < 0)
			return -1;
		p += part;
		n -= part;
	}
	return 0;
}

/* Except its room, which is large. */
void sink_open(struct sink *s, int fd, const char *what, struct err *err)
{
	s->fd = fd;
	s->what = what;
	s->err = err;
	s->at = s->n = 0;
	s->sum = false;
	s->crc = 0;
	crc_tables(s);
}
