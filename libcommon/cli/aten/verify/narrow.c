#include "aten/verify/narrow.h"
#include "aten/verify/around.h"

#include <math.h>

enum { MOST_CALLS = 256 };

static const struct observed_call *call_of(const struct narrow *n, uint32_t call) { return &n->v->o->call[call]; }

/* ---- the choices ---- */

/* The call's last write to exactly the target's memory; NONE. */
static uint32_t write_to(const struct verify *v, uint32_t call, const struct observed_tensor *target)
{
	const struct observed_call *c = &v->o->call[call];
	for (uint32_t w = c->write + c->n_writes; w-- > c->write;)
		if (around_same(&v->o->write[w], target))
			return w;
	return NONE;
}

static void add_call(const struct verify *v, struct narrow_choice *x, uint32_t call)
{
	uint32_t at = x->n;
	for (uint32_t i = 0; i < x->n; i++)
		if (x->call[i].call == call)
			return;
	if (!v->o->call[call].compiled)
		return;
	PUSH_TO(x->call, x->n, x->cap) = (struct narrow_call){0};
	for (; at > 0 && x->call[at - 1].call > call; at--)
		x->call[at] = x->call[at - 1];
	x->call[at] = (struct narrow_call){.call = call, .write = write_to(v, call, x->target)};
}

/* Are all loops of the graph unrolled? */
static bool knows_turns(const struct reference *ref)
{
	for (uint32_t i = 0; i < ref->n; i++)
		if (slice_find(graph_op_text(ref->g, ref->first + i), "higher_order"))
			return false;
	return ref->unrolled.now;
}

/* The last condition of a loop before that call, or around it, if it is not that of the graph's last turn. */
static uint32_t ends_wrongly(const struct verify *v, uint32_t call)
{
	const struct observed *o = v->o;
	const bool knows = knows_turns(v->ref);
	for (uint32_t w = o->n_inputs; w < o->n_writes && knows; w++) {
		const struct observed_tensor *x = &o->write[w];
		if (x->call == NONE || x->x.dtype != DTYPE_BOOL || x->x.n != 1 || !x->x.v || x->x.v[0] || v->write[w].counter ||
		    !verify_is_inside(v, x->call))
			continue;
		if (x->call < call || verify_same_loop(v, call, x->call))
			return x->call;
	}
	return NONE;
}

static void plan_finding(const struct verify *v, uint32_t at, struct narrow_choice *x)
{
	const struct verify_finding *f = &v->finding[at];
	const struct verify_tensor *t = &v->write[f->tensor];
	*x = (struct narrow_choice){
	    .at = at, .target = &v->o->write[f->tensor], .node = f->node, .ends = NONE, .supposed = NONE, .found = NONE};
	if (f->subtle || f->ends || !t->accused || !t->n)
		return;
	x->l = t->m[0].l;
	add_call(v, x, f->call);
	for (uint32_t c = f->others; f->others != NONE && c < f->call; c++)
		if (verify_is_inside(v, c))
			add_call(v, x, c);
	for (uint32_t i = 0; i < f->n_suspects; i++)
		add_call(v, x, v->suspect[f->suspect + i]);
	x->ends = ends_wrongly(v, f->call);
	if (x->ends != NONE)
		add_call(v, x, x->ends);
	for (uint32_t c = 0; c < f->call && verify_is_inside(v, f->call); c++) /* earlier turns */
		if (write_to(v, c, x->target) != NONE && verify_inside_from(v, c) == verify_inside_from(v, f->call))
			add_call(v, x, c);
}

static void plan_output(const struct verify *v, uint32_t at, struct narrow_choice *x)
{
	const struct verify_output *out = &v->output[at];
	const struct observed_tensor *t = out->read != NONE ? &v->o->read[out->read] : &v->o->write[out->write];
	*x = (struct narrow_choice){
	    .is_output = true, .at = at, .target = t, .node = out->node, .ends = NONE, .supposed = NONE, .found = NONE};
	if (out->node == NONE || out->at.at < 0)
		return;
	x->l.identity = true;
	for (uint32_t i = 0; i < out->at.n_suspects; i++)
		add_call(v, x, v->suspect[out->at.suspect + i]);
}

