/* fxexplain - what went wrong in this compilation, where, what did it cost, and what next? */
#include "fxexplain.h"
#include "locate.h"

#include "process/child.h"
#include "tool/diag.h"
#include "io/mapfile.h"
#include "tool/output.h"

#include <unistd.h>

static struct explain_options opt;

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
				       "'%.*s' is no part: breaks, recompiles, shapes, times, caches, errors, graphs, "
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
    OPT_END,
};
static const struct opt run_options[] = {
    OPT_FLAG(0, "bisect", &opt.bisect, "run it with the backends eager, aot_eager and inductor in turn: which component fails"),
    OPT_STRING(0, "keep", "DIR", &opt.keep, "keep the traces and the standard error in this new folder"),
    OPT_INT(0, "timeout", "SECONDS", &opt.timeout, 0, 1 << 30, "end the command after this time"),
    OPT_END,
};
static const struct opt_command commands[] = {
    {.name = "kernel",
     .summary = "one kernel: its text, IR, FX nodes and Python lines",
     .operands = "[NAME] INPUT...",
     .min = 1,
     .max = -1},
    {.name = "profile",
     .summary = "where the time went: torch.profiler traces, eager against compiled",
     .operands = "PROFILE...",
     .min = 1,
     .max = -1},
    {.name = "crash",
     .summary = "a backtrace or core file mapped to the model's lines, kernels and nodes",
     .operands = "INPUT...",
     .min = 1,
     .max = -1},
    {.name = "report",
     .summary = "the text of an issue for PyTorch",
     .options = report_options,
     .operands = "[INPUT...]",
     .min = 0,
     .max = -1},
    {.name = "run",
     .summary = "run a command under TORCH_TRACE and explain what happened",
     .options = run_options,
     .operands = NULL,
     .command = true,
     .need_command = true},
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

static void emit(const struct explanation *x)
{
	struct err err = {.text = ""};
	const char *path = opt.html && *opt.html ? opt.html : opt.output;
	struct screen s = explain_screen(path);
	if (opt.report)
		emit_report(&s.b, x, &opt);
	else if (opt.json)
		emit_json(&s.b, x, &opt);
	else if (opt.sarif)
		emit_sarif(&s.b, x, &opt);
	else if (opt.github)
		emit_github(&s.b, x, &opt);
	else if (opt.html && emit_html(&s.b, x, &opt, &err) < 0)
		die_err(&err);
	else if (!opt.html)
		emit_terminal(&s, x, &opt);
	explain_write(&s, path);
}

int explain_paths(const struct explain_options *o, const char *const *path, int n)
{
	struct err err;
	struct facts f;
	struct explanation x;
	struct kernelmaps maps = {0};
	unsigned lost = 0, worse = 0;
	facts_init(&f);
	if (n && load_operands(&f, o, path, n, &lost, &err) < 0)
		die_err(&err);
	locate_load(&maps, &f);
	for (uint32_t i = 0; o->folder && i < f.n_input; i++) /* of `run`: names that nobody else knows */
		f.input[i].path = run_input_name(&f, f.input[i].path, o->folder);
	if (o->function && !facts_only_function(&f, o->function))
		die(EXIT_INPUT, "no frame of a function '%s' was compiled", o->function);
	explain(&x, &f);
	locate_errors(&x, &maps);
	if (o->baseline && baseline_compare(&x, o, &worse, &err) < 0)
		die_err(&err);
	emit(&x);
	worse += limits_exceeded(&x, o);
	explanation_release(&x);
	kernelmaps_release(&maps);
	facts_release(&f);
	return lost ? EXIT_INPUT : worse ? EXIT_FOUND : EXIT_FINE;
}

int main(int argc, char **argv)
{
	struct operands in;
	int status;
	opt_parse_or_exit(&spec, argc, argv, &in);
	mapfile_watch();
	const char *sub = in.sub ? in.sub->name : "";
	opt.report = !strcmp(sub, "report");
	if (opt.report + opt.json + opt.sarif + opt.github + !!opt.html > 1)
		die(EXIT_USAGE, opt.report ? "report writes Markdown: --json, --sarif, --github and --html go without it"
					   : "one of --json, --sarif, --github and --html at a time");
	if (opt.report && !in.n && !opt.repro)
		die(EXIT_USAGE, "report: a log is missing, or --repro with a program of fxminify\nTry 'fxexplain report -h'");
	limits_check(&opt.max);
	if (strcmp(sub, "run"))
		output_watch_signals();
	if (!strcmp(sub, "kernel") || !strcmp(sub, "profile") || !strcmp(sub, "crash"))
		operands_keep_pipes(&in);
	if (!strcmp(sub, "kernel"))
		status = kernel_main(&opt, &in);
	else if (!strcmp(sub, "profile"))
		status = profile_main(&opt, &in);
	else if (!strcmp(sub, "crash"))
		status = crash_main(&opt, &in);
	else if (!strcmp(sub, "run"))
		status = run_main(&opt, &in);
	else
		status = explain_paths(&opt, in.v, in.n);
	opt_pairs_release(&opt.max);
	operands_release(&in);
	return status;
}
