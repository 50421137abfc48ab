/* Any bytes as an .npy or .npz. */
#include "tensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	tensors_of(slice_of((const char *)data, size));
	return 0;
}
