/* aoti-printer - see inside a compiled model while it runs: kernels, tensors, times; and where two runs part. */
#include "process/child.h"
#include "tool/diag.h"
#include "repro/recorded.h"
#include "io/mapfile.h"
#include "tool/output.h"
#include "printer.h"

#include <signal.h>
#include <unistd.h>

static struct printer_options opt = {
    .level = -1, .last = -1, .format = -1, .rtol = -1, .atol = -1, .error_exitcode = -1, .save_max = 64ull << 30};

static const char *const levels[] = {"0", "1", "2", "3", NULL};
static const char *const formats[] = {"npy", "pt", "safetensors", NULL};

static const struct opt options[] = {
    OPT_HEADING("What to do"),
    OPT_CHOICE('l', "level", "LEVEL", &opt.level, levels, "nothing, save, print (default), names of kernels only"),
    OPT_STRING('o', "output", "DIR", &opt.output, "save every tensor into this folder (level 1: aoti-dump); with --ima: the report's file"),
    OPT_STRING(0, "diff", "DUMP", &opt.diff, "compare this folder, or a graph node by node, with another folder or with what is run"),
    OPT_FLAG('p', "profile", &opt.profile, "time per kernel"),
    OPT_STRING(0, "chrome-trace", "FILE", &opt.chrome_trace, "with --profile: every call, for chrome://tracing or Perfetto"),
    OPT_FLAG(0, "memory", &opt.memory, "which buffers are alive at the peak, what was planned and what was reached"),
    OPT_STRING(0, "record", "DIR", &opt.record, "keep the inputs of a failing call of the command, to run again"),
    OPT_STRING(0, "ima", "[=alloc]", &opt.ima,
	       "which kernel made the illegal memory access on the GPU? alloc: without PyTorch's caching allocator"),
    OPT_INT(0, "last", "N", &opt.last, 0, 4096, "with --ima: so many calls before the fault (default: 16)"),
    OPT_HEADING("Which calls and tensors"),
    OPT_LIST('k', "kernels", "GLOB", &opt.kernels, "calls of these kernels and ops; several between commas"),
    OPT_LIST('b', "buffers", "GLOB", &opt.buffers, "these buffers (buf3) or constants (up.weight)"),
    OPT_STRING('c', "calls", "RANGE", &opt.calls, "calls of each run, from 0: 3, 3-5, 7-"),
    OPT_STRING('r', "runs", "RANGE", &opt.runs, "runs of the model, from 0"),
    OPT_STRING(0, "graph", "GLOB", &opt.graph, "of torch.compile only these graphs: 3_backward"),
    OPT_STRING(0, "step", "RANGE", &opt.step, "only these runs of each model or graph, or steps of the optimizer: 3, 3..5, 3.."),
    OPT_FLAG('i', "inputs", &opt.inputs, "the model's inputs and outputs, too"),
    OPT_FLAG(0, "constants", &opt.constants, "weights, too"),
    OPT_HEADING("How to run"),
    OPT_STRING('m', "model", "NAME", &opt.model, "one of several models in a package"),
    OPT_INT('N', "repeat", "N", &opt.repeat, 1, 1000000, "run the model so often (default: 1; with --profile: 20)"),
    OPT_STRING(0, "torch", "[=DIR]", &opt.torch, "with an installed libtorch"),
    OPT_STRING(0, "weights", "FILE", &opt.weights, "take the weights from FILE: .safetensors, .pt, .npz, an exported .pt2"),
    OPT_LIST(0, "load", "LIB", &opt.load, "with --torch: a library that defines operators (TORCH_LIBRARY)"),
    RUN_OPT_TIMEOUT(opt.timeout),
    OPT_FLAG(0, "no-exec", &opt.no_exec, "run nothing of the model (then nothing can be shown of what is in MODEL)"),
    OPT_HEADING("Output"),
    OPT_FLAG('f', "full", &opt.full, "every element of every tensor"),
    OPT_CHOICE(0, "format", "FORMAT", &opt.format, formats, "npy, pt or safetensors"),
    OPT_SIZE(0, "max-bytes", "SIZE", &opt.save_max, 1, UINT64_MAX, "save no more than this (default: 64G)"),
    OPT_FLAG(0, "overwrite", &opt.overwrite, "replace an earlier dump"),
    OPT_FLAG(0, "json", &opt.json, "one JSON document"),
    OPT_STRING(0, "log", "FILE", &opt.log, "write there, not to standard output"),
    OPT_MAX_TEXT,
    OPT_FLAG('q', "quiet", &opt.quiet, "show nothing but results"),
    OPT_INT(0, "error-exitcode", "N", &opt.error_exitcode, 0, 255, "exit with N when --diff, --record or --ima finds something"),
    OPT_HEADING("Comparing"),
    OPT_DOUBLE(0, "rtol", "X", &opt.rtol, 0, 1e300, "what is allowed, relative to the first dump (default: by type)"),
    OPT_DOUBLE(0, "atol", "X", &opt.atol, 0, 1e300, "what is allowed, absolute"),
    OPT_FLAG('a', "all", &opt.all, "show the calls that agree, too"),
    OPT_STRING(0, "html", "FILE", &opt.html, "one page: of --diff a plot of the error by call, of --memory one of the bytes"),
    OPT_END,
};

