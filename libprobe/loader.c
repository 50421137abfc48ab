/* loader.c - which package a model is loaded from: torch's AOTIModelPackageLoader unpacks it into a temporary folder, which the user does
 * not know. Its constructor (torch/csrc/inductor/aoti_package/model_package_loader.h) is called through libpt2probe.so:
 *
 *     (this, const std::string &package, const std::string &model_name, bool, size_t, c10::DeviceIndex)         torch 2.7 to 2.14
 *     ... with one bool more                                                                                    torch 2.15
 *
 * Words are passed on as they are. It may throw through this frame, which then leaves `loading` as it is: the position on the stack shows
 * it. */
#include "probe.h"

#include <stdlib.h>

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

/* libtorch may be loaded with RTLD_LOCAL: it is after us in no scope. */
struct search {
	const char *symbol;
	const void *ours;
	void *found;
};

static void search_object(void *user, const struct object *o)
{
	struct search *s = user;
	ElfW(Sym) *sym = s->found ? NULL : object_export(o, s->symbol);
	if (sym && object_address(o, sym) != s->ours)
		s->found = object_address(o, sym);
}

static void construct(const char *symbol, construct_fn *ours, void *self, const void *package, const void *name, uint64_t a, uint64_t b,
		      uint64_t c, uint64_t d)
{
	construct_fn *real;
	struct search s = {.symbol = symbol};
	memcpy(&s.ours, &ours, sizeof(s.ours));
	object_each(search_object, &s);
	if (!s.found) { /* whoever calls it was linked with it; there is no way back from a constructor */
		event_aside(LIVE_NO_MODEL, "AOTIModelPackageLoader was called, but no loaded library has it: the process ends here");
		abort();
	}
	memcpy(&real, &s.found, sizeof(real));
	loading.package = package;
	loading.name = name;
	loading.sp = (uintptr_t)__builtin_frame_address(0);
	real(self, package, name, a, b, c, d);
	loading.sp = 0;
}

/* Named as in torch: of an object itself (C1), and as a part of a derived one (C2), which Python's is. */
#define CONSTRUCTOR(symbol) \
	__attribute__((visibility("default"))) construct_fn symbol; \
	void symbol(void *self, const void *package, const void *name, uint64_t a, uint64_t b, uint64_t c, uint64_t d) \
	{ \
		construct(#symbol, symbol, self, package, name, a, b, c, d); \
	}
#define LOADER(which, more) \
	LOADER_NAMED(_ZN5torch8inductor22AOTIModelPackageLoader##which##ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEES9_bma##more)
#define LOADER_NAMED(symbol) CONSTRUCTOR(symbol)
LOADER(C1, )
LOADER(C2, )
LOADER(C1, b)
LOADER(C2, b)
