/* save.c - OUT: one file with all outputs, named out0, out1, ... A None output is skipped, except in .pt, which can store it. */
#include "ptrun.h"

int save_format(const struct ptrun_options *o, enum tensor_format *format, struct err *err)
{
	static const struct {
		const char *end;
		enum tensor_format format;
	} ends[] = {
	    {".npy", TENSOR_NPY}, {".npz", TENSOR_NPZ}, {".safetensors", TENSOR_SAFETENSORS}, {".pt", TENSOR_PT}, {".pth", TENSOR_PT}};
	if (o->format >= 0)
		return *format = (enum tensor_format)o->format, 0;
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (slice_ends(slice_str(o->output), ends[i].end))
			return *format = ends[i].format, 0;
	return err_set(err, EXIT_USAGE,
		       "'%s': cannot tell the format from the file name: use .npz, .npy, .pt or .safetensors, or pass --format", o->output);
}

int save_outputs(int fd, enum tensor_format format, const struct runfile *out, const char *path, struct err *err)
{
	FREED struct tensor_view *v = xcalloc(out->n + 1, sizeof(*v));
	size_t n = 0;
	for (size_t i = 0; i < out->n; i++)
		if (format == TENSOR_PT || !tensor_is_none(&out->v[i]))
			v[n++] = out->v[i];
	return tensor_write(fd, format, v, n, path, err);
}
