/* explain_json.c - verdict and findings as JSON (docs/formats/EXPLAIN.md), for fxexplain --json and for the pages of both tools. */
#include "run/diagnose/bugs.h"
#include "run/document.h"

void finding_fingerprint(const struct explanation *x, const struct finding *g, char id[FINGERPRINT_TEXT])
{
	LOCAL_BUF b = {0};
	buf_adds(&b, finding_kind_name[g->kind]);
	buf_addc(&b, '\0');
	buf_add_slice(&b, g->id);
	buf_addc(&b, '\0');
	/* CI's checkout is in another directory than a developer's: the last two components of the path are enough. */
	const struct fact_loc *loc = g->through.file == NONE ? &g->loc : &g->through;
	struct slice file = srcloc_short_file(explain_text(x, loc->file));
	size_t at = file.n;
	for (int slashes = 0; at > 0; at--)
		if (file.p[at - 1] == '/' && ++slashes == 2)
			break;
	buf_add(&b, file.p ? file.p + at : "", file.n - at);
	buf_addc(&b, '\0');
	buf_add_slice(&b, explain_text(x, loc->function));
	snprintf(id, FINGERPRINT_TEXT, "%016llx", (unsigned long long)hash_bytes(b.p, b.len));
}

static void put_component(struct json_out *o, const struct component_view *c)
{
	static const char *const sure[] = {"no", "likely", "proven"};
	json_obj(o);
	json_member(o, "component", slice_str(c->component == COMPONENT_NONE ? "" : component_name[c->component]));
	json_member(o, "title", explain_verdict_title(c));
	json_member(o, "sure", slice_str(sure[c->sure]));
	json_member(o, "basis", slice_str(basis_name[c->basis]));
	json_member_bool(o, "unfinished", c->unfinished);
	json_member_bool(o, "interrupted", c->interrupted);
	json_member_index(o, "failure", c->failure);
	json_member_index(o, "compile", c->compile);
	json_member_lines(o, "evidence", c->evidence);
	json_member_lines(o, "experiment", c->experiment);
	json_member(o, "minify", c->minify);
	json_member_lines(o, "next", c->next);
	json_close(o);
}

static void put_verdict(struct json_out *o, const struct explanation *x)
{
	json_member(o, "headline", x->headline);
	json_key(o, "verdict");
	if (x->n_component)
		put_component(o, &x->component[0]);
	else
		json_out_null(o);
	json_member_arr(o, "other_verdicts");
	for (uint32_t i = 1; i < x->n_component; i++)
		put_component(o, &x->component[i]);
	json_close(o);
}

/* ---- findings ---- */

/* "0/0 0/0 (2nd) 0/1" */
static void put_words(struct json_out *o, const char *key, struct slice text)
{
	json_member_arr(o, key);
	while ((text = slice_trim(text)).n) {
		size_t n = 0;
		while (n < text.n && (text.p[n] != ' ' || (n + 1 < text.n && text.p[n + 1] == '(')))
			n++;
		json_out_str(o, slice_of(text.p, n));
		text = slice_of(text.p + n, text.n - n);
	}
	json_close(o);
}

static void put_bugs(struct json_out *o, const struct explanation *x, const struct finding *g)
{
	json_rows(o, "known_bugs", i, g->n_bug) {
		const struct bug_hit *h = &x->bug[g->first_bug + i];
		LOCAL_BUF url = {0};
		buf_addf(&url, "https://github.com/pytorch/pytorch/issues/%.*s", SL(h->bug.number));
		json_member(o, "url", buf_slice(&url));
		json_member(o, "basis", slice_str(basis_name[BASIS_LIKELY]));
		json_member(o, "state", slice_str(bug_state_name[h->state]));
		json_fields(o, h->bug, first, last, fixed, what, until);
	}
}

