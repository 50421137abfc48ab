#!/bin/bash
# --bounds=alloc: memory itself is guarded (libpt2alloc.so): what kernels, operators and other code do beside it, and to freed memory.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

grep -qw avx2 /proc/cpuinfo || skip_all "the recorded models are x86-64-v3 code"
mkdir tmp
export TMPDIR=$TMP/tmp
P=$DATA/aoti B=$ROOT/tests/data/aoti/bounds
for p in "$B"/{overruns_v3,freed}.pt2.xz; do xz -dc "$p" >"$(basename "${p%.xz}")"; done
found() { jq -r '.bounds.findings[] | "\(.what) \(.buffer) \(.first)..\(.last)"' "$1" | sort; }

# ---- packages: errors that copies find, where the tensor ends with its memory ----
pt2-run --json --bounds=alloc overruns_v3.pt2 "$B/overruns.pt" >out 2>err
is "status" "$?" 1
is "a tensor's memory that is left is named by tensor and element" "$(found out)" 'read-after arg8_1 111..113
write-after buf0 1003..1007
write-after buf11 65..71
write-after buf12 333..333
write-after buf13 45..46
write-after buf14 51..51
write-after buf2 301..303
write-after buf3 77..79'
is "the document says what was guarded" "$(jq -r .bounds.guards out)" memory
exits "a tensor that is used after it was dropped" 1 pt2-run -q --bounds=alloc freed.pt2 "$B/freed.pt"
like "is named" "$(cat err)" 'reads the memory of gone\[0\.\.[0-9]*\], which was freed before'
like "what is not checked is said" "$(cat err)" 'memory itself was guarded: tensors that share memory, .* not checked'
for m in attn conv cond emb halves mlp nested proxied weights_appended; do
	# shellcheck disable=SC2046 # operands
	pt2-run --json --bounds=alloc -n 5 "$P/$m.pt2" $(unzip -Z1 "$ROOT/tests/data/aoti/io/$m.npz" | sed -n "s|^\(in[0-9]*\)\.npy$|$ROOT/tests/data/aoti/io/$m.npz:\1|p") >out 2>err
	is "$m is silent" "$? $(jq -c '[(.bounds.findings | length), .bounds.guarded > 0]' out)" '0 [0,true]'
done
pt2-run -q --bounds=alloc -o guarded.npz "$P/mlp.pt2" "$ROOT/tests/data/aoti/io/mlp.npz:in0" 2>err
pt2-run -q -o plain.npz "$P/mlp.pt2" "$ROOT/tests/data/aoti/io/mlp.npz:in0"
is "the outputs are the same" "$(cmp guarded.npz plain.npz && echo same)" same
exits "another word" 2 pt2-run --bounds=maloc "$P/mlp.pt2" 'f32[64,8]'
like "is refused" "$(cat err)" "'maloc' is unknown: only 'alloc' may follow"

# ---- a command: code that is in no call ----
if ! "${CC:-cc}" -g -O1 -o other "$ROOT/tests/lib/othercode.c" 2>/dev/null; then
	skip "code of a program" "no C compiler here"
	done_testing
fi
other() { aoti-nanassert --json --log=out --bounds=alloc -- ./other "$@" 2>err; jq -r '.bounds.findings[].text' out; }
is "a program without errors: nothing" "$(other grow)" ""
like "it ran to its end" "$(cat err)" "done"
is "bytes behind what was asked for" "$(other slack)" 'an operator or other code writes 4 bytes past the end of a piece of memory of 4012 bytes; noticed later'
is "bytes before it" "$(other before)" 'an operator or other code writes 3 bytes before the start of a piece of memory of 4012 bytes; noticed later'
like "the page behind it: where" "$(other write)" '^other\+0x[0-9a-f]* writes 29 bytes past the end of a piece of memory of 4012 bytes$'
like "a read" "$(other read)" '^other\+0x[0-9a-f]* reads 25 bytes past the end of a piece of memory of 4012 bytes$'
like "freed memory" "$(other freed)" '^other\+0x[0-9a-f]* reads memory of 4012 bytes, which was freed before$'
is "the instruction" "$(jq -c '.bounds.findings[0] | [.width, .memory, .first]' out)" '[1,4012,8]'
is "errors are found" "$(jq .found out)" true
(ulimit -v 400000; aoti-nanassert --json --log=out --bounds=alloc -- ./other slack 2>err; jq -r '.bounds.findings | length' out) >n
is "in a small address space, too" "$(cat n)" 1
aoti-nanassert --bounds=alloc -- sh -c './other grow; ./other freed' >out 2>err
like "in child processes, too" "$(cat err)" 'reads memory of 4012 bytes, which was freed before'
is "nothing is left behind" "$(ls tmp)" ""
done_testing
