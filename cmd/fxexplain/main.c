/* fxexplain - what went wrong in this compilation, where, what did it cost, and what next? */
#include "base/broker/broker.h"
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
		if (i == PARTS && !slice_is(slice_of(p, n), "all")) {
			struct opt_guess g = {.word = slice_of(p, n)};
			for (i = 0; i < PARTS; i++)
				opt_guess(&g, part_name[i]);
			FREED char *meant = opt_guess_text(&g);
			return err_set(err, EXIT_USAGE,
				       "unknown section '%.*s'%s: use breaks, recompiles, shapes, times, caches, errors, graphs, "
				       "guards, metrics, cudagraphs, all",
				       (int)n, p, meant);
		}
		*show |= i == PARTS ? (1ull << PARTS) - 1 : 1ull << i;
		p += n + (p[n] == ',');
	}
	return 0;
}

static const struct opt options[] = {
    OPT_HEADING("What to write"),
    OPT_FLAG('a', "all", &opt.all, "show all findings (default: one screenful)"),
    OPT_CALL(0, "show", "PART", add_parts, &opt.show, "show these sections in full: breaks, times, ...",
	     .more =
		 "breaks, recompiles, shapes, times, caches, errors, graphs, guards, metrics, cudagraphs, all; several are separated by "
		 "commas."),
    OPT_FLAG(0, "json", &opt.json, "write one JSON document"),
    OPT_FLAG(0, "sarif", &opt.sarif, "write the findings as SARIF 2.1.0"),
    OPT_FLAG(0, "github", &opt.github, "write the findings as GitHub Actions annotations"),
    OPT_STRING(0, "html", "[=FILE]", &opt.html, "write one self-contained HTML page", .more = "To FILE or standard output."),
    OPT_STRING('o', "output", "FILE", &opt.output, "write to FILE"),
    OPT_HEADING("For CI"),
    OPT_PAIRS(0, "max", "NAME=N", &opt.max, "exit 1 if NAME exceeds N, e.g. graph-breaks=0",
	      .more = "Also recompiles, compile-seconds, ...; may be given again."),
    OPT_STRING(0, "baseline", "FILE", &opt.baseline, "exit 1 on a regression against this saved --json file"),
    OPT_HEADING("What to look at"),
    OPT_STRING(0, "function", "NAME", &opt.function, "show only the frames of this function"),
    OPT_STRING(0, "model", "NAME", &opt.model, "choose the model, if the package holds several"),
    OPT_STRING(0, "patterns", "DIR", &opt.patterns, "load extra error patterns from this directory"),
    OPT_HEADING("Other"),
    OPT_FLAG('q', "quiet", &opt.quiet, "print no notes and no warnings about damage"),
    OPT_END,
};

