/* main.c - `fxexplain slow`: where compile time goes, and what would save how much of it. */
#include "explain/explain.h"
#include "slow/slow.h"

#include "base/tool/diag.h"

bool slow_emit(const struct explanation *x, const struct explain_options *opt)
{
	struct slow s;
	struct screen out = explain_screen(opt->output);
	slow_make(&s, x);
	if (opt->json)
		slow_json(&out.b, &s);
	else
		slow_show(&out, &s, opt);
	explain_write(&out, opt->output);
	slow_release(&s);
	return true;
}

static int slow_main(struct operands *in)
{
	struct explain_options *opt = &explain_opt;
	explain_begin(true, "slow only writes text or --json");
	opt->emit = slow_emit;
	opt->keep_graphs = true;
	return explain_paths(opt, in->v, in->n);
}

const struct opt_command slow_command = {
    .name = "slow",
    .summary = "show where compile time goes, and what would save it",
    .about = "Where does the compile time go, and what would save how much of it?",
    .example = {{"trace.log", "by phase, frame, module, kernel, pass"},
		{"--all trace.log", "every row"},
		{"--json trace.log", "one JSON document"}},
    .operands = "INPUT...",
    .footer = "INPUT: as for fxexplain; traces have the most.",
    .more = "Savings are measured where the run has the number; the others say how they were reckoned.",
    .min = 1,
    .max = -1,
    .run = slow_main,
};
