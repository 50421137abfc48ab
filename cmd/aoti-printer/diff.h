/* diff.h - compares two dumps, call by call. Calls of the same model and run are matched by what their kernel or operator computes and by
 * order (base/linediff.h), also if one side was compiled for another device; tensors by the names of their buffers (on one device), then
 * by their position in the call. Between builds in two floating-point types, what rounding explains is not a difference (diffround.c).
 * diffgraph.c compares a graph with what kernels wrote, using aten/verify/pair.h. */
#ifndef PRINTER_DIFF_H
#define PRINTER_DIFF_H
#include "base/json.h"
#include "base/tool/screen.h"
#include "watch/dump.h"
#include "printer.h"
#include "tensor/close.h"

/* DIFF_OTHER: on two devices, of an operator that one side gave something else (a bias that the other adds in a later call): the values
 * differ, and the run ends with the same result all the same. */
enum diff_what { DIFF_SAME, DIFF_VALUES, DIFF_SIZES, DIFF_DTYPE, DIFF_ONLY_A, DIFF_ONLY_B, DIFF_UNSAVED, DIFF_OTHER };
struct diff_value {
	const struct dump_value *a, *b; /* NULL: only the other side has it */
	enum diff_what what;
	struct tensor_close close;
	int64_t index[TENSOR_MAX_DIMS]; /* of the worst element */
	int n_index;
	double allowed; /* with two types: the limit of .close.rms */
};
/* Why calls on two devices match although their names are only similar: they wrote the same numbers or, if the results differ, tensors of
 * the same sizes. Only such tensors are compared. */
enum diff_alike { ALIKE_NAME, ALIKE_NUMBERS, ALIKE_SIZES };
struct diff_row {
	const struct dump_call *a, *b;
	size_t value;
	uint32_t n_values, compared;
	bool in_differs, out_differs;
	bool origin;  /* what it reads agrees, what it wrote does not: the difference starts here */
	bool outputs; /* of a run: the model's outputs were compared */
	bool devices; /* the two sides are for two devices, or in two types: */
	enum diff_alike alike;
	bool
	    /* one side only, or what it wrote is, but not a difference: both end with the same result, so the other side computes it in
	     * other calls */
	    elsewhere,
	    parted;       /* on two devices: a tensor that it wrote is on one side only, or DIFF_OTHER */
	bool nodes;       /* one side is a graph run node by node: */
	uint32_t pair[2]; /* which of each call's values are paired */
};
struct diff {
	struct dump a, b;
	const char *name[2];
	bool live; /* b was run now: what a lacks is not a difference */
	struct diff_row *row;
	struct diff_value *value;
	size_t n_rows, cap_rows, n_values, cap_values;
	size_t first;                                                /* row of the first difference, SIZE_MAX */
	size_t only[2], both, compared, differing, origins, unsaved; /* calls on one side, on both; tensors */
	struct close_options how;
	int type[2];      /* the floating-point type of most of a side's tensors */
	bool two_types;   /* the two differ: what rounding explains is not a difference (diffround.c) */
	bool two_devices; /* CPU and GPU: the same */
	bool nodes;       /* one side ran node by node, the other as kernels (diffnodes.c): likewise */
	bool different;
	bool cut; /* by a GPU error, recorded by a side (dump.h, .failed) */
};

/* d->a, d->b are read; filter: which calls and buffers. */
int diff_run(struct diff *d, const struct filter *f, struct err *err);
void diff_release(struct diff *d);
/* The name of a kernel or op without numbering and device shows what the call computes: cpp_fused_relu_12 and triton_poi_fused_relu_0 are
 * "fused_relu", aoti_torch_cpu_mm_out and aoti_torch_cuda_mm_out "mm_out". Other compilations number differently, and for another device.
 * *device: the length of the device prefix. */
struct slice diff_computes(struct slice name, size_t *device);
static inline const struct dump_call *diff_call(const struct diff_row *r) { return r->a ? r->a : r->b; }
/* How many rows from this one on belong to its model and run? */
size_t diff_run_rows(const struct diff *d, size_t row);
static inline const struct dump_value *diff_any(const struct diff_value *v) { return v->a ? v->a : v->b; }

/* Compares the two tensors of v, both of which are saved. */
int diff_compare(struct diff *d, struct diff_value *v, struct close_options how, struct err *err);

/* ---- diffround.c ---- */

/* Are they builds in two floating-point types? Sets d->type. */
bool diff_two_types(struct diff *d);
bool diff_two_devices(const struct diff *d);
/* After all pairs were compared: which differ by more than the types explain? */
int diff_judge_rounding(struct diff *d, struct err *err);
/* Is it a product that may have been computed in TF32 on a side? */
bool diff_is_product(const struct diff_row *r);

/* ---- diffnodes.c ---- */

struct diff_calls {
	const struct dump_call **v;
	size_t n;
};
/* Is it a call of a graph run node by node? */
bool diff_is_nodes(const struct dump_call *c);
/* Makes rows for a run of a graph, compiled on one side and node by node on the other. */
void diff_pair_nodes(struct diff *d, const struct diff_calls *a, const struct diff_calls *b);
void diff_match_nodes(struct diff *d, size_t row);
/* After all pairs were compared: a kernel's output that is not any node's is not a difference. */
void diff_settle_nodes(struct diff *d);
struct diff_row *diff_add_row(struct diff *d, const struct dump_call *a, const struct dump_call *b);
struct diff_value *diff_add_value(struct diff *d, struct diff_row *r, const struct dump_value *a, const struct dump_value *b);

/* ---- diffdevices.c ---- */

/* Going by the names, does b compute everything that a does? fused_relu, fused_addmm_relu. */
bool diff_covers(const struct dump_call *a, const struct dump_call *b);

/* Rows from this one on are one run on two devices: pairs one-sided rows by the numbers that they wrote. */
void diff_pair_devices(struct diff *d, size_t from);
/* After all pairs were compared: is the rest of each run computed elsewhere? If not, pairs it by sizes, and these rows are to be
 * compared. */
void diff_settle_devices(struct diff *d);
/* After they were judged: makes the results of products that differ DIFF_OTHER, with what reads them. Returns what the values were, for
 * diff_keep_others; NULL if there is none. To be concluded again. */
enum diff_what *diff_try_others(struct diff *d);
/* Undoes that in each run that does not end with the same result now; frees `was`. */
void diff_keep_others(struct diff *d, enum diff_what *was);
/* The tensors have the same sizes and similar values: within the tolerance for one type, roughly for two. */
bool diff_same_numbers(const struct diff *d, const struct dump_value *a, const struct dump_value *b);
bool diff_same_sizes(const struct dump_value *a, const struct dump_value *b);
/* ALIKE_NUMBERS, ALIKE_SIZES: both were written, and match in that respect. */
bool diff_wrote_alike(const struct diff *d, enum diff_alike how, const struct dump_value *a, const struct dump_value *b);

/* ---- diffrun.c ---- */

/* Runs the model, saves its tensors in a private folder, and returns its path. NULL: err, or a status. */
char *diff_run_now(const struct printer_options *o, const struct operands *in, int *status, struct err *err);

/* ---- diffgraph.c ---- */

/* Compares a graph (o->diff) with the model or dump in the operands: its values node by node, also in float64, with those of the kernels.
 * Returns the exit status; -1: err. */
int diff_graph(struct session *s, const struct operands *in, struct err *err);

/* ---- output ---- */

void diff_show(struct screen *s, const struct diff *d, bool all);
void diff_document(struct json_out *o, const struct diff *d);
int diff_page(const struct diff *d, const char *path, struct err *err);

#endif
