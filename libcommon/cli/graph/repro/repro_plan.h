/* repro_plan.h - the inputs of a program to write, before they become text. For repro_plan.c, repro_write.c and
 * repro_save.c only. */
#ifndef PT2_REPRO_PLAN_H
#define PT2_REPRO_PLAN_H
#include "graph/repro/repro_part.h"
#include "tensor/tensor.h"

enum plan_how {
	PLAN_RANDOM, /* reader.storage(None, N) */
	PLAN_STORED, /* reader.storage('HASH', N): in the launcher's save_dir */
	PLAN_INLINE, /* its bytes are in the text */
	PLAN_FILE,   /* reader.storage('HASH', N): in the folder beside the program, where repro_save puts it */
};
struct plan_storage {
	enum plan_how how;
	uint32_t original;   /* in r->storage; NONE: generated from metadata, or from bytes */
	struct slice nbytes; /* Python text */
	struct slice device, dtype_hint;
	struct slice hash;
	struct slice bytes; /* PLAN_INLINE, and PLAN_FILE if it is not a file yet */
	struct slice path;  /* PLAN_FILE: its current file; or "" */
	const void *key;    /* given bytes: the same p means the same storage; or the storage of r that it replaces */
	int64_t n;          /* with a key: nbytes as a number */
};
struct plan_input {
	enum repro_input_kind kind;
	struct slice name;
	uint32_t storage;   /* in plan.storage */
	struct slice value; /* the text in the brackets: for a symint "6, expr='s77'", for others unchanged; for a tensor what
	                            * follows the storage: "(8, 8), dtype=torch.bool, is_leaf=True" */
	struct slice block;
	uint32_t original;  /* in r->input; NONE */
	bool random, guess; /* guess: its shape is a guess, too */
	/* REPRO_PLAIN, for a tensor: in numbers. */
	struct tensor_meta *layout;
	int64_t offset;   /* offset of its first element in the storage, in elements */
	uint64_t dynamic; /* bit d: the size of dimension d was a symbol */
	bool requires_grad, is_leaf;
	struct slice extra;
	/* REPRO_PLAIN, for a symint. */
	int64_t number;
	struct slice expr; /* "s77"; "" */
};
struct plan_symbol {
	struct slice name;
	int64_t value;
};
struct plan {
	struct arena arena;
	struct plan_storage *storage;
	struct plan_input *input;
	struct plan_symbol *symbol; /* those used by the texts and not set by a line of the head */
	size_t n_storages, n_inputs, n_symbols;
	bool symbolic;         /* some input has a symbol */
	struct slice folder;   /* for PLAN_FILE */
	struct slice save_dir; /* for PLAN_STORED; or "" */
};

/* base: the program's file name, for the folder. */
int plan_make(struct plan *p, const struct repro *r, const struct repro_program *how, const char *base, struct err *err);
void plan_release(struct plan *p);
/* repro_plain.c. Fails (EXIT_INPUT) if REPRO_PLAIN cannot express it. */
int plan_text(const struct plan *p, const struct repro *r, const struct repro_program *how, struct buf *b, struct err *err);
/* repro_write.c: every style but REPRO_PLAIN. */
void launcher_text(const struct plan *p, const struct repro *r, const struct repro_program *how, struct buf *b);

/* The head of a program, for both writers. */
struct slice plan_backend_module(const struct repro *r);     /* "toys:toy_compiler": its module; "" */
void plan_add_backend(const struct repro *r, struct buf *b); /* 'inductor', toys.toy_compiler, any text */
void plan_add_base64(struct buf *b, struct slice bytes);     /* 'c29tZQ==', over several lines */
bool plan_is_frame(const struct repro_line *l);              /* torch 2.13's own lines, which are not about the graph */
void plan_add_clean(struct buf *b, struct slice text);       /* for a comment: line ends become spaces */

#endif
