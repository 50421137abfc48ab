/* entry.c - the functions that dlsym() returns instead of a model's entry points: one per model and entry point, so that each knows its
 * model without generated code. They end with the call of the real function and hold no resources, so that a C++ exception
 * (AOTI_VECTOR_SIZE_CHECK throws out of AOTInductorModelContainerRun) passes through them. */
#include "jit.h"
#include "guard.h"

typedef int32_t (*run_fn)(void *container, void **in, size_t n_in, void **out, size_t n_out, void *stream, void *proxy);
typedef int32_t (*model_run_fn)(void *model, void **in, void **out);
typedef void (*inductor_fn)(void **in, void **out);
typedef int32_t (*last_error_fn)(const char **text);

#define FAILURE 1 /* AOTI_RUNTIME_FAILURE, torch/csrc/inductor/aoti_runtime/utils.h */

/* A stack position that is the same before and after the call. */
#define HERE ((uintptr_t)__builtin_frame_address(0))

static inline __attribute__((always_inline)) int32_t run_entry(struct model *m, enum entry e, void *container, void **in, size_t n_in,
							       void **out, size_t n_out, void *stream, void *proxy)
{
	uint64_t number;
	if (UNLIKELY(!model_admit(m, e, in, n_in, &number)))
		return FAILURE;
	run_fn real = (run_fn)m->real[e];
	probe_expects_run = true;
	if (LIKELY(!m->ops))
		return real(container, in, n_in, out, n_out, stream, proxy);
	ops_run_begin(m, HERE, (uint32_t)number, (uint32_t)number, in, n_in, stream);
	return ops_run_end(m, HERE, real(container, in, n_in, out, n_out, stream, proxy), out, n_out, stream);
}

static inline __attribute__((always_inline)) int32_t model_run(struct model *m, void *model, void **in, void **out)
{
	uint64_t number;
	if (UNLIKELY(!model_admit(m, ENTRY_MODEL_RUN, in, SIZE_MAX, &number)))
		return FAILURE;
	model_run_fn real = (model_run_fn)m->real[ENTRY_MODEL_RUN];
	probe_expects_run = true;
	if (LIKELY(!m->ops))
		return real(model, in, out);
	ops_run_begin(m, HERE, (uint32_t)number, (uint32_t)number, in, SIZE_MAX, NULL);
	return ops_run_end(m, HERE, real(model, in, out), out, SIZE_MAX, NULL);
}

/* It reports failure by an exception in the interpreter, which its caller checks. */
static inline __attribute__((always_inline)) void inductor(struct model *m, void **in, void **out)
{
	uint64_t number;
	model_admit(m, ENTRY_INDUCTOR, in, SIZE_MAX, &number);
	inductor_fn real = (inductor_fn)m->real[ENTRY_INDUCTOR];
	if (LIKELY(!m->ops)) {
		real(in, out);
		return;
	}
	ops_run_begin(m, HERE, (uint32_t)number, jit_step((uint32_t)number), in, SIZE_MAX, NULL);
	real(in, out);
	if (ops_run_end(m, HERE, 0, out, SIZE_MAX, NULL))
		jit_raise(model_refusal(m));
}

static inline int32_t last_error(struct model *m, const char **text)
{
	const char *ours = model_refusal(m);
	if (!ours)
		return ((last_error_fn)m->real[ENTRY_LAST_ERROR])(text);
	*text = ours;
	return 0;
}

/* The functions that a model imports to get its tensors' memory, and to create its constants. */

static inline int32_t get_data_ptr(struct model *m, void *tensor, void **data)
{
	int32_t r = m->ops->get_data_ptr(tensor, data);
	if (!r)
		ops_fetched(tensor, *data);
	return r;
}

static inline int32_t from_blob(struct model *m, void *data, int64_t n_dim, const int64_t *size, const int64_t *stride, int64_t offset,
				int32_t dtype, int32_t device, int32_t index, void **out)
{
	ops_learn_constant(m->ops, data, n_dim, size, stride, offset, dtype, device, index);
	return m->ops->from_blob(data, n_dim, size, stride, offset, dtype, device, index, out);
}

static inline int32_t from_blob_v2(struct model *m, void *data, int64_t n_dim, const int64_t *size, const int64_t *stride, int64_t offset,
				   int32_t dtype, int32_t device, int32_t index, void **out, int32_t layout, const uint8_t *opaque,
				   int64_t opaque_bytes)
{
	if (!layout)
		ops_learn_constant(m->ops, data, n_dim, size, stride, offset, dtype, device, index);
	return m->ops->from_blob_v2(data, n_dim, size, stride, offset, dtype, device, index, out, layout, opaque, opaque_bytes);
}

/* With CALLS_BOUNDS: what is made, viewed and dropped. Our own questions about a tensor are none of the model's. */
static inline int32_t empty(struct model *m, int64_t n_dim, const int64_t *size, const int64_t *stride, int32_t dtype, int32_t device,
			    int32_t index, void **out)
{
	int32_t r = m->ops->empty(n_dim, size, stride, dtype, device, index, out);
	if (!r && probe_enter()) {
		guard_made(m, *out);
		probe_leave();
	}
	return r;
}

