/* fxminify - the smallest graph that still fails. */
#include "fxminify.h"

#include "base/process/child.h"
#include "base/tool/diag.h"
#include "base/io/mapfile.h"
#include "base/tool/output.h"
#include "reduce/journal.h"

#include <unistd.h>

static struct fxminify_options opt = {.after = -1, .level = -1, .form = -1, .radius = 1, .repeat = 1, .timeout = 300, .stall = -1};
static struct opt_list passes;

static const char *const after_names[] = {"aot", "dynamo", NULL};
static const char *const form_names[] = {"plain", "launcher", NULL};

static const struct opt options[] = {
    OPT_HEADING("What fails"),
    OPT_CHOICE(0, "after", "STAGE", &opt.after, after_names,
	       "the graph is one after this stage, as TORCHDYNAMO_REPRO_AFTER (default: as the file says)"),
    OPT_INT('l', "level", "N", &opt.level, 1, 4, "1 write it unreduced, 2 compile or run-time error, 3 crash, 4 accuracy"),
    OPT_STRING('t', "test", "COMMAND", &opt.test, "exit status 0 of COMMAND FILE means that it still fails; no PyTorch is needed"),
    OPT_STRING('b', "backend", "NAME", &opt.backend, "after dynamo: inductor, aot_eager, ... or MODULE:ATTRIBUTE"),
    OPT_FLAG(0, "accuracy", &opt.want_accuracy, "values that differ are the failure"),
    OPT_FLAG(0, "strict-accuracy", &opt.strict_accuracy, "integers and flags, too"),
    OPT_FLAG(0, "no-accuracy", &opt.no_accuracy, "errors are the failure, values are not compared"),
    OPT_STRING(0, "check-str", "TEXT", &opt.check_str, "the message must hold TEXT (default: the same error as at first)"),
    OPT_STRING(0, "tracing-mode", "MODE", &opt.tracing_mode, "real, fake or symbolic"),
    OPT_FLAG(0, "only-fwd", &opt.only_fwd, "after dynamo: no backward"),
    OPT_STRING('g', "graph", "ID[:NAME]", &opt.graph, "the graph of a TORCH_TRACE log: 0/0:aot_forward_graph"),
    OPT_HEADING("How to search"),
    OPT_FLAG(0, "locate", &opt.locate, "say where it fails, in one or two tests; reduce nothing"),
    OPT_FLAG(0, "no-locate", &opt.no_locate, "search without locating first"),
    OPT_STRING(0, "verified", "FILE", &opt.verified, "what aoti-verify --json wrote: the nodes that it found are tried first"),
    OPT_LIST(
	'p', "passes", "LIST", &passes,
	"some of nodes, outputs, memory, leaves, strides, values, inputs, subgraphs, symbols, sizes, dtypes, arguments, constants, head, "
	"with commas (default: all; with --test not subgraphs, sizes, dtypes, arguments, constants)"),
    OPT_INT(0, "max-granularity", "N", &opt.max_granularity, 1, 1 << 30, "drop at most N nodes at once"),
    OPT_INT('j', "jobs", "N", &opt.jobs, 1, 256, "tests side by side (default: the number of CPUs)"),
    OPT_INT(0, "repeat", "N", &opt.repeat, 1, 1000, "ask up to N times about what passes: for failures that come and go"),
    OPT_INT(0, "timeout", "SECONDS", &opt.timeout, 1, 1000000, "of one test, as it spends them (default: 300)"),
    OPT_DOUBLE(0, "stall", "SECONDS", &opt.stall, 0, 1e6,
	       "a test that does not get on for so long hangs (default: 10, and 0.05 for each node; 0: only --timeout)"),
    OPT_SIZE(0, "max-memory", "BYTES", &opt.max_memory, 1 << 20, UINT64_MAX, "of one test (default: four fifths of what is there)"),
    OPT_U64(0, "max-tests", "N", &opt.max_tests, 1, UINT64_MAX, "stop after N tests, with the best so far"),
    OPT_DOUBLE(0, "max-time", "SECONDS", &opt.max_time, 0, 1e9, "stop after so long, with the best so far"),
    OPT_U64(0, "seed", "N", &opt.seed, 0, UINT64_MAX, "of random values (default: 0)"),
    OPT_STRING(0, "python", "PROGRAM", &opt.python, "the Python with torch (default: $PT2_PYTHON, python3)"),
    OPT_LIST(0, "launcher", "COMMAND", &opt.launcher, "start that Python through COMMAND: 'srun -n1', 'ssh host'; several: one each"),
    OPT_HEADING("Output"),
    OPT_STRING('o', "output", "FILE", &opt.output,
	       "the result (default: repro.py); .json, .dot and .txt name other formats; - is standard output"),
    OPT_CHOICE(0, "form", "FORM", &opt.form, form_names,
	       "of a program: plain torch calls, or torch's launcher (default: plain if it was seen to fail in that form)"),
    OPT_STRING(0, "save-dir", "DIR", &opt.save_dir, "where the original's saved tensors are (checkpoints)"),
    OPT_STRING(0, "journal", "FILE", &opt.journal, "what was tried (default: the result's name and .journal)"),
    OPT_FLAG(0, "no-journal", &opt.no_journal, "write none"),
    OPT_STRING(0, "resume", "JOURNAL", &opt.resume, "go on where a run ended; nothing is tested twice"),
    OPT_STRING(0, "stats", "JOURNAL", &opt.stats, "say what a run did"),
    OPT_FLAG(0, "no-verify", &opt.no_verify, "do not run the result in a fresh process"),
    OPT_FLAG('v', "verbose", &opt.verbose, "each strategy and success, in the words of PyTorch's minifier"),
    OPT_FLAG('q', "quiet", &opt.quiet, "errors only"),
    OPT_END,
};

