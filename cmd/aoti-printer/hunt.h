/* hunt.h - what --ima found: ima.c fills it in after the command ended, imashow.c makes text of it and imadoc.c the JSON of docs/DUMP.md.
 * Everything shown is in here. It points into the struct watch and the struct hunt that it was made from. */
#ifndef HUNT_H
#define HUNT_H
#include "live/ima.h"
#include "live/nan.h"
#include "printer.h"

/* A call that was seen. */
struct hunt_call {
	uint64_t seq;
	uint32_t pid, tid, model, run, call, line;
	char name[128];
	struct call_launch launch;
	bool launched, returned;
};

struct hunt_symbol {
	struct slice name; /* "s0" */
	int64_t value;
};

/* A fault or a finding, with what the contract and the package have about its call. */
struct hunt_case {
	struct ima_event *e;
	const struct watch_model *model;  /* NULL if unknown */
	const struct contract *contract;  /* NULL */
	const struct contract_call *call; /* NULL */
	struct nan_finding from;          /* .pre, .node, .line: graph nodes, lines of Python */
	struct hunt_symbol *symbol;       /* sizes of the Run's inputs */
	uint32_t n_symbols;
	const struct hunt_call **last; /* for a fault: calls of that process up to this one */
	size_t n_last;
};

/* A suggestion of what to try next: why, and the command line. */
struct hunt_step {
	const char *text;
	struct slice command; /* empty if none */
};
#define HUNT_STEPS 6

struct hunt_report {
	struct hunt_case *v; /* faults first, each kind in chronological order */
	size_t n, n_faults;
	struct slice *death; /* "process 12 was killed by SIGSEGV (Segmentation fault) in k, call 3 of run 0" */
	size_t n_deaths;
	struct slice note; /* the message if nothing was found; empty */
	struct hunt_step step[HUNT_STEPS];
	size_t n_steps;
	uint64_t calls, captured; /* calls seen; those captured into a CUDA graph */
	bool alloc;               /* without PyTorch's caching allocator */
	const struct watch *w;
	char *const *command;
};

/* When an event was seen ("launch", "before", ...), as a sentence. */
const char *hunt_when(struct slice when);
/* The name of an argument: the buffer's, the one in the program text, or "". */
struct slice hunt_name(const struct hunt_case *c, uint32_t param);
/* The suspicion about a parameter; NULL. */
const struct ima_suspect *hunt_suspect(const struct hunt_case *c, uint32_t param);
/* The number of a parameter that is not a tensor. */
int64_t hunt_number(const struct ima_param *p);

void hunt_show(struct screen *s, const struct hunt_report *r);
void hunt_document(struct buf *b, const struct hunt_report *r);

#endif
