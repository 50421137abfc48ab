#!/bin/bash
# Graphs of plain torch.compile under the live tools, where there is no torch: the real hook, the real rewriting, the real probe in a
# real Python, over tests/lib/jittorch. With torch: tests/live/jit.t.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
command -v python3 >/dev/null || skip_all "no python3"
python3 -c 'import ast, sys; sys.exit(not hasattr(ast, "unparse"))' || skip_all "python3 before 3.9"
python3 -c 'import sysconfig, sys; sys.exit(bool(sysconfig.get_config_var("Py_GIL_DISABLED")))' || skip_all "a Python without its lock"

# ---- the rewriting alone, of recorded texts ----

rewritten() { python3 "$ROOT/share/jit/rewrite.py" "$1" >"$2"; }
text() { jq -r "$2" "$1"; }
for f in "$ROOT"/tests/data/jit/*.py; do
	name=$(basename "$f" .py)
	rewritten "$f" "$name.json" || fail "$name is read"
	is "$name: every kernel call is rewritten" \
		"$(text "$name.json" .rewritten | grep -E '^ +([a-z_0-9]+ = )?(cpp_fused|triton_|extern_kernels\.|torch\.ops\.)' | grep -vE 'empty|_alloc_from_pool|= torch\.ops\.[a-z.]+$')" ""
	is "$name: the rewritten text compiles" "$(text "$name.json" .compiles)" true
done
roles() { text "$1.json" "[.calls[] | .name + \": \" + ([.args[] | select(.role != \"scalar\") | .role + \" \" + .text] | join(\", \"))][$2]"; }
is "kernel arguments have the roles that the kernel declares" "$(roles training.0_forward 0)" \
	"extern_kernels.mm: in primals_1, in primals_2, out buf0"
is "a kernel that works in place on reused memory" "$(roles training.0_backward 0)" \
	"$(text training.0_backward.json '.calls[0].name'): inout buf0, in tangents_1"
is "memory reused from an input counts as that input" \
	"$(text training.0_backward.json '[.values[] | select(.name == "buf0") | .kind] | join(",")')" input
is "nodes and operators come from the preceding comment" "$(text training.0_forward.json '.calls[0].original_aten')" aten.mm
is "the graph has its name" "$(text training.0_backward.json .model)" 0_backward
is "parts of an operator's result have names" "$(text operators.0_inference.json \
	'[.calls[] | select(.name | test("sort")) | .args[] | select(.role == "out") | .text] | join(" ")')" "$(text operators.0_inference.json \
	'[.values[].name | select(. == "buf1" or . == "buf2")] | sort | join(" ")')"

# CUDA: a text of every kind of kernel that Inductor generates (scripts/fixtures/cuda_texts.py), of the torch that machines with a GPU
# have today and of the newest. kernelroles.py reads them a second time, by other means.
for f in "$ROOT"/tests/data/jit/cuda-*.tar.xz; do
	tar -xJf "$f"
	v=$(basename "${f#*cuda-}" .tar.xz)
	is "torch $v for CUDA, $(find "cuda-$v" -name '*.py' | wc -l) texts: all calls, roles, nothing made up" \
		"$(python3 "$ROOT/tests/lib/kernelroles.py" "cuda-$v"/*.py 2>&1)" ""
done
sed 's/^\( *\)\(triton_\w*\)\.run(/\1getattr(\2, "run")(/' cuda-2.15.0/sort.inference.py >sort.py
like "... a call of another form would be noticed" "$(python3 "$ROOT/tests/lib/kernelroles.py" sort.py)" 'no call of triton_per_fused_sort_0 is seen'
cuda() { rewritten "cuda-2.15.0/$1.py" cuda.json && text cuda.json "[.calls[] | [.args[] | select(.role != \"scalar\") | .role + \" \" + .text] | join(\", \")][$2]"; }
is "a scan: the kernel, not the function before it" "$(cuda cumsum.inference 0)" "out buf1, in arg0_1"
is "a sum into what another kernel wrote" "$(cuda index_put.inference 1)" "in arg2_1, in arg1_1, inout buf0"
is "one of several kernels" "$(cuda multi_kernel.inference 0)" "in arg0_1, out buf2"
is "memory that was allocated and never used before is not read" "$(cuda cooperative.inference 1)" \
	"in arg0_1, out buf0, inout semaphores_cuda_0, out workspace_0"
is "a user's kernel: a pointer that is stepped, one changed by a function, one added to" "$(cuda user_in_steps.inference 0)" \
	"inout arg0_1, out buf0, inout arg1_1"
is "constants that are not passed" "$(cuda user_odd_arguments.inference 1)" "in arg0_1, in arg1_1, out buf2"
is "a subgraph's argument is what it is given" "$(cuda cond.inference 0; text cuda.json '.values[] | select(.name == "false_graph_0_arg0_1") | .kind, .index' | paste -sd' ')" \
	$'in false_graph_0_arg0_1, out false_graph_0_buf0\ninput 1'

# ---- in a process ----

export PYTHONPATH=$ROOT/tests/lib/jittorch JITTORCH_LIBRARY=$BUILD/tests-lib/jittorch.so PYTHONDONTWRITEBYTECODE=1
cp "$ROOT"/tests/lib/jittorch/{graph,app}.py .
line=$(grep -n '^        cpp_fused_log_0' graph.py | cut -d: -f1)
want=$(python3 app.py graph.py 'print(step())')
run aoti-nanassert --json --log f.json -- python3 app.py graph.py 'print(step())'
is "the watched program prints the same" "$(cat out)" "$want"
is "without a NaN the status is the command's" "$status" 0
is "all four calls are recorded" "$(jq .calls f.json)" 4

run aoti-nanassert --log f.txt -- env RANK=3 python3 app.py graph.py 'step(); step((1.0, -2.0, 3.0))'
like "the rank of a torchrun process is reported" "$(cat f.txt)" 'process [0-9]+ \(rank 3\), graph 3_backward'
RANK=2 run aoti-printer -q -o ranked -- python3 app.py graph.py 'step()'
is "... in a dump, too" "$(jq -r 'select(.kernel) | .rank' ranked/calls.jsonl | sort -u)" 2
run aoti-nanassert --log f.txt -- python3 app.py graph.py 'step(); step((1.0, -2.0, 3.0))'
is "a NaN in a graph" "$status" 1
like "the kernel, its call, run and line are reported" "$(cat f.txt)" "NaN produced by cpp_fused_log_0 \(call 0 of run 1, line $line\)"
like "the graph and its file are reported" "$(cat f.txt)" 'process [0-9]+, graph 3_backward \(graph.py\)'
like "a weight is reported by its module path" "$(cat f.txt)" 'up\.weight \(primals_1\), a weight f32\[3\]: min -2, .*; there \[1\] = -2'
like "the program's line is reported" "$(cat f.txt)" '/home/user/model.py:7 in forward: y = torch.log\(w\)'
like "ATen operators are reported" "$(cat f.txt)" 'ATen +aten.log'
like "the summary counts graphs" "$(cat f.txt)" '1 torch.compile graph, 8 calls'

run aoti-nanassert --json --log f.json -- python3 app.py graph.py 'step(g=(1.0, 200.0, 1.0))'
is "a part of an operator's result is reported by name" "$(jq -r '.findings[0] | .kernel, .values[.bad].buffer' f.json | paste -sd' ')" \
	"torch.ops.test.halves buf5"
run aoti-nanassert --json --log f.json -- python3 app.py graph.py 'step(g=(float("nan"), 1.0, 1.0))'
is "a NaN in the incoming gradient" "$(jq -r '.findings[0] | .kind, .values[.cause].path' f.json | paste -sd' ')" "input the gradient of output 0"
run aoti-nanassert --json --log f.json -- python3 app.py graph.py 'step((float("nan"), 1.0, 1.0))'
is "... in a weight" "$(jq -r '.findings[0] | .kind, .values[.cause].path' f.json | paste -sd' ')" "constant up.weight"

# with the graph: by evaluation
export JITTORCH_FX=1
run aoti-nanassert --log f.txt -- python3 app.py graph.py 'step(); step((1.0, -2.0, 3.0))'
like "line, cause and run come first" "$(head -n 1 f.txt)" "NaN at model.py:7: log of a negative number \(call 0 of run 1, line $line\)\$"
like "then the expression, its line, the kernel" "$(cat f.txt)" 'cause +log\(-2\) = nan at \[1\]
  Python +/home/user/model.py:7 in forward: y = torch.log\(w\)
  kernel +cpp_fused_log_0'
like "the next command is shown" "$(cat f.txt)" 'next +aoti-printer --graph 3_backward --runs 1 --calls 0 -- python3 app.py graph.py'
run aoti-nanassert --json --log f.json -- python3 app.py graph.py 'i = float("inf"); step((1.0, 2.0, i), (1.0, 1.0, -i))'
is "a tensor that the kernel overwrites is known as it was" "$(jq -r '.findings[0].why | .status, .reason, .text, .python' f.json)" 'found
inf - inf
add(-inf, inf) = nan at [2]
/home/user/model.py:8 in forward: return y + g'
sed 's/^\( *\)buf2 = buf1; del buf1.*/\1buf9 = buf1; del buf1  # reuse\n\1buf2 = buf9; del buf9  # reuse/' graph.py >reused.py
run aoti-nanassert --json --log f.json -- python3 app.py reused.py 'i = float("inf"); step((1.0, 2.0, i), (1.0, 1.0, -i))'
is "... under a name whose own value was never in memory" "$(jq -r '.findings[0].why | .status, .text' f.json)" 'found
add(-inf, inf) = nan at [2]'
sed '/^class Runner/i def true_graph_0(args):\n    true_graph_0_arg0_1, = args\n    args.clear()\n    true_graph_0_buf0 = empty_strided_cpu((3, ), (1, ), None)\n    cpp_fused_log_0(true_graph_0_arg0_1, true_graph_0_buf0, 3)\n    return (true_graph_0_buf0, )\n
	s/^\( *\)cpp_fused_log_0(primals_1, buf0, 3)/\1held = [primals_1]\n\1buf7 = true_graph_0(held)\n\1del held\n\1buf0 = buf7[0]/' graph.py >branch.py
