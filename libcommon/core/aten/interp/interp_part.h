/* interp_part.h - shared by the files of interp/: a run, and one call of a module in it. */
#ifndef PT2_INTERP_PART_H
#define PT2_INTERP_PART_H
#include "aten/interp/interp.h"
#include "base/arena.h"

enum { INTERP_DEPTH = 64 }; /* subgraphs within subgraphs */

struct interp {
	const struct graph *g;
	const struct interp_options *o;
	struct aten_op *op; /* by the target's text; entry NULL: not looked up yet */
	bool *no_op;        /* the same: unsupported */
	struct aten_mode mode;
	uint32_t n_texts; /* length of op */
	uint64_t steps;
	unsigned depth;
	uint32_t node;    /* being run */
	uint32_t *levels; /* of torch.vmap, a bit each, by node (interp_vmap.c); NULL: none */
	struct interp_cast {
		bool on, gpu;
		int dtype;
	} cast; /* the region of torch.autocast that is being run (interp_autocast.c) */
	struct err *err;
};

/* A call of a module: its nodes' values, by their index in it. */
struct activation {
	struct interp *run;
	uint32_t module;
	struct aten_value *value;
	struct arena arena; /* for the operands of the node being run */
};

/* A separate value: new handles to the same tensors. Failure leaves an error in run->err. */
int interp_share(struct interp *run, struct aten_value v, struct aten_value *out);
/* EXIT_INPUT and "node 'x' (op): TEXT, at LINE". */
int interp_bad(const struct interp *run, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The value of an operand: tensors are borrowed from the activation, lists lie in its arena. */
int interp_operand(struct activation *a, struct gvalue v, struct aten_value *out);
/* Calls module with n values (borrowed); out becomes a list of its results. */
int interp_call(struct interp *run, uint32_t module, const struct aten_value *input, size_t n, struct aten_value *out);
/* Calls an operator of aten by its name ("aten.select.int"); which must have one result. */
int interp_aten(struct interp *run, struct slice name, struct aten_value *arg, size_t n, struct aten_value *out);

struct interp_operands {
	struct aten_value *arg; /* tensors are borrowed */
	struct aten_named *named;
	size_t n, n_named;
};
/* A node's, but for the first `from`, in the activation's arena. */
int interp_operands(struct activation *a, const struct gnode *node, uint32_t from, struct interp_operands *o);
/* The operator named by a target (text of the graph), or NULL with an error in run->err; and a call of it: several results become a
 * list. */
const struct aten_op *interp_find(struct interp *run, uint32_t target);
/* Like interp_scalar, by .more: 1 if it is an operator of aten.h, or unknown there, too. */
int interp_more(struct interp *run, uint32_t target, struct slice op, const struct interp_operands *o, struct aten_value *out);
int interp_call_op(struct interp *run, const struct aten_op *op, const struct interp_operands *o, struct aten_value *out);

/* interp_functional.c: in a graph from functionalize(), in-place operators and the nodes after them. Like interp_scalar; changes o->arg. */
int interp_functional(struct interp *run, struct slice target, struct interp_operands *o, struct aten_value *out);
bool interp_functional_has(struct slice target);

/* interp_scalar.c: functions over numbers. 1: not one of them; 0: done; -1: failure. arg: n operands. */
int interp_scalar(struct interp *run, struct slice target, const struct aten_value *arg, size_t n, struct aten_value *out);
bool interp_scalar_has(struct slice target);
/* Gets a number from a value or a tensor of one element. */
int interp_number(struct interp *run, const struct aten_value *v, struct aten_value *out);
bool interp_truth(const struct aten_value *v);

/* interp_check.c: assertions and other operators of aten that state facts about a graph. Like interp_scalar. */
int interp_check(struct interp *run, struct slice op, const struct aten_value *arg, size_t n, const struct aten_named *named,
		 size_t n_named, struct aten_value *out);
bool interp_check_has(struct slice op);

/* A call of a node's target with these operands, without lanes. */
int interp_call_node(struct interp *run, const struct gnode *node, struct interp_operands *o, struct aten_value *out);

/* interp_vmap.c: calls of torch.vmap, and operators whose operands have lanes. 1: neither. Changes o->arg. */
int interp_vmap(struct activation *a, const struct gnode *node, struct interp_operands *o, struct aten_value *out);

/* predispatch.c: the calls of torch.vmap, and the level that one names. */
enum vmap_call { VMAP_NONE, VMAP_NOTHING, VMAP_ADD, VMAP_REMOVE };
enum vmap_call interp_vmap_call(struct slice target);
bool interp_vmap_has(struct slice target);
uint32_t interp_level_bit(const struct graph *g, const struct gnode *n, uint32_t at);
/* interp_levels.c: the lanes of each node. */
bool interp_vmap_region(struct slice target);   /* a higher-order operator whose body may have lanes */
uint32_t *interp_levels(const struct graph *g); /* for struct interp; NULL: the graph has no torch.vmap */

/* interp_flex.c: the node is flex_attention; the levels of its subgraphs' inputs (interp_levels); its value. */
bool interp_is_flex(const struct graph *g, uint32_t node);
void interp_flex_levels(const struct graph *g, uint32_t node, uint32_t *of);
int interp_flex(struct activation *a, struct aten_value *out);

/* interp_autocast.c: casts the operands of an operator, as the region demands: o has others afterwards, until interp_autocast_end().
 * -1: aten_last_error(). */
struct cast_made {
	struct aten_value *v;
	size_t n, cap;
	struct arena arena;
};
int interp_autocast(struct interp *run, const struct aten_op *op, struct interp_operands *o, struct cast_made *made);
void interp_autocast_end(struct cast_made *made);

/* interp_hop.c: higher-order operators, "cond" without torch.ops.higher_order. Like interp_scalar. */
int interp_hop(struct activation *a, struct slice name, struct aten_value *out);
bool interp_hop_has(struct slice name);
uint32_t interp_effect(const struct graph *g, uint32_t node); /* the text of the operator that with_effects calls; NONE: another node */

static inline int interp_real_of_double(int dtype)
{
	if (aten_is_float(dtype))
		return DTYPE_F64;
	return aten_is_complex(dtype) ? DTYPE_C128 : dtype;
}

static inline struct slice interp_without(struct slice text, const char *prefix)
{
	const size_t n = strlen(prefix);
	return slice_starts(text, prefix) ? slice_of(text.p + n, text.n - n) : (struct slice){0};
}

#endif
