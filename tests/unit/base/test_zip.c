/* base/io/zip and base/io/mapfile: archives as they come, and archives that lie. */
#include "../../lib/test.h"
#include "../../lib/missing.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/mkzip.h"
#include "base/io/mapfile.h"
#include "base/io/tempfile.h"
#include "base/io/zip.h"

static struct guard g;

/* All of an archive: opened, looked up by name, read. 0, or -1 and why. */
static int read_all(struct slice bytes, struct err *err)
{
	struct zip z;
	struct slice data;
	struct buf head = {0};
	int r = 0;
	if (zip_open(&z, slice_of(guard_put(&g, bytes.p, bytes.n), bytes.n), "t.zip", err) < 0)
		return -1;
	for (size_t i = 0; i < z.n; i++) {
		struct zip_member *m = zip_find(&z, z.v[i].name);
		assert_non_null(m);
		if (zip_head(&z, m, 10, &head, &data, err) < 0 || zip_data(&z, m, &data, err) < 0)
			r = -1;
		else if (m->crc)
			assert_int_equal(crc32(0, (const Bytef *)data.p, (uInt)data.n), m->crc);
	}
	buf_release(&head);
	zip_close(&z);
	return r;
}

static void refused(struct slice bytes, const char *why)
{
	struct err err = {0};
	assert_int_equal(read_all(bytes, &err), -1);
	if (!strstr(err.text, why) || !slice_starts(slice_str(err.text), "'t.zip': ") || err.status != EXIT_INPUT)
		fail_msg("'%s' has no '%s'", err.text, why);
}

static const char text[] = "some text, some text, some text, some text, some text, some text";

static void sample(struct mkzip *z, unsigned flags)
{
	*z = (struct mkzip){0};
	mkzip_add(z, "one", SLICE("first"), flags & ~(unsigned)MKZIP_DEFLATE);
	mkzip_add(z, "dir/two", slice_str(text), flags);
	mkzip_add(z, "empty", SLICE(""), flags & ~(unsigned)MKZIP_DEFLATE);
}

static void test_members(void **state)
{
	(void)state;
	for (unsigned flags = 0; flags < 16; flags++) {
		struct mkzip z;
		struct zip in;
		struct err err = {0};
		struct slice data;
		sample(&z, flags & 7);
		z.zip64 = flags & 8;
		mkzip_end(&z);
		struct slice b = slice_of(guard_put(&g, z.b.p, z.b.len), z.b.len);
		assert_true(zip_like(b));
		assert_int_equal(zip_open(&in, b, "t.zip", &err), 0);
		assert_int_equal(in.n, 3);
		assert_null(zip_find(&in, SLICE("tw")));
		assert_null(zip_find(&in, SLICE("zzz")));
		assert_null(zip_find(&in, SLICE("")));
		struct zip_member *m = zip_find(&in, SLICE("dir/two"));
		assert_ptr_equal(m, &in.v[1]);
		assert_int_equal(zip_data(&in, m, &data, &err), 0);
		assert_text(data, text);
		if (!(flags & MKZIP_DEFLATE))
			assert_ptr_equal(data.p, b.p + m->offset); /* in place */
		struct slice again;
		assert_int_equal(zip_data(&in, m, &again, &err), 0);
		assert_ptr_equal(again.p, data.p);
		struct buf head = {0};
		assert_int_equal(zip_head(&in, m, 9, &head, &data, &err), 0);
		assert_true(slice_starts(data, "some text"));
		assert_int_equal(zip_data(&in, zip_find(&in, SLICE("empty")), &data, &err), 0);
		assert_int_equal(data.n, 0);
		buf_release(&head);
		zip_close(&in);
		mkzip_release(&z);
	}
}

static void test_real_archives(void **state)
{
	(void)state;
	static const struct {
		const char *file, *member;
		size_t members, size;
	} real[] = {
	    {"aoti/io/mlp.npz", "in0.npy", 2, 128 + 96},
	    {"aoti/io/mlp.pt", "mlp/data/0", 8, 96},
	    {"aoti/io/mixed.pt", "mixed/data/3", 11, 480},
	    {"aoti/mlp.pt2.xz", NULL, 10, 0},
	};
	for (size_t i = 0; i < ARRAY_LEN(real); i++) {
		struct buf b = {0};
		struct zip z;
		struct err err = {0};
		assert_true(data_load(real[i].file, &b));
		assert_int_equal(read_all(buf_slice(&b), &err), 0);
		assert_int_equal(zip_open(&z, buf_slice(&b), real[i].file, &err), 0);
		assert_int_equal(z.n, real[i].members);
		if (real[i].member) {
			struct zip_member *m = zip_find(&z, slice_str(real[i].member));
			assert_non_null(m);
			assert_int_equal(m->size, real[i].size);
		}
		zip_close(&z);
		buf_release(&b);
	}
}