run aoti-nanassert --json --log f.json -- python3 app.py branch.py 'step((1.0, -2.0, 3.0))'
is "in the branch of a condition: by its own graph, at the line of the condition, where torch has lost the others" \
	"$(jq -r '.findings[0] | .values[.bad].buffer, (.why | .status, .text, .python)' f.json)" 'true_graph_0_buf0
found
log(-2) = nan at [1]
/home/user/model.py:5 in forward: return torch.cond(p, steep, flat, (w,))'
unset JITTORCH_FX
JITTORCH_LIFTED=1 run aoti-nanassert --json --log f.json -- python3 app.py graph.py 'step((float("nan"), 1.0, 1.0))'
is "parameters that Dynamo lifts come first" "$(jq -r '.findings[0] | .kind, .values[.cause].path' f.json | paste -sd' ')" "constant param_groups[0]['params'][0]"

# torch.amp.GradScaler: what a step that it skips has found is its own
scaler='from torch.amp.grad_scaler import GradScaler
s = GradScaler()
def train(found, before=0, w=-2.0):
    if before: step((1.0, w if found else 2.0, 3.0))
    s.scale(0)
    step((1.0, w if found and not before else 2.0, 3.0))
    s.step(found); s.update()'
scaled() { run aoti-nanassert --all --json --log f.json "${@:2}" -- python3 app.py graph.py "$scaler
$1"; }
counted() { jq -c '[.skipped_steps, [.findings[] | [.run, .scaler.skipped, .scaler.scale_from, .scaler.scale_to]]]' f.json; }
scaled 'for i in range(9): train(i in (2, 5))'
is "GradScaler: a step that it skips is no alarm" "$(counted) $status" '[2,[]] 0'
run aoti-nanassert --log f.txt -- python3 app.py graph.py "$scaler
for i in range(9): train(i in (2, 5, 6))"
like "... and is counted" "$(cat f.txt)" 'nothing found; 3 steps skipped by GradScaler: their infinities are its own'
scaled 'for i in range(9): train(i in (2, 5))' --skipped
is "... but for --skipped" "$(jq -c '[.skipped_steps, (.findings | length)]' f.json) $status" '[null,1] 1'
scaled 'for i in range(9): train(i > 4, before=1)'
is "... one that stays before the loss is scaled is, when the scale has fallen" "$(counted) $status" '[0,[[10,2,8,4]]] 1'
scaled 'for i in range(6): train(i > 1)'
is "... after it, when the scale is 1" "$(counted) $status" '[0,[[2,4,8,1]]] 1'
scaled 'for i in range(4): train(i > 1)'
is "... not before" "$(counted) $status" '[2,[]] 0'
scaled 'train(0); step((1.0, -2.0, 3.0)); train(0); train(1)'
is "... a NaN in a step that it makes is" "$(counted) $status" '[0,[[1,0,null,null]]] 1'
like "... which is said" "$(run aoti-nanassert -- python3 app.py graph.py "$scaler
train(0); step((1.0, -2.0, 3.0)); train(0)"; cat err)" 'scaler +GradScaler did not skip this step'
scaled 'train(1); step((1.0, -2.0, 3.0))'
is "... and one after the last step" "$(counted) $status" '[1,[[1,0,null,null]]] 1'
scaled 's._enabled = False
train(1)'
is "... a scaler that is not enabled skips nothing" "$(jq -c '[(.findings | length)]' f.json) $status" '[1] 1'
scaled 'for i in range(3):
    p = os.fork()
    train(i == 1) if p else step((1.0, -2.0, 3.0))
    os.wait() if p else os._exit(0)'
is "... one of another process skips nothing here" "$(jq '.findings[0].times' f.json) $status" '3 1'

# --explode
run aoti-nanassert --explode --log f.txt -- python3 app.py graph.py 'for i in range(12): step(g=(1.0, 1.0, 30.0 if i == 7 else 1.0 + i / 4))'
is "--explode: status" "$status" 1
like "the first tensor that leaves its usual range" "$(cat f.txt)" 'input the gradient of output 0 left its usual range in run 7 of 3_backward
  range +up to 2 in its first 5 runs, 30 now
  before +1 1\.25 1\.5 1\.75 2 2\.25 2\.5 30'
if command -v script >none; then
	run script -qec "env LC_ALL=C.UTF-8 TERM=xterm aoti-nanassert --explode -- python3 app.py graph.py 'for i in range(12): step(g=(1.0, 1.0, 30.0 if i == 7 else 1.0))'" /dev/null
	like "... with a curve, on a terminal" "$(cat out)" 'curve +▁▁▁▁▁▁▁█  from 1 to 30, logarithmic'
fi
run aoti-nanassert --explode --json --log f.json -- python3 app.py graph.py 'for i in range(12): step(g=(1.0, 1.0, 30.0 if i == 7 else 1.0))'
is "... and in the document" "$(jq -c '.explosions[0] | .curve, .zeros, (.pid > 1)' f.json | paste -sd' ')" '[1,1,1,1,1,1,1,30] 0 true'
is "... with the line of what a kernel wrote" "$(jq -r '.explosions | map(select(.kernel != null))[0].python' f.json)" '/home/user/model.py:7 in forward: y = torch.log(w)'
run aoti-nanassert --explode --json --log f.json -- python3 app.py graph.py 'for i in range(12): step(g=(1.0, 1.0, 1.0 + i / 4))'
is "... not a slow growth" "$(jq -c '[.found, .explosions]' f.json) $status" "[false,[]] 0"
run aoti-nanassert --explode --json --log f.json -- python3 app.py graph.py 'for i in range(90): step(g=(0.0, 0.0, 1e-3 * i))'
is "... not what grows steadily from 0, as a bias" "$(jq -c '[.found, .explosions]' f.json) $status" "[false,[]] 0"
run aoti-nanassert --explode --json --log f.json -- python3 app.py graph.py 'for i in range(40): step(g=(0.0,) * 3 if i < 6 else (0.0, 0.0, 1.0 + i / 40))'
is "... nor what was 0 at first" "$(jq -c '[.found, .explosions]' f.json) $status" "[false,[]] 0"
run aoti-nanassert --explode --json --log f.json -- python3 app.py graph.py 'for i in range(80): step(g=(1.0, 1.0, max(2.0, 1.3 ** (i - 50))))'
is "... but what multiplies from run to run, late" "$(jq -c '.explosions[0] | [.tensor, .run, .usual]' f.json) $status" '["the gradient of output 0",62,2] 1'
run aoti-nanassert --explode --json --log f.json -- python3 app.py graph.py 'for i in range(12): step(g=(1.0, 1.0, float("inf") if i in (6, 9) else 1.0))'
is "... not single infinities" "$(jq -c '[.found, .explosions]' f.json) $status" "[false,[]] 0"
run aoti-nanassert --explode --json --log f.json -- python3 app.py graph.py 'for i in range(12): step(g=(0.0,) * 3 if i > 6 else (1.0,) * 3)'
is "... what becomes all zeros" "$(jq -c '.explosions[0] | [.tensor, .zero, .run]' f.json) $status" '["the gradient of output 0",true,9] 1'

units='
def train(i, alive): step(g=[1.0 + i / 9 if k < alive else 0.0 for k in range(40)])'
run aoti-nanassert --explode --json --log f.json -- python3 app.py graph.py "$units
for i in range(12): train(i, 20 if i < 7 else 1)"
is "... of which nearly all becomes 0: dead units" "$(jq -c '.explosions[0] | [.tensor, .zero, .zeros, .run]' f.json) $status" \
	'["the gradient of output 0",true,0.975,9] 1'
run aoti-nanassert --explode --log f.txt -- python3 app.py graph.py "$units
for i in range(12): train(i, 20 if i < 7 else 1)"
like "... in words" "$(head -n 1 f.txt)" 'input the gradient of output 0 is 0 in 97.5 % of its elements from run 7 of 3_backward'
run aoti-nanassert --explode --json --log f.json -- python3 app.py graph.py "$units
for i in range(12): train(i, 8 if i < 7 else 1)"
is "... not where most were 0 before" "$(jq -c .explosions f.json) $status" '[] 0'
run aoti-nanassert --explode --json --log f.json -- python3 app.py graph.py "$units
for i in range(12): train(i, 20 if i < 7 else 3)"
is "... nor where more than 5 % stay" "$(jq -c .explosions f.json) $status" '[] 0'

run aoti-nanassert --fail --log f.txt -- python3 app.py graph.py 'step((1.0, -2.0, 3.0))'
like "--fail raises an exception at that line" "$(cat err)" "line $line, in call"
like "... its message has the finding" "$(cat err)" 'RuntimeError: .*cpp_fused_log_0 \(call 0, graph.py:[0-9]+\) wrote 1 NaN and 0 infinities into buf0'
run aoti-nanassert --fail --log f.txt -- python3 app.py graph.py '
try: step((1.0, -2.0, 3.0))
except RuntimeError as e: print("caught")
print(step.__name__)'
is "... the program may catch it" "$(cat out)" $'caught\nstep'

run aoti-nanassert --graph '*_forward' --json --log f.json -- python3 app.py graph.py 'step((1.0, -2.0, 3.0))'
is "--graph skips other graphs" "$(jq .calls f.json)" 0
run aoti-nanassert --graph 3_backward --step 1..2 --json --log f.json -- python3 app.py graph.py 'for i in range(5): step((1.0, -2.0, 3.0))'
is "--step selects runs" "$(jq -c '[.calls, .findings[0].run]' f.json)" "[8,1]"
sgd='from torch.optim.optimizer import SGD; o = SGD()'
run aoti-nanassert --step 2 --json --log f.json -- python3 app.py graph.py "$sgd
for i in range(4): step((1.0, -2.0, 3.0)); step(); o.step()"
is "... or optimizer steps" "$(jq -c '[.calls, .findings[0].run]' f.json)" "[8,4]"
run aoti-nanassert --step 3-5 -- true
is "an invalid --step" "$status" 2

run aoti-nanassert --json --log f.json -- python3 app.py graph.py '
def work(i): step((1.0, -1.0 if i == 2 else 1.0, 1.0))
ts = [threading.Thread(target=work, args=(i,)) for i in range(4)]
[t.start() for t in ts]
[t.join() for t in ts]'
is "threads are distinguished" "$(jq -c '[.calls, .findings[0].kernel, .findings[0].tid != .findings[0].pid]' f.json)" '[16,"cpp_fused_log_0",true]'
run aoti-nanassert --json --log f.json -- python3 app.py graph.py '
p = os.fork()
step((1.0, -1.0, 1.0) if not p else (1.0, 1.0, 1.0))
print(p) if p else os._exit(0)
os.wait()'
is "processes are distinguished" "$(jq '.findings[0].pid' f.json)" "$(cat out)"

run aoti-printer --log p.txt -- python3 app.py graph.py 'step()'
like "aoti-printer prints values between kernels" "$(cat p.txt)" '^# 3_backward, run 0, call 0: cpp_fused_log_0 \(graph.py:[0-9]+; from y\)'
run aoti-printer --kernels '*add*' --json --log p.json -- python3 app.py graph.py 'step()'
is "--kernels" "$(jq -r '[.calls[].kernel] | join(" ")' p.json)" cpp_fused_add_1
run aoti-printer --profile --json --log p.json -- python3 app.py graph.py 'for i in range(3): step()'
is "--profile" "$(jq -r '[.. | objects | select(.kernel == "cpp_fused_log_0") | .calls][0]' p.json)" 2
run aoti-printer --profile --chrome-trace t.json -- python3 app.py graph.py 'step()'
is "--chrome-trace has the program's lines" "$(jq -r '[.traceEvents[] | select(.name == "cpp_fused_log_0")][0].args | .model, .python[0]' t.json)" \
	$'3_backward\n/home/user/model.py:7 in forward: y = torch.log(w)'
run aoti-printer --memory --json --log m.json --html m.html -- python3 app.py graph.py 'for i in range(3): step()'
is "--memory lists buffers at the peak, largest first" "$(jq -c '.graphs[0] | [.model, .runs, .reached, .peak_at, [.buffers[] | [.names, .bytes, .kernel]]]' m.json)" \
	'["3_backward",3,48,3,[["buf0",12,"cpp_fused_log_0"],["buf1, buf2",12,"torch.ops.test.twice"],["buf4",12,"torch.ops.test.halves"],["buf5",12,"torch.ops.test.halves"]]]'
is "... with the program's lines" "$(jq -r '.graphs[0].buffers[0].python[0]' m.json)" '/home/user/model.py:7 in forward: y = torch.log(w)'
is "... and the curve" "$(jq -c '[.graphs[0].curve[].bytes]' m.json)" '[12,24,24,48]'
like "... as a page" "$(cat m.html)" 'pt2utils.printer.memory/1'
run aoti-printer --memory -- python3 app.py graph.py 'step()'
like "... as text" "$(cat out)" '3_backward: 48 bytes of buffers at peak'
run aoti-printer -o dump1 -- python3 app.py graph.py 'step()'
run aoti-printer -o dump2 -- python3 app.py graph.py 'step((1.0, -2.5, 3.0))'
is "-o saves each tensor to a file" "$(jq -r 'select(.kernel == "cpp_fused_log_0") | .source, .model' dump1/calls.jsonl)" $'graph.py\n3_backward'
run aoti-printer --diff dump1 dump2
is "--diff of two dumps finds a difference" "$status" 1
like "... and names the first kernel" "$(cat out)" cpp_fused_log_0
run aoti-nanassert dump2
is "aoti-nanassert searches the dump" "$status" 1

# ---- --record: the graph and its inputs, run again ----

run aoti-printer --record kept -- python3 app.py graph.py 'step(); step((1.0, -2.0, 3.0))'
is "--record keeps a failing run of a graph" "$status" 1
like "... and suggests what to do with it" "$(cat err)" 'aoti-nanassert kept; for a graph: fxminify kept'
is "... with its inputs and the finding only" "$(ls kept; jq -r '.graph, .program, .inputs[].file, .finding' kept/*/bundle.json)" \
	"bundle.m0.r000001"$'\n'"3_backward"$'\n'"model/fx_graph_runnable.py"$'\n'"input0.npy"$'\n'"input1.npy"$'\n'"cpp_fused_log_0 (call 0, graph.py:$line) wrote 1 NaN and 0 infinities into buf0: min 0, max 1.09861"
cat >python <<EOF
#!/bin/sh
cp "\$1" $TMP/replayed.py
exec python3 $TMP/app.py $TMP/graph.py 'step((1.0, -2.0, 3.0))'
EOF
chmod +x python
PT2_PYTHON=$TMP/python run aoti-nanassert --log f.txt kept
is "aoti-nanassert runs the recording again" "$status" 1
like "... with a note that it runs a program" "$(cat err)" "runs the program of the graph in 'kept', unconfined"
PT2_PYTHON=$TMP/missing run aoti-nanassert --no-exec kept
is "... but not with --no-exec" "$status $(grep -c 'no-exec prevents' err)" "2 1"
like "... and finds the same NaN" "$(cat f.txt)" "NaN produced by cpp_fused_log_0"
like "... as a torch program with the recorded inputs" "$(cat replayed.py)" "_repro_bytes\(reader, '$(printf '\0\0\200\77\0\0\0\300\0\0\100\100' | base64)'.*run_repro\(mod, load_args, accuracy=True"
# Compiled again, kernels and inputs have other names, and no lines: shown are those of the process that was recorded.
cp graph.py renamed.py
sed -i 's/cpp_fused_log_0/cpp_fused_0/g; s/primals_1/arg0_1/g; /Source Nodes/d; /AOT ID/d' renamed.py
cat >python2 <<EOF
#!/bin/sh
exec python3 $TMP/app.py $TMP/renamed.py 'step((1.0, -2.0, 3.0))'
EOF
chmod +x python2
like "... which may have lost names" "$(PT2_PYTHON=$TMP/python2 aoti-nanassert -- ./python2 2>&1)" 'cpp_fused_0'
PT2_PYTHON=$TMP/python2 run aoti-nanassert --log f2.txt kept
is "names and lines of a rerun are those of the recording" "$(grep -v 'process\|first at\|next' f2.txt)" \
	"$(aoti-nanassert -- python3 app.py graph.py 'step((1.0, -2.0, 3.0))' 2>&1 | sed 's/^aoti-nanassert: aoti-nanassert/aoti-nanassert/' | grep -v 'process\|first at\|next')"
like "... with the command that goes on" "$(cat f2.txt)" ' next +aoti-printer --calls 0 kept'
PT2_PYTHON=$TMP/python2 run aoti-printer -k '*log*' --level 3 kept
like "... also by aoti-printer" "$(cat out)" 'cpp_fused_log_0'
PT2_PYTHON=$TMP/python run aoti-printer --level 3 kept
like "aoti-printer runs the recording, too" "$(cat out)" 'cpp_fused_log_0'
run aoti-printer kept kept
is "... and rejects other inputs" "$status" 2
run fxminify --no-journal --test 'grep -q aten.log' -o least.py kept
is "fxminify reduces the recording" "$status $(grep -c 'torch.ops.aten' least.py)" "0 1"
run aoti-printer --record kept.pt2b -- python3 app.py graph.py 'step((1.0, -2.0, 3.0))'
is "--record FILE has the finding" "$status $(fxexplain replay --json kept.pt2b | jq -r .title)" \
	"1 run 0, call 0: cpp_fused_log_0 (graph.py:$line; from y) wrote 1 NaN and 0 infinities"
run fxexplain replay kept.pt2b
like "... and says what can be run" "$(cat out)" 'fxminify .*run/kept.*aoti-nanassert +aoti-nanassert run/kept'
run fxexplain replay --python "$TMP/python" --run --tool aoti-nanassert kept.pt2b
is "... which works" "$status" 0
run aoti-printer --record none.pt2b -- python3 app.py graph.py 'step()'
is "--record without a failure writes no file" "$status $(test -e none.pt2b || echo none)" "0 none"
run aoti-printer --record any --graph '*' -- python3 app.py graph.py 'step(); step()'
is "--record of a graph keeps its first run, whatever it computes" "$status $(ls any)" "0 bundle.m0.r000000"
like "... with its program and inputs" "$(jq -r '.program, .inputs[0].file // .inputs[0], .finding' any/*/*.json)" "fx_graph_runnable.*null"
like "... and says so" "$(cat err)" "kept the inputs of 1 run in any: .*fxminify any"
run aoti-printer -q --record later --graph '*' --step 1 -- python3 app.py graph.py 'step(); step()'
is "... or the one of --step" "$(ls later)" "bundle.m0.r000001"
jq '.inputs[0].spec = "f32[4]"' kept/*/bundle.json >j && mv j kept/bundle.m0.r000001/bundle.json
run aoti-nanassert kept
is "a recording with a damaged input" "$status" 3
like "... is rejected with a reason" "$(cat err)" 'input0.npy.: not the tensor described in the bundle'

# ---- on a GPU: its values, and --ima, on a driver without one (tests/lib/fakecuda.h) ----

sed 's/empty_strided_cpu/empty_strided_cuda/; s/cpp_fused/triton_poi_fused/; s/^        def log(x, y, n):/&\n            x.memory.launch()/' graph.py >gpu.py
on_gpu() { JITTORCH_CUDA=1 LD_LIBRARY_PATH=$BUILD/tests-lib/cuda run "$@"; }
on_gpu python3 app.py gpu.py 'print(step())'
is "device memory: the program prints the same" "$(cat out)" "$want"
on_gpu aoti-nanassert --log f.txt -- python3 app.py gpu.py 'print(step())'
is "... also when watched" "$status $(cat out)" "0 $want"
on_gpu aoti-nanassert --log f.txt -- python3 app.py gpu.py 'step(); step((1.0, -2.0, 3.0))'
like "a NaN on a GPU: kernel and numbers" "$(cat f.txt)" 'NaN produced by triton_poi_fused_log_0 \(call 0 of run 1.*there \[1\] = -2'
on_gpu aoti-nanassert --json --log f.json -- python3 app.py gpu.py "$scaler
for i in range(5): train(i == 1)"
is "... in a step that GradScaler skips" "$(counted) $status" '[1,[]] 0'
on_gpu aoti-nanassert --json --log f.json -- python3 app.py gpu.py "$scaler
for i in range(5): train(i in (1, 2))
step((1.0, -2.0, 3.0))"
is "... after which the scan looks for the next" "$(counted) $(jq '.findings[0].scanned' f.json) $status" '[2,[[5,0,null,null]]] true 1'
on_gpu aoti-printer --ima --log i.txt -- python3 app.py gpu.py 'print(step())'
is "--ima without a fault" "$status $(cat out)" "0 $want"
FAKECUDA_FAIL=illegal@2 on_gpu aoti-printer --ima --log i.txt -- python3 app.py gpu.py 'step(); step()'
like "--ima names the kernel that made the illegal access" "$(cat i.txt)" 'triton_poi_fused_log_0'
like "... its run and graph, and where in its text" "$(cat i.txt)" 'call 0 of run 1 of 3_backward.*from +gpu.py:[0-9]+'

floats() { python3 -c 'import struct, sys; print(*struct.unpack("<3f", open(sys.argv[1], "rb").read()[-12:]))' "$1"; }

# A stream other than the default one, whose work is done late: torch's current stream is what counts (in libtorch_cuda.so, which nobody loads
# globally).
side='
with torch.cuda.stream(torch.cuda.Stream()):'
on_gpu aoti-nanassert --log f.txt -- python3 app.py gpu.py "$side print(step())"
is "a side stream: values are read when they are there" "$status $(cat out)" "0 $want"
on_gpu aoti-nanassert --log f.txt -- python3 app.py gpu.py "$side step((1.0, -2.0, 3.0))"
like "... and a NaN is found there" "$(cat f.txt)" 'NaN produced by triton_poi_fused_log_0 \(call 0 of run 0.*there \[1\] = -2'
on_gpu aoti-printer --record side -- python3 app.py gpu.py "$side step((1.0, -2.0, 3.0))"
is "... with the graph's inputs" "$(floats side/bundle.m0.r000000/input0.npy)" "1.0 -2.0 3.0"
FAKECUDA_FAIL=illegal@2 on_gpu aoti-printer --ima --log i.txt -- python3 app.py gpu.py "$side
 for i in range(3): run([torch.Tensor(1.0, 2.0, 3.0), torch.Tensor(1.0, 1.0, 1.0)])"
like "--ima on a side stream: the kernel whose launch it was" "$(cat i.txt)" '^triton_poi_fused_log_0: illegal memory access.*call 0 of run 1 of 3_backward'
like "... found by waiting for it" "$(tr -s ' ' <i.txt)" 'seen this call caused it'

# The user captures a CUDA graph around a compiled function.
capture='g = torch.cuda.CUDAGraph()
with torch.cuda.graph(g): out = run([torch.Tensor(1.0, 2.0, 3.0), torch.Tensor(1.0, 1.0, 1.0)])
g.replay(); g.replay()
print([t.tolist() if t is not None else None for t in out])'
on_gpu python3 app.py gpu.py "$capture"
is "a capture around a graph" "$(cat out)" "$want"
for tool in "aoti-nanassert" "aoti-printer --ima" "aoti-printer" "aoti-printer --record captured" "aoti-printer --profile"; do
	read -ra words <<<"$tool"
	on_gpu "${words[@]}" --log c.txt -- python3 app.py gpu.py "$capture"
	is "... under $tool: the capture survives" "$status $(cat out)" "0 $want"
done
like "... which counts its replays" "$(cat err c.txt)" 'CUDA graph 1: 4 calls captured.*, replayed 2 times'

# A thread that has used no GPU yet has no context, as autograd's before the first kernel of a backward graph.
fresh() {
	echo "args = [torch.Tensor($1), torch.Tensor(1.0, 1.0, 1.0)]
t = threading.Thread(target=lambda: print([t.tolist() if t is not None else None for t in run(args)]))
t.start()
t.join()"
}
for tool in "aoti-nanassert" "aoti-printer --ima" "aoti-printer"; do
	read -ra words <<<"$tool"
	on_gpu "${words[@]}" --log c.txt -- python3 app.py gpu.py "$(fresh 1.0,2.0,3.0)"
	is "a thread without a context under $tool" "$status $(cat out)" "0 $want"
done
on_gpu aoti-nanassert --log f.txt -- python3 app.py gpu.py "$(fresh 1.0,-2.0,3.0)"
like "... its first kernel is examined" "$(cat f.txt)" 'NaN produced by triton_poi_fused_log_0 \(call 0 of run 0'
on_gpu aoti-printer --record thread -- python3 app.py gpu.py "$(fresh 1.0,-2.0,3.0)"
is "... and the graph's inputs are kept" "$(floats thread/bundle.m0.r000000/input0.npy)" "1.0 -2.0 3.0"

# Layouts and dtypes: nothing is copied that can be examined on the device, or needs no examination.
copied() { # the largest copy to the host
	awk '/^cuMemcpyDtoHAsync/ && $4 > n {n = $4} END {print n + 0}' driver
}
layout() {
	sed "s/^        buf3 = .*/        buf3 = torch.ops.test.$1(buf2)/; s/^        buf4 = buf3.*/        buf4 = buf3/; s/^        buf5 = .*/        buf5 = buf0/" gpu.py >"$1.py"
	rm -f driver
	FAKECUDA_LOG=driver on_gpu aoti-nanassert --all --json --log f.json -- python3 app.py "$1.py" "run([torch.Tensor(1.0, 2.0, 3.0), torch.Tensor(1.0, $2, 1.0)])"
}
layout image 1.0
is "channels_last: nothing found" "$status" 0
is "... examined on the device, not copied" "$(grep -c 'run pt2_stats_f32 = 0' driver) $(($(copied) <= 32768))" "1 1"
layout image 200.0
is "... a NaN at its place" "$(jq -c '.findings[0] | .kernel, .values[.bad].buffer, .values[.bad].position' f.json | paste -sd' ')" \
	'"torch.ops.test.image" "buf3" [1,7,4,27]'
