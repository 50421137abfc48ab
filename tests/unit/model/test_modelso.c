/* aoti/modelso: what a compiled library exports, needs and holds, of recorded models and of libraries made to order. */
#include "../../lib/test.h"

#include "../../lib/elf.h"
#include "base/io/zip.h"
#include "model/elf/modelso.h"

/* The library of a recorded package (its MODEL-th). */
static void fixture(const char *name, unsigned model, struct buf *so)
{
	struct buf b = {0};
	struct zip z;
	struct err err;
	char *path = xasprintf("aoti/%s.pt2.xz", name);
	if (!data_load(path, &b) || zip_open(&z, buf_slice(&b), path, &err) < 0)
		fail_msg("cannot read %s", path);
	for (size_t i = 0; i < z.n; i++) {
		struct slice data;
		if (!slice_ends(z.v[i].name, ".so") || model-- != 0)
			continue;
		assert_int_equal(zip_data(&z, &z.v[i], &data, &err), 0);
		buf_add_slice(so, data);
	}
	zip_close(&z);
	buf_release(&b);
	free(path);
	assert_true(so->len > 0);
}

static void open_ok(struct modelso *m, struct slice bytes)
{
	struct err err;
	if (modelso_open(m, bytes, "a.so", &err) < 0)
		fail_msg("%s", err.text);
}

static void open_fails(struct slice bytes, const char *text)
{
	struct modelso m;
	struct err err;
	assert_int_equal(modelso_open(&m, bytes, "a.so", &err), -1);
	assert_int_equal(err.status, EXIT_INPUT);
	if (!strstr(err.text, text) || !strstr(err.text, "'a.so'"))
		fail_msg("'%s' does not say '%s'", err.text, text);
}

static void made(struct modelso *m, struct buf *b, const struct elf_order *o)
{
	elf_make(b, o);
	open_ok(m, buf_slice(b));
}

/* ---- recorded models ---- */

static void mlp(void **state)
{
	(void)state;
	struct buf so = {0};
	struct modelso m;
	fixture("mlp", 0, &so);
	open_ok(&m, buf_slice(&so));
	assert_string_equal(modelso_machine_name(m.machine, m.big_endian), "x86_64");
	assert_int_equal(m.bits, 64);
	assert_false(m.header_only || m.bind_now || m.stripped || m.old_abi);
	assert_true(m.relro && m.cxx11_abi);
	assert_int_equal(m.n_needed, 5);
	assert_text(m.needed[0], "libtorch_cpu.so");
	assert_int_equal(m.n_rpath, 0);
	assert_text(m.glibc, "2.34");
	assert_text(m.glibcxx, "3.4.30");
	assert_text(m.cxxabi, "1.3.9");
	assert_int_equal(m.n_version, 21);
	assert_int_equal(m.api, API_LAST_ERROR);
	assert_int_equal(m.runtime, RUNTIME_TORCH);
	assert_int_equal(m.device_code, DEVICE_CODE_CPU);
	assert_int_equal(m.n_from[FROM_AOTI], 23);
	assert_int_equal(m.n_from[FROM_SLEEF], 1);
	assert_int_equal(m.n_from[FROM_TORCH], 0);
	assert_int_equal(m.n_from[FROM_CUDA], 0);
	assert_int_equal(m.n_from[FROM_OPENMP], 0);
	assert_int_equal(m.n_from[FROM_SYSTEM], 115);
	assert_true(modelso_imports(&m, "aoti_torch_cpu_addmm_out"));
	assert_false(modelso_imports(&m, "aoti_torch_cpu_addmm"));
	assert_true(modelso_exports(&m, "AOTInductorModelContainerRun"));
	assert_false(modelso_exports(&m, "AOTInductorModelContainerRu"));
	assert_int_equal(m.n_entry, 40);
	for (uint32_t i = 0; i < m.n_import; i++)
		if (slice_is(m.import[i].name, "memcpy")) {
			assert_text(m.import[i].version, "GLIBC_2.14");
			assert_text(m.import[i].library, "libc.so.6");
		}
	assert_int_equal(m.n_kernel, 2);
	for (uint32_t i = 0; i < 2; i++) {
		bool soft = slice_is(m.kernel[i].name, "cpp_fused__softmax_1");
		assert_true(soft || slice_is(m.kernel[i].name, "cpp_fused_relu_0"));
		assert_int_equal(m.kernel[i].address, soft ? 0x3c9e0 : 0x3cb70);
	}
	assert_int_equal(m.run_impl, 0x19fca);
	assert_int_equal(m.run_impl_size, 2409);
	assert_int_equal(m.constants.form, CONSTANTS_EMBEDDED);
	assert_int_equal(m.constants.offset, 0x47f80);
	assert_int_equal(m.constants.size, 832);
	assert_text(m.constants.section, ".lrodata");
	assert_string_equal(m.constants.damage, "");
	assert_int_equal(modelso_images(&m, &(struct modelso_image){0}, 1), 0);
	modelso_close(&m);
	modelso_close(&m); /* twice is fine */
	buf_release(&so);
}

