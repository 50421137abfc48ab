/* aoti/against: every way in which a compiled model takes other calls than were exported. */
#include "exportdiff/exportdiff.h"
#include "model/contract/exported.h"
#include "model/cppwrapper/wrapper.h"
#include "base/io/zip.h"
#include "../../lib/test.h"

static struct contract e, c;
static struct exportdiff a;
static struct err err;

static int teardown(void **state)
{
	(void)state;
	exportdiff_release(&a);
	contract_release(&e);
	contract_release(&c);
	return 0;
}

static void *zeroed(struct contract *k, size_t n, size_t size)
{
	void *p = arena_alloc(&k->arena, n * size);
	memset(p, 0, n * size);
	return p;
}

static int64_t number(const char **p)
{
	char *end;
	int64_t v = strtoll(*p, &end, 10);
	*p = end;
	return v;
}

/* "s0{2..64}/8 8/1": sizes, bounds, strides; {2..} has no upper bound, ? is unknown. */
static int dims(struct contract *k, const char *text, struct contract_dim **out)
{
	struct contract_dim *d = contract_dims(k, 8);
	int n = 0;
	for (const char *p = text; *p; n++) {
		size_t len = strcspn(p, "{/ ");
		d[n].size = symsize_parse_any(&k->tab, slice_of(p, len));
		p += len;
		if (*p == '{') {
			p++;
			d[n].range.lo = number(&p);
			d[n].range.lo_inf = false;
			p += 2;
			if (*p != '}') {
				d[n].range.hi = number(&p);
				d[n].range.hi_inf = false;
			}
			p++;
		}
		if (*p == '/') {
			len = strcspn(++p, " ");
			d[n].stride = symsize_parse_any(&k->tab, slice_of(p, len));
			p += len;
		}
		p += *p == ' ';
	}
	*out = d;
	return n;
}

static void start(struct contract *k, enum contract_source source)
{
	*k = (struct contract){.source = source, .device = DEVICE_NONE};
	k->input = zeroed(k, 8, sizeof(*k->input));
	k->output = zeroed(k, 8, sizeof(*k->output));
	k->constant = zeroed(k, 8, sizeof(*k->constant));
}

static struct contract_input *input(struct contract *k, const char *name, int dtype, const char *shape)
{
	struct contract_input *in = &k->input[k->n_inputs++];
	*in = (struct contract_input){.name = slice_str(name), .dtype = dtype, .rank_known = true};
	in->n_dim = dims(k, shape, &in->dim);
	in->asserted = k->source == CONTRACT_FROM_EXPORT ? 0 : k->n_inputs;
	return in;
}

/* As it is in the compiled code when nothing uses it. */
static struct contract_input *unused(struct contract *k, const char *name, int dtype, const char *shape)
{
	struct contract_input *in = input(k, name, dtype, shape);
	in->asserted = 0;
	in->rank_known = false;
	return in;
}

static struct contract_output *output(struct contract *k, int dtype, const char *shape)
{
	struct contract_output *o = &k->output[k->n_outputs++];
	*o = (struct contract_output){.name = SLICE("out"), .dtype = dtype, .device = DEVICE_CPU, .value = NONE};
	o->n_dim = dims(k, shape, &o->dim);
	return o;
}

static struct contract_constant *weight(struct contract *k, const char *fqn, int dtype, const char *shape)
{
	struct contract_constant *w = &k->constant[k->n_constants++];
	*w = (struct contract_constant){.name = slice_str(fqn), .fqn = slice_str(fqn), .dtype = dtype};
	w->n_dim = dims(k, shape, &w->dim);
	return w;
}

static void begin(void)
{
	teardown(NULL);
	start(&e, CONTRACT_FROM_EXPORT);
	start(&c, CONTRACT_FROM_TEXT);
}

static void compare(void)
{
	if ((e.input && !e.symbol && contract_finish(&e, &err) < 0) || (!c.symbol && contract_finish(&c, &err) < 0))
		fail_msg("%s", err.text);
	exportdiff_release(&a);
	int rc = exportdiff_compare(&e, &c, &a);
	assert_int_equal(rc, a.n_bad > 0);
	size_t bad = 0;
	for (size_t i = 0; i < a.n; i++) {
		assert_true(a.v[i].subject.n && a.v[i].exported.n && a.v[i].compiled.n && a.v[i].why.n);
		assert_true(!i || a.v[i - 1].advice <= a.v[i].advice);
		bad += !a.v[i].advice;
	}
	assert_int_equal(bad, a.n_bad);
}

