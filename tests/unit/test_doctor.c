/* aoti/doctor: recorded models and libraries made to order, on machines that are described. */
#include "../lib/folder.h"

#include "../lib/elf.h"
#include "doctor/doctor.h"
#include "elf/modelso.h"
#include "doctor/shimversions.h"

static void put_elf(const char *name, const struct elf_order *o)
{
	struct buf b = {0};
	elf_make(&b, o);
	folder_put(name, buf_slice(&b));
	buf_release(&b);
}

/* ---- a machine ---- */

static const char *const glibc[] = {"GLIBC_2.36", NULL}, *const old_glibc[] = {"GLIBC_2.17", NULL};
static const char *const stdcxx[] = {"GLIBCXX_3.4.30", "CXXABI_1.3.13", NULL}, *const old_stdcxx[] = {"GLIBCXX_3.4.19", "CXXABI_1.3.7",
												      NULL};
static const char *const gcc[] = {"GCC_3.0", NULL};
static const struct doctor_library good_libraries[] = {
    {"libc.so.6", glibc},   {"libm.so.6", glibc},   {"ld-linux-x86-64.so.2", glibc}, {"libstdc++.so.6", stdcxx},
    {"libgcc_s.so.1", gcc}, {"libgomp.so.1", NULL}, {"libcuda.so.1", NULL},
};
static const struct doctor_library old_libraries[] = {
    {"libc.so.6", old_glibc},
    {"libm.so.6", old_glibc},
    {"ld-linux-x86-64.so.2", old_glibc},
    {"libstdc++.so.6", old_stdcxx},
};
#define AVX2_CPU (doctor_isa_of_flags(SLICE("-march=x86-64-v3"), &(bool){false}, &(struct slice){0}))

static struct doctor_host host(void)
{
	return (struct doctor_host){.machine = "x86_64",
				    .cpu = "a Haswell",
				    .isa = AVX2_CPU,
				    .described = true,
				    .library = good_libraries,
				    .n_library = ARRAY_LEN(good_libraries),
				    .gpu_asked = true};
}

struct visit {
	struct package pkg;
	struct doctor d;
};

static void examine(struct visit *v, const char *name, const struct doctor_options *o)
{
	struct err err;
	char *path = xasprintf("%s/%s", folder_path, name);
	*v = (struct visit){0};
	if (package_open(&v->pkg, path, &err) < 0 || doctor_examine(&v->d, &v->pkg, &v->pkg.model[0], o, &err) < 0)
		fail_msg("%s", err.text);
	free(path);
	size_t bad = 0;
	for (size_t i = 0; i < v->d.n; i++) {
		const struct doctor_finding *f = &v->d.v[i];
		bad += f->level >= DOCTOR_WARNING;
		assert_true(f->what.n > 0);
		assert_true(f->level == DOCTOR_OK ? !f->why.n && !f->fix.n : f->why.n > 0);
		assert_true(f->level < DOCTOR_WARNING || f->fix.n > 0);
	}
	assert_int_equal(v->d.n_bad, bad);
}

static void leave(struct visit *v)
{
	doctor_release(&v->d);
	package_close(&v->pkg);
}

/* The finding with this id, of this level, that says this; the last one with the id counts. */
static const struct doctor_finding *expect(const struct visit *v, const char *id, enum doctor_level level, const char *text)
{
	const struct doctor_finding *f = NULL;
	for (size_t i = 0; i < v->d.n; i++)
		if (!strcmp(v->d.v[i].id, id) && (!f || f->level != level || !slice_find(f->what, text)))
			f = &v->d.v[i];
	if (!f)
		fail_msg("no finding '%s'", id);
	if (f->level != level || !slice_find(f->what, text))
		fail_msg("%s: %s: %.*s", id, doctor_level_name(f->level), SL(f->what));
	return f;
}

static void none(const struct visit *v, const char *id)
{
	for (size_t i = 0; i < v->d.n; i++)
		if (!strcmp(v->d.v[i].id, id))
			fail_msg("%s: %.*s", id, SL(v->d.v[i].what));
}

