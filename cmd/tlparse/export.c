/* export.c - the pages of -e, the report of an export log: the list of findings, and a page per symbolic guard. */
#include "outdir.h"
#include "base/text.h"

enum {
	HISTORY_MAX = 500, /* expressions of one page */
	INDENT_MAX = 20,   /* of the style sheet */
};

/* For texts that the log may not have. */
static void code_or(struct buf *b, const struct trace *t, uint32_t n, const char *otherwise)
{
	if (n == NONE)
		html_raw(b, otherwise);
	else
		html_put(b, "<code>{}</code>", name(t, n));
}

static void put_lines(struct buf *b, const struct trace *t, const char *caption, uint32_t text)
{
	if (text == NONE)
		return;
	html_put(b, "<h2>{}</h2>\n<pre class=\"code\">{}</pre>\n", slice_str(caption), name(t, text));
}

static void put_place(struct buf *b, const struct trace *t, const struct fact_loc *loc, unsigned depth)
{
	if (loc->file != NONE)
		page_frame(b, name(t, loc->file), loc->line, name(t, loc->function), name(t, loc->code), depth);
}

/* How the expression came about: itself first, then its operands. */
static void history(struct buf *b, const struct trace *t, uint32_t row)
{
	struct trace_expr_step *step = xcalloc(HISTORY_MAX, sizeof(*step));
	uint32_t n = trace_expr_history(t, row, step, HISTORY_MAX);
	html_raw(b, "<h2>Where the expression comes from</h2>\n");
	if (!n)
		html_raw(b, "<p>Unknown: not in the log.</p>\n");
	for (uint32_t i = 0; i < n; i++) {
		const struct trace_expr *e = &t->expr[step[i].row];
		buf_addf(b, "<div class=\"step d%u\"><p>", step[i].depth < INDENT_MAX ? step[i].depth : INDENT_MAX);
		code_or(b, t, e->result, "(no result)");
		if (e->method == NONE) {
			html_raw(b, " <span class=\"note\">a size or value only known when the program runs</span>");
		} else {
			html_put(b, " <span class=\"note\">by</span> <code>{}(", name(t, e->method));
			struct slice rest = name(t, e->args), arg;
			for (unsigned k = 0; slice_line(&rest, &arg); k++) {
				html_raw(b, k ? ", " : "");
				html_text(b, arg);
			}
			html_raw(b, ")</code>");
		}
		html_raw(b, "</p>\n");
		if (e->loc.file != NONE) {
			html_raw(b, "<p>");
			put_place(b, t, &e->loc, 1);
			html_raw(b, "</p>\n");
		}
		page_stack(b, t, &t->export_stacks, e->user_stack, "User stack", false);
		page_stack(b, t, &t->export_stacks, e->stack, "Framework stack", false);
		html_raw(b, "</div>\n");
	}
	if (n == HISTORY_MAX)
		buf_addf(b, "<p class=\"note\">Only the first %u expressions are shown.</p>\n", n);
	free(step);
}

static const char *const kind_title[] = {
    [EXPORT_GUARD] = "Guard evaluated",
    [EXPORT_SPECIALIZED] = "Data-dependent, specialized",
    [EXPORT_DATA_DEPENDENT] = "Data-dependent, export failed",
    [EXPORT_MISSING] = "Missing fake kernel",
    [EXPORT_MISMATCHED] = "Mismatched fake kernel",
};

static void what_happened(struct buf *b, const struct trace *t, const struct trace_export *x)
{
	static const struct {
		const char *before, *unnamed, *after;
	} say[] = {
	    [EXPORT_GUARD] =
		{"The program asked whether ", "an expression",
		 " holds, and the answer became a guard. The exported program does not cover inputs for which the answer differs: "
		 "the dynamic sizes may be too wide (a constraint violation)."},
	    [EXPORT_SPECIALIZED] = {"Whether ", "an expression",
				    " holds is only known when the program runs. Export continued with the value for the example inputs, "},
	    [EXPORT_DATA_DEPENDENT] = {"Whether ", "an expression",
				       " holds is only known when the program runs: export could not continue."},
	    [EXPORT_MISSING] = {"The operator ", "(unknown)", " has no fake kernel, which describes its outputs without running it."},
	    [EXPORT_MISMATCHED] = {"The fake kernel of ", "(an unknown operator)", " disagrees with the real one: "},
	};
	html_raw(b, say[x->kind].before);
	code_or(b, t, x->expr, say[x->kind].unnamed);
	html_raw(b, say[x->kind].after);
	if (x->kind == EXPORT_SPECIALIZED) {
		code_or(b, t, x->result, "which is not in the log");
		html_raw(b, ", and the graph asserts it.");
	} else if (x->kind == EXPORT_MISMATCHED) {
		code_or(b, t, x->reason, "the details are not in the log");
		html_raw(b, ".");
	}
}

void page_guard(struct buf *b, const struct trace *t, const struct trace_export *x)
{
	page_head(b, SLICE("Symbolic guard"), 1);
	buf_addf(b, "<main>\n<h1>%s: ", kind_title[x->kind]);
	code_or(b, t, x->expr, "(no expression)");
	html_raw(b, "</h1>\n<p>");
	what_happened(b, t, x);
	html_raw(b, "</p>\n<h2>Where</h2>\n<p>");
	put_place(b, t, &x->loc, 1);
	if (x->loc.file == NONE)
		html_raw(b, "Unknown: not in the log.");
	html_raw(b, "</p>\n");
	page_stack(b, t, &t->export_stacks, x->user_stack, "User stack", true);
	page_stack(b, t, &t->export_stacks, x->stack, "Framework stack", false);
	put_lines(b, t, "Locals", x->locals);
	put_lines(b, t, "Symbols", x->sources);
	history(b, t, x->node);
	html_raw(b, "<p><a href=\"../index.html\">All findings</a></p>\n</main>\n");
	html_tail(b);
}

