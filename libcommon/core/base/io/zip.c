/* Our own reader, instead of minizip 1.2.8 on mapped memory, which hides the offsets of local headers, so overlapping members cannot be
 * detected; accepts the sizes in a zip64 local header unchecked (numpy writes all of its headers that way); requires opening a member to
 * learn its data offset, with 16 KiB of buffers each; and needs 14 ms for 10,000 members, here 2 ms. The rest of the work is a directory of
 * fixed records. Inflating uses libdeflate, and zlib for large members. */
#include "base/io/zip.h"

#include <libdeflate.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "base/io/tempfile.h"
#include "base/io/write.h"

enum {
	SIG_LOCAL = 0x04034b50,
	SIG_ENTRY = 0x02014b50,
	SIG_END = 0x06054b50,
	SIG_END64 = 0x06064b50,
	SIG_LOCATOR64 = 0x07064b50,
	LOCAL_SIZE = 30,
	ENTRY_SIZE = 46,
	END_SIZE = 22,
	END64_SIZE = 56,
	LOCATOR64_SIZE = 20,
	EXTRA_ZIP64 = 1,
	MADE_ON_UNIX = 3,
	FLAG_ENCRYPTED = 1,
	FLAG_DESCRIPTOR = 8, /* sizes and checksum follow the data; the local header may have zeros */
	FLAG_MASKED = 1 << 13,
	STORED = 0,
	DEFLATED = 8,
	DEFLATE_RATIO = 1032,   /* deflate's maximum: 258 bytes from 2 bits */
	PIECE = 256 << 10,      /* inflated at a time into a file */
	PACKED_PIECE = 1 << 30, /* and read: zlib counts in 32 bits */
};

static uint16_t get16(const char *p)
{
	const uint8_t *u = (const uint8_t *)p;
	return (uint16_t)(u[0] | u[1] << 8);
}
static uint32_t get32(const char *p) { return get16(p) | (uint32_t)get16(p + 2) << 16; }
static uint64_t get64(const char *p) { return get32(p) | (uint64_t)get32(p + 4) << 32; }

static int bad(const struct zip *z, struct err *err, const char *what) { return err_set(err, EXIT_INPUT, "'%s': %s", z->path, what); }

/* Names are shown only up to this length. */
static int bad_member(const struct zip *z, const struct zip_member *m, struct err *err, const char *what)
{
	return err_set(err, EXIT_INPUT, "'%s': member '%.*s': %s", z->path, SLN(m->name, 200), what);
}

/* ---- the end record ---- */

/* A comment of the length in the record follows, which must reach the end: "PK\5\6" may occur in data too. */
static bool find_end(struct slice b, size_t *at)
{
	if (b.n < END_SIZE)
		return false;
	size_t low = b.n - END_SIZE > UINT16_MAX ? b.n - END_SIZE - UINT16_MAX : 0;
	for (size_t i = b.n - END_SIZE + 1; i-- > low;) {
		const char *p = b.p + i;
		if (p[0] == 'P' && get32(p) == SIG_END && get16(p + 20) == b.n - END_SIZE - i) {
			*at = i;
			return true;
		}
	}
	return false;
}

bool zip_like(struct slice b)
{
	size_t at;
	return (b.n >= 4 && (get32(b.p) == SIG_LOCAL || get32(b.p) == SIG_END)) || find_end(b, &at);
}

/* The position of the directory. base: size of the data before the archive (a self-extracting program); all offsets count from there. */
struct directory {
	uint64_t offset, size, base, entries, disk, disk_of_directory;
	bool zip64;
};

static int read_end64(const struct zip *z, uint64_t locator, struct directory *d, uint64_t *end, struct err *err)
{
	/* It usually immediately precedes its locator; the offset in the locator is relative to an unknown base. */
	uint64_t at = get64(z->bytes.p + locator + 8);
	bool there = at <= locator && locator - at >= END64_SIZE && get32(z->bytes.p + at) == SIG_END64;
	if (!there && locator >= END64_SIZE) {
		at = locator - END64_SIZE;
		there = get32(z->bytes.p + at) == SIG_END64;
	}
	if (!there)
		return bad(z, err, "is a damaged zip archive: its zip64 end record is missing");
	const char *p = z->bytes.p + at;
	d->disk = get32(p + 16);
	d->disk_of_directory = get32(p + 20);
	d->entries = get64(p + 32);
	d->size = get64(p + 40);
	d->offset = get64(p + 48);
	d->zip64 = true;
	*end = at;
	return 0;
}

