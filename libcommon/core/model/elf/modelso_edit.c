/* Makes a library loadable with any torch, or none. */
#include "model/elf/modelso_part.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Libraries in torch/lib of torch's wheels, under their own names (2.4 to 2.15, CPU, CUDA, ROCm and XPU). */
static const char *const torch_library[] = {"libtorch", "libc10", "libshm.", "libcaffe2", "libaoti_"};

bool modelso_of_torch(struct slice soname)
{
	soname = slice_base(soname);
	for (size_t i = 0; i < ARRAY_LEN(torch_library); i++)
		if (slice_starts(soname, torch_library[i]))
			return true;
	return false;
}

/* Slices are const; these bytes can be changed (modelso_edit). */
static void overwrite(const char *at, const void *p, size_t n) { memcpy((char *)(uintptr_t)at, p, n); }

/* The locations to change: all found beforehand, since in a damaged file they may overlap each other or the section table. */
struct parts {
	const struct elf_view *v;
	struct elf_dynamic dynamic;
	struct slice needs, strings, versym; /* .gnu.version_r and its names, .gnu.version */
	bool dropped[1 << 15];               /* torch's versions, by their number in .gnu.version */
};

static void find_parts(struct parts *p, const struct elf_view *v)
{
	Elf64_Shdr sh;
	p->v = v;
	elf_dynamic_open(&p->dynamic, v);
	elf_table(v, SHT_GNU_verneed, &p->needs, &p->strings);
	const uint32_t i = elf_find(v, NULL, SHT_GNU_versym);
	if (i && elf_section(v, i, &sh))
		p->versym = elf_data(v, &sh);
}

static void clear_stack(const struct elf_view *v)
{
	Elf64_Phdr ph;
	for (size_t i = 0; elf_segment(v, i, &ph); i++)
		if (ph.p_type == PT_GNU_STACK) {
			ph.p_flags &= ~(Elf64_Word)PF_X;
			overwrite(v->bytes.p + v->eh.e_phoff + i * sizeof(ph), &ph, sizeof(ph));
		}
}

static void set_dynamic(const struct parts *p, size_t i, Elf64_Dyn e) { overwrite(p->dynamic.entries.p + i * sizeof(e), &e, sizeof(e)); }

static void drop_needed(const struct parts *p)
{
	Elf64_Dyn e;
	for (size_t i = 0; elf_dynamic(&p->dynamic, i, &e); i++)
		if (e.d_tag == DT_NEEDED && modelso_of_torch(elf_str(p->dynamic.strings, e.d_un.d_val))) {
			e.d_tag = MODELSO_DT_DROPPED;
			set_dynamic(p, i, e);
		}
}

/* ---- versions: the dynamic linker requires each library they belong to ---- */

static void drop_versions_of(struct parts *p, uint64_t at, const Elf64_Verneed *vn)
{
	Elf64_Vernaux aux;
	uint64_t a = at + vn->vn_aux;
	for (unsigned k = 0; k < vn->vn_cnt && a <= p->needs.n && p->needs.n - a >= sizeof(aux); k++) {
		memcpy(&aux, p->needs.p + a, sizeof(aux));
		p->dropped[aux.vna_other & 0x7fff] = true;
		if (aux.vna_next < sizeof(aux))
			return;
		a += aux.vna_next;
	}
}

static void set_next(const struct parts *p, uint64_t at, uint64_t distance)
{
	Elf64_Word next = (Elf64_Word)distance;
	overwrite(p->needs.p + at + offsetof(Elf64_Verneed, vn_next), &next, sizeof(next));
}

/* The first remaining record becomes the first of all, since the linker starts there. Without any, nothing in the file has versions. */
static void set_first(const struct parts *p, uint64_t first)
{
	Elf64_Verneed vn = {.vn_version = VER_NEED_CURRENT};
	Elf64_Dyn e;
	if (first != UINT64_MAX) {
		memcpy(&vn, p->needs.p + first, sizeof(vn));
		vn.vn_aux += (Elf64_Word)first;
		vn.vn_next += vn.vn_next ? (Elf64_Word)first : 0;
	}
	overwrite(p->needs.p, &vn, sizeof(vn));
	for (size_t i = 0; first == UINT64_MAX && elf_dynamic(&p->dynamic, i, &e); i++)
		if (e.d_tag == DT_VERNEED || e.d_tag == DT_VERSYM) {
			e.d_tag = MODELSO_DT_DROPPED + 1;
			set_dynamic(p, i, e);
		}
}

/* The records of other libraries are relinked. */
static void drop_records(struct parts *p)
{
	Elf64_Verneed vn;
	uint64_t first = UINT64_MAX, last = 0;
	for (uint64_t at = 0; at <= p->needs.n && p->needs.n - at >= sizeof(vn); at += vn.vn_next) {
		memcpy(&vn, p->needs.p + at, sizeof(vn));
		if (modelso_of_torch(elf_str(p->strings, vn.vn_file))) {
			drop_versions_of(p, at, &vn);
		} else {
			if (first == UINT64_MAX)
				first = at;
			else
				set_next(p, last, at - last);
			last = at;
			set_next(p, at, 0);
		}
		if (vn.vn_next < sizeof(vn))
			break;
	}
	if (first)
		set_first(p, first);
}

/* A symbol with a dropped version loses its version: any library may have it. */
static void drop_versions(struct parts *p)
{
	if (p->needs.n >= sizeof(Elf64_Verneed))
		drop_records(p);
	for (size_t at = 0; at + 2 <= p->versym.n; at += 2) {
		Elf64_Half k, global = VER_NDX_GLOBAL;
		memcpy(&k, p->versym.p + at, 2);
		if (p->dropped[k & 0x7fff])
			overwrite(p->versym.p + at, &global, 2);
	}
}

/* ---- the file ---- */

int modelso_edit(char *p, size_t n, const char *name, struct err *err)
{
	const struct slice bytes = slice_of(p, n);
	struct elf_view v;
	if (bytes.n < EI_NIDENT || bytes.p[EI_CLASS] != ELFCLASS64 || bytes.p[EI_DATA] != ELFDATA2LSB || memcmp(bytes.p, ELFMAG, SELFMAG))
		return 0; /* the loader will report what it is */
	if (elf_view_open(&v, bytes, name, err) < 0)
		return -1;
	FREED struct parts *parts = xcalloc(1, sizeof(*parts));
	find_parts(parts, &v);
	clear_stack(&v);
	drop_needed(parts);
	drop_versions(parts);
	return 0;
}

int modelso_make_loadable(const char *path, struct err *err)
{
	struct stat st;
	int fd = open(path, O_RDWR | O_CLOEXEC), r = 0;
	if (fd < 0 || fstat(fd, &st) < 0) {
		err_errno(err, EXIT_ENVIRON, "cannot open '%s'", path);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	size_t n = (size_t)st.st_size;
	char *p = n ? mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : NULL;
	if (p == MAP_FAILED) {
		r = err_errno(err, EXIT_ENVIRON, "cannot map '%s'", path);
	} else if (p) {
		r = modelso_edit(p, n, path, err);
		munmap(p, n);
	}
	close(fd);
	return r;
}
