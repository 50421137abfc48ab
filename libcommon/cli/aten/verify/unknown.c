/* Before step 1 of verify.h: nodes that cannot be computed (a custom operator, random numbers, an operator that is missing here) take the
 * value that the run recorded, if that shows in what is computed from it: which tensor, as the value of which such node, makes most of the
 * other tensors nodes? What depends on the node is then verified. The tensor itself is not: if a kernel wrote it, the kernel stays open. */
#include "aten/verify/verify.h"
#include "graph/graph_forms.h"

enum { MOST_TRIALS = 4000 };

/* The node's sizes by its metadata; where they are symbols, the tensor's own. False: it cannot be this tensor. */
static bool sizes_of(const struct reference *ref, uint32_t node, const struct observed_tensor *b, int64_t *size, int *n_dim)
{
	const uint32_t meta = ref->g->node[ref->first + node].meta;
	const struct gmeta *m = meta == NONE ? NULL : &ref->g->meta[meta];
	int64_t n = 1;
	if (!m || m->kind != GMETA_TENSOR || m->n_dim > ATEN_DIMS || m->dtype != b->v->meta.dtype)
		return false;
	*n_dim = m->n_dim;
	for (int d = 0; d < m->n_dim; d++) {
		const struct symsize s = ref->g->dim[m->dim + (uint32_t)d];
		if (!symsize_is_int(s) && b->x.n_dim != m->n_dim)
			return false;
		size[d] = symsize_is_int(s) ? s.k : b->x.size[d];
		n *= size[d];
	}
	return n == b->x.n;
}

static struct aten_tensor *tensor_of(const struct observed_tensor *b, const int64_t *size, int n_dim)
{
	struct aten_tensor *t = NULL;
	ATEN_TRY("tensor")
	{
		int64_t stride[ATEN_DIMS];
		aten_contiguous_strides(n_dim, size, stride);
		t = aten_new(b->v->meta.dtype, n_dim, size, NULL);
		aten_copy(t, aten_of_blob(b->x.v, b->x.class == NUMBERS_COMPLEX ? DTYPE_C128 : DTYPE_F64, n_dim, size, stride, 0));
		aten_keep(t);
	}
	return ATEN_END ? NULL : t;
}

/* How many tensors match one of the nodes that can be computed now, and matched none before? */
static uint32_t gain(struct verify *v, const bool *is_node, uint32_t write, const uint32_t *newly, uint32_t n)
{
	uint32_t more = 0;
	struct layout l;
	for (uint32_t i = v->o->n_inputs; i < v->o->n_writes; i++) {
		const struct numbers *x = &v->o->write[i].x;
		bool is = false;
		for (uint32_t k = 1; k < n && !is && i != write && !is_node[i] && verify_varies(x) && !x->nan; k++) {
			struct numbers *y = reference_numbers(v->ref, newly[k]);
			is = y && numbers_match(x, y, 0, &l);
		}
		more += is;
	}
	return more;
}

static bool any_node(struct verify *v, const struct numbers *b)
{
	struct layout l;
	uint32_t n;
	const uint32_t *node = verify_nodes(v, b->n, &n);
	for (uint32_t i = 0; i < n; i++)
		if (verify_is(v, b, node[i], NULL, &l))
			return true;
	return false;
}

/* The best pair; write NONE: there is none. */
struct pair_of {
	uint32_t write, node, gain;
};

static struct pair_of best_pair(struct verify *v, const bool *is_node, uint32_t *newly, uint32_t *trials)
{
	const struct reference *ref = v->ref;
	struct pair_of best = {.write = NONE};
	int64_t size[ATEN_DIMS];
	int n_dim;
	for (uint32_t w = v->o->n_inputs; w < v->o->n_writes; w++) {
		const struct observed_tensor *b = &v->o->write[w];
		if (is_node[w] || !verify_varies(&b->x) || b->x.nan)
			continue;
		for (uint32_t i = ref->program->n_inputs; i < ref->n && *trials < MOST_TRIALS; i++) {
			if (ref->known[i] || !sizes_of(ref, i, b, size, &n_dim))
				continue;
			struct aten_tensor *t = tensor_of(b, size, n_dim);
			if (!t)
				continue;
			++*trials;
			const uint32_t n = reference_adopt(v->ref, i, t, newly), more = gain(v, is_node, w, newly, n);
			reference_abandon(v->ref, newly, n);
			if (more > best.gain)
				best = (struct pair_of){w, i, more};
		}
	}
	return best;
}

void verify_unknown(struct verify *v)
{
	bool *is_node = xcalloc(v->o->n_writes + 1, sizeof(*is_node));
	uint32_t *newly = xcalloc(v->ref->n + 1, sizeof(*newly)), trials = 0;
	int64_t size[ATEN_DIMS];
	int n_dim;
	while (v->ref->n_unknown && trials < MOST_TRIALS) {
		for (uint32_t w = 0; w < v->o->n_writes; w++)
			is_node[w] = v->write[w].adopted || (v->o->write[w].x.v && any_node(v, &v->o->write[w].x));
		const struct pair_of best = best_pair(v, is_node, newly, &trials);
		if (best.write == NONE || !sizes_of(v->ref, best.node, &v->o->write[best.write], size, &n_dim))
			break;
		struct aten_tensor *t = tensor_of(&v->o->write[best.write], size, n_dim);
		if (!t)
			break;
		reference_adopt(v->ref, best.node, t, newly);
		v->write[best.write].adopted = true;
		verify_index(v);
	}
	free(is_node);
	free(newly);
}
