#!/bin/bash
# Kernels and ops of models in real torch are seen by the probe, and do what they do unwatched.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>err) || skip_all "$(tail -n 1 err)"
grep -qw avx2 /proc/cpuinfo || skip_all "the recorded models are x86-64-v3 code"
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore PT2_PROBE=$BUILD/lib/pt2utils/libpt2probe.so
# shellcheck disable=SC2046
cc -std=gnu17 -D_GNU_SOURCE -O1 -I"$ROOT/libcommon/core" -I"$ROOT/libcommon/cli" -I"$ROOT/cmd/fxminify" "$ROOT/tests/lib/calldump.c" "$BUILD/libpt2rooms.a" "$BUILD/libpt2cli.a" "$BUILD/libpt2core.a" \
	$(pkg-config --libs zlib libmd libdeflate libelf libdw libseccomp) -lm -ldl -pthread -o calldump 2>err ||
	skip_all "no compiler for tests/lib/calldump.c: $(tail -n 1 err)"
for m in emb attn conv; do xz -dc "$ROOT/tests/data/aoti/$m.pt2.xz" >$m.pt2; done
program() { "$python" "$ROOT/tests/live/calls.py" "$1.pt2" "$2" 2>/dev/null; }
# WANT MODEL WHAT: names 1, NaN 2, statistics 4, inputs 16
watched() { run ./calldump "$1" "$2.pt2" log "$python" "$ROOT/tests/live/calls.py" "$2.pt2" "$3"; }
lines() { grep -c "^$1 " log; }

program emb emb >want
watched 22 emb emb
is "a kernel that throws: status" "$status" 0
is "a kernel that throws: python sees the same" "$(cat out)" "$(cat want)"
like "a kernel that throws: it raised" "$(cat want)" 'RuntimeError: index out of bounds'
is "a kernel that throws: is seen twice" "$(grep -c '^end .*cpp_fused_embedding_native_layer_norm_0 thrown' log)" 2
is "a kernel that throws: its Runs end, too" "$(grep -c '^run-end .*result 1' log)" 2
is "an in_out_ptr of a new buffer has no input" "$(grep -c '^value .* buf1 inout before' log)" 0
is "a constant of a kernel is known by its address" "$(grep -c '^value .* table_weight constant before \[10,8\]' log)" 4

watched 6 attn once
is "ops: in the contract's order" "$(sed -n 's/^begin .* contract \([0-9]* .*\)/\1/p' log)" "0 aoti_torch_cpu_addmm_out
1 aoti_torch_cpu__scaled_dot_product_flash_attention_for_cpu
2 aoti_torch_cpu_addmm_out
3 cpp_fused_add_view_0"
like "ops: what they make" "$(cat log)" 'value .* contract 1 buf2 out after \[2,2,6,8\] nan 0 min -'
like "ops: a view of what they take" "$(cat log)" 'value .* contract 1 buf0 in before \[2,2,6,8\]'
like "ops: constants" "$(cat log)" 'value .* contract 0 qkv_weight constant before \[16,48\]'
unlike "ops: nothing was stepped aside" "$(cat log.events)" stepped-aside

program attn threads >want
watched 6 attn threads
is "threads, statistics: bit-equal" "$(cat out)" "$(cat want)"
watched 2 attn threads
is "threads, NaN: bit-equal" "$(cat out)" "$(cat want)"
is "threads: clean Runs tell of no values" "$(lines value)" 0
is "threads: every call is there" "$(lines begin) $(lines end) $(lines run) $(tail -n 1 log)" "32004 32004 8001 lost 0, torn 0"

watched 4 conv kill
is "killed: status" "$status" 137
is "killed: the log can be read" "$((  $(lines end) > 10 ))" 1
like "killed: its last call" "$(grep '^begin' log | tail -n 1)" 'contract [0-2] '

watched 4 attn fork
like "a forked child goes on" "$(cat out)" 'child 0'
is "a forked child is in the log" "$(lines run-end) $(lines end)" "2 8"
done_testing
