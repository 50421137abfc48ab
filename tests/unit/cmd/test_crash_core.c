/* crash/: a real crash of a real model, and its core: made here, by the kernel or by gdb. */
#include "../../lib/crashed.h"

#include <signal.h>
#include <sys/resource.h>

#include "base/process/child.h"
#include "crash/core.h"
#include "crash/operand.h"
#include "crash/unwind.h"
#include "base/io/mapfile.h"

static int allow_core(void *arg)
{
	struct rlimit r;
	(void)arg;
	if (getrlimit(RLIMIT_CORE, &r) || !r.rlim_max)
		return 0;
	r.rlim_cur = r.rlim_max;
	setrlimit(RLIMIT_CORE, &r);
	/* Private anonymous memory and the first page of each library: small, and all that is needed. */
	FILE *f = fopen("/proc/self/coredump_filter", "w");
	if (f) {
		fputs("0x31", f);
		fclose(f);
	}
	return 0;
}

static char core_path[64];
static const char *no_core;

/* By the kernel if it writes cores into the folder, else by gdb if there is one. */
static void make_core(void)
{
	char *build = live_build_folder(), *torch = xasprintf("torch=%s/lib/pt2utils/libpt2shim.so", build),
	     *load = xasprintf("load=%s", so_path);
	const char *call = "call=f32[3,8];f32[4096,4096]/(0,0)";
	struct child_result r;
	struct err err;
	struct child_spec spec = {.argv = ARGS(host, torch, load, call),
				  .cwd = folder,
				  .allow_core = true,
				  .before_exec = allow_core,
				  .out.how = CHILD_PIPE,
				  .err.how = CHILD_PIPE,
				  .timeout_ms = 60000};
	if (child_run(&spec, &r, &err) < 0)
		fail_msg("%s", err.text);
	if (r.how != CHILD_SIGNALED || r.sig != SIGSEGV)
		fail_msg("it did not crash: %d %d %d", r.how, r.sig, r.status);
	child_result_release(&r);
	char *find = xasprintf("mv '%s'/core* '%s' 2>/dev/null", folder, core_path);
	if (system(find) != 0) {
		char *gdb =
		    xasprintf("command -v gdb >/dev/null && gdb -batch -ex run -ex 'gcore %s' --args '%s' '%s' '%s' '%s' >/dev/null 2>&1",
			      core_path, host, torch, load, call);
		no_core = system(gdb) == 0 && !access(core_path, R_OK) ? NULL : "the kernel writes no core files here, and there is no gdb";
		free(gdb);
	}
	free(find);
	free(build);
	free(torch);
	free(load);
}

static void read_core(struct crash *c, struct mapfile *f, const struct unwind_module *m, size_t n, struct slice *lost)
{
	struct err err;
	if (mapfile_open(f, core_path, &err) < 0 || core_read(c, f->bytes, core_path, &err) < 0)
		fail_msg("%s", err.text);
	if (unwind_core(c, f->bytes, m, n, lost, &err) < 0)
		fail_msg("%s", err.text);
}

#define NEED_CORE() \
	do { \
		NEED_MODELS(); \
		if (no_core) { \
			print_message("# skip: %s\n", no_core); \
			skip(); \
		} \
	} while (0)

static void check_stack(const struct crash *c)
{
	const struct crash_stack *s = crash_main_stack(c);
	assert_non_null(s);
	assert_true(s->crashed && s->n >= 8);
	assert_text(c->frame[s->first].symbol, "cpp_fused__softmax_add_log_mul_1");
	assert_true(c->frame[s->first].exact && !c->frame[s->first + 1].exact);
	bool main = false;
	for (uint32_t i = 0; i < s->n; i++)
		main |= slice_is(c->frame[s->first + i].symbol, "main");
	assert_true(main);
}

