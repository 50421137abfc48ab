/* main.c - `replay`: shows what a bundle holds and what can be run from it. Nothing runs before it was shown and confirmed. */
#include "run/diagnose/settled.h"
#include "replay/replay.h"

#include "base/process/child.h"
#include "base/text.h"
#include "watch/bundle.h"
#include "run/run_part.h"
#include "base/tool/diag.h"
#include "base/tool/parts.h"
#include "base/tool/output.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ARGS = 64, SHOWN_LINES = 60 };
enum replay_what { REPLAY_PROGRAM, REPLAY_MINIFY, REPLAY_NANASSERT, REPLAY_PRINTER, REPLAY_VERIFY, REPLAY_N };
static const char *const replay_tools[] = {"program", "fxminify", "aoti-nanassert", "aoti-printer", "aoti-verify", NULL};

static struct {
	bool run;
	int tool;           /* -1: the first that the bundle has input for */
	const char *python; /* NULL: PT2_PYTHON, or python3 */
	const char *keep;
	int timeout; /* seconds; 0: none */
} own = {.tool = -1};

static const struct opt options[] = {
    OPT_FLAG(0, "run", &own.run, "run everything that can be run, without asking"),
    OPT_CHOICE(0, "tool", "TOOL", &own.tool, replay_tools, "run only this tool, e.g. fxminify"),
    OPT_STRING(0, "keep", "DIR", &own.keep, "unpack into this new directory and keep it"),
    OPT_STRING(0, "python", "PROGRAM", &own.python, "use this Python with torch", .more = "Default: $PT2_PYTHON, or python3."),
    OPT_INT(0, "timeout", "SECONDS", &own.timeout, 0, 1 << 30, "stop what is run after SECONDS"),
    OPT_END,
};
static const struct opt_rule rules[] = {
    {.of = "json",
     .with = "run tool keep html",
     .text = "replay --json shows the manifest and cannot be combined with --run, --tool, --keep or --html"},
    {0},
};

struct replay {
	const struct explain_options *o;
	struct bundle b;
	const char *path;
	char *folder; /* where the bundle is unpacked */
	struct arena arena;
};

/* A command line; v[0] is the tool's name. n 0: the bundle has nothing for it. */
struct plan {
	const char *v[ARGS];
	size_t n;
};

/* Commands run in that folder, and name files as the bundle does. */
static const char *keep_word(struct replay *r, struct slice name) { return arena_strndup(&r->arena, name.p, name.n); }

static const char *inner_path(struct replay *r, struct slice name) { return arena_textf(&r->arena, "%s/%.*s", r->folder, SL(name)).p; }

/* ---- what can be run ---- */

static void add_word(struct plan *p, const char *word)
{
	if (p->n < ARGS - 1)
		p->v[p->n++] = word;
}

static void add_all(struct replay *r, struct plan *p, enum bundle_kind kind)
{
	for (size_t i = 0; i < r->b.n; i++)
		if (r->b.file[i].kind == kind)
			add_word(p, keep_word(r, r->b.file[i].name));
}

/* A folder made by aoti-printer --record: run/NAME, or run/NAME/bundle.m0.r1. */
static const char *recorded(struct replay *r)
{
	const struct bundle_file *f = bundle_find(&r->b, BUNDLE_RUN);
	if (!f)
		return NULL;
	const char *slash = slice_chr(slice_of(f->name.p + 4, f->name.n - 4), '/');
	return keep_word(r, slash ? slice_of(f->name.p, (size_t)(slash - f->name.p)) : f->name);
}

/* The same, if it is the run of a torch.compile graph with its values: it contains torch's program. */
static const char *recorded_graph(struct replay *r)
{
	for (size_t i = 0; i < r->b.n; i++)
		if (r->b.file[i].kind == BUNDLE_RUN && slice_ends(r->b.file[i].name, "/" BUNDLE_MODEL "/" BUNDLE_RUNNABLE))
			return recorded(r);
	return NULL;
}

