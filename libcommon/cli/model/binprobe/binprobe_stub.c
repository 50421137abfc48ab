/* Imports and kernels of the model become stubs. A stub is a few bytes of code (binprobe_x86_64.c) that pass its number to one handler,
 * which reads arguments by the operator's signature, or looks for tensors among them. Stubs are right before the image: a kernel's
 * first bytes become a jump to one. */
#include "model/contract/opsig.h"
#include "model/binprobe/binprobe_child.h"

#include <dlfcn.h>
#include <link.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

void *stub_new(struct image *im, struct stub s)
{
	if (im->stub_size - im->stub_used < BINPROBE_STUB_BYTES)
		return NULL;
	uint8_t *p = s.code = im->map + im->stub_used;
	im->stub_used += BINPROBE_STUB_BYTES;
	uint32_t number = world->n_stubs;
	PUSH_TO(world->stub, world->n_stubs, world->cap_stubs) = s;
	binprobe_write_stub(p, number);
	return s.code;
}

/* Names that Inductor gives (torch/_inductor/codegen/cpp.py, triton.py): extern "C", so not mangled. */
bool stub_is_kernel(const char *name) { return !strncmp(name, "cpp_", 4) || !strncmp(name, "triton_", 7); }

/* ---- C library functions that behave differently here ---- */

/* Independent of the tool's environment: checks are on, nothing else is set. */
static char *fake_getenv(const char *name)
{
	static char on[] = "1";
	return name && !strcmp(name, "AOTI_RUNTIME_CHECK_INPUTS") ? on : NULL;
}

static bool in_weights(const struct image *im, const void *p)
{
	const uint8_t *q = p;
	return im->bias && q >= im->bias + im->weights_lo && q < im->bias + im->weights_hi;
}

/* Constants are zeros, so gigabytes of them are not copied. */
static bool is_constant_data(const void *from)
{
	return in_weights(&world->im, from) ||
	       (world->zeros && (const uint8_t *)from >= world->zeros && (const uint8_t *)from < world->zeros + world->zeros_size);
}

static void *fake_memcpy(void *to, const void *from, size_t n) { return n > 64 && is_constant_data(from) ? to : memcpy(to, from, n); }

static void *fake_memmove(void *to, const void *from, size_t n) { return n > 64 && is_constant_data(from) ? to : memmove(to, from, n); }

/* Weights appended to the ELF file: the model opens its own file (_get_constants_start in aoti_runtime/model_base.h). There is one
 * file that can be opened, ours; it can be mapped, and contains zeros except for its last bytes, which are a magic number. */
#define FAKE_FD 1000
static const char fake_file[] = "model.so";

static int fake_dladdr(const void *address, Dl_info *info)
{
	(void)address;
	*info = (Dl_info){.dli_fname = fake_file, .dli_fbase = world->im.map};
	return 1;
}

static int fake_open(const char *name, int flags, ...)
{
	if (!strcmp(name, fake_file) && (flags & O_ACCMODE) == O_RDONLY)
		return FAKE_FD;
	errno = ENOENT;
	return -1;
}

static int fake_close(int fd) { return fd == FAKE_FD ? 0 : -1; }

static off_t fake_lseek(int fd, off_t offset, int whence)
{
	return fd == FAKE_FD ? (whence == SEEK_END ? (off_t)world->job->so.n + offset : offset) : -1;
}

