/* The probe in processes that know nothing of it: recorded models on faketorch.so, run by livehost. */
#include "../../lib/live.h"
#include "../../lib/missing.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include "watch/live.h"

static char *mixed, *derived, *first, *second, *fake_first, *fake_second, *quiet_model, *late_model;

#define GOOD "f32[2,3,12];b8[2,3];i32[];bf16[2,3,12]/(12,24,1)"

/* ---- what is watched ---- */

struct seen {
	struct buf events; /* "kind model what,what...\n" for each */
	struct buf text;   /* as a person reads them */
	struct buf out;    /* what the command wrote */
	char *so_path;     /* the last that was asked for */
	bool refuse;       /* give no contract */
	int delay_ms;
	int status, sig;
	struct live_result r;
};

static void add_shape(struct buf *b, const char *sizes, const char *strides, const char *ranges)
{
	const char *s = sizes, *t = strides, *r = ranges;
	buf_adds(b, "\"dims\":[");
	for (int d = 0; *s; d++) {
		size_t ns = strcspn(s, " "), nt = strcspn(t, " ");
		char *end = NULL;
		long lo = -1, hi = -1;
		if (*r == '-')
			r++;
		else {
			lo = strtol(r, &end, 10);
			hi = strtol(end + 1, &end, 10);
			r = end;
		}
		r += *r == ' ';
		bool exact = strspn(s, "0123456789") == ns, known = strspn(t, "0123456789") == nt;
		buf_addf(b, exact ? "%s{\"size\":%.*s," : "%s{\"size\":\"%.*s\",", d ? "," : "", (int)ns, s);
		if (lo < 0)
			buf_adds(b, "\"min\":null,\"max\":null,");
		else
			buf_addf(b, "\"min\":%ld,\"max\":%ld,", lo, hi);
		buf_addf(b, known ? "\"stride\":%.*s," : "\"stride\":\"%.*s\",", (int)nt, t);
		buf_addf(b, "\"size_checked\":%s,\"stride_checked\":%s}", exact ? "true" : "false", known ? "true" : "false");
		s += ns + (s[ns] == ' ');
		t += nt + (t[nt] == ' ');
	}
	buf_adds(b, "],");
}

static void add_input(struct buf *b, int i, const char *dtype, int rank, const char *sizes, const char *strides, const char *ranges)
{
	buf_addf(b,
		 "%s{\"index\":%d,\"name\":\"arg%d_1\",\"path\":null,\"dtype\":\"%s\",\"device\":\"cpu\",\"rank\":%d,"
		 "\"asserted\":%d,\"alignment\":null,\"used\":true,",
		 i ? "," : "", i, i, dtype, rank, i + 1);
	add_shape(b, sizes, strides, ranges);
	b->p[b->len - 1] = '}';
}

/* The contracts of the models that are used here (docs/formats/CONTRACT.md), as their wrapper.cpp has them. */
static void contract_of(const char *path, struct buf *b)
{
	static const char head[] = "{\"schema\":\"pt2utils.contract/1\",\"source\":\"text\",\"model\":null,\"device\":\"cpu\","
				   "\"weight_bytes\":0,\"inputs\":[";
	static const char tail[] = ",\"outputs\":[],\"constants\":[],\"values\":[],\"storages\":[],\"calls\":[],\"in_spec\":null,"
				   "\"out_spec\":null,\"notes\":[]}";
	buf_adds(b, head);
	if (strstr(path, "mixed")) {
		add_input(b, 0, "float32", 3, "s17 s27 12", "12*s27 12 1", "2:64 3:50 -");
		add_input(b, 1, "bool", 2, "s17 s27", "s27 1", "2:64 3:50");
		add_input(b, 2, "int32", 0, "", "", "");
		add_input(b, 3, "bfloat16", 3, "s17 s27 12", "12 12*s17 1", "2:64 3:50 -");
		buf_adds(b, "],\"symbols\":[{\"name\":\"s17\",\"min\":2,\"max\":64,\"input\":0,\"dim\":0},"
			    "{\"name\":\"s27\",\"min\":3,\"max\":50,\"input\":0,\"dim\":1}]");
	} else if (strstr(path, "derived")) {
		add_input(b, 0, "float32", 2, "s22 4", "4 1", "2:64 -");
		add_input(b, 1, "float32", 2, "4 4", "4 1", "- -");
		add_input(b, 2, "float32", 2, "2*s22 4", "4 1", "4:128 -");
		buf_adds(b, "],\"symbols\":[{\"name\":\"s22\",\"min\":2,\"max\":64,\"input\":0,\"dim\":0}]");
	} else {
		add_input(b, 0, "float32", 1, "4", "1", "-");
		if (strstr(path, "second"))
			add_input(b, 1, "float32", 1, "4", "1", "-");
		buf_adds(b, "],\"symbols\":[]");
	}
	buf_adds(b, tail);
}

