/* identity.c - finds the owner of a record: process, generation, compilation, attempt.
 *
 * A compile id is not unique: torch._dynamo.reset() starts at 0/0 again without writing any record, a second run may have been appended to
 * the log, and several processes may write to one log. Known facts (torch 2.13.0 and 2.15.0: torch/_dynamo/__init__.py reset,
 * convert_frame.py get_compile_id and log_dynamo_start, compiled_autograd.py COMPILE_COUNTER, torch/_logging/structured.py INTERN_TABLE):
 *
 * - The number in a prefix is the process's. A process that starts counts its strings from 0.
 * - Frames get their numbers in order when they are compiled first, and so do the compilations of a frame; within compiled autograd from
 *   the same counters. So dynamo_start of a frame that is not new, or of a compilation that is not, is the first of a generation. Exports
 *   have no dynamo_start, but a graph. "!N" without a frame has its own counter, and precedes the compilations in it.
 * - compilation_metrics end a compilation. Later records with its id are its backward, which is compiled when it is first called.
 *
 * Unknown: which forward a backward belongs to after a reset, if both are waiting for one (the newest is used).
 */
#include "run/trace/reduce.h"
#include "base/chain.h"

enum { PROCESSES_MOST = 4096, LOOK_BACK = 64 };

#define HAS(r, kind) ((r)->kinds >> KIND_##kind & 1)
#define BIT(kind) (1ull << KIND_##kind)

/* Records before the one that shows that a compilation is new; they are not counted. */
static const uint64_t before_start = BIT(chromium_event) | BIT(describe_storage) | BIT(describe_tensor) | BIT(describe_source);

/* ---- processes ---- */

static uint32_t new_process(struct trace *t, uint64_t pid)
{
	if (t->n_process == PROCESSES_MOST)
		return 0; /* a hostile log */
	GROW(t->process, t->n_process, t->cap_process, 1);
	t->process[t->n_process] =
	    (struct trace_process){.pid = pid, .generation = GENERATION_FIRST, .captured = -1, .capture = NONE, .exported = NONE};
	return t->n_process++;
}

void identity_process(struct trace *t, const struct trace_scan *s, const struct trace_record *r)
{
	uint32_t k = t->now;
	uint64_t number;
	if (k >= t->n_process || t->process[k].pid != r->thread)
		for (k = t->n_process; k-- > 0 && t->process[k].pid != r->thread;)
			;
	bool table = HAS(r, str) && json_u64(&s->tape, trace_value(s, r, KIND_str) + 2, &number) && number == 0;
	if (k == NONE || (table && t->process[k].table)) /* in containers each run has the same pid */
		k = new_process(t, r->thread);
	t->process[k].table |= table;
	t->now = k;
}

/* ---- generations ---- */

static void begin(struct trace *t, struct trace_process *p, int64_t autograd)
{
	generation_next(&p->generation);
	p->captured = -1;
	if (p->capture != NONE && t->f->attempt[p->capture].id.autograd == autograd) {
		/* "!0" was captured, and only its compilation "!0/0/0" shows that it differs from the last. */
		t->f->attempt[p->capture].generation = p->generation.number;
		p->captured = autograd;
	}
}

/* ---- compilations ---- */

static struct trace_open *open_of(struct trace *t, uint32_t compile) { return &t->open[compile - t->from.compile]; }

/* {process, autograd, frame, compile} -> t->same[]: its compilations, of all generations. */
struct wanted {
	const struct trace *t;
	const struct compile_id *id;
};
static bool is_same(const void *ctx, uint32_t row)
{
	const struct wanted *w = ctx;
	const struct fact_compile *c = &w->t->f->compile[w->t->same[row].newest];
	return c->process == w->t->now && c->autograd == w->id->autograd && c->frame == w->id->frame && c->compile == w->id->compile;
}

static uint32_t same_hash(const struct trace *t, const struct compile_id *id)
{
	const int64_t key[4] = {t->now, id->autograd, id->frame, id->compile};
	return row_hash(key, sizeof(key));
}

/* NULL: none has started. */
static struct trace_same *same_of(struct trace *t, const struct compile_id *id)
{
	const struct wanted w = {t, id};
	if (!t->n_same || !is_same(&w, t->last_same)) {
		const uint32_t k = row_index_find(&t->same_ids, same_hash(t, id), is_same, &w);
		if (k == NONE)
			return NULL;
		t->last_same = k;
	}
	return &t->same[t->last_same];
}

static uint32_t newest_of(const struct trace_same *same) { return same ? same->newest : NONE; }

