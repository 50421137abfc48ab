/* fxminify - the smallest graph that still fails. */
#include "evidence.h"
#include "program.h"

#include "base/process/child.h"
#include "base/text.h"
#include "base/tool/diag.h"
#include "base/io/mapfile.h"
#include "base/tool/output.h"
#include "base/tool/settings.h"
#include "reduce/journal.h"

#include <unistd.h>

static struct fxminify_options opt = {
    .after = -1, .level = -1, .form = -1, .radius = 1, .repeat = 1, .timeout = 300, .stall = -1, .evidence = 60};
static struct opt_list passes;

static const char *const after_names[] = {"aot", "dynamo", NULL};
static const char *const form_names[] = {"plain", "launcher", "issue", NULL};

static const char *const forms[] = {"text", NULL};
static int form_of_answer; /* there is one */
static const struct opt options[] = {
    OPT_HEADING("What fails"),
    OPT_CHOICE(0, "after", "STAGE", &opt.after, after_names, "treat the graph as one after this stage", .rare = true,
	       .more = "As TORCHDYNAMO_REPRO_AFTER. Default: as the file says."),
    OPT_INT('l', "level", "N", &opt.level, 1, 4, "choose the failure: 2 error, 3 crash, 4 accuracy",
	    .more = "1 writes the graph without reducing it; 2 is a compile or run-time error."),
    OPT_STRING('t', "test", "COMMAND", &opt.test, "test with COMMAND FILE; exit 0 means it still fails", .more = "No PyTorch is needed."),
    OPT_STRING('b', "backend", "NAME", &opt.backend, "compile with this backend (after dynamo)",
	       .more = "inductor, aot_eager, ... or MODULE:ATTRIBUTE."),
    OPT_FLAG(0, "accuracy", &opt.want_accuracy, "look for results that differ from eager"),
    OPT_FLAG(0, "strict-accuracy", &opt.strict_accuracy, "compare integers and booleans, too", .rare = true),
    OPT_FLAG(0, "no-accuracy", &opt.no_accuracy, "look for errors only and compare no values", .rare = true),
    OPT_STRING(0, "check-str", "TEXT", &opt.check_str, "require TEXT in the error message",
	       .more = "Default: the same error as in the first test."),
    OPT_STRING(0, "expect", "TEXT", &opt.expect, "require the failure that the program showed: SIGSEGV",
	       .more = "A signal, a type, a text of the error; error, accuracy, crash, hang or memory."),
    OPT_STRING(0, "tracing-mode", "MODE", &opt.tracing_mode, "trace with real, fake or symbolic tensors", .rare = true),
    OPT_LIST(0, "import", "MODULE", &opt.import, "import this first: it defines custom operators", .rare = true,
	     .more = "May be given again."),
    OPT_FLAG(0, "only-fwd", &opt.only_fwd, "run no backward (after dynamo)", .rare = true),
    OPT_STRING('g', "graph", "ID[:NAME]", &opt.graph, "choose the graph of a TORCH_TRACE log: 0/0",
	       .more = "By its name: 0/0:aot_forward_graph."),
    OPT_HEADING("How to search"),
    OPT_FLAG(0, "locate", &opt.locate, "show where it fails, without reducing it"),
    OPT_FLAG(0, "no-locate", &opt.no_locate, "search without locating first", .rare = true),
    OPT_STRING(0, "verified", "FILE", &opt.verified, "try first the nodes that aoti-verify --json found", .rare = true),
    OPT_LIST('p', "passes", "LIST", &passes, "run only these passes: nodes, outputs, inputs, ...",
	     .more = "Some of nodes, outputs, memory, leaves, strides, values, inputs, subgraphs, symbols, sizes, dtypes, arguments, "
		     "constants, head, separated by commas. Default: all; with --test not subgraphs, sizes, dtypes, arguments, constants."),
    OPT_INT(0, "max-granularity", "N", &opt.max_granularity, 1, 1 << 30, "drop at most N nodes at once", .rare = true),
    OPT_INT('j', "jobs", "N", &opt.jobs, 1, 256, "run N tests in parallel (default: number of CPUs)"),
    OPT_INT(0, "repeat", "N", &opt.repeat, 1, 1000, "repeat passing tests up to N times (flaky failures)"),
    OPT_INT(0, "timeout", "SECONDS", &opt.timeout, 1, 1000000, "stop a test after SECONDS (default: 300)",
	    .more = "CPU time while it runs, clock time while it sleeps."),
    OPT_DOUBLE(0, "stall", "SECONDS", &opt.stall, 0, 1e6, "treat a test without progress for SECONDS as hung", .rare = true,
	       .more = "Default: 10, and 0.05 for each node; 0: only --timeout counts."),
    OPT_SIZE(0, "max-memory", "BYTES", &opt.max_memory, 1 << 20, UINT64_MAX, "limit the memory of one test",
	     .more = "Default: four fifths of what is free."),
    OPT_U64(0, "max-tests", "N", &opt.max_tests, 1, UINT64_MAX, "stop after N tests and keep the best result"),
    OPT_DOUBLE(0, "max-time", "SECONDS", &opt.max_time, 0, 1e9, "stop after SECONDS and keep the best result"),
    OPT_U64(0, "seed", "N", &opt.seed, 0, UINT64_MAX, "set the seed for random values (default: 0)", .rare = true),
    OPT_STRING(0, "python", "PROGRAM", &opt.python, "use this Python with torch", .more = "Default: $PT2_PYTHON, or python3."),
    OPT_LIST(0, "launcher", "COMMAND", &opt.launcher, "start that Python through COMMAND", .rare = true,
	     .more = "'srun -n1', 'ssh host'; several: each runs tests."),
    OPT_HEADING("Output"),
    OPT_STRING('o', "output", "FILE", &opt.output, "write the result to FILE (default: repro.py)",
	       .more = ".json, .dot and .txt name other formats; - is standard output."),
    OPT_CHOICE(0, "form", "FORM", &opt.form, form_names, "write plain torch calls, a launcher, or an issue",
	       .more = "Default: plain, if it was seen to fail in that form; issue: also FILE.md, the text for PyTorch's tracker."),
    OPT_LIST(0, "with-torch", "VENV", &opt.with_torch, "also run the result with this torch", .more = "May be given again."),
    OPT_DOUBLE(0, "evidence", "SECONDS", &opt.evidence, 0, 1e6, "spend SECONDS on what an issue needs (default: 60)", .rare = true,
	       .more = "Runs, eager, settings, torch's bisector, its description of this machine; 0: none."),
    OPT_STRING(0, "save-dir", "DIR", &opt.save_dir, "read the original's saved tensors (checkpoints) from DIR", .rare = true),
    OPT_STRING(0, "journal", "FILE", &opt.journal, "record the tests in FILE", .rare = true,
	       .more = "Default: the name of the result and .journal."),
    OPT_FLAG(0, "no-journal", &opt.no_journal, "write no journal", .rare = true),
    OPT_STRING(0, "resume", "JOURNAL", &opt.resume, "continue an interrupted run; test nothing twice"),
    OPT_STRING(0, "stats", "JOURNAL", &opt.stats, "show what a run did"),
    OPT_FLAG(0, "no-verify", &opt.no_verify, "skip running the result in a fresh process", .rare = true),
    OPT_CHOICE(0, "format", "FORMAT", &form_of_answer, forms, "choose the form of the answer: text", .rare = true),
    OPT_FLAG('v', "verbose", &opt.verbose, "print each strategy and success", .more = "In the words of PyTorch's minifier."),
    OPT_FLAG('q', "quiet", &opt.quiet, "print errors only"),
    OPT_END,
};

