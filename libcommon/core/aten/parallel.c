#include "parallel.h"

#include <dlfcn.h>
#include <stdatomic.h>

struct tasks {
	void (*run)(void *arg, int64_t i);
	void *arg;
	int64_t n;
	_Atomic int64_t next;
};

static void run_tasks(void *p)
{
	struct tasks *t = p;
	for (int64_t i; (i = atomic_fetch_add(&t->next, 1)) < t->n;)
		t->run(t->arg, i);
}

static void *of_openmp(const char *name)
{
	static const char *const libs[] = {"libgomp.so.1", "libomp.so.5", "libiomp5.so"};
	for (size_t i = 0; i < ARRAY_LEN(libs); i++) {
		void *lib = dlopen(libs[i], RTLD_NOW | RTLD_NOLOAD | RTLD_LOCAL), *found = lib ? dlsym(lib, name) : NULL;
		if (lib)
			dlclose(lib); /* the model holds it */
		if (found)
			return found;
	}
	return NULL;
}

int aten_threads(void)
{
	int (*most)(void) = (int (*)(void))of_openmp("omp_get_max_threads");
	int n = most ? most() : 1;
	return n < 1 ? 1 : n;
}

void aten_parallel(void (*run)(void *arg, int64_t i), void *arg, int64_t n)
{
	struct tasks t = {.run = run, .arg = arg, .n = n};
	int threads = n > 1 ? aten_threads() : 1;
	void (*fork)(void (*fn)(void *), void *data, unsigned threads, unsigned flags) = NULL;
	if (threads > 1)
		fork = (void (*)(void (*)(void *), void *, unsigned, unsigned))of_openmp("GOMP_parallel");
	if (fork)
		fork(run_tasks, &t, n < threads ? (unsigned)n : (unsigned)threads, 0);
	else
		run_tasks(&t);
}