MASK=11 layout mask 1.0
is "a mask holds no NaN: not read at all" "$status $(copied) $(grep -c 'run pt2_stats' driver)" "0 12 0"
MASK=4 layout mask 1.0
is "... nor do indices" "$status $(copied)" "0 12"
MASK=24 layout mask 1.0
is "float8 is examined on the device" "$(jq -c '.findings[0] | .values[.bad] | [.nan, .elements]' f.json) $(grep -c 'run pt2_stats_f8e4m3fn = 0' driver)" "[20000,80000] 2"
layout huge 1.0
is "a tensor too large to be copied" "$status $(copied)" "0 12"
like "... is reported" "$(jq -r ".asides[]" f.json)" 'a complex32 tensor on the GPU was not examined: a copy of its 4.00 GiB would be too large'

# A C++ kernel of a graph for a GPU works on the host, whose memory this GPU cannot reach: its calls are the CPU's.
cat >cpp.sed <<'EOF'
/^async_compile.wait/i\
cpp_fused_log_2 = async_compile.cpp_pybinding(['const float*', 'float*', 'const int64_t'], r'''\
extern "C"  void  kernel(const float* in_ptr0,\
                       float* out_ptr0,\
                       const int64_t ks0)\
{ log }\
''')\
constant0 = torch.Tensor(*eval(os.environ["ON_HOST"]), on_cpu=True)
s/^import math/&, os/
s/^            x.memory.launch()/            getattr(x.memory, "launch", bool)()/
s/^        buf0 = empty_strided_cuda.*/        buf9 = empty_strided_cpu((3, ), (1, ), None)\
        cpp_fused_log_2(constant0, buf9, 3)\
