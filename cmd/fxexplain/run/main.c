/* main.c - `fxexplain run`: runs a command under TORCH_TRACE and explains its logs and standard error.
 *
 * The command runs as if it were not watched: in the tool's process group, with the tool's standard input and output. Its standard
 * error goes through the tool, which passes it on at once and keeps a copy: through a pseudo terminal if the tool's own is a terminal
 * (so that the command still sees one), else through a pipe. The explanation runs in a separate process: whatever happens to it, the
 * command's status is passed on. */
#include "explain/explain.h"

#include "base/process/browser.h"
#include "base/process/child.h"
#include "base/tool/diag.h"
#include "base/tool/output.h"
#include "base/tool/tempfolder.h"
#include "report/bundle.h"
#include "run/bisect.h"
#include "run/recheck.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static struct {
	bool bisect, recheck;
	const char *keep, *bundle;
	int timeout; /* seconds; 0: none */
} own;

static const struct opt options[] = {
    OPT_FLAG(0, "bisect", &own.bisect, "find the component that fails: dynamo, aot, inductor",
	     .more = "Runs the command with the backends eager, aot_eager and inductor in turn."),
    OPT_FLAG(0, "recheck", &own.recheck, "if it fails: run it again without torch.compile",
	     .more = "Sets TORCH_COMPILE_DISABLE=1 and compares the failures: does eager fail, too? Its output is not shown."),
    OPT_STRING(0, "keep", "DIR", &own.keep, "keep the traces and stderr in this new directory"),
    OPT_INT(0, "timeout", "SECONDS", &own.timeout, 0, 1 << 30, "stop the command after SECONDS"),
    OPT_STRING(0, "bundle", "FILE", &own.bundle, "write everything into one file, as report does"),
    OPT_END,
};

#define KEEP_BYTES (256ull << 20) /* of standard error; the rest is only passed on */
#define GRACE_MS 5000

/* ---- folders ---- */

static int by_version(const void *a, const void *b) { return strverscmp(*(char *const *)a, *(char *const *)b); }

/* Lists the files that are new: the user's own folder may hold logs of other runs. */
static void list_new(struct run_names *now, const char *dir, const struct run_names *before)
{
	OWNED(run_names_release) struct run_names all = {0};
	run_list(&all, dir);
	for (size_t i = 0; i < all.n; i++) {
		bool old = false;
		for (size_t k = 0; k < before->n && !old; k++)
			old = !strcmp(all.v[i], before->v[k]);
		if (old)
			continue;
		PUSH_TO(now->v, now->n, now->cap) = all.v[i];
		all.v[i] = NULL;
	}
	if (now->n)
		qsort(now->v, now->n, sizeof(*now->v), by_version);
}

/* ---- the command's standard error ---- */

struct tap {
	int ours, theirs, copy;
	bool terminal, end;
	uint64_t kept;
};

static void set_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	if (flags >= 0)
		fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

/* Bytes pass unchanged: the real terminal does the processing. */
static bool open_terminal(struct tap *t)
{
	struct termios raw;
	struct winsize size;
	char name[64];
	int ours = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), theirs = -1;
	if (ours < 0)
		return false;
	if (grantpt(ours) == 0 && unlockpt(ours) == 0 && ptsname_r(ours, name, sizeof(name)) == 0)
		theirs = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (theirs < 0 || tcgetattr(theirs, &raw) < 0) {
		close(ours);
		if (theirs >= 0)
			close(theirs);
		return false;
	}
	cfmakeraw(&raw);
	tcsetattr(theirs, TCSANOW, &raw);
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0)
		ioctl(ours, TIOCSWINSZ, &size);
	t->ours = ours;
	t->theirs = theirs;
	return t->terminal = true;
}

static void tap_open(struct tap *t, const char *copy)
{
	int p[2];
	*t = (struct tap){.ours = -1, .theirs = -1};
	t->copy = open(copy, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (t->copy < 0)
		die_errno(EXIT_ENVIRON, "cannot write '%s'", copy);
	if (!isatty(STDERR_FILENO) || !open_terminal(t)) {
		if (pipe2(p, O_CLOEXEC) < 0)
			die_errno(EXIT_ENVIRON, "cannot create a pipe");
		t->ours = p[0];
		t->theirs = p[1];
	}
	set_nonblocking(t->ours);
}

/* The terminal was resized. */
static void tap_resize(const struct tap *t)
{
	struct winsize now, then;
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &now) == 0 && ioctl(t->ours, TIOCGWINSZ, &then) == 0 &&
	    (now.ws_row != then.ws_row || now.ws_col != then.ws_col))
		ioctl(t->ours, TIOCSWINSZ, &now);
}