static void put_fixture(const char *fixture, const char *name)
{
	struct buf b = {0};
	char *xz = xasprintf("aoti/%s.pt2.xz", fixture);
	if (!data_load(xz, &b))
		fail_msg("cannot unpack %s", xz);
	folder_put(name, buf_slice(&b));
	buf_release(&b);
	free(xz);
}

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
	assert_int_equal(expect(&v, "torch-found", DOCTOR_NOTE, "not held against any torch")->fix.n, 0);
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
	expect(&v, "glibc-version", DOCTOR_FATAL, "needs GLIBC_2.34 of libc.so.6, which here ends with GLIBC_2.17");
	const struct doctor_finding *f =
	    expect(&v, "libstdcxx-version", DOCTOR_FATAL, "needs GLIBCXX_3.4.30 of libstdc++.so.6, which here ends with GLIBCXX_3.4.19");
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
	expect(&v, "weights-blob", DOCTOR_FATAL, "which is not here");
	expect(&v, "no-text", DOCTOR_NOTE, "*.wrapper.cpp");
	expect(&v, "no-metadata", DOCTOR_NOTE, "*_metadata.json");
	expect(&v, "cpu-isa", DOCTOR_NOTE, "nothing says");
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
	expect(&v, "extern-nodes", DOCTOR_WARNING, "not beside it");
	leave(&v);
	put_elf("p/data/aotinductor/model/a.wrapper.so", &calls);
	examine(&v, "p", &o);
	expect(&v, "extern-nodes", DOCTOR_FATAL, "is not here");
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
	expect(&v, "metadata", DOCTOR_WARNING, "is for x86_64, its metadata say aarch64");
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
	const struct doctor_finding *f = expect(&v, "exec-stack", DOCTOR_NOTE, "which glibc refuses from 2.41 on");
	assert_non_null(slice_find(f->why, "on a newer system"));
	leave(&v);
	libraries[0].version = new_glibc;
	examine(&v, "mlp.pt2", &o);
	f = expect(&v, "exec-stack", DOCTOR_FATAL, "here it is GLIBC_2.41");
	assert_non_null(slice_find(f->why, "cannot enable executable stack as shared object requires"));
	assert_non_null(slice_find(f->fix, "GLIBC_TUNABLES=glibc.rtld.execstack=2"));
	leave(&v);
	examine(&v, "mlp.pt2", &(struct doctor_options){.host = &h, .no_torch = true}); /* what runs it then is ours */
	expect(&v, "exec-stack", DOCTOR_NOTE, "here it is GLIBC_2.41");
	leave(&v);
	put_elf("model.so", &(struct elf_order){.needed = {"libtorch_cuda.so"},
						.n_symbol = 1,
						.symbol = {{"AOTInductorModelContainerRun", .section = ELF_RODATA, .func = true}}});
	examine(&v, "model.so", &o);
	expect(&v, "exec-stack", DOCTOR_OK, "needs no executable stack");
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
	expect(&v, "torch-symbols", DOCTOR_OK, "torch 2.7 (by its functions) has all 1");
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
	assert_non_null(strstr(err.text, "has no libtorch_cpu.so"));
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
	expect(&v, "not-aoti", DOCTOR_FATAL, "some other library");
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
	expect(&v, "runtime", DOCTOR_WARNING, "made for another runtime: none (it stands alone)");
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
	expect(&v, "runtime", DOCTOR_WARNING, "begin with my_");
	leave(&v);
	m.symbol[ARRAY_LEN(all)].name = "aoti_torch_clone";
	m.rpath = "/opt/lib";
	m.needed[0] = "libnothing.so.3";
	put_elf("a.so", &m);
	examine(&v, "a.so", &o);
	expect(&v, "runtime", DOCTOR_WARNING, "links no libtorch");
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
	expect(&v, "not-compiled", DOCTOR_FATAL, "C++ text only");
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

/* ---- GPUs and constants ---- */

