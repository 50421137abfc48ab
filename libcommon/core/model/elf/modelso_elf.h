/* modelso_elf.h - a 64-bit little-endian ELF file's sections, checked against its bytes once. For modelso*.c, cubin.c and libprobe.
 *
 * libelf is not used: it trusts chains and string offsets, which may be wrong in a hostile file; and structures are copied out here, so a
 * library at an unaligned offset of a zip is read like any other.
 */
#ifndef PT2_MODELSO_ELF_H
#define PT2_MODELSO_ELF_H
#include <elf.h>

#include "base/base.h"

#define ELF_MAX_NAME 16384 /* bytes of a symbol's name; C++ reaches 4 KB */
/* Bytes of a table, whose rows take more memory than their size: 1 MB in a compressed package can become 1 GiB of them. libtorch_cpu.so of
 * torch 2.15 has 2 MB of dynamic symbols and 13 MB of others. */
#define ELF_MAX_TABLE (16u << 20)
#define ELF_MAX_SYMTAB (64u << 20)

struct elf_view {
	struct slice bytes;
	Elf64_Ehdr eh;
	uint32_t n;         /* sections */
	struct slice names; /* of sections */
};

/* Checks the header, the section table and the bounds of every section; err says what is wrong. */
int elf_view_open(struct elf_view *v, struct slice bytes, const char *name, struct err *err);
/* False if i is not a section. */
bool elf_section(const struct elf_view *v, uint32_t i, Elf64_Shdr *sh);
/* False if i is not a segment, or is out of bounds. */
bool elf_segment(const struct elf_view *v, size_t i, Elf64_Phdr *ph);
/* Index of the first section with this name (name) or type (name NULL), 0 for none. */
uint32_t elf_find(const struct elf_view *v, const char *name, uint32_t type);
/* Its bytes, empty for one without (SHT_NOBITS). */
struct slice elf_data(const struct elf_view *v, const Elf64_Shdr *sh);
struct slice elf_name(const struct elf_view *v, const Elf64_Shdr *sh);
/* The string at an offset of a string table; empty if it is out of bounds, unterminated, or too long. */
struct slice elf_str(struct slice table, uint64_t offset);

/* The bytes of the first section of this type, and of the strings that it refers to. False, with both unchanged, if there is none. */
bool elf_table(const struct elf_view *v, uint32_t type, struct slice *data, struct slice *strings);

/* Symbols of the table of this type: entries and names. False if there is none. */
struct elf_symbols {
	struct slice entries, strings;
	size_t n;
	uint32_t section;
};
bool elf_symbols(const struct elf_view *v, uint32_t type, struct elf_symbols *s);
Elf64_Sym elf_symbol(const struct elf_symbols *s, size_t i);
struct slice elf_symbol_name(const struct elf_symbols *s, const Elf64_Sym *sym);

/* The entries of .dynamic, up to DT_NULL: `for (size_t i = 0; elf_dynamic(&d, i, &entry); i++)`. No entries if the section is missing. */
struct elf_dynamic {
	struct slice entries, strings;
};
void elf_dynamic_open(struct elf_dynamic *d, const struct elf_view *v);
bool elf_dynamic(const struct elf_dynamic *d, size_t i, Elf64_Dyn *entry);

/* Called for each entry of .gnu.version_r. */
typedef void elf_need(void *arg, struct slice library, struct slice version, const Elf64_Vernaux *aux);
void elf_version_needs(const struct elf_view *v, elf_need *each, void *arg);
/* Called for each version that .gnu.version_d defines, except the file's own name. */
typedef void elf_def(void *arg, struct slice version);
void elf_version_defs(const struct elf_view *v, elf_def *each, void *arg);

#endif
