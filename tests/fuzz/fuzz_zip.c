/* Any bytes as a zip archive: what is found is found by name, lies in the archive or has the size that was stated, and overlaps nothing. */
#include "base/io/zip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
	if (!ok)
		abort();
}

static void one(struct zip *z, struct zip_member *m, struct buf *head)
{
	struct slice all, first;
	struct err err;
	struct zip_member *found = zip_find(z, m->name);
	require(found && found >= m && slice_eq(found->name, m->name));
	require(m->header < m->limit && m->limit <= z->bytes.n);
	if (zip_head(z, m, 16, head, &first, &err) < 0)
		return;
	require(m->offset > m->header && m->offset + m->packed <= m->limit);
	if (zip_data(z, m, &all, &err) < 0)
		return;
	require(all.n == m->size);
	require(first.n <= all.n && (!first.n || !memcmp(all.p, first.p, first.n)));
	if (m->method == 0)
		require(all.p == z->bytes.p + m->offset);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct zip z;
	struct err err;
	struct buf head = {0};
	struct slice bytes = slice_of((const char *)data, size);
	if (zip_open(&z, bytes, "fuzz", &err) < 0)
		return 0;
	require(zip_like(bytes));
	for (size_t i = 0; i < z.n; i++)
		one(&z, &z.v[i], &head);
	buf_release(&head);
	zip_close(&z);
	return 0;
}
