/* Kernels that nvcc has compiled into a model (CUTLASS) are launched by the address of a function on the host that stands for them. The
 * runtime knows what they are: cudaFuncGetName (CUDA 12.3) and cudaGetFuncBySymbol (11.0). Before that the symbol of that function
 * tells the name: nvcc gives it the kernel's own. nvcc is told -fvisibility=hidden (torch/_inductor/codegen/cuda/compile_utils.py), so
 * it stands in .symtab only, which is read from the model's file. */
#include "cuda.h"

#include "ops.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_FILE ((off_t)4 << 30)
#define MAX_NAME 1024

/* ---- names ---- */

static bool symbol_of(const struct object *o, const void *symbol, char *name, size_t room)
{
	int fd = open(*o->name ? o->name : "/proc/self/exe", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	off_t n = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
	void *p = n > 0 && n <= MAX_FILE ? mmap(NULL, (size_t)n, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
	if (fd >= 0)
		close(fd);
	if (p == MAP_FAILED)
		return false;
	bool found = cuda_symbol_at(p, (size_t)n, (uintptr_t)symbol - o->base, name, room);
	munmap(p, (size_t)n);
	return found;
}

/* ---- the runtime ---- */

struct runtime {
	int (*get_name)(const char **name, const void *symbol);
	int (*get_function)(void **function, const void *symbol);
	int (*peek)(void), (*last)(void);
};

/* Of the several runtimes that a process may have, the one that launches it. */
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

/* What the runtime remembers as its last error is the host's. Where it has one already we ask nothing. */
static struct cuda_function *ask(const struct runtime *r, const struct object *o, void *symbol)
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
	int mode = CUDA_CAPTURE_RELAXED;
	if (f || !symbol)
		return f;
	/* The runtime also takes a CUkernel (CUDA 12.1). */
	if (!object_at(symbol, &o))
		return cuda_function_ask(symbol, true);
	runtime_of(target, &r);
	/* It may be loaded only now, while somebody captures: as in cuda_wait(). */
	bool changed = cuda.exchange_capture_mode && !cuda.exchange_capture_mode(&mode);
	f = ask(&r, &o, symbol);
	if (changed)
		cuda.exchange_capture_mode(&mode);
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
