/* base/child: what children are given, how they end, and that none is left behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/process/child.h"
#include "../../lib/missing.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct err err;
static struct child_result r;
static struct buf text;

#define ARGV(...) ((const char *const[]){__VA_ARGS__, NULL})
#define SH(script) .argv = ARGV("sh", "-c", script)
#define COLLECT .out.how = CHILD_PIPE, .err.how = CHILD_PIPE

static void run(const struct child_spec *spec)
{
	child_result_release(&r);
	err.text[0] = 0;
	if (child_run(spec, &r, &err) < 0)
		fail_msg("%s", err.text);
}
#define RUN(...) run(&(struct child_spec){__VA_ARGS__})

static void is_output(const struct child_output *o, const char *want)
{
	buf_reset(&text);
	child_output_text(o, &text);
	assert_string_equal(buf_str(&text), want);
}

static bool gone(pid_t pid)
{
	/* A killed grandchild may be a zombie for as long as init likes; that is dead, too. */
	for (int i = 0; i < 500; i++) {
		char path[64], state = 0;
		snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
		FILE *f = fopen(path, "r");
		if (!f)
			return true;
		int got = fscanf(f, "%*d %*s %c", &state);
		fclose(f);
		if (got == 1 && state == 'Z')
			return true;
		usleep(10000);
	}
	return false;
}

static void statuses(void **state)
{
	(void)state;
	RUN(SH("exit 3"));
	assert_int_equal(r.how, CHILD_EXITED);
	assert_int_equal(r.status, 3);
	RUN(SH("kill -SEGV $$"));
	assert_int_equal(r.how, CHILD_SIGNALED);
	assert_int_equal(r.sig, SIGSEGV);
	assert_false(r.core_dumped);
	buf_reset(&text);
	child_describe(&r, &text);
	assert_string_equal(buf_str(&text), "killed by SIGSEGV (Segmentation fault)");
	RUN(SH("exit 127"));
	assert_int_equal(r.how, CHILD_EXITED);
	assert_int_equal(r.status, 127);
	assert_true(r.wall_ns > 0);
}

static void cannot_start(void **state)
{
	(void)state;
	const char *none = missing_path("program");
	char want[PATH_MAX + 80];
	struct child_spec spec = {.argv = ARGV(none)};
	child_result_release(&r);
	assert_int_equal(child_run(&spec, &r, &err), -1);
	assert_int_equal(r.how, CHILD_NOT_STARTED);
	assert_int_equal(r.start_errno, ENOENT);
	assert_int_equal(err.status, EXIT_ENVIRON);
	snprintf(want, sizeof(want), "cannot run '%s': No such file or directory", none);
	assert_string_equal(err.text, want);
	spec.argv = ARGV("no-such-program-at-all");
	assert_int_equal(child_run(&spec, &r, &err), -1);
	assert_int_equal(r.start_errno, ENOENT);
	spec.argv = ARGV("/etc/passwd");
	assert_int_equal(child_run(&spec, &r, &err), -1);
	assert_int_equal(r.start_errno, EACCES);
	spec.argv = ARGV("true");
	spec.cwd = none;
	assert_int_equal(child_run(&spec, &r, &err), -1);
	snprintf(want, sizeof(want), "cannot run 'true': cannot enter '%s': No such file or directory", none);
	assert_string_equal(err.text, want);
	spec.argv = ARGV(NULL);
	assert_int_equal(child_run(&spec, &r, &err), -1);
	spec.argv = ARGV("true");
	spec.cwd = NULL;
	spec.fds = &(struct child_fd){999, 5};
	spec.n_fds = 1;
	assert_int_equal(child_run(&spec, &r, &err), -1);
	assert_int_equal(r.start_errno, EBADF);
	spec.out.how = CHILD_RAW;
	assert_int_equal(child_run(&spec, &r, &err), -1);
	assert_int_equal(r.how, CHILD_NOT_STARTED);
}

static void streams(void **state)
{
	(void)state;
	RUN(SH("cat; echo out; echo err >&2"), .in.how = CHILD_PIPE, .input = SLICE("hello\n"), COLLECT);
	is_output(&r.out, "hello\nout\n");
	is_output(&r.err, "err\n");
	RUN(SH("echo 1; echo 2 >&2; echo 3"), .out.how = CHILD_PIPE, .err.how = CHILD_MERGE);
	is_output(&r.out, "1\n2\n3\n");
	RUN(SH("cat"), .in.how = CHILD_NULL, .out.how = CHILD_PIPE, .err.how = CHILD_NULL);
	is_output(&r.out, "");
	int p[2];
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	RUN(SH("echo given"), .out = {CHILD_FD, p[1]});
	char b[16];
	assert_int_equal(read(p[0], b, sizeof(b)), 6);
	close(p[0]);
	close(p[1]);
}

