/* schemas.h - made by scripts/gen-aten-schemas from torch's list of operators (2.13 and 2.15 agree). Do not edit. Sorted. */
"__and__.Scalar(Tensor self, Scalar other) -> Tensor",
"__and__.Tensor(Tensor self, Tensor other) -> Tensor",
"__lshift__.Scalar(Tensor self, Scalar other) -> Tensor",
"__lshift__.Tensor(Tensor self, Tensor other) -> Tensor",
"__or__.Scalar(Tensor self, Scalar other) -> Tensor",
"__or__.Tensor(Tensor self, Tensor other) -> Tensor",
"__rshift__.Scalar(Tensor self, Scalar other) -> Tensor",
"__rshift__.Tensor(Tensor self, Tensor other) -> Tensor",
"__xor__.Scalar(Tensor self, Scalar other) -> Tensor",
"__xor__.Tensor(Tensor self, Tensor other) -> Tensor",
"_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor",
"_adaptive_avg_pool2d_backward(Tensor grad_output, Tensor self) -> Tensor",
"_adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor",
"_addmm_activation(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1, bool use_gelu=False"
") -> Tensor",
"_assert_scalar(Scalar self, str assert_msg) -> ()",
"_assert_tensor_metadata(Tensor a, SymInt[]? size=None, SymInt[]? stride=None, ScalarType? dtype=None, *, Devic"
"e? device=None, Layout? layout=None) -> ()",
"_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor",
"_conj(Tensor(a) self) -> Tensor(a)",
"_convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation, "
"bool transposed, SymInt[] output_padding, SymInt groups, bool benchmark, bool deterministic, bool cudnn_enable"
"d, bool allow_tf32) -> Tensor",
"_convolution.deprecated(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[]"
" dilation, bool transposed, int[] output_padding, SymInt groups, bool benchmark, bool deterministic, bool cudn"
"n_enabled) -> Tensor",
"_efficientzerotensor(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?"
" pin_memory=None) -> Tensor",
"_embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool "
"sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1) -> (Tensor,"
" Tensor, Tensor, Tensor)",
"_embedding_bag_forward_only(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int "
"mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1"
") -> (Tensor, Tensor, Tensor, Tensor)",
"_fake_quantize_learnable_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_"
"min, int quant_max, float grad_factor=1.) -> Tensor",
"_fake_quantize_learnable_per_tensor_affine(Tensor self, Tensor scale, Tensor zero_point, int quant_min, int qu"
"ant_max, float grad_factor=1.) -> Tensor",
"_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, Tensor"
" fake_quant_enabled, int quant_min, int quant_max) -> (Tensor output, Tensor mask)",
"_fft_c2c(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor",
"_fft_c2r(Tensor self, int[] dim, int normalization, SymInt last_dim_size) -> Tensor",
"_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor",
"_fused_rms_norm(Tensor input, int[] normalized_shape, Tensor? weight, float? eps) -> (Tensor, Tensor)",
"_grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, ScalarType? out_dtype=None) -> Ten"
"sor",
"_histogramdd_from_bin_cts(Tensor self, int[] bins, *, float[]? range=None, Tensor? weight=None, bool density=F"
"alse) -> Tensor",
"_int_mm(Tensor self, Tensor mat2) -> Tensor",
"_is_all_true(Tensor self) -> Tensor",
"_is_any_true(Tensor self) -> Tensor",
"_linalg_check_errors(Tensor info, str api_name, *, bool is_matrix) -> ()",
"_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)",
"_linalg_eigh(Tensor A, str UPLO=\"L\", bool compute_v=True) -> (Tensor eigenvalues, Tensor eigenvectors)",
"_linalg_eigvals(Tensor self) -> Tensor",
"_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)",
"_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor LU,"
" Tensor pivots, Tensor info)",
"_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? driver=None) -> (Tensor U, Tenso"
"r S, Tensor Vh)",
"_local_scalar_dense(Tensor self) -> Scalar",
"_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
"_native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, Tensor(b!) runni"
"ng_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
"_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool training, float momentum, f"
"loat eps) -> (Tensor, Tensor, Tensor)",
"_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor r"
"unning_var, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
"_neg_view(Tensor(a) self) -> Tensor(a)",
"_pdist_forward(Tensor self, float p=2.) -> Tensor",
"_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
"_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor value, float dropout_p=0., bool i"
"s_causal=False, *, Tensor? attn_mask=None, float? scale=None) -> (Tensor output, Tensor logsumexp)",
"_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
"_stack(Tensor[] tensors, int dim=0) -> Tensor",
"_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=No"
"ne, bool non_blocking=False, MemoryFormat? memory_format=None) -> Tensor",
"_trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] expand3, int[] sumdim, int unr"
"oll_dim=1) -> Tensor",
"_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tenso"
"r, Tensor)",
"_unsafe_index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
"_unsafe_index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
"_unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices, Scalar fill) -> Tensor",
"_unsafe_view(Tensor self, SymInt[] size) -> Tensor",
"_upsample_bicubic2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? sc"
"ales_w=None) -> Tensor",
"_upsample_bicubic2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) ->"
" Tensor",
"_upsample_bilinear2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? s"
"cales_w=None) -> Tensor",
"_upsample_bilinear2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -"
"> Tensor",
"_upsample_nearest_exact1d(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor",
"_upsample_nearest_exact1d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor",
"_upsample_nearest_exact2d(Tensor self, SymInt[2] output_size, float? scales_h=None, float? scales_w=None) -> T"
"ensor",
"_upsample_nearest_exact2d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor",
"_upsample_nearest_exact3d(Tensor self, SymInt[3] output_size, float? scales_d=None, float? scales_h=None, floa"
"t? scales_w=None) -> Tensor",
"_upsample_nearest_exact3d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor",
"_weight_int8pack_mm(Tensor self, Tensor mat2, Tensor scales) -> Tensor",
"_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor",
"abs(Tensor self) -> Tensor",
"absolute(Tensor self) -> Tensor",
"acos(Tensor self) -> Tensor",
"acosh(Tensor self) -> Tensor",
"adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor",
"adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor",
"adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor",
"adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)",
"adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor)",
"adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor)",
"add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
"add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
"addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
"addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
"addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
"addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
"addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
"addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
"adjoint(Tensor(a) self) -> Tensor(a)",
"affine_grid_generator(Tensor theta, SymInt[] size, bool align_corners) -> Tensor",
"alias(Tensor(a) self) -> Tensor(a)",
"alias_copy(Tensor self) -> Tensor",
"all(Tensor self) -> Tensor",
"all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
"all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
"allclose(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, float atol=1e-08, bool equal_nan=False)"
" -> bool",
"alpha_dropout(Tensor input, float p, bool train) -> Tensor",
"amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
"amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
"aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)",
"angle(Tensor self) -> Tensor",
"any(Tensor self) -> Tensor",
"any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
"any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
"arange(Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None)"
" -> Tensor",
"arange.start(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bo"
"ol? pin_memory=None) -> Tensor",
"arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? layout=None, Dev"
"ice? device=None, bool? pin_memory=None) -> Tensor",
"arccos(Tensor self) -> Tensor",
"arccosh(Tensor self) -> Tensor",
"arcsin(Tensor self) -> Tensor",
"arcsinh(Tensor self) -> Tensor",
"arctan(Tensor self) -> Tensor",
"arctan2(Tensor self, Tensor other) -> Tensor",
"arctanh(Tensor self) -> Tensor",
"argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
"argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
"argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor",
"argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor",
"argwhere(Tensor self) -> Tensor",
"as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a)",
"as_strided_copy(Tensor self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor",
"as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Te"
"nsor",
"asin(Tensor self) -> Tensor",
"asinh(Tensor self) -> Tensor",
"atan(Tensor self) -> Tensor",
"atan2(Tensor self, Tensor other) -> Tensor",
"atan2.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
"atanh(Tensor self) -> Tensor",
"atleast_1d(Tensor self) -> Tensor",
"atleast_1d.Sequence(Tensor[] tensors) -> Tensor[]",
"atleast_2d(Tensor self) -> Tensor",
"atleast_2d.Sequence(Tensor[] tensors) -> Tensor[]",
"atleast_3d(Tensor self) -> Tensor",
"atleast_3d.Sequence(Tensor[] tensors) -> Tensor[]",
"avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], bool ceil_mode=False, bool c"
"ount_include_pad=True) -> Tensor",
"avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False, bool cou"
"nt_include_pad=True, int? divisor_override=None) -> Tensor",
"avg_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, bool c"
"eil_mode, bool count_include_pad, int? divisor_override) -> Tensor",
"avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, bool ceil_mode=False, bool cou"
"nt_include_pad=True, int? divisor_override=None) -> Tensor",
"baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
"bartlett_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
"pin_memory=None) -> Tensor",
"bartlett_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, Dev"
"ice? device=None, bool? pin_memory=None) -> Tensor",
"batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool trainin"
"g, float momentum, float eps, bool cudnn_enabled) -> Tensor",
"bernoulli(Tensor self, *, Generator? generator=None) -> Tensor",
"bernoulli.Tensor(Tensor self, Tensor p, *, Generator? generator=None) -> Tensor",
"bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor",
"bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor",
"binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> Tensor",
"binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int"
" reduction=1) -> Tensor",
"bincount(Tensor self, Tensor? weights=None, SymInt minlength=0) -> Tensor",
"bitwise_and.Scalar(Tensor self, Scalar other) -> Tensor",
"bitwise_and.Scalar_Tensor(Scalar self, Tensor other) -> Tensor",
"bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor",
"bitwise_left_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor",
"bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor",
"bitwise_left_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor",
"bitwise_not(Tensor self) -> Tensor",
"bitwise_or.Scalar(Tensor self, Scalar other) -> Tensor",
"bitwise_or.Scalar_Tensor(Scalar self, Tensor other) -> Tensor",
"bitwise_or.Tensor(Tensor self, Tensor other) -> Tensor",
"bitwise_right_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor",
"bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor",
"bitwise_right_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor",
"bitwise_xor.Scalar(Tensor self, Scalar other) -> Tensor",
"bitwise_xor.Scalar_Tensor(Scalar self, Tensor other) -> Tensor",
"bitwise_xor.Tensor(Tensor self, Tensor other) -> Tensor",
"blackman_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
"pin_memory=None) -> Tensor",
"blackman_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, Dev"
"ice? device=None, bool? pin_memory=None) -> Tensor",
"block_diag(Tensor[] tensors) -> Tensor",
"bmm(Tensor self, Tensor mat2) -> Tensor",
"broadcast_tensors(Tensor[] tensors) -> Tensor[]",
"broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a)",
"bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
"bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
"cartesian_prod(Tensor[] tensors) -> Tensor",
"cat(Tensor[] tensors, int dim=0) -> Tensor",
"cdist(Tensor x1, Tensor x2, float p=2., int? compute_mode=None) -> Tensor",
"ceil(Tensor self) -> Tensor",
"celu(Tensor self, Scalar alpha=1.) -> Tensor",
"chain_matmul(Tensor[] matrices) -> Tensor",
"channel_shuffle(Tensor self, SymInt groups) -> Tensor",
"cholesky(Tensor self, bool upper=False) -> Tensor",
"cholesky_inverse(Tensor self, bool upper=False) -> Tensor",
"cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor",
"chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]",
"clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
"clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
"clamp_max(Tensor self, Scalar max) -> Tensor",
"clamp_max.Tensor(Tensor self, Tensor max) -> Tensor",
"clamp_min(Tensor self, Scalar min) -> Tensor",
"clamp_min.Tensor(Tensor self, Tensor min) -> Tensor",
"clip(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
"clip.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
"clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
"col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride)"
" -> Tensor",
"column_stack(Tensor[] tensors) -> Tensor",
"combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor",
"complex(Tensor real, Tensor imag) -> Tensor",
"concat(Tensor[] tensors, int dim=0) -> Tensor",
"concatenate(Tensor[] tensors, int dim=0) -> Tensor",
"conj_physical(Tensor self) -> Tensor",
"constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor",
"contiguous(Tensor(a) self, *, MemoryFormat memory_format=0) -> Tensor(a)",
"conv1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], SymInt[1] padding=[0], SymInt[1] "
"dilation=[1], SymInt groups=1) -> Tensor",
"conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], str padding=\"valid\", SymI"
"nt[1] dilation=[1], SymInt groups=1) -> Tensor",
"conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0], SymI"
"nt[2] dilation=[1, 1], SymInt groups=1) -> Tensor",
"conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], str padding=\"valid\", S"
"ymInt[2] dilation=[1, 1], SymInt groups=1) -> Tensor",
"conv3d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0]"
", SymInt[3] dilation=[1, 1, 1], SymInt groups=1) -> Tensor",
"conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], str padding=\"valid\""
", SymInt[3] dilation=[1, 1, 1], SymInt groups=1) -> Tensor",
"conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], SymInt[1] padding=[0], "
"SymInt[1] output_padding=[0], SymInt groups=1, SymInt[1] dilation=[1]) -> Tensor",
"conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], SymInt[2] padd"
"ing=[0, 0], SymInt[2] output_padding=[0, 0], SymInt groups=1, SymInt[2] dilation=[1, 1]) -> Tensor",
"conv_transpose3d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], SymInt[3] p"
"adding=[0, 0, 0], SymInt[3] output_padding=[0, 0, 0], SymInt groups=1, SymInt[3] dilation=[1, 1, 1]) -> Tensor",
"convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation, b"
"ool transposed, SymInt[] output_padding, SymInt groups) -> Tensor",
"convolution_backward(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes, SymInt[] stride, S"
"ymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, bool[3] output_ma"
"sk) -> (Tensor, Tensor, Tensor)",
"copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor",
"copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)",
"copysign.Scalar(Tensor self, Scalar other) -> Tensor",
"copysign.Tensor(Tensor self, Tensor other) -> Tensor",
"corrcoef(Tensor self) -> Tensor",
"cos(Tensor self) -> Tensor",
"cosh(Tensor self) -> Tensor",
"cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., int reduction=1) -> Tensor",
"cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor",
"count_nonzero(Tensor self, int? dim=None) -> Tensor",
"count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor",
"cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor",
"cross(Tensor self, Tensor other, int? dim=None) -> Tensor",
"cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100,"
" float label_smoothing=0.) -> Tensor",
"ctc_loss.IntList(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0, int"
" reduction=1, bool zero_infinity=False) -> Tensor",
"ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank=0, in"
"t reduction=1, bool zero_infinity=False) -> Tensor",
"cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)",
"cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)",
"cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
"cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
"cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor",
"cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
"deg2rad(Tensor self) -> Tensor",
"det(Tensor self) -> Tensor",
"detach(Tensor(a) self) -> Tensor(a)",
"detach_(Tensor(a!) self) -> Tensor(a!)",
"detach_copy(Tensor self) -> Tensor",
"diag(Tensor self, int diagonal=0) -> Tensor",
"diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
"diagflat(Tensor self, int offset=0) -> Tensor",
"diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)",
"diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor",
"diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor",
"diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor",
"digamma(Tensor self) -> Tensor",
"dim_order_ops::_clone_dim_order(Tensor self, *, bool non_blocking=False, int[]? dim_order=None) -> Tensor",
"dim_order_ops::_empty_dim_order(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=Non"
"e, bool? pin_memory=None, int[]? dim_order=None) -> Tensor",
"dim_order_ops::_to_dim_order_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device="
"None, bool? pin_memory=None, bool non_blocking=False, int[]? dim_order=None) -> Tensor",
"dist(Tensor self, Tensor other, Scalar p=2) -> Tensor",
"div.Scalar(Tensor self, Scalar other) -> Tensor",
"div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor",
"div.Tensor(Tensor self, Tensor other) -> Tensor",
"div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
"divide.Scalar(Tensor self, Scalar other) -> Tensor",
"divide.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor",
"divide.Tensor(Tensor self, Tensor other) -> Tensor",
"divide.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
"dot(Tensor self, Tensor tensor) -> Tensor",
"dropout(Tensor input, float p, bool train) -> Tensor",
"dsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]",
"dsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]",
"dstack(Tensor[] tensors) -> Tensor",
"einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor",
"elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor",
"embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=Fal"
"se) -> Tensor",
"embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool s"
"parse=False, Tensor? per_sample_weights=None, bool include_last_offset=False) -> (Tensor, Tensor, Tensor, Tens"
"or)",
"embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq, int mode, bo"
"ol sparse, Tensor? per_sample_weights, bool include_last_offset, int? padding_idx) -> (Tensor, Tensor, Tensor,"
" Tensor)",
"embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt padding_idx, bool scal"
"e_grad_by_freq) -> Tensor",
"empty.memory_format(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
"pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
"empty_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory="
"None, MemoryFormat? memory_format=None) -> Tensor",
"empty_permuted(SymInt[] size, int[] physical_layout, *, ScalarType? dtype=None, Layout? layout=None, Device? d"
"evice=None, bool? pin_memory=None) -> Tensor",
"empty_strided(SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, Layout? layout=None, Device? device=N"
"one, bool? pin_memory=None) -> Tensor",
"eq.Scalar(Tensor self, Scalar other) -> Tensor",
"eq.Tensor(Tensor self, Tensor other) -> Tensor",
"equal(Tensor self, Tensor other) -> bool",
"erf(Tensor self) -> Tensor",
"erfc(Tensor self) -> Tensor",
"erfinv(Tensor self) -> Tensor",
"exp(Tensor self) -> Tensor",
"exp2(Tensor self) -> Tensor",
"expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)",
"expand_as(Tensor(a) self, Tensor other) -> Tensor(a)",
"expand_copy(Tensor self, SymInt[] size, *, bool implicit=False) -> Tensor",
"expm1(Tensor self) -> Tensor",
"exponential(Tensor self, float lambd=1., *, Generator? generator=None) -> Tensor",
"eye(SymInt n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> T"
"ensor",
"eye.m(SymInt n, SymInt m, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memor"
"y=None) -> Tensor",
"fake_quantize_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min, int qu"
"ant_max) -> Tensor",
"fake_quantize_per_channel_affine_cachemask(Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_m"
"in, int quant_max) -> (Tensor output, Tensor mask)",
"fake_quantize_per_tensor_affine(Tensor self, float scale, int zero_point, int quant_min, int quant_max) -> Ten"
"sor",
"fake_quantize_per_tensor_affine.tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, int quant_min, in"
"t quant_max) -> Tensor",
"fake_quantize_per_tensor_affine_cachemask(Tensor self, float scale, int zero_point, int quant_min, int quant_m"
"ax) -> (Tensor output, Tensor mask)",
"feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor",
"feature_dropout(Tensor input, float p, bool train) -> Tensor",
"fft_fft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
"fft_fft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor",
"fft_fftfreq(int n, float d=1., *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_"
"memory=None) -> Tensor",
"fft_fftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
"fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor",
"fft_hfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
"fft_hfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor",
"fft_hfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
"fft_ifft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
"fft_ifft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor",
"fft_ifftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
"fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor",
"fft_ihfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
"fft_ihfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor",
"fft_ihfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
"fft_irfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
"fft_irfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor",
"fft_irfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
"fft_rfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
"fft_rfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor",
"fft_rfftfreq(int n, float d=1., *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin"
"_memory=None) -> Tensor",
"fft_rfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
"fill.Scalar(Tensor self, Scalar value) -> Tensor",
"fill.Tensor(Tensor self, Tensor value) -> Tensor",
"fix(Tensor self) -> Tensor",
"flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
"flip(Tensor self, int[] dims) -> Tensor",
"fliplr(Tensor self) -> Tensor",
"flipud(Tensor self) -> Tensor",
"float_power.Scalar(Scalar self, Tensor exponent) -> Tensor",
"float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
"float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
"floor(Tensor self) -> Tensor",
"floor_divide(Tensor self, Tensor other) -> Tensor",
"floor_divide.Scalar(Tensor self, Scalar other) -> Tensor",
"fmax(Tensor self, Tensor other) -> Tensor",
"fmin(Tensor self, Tensor other) -> Tensor",
"fmod.Scalar(Tensor self, Scalar other) -> Tensor",
"fmod.Tensor(Tensor self, Tensor other) -> Tensor",
"frac(Tensor self) -> Tensor",
"fractional_max_pool2d(Tensor self, int[2] kernel_size, int[2] output_size, Tensor random_samples) -> (Tensor, "
"Tensor)",
"fractional_max_pool3d(Tensor self, int[3] kernel_size, int[3] output_size, Tensor random_samples) -> (Tensor, "
"Tensor)",
"frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)",
"frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
"full(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bo"
"ol? pin_memory=None) -> Tensor",
"full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,"
" bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
"fused_moving_avg_obs_fake_quant(Tensor self, Tensor observer_on, Tensor fake_quant_on, Tensor(a!) running_min,"
" Tensor(b!) running_max, Tensor(c!) scale, Tensor(d!) zero_point, float averaging_const, int quant_min, int qu"
"ant_max, int ch_axis, bool per_row_fake_quant=False, bool symmetric_quant=False) -> Tensor",
"gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
"gcd(Tensor self, Tensor other) -> Tensor",
"ge.Scalar(Tensor self, Scalar other) -> Tensor",
"ge.Tensor(Tensor self, Tensor other) -> Tensor",
"gelu(Tensor self, *, str approximate=\"none\") -> Tensor",
"geqrf(Tensor self) -> (Tensor a, Tensor tau)",
"ger(Tensor self, Tensor vec2) -> Tensor",
"glu(Tensor self, int dim=-1) -> Tensor",
"greater.Scalar(Tensor self, Scalar other) -> Tensor",
"greater.Tensor(Tensor self, Tensor other) -> Tensor",
"greater_equal.Scalar(Tensor self, Scalar other) -> Tensor",
"greater_equal.Tensor(Tensor self, Tensor other) -> Tensor",
"grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tenso"
"r",
"grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Te"
"nsor",
"grid_sampler_3d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Te"
"nsor",
"group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1.0000000000000001e"
"-05, bool cudnn_enabled=True) -> Tensor",
"gru.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train"
", bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
"gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor",
"gt.Scalar(Tensor self, Scalar other) -> Tensor",
"gt.Tensor(Tensor self, Tensor other) -> Tensor",
"hamming_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? p"
"in_memory=None) -> Tensor",
"hamming_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, Devi"
"ce? device=None, bool? pin_memory=None) -> Tensor",
"hamming_window.periodic_alpha(int window_length, bool periodic, float alpha, *, ScalarType? dtype=None, Layout"
"? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
"hamming_window.periodic_alpha_beta(int window_length, bool periodic, float alpha, float beta, *, ScalarType? d"
"type=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
"hann_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_"
"memory=None) -> Tensor",
"hann_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, Device?"
" device=None, bool? pin_memory=None) -> Tensor",
"hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
"hardsigmoid(Tensor self) -> Tensor",
"hardswish(Tensor self) -> Tensor",
"hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor",
"heaviside(Tensor self, Tensor values) -> Tensor",
"hinge_embedding_loss(Tensor self, Tensor target, float margin=1., int reduction=1) -> Tensor",
"histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor",
"histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, Tensor? weight=None, bool density=False) -"
"> (Tensor hist, Tensor bin_edges)",
"hsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]",
"hsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]",
"hstack(Tensor[] tensors) -> Tensor",
"huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.) -> Tensor",
"hypot(Tensor self, Tensor other) -> Tensor",
"i0(Tensor self) -> Tensor",
"igamma(Tensor self, Tensor other) -> Tensor",
"igammac(Tensor self, Tensor other) -> Tensor",
"im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor",
"imag(Tensor(a) self) -> Tensor(a)",
"index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
"index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
"index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",
"index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
"index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
"index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
"index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor(a!)",
"index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> Tens"
"or",
"index_select(Tensor self, int dim, Tensor index) -> Tensor",
"inner(Tensor self, Tensor other) -> Tensor",
"instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool use_"
"input_stats, float momentum, float eps, bool cudnn_enabled) -> Tensor",
"inverse(Tensor self) -> Tensor",
"isclose(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, float atol=1e-08, bool equal_nan=False) "
"-> Tensor",
"isfinite(Tensor self) -> Tensor",
"isin.Scalar_Tensor(Scalar element, Tensor test_elements, *, bool assume_unique=False, bool invert=False) -> Te"
"nsor",
"isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool invert=False) -> Te"
"nsor",
"isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False) -> T"
"ensor",
"isinf(Tensor self) -> Tensor",
"isnan(Tensor self) -> Tensor",
"isneginf(Tensor self) -> Tensor",
"isposinf(Tensor self) -> Tensor",
"isreal(Tensor self) -> Tensor",
"istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool center=Tru"
"e, bool normalized=False, bool? onesided=None, int? length=None, bool return_complex=False) -> Tensor",
"item(Tensor self) -> Scalar",
"kaiser_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pi"
"n_memory=None) -> Tensor",
"kaiser_window.beta(int window_length, bool periodic, float beta, *, ScalarType? dtype=None, Layout? layout=Non"
"e, Device? device=None, bool? pin_memory=None) -> Tensor",
"kaiser_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, Devic"
"e? device=None, bool? pin_memory=None) -> Tensor",
"kl_div(Tensor self, Tensor target, int reduction=1, *, bool log_target=False) -> Tensor",
"kron(Tensor self, Tensor other) -> Tensor",
"kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
"l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
"layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1.000000"
"0000000001e-05, bool cudnn_enable=True) -> Tensor",
"lcm(Tensor self, Tensor other) -> Tensor",
"ldexp.Tensor(Tensor self, Tensor other) -> Tensor",
"le.Scalar(Tensor self, Scalar other) -> Tensor",
"le.Tensor(Tensor self, Tensor other) -> Tensor",
"leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor",
"lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor",
"lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor",
"less.Scalar(Tensor self, Scalar other) -> Tensor",
"less.Tensor(Tensor self, Tensor other) -> Tensor",
"less_equal.Scalar(Tensor self, Scalar other) -> Tensor",
"less_equal.Tensor(Tensor self, Tensor other) -> Tensor",
"lgamma(Tensor self) -> Tensor",
"lift_fresh(Tensor(a) self) -> Tensor(a)",
"lift_fresh_copy(Tensor self) -> Tensor",
"linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor",
"linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)",
"linalg_cond(Tensor self, Scalar? p=None) -> Tensor",
"linalg_cond.p_str(Tensor self, str p) -> Tensor",
"linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor",
"linalg_det(Tensor A) -> Tensor",
"linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)",
"linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)",
"linalg_eigh(Tensor self, str UPLO=\"L\") -> (Tensor eigenvalues, Tensor eigenvectors)",
"linalg_eigvals(Tensor self) -> Tensor",
"linalg_eigvalsh(Tensor self, str UPLO=\"L\") -> Tensor",
"linalg_householder_product(Tensor input, Tensor tau) -> Tensor",
"linalg_inv(Tensor A) -> Tensor",
"linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
"linalg_ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)",
"linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) -> (Tensor LD, Tensor pivo"
"ts, Tensor info)",
"linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor",
"linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> (Tensor solution, Tensor residu"
"als, Tensor rank, Tensor singular_values)",
"linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)",
"linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)",
"linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor pivots, Tenso"
"r info)",
"linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor",
"linalg_matmul(Tensor self, Tensor other) -> Tensor",
"linalg_matrix_exp(Tensor self) -> Tensor",
"linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2, -1], bool keepdim=False, *, ScalarType? dtype=None)"
" -> Tensor",
"linalg_matrix_norm.str_ord(Tensor self, str ord=\"fro\", int[] dim=[-2, -1], bool keepdim=False, *, ScalarType? "
"dtype=None) -> Tensor",
"linalg_matrix_power(Tensor self, int n) -> Tensor",
"linalg_matrix_rank(Tensor self, float tol, bool hermitian=False) -> Tensor",
"linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -"
"> Tensor",
"linalg_matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=Fals"
"e) -> Tensor",
"linalg_matrix_rank.tol_tensor(Tensor input, Tensor tol, bool hermitian=False) -> Tensor",
"linalg_multi_dot(Tensor[] tensors) -> Tensor",
"linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) ->"
" Tensor",
"linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> "
"Tensor",
"linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor",
"linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tenso"
"r",
"linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False) -> Te"
"nsor",
"linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False) -> Tensor",
"linalg_qr(Tensor A, str mode=\"reduced\") -> (Tensor Q, Tensor R)",
"linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)",
"linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor",
"linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor info"
")",
"linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False) -> Ten"
"sor",
"linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)",
"linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor",
"linalg_tensorinv(Tensor self, int ind=2) -> Tensor",
"linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor",
"linalg_vander(Tensor x, *, SymInt? N=None) -> Tensor",
"linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor",
"linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None)"
" -> Tensor",
"linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
"linspace(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? layout=None, Device? device=N"
"one, bool? pin_memory=None) -> Tensor",
"linspace.Scalar_Tensor(Scalar start, Tensor end, int steps, *, ScalarType? dtype=None, Layout? layout=None, De"
"vice? device=None, bool? pin_memory=None) -> Tensor",
"linspace.Tensor_Scalar(Tensor start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? layout=None, De"
"vice? device=None, bool? pin_memory=None) -> Tensor",
"linspace.Tensor_Tensor(Tensor start, Tensor end, int steps, *, ScalarType? dtype=None, Layout? layout=None, De"
"vice? device=None, bool? pin_memory=None) -> Tensor",
"log(Tensor self) -> Tensor",
"log10(Tensor self) -> Tensor",
"log1p(Tensor self) -> Tensor",
"log2(Tensor self) -> Tensor",
"log_sigmoid(Tensor self) -> Tensor",
"log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
"logaddexp(Tensor self, Tensor other) -> Tensor",
"logaddexp2(Tensor self, Tensor other) -> Tensor",
"logcumsumexp(Tensor self, int dim) -> Tensor",
"logdet(Tensor self) -> Tensor",
"logical_and(Tensor self, Tensor other) -> Tensor",
"logical_not(Tensor self) -> Tensor",
"logical_or(Tensor self, Tensor other) -> Tensor",
"logical_xor(Tensor self, Tensor other) -> Tensor",
"logit(Tensor self, float? eps=None) -> Tensor",
"logspace(Scalar start, Scalar end, int steps, float base=10., *, ScalarType? dtype=None, Layout? layout=None, "
"Device? device=None, bool? pin_memory=None) -> Tensor",
"logspace.Scalar_Tensor(Scalar start, Tensor end, int steps, float base=10., *, ScalarType? dtype=None, Layout?"
" layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
"logspace.Tensor_Scalar(Tensor start, Scalar end, int steps, float base=10., *, ScalarType? dtype=None, Layout?"
" layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
"logspace.Tensor_Tensor(Tensor start, Tensor end, int steps, float base=10., *, ScalarType? dtype=None, Layout?"
" layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
"logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
"lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool tr"
"ain, bool bidirectional, bool batch_first) -> (Tensor, Tensor, Tensor)",
"lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> (Tenso"
"r, Tensor)",
"lt.Scalar(Tensor self, Scalar other) -> Tensor",
"lt.Tensor(Tensor self, Tensor other) -> Tensor",
"lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor",
"lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> (Tensor P, Tens"
"or L, Tensor U)",
"mH(Tensor(a) self) -> Tensor(a)",
"mT(Tensor(a) self) -> Tensor(a)",
"margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., int reduction=1) -> Tensor",
"masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor",
"masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor",
"masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor",
"masked_select(Tensor self, Tensor mask) -> Tensor",
"matmul(Tensor self, Tensor other) -> Tensor",
"matrix_H(Tensor(a) self) -> Tensor(a)",
"matrix_exp(Tensor self) -> Tensor",
"matrix_power(Tensor self, int n) -> Tensor",
"max(Tensor self) -> Tensor",
"max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
"max.other(Tensor self, Tensor other) -> Tensor",
"max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], int[1] dilation=[1], bool ce"
"il_mode=False) -> Tensor",
"max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_m"
"ode=False) -> Tensor",
"max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1"
", bool ceil_mode=False) -> (Tensor, Tensor)",
"max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] pa"
"dding, int[2] dilation, bool ceil_mode, Tensor indices) -> Tensor",
"max_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, bool ceil_m"
"ode=False) -> Tensor",
"max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1"
", bool ceil_mode=False) -> (Tensor, Tensor)",
"max_unpool2d(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor",
"max_unpool3d(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, int[3] padding) -> Tensor",
"maximum(Tensor self, Tensor other) -> Tensor",
"mean(Tensor self, *, ScalarType? dtype=None) -> Tensor",
"mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
"median(Tensor self) -> Tensor",
"median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
"meshgrid(Tensor[] tensors) -> Tensor[]",
"meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]",
"min(Tensor self) -> Tensor",
"min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
"min.other(Tensor self, Tensor other) -> Tensor",
"minimum(Tensor self, Tensor other) -> Tensor",
"mish(Tensor self) -> Tensor",
"mkl::_mkl_linear(Tensor X, Tensor MKL_W, Tensor ORI_W, Tensor? B, int batch_size) -> Tensor",
"mkl::_mkl_reorder_linear_weight(Tensor X, int batch_size) -> Tensor",
"mkldnn::_convolution_pointwise(Tensor X, Tensor W, Tensor? B, int[] padding, int[] stride, int[] dilation, int"
" groups, str attr, Scalar?[] scalars, str? algorithm) -> Tensor Y",
"mkldnn::_convolution_pointwise.binary(Tensor X, Tensor other, Tensor W, Tensor? B, int[] padding, int[] stride"
", int[] dilation, int groups, str binary_attr, Scalar? alpha, str? unary_attr, Scalar?[] unary_scalars, str? u"
"nary_algorithm) -> Tensor Y",
"mkldnn::_convolution_pointwise_.binary(Tensor(a!) other, Tensor X, Tensor W, Tensor? B, int[] padding, int[] s"
"tride, int[] dilation, int groups, str binary_attr, Scalar? alpha, str? unary_attr, Scalar?[] unary_scalars, s"
"tr? unary_algorithm) -> Tensor(a!) Y",
"mkldnn::_convolution_transpose_pointwise(Tensor X, Tensor W, Tensor? B, int[] padding, int[] output_padding, i"
"nt[] stride, int[] dilation, int groups, str attr, Scalar?[] scalars, str? algorithm) -> Tensor Y",
"mkldnn::_linear_pointwise(Tensor X, Tensor W, Tensor? B, str attr, Scalar?[] scalars, str? algorithm) -> Tenso"
"r Y",
"mkldnn::_linear_pointwise.binary(Tensor X, Tensor other, Tensor W, Tensor? B, str attr) -> Tensor Y",
"mkldnn::_reorder_convolution_transpose_weight(Tensor self, int[2] padding=0, int[2] output_padding=0, int[2] s"
"tride=1, int[2] dilation=1, int groups=1, int[]? input_size=None) -> Tensor Y",
"mkldnn::_reorder_convolution_weight(Tensor self, int[2] padding=0, int[2] stride=1, int[2] dilation=1, int gro"
"ups=1, int[]? input_size=None) -> Tensor Y",
"mkldnn::_reorder_linear_weight(Tensor self, int? batch_size=None) -> Tensor Y",
"mkldnn_rnn_layer(Tensor input, Tensor weight0, Tensor weight1, Tensor weight2, Tensor weight3, Tensor hx_, Ten"
"sor cx_, bool reverse, int[] batch_sizes, int mode, int hidden_size, int num_layers, bool has_biases, bool bid"
"irectional, bool batch_first, bool train) -> (Tensor, Tensor, Tensor, Tensor)",
"mm(Tensor self, Tensor mat2) -> Tensor",
"mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
"moveaxis.int(Tensor(a) self, int source, int destination) -> Tensor(a)",
"moveaxis.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
"movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)",
"movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
"mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
"msort(Tensor self) -> Tensor",
"mul.Scalar(Tensor self, Scalar other) -> Tensor",
"mul.Tensor(Tensor self, Tensor other) -> Tensor",
"multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, int reduction="
"1) -> Tensor",
"multilabel_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
"multilabel_margin_loss_forward(Tensor self, Tensor target, int reduction) -> (Tensor output, Tensor is_target)",
"multinomial(Tensor self, SymInt num_samples, bool replacement=False, *, Generator? generator=None) -> Tensor",
"multiply.Scalar(Tensor self, Scalar other) -> Tensor",
"multiply.Tensor(Tensor self, Tensor other) -> Tensor",
"mv(Tensor self, Tensor vec) -> Tensor",
"mvlgamma(Tensor self, int p) -> Tensor",
"nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
"nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
"nanmedian(Tensor self) -> Tensor",
"nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
"nanquantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation=\"linear\") -> Tensor",
"nanquantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation=\"linear\") -> "
"Tensor",
"nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
"narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)",
"narrow.Tensor(Tensor(a) self, int dim, Tensor start, SymInt length) -> Tensor(a)",
"narrow_copy(Tensor self, int dim, SymInt start, SymInt length) -> Tensor",
"native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool "
"training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
"native_channel_shuffle(Tensor self, SymInt groups) -> Tensor",
"native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)",
"native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, int group, float"
" eps) -> (Tensor, Tensor, Tensor)",
"native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, SymInt N, "
"SymInt C, SymInt HxW, int group, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
"native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor"
", Tensor, Tensor)",
"native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean, Tensor rstd,"
" Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
"ne.Scalar(Tensor self, Scalar other) -> Tensor",
"ne.Tensor(Tensor self, Tensor other) -> Tensor",
"neg(Tensor self) -> Tensor",
"negative(Tensor self) -> Tensor",
"new_empty(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, boo"
"l? pin_memory=None) -> Tensor",
"new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, Layout? layout=None,"
" Device? device=None, bool? pin_memory=None) -> Tensor",
"new_full(Tensor self, SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device"
"? device=None, bool? pin_memory=None) -> Tensor",
"new_ones(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool"
"? pin_memory=None) -> Tensor",
"new_zeros(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, boo"
"l? pin_memory=None) -> Tensor",
"nextafter(Tensor self, Tensor other) -> Tensor",
"nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100) -> Tensor",
"nll_loss2d(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100) -> Tens"
"or",
"nll_loss2d_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> (Tensor "
"output, Tensor total_weight)",
"nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> (Tensor ou"
"tput, Tensor total_weight)",
"nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100) -> Ten"
"sor",
"nonzero(Tensor self) -> Tensor",
"nonzero_numpy(Tensor self) -> Tensor[]",
"nonzero_static(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor",
"norm.Scalar(Tensor self, Scalar p=2) -> Tensor",
"norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor",
"norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor",
"normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor",
"normal.Tensor_float(Tensor mean, float std=1., *, Generator? generator=None) -> Tensor",
"normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor",
"normal_functional(Tensor self, float mean=0., float std=1., *, Generator? generator=None) -> Tensor",
"not_equal.Scalar(Tensor self, Scalar other) -> Tensor",
"not_equal.Tensor(Tensor self, Tensor other) -> Tensor",
"nuclear_norm(Tensor self, bool keepdim=False) -> Tensor",
"nuclear_norm.dim(Tensor self, int[2] dim, bool keepdim=False) -> Tensor",
"numpy_T(Tensor(a) self) -> Tensor(a)",
"one_hot(Tensor self, int num_classes=-1) -> Tensor",
"onednn::qconv2d_pointwise(Tensor qx, float x_scale, int x_zero_point, Tensor qw, Tensor w_scale, Tensor w_zero"
"_point, Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups, float output_scale, int output_"
"zero_point, ScalarType? output_dtype, str attr, Scalar?[] scalars, str? algorithm) -> Tensor",
"onednn::qconv2d_pointwise.binary(Tensor qx, float x_scale, int x_zero_point, Tensor qw, Tensor w_scale, Tensor"
" w_zero_point, Tensor(a!) qaccum, Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups, float"
" output_scale, int output_zero_point, ScalarType? output_dtype, float accum_scale, int accum_zero_point, str b"
"inary_attr, Scalar? alpha, str? unary_attr, Scalar?[] unary_scalars, str? unary_algorithm) -> Tensor",
"onednn::qconv2d_pointwise.binary_tensor(Tensor qx, Tensor x_scale, Tensor x_zero_point, Tensor qw, Tensor w_sc"
"ale, Tensor w_zero_point, Tensor(a!) qaccum, Tensor? bias, int[] stride, int[] padding, int[] dilation, int gr"
"oups, float output_scale, int output_zero_point, ScalarType? output_dtype, float accum_scale, int accum_zero_p"
"oint, str binary_attr, Scalar? alpha, str? unary_attr, Scalar?[] unary_scalars, str? unary_algorithm) -> Tenso"
"r",
"onednn::qconv2d_pointwise.tensor(Tensor qx, Tensor x_scale, Tensor x_zero_point, Tensor qw, Tensor w_scale, Te"
"nsor w_zero_point, Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups, float output_scale, "
"int output_zero_point, ScalarType? output_dtype, str attr, Scalar?[] scalars, str? algorithm) -> Tensor",
"onednn::qconv_pointwise(Tensor qx, float x_scale, int x_zero_point, Tensor qw, Tensor w_scale, Tensor w_zero_p"
"oint, Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups, float output_scale, int output_ze"
"ro_point, ScalarType? output_dtype, str attr, Scalar?[] scalars, str? algorithm) -> Tensor",
"onednn::qconv_pointwise.tensor(Tensor qx, Tensor x_scale, Tensor x_zero_point, Tensor qw, Tensor w_scale, Tens"
"or w_zero_point, Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups, float output_scale, in"
"t output_zero_point, ScalarType? output_dtype, str attr, Scalar?[] scalars, str? algorithm) -> Tensor",
"onednn::qlinear_pointwise(Tensor qx, float x_scale, int x_zero_point, Tensor qw, Tensor w_scale, Tensor w_zero"
"_point, Tensor? bias, float output_scale, int output_zero_point, ScalarType? output_dtype, str post_op_name, S"
"calar?[] post_op_args, str post_op_algorithm) -> Tensor",
"onednn::qlinear_pointwise.binary(Tensor qx, float x_scale, int x_zero_point, Tensor qw, Tensor w_scale, Tensor"
" w_zero_point, Tensor? other, Tensor? bias, float output_scale, int output_zero_point, ScalarType? output_dtyp"
"e, float other_scale, int other_zp, str binary_post_op, float binary_alpha, str unary_post_op, Scalar?[] unary"
"_post_op_args, str unary_post_op_algorithm) -> Tensor",
"onednn::qlinear_pointwise.binary_tensor(Tensor qx, Tensor x_scale, Tensor x_zero_point, Tensor qw, Tensor w_sc"
"ale, Tensor w_zero_point, Tensor? other, Tensor? bias, float output_scale, int output_zero_point, ScalarType? "
"output_dtype, float other_scale, int other_zp, str binary_post_op, float binary_alpha, str unary_post_op, Scal"
"ar?[] unary_post_op_args, str unary_post_op_algorithm) -> Tensor",
"onednn::qlinear_pointwise.tensor(Tensor qx, Tensor x_scale, Tensor x_zero_point, Tensor qw, Tensor w_scale, Te"
"nsor w_zero_point, Tensor? bias, float output_scale, int output_zero_point, ScalarType? output_dtype, str post"
"_op_name, Scalar?[] post_op_args, str post_op_algorithm) -> Tensor",
"ones(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
") -> Tensor",
"ones_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=N"
"one, MemoryFormat? memory_format=None) -> Tensor",
"orgqr(Tensor self, Tensor input2) -> Tensor",
"ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor",
"outer(Tensor self, Tensor vec2) -> Tensor",
"pad(Tensor self, SymInt[] pad, str mode=\"constant\", float? value=None) -> Tensor",
"pad_sequence(Tensor[] sequences, bool batch_first=False, float padding_value=0., str padding_side=\"right\") -> "
"Tensor",
"pairwise_distance(Tensor x1, Tensor x2, float p=2., float eps=9.9999999999999995e-07, bool keepdim=False) -> T"
"ensor",
"pdist(Tensor self, float p=2.) -> Tensor",
"permute(Tensor(a) self, int[] dims) -> Tensor(a)",
"permute_copy(Tensor self, int[] dims) -> Tensor",
"pinverse(Tensor self, float rcond=1.0000000000000001e-15) -> Tensor",
"pixel_shuffle(Tensor self, int upscale_factor) -> Tensor",
"pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor",
"poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction) -> Tensor",
"polar(Tensor abs, Tensor angle) -> Tensor",
"polygamma(int n, Tensor self) -> Tensor",
"positive(Tensor(a) self) -> Tensor(a)",
"pow.Scalar(Scalar self, Tensor exponent) -> Tensor",
"pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
"pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
"prelu(Tensor self, Tensor weight) -> Tensor",
"prims::_low_memory_max_pool_offsets_to_indices(Tensor self, SymInt[] kernel_size, SymInt[] input_size, SymInt["
"] stride, SymInt[] padding, SymInt[] dilation) -> Tensor",
"prims::_low_memory_max_pool_with_offsets(Tensor self, SymInt[] kernel_size, SymInt[] stride, SymInt[] padding,"
" SymInt[] dilation, bool ceil_mode) -> (Tensor, Tensor)",
"prims::convert_element_type(Tensor a, ScalarType dtype) -> Tensor",
"prims::device_put(Tensor a, Device device, bool non_blocking=False) -> Tensor",
"prims::fma(Tensor a, Tensor b, Tensor c) -> Tensor",
"prims::iota(SymInt length, *, SymInt start, SymInt step, ScalarType dtype, Device device, bool requires_grad) "
"-> Tensor",
"prims::prepare_softmax_online(Tensor a, int dim) -> (Tensor, Tensor)",
"prod(Tensor self, *, ScalarType? dtype=None) -> Tensor",
"prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
"put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor",
"qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)",
"quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation=\"linear\") -> Tensor",
"quantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation=\"linear\") -> Ten"
"sor",
"quantized_decomposed::_choose_qparams_per_token_asymmetric_impl(Tensor input, ScalarType dtype) -> (Tensor, Te"
"nsor)",
"quantized_decomposed::choose_qparams.tensor(Tensor input, int quant_min, int quant_max, float eps, ScalarType "
"dtype) -> (Tensor, Tensor)",
"quantized_decomposed::choose_qparams_per_token(Tensor input, ScalarType dtype) -> (Tensor, Tensor)",
"quantized_decomposed::choose_qparams_per_token_asymmetric(Tensor input, ScalarType dtype) -> (Tensor, Tensor)",
"quantized_decomposed::choose_qparams_symmetric.tensor(Tensor input, int quant_min, int quant_max, float eps, S"
"calarType dtype) -> (Tensor, Tensor)",
"quantized_decomposed::dequantize_per_channel(Tensor input, Tensor scales, Tensor? zero_points, int axis, int q"
"uant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor",
"quantized_decomposed::dequantize_per_channel_group(Tensor input, Tensor scales, Tensor? zero_points, int quant"
"_min, int quant_max, ScalarType dtype, int group_size, ScalarType output_dtype) -> Tensor",
"quantized_decomposed::dequantize_per_tensor(Tensor input, float scale, int zero_point, int quant_min, int quan"
"t_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor",
"quantized_decomposed::dequantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, int quant_mi"
"n, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor",
"quantized_decomposed::dequantize_per_tensor.tensor2(Tensor input, Tensor scale, Tensor zero_point, Tensor quan"
"t_min, Tensor quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor",
"quantized_decomposed::dequantize_per_token(Tensor input, Tensor scales, Tensor zero_points, int quant_min, int"
" quant_max, ScalarType dtype, ScalarType output_dtype) -> Tensor",
"quantized_decomposed::quantize_per_channel(Tensor input, Tensor scales, Tensor zero_points, int axis, int quan"
"t_min, int quant_max, ScalarType dtype) -> Tensor",
"quantized_decomposed::quantize_per_channel_group(Tensor input, Tensor scales, Tensor zero_points, int quant_mi"
"n, int quant_max, ScalarType dtype, int group_size) -> Tensor",
"quantized_decomposed::quantize_per_tensor(Tensor input, float scale, int zero_point, int quant_min, int quant_"
"max, ScalarType dtype) -> Tensor",
"quantized_decomposed::quantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, int quant_min,"
" int quant_max, ScalarType dtype) -> Tensor",
"quantized_decomposed::quantize_per_tensor.tensor2(Tensor input, Tensor scale, Tensor zero_point, Tensor quant_"
"min, Tensor quant_max, ScalarType dtype) -> Tensor",
"quantized_decomposed::quantize_per_token(Tensor input, Tensor scales, Tensor zero_points, int quant_min, int q"
"uant_max, ScalarType dtype) -> Tensor",
"rad2deg(Tensor self) -> Tensor",
"rand(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
") -> Tensor",
"rand.generator(SymInt[] size, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device? de"
"vice=None, bool? pin_memory=None) -> Tensor",
"rand_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=N"
"one, MemoryFormat? memory_format=None) -> Tensor",
"randint(SymInt high, SymInt[] size, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pi"
"n_memory=None) -> Tensor",
"randint.generator(SymInt high, SymInt[] size, *, Generator? generator, ScalarType? dtype=4, Layout? layout=Non"
"e, Device? device=None, bool? pin_memory=None) -> Tensor",
"randint.low(SymInt low, SymInt high, SymInt[] size, *, ScalarType? dtype=4, Layout? layout=None, Device? devic"
"e=None, bool? pin_memory=None) -> Tensor",
"randint.low_generator(SymInt low, SymInt high, SymInt[] size, *, Generator? generator, ScalarType? dtype=4, La"
"yout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
"randint_like(Tensor self, SymInt high, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bo"
"ol? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
"randint_like.low_dtype(Tensor self, SymInt low, SymInt high, *, ScalarType? dtype=None, Layout? layout=None, D"
"evice? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
"randn(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=Non"
"e) -> Tensor",
"randn.generator(SymInt[] size, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device? d"
"evice=None, bool? pin_memory=None) -> Tensor",
"randn_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory="
"None, MemoryFormat? memory_format=None) -> Tensor",
"randperm(SymInt n, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) ->"
" Tensor",
"ravel(Tensor(a) self) -> Tensor(a)",
"real(Tensor(a) self) -> Tensor(a)",
"reciprocal(Tensor self) -> Tensor",
"reflection_pad1d(Tensor self, SymInt[2] padding) -> Tensor",
"reflection_pad2d(Tensor self, SymInt[4] padding) -> Tensor",
"reflection_pad3d(Tensor self, SymInt[6] padding) -> Tensor",
"relu(Tensor self) -> Tensor",
"relu6(Tensor self) -> Tensor",
"remainder.Scalar(Tensor self, Scalar other) -> Tensor",
"remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor",
"remainder.Tensor(Tensor self, Tensor other) -> Tensor",
"renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor",
"repeat(Tensor self, SymInt[] repeats) -> Tensor",
"repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor",
"repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, SymInt? output_size=None) -> Tens"
"or",
"repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor",
"replication_pad1d(Tensor self, SymInt[2] padding) -> Tensor",
"replication_pad2d(Tensor self, SymInt[4] padding) -> Tensor",
"replication_pad3d(Tensor self, SymInt[6] padding) -> Tensor",
"reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)",
"reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)",
"resize_(Tensor(a!) self, SymInt[] size, *, MemoryFormat? memory_format=None) -> Tensor(a!)",
"resolve_conj(Tensor(a) self) -> Tensor(a)",
"resolve_neg(Tensor(a) self) -> Tensor(a)",
"rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor",
"rnn_relu.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool "
"train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
"rnn_relu_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tens"
"or",
"rnn_tanh.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool "
"train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
"rnn_tanh_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tens"
"or",
"roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor",
"rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor",
"round(Tensor self) -> Tensor",
"round.decimals(Tensor self, *, int decimals) -> Tensor",
"row_stack(Tensor[] tensors) -> Tensor",
"rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, Generator? gener"
"ator=None) -> Tensor",
"rsqrt(Tensor self) -> Tensor",
"rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
"rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
"scalar_tensor(Scalar s, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory="
"None) -> Tensor",
"scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0"
"., bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
"scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor",
"scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
"scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
"scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor",
"scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
"scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> T"
"ensor",
"searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False, str? side="
"None, Tensor? sorter=None) -> Tensor",
"searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, str? side="
"None, Tensor? sorter=None) -> Tensor",
"segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, Tensor? offsets=None, i"
"nt axis=0, bool unsafe=False, Scalar? initial=None) -> Tensor",
"select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)",
"select_copy.int(Tensor self, int dim, SymInt index) -> Tensor",
"select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor",
"selu(Tensor self) -> Tensor",
"sgn(Tensor self) -> Tensor",
"sigmoid(Tensor self) -> Tensor",
"sign(Tensor self) -> Tensor",
"signbit(Tensor self) -> Tensor",
"silu(Tensor self) -> Tensor",
"sin(Tensor self) -> Tensor",
"sinc(Tensor self) -> Tensor",
"sinh(Tensor self) -> Tensor",
"slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor(a)",
"slice_copy.Tensor(Tensor self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor",
"slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tens"
"or",
"slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)",
"smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.) -> Tensor",
"soft_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
"soft_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor",
"softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
"softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor",
"softshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
"sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
"sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices"
")",
"special_airy_ai(Tensor x) -> Tensor",
"special_bessel_j0(Tensor self) -> Tensor",
"special_bessel_j1(Tensor self) -> Tensor",
"special_bessel_y0(Tensor self) -> Tensor",
"special_bessel_y1(Tensor self) -> Tensor",
"special_chebyshev_polynomial_t(Tensor x, Tensor n) -> Tensor",
"special_chebyshev_polynomial_t.n_scalar(Tensor x, Scalar n) -> Tensor",
"special_chebyshev_polynomial_t.x_scalar(Scalar x, Tensor n) -> Tensor",
"special_chebyshev_polynomial_u(Tensor x, Tensor n) -> Tensor",
"special_chebyshev_polynomial_u.n_scalar(Tensor x, Scalar n) -> Tensor",
"special_chebyshev_polynomial_u.x_scalar(Scalar x, Tensor n) -> Tensor",
"special_chebyshev_polynomial_v(Tensor x, Tensor n) -> Tensor",
"special_chebyshev_polynomial_v.n_scalar(Tensor x, Scalar n) -> Tensor",
"special_chebyshev_polynomial_v.x_scalar(Scalar x, Tensor n) -> Tensor",
"special_chebyshev_polynomial_w(Tensor x, Tensor n) -> Tensor",
"special_chebyshev_polynomial_w.n_scalar(Tensor x, Scalar n) -> Tensor",
"special_chebyshev_polynomial_w.x_scalar(Scalar x, Tensor n) -> Tensor",
"special_digamma(Tensor self) -> Tensor",
"special_entr(Tensor self) -> Tensor",
"special_erf(Tensor self) -> Tensor",
"special_erfc(Tensor self) -> Tensor",
"special_erfcx(Tensor self) -> Tensor",
"special_erfinv(Tensor self) -> Tensor",
"special_exp2(Tensor self) -> Tensor",
"special_expit(Tensor self) -> Tensor",
"special_expm1(Tensor self) -> Tensor",
"special_gammainc(Tensor self, Tensor other) -> Tensor",
"special_gammaincc(Tensor self, Tensor other) -> Tensor",
"special_gammaln(Tensor self) -> Tensor",
"special_hermite_polynomial_h(Tensor x, Tensor n) -> Tensor",
"special_hermite_polynomial_h.n_scalar(Tensor x, Scalar n) -> Tensor",
"special_hermite_polynomial_h.x_scalar(Scalar x, Tensor n) -> Tensor",
"special_hermite_polynomial_he(Tensor x, Tensor n) -> Tensor",
"special_hermite_polynomial_he.n_scalar(Tensor x, Scalar n) -> Tensor",
"special_hermite_polynomial_he.x_scalar(Scalar x, Tensor n) -> Tensor",
"special_i0(Tensor self) -> Tensor",
"special_i0e(Tensor self) -> Tensor",
"special_i1(Tensor self) -> Tensor",
"special_i1e(Tensor self) -> Tensor",
"special_laguerre_polynomial_l(Tensor x, Tensor n) -> Tensor",
"special_laguerre_polynomial_l.n_scalar(Tensor x, Scalar n) -> Tensor",
"special_laguerre_polynomial_l.x_scalar(Scalar x, Tensor n) -> Tensor",
"special_legendre_polynomial_p(Tensor x, Tensor n) -> Tensor",
"special_legendre_polynomial_p.n_scalar(Tensor x, Scalar n) -> Tensor",
"special_legendre_polynomial_p.x_scalar(Scalar x, Tensor n) -> Tensor",
"special_log1p(Tensor self) -> Tensor",
"special_log_ndtr(Tensor self) -> Tensor",
"special_log_softmax(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
"special_logit(Tensor self, float? eps=None) -> Tensor",
"special_logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
"special_modified_bessel_i0(Tensor self) -> Tensor",
"special_modified_bessel_i1(Tensor self) -> Tensor",
"special_modified_bessel_k0(Tensor self) -> Tensor",
"special_modified_bessel_k1(Tensor self) -> Tensor",
"special_multigammaln(Tensor self, int p) -> Tensor",
"special_ndtr(Tensor self) -> Tensor",
"special_ndtri(Tensor self) -> Tensor",
"special_polygamma(int n, Tensor self) -> Tensor",
"special_psi(Tensor self) -> Tensor",
"special_round(Tensor self, *, int decimals=0) -> Tensor",
"special_scaled_modified_bessel_k0(Tensor x) -> Tensor",
"special_scaled_modified_bessel_k1(Tensor x) -> Tensor",
"special_shifted_chebyshev_polynomial_t(Tensor x, Tensor n) -> Tensor",
"special_shifted_chebyshev_polynomial_t.n_scalar(Tensor x, Scalar n) -> Tensor",
"special_shifted_chebyshev_polynomial_t.x_scalar(Scalar x, Tensor n) -> Tensor",
"special_shifted_chebyshev_polynomial_u(Tensor x, Tensor n) -> Tensor",
"special_shifted_chebyshev_polynomial_u.n_scalar(Tensor x, Scalar n) -> Tensor",
"special_shifted_chebyshev_polynomial_u.x_scalar(Scalar x, Tensor n) -> Tensor",
"special_shifted_chebyshev_polynomial_v(Tensor x, Tensor n) -> Tensor",
"special_shifted_chebyshev_polynomial_v.n_scalar(Tensor x, Scalar n) -> Tensor",
"special_shifted_chebyshev_polynomial_v.x_scalar(Scalar x, Tensor n) -> Tensor",
"special_shifted_chebyshev_polynomial_w(Tensor x, Tensor n) -> Tensor",
"special_shifted_chebyshev_polynomial_w.n_scalar(Tensor x, Scalar n) -> Tensor",
"special_shifted_chebyshev_polynomial_w.x_scalar(Scalar x, Tensor n) -> Tensor",
"special_sinc(Tensor self) -> Tensor",
"special_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
"special_spherical_bessel_j0(Tensor x) -> Tensor",
"special_xlog1py(Tensor self, Tensor other) -> Tensor",
"special_xlog1py.other_scalar(Tensor self, Scalar other) -> Tensor",
"special_xlog1py.self_scalar(Scalar self, Tensor other) -> Tensor",
"special_xlogy(Tensor self, Tensor other) -> Tensor",
"special_xlogy.other_scalar(Tensor self, Scalar other) -> Tensor",
"special_xlogy.self_scalar(Scalar self, Tensor other) -> Tensor",
"special_zeta(Tensor self, Tensor other) -> Tensor",
"special_zeta.other_scalar(Tensor self, Scalar other) -> Tensor",
"special_zeta.self_scalar(Scalar self, Tensor other) -> Tensor",
"split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
"split.sizes(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]",
"split_copy.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]",
"split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[]",
"split_with_sizes_copy(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]",
"sqrt(Tensor self) -> Tensor",
"square(Tensor self) -> Tensor",
"squeeze(Tensor(a) self) -> Tensor(a)",
"squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)",
"squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)",
"squeeze_copy(Tensor self) -> Tensor",
"squeeze_copy.dim(Tensor self, int dim) -> Tensor",
"squeeze_copy.dims(Tensor self, int[] dim) -> Tensor",
"stack(Tensor[] tensors, int dim=0) -> Tensor",
"std(Tensor self, bool unbiased=True) -> Tensor",
"std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
"std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor",
"std_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)",
"std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor,"
" Tensor)",
"std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)",
"stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool normalized="
"False, bool? onesided=None, bool? return_complex=None, bool? align_to_window=None) -> Tensor",
"stft.center(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool cent"
"er=True, str pad_mode=\"reflect\", bool normalized=False, bool? onesided=None, bool? return_complex=None, bool? "
"align_to_window=None) -> Tensor",
"sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
"sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
"subtract.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
"subtract.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
"sum(Tensor self, *, ScalarType? dtype=None) -> Tensor",
"sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
"svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)",
"swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)",
"swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
"sym_is_contiguous(Tensor self, MemoryFormat memory_format=0) -> SymBool",
"sym_numel(Tensor self) -> SymInt",
"sym_size.int(Tensor self, int dim) -> SymInt",
"sym_storage_offset(Tensor self) -> SymInt",
"sym_stride.int(Tensor self, int dim) -> SymInt",
"t(Tensor(a) self) -> Tensor(a)",
"t_copy(Tensor self) -> Tensor",
"take(Tensor self, Tensor index) -> Tensor",
"take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor",
"tan(Tensor self) -> Tensor",
"tanh(Tensor self) -> Tensor",
"tensor_split.indices(Tensor(a -> *) self, SymInt[] indices, int dim=0) -> Tensor(a)[]",
"tensor_split.sections(Tensor(a -> *) self, SymInt sections, int dim=0) -> Tensor(a)[]",
"tensor_split.tensor_indices_or_sections(Tensor(a -> *) self, Tensor tensor_indices_or_sections, int dim=0) -> "
"Tensor(a)[]",
"tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor",
"threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor",
"threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor",
"tile(Tensor self, SymInt[] dims) -> Tensor",
"to.device(Tensor(a) self, Device device, ScalarType dtype, bool non_blocking=False, bool copy=False, MemoryFor"
"mat? memory_format=None) -> Tensor(a)",
"to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, MemoryFormat? memory_form"
"at=None) -> Tensor(a)",
"to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin"
"_memory=None, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
"to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=N"
"one) -> Tensor(a)",
"topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices"
")",
"torchao::choose_qparams_affine(Tensor? input, str mapping_type, SymInt[] block_size, ScalarType target_dtype, "
"Scalar? quant_min=None, Scalar? quant_max=None, float? eps=None, ScalarType? scale_dtype=None, ScalarType? zer"
"o_point_dtype=None, bool keepdim=False) -> (Tensor, Tensor)",
"torchao::dequantize_affine(Tensor input, SymInt[] block_size, Tensor scale, Tensor? zero_point, ScalarType inp"
"ut_dtype, Scalar? quant_min=None, Scalar? quant_max=None, ScalarType output_dtype=6) -> Tensor",
"torchao::quantize_affine(Tensor input, SymInt[] block_size, Tensor scale, Tensor? zero_point, ScalarType outpu"
"t_dtype, Scalar? quant_min=None, Scalar? quant_max=None) -> Tensor",
"torchvision::deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride"
"_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, SymInt o"
"ffset_groups, bool use_mask) -> Tensor",
"torchvision::nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
"torchvision::ps_roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_"
"width, int sampling_ratio) -> (Tensor, Tensor)",
"torchvision::ps_roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_w"
"idth) -> (Tensor, Tensor)",
"torchvision::roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_wid"
"th, int sampling_ratio, bool aligned) -> Tensor",
"torchvision::roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_widt"
"h) -> (Tensor, Tensor)",
"trace(Tensor self) -> Tensor",
"transformers::grouped_mm_fallback(Tensor input, Tensor weight, Tensor offs) -> Tensor",
"transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
"transpose_copy.int(Tensor self, int dim0, int dim1) -> Tensor",
"trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor",
"trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
"trapz.dx(Tensor y, *, float dx=1., int dim=-1) -> Tensor",
"trapz.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
"triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False) -> (T"
"ensor solution, Tensor cloned_coefficient)",
"tril(Tensor self, SymInt diagonal=0) -> Tensor",
"tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None,"
" bool? pin_memory=None) -> Tensor",
"triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1., float p=2., float eps=9."
"9999999999999995e-07, bool swap=False, int reduction=1) -> Tensor",
"triu(Tensor self, SymInt diagonal=0) -> Tensor",
"triu_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None,"
" bool? pin_memory=None) -> Tensor",
"true_divide.Scalar(Tensor self, Scalar other) -> Tensor",
"true_divide.Tensor(Tensor self, Tensor other) -> Tensor",
"trunc(Tensor self) -> Tensor",
"type_as(Tensor self, Tensor other) -> Tensor",
"unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]",
"unbind_copy.int(Tensor self, int dim=0) -> Tensor[]",
"unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)",
"unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)",
"unfold_copy(Tensor self, int dimension, int size, int step) -> Tensor",
"uniform(Tensor self, float from=0., float to=1., *, Generator? generator=None) -> Tensor",
"unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None) -> (Tensor"
", Tensor, Tensor)",
"unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Te"
"nsor, Tensor, Tensor)",
"unique_dim_consecutive(Tensor self, int dim, bool return_inverse=False, bool return_counts=False) -> (Tensor, "
"Tensor, Tensor)",
"unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]",
"unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]",
"unsafe_split_with_sizes(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]",
"unsqueeze(Tensor(a) self, int dim) -> Tensor(a)",
"unsqueeze_copy(Tensor self, int dim) -> Tensor",
"upsample_bicubic2d(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales"
"_w=None) -> Tensor",
"upsample_bicubic2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Ten"
"sor",
"upsample_bilinear2d(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scale"
"s_w=None) -> Tensor",
"upsample_bilinear2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Te"
"nsor",
"upsample_linear1d(Tensor self, SymInt[1] output_size, bool align_corners, float? scales=None) -> Tensor",
"upsample_linear1d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tens"
"or",
"upsample_nearest1d(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor",
"upsample_nearest1d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor",
"upsample_nearest2d(Tensor self, SymInt[2] output_size, float? scales_h=None, float? scales_w=None) -> Tensor",
"upsample_nearest2d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor",
"upsample_nearest3d(Tensor self, SymInt[3] output_size, float? scales_d=None, float? scales_h=None, float? scal"
"es_w=None) -> Tensor",
"upsample_nearest3d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor",
"upsample_trilinear3d(Tensor self, SymInt[3] output_size, bool align_corners, float? scales_d=None, float? scal"
"es_h=None, float? scales_w=None) -> Tensor",
"upsample_trilinear3d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> T"
"ensor",
"vander(Tensor x, int? N=None, bool increasing=False) -> Tensor",
"var(Tensor self, bool unbiased=True) -> Tensor",
"var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
"var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor",
"var_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)",
"var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor,"
" Tensor)",
"var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)",
"vdot(Tensor self, Tensor other) -> Tensor",
"view(Tensor(a) self, SymInt[] size) -> Tensor(a)",
"view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)",
"view_as(Tensor(a) self, Tensor other) -> Tensor(a)",
"view_as_complex(Tensor(a) self) -> Tensor(a)",
"view_as_complex_copy(Tensor self) -> Tensor",
"view_as_real(Tensor(a) self) -> Tensor(a)",
"view_as_real_copy(Tensor self) -> Tensor",
"view_copy(Tensor self, SymInt[] size) -> Tensor",
"view_copy.dtype(Tensor self, ScalarType dtype) -> Tensor",
"vsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]",
"vsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]",
"vstack(Tensor[] tensors) -> Tensor",
"where(Tensor condition) -> Tensor[]",
"where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor",
"where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor",
"where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor",
"where.self(Tensor condition, Tensor self, Tensor other) -> Tensor",
"xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor",
"xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor",
"xlogy.Tensor(Tensor self, Tensor other) -> Tensor",
"zero(Tensor self) -> Tensor",
"zeros(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=Non"
"e) -> Tensor",
"zeros_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory="
"None, MemoryFormat? memory_format=None) -> Tensor",
