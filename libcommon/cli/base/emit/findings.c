#include "base/emit/findings.h"

#include "base/text.h"

enum { MOST = 1000 };

struct reading {
	struct findings *f;
	const struct json_tape *t;
	struct slice subject; /* the file that the document is about */
	struct buf tmp;
};

static struct slice keep(struct reading *r, const struct buf *b) { return arena_slice(&r->f->arena, buf_slice(b)); }

/* A member as text: numbers as written; empty: missing, null, or a list. */
static struct slice word(struct reading *r, uint32_t of, const char *key)
{
	LOCAL_BUF b = {0};
	const uint32_t k = json_get(r->t, of, key);
	if (json_is(r->t, k, JSON_NUMBER))
		return json_slice(r->t, k);
	if (!json_is(r->t, k, JSON_STRING))
		return slice_of("", 0);
	buf_add_slice(&b, json_text(r->t, of, key, &r->tmp));
	return keep(r, &b);
}

static bool flag(struct reading *r, uint32_t of, const char *key) { return json_flag(r->t, of, key); }

/* The first of several members that is there. */
static struct slice first_word(struct reading *r, uint32_t of, const char *const *keys)
{
	struct slice s = {0};
	for (; *keys && !s.n; keys++)
		s = word(r, of, *keys);
	return s;
}

/* ", expected 3, given 4" */
static void add_member(struct reading *r, uint32_t of, const char *key, const char *before, struct buf *b)
{
	const struct slice s = word(r, of, key);
	if (s.n)
		buf_addf(b, "%s%.*s", before, SL(s));
}

/* ---- what a finding of each kind of document says ---- */

/* aoti-checkinputs: {"what", "input", "dim", "expected", "given"}; --against: {"what", "subject", "exported", "compiled"} */
static void say_input(struct reading *r, uint32_t of, struct buf *b)
{
	add_member(r, of, "subject", "", b);
	add_member(r, of, "input", "input ", b);
	add_member(r, of, "dim", ", dim ", b);
	buf_adds(b, b->len ? ": " : "");
	add_member(r, of, "what", "", b);
	add_member(r, of, "expected", ": expected ", b);
	add_member(r, of, "given", ", given ", b);
	add_member(r, of, "exported", ": exported ", b);
	add_member(r, of, "compiled", ", compiled ", b);
}

/* aoti-nanassert, aoti-verify, aoti-printer: {"kind", "what", "kernel", "call", "run", "buffer", "got", "want"} */
static void say_call(struct reading *r, uint32_t of, struct buf *b)
{
	static const char *const what[] = {"kind", "verdict", NULL}, *const kernel[] = {"kernel", "name", "operator", NULL};
	const struct slice kind = first_word(r, of, what), name = first_word(r, of, kernel);
	add_member(r, of, "what", "", b);
	if (kind.n)
		buf_addf(b, "%s%.*s", b->len ? " " : "", SL(kind));
	if (name.n)
		buf_addf(b, "%s%.*s", b->len ? ": " : "", SL(name));
	add_member(r, of, "call", ", call ", b);
	add_member(r, of, "run", ", run ", b);
	add_member(r, of, "buffer", ", ", b);
	add_member(r, of, "worst", " at ", b);
	add_member(r, of, "got", ": got ", b);
	add_member(r, of, "want", ", expected ", b);
}

static struct slice title_of(struct reading *r, uint32_t of)
{
	static const char *const own[] = {"title", "text", "message", NULL};
	LOCAL_BUF b = {0};
	const struct slice given = first_word(r, of, own);
	if (given.n)
		return given;
	if (word(r, of, "expected").n || word(r, of, "subject").n)
		say_input(r, of, &b);
	else if (word(r, of, "id").n && word(r, of, "what").n)
		buf_add_slice(&b, word(r, of, "what"));
	else
		say_call(r, of, &b);
	if (!b.len)
		buf_adds(&b, "a finding");
	return keep(r, &b);
}

static struct slice id_of(struct reading *r, uint32_t of)
{
	static const char *const keys[] = {"id", NULL};
	const struct slice id = first_word(r, of, keys), what = word(r, of, "what"), kind = word(r, of, "kind");
	LOCAL_BUF b = {0};
	if (id.n)
		return id;
	buf_add_slice(&b, what);
	if (kind.n)
		buf_addf(&b, "%s%.*s", what.n ? "-" : "", SL(kind));
	if (!b.len)
		buf_adds(&b, "finding");
	for (size_t i = 0; i < b.len; i++)
		b.p[i] = b.p[i] == ' ' ? '-' : b.p[i];
	return keep(r, &b);
}

