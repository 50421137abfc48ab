/* Reads a library's data: constants, GPU code; and identifies the kind of a file. */
#include "model/elf/cubin.h"
#include "model/elf/modelso_part.h"

/* ---- which executable format ---- */

#define MACHINES(X) \
	X(EM_386, "i686") \
	X(EM_ARM, "armv7l") \
	X(EM_X86_64, "x86_64") \
	X(EM_AARCH64, "aarch64") \
	X(EM_S390, "s390x") \
	X(EM_RISCV, "riscv64") \
	X(258, "loongarch64") \
	X(EM_AMDGPU, "amdgpu") \
	X(EM_CUDA, "cuda")

bool modelso_section(const struct modelso *m, const char *section, struct slice *data, uint64_t *address)
{
	struct elf_view v;
	Elf64_Shdr sh;
	if (m->header_only || elf_view_open(&v, m->bytes, m->name, NULL) < 0)
		return false;
	uint32_t i = elf_find(&v, section, 0);
	if (!i || !elf_section(&v, i, &sh))
		return false;
	*data = elf_data(&v, &sh);
	if (address)
		*address = sh.sh_addr;
	return data->n > 0;
}

const char *modelso_machine_name(uint16_t machine, bool big_endian)
{
	static _Thread_local char other[32];
	switch (machine) {
#define CASE(num, text) \
	case num: return text;
		MACHINES(CASE)
#undef CASE
	case EM_PPC64: return big_endian ? "ppc64" : "ppc64le";
	}
	snprintf(other, sizeof(other), "machine %u", machine);
	return other;
}

static const char *elf_what(struct slice b)
{
	static _Thread_local char text[96];
	static const char *const kind[] = {"file", "object file", "program", "library", "core dump"};
	const unsigned char *p = (const unsigned char *)b.p;
	if (b.n < 20)
		return "the beginning of an ELF file";
	bool big = p[EI_DATA] == ELFDATA2MSB;
	unsigned type = big ? p[17] | p[16] << 8 : p[16] | p[17] << 8;
	unsigned machine = big ? p[19] | p[18] << 8 : p[18] | p[19] << 8;
	const char *name = modelso_machine_name((uint16_t)machine, big);
	snprintf(text, sizeof(text), "%s %s%s ELF %s", strchr("aei", name[0]) ? "an" : "a", p[EI_CLASS] == ELFCLASS32 ? "32-bit " : "",
		 name, kind[type < ARRAY_LEN(kind) ? type : 0]);
	return text;
}

const char *modelso_what(struct slice b, bool *elf)
{
	static const char *const mach[] = {"\xfe\xed\xfa\xce", "\xce\xfa\xed\xfe", "\xfe\xed\xfa\xcf", "\xcf\xfa\xed\xfe",
					   "\xca\xfe\xba\xbe"};
	if (elf)
		*elf = false;
	if (b.n >= 4 && !memcmp(b.p, ELFMAG, SELFMAG)) {
		if (elf)
			*elf = true;
		return elf_what(b);
	}
	if (b.n >= 64 && b.p[0] == 'M' && b.p[1] == 'Z')
		return "a Windows DLL";
	for (size_t i = 0; i < ARRAY_LEN(mach); i++)
		if (b.n >= 4 && !memcmp(b.p, mach[i], 4))
			return "a Mach-O library (macOS)";
	if (b.n >= 4 && !memcmp(b.p, "\0asm", 4))
		return "a WebAssembly module";
	if (b.n >= 8 && !memcmp(b.p, "!<arch>\n", 8))
		return "a static library (.a)";
	return NULL;
}

/* ---- constants ---- */

/* The code that fetches constants shows which form it was compiled for, in its own error texts
 * (aoti_runtime/model_base.h, _get_constants_start; torch 2.5 to 2.7 misspell one: "Weigths"). */
static bool has_text(struct slice strings, const char *text)
{
	size_t n = strings.n < MODELSO_MAX_SCAN ? strings.n : MODELSO_MAX_SCAN;
	return n && memmem(strings.p, n, text, strlen(text));
}

static void check_appended(struct modelso *m, const struct elf_view *v, uint64_t total, uint64_t magic)
{
	struct modelso_constants *c = &m->constants;
	uint64_t size = m->bytes.n, last, table = v->eh.e_shoff + (uint64_t)v->n * sizeof(Elf64_Shdr);
	c->size = total >= 8 ? total - 8 : 0;
	if (total < 8 || total > size) {
		c->damage = "the file is smaller than the weights that should follow the library in it: it was truncated, "
			    "or relinked";
		return;
	}
	c->offset = size - total;
	memcpy(&last, m->bytes.p + size - 8, 8);
	if (last != magic)
		c->damage = "the mark at the end of the weights differs from the one in the library: the file was truncated, bytes "
			    "were added (by a signing or stripping tool), or the weights belong to another model";
	else if (c->offset & 0x3fff)
		c->damage = "the weights do not start at a multiple of 16 KiB in the file";
	else if (c->offset < table)
		c->damage = "the weights would overlap the library";
}

