#include "source.h"

#include "template.h"

/* ---- reading ---- */

static int plain_text(struct slice text, struct err *err)
{
	if (text.n > SOURCE_MAX)
		return err_set(err, EXIT_INPUT, "is larger than 16 MB");
	for (size_t i = 0, n; i < text.n; i += n) {
		if (!(n = utf8_len(text.p + i, text.n - i)))
			return err_set(err, EXIT_INPUT, "is not UTF-8");
		if (!text.p[i] || text.p[i] == '\r')
			return err_set(err, EXIT_INPUT, text.p[i] ? "has lines that end in CR LF" : "has NUL bytes");
	}
	return 0;
}

int source_read(struct source *s, struct slice text, const char *name, struct err *err)
{
	struct pytext t = {.text = text, .name = name};
	struct pyline l;
	int more;
	*s = (struct source){.text = text};
	if (plain_text(text, err) < 0)
		return -1;
	while ((more = pytext_next(&t, &l, err)) == 1) {
		if (!l.code.n)
			continue;
		struct statement st = {.l = l, .from = (size_t)(l.whole.p - text.p), .last = l.line};
		st.to = st.from + l.whole.n;
		for (size_t i = 0; i < l.whole.n; i++)
			st.last += l.whole.p[i] == '\n';
		st.to += st.to < text.n && text.p[st.to] == '\n';
		PUSH_TO(s->v, s->n, s->cap) = st;
	}
	if (more == 0 && !s->n)
		more = err_set(err, EXIT_INPUT, "has no statements");
	if (more < 0)
		source_release(s);
	return more;
}

void source_release(struct source *s)
{
	arena_release(&s->arena);
	free(s->v);
	free(s->change);
	*s = (struct source){0};
}

uint32_t source_at(const struct source *s, uint32_t line)
{
	uint32_t low = 0, high = s->n;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (s->v[mid].last < line)
			low = mid + 1;
		else
			high = mid;
	}
	return low < s->n && s->v[low].l.line <= line ? low : NONE;
}

struct slice source_line(const struct source *s, uint32_t line)
{
	struct slice rest = s->text, one = {0};
	while (line && slice_line(&rest, &one))
		line--;
	return line ? slice_of(NULL, 0) : one;
}

uint32_t source_block_end(const struct source *s, uint32_t i)
{
	uint32_t end = i + 1;
	while (end < s->n && s->v[end].l.indent > s->v[i].l.indent)
		end++;
	return end;
}

bool source_starts(const struct statement *st, const char *word)
{
	size_t n = strlen(word);
	return slice_starts(st->l.code, word) && (st->l.code.n == n || !strchr("_abcdefghijklmnopqrstuvwxyz0123456789=", st->l.code.p[n]));
}

static struct slice after_word(struct slice code, const char *word)
{
	size_t n = strlen(word);
	return slice_starts(code, word) ? slice_trim(slice_of(code.p + n, code.n - n)) : slice_of(NULL, 0);
}

struct slice source_name(const struct statement *st)
{
	struct slice code = st->l.code, name;
	if (source_starts(st, "async"))
		code = after_word(code, "async");
	name = after_word(code, "def ");
	if (!name.n)
		name = after_word(code, "class ");
	size_t n = 0;
	while (n < name.n && !strchr("(: [", name.p[n]))
		n++;
	return slice_of(name.p, n);
}

uint32_t source_around(const struct source *s, uint32_t i, const char *word)
{
	uint32_t indent = s->v[i].l.indent;
	while (i-- > 0) {
		const struct statement *st = &s->v[i];
		if (st->l.indent >= indent)
			continue;
		indent = st->l.indent;
		if (source_starts(st, word) || (source_starts(st, "async") && slice_starts(after_word(st->l.code, "async"), word)))
			return i;
	}
	return NONE;
}

/* ---- changes ---- */

