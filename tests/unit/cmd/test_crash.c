/* crash/: backtraces of every form, core files, frames in terms of a recorded package, verdicts. */
#include "../../lib/crashed.h"

#include "../../lib/mkcore.h"
#include "crash/backtrace.h"
#include "crash/core.h"
#include "model/elf/inlined.h"
#include "crash/operand.h"

static struct guard guard;

/* ---- frames in texts ---- */

static const struct {
	const char *text;
	enum crash_form form;
	uint32_t number;
	unsigned has;
	uint64_t address, offset, in_symbol;
	const char *module, *symbol, *file;
	uint32_t line;
} forms[] = {
    {"/p/x.so(+0x1234) [0x7f12]", FORM_GLIBC, NONE, HAS_ADDRESS | HAS_OFFSET, 0x7f12, 0x1234, 0, "/p/x.so", "", "", 0},
    {"x.so(cpp_fused_relu_0+0x22b)[0x7f12]", FORM_GLIBC, NONE, HAS_ADDRESS | HAS_IN_SYMBOL, 0x7f12, 0, 0x22b, "x.so", "cpp_fused_relu_0",
     "", 0},
    {"/usr/bin/python3() [0x4f12]", FORM_GLIBC, NONE, HAS_ADDRESS, 0x4f12, 0, 0, "/usr/bin/python3", "", "", 0},
    {" 3  /lib/libc.so.6(cfree+0x3d) [0x7f3fec77294d]", FORM_GLIBC, 3, HAS_ADDRESS | HAS_IN_SYMBOL, 0x7f3fec77294d, 0, 0x3d,
     "/lib/libc.so.6", "cfree", "", 0},
    {"[19] PyObject_Call+0x414(0x5642) in /opt/bin/python", FORM_GLIBC, 19, HAS_ADDRESS | HAS_IN_SYMBOL, 0x5642, 0, 0x414,
     "/opt/bin/python", "PyObject_Call", "", 0},
    {"frame #3: torch::f(at::Tensor const&, int) + 0x22b (0x7f12 in /p/x.wrapper.so)", FORM_TORCH, 3, HAS_ADDRESS | HAS_IN_SYMBOL, 0x7f12,
     0, 0x22b, "/p/x.wrapper.so", "torch::f(at::Tensor const&, int)", "", 0},
    {"frame #4: <unknown function> + 0x9c020a (0x7f12 in /p/libtorch_python.so)", FORM_TORCH, 4, HAS_ADDRESS | HAS_OFFSET, 0x7f12, 0x9c020a,
     0, "/p/libtorch_python.so", "", "", 0},
    {"#5 c10::Error::Error(c10::SourceLocation, std::string) from ??:0", FORM_TORCH, 5, 0, 0, 0, 0, "",
     "c10::Error::Error(c10::SourceLocation, std::string)", "", 0},
    {"#6 at::native::f(at::Tensor const&) from RegisterCPU.cpp:12", FORM_TORCH, 6, 0, 0, 0, 0, "", "at::native::f(at::Tensor const&)",
     "RegisterCPU.cpp", 12},
    {"#3  0x00007f12 in cpp_fused_add_0 () from /p/x.so", FORM_GDB, 3, HAS_ADDRESS, 0x7f12, 0, 0, "/p/x.so", "cpp_fused_add_0 ()", "", 0},
    {"#4  0x00007f12 in torch::run (a=1, b=\" at x.c:9\") at /p/a.cpp:123", FORM_GDB, 4, HAS_ADDRESS, 0x7f12, 0, 0, "",
     "torch::run (a=1, b=\" at x.c:9\")", "/p/a.cpp", 123},
    {"#1  main (argc=1) at a.c:3", FORM_GDB, 1, 0, 0, 0, 0, "", "main (argc=1)", "a.c", 3},
    {"#2  0x0000000000000000 in ?? ()", FORM_GDB, 2, HAS_ADDRESS, 0, 0, 0, "", "", "", 0},
    {"* frame #1: 0x7f12 x.so`cpp_fused_add_0 + 576 at k.cpp:12:3", FORM_LLDB, 1, HAS_ADDRESS | HAS_IN_SYMBOL, 0x7f12, 0, 576, "x.so",
     "cpp_fused_add_0", "k.cpp", 12},
    {"    #3 0x7f12 in main /p/t.cpp:4:7", FORM_ASAN, 3, HAS_ADDRESS, 0x7f12, 0, 0, "", "main", "/p/t.cpp", 4},
    {"    #4 0x7f12 in f(int) (/p/x.so+0x1234) (BuildId: 12ab)", FORM_ASAN, 4, HAS_ADDRESS | HAS_OFFSET, 0x7f12, 0x1234, 0, "/p/x.so",
     "f(int)", "", 0},
    {"    #5 0x7f12  (/p/x.so+0x1234)", FORM_ASAN, 5, HAS_ADDRESS | HAS_OFFSET, 0x7f12, 0x1234, 0, "/p/x.so", "", "", 0},
    {"#6  0x00007f12 n/a (x.wrapper.so + 0x3ca10)", FORM_JOURNAL, 6, HAS_ADDRESS | HAS_OFFSET, 0x7f12, 0x3ca10, 0, "x.wrapper.so", "", "",
     0},
    {"python3[12]: segfault at 8 ip 00007f12 sp 00007ffe error 4 in x.so[7f10+5000]", FORM_KERNEL, NONE, HAS_ADDRESS | HAS_MAP_OFFSET,
     0x7f12, 2, 0, "x.so", "", "", 0},
    {"python3[12]: segfault at 8 ip 00007f12 sp 00007ffe error 6 in x.so[1f12,7f10+5000] likely on CPU 1", FORM_KERNEL, NONE,
     HAS_ADDRESS | HAS_FILE_OFFSET, 0x7f12, 0x1f12, 0, "x.so", "", "", 0},
    {"traps: python3[12] trap invalid opcode ip:7f12 sp:7ffe error:0 in x.so[7f00+5000]", FORM_KERNEL, NONE, HAS_ADDRESS | HAS_MAP_OFFSET,
     0x7f12, 0x12, 0, "x.so", "", "", 0},
    {"  File \"/a/b.py\", line 5 in f", FORM_PYTHON, NONE, 0, 0, 0, 0, "", "f", "/a/b.py", 5},
};

