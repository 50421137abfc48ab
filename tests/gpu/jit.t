#!/bin/bash
# Plain torch.compile on a real GPU (jit.py): Triton kernels of Inductor and of the user's, CUDA graphs, --ima. Run by make check-gpu.
# The same ways without a GPU: tests/cli/jit.t, on the fake driver; Triton by its interpreter: tests/live/jit.t.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
[ -n "${GPU_PYTHON-}" ] || skip_all "is run by make check-gpu"
export TORCHINDUCTOR_CACHE_DIR=$GPU_MODELS/jit-cache
py=("$GPU_PYTHON" "$ROOT/tests/gpu/jit.py")
keep() { cp "$1" "$GPU_OUT/jit.$1" 2>/dev/null; }

for name in fused user train; do
	run "${py[@]}" $name
	want=$(cat out)
	run aoti-nanassert --log=$name.txt -- "${py[@]}" $name
	keep $name.txt
	is "$name: found, and the same result" "$status $(cat out)" "1 $want"
done
like "fused: the kernel" "$(cat fused.txt)" 'NaN produced by triton_[a-z]+_fused_[a-z_]*log'
like "user: the user's own kernel" "$(cat user.txt)" 'NaN produced by log_of_all'
like "train: in the backward graph" "$(cat train.txt)" 'graph [0-9]+_backward'
like "... with the line of the program" "$(cat train.txt)" 'jit\.py:[0-9]+ in <lambda>'

run "${py[@]}" graphs
want=$(cat out)
run aoti-nanassert --log=graphs.txt -- "${py[@]}" graphs
is "CUDA graphs are taken out while values are looked at: no NaN, the same result" "$status $(cat out)" "0 $want"
run aoti-printer --profile --log=profile.txt -- "${py[@]}" graphs
keep profile.txt
is "--profile keeps them: the same result" "$status $(cat out)" "0 $want"
like "... and names kernels" "$(cat profile.txt)" 'triton_|extern_kernels'

run "${py[@]}" far
like "the planted access is illegal" "$(cat out err)" 'illegal memory access'
run aoti-printer --ima --log=far.txt -- "${py[@]}" far
keep far.txt
like "--ima names the kernel in one run" "$(head -1 far.txt)" 'log_of_all'
like "... and its graph" "$(cat far.txt)" '[0-9]+_inference'
run aoti-printer --ima --log=fine.txt -- "${py[@]}" fused
unlike "nothing with a program that stays inside" "$(cat fine.txt)" 'illegal memory access'
run aoti-printer --record kept -- "${py[@]}" fused
is "--record: the graph with its inputs" "$status $(jq -r .program kept/bundle.*/bundle.json)" "1 model/fx_graph_runnable.py"
PT2_PYTHON=$GPU_PYTHON run aoti-nanassert --log=again.txt kept
like "... finds the same again" "$(cat again.txt)" 'NaN produced by triton_'
done_testing
