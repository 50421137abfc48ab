/* optypes.h - result dtypes of torch's operators, where they follow from the arguments.
 *
 *     const char *types = op_result_types("aoti_torch_cpu_topk");               // "si"; "" when none is certain
 *     int dtype = op_result_type(types[1], DTYPE_F32, DTYPE_NONE);              // of the second result: DTYPE_I64
 *
 * A letter per result: s the first tensor's type, S the second's, f the first's if floating point (integers are promoted), d the same
 * unless the call specifies another, p both promoted, r the type of the first's real part, c its complex type, o the type used to compute
 * it (float32 for float16), l int64, i int64 with the sizes of the result before it, L int64 if the second tensor's is, n int32, b bool, ?
 * unknown. A result after the last letter is unknown. From torch 2.13 and 2.15, the operators' meta functions
 * (torch/_meta_registrations.py). Names are those of the C functions (sort_stable), with or without aoti_torch_ and the device, or
 * operators' own (aten::median.dim). Allocates no memory: it runs in target processes.
 */
#ifndef PT2_OPTYPES_H
#define PT2_OPTYPES_H
#include "tensor/dtype.h"

const char *op_result_types(const char *function);
/* DTYPE_NONE if not certain. first, second: the types of the operator's tensor arguments, DTYPE_NONE if unknown. */
int op_result_type(char letter, int first, int second);

#endif
