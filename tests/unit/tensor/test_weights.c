/* aoti/weights: weights out of exported programs, packages and files, and which of them a model's constants take. */
#include "../../lib/folder.h"
#include "../../lib/mkzip.h"

#include <fcntl.h>
#include <unistd.h>

#include "tensor/weights/weights.h"

static char *path_of(const char *name) { return xasprintf("%s/%s", folder_path, name); }

#define BYTES(v) slice_of((const char *)(v), sizeof(v))
static const float numbers[] = {0, 1, 2, 3, 4, 5, 6, 7};

/* ---- exported programs ---- */

#define RAW(file, sizes, strides, offset) \
	"{\"path_name\": \"" file "\", \"is_param\": true, \"use_pickle\": false, \"tensor_meta\": {\"dtype\": 7, \"sizes\": [" sizes \
	"], \"strides\": [" strides "], \"storage_offset\": {\"as_int\": " offset "}, \"layout\": 7}}"
#define INT(n) "{\"as_int\": " n "}"

static int open_exported(struct weights *w, const char *config, struct err *err)
{
	struct mkzip z = {0};
	mkzip_add(&z, "net/models/model.json", SLICE("{}"), 0);
	mkzip_add(&z, "net/data/weights/model_weights_config.json", slice_str(config), 0);
	mkzip_add(&z, "net/data/weights/weight_0", BYTES(numbers), 0);
	mkzip_add(&z, "net/data/constants/model_constants_config.json",
		  SLICE("{\"config\": {\"k\": " RAW("tensor_0", INT("2"), INT("1"), "0") ", \"object\": {\"path_name\": \"custom_obj_0\", "
											 "\"use_pickle\": true, \"tensor_meta\": null}}}"),
		  0);
	mkzip_add(&z, "net/data/constants/tensor_0", BYTES(numbers), 0);
	mkzip_end(&z);
	folder_put("net.pt2", buf_slice(&z.b));
	mkzip_release(&z);
	char *path = path_of("net.pt2");
	int r = weights_open(w, path, err);
	free(path);
	return r;
}

static const struct tensor_view *weight(const struct weights *w, const char *name)
{
	for (size_t i = 0; i < w->n; i++)
		if (slice_is(w->v[i].name, name))
			return &w->v[i];
	fail_msg("no weight '%s'", name);
	return NULL;
}

/* The I-th number of V, whose bytes need not be aligned: they lie where they lie in the package. */
static float number(const struct tensor_view *v, size_t i)
{
	float f;
	memcpy(&f, (const char *)v->data + i * sizeof(f), sizeof(f));
	return f;
}

