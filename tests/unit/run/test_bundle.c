/* cli/run/bundle: what is written is read; what is made to harm is refused by name. */
#include "../../lib/test.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/folder.h"
#include "../../lib/mkzip.h"
#include "run/bundle/bundle.h"
#include "tensor/write.h"

static char *in(const char *name) { return xasprintf("%s/%s", folder_path, name); }

static void write_file(const char *path, struct slice s)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(s.p, 1, s.n, f), s.n);
	assert_int_equal(fclose(f), 0);
}

static void test_round_trip(void **state)
{
	struct err err = {0};
	struct bundle b;
	struct buf text = {0};
	char *path = in("x.pt2b"), *out = in("out"), *one = in("one.txt");
	(void)state;
	for (int i = 0; i < 2000; i++)
		buf_adds(&text, "the same line\n");
	write_file(one, SLICE("one"));
	struct bundle_writer *w = bundle_new(path, &err);
	assert_non_null(w);
	assert_int_equal(bundle_add(w, BUNDLE_TRACE, "trace/a.log", buf_slice(&text), SLICE(""), &err), 0);
	assert_int_equal(bundle_add(w, BUNDLE_TRACE, "trace/a.log", SLICE("another"), SLICE("0/0"), &err), 0);
	assert_int_equal(bundle_add_file(w, BUNDLE_TEXT, "text/.one.txt", one, &err), 0);
	bundle_leave_out(w, SLICE("big"), SLICE("is big"));
	assert_true(access(path, F_OK) < 0);
	const struct slice argument[] = {SLICE("--lr"), SLICE("3")};
	const struct bundle_env env = {SLICE("TORCH_LOGS"), SLICE("+dynamo")};
	const struct bundle_finding finding = {SLICE("failure"), SLICE("id"), SLICE("error"), SLICE("title \"q\""), SLICE("key")};
	assert_int_equal(bundle_end(w,
				    &(struct bundle_about){.torch = SLICE("2.13.0"),
							   .has_status = true,
							   .status = -11,
							   .argument = argument,
							   .n_argument = 2,
							   .env = &env,
							   .n_env = 1,
							   .finding = &finding,
							   .n_finding = 1},
				    &err),
			 0);
	assert_int_equal(bundle_open(&b, path, &err), 0);
	assert_int_equal(b.n, 3);
	assert_true(slice_is(b.file[1].name, "trace/a-2.log") && slice_is(b.file[1].about, "0/0"));
	assert_true(slice_is(b.file[2].name, "text/_one.txt"));
	assert_int_equal(b.file[0].bytes, text.len);
	assert_true(b.map.bytes.n < text.len / 4);
	assert_int_equal(b.about.status, -11);
	assert_true(slice_is(b.about.argument[1], "3") && slice_is(b.about.finding[0].title, "title \"q\"") &&
		    slice_is(b.about.torch, "2.13.0"));
	assert_int_equal(mkdir(out, 0700), 0);
	assert_int_equal(bundle_extract(&b, out, &err), 0);
	char *back = in("out/trace/a.log");
	struct mapfile m;
	assert_int_equal(mapfile_open(&m, back, &err), 0);
	assert_true(slice_eq(m.bytes, buf_slice(&text)));
	mapfile_close(&m);
	assert_int_equal(bundle_extract(&b, out, &err), -1); /* nothing is written over */
	bundle_close(&b);
	free(back);
	free(path);
	free(out);
	free(one);
	buf_release(&text);
}

/* What the inputs were is in the statistics; what is made up has them, too. */
static void test_made_up(void **state)
{
	struct err err = {0};
	struct bundle b;
	char *path = in("m.pt2b"), *npz = in("in.npz");
	float x[1000];
	int64_t k[1000];
	(void)state;
	for (int i = 0; i < 1000; i++) {
		x[i] = i < 100 ? 0 : i < 150 ? NAN : (float)i / 10;
		k[i] = i % 7;
	}
	struct tensor_view v[2] = {
	    {.name = SLICE("x"), .meta = {.dtype = DTYPE_F32, .n_dim = 2, .size = {10, 100}, .stride = {100, 1}}, .data = x},
	    {.name = SLICE("k"), .meta = {.dtype = DTYPE_I64, .n_dim = 1, .size = {1000}, .stride = {1}}, .data = k}};
	FILE *f = fopen(npz, "w");
	assert_int_equal(tensor_write(fileno(f), TENSOR_NPZ, v, 2, npz, &err), 0);
	fclose(f);
	struct bundle_writer *w = bundle_new(path, &err);
	assert_int_equal(bundle_add_tensors(w, "inputs/in.npz", npz, true, &err), 0);
	assert_int_equal(bundle_end(w, &(struct bundle_about){.redacted = true}, &err), 0);
	assert_int_equal(bundle_open(&b, path, &err), 0);
	assert_true(b.file[0].made_up);
	assert_non_null(
	    slice_find(b.manifest, "\"spec\":\"f32[10,100]\",\"elements\":1000,\"nan\":50,\"inf\":0,\"neg_inf\":0,\"zeros\":100"));
	struct slice data;
	assert_int_equal(zip_data(&b.zip, zip_find(&b.zip, SLICE("inputs/in.npz")), &data, &err), 0);
	struct tensor_file *t = tensor_file_bytes(data, "in.npz", &err);
	assert_non_null(t);
	assert_int_equal(t->n, 2);
	unsigned nan = 0, zero = 0, equal = 0, outside = 0;
	assert_int_equal(tensor_data(t, 0, &data, &err), 0);
	for (int i = 0; i < 1000; i++) {
		float y;
		memcpy(&y, data.p + 4 * i, 4);
		nan += y != y;
		zero += y == 0;
		equal += y == x[i] && y != 0;
		outside += y < 0 || y > 99.9f;
	}
	assert_in_range(nan, 20, 100);
	assert_in_range(zero, 60, 150);
	assert_in_range(equal, 0, 5);
	assert_int_equal(outside, 0);
	assert_int_equal(tensor_data(t, 1, &data, &err), 0);
	for (int i = 0; i < 1000; i++) {
		int64_t y;
		memcpy(&y, data.p + 8 * i, 8);
		assert_in_range(y, 0, 6);
	}
	tensor_file_close(t);
	bundle_close(&b);
	free(path);
	free(npz);
}

