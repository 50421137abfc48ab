/* Faults and findings of a GPU, and what they say of memory. */
#include "../../lib/test.h"

#include "watch/ima.h"

/* The corpus of the fuzzer. */
static struct buf corpus(const char *name)
{
	const char *root = getenv("PT2_SOURCE");
	char *path = xasprintf("%s%stests/fuzz/corpus/ima/%s", root ? root : "", root ? "/" : "", name);
	struct buf b = {0};
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	buf_cut(&b, fread(buf_room(&b, 1 << 16), 1, 1 << 16, f));
	fclose(f);
	free(path);
	return b;
}

static void reads(void **state)
{
	(void)state;
	struct buf text = corpus("fault.jsonl"), b = {0};
	struct ima r = {0};
	ima_read(&r, buf_slice(&text));
	assert_int_equal(r.n, 2);
	const struct ima_event *e = &r.v[0], *f = &r.v[1];
	assert_true(e->fault && !f->fault && e->launch && !f->launch);
	assert_true(slice_is(e->kernel, "triton_poi_fused_mul_2") && slice_is(e->error, "CUDA_ERROR_ILLEGAL_ADDRESS"));
	assert_true(e->code == 700 && e->call == 3 && e->run == 0 && e->seq == 9 && e->grid[0] == 2 && e->block[0] == 128 &&
		    e->device == 0);
	assert_int_equal(e->n, 6);
	assert_true(e->p[0].tensor && !e->p[3].tensor && e->p[3].value == 64 && e->p[3].size == 4);
	assert_int_equal(ima_room(&e->p[0]), 2097152 - 512);
	assert_true(ima_room(&e->p[1]) == IMA_NONE);
	assert_int_equal(f->n, 1);
	ima_param_name(f, 0, &b);
	assert_string_equal(buf_str(&b), "arg2_1");
	assert_string_equal(ima_what(f->what), "is in host memory that this GPU cannot access");
	buf_release(&b);
	buf_release(&text);
	ima_release(&r);
}

/* What is judged, a line each. */
static const char *judged(struct ima *r, struct ima_event *e, struct buf *b)
{
	buf_reset(b);
	ima_judge(r, e);
	for (uint32_t i = 0; i < e->n_suspects; i++)
		buf_addf(b, "%u %s: %.*s\n", e->suspect[i].param, ima_why_name(e->suspect[i].why), SL(e->suspect[i].text));
	return buf_str(b);
}

/* A contract of one call: k(buf1, buf2, buf3, k_xnumel). */
static void judges(void **state)
{
	(void)state;
	struct contract_arg arg[] = {
	    {ARG_IN, 0, SLICE("buf1")}, {ARG_IN, 1, SLICE("buf2")}, {ARG_OUT, 2, SLICE("buf3")}, {ARG_SCALAR, NONE, SLICE("k_xnumel")}};
	struct contract_call call = {.kind = CALL_KERNEL, .n_args = 4};
	struct contract c = {.call = &call, .n_calls = 1, .arg = arg, .n_args = 4};
	struct buf text = corpus("fault.jsonl"), b = {0};
	struct ima r = {0};
	ima_read(&r, buf_slice(&text));
	struct ima_event *e = &r.v[0];
	ima_name_numbers(e, &c);
	assert_true(slice_is(e->p[3].text, "k_xnumel") && !e->p[4].text.n);
	assert_string_equal(judged(&r, e, &b),
			    "0 beyond-storage: buf1 reaches 64 bytes past its storage: sizes and strides need 128 bytes, it has 64\n"
			    "1 on-host: buf2 is in host memory, at 0x5500\n"
			    "2 other-device: buf3 is on cuda:1, the kernel runs on cuda:0\n");
	assert_true(ima_certain(&e->suspect[0]));
	e->p[0].storage = 128;
	e->p[1].on = SLICE("cuda");
	e->p[1].base = 0x5000;
	e->p[1].allocation = 4096;
	e->p[2].on_index = 0;
	assert_string_equal(
	    judged(&r, e, &b),
	    "2 too-many: buf3 has 32 elements, the kernel was asked to write 64 (xnumel 64): past the end of its storage\n");
	assert_true(ima_certain(&e->suspect[0]));
	/* It is modified: a scatter, perhaps. */
	e->p[2].role = SLICE("inout");
	judged(&r, e, &b);
	assert_true(e->suspect[0].why == IMA_TOO_MANY && !ima_certain(&e->suspect[0]));
	assert_true(e->n_suspects == 2 && e->suspect[1].why == IMA_INDEX);
	e->p[2].role = SLICE("out");
	e->p[3].value = 32;
	assert_string_equal(judged(&r, e, &b), "1 index: buf2 holds integers: an index read from it may be out of bounds\n");
	assert_false(ima_certain(&e->suspect[0]));
	e->p[2].extent = 132;
	e->p[2].storage = IMA_NONE;
	e->p[1].allocation = 0;
	assert_string_equal(
	    judged(&r, e, &b),
	    "1 no-allocation: buf2 is in no allocation known to the driver (0x5500): freed?\n"
	    "2 beyond-allocation: buf3 reaches 4 bytes past its allocation: sizes and strides need 132 bytes, it has 128\n");
	assert_false(ima_certain(&e->suspect[0]) || ima_certain(&e->suspect[1]));
	/* The driver has told one of the mappings that its storage consists of. */
	e->p[2].storage = 140;
	assert_string_equal(judged(&r, e, &b), "1 no-allocation: buf2 is in no allocation known to the driver (0x5500): freed?\n");
	assert_true(ima_room(&e->p[2]) == IMA_NONE);
	e->p[2].storage = 128;
	assert_string_equal(judged(&r, e, &b),
			    "1 no-allocation: buf2 is in no allocation known to the driver (0x5500): freed?\n"
			    "2 beyond-storage: buf3 reaches 4 bytes past its storage: sizes and strides need 132 bytes, it has 128\n");
	/* Pinned memory of the host. */
	e->p[1].on = SLICE("cpu");
	e->p[1].base = 0x5000;
	e->p[1].allocation = 4096;
	judged(&r, e, &b);
	assert_true(e->n_suspects == 1 && e->suspect[0].param == 2 && ima_certain(&e->suspect[0]));
	/* The driver has answered for none. */
	e->p[1].on = SLICE("cuda");
	for (uint32_t i = 0; i < e->n; i++)
		e->p[i].allocation = 0;
	judged(&r, e, &b);
	assert_true(e->n_suspects == 1 && e->suspect[0].why == IMA_BEYOND_STORAGE);
	/* One number less than the program's call has: which, nobody knows. */
	call.n_args = 8;
	e->p[3].text = SLICE("");
	ima_name_numbers(e, &c);
	assert_int_equal(e->p[3].text.n, 0);
	/* Inductor's own names of numbers. */
	call.n_args = 4;
	arg[3].text = SLICE("triton_poi_fused_mul_2_xnumel");
	ima_name_numbers(e, &c);
	assert_true(slice_is(e->p[3].text, "xnumel"));
	buf_release(&b);
	buf_release(&text);
	ima_release(&r);
}

