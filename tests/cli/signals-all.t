#!/bin/bash
# SIGINT and SIGTERM at random moments of every tool (tests/lib/signals.py): the old output or the new one, whole, and nothing left behind.
# And SIGKILL: what it leaves goes with the next run.
# A sample; PT2_LONG=1 (make check-long): 500.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
export TMPDIR=$TMP/tmp OMP_NUM_THREADS=1 SOURCE_DATE_EPOCH=0 PYTHONDONTWRITEBYTECODE=1
mkdir tmp in start
cp "$DATA"/{simple,graph_breaks,provenance_jit}.log "$DATA/aoti/mlp.pt2" "$ROOT/tests/data/crash/expand.txt" in/
cp "$ROOT/scripts/fixtures/traces/graph_breaks.py" in/
cp "$ROOT/tests/data/export/mlp.pt2" in/exported.pt2
for r in 0 1; do cp "$DATA"/ranks2/*_rank_"$r"_*.log in/rank_$r.log; done
for f in crash/crash.pt2 profiles/eager.json profiles/compiled.json; do xz -dc "$ROOT/tests/data/$f.xz" >"in/$(basename $f)"; done
python3 "$ROOT/tests/minify/synthetic.py" graph 200 >in/g200.py
# What is there before: other than what will be.
cd start || exit 4
tlparse ../in/simple.log -o ranks --all-ranks-html
tlparse ../in/simple.log -o dir
tlparse --html=page.html ../in/simple.log
fxexplain --html=why.html ../in/simple.log
pt2-run -q -o out.npz ../in/mlp.pt2 'f32[2,8]' >/dev/null
aoti-printer -q -o dump ../in/mlp.pt2 'f32[2,8]'
printf '%s\n' '#!/bin/sh' "grep -q n100 \"\$1\"" >bug.sh
chmod +x bug.sh
cd ..
n=40
[ -n "${PT2_LONG-}" ] && n=500
cat >lines <<'EOS'
dir tlparse -q --overwrite -o dir ../in/graph_breaks.log
page.html tlparse -q --html=page.html ../in/graph_breaks.log
doc.json tlparse --json -o doc.json ../in/graph_breaks.log
ranks tlparse -q --overwrite --all-ranks-html -o ranks ../in/rank_0.log ../in/rank_1.log
diff.html tlparse --diff -o diff.html ../in/simple.log ../in/graph_breaks.log
why.html fxexplain --html=why.html ../in/graph_breaks.log
issue.md fxexplain report -o issue.md ../in/graph_breaks.log
b.pt2b fxexplain report -q --bundle b.pt2b ../in/graph_breaks.log
fixes.diff fxexplain fix -o fixes.diff --root ../in ../in/graph_breaks.log
kernels.txt fxexplain kernel -o kernels.txt ../in/provenance_jit.log
times.txt fxexplain profile -o times.txt ../in/eager.json ../in/compiled.json
cache.txt fxexplain cache -o cache.txt ../in
slow.txt fxexplain slow -o slow.txt ../in/provenance_jit.log
crash.txt fxexplain crash -o crash.txt ../in/expand.txt ../in/crash.pt2
- fxexplain run -- sleep 0.2
- aoti-checkinputs --json ../in/mlp.pt2
- aoti-checkinputs --probe ../in/mlp.pt2
- aoti-checkinputs -- sleep 0.2
dump aoti-printer -q --overwrite -o dump ../in/mlp.pt2 f32[3,8]
memory.html aoti-printer --memory --html memory.html ../in/mlp.pt2 f32[2,8]
diff.html aoti-printer --diff dump --html diff.html ../in/mlp.pt2 f32[2,8]
- aoti-nanassert --json ../in/mlp.pt2 f32[3,8]
- aoti-verify --json ../in/exported.pt2 ../in/mlp.pt2 f32[3,8]
out.npz pt2-run -q -o out.npz ../in/mlp.pt2 f32[3,8]
small.txt fxminify --test ./bug.sh -q -j2 --passes nodes ../in/g200.py -o small.txt
EOS
for how in '' KILL; do
	# shellcheck disable=SC2086 # none, or one
	python3 "$ROOT/tests/lib/signals.py" $n $how <lines >cases 2>trouble
	awk -v n="$tests" -v what="${how:-SIGINT or SIGTERM}" '/^(not )?ok / { sub(/ok [0-9]+/, "ok " ++n); sub(/signals:/, what ":") } 1' cases
	ran=$(grep -cE '^(not )?ok ' cases)
	tests=$((tests + ran))
	is "${how:-SIGINT or SIGTERM}: all of them ran" "$ran $(tail -n 3 trouble)" "25 "
done
done_testing