/* A cubin with these flags and PTX, as fatbinary of CUDA 13 lays them. */
static void fatbin(const char *name, uint32_t sm, uint32_t flags, uint32_t ptx_sm, const char *ptx)
{
	Elf64_Ehdr eh = {
	    .e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT, 0x33, 7}, .e_machine = EM_CUDA, .e_flags = flags};
	struct entry {
		uint16_t kind, version;
		uint32_t head;
		uint64_t size;
		uint32_t packed, zero;
		uint16_t minor, major;
		uint32_t sm;
		uint64_t rest[4];
	} elf = {2, 0x101, sizeof(elf), sizeof(eh), 0, 0, 7, 1, sm, {0}},
	  text = {1, 0x101, sizeof(text), strlen(ptx), 0, 64, 7, 8, ptx_sm, {0}};
	struct {
		uint32_t magic;
		uint16_t version, head;
		uint64_t size;
	} head = {0xba55ed50, 1, sizeof(head), sizeof(elf) + sizeof(eh) + sizeof(text) + strlen(ptx)};
	struct buf b = {0};
	buf_add(&b, &head, sizeof(head));
	buf_add(&b, &elf, sizeof(elf));
	buf_add(&b, &eh, sizeof(eh));
	buf_add(&b, &text, sizeof(text));
	buf_addf(&b, "%s", ptx);
	folder_put(name, buf_slice(&b));
	struct guard g = {0};
	struct modelso_code code[4];
	for (size_t n = 0; n <= b.len; n++) /* cut off anywhere */
		assert_int_equal(modelso_codes(slice_of(guard_put(&g, b.p, n), n), code, 4), n == b.len ? 2 : 0);
	uint64_t seed = 1;
	for (int i = 0; i < 20000; i++) {
		char *p = guard_put(&g, b.p, b.len);
		for (int k = 0; k < 3; k++)
			p[random_u32(&seed) % b.len] = (char)random_u32(&seed);
		modelso_codes(slice_of(p, b.len), code, 4);
	}
	guard_release(&g);
	buf_release(&b);
}

