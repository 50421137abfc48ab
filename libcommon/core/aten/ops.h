/* ops.h - operators as C functions, from which others are composed and which libshim calls. Call them within a frame (aten.h), which owns
 * their results. Names and parameters are those of torch's schemas; a scalar that may be None is a pointer. Each is in the file of its
 * kind.
 */
#ifndef PT2_ATEN_OPS_H
#define PT2_ATEN_OPS_H
#include "aten.h"

/* view.c */
struct aten_tensor *aten_permute(const struct aten_tensor *self, const int64_t *dims, int64_t n);
struct aten_tensor *aten_transpose(const struct aten_tensor *self, int64_t a, int64_t b);
struct aten_tensor *aten_narrow(const struct aten_tensor *self, int64_t dim, int64_t start, int64_t length);
struct aten_tensor *aten_slice(const struct aten_tensor *self, int64_t dim, const int64_t *start, const int64_t *end, int64_t step);
struct aten_tensor *aten_slice_dim(const struct aten_tensor *t, int d, int64_t start, int64_t end, int64_t step); /* without clamping */
struct aten_tensor *aten_select(const struct aten_tensor *self, int64_t dim, int64_t index);
struct aten_tensor *aten_squeeze_dim(const struct aten_tensor *self, int64_t dim);
struct aten_tensor *aten_movedim(const struct aten_tensor *self, int64_t from, int64_t to);
struct aten_tensor *aten_unsqueeze(const struct aten_tensor *self, int64_t dim);
struct aten_tensor *aten_expand(const struct aten_tensor *self, const int64_t *size, int64_t n);
struct aten_tensor *aten_reshape(const struct aten_tensor *self, const int64_t *shape, int64_t n); /* a view if possible */
struct aten_tensor *aten_diagonal(const struct aten_tensor *self, int64_t offset, int64_t dim1, int64_t dim2);
struct aten_tensor *aten_as_dtype(const struct aten_tensor *self, int dtype); /* view.dtype */
struct aten_tensor *aten_view_as_real(const struct aten_tensor *self);
struct aten_tensor *aten_view_as_complex(const struct aten_tensor *self);

/* join.c */
struct aten_tensor *aten_cat(struct tensors list, int64_t dim);
struct aten_tensor *aten_pad(struct aten_tensor *self, struct ints padding, const char *mode, struct aten_tensor *value);
struct aten_tensor *aten_to_copy(const struct aten_tensor *self, int dtype, int format);
void aten_resize(struct aten_tensor *t, struct ints size, const int32_t *format);
void aten_resize_as(struct aten_tensor *self, const struct aten_tensor *like, const int32_t *format);

/* pointwise_unary.c, pointwise_binary.c, pointwise_more.c */
struct aten_tensor *aten_abs(struct aten_tensor *self);
struct aten_tensor *aten_angle(struct aten_tensor *self);
struct aten_tensor *aten_conj(struct aten_tensor *self);
struct aten_tensor *aten_isnan(struct aten_tensor *self);
struct aten_tensor *aten_relu(struct aten_tensor *self);
struct aten_tensor *aten_sigmoid(struct aten_tensor *self);
struct aten_tensor *aten_tanh(struct aten_tensor *self);
struct aten_tensor *aten_number(double v); /* as an operand: has the lowest priority in promotion */
struct aten_tensor *aten_add(struct aten_tensor *a, struct aten_tensor *b, double alpha);
struct aten_tensor *aten_sub(struct aten_tensor *a, struct aten_tensor *b, double alpha);
struct aten_tensor *aten_mul(struct aten_tensor *a, struct aten_tensor *b);
struct aten_tensor *aten_pow(struct aten_tensor *a, struct aten_tensor *b);
struct aten_tensor *aten_gcd(struct aten_tensor *a, struct aten_tensor *b);
struct aten_tensor *aten_logical_xor(struct aten_tensor *a, struct aten_tensor *b);
struct aten_tensor *aten_polar(struct aten_tensor *abs, struct aten_tensor *angle);
struct aten_tensor *aten_where(struct aten_tensor *condition, struct aten_tensor *a, struct aten_tensor *b);
struct aten_tensor *aten_masked_fill(struct aten_tensor *self, struct aten_tensor *mask, struct aten_tensor *value);

