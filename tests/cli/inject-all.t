#!/bin/bash
# Every tool with calls that fail (tests/lib/inject.c). Short and interrupted ones change nothing. A read error: a line that names the file and 3,
# never an answer that passes for the whole. No space at the n-th write: 4, a line, nothing left; or what is written is what it is without.
# A sample of n; PT2_LONG=1 (make check-long): all.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
so=$BUILD/tests-lib/inject.so
grep -qa __asan_init "$BUILD/bin/tlparse" && skip_all "a sanitizer has its own preload"
[ -e "$so" ] || skip_all "inject.so is not built (make tests)"
export TMPDIR=$TMP/tmp OMP_NUM_THREADS=1 SOURCE_DATE_EPOCH=0
mkdir tmp box in start

# ---- what is read (in), and what lies in the folder where the tool runs (start) ----
cd in || exit 4
cp "$DATA"/{simple,graph_breaks,provenance_jit,draft_export}.log "$ROOT"/tests/data/logs/explain.log "$ROOT/tests/data/crash/expand.txt" .
cp "$ROOT/scripts/fixtures/traces/graph_breaks.py" .
for r in 0 1; do cp "$DATA"/ranks2/*_rank_"$r"_*.log rank_$r.log; tlparse --json rank_$r.log >rank_$r.json; done
tar -xJf "$ROOT/tests/data/flight.tar.xz" && mv v215/fr_trace_rank_[01] . && rm -r v213 v215
mkdir cached && tar -C cached -xJf "$ROOT/tests/data/cachemiss.tar.xz"
gzip -c simple.log >zipped.log.gz
fxexplain --json graph_breaks.log >base.json
fxexplain report -q --bundle x.pt2b graph_breaks.log
for f in crash/crash.pt2 profiles/eager.json profiles/compiled.json; do xz -dc "$ROOT/tests/data/$f.xz" >"$(basename $f)"; done
tar xf "$ROOT/tests/data/debug/torch_compile_debug.tar.xz"
cp "$DATA/aoti/mlp.pt2" mlp.pt2
cp "$DATA/aoti/nan/log.pt2" nan.pt2
cp "$ROOT/tests/data/export/mlp.pt2" exported.pt2
cp "$ROOT/tests/data/aoti/io/mlp.pt" inputs.pt
python3 "$ROOT/tests/lib/npy.py" x.npy '<f4' 3 8
python3 "$ROOT/tests/lib/npy.py" x.safetensors '<f4' 3 8
python3 "$ROOT/tests/minify/synthetic.py" graph 20 >g20.py
aoti-printer -q -i -o dump mlp.pt2 'f32[3,8]'
aoti-printer -q -i -o nandump nan.pt2 'f32[4,8]'
cd ../start || exit 4
printf '%s\n' '#!/bin/sh' 'unset LD_PRELOAD' "grep -q n10 \"\$1\"" >bug.sh
chmod +x bug.sh
cp ../in/g20.py .
fxminify --test ./bug.sh -q -j1 --passes nodes g20.py -o again.txt
rm again.txt
head -n 6 again.txt.journal >half && mv half again.txt.journal
cd ..

# once SETTING... -- COMMAND... : in box/, which is empty again afterwards; status, out, what is left (left), the sum of out and the results (all)
mapfile -t given < <(ls start)
once() {
	local set=() made
	while [ "$1" != -- ]; do set+=("$1"); shift; done
	shift
	[ "$1" != fxminify ] || cp start/* box
	(cd box && exec timeout 600 env LD_PRELOAD="$so" "${set[@]}" "$@") >out 2>err </dev/null
	status=$?
	[ "$1" != fxminify ] || (cd box && rm -f "${given[@]}")
	left=$(find box tmp -mindepth 1)
	mapfile -t made < <([ -z "$left" ] || find box -type f | sort)
	all=$(sed -E 's/"(at|seconds|pid|tid|time_ns|took_ns|address)":[0-9.]*//g; s/_time":[0-9.]*//g' out "${made[@]}" | md5sum)
	[ -z "$left" ] || { rm -rf box tmp && mkdir box tmp; }
}
is_same() { [ "$status $all" = "$was $want" ]; }
# Of an outcome that is not the same: what is wrong with it.
after_read_error() {
	[ "$status" = 3 ] || echo "status $status"
	[ "$(wc -l <err)" = 1 ] && grep -q "$file" err || echo "its words: $(head -n 3 err)"
	grep '\.tmp\.\|^tmp' <<<"$left"
}
after_no_space() {
	[ "$status" = 4 ] && grep -q "No space left\|is there room" err || echo "status $status: $(head -n 2 err)"
	[ -z "$left" ] || [ "$all" = "$want" ] || echo "left: $left" # a dump is whole when the run could not say what it gave
}

