/* dtype.h - element types and devices of tensors, with their names in every format.
 *
 *     enum dtype t = dtype_by_short(SLICE("bf16"));     // DTYPE_BF16, 15: torch's own number
 *     dtype_info(t)->name                                // "bfloat16"
 *     dtype_info(t)->aten                                // "at::kBFloat16", as in AOTI's messages
 *
 * The numbers are torch's (torch 2.15, torch/headeronly/core/ScalarType.h) and appear in AOTI's messages and its C ABI.
 */
#ifndef PT2_DTYPE_H
#define PT2_DTYPE_H
#include "base/base.h"

/* number, enum, bytes of an element, torch's name, short name, ATen's name, safetensors' name, npy's descr, storage class
 * of a .pt file. Empty: the format lacks it. */
/* clang-format off */
#define DTYPES(X) \
	X(0, U8, 1, "uint8", "u8", "at::kByte", "U8", "|u1", "ByteStorage") \
	X(1, I8, 1, "int8", "i8", "at::kChar", "I8", "|i1", "CharStorage") \
	X(2, I16, 2, "int16", "i16", "at::kShort", "I16", "<i2", "ShortStorage") \
	X(3, I32, 4, "int32", "i32", "at::kInt", "I32", "<i4", "IntStorage") \
	X(4, I64, 8, "int64", "i64", "at::kLong", "I64", "<i8", "LongStorage") \
	X(5, F16, 2, "float16", "f16", "at::kHalf", "F16", "<f2", "HalfStorage") \
	X(6, F32, 4, "float32", "f32", "at::kFloat", "F32", "<f4", "FloatStorage") \
	X(7, F64, 8, "float64", "f64", "at::kDouble", "F64", "<f8", "DoubleStorage") \
	X(8, C32, 4, "complex32", "c32", "at::kComplexHalf", "", "", "") \
	X(9, C64, 8, "complex64", "c64", "at::kComplexFloat", "C64", "<c8", "ComplexFloatStorage") \
	X(10, C128, 16, "complex128", "c128", "at::kComplexDouble", "", "<c16", "ComplexDoubleStorage") \
	X(11, BOOL, 1, "bool", "b8", "at::kBool", "BOOL", "|b1", "BoolStorage") \
	X(12, QI8, 1, "qint8", "qi8", "at::kQInt8", "", "", "QInt8Storage") \
	X(13, QU8, 1, "quint8", "qu8", "at::kQUInt8", "", "", "QUInt8Storage") \
	X(14, QI32, 4, "qint32", "qi32", "at::kQInt32", "", "", "QInt32Storage") \
	X(15, BF16, 2, "bfloat16", "bf16", "at::kBFloat16", "BF16", "", "BFloat16Storage") \
	X(23, F8E5M2, 1, "float8_e5m2", "f8e5m2", "at::kFloat8_e5m2", "F8_E5M2", "", "") \
	X(24, F8E4M3FN, 1, "float8_e4m3fn", "f8e4m3fn", "at::kFloat8_e4m3fn", "F8_E4M3", "", "") \
	X(25, F8E5M2FNUZ, 1, "float8_e5m2fnuz", "f8e5m2fnuz", "at::kFloat8_e5m2fnuz", "F8_E5M2FNUZ", "", "") \
	X(26, F8E4M3FNUZ, 1, "float8_e4m3fnuz", "f8e4m3fnuz", "at::kFloat8_e4m3fnuz", "F8_E4M3FNUZ", "", "") \
	X(27, U16, 2, "uint16", "u16", "at::kUInt16", "U16", "<u2", "") \
	X(28, U32, 4, "uint32", "u32", "at::kUInt32", "U32", "<u4", "") \
	X(29, U64, 8, "uint64", "u64", "at::kUInt64", "U64", "<u8", "") \
	X(44, F8E8M0FNU, 1, "float8_e8m0fnu", "f8e8m0fnu", "at::kFloat8_e8m0fnu", "F8_E8M0", "", "") \
	X(45, F4E2M1FN_X2, 1, "float4_e2m1fn_x2", "f4e2m1fnx2", "at::kFloat4_e2m1fn_x2", "", "", "") \
	X(46, BC32, 4, "bcomplex32", "bc32", "at::kBComplex32", "", "", "")
/* clang-format on */

enum dtype {
#define DTYPE_ENUM(num, id, bytes, name, s, aten, safe, npy, pt) DTYPE_##id = num,
	DTYPES(DTYPE_ENUM)
#undef DTYPE_ENUM
	    DTYPE_NONE = -1, /* unknown */
};

struct dtype_info {
	int number, bytes;
	const char *name, *brief, *aten, *safetensors, *npy, *storage;
};

/* NULL for an unknown number. */
const struct dtype_info *dtype_info(int number);
/* "float32", or "dtype 99". Static or thread-local text, valid until the next call in this thread. */
const char *dtype_name(int number);
/* Each returns DTYPE_NONE for an unknown name. dtype_by_name takes torch's name with or without "torch.". */
enum dtype dtype_by_name(struct slice name);
enum dtype dtype_by_short(struct slice name); /* also torch's and "b1", "f8e4m3" style spellings listed in dtype.c */
enum dtype dtype_by_safetensors(struct slice name);
enum dtype dtype_by_storage(struct slice name);
/* Signed and unsigned integers, and bool. */
static inline bool dtype_is_integer(int t)
{
	return t == DTYPE_BOOL || (t >= DTYPE_U8 && t <= DTYPE_I64) || (t >= DTYPE_U16 && t <= DTYPE_U64);
}

/* torch's DeviceType numbers (torch 2.13, torch/headeronly/core/DeviceType.h): what AOTI compares. */
/* clang-format off */
#define DEVICES(X) \
	X(0, "cpu") X(1, "cuda") X(2, "mkldnn") X(3, "opengl") X(4, "opencl") X(5, "ideep") X(6, "hip") X(7, "fpga") \
	X(8, "maia") X(9, "xla") X(10, "vulkan") X(11, "metal") X(12, "xpu") X(13, "mps") X(14, "meta") X(15, "hpu") \
	X(16, "ve") X(17, "lazy") X(18, "ipu") X(19, "mtia") X(20, "privateuseone")
/* clang-format on */
enum { DEVICE_CPU = 0, DEVICE_CUDA = 1, DEVICE_META = 14, DEVICE_NONE = -1 };
const char *device_name(int type); /* "cuda", or "device 99" */
int device_by_name(struct slice name);
/* "cuda:1" or "cuda" (index -1). -1 if it is not a device. */
int device_parse(struct slice text, int *type, int *index);

#endif
