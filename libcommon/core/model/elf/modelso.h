/* modelso.h - a compiled model library (model.so) as bytes in memory: what it exports, needs and contains. Nothing is executed.
 *
 *     struct modelso so;
 *     if (modelso_open(&so, bytes, "model.so", &err) < 0) ...
 *     so.device_code, so.constants.form, so.kernel[0].name, modelso_exports(&so, "AOTInductorGetLastError") ...
 *     struct modelso_row row;
 *     if (modelso_line(&so, 0x19fd0, &row, &err) == 1) ...            // row.file, row.line of HASH.wrapper.cpp
 *     modelso_close(&so);
 *
 * The bytes must outlive it; slices point into them. Only headers, the dynamic section, symbol tables and read-only
 * strings are touched: weights (GBs, embedded or after the ELF) are not. Lines and producers come from DWARF and cost time (20 ms) only
 * when requested. Offsets are from the start of the bytes, addresses as in the ELF.
 *
 * Sources (torch 2.13): exported functions: torch/csrc/inductor/aoti_runtime/interface.h; constants:
 * torch/_inductor/codecache.py (AotCodeCompiler.compile) and aoti_runtime/model_base.h (_get_constants_start); embedded
 * kernels: torch/_inductor/cpp_builder.py (batch_convert_cubins_to_obj); flags of cubins: output of ptxas of
 * CUDA 12.4, 12.9 and 13.5.
 *
 * Untrusted: the header and the section table are checked against the bytes before libelf sees them, chains of version
 * needs are followed for as long as their section has entries, counts are bounded. Failure: -1 and err (EXIT_INPUT) with the location. A
 * Windows DLL, a Mach-O, a program or an object file is refused by name. A library for another machine is opened like any other; of a
 * big-endian or 32-bit one, only the header is read (`header_only`).
 */
#ifndef PT2_MODELSO_H
#define PT2_MODELSO_H
#include "base/hash.h"

/* Who a missing symbol is expected from. */
enum modelso_origin {
	FROM_AOTI,   /* aoti_torch_*: the C interface of torch */
	FROM_TORCH,  /* at::, c10::, torch:: in C++, other torch_* in C */
	FROM_SLEEF,  /* Sleef_*: vector mathematics, inside libtorch_cpu */
	FROM_CUDA,   /* cu*, cuda*, nv*: driver and runtime; hip* */
	FROM_OPENMP, /* GOMP_*, omp_*, __kmpc_* */
	FROM_SYSTEM, /* has a version of libc, libstdc++, libgcc, libm */
	FROM_OTHER,
	MODELSO_ORIGINS,
};

struct modelso_import {
	struct slice name;
	struct slice version, library; /* "GLIBC_2.14", "libc.so.6"; empty if it has none */
	enum modelso_origin origin;
	bool weak;
};

struct modelso_version {
	struct slice library, version;
	uint32_t hash;
	bool weak;
};

enum modelso_kernel_kind { KERNEL_CPP, KERNEL_TRITON };
struct modelso_kernel {
	struct slice name; /* cpp_fused_relu_0, triton_poi_fused_add_0 */
	enum modelso_kernel_kind kind;
	uint64_t address, size; /* 0 if only the name is known */
};

/* How the entry points grew (interface.h of torch 2.3 to 2.15, see shimversions.h): each includes all earlier ones. */
enum modelso_api {
	API_NONE,               /* exports no AOTInductor functions: not an AOTI model */
	API_MODEL,              /* AOTInductorModelCreate only: a model to be linked in, no container */
	API_CONTAINER,          /* AOTInductorModelContainerCreate, Run (2.2) */
	API_WITH_DEVICE,        /* AOTInductorModelContainerCreateWithDevice (2.3): what packages are opened with */
	API_BLOB,               /* AOTInductorModelUpdateConstantsFromBlob (2.10) */
	API_LAST_ERROR,         /* AOTInductorGetLastError (2.13) */
	API_EXTERNAL_CONSTANTS, /* AOTInductorModelContainerCreateWithExternalConstants (2.14) */
	API_STREAM_AFFINITY,    /* AOTInductorModelContainerSetUseStreamAffinity (2.15) */
};

