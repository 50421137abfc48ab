#include "model/elf/modelso_elf.h"

static int check_header(struct elf_view *v, const char *name, struct err *err)
{
	size_t size = v->bytes.n;
	if (size < sizeof(v->eh))
		return err_set(err, EXIT_INPUT, "'%s' ends within its ELF header (%zu bytes): it was truncated", name, size);
	memcpy(&v->eh, v->bytes.p, sizeof(v->eh));
	const Elf64_Ehdr *e = &v->eh;
	if (!e->e_shoff)
		return err_set(err, EXIT_INPUT,
			       "'%s' has no section table (stripped by sstrip?): use the library as "
			       "compiled",
			       name);
	if (e->e_shentsize != sizeof(Elf64_Shdr))
		return err_set(err, EXIT_INPUT,
			       "'%s': entries of the section table have %u bytes instead of %zu: the ELF "
			       "header is damaged",
			       name, e->e_shentsize, sizeof(Elf64_Shdr));
	if (e->e_shoff > size || size - e->e_shoff < sizeof(Elf64_Shdr))
		return err_set(err, EXIT_INPUT,
			       "'%s': the section table is at 0x%llx, but the file has 0x%zx bytes: it "
			       "was truncated or damaged",
			       name, (unsigned long long)e->e_shoff, size);
	return 0;
}

/* More than 65279 sections: the count is in section 0. */
static int count_sections(struct elf_view *v, const char *name, struct err *err)
{
	Elf64_Shdr first;
	memcpy(&first, v->bytes.p + v->eh.e_shoff, sizeof(first));
	uint64_t n = v->eh.e_shnum ? v->eh.e_shnum : first.sh_size;
	if (!n || n > (v->bytes.n - v->eh.e_shoff) / sizeof(Elf64_Shdr))
		return err_set(err, EXIT_INPUT,
			       "'%s': the section table should have %llu entries, but the file has 0x%zx "
			       "bytes: it was truncated or damaged",
			       name, (unsigned long long)n, v->bytes.n);
	v->n = n > UINT32_MAX ? NONE : (uint32_t)n;
	return 0;
}

static uint64_t largest(uint32_t type)
{
	switch (type) {
	case SHT_SYMTAB: return ELF_MAX_SYMTAB;
	case SHT_DYNSYM:
	case SHT_DYNAMIC:
	case SHT_GNU_versym:
	case SHT_GNU_verneed:
	case SHT_GNU_verdef: return ELF_MAX_TABLE;
	default: return UINT64_MAX;
	}
}

static int check_sections(struct elf_view *v, const char *name, struct err *err)
{
	Elf64_Shdr sh;
	uint32_t names = v->eh.e_shstrndx;
	if (names == SHN_XINDEX && elf_section(v, 0, &sh))
		names = sh.sh_link;
	if (!elf_section(v, names, &sh) || !names)
		return err_set(err, EXIT_INPUT,
			       "'%s': the names of its %u sections should be in section %u: the "
			       "section table is damaged",
			       name, v->n, names);
	for (uint32_t i = 0; i < v->n; i++) { /* also for 0: links may point there, whatever its type */
		elf_section(v, i, &sh);
		if (sh.sh_type != SHT_NOBITS && sh.sh_type != SHT_NULL &&
		    (sh.sh_offset > v->bytes.n || sh.sh_size > v->bytes.n - sh.sh_offset))
			return err_set(err, EXIT_INPUT,
				       "'%s': section %u is at 0x%llx with 0x%llx bytes, but the file has 0x%zx: it was "
				       "truncated, or its section table is damaged",
				       name, i, (unsigned long long)sh.sh_offset, (unsigned long long)sh.sh_size, v->bytes.n);
		if (sh.sh_size > largest(sh.sh_type))
			return err_set(err, EXIT_INPUT,
				       "'%s': section %u is a table of %llu MiB, but at most %llu are read: it is damaged, or made to "
				       "exhaust memory",
				       name, i, (unsigned long long)sh.sh_size >> 20, (unsigned long long)largest(sh.sh_type) >> 20);
	}
	elf_section(v, names, &sh);
	v->names = elf_data(v, &sh);
	return 0;
}

int elf_view_open(struct elf_view *v, struct slice bytes, const char *name, struct err *err)
{
	*v = (struct elf_view){.bytes = bytes};
	if (check_header(v, name, err) < 0 || count_sections(v, name, err) < 0)
		return -1;
	return check_sections(v, name, err);
}

bool elf_section(const struct elf_view *v, uint32_t i, Elf64_Shdr *sh)
{
	if (i >= v->n)
		return false;
	memcpy(sh, v->bytes.p + v->eh.e_shoff + (uint64_t)i * sizeof(*sh), sizeof(*sh));
	return true;
}

bool elf_segment(const struct elf_view *v, size_t i, Elf64_Phdr *ph)
{
	uint64_t at = v->eh.e_phoff;
	if (i >= v->eh.e_phnum || v->eh.e_phentsize != sizeof(*ph) || at > v->bytes.n || (v->bytes.n - at) / sizeof(*ph) <= i)
		return false;
	memcpy(ph, v->bytes.p + at + i * sizeof(*ph), sizeof(*ph));
	return true;
}

