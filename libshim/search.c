/* search.c - wrappers for aten/search.c. */
#include "aten/ops.h"
#include "shim.h"

static const char *text_or_null(const char *const *text) { return text ? *text : NULL; }

SHIM_OP(aoti_torch_cpu_searchsorted_Tensor(AtenTensorHandle sorted_sequence, AtenTensorHandle self, int32_t out_int32, int32_t right,
					   const char **side, AtenTensorHandle *sorter, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_searchsorted(sorted_sequence, self, out_int32, right, text_or_null(side), shim_optional(sorter))))

SHIM_OP(aoti_torch_cpu_searchsorted_Scalar(AtenTensorHandle sorted_sequence, double self, int32_t out_int32, int32_t right,
					   const char **side, AtenTensorHandle *sorter, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_searchsorted(sorted_sequence, aten_number(self), out_int32, right, text_or_null(side), shim_optional(sorter))))

SHIM_OP(aoti_torch_cpu_bucketize_Tensor(AtenTensorHandle self, AtenTensorHandle boundaries, int32_t out_int32, int32_t right,
					AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_bucketize(self, boundaries, out_int32, right)))

SHIM_OP(aoti_torch_cpu_histc(AtenTensorHandle self, int64_t bins, double min, double max, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0, aten_histc(self, bins, min, max)))

static struct doubles range_of(const double **range, int64_t n) { return (struct doubles){range ? *range : NULL, n}; }

SHIM_OP(aoti_torch_cpu_histogram_bin_ct(AtenTensorHandle self, int64_t bins, const double **range, int64_t range_len_,
					AtenTensorHandle *weight, int32_t density, AtenTensorHandle *ret0, AtenTensorHandle *ret1),
	SHIM_GIVE_TWO(ret0, ret1, aten_histogram(self, bins, range_of(range, range_len_), shim_optional(weight), density)))

SHIM_OP(aoti_torch_cpu__histogramdd_from_bin_cts(AtenTensorHandle self, const int64_t *bins, int64_t bins_len_, const double **range,
						 int64_t range_len_, AtenTensorHandle *weight, int32_t density, AtenTensorHandle *ret0),
	SHIM_GIVE(ret0,
		  aten_histogramdd(self, (struct ints){bins, bins_len_}, range_of(range, range_len_), shim_optional(weight), density)))
