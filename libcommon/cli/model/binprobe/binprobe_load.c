/* A loader for one untrusted library, which must not get the libraries it was linked with.
 *
 * dlopen() of an edited copy would work, too, but it trusts every offset in the file, runs initializers and resolvers on
 * the way, and needs torch's libraries. Here everything is checked against the file and the image, each name is bound to
 * what we choose, and everything happens under the second filter. The system's own libraries are loaded before, by dlopen.
 *
 * Constants (_binary_constants_bin_start to _end) are not copied: their pages read as zeros and use no memory. */
#include "model/binprobe/binprobe_child.h"
#include "model/elf/modelso.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#define STUB_ROOM (1u << 20)
#define MAX_SYMBOLS (1u << 22)
#define MAX_RELOCS (1ull << 26)
#define SMALL_CONSTANTS 65536 /* may contain a header that the model reads: copied */
#ifndef DT_RELR
#define DT_RELRSZ 35
#define DT_RELR 36
#endif

struct loader {
	struct image *im;
	struct slice so;
	Elf64_Ehdr eh[1];
	Elf64_Phdr *ph;
	uint64_t dynamic[40], eh_frame_hdr, gnu_hash, hash;
	uint64_t tls_vaddr, tls_filesz, tls_memsz, tls_align;
	void **bound;  /* per dynamic symbol */
	uint64_t page; /* of this machine: 4 KiB, on AArch64 up to 64 */
	uint64_t irelative[64];
	size_t n_irelative;
	struct err *err;
};

static int bad_elf(struct loader *l, const char *what) { return err_set(l->err, EXIT_INPUT, "the model's ELF file is damaged: %s", what); }

static void *at(const struct image *im, uint64_t vaddr, uint64_t size)
{
	if (vaddr < im->lo || vaddr > im->hi || size > im->hi - vaddr)
		return NULL;
	return im->bias + vaddr;
}

/* ---- segments ---- */

static int read_headers(struct loader *l)
{
	Elf64_Ehdr *eh = l->eh;
	if (l->so.n < sizeof(*eh) || memcmp(l->so.p, ELFMAG, SELFMAG))
		return bad_elf(l, "no ELF header");
	/* Copied, because a member of an archive may be at any address. */
	memcpy(eh, l->so.p, sizeof(*eh));
	if (eh->e_machine != binprobe_machine || eh->e_ident[EI_CLASS] != ELFCLASS64)
		return err_set(l->err, EXIT_INPUT, "the model is compiled for %s and cannot run on this machine",
			       modelso_machine_name(eh->e_machine, eh->e_ident[EI_DATA] == ELFDATA2MSB));
	if (eh->e_type != ET_DYN || eh->e_phentsize != sizeof(Elf64_Phdr) || eh->e_phoff > l->so.n ||
	    eh->e_phnum > (l->so.n - eh->e_phoff) / sizeof(Elf64_Phdr))
		return bad_elf(l, "program headers outside the file");
	l->ph = arena_alloc(&world->arena, (eh->e_phnum + 1) * sizeof(*l->ph));
	memcpy(l->ph, l->so.p + eh->e_phoff, eh->e_phnum * sizeof(*l->ph));
	return 0;
}

static int measure_segments(struct loader *l)
{
	struct image *im = l->im;
	im->lo = UINT64_MAX;
	for (unsigned i = 0; i < l->eh->e_phnum; i++) {
		const Elf64_Phdr *p = &l->ph[i];
		if (p->p_type == PT_LOAD) {
			if (p->p_offset > l->so.n || p->p_filesz > l->so.n - p->p_offset || p->p_filesz > p->p_memsz ||
			    p->p_vaddr > 1ull << 46 || p->p_memsz > 1ull << 46)
				return bad_elf(l, "a segment outside the file");
			uint64_t lo = p->p_vaddr & ~(l->page - 1), hi = (p->p_vaddr + p->p_memsz + l->page - 1) & ~(l->page - 1);
			im->lo = lo < im->lo ? lo : im->lo;
			im->hi = hi > im->hi ? hi : im->hi;
		} else if (p->p_type == PT_TLS) {
			l->tls_vaddr = p->p_vaddr;
			l->tls_filesz = p->p_filesz;
			l->tls_memsz = p->p_memsz;
			l->tls_align = p->p_align > 4096 ? 4096 : p->p_align;
		} else if (p->p_type == PT_GNU_EH_FRAME) {
			l->eh_frame_hdr = p->p_vaddr;
		}
	}
	return im->lo >= im->hi ? bad_elf(l, "no segments") : 0;
}

