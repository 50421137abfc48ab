#!/bin/bash
# Wrappers with very many calls: what they cost grows as they do. A limit of processor time, ten times what is needed, stands for that; what
# compares each call with all others takes longer by far.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
seconds=20
grep -qa __asan_init "$BUILD/bin/fxexplain" && seconds=100
many() { python3 "$ROOT/tests/lib/many_calls.py" "$@" || exit 4; }
# soon WHAT COMMAND... : ends well within the limit
soon() { exits "$1" 0 bash -c "ulimit -t $seconds; exec \"\$@\"" _ "${@:2}"; }

for handles in "" --no-handles; do
	rm -rf models
	mkdir models
	tar -xJf "$ROOT/tests/data/inductor/models.tar.xz" -C models
	find models -path '*/torchinductor/model__*' -prune ! -name 'model__0_*' -exec rm -rf {} +
	many debug models 40000 $handles
	soon "40,000 calls in a debug folder $handles" fxexplain kernel models
	like "are shown" "$(cat out)" 'cpp_fused_maximum_neg_0'
	soon "one of them" fxexplain kernel maximum_39999 models
	like "is found" "$(cat out)" 'cpp_fused_maximum_neg_0 +called in line [0-9]+'
	many package "$DATA/aoti/mlp_provenance.pt2" many.pt2 100000 $handles
	soon "100,000 calls in a package $handles" fxexplain kernel --json many.pt2
	is "all of them" "$(grep -oE '"name":"relu_[0-9]+"' out | sort -u | wc -l)" 100000
	soon "its contract" aoti-checkinputs --json many.pt2
	is "has them, too" "$(grep -o '"cpp_fused_relu_0"' out | wc -l)" 100000
	soon "it runs" aoti-printer --level 3 many.pt2 "$ROOT/tests/data/aoti/io/mlp_provenance.pt:inputs[0]"
done
done_testing
