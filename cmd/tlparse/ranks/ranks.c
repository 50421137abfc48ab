/* ranks.c - the facts of one log: out of its records, into JSON and back. */
#include "ranks/ranks.h"
#include "base/srcloc.h"

#define NIL UINT32_MAX

const char *const rank_event_name[RANK_EVENT_COUNT] = {
#define X(id, name, text) name,
    RANK_EVENT_KINDS(X)
#undef X
};
const char *const rank_event_text[RANK_EVENT_COUNT] = {
#define X(id, name, text) text,
    RANK_EVENT_KINDS(X)
#undef X
};

enum { OPS = 6 }; /* collectives that are counted */

/* What one compile id has been seen to do: for spans, and for the count of collectives in schedule and code. */
struct work_compile {
	int64_t first, last;
	bool seen, closed, schedule, code, no_attempt;
	uint64_t in_schedule[OPS], in_code[OPS], waits;
};
struct rank_work {
	struct buf tmp, tmp2;
	struct json_tape tape;
	ROWS(struct work_compile, compile);
	uint32_t seen_brk, seen_recompile, seen_failure;
	size_t text[2]; /* bytes of graphs kept: captured, made */
	uint64_t ops;
	struct intern graphs; /* fingerprints of graphs kept */
};

int64_t rank_of_path(const char *path)
{
	static const char prefix[] = "dedicated_log_torch_trace_rank_";
	const char *slash = strrchr(path, '/');
	struct slice base = slice_str(slash ? slash + 1 : path);
	uint64_t rank;
	if (!slice_starts(base, prefix))
		return -1;
	base = slice_of(base.p + sizeof(prefix) - 1, base.n - sizeof(prefix) + 1);
	size_t n = 0;
	while (n < base.n && base.p[n] >= '0' && base.p[n] <= '9')
		n++;
	if (n == base.n || (base.p[n] != '_' && base.p[n] != '.'))
		return -1;
	return slice_u64(slice_of(base.p, n), &rank) && rank <= UINT32_MAX ? (int64_t)rank : -1;
}

void rank_facts_init(struct rank_facts *f, const char *path)
{
	*f = (struct rank_facts){.path = xstrdup(path), .rank = rank_of_path(path), .record_rank = -1, .torch_version = INTERN_NONE};
	f->work = xcalloc(1, sizeof(*f->work));
}

static void work_free(struct rank_facts *f)
{
	if (!f->work)
		return;
	buf_release(&f->work->tmp);
	buf_release(&f->work->tmp2);
	json_tape_release(&f->work->tape);
	intern_release(&f->work->graphs);
	free(f->work->compile);
	free(f->work);
	f->work = NULL;
}

void rank_facts_release(struct rank_facts *f)
{
	work_free(f);
	intern_release(&f->names);
	free(f->path);
	free(f->name);
	free(f->compile);
	free(f->event);
	free(f->span);
	free(f->mark);
	free(f->schedule);
	free(f->tensors);
	free(f->estimate);
	free(f->graph);
	free(f->parity);
	free(f->order);
	*f = (struct rank_facts){0};
}

/* ---- texts ---- */

/* cuda:3 and index=3 are cuda:* and index=*: every rank has a device of its own. */
static void without_devices(struct buf *b, struct slice s)
{
	static const char *const mark[] = {"cuda:", "xpu:", "hpu:", "npu:", "privateuseone:", "index="};
	for (size_t i = 0; i < s.n;) {
		char c = s.p[i];
		if (c == 'c' || c == 'x' || c == 'h' || c == 'n' || c == 'p' || c == 'i') {
			size_t n = 0;
			for (unsigned k = 0; k < ARRAY_LEN(mark) && !n; k++)
				if (slice_starts(slice_of(s.p + i, s.n - i), mark[k]))
					n = strlen(mark[k]);
			if (n && i + n < s.n && s.p[i + n] >= '0' && s.p[i + n] <= '9') {
				buf_add(b, s.p + i, n);
				buf_addc(b, '*');
				for (i += n; i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++)
					;
				continue;
			}
		}
		buf_addc(b, c);
		i++;
	}
}

static uint64_t fingerprint(struct slice s, struct buf *tmp)
{
	/* Most graphs name no numbered device: two or three quick searches instead of a copy. */
	if (s.n &&
	    (memmem(s.p, s.n, "pu:", 3) || memmem(s.p, s.n, "da:", 3) || memmem(s.p, s.n, "one:", 4) || memmem(s.p, s.n, "index=", 6))) {
		buf_reset(tmp);
		without_devices(tmp, s);
		s = buf_slice(tmp);
	}
	uint64_t h = hash_bytes(s.p, s.n);
	return h ? h : 1;
}

uint64_t rank_fingerprint(struct slice text)
{
	struct buf tmp = {0};
	uint64_t h = fingerprint(text, &tmp);
	buf_release(&tmp);
	return h;
}

/* Reasons name objects by their address and types by their number: every process has its own. */
static uint64_t reason_fp(struct slice s, struct buf *tmp)
{
	buf_reset(tmp);
	for (size_t i = 0; i < s.n;) {
		size_t n = 0;
		bool hex = i + 2 < s.n && s.p[i] == '0' && s.p[i + 1] == 'x';
		if (hex)
			n = 2;
		while (i + n < s.n && ((s.p[i + n] >= '0' && s.p[i + n] <= '9') || (hex && s.p[i + n] >= 'a' && s.p[i + n] <= 'f')))
			n++;
		if (n >= 7) {
			buf_addc(tmp, '#');
			i += n;
		} else {
			n += n == 0;
			buf_add(tmp, s.p + i, n);
			i += n;
		}
	}
	return hash_bytes(tmp->p, tmp->len);
}

static uint32_t name_of(struct rank_facts *f, struct slice s) { return intern_add(&f->names, s); }

static struct slice text_of(const struct trace *t, uint32_t name) { return name == INTERN_NONE ? SLICE("") : intern_get(&t->names, name); }

/* One line, no control bytes, not too long. */
static void add_flat(struct buf *b, struct slice s, size_t most)
{
	size_t n = s.n;
	if (n > most)
		for (n = most; n && ((unsigned char)s.p[n] & 0xc0) == 0x80; n--)
			;
	for (size_t i = 0; i < n; i++)
		buf_addc(b, (unsigned char)s.p[i] < 32 ? ' ' : s.p[i]);
	if (n < s.n)
		buf_adds(b, " …");
}

