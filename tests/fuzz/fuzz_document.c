/* Any bytes as a document of --json: refused, or rows that lead somewhere, that can be counted, explained and written again. */
#include "run/diagnose/finding.h"
#include "run/document.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct facts f;
	struct json_tape t = {0};
	struct err err;
	struct buf b = {0};
	uint32_t root;
	facts_init(&f);
	if (document_open(&t, slice_of((const char *)data, size), "x", NULL, &root, &err) == 0 &&
	    document_read(&f, &t, root, "x", &err) == 0) {
		struct explanation x;
		struct json_out o = {.b = &b};
		explain(&x, &f);
		json_obj(&o);
		document_head(&o, "tlparse", &f);
		document_summary(&o, &f, NONE);
		json_close(&o);
		explain_out(&x, &o, size % 2);
		document_rows(&o, &f);
		json_close(&o);
		explanation_release(&x);
		if (!utf8_valid(buf_slice(&b)) || document_open(&t, buf_slice(&b), "y", "tlparse", &root, &err) < 0)
			abort();
	}
	json_tape_release(&t);
	facts_release(&f);
	buf_release(&b);
	return 0;
}
