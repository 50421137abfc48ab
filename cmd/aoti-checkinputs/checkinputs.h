/* checkinputs.h - the parts of aoti-checkinputs, in the order in which they work:
 * load.c (a package -> contract) -> operands.c (files and specs -> tensors) -> aoti/check.h -> show*.c or document.c. */
#ifndef CHECKINPUTS_H
#define CHECKINPUTS_H
#include "aoti/check.h"
#include "aoti/contract.h"
#include "aoti/package.h"
#include "base/opt.h"

struct checkinputs_options {
	const char *model, *against, *torch, *log;
	bool json, doctor, probe, no_exec, all, quiet, fail;
	struct opt_pairs shape;
	int error_exitcode;
};

/* ---- load.c ---- */

/* A package's model and its contract. */
struct loaded {
	struct package pkg;
	struct package_model *model;
	struct contract contract;
	struct buf differences; /* of --probe: text against binary, a line each */
	size_t n_differences;
	bool probed;
};

/* Says on standard error where the contract comes from when that is not the text. */
int load_model(struct loaded *l, const char *path, const struct checkinputs_options *o, struct err *err);
/* The package and, if it has a text, its contract; never the binary's. */
int load_text(struct loaded *l, const char *path, const struct checkinputs_options *o, struct err *err);
void loaded_release(struct loaded *l);
/* The contract of a model library of a live process: from its neighbours' text, else probed. */
int load_live(void *user, const char *so_path, pid_t pid, struct buf *json, struct err *err);

/* ---- operands.c ---- */

struct given {
	struct tensor_meta *meta; /* one per input; n_dim -1 where none was given */
	size_t n;                 /* n_inputs, or more when there are too many */
	char **from;              /* what was given: "batch.npz:x", "f32[8,10]"; NULL */
	struct tensor_file **file;
	size_t n_file, cap_file;
};

/* Which operand is which input. EXIT_USAGE for unknown names and too many of them. */
int given_read(struct given *g, const struct contract *c, const char *const *operands, int n, struct err *err);
void given_release(struct given *g);

/* ---- what is shown ---- */

/* Standard output: width in columns (0: not a terminal, nothing is cut), colour. */
struct screen {
	struct buf b;
	int width;
	bool color;
};
struct screen screen_make(void);
/* Write and empty it. */
int screen_flush(struct screen *s, struct err *err);
void put_bold(struct screen *s, const char *text);
void put_red(struct screen *s, const char *text);
void put_dim(struct screen *s, const char *text);
/* A table: cells between tabs, rows between newlines; the first row is the heading. Columns are as wide as they need be; where
 * that does not fit, the last one is wrapped. */
void put_table(struct screen *s, struct slice cells);
/* "args[0] (arg4_1)", "arg4_1" */
void add_input_name(struct buf *b, const struct contract *c, uint32_t input);
void add_bytes(struct buf *b, uint64_t bytes); /* "66.3 KB" */

void show_contract(struct screen *s, const struct loaded *l, const struct symbind *at, bool all);
void show_check(struct screen *s, const struct loaded *l, const struct given *g, const struct check *k);

/* ---- document.c ---- */

/* The contract and, when they are not NULL, what was given and found, as one JSON document. */
void document_write(struct buf *b, const struct loaded *l, const struct given *g, const struct check *k, const struct symbind *at);

/* ---- one mode each: return the exit status ---- */

int run_doctor(const char *path, const struct checkinputs_options *o);
int run_against(const char *path, const struct checkinputs_options *o);
int run_live(char **command, const struct checkinputs_options *o);

#endif