static void every_form(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		struct crash c = {0};
		size_t n = strlen(forms[i].text);
		crash_read_text(&c, slice_of(guard_put(&guard, forms[i].text, n), n));
		if (c.n_frames != 1)
			fail_msg("%u frames in: %s", c.n_frames, forms[i].text);
		const struct crash_frame *f = c.frame;
		if (f->form != forms[i].form || f->number != forms[i].number || f->has != forms[i].has || f->address != forms[i].address ||
		    f->offset != forms[i].offset || f->in_symbol != forms[i].in_symbol || f->line != forms[i].line)
			fail_msg("form %d number %u has %x address %llx offset %llx +%llx line %u: %s", f->form, f->number, f->has,
				 (unsigned long long)f->address, (unsigned long long)f->offset, (unsigned long long)f->in_symbol, f->line,
				 forms[i].text);
		assert_text(f->module, forms[i].module);
		assert_text(f->symbol, forms[i].symbol);
		assert_text(f->file, forms[i].file);
		crash_release(&c);
	}
}

static void no_frames(void **state)
{
	(void)state;
	static const char *const text[] = {"",
					   "frame #x: f + 0x1 (0x1 in y)",
					   "# 3 apples",
					   "#5",
					   "[INFO] x (0x12) [0x]",
					   "12:30:45 [0x12]",
					   "issue #123 in /path/x.so",
					   "a.b(c) [1]",
					   "00-01 rw-p",
					   "segfault at the wheel",
					   "#99999999999  0x1 in f () from x.so",
					   "frame #0:",
					   "File \"",
					   "trap ip:"};
	for (size_t i = 0; i < ARRAY_LEN(text); i++) {
		struct crash c = {0};
		size_t n = strlen(text[i]);
		crash_read_text(&c, slice_of(guard_put(&guard, text[i], n), n));
		if (c.n_frames || c.n_maps)
			fail_msg("%u frames in: %s", c.n_frames, text[i]);
		crash_release(&c);
	}
}

static void stacks_and_threads(void **state)
{
	(void)state;
	struct crash c = {0};
	crash_read_text(&c, SLICE("Thread 2 (Thread 0x7f (LWP 8)):\n"
				  "#0  0x0000000000001000 in poll ()\n"
				  "   from /lib/libc.so.6\n"
				  "#1  0x0000000000001010 in wait () from /lib/libc.so.6\n"
				  "Thread 1 (Thread 0x7f (LWP 7)):\n"
				  "#0  0x0000000000003000 in raise () from /lib/libc.so.6\n"
				  "#1  <signal handler called>\n"
				  "#2  0x0000000000002000 in cpp_fused_add_0 () from /x.wrapper.so\n"
				  "#3  0x0000000000002100 in run () at\n"
				  "    at a.cpp:7\n"
				  "Current thread 0x00007f (most recent call first):\n"
				  "  File \"a.py\", line 5 in f\n"
				  "  File \"a.py\", line 9 in <module>\n"
				  "Traceback (most recent call last):\n"
				  "  File \"b.py\", line 1, in <module>\n"
				  "    g()\n"
				  "  File \"b.py\", line 2, in g\n"));
	assert_int_equal(c.n_stacks, 4);
	assert_text(c.frame[0].module, "/lib/libc.so.6");
	const struct crash_stack *s = crash_main_stack(&c);
	assert_ptr_equal(s, &c.stack[1]); /* the one with a model in it */
	assert_text(s->name, "Thread 1 (Thread 0x7f (LWP 7)):");
	assert_true(c.frame[s->first].handler && c.frame[s->first + 1].handler && !c.frame[s->first + 2].handler);
	assert_true(c.frame[s->first + 2].exact && !c.frame[s->first + 3].exact);
	assert_int_equal(c.frame[s->first + 3].line, 7);
	s = crash_python_stack(&c);
	assert_true(s->crashed);
	assert_text(c.frame[s->first].symbol, "f");
	assert_text(c.frame[c.stack[3].first].symbol, "g"); /* turned round */
	crash_release(&c);
}

