/* facts_lists.c - data for comparing ranks: lists in artifacts (operators, tensors, the order in which graphs ran), and the
 * collectives of generated code. */
#include "run/trace/facts_part.h"

#include "base/text.h"

/* A payload that is strict JSON, or NONE. */
static uint32_t parse_payload(struct trace_reading *r, struct slice payload)
{
	uint32_t root;
	json_tape_text(&r->tape, payload.p, payload.n);
	return utf8_valid(payload) && !json_parse(&r->tape, 0, payload.n, &root) && !r->tape.loose ? root : NONE;
}

/* The kind of a collective, by any of its names: all_gather_into_tensor is an all_gather. */
static int collective_kind(struct slice op)
{
	static const char *const kind[] = {"all_reduce", "reduce_scatter", "all_gather", "broadcast", "all_to_all"};
	for (int i = 0; i < (int)ARRAY_LEN(kind); i++)
		if (slice_find(op, kind[i]))
			return i;
	return slice_find(op, "reduce") ? RANK_COLLECTIVES - 1 : -1;
}

/* One line each, in r->tmp. */
static void line_begin(struct trace_reading *r)
{
	if (r->tmp.len)
		buf_addc(&r->tmp, '\n');
}
static struct slice flat_text(struct trace_reading *r, uint32_t k)
{
	buf_reset(&r->ranks.text_buf);
	put_flat(&r->ranks.text_buf, json_text_at(&r->tape, k, &r->f->tmp), SIZE_MAX);
	return buf_slice(&r->ranks.text_buf);
}

/* A list of the lines in r->tmp; NULL if it has too many operators. */
static struct fact_list *new_list(struct trace_reading *r, const struct trace_artifact *a, enum fact_list_kind kind, uint32_t ops)
{
	bool fits = r->ranks.ops + ops <= RANK_OPS;
	uint32_t lines = fits ? facts_intern(r->f, buf_slice(&r->tmp)) : NONE;
	struct fact_src src = r->t->at;
	src.artifact = a->number;
	struct fact_list *to = facts_new_list(r->f, src);
	to->compile = r->f->attempt[src.attempt].compile;
	to->kind = kind;
	to->lines = lines;
	to->left_out = !fits;
	r->ranks.ops += fits ? ops : 0;
	return fits ? to : NULL;
}

/* Of the current attempt. */
static struct rank_counts *counts_of(struct trace_reading *r)
{
	struct rank_attempt *a = reading_attempt(r, r->t->at.attempt);
	if (!a->counts) {
		PUSH(&r->ranks, counts) = (struct rank_counts){0};
		a->counts = r->ranks.n_counts;
	}
	return &r->ranks.counts[a->counts - 1];
}

static void take_schedule(struct trace_reading *r, const struct trace_artifact *a, uint32_t root)
{
	struct rank_counts *x = counts_of(r);
	x->schedule = true; /* a file exists, whatever its contents */
	json_each(&r->tape, root, k)
		if (!json_is(&r->tape, k, JSON_STRING))
			return;
	uint32_t n = 0, in[RANK_COLLECTIVES] = {0};
	buf_reset(&r->tmp);
	json_each(&r->tape, root, k) {
		struct slice name = flat_text(r, k);
		int kind = collective_kind(name);
		if (kind >= 0)
			in[kind]++;
		line_begin(r);
		buf_add_slice(&r->tmp, name);
		n++;
	}
	if (n && new_list(r, a, LIST_SCHEDULE, n))
		for (unsigned i = 0; i < RANK_COLLECTIVES; i++)
			x->in_schedule[i] += in[i];
}

/* A JSON value without the white space between its tokens. */
static void add_dense(struct buf *b, struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] > ' ')
			buf_addc(b, s.p[i]);
}

