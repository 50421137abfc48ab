/* fragment.h - the FX graph that the comments of generated code spell out, where no other is at hand.
 *
 *     struct buf b = {0};
 *     if (fragment_graph(code, &b))                      // FX code, for graph/fxcode.h
 *
 * Above each Triton kernel stand the nodes that it was made of (torch 2.9 on as below; torch/_inductor/utils.py,
 * get_kernel_metadata; torch/fx/node.py, format_node):
 *
 *     # Graph fragment:
 *     #   %arg0_1 : Tensor "f32[64][1]cuda:0" = PlaceHolder[target=arg0_1]
 *     #   %add : Tensor "f32[64][1]cuda:0"[num_users=2] = call_function[target=torch.ops.aten.add.Tensor](args = (%sin, 1), kwargs = {})
 *     #   return %add
 *
 * and up to 2.8 "%add : [num_users=2] = call_function[...]". Nodes come in the order of the kernels. What a node uses and no kernel
 * has (results of torch's operators) becomes a placeholder. False: there is no fragment.
 */
#ifndef PT2_INDUCTOR_FRAGMENT_H
#define PT2_INDUCTOR_FRAGMENT_H
#include "base/buf.h"

bool fragment_graph(struct slice code, struct buf *b);

#endif
