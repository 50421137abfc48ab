/* Any bytes as a package's kernel_information.json, and as the name of a kernel. */
#include "watch/nan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nan_sources s = {0};
	struct err err;
	struct slice text = slice_of((const char *)data, size), op[8];
	nan_ops_of_name(text, op, ARRAY_LEN(op));
	if (nan_sources_json(&s, text, "x", &err) == 0 && s.n) {
		struct nan_finding f = {.call = {.c = {.name = s.kernel[s.n - 1].name}}};
		nan_sources_apply(&s, &f);
	}
	nan_sources_release(&s);
	return 0;
}
