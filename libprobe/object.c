#include "ops.h"
#include "base/text.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/* Addresses in the dynamic section: ld.so made them absolute, unless the section is read-only. */
static uintptr_t dynamic_address(const struct object *o, ElfW(Addr) p) { return p >= o->start && p < o->end ? p : o->base + p; }

static bool read_dynamic(struct object *o)
{
	for (const ElfW(Dyn) *d = o->dynamic; d && d->d_tag != DT_NULL; d++) {
		uintptr_t p = dynamic_address(o, d->d_un.d_ptr);
		switch (d->d_tag) {
		case DT_SYMTAB: o->sym = (ElfW(Sym) *)p; break;
		case DT_STRTAB: o->str = (const char *)p; break;
		case DT_STRSZ: o->str_size = d->d_un.d_val; break;
		case DT_GNU_HASH: o->gnu_hash = (const uint32_t *)p; break;
		case DT_HASH: o->hash = (const uint32_t *)p; break;
		}
	}
	return o->sym && o->str && (o->gnu_hash || o->hash);
}

/* Reads the program headers; *inside is set if one of its segments contains the address. */
static struct object object_of(const struct dl_phdr_info *info, uintptr_t address, bool *inside)
{
	struct object o = {.base = info->dlpi_addr, .name = info->dlpi_name, .start = UINTPTR_MAX};
	*inside = false;
	for (ElfW(Half) i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uintptr_t at = o.base + ph->p_vaddr;
		if (ph->p_type == PT_DYNAMIC)
			o.dynamic = (const ElfW(Dyn) *)at;
		if (ph->p_type != PT_LOAD)
			continue;
		o.start = at < o.start ? at : o.start;
		o.end = at + ph->p_memsz > o.end ? at + ph->p_memsz : o.end;
		*inside |= address >= at && address - at < ph->p_memsz;
	}
	return o;
}

/* glibc 2.35: no lock, about 10 ns (our functions may be called often by code that is not a model). Older versions lack it, whatever this
 * was built with: hence a weak reference, and the structure as in <dlfcn.h> of glibc 2.35. */
#if !__GLIBC_PREREQ(2, 35)
struct dl_find_object {
	unsigned long long dlfo_flags;
	void *dlfo_map_start, *dlfo_map_end;
	struct link_map *dlfo_link_map;
	void *dlfo_eh_frame;
	unsigned long long reserved[8];
};
int _dl_find_object(void *address, struct dl_find_object *found);
#endif
#pragma weak _dl_find_object

struct phdr_search {
	uintptr_t address;
	struct object *o;
	bool found;
};

static int search_phdr(struct dl_phdr_info *info, size_t size, void *user)
{
	(void)size;
	struct phdr_search *s = user;
	bool inside;
	struct object o = object_of(info, s->address, &inside);
	if (!inside)
		return 0;
	*s->o = o;
	return s->found = true;
}

bool object_at(const void *address, struct object *o)
{
	struct dl_find_object found;
	struct phdr_search s = {(uintptr_t)address, o, false};
	*o = (struct object){0};
	if (!_dl_find_object) {
		dl_iterate_phdr(search_phdr, &s);
		return s.found && read_dynamic(o);
	}
	if (_dl_find_object((void *)(uintptr_t)address, &found) || !found.dlfo_link_map)
		return false;
	o->base = found.dlfo_link_map->l_addr;
	o->start = (uintptr_t)found.dlfo_map_start;
	o->end = (uintptr_t)found.dlfo_map_end;
	o->name = found.dlfo_link_map->l_name;
	o->dynamic = found.dlfo_link_map->l_ld;
	return read_dynamic(o);
}

static bool defines(const struct object *o, const ElfW(Sym) * s, const char *name)
{
	return s->st_shndx != SHN_UNDEF && s->st_name < o->str_size && !strcmp(o->str + s->st_name, name);
}