static bool can_be_called(const struct verify *v, uint32_t call)
{
	const struct observed_call *c = &v->o->call[call];
	for (uint32_t r = c->read; r < c->read + c->n_reads; r++)
		if (v->o->read[r].v->arg >= 255 || v->o->read[r].v->meta.device != DEVICE_CPU)
			return false;
	for (uint32_t w = c->write; w < c->write + c->n_writes; w++)
		if (v->o->write[w].v->arg >= 255 || v->o->write[w].v->meta.device != DEVICE_CPU || !v->o->write[w].v->file.n)
			return false;
	return c->compiled && c->d->returned;
}

static int by_number(const void *x, const void *y)
{
	const uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	return (a > b) - (a < b);
}

static void list_calls(struct narrow *n)
{
	bool *listed = xcalloc(n->v->o->n_calls + 1, sizeof(*listed));
	n->call = xcalloc(n->v->o->n_calls + 1, sizeof(*n->call));
	for (uint32_t i = 0; i < n->n; i++)
		for (uint32_t k = 0; k < n->choice[i].n; k++) {
			const uint32_t c = n->choice[i].call[k].call;
			if (listed[c] || !can_be_called(n->v, c))
				continue;
			listed[c] = true;
			n->call[n->n_calls++] = c;
		}
	if (n->n_calls)
		qsort(n->call, n->n_calls, sizeof(*n->call), by_number);
	for (uint32_t i = 0; i < n->n_calls; i++) {
		const struct observed_call *c = call_of(n, n->call[i]);
		for (uint32_t r = c->read; r < c->read + c->n_reads; r++)
			n->bytes += 2 * NARROW_RUNS * around_bytes(&n->v->o->read[r]);
		for (uint32_t w = c->write; w < c->write + c->n_writes; w++)
			n->bytes += 3 * NARROW_RUNS * around_bytes(&n->v->o->write[w]);
	}
	free(listed);
}

bool narrow_plan(struct narrow *n, struct verify *v, uint32_t run)
{
	*n = (struct narrow){.v = v, .run = run};
	for (uint32_t i = 0; i < v->n_findings + v->n_outputs; i++) {
		struct narrow_choice x;
		const bool is_output = i >= v->n_findings;
		const struct verify_output *out = is_output ? &v->output[i - v->n_findings] : NULL;
		if (out && (out->what != VERIFY_DIFFERS || out->explained))
			continue;
		is_output ? plan_output(v, i - v->n_findings, &x) : plan_finding(v, i, &x);
		if (x.n > !is_output && x.n <= MOST_CALLS)
			PUSH_TO(n->choice, n->n, n->cap) = x;
		else
			free(x.call);
	}
	list_calls(n);
	return n->n && n->n_calls;
}

void narrow_release(struct narrow *n)
{
	for (uint32_t i = 0; i < n->n; i++)
		free(n->choice[i].call);
	free(n->choice);
	free(n->call);
	*n = (struct narrow){0};
}

/* ---- what is put around the calls ---- */

static bool is_known(const struct verify *v, uint32_t read)
{
	const struct verify_tensor *t = &v->read[read];
	return t->n || t->empty || t->derived != NONE || t->counter;
}

/* Memory that the call also writes to: a kernel of several loops reads in one what another one wrote. Then it may hold anything before. */
static bool is_scratch(const struct narrow *n, uint32_t call, uint32_t read)
{
	const struct observed *o = n->v->o;
	const struct observed_call *c = call_of(n, call);
	bool written = false;
	for (uint32_t w = c->write; w < c->write + c->n_writes; w++)
		written |= o->write[w].v->role == CALL_ROLE_OUT && around_overlap(&o->write[w], &o->read[read]);
	return written && !is_known(n->v, read) && aten_is_float(o->read[read].v->meta.dtype);
}