static void forms_of_constants(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		enum modelso_form form;
		uint64_t offset, size;
	} of[] = {
	    {"weights_blob", CONSTANTS_BLOB, 0, 66304},
	    {"weights_appended", CONSTANTS_APPENDED, 0x5c000, 66304},
	    {"nested", CONSTANTS_NONE, 0, 0},
	    {"conv", CONSTANTS_EMBEDDED, 0x48f80, 448},
	};
	for (size_t i = 0; i < ARRAY_LEN(of); i++) {
		struct buf so = {0};
		struct modelso m;
		fixture(of[i].name, 0, &so);
		open_ok(&m, buf_slice(&so));
		assert_int_equal(m.constants.form, of[i].form);
		assert_int_equal(m.constants.offset, of[i].offset);
		assert_int_equal(m.constants.size, of[i].size);
		assert_string_equal(m.constants.damage, "");
		assert_false(modelso_has_lines(&m) && of[i].form != CONSTANTS_EMBEDDED);
		modelso_close(&m);
		buf_release(&so);
	}
}

static void appended_damage(void **state)
{
	(void)state;
	struct buf so = {0};
	struct modelso m;
	fixture("weights_appended", 0, &so);
	open_ok(&m, slice_of(so.p, so.len - 16384));
	assert_non_null(strstr(m.constants.damage, "the mark at the end"));
	modelso_close(&m);
	open_ok(&m, slice_of(so.p, so.len - 66304 - 8));
	assert_non_null(strstr(m.constants.damage, "the mark at the end"));
	modelso_close(&m);
	/* As long as it was, but moved. */
	char mark[8];
	memcpy(mark, so.p + so.len - 8, 8);
	buf_add(&so, mark, 8);
	open_ok(&m, buf_slice(&so));
	assert_non_null(strstr(m.constants.damage, "16 KiB"));
	modelso_close(&m);
	/* The library says that there is more than the file. */
	uint64_t much = 1ull << 60;
	memcpy(so.p + 0x47fc0, &much, 8);
	open_ok(&m, buf_slice(&so));
	assert_int_equal(m.constants.form, CONSTANTS_APPENDED);
	assert_non_null(strstr(m.constants.damage, "smaller than the weights"));
	modelso_close(&m);
	buf_release(&so);
}

static void lines(void **state)
{
	(void)state;
	struct buf so = {0};
	struct modelso m;
	struct modelso_row row;
	const struct slice *producer;
	size_t n;
	struct err err;
	fixture("mlp", 0, &so);
	open_ok(&m, buf_slice(&so));
	assert_true(modelso_has_lines(&m));
	assert_int_equal(modelso_line(&m, m.run_impl, &row, &err), 1);
	assert_true(slice_ends(slice_str(row.file), "s.wrapper.cpp"));
	assert_int_equal(row.line, 853);
	assert_int_equal(modelso_line(&m, m.run_impl + 1, &row, &err), 1); /* within the first row */
	assert_int_equal(row.line, 853);
	assert_int_equal(modelso_line(&m, 0x3cb70, &row, &err), 1);
	assert_true(slice_ends(slice_str(row.file), ".kernel.cpp"));
	assert_int_equal(modelso_line(&m, 0, &row, &err), 0);
	assert_int_equal(modelso_line(&m, UINT64_MAX, &row, &err), 0);
	assert_int_equal(modelso_producers(&m, &producer, &n, &err), 0);
	assert_int_equal(n, 2);
	assert_true(slice_starts(producer[0], "GNU C++20 12.2.0 -march=x86-64-v3 "));
	modelso_close(&m);
	buf_reset(&so);
	fixture("emb", 0, &so);
	open_ok(&m, buf_slice(&so));
	assert_false(modelso_has_lines(&m));
	assert_int_equal(modelso_line(&m, m.run_impl, &row, &err), 0);
	assert_int_equal(modelso_producers(&m, &producer, &n, &err), 0);
	assert_int_equal(n, 0);
	modelso_close(&m);
	buf_release(&so);
}

