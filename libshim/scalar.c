/* scalar.c - one-element tensors and C++ numbers. */
#include "shim.h"

static void item(const struct aten_tensor *t, int dtype, void *ret)
{
	if (!t->storage || aten_numel(t) != 1)
		aten_fail("a tensor with %lld elements cannot be converted to a number", t->storage ? (long long)aten_numel(t) : 0LL);
	aten_convert(dtype, ret, 0, t->dtype, aten_data(t), 0, 1);
}

struct c64 {
	float re, im;
};
struct c128 {
	double re, im;
};

#define ITEM(name, id, type) SHIM_OP(aoti_torch_item_##name(AtenTensorHandle t, type *ret), item(t, DTYPE_##id, ret))
ITEM(float16, F16, uint16_t)
ITEM(bfloat16, BF16, uint16_t)
ITEM(float32, F32, float)
ITEM(float64, F64, double)
ITEM(uint8, U8, uint8_t)
ITEM(uint16, U16, uint16_t)
ITEM(uint32, U32, uint32_t)
ITEM(uint64, U64, uint64_t)
ITEM(int8, I8, int8_t)
ITEM(int16, I16, int16_t)
ITEM(int32, I32, int32_t)
ITEM(int64, I64, int64_t)
ITEM(bool, BOOL, bool)
ITEM(complex64, C64, struct c64)

static void scalar(int dtype, const void *v, AtenTensorHandle *ret)
{
	struct aten_tensor *t = aten_new(dtype, 0, NULL, NULL);
	memcpy(aten_data(t), v, (size_t)dtype_info(dtype)->bytes);
	SHIM_GIVE(ret, t);
}

#define SCALAR(name, id, type) \
	SHIM_OP(aoti_torch_scalar_to_tensor_##name(type value, AtenTensorHandle *ret), scalar(DTYPE_##id, &value, ret))
SCALAR(float32, F32, float)
SCALAR(float64, F64, double)
SCALAR(uint8, U8, uint8_t)
SCALAR(uint16, U16, uint16_t)
SCALAR(uint32, U32, uint32_t)
SCALAR(uint64, U64, uint64_t)
SCALAR(int8, I8, int8_t)
SCALAR(int16, I16, int16_t)
SCALAR(int32, I32, int32_t)
SCALAR(int64, I64, int64_t)
SCALAR(bool, BOOL, bool)
/* c10::complex<T> is a class with a constructor, but trivially copyable: passed as two numbers, like this. */
SCALAR(complex64, C64, struct c64)
SCALAR(complex128, C128, struct c128)