static void big_input_nobody_reads(void **state)
{
	(void)state;
	size_t n = 1 << 20;
	char *big = xcalloc(n, 1);
	RUN(SH("exec true"), .in.how = CHILD_PIPE, .input = slice_of(big, n), COLLECT);
	assert_int_equal(r.how, CHILD_EXITED);
	RUN(SH("wc -c"), .in.how = CHILD_PIPE, .input = slice_of(big, n), COLLECT);
	is_output(&r.out, "1048576\n");
	/* More than a pipe in both directions at once. */
	RUN(SH("cat"), .in.how = CHILD_PIPE, .input = slice_of(big, n), COLLECT, .keep_head = 10, .keep_tail = 10);
	assert_true(r.out.total == n);
	free(big);
}

static void bounded_output(void **state)
{
	(void)state;
	RUN(SH("printf 0123456789abcdefghij"), COLLECT, .keep_head = 4, .keep_tail = 6);
	is_output(&r.out, "0123\n[... 10 bytes left out ...]\nefghij");
	RUN(SH("printf 0123456789"), COLLECT, .keep_head = 4, .keep_tail = 6);
	is_output(&r.out, "0123456789");
	RUN(SH("printf 01234567"), COLLECT, .keep_head = 4, .keep_tail = 6);
	is_output(&r.out, "01234567");
	RUN(SH("for i in 1 2 3 4 5 6 7 8 9; do printf $i; sleep 0.01; done"), COLLECT, .keep_head = 1, .keep_tail = 3);
	is_output(&r.out, "1\n[... 5 bytes left out ...]\n789");
	RUN(SH("printf abc"), COLLECT, .keep_head = 1);
	is_output(&r.out, "a\n[... 2 bytes left out ...]\n");
	RUN(SH("head -c 50000000 /dev/zero"), COLLECT);
	assert_true(r.out.total == 50000000);
	assert_true(r.out.head.len == 65536 && r.out.ring_cap == 65536);
}

static void environment(void **state)
{
	(void)state;
	setenv("PT2_TEST_A", "a", 1);
	setenv("PT2_TEST_B", "b", 1);
	RUN(SH("echo $PT2_TEST_A-$PT2_TEST_B-$PT2_TEST_C"), COLLECT, .env_unset = ARGV("PT2_TEST_A"),
	    .env_set = ARGV("PT2_TEST_C=c", "PT2_TEST_B=new"));
	is_output(&r.out, "-new-c\n");
	RUN(SH("env | grep -v -e ^PWD= -e ^SHLVL= -e ^_= | sort"), COLLECT, .env_allow = ARGV("PATH_NOT", "PT2_TEST*"),
	    .env_unset = ARGV("PT2_TEST_B"), .env_set = ARGV("X=1", "PATH=/usr/bin:/bin"));
	is_output(&r.out, "PATH=/usr/bin:/bin\nPT2_TEST_A=a\nX=1\n");
	RUN(SH("pwd"), COLLECT, .cwd = "/");
	is_output(&r.out, "/\n");
}

static void descriptors(void **state)
{
	(void)state;
	int a[2], b[2], leak = open("/dev/null", O_RDONLY); /* not close-on-exec */
	assert_int_equal(pipe(a), 0);
	assert_int_equal(pipe(b), 0);
	/* Sources and targets overlap crosswise. */
	struct child_fd fds[] = {{a[1], b[1]}, {b[1], a[1]}};
	char *script = xasprintf("echo A >&%d; echo B >&%d; exec ls /proc/self/fd", b[1], a[1]);
	struct child_spec spec = {.argv = ARGV("sh", "-c", script), COLLECT, .fds = fds, .n_fds = 2};
	run(&spec);
	char c = 0;
	assert_int_equal(read(a[0], &c, 1), 1);
	assert_int_equal(c, 'A');
	assert_int_equal(read(b[0], &c, 1), 1);
	assert_int_equal(c, 'B');
	buf_reset(&text);
	child_output_text(&r.out, &text);
	struct slice rest = buf_slice(&text), line;
	int n = 0;
	while (slice_line(&rest, &line)) {
		uint64_t fd = 0;
		assert_true(slice_u64(line, &fd));
		assert_true(fd <= 3 || (int)fd == a[1] || (int)fd == b[1]); /* 3: ls's own */
		n++;
	}
	assert_true(n >= 5 && n <= 6);
	free(script);
	close(leak);
	for (int i = 0; i < 2; i++) {
		close(a[i]);
		close(b[i]);
	}
}

