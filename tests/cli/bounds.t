#!/bin/bash
# --bounds: memory errors planted in real kernels (scripts/fixtures/overruns.py), each named with its buffer; none shows without it, and
# clean packages are silent.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

grep -qw avx2 /proc/cpuinfo || skip_all "the recorded models are x86-64-v3 code"
mkdir tmp
export TMPDIR=$TMP/tmp
P=$DATA/aoti B=$ROOT/tests/data/aoti/bounds
for p in "$B"/*.pt2.xz; do xz -dc "$p" >"$(basename "${p%.xz}")"; done

# found MODEL INPUTS: what is found, a line each
found() { pt2-run --json --bounds "$1" "$2" 2>err | jq -r '.bounds.findings[] | "\(.what) \(.buffer) \(.first)..\(.last)" + (if .in_padding then " (padding)" else "" end)' | sort; }

# ---- what is planted ----
planted='read-after arg11_1 65..71 (padding)
read-after arg13_1 45..45 (padding)
read-after arg3_1 105..107 (padding)
read-after arg5_1 77..79 (padding)
read-after arg8_1 111..113
read-after arg9_1 7..7 (padding)
read-before arg12_1 -2..-1
read-before table -4..-1
uninitialised buf10 0..0
write-after buf0 1003..1007
write-after buf11 65..71
write-after buf12 333..333
write-after buf13 45..46
write-after buf14 51..51
write-after buf2 301..303
write-after buf3 77..79
write-after buf5 110..111
write-before buf6 -1..-1
write-input arg15_1 2..2
write-neighbour buf5 10..91
write-weight w 7..7'
exits "without --bounds the AVX2 package runs as if nothing was wrong" 0 pt2-run -q overruns_v3.pt2 "$B/overruns.pt"
exits "with --bounds its status is 1" 1 pt2-run -q --bounds overruns_v3.pt2 "$B/overruns.pt"
like "the kernel, the elements and the bytes are named" "$(cat err)" 'cpp_fused_[a-z_0-9]* writes buf0\[1003\.\.1007\], which has 1003 elements: 20 bytes past the end'
like "so are the lines of the kernel and of its call" "$(cat err)" 'kernel.cpp:[0-9]*, called at wrapper.cpp:[0-9]*'
like "and the instruction" "$(cat err)" 'a store of 32 bytes \(256-bit vector\) at '
is "every planted error is found, and no other" "$(found overruns_v3.pt2 "$B/overruns.pt")" "$planted"
if grep -qw avx512f /proc/cpuinfo && grep -qw avx512bw /proc/cpuinfo && grep -qw avx512vl /proc/cpuinfo; then
	exits "without --bounds the AVX-512 package runs, too" 0 pt2-run -q overruns_v4.pt2 "$B/overruns.pt"
	is "the same writes are found in AVX-512 code" "$(found overruns_v4.pt2 "$B/overruns.pt" | grep write)" "$(grep write <<<"$planted")"
	exits "a wide store" 1 pt2-run -q --bounds overruns_v4.pt2 "$B/overruns.pt"
	like "has 64 bytes" "$(cat err)" 'a store of 64 bytes \(512-bit vector\)'
else
	for what in "the AVX-512 package" "its writes" "a wide store" "its size"; do skip "$what" "this CPU has no AVX-512"; done
fi
exits "a tensor that is used after it was dropped passes unseen" 0 pt2-run -q freed.pt2 "$B/freed.pt"
exits "with --bounds it does not" 1 pt2-run -q --bounds freed.pt2 "$B/freed.pt"
like "its use is named" "$(cat err)" 'reads the memory of gone\[0\.\.[0-9]*\], which was freed before'

exits "more runs of a clean model" 0 pt2-run --bounds -n 5 "$P/mlp.pt2" 'f32[64,8]'
like "say what was checked in which of them" "$(cat err)" 'uninitialised memory, freed memory and races were checked in the first 2 of 5 runs, all else in every one'
is "so does the document" "$(pt2-run --json --bounds -n 5 "$P/mlp.pt2" 'f32[64,8]' | jq -c '[.bounds.runs, .bounds.full_runs]')" '[5,2]'
exits "a tensor that is used after it was dropped, in many runs" 1 pt2-run -q --bounds -n 40 freed.pt2 "$B/freed.pt"
is "is named once" "$(grep -c 'which was freed before' err)" 1

# ---- torch's own ----
exits "a max-pool of torch 2.15, three channels in vectors of eight" 1 pt2-run -q --bounds pool.pt2 "$B/pool.pt"
like "reads past its tensor by all that the last of its reads does" "$(cat err)" 'reads arg0_1\[255\.\.259\], which has 255 elements: 20 bytes past the end'

# ---- threads ----
export OMP_NUM_THREADS=2
races='race arg1_1 order
race buf0 order
race buf1 order
race buf3 order'
raced() { pt2-run --json --bounds "$1" "$B/races.pt" 2>err | jq -r '.bounds.findings[] | "\(.what) \(.buffer) \(.when)"' | sort; }
exits "threads that race pass unseen" 0 pt2-run -q races.pt2 "$B/races.pt"
is "each race is found, in the order of chunks" "$(raced races.pt2)" "$races"
exits "with --bounds the status is 1" 1 pt2-run -q --bounds races.pt2 "$B/races.pt"
like "it is called a race" "$(cat err)" 'writes another value to buf3\[0\] when the chunks of its loops run in another order: its threads race'
for n in 1 2 3; do is "the same without races is silent ($n)" "$(raced steady.pt2)" ""; done
is "on one processor, too" "$(OMP_NUM_THREADS=1 raced races.pt2)" "$races"
is "chunks on demand (schedule(dynamic)) are reordered, too" "$(raced dynamic.pt2 | cut -d' ' -f1,2 | tr '\n' ' ')" 'race arg1_1 race buf0 race buf1 race buf3 '
is "a schedule that is chosen at run time is not, without a false race" "$(raced runtime.pt2)" ""
exits "which" 0 pt2-run -q --bounds runtime.pt2 "$B/races.pt"
is "is said in the document" "$(pt2-run --json --bounds runtime.pt2 "$B/races.pt" 2>err | jq -r .bounds.unordered)" GOMP_loop_maybe_nonmonotonic_runtime_start
like "and on the terminal" "$(pt2-run --bounds runtime.pt2 "$B/races.pt" 2>&1 >out)" "the order of OpenMP's chunks could not be changed \(GOMP_loop_maybe_nonmonotonic_runtime_start\): races checked only by comparing with one thread"
unset OMP_NUM_THREADS

# ---- the results stay as they are ----
pt2-run -q --bounds -o guarded.npz "$P/mlp.pt2" "$ROOT/tests/data/aoti/io/mlp.npz:in0" 2>err
pt2-run -q -o plain.npz "$P/mlp.pt2" "$ROOT/tests/data/aoti/io/mlp.npz:in0"
is "the outputs are the same" "$(cmp guarded.npz plain.npz && echo same)" same

# ---- clean packages ----
for m in attn conv cond derived emb folded halves kwargs misc mlp nested proxied unbounded weights_appended weights_blob; do
	# shellcheck disable=SC2046 # operands
	pt2-run --json --bounds "$P/$m.pt2" $(unzip -Z1 "$ROOT/tests/data/aoti/io/$m.npz" | sed -n "s|^\(in[0-9]*\)\.npy$|$ROOT/tests/data/aoti/io/$m.npz:\1|p") >out 2>err
	is "$m is silent" "$? $(jq -c '[(.bounds.findings | length), .bounds.unguarded]' out)" '0 [0,0]'
done

# ---- the other tools ----
exits "aoti-nanassert" 1 aoti-nanassert --bounds overruns_v3.pt2 "$B/overruns.pt"
like "shows the memory errors" "$(cat out)" 'aoti-nanassert: cpp_fused.* writes to the weight w\[7\]'
exits "aoti-printer" 1 aoti-printer -l 3 --bounds overruns_v3.pt2 "$B/overruns.pt"
like "shows them at the end" "$(cat out)" 'aoti-printer: [0-9]* kernel arguments guarded, 1[0-9] memory errors'
exits "--bounds is not for a graph" 2 pt2-run --bounds "$ROOT/tests/data/export/conv.pt2" 'f32[5,8]'
exits "--bounds and --threads" 2 pt2-run --bounds --threads 2 freed.pt2 "$B/freed.pt"
is "nothing is left behind" "$(ls tmp)" ""
done_testing
