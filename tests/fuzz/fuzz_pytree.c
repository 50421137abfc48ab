/* Any bytes as a pytree spec, of a call and of outputs: each path is found by its own name. */
#include "model/contract/pytree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice spec = slice_of((const char *)data, size);
	for (int call = 0; call < 2; call++) {
		struct arena a = {0};
		struct slice *paths;
		uint32_t n;
		struct err err;
		if (pytree_paths(&a, spec, call, &paths, &n, &err) == 0)
			for (uint32_t i = 0; i < n; i++) {
				if (!pytree_path_matches(paths[i], paths[i]))
					abort();
				pytree_path_matches(paths[i], spec);
				pytree_path_matches(spec, paths[i]);
			}
		arena_release(&a);
	}
	return 0;
}
