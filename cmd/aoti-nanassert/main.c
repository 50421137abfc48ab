/* aoti-nanassert - which kernel of a compiled model made the first NaN, and why? */
#include "process/child.h"
#include "tool/diag.h"
#include "repro/recorded.h"
#include "io/mapfile.h"
#include "tool/output.h"
#include "nanassert.h"

#include <math.h>
#include <signal.h>
#include <unistd.h>

static struct nanassert_options opt = {.error_exitcode = -1};

/* LO,HI; either may be left out. */
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
		return err_set(err, EXIT_USAGE, "'%s' is no range such as -100,100 or ,65504", value);
	opt.range = true;
	return 0;
}

static const struct opt options[] = {
    OPT_HEADING("What to look for"),
    OPT_FLAG(0, "inf", &opt.inf, "infinities, too"),
    OPT_FLAG(0, "no-inf", &opt.no_inf, "NaN only, whatever TORCHINDUCTOR_NAN_ASSERTS says"),
    OPT_CALL(0, "range", "RANGE", take_range, NULL, "and numbers outside of LO,HI"),
    OPT_LIST(0, "ignore", "GLOB", &opt.ignore, "not in these kernels, buffers or weights (a mask of -inf)"),
    OPT_STRING(0, "graph", "GLOB", &opt.graph, "of torch.compile only these graphs: 3_backward"),
    OPT_STRING(0, "step", "RANGE", &opt.step, "only these runs of each model or graph, or steps of the optimizer, from 0: 3, 3..5, 3.."),
    OPT_FLAG(0, "constants", &opt.constants, "look through every weight and input once"),
    OPT_FLAG('a', "all", &opt.all, "every place, not only the first"),
    OPT_HEADING("How to run"),
    OPT_STRING('m', "model", "NAME", &opt.model, "one of several models in a package"),
    OPT_INT('N', "repeat", "N", &opt.repeat, 1, 1000000, "run the model so often (default: 1)"),
    OPT_INT(0, "runs", "N", &opt.repeat, 1, 1000000, NULL), /* its first name */
    OPT_STRING(0, "torch", "[=DIR]", &opt.torch, "with an installed libtorch"),
    OPT_STRING(0, "weights", "FILE", &opt.weights, "take the weights from FILE: .safetensors, .pt, .npz, an exported .pt2"),
    OPT_LIST(0, "load", "LIB", &opt.load, "with --torch: a library that defines operators (TORCH_LIBRARY)"),
    RUN_OPT_TIMEOUT(opt.timeout),
    OPT_STRING(0, "against", "EXPORTED", &opt.against, "whose it is: the model's, as torch.export.save wrote it, or the compiler's"),
    OPT_FLAG(0, "fail", &opt.fail, "let the model return an error at the call that made it"),
    OPT_FLAG(0, "no-exec", &opt.no_exec, "run nothing of a model but what the watched command runs"),
    OPT_HEADING("Output"),
    OPT_STRING(0, "trace", "FILE", &opt.trace, "source nodes and Python lines of kernels: a TORCH_TRACE log or kernel_information.json"),
    OPT_FLAG(0, "json", &opt.json, "one JSON document"),
    OPT_STRING(0, "log", "FILE", &opt.log, "write there, not to standard output or error"),
    OPT_MAX_TEXT,
    OPT_FLAG('q', "quiet", &opt.quiet, "only the exit status"),
    OPT_INT(0, "error-exitcode", "N", &opt.error_exitcode, 0, 255, "exit with N when something is found"),
    OPT_END,
};

static const struct opt_rule rules[] = {
    RUN_RULES_COMMAND,
    RUN_RULE_LOAD,
    {.one_of = "inf no-inf", .text = "--inf and --no-inf contradict each other"},
    {.of = OPT_COMMAND, .with = "against", .text = "--against is for a model that is run here, not for a command"},
    {.of = "against", .with = "no-exec", .text = "--against is for a model that is run here, not with --no-exec"},
    {.of = "graph", .without = OPT_COMMAND, .text = "--graph needs a command: aoti-nanassert --graph 3_backward -- python train.py"},
    {.of = "fail", .with = "ignore", .text = "--fail stops the model at the first it sees, and cannot leave out what --ignore names"},
    {0},
};

static const struct opt_spec spec = {
    .tool = "aoti-nanassert",
    .about = "Which kernel of a compiled model (AOTInductor) made the first NaN, from which numbers, and why.",
    .footer = "MODEL is a .pt2 package, a model.so, a folder, or a bundle that aoti-printer --record kept; INPUT as for "
	      "aoti-checkinputs. It runs here, without PyTorch, or with --torch. A folder that aoti-printer -o wrote is looked "
	      "through without running anything. With a command: every such model in that process is watched.",
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
		die(EXIT_USAGE, "'%s' is a folder of saved tensors, which takes no inputs", in->v[0]);
	if (dump && opt.against)
		die(EXIT_USAGE, "'%s' is a folder of saved tensors: --against needs the model and its inputs", in->v[0]);
	if (dump && (opt.model || opt.torch || opt.load.n || opt.repeat || opt.timeout || opt.fail || opt.weights))
		die(EXIT_USAGE,
		    "'%s' is a folder of saved tensors: nothing is run (no --model, --weights, --torch, --repeat, --timeout or "
		    "--fail)",
		    in->v[0]);
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
	if (recorded_again(&again, &in, TEMP_NANASSERT, opt.no_exec, &err) < 0)
		die_err(&err);
	if (!in.command) /* a command that is watched must not inherit ignored signals */
		output_fail_writes();
	bool dump = !in.command && dump_like(in.v[0]);
	check_options(&in, dump);
	take_environment();
	if (in.command)
		status = run_command(&opt, in.command);
	else if (dump)
		status = run_dump(&opt, in.v[0]);
	else
		status = run_model_file(&opt, &in);
	opt_list_release(&opt.ignore);
	opt_list_release(&opt.load);
	operands_release(&in);
	recorded_release(&again);
	return status;
}
