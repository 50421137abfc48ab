/* Any bytes as the index of a bundle: what it names lies inside of the bundle's folder, and its tensors are of a size that can be. */
#include "watch/watch_part.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char folder[] = "bundle.m0.r1";

static void inside(const char *path, const char *below)
{
	char head[64];
	size_t n = (size_t)snprintf(head, sizeof(head), "%s/%s", folder, below);
	if (strncmp(path, head, n) || !path[n] || path[n] == '.' || strchr(path + n, '/'))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct watch_bundle b;
	struct err err = {0};
	if (watch_bundle_read(&b, slice_of((const char *)data, size), folder, "bundle.json", &err) < 0) {
		if (err.status != EXIT_INPUT || !err.text[0])
			abort();
		return 0;
	}
	if (b.n > CONTRACT_MAX_INPUTS || strcmp(b.folder, folder))
		abort();
	if (!b.library && !b.program)
		abort();
	if (b.library) /* of a graph of torch.compile there is its program */
		inside(b.library, "model/");
	if (b.program)
		inside(b.program, "model/");
	for (size_t i = 0; i < b.n; i++) {
		const struct tensor_meta *m = &b.input[i].meta;
		if (b.input[i].file) /* else a number */
			inside(b.input[i].file, "");
		if (m->n_dim < 0 || m->n_dim > TENSOR_MAX_DIMS)
			abort();
		for (int d = 0; d < m->n_dim; d++)
			if (m->size[d] < 0)
				abort();
	}
	watch_bundle_close(&b);
	return 0;
}