static void add_loc(struct buf *b, struct slice file, int64_t line, struct slice function)
{
	add_flat(b, function.n ? function : SLICE("?"), 200);
	if (file.n) {
		buf_adds(b, " (");
		add_flat(b, srcloc_short_file(file), 300);
		if (line > 0)
			buf_addf(b, ":%lld", (long long)line);
		buf_addc(b, ')');
	}
}

/* ---- time ---- */

/* Microseconds since the start of a leap year: the lines of a log name no year. */
static int64_t time_of(const struct trace_record *r)
{
	static const uint16_t before[] = {0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335};
	unsigned month = r->month_day / 100u, day = r->month_day % 100u;
	int64_t days = month >= 1 && month <= 12 ? before[month - 1] + (int64_t)day - 1 : 0;
	return days * 86400000000 + (int64_t)(r->usec % 86400000000ull);
}

enum { DAY = 86400 };
static int64_t since_start(const struct rank_facts *f, int64_t at)
{
	if (at < f->start - (int64_t)180 * DAY * 1000000)
		at += (int64_t)366 * DAY * 1000000; /* New Year */
	return at < f->start ? 0 : at - f->start;
}

/* ---- records ---- */

static struct work_compile *work_of(struct rank_facts *f, uint32_t compile)
{
	struct rank_work *w = f->work;
	if (compile >= w->n_compile) {
		GROW(w->compile, w->n_compile, w->cap_compile, compile - w->n_compile + 1);
		memset(w->compile + w->n_compile, 0, (compile - w->n_compile + 1) * sizeof(*w->compile));
		w->n_compile = compile + 1;
	}
	return &w->compile[compile];
}

static void add_event(struct rank_facts *f, enum rank_event_kind kind, uint32_t compile, uint64_t line, uint64_t fp, uint32_t text,
		      enum rank_cache cache)
{
	if (f->n_event >= RANK_EVENTS) {
		f->cut_events++;
		return;
	}
	GROW(f->event, f->n_event, f->cap_event, 1);
	f->event[f->n_event++] = (struct rank_event){fp, line, compile, text, (uint8_t)kind, (uint8_t)cache};
}

static void add_mark(struct rank_facts *f, enum rank_event_kind kind, uint32_t compile, int64_t at, uint32_t text)
{
	if (f->n_mark >= RANK_EVENTS)
		return;
	GROW(f->mark, f->n_mark, f->cap_mark, 1);
	f->mark[f->n_mark++] = (struct rank_mark){at, compile, text, (uint8_t)kind};
}

static void take_graph(struct rank_facts *f, const struct trace_scan *s, const struct trace_record *r, struct slice what, bool captured,
		       uint64_t line)
{
	struct rank_work *w = f->work;
	struct slice text = trace_payload(s, r);
	uint64_t fp = fingerprint(text, &w->tmp);
	buf_reset(&w->tmp);
	if (!slice_is(what, "dynamo_output_graph") || r->nodes < 0) {
		add_flat(&w->tmp, what, 200);
		buf_adds(&w->tmp, r->nodes >= 0 ? ", " : "");
	}
	if (r->nodes >= 0)
		buf_addf(&w->tmp, "%d node%s", r->nodes, r->nodes == 1 ? "" : "s");
	add_event(f, captured ? RANK_GRAPH : RANK_MADE, r->compile, line, fp, name_of(f, buf_slice(&w->tmp)), RANK_CACHE_NONE);
	uint32_t before = w->graphs.n;
	if (intern_add(&w->graphs, slice_of((const char *)&fp, sizeof(fp))) < before)
		return;
	bool cut = text.n > RANK_TEXT_ONE;
	if (cut) {
		const char *nl = memrchr(text.p, '\n', RANK_TEXT_ONE);
		text.n = nl ? (size_t)(nl - text.p) + 1 : RANK_TEXT_ONE;
	}
	if (w->text[captured] + text.n > RANK_TEXT_LOG || f->n_graph >= RANK_EVENTS) {
		f->cut_graphs++;
		return;
	}
	w->text[captured] += text.n;
	GROW(f->graph, f->n_graph, f->cap_graph, 1);
	f->graph[f->n_graph++] = (struct rank_graph){fp, name_of(f, text), cut};
}

static uint32_t token_name(struct rank_facts *f, const struct json_tape *tape, uint32_t k)
{
	if (!tape->tok[k].escaped)
		return name_of(f, json_slice(tape, k));
	buf_reset(&f->work->tmp);
	json_unescape(tape, k, &f->work->tmp);
	return name_of(f, buf_slice(&f->work->tmp));
}

/* A payload that is strict JSON, or JSON_NONE. */
static uint32_t parse_payload(struct rank_facts *f, struct slice payload)
{
	struct json_tape *tape = &f->work->tape;
	uint32_t root;
	json_tape_text(tape, payload.p, payload.n);
	return utf8_valid(payload) && !json_parse(tape, 0, payload.n, &root) && !tape->loose ? root : JSON_NONE;
}

