/* ask/: contracts from the binary alone, the same as from the text: of recorded packages and of a model written here. */
#include "../../lib/probing.h"

#include "model/cppwrapper/wrapper.h"

static void binprobe_model(struct fixture *f, size_t i, struct contract *c)
{
	struct package_model *m = &f->pkg.model[i];
	struct slice so;
	struct err err;
	struct binprobe_options o = {.blob_size = f->pkg.file[m->weights_blob].size};
	*c = (struct contract){0};
	if (package_data(&f->pkg, m->so, &so, &err) < 0 || binprobe_contract(c, so, &o, &err) < 0)
		fail_msg("%s: %s", f->path, err.text);
}

static void read_text(struct fixture *f, size_t i, struct contract *c)
{
	struct package_model *m = &f->pkg.model[i];
	struct slice text, kernels;
	struct err err;
	*c = (struct contract){0};
	if (package_data(&f->pkg, m->wrapper_cpp, &text, &err) < 0 || package_data(&f->pkg, m->kernel_cpp, &kernels, &err) < 0 ||
	    wrapper_read(c, text, kernels, &err) < 0)
		fail_msg("%s: %s", f->path, err.text);
}

static void test_contracts(void **state)
{
	(void)state;
	static const struct {
		const char *name, *want;
	} cases[] = {
	    {"mlp", "arg4_1 float32 cpu s0[2, 64]/8 8/1\n-> float32 s0/4 4/1\n"},
	    {"conv", "arg7_1 float32 cpu s0[2, 15]/192 3/64 8/8 8/1\n-> float32 s0/64 4/16 4/4 4/1\n"},
	    {"derived", "arg0_1 float32 cpu s0[2, 64]/4 4/1\n"
			"arg1_1 float32 cpu rank? ?[2, 64]/2 2/1\n"
			"arg2_1 float32 cpu 2*s0[4, 128]/4 4/1\n"
			"-> float32 s0/4 4/1\n"},
	    {"mixed", "arg0_1 float32 cpu s0[2, 64]/12*s1 s1[3, 50]/12 12/1\n"
		      "arg1_1 bool cpu s0[2, 64]/s1 s1[3, 50]/1\n"
		      "arg2_1 int32 cpu\n"
		      "arg3_1 bfloat16 cpu s0[2, 64]/12 s1[3, 50]/12*s0 12/1\n"
		      "-> float32 s0/12*s1 s1/12 12/1\n"},
	    {"misc", "arg0_1 float32 cpu 6/8 8/1\narg1_1 int64 cpu 4/1\narg2_1 float32 cpu 4/8 8/1\n"
		     "-> float32 6/8 8/1\n-> int64 6/8 8/1\n-> float32 6/3 3/1\n-> float32 6/8 8/1\n-> int64 u0/1 2/u0\n"
		     "-> float32 6/8 8/1\n"},
	    {"unbounded", "arg0_1 float32 cpu s0[2, int_oo]/4 4/1\narg1_1 float32 cpu s1[2, int_oo]/3 3/1\n"
			  "arg2_1 float32 cpu s2[2, 3]/7 7/1\n"
			  "-> float32 s0/1\n-> float32 s1/3 3/1\n-> float32 s2/7 7/1\n"},
	    {"strided", "arg2_1 float32 cpu 2/144 4/1 6/24 6/4\narg3_1 float32 cpu 3/1 4/3\narg4_1 float32 cpu 4/16 5/1\n"
			"-> float32 2/288 8/1 6/48 6/8\n-> float32 3/5 5/1\n"},
	    /* Of torch 2.15: a size 4*k, weights that are not in the library, types of results that only assertions tell, None. */
	    {"v215/fourk", "arg0_1 float32 cpu 4*s0[8, 40]/8 8/1\n-> float32 s0/8 8/1\n-> float32 4*s0/8 8/1\n"},
	    {"v215/noweights", "arg4_1 float32 cpu s0[2, 64]/8 8/1\n-> float32 s0/4 4/1\n"},
	    {"v215/div", "arg0_1 float32 cpu s0[200, 5000]/1\n-> float32 100/(s0//100) (s0//100)/1\n"},
	    {"custom_op", "arg1_1 float32 cpu s0[2, 64]/4 4/1\narg2_1 float32 cpu s0[2, 64]/4 4/1\n-> float32 s0/4 4/1\n"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fixture f;
		struct contract c;
		struct buf b = {0};
		fixture_open(&f, cases[i].name);
		binprobe_model(&f, 0, &c);
		describe(&c, &b);
		if (strcmp(buf_str(&b), cases[i].want))
			fail_msg("%s:\n%s", cases[i].name, buf_str(&b));
		assert_int_equal(c.source, CONTRACT_FROM_PROBE);
		contract_release(&c);
		buf_release(&b);
		fixture_close(&f);
	}
}

/* Beyond what contract_compare looks at: which check each fact comes from, and who uses what. */
static void same_checks(const char *name, const struct contract *a, const struct contract *b)
{
	for (uint32_t i = 0; i < a->n_inputs; i++) {
		const struct contract_input *x = &a->input[i], *y = &b->input[i];
		if (x->asserted != y->asserted || x->rank_known != y->rank_known || x->used != y->used || x->n_dim != y->n_dim ||
		    !slice_eq(x->path, y->path) || !slice_eq(x->name, y->name))
			fail_msg("%s: input %u: asserted %u %u, used %d %d, %d %d dims, path %.*s", name, i, x->asserted, y->asserted,
				 x->used, y->used, x->n_dim, y->n_dim, SL(y->path));
		for (int d = 0; d < x->n_dim; d++)
			if (x->dim[d].size_checked != y->dim[d].size_checked || x->dim[d].stride_checked != y->dim[d].stride_checked ||
			    !symrange_eq(x->dim[d].range, y->dim[d].range))
				fail_msg("%s: input %u, dim %d: other checks", name, i, d);
	}
	if (a->n_symbols != b->n_symbols)
		fail_msg("%s: %u symbols in the text, %u in the binary", name, a->n_symbols, b->n_symbols);
	for (uint32_t i = 0; i < a->n_symbols; i++)
		if (!symrange_eq(a->symbol[i].range, b->symbol[i].range) || a->symbol[i].input != b->symbol[i].input ||
		    (a->symbol[i].input != NONE && a->symbol[i].dim != b->symbol[i].dim))
			fail_msg("%s: symbol %u: from input %u, dim %u, %lld to %lld in the text; %u, %u, %lld to %lld", name, i,
				 a->symbol[i].input, a->symbol[i].dim, (long long)a->symbol[i].range.lo, (long long)a->symbol[i].range.hi,
				 b->symbol[i].input, b->symbol[i].dim, (long long)b->symbol[i].range.lo, (long long)b->symbol[i].range.hi);
}

static bool is_pointer_arg(const struct contract_arg *a) { return a->value != NONE; }

/* The tensors of each call, in order: as far as they are inputs and constants, the very ones. */
static void same_calls(const char *name, const struct contract *a, const struct contract *b)
{
	for (uint32_t i = 0; i < a->n_calls && i < b->n_calls && a->n_calls == b->n_calls; i++) {
		const struct contract_call *x = &a->call[i], *y = &b->call[i];
		uint32_t k = y->arg;
		for (uint32_t j = x->arg; j < x->arg + x->n_args; j++) {
			if (!is_pointer_arg(&a->arg[j]))
				continue;
			if (k == y->arg + y->n_args)
				fail_msg("%s: call %u has fewer tensors in the binary", name, i);
			const struct contract_value *u = &a->value[a->arg[j].value], *v = &b->value[b->arg[k].value];
			if (u->kind != v->kind || (u->kind != VALUE_BUFFER && u->index != v->index))
				fail_msg("%s: call %u (%.*s), tensor %u: %.*s in the text, %.*s in the binary", name, i, SL(x->name),
					 j - x->arg, SL(u->name), SL(v->name));
			k++;
		}
		if (k != y->arg + y->n_args)
			fail_msg("%s: call %u has more tensors in the binary", name, i);
	}
}

static void test_text_and_binary_agree(void **state)
{
	(void)state;
	static const char *const names[] = {
	    "mlp",          "mlp_provenance", "conv",       "attn",          "emb",         "misc",
	    "mixed",        "derived",        "nested",     "multi",         "custom_op",   "kwargs",
	    "strided",      "halves",         "unbounded",  "cond",          "folded",      "weights_appended",
	    "weights_blob", "v215/mlp",       "v215/none",  "v215/sdpa",     "v215/decomp", "v215/switch",
	    "v215/cond",    "v215/noweights", "v215/fourk", "v215/kprofile", "v215/div",    "v215/frozen",
	    "v215/proxied"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct fixture f;
		fixture_open(&f, names[i]);
		for (size_t k = 0; k < f.pkg.n; k++) {
			struct contract text, binary;
			struct comparison compared;
			read_text(&f, k, &text);
			binprobe_model(&f, k, &binary);
			contract_compare(&text, &binary, &compared);
			if (compared.n_differs || compared.n_open || compared.n_calls != text.n_calls)
				fail_msg("%s: %s%s%u of %u calls", names[i], buf_str(&compared.differs), buf_str(&compared.open),
					 compared.n_calls, text.n_calls);
			comparison_release(&compared);
			assert_int_equal(text.weight_bytes, binary.weight_bytes);
			same_checks(names[i], &text, &binary);
			same_calls(names[i], &text, &binary);
			uint64_t a = 0, b = 0;
			struct symbind ea = {0}, eb = {0};
			contract_bind_max(&text, &ea);
			contract_bind_max(&binary, &eb);
			bool known = contract_peak(&text, &ea, &a, NULL), also = contract_peak(&binary, &eb, &b, NULL);
			if (known && also && a != b)
				fail_msg("%s: %llu bytes of buffers in the text, %llu in the binary", names[i], (unsigned long long)a,
					 (unsigned long long)b);
			symbind_release(&ea);
			symbind_release(&eb);
			contract_release(&text);
			contract_release(&binary);
		}
		fixture_close(&f);
	}
}

/* All ways through a program that branches on data: what was not taken is known by its calls. */
static void test_ways(void **state)
{
	(void)state;
	static const struct {
		const char *name, *main, *other;
	} cases[] = {
	    {"cond", "cpp_fused_gt_sum_0 aoti_torch_item_bool cpp_fused_add_gt_sin_1 ",
	     "cpp_fused_gt_sum_0 aoti_torch_item_bool cpp_fused_gt_mul_sub_2 "},
	    {"v215/switch", "cpp_fused_gt_sum_0 aoti_torch_item_int64 cpp_fused_gt_mul_sin_2 ",
	     "cpp_fused_gt_sum_0 aoti_torch_item_int64 aoti_torch_cpu_mm_out cpp_fused_cos_gt_1 "},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fixture f;
		struct contract c;
		struct buf way = {0}, other = {0};
		fixture_open(&f, cases[i].name);
		binprobe_model(&f, 0, &c);
		for (uint32_t k = 0; k < c.n_calls; k++)
			buf_addf(&way, "%.*s ", SL(c.call[k].name));
		assert_string_equal(buf_str(&way), cases[i].main);
		assert_int_equal(c.n_ways, 1);
		assert_int_equal(c.n_lost_ways, 0);
		for (uint32_t k = 0; k < c.way[0].n; k++)
			buf_addf(&other, "%.*s ", SL(c.way[0].call[k]));
		assert_string_equal(buf_str(&other), cases[i].other);
		buf_release(&way);
		buf_release(&other);
		contract_release(&c);
		fixture_close(&f);
	}
}

/* Texts and binaries that do not belong together, and a text in which something was changed: always a difference. */
static void test_text_of_another(void **state)
{
	(void)state;
	static const char *const names[] = {"v215/mlp", "v215/fourk", "v215/complex", "v215/switch", "v215/none", "v215/kprofile"};
	struct contract text[ARRAY_LEN(names)], binary[ARRAY_LEN(names)];
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct fixture f;
		fixture_open(&f, names[i]);
		read_text(&f, 0, &text[i]);
		binprobe_model(&f, 0, &binary[i]);
		fixture_close(&f);
	}
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		for (size_t k = 0; k < ARRAY_LEN(names); k++) {
			struct comparison compared;
			contract_compare(&text[i], &binary[k], &compared);
			if ((i == k) != (compared.n_differs == 0) || (i == k && compared.n_open))
				fail_msg("text of %s, binary of %s: %s%s", names[i], names[k], buf_str(&compared.differs),
					 buf_str(&compared.open));
			comparison_release(&compared);
		}
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		contract_release(&text[i]);
		contract_release(&binary[i]);
	}
}