static void table_begin(struct buf *b, const char *columns)
{
	buf_addf(b, "<table class=\"sortable\"><thead><tr>%s</tr></thead><tbody>\n", columns);
}

/* Exceptions in the log (metrics, or the graph until make_fx failed), and sizes that became constant: in a TORCH_TRACE log this is all that
 * explains why there is no program. Returns how many. */
static uint32_t what_ended(struct buf *b, const struct trace *t)
{
	const struct facts *f = t->f;
	uint32_t n = 0;
	for (uint32_t i = t->from.failure; i < f->n_failure; i++) {
		const struct fact_failure *r = &f->failure[i];
		if (r->restart || r->caught)
			continue;
		if (!n++)
			table_begin(b, "<th>What</th><th>User code</th>");
		html_raw(b, "<tr><td><b>Export failed</b> ");
		struct slice reason = name(t, r->reason);
		html_text(b, name(t, r->type));
		html_raw(b, r->type == NONE ? "" : ": ");
		html_text(b, slice_first_line(reason));
		html_raw(b, r->inferred ? " <span class=\"note\">the exception is on standard error</span>" : "");
		html_raw(b, "</td><td>");
		put_place(b, t, &r->user, 0);
		html_raw(b, "</td></tr>\n");
	}
	for (uint32_t i = t->from.bound; i < f->n_bound; i++) {
		const struct fact_bound *r = &f->bound[i];
		if (r->kind != BOUND_SPECIALIZED)
			continue;
		if (!n++)
			table_begin(b, "<th>What</th><th>User code</th>");
		html_put(b,
			 "<tr><td>A size became constant: <code>{}</code> is <code>{}</code>: a size marked dynamic is rejected</td><td>",
			 slice_first_line(name(t, r->sources)), name(t, r->value));
		put_place(b, t, &r->loc, 0);
		html_raw(b, "</td></tr>\n");
	}
	html_raw(b, n ? "</tbody></table>\n" : "");
	return n;
}

void page_export(struct buf *b, const struct trace *t, const struct tlparse_options *opt)
{
	static const char fake[] = "https://docs.pytorch.org/docs/stable/library.html#torch.library.register_fake";
	struct buf path = {0};
	page_head(b, SLICE("Export report"), 0);
	html_raw(b, opt->header ? opt->header : ""); /* the user's own HTML, by request */
	html_raw(b, "<main>\n<h1>Export findings</h1>\n");
	page_damage(b, t);
	bool ended = what_ended(b, t) > 0;
	if (!t->n_export && ended) {
		html_raw(b, t->exported_line ? "" : "<p>According to this log, there is no exported program.</p>\n");
	} else if (!t->n_export) {
		html_raw(b, t->exported_line ? "<p class=\"status-ok\">No problem found, and there is an exported program: "
					       "<code>torch.export.export</code> works.</p>\n"
					     : "<p>The log has no problem, but no exported program either.</p>\n");
	} else {
		buf_addf(b,
			 "<p><b>%u finding%s.</b> Until they are fixed, the exported program may be wrong for inputs other than the "
			 "example inputs.</p>\n",
			 t->n_export, plural(t->n_export));
		table_begin(b, "<th>Kind</th><th>What happened</th><th>User code</th><th>More</th>");
	}
	for (uint32_t i = 0; i < t->n_export; i++) {
		const struct trace_export *x = &t->export[i];
		buf_addf(b, "<tr><td>%s</td><td>", kind_title[x->kind]);
		what_happened(b, t, x);
		html_raw(b, "</td><td>");
		put_place(b, t, &x->loc, 0);
		html_raw(b, "</td><td>");
		buf_reset(&path);
		if (x->page != NONE) {
			trace_artifact_path(t, &t->artifact[x->page], false, &path);
			html_link(b, buf_slice(&path), SLICE("stacks and history"));
		} else {
			html_url(b, slice_str(fake), SLICE("how to write a fake kernel"));
		}
		html_raw(b, "</td></tr>\n");
	}
	html_raw(b, t->n_export ? "</tbody></table>\n" : "");
	html_raw(b, "<h2>Exported programs</h2>\n");
	unsigned programs = 0;
	for (uint32_t i = 0; i < t->n_artifact; i++) {
		const struct trace_artifact *a = &t->artifact[i];
		if (a->kind != KIND_exported_program)
			continue;
		html_raw(b, programs++ ? "" : "<ul>\n");
		buf_reset(&path);
		trace_artifact_path(t, a, false, &path);
		html_raw(b, "<li>");
		html_link(b, buf_slice(&path), buf_slice(&path));
		buf_addf(b, " <span class=\"note\">line %llu of the log, %u bytes</span></li>\n", (unsigned long long)a->line, a->size);
	}
	html_raw(b, programs ? "</ul>\n" : "<p>None in the log.</p>\n");
	if (t->expr_lost)
		buf_addf(b, "<p class=\"note\">%llu expressions exceed the limit: histories may be incomplete.</p>\n",
			 (unsigned long long)t->expr_lost);
	html_raw(b, "</main>\n");
	html_tail(b);
	buf_release(&path);
}
