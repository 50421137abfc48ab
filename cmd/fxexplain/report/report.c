/* report.c - `fxexplain report`: writes an issue for PyTorch, in the sections of its bug-report form
 * (.github/ISSUE_TEMPLATE/bug-report.yml, pt2-bug-report.yml: describe the bug, error logs, minified repro, versions).
 *
 * GitHub takes 65,536 characters; every section has its share of REPORT_MAX, so nothing is cut at the end.
 * All text from the log goes through report_add_text(), _code() and _block(), which redact it if requested. */
#include "report/report.h"

#include "base/text.h"
#include "run/diagnose/bugs.h"

#include <unistd.h>

enum { BREAKS = 15, RECOMPILES = 10, FINDINGS = 12, PHASES = 10, LOGS = 4 };
enum { MAX_TRACEBACK = 16000, MAX_REPRO = 16000 };

/* ---- text ---- */

static void put_place(struct report_text *t, const struct fact_loc *loc)
{
	LOCAL_BUF place = {0};
	explain_add_place(&place, t->x, loc);
	if (place.len)
		report_add_code(t, " at ", buf_slice(&place));
}

/* "- `line`", of each line of a text. */
static void put_items(struct report_text *t, struct slice text, unsigned most)
{
	struct slice line;
	while (most-- && slice_line(&text, &line)) {
		if (!slice_trim(line).n)
			continue;
		report_add_code(t, "- ", slice_trim(line));
		buf_addc(t->b, '\n');
	}
}

/* ---- describe the bug ---- */

/* How large is what failed? The last graph of the compilation that has a count; what was generated from it never was. */
static void put_graph_size(struct report_text *t, const struct component_view *c)
{
	const struct facts *f = t->x->facts;
	const struct fact_graph *last = NULL;
	for (uint32_t i = 0; i < f->n_graph && c->compile != NONE; i++)
		if (f->graph[i].compile == c->compile && f->graph[i].ops >= 0)
			last = &f->graph[i];
	if (!last)
		return;
	report_add_code(t, "The graph that failed, ", facts_text(f, last->name));
	report_add_code(t, " of ", facts_label(f, c->compile));
	buf_addf(t->b, ", has %lld operation%s.\n\n", (long long)last->ops, plural((uint64_t)last->ops));
}

static void put_verdict(struct report_text *t)
{
	static const char *const sure[] = {"perhaps ", "probably ", ""};
	const struct explanation *x = t->x;
	const struct component_view *c = x->n_component ? &x->component[0] : NULL;
	if (!x->sum.failures && t->repro.error.len) {
		struct slice rest = buf_slice(&t->repro.error);
		report_add_code(t, "", slice_first_line(rest));
		buf_adds(t->b, "\n\n");
		return;
	}
	if (c && explain_verdict_title(c).n && (c->component == COMPONENT_NONE || c->unfinished)) {
		buf_adds(t->b, explain_verdict_label(c));
		md_text(t->b, explain_verdict_title(c), 0);
		buf_adds(t->b, ".\n\n");
		put_items(t, c->evidence, 5);
		buf_addc(t->b, '\n');
		return;
	}
	if (!c || c->component == COMPONENT_NONE) {
		buf_adds(t->b, x->sum.failures ? "Something failed, see below.\n\n" : "Nothing failed. This is about the following.\n\n");
		return;
	}
	buf_addf(t->b, "It fails, %sin **", sure[c->sure]);
	md_text(t->b, explain_verdict_title(c), 0);
	buf_adds(t->b, "**");
	if (c->compile != NONE) {
		report_add_code(t, ", in compile id ", facts_label(x->facts, c->compile));
		put_place(t, &x->facts->compile[c->compile].loc);
	}
	buf_adds(t->b, ".\n\n");
	put_graph_size(t, c);
	put_items(t, c->evidence, 5);
	if (c->experiment.n) {
		buf_adds(t->b, "\nTo confirm it:\n\n");
		put_items(t, c->experiment, 4);
	}
	buf_addc(t->b, '\n');
}

