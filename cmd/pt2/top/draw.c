/* draw.c - the lines of the screen, and those for a pipe. */
#include "top/top.h"

#include "base/srcloc.h"
#include "base/text.h"
#include "run/phases.h"

#define TOGETHER 30.0 /* seconds apart in two ranks */
enum { NEAR = 16 };   /* and events */

enum { CLIP = 400, JOBS = 3, BLOCK = 5 /* lines of a process */ };

struct count {
	uint32_t done, failed, breaks, recompiles;
	uint32_t slowest; /* row of compile[]; NONE */
	double seconds;   /* of all that ended */
};

static struct count count_of(const struct facts *f)
{
	struct count c = {.slowest = NONE, .breaks = 0};
	for (uint32_t i = 0; i < f->n_compile; i++) {
		const struct fact_compile *k = &f->compile[i];
		c.failed += k->status == COMPILE_FAILED;
		c.done += k->seconds >= 0;
		c.seconds += k->seconds > 0 ? k->seconds : 0;
		if (k->seconds > 0 && (c.slowest == NONE || k->seconds > f->compile[c.slowest].seconds))
			c.slowest = i;
	}
	for (uint32_t i = 0; i < f->n_brk; i++)
		c.breaks += !f->brk[i].inferred;
	c.recompiles = f->n_recompile;
	return c;
}

static void put_line(struct buf *b, const struct facts *f, const struct fact_loc *loc)
{
	const struct slice file = slice_base(facts_text(f, loc->file));
	if (file.n)
		buf_addf(b, " %.*s:%u", SLN(file, CLIP), loc->line);
}

static bool is_torchs(const struct facts *f, const struct fact_loc *loc) { return slice_has(facts_text(f, loc->file), "torch/_dynamo/"); }

/* Where a frame is: of torch's own (external_utils.py: a whole module is compiled) what called it. */
static struct srcloc frame_at(const struct facts *f, const struct fact_compile *c)
{
	struct slice rest = facts_text(f, c->stack);
	struct srcloc at, own = {.file = facts_text(f, c->loc.file), .line = c->loc.line, .func = facts_text(f, c->loc.function)};
	if (is_torchs(f, &c->loc))
		while (srcloc_next(&rest, &at))
			if (srcloc_is_user(at.file))
				own = at;
	return own;
}

/* "model.py:88 in forward", "model.py:90 in the rest of forward" */
static void put_frame(struct buf *b, const struct facts *f, const struct fact_compile *c)
{
	const struct srcloc at = frame_at(f, c);
	const bool rest = c->resume_of != NONE;
	const struct slice function = rest ? facts_text(f, c->resume_of) : at.func;
	if (at.file.n)
		buf_addf(b, " %.*s:%u", SLN(slice_base(at.file), CLIP), at.line);
	if (function.n)
		buf_addf(b, "%s%s%.*s", at.file.n ? " in " : " ", rest ? "the rest of " : "", SLN(function, CLIP));
}

/* How much longer a phase is open than the log knows. */
static double since_record(const struct top_log *l) { return l->alive && l->quiet > 0 ? l->quiet : 0; }

/* " (kernel 13 of 37)", while C++ kernels are built: those that are built already, and the next. */
static void put_kernels(struct buf *b, const struct facts *f, uint32_t compile)
{
	uint32_t built = 0;
	for (uint32_t i = 0; i < f->n_build; i++)
		built += f->build[i].threaded && f->build[i].compile == compile;
	if (compile != NONE && built && built < f->compile[compile].kernels)
		buf_addf(b, " (kernel %u of %u)", built + 1, f->compile[compile].kernels);
}

/* The phases that are open. inner: not the runs of the compiler, which are counted; the innermost that has a compile id tells it. */
struct open_phases {
	const struct fact_marker *inner;
	uint32_t compile;
	double open; /* the longest */
};

static struct open_phases open_phases(const struct facts *f)
{
	struct open_phases p = {.compile = NONE};
	for (uint32_t i = 0; i < f->n_marker; i++) {
		const struct fact_marker *m = &f->marker[i];
		if (m->end)
			continue;
		p.open = m->open > p.open ? m->open : p.open;
		p.compile = m->compile != NONE ? m->compile : p.compile;
		if (!slice_is(facts_text(f, m->what), "compile_file") || !p.inner)
			p.inner = m;
	}
	return p;
}

