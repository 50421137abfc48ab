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
 * Operators go to torch's current stream, which the guard sets. */
#include "aoti/wrapper_read.h"

#define CACHE "_aoti_aux_stream_cache"

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
	return slice_is(name, CACHE) && slice_starts(rest, ".ensure(");
}
