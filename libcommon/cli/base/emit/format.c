#include "base/emit/format.h"

#include "base/emit/findings.h"
#include "base/emit/markdown.h"
#include "base/emit/sarif.h"
#include "base/html/html.h"
#include "base/text.h"
#include "base/tool/diag.h"
#include "base/tool/screen.h"

const char *const format_name[] = {FORMAT_NAMES, NULL};
int format_index = -1;

static enum format chosen;

enum format format_chosen(void) { return chosen; }

/* ---- SARIF ---- */

static struct slice message_of(const struct finding_row *g, struct buf *b)
{
	buf_reset(b);
	buf_add_slice(b, g->title);
	if (g->more.n)
		buf_addf(b, "\n%.*s", SL(g->more));
	return buf_slice(b);
}

static void put_location(struct json_out *o, const struct finding_row *g)
{
	LOCAL_BUF uri = {0};
	json_member_arr(o, "locations");
	if (g->file.n && *g->file.p != '(' && *g->file.p != '<') {
		if (*g->file.p == '/')
			buf_adds(&uri, "file://");
		html_href(&uri, g->file);
		json_obj(o);
		json_member_obj(o, "physicalLocation");
		json_member_obj(o, "artifactLocation");
		json_member(o, "uri", buf_slice(&uri));
		json_close(o);
		if (g->line && g->line < INT32_MAX) {
			json_member_obj(o, "region");
			json_member_u64(o, "startLine", g->line);
			json_close(o);
		}
		json_close(o);
		json_close(o);
	}
	json_close(o);
}

static void put_sarif(struct buf *b, const char *tool, const struct findings *f)
{
	OWNED(intern_release) struct intern rules = {0};
	LOCAL_BUF text = {0};
	struct json_out o = sarif_begin(b, tool);
	json_member_arr(&o, "rules");
	for (size_t i = 0; i < f->n; i++) {
		const uint32_t before = rules.n;
		if (intern_add(&rules, f->v[i].id) < before)
			continue;
		json_obj(&o);
		json_member(&o, "id", f->v[i].id);
		json_close(&o);
	}
	json_close(&o);
	sarif_results(&o, NULL);
	for (size_t i = 0; i < f->n; i++) {
		json_obj(&o);
		json_member(&o, "ruleId", f->v[i].id);
		json_member_index(&o, "ruleIndex", intern_find(&rules, f->v[i].id));
		json_member(&o, "level", slice_str(f->v[i].level));
		sarif_text(&o, "message", message_of(&f->v[i], &text));
		put_location(&o, &f->v[i]);
		json_close(&o);
	}
	sarif_end(&o);
}

/* ---- GitHub ---- */

void format_github_escape(struct buf *b, struct slice s, bool property)
{
	for (size_t i = 0; i < s.n; i++) {
		const char c = s.p[i];
		if (c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ',')))
			buf_addf(b, "%%%02X", (unsigned char)c);
		else
			buf_addc(b, (unsigned char)c < ' ' || c == 127 ? ' ' : c);
	}
}

/* Without a line there is no file to annotate: a model. */
static void put_github(struct buf *b, const struct findings *f)
{
	LOCAL_BUF text = {0};
	for (size_t i = 0; i < f->n; i++) {
		const struct finding_row *g = &f->v[i];
		buf_addf(b, "::%s ", !strcmp(g->level, "note") ? "notice" : g->level);
		if (g->file.n && g->line) {
			buf_adds(b, "file=");
			format_github_escape(b, g->file, true);
			buf_addf(b, ",line=%llu,", (unsigned long long)g->line);
		}
		buf_adds(b, "title=");
		format_github_escape(b, g->id, true);
		buf_adds(b, "::");
		format_github_escape(b, message_of(g, &text), false);
		buf_addc(b, '\n');
	}
}

/* ---- Markdown ---- */

enum { COLUMNS = 8, ROWS = 50, TEXT = 200 };

static void put_where(struct buf *b, const struct finding_row *g)
{
	LOCAL_BUF at = {0};
	buf_add_slice(&at, g->file);
	if (g->line)
		buf_addf(&at, ":%llu", (unsigned long long)g->line);
	if (at.len)
		md_code(b, buf_slice(&at), TEXT);
}

static void md_findings(struct buf *b, const struct findings *f)
{
	buf_adds(b, "| | what | where | fix |\n|---|---|---|---|\n");
	for (size_t i = 0; i < f->n && i < ROWS; i++) {
		buf_addf(b, "| %s | ", f->v[i].level);
		md_text(b, f->v[i].title, 300);
		buf_adds(b, " | ");
		put_where(b, &f->v[i]);
		buf_adds(b, " | ");
		if (f->v[i].fix.n)
			md_code(b, slice_first_line(f->v[i].fix), TEXT);
		buf_adds(b, " |\n");
	}
	if (f->n > ROWS)
		buf_addf(b, "\n... and %zu more.\n", f->n - ROWS);
	buf_addc(b, '\n');
}

static bool is_scalar(const struct json_tape *t, uint32_t k) { return !json_is(t, k, JSON_ARRAY) && !json_is(t, k, JSON_OBJECT); }

