/* main.c - `fxexplain run`: runs a command under TORCH_TRACE and explains its logs and standard error.
 *
 * The command runs as if it were not watched: in the tool's process group, with the tool's standard input and output. Its standard
 * error goes through the tool, which passes it on at once and keeps a copy: through a pseudo terminal if the tool's own is a terminal
 * (so that the command still sees one), else through a pipe. The explanation runs in a separate process: whatever happens to it, the
 * command's status is passed on. */
#include "run/diagnose/settled.h"
#include "explain/explain.h"

#include "base/process/browser.h"
#include "base/process/child.h"
#include "base/process/orphans.h"
#include "base/tool/diag.h"
#include "base/tool/output.h"
#include "base/tool/tempfolder.h"
#include "report/bundle.h"
#include "run/bisect.h"
#include "run/kept/kept.h"
#include "run/recheck.h"
#include "run/tap.h"
#include "run/wrong.h"
#include "slow/slow.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static struct {
	bool bisect, wrong, recheck, no_recheck, no_keep, slow;
	const char *keep, *bundle;
	int timeout; /* seconds; 0: none */
} own;

static const struct opt options[] = {
    OPT_FLAG(0, "bisect", &own.bisect, "find the component that fails: dynamo, aot, inductor",
	     .more = "Runs the command with the backends eager, aot_eager and inductor in turn."),
    OPT_FLAG(0, "wrong", &own.wrong, "find why its numbers are wrong: a kernel, lost state",
	     .more =
		 "For a program whose own check of its numbers fails: bisects, verifies each kernel, compares what calls leave behind."),
    OPT_FLAG(0, "recheck", &own.recheck, "if it fails: run it again without torch.compile",
	     .more = "Sets TORCH_COMPILE_DISABLE=1 and compares the failures: does eager fail, too? Its output is not shown."),
    OPT_FLAG(0, "no-recheck", &own.no_recheck, "never run it again; do not ask", .rare = true),
    OPT_FLAG(0, "slow", &own.slow, "show where compile time went, as fxexplain slow does"),
    OPT_STRING(0, "keep", "DIR", &own.keep, "keep the traces and stderr in this new directory"),
    OPT_FLAG(0, "no-keep", &own.no_keep, "keep nothing of this run", .rare = true,
	     .more = "By default a run is kept in ~/.local/state/pt2utils/runs: the newest 50, at most 2 GB."),
    OPT_INT(0, "timeout", "SECONDS", &own.timeout, 0, 1 << 30, "stop the command after SECONDS"),
    OPT_STRING(0, "bundle", "FILE", &own.bundle, "write everything into one file, as report does"),
    OPT_END,
};

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

/* ---- the command ---- */

struct session {
	const struct explain_options *o;
	char *const *command;
	struct run_names before, traces;
	char *folder, *text; /* TORCH_TRACE, the copy of standard error */
	const char *private; /* removed at the end; NULL: kept */
	struct kept *kept;   /* NULL: not in the folder of runs */
	struct child_result r;
	uint64_t text_bytes;
	bool timed_out;
	off_t input; /* standard input: how far it was read */
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
	orphans_adopt();
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
		orphans_end(ORPHANS_OF_SESSION);
	tap_close(&tap, &set);
	s->text_bytes = tap.kept;
	child_free(&set, c);
}

/* ---- what eager did, for the explanation ---- */

static void add_runs(struct facts *f, const void *arg)
{
	const struct session *s = arg;
	recheck_tell(&s->again, &s->r, f);
}

static bool ended_well(const struct session *s) { return s->r.how == CHILD_EXITED && s->r.status == 0; }

static const char *folder_of(const struct session *s) { return s->private ? s->private : s->kept ? kept_folder(s->kept) : s->folder; }

/* Reads the inputs of the explanation: traces, then standard error. Returns how many. */
static int inputs_of(const struct session *s, const char **path)
{
	int n = 0;
	for (size_t i = 0; i < s->traces.n; i++)
		path[n++] = s->traces.v[i];
	if (s->text_bytes)
		path[n++] = s->text;
	return n;
}

/* ---- does eager fail, too? ---- */

static int wants_child(void *arg)
{
	const struct session *s = arg;
	FREED const char **path = xreallocarray(NULL, s->traces.n + 1, sizeof(*path));
	return recheck_wanted(s->o, path, inputs_of(s, path)) ? EXIT_FOUND : EXIT_FINE;
}

