/* patterns_scan.c - looks for all patterns in a text, piece by piece. */
#include "run/patterns/patterns_part.h"

/* Captures that outlive their piece. */
struct caught {
	uint8_t n;
	uint32_t name[PATTERN_CAPTURES];
	uint16_t len[PATTERN_CAPTURES];
	char text[PATTERN_CAPTURES][PATTERN_VALUE];
};

struct pattern_seen {
	uint64_t line;         /* of the atom's last occurrence; 0: none */
	struct caught *caught; /* of an `and` line with captures */
};

struct pattern_pending {
	uint32_t pattern, weight, have; /* have: bits of the `and` lines that were seen */
	bool refused;                   /* a `not` line was seen */
	uint16_t quoted;
	uint64_t line, offset;
	struct caught caught;
	char quote[PATTERN_QUOTE];
};

/* A hit in the piece that is looked at. */
struct hit {
	const char *begin, *end; /* of the match */
	const char *lo, *hi;     /* of its line, as far as a match may reach */
	struct slice value[ATOM_WILDS];
};

void pattern_scan_init(struct pattern_scan *s, const struct patterns *k, pattern_fn *fn, void *ctx)
{
	*s = (struct pattern_scan){.patterns = k, .fn = fn, .ctx = ctx, .line = 1};
	s->seen = xcalloc((size_t)k->atoms + 1, sizeof(*s->seen));
}

void pattern_scan_release(struct pattern_scan *s)
{
	for (uint32_t i = 0; s->seen && i < s->patterns->atoms; i++)
		free(s->seen[i].caught);
	free(s->seen);
	free(s->ring);
	buf_release(&s->carry);
	*s = (struct pattern_scan){0};
}

/* The text began anew: what is allocated stays. */
static void start_over(struct pattern_scan *s)
{
	for (uint32_t i = 0; i < s->patterns->atoms; i++)
		s->seen[i].line = 0;
	s->head = s->n = s->undecided = 0;
	s->offset = s->counted = s->done = 0;
	s->line = 1;
	buf_reset(&s->carry);
}

/* ---- one match line ---- */

/* The last occurrence of t that ends at `end` or before and begins at `lo` or after. */
static const char *find_back(const char *lo, const char *end, struct slice t)
{
	const char *p = end;
	size_t room;
	while ((room = (size_t)(p - lo)) >= t.n && (p = memrchr(lo, t.p[t.n - 1], room))) {
		if ((size_t)(p + 1 - lo) >= t.n && !memcmp(p + 1 - t.n, t.p, t.n))
			return p + 1 - t.n;
	}
	return NULL;
}

/* The first t in [from, hi). A decimal point does not end a capture: in "Tried to allocate 2.50 GiB." {size} reaches to the full stop. */
static const char *find_next(const char *from, const char *hi, struct slice t, bool captured)
{
	const char *at = memmem(from, (size_t)(hi - from), t.p, t.n);
	while (captured && at && t.p[0] == '.' && at + 1 < hi && is_digit(at[-1]) && is_digit(at[1]))
		at = memmem(at + 1, (size_t)(hi - at - 1), t.p, t.n);
	return at;
}

/* Finds the texts before the anchor, from the right. */
static bool go_left(const struct atom *a, struct hit *h)
{
	for (uint32_t i = a->anchor; i-- > 0;) {
		size_t least = a->name[i] != NONE, reach = PATTERN_WILD + a->text[i].n;
		const char *lo = (size_t)(h->begin - h->lo) > reach ? h->begin - reach : h->lo, *at;
		if ((size_t)(h->begin - lo) < least || !(at = find_back(lo, h->begin - least, a->text[i])))
			return false;
		const char *from = at + a->text[i].n;
		h->value[i] = slice_of(from, (size_t)(h->begin - from));
		h->begin = at;
	}
	return true;
}

