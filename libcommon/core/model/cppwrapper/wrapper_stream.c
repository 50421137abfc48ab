/* Streams and events of a program for a GPU that has several (torch 2.15, torch/_inductor/codegen/cpp_wrapper_gpu.py:
 * codegen_stream_info_prologue(), _emit_stream_op_inline(); the caches: codegen/aoti_runtime/streams.h). Stream 0 is the caller's,
 * `stream`; the others are the thread's own:
 *
 *     _aoti_aux_stream_cache.ensure(2, this->device_idx_, stream);
 *     std::unique_ptr<AOTICudaStreamGuard> _aoti_current_stream_guard;
 *     cudaStream_t stream1 = _aoti_aux_stream_cache.get(1, this->device_idx_, stream);
 *     _aoti_current_stream_guard = std::make_unique<AOTICudaStreamGuard>(_aoti_aux_stream_cache.get(1, ...), this->device_idx_);
 *     AOTI_RUNTIME_CUDA_CHECK(cudaStreamWaitEvent(_aoti_aux_stream_cache.get(1, ...), _aoti_event_cache.get(0, this->device_idx_), 0));
 *     call_triton_poi_fused_add_0(arg0_1, buf0, 2048L, this->device_idx_, stream1, kernels, this->cubin_dir_);
 *     _aoti_current_stream_guard.reset();
 *
 * Operators go to torch's current stream, which the guard sets. Dependencies through events are tracked, so that a call that uses memory
 * without waiting for its writer is found: torch 2.15.0 has `stream` in each launch of a Triton kernel, also of a branch with a stream of
 * its own (cpp_wrapper_gpu.py, aot_call_args), whose operators are on that one. Branches and loops are not checked. */
#include "model/cppwrapper/wrapper_read.h"

#define CACHE "_aoti_aux_stream_cache"
#define EVENT "_aoti_event_cache"
#define STREAMS 16
#define EVENTS 256

/* done[s][t]: this many of the program's calls on stream t complete before the next work on stream s. */
struct wsync {
	uint32_t done[STREAMS][STREAMS], event[EVENTS][STREAMS];
	struct use { /* of a storage: the last call + 1 of each stream */
		uint32_t read[STREAMS], written[STREAMS];
	} * use;
	uint32_t cap_use;
	bool lost;
};

bool wrapper_stream(struct wrapper *w, struct slice expr, uint32_t *stream)
{
	struct slice number;
	int64_t k;
	const struct wvar *v = wrapper_var(w, expr);
	*stream = v && v->kind == VAR_STREAM ? v->value : 0;
	if (slice_is(expr, "stream") || slice_is(expr, "(cudaStream_t)stream") || (v && v->kind == VAR_STREAM))
		return true;
	if (!text_take(&expr, CACHE ".get(") || !text_arg(&expr, &number) || !text_i64(number, &k) || k < 0 || k >= UINT32_MAX)
		return false;
	*stream = (uint32_t)k;
	return true;
}

static bool set_current(struct wrapper *w, struct slice rest)
{
	struct slice stream;
	if (slice_is(rest, ".reset()")) {
		w->stream = 0;
		return true;
	}
	if (!text_take(&rest, "=") || !text_take(&rest, "std::make_unique") || !rest.n || *rest.p != '<')
		return false;
	size_t n = text_group(rest, 0);
	rest = slice_of(rest.p + n, rest.n - n);
	n = rest.n && *rest.p == '(' ? text_group(rest, 0) : 0;
	rest = slice_of(rest.p + (n != 0), n ? n - 2 : 0);
	return text_arg(&rest, &stream) && wrapper_stream(w, stream, &w->stream);
}

static bool event_number(struct slice expr, uint32_t *event)
{
	struct slice number;
	int64_t k;
	if (!text_take(&expr, EVENT ".get(") || !text_arg(&expr, &number) || !text_i64(number, &k) || k < 0)
		return false;
	*event = k < EVENTS ? (uint32_t)k : EVENTS;
	return true;
}

static void wait_for(struct wsync *y, uint32_t stream, uint32_t event)
{
	for (uint32_t t = 0; t < STREAMS; t++)
		if (y->event[event][t] > y->done[stream][t])
			y->done[stream][t] = y->event[event][t];
}

