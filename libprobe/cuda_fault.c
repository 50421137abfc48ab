/* cuda_fault.c - device faults, and calls that are about to fail. */
#include "cuda.h"

#include "jit.h"
#include "ops.h"

#define TOLD 1024 /* findings; more are not reported */

/* ---- members of an event ---- */

static void out_hex(struct json_out *o, const char *key, uint64_t v)
{
	char text[32];
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)v);
	json_member_str(o, key, slice_str(text));
}

static void out_u32s(struct json_out *o, const char *key, const uint32_t v[3])
{
	const int64_t three[3] = {v[0], v[1], v[2]};
	json_member_i64s(o, key, three, 3);
}

static void out_error(struct json_out *o, int error)
{
	const char *text = NULL;
	json_member_u64(o, "code", (uint64_t)error);
	if (cuda.error_name && !cuda.error_name(error, &text) && text)
		json_member_str(o, "error", slice_str(text));
	if (cuda.error_string && !cuda.error_string(error, &text) && text)
		json_member_str(o, "text", slice_str(text));
}

static void out_call(struct json_out *o, const struct ops_thread *t, const struct ops_run *run, const struct ops_open *c)
{
	if (run->run != CALLS_NO_RUN)
		json_member_u64(o, "run", run->run);
	json_member_u64(o, "call", c->call);
	json_member_u64(o, "seq", c->seq);
	if (c->contract_call != CALLS_NO_CALL)
		json_member_u64(o, "contract_call", c->contract_call);
	json_member_str(o, "kernel", slice_str(c->name ? ops_text(c->name) : c->site->name));
	if (c->launch.inside && c->launch.function)
		json_member_str(o, "function", slice_str(c->launch.function->name));
	out_hex(o, "stream", (uintptr_t)c->launch.stream);
	int device = t->device;
	if (t->known_of == c->seq ? device >= 0 : cuda.ctx_get_device && !cuda.ctx_get_device(&device))
		json_member_u64(o, "device", (uint64_t)device);
}

/* ---- the extent of a tensor ---- */

struct extent {
	uint64_t bytes;   /* spanned by its sizes and strides */
	uint64_t storage; /* bytes of its storage, from its first element on; UINT64_MAX: unknown */
};

static bool extent_of(const struct model *m, const struct ops_view *v, struct extent *e)
{
	const struct dtype_info *d = dtype_info(v->dtype);
	struct tensor_meta meta = {.dtype = v->dtype, .n_dim = (int)v->n_dim};
	int64_t bytes, storage, offset;
	*e = (struct extent){.storage = UINT64_MAX};
	if (!d || v->n_dim < 0 || v->n_dim > TENSOR_MAX_DIMS)
		return false;
	for (int64_t i = 0; i < v->n_dim; i++) {
		meta.size[i] = v->size[i];
		meta.stride[i] = v->stride[i];
	}
	if (!tensor_extent(&meta, &bytes))
		return false;
	e->bytes = (uint64_t)bytes;
	if (v->handle && m->ops->get_storage_size && m->ops->get_storage_offset && !m->ops->get_storage_size(v->handle, &storage) &&
	    !m->ops->get_storage_offset(v->handle, &offset) && offset >= 0 && offset <= storage / d->bytes)
		e->storage = (uint64_t)(storage - offset * d->bytes);
	return true;
}

/* ---- a fault ---- */

static const struct ops_value *param_value(const struct ops_thread *t, const struct ops_open *o, uint32_t param)
{
	for (uint32_t i = 0; t->values_of == o->seq && i < t->n_values; i++)
		if (t->value[i].param == param)
			return &t->value[i];
	return NULL;
}

static void out_allocation(struct json_out *o, const struct ops_thread *t, const struct ops_open *c, uint32_t param)
{
	const struct cuda_known *k = &t->known[param];
	if (t->known_of != c->seq || param >= CUDA_PARAMS || !k->size)
		return;
	out_hex(o, "base", k->base);
	json_member_u64(o, "allocation", k->size);
}

static void out_tensor(struct json_out *o, const struct model *m, const struct ops_value *x)
{
	struct extent e;
	const struct ops_view *v = &x->view;
	if (x->name)
		json_member_str(o, "buffer", slice_str(ops_text(x->name)));
	json_member_str(o, "role", slice_str(x->role < CALL_ROLES ? call_role_word[x->role] : ""));
	json_member_u64(o, "arg", x->arg);
	if (!x->seen)
		return;
	json_member_str(o, "dtype", slice_str(dtype_name(v->dtype)));
	json_member_str(o, "on", slice_str(device_name(v->device)));
	if (v->device_index >= 0)
		json_member_u64(o, "on_index", (uint64_t)v->device_index);
	json_member_i64s(o, "sizes", v->size, v->n_dim);
	json_member_i64s(o, "strides", v->stride, v->n_dim);
	out_hex(o, "address", (uintptr_t)v->data);
	if (!extent_of(m, v, &e))
		return;
	json_member_u64(o, "extent", e.bytes);
	if (e.storage != UINT64_MAX)
		json_member_u64(o, "storage", e.storage);
}