static const struct opt extract_options[] = {
    OPT_STRING(0, "node", "NAME", &opt.node, "extract what surrounds this node"),
    OPT_INT(0, "radius", "N", &opt.radius, 0, 1 << 30, "include N operations before and after (default: 1)"),
    OPT_STRING(0, "from", "NAME", &opt.from, "extract what depends on this value", .more = "The value becomes an input."),
    OPT_STRING(0, "to", "NAME", &opt.to, "extract what this value depends on", .more = "With --from: what lies between them."),
    OPT_FLAG(0, "no-values", &opt.no_values, "run nothing and keep only the shapes of inputs", .more = "No PyTorch is needed."),
    OPT_END,
};
static const struct opt_rule rules[] = {
    {.of = "stats", .with = "resume " OPT_OPERANDS, .text = "--stats cannot be combined with FILE or --resume"},
    {.one_of = "accuracy strict-accuracy no-accuracy", .text = "--accuracy, --strict-accuracy and --no-accuracy cannot be combined"},
    {.of = "test",
     .with = "locate backend launcher python stall",
     .text = "--test cannot be combined with --locate, --backend, --launcher, --python or --stall, which need torch"},
    {.of = "with-torch",
     .with = "test locate launcher no-verify",
     .text = "--with-torch cannot be combined with --test, --locate, --launcher or --no-verify: the result is not run"},
    {.one_of = "locate no-locate", .text = "--locate and --no-locate cannot be combined"},
    {0},
};
static const struct opt_rule extract_rules[] = {
    {.of = "test resume stats locate level verified",
     .text = "extract cannot be combined with --test, --resume, --stats, --locate, --level or --verified"},
    {0},
};

static const struct opt_command extract = {
    .name = "extract",
    .summary = "write a part of the graph as a program, with recorded inputs",
    .about = "What does this part of the graph compute, as a program of its own?",
    .example = {{"--node n30 graph.py", "write what surrounds a node"},
		{"--from n10 --to n30 graph.py", "write what lies between"},
		{"--to n30 --no-values graph.py", "run nothing, use no PyTorch"}},
    .options = extract_options,
    .rules = extract_rules,
    .operands = "FILE",
    .footer = "FILE: as for fxminify.",
    .min = 1,
    .max = 1,
};
static const struct opt_command *const commands[] = {&extract, NULL};

