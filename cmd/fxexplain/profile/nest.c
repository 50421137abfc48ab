/* nest.c - from marks to times: which call is inside which, the self times that follow, and where the steps' time went.
 */
#include "profile/profile_part.h"
#include "base/rows.h"

/* A call that is open. */
struct frame {
	uint64_t ts, end, row_dur;
	uint64_t child, only_dur; /* ns of direct children; of the first one, if it has the same name */
	uint32_t row, children;
	uint32_t region; /* index on the stack of the innermost region, itself included; NONE */
	uint32_t step;
	uint8_t kind;
	bool compiling, in_graph, idle, only_same;
	/* if it is a region */
	uint32_t id;
	uint64_t graph_end, compiled; /* end of the last graph that ran in it, ns spent compiling since */
};

struct nest {
	struct profile *p;
	struct frame *v;
	size_t n, cap;
	uint32_t step_at;
	bool python;
	struct lane *busy;
	uint64_t lookup;        /* ns of lookups whose region was not seen yet */
	uint32_t compile;       /* the one that is open */
	struct intern *regions; /* "0/1" -> index of p->region */
	uint64_t spent[SPENT_PARTS];
};

static uint64_t less(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

/* The step at this time, searching from *at; NONE between steps. Times of one lane are in order. */
static uint32_t profile_step_at(const struct profile *p, uint64_t ts, uint32_t *at)
{
	while (*at < p->n_step && p->step[*at].ts + p->step[*at].dur <= ts)
		++*at;
	return *at < p->n_step && p->step[*at].ts <= ts ? *at : NONE;
}

/* ---- compiled regions ---- */

static uint32_t region_row(struct nest *s, struct slice name)
{
	struct profile *p = s->p;
	const struct slice id = profile_region_id(name);
	uint32_t i = intern_find(s->regions, id);
	if (i != NONE)
		return i;
	i = intern_add(s->regions, id);
	PUSH(p, region) = (struct profile_region){.id = intern_add(&p->names, id), .after = NONE};
	return i;
}

static void enter_region(struct nest *s, struct frame *f, struct frame *outer, bool counted)
{
	struct profile *p = s->p;
	f->id = region_row(s, profile_name(p, f->row));
	f->graph_end = f->ts;
	struct profile_region *r = &p->region[f->id];
	r->calls++;
	r->total += f->row_dur;
	r->lookup += s->lookup;
	s->lookup = 0;
	if (!outer)
		return;
	const uint64_t wait = less(less(f->ts, outer->graph_end), outer->compiled);
	r->nested++;
	r->wait += wait;
	r->after = outer->id;
	if (counted) {
		p->breaks++;
		p->break_wait += wait;
	}
}

/* A graph, or a nested region, ended: the outer region's next one waits from here on. */
static void graph_done(struct nest *s, const struct frame *f)
{
	const uint32_t at = f->kind == KIND_REGION ? (f > s->v ? f[-1].region : NONE) : f->region;
	if (at == NONE)
		return;
	s->v[at].graph_end = f->end;
	s->v[at].compiled = 0;
}

/* ---- compiling ---- */

static bool is_again(struct slice id)
{
	const char *slash = slice_rchr(id, '/');
	uint64_t n = 0;
	size_t i = slash ? (size_t)(slash + 1 - id.p) : id.n;
	for (; i < id.n && id.p[i] >= '0' && id.p[i] <= '9' && n < 1000000; i++)
		n = n * 10 + (uint64_t)(id.p[i] - '0');
	return n > 0;
}

static void enter_compile(struct nest *s, const struct frame *f)
{
	struct profile *p = s->p;
	if (p->n_compile >= PROFILE_LIST_MAX) {
		s->compile = NONE;
		return;
	}
	s->compile = p->n_compile;
	PUSH(p, compile) =
	    (struct profile_compile){.ts = f->ts, .dur = f->row_dur, .id = NONE, .step = f->step, .what = p->row[f->row].name};
	if (f->step != NONE)
		p->step[f->step].compile += f->row_dur;
	if (f->region != NONE)
		s->v[f->region].compiled += f->row_dur;
}

static void compile_says(struct nest *s, const struct frame *f)
{
	struct profile *p = s->p;
	if (s->compile == NONE)
		return;
	struct profile_compile *c = &p->compile[s->compile];
	const struct slice name = profile_name(p, f->row), id = profile_compile_id(name);
	c->backward |= slice_starts(name, "entire_backward_compile") || slice_starts(name, "backward._backward_impl");
	if (c->id == NONE) {
		c->again = is_again(id);
		c->id = intern_add(&p->names, id);
	}
}

/* ---- calls ---- */

static enum profile_spent part_of(const struct frame *f, const struct profile_row *r)
{
	if (f->compiling)
		return SPENT_COMPILE;
	if (r->class == CLASS_RUNTIME)
		return SPENT_DEVICE;
	switch ((enum profile_kind)f->kind) {
	case KIND_LOOKUP: return SPENT_GUARDS;
	case KIND_KERNEL: return SPENT_KERNEL;
	case KIND_GRAPH: return SPENT_GENERATED;
	case KIND_REGION:
	case KIND_WRAPPER: return SPENT_DYNAMO;
	case KIND_AUTOGRAD: return SPENT_AUTOGRAD;
	case KIND_STEP: return SPENT_PYTHON;
	case KIND_USER: return f->in_graph ? SPENT_GENERATED : SPENT_PYTHON;
	default: return f->in_graph ? SPENT_EXTERN : SPENT_EAGER;
	}
}

static void count_in_step(struct nest *s, const struct frame *f, struct profile_row *r, uint64_t self)
{
	const enum profile_spent part = part_of(f, r);
	s->spent[part] += self;
	if (f->compiling || f->kind == KIND_STEP)
		return;
	r->step_count++;
	r->step_self += self;
	if (f->in_graph)
		r->graph_self += self;
	if (part == SPENT_EAGER && f->row_dur < 5000 && !f->children) {
		s->p->small_eager++;
		s->p->small_eager_ns += self;
	}
}

static void leave(struct nest *s)
{
	struct frame *f = &s->v[s->n - 1];
	struct profile *p = s->p;
	struct profile_row *r = &p->row[f->row];
	const uint64_t self = less(f->row_dur, f->child);
	r->count++;
	r->total += f->row_dur;
	r->self += self;
	r->overlap += less(f->child, f->row_dur);
	r->min = f->row_dur < r->min ? f->row_dur : r->min;
	r->max = f->row_dur > r->max ? f->row_dur : r->max;
	if (f->children == 1 && f->only_same) {
		r->folded++;
		r->count--;
		r->total -= f->only_dur;
	}
	if (f->compiling) {
		r->compile_count++;
		r->compile_self += self;
	}
	if (!p->n_step || f->step != NONE)
		count_in_step(s, f, r, self);
	if (!s->python && (f->kind == KIND_GRAPH || f->kind == KIND_REGION))
		graph_done(s, f);
	s->n--;
}

static void enter(struct nest *s, const struct mark *m)
{
	struct profile *p = s->p;
	const uint32_t row = mark_row(m);
	GROW(s->v, s->n, s->cap, 1);
	struct frame *f = &s->v[s->n], *up = s->n ? f - 1 : NULL;
	*f = (struct frame){.ts = m->ts,
			    .end = mark_end(m),
			    .row_dur = mark_dur(m),
			    .row = row,
			    .kind = p->row[row].kind,
			    .region = up ? up->region : NONE,
			    .compiling = up && up->compiling,
			    .in_graph = up && up->in_graph,
			    .step = profile_step_at(p, m->ts, &s->step_at)};
	s->n++;
	if (up) {
		up->children++;
		up->child += f->row_dur;
		up->only_same = up->row == row;
		up->only_dur = f->row_dur;
	}
	if (s->python)
		return;
	const bool was_compiling = f->compiling, counted = !p->n_step || f->step != NONE;
	const bool outside = f->kind == KIND_STEP || f->kind == KIND_USER;
	f->idle = outside && (!up || up->idle);
	if (!outside && (!up || up->idle))
		lane_add(s->busy, *m);
	f->in_graph |= f->kind == KIND_GRAPH;
	f->compiling |= f->kind == KIND_COMPILE;
	if (f->kind == KIND_REGION && !was_compiling) {
		enter_region(s, f, f->region == NONE ? NULL : &s->v[f->region], counted);
		f->region = (uint32_t)(s->n - 1);
	} else if (f->kind == KIND_LOOKUP) {
		s->lookup += f->row_dur;
	} else if (f->compiling && !was_compiling) {
		s->lookup = 0; /* led to this, not to a call */
		enter_compile(s, f);
	} else if (f->kind == KIND_COMPILE_DATA && was_compiling) {
		compile_says(s, f);
	}
}

/* As torch does: a call is inside another if it starts and ends in it; partially overlapping calls are siblings. */
static void nest(struct nest *s, const struct lane *l)
{
	s->step_at = 0;
	s->compile = NONE;
	for (size_t i = 0; i < l->n; i++) {
		const struct mark *m = &l->v[i];
		while (s->n && (m->ts >= s->v[s->n - 1].end || mark_end(m) > s->v[s->n - 1].end))
			leave(s);
		enter(s, m);
	}
	while (s->n)
		leave(s);
}

/* ---- devices: nothing nests ---- */

static void device(struct profile *p, const struct lane *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const uint64_t dur = mark_dur(&l->v[i]);
		struct profile_row *r = &p->row[mark_row(&l->v[i])];
		r->count++;
		r->total += dur;
		r->self += dur;
		r->min = dur < r->min ? dur : r->min;
		r->max = dur > r->max ? dur : r->max;
		/* Kernels launched in a step may run after it. */
		if (!p->n_step || l->v[i].ts >= p->step[0].ts) {
			r->step_count++;
			r->step_self += dur;
		}
	}
}