static void changed(const char *name, const char *from, const char *to, const char *says)
{
	struct fixture f;
	struct slice source, kernels;
	struct contract text = {0}, binary;
	struct comparison compared;
	struct buf other = {0};
	struct err err;
	fixture_open(&f, name);
	binprobe_model(&f, 0, &binary);
	if (package_data(&f.pkg, f.pkg.model[0].wrapper_cpp, &source, &err) < 0 ||
	    package_data(&f.pkg, f.pkg.model[0].kernel_cpp, &kernels, &err) < 0)
		fail_msg("%s", err.text);
	const char *at = slice_find(source, from);
	if (!at)
		fail_msg("%s: '%s' is not there", name, from);
	buf_add(&other, source.p, (size_t)(at - source.p));
	buf_adds(&other, to);
	at += strlen(from);
	buf_add(&other, at, (size_t)(source.p + source.n - at));
	if (wrapper_read(&text, buf_slice(&other), kernels, &err) < 0)
		fail_msg("%s", err.text);
	contract_compare(&text, &binary, &compared);
	if (!strstr(buf_str(&compared.differs), says))
		fail_msg("%s, '%s': '%s'; open: '%s'", name, from, buf_str(&compared.differs), buf_str(&compared.open));
	comparison_release(&compared);
	contract_release(&text);
	contract_release(&binary);
	buf_release(&other);
	fixture_close(&f);
}

