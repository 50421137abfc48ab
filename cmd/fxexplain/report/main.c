/* main.c - `fxexplain report`: an issue for PyTorch, or everything in one file. */
#include "report/bundle.h"

#include "base/tool/diag.h"

static struct report_options own;

static const struct opt options[] = {
    OPT_FLAG(0, "redact", &own.redact, "remove paths, host and user names"),
    OPT_STRING(0, "repro", "FILE", &own.repro, "include this program as the minimal reproduction"),
    OPT_STRING(0, "bundle", "FILE", &own.bundle, "write everything into one file: logs, graphs, program"),
    OPT_LIST(0, "with", "FILE", &own.with, "add a package, inputs, ... to the bundle",
	     .more = "Also an exported program, or a directory of aoti-printer --record; may be given again."),
    OPT_END,
};
static const struct opt_rule rules[] = {
    {.of = "bundle",
     .with = "json sarif github html output",
     .text = "report --bundle cannot be combined with --json, --sarif, --github, --html or --output"},
    {0},
};

static bool write_report(const struct explanation *x, const struct explain_options *opt)
{
	if (own.bundle) {
		pack_bundle(x, opt, &own);
		return true;
	}
	struct screen s = explain_screen(opt->output);
	report_write(&s.b, x, &own);
	explain_write(&s, opt->output);
	return true;
}

static int report_main(struct operands *in)
{
	struct explain_options *opt = &explain_opt;
	if (opt->json || opt->sarif || opt->github || opt->html)
		die(EXIT_USAGE, "report only writes Markdown: --json, --sarif, --github and --html do not apply");
	if (own.with.n && !own.bundle)
		die(EXIT_USAGE, "--with needs --bundle=FILE: it adds files to a bundle");
	if (!in->n && !own.repro)
		die(EXIT_USAGE, "report needs a log, or --repro with a program from fxminify\nTry 'fxexplain report -h'");
	explain_begin(false, NULL);
	opt->emit = write_report;
	opt->keep_graphs = own.bundle != NULL;
	const int status = explain_paths(opt, in->v, in->n);
	opt_list_release(&own.with);
	return status;
}

const struct opt_command report_command = {
    .name = "report",
    .summary = "write an issue for PyTorch, or everything in one file",
    .about = "How do I report this to PyTorch?",
    .example = {{"--redact trace.log", "write an issue"},
		{"--bundle issue.pt2b trace.log", "write all into one file"},
		{"--repro repro.py trace.log", "include a minimal program"}},
    .options = options,
    .rules = rules,
    .operands = "[INPUT...]",
    .footer = "INPUT: as for fxexplain.",
    .min = 0,
    .max = -1,
    .run = report_main,
};