static const struct opt_spec spec = {
    .tool = "fxminify",
    .about = "What is the smallest graph that still fails?",
    .example = {{"-- python app.py", "run it, reduce what fails"},
		{"minifier_launcher.py", "reduce a failure torch captured"},
		{"--test 'grep -q relu' graph.py", "reduce while a command succeeds"}},
    .footer = "FILE: a launcher or repro, graph.json, an exported .pt2 or a TORCH_TRACE log.\n"
	      "The code in FILE is run (with --test: COMMAND); so is what a journal names.",
    .more = "FILE may also be fx_graph_runnable.py or fx_graph_readable.py, or - for standard input; a TORCH_TRACE log needs --graph. "
	    "Each test runs in a process of its own.\n"
	    "Exit status: 0 reduced, 1 the original does not fail.",
    .options = options,
    .rules = rules,
    .operands = "[FILE]",
    .min = 0,
    .max = 1,
    .command = true,
    .commands = commands,
};

static _Noreturn void die_unknown_pass(struct slice name)
{
	struct opt_guess g = {.word = name};
	opt_guess(&g, "nodes");
	for (int p = 0; p < SHRINK_N; p++)
		opt_guess(&g, shrink_name((enum shrink_pass)p));
	FREED char *meant = opt_guess_text(&g);
	die(EXIT_USAGE, "--passes: unknown pass '%.*s'%s; fxminify --help-all lists them", SL(name), meant);
}

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
				die_unknown_pass(name);
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

/* The text for the tracker is beside the program, whose form is chosen as always. */
static void take_form(void)
{
	opt.issue = opt.form == FORM_ISSUE;
	if (opt.issue && (opt.test || opt.locate || opt.launcher.n || opt.no_verify))
		die(EXIT_USAGE, "--form issue cannot be combined with --test, --locate, --launcher or --no-verify: the result is not run");
	if (opt.issue)
		opt.form = -1;
}

static void check_options(const struct operands *in)
{
	if (in->sub) {
		if (!opt.node == !(opt.from || opt.to))
			die(EXIT_USAGE,
			    "extract needs --node NAME, or --from NAME and --to NAME (or one of them)\nTry 'fxminify extract -h'");
		return;
	}
	if (in->command && (in->n || opt.stats || opt.resume || opt.test))
		die(EXIT_USAGE, "a command after -- cannot be combined with FILE, --test, --resume or --stats");
	evidence_check(&opt);
	take_form();
	if (!opt.stats && !opt.resume && !in->n && !in->command)
		die(EXIT_USAGE, "missing operand: a file with a graph, or -- and a command\nTry 'fxminify -h'");
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
	size_t n = 0, command = 0;
	while (command < r.n_argv && strcmp(r.argv[command], "--") != 0)
		command++;
	all[n++] = argv[0];
	for (size_t i = 0; i < command; i++)
		all[n++] = r.argv[i];
	for (int i = 1; i < argc; i++)
		all[n++] = argv[i];
	for (size_t i = command; i < r.n_argv; i++)
		all[n++] = r.argv[i];
	opt_list_release(&passes);
	opt_parse_or_exit(&spec, (int)n, all, &again);
	take_form();
	if (!opt.jobs)
		opt.jobs = processors();
	if (again.n != 1)
		die(EXIT_INPUT, "the journal '%s' does not name the reduced file", journal);
	take_passes();
	if (!quiet)
		say_what_runs(journal, again.v[0]);
	int status = again.command ? program_resume(&opt, again.command, again.v[0], (const char *const *)r.argv, journal)
				   : session_run(&opt, again.v[0], (const char *const *)r.argv, journal);
	operands_release(&again);
	journal_record_release(&r);
	return status;
}

/* Tests have directories of their own: what PYTHONPATH names from here is found from there, too. */
static void settle_modules(void)
{
	const char *at = getenv("PYTHONPATH");
	LOCAL_BUF b = {0};
	if (!at || !*at)
		return;
	for (;; at++) {
		const size_t n = strcspn(at, ":");
		put_absolute(&b, slice_of(at, n));
		at += n;
		if (!*at)
			break;
		buf_addc(&b, ':');
	}
	setenv("PYTHONPATH", buf_str(&b), 1);
}

int main(int argc, char **argv)
{
	struct operands in;
	int status;
	opt_parse_or_exit(&spec, argc, argv, &in);
	mapfile_watch();
	output_fail_writes();
	settings_load(); /* python */
	settle_modules();
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
		} else if (in.command) {
			take_passes();
			status = program_run(&opt, in.command, argc, argv);
		} else {
			take_passes();
			status = session_run(&opt, in.v[0], (const char *const *)argv + 1, NULL);
		}
	}
	opt_list_release(&passes);
	opt_list_release(&opt.launcher);
	opt_list_release(&opt.import);
	opt_list_release(&opt.with_torch);
	operands_release(&in);
	return status;
}
