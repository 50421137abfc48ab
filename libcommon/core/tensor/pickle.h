/* pickle.h - reads Python pickles as written by torch.save, with a closed set of opcodes and globals.
 *
 *     struct pickle p;
 *     if (pickle_read(&p, bytes, "x.pt", &err) < 0) ...        // "refuses global 'os.system': ..."
 *     const struct pickle_node *top = pickle_node(&p, p.top);
 *     if (top->kind == PICKLE_DICT)
 *         for (uint32_t i = 0; i + 1 < top->n; i += 2)
 *             pickle_node(&p, top->item[i]) is a key, [i + 1] its value
 *     pickle_release(&p);
 *
 * Nothing is executed: a pickle is a program for a stack machine, and this machine can only create values. It accepts the opcodes of
 * protocol 2 (torch.save's default) and their equivalents in 3 to 5, and these globals:
 *   torch._utils: _rebuild_tensor_v2, _rebuild_tensor_v3, _rebuild_parameter, _rebuild_parameter_with_state,
 *     _rebuild_meta_tensor_no_storage; torch._tensor._rebuild_from_type_v2 of those, for torch.Tensor and Parameter
 *   torch.FloatStorage and its like, torch.storage.UntypedStorage, torch.float32 and its like
 *   torch.Size, torch.device, collections.OrderedDict
 *   builtins (__builtin__): set, frozenset, bytes, bytearray, complex; _codecs.encode, protocol 2's form of bytes
 *   torch._utils._rebuild_wrapper_subclass: a tensor subclass (torchao's Int8Tensor) is a dict of its attributes; in a stream that has one,
 *     any other global is a name without meaning, and what it is called for, or an object of that class, is a value without tensors
 * Any other global is refused by name. Sources: torch 2.13 torch/_utils.py, torch/_tensor.py, torch/serialization.py; the opcodes are
 * those of CPython's Lib/pickletools.py.
 *
 * pickle_read_objects() reads pickles with objects of any class, such as torch.compile's caches: a global is just a name, and a call of it
 * is a PICKLE_OBJECT of that name with its arguments and state. The class itself is neither known nor loaded:
 *
 *     node->item[0] the global, or NONE; [1] its arguments; then states and added items, in stream order
 *
 * Untrusted: no recursion; memory is bounded by a multiple of the stream's length; values may refer to one another in cycles (a list in
 * itself), which code that walks them must handle. All memory is the pickle's; slices point into the stream.
 */
#ifndef PT2_PICKLE_H
#define PT2_PICKLE_H
#include "base/arena.h"
#include "tensor/tensor.h"

#define PICKLE_MAX (64u << 20) /* bytes of a stream; tensors' data is not in it */

enum pickle_kind {
	PICKLE_NONE,
	PICKLE_BOOL,  /* i */
	PICKLE_INT,   /* i */
	PICKLE_FLOAT, /* f */
	PICKLE_STR,   /* s, n */
	PICKLE_BYTES, /* s, n: if created by _codecs.encode, the text */
	PICKLE_TUPLE, /* item, n; torch.Size too */
	PICKLE_LIST,
	PICKLE_SET,
	PICKLE_DICT, /* item, n: key, value, key, value, ...; OrderedDict too */
	PICKLE_STORAGE,
	PICKLE_TENSOR, /* Parameter too */
	PICKLE_GLOBAL, /* i: pickle.c's own */
	PICKLE_OTHER,  /* a value that cannot hold tensors: complex, device, an int of more than 64 bits */
	PICKLE_NAME,   /* pickle_read_objects: a global; item: module and name, two texts */
	PICKLE_OBJECT, /* the same: item, n as above */
};

struct pickle_storage {
	int dtype;                  /* DTYPE_NONE: UntypedStorage */
	struct slice key, location; /* "0" (the member ROOT/data/0), "cuda:0" */
	int64_t numel;              /* of an UntypedStorage: bytes */
};

struct pickle_tensor {
	const struct pickle_storage *storage; /* NULL: a meta tensor without one */
	int64_t offset;                       /* in elements */
	uint32_t size, stride;                /* tuples, checked: see pickle_tensor_meta */
	int dtype, device, device_index;
	bool lazy; /* a view that conjugates or negates when read */
};

struct pickle_node {
	uint8_t kind;
	uint32_t n, cap;
	union {
		int64_t i;
		double f;
		const char *s;
		uint32_t *item;
		const struct pickle_storage *storage;
		const struct pickle_tensor *tensor;
	};
};

struct pickle {
	const char *path; /* for messages */
	struct slice bytes;
	size_t at, op; /* the next byte, the current opcode's */
	struct pickle_node *node;
	uint32_t *stack, *mark, *memo;
	uint32_t n_node, cap_node, n_stack, cap_stack, n_mark, cap_mark, n_memo;
	uint32_t memo_next; /* for MEMOIZE */
	uint32_t top;
	uint64_t room; /* items of all containers together */
	bool objects;  /* pickle_read_objects */
	bool wrappers; /* a tensor subclass has been named */
	struct arena arena;
	struct err *err;
};

int pickle_read(struct pickle *p, struct slice bytes, const char *path, struct err *err);
int pickle_read_objects(struct pickle *p, struct slice bytes, const char *path, struct err *err);
void pickle_release(struct pickle *p);
/* The value of a text key in a dict or an object's state; or NONE. */
uint32_t pickle_member(const struct pickle *p, uint32_t dict, const char *key);
/* Sizes that are not negative, and whose numel and extent fit. */
void pickle_tensor_meta(const struct pickle *p, const struct pickle_tensor *t, struct tensor_meta *m);
static inline const struct pickle_node *pickle_node(const struct pickle *p, uint32_t i) { return &p->node[i]; }
static inline struct slice pickle_text(const struct pickle_node *n) { return slice_of(n->s, n->n); }

/* Shared by pickle.c (the machine) and pickle_call.c (the meaning of its globals). */
int pickle_fail(struct pickle *p, const char *fmt, ...) PRINTF_LIKE(2, 3);
uint32_t pickle_new(struct pickle *p, enum pickle_kind kind);
int pickle_add(struct pickle *p, uint32_t container, const uint32_t *item, uint32_t n);
/* Each creates a node: the global itself, a call of it, a persistent id (torch's storages). */
int pickle_global(struct pickle *p, struct slice module, struct slice name, uint32_t *out);
int pickle_call(struct pickle *p, uint32_t func, uint32_t args, uint32_t *out);
int pickle_persistent(struct pickle *p, uint32_t id, uint32_t *out);

#endif