/* factory.c */
struct aten_tensor *aten_fill(struct aten_tensor *t, struct aten_tensor *value); /* returns t */
struct aten_tensor *aten_empty(const int64_t *size, int64_t n, int dtype);
struct aten_tensor *aten_empty_like(const struct aten_tensor *self, int dtype, int64_t format);
struct aten_tensor *aten_full(const int64_t *size, int64_t n, double value, int dtype);
struct aten_tensor *aten_hann_window(int64_t length, bool periodic, int dtype);

/* reduce.c: no dims means all */
struct aten_tensor *aten_amax(struct aten_tensor *self, struct ints dims, bool keepdim);
struct aten_tensor *aten_trilinear(struct aten_tensor *i1, struct aten_tensor *i2, struct aten_tensor *i3, struct ints expand1,
				   struct ints expand2, struct ints expand3, struct ints sumdim);

/* norm.c */
struct aten_tensor *aten_softmax(struct aten_tensor *self, int64_t dim, bool logarithm);
struct two aten_fused_rms_norm(const struct aten_tensor *input, int64_t n_shape, const struct aten_tensor *weight, const double *eps);
struct aten_tensor *aten_soft_margin_loss_backward(const struct aten_tensor *grad, const struct aten_tensor *self,
						   const struct aten_tensor *target, int64_t reduction);

/* turn.c */
struct aten_tensor *aten_index_select(struct aten_tensor *self, int64_t dim, struct aten_tensor *index);

/* mm.c; self, the addend, may be NULL */
void aten_addmm_out(struct aten_tensor *out, struct aten_tensor *self, struct aten_tensor *a, struct aten_tensor *b, double beta,
		    double alpha);
struct aten_tensor *aten_addmm_activation(struct aten_tensor *self, struct aten_tensor *mat1, struct aten_tensor *mat2, double beta,
					  double alpha, bool use_gelu);
struct aten_tensor *aten_addmv(struct aten_tensor *self, struct aten_tensor *mat, struct aten_tensor *vec, double beta, double alpha);
void aten_baddbmm_out(struct aten_tensor *out, struct aten_tensor *self, struct aten_tensor *a, struct aten_tensor *b, double beta,
		      double alpha);
struct aten_tensor *aten_addbmm(struct aten_tensor *self, struct aten_tensor *batch1, struct aten_tensor *batch2, double beta,
				double alpha);
struct aten_tensor *aten_grouped_mm(struct aten_tensor *self, struct aten_tensor *mat2, struct aten_tensor *offs, struct aten_tensor *bias,
				    int dtype);
/* transformers::grouped_mm_fallback (transformers 5, integrations/moe.py): called by its mixtures of experts in an exported graph. */
struct aten_tensor *aten_grouped_mm_fallback(struct aten_tensor *input, struct aten_tensor *weight, struct aten_tensor *offs);
void aten_mm_plus_mm_out(struct aten_tensor *out, struct aten_tensor *a, struct aten_tensor *b, struct aten_tensor *c,
			 struct aten_tensor *d);
void aten_int_mm_out(struct aten_tensor *out, struct aten_tensor *self, struct aten_tensor *mat2);
struct aten_tensor *aten_weight_int8pack_mm(struct aten_tensor *self, struct aten_tensor *mat2, struct aten_tensor *scales);
/* Into out, or (NULL) into a new tensor of that dtype; bias and scale_result may be NULL. */
struct aten_tensor *aten_scaled_mm(struct aten_tensor *out, int dtype, struct aten_tensor *a, struct aten_tensor *b,
				   struct aten_tensor *scale_a, struct aten_tensor *scale_b, struct aten_tensor *bias,
				   struct aten_tensor *scale_result);

