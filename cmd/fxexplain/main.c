/* fxexplain - what went wrong in this compilation, where, what did it cost, and what next? */
#include "fxexplain.h"
#include "bundle.h"

#include "run/diagnose/limits.h"
#include "run/diagnose/locate.h"

#include "base/tool/diag.h"
#include "base/io/mapfile.h"
#include "base/tool/output.h"

#include <unistd.h>

static struct explain_options opt = {.tool = -1};

static const char *const part_name[] = {
#define X(id, name) name,
    EXPLAIN_PARTS(X)
#undef X
};

/* --show breaks,guards */
static int add_parts(void *target, const char *value, struct err *err)
{
	uint64_t *show = target;
	for (const char *p = value; *p;) {
		size_t n = strcspn(p, ","), i = 0;
		while (i < PARTS && !slice_is(slice_of(p, n), part_name[i]))
			i++;
		if (i == PARTS && !slice_is(slice_of(p, n), "all"))
			return err_set(err, EXIT_USAGE,
				       "unknown section '%.*s': use breaks, recompiles, shapes, times, caches, errors, graphs, "
				       "guards, metrics, cudagraphs, all",
				       (int)n, p);
		*show |= i == PARTS ? (1ull << PARTS) - 1 : 1ull << i;
		p += n + (p[n] == ',');
	}
	return 0;
}

static const struct opt options[] = {
    OPT_HEADING("What to write"),
    OPT_FLAG('a', "all", &opt.all, "everything that was found, not a screen of it"),
    OPT_CALL(0, "show", "PART", add_parts, &opt.show,
	     "these parts whole: breaks, recompiles, shapes, times, caches, errors, graphs, guards, "
	     "metrics, cudagraphs (several with commas)"),
    OPT_FLAG(0, "json", &opt.json, "one JSON document"),
    OPT_FLAG(0, "sarif", &opt.sarif, "the findings as SARIF 2.1.0"),
    OPT_FLAG(0, "github", &opt.github, "the findings as annotations of GitHub Actions"),
    OPT_STRING(0, "html", "[=FILE]", &opt.html, "one self-contained HTML page, to FILE or standard output"),
    OPT_STRING('o', "output", "FILE", &opt.output, "write to FILE"),
    OPT_HEADING("For CI"),
    OPT_PAIRS(0, "max", "NAME=N", &opt.max, "exit with 1 when there are more: graph-breaks=0, recompiles=3, compile-seconds=60, ..."),
    OPT_STRING(0, "baseline", "FILE", &opt.baseline, "exit with 1 when something is worse than in this document of --json"),
    OPT_HEADING("What to look at"),
    OPT_STRING(0, "function", "NAME", &opt.function, "only the frames of this function"),
    OPT_STRING(0, "model", "NAME", &opt.model, "one of several models of a package"),
    OPT_STRING(0, "patterns", "DIR", &opt.patterns, "a folder of known errors beside the built-in ones"),
    OPT_HEADING("Other"),
    OPT_FLAG('q', "quiet", &opt.quiet, "no notes beside the answer, no warnings about damage"),
    OPT_END,
};

static const struct opt report_options[] = {
    OPT_FLAG(0, "redact", &opt.redact, "leave out paths, host and user names"),
    OPT_STRING(0, "repro", "FILE", &opt.repro, "put this program in as the minimal reproduction"),
    OPT_STRING(0, "bundle", "FILE", &opt.bundle, "all of it in one file to hand over: this text, logs, graphs, findings, program"),
    OPT_LIST(0, "with", "FILE", &opt.with, "in the bundle, too: a package, an exported program, inputs, a folder of aoti-printer --record"),
    OPT_END,
};
static const struct opt fix_options[] = {
    OPT_FLAG(0, "apply", &opt.apply, "make the changes; each file as it was is kept beside it, as FILE.orig"),
    OPT_STRING(0, "root", "DIR", &opt.root, "where the program's files are; diffs are relative to it (default: this folder)"),
    OPT_STRING(0, "only", "TEXT", &opt.only, "only fixes in which TEXT stands: one of several for a finding"),
    OPT_END,
};
static const struct opt cache_options[] = {
    OPT_LIST(0, "trace", "LOG", &opt.trace,
	     "a trace of the program: what a new run of it would find in DIR, and why not; may be given again"),
    OPT_FLAG(0, "prune", &opt.prune, "show what can be removed: what is broken, or left by writes that were cut off"),
    OPT_INT(0, "older-than", "DAYS", &opt.older, 1, 36500, "with --prune: entries and code of that age, too"),
    OPT_FLAG(0, "apply", &opt.apply, "with --prune: remove it"),
    OPT_END,
};
static const struct opt serve_options[] = {
    OPT_STRING(0, "root", "DIR", &opt.root, "where the program's files are (default: where the trace has them, else below this folder)"),
    OPT_END,
};
static const struct opt run_options[] = {
    OPT_FLAG(0, "bisect", &opt.bisect, "run it with the backends eager, aot_eager and inductor in turn: which component fails"),
    OPT_STRING(0, "keep", "DIR", &opt.keep, "keep the traces and the standard error in this new folder"),
    OPT_INT(0, "timeout", "SECONDS", &opt.timeout, 0, 1 << 30, "end the command after this time"),
    OPT_STRING(0, "bundle", "FILE", &opt.bundle, "all that is known of it in one file to hand over, as report --bundle writes it"),
    OPT_END,
};
static const struct opt replay_options[] = {
    OPT_FLAG(0, "run", &opt.run, "run what can be run, without asking"),
    OPT_CHOICE(0, "tool", "TOOL", &opt.tool, replay_tools, "run this: program, fxminify, aoti-nanassert, aoti-printer, aoti-verify"),
    OPT_STRING(0, "keep", "DIR", &opt.keep, "unpack it into this new folder, which stays"),
    OPT_STRING(0, "python", "PROGRAM", &opt.python, "the Python with torch (default: $PT2_PYTHON, python3)"),
    OPT_INT(0, "timeout", "SECONDS", &opt.timeout, 0, 1 << 30, "end what is run after this time"),
    OPT_END,
};
static const struct opt_rule report_rules[] = {
    {.of = "bundle", .with = "json sarif github html output", .text = "report --bundle writes that file alone"},
    {0},
};
static const struct opt_rule replay_rules[] = {
    {.of = "json", .with = "run tool keep html", .text = "replay --json shows the manifest, and does nothing else"},
    {0},
};

