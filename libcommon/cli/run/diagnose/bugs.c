/* bugs.c - which known bugs of torch a failure looks like. */
#include "run/diagnose/bugs.h"

#include "base/html/html.h"
#include "base/text.h"
#include "run/diagnose/release.h"

enum { FINDINGS = 64, TEXT_MOST = 64 << 10 }; /* a hostile log has many failures and long ones */

const char *const bug_state_name[3] = {"unknown", "here", "fixed"};

/* ---- the table ---- */

static void take(struct slice *list, uint32_t *n, struct slice value)
{
	if (*n < BUG_LINES)
		list[(*n)++] = value;
}

bool bug_next(struct slice *table, struct bug *b)
{
	struct slice line;
	*b = (struct bug){0};
	while (slice_line(table, &line)) {
		if (!line.n && b->number.n)
			return true;
		const char *colon = slice_chr(line, ':');
		if (!line.n || line.p[0] == '#' || !colon)
			continue;
		struct slice key = slice_of(line.p, (size_t)(colon - line.p));
		struct slice value = slice_trim(slice_of(colon + 1, line.n - key.n - 1));
		if (slice_is(key, "bug"))
			b->number = value;
		else if (slice_is(key, "match"))
			take(b->match, &b->matches, value);
		else if (slice_is(key, "not"))
			take(b->without, &b->withouts, value);
		else if (slice_is(key, "first"))
			b->first = value;
		else if (slice_is(key, "last"))
			b->last = value;
		else if (slice_is(key, "fixed"))
			b->fixed = value;
		else if (slice_is(key, "what"))
			b->what = value;
		else if (slice_is(key, "until"))
			b->until = value;
	}
	return b->number.n != 0;
}

/* ---- texts ---- */

static struct slice before_star(struct slice *rest)
{
	const char *star = slice_chr(*rest, '*');
	size_t n = star ? (size_t)(star - rest->p) : rest->n;
	struct slice piece = slice_of(rest->p, n);
	*rest = slice_of(rest->p + n + (star != NULL), rest->n - n - (star != NULL));
	return piece;
}

bool bug_occurs(struct slice text, struct slice what)
{
	struct slice pieces = what, first = before_star(&pieces);
	while (first.n && text.n >= first.n) {
		const char *p = memmem(text.p, text.n, first.p, first.n), *end = text.p + text.n;
		if (!p)
			return false;
		const char *after = p + first.n, *stop = memchr(after, '\n', (size_t)(end - after));
		struct slice line = slice_of(after, (size_t)((stop ? stop : end) - after)), rest = pieces;
		bool found = true;
		while (found && rest.n) {
			struct slice piece = before_star(&rest);
			const char *q = piece.n ? memmem(line.p, line.n, piece.p, piece.n) : line.p;
			found = q != NULL;
			if (found)
				line = slice_of(q + piece.n, (size_t)(line.p + line.n - q) - piece.n);
		}
		if (found)
			return true;
		text = slice_of(p + 1, (size_t)(end - p) - 1);
	}
	return false;
}

bool bug_matches(const struct bug *b, struct slice text)
{
	for (uint32_t i = 0; i < b->matches; i++)
		if (!bug_occurs(text, b->match[i]))
			return false;
	for (uint32_t i = 0; i < b->withouts; i++)
		if (bug_occurs(text, b->without[i]))
			return false;
	return b->matches > 0;
}

/* ---- releases ---- */

/* "2.9.1+cu128": 2009001; 0: not a release. */
static unsigned release_number(struct slice s)
{
	unsigned part[3] = {0};
	size_t i = 0, n = 0;
	for (; i < s.n && n < 3; i++)
		if (s.p[i] >= '0' && s.p[i] <= '9')
			part[n] = part[n] < 1000 ? part[n] * 10 + (unsigned)(s.p[i] - '0') : part[n];
		else if (s.p[i] == '.')
			n++;
		else
			break;
	return part[0] > 999 || part[1] > 999 || part[2] > 999 ? 0 : part[0] * 1000000 + part[1] * 1000 + part[2];
}

enum bug_state bug_state(const struct bug *b, struct slice release)
{
	const unsigned run = release_number(release), last = release_number(b->last), fixed = release_number(b->fixed);
	if (run && fixed && run >= fixed)
		return BUG_FIXED;
	if (run && (last ? run / 1000 <= last / 1000 : fixed != 0))
		return BUG_HERE;
	return BUG_UNKNOWN;
}