static void gpus(void **state)
{
	(void)state;
	struct doctor_host h = host();
	struct doctor_options o = {.host = &h, .no_torch = true};
	struct visit v;
	struct buf ro = {0};
	Elf64_Ehdr eh = {
	    .e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT, 0x33, 7}, .e_machine = EM_CUDA, .e_flags = 0x5a055a};
	buf_add(&ro, &eh, sizeof(eh));
	struct elf_order m = {.needed = {"libcuda.so.1"},
			      .rodata = buf_slice(&ro),
			      .n_symbol = 2,
			      .symbol = {{"cuLaunchKernel"}, {"__triton_poi_0_start", .section = ELF_RODATA}}};
	put_elf("a.so", &m);
	examine(&v, "a.so", &o);
	expect(&v, "gpu-missing", DOCTOR_FATAL, "no NVIDIA driver");
	leave(&v);
	h.gpu_driver = true;
	examine(&v, "a.so", &o);
	expect(&v, "gpu-missing", DOCTOR_FATAL, "the driver finds no GPU");
	leave(&v);
	h.n_gpu = 1;
	h.sm[0] = 80;
	examine(&v, "a.so", &o);
	expect(&v, "gpu-sm", DOCTOR_FATAL, "has code for sm_90 (triton_poi_0), but the GPU here is sm_80");
	leave(&v);
	h.sm[0] = 90;
	examine(&v, "a.so", &o);
	expect(&v, "gpu-sm", DOCTOR_OK, "sm_90 runs on the GPU here (sm_90)");
	none(&v, "gpu-driver");
	leave(&v);
	/* Two GPUs, one of which can. */
	h.n_gpu = 2;
	h.sm[0] = 80;
	h.sm[1] = 90;
	examine(&v, "a.so", &o);
	expect(&v, "gpu-sm", DOCTOR_WARNING, "GPU 0 here (sm_80) cannot run its code for sm_90");
	leave(&v);
	h.n_gpu = 1;
	h.sm[0] = 90;
	/* Drivers: of one major version any will do. */
	m.needed[1] = "libcudart.so.12";
	put_elf("a.so", &m);
	static const struct {
		unsigned version;
		enum doctor_level level;
		const char *what;
	} drivers[] = {{11080, DOCTOR_FATAL, "compiled with CUDA 12, but the driver is for CUDA 11.8 and older"},
		       {12000, DOCTOR_OK, "compiled with CUDA 12; the driver is for CUDA 12.0"},
		       {13010, DOCTOR_OK, "compiled with CUDA 12; the driver is for CUDA 13.1"}};
	for (size_t i = 0; i < ARRAY_LEN(drivers); i++) {
		h.driver_version = drivers[i].version;
		examine(&v, "a.so", &o);
		expect(&v, "gpu-driver", drivers[i].level, drivers[i].what);
		leave(&v);
	}
	h.driver_version = 0;
	m.needed[1] = "libcudart.so.x";
	put_elf("a.so", &m);
	examine(&v, "a.so", &o);
	none(&v, "gpu-driver");
	leave(&v);
	m.needed[1] = NULL;
	put_elf("a.so", &m);
	static const struct {
		int error;
		const char *what;
	} errors[] = {{100, "finds no GPU"},
		      {34, "is the toolkit's stub"},
		      {803, "are of two versions"},
		      {804, "is not for this GPU"},
		      {999, "error 999"}};
	h.n_gpu = 0;
	for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
		h.gpu_error = errors[i].error;
		examine(&v, "a.so", &o);
		expect(&v, "gpu-missing", DOCTOR_FATAL, errors[i].what);
		leave(&v);
	}
	h.gpu_error = 0;
	h.n_gpu = 1;
	/* Kernels in files beside it; sm_86 code runs on sm_89, sm_90a only on sm_90. */
	m.rodata = SLICE("");
	m.n_symbol = 1;
	put_elf("a.so", &m);
	eh.e_flags = 0x560556;
	folder_put("a.cubin", slice_of((char *)&eh, sizeof(eh)));
	h.sm[0] = 89;
	examine(&v, "a.so", &o);
	expect(&v, "gpu-sm", DOCTOR_OK, "sm_86 runs on");
	leave(&v);
	eh.e_flags = 0x590d59;
	folder_put("a.cubin", slice_of((char *)&eh, sizeof(eh)));
	h.sm[0] = 86;
	examine(&v, "a.so", &o);
	expect(&v, "gpu-sm", DOCTOR_FATAL, "sm_89a (a.cubin)");
	leave(&v);
	/* Beside it a fat binary, which runs here: the other kernels do not. */
	fatbin("a.fatbin", 86, 0x560556, 86, ".version 8.7\n.target sm_86\n");
	examine(&v, "a.so", &o);
	expect(&v, "gpu-sm", DOCTOR_FATAL, "has code for sm_89a (a.cubin)");
	leave(&v);
	char *cmd = xasprintf("rm '%s'/a.cubin", folder_path);
	assert_int_equal(system(cmd), 0);
	free(cmd);
	examine(&v, "a.so", &o);
	expect(&v, "gpu-sm", DOCTOR_OK, "GPU code for sm_86 and PTX runs on the GPU here (sm_86)");
	leave(&v);
	/* PTX runs on what is newer, and not on what is older; not when it is for one alone, which packed PTX does not say itself. */
	h.sm[0] = 120;
	examine(&v, "a.so", &o);
	expect(&v, "gpu-sm", DOCTOR_OK, "sm_86 and PTX runs on the GPU here (sm_120)");
	leave(&v);
	h.sm[0] = 80;
	examine(&v, "a.so", &o);
	expect(&v, "gpu-sm", DOCTOR_FATAL, "has code for sm_86 and PTX (a.fatbin), but the GPU here is sm_80");
	leave(&v);
	h.sm[0] = 120;
	fatbin("a.fatbin", 90, 0x5a0d5a, 90, "\x28\xb5\x2f\xfd");
	examine(&v, "a.so", &o);
	expect(&v, "gpu-sm", DOCTOR_FATAL, "has code for sm_90a and PTX (a.fatbin), but the GPU here is sm_120");
	leave(&v);
	fatbin("a.fatbin", 80, 0x500550, 90, ".version 8.7\n.target sm_90a\n");
	examine(&v, "a.so", &o);
	expect(&v, "gpu-sm", DOCTOR_FATAL, "has code for sm_80 and PTX for sm_90a");
	leave(&v);
	folder_put("a.fatbin", SLICE("\x50\xed\x55\xba\1\0\x10\0"));
	examine(&v, "a.so", &o);
	expect(&v, "gpu-sm", DOCTOR_NOTE, "which GPUs");
	leave(&v);
	h.sm[0] = 86;
	/* Nothing but the metadata. */
	cmd = xasprintf("rm '%s'/a.fatbin", folder_path);
	assert_int_equal(system(cmd), 0);
	free(cmd);
	folder_put("a_metadata.json", SLICE("{\"AOTI_COMPUTE_CAPABILITY\": \"120\"}"));
	examine(&v, "a.so", &o);
	expect(&v, "gpu-sm", DOCTOR_FATAL, "sm_120 (AOTI_COMPUTE_CAPABILITY)");
	none(&v, "device-key");
	leave(&v);
	m.symbol[1] = (struct elf_order_symbol){"AOTInductorModelContainerCreate", .section = ELF_RODATA};
	m.n_symbol = 2;
	folder_put("a_metadata.json", SLICE("{\"AOTI_DEVICE_KEY\": \"cpu\"}"));
	put_elf("a.so", &m);
	examine(&v, "a.so", &o);
	expect(&v, "device-key", DOCTOR_WARNING, "it is for cpu, but the code is for cuda");
	leave(&v);
	folder_put("a_metadata.json", SLICE("{\"AOTI_DEVICE_KEY\": \"cuda\"}"));
	examine(&v, "a.so", &o);
	none(&v, "device-key");
	leave(&v);
	m.symbol[0].name = "hipLaunchKernel";
	put_elf("a.so", &m);
	examine(&v, "a.so", &o);
	expect(&v, "gpu-other", DOCTOR_NOTE, "not NVIDIA's");
	leave(&v);
	buf_release(&ro);
	folder_wipe();
}

