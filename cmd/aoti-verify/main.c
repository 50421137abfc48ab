/* aoti-verify - which kernel of a compiled model computes something else than its graph? */
#include "io/mapfile.h"
#include "process/child.h"
#include "tool/diag.h"
#include "tool/output.h"
#include "verifier.h"

static struct verifier_options opt = {.error_exitcode = -1};

static const struct opt options[] = {
    OPT_HEADING("What to look at"),
    OPT_STRING('g', "graph", "ID[:NAME]", &opt.of, "the graph of a TORCH_TRACE log: 0/0, 0/0:inductor_post_grad_graph"),
    OPT_INT('N', "runs", "N", &opt.runs, 1, 1000000, "run the model so often (default: 1; 2 where a call changes its buffers)"),
    OPT_FLAG(0, "no-more", &opt.no_more, "only the inputs that are given: no other sizes and values"),
    OPT_U64(0, "seed", "N", &opt.seed, 0, UINT64_MAX, "make up other numbers (default: 0)"),
    OPT_FLAG(0, "partial", &opt.partial, "exit with 0 also where not all could be verified"),
    OPT_HEADING("How to run"),
    OPT_STRING('m', "model", "NAME", &opt.model, "one of several models in a package, of several graphs in a dump (0_backward)"),
    OPT_STRING(0, "weights", "FILE", &opt.weights, "take the weights of both from FILE: .safetensors, .pt, .npz, an exported .pt2"),
    OPT_STRING(0, "torch", "[=DIR]", &opt.torch, "with an installed libtorch"),
    OPT_LIST(0, "load", "LIB", &opt.load, "with --torch: a library that defines operators (TORCH_LIBRARY)"),
    RUN_OPT_TIMEOUT(opt.timeout),
    OPT_SIZE(0, "max-bytes", "SIZE", &opt.max_bytes, 1, UINT64_MAX, "of the graph's values (default: no limit)"),
    OPT_HEADING("Output"),
    OPT_FLAG('a', "all", &opt.all, "a table of all calls"),
    OPT_FLAG(0, "json", &opt.json, "one JSON document"),
    OPT_STRING(0, "html", "FILE", &opt.html, "one page: the graph beside the kernels, and their errors"),
    OPT_MAX_TEXT,
    OPT_FLAG('q', "quiet", &opt.quiet, "only the exit status"),
    OPT_INT(0, "error-exitcode", "N", &opt.error_exitcode, 0, 255, "exit with N when something is wrong"),
    OPT_END,
};

static const struct opt_rule rules[] = {
    RUN_RULE_LOAD,
    {.of = "quiet", .with = "json all", .text = "--quiet shows nothing of --json or --all"},
    {.one_of = "json all", .text = "--json has all calls: --all is for the text"},
    {0},
};

static const struct opt_spec spec = {
    .tool = "aoti-verify",
    .about = "Which kernel of a compiled model (AOTInductor) computes something else than its graph?",
    .footer =
	"GRAPH is what torch.export.save wrote: it is run here, operator by operator, without PyTorch. MODEL is the package that was "
	"compiled from it, which runs here, too, or a folder that aoti-printer --inputs -o wrote. Where no exported program was kept, "
	"GRAPH is the trace of the compilation (TORCH_TRACE), a launcher or graph.json. INPUT as for aoti-checkinputs.",
    .options = options,
    .rules = rules,
    .operands = "GRAPH MODEL [INPUT...]",
    .min = 2,
    .max = -1,
};

static void say_notes(const struct verifier *v)
{
	if (opt.quiet)
		return;
	if (v->n_sources)
		warn_lines(buf_slice(&v->source[0].ran.notes));
	warn_lines(buf_slice(&v->notes));
}

/* Ends the tool as the signal would have, once what it made is removed. */
static void end_by_signal(void)
{
	if (child_signalled())
		child_exit_like(&(struct child_result){.how = CHILD_SIGNALED, .sig = child_signalled()});
}

int main(int argc, char **argv)
{
	struct operands in;
	struct verifier v;
	struct err err = {0};
	struct screen s;
	shown_most = SHOWN_MOST;
	opt_parse_or_exit(&spec, argc, argv, &in);
	mapfile_watch();
	output_fail_writes();
	if (verifier_open(&v, &opt, &in, &err) < 0) {
		verifier_close(&v);
		end_by_signal();
		die_err(&err);
	}
	say_notes(&v);
	s = screen_make();
	if (opt.json) {
		struct json_out o = {.b = &s.b};
		verifier_document(&o, &v);
		buf_addc(&s.b, '\n');
	} else if (!opt.quiet) {
		verifier_show(&s, &v);
	}
	const int status = verifier_status(&v), paged = opt.html ? verifier_page(&v, opt.html, &err) : 0;
	verifier_close(&v);
	end_by_signal();
	if (paged < 0)
		die_err(&err);
	screen_end(&s);
	opt_list_release(&opt.load);
	operands_release(&in);
	return status;
}
