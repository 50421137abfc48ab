/* Writes like torch.save (torch 2.13: torch/serialization.py _save, caffe2/serialize/inline_container.cc, torch/_tensor.py
 * __reduce_ex__): a zip archive of stored members, whose data begins at multiples of 64 bytes,
 *     archive/data.pkl            protocol 2; a tensor is a call of torch._utils._rebuild_tensor_v2, or _v3 for the dtypes that
 *                                 came after typed storages
 *     archive/.format_version "1", .storage_alignment "64", byteorder "little", version "3\n"
 *     archive/data/0 ...          the storages
 *     archive/.data/serialization_id
 * Sizes and checksums follow the data (write_zip.c), as in torch's own files.
 */
#include "tensor/write_part.h"

#define ROOT "archive/"

/* ---- the pickle ---- */

static void put32(struct buf *b, uint64_t v)
{
	uint32_t w = (uint32_t)v;
	buf_add(b, &w, 4);
}

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
	buf_adds(b, "\x89"
		    "ccollections\nOrderedDict\n)R"); /* needs no gradient, no hooks */
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

/* torch uses a hash of the records; any number works. This one is a hash of the pickle, which has names and sizes. */
static int put_id(struct archive *a, const struct buf *pickle)
{
	uint64_t h = 1469598103934665603u;
	char id[48];
	for (size_t i = 0; i < pickle->len; i++)
		h = (h ^ (uint8_t)pickle->p[i]) * 1099511628211u;
	snprintf(id, sizeof(id), "%020llu%020llu", (unsigned long long)h, (unsigned long long)pickle->len);
	return archive_put(a, ROOT ".data/serialization_id", id, 40);
}

/* data.pkl and the members that describe the format; and at the end its version, id and directory. */
static int begin_file(struct archive *a, const struct buf *pickle)
{
	return archive_put(a, ROOT "data.pkl", pickle->p, pickle->len) < 0 || archive_put(a, ROOT ".format_version", "1", 1) < 0 ||
		       archive_put(a, ROOT ".storage_alignment", "64", 2) < 0 || archive_put(a, ROOT "byteorder", "little", 6) < 0
		   ? -1
		   : 0;
}

static int end_file(struct archive *a, const struct buf *pickle)
{
	return archive_put(a, ROOT "version", "3\n", 2) < 0 || put_id(a, pickle) < 0 || archive_end(a) < 0 ? -1 : 0;
}

int pt_write_storage(struct sink *s, struct slice bytes, struct slice device)
{
	struct archive a = {.s = s};
	struct buf pickle = {0};
	buf_adds(&pickle, "\x80\x02(");
	pickle_str(&pickle, SLICE("storage"));
	buf_adds(&pickle, "ctorch.storage\nUntypedStorage\n");
	pickle_str(&pickle, SLICE("0"));
	pickle_str(&pickle, device.n ? device : SLICE("cpu"));
	pickle_int(&pickle, (int64_t)bytes.n);
	buf_adds(&pickle, "tQ.");
	const int rc = begin_file(&a, &pickle) < 0 || archive_put(&a, ROOT "data/0", bytes.p, bytes.n) < 0 || end_file(&a, &pickle) < 0;
	buf_release(&pickle);
	archive_release(&a);
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
		rc = archive_put(&a, name, v[i].data, (uint64_t)bytes);
	}
	if (!rc)
		rc = end_file(&a, &pickle);
	buf_release(&pickle);
	archive_release(&a);
	return rc;
}