/* The kind of a collective, by any name it goes by: all_gather_into_tensor is an all_gather. */
static int collective_kind(struct slice op)
{
	static const char *const kind[] = {"all_reduce", "reduce_scatter", "all_gather", "broadcast", "all_to_all"};
	for (int i = 0; i < (int)ARRAY_LEN(kind); i++)
		if (slice_find(op, kind[i]))
			return i;
	return slice_find(op, "reduce") ? OPS - 1 : -1;
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

static void take_schedule(struct rank_facts *f, const struct trace *t, uint32_t artifact, struct slice payload, uint32_t compile)
{
	const struct json_tape *tape = &f->work->tape;
	uint32_t root = parse_payload(f, payload), n = 0, k;
	struct work_compile *w = work_of(f, compile);
	w->schedule = true; /* a file is there, whatever it holds */
	if (root == JSON_NONE || !json_is(tape, root, JSON_ARRAY))
		return;
	for (k = json_first(tape, root); k < json_end(tape, root); k = json_next(tape, k), n++)
		if (!json_is(tape, k, JSON_STRING))
			return;
	if (!n || !ops_room(f, n))
		return;
	buf_reset(&f->work->tmp2);
	for (k = json_first(tape, root); k < json_end(tape, root); k = json_next(tape, k)) {
		struct rank_op op = {token_name(f, tape, k), INTERN_NONE};
		int kind = collective_kind(intern_get(&f->names, op.name));
		if (kind >= 0)
			w->in_schedule[kind]++;
		buf_add(&f->work->tmp2, &op, sizeof(op));
	}
	GROW(f->schedule, f->n_schedule, f->cap_schedule, 1);
	f->schedule[f->n_schedule++] = (struct rank_list){t->artifact[artifact].number, compile, name_of(f, buf_slice(&f->work->tmp2)), n};
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
		if (k != JSON_NONE && json_is(tape, k, JSON_STRING))
			add_flat(b, json_slice(tape, k), 300);
	}
	buf_addc(b, ':');
	uint32_t out = json_get(tape, op, "outputs");
	if (out != JSON_NONE && json_is(tape, out, JSON_ARRAY))
		for (uint32_t k = json_first(tape, out); k < json_end(tape, out); k = json_next(tape, k)) {
			uint32_t type = json_get(tape, k, "dtype"), shape = json_get(tape, k, "shape"),
				 stride = json_get(tape, k, "stride");
			buf_addc(b, ' ');
			add_dense(b, type != JSON_NONE ? json_slice(tape, type) : SLICE("?"));
			add_dense(b, shape != JSON_NONE ? json_raw(tape, shape) : SLICE("[?]"));
			buf_addc(b, '/');
			add_dense(b, stride != JSON_NONE ? json_raw(tape, stride) : SLICE("[?]"));
		}
	buf_addc(b, '\n');
}

static void take_tensor_meta(struct rank_facts *f, const struct trace *t, uint32_t artifact, struct slice payload, uint32_t compile)
{
	const struct json_tape *tape = &f->work->tape;
	uint32_t root = parse_payload(f, payload), n = 0, k;
	uint32_t ops = root == JSON_NONE ? JSON_NONE : json_get(tape, root, "ops");
	if (ops == JSON_NONE || !json_is(tape, ops, JSON_ARRAY)) {
		f->cut_ops++;
		return;
	}
	bool estimates = true;
	double d;
	for (k = json_first(tape, ops); k < json_end(tape, ops); k = json_next(tape, k), n++) {
		uint32_t name = json_get(tape, k, "name");
		estimates = estimates && name != JSON_NONE && json_is(tape, name, JSON_STRING) &&
			    json_double(tape, json_get(tape, k, "estimated_runtime_ns"), &d);
	}
	if (!ops_room(f, n))
		return;
	uint64_t number = t->artifact[artifact].number;
	buf_reset(&f->work->tmp2);
	for (k = json_first(tape, ops); k < json_end(tape, ops); k = json_next(tape, k))
		add_tensors(&f->work->tmp2, tape, k);
	GROW(f->tensors, f->n_tensors, f->cap_tensors, 1);
	f->tensors[f->n_tensors++] = (struct rank_list){number, compile, name_of(f, buf_slice(&f->work->tmp2)), n};
	if (!n || !estimates)
		return;
	buf_reset(&f->work->tmp2);
	for (k = json_first(tape, ops); k < json_end(tape, ops); k = json_next(tape, k)) {
		struct rank_op op = {token_name(f, tape, json_get(tape, k, "name")), 0};
		op.ns = name_of(f, json_slice(tape, json_get(tape, k, "estimated_runtime_ns")));
		buf_add(&f->work->tmp2, &op, sizeof(op));
	}
	GROW(f->estimate, f->n_estimate, f->cap_estimate, 1);
	f->estimate[f->n_estimate++] = (struct rank_list){number, compile, name_of(f, buf_slice(&f->work->tmp2)), n};
}

