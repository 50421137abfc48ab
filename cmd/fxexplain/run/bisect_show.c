/* bisect_show.c - prints a bisection: verdict, evidence, what to run next. */
#include "run/bisect.h"

#include "base/json.h"
#include "base/text.h"

#include <signal.h>

/* ---- the verdict ---- */

enum component bisect_verdict(const struct bisect *b)
{
	if (!b->first->failed || b->flaky || b->unreached || b->ended_by)
		return COMPONENT_NONE;
	if (b->cached)
		return COMPONENT_ENVIRONMENT;
	if (b->found == AS_IS && !bisect_inductor(b))
		return COMPONENT_BACKEND;
	if (b->found == AS_IS && (b->first->component == COMPONENT_CODEGEN || b->first->component == COMPONENT_COMPILER))
		return b->first->component;
	return places[b->found].component;
}

static void add_result(struct buf *out, const struct trial *t)
{
	if (!t->failed) {
		buf_adds(out, "exited with status 0");
		return;
	}
	if (*t->error)
		buf_adds(out, t->error);
	else
		child_describe(&t->r, out);
	if (*t->error && t->stopped)
		buf_adds(out, " (timed out)");
	else if (*t->error && t->r.sig)
		buf_addf(out, " (%s)", signal_name(t->r.sig) ? signal_name(t->r.sig) : "a signal");
}

static void add_trial_line(struct buf *out, const struct bisect *b, const struct trial *t)
{
	if (!t)
		return;
	buf_addf(out, "%s%s%s: ", t->name, t->setting && *t->setting ? ", " : "", t->setting ? t->setting : "");
	add_result(out, t);
	if (t->failed && t != b->first && !bisect_same(t, b->first))
		buf_adds(out, " (a different failure)");
	buf_addc(out, '\n');
}

void bisect_evidence(struct buf *out, const struct bisect *b)
{
	add_trial_line(out, b, b->first);
	if (!b->first->failed)
		return;
	if (b->ended_by) {
		for (unsigned i = 1; i < b->n; i++)
			add_trial_line(out, b, &b->trial[i]);
		return;
	}
	if (b->found < AS_IS)
		add_trial_line(out, b, b->at[b->found]);
	if (b->found > DISABLED)
		add_trial_line(out, b, b->at[b->found - 1]);
	if (b->own_too && b->found > EAGER)
		add_trial_line(out, b, b->at[DISABLED]);
	add_trial_line(out, b, b->again);
	add_trial_line(out, b, b->part);
}

/* What is known from the runs before the signal. */
static void add_known(struct buf *out, const struct bisect *b)
{
	const char *name = signal_name(b->ended_by);
	buf_addf(out, "interrupted by %s before every stage was tried; ", name ? name : "a signal");
	if (b->fails - b->passes == 1) {
		buf_addf(out, "so far: %s, not narrowed down further", places[b->fails].what);
		return;
	}
	buf_adds(out, "so far, one of: ");
	for (int p = b->passes + 1; p <= b->fails; p++)
		buf_addf(out, "%s%.*s", p == b->passes + 1 ? "" : "; ", (int)strcspn(places[p].what, ":,"), places[p].what);
}

void bisect_sentence(struct buf *out, const struct bisect *b)
{
	enum component c = bisect_verdict(b);
	if (b->ended_by)
		add_known(out, b);
	else if (!b->first->failed)
		buf_adds(out, "the program does not fail: nothing to bisect");
	else if (b->unreached && !*bisect_torch(b))
		buf_adds(out, "torch was not imported: is it a Python program, not run with python -I, -E or -S, which ignore PYTHONPATH?");
	else if (b->unreached)
		buf_addf(out,
			 "torch %s was imported, but torch.compile was not called: torch.export and AOTInductor have no other backend to "
			 "compare with",
			 bisect_torch(b));
	else if (b->flaky)
		buf_adds(out,
			 "it does not fail every time: run --bisect again, or look for random numbers, threads or uninitialized memory");
	else if (b->cached)
		buf_adds(out, "Inductor's caches: it does not fail without them");
	else if (c == COMPONENT_BACKEND)
		buf_addf(out, "the backend %s: it does not fail with aot_eager_decomp_partition instead", bisect_asked(b));
	else if (b->found == AS_IS)
		buf_addf(out, "%s", component_title[c]);
	else
		buf_addf(out, "%s", places[b->found].what);
	if (b->part)
		for (size_t i = 0; i < ARRAY_LEN(parts); i++)
			if (!strcmp(parts[i].setting, b->part->setting))
				buf_addf(out, ", specifically %s", parts[i].what);
	if (b->own_too && c != COMPONENT_NONE)
		buf_adds(out, "; with compilation disabled the program also fails, but differently");
}

