/* pt2-run - run a compiled CPU model, or an exported program's graph, without PyTorch, and write what it gives. */
#include "process/child.h"
#include "tool/diag.h"
#include "tool/screen.h"
#include "io/mapfile.h"
#include "tool/output.h"
#include "live/inputs.h"
#include "ptrun.h"
#include "repro/graphfile.h"

#include <unistd.h>

enum { REPEAT = 20 }; /* with --profile */

static struct ptrun_options opt = {.format = -1};

static const char *const formats[] = {"npy", "npz", "safetensors", "pt", NULL};

static const struct opt options[] = {
    OPT_HEADING("Output"),
    OPT_STRING('o', "output", "FILE", &opt.output, "write the outputs into this file: .npz, .npy, .pt or .safetensors"),
    OPT_CHOICE(0, "format", "FORMAT", &opt.format, formats, "its format, whatever its name: npz, npy, pt or safetensors"),
    OPT_FLAG('p', "profile", &opt.profile, "how long loading, the first call and later ones take"),
    OPT_FLAG('f', "full", &opt.full, "show every element of every output"),
    OPT_FLAG(0, "json", &opt.json, "one JSON document: the outputs' facts, and times"),
    OPT_MAX_TEXT,
    OPT_FLAG('q', "quiet", &opt.quiet, "show nothing but errors"),
    OPT_HEADING("How to run"),
    OPT_STRING('m', "model", "NAME", &opt.model, "one of several models in a package"),
    OPT_INT('n', "repeat", "RUNS", &opt.repeat, 1, 1000000, "run the model so often (default: 1; with --profile: 20)"),
    OPT_STRING(0, "weights", "FILE", &opt.weights, "take the weights from FILE: .safetensors, .pt, .npz, an exported .pt2"),
    OPT_STRING(0, "torch", "[=DIR]", &opt.torch, "with an installed libtorch"),
    OPT_LIST(0, "load", "LIB", &opt.load, "with --torch: a library that defines operators (TORCH_LIBRARY)"),
    OPT_FLAG(0, "double", &opt.as_double, "of a graph: every float and complex number in double precision"),
    OPT_STRING('g', "graph", "ID[:NAME]", &opt.graph, "the graph of a TORCH_TRACE log: 0/0, 0/0:aot_forward_graph"),
    OPT_INT(0, "threads", "N", &opt.threads, 1, 4096, "OpenMP threads (default: OMP_NUM_THREADS, else one for each processor)"),
    RUN_OPT_TIMEOUT(opt.timeout),
    OPT_SIZE(0, "max-memory", "SIZE", &opt.max_memory, 1, UINT64_MAX, "address space (default: 16G and four times the model)"),
    OPT_SIZE(0, "max-bytes", "SIZE", &opt.max_bytes, 1, UINT64_MAX, "of a graph: of its values at a time (default: no limit)"),
    OPT_FLAG(0, "unconfined", &opt.unconfined, "let the model write files and use the network"),
    OPT_FLAG('v', "verbose", &opt.verbose, "show what the model prints"),
    OPT_END,
};

static const struct opt_rule rules[] = {
    RUN_RULE_LOAD,
    {.of = "format", .without = "output", .text = "--format is for -o"},
    {.of = "quiet", .with = "json profile", .text = "--quiet shows nothing of --json or --profile"},
    {.of = "full", .with = "json profile output", .text = "--full is for outputs that are shown: not with -o, --json or --profile"},
    {0},
};

static const struct opt_spec spec = {
    .tool = "pt2-run",
    .about = "Run a compiled model (AOTInductor), an exported program or a graph without PyTorch, and write what it gives.",
    .footer = "MODEL is a .pt2 package, a model.so, a folder, a bundle that aoti-printer --record kept, or what torch.export.save wrote, "
	      "whose graph is run operator by operator, as eager does; or a graph alone: a trace log (--graph), a minifier's launcher or "
	      "repro, graph.json. INPUT as for "
	      "aoti-checkinputs: a file, one tensor of it, or a spec such as f32[8,10]. Outputs are out0, out1, ... in flattened order; "
	      "a None leaves its number out.",
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
	shown_most = SHOWN_MOST;
	opt_parse_or_exit(&spec, argc, argv, &in);
	mapfile_watch();
	output_fail_writes();
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