/* Damage in the debug sections: an error, or fewer rows, and the rest still reads. */
static void damaged_lines(void **state)
{
	(void)state;
	struct buf so = {0};
	struct modelso m;
	struct slice debug;
	fixture("mlp", 0, &so);
	open_ok(&m, buf_slice(&so));
	assert_true(modelso_section(&m, ".debug_line", &debug, NULL));
	size_t at = (size_t)(debug.p - so.p);
	modelso_close(&m);
	memset(so.p + at, 0xff, debug.n);
	open_ok(&m, buf_slice(&so));
	struct modelso_row row;
	struct err err;
	assert_int_equal(modelso_line(&m, m.run_impl, &row, &err), -1);
	assert_int_equal(err.status, EXIT_INPUT);
	assert_non_null(strstr(err.text, ".debug_line) is damaged"));
	modelso_close(&m);
	buf_release(&so);
}

/* ---- made to order ---- */

static void origins(void **state)
{
	(void)state;
	struct buf b = {0};
	struct modelso m;
	made(&m, &b,
	     &(struct elf_order){
		 .needed = {"libtorch_cpu.so", "libc.so.6"},
		 .soname = "model.so",
		 .rpath = "$ORIGIN:/opt/lib",
		 .bind_now = true,
		 .n_symbol = 14,
		 .symbol = {{"aoti_torch_clone"},
			    {"_ZN2at4_ops5relu_4callERKNS_6TensorE"},
			    {"_ZNK3c106SymInt3strB5cxx11Ev"},
			    {"torch_call_dispatcher"},
			    {"Sleef_expf16_u10"},
			    {"cuLaunchKernel"},
			    {"cudaMalloc", "libcudart.so.12", "libcudart.so.12"},
			    {"custard"},
			    {"GOMP_parallel", "libgomp.so.1", "GOMP_4.0"},
			    {"memcpy", "libc.so.6", "GLIBC_2.14"},
			    {"qsort_r", "libc.so.6", "GLIBC_2.8"},
			    {"_ZNSsC1EPKcRKSaIcE", "libstdc++.so.6", "GLIBCXX_3.4"},
			    {"__gmon_start__", .weak = true},
			    {"AOTInductorModelContainerCreateWithDevice", .section = ELF_RODATA, .func = true}},
	     });
	assert_int_equal(m.n_from[FROM_AOTI], 1);
	assert_int_equal(m.n_from[FROM_TORCH], 3);
	assert_int_equal(m.n_from[FROM_SLEEF], 1);
	assert_int_equal(m.n_from[FROM_CUDA], 2);
	assert_int_equal(m.n_from[FROM_OPENMP], 1);
	assert_int_equal(m.n_from[FROM_SYSTEM], 3);
	assert_int_equal(m.n_from[FROM_OTHER], 2);
	assert_true(m.bind_now && m.stripped && m.cxx11_abi && m.old_abi);
	assert_false(m.relro);
	assert_text(m.glibc, "2.14");
	assert_text(m.glibcxx, "3.4");
	assert_text(m.cxxabi, "");
	assert_text(m.soname, "model.so");
	assert_text(m.rpath[0], "$ORIGIN:/opt/lib");
	assert_int_equal(m.n_version, 5);
	assert_int_equal(m.api, API_WITH_DEVICE);
	assert_int_equal(m.device_code, DEVICE_CODE_CUDA);
	assert_true(m.import[12].weak);
	modelso_close(&m);
	buf_release(&b);
}

