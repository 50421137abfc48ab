/* cuda_launch.c - turns a launch into a call of its kernel. */
#include "cuda.h"

#include "ops.h"

/* ---- which kernel ---- */

/* Is this the program's name for the function? User-written kernels are numbered (add_kernel_0), and without unique
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

/* The kernel of exactly that name; else the next possible one in the program. */
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
	if (UNLIKELY(f && (k >= OPS_SITES || ops_site[k].model != m))) {
		k = find_site(run, m, f);
		k = k < OPS_SITES ? k : m->ops->launched;
		atomic_store_explicit(&f->site, k, memory_order_relaxed);
	}
	return k < OPS_SITES ? &ops_site[k] : s;
}

/* ---- launch functions ---- */

/* cuda.h, cuda_runtime_api.h and crt/device_functions.h of CUDA 12.8 and 13. With --default-stream per-thread they are called
 * NAME_ptsz. A dim3 takes two registers. */
const struct cuda_form *cuda_form_of(const char *name)
{
#define BOTH(name, how, words, symbol, kernel) \
	{name, how, words, symbol, kernel, false}, { name "_ptsz", how, words, symbol, kernel, true }
	static const struct cuda_form form[] = {
	    BOTH("cuLaunchKernel", CUDA_ARGS, 5, false, false),
	    BOTH("cuLaunchCooperativeKernel", CUDA_ARGS, 4, false, false),
	    BOTH("cuLaunchKernelEx", CUDA_CONFIG, 0, false, false),
	    BOTH("cudaLaunchKernel", CUDART_ARGS, 2, true, false),
	    BOTH("cudaLaunchCooperativeKernel", CUDART_ARGS, 2, true, false),
	    BOTH("cudaLaunchKernelExC", CUDA_CONFIG, 0, true, false),
	    BOTH("__cudaLaunchKernel", CUDART_ARGS, 2, false, true), /* what nvcc makes of <<<>>> */
	};
#undef BOTH
	for (size_t i = 0; i < ARRAY_LEN(form); i++)
		if (!strcmp(name, form[i].name))
			return &form[i];
	return NULL;
}

/* CUlaunchConfig (cuda.h): seven words of grid, block and memory, then the stream. In cudaLaunchConfig_t (driver_types.h) the memory is a
 * size_t, which takes the same space. */
struct config {
	uint32_t word[7];
	void *stream;
};

static void *by_config(const struct ops_regs *r, struct cuda_launch *l)
{
	const struct config *c = (const struct config *)(uintptr_t)r->ints[0];
	if (c) {
		memcpy(l->grid, c->word, sizeof(l->grid));
		memcpy(l->block, c->word + 3, sizeof(l->block));
		l->shared = c->word[6];
		l->stream = c->stream;
	}
	l->params = (void **)(uintptr_t)r->ints[2];
	return (void *)(uintptr_t)r->ints[1];
}

static void *by_args(const struct ops_regs *r, const uint64_t *stack, struct cuda_launch *l)
{
	for (int i = 0; i < 3; i++)
		l->grid[i] = (uint32_t)r->ints[1 + i];
	for (int i = 0; i < 3; i++)
		l->block[i] = (uint32_t)call_word(r->ints, stack, 4 + (size_t)i);
	l->shared = (uint32_t)call_word(r->ints, stack, 7);
	l->stream = (void *)(uintptr_t)call_word(r->ints, stack, 8);
	l->params = (void **)(uintptr_t)call_word(r->ints, stack, 9);
	return (void *)(uintptr_t)r->ints[0];
}

static void take_dim3(uint32_t to[3], const uint64_t word[2])
{
	to[0] = (uint32_t)word[0];
	to[1] = (uint32_t)(word[0] >> 32);
	to[2] = (uint32_t)word[1];
}

static void *by_dim3s(const struct ops_regs *r, const uint64_t *stack, struct cuda_launch *l)
{
	take_dim3(l->grid, r->ints + 1);
	take_dim3(l->block, r->ints + 3);
	l->params = (void **)(uintptr_t)r->ints[5];
	l->shared = (uint32_t)call_word(r->ints, stack, 6);
	l->stream = (void *)(uintptr_t)call_word(r->ints, stack, 7);
	return (void *)(uintptr_t)r->ints[0];
}

static void read_launch(const struct ops_site *s, const struct ops_regs *r, const uint64_t *stack, struct cuda_launch *l)
{
	const struct cuda_form *form = s->form;
	*l = (struct cuda_launch){.gpu = true, .kernel = true};
	void *function = form->how == CUDA_CONFIG   ? by_config(r, l)
			 : form->how == CUDART_ARGS ? by_dim3s(r, stack, l)
						    : by_args(r, stack, l);
	if (!l->stream && form->per_thread)
		l->stream = CUDA_PER_THREAD;
	l->function = form->symbol ? cuda_function_by_symbol(s->target, function) : cuda_function_ask(function, form->kernel);
	l->captured = cuda_capturing(l->stream);
}

const struct ops_site *cuda_launch(struct ops_run *run, const struct ops_site *s, const struct ops_regs *r, const uint64_t *stack,
				   struct cuda_launch *l)
{
	read_launch(s, r, stack, l);
	return site_of(run, s, l->function);
}

/* Only a function of the model can use the model's slots. Its arguments are already reported; the launch adds grid and block. */
bool cuda_inside(struct ops_thread *t, struct ops_run *run, const struct ops_site *s, const struct ops_regs *r, const uint64_t *stack)
{
	struct ops_open *o = &run->open;
	struct cuda_launch l;
	if (!o->used || o->site->kind != SITE_KERNEL || (uintptr_t)stack >= o->sp)
		return false;
	read_launch(s, r, stack, &l);
	l.kernel = false;
	l.captured |= o->launch.captured;
	l.graph = o->launch.graph;
	l.inside = o->launch.inside + 1;
	l.params = NULL;
	o->launch = l;
	cuda_tell_launch(t, run, o);
	return true;
}

void cuda_op(const struct model *m, struct cuda_launch *l)
{
	int device = 0;
	*l = (struct cuda_launch){.gpu = true};
	cuda_enter(m);
	if (m->ops->current_stream && cuda.ctx_get_device && !cuda.ctx_get_device(&device))
		m->ops->current_stream(device, &l->stream);
	l->captured = cuda_capturing(l->stream);
}

void cuda_tell_launch(struct ops_thread *t, const struct ops_run *run, struct ops_open *o)
{
	struct cuda_launch *l = &o->launch;
	struct cuda_words w;
	if (l->captured && l->kernel)
		l->graph = cuda_graph_take(run->model->id, o->name, l->stream);
	struct call_record r;
	memset(&r, 0, sizeof(r));
	cuda_words(t, o, &w);
	r.what = CALL_LAUNCH;
	r.time = o->begun;
	r.seq = o->seq;
	r.call = o->call;
	r.contract_call = o->contract_call;
	r.name = l->inside && l->function ? l->function->name_id : o->name;
	memcpy(r.launch.grid, l->grid, sizeof(l->grid));
	memcpy(r.launch.block, l->block, sizeof(l->block));
	r.launch.shared = l->shared;
	r.launch.stream = (uintptr_t)l->stream;
	r.launch.captured = l->captured;
	r.launch.graph = l->graph;
	r.launch.n_args = (uint8_t)w.n;
	for (uint32_t i = 0; i < w.n && i < CALL_LAUNCH_ARGS; i++) {
		r.launch.arg[i] = w.word[i];
		r.launch.size[i] = w.size[i];
	}
	ops_append(t, run, &r);
}
