/* opseq.h - what a kernel computes, as a list of operations: from the IR's loop bodies, or from the kernel's own text. Both use
 * the same names, so that they can be matched with each other and with the FX graph (opmatch.h).
 *
 *     struct opseq s = {0};
 *     opseq_add_ir(&s, &ir, node);                          // one call per IR node, in order
 *     opseq_add_kernel(&s, text, OUT_CPP, param, n);        // or a kernel's text
 *     s.op[i].name, s.op[i].line
 *     opseq_release(&s);
 *
 * From IR (torch 2.13, torch/_inductor/ops_handler.py) and from the text of kernels (codegen/cpp.py, CppOverrides and
 * CppVecOverrides; codegen/triton.py, TritonKernelOverrides):
 *
 *     neg = ops.neg(load_1)                                       neg
 *     auto tmp2 = decltype(tmp1)(-tmp1);                          neg
 *     auto tmp2 = tmp1.neg();                                     neg
 *     auto tmp3 = at::vec::maximum(tmp0, tmp2);                   maximum
 *     auto tmp1 = in_ptr1[static_cast<int64_t>(i1)];              load of in_ptr1
 *     auto tmp0 = at::vec::Vectorized<float>::loadu(in_ptr0 + static_cast<int64_t>(x0), ...);
 *     tmp_acc0_vec = tmp_acc0_vec + tmp3;                         reduction "sum"
 *     tmp3.store(out_ptr0 + static_cast<int64_t>(x0));            store
 *     tmp0 = tl.load(in_ptr0 + (x0), xmask)                       Triton's
 *
 * Casts and broadcasts are OP_ALIAS: the same value in another form. An expression of unknown form is an
 * operation "?" of all values that it mentions.
 *
 * A name means its last assignment in its block or an enclosing one. A load from a pointer to which the kernel
 * stored, or in the IR from a buffer that an earlier node of the list stored, is the stored value: OP_ALIAS again.
 * No recursion; OPSEQ_MAX operations; work is linear, except for a search of OPSEQ_SCOPE names for each.
 */
#ifndef PT2_INDUCTOR_OPSEQ_H
#define PT2_INDUCTOR_OPSEQ_H
#include "graph/inductor/ir.h"
#include "graph/inductor/outcode.h"

#define OPSEQ_MAX (1u << 16)
#define OPSEQ_SCOPE 4096
#define OPSEQ_ARGS 16

enum op_kind {
	OP_LOAD,   /* buffer; more arguments: the values in its index */
	OP_CONST,  /* number */
	OP_CALC,   /* name of arguments */
	OP_REDUCE, /* name ("sum", "max", "any", "welford", ...) of arguments */
	OP_ALIAS,  /* the same value as arg[0] */
	OP_STORE,  /* of arg[0] into buffer */
	OP_NOTE,   /* a line that computes nothing new but belongs to arg[0]: the end of a reduction, a check of an index */
};

struct seqop {
	uint8_t kind;
	bool has_number;
	struct slice name;   /* canonical: "add", "truediv", "maximum"; "?" */
	struct slice buffer; /* of loads and stores: the buffer, or the parameter's name in a kernel's text */
	struct slice result; /* "tmp3", "mul_1" */
	double number;
	uint32_t arg, n_args; /* indices of operations, in opseq.arg */
	uint32_t line;        /* in the text that it was read from */
	uint32_t node;        /* of the IR; NONE for kernels */
};

struct opseq {
	struct seqop *op;
	uint32_t *arg;
	uint32_t n_op, n_arg, cap_op, cap_arg;
	/* during construction */
	struct {
		struct slice name;
		uint32_t op, depth;
	} * scope;
	uint32_t n_scope, cap_scope;
	/* The value that a buffer or pointer holds; of: the pointer that it aliases; read: since the last store. */
	struct {
		struct slice name, of;
		uint32_t op;
		bool read;
	} * memory;
	struct {
		uint32_t row, op;
	} * undo; /* the previous content of a row */
	uint32_t n_memory, cap_memory, n_undo, cap_undo;
};

void opseq_add_ir(struct opseq *s, const struct irtext *ir, uint32_t node);
/* The kernel's arguments at a call: the buffers that its parameters hold before it, and after it. Empty: no buffer. A pointer
 * that is not a parameter (local buffers) keeps its name. */
struct opseq_param {
	struct slice name, loaded, stored;
};
/* Lines count from 1 in the text. */
void opseq_add_kernel(struct opseq *s, struct slice text, enum outlang lang, const struct opseq_param *param, uint32_t n_params);
void opseq_release(struct opseq *s);
/* Gives all spellings of an operation one name: "max_propagate_nan", "std::max", "maximum" -> "maximum". */
struct slice op_canonical(struct slice name);
/* The value after resolving aliases. */
uint32_t opseq_value(const struct opseq *s, uint32_t op);
/* A number as written in code: 1.0, -3L, 1e-05, inf, std::numeric_limits<float>::infinity(), True. */
bool op_number(struct slice text, double *v);

/* For the parts: */
uint32_t opseq_add(struct opseq *s, struct seqop op, const uint32_t *args, uint32_t n);
void opseq_name(struct opseq *s, struct slice name, uint32_t op, uint32_t depth);
uint32_t opseq_find(const struct opseq *s, struct slice name);
void opseq_put(struct opseq *s, struct slice buffer, uint32_t op);
uint32_t opseq_get(const struct opseq *s, struct slice buffer); /* what was stored there, or NONE */

#endif