static void test_changed_text(void **state)
{
	(void)state;
	changed("v215/kprofile", "assert_size_stride(buf1, {4L, 8L}", "assert_size_stride(buf1, {4L, 9L}",
		"(buf1), dim 1: size 9 in the text, 8 in the binary");
	changed("v215/kprofile", "\"torch.ops.aten.sort.default\", cached_torch_dtype_float32",
		"\"torch.ops.aten.sort.default\", "
		"cached_torch_dtype_float64",
		"(buf1): float64 in the text, float32 in the binary");
	changed("v215/mlp", "    cpp_fused_relu_0(", "    // cpp_fused_relu_0(",
		"call 1: aoti_torch_cpu_addmm_out in the text, cpp_fused_relu_0 in the binary");
	changed("v215/mlp", "aoti_torch_cpu_addmm_out(buf0, up_bias", "aoti_torch_cpu_addmm_out(buf0, up_weight",
		"call 0 (aoti_torch_cpu_addmm_out), tensor 1: up_weight in the text, up_bias in the binary");
	changed("v215/mlp", "{8L, 1L}, \"input\"", "{16L, 1L}, \"input\"", "check_input and assert_size_stride disagree");
}

/* ---- a model of our own: a GPU's, with sizes that round, a loop on data and a number from data ---- */

