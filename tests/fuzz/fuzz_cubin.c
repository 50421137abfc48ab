/* What the probe reads of ELF files of CUDA: parameters of a kernel in a cubin or a fat binary, the symbol of a function in a model. */
#include "base/buf.h"

#include "../../libprobe/cuda_elf.c"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	const struct slice bytes = slice_of((const char *)p, n);
	uint16_t size[8];
	char name[32];
	for (uint64_t address = 0; address < 64; address += 4)
		if (cuda_symbol_at(bytes, address, name, sizeof(name)) && (!*name || strlen(name) >= sizeof(name)))
			__builtin_trap();
	if (cuda_params_of_image(bytes, "triton_poi_fused_add_0", size, 8) > 8)
		__builtin_trap();
	return 0;
}
