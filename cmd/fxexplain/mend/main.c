/* main.c - `fxexplain mend`: finds edits of the user's program that make its breaks and recompiles go, and proves each by running it. */
#include "run/diagnose/settled.h"
#include "run/traceback.h"
#include "mend/journal.h"
#include "mend/mend_part.h"

#include "base/io/jsonfile.h"
#include "base/process/child.h"
#include "base/process/orphans.h"
#include "base/text.h"
#include "base/tool/diag.h"
#include "base/tool/output.h"
#include "base/tool/tempfolder.h"

#include <linux/magic.h>
#include <stdlib.h>
#include <sys/statfs.h>
#include <unistd.h>

static struct {
	int steps, budget, runs;
	bool apply, unconfined, resume, no_as_is, slow, wrong;
	const char *journal, *verdict;
	uint64_t memory;
} own = {.steps = 12, .budget = 300, .runs = 60};

enum { MOST_TIMED = 40 }; /* steps for --slow, at least: the last half of them is measured */

static const struct opt options[] = {
    OPT_FLAG(0, "apply", &own.apply, "change the files, and keep each one as FILE.orig"),
    OPT_INT(0, "steps", "N", &own.steps, 1, 1 << 20, "compare the first N steps (default: 12)",
	    .more = "A step is a call of what the program compiles. The result is run to its end."),
    OPT_INT(0, "budget", "SECONDS", &own.budget, 1, 1 << 24, "stop searching after SECONDS (default: 300)"),
    OPT_INT(0, "runs", "N", &own.runs, 4, 1 << 20, "run the program at most N times (default: 60)"),
    OPT_SIZE(0, "memory", "SIZE", &own.memory, 1 << 20, UINT64_MAX, "limit the memory of each run", .rare = true),
    OPT_FLAG(0, "slow", &own.slow, "find what makes it faster, with equal results",
	     .more = "Settings, and what is compiled; measured by processor time (with a GPU by the clock), twice before it is believed."),
    OPT_FLAG(0, "wrong", &own.wrong, "find a setting that makes its numbers right",
	     .more = "Compared with eager, each operation in float64."),
    OPT_STRING(0, "verdict", "FILE", &own.verdict, "what `fxexplain run --wrong --json` found", .rare = true),
    OPT_FLAG(0, "unconfined", &own.unconfined, "run it without its own view of files and network",
	     .more = "Needed where user namespaces or overlays are not permitted: what the program writes and sends is then real."),
    OPT_FLAG(0, "no-as-is", &own.no_as_is, "leave out the last run, with the program's own backend", .rare = true),
    OPT_STRING(0, "journal", "FILE", &own.journal, "write each try to FILE, one JSON object a line"),
    OPT_FLAG(0, "resume", &own.resume, "skip what the journal says was tried in vain"),
    OPT_END,
};

static const struct opt_rule rules[] = {
    {.of = "apply", .with = "output", .text = "mend --apply conflicts with --output"},
    {.of = "slow", .with = "wrong", .text = "mend --slow conflicts with --wrong"},
    {0},
};

/* The tries' copies of files are on disk: a TMPDIR in memory is for small things. */
static char *private_folder(void)
{
	struct err err = {.text = ""};
	struct statfs fs;
	const char *tmp = getenv("TMPDIR");
	bool own_place = (!tmp || !*tmp) && statfs("/tmp", &fs) == 0 && (unsigned long)fs.f_type == TMPFS_MAGIC &&
			 statfs("/var/tmp", &fs) == 0 && (unsigned long)fs.f_type != TMPFS_MAGIC;
	if (own_place)
		setenv("TMPDIR", "/var/tmp", 1);
	char *folder = temp_folder(TEMP_EXPLAIN, &err);
	if (own_place)
		unsetenv("TMPDIR");
	if (!folder)
		die_err(&err);
	return folder;
}

static void read_hello(struct mend_about *a, struct slice hello, struct arena *arena)
{
	OWNED(json_tape_release) struct json_tape t = {0};
	LOCAL_BUF names = {0};
	uint32_t root;
	json_tape_text(&t, hello.p, hello.n);
	if (json_parse(&t, 0, hello.n, &root) < 0)
		return;
	a->torch = json_dup(&t, root, "torch", arena);
	a->python = json_dup(&t, root, "python", arena);
	a->cuda = json_flag(&t, root, "cuda");
	a->start_seconds = json_number(&t, root, "seconds", 0);
	json_each(&t, json_get(&t, root, "read_only"), k) {
		buf_adds(&names, names.len ? ", " : "");
		json_unescape(&t, k, &names);
	}
	a->read_only = arena_slice(arena, buf_slice(&names));
}

