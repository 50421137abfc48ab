/* ranks_lists.c - what artifacts list: operators, tensors, the order in which graphs ran; and the collectives of generated code. */
#include "ranks/ranks_part.h"

static uint32_t token_name(struct rank_facts *f, const struct json_tape *tape, uint32_t k)
{
	return rank_name(f, json_text_at(tape, k, &f->work->tmp));
}

/* A payload that is strict JSON, or NONE. */
static uint32_t parse_payload(struct rank_facts *f, struct slice payload)
{
	struct json_tape *tape = &f->work->tape;
	uint32_t root;
	json_tape_text(tape, payload.p, payload.n);
	return utf8_valid(payload) && !json_parse(tape, 0, payload.n, &root) && !tape->loose ? root : NONE;
}

/* The kind of a collective, by any name it goes by: all_gather_into_tensor is an all_gather. */
static int collective_kind(struct slice op)
{
	static const char *const kind[] = {"all_reduce", "reduce_scatter", "all_gather", "broadcast", "all_to_all"};
	for (int i = 0; i < (int)ARRAY_LEN(kind); i++)
		if (slice_find(op, kind[i]))
			return i;
	return slice_find(op, "reduce") ? RANK_COLLECTIVES - 1 : -1;
}

static bool ops_room(struct rank_facts *f, uint32_t n)
{
	if (f->work->ops + n > RANK_OPS) {
		f->cut_ops++;
		return false;
	}
	f->work->ops += n;
	return true;
}

void rank_take_schedule(struct rank_facts *f, const struct trace *t, uint32_t artifact, struct slice payload, uint32_t compile)
{
	const struct json_tape *tape = &f->work->tape;
	uint32_t root = parse_payload(f, payload), n = 0, k;
	struct work_compile *w = rank_work_of(f, compile);
	w->schedule = true; /* a file is there, whatever it holds */
	if (!json_is(tape, root, JSON_ARRAY))
		return;
	for (k = json_first(tape, root); k < json_end(tape, root); k = json_next(tape, k), n++)
		if (!json_is(tape, k, JSON_STRING))
			return;
	if (!n || !ops_room(f, n))
		return;
	buf_reset(&f->work->tmp2);
	for (k = json_first(tape, root); k < json_end(tape, root); k = json_next(tape, k)) {
		struct rank_op op = {token_name(f, tape, k), NONE};
		int kind = collective_kind(intern_get(&f->names, op.name));
		if (kind >= 0)
			w->in_schedule[kind]++;
		buf_add(&f->work->tmp2, &op, sizeof(op));
	}
	GROW(f->schedule, f->n_schedule, f->cap_schedule, 1);
	f->schedule[f->n_schedule++] =
	    (struct rank_list){t->artifact[artifact].number, compile, rank_name(f, buf_slice(&f->work->tmp2)), n};
}

/* A JSON value without the white space between its tokens. */
static void add_dense(struct buf *b, struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] > ' ')
			buf_addc(b, s.p[i]);
}

