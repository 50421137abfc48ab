#include "crash/core.h"

#include <elf.h>
#include <signal.h>

enum { NOTE_SIGINFO = 0x53494749, NOTE_FILE = 0x46494c45 };
enum { MAX_NOTES = 1 << 20, MAX_SEGMENTS = 2 * CRASH_MAX_MAPS, MAX_IDS = 1024, FIRST_PAGE = 4096 };

static const char *const x86_64_registers[] = {"r15", "r14", "r13", "r12", "rbp",      "rbx", "r11", "r10",    "r9",  "r8", "rax",
					       "rcx", "rdx", "rsi", "rdi", "orig_rax", "rip", "cs",  "eflags", "rsp", "ss"};
static const char *const aarch64_registers[] = {"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",  "x9",    "x10", "x11",
						"x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",   "x22", "x23",
						"x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp",  "pc",  "pstate"};

struct view {
	struct slice bytes;
	Elf64_Ehdr eh;
	uint64_t n; /* segments */
};

static bool view_open(struct view *v, struct slice bytes)
{
	*v = (struct view){.bytes = bytes};
	if (bytes.n < sizeof(v->eh))
		return false;
	memcpy(&v->eh, bytes.p, sizeof(v->eh));
	if (memcmp(v->eh.e_ident, ELFMAG, SELFMAG) || v->eh.e_ident[EI_CLASS] != ELFCLASS64 || v->eh.e_ident[EI_DATA] != ELFDATA2LSB ||
	    v->eh.e_type != ET_CORE || v->eh.e_phentsize != sizeof(Elf64_Phdr))
		return false;
	v->n = v->eh.e_phnum;
	if (v->n == PN_XNUM) {
		Elf64_Shdr sh;
		if (v->eh.e_shoff > bytes.n || bytes.n - v->eh.e_shoff < sizeof(sh))
			return false;
		memcpy(&sh, bytes.p + v->eh.e_shoff, sizeof(sh));
		v->n = sh.sh_info;
	}
	if (v->eh.e_phoff > bytes.n)
		return false;
	uint64_t room = (bytes.n - v->eh.e_phoff) / sizeof(Elf64_Phdr);
	v->n = v->n < room ? v->n : room;
	v->n = v->n < MAX_SEGMENTS ? v->n : MAX_SEGMENTS;
	return true;
}

static Elf64_Phdr segment(const struct view *v, uint64_t i)
{
	Elf64_Phdr ph;
	memcpy(&ph, v->bytes.p + v->eh.e_phoff + i * sizeof(ph), sizeof(ph));
	return ph;
}

/* Returns the bytes at an offset: n, or as many as the file has. */
static struct slice part(struct slice bytes, uint64_t offset, uint64_t n)
{
	if (offset >= bytes.n)
		return (struct slice){0};
	return slice_of(bytes.p + offset, n < bytes.n - offset ? (size_t)n : (size_t)(bytes.n - offset));
}

static uint64_t u64_at(struct slice s, size_t at)
{
	uint64_t v;
	memcpy(&v, s.p + at, sizeof(v));
	return v;
}
static uint32_t u32_at(struct slice s, size_t at)
{
	uint32_t v;
	memcpy(&v, s.p + at, sizeof(v));
	return v;
}

static struct slice memory(const struct view *v, uint64_t address, size_t n)
{
	for (uint64_t i = 0; i < v->n; i++) {
		Elf64_Phdr ph = segment(v, i);
		if (ph.p_type != PT_LOAD || address < ph.p_vaddr || address - ph.p_vaddr >= ph.p_filesz)
			continue;
		uint64_t at = address - ph.p_vaddr, left = ph.p_filesz - at;
		return ph.p_offset > UINT64_MAX - at ? (struct slice){0} : part(v->bytes, ph.p_offset + at, n < left ? n : left);
	}
	return (struct slice){0};
}

bool core_like(struct slice bytes)
{
	Elf64_Ehdr eh;
	if (bytes.n < sizeof(eh))
		return false;
	memcpy(&eh, bytes.p, sizeof(eh)); /* e_type is at the same offset in all classes */
	return !memcmp(eh.e_ident, ELFMAG, SELFMAG) && (eh.e_type == ET_CORE || eh.e_type == ET_CORE << 8);
}

/* ---- notes ---- */

