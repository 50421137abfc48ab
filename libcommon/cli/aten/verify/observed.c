#include "aten/verify/observed.h"

/* ---- tensors ---- */

static void place_in_memory(struct observed_tensor *t)
{
	const struct tensor_meta *m = &t->v->meta;
	int64_t bytes;
	if (m->n_dim >= 0 && m->has_address && tensor_extent(m, &bytes) && (uint64_t)bytes <= UINT64_MAX - m->address) {
		t->from = m->address;
		t->to = m->address + (uint64_t)bytes;
	}
}

static int load_tensor(const struct dump *d, struct observed_tensor *t, struct err *err)
{
	struct dump_tensor file;
	struct aten_tensor *x = NULL;
	struct err ignored;
	if (!t->v->file.n || t->v->meta.n_dim < 0)
		return 0;
	if (dump_tensor_open(&file, d, t->v, err) < 0)
		return -1;
	ATEN_TRY("load")
	{
		x = aten_keep(
		    aten_of_blob((void *)(uintptr_t)file.data, file.meta.dtype, file.meta.n_dim, file.meta.size, file.meta.stride, 0));
	}
	if (!ATEN_END) {
		numbers_of(&t->x, x, &ignored); /* a dtype without numbers is skipped */
		aten_release(x);
	}
	dump_tensor_close(&file);
	return 0;
}

static bool wrote(const struct dump_value *v) { return !v->before && (v->role == CALL_ROLE_OUT || v->role == CALL_ROLE_INOUT); }
static bool was_read(const struct dump_value *v) { return v->before && (v->role == CALL_ROLE_IN || v->role == CALL_ROLE_INOUT); }

static void take_tensors(const struct dump_call *c, uint32_t call, bool (*which)(const struct dump_value *), struct observed_tensor *v,
			 uint32_t *n)
{
	for (uint32_t i = 0; i < c->n_values; i++) {
		if (!which(&c->value[i]))
			continue;
		struct observed_tensor *t = &v[(*n)++];
		*t = (struct observed_tensor){.v = &c->value[i], .call = call, .same = NONE};
		place_in_memory(t);
	}
}

static bool is_input(const struct dump_value *v) { return v->role == CALL_ROLE_MODEL_INPUT; }
static bool is_output(const struct dump_value *v) { return v->role == CALL_ROLE_MODEL_OUTPUT; }

/* ---- lineage ---- */

static bool covers(const struct observed_tensor *w, const struct observed_tensor *r)
{
	const struct dtype_info *d = dtype_info(w->v->meta.dtype);
	int64_t n;
	return w->from <= r->from && w->to >= r->to && d && tensor_numel(&w->v->meta, &n) &&
	       (uint64_t)n * (uint64_t)d->bytes == w->to - w->from;
}

static bool reaches(const struct observed_tensor *w, const struct observed_tensor *r)
{
	return w->to && r->to ? w->from < r->to && r->from < w->to : w->v->buffer.n && slice_eq(w->v->buffer, r->v->buffer);
}

static void find_writes(struct observed *o, struct observed_tensor *r)
{
	r->link = o->n_links;
	for (uint32_t i = o->n_writes; i-- > 0;) {
		const struct observed_tensor *w = &o->write[i];
		if ((w->call != NONE && r->call != NONE && w->call >= r->call) || !reaches(w, r))
			continue;
		PUSH_TO(o->link, o->n_links, o->cap_links) = i;
		if (!w->to || covers(w, r))
			break;
	}
	r->n_links = o->n_links - r->link;
}

static bool is_whole(const struct observed_tensor *r, const struct observed_tensor *w)
{
	const struct tensor_meta *x = &r->v->meta, *y = &w->v->meta;
	return w->v->file.n && r->to && r->from == w->from && x->dtype == y->dtype && x->n_dim == y->n_dim &&
	       !memcmp(x->size, y->size, (size_t)x->n_dim * sizeof(*x->size)) &&
	       !memcmp(x->stride, y->stride, (size_t)x->n_dim * sizeof(*x->stride));
}