/* A graph from a log, with everything torch logged about it; else the text that was kept. */
static void plan_minify(struct replay *r, struct plan *p)
{
	const struct bundle_file *graph = bundle_find(&r->b, BUNDLE_GRAPH), *trace = bundle_find(&r->b, BUNDLE_TRACE);
	struct slice id = graph ? slice_until(graph->about, ":") : SLICE("");
	const char *run = recorded_graph(r);
	if (!run && (!graph || (!trace && !graph->name.n)))
		return;
	add_word(p, "fxminify");
	add_word(p, "--no-journal");
	add_word(p, "--python");
	add_word(p, replay_python(own.python));
	add_word(p, "-o");
	add_word(p, own.keep ? "minified.py" : "-");
	if (run) {
		add_word(p, run);
		return;
	}
	if (trace && id.n) {
		add_word(p, "--graph");
		add_word(p, keep_word(r, id));
	}
	add_word(p, keep_word(r, trace && id.n ? trace->name : graph->name));
}

static void plan_model(struct replay *r, struct plan *p, enum replay_what what)
{
	const struct bundle_file *package = bundle_find(&r->b, BUNDLE_PACKAGE), *exported = bundle_find(&r->b, BUNDLE_EXPORTED);
	const char *run = recorded(r);
	if (what == REPLAY_VERIFY ? !package || !exported : !package && !run)
		return;
	add_word(p, replay_tools[what]);
	if (what == REPLAY_VERIFY)
		add_word(p, keep_word(r, exported->name));
	if (!package) {
		add_word(p, run);
		return;
	}
	add_word(p, keep_word(r, package->name));
	add_all(r, p, BUNDLE_INPUTS);
}

static void plan_for(struct replay *r, enum replay_what what, struct plan *p)
{
	const struct bundle_file *program = bundle_find(&r->b, BUNDLE_PROGRAM);
	*p = (struct plan){.n = 0};
	if (what == REPLAY_MINIFY) {
		plan_minify(r, p);
	} else if (what != REPLAY_PROGRAM) {
		plan_model(r, p, what);
	} else if (program) {
		add_word(p, replay_python(own.python));
		add_word(p, keep_word(r, program->name));
		for (size_t i = 0; i < r->b.about.n_argument; i++)
			add_word(p, keep_word(r, r->b.about.argument[i]));
	}
	p->v[p->n] = NULL;
}

/* ---- what a bundle holds ---- */

static void put_words(struct screen *s, const struct plan *p, size_t from, int indent)
{
	LOCAL_BUF line = {0};
	buf_add_command(&line, (const char *const *)p->v);
	put_text_line(s, "", buf_slice(&line));
	put_wraps(s, from, indent);
}

static void put_fact(struct screen *s, const char *what, struct slice text)
{
	if (!text.n)
		return;
	buf_addf(&s->b, "%-12s", what);
	put_text_line(s, "", text);
}

static void put_head(struct screen *s, const struct replay *r)
{
	const struct bundle_about *a = &r->b.about;
	LOCAL_BUF t = {0};
	put_bold(s, r->path);
	buf_addf(&s->b, ": %zu file%s%s\n", r->b.n, plural(r->b.n), a->redacted ? ", redacted" : "");
	put_fact(s, "failure", a->title);
	put_fact(s, "component", a->component);
	buf_addf(&t, "%.*s%s%.*s%s%.*s", SL(a->torch), a->python.n ? ", Python " : "", SL(a->python), a->cuda.n ? ", CUDA " : "",
		 SL(a->cuda));
	put_fact(s, "torch", buf_slice(&t));
	put_fact(s, "made by", a->generator);
	for (size_t i = 0; i < a->n_env; i++) {
		buf_reset(&t);
		buf_addf(&t, "%.*s=%.*s", SL(a->env[i].name), SLN(a->env[i].value, 200));
		put_fact(s, i ? "" : "environment", buf_slice(&t));
	}
	buf_addc(&s->b, '\n');
	buf_reset(&t);
	buf_adds(&t, "file\tkind\tsize\t\n");
	for (size_t i = 0; i < r->b.n && i < 40; i++) {
		const struct bundle_file *f = &r->b.file[i];
		buf_addf_clean(&t, "%.*s", SL(f->name));
		buf_addf(&t, "\t%s\t", bundle_kind_name[f->kind]);
		put_bytes(&t, f->bytes);
		buf_addf(&t, "\t%s\n", f->made_up ? "generated" : "");
	}
	put_table(s, buf_slice(&t));
	if (r->b.n > 40)
		buf_addf(&s->b, "and %zu more\n", r->b.n - 40);
	buf_addc(&s->b, '\n');
}

