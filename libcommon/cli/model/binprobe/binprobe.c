/* The parent: starts the child, bounds and reads its answer, and reports how it ended. */
#include "base/process/child.h"
#include "base/tool/output.h"
#include "model/binprobe/binprobe_child.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio_ext.h>
#include <sys/mman.h>
#include <unistd.h>

#define DEFAULT_TIMEOUT_MS 10000
#define DEFAULT_MEMORY (4ull << 30)
#define MAX_ANSWER (64u << 20)

static const char *const phase_doing[N_PHASES] = {
    [PHASE_SANDBOX] = "while setting up the sandbox", [PHASE_LIBRARIES] = "while loading the C++ library",
    [PHASE_MAP] = "while mapping the model",          [PHASE_INIT] = "in the initializers of the model",
    [PHASE_CREATE] = "while creating the model",      [PHASE_RUN] = "while running the model",
    [PHASE_ANSWER] = "while sending the result",
};

/* ---- in the child ---- */

static int answer(int fd, char tag, struct slice text)
{
	return write_all(fd, &tag, 1, "the answer", NULL) < 0 || write_all(fd, text.p, text.n, "the answer", NULL) < 0 ? EXIT_ENVIRON : 0;
}

static int set_up(struct binprobe_job *j, struct err *err)
{
	/* The child must not write the tool's pending output (a C++ stream flushes stdio's). */
	__fpurge(stdout);
	__fpurge(stderr);
	/* The answer's pipe moves away from standard output, where the model may print. */
	j->answer_fd = fcntl(STDOUT_FILENO, F_DUPFD, 3);
	if (j->answer_fd < 0 || dup2(STDIN_FILENO, STDOUT_FILENO) < 0) /* which is /dev/null */
		return err_errno(err, EXIT_ENVIRON, "cannot set up the sandbox's files");
	if (sandbox_limits(j, err) < 0 || sandbox_loading(j, err) < 0)
		return -1;
	j->shared->phase = PHASE_LIBRARIES;
	return 0;
}

static int binprobe_here(struct binprobe_job *j, struct contract *c, struct err *err)
{
	if (set_up(j, err) < 0)
		return -1;
	void *cxx = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
	if (!cxx)
		return err_set(err, EXIT_ENVIRON, "cannot load libstdc++.so.6, which compiled models need");
	if (sandbox_running(j, err) < 0)
		return -1;
	/* From here on the file is read. */
	world = xcalloc(1, sizeof(*world));
	world->job = j;
	j->shared->phase = PHASE_MAP;
	if (image_load(&world->im, j->so, cxx, err) < 0)
		return -1;
	j->shared->phase = PHASE_INIT;
	image_run_initialisers(&world->im);
	j->shared->phase = PHASE_CREATE;
	if (model_create(err) < 0)
		return -1;
	j->shared->phase = PHASE_RUN;
	struct walks w = {0};
	if (walk_model(&w, err) < 0 || binprobe_fill(c, &w, err) < 0)
		return -1;
	j->shared->phase = PHASE_ANSWER;
	return 0;
}

static int child_main(void *arg)
{
	struct binprobe_job *j = arg;
	struct contract c = {0};
	struct err err = {0};
	if (binprobe_here(j, &c, &err) < 0)
		return j->answer_fd < 0 ? EXIT_ENVIRON : answer(j->answer_fd, err.status == EXIT_ENVIRON ? '4' : '3', slice_str(err.text));
	struct buf b = {0};
	struct json_out out = {.b = &b};
	contract_to_json(&c, &out);
	return answer(j->answer_fd, 'C', buf_slice(&b));
}

/* ---- in the parent ---- */

