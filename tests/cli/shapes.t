#!/bin/bash
# Shapes without torch, in the graphs of recorded traces: what the operators' rules tell of a node is what torch wrote beside it
# (tests/unit/aten/test_shapes.c takes the annotations away), and of what they do not tell it is said why.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
told=0
for name in dynamic hop mix training ddp_split compiled_autograd v215_hop; do
	run tlparse -o "$name" "$DATA/$name.log"
	mapfile -t graphs < <(find "$name" -name 'aot_*graph_[0-9]*.txt' -o -name 'inductor_post_grad_graph*.txt' | sort)
	run "$BUILD/tests/test_shapes" "${graphs[@]}"
	is "$name: its graphs are read" "$(grep -cE '^[^ ]*: [0-9]+ of [0-9]+$' out)" "${#graphs[@]}"
	is "$name: every shape equals torch's" "$(grep ' instead of ' out | grep -v ': not told instead of ')" ""
	told=$((told + $(sed -nE "s/^[^ ]*: ([0-9]+) of [0-9]+$/\1/p" out | awk "{n += \$1} END {print n + 0}")))
	# Each graph of which not all is told says which node was the first, its operator, and why.
	is "$name: reasons for unknown shapes" "$(awk '/: not told instead of [^ ]/ && !first {print} /^first: node .*: / {first = 1} / of [0-9]+$/ {first = 0}' out)" ""
done
is "most shapes are known" "$([ "$told" -gt 600 ] && echo yes)" yes
done_testing
