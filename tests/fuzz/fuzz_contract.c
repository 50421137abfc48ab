/* A contract's JSON, as it comes from a child that ran untrusted code: read, used, written, read again. */
#include "model/check/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct contract c, again;
	if (contract_from_json(&c, slice_of((const char *)data, size), NULL) < 0)
		return 0;
	struct buf b = {0};
	struct json_out o = {.b = &b};
	contract_to_json(&c, &o);
	if (contract_from_json(&again, buf_slice(&b), NULL) < 0)
		abort();
	struct comparison compared;
	contract_compare(&c, &again, &compared);
	comparison_release(&compared);
	struct symbind env = {0};
	uint64_t peak;
	contract_bind_max(&c, &env);
	contract_peak(&c, &env, &peak, NULL);
	struct tensor_meta in[2] = {{.dtype = 6, .n_dim = 2, .size = {3, 8}, .stride = {8, 1}},
				    {.dtype = 4, .n_dim = 1, .size = {6}, .stride = {1}}};
	struct check k = {0};
	check_inputs(&k, &c, in, 2);
	check_release(&k);
	symbind_release(&env);
	buf_release(&b);
	contract_release(&again);
	contract_release(&c);
	return 0;
}
