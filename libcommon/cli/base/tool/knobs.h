/* knobs.h - settings of torch._inductor.config that make its numbers more like those of eager. A failure of accuracy that goes with one of
 * them is no wrong code: Inductor was free to compute so.
 *
 * Source: torch/_inductor/config.py of torch 2.15.0: strict_signed_zero (ties of compares and selects at 0.0 and -0.0), numerics
 * ("strict_pointwise" and "strict" imply emulate_precision_casts, eager_numerics.disable_ftz and .division_rounding). torch 2.13.0 has
 * emulate_precision_casts alone. A torch without one refuses the setting.
 */
#ifndef PT2_REDUCE_KNOBS_H
#define PT2_REDUCE_KNOBS_H

/* X(name, value, since which torch, what eager does otherwise): narrow ones first. */
#define NUMERIC_KNOBS(X) \
	X("strict_signed_zero", "True", "2.14", "signed zeros: Inductor does not keep apart 0.0 and -0.0 where values are compared") \
	X("emulate_precision_casts", "True", "2.5", \
	  "low precision: Inductor keeps intermediate values of float16 and bfloat16 in float32, eager rounds them") \
	X("numerics", "'strict_pointwise'", "2.14", \
	  "pointwise arithmetic: Inductor rounds casts, divisions and denormal numbers otherwise") \
	X("numerics", "'strict_reduction'", "2.14", "the order in which reductions add up") \
	X("numerics", "'strict'", "2.14", "pointwise arithmetic and the order of reductions together")

#endif
