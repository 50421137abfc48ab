/* What torch.save writes (torch 2.13: torch/serialization.py _save, caffe2/serialize/inline_container.cc, torch/_tensor.py
 * __reduce_ex__): a zip archive of stored members, whose data begins at multiples of 64 bytes,
 *     archive/data.pkl            protocol 2; a tensor is a call of torch._utils._rebuild_tensor_v2, or _v3 for the dtypes that
 *                                 came after typed storages
 *     archive/.format_version "1", .storage_alignment "64", byteorder "little", version "3\n"
 *     archive/data/0 ...          the storages
 *     archive/.data/serialization_id
 * Sizes and checksums follow the data (flag 8), as in torch's own files; names are UTF-8 (flag 0x800).
 */
#include "tensor/write_part.h"

#define ROOT "archive/"
#define ZIP32_MAX 0xffffffffu

struct archive {
	struct sink *s;
	struct buf directory;
	uint64_t members;
};

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

/* ---- zip (PKWARE's APPNOTE.TXT 6.3.10) ---- */

static int put_buf(struct sink *s, struct buf *b)
{
	int rc = sink_put(s, b->p, b->len);
	buf_release(b);
	return rc;
}

/* The local header, padded in an extra field ("FB", as torch has it) so that data begins at a multiple of 64. */
static int begin_member(struct archive *a, const char *name, bool big)
{
	struct buf b = {0};
	size_t n = strlen(name), fixed = 30 + n + (big ? 20 : 0) + 4, pad = (64 - (a->s->at + fixed) % 64) % 64;
	buf_add(&b, "PK\3\4", 4);
	put16(&b, big ? 45 : 20);
	put16(&b, 0x808);
	put16(&b, 0);
	put32(&b, 0); /* time and date: none, so that the same tensors give the same file */
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

static int end_member(struct archive *a, const char *name, bool big, uint64_t header, uint64_t size)
{
	struct buf b = {0}, *d = &a->directory;
	const bool far = big || header >= ZIP32_MAX;
	buf_add(&b, "PK\7\10", 4);
	put32(&b, a->s->crc);
	for (int i = 0; i < 2; i++) {
		if (big)
			put64(&b, size);
		else
			put32(&b, size);
	}
	buf_add(d, "PK\1\2", 4);
	put16(d, 45);
	put16(d, far ? 45 : 20);
	put16(d, 0x808);
	put16(d, 0);
	put32(d, 0);
	put32(d, a->s->crc);
	put32(d, far ? ZIP32_MAX : size);
	put32(d, far ? ZIP32_MAX : size);
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
		put64(d, size);
		put64(d, size);
		put64(d, header);
	}
	a->members++;
	return put_buf(a->s, &b);
}

static int put_member(struct archive *a, const char *name, const void *p, uint64_t size)
{
	const uint64_t header = a->s->at;
	const bool big = size >= ZIP32_MAX;
	if (begin_member(a, name, big) < 0)
		return -1;
	a->s->crc = 0;
	a->s->sum = true;
	int rc = sink_put_run(a->s, p, size);
	a->s->sum = false;
	return rc < 0 ? -1 : end_member(a, name, big, header, size);
}

static int put_directory(struct archive *a)
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
	return sink_put(a->s, d->p, d->len);
}

/* ---- the pickle ---- */

static void pickle_str(struct buf *b, struct slice s)
{
	buf_addc(b, 'X');
	put32(b, s.n);
	buf_add_slice(b, s);
}

static void pickle_int(struct buf *b, int64_t v)
{
	if (v >= 0 && v < 256) {
		buf_addc(b, 'K');
		buf_addc(b, (char)v);
	} else if (v >= INT32_MIN && v <= INT32_MAX) {
		int32_t w = (int32_t)v;
		buf_addc(b, 'J');
		buf_add(b, &w, 4);
	} else {
		buf_add(b, "\x8a\x08", 2); /* LONG1 of 8 bytes */
		buf_add(b, &v, 8);
	}
}

static void pickle_ints(struct buf *b, const int64_t *v, int n)
{
	buf_addc(b, n ? '(' : ')');
	for (int i = 0; i < n; i++)
		pickle_int(b, v[i]);
	if (n)
		buf_addc(b, 't');
}

