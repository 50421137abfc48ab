#include "crash/unwind.h"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/process/child.h"
#include "base/process/confine.h"

enum { MAX_MODULES = 4096, MAX_DEPTH = 512, MAX_ANSWER = 4 << 20, SECONDS = 30 };

struct module {
	struct slice path, bytes, build_id;
	uint64_t start;
	int fd;
};

struct job {
	const struct crash *c;
	struct slice core;
	struct module *module;
	size_t n;
	/* in the child */
	Dwfl *dwfl;
	struct buf answer;
	unsigned depth;
};

/* ---- the child ---- */

static int open_plain(const struct module *m)
{
	struct stat st;
	FREED char *path = xstrndup(m->path.p, m->path.n);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static int open_given(const struct module *m)
{
	int fd = memfd_create("library", MFD_CLOEXEC);
	for (size_t at = 0; fd >= 0 && at < m->bytes.n;) {
		ssize_t n = write(fd, m->bytes.p + at, m->bytes.n - at);
		if (n <= 0) {
			close(fd);
			return -1;
		}
		at += (size_t)n;
	}
	return fd;
}

static int give_up_rights(struct err *err)
{
	static const int calls[] = {SCMP_SYS(read),           SCMP_SYS(pread64),      SCMP_SYS(mmap),      SCMP_SYS(munmap),
				    SCMP_SYS(mprotect),       SCMP_SYS(mremap),       SCMP_SYS(madvise),   SCMP_SYS(brk),
				    SCMP_SYS(close),          SCMP_SYS(fstat),        SCMP_SYS(lseek),     SCMP_SYS(futex),
				    SCMP_SYS(exit_group),     SCMP_SYS(exit),         SCMP_SYS(getrandom), SCMP_SYS(clock_gettime),
				    SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(gettid),    SCMP_SYS(getpid),
				    SCMP_SYS(newfstatat)};
	static const int for_asan[] = {SCMP_SYS(sigaltstack)};
	struct confine_filter f;
	if (confine_no_new_privs(err) < 0)
		return -1;
	confine_begin(&f, SCMP_ACT_ERRNO(EPERM));
	confine_allow(&f, calls, ARRAY_LEN(calls));
	if (WITH_ASAN)
		confine_allow(&f, for_asan, ARRAY_LEN(for_asan));
	for (int fd = 1; fd <= 2; fd++)
		confine_allow_if(&f, SCMP_SYS(write), CONFINE_EQUAL(0, fd));
	confine_allow_if(&f, SCMP_SYS(fcntl), CONFINE_EQUAL(1, F_GETFD));
	confine_allow_if(&f, SCMP_SYS(fcntl), CONFINE_EQUAL(1, F_GETFL));
	return confine_load(&f, "the system call filter", err);
}

/* All files are already open; nothing is searched for. */
static int no_elf(Dwfl_Module *m, void **u, const char *name, Dwarf_Addr base, char **file, Elf **elf)
{
	(void)m, (void)u, (void)name, (void)base, (void)file, (void)elf;
	return -1;
}
static int no_debuginfo(Dwfl_Module *m, void **u, const char *name, Dwarf_Addr base, const char *file, const char *link, GElf_Word crc,
			char **found)
{
	(void)m, (void)u, (void)name, (void)base, (void)file, (void)link, (void)crc, (void)found;
	return -1;
}

static bool same_build(const struct module *m)
{
	Elf *elf = elf_begin(m->fd, ELF_C_READ_MMAP, NULL);
	const void *id;
	ssize_t n = elf ? dwelf_elf_gnu_build_id(elf, &id) : 0;
	bool same = n <= 0 ? !m->build_id.n : !m->build_id.n || (size_t)n * 2 == m->build_id.n;
	char hex[3];
	for (ssize_t i = 0; same && i < n && m->build_id.n; i++) {
		snprintf(hex, sizeof(hex), "%02x", ((const unsigned char *)id)[i]);
		same = !memcmp(hex, m->build_id.p + 2 * i, 2);
	}
	elf_end(elf);
	return same;
}

static void report_modules(struct job *j)
{
	dwfl_report_begin(j->dwfl);
	for (size_t i = 0; i < j->n; i++) {
		struct module *m = &j->module[i];
		char name[24];
		if (m->fd < 0)
			continue;
		snprintf(name, sizeof(name), "%zu", i);
		/* On success the descriptor is libdwfl's. */
		if (!same_build(m) || !dwfl_report_elf(j->dwfl, name, name, m->fd, m->start, false))
			close(m->fd);
		m->fd = -1;
	}
	dwfl_report_end(j->dwfl, NULL, NULL);
}

/* F pc exact module offset symbol in-symbol: between tabs, numbers in hexadecimal, a module by its number. */
static int on_frame(Dwfl_Frame *frame, void *arg)
{
	struct job *j = arg;
	Dwarf_Addr pc, bias = 0, offset = 0, start;
	GElf_Sym sym;
	bool exact;
	const char *name = NULL, *symbol = NULL;
	if (!dwfl_frame_pc(frame, &pc, &exact) || j->answer.len > MAX_ANSWER / 2)
		return DWARF_CB_ABORT;
	Dwarf_Addr at = exact || !pc ? pc : pc - 1;
	Dwfl_Module *m = dwfl_addrmodule(j->dwfl, at);
	if (m) {
		name = dwfl_module_info(m, NULL, &start, NULL, NULL, NULL, NULL, NULL);
		symbol = dwfl_module_addrinfo(m, at, &offset, &sym, NULL, NULL, &bias);
		if (!dwfl_module_getelf(m, &bias))
			bias = start;
	}
	if (symbol)
		offset += pc - at;
	buf_addf(&j->answer, "F\t%llx\t%d\t%s\t%llx\t%.1000s\t%llx\n", (unsigned long long)pc, exact, name ? name : "-",
		 (unsigned long long)(m ? pc - bias : 0), symbol ? symbol : "", (unsigned long long)(symbol ? offset : 0));
	return ++j->depth < MAX_DEPTH ? DWARF_CB_OK : DWARF_CB_ABORT;
}

static int on_thread(Dwfl_Thread *thread, void *arg)
{
	struct job *j = arg;
	buf_addf(&j->answer, "T\t%llx\n", (unsigned long long)dwfl_thread_tid(thread));
	j->depth = 0;
	dwfl_thread_getframes(thread, on_frame, j);
	return j->answer.len > MAX_ANSWER / 2 ? DWARF_CB_ABORT : DWARF_CB_OK;
}

static int write_complaint(const char *what, const char *why)
{
	LOCAL_BUF b = {0};
	buf_addf(&b, "%s: %s", what, why);
	ssize_t n = write(2, b.p, b.len);
	(void)n;
	return EXIT_INPUT;
}

static int in_child(void *arg)
{
	static const Dwfl_Callbacks callbacks = {.find_elf = no_elf, .find_debuginfo = no_debuginfo};
	struct job *j = arg;
	struct err err;
	for (size_t i = 0; i < j->n; i++)
		j->module[i].fd = j->module[i].bytes.n ? open_given(&j->module[i]) : open_plain(&j->module[i]);
	elf_version(EV_CURRENT);
	if (give_up_rights(&err) < 0)
		return write_complaint("cannot confine the unwinder", err.text), EXIT_ENVIRON;
	/* libelf takes a pointer that is not const, but only reads through it. */
	Elf *core = elf_memory((char *)(uintptr_t)j->core.p, j->core.n);
	j->dwfl = dwfl_begin(&callbacks);
	if (!core || !j->dwfl)
		return write_complaint("libdw", dwfl_errmsg(-1));
	report_modules(j);
	if (dwfl_core_file_attach(j->dwfl, core) < 0)
		return write_complaint("libdw cannot unwind the stack", dwfl_errmsg(-1));
	dwfl_getthreads(j->dwfl, on_thread, j);
	for (size_t at = 0; at < j->answer.len;) {
		ssize_t n = write(1, j->answer.p + at, j->answer.len - at);
		if (n <= 0)
			return EXIT_ENVIRON;
		at += (size_t)n;
	}
	return 0;
}

/* ---- its answer, which is untrusted ---- */

static bool take_field(struct slice *rest, struct slice *field)
{
	if (!rest->p)
		return false;
	const char *tab = slice_chr(*rest, '\t');
	*field = tab ? slice_of(rest->p, (size_t)(tab - rest->p)) : *rest;
	*rest = tab ? slice_of(tab + 1, rest->n - field->n - 1) : (struct slice){0};
	return true;
}

static bool hex(struct slice *rest, uint64_t *v)
{
	struct slice f;
	*v = 0;
	if (!take_field(rest, &f) || !f.n || f.n > 16)
		return false;
	for (size_t i = 0; i < f.n; i++) {
		unsigned ch = (unsigned char)f.p[i], d = ch - '0' < 10 ? ch - '0' : ch - 'a' < 6 ? ch - 'a' + 10 : 16;
		if (d == 16)
			return false;
		*v = *v << 4 | d;
	}
	return true;
}

static void take_frame(struct crash *c, const struct job *j, struct slice rest)
{
	struct slice module, symbol;
	uint64_t pc, exact, offset, in_symbol, k;
	if (!hex(&rest, &pc) || !hex(&rest, &exact) || !take_field(&rest, &module) || !hex(&rest, &offset) || !take_field(&rest, &symbol) ||
	    !hex(&rest, &in_symbol))
		return;
	struct crash_frame *f = crash_add_frame(c);
	if (!f)
		return;
	f->form = FORM_CORE;
	f->number = c->stack[c->n_stacks - 1].n - 1;
	f->has = HAS_ADDRESS;
	f->exact = exact;
	f->address = pc;
	/* Without a library there are no tables to unwind by; libdwfl then follows the frame pointer. */
	if (f->number) {
		const struct crash_frame *in = f - 1;
		f->guessed = in->guessed || !(in->has & HAS_OFFSET);
	}
	if (slice_u64(module, &k) && k < j->n) {
		f->module = j->module[k].path;
		f->build_id = j->module[k].build_id;
		f->offset = offset;
		f->has |= HAS_OFFSET;
	}
	if (symbol.n) {
		f->symbol = arena_slice(&c->arena, symbol);
		f->in_symbol = in_symbol;
		f->has |= HAS_IN_SYMBOL;
	}
}

static bool thread_known(const struct crash *c, uint64_t tid)
{
	for (uint32_t i = 0; i < c->n_threads; i++)
		if (c->thread[i].tid == tid)
			return true;
	return false;
}

static void begin_thread(struct crash *c, uint64_t tid)
{
	char name[32];
	snprintf(name, sizeof(name), "thread %llu", (unsigned long long)tid);
	struct crash_stack *s = crash_add_stack(c, slice_str(arena_strndup(&c->arena, name, strlen(name))));
	if (s) {
		s->tid = tid;
		s->crashed = tid == c->thread[0].tid;
	}
}

static void take_answer(struct crash *c, const struct job *j, struct slice text)
{
	struct slice line, kind;
	uint64_t tid;
	uint32_t first = c->n_stacks;
	while (slice_line(&text, &line)) {
		if (!take_field(&line, &kind))
			continue;
		if (slice_is(kind, "T") && hex(&line, &tid) && thread_known(c, tid))
			begin_thread(c, tid);
		else if (slice_is(kind, "F") && c->n_stacks > first)
			take_frame(c, j, line);
	}
}

/* Threads missing in the answer at least get the frame that they were in. */
static void take_registers(struct crash *c)
{
	for (uint32_t i = 0; i < c->n_threads; i++) {
		bool had = false;
		for (uint32_t k = 0; k < c->n_stacks && !had; k++)
			had = c->stack[k].tid == c->thread[i].tid && c->stack[k].n;
		if (had || c->n_stacks == CRASH_MAX_STACKS)
			continue;
		begin_thread(c, c->thread[i].tid);
		struct crash_frame *f = crash_add_frame(c);
		if (f)
			*f = (struct crash_frame){.form = FORM_CORE, .has = HAS_ADDRESS, .exact = true, .address = c->thread[i].pc};
	}
	crash_place_frames(c);
}

static void find_modules(struct job *j, const struct unwind_module *given, size_t n)
{
	const struct crash *c = j->c;
	j->module = xcalloc(c->n_maps + 1, sizeof(*j->module));
	for (uint32_t i = 0; i < c->n_maps && j->n < MAX_MODULES; i++) {
		const struct crash_map *m = &c->map[i];
		if (!m->path.n || m->offset || slice_starts(m->path, "/dev/") || slice_starts(m->path, "/proc/") ||
		    (j->n && slice_eq(j->module[j->n - 1].path, m->path)))
			continue;
		struct module *to = &j->module[j->n++];
		*to = (struct module){.path = m->path, .build_id = m->build_id, .start = m->start, .fd = -1};
		for (size_t k = 0; k < n; k++)
			if (slice_eq(given[k].path, m->path))
				to->bytes = given[k].bytes;
	}
}

/* The first missing library on the stack. */
static struct slice find_missing(const struct crash *c)
{
	const struct crash_stack *s = crash_main_stack(c);
	for (uint32_t i = 0; s && i < s->n; i++) {
		const struct crash_frame *f = &c->frame[s->first + i];
		const struct crash_map *m = f->has & HAS_OFFSET ? NULL : crash_map_of(c, f->address);
		if (m)
			return m->path;
	}
	return (struct slice){0};
}

int unwind_core(struct crash *c, struct slice core, const struct unwind_module *given, size_t n, struct slice *missing, struct err *err)
{
	struct job j = {.c = c, .core = core};
	struct child_result r;
	struct child_spec spec = {.argv = (const char *const[]){"the unwinder", NULL},
				  .in.how = CHILD_NULL,
				  .out.how = CHILD_PIPE,
				  .err.how = CHILD_PIPE,
				  .keep_head = MAX_ANSWER,
				  .timeout_ms = 2 * SECONDS * 1000,
				  .max_cpu_s = SECONDS,
				  .max_memory = WITH_ASAN ? 0 : (64ull << 30) + 2 * core.n,
				  .die_with_parent = true,
				  .function = in_child,
				  .arg = &j};
	find_modules(&j, given, n);
	int rc = child_run(&spec, &r, err);
	if (!rc) {
		take_answer(c, &j, buf_slice(&r.out.head));
		if (r.how != CHILD_EXITED || r.status) {
			LOCAL_BUF b = {0};
			child_describe(&r, &b);
			rc = err_set(err, r.status == EXIT_ENVIRON ? EXIT_ENVIRON : EXIT_INPUT, "cannot unwind the stack: %.600s",
				     r.how == CHILD_EXITED && r.err.head.len ? buf_str(&r.err.head) : buf_str(&b));
		}
		child_result_release(&r);
	}
	free(j.module);
	take_registers(c);
	*missing = find_missing(c);
	return rc;
}