/* Start a script and wait until it has written a line: from then on its traps are set. Gives that line's number. */
static struct child *start_ready(struct childset *set, const char *script, int *number)
{
	struct child_spec spec = {SH(script), .out.how = CHILD_RAW, .err.how = CHILD_NULL, .grace_ms = 200};
	struct child *c = child_start(set, &spec, &err);
	struct child_event ev;
	char line[32];
	size_t n = 0;
	assert_non_null(c);
	while (!n || line[n - 1] != '\n') {
		assert_int_equal(childset_wait(set, -1, 20000, &ev), 0);
		assert_int_equal(ev.what, CHILD_READABLE);
		ssize_t got = read(child_fd(c, 1), line + n, sizeof(line) - n);
		assert_true(got > 0);
		n += (size_t)got;
	}
	uint64_t v = 0;
	slice_u64(slice_of(line, n - 1), &v);
	if (number)
		*number = (int)v;
	return c;
}

static void wait_end(struct childset *set, struct child *c)
{
	struct child_event ev;
	do {
		assert_int_equal(childset_wait(set, -1, 20000, &ev), 0);
		if (ev.what == CHILD_READABLE)
			child_close_stream(c, 1);
	} while (ev.what == CHILD_READABLE);
	assert_int_equal(ev.what, CHILD_ENDED);
}

static void timeouts(void **state)
{
	(void)state;
	RUN(SH("sleep 60"), .timeout_ms = 50, .grace_ms = 20000);
	assert_int_equal(r.how, CHILD_TIMED_OUT);
	assert_int_equal(r.sig, SIGTERM);
	assert_true(r.wall_ns < 10000000000u);
	/* Ignored here, so ignored there from its first instruction on. */
	signal(SIGTERM, SIG_IGN);
	RUN(SH("sleep 60"), .timeout_ms = 50, .grace_ms = 50);
	signal(SIGTERM, SIG_DFL);
	assert_int_equal(r.how, CHILD_TIMED_OUT);
	assert_int_equal(r.sig, SIGKILL);
	buf_reset(&text);
	child_describe(&r, &text);
	assert_string_equal(buf_str(&text), "timed out (killed by SIGKILL)");
	/* A stopped process must still hear it. */
	RUN(SH("kill -STOP $$"), .timeout_ms = 300, .grace_ms = 20000);
	assert_int_equal(r.sig, SIGTERM);
	RUN(SH("yes"), COLLECT, .timeout_ms = 100);
	assert_int_equal(r.how, CHILD_TIMED_OUT);
}

static void term_is_answered(void **state)
{
	(void)state;
	struct childset set = {0};
	struct child *c = start_ready(&set, "trap 'exit 7' TERM; echo 1; while :; do sleep 0.02; done", NULL);
	child_stop(c);
	wait_end(&set, c);
	assert_int_equal(child_result(c)->how, CHILD_STOPPED);
	assert_int_equal(child_result(c)->status, 7);
	buf_reset(&text);
	child_describe(child_result(c), &text);
	assert_string_equal(buf_str(&text), "stopped (exited with status 7)");
	child_free(&set, c);
	c = start_ready(&set, "trap '' TERM; echo 1; while :; do sleep 0.02; done", NULL);
	child_stop(c);
	wait_end(&set, c);
	assert_int_equal(child_result(c)->sig, SIGKILL); /* after the grace time */
	childset_release(&set);
}

static pid_t printed_pid(void)
{
	uint64_t pid = 0;
	buf_reset(&text);
	child_output_text(&r.out, &text);
	assert_true(slice_u64(slice_trim(buf_slice(&text)), &pid));
	return (pid_t)pid;
}

