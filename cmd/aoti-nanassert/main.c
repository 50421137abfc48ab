/* aoti-nanassert - which kernel of a compiled model produced the first NaN, and why? */
#include "base/emit/format.h"
#include "base/broker/broker.h"
#include "base/process/child.h"
#include "base/tool/diag.h"
#include "graph/repro/recorded.h"
#include "base/io/mapfile.h"
#include "base/tool/output.h"
#include "nanassert.h"

#include <math.h>
#include <signal.h>
#include <unistd.h>

static struct nanassert_options opt = {.error_exitcode = -1};

/* LO,HI; either may be omitted. */
static int take_range(void *target, const char *value, struct err *err)
{
	(void)target;
	char *end;
	opt.lo = -INFINITY;
	opt.hi = INFINITY;
	const char *comma = strchr(value, ',');
	bool ok = comma != NULL;
	if (ok && comma != value) {
		opt.lo = strtod(value, &end);
		ok = end == comma;
	}
	if (ok && comma[1]) {
		opt.hi = strtod(comma + 1, &end);
		ok = !*end;
	}
	if (!ok || isnan(opt.lo) || isnan(opt.hi) || opt.lo > opt.hi)
		return err_set(err, EXIT_USAGE, "'%s' is not a range such as -100,100 or ,65504", value);
	opt.range = true;
	return 0;
}

/* RUN:CALL */
static int take_place(void *target, const char *value, struct err *err)
{
	char *end;
	(void)target;
	const unsigned long run = strtoul(value, &end, 10);
	const bool first = end != value && *value >= '0' && *value <= '9' && *end == ':';
	const char *rest = first ? end + 1 : "";
	const unsigned long call = strtoul(rest, &end, 10);
	if (*rest < '0' || *rest > '9' || *end || run >= UINT32_MAX || call >= UINT32_MAX - 1)
		return err_set(err, EXIT_USAGE, "'%s' is not a call of a run, counted from 0: use RUN:CALL, such as 12:7", value);
	opt.stop_run = (uint32_t)run;
	opt.stop_call = (uint32_t)call;
	opt.stops = true;
	return 0;
}

static const struct opt options[] = {
    OPT_HEADING("What to look for"),
    OPT_FLAG(0, "inf", &opt.inf, "look for infinities, too"),
    OPT_FLAG(0, "no-inf", &opt.no_inf, "look for NaN only, whatever TORCHINDUCTOR_NAN_ASSERTS says", .rare = true),
    OPT_CALL(0, "range", "RANGE", take_range, NULL, "report numbers outside LO,HI, too"),
    OPT_LIST(0, "ignore", "GLOB", &opt.ignore, "skip these kernels, buffers or weights",
	     .more = "For example a mask that holds -inf. May be given again."),
    RUN_OPT_GRAPH(opt.graph),
    RUN_OPT_STEP(opt.step, false),
    OPT_FLAG(0, "constants", &opt.constants, "check every weight and input once"),
    OPT_FLAG(0, "explode", &opt.explode, "find what first leaves its usual range, no NaN",
	     .more = "By run: gradients, activations, weights; and what becomes all zeros."),
    OPT_FLAG(0, "skipped", &opt.skipped, "report steps that GradScaler skips, too", .rare = true,
	     .more = "By default only what stays although its scale falls."),
    OPT_FLAG('a', "all", &opt.all, "report every place, not only the first"),
    OPT_FLAG(0, "exact", &opt.exact, "on a GPU, wait for each call and examine it"),
    OPT_CALL(0, "stop-at", "PLACE", take_place, NULL, "examine only one call of one run: RUN:CALL, as 12:7",
	     .more = "Both are counted from 0, for each model or graph."),
    OPT_HEADING("How to run"),
    RUN_OPT_MODEL(opt.how),
    RUN_OPT_REPEAT('N', "repeat", "N", opt.how, " (default: 1)", NULL),
    OPT_INT(0, "runs", "N", &opt.how.runs, 1, 1000000, NULL), /* its first name */
    RUN_OPT_TORCH(opt.how),
    RUN_OPT_WEIGHTS(opt.how, "", false),
    RUN_OPT_LOAD(opt.how),
    RUN_OPT_BOUNDS(opt.how),
    RUN_OPT_TIMEOUT(opt.how),
    OPT_STRING(0, "against", "EXPORTED", &opt.against, "tell the model's own NaN from the compiler's",
	       .more = "EXPORTED is the program that torch.export.save wrote."),
    OPT_FLAG(0, "fail", &opt.fail, "stop the model with an error at the first finding"),
    OPT_FLAG(0, "no-exec", &opt.no_exec, "run no model except in the watched command"),
    OPT_HEADING("Output"),
    OPT_STRING(0, "trace", "FILE", &opt.trace, "map kernels to nodes and Python lines with FILE",
	       .more = "A TORCH_TRACE log or kernel_information.json."),
    OPT_FLAG(0, "json", &opt.json, "write one JSON document"),
    OPT_FORMAT,
    OPT_STRING(0, "log", "FILE", &opt.log, "write to FILE instead of stdout or stderr"),
    OPT_MAX_TEXT,
    OPT_FLAG('q', "quiet", &opt.quiet, "print nothing; only set the exit status"),
    OPT_INT(0, "error-exitcode", "N", &opt.error_exitcode, 0, 255, "exit with N if something is found"),
    OPT_END,
};