/* "narrower input 0 dim 0: s0: 2..64 | 2..15; (advice) ..." */
static void assert_found(const char *want)
{
	struct buf b = {0};
	for (size_t i = 0; i < a.n; i++) {
		const struct exportdiff_finding *f = &a.v[i];
		buf_addf(&b, "%s%s%s %.*s: %.*s | %.*s", i ? "\n" : "", f->advice ? "advice " : "", exportdiff_what_name(f->what),
			 SL(f->subject), SL(f->exported), SL(f->compiled));
	}
	assert_string_equal(buf_str(&b), want);
	buf_release(&b);
}

static void expect(const char *exported, const char *compiled, const char *want)
{
	begin();
	input(&e, "x", DTYPE_F32, exported);
	input(&c, "arg0_1", DTYPE_F32, compiled);
	compare();
	assert_found(want);
}

/* ---- one input ---- */

static void test_same(void **state)
{
	(void)state;
	expect("s0{2..64}/8 8/1", "s5{2..64}/8 8/1", "");
	expect("", "", "");
	expect("s0{2..}/12*s1 s1{3..50}/12 12/1", "s9{2..}/12*s8 s8{3..50}/12 12/1", "");
	expect("2*s0{4..128}/4 4/1", "2*s0{4..128}/4 4/1", "");
	expect("s0{7..7}/1", "7/1", "");
	/* A bound below 0 is none. */
	expect("s0/1", "s0{0..}/1", "");
}

static void test_narrower(void **state)
{
	(void)state;
	expect("s77{2..64}/3 3/1", "s77{2..15}/3 3/1", "narrower input 0 (x), dim 0: s77: 2..64 | 2..15");
	assert_text(a.v[0].why, "16..64 are rejected under AOTI_RUNTIME_CHECK_INPUTS=1 and not checked otherwise");
	assert_non_null(slice_find(a.v[0].fix, "backed_size_oblivious"));
	expect("s0{0..}/1", "s0{2..}/1", "narrower input 0 (x), dim 0: s0: any size | 2 or more");
	assert_text(a.v[0].why, "0..1 are rejected under AOTI_RUNTIME_CHECK_INPUTS=1 and not checked otherwise");
	expect("s0{1..}/1", "s0{2..9}/1", "narrower input 0 (x), dim 0: s0: 1 or more | 2..9");
	assert_text(a.v[0].why, "1 and 10 or more are rejected under AOTI_RUNTIME_CHECK_INPUTS=1 and not checked otherwise");
	expect("s0{2..16}/1", "s0{2..15}/1", "narrower input 0 (x), dim 0: s0: 2..16 | 2..15");
	assert_text(a.v[0].why, "16 are rejected under AOTI_RUNTIME_CHECK_INPUTS=1 and not checked otherwise");
	/* Nothing in common. */
	expect("s0{20..30}/1", "s0{2..9}/1",
	       "narrower input 0 (x), dim 0: s0: 20..30 | 2..9\nadvice wider input 0 (x), dim 0: s0: 20..30 | 2..9");
	assert_text(a.v[0].why, "20..30 are rejected under AOTI_RUNTIME_CHECK_INPUTS=1 and not checked otherwise");
	expect("s0{2..3}/1", "s0{9..12}/1",
	       "narrower input 0 (x), dim 0: s0: 2..3 | 9..12\nadvice wider input 0 (x), dim 0: s0: 2..3 | 9..12");
	assert_text(a.v[0].why, "2..3 are rejected under AOTI_RUNTIME_CHECK_INPUTS=1 and not checked otherwise");
	/* Bounds of such an expression are not known; that is no finding. */
	expect("FloorDiv(s0,2)/s0 s0{4..64}/1", "FloorDiv(s0,2){2..9}/s0 s0{4..64}/1", "");
}

static void test_wider(void **state)
{
	(void)state;
	expect("s0{2..64}/1", "s0{2..}/1", "advice wider input 0 (x), dim 0: s0: 2..64 | 2 or more");
	expect("s0{4..64}/1", "s0{2..64}/1", "advice wider input 0 (x), dim 0: s0: 4..64 | 2..64");
	assert_int_equal(a.n_bad, 0);
}

