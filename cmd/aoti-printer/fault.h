/* fault.h - what --ima has found out: ima.c fills it in when the command has ended, imashow.c makes text of it and imadoc.c the JSON of
 * docs/formats/DUMP.md. All that is shown stands here. It points into the struct watch and the struct fault that it was made of. */
#ifndef FAULT_H
#define FAULT_H
#include "watch/ima.h"
#include "watch/nan.h"
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

/* A fault or a finding, with what the contract and the package say of its call. */
struct fault_case {
	struct ima_event *e;
	const struct watch_model *model;  /* NULL: nothing is known of it */
	const struct contract *contract;  /* NULL */
	const struct contract_call *call; /* NULL */
	struct nan_finding from;          /* .pre, .node, .line: graph nodes, lines of Python */
	struct fault_symbol *symbol;      /* sizes of the Run's inputs */
	uint32_t n_symbols;
	const struct fault_call **last; /* of a fault: calls of that process up to this one */
	size_t n_last;
};

/* A suggestion of what to try next: why, and the command line. */
struct fault_step {
	const char *text;
	struct slice command; /* empty: there is none */
};
#define FAULT_STEPS 6

struct fault_report {
	struct fault_case *v; /* faults first, each kind in order of time */
	size_t n, n_faults;
	struct slice *death; /* "process 12 was killed by SIGSEGV (Segmentation fault) in k, call 3 of run 0" */
	size_t n_deaths;
	struct slice note; /* what there is to say where nothing was found; empty */
	struct fault_step step[FAULT_STEPS];
	size_t n_steps;
	uint64_t calls, captured; /* that were seen; of these, into a CUDA graph */
	bool alloc;               /* without PyTorch's caching allocator */
	const struct watch *w;
	char *const *command;
};

/* "launch", "before", ... of an event, as a sentence. */
const char *fault_when(struct slice when);
/* The name of an argument: of the buffer, the program's text, or "". */
struct slice fault_name(const struct fault_case *c, uint32_t param);
/* The suspect that a parameter is; NULL. */
const struct ima_suspect *fault_suspect(const struct fault_case *c, uint32_t param);
/* A parameter that is no tensor as a number. */
int64_t fault_number(const struct ima_param *p);

void fault_show(struct screen *s, const struct fault_report *r);
void fault_document(struct buf *b, const struct fault_report *r);

#endif