/* "compiling 3/0 model.py:88 in forward, 4 min 2 s" */
static void put_state(struct buf *b, const struct top_log *l, const struct open_phases *p)
{
	const struct facts *f = &l->facts;
	if (!p->inner) {
		buf_adds(b, l->alive ? "not compiling" : "ended");
		if (l->alive && l->quiet >= 1) {
			buf_adds(b, " for ");
			put_seconds(b, l->quiet);
		}
		return;
	}
	buf_adds(b, l->alive ? "compiling" : "ended while compiling");
	if (p->compile != NONE) {
		buf_addf(b, " %.*s", SL(facts_label(f, p->compile)));
		put_frame(b, f, &f->compile[p->compile]);
	}
	if (p->open + since_record(l) >= 1) {
		buf_adds(b, ", ");
		put_seconds(b, p->open + since_record(l));
	}
}

/* "scheduling: Scheduler.fused_nodes, 1 min 2 s (kernel 3 of 37)"; nothing while nothing compiles. */
static void put_phase(struct buf *b, const struct top_log *l, const struct open_phases *p)
{
	const struct facts *f = &l->facts;
	if (!p->inner)
		return;
	const struct slice name = facts_text(f, p->inner->what);
	const enum time_part_kind part = phase_part(name);
	if (part != PART_OTHER_TIME)
		buf_addf(b, "%s: ", time_part_name[part]);
	buf_addf(b, "%.*s", SLN(name, CLIP));
	if (p->inner->open >= 0 && p->inner->open + since_record(l) >= 1) {
		buf_adds(b, ", ");
		put_seconds(b, p->inner->open + since_record(l));
	}
	put_kernels(b, f, p->compile);
}

static void put_counts(struct buf *b, const struct count *c)
{
	put_count(b, c->done, "compilation");
	if (c->done) {
		buf_adds(b, " in ");
		put_seconds(b, c->seconds);
	}
	if (c->failed)
		buf_addf(b, " (%u failed)", c->failed);
	buf_addf(b, ", %u graph break%s, %u recompile%s", c->breaks, plural(c->breaks), c->recompiles, plural(c->recompiles));
}

static void put_slowest(struct buf *b, const struct facts *f, const struct count *c)
{
	buf_addf(b, "slowest: %.*s", SL(facts_label(f, c->slowest)));
	put_frame(b, f, &f->compile[c->slowest]);
	buf_adds(b, ", ");
	put_seconds(b, f->compile[c->slowest].seconds);
}

/* "2 compilers run: cc1plus cxyz.main.cpp 24.1 s, ...": kernels that are being built now. */
static void put_compilers(struct buf *b, const struct proc_list *jobs)
{
	put_count(b, jobs->n, "compiler");
	buf_addf(b, " running: ");
	for (size_t i = 0; i < jobs->n && i < JOBS; i++) {
		buf_addf(b, "%s%s ", i ? ", " : "", jobs->v[i].what);
		put_seconds(b, jobs->v[i].seconds);
	}
	if (jobs->n > JOBS)
		buf_adds(b, ", ...");
}

/* The last word of each job of torch's own workers (2.15: a record a minute). */
static void put_workers(struct buf *b, const struct facts *f)
{
	unsigned n = 0;
	for (uint32_t i = f->n_worker; i-- && n < JOBS;) {
		const struct fact_worker *w = &f->worker[i];
		bool again = w->what != WORKER_STATUS;
		for (uint32_t k = i + 1; k < f->n_worker; k++)
			again |= f->worker[k].what == WORKER_STATUS && f->worker[k].job == w->job;
		if (again)
			continue;
		buf_addf(b, "%sjob %lld, worker %lld: %.*s ", n++ ? ", " : "slow jobs: ", (long long)w->job, (long long)w->pid,
			 SLN(facts_text(f, w->phase), CLIP));
		put_seconds(b, w->seconds);
	}
}

