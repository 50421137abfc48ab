/* kernelmap.h - kernels, IR nodes, FX nodes and lines of Python, linked in both directions.
 *
 *     struct kernelmap m;
 *     struct kernelmap_input in = {.name = SLICE("model__0_forward_1.0"), .code = ..., .ir_post = ..., .graph = ...};
 *     kernelmap_build(&m, &in);                            // any subset of inputs; the texts must outlive m
 *     for (uint32_t u = 0; u < m.n_use; u++)               // each call of the wrapper
 *         for (uint32_t i = 0; i < m.use[u].fx.n; i++)
 *             m.node[m.item[m.use[u].fx.first + i]].name   // "neg"
 *     kernelmap_release(&m);
 *
 * One map is one compilation: one wrapper and its kernels. Where the links come from (enum km_from, per use):
 *   KM_FROM_MAP      node mappings or kernel_information.json, written by torch (INDUCTOR_PROVENANCE=1, TORCH_COMPILE_DEBUG=1)
 *   KM_FROM_COMMENT  "Graph fragment", "Source node to ATen node mapping" above a kernel
 *   KM_FROM_LOG      origins in TORCH_LOGS=fusion
 *   KM_FROM_FLOW     data flow (opmatch.h): what an operation reads, computes and stores
 *   KM_FROM_NAME     the kernel's name, if each operation in it is one node of the graph; only if there is nothing else (code that
 *                    does not compile has no data flow), and lines are guesses then
 *   KM_FROM_SOURCE   "Topologically Sorted Source Nodes" above a call: nodes of the graph before AOTAutograd; only if there is no
 *                    graph and nothing else (a package)
 * Lines of kernels come from data flow alone, restricted to the nodes that the first three name, if any.
 * A kernel and an IR node belong together if the kernel writes a buffer that the node, or a node fused with it, writes.
 *
 * Nothing is guessed silently: uncertain matches have MATCH_GUESS, unknown ones are empty.
 */
#ifndef PT2_INDUCTOR_KERNELMAP_H
#define PT2_INDUCTOR_KERNELMAP_H
#include "base/json.h"
#include "base/srcloc.h"
#include "graph/inductor/fusionlog.h"
#include "graph/inductor/opmatch.h"

#define KERNELMAP_LINES (1u << 21) /* of kernels, per call; further uses have no lines */

struct kernelmap_input {
	struct slice name;             /* of the compilation: its folder, its compile id, its model */
	struct slice code;             /* output_code.py */
	struct slice wrapper, kernels; /* or AOTInductor's wrapper.cpp and kernel.cpp; if both are the same text, it is output_code.cpp */
	struct slice ir_pre, ir_post;
	struct slice graph;    /* the graph that Inductor compiled, as FX code */
	struct slice mappings; /* inductor_provenance_tracking_node_mappings */
	struct slice stacks;   /* ..._kernel_stack_traces, or a package's kernel_information.json */
	const struct fusionlog *fusion;
	struct slice folder; /* its name in the fusion log: a folder, or a compile id ("0/0"); empty: all rows count */
	struct slice log;    /* its part of the log: forward and backward have the same compile id */
	bool cached;         /* loaded from a cache: the lines in its comments are those of the program that filled it */
};

struct kmlist { /* item[first .. first + n) of struct kernelmap */
	uint32_t first, n;
};

struct kmnode {
	struct slice name;  /* of the FX node */
	uint32_t fx;        /* in graph, NONE: only the name is known */
	uint32_t source;    /* row of source, NONE */
	struct slice text;  /* "torch.ops.aten.neg.default(arg0_1)"; empty */
	struct slice shape; /* "u8[1, 8]"; empty */
	bool compute;       /* neither an argument nor the output */
};

enum km_from { KM_FROM_MAP = 1, KM_FROM_COMMENT = 2, KM_FROM_LOG = 4, KM_FROM_FLOW = 8, KM_FROM_NAME = 16, KM_FROM_SOURCE = 32 };