static ElfW(Sym) * find_gnu(const struct object *o, const char *name)
{
	const uint32_t *table = o->gnu_hash;
	uint32_t n_buckets = table[0], first = table[1], n_bloom = table[2], shift = table[3];
	const ElfW(Addr) *bloom = (const ElfW(Addr) *)(table + 4);
	const uint32_t *bucket = (const uint32_t *)(bloom + n_bloom), *chain = bucket + n_buckets;
	uint32_t h = 5381;
	for (const unsigned char *p = (const unsigned char *)name; *p; p++)
		h = h * 33 + *p;
	const unsigned bits = 8 * sizeof(*bloom);
	if (!n_buckets || !n_bloom)
		return NULL;
	ElfW(Addr) word = bloom[h / bits % n_bloom];
	if (!(word >> h % bits & word >> (h >> shift) % bits & 1))
		return NULL;
	for (uint32_t i = bucket[h % n_buckets]; i >= first && i; i++) {
		uint32_t c = chain[i - first];
		if ((c | 1) == (h | 1) && defines(o, &o->sym[i], name))
			return &o->sym[i];
		if (c & 1)
			break;
	}
	return NULL;
}

static ElfW(Sym) * find_sysv(const struct object *o, const char *name)
{
	uint32_t n_buckets = o->hash[0], n_chain = o->hash[1], h = 0;
	const uint32_t *bucket = o->hash + 2, *chain = bucket + n_buckets;
	for (const unsigned char *p = (const unsigned char *)name; *p; p++) {
		h = (h << 4) + *p;
		h = (h ^ (h >> 24 & 0xf0)) & 0x0fffffff;
	}
	if (!n_buckets)
		return NULL;
	for (uint32_t i = bucket[h % n_buckets], k = 0; i && i < n_chain && k < n_chain; i = chain[i], k++)
		if (defines(o, &o->sym[i], name))
			return &o->sym[i];
	return NULL;
}

ElfW(Sym) * object_export(const struct object *o, const char *name) { return o->gnu_hash ? find_gnu(o, name) : find_sysv(o, name); }

/* The page's protection as set by the loader: the segment's flags, minus what RELRO removed. -1 if unknown. */
struct page_search {
	uintptr_t address;
	int prot;
};

static int search_page(struct dl_phdr_info *info, size_t size, void *user)
{
	(void)size;
	struct page_search *s = user;
	bool relro = false;
	for (ElfW(Half) i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + ph->p_vaddr;
		bool in = s->address >= at && s->address - at < ph->p_memsz;
		if (in && ph->p_type == PT_LOAD)
			s->prot = (ph->p_flags & PF_R ? PROT_READ : 0) | (ph->p_flags & PF_W ? PROT_WRITE : 0) |
				  (ph->p_flags & PF_X ? PROT_EXEC : 0);
		relro |= in && ph->p_type == PT_GNU_RELRO;
	}
	if (s->prot >= 0 && relro)
		s->prot &= ~PROT_WRITE;
	return s->prot >= 0;
}

/* Writes past the page's protection if mprotect may not make code writable. */
static int write_forced(void *at, uintptr_t value)
{
	int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ssize_t n = pwrite(fd, &value, sizeof(value), (off_t)(uintptr_t)at);
	int why = errno;
	close(fd);
	errno = why;
	return n == (ssize_t)sizeof(value) ? 0 : -1;
}

int object_write(uintptr_t *at, uintptr_t value)
{
	struct page_search s = {(uintptr_t)at, -1};
	dl_iterate_phdr(search_page, &s);
	if (s.prot < 0) {
		errno = EFAULT;
		return -1;
	}
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *start = (void *)((uintptr_t)at & ~(page - 1));
	if (!(s.prot & PROT_WRITE) && mprotect(start, page, s.prot | PROT_WRITE) < 0)
		return write_forced(at, value);
	__atomic_store_n(at, value, __ATOMIC_RELEASE);
	if (!(s.prot & PROT_WRITE))
		mprotect(start, page, s.prot);
	return 0;
}

int object_redirect(const struct object *o, ElfW(Sym) * s, const void *to) { return object_write(&s->st_value, (uintptr_t)to - o->base); }

struct relocations {
	uintptr_t rela, plt;
	size_t rela_size, plt_size;
};

static struct relocations read_relocations(const struct object *o)
{
	struct relocations t = {0};
	for (const ElfW(Dyn) *d = o->dynamic; d->d_tag != DT_NULL; d++) {
		switch (d->d_tag) {
		case DT_RELA: t.rela = dynamic_address(o, d->d_un.d_ptr); break;
		case DT_RELASZ: t.rela_size = d->d_un.d_val; break;
		case DT_JMPREL: t.plt = dynamic_address(o, d->d_un.d_ptr); break;
		case DT_PLTRELSZ: t.plt_size = d->d_un.d_val; break;
		}
	}
	return t;
}