&/
s/^empty_strided_cuda.*/&\
empty_strided_cpu = lambda size, stride, dtype: torch.empty(size[0], on_cpu=True)/
EOF
sed -f cpp.sed gpu.py >mixed.py
ON_HOST=1.0,2.0,3.0 on_gpu aoti-printer --ima --log i.txt -- python3 app.py mixed.py 'print(step())'
is "--ima: a C++ kernel's memory is the host's" "$status $(cat i.txt out)" "0 $want"
ON_HOST=1.0,-2.0,3.0 on_gpu aoti-nanassert --log f.txt -- python3 app.py mixed.py 'step()'
like "... where a NaN is found, too" "$(cat f.txt)" 'NaN produced by cpp_fused_log_2'
# With cpp_wrapper=True, torch 2.13 and newer compile a Triton kernel when it is called first, and that call is Python's.
cat >lazy.txt <<'EOF'
import torch._inductor.runtime.triton_lazy_compile as lazy
kernels = {}
lazy.start_kernel_compile(kernels, "triton_poi_fused_log_0", """
async_compile.triton('triton_poi_fused_log_0', '''
@triton_heuristics.pointwise(
    triton_meta={'signature': {'in_ptr0': '*fp32', 'out_ptr0': '*fp32', 'xnumel': 'i32', 'XBLOCK': 'constexpr'}},
    inductor_meta={'mutated_arg_names': []},
)
@triton.jit
def triton_poi_fused_log_0(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    tl.store(out_ptr0 + (x0), tl_math.log(tl.load(in_ptr0 + (x0))))
''', device_str='cuda')
""")
x, y = torch.Tensor(1.0, W, 3.0), torch.empty(3)
print(lazy.run_triton_kernel_with_autotune(kernels, "triton_poi_fused_log_0", 0, [x, y, 3]), y.tolist())
EOF
on_gpu aoti-nanassert --log f.txt -- python3 app.py gpu.py "$(sed s/W/1.0/ lazy.txt)"
is "cpp_wrapper: the first call of a kernel does the same" "$status $(cut -c1-22 out)" "0 launch data [0.0, 0.0,"
on_gpu aoti-nanassert --json --log f.json -- python3 app.py gpu.py "$(sed s/W/-2.0/ lazy.txt)"
is "... and is watched: kernel, line, roles of its arguments" \
	"$(jq -c '.findings[0] | [.kernel, .line, (.values[] | [.buffer, .role])]' f.json)" \
	'["triton_poi_fused_log_0",7,["in_ptr0","in"],["out_ptr0","out"]]'
