/* session.c - from files to verdicts. */
#include "base/clock.h"
#include "base/pool.h"
#include "base/process/child.h"
#include "base/tool/diag.h"
#include "base/tool/tempfolder.h"
#include "verifier.h"

#include <math.h>

/* ---- runs ---- */

/* With its own inputs. */
static int run_package(struct verifier *v, struct source *s, const struct operands *in, struct err *err)
{
	struct ahead ahead = {.v = v};
	FREED char *path = source_inputs(s);
	const char *const made[] = {path};
	struct watch_options wo = source_watch(v, in, made);
	wo.starts = ahead_start;
	wo.starts_user = &ahead;
	if (!wo.how.runs && reference_keeps_state(&v->pair.program))
		wo.how.runs = 2;
	const int r = dump_run(&wo, s->folder, "aoti-verify " PT2_VERSION, &s->ran, err);
	ahead_end(&ahead);
	s->ahead = ahead.trial;
	if (r < 0)
		return -1;
	if (s->ran.failed.text[0])
		return *err = s->ran.failed, -1;
	if (dump_open(&s->dump, s->folder, err) < 0)
		return -1;
	s->model_id = s->dump.n ? s->dump.call[0].model_id : 0;
	return 0;
}

/* ---- trials ---- */

static void trial_release(struct trial *t)
{
	held_close(&t->h);
	free(t);
}

static int try_run(struct verifier *v, struct source *s, uint32_t run, struct err *err)
{
	const struct trial *before = s->n_trials ? s->trial[s->n_trials - 1] : NULL;
	struct trial *t = s->ahead ? s->ahead : xcalloc(1, sizeof(*t)); /* its members point to each other */
	s->ahead = NULL;
	t->kind = s->kind;
	t->source = s;
	t->run = run;
	PUSH_TO(s->trial, s->n_trials, s->cap_trials) = t;
	return held_observe(&t->h, &v->pair, &s->dump, s->model_id, run, before ? &before->h : NULL, v->o->max_bytes, err);
}

static uint32_t runs_of(const struct source *s)
{
	uint32_t n = 0;
	for (size_t i = 0; i < s->dump.n; i++) {
		const struct dump_call *c = &s->dump.call[i];
		n = c->model_id == s->model_id && c->run != CALLS_NO_RUN && c->run >= n ? c->run + 1 : n;
	}
	return n;
}

static int try_source(struct verifier *v, struct source *s, struct err *err)
{
	const uint32_t n = runs_of(s);
	for (uint32_t run = 0; run < n; run++)
		if (try_run(v, s, run, err) < 0)
			return -1;
	return n ? 0 : err_set(err, EXIT_INPUT, "'%s' has no kernel call", v->pair.package);
}

/* What one run proved serves the others: in the order in which they are added. */
static void add_trials(struct verifier *v, struct source *s)
{
	for (uint32_t k = 0; k < s->n_trials; k++) {
		for (uint32_t i = 0; i < v->n_trials; i++) {
			verify_proved(&s->trial[k]->h.verify, &v->trial[i]->h.verify);
			verify_proved(&v->trial[i]->h.verify, &s->trial[k]->h.verify);
		}
		PUSH_TO(v->trial, v->n_trials, v->cap_trials) = s->trial[k];
	}
	s->n_trials = 0;
}

static void drop_trials(struct source *s)
{
	while (s->n_trials)
		trial_release(s->trial[--s->n_trials]);
	if (s->ahead)
		trial_release(s->ahead);
	s->ahead = NULL;
	free(s->trial);
	s->trial = NULL;
	s->cap_trials = 0;
}

/* ---- what to try ---- */

static bool verifier_found(const struct verifier *v)
{
	for (uint32_t i = 0; i < v->n_trials; i++)
		if (trial_counts(v->trial[i]) && trial_found(v->trial[i]))
			return true;
	return false;
}

static struct source *add_source(struct verifier *v, enum input_kind kind, struct err *err)
{
	struct source *s = &v->source[v->n_sources++];
	*s = (struct source){.kind = kind, .folder = v->pair.is_dump ? NULL : temp_folder(TEMP_VERIFY, err)};
	return s->folder || v->pair.is_dump ? s : NULL;
}

/* 1: made; 0: there are no such inputs. */
static int make_inputs(struct verifier *v, struct source *s, struct err *err)
{
	FREED char *path = source_inputs(s);
	return inputs_make(&v->pair.program, v->n_trials ? v->trial[0] : NULL, s->kind, v->o->seed, path, err);
}

/* ---- kernels one by one ---- */

enum { ALONE_SECONDS = 2 };
static const uint64_t ALONE_BYTES = 32u << 20;

