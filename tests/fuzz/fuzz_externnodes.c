/* Any bytes as a package's list of proxy calls and, behind the first NUL byte, as an operator's schema. */
#include "model/cppwrapper/opschema.h"
#include "model/package/externnodes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void inside(struct slice s, struct slice text)
{
	if (s.n && (s.p < text.p || s.p + s.n > text.p + text.n))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data, *nul = size ? memchr(p, 0, size) : NULL;
	struct slice json = slice_of(p, nul ? (size_t)(nul - p) : size);
	struct extern_nodes x;
	struct op_schema s;
	struct err err;
	if (extern_nodes_read(&x, json, &err) == 0) {
		for (uint32_t k = 0; k < x.n; k++)
			if (x.node[k].in + x.node[k].n_in > x.n_value || x.node[k].out + x.node[k].n_out > x.n_value)
				abort();
		for (uint32_t i = 0; i < x.n_value; i++)
			if (x.value[i].item + x.value[i].n > x.n_item)
				abort();
		extern_targets(&x, EXTERN_ALL);
		extern_targets(&x, EXTERN_PYTHON);
		extern_targets(&x, EXTERN_FOREIGN);
		extern_nodes_release(&x);
	}
	struct slice text = nul ? slice_of(nul + 1, size - json.n - 1) : json;
	if (op_schema_read(&s, text, &err) < 0)
		return 0;
	for (uint32_t i = 0; i < s.n; i++) {
		inside(s.param[i].type, text);
		inside(s.param[i].name, text);
		inside(s.param[i].value, text);
	}
	op_schema_release(&s);
	return 0;
}
