#include "compare/normal.h"
#include "base/rows.h"
#include "base/hash.h"
#include "base/json.h"

static inline uint64_t mix_hash(uint64_t a, uint64_t b)
{
	__uint128_t r = (__uint128_t)(a ^ 0x9e3779b97f4a7c15ull) * (b ^ 0xa0761d6478bd642full);
	return (uint64_t)r ^ (uint64_t)(r >> 64);
}

enum { W = 1, D = 2, L = 4, H = 8 }; /* part of a word, digit, lower-case letter, hex digit */
static const uint8_t class_of[256] = {
    ['0' ... '9'] = W | D | H, ['a' ... 'f'] = W | L | H, ['g' ... 'z'] = W | L, ['A' ... 'Z'] = W, ['_'] = W,
};
#define IS(c, what) (class_of[(unsigned char)(c)] & (what))

enum noise { NOISE_NONE, NOISE_ADDRESS, NOISE_ID, NOISE_HASH, NOISE_UUID, NOISE_PATH, NOISE_COUNTER, NOISE_LINE, NOISE_TIME };

/* ---- names of this text ---- */

static void grow_names(struct normal *n)
{
	struct normal_slot *old = n->slot;
	uint32_t size = n->slot ? n->mask + 1 : 0;
	n->mask = size ? size * 2 - 1 : 1023;
	n->slot = xcalloc(n->mask + 1u, sizeof(*n->slot));
	for (uint32_t i = 0; i < size; i++) {
		if (old[i].generation != n->generation)
			continue;
		uint32_t k = (uint32_t)old[i].hash & n->mask;
		while (n->slot[k].generation)
			k = (k + 1) & n->mask;
		n->slot[k] = old[i];
	}
	free(old);
}

static void forget_names(struct normal *n)
{
	if (!n->slot)
		grow_names(n);
	n->used = 0;
	if (++n->generation == 0) {
		memset(n->slot, 0, (n->mask + 1u) * sizeof(*n->slot));
		n->generation = 1;
	}
}

/* The name's number in order of appearance. Without add: NONE if it has not appeared. */
static uint32_t number_of(struct normal *n, uint64_t hash, bool add)
{
	uint32_t k = (uint32_t)hash & n->mask;
	for (; n->slot[k].generation == n->generation; k = (k + 1) & n->mask)
		if (n->slot[k].hash == hash)
			return n->slot[k].index;
	if (!add)
		return NONE;
	if (n->used >= n->mask - n->mask / 4) {
		grow_names(n);
		return number_of(n, hash, add);
	}
	n->slot[k] = (struct normal_slot){hash, n->generation, n->used};
	return n->used++;
}

/* ---- words ---- */

/* Stems of names that end in a number without an underscore before it. */
static bool numbered(struct slice stem)
{
	static const char *const family[] = {"buf",      "tmp",        "s",           "u",          "zf",         "zuf",      "ps",
					     "ks",       "arg",        "in_ptr",      "out_ptr",    "in_out_ptr", "fw_graph", "joint_graph",
					     "subgraph", "true_graph", "false_graph", "cond_graph", "body_graph"};
	for (unsigned i = 0; i < ARRAY_LEN(family); i++)
		if (slice_is(stem, family[i]))
			return true;
	return false;
}

/* add_12 -> add, buf3 -> buf, arg0_1 -> arg; the word itself if it is not a generated name. */
static struct slice stem_of(struct slice w, bool *is_name)
{
	size_t n = w.n;
	while (n && IS(w.p[n - 1], D))
		n--;
	*is_name = false;
	if (n == w.n || !n)
		return w;
	if (w.p[n - 1] != '_') {
		*is_name = numbered(slice_of(w.p, n));
		return *is_name ? slice_of(w.p, n) : w;
	}
	while (n && w.p[n - 1] == '_')
		n--;
	if (!n)
		return w;
	*is_name = true;
	if (n > 3 && !memcmp(w.p, "arg", 3)) {
		size_t k = 3;
		while (k < n && IS(w.p[k], D))
			k++;
		if (k == n)
			n = 3;
	}
	return slice_of(w.p, n);
}

