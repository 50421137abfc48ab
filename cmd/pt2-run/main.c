/* pt2-run - run a compiled CPU model, or an exported program's graph, without PyTorch, and write its outputs. */
#include "base/emit/format.h"
#include "base/broker/broker.h"
#include "base/process/child.h"
#include "base/tool/diag.h"
#include "base/tool/screen.h"
#include "base/io/mapfile.h"
#include "base/tool/output.h"
#include "watch/inputs.h"
#include "ptrun.h"
#include "graph/repro/graphfile.h"

#include <unistd.h>

enum { REPEAT = 20 }; /* with --profile */

static struct ptrun_options opt = {.format = -1};

static const char *const formats[] = {"npy", "npz", "safetensors", "pt", FORMAT_NAMES, NULL};

static const struct opt options[] = {
    OPT_HEADING("Output"),
    OPT_STRING('o', "output", "FILE", &opt.output, "save the outputs: .npz, .npy, .pt or .safetensors"),
    OPT_CHOICE(0, "format", "FORMAT", &opt.format, formats, "choose the format of -o, or of the answer", .rare = true),
    OPT_FLAG('p', "profile", &opt.profile, "measure loading, the first call and later calls"),
    OPT_FLAG('f', "full", &opt.full, "print every element of every output"),
    OPT_FLAG(0, "json", &opt.json, "write one JSON document: outputs and times"),
    OPT_MAX_TEXT,
    OPT_FLAG('q', "quiet", &opt.quiet, "print errors only"),
    OPT_HEADING("How to run"),
    RUN_OPT_MODEL(opt.how),
    RUN_OPT_REPEAT('n', "repeat", "RUNS", opt.how, "", "Default: 1; with --profile: 20."),
    RUN_OPT_WEIGHTS(opt.how, "", false),
    RUN_OPT_TORCH(opt.how),
    RUN_OPT_LOAD(opt.how),
    CUSTOM_OPS_OPTIONS(opt.ops),
    RUN_OPT_BOUNDS(opt.how),
    OPT_FLAG(0, "double", &opt.as_double, "compute a graph in double precision", .more = "Every float and complex number of it."),
    OPT_STRING('g', "graph", "ID[:NAME]", &opt.graph, "choose the graph of a TORCH_TRACE log: 0/0",
	       .more = "By its name: 0/0:aot_forward_graph."),
    OPT_INT(0, "threads", "N", &opt.threads, 1, 4096, "use N OpenMP threads",
	    .more = "Default: OMP_NUM_THREADS, or one for each processor."),
    RUN_OPT_TIMEOUT(opt.how),
    OPT_SIZE(0, "max-memory", "SIZE", &opt.max_memory, 1, UINT64_MAX, "limit the model's address space",
	     .more = "Default: 16G and four times the model."),
    OPT_SIZE(0, "max-bytes", "SIZE", &opt.max_bytes, 1, UINT64_MAX, "limit the values of a graph held at one time",
	     .more = "Default: no limit."),
    OPT_FLAG(0, "unconfined", &opt.unconfined, "let the model write files and use the network"),
    OPT_FLAG('v', "verbose", &opt.verbose, "show what the model prints"),
    OPT_END,
};

static const struct opt_rule rules[] = {
    RUN_RULE_LOAD,
    CUSTOM_OPS_RULE,
    {.of = "bounds",
     .with = "threads max-memory unconfined verbose profile",
     .text = "--bounds cannot be combined with --profile, --threads, --max-memory, --unconfined or --verbose"},
    {.of = "quiet", .with = "json profile", .text = "--quiet cannot be combined with --json or --profile"},
    {.of = "full", .with = "json profile output", .text = "--full cannot be combined with -o, --json or --profile"},
    {0},
};

static const struct opt_spec spec = {
    .tool = "pt2-run",
    .about = "What does this compiled model, exported program or graph compute?",
    .example = {{"model.pt2 batch.npy", "run it and print the outputs"},
		{"model.pt2 batch.npy -o out.npz", "save the outputs"},
		{"--profile model.pt2 'f32[5,8]'", "time it on generated inputs"}},
    .footer = "MODEL: a .pt2 (compiled or exported), a model.so, a directory, or a graph.\n" RUN_INPUT_TEXT,
    .more = "No PyTorch is needed. The graph of an exported program runs operator by operator, as in eager. A graph alone is a trace log "
	    "(--graph), a minifier launcher or repro, or graph.json; a bundle that aoti-printer --record kept is a MODEL, too. "
	    "Outputs are out0, out1, ... in flattened order; an output that is None leaves its number out.",
    .options = options,
    .rules = rules,
    .operands = "MODEL [INPUT...]",
    .min = 1,
    .max = -1,
};

static void say_notes(const struct run_result *r)
{
	struct slice rest = buf_slice(&r->notes), line;
	while (!opt.quiet && slice_line(&rest, &line))
		warn("%.*s", SL(line));
}

