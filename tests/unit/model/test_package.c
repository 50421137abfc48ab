/* aoti/package: packages, folders and bare libraries, and what is none of them. */
#include "../../lib/folder.h"

#include "model/package/package.h"

static char *path_of(const char *name) { return xasprintf("%s/%s", folder_path, name); }

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

static void open_ok(struct package *pkg, const char *name)
{
	struct err err;
	char *path = path_of(name);
	if (package_open(pkg, path, &err) < 0)
		fail_msg("%s", err.text);
	free(path);
}

/* It fails with this status, and the text holds this. */
static void open_fails(const char *name, enum exit_status status, const char *text)
{
	struct err err;
	struct package pkg;
	char *path = path_of(name);
	assert_int_equal(package_open(&pkg, path, &err), -1);
	assert_int_equal(err.status, status);
	if (!strstr(err.text, text) || !strstr(err.text, path))
		fail_msg("'%s' does not say '%s'", err.text, text);
	free(path);
}

static void assert_file(struct package *pkg, uint32_t file, const char *end)
{
	assert_int_not_equal(file, 0);
	if (!slice_ends(pkg->file[file].name, end))
		fail_msg("'%.*s' does not end in '%s'", SL(pkg->file[file].name), end);
}

static void assert_mlp(struct package *pkg, struct package_model *m)
{
	struct package_metadata md;
	struct slice text;
	struct err err;
	assert_file(pkg, m->so, "fs.wrapper.so");
	assert_file(pkg, m->wrapper_cpp, "fs.wrapper.cpp");
	assert_file(pkg, m->kernel_cpp, "th.kernel.cpp");
	assert_file(pkg, m->metadata, "fs.wrapper_metadata.json");
	assert_int_equal(m->weights_blob, 0);
	assert_int_equal(m->n_cubin, 0);
	assert_int_equal(package_data(pkg, m->wrapper_cpp, &text, &err), 0);
	assert_non_null(slice_find(text, "AOTInductorModel::run_impl"));
	assert_int_equal(package_data(pkg, m->so, &text, &err), 0);
	assert_memory_equal(text.p, "\177ELF", 4);
	assert_int_equal(text.n, 1491288);
	assert_int_equal(package_metadata(pkg, m, &md, &err), 0);
	assert_text(md.device, "cpu");
	assert_text(md.platform, "linux");
	assert_text(md.machine, "x86_64");
	assert_text(md.cpu_isa, "AVX2");
	assert_text(md.compute_capability, "");
}

static void pt2(void **state)
{
	(void)state;
	struct package pkg;
	struct err err;
	put_fixture("mlp", "mlp.pt2");
	open_ok(&pkg, "mlp.pt2");
	assert_int_equal(pkg.kind, PACKAGE_PT2);
	assert_int_equal(pkg.n, 1);
	assert_int_equal(pkg.n_exported, 0);
	assert_text(pkg.model[0].name, "model");
	assert_mlp(&pkg, package_model(&pkg, NULL, &err));
	assert_ptr_equal(package_model(&pkg, "model", &err), &pkg.model[0]);
	assert_null(package_model(&pkg, "other", &err));
	assert_int_equal(err.status, EXIT_USAGE);
	assert_non_null(strstr(err.text, "has no model 'other', but: model"));
	struct slice none;
	assert_int_equal(package_data(&pkg, 0, &none, &err), -1);
	package_close(&pkg);
	folder_wipe();
}

static void several_models(void **state)
{
	(void)state;
	struct package pkg;
	struct err err;
	put_fixture("multi", "multi.pt2");
	open_ok(&pkg, "multi.pt2");
	assert_int_equal(pkg.n, 2);
	assert_text(pkg.model[0].name, "first");
	assert_text(pkg.model[1].name, "second");
	assert_null(package_model(&pkg, NULL, &err));
	assert_int_equal(err.status, EXIT_USAGE);
	assert_non_null(strstr(err.text, "2 models, choose one with --model: first, second"));
	struct package_model *m = package_model(&pkg, "second", &err);
	assert_file(&pkg, m->so, "cwtaqstvpxv7e2bc2pqvy6dfuapl2c52bu2db6dotc6hbenbx6h2.wrapper.so");
	assert_file(&pkg, m->kernel_cpp, "cjyuk65mdowamf7al6h67wgrrctjtqtneuk52nfivn5xhf4tjimu.kernel.cpp");
	package_close(&pkg);
	folder_wipe();
}

