/* loader.c - which package a model is loaded from: torch's AOTIModelPackageLoader unpacks it into a temporary folder, which the user does
 * not know. Its constructor (torch/csrc/inductor/aoti_package/model_package_loader.h) is called through libpt2probe.so:
 *
 *     (this, const std::string &package, const std::string &model_name)                                         torch 2.6
 *     ... with bool, size_t, c10::DeviceIndex                                                                   torch 2.7 to 2.14
 *     ... and one bool more                                                                                     torch 2.15
 *
 * Wheels of torch 2.6 have the std::string of before GCC 5. Words are passed on as they are. It may throw through this frame, which then
 * leaves `loading` as it is: the position on the stack shows it. */
#include "probe.h"

#include <stdlib.h>

typedef void construct_fn(void *self, const void *package, const void *name, uint64_t, uint64_t, uint64_t, uint64_t);

static _Thread_local struct {
	struct slice package, name;
	uintptr_t sp; /* 0: none */
} loading;

char *probe_package(void)
{
	char *text = NULL;
	if (!loading.sp || (uintptr_t)__builtin_frame_address(0) >= loading.sp)
		return NULL;
	const bool usual = slice_eq(loading.name, SLICE("model"));
	if (asprintf(&text, "%.*s%s%.*s", SL(loading.package), usual ? "" : ":", usual ? 0 : (int)loading.name.n, loading.name.p) < 0)
		return NULL;
	return text;
}

/* libstdc++'s std::string: a pointer, and the length behind it; before GCC 5 the length was in front of the text. */
static struct slice text_of(const void *string, bool old)
{
	const char *p;
	size_t n;
	memcpy(&p, string, sizeof(p));
	memcpy(&n, old ? p - 3 * sizeof(n) : (const char *)string + sizeof(p), sizeof(n));
	return slice_of(p, n);
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

static const void *search(const char *symbol, const void *ours)
{
	struct search s = {.symbol = symbol, .ours = ours};
	object_each(search_object, &s);
	return s.found;
}

/* Whoever calls the constructor was linked with it, and may have torch as an option: what a constructor can do is throw. */
static _Noreturn void not_found(void)
{
	static const char text[] = "AOTIModelPackageLoader was called, but no loaded library has it";
	const void *p = search("_ZSt21__throw_runtime_errorPKc", NULL);
	void (*throw_error)(const char *);
	memcpy(&throw_error, &p, sizeof(p));
	if (talk_on())
		event_aside(LIVE_NO_MODEL, text);
	if (throw_error)
		throw_error(text);
	abort();
}

static void construct(const char *symbol, construct_fn *ours, bool old, void *self, const void *package, const void *name, uint64_t a,
		      uint64_t b, uint64_t c, uint64_t d)
{
	const void *mine;
	construct_fn *real;
	memcpy(&mine, &ours, sizeof(mine));
	const void *found = search(symbol, mine);
	if (!found)
		not_found();
	memcpy(&real, &found, sizeof(real));
	loading.package = text_of(package, old);
	loading.name = text_of(name, old);
	loading.sp = (uintptr_t)__builtin_frame_address(0);
	real(self, package, name, a, b, c, d);
	loading.sp = 0;
}

/* Named as in torch: of an object itself (C1), and as a part of a derived one (C2), which Python's is. */
#define CONSTRUCTOR(symbol, old) \
	__attribute__((visibility("default"))) construct_fn symbol; \
	void symbol(void *self, const void *package, const void *name, uint64_t a, uint64_t b, uint64_t c, uint64_t d) \
	{ \
		construct(#symbol, symbol, old, self, package, name, a, b, c, d); \
	}
#define LOADER(which, more) \
	LOADER_NAMED(_ZN5torch8inductor22AOTIModelPackageLoader##which##ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEES9_##more, \
		     false)
#define LOADER_NAMED(symbol, old) CONSTRUCTOR(symbol, old)
#define LOADERS(which) \
	LOADER(which, ) \
	LOADER(which, bma) \
	LOADER(which, bmab) \
	LOADER_NAMED(_ZN5torch8inductor22AOTIModelPackageLoader##which##ERKSsS3_, true)
LOADERS(C1)
LOADERS(C2)