/* Which runtime it was made for, by its imports. */
enum modelso_runtime {
	RUNTIME_NONE,       /* not an AOTI model */
	RUNTIME_TORCH,      /* links libtorch */
	RUNTIME_SHIM,       /* imports aoti_torch_*, links no libtorch (aot_inductor.link_libtorch = False, ExecuTorch) */
	RUNTIME_EXECUTORCH, /* refers to ExecuTorch itself */
	RUNTIME_PREFIXED,   /* imports PREFIXaoti_torch_* (aot_inductor.shim_symbol_prefix) */
	RUNTIME_STANDALONE, /* imports none of them: has its own tensors (use_libtorch = False) */
};

enum modelso_form {
	CONSTANTS_NONE,     /* none in the library: there are none, or the user supplies them */
	CONSTANTS_EMBEDDED, /* in .lrodata (.ldata if the model changes them) */
	CONSTANTS_APPENDED, /* after the ELF, in the same file */
	CONSTANTS_BLOB,     /* in HASH.wrapper_weights.blob */
};
struct modelso_constants {
	enum modelso_form form;
	uint64_t offset, size; /* in the bytes; BLOB: offset 0 and the size that the blob must have */
	struct slice section;  /* that holds them, or the size of them */
	/* APPENDED: "" if intact, else why the model will reject its weights (cut off, another model's, ...) */
	const char *damage;
};

enum modelso_device { DEVICE_CODE_CPU, DEVICE_CODE_CUDA, DEVICE_CODE_ROCM, DEVICE_CODE_XPU, DEVICE_CODE_MPS };

/* Code for a GPU inside the library or in a file of the package. */
enum modelso_image_kind { IMAGE_CUBIN, IMAGE_FATBIN, IMAGE_HSACO, IMAGE_SPIRV };
struct modelso_image {
	enum modelso_image_kind kind;
	struct slice name;     /* of the kernel, from its symbol; empty if unknown */
	uint64_t offset, size; /* size 0: unknown */
	unsigned sm;           /* 90 for sm_90; 0 if unknown */
	bool exact;            /* sm_90a: runs only on this one; CUDA 13 does not record it */
};

struct modelso_row {
	uint64_t address;
	const char *file; /* as passed to the compiler: a path on the machine that compiled it */
	uint32_t line;    /* 0: generated by the compiler, no line */
	bool end;         /* first address after a sequence */
};

struct modelso {
	struct slice bytes;
	const char *name; /* for messages */
	uint16_t machine, type;
	uint8_t bits;
	bool big_endian, header_only;
	bool bind_now, relro, stripped; /* stripped: no .symtab */
	bool exec_stack;                /* requires an executable stack: dlopen() of glibc 2.41 and newer refuses it */
	bool own_locale;                /* has libstdc++ inside and exports std::locale's numbers (STB_GNU_UNIQUE) */

	struct slice *needed, *rpath; /* rpath: DT_RPATH and DT_RUNPATH; needed: also for a file changed by modelso_make_loadable() */
	struct slice soname;
	struct modelso_version *version;
	struct slice *entry; /* exported AOTInductor* functions, sorted */
	struct modelso_import *import;
	struct modelso_kernel *kernel;
	uint32_t n_needed, n_rpath, n_version, n_entry, n_import, n_kernel;
	uint32_t cap_needed, cap_rpath, cap_version, cap_entry, cap_import, cap_kernel;
	uint32_t n_from[MODELSO_ORIGINS]; /* imports by origin */

	struct slice glibc, glibcxx, cxxabi; /* highest needed, "2.34", "3.4.30", "1.3.9"; empty if none */
	bool cxx11_abi, old_abi;             /* uses std::__cxx11::basic_string; uses the older one */
	enum modelso_api api;
	enum modelso_runtime runtime;
	struct slice shim_prefix; /* RUNTIME_PREFIXED */
	enum modelso_device device_code;
	struct modelso_constants constants;
	uint64_t run_impl, run_impl_size; /* address of AOTInductorModel::run_impl, 0 if not exported */

	void *elf;                   /* libelf's */
	struct modelso_dwarf *dwarf; /* once requested */
	struct intern names;         /* versions by index, while opening */
	struct arena arena;
};

int modelso_open(struct modelso *m, struct slice bytes, const char *name, struct err *err);
void modelso_close(struct modelso *m);
/* As in packages' metadata (AOTI_DEVICE_KEY): ROCm's is "cuda", too. */
const char *modelso_device_key(enum modelso_device device);

