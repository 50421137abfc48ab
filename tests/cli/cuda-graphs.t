#!/bin/bash
# CUDA graphs that a host captures and replays (libprobe/cuda_graph.c), on a driver without a GPU (tests/lib/fakecuda.h).
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

host=$BUILD/tests-lib/cudahost
so=$(echo "$BUILD"/tests-lib/cuda/model/*.so)
[ -f "$so" ] || skip_all "the model is not built"
calls='triton_poi_fused_add_0, aoti_torch_cuda_addmm_out, triton_per_fused_relu_sum_1, triton_poi_fused_mul_2'
graphs() { jq -c '[.graphs[] | [.graph, .launches, .captured, .replays]]' log; }

# ---- named and counted ----
exits "a CUDA graph" 0 aoti-printer -l3 --log=log -- "$host" "load=$so" graph=3:4
is "the model's output is unchanged" "$(cat out)" "$(printf 'captured: 0\nrc 0 as computed\nrc 0 as computed\nrc 0 as computed')"
is "captured calls and replays are counted" "$(cat err)" "aoti-printer: CUDA graph 1: 4 calls captured ($calls), replayed 3 times"
is "captured launches name their graph" "$(grep -c 'captured into graph 1$' log)" 3
is "replays are listed among the calls" "$(sed -n 's/^\[ before_launch: cuda_graph\[1\] \] \(.*\), stream.*/\1/p' log)" \
	"$(printf '4 captured calls, replay %s\n' 1 2 3)"
run aoti-printer --json --log=log -- "$host" "load=$so" graph=3:4
is "graphs in JSON" "$(graphs)" '[[1,3,4,3]]'
is "the graph's kernels in JSON" "$(jq -r '.graphs[0].kernels | join(", ")' log)" "$calls"
is "a replay in JSON" "$(jq -c '.calls[-1] | [.kernel, .kind, .run, .returned, .result, .values, (.replay | [.graph, .captured, .times])]' log)" \
	'["cuda_graph[1]","replay",null,true,0,[],[1,4,3]]'
is "a captured launch in JSON" "$(jq -c '[.calls[].launch.graph // empty]' log)" '[1,1,1]'
exits "several threads with their own executables" 0 aoti-printer --json --log=log -- "$host" "load=$so" replays=4x50:4
is "every replay succeeds" "$(tail -1 out)" "replays: 0 failed"
is "every replay is counted" "$(graphs)" '[[1,3,4,200]]'
is "every replay is counted once" "$(jq '[.calls[].replay.times // empty] | sort == [range(1; 201)]' log)" true
exits "graphs that are captured again, cloned, nested and updated" 0 aoti-printer --json --log=log -- "$host" "load=$so" remade=3:4
is "every replay is correct" "$(grep -c 'as computed' out)" 10
is "replays are assigned to their capture" "$(graphs)" '[[1,3,4,7],[2,0,4,1],[3,0,4,1],[4,3,4,1]]'
exits "a graph that is never replayed" 0 aoti-printer -l3 --log=log -- "$host" "load=$so" graph=0:4
like "the summary says so" "$(cat err)" 'CUDA graph 1: 4 calls captured .*, never replayed$'
exits "functions obtained by dlsym()" 0 aoti-printer -l3 --log=log -- "$host" "load=$so" unseen=2:4
is "the model's output is unchanged with dlsym()" "$(grep -c 'as computed' out)" 2
is "a message says that the capture's end was not seen" "$(cat err)" \
	"aoti-printer: CUDA graph 1: 3 kernels captured; replays were not seen (ON A GPU in aoti-printer(1))"
exits "no CUDA graph" 0 aoti-printer --json --log=log -- "$host" "load=$so" call=4
is "nothing about graphs is printed" "$(cat err)$(jq '.graphs' log)" null
exits "-k with a CUDA graph" 0 aoti-printer -l3 -k 'triton_poi*' --log=log -- "$host" "load=$so" graph=2:4
like "only selected kernels are counted" "$(cat err)" 'CUDA graph 1: 2 calls captured \(triton_poi_fused_add_0, triton_poi_fused_mul_2\), replayed 2 times'
exits "--profile" 0 aoti-printer --profile --log=log -- "$host" "load=$so" graph=5:4
is "replays have one time together" "$(grep -c ' 5 .* cuda_graph\[1\]$' log)" 1

# ---- nothing that is not CUDA changes ----
is "the probe exports no CUDA function" "$(nm -D --defined-only "$BUILD/lib/pt2utils/libpt2probe.so" | grep -ci ' [a-z] _*cu')" 0
env FAKECUDA_LOG=alone "$host" "load=$so" graph=2:4 >/dev/null
run env FAKECUDA_LOG=watched aoti-printer -l3 --log=log -- "$host" "load=$so" graph=2:4
is "the number of driver calls is unchanged" "$(grep -c '^cuGraphLaunch' watched)" "$(grep -c '^cuGraphLaunch' alone)"

# ---- the other questions ----
exits "aoti-nanassert" 0 aoti-nanassert --exact -- "$host" "load=$so" graph=3:4
like "says once what it does not see" "$(cat err)" '3 of them were captured .* not checked, nor what 3 replays of it wrote'
is "replays are no calls of the model" "$(sed -n 's/.* \([0-9]*\) calls of kernels.*/\1/p' err)" 8
ima() { FAKECUDA_FAIL=$1 run aoti-printer --ima --log=log -- "$host" "load=$so" "${@:2}"; }
ima "" graph=3:4
is "--ima without a fault" "$status" 0
like "replays are synchronised" "$(cat err)" '3 of the launches were captured into a CUDA graph, and waited for together in 3 replays'
ima illegal@8 graph=3:4
is "a fault in the second replay" "$status" 1
like "the graph is named" "$(head -1 log)" '^cuda_graph\[1\]: illegal memory access'
like "the replay and its kernels are named" "$(tr -s '\n ' ' ' <log)" "replay 2 of CUDA graph 1, with 4 model calls in it kernels $calls"
like "the next step is suggested" "$(cat log)" 'to see which one, run it without CUDA graphs'
is "later replays are not blamed" "$(grep -c 'cuda_graph\[1\]' log)" 3
ima illegal@8 remade=1:4
like "a fault in a graph captured again" "$(tr -s '\n ' ' ' <log)" "replay 2 of CUDA graph 1"
done_testing