/* The next note of a segment; its contents may be truncated. */
static bool next_note(struct slice *rest, uint32_t *type, struct slice *name, struct slice *data)
{
	Elf64_Nhdr nh;
	if (rest->n < sizeof(nh))
		return false;
	memcpy(&nh, rest->p, sizeof(nh));
	uint64_t name_room = ((uint64_t)nh.n_namesz + 3) & ~3ull, data_room = ((uint64_t)nh.n_descsz + 3) & ~3ull;
	*type = nh.n_type;
	*name = part(*rest, sizeof(nh), nh.n_namesz);
	*data = part(*rest, sizeof(nh) + name_room, nh.n_descsz);
	uint64_t all = sizeof(nh) + name_room + data_room;
	*rest = all < rest->n ? slice_of(rest->p + all, rest->n - (size_t)all) : slice_of(rest->p + rest->n, 0);
	return true;
}

static void take_registers(struct crash *c, struct slice regs)
{
	struct crash_registers *r = &c->reg;
	bool x86 = c->machine == EM_X86_64;
	if (!x86 && c->machine != EM_AARCH64)
		return;
	r->name = x86 ? x86_64_registers : aarch64_registers;
	r->n = x86 ? ARRAY_LEN(x86_64_registers) : ARRAY_LEN(aarch64_registers);
	r->pc = x86 ? 16 : 32;
	r->sp = x86 ? 19 : 31;
	if (regs.n < (size_t)r->n * 8) {
		r->n = 0;
		return;
	}
	for (unsigned i = 0; i < r->n; i++)
		r->value[i] = u64_at(regs, i * 8);
}

static void take_status(struct crash *c, struct slice d)
{
	enum { SIGNAL = 12, PID = 32, REGISTERS = 112 };
	struct crash_registers first = c->reg;
	if (d.n < REGISTERS)
		return;
	if (c->n_threads == CRASH_MAX_THREADS) {
		c->left_out++;
		return;
	}
	take_registers(c, slice_of(d.p + REGISTERS, d.n - REGISTERS));
	struct crash_thread *t = &PUSH_TO(c->thread, c->n_threads, c->cap_threads);
	*t = (struct crash_thread){.tid = u32_at(d, PID)};
	if (c->reg.n)
		t->pc = c->reg.value[c->reg.pc], t->sp = c->reg.value[c->reg.sp];
	if (c->n_threads > 1) {
		c->reg = first;
		return;
	}
	if (!c->signal)
		c->signal = (int)(u32_at(d, SIGNAL) & 0xffff);
	c->pid = t->tid;
	if (c->reg.n)
		c->ip = t->pc, c->has_ip = true;
}

static void take_siginfo(struct crash *c, struct slice d)
{
	if (d.n < 24 || c->has_code)
		return;
	int signal = (int)u32_at(d, 0);
	if (signal > 0 && signal < 65)
		c->signal = signal;
	c->code = (int)u32_at(d, 8);
	c->has_code = true;
	/* Codes above 0 come from the kernel; a signal sent by a process has a pid there. */
	if (c->code > 0 && c->code != SI_KERNEL && (signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE)) {
		c->fault = u64_at(d, 16);
		c->has_fault = true;
	}
}

static void take_command(struct crash *c, struct slice d)
{
	enum { ARGS = 56, ARGS_SIZE = 80 };
	if (d.n < ARGS + ARGS_SIZE || c->command.n)
		return;
	c->command = slice_trim(slice_of(d.p + ARGS, strnlen(d.p + ARGS, ARGS_SIZE)));
}

struct files {
	struct slice entries, names; /* 24 bytes each; names one after the other */
	uint64_t n, page;
};

static void take_files(struct files *f, struct slice d)
{
	if (d.n < 16)
		return;
	f->n = u64_at(d, 0);
	f->page = u64_at(d, 8);
	uint64_t room = (d.n - 16) / 24;
	if (f->n > room || f->n > CRASH_MAX_MAPS)
		f->n = room < CRASH_MAX_MAPS ? room : CRASH_MAX_MAPS;
	f->entries = slice_of(d.p + 16, (size_t)f->n * 24);
	f->names = slice_of(d.p + 16 + f->entries.n, d.n - 16 - f->entries.n);
}

