/* aoti/exported, aoti/srepr, aoti/bounds: what torch.export wrote, older forms of it, and texts that are none. */
#include "model/contract/bounds.h"
#include "model/contract/exported.h"
#include "base/sym/srepr.h"
#include "base/io/zip.h"
#include "../../lib/test.h"

static struct contract c;
static struct err err;
static struct buf file;

static int teardown(void **state)
{
	(void)state;
	contract_release(&c);
	return 0;
}

/* models/model.json of tests/data/export/NAME.pt2; valid until the next one. */
static struct slice program(const char *name)
{
	struct zip z;
	struct slice text;
	char *path = xasprintf("export/%s.pt2", name), *member = xasprintf("%s/models/model.json", name);
	assert_true(data_load(path, &file));
	if (zip_open(&z, buf_slice(&file), path, &err) < 0 || zip_data(&z, zip_find(&z, slice_str(member)), &text, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(text.p >= file.p && text.p < file.p + file.len); /* stored */
	zip_close(&z);
	free(path);
	free(member);
	return text;
}

static void read_text(struct slice text)
{
	if (exported_read(&c, text, &err) < 0)
		fail_msg("%s", err.text);
}

/* "x float32 cpu [s77{2..64}/8, 8/1]; ..." */
static void shape(struct buf *b, int n, const struct contract_dim *d, bool ranges)
{
	buf_addc(b, '[');
	for (int i = 0; i < n; i++) {
		buf_adds(b, i ? ", " : "");
		symsize_print(&c.tab, d[i].size, b);
		if (ranges && !symsize_is_int(d[i].size)) {
			buf_addc(b, '{');
			symrange_print(d[i].range, b);
			buf_addc(b, '}');
		}
		buf_addc(b, '/');
		symsize_print(&c.tab, d[i].stride, b);
	}
	buf_addc(b, ']');
}

static void assert_inputs(const char *want)
{
	struct buf b = {0};
	for (uint32_t i = 0; i < c.n_inputs; i++) {
		const struct contract_input *in = &c.input[i];
		buf_addf(&b, "%s%.*s %s %s ", i ? "; " : "", SL(in->name), dtype_name(in->dtype),
			 in->device < 0 ? "-" : device_name(in->device));
		shape(&b, in->n_dim, in->dim, true);
		assert_true(in->rank_known && in->used && !in->asserted);
	}
	assert_string_equal(buf_str(&b), want);
	buf_release(&b);
}

static void assert_paths(const char *want)
{
	struct buf b = {0};
	for (uint32_t i = 0; i < c.n_inputs; i++)
		buf_addf(&b, "%s%.*s", i ? " " : "", SL(c.input[i].path));
	assert_string_equal(buf_str(&b), want);
	buf_release(&b);
}

static void assert_outputs(const char *want)
{
	struct buf b = {0};
	for (uint32_t i = 0; i < c.n_outputs; i++) {
		const struct contract_output *o = &c.output[i];
		buf_addf(&b, "%s%.*s %s ", i ? "; " : "", SL(o->name), o->dtype < 0 ? "-" : dtype_name(o->dtype));
		if (o->n_dim < 0)
			buf_adds(&b, "-");
		else
			shape(&b, o->n_dim, o->dim, false);
	}
	assert_string_equal(buf_str(&b), want);
	buf_release(&b);
}

/* ---- recorded programs ---- */

static void test_mlp(void **state)
{
	(void)state;
	read_text(program("mlp"));
	assert_int_equal(c.source, CONTRACT_FROM_EXPORT);
	assert_inputs("x float32 cpu [s77{[2, 64]}/8, 8/1]");
	assert_paths("x");
	assert_outputs("softmax float32 [s77/4, 4/1]");
	assert_int_equal(c.n_constants, 4);
	assert_text(c.constant[0].fqn, "up.weight");
	assert_text(c.constant[0].name, "p_up_weight");
	assert_int_equal(c.constant[0].type, CONSTANT_PARAMETER);
	assert_int_equal(c.constant[0].bytes, 512);
	assert_int_equal(c.weight_bytes, 512 + 64 + 256 + 16);
	assert_int_equal(c.n_symbols, 1);
	assert_int_equal(c.symbol[0].input, 0);
	assert_int_equal(c.symbol[0].range.hi, 64);
	assert_int_equal(c.n_notes, 0);
}

static void test_conv(void **state)
{
	(void)state;
	read_text(program("conv"));
	assert_inputs("x float32 cpu [s77{[2, 64]}/192, 3/64, 8/8, 8/1]");
	assert_outputs("max_pool2d float32 [s77/64, 4/16, 4/4, 4/1]");
	assert_int_equal(c.n_constants, 7);
	assert_text(c.constant[6].fqn, "norm.num_batches_tracked");
	assert_int_equal(c.constant[6].type, CONSTANT_BUFFER);
	assert_int_equal(c.constant[6].dtype, DTYPE_I64);
	assert_int_equal(c.constant[6].n_dim, 0);
	assert_int_equal(c.constant[6].bytes, 8);
}

static void test_derived(void **state)
{
	(void)state;
	read_text(program("derived"));
	assert_inputs("x float32 cpu [s22{[2, 64]}/4, 4/1]; unused float32 cpu [s22{[2, 64]}/2, 2/1]; "
		      "y float32 cpu [2*s22{[4, 128]}/4, 4/1]");
	assert_paths("x unused y");
	assert_int_equal(c.n_symbols, 1);
}

static void test_mixed(void **state)
{
	(void)state;
	read_text(program("mixed"));
	assert_inputs("x float32 cpu [s17{[2, 64]}/12*s27, s27{[3, 50]}/12, 12/1]; mask bool cpu [s17{[2, 64]}/s27, "
		      "s27{[3, 50]}/1]; n int32 cpu []; y bfloat16 cpu [s17{[2, 64]}/12, s27{[3, 50]}/12*s17, 12/1]");
	assert_int_equal(c.n_symbols, 2);
}

static void test_unbounded(void **state)
{
	(void)state;
	read_text(program("unbounded"));
	assert_inputs("x float32 cpu [s77{[0, int_oo]}/4, 4/1]; y float32 cpu [s17{[2, int_oo]}/3, 3/1]; "
		      "z float32 cpu [s68{[2, 3]}/7, 7/1]");
}

/* As JSON and back it is the same. */
static void test_as_json(void **state)
{
	(void)state;
	struct buf b = {0}, again = {0};
	struct json_out o = {.b = &b}, p = {.b = &again};
	read_text(program("mixed"));
	contract_to_json(&c, &o);
	contract_release(&c);
	if (contract_from_json(&c, buf_slice(&b), &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(c.source, CONTRACT_FROM_EXPORT);
	contract_to_json(&c, &p);
	assert_true(slice_eq(buf_slice(&b), buf_slice(&again)));
	buf_release(&b);
	buf_release(&again);
}

/* ---- made by hand ---- */

#define TENSOR(dtype, sizes, strides) \
	"{\"dtype\":" #dtype ",\"sizes\":[" sizes "],\"strides\":[" strides "],\"device\":{\"type\":\"cuda\",\"index\":0}}"
#define INT(n) "{\"as_int\":" #n "}"
#define EXPR(text) "{\"as_expr\":{\"expr_str\":\"" text "\",\"hint\":null}}"
#define SYM(name) "Symbol('" name "', positive=True, integer=True)"
#define USER(kind, key, name) "{\"user_input\":{\"arg\":{\"" kind "\":{\"" key "\":\"" name "\"}}}}"
#define LEAF "{\\\"type\\\": null, \\\"context\\\": null, \\\"children_spec\\\": []}"

/* f(batch = (a, b), flag, n, *, mask): flag is constant, n a dynamic int. */
struct parts {
	const char *version, *ranges, *inputs, *outputs, *values, *ints, *calls;
};
static const struct parts whole = {
    .version = "{\"major\":8,\"minor\":20}",
    .ranges = "{\"s0\":{\"min_val\":null,\"max_val\":10},\"2*s0\":{\"min_val\":4,\"max_val\":20},"
	      "\"s1\":{\"min_val\":3,\"max_val\":null},\"u9\":{\"min_val\":1,\"max_val\":7}}",
    .inputs = "{\"tensor_constant\":{\"arg\":{\"name\":\"c_k\"},\"tensor_constant_name\":\"k\"}},"
	      "{\"custom_obj\":{\"arg\":{\"name\":\"o\",\"class_fqn\":\"f\"},\"custom_obj_name\":\"o\"}},"
	      "{\"token\":{\"arg\":{\"name\":\"t\"}}}," USER("as_tensor", "name", "batch_0") "," USER(
		  "as_tensor", "name", "batch_1") ","
						  "{\"constant_input\":{\"name\":\"flag\",\"value\":{\"as_bool\":true}}}," USER(
						      "as_sym_int", "as_name", "n") "," USER("as_tensor", "name", "mask"),
    .outputs = "{\"buffer_mutation\":{\"arg\":{\"name\":\"add\"},\"buffer_name\":\"b\"}},"
	       "{\"user_output\":{\"arg\":{\"as_tensor\":{\"name\":\"add\"}}}},"
	       "{\"user_output\":{\"arg\":{\"as_none\":true}}},"
	       "{\"user_output\":{\"arg\":{\"as_sym_int\":{\"as_name\":\"n\"}}}},"
	       "{\"loss_output\":{\"arg\":{\"name\":\"mask\"}}}",
    .values = "\"c_k\":" TENSOR(
	1, INT(3),
	INT(1)) ","
		"\"batch_0\":" TENSOR(
		    7, EXPR(SYM("s0")) "," EXPR("Add(Mul(Integer(-1), " SYM("s0") "), " SYM("s1") ")"),
		    INT(1) "," INT(2)) ","
				       "\"batch_1\":" TENSOR(
					   99, EXPR("FloorDiv(" SYM("s1") ", Integer(2))"),
					   EXPR("Wrong(")) ","
							   "\"mask\":" TENSOR(
							       30, EXPR("Add(Mul(Integer(2), " SYM("s0") "), Integer(1))") "," INT(4),
							       "") ","
								   "\"add\":" TENSOR(13, EXPR(SYM("u9")), INT(1)) ",\"left\":7",
    .ints = "\"n\":" EXPR(SYM("s7")),
    .calls = "{\"fqn\":\"\",\"signature\":{\"inputs\":[],\"outputs\":[],\"in_spec\":\"[1, {\\\"type\\\": "
	     "\\\"builtins.tuple\\\", "
	     "\\\"context\\\": \\\"null\\\", \\\"children_spec\\\": [{\\\"type\\\": \\\"builtins.tuple\\\", "
	     "\\\"context\\\": "
	     "\\\"null\\\", \\\"children_spec\\\": [{\\\"type\\\": \\\"builtins.tuple\\\", \\\"context\\\": \\\"null\\\", "
	     "\\\"children_spec\\\": [" LEAF ", " LEAF "]}, " LEAF ", " LEAF "]}, {\\\"type\\\": \\\"builtins.dict\\\", "
	     "\\\"context\\\": \\\"[\\\\\\\"mask\\\\\\\"]\\\", \\\"children_spec\\\": [" LEAF "]}]}]\",\"out_spec\":\"\","
	     "\"forward_arg_names\":[\"batch\",\"flag\",\"n\",\"mask\"]}},{\"fqn\":\"sub\",\"signature\":null}",
};

static void assemble(const struct parts *p, struct buf *b)
{
	buf_reset(b);
	buf_addf(b,
		 "{\"graph_module\":{\"graph\":{\"inputs\":[],\"outputs\":[],\"nodes\":[{\"target\":\"f\"}],"
		 "\"tensor_values\":{%s},\"sym_int_values\":{%s}},\"signature\":{\"input_specs\":[%s],\"output_specs\":"
		 "[%s]},"
		 "\"module_call_graph\":[%s]},\"range_constraints\":%s,\"schema_version\":%s}",
		 p->values, p->ints, p->inputs, p->outputs, p->calls, p->ranges, p->version);
}

static void read_parts(struct parts p)
{
	struct buf b = {0};
	contract_release(&c);
	assemble(&p, &b);
	read_text(buf_slice(&b));
	buf_release(&b);
}

static void refuse_parts(struct parts p, const char *why)
{
	struct buf b = {0};
	contract_release(&c);
	assemble(&p, &b);
	assert_int_equal(exported_read(&c, buf_slice(&b), &err), -1);
	assert_int_equal(err.status, EXIT_INPUT);
	if (!strstr(err.text, why))
		fail_msg("'%s' does not say '%s'", err.text, why);
	buf_release(&b);
}

static void test_every_kind(void **state)
{
	(void)state;
	read_parts(whole);
	assert_inputs("batch_0 float32 cuda [s0{[-int_oo, 10]}/1, -s0 + s1{[-7, int_oo]}/2]; batch_1 dtype -1 cuda "
		      "[(s1//2){[-int_oo, int_oo]}/?]; n int64 - []; mask float8_e5m2 cuda [2*s0 + 1{[-int_oo, 21]}/?, 4/?]");
	assert_paths("batch[0] batch[1] n mask");
	assert_outputs("add bfloat16 [u9/1];  - -; n int64 []; mask float8_e5m2 [2*s0 + 1/?, 4/?]");
	assert_int_equal(c.n_constants, 1);
	assert_int_equal(c.constant[0].type, CONSTANT_TENSOR);
	assert_int_equal(c.constant[0].dtype, DTYPE_U8);
	assert_int_equal(c.n_notes, 2);
	assert_non_null(slice_find(c.note[0], "is not understood"));
	assert_non_null(slice_find(c.note[1], "dtype 99"));
}

/* s7 of the int and u9 of the result come from data. */
static void test_symbols_from_data(void **state)
{
	(void)state;
	read_parts(whole);
	bool s7 = false, u9 = false;
	for (uint32_t i = 0; i < c.n_symbols; i++) {
		struct slice name = symtab_name(&c.tab, c.symbol[i].symbol);
		if (slice_is(name, "s7"))
			s7 = c.symbol[i].input == NONE;
		if (slice_is(name, "u9"))
			u9 = c.symbol[i].input == NONE && c.symbol[i].range.lo == 1 && c.symbol[i].range.hi == 7;
	}
	assert_true(s7 && u9);
}

/* torch 2.3 and 2.4: plain text for expressions, the largest int for no bound, no argument names. */
static void test_older(void **state)
{
	(void)state;
	struct parts p = whole;
	p.version = "{\"major\":5,\"minor\":3}";
	p.ranges = "{\"s0\":{\"min_val\":2,\"max_val\":9223372036854775806},\"s1\":{\"min_val\":-9223372036854775808,"
		   "\"max_val\":9223372036854775807}}";
	p.inputs = USER("as_tensor", "name", "x") ",{\"user_input\":{\"arg\":{\"as_none\":true}}}";
	p.outputs = "";
	p.values = "\"x\":" TENSOR(28, EXPR("s0") "," EXPR("2*s0 + 1") "," EXPR("s1"), INT(1) "," INT(1) "," INT(1));
	p.calls = "{\"fqn\":\"\",\"signature\":{\"in_spec\":\"[1, {\\\"type\\\": \\\"builtins.tuple\\\", "
		  "\\\"context\\\": \\\"null\\\", "
		  "\\\"children_spec\\\": [{\\\"type\\\": \\\"builtins.tuple\\\", \\\"context\\\": \\\"null\\\", "
		  "\\\"children_spec\\\": [" LEAF ", " LEAF "]}, {\\\"type\\\": \\\"builtins.dict\\\", \\\"context\\\": \\\"[]\\\", "
		  "\\\"children_spec\\\": []}]}]\",\"out_spec\":\"\"}}";
	read_parts(p);
	assert_inputs("x uint16 cuda [s0{[2, int_oo]}/1, 2*s0 + 1{[5, int_oo]}/1, s1{[-int_oo, int_oo]}/1]");
	assert_paths("args[0]");
	assert_int_equal(c.n_notes, 0);
}

static void test_other_schemas(void **state)
{
	(void)state;
	struct parts p = whole;
	p.version = "{\"major\":9,\"minor\":0}";
	refuse_parts(p, "schema version 9.0, but only 5 to 8 are supported");
	p.version = "{\"major\":4,\"minor\":2}";
	refuse_parts(p, "schema version 4.2");
	p.version = "3";
	refuse_parts(p, "schema version 3.0");
	p.version = "\"8\"";
	refuse_parts(p, "'schema_version'");
	p.version = "{\"major\":99999999999999999999999}";
	refuse_parts(p, "'schema_version'");
}

static void test_missing_parts(void **state)
{
	(void)state;
	static const char *const texts[][2] = {
	    {"", "neither an object"},
	    {"[]", "'schema_version' is missing"},
	    {"{\"schema_version\":{\"major\":8}}", "'graph_module' is missing"},
	    {"{\"schema_version\":{\"major\":8},\"graph_module\":{}}", "'graph' is missing"},
	    {"{\"schema_version\":{\"major\":8},\"graph_module\":{\"graph\":{}}}", "'signature' is missing"},
	    {"{\"schema_version\":{\"major\":8},\"graph_module\":{\"graph\":{},\"signature\":{}}}", "'input_specs' is missing"},
	    {"{\"schema_version\":{\"major\":8},\"graph_module\":7}", "neither an object"},
	};
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		assert_int_equal(exported_read(&c, slice_str(texts[i][0]), &err), -1);
		if (!strstr(err.text, texts[i][1]))
			fail_msg("'%s' does not say '%s'", err.text, texts[i][1]);
	}
	struct parts p = whole;
	p.values = "";
	refuse_parts(p, "no metadata for input 'batch_0'");
	p = whole;
	p.calls = "";
	refuse_parts(p, "'module_call_graph' is missing");
	p = whole;
	p.inputs = "{\"parameter\":{\"arg\":{\"name\":\"p\"}}}";
	refuse_parts(p, "'parameter_name' is missing");
}

static void test_contradicting_bounds(void **state)
{
	(void)state;
	struct parts p = whole;
	p.ranges = "{\"s0\":{\"min_val\":5,\"max_val\":4},\"s1\":{\"min_val\":1e999,\"max_val\":\"x\"},\"u9\":7,\"((\":{}}";
	read_parts(p);
	assert_int_equal(c.n_notes, 3);
	assert_true(c.input[0].dim[0].range.lo_inf && c.input[0].dim[0].range.hi_inf);
}

/* Sizes that no tensor has: beyond int64, negative, a product that overflows. */
static void test_huge_numbers(void **state)
{
	(void)state;
	struct parts p = whole;
	p.inputs = "{\"parameter\":{\"arg\":{\"name\":\"w\"},\"parameter_name\":\"w\"}},"
		   "{\"buffer\":{\"arg\":{\"name\":\"v\"},\"buffer_name\":\"v\"}}";
	p.outputs = "";
	p.values = "\"w\":" TENSOR(
	    8, INT(9223372036854775807) "," INT(16),
	    INT(1) "," INT(1)) ","
			       "\"v\":" TENSOR(8, INT(99999999999999999999) "," INT(-3) "," EXPR("Integer(99999999999999999999)"), "");
	p.calls = "{\"fqn\":\"\",\"signature\":null}";
	read_parts(p);
	assert_int_equal(c.constant[0].bytes, 0);
	assert_int_equal(c.constant[1].bytes, 0);
	assert_int_equal(c.constant[1].dim[1].size.k, -3);
	assert_false(contract_known(&c, c.constant[1].dim[0].size));
	assert_false(contract_known(&c, c.constant[1].dim[2].size));
	assert_int_equal(c.n_notes, 2);
}

static void test_too_many_dims(void **state)
{
	(void)state;
	struct buf b = {0};
	buf_adds(&b, "\"x\":{\"dtype\":7,\"sizes\":[{\"as_int\":1}");
	for (int i = 0; i < 64; i++)
		buf_adds(&b, ",{\"as_int\":1}");
	buf_adds(&b, "]}");
	struct parts p = whole;
	p.inputs = USER("as_tensor", "name", "x");
	p.values = buf_str(&b);
	refuse_parts(p, "more than 64 dims");
	buf_release(&b);
}

/* What is passed over may be as deep as it likes; what is read may not. */
static void test_deep_nesting(void **state)
{
	(void)state;
	size_t n = 200000;
	char *deep = xmalloc(2 * n + 8);
	memset(deep, '[', n);
	memset(deep + n, ']', n);
	deep[2 * n] = 0;
	struct parts p = whole;
	char *values = xasprintf("%s,\"other\":%s", whole.values, deep), *inputs = xasprintf("%s,%s", whole.inputs, deep);
	p.values = values;
	read_parts(p);
	p = whole;
	p.inputs = inputs;
	refuse_parts(p, "byte ");
	p = whole;
	p.ranges = deep;
	refuse_parts(p, "byte ");
	free(deep);
	free(values);
	free(inputs);
}

static void try(struct guard *g, struct slice text)
{
	struct contract d;
	if (exported_read(&d, slice_of(guard_put(g, text.p, text.n), text.n), &err) == 0)
		contract_release(&d);
	else
		assert_true(err.text[0]);
}

/* Cut anywhere, and with any byte replaced, at the end of memory. */
static void test_damaged(void **state)
{
	(void)state;
	struct guard g = {0};
	struct buf b = {0};
	static const char with[] = "{}[]\",:0-9\\'(en\0\xff";
	assemble(&whole, &b);
	for (size_t i = 0; i < b.len; i++) {
		try(&g, slice_of(b.p, i));
		char was = b.p[i];
		for (size_t k = i % 4; k < sizeof(with); k += 4) {
			b.p[i] = with[k];
			try(&g, buf_slice(&b));
		}
		b.p[i] = was;
	}
	struct slice real = program("derived");
	for (size_t i = 0; i < real.n; i += 3)
		try(&g, slice_of(real.p, i));
	guard_release(&g);
	buf_release(&b);
}

/* A graph of many nodes: only the tensors of the call are looked at. */
static void test_large(void **state)
{
	(void)state;
	struct buf b = {0};
	struct parts p = whole;
	buf_adds(&b, whole.values);
	for (int i = 0; i < 200000; i++)
		buf_addf(&b, ",\"t%d\":" TENSOR(7, EXPR(SYM("s0")) "," INT(8), INT(8) "," INT(1)), i);
	p.values = buf_str(&b);
	read_parts(p);
	assert_int_equal(c.n_inputs, 4);
	buf_release(&b);
}

/* ---- srepr ---- */

static void test_srepr(void **state)
{
	(void)state;
	/* From sympy.srepr and str of the same expressions (torch 2.13, sympy 1.14). */
	static const char *const same[][2] = {
	    {"FloorDiv(" SYM("s0") ", Integer(2))", "(s0//2)"},
	    {"Add(Mul(Integer(2), " SYM("s0") "), Integer(1))", "2*s0 + 1"},
	    {"Add(Mul(" SYM("s0") ", Symbol('u1', integer=True)), Integer(-3))", "s0*u1 - 3"},
	    {"Mod(" SYM("s0") ", Integer(3))", "Mod(s0, 3)"},
	    {"ModularIndexing(" SYM("s0") ", Integer(2), Integer(3))", "ModularIndexing(s0, 2, 3)"},
	    {"Max(" SYM("s0") ", Symbol('u1', integer=True))", "Max(s0, u1)"},
	    {"Min(Integer(4), " SYM("s0") ")", "Min(4, s0)"},
	    {"PowByNatural(" SYM("s0") ", Symbol('u1', integer=True))", "PowByNatural(s0, u1)"},
	    {"Pow(" SYM("s0") ", Integer(2))", "s0**2"},
	    {"FloorDiv(Add(" SYM("s0") ", Integer(3)), Integer(4))", "((s0 + 3)//4)"},
	    {"floor(Mul(Rational(1, 2), " SYM("s0") "))", "floor(s0/2)"},
	    {"Equality(" SYM("s0") ", Symbol('u1', integer=True))", "Eq(s0, u1)"},
	    {"StrictLessThan(" SYM("s0") ", Symbol('u1', integer=True))", "s0 < u1"},
	    {"Unequality(" SYM("s0") ", Integer(2))", "Ne(s0, 2)"},
	    {"And(StrictGreaterThan(" SYM("s0") ", Integer(3)), StrictLessThan(Symbol('u1', integer=True), Integer(4)))",
	     "(s0 > 3) & (u1 < 4)"},
	    {"CleanDiv(" SYM("s0") ", Integer(2))", "(s0//2)"},
	    {"PythonMod(" SYM("s0") ", Integer(3))", "PythonMod(s0, 3)"},
	    {"Identity(" SYM("s0") ")", "(s0)"},
	    {"torch.utils._sympy.functions.FloorDiv(" SYM("s0") ", Integer(2))", "s0//2"},
	    {"Mul(Integer(3), Add(" SYM("s0") ", Integer(-1)))", "3*s0 - 3"},
	    {"Pow(Add(" SYM("s0") ", Integer(1)), Integer(2))", "s0**2 + 2*s0 + 1"},
	    {"Integer(7)", "7"},
	};
	struct symtab tab = {0};
	struct buf b = {0};
	for (size_t i = 0; i < ARRAY_LEN(same); i++) {
		struct symsize x = {0}, y = {0};
		buf_reset(&b);
		assert_true(srepr_like(slice_str(same[i][0])));
		if (srepr_to_infix(slice_str(same[i][0]), &b, &err) < 0 || symsize_parse(&tab, buf_slice(&b), &x, &err) < 0 ||
		    symsize_parse(&tab, slice_str(same[i][1]), &y, &err) < 0)
			fail_msg("%s: %s", same[i][0], err.text);
		if (!symsize_eq(x, y))
			fail_msg("%s became %s", same[i][0], buf_str(&b));
	}
	assert_false(srepr_like(SLICE("2*s0 + 1")));
	/* No integers: opaque, and no failure. */
	static const char *const opaque[] = {
	    "RoundToInt(Mul(Float('0.5', precision=53), ToFloat(" SYM("s0") ")))",
	    "Piecewise(ExprCondPair(" SYM("s0") ", StrictGreaterThan(" SYM("s0") ", Integer(3))), ExprCondPair(Integer(1), true))",
	    "IntTrueDivision(" SYM("s0") ", Integer(2))",
	};
	for (size_t i = 0; i < ARRAY_LEN(opaque); i++) {
		struct symsize x = {0};
		buf_reset(&b);
		if (srepr_to_infix(slice_str(opaque[i]), &b, &err) < 0 || symsize_parse(&tab, buf_slice(&b), &x, &err) < 0)
			fail_msg("%s: %s", opaque[i], err.text);
		assert_true(symsize_has_opaque(&tab, x));
	}
	buf_release(&b);
	symtab_release(&tab);
}

static void test_srepr_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {
	    "",
	    "(",
	    ")",
	    "Symbol",
	    "Symbol(",
	    "Symbol()",
	    "Symbol('",
	    "Symbol('a",
	    "Symbol('a'",
	    "Symbol('a', x)",
	    "Symbol('a', x=)",
	    "Symbol('a b')",
	    "Symbol('a); drop')",
	    "Symbol('1')",
	    "Symbol(\"a')",
	    "Integer()",
	    "Integer(-)",
	    "Integer(x)",
	    "Integer(1",
	    "Integer(1))",
	    "Add(",
	    "Add()",
	    "Add(,)",
	    "Add(Integer(1),)",
	    "Add(Integer(1) Integer(2))",
	    "Pow(Integer(1))",
	    "Pow(Integer(1), Integer(2), Integer(3))",
	    "Rational(1)",
	    "Rational(1, 2",
	    "Integer(1), Integer(2)",
	    "Add(Integer(1)]",
	    "Integer(123456789012345678901234567890123)",
	    "Float('0.5; x', precision=53)",
	    "\xff(Integer(1))",
	    "Integer(1) + Integer(2)",
	};
	struct buf b = {0};
	struct guard g = {0};
	buf_adds(&b, "kept");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		size_t n = strlen(bad[i]);
		if (srepr_to_infix(slice_of(guard_put(&g, bad[i], n), n), &b, &err) == 0)
			fail_msg("'%s' became '%s'", bad[i], buf_str(&b));
		assert_string_equal(buf_str(&b), "kept");
	}
	guard_release(&g);
	buf_release(&b);
}

static void test_srepr_bounded(void **state)
{
	(void)state;
	struct buf in = {0}, out = {0};
	for (int i = 0; i < 1000; i++)
		buf_adds(&in, "Add(Integer(1), ");
	assert_int_equal(srepr_to_infix(buf_slice(&in), &out, &err), -1);
	assert_non_null(strstr(err.text, "nested too deeply"));
	buf_reset(&in);
	buf_adds(&in, "Add(Integer(1)");
	for (int i = 0; i < 50000; i++)
		buf_adds(&in, ", Integer(1)");
	buf_adds(&in, ")");
	assert_int_equal(srepr_to_infix(buf_slice(&in), &out, &err), -1);
	assert_non_null(strstr(err.text, "too long"));
	assert_true(out.cap < 4 * SYMSIZE_MAX_TEXT);
	buf_reset(&in);
	for (int i = 0; i < 2000000; i++)
		buf_addc(&in, 'a');
	assert_int_equal(srepr_to_infix(buf_slice(&in), &out, &err), -1);
	buf_release(&in);
	buf_release(&out);
}

/* ---- bounds ---- */

static void test_bounds(void **state)
{
	(void)state;
	static const char *const of[][2] = {
	    {"s0", "[2, 10]"},
	    {"3*s0 + 1", "[7, 31]"},
	    {"5 - s0", "[-5, 3]"},
	    {"s0 + s1", "[2, int_oo]"},
	    {"s0 - s1", "[-int_oo, 10]"},
	    {"s0 + s2", "[-int_oo, int_oo]"},
	    {"s0*s1", "[-int_oo, int_oo]"},
	    {"s0//2", "[-int_oo, int_oo]"},
	    {"s0**2", "[-int_oo, int_oo]"},
	    {"7", "[-int_oo, int_oo]"},
	    {"9223372036854775807*s0", "[-int_oo, int_oo]"},
	};
	struct symtab tab = {0};
	struct bounds b = {0};
	struct buf text = {0};
	bounds_set(&b, symtab_symbol(&tab, SLICE("s0")), (struct symrange){2, 10, false, false});
	bounds_set(&b, symtab_symbol(&tab, SLICE("s1")), (struct symrange){0, 0, false, true});
	for (int twice = 0; twice < 2; twice++)
		for (size_t i = 0; i < ARRAY_LEN(of); i++) {
			struct symsize s = symsize_parse_any(&tab, slice_str(of[i][0]));
			buf_reset(&text);
			symrange_print(bounds_size(&b, &tab, s), &text);
			if (strcmp(buf_str(&text), of[i][1]))
				fail_msg("%s: %s, not %s", of[i][0], buf_str(&text), of[i][1]);
		}
	buf_release(&text);
	bounds_release(&b);
	symtab_release(&tab);
}

static void test_dtypes(void **state)
{
	(void)state;
	assert_int_equal(exported_dtype(1), DTYPE_U8);
	assert_int_equal(exported_dtype(7), DTYPE_F32);
	assert_int_equal(exported_dtype(12), DTYPE_BOOL);
	assert_int_equal(exported_dtype(13), DTYPE_BF16);
	assert_int_equal(exported_dtype(28), DTYPE_U16);
	assert_int_equal(exported_dtype(29), DTYPE_F8E4M3FN);
	assert_int_equal(exported_dtype(33), DTYPE_F8E8M0FNU);
	assert_int_equal(exported_dtype(35), DTYPE_U64);
	static const int64_t none[] = {0, -1, 14, 27, 36, INT64_MAX, INT64_MIN};
	for (size_t i = 0; i < ARRAY_LEN(none); i++)
		assert_int_equal(exported_dtype(none[i]), DTYPE_NONE);
}

int main(void)
{
#define T(f) cmocka_unit_test_teardown(f, teardown)
	const struct CMUnitTest tests[] = {
	    T(test_mlp),          T(test_conv),          T(test_derived),       T(test_mixed),
	    T(test_unbounded),    T(test_as_json),       T(test_every_kind),    T(test_symbols_from_data),
	    T(test_older),        T(test_other_schemas), T(test_missing_parts), T(test_contradicting_bounds),
	    T(test_huge_numbers), T(test_too_many_dims), T(test_deep_nesting),  T(test_damaged),
	    T(test_large),        T(test_srepr),         T(test_srepr_refused), T(test_srepr_bounded),
	    T(test_bounds),       T(test_dtypes),
	};
	int failed = RUN(tests);
	buf_release(&file);
	return failed;
}
