/* tables.c - what is looked up in each call: the sites of all models, and a model's constants by their address. */
#include "ops.h"

struct ops_site ops_site[OPS_SITES];

static size_t address_slot(uintptr_t address, size_t cap) { return (address >> 4) * 0x9e3779b97f4a7c15ull >> 20 & (cap - 1); }

struct ops_constant *ops_find_constant(const struct ops *ops, uintptr_t address)
{
	struct ops_constants *t = atomic_load_explicit(&ops->constants, memory_order_acquire);
	struct ops_constant *c;
	if (!t || !address)
		return NULL;
	for (size_t i = address_slot(address, t->cap); (c = atomic_load_explicit(&t->slot[i], memory_order_acquire));
	     i = (i + 1) & (t->cap - 1))
		if (c->address == address)
			return c;
	return NULL;
}

static void put_constant(struct ops_constants *t, struct ops_constant *c)
{
	size_t i = address_slot(c->address, t->cap);
	struct ops_constant *there;
	while ((there = t->slot[i]) && there->address != c->address)
		i = (i + 1) & (t->cap - 1);
	t->n += !there;
	atomic_store_explicit(&t->slot[i], c, memory_order_release);
}

/* Readers hold no lock: what they may be reading stays until the model is unloaded. */
static bool grow_constants(struct ops *ops)
{
	struct ops_constants *old = ops->constants;
	size_t cap = old ? old->cap * 2 : 64;
	struct ops_constants *t = calloc(1, sizeof(*t) + cap * sizeof(t->slot[0]));
	if (!t)
		return false;
	t->cap = cap;
	t->older = old;
	for (size_t i = 0; old && i < old->cap; i++)
		if (old->slot[i])
			put_constant(t, old->slot[i]);
	atomic_store_explicit(&ops->constants, t, memory_order_release);
	return true;
}

void ops_learn_constant(struct ops *ops, void *data, int64_t n_dim, const int64_t *size, const int64_t *stride, int64_t offset,
			int32_t dtype, int32_t device, int32_t device_index)
{
	const struct dtype_info *d = dtype_info(dtype);
	if (!data || !d || n_dim < 0 || n_dim > TENSOR_MAX_DIMS)
		return;
	size_t dims = (size_t)n_dim;
	struct ops_constant *c = calloc(1, sizeof(*c) + 2 * dims * sizeof(int64_t));
	if (!c)
		return;
	c->address = (uintptr_t)data + (uintptr_t)(offset * d->bytes);
	c->dtype = dtype;
	c->device = device;
	c->device_index = device_index;
	c->n_dim = (int32_t)n_dim;
	if (dims) {
		memcpy(c->size, size, dims * sizeof(int64_t));
		memcpy(c->size + dims, stride, dims * sizeof(int64_t));
	}
	pthread_mutex_lock(&ops->lock);
	c->next = ops->all_constants;
	ops->all_constants = c;
	struct ops_constants *t = ops->constants;
	if ((t && t->n * 2 < t->cap) || grow_constants(ops))
		put_constant(ops->constants, c);
	pthread_mutex_unlock(&ops->lock);
}

void ops_forget_constants(struct ops *ops)
{
	for (struct ops_constants *t = ops->constants, *older; t; t = older) {
		older = t->older;
		free(t);
	}
	for (struct ops_constant *c = ops->all_constants, *next; c; c = next) {
		next = c->next;
		free(c);
	}
}