static void real_core(void **state)
{
	(void)state;
	NEED_CORE();
	struct crash c = {0};
	struct crashmap map = {0};
	struct crash_verdict v;
	struct mapfile f;
	struct slice lost, operand;
	read_core(&c, &f, NULL, 0, &lost);
	assert_int_equal(c.signal, SIGSEGV);
	assert_true(c.has_fault && c.has_ip);
	assert_int_equal(lost.n, 0);
	check_stack(&c);
	struct crash_library *l = give(&map, package_path);
	crashmap_join(&map, &c);
	const struct crash_place *p = &map.place[crash_main_stack(&c)->first];
	assert_ptr_equal(p->library, l); /* by build id */
	assert_true(slice_is(c.frame[crash_main_stack(&c)->first].build_id, l->build_id));
	assert_true(slice_eq(p->file, l->kernels_name));
	assert_int_equal(p->known, BY_LINE);
	assert_text(p->call->name, "cpp_fused__softmax_add_log_mul_1");
	crash_judge(&v, &c, &map);
	assert_int_equal(v.kind, KIND_BEHIND);
	assert_int_equal(v.owner, OWNER_KERNEL);
	crash_operand(&c, &map, &operand);
	assert_non_null(slice_find(operand, ": element "));
	crash_verdict_release(&v);
	crashmap_release(&map);
	crash_release(&c);
	mapfile_close(&f);
}

/* The library is gone: the package's is taken, and without that the stack ends where it is missed. */
static void core_without_library(void **state)
{
	(void)state;
	NEED_CORE();
	struct crash c = {0};
	struct crashmap map = {0};
	struct mapfile f;
	struct slice lost;
	char *away = xasprintf("%s.away", so_path);
	assert_int_equal(rename(so_path, away), 0);
	read_core(&c, &f, NULL, 0, &lost);
	assert_true(slice_is(lost, so_path));
	assert_int_equal(c.frame[crash_main_stack(&c)->first].symbol.n, 0);
	for (uint32_t i = 1; i < crash_main_stack(&c)->n; i++)
		assert_true(c.frame[crash_main_stack(&c)->first + i].guessed);
	crash_release(&c);
	mapfile_close(&f);
	/* Another library in its place is not taken for it. */
	struct buf other = {0};
	read_file(faketorch, &other);
	write_file(so_path, buf_slice(&other));
	read_core(&c, &f, NULL, 0, &lost);
	assert_true(slice_is(lost, so_path));
	assert_int_equal(c.frame[crash_main_stack(&c)->first].symbol.n, 0);
	crash_release(&c);
	mapfile_close(&f);
	struct crash_library *l = give(&map, package_path);
	struct unwind_module m = {slice_str(so_path), l->so_bytes};
	read_core(&c, &f, &m, 1, &lost);
	assert_int_equal(lost.n, 0);
	check_stack(&c);
	crash_release(&c);
	mapfile_close(&f);
	assert_int_equal(rename(away, so_path), 0);
	crashmap_release(&map);
	buf_release(&other);
	free(away);
}

/* Whatever is in the core, the child answers or is ended, and this process goes on. */
static void damaged_unwinding(void **state)
{
	(void)state;
	NEED_CORE();
	uint64_t seed = 11;
	struct buf b = {0};
	struct err err;
	struct slice lost;
	unsigned answered = 0;
	read_file(core_path, &b);
	size_t head = b.len < 65536 ? b.len : 65536;
	char *copy = xmalloc(head);
	memcpy(copy, b.p, head);
	for (int i = 0; i < 12; i++) {
		struct crash c = {0};
		for (int k = 0; k < 200; k++)
			b.p[64 + pick(&seed, (uint32_t)head - 64)] = (char)random_u32(&seed);
		if (core_read(&c, buf_slice(&b), "core", &err) == 0)
			answered += unwind_core(&c, buf_slice(&b), NULL, 0, &lost, &err) == 0 || err.text[0];
		crash_release(&c);
		memcpy(b.p, copy, head);
	}
	assert_true(answered > 0);
	free(copy);
	buf_release(&b);
}

static int set_up(void **state)
{
	(void)state;
	crashed_begin();
	snprintf(core_path, sizeof(core_path), "%s/the.core", folder);
	if (!missing)
		make_core();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	return live_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(real_core),
	    cmocka_unit_test(core_without_library),
	    cmocka_unit_test(damaged_unwinding),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name(__FILE__, tests, set_up, tear_down);
}