/* Public threads that the failure looks like: a maintainer should know of them. */
static void put_known_bugs(struct report_text *t)
{
	bool any = false;
	for (uint32_t i = 0; i < t->x->n_finding; i++) {
		LOCAL_BUF lines = {0};
		explain_bug_lines(t->x, &t->x->finding[i], &lines);
		if (lines.len && !any)
			buf_adds(t->b, "It may be a known bug:\n\n");
		any = any || lines.len;
		struct slice rest = buf_slice(&lines), line;
		while (slice_line(&rest, &line)) {
			buf_adds(t->b, "- ");
			report_add_text(t, line);
			buf_addc(t->b, '\n');
		}
	}
	if (any)
		buf_addc(t->b, '\n');
}

static void put_command(struct report_text *t)
{
	const struct facts *f = t->x->facts;
	for (uint32_t i = 0; i < f->n_input; i++)
		if (f->input[i].command != NONE) {
			report_add_code(t, "Command: ", facts_text(f, f->input[i].command));
			buf_adds(t->b, "\n\n");
			return;
		}
}

/* The form asks for the trace. */
static void put_logs(struct report_text *t)
{
	const struct facts *f = t->x->facts;
	unsigned n = 0;
	for (uint32_t i = 0; i < f->n_input; i++) {
		if (f->input[i].kind != FACT_TRACE || n++ >= LOGS)
			continue;
		report_add_code(t, n == 1 ? "`TORCH_TRACE` logs to attach: " : ", ", facts_text(f, f->input[i].path));
	}
	if (n > LOGS)
		buf_addf(t->b, " and %u more", n - LOGS);
	buf_adds(t->b, n ? ".\n\n" : "");
}

/* A compilation that failed has no number of operations in its metrics; the graph that Dynamo captured for it has one. */
static uint64_t operations(const struct facts *f)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < f->n_compile; i++)
		sum += f->compile[i].ops > 0 ? (uint64_t)f->compile[i].ops : 0;
	for (uint32_t i = 0; i < f->n_graph; i++) {
		const struct fact_graph *g = &f->graph[i];
		if (g->compile != NONE && g->ops > 0 && f->compile[g->compile].ops <= 0 &&
		    slice_is(facts_text(f, g->name), "dynamo_output_graph"))
			sum += (uint64_t)g->ops;
	}
	return sum;
}

static void put_numbers(struct report_text *t)
{
	const struct explanation *x = t->x;
	if (!x->sum.compiles && !x->sum.graph_breaks && !x->sum.recompiles)
		return;
	buf_addf(t->b, "%llu frame%s, %llu compilation%s, %llu recompilation%s, %llu graph break%s", (unsigned long long)x->sum.frames,
		 plural(x->sum.frames), (unsigned long long)x->sum.compiles, plural(x->sum.compiles), (unsigned long long)x->sum.recompiles,
		 plural(x->sum.recompiles), (unsigned long long)x->sum.graph_breaks, plural(x->sum.graph_breaks));
	const uint64_t ops = operations(x->facts);
	if (x->sum.graphs)
		buf_addf(t->b, ", %llu graph%s", (unsigned long long)x->sum.graphs, plural(x->sum.graphs));
	if (x->sum.graphs && ops)
		buf_addf(t->b, " with %llu operation%s", (unsigned long long)ops, plural(ops));
	if (x->sum.restarts)
		buf_addf(t->b, ", %llu restart%s", (unsigned long long)x->sum.restarts, plural(x->sum.restarts));
	if (x->sum.compile_seconds >= 0) {
		buf_adds(t->b, ", ");
		put_seconds(t->b, x->sum.compile_seconds);
		buf_adds(t->b, " of compile time");
	}
	buf_adds(t->b, ".\n\n");
}

static void put_breaks(struct report_text *t)
{
	const struct explanation *x = t->x;
	char gb[16];
	if (!x->n_group)
		return;
	buf_addf(t->b, "#### Graph breaks\n\n| where | reason | count | |\n|---|---|---|---|\n");
	for (uint32_t i = 0; i < x->n_group && i < BREAKS; i++) {
		const struct break_group *g = &x->group[i];
		const struct fact_break *k = &x->facts->brk[g->first];
		LOCAL_BUF place = {0};
		struct slice reason = explain_text(x, k->reason), line;
		explain_add_place(&place, x, &g->loc);
		report_add_code(t, "| ", place.len ? buf_slice(&place) : SLICE("?"));
		buf_adds(t->b, " | ");
		report_add_text(t, slice_line(&reason, &line) ? line : slice_of(NULL, 0));
		buf_addf(t->b, " | %u | ", g->count + g->inferred);
		snprintf(gb, sizeof(gb), "GB%04d", g->gb);
		if (g->gb >= 0)
			md_link(t->b, slice_str(gb), explain_text(x, k->url));
		buf_adds(t->b, " |\n");
	}
	if (x->n_group > BREAKS)
		buf_addf(t->b, "\nand %u more places.\n", x->n_group - BREAKS);
	buf_addc(t->b, '\n');
}

