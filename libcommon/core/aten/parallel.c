#include "parallel.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>

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
			dlclose(lib); /* the model keeps it loaded */
		if (found)
			return found;
	}
	return NULL;
}

/* The functions of the model's OpenMP. If there is none, each lookup searches the library directories (30 us): it is repeated only if a
 * library was loaded or unloaded since, which the loader counts. */
struct openmp {
	int (*most)(void);
	void (*fork)(void (*fn)(void *), void *data, unsigned threads, unsigned flags);
	unsigned long long adds, subs;
	bool sought;
};

static int take_counts(struct dl_phdr_info *x, size_t size, void *to)
{
	struct openmp *o = to;
	if (size < offsetof(struct dl_phdr_info, dlpi_subs) + sizeof(x->dlpi_subs))
		return 1;
	o->adds = x->dlpi_adds;
	o->subs = x->dlpi_subs;
	o->sought = true;
	return 1;
}

static const struct openmp *openmp(void)
{
	static _Thread_local struct openmp last;
	struct openmp now = {0};
	dl_iterate_phdr(take_counts, &now);
	if (now.sought && last.sought && now.adds == last.adds && now.subs == last.subs)
		return &last;
	now.most = (int (*)(void))of_openmp("omp_get_max_threads");
	now.fork = (void (*)(void (*)(void *), void *, unsigned, unsigned))of_openmp("GOMP_parallel");
	last = now;
	return &last;
}

static int threads_of(const struct openmp *o)
{
	int n = o->most ? o->most() : 1;
	return n < 1 ? 1 : n;
}

int aten_threads(void) { return threads_of(openmp()); }

void aten_parallel(void (*run)(void *arg, int64_t i), void *arg, int64_t n)
{
	struct tasks t = {.run = run, .arg = arg, .n = n};
	const struct openmp *o = n > 1 ? openmp() : NULL;
	const int threads = o ? threads_of(o) : 1;
	if (threads > 1 && o->fork)
		o->fork(run_tasks, &t, n < threads ? (unsigned)n : (unsigned)threads, 0);
	else
		run_tasks(&t);
}