FAKECUDA_FAIL=illegal@1 on_gpu aoti-printer --ima --log i.txt -- python3 app.py gpu.py "$(sed s/W/1.0/ lazy.txt)"
like "... also for --ima" "$(cat i.txt)" 'call 0 of run 0 of triton_poi_fused_log_0 \(first call\)'
# A kernel of Triton's: its launch is known from Python's launcher.
cat >kernel.txt <<'P'
triton_poi_fused_log_0 = async_compile.triton('triton_poi_fused_log_0', '''
@triton_heuristics.pointwise(triton_meta={'signature': {'in_ptr0': '*fp32', 'out_ptr0': '*fp32', 'xnumel': 'i32'}})
@triton.jit
def triton_poi_fused_log_0(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    tl.store(out_ptr0 + (x0), tl_math.log(tl.load(in_ptr0 + (x0))))
''')
triton_poi_fused_add_2 = async_compile.triton('triton_poi_fused_add_2', '''
@triton_heuristics.pointwise(triton_meta={'signature': {'in_out_ptr0': '*fp32', 'in_ptr0': '*fp32', 'xnumel': 'i32'}})
@triton.jit
def triton_poi_fused_add_2(in_out_ptr0, in_ptr0, xnumel, XBLOCK : tl.constexpr):
    tl.store(in_out_ptr0 + (x0), tl.load(in_out_ptr0 + (x0)) + tl.load(in_ptr0 + (x0)))  # add
''')
P
cat >compile.txt <<'P'
    def triton(self, name, source):
        from torch._inductor.runtime.triton_heuristics import CachingAutotuner
        return CachingAutotuner(self.cpp_pybinding((), source), ["a_ptr0", "b_ptr0", "xnumel", "XBLOCK"])