static void runtimes(void **state)
{
	(void)state;
	static const char run[] = "AOTInductorModelContainerRun";
	static const struct {
		const char *needed, *import, *export;
		enum modelso_runtime runtime;
	} of[] = {
	    {"libtorch.so", "aoti_torch_clone", run, RUNTIME_TORCH},
	    {"libc.so.6", "aoti_torch_clone", run, RUNTIME_SHIM},
	    {"libc.so.6", "mine_aoti_torch_clone", run, RUNTIME_PREFIXED},
	    {"libc.so.6", "malloc", run, RUNTIME_STANDALONE},
	    {"libc.so.6", "_ZN10executorch7runtime5ErrorE", run, RUNTIME_EXECUTORCH},
	    {"libexecutorch.so", "malloc", run, RUNTIME_EXECUTORCH},
	    {"libtorch.so", "aoti_torch_clone", "main", RUNTIME_NONE},
	};
	struct buf b = {0};
	struct modelso m;
	for (size_t i = 0; i < ARRAY_LEN(of); i++) {
		made(&m, &b,
		     &(struct elf_order){.needed = {of[i].needed},
					 .n_symbol = 2,
					 .symbol = {{of[i].import}, {of[i].export, .section = ELF_RODATA, .func = true}}});
		assert_int_equal(m.runtime, of[i].runtime);
		assert_text(m.shim_prefix, of[i].runtime == RUNTIME_PREFIXED ? "mine_" : "");
		assert_int_equal(m.api, API_NONE);
		modelso_close(&m);
	}
	buf_release(&b);
}

static void apis(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		enum modelso_api api;
	} of[] = {
	    {"AOTInductorModelCreate", API_MODEL},
	    {"AOTInductorModelContainerCreate", API_CONTAINER},
	    {"AOTInductorModelContainerCreateWithDevice", API_WITH_DEVICE},
	    {"AOTInductorModelUpdateConstantsFromBlob", API_BLOB},
	    {"AOTInductorGetLastError", API_LAST_ERROR},
	    {"AOTInductorModelContainerCreateWithExternalConstants", API_EXTERNAL_CONSTANTS},
	    {"AOTInductorModelContainerSetUseStreamAffinity", API_STREAM_AFFINITY},
	};
	struct elf_order o = {0};
	struct buf b = {0};
	struct modelso m;
	for (size_t i = 0; i < ARRAY_LEN(of); i++) {
		o.symbol[o.n_symbol++] = (struct elf_order_symbol){of[i].name, .section = ELF_RODATA, .func = true};
		made(&m, &b, &o);
		assert_int_equal(m.api, of[i].api);
		modelso_close(&m);
	}
	buf_release(&b);
}

/* As ptxas writes it: an ELF header, sections, program headers last. */
static void add_cubin(struct buf *b, uint32_t flags, uint8_t abi)
{
	Elf64_Ehdr eh = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT, 0x33, abi}, .e_type = ET_EXEC};
	eh.e_machine = EM_CUDA;
	eh.e_flags = flags;
	eh.e_shoff = sizeof(eh), eh.e_shnum = 2, eh.e_shentsize = 64;
	eh.e_phoff = sizeof(eh) + 128, eh.e_phnum = 1, eh.e_phentsize = 56;
	buf_add(b, &eh, sizeof(eh));
	for (unsigned i = 0; i < 184; i++)
		buf_addc(b, 0);
}

