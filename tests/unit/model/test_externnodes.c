/* aoti/externnodes, aoti/opschema: what a package says of its proxy calls, and what torch says of the operators. */
#include "../../lib/test.h"

#include <math.h>

#include "model/package/externnodes.h"
#include "model/cppwrapper/opschema.h"
#include "tensor/dtype.h"

static struct guard guard;
static struct err err;

static struct slice guarded(const char *text) { return slice_of(guard_put(&guard, text, strlen(text)), strlen(text)); }

static void read_nodes(struct extern_nodes *x, const char *json)
{
	if (extern_nodes_read(x, guarded(json), &err) < 0)
		fail_msg("%s", err.text);
}

#define NODE(target, inputs, outputs) \
	"{\"name\":\"b\",\"node\":{\"target\":\"" target "\",\"inputs\":[" inputs "],\"outputs\":[" outputs "]}}"
#define IN(name, arg) "{\"name\":\"" name "\",\"arg\":{" arg "},\"kind\":1}"

static void test_nodes(void **state)
{
	(void)state;
	struct extern_nodes x;
	read_nodes(
	    &x,
	    "{\"nodes\":[" NODE(
		"aten::median.dim",
		IN("self", "\"as_tensor\":{\"name\":\"a\"}") "," IN("dim", "\"as_int\":-1") "," IN("keepdim", "\"as_bool\":true"),
		"{\"as_tensor\":{\"name\":\"b\"}},{\"as_tensor\":{\"name\":\"c\"}}") "," NODE("aten::_unique2", "",
											      "") "," NODE("aten::_unique2", "", "") "]}");
	assert_int_equal(x.n, 3);
	assert_string_equal(x.node[0].target, "aten::median.dim");
	assert_string_equal(x.node[0].op, "aten::median");
	assert_string_equal(x.node[0].overload, "dim");
	assert_string_equal(x.node[1].overload, "");
	assert_false(x.node[0].python);
	assert_int_equal(x.node[0].n_in, 3);
	assert_int_equal(x.node[0].n_out, 2);
	assert_int_equal(extern_input(&x, &x.node[0], "self")->kind, EXTERN_TENSOR);
	const struct extern_value *dim = extern_input(&x, &x.node[0], "dim");
	assert_int_equal(dim->kind, EXTERN_INT);
	assert_int_equal(x.item[dim->item].i, -1);
	assert_int_equal(x.item[extern_input(&x, &x.node[0], "keepdim")->item].i, 1);
	assert_null(extern_input(&x, &x.node[0], "di"));
	assert_string_equal(extern_targets(&x, EXTERN_ALL), "aten::median.dim, aten::_unique2");
	assert_null(extern_targets(&x, EXTERN_PYTHON));
	extern_nodes_release(&x);
}