static void link_all(struct observed *o)
{
	for (uint32_t i = 0; i < o->n_reads; i++) {
		struct observed_tensor *r = &o->read[i];
		find_writes(o, r);
		if (r->n_links == 1 && is_whole(r, &o->write[o->link[r->link]]))
			r->same = o->link[r->link];
	}
	/* The same by write. */
	const uint32_t n = o->n_links;
	GROW(o->link, o->n_links, o->cap_links, n);
	for (uint32_t k = 0; k < n; k++)
		o->write[o->link[k]].n_links++;
	for (uint32_t w = 0; w < o->n_writes; w++) {
		o->write[w].link = o->n_links;
		o->n_links += o->write[w].n_links;
		o->write[w].n_links = 0;
	}
	for (uint32_t r = 0; r < o->n_reads; r++)
		for (uint32_t k = 0; k < o->read[r].n_links; k++) {
			struct observed_tensor *w = &o->write[o->link[o->read[r].link + k]];
			o->link[w->link + w->n_links++] = r;
		}
}

/* ---- all ---- */

static int by_begin(const void *a, const void *b)
{
	const struct observed_call *x = a, *y = b;
	return (x->d->seq > y->d->seq) - (x->d->seq < y->d->seq);
}

static void choose_calls(struct observed *o, uint32_t model_id, uint32_t run, size_t *values)
{
	o->call = xcalloc(o->dump->n + 1, sizeof(*o->call));
	for (size_t i = 0; i < o->dump->n; i++) {
		const struct dump_call *d = &o->dump->call[i];
		if (d->run != run || d->model_id != model_id || d->kind == DUMP_REPLAY)
			continue;
		*values += d->n_values;
		if (d->kind == DUMP_RUN)
			o->run = d;
		else
			o->call[o->n_calls++] = (struct observed_call){.d = d, .compiled = d->kind == DUMP_KERNEL};
	}
	qsort(o->call, o->n_calls, sizeof(*o->call), by_begin);
}

static void take_all(struct observed *o)
{
	if (o->run)
		take_tensors(o->run, NONE, is_input, o->write, &o->n_writes);
	o->n_inputs = o->n_writes;
	for (uint32_t c = 0; c < o->n_calls; c++) {
		struct observed_call *call = &o->call[c];
		call->read = o->n_reads;
		call->write = o->n_writes;
		take_tensors(call->d, c, was_read, o->read, &o->n_reads);
		take_tensors(call->d, c, wrote, o->write, &o->n_writes);
		call->n_reads = o->n_reads - call->read;
		call->n_writes = o->n_writes - call->write;
	}
	o->first_output = o->n_reads;
	if (o->run)
		take_tensors(o->run, NONE, is_output, o->read, &o->n_reads);
	o->n_outputs = o->n_reads - o->first_output;
}

int observed_read(struct observed *o, const struct dump *d, uint32_t model_id, uint32_t run, struct err *err)
{
	size_t values = 0;
	int r = 0;
	*o = (struct observed){.dump = d};
	choose_calls(o, model_id, run, &values);
	o->read = xcalloc(values + 1, sizeof(*o->read));
	o->write = xcalloc(values + 1, sizeof(*o->write));
	take_all(o);
	link_all(o);
	for (uint32_t i = 0; i < o->n_writes && !r; i++)
		r = load_tensor(d, &o->write[i], err);
	for (uint32_t i = 0; i < o->n_reads && !r; i++)
		r = o->read[i].same == NONE ? load_tensor(d, &o->read[i], err) : 0;
	if (!r && !o->n_calls)
		r = err_set(err, EXIT_INPUT, "'%s' has no call of run %u", d->path, run);
	if (r < 0)
		observed_release(o);
	return r;
}

size_t observed_inputs(const struct dump *d, uint32_t model_id, uint32_t run, struct tensor_meta *v, size_t n)
{
	size_t k = 0;
	for (size_t i = 0; i < d->n; i++) {
		const struct dump_call *c = &d->call[i];
		for (uint32_t a = 0; c->kind == DUMP_RUN && c->run == run && c->model_id == model_id && a < c->n_values; a++)
			if (is_input(&c->value[a]) && k++ < n)
				v[k - 1] = c->value[a].meta;
	}
	return k;
}

void observed_release(struct observed *o)
{
	for (uint32_t i = 0; i < o->n_reads; i++)
		numbers_release(&o->read[i].x);
	for (uint32_t i = 0; i < o->n_writes; i++)
		numbers_release(&o->write[i].x);
	free(o->call);
	free(o->read);
	free(o->write);
	free(o->link);
	*o = (struct observed){0};
}