static int read_end(const struct zip *z, struct directory *d, struct err *err)
{
	size_t at;
	struct slice b = z->bytes;
	if (!b.n)
		return bad(z, err, "is empty, not a zip archive");
	if (!find_end(b, &at))
		return bad(z, err,
			   b.n >= 4 && get32(b.p) == SIG_LOCAL
			       ? "is a truncated zip archive (the directory at its end is missing): copy or save it again"
			       : "is not a zip archive");
	const char *p = b.p + at;
	*d = (struct directory){.disk = get16(p + 4),
				.disk_of_directory = get16(p + 6),
				.entries = get16(p + 10),
				.size = get32(p + 12),
				.offset = get32(p + 16)};
	uint64_t end = at;
	if (at >= LOCATOR64_SIZE && get32(p - LOCATOR64_SIZE) == SIG_LOCATOR64 && read_end64(z, at - LOCATOR64_SIZE, d, &end, err) < 0)
		return -1;
	if (d->disk || d->disk_of_directory)
		return bad(z, err, "is one part of a split zip archive: join the parts first (zip -s 0 in.zip --out whole.zip)");
	uint64_t sum;
	if (__builtin_add_overflow(d->offset, d->size, &sum) || sum > end)
		return bad(z, err, "is a damaged or truncated zip archive: its directory does not fit before its end record");
	d->base = end - sum;
	return 0;
}

/* ---- the directory ---- */

struct extra64 {
	uint64_t *field[3];
	unsigned n;
};

/* The zip64 extra field has, in this order, only those of size, packed size and offset that are 0xffffffff elsewhere. */
static bool read_extra64(const char *p, size_t n, const struct extra64 *want)
{
	if (!want->n)
		return true;
	while (n >= 4) {
		size_t id = get16(p), len = get16(p + 2);
		if (len > n - 4)
			return false;
		if (id == EXTRA_ZIP64) {
			if (len < 8u * want->n)
				return false;
			for (unsigned i = 0; i < want->n; i++)
				*want->field[i] = get64(p + 4 + 8 * i);
			return true;
		}
		p += 4 + len;
		n -= 4 + len;
	}
	return false;
}

static void want64(struct extra64 *x, uint64_t *field)
{
	if (*field == NONE)
		x->field[x->n++] = field;
}

/* Reads the entry at p, of n bytes up to the directory's end. Returns its length, or 0. */
static size_t read_entry(const struct zip *z, const char *p, size_t n, const struct directory *d, struct zip_member *m, struct err *err)
{
	if (n < ENTRY_SIZE || get32(p) != SIG_ENTRY) {
		bad(z, err, "is a damaged zip archive: its directory is truncated");
		return 0;
	}
	size_t n_name = get16(p + 28), n_extra = get16(p + 30), n_comment = get16(p + 32);
	if (n_name + n_extra + n_comment > n - ENTRY_SIZE) {
		bad(z, err, "is a damaged zip archive: a name in its directory is longer than the directory");
		return 0;
	}
	*m = (struct zip_member){.name = slice_of(p + ENTRY_SIZE, n_name),
				 .mode = (uint8_t)p[5] == MADE_ON_UNIX ? get16(p + 40) : 0,
				 .flags = get16(p + 8),
				 .method = get16(p + 10),
				 .crc = get32(p + 16),
				 .packed = get32(p + 20),
				 .size = get32(p + 24),
				 .header = get32(p + 42)};
	struct extra64 x = {0};
	want64(&x, &m->size);
	want64(&x, &m->packed);
	want64(&x, &m->header);
	if (!read_extra64(p + ENTRY_SIZE + n_name, n_extra, &x)) {
		bad_member(z, m, err, "its zip64 sizes are missing: the archive is damaged");
		return 0;
	}
	/* Its minimum extent must end before the directory. */
	uint64_t end;
	if (__builtin_add_overflow(m->header, d->base, &m->header) || __builtin_add_overflow(m->header, m->packed, &end) ||
	    __builtin_add_overflow(end, LOCAL_SIZE + n_name, &end) || end > d->base + d->offset) {
		bad_member(z, m, err, "is outside the archive, which is damaged or truncated");
		return 0;
	}
	return ENTRY_SIZE + n_name + n_extra + n_comment;
}

