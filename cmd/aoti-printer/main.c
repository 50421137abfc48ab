/* aoti-printer - see inside a compiled model while it runs: kernels, tensors, times; and where two runs diverge. */
#include "base/emit/format.h"
#include "base/broker/broker.h"
#include "base/process/child.h"
#include "base/tool/diag.h"
#include "graph/repro/recorded.h"
#include "base/io/mapfile.h"
#include "base/tool/output.h"
#include "printer.h"

#include <signal.h>
#include <unistd.h>

static struct printer_options opt = {
    .level = -1, .last = -1, .format = -1, .rtol = -1, .atol = -1, .error_exitcode = -1, .save_max = 64ull << 30};

static const char *const levels[] = {"0", "1", "2", "3", NULL};
static const char *const formats[] = {"npy", "pt", "safetensors", FORMAT_NAMES, NULL};

static const struct opt options[] = {
    OPT_HEADING("What to do"),
    OPT_CHOICE('l', "level", "LEVEL", &opt.level, levels, "set how much to print",
	       .more = "0 off, 1 save, 2 print (default), 3 kernel names only."),
    OPT_STRING('o', "output", "DIR", &opt.output, "save every tensor into this directory",
	       .more = "At level 1 the default is aoti-dump. With --ima: the file of the report."),
    OPT_STRING(0, "diff", "DUMP", &opt.diff, "find where this dump and another, or a run, diverge",
	       .more = "DUMP may be an exported program, too, which is compared node by node."),
    OPT_FLAG('p', "profile", &opt.profile, "measure the time of each kernel"),
    OPT_STRING(0, "chrome-trace", "FILE", &opt.chrome_trace, "write every call for chrome://tracing or Perfetto", .rare = true,
	       .more = "Requires --profile."),
    OPT_FLAG(0, "memory", &opt.memory, "show which buffers are alive at the peak",
	     .more = "And how much was planned, how much was reached."),
    OPT_STRING(0, "record", "DIR", &opt.record, "keep the inputs of a failing call, to run it again",
	       .more = "With --graph: those of that graph's first run (or --step), whether or not it fails."),
    OPT_STRING(0, "ima", "[=alloc]", &opt.ima, "find the kernel of an illegal memory access",
	       .more = "On a GPU. alloc: without PyTorch's caching allocator."),
    OPT_FLAG(0, "sanitizer", &opt.sanitizer, "run the command under compute-sanitizer", .rare = true,
	     .more = "Requires --ima, which it turns into --ima=alloc; its report gets the names of arguments and lines."),
    OPT_INT(0, "last", "N", &opt.last, 0, 4096, "show the last N calls before the fault (default: 16)", .rare = true,
	    .more = "Requires --ima."),
    OPT_HEADING("Which calls and tensors"),
    OPT_LIST('k', "kernels", "GLOB", &opt.kernels, "select calls of these kernels and operators",
	     .more = "Several are separated by commas; may be given again."),
    OPT_LIST('b', "buffers", "GLOB", &opt.buffers, "select these buffers (buf3) or constants (up.weight)"),
    OPT_STRING('c', "calls", "RANGE", &opt.calls, "select calls of each run, from 0: 3, 3-5, 7-"),
    OPT_STRING('r', "runs", "RANGE", &opt.runs, "select runs of the model, from 0"),
    RUN_OPT_GRAPH(opt.graph),
    RUN_OPT_STEP(opt.step, true),
    OPT_FLAG('i', "inputs", &opt.inputs, "include the model's inputs and outputs"),
    OPT_FLAG(0, "constants", &opt.constants, "include the weights"),
    OPT_HEADING("How to run"),
    RUN_OPT_MODEL(opt.how),
    RUN_OPT_REPEAT('N', "repeat", "N", opt.how, "", "Default: 1; with --profile: 20."),
    RUN_OPT_TORCH(opt.how),
    RUN_OPT_WEIGHTS(opt.how, "", true),
    RUN_OPT_LOAD(opt.how),
    RUN_OPT_BOUNDS(opt.how),
    RUN_OPT_TIMEOUT(opt.how),
    OPT_FLAG(0, "no-exec", &opt.no_exec, "run nothing of the model, and show nothing that needs it", .rare = true),
    OPT_HEADING("Output"),
    OPT_FLAG('f', "full", &opt.full, "print every element of every tensor"),
    OPT_CHOICE(0, "format", "FORMAT", &opt.format, formats, "choose the format of saved tensors, or of the answer", .rare = true),
    OPT_SIZE(0, "max-bytes", "SIZE", &opt.save_max, 1, UINT64_MAX, "save at most SIZE bytes (default: 64G)", .rare = true),
    OPT_FLAG(0, "overwrite", &opt.overwrite, "replace an earlier dump"),
    OPT_FLAG(0, "json", &opt.json, "write one JSON document"),
    OPT_STRING(0, "log", "FILE", &opt.log, "write to FILE instead of stdout"),
    OPT_MAX_TEXT,
    OPT_FLAG('q', "quiet", &opt.quiet, "print results only"),
    OPT_INT(0, "error-exitcode", "N", &opt.error_exitcode, 0, 255, "exit with N if --diff, --record, --ima or --bounds finds something",
	    .rare = true),
    OPT_HEADING("Comparing"),
    OPT_DOUBLE(0, "rtol", "X", &opt.rtol, 0, 1e300, "allow this difference relative to the first dump", .rare = true,
	       .more = "Default: by dtype."),
    OPT_DOUBLE(0, "atol", "X", &opt.atol, 0, 1e300, "allow this absolute difference", .rare = true),
    OPT_FLAG('a', "all", &opt.all, "list the calls that agree, too"),
    OPT_STRING(0, "html", "FILE", &opt.html, "write one HTML page",
	       .more = "For --diff a plot of the error by call, for --memory of the bytes."),
    OPT_END,
};

