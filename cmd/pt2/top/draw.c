/* draw.c - the lines of the screen, and those for a pipe. */
#include "top/top.h"

#include "base/text.h"

enum { CLIP = 400, JOBS = 3, DEPTH = 64 };

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

static void put_place(struct buf *b, const struct facts *f, const struct fact_loc *loc)
{
	const struct slice file = slice_base(facts_text(f, loc->file)), function = facts_text(f, loc->function);
	if (file.n)
		buf_addf(b, " %.*s:%u", SLN(file, CLIP), loc->line);
	if (function.n)
		buf_addf(b, "%s%.*s", file.n ? " in " : " ", SLN(function, CLIP));
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

/* "compiling 3/0 model.py:88 in forward: Inductor > async_compile.wait, 4 min 2 s" */
static void put_state(struct buf *b, const struct top_log *l)
{
	const struct facts *f = &l->facts;
	const struct fact_marker *in = NULL, *whole = NULL;
	for (uint32_t i = 0; i < f->n_marker; i++)
		if (!f->marker[i].end) {
			in = &f->marker[i];
			whole = whole ? whole : in;
		}
	if (!in) {
		buf_adds(b, l->alive ? "not compiling" : "ended");
		if (l->alive && l->quiet >= 1) {
			buf_adds(b, " for ");
			put_seconds(b, l->quiet);
		}
		return;
	}
	buf_adds(b, l->alive ? "compiling" : "ended while compiling");
	if (in->compile != NONE) {
		buf_addf(b, " %.*s", SL(facts_label(f, in->compile)));
		put_place(b, f, &f->compile[in->compile].loc);
	}
	buf_adds(b, ": ");
	const struct slice outer = facts_text(f, whole->what), inner = facts_text(f, in->what);
	if (whole != in && !slice_eq(outer, inner))
		buf_addf(b, "%.*s > ", SLN(outer, CLIP));
	buf_addf(b, "%.*s", SLN(inner, CLIP));
	put_kernels(b, f, in->compile);
	if (in->open >= 0 && in->open + since_record(l) >= 1) {
		buf_adds(b, ", ");
		put_seconds(b, in->open + since_record(l));
	}
	if (whole != in && whole->open >= in->open + 1) {
		buf_adds(b, " (");
		put_seconds(b, whole->open + since_record(l));
		buf_adds(b, " in all)");
	}
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
	put_place(b, f, &f->compile[c->slowest].loc);
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

static void draw_process(struct lines *o, const struct top_log *l)
{
	LOCAL_BUF text = {0};
	put_who(&text, l);
	buf_adds(&text, "  ");
	put_state(&text, l);
	line(o, &text);
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
};

static int latest_first(const void *a, const void *b)
{
	const struct event *x = a, *y = b;
	return x->time != y->time ? (x->time < y->time) - (x->time > y->time) : (x->row < y->row) - (x->row > y->row);
}

static void put_event(struct buf *b, const struct event *e, bool many)
{
	const struct facts *f = &e->log->facts;
	if (e->time >= 0)
		buf_addf(b, "%7.1f s  ", e->time);
	if (many) {
		put_who(b, e->log);
		buf_adds(b, "  ");
	}
	if (e->kind == 'b') {
		buf_adds(b, "graph break");
		put_place(b, f, &f->brk[e->row].loc);
		buf_addf(b, ": %.*s", SLN(facts_text(f, f->brk[e->row].reason), CLIP));
	} else if (e->kind == 'r') {
		buf_addf(b, "recompile %.*s", SL(facts_label(f, f->recompile[e->row].compile)));
		put_place(b, f, &f->recompile[e->row].loc);
		buf_addf(b, ": %.*s", SLN(facts_text(f, f->recompile[e->row].reason), CLIP));
	} else {
		buf_adds(b, "failed");
		put_place(b, f, &f->failure[e->row].user);
		buf_addf(b, ": %.*s", SLN(facts_text(f, f->failure[e->row].reason), CLIP));
	}
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
				PUSH_TO(v, *n, cap) = (struct event){l->facts.brk[k].time, l, 'b', k};
		for (uint32_t k = 0; k < l->facts.n_recompile; k++)
			PUSH_TO(v, *n, cap) = (struct event){l->facts.recompile[k].time, l, 'r', k};
		for (uint32_t k = 0; k < l->facts.n_failure; k++)
			if (!l->facts.failure[k].restart)
				PUSH_TO(v, *n, cap) = (struct event){l->facts.failure[k].time, l, 'f', k};
	}
	if (*n)
		qsort(v, *n, sizeof(*v), latest_first);
	return v;
}

void top_draw(const struct top *t, struct buf *b, int width, int height, int from)
{
	struct lines o = {b, width, height > 0 ? height : -1};
	LOCAL_BUF text = {0};
	for (size_t i = 0; i < t->n; i++)
		draw_process(&o, &t->log[i]);
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
		put_state(&text, &t->log[i]);
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