/* Reads everything available. A pseudo terminal whose other end is closed reads as EIO. */
static void tap_pump(struct tap *t)
{
	char chunk[1 << 15];
	ssize_t n;
	struct err err;
	if (t->terminal)
		tap_resize(t);
	while (!t->end) {
		n = read(t->ours, chunk, sizeof(chunk));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			t->end = true;
			return;
		}
		/* The reader may be gone: then it is lost, as it would be without us. */
		(void)write_all(STDERR_FILENO, chunk, (size_t)n, "standard error", &err);
		if (t->kept < KEEP_BYTES && write_all(t->copy, chunk, (size_t)n, "the copy of standard error", &err) < 0)
			t->kept = KEEP_BYTES;
		t->kept += (uint64_t)n;
	}
}

static int pass_on(void *arg)
{
	struct tap *t = arg;
	char chunk[1 << 12];
	ssize_t n;
	struct err err;
	fcntl(3, F_SETFL, fcntl(3, F_GETFL) & ~O_NONBLOCK);
	(void)t;
	while ((n = read(3, chunk, sizeof(chunk))) > 0 || (n < 0 && errno == EINTR))
		if (n > 0 && write_all(STDERR_FILENO, chunk, (size_t)n, "standard error", &err) < 0)
			return 1;
	return 0;
}

/* A process that the command left running on purpose (a server) may still write here: passed on as long as it lives. */
static void tap_close(struct tap *t, struct childset *set)
{
	tap_pump(t);
	close(t->copy);
	if (!t->end) {
		const struct child_fd fd = {t->ours, 3};
		const char *const name[] = {diag_tool, NULL};
		struct child_spec spec = {.argv = name,
					  .function = pass_on,
					  .arg = t,
					  .in.how = CHILD_NULL,
					  .out.how = CHILD_NULL,
					  .fds = &fd,
					  .n_fds = 1,
					  .leave_running = true};
		struct err err;
		(void)child_start(set, &spec, &err);
	}
	close(t->ours);
}

/* ---- leftover processes ---- */

/* Processes in a session of their own (daemons) are left alone. */
static size_t orphans(pid_t *pid, size_t room)
{
	char path[64], text[8192];
	size_t n = 0;
	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	struct slice rest = slice_of(text, got > 0 ? (size_t)got : 0);
	while (rest.n && n < room) {
		const char *blank = slice_chr(rest, ' ');
		uint64_t id;
		size_t len = blank ? (size_t)(blank - rest.p) : rest.n;
		if (slice_u64(slice_of(rest.p, len), &id) && id > 1 && id < INT_MAX && getsid((pid_t)id) == getsid(0))
			pid[n++] = (pid_t)id;
		rest = blank ? slice_of(blank + 1, rest.n - len - 1) : slice_of(NULL, 0);
	}
	return n;
}

/* When a command was asked to exit, its children must exit, too. As the nearest subreaper, this process is now their parent. */
static void end_orphans(void)
{
	pid_t pid[256];
	for (int round = 0; round < 60; round++) {
		size_t n = orphans(pid, ARRAY_LEN(pid));
		if (!n)
			return;
		for (size_t i = 0; i < n; i++)
			if (waitpid(pid[i], NULL, WNOHANG) == 0 && (round == 0 || round >= 40))
				kill(pid[i], round ? SIGKILL : SIGTERM);
		nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
	}
}

/* ---- the command ---- */

struct session {
	const struct explain_options *o;
	char *const *command;
	struct run_names before, traces;
	char *folder, *text; /* TORCH_TRACE, the copy of standard error */
	const char *private; /* NULL with --keep */
	bool kept;
	struct child_result r;
	uint64_t text_bytes;
	bool timed_out;
	struct recheck again;
	char *again_text;
};