static void mappings_place_frames(void **state)
{
	(void)state;
	struct crash c = {0};
	crash_read_text(&c, SLICE("#0  0x0000000000401012 in ?? ()\n#1  0x0000000000900000 in ?? ()\n"
				  "00400000-00401000 r--p 00000000 08:01 12 /p/x.so\n"
				  "00401000-00403000 r-xp 00001000 08:01 12 /p/x.so (deleted)\n"
				  "00500000-00501000 rw-p 00000000 00:00 0 [heap]\n"));
	assert_int_equal(c.n_maps, 3);
	assert_text(c.frame[0].module, "/p/x.so");
	assert_int_equal(c.frame[0].offset, 0x1012);
	assert_int_equal(c.frame[0].has, HAS_ADDRESS | HAS_FILE_OFFSET);
	assert_int_equal(c.frame[1].has, HAS_ADDRESS);
	assert_true(c.map[1].exec && !c.map[2].exec && !c.map[2].path.n);
	crash_release(&c);
}

/* ---- signs ---- */

static const struct {
	const char *text;
	int signal;
	enum crash_kind kind;
	const char *what;
} signs[] = {
    {"Fatal Python error: Segmentation fault", SIGSEGV, KIND_SEGV, ""},
    {"SIGSEGV(11), PID: 12, Thread 12: ", SIGSEGV, KIND_SEGV, ""},
    {"Program received signal SIGSEGV, Segmentation fault.", SIGSEGV, KIND_SEGV, ""},
    {"Thread 1 \"pt_main_thread\" received signal SIGFPE, Arithmetic exception.", SIGFPE, KIND_FPE, ""},
    {"run.sh: line 4: 2369 Illegal instruction     (core dumped) python a.py", SIGILL, KIND_ILL, ""},
    {"Bus error", SIGBUS, KIND_BUS, ""},
    {"           Signal: 11 (SEGV)", SIGSEGV, KIND_SEGV, ""},
    {"[h:1 :0:1] Caught signal 11 (Segmentation fault: address not mapped to object at address (nil))", SIGSEGV, KIND_SEGV, ""},
    {"* thread #1, stop reason = signal SIGSEGV: invalid address (fault address: 0x10)", SIGSEGV, KIND_NULL, ""},
    {"python3[1]: segfault at 1234 ip 0000000000001000 sp 00007ffe error 4 in x.so[1000+1000]", SIGSEGV, KIND_SMALL, ""},
    {"==1==ERROR: AddressSanitizer: SEGV on unknown address 0x7f0000000000 (pc 0x1 bp 0x2 sp 0x3 T0)", SIGSEGV, KIND_WILD, "*"},
    {"==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000020 at pc 0x1", 0, KIND_ASAN, "*"},
    {"double free or corruption (out)\nAborted (core dumped)", SIGABRT, KIND_HEAP, "double free or corruption (out)"},
    {"python: a.c:3: f: Assertion `x > 0' failed.\nAborted", SIGABRT, KIND_ASSERT, "*"},
    {"terminate called after throwing an instance of 'c10::Error'\n  what():  bad shape\nAborted", SIGABRT, KIND_EXCEPTION, "bad shape"},
    {"Fatal Python error: Aborted", SIGABRT, KIND_ABORT, ""},
    {"kernel: Out of memory: Killed process 12 (python3) total-vm:1kB", 0, KIND_OOM, "*"},
    {"Killed", SIGKILL, KIND_KILLED, ""},
    {"RuntimeError: CUDA error: an illegal memory access was encountered", 0, KIND_CUDA_IMA, "*"},
    {"CUDA error: invalid device ordinal", 0, KIND_CUDA, "*"},
    {"RuntimeError: input_handles[1]: unmatched stride value at 0, expected: 4096, but got: 0", 0, KIND_REFUSED, "*"},
    {"ValueError: no", 0, KIND_ERROR, "no"},
    {"==1==ERROR: AddressSanitizer: stack-overflow on address 0x7ffc (pc 0x1)", 0, KIND_STACK, "*"},
    {"all is well", 0, KIND_NONE, ""},
};

static void every_sign(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
		struct crash c = {0};
		struct crashmap map = {0};
		struct crash_verdict v;
		size_t n = strlen(signs[i].text);
		crash_read_text(&c, slice_of(guard_put(&guard, signs[i].text, n), n));
		crashmap_join(&map, &c);
		crash_judge(&v, &c, &map);
		if (c.signal != signs[i].signal || v.kind != signs[i].kind)
			fail_msg("signal %d, %s: %s", c.signal, crash_kind_name(v.kind), signs[i].text);
		if (strcmp(signs[i].what, "*"))
			assert_text(c.what, signs[i].what);
		else
			assert_true(c.what.n > 0);
		assert_true(v.kind == KIND_NONE || v.n_steps > 0);
		crash_verdict_release(&v);
		crashmap_release(&map);
		crash_release(&c);
	}
}

/* ---- cores made here ---- */

