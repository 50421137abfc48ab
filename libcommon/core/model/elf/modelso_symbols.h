/* modelso_symbols.h - addresses and names of a model library's functions, and the targets of its calls: for crashes.
 *
 *     struct modelso_symbol s;
 *     if (modelso_symbol_at(&so, 0x3ceb0, &s)) ...                       // s.name "cpp_fused_relu_0", s.address 0x3cc70
 *     modelso_symbol_named(&so, SLICE("torch::aot_inductor::AOTInductorModel::run_impl(AtenTensorOpaque**)"), &s);
 *     struct slice name = modelso_called(&so, 0x1b0c7);                  // the call that returns there: "aoti_torch_cpu_addmm_out"
 *     modelso_call_order(&so, from, to, 0x1b0c7, &nth, &count);          // the second of three calls of it in this range
 *
 * so: from modelso_open (modelso.h), not header_only. Addresses are those of the ELF file. Functions come from .symtab, or from .dynsym if
 * the library is stripped. Calls are read on x86-64 only: call rel32 to a function or to a stub of the PLT (jmp *slot, with or without
 * endbr64; System V ABI, AMD64 supplement), and call *slot (-fno-plt); the slot's relocation names the function. Nothing is disassembled: a
 * call is recognized by its target, which the bytes of another instruction do not hit by chance.
 *
 * Untrusted: every offset is checked; the only failure is "unknown".
 */
#ifndef PT2_MODELSO_SYMBOLS_H
#define PT2_MODELSO_SYMBOLS_H
#include "model/elf/modelso.h"

#define MODELSO_MAX_RANGE (64u << 20) /* bytes of a function whose calls are counted */

struct modelso_symbol {
	struct slice name; /* mangled */
	uint64_t address, size;
};

/* The function that holds the address. */
bool modelso_symbol_at(const struct modelso *m, uint64_t address, struct modelso_symbol *s);
/* Finds it by name, mangled or as c++filt prints it (arguments and template arguments do not count). False if none or several have the
 * name. */
bool modelso_symbol_named(const struct modelso *m, struct slice name, struct modelso_symbol *s);
/* Does a mangled name denote the same function as a name in either form? */
FOR_TESTS bool modelso_symbol_is(struct slice mangled, struct slice name);

/* The function called by the call that returns to this address; empty: unknown. */
struct slice modelso_called(const struct modelso *m, uint64_t returns_to);
/* Its ordinal, from 0, among the calls in [from, to) to the same function, and their number. False: unknown. */
bool modelso_call_order(const struct modelso *m, uint64_t from, uint64_t to, uint64_t returns_to, uint32_t *nth, uint32_t *count);

/* n bytes at an address, fewer at the end of a segment; empty if there are none. */
struct slice modelso_bytes_at(const struct modelso *m, uint64_t address, size_t n);
/* The address of an offset in the file. */
bool modelso_of_file(const struct modelso *m, uint64_t offset, uint64_t *address);
/* The address of an offset in the code's mapping, which has this size (in whole pages). */
bool modelso_of_mapping(const struct modelso *m, uint64_t offset, uint64_t size, uint64_t *address);
/* NT_GNU_BUILD_ID, its bytes; empty if there is none. */
struct slice modelso_build_id(const struct modelso *m);

#endif
