/* Libraries of the system: what they define. */
#include "aoti/modelso_part.h"

static void add_def(void *arg, struct slice version) { intern_add(arg, version); }

static void soname(struct modelso_lib *l, const struct elf_view *v)
{
	Elf64_Shdr sh, str;
	uint32_t i = elf_find(v, NULL, SHT_DYNAMIC);
	if (!i || !elf_section(v, i, &sh) || !elf_section(v, sh.sh_link, &str))
		return;
	struct slice data = elf_data(v, &sh), strings = elf_data(v, &str);
	for (size_t at = 0; data.n - at >= sizeof(Elf64_Dyn); at += sizeof(Elf64_Dyn)) {
		Elf64_Dyn d;
		memcpy(&d, data.p + at, sizeof(d));
		if (d.d_tag == DT_NULL)
			break;
		if (d.d_tag == DT_SONAME)
			l->soname = elf_str(strings, d.d_un.d_val);
	}
}

static void exports(struct modelso_lib *l, const struct elf_view *v, const char *const *prefixes)
{
	struct elf_symbols s;
	if (!elf_symbols(v, SHT_DYNSYM, &s))
		return;
	for (size_t i = 1; i < s.n; i++) {
		Elf64_Sym sym = elf_symbol(&s, i);
		if (sym.st_shndx == SHN_UNDEF)
			continue;
		struct slice name = elf_symbol_name(&s, &sym);
		for (const char *const *p = prefixes; *p; p++)
			if (slice_starts(name, *p)) {
				intern_add(&l->exports, name);
				break;
			}
		/* torch's own functions only: the library may carry a few templates of either kind from others */
		if (slice_starts(name, "_ZN2at") || slice_starts(name, "_ZN3c10")) {
			l->cxx11_abi = l->cxx11_abi || slice_find(name, "7__cxx1112basic_string");
			l->old_abi = l->old_abi || slice_find(name, "RKSs");
		}
	}
}

int modelso_lib_read(struct modelso_lib *l, struct slice bytes, const char *name, const char *const *prefixes,
		     struct err *err)
{
	struct elf_view v;
	bool elf;
	*l = (struct modelso_lib){0};
	const char *what = modelso_what(bytes, &elf);
	if (!elf || bytes.n < EI_NIDENT || bytes.p[EI_CLASS] != ELFCLASS64 || bytes.p[EI_DATA] != ELFDATA2LSB)
		return err_set(err, EXIT_INPUT, "'%s' is %s, not a 64-bit ELF library", name, what ? what : "something else");
	if (elf_view_open(&v, bytes, name, err) < 0)
		return -1;
	l->machine = v.eh.e_machine;
	l->bits = 64;
	soname(l, &v);
	elf_version_defs(&v, add_def, &l->versions);
	if (prefixes)
		exports(l, &v, prefixes);
	return 0;
}

void modelso_lib_release(struct modelso_lib *l)
{
	intern_release(&l->versions);
	intern_release(&l->exports);
	*l = (struct modelso_lib){0};
}
