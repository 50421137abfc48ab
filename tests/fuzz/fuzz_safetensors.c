/* Any bytes as a .safetensors: as they are, and as a header to which the length is put, with room behind it. */
#include "tensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf b = {0};
	tensors_of(slice_of((const char *)data, size));
	for (unsigned i = 0; i < 8; i++)
		buf_addc(&b, (char)((uint64_t)size >> 8 * i));
	buf_add(&b, data, size);
	for (size_t room = 0; room <= 8; room += 4) {
		tensors_of(buf_slice(&b));
		buf_add(&b, "\0\0\0", 4);
	}
	buf_release(&b);
	return 0;
}
