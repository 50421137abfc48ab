/* The line table and the producers, through libdw, on demand. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <endian.h>
#include <errno.h>
#include <libelf.h>

#include "base/oom.h"
#include "model/elf/modelso_elf.h"
#include "model/elf/modelso_part.h"

enum { MAX_ROWS = 1 << 22, MAX_UNITS = 4096, MAX_PRODUCERS = 64, MAX_SECTION = 64 << 20 };

struct modelso_dwarf {
	Elf *elf;
	Dwarf *dw;
	bool opened, rows_read, rows_bad, producers_read;
	struct modelso_row *row; /* by address */
	size_t n, cap;
	struct slice *producer;
	size_t n_producer, cap_producer;
};

void modelso_dwarf_free(struct modelso *m)
{
	struct modelso_dwarf *d = m->dwarf;
	if (!d)
		return;
	if (d->dw)
		dwarf_end(d->dw);
	if (d->elf)
		elf_end(d->elf);
	free(d->row);
	free(d->producer);
	free(d);
	m->dwarf = NULL;
}

bool modelso_has_lines(const struct modelso *m)
{
	struct slice data;
	return modelso_section(m, ".debug_line", &data, NULL) && modelso_section(m, ".debug_info", &data, NULL);
}

/* libdw would look for a file made by dwz beside the library, under a name that the library chooses. */
static bool elsewhere(const struct modelso *m)
{
	struct slice data;
	return modelso_section(m, ".gnu_debugaltlink", &data, NULL) || modelso_section(m, ".debug_sup", &data, NULL);
}

/* A section that libdw would need too much memory for: it inflates those that are compressed, and keeps rows of lines. */
static bool too_large(const struct modelso *m)
{
	struct elf_view v;
	Elf64_Shdr sh;
	Elf64_Chdr ch;
	if (elf_view_open(&v, m->bytes, m->name, NULL) < 0)
		return true;
	for (uint32_t i = 1; elf_section(&v, i, &sh); i++) {
		const struct slice name = elf_name(&v, &sh), data = elf_data(&v, &sh);
		uint64_t size = data.n;
		if (sh.sh_flags & SHF_COMPRESSED && data.n >= sizeof(ch)) {
			memcpy(&ch, data.p, sizeof(ch));
			size = ch.ch_size;
		} else if (slice_starts(name, ".zdebug") && data.n >= 12) { /* "ZLIB", then the size, the highest byte first */
			memcpy(&size, data.p + 4, sizeof(size));
			size = be64toh(size);
		}
		if (size > MAX_SECTION && slice_find(name, "debug"))
			return true;
	}
	return false;
}

/* NULL if there is nothing to open. libelf takes a non-const pointer, but only reads through it. */
static struct modelso_dwarf *open_dwarf(struct modelso *m)
{
	if (!m->dwarf)
		m->dwarf = xcalloc(1, sizeof(*m->dwarf));
	struct modelso_dwarf *d = m->dwarf;
	if (!d->opened) {
		d->opened = true;
		if (!modelso_has_lines(m) || elsewhere(m) || too_large(m))
			return d;
		elf_version(EV_CURRENT);
		errno = 0;
		d->elf = elf_memory((char *)(uintptr_t)m->bytes.p, m->bytes.n);
		d->dw = d->elf ? dwarf_begin_elf(d->elf, DWARF_C_READ, NULL) : NULL;
		end_if_without_memory();
		if (d->dw) /* its own ends the process with status 1 */
			dwarf_new_oom_handler(d->dw, end_without_memory);
	}
	return d;
}

/* Next compilation unit; false at the end. */
struct unit_walk {
	Dwarf_CU *cu;
	unsigned n;
};

static bool next_unit(Dwarf *dw, struct unit_walk *w, Dwarf_Die *die)
{
	uint8_t type;
	while (dw && w->n++ < MAX_UNITS) {
		if (dwarf_get_units(dw, w->cu, &w->cu, NULL, &type, die, NULL) != 0)
			return false;
		if (type == DW_UT_compile && die->cu)
			return true;
	}
	return false;
}

static int by_address(const void *a, const void *b)
{
	const struct modelso_row *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return y->end - x->end; /* if one sequence ends where another begins, the start comes last */
}

static void unit_rows(struct modelso_dwarf *d, Dwarf_Die *die)
{
	Dwarf_Lines *lines;
	size_t n;
	if (dwarf_getsrclines(die, &lines, &n) != 0) {
		d->rows_bad = d->rows_bad || dwarf_hasattr(die, DW_AT_stmt_list);
		return;
	}
	for (size_t i = 0; i < n && d->n < MAX_ROWS; i++) {
		Dwarf_Line *l = dwarf_onesrcline(lines, i);
		Dwarf_Addr address;
		int line = 0;
		bool end = false;
		if (!l || dwarf_lineaddr(l, &address) != 0)
			continue;
		dwarf_lineno(l, &line);
		dwarf_lineendsequence(l, &end);
		const char *file = dwarf_linesrc(l, NULL, NULL);
		PUSH_TO(d->row, d->n, d->cap) = (struct modelso_row){address, file ? file : "", line < 0 ? 0 : (uint32_t)line, end};
	}
}

static struct modelso_dwarf *read_rows(struct modelso *m)
{
	struct modelso_dwarf *d = open_dwarf(m);
	if (d->rows_read)
		return d;
	d->rows_read = true;
	Dwarf_Die die;
	struct unit_walk w = {0};
	errno = 0;
	while (next_unit(d->dw, &w, &die))
		unit_rows(d, &die);
	end_if_without_memory();
	if (!d->dw && modelso_has_lines(m) && !elsewhere(m))
		d->rows_bad = true;
	if (d->n)
		qsort(d->row, d->n, sizeof(*d->row), by_address);
	return d;
}

static int damaged(const struct modelso *m, struct err *err)
{
	return err_set(err, EXIT_INPUT, "'%s': its line information (.debug_line) is damaged: %s", m->name, dwarf_errmsg(-1));
}

/* First row above the address. */
static size_t above(const struct modelso_dwarf *d, uint64_t address)
{
	size_t lo = 0, hi = d->n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (d->row[mid].address <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

int modelso_line(struct modelso *m, uint64_t address, struct modelso_row *row, struct err *err)
{
	struct modelso_dwarf *d = read_rows(m);
	size_t i = above(d, address);
	if (!d->n && d->rows_bad)
		return damaged(m, err);
	if (!i || d->row[i - 1].end || !d->row[i - 1].line)
		return 0;
	*row = d->row[i - 1];
	return 1;
}

int modelso_producers(struct modelso *m, const struct slice **v, size_t *n, struct err *err)
{
	struct modelso_dwarf *d = open_dwarf(m);
	if (!d->producers_read) {
		Dwarf_Die die;
		struct unit_walk w = {0};
		d->producers_read = true;
		errno = 0;
		while (d->n_producer < MAX_PRODUCERS && next_unit(d->dw, &w, &die)) {
			Dwarf_Attribute attr;
			const char *text = dwarf_formstring(dwarf_attr(&die, DW_AT_producer, &attr));
			if (!text)
				continue;
			PUSH_TO(d->producer, d->n_producer, d->cap_producer) = slice_str(text);
		}
		end_if_without_memory();
	}
	(void)err;
	*v = d->producer;
	*n = d->n_producer;
	return 0;
}