static void core_of_both_machines(void **state)
{
	(void)state;
	static const uint16_t machine[] = {EM_X86_64, EM_AARCH64};
	for (size_t i = 0; i < 2; i++) {
		struct buf b = {0};
		struct crash c = {0};
		struct err err;
		mkcore(&b, &(struct mkcore){.machine = machine[i],
					    .signal = SIGSEGV,
					    .code = 1,
					    .fault = 0x503008,
					    .threads = 2,
					    .args = "python a.py ",
					    .path = "/p/x.so",
					    .code_bytes = SLICE("0123456789")});
		assert_int_equal(core_read(&c, buf_slice(&b), "core", &err), 0);
		assert_int_equal(c.signal, SIGSEGV);
		assert_int_equal(c.code, 1);
		assert_true(c.has_fault && c.fault == 0x503008);
		assert_text(c.command, "python a.py");
		assert_int_equal(c.n_threads, 2);
		assert_int_equal(c.thread[1].tid, 101);
		unsigned pc = machine[i] == EM_X86_64 ? 16 : 32, sp = machine[i] == EM_X86_64 ? 19 : 31;
		assert_int_equal(c.thread[1].pc, 0x1000 * (pc + 1) + 1);
		assert_int_equal(c.thread[0].sp, 0x1000 * (sp + 1));
		assert_string_equal(c.reg.name[c.reg.pc], machine[i] == EM_X86_64 ? "rip" : "pc");
		assert_int_equal(c.reg.value[c.reg.pc], 0x1000 * (pc + 1)); /* of the first thread */
		assert_int_equal(c.n_maps, 2);
		assert_text(c.map[0].path, "/p/x.so");
		assert_true(c.map[0].exec && c.map[1].write && !c.map[1].path.n);
		crash_release(&c);
		buf_release(&b);
	}
}

static void kinds_of_addresses(void **state)
{
	(void)state;
	static const struct {
		uint64_t fault;
		int code;
		enum crash_kind kind;
	} of[] = {{0, 1, KIND_NULL},        {8, 1, KIND_NULL},          {0x2000, 1, KIND_SMALL},          {0x503000, 1, KIND_BEHIND},
		  {0x700000, 1, KIND_WILD}, {0x400010, 2, KIND_DENIED}, {0, SI_KERNEL, KIND_NONCANONICAL}};
	for (size_t i = 0; i < ARRAY_LEN(of); i++) {
		struct buf b = {0};
		struct crash c = {0};
		struct crashmap map = {0};
		struct crash_verdict v;
		struct err err;
		mkcore(&b,
		       &(struct mkcore){.machine = EM_X86_64, .signal = SIGSEGV, .code = of[i].code, .fault = of[i].fault, .threads = 1});
		assert_int_equal(core_read(&c, buf_slice(&b), "core", &err), 0);
		c.reg.value[c.reg.sp] = 0x7fff00000000;
		crashmap_join(&map, &c);
		crash_judge(&v, &c, &map);
		if (v.kind != of[i].kind)
			fail_msg("%llx is %s", (unsigned long long)of[i].fault, crash_kind_name(v.kind));
		c.reg.value[c.reg.sp] = of[i].fault + 64;
		crash_verdict_release(&v);
		crash_judge(&v, &c, &map);
		if (of[i].kind == KIND_WILD)
			assert_int_equal(v.kind, KIND_STACK);
		crash_verdict_release(&v);
		crashmap_release(&map);
		crash_release(&c);
		buf_release(&b);
	}
}

static void cores_that_are_none(void **state)
{
	(void)state;
	struct buf b = {0};
	struct crash c = {0};
	struct err err;
	assert_false(core_like(SLICE("text")));
	assert_int_equal(core_read(&c, SLICE("text"), "a.txt", &err), -1);
	assert_non_null(strstr(err.text, "'a.txt' is not a core file"));
	mkcore(&b, &(struct mkcore){.machine = EM_X86_64, .signal = 11, .threads = 0});
	assert_int_equal(core_read(&c, buf_slice(&b), "core", &err), -1);
	assert_non_null(strstr(err.text, "no threads"));
	mkcore(&b, &(struct mkcore){.machine = EM_X86_64, .signal = 11, .threads = 1});
	b.p[EI_CLASS] = ELFCLASS32;
	assert_true(core_like(buf_slice(&b)));
	assert_int_equal(core_read(&c, buf_slice(&b), "core", &err), -1);
	assert_non_null(strstr(err.text, "32-bit"));
	crash_release(&c);
	buf_release(&b);
}

/* Cut off at each length, and bytes changed at random: against an unmapped page, nothing is read beyond. */
static void damaged_cores(void **state)
{
	(void)state;
	struct buf b = {0};
	uint64_t seed = 7;
	struct err err;
	mkcore(&b,
	       &(struct mkcore){.machine = EM_X86_64, .signal = 11, .threads = 2, .path = "/p/x.so", .code_bytes = SLICE("\177ELF\2\1\1")});
	for (size_t n = 0; n <= b.len; n += n < 300 ? 1 : 7) {
		struct crash c = {0};
		core_read(&c, slice_of(guard_put(&guard, b.p, n), n), "core", &err);
		crash_release(&c);
	}
	for (int i = 0; i < 4000; i++) {
		struct crash c = {0};
		char *p = guard_put(&guard, b.p, b.len);
		for (unsigned k = 0, m = 1 + pick(&seed, 8); k < m; k++)
			p[pick(&seed, (uint32_t)(k & 1 ? b.len : 300))] = (char)random_u32(&seed);
		core_read(&c, slice_of(p, b.len), "core", &err);
		crash_release(&c);
	}
	buf_release(&b);
}