/* Time in which at least one of them ran; they are sorted. */
static uint64_t lane_union(const struct lane *l)
{
	uint64_t sum = 0, end = 0;
	for (size_t i = 0; i < l->n; i++) {
		const uint64_t from = l->v[i].ts > end ? l->v[i].ts : end, to = mark_end(&l->v[i]);
		sum += less(to, from);
		end = to > end ? to : end;
	}
	return sum;
}

static void devices(struct profile *p, struct track *track)
{
	uint64_t first = UINT64_MAX, last = 0;
	for (uint32_t i = 0; i < p->n_thread; i++) {
		if (!p->thread[i].device)
			continue;
		/* All streams of one device. */
		OWNED(lane_release) struct lane all = {0};
		bool seen = false;
		for (uint32_t k = 0; k < p->n_thread; k++) {
			const struct lane *l = &track[k].lane[LANE_DEVICE];
			if (!p->thread[k].device || p->thread[k].pid != p->thread[i].pid)
				continue;
			seen |= k < i;
			for (size_t m = 0; m < l->n && !seen; m++)
				lane_add(&all, l->v[m]);
		}
		lane_sort(&all);
		if (all.n) {
			p->devices++;
			p->device_busy += lane_union(&all);
			first = all.v[0].ts < first ? all.v[0].ts : first;
			for (size_t m = 0; m < all.n; m++)
				last = mark_end(&all.v[m]) > last ? mark_end(&all.v[m]) : last;
		}
	}
	p->device_span = p->devices ? last - first : 0;
}