static const char gpu_model[] =
    "#include <stdarg.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n"
    "typedef void *H;\n"
    "extern int aoti_torch_get_sizes(H, int64_t **), aoti_torch_get_strides(H, int64_t **), aoti_torch_get_dim(H, int64_t *);\n"
    "extern int aoti_torch_get_dtype(H, int *), aoti_torch_get_device_type(H, int *), aoti_torch_get_data_ptr(H, void **);\n"
    "extern int aoti_torch_dtype_float32(void), aoti_torch_device_type_cuda(void), aoti_torch_delete_tensor_object(H);\n"
    "extern int aoti_torch_empty_strided(int64_t, int64_t *, int64_t *, int, int, int, H *);\n"
    "extern int aoti_torch_item_bool(H, _Bool *), aoti_torch_item_int64(H, int64_t *);\n"
    "extern int cuModuleLoad(void **, const char *), cuModuleGetFunction(void **, void *, const char *);\n"
    "extern int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,"
    " void **);\n"
    "static char text[512];\n"
    "int AOTInductorGetLastError(const char **t) { *t = text; return 0; }\n"
    "static int fail(const char *f, ...) { va_list a; va_start(a, f); vsnprintf(text, sizeof text, f, a); va_end(a); return 1; }\n"
    "static int here; static void *kernel;\n"
    "int AOTInductorModelContainerCreateWithDevice(void **c, size_t n, const char *d, const char *e)\n"
    "{ void *m; *c = &here; if (cuModuleLoad(&m, \"x.cubin\")) return 1;\n"
    "  return d[0] != 'c' || d[1] != 'u' || cuModuleGetFunction(&kernel, m, \"triton_poi_fused_add_0\"); }\n"
    "int AOTInductorModelContainerGetNumInputs(void *c, size_t *n) { *n = 1; return 0; }\n"
    "int AOTInductorModelContainerGetNumOutputs(void *c, size_t *n) { *n = 2; return 0; }\n"
    "int AOTInductorModelContainerGetInputName(void *c, size_t i, const char **n) { *n = \"x\"; return 0; }\n"
    "static int launch(H a, H b) { void *p, *q, *args[2] = {&p, &q}; aoti_torch_get_data_ptr(a, &p);\n"
    "  aoti_torch_get_data_ptr(b, &q); return cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, args, 0); }\n"
    "int AOTInductorModelContainerRun(void *c, H *in, size_t n, H *out, size_t m, void *stream, void *proxy)\n"
    "{ int t; int64_t *s, *z, dim, u; _Bool again; void *p;\n"
    "  aoti_torch_get_data_ptr(in[0], &p);\n"
    "  aoti_torch_get_dtype(in[0], &t);\n"
    "  if (t != 6) return fail(\"input_handles[0]: unmatched dtype, expected: 6(at::kFloat), but got: %d\\n\", t);\n"
    "  aoti_torch_get_sizes(in[0], &s); aoti_torch_get_strides(in[0], &z);\n"
    "  if (s[0] < 4) return fail(\"input_handles[0]: dim value is too small at 0, expected it to be >= 4, but got: %ld\\n\", s[0]);\n"
    "  if (s[0] > 900) return fail(\"input_handles[0]: dim value is too large at 0, expected to be <= 900, but got: %ld\\n\", s[0]);\n"
    "  aoti_torch_get_device_type(in[0], &t);\n"
    "  if (t != 1) return fail(\"input_handles[0]: unmatched device type, expected: 11(cuda), but got: %d\\n\", t);\n"
    "  aoti_torch_get_dim(in[0], &dim);\n"
    "  if (dim != 1) return fail(\"expected ndim 1 but got %ld\\nError in op: input\", dim);\n"
    "  if (z[0] != 1) return fail(\"expected size %ld==%ld, stride %ld==1 at dim=0\\nError in op: input\", s[0], s[0], z[0]);\n"
    "  int64_t size[2] = {(s[0] - 1) / 2 + 1, 3 * s[0] + 1}, stride[2] = {3 * s[0] + 1, 1};\n"
    "  H a; aoti_torch_empty_strided(2, size, stride, aoti_torch_dtype_float32(), aoti_torch_device_type_cuda(), 0, &a);\n"
    "  launch(in[0], a);\n"
    "  do { launch(a, a); aoti_torch_item_bool(a, &again); } while (again);\n"
    "  aoti_torch_item_int64(a, &u);\n"
    "  if (!(u <= 12)) return fail(\"Expected u7 <= 12 but received %ld\", u);\n"
    "  H b; size[0] = u; size[1] = 2; stride[0] = 2;\n"
    "  aoti_torch_empty_strided(2, size, stride, aoti_torch_dtype_float32(), aoti_torch_device_type_cuda(), 0, &b);\n"
    "  launch(a, b);\n"
    "  aoti_torch_delete_tensor_object(in[0]); out[0] = a; out[1] = b; return 0; }\n";

