/* facts_phases.c - turns chromium events into phases: durations, counts, and unfinished ones.
 *
 * torch 2.13.0 (torch/_dynamo/utils.py, ChromiumEventLogger) writes one record per begin and end of a dynamo_timed block:
 *
 *     {"name": "bytecode_tracing", "ts": 1795258971571018.5, "args": {"compile_id": "0/0"}, "ph": "B",
 *      "cat": "dynamo_timed", "tid": 0, "pid": 0}
 *
 * ts is in microseconds; "i" is an instant, "X" (not written by torch 2.13, but by tools that merge traces) has a "dur". All
 * threads have tid 0, so that blocks of two threads may overlap (compile_file: C++ kernels are compiled in parallel): an end closes the
 * innermost block of its name. Times are wall time: a moment is the self time of one block, the one that began last, and blocks of one name
 * that run at once count as one. The texts are scanned in parallel; begins and ends are joined in order.
 */
#include "base/jsonskim.h"
#include "run/trace/facts_part.h"

enum { OPEN_MAX = 1024, NAME_MAX_BYTES = 200 };

struct chromium_event {
	struct slice name; /* in the window */
	double ts, dur;    /* microseconds */
	uint64_t thread;   /* hash of pid and tid */
	uint64_t line;
	uint32_t compile; /* of facts.attempt */
	char phase;       /* B E X i */
};
struct event_slot {
	struct chromium_event *event;
	uint32_t n, cap;
};

/* ---- in parallel: the content of an event ---- */

static bool read_number(struct slice s, double *out)
{
	char text[40], *end;
	if (!s.n || s.n >= sizeof(text))
		return false;
	memcpy(text, s.p, s.n);
	text[s.n] = 0;
	*out = strtod(text, &end);
	return *end == 0 && *out > -1e18 && *out < 1e18;
}

static struct slice unquoted(struct slice s) { return s.n >= 2 && s.p[0] == '"' ? slice_of(s.p + 1, s.n - 2) : slice_of(NULL, 0); }

static bool read_event(struct slice payload, struct chromium_event *e)
{
	static const char *const keys[] = {"name", "ts", "ph", "tid", "pid", "dur"};
	struct slice value[ARRAY_LEN(keys)];
	struct json_skim skim;
	if (json_skim_members(&skim, payload, keys, value, ARRAY_LEN(keys)) < 0)
		return false;
	struct slice phase = unquoted(value[2]);
	e->name = unquoted(value[0]);
	if (!e->name.n || e->name.n > NAME_MAX_BYTES || phase.n != 1 || !read_number(value[1], &e->ts))
		return false;
	e->phase = phase.p[0];
	e->dur = 0;
	if (e->phase == 'X' && !read_number(value[5], &e->dur))
		return false;
	e->thread = hash_bytes(value[3].p, value[3].n) * 31 + hash_bytes(value[4].p, value[4].n);
	return true;
}

void phases_emit(const struct trace_reading *r, struct trace_scan *s)
{
	if (r->o->no_phases)
		return;
	if (!s->events)
		s->events = xcalloc(1, sizeof(struct event_slot));
	struct event_slot *slot = s->events;
	slot->n = 0;
	for (uint32_t i = 0; i < s->n; i++) {
		const struct trace_record *rec = &s->rec[i];
		struct chromium_event e;
		if (!(rec->kinds >> KIND_chromium_event & 1) || rec->flags & (REC_MALFORMED | REC_LOOSE | REC_OTHER_RANK | REC_NO_JSON))
			continue;
		if (!read_event(trace_payload(s, rec), &e))
			continue;
		e.line = s->first_line + rec->line;
		e.compile = rec->attempt;
		PUSH_TO(slot->event, slot->n, slot->cap) = e;
	}
}

void phases_free_slot(struct trace_scan *s)
{
	struct event_slot *slot = s->events;
	if (slot)
		free(slot->event);
	free(slot);
	s->events = NULL;
}

/* ---- in order: begins and ends ---- */

/* "pass.post_grad_passes.remove_noop_ops": for one compile id only the group is kept, since there are dozens of passes. */
static struct slice group_of(struct slice name)
{
	if (!slice_starts(name, "pass."))
		return name;
	const char *dot = memchr(name.p + 5, '.', name.n - 5);
	return slice_of(name.p, dot ? (size_t)(dot - name.p) : name.n);
}

static uint32_t *head_of(struct heads *h, uint32_t i)
{
	while (h->n <= i)
		PUSH_TO(h->v, h->n, h->cap) = NONE;
	return &h->v[i];
}