/* May it hold anything before the call? */
static bool only_written(const struct narrow *n, uint32_t call, uint32_t write)
{
	const struct observed *o = n->v->o;
	const struct observed_call *c = call_of(n, call);
	for (uint32_t r = c->read; r < c->read + c->n_reads; r++)
		if (around_overlap(&o->read[r], &o->write[write]) && !is_scratch(n, call, r))
			return false;
	return o->write[write].v->role == CALL_ROLE_OUT;
}

static const unsigned char patterns[NARROW_RUNS] = {0x5a, 0xa5};

static void add_pattern(struct buf *file, struct given_entry e, uint64_t bytes, unsigned char with)
{
	char *fill = xcalloc(bytes + 1, 1);
	memset(fill, with, bytes);
	given_add(file, &e, fill, bytes);
	free(fill);
}

/* What it read, but `other` in place of this read (NONE: of none): numbers in its order. */
static int give_reads(const struct narrow *n, const struct dump *d, uint32_t run, uint32_t call, uint32_t read, const double *other,
		      struct buf *file, struct err *err)
{
	const struct observed *o = n->v->o;
	const struct observed_call *c = call_of(n, call);
	int r = 0;
	for (uint32_t i = c->read; i < c->read + c->n_reads && !r; i++) {
		const struct given_entry e = {run, c->d->call, o->read[i].v->arg, GIVEN_BEFORE, 0, 0, 0};
		if (i == read)
			r = around_add(file, e, &o->read[i], other, err);
		else if (!is_scratch(n, call, i))
			r = around_add_recorded(file, e, d, o->read[i].v, err);
	}
	return r;
}

static uint64_t entries_of(const struct narrow *n, uint32_t call) { return 2 * call_of(n, call)->n_reads + 3 * call_of(n, call)->n_writes; }

int narrow_give(const struct narrow *n, const struct dump *d, struct buf *file, struct err *err)
{
	const struct observed *o = n->v->o;
	uint64_t entries = 0;
	int r = 0;
	for (uint32_t i = 0; i < n->n_calls; i++)
		entries += NARROW_RUNS * entries_of(n, n->call[i]);
	given_begin(file, entries);
	for (uint32_t p = 0; p < NARROW_RUNS; p++)
		for (uint32_t i = 0; i < n->n_calls && !r; i++) {
			const struct observed_call *c = call_of(n, n->call[i]);
			for (uint32_t w = c->write; w < c->write + c->n_writes; w++)
				if (only_written(n, n->call[i], w))
					add_pattern(file,
						    (struct given_entry){n->run + p, c->d->call, o->write[w].v->arg, GIVEN_BEFORE, 0, 0, 0},
						    around_bytes(&o->write[w]), patterns[p]);
			r = give_reads(n, d, n->run + p, n->call[i], NONE, NULL, file, err);
			r = r ? r : around_take_and_restore(file, n->run + p, o, n->call[i], d, err);
		}
	return r;
}

/* ---- which elements a call wrote ---- */

/* False: it was not called. written: in the tensor's order. */
static bool find_written(const struct narrow *n, uint32_t call, uint32_t write, struct slice given, struct slice taken, bool *written)
{
	const struct observed_tensor *w = &n->v->o->write[write];
	const struct dtype_info *d = dtype_info(w->v->meta.dtype);
	const char *v[NARROW_RUNS];
	for (uint32_t p = 0; p < NARROW_RUNS; p++)
		if (!(v[p] = around_taken(w, n->run + p, call_of(n, call)->d->call, GIVEN_TAKE, given, taken)))
			return false;
	for (int64_t i = 0; i < w->x.n; i++)
		written[i] = !memcmp(v[0] + i * d->bytes, v[1] + i * d->bytes, (size_t)d->bytes);
	return true;
}

/* ---- is it right? ---- */

static bool knows_reads(const struct narrow *n, uint32_t call)
{
	const struct observed_call *c = call_of(n, call);
	for (uint32_t r = c->read; r < c->read + c->n_reads; r++)
		if (!is_known(n->v, r) && !is_scratch(n, call, r))
			return false;
	return true;
}

