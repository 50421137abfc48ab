/* Any bytes as the dump of a Flight Recorder, pickle or JSON: refused, or compared with itself as those of other ranks, and told. */
#include "run/ranks/ranks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const name[] = {"dump_0", "dump_1", "dump_2"};
	struct ranks all = {0};
	struct err err;
	for (unsigned i = 0; i < 3; i++) {
		struct flight f;
		/* The last dump lacks the end: a JSON or pickle that is cut is refused, so entries go. */
		if (flight_read(&f, slice_of((const char *)data, size), name[i], &err) < 0)
			continue;
		if (i == 2 && f.n_op)
			f.n_op--;
		if (i == 1 && f.n_op)
			f.op[f.n_op - 1].fp++;
		ranks_flight(&all, &f);
	}
	ranks_finish(&all);
	struct buf b = {0};
	struct json_out o = {.b = &b};
	json_obj(&o);
	ranks_desync_json(&o, &all);
	json_close(&o);
	struct json_tape t = {0};
	uint32_t root;
	json_tape_text(&t, b.p, b.len);
	if (json_parse(&t, 0, b.len, &root) < 0)
		abort();
	for (uint32_t i = 0; i < all.n_desync; i++)
		if (all.desync[i].flight >= all.n_flight || all.desync[i].op >= all.flight[all.desync[i].flight].n_op ||
		    (all.desync[i].cause != NONE && all.desync[i].cause >= all.n_desync))
			abort();
	json_tape_release(&t);
	buf_release(&b);
	ranks_release(&all);
	return 0;
}