/* A program that extracts itself: everything counts from where the archive begins. */
static void test_prefix(void **state)
{
	(void)state;
	for (unsigned zip64 = 0; zip64 < 2; zip64++) {
		struct mkzip z = {0};
		struct err err = {0};
		buf_adds(&z.b, "#!/bin/sh\nexit 1\n");
		z.base = z.b.len;
		z.zip64 = zip64;
		mkzip_add(&z, "one", SLICE("first"), zip64 ? MKZIP_ZIP64 : 0);
		mkzip_end(&z);
		if (read_all(buf_slice(&z.b), &err) < 0)
			fail_msg("%s", err.text);
		mkzip_release(&z);
	}
}

static void test_twice(void **state)
{
	(void)state;
	struct mkzip z = {0};
	struct zip in;
	struct slice data;
	mkzip_add(&z, "a", SLICE("old"), 0);
	mkzip_add(&z, "a", SLICE("new"), 0);
	mkzip_add(&z, "Z", SLICE("z"), 0);
	mkzip_end(&z);
	assert_int_equal(zip_open(&in, buf_slice(&z.b), "t.zip", NULL), 0);
	assert_int_equal(zip_data(&in, zip_find(&in, SLICE("a")), &data, NULL), 0);
	assert_text(data, "new");
	zip_close(&in);
	mkzip_release(&z);
}

/* Cut anywhere, it is refused with a reason. */
static void test_truncated(void **state)
{
	(void)state;
	struct mkzip z;
	sample(&z, MKZIP_DEFLATE);
	z.zip64 = true;
	mkzip_end(&z);
	for (size_t n = 0; n < z.b.len; n++)
		refused(slice_of(z.b.p, n), n == 0 ? "is empty" : n < 4 ? "is not a zip archive" : "truncated");
	mkzip_release(&z);
	refused(SLICE("no archive at all, but long enough for an end record"), "is not a zip archive");
}

/* Every byte changed in some ways: an answer or a reason, no crash, and never data with a wrong checksum. */
static void test_flipped(void **state)
{
	(void)state;
	for (unsigned flags = 0; flags < 8; flags++) {
		struct mkzip z;
		sample(&z, flags);
		z.zip64 = flags & MKZIP_ZIP64;
		mkzip_end(&z);
		for (size_t i = 0; i < z.b.len; i++)
			for (unsigned bit = 0; bit < 9; bit++) {
				struct err err = {0};
				char old = z.b.p[i];
				z.b.p[i] = (char)(bit == 8 ? 0xff : old ^ 1 << bit);
				if (read_all(buf_slice(&z.b), &err) < 0)
					assert_true(err.text[0] == '\'');
				z.b.p[i] = old;
			}
		mkzip_release(&z);
	}
}

static void lie(unsigned flags, void (*change)(struct mkzip *z), const char *why)
{
	struct mkzip z;
	sample(&z, flags);
	change(&z);
	mkzip_end(&z);
	refused(buf_slice(&z.b), why);
	mkzip_release(&z);
}

static void lie_header(struct mkzip *z) { z->entry[1].header--; }
static void lie_far(struct mkzip *z) { z->entry[1].header = 1 << 30; }
static void lie_wrap(struct mkzip *z) { z->entry[1].header = UINT64_MAX - 10; }
static void lie_packed(struct mkzip *z) { z->entry[2].packed = 1 << 30; }
static void lie_packed_wrap(struct mkzip *z) { z->entry[1].packed = UINT64_MAX - 40; }
static void lie_size(struct mkzip *z) { z->entry[1].size += 1; }
static void lie_same(struct mkzip *z) { z->entry[1].header = z->entry[0].header; }
static void lie_into(struct mkzip *z) { z->entry[0].packed = z->entry[0].size = 60; }
static void lie_crc(struct mkzip *z) { z->entry[1].crc ^= 1; }
static void lie_name(struct mkzip *z) { z->entry[1].name[0] = 'D'; }
static void lie_method(struct mkzip *z) { z->entry[1].method = 14; }
static void lie_encrypted(struct mkzip *z) { z->entry[1].bits |= 1; }
static void lie_count(struct mkzip *z) { z->entries = 5; }
static void lie_count64(struct mkzip *z)
{
	z->entries = 1ull << 40;
	z->zip64 = true;
}