static const struct opt extract_options[] = {
    OPT_STRING(0, "node", "NAME", &opt.node, "what is around this node"),
    OPT_INT(0, "radius", "N", &opt.radius, 0, 1 << 30, "as far as N operations before and behind it (default: 1)"),
    OPT_STRING(0, "from", "NAME", &opt.from, "what rests on this value, which becomes an input"),
    OPT_STRING(0, "to", "NAME", &opt.to, "what this value rests on; with --from: what lies between them"),
    OPT_FLAG(0, "no-values", &opt.no_values, "inputs have their shapes only: run nothing, no PyTorch is needed"),
    OPT_END,
};
static const struct opt_rule rules[] = {
    {.of = "stats", .with = "resume " OPT_OPERANDS, .text = "--stats takes a journal and nothing else"},
    {.one_of = "accuracy strict-accuracy no-accuracy", .text = "--accuracy, --strict-accuracy and --no-accuracy exclude each other"},
    {.of = "test",
     .with = "locate backend launcher python stall",
     .text = "--locate, --backend, --launcher, --python and --stall are for tests with torch, not with --test"},
    {.one_of = "locate no-locate", .text = "--locate and --no-locate contradict each other"},
    {0},
};
static const struct opt_rule extract_rules[] = {
    {.of = "test resume stats locate level verified",
     .text = "extract: --test, --resume, --stats, --locate, --level and --verified are for reducing"},
    {0},
};

static const struct opt_command commands[] = {
    {.name = "extract",
     .summary = "a part of the graph as a program, its inputs as recorded",
     .options = extract_options,
     .rules = extract_rules,
     .operands = "FILE",
     .min = 1,
     .max = 1},
    {0},
};

static const struct opt_spec spec = {
    .tool = "fxminify",
    .about = "The smallest graph that still fails: reduce an FX graph that torch.compile or AOTInductor gets wrong.",
    .footer = "FILE is minifier_launcher.py, repro.py, fx_graph_runnable.py, fx_graph_readable.py, graph.json, a TORCH_TRACE log\n"
	      "(with --graph) or a .pt2 of torch.export; - is standard input. The code in it (a launcher's, too) is run, each\n"
	      "test in a process of its own, unless --test says what to run instead; so is what a journal names.\n"
	      "Exit status: 0 reduced, 1 the original does not fail.",
    .options = options,
    .rules = rules,
    .operands = "[FILE]",
    .min = 0,
    .max = 1,
    .commands = commands,
};