static const struct opt_rule rules[] = {
    {.one_of = "diff profile memory record ima", .text = "--diff, --profile, --memory, --record and --ima cannot be combined"},
    {.of = "diff profile memory record ima",
     .with = "level",
     .text = "--level cannot be combined with --diff, --profile, --memory, --record or --ima"},
    {.of = "diff profile memory record",
     .with = "output",
     .text = "-o saves tensors and cannot be combined with --diff, --profile, --memory or --record: use --html, --chrome-trace or --log"},
    RUN_RULES_COMMAND,
    RUN_RULE_LOAD,
    {.of = "rtol atol", .without = "diff", .text = "--rtol and --atol require --diff"},
    {.of = "html", .without = "diff memory", .text = "--html requires --diff or --memory"},
    {.of = "memory",
     .with = "kernels buffers calls",
     .text = "--memory covers every call and cannot be combined with --kernels, --buffers or --calls"},
    RUN_RULE_GRAPH("aoti-printer --graph 3_backward -- python app.py"),
    {.of = "step", .with = "runs", .text = "--step and --runs cannot be combined"},
    {.of = "chrome-trace", .without = "profile", .text = "--chrome-trace requires --profile"},
    {.of = "record", .without = OPT_COMMAND, .text = "--record requires a command: aoti-printer --record DIR -- COMMAND"},
    {.of = "ima",
     .without = "torch " OPT_COMMAND,
     .text = "--ima requires a command (aoti-printer --ima -- COMMAND), or --torch with a libtorch for CUDA to run a model"},
    {.of = "ima",
     .with = "kernels buffers calls runs",
     .text = "--ima covers every call and cannot be combined with --kernels, --buffers, --calls or --runs"},
    {.of = "bounds",
     .with = "diff profile memory record ima",
     .text = "--bounds cannot be combined with --diff, --profile, --memory, --record or --ima"},
    {.of = "sanitizer", .without = "ima", .text = "--sanitizer requires --ima"},
    {.of = "sanitizer", .without = OPT_COMMAND, .text = "--sanitizer requires a command: aoti-printer --ima --sanitizer -- COMMAND"},
    {.of = "last", .without = "ima", .text = "--last requires --ima"},
    {.of = "json", .with = "output", .without = "ima", .text = "--json cannot be combined with -o, whose index holds the same facts"},
    {0},
};

static const struct opt_spec spec = {
    .tool = "aoti-printer",
    .about = "What do the kernels of a compiled model read and write while it runs?",
    .example = {{"model.pt2 batch.npy", "print the tensors of calls"},
		{"-o dump model.pt2 batch.npy", "save them"},
		{"--diff dump model.pt2 batch.npy", "find where a run diverges"}},
    .footer = "MODEL: a .pt2, a model.so, a directory, a --record bundle, a dump for --diff.\n" RUN_INPUT_TEXT,
    .more = "The model runs here, without PyTorch or with --torch; it need not be compiled again. With a command, every compiled "
	    "model in that process is watched.",
    .options = options,
    .rules = rules,
    .operands = "MODEL [INPUT...]",
    .min = 1,
    .max = -1,
    .command = true,
};

/* PyTorch's variable applies unless the option is given. */
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
			die(EXIT_USAGE, "%s=%s is not a level: use 0, 1, 2 or 3", name, text);
	}
	if (opt.level < 0)
		opt.level = LEVEL_PRINT;
}

static void check_options(void)
{
	if (opt.ima && *opt.ima && strcmp(opt.ima, "alloc"))
		die(EXIT_USAGE, "invalid --ima=%s: use --ima or --ima=alloc", opt.ima);
	if (opt.ima && opt.output && opt.log)
		die(EXIT_USAGE, "with --ima, -o and --log both name the report: use one");
}

int main(int argc, char **argv)
{
	struct operands in;
	struct recorded_run again;
	struct err err;
	int status;
	signal(SIGPIPE, SIG_IGN); /* a reader that is gone must not end a report or the watching of a command */
	shown_most = SHOWN_MOST;
	opt_parse_or_exit(&spec, argc, argv, &in);
	format_apply_or(&spec, &in, &opt.format, formats);
	mapfile_watch();
	broker_start();
	if (opt.html)
		broker_trust(BROKER_OUTPUT, opt.html);
	run_trust(&opt.how);
	if (recorded_again(&again, &in, TEMP_PRINTER, opt.no_exec, &err) < 0)
		die_err(&err);
	opt.recorded = again.as.bundle ? &again.as : NULL;
	if (!in.command) /* a command that is watched must not inherit ignored signals */
		output_fail_writes();
	check_options();
	if (!opt.diff) /* before a folder is made for the run; --diff may run nothing */
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
	run_how_release(&opt.how);
	operands_release(&in);
	recorded_release(&again);
	return status;
}
