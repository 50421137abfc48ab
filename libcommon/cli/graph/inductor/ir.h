/* ir.h - Inductor's IR as printed in its debug folder: ir_pre_fusion.txt and ir_post_fusion.txt.
 *
 *     struct irtext ir = {0};
 *     irtext_read(&ir, text);                            // the text must outlive ir: everything is a slice of it
 *     for (uint32_t i = 0; i < ir.n_node; i++)
 *         ir.node[i].name, ir.node[i].kind               // "op0", "SchedulerNode"
 *     irtext_release(&ir);
 *
 * What is read (torch 2.13, torch/_inductor/scheduler.py, BaseSchedulerNode.debug_str, and loop_body.py, LoopBody.debug_str):
 *
 *     op0: SchedulerNode(ComputedBuffer)                  also ExternKernelSchedulerNode, NopKernelSchedulerNode, ...
 *     op0.writes = [MemoryDep('buf0', c0, {c0: 67120})]
 *     op0.unmet_dependencies = []                         written by other nodes
 *     op0.met_dependencies =                              already there: inputs
 *         [   MemoryDep('arg0_1', c1, {c0: 8390, c1: 8}),
 *             MemoryDep('arg1_1', c0, {c0: 67120})]
 *     op0.outputs = [
 *         buf0: ComputedBuffer
 *         buf0.layout = FixedLayout('cpu', torch.uint8, size=[8390, 8], stride=[8, 1])
 *         buf0.users = [NodeUser(node=OUTPUT, can_inplace=False, is_weak=False)]
 *     ]
 *     op0.group.device = cpu
 *     op0.group.iteration = ((8390, 8), ())
 *     op0.sizes = ([8390, 8], [])
 *     class op0_loop_body:
 *         var_ranges = {p0: 8390, p1: 8}
 *         index0 = 8*p0 + p1
 *         def body(self, ops):
 *             get_index = self.get_index('index0')
 *             load = ops.load('arg1_1', get_index)
 *             neg = ops.neg(load)
 *     op1.node.kernel = extern_kernels.addmm              of an ExternKernelSchedulerNode
 *     op0_op2: FusedSchedulerNode(SchedulerNode,SchedulerNode)      "op0_op2.snodes[1] =" precedes each member
 *
 * Up to 2.3 (known only from the guides of 2.0 to 2.3) a node has the name of its buffer, no outputs but its own users, and
 * dependencies may be sets of MemoryDep(name='buf0', index=c0, size=(s0,)): then .out has one buffer, named after the node.
 *
 * Names are those of buffers, except users (nodes; "OUTPUT"). Lines count from 1. Any other text gives no nodes; there is no other
 * failure. No recursion; IR_MAX bounds nodes, dependencies and operations each.
 */
#ifndef PT2_INDUCTOR_IR_H
#define PT2_INDUCTOR_IR_H
#include "base/hash.h"

#define IR_MAX (1u << 22)

struct irop {
	struct slice result; /* "mul_1"; empty: none */
	struct slice name;   /* "mul" of ops.mul, "get_index", "set_indirect0", "masked_subblock1" of self.NAME */
	struct slice args;   /* the text between the brackets */
	uint32_t line;
	uint8_t block; /* 0: the body; k: the k-th of its masked subblocks */
	bool self;     /* self.NAME(...), not ops.NAME(...) */
};

struct irindex { /* index0 = 8*p0 + p1 */
	struct slice name, expr;
};

struct irout {
	struct slice name, kind, layout;
	uint32_t user, n_users; /* texts in irtext.name: nodes that read it */
};

struct irnode {
	struct slice name;                         /* "op0"; "buf0" of old torch; "op0_op2" of a fused node */
	struct slice kind;                         /* "SchedulerNode", "ExternKernelSchedulerNode", "FusedSchedulerNode", ... */
	struct slice ir;                           /* "ComputedBuffer"; kinds of the members of a fused one */
	struct slice device, group, sizes, ranges; /* empty: unknown */
	struct slice kernel;                       /* of an extern kernel: "extern_kernels.addmm" */
	uint32_t line, last;                       /* of its text, including members */
	uint32_t body, body_last;                  /* lines of the loop body; 0: none */
	uint32_t parent;                           /* the fused node that it is a member of, NONE */
	uint32_t members;                          /* number of direct members */
	uint32_t write, n_writes;                  /* texts in irtext.name */
	uint32_t unmet, n_unmet;
	uint32_t met, n_met;
	uint32_t out, n_outs;
	uint32_t op, n_ops;
	uint32_t index, n_indexes;
};

struct irtext {
	struct slice text;
	struct irnode *node; /* fused nodes before their members */
	struct irop *op;
	struct irindex *index;
	struct irout *out;
	struct slice *name;
	uint32_t n_node, n_op, n_index, n_out, n_name;
	uint32_t cap_node, cap_op, cap_index, cap_out, cap_name;
	struct intern names; /* of nodes; the row: by_name */
	uint32_t *by_name, cap_by_name;
};

void irtext_read(struct irtext *t, struct slice text);
void irtext_release(struct irtext *t);
/* A node by its name, or NONE. The last one of several with the same name. */
FOR_TESTS uint32_t irtext_node(const struct irtext *t, struct slice name);
/* The outermost fused node that contains it, itself if none. */
uint32_t irtext_outermost(const struct irtext *t, uint32_t node);
/* The next operand of an operation: rest is the remainder of .args. "'arg0_1'" keeps its quotes. */
bool irop_arg(struct slice *rest, struct slice *arg);
/* 'arg0_1' -> arg0_1 */
struct slice ir_unquote(struct slice s);

#endif