static void put_findings(struct json_out *o, const struct explanation *x, const char *key, const struct finding *finding, uint32_t n)
{
	char fingerprint[FINGERPRINT_TEXT];
	json_rows(o, key, i, n) {
		const struct finding *g = &finding[i];
		finding_fingerprint(x, g, fingerprint);
		json_member(o, "kind", slice_str(finding_kind_name[g->kind]));
		json_member(o, "level", slice_str(finding_level_name[g->level]));
		json_fields(o, *g, id, title, cause);
		document_loc(o, "location", x->facts, &g->loc);
		document_loc(o, "through", x->facts, &g->through);
		json_member_u64(o, "input", g->src.input);
		json_member_count(o, "line", g->src.line ? (int64_t)g->src.line : -1);
		json_member_u64(o, "count", g->count);
		json_member_seconds(o, "seconds", g->seconds);
		json_key(o, "call_us");
		if (g->call_us >= 0)
			json_out_double(o, g->call_us, 1);
		else
			json_out_null(o);
		json_fields(o, *g, in_python, cost, why);
		json_member_lines(o, "evidence", g->evidence);
		json_member_lines(o, "fix", g->fix);
		json_member_lines(o, "hints", g->hint);
		json_member_lines(o, "torch_hints", g->torch_hint);
		json_member_lines(o, "next", g->next);
		json_member(o, "url", g->url);
		put_bugs(o, x, g);
		put_words(o, "compile_ids", g->compiles);
		json_member_i64s(o, "ranks", g->ranks, g->n_ranks);
		json_member(o, "fingerprint", slice_str(fingerprint));
		if (g->ignored.n)
			json_member(o, "ignored_by", g->ignored);
	}
}

/* ---- times ---- */

static void put_times(struct json_out *o, const struct explanation *x)
{
	json_rows(o, "times", i, x->n_time) {
		const struct time_view *t = &x->time[i];
		json_member_index(o, "compile", t->compile);
		json_member(o, "id", facts_label(x->facts, t->compile));
		json_member_seconds(o, "seconds", t->seconds);
		json_rows(o, "parts", k, t->n) {
			const struct time_part *p = &x->part[t->first + k];
			json_member(o, "name", p->name);
			json_member_seconds(o, "seconds", p->seconds);
			json_member_seconds(o, "thread_seconds", p->threads);
			json_member_u64(o, "calls", p->calls);
		}
	}
}

/* The same, added up for each input, and (input null) as recorded for the run as a whole: what a page shows, and has room for. */
struct time_sums {
	ROWS(struct time_part, part);
};

static void add_times(struct time_sums *to, const struct explanation *x, const struct time_view *t)
{
	for (uint32_t k = 0; k < t->n; k++) {
		const struct time_part *p = &x->part[t->first + k];
		uint32_t at = 0;
		while (at < to->n_part && !slice_eq(to->part[at].name, p->name)) /* a dozen names */
			at++;
		if (at == to->n_part)
			PUSH(to, part) = (struct time_part){.name = p->name};
		to->part[at].seconds += p->seconds > 0 ? p->seconds : 0;
		to->part[at].calls += p->calls;
	}
}

static void put_time_sums(struct json_out *o, const struct explanation *x)
{
	const uint32_t n = x->facts->n_input; /* and one for the run */
	struct time_sums *sum = xcalloc(n + 1u, sizeof(*sum));
	for (uint32_t i = 0; i < x->n_time; i++) {
		const struct time_view *t = &x->time[i];
		add_times(&sum[t->compile == NONE ? n : x->facts->compile[t->compile].src.input], x, t);
	}
	json_rows(o, "time_sums", i, n + 1) {
		json_member_index(o, "input", i == n ? NONE : i);
		json_rows(o, "parts", k, sum[i].n_part) {
			json_member(o, "name", sum[i].part[k].name);
			json_member_seconds(o, "seconds", sum[i].part[k].seconds);
			json_member_u64(o, "calls", sum[i].part[k].calls);
		}
		free(sum[i].part);
	}
	free(sum);
}

void explain_out(const struct explanation *x, struct json_out *o, bool page)
{
	put_verdict(o, x);
	put_findings(o, x, "findings", x->finding, x->n_finding);
	put_findings(o, x, "ignored", x->ignored, x->n_ignored);
	if (page)
		put_time_sums(o, x);
	else
		put_times(o, x);
}
