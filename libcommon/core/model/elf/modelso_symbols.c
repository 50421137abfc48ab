#include "model/elf/modelso_symbols.h"

#include <ctype.h>

#include "model/elf/modelso_elf.h"

enum { MAX_PARTS = 16, PAGE = 4096 };

static bool view_of(const struct modelso *m, struct elf_view *v)
{
	return !m->header_only && elf_view_open(v, m->bytes, m->name, NULL) == 0;
}

/* ---- functions ---- */

static bool functions(const struct modelso *m, struct elf_symbols *s)
{
	struct elf_view v;
	return view_of(m, &v) && (elf_symbols(&v, SHT_SYMTAB, s) || elf_symbols(&v, SHT_DYNSYM, s));
}

static bool is_function(const Elf64_Sym *sym)
{
	return sym->st_shndx != SHN_UNDEF && sym->st_value &&
	       (ELF64_ST_TYPE(sym->st_info) == STT_FUNC || ELF64_ST_TYPE(sym->st_info) == STT_GNU_IFUNC);
}

static void set_symbol(struct modelso_symbol *s, const struct elf_symbols *t, const Elf64_Sym *sym)
{
	*s = (struct modelso_symbol){elf_symbol_name(t, sym), sym->st_value, sym->st_size};
}

bool modelso_symbol_at(const struct modelso *m, uint64_t address, struct modelso_symbol *s)
{
	struct elf_symbols t;
	bool found = false;
	if (!functions(m, &t))
		return false;
	for (size_t i = 1; i < t.n; i++) {
		Elf64_Sym sym = elf_symbol(&t, i);
		if (!is_function(&sym) || address < sym.st_value || address - sym.st_value >= sym.st_size)
			continue;
		if (!found || sym.st_size < s->size)
			set_symbol(s, &t, &sym);
		found = true;
	}
	return found && s->name.n;
}

/* "torch::aot_inductor::Model<int>::run(int) const" -> its components without template arguments. 0: not of that form. */
static size_t parts_of(struct slice name, struct slice part[MAX_PARTS])
{
	size_t n = 0, depth = 0, from = 0, end = 0;
	for (size_t i = 0; i <= name.n; i++) {
		char ch = i < name.n ? name.p[i] : '(';
		if (ch == '<' && i > from) {
			end = depth++ ? end : i;
		} else if (ch == '>' && depth) {
			depth--;
		} else if (!depth && (ch == '(' || (ch == ':' && i + 1 < name.n && name.p[i + 1] == ':'))) {
			struct slice p = slice_trim(slice_of(name.p + from, (end > from ? end : i) - from));
			if (!p.n || n == MAX_PARTS)
				return 0;
			part[n++] = p;
			if (ch == '(')
				return n;
			from = i + 2;
			i++;
		}
	}
	return 0;
}

bool modelso_symbol_is(struct slice mangled, struct slice name)
{
	struct slice part[MAX_PARTS];
	size_t n;
	if (slice_eq(mangled, name))
		return true;
	if (slice_starts(name, "_Z") || !(n = parts_of(name, part)))
		return false;
	if (n == 1 && !slice_starts(mangled, "_Z"))
		return slice_eq(mangled, part[0]);
	/* Itanium C++ ABI: _ZN[K] then each part with its length before it, then E; template arguments follow a part as I...E */
	size_t at = slice_starts(mangled, "_ZNK") ? 4 : slice_starts(mangled, "_ZN") ? 3 : slice_starts(mangled, "_Z") && n == 1 ? 2 : 0;
	if (!at)
		return false;
	for (size_t i = 0; i < n; i++) {
		char head[24];
		int len = snprintf(head, sizeof(head), "%zu", part[i].n);
		if (mangled.n - at < (size_t)len + part[i].n || memcmp(mangled.p + at, head, (size_t)len) ||
		    memcmp(mangled.p + at + len, part[i].p, part[i].n))
			return false;
		at += (size_t)len + part[i].n;
		if (i + 1 < n && at < mangled.n && mangled.p[at] == 'I')
			return false; /* finding the end of its arguments requires a demangler */
	}
	return n == 1 || (at < mangled.n && (mangled.p[at] == 'E' || mangled.p[at] == 'I'));
}

