/* watch/dump: the index of a folder of saved tensors, written and read again. */
#include "../../lib/test.h"

#include <unistd.h>

#include "tensor/tensor.h"
#include "watch/dump.h"
#include "watch/watch.h"

static struct guard g;

static int read_text(struct dump *d, const char *text, struct err *err)
{
	size_t n = strlen(text);
	return dump_read(d, slice_of(guard_put(&g, text, n), n), "x", err);
}

static void refused(const char *text, const char *why)
{
	struct dump d;
	struct err err = {0};
	if (read_text(&d, text, &err) == 0)
		fail_msg("read, though it should be refused with '%s'", why);
	if (!strstr(err.text, why) || !strstr(err.text, "'x/calls.jsonl', line ") || err.status != EXIT_INPUT)
		fail_msg("'%s' has no '%s'", err.text, why);
}

#define HEAD "{\"dump\": 1}\n"

/* What the writer makes of a call is what the reader finds. */
static struct watch_value some_value(void)
{
	struct watch_value v = {.name = "buf\"1", .saved = "a.npy"};
	struct call_record *r = &v.rec;
	r->v.arg = 2;
	r->v.role = CALL_ROLE_OUT;
	r->v.dtype = DTYPE_BF16;
	r->v.device_index = -1;
	r->v.n_dim = 2;
	r->v.size[0] = 3;
	r->v.size[1] = 4;
	r->v.stride[0] = 1;
	r->v.stride[1] = 3;
	r->v.stats = (struct tensor_stats){.n = 12,
					   .nan = 1,
					   .pos_inf = 2,
					   .neg_inf = 3,
					   .zero = 4,
					   .min = -1e-30,
					   .max = 0.1,
					   .mean = 1.0 / 3,
					   .first_bad = 5,
					   .known = true};
	return v;
}

static bool second_renamed(void *user, uint32_t i, const char **file)
{
	(void)user;
	*file = "b.pt";
	return i == 1;
}