static void gpu_code(void **state)
{
	(void)state;
	struct buf ro = {0}, b = {0};
	struct modelso m;
	struct modelso_image image[8];
	buf_adds(&ro, "four");
	add_cubin(&ro, 0x500550, 7);
	add_cubin(&ro, 0x5a0d5a, 7);
	add_cubin(&ro, 0x6005a04, 8);
	buf_add(&ro, "\x50\xed\x55\xba\1\0\x10\0", 8);
	buf_add_slice(&ro, SLICE("\177ELF, but no image\0triton_red_fused_sum_3\0xtriton_no\0triton_\0triton_poi.fused\0"));
	made(&m, &b,
	     &(struct elf_order){
		 .needed = {"libtorch_cuda.so"},
		 .rodata = buf_slice(&ro),
		 .n_symbol = 5,
		 .symbol = {{"cuModuleLoadData"},
			    {"__triton_poi_fused_add_0_start", .section = ELF_RODATA, .at = 4},
			    {"__triton_poi_fused_add_0_end", .section = ELF_RODATA, .at = 4},
			    {"_ZN12_GLOBAL__N_128call_triton_per_fused_mean_1IN1aE", .section = ELF_RODATA, .func = true},
			    {"cpp_fused_add_2", .section = ELF_RODATA, .func = true, .size = 9}},
	     });
	assert_int_equal(m.device_code, DEVICE_CODE_CUDA);
	assert_int_equal(m.n_kernel, 4);
	assert_text(m.kernel[0].name, "triton_poi_fused_add_0");
	assert_text(m.kernel[1].name, "triton_per_fused_mean_1");
	assert_text(m.kernel[2].name, "cpp_fused_add_2");
	assert_int_equal(m.kernel[2].size, 9);
	assert_int_equal(m.kernel[2].kind, KERNEL_CPP);
	assert_text(m.kernel[3].name, "triton_red_fused_sum_3");
	assert_int_equal(m.kernel[3].kind, KERNEL_TRITON);
	assert_int_equal(modelso_images(&m, image, 8), 4);
	static const unsigned sm[] = {80, 90, 90, 0};
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(image[i].sm, sm[i]);
		assert_int_equal(image[i].kind, i == 3 ? IMAGE_FATBIN : IMAGE_CUBIN);
		assert_int_equal(image[i].exact, i == 1);
		assert_int_equal(image[i].size, i == 3 ? 0 : 248);
		assert_text(image[i].name, i == 0 ? "triton_poi_fused_add_0" : "");
	}
	assert_memory_equal(b.p + image[1].offset, "\177ELF", 4);
	assert_int_equal(modelso_images(&m, image, 2), 2);
	modelso_close(&m);
	assert_true(modelso_image_read(slice_of(ro.p + 4, 248), &image[0]));
	assert_int_equal(image[0].sm, 80);
	assert_true(modelso_image_read(SLICE("\x03\x02\x23\x07\0\0\0\0"), &image[0]));
	assert_int_equal(image[0].kind, IMAGE_SPIRV);
	assert_false(modelso_image_read(SLICE("no image"), &image[0]));
	assert_false(modelso_image_read(SLICE(""), &image[0]));
	buf_release(&ro);
	buf_release(&b);
}

static void constants_made(void **state)
{
	(void)state;
	struct buf b = {0};
	struct modelso m;
	struct elf_order o = {
	    .lrodata = SLICE("\7"),
	    .n_symbol = 2,
	    .symbol = {{"_binary_constants_bin_start", .section = ELF_LRODATA},
		       {"_binary_constants_bin_end", .section = ELF_LRODATA, .at = 1}},
	};
	made(&m, &b, &o); /* one byte that is not the assembler's filler */
	assert_int_equal(m.constants.form, CONSTANTS_EMBEDDED);
	assert_int_equal(m.constants.size, 1);
	modelso_close(&m);
	o.lrodata = SLICE("12345678");
	o.symbol[1].at = 8;
	made(&m, &b, &o); /* eight bytes, and no code that expects a blob */
	assert_int_equal(m.constants.form, CONSTANTS_EMBEDDED);
	modelso_close(&m);
	o.symbol[1].at = 9;
	made(&m, &b, &o);
	assert_non_null(strstr(m.constants.damage, "are not in their section"));
	modelso_close(&m);
	o.symbol[1].at = 0;
	o.symbol[0].at = 1;
	made(&m, &b, &o);
	assert_non_null(strstr(m.constants.damage, "are not in their section"));
	modelso_close(&m);
	/* torch 2.5's spelling, with 16 bytes behind: {8 + 8 bytes, mark} */
	o = (struct elf_order){.rodata = SLICE("Weigths data seems corrupt"),
			       .lrodata = SLICE("\x10\0\0\0\0\0\0\0abcdefgh"),
			       .n_symbol = 2,
			       .symbol = {{"_binary_constants_bin_start", .section = ELF_LRODATA},
					  {"_binary_constants_bin_end", .section = ELF_LRODATA, .at = 16}}};
	elf_make(&b, &o);
	while (b.len % 16384)
		buf_addc(&b, ' ');
	buf_adds(&b, "12345678abcdefgh");
	open_ok(&m, buf_slice(&b));
	assert_int_equal(m.constants.form, CONSTANTS_APPENDED);
	assert_int_equal(m.constants.size, 8);
	assert_int_equal(m.constants.offset, b.len - 16);
	assert_string_equal(m.constants.damage, "");
	modelso_close(&m);
	buf_release(&b);
}

/* ---- what is no library, or a broken one ---- */

