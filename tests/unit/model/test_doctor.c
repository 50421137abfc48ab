/* doctor: recorded models and libraries made to order, on machines that are described. */
#include <ftw.h>

#include "../../lib/examined.h"

/* ---- recorded models ---- */

static void healthy(void **state)
{
	(void)state;
	struct doctor_host h = host();
	struct visit v;
	put_fixture("mlp", "mlp.pt2");
	examine(&v, "mlp.pt2", &(struct doctor_options){.host = &h, .no_torch = true});
	assert_int_equal(v.d.n_bad, 0);
	expect(&v, "machine", DOCTOR_OK, "x86_64");
	expect(&v, "cpu-isa", DOCTOR_OK, "avx2");
	expect(&v, "glibc-version", DOCTOR_OK, "GLIBC_2.34");
	expect(&v, "libstdcxx-version", DOCTOR_OK, "GLIBCXX_3.4.30");
	expect(&v, "library-missing", DOCTOR_OK, "4 libraries");
	assert_int_equal(expect(&v, "torch-found", DOCTOR_NOTE, "not checked against any torch")->fix.n, 0);
	expect(&v, "torch-compiled", DOCTOR_OK, "by torch 2.13 (");
	expect(&v, "torch-needed", DOCTOR_OK, "2.7 (aoti_torch_new_tensor_handle)");
	expect(&v, "weights-damaged", DOCTOR_OK, "embedded, 832 bytes");
	expect(&v, "old-api", DOCTOR_OK, "error texts");
	none(&v, "march-native");
	none(&v, "gpu-missing");
	none(&v, "custom-ops");
	leave(&v);
	/* And on this machine: it has what it takes to build this program, but perhaps no AVX2. */
	examine(&v, "mlp.pt2", &(struct doctor_options){.no_torch = true});
	for (size_t i = 0; i < v.d.n; i++)
		if (v.d.v[i].level == DOCTOR_FATAL && strcmp(v.d.v[i].id, "cpu-isa") && strcmp(v.d.v[i].id, "machine") &&
		    !strstr(v.d.v[i].id, "-version"))
			fail_msg("%s: %.*s", v.d.v[i].id, SL(v.d.v[i].what));
	leave(&v);
	folder_wipe();
}

/* Each package and library in tests/data that was compiled for x86-64 runs on any x86-64-v3 CPU, as its text, metadata and debug information say. One
 * that fails here was compiled for the CPU that recorded it: see PORTABLE in scripts/fixtures/packages.py. */
static size_t n_recorded;

static void runs_on_v3(const char *file, const char *path)
{
	struct doctor_host h = host();
	struct package pkg;
	struct err err;
	if (package_open(&pkg, path, &err) < 0) {
		if (package_open_exported(&pkg, path, &err) < 0)
			fail_msg("%s: %s", file, err.text);
		assert_int_equal(pkg.n, 0); /* a program, not compiled */
	}
	for (size_t i = 0; i < pkg.n; i++) {
		struct doctor d = {0};
		bool other_machine = false, known = false;
		if (doctor_examine(&d, &pkg, &pkg.model[i], &(struct doctor_options){.host = &h, .no_torch = true}, &err) < 0)
			fail_msg("%s: %s", file, err.text);
		for (size_t k = 0; k < d.n; k++) {
			const struct doctor_finding *f = &d.v[k];
			other_machine = other_machine || (!strcmp(f->id, "machine") && f->level == DOCTOR_FATAL);
			known = known || !strcmp(f->id, "cpu-isa");
			if (!strcmp(f->id, "march-native") || (!strcmp(f->id, "cpu-isa") && f->level != DOCTOR_OK))
				fail_msg("%s: %.*s", file, SL(f->what));
		}
		if (known == other_machine)
			fail_msg("%s: %s", file,
				 known ? "for another machine, but with instruction sets of x86-64" : "unknown instruction sets");
		n_recorded += known;
		doctor_release(&d);
	}
	package_close(&pkg);
}

