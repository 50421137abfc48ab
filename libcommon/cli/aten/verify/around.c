#include "aten/verify/around.h"

uint64_t around_bytes(const struct observed_tensor *t)
{
	const struct dtype_info *d = dtype_info(t->v->meta.dtype);
	int64_t n;
	return d && tensor_numel(&t->v->meta, &n) ? (uint64_t)n * (uint64_t)d->bytes : 0;
}

bool around_overlap(const struct observed_tensor *x, const struct observed_tensor *y)
{
	return x->to && y->to && x->from < y->to && y->from < x->to;
}

bool around_same(const struct observed_tensor *x, const struct observed_tensor *y)
{
	const struct tensor_meta *m = &x->v->meta, *n = &y->v->meta;
	return x->from == y->from && x->to == y->to && m->dtype == n->dtype && tensor_same_sizes(m, n) &&
	       !memcmp(m->stride, n->stride, (size_t)m->n_dim * sizeof(*m->stride));
}

/* In the tensor's own type. */
int around_add(struct buf *file, struct given_entry e, const struct observed_tensor *t, const double *v, struct err *err)
{
	const struct tensor_meta *m = &t->v->meta;
	struct aten_tensor *own = NULL;
	ATEN_TRY("numbers")
	{
		int64_t stride[ATEN_DIMS];
		aten_contiguous_strides(m->n_dim, m->size, stride);
		own = aten_new(m->dtype, m->n_dim, m->size, NULL);
		aten_copy(own, aten_of_blob((void *)(uintptr_t)v, DTYPE_F64, m->n_dim, m->size, stride, 0));
		aten_keep(own);
	}
	if (ATEN_END)
		return err_set(err, EXIT_INPUT, "%s", aten_last_error());
	given_add(file, &e, aten_data(own), around_bytes(t));
	aten_release(own);
	return 0;
}

int around_add_recorded(struct buf *file, struct given_entry e, const struct dump *d, const struct dump_value *v, struct err *err)
{
	struct dump_tensor t;
	int64_t bytes;
	if (!v->file.n)
		return 0;
	if (dump_tensor_open(&t, d, v, err) < 0)
		return -1;
	if (tensor_is_contiguous(&t.meta) && tensor_extent(&t.meta, &bytes))
		given_add(file, &e, t.data, (uint64_t)bytes);
	dump_tensor_close(&t);
	return 0;
}

int around_take_and_restore(struct buf *file, uint32_t run, const struct observed *o, uint32_t call, const struct dump *d, struct err *err)
{
	const struct observed_call *c = &o->call[call];
	int r = 0;
	for (uint32_t i = c->write; i < c->write + c->n_writes; i++)
		given_add(file, &(struct given_entry){run, c->d->call, o->write[i].v->arg, GIVEN_TAKE, 0, 0, 0}, NULL,
			  around_bytes(&o->write[i]));
	for (uint32_t i = c->read; i < c->read + c->n_reads && !r; i++)
		r = around_add_recorded(file, (struct given_entry){run, c->d->call, o->read[i].v->arg, GIVEN_AFTER, 0, 0, 0}, d,
					o->read[i].v, err);
	for (uint32_t i = c->write; i < c->write + c->n_writes && !r; i++)
		r = around_add_recorded(file, (struct given_entry){run, c->d->call, o->write[i].v->arg, GIVEN_AFTER, 0, 0, 0}, d,
					o->write[i].v, err);
	return r;
}

static int numbers_of_bytes(struct numbers *x, const struct tensor_meta *m, const char *bytes)
{
	struct aten_tensor *t = NULL;
	struct err ignored;
	ATEN_TRY("taken")
	{
		int64_t stride[ATEN_DIMS];
		aten_contiguous_strides(m->n_dim, m->size, stride);
		t = aten_keep(aten_of_blob((void *)(uintptr_t)bytes, m->dtype, m->n_dim, m->size, stride, 0));
	}
	if (ATEN_END)
		return -1;
	const int r = numbers_of(x, t, &ignored);
	aten_release(t);
	return r;
}

const char *around_taken(const struct observed_tensor *base, uint32_t run, uint32_t number, enum given_when when, struct slice given,
			 struct slice taken)
{
	const struct given_file *own = (const void *)given.p, *theirs = (const void *)taken.p;
	for (uint64_t i = given_find(own, run, number); i < own->used; i++) {
		const struct given_entry *e = &own->entry[i];
		if (e->run != run || e->call != number)
			break;
		if (e->when == when && e->arg == base->v->arg && e->bytes == around_bytes(base) && theirs->entry[i].done)
			return taken.p + e->offset;
	}
	return NULL;
}

bool around_take(struct observed_tensor *to, const struct observed_tensor *base, uint32_t call, uint32_t run, uint32_t number,
		 enum given_when when, struct slice given, struct slice taken)
{
	const char *bytes = around_taken(base, run, number, when, given, taken);
	*to = (struct observed_tensor){.v = base->v, .call = call, .from = base->from, .to = base->to, .same = NONE};
	return bytes ? numbers_of_bytes(&to->x, &base->v->meta, bytes) == 0 : !base->x.v && base->same == NONE;
}