/* A parameter that is not a tensor: a number, scratch memory, or an unknown pointer. */
static void out_word(struct json_out *o, uint64_t word, uint8_t size)
{
	out_hex(o, "value", size && size < 8 ? word & ((UINT64_C(1) << size * 8) - 1) : word);
}

static void out_params(struct json_out *o, struct ops_thread *t, const struct ops_run *run, const struct ops_open *c)
{
	struct cuda_words w;
	cuda_words(t, c, &w);
	json_rows(o, "params", i, w.n) {
		const struct ops_value *x = param_value(t, c, i);
		json_member_u64(o, "size", w.size[i]);
		if (x)
			out_tensor(o, run->model, x);
		else
			out_word(o, w.word[i], w.size[i]);
		out_allocation(o, t, c, i);
	}
}

/* l: how Python launches it; NULL: unknown. Its numbers follow the tensors. */
static void out_tensors(struct json_out *o, const struct ops_thread *t, const struct ops_run *run, const struct ops_open *c,
			const struct jit_launch *l)
{
	json_member_arr(o, "params");
	for (uint32_t i = 0; t->values_of == c->seq && i < t->n_values; i++) {
		json_obj(o);
		out_tensor(o, run->model, &t->value[i]);
		out_allocation(o, t, c, i);
		json_close(o);
	}
	for (uint32_t i = 0; l && i < l->n; i++) {
		json_obj(o);
		json_member_str(o, "name", slice_str(l->number[i].name));
		out_hex(o, "value", l->number[i].value);
		json_close(o);
	}
	json_close(o);
}

/* Is it about work of the GPU? Not about this thread, the end of the process, or a capture that forbids to wait. */
static bool is_fault(int error)
{
	enum { NOT_INITIALIZED = 3, DEINITIALIZED = 4, INVALID_CONTEXT = 201, NOT_READY = 600, CONTEXT_IS_DESTROYED = 709 };
	return error && error != NOT_INITIALIZED && error != DEINITIALIZED && error != INVALID_CONTEXT && error != NOT_READY &&
	       error != CONTEXT_IS_DESTROYED && (error < 900 || error > 908);
}

/* Reported once per process: everything after it is a consequence. */
static void tell_fault(struct ops_thread *t, struct ops_run *run, const struct ops_open *c, const char *when, int error)
{
	struct buf b = {0};
	struct json_out o;
	int none = 0;
	if (!atomic_compare_exchange_strong(&cuda_broken, &none, error))
		return;
	t->readable = false;
	struct jit_launch l;
	const bool in_python = c->given && c->given->launch_of(c->given, &l);
	event_begin(&o, &b, LIVE_DEVICE_FAULT, run->model->id);
	json_member_str(&o, "when", slice_str(when));
	out_error(&o, error);
	out_call(&o, t, run, c);
	if (c->launch.kernel || c->launch.inside) {
		out_u32s(&o, "grid", c->launch.grid);
		out_u32s(&o, "block", c->launch.block);
		json_member_u64(&o, "shared", c->launch.shared);
	} else if (in_python) {
		out_u32s(&o, "grid", l.grid);
		out_u32s(&o, "block", (uint32_t[3]){l.block, 1, 1});
		json_member_u64(&o, "shared", l.shared);
	}
	if (c->launch.kernel)
		out_params(&o, t, run, c);
	else
		out_tensors(&o, t, run, c, in_python ? &l : NULL);
	event_end(&o, &b);
}

void cuda_tell_later(int error)
{
	struct buf b = {0};
	struct json_out o;
	int none = 0;
	if (!atomic_compare_exchange_strong(&cuda_broken, &none, error))
		return;
	event_begin(&o, &b, LIVE_DEVICE_FAULT, LIVE_NO_MODEL);
	json_member_str(&o, "when", SLICE("later"));
	out_error(&o, error);
	event_end(&o, &b);
}

void cuda_tell_replay(const struct cuda_replay *r, const uint32_t *name, uint32_t n, const char *when, int error)
{
	struct buf b = {0};
	struct json_out o;
	int none = 0, device;
	if (!atomic_compare_exchange_strong(&cuda_broken, &none, error))
		return;
	event_begin(&o, &b, LIVE_DEVICE_FAULT, r->model);
	json_member_str(&o, "when", slice_str(when));
	out_error(&o, error);
	json_member_u64(&o, "call", r->call);
	json_member_u64(&o, "seq", r->seq);
	json_member_str(&o, "kernel", slice_str(ops_text(r->name)));
	json_member_u64(&o, "graph", r->graph);
	json_member_u64(&o, "replay", r->times);
	json_member_u64(&o, "captured", r->captured);
	json_member_arr(&o, "kernels");
	for (uint32_t i = 0; i < n; i++)
		json_out_str(&o, slice_str(name[i] ? ops_text(name[i]) : ""));
	json_close(&o);
	out_hex(&o, "stream", (uintptr_t)r->stream);
	if (cuda.ctx_get_device && !cuda.ctx_get_device(&device))
		json_member_u64(&o, "device", (uint64_t)device);
	event_end(&o, &b);
}

