/* pt2 attach - what a process that runs does now, what was found of it so far, and what can be seen of it at all.
 *
 * Nothing is injected and nothing is stopped: a process tells by the trace that it writes (TORCH_TRACE, which pt2 and `fxexplain run` set)
 * and by the events of libpt2probe.so, if that was loaded when it started (watch/event.h). Both are in its environment.
 */
#include "door/visit.h"
#include "top/top.h"

#include "base/io/mapfile.h"
#include "base/process/child.h"
#include "base/text.h"
#include "base/tool/diag.h"
#include "base/tool/opt.h"
#include "base/tool/parts.h"
#include "base/tool/screen.h"
#include "watch/event.h"

#include <fcntl.h>
#include <unistd.h>

/* ---- what it is ---- */

struct target {
	pid_t pid;
	char *trace, *probe; /* TORCH_TRACE, PT2_PROBE_DIR; or NULL */
	bool torch, loaded;  /* libtorch, libpt2probe.so are mapped */
};

static void target_release(struct target *t)
{
	free(t->trace);
	free(t->probe);
}

static char *variable(pid_t pid, const char *name)
{
	char *value = proc_environ(pid, name);
	if (value && *value)
		return value;
	free(value);
	return NULL;
}

static void target_look(struct target *t, pid_t pid)
{
	if (!proc_alive(pid))
		die(EXIT_INPUT, "no process %lld", (long long)pid);
	if (!proc_readable(pid))
		die(EXIT_ENVIRON, "process %lld belongs to another user: what it does can be seen as that user, or as root",
		    (long long)pid);
	/* `pt2 run`, torchrun, a shell: the program is the one below that traces. */
	FREED char *own = variable(pid, "TORCH_TRACE");
	const pid_t child = own ? 0 : proc_child_with(pid, "TORCH_TRACE");
	if (child) {
		note("pt2: process %lld does not trace; %lld, which it started, does", (long long)pid, (long long)child);
		pid = child;
	}
	*t = (struct target){
	    .pid = pid,
	    .trace = variable(pid, "TORCH_TRACE"),
	    .probe = variable(pid, live_env_name(LIVE_ENV_DIR)),
	    .torch = proc_maps(pid, "/libtorch"),
	    .loaded = proc_maps(pid, "/libpt2probe.so"),
	};
}

/* Why nothing of it can be seen, and what to do. */
static _Noreturn void cannot(const struct target *t)
{
	const long long pid = t->pid;
	FREED char *py_spy = child_which("py-spy");
	if (!t->torch)
		die(EXIT_PARTIAL, "process %lld has not loaded torch: nothing is compiled in it (its children may: pt2 top without a PID)",
		    pid);
	if (py_spy)
		die(EXIT_PARTIAL,
		    "process %lld was started without TORCH_TRACE and without the probe, and neither can be added now\n"
		    "pt2 top %lld    # py-spy reads its stack, which tells the phase\n"
		    "pt2 run -- COMMAND    # the next time",
		    pid, pid);
	die(EXIT_PARTIAL,
	    "process %lld was started without TORCH_TRACE and without the probe, and neither can be added now\n"
	    "pt2 run -- COMMAND    # the next time, or TORCH_TRACE=DIR COMMAND\n"
	    "pip install py-spy && py-spy dump --pid %lld | pt2    # its stack tells the phase",
	    pid, pid);
}

/* ---- the probe ---- */

/* The counters belong to processes that write: they are copied once, and what is taken from them is bounded. */
static void put_counters(struct buf *b, const char *folder)
{
	struct live_counters *c = xcalloc(1, sizeof(*c));
	FREED char *path = xasprintf("%s/" LIVE_FILE_COUNTERS, folder);
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	uint64_t calls = 0, mismatched = 0, past = 0;
	if (fd >= 0 && read(fd, c, sizeof(*c)) == (ssize_t)sizeof(*c) && !memcmp(c->magic, LIVE_MAGIC, sizeof(c->magic))) {
		const uint32_t used = c->used < LIVE_MODELS ? c->used : LIVE_MODELS;
		for (uint32_t i = 0; i < used; i++) {
			calls += c->model[i].calls;
			mismatched += c->model[i].mismatched;
			past += c->model[i].past;
		}
		buf_addf(b, "%u model%s and graphs", used, plural(used));
		buf_adds(b, ", ");
		put_count(b, calls, "call");
		if (mismatched)
			buf_addf(b, ", %llu with inputs that do not fit", (unsigned long long)mismatched);
		if (past)
			buf_addf(b, ", %llu not watched", (unsigned long long)past);
	} else {
		buf_addf(b, "its folder %s is gone: the tool that watched it has ended", folder);
	}
	if (fd >= 0)
		close(fd);
	free(c);
}

static bool is_there(const char *folder, const char *name)
{
	FREED char *path = xasprintf("%s/%s", folder, name);
	return access(path, F_OK) == 0;
}

