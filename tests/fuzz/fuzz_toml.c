/* Any bytes as TOML: keys and texts are within bounds, and strings are UTF-8. */
#include "base/json.h"
#include "base/toml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int take(void *ctx, const struct toml_value *v, struct err *err)
{
	size_t *n = ctx;
	(void)err;
	if (!v->n_key || v->n_key > TOML_KEYS || !v->line || (v->type == TOML_STRING && !utf8_valid(v->text)))
		abort();
	for (unsigned i = 0; i < v->n_key; i++)
		*n += v->key[i].n;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err;
	uint32_t line;
	size_t n = 0;
	toml_read(slice_of((const char *)data, size), take, &n, &line, &err);
	return 0;
}