struct slice elf_data(const struct elf_view *v, const Elf64_Shdr *sh)
{
	if (sh->sh_type == SHT_NOBITS || sh->sh_type == SHT_NULL)
		return (struct slice){v->bytes.p, 0};
	return slice_of(v->bytes.p + sh->sh_offset, sh->sh_size);
}

struct slice elf_name(const struct elf_view *v, const Elf64_Shdr *sh) { return elf_str(v->names, sh->sh_name); }

uint32_t elf_find(const struct elf_view *v, const char *name, uint32_t type)
{
	Elf64_Shdr sh;
	for (uint32_t i = 1; elf_section(v, i, &sh); i++)
		if (name ? slice_is(elf_name(v, &sh), name) : sh.sh_type == type)
			return i;
	return 0;
}

struct slice elf_str(struct slice table, uint64_t offset)
{
	if (offset >= table.n)
		return (struct slice){"", 0};
	size_t left = table.n - offset;
	const char *p = table.p + offset, *end = memchr(p, 0, left < ELF_MAX_NAME ? left : ELF_MAX_NAME);
	return end ? slice_of(p, (size_t)(end - p)) : (struct slice){"", 0};
}

bool elf_symbols(const struct elf_view *v, uint32_t type, struct elf_symbols *s)
{
	Elf64_Shdr sh, strings;
	uint32_t i = elf_find(v, NULL, type);
	if (!i || !elf_section(v, i, &sh) || !elf_section(v, sh.sh_link, &strings) || strings.sh_type != SHT_STRTAB)
		return false;
	s->section = i;
	s->entries = elf_data(v, &sh);
	s->strings = elf_data(v, &strings);
	s->n = s->entries.n / sizeof(Elf64_Sym);
	return true;
}

Elf64_Sym elf_symbol(const struct elf_symbols *s, size_t i)
{
	Elf64_Sym sym;
	memcpy(&sym, s->entries.p + i * sizeof(sym), sizeof(sym));
	return sym;
}

struct slice elf_symbol_name(const struct elf_symbols *s, const Elf64_Sym *sym) { return elf_str(s->strings, sym->st_name); }

/* A record of a chain of versions; false if it would be out of bounds. */
static bool record(struct slice data, uint64_t at, void *to, size_t n)
{
	if (at > data.n || data.n - at < n)
		return false;
	memcpy(to, data.p + at, n);
	return true;
}

bool elf_table(const struct elf_view *v, uint32_t type, struct slice *data, struct slice *strings)
{
	Elf64_Shdr sh, str;
	uint32_t i = elf_find(v, NULL, type);
	if (!i || !elf_section(v, i, &sh) || !elf_section(v, sh.sh_link, &str))
		return false;
	*data = elf_data(v, &sh);
	*strings = elf_data(v, &str);
	return true;
}

/* Chains only go forward, by whole records; `left` bounds them all, so that nested ones cannot multiply. */
void elf_version_needs(const struct elf_view *v, elf_need *each, void *arg)
{
	struct slice data, strings;
	if (!elf_table(v, SHT_GNU_verneed, &data, &strings))
		return;
	Elf64_Verneed vn;
	Elf64_Vernaux aux;
	size_t left = data.n / sizeof(vn);
	for (uint64_t at = 0; left && record(data, at, &vn, sizeof(vn)); at += vn.vn_next) {
		left--;
		uint64_t a = at + vn.vn_aux;
		for (unsigned k = 0; k < vn.vn_cnt && left && record(data, a, &aux, sizeof(aux)); k++, left--) {
			each(arg, elf_str(strings, vn.vn_file), elf_str(strings, aux.vna_name), &aux);
			if (aux.vna_next < sizeof(aux))
				break;
			a += aux.vna_next;
		}
		if (vn.vn_next < sizeof(vn))
			break;
	}
}

void elf_version_defs(const struct elf_view *v, elf_def *each, void *arg)
{
	struct slice data, strings;
	if (!elf_table(v, SHT_GNU_verdef, &data, &strings))
		return;
	Elf64_Verdef vd;
	Elf64_Verdaux aux;
	for (uint64_t at = 0; record(data, at, &vd, sizeof(vd)); at += vd.vd_next) {
		if (!(vd.vd_flags & VER_FLG_BASE) && record(data, at + vd.vd_aux, &aux, sizeof(aux)))
			each(arg, elf_str(strings, aux.vda_name));
		if (vd.vd_next < sizeof(vd))
			break;
	}
}

/* ---- the dynamic section ---- */

void elf_dynamic_open(struct elf_dynamic *d, const struct elf_view *v)
{
	*d = (struct elf_dynamic){0};
	elf_table(v, SHT_DYNAMIC, &d->entries, &d->strings);
}

bool elf_dynamic(const struct elf_dynamic *d, size_t i, Elf64_Dyn *entry)
{
	if (i >= d->entries.n / sizeof(*entry))
		return false;
	memcpy(entry, d->entries.p + i * sizeof(*entry), sizeof(*entry));
	return entry->d_tag != DT_NULL;
}