/* Its other tensors are what they should be. */
static bool knows_writes(const struct narrow *n, const struct narrow_call *x)
{
	const struct observed_call *c = call_of(n, x->call);
	for (uint32_t w = c->write; w < c->write + c->n_writes; w++) {
		const struct verify_tensor *t = &n->v->write[w];
		if (w != x->write && (t->accused || (!t->n && !t->empty && t->derived == NONE && !t->counter)))
			return false;
	}
	return true;
}

static void cut_reads(struct cut *k, uint32_t call)
{
	const struct observed *o = k->v->o;
	for (uint32_t r = o->call[call].read; r < o->call[call].read + o->call[call].n_reads; r++)
		cut_read(k, r);
}

/* The places of the node's elements in the target. */
static int64_t *places(const struct narrow_choice *x, const struct numbers *b, const struct numbers *node)
{
	struct numbers at = *b;
	int64_t *place = xcalloc((size_t)b->n + 1, sizeof(*place));
	double *v = xcalloc(2 * (size_t)b->n + 1, sizeof(*v));
	at.class = NUMBERS_FLOAT;
	at.v = v + b->n;
	for (int64_t i = 0; i < b->n; i++)
		at.v[i] = (double)i;
	numbers_lay(&at, node, &x->l, v);
	for (int64_t i = 0; i < b->n; i++)
		place[i] = (int64_t)v[i];
	free(v);
	return place;
}

/* Does a call between these two write to the target's memory? */
static bool written_between(const struct narrow *n, const struct narrow_choice *x, uint32_t from, uint32_t to)
{
	const struct observed *o = n->v->o;
	for (uint32_t c = from + 1; c < to; c++)
		for (uint32_t w = o->call[c].write; w < o->call[c].write + o->call[c].n_writes; w++)
			if (around_overlap(&o->write[w], x->target))
				return true;
	return false;
}

/* Compares the elements that the call wrote and that no later one (owned) has written. */
static void compare_own(struct narrow_call *c, const struct numbers *got, const struct numbers *want, struct numbers_slack slack,
			const int64_t *place, const bool *written, bool *owned)
{
	double worst = -1;
	c->at = (struct verify_finding){.at = -1};
	for (int64_t i = 0; i < want->n; i++) {
		if (!written[place[i]] || owned[place[i]])
			continue;
		owned[place[i]] = true;
		const double g = got->v[place[i]], w = want->v[i],
			     off = isfinite(g) && isfinite(w)         ? fabs(g - w)
				   : g == w || (isnan(g) && isnan(w)) ? 0
								      : INFINITY;
		c->at.n++;
		c->at.wrong += off > slack.absolute + slack.relative * fabs(w) || (off > 0 && isinf(off));
		if (off > worst)
			worst = off, c->at.at = i, c->at.got = g, c->at.want = w;
	}
}

static void judge_calls(struct narrow *n, struct narrow_choice *x, const struct numbers *want, struct slice given, struct slice taken)
{
	struct verify *v = n->v;
	const struct numbers *b = observed_numbers(v->o, x->target);
	const struct numbers_slack slack = verify_slack((struct numbers *)(uintptr_t)want, reference_error(v->ref, x->node, want));
	bool *owned = xcalloc(2 * (size_t)b->n + 2, sizeof(*owned)), *written = owned + b->n + 1, whole = true;
	int64_t *place = places(x, b, want);
	for (uint32_t i = x->n; i-- > 0;) {
		struct narrow_call *c = &x->call[i];
		whole &= i + 1 == x->n || !written_between(n, x, c->call, x->call[i + 1].call);
		if (c->write == NONE || c->call > x->target->call) { /* of an output of the model, that is NONE */
			c->what = knows_writes(n, c) ? NARROW_RIGHT : NARROW_OPEN;
			continue;
		}
		whole &= find_written(n, c->call, c->write, given, taken, written);
		if (!whole) /* other calls may have written the rest since */
			continue;
		compare_own(c, b, want, slack, place, written, owned);
		c->what = c->at.wrong          ? (!x->apart && knows_reads(n, c->call) ? NARROW_WRONG : NARROW_OPEN)
			  : knows_writes(n, c) ? NARROW_RIGHT
					       : NARROW_OPEN;
	}
	free(place);
	free(owned);
}