static struct fact_phase *sum_of(struct trace_phases *p, uint32_t compile, uint32_t name, uint64_t line)
{
	const uint32_t from = p->f->n_phase - p->next.n;
	uint32_t *head = compile == NONE ? head_of(&p->of_run, name) : head_of(&p->of_compile, compile), k = *head;
	while (k != NONE && p->f->phase[k].name != name)
		k = p->next.v[k - from];
	if (k == NONE) {
		k = p->f->n_phase;
		struct fact_phase *row = facts_new_phase(p->f, fact_src(p->input, line));
		row->compile = compile;
		row->name = name;
		*head_of(&p->next, k - from) = *head;
		*head = k;
	}
	return &p->f->phase[k];
}

static uint32_t innermost(const struct trace_phases *p, uint64_t thread)
{
	uint32_t i = p->n_open;
	while (i-- > 0)
		if (p->open[i].thread == thread)
			break;
	return i;
}

/* The innermost open block of a name; NONE compile: of any. */
static uint32_t open_of(const struct trace_phases *p, uint64_t thread, uint32_t name, uint32_t compile)
{
	uint32_t i = p->n_open;
	while (i-- > 0)
		if (p->open[i].name == name && p->open[i].thread == thread && (compile == NONE || p->open[i].compile == compile))
			break;
	return i;
}

/* In wall time, a block nested in one of the same name counts once. */
static void add_to(struct fact_phase *to, double us, double self, bool within)
{
	to->seconds += within ? 0 : us;
	to->each += us;
	to->self += self;
	to->calls++;
}

static void add_call(struct trace_phases *p, const struct chromium_event *e, uint32_t name, uint32_t compile, uint64_t line, double us,
		     double self)
{
	add_to(sum_of(p, NONE, name, line), us, self, open_of(p, e->thread, name, NONE) != NONE);
	if (compile == NONE)
		return;
	struct slice group = group_of(e->name);
	add_to(sum_of(p, compile, group.n == e->name.n ? name : intern_add(&p->names, group), line), us, self,
	       open_of(p, e->thread, name, compile) != NONE);
}

/* The time so far belongs to the innermost block. */
static uint32_t pass_time(struct trace_phases *p, const struct chromium_event *e)
{
	uint32_t i = innermost(p, e->thread);
	if (i != NONE && e->ts > p->open[i].since) {
		p->open[i].self += e->ts - p->open[i].since;
		p->open[i].since = e->ts;
	}
	return i;
}

/* ---- runs of the C++ compiler ---- */

static bool is_build(struct slice name) { return slice_is(name, "compile_file"); }

/* Runs in threads look alike: the one that began first ends first. */
static double take_start(struct trace_phases *p, uint32_t at)
{
	uint32_t first = 0;
	while (first < at && (p->open[first].name != p->open[at].name || p->open[first].compile != p->open[at].compile))
		first++;
	const double ran = p->open[first].ran;
	p->open[first].ran = p->open[at].ran;
	return ran;
}

/* What is outside of any compilation has an attempt, too. */
static uint32_t compile_id_of(const struct trace_phases *p, uint32_t attempt)
{
	return attempt == NONE || p->f->attempt[attempt].compile == NONE ? NONE : attempt;
}

/* open[at] ends now. The block around it is the innermost that is not such a run, and the innermost compile id. */
static void add_build(struct trace_phases *p, uint32_t at, double end)
{
	struct fact_build *b = facts_new_build(p->f, fact_src(p->input, p->open[at].line));
	uint32_t within = NONE, around = NONE;
	p->n_build++;
	for (uint32_t i = p->n_open; i-- > 0;) {
		if (is_build(intern_get(&p->names, p->open[i].name)))
			continue;
		within = within == NONE ? p->open[i].name : within;
		around = around == NONE ? compile_id_of(p, p->open[i].compile) : around;
	}
	const uint32_t own = compile_id_of(p, p->open[at].compile);
	b->threaded = own == NONE && around != NONE;
	b->compile = b->threaded ? around : own;
	b->within = within;
	b->start = take_start(p, at);
	b->seconds = end > b->start ? end - b->start : 0;
}

static void begin(struct trace_phases *p, const struct chromium_event *e)
{
	pass_time(p, e);
	if (p->n_open == OPEN_MAX) {
		memmove(p->open, p->open + 1, (OPEN_MAX - 1) * sizeof(*p->open)); /* a hostile log: the oldest is dropped */
		p->n_open--;
	}
	PUSH_TO(p->open, p->n_open, p->cap_open) =
	    (struct open_phase){intern_add(&p->names, e->name), e->compile, e->line, e->thread, e->ts, 0, e->ts, e->ts};
}