static void put_plans(struct screen *s, struct replay *r)
{
	struct plan p;
	unsigned n = 0;
	for (int i = 0; i < REPLAY_N; i++) {
		plan_for(r, (enum replay_what)i, &p);
		if (!p.n)
			continue;
		if (!n++)
			buf_adds(&s->b, "\nWhat can be run from it (nothing has been run yet):\n");
		const size_t from = s->b.len;
		buf_addf(&s->b, "  %-16s", replay_tools[i]);
		put_words(s, &p, from, 18);
	}
	if (n)
		buf_adds(&s->b, "This is code from the bundle. Read it first: replay --keep DIR. Run it: replay --run [--tool TOOL]\n");
	else
		buf_adds(&s->b, "\nIt contains nothing that can be run.\n");
}

/* Explains the logs of the bundle as fxexplain itself does; --html writes the page. */
static int explain_logs(struct replay *r)
{
	FREED const char **path = xcalloc(r->b.n + 1, sizeof(*path));
	int n = 0;
	struct explain_options o = *r->o;
	for (size_t i = 0; i < r->b.n; i++)
		if (r->b.file[i].kind == BUNDLE_TRACE ||
		    (r->b.file[i].kind == BUNDLE_TEXT && !slice_starts(r->b.file[i].name, DEBUG_FOLDER "/")))
			path[n++] = inner_path(r, r->b.file[i].name);
		else if (r->b.file[i].kind == BUNDLE_TEXT && (!n || !strstr(path[n - 1], DEBUG_FOLDER)))
			path[n++] = inner_path(r, SLICE(DEBUG_FOLDER));
	o.folder = r->folder;
	return n ? explain_paths(&o, path, n) : EXIT_FINE;
}

/* ---- ask, then run ---- */

static void put_program(struct screen *s, struct replay *r)
{
	const struct bundle_file *f = bundle_find(&r->b, BUNDLE_PROGRAM);
	OWNED(mapfile_close) struct mapfile m = {0};
	struct slice line;
	unsigned n = 0;
	if (!f || mapfile_open(&m, inner_path(r, f->name), NULL) < 0)
		return;
	struct slice rest = m.bytes;
	while (slice_line(&rest, &line))
		if (n++ < SHOWN_LINES)
			put_text_line(s, "    | ", slice_of(line.p, line.n < 200 ? line.n : 200));
	if (n > SHOWN_LINES)
		buf_addf(&s->b, "    | (and %u lines more)\n", n - SHOWN_LINES);
}

static bool yes(void)
{
	char answer[16] = "";
	size_t n = 0;
	char c;
	struct err err;
	static const char question[] = "run it? [y/N] ";
	(void)write_all(STDERR_FILENO, question, sizeof(question) - 1, "the terminal", &err);
	while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
		if (n < sizeof(answer) - 1)
			answer[n++] = c;
	return !strcmp(answer, "y") || !strcmp(answer, "Y") || !strcmp(answer, "yes");
}

/* The tools inspect what they run, and confine what they run themselves. */
static int run_tool(struct replay *r, struct plan *p, enum replay_what what)
{
	struct child_result result;
	struct err err;
	FREED char *tool = tool_or_die(p->v[0]);
	p->v[0] = tool;
	FREED char *python = xasprintf("PT2_PYTHON=%s", replay_python(own.python)); /* the Python that runs a graph */
	const char *const set[] = {python, NULL};
	struct child_spec spec = {
	    .argv = p->v, .timeout_ms = run_timeout_ms(own.timeout), .die_with_parent = true, .cwd = r->folder, .env_set = set};
	if (child_run(&spec, &result, &err) < 0)
		die_err(&err);
	bool ended = result.how == CHILD_EXITED;
	int status = result.status;
	LOCAL_BUF b = {0};
	child_describe(&result, &b);
	note("%s: %s %s", diag_tool, replay_tools[what], buf_str(&b));
	child_result_release(&result);
	if (!ended)
		return EXIT_PARTIAL;
	if (what == REPLAY_PRINTER)
		return status;
	const int fails = what == REPLAY_MINIFY ? EXIT_FINE : EXIT_FOUND; /* a reduced graph; a finding */
	const int fine = what == REPLAY_MINIFY ? EXIT_FOUND : EXIT_FINE;
	return status == fails ? EXIT_FINE : status == fine ? EXIT_FOUND : status;
}