/* A line of a kernel's text. */
struct kmline {
	uint32_t node;             /* row of node, NONE */
	uint8_t how;               /* enum match_how */
	uint8_t kind;              /* enum op_kind */
	struct slice value;        /* "tmp2"; empty: none */
	uint32_t ir_node, ir_line; /* NONE; line of the IR text */
};

struct kmuse {
	struct slice name;
	uint32_t call, kernel; /* in code; kernel NONE: an operator of torch */
	uint32_t nth;          /* number of earlier calls of the name */
	unsigned from;         /* enum km_from */
	/* "float32[16], float32[s77, 8] -> float32[s77, 16]", for an operator: kernel_information.json since torch 2.15 */
	struct slice types;
	struct kmlist fx, ir, source; /* rows of node, of ir->node, of source */
	uint32_t line, n_lines;       /* line[line + k] is the kernel's line k + 1 */
};

struct kernelmap {
	struct kernelmap_input in;
	struct outcode code;
	struct irtext pre, post;
	const struct irtext *ir; /* post, else pre; NULL: none */
	struct graph graph;
	bool has_graph, fragment; /* fragment: assembled from comments (fragment.h) */
	struct kmnode *node;
	struct intern node_names; /* index of node[] */
	struct srcloc *source;
	struct intern source_names;
	struct kmuse *use;
	struct kmline *line;
	struct kmlist *ir_fx; /* per node of ir: rows of node */
	bool *taken;          /* per node of ir: it belongs to a use */
	uint32_t *item;
	uint32_t n_node, n_source, n_use, n_line, n_item;
	uint32_t cap_node, cap_source, cap_use, cap_line, cap_item;
	struct km_index *index; /* while it is built */
	char note[256];         /* what could not be read; or empty */
	struct arena arena;
};

void kernelmap_build(struct kernelmap *m, const struct kernelmap_input *in);
void kernelmap_release(struct kernelmap *m);
/* The text of a use's kernel; empty for operators. */
struct slice kernelmap_text(const struct kernelmap *m, const struct kmuse *u);

/* ---- kernelmap_find.c: both directions ---- */

enum km_what { KM_KERNEL, KM_FX, KM_IR, KM_SOURCE };
struct kmhit {
	enum km_what what;
	uint32_t row; /* of use, node, ir->node, source */
};
/* All meanings of a name: a kernel (with or without :handle), an FX node, an IR node or buffer, FILE.py:LINE (the end of the
 * path is enough). Returns how many were written. */
uint32_t kernelmap_find(const struct kernelmap *m, struct slice name, struct kmhit *hit, uint32_t max);
/* Uses that contain the FX node, the IR node, the source. */
bool kernelmap_use_has(const struct kernelmap *m, uint32_t use, struct kmhit hit);

/* Why nodes of this use's IR were fused or not. */
struct kmfusion {
	struct slice a, b, reason;
	bool done;    /* fused */
	bool derived; /* not torch's own words, but derived from sizes, devices and kinds in the IR */
};
uint32_t kernelmap_fusion(struct kernelmap *m, uint32_t use, struct kmfusion *row, uint32_t max);

/* ---- kernelmap_locate.c: a compiler's message ---- */

struct kmlocation {
	struct srcloc error;     /* file, line, column, severity, message of the compiler's line */
	struct slice quoted;     /* the line of source that it quotes */
	uint32_t map, use, line; /* the kernel's line, from 1; NONE if none matches */
	bool several;            /* more than one line matches: this is the closest */
};
/* The first error in a text (a CppCompileError, a compiler's output) that quotes a line of one of these kernels; without one, the first
 * error of any kind. False: no compiler error. */
bool kernelmap_locate(struct kernelmap *const *map, uint32_t n, struct slice text, struct kmlocation *out);
/* "neg = torch.ops.aten.neg.default(arg0_1)", for people */
void kernelmap_node(struct buf *b, const struct kmnode *n);
/* "app/m.py:5 in f" of m->source[source]; empty for NONE */
void kernelmap_source(struct buf *b, const struct kernelmap *m, uint32_t source);

#endif
