/* doctor: GPUs, cubins and PTX, torch for CUDA, drivers, constants. */
#include "../../lib/examined.h"

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
	expect(&v, "gpu-sm", DOCTOR_FATAL, "has code for sm_90 (triton_poi_0), but this machine's GPU is sm_80");
	leave(&v);
	h.sm[0] = 90;
	examine(&v, "a.so", &o);
	expect(&v, "gpu-sm", DOCTOR_OK, "sm_90 runs on this machine's GPU (sm_90)");
	none(&v, "gpu-driver");
	leave(&v);
	/* Two GPUs, one of which can. */
	h.n_gpu = 2;
	h.sm[0] = 80;
	h.sm[1] = 90;
	examine(&v, "a.so", &o);
	expect(&v, "gpu-sm", DOCTOR_WARNING, "this machine's GPU 0 (sm_80) cannot run its code for sm_90");
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
	} drivers[] = {{11080, DOCTOR_FATAL, "compiled with CUDA 12, but the driver supports only CUDA 11.8 and older"},
		       {12000, DOCTOR_OK, "compiled with CUDA 12; the driver supports CUDA 12.0"},
		       {13010, DOCTOR_OK, "compiled with CUDA 12; the driver supports CUDA 13.1"}};
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
		      {803, "have different versions"},
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
	expect(&v, "gpu-sm", DOCTOR_OK, "GPU code for sm_86 and PTX runs on this machine's GPU (sm_86)");
	leave(&v);
	/* PTX runs on what is newer, and not on what is older; not when it is for one alone, which packed PTX does not say itself. */
	h.sm[0] = 120;
	examine(&v, "a.so", &o);
	expect(&v, "gpu-sm", DOCTOR_OK, "sm_86 and PTX runs on this machine's GPU (sm_120)");
	leave(&v);
	h.sm[0] = 80;
	examine(&v, "a.so", &o);
	expect(&v, "gpu-sm", DOCTOR_FATAL, "has code for sm_86 and PTX (a.fatbin), but this machine's GPU is sm_80");
	leave(&v);
	h.sm[0] = 120;
	fatbin("a.fatbin", 90, 0x5a0d5a, 90, "\x28\xb5\x2f\xfd");
	examine(&v, "a.so", &o);
	expect(&v, "gpu-sm", DOCTOR_FATAL, "has code for sm_90a and PTX (a.fatbin), but this machine's GPU is sm_120");
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
	expect(&v, "gpu-other", DOCTOR_NOTE, "other than NVIDIA's");
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
	     "this torch is for CUDA 13, but the driver supports only CUDA 12.8 and older"},
	    {"libtorch_cuda.so", "libcudart.so.13", 13000, DOCTOR_OK, "this torch is for CUDA 13; the driver supports CUDA 13.0"},
	    {"libtorch_cuda.so", "libcudart-9335f6a2.so.11.0", 10020, DOCTOR_FATAL,
	     "this torch is for CUDA 11, but the driver supports only CUDA 10.2"},
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
	expect(&v, "torch-symbols", DOCTOR_OK, "has all 1 functions it calls, except CUDA's");
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
	expect(&v, "gpu-cubin", DOCTOR_WARNING, ".fatbin) are compiled by CUDA 12.8, but the driver supports only CUDA 11.8 and older");
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
			expect(&v, "gpu-ptx", DOCTOR_FATAL,
			       "sm_120 runs its kernels (a.fatbin) only from PTX, which is from CUDA 12.8, but the driver supports only "
			       "CUDA 12.6");
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
	expect(&v, "weights-elsewhere", DOCTOR_WARNING, "needs 16 bytes of weights, but has none");
	leave(&v);
	m.symbol[2].at = 2;
	put_elf("a.so", &m);
	examine(&v, "a.so", &o);
	expect(&v, "weights-damaged", DOCTOR_FATAL, "are not in their section");
	leave(&v);
	folder_wipe();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(gpus),           cmocka_unit_test(torch_for_cuda), cmocka_unit_test(kernels_and_drivers),
	    cmocka_unit_test(damaged_cubins), cmocka_unit_test(constants),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name(__FILE__, tests, folder_make, folder_remove);
}