static void test_written_model(void **state)
{
	(void)state;
	/* However it is linked. */
	static const char *const flags[] = {"", "-Wl,-z,now,-z,relro", "-Wl,-z,pack-relative-relocs",
					    "-Wl,--hash-style=sysv -mtls-dialect=gnu2"};
	for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
		struct buf so = compile(gpu_model, flags[i]), b = {0};
		struct binprobe_options o = {.device = "cuda"};
		struct contract c = {0};
		struct err err;
		if (binprobe_contract(&c, buf_slice(&so), &o, &err) < 0)
			fail_msg("%s: %s", flags[i], err.text);
		describe(&c, &b);
		assert_string_equal(buf_str(&b), "x float32 cuda s0[4, 900]/1\n"
						 "-> float32 ((s0 + 1)//2)/3*s0 + 1 3*s0 + 1/1\n-> float32 u7/2 2/1\n");
		assert_int_equal(c.device, DEVICE_CUDA);
		assert_int_equal(c.n_calls, 7);
		assert_text(c.call[0].name, "triton_poi_fused_add_0");
		assert_int_equal(c.call[0].kind, CALL_KERNEL);
		assert_int_equal(c.call[0].n_args, 2);
		assert_int_equal(c.arg[0].role, ARG_IN);
		assert_int_equal(c.arg[1].role, ARG_OUT);
		assert_text(c.call[2].name, "aoti_torch_item_bool");
		assert_int_equal(c.n_symbols, 2);
		assert_int_equal(c.symbol[1].range.hi, 12);
		assert_true(c.symbol[1].range.lo_inf);
		for (uint32_t k = 0; k < c.n_notes; k++)
			if (!slice_starts(c.note[k], "the program branches on data"))
				fail_msg("%.*s", SL(c.note[k]));
		contract_release(&c);
		buf_release(&so);
		buf_release(&b);
	}
}