static void check_options(void)
{
	explain_only("mend writes text, a patch or --json");
	if (own.resume && !own.journal)
		die(EXIT_USAGE, "--resume needs --journal=FILE");
	if (own.verdict && !own.wrong)
		die(EXIT_USAGE, "--verdict needs --wrong");
	if ((own.slow || own.wrong) && (own.journal || own.no_as_is))
		die(EXIT_USAGE, "--slow and --wrong have no journal, and run the program with its own backend");
}

/* The members of the finding that candidates are made from; a verdict on another program is not known here, and does no harm. */
static struct slice read_verdict(const char *path, struct arena *arena)
{
	OWNED(jsonfile_close) struct jsonfile d = {.root = NONE};
	LOCAL_BUF b = {0};
	struct json_out o = {.b = &b};
	if (!path)
		return slice_of(NULL, 0);
	if (access(path, R_OK) < 0)
		die_errno(EXIT_INPUT, "cannot read '%s'", path);
	if (!jsonfile_open(&d, path) || !slice_starts(json_word(&d.t, d.root, "schema"), "pt2utils.wrong/"))
		die(EXIT_INPUT, "'%s' is not a document of fxexplain run --wrong --json", path);
	const uint32_t fault = json_get(&d.t, d.root, "fault");
	json_obj(&o);
	json_member_str(&o, "component", json_dup(&d.t, d.root, "component", arena));
	json_member_str(&o, "part", json_dup(&d.t, d.root, "part", arena));
	json_member_str(&o, "node", json_dup(&d.t, fault, "node", arena));
	json_member_str(&o, "kernel", json_dup(&d.t, fault, "kernel", arena));
	json_close(&o);
	return arena_slice(arena, slice_of(b.p + 1, b.len - 2));
}

static struct mend_journal *open_journal(const struct mend_about *a, const struct mend_program *p)
{
	LOCAL_BUF b = {0};
	struct err err = {.text = ""};
	struct mapfile m;
	if (!own.journal)
		return NULL;
	buf_addf(&b, "%.*s|%d|%s|", SL(a->torch), own.steps, p->module ? p->module : "");
	if (p->main && mapfile_open(&m, p->main, &err) == 0) {
		buf_add_slice(&b, m.bytes);
		mapfile_close(&m);
	}
	struct mend_journal *j = mend_journal_open(own.journal, own.resume, buf_slice(&b), &err);
	if (!j)
		die_err(&err);
	return j;
}

static void write_patch(const char *path, struct slice patch)
{
	struct err err = {.text = ""};
	if (output_write(path, &patch, 1, &err) < 0)
		die_err(&err);
}

/* 0: all that counts is gone; 1: something is left; 5: the search stopped early, or the proof is not whole. */
static int status_of(const struct mend_search *s)
{
	if (s->goal == MEND_WRONG && s->base->equal)
		return EXIT_FINE;
	if (s->goal != MEND_BREAKS)
		return s->ended || (s->as_is && !s->as_is->equal) ? EXIT_PARTIAL : s->best ? EXIT_FINE : EXIT_FOUND;
	const struct mend_trial *best = mend_search_best(s);
	bool left = !best->as_eager_ends;
	for (uint32_t i = 0; i < best->x.n_finding; i++)
		left |= trial_counts(&best->x.finding[i]) && (best->x.finding[i].kind != FINDING_RECOMPILE || best->x.finding[i].count > 1);
	if (s->ended || (s->as_is && !s->as_is->equal && !s->base_as_is_differs))
		return EXIT_PARTIAL;
	return left ? EXIT_FOUND : EXIT_FINE;
}

static _Noreturn void die_in_eager(struct slice error)
{
	struct traceback tb;
	LOCAL_BUF at = {0};
	if (!traceback_last(error, &tb) || !tb.type.n)
		die(EXIT_FOUND, "the program fails without torch.compile: %.*s: mend compares with eager, which has to work",
		    SLN(slice_trim(error), 600));
	if (tb.user.line)
		srcloc_format(&at, &tb.user, SRCLOC_AT, true);
	const struct slice line = slice_first_line(tb.message);
	die(EXIT_FOUND, "the program fails without torch.compile: %s%s%.*s%s%.*s: mend compares with eager, which has to work",
	    buf_str(&at), at.len ? ": " : "", SL(tb.type), line.n ? ": " : "", SLN(line, 400));
}