/* sdpa.c: the output and logsumexp; attn_mask and scale may be NULL */
struct two aten_flash_attention(struct aten_tensor *query, struct aten_tensor *key, struct aten_tensor *value, double dropout_p,
				bool is_causal, struct aten_tensor *attn_mask, const double *scale);

/* index.c; items of indices may be NULL */
struct aten_tensor *aten_index(struct aten_tensor *self, struct tensors indices);
struct aten_tensor *aten_index_put(struct aten_tensor *self, struct tensors indices, struct aten_tensor *values, bool accumulate);
void aten_index_put_out(struct aten_tensor *out, struct aten_tensor *self, struct tensors indices, struct aten_tensor *values,
			bool accumulate);
struct aten_tensor *aten_masked_select(struct aten_tensor *self, struct aten_tensor *mask);
struct aten_tensor *aten_masked_scatter(struct aten_tensor *self, struct aten_tensor *mask, struct aten_tensor *source);
struct aten_tensor *aten_masked_scatter_backward(struct aten_tensor *grad_output, struct aten_tensor *mask, struct ints sizes);

/* scatter.c */
void aten_scatter_out(struct aten_tensor *out, struct aten_tensor *self, int64_t dim, struct aten_tensor *index, struct aten_tensor *src);
void aten_scatter_value_out(struct aten_tensor *out, struct aten_tensor *self, int64_t dim, struct aten_tensor *index, double value);
void aten_scatter_reduce_out(struct aten_tensor *out, struct aten_tensor *self, int64_t dim, struct aten_tensor *index,
			     struct aten_tensor *src, const char *reduce, bool include_self);
struct aten_tensor *aten_index_reduce(struct aten_tensor *self, int64_t dim, struct aten_tensor *index, struct aten_tensor *source,
				      const char *reduce, bool include_self);

/* scan.c */
struct aten_tensor *aten_cumulate(struct aten_tensor *self, int64_t dim, int dtype,
				  bool product); /* DTYPE_NONE: self's, or int64 for integers */
struct two aten_cum_extreme(struct aten_tensor *self, int64_t dim, bool max);
struct aten_tensor *aten_logcumsumexp(struct aten_tensor *self, int64_t dim);
struct aten_tensor *aten_nonzero_static(struct aten_tensor *self, int64_t size, int64_t fill_value);
struct aten_tensor *aten_repeat_interleave(struct aten_tensor *repeats, const int64_t *output_size);
struct aten_tensor *aten_repeat_each(struct aten_tensor *self, int64_t dim, int64_t times); /* repeat_interleave.self_int */

/* sort.c: values and indices; sorting is always stable */
struct two aten_sort(struct aten_tensor *self, int64_t dim, bool descending);
struct two aten_topk(struct aten_tensor *self, int64_t k, int64_t dim, bool largest, bool sorted);
struct two aten_kthvalue(struct aten_tensor *self, int64_t k, int64_t dim, bool keepdim);
struct aten_tensor *aten_median(struct aten_tensor *self, bool ignore_nan);
struct two aten_mode(struct aten_tensor *self, int64_t dim, bool keepdim);

/* product.c */
struct aten_tensor *aten_linear(struct aten_tensor *input, struct aten_tensor *weight, struct aten_tensor *bias); /* bias NULL: none */

/* pool.c: spatial is 2 or 3; a list has one number for all of them, or one each; no strides: those of the kernel. */
struct window_args {
	struct ints kernel, stride, pad, dilation;
};
struct two aten_max_pool(struct aten_tensor *self, int spatial, const struct window_args *a, bool ceil_mode);
struct two aten_adaptive_max_pool(struct aten_tensor *self, int spatial, struct ints size);
struct two aten_fractional_max_pool(struct aten_tensor *self, int spatial, struct ints kernel, struct ints size,
				    struct aten_tensor *samples);
struct aten_tensor *aten_avg_pool(struct aten_tensor *self, int spatial, const struct window_args *args, bool ceil_mode, bool include_pad,
				  const int64_t *divisor);
struct aten_tensor *aten_adaptive_avg_pool(struct aten_tensor *self, int spatial, struct ints size);
struct aten_tensor *aten_max_unpool(struct aten_tensor *self, int spatial, struct aten_tensor *indices, struct ints size);

