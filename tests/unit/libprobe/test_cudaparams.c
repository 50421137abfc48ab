/* Parameters of kernels by their cubins: of each that Triton made for the packages of tests/data/aoti/cuda, against what torch passes;
 * in a fat binary; damaged. */
#include "../../lib/inductor.h"
#include "../../../libprobe/cuda_elf.c"
#include "model/elf/modelso.h"
#include "base/json.h"

#include <glob.h>

/* "*fp32" -> 8; Triton's names of types. 0: a constant, which is no parameter. */
static unsigned size_of(struct slice type)
{
	static const struct {
		const char *name;
		unsigned bytes;
	} types[] = {{"i1", 1}, {"i8", 1}, {"i16", 2}, {"i32", 4}, {"i64", 8}, {"fp32", 4}, {"fp64", 8}, {"constexpr", 0}};
	if (type.n && *type.p == '*')
		return 8;
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (slice_is(type, types[i].name))
			return types[i].bytes;
	fail_msg("the type %.*s is not known", SL(type));
	return 0;
}

static struct slice text_of(const char *path, struct buf *b)
{
	FILE *f = fopen(path, "r");
	char block[65536];
	size_t n;
	assert_non_null(f);
	while ((n = fread(block, 1, sizeof(block), f)))
		buf_add(b, block, n);
	fclose(f);
	return buf_slice(b);
}

/* KERNEL.cubin, with KERNEL.json and KERNEL.signature.json beside it. */
static void one(const char *cubin, unsigned sm)
{
	struct buf image = {0}, meta = {0}, signature = {0};
	struct json_tape t = {0};
	uint32_t root, at;
	uint16_t size[CUDA_PARAMS], want[CUDA_PARAMS];
	struct modelso_code code;
	char *stem = xasprintf("%.*s", (int)(strlen(cubin) - strlen(".cubin")), cubin);
	char *path = xasprintf("%s.json", stem), *sig_path = xasprintf("%s.signature.json", stem);
	text_of(cubin, &image);
	text_of(path, &meta);
	text_of(sig_path, &signature);
	json_tape_text(&t, meta.p, meta.len);
	assert_int_equal(json_parse(&t, 0, meta.len, &root), 0);
	at = json_get(&t, root, "name");
	struct slice name = json_slice(&t, at);
	char *kernel = xasprintf("%.*s", SL(name));
	json_tape_release(&t);

	t = (struct json_tape){0};
	json_tape_text(&t, signature.p, signature.len);
	assert_int_equal(json_parse(&t, 0, signature.len, &root), 0);
	int n = 0;
	for (uint32_t k = json_first(&t, root); k < json_end(&t, root) && n < CUDA_PARAMS - 2; k = json_next_pair(&t, k))
		if (size_of(json_slice(&t, k + 1)))
			want[n++] = (uint16_t)size_of(json_slice(&t, k + 1));
	want[n++] = 8; /* two of Triton's own: scratch memory, and a profiler's */
	want[n++] = 8;
	json_tape_release(&t);

	assert_int_equal(cuda_params_of_file(cubin, kernel, size, CUDA_PARAMS), n);
	assert_memory_equal(size, want, (size_t)n * sizeof(*size));
	/* In memory only its header says where it ends. */
	size_t len = cuda_image_length(image.p);
	assert_true(len > 0 && len <= image.len);
	assert_int_equal(cuda_params_of_image(slice_of(image.p, len), kernel, size, CUDA_PARAMS), n);
	assert_int_equal(modelso_codes(buf_slice(&image), &code, 1), 1);
	assert_true(code.sm == sm && code.exact == (sm == 90) && !code.ptx);
	free(stem), free(path), free(sig_path), free(kernel);
	buf_release(&image), buf_release(&meta), buf_release(&signature);
}

static void real(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		size_t kernels;
		unsigned sm;
	} packages[] = {{"dynamic", 2, 90},       {"linear", 2, 90},          {"linear_embedded", 2, 90},
			{"linear_fatbin", 2, 90}, {"linear_profiled", 2, 90}, {"user", 3, 90},
			{"nan", 3, 90},           {"launches", 9, 90},        {"launches_sm80", 9, 80}};
	for (size_t i = 0; i < ARRAY_LEN(packages); i++) {
		char *archive = xasprintf("aoti/cuda/%s.triton", packages[i].name), *folder = unpacked(archive);
		if (!folder) {
			free(archive);
			skip();
			return;
		}
		char *pattern = xasprintf("%s/%s/*.cubin", folder, packages[i].name);
		glob_t g = {0};
		assert_int_equal(glob(pattern, 0, NULL, &g), 0);
		assert_int_equal(g.gl_pathc, packages[i].kernels);
		for (size_t k = 0; k < g.gl_pathc; k++)
			one(g.gl_pathv[k], packages[i].sm);
		globfree(&g);
		remove_folder(folder);
		free(archive), free(pattern);
	}
}

