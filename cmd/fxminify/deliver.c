/* deliver.c - what is delivered was seen to fail in the form in which it is delivered: newest state first, then older ones. */
#include "evidence.h"
#include "program.h"
#include "session.h"

#include "base/io/mapfile.h"
#include "base/process/child.h"
#include "base/text.h"
#include "base/tool/output.h"
#include "base/tool/tempfolder.h"

#include <unistd.h>

/* The forms of a result, the best first. */
enum shape { SHAPE_PLAIN, SHAPE_DYNAMIC, SHAPE_INNER, SHAPE_LAUNCHER, SHAPES };

struct delivery {
	struct session *s;
	char *folder, *path; /* where programs are tried: one that passes never gets the result's name */
	const struct candidate *c;
	struct repro_given *given; /* of c */
	struct buf passed;         /* why the first form of the newest state is not the one delivered; "" */
	bool broken;               /* programs cannot be run; err says why */
};

static bool is_aot(const struct session *s) { return s->in.repro.form == REPRO_AFTER_AOT || s->in.repro.form == REPRO_GRAPH; }

static bool verifies(const struct session *s) { return s->torch && !s->o->no_verify && result_is_program(s->result.path); }

bool deliver_plain(const struct session *s) { return s->o->form == FORM_PLAIN || (s->o->form < 0 && verifies(s)); }

static bool has_shape(const struct session *s, enum shape shape)
{
	switch (shape) {
	case SHAPE_PLAIN: return deliver_plain(s) && !s->plain_passes;
	case SHAPE_DYNAMIC: return deliver_plain(s) && !s->plain_passes && slice_is(s->in.repro.tracing_mode, "symbolic");
	case SHAPE_INNER: return deliver_plain(s) && is_aot(s);
	default: return s->o->form != FORM_PLAIN;
	}
}

static void set_shape(struct session *s, enum shape shape)
{
	struct result *r = &s->result;
	r->form = shape == SHAPE_LAUNCHER ? FORM_LAUNCHER : FORM_PLAIN;
	r->dynamic = shape == SHAPE_DYNAMIC;
	r->inner = shape == SHAPE_INNER;
	r->check = result_check(&s->runner.want);
}

/* ---- one state ---- */

static void take_state(struct delivery *d, const struct candidate *c)
{
	struct err ignored;
	if (d->c == c)
		return;
	free(d->given);
	d->given = NULL;
	d->c = c;
	if (torch_given(d->s, c, false, &d->given, &ignored) < 0)
		report_row(&d->s->report, "note", "input values are random in the result: %s", ignored.text);
}

/* Runs it in a fresh process, again if it may be flaky. 1: fails the same way; 0: it does not; -1: it could not be run. */
static int run_shape(struct delivery *d, enum shape shape, struct err *err)
{
	struct session *s = d->s;
	int same = 0;
	set_shape(s, shape);
	if (result_write_to(&s->result, d->path, d->c, d->given, err) < 0) {
		if (err->status != EXIT_INPUT)
			return -1;
		buf_reset(&s->result.verified);
		buf_addf(&s->result.verified, "cannot be written: %s", err->text);
		return 0;
	}
	for (int n = 0; n < s->o->repeat && same == 0; n++)
		same = torch_verify(s, d->path, d->c, err);
	return same;
}

static const char *const shape_words[] = {"torch.compile(f)", "torch.compile(f, dynamic=True)", "Inductor alone", "torch's launcher"};

/* In the first form that fails the same way. */
static int run_state(struct delivery *d, size_t i, struct err *err)
{
	struct session *s = d->s;
	LOCAL_BUF why = {0};
	int same = 0;
	take_state(d, &s->state[i]);
	for (int shape = 0; shape < SHAPES && same == 0; shape++) {
		if (!has_shape(s, (enum shape)shape))
			continue;
		same = run_shape(d, (enum shape)shape, err);
		if (same == 0)
			buf_addf(&why, "%s%s %s", why.len ? "; " : "", shape_words[shape], buf_str(&s->result.verified));
	}
	if (!d->passed.len)
		buf_add_slice(&d->passed, buf_slice(&why));
	d->broken |= same < 0;
	return same;
}

/* ---- which state ---- */