/* It takes its switches when it starts. */
static void show_probe(struct screen *s, const struct target *t)
{
	LOCAL_BUF b = {0};
	FREED char *fail = variable(t->pid, live_env_name(LIVE_ENV_FAIL)), *unchecked = variable(t->pid, live_env_name(LIVE_ENV_NO_CHECK));
	if (!t->loaded && !t->probe)
		return;
	if (!t->loaded) {
		buf_addf(&s->b,
			 "  The probe is in its environment, but not loaded: a static or setuid program, or one that cleared LD_PRELOAD\n");
		return;
	}
	if (!t->probe) {
		buf_addf(&s->b, "  The probe is loaded, and does nothing: %s is not set\n", live_env_name(LIVE_ENV_DIR));
		return;
	}
	buf_adds(&b, "  The probe is loaded: ");
	put_counters(&b, t->probe);
	buf_adds(&b, "\n  Its switches, fixed since the start: inputs are ");
	buf_adds(&b, unchecked ? "not checked" : fail ? "checked, and a call that does not fit fails" : "checked");
	buf_addf(&b, "; kernels are %s\n", is_there(t->probe, "calls") ? "recorded" : "not watched");
	buf_add_slice(&s->b, buf_slice(&b)); /* written through clean_lines() */
}

/* ---- what it compiles, what was found ---- */

static void show_process(struct screen *s, const struct target *t)
{
	LOCAL_BUF b = {0};
	LOCAL_BUF line = {0};
	proc_command(t->pid, &line);
	buf_addf(&b, "Process %lld", (long long)t->pid);
	put_bold(s, buf_str(&b));
	buf_reset(&b);
	buf_adds(&b, ", for ");
	put_seconds(&b, proc_seconds(t->pid));
	buf_adds(&b, ": ");
	put_flat(&b, buf_slice(&line), 120);
	buf_addc(&b, '\n');
	if (t->trace)
		buf_addf(&b, "  It traces into %s\n", t->trace);
	else
		buf_adds(&b, "  It writes no trace: what it compiles cannot be seen (pt2 run -- COMMAND, the next time)\n");
	buf_add_slice(&s->b, buf_slice(&b)); /* written through clean_lines() */
}

/* fxexplain with the traces of this process and of what it started. Its status. */
static int show_findings(const struct top *t)
{
	struct child_result r;
	struct err err;
	FREED char *fxexplain = tool_or_die("fxexplain");
	FREED const char **argv = xcalloc(t->n + 3, sizeof(*argv));
	size_t n = 0;
	argv[n++] = fxexplain;
	argv[n++] = visit_format() == FORMAT_JSON ? "--json" : "-q";
	for (size_t i = 0; i < t->n; i++)
		if (!t->log[i].unread)
			argv[n++] = t->log[i].path;
	if (n == 2)
		return EXIT_FINE;
	const struct child_spec spec = {.argv = argv, .in.how = CHILD_NULL, .same_group = true};
	if (child_run(&spec, &r, &err) < 0)
		die_err(&err);
	const int status = r.how == CHILD_EXITED ? r.status : EXIT_ENVIRON;
	child_result_release(&r);
	return status;
}

static void show_next(const struct target *t)
{
	struct screen s = screen_make();
	LOCAL_BUF word = {0};
	buf_add_word(&word, t->trace);
	put_dim(&s, "\nnext  ");
	buf_addf(&s.b, "pt2 top %lld\n      pt2 slow ", (long long)t->pid);
	put_text(&s, buf_slice(&word));
	buf_addc(&s.b, '\n');
	screen_end(&s);
}

static void show(const struct target *t, const struct top *top)
{
	struct screen s = screen_make();
	show_process(&s, t);
	show_probe(&s, t);
	if (t->trace) {
		LOCAL_BUF now = {0};
		top_draw(top, &now, s.width, 0, 0);
		buf_addf(&s.b, "\n%s\n", buf_str(&now));
	}
	screen_end(&s);
}

static int attach_main(struct operands *in)
{
	uint64_t pid;
	struct err err;
	int status = EXIT_FINE;
	OWNED(target_release) struct target t;
	OWNED(top_release) struct top top = {0};
	if (!slice_u64(slice_str(in->v[0]), &pid) || !pid || pid > INT_MAX)
		die(EXIT_USAGE, "'%s' is not the number of a process", in->v[0]);
	if (visit_format() > FORMAT_JSON)
		die(EXIT_USAGE, "--format=%s is a form of findings alone: use text or json", visit_format_name[visit_format()]);
	target_look(&t, (pid_t)pid);
	if (!t.trace && !t.loaded && !t.probe)
		cannot(&t);
	if (t.trace) {
		top.dir = t.trace;
		top.only_pid = t.pid;
		if (top_read(&top, &err) < 0)
			die_err(&err);
		top_only(&top);
	}
	if (visit_format() != FORMAT_JSON)
		show(&t, &top);
	if (t.trace) {
		status = show_findings(&top);
		if (!pt2_opt.quiet && visit_format() == FORMAT_TEXT)
			show_next(&t);
	}
	return status;
}

extern const struct opt_command attach_command;
const struct opt_command attach_command = {
    .name = "attach",
    .summary = "say what a running process does, and what was found so far",
    .about = "What does this process compile now, and what was found so far?",
    .example = {{"4711", "what a process of yours does"},
		{"-q 4711", "without the next commands"},
		{"--json 4711", "its findings as one JSON document"}},
    .operands = "PID",
    .footer = "PID: a process that was started under pt2, fxexplain run, or with TORCH_TRACE.",
    .more = "Nothing is injected, and nothing is stopped.",
    .min = 1,
    .max = 1,
    .run = attach_main,
};
