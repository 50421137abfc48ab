/* trial.c - asks for a run, reads its log, compares findings: see trial.h. */
#include "mend/trial.h"

#include "base/io/mapfile.h"
#include "base/linediff.h"
#include "base/srcloc.h"
#include "base/text.h"
#include "run/diagnose/locate.h"

#include <dirent.h>

/* ---- the log ---- */

static bool has_log(const char *dir)
{
	DIR *d = opendir(dir);
	bool found = false;
	for (struct dirent *e; d && !found && (e = readdir(d));)
		found = slice_ends(slice_str(e->d_name), ".log");
	if (d)
		closedir(d);
	return found;
}

static void read_log(struct mend_trial *t, const char *dir)
{
	struct err err = {.text = ""};
	struct explain_options quiet = explain_opt;
	unsigned lost = 0;
	quiet.quiet = true;
	facts_init(&t->facts);
	t->explained = true;
	if (has_log(dir))
		(void)load_operands(&t->facts, NULL, &quiet, &dir, 1, &lost, &err);
	explain_located(&t->x, &t->facts);
	const struct facts_sums *s = &t->x.sum;
	t->n.breaks = s->graph_breaks;
	t->n.recompiles = s->recompiles;
	t->n.limits = s->recompile_limits;
	t->n.failures = s->failures;
	t->n.compiles = s->compiles;
	t->n.graphs = s->graphs;
	for (uint32_t i = 0; i < t->facts.n_compile; i++)
		t->n.skipped += t->facts.compile[i].status == COMPILE_SKIPPED || t->facts.compile[i].status == COMPILE_FAILED;
}

struct mend_trial *trial_of(const struct json_tape *t, uint32_t root, struct slice texts)
{
	struct mend_trial *r = xcalloc(1, sizeof(*r));
	uint32_t counts = json_get(t, root, "counts");
	r->texts = arena_slice(&r->arena, texts);
	r->status = json_dup(t, root, "status", &r->arena);
	r->differs = json_dup(t, root, "differs", &r->arena);
	r->error = json_dup(t, root, "error", &r->arena);
	r->equal = !r->differs.n;
	r->as_eager_ends = !slice_starts(r->differs, "ends differently");
	r->seconds = json_number(t, root, "seconds", 0);
	r->cpu = json_number(t, root, "cpu", 0);
	r->compile_seconds = json_number(t, json_get(t, root, "clock"), "compile", 0);
	r->step_seconds = json_number(t, json_get(t, root, "clock"), "step", 0);
	r->n.calls = json_count(t, counts, "calls", 0);
	r->n.ops = json_count(t, counts, "ops", 0);
	r->n.outer = json_count(t, counts, "outer", 0);
	r->n.steps = json_count(t, counts, "steps", 0);
	struct slice dir = json_dup(t, root, "trace", &r->arena);
	read_log(r, dir.n ? dir.p : "");
	return r;
}

struct mend_trial *trial_run(struct mend_server *s, const struct trial_spec *spec, struct err *err)
{
	LOCAL_BUF b = {0};
	OWNED(json_tape_release) struct json_tape t = {0};
	struct json_out o = {.b = &b};
	uint32_t root;
	json_obj(&o);
	json_member_str(&o, "op", SLICE("run"));
	json_member_raw(&o, "texts", spec->texts);
	json_member_str(&o, "backend", slice_str(spec->backend));
	json_member_bool(&o, "whole", spec->whole);
	json_member_bool(&o, "region", spec->region);
	json_member_bool(&o, "wide_tolerance", spec->rounds);
	json_member_bool(&o, "cold", spec->cold);
	json_member_real(&o, "tolerance", spec->tolerance > 0 ? spec->tolerance : 1e-5);
	json_member_u64(&o, "timeout", (uint64_t)spec->timeout);
	json_close(&o);
	if (mend_server_ask(s, buf_slice(&b), &t, &root, err) < 0)
		return NULL;
	return trial_of(&t, root, spec->texts);
}

void trial_free(struct mend_trial *t)
{
	if (!t)
		return;
	if (t->explained) {
		explanation_release(&t->x);
		facts_release(&t->facts);
	}
	arena_release(&t->arena);
	free(t);
}