static void others(void **state)
{
	(void)state;
	struct buf b = {0};
	struct modelso m;
	char dll[128] = "MZ";
	open_fails(slice_of(dll, sizeof(dll)), "is a Windows DLL");
	open_fails(SLICE("\xcf\xfa\xed\xfe\7\0\0\1\3\0\0\0"), "is a Mach-O library (macOS)");
	open_fails(SLICE("!<arch>\n"), "is a static library");
	open_fails(SLICE("text"), "no ELF header");
	open_fails(SLICE(""), "no ELF header");
	open_fails(SLICE("\177ELF"), "truncated");
	elf_make(&b, &(struct elf_order){.machine = EM_AARCH64});
	open_ok(&m, buf_slice(&b));
	assert_string_equal(modelso_machine_name(m.machine, false), "aarch64");
	assert_string_equal(modelso_what(buf_slice(&b), NULL), "an aarch64 ELF library");
	modelso_close(&m);
	b.p[16] = ET_REL;
	open_fails(buf_slice(&b), "is an aarch64 ELF object file, not a shared library");
	b.p[16] = ET_DYN;
	b.p[EI_CLASS] = ELFCLASS32;
	open_ok(&m, buf_slice(&b));
	assert_true(m.header_only);
	assert_int_equal(m.bits, 32);
	assert_false(modelso_has_lines(&m));
	modelso_close(&m);
	b.p[EI_CLASS] = ELFCLASS64;
	b.p[EI_DATA] = ELFDATA2MSB;
	memcpy(b.p + 16, "\0\3\0\x16", 4);
	open_ok(&m, buf_slice(&b));
	assert_string_equal(modelso_machine_name(m.machine, m.big_endian), "s390x");
	assert_true(m.header_only);
	modelso_close(&m);
	buf_release(&b);
}

static void bad_tables(void **state)
{
	(void)state;
	struct buf b = {0};
	struct elf_order o = {.needed = {"libtorch.so"}, .rodata = SLICE("data")};
	elf_make(&b, &o);
	Elf64_Ehdr *eh = (Elf64_Ehdr *)b.p, good = *eh;
	eh->e_shoff = b.len;
	open_fails(buf_slice(&b), "the section table is at");
	eh->e_shoff = UINT64_MAX - 8;
	open_fails(buf_slice(&b), "the section table is at");
	eh->e_shoff = 0;
	open_fails(buf_slice(&b), "has no section table");
	*eh = good;
	eh->e_shentsize = 40;
	open_fails(buf_slice(&b), "40 bytes instead of 64");
	*eh = good;
	eh->e_shnum = 10;
	open_fails(buf_slice(&b), "should have 10 entries");
	*eh = good;
	eh->e_shnum = 0; /* then section 0 has the count, here 0 */
	open_fails(buf_slice(&b), "should have 0 entries");
	*eh = good;
	eh->e_shstrndx = 77;
	open_fails(buf_slice(&b), "should be in section 77");
	*eh = good;
	Elf64_Shdr *sh = (Elf64_Shdr *)(b.p + eh->e_shoff);
	sh[ELF_RODATA].sh_size = 1ull << 40;
	open_fails(buf_slice(&b), "section 5 is at");
	sh[ELF_RODATA].sh_offset = UINT64_MAX;
	open_fails(buf_slice(&b), "section 5 is at");
	elf_make(&b, &o);
	sh = (Elf64_Shdr *)(b.p + good.e_shoff);
	sh[0] = (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = b.len, .sh_size = 1};
	open_fails(buf_slice(&b), "section 0 is at");
	elf_make(&b, &o);
	sh = (Elf64_Shdr *)(b.p + good.e_shoff);
	sh[ELF_DYNSYM].sh_type = SHT_PROGBITS;
	open_fails(buf_slice(&b), "no dynamic symbols");
	buf_release(&b);
}