/* ---- all of it ---- */

static int by_time(const void *a, const void *b)
{
	const struct profile_step *x = a, *y = b;
	return x->ts < y->ts ? -1 : x->ts > y->ts;
}

static int by_begin(const void *a, const void *b)
{
	const struct profile_compile *x = a, *y = b;
	return x->ts < y->ts ? -1 : x->ts > y->ts;
}

static void find_main(struct profile *p, const struct track *track)
{
	uint64_t most = 0;
	for (uint32_t i = 0; i < p->n_thread; i++) {
		p->thread[i].events = track[i].lane[LANE_OPS].n + track[i].lane[LANE_DEVICE].n;
		const uint64_t n = track[i].lane[LANE_OPS].n;
		if (n > most) {
			most = n;
			p->main_thread = i;
		}
	}
	if (p->n_step)
		p->main_thread = p->step[0].thread;
}

static void nest_ops(struct profile *p, struct track *track, struct nest *s, struct lane *busy)
{
	for (uint32_t i = 0; i < p->n_thread; i++) {
		struct lane *l = &track[i].lane[LANE_OPS], mine = {0};
		lane_sort(l);
		s->busy = &mine;
		memset(s->spent, 0, sizeof(s->spent));
		nest(s, l);
		p->thread[i].busy = lane_union(&mine);
		p->n_busy_thread += l->n > 0;
		if (i == p->main_thread)
			memcpy(p->spent, s->spent, sizeof(p->spent));
		for (size_t k = 0; k < mine.n; k++)
			lane_add(busy, mine.v[k]);
		lane_release(&mine);
		lane_release(l);
		lane_sort(&track[i].lane[LANE_DEVICE]);
		device(p, &track[i].lane[LANE_DEVICE]);
		if (p->thread[i].device && !p->thread[i].busy)
			p->thread[i].busy = lane_union(&track[i].lane[LANE_DEVICE]);
	}
}

