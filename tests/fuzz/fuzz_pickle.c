/* Any bytes as a pickle, of tensors and of objects, alone and as the data.pkl of a .pt with one storage of 64 bytes; and as a whole .pt. */
#include "tensor/pickle.h"
#include "tensors.h"
#include "../lib/mkzip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void whole(const struct pickle *p)
{
	for (uint32_t i = 0; i < p->n_node; i++) {
		const struct pickle_node *n = pickle_node(p, i);
		bool items = n->kind == PICKLE_TUPLE || n->kind == PICKLE_LIST || n->kind == PICKLE_SET || n->kind == PICKLE_DICT ||
			     n->kind == PICKLE_NAME || n->kind == PICKLE_OBJECT;
		tensors_require(n->kind <= PICKLE_OBJECT && (n->kind < PICKLE_NAME || p->objects) &&
				(n->kind != PICKLE_OBJECT || n->n >= 2) && (n->kind != PICKLE_DICT || n->n % 2 == 0));
		for (uint32_t k = 0; items && k < n->n; k++)
			tensors_require(n->item[k] < p->n_node || (n->kind == PICKLE_OBJECT && !k && n->item[k] == NONE));
		if ((n->kind == PICKLE_STR || n->kind == PICKLE_BYTES) && n->n)
			tensors_require(n->s >= p->bytes.p && n->s + n->n <= p->bytes.p + p->bytes.n);
	}
	tensors_require(p->top < p->n_node);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char zeros[64];
	struct slice bytes = slice_of((const char *)data, size);
	struct pickle p;
	struct err err;
	if (pickle_read_objects(&p, bytes, "fuzz", &err) == 0) {
		whole(&p);
		pickle_release(&p);
	}
	if (pickle_read(&p, bytes, "fuzz", &err) == 0) {
		struct mkzip z = {0};
		whole(&p);
		pickle_release(&p);
		mkzip_add(&z, "a/data.pkl", bytes, 0);
		mkzip_add(&z, "a/data/0", slice_of(zeros, sizeof(zeros)), 0);
		mkzip_end(&z);
		tensors_of(buf_slice(&z.b));
		mkzip_release(&z);
	}
	tensors_of(bytes);
	return 0;
}