/* Length of a hash at the end of a word: base32 of 256 bits, MD5, SHA. */
static size_t hash_tail(struct slice w)
{
	size_t n = w.n;
	bool digit = false, letter = false, hex = true;
	while (n && IS(w.p[n - 1], D | L)) {
		n--;
		digit |= IS(w.p[n], D) != 0;
		letter |= IS(w.p[n], L) != 0;
		hex &= IS(w.p[n], H) != 0;
	}
	n = w.n - n;
	return digit && letter && (n >= 40 || (hex && n >= 32)) ? n : 0;
}

/* 6f52fbd7_edd2_47f7_bd83_9ccdb17b25c5 at the end */
static bool uuid_tail(struct slice w)
{
	static const uint8_t part[] = {8, 4, 4, 4, 12};
	if (w.n < 36)
		return false;
	const char *p = w.p + w.n - 36;
	for (unsigned i = 0; i < ARRAY_LEN(part); i++, p++) {
		for (unsigned k = 0; k < part[i]; k++, p++)
			if (!IS(*p, H))
				return false;
		if (i + 1 < ARRAY_LEN(part) && *p != '_')
			return false;
	}
	return true;
}

/* A number that is the value of "..._ns": in JSON: a measured time. */
static bool timed(const char *start, const char *p)
{
	static const char *const unit[] = {"_ns", "_us", "_ms", "_ts", "time_s", "_time", "time_taken", "timestamp"};
	if (p - start < 6 || p[-1] != ' ' || p[-2] != ':' || p[-3] != '"')
		return false;
	for (unsigned i = 0; i < ARRAY_LEN(unit); i++)
		if (slice_ends(slice_of(start, (size_t)(p - 3 - start)), unit[i]))
			return true;
	return false;
}

/* ---- one pass over a text ---- */

struct pass {
	struct normal *n; /* NULL: names are words */
	uint64_t hash;
	struct normal_side *side; /* NULL: only the hash */
	uint64_t settings;        /* of lines whose order does not matter */
	bool guard;
};

static inline void take_bytes(struct pass *s, const char *from, const char *to)
{
	if (from < to)
		s->hash = mix_hash(s->hash, hash_bytes(from, (size_t)(to - from)));
}

static inline void take_noise(struct pass *s, enum noise kind) { s->hash = mix_hash(s->hash, 0x100 + kind); }

static void take_name(struct pass *s, struct slice stem, uint64_t whole)
{
	s->hash = mix_hash(s->hash, hash_bytes(stem.p, stem.n) + 7);
	if (!s->side) {
		s->hash = mix_hash(s->hash, number_of(s->n, whole, true));
		return;
	}
	number_of(s->n, whole, true);
	struct normal_side *x = s->side;
	PUSH(x, name) = whole;
}

static void add_line(struct pass *s, const char *from, const char *to)
{
	struct normal_side *x = s->side;
	if (x->n + 2 > x->cap) {
		uint32_t cap = (uint32_t)grow_cap(x->cap, x->n + 2u);
		x->line = xreallocarray(x->line, cap, sizeof(*x->line));
		x->key = xreallocarray(x->key, cap, sizeof(*x->key));
		x->first = xreallocarray(x->first, cap, sizeof(*x->first));
		x->cap = cap;
	}
	if (!x->n)
		x->first[0] = 0;
	x->line[x->n] = slice_of(from, (size_t)(to - from));
	x->key[x->n++] = s->hash;
	x->first[x->n] = x->n_name;
	s->hash = 1;
}