static const struct opt_command commands[] = {
    {.name = "kernel",
     .summary = "one kernel: its text, IR, FX nodes and Python lines",
     .operands = "[NAME] INPUT...",
     .footer =
	 "NAME is a kernel, an FX node, a node of the IR (buf3) or FILE:LINE of the program; without it all kernels are listed.\n"
	 "INPUT is a trace, a torch_compile_debug folder, a package of AOTInductor or an output_code.py; a text with a compiler's error\n"
	 "besides has its line mapped.",
     .min = 1,
     .max = -1},
    {.name = "profile",
     .summary = "where the time went: torch.profiler traces, eager against compiled",
     .operands = "PROFILE...",
     .footer =
	 "PROFILE is what prof.export_chrome_trace() of torch.profiler wrote: one, or eager and compiled in any order. A trace, a debug\n"
	 "folder or a package besides says which nodes and lines a kernel is made of.",
     .min = 1,
     .max = -1},
    {.name = "crash",
     .summary = "a backtrace or core file mapped to the model's lines, kernels and nodes",
     .operands = "INPUT...",
     .footer = "INPUT is a text with a backtrace, or one core file, and the packages of the models, in any order.",
     .min = 1,
     .max = -1},
    {.name = "fix",
     .summary = "the fixes that are changes of a line, as a diff against the program",
     .options = fix_options,
     .operands = "INPUT...",
     .footer = "INPUT is what fxexplain itself takes; the files of the program are found by its paths, or below --root.",
     .min = 1,
     .max = -1},
    {.name = "report",
     .summary = "the text of an issue for PyTorch, or all of it in one file",
     .options = report_options,
     .rules = report_rules,
     .operands = "[INPUT...]",
     .footer = "INPUT is what the issue is about: a trace, a torch_compile_debug folder, a text; as for fxexplain itself.",
     .min = 0,
     .max = -1},
    {.name = "cache",
     .summary = "a folder of compile caches: what is in it, what a run would find there, what can go",
     .options = cache_options,
     .operands = "DIR [DIR]",
     .footer =
	 "DIR is what TORCHINDUCTOR_CACHE_DIR names (default: /tmp/torchinductor_USER), or vLLM's torch_compile_cache; of a second\n"
	 "folder it is said what the first lacks, and in what keys differ. Nothing is executed, nothing removed unless --apply is given.",
     .min = 1,
     .max = 2},
    {.name = "serve",
     .summary = "for editors: findings at the lines of the program, by the Language Server Protocol",
     .options = serve_options,
     .operands = "INPUT...",
     .footer =
	 "INPUT is a folder that TORCH_TRACE names, of which the log written last counts, or what else fxexplain takes; it need not be\n"
	 "there yet, and is read anew whenever it is another. An editor starts this, and talks to it over standard input and output.",
     .min = 1,
     .max = -1},
    {.name = "run",
     .summary = "run a command under TORCH_TRACE and explain what happened",
     .options = run_options,
     .operands = NULL,
     .footer = "COMMAND is the program as it is started without this, with its arguments; what it starts is followed, too.\n"
	       "With --html=FILE the page opens in a browser on a terminal ($BROWSER, else xdg-open); tlparse need not be run behind it.",
     .command = true,
     .need_command = true},
    {.name = "replay",
     .summary = "what report --bundle wrote: the page, and what can be run of it",
     .options = replay_options,
     .rules = replay_rules,
     .operands = "BUNDLE",
     .footer = "What is run is code out of the bundle. It is shown, and asked about on a terminal; elsewhere it needs --run.\n"
	       "Exit status: 0 it was shown, or fails as it did; 1 it does not fail so here.",
     .min = 1,
     .max = 1},
    {0},
};
static const struct opt_spec spec = {
    .tool = "fxexplain",
    .about = "Say what went wrong in a torch.compile or AOTInductor run, where, what it cost, and what to do next.",
    .footer = "INPUT is a structured trace (TORCH_TRACE) or a folder of them, a torch_compile_debug folder, a text (TORCH_LOGS,\n"
	      "a program's stderr, a pasted message), plain or .gz, or - for standard input.",
    .options = options,
    .operands = "INPUT...",
    .min = 1,
    .max = -1,
    .commands = commands,
};