static bool is_anew(struct trace *t, const struct trace_record *r, const struct trace_same *same)
{
	const struct trace_process *p = &t->process[t->now];
	if (!generation_has(&t->generations, t->now, &p->generation, r->id.frame, r->id.compile))
		return false;
	if (HAS(r, dynamo_start) || !same)
		return HAS(r, dynamo_start) || HAS(r, dynamo_output_graph);
	const struct trace_open *o = open_of(t, same->newest);
	bool goes_on = t->f->compile[same->newest].generation == p->generation.number && !o->closed &&
		       (o->started || r->id.attempt > o->graph_attempt);
	return HAS(r, dynamo_output_graph) && !goes_on;
}

static uint32_t new_compile(struct trace *t, struct trace_same *same, const struct trace_record *r, double seconds)
{
	const struct trace_process *p = &t->process[t->now];
	char text[COMPILE_ID_TEXT];
	uint32_t k =
	    facts_compile_anew(t->f, t->input, t->now, p->generation.number, slice_str(compile_id_text(&r->id, text)), t->at.line, seconds);
	GROW(t->open, t->n_open, t->cap_open, 1);
	const uint32_t row = same ? (uint32_t)(same - t->same) : t->n_same;
	t->open[t->n_open++] = (struct trace_open){.same = row, .before = newest_of(same), .graph_attempt = -1};
	if (!same) {
		PUSH(t, same) = (struct trace_same){.open = 0};
		row_index_add(&t->same_ids, same_hash(t, &r->id), row);
		t->last_same = row;
	}
	t->same[row].newest = k;
	t->same[row].open++;
	return k;
}

/* Of all compilations with this id: the newest that has not ended; else the newest that waits for its backward; else the newest. */
static uint32_t find_compile(struct trace *t, const struct trace_same *same)
{
	uint32_t n = 0;
	for (uint32_t k = same->newest; same->open && k != NONE && n++ < LOOK_BACK; k = open_of(t, k)->before)
		if (!open_of(t, k)->closed)
			return k;
	n = 0;
	for (uint32_t k = same->newest; k != NONE && n++ < LOOK_BACK; k = open_of(t, k)->before)
		if (open_of(t, k)->backwards > 0)
			return k;
	return same->newest;
}

static void close_compile(struct trace *t, uint32_t compile)
{
	struct trace_open *o = open_of(t, compile);
	t->same[o->same].open -= !o->closed;
	o->closed = true;
}

static void note_kinds(struct trace *t, const struct trace_record *r, uint32_t compile)
{
	struct trace_process *p = &t->process[t->now];
	struct trace_open *o = open_of(t, compile);
	bool ends = HAS(r, compilation_metrics);
	if (HAS(r, dynamo_start) || HAS(r, dynamo_output_graph) || ends) {
		p->capture = NONE;
		generation_add(&t->generations, t->now, &p->generation, r->id.frame, r->id.compile);
	}
	o->started |= HAS(r, dynamo_start);
	if (HAS(r, dynamo_output_graph)) {
		o->graph_attempt = r->id.attempt;
		p->exported = o->started ? NONE : compile;
	}
	o->backwards += HAS(r, aot_backward_graph) - (int)HAS(r, bwd_compilation_metrics);
	if (ends)
		close_compile(t, compile);
}

static bool is_recompile(const struct trace_scan *s, const struct trace_record *r)
{
	return HAS(r, artifact) && slice_is(json_word(&s->tape, trace_value(s, r, KIND_artifact), "name"), "recompile_reasons");
}

static uint32_t compile_of(struct trace *t, const struct trace_scan *s, const struct trace_record *r, double seconds)
{
	struct trace_process *p = &t->process[t->now];
	struct trace_same *same = same_of(t, &r->id);
	if (!(r->kinds & ~before_start))
		return newest_of(same);
	if (is_anew(t, r, same))
		begin(t, p, r->id.autograd);
	bool here = same && t->f->compile[same->newest].generation == p->generation.number;
	bool starts = HAS(r, dynamo_start) || HAS(r, dynamo_output_graph) || is_recompile(s, r) ||
		      (HAS(r, compilation_metrics) && !(same && same->open));
	uint32_t k = !same || (!here && starts) ? new_compile(t, same, r, seconds) : find_compile(t, same);
	note_kinds(t, r, k);
	return k;
}

/* ---- attempts ---- */

