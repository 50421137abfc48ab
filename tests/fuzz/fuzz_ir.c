/* Any bytes as IR text: bounds of every row, members after their parents. */
#include "graph/inductor/ir.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct irtext t;
	irtext_read(&t, slice_of((const char *)data, size));
	for (uint32_t i = 0; i < t.n_node; i++) {
		const struct irnode *n = &t.node[i];
		if ((n->parent != NONE && n->parent >= i) || n->write + n->n_writes > t.n_name || n->unmet + n->n_unmet > t.n_name ||
		    n->met + n->n_met > t.n_name || n->out + n->n_outs > t.n_out || n->op + n->n_ops > t.n_op ||
		    n->index + n->n_indexes > t.n_index || n->last < n->line)
			abort();
		irtext_outermost(&t, i);
	}
	for (uint32_t i = 0; i < t.n_op; i++) {
		struct slice rest = t.op[i].args, arg;
		while (irop_arg(&rest, &arg))
			ir_unquote(arg);
	}
	irtext_release(&t);
	return 0;
}