/* Finds the values between begin and the anchor again, from the left, like those after it: in "f(g(x)) failed" {name}( is f. */
static void from_left(const struct atom *a, struct hit *h, const char *anchor)
{
	struct slice value[ATOM_WILDS];
	const char *from = h->begin + a->text[0].n;
	for (uint32_t i = 0; i < a->anchor; i++) {
		size_t least = a->name[i] != NONE;
		const char *at = i + 1u == a->anchor ? anchor : find_next(from + least, anchor, a->text[i + 1], least);
		if (!at || at > from + PATTERN_WILD)
			return;
		value[i] = slice_of(from, (size_t)(at - from));
		from = at + a->text[i + 1].n;
	}
	memcpy(h->value, value, a->anchor * sizeof(*value));
}

static bool go_right(const struct atom *a, struct hit *h)
{
	for (uint32_t i = a->anchor; i + 1u < a->texts; i++) {
		struct slice t = a->text[i + 1];
		size_t least = a->name[i] != NONE, room = (size_t)(h->hi - h->end);
		if (room > PATTERN_WILD + t.n)
			room = PATTERN_WILD + t.n;
		if (room < least + t.n)
			return false;
		const char *at = t.n ? find_next(h->end + least, h->end + room, t, least) : h->end + room;
		if (!at)
			return false;
		h->value[i] = slice_of(h->end, (size_t)(at - h->end));
		h->end = at + t.n;
	}
	return true;
}

/* Does `a` match with its key at `at`? */
static bool verify(const struct atom *a, struct slice text, const char *at, struct hit *h)
{
	struct slice t = a->text[a->anchor];
	const char *end = text.p + text.n;
	if ((size_t)(at - text.p) < a->at || (size_t)(end - (at - a->at)) < t.n || memcmp(at - a->at, t.p, t.n))
		return false;
	h->begin = at - a->at;
	h->end = h->begin + t.n;
	size_t before = (size_t)(h->begin - text.p), after = (size_t)(end - h->end);
	h->lo = before > PATTERN_REACH ? h->begin - PATTERN_REACH : text.p;
	h->hi = after > PATTERN_REACH ? h->end + PATTERN_REACH : end;
	const char *nl = memrchr(h->lo, '\n', (size_t)(h->begin - h->lo));
	h->lo = nl ? nl + 1 : h->lo;
	nl = memchr(h->end, '\n', (size_t)(h->hi - h->end));
	h->hi = nl ? nl : h->hi;
	const char *anchor = h->begin;
	if (!go_left(a, h) || !go_right(a, h))
		return false;
	from_left(a, h, anchor);
	return true;
}

/* ---- what waits ---- */

static struct pattern_pending *pending(struct pattern_scan *s, uint32_t i) { return &s->ring[(s->head + i) % s->cap]; }

static bool holds(const struct pattern_scan *s, const struct pattern_pending *c)
{
	return !c->refused && c->have == (1u << s->patterns->item[c->pattern].own->ands) - 1;
}

static bool is_over(const struct pattern *p, uint32_t other)
{
	for (uint32_t i = 0; i < p->over.n; i++)
		if (p->own->over[i] == other)
			return true;
	return false;
}

static bool same_place(const struct pattern_pending *a, const struct pattern_pending *b)
{
	uint64_t apart = a->offset > b->offset ? a->offset - b->offset : b->offset - a->offset;
	return a->line == b->line && apart < PATTERN_WILD;
}

/* Is d the better answer where c is? */
static bool beats(const struct pattern_scan *s, const struct pattern_pending *d, const struct pattern_pending *c)
{
	uint64_t apart = d->line > c->line ? d->line - c->line : c->line - d->line;
	if (apart <= PATTERN_OVER && is_over(&s->patterns->item[d->pattern], c->pattern))
		return true;
	if (!same_place(d, c) || is_over(&s->patterns->item[c->pattern], d->pattern))
		return false;
	return d->weight > c->weight || (d->weight == c->weight && d->pattern < c->pattern);
}

