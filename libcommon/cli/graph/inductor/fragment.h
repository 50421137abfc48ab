/* fragment.h - the FX graph spelled out in the comments of generated code, if there is no other.
 *
 *     struct buf b = {0};
 *     if (fragment_graph(code, &b))                      // FX code, for graph/fxcode.h
 *
 * Above each Triton kernel are the nodes that it was generated from (since torch 2.9 as below; torch/_inductor/utils.py,
 * get_kernel_metadata; torch/fx/node.py, format_node):
 *
 *     # Graph fragment:
 *     #   %arg0_1 : Tensor "f32[64][1]cuda:0" = PlaceHolder[target=arg0_1]
 *     #   %add : Tensor "f32[64][1]cuda:0"[num_users=2] = call_function[target=torch.ops.aten.add.Tensor](args = (%sin, 1), kwargs = {})
 *     #   return %add
 *
 * and up to 2.8 "%add : [num_users=2] = call_function[...]". Nodes come in the order of the kernels. What a node uses but no kernel
 * has (results of torch's operators) becomes a placeholder. False: no fragment.
 */
#ifndef PT2_INDUCTOR_FRAGMENT_H
#define PT2_INDUCTOR_FRAGMENT_H
#include "base/buf.h"

bool fragment_graph(struct slice code, struct buf *b);

#endif