/* Has it been computed through a turn that the loop did not run? */
static bool needs_turn(const struct cut *k, const struct narrow_choice *x)
{
	const uint32_t turns = x->ends == NONE ? NONE : verify_turn(k->v, x->ends);
	for (uint32_t i = 0; turns != NONE && i < k->v->ref->n; i++) {
		const uint32_t turn = k->state[i] == 2 && !k->by_node[i] ? verify_turn_of(k->v, i) : NONE;
		if (turn != NONE && turn >= turns)
			return true;
	}
	return false;
}

void narrow_judge(struct narrow *n, struct slice given, struct slice taken)
{
	for (uint32_t i = 0; i < n->n; i++) {
		struct narrow_choice *x = &n->choice[i];
		const struct numbers *b = observed_numbers(n->v->o, x->target);
		struct numbers want = {0};
		struct cut k;
		cut_begin(&k, n->v, x->call[0].call);
		for (uint32_t c = 0; c < x->n; c++)
			cut_reads(&k, x->call[c].call);
		if (b->v && b->class != NUMBERS_COMPLEX && cut_compute(&k, x->node, AS_TYPED, &want) == 0 && want.n == b->n &&
		    want.class == b->class) {
			x->unrun = needs_turn(&k, x);
			x->apart = k.inputs || x->unrun;
			judge_calls(n, x, &want, given, taken);
		}
		numbers_release(&want);
		cut_end(&k);
	}
}

/* ---- with a value of the graph in front ---- */

/* The only tensor that the call read and that is not known: one that calls wrote. NONE. */
static uint32_t unknown_read(const struct narrow *n, uint32_t call)
{
	const struct observed_call *c = call_of(n, call);
	uint32_t found = NONE;
	for (uint32_t r = c->read; r < c->read + c->n_reads; r++) {
		if (is_known(n->v, r) || is_scratch(n, call, r))
			continue;
		if (found != NONE)
			return NONE;
		found = r;
	}
	const struct numbers *x = found == NONE ? NULL : observed_numbers(n->v->o, &n->v->o->read[found]);
	return x && x->v && x->class == NUMBERS_FLOAT && n->v->o->read[found].n_links == 1 ? found : NONE;
}

static bool is_wrong(const struct narrow_choice *x)
{
	for (uint32_t i = 0; i < x->n; i++)
		if (x->call[i].what == NARROW_WRONG)
			return true;
	return false;
}

/* The last call of the choice whose result is wrong, from values that are unknown; and the nodes that these could be. */
static void suppose(const struct narrow *n, struct narrow_choice *x)
{
	struct reference *ref = n->v->ref;
	for (uint32_t i = x->n; i-- > 0 && x->supposed == NONE && !is_wrong(x);)
		if (x->call[i].at.wrong && x->call[i].what == NARROW_OPEN && can_be_called(n->v, x->call[i].call) &&
		    (x->read = unknown_read(n, x->call[i].call)) != NONE)
			x->supposed = i;
	if (x->supposed == NONE)
		return;
	const struct numbers *b = observed_numbers(n->v->o, &n->v->o->read[x->read]);
	for (uint32_t node = x->node; node-- > 0 && x->n_runs < ARRAY_LEN(x->node_of);) {
		const struct numbers *like =
		    reference_below(ref, x->node, node) && reference_is_tensor(ref, node) && aten_numel(ref->v[node].tensor) == b->n
			? reference_numbers(ref, node)
			: NULL;
		if (like && like->class == b->class)
			x->node_of[x->n_runs++] = node;
	}
}

/* The node's numbers in the order of that read. */
static double *node_as_read(const struct narrow *n, uint32_t read, uint32_t node)
{
	const struct numbers *b = observed_numbers(n->v->o, &n->v->o->read[read]), *like = reference_numbers(n->v->ref, node);
	struct narrow_choice as = {0};
	double *v = xcalloc((size_t)b->n + 1, sizeof(*v));
	numbers_nearest(b, like, &as.l);
	int64_t *place = places(&as, b, like);
	for (int64_t i = 0; i < b->n; i++)
		v[place[i]] = like->v[i];
	free(place);
	return v;
}