static bool constant_symbols(const struct elf_view *v, Elf64_Sym *start, Elf64_Sym *end)
{
	static const uint32_t table[] = {SHT_DYNSYM, SHT_SYMTAB};
	struct elf_symbols s;
	unsigned found = 0;
	for (unsigned t = 0; t < 2 && found != 3; t++) {
		if (!elf_symbols(v, table[t], &s))
			continue;
		for (size_t i = 1; i < s.n; i++) {
			Elf64_Sym sym = elf_symbol(&s, i);
			struct slice name = elf_symbol_name(&s, &sym);
			if (sym.st_shndx == SHN_UNDEF || !slice_starts(name, "_binary_constants_bin_"))
				continue;
			if (slice_ends(name, "_start"))
				*start = sym, found |= 1;
			else if (slice_ends(name, "_end"))
				*end = sym, found |= 2;
		}
	}
	return found == 3;
}

void modelso_find_constants(struct modelso *m, const struct elf_view *v)
{
	struct modelso_constants *c = &m->constants;
	Elf64_Sym start = {0}, end = {0};
	Elf64_Shdr sh;
	uint64_t size, word[2] = {0};
	struct slice ro = {0};
	if (!constant_symbols(v, &start, &end) || !elf_section(v, start.st_shndx, &sh))
		return;
	struct slice data = elf_data(v, &sh);
	if (start.st_value < sh.sh_addr || start.st_value - sh.sh_addr > data.n || end.st_value < start.st_value ||
	    (size = end.st_value - start.st_value) > data.n - (start.st_value - sh.sh_addr)) {
		c->damage = "the symbols that mark the constants are not in their section";
		return;
	}
	c->section = elf_name(v, &sh);
	c->offset = sh.sh_offset + (start.st_value - sh.sh_addr);
	c->size = size;
	memcpy(word, m->bytes.p + c->offset, size < sizeof(word) ? size : sizeof(word));
	modelso_section(m, ".rodata", &ro, NULL);
	if (size == 16 && (has_text(ro, "Weights data seems corrupt") || has_text(ro, "Weigths data seems corrupt"))) {
		c->form = CONSTANTS_APPENDED;
		check_appended(m, v, word[0], word[1]);
	} else if (size == 8 && has_text(ro, "Constants are not mmap'd.")) {
		*c = (struct modelso_constants){CONSTANTS_BLOB, 0, word[0], c->section, ""};
	} else if (size > 1 || word[0]) {
		c->form = CONSTANTS_EMBEDDED;
	} else { /* the assembler needs a byte to create an otherwise empty section */
		*c = (struct modelso_constants){CONSTANTS_NONE, 0, 0, c->section, ""};
	}
}

/* ---- code for GPUs ---- */

enum { SPIRV_MAGIC = 0x07230203 };

static bool cubin(struct slice b, struct modelso_image *image)
{
	Elf64_Ehdr eh;
	if (b.n < sizeof(eh) || memcmp(b.p, ELFMAG, SELFMAG) || b.p[EI_CLASS] != ELFCLASS64 || b.p[EI_DATA] != ELFDATA2LSB)
		return false;
	memcpy(&eh, b.p, sizeof(eh));
	if (eh.e_machine == EM_AMDGPU) {
		image->kind = IMAGE_HSACO;
	} else if (eh.e_machine == EM_CUDA) {
		/* ptxas of CUDA 13 moved the number of the SM (ABI version 8), and no longer marks sm_90a. */
		bool v2 = eh.e_ident[EI_ABIVERSION] >= 8;
		image->kind = IMAGE_CUBIN;
		image->sm = v2 ? eh.e_flags >> 8 & 0xff : eh.e_flags & 0xff;
		image->exact = !v2 && eh.e_flags & 0x800;
	} else {
		return false;
	}
	uint64_t n = (uint64_t)eh.e_shnum * eh.e_shentsize, p = (uint64_t)eh.e_phnum * eh.e_phentsize, end = 0;
	if (eh.e_shoff <= b.n && n <= b.n - eh.e_shoff)
		end = eh.e_shoff + n;
	if (eh.e_phoff <= b.n && p <= b.n - eh.e_phoff && eh.e_phoff + p > end)
		end = eh.e_phoff + p; /* ptxas writes the program headers last */
	image->size = end;
	return true;
}

bool modelso_image_read(struct slice b, struct modelso_image *image)
{
	uint32_t magic;
	*image = (struct modelso_image){.size = b.n};
	if (b.n < sizeof(magic))
		return false;
	memcpy(&magic, b.p, sizeof(magic));
	if (magic == FATBIN_MAGIC || magic == SPIRV_MAGIC) {
		image->kind = magic == FATBIN_MAGIC ? IMAGE_FATBIN : IMAGE_SPIRV;
		return true;
	}
	return cubin(b, image);
}

/* The first CUDA with this PTX: "Release History" of NVIDIA's PTX ISA. minor and major are the PTX's version, of a cubin its ABI's. */
static unsigned cuda_of_ptx(unsigned major, unsigned minor)
{
	if (major == 8)
		minor += minor > 5; /* 8.5 is from CUDA 12.5 and 12.6 */
	return major >= 7 && major <= 9 && minor < 10 ? (major + 4) * 1000 + minor * 10 : 0;
}