static void test_static(void **state)
{
	(void)state;
	expect("s0{2..64}/8 8/1", "3/8 8/1", "static input 0 (x), dim 0: s0: 2..64 | 3");
	expect("8/1", "9/1", "size input 0 (x), dim 0: 8 | 9");
	expect("8/1", "s0{2..64}/1", "advice size input 0 (x), dim 0: 8 | s0: 2..64");
	expect("8/1", "s0{9..64}/1", "size input 0 (x), dim 0: 8 | s0: 9..64");
	expect("8/1", "s0{8..8}/1", "");
}

static void test_rank(void **state)
{
	(void)state;
	begin();
	input(&e, "x", DTYPE_F32, "s0{2..64}/8 8/1");
	input(&c, "arg0_1", DTYPE_F32, "s0{2..64}/1");
	input(&e, "y", DTYPE_F32, "8/1");
	unused(&c, "arg1_1", DTYPE_F32, "8/? 9/?");
	input(&e, "z", DTYPE_F32, "");
	input(&c, "arg2_1", DTYPE_F32, "");
	compare();
	assert_found("rank input 0 (x): 2 dims | 1 dims\nrank input 1 (y): 1 dims | at least 2 dims");
	assert_true(a.same_model);
}

static void test_dtype(void **state)
{
	(void)state;
	begin();
	input(&e, "x", DTYPE_F32, "8/1");
	input(&e, "y", DTYPE_F32, "8/1")->device = DEVICE_CPU;
	input(&c, "arg0_1", DTYPE_F64, "8/1");
	input(&c, "arg1_1", DTYPE_F32, "8/1")->device = DEVICE_CUDA;
	compare();
	assert_found("dtype input 0 (x): float32 | float64\ndevice input 1 (y): cpu | cuda");
	assert_text(a.v[0].fix, "pass .to(torch.float64), or recompile this exported program");
	assert_text(a.v[1].fix, "pass .to(\"cuda\")");
	assert_true(a.same_model);
	/* What one side does not know is no finding. */
	begin();
	input(&e, "x", DTYPE_NONE, "?/? 4/?")->device = DEVICE_NONE;
	input(&c, "arg0_1", DTYPE_F64, "s0/4 4/1")->device = DEVICE_CUDA;
	compare();
	assert_found("advice stride input 0 (x): (?, ?) in the example (not checked by the export) | (4, 1)");
}

static void test_strides(void **state)
{
	(void)state;
	/* Channels last, as the example was. */
	expect("2/48 3/1 4/12 4/3", "2/48 3/1 4/12 4/3",
	       "advice stride input 0 (x): (48, 1, 12, 3) in the example (not checked by the export) | (48, 1, "
	       "12, 3)");
	/* Other than the example's. */
	expect("s0{2..64}/8 8/1", "s0{2..64}/1 8/s0", "stride input 0 (x): (8, 1) in the example (not checked by the export) | (1, s0)");
	expect("s0{2..9}/s1 s1{2..9}/1", "s7{2..9}/s6 s6{2..9}/1", "");
	/* A dim of one element has any stride, unless check_input compares it. */
	expect("1/8 8/1", "1/99 8/1", "");
	begin();
	input(&e, "x", DTYPE_F32, "1/8 8/1");
	input(&c, "arg0_1", DTYPE_F32, "1/99 8/1")->dim[0].stride_checked = true;
	compare();
	assert_found("stride input 0 (x): (8, 1) in the example (not checked by the export) | (99, 1)");
	/* Nothing demanded. */
	expect("s0{2..64}/8 8/1", "s0{2..64}/? 8/?", "");
}

/* ---- relations ---- */

static void test_unused_input(void **state)
{
	(void)state;
	begin();
	input(&e, "x", DTYPE_F32, "s22{2..64}/4 4/1");
	input(&e, "unused", DTYPE_F32, "s22{2..64}/2 2/1");
	input(&e, "y", DTYPE_F32, "2*s22{4..128}/4 4/1");
	input(&c, "arg0_1", DTYPE_F32, "s22{2..64}/4 4/1");
	unused(&c, "arg1_1", DTYPE_F32, "?{2..64}/2 2/1");
	input(&c, "arg2_1", DTYPE_F32, "2*s22{4..128}/4 4/1");
	compare();
	assert_found("advice unchecked input 1 (unused), dim 0: s22, where s22 is dim 0 of x | not checked");
}