static void take_passes(void)
{
	if (!passes.n) {
		opt.nodes = true;
		opt.passes = opt.test ? SHRINK_SAFE : SHRINK_ALL;
		return;
	}
	for (size_t i = 0; i < passes.n; i++) {
		const char *at = passes.v[i];
		while (*at) {
			size_t n = strcspn(at, ",");
			struct slice name = slice_of(at, n);
			bool known = slice_is(name, "nodes");
			opt.nodes |= known;
			for (int p = 0; p < SHRINK_N; p++)
				if (slice_is(name, shrink_name((enum shrink_pass)p))) {
					opt.passes |= 1u << p;
					known = true;
				}
			if (!known)
				die(EXIT_USAGE, "--passes: unknown pass '%.*s' (see fxminify -h)", SL(name));
			at += n + (at[n] == ',');
		}
	}
}

/* One test per core. */
static int processors(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	return n < 1 ? 1 : n > 256 ? 256 : (int)n;
}

static void check_options(const struct operands *in)
{
	if (in->sub) {
		if (!opt.node == !(opt.from || opt.to))
			die(EXIT_USAGE,
			    "extract needs --node NAME, or --from NAME and --to NAME (or one of them)\nTry 'fxminify extract -h'");
		return;
	}
	if (!opt.stats && !opt.resume && !in->n)
		die(EXIT_USAGE, "missing operand: a file with a graph\nTry 'fxminify -h'");
}

/* A journal can run code: announce what it runs first, even if the journal itself contains -q. */
static void say_what_runs(const char *journal, const char *file)
{
	LOCAL_BUF b = {0};
	if (opt.test) {
		buf_addf(&b, "the command %s", opt.test);
	} else {
		buf_addf(&b, "the code in %s", file);
		if (opt.python)
			buf_addf(&b, " with --python %s", opt.python);
		for (size_t i = 0; i < opt.launcher.n; i++)
			buf_addf(&b, "%s%s", i ? ", " : " through --launcher ", opt.launcher.v[i]);
	}
	warn("--resume runs code from the journal '%s': %s", journal, buf_str(&b));
}

/* --resume: the command line of that run, then this one's. */
static int resume(const struct operands *in, int argc, char **argv)
{
	struct journal_record r;
	struct err err;
	struct operands again;
	const char *journal = opt.resume;
	const bool quiet = opt.quiet; /* given now, not in the journal */
	if (in->n)
		die(EXIT_USAGE, "--resume takes the file from the journal");
	if (journal_read(&r, journal, &err) < 0)
		die_err(&err);
	FREED char **all = xcalloc(r.n_argv + (size_t)argc + 1, sizeof(*all));
	size_t n = 0;
	all[n++] = argv[0];
	for (size_t i = 0; i < r.n_argv; i++)
		all[n++] = r.argv[i];
	for (int i = 1; i < argc; i++)
		all[n++] = argv[i];
	opt_list_release(&passes);
	opt_parse_or_exit(&spec, (int)n, all, &again);
	if (!opt.jobs)
		opt.jobs = processors();
	if (again.n != 1)
		die(EXIT_INPUT, "the journal '%s' does not name the reduced file", journal);
	take_passes();
	if (!quiet)
		say_what_runs(journal, again.v[0]);
	int status = session_run(&opt, again.v[0], (const char *const *)r.argv, journal);
	operands_release(&again);
	journal_record_release(&r);
	return status;
}

int main(int argc, char **argv)
{
	struct operands in;
	int status;
	opt_parse_or_exit(&spec, argc, argv, &in);
	mapfile_watch();
	output_fail_writes();
	check_options(&in);
	if (!opt.jobs)
		opt.jobs = processors();
	if (opt.stats) {
		status = stats_run(opt.stats);
	} else {
		child_signals(CHILD_SIGNALS_FORWARD);
		if (in.sub) {
			status = extract_run(&opt, in.v[0], (const char *const *)argv + 1);
		} else if (opt.resume) {
			status = resume(&in, argc, argv);
		} else {
			take_passes();
			status = session_run(&opt, in.v[0], (const char *const *)argv + 1, NULL);
		}
	}
	opt_list_release(&passes);
	opt_list_release(&opt.launcher);
	operands_release(&in);
	return status;
}