#define HEAD "{\"schema\":\"pt2utils.bundle/1\",\"files\":["
static void refused_zip(struct mkzip *z, const char *why)
{
	struct err err = {0};
	struct bundle b;
	char *path = in("bad.pt2b");
	write_file(path, buf_slice(&z->b));
	assert_int_equal(bundle_open(&b, path, &err), -1);
	assert_int_equal(err.status, EXIT_INPUT);
	if (!strstr(err.text, why))
		fail_msg("'%s' has not '%s'", err.text, why);
	mkzip_release(z);
	free(path);
}

static struct mkzip zip_of(const char *manifest, const char *name, struct slice data, unsigned flags)
{
	struct mkzip z = {0};
	mkzip_add(&z, "manifest.json", slice_str(manifest), MKZIP_DEFLATE);
	if (name)
		mkzip_add(&z, name, data, flags);
	return z;
}

static void refused(const char *manifest, const char *name, struct slice data, const char *why)
{
	struct mkzip z = zip_of(manifest, name, data, 0);
	mkzip_end(&z);
	refused_zip(&z, why);
}

static void test_refused(void **state)
{
	(void)state;
	refused("[]", NULL, SLICE(""), "not a JSON object");
	refused("{\"schema\":\"pt2utils.bundle/2\"}", NULL, SLICE(""), "schema of its manifest is 'pt2utils.bundle/2'");
	refused(HEAD "]}", "trace/a", SLICE("x"), "'trace/a' is not in the manifest");
	refused(HEAD "{\"name\":\"trace/a\",\"kind\":\"trace\",\"bytes\":1}]}", NULL, SLICE(""),
		"'trace/a' is in the manifest but not in the bundle");
	refused(HEAD "{\"name\":\"trace/a\",\"kind\":\"trace\",\"bytes\":2}]}", "trace/a", SLICE("x"), "does not have the size");
	refused(HEAD "{\"name\":\"trace/../../a\",\"kind\":\"trace\",\"bytes\":1}]}", "trace/../../a", SLICE("x"), "leads out");
	refused(HEAD "{\"name\":\"/etc/passwd\",\"kind\":\"trace\",\"bytes\":1}]}", "/etc/passwd", SLICE("x"), "absolute");
	refused(HEAD "{\"name\":\"program/.pth.py\",\"kind\":\"source\",\"bytes\":1}]}", NULL, SLICE(""), "is hidden");
	refused(HEAD "{\"name\":\"program/a.sh\",\"kind\":\"program\",\"bytes\":1}]}", NULL, SLICE(""), "is a program but not a .py file");
	refused(HEAD "],\"environment\":[{\"name\":\"LD_PRELOAD\",\"value\":\"x\"}]}", NULL, SLICE(""),
		"'LD_PRELOAD', which is not one of torch's");
	refused(HEAD "],\"environment\":[{\"name\":\"PYTHONPATH\",\"value\":\"x\"}]}", NULL, SLICE(""), "'PYTHONPATH'");
	/* a pickle that would run something is not even looked into by others */
	const struct slice pickle = SLICE("cos\nsystem\n(S'touch harm'\ntR.");
	refused(HEAD "{\"name\":\"inputs/x.pt\",\"kind\":\"inputs\",\"bytes\":29}]}", "inputs/x.pt", pickle, "inputs/x.pt");
	refused(HEAD "{\"name\":\"program/x.bin\",\"kind\":\"data\",\"bytes\":1}]}", "program/x.bin", SLICE("x"), "program/x.bin");
}

static void test_harmful_zips(void **state)
{
	const char *manifest = HEAD "{\"name\":\"trace/a\",\"kind\":\"trace\",\"bytes\":1}]}";
	(void)state;
	struct mkzip z = zip_of(manifest, "trace/a", SLICE("x"), 0);
	mkzip_end(&z);
	/* made on Unix, a symbolic link: version made by, and the upper half of the external attributes, of the second entry */
	char *entry = z.b.p + z.directory + 46 + strlen("manifest.json");
	entry[5] = 3;
	entry[40] = 0, entry[41] = (char)(S_IFLNK >> 8);
	refused_zip(&z, "'trace/a' is a symbolic link");
	z = zip_of(manifest, "trace/a", SLICE("x"), 0);
	mkzip_add(&z, "trace/a", SLICE("y"), 0);
	mkzip_end(&z);
	refused_zip(&z, "occurs twice");
	/* a bomb: what the directory says is the most that deflate can do */
	struct buf zeros = {0};
	memset(buf_room(&zeros, 8 << 20), 0, 8 << 20);
	buf_wrote(&zeros, 8 << 20);
	z = zip_of(manifest, "trace/a", buf_slice(&zeros), MKZIP_DEFLATE);
	z.entry[1].size = 3ull << 30;
	mkzip_end(&z);
	refused_zip(&z, "a zip bomb?");
	buf_release(&zeros);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip), cmocka_unit_test(test_made_up),
					   cmocka_unit_test(test_refused), cmocka_unit_test(test_harmful_zips)};
	return cmocka_run_group_tests_name(__FILE__, tests, folder_make, folder_remove);
}