static void pickle_tensor(struct buf *b, const struct tensor_view *v, size_t i)
{
	const struct tensor_meta *m = &v->meta;
	if (tensor_is_none(v)) {
		buf_addc(b, 'N');
		return;
	}
	const struct dtype_info *t = dtype_info(m->dtype);
	const bool typed = *t->storage;
	char key[24];
	int64_t bytes;
	tensor_extent(m, &bytes);
	snprintf(key, sizeof(key), "%zu", i);
	buf_addf(b, "ctorch._utils\n_rebuild_tensor_v%d\n((", typed ? 2 : 3);
	pickle_str(b, SLICE("storage"));
	if (typed)
		buf_addf(b, "ctorch\n%s\n", t->storage);
	else
		buf_adds(b, "ctorch.storage\nUntypedStorage\n");
	pickle_str(b, slice_str(key));
	pickle_str(b, SLICE("cpu"));
	pickle_int(b, typed ? bytes / t->bytes : bytes);
	buf_adds(b, "tQK");
	buf_addc(b, 0); /* where the first element is */
	pickle_ints(b, m->size, m->n_dim);
	pickle_ints(b, m->stride, m->n_dim);
	buf_adds(b, "\x89" "ccollections\nOrderedDict\n)R"); /* needs no gradient, no hooks */
	if (!typed)
		buf_addf(b, "ctorch\n%s\n", t->name);
	buf_adds(b, "tR");
}

static int pickle_all(struct sink *s, struct buf *b, const struct tensor_view *v, size_t n, bool named)
{
	buf_adds(b, "\x80\x02");
	if (named || n != 1)
		buf_adds(b, named ? "}(" : "](");
	for (size_t i = 0; i < n; i++) {
		if (v[i].name.n > UINT32_MAX)
			return err_set(s->err, EXIT_INPUT, "'%s': a tensor's name is too long", s->what);
		if (named)
			pickle_str(b, v[i].name);
		pickle_tensor(b, &v[i], i);
	}
	if (named || n != 1)
		buf_addc(b, named ? 'u' : 'e');
	buf_addc(b, '.');
	return 0;
}

/* ---- the file ---- */

/* torch's is a hash of the records; any number will do. This one is of the pickle, which tells names and sizes. */
static int put_id(struct archive *a, const struct buf *pickle)
{
	uint64_t h = 1469598103934665603u;
	char id[48];
	for (size_t i = 0; i < pickle->len; i++)
		h = (h ^ (uint8_t)pickle->p[i]) * 1099511628211u;
	snprintf(id, sizeof(id), "%020llu%020llu", (unsigned long long)h, (unsigned long long)pickle->len);
	return put_member(a, ROOT ".data/serialization_id", id, 40);
}

/* data.pkl and what says how the file is to be read; and at the end its version, id and directory. */
static int begin_file(struct archive *a, const struct buf *pickle)
{
	return put_member(a, ROOT "data.pkl", pickle->p, pickle->len) < 0 || put_member(a, ROOT ".format_version", "1", 1) < 0 ||
	       put_member(a, ROOT ".storage_alignment", "64", 2) < 0 || put_member(a, ROOT "byteorder", "little", 6) < 0 ? -1 : 0;
}

static int end_file(struct archive *a, const struct buf *pickle)
{
	return put_member(a, ROOT "version", "3\n", 2) < 0 || put_id(a, pickle) < 0 || put_directory(a) < 0 ? -1 : 0;
}

int pt_write_storage(struct sink *s, struct slice bytes)
{
	struct archive a = {.s = s};
	struct buf pickle = {0};
	buf_adds(&pickle, "\x80\x02(");
	pickle_str(&pickle, SLICE("storage"));
	buf_adds(&pickle, "ctorch.storage\nUntypedStorage\n");
	pickle_str(&pickle, SLICE("0"));
	pickle_str(&pickle, SLICE("cpu"));
	pickle_int(&pickle, (int64_t)bytes.n);
	buf_adds(&pickle, "tQ.");
	const int rc = begin_file(&a, &pickle) < 0 || put_member(&a, ROOT "data/0", bytes.p, bytes.n) < 0 || end_file(&a, &pickle) < 0;
	buf_release(&pickle);
	buf_release(&a.directory);
	return rc ? -1 : 0;
}

int pt_write(struct sink *s, const struct tensor_view *v, size_t n, bool named)
{
	struct archive a = {.s = s};
	struct buf pickle = {0};
	int rc = pickle_all(s, &pickle, v, n, named);
	if (!rc)
		rc = begin_file(&a, &pickle);
	for (size_t i = 0; i < n && !rc; i++) {
		char name[48];
		int64_t bytes;
		if (tensor_is_none(&v[i]))
			continue;
		tensor_extent(&v[i].meta, &bytes);
		snprintf(name, sizeof(name), ROOT "data/%zu", i);
		rc = put_member(&a, name, v[i].data, (uint64_t)bytes);
	}
	if (!rc)
		rc = end_file(&a, &pickle);
	buf_release(&pickle);
	buf_release(&a.directory);
	return rc;
}
