/* package.h - an AOTInductor model as shipped: a .pt2, an unpacked directory, or a bare model.so.
 *
 *     struct package pkg;
 *     if (package_open(&pkg, "model.pt2", &err) < 0) ...
 *     for (size_t i = 0; i < pkg.n; i++) pkg.model[i].name ...        // several models, in the package's order
 *     struct package_model *m = package_model(&pkg, "decoder", &err); // NULL name: the only one
 *     struct slice text, so;
 *     package_data(&pkg, m->wrapper_cpp, &text, &err);                // file 0 means "none"
 *     package_close(&pkg);
 *
 * A .pt2 (torch 2.13, torch/export/pt2_archive/constants.py and _package.py; older torch 2.5..2.7:
 * torch/_inductor/package/package.py) is a stored zip:
 *     ROOT/data/aotinductor/MODEL/HASH.wrapper.so             (older: HASH.so)
 *     ROOT/data/aotinductor/MODEL/HASH.wrapper.cpp            (older: HASH.cpp)
 *     ROOT/data/aotinductor/MODEL/HASH.kernel.cpp
 *     ROOT/data/aotinductor/MODEL/HASH.wrapper_metadata.json  {"AOTI_DEVICE_KEY": "cpu", "AOTI_CPU_ISA": "AVX2", ...}
 *     ROOT/data/aotinductor/MODEL/HASH.wrapper_weights.blob   package_constants_on_disk_format = binary_blob
 *     ROOT/data/aotinductor/MODEL/kernel_information.json     provenance
 *     ROOT/data/aotinductor/MODEL/HASH.wrapper.json or extern_nodes.json, custom_objs_config.json   proxy executor
 *     ROOT/data/aotinductor/MODEL/HASH.cubin, .spv, .hsaco      kernels for a GPU
 *     ROOT/models/NAME.json                                   an exported program: pkg.exported
 * Older torch omits ROOT. Beside a bare .so, files with the same names belong to it: those with the .so's own stem (HASH.wrapper.cpp for
 * HASH.wrapper.so), and in a directory with a single model, everything. A directory may be the unpacked package, any directory in it, its
 * parent, or flat files; if several packages below it have models of the same name, the names are prefixed with the path: a/model, b/model.
 *
 * Nothing is executed; only the requested parts are read. Failure: -1 (or NULL) and err: EXIT_INPUT for a file that is not a package,
 * EXIT_USAGE from package_model if the name is unknown or one is required (all names are listed).
 */
#ifndef PT2_PACKAGE_H
#define PT2_PACKAGE_H
#include "base/arena.h"
#include "base/io/mapfile.h"
#include "base/io/zip.h"

enum package_kind { PACKAGE_PT2, PACKAGE_DIR, PACKAGE_SO };

/* A file of the package. Index 0 of pkg.file means none. */
struct package_file {
	struct slice name; /* its last component */
	struct slice path; /* in the zip, or on disk */
	uint64_t size;
	struct zip_member *member; /* in a .pt2 */
	struct mapfile *map;       /* on disk, once requested */
};

struct package_model {
	struct slice name; /* "model" unless the package has another name; for a .so its stem */
	/* indices into pkg.file, 0 for none */
	uint32_t so, wrapper_cpp, kernel_cpp, metadata, weights_blob, extern_nodes, custom_objs, kernel_information;
	uint32_t *cubin; /* and .spv, .hsaco */
	uint32_t n_cubin, cap_cubin;
	uint32_t *file; /* everything of this model */
	uint32_t n_file, cap_file;
};

struct package {
	enum package_kind kind;
	const char *path;
	struct mapfile map; /* the .pt2 or .so itself */
	struct zip zip;
	struct package_file *file;
	uint32_t n_file, cap_file;
	struct package_model *model;
	size_t n, cap;
	uint32_t *exported; /* models/NAME.json of torch.export.save: indices into file */
	uint32_t n_exported, cap_exported;
	struct arena arena;
};

int package_open(struct package *pkg, const char *path, struct err *err);
/* Opens a program saved by torch.export.save: pkg.exported has at least one; there may be no model. */
int package_open_exported(struct package *pkg, const char *path, struct err *err);
void package_close(struct package *pkg);
struct package_model *package_model(struct package *pkg, const char *name, struct err *err);
/* Bytes of a file, valid until package_close. A large .so or blob is mapped, not read, even if compressed (base/io/zip.h); at most
 * ZIP_MAX_TEXT bytes of a compressed text (torch stores them uncompressed) are read. */
int package_data(struct package *pkg, uint32_t file, struct slice *data, struct err *err);
/* The same into a new file. */
int package_copy(struct package *pkg, uint32_t file, int fd, const char *what, struct err *err);

/* The facts of *_metadata.json; slices into the file, empty when absent. */
struct package_metadata {
	struct slice device;             /* AOTI_DEVICE_KEY: cpu, cuda */
	struct slice platform;           /* AOTI_PLATFORM: linux, windows */
	struct slice machine;            /* AOTI_MACHINE: x86_64, aarch64 */
	struct slice cpu_isa;            /* AOTI_CPU_ISA: AVX2, AVX512, "" */
	struct slice compute_capability; /* AOTI_COMPUTE_CAPABILITY: 90 */
};
/* A missing file leaves everything empty and is not a failure. */
int package_metadata(struct package *pkg, const struct package_model *m, struct package_metadata *md, struct err *err);

#endif
