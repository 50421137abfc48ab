/* elf.h - small libraries made to order: what no recorded model has (CUDA code, other runtimes, damage).
 *
 *     struct buf b = {0};
 *     elf_make(&b, &(struct elf_order){.needed = {"libtorch_cpu.so"}, .symbol = {{"aoti_torch_clone"}}, .n_symbol =
 * 1});
 *     ... b is a shared library as far as modelso_open looks
 */
#ifndef PT2_TEST_ELF_H
#define PT2_TEST_ELF_H
#include <elf.h>

#include "base/buf.h"

#ifdef __clang__ /* {"aoti_torch_clone"} is an import and nothing else; gcc does not mind */
#pragma clang diagnostic ignored "-Wmissing-field-initializers"
#endif

enum { ELF_DYNSYM = 1, ELF_DYNSTR, ELF_VERSYM, ELF_VERNEED, ELF_RODATA, ELF_LRODATA, ELF_DYNAMIC, ELF_SHSTRTAB, ELF_SECTIONS };
enum { ELF_BASE = 0x10000 }; /* address of .rodata; .lrodata follows 0x10000 later, and so on */

struct elf_order_symbol {
	const char *name;
	const char *library, *version; /* an import with a version */
	unsigned section;              /* 0: an import */
	uint64_t at, size;             /* from the start of the section */
	bool func, weak;
};

struct elf_order {
	const char *needed[16], *rpath, *soname;
	struct elf_order_symbol symbol[64];
	unsigned n_symbol;
	struct slice rodata, lrodata;
	uint16_t machine; /* 0: x86_64 */
	bool bind_now;
};

static inline uint32_t elf_string(struct buf *b, const char *s)
{
	uint32_t at = (uint32_t)b->len;
	buf_add(b, s, strlen(s) + 1);
	return at;
}

static inline void elf_dyn(struct buf *b, int64_t tag, uint64_t val)
{
	Elf64_Dyn d = {.d_tag = tag, .d_un.d_val = val};
	buf_add(b, &d, sizeof(d));
}

static inline uint64_t elf_address(unsigned section) { return (uint64_t)ELF_BASE * (section - ELF_RODATA + 1); }

static inline void elf_symbols_to(struct buf *sec, const struct elf_order *o)
{
	Elf64_Sym none = {0};
	uint16_t version = 0, next = 2;
	buf_add(&sec[ELF_DYNSYM], &none, sizeof(none));
	buf_add(&sec[ELF_VERSYM], &version, 2);
	for (unsigned i = 0; i < o->n_symbol; i++) {
		const struct elf_order_symbol *s = &o->symbol[i];
		Elf64_Sym sym = {.st_name = elf_string(&sec[ELF_DYNSTR], s->name), .st_shndx = (uint16_t)s->section, .st_size = s->size};
		sym.st_info = ELF64_ST_INFO(s->weak ? STB_WEAK : STB_GLOBAL, s->func ? STT_FUNC : STT_NOTYPE);
		sym.st_value = s->section ? elf_address(s->section) + s->at : 0;
		version = s->version ? next++ : 1;
		buf_add(&sec[ELF_DYNSYM], &sym, sizeof(sym));
		buf_add(&sec[ELF_VERSYM], &version, 2);
		if (!s->version)
			continue;
		Elf64_Verneed vn = {1, 1, elf_string(&sec[ELF_DYNSTR], s->library), sizeof(vn), sizeof(vn) + sizeof(Elf64_Vernaux)};
		Elf64_Vernaux aux = {.vna_other = version, .vna_name = elf_string(&sec[ELF_DYNSTR], s->version)};
		buf_add(&sec[ELF_VERNEED], &vn, sizeof(vn));
		buf_add(&sec[ELF_VERNEED], &aux, sizeof(aux));
	}
	if (sec[ELF_VERNEED].len) /* the last one has no next */
		memset(sec[ELF_VERNEED].p + sec[ELF_VERNEED].len - sizeof(Elf64_Vernaux) - 4, 0, 4);
}

static inline void elf_dynamic_to(struct buf *sec, const struct elf_order *o)
{
	for (unsigned i = 0; o->needed[i]; i++)
		elf_dyn(&sec[ELF_DYNAMIC], DT_NEEDED, elf_string(&sec[ELF_DYNSTR], o->needed[i]));
	if (o->rpath)
		elf_dyn(&sec[ELF_DYNAMIC], DT_RUNPATH, elf_string(&sec[ELF_DYNSTR], o->rpath));
	if (o->soname)
		elf_dyn(&sec[ELF_DYNAMIC], DT_SONAME, elf_string(&sec[ELF_DYNSTR], o->soname));
	if (o->bind_now)
		elf_dyn(&sec[ELF_DYNAMIC], DT_FLAGS, DF_BIND_NOW);
	elf_dyn(&sec[ELF_DYNAMIC], DT_NULL, 0);
}

static inline void elf_make(struct buf *b, const struct elf_order *o)
{
	static const char *const name[ELF_SECTIONS] = {"",        ".dynsym",  ".dynstr",  ".gnu.version", ".gnu.version_r",
						       ".rodata", ".lrodata", ".dynamic", ".shstrtab"};
	static const uint32_t type[ELF_SECTIONS] = {SHT_NULL,     SHT_DYNSYM,   SHT_STRTAB,  SHT_GNU_versym, SHT_GNU_verneed,
						    SHT_PROGBITS, SHT_PROGBITS, SHT_DYNAMIC, SHT_STRTAB};
	static const uint32_t link[ELF_SECTIONS] = {0, ELF_DYNSTR, 0, ELF_DYNSYM, ELF_DYNSTR, 0, 0, ELF_DYNSTR, 0};
	struct buf sec[ELF_SECTIONS] = {0};
	Elf64_Shdr sh[ELF_SECTIONS] = {0};
	Elf64_Ehdr eh = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT}, .e_type = ET_DYN, .e_version = 1};
	elf_string(&sec[ELF_DYNSTR], "");
	elf_symbols_to(sec, o);
	elf_dynamic_to(sec, o);
	buf_add_slice(&sec[ELF_RODATA], o->rodata);
	buf_add_slice(&sec[ELF_LRODATA], o->lrodata);
	for (unsigned i = 0; i < ELF_SECTIONS; i++)
		sh[i].sh_name = elf_string(&sec[ELF_SHSTRTAB], name[i]);
	buf_reset(b);
	buf_add(b, &eh, sizeof(eh));
	for (unsigned i = 1; i < ELF_SECTIONS; i++) {
		while (b->len % 8)
			buf_addc(b, 0);
		sh[i].sh_type = type[i];
		sh[i].sh_link = link[i];
		sh[i].sh_flags = i == ELF_RODATA || i == ELF_LRODATA ? SHF_ALLOC : 0;
		sh[i].sh_addr = i == ELF_RODATA || i == ELF_LRODATA ? elf_address(i) : 0;
		sh[i].sh_offset = b->len;
		sh[i].sh_size = sec[i].len;
		buf_add_slice(b, buf_slice(&sec[i]));
		buf_release(&sec[i]);
	}
	while (b->len % 8)
		buf_addc(b, 0);
	eh.e_machine = o->machine ? o->machine : EM_X86_64;
	eh.e_shoff = b->len;
	eh.e_ehsize = sizeof(eh);
	eh.e_shentsize = sizeof(Elf64_Shdr);
	eh.e_shnum = ELF_SECTIONS;
	eh.e_shstrndx = ELF_SHSTRTAB;
	buf_add(b, sh, sizeof(sh));
	memcpy(b->p, &eh, sizeof(eh));
}

#endif