static int visit_recorded(const char *file, const struct stat *st, int what, struct FTW *at)
{
	(void)st;
	struct slice name = slice_str(file + at->base);
	struct buf b = {0};
	if (slice_ends(name, "_v4.pt2.xz")) /* for AVX-512 on purpose: whoever runs it asks the CPU first */
		return 0;
	if (what == FTW_F && slice_ends(name, ".so.xz")) { /* the texts beside it belong to it */
		char *cmd = xasprintf("cp '%.*s'/* '%s' && xz -d '%s'/*", at->base, file, folder_path, folder_path);
		assert_int_equal(system(cmd), 0);
		free(cmd);
		runs_on_v3(file, folder_path);
	} else if (what == FTW_F && (slice_ends(name, ".pt2.xz") || slice_ends(name, ".pt2"))) {
		char *path = xasprintf("%s/model.pt2", folder_path);
		if (!data_load(slice_find(slice_str(file), "tests/data/") + strlen("tests/data/"), &b))
			fail_msg("cannot unpack %s", file);
		folder_put("model.pt2", buf_slice(&b));
		runs_on_v3(file, path);
		free(path);
		buf_release(&b);
	}
	folder_wipe();
	return 0;
}

static void recorded(void **state)
{
	(void)state;
	char *data = data_path("");
	assert_int_equal(nftw(data, visit_recorded, 16, FTW_PHYS), 0);
	assert_true(n_recorded > 60); /* 66 when this was written */
	free(data);
}

static void old_cpu(void **state)
{
	(void)state;
	struct doctor_host h = host();
	struct visit v;
	h.isa = doctor_isa_of_flags(SLICE("-march=nehalem"), &(bool){false}, &(struct slice){0});
	put_fixture("emb", "emb.pt2");
	examine(&v, "emb.pt2", &(struct doctor_options){.host = &h, .no_torch = true});
	const struct doctor_finding *f = expect(&v, "cpu-isa", DOCTOR_FATAL, "avx, f16c, fma, avx2, which a Haswell lacks");
	assert_non_null(slice_find(f->why, "SIGILL"));
	assert_int_equal(v.d.n_bad, 1);
	leave(&v);
	h.isa = 0;
	examine(&v, "emb.pt2", &(struct doctor_options){.host = &h, .no_torch = true});
	expect(&v, "cpu-isa", DOCTOR_FATAL, "sse4.2");
	leave(&v);
	folder_wipe();
}

static void other_machine(void **state)
{
	(void)state;
	struct doctor_host h = host();
	struct visit v;
	h.machine = "aarch64";
	put_fixture("emb", "emb.pt2");
	examine(&v, "emb.pt2", &(struct doctor_options){.host = &h, .no_torch = true});
	expect(&v, "machine", DOCTOR_FATAL, "compiled for x86_64, but this machine is aarch64");
	none(&v, "cpu-isa");
	none(&v, "glibc-version");
	leave(&v);
	folder_wipe();
}

static void old_system(void **state)
{
	(void)state;
	struct doctor_host h = host();
	struct visit v;
	h.library = old_libraries;
	h.n_library = ARRAY_LEN(old_libraries);
	put_fixture("emb", "emb.pt2");
	examine(&v, "emb.pt2", &(struct doctor_options){.host = &h, .no_torch = true});
	expect(&v, "glibc-version", DOCTOR_FATAL, "needs GLIBC_2.34 of libc.so.6, but this machine has only GLIBC_2.17");
	const struct doctor_finding *f = expect(&v, "libstdcxx-version", DOCTOR_FATAL,
						"needs GLIBCXX_3.4.30 of libstdc++.so.6, but this machine has only GLIBCXX_3.4.19");
	assert_non_null(slice_find(f->why, "version `GLIBCXX_3.4.30' not found"));
	expect(&v, "library-missing", DOCTOR_FATAL, "libgcc_s.so.1, which is not installed");
	leave(&v);
	folder_wipe();
}

static void blobs(void **state)
{
	(void)state;
	struct doctor_host h = host();
	struct doctor_options o = {.host = &h, .no_torch = true};
	struct visit v;
	put_fixture("weights_blob", "w.pt2");
	examine(&v, "w.pt2", &o);
	expect(&v, "weights-blob", DOCTOR_OK, "66304 bytes");
	/* Unpacked; then the blob is cut, then it is gone. */
	for (uint32_t i = 0; i < v.pkg.model[0].n_file; i++) {
		struct slice data;
		struct err err;
		struct package_file *f = &v.pkg.file[v.pkg.model[0].file[i]];
		char *name = xasprintf("flat/%.*s", SL(f->name));
		assert_int_equal(package_data(&v.pkg, v.pkg.model[0].file[i], &data, &err), 0);
		folder_put(name, slice_ends(f->name, ".blob") ? slice_of(data.p, data.n - 8) : data);
		free(name);
	}
	leave(&v);
	examine(&v, "flat", &o);
	expect(&v, "weights-blob", DOCTOR_FATAL, "has 66296 bytes, but the library expects 66304");
	leave(&v);
	char *cmd = xasprintf("rm '%s'/flat/*.blob '%s'/flat/*.cpp '%s'/flat/*.json", folder_path, folder_path, folder_path);
	assert_int_equal(system(cmd), 0);
	free(cmd);
	examine(&v, "flat", &o);
	expect(&v, "weights-blob", DOCTOR_FATAL, "which is missing");
	expect(&v, "no-text", DOCTOR_NOTE, "*.wrapper.cpp");
	expect(&v, "no-metadata", DOCTOR_NOTE, "*_metadata.json");
	expect(&v, "cpu-isa", DOCTOR_NOTE, "unknown which instruction sets");
	leave(&v);
	folder_wipe();
}