static int give_contract(void *user, const char *so_path, pid_t pid, struct buf *json, struct err *err)
{
	struct seen *s = user;
	char real[PATH_MAX];
	(void)pid;
	free(s->so_path);
	s->so_path = xstrdup(so_path);
	if (s->delay_ms)
		usleep((useconds_t)s->delay_ms * 1000);
	if (s->refuse)
		return err_set(err, EXIT_INPUT, "no text, and the prober says no");
	if (access(so_path, R_OK) < 0)
		return err_errno(err, EXIT_INPUT, "gone: '%s'", so_path);
	/* /proc/PID/fd/N of a deleted file keeps its name. */
	ssize_t n = readlink(so_path, real, sizeof(real) - 1);
	contract_of(n > 0 ? (real[n] = 0, real) : so_path, json);
	return 0;
}

static void take_event(void *user, const struct live_event *ev)
{
	struct seen *s = user;
	buf_addf(&s->events, "%s %d", live_kind_name(ev->kind), (int)ev->model);
	if (json_get(ev->tape, ev->root, "package") != NONE) {
		buf_adds(&s->events, " of ");
		buf_add_slice(&s->events, json_slice(ev->tape, json_get(ev->tape, ev->root, "package")));
	}
	uint32_t list = json_get(ev->tape, ev->root, "findings");
	if (list != NONE)
		for (uint32_t k = json_first(ev->tape, list); k < json_end(ev->tape, list); k = json_next(ev->tape, k)) {
			uint32_t what = json_get(ev->tape, k, "what");
			buf_addc(&s->events, ' ');
			buf_add_slice(&s->events, json_slice(ev->tape, what));
		}
	buf_addc(&s->events, '\n');
	live_event_text(ev, &s->text);
	buf_addc(&s->text, '\n');
}

/* Standard output of `command`, watched or not; s NULL: not. */
static void run_host_with(struct seen *s, bool fail_calls, const char *torch, const char *const *args, struct buf *out)
{
	char *path = xasprintf("%s/out", folder);
	const char *argv[64] = {"/bin/sh", "-c", "out=$1; shift; exec \"$@\" >\"$out\"", "sh", path, host, torch};
	int n = torch ? 7 : 6;
	while (*args)
		argv[n++] = *args++;
	struct err err;
	if (s) {
		struct live_options o = {.contract = give_contract, .event = take_event, .user = s, .fail = fail_calls};
		if (live_run(&o, (char *const *)(uintptr_t)argv, &s->r, &err) < 0)
			fail_msg("%s", err.text);
		s->status = s->r.command.status;
		s->sig = s->r.command.sig;
	} else {
		struct child_spec spec = {.argv = argv};
		struct child_result r;
		if (child_run(&spec, &r, &err) < 0)
			fail_msg("%s", err.text);
		child_result_release(&r);
	}
	read_file(path, out);
	unlink(path);
	free(path);
}

static void run_host(struct seen *s, bool fail_calls, const char *const *args, struct buf *out)
{
	char *torch = xasprintf("torch=%s", faketorch);
	run_host_with(s, fail_calls, torch, args, out);
	free(torch);
}

static void watch(struct seen *s, bool fail_calls, const char *const *args)
{
	*s = (struct seen){.refuse = s->refuse, .delay_ms = s->delay_ms};
	run_host(s, fail_calls, args, &s->out);
}

/* ... of a program that knows no torch=. */
static void watch_bare(struct seen *s, const char *const *args)
{
	*s = (struct seen){0};
	run_host_with(s, false, NULL, args, &s->out);
}

static void forget(struct seen *s)
{
	buf_release(&s->events);
	buf_release(&s->text);
	buf_release(&s->out);
	free(s->so_path);
	live_result_release(&s->r);
	*s = (struct seen){0};
}

static unsigned count(struct buf *b, const char *word)
{
	unsigned n = 0;
	for (const char *p = buf_str(b); (p = strstr(p, word)); p++)
		n++;
	return n;
}

/* ---- the tests ---- */

static void good_calls_are_counted(void **state)
{
	(void)state;
	NEED_MODELS();
	struct seen s = {0};
	struct buf bare = {0};
	const char *const *args = ARGS(mixed, "call=" GOOD, "single=" GOOD, "bare=" GOOD, "errno=" GOOD, "alive");
	watch(&s, false, args);
	run_host(NULL, false, args, &bare);
	assert_string_equal(buf_str(&s.out), buf_str(&bare)); /* bit for bit */
	has(&s.out, "errno kept");
	has(&s.out, "alive 0");
	assert_string_equal(buf_str(&s.events), "model-seen 0\ncontract 0\ncalls-summary 0\n");
	assert_int_equal(s.r.models, 1);
	assert_int_equal(s.r.calls, 4);
	assert_int_equal(s.r.mismatched, 0);
	assert_int_equal(s.r.unchecked, 0);
	assert_int_equal(s.r.bad_lines, 0);
	assert_int_equal(s.status, 0);
	buf_release(&bare);
	forget(&s);
}

