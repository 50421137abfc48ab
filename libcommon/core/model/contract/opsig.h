/* opsig.h - the parameter types of torch's C functions (aoti_torch_cpu_addmm_out: "OTTTdd").
 *
 *     const char *sig = opsig("aoti_torch_cpu_topk");        // "TiiiiRR"; NULL: unknown
 *
 * A letter per parameter, in order: T tensor, O output tensor, M tensor changed in place, P pointer to a handle (an optional
 * tensor), R pointer to the handle of a result, L list of tensors, Q list of optional ones (the next parameter is its length), i
 * integer or bool, p other pointer, S integer result, d double, f float, c complex<float>, z complex<double>. From the
 * headers of torch 2.13 (scripts/gen-opsigs). Allocates no memory: it runs in target processes.
 */
#ifndef PT2_OPSIG_H
#define PT2_OPSIG_H

#define OPSIG_PREFIX "aoti_torch_"

const char *opsig(const char *function);
/* "aoti_torch_cpu_mm" and "cpu_mm" give "mm", without prefix and device. */
const char *opsig_stem(const char *function);

#endif
