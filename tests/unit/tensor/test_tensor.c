/* tensor: dtypes, devices, specs, and the files .npy, .npz and .safetensors. */
#include "../../lib/test.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../../lib/mkzip.h"
#include "tensor/tensor.h"

static struct guard g;

static struct tensor_file *open_bytes(struct slice b, struct err *err)
{
	return tensor_file_bytes(slice_of(guard_put(&g, b.p, b.n), b.n), "t", err);
}

static void refused(struct slice b, const char *why)
{
	struct err err = {0};
	struct tensor_file *f = open_bytes(b, &err);
	if (f)
		fail_msg("read, though it should be refused with '%s'", why);
	if (!strstr(err.text, why) || !slice_starts(slice_str(err.text), "'t': ") || err.status != EXIT_INPUT)
		fail_msg("'%s' has no '%s'", err.text, why);
}

/* Tensor i of a file: its name, spec and number of bytes. */
static void is_tensor(struct tensor_file *f, size_t i, const char *name, const char *spec, size_t bytes)
{
	struct buf b = {0};
	struct slice data;
	struct err err = {0};
	assert_true(i < f->n);
	assert_text(f->v[i].name, name);
	tensor_spec_print(&f->v[i].meta, &b);
	assert_text(buf_slice(&b), spec);
	if (tensor_data(f, i, &data, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(data.n, bytes);
	if (f->v[i].data.p)
		assert_ptr_equal(data.p, f->v[i].data.p);
	uint32_t sum = 0; /* touched to the last byte */
	for (size_t k = 0; k < data.n; k++)
		sum += (uint8_t)data.p[k];
	assert_true(sum <= data.n * 255);
	buf_release(&b);
}

/* ---- dtypes and devices ---- */

static void test_dtypes(void **state)
{
	(void)state;
#define SAME(num, id, bytes_, name_, s, aten_, safe, npy_, pt) \
	assert_int_equal(dtype_by_name(SLICE(name_)), num); \
	assert_int_equal(dtype_by_name(SLICE("torch." name_)), num); \
	assert_int_equal(dtype_by_short(SLICE(s)), num); \
	assert_int_equal(dtype_by_safetensors(SLICE(safe)), *safe ? num : DTYPE_NONE); \
	assert_int_equal(dtype_by_storage(SLICE(pt)), *pt ? num : DTYPE_NONE); \
	assert_string_equal(dtype_name(num), name_); \
	assert_int_equal(dtype_info(num)->number, num);
	DTYPES(SAME)
#undef SAME
	assert_null(dtype_info(-1));
	assert_null(dtype_info(16));
	assert_null(dtype_info(64));
	assert_null(dtype_info(INT32_MAX));
	assert_string_equal(dtype_name(99), "dtype 99");
	assert_int_equal(dtype_by_short(SLICE("float32")), DTYPE_F32);
	assert_int_equal(dtype_by_short(SLICE("b1")), DTYPE_BOOL);
	assert_int_equal(dtype_by_short(SLICE("f8e4m3")), DTYPE_F8E4M3FN);
	assert_int_equal(dtype_by_name(SLICE("half")), DTYPE_F16);
	assert_int_equal(dtype_by_name(SLICE("f32")), DTYPE_NONE);
	assert_int_equal(dtype_by_name(SLICE("torch.")), DTYPE_NONE);
	assert_int_equal(dtype_by_name(SLICE("")), DTYPE_NONE);
	assert_int_equal(dtype_by_short(SLICE("")), DTYPE_NONE);
}

static void is_device(const char *text, int type, int index)
{
	int t = -7, i = -7;
	assert_int_equal(device_parse(slice_str(text), &t, &i), type < 0 ? -1 : 0);
	assert_int_equal(t, type < 0 ? -7 : type);
	assert_int_equal(i, type < 0 ? -7 : index);
}

static void test_devices(void **state)
{
	(void)state;
	is_device("cpu", 0, -1);
	is_device("cuda", 1, -1);
	is_device("cuda:1", 1, 1);
	is_device("cuda:127", 1, 127);
	is_device("cuda:128", -1, 0);
	is_device("cuda:", -1, 0);
	is_device("cuda:x", -1, 0);
	is_device("cuda: 1", -1, 0);
	is_device("cudas", -1, 0);
	is_device("", -1, 0);
	is_device(":", -1, 0);
	is_device("meta", 14, -1);
	is_device("mps:0", 13, 0);
	assert_string_equal(device_name(1), "cuda");
	assert_string_equal(device_name(99), "device 99");
}

/* ---- specs ---- */

static void spec(const char *text, const char *printed, int64_t bytes)
{
	struct tensor_meta m;
	struct err err = {0};
	struct buf b = {0};
	struct guard own = {0};
	size_t n = strlen(text);
	struct slice s = slice_of(guard_put(&own, text, n), n);
	int64_t extent;
	assert_true(tensor_spec_like(s));
	if (tensor_spec_parse(s, &m, &err) < 0)
		fail_msg("%s", err.text);
	tensor_spec_print(&m, &b);
	assert_text(buf_slice(&b), printed);
	assert_true(tensor_extent(&m, &extent));
	assert_int_equal(extent, bytes);
	buf_release(&b);
	guard_release(&own);
}

static void no_spec(const char *text, const char *why)
{
	struct tensor_meta m;
	struct err err = {0};
	struct guard own = {0};
	size_t n = strlen(text);
	assert_int_equal(tensor_spec_parse(slice_of(guard_put(&own, text, n), n), &m, &err), -1);
	assert_int_equal(err.status, EXIT_USAGE);
	if (!strstr(err.text, why))
		fail_msg("'%s' has no '%s'", err.text, why);
	guard_release(&own);
}

static void test_specs(void **state)
{
	(void)state;
	spec("f32[8,10]", "f32[8,10]", 320);
	spec("float32[8, 10]", "f32[8,10]", 320);
	spec("i64[]", "i64[]", 8);
	spec("b8[0,3]", "b8[0,3]", 0);
	spec("bf16[2,3]/(1,2)@cuda:0", "bf16[2,3]/(1,2)@cuda:0", 12);
	spec("f32[2,3]/(3,1)", "f32[2,3]", 24);
	spec("f32[3]/(0,)", "f32[3]/(0)", 4);
	spec("f32[1,3]/(99,1)", "f32[1,3]", 12);
	spec("i8[4,]@cuda", "i8[4]@cuda", 4);
	spec("u8[2]@cpu", "u8[2]", 2);
	spec("c128[2,2]/(1000,500)", "c128[2,2]/(1000,500)", 1501 * 16);
	no_spec("f31[2]", "unknown dtype");
	no_spec("f32@cpu", "missing '['");
	no_spec("", "missing '['");
	no_spec("f32[2", "integers");
	no_spec("f32[", "integers");
	no_spec("f32[-2]", "integers");
	no_spec("f32[,]", "integers");
	no_spec("f32[2]x", "unexpected text");
	no_spec("f32[2]@gpu", "unknown device");
	no_spec("f32[2]@", "unknown device");
	no_spec("f32[2]/", "strides are in ()");
	no_spec("f32[2]/(1", "strides are integers");
	no_spec("f32[2]/(1,2)", "must match the number of sizes");
	no_spec("f32[9999999999,9999999999]", "the tensor is too large");
	no_spec("f32[2]/(9223372036854775807)", "the tensor is too large");
	no_spec("f32[99999999999999999999]", "integers");
	struct buf b = {0};
	buf_adds(&b, "f32[");
	for (unsigned i = 0; i < 65; i++)
		buf_adds(&b, "1,");
	buf_adds(&b, "]");
	no_spec(buf_str(&b), "more than 64 dimensions");
	buf_release(&b);
	assert_false(tensor_spec_like(SLICE("x.npy")));
	assert_false(tensor_spec_like(SLICE("x[1].npy")));
	assert_false(tensor_spec_like(SLICE("x[1]/y.npy")));
	assert_false(tensor_spec_like(SLICE("[1]")));
	assert_false(tensor_spec_like(SLICE("")));
	assert_true(tensor_spec_like(SLICE("f32[")));
	assert_true(tensor_spec_like(SLICE("f31[2]")));
	assert_true(tensor_spec_like(SLICE("f31[2]@cuda")));
	assert_true(tensor_spec_like(SLICE("f31[2]/(1)")));
}

static void test_sizes(void **state)
{
	(void)state;
	struct tensor_meta m = {.dtype = DTYPE_F32, .n_dim = 3, .size = {2, 0, 4}};
	int64_t n;
	tensor_contiguous(&m);
	assert_int_equal(m.stride[0], 4); /* as torch.empty(2, 0, 4).stride() */
	assert_int_equal(m.stride[1], 4);
	assert_int_equal(m.stride[2], 1);
	assert_true(tensor_numel(&m, &n) && n == 0);
	m.size[1] = -1;
	assert_false(tensor_numel(&m, &n));
	assert_false(tensor_extent(&m, &n));
	m.size[1] = INT64_MAX;
	assert_false(tensor_numel(&m, &n));
	m.size[0] = 0;
	assert_true(tensor_numel(&m, &n) && n == 0);
	m = (struct tensor_meta){.dtype = DTYPE_F32, .n_dim = 1, .size = {2}, .stride = {-1}};
	assert_false(tensor_extent(&m, &n));
	m = (struct tensor_meta){.dtype = 99, .n_dim = 0};
	assert_false(tensor_extent(&m, &n));
}

/* ---- .npy ---- */

static void npy(struct buf *b, unsigned version, const char *dict, size_t bytes)
{
	size_t n = strlen(dict);
	buf_reset(b);
	buf_add(b, "\x93NUMPY", 6);
	mkzip_int(b, 1, version);
	mkzip_int(b, 1, 0);
	mkzip_int(b, version == 1 ? 2 : 4, n);
	buf_adds(b, dict);
	for (size_t i = 0; i < bytes; i++)
		buf_addc(b, (char)i);
}

static void npy_is(unsigned version, const char *dict, size_t bytes, const char *want)
{
	struct buf b = {0};
	struct err err = {0};
	npy(&b, version, dict, bytes);
	struct tensor_file *f = open_bytes(buf_slice(&b), &err);
	if (!f)
		fail_msg("%s", err.text);
	assert_int_equal(f->n, 1);
	assert_int_equal(f->format, TENSOR_NPY);
	assert_int_equal(f->top, TENSOR_TOP_ONE);
	is_tensor(f, 0, "", want, bytes);
	tensor_file_close(f);
	buf_release(&b);
}

static void npy_refused(const char *dict, size_t bytes, const char *why)
{
	struct buf b = {0};
	npy(&b, 1, dict, bytes);
	refused(buf_slice(&b), why);
	buf_release(&b);
}

#define NPY(descr, shape) "{'descr': " descr ", 'fortran_order': False, 'shape': " shape ", }          \n"

static void test_npy(void **state)
{
	(void)state;
	npy_is(1, NPY("'<f4'", "(2, 3)"), 24, "f32[2,3]");
	npy_is(2, NPY("'<i8'", "(3,)"), 24, "i64[3]");
	npy_is(3, NPY("'|b1'", "()"), 1, "b8[]");
	npy_is(1, NPY("'|u1'", "(0, 4)"), 0, "u8[0,4]");
	npy_is(1, NPY("'<c8'", "(2L,)"), 16, "c64[2]");
	npy_is(1, "{'shape': (2, 3, 4), 'descr': \"<f2\", 'fortran_order': True}", 48, "f16[2,3,4]/(1,2,6)");
	npy_refused(NPY("'>f4'", "(2,)"), 8, "is big-endian (dtype '>f4'): save arr.astype(arr.dtype.newbyteorder('<'))");
	npy_refused(NPY("'|O'", "(2,)"), 16, "contains Python objects");
	npy_refused(NPY("'|V2'", "(2,)"), 4, "ml_dtypes' bfloat16");
	npy_refused(NPY("'<V2'", "(2,)"), 4, "ml_dtypes' bfloat16");
	npy_refused(NPY("'|V1'", "(2,)"), 4, "ml_dtypes' float8");
	npy_refused(NPY("'|V16'", "(2,)"), 32, "raw bytes");
	npy_refused(NPY("'<U3'", "(2,)"), 24, "contains text");
	npy_refused(NPY("'<M8[ns]'", "(2,)"), 16, "contains times");
	npy_refused(NPY("'<f16'", "(2,)"), 32, "dtype '<f16', unsupported for tensors");
	npy_refused(NPY("''", "(2,)"), 32, "unsupported for tensors");
	npy_refused(NPY("[('a', '<f4'), ('b', '<i8')]", "(2,)"), 24, "is a record array");
	npy_refused(NPY("'<f4'", "(-2, 3)"), 24, "negative size");
	npy_refused(NPY("'<f4'", "(99999999999, 99999999999)"), 24, "larger than any array");
	npy_refused(NPY("'<f4'", "(99999999999999999999,)"), 24, "larger than any array");
	npy_refused(NPY("'<f4'", "(4611686018427387904,)"), 24, "larger than any array");
	npy_refused(NPY("'<f4'", "(1000000000000,)"), 24, "is truncated: its shape needs 4000000000000 bytes, but 24 follow");
	npy_refused(NPY("'<f4'", "(2, 3)"), 28, "has 4 bytes after its array");
	npy_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x", 8, "header is damaged");
	npy_refused("{'descr': '<f4', 'shape': (2,)}", 8, "header is damaged");
	npy_refused("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 8, "header is damaged");
	npy_refused("{'descr': '<f4', 'fortran_order': 1, 'shape': (2,)}", 8, "header is damaged");
	npy_refused("{'descr': '<f4', 'fortran_order': False, 'shape': [2]}", 8, "header is damaged");
	npy_refused("{'descr': '<f4', 'fortran_order': False, 'other': (2,)}", 8, "header is damaged");
	npy_refused("{'descr': '<f4, 'fortran_order': False, 'shape': (2,)}", 8, "has dtype '<f4, '");
	npy_refused("", 8, "header is damaged");
	struct buf b = {0};
	npy(&b, 4, NPY("'<f4'", "(2,)"), 8);
	refused(buf_slice(&b), ".npy version 4.0");
	npy(&b, 1, NPY("'<f4'", "(2,)"), 8);
	for (size_t n = 7; n < b.len; n++)
		refused(slice_of(b.p, n), "is truncated");
	buf_reset(&b);
	buf_adds(&b, "{'descr': '<f4', 'fortran_order': False, 'shape': (");
	for (unsigned i = 0; i < 65; i++)
		buf_adds(&b, "1,");
	buf_adds(&b, ")}");
	npy_refused(buf_str(&b), 4, "more than 64 dimensions");
	buf_release(&b);
}

/* ---- .npz ---- */

static void test_npz(void **state)
{
	(void)state;
	for (unsigned flags = 0; flags < 4; flags++) {
		struct mkzip z = {0};
		struct buf b = {0};
		struct err err = {0};
		npy(&b, 1, NPY("'<f4'", "(2, 3)"), 24);
		mkzip_add(&z, "x.npy", buf_slice(&b), flags);
		/* A header that does not fit into the first piece that is inflated. */
		char *wide = xasprintf("%-3000s\n", "{'descr': '<i2', 'fortran_order': True, 'shape': (3, 2)}");
		npy(&b, 2, wide, 12);
		free(wide);
		mkzip_add(&z, "a.b.npy", buf_slice(&b), flags);
		mkzip_add(&z, "README", SLICE("text"), flags);
		mkzip_end(&z);
		struct tensor_file *f = open_bytes(buf_slice(&z.b), &err);
		if (!f)
			fail_msg("%s", err.text);
		assert_int_equal(f->format, TENSOR_NPZ);
		assert_int_equal(f->top, TENSOR_TOP_MAPPING);
		assert_int_equal(f->n, 2);
		assert_true(!f->v[0].data.p == !!(flags & MKZIP_DEFLATE));
		is_tensor(f, 0, "x", "f32[2,3]", 24);
		is_tensor(f, 1, "a.b", "i16[3,2]/(1,3)", 12);
		tensor_file_close(f);
		mkzip_release(&z);
		buf_release(&b);
	}
}

static void npz_refused(struct buf *member, unsigned flags, uint32_t wrong_crc, const char *why)
{
	struct mkzip z = {0};
	mkzip_add(&z, "x.npy", buf_slice(member), flags | MKZIP_STREAMED);
	z.entry[0].crc ^= wrong_crc;
	mkzip_end(&z);
	if (wrong_crc) {
		struct err err = {0};
		struct slice data;
		struct tensor_file *f = open_bytes(buf_slice(&z.b), &err);
		assert_non_null(f); /* only headers are read at first */
		assert_int_equal(tensor_data(f, 0, &data, &err), -1);
		assert_non_null(strstr(err.text, why));
		tensor_file_close(f);
	} else {
		refused(buf_slice(&z.b), why);
	}
	mkzip_release(&z);
}

static void test_npz_broken(void **state)
{
	(void)state;
	for (unsigned flags = 0; flags < 2; flags++) {
		struct buf b = {0};
		npy(&b, 1, NPY("'<f4'", "(2, 3)"), 24);
		npz_refused(&b, flags, 1, "member 'x.npy': its checksum is wrong");
		npy(&b, 1, NPY("'<f4'", "(2, 4)"), 24);
		npz_refused(&b, flags, 0, "member 'x.npy': is truncated");
		npy(&b, 1, NPY("'>f4'", "(2, 3)"), 24);
		npz_refused(&b, flags, 0, "member 'x.npy': is big-endian");
		buf_reset(&b);
		buf_adds(&b, "no array");
		npz_refused(&b, flags, 0, "member 'x.npy': is not an .npy file");
		buf_release(&b);
	}
	struct mkzip z = {0};
	mkzip_add(&z, "README", SLICE("text"), 0);
	mkzip_end(&z);
	refused(buf_slice(&z.b), "is not one of .npy, .npz, .safetensors and .pt");
	mkzip_release(&z);
}

/* ---- .safetensors ---- */

static void safe(struct buf *b, const char *json, size_t bytes)
{
	buf_reset(b);
	mkzip_int(b, 8, strlen(json));
	buf_adds(b, json);
	for (size_t i = 0; i < bytes; i++)
		buf_addc(b, (char)i);
}

static void safe_refused(const char *json, size_t bytes, const char *why)
{
	struct buf b = {0};
	safe(&b, json, bytes);
	refused(buf_slice(&b), why);
	buf_release(&b);
}

static void test_safetensors(void **state)
{
	(void)state;
	struct buf b = {0};
	struct err err = {0};
	safe(&b,
	     "{\"__metadata__\":{\"format\":\"pt\"},\"w\\u0065ight\":{\"dtype\":\"BF16\",\"shape\":[2,3],\"data_offsets\":[4,16]},"
	     "\"s\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]},\"e\":{\"dtype\":\"I64\",\"shape\":[0,7],\"data_offsets\":[4,4]"
	     "}}   ",
	     16);
	struct tensor_file *f = open_bytes(buf_slice(&b), &err);
	if (!f)
		fail_msg("%s", err.text);
	assert_int_equal(f->format, TENSOR_SAFETENSORS);
	assert_int_equal(f->top, TENSOR_TOP_MAPPING);
	assert_int_equal(f->n, 3);
	is_tensor(f, 0, "weight", "bf16[2,3]", 12);
	is_tensor(f, 1, "s", "f32[]", 4);
	is_tensor(f, 2, "e", "i64[0,7]", 0);
	assert_int_equal(f->v[0].data.p[0], 4);
	tensor_file_close(f);
	for (size_t n = 9; n < b.len; n++)
		refused(slice_of(b.p, n), n < b.len - 16 ? "truncated" : "is outside");
	b.p[0]++; /* one byte of data becomes header */
	refused(buf_slice(&b), "is not valid JSON");
	buf_release(&b);
	safe_refused("{}", 0, "contains no tensors");
	safe_refused("{\"__metadata__\":{}}", 0, "contains no tensors");
	safe_refused("{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 8, "has 4 bytes after its last tensor");
	safe_refused("{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", 8, "tensor 'x' has a gap before it");
	safe_refused(
	    "{\"x\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},\"y\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[2,4]}}",
	    4, "tensor 'y' overlaps another");
	safe_refused(
	    "{\"x\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},\"x\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[2,4]}}",
	    4, "tensor 'x' is duplicated");
	safe_refused("{\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", 4, "do not match its shape");
	safe_refused("{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}", 4, "has no data_offsets");
	safe_refused("{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", 4, "has no data_offsets");
	safe_refused("{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,99999999999999999999]}}", 4, "has no data_offsets");
	safe_refused("{\"x\":{\"dtype\":\"F32\",\"shape\":[9223372036854775807,9223372036854775807],\"data_offsets\":[0,4]}}", 4,
		     "do not match its shape");
	safe_refused("{\"x\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", 4,
		     "has a size that is not a non-negative integer");
	safe_refused("{\"x\":{\"dtype\":\"F32\",\"shape\":\"1\",\"data_offsets\":[0,4]}}", 4, "has no shape");
	safe_refused("{\"x\":{\"dtype\":\"F4\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "has unknown dtype 'F4'");
	safe_refused("{\"x\":{\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "has no dtype");
	safe_refused("{\"x\":7}", 4, "is not a JSON object");
	safe_refused("{\"x\"", 4, "is not valid JSON: ");
}

static void test_others(void **state)
{
	(void)state;
	refused(SLICE(""), "is empty");
	refused(SLICE("\x7f"
		      "ELF and so on"),
		"is not one of");
	refused(SLICE("PK\3\4 and then nothing"), "is a truncated zip archive");
	refused(SLICE("\x80\2}q\0."), "is a bare Python pickle");
	refused(SLICE("\x80\2\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\2M\xe9\3."), "is from torch.save before torch 1.6");
	struct mkzip z = {0};
	mkzip_add(&z, "m/archive_format", SLICE("pt2"), 0);
	mkzip_end(&z);
	refused(buf_slice(&z.b), "is a package with a program (.pt2)");
	mkzip_release(&z);
}

/* The recorded inputs, against what tests/data/README.md says of them. */
static void test_recorded(void **state)
{
	(void)state;
	static const struct {
		const char *file;
		size_t n, i, bytes;
		const char *name, *spec;
	} known[] = {
	    {"mlp.npz", 2, 0, 96, "in0", "f32[3,8]"},
	    {"emb.npz", 2, 0, 80, "in0", "i64[2,5]"},
	    {"misc.npz", 9, 1, 32, "in1", "i64[4]"},
	    {"nested.npz", 7, 3, 4, "in3", "f32[]"},
	    {"conv.npz", 2, 0, 1536, "in0", "f32[2,3,8,8]"},
	    {"mlp.pt", 2, 1, 48, "outputs[0]", "f32[3,4]"},
	    {"mixed.pt", 5, 1, 20, "inputs[1]", "b8[4,5]"},
	    {"mixed.pt", 5, 2, 4, "inputs[2]", "i32[]"},
	    {"mixed.pt", 5, 3, 480, "inputs[3]", "bf16[4,5,12]/(12,48,1)"},
	    {"nested.pt", 7, 2, 24, "inputs[2]", "f32[2,3]"},
	    {"misc.pt", 9, 2, 128, "inputs[2]", "f32[4,8]"},
	};
	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		struct err err = {0};
		char *name = xasprintf("aoti/io/%s", known[i].file), *path = data_path(name);
		struct tensor_file *f = tensor_file_open(path, &err);
		if (!f)
			fail_msg("%s", err.text);
		assert_int_equal(f->n, known[i].n);
		is_tensor(f, known[i].i, known[i].name, known[i].spec, known[i].bytes);
		tensor_file_close(f);
		free(name);
		free(path);
	}
}

/* A file of 6 GiB is opened without being read: it is a hole, and memory does not grow. */
static void test_large(void **state)
{
	(void)state;
	struct buf b = {0};
	struct err err = {0};
	struct rusage before, after;
	char path[] = "/tmp/test_tensor.XXXXXX";
	int fd = mkstemp(path);
	npy(&b, 1, NPY("'<f4'", "(1610612736,)"), 0);
	assert_int_equal(write(fd, b.p, b.len), b.len);
	assert_int_equal(ftruncate(fd, (off_t)b.len + (6ll << 30)), 0);
	getrusage(RUSAGE_SELF, &before);
	struct tensor_file *f = tensor_file_open(path, &err);
	if (!f)
		fail_msg("%s", err.text);
	assert_int_equal(f->v[0].data.n, 6ull << 30);
	assert_int_equal(f->v[0].data.p[(6ull << 30) - 1], 0);
	tensor_file_close(f);
	getrusage(RUSAGE_SELF, &after);
	assert_true(after.ru_maxrss - before.ru_maxrss < 16 << 10); /* KiB */
	close(fd);
	unlink(path);
	buf_release(&b);
}

/* An input saved both ways has the same bytes. */
static void test_same_data(void **state)
{
	(void)state;
	struct err err = {0};
	char *a = data_path("aoti/io/mlp.npz"), *b = data_path("aoti/io/mlp.pt");
	struct tensor_file *npz = tensor_file_open(a, &err), *pt = tensor_file_open(b, &err);
	assert_non_null(npz);
	assert_non_null(pt);
	for (size_t i = 0; i < 2; i++)
		assert_true(slice_eq(npz->v[i].data, pt->v[i].data));
	tensor_file_close(npz);
	tensor_file_close(pt);
	tensor_file_close(NULL);
	free(a);
	free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_dtypes),     cmocka_unit_test(test_devices),     cmocka_unit_test(test_specs),
	    cmocka_unit_test(test_sizes),      cmocka_unit_test(test_npy),         cmocka_unit_test(test_npz),
	    cmocka_unit_test(test_npz_broken), cmocka_unit_test(test_safetensors), cmocka_unit_test(test_others),
	    cmocka_unit_test(test_recorded),   cmocka_unit_test(test_same_data),   cmocka_unit_test(test_large),
	};
	int r = RUN(tests);
	guard_release(&g);
	return r;
}