static int note_change(struct source *s, size_t from, size_t to, struct slice text, struct err *err)
{
	uint32_t at = 0;
	for (uint32_t i = 0; i < s->n_change; i++) {
		const struct change *c = &s->change[i];
		if (c->from == from && c->to == to && slice_eq(c->text, text))
			return 0;
		bool same_place = from == to ? from > c->from && from < c->to : c->from < to && c->to > from;
		if (same_place)
			return err_set(err, EXIT_FOUND, "it overlaps with another change");
		at += c->from < from || (c->from == from && c->from == c->to);
	}
	GROW(s->change, s->n_change, s->cap_change, 1);
	memmove(s->change + at + 1, s->change + at, (s->n_change - at) * sizeof(*s->change));
	s->change[at] = (struct change){from, to, arena_slice(&s->arena, text)};
	s->n_change++;
	return 0;
}

/* Each line, with the indentation of this statement. */
static void put_indented(const struct source *s, uint32_t i, struct slice text, bool first, struct buf *b)
{
	const struct pyline *l = &s->v[i].l;
	struct slice line;
	while (slice_line(&text, &line)) {
		if (first)
			buf_add(b, l->whole.p, l->indent);
		buf_add_slice(b, line);
		buf_addc(b, '\n');
		first = true;
	}
}

/* The comments inside these statements, one line each. */
static void put_comments(const struct source *s, uint32_t first, uint32_t last, struct buf *b)
{
	const char *from = s->v[first].l.code.p, *end = s->v[last].l.code.p + s->v[last].l.code.n;
	OWNED(tokens_release) struct tokens t = {0};
	tokens_read(&t, slice_of(from, (size_t)(end - from)));
	for (uint32_t i = 0; i <= t.n; i++) { /* the text between two tokens */
		const char *a = i ? t.v[i - 1].p + t.v[i - 1].n : from, *z = i < t.n ? t.v[i].p : end;
		struct slice between = slice_of(a, (size_t)(z - a)), line;
		while (slice_line(&between, &line)) {
			const char *hash = slice_chr(line, '#');
			if (hash)
				buf_addf(b, "%.*s\n", (int)(line.p + line.n - hash), hash);
		}
	}
}

int source_replace(struct source *s, uint32_t first, uint32_t last, struct slice text, struct err *err)
{
	const struct pyline *a = &s->v[first].l, *z = &s->v[last].l;
	LOCAL_BUF all = {0}, b = {0};
	put_comments(s, first, last, &all);
	buf_add_slice(&all, text);
	put_indented(s, first, buf_slice(&all), false, &b);
	return note_change(s, (size_t)(a->code.p - s->text.p), (size_t)(z->code.p + z->code.n - s->text.p),
			   slice_of(b.p, b.len ? b.len - 1 : 0), err);
}

int source_replace_part(struct source *s, struct slice part, struct slice text, struct err *err)
{
	size_t from = (size_t)(part.p - s->text.p);
	return note_change(s, from, from + part.n, text, err);
}

static bool alone_in_block(const struct source *s, uint32_t i)
{
	uint32_t indent = s->v[i].l.indent;
	bool before = i && s->v[i - 1].l.indent >= indent, after = i + 1 < s->n && s->v[i + 1].l.indent >= indent;
	return indent && !before && !after;
}

int source_delete(struct source *s, uint32_t i, struct err *err)
{
	if (alone_in_block(s, i))
		return source_replace(s, i, i, SLICE("pass"), err);
	return note_change(s, s->v[i].from, s->v[i].to, slice_of(NULL, 0), err);
}

/* No line can be inserted before a statement that shares its line or continues the one before. */
static bool has_place_before(const struct statement *st)
{
	static const char *const goes_on[] = {"elif", "else", "except", "finally", "case", "while", "@"};
	static const char *const opens[] = {"if", "for", "with", "def", "class", "try", "async"};
	for (size_t i = 0; i < ARRAY_LEN(goes_on); i++)
		if (source_starts(st, goes_on[i]))
			return false;
	for (size_t i = 0; i < ARRAY_LEN(opens); i++)
		if (source_starts(st, opens[i]) && !pytext_opens(&st->l))
			return false;
	return true;
}

