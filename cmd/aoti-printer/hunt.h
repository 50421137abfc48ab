/* hunt.h - what --ima has found out: ima.c fills it in when the command has ended, imashow.c makes text of it and imadoc.c the JSON of
 * docs/DUMP.md. All that is shown stands here. It points into the struct watch and the struct hunt that it was made of. */
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

/* A fault or a finding, with what the contract and the package say of its call. */
struct hunt_case {
	struct ima_event *e;
	const struct watch_model *model;  /* NULL: nothing is known of it */
	const struct contract *contract;  /* NULL */
	const struct contract_call *call; /* NULL */
	struct nan_finding from;          /* .pre, .node, .line: graph nodes, lines of Python */
	struct hunt_symbol *symbol;       /* sizes of the Run's inputs */
	uint32_t n_symbols;
	const struct hunt_call **last; /* of a fault: calls of that process up to this one */
	size_t n_last;
};

/* A suggestion of what to try next: why, and the command line. */
struct hunt_step {
	const char *text;
	struct slice command; /* empty: there is none */
};
#define HUNT_STEPS 6

struct hunt_report {
	struct hunt_case *v; /* faults first, each kind in order of time */
	size_t n, n_faults;
	struct slice *death; /* "process 12 was killed by SIGSEGV (Segmentation fault) in k, call 3 of run 0" */
	size_t n_deaths;
	struct slice note; /* what there is to say where nothing was found; empty */
	struct hunt_step step[HUNT_STEPS];
	size_t n_steps;
	uint64_t calls, captured; /* that were seen; of these, into a CUDA graph */
	bool alloc;               /* without PyTorch's caching allocator */
	const struct watch *w;
	char *const *command;
};

/* "launch", "before", ... of an event, as a sentence. */
const char *hunt_when(struct slice when);
/* The name of an argument: of the buffer, the program's text, or "". */
struct slice hunt_name(const struct hunt_case *c, uint32_t param);
/* The suspect that a parameter is; NULL. */
const struct ima_suspect *hunt_suspect(const struct hunt_case *c, uint32_t param);
/* A parameter that is no tensor as a number. */
int64_t hunt_number(const struct ima_param *p);

void hunt_show(struct screen *s, const struct hunt_report *r);
void hunt_document(struct buf *b, const struct hunt_report *r);

#endif