/* ---- lines ---- */

struct lines {
	struct buf *b;
	int width, left; /* rows; -1: no limit */
};

/* Adds the text as one line, cut to the width after a whole character. */
static void line(struct lines *o, struct buf *text)
{
	LOCAL_BUF flat = {0};
	if (o->left) {
		put_flat(&flat, buf_slice(text), o->width > 3 ? (size_t)o->width - 3 : SIZE_MAX);
		buf_add_slice(o->b, buf_slice(&flat));
		buf_addc(o->b, '\n');
		o->left -= o->left > 0;
	}
	buf_reset(text);
}

static void put_who(struct buf *b, const struct top_log *l)
{
	buf_addf(b, "%lld", (long long)l->pid);
	if (l->rank >= 0)
		buf_addf(b, " rank %lld", (long long)l->rank);
}

static void draw_process(struct lines *o, const struct top_log *l, bool brief)
{
	LOCAL_BUF text = {0};
	const struct open_phases p = open_phases(&l->facts);
	put_who(&text, l);
	buf_adds(&text, "  ");
	put_state(&text, l, &p);
	line(o, &text);
	if (p.inner) {
		buf_adds(&text, "    ");
		put_phase(&text, l, &p);
		line(o, &text);
	}
	if (brief)
		return;
	const struct count c = count_of(&l->facts);
	buf_adds(&text, "    ");
	put_counts(&text, &c);
	line(o, &text);
	if (c.slowest != NONE && c.done > 1) {
		buf_adds(&text, "    ");
		put_slowest(&text, &l->facts, &c);
		line(o, &text);
	}
	if (l->compilers.n) {
		buf_adds(&text, "    ");
		put_compilers(&text, &l->compilers);
		line(o, &text);
	}
	LOCAL_BUF workers = {0};
	put_workers(&workers, &l->facts);
	if (workers.len && l->alive) {
		buf_addf(&text, "    %s", buf_str(&workers));
		line(o, &text);
	}
}

/* What happened: a break, a recompile or a failure; `time` counts from the log's beginning. */
struct event {
	double time;
	const struct top_log *log;
	char kind; /* b r f */
	uint32_t row;
	uint32_t n;                 /* processes it happened in (join_events) */
	const struct top_log *last; /* of these */
};

static int latest_first(const void *a, const void *b)
{
	const struct event *x = a, *y = b;
	return x->time != y->time ? (x->time < y->time) - (x->time > y->time) : (x->row < y->row) - (x->row > y->row);
}

/* "0/0: tensor 'x' size mismatch ..." without the id. */
static struct slice without_id(struct slice reason)
{
	size_t i = 0;
	while (i < reason.n && (is_digit(reason.p[i]) || reason.p[i] == '/'))
		i++;
	return i && i + 2 <= reason.n && reason.p[i] == ':' ? slice_of(reason.p + i + 2, reason.n - i - 2) : reason;
}

static void put_what(struct buf *b, const struct event *e)
{
	const struct facts *f = &e->log->facts;
	if (e->kind == 'b') {
		buf_adds(b, "graph break");
		put_line(b, f, &f->brk[e->row].loc);
		buf_addf(b, ": %.*s", SLN(facts_text(f, f->brk[e->row].reason), CLIP));
	} else if (e->kind == 'r') {
		const struct fact_recompile *r = &f->recompile[e->row];
		buf_addf(b, "recompile %.*s", SL(facts_label(f, r->compile)));
		if (is_torchs(f, &r->loc) && r->compile != NONE)
			put_frame(b, f, &f->compile[r->compile]);
		else
			put_line(b, f, &r->loc);
		buf_addf(b, ": %.*s", SLN(without_id(facts_text(f, r->reason)), CLIP));
	} else {
		buf_adds(b, "failed");
		put_line(b, f, &f->failure[e->row].user);
		buf_addf(b, ": %.*s", SLN(facts_text(f, f->failure[e->row].reason), CLIP));
	}
}