static void test_lies(void **state)
{
	(void)state;
	lie(0, lie_header, "no local header is where the directory says");
	lie(0, lie_far, "lies outside of the archive");
	lie(MKZIP_ZIP64, lie_wrap, "lies outside of the archive");
	lie(0, lie_packed, "lies outside of the archive");
	lie(MKZIP_ZIP64, lie_packed_wrap, "lies outside of the archive");
	lie(0, lie_size, "its local header contradicts the directory");
	lie(MKZIP_DEFLATE | MKZIP_STREAMED, lie_size, "its compressed data is damaged");
	lie(MKZIP_STREAMED, lie_size, "its two sizes differ");
	lie(0, lie_same, "overlaps the next one");
	lie(0, lie_into, "overlaps the next one");
	lie(0, lie_crc, "its local header contradicts the directory");
	lie(MKZIP_STREAMED, lie_crc, "its checksum is wrong");
	lie(MKZIP_DEFLATE | MKZIP_STREAMED, lie_crc, "its checksum is wrong");
	lie(0, lie_name, "its local header contradicts the directory");
	lie(0, lie_method, "is compressed with lzma (14)");
	lie(0, lie_encrypted, "is encrypted");
	lie(0, lie_count, "its directory has 3 members, its end record says 8");
	lie(0, lie_count64, "its end record says 1099511627779");
}

/* Small ones, and one that memory has no room for: words around ZIP_MAX_HEAP of zeros. */
static void large(struct mkzip *z)
{
	struct buf b = {0};
	buf_adds(&b, "begin");
	memset(buf_room(&b, ZIP_MAX_HEAP), 0, ZIP_MAX_HEAP);
	buf_wrote(&b, ZIP_MAX_HEAP);
	buf_adds(&b, "end");
	sample(z, MKZIP_DEFLATE | MKZIP_STREAMED);
	mkzip_add(z, "large", buf_slice(&b), MKZIP_DEFLATE | MKZIP_STREAMED);
	buf_release(&b);
}

static void test_large(void **state)
{
	(void)state;
	struct mkzip z;
	struct zip in;
	struct slice data, small;
	struct err err;
	struct stat st;
	large(&z);
	mkzip_end(&z);
	int fd = temp_file(&err);
	for (int copied = 0; copied < 2; copied++) {
		assert_int_equal(zip_open(&in, buf_slice(&z.b), "t.zip", &err), 0);
		struct zip_member *m = zip_find(&in, SLICE("large"));
		if (copied)
			assert_int_equal(zip_copy(&in, m, fd, "copy", &err), 0);
		assert_int_equal(zip_data(&in, m, &data, &err), 0);
		assert_true(m->mapped && in.heap == 0);
		assert_true(data.n == ZIP_MAX_HEAP + 8 && slice_starts(data, "begin") && slice_ends(data, "end"));
		for (size_t i = 0; i < ZIP_MAX_HEAP; i += 4096)
			assert_int_equal(data.p[5 + i], 0);
		assert_int_equal(zip_data(&in, zip_find(&in, SLICE("dir/two")), &small, &err), 0);
		assert_text(small, text);
		assert_int_equal(in.heap, small.n);
		assert_int_equal(zip_text(&in, m, &small, &err), -1);
		assert_string_equal(err.text, "'t.zip': 'large' has 64 MiB when inflated: of a compressed text at most 64 MiB are read");
		/* Once it is there, it is copied from there. */
		if (!copied)
			assert_int_equal(zip_copy(&in, zip_find(&in, SLICE("dir/two")), fd, "copy", &err), 0);
		zip_close(&in);
	}
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, sizeof(text) - 1 + ZIP_MAX_HEAP + 8);
	assert_true(st.st_blocks * 512 < 4 << 20); /* the zeros are no bytes of the disk */
	char end[8] = "";
	assert_int_equal(pread(fd, end, 3, st.st_size - 3), 3);
	assert_string_equal(end, "end");
	close(fd);
	setenv("TMPDIR", missing_path("folder"), 1);
	assert_int_equal(read_all(buf_slice(&z.b), &err), -1);
	assert_true(err.status == EXIT_ENVIRON && strstr(err.text, "TMPDIR"));
	unsetenv("TMPDIR");
	mkzip_release(&z);
}

static void lie_large_size(struct mkzip *z) { z->entry[3].size -= 1; }
static void lie_large_more(struct mkzip *z) { z->entry[3].size += 1; }
static void lie_large_crc(struct mkzip *z) { z->entry[3].crc ^= 1; }
static void lie_large_packed(struct mkzip *z) { z->entry[3].packed += 1; }

