/* conditions.c - a while_loop whose condition is wrong has another number of turns than in the graph, and then the values of its body
 * are not the graph's: the condition is accused, not the body that ran once too often, or whose last turn did not run. */
#include "aten/verify/cut.h"

static struct slice loop_of(const struct verify *v, uint32_t node) { return slice_until(graph_name(v->ref->g, v->ref->first + node), "."); }

/* "while_loop.2.lt" -> "lt" */
static struct slice in_turn(const struct verify *v, uint32_t node)
{
	return slice_behind(slice_behind(graph_name(v->ref->g, v->ref->first + node), "."), ".");
}

/* The condition that ends a loop is the last node of its last turn. */
static bool ends_loop(const struct verify *v, uint32_t node)
{
	return node + 1 < v->ref->n && slice_starts(loop_of(v, node), "while_loop") && verify_turn_of(v, node) != NONE &&
	       !slice_eq(loop_of(v, node), loop_of(v, node + 1));
}

static uint32_t condition_of(const struct verify *v, uint32_t last, uint32_t turn)
{
	for (uint32_t i = 0; i <= last; i++)
		if (verify_turn_of(v, i) == turn && slice_eq(loop_of(v, i), loop_of(v, last)) && slice_eq(in_turn(v, i), in_turn(v, last)))
			return i;
	return NONE;
}

/* What the call should have written, from what it read and by nodes of this turn only; -1: unknown. */
static int should_be(struct verify *v, uint32_t call, uint32_t node)
{
	const struct observed_call *c = &v->o->call[call];
	struct numbers want = {0};
	struct cut k;
	int is = -1;
	cut_begin(&k, v, call);
	for (uint32_t r = c->read; r < c->read + c->n_reads; r++)
		cut_read(&k, r);
	if (cut_compute(&k, node, AS_TYPED, &want) == 0 && want.n == 1 && want.class == NUMBERS_INT && !k.inputs)
		is = want.v[0] != 0;
	for (uint32_t i = 0; i < v->ref->n && is >= 0; i++)
		if (k.state[i] == 2 && !k.by_node[i] && verify_turn_of(v, i) != verify_turn_of(v, node))
			is = -1;
	numbers_release(&want);
	cut_end(&k);
	return is;
}

static bool reads_result_of(const struct verify *v, uint32_t reader, uint32_t of)
{
	const struct observed_call *c = &v->o->call[reader];
	for (uint32_t r = c->read; r < c->read + c->n_reads; r++)
		for (uint32_t k = 0; k < v->o->read[r].n_links; k++) {
			const uint32_t writer = v->o->write[v->o->link[v->o->read[r].link + k]].call;
			if (writer != NONE && verify_same_loop(v, writer, of))
				return true;
		}
	return false;
}

/* Inside of the loop, what was compared with the same turn of the graph stays. */
static bool follows(const struct verify *v, const struct verify_finding *f, uint32_t condition)
{
	if (!verify_same_loop(v, f->call, condition))
		return f->call > condition && reads_result_of(v, f->call, condition);
	return f->call > condition || verify_turn_of(v, f->node) != verify_turn(v, f->call);
}

/* It replaces the findings that follow from it. */
static void accuse(struct verify *v, uint32_t write, uint32_t node, bool want)
{
	const uint32_t call = v->o->write[write].call;
	uint32_t kept = 1;
	verify_add(v, call, write, node);
	for (uint32_t i = 0; i + 1 < v->n_findings; i++) {
		const struct verify_finding f = v->finding[i];
		if (!follows(v, &f, call))
			continue;
		v->finding[i].call = NONE;
		v->row[f.call].what = VERIFY_OPEN;
		free(v->row[f.call].why);
		v->row[f.call].why = xstrdup("its loop has another number of turns than in the graph");
	}
	const struct verify_finding own = {.call = call,
					   .node = node,
					   .write = write,
					   .tensor = write,
					   .others = NONE,
					   .ends = true,
					   .n = 1,
					   .wrong = 1,
					   .got = !want,
					   .want = want};
	struct verify_finding *was = xmalloc(v->n_findings * sizeof(*was));
	memcpy(was, v->finding, v->n_findings * sizeof(*was));
	v->finding[0] = own;
	for (uint32_t i = 0; i + 1 < v->n_findings; i++)
		if (was[i].call != NONE)
			v->finding[kept++] = was[i];
	v->n_findings = kept;
	free(was);
	v->row[call].what = VERIFY_WRONG;
	v->row[call].node = node;
}

/* Has a loop of the graph as many turns? Then the last condition counts as right (turns.c). */
static bool has_its_turns(const struct verify *v, uint32_t call)
{
	const struct observed *o = v->o;
	bool right = false;
	for (uint32_t w = o->n_inputs; w < o->n_writes; w++) {
		const struct observed_tensor *x = &o->write[w];
		if (x->call != NONE && x->x.dtype == DTYPE_BOOL && x->x.n == 1 && x->x.v && !x->x.v[0] &&
		    slice_eq(o->call[x->call].d->name, o->call[call].d->name) && verify_same_loop(v, x->call, call))
			right = v->write[w].counter;
	}
	return right;
}

static bool judge(struct verify *v, uint32_t write)
{
	const struct observed_tensor *x = &v->o->write[write];
	if (x->call == NONE || x->x.dtype != DTYPE_BOOL || x->x.n != 1 || !x->x.v || !verify_is_inside(v, x->call) ||
	    has_its_turns(v, x->call))
		return false;
	for (uint32_t i = 0; i < v->ref->n; i++) {
		const uint32_t node = ends_loop(v, i) ? condition_of(v, i, verify_turn(v, x->call)) : NONE;
		const int want = node == NONE ? -1 : should_be(v, x->call, node);
		if (want < 0 || want == (x->x.v[0] != 0))
			continue;
		accuse(v, write, node, want);
		return true;
	}
	return false;
}

void verify_conditions(struct verify *v)
{
	for (uint32_t w = v->o->n_inputs; w < v->o->n_writes && (v->n_findings || v->n_differ); w++)
		if (judge(v, w))
			break;
}