static void add_command(struct buf *out, const struct bisect *b, const char *before)
{
	buf_addf(out, "%s ", before);
	buf_add_command(out, (const char *const *)b->command);
	buf_addc(out, '\n');
}

/* Levels (torch/_dynamo/config.py): 2 compilation raised an exception, 3 the process died, 4 wrong results. */
static void add_minify(struct buf *out, const struct bisect *b, const char *after)
{
	int level = b->first->r.sig ? 3 : bisect_while_compiling(b->first) ? 2 : 4;
	if (level == 2 && *b->first->minify) { /* of a trace that is kept */
		buf_addf(out, "%s\n", b->first->minify);
		return;
	}
	FREED char *before = xasprintf("TORCHDYNAMO_REPRO_AFTER=%s TORCHDYNAMO_REPRO_LEVEL=%d", after, level);
	add_command(out, b, before);
	buf_addf(out, "fxminify%s torch_compile_debug/run_*/minifier/minifier_launcher.py\n", level == 4 ? " --level 4" : "");
}

/* torch's own bisection of passes and lowerings: `run` is in 2.13.0 (torch/_inductor/compiler_bisector.py). */
static bool has_bisector(const struct bisect *b) { return strverscmp(bisect_torch(b), "2.13") >= 0; }

static void add_bisector(struct buf *out, const struct bisect *b)
{
	LOCAL_BUF before = {0};
	buf_add_word(&before, strncmp(path_base(b->command[0]), "python", 6) ? "python" : b->command[0]); /* the one that has torch */
	buf_adds(&before, " -m torch._inductor.compiler_bisector run");
	add_command(out, b, buf_str(&before));
}

/* Suggests what to run next, one command a line. */
void bisect_next(struct buf *out, const struct bisect *b)
{
	switch (bisect_verdict(b)) {
	case COMPONENT_EAGER: add_command(out, b, "TORCHDYNAMO_DISABLE=1"); break;
	case COMPONENT_DYNAMO:
		add_command(out, b, "fxexplain run -a --");
		add_command(out, b, "TORCH_LOGS=+dynamo TORCHDYNAMO_VERBOSE=1");
		break;
	case COMPONENT_AOTAUTOGRAD:
	case COMPONENT_BACKEND: add_minify(out, b, "dynamo"); break;
	case COMPONENT_INDUCTOR:
	case COMPONENT_CODEGEN:
	case COMPONENT_COMPILER:
		add_minify(out, b, "aot");
		if (!bisect_while_compiling(b->first) && has_bisector(b))
			add_bisector(out, b);
		break;
	case COMPONENT_ENVIRONMENT: add_command(out, b, "TORCHINDUCTOR_FORCE_DISABLE_CACHES=1"); break;
	default: break;
	}
}

/* ---- output ---- */

static void add_cell(struct buf *cells, struct buf *text)
{
	size_t n = text->len < 200 ? text->len : 200;
	for (size_t i = 0; i < n; i++)
		buf_addc(cells, (unsigned char)text->p[i] < 32 ? ' ' : text->p[i]);
	if (n < text->len)
		buf_adds(cells, " ...");
	buf_reset(text);
}