/* A fat binary does not record sm_90a: the cubin itself does, and so does unpacked PTX. */
static struct modelso_code code_of(const struct fatbin_part *p)
{
	struct modelso_code code = {.sm = p->sm, .ptx = p->kind == FATBIN_PTX};
	code.cuda = code.ptx ? cuda_of_ptx(p->major, p->minor) : cubin_cuda(p->bytes);
	struct modelso_image image = {0};
	char target[32];
	int n = snprintf(target, sizeof(target), ".target sm_%ua", p->sm);
	if (code.ptx)
		code.exact = memmem(p->bytes.p, p->bytes.n < 4096 ? p->bytes.n : 4096, target, (size_t)n);
	else
		code.exact = cubin(p->bytes, &image) && image.exact;
	return code;
}

static size_t fatbin_codes(struct slice b, struct modelso_code *v, size_t max)
{
	struct slice parts;
	struct fatbin_part p;
	size_t n = 0;
	int more;
	if (!fatbin_open(b, &parts))
		return 0;
	while ((more = fatbin_next(&parts, &p)) > 0)
		if ((p.kind == FATBIN_PTX || p.kind == FATBIN_ELF) && p.sm < 1000) {
			if (n < max)
				v[n] = code_of(&p);
			n++;
		}
	if (more < 0)
		return 0;
	for (size_t i = 0; i < n && i < max; i++) /* packed PTX comes from the same text as the cubin */
		for (size_t k = 0; v[i].ptx && k < n && k < max; k++)
			v[i].exact |= !v[k].ptx && v[k].sm == v[i].sm && v[k].exact;
	return n;
}

size_t modelso_codes(struct slice b, struct modelso_code *v, size_t max)
{
	struct modelso_image image;
	if (!modelso_image_read(b, &image))
		return 0;
	if (image.kind == IMAGE_FATBIN)
		return fatbin_codes(b, v, max);
	if (image.kind != IMAGE_CUBIN || !image.sm)
		return 0;
	if (max)
		*v = (struct modelso_code){.sm = image.sm, .exact = image.exact, .cuda = cubin_cuda(b)};
	return 1;
}

/* __NAME_start: batch_convert_cubins_to_obj's symbol for the start of an embedded kernel. */
static struct slice image_name(const struct elf_view *v, uint64_t address)
{
	static const uint32_t table[] = {SHT_DYNSYM, SHT_SYMTAB};
	struct elf_symbols s;
	for (unsigned t = 0; t < 2; t++) {
		if (!elf_symbols(v, table[t], &s))
			continue;
		for (size_t i = 1; i < s.n; i++) {
			Elf64_Sym sym = elf_symbol(&s, i);
			if (sym.st_value != address || sym.st_shndx == SHN_UNDEF)
				continue;
			struct slice name = elf_symbol_name(&s, &sym);
			if (slice_starts(name, "__") && slice_ends(name, "_start") && name.n > 8)
				return slice_of(name.p + 2, name.n - 8);
		}
	}
	return (struct slice){"", 0};
}

struct images {
	struct modelso_image *v;
	size_t n, max;
};

/* All images of one format, by its first bytes. */
static void images_in(const struct elf_view *v, const Elf64_Shdr *sh, const char *magic, struct images *to)
{
	struct slice d = elf_data(v, sh);
	if (d.n > MODELSO_MAX_SCAN)
		d.n = MODELSO_MAX_SCAN;
	const char *at = d.p, *end = d.p + d.n, *p;
	while (to->n < to->max && (p = memmem(at, (size_t)(end - at), magic, 4))) {
		struct modelso_image image;
		size_t left = (size_t)(end - p);
		at = p + 4;
		if (!modelso_image_read(slice_of(p, left), &image))
			continue;
		if (image.kind == IMAGE_FATBIN)
			image.size = 0; /* only the end of the section was known */
		else if (image.size > 4 && image.size <= left)
			at = p + image.size;
		image.offset = sh->sh_offset + (uint64_t)(p - d.p);
		image.name = image_name(v, sh->sh_addr + (uint64_t)(p - d.p));
		to->v[to->n++] = image;
	}
}

size_t modelso_images(const struct modelso *m, struct modelso_image *v, size_t max)
{
	struct images to = {v, 0, max};
	struct elf_view elf;
	Elf64_Shdr sh;
	if (m->header_only || elf_view_open(&elf, m->bytes, m->name, NULL) < 0)
		return 0;
	for (uint32_t i = 1; elf_section(&elf, i, &sh); i++) {
		struct slice name = elf_name(&elf, &sh);
		if (sh.sh_type != SHT_PROGBITS || !(sh.sh_flags & SHF_ALLOC) || sh.sh_flags & SHF_EXECINSTR || slice_is(name, ".lrodata") ||
		    slice_is(name, ".ldata"))
			continue;
		images_in(&elf, &sh, ELFMAG, &to);
		images_in(&elf, &sh, "\x50\xed\x55\xba", &to);
	}
	return to.n;
}
