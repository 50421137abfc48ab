#include "base/io/inflate.h"

#include <dlfcn.h>
#include <zlib.h>

/* The parts of lzma/base.h and zstd.h that are used; both ABIs have been the same for 5.0 and 1.0 onwards. */
struct lzma_stream {
	const uint8_t *next_in;
	size_t avail_in;
	uint64_t total_in;
	uint8_t *next_out;
	size_t avail_out;
	uint64_t total_out;
	const void *allocator;
	void *internal, *reserved_ptr[4];
	uint64_t reserved_int[2];
	size_t reserved_size[2];
	int reserved_enum[2];
};
enum { LZMA_RUN = 0, LZMA_OK = 0, LZMA_STREAM_END = 1, LZMA_BUF_ERROR = 10, LZMA_MEMORY = 256 << 20 };
struct zstd_in {
	const void *src;
	size_t size, pos;
};
struct zstd_out {
	void *dst;
	size_t size, pos;
};

static struct {
	int (*decoder)(struct lzma_stream *, uint64_t memory, uint32_t flags);
	int (*code)(struct lzma_stream *, int action);
	void (*end)(struct lzma_stream *);
} lzma;
static struct {
	void *(*create)(void);
	size_t (*decompress)(void *, struct zstd_out *, struct zstd_in *);
	size_t (*free)(void *);
	unsigned (*is_error)(size_t);
} zstd;

enum kind { GZIP, XZ, ZSTD };

static const struct {
	const char *magic;
	size_t n;
	const char *name, *library, *early, *corrupt;
} kinds[] = {
    [GZIP] = {"\x1f\x8b", 2, "gzip", NULL, "the gzip data ends early", "the gzip data is corrupt"},
    [XZ] = {"\xfd\x37zXZ\0", 6, "xz", "liblzma.so.5", "the xz data ends early", "the xz data is corrupt"},
    [ZSTD] = {"\x28\xb5\x2f\xfd", 4, "zstd", "libzstd.so.1", "the zstd data ends early", "the zstd data is corrupt"},
};

struct inflate {
	enum kind kind;
	bool ended; /* the next byte starts another stream */
	z_stream z;
	struct lzma_stream xz;
	void *zstd;
};

size_t inflate_magic(const char *head, size_t n)
{
	size_t need = 0;
	for (unsigned k = 0; k < ARRAY_LEN(kinds); k++)
		if (!memcmp(head, kinds[k].magic, n < kinds[k].n ? n : kinds[k].n)) {
			if (kinds[k].n <= n)
				return kinds[k].n;
			need = kinds[k].n > need ? kinds[k].n : need;
		}
	return need;
}

static bool find(void *library, const char *name, void *function)
{
	void *p = dlsym(library, name);
	memcpy(function, &p, sizeof(p));
	return p != NULL;
}