/* {"graph_execution_order": [{"compile_id": "0/0"}, …]}, or texts instead of objects; the last such artifact counts. */
static void take_order(struct rank_facts *f, struct slice payload)
{
	const struct json_tape *tape = &f->work->tape;
	uint32_t root = parse_payload(f, payload);
	uint32_t list = root == JSON_NONE ? JSON_NONE : json_get(tape, root, "graph_execution_order");
	if (list == JSON_NONE || !json_is(tape, list, JSON_ARRAY))
		return;
	f->has_order = true;
	f->n_order = 0;
	for (uint32_t k = json_first(tape, list); k < json_end(tape, list) && f->n_order < RANK_EVENTS; k = json_next(tape, k)) {
		uint32_t id = json_is(tape, k, JSON_OBJECT) ? json_get(tape, k, "compile_id") : k;
		if (id == JSON_NONE || !json_is(tape, id, JSON_STRING))
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
static void take_code(struct rank_facts *f, struct slice code, uint32_t compile)
{
	struct work_compile *w = work_of(f, compile);
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

static void take_parity(struct rank_facts *f)
{
	for (uint32_t i = 0; i < f->work->n_compile; i++) {
		const struct work_compile *w = &f->work->compile[i];
		uint64_t offset = 0, calls = 0;
		if (!w->schedule || !w->code || i >= f->n_compile)
			continue;
		for (unsigned k = 0; k < OPS; k++) {
			offset += w->in_schedule[k] > w->in_code[k] ? w->in_schedule[k] - w->in_code[k] : w->in_code[k] - w->in_schedule[k];
			calls += w->in_code[k];
		}
		if (!offset && calls <= w->waits)
			continue;
		GROW(f->parity, f->n_parity, f->cap_parity, 1);
		f->parity[f->n_parity++] = (struct rank_parity){i, offset, calls > w->waits ? calls - w->waits : 0};
	}
}

/* ---- one record ---- */

static void add_span(struct rank_facts *f, uint32_t compile, int64_t end, double seconds, enum rank_span_kind kind)
{
	int64_t us = seconds > 0 && seconds < 1e6 ? (int64_t)(seconds * 1e6) : 0;
	struct work_compile *w = work_of(f, compile);
	if (kind == RANK_SPAN_COMPILE && (!us || us < end - w->first))
		us = w->closed ? us : end - w->first; /* the log's own clock is there; a metric may leave out what came before */
	w->closed = true;
	if (f->n_span >= RANK_EVENTS)
		return;
	GROW(f->span, f->n_span, f->cap_span, 1);
	f->span[f->n_span++] = (struct rank_span){us > end ? 0 : end - us, end, compile, (uint8_t)kind};
}

static void take_artifact(struct rank_facts *f, const struct trace *t, const struct trace_scan *s, const struct trace_record *r,
			  uint32_t index, uint64_t line)
{
	const struct trace_artifact *a = &t->artifact[index];
	struct slice name = intern_get(&t->names, a->name), payload = trace_payload(s, r);
	if (a->flags & (ART_HIT | ART_MISS | ART_BYPASS)) {
		struct buf *b = &f->work->tmp;
		buf_reset(b);
		add_flat(b, name, 200);
		add_event(f, RANK_CACHE, r->compile, line, hash_bytes(name.p, name.n), name_of(f, buf_slice(b)),
			  a->flags & ART_MISS  ? RANK_CACHE_MISS
			  : a->flags & ART_HIT ? RANK_CACHE_HIT
					       : RANK_CACHE_BYPASS);
	}
	if (a->kind == KIND_inductor_output_code)
		take_code(f, payload, r->compile);
	if (a->kind != KIND_artifact)
		return;
	if (a->flags & ART_JSON && !memchr(name.p, '/', name.n)) {
		if (slice_starts(name, "inductor_collective_schedule"))
			take_schedule(f, t, index, payload, r->compile);
		else if (slice_starts(name, "inductor_runtime_and_tensor_meta"))
			take_tensor_meta(f, t, index, payload, r->compile);
		else if (slice_find(name, "graph_execution"))
			take_order(f, payload);
	}
	if (slice_starts(name, "inductor_post_grad_graph"))
		take_graph(f, s, r, name, false, line);
}

static void take_rows(struct rank_facts *f, const struct trace *t, int64_t at)
{
	struct rank_work *w = f->work;
	for (; w->seen_brk < t->n_brk; w->seen_brk++) {
		const struct trace_break *b = &t->brk[w->seen_brk];
		struct slice reason = text_of(t, b->reason);
		buf_reset(&w->tmp);
		if (b->loc.file != INTERN_NONE) {
			add_flat(&w->tmp, srcloc_short_file(text_of(t, b->loc.file)), 300);
			buf_addf(&w->tmp, ":%u: ", b->loc.line);
		}
		add_flat(&w->tmp, reason, 300);
		uint32_t text = name_of(f, buf_slice(&w->tmp));
		add_event(f, RANK_BREAK, b->compile, b->line, reason_fp(buf_slice(&w->tmp), &w->tmp2), text, RANK_CACHE_NONE);
		add_mark(f, RANK_BREAK, b->compile, at, text);
	}
	for (; w->seen_recompile < t->n_recompile; w->seen_recompile++) {
		const struct trace_recompile *x = &t->recompile[w->seen_recompile];
		struct slice line, rest = text_of(t, x->reason);
		if (!slice_line(&rest, &line))
			line = SLICE("");
		buf_reset(&w->tmp);
		add_flat(&w->tmp, line, 300);
		uint32_t text = name_of(f, buf_slice(&w->tmp));
		add_event(f, RANK_RECOMPILE, x->compile, x->line, reason_fp(buf_slice(&w->tmp), &w->tmp2), text, RANK_CACHE_NONE);
		add_mark(f, RANK_RECOMPILE, x->compile, at, text);
	}
	for (; w->seen_failure < t->n_failure; w->seen_failure++) {
		const struct trace_failure *x = &t->failure[w->seen_failure];
		if (x->type == INTERN_NONE)
			continue;
		buf_reset(&w->tmp);
		add_flat(&w->tmp, text_of(t, x->type), 200);
		uint64_t fp = hash_bytes(w->tmp.p, w->tmp.len);
		buf_adds(&w->tmp, ": ");
		add_flat(&w->tmp, text_of(t, x->reason), 300);
		uint32_t text = name_of(f, buf_slice(&w->tmp));
		add_event(f, RANK_FAILURE, x->compile, x->line, fp, text, RANK_CACHE_NONE);
		add_mark(f, RANK_FAILURE, x->compile, at, text);
	}
}

static void take_start(struct rank_facts *f, const struct trace *t, uint32_t compile, uint64_t line)
{
	struct rank_work *w = f->work;
	uint32_t node = t->compile[compile].stack, text = INTERN_NONE;
	buf_reset(&w->tmp);
	if (node != NIL) {
		const struct trace_frame *x = &t->frame[t->starts.node[node].frame];
		add_loc(&w->tmp, text_of(t, x->file), x->line, text_of(t, x->name));
		text = name_of(f, buf_slice(&w->tmp));
	}
	add_event(f, RANK_START, compile, line, hash_bytes(w->tmp.p, w->tmp.len), text, RANK_CACHE_NONE);
}

void rank_facts_take(struct rank_facts *f, const struct trace *t, const struct trace_scan *s, const struct trace_record *r)
{
	if (r->flags & (REC_NO_PREFIX | REC_NO_JSON | REC_MALFORMED | REC_LOOSE | REC_OTHER_RANK))
		return;
	int64_t at = time_of(r);
	if (!f->records++)
		f->start = at;
	at = since_start(f, at);
	if (at > f->end)
		f->end = at;
	if (r->compile == NIL || r->compile >= t->n_compile)
		return;
	struct work_compile *w = work_of(f, r->compile);
	if (!w->seen) {
		w->seen = true;
		w->first = at;
		w->no_attempt = r->flags & REC_NO_ATTEMPT;
	}
	w->last = at;
	if (r->kinds == 1ull << KIND_chromium_event)
		return;
	static const uint64_t captured = 1ull << KIND_dynamo_output_graph | 1ull << KIND_compiled_autograd_graph |
					 1ull << KIND_optimize_ddp_split_graph | 1ull << KIND_optimize_ddp_split_child;
	uint64_t line = s->first_line + r->line;
	if (r->kinds >> KIND_dynamo_start & 1)
		take_start(f, t, r->compile, line);
	for (uint64_t k = r->kinds; k && r->payload_len; k &= k - 1) {
		unsigned kind = (unsigned)__builtin_ctzll(k);
		if (trace_kind[kind].flags & K_GRAPH)
			take_graph(f, s, r, slice_of(trace_kind[kind].name, trace_kind[kind].name_len), captured >> kind & 1, line);
	}
	for (uint32_t i = 0; i < r->artifacts; i++)
		take_artifact(f, t, s, r, r->first_artifact + i, line);
	take_rows(f, t, at);
	double d;
	if (r->kinds >> KIND_compilation_metrics & 1)
		add_span(f, r->compile, at, t->compile[r->compile].seconds, RANK_SPAN_COMPILE);
	if (r->kinds >> KIND_bwd_compilation_metrics & 1) {
		uint32_t v = trace_value(s, r, KIND_bwd_compilation_metrics);
		if (json_double(&s->tape, json_get(&s->tape, v, "duration_us"), &d))
			d /= 1e6;
		else if (!json_double(&s->tape, json_get(&s->tape, v, "inductor_compile_time_s"), &d))
			d = 0;
		add_span(f, r->compile, at, d, RANK_SPAN_BACKWARD);
	}
}

static int by_start(const void *a, const void *b)
{
	const struct rank_span *x = a, *y = b;
	return x->start != y->start ? (x->start > y->start) - (x->start < y->start) : (x->compile > y->compile) - (x->compile < y->compile);
}

void rank_facts_finish(struct rank_facts *f, const struct trace *t)
{
	struct rank_work *w = f->work;
	char text[COMPILE_ID_TEXT];
	f->record_rank = t->rank;
	if (f->rank < 0)
		f->rank = t->rank;
	f->pid = t->pid;
	if (t->torch_version != INTERN_NONE)
		f->torch_version = name_of(f, intern_get(&t->names, t->torch_version));
	memcpy(f->damage, t->damage, sizeof(f->damage));
	for (uint32_t i = 0; i < t->n_compile && i < RANK_EVENTS; i++) {
		const struct trace_compile *c = &t->compile[i];
		struct compile_id id = c->id;
		struct work_compile *x = work_of(f, i);
		struct rank_compile row = {.loc = INTERN_NONE, .us = -1, .breaks = c->breaks, .status = (uint8_t)c->status};
		row.unknown = id.bad_line != 0;
		row.id = name_of(f, slice_str(compile_id_text(&id, text)));
		if (id.bad_line)
			snprintf(text, sizeof(text), "unknown_%lld", (long long)id.bad_line);
		else if (x->no_attempt)
			id.attempt = -1;
		row.dir = name_of(f, slice_str(id.bad_line ? text : compile_id_dir(&id, text)));
		if (c->seconds >= 0 && c->seconds < 1e9)
			row.us = (int64_t)(c->seconds * 1e6 + 0.5);
		buf_reset(&w->tmp);
		if (c->loc.file != INTERN_NONE) {
			add_loc(&w->tmp, text_of(t, c->loc.file), c->loc.line, text_of(t, c->loc.function));
			row.loc = name_of(f, buf_slice(&w->tmp));
		} else if (c->stack != NIL) {
			const struct trace_frame *fr = &t->frame[t->starts.node[c->stack].frame];
			add_loc(&w->tmp, text_of(t, fr->file), fr->line, text_of(t, fr->name));
			row.loc = name_of(f, buf_slice(&w->tmp));
		}
		GROW(f->compile, f->n_compile, f->cap_compile, 1);
		f->compile[f->n_compile++] = row;
		if (x->seen && !x->closed && c->id.frame >= 0 && !row.unknown && f->n_span < RANK_EVENTS) {
			GROW(f->span, f->n_span, f->cap_span, 1);
			f->span[f->n_span++] = (struct rank_span){x->first, x->last, i, RANK_SPAN_OPEN};
		}
	}
	/* Compile ids beyond the limit: what refers to them goes. */
	uint32_t n = 0;
	for (uint32_t i = 0; i < f->n_event; i++) {
		if (f->event[i].compile >= f->n_compile) {
			f->cut_events++;
			continue;
		}
		if (f->event[i].cache > f->compile[f->event[i].compile].cache)
			f->compile[f->event[i].compile].cache = f->event[i].cache;
		f->event[n++] = f->event[i];
	}
	f->n_event = n;
#define KEEP(rows) \
	do { \
		n = 0; \
		for (uint32_t i = 0; i < f->n_##rows; i++) \
			if (f->rows[i].compile < f->n_compile) \
				f->rows[n++] = f->rows[i]; \
		f->n_##rows = n; \
	} while (0)
	KEEP(span);
	KEEP(mark);
	KEEP(schedule);
	KEEP(tensors);
	KEEP(estimate);
	if (f->n_span)
		qsort(f->span, f->n_span, sizeof(*f->span), by_start);
	take_parity(f);
	work_free(f);
}

/* ---- JSON ---- */

static void put_name(struct json_out *o, uint32_t name)
{
	if (name == INTERN_NONE)
		json_out_i64(o, -1);
	else
		json_out_u64(o, name);
}

static void put_fp(struct json_out *o, uint64_t fp)
{
	char text[17];
	snprintf(text, sizeof(text), "%016llx", (unsigned long long)fp);
	json_out_str(o, slice_of(text, 16));
}

static void put_list(struct json_out *o, const char *key)
{
	json_key(o, key);
	json_arr(o);
}

static void put_ops(struct json_out *o, const struct rank_facts *f, const char *key, const struct rank_list *row, uint32_t n)
{
	put_list(o, key);
	for (uint32_t i = 0; i < n; i++) {
		const struct rank_op *op = rank_ops(&f->names, &row[i]);
		json_arr(o);
		json_out_u64(o, row[i].compile);
		json_out_u64(o, row[i].number);
		json_arr(o);
		for (uint32_t k = 0; k < row[i].ops; k++) {
			json_out_u64(o, op[k].name);
			if (op[k].ns != INTERN_NONE)
				json_out_raw(o, intern_get(&f->names, op[k].ns));
		}
		json_close(o);
		json_close(o);
	}
	json_close(o);
}

void rank_facts_out(const struct rank_facts *f, struct json_out *o)
{
	json_obj(o);
	json_key(o, "version");
	json_out_u64(o, 1);
	json_key(o, "rank");
	if (f->rank < 0)
		json_out_null(o);
	else
		json_out_i64(o, f->rank);
	json_key(o, "records");
	json_out_u64(o, f->records);
	json_key(o, "start");
	json_out_i64(o, f->start);
	json_key(o, "end");
	json_out_i64(o, f->end);
	json_key(o, "torch_version");
	put_name(o, f->torch_version);
	put_list(o, "compiles");
	for (uint32_t i = 0; i < f->n_compile; i++) {
		const struct rank_compile *c = &f->compile[i];
		json_arr(o);
		put_name(o, c->id);
		put_name(o, c->dir);
		put_name(o, c->loc);
		json_out_i64(o, c->us);
		json_out_u64(o, c->breaks);
		json_out_u64(o, c->status);
		json_out_u64(o, c->unknown);
		json_close(o);
	}
	json_close(o);
	put_list(o, "events");
	for (uint32_t i = 0; i < f->n_event; i++) {
		const struct rank_event *e = &f->event[i];
		json_arr(o);
		json_out_str(o, slice_str(rank_event_name[e->kind]));
		json_out_u64(o, e->compile);
		put_fp(o, e->fp);
		put_name(o, e->text);
		json_out_u64(o, e->line);
		json_out_u64(o, e->cache);
		json_close(o);
	}
	json_close(o);
	put_list(o, "spans");
	for (uint32_t i = 0; i < f->n_span; i++) {
		json_arr(o);
		json_out_u64(o, f->span[i].compile);
		json_out_i64(o, f->span[i].start);
		json_out_i64(o, f->span[i].end);
		json_out_u64(o, f->span[i].kind);
		json_close(o);
	}
	json_close(o);
	put_list(o, "marks");
	for (uint32_t i = 0; i < f->n_mark; i++) {
		json_arr(o);
		json_out_str(o, slice_str(rank_event_name[f->mark[i].kind]));
		json_out_u64(o, f->mark[i].compile);
		json_out_i64(o, f->mark[i].at);
		put_name(o, f->mark[i].text);
		json_close(o);
	}
	json_close(o);
	put_ops(o, f, "schedules", f->schedule, f->n_schedule);
	put_ops(o, f, "estimates", f->estimate, f->n_estimate);
	put_list(o, "tensors");
	for (uint32_t i = 0; i < f->n_tensors; i++) {
		json_arr(o);
		json_out_u64(o, f->tensors[i].compile);
		json_out_u64(o, f->tensors[i].number);
		put_name(o, f->tensors[i].text);
		json_out_u64(o, f->tensors[i].ops);
		json_close(o);
	}
	json_close(o);
	json_key(o, "order");
	if (f->has_order) {
		json_arr(o);
		for (uint32_t i = 0; i < f->n_order; i++)
			put_name(o, f->order[i]);
		json_close(o);
	} else {
		json_out_null(o);
	}
	put_list(o, "parity");
	for (uint32_t i = 0; i < f->n_parity; i++) {
		json_arr(o);
		json_out_u64(o, f->parity[i].compile);
		json_out_u64(o, f->parity[i].offset);
		json_out_u64(o, f->parity[i].missing_waits);
		json_close(o);
	}
	json_close(o);
	put_list(o, "graphs");
	for (uint32_t i = 0; i < f->n_graph; i++) {
		json_arr(o);
		put_fp(o, f->graph[i].fp);
		put_name(o, f->graph[i].text);
		json_out_u64(o, f->graph[i].cut);
		json_close(o);
	}
	json_close(o);
	put_list(o, "cut");
	json_out_u64(o, f->cut_events);
	json_out_u64(o, f->cut_graphs);
	json_out_u64(o, f->cut_ops);
	json_close(o);
	/* Bytes of operator lists are no text: their numbers stand above, so that their place here is empty. */
	uint8_t *bytes = xcalloc(f->names.n + 1u, 1);
	for (uint32_t i = 0; i < f->n_schedule; i++)
		bytes[f->schedule[i].text] = 1;
	for (uint32_t i = 0; i < f->n_estimate; i++)
		bytes[f->estimate[i].text] = 1;
	put_list(o, "names");
	for (uint32_t i = 0; i < f->names.n; i++)
		json_out_str(o, bytes[i] ? SLICE("") : f->names.item[i]);
	json_close(o);
	free(bytes);
	json_close(o);
}

struct reader {
	struct rank_facts *f;
	const struct json_tape *tape;
	struct err *err;
	uint32_t *name; /* number in the document -> number in f->names */
	uint32_t n_name;
	bool bad;
};

static bool take_u64(struct reader *r, uint32_t k, uint64_t most, uint64_t *out)
{
	if (json_u64(r->tape, k, out) && *out <= most)
		return true;
	r->bad = true;
	*out = 0;
	return false;
}

static int64_t take_time(struct reader *r, uint32_t k)
{
	int64_t v;
	if (json_i64(r->tape, k, &v) && v >= -1 && v < INT64_MAX / 1024)
		return v;
	r->bad = true;
	return 0;
}

static uint32_t take_name(struct reader *r, uint32_t k, bool none)
{
	int64_t v;
	if (json_i64(r->tape, k, &v)) {
		if (v == -1 && none)
			return INTERN_NONE;
		if (v >= 0 && v < (int64_t)r->n_name)
			return r->name[v];
	}
	r->bad = true;
	return r->n_name ? r->name[0] : name_of(r->f, SLICE(""));
}

static uint64_t take_fp(struct reader *r, uint32_t k)
{
	uint64_t v = 0;
	struct slice s = json_is(r->tape, k, JSON_STRING) ? json_slice(r->tape, k) : SLICE("");
	r->bad |= s.n != 16;
	for (size_t i = 0; i < s.n && s.n == 16; i++) {
		char c = s.p[i];
		unsigned d = c >= '0' && c <= '9' ? (unsigned)(c - '0') : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
		r->bad |= d > 15;
		v = v << 4 | (d & 15);
	}
	return v;
}

static unsigned take_kind(struct reader *r, uint32_t k)
{
	for (unsigned i = 0; i < RANK_EVENT_COUNT; i++)
		if (json_is(r->tape, k, JSON_STRING) && slice_is(json_slice(r->tape, k), rank_event_name[i]))
			return i;
	r->bad = true;
	return 0;
}

/* The rows of a list: each an array of `width` values, whose tokens go to cell. 0: no more. */
static bool next_row(struct reader *r, uint32_t *at, uint32_t end, uint32_t *cell, unsigned width)
{
	if (*at == JSON_NONE || *at >= end || r->bad)
		return false;
	unsigned n = 0;
	if (json_is(r->tape, *at, JSON_ARRAY))
		for (uint32_t k = json_first(r->tape, *at); k < json_end(r->tape, *at) && n < width; k = json_next(r->tape, k))
			cell[n++] = k;
	r->bad |= n != width;
	*at = json_next(r->tape, *at);
	return n == width;
}

static uint32_t list_of(struct reader *r, uint32_t obj, const char *key, uint32_t *end)
{
	uint32_t k = json_get(r->tape, obj, key);
	if (k == JSON_NONE || !json_is(r->tape, k, JSON_ARRAY)) {
		r->bad = true;
		*end = 0;
		return JSON_NONE;
	}
	*end = json_end(r->tape, k);
	return json_first(r->tape, k);
}

static uint32_t take_compile(struct reader *r, uint32_t k)
{
	uint64_t v;
	return take_u64(r, k, r->f->n_compile ? r->f->n_compile - 1u : 0, &v) && r->f->n_compile ? (uint32_t)v : (r->bad = true, 0u);
}

static void read_names(struct reader *r, uint32_t obj)
{
	uint32_t end, k = list_of(r, obj, "names", &end), cap = 0;
	struct buf b = {0};
	for (; k != JSON_NONE && k < end; k = json_next(r->tape, k)) {
		buf_reset(&b);
		if (json_is(r->tape, k, JSON_STRING))
			json_unescape(r->tape, k, &b);
		else
			r->bad = true;
		GROW(r->name, r->n_name, cap, 1);
		r->name[r->n_name++] = name_of(r->f, buf_slice(&b));
	}
	buf_release(&b);
}

static void read_ops(struct reader *r, uint32_t obj, const char *key, bool ns, struct rank_list **rows, uint32_t *n, uint32_t *cap,
		     uint64_t *total)
{
	uint32_t end, at = list_of(r, obj, key, &end), cell[3];
	struct buf b = {0};
	while (next_row(r, &at, end, cell, 3)) {
		uint64_t number;
		uint32_t compile = take_compile(r, cell[0]);
		take_u64(r, cell[1], UINT32_MAX, &number);
		buf_reset(&b);
		if (!json_is(r->tape, cell[2], JSON_ARRAY)) {
			r->bad = true;
			break;
		}
		for (uint32_t k = json_first(r->tape, cell[2]); k < json_end(r->tape, cell[2]) && !r->bad; k = json_next(r->tape, k)) {
			struct rank_op op = {take_name(r, k, false), INTERN_NONE};
			if (ns) {
				double d;
				k = json_next(r->tape, k);
				if (k >= json_end(r->tape, cell[2]) || !json_double(r->tape, k, &d)) {
					r->bad = true;
					break;
				}
				op.ns = name_of(r->f, json_slice(r->tape, k));
			}
			if (++*total > RANK_OPS)
				r->bad = true;
			buf_add(&b, &op, sizeof(op));
		}
		if (!b.len || r->bad) {
			r->bad = true;
			break;
		}
		GROW(*rows, *n, *cap, 1);
		(*rows)[(*n)++] =
		    (struct rank_list){number, compile, name_of(r->f, buf_slice(&b)), (uint32_t)(b.len / sizeof(struct rank_op))};
	}
	buf_release(&b);
}

static void read_rows(struct reader *r, uint32_t obj)
{
	struct rank_facts *f = r->f;
	uint32_t end, at, cell[8];
	uint64_t v, w, ops = 0;
	for (at = list_of(r, obj, "compiles", &end); next_row(r, &at, end, cell, 7);) {
		struct rank_compile c = {.id = take_name(r, cell[0], false),
					 .dir = take_name(r, cell[1], false),
					 .loc = take_name(r, cell[2], true),
					 .us = take_time(r, cell[3])};
		take_u64(r, cell[4], UINT32_MAX, &v);
		c.breaks = (uint32_t)v;
		take_u64(r, cell[5], STATUS_ERROR, &v);
		c.status = (uint8_t)v;
		take_u64(r, cell[6], 1, &v);
		c.unknown = v;
		r->bad |= f->n_compile >= RANK_EVENTS;
		GROW(f->compile, f->n_compile, f->cap_compile, 1);
		f->compile[f->n_compile++] = c;
	}
	for (at = list_of(r, obj, "events", &end); next_row(r, &at, end, cell, 6);) {
		struct rank_event e = {.kind = (uint8_t)take_kind(r, cell[0]),
				       .compile = take_compile(r, cell[1]),
				       .fp = take_fp(r, cell[2]),
				       .text = take_name(r, cell[3], true)};
		take_u64(r, cell[4], UINT64_MAX >> 1, &e.line);
		take_u64(r, cell[5], RANK_CACHE_MISS, &v);
		e.cache = (uint8_t)v;
		r->bad |= f->n_event >= RANK_EVENTS;
		if (r->bad)
			break;
		if (e.cache > f->compile[e.compile].cache)
			f->compile[e.compile].cache = e.cache;
		GROW(f->event, f->n_event, f->cap_event, 1);
		f->event[f->n_event++] = e;
	}
	for (at = list_of(r, obj, "spans", &end); next_row(r, &at, end, cell, 4);) {
		struct rank_span s = {.compile = take_compile(r, cell[0]), .start = take_time(r, cell[1]), .end = take_time(r, cell[2])};
		take_u64(r, cell[3], RANK_SPAN_OPEN, &v);
		s.kind = (uint8_t)v;
		r->bad |= f->n_span >= RANK_EVENTS * 2 || s.start < 0 || s.end < s.start;
		GROW(f->span, f->n_span, f->cap_span, 1);
		f->span[f->n_span++] = s;
	}
	for (at = list_of(r, obj, "marks", &end); next_row(r, &at, end, cell, 4);) {
		struct rank_mark m = {.kind = (uint8_t)take_kind(r, cell[0]),
				      .compile = take_compile(r, cell[1]),
				      .at = take_time(r, cell[2]),
				      .text = take_name(r, cell[3], true)};
		r->bad |= f->n_mark >= RANK_EVENTS || m.at < 0;
		GROW(f->mark, f->n_mark, f->cap_mark, 1);
		f->mark[f->n_mark++] = m;
	}
	read_ops(r, obj, "schedules", false, &f->schedule, &f->n_schedule, &f->cap_schedule, &ops);
	ops = 0;
	read_ops(r, obj, "estimates", true, &f->estimate, &f->n_estimate, &f->cap_estimate, &ops);
	for (at = list_of(r, obj, "tensors", &end); next_row(r, &at, end, cell, 4);) {
		struct rank_list l = {.compile = take_compile(r, cell[0]), .text = take_name(r, cell[2], false)};
		take_u64(r, cell[1], UINT32_MAX, &l.number);
		take_u64(r, cell[3], RANK_OPS, &v);
		l.ops = (uint32_t)v;
		r->bad |= f->n_tensors >= RANK_OPS;
		GROW(f->tensors, f->n_tensors, f->cap_tensors, 1);
		f->tensors[f->n_tensors++] = l;
	}
	uint32_t order = json_get(r->tape, obj, "order");
	if (order != JSON_NONE && json_is(r->tape, order, JSON_ARRAY)) {
		f->has_order = true;
		for (at = json_first(r->tape, order); at < json_end(r->tape, order) && !r->bad; at = json_next(r->tape, at)) {
			r->bad |= f->n_order >= RANK_EVENTS;
			GROW(f->order, f->n_order, f->cap_order, 1);
			f->order[f->n_order++] = take_name(r, at, false);
		}
	}
	for (at = list_of(r, obj, "parity", &end); next_row(r, &at, end, cell, 3);) {
		uint32_t c = take_compile(r, cell[0]);
		take_u64(r, cell[1], UINT32_MAX, &v);
		take_u64(r, cell[2], UINT32_MAX, &w);
		r->bad |= f->n_parity >= RANK_EVENTS;
		GROW(f->parity, f->n_parity, f->cap_parity, 1);
		f->parity[f->n_parity++] = (struct rank_parity){c, v, w};
	}
	size_t bytes = 0;
	for (at = list_of(r, obj, "graphs", &end); next_row(r, &at, end, cell, 3);) {
		struct rank_graph g = {.fp = take_fp(r, cell[0]), .text = take_name(r, cell[1], false)};
		take_u64(r, cell[2], 1, &v);
		g.cut = v;
		bytes += intern_get(&f->names, g.text).n;
		/* Bytes that were no UTF-8 have become three, so there is some room. */
		r->bad |= f->n_graph >= RANK_EVENTS || bytes > (size_t)RANK_TEXT_LOG * 6;
		GROW(f->graph, f->n_graph, f->cap_graph, 1);
		f->graph[f->n_graph++] = g;
	}
	uint64_t *cut[] = {&f->cut_events, &f->cut_graphs, &f->cut_ops};
	unsigned n = 0;
	for (at = list_of(r, obj, "cut", &end); at != JSON_NONE && at < end && n < 3 && !r->bad; at = json_next(r->tape, at))
		take_u64(r, at, UINT64_MAX >> 1, cut[n++]);
	r->bad |= n != 3;
}

static void read_damage(struct reader *r, uint32_t log)
{
	uint32_t list = json_get(r->tape, log, "damage");
	if (list == JSON_NONE || !json_is(r->tape, list, JSON_ARRAY))
		return;
	for (uint32_t k = json_first(r->tape, list); k < json_end(r->tape, list); k = json_next(r->tape, k)) {
		uint32_t kind = json_get(r->tape, k, "kind");
		if (kind == JSON_NONE || !json_is(r->tape, kind, JSON_STRING))
			continue;
		for (unsigned i = 0; i < DAMAGE_COUNT; i++)
			if (slice_is(json_slice(r->tape, kind), trace_damage_name[i])) {
				take_u64(r, json_get(r->tape, k, "count"), UINT64_MAX >> 1, &r->f->damage[i].count);
				take_u64(r, json_get(r->tape, k, "line"), UINT64_MAX >> 1, &r->f->damage[i].line);
			}
	}
}

int rank_facts_in(struct rank_facts *f, const struct json_tape *tape, uint32_t log, struct err *err)
{
	struct buf b = {0};
	uint32_t path = json_get(tape, log, "path"), obj = json_get(tape, log, "ranks"), k;
	uint64_t version = 0;
	if (path != JSON_NONE && json_is(tape, path, JSON_STRING))
		json_unescape(tape, path, &b);
	rank_facts_init(f, buf_str(&b));
	work_free(f);
	buf_release(&b);
	f->rank = -1;
	struct reader r = {.f = f, .tape = tape, .err = err};
	if (obj == JSON_NONE || !json_is(tape, obj, JSON_OBJECT)) {
		rank_facts_release(f);
		return err_set(err, EXIT_INPUT, "no facts for a comparison of ranks: not written by tlparse --json, or by another version");
	}
	if (!json_u64(tape, json_get(tape, obj, "version"), &version) || version != 1) {
		rank_facts_release(f);
		return err_set(err, EXIT_INPUT, "facts for a comparison of ranks of another version: write them again with this one");
	}
	int64_t rank;
	if ((k = json_get(tape, obj, "rank")) != JSON_NONE && json_i64(tape, k, &rank) && rank >= 0)
		f->rank = rank;
	if ((k = json_get(tape, log, "rank")) != JSON_NONE && json_i64(tape, k, &rank) && rank >= 0)
		f->record_rank = rank;
	json_u64(tape, json_get(tape, log, "pid"), &f->pid);
	read_names(&r, obj);
	take_u64(&r, json_get(tape, obj, "records"), UINT64_MAX >> 1, &f->records);
	f->start = take_time(&r, json_get(tape, obj, "start"));
	f->end = take_time(&r, json_get(tape, obj, "end"));
	k = json_get(tape, obj, "torch_version");
	f->torch_version = take_name(&r, k, true);
	read_rows(&r, obj);
	read_damage(&r, log);
	free(r.name);
	if (!r.bad)
		return 0;
	rank_facts_release(f);
	return err_set(err, EXIT_INPUT, "the facts for a comparison of ranks are not as this tool writes them");
}