P
awk 'FNR == NR {compile = compile $0 "\n"; next} /^    def wait/ {printf "%s", compile} {print}' compile.txt gpu.py |
	awk 'FNR == NR {kernel = kernel $0 "\n"; next} /^triton_poi_fused_log_0 =/ {printf "%s", kernel; skip = 1} /^triton_poi_fused_add_1 =/ {skip = 0} !skip {print}' kernel.txt - |
	sed 's/triton_poi_fused_log_0(primals_1, buf0, 3)/triton_poi_fused_log_0.run(primals_1, buf0, 3, stream=0)/' >triton.py
on_gpu python3 app.py triton.py 'print(step())'
is "a kernel of Triton's: the same result" "$(cat out)" "$want"
FAKECUDA_FAIL=illegal@2 on_gpu aoti-printer --ima --log i.txt -- python3 app.py triton.py 'step(); step()'
like "--ima: its grid and block" "$(cat i.txt)" 'grid \(2, 1, 1\), block \(128, 1, 1\), 16 bytes of shared memory'
like "... its numbers, by their names" "$(cat i.txt)" 'xnumel +3'
sed 's/buf0, 3, stream=0/buf0, 8, stream=0/; s/for i in range(n):/for i in range(3):/' triton.py >large.py
FAKECUDA_FAIL=illegal@2 on_gpu aoti-printer --ima --log i.txt -- python3 app.py large.py 'step(); step()'
like "... and that it writes too many elements" "$(tr -s '\n ' ' ' <i.txt)" 'buf0 has 3 elements, the kernel was asked to write 8 \(xnumel 8\)'

