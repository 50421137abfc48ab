/* aten.c - libcommon/core/aten for a test in Python (tests/live/aten_driver.py): its functions, exported. */
#include "aten/aten.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT const char *driver_overload(size_t i);
EXPORT struct aten_op *driver_find(const char *name, struct err *err);
EXPORT int driver_call(const struct aten_op *op, int shapes, const struct aten_value *args, size_t n, const struct aten_named *named,
		       size_t n_named, struct aten_value *results, struct err *err);
EXPORT struct aten_tensor *driver_tensor(void *data, int dtype, int n_dim, const int64_t *size, const int64_t *stride, int64_t offset);
EXPORT struct aten_tensor *driver_fake(int dtype, int n_dim, const int64_t *size, const int64_t *stride);
EXPORT void driver_release(struct aten_tensor *t);
EXPORT void driver_value_release(struct aten_value *v);
EXPORT uint32_t driver_results(const struct aten_op *op);

const char *driver_overload(size_t i) { return aten_overload(i); }

struct aten_op *driver_find(const char *name, struct err *err)
{
	struct aten_op *op = xcalloc(1, sizeof(*op));
	if (aten_find(op, slice_str(name), err) == 0)
		return op;
	free(op);
	return NULL;
}

int driver_call(const struct aten_op *op, int shapes, const struct aten_value *args, size_t n, const struct aten_named *named,
		size_t n_named, struct aten_value *results, struct err *err)
{
	struct aten_mode mode = {.shapes = shapes};
	return aten_call(op, &mode, args, n, named, n_named, results, err);
}

struct aten_tensor *driver_tensor(void *data, int dtype, int n_dim, const int64_t *size, const int64_t *stride, int64_t offset)
{
	struct aten_tensor *t = NULL;
	ATEN_TRY("tensor") { t = aten_keep(aten_of_blob(data, dtype, n_dim, size, stride, offset)); }
	return ATEN_END ? NULL : t;
}

struct aten_tensor *driver_fake(int dtype, int n_dim, const int64_t *size, const int64_t *stride)
{
	struct aten_tensor *t = NULL;
	ATEN_TRY("fake") { t = aten_keep(aten_fake(dtype, n_dim, size, stride)); }
	return ATEN_END ? NULL : t;
}

void driver_release(struct aten_tensor *t) { aten_release(t); }

void driver_value_release(struct aten_value *v) { aten_value_release(v); }

uint32_t driver_results(const struct aten_op *op) { return op->n_results; }
