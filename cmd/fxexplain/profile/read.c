/* read.c - the stream: windows are cut into events one after the other; the events of two windows are parsed in parallel, and stored in
 * file order. */
#include "base/json.h"
#include "base/rows.h"
#include "base/pool.h"
#include "base/io/window.h"
#include "profile/profile_part.h"

#include <inttypes.h>

enum { WINDOW = 2 << 20, SLOTS = 8, TRACKS_MAX = 4096, NESTED_MAX = 1 << 16, SOUGHT_MAX = 8 };

struct slot {
	struct window window;
	struct buf text;
	struct event_span *span;
	struct event *event;
	uint32_t n, cap_span, cap_event;
};

/* Of a row. What the first SOUGHT_MAX calls of a name do not have in their arguments is not searched for in its others: most files have
 * neither. */
struct sought {
	uint64_t slowest;           /* the duration of the call whose shape is kept */
	uint8_t no_shape, no_stack; /* calls without */
};

struct reader {
	struct profile *p;
	struct input in;
	struct cutter cut;
	struct buf carry; /* the open event, or the header so far */
	bool ended;
	struct intern track_key; /* pid, a NUL byte, tid */
	struct track *track;     /* side by side with p->thread */
	uint32_t cap_track;
	struct slice last_pid, last_tid; /* of the current window */
	uint32_t last_track;
	uint32_t *first_row, cap_first; /* by name: the first row, the others by next_row */
	uint32_t *next_row, cap_next;
	struct sought *sought; /* by row */
	uint32_t cap_sought;
	uint32_t other_row[PROFILE_CLASSES];
	struct json_tape tape;
	struct buf tmp;
	uint64_t n_ops, marks;
	bool lists_full, tracks_full, begun_full;
};