/* Every cut, with memory ending where the bytes end; then single bytes changed. */
static void against_a_wall(void **state)
{
	(void)state;
	struct buf b = {0}, ro = {0};
	struct guard g = {0};
	struct modelso m;
	struct modelso_image image[4];
	uint64_t seed = 7;
	add_cubin(&ro, 0x500550, 7);
	buf_adds(&ro, "triton_poi");
	elf_make(&b, &(struct elf_order){.needed = {"libtorch.so", "libc.so.6"},
					 .rodata = buf_slice(&ro),
					 .lrodata = SLICE("12345678"),
					 .n_symbol = 6,
					 .symbol = {{"memcpy", "libc.so.6", "GLIBC_2.14"},
						    {"memmove", "libc.so.6", "GLIBC_2.2.5"},
						    {"cuInit"},
						    {"__triton_a_start", .section = ELF_RODATA},
						    {"_binary_constants_bin_start", .section = ELF_LRODATA},
						    {"_binary_constants_bin_end", .section = ELF_LRODATA, .at = 8}}});
	for (size_t n = 0; n < b.len; n++)
		if (modelso_open(&m, slice_of(guard_put(&g, b.p, n), n), "a.so", NULL) == 0)
			fail_msg("opened %zu of %zu bytes", n, b.len);
	unsigned opened = 0;
	for (unsigned i = 0; i < 20000; i++) {
		char *p = guard_put(&g, b.p, b.len);
		for (unsigned k = 0; k <= pick(&seed, 3); k++)
			p[pick(&seed, (uint32_t)b.len)] = (char)random_u32(&seed);
		if (modelso_open(&m, slice_of(p, b.len), "a.so", NULL) < 0)
			continue;
		opened++;
		modelso_images(&m, image, 4);
		modelso_close(&m);
	}
	assert_true(opened > 1000);
	guard_release(&g);
	buf_release(&b);
	buf_release(&ro);
}

static void versions(void **state)
{
	(void)state;
	static const struct {
		const char *a, *b;
		int cmp;
	} of[] = {{"GLIBC_2.9", "GLIBC_2.14", -1},
		  {"2.14", "2.14", 0},
		  {"3.4.30", "3.4.9", 1},
		  {"3.4", "3.4.1", -1},
		  {"", "1", -1},
		  {"", "", 0},
		  {"2.99999999999999999999", "2.5", 1}};
	for (size_t i = 0; i < ARRAY_LEN(of); i++)
		assert_int_equal(modelso_version_cmp(slice_str(of[i].a), slice_str(of[i].b)), of[i].cmp);
}

static void collect(void *arg, struct slice s)
{
	struct buf *b = arg;
	buf_add_slice(b, s);
	buf_addc(b, ' ');
}

/* Whatever names of torch's libraries it has, and their versions, first, last and between others: none of them is left to the dynamic
 * linker, all else is as it was, and what the model was made for can still be told. */
static void loadable(void **state)
{
	(void)state;
	struct buf b = {0}, names = {0};
	struct guard g = {0};
	struct modelso m;
	struct err err;
	uint64_t seed = 11;
	elf_make(&b, &(struct elf_order){.needed = {"libtorch.so", "libc.so.6", "libc10.so", "libm.so.6", "/x/libtorch_new.so.3"},
					 .n_symbol = 6,
					 .symbol = {{"aoti_torch_clone", "libtorch.so", "TORCH_2"},
						    {"memcpy", "libc.so.6", "GLIBC_2.14"},
						    {"c10_thing", "libc10.so", "C10_1"},
						    {"sinf", "libm.so.6", "GLIBC_2.2.5"},
						    {"aoti_torch_other", "/x/libtorch_new.so.3", "TORCH_3"},
						    {"AOTInductorModelContainerRun", .section = ELF_RODATA, .func = true}}});
	char *copy = xmalloc(b.len);
	memcpy(copy, b.p, b.len);
	assert_int_equal(modelso_edit(copy, b.len, "a.so", &err), 0);
	assert_int_equal(modelso_lib_needed(slice_of(copy, b.len), "a.so", collect, &names, &err), 0);
	assert_string_equal(buf_str(&names), "libc.so.6 libm.so.6 ");
	open_ok(&m, slice_of(copy, b.len));
	assert_int_equal(m.n_needed, 5);
	assert_int_equal(m.runtime, RUNTIME_TORCH);
	assert_int_equal(m.n_version, 2);
	assert_text(m.version[0].version, "GLIBC_2.14");
	assert_text(m.version[1].version, "GLIBC_2.2.5");
	for (uint32_t i = 0; i < m.n_import; i++)
		assert_int_equal(m.import[i].version.n > 0, i % 2);
	modelso_close(&m);
	for (unsigned i = 0; i < 20000; i++) { /* damaged anywhere */
		char *p = guard_put(&g, b.p, b.len);
		for (unsigned k = 0; k <= pick(&seed, 3); k++)
			p[pick(&seed, (uint32_t)b.len)] = (char)random_u32(&seed);
		modelso_edit(p, b.len, "a.so", NULL);
	}
	guard_release(&g);
	free(copy);
	buf_release(&b);
	buf_release(&names);
}