static int by_header(const void *a, const void *b)
{
	const struct zip_member *const *x = a, *const *y = b;
	return ((*x)->header > (*y)->header) - ((*x)->header < (*y)->header);
}

/* Each member ends where the next one begins, at the latest. */
static int set_limits(struct zip *z, uint64_t directory, struct err *err)
{
	struct zip_member **m = xreallocarray(NULL, z->n, sizeof(struct zip_member *));
	bool sorted = true;
	int r = 0;
	for (size_t i = 0; i < z->n; i++) {
		m[i] = &z->v[i];
		sorted = sorted && (!i || m[i - 1]->header <= m[i]->header);
	}
	if (!sorted)
		qsort(m, z->n, sizeof(struct zip_member *), by_header);
	for (size_t i = 0; i < z->n && r == 0; i++) {
		m[i]->limit = i + 1 < z->n ? m[i + 1]->header : directory;
		if (m[i]->limit - m[i]->header < LOCAL_SIZE + m[i]->name.n + m[i]->packed)
			r = bad_member(z, m[i], err, "overlaps the next one: the archive is damaged, or made to exhaust memory");
	}
	free(m);
	return r;
}

static int read_directory(struct zip *z, const struct directory *d, struct err *err)
{
	const char *p = z->bytes.p + d->base + d->offset, *end = p + d->size;
	size_t cap = 0;
	while (p < end) {
		/* A signature of the directory may follow its entries. */
		if (end - p >= 4 && get32(p) == 0x05054b50)
			break;
		if (z->n == ZIP_MAX_MEMBERS)
			return bad(z, err, "has more members than the limit of 1048576");
		GROW(z->v, z->n, cap, 1);
		size_t len = read_entry(z, p, (size_t)(end - p), d, &z->v[z->n], err);
		if (!len)
			return -1;
		p += len;
		z->n++;
	}
	/* Some writers let the 16 bits wrap instead of writing a zip64 record. */
	if (z->n != d->entries && (d->zip64 || (z->n & UINT16_MAX) != d->entries))
		return err_set(err, EXIT_INPUT, "'%s': is a damaged zip archive: its directory has %zu members, its end record says %llu",
			       z->path, z->n, (unsigned long long)d->entries);
	return set_limits(z, d->base + d->offset, err);
}

int zip_open(struct zip *z, struct slice bytes, const char *path, struct err *err)
{
	*z = (struct zip){.bytes = bytes, .path = path};
	struct directory d = {0};
	if (read_end(z, &d, err) < 0 || read_directory(z, &d, err) < 0) {
		zip_close(z);
		return -1;
	}
	return 0;
}

void zip_close(struct zip *z)
{
	for (size_t i = 0; i < z->n; i++)
		if (z->v[i].mapped)
			munmap(z->v[i].inflated, z->v[i].size);
		else
			free(z->v[i].inflated);
	free(z->v);
	free(z->by_name);
	*z = (struct zip){0};
}

/* ---- by name ---- */

static int compare_members(const void *a, const void *b, void *v)
{
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct zip_member *m = v;
	int r = slice_cmp(m[i].name, m[k].name);
	return r ? r : (i > k) - (i < k);
}