static void run_watched(struct session *s)
{
	struct tap tap;
	struct err err;
	struct childset set = {0};
	struct child_event ev = {0};
	FREED char *trace = xasprintf("TORCH_TRACE=%s", s->folder);
	const char *const env[] = {trace, NULL};
	tap_open(&tap, s->text);
	struct child_spec spec = {
	    .argv = (const char *const *)s->command,
	    .env_set = env,
	    .same_group = true,
	    .die_with_parent = true,
	    .allow_core = true,
	    .err = {CHILD_FD, tap.theirs},
	    .before_exec = run_as_before,
	    .grace_ms = GRACE_MS,
	    .timeout_ms = run_timeout_ms(own.timeout),
	};
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	struct child *c = child_start(&set, &spec, &err);
	if (!c)
		die_err(&err);
	close(tap.theirs);
	while (ev.what != CHILD_ENDED) {
		/* After its standard error closed, only its exit is left to wait for. */
		if (childset_wait(&set, tap.end ? -1 : tap.ours, -1, &ev) < 0)
			die_errno(EXIT_ENVIRON, "cannot wait for '%s'", s->command[0]);
		if (ev.what == CHILD_WATCHED)
			tap_pump(&tap);
	}
	s->r = *child_result(c);
	s->timed_out = s->r.how == CHILD_TIMED_OUT;
	if (s->timed_out || child_signalled())
		end_orphans();
	tap_close(&tap, &set);
	s->text_bytes = tap.kept;
	child_free(&set, c);
}

/* ---- the explanation ---- */

static bool write_bundle(const struct explanation *x, const struct explain_options *opt)
{
	pack_bundle(x, opt, &(struct report_options){.bundle = own.bundle});
	return false;
}

static void add_runs(struct facts *f, const void *arg)
{
	const struct session *s = arg;
	recheck_tell(&s->again, &s->r, f);
}

/* Of a command that failed by itself. */
static void run_again(struct session *s)
{
	if (!own.recheck || s->timed_out || child_signalled() || (s->r.how == CHILD_EXITED && s->r.status == 0))
		return;
	s->again_text = xasprintf("%s/eager.txt", s->private ? s->private : s->folder);
	if (!s->o->quiet)
		note("%s: running it again with TORCH_COMPILE_DISABLE=1", diag_tool);
	recheck_run(&s->again, s->command, s->again_text, run_timeout_ms(own.timeout));
	if (s->again.ran && !s->o->quiet) {
		LOCAL_BUF b = {0};
		child_describe(&s->again.r, &b);
		note("%s: without torch.compile: '%s' %s after %.1f s", diag_tool, s->command[0], buf_str(&b),
		     (double)s->again.r.wall_ns / 1e9);
	}
}

static int explain_child(void *arg)
{
	struct session *s = arg;
	struct explain_options o = *s->o;
	FREED const char **path = xreallocarray(NULL, s->traces.n + 1, sizeof(*path));
	int n = 0;
	for (size_t i = 0; i < s->traces.n; i++)
		path[n++] = s->traces.v[i];
	if (s->text_bytes)
		path[n++] = s->text;
	o.folder = s->kept ? NULL : s->private;
	o.command = (const char *const *)s->command;
	o.has_status = true;
	o.add = add_runs;
	o.add_arg = s;
	o.status = s->r.sig ? -s->r.sig : s->r.status;
	o.emit = own.bundle ? write_bundle : NULL;
	o.keep_graphs = own.bundle != NULL;
	output_watch_signals();
	if (!o.output) /* standard output is the command's */
		dup2(STDERR_FILENO, STDOUT_FILENO);
	return explain_paths(&o, path, n);
}

/* Its status; -1 if a signal from the user ended it. */
static int explain_session(struct session *s)
{
	struct child_result r;
	struct err err;
	const char *const name[] = {diag_tool, NULL};
	struct child_spec spec = {
	    .argv = name, .function = explain_child, .arg = s, .same_group = true, .die_with_parent = true, .in.how = CHILD_NULL};
	if (child_run(&spec, &r, &err) < 0) {
		warn("%s", err.text);
		return EXIT_ENVIRON;
	}
	if (r.sig && !child_asks_to_end(r.sig)) {
		LOCAL_BUF b = {0};
		child_describe(&r, &b);
		warn("the explanation did not finish: %s", buf_str(&b));
	}
	return !r.sig ? r.status : child_asks_to_end(r.sig) ? -1 : EXIT_ENVIRON;
}

static void say_end(const struct session *s)
{
	LOCAL_BUF b = {0};
	if (s->o->quiet)
		return;
	child_describe(&s->r, &b);
	note("%s: '%s' %s after %.1f s; %zu trace%s%s%s", diag_tool, s->command[0], buf_str(&b), (double)s->r.wall_ns / 1e9, s->traces.n,
	     plural(s->traces.n), s->kept ? ", kept in " : "", s->kept ? s->folder : "");
	if (!s->traces.n)
		note("%s: no trace was written: torch was not imported, is older than 2.2 (no TORCH_TRACE), or nothing was compiled",
		     diag_tool);
}