/* Sizes that only some numbers can be: the program solves for k and rounds down, here of 4*k + 1, with k given by nothing else and once more
 * by another input, and of a row that asks for 3*k. */
static const char steps_model[] =
    "#include <stdarg.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n"
    "typedef void *H;\n"
    "extern int aoti_torch_get_sizes(H, int64_t **), aoti_torch_get_strides(H, int64_t **), aoti_torch_get_dim(H, int64_t *);\n"
    "extern int aoti_torch_empty_strided(int64_t, int64_t *, int64_t *, int, int, int, H *);\n"
    "extern int aoti_torch_dtype_float32(void), aoti_torch_device_type_cpu(void);\n"
    "static char text[512]; static int here;\n"
    "int AOTInductorGetLastError(const char **t) { *t = text; return 0; }\n"
    "static int fail(const char *f, ...) { va_list a; va_start(a, f); vsnprintf(text, sizeof text, f, a); va_end(a); return 1; }\n"
    "int AOTInductorModelContainerCreateWithDevice(void **c, size_t n, const char *d, const char *e) { *c = &here; return 0; }\n"
    "int AOTInductorModelContainerGetNumInputs(void *c, size_t *n) { *n = 2; return 0; }\n"
    "int AOTInductorModelContainerGetNumOutputs(void *c, size_t *n) { *n = 1; return 0; }\n"
    "static int sized(H t, int64_t want) { int64_t *s, *z, dim;\n"
    "  aoti_torch_get_dim(t, &dim); if (dim != 1) return fail(\"expected ndim 1 but got %ld\\nError in op: input\", dim);\n"
    "  aoti_torch_get_sizes(t, &s); aoti_torch_get_strides(t, &z);\n"
    "  return s[0] != want || z[0] != 1 ? fail(\"expected size %ld==%ld, stride %ld==1 at dim=0\\nError in op: input\", s[0], want, z[0]) "
    ": 0; }\n"
    "int AOTInductorModelContainerRun(void *c, H *in, size_t n, H *out, size_t m, void *stream, void *proxy)\n"
    "{ int64_t *s, *r;\n"
    "  aoti_torch_get_sizes(in[0], &s); aoti_torch_get_sizes(in[1], &r);\n"
    "  if (s[0] < 9) return fail(\"input_handles[0]: dim value is too small at 0, expected it to be >= 9, but got: %ld\\n\", s[0]);\n"
    "  if (s[0] > 401) return fail(\"input_handles[0]: dim value is too large at 0, expected to be <= 401, but got: %ld\\n\", s[0]);\n"
    "  if (r[0] < 6) return fail(\"input_handles[1]: dim value is too small at 0, expected it to be >= 6, but got: %ld\\n\", r[0]);\n"
    "  if (r[0] > 300) return fail(\"input_handles[1]: dim value is too large at 0, expected to be <= 300, but got: %ld\\n\", r[0]);\n"
    "  int64_t k = (s[0] - 1) / 4, size[1] = {7 * k + 2}, stride[1] = {1};\n"
    "  if (sized(in[FIRST], FIRST ? 3 * k : 4 * k + 1) || sized(in[!FIRST], FIRST ? 4 * k + 1 : 3 * k)) return 1;\n"
    "  return aoti_torch_empty_strided(1, size, stride, aoti_torch_dtype_float32(), aoti_torch_device_type_cpu(), 0, &out[0]); }\n";

