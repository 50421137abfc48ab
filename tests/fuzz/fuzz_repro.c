/* Any bytes as a program that runs one graph, an exported program, a stored input; what is read is written in both styles. */
#include "graph/repro/repro.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_all_styles(const struct repro *r)
{
	struct buf b = {0};
	struct err err;
	repro_text(r, &(struct repro_program){.style = REPRO_LAUNCHER, .no_seed = !r->has_seed, .seed = r->seed}, &b, &err);
	buf_reset(&b);
	repro_text(r, &(struct repro_program){.style = REPRO_ALONE, .inline_max = 64}, &b, &err);
	buf_release(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice text = slice_of((const char *)data, size);
	struct repro r = {0};
	struct repro_bytes s = {0};
	struct err err;
	if (size && data[0] == 'P') { /* a zip */
		repro_bytes_read(&s, text, "storage", &err);
		repro_bytes_close(&s);
	}
	if (repro_read(&r, text, "fuzz.py", &err) == 0)
		write_all_styles(&r);
	repro_release(&r);
	return 0;
}