static void read_notes(struct crash *c, struct slice rest, struct files *files)
{
	struct slice name, data;
	uint32_t type;
	for (unsigned i = 0; i < MAX_NOTES && next_note(&rest, &type, &name, &data); i++) {
		if (!slice_starts(name, "CORE"))
			continue;
		if (type == NT_PRSTATUS)
			take_status(c, data);
		else if (type == NT_PRPSINFO)
			take_command(c, data);
		else if (type == NOTE_SIGINFO)
			take_siginfo(c, data);
		else if (type == NOTE_FILE)
			take_files(files, data);
	}
}

/* ---- mappings ---- */

/* Mapped files first, in the note's order (ascending); then segments without a file. */
static void add_files(struct crash *c, const struct files *f)
{
	struct slice names = f->names;
	for (uint64_t i = 0; i < f->n; i++) {
		const char *end = slice_chr(names, 0);
		struct crash_map m = {.start = u64_at(f->entries, (size_t)i * 24), .end = u64_at(f->entries, (size_t)i * 24 + 8)};
		uint64_t page = u64_at(f->entries, (size_t)i * 24 + 16);
		if (!end)
			return;
		m.path = slice_of(names.p, (size_t)(end - names.p));
		names = slice_of(end + 1, names.n - m.path.n - 1);
		if (slice_ends(m.path, " (deleted)"))
			m.path.n -= 10;
		if (__builtin_mul_overflow(page, f->page, &m.offset) || m.end <= m.start)
			continue;
		struct crash_map *to = crash_add_map(c);
		if (to)
			*to = m;
	}
}

static int by_start(const void *a, const void *b)
{
	const struct crash_map *x = a, *y = b;
	return x->start < y->start ? -1 : x->start > y->start;
}