/* What Inductor links has weights without .note.GNU-stack. */
static void stack(void **state)
{
	(void)state;
	struct buf so = {0};
	struct modelso m;
	struct err err;
	fixture("mlp", 0, &so);
	open_ok(&m, buf_slice(&so));
	assert_true(m.exec_stack);
	modelso_close(&m);
	assert_int_equal(modelso_edit(so.p, so.len, "a.so", &err), 0);
	open_ok(&m, buf_slice(&so));
	assert_false(m.exec_stack);
	assert_int_equal(m.n_version, 21);
	modelso_close(&m);
	buf_release(&so);
}

static void of_torch(void **state)
{
	(void)state;
	static const char *const yes[] = {
	    "libtorch.so",    "libtorch_cpu.so", "libtorch_cuda.so",   "libtorch_next.so.4",    "libc10.so",
	    "libc10_cuda.so", "libshm.so",       "libcaffe2_nvrtc.so", "libaoti_custom_ops.so", "/a/b/libtorch.so"};
	static const char *const no[] = {
	    "", "/", "libc.so.6", "libgomp.so.1", "torch.so", "libcudart.so.13", "libtorch/x.so", "libexecutorch.so"};
	for (size_t i = 0; i < ARRAY_LEN(yes); i++)
		assert_true(modelso_of_torch(slice_str(yes[i])));
	for (size_t i = 0; i < ARRAY_LEN(no); i++)
		assert_false(modelso_of_torch(slice_str(no[i])));
}

static void libraries(void **state)
{
	(void)state;
	struct buf b = {0}, names = {0};
	struct modelso_lib l;
	struct err err;
	elf_make(&b, &(struct elf_order){.soname = "libx.so.1", .n_symbol = 2, .symbol = {{"mine", .section = ELF_RODATA}, {"yours"}}});
	assert_int_equal(modelso_lib_read(&l, buf_slice(&b), "libx", collect, collect, &names, &err), 0);
	assert_text(l.soname, "libx.so.1");
	assert_string_equal(buf_str(&names), "mine ");
	assert_int_equal(modelso_lib_read(&l, SLICE("x"), "libx", NULL, NULL, NULL, &err), -1);
	assert_non_null(strstr(err.text, "'libx' is something else, not a 64-bit ELF library"));
	/* The C library of this machine defines versions. */
	FILE *f = fopen("/proc/self/maps", "r");
	char line[4096], *path = NULL;
	assert_non_null(f);
	while (!path && fgets(line, sizeof(line), f))
		if ((path = strstr(line, "/libc.so.6")))
			path = strchr(line, '/');
	fclose(f);
	assert_non_null(path);
	path[strcspn(path, "\n")] = 0;
	f = fopen(path, "r");
	buf_reset(&b);
	buf_reset(&names);
	for (size_t n; (n = fread(buf_room(&b, 1 << 16), 1, 1 << 16, f)) > 0;)
		buf_wrote(&b, n);
	fclose(f);
	assert_int_equal(modelso_lib_read(&l, buf_slice(&b), path, collect, NULL, &names, &err), 0);
	assert_text(l.soname, "libc.so.6");
	assert_non_null(strstr(buf_str(&names), "GLIBC_2.17 "));
	assert_null(strstr(buf_str(&names), "libc.so.6 "));
	buf_release(&b);
	buf_release(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(mlp),
	    cmocka_unit_test(forms_of_constants),
	    cmocka_unit_test(appended_damage),
	    cmocka_unit_test(lines),
	    cmocka_unit_test(damaged_lines),
	    cmocka_unit_test(origins),
	    cmocka_unit_test(runtimes),
	    cmocka_unit_test(apis),
	    cmocka_unit_test(gpu_code),
	    cmocka_unit_test(constants_made),
	    cmocka_unit_test(others),
	    cmocka_unit_test(bad_tables),
	    cmocka_unit_test(against_a_wall),
	    cmocka_unit_test(versions),
	    cmocka_unit_test(loadable),
	    cmocka_unit_test(stack),
	    cmocka_unit_test(of_torch),
	    cmocka_unit_test(libraries),
	};
	return RUN(tests);
}
