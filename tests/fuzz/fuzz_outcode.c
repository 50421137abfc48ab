/* Any bytes as generated code, Python and C++: every list within the names, every text within the input. */
#include "graph/inductor/outcode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_list(const struct outcode *o, struct outlist l)
{
	if (l.n && l.first + l.n > o->n_name)
		abort();
}

static void check(const struct outcode *o, struct slice text)
{
	check_list(o, o->input);
	check_list(o, o->result);
	for (uint32_t i = 0; i < o->n_call; i++) {
		check_list(o, o->call[i].arg);
		check_list(o, o->call[i].made);
		check_list(o, o->call[i].notes.node);
		check_list(o, o->call[i].notes.source);
		if (o->call[i].kernel != NONE && o->call[i].kernel >= o->n_kernel)
			abort();
	}
	for (uint32_t i = 0; i < o->n_kernel; i++) {
		struct slice k = o->kernel[i].text;
		check_list(o, o->kernel[i].param);
		check_list(o, o->kernel[i].notes.node);
		if (k.n && (k.p < text.p || k.p + k.n > text.p + text.n))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice text = slice_of((const char *)data, size);
	struct outcode o;
	struct err err;
	outcode_read(&o, text);
	check(&o, text);
	outcode_release(&o);
	if (outcode_read_cpp(&o, text, SLICE(""), &err) == 0)
		check(&o, text);
	outcode_release(&o);
	return 0;
}
