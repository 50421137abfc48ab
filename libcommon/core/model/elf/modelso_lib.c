/* System libraries: the symbols they define. */
#include "model/elf/modelso_part.h"

struct definer {
	modelso_each *each;
	void *arg;
};

static void version_def(void *arg, struct slice version)
{
	const struct definer *d = arg;
	d->each(d->arg, version);
}

static void soname(struct modelso_lib *l, const struct elf_view *v)
{
	struct elf_dynamic dynamic;
	Elf64_Dyn d;
	elf_dynamic_open(&dynamic, v);
	for (size_t i = 0; elf_dynamic(&dynamic, i, &d); i++)
		if (d.d_tag == DT_SONAME)
			l->soname = elf_str(dynamic.strings, d.d_un.d_val);
}

static int open_lib(struct elf_view *v, struct slice bytes, const char *name, struct err *err)
{
	bool elf;
	const char *what = modelso_what(bytes, &elf);
	if (!elf || bytes.n < EI_NIDENT || bytes.p[EI_CLASS] != ELFCLASS64 || bytes.p[EI_DATA] != ELFDATA2LSB)
		return err_set(err, EXIT_INPUT, "'%s' is %s, not a 64-bit ELF library", name, what ? what : "something else");
	return elf_view_open(v, bytes, name, err);
}

int modelso_lib_read(struct modelso_lib *l, struct slice bytes, const char *name, modelso_each *version, modelso_each *exported, void *arg,
		     struct err *err)
{
	struct elf_view v;
	struct elf_symbols s;
	*l = (struct modelso_lib){0};
	if (open_lib(&v, bytes, name, err) < 0)
		return -1;
	l->machine = v.eh.e_machine;
	soname(l, &v);
	if (version)
		elf_version_defs(&v, version_def, &(struct definer){version, arg});
	if (!exported || !elf_symbols(&v, SHT_DYNSYM, &s))
		return 0;
	for (size_t i = 1; i < s.n; i++) {
		Elf64_Sym sym = elf_symbol(&s, i);
		if (sym.st_shndx != SHN_UNDEF)
			exported(arg, elf_symbol_name(&s, &sym));
	}
	return 0;
}

int modelso_lib_needed(struct slice bytes, const char *name, modelso_each *each, void *arg, struct err *err)
{
	struct elf_view v;
	struct elf_dynamic dynamic;
	Elf64_Dyn d;
	if (open_lib(&v, bytes, name, err) < 0)
		return -1;
	elf_dynamic_open(&dynamic, &v);
	for (size_t i = 0; elf_dynamic(&dynamic, i, &d); i++)
		if (d.d_tag == DT_NEEDED)
			each(arg, elf_str(dynamic.strings, d.d_un.d_val));
	return 0;
}