int narrow_suppose(struct narrow *n, const struct dump *d, struct buf *file, struct err *err)
{
	uint64_t entries = 0;
	uint32_t runs = 0;
	int r = 0;
	for (uint32_t i = 0; i < n->n; i++) {
		struct narrow_choice *x = &n->choice[i];
		suppose(n, x);
		x->first_run = n->run + runs;
		runs += x->n_runs;
		entries += x->supposed == NONE ? 0 : x->n_runs * entries_of(n, x->call[x->supposed].call);
	}
	given_begin(file, entries);
	for (uint32_t i = 0; i < n->n; i++) {
		const struct narrow_choice *x = &n->choice[i];
		for (uint32_t k = 0; k < x->n_runs && !r; k++) {
			const uint32_t call = x->call[x->supposed].call;
			double *v = node_as_read(n, x->read, x->node_of[k]);
			r = give_reads(n, d, x->first_run + k, call, x->read, v, file, err);
			r = r ? r : around_take_and_restore(file, x->first_run + k, n->v->o, call, d, err);
			free(v);
		}
	}
	return r < 0 ? -1 : (int)runs;
}

/* Is its result the graph's, computed from that node and what else it read? */
static bool is_right_with(struct narrow *n, const struct narrow_choice *x, uint32_t k, struct slice given, struct slice taken)
{
	struct verify *v = n->v;
	const struct narrow_call *c = &x->call[x->supposed];
	const uint32_t node = x->node_of[k];
	struct observed_tensor as = v->o->read[x->read], got;
	struct layout same = {.identity = true};
	struct numbers want = {0};
	struct cut cut;
	bool right = false;
	as.same = NONE;
	as.x = *reference_numbers(v->ref, node);
	cut_begin(&cut, v, c->call);
	cut_reads(&cut, c->call);
	cut_put(&cut, node, &as, &same);
	if (around_take(&got, &v->o->write[c->write], c->call, x->first_run + k, call_of(n, c->call)->d->call, GIVEN_TAKE, given, taken) &&
	    cut_compute(&cut, x->node, AS_TYPED, &want) == 0 && !cut.inputs && want.n == got.x.n && want.class == got.x.class) {
		struct verify_finding f = {0};
		double *laid = xcalloc((size_t)want.n * 2 + 1, sizeof(*laid));
		numbers_lay(&got.x, &want, &x->l, laid);
		verify_compare(&f, laid, &want, verify_slack(&want, reference_error(v->ref, x->node, &want)));
		right = !f.wrong;
		free(laid);
	}
	numbers_release(&got.x);
	numbers_release(&want);
	cut_end(&cut);
	return right;
}

void narrow_supposed(struct narrow *n, struct slice given, struct slice taken)
{
	for (uint32_t i = 0; i < n->n; i++) {
		struct narrow_choice *x = &n->choice[i];
		for (uint32_t k = 0; k < x->n_runs && x->found == NONE; k++)
			if (is_right_with(n, x, k, given, taken))
				x->found = x->node_of[k];
		if (x->found != NONE)
			x->call[x->supposed].what = NARROW_RIGHT;
	}
}

/* ---- the result ---- */

static void list_kept(struct verify *v, const struct narrow_choice *x, struct verify_finding *f)
{
	const bool wrong = is_wrong(x);
	f->narrowed = v->n_suspects;
	for (uint32_t i = 0; i < x->n; i++)
		PUSH_TO(v->suspect, v->n_suspects, v->cap_suspects) = x->call[i].call;
	f->n_narrowed = x->n;
	f->kept = v->n_suspects;
	for (uint32_t i = 0; i < x->n; i++)
		if (wrong ? x->call[i].what == NARROW_WRONG : x->call[i].what != NARROW_RIGHT)
			PUSH_TO(v->suspect, v->n_suspects, v->cap_suspects) = x->call[i].call;
	f->n_kept = v->n_suspects - f->kept;
}