static void damaged_texts(void **state)
{
	(void)state;
	struct buf all = {0};
	uint64_t seed = 3;
	for (size_t i = 0; i < ARRAY_LEN(forms); i++)
		buf_addf(&all, "%s\n", forms[i].text);
	for (size_t i = 0; i < ARRAY_LEN(signs); i++)
		buf_addf(&all, "%s\n", signs[i].text);
	for (size_t n = 0; n < all.len; n++) {
		struct crash c = {0};
		crash_read_text(&c, slice_of(guard_put(&guard, all.p, n), n));
		crash_release(&c);
	}
	for (int i = 0; i < 2000; i++) {
		struct crash c = {0};
		char *p = guard_put(&guard, all.p, all.len);
		for (unsigned k = 0; k < 60; k++)
			p[pick(&seed, (uint32_t)all.len)] = " ()[]#:+0x\n`,"[pick(&seed, 13)];
		crash_read_text(&c, slice_of(p, all.len));
		crash_release(&c);
	}
	struct crash c = {0};
	buf_reset(&all);
	for (int i = 0; i < 20000; i++)
		buf_adds(&all, i % 7 ? "#1  0x00007f12 in f () from /p/x.so\n" : "#0  0x00007f12 in f () from /p/x.so\n");
	crash_read_text(&c, buf_slice(&all));
	assert_true(c.n_frames <= CRASH_MAX_FRAMES && c.n_stacks <= CRASH_MAX_STACKS && c.left_out > 0);
	crash_release(&c);
	buf_release(&all);
}

/* ---- a recorded package, and what it wrote when it crashed under Python ---- */

static char plain_path[64];

static bool slices_have(const struct slice *v, uint32_t n, const char *word)
{
	bool found = false;
	for (uint32_t i = 0; i < n; i++)
		found |= slice_find(v[i], word) != NULL;
	return found;
}

static void python_crash(void **state)
{
	(void)state;
	struct buf b = {0};
	struct crash c = {0};
	struct crashmap map = {0};
	struct crash_verdict v;
	assert_true(data_load("crash/expand.txt", &b));
	crash_read_text(&c, buf_slice(&b));
	assert_int_equal(c.signal, SIGSEGV);
	assert_int_equal(c.n_stacks, 2);
	struct crash_library *l = give(&map, package_path);
	assert_true(l->has_lines && l->build_id[0]);
	crashmap_join(&map, &c);
	crash_judge(&v, &c, &map);
	assert_int_equal(v.kind, KIND_SEGV);
	assert_int_equal(v.owner, OWNER_KERNEL);
	const struct crash_place *kernel = &map.place[3], *run = &map.place[4];
	assert_text(kernel->kernel, "cpp_fused__softmax_add_log_mul_1");
	assert_true(slice_eq(kernel->file, l->kernels_name));
	assert_true(kernel->inlined.n > 0); /* a header of vector instructions */
	assert_non_null(slice_find(kernel->text, "tmp0 * tmp2"));
	assert_ptr_equal(kernel->library, l);
	assert_true(slice_eq(run->file, l->wrapper_name));
	assert_int_equal(run->line, run->call->line);
	assert_true(slice_starts(run->text, "cpp_fused__softmax_add_log_mul_1((const float*)"));
	assert_int_equal(run->known, BY_LINE);
	assert_ptr_equal(kernel->call, run->call);
	assert_text(run->called, "cpp_fused__softmax_add_log_mul_1");
	assert_true(slices_have(run->source.line, run->source.n_lines, "torch.log(table * 2 + 1)"));
	assert_true(slices_have(run->source.node, run->source.n_nodes, "log"));
	assert_int_equal(map.place[7].owner, OWNER_TORCH);
	assert_int_equal(map.place[c.n_frames - 1].owner, OWNER_PYTHON);
	assert_true(slices_have(v.step, v.n_steps, "aoti-checkinputs"));
	assert_true(slices_have(v.step, v.n_steps, "AOTI_RUNTIME_CHECK_INPUTS=1"));
	crash_verdict_release(&v);
	crashmap_release(&map);
	crash_release(&c);
	buf_release(&b);
}

/* What calls aoti_torch_cpu_addmm_out in run_impl returns to. */
static unsigned returns_of(const struct modelso *so, const char *name, uint64_t *at, unsigned max)
{
	unsigned n = 0;
	for (uint64_t a = so->run_impl; a < so->run_impl + so->run_impl_size; a++)
		if (slice_is(modelso_called(so, a), name) && n < max)
			at[n++] = a;
	return n;
}

