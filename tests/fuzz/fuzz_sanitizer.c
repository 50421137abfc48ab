/* What compute-sanitizer wrote (watch/sanitizer.h): any bytes. */
#include "watch/sanitizer.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct sanitizer s = {0};
	for (int twice = 0; twice < 2; twice++)
		sanitizer_read(&s, slice_of((const char *)p, n));
	if (s.n > SANITIZER_MOST)
		__builtin_trap();
	for (size_t i = 0; i < s.n; i++) {
		const struct sanitizer_error *e = &s.v[i];
		if (!e->what.n || e->times < 2 || (e->relation.n && slice_is(e->relation, "")))
			__builtin_trap();
		if (e->kernel.n && !sanitizer_is_kernel(e->kernel, e->kernel))
			__builtin_trap();
	}
	sanitizer_release(&s);
	return 0;
}