struct zip_member *zip_find(struct zip *z, struct slice name)
{
	if (!z->by_name) {
		z->by_name = xreallocarray(NULL, z->n, sizeof(uint32_t));
		for (size_t i = 0; i < z->n; i++)
			z->by_name[i] = (uint32_t)i;
		qsort_r(z->by_name, z->n, sizeof(uint32_t), compare_members, z->v);
	}
	/* The last whose name is not above. */
	size_t lo = 0, hi = z->n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (slice_cmp(z->v[z->by_name[mid]].name, name) <= 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	struct zip_member *m = lo ? &z->v[z->by_name[lo - 1]] : NULL;
	return m && slice_eq(m->name, name) ? m : NULL;
}

/* ---- data ---- */

static bool local_agrees(const struct zip_member *m, const char *p, size_t n_name, size_t n_extra)
{
	if (get16(p + 8) != m->method || (get16(p + 6) & FLAG_ENCRYPTED) != (m->flags & FLAG_ENCRYPTED) || n_name != m->name.n ||
	    (n_name && memcmp(p + LOCAL_SIZE, m->name.p, n_name)))
		return false;
	uint64_t packed = get32(p + 18), size = get32(p + 22);
	uint32_t crc = get32(p + 14);
	if ((get16(p + 6) & FLAG_DESCRIPTOR) && !crc && !packed && !size)
		return true;
	struct extra64 x = {0};
	want64(&x, &size);
	want64(&x, &packed);
	if (!read_extra64(p + LOCAL_SIZE + n_name, n_extra, &x))
		return false;
	/* A streaming writer may leave only some of the fields unset. */
	if (get16(p + 6) & FLAG_DESCRIPTOR)
		return (!crc || crc == m->crc) && (!packed || packed == m->packed) && (!size || size == m->size);
	return crc == m->crc && packed == m->packed && size == m->size;
}

static int zip_locate(struct zip *z, struct zip_member *m, struct err *err)
{
	if (m->offset)
		return 0;
	/* The header, the name and the data were checked to end before `limit`; the extra field was not. */
	const char *p = z->bytes.p + m->header;
	size_t n_name = get16(p + 26), n_extra = get16(p + 28);
	if (get32(p) != SIG_LOCAL)
		return bad_member(z, m, err, "no local header at the offset in the directory: the archive is damaged");
	if (m->limit - m->header - LOCAL_SIZE - m->packed < n_name + n_extra)
		return bad_member(z, m, err, "overlaps the next one: the archive is damaged, or made to exhaust memory");
	if (!local_agrees(m, p, n_name, n_extra))
		return bad_member(z, m, err, "its local header contradicts the directory: the archive is damaged");
	m->offset = m->header + LOCAL_SIZE + n_name + n_extra;
	return 0;
}

static const char *method_name(unsigned method)
{
	switch (method) {
	case 9: return "deflate64";
	case 12: return "bzip2";
	case 14: return "lzma";
	case 93: return "zstd";
	case 95: return "xz";
	default: return "an unknown method";
	}
}

static int check_crc(const struct zip *z, struct zip_member *m, const char *p, struct err *err)
{
	if (m->checked || !m->crc)
		return 0;
	if (libdeflate_crc32(0, p, m->size) != m->crc)
		return bad_member(z, m, err, "its checksum is wrong: the archive is damaged");
	m->checked = true;
	return 0;
}

/* Before allocating memory: a bomb declares sizes that its bytes cannot inflate to. */
static int check_size(const struct zip *z, const struct zip_member *m, struct err *err)
{
	if (m->size > ZIP_MAX_INFLATED)
		return bad_member(z, m, err, "inflates to more than 2 GiB: store it without compression");
	if (m->size / DEFLATE_RATIO > m->packed)
		return bad_member(z, m, err, "its size is impossible for its compressed bytes: the archive is damaged");
	return 0;
}

static int inflate_member(struct zip *z, struct zip_member *m, struct err *err)
{
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	if (!d)
		return err_set(err, EXIT_ENVIRON, "cannot initialize libdeflate");
	char *out = xmalloc(m->size);
	size_t in_n, out_n;
	enum libdeflate_result r = libdeflate_deflate_decompress_ex(d, z->bytes.p + m->offset, m->packed, out, m->size, &in_n, &out_n);
	libdeflate_free_decompressor(d);
	if (r != LIBDEFLATE_SUCCESS || in_n != m->packed || out_n != m->size) {
		free(out);
		return bad_member(z, m, err, "its compressed data is damaged");
	}
	if (check_crc(z, m, out, err) < 0) {
		free(out);
		return -1;
	}
	m->inflated = out;
	z->heap += m->size;
	return 0;
}

/* ---- in pieces ---- */

struct pieces {
	z_stream s;
	uint64_t in, out;
	uint32_t crc;
	int fd;
	const char *what;
	char *piece;
};

static int put_piece(struct pieces *p, size_t n, struct err *err)
{
	p->out += n;
	p->crc = libdeflate_crc32(p->crc, p->piece, n);
	if (n && !p->piece[0] && !memcmp(p->piece, p->piece + 1, n - 1) && lseek(p->fd, (off_t)n, SEEK_CUR) >= 0)
		return 0;
	return write_all(p->fd, p->piece, n, p->what, err);
}

static int inflate_pieces(const struct zip *z, const struct zip_member *m, struct pieces *p, struct err *err)
{
	int r = Z_OK;
	while (r == Z_OK) {
		if (!p->s.avail_in) {
			uint64_t left = m->packed - p->in;
			p->s.next_in = (Bytef *)(uintptr_t)(z->bytes.p + m->offset + p->in);
			p->s.avail_in = left < PACKED_PIECE ? (uInt)left : PACKED_PIECE;
			p->in += p->s.avail_in;
		}
		p->s.next_out = (Bytef *)p->piece;
		p->s.avail_out = PIECE;
		r = inflate(&p->s, Z_NO_FLUSH);
		size_t n = PIECE - p->s.avail_out;
		if (n > m->size - p->out)
			break;
		if (put_piece(p, n, err) < 0)
			return -1;
	}
	if (r != Z_STREAM_END || p->s.avail_in || p->in != m->packed || p->out != m->size)
		return bad_member(z, m, err, "its compressed data is damaged");
	if (m->crc && p->crc != m->crc)
		return bad_member(z, m, err, "its checksum is wrong: the archive is damaged");
	/* It may end on a hole. */
	off_t end = lseek(p->fd, 0, SEEK_CUR);
	return end < 0 || ftruncate(p->fd, end) == 0 ? 0 : err_errno(err, EXIT_ENVIRON, "cannot write '%s'", p->what);
}

static int inflate_to(const struct zip *z, const struct zip_member *m, int fd, const char *what, struct err *err)
{
	struct pieces p = {.fd = fd, .what = what};
	if (inflateInit2(&p.s, -15) != Z_OK)
		return err_set(err, EXIT_ENVIRON, "cannot initialize zlib");
	p.piece = xmalloc(PIECE);
	int r = inflate_pieces(z, m, &p, err);
	inflateEnd(&p.s);
	free(p.piece);
	return r;
}

/* Like inflate_member, if it does not fit in memory. */
static int inflate_mapped(const struct zip *z, struct zip_member *m, struct err *err)
{
	char name[TEMP_NAME];
	int fd = temp_file(err);
	if (fd < 0)
		return -1;
	int r = inflate_to(z, m, fd, temp_file_name(name), err);
	void *p = r < 0 ? MAP_FAILED : mmap(NULL, m->size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (r == 0 && p == MAP_FAILED)
		err_errno(err, EXIT_ENVIRON, "cannot map '%s'", name);
	close(fd);
	if (p == MAP_FAILED)
		return temp_failed(err);
	m->inflated = p;
	m->mapped = true;
	return 0;
}

/* Can it be read, and what is its offset? */
static int prepare(struct zip *z, struct zip_member *m, struct err *err)
{
	if (m->flags & (FLAG_ENCRYPTED | FLAG_MASKED))
		return bad_member(z, m, err, "is encrypted: create the archive without a password");
	if (m->method != STORED && m->method != DEFLATED)
		return err_set(err, EXIT_INPUT,
			       "'%s': member '%.*s': is compressed with %s (%u): only stored and deflated members are supported", z->path,
			       SLN(m->name, 200), method_name(m->method), m->method);
	if (zip_locate(z, m, err) < 0)
		return -1;
	if (m->method == STORED && m->packed != m->size)
		return bad_member(z, m, err, "is stored, but its two sizes differ: the archive is damaged");
	return 0;
}

int zip_data(struct zip *z, struct zip_member *m, struct slice *data, struct err *err)
{
	if (prepare(z, m, err) < 0)
		return -1;
	if (m->method == STORED) {
		*data = slice_of(z->bytes.p + m->offset, m->size);
		return m->size > ZIP_CHECK_MAX ? 0 : check_crc(z, m, data->p, err);
	}
	bool room = m->size <= ZIP_MAX_HEAP && z->heap <= ZIP_MAX_HEAP - m->size;
	if (!m->inflated && (check_size(z, m, err) < 0 || (room ? inflate_member(z, m, err) : inflate_mapped(z, m, err)) < 0))
		return -1;
	*data = slice_of(m->inflated, m->size);
	return 0;
}

int zip_text(struct zip *z, struct zip_member *m, struct slice *data, struct err *err)
{
	if (m->method == STORED || m->size <= ZIP_MAX_TEXT)
		return zip_data(z, m, data, err);
	return err_set(err, EXIT_INPUT, "'%s': '%.*s' inflates to %llu MiB: at most %u MiB of compressed text are read", z->path,
		       SLN(m->name, 200), (unsigned long long)(m->size >> 20), ZIP_MAX_TEXT >> 20);
}

/* Memory is released as soon as it was read: the file has it. */
static int copy_mapped(const struct zip_member *m, int fd, const char *what, struct err *err)
{
	int r = 0;
	for (uint64_t at = 0; at < m->size && !r; at += PIECE) {
		const size_t n = m->size - at < PIECE ? (size_t)(m->size - at) : PIECE;
		r = write_all(fd, m->inflated + at, n, what, err);
		madvise(m->inflated + at, n, MADV_DONTNEED);
	}
	return r;
}

int zip_copy(struct zip *z, struct zip_member *m, int fd, const char *what, struct err *err)
{
	struct slice data;
	if (m->mapped)
		return copy_mapped(m, fd, what, err);
	if (m->method == STORED || m->inflated)
		return zip_data(z, m, &data, err) < 0 ? -1 : write_all(fd, data.p, data.n, what, err);
	return prepare(z, m, err) < 0 || check_size(z, m, err) < 0 ? -1 : inflate_to(z, m, fd, what, err);
}

int zip_head(struct zip *z, struct zip_member *m, size_t want, struct buf *head, struct slice *data, struct err *err)
{
	if (prepare(z, m, err) < 0)
		return -1;
	if (m->method == STORED) {
		*data = slice_of(z->bytes.p + m->offset, m->size);
		return 0;
	}
	if (want > m->size)
		want = m->size;
	if (want > UINT32_MAX / 2)
		return bad_member(z, m, err, "its header is too large");
	buf_reset(head);
	*data = SLICE("");
	if (!want)
		return 0;
	z_stream s = {.next_in = (Bytef *)(uintptr_t)(z->bytes.p + m->offset),
		      .avail_in = (uInt)(m->packed < UINT32_MAX / 2 ? m->packed : UINT32_MAX / 2),
		      .next_out = (Bytef *)buf_room(head, want + 1),
		      .avail_out = (uInt)want};
	if (inflateInit2(&s, -15) != Z_OK)
		return err_set(err, EXIT_ENVIRON, "cannot initialize zlib");
	int r = inflate(&s, Z_SYNC_FLUSH);
	inflateEnd(&s);
	if (s.avail_out || (r != Z_OK && r != Z_STREAM_END && r != Z_BUF_ERROR))
		return bad_member(z, m, err, "its compressed data is damaged");
	buf_cut(head, want);
	*data = buf_slice(head);
	return 0;
}