static bool waits(const struct ops_open *o)
{
	return ops_want() & CALLS_SYNC && o->launch.gpu && !o->launch.captured && cuda.stream_synchronize && !cuda_broken;
}

static void know(struct cuda_known *k, uint64_t address)
{
	*k = (struct cuda_known){0};
	if (address > UINT32_MAX && cuda.address_range && cuda.address_range(&k->base, &k->size, address))
		k->size = 0;
}

static void know_all(struct ops_thread *t, struct ops_run *run, const struct ops_open *o)
{
	struct cuda_words w;
	cuda_words(t, o, &w);
	t->known_of = o->seq;
	if (!cuda.ctx_get_device || cuda.ctx_get_device(&t->device))
		t->device = -1;
	for (uint32_t i = 0; i < w.n; i++)
		know(&t->known[i], w.size[i] && w.size[i] != 8 ? 0 : w.word[i]);
	for (uint32_t i = 0; !o->launch.kernel && o->looked && i < t->n_values && i < CUDA_PARAMS; i++) {
		struct ops_value *x = &t->value[i];
		know(&t->known[i], ops_look(run->model, x, false) ? (uintptr_t)x->view.data : 0);
	}
}

void cuda_before(struct ops_thread *t, struct ops_run *run, struct ops_open *o)
{
	if (!waits(o))
		return;
	int r = cuda_wait_all(o->launch.stream);
	if (is_fault(r))
		tell_fault(t, run, o, "before", r);
	else
		know_all(t, run, o);
}

bool cuda_after(struct ops_thread *t, struct ops_run *run, const struct ops_open *o, int32_t result)
{
	if (!o->launch.gpu)
		return true;
	/* An op's status is torch's, not a driver error. */
	if (o->launch.kernel && result) {
		tell_fault(t, run, o, "launch", result);
		return false;
	}
	int r = waits(o) ? cuda_wait(o->launch.stream) : 0;
	if (is_fault(r))
		tell_fault(t, run, o, "after", r);
	return !cuda_broken;
}

void cuda_unread(struct ops_thread *t, struct ops_run *run, const struct ops_open *o)
{
	if (is_fault(t->read_error))
		tell_fault(t, run, o, "values", t->read_error);
	t->read_error = 0;
}

/* ---- before it goes wrong ---- */

/* Once per kernel argument. */
static bool first_time(const struct ops_open *o, uint32_t param, const char *what)
{
	static _Atomic uint64_t told[TOLD];
	uint64_t key = ((uint64_t)(o->site - ops_site) << 32 | param << 8 | (uint8_t)what[0]) + 1;
	for (size_t i = key * 0x9e3779b97f4a7c15ull >> 54, n = 0; n < TOLD; i = (i + 1) & (TOLD - 1), n++) {
		uint64_t there = 0;
		if (atomic_compare_exchange_strong(&told[i], &there, key))
			return true;
		if (there == key)
			return false;
	}
	return false;
}

static void tell_finding(struct ops_thread *t, const struct ops_run *run, const struct ops_open *c, const struct ops_value *x,
			 const char *what)
{
	struct buf b = {0};
	struct json_out o;
	if (!first_time(c, x->param, what))
		return;
	event_begin(&o, &b, LIVE_DEVICE_FINDING, run->model->id);
	json_member_str(&o, "what", slice_str(what));
	out_call(&o, t, run, c);
	json_member_u64(&o, "param", x->param);
	out_tensor(&o, run->model, x);
	event_end(&o, &b);
}

/* CU_POINTER_ATTRIBUTE_MEMORY_TYPE: pinned, managed and device memory have one. A kernel may use host memory unknown to the driver only if
 * the machine allows it (CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS). */
static bool unreachable(const struct ops_view *v, int device)
{
	unsigned type = 0;
	int pageable = 0;
	if (!cuda.pointer_attribute || !cuda.pointer_attribute(&type, 2, (uintptr_t)v->data))
		return false;
	return !cuda.device_attribute || cuda.device_attribute(&pageable, 88, device) || !pageable;
}

void cuda_check(struct ops_thread *t, const struct ops_run *run, const struct ops_open *o)
{
	int device = -1;
	struct extent e;
	if ((!o->launch.kernel && o->site->kind != SITE_KERNEL) || cuda_broken || !cuda.ctx_get_device || cuda.ctx_get_device(&device))
		return;
	for (uint32_t i = 0; i < t->n_values; i++) {
		struct ops_value *x = &t->value[i];
		if (!ops_look(run->model, x, false) || !x->view.data)
			continue;
		if (x->view.device == DEVICE_CPU && !x->number && unreachable(&x->view, device))
			tell_finding(t, run, o, x, "host-pointer");
		if (x->view.device == DEVICE_CUDA && x->view.device_index >= 0 && x->view.device_index != device)
			tell_finding(t, run, o, x, "other-device");
		if (extent_of(run->model, &x->view, &e) && e.storage != UINT64_MAX && e.bytes > e.storage)
			tell_finding(t, run, o, x, "walks-outside");
	}
}