static void decide(struct pattern_scan *s, const struct pattern_pending *c)
{
	if (!holds(s, c))
		return;
	for (uint32_t i = 0; i < s->n; i++) {
		const struct pattern_pending *d = pending(s, i);
		if (d != c && d->pattern != c->pattern && holds(s, d) && beats(s, d, c))
			return;
	}
	struct pattern_match m = {.pattern = &s->patterns->item[c->pattern], .line = c->line, .offset = c->offset};
	m.quote = slice_of(c->quote, c->quoted);
	for (m.captures = 0; m.captures < c->caught.n; m.captures++) {
		m.capture[m.captures].name = intern_get(&s->patterns->names, c->caught.name[m.captures]);
		m.capture[m.captures].value = slice_of(c->caught.text[m.captures], c->caught.len[m.captures]);
	}
	s->fn(s->ctx, &m);
}

/* A match is decided when all that may speak against it was decided by its own lines, and forgotten when it can speak
 * against none that is to come. Only done when something is found, so that it does not depend on the pieces. */
static void settle_message(struct pattern_scan *s, uint64_t line)
{
	while (s->undecided < s->n && pending(s, s->undecided)->line + 2 * PATTERN_NEAR < line)
		decide(s, pending(s, s->undecided++));
	while (s->n && s->undecided && pending(s, 0)->line + 3 * PATTERN_NEAR < line) {
		s->head = (s->head + 1) % s->cap;
		s->n--;
		s->undecided--;
	}
}

static struct pattern_pending *new_pending(struct pattern_scan *s)
{
	if (s->n == PATTERN_PENDING) {
		if (!s->undecided)
			decide(s, pending(s, s->undecided++));
		s->head = (s->head + 1) % s->cap;
		s->n--;
		s->undecided--;
	} else if (s->n == s->cap) {
		uint32_t cap = s->cap ? s->cap * 2 : 8;
		struct pattern_pending *ring = xreallocarray(NULL, cap, sizeof(*ring));
		for (uint32_t i = 0; i < s->n; i++)
			ring[i] = *pending(s, i);
		free(s->ring);
		s->ring = ring;
		s->head = 0;
		s->cap = cap;
	}
	return pending(s, s->n++);
}

/* ---- hits ---- */

static uint16_t cut_length(struct slice s, size_t max)
{
	size_t n = s.n < max ? s.n : max;
	if (n < s.n) /* not inside a character */
		while (n && n + 3 > max && ((unsigned char)s.p[n] & 0xc0) == 0x80)
			n--;
	return (uint16_t)n;
}

static void keep_value(struct caught *c, uint32_t name, struct slice value)
{
	if (c->n == PATTERN_CAPTURES)
		return;
	value = slice_trim(value);
	c->name[c->n] = name;
	c->len[c->n] = cut_length(value, PATTERN_VALUE);
	memcpy(c->text[c->n], value.p, c->len[c->n]);
	c->n++;
}

/* A value at the end of a line without what follows it there: the end of an exception's repr ("got RuntimeError('... Long')"), torch's
 * "(see https://...)", a colon or full stop. */
static struct slice without_end(struct slice v)
{
	int open = 0;
	v = slice_trim(v);
	for (size_t i = 0; i < v.n; i++)
		open += (v.p[i] == '(') - (v.p[i] == ')');
	if (open < 0 && (slice_ends(v, "')") || slice_ends(v, "\")")))
		v.n -= 2;
	const char *remark = slice_ends(v, ")") ? find_back(v.p, v.p + v.n, SLICE(" (")) : NULL;
	if (remark && slice_has(slice_of(remark, (size_t)(v.p + v.n - remark)), "://"))
		v.n = (size_t)(remark - v.p);
	if (v.n > 1 && (slice_ends(v, ":") || slice_ends(v, ".")) && !slice_ends(v, ".."))
		v.n--;
	return v;
}