/* Before a kernel is accused. */
static int settle(struct verifier *v, const struct operands *in, struct trial *t, uint32_t set, struct err *err)
{
	struct alone *alone = &v->alone;
	LOCAL_BUF given = {0};
	LOCAL_BUF taken = {0};
	if (alone_doubts(alone, &v->source[0].dump, set, &given, err) < 0 ||
	    verifier_run_given(v, &v->source[0], in, alone->n_doubts, buf_slice(&given), &taken, err) < 0)
		return -1;
	alone_settle(alone, &t->h, buf_slice(&given), buf_slice(&taken));
	return 0;
}

/* With the inputs of the first trial, in which nothing was wrong. */
static int try_alone(struct verifier *v, const struct operands *in, struct err *err)
{
	const int64_t deadline = v->o->alone ? 0 : clock_ns() + ALONE_SECONDS * INT64_C(1000000000);
	LOCAL_BUF given = {0};
	LOCAL_BUF taken = {0};
	alone_plan(&v->alone, &v->trial[0]->h, (struct alone_options){v->o->seed, v->o->alone ? 0 : ALONE_BYTES});
	v->has_alone = true;
	if (!v->alone.n_calls)
		return 0;
	if (alone_give(&v->alone, &v->source[0].dump, &given, err) < 0 ||
	    verifier_run_given(v, &v->source[0], in, ALONE_SETS, buf_slice(&given), &taken, err) < 0)
		return -1;
	for (uint32_t set = 0; set < ALONE_SETS; set++) {
		struct trial *t = xcalloc(1, sizeof(*t));
		*t = (struct trial){.kind = INPUTS_ALONE + set, .run = set};
		PUSH_TO(v->trial, v->n_trials, v->cap_trials) = t;
		alone_judge(&v->alone, &t->h, buf_slice(&given), buf_slice(&taken), set, deadline);
		if (v->alone.n_doubts && settle(v, in, t, set, err) < 0)
			return -1;
		if (trial_found(t))
			break;
	}
	v->alone_cut = deadline && clock_ns() > deadline;
	return 0;
}

/* Also what cannot be tried is only noted. */
static void try_kernels(struct verifier *v, const struct operands *in)
{
	const uint32_t before = v->n_trials;
	struct err err = {0};
	if (try_alone(v, in, &err) >= 0 || child_signalled())
		return;
	buf_addf(&v->notes, "kernels could not be called alone: %s\n", err.text);
	while (v->n_trials > before)
		trial_release(v->trial[--v->n_trials]);
}

/* ---- several at a time ---- */

/* Tries are independent of each other, so that a model's process runs while the values of another one are compared. */
struct attempt {
	enum { TRY_FIRST, TRY_GUARD, TRY_MORE } what;
	struct source *s;
	bool failed;
	struct err err;
};
struct tries {
	struct verifier *v;
	const struct operands *in;
	struct attempt *todo;
	uint32_t n, begun;
	struct err *err; /* of the first run */
};

static int next_try(void *ctx, void *slot)
{
	struct tries *t = ctx;
	if (t->begun == t->n || (t->begun && child_signalled()))
		return 0;
	*(struct attempt *)slot = t->todo[t->begun++];
	return 1;
}

static int do_try(void *ctx, void *slot)
{
	struct tries *t = ctx;
	struct attempt *x = slot;
	int r = 0;
	if (x->what == TRY_GUARD) {
		gate_pass(&t->v->gate);
		r = verifier_guard(t->v, t->in, &x->err);
	} else if ((r = x->what == TRY_MORE ? make_inputs(t->v, x->s, &x->err) : 1) > 0)
		r = run_package(t->v, x->s, t->in, &x->err) < 0 ? -1 : try_source(t->v, x->s, &x->err);
	x->failed = r < 0;
	return 0;
}

/* In order. Only the first run is not optional: what else cannot be tried is noted. */
static int take_try(void *ctx, void *slot)
{
	struct tries *t = ctx;
	struct attempt *x = slot;
	if (!x->failed) {
		if (x->s)
			add_trials(t->v, x->s);
		return 0;
	}
	if (x->s)
		drop_trials(x->s);
	if (x->what == TRY_FIRST)
		return *t->err = x->err, -1;
	if (child_signalled()) /* reported elsewhere */
		return -1;
	buf_addf(&t->v->notes, "%s could not be %s: %s\n", x->s ? input_text[x->s->kind] : "memory errors", x->s ? "tried" : "looked for",
		 x->err.text);
	return 0;
}

enum { TRIES = INPUTS_ALONE - INPUTS_SIZES };

