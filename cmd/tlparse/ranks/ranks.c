/* ranks.c - the facts of one log, out of its records. See ranks_part.h. */
#include "ranks/ranks_part.h"
#include "base/srcloc.h"
#include "base/text.h"

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

int64_t rank_of_path(const char *path)
{
	static const char prefix[] = "dedicated_log_torch_trace_rank_";
	struct slice base = slice_str(path_base(path));
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
	*f = (struct rank_facts){.path = xstrdup(path), .rank = rank_of_path(path), .record_rank = -1, .torch_version = NONE};
	f->work = xcalloc(1, sizeof(*f->work));
}

void rank_work_free(struct rank_facts *f)
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
	rank_work_free(f);
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

static struct slice text_of(const struct trace *t, uint32_t name) { return name == NONE ? SLICE("") : intern_get(&t->names, name); }

void rank_add_flat(struct buf *b, struct slice s, size_t most)
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
	rank_add_flat(b, function.n ? function : SLICE("?"), 200);
	if (file.n) {
		buf_adds(b, " (");
		rank_add_flat(b, srcloc_short_file(file), 300);
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

struct work_compile *rank_work_of(struct rank_facts *f, uint32_t compile)
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
		rank_add_flat(&w->tmp, what, 200);
		buf_adds(&w->tmp, r->nodes >= 0 ? ", " : "");
	}
	if (r->nodes >= 0)
		put_count(&w->tmp, (uint64_t)r->nodes, "node");
	add_event(f, captured ? RANK_GRAPH : RANK_MADE, r->compile, line, fp, rank_name(f, buf_slice(&w->tmp)), RANK_CACHE_NONE);
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
	f->graph[f->n_graph++] = (struct rank_graph){fp, rank_name(f, text), cut};
}

static void add_span(struct rank_facts *f, uint32_t compile, int64_t end, double seconds, enum rank_span_kind kind)
{
	int64_t us = seconds > 0 && seconds < 1e6 ? (int64_t)(seconds * 1e6) : 0;
	struct work_compile *w = rank_work_of(f, compile);
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
		rank_add_flat(b, name, 200);
		add_event(f, RANK_CACHE, r->compile, line, hash_bytes(name.p, name.n), rank_name(f, buf_slice(b)),
			  a->flags & ART_MISS  ? RANK_CACHE_MISS
			  : a->flags & ART_HIT ? RANK_CACHE_HIT
					       : RANK_CACHE_BYPASS);
	}
	if (a->kind == KIND_inductor_output_code)
		rank_take_code(f, payload, r->compile);
	if (a->kind != KIND_artifact)
		return;
	if (a->flags & ART_JSON && !slice_chr(name, '/')) {
		if (slice_starts(name, "inductor_collective_schedule"))
			rank_take_schedule(f, t, index, payload, r->compile);
		else if (slice_starts(name, "inductor_runtime_and_tensor_meta"))
			rank_take_tensors(f, t, index, payload, r->compile);
		else if (slice_find(name, "graph_execution"))
			rank_take_order(f, payload);
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
		if (b->loc.file != NONE) {
			rank_add_flat(&w->tmp, srcloc_short_file(text_of(t, b->loc.file)), 300);
			buf_addf(&w->tmp, ":%u: ", b->loc.line);
		}
		rank_add_flat(&w->tmp, reason, 300);
		uint32_t text = rank_name(f, buf_slice(&w->tmp));
		add_event(f, RANK_BREAK, b->compile, b->line, reason_fp(buf_slice(&w->tmp), &w->tmp2), text, RANK_CACHE_NONE);
		add_mark(f, RANK_BREAK, b->compile, at, text);
	}
	for (; w->seen_recompile < t->n_recompile; w->seen_recompile++) {
		const struct trace_recompile *x = &t->recompile[w->seen_recompile];
		struct slice line, rest = text_of(t, x->reason);
		if (!slice_line(&rest, &line))
			line = SLICE("");
		buf_reset(&w->tmp);
		rank_add_flat(&w->tmp, line, 300);
		uint32_t text = rank_name(f, buf_slice(&w->tmp));
		add_event(f, RANK_RECOMPILE, x->compile, x->line, reason_fp(buf_slice(&w->tmp), &w->tmp2), text, RANK_CACHE_NONE);
		add_mark(f, RANK_RECOMPILE, x->compile, at, text);
	}
	for (; w->seen_failure < t->n_failure; w->seen_failure++) {
		const struct trace_failure *x = &t->failure[w->seen_failure];
		if (x->type == NONE)
			continue;
		buf_reset(&w->tmp);
		rank_add_flat(&w->tmp, text_of(t, x->type), 200);
		uint64_t fp = hash_bytes(w->tmp.p, w->tmp.len);
		buf_adds(&w->tmp, ": ");
		rank_add_flat(&w->tmp, text_of(t, x->reason), 300);
		uint32_t text = rank_name(f, buf_slice(&w->tmp));
		add_event(f, RANK_FAILURE, x->compile, x->line, fp, text, RANK_CACHE_NONE);
		add_mark(f, RANK_FAILURE, x->compile, at, text);
	}
}

