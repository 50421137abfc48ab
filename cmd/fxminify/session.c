/* session.c - a reduction: oracle, baseline, locating, reducing, verifying, result. */
#include "session.h"

#include "base/process/child.h"
#include "base/tool/diag.h"
#include "reduce/journal.h"
#include "base/text.h"

#include <sys/stat.h>
#include <unistd.h>

#define QX_LIMIT_COMMAND 4096 /* unlike a compiler's, a command's cost does not grow with the graph: only the number of questions counts */
#define QX_LIMIT_TORCH 64

/* ---- names ---- */

static bool same_file(const char *a, const char *b)
{
	struct stat x, y;
	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* repro.py, unless that is the input. The original is never overwritten. */
static void name_output(struct session *s, const char *fallback)
{
	const char *end = s->in.kind == SUBJECT_JSON ? ".json" : s->in.kind == SUBJECT_READABLE && s->o->test ? ".txt" : ".py";
	if (s->o->output)
		buf_adds(&s->output, s->o->output);
	else
		buf_addf(&s->output, "%s%s", fallback, end);
	if (same_file(buf_str(&s->output), s->in.path)) {
		if (s->o->output)
			die(EXIT_USAGE, "'%s' is the input file: choose another --output", s->o->output);
		buf_reset(&s->output);
		buf_addf(&s->output, "minified%s", end);
	}
	s->result.path = buf_str(&s->output);
	FREED char *data = result_data(s->result.path);
	s->had_data = access(data, F_OK) == 0;
	if (s->o->journal)
		buf_adds(&s->journal_path, s->o->journal);
	else if (strcmp(s->result.path, "-") && !s->o->no_journal)
		buf_addf(&s->journal_path, "%s.journal", s->result.path);
}

static void note_command(struct session *s, const char *const *argv)
{
	argv = s->o->shown ? s->o->shown : argv;
	buf_adds(&s->result.command, "fxminify");
	for (size_t i = 0; argv[i]; i++)
		buf_addf(&s->result.command, strpbrk(argv[i], " '\"$&;|<>*?") ? " '%s'" : " %s", argv[i]);
}

/* ---- callbacks of the runner ---- */

static int stop_asked(void *user)
{
	(void)user;
	return child_signalled();
}

/* Once, also with --quiet: --resume relies on it. */
static void tell_journal(struct session *s)
{
	const char *failed = journal_failed(s->journal);
	if (!failed)
		return;
	report_clear(&s->report);
	warn("the journal is incomplete: %s", failed);
}

static void progress(void *user)
{
	struct session *s = user;
	tell_journal(s);
	if (s->torch && !child_signalled())
		torch_tell_gone(s);
	report_progress(&s->report);
}

/* A resumed run first replays its steps in memory: the earlier run's result is not overwritten by a worse one. */
static bool worse_than_before(struct session *s, const struct candidate *c)
{
	if (c->ops <= s->ops_before || access(s->result.path, R_OK) < 0)
		return false;
	s->report.file = s->result.path;
	return true;
}

static void keep_state(struct session *s, const struct candidate *c) { candidate_copy(&PUSH_TO(s->state, s->n_states, s->cap_states), c); }

/* The best so far is written at once. With torch its values are added at the end; a program without them says so. */
static int improved(void *user, const struct candidate *c, struct err *err)
{
	struct session *s = user;
	keep_state(s, c);
	if (!strcmp(s->result.path, "-") || worse_than_before(s, c))
		return 0;
	FREED struct repro_given *given = NULL;
	if (s->torch && torch_given(s, c, true, &given, err) < 0)
		given = NULL;
	int status = result_write(&s->result, c, given, err);
	if (status < 0) {
		s->write_error = *err;
		return -1;
	}
	s->report.file = s->result.path;
	journal_best(s->journal, c->ops, s->result.path, runner_clock(&s->runner));
	return 0;
}

/* ---- steps ---- */

static int remember_tests(struct session *s, const char *resume, struct err *err)
{
	struct journal_record r;
	if (journal_read(&r, resume, err) < 0)
		return -1;
	int status = 0;
	if (r.head.hash != s->in.hash)
		status = err_set(err, EXIT_INPUT, "'%s' is not the file in the journal '%s': it was changed", s->in.path, resume);
	else
		runner_remember(&s->runner, &r);
	for (size_t i = 0; status == 0 && i < r.n_best; i++)
		if (slice_is(r.best[i].file, s->result.path) && r.best[i].ops < s->ops_before)
			s->ops_before = r.best[i].ops;
	if (status == 0)
		report_row(&s->report, "resumed", "%zu test%s already known", r.n_tests, plural(r.n_tests));
	journal_record_release(&r);
	return status;
}

static int open_journal(struct session *s, const char *const *argv, const char *resume, struct err *err)
{
	if (resume) {
		if (remember_tests(s, resume, err) < 0)
			return -1;
		s->journal = journal_append(resume, err);
	} else if (s->journal_path.len) {
		struct journal_head head = {
		    .input = slice_str(s->in.path), .hash = s->in.hash, .argv = argv, .env = s->env, .torch = s->in.repro.torch_version};
		s->journal = journal_create(buf_str(&s->journal_path), &head, err);
	} else {
		return 0;
	}
	s->runner.journal = s->journal;
	return s->journal ? 0 : -1;
}

static void describe_signature(const struct signature *g, struct buf *b)
{
	buf_reset(b);
	if (g->kind == OUTCOME_FAILED) {
		buf_adds(b, "the test command exits with status 0"); /* what it looks for is unknown */
		return;
	}
	buf_adds(b, outcome_words[g->kind]);
	if (g->type.n && !slice_is(g->type, outcome_words[g->kind]))
		buf_addf(b, ": %.*s", SL(g->type));
	if (g->message.n)
		buf_addf(b, ": %.*s", SL(g->message));
	const char *end = slice_chr(g->frames, ';');
	if (g->frames.n && (g->kind == OUTCOME_CRASHED || g->kind == OUTCOME_TIMEOUT || g->kind == OUTCOME_MEMORY))
		buf_addf(b, ", in %.*s", SLN(g->frames, end ? (size_t)(end - g->frames.p) : g->frames.n));
}

#define LAST_WORDS 6 /* lines */

/* Shows how a process died, or hangs, and its last output, which often explains why. */
static void tell_last_words(struct session *s, const struct outcome *out)
{
	struct slice text = slice_trim(out->output), detail = out->detail, line;
	size_t n = 0, at = text.n;
	if (out->kind != OUTCOME_CRASHED && out->kind != OUTCOME_TIMEOUT && out->kind != OUTCOME_MEMORY)
		return;
	if (!s->o->test && slice_line(&detail, &line) && line.n)
		report_row(&s->report, "", "%.*s", SLN(line, 400));
	while (at && (n += text.p[at - 1] == '\n') < LAST_WORDS)
		at--;
	text = slice_of(text.p + at, text.n - at);
	if (text.n)
		report_row(&s->report, "printed", "last output before it ended:");
	while (slice_line(&text, &line))
		report_line(&s->report, "  %.*s", SLN(line, 200));
}

/* Reports what the original did instead of failing. 1 is "not found" for a tool that looks for a failure. */
static int does_not_fail(struct session *s, const struct outcome *out)
{
	struct slice detail = out->detail, line;
	LOCAL_BUF b = {0};
	if (slice_line(&detail, &line) && line.n)
		buf_addf(&b, ": %.*s", SL(line));
	report_clear(&s->report);
	switch (out->kind) {
	case OUTCOME_PASSES:
		warn("the original does not fail: it %s in %.1f s%s%s",
		     s->o->test ? "passed the test (the command's exit status was not 0)" : "ran and matched eager", out->seconds,
		     s->o->test ? buf_str(&b) : "",
		     !torch_generated(s)
			 ? ""
			 : "; its inputs have no values and were generated, with two seeds: fxminify -- python app.py keeps "
			   "the real ones");
		break;
	case OUTCOME_INVALID:
		warn("the original does not fail in the compiler: it %s%s%s",
		     slice_starts(out->detail, "cannot be traced") ? "cannot be traced" : "already fails in eager", buf_str(&b),
		     slice_find(out->detail, "_OpNamespace") ? "; --import MODULE imports the module that defines the operator" : "");
		break;
	default: warn("the original does not fail as requested: it %s%s", outcome_words[out->kind], buf_str(&b)); break;
	}
	journal_end(s->journal, "original does not fail", s->runner.count.tests, runner_clock(&s->runner));
	return EXIT_FOUND;
}

/* It fails in its real use, but its graph does not fail in the test: there is nothing to compare with. */
static int fails_elsewhere(struct session *s, const struct outcome *users, const struct outcome *ours)
{
	struct slice line = slice_first_line(ours->detail);
	describe_signature(&users->signature, &s->result.signature);
	report_clear(&s->report);
	warn("the original fails (%s), but its graph alone %s%s%.*s: it cannot be reduced", buf_str(&s->result.signature),
	     ours->kind == OUTCOME_PASSES ? "does not" : "fails differently", line.n ? ": " : "", SL(line));
	journal_end(s->journal, "original fails otherwise", s->runner.count.tests, runner_clock(&s->runner));
	return EXIT_PARTIAL;
}

static int baseline(struct session *s, struct outcome *out, struct err *err)
{
	struct candidate whole;
	candidate_whole(&whole, &s->in.repro);
	if (!s->original_ops)
		report_row(&s->report, "original", "%zu operation%s, %zu input%s", whole.ops, plural(whole.ops), whole.n_feeds,
			   plural(whole.n_feeds));
	s->original_ops = whole.ops;
	report_step(&s->report, "failure");
	int status = runner_baseline(&s->runner, &whole, out, err);
	candidate_release(&whole);
	if (status == 1) {
		describe_signature(&s->runner.want, &s->result.signature);
		if (!s->o->test)
			report_row(&s->report, "failure", "%s", buf_str(&s->result.signature));
		tell_last_words(s, out);
	}
	return status;
}

/* Is this what the user's program showed (--expect)? */
static bool is_expected(const struct session *s, const struct outcome *out)
{
	static const struct {
		const char *word;
		enum outcome_kind kind;
	} kinds[] = {{"error", OUTCOME_RAISED}, {"raised", OUTCOME_RAISED},   {"accuracy", OUTCOME_ACCURACY}, {"crash", OUTCOME_CRASHED},
		     {"hang", OUTCOME_TIMEOUT}, {"timeout", OUTCOME_TIMEOUT}, {"memory", OUTCOME_MEMORY}};
	const char *want = s->o->expect;
	if (!want || out->kind == OUTCOME_FAILED)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (!strcmp(want, kinds[i].word))
			return out->kind == kinds[i].kind;
	LOCAL_BUF text = {0};
	signature_normalise(slice_str(want), &text);
	return slice_find(out->signature.type, want) || slice_find(out->detail, want) ||
	       (text.len && slice_find(out->signature.message, buf_str(&text)));
}

/* The same type may come with another message: then it is perhaps another failure. */
static bool has_its_message(const struct session *s, const struct outcome *out)
{
	LOCAL_BUF seen = {0};
	if (!s->o->seen || out->kind != OUTCOME_RAISED)
		return true;
	signature_normalise(slice_str(s->o->seen), &seen);
	const struct slice m = out->signature.message;
	return !seen.len || slice_find(m, buf_str(&seen)) || (m.n && memmem(seen.p, seen.len, m.p, m.n));
}

static void tell_replayed(struct session *s, const struct outcome *out)
{
	if (out->replayed.n)
		report_row(&s->report, "note", "tracing the graph again changes an operator: %.*s%s", SL(out->replayed),
			   s->o->expect ? "" : " (--expect TEXT requires your program's failure)");
}

/* Of a graph that fails in no way, or in another than the program did, the plain program may fail as that did.
 * 1: it does, and is what is reduced; 0: it does not; -1: err. */
static int plain_baseline(struct session *s, struct outcome *out, struct err *err)
{
	struct candidate whole;
	if (!s->torch || s->runner.plain || (s->in.repro.form != REPRO_AFTER_AOT && s->in.repro.form != REPRO_GRAPH))
		return 0;
	candidate_whole(&whole, &s->in.repro);
	int status = 0;
	if (deliver_can_be_plain(s, &whole)) {
		s->runner.plain = true;
		report_step(&s->report, "failure");
		status = runner_baseline(&s->runner, &whole, out, err);
	}
	candidate_release(&whole);
	if (status == 1 && is_expected(s, out) && has_its_message(s, out)) {
		describe_signature(&s->runner.want, &s->result.signature);
		report_row(&s->report, "failure", "%s: as torch.compile(f); the graph alone does not fail this way",
			   buf_str(&s->result.signature));
		tell_last_words(s, out);
		return 1;
	}
	s->runner.plain = false;
	return status < 0 ? -1 : 0;
}

/* It fails, but not as it should. */
static int fails_unexpectedly(struct session *s, const struct outcome *out)
{
	report_clear(&s->report);
	warn("the original fails differently than --expect says: it %s (expected: %s)", buf_str(&s->result.signature), s->o->expect);
	(void)out;
	journal_end(s->journal, "original fails otherwise", s->runner.count.tests, runner_clock(&s->runner));
	return EXIT_PARTIAL;
}

static void locate(struct session *s, const struct outcome *original)
{
	struct slice how = s->suspects.n ? SLICE("found by aoti-verify") : SLICE("");
	const bool ask = s->torch && !s->o->no_locate;
	if (!ask && !s->suspects.n)
		return;
	if (ask)
		torch_locate(s, original, &how);
	if (!s->suspects.n) {
		report_row(&s->report, "suspects", "none: searching the whole graph");
		return;
	}
	LOCAL_BUF b = {0};
	size_t n = s->n_likely ? s->n_likely : s->suspects.n, shown = n < 8 ? n : 8;
	for (size_t i = 0; i < shown; i++)
		buf_addf(&b, "%s%.*s", i ? ", " : "", SL(s->suspects.name[i]));
	if (s->through.len)
		buf_addf(&s->result.origin, "difference starts at %s and leaves through %s", buf_str(&b), buf_str(&s->through));
	if (shown < s->suspects.n)
		buf_addf(&b, ", and %zu near %s", s->suspects.n - shown, shown == 1 ? "it" : "them");
	report_row(&s->report, "suspects", "%s (%.*s)", buf_str(&b), SL(how));
	if (s->result.origin.len)
		report_row(&s->report, "origin", "the %s", buf_str(&s->result.origin));
}

/* --locate: only this, on standard output. */
static int show_located(struct session *s)
{
	const struct graph *g = &s->in.repro.graph;
	struct screen out = {0};
	struct err err = {.text = ""};
	for (size_t i = 0; i < (s->n_likely ? s->n_likely : s->suspects.n); i++) {
		uint32_t node = graph_find(g, 0, s->suspects.name[i]);
		put_text(&out, s->suspects.name[i]);
		if (node != NONE) {
			struct slice op = graph_op_text(g, node),
				     stack = g->node[node].stack == NONE ? SLICE("") : graph_text(g, g->node[node].stack);
			buf_addc(&out.b, '\t');
			put_text(&out, op);
			buf_addf(&out.b, "\tline %u\t", g->node[node].line);
			put_text(&out, stack);
		}
		buf_addc(&out.b, '\n');
	}
	int status = screen_flush(&out, &err);
	buf_release(&out.b);
	if (status < 0 && err.text[0])
		warn("%s", err.text);
	return status < 0 && err.text[0] ? (int)err.status : EXIT_FINE;
}

static void add_count(struct buf *b, uint64_t n, const char *what)
{
	if (n)
		buf_addf(b, "%s%llu %s", b->len ? ", " : "", (unsigned long long)n, what);
}

/* Nothing could be dropped: the results of the smaller graphs show why. */
static void tell_unreduced(struct session *s, const struct runner_counts *before)
{
	const struct runner *r = &s->runner;
	uint64_t n[VERDICT_FLAKY + 1], tests = r->count.tests - before->tests;
	LOCAL_BUF b = {0};
	for (int v = 0; v <= VERDICT_FLAKY; v++)
		n[v] = r->count.by_verdict[v] - before->by_verdict[v];
	add_count(&b, n[VERDICT_PASSES], "pass");
	add_count(&b, n[VERDICT_INVALID], "do not even run in eager");
	add_count(&b, n[VERDICT_TIMEOUT], "time out");
	add_count(&b, n[VERDICT_INFRA], "could not be tested");
	add_count(&b, n[VERDICT_OTHERWISE], "fail differently");
	if (n[VERDICT_OTHERWISE] && r->n_others) {
		LOCAL_BUF first = {0};
		describe_signature(&r->other[0], &first);
		buf_addf(&b, ": %.*s", SLN(buf_slice(&first), 300));
	}
	if (tests)
		report_row(&s->report, "note", "no operation could be dropped: none of %llu smaller graphs fails like the whole (%s)",
			   (unsigned long long)tests, buf_str(&b));
	else
		report_row(&s->report, "note",
			   "no operation could be dropped: no smaller graph is possible, since the operations need each other");
}

static int reduce(struct session *s, struct err *err)
{
	const struct runner_counts before = s->runner.count;
	s->suspects.n_likely = s->n_likely;
	if (s->o->nodes && reduce_nodes(&s->reduction, &s->suspects, err) < 0)
		return -1;
	if (s->o->nodes && s->runner.best.ops == s->original_ops && s->original_ops > 1)
		tell_unreduced(s, &before);
	if (deliver_choose(s, err) < 0)
		return -1;
	return reduce_rest(&s->reduction, s->o->passes, err);
}

void session_prepare(struct session *s, const struct fxminify_options *o, const char *path, const char *const *argv, const char *fallback)
{
	*s = (struct session){.o = o, .ops_before = SIZE_MAX};
	report_init(&s->report, o, &s->runner);
	note_command(s, argv);
	s->result.o = o;
	s->result.seed = o->seed;
	s->result.in = &s->in;
	s->result.form = FORM_LAUNCHER;
	s->runner.original = &s->in.repro;
	s->runner.check = slice_str(o->check_str ? o->check_str : "");
	s->runner.repeat = (unsigned)o->repeat;
	s->runner.max_tests = o->max_tests;
	s->runner.max_seconds = o->max_time;
	s->runner.stop = stop_asked;
	s->runner.progress = progress;
	s->runner.improved = improved;
	s->runner.user = s;
	s->reduction = (struct reduction){.runner = &s->runner,
					  .qx_limit = o->test ? QX_LIMIT_COMMAND : QX_LIMIT_TORCH,
					  .max_block = (size_t)o->max_granularity,
					  .pass = report_pass,
					  .strategy = report_strategy,
					  .success = report_success,
					  .user = &s->report};
	struct err err;
	if (!o->test && o->level != 1)
		torch_begin(s, path);
	if (subject_load(&s->in, path, o, &err) < 0 || (o->verified && verified_read(s, o->verified, &err) < 0)) {
		report_clear(&s->report);
		die_err(&err);
	}
	name_output(s, fallback);
}

void session_close(struct session *s)
{
	runner_release(&s->runner);
	for (size_t i = 0; i < s->n_states; i++)
		candidate_release(&s->state[i]);
	free(s->state);
	if (s->torch)
		torch_close(s);
	else
		oracle_close(s->runner.oracle);
	tell_journal(s);
	journal_close(s->journal);
	subject_release(&s->in);
	arena_release(&s->arena);
	free(s->suspects.name);
	buf_release(&s->output);
	buf_release(&s->journal_path);
	buf_release(&s->test_script);
	buf_release(&s->result.command);
	buf_release(&s->result.signature);
	buf_release(&s->result.verified);
	buf_release(&s->result.versions);
	buf_release(&s->result.error);
	buf_release(&s->result.more);
	buf_release(&s->result.origin);
	buf_release(&s->through);
}

/* Reports how it ended, in the journal and to the user; returns the exit status. */
static int conclude(struct session *s, int status, const struct err *err)
{
	int sig = child_signalled();
	const char *why = s->runner.stopped;
	report_clear(&s->report);
	if (status < 0 && !why && !sig) {
		journal_end(s->journal, "failed", s->runner.count.tests, runner_clock(&s->runner));
		warn("%s%s%s", err->text, s->report.file ? "; best so far in " : "", s->report.file ? s->report.file : "");
		return (int)err->status;
	}
	if (why && !sig)
		report_row(&s->report, "stopped", "%s", why);
	if ((why || sig) && s->journal && s->journal_path.len)
		report_row(&s->report, "", "to continue: fxminify --resume %s", buf_str(&s->journal_path));
	if (s->runner.has_best)
		report_summary(&s->report, &s->runner.best, s->original_ops);
	if (sig)
		warn("interrupted%s%s", s->report.file ? "; best so far in " : "", s->report.file ? s->report.file : "");
	journal_end(s->journal, sig ? "interrupted" : why ? why : "reduced", s->runner.count.tests, runner_clock(&s->runner));
	if (!sig && s->unverified)
		warn("the result is not verified: %s has %s", s->result.path,
		     s->runner.best.ops == s->original_ops ? "the original" : "the best so far");
	return sig ? 128 + sig : s->unverified ? EXIT_PARTIAL : EXIT_FINE;
}

static int write_unreduced(struct session *s)
{
	struct candidate whole;
	struct err err;
	candidate_whole(&whole, &s->in.repro);
	s->result.form = s->o->form == FORM_PLAIN ? FORM_PLAIN : FORM_LAUNCHER;
	s->result.check = slice_is(s->in.repro.accuracy, "True") ? REPRO_CHECK_SAME : REPRO_CHECK_RUNS;
	if (result_write(&s->result, &whole, NULL, &err) < 0)
		die_err(&err);
	candidate_release(&whole);
	report_row(&s->report, "result", "unreduced, in %s", s->result.path);
	return EXIT_FINE;
}

static struct outcome outcome_copy(struct arena *arena, const struct outcome *out)
{
	struct outcome c = *out;
	c.signature = signature_copy(arena, &out->signature);
	c.detail = arena_slice(arena, out->detail);
	c.extra = c.output = c.replayed = SLICE("");
	return c;
}

static int search(struct session *s, const char *const *argv, const char *resume)
{
	struct err err = {0};
	struct outcome out, users;
	int status = s->o->test ? command_open(s, &err) : torch_open(s, &err);
	if (status < 0 && child_signalled()) {
		warn("%s", err.text);
		return 128 + child_signalled();
	}
	if (status < 0)
		die_err(&err);
	if (open_journal(s, argv, resume, &err) < 0)
		return conclude(s, -1, &err); /* the oracle's folder must be removed */
	const int held = s->o->test ? 0 : torch_users_call(s, &users, &err);
	if (held == 1 && verdict_of(&users, NULL, s->runner.check) != VERDICT_SAME && users.kind != OUTCOME_TIMEOUT)
		return does_not_fail(s, &users);
	status = held < 0 ? -1 : s->o->test ? 1 : torch_record(s, &out, &err);
	if (status == 1) {
		s->runner.want_where = s->torch && !s->o->no_locate;
		status = baseline(s, &out, &err);
	}
	if (held == 1 && status >= 0 && verdict_of(&out, &users.signature, s->runner.check) != VERDICT_SAME)
		return fails_elsewhere(s, &users, &out);
	if (!s->o->test && status >= 0)
		tell_replayed(s, &out);
	if (status == 1 && held == 0 && is_expected(s, &out) && !has_its_message(s, &out)) {
		struct outcome plain = {0};
		if ((status = plain_baseline(s, &plain, &err)) == 1) {
			out = plain;
		} else if (status == 0) {
			status = baseline(s, &out, &err);
			report_row(&s->report, "note", "the program's message was another: %s", s->o->seen);
		}
	}
	if (status >= 0 && held == 0 && (status == 0 || !is_expected(s, &out))) {
		const int was = status;
		struct outcome plain = {0};
		const struct outcome first = outcome_copy(&s->arena, &out);
		const bool in_eager = out.kind == OUTCOME_INVALID && !slice_starts(first.detail, "cannot be traced");
		status = in_eager ? 0 : plain_baseline(s, &plain, &err);
		/* Generated values may be the wrong ones. */
		if (status == 0 && was == 0 && first.kind == OUTCOME_PASSES && (status = torch_reseed(s, &err)) == 1) {
			status = torch_record(s, &plain, &err);
			if (status == 1)
				status = baseline(s, &plain, &err);
			if (status == 1)
				report_row(&s->report, "seed", "%llu: with the values of %llu it does not fail",
					   (unsigned long long)s->result.seed, (unsigned long long)s->o->seed);
		}
		if (status == 0)
			return was == 0 ? does_not_fail(s, &first) : fails_unexpectedly(s, &first);
		if (status < 0)
			return conclude(s, -1, &err);
		out = plain;
	}
	if (status == 0)
		return does_not_fail(s, &out);
	if (status == 1) {
		locate(s, &out);
		status = 0;
	}
	if (status == 0 && s->o->locate)
		return show_located(s);
	if (status == 0)
		status = improved(s, &s->runner.best, &err);
	if (status == 0)
		status = reduce(s, &err);
	/* Whatever stopped it, the best so far is a result, unless writing it failed. */
	bool there = child_signalled() && s->report.file; /* torch is gone: keeps the values it has */
	if (s->runner.has_best && !s->write_error.text[0] && (status == 0 || s->runner.stopped) && !there &&
	    !worse_than_before(s, &s->runner.best) && deliver_result(s, &err) < 0)
		status = -1, s->runner.stopped = NULL;
	return conclude(s, status, &err);
}

int session_run(const struct fxminify_options *o, const char *path, const char *const *argv, const char *resume)
{
	struct session s;
	session_prepare(&s, o, path, argv, "repro");
	int status = o->level == 1 ? write_unreduced(&s) : search(&s, argv, resume);
	session_close(&s);
	return status;
}
