/* look.c - examines a tensor: its type, its contents, a record of it. */
#include "ops.h"

#include <math.h>

bool ops_view_of(const struct model *m, void *handle, struct ops_view *v)
{
	const struct torch_functions *t = &m->torch;
	const struct ops *ops = m->ops;
	int64_t *size, *stride;
	int32_t layout = 0;
	void *data = NULL;
	bool defined = true;
	*v = (struct ops_view){.handle = handle, .device_index = -1};
	/* libtorch prints an error when asked for these: undefined tensors, and strides of sparse ones. */
	if ((ops->is_defined && (ops->is_defined(handle, &defined) || !defined)) ||
	    (t->get_layout && (t->get_layout(handle, &layout) || layout)) || t->get_dtype(handle, &v->dtype) ||
	    t->get_device_type(handle, &v->device) || t->get_dim(handle, &v->n_dim) || t->get_sizes(handle, &size) ||
	    t->get_strides(handle, &stride))
		return false;
	if ((v->device == DEVICE_CPU || v->device == DEVICE_CUDA) && t->get_data_ptr(handle, &data))
		return false;
	if (v->device != DEVICE_CPU && t->get_device_index && t->get_device_index(handle, &v->device_index))
		return false;
	v->data = data;
	v->size = size;
	v->stride = stride;
	return v->n_dim >= 0 && v->n_dim <= TENSOR_MAX_DIMS && (v->n_dim == 0 || (size && stride));
}

bool ops_view_at(const struct model *m, void *handle, const void *data, struct ops_view *v)
{
	const struct torch_functions *t = &m->torch;
	int64_t *size, *stride;
	*v = (struct ops_view){.handle = handle, .data = data, .device = DEVICE_CPU, .device_index = -1};
	if (t->get_dtype(handle, &v->dtype) || t->get_dim(handle, &v->n_dim) || t->get_sizes(handle, &size) ||
	    t->get_strides(handle, &stride))
		return false;
	v->size = size;
	v->stride = stride;
	return v->n_dim >= 0 && v->n_dim <= TENSOR_MAX_DIMS && (v->n_dim == 0 || (size && stride));
}

static bool ops_readable(const struct ops_view *v) { return v->device == DEVICE_CPU || (v->device == DEVICE_CUDA && cuda_readable()); }

bool ops_meta_of(const struct ops_view *v, struct tensor_meta *m, int64_t *bytes)
{
	m->dtype = v->dtype;
	m->device = v->device;
	m->device_index = v->device_index;
	m->n_dim = (int)v->n_dim;
	m->has_address = true;
	m->address = (uintptr_t)v->data;
	for (int64_t d = 0; d < v->n_dim; d++) {
		m->size[d] = v->size[d];
		m->stride[d] = v->stride[d];
		if (v->size[d] < 0 || v->stride[d] < 0)
			return false;
	}
	return ops_readable(v) && dtype_info(v->dtype) && tensor_extent(m, bytes) && (v->data || !*bytes);
}

/* Contiguous elements in index order, as in nearly all buffers. */
static bool dense(const struct ops_view *v, int64_t *n)
{
	*n = 1;
	if (v->device != DEVICE_CPU || !v->data)
		return false;
	for (int64_t d = v->n_dim; d-- > 0;)
		if ((v->stride[d] != *n && v->size[d] != 1) || v->size[d] <= 0 || __builtin_mul_overflow(*n, v->size[d], n))
			return false;
	return true;
}

void ops_stats(const struct ops_view *v, int what, struct tensor_stats *s)
{
	struct tensor_meta m;
	int64_t bytes, n;
	if (LIKELY(dense(v, &n))) {
		tensor_stats_dense(v->dtype, (uint64_t)n, v->data, what, s);
		return;
	}
	*s = (struct tensor_stats){.first_bad = -1};
	if (!ops_meta_of(v, &m, &bytes))
		return;
	if (v->device == DEVICE_CUDA)
		cuda_stats(&m, v->data, bytes, what, s);
	else
		tensor_stats(&m, v->data, what, s);
}

bool ops_out_of_range(const struct tensor_stats *s, int dtype)
{
	const struct calls_config *c = ops_config();
	if (LIKELY(!(s->min < c->lo || s->max > c->hi)))
		return false;
	const struct dtype_info *d = dtype_info(dtype);
	bool real = d && (strstr(d->name, "float") || strstr(d->name, "complex"));
	return real;
}

bool ops_is_bad(const struct tensor_stats *s, int dtype)
{
	return s->known && (s->nan || s->pos_inf || s->neg_inf || ops_out_of_range(s, dtype));
}

double ops_element(const struct ops_view *v, int64_t at)
{
	struct tensor_meta m, one = {.dtype = v->dtype};
	int64_t bytes, index[TENSOR_MAX_DIMS], place = 0;
	char element[32];
	const struct dtype_info *d = dtype_info(v->dtype);
	if (!ops_meta_of(v, &m, &bytes))
		return __builtin_nan("");
	if (v->device == DEVICE_CPU)
		return tensor_at(&m, v->data, at);
	tensor_index(&m, at, index);
	for (int k = 0; k < m.n_dim; k++)
		place += index[k] * m.stride[k];
	if ((size_t)d->bytes > sizeof(element) || !cuda_copy(element, (const char *)v->data + place * d->bytes, (size_t)d->bytes))
		return __builtin_nan("");
	return tensor_at(&one, element, 0);
}

