#include "run/diagnose/ignore.h"
#include "run/diagnose/sourcefile.h"

#include "base/io/mapfile.h"
#include "base/text.h"

#include <fnmatch.h>
#include <sys/stat.h>

enum { STATEMENT = 30, FILE_MOST = 8 << 20 }; /* lines; bytes */

static const struct ignore_rule *rules;
static size_t n_rules;

void ignore_by(const struct ignore_rule *rule, size_t n)
{
	rules = rule;
	n_rules = n;
}

/* ---- one line of Python ---- */

/* The comment of a line, behind its #, and how many brackets it opens. Strings that go on over lines are not followed: what looks like a
 * comment in one is taken for one. */
static bool comment_of(struct slice line, struct slice *comment, int *depth)
{
	char quote = 0;
	for (size_t i = 0; i < line.n; i++) {
		const char c = line.p[i];
		if (quote) {
			i += c == '\\';
			quote = c == quote ? 0 : quote;
		} else if (c == '\'' || c == '"') {
			quote = c;
		} else if (c == '#') {
			*comment = slice_of(line.p + i + 1, line.n - i - 1);
			return true;
		} else {
			*depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
		}
	}
	return false;
}

static bool cut_word(struct slice *s, const char *word)
{
	*s = slice_trim(*s);
	if (!slice_starts(*s, word))
		return false;
	*s = slice_of(s->p + strlen(word), s->n - strlen(word));
	return true;
}

static bool ends_word(struct slice s) { return !s.n || !(is_name_char(*s.p) || *s.p == '-'); }

static struct slice cut_id(struct slice *s)
{
	size_t n = 0;
	*s = slice_trim(*s);
	while (n < s->n && !ends_word(slice_of(s->p + n, s->n - n)))
		n++;
	const struct slice id = slice_of(s->p, n);
	*s = slice_of(s->p + n, s->n - n);
	return id;
}

static bool same_id(struct slice said, struct slice id) { return said.n == id.n && !strncasecmp(said.p, id.p, id.n); }

/* "pt2: ignore GB0124" */
static bool remark_silences(struct slice comment, struct slice id, struct slice kind)
{
	if (!cut_word(&comment, "pt2") || !cut_word(&comment, ":") || !cut_word(&comment, "ignore") || !ends_word(comment))
		return false;
	cut_word(&comment, "[");
	struct slice said = slice_starts(comment, "--") ? slice_of(comment.p, 0) : cut_id(&comment);
	if (!said.n || slice_starts(said, "--"))
		return true;
	do {
		if (same_id(said, id) || same_id(said, kind))
			return true;
	} while (cut_word(&comment, ",") && (said = cut_id(&comment)).n);
	return false;
}

/* Several remarks may share a comment: "# noqa  # pt2: ignore". */
static bool silences(struct slice comment, struct slice id, struct slice kind)
{
	while (!remark_silences(comment, id, kind)) {
		const char *next = slice_chr(comment, '#');
		if (!next)
			return false;
		comment = slice_of(next + 1, (size_t)(comment.p + comment.n - next - 1));
	}
	return true;
}

bool ignore_line(struct slice line, struct slice id, struct slice kind)
{
	struct slice comment;
	int depth = 0;
	return comment_of(line, &comment, &depth) && silences(comment, id, kind);
}

/* ---- the file ---- */

struct source_text {
	uint32_t file; /* of facts' names */
	struct mapfile map;
	bool open;
};

static void source_close(struct source_text *s)
{
	if (s->open)
		mapfile_close(&s->map);
	s->open = false;
}

/* A log may name anything: only a regular file of a source's size is read. */
static struct slice text_of(struct source_text *s, const struct explanation *x, uint32_t file)
{
	struct stat st;
	if (s->file == file)
		return s->open ? s->map.bytes : slice_of("", 0);
	source_close(s);
	s->file = file;
	const struct slice name = explain_text(x, file);
	FREED char *named = xstrndup(name.p, name.n);
	FREED char *path = name.n && !slice_chr(name, '\0') ? source_here(named) : NULL;
	s->open = path && stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= FILE_MOST && mapfile_open(&s->map, path, NULL) == 0;
	return s->open ? s->map.bytes : slice_of("", 0);
}

/* Line `at` (from 1) and, before it, the one above; the rest begins behind it. */
static bool find_line(struct slice *rest, uint32_t at, struct slice *above, struct slice *line)
{
	*above = *line = slice_of("", 0);
	for (uint32_t i = 0; i < at; i++) {
		*above = *line;
		if (!slice_line(rest, line))
			return false;
	}
	return at > 0;
}

static bool is_only_comment(struct slice line) { return slice_starts(slice_trim(line), "#"); }

/* Comments may have come since. */
static bool same_code(struct slice a, struct slice b)
{
	struct slice comment;
	int depth = 0;
	if (comment_of(a, &comment, &depth))
		a.n = (size_t)(comment.p - 1 - a.p);
	if (comment_of(b, &comment, &depth))
		b.n = (size_t)(comment.p - 1 - b.p);
	return slice_eq(slice_trim(a), slice_trim(b));
}

/* The head of a function begins with its decorators. */
static bool ends_head(struct slice line)
{
	const struct slice s = slice_trim(line);
	return slice_starts(s, "def ") || slice_starts(s, "async def ") || slice_starts(s, "class ");
}

