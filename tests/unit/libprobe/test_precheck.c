/* libprobe/precheck: whatever it lets pass, check_inputs has nothing against; and it lets pass what is usual. */
#include "../../lib/test.h"

#include "../../../libprobe/precheck.c"
#include "model/check/check.h"

/* clang-format off */
#define INPUT(i, type, rank, asserted, align, dims) \
	"{\"index\":" #i ",\"name\":\"a" #i "\",\"path\":null,\"dtype\":" type ",\"device\":\"cpu\",\"rank\":" rank \
	",\"asserted\":" asserted ",\"alignment\":" align ",\"used\":true,\"dims\":[" dims "]}"
#define DIM(size, min, max, stride, sc, tc) \
	"{\"size\":" size ",\"min\":" min ",\"max\":" max ",\"stride\":" stride \
	",\"size_checked\":" sc ",\"stride_checked\":" tc "}"
#define SYMBOL(name, min, max, input, dim) \
	"{\"name\":\"" name "\",\"min\":" min ",\"max\":" max ",\"input\":" #input ",\"dim\":" #dim "}"

/* x [s0, s1, 12] of any strides that follow, y [2*s0 + 1, s1] transposed, n [], an unused one of unknown rank, and one
 * with an alignment. */
static const char text[] =
	"{\"schema\":\"pt2utils.contract/1\",\"source\":\"text\",\"model\":null,\"device\":\"cpu\",\"weight_bytes\":0,\"inputs\":["
	INPUT(0, "\"float32\"", "3", "2", "null",
	      DIM("\"s0\"", "2", "9", "\"12*s1\"", "false", "false") ","
	      DIM("\"s1\"", "null", "null", "12", "false", "true") ","
	      DIM("12", "null", "null", "1", "true", "true")) ","
	INPUT(1, "\"int64\"", "2", "1", "null",
	      DIM("\"2*s0 + 1\"", "5", "19", "1", "false", "true") ","
	      DIM("\"s1\"", "null", "null", "\"2*s0 + 1\"", "false", "false")) ","
	INPUT(2, "\"int32\"", "0", "3", "null", "") ","
	INPUT(3, "null", "null", "null", "null", DIM("null", "2", "8", "null", "false", "false")) ","
	INPUT(4, "\"bfloat16\"", "1", "4", "16", DIM("4", "null", "null", "1", "true", "true"))
	"],\"symbols\":[" SYMBOL("s0", "2", "9", 0, 0) "," SYMBOL("s1", "null", "null", 0, 1)
	"],\"outputs\":[],\"constants\":[],\"values\":[],\"storages\":[],\"calls\":[],\"in_spec\":null,\"out_spec\":null,"
	"\"notes\":[]}";
/* clang-format on */

static struct contract c;
static struct precheck p;

static void views_of(const struct tensor_meta *m, size_t n, struct input_view *v)
{
	for (size_t i = 0; i < n; i++)
		v[i] = (struct input_view){m[i].size, m[i].stride, m[i].n_dim, m[i].dtype, m[i].device, m[i].address};
}

static bool passes(const struct tensor_meta *m, size_t n)
{
	struct input_view v[8];
	views_of(m, n, v);
	return precheck_passes(&p, v, n, true);
}

static void specs(struct tensor_meta *m, const char *const *spec, size_t n)
{
	struct err err;
	for (size_t i = 0; i < n; i++) {
		if (tensor_spec_parse(slice_str(spec[i]), &m[i], &err) < 0)
			fail_msg("%s", err.text);
		m[i].has_address = true;
		m[i].address = 4096;
	}
}

#define GOOD \
	{ \
		"f32[3,5,12]", "i64[7,5]/(1,7)", "i32[]", "f64[4,9]", "bf16[4]" \
	}

static void usual_inputs_pass(void **state)
{
	(void)state;
	struct tensor_meta m[5];
	specs(m, (const char *const[])GOOD, 5);
	assert_true(passes(m, 5));
	assert_false(passes(m, 4));
	/* A dim of size 1 may have any stride where only assert_size_stride looks. */
	specs(m, (const char *const[]){"f32[3,1,12]/(99,12,1)", "i64[7,1]/(1,55)", "i32[]", "u8[2]", "bf16[4]"}, 5);
	assert_false(passes(m, 5)); /* 99 is not 12*s1, and dim 0 has 3 elements */
	m[0].stride[0] = 12;
	assert_true(passes(m, 5));
	m[4].address = 4098;
	assert_false(passes(m, 5)); /* advice; check_inputs says which */
	struct input_view v[5];
	views_of(m, 5, v);
	assert_true(precheck_passes(&p, v, 5, false));
}

static void mutate(struct tensor_meta *m, uint64_t *seed)
{
	struct tensor_meta *t = &m[pick(seed, 5)];
	static const int64_t odd[] = {0, 1, 2, -1, 3, 7, 12, 64, INT64_MAX, INT64_MIN};
	int64_t value = odd[pick(seed, ARRAY_LEN(odd))];
	int d = t->n_dim ? (int)pick(seed, (uint32_t)t->n_dim) : 0;
	switch (pick(seed, 8)) {
	case 0: t->dtype = (int)pick(seed, 16); break;
	case 1: t->device = (int)pick(seed, 2); break;
	case 2: t->n_dim = (int)pick(seed, 5); break;
	case 3: t->size[d] = value; break;
	case 4: t->stride[d] = value; break;
	case 5: __builtin_add_overflow(t->size[d], pick(seed, 2) ? 1 : -1, &t->size[d]); break; /* may wrap */
	case 6: tensor_contiguous(t); break;
	case 7: t->address += pick(seed, 32); break;
	}
}

/* Sizes that fit one another, at random. */
static void consistent(struct tensor_meta *m, uint64_t *seed)
{
	int64_t s0 = 2 + pick(seed, 8), s1 = pick(seed, 30) ? 1 + pick(seed, 5) : 0;
	specs(m, (const char *const[])GOOD, 5);
	m[0].size[0] = s0;
	m[0].size[1] = s1;
	tensor_contiguous(&m[0]);
	m[1].size[0] = 2 * s0 + 1;
	m[1].size[1] = s1;
	m[1].stride[1] = 2 * s0 + 1;
}

static void what_passes_fits(void **state)
{
	(void)state;
	uint64_t seed = 1;
	unsigned passed = 0, fits = 0;
	for (int i = 0; i < 60000; i++) {
		struct tensor_meta m[5];
		consistent(m, &seed);
		for (uint32_t k = pick(&seed, 3); k; k--)
			mutate(m, &seed);
		struct check k = {0};
		check_inputs(&k, &c, m, 5);
		bool pass = passes(m, 5);
		if (pass && k.n)
			fail_msg("run %d: passed, but %s of input %u: expected %.*s, given %.*s", i, check_what_name(k.v[0].what),
				 k.v[0].input, SL(k.v[0].expected), SL(k.v[0].given));
		passed += pass;
		fits += !k.n;
		check_release(&k);
	}
	assert_true(fits > 15000);
	assert_true(passed > fits * 9 / 10); /* the rest are tensors without elements and the like */
}

static int set_up(void **state)
{
	(void)state;
	struct err err;
	if (contract_from_json(&c, slice_str(text), &err) < 0)
		fail_msg("%s", err.text);
	precheck_build(&p, &c);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	precheck_release(&p);
	contract_release(&c);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(usual_inputs_pass), cmocka_unit_test(what_passes_fits)};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name(__FILE__, tests, set_up, tear_down);
}