static int ask_and_run(struct replay *r)
{
	struct plan p = {.n = 0};
	int what = own.tool;
	if (what >= 0)
		plan_for(r, (enum replay_what)what, &p);
	else
		while (!p.n && ++what < REPLAY_N)
			plan_for(r, (enum replay_what)what, &p);
	if (!p.n)
		die(EXIT_USAGE, "'%s' has nothing for %s", r->path, own.tool < 0 ? "any tool" : replay_tools[own.tool]);
	const bool terminal = isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
	struct screen s = screen_make();
	buf_addf(&s.b, "\nThis code from the bundle %s run:\n", own.run ? "is" : "would be");
	const size_t from = s.b.len;
	buf_adds(&s.b, "    ");
	put_words(&s, &p, from, 6);
	if (what == REPLAY_PROGRAM)
		put_program(&s, r);
	explain_write(&s, NULL);
	if (!own.run && !terminal) {
		note("%s: nothing was run: pass --run to run it", diag_tool);
		return EXIT_FINE;
	}
	if (!own.run && !yes())
		return EXIT_FINE;
	return what == REPLAY_PROGRAM ? replay_program(&r->b, r->folder, own.python, run_timeout_ms(own.timeout))
				      : run_tool(r, &p, (enum replay_what)what);
}

static int replay_main(struct operands *in)
{
	const struct explain_options *opt = &explain_opt;
	struct replay r = {.o = opt, .path = in->v[0]};
	struct err err;
	explain_check();
	settled(&explain_opt.max, &explain_opt.patterns);
	output_fail_writes();
	child_signals(CHILD_SIGNALS_KILL);
	if (bundle_open(&r.b, r.path, &err) < 0)
		die_err(&err);
	if (opt->json) {
		struct screen s = explain_screen(opt->output);
		buf_add_slice(&s.b, r.b.manifest);
		explain_write(&s, opt->output);
		bundle_close(&r.b);
		return EXIT_FINE;
	}
	r.folder = own.keep ? run_kept_folder(own.keep) : xstrdup(run_private_folder());
	if (bundle_extract(&r.b, r.folder, &err) < 0)
		die_err(&err);
	const bool asked = own.run || own.tool >= 0 || (isatty(STDIN_FILENO) && isatty(STDERR_FILENO) && isatty(STDOUT_FILENO));
	int status = EXIT_FINE;
	if (!opt->html) {
		struct screen s = screen_make();
		put_head(&s, &r);
		explain_write(&s, NULL);
	}
	status = explain_logs(&r);
	if (!opt->html) {
		struct screen s = screen_make();
		put_plans(&s, &r);
		explain_write(&s, NULL);
	}
	if (asked && (own.run || own.tool >= 0 || !opt->html))
		status = ask_and_run(&r);
	if (own.keep)
		note("%s: unpacked into %s", diag_tool, own.keep);
	else
		run_remove_folder();
	bundle_close(&r.b);
	arena_release(&r.arena);
	free(r.folder);
	return status;
}

const struct opt_command replay_command = {
    .name = "replay",
    .summary = "show and run again what report --bundle wrote",
    .about = "What is in this bundle, and does it fail here, too?",
    .example = {{"x.pt2b", "show what it holds"}, {"--keep unpacked x.pt2b", "unpack it"}, {"--json x.pt2b", "write the manifest"}},
    .options = options,
    .rules = rules,
    .operands = "BUNDLE",
    .footer = "The code in BUNDLE runs only after you agree: on a terminal, or by --run.",
    .more = "Exit status: 0 it was shown, or fails as it did; 1 it does not fail like that here.",
    .min = 1,
    .max = 1,
    .run = replay_main,
};