static const struct opt report_options[] = {
    OPT_FLAG(0, "redact", &opt.redact, "remove paths, host and user names"),
    OPT_STRING(0, "repro", "FILE", &opt.repro, "include this program as the minimal reproduction"),
    OPT_STRING(0, "bundle", "FILE", &opt.bundle, "write everything into one file: logs, graphs, program"),
    OPT_LIST(0, "with", "FILE", &opt.with, "add a package, inputs, ... to the bundle",
	     .more = "Also an exported program, or a directory of aoti-printer --record; may be given again."),
    OPT_END,
};
static const struct opt fix_options[] = {
    OPT_FLAG(0, "apply", &opt.apply, "change the files, and keep each one as FILE.orig"),
    OPT_STRING(0, "root", "DIR", &opt.root, "look for the program's files below DIR",
	       .more = "The patch is relative to it. Default: the current directory."),
    OPT_STRING(0, "only", "TEXT", &opt.only, "choose the fixes that contain TEXT", .more = "One of several for a finding."),
    OPT_END,
};
static const struct opt cache_options[] = {
    OPT_LIST(0, "trace", "LOG", &opt.trace, "explain what a new run would find in DIR",
	     .more = "And why not the rest. LOG is a trace of the program; may be given again."),
    OPT_FLAG(0, "prune", &opt.prune, "list what can be removed", .more = "What is broken, or left by writes that were interrupted."),
    OPT_INT(0, "older-than", "DAYS", &opt.older, 1, 36500, "list entries and code of that age, too (--prune)"),
    OPT_FLAG(0, "apply", &opt.apply, "remove what --prune lists"),
    OPT_END,
};
static const struct opt serve_options[] = {
    OPT_STRING(0, "root", "DIR", &opt.root, "look for the program's files below DIR",
	       .more = "Default: where the trace says, or below the current directory."),
    OPT_END,
};
static const struct opt run_options[] = {
    OPT_FLAG(0, "bisect", &opt.bisect, "find the component that fails: dynamo, aot, inductor",
	     .more = "Runs the command with the backends eager, aot_eager and inductor in turn."),
    OPT_STRING(0, "keep", "DIR", &opt.keep, "keep the traces and stderr in this new directory"),
    OPT_INT(0, "timeout", "SECONDS", &opt.timeout, 0, 1 << 30, "stop the command after SECONDS"),
    OPT_STRING(0, "bundle", "FILE", &opt.bundle, "write everything into one file, as report does"),
    OPT_END,
};
static const struct opt replay_options[] = {
    OPT_FLAG(0, "run", &opt.run, "run everything that can be run, without asking"),
    OPT_CHOICE(0, "tool", "TOOL", &opt.tool, replay_tools, "run only this tool, e.g. fxminify"),
    OPT_STRING(0, "keep", "DIR", &opt.keep, "unpack into this new directory and keep it"),
    OPT_STRING(0, "python", "PROGRAM", &opt.python, "use this Python with torch", .more = "Default: $PT2_PYTHON, or python3."),
    OPT_INT(0, "timeout", "SECONDS", &opt.timeout, 0, 1 << 30, "stop what is run after SECONDS"),
    OPT_END,
};
static const struct opt_rule report_rules[] = {
    {.of = "bundle",
     .with = "json sarif github html output",
     .text = "report --bundle cannot be combined with --json, --sarif, --github, --html or --output"},
    {0},
};
static const struct opt_rule replay_rules[] = {
    {.of = "json",
     .with = "run tool keep html",
     .text = "replay --json shows the manifest and cannot be combined with --run, --tool, --keep or --html"},
    {0},
};