static void test_large_lies(void **state)
{
	(void)state;
	static const struct {
		void (*change)(struct mkzip *z);
		const char *why;
	} lies[] = {{lie_large_size, "its compressed data is damaged"},
		    {lie_large_more, "its compressed data is damaged"},
		    {lie_large_packed, "its compressed data is damaged"},
		    {lie_large_crc, "its checksum is wrong"}};
	for (size_t i = 0; i < ARRAY_LEN(lies); i++) {
		struct mkzip z;
		large(&z);
		lies[i].change(&z);
		mkzip_end(&z);
		refused(buf_slice(&z.b), lies[i].why);
		mkzip_release(&z);
	}
}

static void lie_bomb(struct mkzip *z) { z->entry[1].size = 1ull << 30; }
static void lie_huge(struct mkzip *z) { z->entry[1].size = 1ull << 62; }

/* Sizes that the bytes cannot give are refused before memory is asked for. */
static void test_bombs(void **state)
{
	(void)state;
	lie(MKZIP_DEFLATE | MKZIP_STREAMED, lie_bomb, "its size cannot come from its compressed bytes");
	lie(MKZIP_DEFLATE | MKZIP_STREAMED | MKZIP_ZIP64, lie_huge, "larger than 2 GiB when inflated");
	/* A real one, of zeros: allowed up to the limit, for its directory is honest. */
	struct buf zeros = {0};
	memset(buf_room(&zeros, 1 << 20), 0, 1 << 20);
	buf_cut(&zeros, 1 << 20);
	struct mkzip z = {0};
	struct err err;
	mkzip_add(&z, "zeros", buf_slice(&zeros), MKZIP_DEFLATE);
	mkzip_end(&z);
	assert_true(z.b.len < 2000);
	assert_int_equal(read_all(buf_slice(&z.b), &err), 0);
	mkzip_release(&z);
	buf_release(&zeros);
}

static void no_crc(struct mkzip *z) { z->entry[0].crc = z->entry[1].crc = 0; }

/* torch.serialization.set_crc32_options(False) writes 0. */
static void test_no_checksum(void **state)
{
	(void)state;
	struct mkzip z;
	struct err err;
	sample(&z, MKZIP_STREAMED);
	no_crc(&z);
	mkzip_end(&z);
	assert_int_equal(read_all(buf_slice(&z.b), &err), 0);
	mkzip_release(&z);
}

static void test_end_record(void **state)
{
	(void)state;
	struct mkzip z;
	struct err err;
	sample(&z, 0);
	mkzip_end(&z);
	/* A comment with another end record in it. */
	z.b.p[z.b.len - 2] = 26;
	buf_add(&z.b, "hi, ", 4);
	buf_add(&z.b, "PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\7\0", 22);
	assert_int_equal(read_all(buf_slice(&z.b), &err), 0);
	buf_cut(&z.b, z.b.len - 26);
	z.b.p[z.b.len - 2] = 0;
	z.b.p[z.end + 4] = 1;
	refused(buf_slice(&z.b), "spanned");
	z.b.p[z.end + 4] = 0;
	z.b.p[z.end + 15] = 0x7f; /* size of the directory */
	refused(buf_slice(&z.b), "its directory does not fit");
	mkzip_release(&z);
	assert_false(zip_like(SLICE("")));
	assert_false(zip_like(SLICE("PK")));
	assert_true(zip_like(SLICE("PK\3\4")));
}

