/* shim.h - libpt2shim.so in a test: loaded as a model's process loads it, its functions in pointers of their own names.
 *
 *     #define OPS(X) X(aoti_torch_cpu_abs, (handle, handle *))
 *     OPS(SHIM_POINTER)                                          // int32_t (*aoti_torch_cpu_abs)(handle, handle *)
 *     static int load(void **state)
 *     {
 *         void *lib = shim_open();
 *         #define LOAD(name, params) shim_take(lib, #name, &name);
 *         OPS(LOAD)
 *         return 0;
 *     }
 */
#ifndef PT2_TEST_SHIM_H
#define PT2_TEST_SHIM_H
#include <dlfcn.h>
#include <unistd.h>

#include "tensor/dtype.h"
#include "test.h"

typedef void *handle;

#define SHIM_POINTER(name, params) static int32_t(*name) params;

static const char *(*shim_last_error)(void);

static inline void shim_take(void *lib, const char *name, void *pointer)
{
	void *f = dlsym(lib, name);

	if (!f)
		fail_msg("%s is not there", name);
	memcpy(pointer, &f, sizeof(f));
}

/* Next to us: BUILD/tests/test_NAME, BUILD/lib/pt2utils/libpt2shim.so. */
static inline void *shim_open(void)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 64);

	assert_true(n > 0);
	self[n] = '\0';
	for (int i = 0; i < 2; i++)
		*strrchr(self, '/') = '\0';
	char *path = xasprintf("%s/lib/pt2utils/libpt2shim.so", self);
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!lib)
		fail_msg("%s", dlerror());
	free(path);
	shim_take(lib, "shim_last_error", &shim_last_error);
	return lib;
}

#endif