static void set_up(struct session *s)
{
	const char *asked = getenv("TORCH_TRACE");
	s->kept = own.keep != NULL;
	if (s->kept) {
		s->folder = run_kept_folder(own.keep);
	} else {
		s->private = run_private_folder();
		s->folder = xstrdup(asked && *asked ? asked : s->private);
	}
	s->text = xasprintf("%s/stderr.txt", s->private ? s->private : s->folder);
	run_list(&s->before, s->folder);
}

/* The command's own status, or, if that is 0, the status of the explanation. */
static _Noreturn void finish_run(struct session *s, int explained)
{
	bool fine = s->r.how == CHILD_EXITED && s->r.status == 0;
	bool nothing = !s->traces.n;
	run_remove_folder();
	run_names_release(&s->before);
	run_names_release(&s->traces);
	free(s->folder);
	free(s->text);
	free(s->again_text);
	if (explained < 0) { /* a signal while explaining */
		struct child_result r = {.how = CHILD_SIGNALED, .sig = child_signalled() ? child_signalled() : SIGINT};
		child_exit_like(&r);
	}
	if (s->timed_out && !s->r.sig && s->r.status == 0)
		exit(EXIT_FOUND);
	if (!fine)
		child_exit_like(&s->r);
	exit(explained == EXIT_FINE && nothing ? EXIT_ENVIRON : explained);
}

static void check_options(const struct explain_options *o)
{
	const char *what = o->json ? "--json" : o->sarif ? "--sarif" : o->html && !*o->html ? "--html" : NULL;
	if (own.recheck && own.bisect)
		die(EXIT_USAGE, "--recheck conflicts with --bisect, which runs the command without torch.compile, too");
	if (what && !o->output && !own.bisect)
		die(EXIT_USAGE, "the command uses standard output: %s needs -o FILE here", what);
}

/* --html: opens the page in a browser, or prints its path. */
static void show_page(const struct explain_options *o, int explained)
{
	const char *page = !o->html ? NULL : *o->html && strcmp(o->html, "-") ? o->html : o->output;
	if (page && (explained == EXIT_FINE || explained == EXIT_FOUND || explained == EXIT_PARTIAL) && !browser_open(page) && !o->quiet)
		note("%s: report: %s", diag_tool, page);
}

static int run_main(struct operands *in)
{
	const struct explain_options *opt = &explain_opt;
	struct session s = {.o = opt, .command = in->command};
	int explained = EXIT_FINE;
	explain_check();
	run_keep_signal();
	output_fail_writes(); /* and no output_watch_signals(): signals go to the command first */
	check_options(opt);
	child_signals(CHILD_SIGNALS_FORWARD);
	if (own.bisect)
		return bisect_run(in->command, own.keep, run_timeout_ms(own.timeout));
	set_up(&s);
	run_watched(&s);
	list_new(&s.traces, s.folder, &s.before);
	say_end(&s);
	run_again(&s);
	if (child_signal_count() > 1 && !(s.r.how == CHILD_EXITED && s.r.status == 0))
		finish_run(&s, EXIT_FINE); /* second signal: exit at once */
	if (s.traces.n || s.text_bytes)
		explained = explain_session(&s);
	if (s.traces.n && s.private && !strcmp(s.folder, s.private) && !opt->quiet && !opt->output)
		note("%s: the trace was not kept: pass --keep=DIR to keep it for tlparse or fxminify --graph", diag_tool);
	if (s.traces.n || s.text_bytes)
		show_page(opt, explained);
	finish_run(&s, explained);
}

const struct opt_command run_command = {
    .name = "run",
    .summary = "run a command under TORCH_TRACE and explain what happened",
    .about = "What happens when this program is compiled?",
    .example = {{"-- python app.py", "run it and explain it"},
		{"--html=page.html -- python app.py", "write a page, open it"},
		{"--max graph-breaks=8 -- python app.py", "fail CI on more breaks"}},
    .options = options,
    .footer = "COMMAND: the program with its arguments; the processes it starts are followed.",
    .more = "On a terminal, --html=FILE opens the page in a browser ($BROWSER, or xdg-open); tlparse is not needed.",
    .command = true,
    .need_command = true,
    .run = run_main,
};