static inline int32_t reinterpret(struct model *m, void *tensor, int64_t n_dim, const int64_t *size, const int64_t *stride, int64_t offset,
				  void **out)
{
	int32_t r = m->ops->reinterpret(tensor, n_dim, size, stride, offset, out);
	if (!r && probe_enter()) {
		guard_viewed(m, *out);
		probe_leave();
	}
	return r;
}

static inline int32_t delete (struct model *m, void *tensor)
{
	if (probe_enter()) {
		guard_dropped(m, tensor);
		probe_leave();
	}
	return m->ops->delete (tensor);
}

/* 00 to ff */
/* clang-format off */
#define ROW(X, high) \
	X(high##0) X(high##1) X(high##2) X(high##3) X(high##4) X(high##5) X(high##6) X(high##7) \
	X(high##8) X(high##9) X(high##a) X(high##b) X(high##c) X(high##d) X(high##e) X(high##f)
#define EACH(X) \
	ROW(X, 0) ROW(X, 1) ROW(X, 2) ROW(X, 3) ROW(X, 4) ROW(X, 5) ROW(X, 6) ROW(X, 7) \
	ROW(X, 8) ROW(X, 9) ROW(X, a) ROW(X, b) ROW(X, c) ROW(X, d) ROW(X, e) ROW(X, f)
/* clang-format on */

#define FUNCTIONS(i) \
	static int32_t run_##i(void *c, void **in, size_t n_in, void **out, size_t n_out, void *s, void *p) \
	{ \
		return run_entry(&models[0x##i], ENTRY_RUN, c, in, n_in, out, n_out, s, p); \
	} \
	static int32_t run_single_##i(void *c, void **in, size_t n_in, void **out, size_t n_out, void *s, void *p) \
	{ \
		return run_entry(&models[0x##i], ENTRY_RUN_SINGLE, c, in, n_in, out, n_out, s, p); \
	} \
	static int32_t model_run_##i(void *m, void **in, void **out) { return model_run(&models[0x##i], m, in, out); } \
	static void inductor_##i(void **in, void **out) { inductor(&models[0x##i], in, out); } \
	static int32_t last_error_##i(const char **text) { return last_error(&models[0x##i], text); } \
	static int32_t data_ptr_##i(void *t, void **d) { return get_data_ptr(&models[0x##i], t, d); } \
	static int32_t blob_##i(void *p, int64_t n, const int64_t *s, const int64_t *t, int64_t o, int32_t type, int32_t d, int32_t k, \
				void **r) \
	{ \
		return from_blob(&models[0x##i], p, n, s, t, o, type, d, k, r); \
	} \
	static int32_t blob_v2_##i(void *p, int64_t n, const int64_t *s, const int64_t *t, int64_t o, int32_t type, int32_t d, int32_t k, \
				   void **r, int32_t l, const uint8_t *q, int64_t b) \
	{ \
		return from_blob_v2(&models[0x##i], p, n, s, t, o, type, d, k, r, l, q, b); \
	} \
	static int32_t empty_##i(int64_t n, const int64_t *s, const int64_t *t, int32_t type, int32_t d, int32_t k, void **r) \
	{ \
		return empty(&models[0x##i], n, s, t, type, d, k, r); \
	} \
	static int32_t reinterpret_##i(void *x, int64_t n, const int64_t *s, const int64_t *t, int64_t o, void **r) \
	{ \
		return reinterpret(&models[0x##i], x, n, s, t, o, r); \
	} \
	static int32_t delete_##i(void *t) { return delete (&models[0x##i], t); }
EACH(FUNCTIONS)

static const struct {
	run_fn run, run_single;
	model_run_fn model_run;
	inductor_fn inductor;
	last_error_fn last_error;
	int32_t (*data_ptr)(void *, void **);
	ops_from_blob_fn *blob;
	ops_from_blob_v2_fn *blob_v2;
	ops_empty_fn *empty;
	ops_reinterpret_fn *reinterpret;
	int32_t (*delete)(void *);
} table[] = {
#define ADDRESSES(i) \
	{run_##i,  run_single_##i, model_run_##i, inductor_##i,    last_error_##i, data_ptr_##i, \
	 blob_##i, blob_v2_##i,    empty_##i,     reinterpret_##i, delete_##i},
    EACH(ADDRESSES)};
_Static_assert(ARRAY_LEN(table) == PROBE_MODELS, "one row per model");

void *entry_address(size_t i, enum entry entry)
{
	switch (entry) {
	case ENTRY_RUN: return (void *)table[i].run;
	case ENTRY_RUN_SINGLE: return (void *)table[i].run_single;
	case ENTRY_MODEL_RUN: return (void *)table[i].model_run;
	case ENTRY_INDUCTOR: return (void *)table[i].inductor;
	case ENTRY_LAST_ERROR: return (void *)table[i].last_error;
	case ENTRIES: break;
	}
	return NULL;
}

void *ops_import_address(size_t i, enum ops_import which)
{
	switch (which) {
	case OPS_GET_DATA_PTR: return (void *)table[i].data_ptr;
	case OPS_FROM_BLOB: return (void *)table[i].blob;
	case OPS_FROM_BLOB_V2: return (void *)table[i].blob_v2;
	case OPS_EMPTY: return (void *)table[i].empty;
	case OPS_REINTERPRET: return (void *)table[i].reinterpret;
	case OPS_DELETE: return (void *)table[i].delete;
	case OPS_IMPORTS: break;
	}
	return NULL;
}
