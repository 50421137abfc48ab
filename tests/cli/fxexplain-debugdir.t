#!/bin/bash
# fxexplain on folders of TORCH_COMPILE_DEBUG: with a trace in it, without one, and one whose last compilation did not come to its code.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
json() { jq -r "$1" out; }
component='.verdict.component // "none"'

tar xf "$ROOT/tests/data/debug/torch_compile_debug.tar.xz"
exits "a debug directory with a trace" 0 fxexplain --json torch_compile_debug
is "compilations come from the trace" "$(json .summary.compiles)" 1
is "both inputs are listed" "$(json '.inputs | map(.kind) | unique | join(" ")')" "debug-folder trace"

rm -r torch_compile_debug/tlparse
exits "a debug directory without a trace" 0 fxexplain --json torch_compile_debug
is "compilations come from its directories" "$(json '[.compiles[].id] | sort | join(" ")')" "model__0_backward_3.1 model__0_forward_1.0"
is "their graphs have operations" "$(json '[.compiles[].graph_ops] | map(tostring) | sort | join(" ")')" "17 8"
is "their location is the program's line" "$(json '.compiles[0].location | "\(.file):\(.line)"')" "/home/user/app/debug.py:7"
is "no failure" "$(json "$component")" none
run fxexplain torch_compile_debug
like "the same as text" "$(cat out)" "2 compilations: 2 graphs"

comp=$(echo torch_compile_debug/run_*/torchinductor/model__0_backward_3.1)
rm "$comp/output_code.py"
run fxexplain --json torch_compile_debug
is "IR without code: failed in code generation" "$(json "$component")" codegen
rm "$comp/ir_post_fusion.txt"
run fxexplain --json "$comp"
is "no IR after fusion: failed in the scheduler" "$(json "$component")" inductor
rm "$(dirname "$comp")"/model__0_forward_1.0/output_code.py
touch "$comp/ir_post_fusion.txt"
echo "# code" >"$comp/output_code.py"
run fxexplain --json torch_compile_debug
is "an incomplete directory followed by others is not a failure" "$(json "$component")" none

mkdir empty
exits "an empty directory is rejected" 3 fxexplain empty
done_testing
