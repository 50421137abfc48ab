/* cuda_read.c - reads device memory, where allowed. */
#include "cuda.h"

#include "ops.h"

#include <sys/mman.h>

void cuda_look_on(struct ops_thread *t, const struct model *m, void *stream)
{
	int status = 0;
	cuda_enter(m);
	t->stream = stream;
	t->readable = m->ops->cuda && !cuda_broken && cuda.memcpy_dtoh_async && cuda.stream_synchronize &&
		      !(cuda.stream_is_capturing && (cuda.stream_is_capturing(stream, &status) || status));
	t->read_error = 0;
}

void cuda_look_away(struct ops_thread *t) { t->readable = false; }

bool cuda_readable(void)
{
	const struct ops_thread *t = ops_thread_if_any();
	return t && t->readable;
}

bool cuda_copy(void *to, const void *from, size_t n)
{
	struct ops_thread *t = ops_thread_if_any();
	if (!t || !t->readable)
		return false;
	int mode = cuda_relax_capture();
	int r = n ? cuda.memcpy_dtoh_async(to, (uintptr_t)from, n, t->stream) : 0;
	if (!r)
		r = cuda.stream_synchronize(t->stream);
	cuda_restore_capture(mode);
	if (!r)
		return true;
	t->readable = false;
	t->read_error = r;
	return false;
}

void *cuda_room(size_t n)
{
	void *p = mmap(NULL, n ? n : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

void cuda_drop(void *p, size_t n)
{
	if (p)
		munmap(p, n ? n : 1);
}

void *cuda_fetch(const void *from, size_t n)
{
	void *p = cuda_room(n);
	if (p && !cuda_copy(p, from, n)) {
		cuda_drop(p, n);
		return NULL;
	}
	return p;
}
