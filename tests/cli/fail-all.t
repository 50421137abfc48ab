#!/bin/bash
# Every allocation and every call of the kernel that a tool makes fails once, in a run of its own (tests/lib/fail_all.py): no crash, no hang, nothing half
# written, nothing left behind, the right status and a message. The tool, its broker (base/broker/broker.h) and pt2-runner alike.
# A sample of two of each; PT2_LONG=1 (make check-long): all.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
failcall=$BUILD/tests-lib/failcall so=$BUILD/tests-lib/inject.so
grep -qa __asan_init "$BUILD/bin/tlparse" && skip_all "LeakSanitizer does not work in a traced process"
[ -e "$failcall" ] || skip_all "failcall is not built (make tests; for x86-64)"
"$failcall" -o counted true
grep -q '^calls ' counted || skip_all "processes cannot be traced here"
grep -qa __asan_init "$BUILD/bin/tlparse" && so=- # it has its own preload

mkdir in
cd in || exit 4
cp "$DATA"/{simple,graph_breaks}.log "$ROOT/scripts/fixtures/traces/graph_breaks.py" "$ROOT/tests/data/logs/explain.log" "$ROOT/tests/data/crash/expand.txt" .
for r in 0 1; do cp "$DATA"/ranks2/*_rank_"$r"_*.log rank_$r.log; done
gzip -c simple.log >zipped.log.gz
fxexplain report -q --bundle x.pt2b graph_breaks.log
for f in crash/crash.pt2 profiles/eager.json profiles/compiled.json; do xz -dc "$ROOT/tests/data/$f.xz" >"$(basename $f)"; done
cp "$DATA/aoti/mlp.pt2" mlp.pt2
cp "$DATA/aoti/nan/log.pt2" nan.pt2
cp "$ROOT/tests/data/export/mlp.pt2" exported.pt2
python3 "$ROOT/tests/lib/npy.py" x.npy '<f4' 3 8
python3 "$ROOT/tests/minify/synthetic.py" graph 12 >g12.py
aoti-printer -q -i -o dump mlp.pt2 'f32[3,8]'
printf '%s\n' '#!/bin/sh' 'unset LD_PRELOAD' "grep -q n10 \"\$1\"" >bug.sh
chmod +x bug.sh
cd ..

while read -r line; do
	read -ra command <<<"$line"
	wrong=$(python3 "$ROOT/tests/lib/fail_all.py" "$failcall" "$so" "${command[@]}" 2>err)
	rc=$?
	[ -z "${PT2_LONG-}" ] || sed 's/^/# /' err
	is "$line" "$rc ${wrong:0:2000}" "0 "
	: >err
done <<EOS
tlparse --json ../../in/simple.log
tlparse -o dir ../../in/graph_breaks.log ../../in/zipped.log.gz
tlparse --diff ../../in/graph_breaks.log ../../in/simple.log
tlparse --all-ranks-html -o dir ../../in/rank_0.log ../../in/rank_1.log
fxexplain --json ../../in/graph_breaks.log
fxexplain --html=page.html ../../in/explain.log
fxexplain fix --root ../../in ../../in/graph_breaks.log
fxexplain report -q --bundle b.pt2b ../../in/graph_breaks.log
fxexplain replay --json ../../in/x.pt2b
fxexplain kernel cpp_fused_relu_0 ../../in/mlp.pt2
fxexplain profile ../../in/eager.json ../../in/compiled.json
fxexplain crash ../../in/expand.txt ../../in/crash.pt2
aoti-checkinputs --json ../../in/mlp.pt2 ../../in/x.npy
aoti-checkinputs --doctor --torch=none ../../in/mlp.pt2
aoti-checkinputs --probe ../../in/mlp.pt2
aoti-printer --level 3 ../../in/mlp.pt2 f32[3,8]
aoti-printer -o dump ../../in/mlp.pt2 ../../in/x.npy
aoti-printer --diff ../../in/dump ../../in/dump
aoti-nanassert --json ../../in/nan.pt2 f32[4,8]
aoti-verify --json --no-more ../../in/exported.pt2 ../../in/mlp.pt2 f32[3,8]
pt2-run -q -o out.npz ../../in/mlp.pt2 f32[3,8]
pt2-run -q -o out.pt ../../in/exported.pt2 f32[3,8]
fxminify --test ../../in/bug.sh -q -j1 --no-journal --passes nodes ../../in/g12.py -o small.py
EOS
done_testing