/* Handles a word [p, q) of text [start, end). Returns false if it is nothing special, and is left to the bytes around it. */
static bool take_word(struct pass *s, const char *start, const char *end, const char *line, const char *p, const char *q, bool names)
{
	struct slice w = slice_of(p, (size_t)(q - p));
	char before = p > start ? p[-1] : 0, after = q < end ? *q : 0;
	if (IS(*p, D)) {
		if (w.n > 2 && p[0] == '0' && p[1] == 'x') {
			if (w.n < 8)
				return false;
			take_noise(s, NOISE_ADDRESS);
			return true;
		}
		size_t digits = 0;
		while (digits < w.n && IS(p[digits], D))
			digits++;
		if (digits == w.n) {
			bool id = digits >= 12 && digits <= 15;
			if (!id && s->guard && digits >= 6 && p - line > 6 && after == ')' && before == ' ')
				id = slice_find(slice_of(line, (size_t)(p - line)), "_id(") != NULL;
			if (id) {
				take_noise(s, NOISE_ID);
				return true;
			}
			struct slice left = slice_of(line, (size_t)(p - line));
			if ((before == ':' && slice_ends(left, ".py:")) || (before == '.' && slice_ends(left, "<eval_with_key>."))) {
				take_noise(s, before == ':' ? NOISE_LINE : NOISE_COUNTER);
				return true;
			}
			if (before == ' ' && timed(line, p)) {
				take_noise(s, NOISE_TIME);
				return true;
			}
			if (before == '"' && slice_ends(left, "\"compile_id\": \"")) {
				take_noise(s, NOISE_COUNTER);
				return true;
			}
			return false;
		}
		if (p[digits] == '_' && before == '\'' &&
		    (slice_ends(w, "_forward") || slice_ends(w, "_backward") || slice_ends(w, "_inference"))) {
			take_noise(s, NOISE_COUNTER); /* AOT ID: ['3_inference'] */
			take_bytes(s, p + digits, q);
			return true;
		}
	}
	if (w.n >= 32) {
		size_t tail = uuid_tail(w) ? 36 : hash_tail(w);
		if (tail) {
			/* __compiled_fn_5_UUID: also the counter before it */
			struct slice rest = slice_of(p, w.n - tail);
			while (tail == 36 && rest.n && (IS(rest.p[rest.n - 1], D) || rest.p[rest.n - 1] == '_'))
				rest.n--;
			take_bytes(s, rest.p, rest.p + rest.n);
			take_noise(s, tail == 36 ? NOISE_UUID : NOISE_HASH);
			return true;
		}
	}
	/* G['__builtins_dict___2']: Dynamo's globals are numbered across the whole process. */
	bool global = w.n > 4 && p[0] == '_' && p[1] == '_' && IS(q[-1], D);
	if (global && !s->n) {
		struct slice rest = w;
		while (rest.n && IS(rest.p[rest.n - 1], D))
			rest.n--;
		take_bytes(s, rest.p, rest.p + rest.n);
		take_noise(s, NOISE_COUNTER);
		return true;
	}
	if (!s->n || before == '.' || IS(*p, D))
		return false;
	if (!global && ((before == '\'' && after == '\'') || (before == '"' && after == '"')))
		return false;
	bool is_name;
	struct slice stem = stem_of(w, &is_name);
	uint64_t whole = hash_bytes(w.p, w.n);
	if (!is_name && !names) {
		/* The text defines a name with name: "f32[8]" or, at the start of a line, name = */
		bool defined = after == ':' && end - q > 2 && q[1] == ' ' && q[2] == '"';
		if (!defined && after == ' ' && end - q > 2 && q[1] == '=' && q[2] == ' ') {
			const char *c = p;
			while (c > line && (c[-1] == ' ' || c[-1] == '\t'))
				c--;
			defined = c == line;
		}
		if (!defined && number_of(s->n, whole, false) == NONE)
			return false;
	}
	take_name(s, stem, whole);
	return true;
}

/* A path: in a temporary folder or a cache it is noise; of a Python file only the name counts; in a graph's comment ("# File: ") not even
 * that: a renamed script is the same program. */
static const char *take_path(struct pass *s, const char *line, const char *p, const char *end)
{
	const char *q = p, *slash = p;
	while (q < end && (IS(*q, W) || *q == '/' || *q == '.' || *q == '-' || *q == '+' || *q == '@' || *q == '=')) {
		if (*q == '/')
			slash = q;
		q++;
	}
	struct slice path = slice_of(p, (size_t)(q - p));
	bool comment = p - line >= 8 && !memcmp(p - 8, "# File: ", 8) && slice_ends(path, ".py");
	if (comment || slice_starts(path, "/tmp/") || slice_find(path, "torchinductor_") || slice_find(path, "/inductor_cache/"))
		take_noise(s, NOISE_PATH);
	else if (slice_ends(path, ".py"))
		take_bytes(s, slash, q);
	else
		take_bytes(s, p, q);
	return q;
}

