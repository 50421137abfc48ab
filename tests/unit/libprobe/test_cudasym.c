/* The name of a kernel that nvcc has compiled into a model, by the symbol of the function on the host that stands for it. */
#include "../../lib/test.h"

#include <link.h>

#include "../../../libprobe/cuda_elf.c"
#include "../../lib/guard.h"

struct image {
	Elf64_Ehdr e;
	Elf64_Shdr s[4];
	Elf64_Sym symbol[4];
	char names[24];
};

static struct image make(void)
{
	struct image m = {.names = "\0data\0_Z6kernelPf\0other"};
	memcpy(m.e.e_ident, ELFMAG, SELFMAG);
	m.e.e_ident[EI_CLASS] = ELFCLASS64;
	m.e.e_shoff = offsetof(struct image, s);
	m.e.e_shentsize = sizeof(Elf64_Shdr);
	m.e.e_shnum = 4;
	m.e.e_shstrndx = 2;
	m.s[1] = (Elf64_Shdr){
	    .sh_type = SHT_SYMTAB, .sh_offset = offsetof(struct image, symbol), .sh_size = 3 * sizeof(Elf64_Sym), .sh_link = 2};
	m.s[2] = (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = offsetof(struct image, names), .sh_size = sizeof(m.names)};
	m.s[3] =
	    (Elf64_Shdr){.sh_type = SHT_DYNSYM, .sh_offset = offsetof(struct image, symbol[3]), .sh_size = sizeof(Elf64_Sym), .sh_link = 2};
	m.symbol[1] = (Elf64_Sym){.st_name = 1, .st_info = ELF64_ST_INFO(STB_LOCAL, STT_OBJECT), .st_shndx = 1, .st_value = 0x1000};
	m.symbol[2] = (Elf64_Sym){.st_name = 6, .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC), .st_shndx = 1, .st_value = 0x1000};
	m.symbol[3] = (Elf64_Sym){.st_name = 18, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = 1, .st_value = 0x2000};
	return m;
}

static void test_symbols(void **state)
{
	(void)state;
	struct image m = make();
	char name[16];
	assert_true(cuda_symbol_at(slice_of((char *)&m, sizeof(m)), 0x1000, name, sizeof(name)));
	assert_string_equal(name, "_Z6kernelPf");
	assert_true(cuda_symbol_at(slice_of((char *)&m, sizeof(m)), 0x2000, name, sizeof(name)));
	assert_string_equal(name, "other");
	assert_false(cuda_symbol_at(slice_of((char *)&m, sizeof(m)), 0x1001, name, sizeof(name)));
	assert_false(cuda_symbol_at(slice_of((char *)&m, sizeof(m)), 0x1000, name, 11));
	m.symbol[2].st_shndx = SHN_UNDEF;
	assert_false(cuda_symbol_at(slice_of((char *)&m, sizeof(m)), 0x1000, name, sizeof(name)));
	m = make();
	m.s[1].sh_link = 3; /* no table of strings */
	assert_false(cuda_symbol_at(slice_of((char *)&m, sizeof(m)), 0x1000, name, sizeof(name)));
	m = make();
	memset(m.names + 18, 'x', sizeof(m.names) - 18); /* it does not end */
	assert_false(cuda_symbol_at(slice_of((char *)&m, sizeof(m)), 0x2000, name, sizeof(name)));
}

/* Against the end of memory: cut, and with every byte changed. */
static void test_damaged(void **state)
{
	(void)state;
	struct image m = make();
	struct guard g = {0};
	char name[16];
	for (size_t n = 0; n < sizeof(m); n++)
		if (cuda_symbol_at(slice_of(guard_put(&g, &m, n), n), 0x1000, name, sizeof(name)))
			assert_string_equal(name, "_Z6kernelPf");
	for (size_t i = 0; i < sizeof(m); i++)
		for (int k = 0; k < 3; k++) {
			unsigned char *p = (unsigned char *)guard_put(&g, &m, sizeof(m));
			p[i] = k ? (unsigned char)(k == 1 ? 0xff : p[i] ^ 0x41) : 0;
			if (cuda_symbol_at(slice_of((char *)p, sizeof(m)), 0x2000, name, sizeof(name)))
				assert_true(strlen(name) < sizeof(name));
		}
	guard_release(&g);
}

static int first(struct dl_phdr_info *info, size_t n, void *user)
{
	(void)n;
	*(uintptr_t *)user = info->dlpi_addr;
	return 1;
}

/* A real one: this program. */
static void test_self(void **state)
{
	(void)state;
	struct buf b = {0};
	char name[64];
	uintptr_t base = 0;
	FILE *f = fopen("/proc/self/exe", "r");
	assert_non_null(f);
	for (size_t got; (got = fread(buf_room(&b, 1 << 16), 1, 1 << 16, f));)
		buf_wrote(&b, got);
	fclose(f);
	dl_iterate_phdr(first, &base);
	assert_true(cuda_symbol_at(buf_slice(&b), (uintptr_t)test_damaged - base, name, sizeof(name)));
	assert_string_equal(name, "test_damaged");
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_symbols), cmocka_unit_test(test_damaged), cmocka_unit_test(test_self)};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name(__FILE__, tests, NULL, NULL);
}