/* The newest that fails the same way: back in steps of 1, 2, 4, ... until one does, then between that and the last that did not.
 * 1: *found; 0: none; -1: programs cannot be run. */
static int find_state(struct delivery *d, size_t *found, struct err *err)
{
	const size_t n = d->s->n_states;
	size_t bad = n - 1, step = 1;
	int same = run_state(d, bad, err);
	*found = bad;
	while (same == 0 && bad > 0) {
		const size_t i = bad > step ? bad - step : 0;
		report_row(&d->s->report, "verified", "no: it %s; trying state %zu of %zu", buf_str(&d->s->result.verified), i + 1, n);
		same = run_state(d, *found = i, err);
		bad = same == 0 ? i : bad;
		step *= 2;
	}
	while (same == 1 && bad > *found + 1 && *found != n - 1) {
		const size_t i = *found + (bad - *found) / 2;
		const int here = run_state(d, i, err);
		if (here < 0)
			break; /* what was found is good */
		if (here == 1)
			*found = i;
		else
			bad = i;
	}
	return same;
}

/* ---- the result ---- */

static void say_why(struct delivery *d, size_t found)
{
	struct session *s = d->s;
	struct result *r = &s->result;
	LOCAL_BUF why = {0};
	if (found + 1 < s->n_states)
		buf_addf(&why, "state %zu of %zu: in what is smaller, %s", found + 1, s->n_states, buf_str(&d->passed));
	else if (r->form == FORM_LAUNCHER && s->o->form != FORM_LAUNCHER)
		buf_addf(&why, "not a plain program: %s", buf_str(&d->passed));
	else if (r->inner && s->plain_passes)
		buf_adds(&why, "Inductor alone: torch.compile(f) does not fail this way, as AOTAutograd changes the graph first");
	else if (r->inner || r->dynamic)
		buf_addf(&why, "%s: %s", shape_words[r->inner ? SHAPE_INNER : SHAPE_DYNAMIC], buf_str(&d->passed));
	if (!why.len)
		return;
	buf_addf(&r->more, "%s%s", r->more.len ? "; " : "", buf_str(&why));
	report_row(&s->report, "form", "%s", buf_str(&why));
}

/* Nothing that was seen to pass: the original. */
static int deliver_original(struct delivery *d, struct err *err)
{
	struct session *s = d->s;
	take_state(d, &s->state[0]);
	set_shape(s, SHAPE_LAUNCHER);
	buf_reset(&s->result.verified);
	buf_addf(&s->result.verified, "NOT verified: in a fresh process %s", buf_str(&d->passed));
	report_row(&s->report, "verified", "no: none of %zu states fails the same way in a fresh process: the result is the original",
		   s->n_states);
	candidate_release(&s->runner.best);
	candidate_copy(&s->runner.best, &s->state[0]);
	return result_write(&s->result, &s->state[0], d->given, err);
}

/* With a launcher the program may be run elsewhere only. */
static void add_evidence(struct session *s)
{
	const struct result *r = &s->result;
	LOCAL_BUF modules = {0}, from = {0};
	if (s->o->launcher.n)
		return;
	torch_modules(s, &modules);
	buf_addf(&from, "a graph of %zu operation%s", s->original_ops, plural(s->original_ops));
	report_clear(&s->report);
	evidence_add(s->o, &(struct evidence_of){.path = r->path,
						 .spent = runner_clock(&s->runner),
						 .python = s->o->python,
						 .modules = buf_str(&modules),
						 .inductor = true,
						 .compiles = r->form == FORM_PLAIN && !r->inner,
						 .hangs = s->runner.want.kind == OUTCOME_TIMEOUT,
						 .command = buf_slice(&r->command),
						 .from = buf_slice(&from),
						 .error = buf_slice(&r->error),
						 .versions = buf_slice(&r->versions)});
}