static void no_orphans(void **state)
{
	(void)state;
	/* It holds the pipe open, too: the end must not wait for it. */
	RUN(SH("sleep 60 & echo $!"), COLLECT);
	assert_int_equal(r.how, CHILD_EXITED);
	assert_true(r.wall_ns < 20000000000u);
	assert_true(gone(printed_pid()));
	RUN(SH("sleep 60 >/dev/null & echo $!"), COLLECT, .leave_running = true);
	pid_t pid = printed_pid();
	assert_int_equal(kill(pid, 0), 0);
	kill(pid, SIGKILL);

	struct childset set = {0};
	int grandchild;
	struct child *c = start_ready(&set, "sleep 60 & echo $!; sleep 60", &grandchild);
	child_stop(c);
	wait_end(&set, c);
	assert_true(gone(grandchild));
	child_free(&set, c);
	c = start_ready(&set, "sleep 60 & echo $!; sleep 60", &grandchild);
	child_free(&set, c);
	assert_true(gone(grandchild));

	struct child_spec spec = {SH("sleep 60")};
	struct child *a = child_start(&set, &spec, &err), *b = child_start(&set, &spec, &err);
	assert_non_null(a);
	assert_non_null(b);
	pid_t pa = child_pid(a), pb = child_pid(b);
	assert_int_equal(getpgid(pa), pa);
	child_free(&set, a);
	assert_int_equal(kill(pa, 0), -1);
	assert_int_equal(kill(pb, 0), 0);
	childset_release(&set);
	assert_int_equal(kill(pb, 0), -1);
}

static void same_group(void **state)
{
	(void)state;
	struct childset set = {0};
	struct child_spec spec = {SH("sleep 60"), .same_group = true};
	struct child *c = child_start(&set, &spec, &err);
	assert_non_null(c);
	pid_t pid = child_pid(c);
	assert_int_equal(getpgid(pid), getpgid(0));
	childset_release(&set);
	assert_int_equal(kill(pid, 0), -1);
}

static void limits(void **state)
{
	(void)state;
	RUN(SH("ulimit -c; ulimit -f; ulimit -t; ulimit -v"), COLLECT, .max_file = 1024 * 1024, .max_cpu_s = 7, .max_memory = 4ull << 30);
	/* sh counts files in 512-byte blocks, memory in KiB. */
	is_output(&r.out, "0\n2048\n7\n4194304\n");
	RUN(SH("while :; do :; done"), .max_cpu_s = 1, .timeout_ms = 30000);
	assert_int_equal(r.how, CHILD_SIGNALED);
	assert_int_equal(r.sig, SIGXCPU);
	assert_true(r.usage.ru_utime.tv_sec + r.usage.ru_stime.tv_sec + 1 >= 1);
	RUN(SH("dd if=/dev/zero of=/tmp/pt2-child-limit.$$ bs=4096 count=100 2>/dev/null; s=$?; rm -f "
	       "/tmp/pt2-child-limit.$$; "
	       "exit $s"),
	    .max_file = 8192, COLLECT);
	assert_true(r.status != 0 || r.sig == SIGXFSZ);
}

static int say(void *arg)
{
	dprintf(1, "%s %d", (const char *)arg, fcntl(9, F_GETFD) >= 0);
	return 5;
}
static int refuse(void *arg)
{
	(void)arg;
	return EPERM;
}

static void functions(void **state)
{
	(void)state;
	int nul = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(dup3(nul, 9, O_CLOEXEC), 9);
	RUN(.function = say, .arg = "hello", COLLECT);
	is_output(&r.out, "hello 0");
	assert_int_equal(r.status, 5);
	RUN(.function = say, .arg = "fd", COLLECT, .fds = &(struct child_fd){nul, 9}, .n_fds = 1);
	is_output(&r.out, "fd 1");
	close(9);
	close(nul);
	struct child_spec spec = {.argv = ARGV("true"), .before_exec = refuse};
	child_result_release(&r);
	assert_int_equal(child_run(&spec, &r, &err), -1);
	assert_string_equal(err.text, "cannot run 'true': cannot prepare the process: Operation not permitted");
}

/* One that ends right behind what it says on standard error: it may be reaped before the end of its standard output was read. */
static void an_end_is_told_in_any_order(void **state)
{
	(void)state;
	struct childset set = {0};
	for (int i = 0; i < 200; i++) {
		struct child_spec spec = {SH("echo x >&2"), .out.how = CHILD_RAW, .err.how = CHILD_PIPE};
		struct child *c = child_start(&set, &spec, &err);
		struct child_event ev;
		char byte;
		assert_non_null(c);
		do {
			assert_int_equal(childset_wait(&set, -1, 20000, &ev), 0);
			assert_int_not_equal(ev.what, CHILD_NOTHING);
			if (ev.what == CHILD_READABLE && read(child_fd(c, 1), &byte, 1) == 0)
				child_close_stream(c, 1);
		} while (ev.what != CHILD_ENDED);
		child_free(&set, c);
	}
	childset_release(&set);
}