static void unpack(const char *fixture, const char *to)
{
	put_fixture(fixture, "packed.pt2");
	struct package pkg;
	struct err err;
	open_ok(&pkg, "packed.pt2");
	for (uint32_t i = 1; i < pkg.n_file; i++) {
		struct slice data;
		char *name = xasprintf("%s/%.*s", to, SL(pkg.file[i].path));
		assert_int_equal(package_data(&pkg, i, &data, &err), 0);
		folder_put(name, data);
		free(name);
	}
	package_close(&pkg);
	char *path = path_of("packed.pt2");
	unlink(path);
	free(path);
}

static void unpacked_folder(void **state)
{
	(void)state;
	struct package pkg;
	struct err err;
	unpack("mlp", "a");
	static const char *const at[] = {"a", "a/", "a/mlp", "a/mlp/data", "a/mlp/data/aotinductor", "a/mlp/data/aotinductor/model", "."};
	for (size_t i = 0; i < ARRAY_LEN(at); i++) {
		open_ok(&pkg, at[i]);
		assert_int_equal(pkg.kind, PACKAGE_DIR);
		assert_int_equal(pkg.n, 1);
		assert_text(pkg.model[0].name, "model");
		assert_mlp(&pkg, package_model(&pkg, NULL, &err));
		package_close(&pkg);
	}
	folder_wipe();
}

/* Two packages below one folder are two models, although both are called the same. */
static void several_packages(void **state)
{
	(void)state;
	struct package pkg;
	unpack("mlp", "a/b");
	unpack("emb", "a");
	open_ok(&pkg, "a");
	assert_int_equal(pkg.n, 2);
	assert_text(pkg.model[0].name, "b/mlp/model");
	assert_text(pkg.model[1].name, "emb/model");
	assert_mlp(&pkg, &pkg.model[0]);
	assert_int_equal(pkg.model[1].n_file, 5);
	package_close(&pkg);
	folder_wipe();
}

#define SO SLICE("\177ELF and so on, enough for a beginning of a library file")

static void bare_library(void **state)
{
	(void)state;
	struct package pkg;
	struct err err;
	unpack("mlp", "a");
	char *move = xasprintf("mv '%s'/a/mlp/data/aotinductor/model '%s'/flat", folder_path, folder_path);
	assert_int_equal(system(move), 0);
	free(move);
	static const char so[] = "flat/cx3hoathb2xmwmlcz23xgmcq5v2widagvxnw5lcp7t5b3tjyzbfs.wrapper.so";
	open_ok(&pkg, so);
	assert_int_equal(pkg.kind, PACKAGE_SO);
	assert_text(pkg.model[0].name, "cx3hoathb2xmwmlcz23xgmcq5v2widagvxnw5lcp7t5b3tjyzbfs");
	assert_mlp(&pkg, package_model(&pkg, NULL, &err));
	package_close(&pkg);
	open_ok(&pkg, "flat");
	assert_int_equal(pkg.kind, PACKAGE_DIR);
	assert_mlp(&pkg, package_model(&pkg, NULL, &err));
	package_close(&pkg);
	/* Renamed: its neighbours are still its own, for it is the only one. */
	move = xasprintf("mv '%s'/%s '%s'/flat/model.so", folder_path, so, folder_path);
	assert_int_equal(system(move), 0);
	free(move);
	open_ok(&pkg, "flat/model.so");
	assert_text(pkg.model[0].name, "model");
	assert_file(&pkg, pkg.model[0].wrapper_cpp, "fs.wrapper.cpp");
	package_close(&pkg);
	/* A second library: nobody knows whose text it is. */
	folder_put("flat/other.so", SO);
	open_ok(&pkg, "flat/model.so");
	assert_int_equal(pkg.model[0].wrapper_cpp, 0);
	assert_int_equal(pkg.model[0].n_file, 1);
	package_close(&pkg);
	open_ok(&pkg, "flat");
	assert_int_equal(pkg.n, 2);
	assert_text(pkg.model[0].name, "model");
	assert_text(pkg.model[1].name, "other");
	package_close(&pkg);
	folder_wipe();
}