static double bad_value(const struct ops_view *v, const struct tensor_stats *s)
{
	const struct calls_config *c = ops_config();
	struct tensor_meta m;
	int64_t bytes;
	if (!s->known || !ops_meta_of(v, &m, &bytes))
		return 0;
	if (s->first_bad >= 0)
		return ops_element(v, s->first_bad);
	return !ops_out_of_range(s, v->dtype) ? 0 : s->min < c->lo ? s->min : s->max;
}

/* Saves the tensor in its file (calls_file_name), whose name is unique within this command. enum call_saved. */
static uint32_t save(struct ops_thread *t, const struct ops_run *run, const struct call_record *r, const char *call_name,
		     const struct ops_view *v, uint64_t *place)
{
	const struct calls_config *c = ops_config();
	struct tensor_meta m;
	struct call_record named = *r;
	int64_t bytes, n;
	char path[1024];
	const struct dtype_info *d = dtype_info(v->dtype);
	if (!ops_meta_of(v, &m, &bytes) || !tensor_numel(&m, &n) || !ops_may_save(r->model, (uint64_t)(n * d->bytes)))
		return CALL_UNSAVED;
	const bool together = c->want & CALLS_ARENA && v->n_dim <= CALL_DIMS; /* the record has all that a header would */
	named.v.saved = together ? CALL_SAVED_ARENA : ops_saved_as(c->save_format, &m);
	if (named.v.saved == CALL_UNSAVED)
		return CALL_UNSAVED;
	named.run = run->run;
	named.pid = t->pid;
	int at = snprintf(path, sizeof(path) - CALLS_FILE_NAME, "%.*s/", (int)strnlen(c->save_dir, sizeof(c->save_dir)), c->save_dir);
	if (at < 2)
		return CALL_UNSAVED;
	calls_file_name(&named, call_name, r->name ? ops_text(r->name) : "", path + at);
	const void *data = v->data;
	if (v->device != DEVICE_CPU && !(data = cuda_fetch(v->data, (size_t)bytes)))
		return CALL_UNSAVED;
	bool saved = together ? ops_put(path, t->pid, &m, data, t->scratch, place) : ops_save(path, named.v.saved, &m, data, t->scratch);
	if (v->device != DEVICE_CPU)
		cuda_drop((void *)(uintptr_t)data, (size_t)bytes);
	return saved ? named.v.saved : CALL_UNSAVED;
}

struct ops_view ops_view_before(const struct ops_value *x)
{
	struct ops_view v = x->view;
	if (x->copy) {
		v.data = x->copy;
		v.device = DEVICE_CPU;
	}
	return v;
}

void ops_tell(struct ops_thread *t, const struct ops_run *run, const struct call_record *like, const char *call_name,
	      const struct ops_value *x, bool before, const struct tensor_stats *s)
{
	const struct ops_view *v = &x->view;
	struct call_record r;
	r.what = CALL_VALUE;
	r.time = like->time;
	r.seq = like->seq;
	r.call = like->call;
	r.contract_call = like->contract_call;
	r.result = 0;
	r.model = run->model->id;
	r.name = x->name;
	r.v.arg = x->arg;
	r.v.role = x->role;
	r.v.before = before;
	r.v.n_dim = (uint8_t)v->n_dim;
	r.v.device = (int8_t)v->device;
	r.v.device_index = (int8_t)v->device_index;
	r.v.dtype = (int16_t)v->dtype;
	r.v.address = (uintptr_t)v->data;
	for (int64_t d = 0; d < CALL_DIMS; d++) {
		r.v.size[d] = d < v->n_dim ? v->size[d] : 0;
		r.v.stride[d] = d < v->n_dim ? v->stride[d] : 0;
	}
	r.v.stats = *s;
	r.v.saved = CALL_UNSAVED;
	r.v.at = 0;
	r.v.place = 0;
	r.v.element = 0;
	r.v.bad_value = ops_is_bad(s, v->dtype) && (!before || x->role != CALL_ROLE_INOUT || !x->has_after) ? bad_value(v, s) : 0;
	struct tensor_meta m;
	int64_t bytes;
	/* Nobody read that element before it was overwritten. */
	if (x->at && (!before || x->role != CALL_ROLE_INOUT) && ops_meta_of(v, &m, &bytes)) {
		r.v.at = (uint64_t)x->at;
		r.v.element = ops_element(v, x->at - 1);
	}
	if (x->keep || (ops_config()->want & CALLS_SAVE && x->passes && !x->weight && (!before || !x->has_after))) {
		const struct ops_view old = before ? ops_view_before(x) : *v;
		r.v.saved = save(t, run, &r, call_name, &old, &r.v.place);
	}
	ops_append(t, run, &r);
}
