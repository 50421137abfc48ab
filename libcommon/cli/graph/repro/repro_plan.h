/* repro_plan.h - what a program that is written says about its inputs, before it is text. For repro_plan.c, repro_write.c and
 * repro_save.c only. */
#ifndef PT2_REPRO_PLAN_H
#define PT2_REPRO_PLAN_H
#include "graph/repro/repro_part.h"
#include "tensor/tensor.h"

enum plan_how {
	PLAN_RANDOM, /* reader.storage(None, N) */
	PLAN_STORED, /* reader.storage('HASH', N): in the save_dir the launcher names */
	PLAN_INLINE, /* its bytes are in the text */
	PLAN_FILE,   /* reader.storage('HASH', N): in the folder beside the program, where repro_save puts it */
};
struct plan_storage {
	enum plan_how how;
	uint32_t original;   /* in r->storage; NONE: made of metadata, or of bytes */
	struct slice nbytes; /* Python text */
	struct slice device, dtype_hint;
	struct slice hash;
	struct slice bytes; /* PLAN_INLINE, and PLAN_FILE when it is not a file yet */
	struct slice path;  /* PLAN_FILE: the file it is now; "" */
	const void *key;    /* bytes that were given: the same p is the same storage; or that of r in whose place it is */
	int64_t n;          /* with a key: nbytes as a number */
};
struct plan_input {
	enum repro_input_kind kind;
	struct slice name;
	uint32_t storage;   /* in plan.storage */
	struct slice value; /* the text in the brackets: of a symint "6, expr='s77'", of others what was there; of a tensor what
	                            * follows the storage: "(8, 8), dtype=torch.bool, is_leaf=True" */
	struct slice block;
	uint32_t original;  /* in r->input; NONE */
	bool random, guess; /* guess: its shape, too */
	/* REPRO_PLAIN, of a tensor: in numbers. */
	struct tensor_meta *layout;
	int64_t offset;   /* of its first element in the storage, in elements */
	uint64_t dynamic; /* bit d: the size of dimension d was a symbol */
	bool requires_grad, is_leaf;
	struct slice extra;
	/* REPRO_PLAIN, of a symint. */
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
	struct plan_symbol *symbol; /* those that the texts use and no line of the head sets */
	size_t n_storages, n_inputs, n_symbols;
	bool symbolic;         /* some input has a symbol */
	struct slice folder;   /* of PLAN_FILE */
	struct slice save_dir; /* of PLAN_STORED; "" */
};

/* base: the program's file name, for the folder. */
int plan_make(struct plan *p, const struct repro *r, const struct repro_program *how, const char *base, struct err *err);
void plan_release(struct plan *p);
/* Fails (EXIT_INPUT) where REPRO_PLAIN cannot say it. */
int plan_text(const struct plan *p, const struct repro *r, const struct repro_program *how, struct buf *b, struct err *err);

/* repro_plain.c: plan_text of REPRO_PLAIN. */
int plain_text(const struct plan *p, const struct repro *r, const struct repro_program *how, struct buf *b, struct err *err);
/* The head of a program, as both writers have it. */
struct slice plan_backend_module(const struct repro *r);     /* "toys:toy_compiler": its module; "" */
void plan_add_backend(const struct repro *r, struct buf *b); /* 'inductor', toys.toy_compiler, any text */
void plan_add_base64(struct buf *b, struct slice bytes);     /* 'c29tZQ==', over several lines */
bool plan_is_frame(const struct repro_line *l);              /* torch 2.13's own, which say nothing about the graph */
void plan_add_clean(struct buf *b, struct slice text);       /* of a comment: what would end its line is a space */

#endif
