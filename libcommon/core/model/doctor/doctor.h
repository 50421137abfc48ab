/* doctor.h - will this compiled model load and run here? Checks its requirements against a machine and a libtorch.
 *
 *     struct doctor d = {0};
 *     struct doctor_options o = {.contract = &c};
 *     if (doctor_examine(&d, &pkg, model, &o, &err) < 0) ...       // the model could not be read at all
 *     for (size_t i = 0; i < d.n; i++)
 *         d.v[i].level, d.v[i].id, d.v[i].what, d.v[i].why, d.v[i].fix ...
 *     doctor_release(&d);
 *
 * No code of the model or of libtorch runs: libraries are read as ELF. The only code executed is the NVIDIA driver's own library, to list
 * the GPUs, and only for a model with CUDA code.
 *
 * A finding says what is wrong, why it breaks (empty for ok), and what to do. Levels: ok: checked, fine; note: worth knowing;
 * warning: may give wrong results or fail later; fatal: it will not load, or will crash. Ids are stable (kebab-case);
 * one id is either ok or, if there is a problem, one of the other levels. Order: package, library, machine, system, torch, weights,
 * GPU, ops.
 *
 * Failure: -1 and err for a damaged library; a library of another system (a Windows DLL) is a finding.
 */
#ifndef PT2_DOCTOR_H
#define PT2_DOCTOR_H
#include "model/contract/contract.h"
#include "model/package/package.h"

enum doctor_level { DOCTOR_OK, DOCTOR_NOTE, DOCTOR_WARNING, DOCTOR_FATAL };

struct doctor_finding {
	enum doctor_level level;
	const char *id;
	struct slice what, why, fix;
};

/* Instruction sets: gcc's name for each (-mavx512f), CPUID leaf, subleaf, register (a b c d) and bit, and which state
 * the operating system must save for it (0: none, 1: AVX, 2: AVX-512, 3: AMX, 4: APX). Intel SDM volume 2, CPUID; volume 1, 13.
 */
/* clang-format off */
#define ISAS(X) \
	X(SSE3, "sse3", 1, 0, c, 0, 0) X(SSSE3, "ssse3", 1, 0, c, 9, 0) X(SSE41, "sse4.1", 1, 0, c, 19, 0) \
	X(SSE42, "sse4.2", 1, 0, c, 20, 0) X(POPCNT, "popcnt", 1, 0, c, 23, 0) X(MOVBE, "movbe", 1, 0, c, 22, 0) \
	X(LZCNT, "lzcnt", 0x80000001, 0, c, 5, 0) X(BMI, "bmi", 7, 0, b, 3, 0) X(BMI2, "bmi2", 7, 0, b, 8, 0) \
	X(AVX, "avx", 1, 0, c, 28, 1) X(F16C, "f16c", 1, 0, c, 29, 1) X(FMA, "fma", 1, 0, c, 12, 1) \
	X(AVX2, "avx2", 7, 0, b, 5, 1) X(GFNI, "gfni", 7, 0, c, 8, 0) X(VAES, "vaes", 7, 0, c, 9, 1) \
	X(AVXVNNI, "avxvnni", 7, 1, a, 4, 1) X(AVX512F, "avx512f", 7, 0, b, 16, 2) X(AVX512DQ, "avx512dq", 7, 0, b, 17, 2) \
	X(AVX512IFMA, "avx512ifma", 7, 0, b, 21, 2) X(AVX512CD, "avx512cd", 7, 0, b, 28, 2) \
	X(AVX512BW, "avx512bw", 7, 0, b, 30, 2) X(AVX512VL, "avx512vl", 7, 0, b, 31, 2) \
	X(AVX512VBMI, "avx512vbmi", 7, 0, c, 1, 2) X(AVX512VBMI2, "avx512vbmi2", 7, 0, c, 6, 2) \
	X(AVX512VNNI, "avx512vnni", 7, 0, c, 11, 2) X(AVX512BITALG, "avx512bitalg", 7, 0, c, 12, 2) \
	X(AVX512POPCNT, "avx512vpopcntdq", 7, 0, c, 14, 2) X(AVX512BF16, "avx512bf16", 7, 1, a, 5, 2) \
	X(AVX512FP16, "avx512fp16", 7, 0, d, 23, 2) X(AMX_TILE, "amx-tile", 7, 0, d, 24, 3) \
	X(AMX_BF16, "amx-bf16", 7, 0, d, 22, 3) X(AMX_INT8, "amx-int8", 7, 0, d, 25, 3) X(AMX_FP16, "amx-fp16", 7, 1, a, 21, 3) \
	X(AMX_COMPLEX, "amx-complex", 7, 1, d, 8, 3) X(AVXIFMA, "avxifma", 7, 1, a, 23, 1) \
	X(AVXVNNIINT8, "avxvnniint8", 7, 1, d, 4, 1) X(AVXVNNIINT16, "avxvnniint16", 7, 1, d, 10, 1) \
	X(AVXNECONVERT, "avxneconvert", 7, 1, d, 5, 1) X(APX_F, "apxf", 7, 1, d, 21, 4)