static void put_tensors(struct buf *b, const struct json_tape *tape, uint32_t op)
{
	static const char *const head[] = {"name", "type"};
	for (unsigned i = 0; i < 2; i++) {
		uint32_t k = json_get(tape, op, head[i]);
		if (i)
			buf_addc(b, ' ');
		if (json_is(tape, k, JSON_STRING))
			put_flat(b, json_slice(tape, k), 300);
	}
	buf_addc(b, ':');
	uint32_t out = json_get(tape, op, "outputs");
	json_each(tape, out, k) {
		uint32_t type = json_get(tape, k, "dtype"), shape = json_get(tape, k, "shape"), stride = json_get(tape, k, "stride");
		buf_addc(b, ' ');
		add_dense(b, type != NONE ? json_slice(tape, type) : SLICE("?"));
		add_dense(b, shape != NONE ? json_raw(tape, shape) : SLICE("[?]"));
		buf_addc(b, '/');
		add_dense(b, stride != NONE ? json_raw(tape, stride) : SLICE("[?]"));
	}
}

static void take_tensors(struct trace_reading *r, const struct trace_artifact *a, uint32_t root)
{
	const struct json_tape *tape = &r->tape;
	uint32_t ops = json_get(tape, root, "ops"), n = 0;
	bool estimates = true;
	double d;
	buf_reset(&r->tmp);
	if (!json_is(tape, ops, JSON_ARRAY)) {
		new_list(r, a, LIST_TENSORS, 0)->left_out = true;
		return;
	}
	json_each(tape, ops, k) {
		estimates = estimates && json_is(tape, json_get(tape, k, "name"), JSON_STRING) &&
			    json_double(tape, json_get(tape, k, "estimated_runtime_ns"), &d);
		line_begin(r);
		put_tensors(&r->tmp, tape, k);
		n++;
	}
	if (!new_list(r, a, LIST_TENSORS, n) || !n || !estimates)
		return;
	buf_reset(&r->tmp);
	json_each(tape, ops, k) {
		line_begin(r);
		buf_add_slice(&r->tmp, json_slice(tape, json_get(tape, k, "estimated_runtime_ns")));
		buf_addc(&r->tmp, ' ');
		buf_add_slice(&r->tmp, flat_text(r, json_get(tape, k, "name")));
	}
	new_list(r, a, LIST_ESTIMATES, 0); /* they are counted once */
}

/* {"graph_execution_order": [{"compile_id": "0/0"}, …]}, or texts instead of objects. */
static void take_order(struct trace_reading *r, const struct trace_artifact *a, uint32_t root)
{
	uint32_t list = json_get(&r->tape, root, "graph_execution_order"), n = 0;
	if (!json_is(&r->tape, list, JSON_ARRAY))
		return;
	buf_reset(&r->tmp);
	json_each(&r->tape, list, k) {
		uint32_t id = json_is(&r->tape, k, JSON_OBJECT) ? json_get(&r->tape, k, "compile_id") : k;
		if (!json_is(&r->tape, id, JSON_STRING) || n++ >= RANK_EVENTS)
			continue;
		line_begin(r);
		buf_add_slice(&r->tmp, flat_text(r, id));
	}
	new_list(r, a, LIST_ORDER, 0);
}

void reading_list(struct trace_reading *r, const struct trace_artifact *a, struct slice name, struct slice payload)
{
	if (slice_starts(name, "inductor_collective_schedule"))
		take_schedule(r, a, parse_payload(r, payload));
	else if (slice_starts(name, "inductor_runtime_and_tensor_meta"))
		take_tensors(r, a, parse_payload(r, payload));
	else if (slice_find(name, "graph_execution"))
		take_order(r, a, parse_payload(r, payload));
}

/* ---- collectives in generated code ---- */

/* Without comments of Python and C++; as in the Rust tlparse, a // in Python also ends the line. */
static void without_comments(struct buf *b, struct slice s)
{
	for (size_t i = 0; i < s.n;) {
		char c = s.p[i], next = i + 1 < s.n ? s.p[i + 1] : 0;
		if (c == '#' || (c == '/' && next == '/')) {
			const char *nl = memchr(s.p + i, '\n', s.n - i);
			i = nl ? (size_t)(nl - s.p) : s.n;
		} else if (c == '/' && next == '*') {
			const char *end = memmem(s.p + i + 2, s.n - i - 2, "*/", 2);
			if (!end) {
				buf_addc(b, c);
				i++;
			} else {
				i = (size_t)(end - s.p) + 2;
			}
		} else {
			buf_addc(b, c);
			i++;
		}
	}
}

