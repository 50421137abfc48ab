/* The function at an address, by the symbols of its file (ELF64). */
#include "cuda.h"

#include <elf.h>
#include <string.h>

static bool within(size_t n, uint64_t at, uint64_t len) { return at <= n && len <= n - at; }

static bool section(const char *p, size_t n, const Elf64_Ehdr *e, uint32_t i, Elf64_Shdr *s)
{
	if (i >= e->e_shnum)
		return false;
	memcpy(s, p + e->e_shoff + (size_t)i * sizeof(*s), sizeof(*s));
	return s->sh_type == SHT_NOBITS || within(n, s->sh_offset, s->sh_size);
}

static bool symbol_in(const char *p, const Elf64_Shdr *symbols, const Elf64_Shdr *strings, uint64_t address, char *name, size_t room)
{
	for (uint64_t i = 0; i < symbols->sh_size / sizeof(Elf64_Sym); i++) {
		Elf64_Sym s;
		memcpy(&s, p + symbols->sh_offset + i * sizeof(s), sizeof(s));
		if (s.st_value != address || ELF64_ST_TYPE(s.st_info) != STT_FUNC || s.st_shndx == SHN_UNDEF || s.st_name >= strings->sh_size)
			continue;
		const char *text = p + strings->sh_offset + s.st_name;
		size_t len = strnlen(text, strings->sh_size - s.st_name);
		if (!len || len >= room || len == strings->sh_size - s.st_name)
			continue;
		memcpy(name, text, len + 1);
		return true;
	}
	return false;
}

bool cuda_symbol_at(const void *elf, size_t n, uint64_t address, char *name, size_t room)
{
	static const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM};
	const char *p = elf;
	Elf64_Ehdr e;
	Elf64_Shdr symbols, strings;
	if (n < sizeof(e))
		return false;
	memcpy(&e, p, sizeof(e));
	if (memcmp(e.e_ident, ELFMAG, SELFMAG) || e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_shentsize != sizeof(symbols) ||
	    !within(n, e.e_shoff, (uint64_t)e.e_shnum * sizeof(symbols)))
		return false;
	/* There is one of each. */
	for (size_t t = 0; t < ARRAY_LEN(types); t++) {
		uint32_t i = 0;
		while (i < e.e_shnum && !(section(p, n, &e, i, &symbols) && symbols.sh_type == types[t]))
			i++;
		if (i < e.e_shnum && section(p, n, &e, symbols.sh_link, &strings) && strings.sh_type == SHT_STRTAB &&
		    symbol_in(p, &symbols, &strings, address, name, room))
			return true;
	}
	return false;
}