/* 10,000 members: opened and each found. Generous, for a machine that does other things; it takes 2 ms. */
static void test_many(void **state)
{
	(void)state;
	enum { N = 10000 };
	struct buf b = {0}, dir = {0};
	struct zip z;
	char name[32];
	for (unsigned i = 0; i < N; i++) {
		size_t header = b.len, n = (size_t)snprintf(name, sizeof(name), "archive/data/%u", i);
		mkzip_int(&b, 4, 0x04034b50);
		mkzip_int(&b, 8, 0);
		mkzip_int(&b, 8, 0);
		mkzip_int(&b, 6, 0);
		mkzip_int(&b, 4, n);
		buf_adds(&b, name);
		mkzip_int(&dir, 4, 0x02014b50);
		for (unsigned k = 0; k < 3; k++)
			mkzip_int(&dir, 8, 0);
		mkzip_int(&dir, 4, n);
		mkzip_int(&dir, 8, 0);
		mkzip_int(&dir, 2, 0);
		mkzip_int(&dir, 4, header);
		buf_adds(&dir, name);
	}
	size_t at = b.len;
	buf_add_slice(&b, buf_slice(&dir));
	mkzip_int(&b, 8, 0x06054b50);
	mkzip_int(&b, 2, N);
	mkzip_int(&b, 2, N);
	mkzip_int(&b, 4, dir.len);
	mkzip_int(&b, 4, at);
	mkzip_int(&b, 2, 0);
	clock_t start = clock();
	struct err err = {0};
	if (zip_open(&z, buf_slice(&b), "t.zip", &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(z.n, N);
	for (unsigned i = 0; i < N; i++) {
		snprintf(name, sizeof(name), "archive/data/%u", i);
		assert_ptr_equal(zip_find(&z, slice_str(name)), &z.v[i]);
	}
	assert_true(clock() - start < CLOCKS_PER_SEC);
	zip_close(&z);
	buf_release(&b);
	buf_release(&dir);
}

/* ---- mapfile ---- */

static void test_mapfile(void **state)
{
	(void)state;
	char dir[] = "/tmp/test_zip.XXXXXX", path[64];
	struct mapfile f;
	struct err err = {0};
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/f", dir);
	assert_int_equal(mapfile_open(&f, path, &err), -1);
	assert_non_null(strstr(err.text, "cannot open '"));
	assert_int_equal(mapfile_open(&f, dir, &err), -1);
	assert_non_null(strstr(err.text, "is a directory"));
	assert_int_equal(mapfile_open(&f, "/dev/zero", &err), -1);
	assert_non_null(strstr(err.text, "is a device"));
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	assert_int_equal(mapfile_open(&f, path, &err), 0);
	assert_int_equal(f.bytes.n, 0);
	mapfile_close(&f);
	assert_int_equal(write(fd, "text", 4), 4);
	int at = open(dir, O_RDONLY | O_DIRECTORY);
	assert_int_equal(mapfile_openat(&f, at, "f", "shown", &err), 0);
	assert_true(f.mapped && f.fd >= 0);
	assert_text(f.bytes, "text");
	assert_string_equal(f.path, "shown");
	mapfile_close(&f);
	mapfile_close(&f); /* twice is fine */
	close(at);
	/* A file of many GB costs nothing. */
	assert_int_equal(ftruncate(fd, 5ll << 30), 0);
	assert_int_equal(mapfile_open(&f, path, &err), 0);
	assert_int_equal(f.bytes.n, 5ull << 30);
	assert_true(slice_starts(f.bytes, "text"));
	mapfile_close(&f);
	close(fd);
	unlink(path);
	rmdir(dir);
}

/* Standard input: a pipe is read whole, a file mapped, and one that was begun is read from there. */
static void test_stdin(void **state)
{
	(void)state;
	int old = dup(STDIN_FILENO), pipes[2];
	struct mapfile f;
	struct err err = {0};
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(write(pipes[1], "from a pipe", 11), 11);
	close(pipes[1]);
	dup2(pipes[0], STDIN_FILENO);
	close(pipes[0]);
	assert_int_equal(mapfile_open(&f, "-", &err), 0);
	assert_text(f.bytes, "from a pipe");
	assert_false(f.mapped);
	assert_string_equal(f.path, "(standard input)");
	mapfile_close(&f);
	char path[] = "/tmp/test_zip.XXXXXX";
	int fd = mkstemp(path);
	unlink(path);
	assert_int_equal(write(fd, "a file", 6), 6);
	lseek(fd, 0, SEEK_SET);
	dup2(fd, STDIN_FILENO);
	assert_int_equal(mapfile_open(&f, "-", &err), 0);
	assert_true(f.mapped);
	mapfile_close(&f);
	lseek(fd, 2, SEEK_SET);
	assert_int_equal(mapfile_open(&f, "-", &err), 0);
	assert_text(f.bytes, "file");
	mapfile_close(&f);
	close(fd);
	dup2(old, STDIN_FILENO);
	close(old);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_members), cmocka_unit_test(test_real_archives), cmocka_unit_test(test_prefix),
	    cmocka_unit_test(test_twice),   cmocka_unit_test(test_truncated),     cmocka_unit_test(test_flipped),
	    cmocka_unit_test(test_lies),    cmocka_unit_test(test_large),         cmocka_unit_test(test_large_lies),
	    cmocka_unit_test(test_bombs),   cmocka_unit_test(test_no_checksum),   cmocka_unit_test(test_end_record),
	    cmocka_unit_test(test_many),    cmocka_unit_test(test_mapfile),       cmocka_unit_test(test_stdin),
	};
	int r = RUN(tests);
	guard_release(&g);
	return r;
}
