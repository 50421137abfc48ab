/* fault.h - what --ima found: ima.c fills it in after the command ended, imashow.c makes text of it and imadoc.c the JSON of
 * docs/formats/DUMP.md.
 * Everything shown is in here. It points into the struct watch and the struct fault that it was made from. */
#ifndef FAULT_H
#define FAULT_H
#include "watch/ima.h"
#include "watch/nan.h"
#include "watch/sanitizer.h"
#include "printer.h"

/* A call that was seen. */
struct fault_call {
	uint64_t seq;
	uint32_t pid, tid, model, run, call, line;
	char name[128];
	struct call_launch launch;
	bool launched, returned;
};

struct fault_symbol {
	struct slice name; /* "s0" */
	int64_t value;
};

/* A fault or a finding, with what the contract and the package have about its call. */
struct fault_case {
	struct ima_event *e;
	const struct watch_model *model;  /* NULL if unknown */
	const struct contract *contract;  /* NULL */
	const struct contract_call *call; /* NULL */
	struct nan_finding from;          /* .pre, .node, .line: graph nodes, lines of Python */
	struct fault_symbol *symbol;      /* sizes of the Run's inputs */
	uint32_t n_symbols;
	const struct fault_call **last; /* for a fault: calls of that process up to this one */
	size_t n_last;
};

/* A suggestion of what to try next: why, and the command line. */
struct fault_step {
	const char *text;
	struct slice command; /* empty if none */
};
#define FAULT_STEPS 6

/* --sanitizer: an access that compute-sanitizer reported, with what else is known of its kernel. */
struct sanitize_row {
	const struct sanitizer_error *e;
	const struct fault_case *of; /* the fault or finding of that kernel; NULL */
	uint32_t param;              /* of .of: the argument that the access belongs to; NONE */
	struct fault_case at;        /* .call, .contract, .model, .from; .call NULL: unknown */
};
struct sanitize {
	char *program, *folder, *log, **command;
	struct sanitizer found;
	struct sanitize_row *row; /* one per error */
	size_t reports;           /* that it wrote */
};

struct fault_report {
	struct fault_case *v; /* faults first, each kind in chronological order */
	size_t n, n_faults;
	struct slice *death; /* "process 12 was killed by SIGSEGV (Segmentation fault) in k, call 3 of run 0" */
	size_t n_deaths;
	struct slice note; /* the message if nothing was found; empty */
	struct fault_step step[FAULT_STEPS];
	size_t n_steps;
	uint64_t calls, captured; /* calls seen; those captured into a CUDA graph */
	bool alloc;               /* without PyTorch's caching allocator */
	const struct watch *w;
	char *const *command;
	const struct sanitize *sanitize; /* NULL without --sanitizer */
};

/* When an event was seen ("launch", "before", ...), as a sentence. */
const char *fault_when(struct slice when);
/* The name of an argument: the buffer's, the one in the program text, or "". */
struct slice fault_name(const struct fault_case *c, uint32_t param);
/* The suspicion about a parameter; NULL. */
const struct ima_suspect *fault_suspect(const struct fault_case *c, uint32_t param);
/* The number of a parameter that is not a tensor. */
int64_t fault_number(const struct ima_param *p);

/* ---- sanitize.c ---- */

/* in->command becomes z->command. EXIT_ENVIRON: compute-sanitizer is not installed. */
int sanitize_begin(struct sanitize *z, const struct operands *in, struct err *err);
/* Reads what it wrote. z must outlive r. The caller looks for the lines of Python (.at.from) of rows that are .of no case. */
void sanitize_end(struct sanitize *z, struct fault_report *r);
void sanitize_release(struct sanitize *z);
/* Bytes past the end of the argument; negative: before its start; 0: inside, or unknown. */
int64_t sanitize_beyond(const struct sanitize_row *row);
/* "triton_poi_fused_add_0 writes 4 bytes at 0x7f..., 80 bytes past the end of buf1"; then "thread (3,0,0) of block (2,0,0), ..." */
void sanitize_sentence(const struct sanitize_row *row, struct buf *b);
void sanitize_place(const struct sanitize_row *row, struct buf *b);

void fault_show(struct screen *s, const struct fault_report *r);
void fault_document(struct buf *b, const struct fault_report *r);

#endif
