/* aoti-verify - which kernel of a compiled model does not compute what its graph does? */
#include "base/emit/format.h"
#include "base/io/mapfile.h"
#include "base/process/child.h"
#include "base/tool/diag.h"
#include "base/tool/output.h"
#include "base/tool/tempfolder.h"
#include "base/broker/broker.h"
#include "verifier.h"

#include <sys/stat.h>

static struct verifier_options opt = {.error_exitcode = -1, .how.bounds = true};

static const struct opt options[] = {
    OPT_HEADING("What to verify"),
    OPT_STRING('g', "graph", "ID[:NAME]", &opt.of, "choose the graph of a TORCH_TRACE log: 0/0",
	       .more = "By its name: 0/0:inductor_post_grad_graph."),
    RUN_OPT_REPEAT('N', "runs", "N", opt.how, "", "Default: 1; 2 if a call changes the model's buffers."),
    OPT_FLAG(0, "no-more", &opt.no_more, "test only the given inputs", .more = "Not with other sizes and values, too."),
    OPT_FLAG(0, "kernels-alone", &opt.alone, "call every kernel alone, however long it takes",
	     .more = "Default: as many as 2 seconds and 32 MB allow."),
    OPT_U64(0, "seed", "N", &opt.seed, 0, UINT64_MAX, "set the seed for generated inputs (default: 0)"),
    OPT_FLAG(0, "partial", &opt.partial, "exit 0 even if some kernels could not be verified"),
    OPT_FLAG(0, "strict", &opt.strict, "exit 1 also if a kernel is less exact than eager"),
    OPT_HEADING("How to run"),
    OPT_STRING('m', "model", "NAME", &opt.how.model, "choose the model of a package, or the graph of a dump"),
    RUN_OPT_WEIGHTS(opt.how, " of both", false),
    RUN_OPT_TORCH(opt.how),
    RUN_OPT_LOAD(opt.how),
    CUSTOM_OPS_OPTIONS(opt.ops),
    OPT_FLAG(0, "bounds", &opt.how.bounds, "look for memory errors, in one more run (default)", .rare = true),
    RUN_OPT_TIMEOUT(opt.how),
    OPT_SIZE(0, "max-bytes", "SIZE", &opt.max_bytes, 1, UINT64_MAX, "limit the memory for values (default: no limit)"),
    OPT_HEADING("Output"),
    OPT_FLAG('a', "all", &opt.all, "list all calls in a table"),
    OPT_FLAG(0, "json", &opt.json, "write one JSON document"),
    OPT_FORMAT,
    OPT_STRING(0, "html", "FILE", &opt.html, "write one page: the graph, the kernels, their errors"),
    OPT_MAX_TEXT,
    OPT_FLAG('q', "quiet", &opt.quiet, "print nothing; only set the exit status"),
    OPT_INT(0, "error-exitcode", "N", &opt.error_exitcode, 0, 255, "exit with N if something is wrong"),
    OPT_END,
};

static const struct opt_rule rules[] = {
    RUN_RULE_LOAD,
    CUSTOM_OPS_RULE,
    {.of = "quiet", .with = "json all", .text = "--quiet cannot be combined with --json or --all"},
    {.one_of = "json all", .text = "--json lists all calls and cannot be combined with --all"},
    {0},
};

static const struct opt_spec spec = {
    .tool = "aoti-verify",
    .about = "Which kernel of a compiled model computes the wrong result?",
    .example = {{"exported.pt2 model.pt2 batch.npy", "verify every kernel"},
		{"--all exported.pt2 model.pt2 batch.npy", "list all calls"},
		{"--graph 0/0 train.log dump", "verify a traced run"}},
    .footer = "GRAPH: an exported .pt2, a TORCH_TRACE log, a minifier launcher or graph.json.\n"
	      "MODEL: the package compiled from it, or a dump of aoti-printer --inputs -o.\n" RUN_INPUT_TEXT,
    .more = "The graph runs here, operator by operator, without PyTorch; so does the model.",
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

/* What the kernels read and write becomes files, in all more than the package, and less than this. A small package is unpacked there,
 * too. */
static void keep_in_memory(const char *package)
{
	enum { SMALL = 64 << 20 };
	struct stat st;
	if (stat(package, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	const uint64_t room = (uint64_t)st.st_size * 8 + (UINT64_C(1) << 30);
	temp_folder_in_memory(TEMP_VERIFY, room);
	if (st.st_size <= SMALL)
		temp_folder_in_memory(TEMP_RUN, room);
}

/* Ends the tool as the signal would have, after removing its files. */
static void end_by_signal(void)
{
	if (child_signalled())
		child_exit_like(&(struct child_result){.how = CHILD_SIGNALED, .sig = child_signalled()});
}

/* The model did not survive its run: what its kernels do to memory tells why. */
static int show_crash(struct verifier *v, const struct err *err)
{
	struct screen s = screen_make();
	if (opt.json) {
		struct json_out o = {.b = &s.b};
		verifier_document(&o, v);
		buf_addc(&s.b, '\n');
	} else if (!opt.quiet) {
		verifier_guard_show(&s, v);
	}
	if (!opt.quiet)
		warn("%s", err->text);
	verifier_close(v);
	custom_ops_end(opt.custom);
	end_by_signal();
	screen_end(&s);
	return opt.error_exitcode >= 0 ? opt.error_exitcode : EXIT_FOUND;
}

int main(int argc, char **argv)
{
	struct operands in;
	struct verifier v;
	struct err err = {0};
	struct screen s;
	shown_most = SHOWN_MOST;
	opt_parse_or_exit(&spec, argc, argv, &in);
	format_apply(&spec, &in);
	heap_prepare();
	mapfile_watch();
	output_fail_writes();
	keep_in_memory(in.v[1]);
	broker_start();
	if (opt.html)
		broker_trust(BROKER_OUTPUT, opt.html);
	run_trust(&opt.how);
	opt.ops.timeout_s = opt.how.timeout_s;
	opt.custom = custom_ops_start(&opt.ops, &err);
	if (opt.ops.file && !opt.custom)
		die_err(&err);
	broker_seal(0);
	opt.how.names = in.v[0];
	const int opened = verifier_open(&v, &opt, &in, &err);
	if (opened < 0 && verifier_crashed(&v, &in))
		return show_crash(&v, &err);
	if (opened < 0) {
		verifier_close(&v);
		custom_ops_end(opt.custom);
		end_by_signal();
		die_err(&err);
	}
	verifier_guarded(&v);
	say_notes(&v);
	s = screen_make();
	if (opt.json) {
		struct json_out o = {.b = &s.b};
		verifier_document(&o, &v);
		buf_addc(&s.b, '\n');
	} else if (!opt.quiet) {
		verifier_show(&s, &v);
		verifier_guard_show(&s, &v);
	}
	const int status = verifier_status(&v), paged = opt.html ? verifier_page(&v, opt.html, &err) : 0;
	verifier_close(&v);
	custom_ops_end(opt.custom);
	end_by_signal();
	if (paged < 0)
		die_err(&err);
	screen_end(&s);
	run_how_release(&opt.how);
	operands_release(&in);
	return status;
}