static void set_row(struct verify *v, uint32_t call, enum verify_what what, uint32_t node, const char *why)
{
	struct verify_row *row = &v->row[call];
	free(row->why);
	row->what = what;
	row->node = node;
	row->why = why ? xstrdup(why) : NULL;
}

static bool keeps(const struct verify *v, const struct verify_finding *f, uint32_t call)
{
	for (uint32_t i = 0; i < f->n_kept; i++)
		if (v->suspect[f->kept + i] == call)
			return true;
	return false;
}

/* Calls that are wrong by themselves: a finding for each. f: what all of them have in common. */
static void accuse(struct verify *v, const struct narrow_choice *x, struct verify_finding f, uint32_t at)
{
	f.others = NONE;
	f.n_suspects = 0;
	f.given = false;
	for (uint32_t i = 0; i < x->n; i++) {
		const struct narrow_call *c = &x->call[i];
		if (c->what != NARROW_WRONG)
			continue;
		f.call = c->call;
		f.write = f.tensor = c->write;
		f.n = c->at.n, f.wrong = c->at.wrong, f.at = c->at.at, f.got = c->at.got, f.want = c->at.want;
		if (at == NONE)
			verify_add(v, f.call, f.write, x->node);
		v->finding[at == NONE ? v->n_findings - 1 : at] = f;
		at = NONE;
		set_row(v, c->call, VERIFY_WRONG, x->node, NULL);
	}
}

/* The call that is named, if it is not right; or the one whose tensor has to be that node; or the last one. The others are suspects. */
static void choose(struct narrow *n, const struct narrow_choice *x, struct verify_finding *f)
{
	struct verify *v = n->v;
	const uint32_t writer = x->found == NONE ? NONE : v->o->link[v->o->read[x->read].link];
	if (writer != NONE && v->o->write[writer].call != NONE && keeps(v, f, v->o->write[writer].call)) {
		struct numbers *b = &v->o->write[writer].x, *want = reference_numbers(v->ref, x->found);
		double *laid = xcalloc((size_t)b->n * 2 + 1, sizeof(*laid));
		struct layout l;
		*f = (struct verify_finding){.call = v->o->write[writer].call,
					     .write = writer,
					     .tensor = writer,
					     .node = x->found,
					     .others = NONE,
					     .narrowed = f->narrowed,
					     .n_narrowed = f->n_narrowed,
					     .kept = f->kept,
					     .n_kept = f->n_kept};
		numbers_nearest(b, want, &l);
		numbers_lay(b, want, &l, laid);
		verify_compare(f, laid, want, verify_slack(want, reference_error(v->ref, x->found, want)));
		free(laid);
	} else if (!keeps(v, f, f->call)) {
		f->call = v->suspect[f->kept + f->n_kept - 1];
		f->write = NONE;
		f->given = false;
		f->right = 0;
	}
	f->others = NONE;
	f->suspect = v->n_suspects;
	for (uint32_t i = 0; i < f->n_kept; i++)
		if (v->suspect[f->kept + i] != f->call) {
			const uint32_t other = v->suspect[f->kept + i];
			PUSH_TO(v->suspect, v->n_suspects, v->cap_suspects) = other;
		}
	f->n_suspects = v->n_suspects - f->suspect;
	set_row(v, f->call, VERIFY_WRONG, f->node, NULL);
}

/* Is one of the calls that are left known to be wrong? That explains it, if the call that was named is right. */
static bool explained_before(const struct verify *v, const struct verify_finding *f)
{
	for (uint32_t i = 0; i < f->n_kept; i++)
		for (uint32_t k = 0; k < v->n_findings; k++)
			if (&v->finding[k] != f && v->finding[k].call == v->suspect[f->kept + i] && !v->finding[k].less_exact)
				return true;
	return false;
}

