/* aoti/probe: contracts from the binary alone, the same as from the text; and libraries that mean harm. */
#include "../lib/test.h"

#include <errno.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "package/package.h"
#include "ask/ask.h"
#include "wrapper/wrapper.h"
#include "process/child.h"

static char dir[64];

static int setup(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/test_probe.XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	char *cmd = xasprintf("rm -rf '%s'", dir);
	int rc = system(cmd);
	free(cmd);
	return rc;
}

static char *put(const char *name, struct slice s)
{
	char *path = xasprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(s.p, 1, s.n, f), s.n);
	fclose(f);
	return path;
}

/* ---- recorded packages ---- */

struct fixture {
	struct package pkg;
	char *path;
};

static void fixture_open(struct fixture *f, const char *name)
{
	struct buf b = {0};
	struct err err;
	char *xz = xasprintf("aoti/%s.pt2.xz", name);
	if (!data_load(xz, &b))
		fail_msg("cannot unpack %s", xz);
	f->path = put("model.pt2", buf_slice(&b));
	if (package_open(&f->pkg, f->path, &err) < 0)
		fail_msg("%s", err.text);
	buf_release(&b);
	free(xz);
}

static void fixture_close(struct fixture *f)
{
	package_close(&f->pkg);
	free(f->path);
}

