/* What compute-sanitizer wrote, in the forms of its releases. */
#include "../../lib/test.h"

#include "watch/sanitizer.h"

static void read_corpus(struct sanitizer *s, const char *name)
{
	const char *root = getenv("PT2_SOURCE");
	char *path = xasprintf("%s%stests/fuzz/corpus/sanitizer/%s", root ? root : "", root ? "/" : "", name);
	struct buf b = {0};
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	buf_cut(&b, fread(buf_room(&b, 1 << 16), 1, 1 << 16, f));
	fclose(f);
	free(path);
	sanitizer_read(s, buf_slice(&b));
	buf_release(&b);
}

#define assert_slice(s, text) assert_true(slice_is((s), (text)))

static void reads_now(void **state)
{
	(void)state;
	struct sanitizer s = {0};
	read_corpus(&s, "now");
	assert_int_equal(s.n, 1);
	const struct sanitizer_error *e = s.v;
	assert_slice(e->what, "Invalid __global__ write");
	assert_slice(e->kernel, "triton_poi_fused_add_0");
	assert_slice(e->file, "cmodel.py");
	assert_slice(e->relation, "after");
	assert_true(e->writes && e->has_address && !e->misaligned);
	assert_int_equal(e->line, 88);
	assert_int_equal(e->bytes, 4);
	assert_int_equal(e->offset, 0x1a0);
	assert_int_equal(e->thread[0], 3);
	assert_int_equal(e->block[0], 2);
	assert_int_equal(e->address, 0x7f1c0000024c);
	assert_int_equal(e->distance, 77);
	assert_int_equal(e->base, 0x7f1c00000000);
	assert_int_equal(e->allocation, 512);
	assert_int_equal(e->times, 2);
	sanitizer_release(&s);
}

static void reads_before(void **state)
{
	(void)state;
	struct sanitizer s = {0};
	read_corpus(&s, "before");
	assert_int_equal(s.n, 2);
	const struct sanitizer_error *e = s.v;
	assert_slice(e->kernel, "fused_kernel_0d1d2d3de4");
	assert_slice(e->file, "/home/user/kernels.py");
	assert_slice(e->relation, "before");
	assert_true(!e->writes);
	assert_int_equal(e->line, 175);
	assert_int_equal(e->offset, 0xda0);
	assert_int_equal(e->thread[0], 96);
	assert_int_equal(e->block[0], 44);
	assert_int_equal(e->block[1], 1);
	assert_int_equal(e->distance, 1241911296);
	assert_int_equal(e->allocation, 5033164800);
	e++;
	assert_slice(e->what, "Invalid __shared__ read");
	assert_slice(e->kernel, "ns::scan<unsigned long, int=4>");
	assert_true(e->misaligned && !e->file.n && !e->allocation);
	sanitizer_release(&s);
}

static void knows_kernels(void **state)
{
	(void)state;
	const struct slice k = SLICE("fused_kernel");
	assert_true(sanitizer_is_kernel(SLICE("fused_kernel"), k));
	assert_true(sanitizer_is_kernel(SLICE("fused_kernel_0d1d2d3de4"), k));
	assert_false(sanitizer_is_kernel(SLICE("fused_kernel_1"), k));
	assert_false(sanitizer_is_kernel(SLICE("fused_kernel_more"), k));
	assert_false(sanitizer_is_kernel(SLICE("fused"), k));
	assert_false(sanitizer_is_kernel(SLICE("fused"), SLICE("")));
}

static void survives(void **state)
{
	(void)state;
	static const char *const odd[] = {
	    "========= Invalid __global__ write of size",
	    "========= Invalid __global__ write of size 99999999999999999999 bytes",
	    "========= Invalid __global__ write of size 4 bytes\n=========     at 0x in \n=========     Access to 0x is",
	};
	for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
		struct sanitizer s = {0};
		sanitizer_read(&s, slice_str(odd[i]));
		assert_int_equal(s.n, i == 2);
		sanitizer_release(&s);
	}
	struct sanitizer s = {0};
	for (unsigned i = 0; i < SANITIZER_MOST + 5; i++) {
		char text[128];
		snprintf(text, sizeof(text), "========= Invalid __global__ read of size 4 bytes\n=========     at k+0x%x in a.py:1\n",
			 i + 1);
		sanitizer_read(&s, slice_str(text));
	}
	assert_int_equal(s.n, SANITIZER_MOST);
	assert_int_equal(s.left_out, 5);
	sanitizer_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(reads_now), cmocka_unit_test(reads_before), cmocka_unit_test(knows_kernels),
					   cmocka_unit_test(survives)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