static void test_steps(void **state)
{
	(void)state;
	static const char *const flags[] = {"-DFIRST=0", "-DFIRST=1"}; /* which input is looked at first */
	for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
		struct buf so = compile(steps_model, flags[i]), b = {0};
		struct contract c = {0};
		struct err err;
		if (binprobe_contract(&c, buf_slice(&so), &(struct binprobe_options){0}, &err) < 0)
			fail_msg("%s: %s", flags[i], err.text);
		describe(&c, &b);
		assert_string_equal(buf_str(&b),
				    " dtype -1 device -1 4*s0 + 1[9, 401]/1\n dtype -1 device -1 3*s0[6, 300]/1\n-> float32 7*s0 + 2/1\n");
		assert_int_equal(c.n_symbols, 1);
		assert_int_equal(c.symbol[0].range.lo, 2);
		assert_int_equal(c.symbol[0].range.hi, 100);
		assert_int_equal(c.n_notes, 0);
		contract_release(&c);
		buf_release(&so);
		buf_release(&b);
	}
}

/* Models of before AOTInductorGetLastError, and of before CreateWithDevice or RunSingleThreaded: names taken away. */
static void test_older_models(void **state)
{
	(void)state;
	static const char *const gone[] = {"AOTInductorGetLastError", "AOTInductorModelContainerCreateWithDevice",
					   "AOTInductorModelContainerRunSingleThreaded"};
	struct fixture f;
	struct slice so;
	struct err err;
	fixture_open(&f, "mlp");
	assert_int_equal(package_data(&f.pkg, f.pkg.model[0].so, &so, &err), 0);
	char *copy = xmalloc(so.n);
	memcpy(copy, so.p, so.n);
	for (size_t i = 0; i < ARRAY_LEN(gone); i++) {
		/* Whole names only: Create is the beginning of CreateWithDevice. */
		char *at = memmem(copy, so.n, gone[i], strlen(gone[i]) + 1);
		assert_non_null(at);
		*at = 'X';
		struct contract c = {0};
		struct buf b = {0};
		if (binprobe_contract(&c, slice_of(copy, so.n), &(struct binprobe_options){0}, &err) < 0)
			fail_msg("without %s: %s", gone[i], err.text);
		describe(&c, &b);
		assert_string_equal(buf_str(&b), "arg4_1 float32 cpu s0[2, 64]/8 8/1\n-> float32 s0/4 4/1\n");
		contract_release(&c);
		buf_release(&b);
	}
	free(copy);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_contracts),       cmocka_unit_test(test_text_and_binary_agree), cmocka_unit_test(test_ways),
	    cmocka_unit_test(test_text_of_another), cmocka_unit_test(test_changed_text),          cmocka_unit_test(test_steps),
	    cmocka_unit_test(test_written_model),   cmocka_unit_test(test_older_models),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name(__FILE__, tests, setup, teardown);
}