static void stems(void **state)
{
	(void)state;
	struct package pkg;
	folder_put("abc.so", SO);
	folder_put("abc.cpp", SLICE("int main;"));
	folder_put("abc_metadata.json", SLICE("{}"));
	folder_put("abc.json", SLICE("{\"nodes\": []}"));
	folder_put("abcd.wrapper.cpp", SLICE("not mine"));
	folder_put("abcd.so", SO);
	folder_put("abc.cubin", SLICE("x"));
	folder_put("kernel_information.json", SLICE("{}"));
	open_ok(&pkg, "abc.so");
	assert_int_equal(pkg.n, 1);
	struct package_model *m = &pkg.model[0];
	assert_file(&pkg, m->so, "abc.so");
	assert_file(&pkg, m->wrapper_cpp, "abc.cpp");
	assert_file(&pkg, m->metadata, "abc_metadata.json");
	assert_file(&pkg, m->extern_nodes, "abc.json");
	assert_int_equal(m->n_cubin, 1);
	assert_int_equal(m->kernel_information, 0);
	assert_int_equal(m->n_file, 5);
	package_close(&pkg);
	folder_wipe();
}

/* A zip of empty-ish stored members: enough for names. */
static void put_zip(const char *name, const char *const *members, struct slice content)
{
	struct buf b = {0}, central = {0};
	unsigned n = 0;
	uint32_t crc = 0xffffffff;
	for (size_t i = 0; i < content.n; i++) {
		crc ^= (uint8_t)content.p[i];
		for (int k = 0; k < 8; k++)
			crc = crc >> 1 ^ (0xedb88320u & -(crc & 1));
	}
	crc = ~crc;
	uint32_t size = (uint32_t)content.n;
	for (; members[n]; n++) {
		uint32_t at = (uint32_t)b.len;
		uint16_t len = (uint16_t)strlen(members[n]);
		uint8_t local[30] = {'P', 'K', 3, 4, 20}, entry[46] = {'P', 'K', 1, 2, 20, 0, 20};
		memcpy(local + 14, &crc, 4), memcpy(local + 18, &size, 4), memcpy(local + 22, &size, 4), memcpy(local + 26, &len, 2);
		memcpy(entry + 16, &crc, 4), memcpy(entry + 20, &size, 4), memcpy(entry + 24, &size, 4), memcpy(entry + 28, &len, 2);
		memcpy(entry + 42, &at, 4);
		buf_add(&b, local, 30), buf_adds(&b, members[n]), buf_add_slice(&b, content);
		buf_add(&central, entry, 46), buf_adds(&central, members[n]);
	}
	uint8_t end[22] = {'P', 'K', 5, 6};
	uint32_t at = (uint32_t)b.len, central_size = (uint32_t)central.len;
	uint16_t count = (uint16_t)n;
	memcpy(end + 8, &count, 2), memcpy(end + 10, &count, 2), memcpy(end + 12, &central_size, 4), memcpy(end + 16, &at, 4);
	buf_add_slice(&b, buf_slice(&central));
	buf_add(&b, end, 22);
	folder_put(name, buf_slice(&b));
	buf_release(&b);
	buf_release(&central);
}
#define ZIP(name, ...) put_zip(name, (const char *const[]){__VA_ARGS__, NULL}, SLICE("content"))