/* Is it not known which part failed? In a process of its own, like the explanation. */
static bool is_wanted(struct session *s)
{
	const char *const name[] = {diag_tool, NULL};
	struct child_result r;
	struct err err;
	struct child_spec spec = {.argv = name,
				  .function = wants_child,
				  .arg = s,
				  .same_group = true,
				  .die_with_parent = true,
				  .in.how = CHILD_NULL,
				  .out.how = CHILD_NULL,
				  .err.how = CHILD_NULL};
	if (child_run(&spec, &r, &err) < 0)
		return false;
	const bool wanted = r.how == CHILD_EXITED && r.status == EXIT_FOUND;
	child_result_release(&r);
	return wanted;
}

static void say_again(const struct session *s, const char *where)
{
	LOCAL_BUF b = {0};
	if (s->o->quiet)
		return;
	if (!s->again.ran) {
		note("%s: running it again with TORCH_COMPILE_DISABLE=1%s", diag_tool, where);
		return;
	}
	child_describe(&s->again.r, &b);
	note("%s: without torch.compile: '%s' %s after %.1f s", diag_tool, s->command[0], buf_str(&b), (double)s->again.r.wall_ns / 1e9);
}

/* Of a command that failed by itself: when it was asked for; on a terminal, when the answer is yes; by itself, where nothing that it does
 * can last, and nothing was taken from it that it would need again. */
static void run_again(struct session *s)
{
	struct cowview *view = NULL;
	struct err err;
	char *stage = NULL;
	if (own.no_recheck || s->timed_out || child_signalled() || ended_well(s))
		return;
	const bool may = own.recheck || (s->traces.n && recheck_may(&s->r, &s->traces) && is_wanted(s));
	if (!may || (!own.recheck && recheck_asks(s->o) && !recheck_ask(s->command[0], &s->r)))
		return;
	if (!own.recheck && !recheck_asks(s->o)) {
		stage = recheck_unread(s->input) ? temp_folder(TEMP_RUN, &err) : NULL;
		view = stage ? cowview_new(stage, &err) : NULL;
		if (!view) {
			temp_folder_remove(stage);
			return;
		}
	}
	s->again_text = xasprintf("%s/eager.txt", folder_of(s));
	say_again(s, view ? ", on a copy-on-write view of the files and without network (--no-recheck: never)" : "");
	recheck_run(&s->again, s->command, s->again_text, view ? RECHECK_ALONE_MS : run_timeout_ms(own.timeout), view);
	cowview_free(view);
	temp_folder_remove(stage);
	if (s->again.ran)
		say_again(s, "");
}

/* ---- the explanation, continued ---- */

/* The document of a kept run. */
static void write_document(const struct session *s, const struct explanation *x, const struct explain_options *opt)
{
	LOCAL_BUF b = {0};
	struct explain_options o = *opt;
	struct err err;
	FREED char *path = xasprintf("%s/" KEPT_DOCUMENT, kept_folder(s->kept));
	o.show = 0;
	emit_json(&b, x, &o);
	if (output_write(path, &(struct slice){b.p, b.len}, 1, &err) < 0)
		warn("%s", err.text);
}

static struct session *of_child;

static bool emit_more(const struct explanation *x, const struct explain_options *opt)
{
	if (of_child->kept)
		write_document(of_child, x, opt);
	if (own.bundle)
		pack_bundle(x, opt, &(struct report_options){.bundle = own.bundle});
	return own.slow && slow_emit(x, opt);
}

static int explain_child(void *arg)
{
	struct session *s = of_child = arg;
	struct explain_options o = *s->o;
	FREED const char **path = xreallocarray(NULL, s->traces.n + 1, sizeof(*path));
	int n = inputs_of(s, path);
	o.folder = folder_of(s);
	o.folder_kept = s->private == NULL;
	o.command = (const char *const *)s->command;
	o.has_status = true;
	o.add = add_runs;
	o.add_arg = s;
	o.status = s->r.sig ? -s->r.sig : s->r.status;
	o.emit = emit_more;
	o.keep_graphs = own.bundle != NULL || own.slow;
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
	LOCAL_BUF b = {0}, limits = {0};
	if (s->o->quiet)
		return;
	child_describe(&s->r, &b);
	const char *kept = s->private || !s->traces.n ? NULL : folder_of(s);
	if (kept && s->kept && !own.keep)
		buf_addf(&limits, " (newest %d runs, at most 2 GB)", KEPT_RUNS);
	note("%s: '%s' %s after %.1f s; %zu trace%s%s%s%s", diag_tool, s->command[0], buf_str(&b), (double)s->r.wall_ns / 1e9, s->traces.n,
	     plural(s->traces.n), kept ? ", kept in " : "", kept ? own.keep ? s->folder : kept : "", buf_str(&limits));
	if (!s->traces.n)
		note("%s: no trace was written: torch was not imported, is older than 2.2 (no TORCH_TRACE), or nothing was compiled",
		     diag_tool);
}