sed 's/^\( *\)triton_poi_fused_log_0.run/\1triton_poi_fused_add_2.run(primals_1, tangents_1, 3, stream=0)\n&/' triton.py >inplace.py
on_gpu aoti-nanassert --log f.txt -- python3 app.py inplace.py 'step(); step((1.0, float("nan"), 3.0))'
like "a scan: what was in an input that a call changes in place" "$(tr -s '\n ' ' ' <f.txt)" \
	'NaN in up.weight \(primals_1\), read by triton_poi_fused_add_2 .*read up.weight \(primals_1\) f32\[3\]@cuda:0: 1 NaN of 3 elements'
like "... and which command examines that call" "$(cat f.txt)" "again +aoti-nanassert --graph 3_backward --stop-at 1:0 -- python3 app.py inplace.py 'step"
eval "on_gpu $(sed -n 's/^ *again *//p' f.txt)"
like "... which finds the same" "$(tr -s '\n ' ' ' <err)" 'NaN in up.weight \(primals_1\), read by triton_poi_fused_add_2 .*1 torch.compile graph'

on_gpu aoti-nanassert --exact --json --log f.json -- python3 app.py inplace.py 'step(); step((1.0, float("nan"), 3.0))'
is "... it is copied before it is overwritten, and counted" \
	"$(jq -c '[.findings[0].values[] | select(.role == "inout" and .when == "before")][0] | [.nan, .min, .max]' f.json)" "[1,1,3]"