static void md_value(struct buf *b, const struct json_tape *t, uint32_t k)
{
	LOCAL_BUF text = {0};
	if (json_is(t, k, JSON_STRING))
		json_unescape(t, k, &text);
	else if (!json_is(t, k, JSON_NULL))
		buf_add_slice(&text, json_raw(t, k));
	md_text(b, buf_slice(&text), TEXT);
}

/* The first members of its first element are the columns. */
static void md_table(struct buf *b, const struct json_tape *t, uint32_t key)
{
	struct slice column[COLUMNS];
	unsigned n = 0, rows = 0;
	const uint32_t list = key + 1, first = json_first(t, list);
	if (first >= json_end(t, list) || !json_is(t, first, JSON_OBJECT))
		return;
	json_each_pair(t, first, k)
		if (n < COLUMNS && is_scalar(t, k + 1))
			column[n++] = json_slice(t, k);
	if (!n)
		return;
	buf_adds(b, "#### ");
	md_text(b, json_slice(t, key), TEXT);
	buf_adds(b, "\n\n|");
	for (unsigned i = 0; i < n; i++) {
		buf_addc(b, ' ');
		md_text(b, column[i], TEXT);
		buf_adds(b, " |");
	}
	buf_adds(b, "\n|");
	for (unsigned i = 0; i < n; i++)
		buf_adds(b, "---|");
	buf_addc(b, '\n');
	json_each(t, list, row) {
		if (rows++ >= ROWS)
			continue;
		buf_addc(b, '|');
		for (unsigned i = 0; i < n; i++) {
			const uint32_t k = json_find(t, row, column[i]);
			buf_addc(b, ' ');
			if (k != NONE && is_scalar(t, k))
				md_value(b, t, k);
			buf_adds(b, " |");
		}
		buf_addc(b, '\n');
	}
	if (rows > ROWS)
		buf_addf(b, "\n... and %u more.\n", rows - ROWS);
	buf_addc(b, '\n');
}

static void put_md(struct buf *b, const char *tool, const struct findings *f, const struct json_tape *t, uint32_t root)
{
	buf_addf(b, "### %s\n\n", tool);
	if (f->n)
		md_findings(b, f);
	json_each_pair(t, root, k) {
		if (!is_scalar(t, k + 1) || json_is(t, k + 1, JSON_NULL) || slice_is(json_slice(t, k), "schema"))
			continue;
		buf_adds(b, "- ");
		md_text(b, json_slice(t, k), TEXT);
		buf_adds(b, ": ");
		md_value(b, t, k + 1);
		buf_addc(b, '\n');
	}
	buf_addc(b, '\n');
	json_each_pair(t, root, k)
		if (json_is(t, k + 1, JSON_ARRAY) && !slice_is(json_slice(t, k), "findings"))
			md_table(b, t, k);
}

int format_document(struct buf *out, enum format form, const char *tool, struct slice document)
{
	OWNED(json_tape_release) struct json_tape t = {0};
	OWNED(findings_release) struct findings f = {0};
	uint32_t root;
	json_tape_text(&t, document.p, document.n);
	if (!document.n || json_parse(&t, 0, document.n, &root) < 0 || !json_is(&t, root, JSON_OBJECT))
		return -1;
	findings_read(&f, &t, root);
	if (form == FORM_SARIF)
		put_sarif(out, tool, &f);
	else if (form == FORM_GITHUB)
		put_github(out, &f);
	else
		put_md(out, tool, &f, &t, root);
	return 0;
}

/* ---- the option ---- */

/* A document may be written in pieces: they are kept until it is whole. What is not JSON (a message) stays. */
static bool convert(struct buf *b)
{
	static struct buf held;
	LOCAL_BUF out = {0};
	if (!held.len && (!b->len || *b->p != '{'))
		return true;
	buf_add_slice(&held, buf_slice(b));
	buf_reset(b);
	if (held.len < 2 || held.p[held.len - 2] != '}' || format_document(&out, chosen, diag_tool, buf_slice(&held)) < 0)
		return false;
	buf_release(&held);
	buf_add_slice(b, buf_slice(&out));
	return true;
}

static const struct opt *json_option(const struct opt_spec *spec)
{
	for (const struct opt *o = spec->options; o->type != OPT_T_END; o++)
		if (o->l && !strcmp(o->l, "json"))
			return o;
	return NULL;
}

void format_apply(const struct opt_spec *spec, struct operands *in)
{
	const struct opt *json = json_option(spec);
	struct err err;
	if (format_index < 0)
		return;
	chosen = (enum format)format_index;
	*(bool *)json->target = chosen != FORM_TEXT;
	screen_convert = chosen > FORM_JSON ? convert : NULL;
	if (chosen == FORM_TEXT)
		return;
	PUSH_TO(in->given, in->n_given, in->cap_given) = json;
	if (opt_rules(spec, in, &err) < 0)
		die_err(&err);
}

void format_apply_or(const struct opt_spec *spec, struct operands *in, int *other, const char *const *names)
{
	for (int i = 0; *other >= 0 && i < FORMS; i++)
		if (!strcmp(names[*other], format_name[i])) {
			format_index = i;
			*other = -1;
		}
	format_apply(spec, in);
}
