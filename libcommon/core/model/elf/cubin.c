#include "model/elf/cubin.h"

#include "model/elf/modelso_elf.h"

/* ---- fat binaries ---- */

enum { PART_MINOR = 24, PART_MAJOR = 26, PART_SM = 28, PART_HEAD = 32 };

uint64_t fatbin_length(struct slice b)
{
	uint32_t magic;
	uint16_t head;
	uint64_t rest;
	if (b.n < FATBIN_HEAD)
		return 0;
	memcpy(&magic, b.p, sizeof(magic));
	memcpy(&head, b.p + 6, sizeof(head));
	memcpy(&rest, b.p + 8, sizeof(rest));
	return magic == FATBIN_MAGIC && head >= FATBIN_HEAD && rest <= UINT64_MAX - head ? head + rest : 0;
}

bool fatbin_open(struct slice b, struct slice *parts)
{
	const uint64_t n = fatbin_length(b);
	uint16_t head;
	if (!n || n > b.n)
		return false;
	memcpy(&head, b.p + 6, sizeof(head));
	*parts = slice_of(b.p + head, n - head);
	return true;
}

int fatbin_next(struct slice *parts, struct fatbin_part *part)
{
	const char *p = parts->p;
	uint32_t head;
	uint64_t size;
	if (parts->n < PART_HEAD)
		return 0;
	memcpy(&part->kind, p, sizeof(part->kind));
	memcpy(&head, p + 4, sizeof(head));
	memcpy(&size, p + 8, sizeof(size));
	memcpy(&part->minor, p + PART_MINOR, sizeof(part->minor));
	memcpy(&part->major, p + PART_MAJOR, sizeof(part->major));
	memcpy(&part->sm, p + PART_SM, sizeof(part->sm));
	if (head < PART_HEAD || head > parts->n || size > parts->n - head)
		return -1;
	part->bytes = slice_of(p + head, size);
	*parts = slice_of(p + head + size, parts->n - head - size);
	return 1;
}

/* ---- cubins ---- */

static bool header(struct slice b, Elf64_Ehdr *e)
{
	if (b.n < sizeof(*e))
		return false;
	memcpy(e, b.p, sizeof(*e));
	return !memcmp(e->e_ident, ELFMAG, SELFMAG) && e->e_ident[EI_CLASS] == ELFCLASS64 && e->e_machine == EM_CUDA;
}

uint64_t cubin_length(struct slice b)
{
	Elf64_Ehdr e;
	if (!header(b, &e))
		return 0;
	/* ptxas writes the program headers last, if there are any. */
	uint64_t n = (uint64_t)e.e_shnum * e.e_shentsize, m = (uint64_t)e.e_phnum * e.e_phentsize;
	if (e.e_shoff > UINT64_MAX - n || e.e_phoff > UINT64_MAX - m)
		return 0;
	return e.e_shoff + n > e.e_phoff + m ? e.e_shoff + n : e.e_phoff + m;
}

/* The next attribute that has bytes: 1, 0 at the end, -1 if they are out of bounds. */
static int attribute(struct slice *rest, uint8_t *which, struct slice *bytes)
{
	enum { FORM_BYTES = 4 };
	uint16_t n;
	for (; rest->n >= 4; *rest = slice_of(rest->p + 4, rest->n - 4)) {
		if (rest->p[0] != FORM_BYTES)
			continue;
		memcpy(&n, rest->p + 2, sizeof(n));
		if (n > rest->n - 4)
			return -1;
		*which = (uint8_t)rest->p[1];
		*bytes = slice_of(rest->p + 4, n);
		*rest = slice_of(rest->p + 4 + n, rest->n - 4 - n);
		return 1;
	}
	return 0;
}

/* From the section of one kernel. */
static int params(struct slice info, uint16_t *size, uint32_t max)
{
	enum { KPARAM_INFO = 0x17 };
	uint32_t seen = 0, top = 0, word;
	uint16_t ordinal;
	uint8_t which;
	struct slice b;
	int more;
	while ((more = attribute(&info, &which, &b)) > 0) {
		if (which != KPARAM_INFO || b.n < 12)
			continue;
		memcpy(&ordinal, b.p + 4, sizeof(ordinal));
		memcpy(&word, b.p + 8, sizeof(word));
		if (ordinal >= max)
			return -1;
		size[ordinal] = (uint16_t)(word >> 18);
		top = ordinal + 1u > top ? ordinal + 1u : top;
		seen++;
	}
	return !more && seen == top ? (int)top : -1;
}

int cubin_params(struct slice b, const char *kernel, uint16_t *size, uint32_t max)
{
	static const char prefix[] = ".nv.info.";
	struct elf_view v;
	Elf64_Ehdr e;
	Elf64_Shdr sh;
	if (!header(b, &e) || elf_view_open(&v, b, "", NULL) < 0)
		return -1;
	for (uint32_t i = 1; elf_section(&v, i, &sh); i++) {
		struct slice name = elf_name(&v, &sh);
		if (slice_starts(name, prefix) && slice_is(slice_of(name.p + sizeof(prefix) - 1, name.n - sizeof(prefix) + 1), kernel))
			return params(elf_data(&v, &sh), size, max);
	}
	return -1;
}

unsigned cubin_cuda(struct slice b)
{
	enum { CUDA_API_VERSION = 0x37 };
	struct elf_view v;
	Elf64_Shdr sh;
	uint32_t version;
	uint8_t which;
	struct slice bytes;
	if (elf_view_open(&v, b, "", NULL) < 0)
		return 0;
	for (uint32_t i = 1; elf_section(&v, i, &sh); i++) {
		struct slice info = slice_starts(elf_name(&v, &sh), ".nv.info") ? elf_data(&v, &sh) : (struct slice){0};
		while (attribute(&info, &which, &bytes) > 0)
			if (which == CUDA_API_VERSION && bytes.n == sizeof(version)) {
				memcpy(&version, bytes.p, sizeof(version));
				return version < 1000 ? version / 10 * 1000 + version % 10 * 10 : 0;
			}
	}
	return 0;
}