/* cudaEventRecord(EVENT, STREAM), cudaStreamWaitEvent(STREAM, EVENT, 0), cudaEventSynchronize(EVENT) */
static bool event_call(struct wrapper *w, struct slice text)
{
	struct wsync *y = w->sync;
	struct slice name, args, one, two = {0};
	uint32_t stream = 0, event;
	if (!text_call(slice_trim(text), &name, &args) || !text_arg(&args, &one))
		return false;
	text_arg(&args, &two);
	const bool record = slice_is(name, "cudaEventRecord"), wait = slice_is(name, "cudaStreamWaitEvent");
	if (!record && !wait && !slice_is(name, "cudaEventSynchronize"))
		return false;
	if (!event_number(wait ? two : one, &event) || ((wait || record) && !wrapper_stream(w, wait ? one : two, &stream)))
		return false;
	if (!y || y->lost)
		return true;
	y->lost = w->branches || stream >= STREAMS || event == EVENTS;
	if (y->lost)
		return true;
	if (record) {
		memcpy(y->event[event], y->done[stream], sizeof(y->event[event]));
		y->event[event][stream] = w->c->n_calls;
	}
	for (uint32_t s = wait ? stream : 0; !record && s < (wait ? stream + 1 : STREAMS);
	     s++) /* the host waits: so does everything later */
		wait_for(y, s, event);
	return true;
}

bool wrapper_stream_statement(struct wrapper *w, struct slice name, struct slice rest)
{
	if (slice_is(name, "_aoti_current_stream_guard"))
		return set_current(w, rest);
	if (slice_is(name, "cudaStream_t") || slice_is(name, "hipStream_t")) {
		struct slice var = text_name(&rest);
		uint32_t stream;
		rest = slice_trim(rest);
		if (!var.n || !text_take(&rest, "=") || !wrapper_stream(w, slice_trim(rest), &stream))
			return false;
		wrapper_declare(w, var, VAR_STREAM)->value = stream;
		return true;
	}
	if (slice_is(name, "AOTI_RUNTIME_CUDA_CHECK") && rest.n > 2)
		return event_call(w, slice_of(rest.p + 1, rest.n - 2));
	if (!slice_is(name, CACHE) || !slice_starts(rest, ".ensure("))
		return false;
	if (!w->sync)
		w->sync = xcalloc(1, sizeof(*w->sync));
	return true;
}

/* ---- dependencies ---- */

/* An event that this stream has not waited for; 0: none. */
static uint32_t not_waited_for(const struct wsync *y, uint32_t stream, const uint32_t *last)
{
	for (uint32_t t = 0; t < STREAMS; t++)
		if (t != stream && last[t] > y->done[stream][t])
			return last[t];
	return 0;
}

static void use(struct wsync *y, struct contract_call *call, const struct contract_arg *a, uint32_t storage, uint32_t number)
{
	if (storage >= y->cap_use) {
		uint32_t cap = storage * 2 + 64;
		y->use = xreallocarray(y->use, cap, sizeof(*y->use));
		memset(y->use + y->cap_use, 0, (cap - y->cap_use) * sizeof(*y->use));
		y->cap_use = cap;
	}
	struct use *u = &y->use[storage];
	const bool writes = a->role != ARG_IN;
	uint32_t other = not_waited_for(y, call->stream, u->written);
	if (!other && writes)
		other = not_waited_for(y, call->stream, u->read);
	if (other && !call->race) {
		call->race = other;
		call->race_value = a->value;
	}
	(writes ? u->written : u->read)[call->stream] = number;
}

void wrapper_stream_call(struct wrapper *w, struct contract_call *call)
{
	struct wsync *y = w->sync;
	if (y && (w->branches || call->stream >= STREAMS))
		y->lost = true;
	for (uint32_t i = 0; y && !y->lost && i < call->n_args; i++) {
		const struct contract_arg *a = &w->c->arg[call->arg + i];
		uint32_t storage = a->value == NONE ? NONE : w->c->value[a->value].storage;
		if (storage != NONE && a->role != ARG_SCALAR)
			use(y, call, a, storage, (uint32_t)(call - w->c->call) + 1);
	}
}

void wrapper_stream_release(struct wrapper *w)
{
	if (w->sync)
		free(w->sync->use);
	free(w->sync);
	w->sync = NULL;
}