static void custom_ops(void **state)
{
	(void)state;
	struct doctor_host h = host();
	struct doctor_options o = {.host = &h, .no_torch = true};
	static const struct elf_order calls = {.n_symbol = 1, .symbol = {{"aoti_torch_proxy_executor_call_function"}}};
	struct visit v;
	put_elf("a.so", &calls);
	folder_put("a.json", SLICE("{\"nodes\": [{\"name\": \"buf1\", \"node\": {\"target\": \"pt2fix::soft_clip\"}}, "
				   "{\"node\": {\"target\": \"aten::sin\"}}, "
				   "{\"node\": {\"target\": \"pt2fix::soft_clip\"}}, {\"node\": {\"target\": "
				   "\"mine::add_\"}}, {\"node\": 7}, 3]}"));
	examine(&v, "a.so", &o);
	const struct doctor_finding *f = expect(&v, "custom-ops", DOCTOR_NOTE, "not torch's own: pt2fix::soft_clip, mine::add_");
	assert_null(slice_find(f->what, "sin"));
	none(&v, "extern-nodes");
	leave(&v);
	folder_put("a.json", SLICE("{\"nodes\": ["));
	examine(&v, "a.so", &o);
	expect(&v, "extern-nodes", DOCTOR_FATAL, "a.json: extern nodes: ");
	leave(&v);
	folder_put("a.json", SLICE("{}"));
	examine(&v, "a.so", &o);
	expect(&v, "extern-nodes", DOCTOR_FATAL, "no list of nodes");
	leave(&v);
	folder_put("a.json", SLICE("{\"nodes\": []}"));
	examine(&v, "a.so", &o);
	none(&v, "extern-nodes");
	none(&v, "custom-ops");
	leave(&v);
	folder_wipe();
	put_elf("a.so", &calls);
	examine(&v, "a.so", &o);
	expect(&v, "extern-nodes", DOCTOR_WARNING, "not next to it");
	leave(&v);
	put_elf("p/data/aotinductor/model/a.wrapper.so", &calls);
	examine(&v, "p", &o);
	expect(&v, "extern-nodes", DOCTOR_FATAL, "is missing");
	leave(&v);
	folder_wipe();
}

/* ---- instruction sets ---- */

static uint64_t of_march(const char *name)
{
	bool native = false;
	struct slice unknown = {0};
	char *flag = xasprintf("-march=%s", name);
	uint64_t isa = doctor_isa_of_flags(slice_str(flag), &native, &unknown);
	if (native || unknown.n)
		fail_msg("%s is not known", flag);
	free(flag);
	return isa;
}

/* Those that users' machines were found to have, and their aliases (gcc's manual, "x86 Options"). */
static void marches(void **state)
{
	(void)state;
	uint64_t avx512 = of_march("x86-64-v4");
	assert_int_equal(of_march("core-avx2"), of_march("haswell"));
	assert_int_equal(of_march("rocketlake"), of_march("icelake-server"));
	assert_int_equal(of_march("emeraldrapids"), of_march("sapphirerapids"));
	assert_int_equal(of_march("sapphirerapids") & (ISA(AMX_TILE) | ISA(AVX512FP16)), ISA(AMX_TILE) | ISA(AVX512FP16));
	assert_int_equal(of_march("graniterapids"), of_march("sapphirerapids") | ISA(AMX_FP16));
	assert_int_equal(of_march("graniterapids-d"), of_march("graniterapids") | ISA(AMX_COMPLEX));
	assert_int_equal(of_march("znver4") & avx512, avx512);
	assert_int_equal(of_march("znver5"), of_march("znver4") | ISA(AVXVNNI));
	assert_int_equal(of_march("arrowlake") & avx512, of_march("x86-64-v3"));
	assert_int_equal(of_march("lunarlake") ^ of_march("arrowlake"), ISA(AVXVNNIINT16));
	assert_int_equal(of_march("sandybridge") & (ISA(AVX) | ISA(AVX2)), ISA(AVX));
	of_march("bdver4"), of_march("btver2"), of_march("tremont"), of_march("tigerlake"), of_march("cannonlake"), of_march("k8");
}