sample="1 2 4" places="0 2"
[ -n "${PT2_LONG-}" ] && sample=$(seq 400) places="0 1 2 3 4"
while read -r file line; do
	wrong='' same=0
	read -ra command <<<"$line"
	once INJECT_NONE=1 -- "${command[@]}"
	want=$all was=$status
	[ "$was" -le 1 ] || wrong+=" [without anything: $was $(head -n 1 err)]"
	for how in INJECT_WRITE=SHORT INJECT_READ=SHORT INJECT_READ=EINTR; do
		once $how INJECT_FILE= -- "${command[@]}"
		is_same || wrong+=" [$how: $status $(head -n 1 err)]"
	done
	# A page of a mapped file that cannot be read is, to who reads it, one that is no longer there.
	path=$(find in -path "*$file" | head -n 1)
	size=$(stat -c %s "$path")
	for k in $places; do
		at=$((k * (size - 1) / 4))
		cp "$path" saved
		once INJECT_READ=EIO:$at INJECT_CUT=$((at / 4096 * 4096)) INJECT_FILE="$file" -- "${command[@]}"
		cp saved "$path"
		is_same || wrong+=$(after_read_error | sed "s/^/ [EIO at $at: /; s/\$/]/")
	done
	for n in $sample; do
		once "INJECT_WRITE=#$n" -- "${command[@]}"
		if is_same; then
			same=$((same + 1))
			[ $same -ge 12 ] && break # there is no n-th write any more
			continue
		fi
		same=0
		wrong+=$(after_no_space | sed "s/^/ [write $n: /; s/\$/]/")
	done
	is "$line" "${wrong:0:600}" ""