static void end(struct trace_phases *p, const struct chromium_event *e)
{
	uint32_t name = intern_add(&p->names, e->name), i = open_of(p, e->thread, name, e->compile);
	if (i == NONE && e->compile != NONE)
		i = open_of(p, e->thread, name, NONE);
	if (i == NONE)
		return; /* its begin is lost */
	pass_time(p, e);
	if (is_build(e->name))
		add_build(p, i, e->ts);
	struct open_phase o = p->open[i];
	memmove(&p->open[i], &p->open[i + 1], (p->n_open - i - 1) * sizeof(*p->open));
	p->n_open--;
	i = innermost(p, e->thread);
	if (i != NONE)
		p->open[i].since = e->ts;
	/* A restarted compilation has its first events before its dynamo_start, under the previous one's name. */
	add_call(p, e, name, e->compile != NONE ? e->compile : o.compile, o.line, e->ts > o.ts ? e->ts - o.ts : 0, o.self);
}

void phases_commit(struct trace_reading *r, const struct trace_scan *s)
{
	struct trace_phases *p = &r->phases;
	const struct event_slot *slot = s->events;
	p->f = r->f;
	p->input = r->t->input;
	for (uint32_t i = 0; slot && i < slot->n; i++) {
		const struct chromium_event *e = &slot->event[i];
		p->first = p->first > 0 ? p->first : e->ts;
		p->last = e->ts > p->last ? e->ts : p->last;
		if (e->phase == 'B')
			begin(p, e);
		else if (e->phase == 'E')
			end(p, e);
		else if (e->phase == 'X')
			add_call(p, e, intern_add(&p->names, e->name), e->compile, e->line, e->dur > 0 ? e->dur : 0,
				 e->dur > 0 ? e->dur : 0);
		else if (e->phase == 'i')
			add_call(p, e, intern_add(&p->names, e->name), e->compile, e->line, 0, 0);
	}
}

/* ---- the end ---- */

/* Merges attempts of one id, and ids without a frame, into one row, in place. */
static void join_attempts(struct trace_reading *r)
{
	struct trace_phases *p = &r->phases;
	struct facts *f = r->f;
	struct heads first = {0}; /* rows by compile */
	const uint32_t n = f->n_phase, from = n - p->next.n;
	f->n_phase = from;
	for (uint32_t i = from; i < n; i++) {
		const struct fact_phase x = f->phase[i];
		const uint32_t compile = x.compile == NONE ? NONE : f->attempt[x.compile].compile;
		if (x.compile != NONE && compile == NONE)
			continue; /* the run has it */
		const uint32_t name = facts_intern(f, intern_get(&p->names, x.name));
		uint32_t k = compile == NONE ? NONE : *head_of(&first, compile);
		while (k != NONE && f->phase[k].name != name)
			k = p->next.v[k - from];
		if (k == NONE) {
			k = f->n_phase++;
			f->phase[k] = (struct fact_phase){.src = x.src, .compile = compile, .name = name};
			p->next.v[k - from] = compile == NONE ? NONE : first.v[compile];
			if (compile != NONE)
				first.v[compile] = k;
		}
		/* the block around them has no end in this log: they are all that is known about it */
		f->phase[k].seconds += (x.seconds > x.self ? x.seconds : x.self) / 1e6;
		f->phase[k].self += x.self / 1e6;
		f->phase[k].each += x.each / 1e6;
		f->phase[k].calls += x.calls;
	}
	free(first.v);
}

static void end_builds(struct trace_phases *p)
{
	struct facts *f = p->f;
	for (uint32_t i = p->n_build; i > 0; i--) {
		struct fact_build *b = &f->build[f->n_build - i];
		b->compile = b->compile == NONE ? NONE : f->attempt[b->compile].compile;
		b->within = b->within == NONE ? NONE : facts_intern(f, intern_get(&p->names, b->within));
		b->start = (b->start - p->first) / 1e6;
		b->seconds /= 1e6;
	}
}

void phases_end(struct trace_reading *r)
{
	struct trace_phases *p = &r->phases;
	struct facts *f = r->f;
	join_attempts(r);
	if (p->n_build)
		end_builds(p);
	for (uint32_t i = 0; i < p->n_open; i++) {
		struct slice name = intern_get(&p->names, p->open[i].name);
		struct fact_marker *m = facts_new_marker(f, fact_src(r->t->input, p->open[i].line));
		m->compile = p->open[i].compile == NONE ? NONE : f->attempt[p->open[i].compile].compile;
		m->component = phase_component(name);
		m->open = p->last > p->open[i].ts ? (p->last - p->open[i].ts) / 1e6 : 0;
		m->what = facts_intern(f, name);
	}
	free(p->of_run.v);
	free(p->of_compile.v);
	free(p->next.v);
	intern_release(&p->names);
	free(p->open);
}