/* The unused one first: it is still the one that stands out. */
static void test_unused_first(void **state)
{
	(void)state;
	begin();
	input(&e, "unused", DTYPE_F32, "s22{2..64}/2 2/1");
	input(&e, "x", DTYPE_F32, "s22{2..64}/4 4/1");
	unused(&c, "arg0_1", DTYPE_F32, "?{2..64}/2 2/1");
	input(&c, "arg1_1", DTYPE_F32, "s77{2..64}/4 4/1");
	compare();
	assert_found("advice unchecked input 0 (unused), dim 0: s22, where s22 is dim 0 of x | not checked");
}

static void test_unused_static(void **state)
{
	(void)state;
	begin();
	input(&e, "x", DTYPE_F32, "3/4 4/1");
	unused(&c, "arg0_1", DTYPE_F32, "3/?");
	compare();
	assert_found("advice size input 0 (x), dim 1: 4 | any size");
}

static void test_relation_added(void **state)
{
	(void)state;
	begin();
	input(&e, "x", DTYPE_F32, "s0{2..64}/1");
	input(&e, "y", DTYPE_F32, "s1{2..64}/1");
	input(&c, "arg0_1", DTYPE_F32, "s5{2..64}/1");
	input(&c, "arg1_1", DTYPE_F32, "s5{2..64}/1");
	compare();
	assert_found("equal input 1 (y), dim 0: s1 | s5, where s5 is dim 0 of x");
	/* Even sizes only. */
	expect("s0{4..64}/1", "2*s5{4..64}/1", "equal input 0 (x), dim 0: s0 | 2*s5");
	/* A fixed pair through one symbol. */
	begin();
	input(&e, "x", DTYPE_F32, "4/1");
	input(&e, "y", DTYPE_F32, "5/1");
	input(&c, "arg0_1", DTYPE_F32, "s5{2..64}/1");
	input(&c, "arg1_1", DTYPE_F32, "s5{2..64}/1");
	compare();
	assert_found("equal input 1 (y), dim 0: 5 | s5, where s5 is dim 0 of x\nadvice size input 0 (x), dim 0: 4 | s5: 2..64");
}

static void test_relation_lost(void **state)
{
	(void)state;
	begin();
	input(&e, "x", DTYPE_F32, "s0{2..64}/1");
	input(&e, "y", DTYPE_F32, "s0+1{3..65}/1");
	input(&c, "arg0_1", DTYPE_F32, "s0{2..64}/1");
	input(&c, "arg1_1", DTYPE_F32, "s1{3..65}/1");
	compare();
	assert_found("advice unchecked input 1 (y), dim 0: s0 + 1, where s0 is dim 0 of x | s1");
	/* The relation is another one. */
	begin();
	input(&e, "x", DTYPE_F32, "s0{2..64}/1");
	input(&e, "y", DTYPE_F32, "2*s0{4..128}/1");
	input(&c, "arg0_1", DTYPE_F32, "s0{2..64}/1");
	input(&c, "arg1_1", DTYPE_F32, "s0{4..128}/1");
	compare();
	assert_found("equal input 1 (y), dim 0: 2*s0, where s0 is dim 0 of x | s0, where s0 is dim 0 of x");
}

/* Two possible values each: the trials must tell them apart. */
static void test_small_ranges(void **state)
{
	(void)state;
	begin();
	input(&e, "x", DTYPE_F32, "s0{2..3}/s1 s1{2..3}/1");
	input(&e, "y", DTYPE_F32, "s2{2..3}/1");
	input(&c, "arg0_1", DTYPE_F32, "s0{2..3}/s1 s1{2..3}/1");
	input(&c, "arg1_1", DTYPE_F32, "s1{2..3}/1");
	compare();
	assert_found("equal input 1 (y), dim 0: s2 | s1, where s1 is dim 1 of x");
}

/* The reader did not understand a size of an input that is asserted: nothing is said. */
static void test_not_understood(void **state)
{
	(void)state;
	expect("s0{2..64}/8 8/1", "?{2..64}/8 8/1", "");
}

/* The same symbol in many inputs: its bounds are told once. */
static void test_said_once(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < 3; i++) {
		input(&e, "x", DTYPE_F32, "s0{2..64}/1");
		input(&c, "arg", DTYPE_F32, "s0{2..15}/1");
	}
	compare();
	assert_found("narrower input 0 (x), dim 0: s0: 2..64 | 2..15");
}

