/* ask/: what operators make where nothing asserts it, and libraries that mean harm: compiled here, asked in the sandbox. */
#include "../../lib/probing.h"

#include <errno.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/process/child.h"

static void harmless(const char *code)
{
	struct contract c;
	struct err err;
	if (binprobe_code(code, 0, 0, &c, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(c.n_inputs, 0);
	contract_release(&c);
}

/* It fails, as the file's fault, and says this. */
static void harmful(const char *code, const char *text)
{
	struct contract c;
	struct err err;
	if (!binprobe_code(code, 1500, 256u << 20, &c, &err))
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
	if (binprobe_code(code, 0, 0, &c, &err) < 0)
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
		"the program asserts a different shape for an operator's result than the operator's rule gives\n");
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
	assert_int_equal(binprobe_code("int x;\n", 0, 0, &c, &err), -1);
	assert_int_equal(err.status, EXIT_INPUT);
	assert_non_null(strstr(err.text, "not a compiled model"));
}

/* What a library does as soon as it can, and how that is told. */
static const struct {
	const char *code, *text;
} harm[] = {
    {"*(volatile int *)8 = 1;", "SIGSEGV"},
    {"abort();", "SIGABRT"},
    {"for (;;) ;", "timed out after 1500 ms in the initializers of the model"},
    /* From glibc 2.41 on with all signals blocked: which call it was cannot be told. */
    {"fork(); for (;;) ;", "the sandbox blocked"},
    {"syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); for (;;) ;", "(clone) in the initializers of the model"},
    {"socket(AF_INET, SOCK_STREAM, 0);", "(socket) in the initializers of the model"},
    {"execl(\"/bin/true\", \"true\", NULL);", "(execve) in the initializers of the model"},
    {"syscall(SYS_openat, AT_FDCWD, \"/tmp/x\", O_RDWR | O_CREAT, 0600);", "(openat) in the initializers of the model"},
    {"syscall(SYS_openat, AT_FDCWD, \"/etc/passwd\", O_RDONLY);", "(openat) in the initializers of the model"},
    {"unlink(\"/tmp/x\");", "(unlink) in the initializers of the model"},
    {"kill(getppid(), SIGTERM);", "(getppid) in the initializers of the model"},
    {"syscall(SYS_kill, 1, 0);", "(kill) in the initializers of the model"},
    {"syscall(SYS_tgkill, getpid(), getpid(), SIGSTOP);", "(tgkill) in the initializers of the model"},
    {"syscall(SYS_ptrace, 0, 0, 0, 0);", "(ptrace) in the initializers of the model"},
    {"prctl(PR_SET_DUMPABLE, 1);", "(prctl) in the initializers of the model"},
    {"syscall(SYS_rt_sigaction, SIGSYS, 0, 0, 8);", "(rt_sigaction) in the initializers of the model"},
    {"syscall(SYS_read, 0, &here, 1);", "(read) in the initializers of the model"},
    {"syscall(SYS_write, 0, \"x\", 1);", "(write) in the initializers of the model"},
    /* A system call of another architecture (int 0x80: 20 is getpid there). */
    {"__asm__ volatile(\"int $0x80\" : : \"a\"(20) : \"memory\");", "SIGSYS"},
    /* Refused with the signal blocked: the kernel ends it. */
    {"sigset_t s; sigfillset(&s); sigprocmask(SIG_BLOCK, &s, NULL); socket(1, 1, 0);", "SIGSYS"},
    {"exit(0);", "exited with status 3 in the initializers of the model"},
    {"syscall(SYS_exit_group, 0);", "exited with status 0 in the initializers of the model"},
    /* Garbage and lies in the answer's pipe, whatever its number. */
    {"syscall(SYS_write, 3, \"C{]\", 3); syscall(SYS_exit_group, 0);", "invalid result"},
    {"syscall(SYS_write, 3, \"C{}\", 3); syscall(SYS_exit_group, 0);", "invalid result"},
    {"syscall(SYS_write, 3, \"\", 1);", "invalid result"},
    {"syscall(SYS_write, 3, \"3\\033[2Joops\", 9); syscall(SYS_exit_group, 0);", "cannot probe:  [2Joops"},
    {"char *p = calloc(1, 1 << 20); for (;;) syscall(SYS_write, 3, p, 1 << 20);", "timed out after 1500 ms"},
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
		struct binprobe_options o = {.timeout_ms = 1500, .max_memory = 256u << 20};
		memcpy(which, &i, sizeof(i));
		if (!binprobe_contract(&c, buf_slice(&so), &o, &err))
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
	if (binprobe_code("#include <stddef.h>\n"
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
		named |= slice_is(c.note[i], "the program calls aoti_torch_cpu_not_yet, which is unknown here");
		stopped |= slice_starts(c.note[i], "the program could not be run to its end: aoti_torch_cpu_not_yet(x, &y)");
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
	struct binprobe_options o = {.timeout_ms = 2000};
	struct contract c;
	struct err err;
	uint64_t seed = 5;
	assert_int_equal(binprobe_contract(&(struct contract){0}, slice_of("", 0), &o, &err), -1);
	assert_int_equal(err.status, EXIT_INPUT);
	assert_int_equal(binprobe_contract(&(struct contract){0}, slice_of(good.p, 100), &o, &err), -1);
	assert_int_equal(err.status, EXIT_INPUT);
	unsigned refused = 0;
	struct guard guard = {0};
	for (int i = 0; i < 60; i++) {
		char *p = guard_put(&guard, good.p, good.len);
		for (int k = 0; k < 4; k++)
			p[i < 20 ? pick(&seed, 512) : pick(&seed, (uint32_t)good.len)] ^= (char)(1 + pick(&seed, 255));
		c = (struct contract){0};
		refused += binprobe_contract(&c, slice_of(p, good.len), &o, &err) < 0;
		contract_release(&c);
	}
	guard_release(&guard);
	assert_true(refused > 5);
	/* Another machine's. */
	good.p[18] = (char)183; /* EM_AARCH64 */
	assert_int_equal(binprobe_contract(&c, buf_slice(&good), &o, &err), -1);
	if (err.status != EXIT_INPUT || !strstr(err.text, "is compiled for aarch64"))
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
	struct binprobe_options o = {.timeout_ms = 2000};
	struct contract c = {0};
	struct err err;
	if (!binprobe_contract(&c, so, &o, &err))
		return 11;
	dprintf(1, "%s\n", err.text);
	return err.status;
}

/* Output that the tool has buffered is written once, by the tool. */
static int binprobe_with_output(void *so)
{
	struct contract c = {0};
	struct err err;
	printf("once,");
	int rc = binprobe_contract(&c, *(struct slice *)so, &(struct binprobe_options){0}, &err);
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
	struct child_spec spec = {
	    .argv = (const char *[]){"test", NULL}, .function = binprobe_with_output, .arg = &so, .out.how = CHILD_PIPE};
	fflush(stdout);
	assert_int_equal(child_run(&spec, &r, &err), 0);
	child_output_text(&r.out, &out);
	assert_string_equal(buf_str(&out), "once,probed");
	child_result_release(&r);
	buf_release(&out);
	fixture_close(&f);
}

static int binprobe_without_seccomp(void *so) { return without(true, PR_SET_SECCOMP, *(struct slice *)so); }
static int binprobe_without_no_new_privs(void *so) { return without(false, PR_GET_NO_NEW_PRIVS, *(struct slice *)so); }

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
	refused_here(binprobe_without_seccomp, "cannot install the first filter");
	refused_here(binprobe_without_no_new_privs, "cannot give up new privileges");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_rules),          cmocka_unit_test(test_rule_overruled), cmocka_unit_test(test_small_libraries),
	    cmocka_unit_test(test_harm),           cmocka_unit_test(test_odd_entries),    cmocka_unit_test(test_unknown_operator),
	    cmocka_unit_test(test_memory),         cmocka_unit_test(test_damaged),        cmocka_unit_test(test_no_sandbox_no_probe),
	    cmocka_unit_test(test_pending_output),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name(__FILE__, tests, setup, teardown);
}