/* A folder has an attempt from the record on that makes it (identity_attempt), and its attempts have its numbers. */
static bool is_folder(const void *ctx, uint32_t row)
{
	const struct wanted *w = ctx;
	return !memcmp(w->id, &w->t->f->attempt[w->t->folder[row].last].id, sizeof(*w->id));
}

static uint32_t folder_of(struct trace *t, const struct compile_id *id)
{
	const struct wanted w = {t, id};
	if (t->n_folder && is_folder(&w, t->last_folder))
		return t->last_folder;
	const uint32_t hash = row_hash(id, sizeof(*id));
	uint32_t k = row_index_find(&t->ids, hash, is_folder, &w);
	if (k == NONE) {
		k = t->n_folder;
		PUSH(t, folder) = (struct trace_folder){NONE, NONE, NONE};
		row_index_add(&t->ids, hash, k);
	}
	return t->last_folder = k;
}

uint32_t identity_newest(const struct trace *t, const struct compile_id *id)
{
	const uint32_t folder = row_index_find(&t->ids, row_hash(id, sizeof(*id)), is_folder, &(struct wanted){t, id});
	return folder == NONE ? NONE : t->folder[folder].last;
}

static uint32_t new_attempt(struct trace *t, uint32_t folder, const struct compile_id *id, uint32_t compile)
{
	uint32_t k = facts_attempt(t->f, t->input, id, t->at.line);
	struct fact_attempt *a = &t->f->attempt[k];
	a->process = t->now;
	a->generation = compile == NONE ? t->process[t->now].generation.number : t->f->compile[compile].generation;
	a->compile = compile;
	a->folder = folder;
	a->before = t->folder[folder].last;
	t->folder[folder].last = k;
	return k;
}

/* The newest of this process in a folder; NONE. */
static uint32_t newest_here(const struct trace *t, uint32_t folder)
{
	uint32_t k = t->folder[folder].last;
	while (k != NONE && t->f->attempt[k].process != t->now)
		k = t->f->attempt[k].before;
	return k;
}

/* For ids without a frame: "!N" in compiled autograd, records outside compilations. */
static uint32_t frameless(struct trace *t, const struct trace_record *r, uint32_t folder)
{
	struct trace_process *p = &t->process[t->now];
	uint32_t k = newest_here(t, folder);
	if (HAS(r, compilation_metrics) && p->exported != NONE) {
		close_compile(t, p->exported);
		p->exported = NONE;
	}
	if (r->id.bad_line || r->id.autograd < 0 || r->id.frame >= 0 || !(r->kinds & ~before_start))
		return k == NONE ? new_attempt(t, folder, &r->id, NONE) : k;
	if (r->id.autograd <= p->captured)
		begin(t, p, -1);
	if (k == NONE || t->f->attempt[k].generation != p->generation.number)
		k = new_attempt(t, folder, &r->id, NONE);
	p->capture = k;
	if (HAS(r, compiled_autograd_graph))
		p->captured = r->id.autograd;
	return k;
}

uint32_t identity_attempt(struct trace *t, const struct trace_scan *s, const struct trace_record *r, double seconds)
{
	uint32_t folder = folder_of(t, &r->id);
	if (r->id.frame < 0 || r->id.compile < 0 || r->id.bad_line)
		return frameless(t, r, folder);
	uint32_t compile = compile_of(t, s, r, seconds), k = newest_here(t, folder);
	if (k != NONE && t->f->attempt[k].compile == NONE && compile != NONE) { /* its first events came before */
		struct fact_attempt *a = &t->f->attempt[k];
		a->compile = compile;
		a->generation = t->f->compile[compile].generation;
		if (a->line < t->f->compile[compile].src.line) {
			t->f->compile[compile].src.line = a->line;
			t->f->compile[compile].start = a->start;
		}
		t->f->compile[compile].attempts++;
		return k;
	}
	while (k != NONE && compile != NONE && t->f->attempt[k].compile != compile)
		for (k = t->f->attempt[k].before; k != NONE && t->f->attempt[k].process != t->now;)
			k = t->f->attempt[k].before;
	if (k == NONE) {
		k = new_attempt(t, folder, &r->id, compile);
		t->f->attempt[k].start = seconds;
		if (compile != NONE)
			t->f->compile[compile].attempts++;
	}
	return k;
}

void identity_end(struct trace *t)
{
	generations_release(&t->generations);
	row_index_release(&t->same_ids);
	free(t->same);
	free(t->open);
	t->same = NULL;
	t->open = NULL;
	t->n_same = t->cap_same = t->n_open = t->cap_open = 0;
}