/* random.c: fills a dense tensor, in memory order, with the numbers that torch's CPU generator draws */
void aten_fill_uniform(const struct aten_tensor *t, double from, double to);
void aten_fill_int(const struct aten_tensor *t, int64_t low, int64_t high);
void aten_fill_normal(const struct aten_tensor *t, double mean, double std);
void aten_fill_exponential(const struct aten_tensor *t, double lambda);
void aten_fill_bernoulli(const struct aten_tensor *t, double p);
void aten_fill_bernoulli_tensor(struct aten_tensor *t, struct aten_tensor *p);
struct aten_tensor *aten_randperm(int64_t n, int dtype);
struct two aten_native_dropout(struct aten_tensor *input, double p, bool train);
/* Fills t like rand ('u'), randn ('n') or randint, and returns it. */
struct aten_tensor *aten_fill_fresh(struct aten_tensor *t, char how, int64_t low, int64_t high);
void aten_need_default_generator(bool is_default);

/* search.c: side NULL: `right` decides; sorter, weight may be NULL; no range: that of the values */
struct aten_tensor *aten_searchsorted(struct aten_tensor *sequence, struct aten_tensor *values, bool int32, bool right, const char *side,
				      struct aten_tensor *sorter);
struct aten_tensor *aten_bucketize(struct aten_tensor *values, struct aten_tensor *boundaries, bool int32, bool right);
struct aten_tensor *aten_histc(struct aten_tensor *self, int64_t bins, double min, double max);
struct two aten_histogram(struct aten_tensor *self, int64_t bins, struct doubles range, const struct aten_tensor *weight, bool density);
struct aten_tensor *aten_histogramdd(struct aten_tensor *self, struct ints bins, struct doubles range, const struct aten_tensor *weight,
				     bool density);

/* bag.c */
struct bag_args {
	struct aten_tensor *weight, *indices, *offsets, *per_sample_weights; /* the last may be NULL */
	int64_t mode, padding_idx;
	bool include_last_offset, forward_only;
};
void aten_embedding_bag(const struct bag_args *a, struct aten_tensor **ret); /* 4 */
struct aten_tensor *aten_segment_reduce(struct aten_tensor *data, const char *reduce, struct aten_tensor *lengths,
					struct aten_tensor *indices, struct aten_tensor *offsets, int64_t axis, const double *initial);
struct aten_tensor *aten_cdist(struct aten_tensor *x1, struct aten_tensor *x2, double p);
struct aten_tensor *aten_pdist(struct aten_tensor *self, double p);

/* grid.c: spatial is 2 or 3 */
struct aten_tensor *aten_grid_sampler(struct aten_tensor *input, struct aten_tensor *grid, int spatial, int64_t mode, int64_t padding,
				      bool align);

/* fft.c */
struct aten_tensor *aten_fft_c2c(struct aten_tensor *self, struct ints dims, int64_t normalization, bool forward);
struct aten_tensor *aten_fft_r2c(struct aten_tensor *self, struct ints dims, int64_t normalization, bool onesided);

/* linalg_lu.c */
struct unpacked_lu {
	struct aten_tensor *p, *l, *u;
};
struct unpacked_lu aten_lu_unpack(struct aten_tensor *lu, struct aten_tensor *pivots, bool data, bool permuted);

/* linalg_qr.c */
struct two aten_geqrf(struct aten_tensor *self);
struct aten_tensor *aten_ormqr(struct aten_tensor *self, struct aten_tensor *input2, struct aten_tensor *input3, int32_t left,
			       int32_t transpose);

/* linalg_solve.c */
struct two aten_triangular_solve(struct aten_tensor *self, struct aten_tensor *A, bool upper, bool transpose, bool unitriangular);
struct aten_tensor *aten_cholesky_solve(struct aten_tensor *self, struct aten_tensor *input2, int32_t upper);
struct aten_tensor *aten_cholesky_inverse(struct aten_tensor *self, int32_t upper);

#endif
