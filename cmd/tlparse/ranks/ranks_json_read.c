/* ranks_json_read.c - the facts of one log out of JSON, whoever wrote it. */
#include "ranks/ranks_part.h"

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
			return NONE;
		if (v >= 0 && v < (int64_t)r->n_name)
			return r->name[v];
	}
	r->bad = true;
	return r->n_name ? r->name[0] : rank_name(r->f, SLICE(""));
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
	if (*at == NONE || *at >= end || r->bad)
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
	if (!json_is(r->tape, k, JSON_ARRAY)) {
		r->bad = true;
		*end = 0;
		return NONE;
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
	for (; k != NONE && k < end; k = json_next(r->tape, k)) {
		buf_reset(&b);
		if (json_is(r->tape, k, JSON_STRING))
			json_unescape(r->tape, k, &b);
		else
			r->bad = true;
		GROW(r->name, r->n_name, cap, 1);
		r->name[r->n_name++] = rank_name(r->f, buf_slice(&b));
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
			struct rank_op op = {take_name(r, k, false), NONE};
			if (ns) {
				double d;
				k = json_next(r->tape, k);
				if (k >= json_end(r->tape, cell[2]) || !json_double(r->tape, k, &d)) {
					r->bad = true;
					break;
				}
				op.ns = rank_name(r->f, json_slice(r->tape, k));
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
		    (struct rank_list){number, compile, rank_name(r->f, buf_slice(&b)), (uint32_t)(b.len / sizeof(struct rank_op))};
	}
	buf_release(&b);
}

static void read_compiles(struct reader *r, uint32_t obj)
{
	struct rank_facts *f = r->f;
	uint32_t end, at, cell[7];
	uint64_t v;
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
}

static void read_events(struct reader *r, uint32_t obj)
{
	struct rank_facts *f = r->f;
	uint32_t end, at, cell[6];
	uint64_t v;
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
}

static void read_spans(struct reader *r, uint32_t obj)
{
	struct rank_facts *f = r->f;
	uint32_t end, at, cell[4];
	uint64_t v;
	for (at = list_of(r, obj, "spans", &end); next_row(r, &at, end, cell, 4);) {
		struct rank_span s = {.compile = take_compile(r, cell[0]), .start = take_time(r, cell[1]), .end = take_time(r, cell[2])};
		take_u64(r, cell[3], RANK_SPAN_OPEN, &v);
		s.kind = (uint8_t)v;
		r->bad |= f->n_span >= RANK_EVENTS * 2 || s.start < 0 || s.end < s.start;
		GROW(f->span, f->n_span, f->cap_span, 1);
		f->span[f->n_span++] = s;
	}
}

static void read_marks(struct reader *r, uint32_t obj)
{
	struct rank_facts *f = r->f;
	uint32_t end, at, cell[4];
	for (at = list_of(r, obj, "marks", &end); next_row(r, &at, end, cell, 4);) {
		struct rank_mark m = {.kind = (uint8_t)take_kind(r, cell[0]),
				      .compile = take_compile(r, cell[1]),
				      .at = take_time(r, cell[2]),
				      .text = take_name(r, cell[3], true)};
		r->bad |= f->n_mark >= RANK_EVENTS || m.at < 0;
		GROW(f->mark, f->n_mark, f->cap_mark, 1);
		f->mark[f->n_mark++] = m;
	}
}

static void read_tensors(struct reader *r, uint32_t obj)
{
	struct rank_facts *f = r->f;
	uint32_t end, at, cell[4];
	uint64_t v;
	for (at = list_of(r, obj, "tensors", &end); next_row(r, &at, end, cell, 4);) {
		struct rank_list l = {.compile = take_compile(r, cell[0]), .text = take_name(r, cell[2], false)};
		take_u64(r, cell[1], UINT32_MAX, &l.number);
		take_u64(r, cell[3], RANK_OPS, &v);
		l.ops = (uint32_t)v;
		r->bad |= f->n_tensors >= RANK_OPS;
		GROW(f->tensors, f->n_tensors, f->cap_tensors, 1);
		f->tensors[f->n_tensors++] = l;
	}
}

static void read_order(struct reader *r, uint32_t obj)
{
	struct rank_facts *f = r->f;
	uint32_t at, order = json_get(r->tape, obj, "order");
	if (json_is(r->tape, order, JSON_ARRAY)) {
		f->has_order = true;
		for (at = json_first(r->tape, order); at < json_end(r->tape, order) && !r->bad; at = json_next(r->tape, at)) {
			r->bad |= f->n_order >= RANK_EVENTS;
			GROW(f->order, f->n_order, f->cap_order, 1);
			f->order[f->n_order++] = take_name(r, at, false);
		}
	}
}

static void read_parity(struct reader *r, uint32_t obj)
{
	struct rank_facts *f = r->f;
	uint32_t end, at, cell[3];
	uint64_t v, w;
	for (at = list_of(r, obj, "parity", &end); next_row(r, &at, end, cell, 3);) {
		uint32_t c = take_compile(r, cell[0]);
		take_u64(r, cell[1], UINT32_MAX, &v);
		take_u64(r, cell[2], UINT32_MAX, &w);
		r->bad |= f->n_parity >= RANK_EVENTS;
		GROW(f->parity, f->n_parity, f->cap_parity, 1);
		f->parity[f->n_parity++] = (struct rank_parity){c, v, w};
	}
}

static void read_graphs(struct reader *r, uint32_t obj)
{
	struct rank_facts *f = r->f;
	uint32_t end, at, cell[3];
	uint64_t v;
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
}

static void read_cut(struct reader *r, uint32_t obj)
{
	struct rank_facts *f = r->f;
	uint32_t end, at;
	uint64_t *cut[] = {&f->cut_events, &f->cut_graphs, &f->cut_ops};
	unsigned n = 0;
	for (at = list_of(r, obj, "cut", &end); at != NONE && at < end && n < 3 && !r->bad; at = json_next(r->tape, at))
		take_u64(r, at, UINT64_MAX >> 1, cut[n++]);
	r->bad |= n != 3;
}

static void read_rows(struct reader *r, uint32_t obj)
{
	struct rank_facts *f = r->f;
	uint64_t scheduled = 0, estimated = 0; /* operators */
	read_compiles(r, obj);                 /* the others name these */
	read_events(r, obj);
	read_spans(r, obj);
	read_marks(r, obj);
	read_ops(r, obj, "schedules", false, &f->schedule, &f->n_schedule, &f->cap_schedule, &scheduled);
	read_ops(r, obj, "estimates", true, &f->estimate, &f->n_estimate, &f->cap_estimate, &estimated);
	read_tensors(r, obj);
	read_order(r, obj);
	read_parity(r, obj);
	read_graphs(r, obj);
	read_cut(r, obj);
}

static void read_damage(struct reader *r, uint32_t log)
{
	uint32_t list = json_get(r->tape, log, "damage");
	if (!json_is(r->tape, list, JSON_ARRAY))
		return;
	json_each(r->tape, list, k) {
		uint32_t kind = json_get(r->tape, k, "kind");
		if (!json_is(r->tape, kind, JSON_STRING))
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
	if (json_is(tape, path, JSON_STRING))
		json_unescape(tape, path, &b);
	rank_facts_init(f, buf_str(&b));
	rank_work_free(f);
	buf_release(&b);
	f->rank = -1;
	struct reader r = {.f = f, .tape = tape, .err = err};
	if (!json_is(tape, obj, JSON_OBJECT)) {
		rank_facts_release(f);
		return err_set(err, EXIT_INPUT, "no facts for a comparison of ranks: not written by tlparse --json, or by another version");
	}
	if (!json_u64(tape, json_get(tape, obj, "version"), &version) || version != 1) {
		rank_facts_release(f);
		return err_set(err, EXIT_INPUT, "facts for a comparison of ranks of another version: write them again with this one");
	}
	int64_t rank;
	if ((k = json_get(tape, obj, "rank")) != NONE && json_i64(tape, k, &rank) && rank >= 0)
		f->rank = rank;
	if ((k = json_get(tape, log, "rank")) != NONE && json_i64(tape, k, &rank) && rank >= 0)
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