static int deliver_verified(struct delivery *d, struct err *err)
{
	struct session *s = d->s;
	struct err why = {0};
	size_t found = 0;
	d->folder = temp_folder(TEMP_MINIFY, err);
	if (!d->folder)
		return -1;
	d->path = xasprintf("%s/%s", d->folder, path_base(s->result.path));
	const int same = find_state(d, &found, &why);
	if (child_signalled())
		return err_set(err, EXIT_ENVIRON, "interrupted while verifying the result");
	if (same == 0)
		return s->unverified = true, deliver_original(d, err);
	if (same < 0) {
		s->unverified = true;
		buf_reset(&s->result.verified);
		buf_addf(&s->result.verified, "NOT verified: %s", why.text);
		report_row(&s->report, "verified", "no: %s", why.text);
		set_shape(s, SHAPE_LAUNCHER);
		return result_write(&s->result, d->c, d->given, err);
	}
	/* The search among older states may have ended at another one. */
	int again = d->c == &s->state[found] ? 1 : run_state(d, found, err);
	if (again < 0)
		return -1;
	say_why(d, found);
	if (found + 1 < s->n_states) {
		candidate_release(&s->runner.best);
		candidate_copy(&s->runner.best, &s->state[found]);
	}
	report_row(&s->report, "verified", "it %s", buf_str(&s->result.verified));
	if (result_write(&s->result, d->c, d->given, err) < 0)
		return -1;
	s->report.file = s->result.path;
	if (s->o->prelude) {
		report_clear(&s->report);
		if (prelude_deliver(s->o, s->result.path, d->folder, err) < 0)
			return -1;
	} else if (s->o->beside) {
		report_clear(&s->report);
		if (source_fold(s->o, NULL, s->result.path, d->folder, err) < 0)
			return -1;
	}
	add_evidence(s);
	return 0;
}

/* The values of larger states, if the result names none. */
static void drop_data(const struct session *s)
{
	FREED char *data = result_data(s->result.path);
	const char *name = path_base(data);
	OWNED(mapfile_close) struct mapfile text = {0};
	struct err ignored;
	if (!s->had_data && mapfile_open(&text, s->result.path, &ignored) == 0 && !memmem(text.bytes.p, text.bytes.n, name, strlen(name)))
		remove_tree(data);
}

int deliver_result(struct session *s, struct err *err)
{
	struct delivery d = {.s = s};
	int status = 0;
	if (verifies(s)) {
		status = deliver_verified(&d, err);
	} else {
		const bool plain = deliver_plain(s);
		if (s->torch)
			take_state(&d, &s->runner.best);
		set_shape(s, plain ? SHAPE_PLAIN : SHAPE_LAUNCHER);
		status = result_write(&s->result, &s->runner.best, d.given, err);
		if (status < 0 && plain && err->status == EXIT_INPUT) {
			buf_addf(&s->result.more, "not a plain program: %s", err->text);
			report_row(&s->report, "form", "%s", buf_str(&s->result.more));
			set_shape(s, SHAPE_LAUNCHER);
			status = result_write(&s->result, &s->runner.best, d.given, err);
		} else if (status == 0 && plain) {
			report_row(&s->report, "verified", "no: it was not run");
		}
	}
	if (status == 0 && result_is_program(s->result.path))
		drop_data(s);
	temp_folder_remove(d.folder);
	free(d.path);
	free(d.given);
	buf_release(&d.passed);
	return status;
}

/* ---- while it is reduced ---- */

bool deliver_can_be_plain(struct session *s, const struct candidate *c)
{
	LOCAL_BUF text = {0};
	struct err ignored;
	set_shape(s, SHAPE_PLAIN);
	const bool can = result_text(&s->result, c, NULL, &text, &ignored) == 0;
	set_shape(s, SHAPE_LAUNCHER);
	return can;
}

int deliver_choose(struct session *s, struct err *err)
{
	enum verdict v;
	if (!s->torch || !is_aot(s) || s->runner.plain || !deliver_plain(s) || !deliver_can_be_plain(s, &s->runner.best))
		return 0;
	s->runner.phase = "Form";
	s->runner.plain = true;
	const int status = runner_try(&s->runner, &s->runner.best, &v, err);
	s->plain_passes = status == 0 && v != VERDICT_SAME && v != VERDICT_INFRA;
	s->runner.plain = status == 0 && v == VERDICT_SAME;
	if (s->plain_passes)
		report_row(&s->report, "form", "Inductor alone: as torch.compile(f) it %s", verdict_words[v]);
	return status;
}