bool modelso_symbol_named(const struct modelso *m, struct slice name, struct modelso_symbol *s)
{
	struct elf_symbols t;
	bool found = false;
	if (!name.n || !functions(m, &t))
		return false;
	for (size_t i = 1; i < t.n; i++) {
		Elf64_Sym sym = elf_symbol(&t, i);
		if (!is_function(&sym) || !modelso_symbol_is(elf_symbol_name(&t, &sym), name))
			continue;
		if (found && sym.st_value != s->address)
			return false;
		set_symbol(s, &t, &sym);
		found = true;
	}
	return found;
}

/* ---- bytes and addresses ---- */

static struct slice bytes_in(const struct elf_view *v, uint64_t address, size_t n)
{
	Elf64_Phdr ph;
	for (unsigned i = 0; elf_segment(v, i, &ph); i++) {
		if (ph.p_type != PT_LOAD || address < ph.p_vaddr || address - ph.p_vaddr >= ph.p_filesz)
			continue;
		uint64_t in = address - ph.p_vaddr, left = ph.p_filesz - in;
		if (ph.p_offset > v->bytes.n || in >= v->bytes.n - ph.p_offset)
			return (struct slice){0};
		uint64_t room = v->bytes.n - ph.p_offset - in;
		left = left < room ? left : room;
		return slice_of(v->bytes.p + ph.p_offset + in, n < left ? n : (size_t)left);
	}
	return (struct slice){0};
}

struct slice modelso_bytes_at(const struct modelso *m, uint64_t address, size_t n)
{
	struct elf_view v;
	return view_of(m, &v) ? bytes_in(&v, address, n) : (struct slice){0};
}

bool modelso_of_file(const struct modelso *m, uint64_t offset, uint64_t *address)
{
	struct elf_view v;
	Elf64_Phdr ph;
	for (unsigned i = 0; view_of(m, &v) && elf_segment(&v, i, &ph); i++)
		if (ph.p_type == PT_LOAD && offset >= ph.p_offset && offset - ph.p_offset < ph.p_filesz) {
			*address = ph.p_vaddr + (offset - ph.p_offset);
			return true;
		}
	return false;
}

bool modelso_of_mapping(const struct modelso *m, uint64_t offset, uint64_t size, uint64_t *address)
{
	struct elf_view v;
	Elf64_Phdr ph;
	for (unsigned i = 0; view_of(m, &v) && elf_segment(&v, i, &ph); i++) {
		uint64_t start = ph.p_vaddr & ~(uint64_t)(PAGE - 1);
		if (ph.p_type != PT_LOAD || !(ph.p_flags & PF_X) || ph.p_filesz > v.bytes.n || offset >= size)
			continue;
		if (((ph.p_vaddr - start + ph.p_filesz + PAGE - 1) & ~(uint64_t)(PAGE - 1)) != size)
			return false;
		*address = start + offset;
		return true;
	}
	return false;
}

struct slice modelso_build_id(const struct modelso *m)
{
	struct slice d;
	Elf64_Nhdr nh;
	if (!modelso_section(m, ".note.gnu.build-id", &d, NULL) || d.n < sizeof(nh))
		return (struct slice){0};
	memcpy(&nh, d.p, sizeof(nh));
	if (nh.n_namesz != 4 || nh.n_type != NT_GNU_BUILD_ID || nh.n_descsz > d.n - sizeof(nh) || d.n - sizeof(nh) - nh.n_descsz < 4)
		return (struct slice){0};
	return slice_of(d.p + sizeof(nh) + 4, nh.n_descsz);
}

/* ---- calls of x86-64 ---- */

/* The target of a call: a function, or the contents of a GOT slot. */
struct target {
	uint64_t address, slot; /* 0: not this */
};