/* Passes what the model prints to standard error, without terminal control bytes. */
static void show_printed(void *user, struct slice text)
{
	struct screen s = {0};
	(void)user;
	buf_add_slice(&s.b, text);
	screen_write(&s, STDERR_FILENO, "standard error", NULL); /* nothing can be done if that is gone */
	buf_release(&s.b);
}

static int run_guarded(const struct operands *in, struct run_result *r, struct guard *b, struct err *err)
{
	const struct watch_options o = {
	    .model = in->v[0], .operand = in->v + 1, .n_operand = in->n - 1, .how = opt.how, .quiet = opt.quiet};
	return guard_run(&o, b, r, err);
}

/* To standard error, beside the outputs; they are in the JSON document. */
static void say_bounds(const struct guard *b)
{
	struct screen s = {0};
	if (!opt.json && !(opt.quiet && !guard_found(b))) {
		guard_show(&s, b, "pt2-run: ");
		screen_write(&s, STDERR_FILENO, "standard error", NULL);
	}
	buf_release(&s.b);
}

static int run_operand(const struct operands *in, struct custom_ops *ops, struct run_result *r, struct guard *b, struct err *err)
{
	struct loaded l;
	struct inputs given;
	if (opt.graph || graph_file_is(in->v[0]) || is_exported(in->v[0]))
		return run_graph(&opt, in, ops, r, err);
	if (ops)
		return err_set(err, EXIT_USAGE,
			       "--ops applies to a graph or exported program: '%s' is compiled code, for which --load loads operators",
			       in->v[0]);
	if (opt.how.bounds)
		return run_guarded(in, r, b, err);
	if (opt.max_bytes)
		return err_set(err, EXIT_USAGE, "--max-bytes applies to a graph; use --max-memory for compiled code");
	if (opt.as_double)
		return err_set(err, EXIT_USAGE, "--double applies to a graph or exported program: '%s' is compiled code with fixed types",
			       in->v[0]);
	if (inputs_load(&l, &given, in->v[0], &opt.how, in->v + 1, in->n - 1, err) < 0)
		return -1;
	struct run_options o = {
	    .how = opt.how,
	    .contract = &l.contract,
	    .threads = (unsigned)opt.threads,
	    .max_memory = opt.max_memory,
	    .unconfined = opt.unconfined,
	    .printed = opt.verbose ? show_printed : NULL,
	};
	if (!o.how.runs && opt.profile)
		o.how.runs = REPEAT;
	int rc = run_model(&l.pkg, given.v, given.n, &o, r, err);
	inputs_release(&given);
	loaded_release(&l);
	return rc;
}

/* OUT is created before the model runs, so that write errors are reported at once. */
static int run_and_write(const struct operands *in, struct custom_ops *ops, bool *found, struct err *err)
{
	struct run_result r = {0};
	struct guard b = {0};
	struct output *out = NULL;
	enum tensor_format format = TENSOR_NPZ;
	if (opt.output && (save_format(&opt, &format, err) < 0 || !(out = output_file(opt.output, err))))
		return -1;
	broker_seal(0);
	int rc = run_operand(in, ops, &r, &b, err);
	if (!rc && child_signalled()) { /* the signal came too early or too late to end the model */
		run_result_release(&r);
		rc = -1;
	}
	if (!rc && opt.how.bounds) {
		say_bounds(&b);
		*found = guard_found(&b);
	}
	if (!rc) {
		say_notes(&r);
		if (out)
			rc = save_outputs(output_fd(out), format, &r.out, opt.output, err);
		if (!rc && out) {
			rc = output_commit(out, err);
			out = NULL;
		}
		if (!rc && !opt.quiet)
			rc = show_result(&opt, in->v[0], &r.out, opt.how.bounds ? &b : NULL, err);
		run_result_release(&r);
	}
	guard_release(&b);
	if (out)
		output_abort(out);
	return rc;
}

int main(int argc, char **argv)
{
	struct operands in;
	struct err err = {0};
	bool found = false;
	shown_most = SHOWN_MOST;
	opt_parse_or_exit(&spec, argc, argv, &in);
	format_apply_or(&spec, &in, &opt.format, formats);
	if (opt.format >= 0 && !opt.output)
		die(EXIT_USAGE, "--format=%s requires -o", formats[opt.format]);
	mapfile_watch();
	output_fail_writes();
	broker_start();
	if (opt.unconfined)
		broker_trust(BROKER_UNCONFINED, NULL);
	run_trust(&opt.how);
	child_signals(CHILD_SIGNALS_FORWARD); /* files are then removed, as after any other failure */
	opt.ops.timeout_s = opt.how.timeout_s;
	struct custom_ops *ops = custom_ops_start(&opt.ops, &err);
	int rc = opt.ops.file && !ops ? -1 : run_and_write(&in, ops, &found, &err);
	custom_ops_end(ops);
	run_how_release(&opt.how);
	operands_release(&in);
	if (child_signalled())
		child_exit_like(&(struct child_result){.how = CHILD_SIGNALED, .sig = child_signalled()});
	if (rc < 0)
		die_err(&err);
	return found ? EXIT_FOUND : EXIT_FINE;
}