static int try_all(struct verifier *v, const struct operands *in, struct attempt *todo, uint32_t n, struct err *err)
{
	const unsigned cpus = verifier_one_thread(v) ? 1 : cpu_count();
	struct tries t = {v, in, todo, n, 0, err};
	struct attempt room[TRIES];
	void *slot[] = {&room[0], &room[1], &room[2]};
	const struct pipeline p = {.ctx = &t, .read = next_try, .scan = do_try, .reduce = take_try};
	return n ? pipeline_run(&p, slot, TRIES, cpus < TRIES ? cpus : TRIES) : 0;
}

/* Memory errors are looked for in a process of its own (memory.c). */
static int try_first(struct verifier *v, const struct operands *in, struct err *err)
{
	struct attempt todo[] = {{.what = TRY_FIRST, .s = &v->source[0]}, {.what = TRY_GUARD}};
	return try_all(v, in, todo, v->o->how.bounds ? 2 : 1, err);
}

static void try_more(struct verifier *v, const struct operands *in)
{
	struct attempt todo[TRIES] = {0};
	struct err err;
	uint32_t n = 0;
	for (enum input_kind kind = INPUTS_SIZES; kind < INPUTS_ALONE; kind++)
		if ((todo[n].s = add_source(v, kind, &err)))
			todo[n++].what = TRY_MORE;
	try_all(v, in, todo, n, &err);
}

static int try_dump(struct verifier *v, struct err *err)
{
	struct source *s = add_source(v, INPUTS_GIVEN, err);
	if (dump_open(&s->dump, v->pair.package, err) < 0 || pair_choose(&v->pair, &s->dump, v->o->how.model, &s->model_id, err) < 0 ||
	    try_source(v, s, err) < 0)
		return -1;
	add_trials(v, s);
	return 0;
}

int verifier_open(struct verifier *v, const struct verifier_options *o, const struct operands *in, struct err *err)
{
	*v = (struct verifier){
	    .o = o, .files.lock = PTHREAD_MUTEX_INITIALIZER, .gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false}};
	if (dump_like(in->v[1]) && in->n > 2)
		return err_set(err, EXIT_USAGE, "'%s' is a directory of saved tensors with its own inputs: give no other inputs", in->v[1]);
	if (custom_ops_ready(o->custom, err) < 0 ||
	    pair_open(&v->pair, in->v[0], in->v[1], (struct pair_options){o->of, o->how.weights, o->how.model, custom_ops_more(o->custom)},
		      err) < 0)
		return -1;
	if (v->pair.is_dump)
		return try_dump(v, err);
	child_signals(CHILD_SIGNALS_FORWARD);
	const bool made = in->n == 2 && v->pair.program.contract.n_inputs;
	struct source *s = add_source(v, made ? INPUTS_MADE : INPUTS_GIVEN, err);
	if (!s || (made && make_inputs(v, s, err) < 0) || try_first(v, in, err) < 0)
		return -1;
	if (!o->no_more && !verifier_found(v) && v->pair.program.contract.n_inputs && !child_signalled())
		try_more(v, in);
	if ((o->alone || !o->no_more) && !verifier_found(v) && !child_signalled())
		try_kernels(v, in);
	verifier_narrow(v, in);
	return 0;
}

void verifier_close(struct verifier *v)
{
	if (v->has_alone) /* it refers to the first trial */
		alone_release(&v->alone);
	while (v->n_trials)
		trial_release(v->trial[--v->n_trials]);
	free(v->trial);
	for (uint32_t i = 0; i < v->n_sources; i++) {
		drop_trials(&v->source[i]);
		dump_close(&v->source[i].dump);
		buf_release(&v->source[i].ran.notes);
		temp_folder_remove(v->source[i].folder);
	}
	v->n_sources = 0;
	buf_release(&v->notes);
	guard_release(&v->guard);
	run_files_release(&v->files);
	pair_close(&v->pair);
}

/* ---- the result ---- */

/* Between what the call read and the node. */
uint32_t finding_inlined(const struct verifier *v, const struct trial *t, const struct verify_finding *f, uint32_t k)
{
	const struct verify *h = &t->h.verify;
	const struct observed_call *c = &t->h.observed.call[f->call];
	for (uint32_t i = 0; !f->given && !trial_is_alone(t) && i < h->ref->program->n_inputs; i++) {
		bool read = false;
		if (!pair_inlined(&v->pair, h->ref, i) || (i != f->node && !reference_below(h->ref, f->node, i)))
			continue;
		for (uint32_t r = c->read; r < c->read + c->n_reads && i != f->node; r++) /* another kernel's */
			for (uint32_t m = 0; m < h->read[r].n; m++)
				read |= reference_below(h->ref, h->read[r].m[m].node, i);
		if (!read && k-- == 0)
			return i;
	}
	return NONE;
}