static size_t blanks(struct slice s, size_t i)
{
	while (i < s.n && (s.p[i] == ' ' || s.p[i] == '\n' || s.p[i] == '\t' || s.p[i] == '\r'))
		i++;
	return i;
}

static size_t word(struct slice s, size_t i, const char *w)
{
	i = blanks(s, i);
	return i <= s.n && slice_starts(slice_of(s.p + i, s.n - i), w) ? i + strlen(w) : SIZE_MAX;
}

/* torch.ops._c10d_functional.NAME.default( : the calls of generated code. */
void reading_code(struct trace_reading *r, struct slice code)
{
	struct rank_counts *w = counts_of(r);
	w->code = true;
	if (!code.n || !memmem(code.p, code.n, "c10d_functional", 15))
		return;
	buf_reset(&r->tmp);
	without_comments(&r->tmp, code);
	struct slice s = buf_slice(&r->tmp);
	for (const char *p; (p = slice_find(s, "torch"));) {
		s = slice_of(p + 5, (size_t)(s.p + s.n - p - 5));
		static const char *const before[] = {".", "ops", "."};
		size_t i = 0, n;
		for (unsigned k = 0; k < 3 && i != SIZE_MAX; k++)
			i = word(s, i, before[k]);
		if (i == SIZE_MAX)
			continue;
		i = blanks(s, i);
		i += i < s.n && s.p[i] == '_';
		i = slice_starts(slice_of(s.p + i, s.n - i), "c10d_functional") ? word(s, i + 15, ".") : SIZE_MAX;
		if (i == SIZE_MAX)
			continue;
		i = blanks(s, i);
		for (n = 0; i + n < s.n && (s.p[i + n] == '_' || is_digit(s.p[i + n]) || is_letter(s.p[i + n])); n++)
			;
		struct slice op = slice_of(s.p + i, n);
		size_t end = n ? word(s, i + n, ".") : SIZE_MAX;
		end = end == SIZE_MAX ? end : word(s, end, "default");
		end = end == SIZE_MAX ? end : word(s, end, "(");
		if (end == SIZE_MAX)
			continue;
		int kind = collective_kind(op);
		if (slice_is(op, "wait_tensor"))
			w->waits++;
		else if (kind >= 0)
			w->in_code[kind]++;
	}
}

void reading_parity(struct trace_reading *r, const struct rank_counts *x, struct fact_src src)
{
	uint64_t difference = 0, calls = 0;
	if (!x->schedule || !x->code)
		return;
	for (unsigned k = 0; k < RANK_COLLECTIVES; k++) {
		difference += x->in_schedule[k] > x->in_code[k] ? x->in_schedule[k] - x->in_code[k] : x->in_code[k] - x->in_schedule[k];
		calls += x->in_code[k];
	}
	if (!difference && calls <= x->waits)
		return;
	struct fact_parity *to = facts_new_parity(r->f, src);
	to->compile = r->f->attempt[src.attempt].compile;
	to->difference = difference;
	to->missing_waits = calls > x->waits ? calls - x->waits : 0;
}

struct rank_attempt *reading_attempt(struct trace_reading *r, uint32_t attempt)
{
	struct rank_reading *x = &r->ranks;
	uint32_t k = attempt - r->t->from.attempt;
	if (k >= x->n_attempt) {
		GROW(x->attempt, x->n_attempt, x->cap_attempt, k - x->n_attempt + 1);
		memset(x->attempt + x->n_attempt, 0, (k - x->n_attempt + 1) * sizeof(*x->attempt));
		x->n_attempt = k + 1;
	}
	return &x->attempt[k];
}
