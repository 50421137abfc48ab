/* Before unknown.c: dropout in training. The package's own mask follows from the seeds that it drew, which the run recorded (torch 2.13,
 * torch/_inductor/decomposition.py, native_dropout, and lowering.py, inductor_random: the number of an element is Philox's with the
 * dropout's seed, of its linear index; torch/csrc/inductor/cpp_prefix.h, normalized_rand_cpu). Which seed is a node's: the one whose values
 * the run wrote. The node is then computed like others, also from what a kernel read. */
#include "aten/verify/verify.h"
#include "graph/graph_forms.h"
#include "tensor/tensor.h"

enum { MOST_SEEDS = 4096 };

struct seeds {
	uint32_t *v;
	bool *used;
	size_t n, cap;
};

/* Of one call that draws seeds: its recorded integers, which are more than a double holds. */
static void take_seeds(struct seeds *s, const struct verify *v, const struct observed_tensor *w)
{
	OWNED(dump_tensor_close) struct dump_tensor t = {0};
	struct err ignored;
	int64_t n;
	if (w->v->meta.dtype != DTYPE_I64 || !w->v->file.n || dump_tensor_open(&t, v->o->dump, w->v, &ignored) < 0 ||
	    t.meta.dtype != DTYPE_I64 || t.meta.n_dim > 1 || !tensor_numel(&t.meta, &n) || n > MOST_SEEDS)
		return;
	for (int64_t i = 0; i < n && s->n < MOST_SEEDS; i++) {
		int64_t seed;
		memcpy(&seed, (const char *)t.data + i * (int64_t)sizeof(seed), sizeof(seed));
		PUSH_TO(s->v, s->n, s->cap) = (uint32_t)seed;
	}
}

static void find_seeds(struct seeds *s, const struct verify *v)
{
	for (uint32_t c = 0; c < v->o->n_calls; c++) {
		const struct observed_call *call = &v->o->call[c];
		for (uint32_t w = call->write; !call->compiled && slice_has(call->d->name, "randint") && w < call->write + call->n_writes;
		     w++)
			take_seeds(s, v, &v->o->write[w]);
	}
	s->used = xcalloc(s->n + 1, sizeof(*s->used));
}

/* ATen/core/PhiloxRNGEngine.h: the first number of Philox4_32(seed, 0, offset), and its uniform float. */
static float uniform(uint32_t seed, uint32_t offset)
{
	uint32_t c[4] = {offset}, key[2] = {seed};
	for (int round = 0; round < 10; round++) {
		const uint64_t a = (uint64_t)c[0] * 0xD2511F53, b = (uint64_t)c[2] * 0xCD9E8D57;
		const uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ key[0], (uint32_t)b, (uint32_t)(a >> 32) ^ c[3] ^ key[1],
					  (uint32_t)a};
		memcpy(c, next, sizeof(c));
		key[0] += 0x9E3779B9;
		key[1] += 0xBB67AE85;
	}
	return (float)(c[0] & 0x7FFFFFFF) * 4.6566127342e-10f;
}

/* Of dropout: its operand and its probability. */
static bool is_dropout(const struct reference *ref, uint32_t i, uint32_t *x, double *p)
{
	const struct gnode *n = &ref->g->node[ref->first + i];
	const struct gvalue *arg = &ref->g->value[n->args];
	if (!slice_is(graph_op_text(ref->g, ref->first + i), "aten.dropout.default") || n->n_args < 2 || arg[0].kind != GV_NODE ||
	    (arg[1].kind != GV_FLOAT && arg[1].kind != GV_INT))
		return false;
	*x = arg[0].node - ref->first;
	*p = arg[1].kind == GV_FLOAT ? arg[1].f : (double)arg[1].i;
	return *p > 0 && *p < 1 && reference_is_tensor(ref, *x) && ref->v[*x].tensor->dtype == DTYPE_F32;
}

/* What dropout multiplies its operand by. */
static struct aten_tensor *mask_of(const struct aten_tensor *x, uint32_t seed, double p)
{
	struct aten_tensor *t = NULL;
	ATEN_TRY("mask")
	{
		t = aten_new(DTYPE_F32, x->n_dim, x->size, NULL);
		float *v = (float *)(void *)aten_data(t);
		const int64_t n = aten_numel(t);
		for (int64_t i = 0; i < n; i++)
			v[i] = uniform(seed, (uint32_t)i) > (float)p ? (float)(1 / (1 - p)) : 0;
		aten_keep(t);
	}
	return ATEN_END ? NULL : t;
}

/* How many recorded tensors are one of these nodes? */
static uint32_t shows(struct verify *v, const uint32_t *node, uint32_t n)
{
	uint32_t count = 0;
	struct layout l;
	for (uint32_t w = v->o->n_inputs; w < v->o->n_writes; w++) {
		const struct numbers *x = &v->o->write[w].x;
		bool is = false;
		for (uint32_t k = 0; k < n && !is && x->v && x->n > 1; k++) {
			struct numbers *y = reference_numbers(v->ref, node[k]);
			is = y && y->max > 0 && numbers_match(x, y, 0, &l);
		}
		count += is;
	}
	return count;
}

/* Has it been found? */
static bool find_mask(struct verify *v, struct seeds *s, uint32_t node, uint32_t x, double p)
{
	uint32_t *newly = xcalloc(v->ref->n + 1, sizeof(*newly)), most = 0;
	size_t best = s->n;
	for (size_t i = 0; i < s->n; i++) {
		struct aten_tensor *mask = s->used[i] ? NULL : mask_of(v->ref->v[x].tensor, s->v[i], p);
		const uint32_t n = mask ? reference_drop(v->ref, node, mask, newly) : 0, count = shows(v, newly, n);
		reference_abandon(v->ref, newly, n);
		if (count > most) {
			most = count;
			best = i;
		}
	}
	if (best < s->n) {
		struct aten_tensor *mask = mask_of(v->ref->v[x].tensor, s->v[best], p);
		s->used[best] = mask && reference_drop(v->ref, node, mask, newly) > 0;
	}
	free(newly);
	return best < s->n && s->used[best];
}

void verify_drawn(struct verify *v)
{
	struct seeds s = {0};
	uint32_t x;
	double p;
	bool any = false;
	for (uint32_t i = v->ref->program->n_inputs; v->ref->n_unknown && i < v->ref->n; i++) {
		if (v->ref->known[i] || !is_dropout(v->ref, i, &x, &p))
			continue;
		if (!s.used)
			find_seeds(&s, v);
		any |= find_mask(v, &s, i, x, p);
	}
	if (any) {
		reference_relist(v->ref);
		verify_index(v);
	}
	free(s.v);
	free(s.used);
}
