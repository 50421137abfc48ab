/* diff.h - two dumps, call by call. Calls of the same model and run are matched by what their kernel or operator computes and by
 * order (base/linediff.h), also where one side was compiled for another device; tensors by the names of their buffers (on one
 * device), then by where they stand in the call. Of builds in two floating-point types, what rounding explains is no difference
 * (diffround.c). A graph against what kernels wrote is diffgraph.c, by aten/verify/pair.h. */
#ifndef PRINTER_DIFF_H
#define PRINTER_DIFF_H
#include "base/json.h"
#include "base/tool/screen.h"
#include "watch/dump.h"
#include "printer.h"
#include "tensor/close.h"

enum diff_what { DIFF_SAME, DIFF_VALUES, DIFF_SIZES, DIFF_DTYPE, DIFF_ONLY_A, DIFF_ONLY_B, DIFF_UNSAVED };
struct diff_value {
	const struct dump_value *a, *b; /* NULL: only the other has it */
	enum diff_what what;
	struct tensor_close close;
	int64_t index[TENSOR_MAX_DIMS]; /* of the worst element */
	int n_index;
	double allowed; /* of two types: what .close.rms may be */
};
/* Why calls of two devices stand for one another whose names are only alike: one wrote the same numbers as the other, or, where the
 * ends differ, a tensor of the same sizes. Only such tensors of them are compared. */
enum diff_alike { ALIKE_NAME, ALIKE_NUMBERS, ALIKE_SIZES };
struct diff_row {
	const struct dump_call *a, *b;
	size_t value;
	uint32_t n_values, compared;
	bool in_differs, out_differs;
	bool origin;  /* what it reads agrees, what it wrote does not: the difference was made here */
	bool outputs; /* of a run: the model's outputs were compared */
	bool devices; /* the two sides are for two devices, or of two types: */
	enum diff_alike alike;
	bool elsewhere;   /* one side only, and no difference: both end with the same, so the other has it in other calls */
	bool nodes;       /* one side is a graph that ran node by node: */
	uint32_t pair[2]; /* which of each call's values stand for one another */
};
struct diff {
	struct dump a, b;
	const char *name[2];
	bool live; /* b was run now: what a does not have is no difference */
	struct diff_row *row;
	struct diff_value *value;
	size_t n_rows, cap_rows, n_values, cap_values;
	size_t first;                                                /* row of the first difference, SIZE_MAX */
	size_t only[2], both, compared, differing, origins, unsaved; /* calls on one side, on both; tensors */
	struct close_options how;
	int type[2];    /* the floating-point type that most of a side's tensors have */
	bool two_types; /* these are two: what rounding explains is no difference (diffround.c) */
	bool nodes;     /* one side ran node by node, where the other has kernels (diffnodes.c): the same */
	bool different;
	bool cut; /* by an error of the GPU: a side says so (dump.h, .failed) */
};

/* d->a, d->b are read; filter: which calls and buffers. */
int diff_run(struct diff *d, const struct filter *f, struct err *err);
void diff_release(struct diff *d);
/* The name of a kernel or op without its numbering and device tells what the call computes: cpp_fused_relu_12 and
 * triton_poi_fused_relu_0 are "fused_relu", aoti_torch_cpu_mm_out and aoti_torch_cuda_mm_out "mm_out". Other compilations count
 * otherwise, and for another device. *device: its length in front. */
struct slice diff_computes(struct slice name, size_t *device);
static inline const struct dump_call *diff_call(const struct diff_row *r) { return r->a ? r->a : r->b; }
/* How many rows from this one on are of its model and run? */
size_t diff_run_rows(const struct diff *d, size_t row);
static inline const struct dump_value *diff_any(const struct diff_value *v) { return v->a ? v->a : v->b; }

/* Compare the two tensors of v, which both are saved. */
int diff_compare(struct diff *d, struct diff_value *v, struct close_options how, struct err *err);

/* ---- diffround.c ---- */

/* Are they builds in two floating-point types? Sets d->type. */
bool diff_two_types(struct diff *d);
/* All pairs are compared: which differ by more than the types explain? */
int diff_judge_rounding(struct diff *d, struct err *err);

/* ---- diffnodes.c ---- */

struct diff_calls {
	const struct dump_call **v;
	size_t n;
};
/* Is it a call of a graph that ran node by node? */
bool diff_is_nodes(const struct dump_call *c);
/* Rows for a run of a graph, compiled on one side and node by node on the other. */
void diff_pair_nodes(struct diff *d, const struct diff_calls *a, const struct diff_calls *b);
void diff_match_nodes(struct diff *d, size_t row);
/* All pairs are compared: what a kernel wrote that is no node's is no difference. */
void diff_settle_nodes(struct diff *d);
struct diff_row *diff_add_row(struct diff *d, const struct dump_call *a, const struct dump_call *b);
struct diff_value *diff_add_value(struct diff *d, struct diff_row *r, const struct dump_value *a, const struct dump_value *b);

/* ---- diffdevices.c ---- */

/* Does b compute all that a computes, by their names? fused_relu, fused_addmm_relu. */
bool diff_covers(const struct dump_call *a, const struct dump_call *b);

/* Rows from this one on are of one run, on two devices: those with one side are paired by the numbers that they wrote. */
void diff_pair_devices(struct diff *d, size_t from);
/* All pairs are compared: is what is left of each run elsewhere? Else it is paired by sizes, and these rows are to be compared. */
void diff_settle_devices(struct diff *d);
/* The tensors have the same sizes and are alike: within the tolerance where they are of one type, roughly where of two. */
bool diff_same_numbers(const struct diff *d, const struct dump_value *a, const struct dump_value *b);
bool diff_same_sizes(const struct dump_value *a, const struct dump_value *b);
/* ALIKE_NUMBERS, ALIKE_SIZES: both were written, and have that in common. */
bool diff_wrote_alike(const struct diff *d, enum diff_alike how, const struct dump_value *a, const struct dump_value *b);

/* ---- diffrun.c ---- */

/* Runs the model, saved into a private folder, and gives its path. NULL: err, or a status. */
char *diff_run_now(const struct printer_options *o, const struct operands *in, int *status, struct err *err);

/* ---- diffgraph.c ---- */

/* A graph (o->diff) against the model or the dump of the operands: its values node by node, with float64's, against kernel by kernel. The
 * exit status; -1: err. */
int diff_graph(struct session *s, const struct operands *in, struct err *err);

/* ---- what is shown ---- */

void diff_show(struct screen *s, const struct diff *d, bool all);
void diff_document(struct json_out *o, const struct diff *d);
int diff_page(const struct diff *d, const char *path, struct err *err);

#endif