static void mismatches_are_told(void **state)
{
	(void)state;
	NEED_MODELS();
	struct seen s = {0};
	/* dtype; equality across inputs (no check of AOTI's own sees it here); strides; too large; rank of the scalar
	 */
	const char *const *args =
	    ARGS(mixed, "call=f32[2,3,12];b8[2,3];i64[];bf16[2,3,12]/(12,24,1)", "call=f32[2,3,12];b8[2,4];i32[];bf16[2,3,12]/(12,24,1)",
		 "call=f32[2,3,12];b8[2,3];i32[];bf16[2,3,12]", "call=f32[65,3,12];b8[65,3];i32[];bf16[65,3,12]/(12,780,1)", "alive");
	struct buf bare = {0};
	watch(&s, false, args);
	run_host(NULL, false, args, &bare);
	assert_string_equal(buf_str(&s.out), buf_str(&bare));
	has(&s.events, "call-mismatch 0 dtype\n");
	has(&s.events, "call-mismatch 0 equal");
	has(&s.events, "call-mismatch 0 stride");
	has(&s.events, "call-mismatch 0 too-large");
	has(&s.text, "input 2 arg2_1: dtype: expected int32, given int64");
	assert_int_equal(s.r.calls, 4);
	assert_int_equal(s.r.mismatched, 4);
	assert_int_equal(s.r.failed, 0);
	buf_release(&bare);
	forget(&s);
}

static void refused_calls_do_not_run(void **state)
{
	(void)state;
	NEED_MODELS();
	struct seen s = {0};
	watch(&s, true,
	      ARGS(mixed, "call=f32[2,3,12];b8[2,3];i64[];bf16[2,3,12]/(12,24,1)", "call=" GOOD,
		   "bare=f64[2,3,12];b8[2,3];i32[];bf16[2,3,12]", "alive"));
	has(&s.out, "rc 1 input_handles[2]: unmatched dtype, expected: 3(at::kInt), but got: 4\n");
	has(&s.out, "input 2 (arg2_1): expected int32, given int64");
	has(&s.out, "rc 0 ");
	has(&s.out, "rc 1 input_handles[0]: unmatched dtype");
	has(&s.out, "alive 0"); /* the inputs of refused calls are deleted, too */
	assert_int_equal(s.r.failed, 2);
	assert_int_equal(s.r.mismatched, 2);
	has(&s.text, "the call was refused");
	forget(&s);
}

static void the_same_is_told_three_times(void **state)
{
	(void)state;
	NEED_MODELS();
	struct seen s = {0};
	watch(&s, false, ARGS(derived, "threads=4x250:f32[3,4];f32[4,4];f32[7,4]", "call=f32[3,4];f32[4,4];f64[6,4]"));
	assert_int_equal(count(&s.events, "call-mismatch"), 4); /* 3 of one kind, 1 of another */
	assert_int_equal(s.r.calls, 1002);
	assert_int_equal(s.r.mismatched, 1002);
	has(&s.text, "further calls like this are only counted");
	forget(&s);
}

static void threads_get_the_same_results(void **state)
{
	(void)state;
	NEED_MODELS();
	struct seen s = {0};
	struct buf bare = {0};
	const char *const *args = ARGS(mixed, "threads=8x1000:" GOOD, "alive");
	watch(&s, false, args);
	run_host(NULL, false, args, &bare);
	assert_string_equal(buf_str(&s.out), buf_str(&bare));
	has(&s.out, "threads: 0 failed, 0 different");
	assert_int_equal(s.r.calls, 8001);
	assert_int_equal(s.r.mismatched + s.r.unchecked, 0);
	buf_release(&bare);
	forget(&s);
}

static void forks_go_on(void **state)
{
	(void)state;
	NEED_MODELS();
	struct seen s = {0};
	watch(&s, false, ARGS(mixed, "call=" GOOD, "fork", "closefds", "call=" GOOD, "call=i64[];i64[];i64[];i64[]", derived, "_exit"));
	has(&s.out, "child ended with 0");
	assert_int_equal(s.r.models, 2);
	assert_int_equal(s.r.calls, 3);
	assert_int_equal(s.r.mismatched, 1);
	assert_int_equal(count(&s.events, "call-mismatch 0"), 1);
	has(&s.events, "contract 1");
	forget(&s);
}

