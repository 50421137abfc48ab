/* cuda_elf.c - reads two things from ELF files: a kernel's parameters from its cubin, and the function at an address in a model. */
#include "cuda.h"

#include "model/elf/cubin.h"
#include "model/elf/modelso_elf.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_FILE ((off_t)4 << 30)
#define MAX_IMAGE (256u << 20)

struct slice cuda_map_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	off_t n = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
	void *p = n > 0 && n <= MAX_FILE ? mmap(NULL, (size_t)n, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
	if (fd >= 0)
		close(fd);
	return p == MAP_FAILED ? (struct slice){0} : slice_of(p, (size_t)n);
}

void cuda_unmap_file(struct slice file) { munmap((void *)(uintptr_t)file.p, file.n); }

/* ---- parameters ---- */

size_t cuda_image_length(const void *image)
{
	uint64_t n = fatbin_length(slice_of(image, FATBIN_HEAD));
	n = n ? n : cubin_length(slice_of(image, sizeof(Elf64_Ehdr)));
	return n <= MAX_IMAGE ? (size_t)n : 0;
}

/* The cubins of a fat binary, one for each SM, have the same parameters. */
int cuda_params_of_image(struct slice image, const char *kernel, uint16_t *size, uint32_t max)
{
	struct fatbin_part part;
	struct slice parts;
	int n = -1;
	if (!fatbin_open(image, &parts))
		return cubin_params(image, kernel, size, max);
	while (n < 0 && fatbin_next(&parts, &part) > 0)
		if (part.kind == FATBIN_ELF)
			n = cubin_params(part.bytes, kernel, size, max);
	return n;
}

int cuda_params_of_file(const char *path, const char *kernel, uint16_t *size, uint32_t max)
{
	struct slice file = cuda_map_file(path);
	if (!file.n)
		return -1;
	int n = cuda_params_of_image(file, kernel, size, max);
	cuda_unmap_file(file);
	return n;
}

/* ---- symbols ---- */

static bool symbol_in(const struct elf_symbols *s, uint64_t address, char *name, size_t room)
{
	for (size_t i = 0; i < s->n; i++) {
		Elf64_Sym sym = elf_symbol(s, i);
		if (sym.st_value != address || ELF64_ST_TYPE(sym.st_info) != STT_FUNC || sym.st_shndx == SHN_UNDEF)
			continue;
		struct slice text = elf_symbol_name(s, &sym);
		if (!text.n || text.n >= room)
			continue;
		memcpy(name, text.p, text.n);
		name[text.n] = 0;
		return true;
	}
	return false;
}

bool cuda_symbol_at(struct slice file, uint64_t address, char *name, size_t room)
{
	struct elf_view v;
	struct elf_symbols s;
	if (file.n < sizeof(Elf64_Ehdr) || memcmp(file.p, ELFMAG, SELFMAG) || file.p[EI_CLASS] != ELFCLASS64 ||
	    elf_view_open(&v, file, "", NULL) < 0)
		return false;
	return (elf_symbols(&v, SHT_SYMTAB, &s) && symbol_in(&s, address, name, room)) ||
	       (elf_symbols(&v, SHT_DYNSYM, &s) && symbol_in(&s, address, name, room));
}
