#include "probe.h"

#include <errno.h>

#define ON_STACK 64      /* inputs; more are allocated */
#define MAX_INPUTS 65536 /* of one call; more makes no sense */

static bool view_input(const struct model *m, void *tensor, bool address, struct input_view *v)
{
	const struct torch_functions *t = &m->torch;
	int64_t *size, *stride;
	int32_t layout = 0;
	void *data = NULL;
	/* A tensor that is not strided has no strides, and libtorch prints an error when asked for them. */
	if (!tensor || (t->get_layout && (t->get_layout(tensor, &layout) || layout)) || t->get_dtype(tensor, &v->dtype) ||
	    t->get_device_type(tensor, &v->device) || t->get_dim(tensor, &v->n_dim) || t->get_sizes(tensor, &size) ||
	    t->get_strides(tensor, &stride))
		return false;
	/* Only asked for if needed: it makes copy-on-write tensors copy. */
	if (address && t->get_data_ptr(tensor, &data))
		return false;
	v->size = size;
	v->stride = stride;
	v->address = (uintptr_t)data;
	return v->n_dim >= 0 && (v->n_dim == 0 || (size && stride));
}

static bool view_inputs(const struct model *m, void **inputs, size_t n, bool address, struct input_view *v)
{
	for (size_t i = 0; i < n; i++)
		if (!view_input(m, inputs[i], address, &v[i]))
			return false;
	return true;
}

static struct tensor_meta *metas_of(const struct model *m, void **inputs, const struct input_view *v, size_t n, bool address)
{
	struct tensor_meta *meta = calloc(n ? n : 1, sizeof(*meta));
	for (size_t i = 0; meta && i < n; i++) {
		int32_t index = -1;
		if (v[i].n_dim > TENSOR_MAX_DIMS) {
			free(meta);
			return NULL;
		}
		if (m->torch.get_device_index && v[i].device != DEVICE_CPU && m->torch.get_device_index(inputs[i], &index))
			index = -1;
		meta[i].dtype = v[i].dtype;
		meta[i].device = v[i].device;
		meta[i].device_index = index;
		meta[i].n_dim = (int)v[i].n_dim;
		meta[i].has_address = address;
		meta[i].address = v[i].address;
		for (int d = 0; d < meta[i].n_dim; d++) {
			meta[i].size[d] = v[i].size[d];
			meta[i].stride[d] = v[i].stride[d];
		}
	}
	return meta;
}

/* How many times has the same been wrong? "The same" means the same failed checks, not the same values. 0: no room left to remember it, so
 * it is only counted. */
static uint32_t times_seen(struct model *m, const struct check *k)
{
	uint64_t what = 0;
	for (size_t i = 0; i < k->n; i++) {
		struct {
			uint64_t before;
			int32_t what, input, dim, zero;
		} one = {what, (int32_t)k->v[i].what, (int32_t)k->v[i].input, k->v[i].dim, 0};
		what = hash_bytes(&one, sizeof(one));
	}
	uint32_t times = 0;
	pthread_mutex_lock(&m->lock);
	uint32_t i = 0;
	while (i < m->n_seen && m->seen[i].what != what)
		i++;
	if (i < PROBE_SEEN) {
		if (i == m->n_seen)
			m->seen[m->n_seen++] = (struct seen){what, 0};
		times = ++m->seen[i].times;
	}
	pthread_mutex_unlock(&m->lock);
	return times;
}

static void out_finding(struct json_out *o, const struct contract *c, const struct check_finding *f)
{
	json_obj(o);
	json_member_str(o, "what", slice_str(check_what_name(f->what)));
	if (f->input != NONE) {
		json_member_u64(o, "input", f->input);
		json_member_some(o, "name", c->input[f->input].name);
		json_member_some(o, "path", c->input[f->input].path);
	}
	if (f->dim >= 0)
		json_member_i64(o, "dim", f->dim);
	json_member_some(o, "expected", f->expected);
	json_member_some(o, "given", f->given);
	json_member_some(o, "fix", f->fix);
	json_member_some(o, "aoti", f->aoti);
	if (f->advice)
		json_member_bool(o, "advice", true);
	json_close(o);
}