static void add_tensors(struct buf *b, const struct json_tape *tape, uint32_t op)
{
	static const char *const head[] = {"name", "type"};
	for (unsigned i = 0; i < 2; i++) {
		uint32_t k = json_get(tape, op, head[i]);
		if (i)
			buf_addc(b, ' ');
		if (json_is(tape, k, JSON_STRING))
			rank_add_flat(b, json_slice(tape, k), 300);
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
	buf_addc(b, '\n');
}

void rank_take_tensors(struct rank_facts *f, const struct trace *t, uint32_t artifact, struct slice payload, uint32_t compile)
{
	const struct json_tape *tape = &f->work->tape;
	uint32_t root = parse_payload(f, payload), n = 0, k;
	uint32_t ops = root == NONE ? NONE : json_get(tape, root, "ops");
	if (!json_is(tape, ops, JSON_ARRAY)) {
		f->cut_ops++;
		return;
	}
	bool estimates = true;
	double d;
	for (k = json_first(tape, ops); k < json_end(tape, ops); k = json_next(tape, k), n++) {
		uint32_t name = json_get(tape, k, "name");
		estimates =
		    estimates && json_is(tape, name, JSON_STRING) && json_double(tape, json_get(tape, k, "estimated_runtime_ns"), &d);
	}
	if (!ops_room(f, n))
		return;
	uint64_t number = t->artifact[artifact].number;
	buf_reset(&f->work->tmp2);
	for (k = json_first(tape, ops); k < json_end(tape, ops); k = json_next(tape, k))
		add_tensors(&f->work->tmp2, tape, k);
	GROW(f->tensors, f->n_tensors, f->cap_tensors, 1);
	f->tensors[f->n_tensors++] = (struct rank_list){number, compile, rank_name(f, buf_slice(&f->work->tmp2)), n};
	if (!n || !estimates)
		return;
	buf_reset(&f->work->tmp2);
	for (k = json_first(tape, ops); k < json_end(tape, ops); k = json_next(tape, k)) {
		struct rank_op op = {token_name(f, tape, json_get(tape, k, "name")), 0};
		op.ns = rank_name(f, json_slice(tape, json_get(tape, k, "estimated_runtime_ns")));
		buf_add(&f->work->tmp2, &op, sizeof(op));
	}
	GROW(f->estimate, f->n_estimate, f->cap_estimate, 1);
	f->estimate[f->n_estimate++] = (struct rank_list){number, compile, rank_name(f, buf_slice(&f->work->tmp2)), n};
}

/* {"graph_execution_order": [{"compile_id": "0/0"}, …]}, or texts instead of objects; the last such artifact counts. */
void rank_take_order(struct rank_facts *f, struct slice payload)
{
	const struct json_tape *tape = &f->work->tape;
	uint32_t root = parse_payload(f, payload);
	uint32_t list = root == NONE ? NONE : json_get(tape, root, "graph_execution_order");
	if (!json_is(tape, list, JSON_ARRAY))
		return;
	f->has_order = true;
	f->n_order = 0;
	for (uint32_t k = json_first(tape, list); k < json_end(tape, list) && f->n_order < RANK_EVENTS; k = json_next(tape, k)) {
		uint32_t id = json_is(tape, k, JSON_OBJECT) ? json_get(tape, k, "compile_id") : k;
		if (!json_is(tape, id, JSON_STRING))
			continue;
		GROW(f->order, f->n_order, f->cap_order, 1);
		f->order[f->n_order++] = token_name(f, tape, id);
	}
}

/* ---- collectives in generated code ---- */

/* Without comments of Python and C++; as the Rust tlparse, a // of Python ends the line too. */
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
void rank_take_code(struct rank_facts *f, struct slice code, uint32_t compile)
{
	struct work_compile *w = rank_work_of(f, compile);
	w->code = true;
	if (!code.n || !memmem(code.p, code.n, "c10d_functional", 15))
		return;
	buf_reset(&f->work->tmp);
	without_comments(&f->work->tmp, code);
	struct slice s = buf_slice(&f->work->tmp);
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
		for (n = 0; i + n < s.n && (s.p[i + n] == '_' || (s.p[i + n] >= '0' && s.p[i + n] <= '9') ||
					    (s.p[i + n] >= 'a' && s.p[i + n] <= 'z') || (s.p[i + n] >= 'A' && s.p[i + n] <= 'Z'));
		     n++)
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

void rank_take_parity(struct rank_facts *f)
{
	for (uint32_t i = 0; i < f->work->n_compile; i++) {
		const struct work_compile *w = &f->work->compile[i];
		uint64_t offset = 0, calls = 0;
		if (!w->schedule || !w->code || i >= f->n_compile)
			continue;
		for (unsigned k = 0; k < RANK_COLLECTIVES; k++) {
			offset += w->in_schedule[k] > w->in_code[k] ? w->in_schedule[k] - w->in_code[k] : w->in_code[k] - w->in_schedule[k];
			calls += w->in_code[k];
		}
		if (!offset && calls <= w->waits)
			continue;
		GROW(f->parity, f->n_parity, f->cap_parity, 1);
		f->parity[f->n_parity++] = (struct rank_parity){i, offset, calls > w->waits ? calls - w->waits : 0};
	}
}