/* The first call of the same process. */
static const struct trial *first_run(const struct verifier *v, const struct trial *t)
{
	for (uint32_t i = 0; t->run && !trial_is_alone(t) && i < v->n_trials; i++)
		if (v->trial[i]->source == t->source && v->trial[i]->run == 0)
			return v->trial[i];
	return NULL;
}

/* What the graph has where the finding is, if that weight is the given tensor. */
static double there_with(const struct trial *t, const struct verify_finding *f, uint32_t weight, struct aten_tensor *value)
{
	struct what_if w;
	struct numbers *x = NULL;
	struct aten_tensor *own = NULL;
	double there = NAN;
	ATEN_TRY("first value") { own = aten_keep(aten_alias(value)); }
	if (ATEN_END)
		return NAN;
	what_if_begin(&w, (struct reference *)&t->h.ref, weight, own);
	if (f->at >= 0 && (x = what_if_numbers(&w, f->node)) && x->v && f->at < x->n)
		there = x->v[f->at * (x->class == NUMBERS_COMPLEX ? 2 : 1)];
	what_if_end(&w);
	return there;
}

uint32_t finding_frozen(const struct verifier *v, const struct trial *t, const struct verify_finding *f, uint32_t k)
{
	const struct reference *ref = &t->h.ref;
	const struct trial *first = f->given || f->node == NONE || f->write == NONE ? NULL : first_run(v, t);
	for (uint32_t i = 0; first && i < first->h.verify.n_findings; i++)
		if (first->h.verify.finding[i].node == f->node)
			return NONE; /* wrong from the start */
	for (uint32_t i = 0; first && i < ref->program->n_inputs; i++) {
		const struct reference *was = &first->h.ref;
		if (!reference_is_weight(ref, i) || !reference_below(ref, f->node, i) || !reference_is_tensor(ref, i) ||
		    !reference_is_tensor(was, i) || aten_numel(was->v[i].tensor) > PAIR_MOST_INLINED)
			continue;
		const double off = fabs(there_with(t, f, i, was->v[i].tensor) - f->got);
		if (off <= 1e-5 * fabs(f->got) && k-- == 0)
			return i;
	}
	return NONE;
}

struct slice output_name(const struct trial *t, const struct verify_output *x, char room[32])
{
	const struct observed *o = &t->h.observed;
	if (x->read == NONE)
		return x->write != NONE && o->write[x->write].v->path.n ? o->write[x->write].v->path
									: graph_name(t->h.ref.g, t->h.ref.first + x->input);
	snprintf(room, 32, "out%u", o->read[x->read].v->arg);
	return slice_str(room);
}

enum exit_status verifier_status(const struct verifier *v)
{
	bool open = false, less_exact = false;
	for (uint32_t i = 0; i < v->n_trials; i++) {
		const struct tally n = tally(v->trial[i]);
		open |= trial_counts(v->trial[i]) && (n.open || n.outputs_open);
		less_exact |= trial_counts(v->trial[i]) && n.less_exact;
	}
	if (verifier_found(v) || v->pair.n_differing || guard_found(&v->guard) || (v->o->strict && less_exact))
		return v->o->error_exitcode >= 0 ? (enum exit_status)v->o->error_exitcode : EXIT_FOUND;
	return open && !v->o->partial ? EXIT_PARTIAL : EXIT_FINE;
}

/* The sizes that are not 1. */
static int real_sizes(const struct numbers *x, int64_t *size)
{
	int n = 0;
	for (int d = 0; d < x->n_dim; d++)
		if (x->size[d] != 1)
			size[n++] = x->size[d];
	return n;
}

bool read_there(const struct trial *t, const struct verify_finding *f, uint32_t read, double *value)
{
	const struct numbers *x = observed_numbers(&t->h.observed, &t->h.observed.read[read]);
	struct numbers node = {.n_dim = t->h.ref.v[f->node].tensor->n_dim};
	int64_t a[ATEN_DIMS], b[ATEN_DIMS];
	memcpy(node.size, t->h.ref.v[f->node].tensor->size, (size_t)node.n_dim * sizeof(*node.size));
	const int n = real_sizes(&node, a);
	if (!x->v || x->class == NUMBERS_COMPLEX || f->at < 0 || f->at >= x->n || real_sizes(x, b) != n ||
	    memcmp(a, b, (size_t)n * sizeof(*a)))
		return false;
	*value = x->v[f->at];
	return true;
}