static bool rel32(struct slice b, size_t at, uint64_t from, uint64_t *to)
{
	int32_t d;
	if (b.n < at + 4)
		return false;
	memcpy(&d, b.p + at, 4);
	*to = from + (uint64_t)(int64_t)d;
	return true;
}

/* The slot of a stub: [endbr64] [bnd] jmp *slot(%rip) */
static uint64_t slot_of_stub(const struct elf_view *v, uint64_t stub)
{
	struct slice b = bytes_in(v, stub, 16);
	uint64_t slot;
	size_t at = b.n >= 4 && !memcmp(b.p, "\xf3\x0f\x1e\xfa", 4) ? 4 : 0;
	at += at < b.n && b.p[at] == '\xf2';
	return b.n >= at + 6 && b.p[at] == '\xff' && b.p[at + 1] == '\x25' && rel32(b, at + 2, stub + at + 6, &slot) ? slot : 0;
}

static struct target call_before(const struct elf_view *v, uint64_t returns_to)
{
	struct target t = {0};
	struct slice b = returns_to >= 6 ? bytes_in(v, returns_to - 6, 6) : (struct slice){0};
	if (b.n < 6)
		return t;
	if (b.p[0] == '\xff' && b.p[1] == '\x15' && rel32(b, 2, returns_to, &t.slot))
		return t;
	if (b.p[1] != '\xe8' || !rel32(b, 2, returns_to, &t.address))
		return (struct target){0};
	t.slot = slot_of_stub(v, t.address);
	if (t.slot)
		t.address = 0;
	return t;
}

static struct slice name_of_slot(const struct elf_view *v, uint64_t slot)
{
	static const char *const section[] = {".rela.plt", ".rela.dyn"};
	struct elf_symbols t;
	Elf64_Shdr sh;
	for (size_t k = 0; k < 2 && elf_symbols(v, SHT_DYNSYM, &t); k++) {
		uint32_t i = elf_find(v, section[k], 0);
		struct slice d = i && elf_section(v, i, &sh) ? elf_data(v, &sh) : (struct slice){0};
		for (size_t at = 0; d.n - at >= sizeof(Elf64_Rela); at += sizeof(Elf64_Rela)) {
			Elf64_Rela r;
			memcpy(&r, d.p + at, sizeof(r));
			uint32_t type = (uint32_t)ELF64_R_TYPE(r.r_info);
			if (r.r_offset != slot || (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) || ELF64_R_SYM(r.r_info) >= t.n)
				continue;
			Elf64_Sym sym = elf_symbol(&t, ELF64_R_SYM(r.r_info));
			return elf_symbol_name(&t, &sym);
		}
	}
	return (struct slice){0};
}

struct slice modelso_called(const struct modelso *m, uint64_t returns_to)
{
	struct elf_view v;
	struct modelso_symbol s;
	if (m->machine != EM_X86_64 || !view_of(m, &v))
		return (struct slice){0};
	struct target t = call_before(&v, returns_to);
	if (t.slot)
		return name_of_slot(&v, t.slot);
	return t.address && modelso_symbol_at(m, t.address, &s) && s.address == t.address ? s.name : (struct slice){0};
}

bool modelso_call_order(const struct modelso *m, uint64_t from, uint64_t to, uint64_t returns_to, uint32_t *nth, uint32_t *count)
{
	struct elf_view v;
	if (m->machine != EM_X86_64 || !view_of(m, &v) || to <= from || to - from > MODELSO_MAX_RANGE)
		return false;
	struct target want = call_before(&v, returns_to);
	if (!want.slot && !want.address)
		return false;
	bool found = false;
	*nth = *count = 0;
	struct slice b = bytes_in(&v, from, (size_t)(to - from));
	for (size_t i = 1; i + 5 <= b.n; i++) {
		if (b.p[i] != '\xe8' && (b.p[i] != '\x15' || b.p[i - 1] != '\xff'))
			continue;
		struct target t = call_before(&v, from + i + 5);
		if (t.slot != want.slot || t.address != want.address)
			continue;
		found |= from + i + 5 == returns_to;
		*nth += from + i + 5 < returns_to;
		++*count;
	}
	return found;
}