static void take_start(struct rank_facts *f, const struct trace *t, uint32_t compile, uint64_t line)
{
	struct rank_work *w = f->work;
	uint32_t node = t->compile[compile].stack, text = NONE;
	buf_reset(&w->tmp);
	if (node != NONE) {
		const struct trace_frame *x = &t->frame[t->starts.node[node].frame];
		add_loc(&w->tmp, text_of(t, x->file), x->line, text_of(t, x->name));
		text = rank_name(f, buf_slice(&w->tmp));
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
	if (r->compile == NONE || r->compile >= t->n_compile)
		return;
	struct work_compile *w = rank_work_of(f, r->compile);
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

static struct rank_compile compile_row(struct rank_facts *f, const struct trace *t, const struct trace_compile *c, bool no_attempt)
{
	struct rank_work *w = f->work;
	char text[COMPILE_ID_TEXT];
	struct compile_id id = c->id;
	struct rank_compile row = {.loc = NONE, .us = -1, .breaks = c->breaks, .status = (uint8_t)c->status};
	row.unknown = id.bad_line != 0;
	row.id = rank_name(f, slice_str(compile_id_text(&id, text)));
	if (id.bad_line)
		snprintf(text, sizeof(text), "unknown_%lld", (long long)id.bad_line);
	else if (no_attempt)
		id.attempt = -1;
	row.dir = rank_name(f, slice_str(id.bad_line ? text : compile_id_dir(&id, text)));
	if (c->seconds >= 0 && c->seconds < 1e9)
		row.us = (int64_t)(c->seconds * 1e6 + 0.5);
	buf_reset(&w->tmp);
	if (c->loc.file != NONE) {
		add_loc(&w->tmp, text_of(t, c->loc.file), c->loc.line, text_of(t, c->loc.function));
		row.loc = rank_name(f, buf_slice(&w->tmp));
	} else if (c->stack != NONE) {
		const struct trace_frame *fr = &t->frame[t->starts.node[c->stack].frame];
		add_loc(&w->tmp, text_of(t, fr->file), fr->line, text_of(t, fr->name));
		row.loc = rank_name(f, buf_slice(&w->tmp));
	}
	return row;
}

/* Compile ids beyond the limit: what refers to them goes. The others get the worst of their cache events. */
static void drop_beyond(struct rank_facts *f)
{
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
#undef KEEP
}

void rank_facts_finish(struct rank_facts *f, const struct trace *t)
{
	f->record_rank = t->rank;
	if (f->rank < 0)
		f->rank = t->rank;
	f->pid = t->pid;
	if (t->torch_version != NONE)
		f->torch_version = rank_name(f, intern_get(&t->names, t->torch_version));
	memcpy(f->damage, t->damage, sizeof(f->damage));
	for (uint32_t i = 0; i < t->n_compile && i < RANK_EVENTS; i++) {
		const struct work_compile *x = rank_work_of(f, i);
		GROW(f->compile, f->n_compile, f->cap_compile, 1);
		struct rank_compile *row = &f->compile[f->n_compile++];
		*row = compile_row(f, t, &t->compile[i], x->no_attempt);
		if (x->seen && !x->closed && t->compile[i].id.frame >= 0 && !row->unknown && f->n_span < RANK_EVENTS) {
			GROW(f->span, f->n_span, f->cap_span, 1);
			f->span[f->n_span++] = (struct rank_span){x->first, x->last, i, RANK_SPAN_OPEN};
		}
	}
	drop_beyond(f);
	if (f->n_span)
		qsort(f->span, f->n_span, sizeof(*f->span), by_start);
	rank_take_parity(f);
	rank_work_free(f);
}
