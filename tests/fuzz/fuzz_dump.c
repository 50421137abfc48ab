/* Any bytes as the index of a folder of saved tensors. */
#include "watch/dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dump d;
	struct err err;
	struct buf b = {0};
	buf_adds(&b, "{\"dump\": 1}\n");
	buf_add(&b, data, size);
	for (int i = 0; i < 2; i++) {
		struct slice text = i ? buf_slice(&b) : slice_of((const char *)data, size);
		if (dump_read(&d, text, "x", &err) == 0)
			dump_close(&d);
	}
	buf_release(&b);
	return 0;
}