/* The map that contains the address, among the first n, which are sorted. */
static struct crash_map *find_sorted(struct crash *c, uint32_t n, uint64_t address)
{
	uint32_t lo = 0, hi = n;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (c->map[mid].start <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && address < c->map[lo - 1].end ? &c->map[lo - 1] : NULL;
}

static void add_segments(struct crash *c, const struct view *v)
{
	uint32_t n = c->n_maps;
	if (n)
		qsort(c->map, n, sizeof(*c->map), by_start);
	for (uint64_t i = 0; i < v->n; i++) {
		Elf64_Phdr ph = segment(v, i);
		if (ph.p_type != PT_LOAD || !ph.p_memsz || ph.p_vaddr > UINT64_MAX - ph.p_memsz)
			continue;
		struct crash_map *m = find_sorted(c, n, ph.p_vaddr);
		if (!m && !(m = crash_add_map(c)))
			return;
		if (m >= c->map + n)
			*m = (struct crash_map){.start = ph.p_vaddr, .end = ph.p_vaddr + ph.p_memsz};
		m->read = ph.p_flags & PF_R, m->write = ph.p_flags & PF_W, m->exec = ph.p_flags & PF_X;
		m->has_flags = true;
	}
	if (c->n_maps)
		qsort(c->map, c->n_maps, sizeof(*c->map), by_start);
}

/* ---- build ids, from the first page of each file ---- */

static struct slice hex_of(struct crash *c, struct slice id)
{
	char *text = arena_alloc(&c->arena, id.n * 2 + 1);
	for (size_t i = 0; i < id.n; i++)
		snprintf(text + 2 * i, 3, "%02x", (unsigned char)id.p[i]);
	return slice_of(text, id.n * 2);
}

static struct slice build_id(struct crash *c, const struct view *v, uint64_t start)
{
	struct slice page = memory(v, start, FIRST_PAGE), name, data;
	Elf64_Ehdr eh;
	Elf64_Phdr ph;
	uint64_t first = UINT64_MAX;
	uint32_t type;
	if (page.n < sizeof(eh))
		return (struct slice){0};
	memcpy(&eh, page.p, sizeof(eh));
	if (memcmp(eh.e_ident, ELFMAG, SELFMAG) || eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_phentsize != sizeof(ph))
		return (struct slice){0};
	for (unsigned i = 0; i < eh.e_phnum; i++) {
		struct slice s = part(page, eh.e_phoff + (uint64_t)i * sizeof(ph), sizeof(ph));
		if (s.n < sizeof(ph))
			break;
		memcpy(&ph, s.p, sizeof(ph));
		if (ph.p_type == PT_LOAD && first == UINT64_MAX)
			first = ph.p_vaddr & ~0xfffull;
		if (ph.p_type != PT_NOTE || first == UINT64_MAX || ph.p_vaddr < first)
			continue;
		struct slice notes = memory(v, start + (ph.p_vaddr - first), ph.p_filesz < FIRST_PAGE ? (size_t)ph.p_filesz : FIRST_PAGE);
		while (next_note(&notes, &type, &name, &data))
			if (type == NT_GNU_BUILD_ID && name.n == 4 && !memcmp(name.p, "GNU", 4) && data.n && data.n <= 64)
				return hex_of(c, data);
	}
	return (struct slice){0};
}

/* The maps of a file are adjacent; the first one stands for all of them. */
static void add_build_ids(struct crash *c, const struct view *v)
{
	struct slice path = {0}, id = {0};
	unsigned looked = 0;
	for (uint32_t i = 0; i < c->n_maps; i++) {
		struct crash_map *m = &c->map[i];
		if (!m->path.n)
			continue;
		if (!m->offset || !slice_eq(m->path, path)) {
			path = m->path;
			id = m->offset || looked++ >= MAX_IDS ? (struct slice){0} : build_id(c, v, m->start);
		}
		m->build_id = id;
	}
}

/* "free(): invalid pointer" in a struct abort_msg_s at the start of a page: the size of its mapping, then the text. */
static struct slice message_in(struct slice page)
{
	enum { PAGE = 4096, PAGES = 16, LONGEST = 1024 };
	const uint32_t size = page.n > 8 ? u32_at(page, 0) : 0;
	if (!size || size % PAGE || size > PAGES * PAGE)
		return (struct slice){0};
	struct slice said = slice_of(page.p + 4, page.n - 4 < LONGEST ? page.n - 4 : LONGEST);
	said.n = strnlen(said.p, said.n);
	for (size_t i = 0; i < said.n; i++)
		if (said.p[i] != '\n' && ((unsigned char)said.p[i] < ' ' || (unsigned char)said.p[i] >= 0x7f))
			return (struct slice){0};
	return said.n > 8 && said.p[said.n - 1] == '\n' ? slice_trim(said) : (struct slice){0};
}

struct slice core_abort_message(struct slice core)
{
	enum { PAGE = 4096, MOST = 1 << 20 };
	struct view v;
	unsigned looked = 0;
	if (!view_open(&v, core))
		return (struct slice){0};
	for (uint64_t i = 0; i < v.n && looked < MOST; i++) {
		const Elf64_Phdr ph = segment(&v, i);
		if (ph.p_type != PT_LOAD || !(ph.p_flags & PF_W))
			continue;
		for (uint64_t at = 0; at < ph.p_filesz && looked++ < MOST; at += PAGE) {
			const struct slice page = ph.p_offset > UINT64_MAX - at ? (struct slice){0} : part(core, ph.p_offset + at, PAGE);
			const struct slice said = message_in(page);
			if (said.n)
				return said;
		}
	}
	return (struct slice){0};
}

int core_read(struct crash *c, struct slice bytes, const char *name, struct err *err)
{
	struct view v;
	struct files files = {0};
	if (!core_like(bytes))
		return err_set(err, EXIT_INPUT, "'%s' is not a core file", name);
	if (!view_open(&v, bytes))
		return err_set(err, EXIT_INPUT, "'%s': a 32-bit, big-endian or damaged core file: only those of 64-bit Linux can be read",
			       name);
	bool text_maps = c->n_maps > 0;
	uint32_t threads = c->n_threads;
	c->machine = v.eh.e_machine;
	for (uint64_t i = 0; i < v.n; i++) {
		Elf64_Phdr ph = segment(&v, i);
		if (ph.p_type == PT_NOTE)
			read_notes(c, part(bytes, ph.p_offset, ph.p_filesz), &files);
	}
	if (c->n_threads == threads)
		return err_set(err, EXIT_INPUT, "'%s': no threads in the core file: it is truncated, or from another system", name);
	c->from_core = true;
	if (text_maps)
		c->n_maps = 0; /* the pasted text may be from another run */
	add_files(c, &files);
	add_segments(c, &v);
	add_build_ids(c, &v);
	return 0;
}