/* Where the trace goes: --keep, the program's own TORCH_TRACE, the folder of this run. */
static void set_up(struct session *s)
{
	const char *asked = getenv("TORCH_TRACE");
	struct err err;
	if (!own.no_keep && !(s->kept = kept_begin("fxexplain run", (const char *const *)s->command, &err)) && !own.keep && !s->o->quiet)
		note("%s: this run is not kept: %s", diag_tool, err.text);
	if (own.keep)
		s->folder = run_kept_folder(own.keep);
	else if (!s->kept)
		s->private = run_private_folder();
	if (!s->folder)
		s->folder = xstrdup(asked && *asked ? asked : folder_of(s));
	s->text = xasprintf("%s/" KEPT_STDERR, own.keep ? s->folder : folder_of(s));
	run_list(&s->before, s->folder);
	s->input = lseek(STDIN_FILENO, 0, SEEK_CUR);
}

/* A run without a trace and without a word is not worth a place. */
static void end_kept(struct session *s)
{
	FREED const char **path = xreallocarray(NULL, s->traces.n + 1, sizeof(*path));
	FREED char *cwd = realpath(".", NULL);
	struct kept_result r = {.seconds = (double)s->r.wall_ns / 1e9, .status = s->r.status, .sig = s->r.sig, .traces = path};
	OWNED(arena_release) struct arena a = {0};
	for (size_t i = 0; i < s->traces.n; i++)
		path[r.n_traces++] = *s->traces.v[i] == '/' ? s->traces.v[i] : arena_textf(&a, "%s/%s", cwd ? cwd : ".", s->traces.v[i]).p;
	kept_end(s->kept, s->traces.n || s->text_bytes ? &r : NULL);
	s->kept = NULL;
}

/* The command's own status, or, if that is 0, the status of the explanation. */
static _Noreturn void finish_run(struct session *s, int explained_status)
{
	bool fine = ended_well(s);
	bool nothing = !s->traces.n;
	end_kept(s);
	run_remove_folder();
	run_names_release(&s->before);
	run_names_release(&s->traces);
	free(s->folder);
	free(s->text);
	free(s->again_text);
	if (explained_status < 0) { /* a signal while explaining */
		struct child_result r = {.how = CHILD_SIGNALED, .sig = child_signalled() ? child_signalled() : SIGINT};
		child_exit_like(&r);
	}
	if (s->timed_out && !s->r.sig && s->r.status == 0)
		exit(EXIT_FOUND);
	if (!fine)
		child_exit_like(&s->r);
	exit(explained_status == EXIT_FINE && nothing ? EXIT_ENVIRON : explained_status);
}

static void check_options(const struct explain_options *o)
{
	const char *what = o->json ? "--json" : o->sarif ? "--sarif" : o->html && !*o->html ? "--html" : NULL;
	if (own.recheck && own.bisect)
		die(EXIT_USAGE, "--recheck conflicts with --bisect, which runs the command without torch.compile, too");
	if (own.recheck && own.no_recheck)
		die(EXIT_USAGE, "--recheck conflicts with --no-recheck");
	if (own.keep && own.no_keep)
		die(EXIT_USAGE, "--keep conflicts with --no-keep");
	if (own.wrong && (own.bisect || own.recheck))
		die(EXIT_USAGE, "--wrong conflicts with --bisect and --recheck, which it does, too");
	if (own.wrong && own.no_keep)
		die(EXIT_USAGE, "--wrong keeps the graph at fault and its inputs: it conflicts with --no-keep");
	if (own.slow && (own.wrong || own.bisect || o->sarif || o->github || o->html))
		die(EXIT_USAGE, "--slow conflicts with --wrong, --bisect, --sarif, --github and --html");
	if (what && !o->output && !own.bisect && !own.wrong)
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
	int status = EXIT_FINE;
	explain_check();
	settled(&explain_opt.max, &explain_opt.patterns);
	run_keep_signal();
	output_fail_writes(); /* and no output_watch_signals(): signals go to the command first */
	check_options(opt);
	child_signals(CHILD_SIGNALS_FORWARD);
	if (own.wrong)
		return wrong_run(in->command, own.keep, run_timeout_ms(own.timeout));
	if (own.bisect)
		return bisect_run(in->command, own.keep, !own.no_keep, run_timeout_ms(own.timeout));
	set_up(&s);
	run_watched(&s);
	list_new(&s.traces, s.folder, &s.before);
	say_end(&s);
	run_again(&s);
	if (child_signal_count() > 1 && !(s.r.how == CHILD_EXITED && s.r.status == 0))
		finish_run(&s, EXIT_FINE); /* second signal: exit at once */
	if (s.traces.n || s.text_bytes) {
		status = explain_session(&s);
		show_page(opt, status);
	}
	finish_run(&s, status);
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