/* A package without line information: by name, by the order of the calls, or not. */
static void without_lines(void **state)
{
	(void)state;
	struct crashmap map = {0};
	struct crash_library *l = give(&map, plain_path);
	uint64_t at[8];
	uint32_t nth, count;
	assert_false(l->has_lines);
	assert_int_equal(returns_of(&l->so, "aoti_torch_cpu_addmm_out", at, 8), 2);
	uint64_t from = l->so.run_impl, to = from + l->so.run_impl_size;
	for (uint32_t i = 0; i < 2; i++) {
		assert_true(modelso_call_order(&l->so, from, to, at[i], &nth, &count));
		assert_int_equal(nth, i);
		assert_int_equal(count, 2);
	}
	assert_false(modelso_call_order(&l->so, from, to, at[0] + 1, &nth, &count));
	for (unsigned i = 0; i < 3; i++) {
		struct crash c = {0};
		char *so = xstrndup(l->so_name.p, l->so_name.n);
		char *text = xasprintf(
		    "frame #0: aoti_torch_cpu_addmm_out + 0x10 (0x1000 in /p/libtorch_cpu.so)\n"
		    "frame #1: torch::aot_inductor::AOTInductorModel::run_impl(AtenTensorOpaque**, void*) + 0x%llx (0x2000 in /p/%s)\n",
		    (unsigned long long)(i < 2 ? at[i] - from : 1), so);
		crash_read_text(&c, slice_str(text));
		crashmap_join(&map, &c);
		const struct crash_place *p = &map.place[1];
		assert_ptr_equal(p->library, l);
		assert_text(p->called, "aoti_torch_cpu_addmm_out");
		if (i == 2) { /* no call returns there */
			assert_null(p->call);
			assert_int_equal(p->candidates, 2);
		} else {
			assert_int_equal(p->known, BY_ORDER);
			assert_text(p->call->name, "aoti_torch_cpu_addmm_out");
			assert_true(slices_have(p->source.node, p->source.n_nodes, i ? "addmm_1" : "addmm"));
			assert_int_equal(slices_have(p->source.line, p->source.n_lines, "addmm_1"), 0);
		}
		crash_release(&c);
		free(text);
		free(so);
	}
	struct crash c = {0};
	crash_read_text(&c, SLICE("#0  0x0000000000001000 in cpp_fused_relu_0 () from /other/x.wrapper.so\n"));
	crashmap_join(&map, &c);
	assert_null(map.place[0].library); /* another library */
	assert_int_equal(map.place[0].owner, OWNER_KERNEL);
	crash_release(&c);
	crash_read_text(&c, SLICE("#0  0x0000000000001000 in cpp_fused_relu_0._omp_fn.0 ()\n"));
	crashmap_join(&map, &c);
	assert_text(map.place[0].call->name, "cpp_fused_relu_0");
	assert_int_equal(map.place[0].known, BY_NAME);
	crash_release(&c);
	crashmap_release(&map);
}

/* An operator that failed names the place of its call by itself. */
static void failed_operator(void **state)
{
	(void)state;
	struct crashmap map = {0};
	struct crash_library *l = give(&map, package_path);
	struct crash_verdict v;
	struct crash c = {0};
	uint32_t line = 0;
	for (uint32_t i = 0; i < l->loaded.contract.n_calls; i++)
		if (slice_is(l->loaded.contract.call[i].name, "aoti_torch_cpu_addmm_out"))
			line = l->loaded.contract.call[i].line; /* the second */
	char *text = xasprintf("Exception in aoti_torch: mat1 must have 2 dimensions\n"
			       "RuntimeError: aoti_torch_cpu_addmm_out(buf3, x) API call failed at /cache/ab/%.*s, line %u\n",
			       SL(l->wrapper_name), line);
	crash_read_text(&c, slice_str(text));
	crashmap_join(&map, &c);
	crash_judge(&v, &c, &map);
	assert_int_equal(v.kind, KIND_OPERATOR);
	assert_text(c.what, "mat1 must have 2 dimensions");
	assert_int_equal(c.n_frames, 1);
	assert_int_equal(map.place[0].known, BY_LINE);
	assert_int_equal(map.place[0].call->line, line);
	assert_true(slices_have(map.place[0].source.node, map.place[0].source.n_nodes, "addmm_1"));
	crash_verdict_release(&v);
	crashmap_release(&map);
	crash_release(&c);
	free(text);
}

static void owners(void **state)
{
	(void)state;
	static const struct {
		const char *module;
		enum crash_owner owner;
	} of[] = {{"/tmp/x/cabc.wrapper.so", OWNER_MODEL},
		  {"/tmp/torchinductor_user/ab/cabc.main.so", OWNER_JIT},
		  {"/p/torch/lib/libtorch_cpu.so", OWNER_TORCH},
		  {"libc10.so", OWNER_TORCH},
		  {"/usr/lib/libcuda.so.1", OWNER_CUDA},
		  {"/usr/bin/python3.11", OWNER_PYTHON},
		  {"/lib/x86_64-linux-gnu/libc.so.6", OWNER_SYSTEM},
		  {"/home/me/my_ops.so", OWNER_CUSTOM},
		  {"/home/me/server", OWNER_PROGRAM},
		  {"", OWNER_UNKNOWN}};
	for (size_t i = 0; i < ARRAY_LEN(of); i++)
		if (crash_owner_of(slice_str(of[i].module)) != of[i].owner)
			fail_msg("%s: %s", of[i].module, crash_owner_name(crash_owner_of(slice_str(of[i].module))));
}

