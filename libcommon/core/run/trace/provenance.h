/* provenance.h - links corresponding lines of the graph before and after Inductor's passes, and of the generated code.
 *
 *     struct slice text[PROV_TEXTS] = {[PROV_PRE] = ..., [PROV_POST] = ..., [PROV_CODE] = ..., [PROV_MAP] = ...};
 *     struct provenance p = {0};
 *     if (provenance_build(&p, text))                    // false: no node mappings, so no links (only sources and kernels)
 *         for (i = provenance_first(&p, PRE_TO_POST, 12); i < p.n_link[PRE_TO_POST] && p.link[PRE_TO_POST][i].from == 12; i++)
 *             ... line 12 of the graph before became line p.link[PRE_TO_POST][i].to of the graph after
 *     provenance_release(&p);
 *
 * Any of the texts may be empty. They are as in the trace (torch 2.13.0, torch/_inductor/debug.py and
 * codegen/wrapper.py):
 *   PROV_PRE     before_pre_grad_graph, or inductor_pre_grad_graph of older torch: readable FX code
 *   PROV_POST    inductor_post_grad_graph (after_post_grad_graph)
 *   PROV_CODE    inductor_output_code: a Python wrapper with Triton or C++ kernels
 *   PROV_AOT     inductor_aot_wrapper_code: the C++ wrapper of AOTInductor
 *   PROV_MAP     inductor_provenance_tracking_node_mappings: {"preToPost": {NODE: [NODE...]}, "postToPre": {...},
 *                "cppCodeToPost": {KERNEL: [NODE...]}, "postToCppCode": {...}, "version": 2.0}
 *   PROV_STACKS  inductor_provenance_tracking_kernel_stack_traces: {KERNEL: [Python stack...]}
 * A KERNEL is NAME:HANDLE; the wrapper has a comment "[Provenance debug handles] NAME:HANDLE" before the call. Version 1 has no handles:
 * every call of NAME counts.
 *
 * Lines count from 1, in the unchanged text. A node's line is where FX code assigns it, or the signature if it is an argument; if nested
 * graphs reuse a name, it means the outer graph's. A kernel's link is its call's first line; the kernel has the end of the call and the
 * lines of its definition. If the text has no call of the kernel's name after the comment (the names differ), the first line of code there
 * is used.
 *
 * There is no recursion, work is linear in the texts and links, and there are at most PROV_LINKS_MAX links in each direction. Names of
 * kernels and sources point into p->arena: the texts may be freed.
 */
#ifndef PT2_PROVENANCE_H
#define PT2_PROVENANCE_H
#include "base/arena.h"
#include "base/json.h"
#include "base/srcloc.h"

enum prov_text { PROV_PRE, PROV_POST, PROV_CODE, PROV_AOT, PROV_MAP, PROV_STACKS, PROV_TEXTS };
enum prov_way { PRE_TO_POST, POST_TO_PRE, CODE_TO_POST, POST_TO_CODE, AOT_TO_POST, POST_TO_AOT, PROV_WAYS };
enum { PROV_LINKS_MAX = 1 << 20, PROV_CALL_LINES = 200 };
FOR_TESTS extern const char *const prov_way_name[PROV_WAYS]; /* "preToPost" ... */

struct prov_link {
	uint32_t from, to;
};
struct prov_call {
	uint32_t kernel, first, last; /* lines */
};
struct prov_kernel {
	struct slice name;            /* with its handle: "triton_poi_fused_mul_0:2" */
	uint32_t def_first, def_last; /* lines of PROV_CODE, or of PROV_AOT if not in PROV_CODE; 0: missing */
};
/* From this line of a graph on, until the next row, nodes come from this line of the program. */
struct prov_origin {
	uint32_t line, source; /* source: NONE if unknown to torch */
};

struct provenance {
	struct prov_link *link[PROV_WAYS]; /* sorted, each once */
	uint32_t n_link[PROV_WAYS], cap_link[PROV_WAYS];
	struct prov_kernel *kernel;
	uint32_t n_kernel, cap_kernel;
	struct prov_call *call[2]; /* in PROV_CODE and PROV_AOT, in the order of the text */
	uint32_t n_call[2], cap_call[2];
	struct srcloc *source;
	uint32_t n_source, cap_source;
	struct prov_origin *origin[2]; /* of PROV_PRE and PROV_POST */
	uint32_t n_origin[2], cap_origin[2];
	struct arena arena;
};

bool provenance_build(struct provenance *p, const struct slice text[PROV_TEXTS]);
void provenance_release(struct provenance *p);
/* Index of the first link from this line or a later one. */
FOR_TESTS uint32_t provenance_first(const struct provenance *p, enum prov_way way, uint32_t line);
/* The row of p->source for a line of PROV_PRE (0) or PROV_POST (1), or NULL. */
FOR_TESTS const struct srcloc *provenance_source(const struct provenance *p, unsigned graph, uint32_t line);
/* As one JSON object (docs/formats/REPORT.md, "links"). */
void provenance_json(const struct provenance *p, struct json_out *o);

#endif