static const struct opt_command commands[] = {
    {.name = "kernel",
     .summary = "map a kernel to its IR, FX nodes and Python lines",
     .about = "Which FX nodes and Python lines did this kernel come from?",
     .example = {{"torch_compile_debug/", "list all kernels"},
		 {"buf0 torch_compile_debug/", "explain the kernel of buf0"},
		 {"model.pt2", "list the kernels of a package"}},
     .operands = "[NAME] INPUT...",
     .footer = "NAME: a kernel, an FX node, an IR node (buf3), or FILE:LINE of the program.\n"
	       "INPUT: a trace, torch_compile_debug, a package, output_code.py, or a g++ error.",
     .more = "Without NAME, all kernels are listed. The line of a compiler's error is mapped to the program.",
     .min = 1,
     .max = -1},
    {.name = "profile",
     .summary = "compare torch.profiler traces, eager against compiled",
     .about = "Where did the time go, eager against compiled?",
     .example = {{"compiled.json", "show where the time went"},
		 {"eager.json compiled.json", "compare the two"},
		 {"--json eager.json compiled.json", "write one JSON document"}},
     .operands = "PROFILE...",
     .footer = "PROFILE: what prof.export_chrome_trace() wrote; eager and compiled, any order.",
     .more = "With a trace, a debug directory or a package besides, kernels are shown with their nodes and lines.",
     .min = 1,
     .max = -1},
    {.name = "crash",
     .summary = "map a backtrace or core file to lines, kernels and nodes",
     .about = "Which line, kernel and node of the model crashed?",
     .example = {{"crash.txt crash.pt2", "explain a backtrace"},
		 {"--json crash.txt crash.pt2", "write one JSON document"},
		 {"-o where.txt crash.txt crash.pt2", "write to a file"}},
     .operands = "INPUT...",
     .footer = "INPUT: a backtrace (text) or a core file, and the packages of the models.",
     .min = 1,
     .max = -1},
    {.name = "fix",
     .summary = "show one-line fixes as a patch, or apply them",
     .about = "Which lines of my program do I change, and how?",
     .example = {{"trace.log", "show the fixes as a patch"},
		 {"--only capture_scalar trace.log", "choose one of them"},
		 {"--apply trace.log", "change the files"}},
     .options = fix_options,
     .operands = "INPUT...",
     .footer = "INPUT: as for fxexplain.",
     .min = 1,
     .max = -1},
    {.name = "report",
     .summary = "write an issue for PyTorch, or everything in one file",
     .about = "How do I report this to PyTorch?",
     .example = {{"--redact trace.log", "write an issue"},
		 {"--bundle issue.pt2b trace.log", "write all into one file"},
		 {"--repro repro.py trace.log", "include a minimal program"}},
     .options = report_options,
     .rules = report_rules,
     .operands = "[INPUT...]",
     .footer = "INPUT: as for fxexplain.",
     .min = 0,
     .max = -1},
    {.name = "cache",
     .summary = "inspect compile caches: what is in them, what a run would hit",
     .about = "What is in this compile cache, and what will the next run find there?",
     .example = {{"cache", "show what is in it"},
		 {"cache --trace cold.log", "explain what a new run would find"},
		 {"cache --prune", "list what can be removed"}},
     .options = cache_options,
     .operands = "DIR [DIR]",
     .footer = "DIR: TORCHINDUCTOR_CACHE_DIR (/tmp/torchinductor_USER), or a vLLM cache.",
     .more =
	 "A second directory is compared with the first: what the first lacks, and which keys differ. Nothing is executed, and nothing is "
	 "removed without --apply.",
     .min = 1,
     .max = 2},
    {.name = "serve",
     .summary = "show findings in an editor (Language Server Protocol)",
     .about = "How does my editor show these findings at my lines?",
     .example = {{"traces/ < /dev/null", "what an editor starts"},
		 {"--root . traces/ < /dev/null", "find files below here"},
		 {"trace.log < /dev/null", "show the findings of one log"}},
     .options = serve_options,
     .operands = "INPUT...",
     .footer = "INPUT: a TORCH_TRACE directory (its newest log counts), or as for fxexplain.",
     .more = "INPUT need not exist yet, and is read again whenever it changes. The editor talks to it over standard input and output.",
     .min = 1,
     .max = -1},
    {.name = "run",
     .summary = "run a command under TORCH_TRACE and explain what happened",
     .about = "What happens when this program is compiled?",
     .example = {{"-- python app.py", "run it and explain it"},
		 {"--html=page.html -- python app.py", "write a page, open it"},
		 {"--max graph-breaks=8 -- python app.py", "fail CI on more breaks"}},
     .options = run_options,
     .operands = NULL,
     .footer = "COMMAND: the program with its arguments; the processes it starts are followed.",
     .more = "On a terminal, --html=FILE opens the page in a browser ($BROWSER, or xdg-open); tlparse is not needed.",
     .command = true,
     .need_command = true},
    {.name = "replay",
     .summary = "show and run again what report --bundle wrote",
     .about = "What is in this bundle, and does it fail here, too?",
     .example = {{"x.pt2b", "show what it holds"}, {"--keep unpacked x.pt2b", "unpack it"}, {"--json x.pt2b", "write the manifest"}},
     .options = replay_options,
     .rules = replay_rules,
     .operands = "BUNDLE",
     .footer = "The code in BUNDLE runs only after you agree: on a terminal, or by --run.",
     .more = "Exit status: 0 it was shown, or fails as it did; 1 it does not fail like that here.",
     .min = 1,
     .max = 1},
    {0},
};
static const struct opt_spec spec = {
    .tool = "fxexplain",
    .about = "What went wrong in this torch.compile or AOTInductor run, and what next?",
    .example = {{"run -- python app.py", "run a program and explain what happened"},
		{"trace.log", "explain a log that TORCH_TRACE wrote"},
		{"fix trace.log", "show one-line fixes, as a patch"}},
    .footer = "INPUT: a trace or directory (TORCH_TRACE), torch_compile_debug, a text, or -.",
    .more = "A text is a TORCH_LOGS log, a program's stderr or a pasted message. Files may be compressed (.gz); - is standard input.",
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
	/* What only reads and answers gives up all else (broker.h); --github appends to a file of the job's. */
	const bool reads = (!*sub || !strcmp(sub, "kernel") || !strcmp(sub, "profile") || !strcmp(sub, "crash")) && !opt.github;
	if (reads) { /* before the thread that waits for signals: Landlock holds for threads that are started later */
		output_fail_writes();
		broker_start();
		broker_trust(BROKER_OUTPUT, opt.html);
		broker_trust(BROKER_OUTPUT, opt.output);
		broker_seal(0);
	}
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