static void fill_wall(struct profile *p)
{
	p->wall = p->n_step ? 0 : p->last - p->first;
	for (uint32_t i = 0; i < p->n_step; i++)
		p->wall += p->step[i].dur;
	uint64_t known = 0;
	for (unsigned k = 0; k < SPENT_PARTS; k++)
		known += k == SPENT_PYTHON ? 0 : p->spent[k];
	/* Time that no event covers: nothing ran anywhere, or another thread did the work. */
	const uint64_t rest = less(p->wall, known);
	p->spent[SPENT_WAIT] = less(rest, p->gaps);
	p->spent[SPENT_PYTHON] = rest - p->spent[SPENT_WAIT];
}

static void is_compiled(struct profile *p)
{
	p->compiled = p->n_region || p->n_compile;
	for (uint32_t i = 0; i < p->n_row; i++) {
		const struct profile_row *r = &p->row[i];
		p->compiled |= r->class <= CLASS_ANNOTATION && (r->kind == KIND_KERNEL || r->kind == KIND_GRAPH || r->kind == KIND_LOOKUP);
		p->compiled |= r->class == CLASS_KERNEL && slice_starts(profile_name(p, i), "triton_");
		if (r->min == UINT64_MAX)
			p->row[i].min = 0;
	}
}

void profile_nest(struct profile *p, struct track *track)
{
	OWNED(intern_release) struct intern regions = {0};
	OWNED(lane_release) struct lane busy = {0};
	struct nest s = {.p = p, .regions = &regions};
	if (p->n_step)
		qsort(p->step, p->n_step, sizeof(*p->step), by_time);
	find_main(p, track);
	nest_ops(p, track, &s, &busy);
	if (p->n_compile)
		qsort(p->compile, p->n_compile, sizeof(*p->compile), by_begin);
	devices(p, track);
	lane_sort(&busy);
	profile_gaps(p, &busy);
	fill_wall(p);
	s.python = true;
	for (uint32_t i = 0; i < p->n_thread; i++) {
		struct lane *l = &track[i].lane[LANE_PYTHON];
		lane_sort(l);
		nest(&s, l);
		if (i == p->main_thread)
			profile_gap_python(p, l);
		lane_release(l);
	}
	is_compiled(p);
	free(s.v);
}