static int mend_main(struct operands *in)
{
	const struct explain_options *opt = &explain_opt;
	struct mend_program program;
	struct arena arena = {0};
	struct err err = {.text = ""};
	struct screen out = screen_make();
	explain_check();
	settled(&explain_opt.max, &explain_opt.patterns);
	check_options();
	output_fail_writes();
	child_signals(CHILD_SIGNALS_FORWARD); /* the server ends, and what it left is removed here */
	if (own.slow && own.steps < MOST_TIMED)
		own.steps = MOST_TIMED;
	mend_program_of(&program, in->command);
	struct mend_about about = {.program = &program,
				   .command = in->command,
				   .steps = own.steps,
				   .runs = own.runs,
				   .budget = own.budget,
				   .confined = !own.unconfined};
	const struct slice accused = read_verdict(own.verdict, &arena); /* before anything runs */
	if (!opt->quiet)
		show_promise(&about);
	char *folder = private_folder();
	orphans_adopt(); /* what a try leaves, should its server be killed */
	struct mend_server *server = mend_server_start(
	    &(struct mend_server_spec){
		.program = &program, .folder = folder, .steps = own.steps, .confined = about.confined, .memory = own.memory},
	    &err);
	if (!server) {
		orphans_end(ORPHANS_ALL);
		temp_folder_remove(folder);
		if (child_signalled())
			child_exit_like(&(struct child_result){.how = CHILD_SIGNALED, .sig = child_signalled()});
		if (about.confined && (slice_has(slice_str(err.text), "own view") || slice_has(slice_str(err.text), "not permitted")))
			die(EXIT_ENVIRON, "%s\nTo run it as it is, with everything it writes and sends: --unconfined", err.text);
		die_err(&err);
	}
	read_hello(&about, mend_server_hello(server), &arena);
	if (!opt->quiet && !opt->json) {
		buf_addf_clean(&out.b, "torch     %.*s, ready after %.1f s\n", SL(about.torch), about.start_seconds);
		if (about.read_only.n)
			buf_addf_clean(&out.b, "files     read-only for it, since no overlay fits there: %.*s\n",
				       SLN(about.read_only, 200));
	}
	struct mend_search s = {.server = server,
				.goal = own.slow    ? MEND_SLOW
					: own.wrong ? MEND_WRONG
						    : MEND_BREAKS,
				.accused = accused,
				.runs = own.runs,
				.budget = own.budget,
				.no_as_is = own.no_as_is,
				.journal = open_journal(&about, &program),
				.show = opt->quiet || opt->json ? NULL : show_event,
				.arg = &out};
	int done = s.goal == MEND_BREAKS ? mend_search_run(&s, &err) : mend_goal_run(&s, &err);
	mend_journal_close(s.journal);
	mend_server_stop(server);
	orphans_end(ORPHANS_ALL);
	temp_folder_remove(folder);
	if (child_signalled())
		child_exit_like(&(struct child_result){.how = CHILD_SIGNALED, .sig = child_signalled()});
	if (done < 0)
		die_err(&err);
	if (!s.base)
		die_in_eager(s.eager->error);
	LOCAL_BUF patch = {0}, said = {0};
	if (s.best)
		patch_text(&patch, &s);
	if (s.best && own.apply && patch_apply(&said, &s, &err) < 0)
		die_err(&err);
	if (opt->json) {
		mend_json(&out.b, &s, &about, buf_slice(&patch));
		if (opt->output)
			write_patch(opt->output, buf_slice(&patch));
		screen_end(&out);
	} else {
		if (opt->output)
			write_patch(opt->output, buf_slice(&patch));
		show_end(&out, &s, &about, opt->output, own.apply);
		if (said.len)
			put_text(&out, buf_slice(&said));
		if (patch.len && !opt->output && !own.apply) {
			put_heading(&out, "Patch");
			struct slice rest = buf_slice(&patch), line;
			while (slice_line(&rest, &line)) {
				put_text(&out, line);
				buf_addc(&out.b, '\n');
			}
		}
		screen_end(&out);
	}
	int status = status_of(&s);
	mend_search_release(&s);
	mend_program_release(&program);
	arena_release(&arena);
	buf_release(&patch);
	return status;
}

const struct opt_command mend_command = {
    .name = "mend",
    .summary = "find edits that remove breaks, proven by running the program",
    .about = "Which edits of my program remove its graph breaks, with the same results?",
    .example = {{"-- python app.py", "search, and show the edits"},
		{"-o mend.patch -- python app.py", "write them as a patch"},
		{"--apply -- python -m pkg.train", "change the files"}},
    .options = options,
    .rules = rules,
    .footer = "COMMAND: a Python program with its arguments; it is run many times.",
    .command = true,
    .need_command = true,
    .run = mend_main,
};