static void flags(void **state)
{
	(void)state;
	bool native = false;
	struct slice unknown = {0};
	uint64_t v3 = AVX2_CPU;
	assert_int_equal(doctor_isa_of_flags(SLICE("g++ a.cpp -O3 -mavx2 -mfma -mf16c -mtune=native"), &native, &unknown),
			 ISA(AVX2) | ISA(FMA) | ISA(F16C));
	assert_false(native || unknown.n);
	assert_int_equal(doctor_isa_of_flags(SLICE("-mno-fma -march=x86-64-v3"), &native, &unknown), v3 & ~ISA(FMA));
	assert_int_equal(doctor_isa_of_flags(SLICE("-march=x86-64-v3 -mno-fma -mfma"), &native, &unknown), v3);
	assert_int_equal(doctor_isa_of_flags(SLICE("-march=x86-64 -msse4.2 -mabm"), &native, &unknown),
			 ISA(SSE42) | ISA(LZCNT) | ISA(POPCNT));
	assert_int_equal(doctor_isa_of_flags(SLICE("-march=native -mavx512f -mamx-tile"), &native, &unknown), ISA(AVX512F) | ISA(AMX_TILE));
	assert_true(native);
	native = false;
	assert_int_equal(doctor_isa_of_flags(SLICE("-march=quantumlake"), &native, &unknown), 0);
	assert_false(native);
	assert_text(unknown, "quantumlake");
	unknown = (struct slice){0};
	assert_int_equal(doctor_isa_of_flags(SLICE(""), &native, &unknown), 0);
	uint64_t avx512 = doctor_isa_of_metadata(SLICE("AVX512"), &unknown);
	assert_true(avx512 & ISA(AVX512VL) && avx512 & ISA(FMA) && !(avx512 & ISA(AVX512VNNI)));
	uint64_t amx = doctor_isa_of_metadata(SLICE("AVX512 AVX512_VNNI AMX_TILE"), &unknown);
	assert_true(amx & ISA(AVX512VNNI) && amx & ISA(AMX_INT8) && (amx & avx512) == avx512);
	assert_int_equal(doctor_isa_of_metadata(SLICE("AVX2"), &unknown) & ~v3, 0);
	assert_int_equal(doctor_isa_of_metadata(SLICE("INVALID_VEC_ISA"), &unknown), 0);
	assert_int_equal(unknown.n, 0);
	assert_int_equal(doctor_isa_of_metadata(SLICE("ASIMD"), &unknown), 0);
	assert_text(unknown, "ASIMD");
}

/* What this CPU has, held against what the kernel says of it. */
static void this_cpu(void **state)
{
	(void)state;
	struct doctor_host h;
	char line[8192];
	doctor_host_here(&h);
	assert_true(strlen(h.machine) > 0);
	FILE *f = fopen("/proc/cpuinfo", "r");
	if (!f || strcmp(h.machine, "x86_64"))
		skip();
	while (fgets(line, sizeof(line), f) && strncmp(line, "flags", 5))
		;
	fclose(f);
	static const struct {
		const char *flag;
		uint64_t bit;
	} of[] = {{" sse4_2 ", ISA(SSE42)},
		  {" avx2 ", ISA(AVX2)},
		  {" fma ", ISA(FMA)},
		  {" f16c ", ISA(F16C)},
		  {" bmi2 ", ISA(BMI2)},
		  {" abm ", ISA(LZCNT)},
		  {" avx512f ", ISA(AVX512F)},
		  {" avx512vl ", ISA(AVX512VL)},
		  {" avx512_vnni ", ISA(AVX512VNNI)},
		  {" avx512_bf16 ", ISA(AVX512BF16)},
		  {" amx_tile ", ISA(AMX_TILE)},
		  {" avx512_fp16 ", ISA(AVX512FP16)}};
	for (size_t i = 0; i < ARRAY_LEN(of); i++)
		if (!!strstr(line, of[i].flag) != !!(h.isa & of[i].bit))
			fail_msg("%s: cpuinfo %d, cpuid %d", of[i].flag, !!strstr(line, of[i].flag), !!(h.isa & of[i].bit));
}

