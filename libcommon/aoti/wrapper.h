/* wrapper.h - the C++ text that Inductor wrote (HASH.wrapper.cpp), read into a contract.
 *
 *     struct contract c = {0};
 *     if (wrapper_read(&c, text, kernel_text, &err) < 0) ...          // kernel_text may be empty
 *
 * Read are (torch 2.13, torch/_inductor/codegen/cpp_wrapper_cpu.py, cpp_wrapper_gpu.py; older forms of 2.5 to 2.12
 * where they differ, each named in wrapper.c):
 *     inputs_info_[N].name, outputs_info_, constants_info_[N].*, in_spec_, out_spec_
 *     check_input_N                        dtype, sizes, bounds, strides, device
 *     int64_t s77 = arg4_1_size[0];        where symbols come from, and s77 = s17 aliases
 *     assert_size_stride(arg4_1, {s77, 8L}, {8L, 1L}, "input")
 *     aoti_torch_empty_strided, RAIIAtenTensorHandle, std::move ... // reuse, .reset(), reinterpret_tensor_wrapper
 *     kernel declarations and calls; aoti_torch_* calls; aoti_torch_proxy_executor_call_function
 *     // Topologically Sorted Source Nodes: [...], Original ATen: [...]
 *     if (!(u0 <= 48L)) ...                bounds of data-dependent sizes
 *
 * It is not a C++ parser: statements of the generator's own shapes are recognised, everything else is passed over.
 * What should be there and was not understood becomes a note of the contract (contract_note), never a guess.
 * The text is untrusted: no recursion, everything bounded, linear in its length.
 *
 * Failure: -1 and EXIT_INPUT when the text is not a wrapper at all (no run_impl, no inputs).
 */
#ifndef PT2_WRAPPER_H
#define PT2_WRAPPER_H
#include "aoti/contract.h"

int wrapper_read(struct contract *c, struct slice text, struct slice kernel_text, struct err *err);

#endif
