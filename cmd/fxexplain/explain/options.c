/* options.c - the options that all subcommands share, and how each of them begins. */
#include "explain/explain.h"

#include "base/broker/broker.h"
#include "base/emit/format.h"
#include "base/tool/diag.h"
#include "base/io/distinfo.h"
#include "base/srcloc.h"
#include "base/tool/output.h"
#include "run/diagnose/limits.h"
#include "run/diagnose/settled.h"

struct explain_options explain_opt;

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

const struct opt explain_table[] = {
    OPT_HEADING("What to write"),
    OPT_FLAG('a', "all", &explain_opt.all, "show all findings (default: one screenful)"),
    OPT_CALL(0, "show", "PART", add_parts, &explain_opt.show, "show these sections in full: breaks, times, ...",
	     .more =
		 "breaks, recompiles, shapes, times, caches, errors, graphs, guards, metrics, cudagraphs, all; several are separated by "
		 "commas."),
    OPT_FLAG(0, "json", &explain_opt.json, "write one JSON document"),
    OPT_FLAG(0, "sarif", &explain_opt.sarif, "write the findings as SARIF 2.1.0"),
    OPT_FLAG(0, "github", &explain_opt.github, "write the findings as GitHub Actions annotations"),
    OPT_FORMAT,
    OPT_STRING(0, "html", "[=FILE]", &explain_opt.html, "write one self-contained HTML page", .more = "To FILE or standard output."),
    OPT_STRING('o', "output", "FILE", &explain_opt.output, "write to FILE"),
    OPT_HEADING("For CI"),
    OPT_PAIRS(0, "max", "NAME=N", &explain_opt.max, "exit 1 if NAME exceeds N, e.g. graph-breaks=0",
	      .more = "Also recompiles, compile-seconds, ...; may be given again."),
    OPT_STRING(0, "baseline", "FILE", &explain_opt.baseline, "exit 1 on a regression against this saved --json file"),
    OPT_HEADING("What to look at"),
    OPT_STRING(0, "function", "NAME", &explain_opt.function, "show only the frames of this function"),
    OPT_STRING(0, "model", "NAME", &explain_opt.model, "choose the model, if the package holds several"),
    OPT_STRING(0, "patterns", "DIR", &explain_opt.patterns, "load extra error patterns from this directory"),
    OPT_HEADING("Other"),
    OPT_FLAG('q', "quiet", &explain_opt.quiet, "print no notes and no warnings about damage"),
    OPT_END,
};

void explain_check(void)
{
	const struct explain_options *o = &explain_opt;
	if (o->json + o->sarif + o->github + !!o->html > 1)
		die(EXIT_USAGE, "use only one of --json, --sarif, --github and --html");
	limits_check(&o->max);
}

void explain_only(const char *only)
{
	if (explain_opt.sarif || explain_opt.github || explain_opt.html)
		die(EXIT_USAGE, "%s", only);
}

void explain_begin(bool reads, const char *only)
{
	explain_check();
	srcloc_is_installed = distinfo_beside;
	/* Before the thread that waits for signals: Landlock holds for threads that are started later. --github appends to a file of the
	 * job's. */
	if (reads && !explain_opt.github && format_chosen() != FORM_GITHUB) {
		output_fail_writes();
		broker_start();
		broker_trust(BROKER_OUTPUT, explain_opt.html);
		broker_trust(BROKER_OUTPUT, explain_opt.output);
		broker_seal(0);
	}
	settled(&explain_opt.max, &explain_opt.patterns);
	output_watch_signals();
	if (only)
		explain_only(only);
}