static void march(void **state)
{
	(void)state;
	struct doctor_host h = host();
	struct doctor_options o = {.host = &h, .no_torch = true};
	struct visit v;
	put_elf("a.so", &(struct elf_order){0});
	folder_put("a.kernel.cpp", SLICE("x\n// Compile cmd\n// g++ -march=native -mavx512f -mavx512bw\n// Link cmd\n// g++ -mamx-tile\n"));
	examine(&v, "a.so", &o);
	expect(&v, "cpu-isa", DOCTOR_FATAL, "a CPU with avx512f, avx512bw, which");
	expect(&v, "march-native", DOCTOR_NOTE, "-march=native");
	leave(&v);
	folder_put("a.kernel.cpp", SLICE("x\n// Compile cmd\n// g++ -march=quantumlake\n"));
	examine(&v, "a.so", &o);
	expect(&v, "march-unknown", DOCTOR_NOTE, "'quantumlake'");
	leave(&v);
	folder_put("a.kernel.cpp", SLICE("x\n"));
	folder_put("a_metadata.json", SLICE("{\"AOTI_CPU_ISA\": \"AVX512 AVX512_VNNI AMX_TILE\", \"AOTI_PLATFORM\": "
					    "\"win32\", \"AOTI_MACHINE\": \"aarch64\"}"));
	examine(&v, "a.so", &o);
	expect(&v, "cpu-isa", DOCTOR_FATAL, "amx-int8");
	expect(&v, "platform", DOCTOR_WARNING, "compiled on win32");
	expect(&v, "metadata", DOCTOR_WARNING, "is for x86_64, but its metadata say aarch64");
	leave(&v);
	folder_wipe();
}

/* ---- torch ---- */

#define CXX11_ERROR "_ZN3c105ErrorC1ENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
#define OLD_ERROR "_ZN3c105ErrorC1ERKSs"

static void put_torch(const char *root, const char *version, const char *symbol, const char *abi)
{
	char *so = xasprintf("%s/torch/lib/libtorch_cpu.so", root), *c10 = xasprintf("%s/torch/lib/libc10.so", root);
	char *py = xasprintf("%s/torch/version.py", root), *text = xasprintf("x = 1\n__version__ = '%s'\n", version);
	put_elf(so, &(struct elf_order){.n_symbol = 2,
					.symbol = {{"aoti_torch_clone", .section = ELF_RODATA}, {symbol, .section = ELF_RODATA}}});
	put_elf(c10, &(struct elf_order){.n_symbol = 1, .symbol = {{abi, .section = ELF_RODATA}}});
	folder_put(py, slice_str(text));
	free(so), free(c10), free(py), free(text);
}

/* A library with the entry points of torch 2.minor, without `lacking`. */
static void put_release(unsigned minor, const char *lacking)
{
	struct elf_order o = {.needed = {"libtorch_cpu.so"}};
	for (size_t i = 0; i < ARRAY_LEN(entry_versions); i++)
		if (entry_versions[i].minor <= minor && strcmp(entry_versions[i].name, lacking))
			o.symbol[o.n_symbol++] = (struct elf_order_symbol){entry_versions[i].name, .section = ELF_RODATA, .func = true};
	put_elf("release.so", &o);
}

static void releases(void **state)
{
	(void)state;
	struct doctor_host h = host();
	struct doctor_options o = {.host = &h, .no_torch = true};
	static const struct {
		unsigned minor;
		const char *lacking, *by;
	} of[] = {
	    {15, "", "compiled by torch 2.15 or newer ("},
	    {14, "", "compiled by torch 2.14 ("},
	    {13, "", "compiled by torch 2.13 ("},
	    /* 2.11 and 2.12 brought none that every model has. */
	    {12, "AOTInductorModelRunMinimalArrayrefInterfaceV2", "compiled by torch 2.10 to 2.12 ("},
	    {15, "AOTInductorModelContainerGetConstantType", "compiled by torch 2.15 or newer ("},
	};
	for (size_t i = 0; i < ARRAY_LEN(of); i++) {
		struct visit v;
		put_release(of[i].minor, of[i].lacking);
		examine(&v, "release.so", &o);
		expect(&v, "torch-compiled", DOCTOR_OK, of[i].by);
		leave(&v);
	}
	folder_wipe();
}