static void old_layouts(void **state)
{
	(void)state;
	struct package pkg;
	ZIP("old.pt2", "data/aotinductor/model/abc.cpp", "data/aotinductor/model/abc.so", "data/aotinductor/model/abc_metadata.json",
	    "data/aotinductor/model/k.cubin", "version");
	open_ok(&pkg, "old.pt2");
	assert_int_equal(pkg.n, 1);
	assert_file(&pkg, pkg.model[0].so, "abc.so");
	assert_file(&pkg, pkg.model[0].wrapper_cpp, "abc.cpp");
	assert_file(&pkg, pkg.model[0].metadata, "abc_metadata.json");
	assert_int_equal(pkg.model[0].n_cubin, 1);
	package_close(&pkg);
	/* A name with a slash; kernels' metadata comes first; an exported program beside; only C++ in one. */
	ZIP("deep.pt2", "r/data/aotinductor/text/encoder/k.kernel_metadata.json", "r/data/aotinductor/text/encoder/a.wrapper.so",
	    "r/data/aotinductor/text/encoder/a.wrapper_metadata.json", "r/models/model.json", "r/data/aotinductor/cpp/a.wrapper.cpp",
	    "r/data/aotinductor/empty/readme", "r/data/aotinductor/win/a.wrapper.pyd");
	open_ok(&pkg, "deep.pt2");
	assert_int_equal(pkg.n, 3);
	assert_text(pkg.model[0].name, "text/encoder");
	assert_file(&pkg, pkg.model[0].metadata, "a.wrapper_metadata.json");
	assert_text(pkg.model[1].name, "cpp");
	assert_int_equal(pkg.model[1].so, 0);
	assert_text(pkg.model[2].name, "win");
	assert_file(&pkg, pkg.model[2].so, ".pyd");
	assert_int_equal(pkg.n_exported, 1);
	package_close(&pkg);
	folder_wipe();
}

static void bad_metadata(void **state)
{
	(void)state;
	struct package pkg;
	struct package_metadata md;
	struct err err;
	ZIP("bad.pt2", "r/data/aotinductor/m/a.wrapper.so", "r/data/aotinductor/m/a.wrapper_metadata.json");
	open_ok(&pkg, "bad.pt2");
	assert_int_equal(package_metadata(&pkg, &pkg.model[0], &md, &err), -1);
	assert_int_equal(err.status, EXIT_INPUT);
	assert_non_null(strstr(err.text, "a.wrapper_metadata.json is not valid JSON"));
	package_close(&pkg);
	const char *const names[] = {"r/data/aotinductor/m/a.wrapper.so", "r/data/aotinductor/m/a.wrapper_metadata.json", NULL};
	put_zip("odd.pt2", names, SLICE("{\"AOTI_CPU_ISA\": \"A\\u0056X2\", \"AOTI_MACHINE\": 7}"));
	open_ok(&pkg, "odd.pt2");
	assert_int_equal(package_metadata(&pkg, &pkg.model[0], &md, &err), 0);
	assert_text(md.cpu_isa, "AVX2");
	assert_text(md.machine, "");
	assert_text(md.device, "");
	package_close(&pkg);
	folder_wipe();
}

