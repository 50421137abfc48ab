/* operands.h - maps operands of a command line to inputs of a model.
 *
 *     struct given g;
 *     if (given_read(&g, &contract, operands, n, &err) < 0) ...        // EXIT_USAGE: unknown names, too many
 *     g.meta[i], g.from[i] ...                                         // n_dim -1, NULL: no operand for this input
 *     if (given_data(&g, i, &data, &err) < 0) ...                      // its bytes, unless a spec was given
 *     given_release(&g);
 *
 * An operand is a file (.npy .npz .safetensors .pt), one tensor of it (FILE:KEY), either with @device, or a spec
 * (f32[8,10]). NAME=OPERAND says which input it is: a path in the call's structure (args[0].x, kwargs.mask, x), the graph's
 * own name (arg4_1), or an index; others fill the remaining inputs, in order. The keys of a file of several tensors are names.
 * forward()'s names are known only where contract_input.alias has them: tools read operands through names_given() (watch/names.h).
 */
#ifndef PT2_OPERANDS_H
#define PT2_OPERANDS_H
#include "model/contract/contract.h"

struct given {
	struct tensor_meta *meta; /* one per input; n_dim -1: missing */
	size_t n;
	char **from; /* the operand: "batch.npz:x", "f32[8,10]"; NULL */
	struct given_source {
		struct tensor_file *file; /* NULL for a spec */
		size_t index;
	} * source;
	struct tensor_file **file;
	size_t n_file, cap_file;
	bool unknown;   /* it failed at a name that no input has */
	size_t n_extra; /* given_read_all(): operands beyond the inputs, in meta[n ..] */
};

int given_read(struct given *g, const struct contract *c, const char *const *operands, int n, struct err *err);
/* The same, but too many operands do not fail: check_inputs() of all n + n_extra of them reports their number. */
int given_read_all(struct given *g, const struct contract *c, const char *const *operands, int n, struct err *err);
int given_data(struct given *g, size_t input, struct slice *data, struct err *err);
void given_release(struct given *g);
/* "args[0] (arg4_1)", "arg4_1": the name of an input in messages. */
void add_input_name(struct buf *b, const struct contract *c, uint32_t input);

#endif
