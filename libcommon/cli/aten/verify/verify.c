#include "aten/verify/cut.h"

/* ---- calls ---- */

static void find_down(struct verify *v)
{
	const struct observed *o = v->o;
	v->words = (o->n_calls + 63) / 64;
	v->down = xcalloc(o->n_calls * v->words + 1, sizeof(*v->down));
	for (uint32_t c = o->n_calls; c-- > 0;) {
		uint64_t *row = v->down + c * v->words;
		for (uint32_t w = o->call[c].write; w < o->call[c].write + o->call[c].n_writes; w++)
			for (uint32_t k = 0; k < o->write[w].n_links; k++) {
				const uint32_t d = o->read[o->link[o->write[w].link + k]].call;
				if (d == NONE)
					continue;
				row[d / 64] |= UINT64_C(1) << d % 64;
				for (size_t i = 0; i < v->words; i++)
					row[i] |= v->down[d * v->words + i];
			}
	}
}

void verify_run(struct verify *v, struct observed *o, struct reference *ref)
{
	*v = (struct verify){.o = o, .ref = ref};
	v->read = xcalloc(o->n_reads + 1, sizeof(*v->read));
	v->write = xcalloc(o->n_writes + 1, sizeof(*v->write));
	v->row = xcalloc(o->n_calls + 1, sizeof(*v->row));
	v->questioned = xcalloc(o->n_calls + 1, sizeof(*v->questioned));
	v->effect = xcalloc(o->n_writes + 1, 1);
	for (uint32_t c = 0; c < o->n_calls; c++)
		v->row[c] = (struct verify_row){.node = NONE, .together = NONE};
	verify_index(v);
	for (uint32_t w = 0; w < o->n_writes; w++)
		v->write[w].expect = v->write[w].derived = NONE;
	for (uint32_t r = 0; r < o->n_reads; r++)
		v->read[r].expect = v->read[r].derived = NONE;
	find_down(v);
	verify_counters(v);
	v->taken = xcalloc(ref->n + 1, sizeof(*v->taken));
	v->replaced = xcalloc(ref->n + 1, sizeof(*v->replaced));
	verify_drawn(v);
	verify_unknown(v);
	verify_tf32(v);
	verify_outputs(v);
	verify_classify(v);
	verify_derive(v);
	verify_blame(v);
	verify_local(v);
	verify_conditions(v);
	verify_suspects(v);
}

void verify_borrow(struct verify *v, struct observed *o, struct reference *ref)
{
	*v = (struct verify){.o = o, .ref = ref};
	v->read = xcalloc(o->n_reads + 1, sizeof(*v->read));
	v->write = xcalloc(o->n_writes + 1, sizeof(*v->write));
	v->row = xcalloc(o->n_calls + 1, sizeof(*v->row));
	for (uint32_t c = 0; c < o->n_calls; c++)
		v->row[c] = (struct verify_row){.what = VERIFY_OPEN, .node = NONE, .together = NONE};
}

void verify_release(struct verify *v)
{
	for (uint32_t i = 0; v->read && i < v->o->n_reads; i++)
		free(v->read[i].m);
	for (uint32_t i = 0; v->write && i < v->o->n_writes; i++)
		free(v->write[i].m);
	for (uint32_t c = 0; v->row && c < v->o->n_calls; c++)
		free(v->row[c].why);
	free(v->read);
	free(v->write);
	free(v->row);
	free(v->finding);
	free(v->output);
	free(v->suspect);
	free(v->by_numel);
	free(v->group);
	free(v->down);
	free(v->questioned);
	free(v->taken);
	free(v->replaced);
	free(v->effect);
	cut_room_release(v);
	*v = (struct verify){0};
}