/* A model of torch 2.13 names no runtime; the torch that it meets does. */
static void torch_for_cuda(void **state)
{
	(void)state;
	static const struct {
		const char *library, *runtime;
		unsigned driver;
		enum doctor_level level;
		const char *what;
	} torches[] = {
	    {"libtorch_cuda.so", "libcudart.so.13", 12080, DOCTOR_FATAL,
	     "this torch is for CUDA 13, but the driver is for CUDA 12.8 and older"},
	    {"libtorch_cuda.so", "libcudart.so.13", 13000, DOCTOR_OK, "this torch is for CUDA 13; the driver is for CUDA 13.0"},
	    {"libtorch_cuda.so", "libcudart-9335f6a2.so.11.0", 10020, DOCTOR_FATAL,
	     "this torch is for CUDA 11, but the driver is for CUDA 10.2"},
	    {"libc10_cuda.so", "libcudart.so.12", 11080, DOCTOR_FATAL, "this torch is for CUDA 12, but"},
	};
	struct doctor_host h = host();
	char *torch = xasprintf("%s/torch/lib", folder_path);
	struct doctor_options o = {.host = &h, .torch = torch};
	struct visit v;
	static const struct elf_order model = {.needed = {"libcuda.so.1", "libtorch_cpu.so", "libtorch_cuda.so"},
					       .n_symbol = 4,
					       .symbol = {{"cuLaunchKernel"},
							  {"aoti_torch_cuda_mm_out"},
							  {"aoti_torch_clone"},
							  {"AOTInductorModelContainerRun", .section = ELF_RODATA, .func = true}}};
	static const struct elf_order cpu = {.n_symbol = 1, .symbol = {{"aoti_torch_clone", .section = ELF_RODATA}}};
	h.gpu_driver = true;
	h.n_gpu = 1;
	h.sm[0] = 90;
	put_elf("a.so", &model);
	put_elf("torch/lib/libtorch_cpu.so", &cpu);
	examine(&v, "a.so", &o);
	const struct doctor_finding *f = expect(&v, "torch-cpu", DOCTOR_FATAL, "is for the cpu: it has no libtorch_cuda.so");
	assert_non_null(slice_find(f->fix, "a torch with CUDA"));
	expect(&v, "torch-symbols", DOCTOR_OK, "has all 1 functions that it calls, CUDA's aside");
	none(&v, "gpu-driver");
	for (size_t i = 0; i < v.d.n; i++) /* that is one fatal finding */
		assert_false(!strcmp(v.d.v[i].id, "library-missing") && v.d.v[i].level == DOCTOR_FATAL);
	leave(&v);
	static const struct elf_order plain = {.n_symbol = 1, .symbol = {{"aoti_torch_cuda_mm_out", .section = ELF_RODATA}}};
	put_elf("torch/lib/libtorch_cuda.so", &plain);
	h.driver_version = 12080;
	examine(&v, "a.so", &o);
	none(&v, "torch-cpu");
	none(&v, "gpu-driver");
	leave(&v);
	for (size_t i = 0; i < ARRAY_LEN(torches); i++) {
		struct elf_order cuda = {.needed = {"libcudnn.so.9", torches[i].runtime, "libc10.so"},
					 .n_symbol = 1,
					 .symbol = {{"aoti_torch_cuda_mm_out", .section = ELF_RODATA}}};
		char *name = xasprintf("torch/lib/%s", torches[i].library);
		put_elf("torch/lib/libtorch_cuda.so", &plain);
		put_elf(name, &cuda);
		free(name);
		h.driver_version = torches[i].driver;
		examine(&v, "a.so", &o);
		expect(&v, "gpu-driver", torches[i].level, torches[i].what);
		leave(&v);
	}
	h.driver_version = 0; /* it does not say */
	examine(&v, "a.so", &o);
	none(&v, "gpu-driver");
	leave(&v);
	free(torch);
	folder_wipe();
}