/* "fixed in": by the release after the last one that has it. */
static const char *fixed_word(const struct bug *b)
{
	const unsigned last = release_number(b->last) / 1000, fixed = release_number(b->fixed) / 1000;
	return !last || fixed <= last + 1 ? "in" : "by";
}

void bug_put(struct buf *out, const struct bug *b, enum bug_state state)
{
	if (state == BUG_FIXED)
		buf_addf(out, "looks like pytorch#%.*s, fixed %s %.*s", SL(b->number), fixed_word(b), SL(b->fixed));
	else if (b->fixed.n)
		buf_addf(out, "fixed %s %.*s (pytorch#%.*s)", fixed_word(b), SL(b->fixed), SL(b->number));
	else if (b->last.n)
		buf_addf(out, "not fixed in %.*s (pytorch#%.*s)", SL(b->last), SL(b->number));
	else
		buf_addf(out, "pytorch#%.*s", SL(b->number));
	buf_addf(out, ": %.*s", SL(b->what));
	if (state == BUG_FIXED)
		buf_adds(out, " In this release it has another cause, or is back.");
	if (b->until.n)
		buf_addf(out, " %s: %.*s", b->fixed.n && state != BUG_FIXED ? "Until then" : "Workaround", SL(b->until));
}

/* ---- findings ---- */

static void add_text(struct buf *b, struct slice s)
{
	if (b->len < TEXT_MOST && s.n) {
		buf_addc(b, '\n');
		buf_add(b, s.p, s.n < TEXT_MOST ? s.n : TEXT_MOST);
	}
}

/* Everything that the log says of a failure: itself, and the exceptions it was raised from. */
static void failure_text(const struct explanation *x, const struct fact_failure *r, struct buf *b)
{
	for (int n = 0; n < 8; n++) {
		buf_addf(b, "\n%.*s: ", SL(explain_text(x, r->type)));
		add_text(b, explain_text(x, r->reason));
		add_text(b, explain_text(x, r->stack == NONE ? r->frames : r->stack));
		if (r->cause == NONE || r->cause >= x->facts->n_failure)
			break;
		r = &x->facts->failure[r->cause];
	}
}

struct search {
	struct explanation *x;
	struct slice text, release;
	uint32_t found;
};

static int look(void *ctx, const char *name, struct slice table)
{
	struct search *s = ctx;
	struct explanation *x = s->x;
	struct bug b;
	(void)name;
	while (s->found < BUGS_SHOWN && bug_next(&table, &b)) {
		if (!bug_matches(&b, s->text))
			continue;
		PUSH(x, bug) = (struct bug_hit){.bug = b, .state = bug_state(&b, s->release)};
		s->found++;
	}
	return 0;
}

static void find_bugs(struct explanation *x, struct finding *g, struct slice release)
{
	const struct facts *f = x->facts;
	LOCAL_BUF text = {0};
	struct search s = {.x = x, .release = release};
	for (uint32_t i = 0; i < f->n_failure; i++) {
		const struct fact_failure *r = &f->failure[i];
		if (r->src.input != g->src.input || r->src.line != g->src.line || text.len > TEXT_MOST)
			continue;
		failure_text(x, r, &text);
	}
	if (!text.len && g->kind == FINDING_BREAK) /* why torch breaks a graph is not a bug */
		return;
	add_text(&text, g->evidence);
	s.text = buf_slice(&text);
	g->first_bug = x->n_bug;
	share_each("known/", look, &s);
	g->n_bug = x->n_bug - g->first_bug;
}

void explain_bugs(struct explanation *x)
{
	uint32_t version = facts_torch_version(x->facts), looked = 0;
	LOCAL_BUF release = {0};
	if (version != NONE)
		buf_add_slice(&release, facts_text(x->facts, version));
	else if (release_of(x->facts))
		buf_addf(&release, "2.%u", release_of(x->facts));
	for (uint32_t i = 0; i < x->n_finding && looked < FINDINGS; i++) {
		struct finding *g = &x->finding[i];
		if (g->into != NONE || (g->kind != FINDING_FAILURE && g->kind != FINDING_KNOWN && g->kind != FINDING_BREAK))
			continue;
		looked++;
		find_bugs(x, g, buf_slice(&release));
	}
}

void explain_bug_lines(const struct explanation *x, const struct finding *g, struct buf *b)
{
	for (uint32_t i = 0; i < g->n_bug; i++) {
		buf_adds(b, i ? "\n" : "");
		bug_put(b, &x->bug[g->first_bug + i].bug, x->bug[g->first_bug + i].state);
	}
}