static bool load(enum kind kind)
{
	if (kind == GZIP || (kind == XZ ? lzma.end != NULL : zstd.is_error != NULL))
		return true;
	void *library = dlopen(kinds[kind].library, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return false;
	if (kind == XZ)
		return find(library, "lzma_stream_decoder", &lzma.decoder) && find(library, "lzma_code", &lzma.code) &&
		       find(library, "lzma_end", &lzma.end);
	return find(library, "ZSTD_createDCtx", &zstd.create) && find(library, "ZSTD_decompressStream", &zstd.decompress) &&
	       find(library, "ZSTD_freeDCtx", &zstd.free) && find(library, "ZSTD_isError", &zstd.is_error);
}

static bool start(struct inflate *z)
{
	switch (z->kind) {
	case GZIP: return inflateInit2(&z->z, 15 + 16) == Z_OK;
	case XZ: return lzma.decoder(&z->xz, LZMA_MEMORY, 0) == LZMA_OK;
	case ZSTD: return (z->zstd = zstd.create()) != NULL;
	}
	return false;
}

struct inflate *inflate_open(const char *head, size_t n, struct err *err)
{
	unsigned k = 0;
	while (k < ARRAY_LEN(kinds) && (n < kinds[k].n || memcmp(head, kinds[k].magic, kinds[k].n) != 0))
		k++;
	struct inflate *z = xcalloc(1, sizeof(*z));
	z->kind = k < ARRAY_LEN(kinds) ? (enum kind)k : GZIP;
	if (load(z->kind) && start(z))
		return z;
	if (kinds[z->kind].library)
		err_set(err, EXIT_ENVIRON, "cannot decompress %s: %s is missing", kinds[z->kind].name, kinds[z->kind].library);
	else
		err_set(err, EXIT_ENVIRON, "cannot initialize zlib");
	free(z);
	return NULL;
}

void inflate_close(struct inflate *z)
{
	if (!z)
		return;
	switch (z->kind) {
	case GZIP: inflateEnd(&z->z); break;
	case XZ: lzma.end(&z->xz); break;
	case ZSTD: zstd.free(z->zstd); break;
	}
	free(z);
}

const char *inflate_lost(const struct inflate *z, bool early) { return early ? kinds[z->kind].early : kinds[z->kind].corrupt; }

static enum inflate_result gzip_step(struct inflate *z, const char *from, size_t n, size_t *used, char *to, size_t room, size_t *made)
{
	const uInt in = n > UINT32_MAX ? UINT32_MAX : (uInt)n, out = room > UINT32_MAX ? UINT32_MAX : (uInt)room;
	z->z.next_in = (Bytef *)(uintptr_t)from;
	z->z.avail_in = in;
	z->z.next_out = (Bytef *)to;
	z->z.avail_out = out;
	int r = z->ended && inflateReset(&z->z) != Z_OK ? Z_DATA_ERROR : inflate(&z->z, Z_NO_FLUSH);
	*used = in - z->z.avail_in;
	*made = out - z->z.avail_out;
	return r == Z_STREAM_END ? INFLATE_ENDED : r == Z_OK || r == Z_BUF_ERROR ? INFLATE_MORE : INFLATE_CORRUPT;
}

static enum inflate_result xz_step(struct inflate *z, const char *from, size_t n, size_t *used, char *to, size_t room, size_t *made)
{
	if (z->ended && lzma.decoder(&z->xz, LZMA_MEMORY, 0) != LZMA_OK)
		return INFLATE_CORRUPT;
	z->xz.next_in = (const uint8_t *)from;
	z->xz.avail_in = n;
	z->xz.next_out = (uint8_t *)to;
	z->xz.avail_out = room;
	int r = lzma.code(&z->xz, LZMA_RUN);
	*used = n - z->xz.avail_in;
	*made = room - z->xz.avail_out;
	return r == LZMA_STREAM_END ? INFLATE_ENDED : r == LZMA_OK || r == LZMA_BUF_ERROR ? INFLATE_MORE : INFLATE_CORRUPT;
}

static enum inflate_result zstd_step(struct inflate *z, const char *from, size_t n, size_t *used, char *to, size_t room, size_t *made)
{
	struct zstd_in in = {from, n, 0};
	struct zstd_out out = {to, room, 0};
	size_t r = zstd.decompress(z->zstd, &out, &in);
	*used = in.pos;
	*made = out.pos;
	return zstd.is_error(r) ? INFLATE_CORRUPT : r ? INFLATE_MORE : INFLATE_ENDED;
}

enum inflate_result inflate_step(struct inflate *z, const char *from, size_t n, size_t *used, char *to, size_t room, size_t *made)
{
	*used = *made = 0;
	if (z->ended && !n)
		return INFLATE_ENDED;
	if (z->ended && *from == 0) { /* padding: tape blocks, xz's multiples of four */
		*used = 1;
		return INFLATE_ENDED;
	}
	enum inflate_result r = z->kind == GZIP ? gzip_step(z, from, n, used, to, room, made)
				: z->kind == XZ ? xz_step(z, from, n, used, to, room, made)
						: zstd_step(z, from, n, used, to, room, made);
	z->ended = r == INFLATE_ENDED;
	return r;
}