void bisect_table(struct screen *s, const struct bisect *b)
{
	LOCAL_BUF cells = {0}, text = {0};
	buf_adds(&cells, "backend\tresult\tseconds\n");
	for (unsigned i = 0; i < b->n; i++) {
		const struct trial *t = &b->trial[i];
		buf_addf(&cells, "%s%s%s\t", t->name, t->setting && *t->setting ? ", " : "", t->setting ? t->setting : "");
		buf_reset(&text);
		add_result(&text, t);
		if (t->failed && t != b->first && bisect_same(t, b->first)) {
			buf_reset(&text);
			buf_adds(&text, "same failure");
		}
		if (t->no_setting)
			buf_adds(&text, " (this torch does not have this setting)");
		add_cell(&cells, &text);
		buf_addf(&cells, "\t%.1f\n", (double)t->r.wall_ns / 1e9);
	}
	put_table(s, buf_slice(&cells));
}

void bisect_show(struct screen *s, const struct bisect *b)
{
	LOCAL_BUF text = {0};
	struct slice rest, line;
	bisect_sentence(&text, b);
	put_bold(s, bisect_verdict(b) == COMPONENT_NONE ? "Verdict" : component_name[bisect_verdict(b)]);
	buf_adds(&s->b, ": ");
	buf_add_slice(&s->b, buf_slice(&text));
	buf_adds(&s->b, "\n\n");
	bisect_table(s, b);
	buf_reset(&text);
	bisect_next(&text, b);
	if (text.len)
		buf_adds(&s->b, "\nNext:\n");
	for (rest = buf_slice(&text); slice_line(&rest, &line);)
		buf_addf(&s->b, "  %.*s\n", SL(line));
}

static void put_trial(struct json_out *o, const struct bisect *b, const struct trial *t)
{
	json_obj(o);
	json_member(o, "name", slice_str(t->name));
	json_member(o, "backend", slice_str(t->backend ? t->backend : "none"));
	json_member(o, "setting", slice_str(t->setting ? t->setting : ""));
	json_member_bool(o, "failed", t->failed);
	json_member_count(o, "status", t->r.sig ? -1 : t->r.status);
	json_member_count(o, "signal", t->r.sig ? t->r.sig : -1);
	json_member_bool(o, "timed_out", t->stopped);
	json_member_seconds(o, "seconds", (double)t->r.wall_ns / 1e9);
	json_member(o, "error", slice_str(t->error));
	json_member_bool(o, "same_failure", t == b->first || bisect_same(t, b->first));
	json_close(o);
}

void bisect_runs(struct json_out *o, const struct bisect *b)
{
	json_member_arr(o, "runs");
	for (unsigned i = 0; i < b->n; i++)
		put_trial(o, b, &b->trial[i]);
	json_close(o);
}

void bisect_document(struct buf *out, const struct bisect *b)
{
	struct json_out o = {.b = out};
	LOCAL_BUF text = {0};
	json_obj(&o);
	json_member(&o, "schema", SLICE("pt2utils.bisect/1"));
	json_member(&o, "tool", SLICE("fxexplain run --bisect"));
	json_member(&o, "version", SLICE(PT2_VERSION));
	json_member_arr(&o, "command");
	for (char *const *w = b->command; *w; w++)
		json_out_str(&o, slice_str(*w));
	json_close(&o);
	json_member(&o, "torch", slice_str(bisect_torch(b)));
	json_member(&o, "asked_for", slice_str(bisect_asked(b)));
	json_member_bool(&o, "fails", b->first->failed);
	json_member(&o, "component", slice_str(bisect_verdict(b) == COMPONENT_NONE ? "" : component_name[bisect_verdict(b)]));
	json_member_bool(&o, "flaky", b->flaky);
	json_member_count(&o, "ended_by", b->ended_by ? b->ended_by : -1);
	json_member(&o, "part", slice_str(b->part ? b->part->setting : ""));
	bisect_sentence(&text, b);
	json_member(&o, "verdict", buf_slice(&text));
	buf_reset(&text);
	bisect_evidence(&text, b);
	json_member_lines(&o, "evidence", buf_slice(&text));
	buf_reset(&text);
	bisect_next(&text, b);
	json_member_lines(&o, "next", buf_slice(&text));
	bisect_runs(&o, b);
	json_close(&o);
	buf_addc(out, '\n');
}
