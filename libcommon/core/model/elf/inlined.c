#include "model/elf/inlined.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>

#include "base/oom.h"
#include "base/text.h"

enum { MAX_UNITS = 65536 };

struct walk {
	Dwarf_Die unit;
	Dwarf_Addr address;
	Dwarf_Die *todo;
	size_t n, cap;
	unsigned visits;
	struct inlined_place *place;
	size_t n_places;
	struct arena *arena;
};

static void push(struct walk *w, const Dwarf_Die *die) { PUSH_TO(w->todo, w->n, w->cap) = *die; }

static void take_call(struct walk *w, Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Files *files;
	Dwarf_Word file, line;
	size_t n;
	if (w->n_places == INLINED_MAX || dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attr), &file) ||
	    dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attr), &line) || dwarf_getsrcfiles(&w->unit, &files, &n) || file >= n)
		return;
	const char *name = dwarf_filesrc(files, (size_t)file, NULL, NULL);
	if (!name || line > UINT32_MAX)
		return;
	w->place[w->n_places++] = (struct inlined_place){arena_slice(w->arena, slice_str(path_base(name))), (uint32_t)line};
}

/* Functions and blocks contain code; namespaces and types only contain declarations. */
static void visit(struct walk *w, Dwarf_Die *die)
{
	Dwarf_Die next;
	int tag = dwarf_tag(die);
	bool code = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block;
	bool names = tag == DW_TAG_namespace || tag == DW_TAG_structure_type || tag == DW_TAG_class_type;
	bool inside = code && dwarf_haspc(die, w->address) > 0;
	if (inside) {
		w->n = 0; /* its siblings do not contain the address */
		if (tag == DW_TAG_inlined_subroutine)
			take_call(w, die);
	} else if (dwarf_siblingof(die, &next) == 0) {
		push(w, &next);
	}
	if ((inside || names) && dwarf_child(die, &next) == 0)
		push(w, &next);
}

static void walk_unit(struct walk *w, Dwarf_Die *unit)
{
	Dwarf_Die first;
	w->unit = *unit;
	if (dwarf_child(unit, &first))
		return;
	push(w, &first);
	while (w->n && w->visits++ < INLINED_VISITS) {
		Dwarf_Die die = w->todo[--w->n];
		visit(w, &die);
	}
}

size_t inlined_at(struct slice elf, uint64_t address, struct inlined_place v[INLINED_MAX], struct arena *a)
{
	struct walk w = {.address = address, .place = v, .arena = a};
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;
	elf_version(EV_CURRENT);
	errno = 0;
	/* libelf takes a pointer that is not const, but only reads through it. */
	Elf *e = elf_memory((char *)(uintptr_t)elf.p, elf.n);
	Dwarf *dw = e ? dwarf_begin_elf(e, DWARF_C_READ, NULL) : NULL;
	if (dw)
		dwarf_new_oom_handler(dw, end_without_memory);
	for (unsigned i = 0; dw && i < MAX_UNITS && !w.n_places; i++) {
		if (dwarf_get_units(dw, cu, &cu, NULL, &type, &die, NULL) != 0)
			break;
		if (type == DW_UT_compile && die.cu && dwarf_haspc(&die, address) > 0)
			walk_unit(&w, &die);
	}
	end_if_without_memory();
	/* They are found from the outside in. */
	for (size_t i = 0; i < w.n_places / 2; i++) {
		struct inlined_place t = v[i];
		v[i] = v[w.n_places - 1 - i];
		v[w.n_places - 1 - i] = t;
	}
	free(w.todo);
	dwarf_end(dw);
	elf_end(e);
	return w.n_places;
}