/* Where the constants are, from the file's section table or not at all: only to avoid copying them. */
static void find_weights(struct loader *l)
{
	const Elf64_Ehdr *eh = l->eh;
	if (eh->e_shentsize != sizeof(Elf64_Shdr) || eh->e_shoff > l->so.n || eh->e_shnum > (l->so.n - eh->e_shoff) / sizeof(Elf64_Shdr))
		return;
	Elf64_Shdr *sh = arena_alloc(&world->arena, (eh->e_shnum + 1) * sizeof(*sh));
	memcpy(sh, l->so.p + eh->e_shoff, eh->e_shnum * sizeof(*sh));
	const Elf64_Shdr *names = eh->e_shstrndx < eh->e_shnum ? &sh[eh->e_shstrndx] : NULL;
	if (!names || names->sh_offset > l->so.n || names->sh_size > l->so.n - names->sh_offset)
		return;
	for (unsigned i = 0; i < eh->e_shnum; i++) {
		static const char name[] = ".lrodata";
		if (sh[i].sh_name < names->sh_size && names->sh_size - sh[i].sh_name >= sizeof(name) &&
		    !memcmp(l->so.p + names->sh_offset + sh[i].sh_name, name, sizeof(name)) && sh[i].sh_size > SMALL_CONSTANTS &&
		    at(l->im, sh[i].sh_addr, sh[i].sh_size)) {
			l->im->weights_lo = sh[i].sh_addr;
			l->im->weights_hi = sh[i].sh_addr + sh[i].sh_size;
		}
	}
}

static void copy_part(const struct image *im, uint64_t vaddr, const char *from, uint64_t lo, uint64_t hi)
{
	if (lo < hi)
		memcpy(im->bias + lo, from + (lo - vaddr), hi - lo);
}