/* ---- outputs, weights, models ---- */

static void test_outputs(void **state)
{
	(void)state;
	begin();
	input(&e, "x", DTYPE_F32, "s0{2..64}/1");
	input(&c, "arg0_1", DTYPE_F32, "s9{2..64}/1");
	output(&e, DTYPE_F32, "s0/4 4/1");
	output(&c, DTYPE_F32, "s9/4 4/1");
	output(&e, DTYPE_F32, "s0/4 4/1");
	output(&c, DTYPE_F64, "2*s9/4 4/1");
	output(&e, DTYPE_F32, "8/1");
	output(&c, DTYPE_F32, "9/1 1/1")->device = DEVICE_CUDA;
	output(&e, DTYPE_F32, "s0/16 4/4 4/1");
	output(&c, DTYPE_F32, "s9/16 4/1 4/4");
	output(&e, DTYPE_NONE, "")->n_dim = -1;
	output(&c, DTYPE_F32, "u0/1");
	compare();
	assert_found("dtype output 1 (out): float32 | float64\n"
		     "device output 2 (out): cpu | cuda\n"
		     "rank output 2 (out): 1 dims | 2 dims\n"
		     "size output 1 (out): (s0, 4) | (2*s9, 4)\n"
		     "advice stride output 3 (out): (16, 4, 1) | (16, 1, 4)");
}

static void test_output_count(void **state)
{
	(void)state;
	begin();
	output(&e, DTYPE_F32, "8/1");
	output(&e, DTYPE_F32, "8/1");
	output(&c, DTYPE_F32, "8/1");
	compare();
	assert_found("count the model: 2 outputs | 1 output");
	/* None is returned as exported; the compiled code has no place for it, or one. */
	begin();
	output(&e, DTYPE_NONE, "")->n_dim = -1;
	output(&e, DTYPE_F32, "8/1");
	output(&c, DTYPE_F32, "9/1");
	compare();
	assert_found("size output 1 (out): (8,) | (9,)");
}

static void test_weights(void **state)
{
	(void)state;
	begin();
	weight(&e, "up.weight", DTYPE_F32, "16 8");
	weight(&e, "up.bias", DTYPE_F32, "16");
	weight(&e, "down.weight", DTYPE_F32, "4 16");
	weight(&e, "steps", DTYPE_I64, "");
	weight(&c, "up.bias", DTYPE_BF16, "16");
	weight(&c, "up.weight", DTYPE_F32, "8 16");
	weight(&c, "down.weight", DTYPE_F32, "4 16");
	weight(&c, "scale", DTYPE_F32, "1");
	weight(&c, "_FOLDED_CONST_0", DTYPE_F32, "1")->from_folded = true;
	compare();
	assert_found("constant weight 'up.bias': float32 (16,) | bfloat16 (16,)\n"
		     "constant weight 'up.weight': float32 (16, 8) | float32 (8, 16)\n"
		     "constant the weights: missing | scale\n"
		     "advice constant the weights: steps | missing");
	/* A binary without names of weights says nothing of them. */
	begin();
	weight(&e, "up.weight", DTYPE_F32, "16 8");
	weight(&c, "", DTYPE_F32, "3");
	compare();
	assert_found("");
	/* Names that stand twice. */
	begin();
	weight(&e, "w", DTYPE_F32, "1");
	weight(&e, "w", DTYPE_F32, "1");
	weight(&e, "v", DTYPE_F32, "2");
	weight(&c, "v", DTYPE_F32, "2");
	weight(&c, "v", DTYPE_F32, "2");
	compare();
	assert_found("advice constant the weights: w | missing");
}

