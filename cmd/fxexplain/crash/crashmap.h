/* crashmap.h - maps a crash's frames to a compiled model: library, function, line of generated code, call, nodes.
 *
 *     struct crashmap map = {0};
 *     crashmap_package(&map, "model.pt2", NULL, &err);      // each package or library that the user gives
 *     crashmap_join(&map, &c);                              // c: from backtrace.h, core.h, unwind.h
 *     map.place[i].kernel, .line, .text, .call->nodes ...   // of c.frame[i]
 *     crashmap_release(&map);                               // before the crash, whose texts it points to
 *
 * A frame belongs to a library if their build ids match; else if their file names match (Inductor names files by a hash of their
 * contents, and loaders unpack them under that name); else, if the text does not show the module, when only one library has the
 * symbol. A file:line in the text itself (from a debugger with line information) is used if its file is in the package.
 *
 * The call that a frame is in is known, best first,
 *     BY_LINE   from line information (DWARF), as the statement of wrapper.cpp that the line lies in
 *     BY_NAME   the program calls this kernel or op once
 *     BY_ORDER  by the position of the machine call among those to the same function, if the program has as many
 *               (x86-64; the compiler keeps calls in source order unless it moved a part out of line)
 * and otherwise the candidates are counted, but none is chosen.
 *
 * For tools: packages are opened by model/binprobe/load.h.
 */
#ifndef PT2_CRASHMAP_H
#define PT2_CRASHMAP_H
#include "model/binprobe/load.h"
#include "model/elf/modelso_symbols.h"
#include "crash/crash.h"
#include "watch/nan.h"

enum crash_known { NOT_KNOWN, BY_LINE, BY_NAME, BY_ORDER };
const char *crash_known_name(enum crash_known how); /* "line", "name", "order": for JSON */

struct crash_library {
	struct loaded loaded; /* .model, .contract, .pkg */
	struct modelso so;
	bool has_so;
	struct slice so_name, so_bytes; /* "cabc.wrapper.so" */
	char build_id[129];
	struct slice wrapper, kernels; /* texts; empty */
	struct slice wrapper_name, kernels_name;
	struct nan_sources sources;
	bool has_lines;
};

/* Who owns a frame's code. */
enum crash_owner {
	OWNER_UNKNOWN,
	OWNER_KERNEL,  /* generated: cpp_fused_..., triton launchers */
	OWNER_JIT,     /* a library of torch.compile's cache: HASH.so, HASH.main.so below torchinductor_USER */
	OWNER_MODEL,   /* the rest of the model's library: wrapper and runtime */
	OWNER_TORCH,   /* libtorch*, libc10*, libpt2shim */
	OWNER_CUDA,    /* driver and runtime */
	OWNER_PYTHON,  /* the interpreter */
	OWNER_SYSTEM,  /* libc, libstdc++, loader, OpenMP, ... */
	OWNER_CUSTOM,  /* another library: custom ops and extensions */
	OWNER_PROGRAM, /* the program itself */
};
const char *crash_owner_name(enum crash_owner o); /* "kernel", "model", ... */

struct crash_place {
	enum crash_owner owner;
	struct crash_library *library; /* NULL: not a given model's */
	bool has_address;
	uint64_t address;     /* in the library: the instruction, or the return address */
	struct slice symbol;  /* the library's own, mangled; empty */
	struct slice kernel;  /* "cpp_fused_relu_0", of a frame of a kernel */
	struct slice file;    /* last component of the source file */
	uint32_t line;        /* 0 if unknown */
	struct slice inlined; /* the header of the line itself, if .file is where it was inlined into; empty */
	uint32_t inlined_line;
	struct slice text; /* that line of generated code, trimmed; empty if not in the package */
	const struct contract_call *call;
	enum crash_known known;
	uint32_t candidates;       /* if unknown: how many calls it may be */
	struct slice called;       /* the function that the frame calls, from its machine code or the frame inside it */
	struct nan_finding source; /* .node, .pre, .line of the call; n_... 0 */
};

struct crashmap {
	struct crash_library **library;
	size_t n, cap;
	struct crash_place *place; /* one for each frame of the crash */
	uint32_t n_places;
};

/* Adds all models of a package, or the named one. */
int crashmap_package(struct crashmap *map, const char *path, const char *model, struct err *err);
/* Fills .place. May be called again with another crash. */
void crashmap_join(struct crashmap *map, struct crash *c);
void crashmap_release(struct crashmap *map);
/* The library of a module, by build id or name; NULL. */
struct crash_library *crashmap_library(const struct crashmap *map, struct slice module, struct slice build_id);
FOR_TESTS enum crash_owner crash_owner_of(struct slice module);
/* A line of a text, without its newline; empty. */
struct slice crash_text_line(struct slice text, uint32_t line);

#endif