static bool file_silences(struct source_text *s, const struct explanation *x, const struct finding *g, const struct fact_loc *loc)
{
	struct slice rest = text_of(s, x, loc->file), above, line, comment;
	const struct slice kind = slice_str(finding_kind_name[g->kind]), code = explain_text(x, loc->code);
	if (!find_line(&rest, loc->line, &above, &line))
		return false;
	if (code.n && !slice_starts(slice_trim(line), "@") && !same_code(line, code))
		return false; /* the file is no longer what ran */
	if (is_only_comment(above) && ignore_line(above, g->id, kind))
		return true;
	bool head = slice_starts(slice_trim(line), "@");
	int depth = 0;
	for (unsigned i = 0; i < STATEMENT; i++) {
		if (comment_of(line, &comment, &depth) && silences(comment, g->id, kind))
			return true;
		head = head && !ends_head(line);
		if ((depth <= 0 && !head) || !slice_line(&rest, &line))
			break;
	}
	return false;
}

/* ---- findings ---- */

static bool can_be_ignored(const struct finding *g)
{
	return g->kind != FINDING_DAMAGE && !(g->kind == FINDING_FAILURE && g->level == FINDING_ERROR);
}

static bool file_fits(const char *glob, struct slice file)
{
	FREED char *path = xstrndup(file.p, file.n);
	for (const char *p = path; p; p = strchr(p, '/') ? strchr(p, '/') + 1 : NULL)
		if (*p && !fnmatch(glob, p, 0))
			return true;
	return false;
}

static const struct ignore_rule *rule_for(const struct explanation *x, const struct finding *g)
{
	for (size_t i = 0; i < n_rules; i++) {
		const struct ignore_rule *r = &rules[i];
		const struct slice id = slice_str(r->id);
		if (!same_id(id, g->id) && !same_id(id, slice_str(finding_kind_name[g->kind])))
			continue;
		if (!r->file || (g->loc.file != NONE && file_fits(r->file, explain_text(x, g->loc.file))))
			return r;
	}
	return NULL;
}

static bool loc_silences(struct source_text *s, const struct explanation *x, const struct finding *g, const struct fact_loc *loc)
{
	if (loc->file == NONE || !loc->line)
		return false;
	return ignore_line(explain_text(x, loc->code), g->id, slice_str(finding_kind_name[g->kind])) || file_silences(s, x, g, loc);
}

/* A recompile may have the line of its guard for its place, which belongs to the function that is compiled again. */
static bool line_silences(struct source_text *s, const struct explanation *x, uint32_t finding)
{
	const struct finding *g = &x->finding[finding];
	if (loc_silences(s, x, g, &g->loc))
		return true;
	for (uint32_t i = 0; i < x->n_frame && (g->kind == FINDING_RECOMPILE || g->kind == FINDING_LIMIT); i++) {
		const struct frame_view *v = &x->frame[i];
		if (v->finding == finding && v->n && x->step[v->first].compile != NONE)
			return loc_silences(s, x, g, &x->facts->compile[x->step[v->first].compile].loc);
	}
	return false;
}

/* What limits count, of the finding of a group or frame that is ignored. */
static void count_rows(struct explanation *x)
{
	for (uint32_t i = 0; i < x->n_group; i++) {
		const struct break_group *g = &x->group[i];
		if (g->finding != NONE && x->finding[explain_told_by(x, g->finding)].ignored.n) {
			x->ignored_breaks += g->count;
			x->ignored_inferred += g->inferred;
		}
	}
	for (uint32_t i = 0; i < x->n_finding; i++)
		x->ignored_limits += x->finding[i].kind == FINDING_LIMIT && x->finding[i].ignored.n;
	for (uint32_t i = 0; i < x->n_frame; i++) {
		const struct frame_view *v = &x->frame[i];
		const bool ignored = v->finding != NONE && x->finding[explain_told_by(x, v->finding)].ignored.n;
		for (uint32_t k = 0; ignored && k < v->n; k++)
			x->ignored_recompiles += x->step[v->first + k].recompile != NONE;
	}
}

void explain_ignore(struct explanation *x)
{
	OWNED(source_close) struct source_text s = {.file = NONE};
	bool any = false;
	for (uint32_t i = 0; i < x->n_finding; i++) {
		struct finding *g = &x->finding[i];
		if (g->into != NONE || !can_be_ignored(g))
			continue;
		const struct ignore_rule *r = rule_for(x, g);
		g->in_source = !r && line_silences(&s, x, i);
		g->ignored = r ? slice_str(r->from) : g->in_source ? SLICE("# pt2: ignore") : (struct slice){0};
		any |= g->ignored.n > 0;
	}
	if (any)
		count_rows(x);
}

void ignore_text(struct buf *b, const struct explanation *x, uint32_t most)
{
	if (!x->n_ignored)
		return;
	buf_addf(b, "%u finding%s ignored: ", x->n_ignored, plural(x->n_ignored));
	for (uint32_t i = 0; i < x->n_ignored && i < most; i++) {
		const struct finding *g = &x->ignored[i];
		const struct slice id = g->id.n ? g->id : slice_str(finding_kind_name[g->kind]);
		buf_addf(b, "%s%.*s", i ? ", " : "", SL(id));
		if (g->loc.file != NONE) {
			const struct slice file = slice_base(srcloc_short_file(explain_text(x, g->loc.file)));
			buf_addf(b, " at %.*s", SL(file));
			if (g->loc.line)
				buf_addf(b, ":%u", g->loc.line);
		}
		buf_addf(b, " (%.*s)", SL(g->ignored));
	}
	if (x->n_ignored > most)
		buf_addf(b, ", and %u more", x->n_ignored - most);
}