static const struct opt_rule rules[] = {
    {.one_of = "diff profile memory record ima",
     .text = "--diff, --profile, --memory, --record and --ima are five questions: ask one at a time"},
    {.of = "diff profile memory record ima",
     .with = "level",
     .text = "--level is for printing and saving, not for --diff, --profile, --memory, --record or --ima"},
    {.of = "diff profile memory record",
     .with = "output",
     .text = "-o is for saving tensors: --html, --chrome-trace and --log name the other files"},
    RUN_RULES_COMMAND,
    RUN_RULE_LOAD,
    {.of = "rtol atol", .without = "diff", .text = "--rtol and --atol are for --diff"},
    {.of = "html", .without = "diff memory", .text = "--html is for --diff and --memory"},
    {.of = "memory", .with = "kernels buffers calls", .text = "--memory looks at every call: no --kernels, --buffers or --calls"},
    {.of = "graph", .without = OPT_COMMAND, .text = "--graph needs a command: aoti-printer --graph 3_backward -- python app.py"},
    {.of = "step", .with = "runs", .text = "--step and --runs say the same in two ways: give one"},
    {.of = "chrome-trace", .without = "profile", .text = "--chrome-trace is for --profile"},
    {.of = "record", .without = OPT_COMMAND, .text = "--record needs a command: aoti-printer --record DIR -- COMMAND"},
    {.of = "ima",
     .without = "torch " OPT_COMMAND,
     .text = "--ima needs a command (aoti-printer --ima -- COMMAND), or an installed libtorch for CUDA to run a model with (--torch)"},
    {.of = "ima", .with = "kernels buffers calls runs", .text = "--ima looks at every call: no --kernels, --buffers, --calls or --runs"},
    {.of = "last", .without = "ima", .text = "--last is for --ima"},
    {.of = "json", .with = "output", .without = "ima", .text = "--json shows, -o saves: the folder's index has the same facts"},
    {0},
};

static const struct opt_spec spec = {
    .tool = "aoti-printer",
    .about = "What the kernels of a compiled model (AOTInductor) read and write while it runs, with no recompilation.",
    .footer = "MODEL is a .pt2 package, a model.so, a folder, or a bundle that --record kept; INPUT as for aoti-checkinputs. "
	      "It runs here, without PyTorch, or with --torch. With a command: every such model in that process is watched. "
	      "With --diff DUMP, MODEL may be another dump; DUMP may be an exported program, too.",
    .options = options,
    .rules = rules,
    .operands = "MODEL [INPUT...]",
    .min = 1,
    .max = -1,
    .command = true,
};

/* PyTorch's variable, unless the option is given. */
static void take_level(void)
{
	const char *name = "AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER", *text = getenv(name);
	if (opt.level < 0 && opt.output)
		opt.level = LEVEL_SAVE;
	if (opt.level < 0 && text && *text) {
		for (int i = 0; levels[i]; i++)
			if (!strcmp(text, levels[i]))
				opt.level = i;
		if (opt.level < 0)
			die(EXIT_USAGE, "%s is '%s', no level: 0, 1, 2 or 3", name, text);
	}
	if (opt.level < 0)
		opt.level = LEVEL_PRINT;
}

static void check_options(void)
{
	if (opt.ima && *opt.ima && strcmp(opt.ima, "alloc"))
		die(EXIT_USAGE, "--ima=%s: only --ima=alloc is known", opt.ima);
	if (opt.ima && opt.output && opt.log)
		die(EXIT_USAGE, "with --ima, -o and --log both name the report: give one");
}

int main(int argc, char **argv)
{
	struct operands in;
	struct recorded_run again;
	struct err err;
	int status;
	signal(SIGPIPE, SIG_IGN); /* a reader that is gone ends neither a report nor the watching of a command */
	shown_most = SHOWN_MOST;
	opt_parse_or_exit(&spec, argc, argv, &in);
	mapfile_watch();
	if (recorded_again(&again, &in, TEMP_PRINTER, opt.no_exec, &err) < 0)
		die_err(&err);
	if (!in.command) /* a command that is watched must not inherit ignored signals */
		output_fail_writes();
	check_options();
	if (!opt.diff) /* before a folder is made for what is run; --diff may run nothing */
		child_signals(CHILD_SIGNALS_FORWARD);
	if (opt.diff)
		status = run_diff(&opt, &in);
	else if (opt.profile)
		status = run_profile(&opt, &in);
	else if (opt.memory)
		status = run_memory(&opt, &in);
	else if (opt.ima)
		status = run_ima(&opt, &in);
	else if (opt.record)
		status = run_record(&opt, &in);
	else {
		take_level();
		status = opt.output || opt.level == LEVEL_SAVE ? run_save(&opt, &in) : run_print(&opt, &in);
	}
	opt_list_release(&opt.kernels);
	opt_list_release(&opt.buffers);
	opt_list_release(&opt.load);
	operands_release(&in);
	recorded_release(&again);
	return status;
}