/* Every recorded model wants an executable stack; one library made to order does not. */
static void exec_stack(void **state)
{
	(void)state;
	static const char *const new_glibc[] = {"GLIBC_2.41", NULL};
	struct doctor_library libraries[ARRAY_LEN(good_libraries)];
	struct doctor_host h = host();
	struct visit v;
	memcpy(libraries, good_libraries, sizeof(libraries));
	h.library = libraries;
	put_fixture("mlp", "mlp.pt2");
	put_torch("new", "2.15.0", "aoti_torch_new_tensor_handle", CXX11_ERROR);
	char *torch = xasprintf("%s/new", folder_path);
	struct doctor_options o = {.host = &h, .torch = torch};
	examine(&v, "mlp.pt2", &o);
	const struct doctor_finding *f = expect(&v, "exec-stack", DOCTOR_NOTE, "which glibc 2.41 and newer refuse");
	assert_non_null(slice_find(f->why, "on a newer system"));
	leave(&v);
	libraries[0].version = new_glibc;
	examine(&v, "mlp.pt2", &o);
	f = expect(&v, "exec-stack", DOCTOR_FATAL, "this machine has GLIBC_2.41");
	assert_non_null(slice_find(f->why, "cannot enable executable stack as shared object requires"));
	assert_non_null(slice_find(f->fix, "GLIBC_TUNABLES=glibc.rtld.execstack=2"));
	leave(&v);
	examine(&v, "mlp.pt2", &(struct doctor_options){.host = &h, .no_torch = true}); /* what runs it then is ours */
	expect(&v, "exec-stack", DOCTOR_NOTE, "this machine has GLIBC_2.41");
	leave(&v);
	put_elf("model.so", &(struct elf_order){.needed = {"libtorch_cuda.so"},
						.n_symbol = 1,
						.symbol = {{"AOTInductorModelContainerRun", .section = ELF_RODATA, .func = true}}});
	examine(&v, "model.so", &o);
	expect(&v, "exec-stack", DOCTOR_OK, "does not need an executable stack");
	f = expect(&v, "library-missing", DOCTOR_FATAL, "needs libtorch_cuda.so, which this torch");
	assert_non_null(slice_find(f->fix, "patchelf --remove-needed libtorch_cuda.so"));
	leave(&v);
	free(torch);
	folder_wipe();
}

static void torches(void **state)
{
	(void)state;
	struct doctor_host h = host();
	struct doctor_options o = {.host = &h};
	struct visit v;
	struct elf_order m = {.needed = {"libtorch_cpu.so"},
			      .n_symbol = 6,
			      .symbol = {{"aoti_torch_clone"},
					 {"aoti_torch_cpu__grouped_mm"},
					 {"aoti_torch_cpu_mine"},
					 {"Sleef_expf8_u10"},
					 {CXX11_ERROR},
					 {"AOTInductorModelContainerRun", .section = ELF_RODATA, .func = true}}};
	put_torch("old", "2.6.0", "Sleef_expf8_u10", OLD_ERROR);
	put_torch("new", "2.13.0+cu130", "aoti_torch_cpu__grouped_mm", CXX11_ERROR);
	put_elf("model.so", &m);
	char *old = xasprintf("%s/old", folder_path), *new = xasprintf("%s/new/torch/lib/libtorch_cpu.so", folder_path),
	     *bad = xasprintf("%s/none", folder_path);
	o.torch = old;
	examine(&v, "model.so", &o);
	const struct doctor_finding *f =
	    expect(&v, "torch-symbols", DOCTOR_FATAL, "aoti_torch_cpu__grouped_mm (since torch 2.12), aoti_torch_cpu_mine, ");
	assert_non_null(slice_find(f->what, "which torch 2.6.0 ("));
	assert_null(slice_find(f->what, "clone"));
	assert_null(slice_find(f->what, "Sleef"));
	assert_non_null(slice_find(f->fix, "torch 2.12 or newer"));
	expect(&v, "cxx-abi", DOCTOR_WARNING, "compiled with std::__cxx11::string, but this torch is without it");
	expect(&v, "torch-needed", DOCTOR_OK, "2.12 (aoti_torch_cpu__grouped_mm)");
	none(&v, "torch-found");
	leave(&v);
	o.torch = new;
	examine(&v, "model.so", &o);
	f = expect(&v, "torch-symbols", DOCTOR_FATAL, "needs aoti_torch_cpu_mine, Sleef_expf8_u10, which torch 2.13.0+cu130 (");
	assert_non_null(slice_find(f->fix, "custom operator"));
	expect(&v, "cxx-abi", DOCTOR_OK, "both with");
	leave(&v);
	m.n_symbol = 1;
	m.symbol[1] = m.symbol[5], m.n_symbol = 2;
	put_elf("model.so", &m);
	examine(&v, "model.so", &o);
	expect(&v, "torch-symbols", DOCTOR_OK, "has all 1 functions");
	none(&v, "cxx-abi");
	leave(&v);
	/* A build of libtorch without version.py. */
	put_elf("plain/lib/libtorch_cpu.so", &(struct elf_order){.n_symbol = 2,
								 .symbol = {{"aoti_torch_clone", .section = ELF_RODATA},
									    {"aoti_torch_new_tensor_handle", .section = ELF_RODATA}}});
	char *plain = xasprintf("%s/plain", folder_path);
	o.torch = plain;
	examine(&v, "model.so", &o);
	expect(&v, "torch-symbols", DOCTOR_OK, "torch 2.7 (from its functions) has all 1");
	leave(&v);
	folder_put("plain/build-version", SLICE("2.8.0+cpu\n"));
	examine(&v, "model.so", &o);
	expect(&v, "torch-symbols", DOCTOR_OK, "torch 2.8.0+cpu has all 1");
	leave(&v);
	free(plain);
	/* Found by the environment; and what was given is not one. */
	o.torch = NULL;
	setenv("PT2_TORCH", old, 1);
	examine(&v, "model.so", &o);
	expect(&v, "torch-symbols", DOCTOR_OK, "torch 2.6.0 has all");
	leave(&v);
	unsetenv("PT2_TORCH");
	struct package pkg;
	struct doctor d = {0};
	struct err err;
	char *path = xasprintf("%s/model.so", folder_path);
	o.torch = bad;
	assert_int_equal(package_open(&pkg, path, &err), 0);
	assert_int_equal(doctor_examine(&d, &pkg, &pkg.model[0], &o, &err), -1);
	assert_int_equal(err.status, EXIT_INPUT);
	assert_non_null(strstr(err.text, "does not contain libtorch_cpu.so"));
	doctor_release(&d);
	package_close(&pkg);
	free(path), free(old), free(new), free(bad);
	folder_wipe();
}