/* The replay of a CUDA graph; what other tools say of it. */
static void replay(void **state)
{
	(void)state;
	struct slice text = SLICE("{\"ev\":\"device-fault\",\"t\":1,\"pid\":7,\"tid\":7,\"model\":0,\"when\":\"after\",\"code\":700,"
				  "\"error\":\"CUDA_ERROR_ILLEGAL_ADDRESS\","
				  "\"text\":\"an illegal memory access was "
				  "encountered\",\"call\":3,\"seq\":9,\"kernel\":\"cuda_graph[1]\",\"graph\":1,\"replay\":5,"
				  "\"captured\":2,\"kernels\":[\"a\",7,\"b\"],\"stream\":\"0x0\",\"device\":0}\n");
	struct ima r = {0};
	struct buf b = {0};
	ima_read(&r, text);
	assert_int_equal(r.n, 1);
	const struct ima_event *e = &r.v[0];
	assert_true(e->graph == 1 && e->replay == 5 && e->captured == 2 && e->n_in_graph == 3 && !e->launch && !e->function.n);
	assert_true(slice_is(e->in_graph[0], "a") && !e->in_graph[1].n && slice_is(e->in_graph[2], "b"));
	assert_true(ima_failure(text, &b));
	assert_string_equal(
	    buf_str(&b), "a GPU error stopped the run: an illegal memory access was encountered "
			 "(CUDA_ERROR_ILLEGAL_ADDRESS), seen at cuda_graph[1] (call 3); caused by that kernel or an earlier one; nothing "
			 "after it was checked. To find the kernel and the reason, run: aoti-printer --ima -- COMMAND (or --ima --torch "
			 "MODEL.pt2 INPUT...)");
	assert_true(ima_status(text, 0) == EXIT_INPUT && ima_status(text, 1) == 1 && ima_status(SLICE(""), 0) == 0);
	buf_release(&b);
	ima_release(&r);
}

static void odd(void **state)
{
	(void)state;
	struct buf text = corpus("odd.jsonl"), b = {0};
	struct guard g = {0};
	for (size_t n = 0; n <= text.len; n++) {
		struct ima r = {0};
		ima_read(&r, slice_of(guard_put(&g, text.p, n), n));
		for (size_t i = 0; i < r.n; i++)
			ima_judge(&r, &r.v[i]);
		if (n == text.len)
			assert_int_equal(r.n, 3);
		ima_release(&r);
	}
	guard_release(&g);
	buf_release(&b);
	buf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(reads),
	    cmocka_unit_test(judges),
	    cmocka_unit_test(replay),
	    cmocka_unit_test(odd),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
