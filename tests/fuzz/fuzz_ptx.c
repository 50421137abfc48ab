/* Any bytes as PTX (tests/lib/ptx.h): what can be read can be run, in a little memory, for a while. */
#include "../lib/ptx.h"

#include <stdlib.h>
#include <string.h>

#define BASE 0x700000000000ull

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char memory[4096];

static bool find(void *user, uint64_t address, struct ptx_range *r)
{
	(void)user;
	*r = (struct ptx_range){BASE, sizeof(memory), memory};
	return address - BASE < sizeof(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ptx_error e;
	static uint64_t params[4096];
	struct ptx_module *m = ptx_read((const char *)data, size, &e);
	if (!m && !e.text[0])
		abort();
	for (size_t i = 0; i < sizeof(params) / 8; i++)
		params[i] = BASE + 8 * (i % 512);
	memset(memory, 0, sizeof(memory));
	for (size_t i = 0; m && ptx_kernel_at(m, i); i++) {
		struct ptx_launch l = {.grid = {2, 1, 1},
				       .block = {64, 1, 1},
				       .shared = 256,
				       .params = params,
				       .data_at = BASE,
				       .find = find,
				       .budget = 20000};
		const struct ptx_kernel *k = ptx_kernel_at(m, i);
		if (k->reqntid[0] && k->reqntid[0] <= 128)
			memcpy(l.block, k->reqntid, sizeof(l.block));
		if (k->param_bytes <= sizeof(params))
			ptx_run(k, &l);
	}
	ptx_free(m);
	return 0;
}