static void ask_model(struct fixture *f, size_t i, struct contract *c)
{
	struct package_model *m = &f->pkg.model[i];
	struct slice so;
	struct err err;
	struct ask_options o = {.blob_size = f->pkg.file[m->weights_blob].size};
	*c = (struct contract){0};
	if (package_data(&f->pkg, m->so, &so, &err) < 0 || ask_contract(c, so, &o, &err) < 0)
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

/* Everything about inputs as one text: what a reader of a table would see. */
static void describe(const struct contract *c, struct buf *b)
{
	for (uint32_t i = 0; i < c->n_inputs; i++) {
		const struct contract_input *in = &c->input[i];
		buf_addf(b, "%.*s %s %s%s", SL(in->name), dtype_name(in->dtype), device_name(in->device), in->rank_known ? "" : " rank?");
		for (int d = 0; d < in->n_dim; d++) {
			buf_addc(b, ' ');
			symsize_print(&c->tab, in->dim[d].size, b);
			if (!in->dim[d].range.lo_inf || !in->dim[d].range.hi_inf)
				symrange_print(in->dim[d].range, b);
			buf_addc(b, '/');
			symsize_print(&c->tab, in->dim[d].stride, b);
		}
		buf_addc(b, '\n');
	}
	for (uint32_t i = 0; i < c->n_outputs; i++) {
		const struct contract_output *o = &c->output[i];
		buf_addf(b, "-> %s", o->dtype == DTYPE_NONE ? "?" : dtype_name(o->dtype));
		for (int d = 0; d < o->n_dim; d++) {
			buf_addc(b, ' ');
			symsize_print(&c->tab, o->dim[d].size, b);
			buf_addc(b, '/');
			symsize_print(&c->tab, o->dim[d].stride, b);
		}
		buf_addc(b, '\n');
	}
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
		ask_model(&f, 0, &c);
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
			ask_model(&f, k, &binary);
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
		ask_model(&f, 0, &c);
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
		ask_model(&f, 0, &binary[i]);
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
	ask_model(&f, 0, &binary);
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

static struct buf compile(const char *code, const char *flags);

static void test_written_model(void **state)
{
	(void)state;
	/* However it is linked. */
	static const char *const flags[] = {"", "-Wl,-z,now,-z,relro", "-Wl,-z,pack-relative-relocs",
					    "-Wl,--hash-style=sysv -mtls-dialect=gnu2"};
	for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
		struct buf so = compile(gpu_model, flags[i]), b = {0};
		struct ask_options o = {.device = "cuda"};
		struct contract c = {0};
		struct err err;
		if (ask_contract(&c, buf_slice(&so), &o, &err) < 0)
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
		if (ask_contract(&c, buf_slice(&so), &(struct ask_options){0}, &err) < 0)
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
		if (ask_contract(&c, slice_of(copy, so.n), &(struct ask_options){0}, &err) < 0)
			fail_msg("without %s: %s", gone[i], err.text);
		describe(&c, &b);
		assert_string_equal(buf_str(&b), "arg4_1 float32 cpu s0[2, 64]/8 8/1\n-> float32 s0/4 4/1\n");
		contract_release(&c);
		buf_release(&b);
	}
	free(copy);
	fixture_close(&f);
}

/* ---- libraries that mean harm ---- */

#define ENTRIES \
	"#include <stddef.h>\n#include <stdlib.h>\n#include <unistd.h>\n#include <fcntl.h>\n#include <signal.h>\n" \
	"#include <string.h>\n#include <sys/socket.h>\n#include <sys/mman.h>\n#include <sys/prctl.h>\n" \
	"#include <sys/syscall.h>\n" \
	"static int here;\n" \
	"int AOTInductorModelContainerCreateWithDevice(void **c, size_t n, const char *d, const char *e)" \
	"{ *c = &here; return 0; }\n" \
	"int AOTInductorModelContainerGetNumInputs(void *c, size_t *n) { *n = 0; return 0; }\n" \
	"int AOTInductorModelContainerGetNumOutputs(void *c, size_t *n) { *n = 0; return 0; }\n"

#define RUN_NOTHING \
	"int AOTInductorModelContainerRun(void *c, void **i, size_t n, void **o, size_t m, void *s, void *p)" \
	"{ return 0; }\n"

/* Compile a library; its bytes. */
static struct buf compile(const char *code, const char *flags)
{
	struct buf b = {0};
	char *c = put("bad.c", slice_str(code));
	char *cmd = xasprintf("gcc -w -O1 -shared -fPIC %s -o '%s/bad.so' '%s' && cat '%s/bad.so'", flags, dir, c, dir);
	FILE *f = popen(cmd, "r");
	size_t n;
	while (f && (n = fread(buf_room(&b, 1 << 16), 1, 1 << 16, f)) > 0)
		buf_wrote(&b, n);
	if (!f || pclose(f))
		fail_msg("cannot compile:\n%s", code);
	free(cmd);
	free(c);
	return b;
}

static int ask_code(const char *code, int timeout_ms, uint64_t memory, struct contract *c, struct err *err)
{
	struct buf b = compile(code, "");
	struct ask_options o = {.timeout_ms = timeout_ms, .max_memory = memory};
	*c = (struct contract){0};
	int rc = ask_contract(c, buf_slice(&b), &o, err);
	buf_release(&b);
	return rc;
}

static void harmless(const char *code)
{
	struct contract c;
	struct err err;
	if (ask_code(code, 0, 0, &c, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(c.n_inputs, 0);
	contract_release(&c);
}

/* It fails, as the file's fault, and says this. */
static void harmful(const char *code, const char *text)
{
	struct contract c;
	struct err err;
	if (!ask_code(code, 1500, 256u << 20, &c, &err))
		fail_msg("it was probed:\n%s", code);
	if (!strstr(err.text, text) || err.status != EXIT_INPUT)
		fail_msg("'%s' (%d) does not say '%s'", err.text, err.status, text);
}

/* ---- what operators make, where nothing asserts it ---- */

/* A model without inputs and of two outputs; f is float32 of 6 x 8, q of 2 x 3 x 4 x 5, k int64 of 6 x 8. */
static const char program_head[] =
    "#include <stddef.h>\n#include <stdint.h>\ntypedef void *T; typedef int64_t I; typedef int32_t B;\n"
    "extern B aoti_torch_empty_strided(I, const I *, const I *, B, B, B, T *), aoti_torch_get_size(T, I, I *);\n"
    "extern B aoti_torch_cpu_topk(T, I, I, B, B, T *, T *), aoti_torch_cpu_sort_stable(T, B *, I, B, T *, T *);\n"
    "extern B aoti_torch_cpu_cumsum(T, I, B *, T *), aoti_torch_cpu_nonzero(T, T *);\n"
    "extern B aoti_torch_cpu_index_Tensor(T, T **, I, T *), aoti_torch_cpu_cat(T *, I, I, T *), aoti_torch_aten_amax(T, I *, I, B, T *);\n"
    "extern B aoti_torch_cpu_convolution(T, T, T *, I *, I, I *, I, I *, I, B, I *, I, I, T *);\n"
    "extern B aoti_torch_aten_pad(T, I *, I, const char *, double *, T *), aoti_torch_cpu_mul_Scalar(T, double, T *);\n"
    "extern B aoti_torch_cpu__scaled_dot_product_flash_attention_for_cpu(T, T, T, double, B, T *, double *, T *, T *);\n"
    "extern B aoti_torch_get_dim(T, I *), aoti_torch_get_sizes(T, I **);\n"
    "static int here; static const char *text = \"\";\n"
    "int AOTInductorGetLastError(const char **t) { *t = text; return 0; }\n"
    "int AOTInductorModelContainerCreateWithDevice(void **c) { *c = &here; return 0; }\n"
    "int AOTInductorModelContainerGetNumInputs(void *c, size_t *n) { *n = 0; return 0; }\n"
    "int AOTInductorModelContainerGetNumOutputs(void *c, size_t *n) { *n = 2; return 0; }\n"
    "int AOTInductorModelContainerRun(void *c, T *in, size_t n, T *out) {\n"
    "  T f, k, q; I two[] = {6, 8}, s2[] = {8, 1}, four[] = {2, 3, 4, 5}, s4[] = {60, 20, 5, 1}; I one[] = {1, 1}, none[] = {0, 0};\n"
    "  B i32 = 3; double zero = 0; aoti_torch_empty_strided(2, two, s2, 6, 0, -1, &f);\n"
    "  aoti_torch_empty_strided(2, two, s2, 4, 0, -1, &k); aoti_torch_empty_strided(4, four, s4, 6, 0, -1, &q);\n";

static void made_by(const char *calls, const char *want)
{
	struct contract c;
	struct err err;
	struct buf b = {0};
	char *code = xasprintf("%s%s return 0; }\n", program_head, calls);
	if (ask_code(code, 0, 0, &c, &err) < 0)
		fail_msg("%s", err.text);
	describe(&c, &b);
	for (uint32_t i = 0; i < c.n_notes; i++)
		buf_addf(&b, "%.*s\n", SL(c.note[i]));
	if (strcmp(buf_str(&b), want))
		fail_msg("%s:\n%s", calls, buf_str(&b));
	free(code);
	buf_release(&b);
	contract_release(&c);
}

static void test_rules(void **state)
{
	(void)state;
	made_by("aoti_torch_cpu_topk(f, 2, 1, 1, 1, &out[0], &out[1]);", "-> float32 6/2 2/1\n-> int64 6/2 2/1\n");
	made_by("aoti_torch_cpu_sort_stable(k, NULL, 0, 0, &out[0], &out[1]);", "-> int64 6/8 8/1\n-> int64 6/8 8/1\n");
	made_by("aoti_torch_cpu_cumsum(f, 1, &i32, &out[0]); aoti_torch_aten_amax(q, one, 1, 0, &out[1]);",
		"-> int32 6/8 8/1\n-> float32 2/20 4/5 5/1\n");
	made_by("T *i[] = {NULL, &k}; T both[] = {f, f}; aoti_torch_cpu_index_Tensor(f, i, 2, &out[0]); aoti_torch_cpu_cat(both, 2, 1, "
		"&out[1]);",
		"-> float32 6/48 6/8 8/1\n-> float32 6/16 16/1\n");
	made_by("aoti_torch_cpu_convolution(q, q, NULL, one, 2, one, 2, one, 2, 0, none, 2, 1, &out[0]); I by[] = {1, 2};\n"
		"aoti_torch_aten_pad(f, by, 2, \"constant\", &zero, &out[1]);",
		"-> float32 2/18 2/9 3/3 3/1\n-> float32 6/11 11/1\n");
	made_by("aoti_torch_cpu__scaled_dot_product_flash_attention_for_cpu(q, q, q, 0, 0, NULL, NULL, &out[0], &out[1]);",
		"-> float32 2/60 3/20 4/5 5/1\n-> float32 2/12 3/1 4/3\n");
	/* A rule goes on from what another has made; a Scalar of C is a double. */
	made_by("T a; aoti_torch_cpu_topk(k, 3, 0, 1, 1, &a, &out[0]); aoti_torch_cpu_mul_Scalar(a, 2, &out[1]);",
		"-> int64 3/8 8/1\n-> float32 3/8 8/1\n");
	/* A size that depends on values stays open, and so do those that follow. */
	made_by("I m; T a; aoti_torch_cpu_nonzero(f, &a); aoti_torch_get_size(a, 0, &m); I s[] = {m, 2};\n"
		"aoti_torch_empty_strided(2, s, s2, 6, 0, -1, &out[0]); aoti_torch_cpu_cumsum(a, 0, NULL, &out[1]);",
		"-> float32 u0/8 2/1\n-> ?\n");
	/* What does not fit has no rule; types are certain all the same. */
	made_by("aoti_torch_cpu_topk(f, 9, 1, 1, 1, &out[0], &out[1]);", "-> float32\n-> int64\n");
}

/* The program knows better. */
static void test_rule_overruled(void **state)
{
	(void)state;
	made_by("I *s; aoti_torch_cpu_topk(f, 2, 1, 1, 1, &out[0], &out[1]); I d; aoti_torch_get_dim(out[0], &d);\n"
		"aoti_torch_get_sizes(out[0], &s); text = \"expected size 2==3, stride 2==3 at dim=1\"; if (s[1] != 3) return 1;",
		"-> float32 6/2 3/3\n-> int64 6/2 2/1\n"
		"the program asserts another shape of what an operator makes than the operator's rule gives\n");
}

/* ---- harm ---- */

#define AT_START(code) ENTRIES RUN_NOTHING "__attribute__((constructor)) static void start(void) { " code " }\n"

static void test_small_libraries(void **state)
{
	(void)state;
	harmless(ENTRIES RUN_NOTHING);
	/* The environment is not the tool's, and memory is there to be used. */
	setenv("PT2_TEST_PROBE", "1", 1);
	harmless(AT_START("if (getenv(\"PT2_TEST_PROBE\") || getenv(\"PATH\")) abort();"
			  "memset(malloc(1 << 24), 1, 1 << 24);"));
	/* It may print, to nowhere. */
	harmless("#include <stdio.h>\n" AT_START("puts(\"hello\"); fflush(NULL); write(1, \"x\", 1); write(2, \"y\", 1);"));
	/* Thread-local data, of the two models that gcc has. */
	harmless(ENTRIES RUN_NOTHING "__thread int a = 5, z; __attribute__((constructor)) static void start(void)"
				     "{ if (a != 5 || z) abort(); a = 6; if (*&a != 6) abort(); }\n");
	/* An indirect function: its resolver runs in the sandbox. */
	harmless(ENTRIES RUN_NOTHING "static int six(void) { return 6; } static void *choose(void) { return six; }\n"
				     "int pick(void) __attribute__((ifunc(\"choose\")));\n"
				     "__attribute__((constructor)) static void start(void) { if (pick() != 6) abort(); }\n");
	struct contract c;
	struct err err;
	assert_int_equal(ask_code("int x;\n", 0, 0, &c, &err), -1);
	assert_int_equal(err.status, EXIT_INPUT);
	assert_non_null(strstr(err.text, "it is no compiled model"));
}

/* What a library does as soon as it can, and how that is told. */
static const struct {
	const char *code, *text;
} harm[] = {
    {"*(volatile int *)8 = 1;", "SIGSEGV"},
    {"abort();", "SIGABRT"},
    {"for (;;) ;", "not done after 1500 ms, in the model's initialisers"},
    /* From glibc 2.41 on with all signals blocked: which call it was cannot be told. */
    {"fork(); for (;;) ;", ", which the sandbox forbids, in the model's initialisers"},
    {"syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); for (;;) ;", "(clone), which the sandbox forbids, in the model's initialisers"},
    {"socket(AF_INET, SOCK_STREAM, 0);", "(socket), which the sandbox forbids"},
    {"execl(\"/bin/true\", \"true\", NULL);", "(execve), which the sandbox forbids"},
    {"syscall(SYS_openat, AT_FDCWD, \"/tmp/x\", O_RDWR | O_CREAT, 0600);", "(openat), which the sandbox forbids"},
    {"syscall(SYS_openat, AT_FDCWD, \"/etc/passwd\", O_RDONLY);", "(openat), which the sandbox forbids"},
    {"unlink(\"/tmp/x\");", "(unlink), which the sandbox forbids"},
    {"kill(getppid(), SIGTERM);", "(getppid), which the sandbox forbids"},
    {"syscall(SYS_kill, 1, 0);", "(kill), which the sandbox forbids"},
    {"syscall(SYS_tgkill, getpid(), getpid(), SIGSTOP);", "(tgkill), which the sandbox forbids"},
    {"syscall(SYS_ptrace, 0, 0, 0, 0);", "(ptrace), which the sandbox forbids"},
    {"prctl(PR_SET_DUMPABLE, 1);", "(prctl), which the sandbox forbids"},
    {"syscall(SYS_rt_sigaction, SIGSYS, 0, 0, 8);", "(rt_sigaction), which the sandbox forbids"},
    {"syscall(SYS_read, 0, &here, 1);", "(read), which the sandbox forbids"},
    {"syscall(SYS_write, 0, \"x\", 1);", "(write), which the sandbox forbids"},
    /* A system call of another architecture (int 0x80: 20 is getpid there). */
    {"__asm__ volatile(\"int $0x80\" : : \"a\"(20) : \"memory\");", "SIGSYS"},
    /* Refused with the signal blocked: the kernel ends it. */
    {"sigset_t s; sigfillset(&s); sigprocmask(SIG_BLOCK, &s, NULL); socket(1, 1, 0);", "SIGSYS"},
    {"exit(0);", "exited with status 3 in the model's initialisers"},
    {"syscall(SYS_exit_group, 0);", "exited with status 0 in the model's initialisers"},
    /* Garbage and lies in the answer's pipe, whatever its number. */
    {"syscall(SYS_write, 3, \"C{]\", 3); syscall(SYS_exit_group, 0);", "its answer makes no sense"},
    {"syscall(SYS_write, 3, \"C{}\", 3); syscall(SYS_exit_group, 0);", "its answer makes no sense"},
    {"syscall(SYS_write, 3, \"\", 1);", "its answer makes no sense"},
    {"syscall(SYS_write, 3, \"3\\033[2Joops\", 9); syscall(SYS_exit_group, 0);", "cannot probe:  [2Joops"},
    {"char *p = calloc(1, 1 << 20); for (;;) syscall(SYS_write, 3, p, 1 << 20);", "not done after 1500 ms"},
};

/* All in one library, compiled once: which of them is a number in its data. */
static void test_harm(void **state)
{
	(void)state;
	static const uint32_t mark = 0x5eed0bad;
	struct buf code = {0};
	buf_adds(&code, ENTRIES RUN_NOTHING "volatile unsigned which = 0x5eed0bad;\n"
					    "__attribute__((constructor)) static void start(void) { switch (which) {\n");
	for (size_t i = 0; i < ARRAY_LEN(harm); i++)
		buf_addf(&code, "case %zu: { %s } break;\n", i, harm[i].code);
	buf_adds(&code, "} }\n");
	struct buf so = compile(buf_str(&code), "");
	char *which = memmem(so.p, so.len, &mark, sizeof(mark));
	assert_non_null(which);
	for (uint32_t i = 0; i < ARRAY_LEN(harm); i++) {
		struct contract c = {0};
		struct err err;
		struct ask_options o = {.timeout_ms = 1500, .max_memory = 256u << 20};
		memcpy(which, &i, sizeof(i));
		if (!ask_contract(&c, buf_slice(&so), &o, &err))
			fail_msg("it was probed: %s", harm[i].code);
		if (!strstr(err.text, harm[i].text) || err.status != EXIT_INPUT)
			fail_msg("'%s' (%d) does not say '%s'", err.text, err.status, harm[i].text);
	}
	buf_release(&so);
	buf_release(&code);
}

static void test_odd_entries(void **state)
{
	(void)state;
	harmful("int AOTInductorModelContainerCreateWithDevice(void **c) { *c = 0; return 0; }\n", "could not be created");
	harmful("int AOTInductorModelContainerCreateWithDevice(void **c) { *c = c; return 0; }\n", "exports no");
	harmful(ENTRIES "int AOTInductorModelContainerRun(void *c) { return *(volatile int *)0; }\n", "SIGSEGV");
}

/* Where the program cannot be followed, what its checks said is still told. */
static void test_unknown_operator(void **state)
{
	(void)state;
	struct contract c;
	struct err err;
	bool named = false, stopped = false;
	if (ask_code("#include <stddef.h>\n"
		     "extern int aoti_torch_cpu_not_yet(void *, void **), aoti_torch_get_dtype(void *, int *);\n"
		     "static const char *text = \"\"; static int here;\n"
		     "int AOTInductorGetLastError(const char **t) { *t = text; return 0; }\n"
		     "int AOTInductorModelContainerCreateWithDevice(void **c) { *c = &here; return 0; }\n"
		     "int AOTInductorModelContainerGetNumInputs(void *c, size_t *n) { *n = 1; return 0; }\n"
		     "int AOTInductorModelContainerGetNumOutputs(void *c, size_t *n) { *n = 1; return 0; }\n"
		     "int AOTInductorModelContainerRun(void *c, void **in, size_t n, void **out) { int t;\n"
		     "  aoti_torch_get_dtype(in[0], &t); text = \"input_handles[0]: unmatched dtype, expected: 4(at::kLong)\";\n"
		     "  if (t != 4) return 1;\n"
		     "  text = \"aoti_torch_cpu_not_yet(x, &y) API call failed\"; return aoti_torch_cpu_not_yet(in[0], out); }\n",
		     0, 0, &c, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(c.n_inputs, 1);
	assert_int_equal(c.input[0].dtype, DTYPE_I64);
	assert_false(c.input[0].rank_known);
	assert_int_equal(c.output[0].n_dim, -1);
	assert_int_equal(c.n_calls, 0);
	assert_text(c.stopped, "aoti_torch_cpu_not_yet(x, &y) API call failed");
	for (uint32_t i = 0; i < c.n_notes; i++) {
		named |= slice_is(c.note[i], "the program calls aoti_torch_cpu_not_yet, which is not known here");
		stopped |= slice_starts(c.note[i], "the program could not be followed to its end: aoti_torch_cpu_not_yet(x, &y)");
	}
	assert_true(named && stopped);
	/* What was not followed does not differ. */
	struct contract text = {.n_inputs = 1, .n_outputs = 1, .n_calls = 1};
	struct comparison compared;
	text.input = &(struct contract_input){.name = SLICE("x"), .dtype = DTYPE_I64, .device = DEVICE_CPU};
	text.output = &(struct contract_output){.name = SLICE("y"), .dtype = DTYPE_I64, .device = DEVICE_CPU};
	text.call = &(struct contract_call){.kind = CALL_OP, .name = SLICE("aoti_torch_cpu_not_yet")};
	contract_compare(&text, &c, &compared);
	assert_string_equal(buf_str(&compared.differs), "");
	assert_string_equal(buf_str(&compared.open),
			    "the binary was followed for 0 of 1 calls: aoti_torch_cpu_not_yet(x, &y) API call failed\n");
	assert_int_equal(compared.n_open, 1);
	comparison_release(&compared);
	text.input->dtype = DTYPE_F32;
	contract_compare(&text, &c, &compared);
	assert_string_equal(buf_str(&compared.differs), "input 0 (x): float32 in the text, int64 in the binary\n");
	comparison_release(&compared);
	contract_release(&c);
}

/* Memory without end: an address sanitizer's shadow does not leave a limit. */
static void test_memory(void **state)
{
	(void)state;
#if defined(__SANITIZE_ADDRESS__)
	skip();
#endif
	harmful(AT_START("for (;;) { char *p = malloc(1 << 24); if (!p) abort(); *(volatile char *)p = 1; }"), "SIGABRT");
}

/* ELF files that lie. */
static void test_damaged(void **state)
{
	(void)state;
	struct buf good = compile(ENTRIES RUN_NOTHING, "");
	struct ask_options o = {.timeout_ms = 2000};
	struct contract c;
	struct err err;
	uint64_t seed = 5;
	assert_int_equal(ask_contract(&(struct contract){0}, slice_of("", 0), &o, &err), -1);
	assert_int_equal(err.status, EXIT_INPUT);
	assert_int_equal(ask_contract(&(struct contract){0}, slice_of(good.p, 100), &o, &err), -1);
	assert_int_equal(err.status, EXIT_INPUT);
	unsigned refused = 0;
	struct guard guard = {0};
	for (int i = 0; i < 60; i++) {
		char *p = guard_put(&guard, good.p, good.len);
		for (int k = 0; k < 4; k++)
			p[i < 20 ? pick(&seed, 512) : pick(&seed, (uint32_t)good.len)] ^= (char)(1 + pick(&seed, 255));
		c = (struct contract){0};
		refused += ask_contract(&c, slice_of(p, good.len), &o, &err) < 0;
		contract_release(&c);
	}
	guard_release(&guard);
	assert_true(refused > 5);
	/* Another machine's. */
	good.p[18] = (char)183; /* EM_AARCH64 */
	assert_int_equal(ask_contract(&c, buf_slice(&good), &o, &err), -1);
	if (err.status != EXIT_INPUT || !strstr(err.text, "not for x86-64"))
		fail_msg("%s", err.text);
	buf_release(&good);
}

/* A host that has no filters of system calls: then nothing of the file may run. */
static int without(bool no_seccomp, int no_prctl, struct slice so)
{
	struct scmp_arg_cmp what = {0, SCMP_CMP_EQ, (scmp_datum_t)no_prctl, 0};
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_ALLOW);
	if (!f || (no_seccomp && seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(seccomp), 0)) ||
	    seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(prctl), 1, what) || seccomp_load(f))
		return 10;
	seccomp_release(f);
	struct ask_options o = {.timeout_ms = 2000};
	struct contract c = {0};
	struct err err;
	if (!ask_contract(&c, so, &o, &err))
		return 11;
	dprintf(1, "%s\n", err.text);
	return err.status;
}

/* Output that the tool has buffered is written once, by the tool. */
static int ask_with_output(void *so)
{
	struct contract c = {0};
	struct err err;
	printf("once,");
	int rc = ask_contract(&c, *(struct slice *)so, &(struct ask_options){0}, &err);
	contract_release(&c);
	printf("%s", rc < 0 ? err.text : "probed");
	fflush(stdout);
	return 0;
}

static void test_pending_output(void **state)
{
	(void)state;
	struct fixture f;
	struct slice so;
	struct err err;
	struct child_result r;
	struct buf out = {0};
	fixture_open(&f, "mlp");
	assert_int_equal(package_data(&f.pkg, f.pkg.model[0].so, &so, &err), 0);
	struct child_spec spec = {.argv = (const char *[]){"test", NULL}, .function = ask_with_output, .arg = &so, .out.how = CHILD_PIPE};
	fflush(stdout);
	assert_int_equal(child_run(&spec, &r, &err), 0);
	child_output_text(&r.out, &out);
	assert_string_equal(buf_str(&out), "once,probed");
	child_result_release(&r);
	buf_release(&out);
	fixture_close(&f);
}

static int ask_without_seccomp(void *so) { return without(true, PR_SET_SECCOMP, *(struct slice *)so); }
static int ask_without_no_new_privs(void *so) { return without(false, PR_GET_NO_NEW_PRIVS, *(struct slice *)so); }

static void refused_here(int (*function)(void *), const char *text)
{
	/* Were it run, it would be seen: it would be the file's fault. */
	struct buf b = compile(AT_START("*(volatile int *)8 = 1;"), "");
	struct slice so = buf_slice(&b);
	struct child_spec spec = {.argv = (const char *[]){"test", NULL}, .function = function, .arg = &so, .out.how = CHILD_PIPE};
	struct child_result r;
	struct err err;
	struct buf out = {0};
	assert_int_equal(child_run(&spec, &r, &err), 0);
	child_output_text(&r.out, &out);
	if (r.how != CHILD_EXITED || r.status != EXIT_ENVIRON || !strstr(buf_str(&out), text))
		fail_msg("status %d, signal %d: %s", r.status, r.sig, buf_str(&out));
	child_result_release(&r);
	buf_release(&out);
	buf_release(&b);
}

static void test_no_sandbox_no_probe(void **state)
{
	(void)state;
	refused_here(ask_without_seccomp, "cannot install the first filter");
	refused_here(ask_without_no_new_privs, "cannot give up new privileges");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_contracts),       cmocka_unit_test(test_text_and_binary_agree), cmocka_unit_test(test_ways),
	    cmocka_unit_test(test_text_of_another), cmocka_unit_test(test_changed_text),          cmocka_unit_test(test_steps),
	    cmocka_unit_test(test_written_model),   cmocka_unit_test(test_older_models),          cmocka_unit_test(test_rules),
	    cmocka_unit_test(test_rule_overruled),  cmocka_unit_test(test_small_libraries),       cmocka_unit_test(test_harm),
	    cmocka_unit_test(test_odd_entries),     cmocka_unit_test(test_unknown_operator),      cmocka_unit_test(test_memory),
	    cmocka_unit_test(test_damaged),         cmocka_unit_test(test_no_sandbox_no_probe),   cmocka_unit_test(test_pending_output),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name(__FILE__, tests, setup, teardown);
}