uint8_t *world_zeros(uint64_t size)
{
	if (world->zeros)
		return size <= world->zeros_size ? world->zeros : NULL;
	uint8_t *p = mmap(NULL, size ? size : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	world->zeros_size = size;
	return world->zeros = p;
}

static void *fake_mmap(void *address, size_t size, int prot, int flags, int fd, off_t offset)
{
	if (flags & MAP_ANONYMOUS)
		return mmap(address, size, prot, flags, fd, offset);
	struct slice so = world->job->so;
	uint8_t *p;
	if (fd != FAKE_FD || offset < 0 || (uint64_t)offset > so.n || size > so.n - (uint64_t)offset || !(p = world_zeros(size))) {
		errno = EBADF;
		return MAP_FAILED;
	}
	if (size >= 8)
		memcpy(p + size - 8, so.p + (uint64_t)offset + size - 8, 8);
	return p;
}

/* No destructors: the process just ends. */
static int fake_at_exit(void (*f)(void *), void *arg, void *dso)
{
	(void)f, (void)arg, (void)dso;
	return 0;
}

/* The unwinder of a library that has libgcc inside (g++ -static-libgcc): where the tables of an address are. Before glibc 2.35 it asks
 * dl_iterate_phdr(), else _dl_find_object(), whose structure this is (struct dl_find_object). */
struct found_object {
	unsigned long long flags;
	void *map_start, *map_end, *link_map;
	const void *eh_frame;
	unsigned long long reserved[7];
};

static int fake_find_object(void *address, struct found_object *found)
{
	const struct image *im = &world->im;
	typedef int find_function(void *, struct found_object *);
	if ((uint8_t *)address >= im->bias + im->lo && (uint8_t *)address < im->bias + im->hi) {
		*found = (struct found_object){.map_start = im->bias + im->lo, .map_end = im->bias + im->hi, .eh_frame = im->frames};
		return im->frames ? 0 : -1;
	}
	find_function *real = (find_function *)dlsym(RTLD_DEFAULT, "_dl_find_object");
	return real ? real(address, found) : -1;
}

static int fake_iterate(int (*each)(struct dl_phdr_info *, size_t, void *), void *arg)
{
	const struct image *im = &world->im;
	struct dl_phdr_info info = {
	    .dlpi_addr = (uintptr_t)im->bias, .dlpi_name = fake_file, .dlpi_phdr = im->program, .dlpi_phnum = (Elf64_Half)im->n_program};
	int rc = each(&info, sizeof(info), arg);
	return rc ? rc : dl_iterate_phdr(each, arg);
}

/* exit() would run the tool's own exit handlers. */
static _Noreturn void fake_exit(int status)
{
	(void)status;
	_exit(EXIT_INPUT);
}

/* The text of a thrown exception, for models without AOTInductorGetLastError: std::runtime_error and the like hold it
 * behind a virtual what(). */
static _Noreturn void fake_throw(void *object, void *type, void (*destroy)(void *))
{
	static const char *const with_what[] = {"_ZTISt13runtime_error", "_ZTISt11logic_error", "_ZTISt12out_of_range",
						"_ZTISt16invalid_argument", "_ZTISt9bad_alloc"};
	world->thrown[0] = 0;
	for (size_t i = 0; i < ARRAY_LEN(with_what); i++)
		if (type == dlsym(world->im.cxx, with_what[i])) {
			typedef const char *what_function(const void *);
			what_function *what = (*(what_function ***)object)[2];
			snprintf(world->thrown, sizeof(world->thrown), "%s", what(object));
		}
	typedef void throw_function(void *, void *, void (*)(void *));
	((throw_function *)dlsym(world->im.cxx, "__cxa_throw"))(object, type, destroy);
	_exit(EXIT_ENVIRON); /* never: it has thrown */
}

/* The same for a library whose libstdc++ is inside and hidden: the text comes from its report ("Error: ", aoti_runtime/interface.cpp),
 * which arrives in pieces. Only such a library calls fwrite() itself. */
static size_t fake_fwrite(const void *data, size_t size, size_t n, FILE *to)
{
	static const char before[] = "Error: ";
	struct slice text = slice_of(data, size * n);
	size_t used = strlen(world->thrown);
	if (to == stderr && slice_is(text, before))
		world->thrown[0] = 0;
	else if (to == stderr)
		snprintf(world->thrown + used, sizeof(world->thrown) - used, "%.*s", SLN(text, 1000));
	return fwrite(data, size, n, to);
}

static const struct {
	const char *name;
	void *function;
} replaced[] = {
    {"getenv", fake_getenv},
    {"secure_getenv", fake_getenv},
    {"memcpy", fake_memcpy},
    {"memmove", fake_memmove},
    {"dladdr", fake_dladdr},
    {"open", fake_open},
    {"open64", fake_open},
    {"close", fake_close},
    {"lseek", fake_lseek},
    {"lseek64", fake_lseek},
    {"mmap", fake_mmap},
    {"mmap64", fake_mmap},
    {"__cxa_atexit", fake_at_exit},
    {"__cxa_thread_atexit", fake_at_exit},
    {"__cxa_thread_atexit_impl", fake_at_exit},
    {"exit", fake_exit},
    {"_exit", fake_exit},
    {"quick_exit", fake_exit},
    {"__cxa_throw", fake_throw},
    {"fwrite", fake_fwrite},
    {"_dl_find_object", fake_find_object},
    {"dl_iterate_phdr", fake_iterate},
};

static bool starts(const char *s, const char *with) { return !strncmp(s, with, strlen(with)); }

static void *bind_torch(struct image *im, const char *name)
{
	static const struct {
		const char *prefix;
		int (*number)(struct slice name);
	} tables[] = {{"aoti_torch_device_type_", device_by_name},
		      {"aoti_torch_layout_", layout_number},
		      {"aoti_torch_memory_format_", memory_format_number}};
	void *p = fake_function(name);
	if (!p)
		p = op_function(name);
	if (p)
		return p;
	if (starts(name, "aoti_torch_dtype_"))
		return stub_new(im, (struct stub){.kind = STUB_VALUE, .name = name, .value = dtype_by_name(slice_str(name + 17))});
	for (size_t i = 0; i < ARRAY_LEN(tables); i++)
		if (starts(name, tables[i].prefix)) {
			int n = tables[i].number(slice_str(name + strlen(tables[i].prefix)));
			return stub_new(im, (struct stub){.kind = STUB_VALUE, .name = name, .value = n});
		}
	const char *sig = opsig(name);
	if (sig)
		return stub_new(im, (struct stub){.kind = STUB_OP, .name = name, .sig = sig});
	return NULL;
}

void *stub_bind(struct image *im, const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(replaced); i++)
		if (!strcmp(name, replaced[i].name))
			return replaced[i].function;
	if (starts(name, "aoti_"))
		return bind_torch(im, name);
	if (stub_is_kernel(name))
		return stub_new(im, (struct stub){.kind = STUB_KERNEL, .name = name});
	/* Functions that only kernels call, and kernels are stubs here. */
	if (starts(name, "Sleef_") || starts(name, "GOMP_") || starts(name, "omp_") || starts(name, "__kmpc_"))
		return stub_new(im, (struct stub){.kind = STUB_VALUE, .name = name});
	if (starts(name, "cu") || starts(name, "hip") || starts(name, "nv")) {
		void *p = op_function(name);
		return p ? p : stub_new(im, (struct stub){.kind = STUB_VALUE, .name = name});
	}
	return NULL;
}