static void places_of_torch(void **state)
{
	(void)state;
	static const char *const at[] = {"lib/python3.12/site-packages", "lib/python3/dist-packages", "."};
	for (size_t i = 0; i < ARRAY_LEN(at); i++) {
		struct arena a = {0};
		struct slice folder, version = {0};
		put_torch(at[i], "2.9.1", "x", "y");
		assert_true(doctor_find_torch(&a, folder_path, &folder, &version));
		assert_true(slice_ends(folder, "/torch/lib"));
		assert_text(version, "2.9.1");
		setenv("VIRTUAL_ENV", folder_path, 1);
		char *saved = xstrdup(getenv("PATH"));
		assert_true(i == 2 || doctor_find_torch(&a, NULL, &folder, &version));
		assert_true(i == 2 || slice_starts(folder, folder_path));
		unsetenv("VIRTUAL_ENV");
		/* By the python3 that the shell would run. */
		folder_put("bin/python3", SLICE(""));
		char *path = xasprintf("%s/bin:/bin", folder_path);
		setenv("PATH", path, 1);
		assert_true(i == 2 || doctor_find_torch(&a, NULL, &folder, &version));
		assert_true(i == 2 || slice_starts(folder, folder_path));
		setenv("PATH", saved, 1);
		free(path);
		free(saved);
		arena_release(&a);
		folder_wipe();
	}
}

/* ---- the interface, other runtimes, other systems ---- */