static void put_recompiles(struct report_text *t)
{
	const struct facts *f = t->x->facts;
	if (!f->n_recompile && !f->n_limit)
		return;
	buf_adds(t->b, "#### Recompilations\n\n");
	for (uint32_t i = 0; i < f->n_recompile && i < RECOMPILES; i++) {
		const struct fact_recompile *r = &f->recompile[i];
		report_add_code(t, "- ", facts_label(t->x->facts, r->compile));
		put_place(t, &r->loc);
		buf_adds(t->b, ": ");
		if (r->guard == NONE)
			buf_adds(t->b, "the log gives no reason");
		else
			report_add_code(t, "", facts_text(f, r->guard));
		if (r->old != NONE || r->new != NONE) {
			report_add_code(t, ", ", r->old == NONE ? SLICE("?") : facts_text(f, r->old));
			report_add_code(t, " became ", r->new == NONE ? SLICE("?") : facts_text(f, r->new));
		}
		buf_addc(t->b, '\n');
	}
	if (f->n_recompile > RECOMPILES)
		buf_addf(t->b, "- and %u more\n", f->n_recompile - RECOMPILES);
	for (uint32_t i = 0; i < f->n_limit && i < RECOMPILES; i++) {
		buf_addf(t->b, "- limit of %llu%s reached", (unsigned long long)f->limit[i].limit,
			 f->limit[i].accumulated ? " (accumulated)" : "");
		put_place(t, &f->limit[i].loc);
		buf_addc(t->b, '\n');
	}
	buf_addc(t->b, '\n');
}

static void put_times(struct report_text *t)
{
	const struct explanation *x = t->x;
	for (uint32_t i = 0; i < x->n_time; i++) {
		const struct time_view *v = &x->time[i];
		if (v->compile != NONE || !v->n)
			continue;
		buf_adds(t->b, "#### Compile time\n\n| part | seconds | calls |\n|---|---:|---:|\n");
		for (uint32_t k = 0; k < v->n && k < PHASES; k++) {
			buf_adds(t->b, "| ");
			report_add_text(t, x->part[v->first + k].name);
			buf_addf(t->b, " | %.3f | %llu |\n", x->part[v->first + k].seconds,
				 (unsigned long long)x->part[v->first + k].calls);
		}
		buf_addc(t->b, '\n');
		return;
	}
}

/* The failure behind the verdict, else the first uncaught one, else the first. */
static uint32_t the_failure(const struct explanation *x)
{
	const struct facts *f = x->facts;
	uint32_t any = NONE;
	if (x->n_component && x->component[0].failure < f->n_failure)
		return x->component[0].failure;
	for (uint32_t i = f->n_failure; i-- > 0;)
		if (!f->failure[i].restart && (!f->failure[i].caught || any == NONE))
			any = i;
	return any;
}

/* Lists all findings except breaks and recompiles, which have their own lists. */
static void put_findings(struct report_text *t)
{
	const struct explanation *x = t->x;
	uint32_t told = the_failure(x);
	unsigned n = 0;
	for (uint32_t i = 0; i < x->n_finding && n < FINDINGS; i++) {
		const struct finding *g = &x->finding[i];
		if (g->kind == FINDING_BREAK || g->kind == FINDING_RECOMPILE || g->kind == FINDING_LIMIT || g->kind == FINDING_TIME)
			continue;
		if (g->kind == FINDING_FAILURE && told != NONE && x->facts->failure[told].src.line == g->src.line &&
		    x->facts->failure[told].src.input == g->src.input)
			continue;
		if (!n++)
			buf_adds(t->b, "#### Also found\n\n");
		buf_addf(t->b, "- %s: ", finding_level_name[g->level]);
		report_add_text(t, g->title);
		put_place(t, &g->loc);
		buf_addc(t->b, '\n');
	}
	if (n)
		buf_addc(t->b, '\n');
}

