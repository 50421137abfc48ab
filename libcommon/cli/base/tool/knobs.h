/* knobs.h - settings of torch._inductor.config that are tried on a failure, by `fxexplain run --bisect` and by fxminify on its result.
 *
 * The numeric ones make its numbers more like those of eager. An accuracy failure that disappears with one of them is not wrong code:
 * Inductor was allowed to compute it that way. The others switch off one part of Inductor.
 *
 * Source: torch/_inductor/config.py of torch 2.15.0: strict_signed_zero (ties of compares and selects at 0.0 and -0.0), numerics
 * ("strict_pointwise" and "strict" imply emulate_precision_casts, eager_numerics.disable_ftz and .division_rounding). torch 2.13.0 has
 * only emulate_precision_casts. A torch without a setting rejects it.
 */
#ifndef PT2_REDUCE_KNOBS_H
#define PT2_REDUCE_KNOBS_H

/* X(name, value, since which torch, what eager does differently): narrow ones first. */
#define NUMERIC_KNOBS(X) \
	X("strict_signed_zero", "True", "2.14", "signed zeros: Inductor does not distinguish 0.0 from -0.0 in comparisons") \
	X("emulate_precision_casts", "True", "2.5", \
	  "low precision: Inductor keeps intermediate values of float16 and bfloat16 in float32, eager rounds them") \
	X("numerics", "'strict_pointwise'", "2.14", \
	  "pointwise arithmetic: Inductor rounds casts, divisions and denormal numbers differently") \
	X("numerics", "'strict_reduction'", "2.14", "the summation order of reductions") \
	X("numerics", "'strict'", "2.14", "pointwise arithmetic and summation order of reductions together")

/* The same for parts of Inductor. */
#define PART_KNOBS(X) \
	X("fallback_random", "True", "", "random numbers: Inductor generates different ones than eager") \
	X("pattern_matcher", "False", "", "the pattern matcher") \
	X("max_fusion_size", "1", "", "kernel fusion") \
	X("cpp.simdlen", "1", "", "vectorized C++ kernels")
/* Tried on a program of a few operations only: each costs a run. */
#define MORE_KNOBS(X) \
	X("epilogue_fusion", "False", "", "fusion into what follows a matrix multiplication") \
	X("max_autotune", "False", "", "choosing kernels by measuring them") \
	X("layout_optimization", "False", "", "channels-last layouts of convolutions") \
	X("comprehensive_padding", "False", "", "padded strides") \
	X("split_reductions", "False", "", "reductions in two steps")

#endif
