#include "tensor/dtype.h"

enum { DTYPE_SLOTS = 64 };

static const struct dtype_info info[DTYPE_SLOTS] = {
#define DTYPE_ROW(num, id, bytes, name, s, aten, safe, npy, pt) [num] = {num, bytes, name, s, aten, safe, npy, pt},
    DTYPES(DTYPE_ROW)
#undef DTYPE_ROW
};

/* Other spellings: Python's torch.float and so on; NumPy's, and short ones in use. */
static const struct {
	const char *text;
	enum dtype t;
} alias[] =
    {
	{"float", DTYPE_F32}, {"double", DTYPE_F64}, {"half", DTYPE_F16},   {"short", DTYPE_I16},    {"int", DTYPE_I32},
	{"long", DTYPE_I64},  {"chalf", DTYPE_C32},  {"cfloat", DTYPE_C64}, {"cdouble", DTYPE_C128},
},
  brief_alias[] = {
      {"b1", DTYPE_BOOL},
      {"f8e4m3", DTYPE_F8E4M3FN},
      {"f8e8m0", DTYPE_F8E8M0FNU},
      {"f4e2m1", DTYPE_F4E2M1FN_X2},
};

const struct dtype_info *dtype_info(int number) { return number >= 0 && number < DTYPE_SLOTS && info[number].name ? &info[number] : NULL; }

const char *dtype_name(int number)
{
	static _Thread_local char text[24];
	const struct dtype_info *i = dtype_info(number);
	if (i)
		return i->name;
	snprintf(text, sizeof(text), "dtype %d", number);
	return text;
}

/* The dtype named s in a column; formats without a name for it have "" there. */
static enum dtype by_column(struct slice s, size_t column)
{
	for (int i = 0; i < DTYPE_SLOTS && s.n; i++) {
		if (!info[i].name)
			continue;
		const char *name;
		memcpy(&name, (const char *)&info[i] + column, sizeof(name));
		if (slice_is(s, name))
			return (enum dtype)i;
	}
	return DTYPE_NONE;
}

enum dtype dtype_by_name(struct slice s)
{
	if (slice_starts(s, "torch."))
		s = slice_of(s.p + 6, s.n - 6);
	for (size_t i = 0; i < ARRAY_LEN(alias); i++)
		if (slice_is(s, alias[i].text))
			return alias[i].t;
	return by_column(s, offsetof(struct dtype_info, name));
}

enum dtype dtype_by_short(struct slice s)
{
	for (size_t i = 0; i < ARRAY_LEN(brief_alias); i++)
		if (slice_is(s, brief_alias[i].text))
			return brief_alias[i].t;
	enum dtype t = by_column(s, offsetof(struct dtype_info, brief));
	return t == DTYPE_NONE ? dtype_by_name(s) : t;
}

enum dtype dtype_by_safetensors(struct slice s) { return by_column(s, offsetof(struct dtype_info, safetensors)); }

enum dtype dtype_by_storage(struct slice s) { return by_column(s, offsetof(struct dtype_info, storage)); }

/* ---- devices ---- */

static const struct {
	int type;
	const char *name;
} device[] = {
#define DEVICE_ROW(type, name) {type, name},
    DEVICES(DEVICE_ROW)
#undef DEVICE_ROW
};

const char *device_name(int type)
{
	static _Thread_local char text[24];
	for (size_t i = 0; i < ARRAY_LEN(device); i++)
		if (device[i].type == type)
			return device[i].name;
	snprintf(text, sizeof(text), "device %d", type);
	return text;
}

int device_by_name(struct slice name)
{
	for (size_t i = 0; i < ARRAY_LEN(device); i++)
		if (slice_is(name, device[i].name))
			return device[i].type;
	return DEVICE_NONE;
}

int device_parse(struct slice text, int *type, int *index)
{
	const char *colon = slice_chr(text, ':');
	size_t n = colon ? (size_t)(colon - text.p) : text.n;
	uint64_t i = 0;
	int t = device_by_name(slice_of(text.p, n));
	/* torch keeps the index in eight bits (c10/core/Device.h). */
	if (t == DEVICE_NONE || (colon && (!slice_u64(slice_of(colon + 1, text.n - n - 1), &i) || i > INT8_MAX)))
		return -1;
	*type = t;
	*index = colon ? (int)i : -1;
	return 0;
}