/* Names the kind of file that these bytes are, for messages: "a Windows DLL", "an aarch64 ELF library", "a Mach-O library"; NULL if it is
 * not one of the executable formats. *elf (may be NULL): is it an ELF file? */
const char *modelso_what(struct slice bytes, bool *elf);
/* "x86_64", "aarch64", as in uname -m and AOTI_MACHINE; "machine 123" for others. */
const char *modelso_machine_name(uint16_t machine, bool big_endian);
const char *modelso_api_name(enum modelso_api api);
const char *modelso_runtime_name(enum modelso_runtime runtime);
const char *modelso_form_name(enum modelso_form form);

/* Is this, by its file name or DT_NEEDED, one of torch's libraries (libtorch_cpu.so, libc10.so)? A process with any torch has them: which
 * ones a model names shows how its torch was built, not what it calls. */
bool modelso_of_torch(struct slice soname);
/* Changes a copy of a model's library so that nothing the dynamic linker reads prevents loading it: afterwards it does not need torch's
 * libraries by name, nor their versions (its symbols are looked up in whatever is loaded), nor an executable stack. Its size and layout
 * stay the same. */
int modelso_make_loadable(const char *path, struct err *err);
/* The same for bytes in memory. Anything but a 64-bit ELF library is left unchanged. */
FOR_TESTS int modelso_edit(char *bytes, size_t n, const char *name, struct err *err);

bool modelso_exports(const struct modelso *m, const char *entry);
bool modelso_imports(const struct modelso *m, const char *symbol);
/* Compare versions as numbers: GLIBC_2.9 < GLIBC_2.14, with or without the same prefix. */
int modelso_version_cmp(struct slice a, struct slice b);

/* Images of GPU code in the data sections (not in the constants). Returns how many there are; writes at most max. */
size_t modelso_images(const struct modelso *m, struct modelso_image *v, size_t max);
/* The GPUs that an image (given its bytes) has code for: one entry for a cubin, for a fatbin one for each cubin and PTX in it. Returns how
 * many there are, writes at most max. 0: another kind, or damaged. */
struct modelso_code {
	unsigned sm; /* 90 */
	bool exact;  /* sm_90a: for no other; packed PTX is assumed to match the cubin beside it for the same SM */
	bool ptx;    /* compiled by the driver, for this GPU and all newer ones */
	/* The CUDA version of the cubin's ptxas, or the first release that supports this PTX, in cuDriverGetVersion's form: 12080 for CUDA
	 * 12.8; 0: unknown. */
	unsigned cuda;
};
size_t modelso_codes(struct slice bytes, struct modelso_code *v, size_t max);
/* Reads a file that is one image: a .cubin, .hsaco, .spv or .fatbin file of a package. False if it is not. */
FOR_TESTS bool modelso_image_read(struct slice bytes, struct modelso_image *image);

/* The row that covers an address. 1: found; 0: the library has no line for it; -1: its line information is damaged. */
int modelso_line(struct modelso *m, uint64_t address, struct modelso_row *row, struct err *err);
/* All rows of [from, to), sorted by address (run_impl: m->run_impl, + m->run_impl_size). The array lives until close.
 * 0 and *n 0 if the library was compiled without line information. */
bool modelso_has_lines(const struct modelso *m);
/* The compilers' own descriptions, with their flags if gcc recorded them ("GNU C++20 12.2.0 -march=x86-64-v3 ..."). */
int modelso_producers(struct modelso *m, const struct slice **v, size_t *n, struct err *err);

/* Contents of a section by name, as stored; false if there is none, or it has no bytes. */
bool modelso_section(const struct modelso *m, const char *section, struct slice *data, uint64_t *address);

/* Reads other libraries of the system (libc.so.6, libtorch_cpu.so) the same way. */
struct modelso_lib {
	uint16_t machine;
	struct slice soname;
};
typedef void modelso_each(void *arg, struct slice name);
/* Calls `version` with each version it defines (GLIBC_2.36) and `exported` with each symbol; either may be NULL.
 */
int modelso_lib_read(struct modelso_lib *l, struct slice bytes, const char *name, modelso_each *version, modelso_each *exported, void *arg,
		     struct err *err);
/* Calls `each` with each library it needs (DT_NEEDED). */
int modelso_lib_needed(struct slice bytes, const char *name, modelso_each *each, void *arg, struct err *err);

#endif