/* Of real kernels: who compiled them, and by which drivers. */
static void kernels_and_drivers(void **state)
{
	(void)state;
	struct doctor_host h = host();
	struct doctor_options o = {.host = &h, .no_torch = true};
	struct visit v;
	struct modelso_code code[4] = {0};
	struct slice data;
	h.gpu_driver = true;
	h.n_gpu = 1;
	h.sm[0] = 90;
	h.driver_version = 12020;
	put_fixture("cuda/linear_fatbin", "l.pt2");
	examine(&v, "l.pt2", &o);
	none(&v, "gpu-cubin");
	none(&v, "gpu-ptx");
	assert_int_equal(package_data(&v.pkg, v.pkg.model[0].cubin[0], &data, NULL), 0);
	assert_int_equal(modelso_codes(data, code, 4), 2);
	assert_int_equal(code[0].cuda, 12080);
	assert_int_equal(code[1].cuda, 12080);
	assert_true(!code[0].ptx && code[1].ptx);
	leave(&v);
	h.driver_version = 11080;
	examine(&v, "l.pt2", &o);
	expect(&v, "gpu-cubin", DOCTOR_WARNING, ".fatbin) are compiled by CUDA 12.8, but the driver is for CUDA 11.8 and older");
	leave(&v);
	/* PTX that a newer GPU would need. */
	static const struct elf_order model = {.needed = {"libcuda.so.1"}, .n_symbol = 1, .symbol = {{"cuLaunchKernel"}}};
	put_elf("a.so", &model);
	fatbin("a.fatbin", 80, 0x500550, 80, ".version 8.7\n.target sm_80\n");
	static const struct {
		unsigned sm, driver;
		bool refused;
	} cases[] = {{120, 12060, true}, {120, 12080, false}, {80, 12060, false}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		h.sm[0] = cases[i].sm;
		h.driver_version = cases[i].driver;
		examine(&v, "a.so", &o);
		if (cases[i].refused)
			expect(
			    &v, "gpu-ptx", DOCTOR_FATAL,
			    "sm_120 runs its kernels (a.fatbin) by their PTX only, which is of CUDA 12.8, but the driver is for CUDA 12.6");
		else
			none(&v, "gpu-ptx");
		leave(&v);
	}
	folder_wipe();
}

