/* opsig.h - what the parameters of torch's C functions are (aoti_torch_cpu_addmm_out: "OTTTdd").
 *
 *     const char *sig = opsig("aoti_torch_cpu_topk");        // "TiiiiRR"; NULL: not known
 *
 * A letter per parameter, in order: T tensor, O tensor that is written, M tensor that is changed in place, P pointer to a handle
 * (an optional tensor), R pointer to the handle of a result, L list of tensors, Q list of optional ones (the next parameter is its
 * length), i integer or bool, p other pointer, S result that is an integer, d double, f float, c complex<float>, z
 * complex<double>. From the headers of torch 2.13 (scripts/gen-opsigs). Takes no memory: it is used in other people's processes.
 */
#ifndef PT2_OPSIG_H
#define PT2_OPSIG_H

#define OPSIG_PREFIX "aoti_torch_"

const char *opsig(const char *function);
/* "aoti_torch_cpu_mm" and "cpu_mm" without prefix and device: "mm". */
const char *opsig_stem(const char *function);

#endif
