/* How long the parameters of a kernel are, by its cubin. A cubin is an ELF64 file for machine 190 (EM_CUDA); section .nv.info.KERNEL is a
 * row of attributes {u8 form, u8 attribute, u16 value or length}, and with form 4 as many bytes as that says. Attribute 0x17
 * (EIATTR_KPARAM_INFO, form 4, 12 bytes) is one parameter: u32 index, u16 ordinal, u16 offset, u32 with its size in bits 18 to 31. Seen in
 * cubins of CUDA 11 and 12; NVIDIA documents none of it, but its own cuobjdump --dump-elf prints them so.
 *
 * A fat binary (aoti/modelso_data.c) has a cubin for each SM, with the same parameters. */
#include "cuda.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MACHINE 190
#define FORM_BYTES 4
#define KPARAM_INFO 0x17
#define MAX_FILE (256u << 20)
#define FAT_MAGIC 0xba55ed50
#define FAT_ELF 2

static bool within(size_t n, uint64_t at, uint64_t len) { return at <= n && len <= n - at; }

static bool header(const char *p, size_t n, Elf64_Ehdr *e)
{
	if (n < sizeof(*e))
		return false;
	memcpy(e, p, sizeof(*e));
	return !memcmp(e->e_ident, ELFMAG, SELFMAG) && e->e_ident[EI_CLASS] == ELFCLASS64 && e->e_machine == MACHINE &&
	       e->e_shentsize == sizeof(Elf64_Shdr) && e->e_shnum;
}

struct fat {
	uint32_t magic;
	uint16_t version, head;
	uint64_t size;
};
struct fat_entry {
	uint16_t kind, version;
	uint32_t head;
	uint64_t size;
};

static bool is_fat(const char *p, size_t n, struct fat *f)
{
	if (n < sizeof(*f))
		return false;
	memcpy(f, p, sizeof(*f));
	return f->magic == FAT_MAGIC && f->head >= sizeof(*f) && f->size <= MAX_FILE;
}

/* The first cubin of a fat binary, in place of it. */
static void out_of_fat(const char **p, size_t *n)
{
	struct fat f;
	struct fat_entry e;
	Elf64_Ehdr eh;
	if (!is_fat(*p, *n, &f))
		return;
	uint64_t end = f.head + f.size, at = f.head;
	for (; end <= *n && within(end, at, sizeof(e)); at += e.head + e.size) {
		memcpy(&e, *p + at, sizeof(e));
		if (e.head < sizeof(e) || !within(end, at, e.head) || !within(end, at + e.head, e.size))
			return;
		if (e.kind == FAT_ELF && header(*p + at + e.head, e.size, &eh)) {
			*p += at + e.head;
			*n = e.size;
			return;
		}
	}
}

size_t cuda_image_length(const void *image)
{
	Elf64_Ehdr e;
	struct fat f;
	if (is_fat(image, sizeof(f), &f))
		return (size_t)(f.head + f.size);
	if (!header(image, sizeof(e), &e) || e.e_shoff > MAX_FILE)
		return 0;
	return (size_t)e.e_shoff + (size_t)e.e_shnum * sizeof(Elf64_Shdr);
}

static int take_attributes(const char *p, size_t n, uint16_t *size, uint32_t max)
{
	uint32_t seen = 0, top = 0;
	for (size_t at = 0; at + 4 <= n;) {
		uint8_t form = (uint8_t)p[at], attribute = (uint8_t)p[at + 1];
		uint16_t len, ordinal;
		uint32_t word;
		memcpy(&len, p + at + 2, 2);
		at += 4;
		if (form != FORM_BYTES)
			continue;
		if (len > n - at)
			return -1;
		if (attribute == KPARAM_INFO && len >= 12) {
			memcpy(&ordinal, p + at + 4, 2);
			memcpy(&word, p + at + 8, 4);
			if (ordinal >= max)
				return -1;
			size[ordinal] = (uint16_t)(word >> 18);
			top = ordinal + 1u > top ? ordinal + 1u : top;
			seen++;
		}
		at += len;
	}
	return seen == top ? (int)top : -1;
}

int cuda_params_of_cubin(const void *cubin, size_t n, const char *kernel, uint16_t *size, uint32_t max)
{
	static const char prefix[] = ".nv.info.";
	const char *p = cubin;
	Elf64_Ehdr e;
	Elf64_Shdr names, s;
	size_t want = strlen(kernel) + sizeof(prefix);
	out_of_fat(&p, &n);
	if (!header(p, n, &e) || !within(n, e.e_shoff, (uint64_t)e.e_shnum * sizeof(s)) || e.e_shstrndx >= e.e_shnum)
		return -1;
	memcpy(&names, p + e.e_shoff + e.e_shstrndx * sizeof(s), sizeof(s));
	if (!within(n, names.sh_offset, names.sh_size))
		return -1;
	for (uint32_t i = 0; i < e.e_shnum; i++) {
		memcpy(&s, p + e.e_shoff + i * sizeof(s), sizeof(s));
		if (!within(names.sh_size, s.sh_name, want) || !within(n, s.sh_offset, s.sh_size))
			continue;
		const char *name = p + names.sh_offset + s.sh_name;
		if (memcmp(name, prefix, sizeof(prefix) - 1) || memcmp(name + sizeof(prefix) - 1, kernel, want - sizeof(prefix) + 1))
			continue;
		return take_attributes(p + s.sh_offset, s.sh_size, size, max);
	}
	return -1;
}

int cuda_params_of_file(const char *path, const char *kernel, uint16_t *size, uint32_t max)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), r = -1;
	off_t n = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
	void *p = n > 0 && n <= MAX_FILE ? mmap(NULL, (size_t)n, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
	if (fd >= 0)
		close(fd);
	if (p == MAP_FAILED)
		return -1;
	r = cuda_params_of_cubin(p, (size_t)n, kernel, size, max);
	munmap(p, (size_t)n);
	return r;
}