/* A kernel of linear_fatbin: a cubin and packed PTX. */
static void fat(void **state)
{
	(void)state;
	const char *root = getenv("PT2_SOURCE"), *kernel = "triton_poi_fused_addmm_relu_0";
	char *path = xasprintf("%s%stests/fuzz/corpus/modelso/fatbin", root ? root : "", root ? "/" : "");
	uint16_t size[CUDA_PARAMS];
	struct buf b = {0};
	struct guard g = {0};
	text_of(path, &b);
	assert_int_equal(cuda_image_length(b.p), b.len);
	assert_int_equal(cuda_params_of_file(path, kernel, size, CUDA_PARAMS), 5);
	assert_true(size[0] == 8 && size[1] == 8 && size[2] == 4 && size[3] == 8 && size[4] == 8);
	assert_int_equal(cuda_params_of_file(path, "another", size, CUDA_PARAMS), -1);
	for (size_t n = 0; n < b.len; n += n < 256 ? 1 : 97)
		assert_int_equal(cuda_params_of_image(slice_of(guard_put(&g, b.p, n), n), kernel, size, CUDA_PARAMS), -1);
	uint64_t seed = 3;
	for (int i = 0; i < 5000; i++) {
		char *p = guard_put(&g, b.p, b.len);
		for (int k = 0; k < 3; k++)
			p[random_u32(&seed) % (i % 2 ? 160 : b.len)] = (char)random_u32(&seed);
		int r = cuda_params_of_image(slice_of(p, b.len), kernel, size, CUDA_PARAMS);
		assert_true(r >= -1 && r <= CUDA_PARAMS);
	}
	guard_release(&g);
	buf_release(&b);
	free(path);
}

/* ---- one that is made here ---- */

struct cubin {
	Elf64_Ehdr e;
	Elf64_Shdr s[3];
	char names[32];
	struct {
		uint8_t form, attribute;
		uint16_t value;
	} other;
	struct {
		uint8_t form, attribute;
		uint16_t len;
		uint32_t index;
		uint16_t ordinal, offset;
		uint32_t size;
	} p[3];
};

/* Three parameters, the last first, as ptxas writes them. */
static struct cubin make_cubin(void)
{
	static const uint32_t sizes[] = {8, 8, 4};
	struct cubin c = {.names = "\0.strtab\0.nv.info.kernel"};
	memcpy(c.e.e_ident, ELFMAG, SELFMAG);
	c.e.e_ident[EI_CLASS] = ELFCLASS64;
	c.e.e_machine = 190;
	c.e.e_shoff = offsetof(struct cubin, s);
	c.e.e_shentsize = sizeof(Elf64_Shdr);
	c.e.e_shnum = 3;
	c.e.e_shstrndx = 1;
	c.s[1] = (Elf64_Shdr){.sh_name = 1, .sh_type = SHT_STRTAB, .sh_offset = offsetof(struct cubin, names), .sh_size = sizeof(c.names)};
	c.s[2] = (Elf64_Shdr){.sh_name = 9, .sh_type = SHT_PROGBITS, .sh_offset = offsetof(struct cubin, other)};
	c.s[2].sh_size = sizeof(c.other) + sizeof(c.p);
	c.other.form = 3;
	for (int i = 0; i < 3; i++) {
		c.p[i].form = 4;
		c.p[i].attribute = 0x17;
		c.p[i].len = 12;
		c.p[i].ordinal = (uint16_t)(2 - i);
		c.p[i].size = sizes[2 - i] << 18 | 0x1f00;
	}
	return c;
}

static int params(const struct cubin *c, size_t n, const char *kernel, uint16_t *size)
{
	struct guard g = {0};
	int r = cuda_params_of_image(slice_of(guard_put(&g, c, n), n), kernel, size, 8);
	guard_release(&g);
	return r;
}

static void cubins(void **state)
{
	(void)state;
	uint16_t size[8];
	struct cubin c = make_cubin();
	assert_int_equal(params(&c, sizeof(c), "kernel", size), 3);
	assert_true(size[0] == 8 && size[1] == 8 && size[2] == 4);
	assert_int_equal(params(&c, sizeof(c), "kern", size), -1);
	assert_int_equal(params(&c, sizeof(c), "kernel_1", size), -1);
	for (size_t n = 0; n < offsetof(struct cubin, p) + sizeof(c.p); n++)
		assert_int_equal(params(&c, n, "kernel", size), -1);
	c.p[1].ordinal = 7; /* one is missing */
	assert_int_equal(params(&c, sizeof(c), "kernel", size), -1);
	c.p[1].ordinal = 8; /* beyond the room */
	assert_int_equal(params(&c, sizeof(c), "kernel", size), -1);
	c = make_cubin();
	c.p[2].len = 13;
	assert_int_equal(params(&c, sizeof(c), "kernel", size), -1);
	c = make_cubin();
	assert_int_equal(cuda_image_length(&c), c.e.e_shoff + 3 * sizeof(Elf64_Shdr));
	uint64_t seed = 9;
	for (int i = 0; i < 20000; i++) {
		c = make_cubin();
		for (int k = 0; k < 3; k++)
			((uint8_t *)&c)[random_u32(&seed) % sizeof(c)] = (uint8_t)random_u32(&seed);
		int r = params(&c, sizeof(c), "kernel", size);
		assert_true(r >= -1 && r <= 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(real), cmocka_unit_test(fat), cmocka_unit_test(cubins)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
