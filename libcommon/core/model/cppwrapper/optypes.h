/* optypes.h - data types of what torch's operators make, where they follow from what they are given.
 *
 *     const char *types = op_result_types("aoti_torch_cpu_topk");               // "si"; "" when none is certain
 *     int dtype = op_result_type(types[1], DTYPE_F32, DTYPE_NONE);              // of the second result: DTYPE_I64
 *
 * A letter per result: s the first tensor's type, S the second's, f the first's if that is a floating one (integers are promoted),
 * d the same unless the call asks for another, p both promoted, r the first's real part's, c the complex type of it, o the type that it
 * is computed in (float32 of float16), l int64, i int64 with the sizes of the result before it, L int64 if the second tensor's is,
 * n int32, b bool, ? not known. A result behind the last letter is not known. From torch 2.13 and 2.15, the operators' meta functions
 * (torch/_meta_registrations.py).
 * Names are those of the C functions (sort_stable), with or without aoti_torch_ and the device, or operators' own (aten::median.dim).
 * Takes no memory: it is used in other people's processes.
 */
#ifndef PT2_OPTYPES_H
#define PT2_OPTYPES_H
#include "tensor/dtype.h"

const char *op_result_types(const char *function);
/* DTYPE_NONE when it is not certain. first, second: the types of the tensors that the operator is given, DTYPE_NONE if not known. */
int op_result_type(char letter, int first, int second);

#endif