/* ---- error logs ---- */

static const char *first_line(struct report_text *t, struct slice text)
{
	buf_reset(&t->line);
	buf_add_slice(&t->line, slice_trim(slice_first_line(text)));
	return buf_str(&t->line);
}

static void put_errors(struct report_text *t)
{
	const struct facts *f = t->x->facts;
	uint32_t row = the_failure(t->x);
	LOCAL_BUF b = {0}, shorter = {0};
	if (row == NONE && t->repro.error.len) { /* the error of the program below */
		report_add_block(t, "", buf_slice(&t->repro.error), MAX_TRACEBACK);
		buf_addc(t->b, '\n');
		return;
	}
	if (row == NONE) {
		buf_adds(t->b, "The log has no exception.\n\n");
		return;
	}
	const struct fact_failure *e = &f->failure[row];
	struct slice stack = facts_text(f, e->stack), frames = facts_text(f, e->frames), reason = facts_text(f, e->reason);
	struct slice type = facts_text(f, e->type);
	if (e->signal)
		buf_addf(t->b, "The process was killed by signal %d (%s).\n\n", e->signal, strsignal(e->signal));
	if (stack.n)
		traceback_shorten(&b, stack);
	else if (frames.n) {
		buf_adds(&b, "Innermost frames:\n");
		buf_add_slice(&b, frames);
		buf_addc(&b, '\n');
	}
	if (!stack.n || (reason.n && !slice_find(stack, first_line(t, reason)))) {
		buf_add_clean(&b, type);
		buf_adds(&b, type.n && reason.n ? ": " : "");
		buf_add_slice(&b, reason);
	}
	compiler_shorten(&shorter, buf_slice(&b));
	if (shorter.len)
		report_add_block(t, "", buf_slice(&shorter), MAX_TRACEBACK);
	buf_addc(t->b, '\n');
}

/* ---- minified repro ---- */

static void put_repro(struct report_text *t, const char *path)
{
	const struct explanation *x = t->x;
	const struct slice program = t->repro.file.bytes;
	if (path) {
		if (program.n <= MAX_REPRO)
			report_add_block(t, "python", program, MAX_REPRO);
		else
			buf_addf(t->b, "The program is attached: it is %zu bytes long.\n", program.n);
		if (t->repro.verified.n) {
			buf_adds(t->b, "\nIt ");
			report_add_text(t, t->repro.verified);
			buf_adds(t->b, ".\n");
		}
		buf_addc(t->b, '\n');
		return;
	}
	if (x->n_component && x->component[0].minify.n) {
		buf_adds(t->b,
			 "Not minified yet. This creates a small program that fails the same way (then `fxexplain report --repro repro.py "
			 "...`):\n\n");
		report_add_block(t, "sh", x->component[0].minify, 2000);
	} else {
		buf_adds(t->b, "A program that reproduces it goes here: `fxexplain report --repro FILE ...` adds it.\n");
	}
	buf_addc(t->b, '\n');
}

/* ---- the whole report ---- */

void report_write(struct buf *b, const struct explanation *x, const struct report_options *opt)
{
	struct report_text t = {.b = b, .x = x, .redact = opt->redact};
	if (opt->repro)
		report_repro_open(&t.repro, opt->repro);
	if (opt->redact)
		report_learn(&t);
	buf_adds(b, "### \360\237\220\233 Describe the bug\n\n<!-- What you expected, and what happened instead. The rest was written "
		    "by fxexplain " PT2_VERSION " from the logs: read it before you send it. -->\n\n");
	put_verdict(&t);
	put_known_bugs(&t);
	put_command(&t);
	put_logs(&t);
	put_numbers(&t);
	put_breaks(&t);
	put_recompiles(&t);
	put_times(&t);
	put_findings(&t);
	buf_adds(b, "### Error logs\n\n");
	put_errors(&t);
	buf_adds(b, "### Minified repro\n\n");
	put_repro(&t, opt->repro);
	buf_adds(b, "### Versions\n\n");
	report_versions(&t);
	if (opt->repro)
		report_repro_close(&t.repro);
	redact_release(&t.r);
	buf_release(&t.tmp);
	buf_release(&t.line);
}