/* ---- findings ---- */

/* A file's text in such an object; p NULL: it is not in it. In the arena. */
static struct slice trial_text(struct slice texts, struct slice path, struct arena *a)
{
	OWNED(json_tape_release) struct json_tape t = {0};
	LOCAL_BUF key = {0};
	uint32_t root;
	json_tape_text(&t, texts.p, texts.n);
	if (json_parse(&t, 0, texts.n, &root) == 0)
		json_each_pair(&t, root, k) {
			buf_reset(&key);
			json_unescape(&t, k, &key);
			if (slice_eq(buf_slice(&key), path))
				return json_dup_at(&t, k + 1, a);
		}
	return (struct slice){NULL, 0};
}

/* A file as a run saw it: from its texts, or as it is on disk. */
static struct slice text_or_file(struct slice texts, struct slice path, struct arena *a)
{
	struct slice text = trial_text(texts, path, a);
	struct mapfile m;
	struct err err;
	FREED char *name = xstrndup(path.p, path.n);
	if (text.p || mapfile_open(&m, name, &err) < 0)
		return text;
	text = arena_slice(a, m.bytes);
	mapfile_close(&m);
	return text;
}

bool trial_counts(const struct finding *g)
{
	return g->into == NONE && g->level != FINDING_NOTE &&
	       (g->kind == FINDING_FAILURE || g->kind == FINDING_LIMIT || g->kind == FINDING_RECOMPILE || g->kind == FINDING_BREAK);
}

static bool of_guards(const struct finding *g) { return g->kind == FINDING_RECOMPILE || g->kind == FINDING_LIMIT; }

static struct slice text_of(const struct mend_trial *t, uint32_t id) { return facts_text(&t->facts, id); }

/* Without the name of the function that resumes it after a break, which has a line in it. */
static struct slice function_of(const struct mend_trial *t, const struct finding *g)
{
	struct slice name = text_of(t, g->loc.function), of;
	uint32_t line;
	return facts_resume_name(name, &of, &line) ? of : name;
}

/* The lines of the new text that may be what was this line: [*from, *to], from 1. */
static void follow(struct slice old, struct slice new, uint32_t line, uint32_t *from, uint32_t *to)
{
	OWNED(linediff_release) struct linediff d = {0};
	*from = *to = line;
	linediff_run(&d, old, new, NULL, NULL);
	for (uint32_t i = 0; i < d.n; i++) {
		if (d.row[i].a + 1 != line || d.row[i].a == NONE)
			continue;
		if (d.row[i].same) {
			*from = *to = d.row[i].b + 1;
			return;
		}
		uint32_t first = i, last = i; /* the whole stretch of edited lines */
		while (first > 0 && !d.row[first - 1].same)
			first--;
		while (last + 1 < d.n && !d.row[last + 1].same)
			last++;
		*from = UINT32_MAX;
		*to = 0;
		for (uint32_t k = first; k <= last; k++)
			if (d.row[k].b != NONE) {
				*from = d.row[k].b + 1 < *from ? d.row[k].b + 1 : *from;
				*to = d.row[k].b + 1;
			}
		return;
	}
}

static bool same_guard(const struct mend_trial *old, const struct finding *g, const struct mend_trial *new, const struct finding *h)
{
	return of_guards(h) && slice_eq(function_of(old, g), function_of(new, h)) && (g->kind == h->kind || g->kind == FINDING_LIMIT) &&
	       (slice_eq(g->cause, h->cause) || (g->kind == FINDING_LIMIT && h->kind == FINDING_LIMIT));
}