static void exec_goes_on(void **state)
{
	(void)state;
	NEED_MODELS();
	struct seen s = {0};
	char *torch = xasprintf("torch=%s", faketorch);
	watch(&s, false, ARGS(mixed, "call=" GOOD, "exec", torch, derived, "call=f32[2,4];f32[4,4];f32[4,4]"));
	assert_int_equal(s.r.models, 2);
	assert_int_equal(s.r.calls, 2);
	assert_int_equal(s.r.mismatched + s.r.unchecked, 0);
	free(torch);
	forget(&s);
}

static void a_killed_process_leaves_its_events(void **state)
{
	(void)state;
	NEED_MODELS();
	struct seen s = {0};
	watch(&s, false, ARGS(mixed, "call=" GOOD, "call=i64[];i64[];i64[];i64[]", "kill"));
	assert_int_equal(s.sig, SIGKILL);
	assert_int_equal(s.r.calls, 2);
	assert_int_equal(count(&s.events, "call-mismatch 0"), 1);
	assert_int_equal(s.r.bad_lines, 0);
	forget(&s);
}

/* A process under ulimit -f loses its events, not its life. */
static void file_sizes_are_limited(void **state)
{
	(void)state;
	struct seen s = {0};
	struct err err;
	char *cmd = xasprintf("ulimit -f 0; '%s' 'torch=%s' '%s' 'call=f32[4]' 'call=f32[5]' | cat >/dev/null; exit ${PIPESTATUS[0]}", host,
			      faketorch, fake_first);
	struct live_options o = {.contract = give_contract, .event = take_event, .user = &s};
	if (live_run(&o, (char *[]){(char[]){"bash"}, (char[]){"-c"}, cmd, NULL}, &s.r, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(s.r.command.status, 0);
	assert_int_equal(s.r.calls, 2);
	assert_int_equal(s.r.mismatched, 1);
	free(cmd);
	forget(&s);
}

/* Another model at the same address must not be taken for the one that was there. */
static void models_come_and_go(void **state)
{
	(void)state;
	struct seen s = {0};
	watch(&s, true,
	      ARGS(fake_first, "call=f32[4]", "unload", fake_second, "call=f32[4];f32[4]", "call=f32[4]", "unload", fake_first,
		   "call=f32[4]", "call=f32[5]", "unload", "alive"));
	assert_int_equal(s.r.models, 3);
	assert_int_equal(s.r.calls, 5);
	assert_int_equal(s.r.failed, 2);
	has(&s.events, "call-mismatch 1 count\n");
	has(&s.events, "call-mismatch 2 size\n");
	has(&s.out, "alive 0");
	forget(&s);
}

/* A real one stays when it is unloaded (the loader keeps what has unique symbols), and is the same when loaded again.
 */
static void a_model_is_loaded_again(void **state)
{
	(void)state;
	NEED_MODELS();
	struct seen s = {0};
	watch(&s, false,
	      ARGS(first, "call=f32[4]", "unload", second, "call=f32[4];f32[4]", "unload", first, "call=f32[4]", "call=f32[5]", "alive"));
	assert_true(s.r.models == 2 || s.r.models == 3);
	assert_int_equal(s.r.calls, 4);
	assert_int_equal(s.r.mismatched, 1);
	assert_int_equal(count(&s.events, "size\n"), 1);
	forget(&s);
}

/* Loaded one after the other: places are used again, and each load counts for itself. */
static void many_models(void **state)
{
	(void)state;
	struct seen s = {0};
	const char *args[32] = {0};
	int n = 0;
	while (n < 30) {
		args[n++] = fake_first;
		args[n++] = "call=f32[4]";
		args[n++] = "unload";
	}
	watch(&s, false, args);
	assert_int_equal(s.r.models, 10);
	assert_int_equal(s.r.calls, 10);
	assert_int_equal(s.r.mismatched + s.r.unchecked, 0);
	forget(&s);
}

static void two_models_are_told_apart(void **state)
{
	(void)state;
	NEED_MODELS();
	struct seen s = {0};
	watch(&s, true,
	      ARGS(first, second, "use=0", "call=f32[4]", "use=1", "call=f32[4];f32[4]", "use=0", "call=f32[3]", "use=1", "call=f32[4]"));
	assert_int_equal(s.r.models, 2);
	assert_int_equal(s.r.calls, 4);
	has(&s.events, "call-mismatch 0 size\n");
	has(&s.events, "call-mismatch 1 count\n");
	forget(&s);
}

static void bound_now(void **state)
{
	(void)state;
	NEED_MODELS();
	struct seen s = {0};
	setenv("LD_BIND_NOW", "1", 1);
	watch(&s, false, ARGS(mixed, "call=" GOOD, "call=i64[];i64[];i64[];i64[]"));
	unsetenv("LD_BIND_NOW");
	assert_int_equal(s.r.calls, 2);
	assert_int_equal(s.r.mismatched, 1);
	forget(&s);
}

/* A program that is linked against its model: bound when needed, and bound before anything ran. */
static void linked_programs(void **state)
{
	(void)state;
	NEED_MODELS();
	const char *root = getenv("PT2_SOURCE");
	for (int now = 0; now < 2; now++) {
		char *exe = xasprintf("%s/linked%d", folder, now);
		char *cmd = xasprintf("cc -O1 -D_GNU_SOURCE -DLINKED -Wl,--no-as-needed -o %s %s/tests/lib/livehost.c "
				      "%s %s -pthread -ldl -lm "
				      "-Wl,-z,%s -Wl,-rpath,%s 2>/dev/null",
				      exe, root ? root : ".", mixed + 5, faketorch, now ? "now" : "lazy", folder);
		if (system(cmd)) {
			print_message("# skip: no compiler to link a program with\n");
			free(exe);
			free(cmd);
			skip();
		}
		/* faketorch is needed by its SONAME. */
		char *soname = xasprintf("%s/libtorch_cpu.so", folder), save[PATH_MAX];
		if (symlink(faketorch, soname) < 0)
			assert_int_equal(errno, EEXIST);
		memcpy(save, host, sizeof(save));
		snprintf(host, sizeof(host), "%s", exe);
		struct seen s = {0};
		watch(&s, true, ARGS(mixed, "call=" GOOD, "call=i64[];i64[];i64[];i64[]"));
		memcpy(host, save, sizeof(save));
		assert_int_equal(s.r.models, 1);
		assert_int_equal(s.r.calls, 2);
		assert_int_equal(s.r.failed, 1);
		has(&s.out, "rc 1 input_handles[0]: unmatched dtype");
		forget(&s);
		free(exe);
		free(cmd);
		free(soname);
	}
}

/* A package has the path that the program loaded, whichever std::string its torch was built with. */
static void packages_of_both_kinds_of_string(void **state)
{
	(void)state;
	NEED_MODELS();
	const char *root = getenv("PT2_SOURCE");
	char save[PATH_MAX];
	memcpy(save, host, sizeof(save));
	for (int abi = 0; abi < 2; abi++) {
		char *cmd = xasprintf("c='c++ -D_GLIBCXX_USE_CXX11_ABI=%d %s/tests/lib/packagehost.cpp' d=%s/abi%d; mkdir -p $d && "
				      "$c -DLIBRARY -shared -fPIC -Wl,-soname,libloader.so -o $d/libloader.so 2>&1 && "
				      "$c -o $d/host $d/libloader.so -Wl,-rpath,$d 2>&1 && "
				      "mkdir -p $d/none && c++ -shared -x c++ -o $d/none/libloader.so /dev/null && "
				      "$c -o $d/without $d/libloader.so -Wl,-z,lazy -Wl,-rpath,$d/none 2>&1",
				      abi, root ? root : ".", folder, abi);
		if (system(cmd)) {
			print_message("# skip: no compiler for C++\n");
			free(cmd);
			skip();
		}
		free(cmd);
		setenv("MODEL", fake_first + 5, 1);
		setenv("TORCH", faketorch, 1);
		snprintf(host, sizeof(host), "%s/abi%d/host", folder, abi);
		struct seen s = {0};
		watch_bare(&s, ARGS("/srv/my model.pt2"));
		has(&s.out, abi ? "/srv/my model.pt2 model 1 3 -1\nloaded\n" : "/srv/my model.pt2 model\nloaded\n");
		has(&s.events, "model-seen 0 of /srv/my model.pt2\n");
		forget(&s);
		watch_bare(&s, ARGS("a.pt2", "decoder"));
		has(&s.events, "model-seen 0 of a.pt2:decoder\n");
		forget(&s);
		/* No library has the constructor: the program can go on. */
		snprintf(host, sizeof(host), "%s/abi%d/without", folder, abi);
		watch_bare(&s, ARGS("a.pt2"));
		has(&s.out, "caught: AOTIModelPackageLoader was called, but no loaded library has it\n");
		assert_int_equal(s.sig + s.status, 0);
		forget(&s);
		unsetenv("MODEL");
		unsetenv("TORCH");
		memcpy(host, save, sizeof(save));
	}
}

static void no_contract(void **state)
{
	(void)state;
	NEED_MODELS();
	struct seen s = {.refuse = true};
	watch(&s, true, ARGS(mixed, "call=" GOOD, "call=" GOOD));
	assert_string_equal(buf_str(&s.events), "model-seen 0\nno-contract 0\ncalls-summary 0\n");
	has(&s.text, "the prober says no");
	assert_int_equal(s.r.without_contract, 1);
	assert_int_equal(s.r.unchecked, 2);
	assert_int_equal(s.r.calls, 2);
	forget(&s);
}

/* A tool that takes too long is not waited for. */
static void no_answer(void **state)
{
	(void)state;
	NEED_MODELS();
	struct seen s = {.delay_ms = LIVE_ASK_MS + 500};
	watch(&s, false, ARGS(first, "call=f32[4]"));
	has(&s.events, "no-contract 0");
	has(&s.text, "no answer");
	assert_int_equal(s.r.unchecked, 1);
	forget(&s);
}

/* Loaded by a descriptor and by a relative path, the library can be opened here. */
static void paths_of_others(void **state)
{
	(void)state;
	NEED_MODELS();
	struct seen s = {0};
	char *cmd = xasprintf("cd %s && exec 7<mixed.so && %s torch=%s load=/proc/self/fd/7 'call=" GOOD "' load=./derived.so", folder,
			      host, faketorch);
	struct live_options o = {.contract = give_contract, .event = take_event, .user = &s};
	struct err err;
	/* Its own standard output would stand in the middle of ours. */
	char *quiet = xasprintf("(%s) >/dev/null", cmd);
	if (live_run(&o, (char *[]){(char[]){"/bin/sh"}, (char[]){"-c"}, quiet, NULL}, &s.r, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(s.r.command.status, 0);
	assert_int_equal(s.r.models, 2);
	assert_int_equal(s.r.without_contract, 0);
	has(&s.text, "contract of 4 inputs");
	has(&s.text, "contract of 3 inputs");
	assert_non_null(strstr(s.so_path, "/cwd/./derived.so"));
	free(cmd);
	free(quiet);
	forget(&s);
}

static void a_program_without_models(void **state)
{
	(void)state;
	struct seen s = {0};
	struct err err;
	char *none = xstrdup(missing_path("program"));
	struct live_options o = {.contract = give_contract, .event = take_event, .user = &s};
	if (live_run(&o, (char *[]){(char[]){"/bin/sh"}, (char[]){"-c"}, (char[]){"exit 7"}, NULL}, &s.r, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(s.r.command.status, 7);
	assert_int_equal(s.r.models, 0);
	assert_int_equal(s.events.len, 0);
	assert_string_equal(s.r.unseen, "");
	forget(&s);
	assert_int_equal(live_run(&o, (char *[]){none, NULL}, &s.r, &err), -1);
	assert_int_equal(err.status, EXIT_ENVIRON);
	free(none);
	live_result_release(&s.r);
}

/* As torch loads it: its functions are asked for before a container is made, which is the first that such a model lets hear of it. */
static void a_model_without_a_buffer(void **state)
{
	(void)state;
	struct seen s = {0};
	struct buf why = {0};
	watch(&s, false, ARGS(quiet_model, "call=f32[4]", "call=f64[4]", "single=f64[4]", "alive"));
	has(&s.text, "input 0 arg0_1: dtype: expected float32, given float64");
	has(&s.out, "alive 0");
	assert_int_equal(s.r.models, 1);
	assert_int_equal(s.r.calls, 3);
	assert_int_equal(s.r.mismatched, 2);
	assert_int_equal(s.r.past, 0);
	assert_true(live_watched(&s.r, &why));
	assert_int_equal(why.len, 0);
	forget(&s);
}

static void runs_that_are_not_seen_are_told(void **state)
{
	(void)state;
	struct seen s = {0};
	struct buf why = {0};
	watch(&s, false, ARGS(late_model, "call=f64[4]", "single=f64[4]"));
	assert_int_equal(s.r.models, 1);
	assert_int_equal(s.r.calls, 0);
	assert_int_equal(s.r.past, 2);
	assert_false(live_watched(&s.r, &why));
	assert_string_equal(buf_str(&why), "2 Runs were called through a pointer obtained before the model was known: not checked");
	forget(&s);
	buf_reset(&why);
	watch(&s, false, ARGS(quiet_model, fake_first));
	assert_false(live_watched(&s.r, &why));
	assert_string_equal(buf_str(&why), "2 models were seen but none was called: nothing was checked");
	forget(&s);
	buf_release(&why);
}

static void preload_is_prepended(void **state)
{
	(void)state;
	struct seen s = {0};
	struct err err;
	struct live_options o = {.contract = give_contract, .event = take_event, .user = &s};
	char test[] = "case $LD_PRELOAD in */libpt2probe.so:/none.so) exit 5;; esac; exit 6";
	char *old = getenv("LD_PRELOAD") ? xstrdup(getenv("LD_PRELOAD")) : NULL;
	setenv("LD_PRELOAD", "/none.so", 1);
	int r = live_run(&o, (char *[]){(char[]){"/bin/sh"}, (char[]){"-c"}, test, NULL}, &s.r, &err);
	old ? setenv("LD_PRELOAD", old, 1) : unsetenv("LD_PRELOAD");
	free(old);
	assert_int_equal(r, 0);
	assert_int_equal(s.r.command.status, 5);
	forget(&s);
}

static void only_the_models_functions_are_exported(void **state)
{
	(void)state;
	char *build = live_build_folder();
	char *cmd = xasprintf("nm -D --defined-only '%s/lib/pt2utils/libpt2probe.so'", build);
	FILE *f = popen(cmd, "r");
	char line[512];
	int n = 0;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		char *name = strrchr(line, ' ');
		assert_non_null(name);
		if (strncmp(name, " aoti_torch_device_type_", 24) && strncmp(name, " aoti_torch_dtype_", 18) &&
		    strcmp(name, " aoti_torch_layout_strided\n") && strcmp(name, " aoti_torch_grad_mode_is_enabled\n") &&
		    strcmp(name, " __gmon_start__\n") && strcmp(name, " pt2_probe_settle\n") && strcmp(name, " pt2_probe_heap\n") &&
		    strncmp(name, " pt2_jit_", 9) &&
		    !strstr(name, "22AOTIModelPackageLoaderC")) /* libprobe/loader.c: whose package it is */
			fail_msg("exported:%s", name);
		n++;
	}
	assert_int_equal(pclose(f), 0);
	assert_true(n > 10);
	free(cmd);
	free(build);
}

static void programs_that_cannot_be_watched(void **state)
{
	(void)state;
	char why[256], script[PATH_MAX], program[PATH_MAX];
	assert_false(live_unseen("sh", why, sizeof(why)));
	assert_false(live_unseen(missing_path("program"), why, sizeof(why)));
	/* An ELF header without any program header: nothing asks for a loader. */
	snprintf(program, sizeof(program), "%s/static", folder);
	snprintf(script, sizeof(script), "%s/script", folder);
	char head[64];
	int fd = open("/proc/self/exe", O_RDONLY);
	assert_int_equal(read(fd, head, sizeof(head)), sizeof(head));
	close(fd);
	memset(head + 56, 0, 2); /* e_phnum */
	fd = open(program, O_WRONLY | O_CREAT, 0755);
	assert_int_equal(write(fd, head, sizeof(head)), sizeof(head));
	close(fd);
	assert_true(live_unseen(program, why, sizeof(why)));
	assert_non_null(strstr(why, "is a static program"));
	fd = open(script, O_WRONLY | O_CREAT, 0755);
	assert_true(dprintf(fd, "#! %s -x\n", program) > 0);
	close(fd);
	assert_true(live_unseen(script, why, sizeof(why)));
	assert_non_null(strstr(why, "static' is a static program"));
	/* Half a header, and another machine's. */
	assert_int_equal(truncate(program, 40), 0);
	assert_false(live_unseen(program, why, sizeof(why)));
	head[4] = 1;
	fd = open(program, O_WRONLY);
	assert_int_equal(write(fd, head, sizeof(head)), sizeof(head));
	close(fd);
	assert_true(live_unseen(program, why, sizeof(why)));
	assert_non_null(strstr(why, "another machine"));
	if (geteuid() == 0) { /* only root can make a file that is another's */
		head[4] = 2;
		fd = open(program, O_WRONLY);
		assert_int_equal(write(fd, head, sizeof(head)), sizeof(head));
		assert_int_equal(fchown(fd, 65534, 65534), 0);
		assert_int_equal(fchmod(fd, 04755), 0);
		close(fd);
		assert_true(live_unseen(program, why, sizeof(why)));
		assert_non_null(strstr(why, "setuid"));
	}
}

static void path_is(const char *path, const char *want)
{
	struct buf b = {0};
	live_path_of(42, slice_str(path), &b);
	assert_text(buf_slice(&b), want);
	buf_release(&b);
}

static void paths_are_translated(void **state)
{
	(void)state;
	path_is("/tmp/m.so", "/tmp/m.so");
	path_is("/proc/self/fd/7", "/proc/42/fd/7");
	path_is("/proc/thread-self/fd/7", "/proc/42/fd/7");
	path_is("/proc/selfish", "/proc/selfish");
	path_is("/dev/fd/7", "/proc/42/fd/7");
	path_is("m.so", "/proc/42/cwd/m.so");
	path_is("", "");
}

/* A line that was cut anywhere, and one with other types than expected: said or passed over, never read beyond. */
static void events_are_cut(void **state)
{
	(void)state;
	static const char line[] =
	    "{\"ev\":\"call-mismatch\",\"t\":2.5,\"pid\":7,\"tid\":8,\"model\":3,\"call\":12,\"failed\":true,\"last\":"
	    "true,"
	    "\"findings\":[{\"what\":\"dtype\",\"input\":0,\"name\":\"x\",\"dim\":1,\"expected\":\"a\",\"given\":\"b\","
	    "\"fix\":\"c\",\"aoti\":\"d\"},5,null,{\"input\":-1}]}";
	struct guard g = {0};
	struct json_tape t = {0};
	struct buf b = {0};
	struct live_event ev;
	for (size_t n = 0; n < sizeof(line) - 1; n++)
		assert_false(live_event_parse(&ev, &t, slice_of(guard_put(&g, line, n), n)));
	assert_true(live_event_parse(&ev, &t, slice_of(guard_put(&g, line, sizeof(line) - 1), sizeof(line) - 1)));
	assert_int_equal(ev.kind, LIVE_CALL_MISMATCH);
	assert_int_equal(ev.model, 3);
	assert_int_equal(ev.pid, 7);
	assert_true(ev.time > 2.4 && ev.time < 2.6);
	live_event_text(&ev, &b);
	has(&b, "model 3: run 11: the inputs do not match, the call was refused\n"
		"  input 0 x, dim 1: dtype: expected a, given b; c\n    AOTInductor reports: d\n");
	has(&b, "further calls like this are only counted");
	static const char *const odd[] = {"[]",
					  "5",
					  "{}",
					  "{\"ev\":1}",
					  "{\"ev\":\"later\",\"model\":4294967295,\"pid\":\"x\"}",
					  "{\"ev\":\"call-mismatch\",\"findings\":{\"a\":1}}"};
	for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
		struct slice s = slice_of(guard_put(&g, odd[i], strlen(odd[i])), strlen(odd[i]));
		assert_int_equal(live_event_parse(&ev, &t, s), i >= 3);
		buf_reset(&b);
		if (i >= 3)
			live_event_text(&ev, &b);
	}
	assert_int_equal(ev.model, LIVE_NO_MODEL);
	buf_release(&b);
	json_tape_release(&t);
	guard_release(&g);
}

/* ---- the models ---- */

static char *unpack(const char *package, const char *member, const char *as)
{
	char *path = xasprintf("load=%s/%s.so", folder, as);
	live_unpack(package, member, path + 5, NULL);
	return path;
}

static char *copy_fake(const char *model, const char *as)
{
	char *build = live_build_folder(), *path = xasprintf("load=%s/%s.so", folder, as);
	char *cmd = xasprintf("cp '%s/tests-lib/%s.so' '%s'", build, model, path + 5);
	assert_int_equal(system(cmd), 0);
	free(build);
	free(cmd);
	return path;
}

static int set_up(void **state)
{
	(void)state;
	free(live_begin());
	mixed = unpack("mixed", "/", "mixed");
	derived = unpack("derived", "/", "derived");
	first = unpack("multi", "/first/", "first");
	second = unpack("multi", "/second/", "second");
	fake_first = copy_fake("fakemodel", "fake_first");
	fake_second = copy_fake("fakemodel", "fake_second");
	quiet_model = copy_fake("quietmodel", "quiet");
	late_model = copy_fake("latemodel", "late");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(mixed);
	free(derived);
	free(first);
	free(second);
	free(fake_first);
	free(fake_second);
	free(quiet_model);
	free(late_model);
	return live_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(good_calls_are_counted),
	    cmocka_unit_test(mismatches_are_told),
	    cmocka_unit_test(refused_calls_do_not_run),
	    cmocka_unit_test(the_same_is_told_three_times),
	    cmocka_unit_test(threads_get_the_same_results),
	    cmocka_unit_test(forks_go_on),
	    cmocka_unit_test(exec_goes_on),
	    cmocka_unit_test(a_killed_process_leaves_its_events),
	    cmocka_unit_test(file_sizes_are_limited),
	    cmocka_unit_test(models_come_and_go),
	    cmocka_unit_test(a_model_is_loaded_again),
	    cmocka_unit_test(many_models),
	    cmocka_unit_test(two_models_are_told_apart),
	    cmocka_unit_test(bound_now),
	    cmocka_unit_test(linked_programs),
	    cmocka_unit_test(packages_of_both_kinds_of_string),
	    cmocka_unit_test(no_contract),
	    cmocka_unit_test(no_answer),
	    cmocka_unit_test(paths_of_others),
	    cmocka_unit_test(a_program_without_models),
	    cmocka_unit_test(a_model_without_a_buffer),
	    cmocka_unit_test(runs_that_are_not_seen_are_told),
	    cmocka_unit_test(preload_is_prepended),
	    cmocka_unit_test(only_the_models_functions_are_exported),
	    cmocka_unit_test(programs_that_cannot_be_watched),
	    cmocka_unit_test(paths_are_translated),
	    cmocka_unit_test(events_are_cut),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name(__FILE__, tests, set_up, tear_down);
}
