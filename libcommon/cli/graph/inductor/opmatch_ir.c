/* opmatch_ir.c - operations of a kernel matched with those of the IR, by value numbers. */
#include "graph/inductor/opmatch.h"

struct numbering {
	struct intern keys;
	uint32_t *number; /* per operation: NONE, or the number of its value */
	struct buf key;
};

/* The position in the IR while the kernel's operations are numbered. Code is generated in the IR's order, so a line of unknown form where
 * exactly one operation is missing is that operation, if what uses its value matches then, too. */
struct gap {
	const struct opseq *ir;
	const uint32_t *number;
	const uint32_t *first;  /* per number: operation of the IR + 1 */
	uint32_t n_numbers, at; /* operations of the IR up to here were matched */
};

static uint32_t gap_number(const struct gap *gap)
{
	for (uint32_t i = gap->at; i < gap->ir->n_op && i < gap->at + 8; i++)
		if (gap->ir->op[i].kind == OP_CALC || gap->ir->op[i].kind == OP_REDUCE)
			return gap->number[i];
	return NONE;
}

static uint32_t number_of(struct numbering *v, const struct opseq *s, uint32_t i, const struct outcode *storage)
{
	const struct seqop *o = &s->op[i];
	bool memory = o->kind == OP_LOAD || o->kind == OP_STORE;
	struct slice buffer = memory && storage ? outcode_storage(storage, o->buffer) : o->buffer;
	buf_reset(&v->key);
	buf_addf(&v->key, "%u %.*s %.*s", o->kind, SL(o->name), SL(memory ? buffer : SLICE("")));
	if (o->kind == OP_CONST)
		buf_addf(&v->key, " %.9g", o->number);
	for (uint32_t k = 0; k < o->n_args && o->kind != OP_LOAD; k++) {
		uint32_t a = opseq_value(s, s->arg[o->arg + k]), n = a == NONE || a >= i ? NONE : v->number[a];
		if (n == NONE)
			return NONE;
		buf_addf(&v->key, " %u", n);
	}
	return intern_add(&v->keys, buf_slice(&v->key));
}

static void number_ops(struct numbering *v, const struct opseq *s, const struct outcode *storage, struct gap *gap)
{
	v->number = xcalloc(s->n_op + 1, sizeof(*v->number));
	for (uint32_t i = 0; i < s->n_op; i++) {
		const struct seqop *o = &s->op[i];
		v->number[i] = NONE;
		if (o->kind == OP_ALIAS) {
			uint32_t of = opseq_value(s, i);
			v->number[i] = of == NONE || of >= i ? NONE : v->number[of];
		} else if (gap && o->kind == OP_CALC && slice_is(o->name, "?") && o->result.n) {
			v->number[i] = gap_number(gap);
		} else if (o->kind != OP_NOTE) {
			v->number[i] = number_of(v, s, i, storage);
		}
		if (gap && v->number[i] < gap->n_numbers && (o->kind == OP_CALC || o->kind == OP_REDUCE) &&
		    gap->first[v->number[i]] > gap->at)
			gap->at = gap->first[v->number[i]];
	}
	/* A line was taken for the missing operation, but nothing that uses it matches: undo that. */
	for (uint32_t i = 0; gap && i < s->n_op; i++) {
		bool used = false;
		if (!slice_is(s->op[i].name, "?") || v->number[i] >= gap->n_numbers)
			continue;
		for (uint32_t j = i + 1; j < s->n_op && j < i + 512 && !used; j++)
			for (uint32_t k = 0; k < s->op[j].n_args && s->op[j].kind != OP_ALIAS && s->op[j].kind != OP_NOTE; k++)
				used |= opseq_value(s, s->arg[s->op[j].arg + k]) == i && v->number[j] < gap->n_numbers;
		if (!used)
			v->number[i] = NONE;
	}
}

void opmatch_ir(struct opmatch *m, const struct opseq *kernel, const struct opseq *ir, const struct outcode *storage)
{
	struct numbering v = {0};
	uint32_t *first, *ir_number;
	number_ops(&v, ir, storage, NULL);
	ir_number = v.number;
	uint32_t n_numbers = v.keys.n;
	/* Several nodes may compute the same: take the first at or after the previous line's. */
	first = xcalloc(n_numbers + 1, sizeof(*first));
	FREED uint32_t *next = xcalloc(ir->n_op + 1, sizeof(*next));
	for (uint32_t i = ir->n_op; i-- > 0;)
		if (ir_number[i] != NONE && ir->op[i].kind != OP_ALIAS) {
			next[i] = first[ir_number[i]];
			first[ir_number[i]] = i + 1;
		}
	struct gap gap = {.ir = ir, .number = ir_number, .first = first, .n_numbers = n_numbers};
	number_ops(&v, kernel, storage, &gap);
	uint32_t at_node = 0;
	for (uint32_t i = 0; i < kernel->n_op; i++) {
		m[i].ir = NONE;
		if (v.number[i] >= n_numbers)
			continue;
		uint32_t best = NONE, hops = 64;
		for (uint32_t k = first[v.number[i]]; k && hops--; k = next[k - 1])
			if (best == NONE || (ir->op[best].node < at_node && ir->op[k - 1].node >= at_node))
				best = k - 1;
		m[i].ir = best;
		if (best != NONE && kernel->op[i].kind == OP_STORE)
			at_node = ir->op[best].node;
	}
	free(first);
	free(ir_number);
	free(v.number);
	intern_release(&v.keys);
	buf_release(&v.key);
}