done <<EOS
simple.log tlparse --json ../in/simple.log
simple.log tlparse --html=page.html ../in/simple.log
zipped.log.gz tlparse --json ../in/graph_breaks.log ../in/zipped.log.gz
simple.log tlparse -o dir ../in/graph_breaks.log ../in/simple.log
draft_export.log tlparse -e -o dir ../in/draft_export.log
provenance_jit.log tlparse -i -o dir ../in/provenance_jit.log
simple.log tlparse --diff ../in/graph_breaks.log ../in/simple.log
rank_1.log tlparse --all-ranks-html -o dir ../in/rank_0.log ../in/rank_1.log
rank_1.json tlparse --all-ranks-html -o dir ../in/rank_0.json ../in/rank_1.json
fr_trace_rank_1 tlparse --json ../in/fr_trace_rank_0 ../in/fr_trace_rank_1
fr_trace_rank_1 tlparse --all-ranks-html -o dir ../in/fr_trace_rank_0 ../in/fr_trace_rank_1
graph_breaks.log fxexplain --json ../in/graph_breaks.log
changed.log fxexplain cache ../in/cached/cache --trace ../in/cached/changed.log
provenance_jit.log fxexplain slow ../in/provenance_jit.log
graph_breaks.log fxexplain --html=page.html ../in/graph_breaks.log
graph_breaks.log fxexplain report ../in/graph_breaks.log
graph_breaks.py fxexplain fix --root ../in ../in/graph_breaks.log
graph_breaks.log fxexplain report -q --bundle b.pt2b ../in/graph_breaks.log
x.pt2b fxexplain replay --json ../in/x.pt2b
explain.log fxexplain ../in/explain.log
base.json fxexplain --json --baseline ../in/base.json ../in/graph_breaks.log
backward_3.1/output_code.py fxexplain kernel ../in/torch_compile_debug
provenance_jit.log fxexplain kernel ../in/provenance_jit.log
mlp.pt2 fxexplain kernel cpp_fused_relu_0 ../in/mlp.pt2
compiled.json fxexplain profile ../in/eager.json ../in/compiled.json
expand.txt fxexplain crash ../in/expand.txt ../in/crash.pt2
x.npy aoti-checkinputs --json ../in/mlp.pt2 ../in/x.npy
inputs.pt aoti-checkinputs ../in/mlp.pt2 ../in/inputs.pt:inputs[0]
mlp.pt2 aoti-checkinputs --doctor --torch=none ../in/mlp.pt2
exported.pt2 aoti-checkinputs --against ../in/exported.pt2 ../in/mlp.pt2
mlp.pt2 aoti-checkinputs --probe ../in/mlp.pt2
mlp.pt2 aoti-printer --level 3 ../in/mlp.pt2 f32[3,8]
x.npy aoti-printer -o dump ../in/mlp.pt2 ../in/x.npy
/dump/calls.jsonl aoti-printer --diff ../in/dump ../in/dump
mlp.pt2 aoti-nanassert --json ../in/mlp.pt2 f32[3,8]
nandump/calls.jsonl aoti-nanassert ../in/nandump
mlp.pt2 aoti-verify --json --no-more ../in/exported.pt2 ../in/mlp.pt2 f32[3,8]
exported.pt2 aoti-verify --no-more --html=page.html ../in/exported.pt2 ../in/mlp.pt2 f32[3,8]
mlp.pt2 pt2-run -q -o out.npz ../in/mlp.pt2 f32[3,8]
x.safetensors pt2-run -q -o out.pt ../in/mlp.pt2 ../in/x.safetensors
exported.pt2 pt2-run -q -o out.npz --weights ../in/exported.pt2 ../in/mlp.pt2 f32[3,8]
g20.py fxminify --test ./bug.sh -q -j1 --no-journal --passes nodes ../in/g20.py -o -
simple.log fxminify --test ./bug.sh -q -j1 --no-journal --graph 0/0:dynamo_output_graph --level 1 ../in/simple.log -o g.txt
EOS

# ---- a folder: what could not be written is named with the folder in front (or it is a temporary file: TMPDIR) ----
mkdir in/many
for r in 0 1; do cp in/simple.log in/many/dedicated_log_rank_$r.log; done
while read -r line; do
	wrong='' same=0 seen=''
	read -ra command <<<"$line"
	once INJECT_NONE=1 -- "${command[@]}"
	was=$status want=$left # what is in the folder may hold times
	for n in $sample 13 21 34; do
		once "INJECT_WRITE=#$n" -- "${command[@]}"
		[ "$status $left" = "$was $want" ] && { same=$((same + 1)); [ $same -ge 12 ] && break; continue; }
		same=0
		[[ "$status $(cat err)" =~ ^4\ [a-z-]+:\ .*(\'made/[^\']*\'|TMPDIR) ]] || wrong+=" [write $n: $status $(head -1 err)]"
		seen+=$(grep -o "'made/[^']*'" err)
	done
	is "$line: the folder stands in front" "${wrong:0:600}" ""
	like "... of a file in it" "$seen" "'made/"
done <<EOS
tlparse -o made ../in/simple.log
tlparse -p -o made ../in/simple.log
tlparse -e -o made ../in/draft_export.log
tlparse -i -o made ../in/provenance_jit.log
tlparse -o made ../in/simple.log ../in/graph_breaks.log
tlparse --all-ranks-html -o made ../in/many
aoti-printer -i -o made --format=pt ../in/mlp.pt2 f32[3,8]
EOS
done_testing