void object_slots(const struct object *o, void (*slot)(void *user, uintptr_t *at, const ElfW(Sym) * s, const char *name), void *user)
{
	struct relocations t = read_relocations(o);
	for (int which = 0; which < 2; which++) {
		const ElfW(Rela) *r = (const ElfW(Rela) *)(which ? t.plt : t.rela);
		size_t n = (which ? t.plt_size : t.rela_size) / sizeof(*r);
		for (size_t i = 0; r && i < n; i++) {
			uint32_t k = (uint32_t)ELF64_R_SYM(r[i].r_info);
			if (k && object_fills_slot((uint32_t)ELF64_R_TYPE(r[i].r_info), r[i].r_addend) && o->sym[k].st_name < o->str_size)
				slot(user, (uintptr_t *)(o->base + r[i].r_offset), &o->sym[k], o->str + o->sym[k].st_name);
		}
	}
}

struct each {
	void (*fn)(void *user, const struct object *o);
	void *user;
};

static int each_object(struct dl_phdr_info *info, size_t size, void *user)
{
	(void)size;
	const struct each *e = user;
	bool inside;
	struct object o = object_of(info, 0, &inside);
	if (o.dynamic && read_dynamic(&o))
		e->fn(e->user, &o);
	return 0;
}

void object_each(void (*fn)(void *user, const struct object *o), void *user)
{
	struct each e = {fn, user};
	dl_iterate_phdr(each_object, &e);
}

static int count_loaded(struct dl_phdr_info *info, size_t size, void *user)
{
	(void)size;
	*(uint64_t *)user = info->dlpi_adds;
	return 1;
}

uint64_t object_loaded(void)
{
	uint64_t n = 0;
	dl_iterate_phdr(count_loaded, &n);
	return n;
}

/* Programs that were linked against the model. */

struct rebind {
	const char *needed; /* its name in their DT_NEEDED */
	const char *symbol;
	uintptr_t from, to;
};

static void rebind_table(const struct object *o, const struct rebind *r, uintptr_t table, size_t bytes)
{
	const ElfW(Rela) *rela = (const ElfW(Rela) *)table;
	for (size_t i = 0; i < bytes / sizeof(*rela); i++) {
		uint32_t k = (uint32_t)ELF64_R_SYM(rela[i].r_info);
		if (!k || o->sym[k].st_name >= o->str_size || strcmp(o->str + o->sym[k].st_name, r->symbol))
			continue;
		uintptr_t *slot = (uintptr_t *)(o->base + rela[i].r_offset);
		/* A lazily bound slot does not have it yet: it will find what dlsym finds. */
		if (*slot == r->from)
			object_write(slot, r->to);
	}
}

static int rebind_object(struct dl_phdr_info *info, size_t size, void *user)
{
	(void)size;
	const struct rebind *r = user;
	bool inside;
	struct object o = object_of(info, 0, &inside);
	if (!o.dynamic || !read_dynamic(&o))
		return 0;
	bool needs = false;
	struct relocations t = read_relocations(&o);
	for (const ElfW(Dyn) *d = o.dynamic; d->d_tag != DT_NULL; d++)
		needs |= d->d_tag == DT_NEEDED && d->d_un.d_val < o.str_size && !strcmp(o.str + d->d_un.d_val, r->needed);
	if (needs) {
		rebind_table(&o, r, t.rela, t.rela_size);
		rebind_table(&o, r, t.plt, t.plt_size);
	}
	return 0;
}

void object_rebind(const struct object *o, const char *symbol, const void *from, const void *to)
{
	struct rebind r = {.symbol = symbol, .from = (uintptr_t)from, .to = (uintptr_t)to};
	for (const ElfW(Dyn) *d = o->dynamic; d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_SONAME && d->d_un.d_val < o->str_size)
			r.needed = o->str + d->d_un.d_val;
	if (!r.needed) {
		/* Without a SONAME the linker records the file name unchanged: with a slash it is a path. */
		r.needed = path_base(o->name);
		dl_iterate_phdr(rebind_object, &r);
		r.needed = o->name;
	}
	dl_iterate_phdr(rebind_object, &r);
}
