#!/bin/bash
# The same failure in whatever dress it is pasted: the same title, component and line of the user's (tests/lib/dresses.py).
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
for archive in "$ROOT"/tests/data/causes/v213*.tar.xz; do
	tar -xJf "$archive" --wildcards '*/stderr'
done
failures=(late_{aoti_garbage,autograd_grad,broadcast,ddp_unused,error_on_break,export_branch,export_dataclass,missing_arg,no_compiler,op_alias,scan_dtype,state_dict}
	more_{clip_full,export_strict,grad_vector,op_raises,unbound}
	new_{aoti_batch,bce_target,cond_branches,cuda_here,export_groups,extension,hook_inplace,lazy_init,slice_item}
	attribute_error b_{backend_name,embedding_bad,index_error,zero_division} backend_fails cond_mutates dtype_mismatch fullgraph_branch key_error
	lowering_error mark_dynamic spawn_assert unbacked_view)
is "failures" ${#failures[@]} 40
if [ "${FULL-1}" = 0 ]; then # a tenth
	failures=(key_error lowering_error unbacked_view new_cuda_here)
fi
tap_of "" python3 "$ROOT/tests/lib/dresses.py" . "${failures[@]}"

# ---- forms that no recorded failure has ----
place() { fxexplain -q --json - | jq -r '.findings[0] | "\(.location.file // "-"):\(.location.line // 0) \(.title)"'; }
is "a cell is a file of the user's" "$(place <<'X'
---------------------------------------------------------------------------
InductorError                             Traceback (most recent call last)
Cell In[3], line 7
      4 def f(x):
      5     return x.sin()
----> 7 f(x)

File ~/venv/lib/python3.11/site-packages/torch/_dynamo/eval_frame.py:655, in _TorchDynamoContext.__call__.<locals>._fn(*args, **kwargs)
    654 try:
--> 655     return fn(*args, **kwargs)
    656 finally:

InductorError: AssertionError: no such buffer
X
)" "Cell In[3]:7 InductorError: AssertionError: no such buffer"
is "Explanation, Hint and context without the class" "$(place <<'X'
Call to a builtin that cannot be traced
  Explanation: Dynamo does not know how to trace the builtin `zlib.crc32`.
  Hint: Move it out of the compiled region.

  Developer debug context: module: zlib, qualname: crc32

 For more details about this graph break, please visit: https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0156.html

from user code:
   File "/home/u/app.py", line 12, in f
    n = zlib.crc32(b)
X
)" "/home/u/app.py:12 Unsupported: Call to a builtin that cannot be traced"
is "the line of 'Original traceback'" "$(place <<'X'
RuntimeError: shapes do not fit

While executing %mm : [num_users=1] = call_function[target=torch.ops.aten.mm.default](args = (%x, %y), kwargs = {})
Original traceback:
  File "/home/u/net.py", line 31, in forward
    return x @ self.w
X
)" "/home/u/net.py:31 RuntimeError: shapes do not fit"
like "the line of 'Caused by'" "$(place <<'X'
torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode: Could not guard on data-dependent expression u0 > 2 (unhinted: u0 > 2).  (Size-like symbols: u0)

Caused by: if y.shape[0] > 2:  # app/net.py:8 in forward (_dynamo/variables/tensor.py:2606 in evaluate_expr)
X
)" '^app/net\.py:8 '
like "the line of 'The following call raised this error'" "$(place <<'X'
torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode: Could not guard on data-dependent expression Eq(u0, 1) (unhinted: Eq(u0, 1)).  (Size-like symbols: u0)

The following call raised this error:
  File "/home/u/net.py", line 44, in forward
    return x.view(-1, n)
X
)" '^/home/u/net\.py:44 '
is "colours, labels and quotes at once" "$(printf '> [rank1]: \033[31mTraceback (most recent call last):\033[0m\n> [rank1]:   File "/home/u/app.py", line 3, in <module>\n> [rank1]:     f()\n> [rank1]: KeyError: %s\n' "'a'" | place)" \
	"/home/u/app.py:3 KeyError: 'a'"
is "an error that a program prints is no failure" "$(printf 'epoch 1\nValueError: retrying\nepoch 2\n' | fxexplain -q --json - | jq '.findings | length')" 0
is "lines are counted as they are" "$(printf '\n\n> Traceback (most recent call last):\n>   File "/home/u/app.py", line 3, in <module>\n>     f()\n> KeyError: 1\n' | fxexplain -q --json - | jq -c '[.failures[0].line, .inputs[0].lines]')" '[3,6]'

# ---- compressed ----
seq 30000 | sed 's/^/step /' >log
cat key_error/stderr >>log
for packer in gzip xz zstd; do
	command -v $packer >/dev/null || { skip "a log packed by $packer" "no $packer"; continue; }
	$packer -c <log >packed 2>/dev/null
	is "a log packed by $packer" "$(fxexplain -q --json packed | jq -c '[.findings[0].title, .inputs[0].lines]')" "[\"KeyError: 'missing'\",$(wc -l <log)]"
	is "the same through a pipe, in two members" "$(cat packed packed | fxexplain -q --json - | jq -c '.inputs[0].lines')" $((2 * $(wc -l <log)))
	head -c $(($(stat -c %s packed) / 2)) packed >half
	like "half of a log packed by $packer" "$(fxexplain --json half 2>&1)" "data ends early"
	{ head -c 5000 packed; head -c 9000 /dev/zero; tail -c 2000 packed; } >bad
	run fxexplain --json bad
	like "a damaged one" "$status $(cat out err)" "^[0-4] .*data (is corrupt|ends early)"
done
done_testing
