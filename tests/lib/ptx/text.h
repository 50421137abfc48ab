/* text.h - reading PTX text: words, symbols, what a module is made of (read.c, body.c, symbols.c). */
#ifndef PT2_PTX_TEXT_H
#define PT2_PTX_TEXT_H
#include "in.h"

enum {
	MAX_TEXT = 64 << 20,
	MAX_SCOPES = 32,
	MAX_REGS = 32768,
	MAX_WORDS = 16,
	MAX_SHARED = 1 << 20,
	MAX_LOCAL = 1 << 16,
	MAX_DATA = 64 << 20
};

struct ptx_word { /* a slice of the text */
	const char *p;
	size_t n;
};

enum symbol_kind { SYMBOL_REG = 1, SYMBOL_REGS, SYMBOL_LABEL, SYMBOL_DATA, SYMBOL_SHARED, SYMBOL_DYNAMIC, SYMBOL_LOCAL, SYMBOL_PARAM };

struct symbol {
	struct ptx_word name;
	uint32_t scope, reg, owner; /* owner: shared variables of the module: the kernel that .offset is for */
	uint64_t count, offset;     /* SYMBOL_REGS: %r<count>; bytes of variables; labels: the instruction */
	uint32_t align;
	uint8_t kind, bytes; /* bytes: of a register */
};

struct fixup {
	size_t op;
	struct ptx_word label;
	uint32_t scope;
};

struct ptx_reader {
	const char *p, *end;
	unsigned line;
	struct ptx_module *m;
	struct ptx_error *e;
	bool failed;
	/* symbols */
	struct symbol *symbol;
	size_t n_symbols, cap_symbols;
	uint32_t *bucket; /* index + 1; 0: free */
	size_t n_buckets;
	uint32_t *parent; /* of scopes; that of the module is 0 */
	size_t n_scopes, cap_scopes;
	uint32_t scope;
	unsigned depth;
	/* the kernel that is read */
	struct ptx_kernel *k;
	uint32_t kernel_number, shared;
	struct fixup *fixup;
	size_t n_fixups, cap_fixups;
};

struct ptx_module {
	struct ptx_kernel **kernel;
	size_t n_kernels, cap_kernels;
	char *data;
	size_t n_data, cap_data;
	unsigned sm;
};

/* False, so that `return ptx_fail(r, ...)` reads well. The first one counts. */
bool ptx_fail(struct ptx_reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void *ptx_grow(void *p, size_t n, size_t *cap, size_t size);

/* ---- words ---- */

void ptx_space(struct ptx_reader *r); /* behind white space and comments */
char ptx_peek(struct ptx_reader *r);  /* the next character that is no white space; 0: the end */
bool ptx_take(struct ptx_reader *r, char c);
bool ptx_want(struct ptx_reader *r, char c);
bool ptx_word(struct ptx_reader *r, struct ptx_word *w); /* a name, an opcode, a directive; n 0: none is here */
bool ptx_is(struct ptx_word w, const char *s);
/* A number as 64 bits; *real: it was written as 1.5. */
bool ptx_literal(struct ptx_reader *r, uint64_t *v, bool *real);
bool ptx_count(struct ptx_reader *r, uint64_t most, uint64_t *v); /* one that is not negative */
void ptx_skip_line(struct ptx_reader *r);
bool ptx_skip_to(struct ptx_reader *r, char c);

/* ---- symbols ---- */

struct symbol *ptx_declare(struct ptx_reader *r, struct ptx_word name, enum symbol_kind kind);
/* From the innermost scope outwards; a register of a range is made. NULL: there is none. */
struct symbol *ptx_find(struct ptx_reader *r, struct ptx_word name);
struct symbol *ptx_find_in(struct ptx_reader *r, struct ptx_word name, uint32_t scope);
bool ptx_enter(struct ptx_reader *r);
void ptx_leave(struct ptx_reader *r);
uint32_t ptx_new_reg(struct ptx_reader *r, unsigned bytes);
uint32_t ptx_constant(struct ptx_reader *r, uint64_t value);
uint32_t ptx_relocated(struct ptx_reader *r, int what, uint64_t offset);

/* ---- variables: .global .align 4 .b8 name[8] = {1, 2}; from behind ".global" ---- */

bool ptx_variable(struct ptx_reader *r, enum symbol_kind kind, bool is_extern);
bool ptx_body(struct ptx_reader *r); /* of r->k, from its { on */

#endif
