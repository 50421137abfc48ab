/* exported.h - reads the inputs, outputs and weights of a program saved by torch.export.save into a contract.
 *
 *     struct contract c = {0};
 *     if (exported_read(&c, model_json, &err) < 0) ...       // models/NAME.json of a .pt2 (package.h: exported)
 *     c.input[0].name, c.input[0].path                        // "x"; "batch_pair_0", batch["pair"][0]
 *     contract_release(&c);
 *
 * The JSON (torch 2.13, torch/_export/serde/schema.py, ExportedProgram; schema 8.20; 5.x to 8.x agree in the parts read here):
 *     schema_version                       {"major": 8, "minor": 20}
 *     range_constraints                    {"s77": {"min_val": 2, "max_val": 64}}    null: no bound
 *     graph_module.signature.input_specs   [{"parameter": {"arg": {"name": "p_w"}, "parameter_name": "w"}},
 *                                           {"user_input": {"arg": {"as_tensor": {"name": "x"}}}}, ...]
 *     graph_module.signature.output_specs  [{"user_output": {"arg": {"as_tensor": {"name": "add"}}}},
 *                                           {"buffer_mutation": {"arg": {"name": "add_1"}, "buffer_name": "steps"}}, ...]
 *     graph_module.graph.tensor_values     {"x": {"dtype": 7, "sizes": [{"as_expr": {"expr_str": "Symbol('s77', ..."}},
 *                                           {"as_int": 8}], "strides": [...], "device": {"type": "cpu"}, ...}, ...}
 *     graph_module.graph.sym_int_values    {"n": {"as_expr": ...}}
 *     graph_module.module_call_graph[0]    {"fqn": "", "signature": {"in_spec", "out_spec", "forward_arg_names"}}
 * The dtype numbers are the schema's own, not torch's.
 *
 * The contract then has:
 *  - Inputs are the tensors of the call, in the order of the compiled model's. Constants among the arguments (None,
 *    flags, strings) became part of the graph; they are not inputs. An int exported as dynamic is a 0-d int64, and its symbol a value from
 *    data.
 *  - name is the placeholder's. path begins with the argument's name in forward() if the file has it (2.5 and later), else it is args[K];
 *    keyword arguments go by their names.
 *  - dim.range: the bounds of a symbol, or the bounds derived from them for a sum like 2*s0 + 1; SYMRANGE_ALL for other
 *    expressions. Strides are those of the example inputs: torch.export neither checks nor guarantees them.
 *  - asserted is 0, used is true, size_checked and stride_checked false: a program checks elsewhere (guards_code, which
 *    is not read). There are no values or calls.
 *  - constants: all parameters, buffers and tensor constants with their fqn, including unused ones.
 *
 * Only these parts are read; the nodes are skipped (jsonskim.h), so 100 MB take 0.3 s and memory for the inputs.
 * Anything unsupported (an expression, a dtype, another kind of argument) is unknown in the contract, with a note.
 * Failure: -1 and err (EXIT_INPUT): invalid JSON, not an exported program, another schema; err has the byte offset.
 */
#ifndef PT2_EXPORTED_H
#define PT2_EXPORTED_H
#include "model/contract/contract.h"

int exported_read(struct contract *c, struct slice model_json, struct err *err);

/* torch's number for a dtype number of the schema (ScalarType in schema.py), DTYPE_NONE for others. */
enum dtype exported_dtype(int64_t schema_number);

#endif
