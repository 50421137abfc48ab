/* wrapper.h - the C++ text that Inductor wrote (HASH.wrapper.cpp), read into a contract.
 *
 *     struct contract c = {0};
 *     if (wrapper_read(&c, text, kernel_text, &err) < 0) ...          // kernel_text may be empty
 *
 * Read are (torch 2.13 and 2.15, torch/_inductor/codegen/cpp_wrapper_cpu.py, cpp_wrapper_gpu.py; older forms of 2.5 to 2.12
 * where they differ, each named in wrapper.c):
 *     inputs_info_[N].name, outputs_info_, constants_info_[N].*, in_spec_, out_spec_
 *     check_input_N                        dtype, sizes, bounds, strides, device
 *     int64_t s77 = arg4_1_size[0];        where symbols come from, and s77 = s17 aliases
 *     assert_size_stride(arg4_1, {s77, 8L}, {8L, 1L}, "input"), of an operator's result with its type (2.15)
 *     assert_alignment(buf2, 16, "torch.ops.aten.sort.default")                                        (2.15)
 *     if (x == 0) {} else if (x == 1) {} else {}, while (1) {}: every branch, one after the other
 *     aoti_torch_empty_strided, RAIIAtenTensorHandle, std::move ... // reuse, .reset(), reinterpret_tensor_wrapper
 *     kernel declarations and calls; aoti_torch_* calls; aoti_torch_proxy_executor_call_function
 *     // Topologically Sorted Source Nodes: [...], Original ATen: [...]
 *     if (!(u0 <= 48L)) ...                bounds of data-dependent sizes
 *     void inductor_entry_impl(            in place of run_impl, of torch.compile with cpp_wrapper: no names of inputs, no checks
 *
 * It is not a C++ parser: statements of the generator's own shapes are recognised, everything else is passed over.
 * What should be there and was not understood becomes a note of the contract (contract_note), never a guess.
 * The text is untrusted: no recursion, everything bounded, linear in its length.
 *
 * Not in the text before 2.15: data types of what an operator makes (only where the operator leaves no choice, optypes.h, or a
 * kernel's argument says so). Never: how often a loop runs, what its branches (torch.cond) have in common. Kernel arguments that are
 * neither const nor named in_ptrN, out_ptrN, in_out_ptrN are in and out: they may be written.
 * An output that no statement gives is None (generate_return).
 * Storages of what proxies and operators make count from their call on, buffers on the stack until the end.
 *
 * Failure: -1 and EXIT_INPUT when the text is not a wrapper at all (no run_impl, no constructor).
 */
#ifndef PT2_WRAPPER_H
#define PT2_WRAPPER_H
#include "model/contract/contract.h"

int wrapper_read(struct contract *c, struct slice text, struct slice kernel_text, struct err *err);

/* Operators of the proxy executor are only numbers in the text: calls named proxy_executor[K]. Their names are in the
 * package's extern nodes (HASH.wrapper.json; torch/_inductor/extern_node_serializer.py, the schema in
 * torch/_export/serde/schema.py, ExternKernelNodes):
 *
 *     {"nodes": [{"name": "buf1", "node": {"target": "pt2fix::add_", "inputs": [...], "outputs": [...], ...}}]}
 *
 * Gives each such call its target. Which tensors an operator changes is in neither file: those that it did not make are
 * in, but the first of an operator whose name ends in _ (add_, add_.Tensor) is in and out, as PyTorch names them.
 * -1 and EXIT_INPUT when the JSON is malformed; a node that is not there becomes a note. */
int wrapper_name_proxies(struct contract *c, struct slice extern_nodes_json, struct err *err);

#endif
