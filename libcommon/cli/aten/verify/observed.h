/* observed.h - one observed Run of a compiled model: what its calls read and wrote, and which write a read belongs to.
 *
 *     struct observed o;
 *     if (observed_read(&o, &dump, id, 0, &err) < 0) ...                // Run 0 of a model (dump_call.model_id) of a dump (watch/dump.h)
 *     for (uint32_t c = 0; c < o.n_calls; c++)
 *         o.call[c].d->name, o.write[o.call[c].write + k].v->buffer ...
 *     observed_release(&o);                                             // then the dump
 *
 * A write belongs to its memory, by addresses: a read comes from the last writes that overlap its bytes, up to one that
 * covers them all. Names would work for whole buffers only: slices of a concatenation and views have their own names.
 *
 * The first writes belong to no call: they are the model's inputs. The reads of its outputs belong to no call: they follow the other reads.
 * Constants are neither.
 */
#ifndef PT2_VERIFY_OBSERVED_H
#define PT2_VERIFY_OBSERVED_H
#include "aten/verify/numbers.h"
#include "watch/dump.h"

struct observed_tensor {
	const struct dump_value *v;
	uint32_t call;     /* NONE: an input or an output of the model */
	uint64_t from, to; /* its bytes; both 0: unknown */
	/* The writes that a read comes from; the reads of a write. In o->link. */
	uint32_t link, n_links;
	uint32_t same;    /* of a read: the write that it covers exactly, whose x it shares; NONE */
	struct numbers x; /* x.v is NULL: not saved, or no numbers */
};
struct observed_call {
	const struct dump_call *d;
	bool compiled; /* a compiled kernel of the model; else an operator */
	uint32_t read, n_reads, write, n_writes;
};
struct observed {
	const struct dump *dump;
	const struct dump_call *run; /* NULL: not recorded */
	struct observed_call *call;
	struct observed_tensor *read, *write;
	uint32_t *link;
	uint32_t n_calls, n_reads, n_writes, n_links, cap_links;
	uint32_t n_inputs;                /* write[0 .. n_inputs) */
	uint32_t first_output, n_outputs; /* read[first_output ..) */
};

/* EXIT_INPUT: no such Run; EXIT_ENVIRON: a tensor's file cannot be read. */
int observed_read(struct observed *o, const struct dump *d, uint32_t model_id, uint32_t run, struct err *err);
/* Stores the inputs that the model was called with, as far as they were saved, in v (room for n); returns how many there
 * are. */
size_t observed_inputs(const struct dump *d, uint32_t model_id, uint32_t run, struct tensor_meta *v, size_t n);
void observed_release(struct observed *o);
/* Its numbers; a read that covers a write exactly has that one's. */
static inline const struct numbers *observed_numbers(const struct observed *o, const struct observed_tensor *t)
{
	return t->same == NONE ? &t->x : &o->write[t->same].x;
}

#endif