static void several_at_once(void **state)
{
	(void)state;
	struct childset set = {0};
	unsigned seen = 0;
	int n = 0, watch[2];
	struct child_spec sleeper = {SH("sleep 60")};
	struct child *first = child_start(&set, &sleeper, &err);
	assert_non_null(first);
	struct child_event ev;
	assert_int_equal(childset_wait(&set, -1, 0, &ev), 0);
	assert_int_equal(ev.what, CHILD_NOTHING);
	assert_int_equal(pipe2(watch, O_CLOEXEC), 0);
	assert_int_equal(write(watch[1], "x", 1), 1);
	assert_int_equal(childset_wait(&set, watch[0], 5000, &ev), 0);
	assert_int_equal(ev.what, CHILD_WATCHED);
	child_free(&set, first);
	for (int i = 0; i < 8; i++) {
		char *script = xasprintf("sleep 0.%d; echo %d; exit %d", 9 - i, i, i);
		struct child_spec spec = {.argv = ARGV("sh", "-c", script), COLLECT};
		assert_non_null(child_start(&set, &spec, &err));
		free(script);
	}
	while (childset_wait(&set, -1, 20000, &ev) == 0 && ev.what == CHILD_ENDED) {
		const struct child_result *ended = child_result(ev.child);
		assert_int_equal(ended->out.total, 2);
		assert_int_equal(ended->out.head.p[0], '0' + ended->status);
		seen |= 1u << ended->status;
		child_free(&set, ev.child);
		n++;
	}
	assert_int_equal(n, 8);
	assert_int_equal(seen, 0xff);
	assert_int_equal(ev.what, CHILD_NOTHING); /* at once: nothing is left */
	close(watch[0]);
	close(watch[1]);
	childset_release(&set);
}

static void conversation(void **state)
{
	(void)state;
	struct childset set = {0};
	struct child_spec spec = {SH("while read -r x; do echo got $x; done; echo end"), .in.how = CHILD_PIPE, .keep_stdin = true,
				  .out.how = CHILD_RAW};
	struct child *c = child_start(&set, &spec, &err);
	assert_non_null(c);
	struct child_event ev;
	int turn = 0;
	child_send(c, SLICE("0\n"));
	for (bool ended = false; !ended;) {
		assert_int_equal(childset_wait(&set, -1, 20000, &ev), 0);
		if (ev.what == CHILD_ENDED) {
			ended = true;
			assert_int_equal(child_fd(c, 1), -1); /* its output came first */
		} else {
			assert_int_equal(ev.what, CHILD_READABLE);
			assert_int_equal(ev.stream, 1);
			char b[64], want[16];
			ssize_t n = read(child_fd(c, 1), b, sizeof(b));
			if (n <= 0) {
				child_close_stream(c, 1);
				continue;
			}
			snprintf(want, sizeof(want), turn < 3 ? "got %d\n" : "end\n", turn);
			assert_memory_equal(b, want, strlen(want));
			if (++turn < 3) {
				buf_reset(&text);
				buf_addf(&text, "%d\n", turn);
				child_send(c, buf_slice(&text));
			} else {
				child_send_end(c);
			}
		}
	}
	assert_int_equal(turn, 4);
	child_send(c, SLICE("into the void\n"));
	childset_release(&set);
}

static void stop_and_kill(void **state)
{
	(void)state;
	struct childset set = {0};
	struct child_spec spec = {SH("sleep 60")};
	struct child_event ev;
	for (int i = 0; i < 2; i++) {
		struct child *c = child_start(&set, &spec, &err);
		assert_non_null(c);
		if (i)
			child_kill(c);
		else
			child_stop(c);
		assert_int_equal(childset_wait(&set, -1, 20000, &ev), 0);
		assert_int_equal(ev.what, CHILD_ENDED);
		assert_int_equal(child_result(c)->how, CHILD_STOPPED);
		assert_int_equal(child_result(c)->sig, i ? SIGKILL : SIGTERM);
		child_free(&set, c);
	}
	childset_release(&set);
}