/* A cubin that ends anywhere, or is damaged. */
static void damaged_cubins(void **state)
{
	(void)state;
	struct guard g = {0};
	struct package pkg;
	struct modelso_code code[4];
	struct slice cubin;
	struct err err;
	char *path = xasprintf("%s/n.pt2", folder_path);
	uint64_t seed = 1;
	put_fixture("cuda/nan", "n.pt2");
	assert_int_equal(package_open(&pkg, path, &err), 0);
	assert_int_equal(package_data(&pkg, pkg.model[0].cubin[0], &cubin, NULL), 0);
	assert_int_equal(modelso_codes(cubin, code, 4), 1);
	assert_int_equal(code[0].cuda, 12080);
	for (size_t n = 0; n < cubin.n; n += n < 128 ? 1 : 97)
		modelso_codes(slice_of(guard_put(&g, cubin.p, n), n), code, 4);
	char *info = memmem(cubin.p, cubin.n, "\x04\x37\x04\0\x80\0\0\0", 8);
	assert_non_null(info);
	size_t at = (size_t)(info - cubin.p);
	for (int i = 0; i < 2000; i++) {
		char *p = guard_put(&g, cubin.p, cubin.n);
		p[random_u32(&seed) % sizeof(Elf64_Ehdr)] = (char)random_u32(&seed);
		for (int k = 0; k < 3; k++)
			p[at - 32 + random_u32(&seed) % 64] = (char)random_u32(&seed);
		modelso_codes(slice_of(p, cubin.n), code, 4);
	}
	package_close(&pkg);
	guard_release(&g);
	free(path);
	folder_wipe();
}

static void constants(void **state)
{
	(void)state;
	struct doctor_host h = host();
	struct contract_constant k[2] = {{.name = SLICE("weight"), .device = DEVICE_CUDA, .bytes = 8},
					 {.name = SLICE("bias"), .device = DEVICE_CPU, .bytes = 8}};
	struct contract c = {.device = DEVICE_CUDA, .constant = k, .n_constants = 2, .weight_bytes = 16};
	struct doctor_options o = {.host = &h, .no_torch = true, .contract = &c};
	struct visit v;
	struct elf_order m = {.n_symbol = 3,
			      .lrodata = SLICE("0123456789abcdef"),
			      .symbol = {{"AOTInductorModelContainerCreate", .section = ELF_RODATA},
					 {"_binary_constants_bin_start", .section = ELF_LRODATA},
					 {"_binary_constants_bin_end", .section = ELF_LRODATA, .at = 16}}};
	put_elf("a.so", &m);
	examine(&v, "a.so", &o);
	expect(&v, "constant-device", DOCTOR_FATAL, "constant bias is for cpu, the code for cuda (1 such)");
	expect(&v, "weights-damaged", DOCTOR_OK, "embedded, 16 bytes");
	leave(&v);
	m.rodata = SLICE("Mixed-device constants are only supported when");
	put_elf("a.so", &m);
	examine(&v, "a.so", &o);
	expect(&v, "constant-device", DOCTOR_NOTE, "1 constants stay on the cpu");
	leave(&v);
	c.device = DEVICE_CPU;
	examine(&v, "a.so", &o);
	expect(&v, "constant-device", DOCTOR_FATAL, "constant weight is for cuda, the code for cpu");
	leave(&v);
	k[0].device = DEVICE_CPU;
	m.lrodata = SLICE("\0");
	m.symbol[2].at = 1;
	put_elf("a.so", &m);
	examine(&v, "a.so", &o);
	none(&v, "constant-device");
	expect(&v, "weights-elsewhere", DOCTOR_WARNING, "needs 16 bytes of weights, and has none");
	leave(&v);
	m.symbol[2].at = 2;
	put_elf("a.so", &m);
	examine(&v, "a.so", &o);
	expect(&v, "weights-damaged", DOCTOR_FATAL, "do not lie in their section");
	leave(&v);
	folder_wipe();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(healthy),
	    cmocka_unit_test(old_cpu),
	    cmocka_unit_test(other_machine),
	    cmocka_unit_test(old_system),
	    cmocka_unit_test(blobs),
	    cmocka_unit_test(custom_ops),
	    cmocka_unit_test(flags),
	    cmocka_unit_test(this_cpu),
	    cmocka_unit_test(march),
	    cmocka_unit_test(marches),
	    cmocka_unit_test(releases),
	    cmocka_unit_test(exec_stack),
	    cmocka_unit_test(torches),
	    cmocka_unit_test(places_of_torch),
	    cmocka_unit_test(interfaces),
	    cmocka_unit_test(other_systems),
	    cmocka_unit_test(gpus),
	    cmocka_unit_test(torch_for_cuda),
	    cmocka_unit_test(kernels_and_drivers),
	    cmocka_unit_test(damaged_cubins),
	    cmocka_unit_test(constants),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name(__FILE__, tests, folder_make, folder_remove);
}