static void damage(struct profile *p, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void damage(struct profile *p, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	buf_addvf(&p->damage, fmt, ap);
	va_end(ap);
	buf_addc(&p->damage, '\n');
}

/* ---- read: one at a time ---- */

static size_t whole(const char *data, size_t len)
{
	(void)data;
	return len;
}

/* Keeps the beginning of the next window. */
static void carry(struct reader *r, const struct slot *s)
{
	size_t from = r->cut.where == CUT_HEAD || r->cut.where == CUT_START ? 0 : s->text.len;
	if (r->cut.where == CUT_EVENTS && r->cut.from != NONE)
		from = r->cut.from;
	buf_reset(&r->carry);
	if (from < s->text.len)
		buf_add(&r->carry, s->text.p + from, s->text.len - from);
	if (r->cut.where == CUT_EVENTS && r->cut.from != NONE)
		r->cut.from = 0;
}

static int stage_read(void *ctx, void *slot)
{
	struct reader *r = ctx;
	struct slot *s = slot;
	struct cutter *c = &r->cut;
	buf_reset(&s->text);
	buf_add(&s->text, r->carry.p, r->carry.len);
	c->n = 0;
	while (!r->ended && !c->n) {
		if (input_next(&r->in, &s->window, WINDOW, whole) <= 0) {
			r->ended = true;
			break;
		}
		const size_t at = s->text.len;
		r->p->bytes += s->window.len;
		buf_add(&s->text, s->window.data, s->window.len);
		cut_scan(c, s->text.p, at, s->text.len);
		if (c->where == CUT_END || c->where == CUT_NOT_JSON) {
			r->ended = true;
		} else if (c->where == CUT_EVENTS && !c->n && c->from == NONE) {
			buf_reset(&s->text); /* nothing is open: blanks, or not an event */
		} else if (!c->n && s->text.len > PROFILE_EVENT_BYTES) {
			damage(r->p, "no event ends within %zu MB from byte %" PRIu64 ": the rest is not read", s->text.len >> 20,
			       r->p->bytes - s->text.len);
			r->ended = true;
		}
	}
	carry(r, s);
	GROW(s->span, 0, s->cap_span, c->n);
	if (c->n)
		memcpy(s->span, c->span, c->n * sizeof(*s->span));
	s->n = c->n;
	return s->n ? 1 : 0;
}

/* ---- scan: in parallel ---- */

static int stage_scan(void *ctx, void *slot)
{
	struct slot *s = slot;
	(void)ctx;
	GROW(s->event, 0, s->cap_event, s->n);
	for (uint32_t i = 0; i < s->n; i++)
		event_read(&s->event[i], slice_of(s->text.p + s->span[i].from, s->span[i].to - s->span[i].from));
	return 0;
}

/* ---- reduce: one at a time ---- */

static struct slice unescaped(struct reader *r, struct slice s)
{
	uint32_t root;
	json_tape_text(&r->tape, s.p - 1, s.n + 2); /* with its quotes */
	buf_reset(&r->tmp);
	if (json_parse(&r->tape, 0, s.n + 2, &root) < 0)
		return s;
	json_unescape(&r->tape, root, &r->tmp);
	return buf_slice(&r->tmp);
}

static uint32_t new_row(struct reader *r, uint32_t name, enum profile_class class)
{
	struct profile *p = r->p;
	const uint32_t i = p->n_row;
	GROW(p->row, p->n_row, p->cap_row, 1);
	GROW(r->next_row, i, r->cap_next, 1);
	GROW(r->sought, i, r->cap_sought, 1);
	p->row[p->n_row++] = (struct profile_row){.name = name,
						  .class = (uint8_t) class,
						  .min = UINT64_MAX,
						  .kind = (uint8_t)profile_kind_of(intern_get(&p->names, name), class)};
	r->sought[i] = (struct sought){0};
	if (name >= r->cap_first) {
		const uint32_t old = r->cap_first;
		GROW(r->first_row, name, r->cap_first, 1);
		memset(r->first_row + old, 0xff, (r->cap_first - old) * sizeof(*r->first_row));
	}
	r->next_row[i] = r->first_row[name];
	r->first_row[name] = i;
	return i;
}

static uint32_t other_names(struct reader *r, enum profile_class class)
{
	if (r->other_row[class] == NONE)
		r->other_row[class] = new_row(r, intern_add(&r->p->names, SLICE("(other names)")), class);
	return r->other_row[class];
}

static uint32_t row_of(struct reader *r, struct slice name, enum profile_class class)
{
	struct profile *p = r->p;
	if (slice_starts(name, "ProfilerStep#"))
		name = SLICE("ProfilerStep*"); /* as torch's tables call it */
	const bool full = p->n_row >= PROFILE_ROWS_MAX;
	const uint32_t id = full ? intern_find(&p->names, name) : intern_add(&p->names, name);
	if (id < r->cap_first)
		for (uint32_t i = r->first_row[id]; i != NONE; i = r->next_row[i])
			if (p->row[i].class == class)
				return i;
	if (!full)
		return new_row(r, id, class);
	p->other_names++;
	return other_names(r, class);
}

static uint32_t track_of(struct reader *r, const struct event *e)
{
	struct profile *p = r->p;
	if (r->last_pid.p && slice_eq(e->pid, r->last_pid) && slice_eq(e->tid, r->last_tid))
		return r->last_track;
	buf_reset(&r->tmp);
	buf_add_slice(&r->tmp, e->pid);
	buf_addc(&r->tmp, 0);
	buf_add_slice(&r->tmp, e->tid);
	uint32_t i = intern_find(&r->track_key, buf_slice(&r->tmp));
	if (i == NONE && p->n_thread >= TRACKS_MAX) {
		r->tracks_full = true;
		return TRACKS_MAX - 1;
	}
	if (i == NONE) {
		i = intern_add(&r->track_key, buf_slice(&r->tmp));
		GROW(p->thread, p->n_thread, p->cap_thread, 1);
		GROW(r->track, i, r->cap_track, 1);
		p->thread[p->n_thread++] =
		    (struct profile_thread){.pid = intern_add(&p->names, e->pid), .tid = intern_add(&p->names, e->tid), .name = NONE};
		r->track[i] = (struct track){0};
	}
	r->last_pid = e->pid;
	r->last_tid = e->tid;
	return r->last_track = i;
}

/* The value of a member of the arguments, to their end; found by text search: a wrong match is only displayed. */
static struct slice argument(const struct event *e, const char *quoted)
{
	const struct slice args = slice_of(e->args ? e->args : "", e->args_len);
	const char *at = slice_find(args, quoted), *end = args.p + args.n;
	if (!at)
		return slice_of("", 0);
	for (at += strlen(quoted); at < end && (*at == ':' || *at == ' ');)
		at++;
	return slice_of(at, (size_t)(end - at));
}

/* The length of the list that v begins with; 0: it does not end. */
static size_t list_length(struct slice v)
{
	bool in_string = false;
	unsigned depth = 0;
	for (size_t n = 0; n < v.n; n++) {
		if (in_string && v.p[n] == '\\')
			n++;
		else if (v.p[n] == '"')
			in_string = !in_string;
		else if (!in_string)
			depth += (v.p[n] == '[') - (v.p[n] == ']');
		if (!depth)
			return n + 1;
	}
	return 0;
}

static void keep_shape(struct reader *r, uint32_t row, const struct event *e, uint64_t dur)
{
	struct sought *sought = &r->sought[row];
	if (!e->args || dur <= sought->slowest || sought->no_shape >= SOUGHT_MAX)
		return;
	const struct slice v = argument(e, "\"Input Dims\"");
	if (!v.n || *v.p != '[') {
		sought->no_shape += !sought->slowest;
		return;
	}
	r->p->has_shapes = true;
	const size_t n = list_length(v);
	if (!n)
		return;
	sought->slowest = dur;
	char **shape = &r->p->row[row].shape;
	free(*shape);
	*shape = n > PROFILE_SHAPE_MAX ? xasprintf("%.*s...", PROFILE_SHAPE_MAX, v.p) : xstrndup(v.p, n);
}

/* The first one: all calls of a kernel come from the same lines. */
static void keep_stack(struct profile_row *row, struct sought *sought, const struct event *e)
{
	if (row->class != CLASS_KERNEL || row->stack || !e->args || sought->no_stack >= SOUGHT_MAX)
		return;
	const struct slice v = argument(e, "\"stack\"");
	const size_t n = v.n && *v.p == '[' ? list_length(v) : 0;
	if (n && n <= PROFILE_STACK_MAX)
		row->stack = xstrndup(v.p, n);
	else
		sought->no_stack++;
}

static void take_step(struct reader *r, struct slice name, uint64_t ts, uint64_t dur, uint32_t thread)
{
	struct profile *p = r->p;
	uint64_t number = UINT64_MAX;
	const char *hash = slice_chr(name, '#');
	if (dur > MARK_DUR_MAX)
		return;
	if (p->n_step >= PROFILE_LIST_MAX) {
		r->lists_full = true;
		return;
	}
	if (hash)
		slice_u64(slice_of(hash + 1, name.n - (size_t)(hash + 1 - name.p)), &number);
	PUSH(p, step) = (struct profile_step){.ts = ts, .dur = dur, .thread = thread, .number = number};
}

static void take_mark(struct reader *r, uint32_t track, uint32_t row, uint64_t ts, uint64_t dur)
{
	static const uint8_t lane_of[PROFILE_CLASSES] = {[CLASS_PYTHON] = LANE_PYTHON,
							 [CLASS_KERNEL] = LANE_DEVICE,
							 [CLASS_COPY] = LANE_DEVICE,
							 [CLASS_DEVICE_ANNOTATION] = LANES,
							 [CLASS_OTHER] = LANES}; /* the rest is LANE_OPS */
	struct profile *p = r->p;
	const enum profile_class class = p->row[row].class;
	const unsigned lane = lane_of[class];
	p->events++;
	p->class_events[class]++;
	if (lane == LANES)
		return;
	if (r->marks >= PROFILE_EVENTS_MAX || ts + dur > (uint64_t)INT64_MAX) {
		p->left_out++;
		return;
	}
	r->marks++;
	p->first = !p->last || ts < p->first ? ts : p->first;
	p->last = ts + dur > p->last ? ts + dur : p->last;
	p->thread[track].device |= lane == LANE_DEVICE;
	p->has_stacks |= lane == LANE_PYTHON;
	lane_add(&r->track[track].lane[lane], mark_of(ts, dur, row));
}

static void take_span(struct reader *r, const struct event *e, uint64_t ts, uint64_t dur, uint32_t row, struct slice name)
{
	const uint32_t track = track_of(r, e);
	keep_shape(r, row, e, dur);
	keep_stack(&r->p->row[row], &r->sought[row], e);
	if (r->p->row[row].kind == KIND_STEP && r->p->row[row].class <= CLASS_ANNOTATION)
		take_step(r, name, ts, dur, track);
	take_mark(r, track, row, ts, dur);
}

/* B waits for its E, which may lack a name. */
static void take_begin(struct reader *r, const struct event *e, uint32_t row)
{
	const uint32_t track = track_of(r, e); /* may move the array */
	struct track *t = &r->track[track];
	if (t->n_begun >= NESTED_MAX) {
		r->begun_full = true;
		return;
	}
	PUSH(t, begun) = (struct begun){e->ts, row};
}

static void take_end(struct reader *r, const struct event *e)
{
	const uint32_t track = track_of(r, e); /* may move the array */
	struct track *t = &r->track[track];
	if (!t->n_begun || e->ts < t->begun[t->n_begun - 1].ts) {
		r->p->bad_events++;
		return;
	}
	const struct begun b = t->begun[--t->n_begun];
	take_span(r, e, b.ts, e->ts - b.ts, b.row, profile_name(r->p, b.row));
}

static void name_thread(struct reader *r, const struct event *e)
{
	if (!slice_is(e->name, "thread_name"))
		return;
	const struct slice v = argument(e, "\"name\"");
	const char *to = v.n && *v.p == '"' ? memchr(v.p + 1, '"', v.n - 1) : NULL;
	const uint32_t track = track_of(r, e); /* may move the array */
	struct profile_thread *t = &r->p->thread[track];
	if (to && to - v.p < 200 && t->name == NONE)
		t->name = intern_add(&r->p->names, slice_of(v.p + 1, (size_t)(to - v.p - 1)));
}

static void take_event(struct reader *r, const struct event *e)
{
	struct profile *p = r->p;
	const bool span = e->ph == 'X' || e->ph == 'B';
	if (e->ph == 'M') {
		name_thread(r, e);
	} else if (e->ph == 's' || e->ph == 'f' || e->ph == 't') {
		p->flows++;
	} else if (e->ph == 'i' || e->ph == 'I') {
		p->memory_events += slice_is(e->name, "[memory]");
	} else if (e->ph == 'E' && e->has_ts) {
		take_end(r, e);
	} else if (span && (!e->has_ts || !e->name.p || (e->ph == 'X' && !e->has_dur))) {
		p->bad_events++;
	} else if (span) {
		const struct slice name = e->escaped ? unescaped(r, e->name) : e->name;
		const uint32_t row = row_of(r, name, event_class(e->cat));
		if (e->ph == 'B')
			take_begin(r, e, row);
		else
			take_span(r, e, e->ts, e->dur, row, e->escaped ? profile_name(p, row) : e->name);
	} else if (!e->ph) {
		p->bad_events++;
	}
}

static int stage_reduce(void *ctx, void *slot)
{
	struct reader *r = ctx;
	struct slot *s = slot;
	r->last_pid = (struct slice){0};
	for (uint32_t i = 0; i < s->n; i++)
		take_event(r, &s->event[i]);
	return 0;
}

/* ---- the end ---- */

static void say_damage(struct reader *r)
{
	struct profile *p = r->p;
	uint64_t open = 0;
	for (uint32_t i = 0; i < p->n_thread; i++)
		open += r->track[i].n_begun;
	if (r->in.lost)
		damage(p, "the file is truncated: %s; the %" PRIu64 " events before that are used", r->in.lost, p->events);
	else if (r->cut.where == CUT_EVENTS && r->carry.len <= PROFILE_EVENT_BYTES)
		damage(p, "the file ends %s, as if the profiler was killed; the %" PRIu64 " events before that are used",
		       r->carry.len ? "inside an event" : "before its list of events is closed", p->events);
	if (p->bad_events)
		damage(p, "%" PRIu64 " events without a usable time are left out", p->bad_events);
	if (open || r->begun_full)
		damage(p, "%" PRIu64 " events start but do not end", open);
	if (p->other_names)
		damage(p, "more than %d names: %" PRIu64 " events are in \"(other names)\"", PROFILE_ROWS_MAX, p->other_names);
	if (p->left_out)
		damage(p, "%" PRIu64 " events beyond %d are left out", p->left_out, PROFILE_EVENTS_MAX);
	if (r->lists_full)
		damage(p, "more than %d steps: the later ones are left out", PROFILE_LIST_MAX);
	if (r->tracks_full)
		damage(p, "more than %d threads: the later ones are counted as one", TRACKS_MAX);
}

static int failure(const struct reader *r, struct err *err)
{
	if (r->p->events)
		return 0;
	if (r->in.lost)
		return err_set(err, EXIT_INPUT, "cannot read '%s': %s", r->in.path, r->in.lost);
	if (r->cut.where == CUT_NOT_JSON || r->cut.where == CUT_START)
		return err_set(err, EXIT_INPUT,
			       "'%s' is not a torch.profiler trace: it is not JSON; give a file written by prof.export_chrome_trace()",
			       r->in.path);
	if (r->cut.where == CUT_HEAD || (r->cut.where == CUT_END && !r->cut.base))
		return err_set(
		    err, EXIT_INPUT,
		    "'%s' is not a torch.profiler trace: it has no \"traceEvents\"; give a file written by prof.export_chrome_trace()",
		    r->in.path);
	return err_set(err, EXIT_INPUT, "'%s' has no events: nothing ran while the profiler was active, or its schedule had no active step",
		       r->in.path);
}

static void reader_release(struct reader *r)
{
	for (uint32_t i = 0; i < r->p->n_thread; i++) {
		for (unsigned k = 0; k < LANES; k++)
			lane_release(&r->track[i].lane[k]);
		free(r->track[i].begun);
	}
	free(r->track);
	free(r->cut.span);
	free(r->first_row);
	free(r->next_row);
	free(r->sought);
	buf_release(&r->carry);
	buf_release(&r->tmp);
	json_tape_release(&r->tape);
	intern_release(&r->track_key);
	input_close(&r->in);
}

int profile_read(struct profile *p, const char *path, struct err *err)
{
	struct reader r = {.p = p, .cut = {.from = NONE}};
	static const struct pipeline stages = {.read = stage_read, .scan = stage_scan, .reduce = stage_reduce};
	*p = (struct profile){.main_thread = NONE};
	memset(r.other_row, 0xff, sizeof(r.other_row));
	if (input_open(&r.in, path, err) < 0)
		return -1;
	struct slot slot[SLOTS] = {0};
	void *slots[SLOTS];
	const unsigned n = cpu_count() < SLOTS ? cpu_count() : SLOTS;
	for (unsigned i = 0; i < n; i++)
		slots[i] = &slot[i];
	struct pipeline with_ctx = stages;
	with_ctx.ctx = &r;
	pipeline_run(&with_ctx, slots, n, n);
	for (unsigned i = 0; i < n; i++) {
		window_release(&slot[i].window);
		buf_release(&slot[i].text);
		free(slot[i].span);
		free(slot[i].event);
	}
	const int rc = failure(&r, err);
	if (!rc) {
		say_damage(&r);
		profile_nest(p, r.track);
	}
	reader_release(&r);
	if (rc)
		profile_release(p);
	return rc;
}

void profile_release(struct profile *p)
{
	for (uint32_t i = 0; i < p->n_row; i++)
		free(p->row[i].shape), free(p->row[i].stack);
	free(p->row);
	free(p->step);
	free(p->region);
	free(p->compile);
	free(p->thread);
	buf_release(&p->damage);
	intern_release(&p->names);
	*p = (struct profile){.main_thread = NONE};
}
