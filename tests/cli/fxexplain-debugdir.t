#!/bin/bash
# fxexplain on folders of TORCH_COMPILE_DEBUG: with a trace in it, without one, and one whose last compilation did not come to its code.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
json() { jq -r "$1" out; }
component='.verdict.component // "none"'

tar xf "$ROOT/tests/data/debug/torch_compile_debug.tar.xz"
exits "a debug folder is explained" 0 fxexplain --json torch_compile_debug
is "by the trace in it" "$(json .summary.compiles)" 1
is "both are named" "$(json '.inputs | map(.kind) | unique | join(" ")')" "debug-folder trace"

rm -r torch_compile_debug/tlparse
exits "without a trace the folders tell" 0 fxexplain --json torch_compile_debug
is "each compilation" "$(json '[.compiles[].id] | sort | join(" ")')" "model__0_backward_3.1 model__0_forward_1.0"
is "the operations of its graph" "$(json '[.compiles[].graph_ops] | map(tostring) | sort | join(" ")')" "17 8"
is "the program's line" "$(json '.compiles[0].location | "\(.file):\(.line)"')" "/home/user/app/debug.py:7"
is "and nothing failed" "$(json "$component")" none
run fxexplain torch_compile_debug
like "the same for a person" "$(cat out)" "2 compilations: 2 graphs"

comp=$(echo torch_compile_debug/run_*/torchinductor/model__0_backward_3.1)
rm "$comp/output_code.py"
run fxexplain --json torch_compile_debug
is "IR without code: it stopped in code generation" "$(json "$component")" codegen
rm "$comp/ir_post_fusion.txt"
run fxexplain --json "$comp"
is "no IR after fusion: in the scheduler; the folder by itself will do" "$(json "$component")" inductor
rm "$(dirname "$comp")"/model__0_forward_1.0/output_code.py
touch "$comp/ir_post_fusion.txt"
echo "# code" >"$comp/output_code.py"
run fxexplain --json torch_compile_debug
is "one that others came after was survived" "$(json "$component")" none

mkdir empty
exits "an empty folder is none" 3 fxexplain empty
done_testing