static void put_event(struct buf *b, const struct event *e, bool many)
{
	if (e->time >= 0)
		buf_addf(b, "%7.1f s  ", e->time);
	if (many) {
		if (e->n > 1)
			buf_addf(b, "%u %s  ", e->n, e->log->rank >= 0 ? "ranks" : "processes");
		else if (e->log->rank >= 0)
			buf_addf(b, "rank %lld  ", (long long)e->log->rank);
		else
			buf_addf(b, "%lld  ", (long long)e->log->pid);
	}
	put_what(b, e);
}

static bool same_event(const struct event *a, const struct event *b)
{
	LOCAL_BUF x = {0};
	LOCAL_BUF y = {0};
	if (a->kind != b->kind || a->log == b->log || a->time - b->time > TOGETHER)
		return false;
	put_what(&x, a);
	put_what(&y, b);
	return slice_eq(buf_slice(&x), buf_slice(&y));
}

/* What happened in several processes at about the same time becomes one event, the latest. */
static size_t join_events(struct event *e, size_t n)
{
	size_t left = 0;
	for (size_t i = 0; i < n; i++) {
		size_t k = left > NEAR ? left - NEAR : 0;
		while (k < left && !(e[k].last != e[i].log && same_event(&e[k], &e[i])))
			k++;
		if (k < left) {
			e[k].n++;
			e[k].last = e[i].log;
		} else {
			e[left++] = e[i];
		}
	}
	return left;
}

static struct event *events_of(const struct top *t, size_t *n)
{
	struct event *v = NULL;
	size_t cap = 0;
	*n = 0;
	for (size_t i = 0; i < t->n; i++) {
		const struct top_log *l = &t->log[i];
		for (uint32_t k = 0; k < l->facts.n_brk; k++)
			if (!l->facts.brk[k].inferred)
				PUSH_TO(v, *n, cap) = (struct event){l->facts.brk[k].time, l, 'b', k, 1, l};
		for (uint32_t k = 0; k < l->facts.n_recompile; k++)
			PUSH_TO(v, *n, cap) = (struct event){l->facts.recompile[k].time, l, 'r', k, 1, l};
		for (uint32_t k = 0; k < l->facts.n_failure; k++)
			if (!l->facts.failure[k].restart)
				PUSH_TO(v, *n, cap) = (struct event){l->facts.failure[k].time, l, 'f', k, 1, l};
	}
	if (*n)
		qsort(v, *n, sizeof(*v), latest_first);
	*n = join_events(v, *n);
	return v;
}

void top_draw(const struct top *t, struct buf *b, int width, int height, int from)
{
	struct lines o = {b, width, height > 0 ? height : -1};
	LOCAL_BUF text = {0};
	const bool brief = height > 0 && t->n * BLOCK > (size_t)height;
	for (size_t i = 0; i < t->n; i++)
		draw_process(&o, &t->log[i], brief);
	if (!t->n) {
		buf_addf(&text, "no trace in %s yet", t->dir);
		line(&o, &text);
	}
	size_t n;
	FREED struct event *e = events_of(t, &n);
	if (n) {
		line(&o, &text);
		buf_addf(&text, "What happened, latest first (%zu)", n);
		line(&o, &text);
	}
	for (size_t i = from > 0 ? (size_t)from : 0; i < n && o.left; i++) {
		put_event(&text, &e[i], t->n > 1);
		line(&o, &text);
	}
}

void top_line(const struct top *t, struct buf *b)
{
	struct lines o = {b, 0, -1};
	LOCAL_BUF text = {0};
	for (size_t i = 0; i < t->n; i++) {
		put_who(&text, &t->log[i]);
		buf_adds(&text, "  ");
		const struct open_phases p = open_phases(&t->log[i].facts);
		put_state(&text, &t->log[i], &p);
		buf_adds(&text, p.inner ? ": " : "");
		put_phase(&text, &t->log[i], &p);
		buf_adds(&text, "; ");
		const struct count c = count_of(&t->log[i].facts);
		put_counts(&text, &c);
		if (t->log[i].compilers.n) {
			buf_adds(&text, "; ");
			put_compilers(&text, &t->log[i].compilers);
		}
		line(&o, &text);
	}
}