/* Every kind, as torch 2.13 writes it (torch/_export/serde). */
static void test_kinds(void **state)
{
	(void)state;
	static const struct {
		const char *arg;
		enum extern_kind kind;
		bool list;
		uint32_t n;
		int64_t i;
		double f;
		const char *text;
	} want[] = {
	    {"\"as_none\":true", EXTERN_NONE, false, 0, 0, 0, NULL},
	    {"\"as_tensors\":[{\"name\":\"a\"},{\"name\":\"b\"}]", EXTERN_TENSOR, true, 2, 0, 0, NULL},
	    {"\"as_optional_tensors\":[{\"as_none\":true},{\"as_tensor\":{\"name\":\"b\"}}]", EXTERN_TENSOR, true, 2, 0, 0, NULL},
	    {"\"as_optional_tensor\":{\"as_tensor\":{\"name\":\"b\"}}", EXTERN_TENSOR, false, 1, 0, 0, NULL},
	    {"\"as_optional_tensor\":{\"as_none\":true}", EXTERN_NONE, false, 1, 0, 0, NULL},
	    {"\"as_ints\":[5,6,7]", EXTERN_INT, true, 3, 5, 0, NULL},
	    {"\"as_ints\":[]", EXTERN_INT, true, 0, 0, 0, NULL},
	    {"\"as_sym_int\":{\"as_name\":\"s0\"}", EXTERN_INT, false, 1, 0, 0, NULL},
	    {"\"as_sym_int\":{\"as_int\":9}", EXTERN_INT, false, 1, 9, 0, NULL},
	    {"\"as_sym_ints\":[{\"as_int\":1},{\"as_name\":\"s0\"}]", EXTERN_INT, true, 2, 1, 0, NULL},
	    {"\"as_float\":0.5", EXTERN_FLOAT, false, 1, 0, 0.5, NULL},
	    {"\"as_float\":\"-Infinity\"", EXTERN_FLOAT, false, 1, 0, -HUGE_VAL, NULL},
	    {"\"as_floats\":[1.5]", EXTERN_FLOAT, true, 1, 0, 1.5, NULL},
	    {"\"as_complex\":{\"real\":1,\"imag\":2}", EXTERN_COMPLEX, false, 1, 0, 1, NULL},
	    {"\"as_bools\":[true,false]", EXTERN_BOOL, true, 2, 1, 0, NULL},
	    {"\"as_string\":\"a\\u00e9\"", EXTERN_STRING, false, 1, 0, 0, "a\xc3\xa9"},
	    {"\"as_strings\":[\"\"]", EXTERN_STRING, true, 1, 0, 0, ""},
	    {"\"as_scalar_type\":1", EXTERN_DTYPE, false, 1, DTYPE_U8, 0, NULL},
	    {"\"as_scalar_type\":7", EXTERN_DTYPE, false, 1, DTYPE_F32, 0, NULL},
	    {"\"as_scalar_type\":13", EXTERN_DTYPE, false, 1, DTYPE_BF16, 0, NULL},
	    {"\"as_layout\":7", EXTERN_LAYOUT, false, 1, 0, 0, NULL},
	    {"\"as_layout\":6", EXTERN_LAYOUT, false, 1, 3, 0, NULL},
	    {"\"as_memory_format\":1", EXTERN_FORMAT, false, 1, 0, 0, NULL},
	    {"\"as_memory_format\":2", EXTERN_FORMAT, false, 1, 2, 0, NULL},
	    {"\"as_device\":{\"type\":\"cuda\",\"index\":1}", EXTERN_DEVICE, false, 1, 1, 0, "cuda"},
	    {"\"as_device\":{\"type\":\"cpu\",\"index\":null}", EXTERN_DEVICE, false, 1, -1, 0, "cpu"},
	    /* what is not as it should be */
	    {"\"as_complex\":{\"real\":1}", EXTERN_OTHER, false, 0, 0, 0, NULL},
	    {"\"as_int\":\"5\"", EXTERN_OTHER, false, 0, 0, 0, NULL},
	    {"\"as_int\":1.5", EXTERN_OTHER, false, 0, 0, 0, NULL},
	    {"\"as_ints\":5", EXTERN_OTHER, true, 0, 0, 0, NULL},
	    {"\"as_ints\":[5,null]", EXTERN_OTHER, true, 0, 0, 0, NULL},
	    {"\"as_sym_ints\":[7]", EXTERN_OTHER, true, 0, 0, 0, NULL},
	    {"\"as_float\":\"0.5\"", EXTERN_OTHER, false, 0, 0, 0, NULL},
	    {"\"as_scalar_type\":0", EXTERN_OTHER, false, 0, 0, 0, NULL},
	    {"\"as_scalar_type\":99", EXTERN_OTHER, false, 0, 0, 0, NULL},
	    {"\"as_device\":{}", EXTERN_OTHER, false, 0, 0, 0, NULL},
	    {"", EXTERN_OTHER, false, 0, 0, 0, NULL},
	};
	for (size_t k = 0; k < ARRAY_LEN(want); k++) {
		struct extern_nodes x;
		char *json =
		    xasprintf("{\"nodes\":[{\"node\":{\"target\":\"a::b\",\"inputs\":[{\"name\":\"p\",\"arg\":{%s}}]}}]}", want[k].arg);
		read_nodes(&x, json);
		const struct extern_value *v = extern_input(&x, &x.node[0], "p");
		if (!v || v->kind != want[k].kind || v->list != want[k].list || v->n != want[k].n)
			fail_msg("%s: kind %d, list %d, %u", want[k].arg, v ? (int)v->kind : -1, v && v->list, v ? v->n : 0);
		if (v->n && v->kind != EXTERN_TENSOR && v->kind != EXTERN_NONE) {
			const struct extern_item *i = &x.item[v->item];
			if (i->i != want[k].i || !(i->f == want[k].f))
				fail_msg("%s: %lld, %g", want[k].arg, (long long)i->i, i->f);
			assert_true(want[k].kind != EXTERN_COMPLEX || i->imag == 2);
			if (want[k].text)
				assert_text(i->text, want[k].text);
		}
		if (strstr(want[k].arg, "as_optional_tensors"))
			assert_true(!x.item[v->item].given && x.item[v->item + 1].given);
		extern_nodes_release(&x);
		free(json);
	}
}

