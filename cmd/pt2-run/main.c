/* pt2-run - run a compiled CPU model, or an exported program's graph, without PyTorch, and write what it gives. */
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

static const char *const formats[] = {"npy", "npz", "safetensors", "pt", NULL};

static const struct opt options[] = {
    OPT_HEADING("Output"),
    OPT_STRING('o', "output", "FILE", &opt.output, "save the outputs: .npz, .npy, .pt or .safetensors"),
    OPT_CHOICE(0, "format", "FORMAT", &opt.format, formats, "choose the format of -o, whatever the file's name", .rare = true),
    OPT_FLAG('p', "profile", &opt.profile, "measure loading, the first call and later calls"),
    OPT_FLAG('f', "full", &opt.full, "print every element of every output"),
    OPT_FLAG(0, "json", &opt.json, "write one JSON document: outputs and times"),
    OPT_FLAG('q', "quiet", &opt.quiet, "print errors only"),
    OPT_HEADING("How to run"),
    OPT_STRING('m', "model", "NAME", &opt.model, "choose the model, if the package holds several"),
    OPT_INT('n', "repeat", "RUNS", &opt.repeat, 1, 1000000, "run the model RUNS times", .more = "Default: 1; with --profile: 20."),
    OPT_STRING(0, "weights", "FILE", &opt.weights, "load the weights from FILE", .more = ".safetensors, .pt, .npz or an exported .pt2."),
    OPT_STRING(0, "torch", "[=DIR]", &opt.torch, "run with an installed libtorch"),
    OPT_LIST(0, "load", "LIB", &opt.load, "load a library of custom operators (TORCH_LIBRARY)", .rare = true,
	     .more = "Requires --torch; may be given again."),
    OPT_FLAG(0, "double", &opt.as_double, "compute a graph in double precision", .more = "Every float and complex number of it."),
    OPT_STRING('g', "graph", "ID[:NAME]", &opt.graph, "choose the graph of a TORCH_TRACE log: 0/0",
	       .more = "By its name: 0/0:aot_forward_graph."),
    OPT_INT(0, "threads", "N", &opt.threads, 1, 4096, "use N OpenMP threads",
	    .more = "Default: OMP_NUM_THREADS, or one for each processor."),
    OPT_INT(0, "timeout", "SECONDS", &opt.timeout, 1, 1000000, "stop the model after SECONDS (default: 600)"),
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
    {.of = "format", .without = "output", .text = "--format requires -o"},
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
    .footer = "MODEL: a .pt2 (compiled or exported), a model.so, a directory, or a graph.\n"
	      "INPUT: a file (.npy .npz .safetensors .pt), FILE:KEY, or a spec: f32[8,10].",
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

/* Passes what the model prints on to standard error, without control bytes that drive the terminal. */
static void show_printed(void *user, struct slice text)
{
	struct screen s = {0};
	(void)user;
	buf_add_slice(&s.b, text);
	screen_write(&s, STDERR_FILENO, "standard error", NULL); /* nothing can be done when that is gone */
	buf_release(&s.b);
}

static int run_operand(const struct operands *in, struct run_result *r, struct err *err)
{
	struct loaded l;
	struct inputs given;
	if (opt.graph || graph_file_is(in->v[0]) || is_exported(in->v[0]))
		return run_graph(&opt, in, r, err);
	if (opt.max_bytes)
		return err_set(err, EXIT_USAGE, "--max-bytes is for a graph; that of compiled code is --max-memory");
	if (opt.as_double)
		return err_set(err, EXIT_USAGE, "--double is for a graph, as an exported program has one: the code of '%s' has its types",
			       in->v[0]);
	if (inputs_load(&l, &given, in->v[0], opt.model, in->v + 1, in->n - 1, err) < 0)
		return -1;
	const struct run_options o = {
	    .model = opt.model,
	    .torch = opt.torch,
	    .load = opt.load.v,
	    .n_load = opt.load.n,
	    .weights = opt.weights,
	    .contract = &l.contract,
	    .runs = opt.repeat    ? (unsigned)opt.repeat
		    : opt.profile ? REPEAT
				  : 1,
	    .threads = (unsigned)opt.threads,
	    .timeout_s = (unsigned)opt.timeout,
	    .max_memory = opt.max_memory,
	    .unconfined = opt.unconfined,
	    .printed = opt.verbose ? show_printed : NULL,
	};
	int rc = run_model(&l.pkg, given.v, given.n, &o, r, err);
	inputs_release(&given);
	loaded_release(&l);
	return rc;
}

/* OUT is begun before the model runs: what cannot be written is told at once. */
static int run_and_write(const struct operands *in, struct err *err)
{
	struct run_result r = {0};
	struct output *out = NULL;
	enum tensor_format format = TENSOR_NPZ;
	if (opt.output && (save_format(&opt, &format, err) < 0 || !(out = output_file(opt.output, err))))
		return -1;
	broker_seal(0);
	int rc = run_operand(in, &r, err);
	if (!rc && child_signalled()) { /* it came too early or too late to end the model */
		run_result_release(&r);
		rc = -1;
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
			rc = show_result(&opt, in->v[0], &r.out, err);
		run_result_release(&r);
	}
	if (out)
		output_abort(out);
	return rc;
}

int main(int argc, char **argv)
{
	struct operands in;
	struct err err = {0};
	opt_parse_or_exit(&spec, argc, argv, &in);
	mapfile_watch();
	output_fail_writes();
	broker_start();
	if (opt.unconfined)
		broker_trust(BROKER_UNCONFINED, NULL);
	run_trust(opt.torch, opt.load.v, opt.load.n);
	child_signals(CHILD_SIGNALS_FORWARD); /* what was made is removed then, as after any other failure */
	int rc = run_and_write(&in, &err);
	opt_list_release(&opt.load);
	operands_release(&in);
	if (child_signalled())
		child_exit_like(&(struct child_result){.how = CHILD_SIGNALED, .sig = child_signalled()});
	if (rc < 0)
		die_err(&err);
	return EXIT_FINE;
}