static void keep_values(struct caught *c, const struct atom *a, const struct hit *h)
{
	for (uint32_t i = 0; i + 1u < a->texts; i++)
		if (a->name[i] != NONE)
			keep_value(c, a->name[i], a->text[i + 1].n ? h->value[i] : without_end(h->value[i]));
}

static void merge_values(struct caught *to, const struct caught *from)
{
	for (uint32_t i = 0; from && i < from->n; i++)
		keep_value(to, from->name[i], slice_of(from->text[i], from->len[i]));
}

static void quote(struct pattern_pending *c, const struct hit *h)
{
	const char *from = h->lo;
	if ((size_t)(h->hi - h->lo) > PATTERN_QUOTE && (size_t)(h->begin - h->lo) > PATTERN_QUOTE / 4)
		from = h->begin;
	struct slice line = slice_trim(slice_of(from, (size_t)(h->hi - from)));
	c->quoted = cut_length(line, PATTERN_QUOTE);
	memcpy(c->quote, line.p, c->quoted);
}

static void hit_match(struct pattern_scan *s, const struct atom *a, const struct hit *h, uint64_t offset)
{
	const struct pattern_private *own = s->patterns->item[a->pattern].own;
	struct pattern_pending *c = NULL;
	for (uint32_t i = s->n; !c && i-- > 0 && pending(s, i)->line == s->line;)
		if (pending(s, i)->pattern == a->pattern) {
			c = pending(s, i);
			if (i < s->undecided || c->offset != offset || c->weight >= a->weight + own->weight)
				return;
		}
	c = c ? c : new_pending(s);
	c->pattern = a->pattern;
	c->weight = a->weight + own->weight;
	c->line = s->line;
	c->offset = offset;
	c->have = 0;
	c->refused = false;
	c->caught.n = 0;
	quote(c, h);
	keep_values(&c->caught, a, h);
	uint32_t first = (uint32_t)(a - s->patterns->atom);
	while (first && s->patterns->atom[first - 1].pattern == a->pattern)
		first--;
	for (uint32_t i = first; i < first + own->n; i++) {
		const struct atom *b = &s->patterns->atom[i];
		if (b->role == ATOM_MATCH || !s->seen[i].line || s->seen[i].line + PATTERN_NEAR < s->line)
			continue;
		c->refused |= b->role == ATOM_NOT;
		if (b->role == ATOM_AND) {
			c->have |= 1u << b->bit;
			merge_values(&c->caught, s->seen[i].caught);
		}
	}
}

/* An `and` or `not` line: for the matches before it, and for those to come. */
static void hit_other(struct pattern_scan *s, const struct atom *a, const struct hit *h)
{
	struct pattern_seen *seen = &s->seen[a - s->patterns->atom];
	if (a->role == ATOM_AND && a->texts > 1) {
		if (!seen->caught)
			seen->caught = xcalloc(1, sizeof(*seen->caught));
		seen->caught->n = 0;
		keep_values(seen->caught, a, h);
	}
	for (uint32_t i = s->n; i-- > 0;) {
		struct pattern_pending *c = pending(s, i);
		if (c->line + PATTERN_NEAR < s->line)
			break;
		if (c->pattern != a->pattern)
			continue;
		c->refused |= a->role == ATOM_NOT;
		if (a->role == ATOM_AND && !(c->have & 1u << a->bit)) {
			c->have |= 1u << a->bit;
			merge_values(&c->caught, seen->caught);
		}
	}
}

static void count_lines(struct pattern_scan *s, const char *from, const char *to)
{
	const char *nl;
	while (from < to && (nl = memchr(from, '\n', (size_t)(to - from)))) {
		s->line++;
		from = nl + 1;
	}
}