/* memcpy is somebody's; what a signal's handler and the code that throws run is nobody's. */
static void culprits(void **state)
{
	(void)state;
	static const struct {
		const char *text, *title;
		enum crash_owner owner;
	} of[] = {
	    {"#0  0x1 in memcpy () from /lib/libc.so.6\n#1  0x2 in my_op () from /x/my_ops.so\n#2  0x3 in run () from /x/a.wrapper.so\nBus "
	     "error",
	     "SIGBUS: an access past the end of a mapped file, or unaligned, in my_ops.so, a custom op called by the model", OWNER_CUSTOM},
	    {"#0  0x1 in load () from /x/libtorch_cpu.so\n#1  0x2 in AOTInductorModelContainerCreateWithDevice () from "
	     "/x/a.wrapper.so\nSegmentation fault",
	     "SIGSEGV: an invalid memory access (address unknown), in libtorch_cpu.so, while loading the model", OWNER_TORCH},
	    {"#0  0x1 in kernel () from /tmp/torchinductor_me/ab/c.main.so\nSegmentation fault",
	     "SIGSEGV: an invalid memory access (address unknown), in code generated by torch.compile "
	     "(c.main.so)",
	     OWNER_JIT},
	    {"frame #0: c10::Error::Error(int) + 0x1 (0x1 in /x/libc10.so)\nframe #1: at::f() + 0x1 (0x2 in /x/libtorch_cpu.so)\nAborted",
	     "SIGABRT: the program aborted, in libtorch_cpu.so", OWNER_TORCH},
	};
	for (size_t i = 0; i < ARRAY_LEN(of); i++) {
		struct crash c = {0};
		struct crashmap map = {0};
		struct crash_verdict v;
		crash_read_text(&c, slice_str(of[i].text));
		crashmap_join(&map, &c);
		crash_judge(&v, &c, &map);
		assert_text(v.title, of[i].title);
		assert_int_equal(v.owner, of[i].owner);
		assert_true(v.n_steps > 0);
		crash_verdict_release(&v);
		crashmap_release(&map);
		crash_release(&c);
	}
}

static void symbols(void **state)
{
	(void)state;
	struct crashmap map = {0};
	struct crash_library *l = give(&map, package_path);
	struct modelso_symbol s, t;
	uint64_t address;
	assert_true(modelso_symbol_named(&l->so, SLICE("cpp_fused_relu_0"), &s));
	assert_true(modelso_symbol_at(&l->so, s.address + s.size - 1, &t) && slice_eq(s.name, t.name));
	assert_true(modelso_symbol_named(&l->so, SLICE("torch::aot_inductor::AOTInductorModel::run_impl(AtenTensorOpaque**)"), &s));
	assert_int_equal(s.address, l->so.run_impl);
	assert_true(modelso_symbol_named(&l->so, s.name, &t) && t.address == s.address);
	assert_false(modelso_symbol_named(&l->so, SLICE("torch::aot_inductor::AOTInductorModel"), &s));
	assert_false(modelso_symbol_at(&l->so, 0, &s));
	assert_true(modelso_symbol_is(SLICE("_ZNK5torch1fEv"), SLICE("torch::f() const")));
	assert_false(modelso_symbol_is(SLICE("_ZN5torch2ffEv"), SLICE("torch::f()")));
	/* the segment with the code begins at a page, and the file's places are its addresses in these libraries */
	assert_true(modelso_of_file(&l->so, l->so.run_impl, &address));
	assert_int_equal(address, l->so.run_impl);
	assert_false(modelso_of_mapping(&l->so, 16, 4096, &address));
	assert_int_equal(modelso_build_id(&l->so).n, 20);
	struct inlined_place v[INLINED_MAX];
	struct arena a = {0};
	assert_int_equal(inlined_at(l->so_bytes, 1, v, &a), 0);
	assert_int_equal(inlined_at(SLICE("no elf"), 1, v, &a), 0);
	arena_release(&a);
	crashmap_release(&map);
}