static void not_a_package(void **state)
{
	(void)state;
	char dll[128] = "MZ\x90";
	folder_put("empty", SLICE(""));
	folder_put("dll", slice_of(dll, sizeof(dll)));
	folder_put("mach", SLICE("\xcf\xfa\xed\xfe\x07\0\0\1"));
	folder_put("text", SLICE("hello\nworld\n"));
	folder_put("json", SLICE("\n{\"a\": 1}\n"));
	folder_put("wrapper.cpp", SLICE("#include <torch/csrc/inductor/aoti_runtime/model.h>\n"));
	folder_put("gz", SLICE("\x1f\x8b\x08\0\0"));
	folder_put("npy", SLICE("\x93NUMPY\1\0v\0{'descr'"));
	folder_put("pickle", SLICE("\x80\2}q\0."));
	folder_put("safe", SLICE("\x10\0\0\0\0\0\0\0{\"a\":{\"dtype\":\"F32\"}}"));
	folder_put("noise", SLICE("\1\2\3\4\5\6\7"));
	folder_put("lfs", SLICE("version https://git-lfs.github.com/spec/v1\n"));
	ZIP("exported.pt2", "r/models/model.json", "r/data/weights/weight_0");
	ZIP("exported_old.pt2", "serialized_exported_program.json", "version");
	ZIP("script.pt", "r/code/__torch__.py", "r/data.pkl");
	ZIP("checkpoint.pt", "r/data.pkl", "r/data/0");
	ZIP("x.npz", "x.npy");
	ZIP("any.zip", "readme");
	ZIP("hollow.pt2", "r/data/aotinductor/model/readme");
	folder_put("folder/readme", SLICE("x"));
	folder_put("folder2/models/m.json", SLICE("{}"));
	open_fails("empty", EXIT_INPUT, "is empty");
	open_fails("dll", EXIT_INPUT, "is a Windows DLL");
	open_fails("mach", EXIT_INPUT, "is a Mach-O library");
	open_fails("text", EXIT_INPUT, "is a text file");
	open_fails("json", EXIT_INPUT, "is a JSON file");
	open_fails("wrapper.cpp", EXIT_INPUT, "is the C++ text of a model");
	open_fails("gz", EXIT_INPUT, "is compressed");
	open_fails("npy", EXIT_INPUT, "is an .npy file");
	open_fails("pickle", EXIT_INPUT, "is a pickle");
	open_fails("safe", EXIT_INPUT, "is a safetensors file");
	open_fails("noise", EXIT_INPUT, "neither a zip archive (.pt2) nor an ELF library");
	open_fails("lfs", EXIT_INPUT, "git lfs pull");
	open_fails("exported.pt2", EXIT_INPUT, "is an exported program, not compiled");
	open_fails("exported_old.pt2", EXIT_INPUT, "is an exported program, not compiled");
	open_fails("script.pt", EXIT_INPUT, "is a TorchScript archive");
	open_fails("checkpoint.pt", EXIT_INPUT, "is a checkpoint");
	open_fails("x.npz", EXIT_INPUT, "is an .npz file");
	open_fails("any.zip", EXIT_INPUT, "has no data/aotinductor/");
	open_fails("hollow.pt2", EXIT_INPUT, "without a compiled model");
	open_fails("folder", EXIT_INPUT, "contains no compiled model");
	open_fails("folder2", EXIT_INPUT, "is an exported program");
	open_fails("missing", EXIT_INPUT, "No such file");
	folder_wipe();
}

/* Cut off anywhere, a package is refused or opened, never more. */
static void cut_off(void **state)
{
	(void)state;
	struct buf b = {0};
	assert_true(data_load("aoti/multi.pt2.xz", &b));
	for (size_t n = b.len; n > 0; n -= n > 70000 ? 70000 : n > 9 ? n - n / 2 : 1) {
		struct package pkg;
		struct err err;
		folder_put("cut.pt2", slice_of(b.p, n - 1));
		char *path = path_of("cut.pt2");
		int r = package_open(&pkg, path, &err);
		assert_int_equal(r, -1);
		assert_int_equal(err.status, EXIT_INPUT);
		free(path);
	}
	buf_release(&b);
	folder_wipe();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(pt2),
	    cmocka_unit_test(several_models),
	    cmocka_unit_test(unpacked_folder),
	    cmocka_unit_test(several_packages),
	    cmocka_unit_test(bare_library),
	    cmocka_unit_test(stems),
	    cmocka_unit_test(old_layouts),
	    cmocka_unit_test(bad_metadata),
	    cmocka_unit_test(not_a_package),
	    cmocka_unit_test(cut_off),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name(__FILE__, tests, folder_make, folder_remove);
}
