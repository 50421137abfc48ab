/* A launch becomes a call of its kernel. */
#include "cuda.h"

#include "ops.h"

/* ---- which kernel ---- */

/* Is this the name that the program gave to the function? Kernels that users wrote are numbered (add_kernel_0), and without unique
 * names all of Triton's are "triton_" (torch/_inductor/config.py, triton.unique_kernel_names). */
static bool stands_for(struct slice call, const char *function)
{
	size_t n = strlen(function);
	if (slice_is(call, function) || !strcmp(function, "triton_"))
		return true;
	if (call.n <= n + 1 || memcmp(call.p, function, n) || call.p[n] != '_')
		return false;
	for (size_t i = n + 1; i < call.n; i++)
		if (call.p[i] < '0' || call.p[i] > '9')
			return false;
	return true;
}

/* The kernel of that very name; else the next one in the program that may be meant. */
static uint32_t find_site(const struct ops_run *run, const struct model *m, const struct cuda_function *f)
{
	const struct contract *c = &m->contract;
	const uint32_t n = m->has_contract ? c->n_calls : 0;
	for (uint32_t k = 0; k < n; k++)
		if (c->call[k].kind == CALL_KERNEL && slice_is(c->call[k].name, f->name))
			return m->ops->call_site[k];
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = run->next + i < n ? run->next + i : run->next + i - n;
		if (c->call[k].kind == CALL_KERNEL && stands_for(c->call[k].name, f->name))
			return m->ops->call_site[k];
	}
	return OPS_SITES;
}

static const struct ops_site *site_of(const struct ops_run *run, const struct ops_site *s, struct cuda_function *f)
{
	const struct model *m = s->model;
	uint32_t k = f ? atomic_load_explicit(&f->site, memory_order_relaxed) : m->ops->launched;
	if (UNLIKELY(k >= OPS_SITES || ops_site[k].model != m)) {
		k = find_site(run, m, f);
		k = k < OPS_SITES ? k : m->ops->launched;
		atomic_store_explicit(&f->site, k, memory_order_relaxed);
	}
	return k < OPS_SITES ? &ops_site[k] : s;
}

/* ---- how it is launched ---- */

static bool capturing(void *stream)
{
	int status = 0;
	return cuda.stream_is_capturing && !cuda.stream_is_capturing(stream, &status) && status;
}

/* CUlaunchConfig (cuda.h): seven words of grid, block and memory, then the stream. */
struct config {
	uint32_t word[7];
	void *stream;
};

const struct ops_site *cuda_launch(struct ops_run *run, const struct ops_site *s, const struct ops_regs *r, const uint64_t *stack,
				   struct cuda_launch *l)
{
	*l = (struct cuda_launch){.gpu = true, .kernel = true};
	void *function;
	if (s->kind == SITE_LAUNCH_EX) {
		const struct config *c = (const struct config *)(uintptr_t)r->ints[0];
		if (c) {
			memcpy(l->grid, c->word, sizeof(l->grid));
			memcpy(l->block, c->word + 3, sizeof(l->block));
			l->shared = c->word[6];
			l->stream = c->stream;
		}
		function = (void *)(uintptr_t)r->ints[1];
		l->params = (void **)(uintptr_t)r->ints[2];
	} else {
		function = (void *)(uintptr_t)r->ints[0];
		for (int i = 0; i < 3; i++)
			l->grid[i] = (uint32_t)r->ints[1 + i];
		l->block[0] = (uint32_t)r->ints[4];
		l->block[1] = (uint32_t)r->ints[5];
		l->block[2] = (uint32_t)stack[0];
		l->shared = (uint32_t)stack[1];
		l->stream = (void *)(uintptr_t)stack[2];
		l->params = (void **)(uintptr_t)stack[3];
	}
	l->function = cuda_function_of(function);
	l->captured = capturing(l->stream);
	return site_of(run, s, l->function);
}

void cuda_op(const struct model *m, struct cuda_launch *l)
{
	int device = 0;
	*l = (struct cuda_launch){.gpu = true};
	if (m->ops->current_stream && cuda.ctx_get_device && !cuda.ctx_get_device(&device))
		m->ops->current_stream(device, &l->stream);
	l->captured = capturing(l->stream);
}

/* ---- its parameters ---- */

/* Not told by anybody: as many as point into what this thread has on its stack above the call. */
static void words_on_stack(struct ops_thread *t, const struct ops_open *o, struct cuda_words *w)
{
	const uintptr_t from = o->sp, to = ops_stack_top(t) & ~(uintptr_t)7;
	for (uintptr_t at = (uintptr_t)o->launch.params; w->n < CUDA_PARAMS && at >= from && at + 8 <= to; at += 8) {
		uintptr_t p = *(const uintptr_t *)at;
		if (p < from || p + 8 > to)
			break;
		memcpy(&w->word[w->n++], (const void *)p, 8);
	}
}

void cuda_words(struct ops_thread *t, const struct ops_open *o, struct cuda_words *w)
{
	const struct cuda_launch *l = &o->launch;
	w->n = 0;
	memset(w->size, 0, sizeof(w->size));
	if (!l->kernel || !l->params)
		return;
	if (!l->function || l->function->n_params == UINT32_MAX) {
		words_on_stack(t, o, w);
		return;
	}
	for (uint32_t i = 0; i < l->function->n_params && i < CUDA_PARAMS; i++) {
		size_t size = l->function->size[i], n = size < 8 ? size : 8;
		w->word[i] = 0;
		w->size[i] = (uint8_t)(size < 255 ? size : 255);
		if (l->params[i])
			memcpy(&w->word[i], l->params[i], n);
		w->n = i + 1;
	}
}

void cuda_tell_launch(struct ops_thread *t, const struct ops_run *run, const struct ops_open *o)
{
	const struct cuda_launch *l = &o->launch;
	struct cuda_words w;
	struct call_record r;
	memset(&r, 0, sizeof(r));
	cuda_words(t, o, &w);
	r.what = CALL_LAUNCH;
	r.time = o->begun;
	r.seq = o->seq;
	r.call = o->call;
	r.contract_call = o->contract_call;
	r.name = o->name;
	memcpy(r.launch.grid, l->grid, sizeof(l->grid));
	memcpy(r.launch.block, l->block, sizeof(l->block));
	r.launch.shared = l->shared;
	r.launch.stream = (uintptr_t)l->stream;
	r.launch.captured = l->captured;
	r.launch.n_args = (uint8_t)w.n;
	for (uint32_t i = 0; i < w.n && i < CALL_LAUNCH_ARGS; i++) {
		r.launch.arg[i] = w.word[i];
		r.launch.size[i] = w.size[i];
	}
	ops_append(t, run, &r);
}