/* A text, or lines of a list. */
static void add_lines(struct reading *r, uint32_t of, const char *key, const char *before, struct buf *b, struct slice *first)
{
	const uint32_t list = json_get(r->t, of, key);
	LOCAL_BUF one = {0};
	if (json_is(r->t, list, JSON_STRING)) {
		buf_add_slice(&one, json_text(r->t, of, key, &r->tmp));
		buf_addf(b, "%s%s%s", b->len ? "\n" : "", before, buf_str(&one));
		*first = first->n ? *first : keep(r, &one);
		return;
	}
	if (!json_is(r->t, list, JSON_ARRAY))
		return;
	json_each(r->t, list, k) {
		if (!json_is(r->t, k, JSON_STRING))
			continue;
		buf_reset(&one);
		json_unescape(r->t, k, &one);
		buf_addf(b, "%s%s%s", b->len ? "\n" : "", before, buf_str(&one));
		*first = first->n ? *first : keep(r, &one);
	}
}

static bool take_place(struct reading *r, struct finding_row *row, uint32_t of)
{
	const struct slice file = word(r, of, "file");
	if (!json_is(r->t, of, JSON_OBJECT) || !file.n)
		return false;
	row->file = file;
	row->line = (uint64_t)json_int(r->t, of, "line", 0);
	return true;
}

/* The user's own line, where the document has one. */
static void find_place(struct reading *r, struct finding_row *row, uint32_t of)
{
	static const char *const at[] = {"location", "source", "place"};
	for (size_t i = 0; i < ARRAY_LEN(at); i++)
		if (take_place(r, row, json_get(r->t, of, at[i])))
			return;
	const uint32_t python = json_get(r->t, of, "python");
	if (json_is(r->t, python, JSON_ARRAY))
		json_each(r->t, python, k)
			take_place(r, row, k);
	if (!row->file.n)
		row->file = r->subject;
}

static void take_finding(struct reading *r, uint32_t of)
{
	const struct slice level = word(r, of, "level");
	struct finding_row row = {.level = "error"};
	struct slice none = {0};
	LOCAL_BUF more = {0};
	if (!json_is(r->t, of, JSON_OBJECT) || slice_is(level, "ok") || r->f->n == MOST)
		return;
	if (flag(r, of, "advice") || slice_is(level, "note"))
		row.level = "note";
	else if (slice_is(level, "warning") || slice_is(level, "warn"))
		row.level = "warning";
	row.id = id_of(r, of);
	row.title = title_of(r, of);
	add_lines(r, of, "aoti", "torch: ", &more, &none);
	add_lines(r, of, "why", "Why: ", &more, &none);
	add_lines(r, of, "evidence", "", &more, &none);
	add_lines(r, of, "fix", "Fix: ", &more, &row.fix);
	row.more = keep(r, &more);
	find_place(r, &row, of);
	PUSH_TO(r->f->v, r->f->n, r->f->cap) = row;
}

static void take_list(struct reading *r, uint32_t of)
{
	const uint32_t list = json_get(r->t, of, "findings");
	if (json_is(r->t, list, JSON_ARRAY))
		json_each(r->t, list, k)
			take_finding(r, k);
}

/* A document that is one finding (fxexplain crash), or says which of its calls is (aoti-printer --diff). */
static void take_whole(struct reading *r, uint32_t root)
{
	const struct json_tape *t = r->t;
	const struct slice kind = word(r, root, "kind");
	if (kind.n && !slice_is(kind, "none") && word(r, root, "title").n)
		take_finding(r, root);
	const uint32_t calls = json_get(t, root, "calls");
	const int64_t first = json_int(t, root, "first", -1);
	int64_t i = 0;
	if (!flag(r, root, "different") || !json_is(t, calls, JSON_ARRAY))
		return;
	json_each(t, calls, k)
		if (i++ == first) {
			take_finding(r, k);
			if (r->f->n)
				r->f->v[r->f->n - 1].id = SLICE("first-difference");
		}
}

void findings_read(struct findings *f, const struct json_tape *t, uint32_t root)
{
	static const char *const subject[] = {"file", "subject", "compiled", "package", "b", "model", NULL};
	struct reading r = {.f = f, .t = t};
	r.subject = first_word(&r, root, subject);
	take_list(&r, root);
	for (uint32_t k = json_first(t, root); k < json_end(t, root); k = json_next_pair(t, k)) {
		if (json_is(t, k + 1, JSON_OBJECT))
			take_list(&r, k + 1);
		if (json_is(t, k + 1, JSON_ARRAY))
			json_each(t, k + 1, one)
				if (json_is(t, one, JSON_OBJECT))
					take_list(&r, one);
	}
	if (!f->n)
		take_whole(&r, root);
	buf_release(&r.tmp);
}

void findings_release(struct findings *f)
{
	free(f->v);
	arena_release(&f->arena);
	*f = (struct findings){0};
}