static uint64_t address_space(void)
{
	char text[64];
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;
	if (fd >= 0)
		close(fd);
	uint64_t pages = 0;
	struct slice s = slice_of(text, n > 0 ? (size_t)n : 0);
	const char *space = slice_find(s, " ");
	if (!space || !slice_u64(slice_of(s.p, (size_t)(space - s.p)), &pages))
		return 1ull << 40; /* no /proc: time limit and filters still apply */
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static int how_it_ended(const struct child_result *r, const struct binprobe_shared *shared, int timeout_ms, struct err *err)
{
	uint32_t phase = shared->phase < N_PHASES ? shared->phase : PHASE_SANDBOX;
	const char *doing = phase_doing[phase];
	/* An error before the file is touched is not the file's fault. */
	enum exit_status status = phase < PHASE_MAP ? EXIT_ENVIRON : EXIT_INPUT;
	struct buf b = {0};
	if (shared->refused) {
		sandbox_syscall_name(shared->refused - 1, &b);
		err_set(err, status, "cannot probe: the sandbox blocked %s %s", buf_str(&b), doing);
	} else if (r->how == CHILD_TIMED_OUT) {
		err_set(err, status, "cannot probe: timed out after %d ms %s", timeout_ms, doing);
	} else if (r->how == CHILD_SIGNALED && r->sig == SIGSYS) { /* if the handler cannot run; fork() of glibc 2.41 blocks all signals */
		err_set(err, status, "cannot probe: the sandbox blocked a system call (SIGSYS) %s", doing);
	} else {
		child_describe(r, &b);
		err_set(err, status, "cannot probe: %s %s", buf_str(&b), doing);
	}
	buf_release(&b);
	return -1;
}

static int read_answer(struct contract *c, struct slice text, struct err *err)
{
	char tag = text.p[0];
	text = slice_of(text.p + 1, text.n - 1);
	if (tag == '3' || tag == '4') {
		struct buf b = {0};
		for (size_t i = 0; i < text.n && i < 900; i++)
			buf_addc(&b, text.p[i] >= ' ' && text.p[i] < 127 ? text.p[i] : ' ');
		err_set(err, tag == '4' ? EXIT_ENVIRON : EXIT_INPUT, "cannot probe: %s", buf_str(&b));
		buf_release(&b);
		return -1;
	}
	struct err why;
	if (tag != 'C' || contract_from_json(c, text, &why) < 0) {
		contract_release(c);
		return err_set(err, EXIT_INPUT, "cannot probe: invalid result%s%s", tag == 'C' ? ": " : "", tag == 'C' ? why.text : "");
	}
	c->source = CONTRACT_FROM_PROBE;
	return 0;
}

int binprobe_contract(struct contract *c, struct slice so, const struct binprobe_options *options, struct err *err)
{
	struct binprobe_options o = *options;
	if (!binprobe_can_run)
		return err_set(err, EXIT_ENVIRON, "cannot probe: only supported on x86-64 and aarch64");
	if (o.timeout_ms <= 0)
		o.timeout_ms = DEFAULT_TIMEOUT_MS;
	if (!o.max_memory)
		o.max_memory = DEFAULT_MEMORY;
	struct binprobe_shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return err_errno(err, EXIT_ENVIRON, "cannot probe: out of memory");
	struct binprobe_job job = {.so = so, .o = &o, .shared = shared, .answer_fd = -1, .address_space = address_space()};
	struct child_spec spec = {
	    .argv = (const char *[]){"probe", NULL},
	    .function = child_main,
	    .arg = &job,
	    .in.how = CHILD_NULL,
	    .out.how = CHILD_PIPE,
	    .err.how = o.verbose ? CHILD_INHERIT : CHILD_NULL,
	    .timeout_ms = o.timeout_ms,
	    .grace_ms = 1, /* it has no handler for SIGTERM */
	    .die_with_parent = true,
	    .keep_head = MAX_ANSWER + 1,
	};
	struct child_result r;
	int rc = child_run(&spec, &r, err);
	if (!rc) {
		bool good = r.how == CHILD_EXITED && r.status == 0 && !shared->refused && r.out.head.len;
		if (!good)
			rc = how_it_ended(&r, shared, o.timeout_ms, err);
		else if (r.out.total > MAX_ANSWER)
			rc = err_set(err, EXIT_INPUT, "cannot probe: the result is longer than %u MiB", MAX_ANSWER >> 20);
		else
			rc = read_answer(c, buf_slice(&r.out.head), err);
	}
	child_result_release(&r);
	munmap(shared, sizeof(*shared));
	return rc;
}