/* clang-format on */
enum isa_bit {
#define ISA_BIT(id, ...) ISA_BIT_##id,
	ISAS(ISA_BIT)
#undef ISA_BIT
	    N_ISAS,
};
#define ISA(id) (1ull << ISA_BIT_##id)

/* A library of a machine that is described instead of examined. */
struct doctor_library {
	const char *soname;
	/* Versions it defines, NULL-terminated, or NULL; GLIBC_2.36 includes all older GLIBC_ versions. */
	const char *const *version;
};

/* The machine the model is to run on. */
struct doctor_host {
	const char *machine; /* "x86_64", as uname -m */
	const char *cpu;     /* for messages; may be NULL */
	uint64_t isa;        /* ISA() bits; x86_64 only */
	bool described;      /* `library` is complete; else the system's own libraries are looked up */
	const struct doctor_library *library;
	size_t n_library;
	bool gpu_asked; /* the members below are filled; else the driver is queried when needed */
	bool gpu_driver;
	int gpu_error;           /* of cuInit(): a CUresult */
	unsigned driver_version; /* the CUDA version supported by the driver: 12080; 0: unknown */
	unsigned n_gpu, sm[16];
};

struct doctor_options {
	/* Directory of a libtorch, of a Python's torch, or the libtorch_cpu.so itself; NULL: search for one. */
	const char *torch;
	bool no_torch;                   /* check against no torch */
	const struct doctor_host *host;  /* NULL: this machine */
	const struct contract *contract; /* may be NULL: constants' devices and names are then unknown */
};

struct doctor {
	struct doctor_finding *v;
	size_t n, cap;
	size_t n_bad; /* warnings and fatal ones */
	struct arena arena;
};

int doctor_examine(struct doctor *d, struct package *pkg, struct package_model *m, const struct doctor_options *o, struct err *err);
void doctor_release(struct doctor *d);
const char *doctor_level_name(enum doctor_level level);

/* This machine: its CPU, and nothing expensive to find out. Texts are static. */
void doctor_host_here(struct doctor_host *h);

/* The GPU's driver as a text ("1 0 13000 90": loaded, cuInit()'s error, CUDA's version, the SM of each GPU), by loading libcuda.so.1
 * into this process. A sealed process cannot do that: cuInit() fails there with 304 (CUDA_ERROR_OPERATING_SYSTEM; seen with driver
 * 580 on an H200). It sets doctor_driver_elsewhere, which has another process do it; false: that was not possible. */
void doctor_driver_text(char *text, size_t max);
extern bool (*doctor_driver_elsewhere)(char *text, size_t max);

/* The instruction sets that compiler flags (-march=x86-64-v3 -mno-fma) or AOTI_CPU_ISA ("AVX512 AVX512_VNNI AMX_TILE")
 * name; what an -march= allows is gcc's own list (doctor_march.h). *native: -march=native was among the flags; *unknown: an unknown
 * -march. */
FOR_TESTS uint64_t doctor_isa_of_flags(struct slice flags, bool *native, struct slice *unknown);
FOR_TESTS uint64_t doctor_isa_of_metadata(struct slice cpu_isa, struct slice *unknown);
/* The instruction sets of a model, each including the one before: named by AOTI_CPU_ISA; asked for by the flags beside its text; allowed to
 * the compiler, as the debug information says (-march=native resolved). All 0: another machine's code, or unreadable. */
struct doctor_isa {
	uint64_t named, asked, allowed;
};
void doctor_isa_of_model(struct package *pkg, const struct package_model *m, struct doctor_isa *isa);
/* Before any of its code is executed. EXIT_INPUT: it would be killed by SIGILL, because this processor lacks what the model asks for, or
 * what a compiler uses everywhere if it may. */
int doctor_can_execute(struct package *pkg, const struct package_model *m, struct err *err);
/* "2.13.0+cpu", and the folder with its libraries, of the libtorch that would be used; false if none is found. */
bool doctor_find_torch(struct arena *a, const char *given, struct slice *folder, struct slice *version);

#endif