/* The kernel's log names the mapping with the code: its size tells which of the segments that is. */
static void kernel_log(void **state)
{
	(void)state;
	struct crashmap map = {0};
	struct crash_library *l = give(&map, package_path);
	struct modelso_symbol s;
	assert_true(modelso_symbol_named(&l->so, SLICE("cpp_fused_relu_0"), &s));
	uint64_t start = 0, size = 0;
	for (size_t i = 0; i < 16; i++) { /* the segment of the code */
		Elf64_Ehdr eh;
		Elf64_Phdr ph;
		memcpy(&eh, l->so_bytes.p, sizeof(eh));
		if (i >= eh.e_phnum)
			break;
		memcpy(&ph, l->so_bytes.p + eh.e_phoff + i * sizeof(ph), sizeof(ph));
		if (ph.p_type == PT_LOAD && ph.p_flags & PF_X)
			start = ph.p_vaddr, size = (ph.p_filesz + 4095) & ~4095ull;
	}
	for (int form = 0; form < 2; form++) {
		struct crash c = {0};
		char *so = xstrndup(l->so_name.p, l->so_name.n);
		uint64_t at = s.address + 4, base = 0x7f0000000000;
		char *text =
		    form
			? xasprintf("a[1]: segfault at 10 ip %llx sp 7ffe error 4 in %s[%llx,%llx+%llx]\n", (unsigned long long)(base + at),
				    so, (unsigned long long)at, (unsigned long long)(base + start), (unsigned long long)size)
			: xasprintf("a[1]: segfault at 10 ip %llx sp 7ffe error 4 in %s[%llx+%llx]\n", (unsigned long long)(base + at), so,
				    (unsigned long long)(base + start), (unsigned long long)size);
		crash_read_text(&c, slice_str(text));
		crashmap_join(&map, &c);
		assert_text(map.place[0].kernel, "cpp_fused_relu_0");
		assert_int_equal(map.place[0].address, at);
		assert_int_equal(map.place[0].known, BY_NAME);
		assert_true(c.has_access && !c.fault_write);
		crash_release(&c);
		free(text);
		free(so);
	}
	crashmap_release(&map);
}

static void operands(void **state)
{
	(void)state;
	static const struct {
		const char *bytes;
		size_t n;
		bool ok;
		struct operand want;
	} of[] = {
	    {"\x8b\x07", 2, true, {7, -1, 1, 0, false}},                           /* mov (%rdi),%eax */
	    {"\x48\x8b\x44\xcb\x08", 5, true, {3, 1, 8, 8, false}},                /* mov 8(%rbx,%rcx,8),%rax */
	    {"\x62\xd1\x7c\x48\x10\x2c\x9c", 7, true, {12, 3, 4, 0, false}},       /* vmovups (%r12,%rbx,4),%zmm5 */
	    {"\xc4\xc1\x54\x59\x04\x9c", 6, true, {12, 3, 4, 0, false}},           /* vmulps (%r12,%rbx,4),%ymm5,%ymm0 */
	    {"\xc5\xfc\x10\x86\x00\x01\x00\x00", 8, true, {6, -1, 1, 256, false}}, /* vmovups 0x100(%rsi),%ymm0 */
	    {"\x62\xf1\x7c\x48\x10\x46\x02", 7, true, {6, -1, 1, 2, true}},        /* vmovups 0x80(%rsi),%zmm0 */
	    {"\x0f\xb6\x40\xff", 4, true, {0, -1, 1, -1, false}},                  /* movzbl -1(%rax),%eax */
	    {"\x48\x8b\x04\x25\x08\x00\x00\x00", 8, true, {-1, -1, 1, 8, false}},  /* mov 8,%rax */
	    {"\x89\xc3", 2, false, {-1, -1, 1, 0, false}},                         /* mov %eax,%ebx */
	    {"\x8b\x05\x00\x00\x00\x00", 6, false, {-1, -1, 1, 0, false}},         /* mov 0(%rip),%eax */
	    {"\x48", 1, false, {0, 0, 0, 0, false}},
	    {"", 0, false, {0, 0, 0, 0, false}},
	};
	for (size_t i = 0; i < ARRAY_LEN(of); i++) {
		struct operand o;
		bool ok = operand_decode(slice_of(guard_put(&guard, of[i].bytes, of[i].n), of[i].n), &o);
		if (ok != of[i].ok || (ok && memcmp(&o.base, &of[i].want.base, sizeof(int)) != 0))
			fail_msg("%zu: %d base %d", i, ok, o.base);
		if (!ok)
			continue;
		assert_int_equal(o.index, of[i].want.index);
		assert_int_equal(o.scale, of[i].want.scale);
		assert_int_equal(o.disp, of[i].want.disp);
		assert_int_equal(o.disp8_scaled, of[i].want.disp8_scaled);
	}
}

static int set_up(void **state)
{
	(void)state;
	crashed_begin();
	snprintf(plain_path, sizeof(plain_path), "%s/plain.pt2", folder);
	live_unpack("mlp_provenance", "/", so_path, plain_path);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	guard_release(&guard);
	return live_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_form),         cmocka_unit_test(no_frames),
	    cmocka_unit_test(stacks_and_threads), cmocka_unit_test(mappings_place_frames),
	    cmocka_unit_test(every_sign),         cmocka_unit_test(core_of_both_machines),
	    cmocka_unit_test(kinds_of_addresses), cmocka_unit_test(cores_that_are_none),
	    cmocka_unit_test(damaged_cores),      cmocka_unit_test(damaged_texts),
	    cmocka_unit_test(python_crash),       cmocka_unit_test(without_lines),
	    cmocka_unit_test(failed_operator),    cmocka_unit_test(owners),
	    cmocka_unit_test(culprits),           cmocka_unit_test(symbols),
	    cmocka_unit_test(kernel_log),         cmocka_unit_test(operands),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name(__FILE__, tests, set_up, tear_down);
}