static void test_other_model(void **state)
{
	(void)state;
	begin();
	input(&e, "x", DTYPE_F32, "8/1");
	input(&e, "y", DTYPE_F32, "8/1");
	weight(&e, "up.weight", DTYPE_F32, "16 8");
	input(&c, "arg0_1", DTYPE_I64, "8/1");
	weight(&c, "table", DTYPE_F32, "16 8");
	compare();
	assert_false(a.same_model);
	assert_int_equal(a.v[0].what, EXPORTDIFF_MODEL);
	assert_text(a.v[0].exported, "2 inputs, 0 outputs, 1 weight: up.weight");
	assert_text(a.v[0].compiled, "1 input, 0 outputs, 1 weight: table");
	assert_int_equal(a.v[1].what, EXPORTDIFF_COUNT);
	/* The same weights: another export of one model. */
	begin();
	input(&e, "x", DTYPE_F32, "8/1");
	input(&e, "y", DTYPE_F32, "8/1");
	weight(&e, "up.weight", DTYPE_F32, "16 8");
	input(&c, "arg0_1", DTYPE_F32, "8/1");
	weight(&c, "up.weight", DTYPE_F32, "16 8");
	compare();
	assert_true(a.same_model);
	assert_found("count the model: 2 inputs | 1 input");
	/* With the weights in common, an input of another dtype is that and no more. */
	begin();
	input(&e, "x", DTYPE_F32, "8/1");
	weight(&e, "up.weight", DTYPE_F32, "16 8");
	input(&c, "arg0_1", DTYPE_F64, "8/1");
	weight(&c, "up.weight", DTYPE_F32, "16 8");
	compare();
	assert_found("dtype input 0 (x): float32 | float64");
	/* One input of two is of another dtype: still the same model. */
	begin();
	input(&e, "x", DTYPE_F32, "8/1");
	input(&e, "y", DTYPE_F32, "8/1");
	input(&c, "arg0_1", DTYPE_F32, "8/1");
	input(&c, "arg1_1", DTYPE_F64, "8/1");
	compare();
	assert_true(a.same_model);
	/* More inputs than were exported, and none. */
	begin();
	input(&c, "arg0_1", DTYPE_F32, "s0{2..4}/1");
	input(&c, "arg1_1", DTYPE_F32, "s0{2..4}/1");
	compare();
	assert_false(a.same_model);
}

/* What the compiler made (freezing, packing, numbers in the program) has no name in any export. */
static void test_made(void **state)
{
	(void)state;
	begin();
	weight(&e, "0.weight", DTYPE_F32, "64 64");
	weight(&e, "0.bias", DTYPE_F32, "64");
	weight(&e, "lifted_tensor_0", DTYPE_F32, "16");
	weight(&c, "0.bias", DTYPE_F32, "64");
	weight(&c, "_frozen_param2", DTYPE_F32, "64 64");
	weight(&c, "constant4", DTYPE_F32, "2 64 32")->name = SLICE("constant4_0");
	weight(&c, "_tensor_constant0", DTYPE_F32, "16");
	weight(&c, "_frozen_param2_BMatrixCompens", DTYPE_F32, "64");
	compare();
	assert_found(
	    "advice constant the weights: missing | _frozen_param2, constant4_0, _tensor_constant0, _frozen_param2_BMatrixCompens\n"
	    "advice constant the weights: 0.weight, lifted_tensor_0 | missing");
	assert_true(a.same_model && !a.unproved);
	/* A copy for another device is the weight that it was made of. */
	weight(&c, "constant_0_weight_cuda0", DTYPE_F32, "64 64");
	compare();
	assert_found(
	    "advice constant the weights: missing | _frozen_param2, constant4_0, _tensor_constant0, _frozen_param2_BMatrixCompens\n"
	    "advice constant the weights: lifted_tensor_0 | missing");
	weight(&c, "1_weight_cuda0", DTYPE_F32, "64 64");
	compare();
	assert_int_equal(a.n_bad, 1);
	c.n_constants -= 2;
	/* A module may be called so, too; and a weight of another shape is none of this export's. */
	weight(&c, "constants", DTYPE_F32, "1");
	weight(&c, "constant1.weight", DTYPE_F32, "1");
	e.constant[1].dim[0].size = symsize_int(32);
	compare();
	assert_int_equal(a.n_bad, 2);
	assert_text(a.v[0].subject, "weight '0.bias'");
	assert_text(a.v[1].compiled, "constants, constant1.weight");
}