static void interfaces(void **state)
{
	(void)state;
	struct doctor_host h = host();
	struct doctor_options o = {.host = &h, .no_torch = true};
	struct visit v;
	struct elf_order m = {.n_symbol = 1, .symbol = {{"main", .section = ELF_RODATA}}};
	put_elf("a.so", &m);
	examine(&v, "a.so", &o);
	expect(&v, "not-aoti", DOCTOR_FATAL, "not an AOTInductor library");
	leave(&v);
	m.symbol[0].name = "AOTInductorModelCreate";
	put_elf("a.so", &m);
	examine(&v, "a.so", &o);
	expect(&v, "no-container", DOCTOR_FATAL, "without its container");
	leave(&v);
	m.symbol[0].name = "AOTInductorModelContainerCreate";
	put_elf("a.so", &m);
	examine(&v, "a.so", &o);
	expect(&v, "old-api", DOCTOR_WARNING, "does not export AOTInductorModelContainerCreateWithDevice");
	expect(&v, "runtime", DOCTOR_WARNING, "compiled for another runtime: none (standalone)");
	leave(&v);
	static const char *const all[] = {"CreateWithDevice", "Delete",          "GetCallSpec",
					  "GetNumInputs",     "GetNumOutputs",   "Run",
					  "GetNumConstants",  "GetConstantName", "UpdateConstantBuffer"};
	char name[ARRAY_LEN(all)][64];
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		snprintf(name[i], sizeof(name[i]), "AOTInductorModelContainer%s", all[i]);
		m.symbol[i] = (struct elf_order_symbol){name[i], .section = ELF_RODATA};
	}
	m.n_symbol = ARRAY_LEN(all) + 1;
	m.symbol[ARRAY_LEN(all)] = (struct elf_order_symbol){"my_aoti_torch_clone", .section = 0};
	put_elf("a.so", &m);
	examine(&v, "a.so", &o);
	expect(&v, "old-api", DOCTOR_OK, "torch 2.3");
	expect(&v, "no-error-texts", DOCTOR_NOTE, "before 2.13");
	expect(&v, "runtime", DOCTOR_WARNING, "start with my_");
	leave(&v);
	m.symbol[ARRAY_LEN(all)].name = "aoti_torch_clone";
	m.rpath = "/opt/lib";
	m.needed[0] = "libnothing.so.3";
	put_elf("a.so", &m);
	examine(&v, "a.so", &o);
	expect(&v, "runtime", DOCTOR_WARNING, "does not link libtorch");
	expect(&v, "rpath", DOCTOR_NOTE, "/opt/lib");
	expect(&v, "library-missing", DOCTOR_FATAL, "libnothing.so.3");
	leave(&v);
	folder_wipe();
}

static void other_systems(void **state)
{
	(void)state;
	struct doctor_host h = host();
	struct doctor_options o = {.host = &h, .no_torch = true};
	struct visit v;
	char dll[128] = "MZ";
	struct buf b = {0};
	folder_put("w/data/aotinductor/model/a.wrapper.pyd", slice_of(dll, sizeof(dll)));
	examine(&v, "w", &o);
	expect(&v, "platform", DOCTOR_FATAL, "a.wrapper.pyd is a Windows DLL");
	leave(&v);
	folder_put("c/data/aotinductor/model/a.wrapper.cpp", SLICE("x"));
	examine(&v, "c", &o);
	expect(&v, "not-compiled", DOCTOR_FATAL, "only the C++ text");
	leave(&v);
	elf_make(&b, &(struct elf_order){.machine = EM_AARCH64});
	folder_put("arm.so", buf_slice(&b));
	examine(&v, "arm.so", &o);
	expect(&v, "machine", DOCTOR_FATAL, "compiled for aarch64, but this machine is x86_64");
	leave(&v);
	b.p[EI_CLASS] = ELFCLASS32;
	folder_put("arm32.so", buf_slice(&b));
	examine(&v, "arm32.so", &o);
	expect(&v, "machine", DOCTOR_FATAL, "aarch64");
	leave(&v);
	/* Damage is an error, not a finding. */
	b.p[EI_CLASS] = ELFCLASS64;
	folder_put("broken.so", slice_of(b.p, b.len - 1));
	struct package pkg;
	struct doctor d = {0};
	struct err err;
	char *path = xasprintf("%s/broken.so", folder_path);
	assert_int_equal(package_open(&pkg, path, &err), 0);
	assert_int_equal(doctor_examine(&d, &pkg, &pkg.model[0], &o, &err), -1);
	assert_int_equal(err.status, EXIT_INPUT);
	doctor_release(&d);
	package_close(&pkg);
	free(path);
	buf_release(&b);
	folder_wipe();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(healthy),  cmocka_unit_test(old_cpu),         cmocka_unit_test(other_machine), cmocka_unit_test(old_system),
	    cmocka_unit_test(blobs),    cmocka_unit_test(custom_ops),      cmocka_unit_test(flags),         cmocka_unit_test(this_cpu),
	    cmocka_unit_test(march),    cmocka_unit_test(marches),         cmocka_unit_test(releases),      cmocka_unit_test(exec_stack),
	    cmocka_unit_test(torches),  cmocka_unit_test(places_of_torch), cmocka_unit_test(interfaces),    cmocka_unit_test(other_systems),
	    cmocka_unit_test(recorded),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name(__FILE__, tests, folder_make, folder_remove);
}