int source_insert_before(struct source *s, uint32_t i, struct slice text, struct err *err)
{
	LOCAL_BUF b = {0};
	if (!has_place_before(&s->v[i]) || (i && s->v[i - 1].l.code.p[0] == '@'))
		return err_set(err, EXIT_FOUND, "no line can be inserted before that line");
	put_indented(s, i, text, true, &b);
	return note_change(s, s->v[i].from, s->v[i].from, buf_slice(&b), err);
}

/* ---- on top ---- */

static bool is_import(const struct statement *st) { return source_starts(st, "import") || source_starts(st, "from"); }

/* "import os, torch" and "import torch.nn" bind torch; "import torch.nn as nn" and "from torch import nn" do not. */
static bool binds_torch(const struct statement *st)
{
	OWNED(tokens_release) struct tokens t = {0};
	bool clause = false, bound = false;
	if (!source_starts(st, "import"))
		return false;
	tokens_read(&t, st->l.code);
	for (uint32_t i = 1; i < t.n && !bound; i++) {
		bool first = i == 1 || slice_is(t.v[i - 1], ",");
		clause = first ? slice_is(t.v[i], "torch") : clause && !slice_is(t.v[i], "as");
		bound = clause && (i + 1 == t.n || slice_is(t.v[i + 1], ","));
	}
	return bound;
}

/* Has the text this name as a token, not after a dot? */
static bool names(const struct tokens *t, struct slice name)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (slice_eq(t->v[i], name) && (!i || !slice_is(t->v[i - 1], ".")))
			return true;
	return false;
}

/* "LOG = ..." or "def hook(...)" at the left margin: LOG, hook. */
static struct slice defined(const struct statement *st)
{
	struct slice name = source_name(st), value;
	if (!name.n && (!pytext_assign(st->l.code, &name, &value) || !pytext_dotted(name) || slice_chr(name, '.')))
		return slice_of(NULL, 0);
	return name;
}

/* After which statement; NONE: no import. *torch: is torch imported by then? */
static uint32_t top_place(const struct source *s, struct slice text, bool *torch)
{
	OWNED(tokens_release) struct tokens t = {0};
	uint32_t at = NONE;
	bool imports = true;
	*torch = false;
	tokens_read(&t, text);
	for (uint32_t i = 0; i < s->n; i++) {
		const struct statement *st = &s->v[i];
		if (st->l.indent)
			continue;
		struct slice name = defined(st);
		imports &= !source_name(st).n && st->l.code.p[0] != '@' && !source_starts(st, "if");
		if (imports && is_import(st)) {
			at = i;
			*torch |= binds_torch(st);
		} else if (name.n && at != NONE && names(&t, name)) {
			at = source_block_end(s, i) - 1;
		}
	}
	return at;
}

int source_insert_on_top(struct source *s, struct slice text, struct err *err)
{
	bool torch;
	uint32_t at = top_place(s, text, &torch);
	for (uint32_t i = 0; i < s->n; i++) {
		struct captures none = {0};
		if (template_match(text, s->v[i].l.code, &none))
			return err_set(err, EXIT_FINE, "already there, in line %u", s->v[i].l.line);
	}
	if (at == NONE || s->text.p[s->v[at].to - 1] != '\n')
		return err_set(err, EXIT_FOUND, "the file has no imports after which to insert it");
	LOCAL_BUF b = {0};
	buf_addf(&b, "%s%.*s\n", torch ? "" : "import torch\n", SL(text));
	return note_change(s, s->v[at].to, s->v[at].to, buf_slice(&b), err);
}

void source_text(const struct source *s, struct buf *b)
{
	size_t at = 0;
	for (uint32_t i = 0; i < s->n_change; i++) {
		const struct change *c = &s->change[i];
		buf_add(b, s->text.p + at, c->from - at);
		buf_add_slice(b, c->text);
		at = c->to;
	}
	buf_add(b, s->text.p + at, s->text.n - at);
}