bool trial_gone(const struct mend_trial *old, const struct finding *g, const struct mend_trial *new)
{
	OWNED(arena_release) struct arena a = {0};
	if (of_guards(g)) {
		for (uint32_t i = 0; i < new->x.n_finding; i++)
			if (same_guard(old, g, new, &new->x.finding[i]))
				return false;
		return true;
	}
	struct slice file = text_of(old, g->loc.file);
	struct slice before = text_or_file(old->texts, file, &a), after = text_or_file(new->texts, file, &a);
	uint32_t from = g->loc.line, to = g->loc.line;
	if (after.p && before.p)
		follow(before, after, g->loc.line, &from, &to);
	for (uint32_t i = 0; i < new->x.n_finding; i++) {
		const struct finding *h = &new->x.finding[i];
		if (!of_guards(h) && h->level != FINDING_NOTE && (h->kind == FINDING_BREAK || h->kind == FINDING_FAILURE) &&
		    slice_eq(text_of(new, h->loc.file), file) && h->loc.line >= from && h->loc.line <= to)
			return false;
	}
	return true;
}

double trial_cost(const struct mend_trial *t)
{
	const struct trial_figures *n = &t->n;
	/* not by outermost calls: where parts are compiled instead of the whole, those are more */
	const uint64_t per = n->steps ? n->steps : n->outer ? n->outer : 1;
	return 10.0 * (double)n->breaks + 6.0 * (double)n->recompiles + 40.0 * (double)n->limits + 15.0 * (double)n->skipped +
	       2.0 * (double)n->calls / (double)per;
}

void trial_figures(struct buf *b, const struct trial_figures *n)
{
	put_count(b, n->breaks, "break");
	buf_adds(b, ", ");
	put_count(b, n->recompiles, "recompile");
	if (n->limits)
		buf_addf(b, ", %llu at the limit", (unsigned long long)n->limits);
	if (n->skipped) {
		buf_adds(b, ", ");
		put_count(b, n->skipped, "function");
		buf_adds(b, " in Python");
	}
	buf_adds(b, ", ");
	put_count(b, n->calls, "graph call");
}

/* ---- for the candidates ---- */

static void put_stack(struct json_out *o, const struct mend_trial *t, const struct finding *g, struct slice error)
{
	struct slice rest = g && g->frames.n ? g->frames : error;
	struct srcloc at;
	json_member_arr(o, "stack");
	while (explain_frame(&rest, &at))
		if (at.line) {
			json_arr(o);
			json_out_str(o, at.file);
			json_out_u64(o, at.line);
			json_close(o);
		}
	for (uint32_t i = 0; g && i < t->facts.n_brk; i++) { /* the frames of the breaks at that line */
		const struct fact_break *k = &t->facts.brk[i];
		if (k->loc.file != g->loc.file || k->loc.line != g->loc.line)
			continue;
		rest = text_of(t, k->stack);
		while (explain_frame(&rest, &at))
			if (at.line) {
				json_arr(o);
				json_out_str(o, at.file);
				json_out_u64(o, at.line);
				json_close(o);
			}
		break;
	}
	json_close(o);
}

void trial_finding(struct buf *b, const struct mend_trial *t, const struct finding *g)
{
	struct json_out o = {.b = b};
	LOCAL_BUF guards = {0};
	json_obj(&o);
	json_member_str(&o, "kind", g ? slice_str(finding_kind_name[g->kind]) : SLICE("failure"));
	json_member_str(&o, "file", g ? text_of(t, g->loc.file) : SLICE(""));
	json_member_u64(&o, "line", g ? g->loc.line : 0);
	json_member_str(&o, "function", g ? function_of(t, g) : SLICE(""));
	json_member_u64(&o, "count", g ? g->count : 0);
	json_member_str(&o, "title", g ? g->title : t->error);
	json_member_str(&o, "cause", g ? g->cause : SLICE(""));
	json_member_str(&o, "why", g ? g->why : SLICE(""));
	json_member_str(&o, "fix", g ? g->fix : SLICE(""));
	json_member_str(&o, "hint", g ? g->hint : SLICE(""));
	if (g) {
		buf_add_slice(&guards, g->evidence);
		for (uint32_t i = 0; of_guards(g) && i < t->facts.n_recompile && guards.len < 20000; i++) {
			buf_adds(&guards, "\n");
			buf_add_slice(&guards, text_of(t, t->facts.recompile[i].reason));
		}
	}
	json_member_str(&o, "evidence", buf_slice(&guards));
	put_stack(&o, t, g, t->error);
	json_close(&o);
}