/* "torch._inductor.config.deterministic = False" of fx_graph_runnable: torch writes them in set order. */
static bool is_setting(struct slice line)
{
	return slice_starts(line, "torch._") &&
	       (slice_starts(line, "torch._inductor.config.") || slice_starts(line, "torch._functorch.config.") ||
		slice_starts(line, "torch._dynamo.config."));
}

static void normal_run(struct pass *s, struct slice text)
{
	const char *start = text.p, *end = text.p + text.n, *p = start, *line = start, *from = start;
	bool names = false; /* inside "Source Nodes: [...]": every word is a node's name */
	s->hash = 1;
	while (p < end) {
		char c = *p;
		if (IS(c, W)) {
			const char *q = p + 1;
			while (q < end && IS(*q, W))
				q++;
			uint64_t before = s->hash;
			/* The bytes before the word first, to keep the order. */
			take_bytes(s, from, p);
			if (take_word(s, start, end, line, p, q, names))
				from = q;
			else
				s->hash = before;
			p = q;
		} else if (c == '/' && (p == start || (!IS(p[-1], W) && p[-1] != '.' && p[-1] != '/' && p[-1] != '<')) && p + 1 < end &&
			   IS(p[1], W)) {
			take_bytes(s, from, p);
			from = p = take_path(s, line, p, end);
		} else if (c == '\n') {
			take_bytes(s, from, p);
			if (s->side)
				add_line(s, line, p);
			else
				s->hash = mix_hash(s->hash, '\n');
			line = from = ++p;
			names = false;
			while (end - p > 20 && p[0] == 't' && p[5] == '.') {
				const char *stop = memchr(p, '\n', (size_t)(end - p));
				struct slice l = slice_of(p, (size_t)((stop ? stop : end) - p));
				if (!stop || !is_setting(l))
					break;
				uint64_t before = s->hash;
				s->hash = 3;
				take_bytes(s, l.p, stop);
				s->settings += s->hash | 1;
				if (s->side)
					add_line(s, p, stop);
				s->hash = before;
				line = from = p = stop + 1;
			}
			/* Folders of this run that torch writes into fx_graph_runnable. */
			if (end - p > 20 && !memcmp(p, "os.environ['", 12)) {
				const char *stop = memchr(p, '\n', (size_t)(end - p));
				struct slice l = slice_of(p, (size_t)((stop ? stop : end) - p));
				const char *value = slice_find(l, "_DIR'] = ");
				if (!value && (slice_find(l, "TORCH_TRACE") || slice_find(l, "TORCH_LOGS_OUT")))
					value = slice_find(l, "'] = ");
				if (value) {
					take_bytes(s, p, value);
					take_noise(s, NOISE_PATH);
					from = p = l.p + l.n;
				}
			}
		} else {
			if (c == '[' && p - line >= 14 && !memcmp(p - 14, "Source Nodes: ", 14))
				names = s->n != NULL;
			else if (c == ']')
				names = false;
			p++;
		}
	}
	take_bytes(s, from, end);
	if (s->side && line < end)
		add_line(s, line, end);
}

uint64_t normal_hash(struct normal *n, struct slice text)
{
	struct pass s = {.n = n};
	forget_names(n);
	normal_run(&s, text);
	return s.settings ? mix_hash(s.hash, s.settings) : s.hash;
}

uint64_t normal_plain(struct slice text)
{
	struct pass s = {0};
	normal_run(&s, text);
	return s.hash;
}

/* ---- line by line ---- */

static int by_pair(const void *a, const void *b)
{
	const struct normal_vote *x = a, *y = b;
	return x->a != y->a ? (x->a < y->a ? -1 : 1) : x->b != y->b ? (x->b < y->b ? -1 : 1) : 0;
}

static int by_a(const void *a, const void *b)
{
	const struct normal_vote *x = a, *y = b;
	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return x->count != y->count ? (x->count > y->count ? -1 : 1) : by_pair(a, b);
}

static int by_b(const void *a, const void *b)
{
	const struct normal_vote *x = a, *y = b;
	if (x->b != y->b)
		return x->b < y->b ? -1 : 1;
	return x->count != y->count ? (x->count > y->count ? -1 : 1) : by_pair(a, b);
}

static int find_pair(const void *key, const void *row) { return by_pair(key, row); }

