/* cuda_runtime.c - kernels that nvcc compiled into a model (CUTLASS) are launched by the address of a host function that stands for them.
 * The runtime can identify them: cudaFuncGetName (CUDA 12.3) and cudaGetFuncBySymbol (11.0). Before that, the symbol of the host function
 * has the name: nvcc gives it the kernel's own. Since nvcc is run with -fvisibility=hidden (torch/_inductor/codegen/cuda/compile_utils.py),
 * the symbol is only in .symtab, which is read from the model's file. */
#include "cuda.h"

#include "ops.h"

#define MAX_NAME 1024

/* ---- names ---- */

static bool symbol_of(const struct object *o, const void *symbol, char *name, size_t room)
{
	struct slice file = cuda_map_file(*o->name ? o->name : "/proc/self/exe");
	if (!file.n)
		return false;
	bool found = cuda_symbol_at(file, (uintptr_t)symbol - o->base, name, room);
	cuda_unmap_file(file);
	return found;
}

/* ---- the runtime ---- */

struct runtime {
	int (*get_name)(const char **name, const void *symbol);
	int (*get_function)(void **function, const void *symbol);
	int (*peek)(void), (*last)(void);
};

/* Finds the runtime that launches it: a process may have several. */
static void runtime_of(const void *target, struct runtime *r)
{
	const struct {
		const char *name;
		void *to;
	} want[] = {{"cudaFuncGetName", &r->get_name},
		    {"cudaGetFuncBySymbol", &r->get_function},
		    {"cudaPeekAtLastError", &r->peek},
		    {"cudaGetLastError", &r->last}};
	struct object o;
	bool found = object_at(target, &o);
	*r = (struct runtime){0};
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		ElfW(Sym) *s = found ? object_export(&o, want[i].name) : NULL;
		void *p = s ? object_address(&o, s) : NULL;
		memcpy(want[i].to, &p, sizeof(p));
	}
}

/* The runtime's last error belongs to the host program. If it has one already, we ask nothing. */
static struct cuda_function *ask_runtime(const struct runtime *r, const struct object *o, void *symbol)
{
	char text[MAX_NAME];
	const char *name = NULL;
	struct cuda_params_by by = {0};
	bool may = r->peek && r->last && !r->peek();
	if (may && r->get_function && r->get_function(&by.function, symbol))
		by.function = NULL;
	if (may && (!r->get_name || r->get_name(&name, symbol)))
		name = NULL;
	if (may && r->peek())
		r->last();
	if (!name && symbol_of(o, symbol, text, sizeof(text)))
		name = text;
	return name ? cuda_learn(symbol, NULL, name, &by) : NULL;
}

struct cuda_function *cuda_function_by_symbol(const void *target, void *symbol)
{
	struct cuda_function *f = cuda_function_of(symbol);
	struct object o;
	struct runtime r;
	if (f || !symbol)
		return f;
	/* The runtime also takes a CUkernel (CUDA 12.1). */
	if (!object_at(symbol, &o))
		return cuda_function_ask(symbol, true);
	runtime_of(target, &r);
	int mode = cuda_relax_capture(); /* it may only be loaded now */
	f = ask_runtime(&r, &o, symbol);
	cuda_restore_capture(mode);
	return f;
}

void cuda_learn_symbol(void *kernel, const void *symbol)
{
	char text[MAX_NAME];
	struct object o;
	struct cuda_params_by by = {.kernel = kernel};
	if (!cuda_function_ask(kernel, true) && object_at(symbol, &o) && symbol_of(&o, symbol, text, sizeof(text)))
		cuda_learn(kernel, NULL, text, &by);
}