static void exported(void **state)
{
	(void)state;
	struct weights w;
	struct err err = {0};
	if (open_exported(&w,
			  "{\"config\": {\"fc.weight\": " RAW("weight_0", INT("2") ", " INT("3"), INT("3") ", " INT("1"),
							      "0") ", \"a\\\"b\": " RAW("weight_0", INT("3"), INT("2"), "3") "}}",
			  &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(w.n, 3);
	const struct tensor_view *v = weight(&w, "fc.weight");
	assert_true(v->meta.dtype == DTYPE_F32 && v->meta.n_dim == 2 && v->meta.size[1] == 3 && v->meta.stride[0] == 3);
	assert_memory_equal(v->data, numbers, 24);
	v = weight(&w, "a\"b"); /* a view of the same storage, from its fourth element on */
	assert_true(v->meta.size[0] == 3 && v->meta.stride[0] == 2 && number(v, 0) == 3 && number(v, 4) == 7);
	assert_int_equal(weight(&w, "k")->meta.size[0], 2);
	weights_close(&w);
}

static void damaged(void **state)
{
	(void)state;
	static const struct {
		const char *config, *why;
	} bad[] = {
	    {"{\"config\": {\"a\": " RAW("weight_0", INT("9"), INT("1"), "0") "}}", "weight 'a' is outside its file"},
	    {"{\"config\": {\"a\": " RAW("weight_0", INT("2"), INT("1"), "7") "}}", "weight 'a' is outside its file"},
	    {"{\"config\": {\"a\": " RAW("weight_0", INT("2"), INT("1"), "9223372036854775807") "}}", "is outside its file"},
	    {"{\"config\": {\"a\": " RAW("weight_0", INT("2"), INT("-1"), "0") "}}", "is outside its file"},
	    {"{\"config\": {\"a\": " RAW("weight_0", INT("2"), "", "0") "}}", "is outside its file"},
	    {"{\"config\": {\"a\": " RAW("weight_0", INT("4611686018427387904") "," INT("4"), INT("4") "," INT("1"), "0") "}}",
	     "is outside its file"},
	    {"{\"config\": {\"a\": " RAW("weight_7", INT("2"), INT("1"), "0") "}}", "the file of weight 'a' is missing"},
	    {"{\"config\": {\"a\": " RAW("../weight_0", INT("2"), INT("1"), "0") "}}", "the file of weight 'a' is missing"},
	    {"{\"config\": {", "its list of weights is not valid JSON"},
	    {"{\"config\": []}", "has an unknown form"},
	    {"[]", "has an unknown form"},
	};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct weights w;
		struct err err = {0};
		if (open_exported(&w, bad[i].config, &err) == 0)
			fail_msg("'%s' was read", bad[i].config);
		if (err.status != EXIT_INPUT || !strstr(err.text, bad[i].why) || !strstr(err.text, "net.pt2"))
			fail_msg("'%s' has no '%s'", err.text, bad[i].why);
	}
}

/* ---- packages that carry them ---- */

static struct slice saved(const char *name, const struct tensor_meta *m, const void *data, struct buf *b)
{
	struct err err = {0};
	char *path = path_of(name);
	struct tensor_view v = {.meta = *m, .data = data};
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0 && tensor_write(fd, TENSOR_PT, &v, 1, path, &err) == 0);
	buf_cut(b, (size_t)pread(fd, buf_room(b, 1 << 16), 1 << 16, 0));
	close(fd);
	free(path);
	return buf_slice(b);
}

static int open_carried(struct weights *w, struct package *pkg, const char *config, struct err *err)
{
	const struct tensor_meta m = {.dtype = DTYPE_F32, .n_dim = 1, .size = {8}, .stride = {1}};
	struct mkzip z = {0};
	struct buf b = {0};
	mkzip_add(&z, "data/aotinductor/model/abc.wrapper.cpp", SLICE("text"), 0);
	if (config)
		mkzip_add(&z, "data/aotinductor/model/weights_config.json", slice_str(config), 0);
	mkzip_add(&z, "data/weights/weight_0", saved("one.pt", &m, numbers, &b), 0);
	mkzip_end(&z);
	folder_put("carried.pt2", buf_slice(&z.b));
	mkzip_release(&z);
	buf_release(&b);
	char *path = path_of("carried.pt2");
	assert_int_equal(package_open(pkg, path, err), 0);
	free(path);
	return weights_of_package(w, pkg, &pkg->model[0], err);
}

static void carried(void **state)
{
	(void)state;
	struct weights w;
	struct package pkg;
	struct err err = {0};
	if (open_carried(&w, &pkg, "{\"a\": [\"weight_0\", [2, 2], [1, 2], 4], \"b\": [\"weight_0\", [], [], 0]}", &err) != 1)
		fail_msg("%s", err.text);
	assert_int_equal(w.n, 2);
	assert_true(weight(&w, "a")->meta.stride[1] == 2 && number(weight(&w, "a"), 0) == 4);
	assert_int_equal(weight(&w, "b")->meta.n_dim, 0);
	weights_close(&w);
	package_close(&pkg);
	assert_int_equal(open_carried(&w, &pkg, NULL, &err), 0);
	package_close(&pkg);
	static const char *const bad[] = {"{\"a\": [\"weight_0\", [2, 2], [1, 2], 5]}", "{\"a\": [\"weight_0\", [2, 2], [1, 2]]}",
					  "{\"a\": \"weight_0\"}", "{\"a\": [\"weight_1\", [1], [1], 0]}"};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_int_equal(open_carried(&w, &pkg, bad[i], &err), -1);
		assert_true(err.status == EXIT_INPUT && strstr(err.text, "'a'"));
		package_close(&pkg);
	}
}