/* Decides which name of one text matches which of the other: by majority of the aligned lines, on both sides. Leaves the
 * winning pairs, sorted. */
static void count_votes(struct normal *n)
{
	const struct normal_side *a = &n->side[0], *b = &n->side[1];
	n->n_vote = 0;
	for (uint32_t i = 0; i < n->diff.n; i++) {
		const struct linediff_row *r = &n->diff.row[i];
		if (!r->same)
			continue;
		uint32_t x = a->first[r->a], y = b->first[r->b];
		for (; x < a->first[r->a + 1] && y < b->first[r->b + 1]; x++, y++)
			PUSH(n, vote) = (struct normal_vote){a->name[x], b->name[y], 1};
	}
	if (!n->n_vote)
		return;
	qsort(n->vote, n->n_vote, sizeof(*n->vote), by_pair);
	uint32_t k = 0;
	for (uint32_t i = 1; i < n->n_vote; i++) {
		if (!by_pair(&n->vote[k], &n->vote[i]))
			n->vote[k].count++;
		else
			n->vote[++k] = n->vote[i];
	}
	n->n_vote = k + 1;
	qsort(n->vote, n->n_vote, sizeof(*n->vote), by_a);
	k = 0;
	for (uint32_t i = 0; i < n->n_vote; i++)
		if (!i || n->vote[i].a != n->vote[k - 1].a)
			n->vote[k++] = n->vote[i];
	n->n_vote = k;
	qsort(n->vote, n->n_vote, sizeof(*n->vote), by_b);
	k = 0;
	for (uint32_t i = 0; i < n->n_vote; i++)
		if (!i || n->vote[i].b != n->vote[k - 1].b)
			n->vote[k++] = n->vote[i];
	n->n_vote = k;
	qsort(n->vote, n->n_vote, sizeof(*n->vote), by_pair);
}

static bool agree(const struct normal *n, const struct linediff_row *r)
{
	const struct normal_side *a = &n->side[0], *b = &n->side[1];
	uint32_t x = a->first[r->a], y = b->first[r->b];
	for (; x < a->first[r->a + 1] && y < b->first[r->b + 1]; x++, y++) {
		struct normal_vote v = {a->name[x], b->name[y], 0};
		if (!bsearch(&v, n->vote, n->n_vote, sizeof(v), find_pair))
			return false;
	}
	return true;
}

static int by_text(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;
	return slice_cmp(*x, *y);
}

/* Sorts adjacent settings the same way on both sides. They contain no names, so their lines can move. */
static void sort_settings(struct normal_side *x)
{
	for (uint32_t i = 0, e; i < x->n; i = e + 1) {
		for (e = i; e < x->n && is_setting(x->line[e]) && x->first[e] == x->first[i] && x->first[e + 1] == x->first[i]; e++)
			;
		if (e < i + 2)
			continue;
		qsort(x->line + i, e - i, sizeof(*x->line), by_text);
		for (uint32_t k = i; k < e; k++)
			x->key[k] = hash_bytes(x->line[k].p, x->line[k].n);
	}
}

bool normal_diff(struct normal *n, struct slice a, struct slice b)
{
	struct slice text[2] = {a, b};
	for (unsigned i = 0; i < 2; i++) {
		struct pass s = {.n = n, .side = &n->side[i]};
		n->side[i].n = n->side[i].n_name = 0;
		forget_names(n);
		normal_run(&s, text[i]);
		sort_settings(&n->side[i]);
	}
	linediff_keys(&n->diff, n->side[0].key, n->side[0].n, n->side[1].key, n->side[1].n);
	count_votes(n);
	bool differs = false;
	for (uint32_t i = 0; i < n->diff.n; i++) {
		struct linediff_row *r = &n->diff.row[i];
		if (r->same && !agree(n, r)) {
			r->same = false;
			n->diff.changed++;
		}
		differs |= !r->same;
	}
	return differs;
}

void normal_release(struct normal *n)
{
	free(n->slot);
	free(n->vote);
	for (unsigned i = 0; i < 2; i++) {
		free(n->side[i].line);
		free(n->side[i].key);
		free(n->side[i].first);
		free(n->side[i].name);
	}
	linediff_release(&n->diff);
	*n = (struct normal){0};
}

