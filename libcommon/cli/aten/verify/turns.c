/* Calls in the bodies of branches and loops: which turn of the loop it is, and the compiler's own counter, which the graph does not have.
 */
#include "aten/verify/verify.h"

bool verify_is_inside(const struct verify *v, uint32_t call)
{
	const struct observed_call *c = &v->o->call[call];
	for (uint32_t w = c->write; w < c->write + c->n_writes; w++)
		if (verify_inside(&v->o->write[w]))
			return true;
	return false;
}

/* Operators belong to the body that they are called in: their tensors may be views without a name. */
static bool goes_on(const struct verify *v, uint32_t call) { return verify_is_inside(v, call) || !v->o->call[call].compiled; }

uint32_t verify_inside_from(const struct verify *v, uint32_t call)
{
	uint32_t first = call;
	for (uint32_t c = call; verify_is_inside(v, call) && c-- > 0 && goes_on(v, c);)
		first = v->o->call[c].compiled ? c : first;
	return first;
}

bool verify_same_loop(const struct verify *v, uint32_t a, uint32_t b)
{
	return verify_is_inside(v, a) && verify_is_inside(v, b) && verify_inside_from(v, a) == verify_inside_from(v, b);
}

static bool same_kernel(const struct verify *v, uint32_t a, uint32_t b)
{
	return v->o->call[a].compiled && slice_eq(v->o->call[a].d->name, v->o->call[b].d->name);
}

uint32_t verify_turn(const struct verify *v, uint32_t call)
{
	uint32_t turn = 0;
	for (uint32_t c = verify_inside_from(v, call); c < call; c++)
		turn += same_kernel(v, c, call);
	return turn;
}

/* "while_loop.2.add" */
uint32_t verify_turn_of(const struct verify *v, uint32_t node)
{
	const struct slice name = graph_name(v->ref->g, v->ref->first + node);
	struct slice turn = slice_until(slice_behind(name, "."), ".");
	uint64_t n;
	return slice_chr(name, '.') && slice_u64(turn, &n) && n < NONE ? (uint32_t)n : NONE;
}

/* Has the graph a loop of so many turns? Of a while_loop, the condition that ends it is one more. */
static bool has_turns(const struct verify *v, uint32_t turns)
{
	const struct reference *ref = v->ref;
	bool last = false;
	for (uint32_t i = 0; i + 1 < ref->n; i++) { /* its nodes are in order */
		const struct slice loop = slice_until(graph_name(ref->g, ref->first + i), "."),
				   next = slice_until(graph_name(ref->g, ref->first + i + 1), ".");
		const uint32_t then = slice_eq(loop, next) ? verify_turn_of(v, i + 1) : NONE, turn = verify_turn_of(v, i);
		last |= turn != NONE && turn + !slice_starts(loop, "while_loop") == turns && then != turn && then != turn + 1;
	}
	return last;
}

static bool may_count(const struct numbers *x) { return x->class == NUMBERS_INT && x->n == 1 && x->v; }

/* torch 2.13 and 2.15, torch/_inductor/fx_passes/post_grad.py, decompose_scan_to_while_loop, decompose_map_to_while_loop: the loop counts
 * from 0, and goes on while that is less than the number of turns. */
static bool counter_read(const struct verify *v, uint32_t read)
{
	const struct observed_tensor *r = &v->o->read[read];
	const struct numbers *x = observed_numbers(v->o, r);
	return may_count(x) && x->dtype != DTYPE_BOOL && r->call != NONE && verify_is_inside(v, r->call) &&
	       x->v[0] == verify_turn(v, r->call);
}

static bool counter_written(const struct verify *v, uint32_t write)
{
	const struct observed_tensor *w = &v->o->write[write];
	if (!may_count(&w->x) || w->call == NONE)
		return false;
	for (uint32_t k = 0; k < w->n_links && !verify_is_inside(v, w->call); k++) { /* before the loop */
		const uint32_t reader = v->o->read[v->o->link[w->link + k]].call;
		if (reader == NONE || !goes_on(v, reader))
			return false;
	}
	if (!verify_is_inside(v, w->call))
		return w->n_links && w->x.v[0] == 0 && w->x.dtype != DTYPE_BOOL;
	const uint32_t turn = verify_turn(v, w->call);
	if (w->x.dtype != DTYPE_BOOL)
		return w->x.v[0] == turn + 1;
	bool again = false;
	for (uint32_t c = w->call + 1; c < v->o->n_calls && goes_on(v, c) && !again; c++)
		again = same_kernel(v, c, w->call);
	return w->x.v[0] ? again : !again && has_turns(v, turn);
}

void verify_counters(struct verify *v)
{
	for (uint32_t r = 0; r < v->o->n_reads; r++)
		v->read[r].counter = counter_read(v, r);
	for (uint32_t w = 0; w < v->o->n_writes; w++)
		v->write[w].counter = counter_written(v, w);
}
