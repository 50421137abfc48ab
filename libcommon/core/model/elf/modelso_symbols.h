/* modelso_symbols.h - addresses and names of a model library's functions, and what its calls call: for crashes.
 *
 *     struct modelso_symbol s;
 *     if (modelso_symbol_at(&so, 0x3ceb0, &s)) ...                       // s.name "cpp_fused_relu_0", s.address 0x3cc70
 *     modelso_symbol_named(&so, SLICE("torch::aot_inductor::AOTInductorModel::run_impl(AtenTensorOpaque**)"), &s);
 *     struct slice name = modelso_called(&so, 0x1b0c7);                  // what returns to there: "aoti_torch_cpu_addmm_out"
 *     modelso_call_order(&so, from, to, 0x1b0c7, &nth, &count);          // the second of three calls of it in this range
 *
 * so: from modelso_open (modelso.h), not header_only. Addresses are as in the ELF file. Functions come from .symtab, of a stripped
 * library from .dynsym. Calls are read on x86-64 only: call rel32 to a function or to a stub of the PLT (jmp *slot, with or without
 * endbr64; System V ABI, AMD64 supplement), and call *slot (-fno-plt); the slot's relocation names the function. Nothing is
 * disassembled: a call is known by where it leads, which bytes of another instruction do not happen to do.
 *
 * Untrusted: every offset is checked; nothing fails but by saying "not known".
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
/* By its name, mangled or as c++filt has it (the arguments and template arguments do not count). False when none has it, or
 * several have. */
bool modelso_symbol_named(const struct modelso *m, struct slice name, struct modelso_symbol *s);
/* Do these mean one function: a mangled name, and one of either form? */
FOR_TESTS bool modelso_symbol_is(struct slice mangled, struct slice name);

/* The function called by the call that returns to this address; empty: not known. */
struct slice modelso_called(const struct modelso *m, uint64_t returns_to);
/* Which of the calls in [from, to) to the same function it is, from 0, and how many there are. False: not known. */
bool modelso_call_order(const struct modelso *m, uint64_t from, uint64_t to, uint64_t returns_to, uint32_t *nth, uint32_t *count);

/* n bytes at an address, fewer at the end of a segment; empty where there are none. */
struct slice modelso_bytes_at(const struct modelso *m, uint64_t address, size_t n);
/* The address of a place in the file. */
bool modelso_of_file(const struct modelso *m, uint64_t offset, uint64_t *address);
/* The address of a place in the mapping of the code, which has this size (in whole pages). */
bool modelso_of_mapping(const struct modelso *m, uint64_t offset, uint64_t size, uint64_t *address);
/* NT_GNU_BUILD_ID, its bytes; empty when there is none. */
struct slice modelso_build_id(const struct modelso *m);

#endif
