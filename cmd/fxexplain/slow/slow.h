/* slow.h - where compile time goes, in the user's own names, and what would save how much of it.
 *
 *     struct slow s;
 *     slow_make(&s, &x);                              // x: an explanation whose facts have their graphs (explain_options.keep_graphs)
 *     s.block[0].copies, s.build.header, s.remedy[0].saves
 *     slow_release(&s);
 *
 * Measured: times of frames, phases, passes, runs of the C++ compiler, Triton kernels (torch's own events and metrics).
 * Estimated: what torch does not measure. Each remedy says which it is, and how it was reckoned:
 *  - a module's share of the graph is its share of the nodes of Dynamo's graph; it takes that share of the phases that grow with the graph
 *    (slow_grows());
 *  - a C++ kernel's time: kernels are built in the order of the code, one run of the compiler each, so that the k-th run of the pool is the
 *    k-th kernel's; only where there are as many runs as kernels.
 *
 * A module is known by the parameters that its operators read: "L_self_modules_h_modules_0_modules_ln_1_parameters_weight_" is h.0.ln_1;
 * an operator without parameters belongs to the module before it. Indices are joined: h.*.ln_1.
 */
#ifndef FXEXPLAIN_SLOW_H
#define FXEXPLAIN_SLOW_H
#include "graph/inductor/kernelmaps.h"
#include "run/diagnose/finding.h"
#include "run/phases.h"

/* Equal pieces of one graph, one after the other. */
struct slow_block {
	uint32_t compile;       /* of facts.compile */
	uint32_t nodes, copies; /* of one piece */
	uint32_t of;            /* nodes of the graph that compute something */
	struct slice name;      /* "h.0 ... h.5"; empty: without parameters */
	struct slice where;     /* its first line: "gpt2.py:269 in forward" */
};
/* Compilations of one process with equal graphs. */
struct slow_twins {
	uint32_t first, n; /* of twin_row: rows of facts.compile, in order */
	uint32_t nodes;
	double seconds; /* of all */
};
struct slow_module {
	struct slice name;  /* "h.*.attn"; "forward (gpt2.py)" where parameters tell no module */
	struct slice where; /* its first line */
	uint32_t nodes;
	double seconds; /* estimated */
};
struct slow_kernel {
	struct slice name, where; /* where: lines of the program, the first ones */
	struct slice compile;     /* "0/0" */
	const char *lang;         /* "C++", "Triton" */
	uint32_t lines;           /* of its code; 0: not in the log */
	double seconds;           /* < 0: unknown */
	bool measured;
};
struct slow_pass {
	struct slice name;
	double seconds; /* self time */
	uint64_t calls;
};
/* Runs of the C++ compiler. */
struct slow_builds {
	uint32_t n, kernels;          /* how many runs, of them for kernels */
	uint32_t elsewhere;           /* C++ kernels of the code that no run was for: they were there, or another process built them */
	double probe, header, kernel; /* seconds: which vector instructions there are; the precompiled header; the kernels' sum */
	double preprocess;            /* the header's hash, in each process */
	double package;               /* AOTInductor's library */
	double wall;                  /* seconds in which at least one kernel was being built */
	uint32_t most;                /* at once */
	int64_t threads;              /* compile_threads of the settings, -1: unknown */
};
struct slow_remedy {
	const char *id;     /* "block", "cache", ... */
	struct slice what;  /* "Compile the block once: h.0 ... h.5" */
	double saves;       /* seconds of this run; < 0: unknown */
	struct slice how;   /* how that was reckoned */
	struct slice steps; /* what to do, one per line */
	struct slice next;  /* a command; empty */
};

struct slow {
	const struct explanation *x;
	struct arena arena;
	struct kernelmaps *maps;      /* by input: texts of kernels are in them */
	double seconds;               /* of the run */
	double part[TIME_PART_COUNT]; /* self times of the run */
	double backward, restarts, recompiles;
	double *grows; /* by row of facts.compile: seconds that grow with the graph */
	VIEW_ROWS(struct slow_block, block);
	VIEW_ROWS(struct slow_twins, twins);
	VIEW_ROWS(uint32_t, twin_row);
	VIEW_ROWS(struct slow_module, module);
	VIEW_ROWS(struct slow_kernel, kernel);
	VIEW_ROWS(struct slow_pass, pass);
	VIEW_ROWS(struct slow_remedy, remedy); /* what saves most first */
	struct slow_builds build;
	uint32_t graphs, unread; /* of Dynamo; those that could not be read */
};

void slow_make(struct slow *s, const struct explanation *x);
void slow_release(struct slow *s);

/* ---- parts ---- */
/* Does it take longer for a larger graph? Not compilers, caches, imports. */
bool slow_grows(enum time_part_kind part);
void slow_blocks(struct slow *s);   /* blocks.c: blocks, twins, modules */
void slow_kernels(struct slow *s);  /* kernels.c: kernels, builds */
void slow_remedies(struct slow *s); /* remedies.c */
#define slow_textf(s, ...) arena_textf(&(s)->arena, __VA_ARGS__)

/* ---- emitters ---- */
struct explain_options;
struct screen;
void slow_show(struct screen *out, const struct slow *s, const struct explain_options *opt);
void slow_json(struct buf *b, const struct slow *s);
/* For explain_options.emit: all of it. */
bool slow_emit(const struct explanation *x, const struct explain_options *opt);

#endif