# ---- a graph that torch 2.13.0 compiles wrongly, against the same one node by node (recorded) ----

tar -xJf "$ROOT/tests/data/jit/pool.tar.xz"
tar -xJf "$ROOT/tests/data/jit/nodes.tar.xz"
run aoti-printer --diff pool nodes
is "--diff of a graph's dump with its nodes finds a difference" "$status" 1
like "... and names the kernel" "$(cat out)" 'First difference: 0_backward, run 0, call 0: cpp_fused_convolution_backward_max_pool2d'
like "... and the node" "$(cat out)" 'vs torch.ops.aten.where.self \(<eval_with_key>.*; from where\)'
like "... and nothing else" "$(cat out)" ', 1 differs'
run aoti-printer --diff nodes pool --json
is "--diff of the nodes with the graph names node and kernel" "$(jq -r '.calls[.first] | .kernel, .nodes, .kernel_b[:32]' out | paste -sd' ')" \
	"torch.ops.aten.where.self where cpp_fused_convolution_backward_m"
grep -v 0_backward pool/calls.jsonl >forward.jsonl && mv forward.jsonl pool/calls.jsonl
grep -v 0_backward nodes/calls.jsonl >forward.jsonl && mv forward.jsonl nodes/calls.jsonl
run aoti-printer --diff pool nodes
is "the forward graph alone agrees" "$status" 0
like "... each kernel's result matches a node" "$(cat out)" '8 tensors compared, 0 differ'

# ---- what must not change ----

mkdir user
echo 'print("mine")' >user/sitecustomize.py
PYTHONPATH=$TMP/user:$PYTHONPATH run aoti-nanassert -q -- python3 app.py graph.py ''
is "the user's own sitecustomize runs" "$(cat out)" mine
run aoti-nanassert -q -- python3 -c 'import sys; print([m for m in sys.modules if m.startswith(("torch", "ast", "ctypes", "rewrite"))], [p for p in sys.path if "jit" in p.rsplit("/", 1)[-1]])'
is "nothing is imported and sys.path is unchanged" "$(cat out)" "[] ['$ROOT/tests/lib/jittorch']"
sed 's/^        args.clear()/        if True: args.clear()/; s/^async_compile.wait/if 1: async_compile.wait/' graph.py >odd.py
run aoti-nanassert -q -- python3 app.py odd.py 'print(step())'
is "a text of another form: the program prints the same" "$(cat out)" "$want"
sed 's/^call = runner.call/call = runner.call\nbreak_ = 1/; s/cpp_fused_log_0(primals_1, buf0, 3)/(lambda f: f(primals_1, buf0, 3))(cpp_fused_log_0)/' graph.py >left.py
run aoti-nanassert -- python3 app.py left.py 'print(step())'
is "... with a call that is not understood: the same" "$(cat out)" "$want"
like "... a message counts such calls" "$(cat err)" 'calls of cpp_fused_log_0 are not understood and not watched'
cp graph.py broken.py
run aoti-nanassert -- python3 app.py broken.py '
import builtins
print(step())
r = cf._reload_python_module
open("bad.py", "w").write("async_compile = (")
try: r("k", "bad.py")
except RuntimeError as e: print(str(e).splitlines()[0])'
like "invalid Python fails as without watching" "$(cat out)" 'Failed to import bad.py'
JITTORCH_VERSION=2.5.1 run aoti-nanassert -- python3 app.py graph.py 'print(step())'
is "an old torch: the program prints the same" "$(cat out)" "$want"
like "... a message says that it is not watched" "$(cat err)" 'not watched: torch before 2.6 \(this is 2.5.1\)'
run aoti-nanassert -- python3 app.py graph.py '
mod = cf._reload_python_module("benchmark", "graph.py")
mod.call([torch.Tensor(-1.0, 1.0, 1.0), torch.Tensor(1.0, 1.0, 1.0)])'
like "a module that torch runs for itself (autotuning) is not looked at" "$(cat err)" 'graphs were seen but never run|no compiled model was seen'
run aoti-nanassert -q --exact -- python3 app.py graph.py 'model.cudagraphs = True; cf.compile_fx(model, "graph.py"); print(step())'
is "CUDA graphs are taken out while values are looked at" "$(cat out)" "$want"
run python3 app.py graph.py 'model.cudagraphs = True; cf.compile_fx(model, "graph.py")'
like "... and only then" "$(cat err)" 'a CUDA graph was made'
run aoti-nanassert -q -- python3 app.py graph.py 'model.cudagraphs = True; cf.compile_fx(model, "graph.py")'
like "... not while they are scanned, which a graph captures" "$(cat err)" 'a CUDA graph was made'

run aoti-nanassert -- python3 -Iu -c 'print(1)'
like "python -I: a message says why nothing was seen" "$(cat err)" 'no compiled model was seen in this command: with -I, -E or -S, Python ignores'
run aoti-printer --level 3 -- python3 -c 'print(1)' -I
like "... -I among the program's own arguments does not count" "$(cat err)" 'no compiled model was seen in this command$'
run aoti-nanassert -- env -i true
like "... a cleared environment" "$(cat err)" "seen in this command: 'env -i' clears the environment"
run aoti-checkinputs -- python3 app.py graph.py 'step()'
is "aoti-checkinputs: no call was checked" "$status" 4
like "... other tools are suggested" "$(cat err)" 'only torch.compile graphs were seen, .*: use aoti-nanassert or aoti-printer to look inside them'
done_testing