static int map_segments(struct loader *l)
{
	struct image *im = l->im;
	im->stub_size = STUB_ROOM;
	im->map_size = STUB_ROOM + (im->hi - im->lo);
	im->map = mmap(NULL, im->map_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (im->map == MAP_FAILED)
		return err_errno(l->err, EXIT_ENVIRON, "no memory for the model's %llu bytes", (unsigned long long)(im->hi - im->lo));
	im->bias = im->map + STUB_ROOM - im->lo;
	find_weights(l);
	for (unsigned i = 0; i < l->eh->e_phnum; i++) {
		const Elf64_Phdr *p = &l->ph[i];
		if (p->p_type != PT_LOAD)
			continue;
		uint64_t lo = p->p_vaddr, hi = lo + p->p_filesz;
		const char *from = l->so.p + p->p_offset;
		uint64_t cut = im->weights_lo > lo ? im->weights_lo : lo, resume = im->weights_hi > lo ? im->weights_hi : lo;
		copy_part(im, lo, from, lo, cut < hi ? cut : hi);
		copy_part(im, lo, from, resume < hi ? resume : hi, hi);
	}
	return 0;
}

static int protect_segments(struct loader *l)
{
	struct image *im = l->im;
	for (unsigned i = 0; i < l->eh->e_phnum; i++) {
		const Elf64_Phdr *p = &l->ph[i];
		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		uint64_t lo = p->p_vaddr & ~(l->page - 1), hi = (p->p_vaddr + p->p_memsz + l->page - 1) & ~(l->page - 1);
		int prot = PROT_READ | PROT_EXEC | (p->p_flags & PF_W ? PROT_WRITE : 0);
		__builtin___clear_cache((char *)im->bias + lo, (char *)im->bias + hi);
		if (mprotect(im->bias + lo, hi - lo, prot) < 0)
			return err_errno(l->err, EXIT_ENVIRON, "this system does not allow executable memory");
	}
	if (mprotect(im->map, im->stub_size, PROT_READ | PROT_EXEC) < 0)
		return err_errno(l->err, EXIT_ENVIRON, "this system does not allow executable memory");
	return 0;
}

/* ---- the dynamic section and symbols ---- */

static int read_dynamic(struct loader *l)
{
	const Elf64_Dyn *d = NULL;
	size_t n = 0;
	for (unsigned i = 0; i < l->eh->e_phnum; i++)
		if (l->ph[i].p_type == PT_DYNAMIC && l->ph[i].p_vaddr % 8 == 0 && (d = at(l->im, l->ph[i].p_vaddr, l->ph[i].p_memsz)))
			n = l->ph[i].p_memsz / sizeof(*d);
	if (!n)
		return bad_elf(l, "no dynamic section");
	for (size_t i = 0; i < n && d[i].d_tag != DT_NULL; i++) {
		if (d[i].d_tag >= 0 && d[i].d_tag < (int64_t)ARRAY_LEN(l->dynamic))
			l->dynamic[d[i].d_tag] = d[i].d_un.d_val;
		else if (d[i].d_tag == DT_GNU_HASH)
			l->gnu_hash = d[i].d_un.d_val;
	}
	l->im->str_size = l->dynamic[DT_STRSZ];
	l->im->str = at(l->im, l->dynamic[DT_STRTAB], l->im->str_size);
	if (!l->im->str || !l->im->str_size || l->im->str[l->im->str_size - 1])
		return bad_elf(l, "string table outside the image");
	return 0;
}

/* The dynamic section does not give the number of symbols; the hash tables do. */
static uint32_t count_symbols(struct loader *l)
{
	const struct image *im = l->im;
	const uint32_t *h;
	if (l->dynamic[DT_HASH] % 4 == 0 && l->dynamic[DT_HASH] && (h = at(im, l->dynamic[DT_HASH], 8)))
		return h[1];
	if (l->gnu_hash % 8 || !l->gnu_hash || !(h = at(im, l->gnu_hash, 16)))
		return 0;
	uint32_t n_buckets = h[0], first = h[1], last = 0;
	uint64_t buckets = l->gnu_hash + 16 + (uint64_t)h[2] * 8, chains = buckets + (uint64_t)n_buckets * 4;
	const uint32_t *b = at(im, buckets, (uint64_t)n_buckets * 4);
	for (uint32_t i = 0; b && i < n_buckets; i++)
		last = b[i] > last ? b[i] : last;
	if (!b || last < first)
		return first;
	const uint32_t *chain;
	do
		chain = at(im, chains + (uint64_t)(last - first) * 4, 4);
	while (chain && !(*chain & 1) && last++ < MAX_SYMBOLS);
	return last + 1;
}

static int read_symbols(struct loader *l)
{
	struct image *im = l->im;
	im->n_sym = count_symbols(l);
	im->sym = at(im, l->dynamic[DT_SYMTAB], (uint64_t)im->n_sym * sizeof(Elf64_Sym));
	if (!im->sym || im->n_sym > MAX_SYMBOLS || l->dynamic[DT_SYMTAB] % 8)
		return bad_elf(l, "symbol table outside the image");
	l->bound = xcalloc((size_t)im->n_sym + 1, sizeof(*l->bound));
	im->own_cxx = image_symbol(im, "__cxa_throw");
	return 0;
}

static const char *symbol_name(const struct image *im, const Elf64_Sym *s) { return s->st_name < im->str_size ? im->str + s->st_name : ""; }

void *image_symbol(const struct image *im, const char *name)
{
	const Elf64_Sym *s = im->sym;
	for (uint32_t i = 1; i < im->n_sym; i++)
		if (s[i].st_shndx != SHN_UNDEF && ELF64_ST_TYPE(s[i].st_info) == STT_FUNC && !strcmp(symbol_name(im, &s[i]), name))
			return at(im, s[i].st_value, 1);
	return NULL;
}

/* Like the dynamic linker: first the C library and what the program has (also new and delete, which a sanitizer provides),
 * but C++ from the library that has it: a sanitizer's __cxa_throw requires a libstdc++ that was loaded from the start. */
static bool is_cxx(const char *name)
{
	bool memory = !strncmp(name, "_Zn", 3) || !strncmp(name, "_Zd", 3);
	return !memory && name[0] == '_' &&
	       (name[1] == 'Z' || !strncmp(name, "__cxa_", 6) || !strncmp(name, "__gxx_", 6) || !strncmp(name, "_Unwind_", 8) ||
		!strncmp(name, "__dynamic_cast", 14));
}

static void *system_symbol(const struct image *im, const char *name)
{
	bool cxx = is_cxx(name);
	void *p = cxx ? dlsym(im->cxx, name) : dlsym(RTLD_DEFAULT, name);
	return p ? p : dlsym(cxx ? RTLD_DEFAULT : im->cxx, name);
}

/* Module numbers that our __tls_get_addr understands: the model's own block, and a plain address. */
enum { TLS_OWN = 1, TLS_ADDRESS = 2 };

static void *tls_address(const uint64_t *descriptor)
{
	return descriptor[0] == TLS_OWN ? (void *)(world->im.tls + descriptor[1]) : (void *)(uintptr_t)descriptor[1];
}

/* A library with a libstdc++ inside gets the system's all the same, as with LD_PRELOAD=libstdc++.so.6: our __cxa_throw belongs to that one.
 * Its own unwinder, of hidden functions, finds the library by fake_find_object() (binprobe_stub.c). */
static void *instead(struct image *im, const Elf64_Sym *s, const char *name)
{
	if (!im->own_cxx || ELF64_ST_TYPE(s->st_info) == STT_TLS || !is_cxx(name))
		return NULL;
	return strcmp(name, "__cxa_throw") ? dlsym(im->cxx, name) : stub_bind(im, name);
}

static void *bind_symbol(struct loader *l, uint32_t k)
{
	struct image *im = l->im;
	if (k >= im->n_sym)
		return NULL;
	const Elf64_Sym *s = (const Elf64_Sym *)im->sym + k;
	if (l->bound[k])
		return l->bound[k];
	const char *name = symbol_name(im, s);
	if (s->st_shndx == SHN_ABS)
		return (void *)(uintptr_t)s->st_value;
	void *p = s->st_shndx != SHN_UNDEF ? instead(im, s, name) : NULL;
	if (s->st_shndx != SHN_UNDEF)
		return l->bound[k] = p ? p : at(im, s->st_value, 0);
	p = !strcmp(name, "__tls_get_addr") ? (void *)tls_address : stub_bind(im, name);
	if (!p && ELF64_ST_TYPE(s->st_info) != STT_TLS)
		p = system_symbol(im, name);
	else if (!p)
		p = dlsym(im->cxx, name);
	if (!p && ELF64_ST_BIND(s->st_info) != STB_WEAK)
		p = stub_new(im, (struct stub){.kind = STUB_UNKNOWN, .name = name});
	return l->bound[k] = p;
}

/* ---- relocations ---- */

static int relocate_tls(struct loader *l, const Elf64_Rela *r, uint64_t *where)
{
	struct image *im = l->im;
	uint32_t k = (uint32_t)ELF64_R_SYM(r->r_info);
	const Elf64_Sym *s = (const Elf64_Sym *)im->sym + (k < im->n_sym ? k : 0);
	bool own = !k || s->st_shndx != SHN_UNDEF;
	uint64_t address = own ? (uint64_t)(uintptr_t)im->tls + s->st_value + (uint64_t)r->r_addend
			       : (uint64_t)(uintptr_t)bind_symbol(l, k) + (uint64_t)r->r_addend;
	switch (binprobe_relocation((uint32_t)ELF64_R_TYPE(r->r_info))) {
	case RELOCATION_TLS_MODULE: where[0] = own ? TLS_OWN : TLS_ADDRESS; return 0;
	case RELOCATION_TLS_OFFSET: where[0] = own ? s->st_value + (uint64_t)r->r_addend : address; return 0;
	case RELOCATION_TLS_FROM_THREAD: where[0] = address - binprobe_thread_pointer(); return 0;
	default: break;
	}
	if (!at(im, r->r_offset, 16))
		return bad_elf(l, "a relocation outside the image");
	where[0] = (uint64_t)(uintptr_t)binprobe_tls_descriptor;
	where[1] = address - binprobe_thread_pointer();
	return 0;
}

/* The file's own resolver returns the function's address; it needs everything else in place. */
static int resolve_later(struct loader *l, uint64_t where)
{
	if (l->n_irelative == ARRAY_LEN(l->irelative))
		return bad_elf(l, "too many indirect functions");
	l->irelative[l->n_irelative++] = where;
	return 0;
}

static bool is_indirect(const struct image *im, uint32_t k)
{
	const Elf64_Sym *s = (const Elf64_Sym *)im->sym + k;
	return s->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(s->st_info) == STT_GNU_IFUNC;
}

static int relocate_one(struct loader *l, const Elf64_Rela *r)
{
	struct image *im = l->im;
	uint32_t type = (uint32_t)ELF64_R_TYPE(r->r_info), k = (uint32_t)ELF64_R_SYM(r->r_info);
	const enum relocation what = binprobe_relocation(type);
	if (what == RELOCATION_NONE)
		return 0;
	uint64_t *where = at(im, r->r_offset, 8), value;
	if (!where || k >= im->n_sym)
		return bad_elf(l, "a relocation outside the image");
	switch (what) {
	case RELOCATION_RELATIVE: value = (uint64_t)(uintptr_t)im->bias + (uint64_t)r->r_addend; break;
	case RELOCATION_ADDEND: value = (uint64_t)(uintptr_t)bind_symbol(l, k) + (uint64_t)r->r_addend; break;
	case RELOCATION_SLOT: value = (uint64_t)(uintptr_t)bind_symbol(l, k); break;
	case RELOCATION_TLS_MODULE:
	case RELOCATION_TLS_OFFSET:
	case RELOCATION_TLS_FROM_THREAD:
	case RELOCATION_TLS_DESCRIPTOR: return relocate_tls(l, r, where);
	case RELOCATION_INDIRECT:
		if (resolve_later(l, r->r_offset) < 0)
			return -1;
		value = (uint64_t)(uintptr_t)im->bias + (uint64_t)r->r_addend;
		break;
	default: return err_set(l->err, EXIT_INPUT, "the model has relocations of type %u, which libraries do not have", type);
	}
	if (what != RELOCATION_RELATIVE && what != RELOCATION_INDIRECT && is_indirect(im, k) && resolve_later(l, r->r_offset) < 0)
		return -1;
	memcpy(where, &value, 8);
	return 0;
}

static int relocate_table(struct loader *l, uint64_t vaddr, uint64_t size)
{
	const Elf64_Rela *r = at(l->im, vaddr, size);
	if (!size)
		return 0;
	if (!r || vaddr % 8 || size / sizeof(*r) > MAX_RELOCS)
		return bad_elf(l, "relocations outside the image");
	for (uint64_t i = 0; i < size / sizeof(*r); i++)
		if (relocate_one(l, &r[i]) < 0)
			return -1;
	return 0;
}

static int relocate_packed(struct loader *l)
{
	uint64_t size = l->dynamic[DT_RELRSZ], vaddr = l->dynamic[DT_RELR], where = 0;
	const uint64_t *r = at(l->im, vaddr, size);
	if (!size)
		return 0;
	if (!r || vaddr % 8)
		return bad_elf(l, "packed relocations outside the image");
	for (uint64_t i = 0; i < size / 8; i++) {
		uint64_t bits = r[i] & 1 ? r[i] >> 1 : 1, first = r[i] & 1 ? where : r[i];
		for (int b = 0; bits; b++, bits >>= 1) {
			uint64_t *p = at(l->im, first + 8 * (uint64_t)b, 8);
			if (!(bits & 1))
				continue;
			if (!p)
				return bad_elf(l, "a packed relocation outside the image");
			*p += (uint64_t)(uintptr_t)l->im->bias;
		}
		where = r[i] & 1 ? where + 63 * 8 : r[i] + 8;
	}
	return 0;
}

static int make_tls(struct loader *l)
{
	if (l->tls_memsz > 1u << 24)
		return bad_elf(l, "too much thread-local data");
	size_t align = l->tls_align < 16 ? 16 : l->tls_align;
	l->im->tls = aligned_alloc(align, (l->tls_memsz + 2 * align - 1) / align * align);
	if (!l->im->tls)
		return err_set(l->err, EXIT_ENVIRON, "no memory for thread-local data");
	memset(l->im->tls, 0, l->tls_memsz);
	return 0;
}

static int fill_tls(struct loader *l)
{
	const void *from = at(l->im, l->tls_vaddr, l->tls_filesz);
	if (l->tls_filesz > l->tls_memsz || (l->tls_filesz && !from))
		return bad_elf(l, "thread-local data outside the image");
	if (l->tls_filesz)
		memcpy(l->im->tls, from, l->tls_filesz);
	return 0;
}

/* ---- kernels, exceptions, initializers ---- */

/* Calls of kernels may go through the PLT or straight to the function, so the function itself is changed. */
static void patch_kernels(struct loader *l)
{
	struct image *im = l->im;
	const Elf64_Sym *s = im->sym;
	for (uint32_t i = 1; i < im->n_sym; i++) {
		const char *name = symbol_name(im, &s[i]);
		uint8_t *entry = s[i].st_shndx != SHN_UNDEF && ELF64_ST_TYPE(s[i].st_info) == STT_FUNC && stub_is_kernel(name)
				     ? at(im, s[i].st_value, 16)
				     : NULL;
		if (entry)
			binprobe_patch(entry, stub_new(im, (struct stub){.kind = STUB_KERNEL, .name = name}));
	}
}

/* The unwinder knows only libraries that dlopen loaded; ours must be registered. */
static int register_frames(struct loader *l)
{
	if (!l->eh_frame_hdr)
		return 0;
	const uint8_t *h = at(l->im, l->eh_frame_hdr, 8);
	void (*reg)(void *) = (void (*)(void *))system_symbol(l->im, "__register_frame");
	int32_t distance;
	/* DW_EH_PE_pcrel | DW_EH_PE_sdata4: used by every linker. */
	if (!h || h[0] != 1 || h[1] != 0x1b || !reg)
		return bad_elf(l, "exception tables of an unknown kind");
	memcpy(&distance, h + 4, 4);
	uint8_t *frames = at(l->im, l->eh_frame_hdr + 4 + (uint64_t)(int64_t)distance, 4);
	if (!frames)
		return bad_elf(l, "exception tables outside the image");
	reg(frames);
	l->im->frames = h;
	l->im->program = l->ph;
	l->im->n_program = l->eh->e_phnum;
	return 0;
}

static void resolve_indirect(struct loader *l)
{
	for (size_t i = 0; i < l->n_irelative; i++) {
		uint64_t *where = at(l->im, l->irelative[i], 8);
		/* AArch64's gets the processor's features: none, so that it chooses the plain function. */
		void *(*resolver)(uint64_t, const void *) = (void *(*)(uint64_t, const void *))(uintptr_t)*where;
		*where = (uint64_t)(uintptr_t)resolver(0, NULL);
	}
}

int image_load(struct image *im, struct slice so, void *cxx, struct err *err)
{
	struct loader l = {.im = im, .so = so, .page = (uint64_t)sysconf(_SC_PAGESIZE), .err = err};
	im->cxx = cxx;
	int rc = read_headers(&l) < 0 || measure_segments(&l) < 0 || map_segments(&l) < 0 || read_dynamic(&l) < 0 || read_symbols(&l) < 0 ||
			 make_tls(&l) < 0 || relocate_packed(&l) < 0 || relocate_table(&l, l.dynamic[DT_RELA], l.dynamic[DT_RELASZ]) < 0 ||
			 relocate_table(&l, l.dynamic[DT_JMPREL], l.dynamic[DT_PLTRELSZ]) < 0 || fill_tls(&l) < 0
		     ? -1
		     : 0;
	if (!rc) {
		patch_kernels(&l);
		rc = protect_segments(&l);
	}
	if (!rc)
		rc = register_frames(&l);
	free(l.bound);
	if (rc < 0)
		return -1;
	im->init = l.dynamic[DT_INIT];
	im->init_array = l.dynamic[DT_INIT_ARRAY];
	im->init_array_size = l.dynamic[DT_INIT_ARRAYSZ];
	world->job->shared->phase = PHASE_INIT;
	resolve_indirect(&l);
	return 0;
}

void image_run_initialisers(struct image *im)
{
	static char *no_arguments[] = {NULL};
	typedef void initialiser(int, char **, char **);
	if (im->init && at(im, im->init, 1))
		((initialiser *)at(im, im->init, 1))(0, no_arguments, no_arguments);
	uint64_t *v = at(im, im->init_array, im->init_array_size);
	for (uint64_t i = 0; v && i < im->init_array_size / 8; i++)
		if (v[i] && v[i] != UINT64_MAX)
			((initialiser *)(uintptr_t)v[i])(0, no_arguments, no_arguments);
}