static void tell_mismatch(struct model *m, enum entry entry, const struct check *k, const struct tensor_meta *meta, size_t n,
			  uint32_t repeat)
{
	struct buf b = {0}, spec = {0};
	struct json_out o;
	event_begin(&o, &b, LIVE_CALL_MISMATCH, m->id);
	json_member_u64(&o, "call", m->count->calls);
	json_member_str(&o, "entry", slice_str(entry_name[entry]));
	json_member_bool(&o, "failed", talk_fail() && k->n_bad);
	json_member_u64(&o, "repeat", repeat);
	json_member_bool(&o, "last", repeat >= LIVE_FULL_REPEATS);
	json_member_arr(&o, "inputs");
	for (size_t i = 0; i < n && b.len < LIVE_MAX_LINE / 2; i++) {
		buf_reset(&spec);
		tensor_spec_print(&meta[i], &spec);
		json_out_str(&o, buf_slice(&spec));
	}
	json_close(&o);
	json_member_arr(&o, "findings");
	for (size_t i = 0; i < k->n && b.len < LIVE_MAX_LINE * 3 / 4; i++)
		out_finding(&o, &m->contract, &k->v[i]);
	json_close(&o);
	event_end(&o, &b);
	buf_release(&spec);
}

/* The first mismatch, in AOTI's words and ours. */
static void refuse_call(struct model *m, const struct check *k, void **inputs, size_t n)
{
	const struct check_finding *f = k->v;
	while (f->advice)
		f++;
	char where[256] = "";
	if (f->input != NONE) {
		struct slice name = m->contract.input[f->input].name;
		snprintf(where, sizeof(where), "input %u (%.*s): ", f->input, SLN(name, 200));
	}
	model_refuse(m, "%.*s%sthe inputs do not fit: %sexpected %.*s, given %.*s", SLN(f->aoti, 400), f->aoti.n ? "\n" : "", where,
		     SLN(f->expected, 100), SLN(f->given, 100));
	atomic_fetch_add_explicit(&m->count->failed, 1, memory_order_relaxed);
	/* The handles belong to the callee ("handles are stolen", torch/csrc/inductor/aoti_runtime/interface.h). */
	for (size_t i = 0; i < n; i++) {
		m->torch.delete_tensor(inputs[i]);
		inputs[i] = NULL;
	}
}

static bool decide(struct model *m, enum entry entry, void **inputs, const struct input_view *v, size_t n, bool address)
{
	void *room = malloc(1 << 20); /* xmalloc would exit the process */
	free(room);
	struct tensor_meta *meta = room ? metas_of(m, inputs, v, n, address) : NULL;
	if (!meta) {
		atomic_fetch_add_explicit(&m->count->unchecked, 1, memory_order_relaxed);
		return true;
	}
	struct check k = {0};
	check_inputs(&k, &m->contract, meta, n);
	bool bad = k.n_bad;
	if (bad)
		atomic_fetch_add_explicit(&m->count->mismatched, 1, memory_order_relaxed);
	if (bad || (k.n && !atomic_exchange(&m->advised, true))) {
		uint32_t times = times_seen(m, &k);
		if (times && times <= LIVE_FULL_REPEATS)
			tell_mismatch(m, entry, &k, meta, n, times);
	}
	if (bad && talk_fail())
		refuse_call(m, &k, inputs, n);
	check_release(&k);
	free(meta);
	return !bad || !talk_fail();
}

static bool not_looked_at(struct model *m)
{
	atomic_fetch_add_explicit(&m->count->unchecked, 1, memory_order_relaxed);
	if (!atomic_exchange(&m->opaque, true))
		event_aside(m->id, "a call has inputs that are not strided tensors; such calls are not checked");
	return true;
}

static bool examine_inputs(struct model *m, enum entry entry, void **inputs, size_t n)
{
	struct input_view stack[ON_STACK], *v = stack;
	if (n == SIZE_MAX)
		n = m->contract.n_inputs;
	if (n > MAX_INPUTS || (n && !inputs))
		return not_looked_at(m);
	if (n > ON_STACK && !(v = malloc(n * sizeof(*v))))
		return not_looked_at(m);
	bool address = m->check.aligned && !m->advised;
	bool ok = true;
	if (!view_inputs(m, inputs, n, address, v))
		not_looked_at(m);
	else if (UNLIKELY(!precheck_passes(&m->check, v, n, address)))
		ok = decide(m, entry, inputs, v, n, address);
	if (v != stack)
		free(v);
	return ok;
}

bool model_admit(struct model *m, enum entry entry, void **inputs, size_t n, uint64_t *number)
{
	*number = atomic_fetch_add_explicit(&m->count->calls, 1, memory_order_relaxed);
	probe_rejected_by = NULL;
	if (!talk_check())
		return true;
	if (!m->has_contract || !probe_enter()) {
		atomic_fetch_add_explicit(&m->count->unchecked, 1, memory_order_relaxed);
		return true;
	}
	int saved = errno;
	bool ok = examine_inputs(m, entry, inputs, n);
	errno = saved;
	probe_leave();
	return ok;
}