/* No name is left: what shows that it is the same model? */
static void test_all_made(void **state)
{
	(void)state;
	begin();
	input(&e, "x", DTYPE_F32, "8/1");
	weight(&e, "a", DTYPE_F32, "24 16");
	weight(&e, "b", DTYPE_F32, "40 16");
	input(&c, "arg0_1", DTYPE_F32, "8/1");
	weight(&c, "_frozen_param1", DTYPE_F32, "16 40");
	compare();
	assert_int_equal(a.n_bad, 0);
	assert_true(a.same_model && !a.unproved);
	assert_int_equal(a.v[0].what, EXPORTDIFF_MODEL);
	assert_non_null(slice_find(a.v[0].why, "only inputs, outputs and sizes (1 of 1 weights"));
	c.constant[0].dim[0].size = symsize_int(64);
	compare();
	assert_true(a.same_model && a.unproved && !a.n_bad);
	assert_non_null(slice_find(a.v[0].why, "which is not enough"));
	c.n_constants = 0;
	compare();
	assert_true(a.same_model && a.unproved && !a.n_bad);
	/* Up to 8 numbers become instructions. */
	e.n_constants = 1;
	e.constant[0].n_dim = 1;
	e.constant[0].dim[0].size = symsize_int(8);
	compare();
	assert_false(a.unproved || a.n);
}

/* ---- recorded ---- */

static void member(const char *data, const char *ending, struct buf *out)
{
	struct buf file = {0};
	struct zip z;
	struct slice text = {0};
	assert_true(data_load(data, &file));
	if (zip_open(&z, buf_slice(&file), data, &err) < 0)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < z.n; i++)
		if (slice_ends(z.v[i].name, ending) && zip_data(&z, &z.v[i], &text, &err) < 0)
			fail_msg("%s", err.text);
	assert_true(text.n > 0);
	buf_reset(out);
	buf_add_slice(out, text);
	zip_close(&z);
	buf_release(&file);
}

static void recorded(const char *exported, const char *compiled)
{
	struct buf text = {0};
	teardown(NULL);
	bool release = slice_starts(slice_str(exported), "v215/"); /* these lie beside their packages */
	char *path = release ? xasprintf("aoti/v215/export/%s.pt2", exported + 5) : xasprintf("export/%s.pt2", exported),
	     *package = xasprintf("aoti/%s.pt2.xz", compiled);
	member(path, "/models/model.json", &text);
	if (exported_read(&e, buf_slice(&text), &err) < 0)
		fail_msg("%s", err.text);
	member(package, ".wrapper.cpp", &text);
	if (wrapper_read(&c, buf_slice(&text), (struct slice){0}, &err) < 0)
		fail_msg("%s", err.text);
	compare();
	buf_release(&text);
	free(path);
	free(package);
}

static void test_recorded(void **state)
{
	(void)state;
	recorded("conv", "conv");
	assert_int_equal(a.n_bad, 1);
	assert_int_equal(a.v[0].what, EXPORTDIFF_NARROWER);
	assert_text(a.v[0].why, "16..64 are rejected under AOTI_RUNTIME_CHECK_INPUTS=1 and not checked otherwise");
	recorded("mlp", "mlp");
	assert_int_equal(a.n_bad, 0);
	recorded("derived", "derived");
	assert_found("advice unchecked input 1 (unused), dim 0: s22, where s22 is dim 0 of x | not checked");
	recorded("mixed", "mixed");
	assert_found("advice stride input 3 (y): (12, 12*s17, 1) in the example (not checked by the export) | "
		     "(12, 12*s17, 1)");
	recorded("v215/frozen", "v215/frozen");
	assert_int_equal(a.n_bad, 0);
	assert_true(a.same_model && !a.unproved);
	recorded("unbounded", "unbounded");
	assert_found("narrower input 0 (x), dim 0: s77: any size | 2 or more");
}

static void test_recorded_others(void **state)
{
	(void)state;
	recorded("mlp", "conv");
	assert_false(a.same_model);
	assert_int_equal(a.v[0].what, EXPORTDIFF_MODEL);
	recorded("mlp", "v215/frozen");
	assert_false(a.same_model);
	recorded("v215/frozen", "mlp");
	assert_false(a.same_model);
	recorded("mixed", "derived");
	assert_false(a.same_model);
}

int main(void)
{
#define T(f) cmocka_unit_test_teardown(f, teardown)
	const struct CMUnitTest tests[] = {
	    T(test_same),           T(test_narrower),      T(test_wider),           T(test_static),         T(test_rank),
	    T(test_dtype),          T(test_strides),       T(test_unused_input),    T(test_unused_first),   T(test_unused_static),
	    T(test_relation_added), T(test_relation_lost), T(test_small_ranges),    T(test_not_understood), T(test_said_once),
	    T(test_outputs),        T(test_output_count),  T(test_weights),         T(test_made),           T(test_all_made),
	    T(test_other_model),    T(test_recorded),      T(test_recorded_others),
	};
	return RUN(tests);
}