/* A tool of ours in a process of its own. It starts a sleeper, says its pid, and does what `arg` says. */
static struct err tool_err;
static int tool(void *arg)
{
	enum { EXIT_LIKE_SIGNAL, EXIT_LIKE_STATUS, WAIT_KILL, WAIT_FORWARD, DIE } what = (int)(intptr_t)arg;
	struct childset set = {0};
	struct child_result end;
	static const char *const scripts[] = {"kill -USR1 $$", "exit 9", "exec sleep 60",
					      "trap 'exit 8' TERM; echo; while :; do sleep 0.02; done", "exec sleep 60"};
	struct child_spec spec = {.argv = ARGV("sh", "-c", scripts[what]),
				  .out.how = what == WAIT_FORWARD ? CHILD_RAW : CHILD_NULL,
				  .die_with_parent = what == DIE};
	if (what == EXIT_LIKE_SIGNAL || what == EXIT_LIKE_STATUS) {
		if (child_run(&spec, &end, &tool_err) < 0)
			return 100;
		child_exit_like(&end);
	}
	if (what == WAIT_KILL || what == WAIT_FORWARD)
		child_signals(what == WAIT_KILL ? CHILD_SIGNALS_KILL : CHILD_SIGNALS_FORWARD);
	struct child *c = child_start(&set, &spec, &tool_err);
	if (!c)
		return 101;
	struct child_event ev;
	if (what == WAIT_FORWARD) {
		childset_wait(&set, -1, 20000, &ev); /* until the trap is set */
		child_close_stream(c, 1);
	}
	dprintf(1, "%d", (int)child_pid(c));
	kill(getpid(), what == DIE ? SIGKILL : SIGTERM);
	while (!childset_wait(&set, -1, 20000, &ev) && ev.what != CHILD_NOTHING)
		if (ev.what == CHILD_ENDED) {
			end = *child_result(ev.child);
			childset_release(&set);
			child_exit_like(&end);
		}
	return 102;
}

static void tools_end_like_their_command(void **state)
{
	(void)state;
	RUN(.function = tool, .arg = (void *)0, COLLECT);
	assert_int_equal(r.sig, SIGUSR1);
	RUN(.function = tool, .arg = (void *)1, COLLECT);
	assert_int_equal(r.status, 9);
}

static void signals_to_the_tool(void **state)
{
	(void)state;
	RUN(.function = tool, .arg = (void *)2, COLLECT);
	assert_int_equal(r.sig, SIGTERM);
	assert_true(gone(printed_pid()));
	RUN(.function = tool, .arg = (void *)3, COLLECT);
	assert_int_equal(r.how, CHILD_EXITED);
	assert_int_equal(r.status, 8);
	RUN(.function = tool, .arg = (void *)4, COLLECT);
	assert_int_equal(r.sig, SIGKILL);
	assert_true(gone(printed_pid()));
}

static void which(void **state)
{
	(void)state;
	char *sh = child_which("sh");
	assert_non_null(sh);
	assert_int_equal(access(sh, X_OK), 0);
	free(sh);
	assert_null(child_which("no-such-program-at-all"));
	assert_null(child_which(""));
	assert_null(child_which("/etc"));
	assert_null(child_which("/etc/passwd"));
}

static int count_fds(void)
{
	int n = 0;
	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}
static int fds_before;
static int remember(void **state)
{
	(void)state;
	fds_before = count_fds();
	return 0;
}
static int compare(void **state)
{
	(void)state;
	return count_fds() == fds_before && waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD ? 0 : -1;
}

int main(void)
{
	cmocka_set_message_output(CM_OUTPUT_TAP);
	/* Every test must leave neither a descriptor nor a process. */
#define T(f) cmocka_unit_test_setup_teardown(f, remember, compare)
	const struct CMUnitTest tests[] = {
	    T(statuses),
	    T(cannot_start),
	    T(streams),
	    T(big_input_nobody_reads),
	    T(bounded_output),
	    T(environment),
	    T(descriptors),
	    T(timeouts),
	    T(term_is_answered),
	    T(no_orphans),
	    T(same_group),
	    T(limits),
	    T(functions),
	    T(an_end_is_told_in_any_order),
	    T(several_at_once),
	    T(conversation),
	    T(stop_and_kill),
	    T(tools_end_like_their_command),
	    T(signals_to_the_tool),
	    T(which),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	child_result_release(&r);
	buf_release(&text);
	return failed;
}