static void test_odd_files(void **state)
{
	(void)state;
	struct extern_nodes x;
	static const char *const refused[] = {"", "{", "[]", "{}", "{\"nodes\":{}}", "{\"nodes\":null}"};
	for (size_t k = 0; k < ARRAY_LEN(refused); k++)
		if (extern_nodes_read(&x, guarded(refused[k]), &err) == 0)
			fail_msg("taken: %s", refused[k]);
	read_nodes(
	    &x, "{\"nodes\":[1,null,[],{},{\"node\":7},{\"node\":{\"target\":1,\"inputs\":{},\"outputs\":[1,{}]}},"
		"{\"node\":{\"target\":\"a\\u0000b\"}},{\"node\":{\"target\":\".\",\"metadata\":{\"torch_library_custom_op\":\"1\"}}}]}");
	assert_int_equal(x.n, 8);
	for (uint32_t k = 0; k < 7; k++)
		assert_string_equal(x.node[k].target, "");
	assert_int_equal(x.node[5].n_out, 2);
	assert_string_equal(x.node[7].op, "");
	assert_true(x.node[7].python);
	assert_string_equal(extern_targets(&x, EXTERN_PYTHON), ".");
	extern_nodes_release(&x);
}

static void test_recorded(void **state)
{
	(void)state;
	struct extern_nodes x;
	struct buf b = {0};
	if (!data_load("aoti/custom_cpp.pt2.xz", &b))
		skip();
	const char *at = slice_find(buf_slice(&b), "{\"nodes\": ");
	if (!at)
		fail_msg("the package has no extern nodes"); /* they are stored as they are */
	struct slice rest = slice_of(at, b.len - (size_t)(at - b.p));
	const char *end = slice_find(rest, "\"name\": null}}]}");
	assert_non_null(end);
	if (extern_nodes_read(&x, slice_of(at, (size_t)(end - at) + 16), &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(x.n, 3);
	assert_string_equal(x.node[1].target, "pt2fix::halves");
	assert_int_equal(x.node[0].n_in, 23);
	for (uint32_t i = 0; i < x.n_value; i++)
		assert_int_not_equal(x.value[i].kind, EXTERN_OTHER);
	extern_nodes_release(&x);
	buf_release(&b);
}

/* ---- schemas ---- */

/* As one line: type, [], ?, name, =default. */
static void describe(struct buf *b, const struct op_param *p, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		buf_addf(b, "%s%.*s%s%s%s", i ? ", " : "", SL(p[i].type), p[i].items_optional ? "?" : "", p[i].list ? "[]" : "",
			 p[i].optional ? "?" : "");
		if (p[i].name.n)
			buf_addf(b, " %.*s", SL(p[i].name));
		if (p[i].has_default)
			buf_addf(b, "=%.*s", SL(p[i].value));
	}
}

static void schema(const char *text, const char *name, const char *overload, const char *params, const char *results)
{
	struct op_schema s;
	struct buf b = {0};
	if (op_schema_read(&s, guarded(text), &err) < 0)
		fail_msg("%s", err.text);
	assert_text(s.name, name);
	assert_text(s.overload, overload);
	describe(&b, s.param, s.n);
	assert_string_equal(buf_str(&b), params);
	buf_reset(&b);
	describe(&b, s.result, s.n_result);
	assert_string_equal(buf_str(&b), results);
	buf_release(&b);
	op_schema_release(&s);
}

static void test_schemas(void **state)
{
	(void)state;
	schema("aten::_unique2(Tensor self, bool sorted=True, bool return_inverse=False) -> (Tensor, Tensor, Tensor)", "aten::_unique2", "",
	       "Tensor self, bool sorted=True, bool return_inverse=False", "Tensor, Tensor, Tensor");
	schema("aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", "aten::sum",
	       "dim_IntList", "Tensor self, int[]? dim, bool keepdim=False, ScalarType? dtype=None", "Tensor");
	schema("aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)", "aten::add", "out",
	       "Tensor self, Tensor other, Scalar alpha=1, Tensor out", "Tensor");
	schema("aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", "aten::index", "Tensor", "Tensor self, Tensor?[] indices",
	       "Tensor");
	schema("a::b() -> ()", "a::b", "", "", "");
	schema("a::b(str s=\"a,)\\\"b\", int[2] pad=[3, 4], float f=1.0e-05) -> (Tensor values, Tensor(a!)[] more, int? n)", "a::b", "",
	       "str s=\"a,)\\\"b\", int[] pad=[3, 4], float f=1.0e-05", "Tensor values, Tensor[] more, int? n");
	schema("a::b(__torch__.torch.classes.q.P p, Dict(str, Tensor) d, Tensor(a!)?[] t, int[][] l) -> Tensor(a -> *)", "a::b", "",
	       "__torch__.torch.classes.q.P p, Dict d, Tensor?[] t, [] l", "Tensor");
	schema("prim::Print(...) -> ()", "prim::Print", "", "", "");
	static const char *const bad[] = {"",
					  "a",
					  "a::b",
					  "a::b(",
					  "a::b()",
					  "a::b() ->",
					  "a::b(Tensor(a!) -> ()",
					  "a::b(Tensor x] -> ()",
					  "a::b(=3) -> ()",
					  "a::b(Tensor x=\"",
					  "(Tensor x) -> ()"};
	struct op_schema s;
	for (size_t k = 0; k < ARRAY_LEN(bad); k++)
		if (op_schema_read(&s, guarded(bad[k]), &err) == 0)
			fail_msg("taken: %s", bad[k]);
}

/* Any text, cut and damaged anywhere. */
static void test_damaged(void **state)
{
	(void)state;
	static const char json[] = "{\"nodes\":[" NODE("aten::a.b",
						       IN("x", "\"as_tensor\":{\"name\":\"a\"}") "," IN("y", "\"as_ints\":[1,2]") "," IN(
							   "z", "\"as_device\":{\"type\":\"cpu\",\"index\":0}"),
						       "{\"as_tensors\":[{\"name\":\"b\"}]}") "]}";
	static const char text[] = "a::b.c(Tensor(a!)?[] x, int[2]? pad=[3, 4], *, str s='q\\'', Dict(str, int) d) -> (Tensor, Tensor[])";
	char copy[sizeof(json) > sizeof(text) ? sizeof(json) : sizeof(text)];
	uint64_t seed = 11;
	for (int k = 0; k < 20000; k++) {
		bool nodes = k & 1;
		size_t n = nodes ? sizeof(json) - 1 : sizeof(text) - 1;
		memcpy(copy, nodes ? json : text, n);
		if (k % 5 == 0)
			n = pick(&seed, (uint32_t)n);
		for (uint32_t i = 0; n && i < pick(&seed, 4); i++)
			copy[pick(&seed, (uint32_t)n)] =
			    (char)(random_u32(&seed) & 1 ? "()[]{}\",:?=*."[pick(&seed, 13)] : (int)random_u32(&seed));
		struct slice in = slice_of(guard_put(&guard, copy, n), n);
		struct extern_nodes x;
		struct op_schema s;
		if (nodes && extern_nodes_read(&x, in, &err) == 0)
			extern_nodes_release(&x);
		if (!nodes && op_schema_read(&s, in, &err) == 0)
			op_schema_release(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_nodes),    cmocka_unit_test(test_kinds),   cmocka_unit_test(test_odd_files),
	    cmocka_unit_test(test_recorded), cmocka_unit_test(test_schemas), cmocka_unit_test(test_damaged),
	};
	int r = RUN(tests);
	guard_release(&guard);
	return r;
}
