#!/bin/bash
# Wrappers with very many calls: what they cost grows as they do. A limit of processor time, ten times what is needed, stands for that; what
# compares each call with all others takes longer by far. PT2_LONG=1 (make check-long): of more calls.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
seconds=5 n=15000 in_package=30000
[ -z "${PT2_LONG-}" ] || seconds=20 n=40000 in_package=100000
grep -qa __asan_init "$BUILD/bin/fxexplain" && seconds=100 n=4000 in_package=10000 # whether memory is right; times are the plain build's
many() { python3 "$ROOT/tests/lib/many_calls.py" "$@" || exit 4; }
# soon WHAT COMMAND... : ends well within the limit
soon() { exits "$1" 0 bash -c "ulimit -t $seconds; exec \"\$@\"" _ "${@:2}"; }

for handles in "" --no-handles; do
	[ -z "$handles" ] || [ -n "${PT2_LONG-}" ] || in_package=10000
	rm -rf models
	mkdir models
	tar -xJf "$ROOT/tests/data/inductor/models.tar.xz" -C models
	find models -path '*/torchinductor/model__*' -prune ! -name 'model__0_*' -exec rm -rf {} +
	many debug models $n $handles
	soon "$n calls in a debug folder $handles" fxexplain kernel models
	like "its kernels are shown" "$(cat out)" 'cpp_fused_maximum_neg_0'
	soon "one of them" fxexplain kernel maximum_$((n - 1)) models
	like "that kernel is found" "$(cat out)" 'cpp_fused_maximum_neg_0 +called in line [0-9]+'
	many package "$DATA/aoti/mlp_provenance.pt2" many.pt2 $in_package $handles
	soon "$in_package calls in a package $handles" fxexplain kernel --json many.pt2
	is "every call is listed" "$(LC_ALL=C grep -oE '"name":"relu_[0-9]+"' out | LC_ALL=C sort -u | wc -l)" $in_package
	soon "its contract" aoti-checkinputs --json many.pt2
	is "the contract has every call, too" "$(grep -o '"cpp_fused_relu_0"' out | wc -l)" $in_package
	soon "it runs" aoti-printer --level 3 many.pt2 "$ROOT/tests/data/aoti/io/mlp_provenance.pt:inputs[0]"
done
done_testing
