/* give.c - numbers of the tool in place of a kernel's own (watch/given.h). */
#include "ops.h"
#include "watch/given.h"

/* Row-major elements into a tensor or out of it, whatever its strides. */
static void move(const struct tensor_meta *m, char *data, char *packed, int64_t n, size_t bytes, bool out)
{
	int64_t index[TENSOR_MAX_DIMS] = {0};
	if (tensor_is_contiguous(m)) {
		memcpy(out ? packed : data, out ? data : packed, (size_t)n * bytes);
		return;
	}
	for (int64_t i = 0, at = 0; i < n; i++, packed += bytes) {
		char *element = data + at * (int64_t)bytes;
		memcpy(out ? packed : element, out ? element : packed, bytes);
		for (int d = m->n_dim - 1; d >= 0; d--) {
			at += m->stride[d];
			if (++index[d] < m->size[d])
				break;
			at -= m->stride[d] * m->size[d];
			index[d] = 0;
		}
	}
}

static void give_to(const struct model *m, struct ops_value *x, struct given_entry *e)
{
	const struct dtype_info *d;
	struct tensor_meta meta;
	int64_t extent, n;
	if (x->role == CALL_ROLE_CONSTANT || !ops_look(m, x, e->when != GIVEN_BEFORE) || x->view.device != DEVICE_CPU ||
	    !ops_meta_of(&x->view, &meta, &extent) || !tensor_numel(&meta, &n) || !(d = dtype_info(meta.dtype)) ||
	    (uint64_t)n * (uint64_t)d->bytes != e->bytes)
		return;
	move(&meta, (char *)(uintptr_t)x->view.data, (char *)ops_given + e->offset, n, (size_t)d->bytes, e->when == GIVEN_TAKE);
	e->done = 1;
}

void ops_give(struct ops_thread *t, const struct ops_run *run, const struct ops_open *o, bool after)
{
	struct given_file *given = ops_given;
	if (!given || run->run == CALLS_NO_RUN || o->site->kind != SITE_KERNEL)
		return;
	for (uint64_t i = given_find(given, run->run, o->call); i < given->used; i++) {
		struct given_entry *e = &given->entry[i];
		if (e->run != run->run || e->call != o->call)
			break;
		for (uint32_t k = 0; k < t->n_values && (e->when != GIVEN_BEFORE) == after; k++)
			if (t->value[k].arg == e->arg)
				give_to(run->model, &t->value[k], e);
	}
}