/* ---- which is which ---- */

enum { ROWS = 2, COLUMNS = 3 };
static struct contract_dim dims[] = {{.size = {ROWS, 0, 0}, .stride = {1, 0, 0}}, {.size = {COLUMNS, 0, 0}, .stride = {ROWS, 0, 0}}};

static struct contract_constant constant(const char *name, const char *fqn, enum constant_type type)
{
	return (struct contract_constant){.name = slice_str(name),
					  .fqn = slice_str(fqn),
					  .dtype = DTYPE_F32,
					  .device = DEVICE_CPU,
					  .n_dim = 2,
					  .dim = dims,
					  .bytes = 24,
					  .type = type,
					  .from_folded = type == CONSTANT_FOLDED};
}

static struct tensor_view given(const char *name, int dtype, int64_t rows)
{
	return (struct tensor_view){
	    slice_str(name), {.dtype = dtype, .n_dim = 2, .size = {rows, COLUMNS}, .stride = {COLUMNS, 1}}, numbers};
}

static void fitting(void **state)
{
	(void)state;
	struct contract_constant c[] = {constant("up_weight", "up.weight", CONSTANT_PARAMETER), constant("down", "", CONSTANT_BUFFER),
					constant("_FOLDED_0", "_FOLDED_0", CONSTANT_FOLDED), constant("none", "none", CONSTANT_PARAMETER)};
	c[3].bytes = 0; /* an empty parameter */
	const struct contract contract = {.constant = c, .n_constants = 4};
	struct tensor_view v[] = {given("x", DTYPE_F32, ROWS), given("down", DTYPE_F32, ROWS), given("up.weight", DTYPE_F32, ROWS)};
	struct weights w = {.path = "w.pt", .v = v, .n = 3};
	struct weights_fit f;
	struct err err = {0};
	if (weights_fit(&w, &contract, true, &f, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(f.n == 2 && slice_is(f.v[0].name, "up_weight") && slice_is(f.v[1].name, "down"));
	/* Laid out as the model reads it: columns one behind the other. */
	static const float columns[] = {0, 3, 1, 4, 2, 5};
	assert_true(f.v[0].meta.stride[0] == 1 && f.v[0].meta.stride[1] == ROWS);
	assert_memory_equal(f.v[0].data, columns, sizeof(columns));
	assert_true(f.n_surplus == 1 && !strcmp(buf_str(&f.surplus), "x") && !f.n_kept);
	weights_fit_release(&f);

	v[1].name = SLICE("other");
	assert_int_equal(weights_fit(&w, &contract, true, &f, &err), -1);
	assert_string_equal(err.text,
			    "'w.pt' lacks weights that the model needs: down (it has these, which the model does not take: x, other)");
	assert_int_equal(weights_fit(&w, &contract, false, &f, &err), 0);
	assert_true(f.n == 1 && f.n_kept == 1 && !strcmp(buf_str(&f.kept), "down"));
	weights_fit_release(&f);
	v[2] = given("up.weight", DTYPE_F64, ROWS + 1);
	assert_int_equal(weights_fit(&w, &contract, false, &f, &err), -1);
	assert_string_equal(err.text, "'w.pt' has weights that do not fit this model: up.weight is f64[3,3] and must be f32[2,3]");
	v[2].name = SLICE("y");
	assert_int_equal(weights_fit(&w, &contract, false, &f, &err), -1);
	assert_string_equal(err.text, "'w.pt' has none of the model's weights: the model takes up.weight, down");
	assert_int_equal(weights_fit(&w, &(const struct contract){0}, false, &f, &err), -1);
	assert_non_null(strstr(err.text, "the model takes no weights"));
}

/* What a file lacks is taken from what the package carries, which is said. */
static void behind(void **state)
{
	(void)state;
	struct contract_constant c[] = {constant("a", "a", CONSTANT_PARAMETER), constant("b", "b", CONSTANT_PARAMETER)};
	const struct contract contract = {.constant = c, .n_constants = 2};
	struct tensor_view of_package[] = {given("a", DTYPE_F32, ROWS), given("b", DTYPE_F32, ROWS), given("c", DTYPE_F32, ROWS)};
	const struct weights carried = {.path = "m.pt2", .v = of_package, .n = 3};
	struct weights w = {.path = "w.pt", .own.map.fd = -1};
	struct weights_fit f;
	struct err err = {0};
	w.v = xcalloc(1, sizeof(*w.v));
	w.v[w.n++] = given("a", DTYPE_F32, ROWS);
	w.cap = 1;
	weights_behind(&w, &carried);
	assert_int_equal(w.n, 3);
	assert_int_equal(weights_fit(&w, &contract, true, &f, &err), 0);
	assert_true(f.n == 2 && f.n_kept == 1 && !strcmp(buf_str(&f.kept), "b") && !f.n_surplus);
	weights_fit_release(&f);
	w.v[0].name = SLICE("x");
	assert_int_equal(weights_fit(&w, &contract, true, &f, &err), -1);
	assert_non_null(strstr(err.text, "'w.pt'"));
	weights_close(&w);
}

/* torch._inductor calls the export's "k" _tensor_constant0: it is taken when no other can be meant. */
static void renamed(void **state)
{
	(void)state;
	struct contract_constant c[] = {constant("a", "a", CONSTANT_PARAMETER),
					constant("_tensor_constant0", "_tensor_constant0", CONSTANT_TENSOR),
					constant("_tensor_constant1", "", CONSTANT_TENSOR)};
	struct contract contract = {.constant = c, .n_constants = 2};
	struct tensor_view v[] = {given("k", DTYPE_F32, ROWS), given("a", DTYPE_F32, ROWS), given("l", DTYPE_F32, ROWS)};
	struct weights w = {.path = "w.pt2", .v = v, .n = 2};
	struct weights_fit f;
	struct err err = {0};
	assert_int_equal(weights_fit(&w, &contract, true, &f, &err), 0);
	assert_true(f.n == 2 && slice_is(f.v[1].name, "_tensor_constant0") && !f.n_surplus);
	weights_fit_release(&f);
	w.n = 3; /* k or l? */
	assert_int_equal(weights_fit(&w, &contract, true, &f, &err), -1);
	assert_non_null(
	    strstr(err.text, "lacks weights that the model needs: _tensor_constant0 (it has these, which the model does not take: k, l)"));
	contract.n_constants = 3; /* or is it the other one? */
	w.n = 2;
	assert_int_equal(weights_fit(&w, &contract, true, &f, &err), -1);
	assert_non_null(strstr(err.text, "needs: _tensor_constant0, _tensor_constant1"));
}

/* Of a library without its text only types and sizes are known. */
static void without_shapes(void **state)
{
	(void)state;
	struct contract_constant c[] = {constant("a", "a", CONSTANT_UNKNOWN)};
	c[0].n_dim = -1;
	const struct contract contract = {.constant = c, .n_constants = 1};
	struct tensor_view v[] = {given("a", DTYPE_F32, ROWS)};
	const struct weights w = {.path = "w.pt", .v = v, .n = 1};
	struct weights_fit f;
	struct err err = {0};
	assert_int_equal(weights_fit(&w, &contract, true, &f, &err), 0);
	assert_true(f.n == 1 && f.v[0].meta.n_dim == 2 && f.v[0].data == numbers);
	weights_fit_release(&f);
	v[0].meta.size[0] = 1;
	assert_int_equal(weights_fit(&w, &contract, true, &f, &err), -1);
	assert_non_null(strstr(err.text, "a is f32[1,3] and must be float32 of another size"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(exported), cmocka_unit_test(damaged), cmocka_unit_test(carried),        cmocka_unit_test(fitting),
	    cmocka_unit_test(renamed),  cmocka_unit_test(behind),  cmocka_unit_test(without_shapes),
	};
	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