static void test_round_trip(void **state)
{
	(void)state;
	struct watch_value v[2] = {some_value(), some_value()};
	struct contract_call k = {.kind = CALL_KERNEL, .line = 977, .nodes = SLICE("linear, relu"), .aten = SLICE("aten.relu")};
	struct watch_model m = {.id = 3, .contract.model = SLICE("m")};
	struct watch_call c = {.name = "cpp_fused_relu_0", .model = &m, .contract = &k, .value = v, .n_values = 2};
	c.begin.what = CALL_BEGIN;
	c.begin.seq = 17;
	c.begin.run = 4;
	c.begin.call = 1;
	c.begin.time = 123456789012345;
	c.end.what = CALL_END;
	c.end.took = 1234;
	struct buf b = {0};
	dump_head(&b, "t");
	dump_line(&b, &c, NULL, NULL);
	dump_line(&b, &c, second_renamed, NULL);
	c.end.what = CALL_NONE;
	c.begin.run = CALLS_NO_RUN;
	dump_line(&b, &c, NULL, NULL);
	dump_end(&b, 3, 7, SLICE("an error"));
	struct dump d;
	struct err err = {0};
	if (dump_read(&d, slice_of(guard_put(&g, b.p, b.len), b.len), "x", &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(d.n, 3);
	assert_true(!d.cut && d.lost == 7 && slice_is(d.failed, "an error"));
	const struct dump_call *r = &d.call[0];
	assert_true(slice_is(r->name, "cpp_fused_relu_0") && slice_is(r->model, "m") && slice_is(r->nodes, "linear, relu"));
	assert_true(r->line == 977 && r->run == 4 && r->call == 1 && r->seq == 17 && r->took == 1234 && r->time == 123456789012345);
	assert_true(r->returned && !d.call[2].returned && r->kind == DUMP_KERNEL && r->n_values == 2);
	const struct dump_value *x = &r->value[0];
	assert_true(slice_is(x->buffer, "buf\"1") && slice_is(x->file, "a.npy") && !x->before && x->arg == 2 && x->role == CALL_ROLE_OUT);
	assert_true(x->meta.dtype == DTYPE_BF16 && x->meta.n_dim == 2 && x->meta.size[1] == 4 && x->meta.stride[1] == 3);
	assert_true(x->stats.known && x->stats.nan == 1 && x->stats.neg_inf == 3 && x->stats.first_bad == 5 && x->stats.zero == 4);
	assert_true(x->stats.min == -1e-30 && x->stats.max == 0.1 && x->stats.mean == 1.0 / 3);
	assert_true(d.call[1].n_values == 1 && slice_is(d.call[1].value[0].file, "b.pt"));
	dump_close(&d);
	buf_release(&b);
}

static void test_cut(void **state)
{
	(void)state;
	struct dump d;
	struct err err;
	assert_int_equal(read_text(&d, HEAD "{\"kernel\": \"k\", \"kind\": \"op\"}\n{\"kernel\": \"k", &err), 0);
	assert_true(d.cut && d.n == 1);
	dump_close(&d);
	assert_int_equal(read_text(&d, HEAD "{\"ended\": true}\n", &err), 0);
	assert_true(!d.cut && d.n == 0 && !d.failed.n);
	dump_close(&d);
}

static void test_refused(void **state)
{
	(void)state;
	refused("", "empty");
	refused("x\n", "not a JSON object");
	refused("[]\n", "not a JSON object");
	refused("{}\n", "no \"dump\"");
	refused("{\"dump\": 2}\n", "unknown format version");
	refused(HEAD "{}\n", "no \"kernel\"");
	refused(HEAD "{\"kernel\": \"k\", \"kind\": \"z\"}\n", "an unknown \"kind\"");
	refused(HEAD "{\"kernel\": \"k\", \"kind\": \"op\", \"values\": [1]}\n", "not an object");
	refused(HEAD "{\"kernel\": \"k\", \"kind\": \"op\", \"values\": [{}]}\n", "an unknown \"role\"");
	refused(HEAD "{\"kernel\": \"k\", \"kind\": \"op\", \"values\": [{\"role\": \"in\", \"file\": \"../x.npy\"}]}\n", "a path");
	refused(HEAD "{\"kernel\": \"k\", \"kind\": \"op\", \"values\": [{\"role\": \"in\", \"file\": \"..\"}]}\n", "a path");
}

/* Sizes that overflow, more dims than there can be, strides of another rank. */
static void test_sizes(void **state)
{
	(void)state;
	struct dump d;
	struct err err;
	struct buf b = {0};
	buf_adds(&b, HEAD "{\"kernel\": \"k\", \"kind\": \"op\", \"values\": [");
	buf_adds(&b, "{\"role\": \"in\", \"sizes\": [4611686018427387904, 4]}, {\"role\": \"in\", \"sizes\": [-1]}, ");
	buf_adds(&b, "{\"role\": \"in\", \"sizes\": [2, 3], \"strides\": [1]}, {\"role\": \"in\", \"sizes\": [");
	for (int i = 0; i < 65; i++)
		buf_adds(&b, i ? ", 1" : "1");
	buf_adds(&b, "]}]}\n");
	assert_int_equal(read_text(&d, buf_str(&b), &err), 0);
	const struct dump_value *v = d.call[0].value;
	assert_int_equal(v[0].meta.n_dim, -1);
	assert_int_equal(v[1].meta.n_dim, -1);
	assert_true(v[2].meta.n_dim == 2 && v[2].meta.stride[0] == 3);
	assert_int_equal(v[3].meta.n_dim, -1);
	dump_close(&d);
	buf_release(&b);
}

/* A bfloat16's bits in a .npy of integers; a tensor that is not there. */
static void test_tensor(void **state)
{
	(void)state;
	char folder[] = "/tmp/test_dump.XXXXXX";
	assert_non_null(mkdtemp(folder));
	char *path = xasprintf("%s/a.npy", folder);
	FILE *f = fopen(path, "w");
	fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, f);
	fprintf(f, "%-117s\n", "{'descr': '<u2', 'fortran_order': False, 'shape': (2,), }");
	fwrite("\x80\x3f\x00\x40", 1, 4, f);
	fclose(f);
	struct dump d = {.path = folder};
	struct dump_value v = {.file = SLICE("a.npy"), .meta = {.dtype = DTYPE_BF16}};
	struct dump_tensor t;
	struct err err = {0};
	if (dump_tensor_open(&t, &d, &v, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(t.meta.dtype == DTYPE_BF16 && t.meta.n_dim == 1 && t.meta.size[0] == 2);
	assert_true(tensor_at(&t.meta, t.data, 0) == 1 && tensor_at(&t.meta, t.data, 1) == 2);
	dump_tensor_close(&t);
	v.meta.dtype = DTYPE_F32;
	assert_int_equal(dump_tensor_open(&t, &d, &v, &err), 0);
	assert_int_equal(t.meta.dtype, DTYPE_U16);
	dump_tensor_close(&t);
	v.file = SLICE("b.npy");
	assert_int_equal(dump_tensor_open(&t, &d, &v, &err), -1);
	v.file = SLICE("");
	assert_int_equal(dump_tensor_open(&t, &d, &v, &err), -1);
	assert_false(dump_like(folder));
	unlink(path);
	rmdir(folder);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_round_trip), cmocka_unit_test(test_cut),    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_sizes),      cmocka_unit_test(test_tensor),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	guard_release(&g);
	return failed;
}