/* The key of an atom of this bucket may stand at `at`; text begins at byte `base` of the whole. */
static void look(struct pattern_scan *s, struct slice text, uint64_t base, const char *at, uint32_t row)
{
	uint64_t key = load64(at);
	for (; row != NONE; row = s->patterns->atom[row].next) {
		const struct atom *a = &s->patterns->atom[row];
		struct hit h;
		if (a->key != key || !verify(a, text, at, &h))
			continue;
		count_lines(s, text.p + (s->counted - base), at);
		s->counted = base + (uint64_t)(at - text.p);
		if (s->seen[row].line == s->line)
			continue;
		settle_message(s, s->line);
		s->seen[row].line = s->line;
		if (a->role == ATOM_MATCH)
			hit_match(s, a, &h, base + (uint64_t)(h.begin - text.p));
		else
			hit_other(s, a, &h);
	}
}

/* Keys that begin in [from, to) of text. */
static void look_in(struct pattern_scan *s, struct slice text, uint64_t base, size_t from, size_t to)
{
	const struct patterns *k = s->patterns;
	size_t stop = text.n < ATOM_KEY ? 0 : text.n - ATOM_KEY + 1;
	if (stop > to)
		stop = to;
	for (size_t i = from; i < stop;) {
		const char *at = text.p + i;
		uint32_t hash = shift_hash(at + ATOM_KEY), shift = k->shift[hash];
		if (!shift) {
			look(s, text, base, at, k->bucket[hash]);
			shift = 1;
		}
		i += shift;
	}
	s->offset = base + to;
	if (s->counted < s->offset) {
		count_lines(s, text.p + (s->counted - base), text.p + to);
		s->counted = s->offset;
	}
}

/* ---- pieces ---- */

/* Look at what of the carry cannot change any more, keep what a match may reach back to. */
static void look_in_carry(struct pattern_scan *s, bool last)
{
	struct slice text = buf_slice(&s->carry);
	if (!text.n)
		return;
	size_t to = last ? text.n : s->done;
	const char *nl = last ? NULL : memrchr(text.p + s->done, '\n', text.n - s->done);
	if (nl)
		to = (size_t)(nl + 1 - text.p);
	if (!last && text.n > PATTERN_REACH && text.n - PATTERN_REACH > to)
		to = text.n - PATTERN_REACH;
	if (to > s->done || last)
		look_in(s, text, s->offset - s->done, s->done, to);
	size_t drop = to > PATTERN_REACH ? to - PATTERN_REACH : 0;
	if (nl && to == (size_t)(nl + 1 - text.p))
		drop = to;
	memmove(s->carry.p, text.p + drop, s->carry.len - drop);
	buf_cut(&s->carry, s->carry.len - drop);
	s->done = to - drop;
}

static size_t line_end(struct slice piece, size_t max)
{
	size_t n = piece.n < max ? piece.n : max;
	const char *nl = n ? memchr(piece.p, '\n', n) : NULL;
	return nl ? (size_t)(nl + 1 - piece.p) : n;
}

static void finish_scan(struct pattern_scan *s)
{
	look_in_carry(s, true);
	while (s->undecided < s->n)
		decide(s, pending(s, s->undecided++));
	start_over(s);
}

void pattern_scan_feed(struct pattern_scan *s, struct slice piece, bool last)
{
	while (piece.n) {
		size_t n;
		if (s->carry.len) {
			n = line_end(piece, 1 << 16);
			buf_add(&s->carry, piece.p, n);
			look_in_carry(s, false);
		} else {
			const char *nl = last ? NULL : slice_rchr(piece, '\n');
			n = last ? piece.n : nl ? (size_t)(nl + 1 - piece.p) : 0;
			look_in(s, slice_of(piece.p, n), s->offset, 0, n);
			if (n < piece.n) {
				size_t more = piece.n - n < 1 << 16 ? piece.n - n : 1 << 16;
				buf_add(&s->carry, piece.p + n, more);
				n += more;
				look_in_carry(s, false);
			}
		}
		piece = slice_of(piece.p + n, piece.n - n);
	}
	if (last)
		finish_scan(s);
}
