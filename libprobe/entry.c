/* What dlsym() gives instead of a model's entry points: one function per model and entry point, so that each knows its
 * model without any generated code. They end in the call of the real function and hold nothing, so that a C++ exception
 * (AOTI_VECTOR_SIZE_CHECK throws out of AOTInductorModelContainerRun) passes through them. */
#include "probe.h"

typedef int32_t (*run_fn)(void *container, void **in, size_t n_in, void **out, size_t n_out, void *stream, void *proxy);
typedef int32_t (*model_run_fn)(void *model, void **in, void **out);
typedef int32_t (*last_error_fn)(const char **text);

#define FAILURE 1 /* AOTI_RUNTIME_FAILURE, torch/csrc/inductor/aoti_runtime/utils.h */

static inline int32_t run(struct model *m, enum entry e, void *container, void **in, size_t n_in, void **out,
			  size_t n_out, void *stream, void *proxy)
{
	if (UNLIKELY(!model_admit(m, e, in, n_in)))
		return FAILURE;
	return ((run_fn)m->real[e])(container, in, n_in, out, n_out, stream, proxy);
}

static inline int32_t model_run(struct model *m, void *model, void **in, void **out)
{
	if (UNLIKELY(!model_admit(m, ENTRY_MODEL_RUN, in, SIZE_MAX)))
		return FAILURE;
	return ((model_run_fn)m->real[ENTRY_MODEL_RUN])(model, in, out);
}

static inline int32_t last_error(struct model *m, const char **text)
{
	const char *ours = model_refusal(m);
	if (!ours)
		return ((last_error_fn)m->real[ENTRY_LAST_ERROR])(text);
	*text = ours;
	return 0;
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

#define FUNCTIONS(i)                                                                                                   \
	static int32_t run_##i(void *c, void **in, size_t n_in, void **out, size_t n_out, void *s, void *p)            \
	{                                                                                                              \
		return run(&models[0x##i], ENTRY_RUN, c, in, n_in, out, n_out, s, p);                                  \
	}                                                                                                              \
	static int32_t run_single_##i(void *c, void **in, size_t n_in, void **out, size_t n_out, void *s, void *p)     \
	{                                                                                                              \
		return run(&models[0x##i], ENTRY_RUN_SINGLE, c, in, n_in, out, n_out, s, p);                           \
	}                                                                                                              \
	static int32_t model_run_##i(void *m, void **in, void **out) { return model_run(&models[0x##i], m, in, out); } \
	static int32_t last_error_##i(const char **text) { return last_error(&models[0x##i], text); }
EACH(FUNCTIONS)

static const struct {
	run_fn run, run_single;
	model_run_fn model_run;
	last_error_fn last_error;
} table[] = {
#define ADDRESSES(i) {run_##i, run_single_##i, model_run_##i, last_error_##i},
    EACH(ADDRESSES)};
_Static_assert(ARRAY_LEN(table) == PROBE_MODELS, "one row per model");

void *entry_address(size_t i, enum entry entry)
{
	switch (entry) {
	case ENTRY_RUN: return (void *)table[i].run;
	case ENTRY_RUN_SINGLE: return (void *)table[i].run_single;
	case ENTRY_MODEL_RUN: return (void *)table[i].model_run;
	case ENTRY_LAST_ERROR: return (void *)table[i].last_error;
	case ENTRIES: break;
	}
	return NULL;
}