static void name_end(struct verify *v, const struct narrow_choice *x, struct verify_finding *f)
{
	f->kept = v->n_suspects;
	f->n_kept = 1;
	PUSH_TO(v->suspect, v->n_suspects, v->cap_suspects) = x->ends;
	f->call = x->ends;
	f->write = f->others = NONE;
	f->given = false;
	f->ends = true;
	f->got = 0;
	f->n_suspects = f->right = 0;
	set_row(v, f->call, VERIFY_WRONG, f->node, NULL);
}

/* True: the finding is no longer one. */
static bool apply_to_finding(struct narrow *n, const struct narrow_choice *x)
{
	struct verify *v = n->v;
	struct verify_finding f = v->finding[x->at];
	list_kept(v, x, &f);
	if (x->ends != NONE && x->unrun && !is_wrong(x) && f.call != x->ends) { /* it follows from a turn that did not run */
		for (uint32_t i = 0; i < v->n_findings; i++)
			if (v->finding[i].call == x->ends)
				return true;
		name_end(v, x, &f);
		v->finding[x->at] = f;
		return false;
	}
	if (!f.n_kept || (f.n_kept == x->n && !is_wrong(x)))
		return false;
	if (f.n_kept == x->n)
		f.n_narrowed = 0;
	if (is_wrong(x)) {
		accuse(v, x, f, x->at);
		return false;
	}
	v->finding[x->at].n_kept = f.n_kept, v->finding[x->at].kept = f.kept;
	if (!keeps(v, &f, f.call) && explained_before(v, &v->finding[x->at]))
		return true;
	choose(n, x, &f);
	v->finding[x->at] = f;
	return false;
}

static void apply_to_output(struct narrow *n, const struct narrow_choice *x)
{
	struct verify *v = n->v;
	struct verify_finding f = v->output[x->at].at;
	list_kept(v, x, &f);
	if (!f.n_kept || (f.n_kept == x->n && !is_wrong(x)))
		return;
	f.n_narrowed = f.n_kept == x->n ? 0 : f.n_narrowed;
	f.suspect = f.kept;
	f.n_suspects = f.n_kept;
	v->output[x->at].at = f;
	v->output[x->at].explained = is_wrong(x) || explained_before(v, &f);
	if (!is_wrong(x))
		return;
	f.node = x->node;
	accuse(v, x, f, NONE);
}

/* Calls that were run and that no finding names any more. */
static void apply_to_rows(struct narrow *n)
{
	struct verify *v = n->v;
	bool *named = xcalloc(v->o->n_calls + 1, sizeof(*named));
	for (uint32_t i = 0; i < v->n_findings; i++)
		named[v->finding[i].call] = true;
	for (uint32_t i = 0; i < n->n; i++)
		for (uint32_t k = 0; k < n->choice[i].n; k++) {
			const struct narrow_call *c = &n->choice[i].call[k];
			const struct verify_row *row = &v->row[c->call];
			if (named[c->call] || (row->what != VERIFY_WRONG && (row->what != VERIFY_OPEN || c->what != NARROW_RIGHT)))
				continue;
			const bool right = c->what == NARROW_RIGHT;
			set_row(v, c->call, right ? VERIFY_EFFECT : VERIFY_OPEN, NONE, right ? NULL : "what it read is wrong already");
			for (uint32_t w = call_of(n, c->call)->write; w < call_of(n, c->call)->write + call_of(n, c->call)->n_writes; w++)
				v->write[w].what = v->write[w].n && !v->write[w].accused ? v->write[w].what : row->what;
		}
	free(named);
}

void narrow_apply(struct narrow *n)
{
	struct verify *v = n->v;
	const uint32_t before = v->n_findings;
	bool *gone = xcalloc(before + 1, sizeof(*gone));
	uint32_t kept = 0;
	for (uint32_t i = 0; i < n->n; i++)
		if (n->choice[i].is_output)
			apply_to_output(n, &n->choice[i]);
		else
			gone[n->choice[i].at] = apply_to_finding(n, &n->choice[i]);
	for (uint32_t i = 0; i < v->n_findings; i++)
		if (i >= before || !gone[i])
			v->finding[kept++] = v->finding[i];
	v->n_findings = kept;
	apply_to_rows(n);
	free(gone);
}
