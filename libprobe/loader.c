/* loader.c - which package a model is loaded from: torch's AOTIModelPackageLoader unpacks it into a temporary folder, whose name says nothing
 * to a user. Its constructor (torch/csrc/inductor/aoti_package/model_package_loader.h) is called through libpt2probe.so:
 *
 *     (this, const std::string &package, const std::string &model_name, bool, size_t, c10::DeviceIndex)         torch 2.7 to 2.14
 *     ... with one bool more                                                                                    torch 2.15
 *
 * Words are passed on as they are. It may throw through this frame, which then leaves `loading` as it is: the position on the stack tells. */
#include "probe.h"

#include <dlfcn.h>
#include <stdlib.h>

#define LOADER "_ZN5torch8inductor22AOTIModelPackageLoaderC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEES9_bma"

typedef void construct_fn(void *self, const void *package, const void *name, uint64_t, uint64_t, uint64_t, uint64_t);

/* libstdc++'s std::string since GCC 5. */
struct cxx_string {
	const char *p;
	size_t n;
};

static _Thread_local struct {
	const struct cxx_string *package, *name;
	uintptr_t sp; /* 0: none */
} loading;

char *probe_package(void)
{
	char *text = NULL;
	if (!loading.sp || (uintptr_t)__builtin_frame_address(0) >= loading.sp)
		return NULL;
	const struct cxx_string *p = loading.package, *name = loading.name;
	const bool usual = name->n == 5 && !memcmp(name->p, "model", 5);
	if (asprintf(&text, "%.*s%s%.*s", (int)p->n, p->p, usual ? "" : ":", usual ? 0 : (int)name->n, name->p) < 0)
		return NULL;
	return text;
}

static void construct(const char *symbol, void *self, const void *package, const void *name, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	construct_fn *real;
	void *p = dlsym(RTLD_NEXT, symbol);
	if (!p) /* nobody could have called it */
		abort();
	memcpy(&real, &p, sizeof(real));
	loading.package = package;
	loading.name = name;
	loading.sp = (uintptr_t)__builtin_frame_address(0);
	real(self, package, name, a, b, c, d);
	loading.sp = 0;
}

/* Named as in torch; the linker's version script exports them. */
construct_fn probe_loader __asm__(LOADER), probe_loader_2_15 __asm__(LOADER "b");

void probe_loader(void *self, const void *package, const void *name, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	construct(LOADER, self, package, name, a, b, c, d);
}

void probe_loader_2_15(void *self, const void *package, const void *name, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	construct(LOADER "b", self, package, name, a, b, c, d);
}
