/* thread.c - the state of a thread: whether it is in our code, what was rejected in it, and what its calls need. */
#include "ops.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

_Thread_local bool probe_inside, probe_expects_run;
_Thread_local const struct model *probe_rejected_by;
static _Thread_local char refusal[1024];
_Thread_local struct ops_thread *ops_self;
uint32_t ops_process;
static pthread_key_t key;
static bool key_made;

static void end_thread(void *p)
{
	struct ops_thread *t = p;
	ops_self = NULL;
	if (t->stage)
		munmap(t->stage, CUDA_STAGE);
	free(t->copies);
	free(t);
}

static void after_fork(void) { ops_process = (uint32_t)getpid(); }

void ops_threads_init(void)
{
	if (key_made)
		return;
	ops_process = (uint32_t)getpid();
	key_made = !pthread_key_create(&key, end_thread) && !pthread_atfork(NULL, NULL, after_fork);
}

struct ops_thread *ops_new_thread(void)
{
	struct ops_thread *t = ops_self;
	if (!t) {
		if (!key_made || !(t = malloc(sizeof(*t))))
			return NULL;
		/* Not everything: most is never touched. */
		memset(t, 0, offsetof(struct ops_thread, fetched));
		t->n_values = 0;
		t->stack_top = 0;
		t->readable = false;
		t->stage = NULL;
		t->known_of = 0;
		t->guard = NULL;
		if (pthread_setspecific(key, t)) {
			free(t);
			return NULL;
		}
		ops_self = t;
	}
	t->pid = ops_process;
	t->tid = (uint32_t)syscall(SYS_gettid);
	return t;
}

uintptr_t ops_stack_top(struct ops_thread *t)
{
	if (!t->stack_top) {
		pthread_attr_t a;
		void *base;
		size_t size;
		t->stack_top = 1;
		if (!pthread_getattr_np(pthread_self(), &a)) {
			if (!pthread_attr_getstack(&a, &base, &size))
				t->stack_top = (uintptr_t)base + size;
			pthread_attr_destroy(&a);
		}
	}
	return t->stack_top;
}

const char *model_refusal(const struct model *m) { return probe_rejected_by == m ? refusal : NULL; }

void model_refuse(const struct model *m, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(refusal, sizeof(refusal), fmt, ap);
	va_end(ap);
	probe_rejected_by = m;
}