static bool is_file(const char *path) { return path && *path && strcmp(path, "-"); }

struct screen explain_screen(const char *path)
{
	struct screen s = screen_make();
	if (is_file(path))
		s.width = 0, s.color = false;
	return s;
}

void explain_write(struct screen *s, const char *path)
{
	struct err err = {.text = ""};
	if ((is_file(path) ? screen_save(s, path, &err) : screen_flush(s, &err)) < 0 && err.text[0])
		die_err(&err);
	buf_release(&s->b);
}

static void emit(const struct explanation *x, struct page *page, const struct explain_options *o)
{
	struct err err = {.text = ""};
	if (o->bundle)
		pack_bundle(x, o);
	if (o->bundle && o->report)
		return;
	if (page) {
		if (page_write(page, x, &err) < 0 && err.text[0])
			die_err(&err);
		page_free(page);
		return;
	}
	struct screen s = explain_screen(o->output);
	if (o->report)
		emit_report(&s.b, x, o);
	else if (o->json)
		emit_json(&s.b, x, o);
	else if (o->sarif)
		emit_sarif(&s.b, x, o);
	else if (o->github)
		emit_github(&s.b, x, o);
	else
		emit_terminal(&s, x, o);
	explain_write(&s, o->output);
}

int explain_paths(const struct explain_options *o, const char *const *path, int n)
{
	struct err err;
	OWNED(report_release) struct report r = {0};
	struct facts *f = &r.facts;
	struct explanation x;
	struct page *page = NULL;
	unsigned lost = 0, worse = 0;
	facts_init(f);
	if (o->html && !(page = page_new(&r, *o->html ? o->html : o->output, true, &err)))
		die_err(&err);
	if (n && load_operands(f, page, o, path, n, &lost, &err) < 0)
		die_err(&err);
	for (uint32_t i = 0; o->folder && i < f->n_input; i++) /* of `run`: names that the user does not know */
		f->input[i].path = run_input_name(f, f->input[i].path, o->folder);
	if (o->function && !facts_only_function(f, o->function))
		die(EXIT_INPUT, "no frame of a function '%s' was compiled", o->function);
	explain_located(&x, f);
	if (o->baseline && baseline_compare(&x, o, &worse, &err) < 0)
		die_err(&err);
	emit(&x, page, o);
	worse += limits_exceeded(&x, &o->max);
	bool blind = !worse && limits_blind(&x, &o->max);
	explanation_release(&x);
	return lost ? EXIT_INPUT : worse ? EXIT_FOUND : blind ? EXIT_PARTIAL : EXIT_FINE;
}

static const struct {
	const char *name;
	int (*run)(const struct explain_options *opt, const struct operands *in);
} mains[] = {
    {"kernel", kernel_main}, {"profile", profile_main}, {"crash", crash_main}, {"fix", fix_main},
    {"cache", cache_main},   {"serve", serve_main},     {"run", run_main},     {"replay", replay_main},
};

int main(int argc, char **argv)
{
	struct operands in;
	opt_parse_or_exit(&spec, argc, argv, &in);
	mapfile_watch();
	const char *sub = in.sub ? in.sub->name : "";
	opt.report = !strcmp(sub, "report");
	if (opt.report + opt.json + opt.sarif + opt.github + !!opt.html > 1)
		die(EXIT_USAGE, opt.report ? "report only writes Markdown: --json, --sarif, --github and --html do not apply"
					   : "use only one of --json, --sarif, --github and --html");
	if (opt.with.n && !opt.bundle)
		die(EXIT_USAGE, "--with needs --bundle=FILE: it adds files to a bundle");
	if (opt.report && !in.n && !opt.repro)
		die(EXIT_USAGE, "report needs a log, or --repro with a program from fxminify\nTry 'fxexplain report -h'");
	limits_check(&opt.max);
	if (strcmp(sub, "run") && strcmp(sub, "replay"))
		output_watch_signals();
	if (!strcmp(sub, "kernel") || !strcmp(sub, "profile") || !strcmp(sub, "crash"))
		operands_keep_pipes(&in);
	int (*run)(const struct explain_options *, const struct operands *) = NULL;
	for (size_t i = 0; i < ARRAY_LEN(mains) && !run; i++)
		run = strcmp(sub, mains[i].name) ? NULL : mains[i].run;
	int status = run ? run(&opt, &in) : explain_paths(&opt, in.v, in.n); /* report, too */
	opt_pairs_release(&opt.max);
	opt_list_release(&opt.trace);
	opt_list_release(&opt.with);
	operands_release(&in);
	return status;
}
