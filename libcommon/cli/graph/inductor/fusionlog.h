/* fusionlog.h - the output of TORCH_LOGS=fusion: which nodes of the IR were fused, which were not and why, and where nodes come from.
 *
 *     struct fusionlog f = {0};
 *     fusionlog_read(&f, text);                          // may be called for several texts; they must outlive f
 *     for (i = 0; i < f.n; i++) f.row[i].kind, f.row[i].a, f.row[i].b, f.row[i].reason
 *     fusionlog_release(&f);
 *
 * Lines, with or without a log prefix (torch 2.13, torch/_inductor/scheduler.py, WhyNoFuse, fuse_two_nodes, debug_str_short):
 *
 *     V1121 ... torch/_inductor/scheduler.py:2059] [8/0] [__fusion] cannot fuse op1 with op6: intermediate nodes between node1 & node2
 *     ... [__fusion] fusing op2 with op3
 *     ... [__fusion]   SchedulerNode(name='op1'), Pointwise(['[4, 32]', 'origins=OrderedSet([tanh])', 'stack_traces = {', ...
 *     ... model__8_forward_9 debug trace: /tmp/.../torchinductor/model__8_forward_9.8
 *
 * The last line ends a compilation: rows above it belong to its folder. Up to 2.3 nodes are named after buffers.
 */
#ifndef PT2_INDUCTOR_FUSIONLOG_H
#define PT2_INDUCTOR_FUSIONLOG_H
#include "base/buf.h"

enum fusion_kind { FUSION_REFUSED, FUSION_DONE, FUSION_ORIGINS };

struct fusion {
	enum fusion_kind kind;
	struct slice a, b;    /* nodes; for FUSION_ORIGINS only a */
	struct slice reason;  /* for FUSION_ORIGINS the FX nodes: "sum_2, expand" */
	struct slice compile; /* "8/0"; empty: unknown */
	struct slice folder;  /* "model__8_forward_9.8"; empty: no such line follows */
	uint32_t line, times; /* first seen; how many times */
};

#define FUSIONLOG_MAX (1u << 20)

struct fusionlog {
	struct fusion *row;
	uint32_t n, cap;
	uint32_t open; /* rows from here on have no folder yet */
	uint32_t part; /* rows from here on are of one compilation: repetitions in it are counted */
};

void fusionlog_read(struct fusionlog *f, struct slice text);
void fusionlog_release(struct fusionlog *f);

#endif
