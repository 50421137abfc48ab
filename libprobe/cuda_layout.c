/* cuda_layout.c - how the elements of a tensor lie in memory, for a kernel that visits them in that order: channels_last, transposed,
 * expanded, sliced tensors are examined where they are, without a copy. */
#include "cuda.h"

#include "tensor/tensor.h"

/* Dims by descending stride, without those of one element and those that repeat memory (stride 0: an expanded tensor). */
struct groups {
	int n;
	int64_t size[TENSOR_MAX_DIMS], stride[TENSOR_MAX_DIMS], step[TENSOR_MAX_DIMS];
};

static void add_group(struct groups *g, int64_t size, int64_t stride, int64_t step)
{
	int k = g->n++;
	for (; k > 0 && g->stride[k - 1] < stride; k--) {
		g->size[k] = g->size[k - 1];
		g->stride[k] = g->stride[k - 1];
		g->step[k] = g->step[k - 1];
	}
	g->size[k] = size;
	g->stride[k] = stride;
	g->step[k] = step;
}

/* Two that follow each other in memory and in the tensor are one. */
static void join_groups(struct groups *g)
{
	int n = 0;
	for (int i = 0; i < g->n; i++) {
		const bool joins = n && g->stride[n - 1] == g->size[i] * g->stride[i] && g->step[n - 1] == g->size[i] * g->step[i];
		n -= joins;
		g->size[n] = g->size[i] * (joins ? g->size[n] : 1);
		g->stride[n] = g->stride[i];
		g->step[n++] = g->step[i];
	}
	g->n = n;
}

bool cuda_layout_of(const struct tensor_meta *m, struct cuda_layout *l, uint64_t *elements, uint64_t *times)
{
	struct groups g = {0};
	int64_t step = 1, dense = 1;
	bool gaps = false;
	*elements = *times = 1;
	for (int i = m->n_dim; i-- > 0; step *= m->size[i]) {
		if (m->size[i] == 1)
			continue;
		*(m->stride[i] ? elements : times) *= (uint64_t)m->size[i];
		if (m->stride[i])
			add_group(&g, m->size[i], m->stride[i], step);
	}
	join_groups(&g);
	*l = (struct cuda_layout){.size = {1, 1, 1}};
	if (g.n > CUDA_GROUPS)
		return false;
	for (int i = g.n, to = CUDA_GROUPS - 1; i-- > 0; to--) {
		gaps |= g.stride[i] != dense;
		dense *= g.size[i];
		if (to)
			l->size[to - 1] = (uint64_t)g.size[i];
		l->stride[to] = (uint64_t)g.stride[i];
		l->step[to] = (uint64_t)g.step[i];
	}
	const bool in_order = !g.n || (g.n == 1 && g.step[0] == 1);
	l->how = gaps ? CUDA_STRIDED : in_order ? CUDA_IN_ORDER : CUDA_DENSE;
	return true;
}
