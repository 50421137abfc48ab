/* Any bytes as generated code, and as its extern nodes: a contract whose indices are in range, or an error. What stands
 * behind the first NUL byte is the JSON. */
#include "model/contract/contract_check.h"
#include "model/cppwrapper/wrapper.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data, *nul = size ? memchr(p, 0, size) : NULL;
	size_t n = nul ? (size_t)(nul - p) : size;
	struct contract c = {0};
	struct err err;
	if (wrapper_read(&c, slice_of(p, n), slice_of(p, n), &err) < 0)
		return 0;
	if (nul)
		wrapper_name_proxies(&c, slice_of(nul + 1, size - n - 1), &err);
	if (contract_validate(&c, &err) < 0)
		abort();
	struct symbind env = {0};
	uint64_t bytes;
	uint32_t unknown;
	contract_bind_max(&c, &env);
	contract_peak(&c, &env, &bytes, &unknown);
	symbind_release(&env);
	contract_release(&c);
	return 0;
}