static const struct opt_rule rules[] = {
    RUN_RULES_COMMAND,
    RUN_RULE_LOAD,
    {.one_of = "inf no-inf", .text = "--inf and --no-inf cannot be combined"},
    {.of = OPT_COMMAND, .with = "against", .text = "--against cannot be combined with -- COMMAND"},
    {.of = "against", .with = "no-exec", .text = "--against runs the model and cannot be combined with --no-exec"},
    RUN_RULE_GRAPH("aoti-nanassert --graph 3_backward -- python train.py"),
    {.of = "stop-at", .without = OPT_COMMAND, .text = "--stop-at requires a command: aoti-nanassert --stop-at 12:7 -- python train.py"},
    {.of = "exact", .without = OPT_COMMAND, .text = "--exact requires a command: a model that runs here is always examined call by call"},
    {.of = "explode", .without = OPT_COMMAND, .text = "--explode requires a command: aoti-nanassert --explode -- python train.py"},
    {.of = "explode",
     .with = "fail inf no-inf range constants exact stop-at ignore",
     .text = "--explode looks for no NaN, and conflicts with options that do"},
    {.of = "stop-at", .with = "step", .text = "--stop-at names the run and cannot be combined with --step"},
    {.of = "fail", .with = "ignore", .text = "--fail stops at the first finding and cannot be combined with --ignore"},
    {0},
};

static const struct opt_spec spec = {
    .tool = "aoti-nanassert",
    .about = "Which kernel of a compiled model produced the first NaN, and why?",
    .example = {{"model.pt2 batch.npy", "find the first NaN"},
		{"--range=,65504 model.pt2 batch.npy", "catch float16 overflow"},
		{"-- python train.py", "watch a whole program"}},
    .footer = "MODEL: a .pt2, a model.so, a directory, or an aoti-printer dump or recording.\n" RUN_INPUT_TEXT,
    .more = "The model runs here, without PyTorch or with --torch. A directory that aoti-printer -o wrote is searched "
	    "without running anything. With a command, every compiled model in that process is watched.",
    .options = options,
    .rules = rules,
    .operands = "MODEL [INPUT...]",
    .min = 1,
    .max = -1,
    .command = true,
};

/* PyTorch's own variable (torch/_inductor/config.py, nan_asserts), unless an option says otherwise: its assertions count infinities,
 * too. */
static void take_environment(void)
{
	const char *v = getenv("TORCHINDUCTOR_NAN_ASSERTS");
	if (v && !strcmp(v, "1") && !opt.no_inf)
		opt.inf = true;
}

static void check_options(const struct operands *in, bool dump)
{
	if (dump && in->n > 1)
		die(EXIT_USAGE, "'%s' is a directory of saved tensors: it takes no inputs", in->v[0]);
	if (dump && (opt.how.model || opt.how.torch || opt.how.load.n || opt.how.runs || opt.how.timeout_s || opt.fail || opt.how.weights))
		die(EXIT_USAGE,
		    "'%s' is a directory of saved tensors: nothing is run (no --model, --weights, --torch, --repeat, --timeout or "
		    "--fail)",
		    in->v[0]);
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
	format_apply(&spec, &in);
	mapfile_watch();
	broker_start();
	run_trust(&opt.how);
	if (recorded_again(&again, &in, TEMP_NANASSERT, opt.no_exec, &err) < 0)
		die_err(&err);
	if (!in.command) /* a command that is watched must not inherit ignored signals */
		output_fail_writes();
	bool dump = !in.command && dump_like(in.v[0]);
	check_options(&in, dump);
	take_environment();
	opt.recorded = again.as.bundle ? &again.as : NULL;
	if (in.command)
		status = run_command(&opt, in.command);
	else if (dump)
		status = run_dump(&opt, in.v[0]);
	else
		status = run_model_file(&opt, &in);
	opt_list_release(&opt.ignore);
	run_how_release(&opt.how);
	operands_release(&in);
	recorded_release(&again);
	return status;
}