/* ---- guards ---- */

bool normal_guard(struct slice line, struct slice *guard, struct slice *note)
{
	const char *p = line.p, *end = line.p + line.n;
	while (p < end && (*p == ' ' || *p == '|'))
		p++;
	if (end - p < 4 || p[0] != '+' || p[1] != '-' || p[2] != ' ')
		return false;
	p += 3;
	const char *q = p;
	while (q < end && ((*q >= 'A' && *q <= 'Z') || *q == '_' || IS(*q, D)))
		q++;
	if (q == p || q == end || *q != ':')
		return false;
	struct slice rest = slice_of(p, (size_t)(end - p));
	const char *hash = slice_find(rest, "  # ");
	*guard = slice_trim(slice_of(p, (size_t)((hash ? hash : end) - p)));
	*note = hash ? slice_trim(slice_of(hash, (size_t)(end - hash))) : slice_of("", 0);
	return true;
}

uint64_t normal_guard_hash(struct slice guard)
{
	struct pass s = {.guard = true};
	normal_run(&s, guard);
	return s.hash;
}

uint64_t normal_guards(struct slice text)
{
	uint64_t sum = 0;
	struct slice line, guard, note;
	while (slice_line(&text, &line))
		if (normal_guard(line, &guard, &note))
			sum += mix_hash(normal_guard_hash(guard), 99) | 1;
	return sum;
}

/* ---- JSON ---- */

static void indent(struct buf *out, uint32_t depth)
{
	for (uint32_t i = 0; i < depth && i < 40; i++)
		buf_adds(out, "  ");
}

static void put_scalar(struct buf *out, const struct json_tape *t, uint32_t k, uint32_t depth, struct buf *tmp)
{
	if (!json_is(t, k, JSON_STRING) || !t->tok[k].escaped) {
		buf_add_slice(out, json_raw(t, k));
		return;
	}
	buf_reset(tmp);
	json_unescape(t, k, tmp);
	if (!memchr(tmp->p, '\n', tmp->len)) {
		buf_add_slice(out, json_raw(t, k));
		return;
	}
	struct slice rest = buf_slice(tmp), line;
	buf_addc(out, '"');
	for (bool first = true; slice_line(&rest, &line); first = false) {
		if (!first) {
			buf_addc(out, '\n');
			indent(out, depth);
		}
		buf_add_slice(out, line);
	}
	buf_addc(out, '"');
}

bool normal_unfold(struct slice json, struct buf *out)
{
	OWNED(json_tape_release) struct json_tape t = {0};
	LOCAL_BUF tmp = {0};
	uint32_t root, *up = NULL, depth = 0, cap = 0;
	json_tape_text(&t, json.p, json.n);
	bool ok = json.n && (*json.p == '{' || *json.p == '[') && !slice_chr(json, '\n') && json_parse(&t, 0, json.n, &root) == 0;
	/* The tape in order; up: the open objects and lists. */
	for (uint32_t k = 0; ok && k < t.n; k++) {
		while (depth && k >= json_end(&t, up[depth - 1])) {
			depth--;
			if (k > 0) {
				buf_addc(out, '\n');
				indent(out, depth);
			}
			buf_addc(out, json_is(&t, up[depth], JSON_OBJECT) ? '}' : ']');
		}
		if (depth) {
			buf_addc(out, '\n');
			indent(out, depth);
			if (json_is(&t, up[depth - 1], JSON_OBJECT)) {
				buf_add_slice(out, json_raw(&t, k));
				buf_adds(out, ": ");
				k++;
			}
		}
		if (json_is(&t, k, JSON_OBJECT) || json_is(&t, k, JSON_ARRAY)) {
			buf_addc(out, json_is(&t, k, JSON_OBJECT) ? '{' : '[');
			PUSH_TO(up, depth, cap) = k;
		} else {
			put_scalar(out, &t, k, depth + 1, &tmp);
		}
	}
	while (ok && depth) {
		depth--;
		buf_addc(out, '\n');
		indent(out, depth);
		buf_addc(out, json_is(&t, up[depth], JSON_OBJECT) ? '}' : ']');
	}
	if (ok)
		buf_addc(out, '\n');
	free(up);
	return ok;
}
