#!/bin/bash
# pt2: what each thing is, by its content (as it is, under another name, through a pipe), which tool answers, and that the next commands work.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
command -v python3 >/dev/null || skip_all "no python3"

# ---- the things ----
T=$DATA R=$ROOT/tests/data
mkdir things && cd things || exit 4
cp "$T"/{simple,graph_breaks,recompiles,training,vllm,export,compile_error,v215_hop}.log .
gzip -k simple.log && xz -k graph_breaks.log
mkdir one_trace && cp simple.log one_trace/
cp -r "$T/ranks2" ranks
cp "$R/logs/crash.log" "$R"/pasted/{schema,interrupted_aot,guard_equal,aoti_run}.txt .
cp "$R"/crash/{checked,expand}.txt .
xz -dc "$R/crash/crash.pt2.xz" >crash.pt2
xz -dc "$R/inductor/log.txt.xz" >fusions.txt
cp "$T"/aoti/{mlp,multi,nested,weights_blob}.pt2 .
cp "$(find "$T/aoti/v215" -name '*.pt2' | sort | head -1)" v215.pt2
cp "$(find "$T/aoti/v26" -name '*.pt2' | sort | head -1)" v26.pt2
mkdir unpacked && (cd unpacked && unzip -qo ../mlp.pt2)
cp "$(find unpacked -name '*.so' | head -1)" bare.so
cp "$R/export/mlp.pt2" exported.pt2
cp "$R/export/old_2_6.pt2" exported26.pt2
python3 "$ROOT/tests/lib/npy.py" batch.npy '<f4' 5 8
python3 "$ROOT/tests/lib/npy.py" batch.safetensors '<f4' 5 8
xz -dc "$R/aoti/nan/log.pt2.xz" >log.pt2
cp "$R/aoti/nan/io/log.npz" log.npz
cp "$R/aoti/io/mlp.pt" batch.pt
aoti-printer -q -o dump mlp.pt2 batch.npy
aoti-printer -q -o dump2 mlp.pt2 batch.npy
fxexplain report -q --bundle x.pt2b simple.log
xz -dc "$R/profiles/eager.json.xz" >eager.json
xz -dc "$R/profiles/compiled.json.xz" >compiled.json
cp "$R/profiles/gpu_eager.json" gpu.json
tar -xJf "$R/cachemiss.tar.xz" ./cache ./cold.log
mv cache kept # 'pt2 cache' is a command
mkdir flight && tar -C flight -xJf "$R/flight.tar.xz"
mkdir debug && tar -C debug -xJf "$R/debug/torch_compile_debug.tar.xz"
cp "$R/repro/aot_forward/minifier_launcher.py" .
cp "$R/minifier/aot_compile_error/repro.py" .
cp "$R/minifier/runnable/forward.py" runnable.py
cp "$R/inductor/old_graph.py" graph.py
python3 "$ROOT/tests/minify/synthetic.py" graph 20 >synthetic.py
cp "$R/inductor/triton.py" output_code.py
tlparse --json simple.log >document.json
fxexplain --json simple.log >explained.json
aoti-checkinputs --json mlp.pt2 >contract.json
cp "$(command -v true)" machine
libz=$(ldd "$BUILD/bin/tlparse" 2>/dev/null | sed -n 's/.*=> \(.*libz[^ ]*\) .*/\1/p' | head -1)
[ -z "$libz" ] || cp "$libz" libz.so
head -c 5000 /dev/urandom | sed 's/^/\xff\0/' >noise
mkdir nothing
cat >app.py <<P
"""A program
of two lines."""
import os, shutil, sys

print("arguments:", *sys.argv[1:])
shutil.copy("$T/graph_breaks.log", os.environ["TORCH_TRACE"])
P
printf '#!/bin/sh\necho ran "$@"\n' >go
chmod +x go
core=
if (ulimit -c unlimited; cd .. && bash -c 'kill -SEGV $$') 2>/dev/null || true; then core=$(find .. -maxdepth 1 -name 'core*' | head -1); fi
[ -z "$core" ] || mv "$core" thecore

# THING|a pattern of what it is|of the command that answers. A thing of two words is two files.
cat >table <<'E'
simple.log|trace of torch.compile|fxexplain simple
graph_breaks.log|trace of torch.compile|fxexplain
recompiles.log|trace of torch.compile|fxexplain
training.log|trace of torch.compile|fxexplain
vllm.log|trace of torch.compile|fxexplain
export.log|trace of torch.compile|fxexplain
compile_error.log|trace of torch.compile|fxexplain
v215_hop.log|trace of torch.compile|fxexplain
simple.log.gz|trace of torch.compile|fxexplain
graph_breaks.log.xz|trace of torch.compile|fxexplain
one_trace|trace of torch.compile|fxexplain
ranks|trace of torch.compile|fxexplain
crash.log|a text|fxexplain
schema.txt|a text|fxexplain schema
interrupted_aot.txt|a text|fxexplain interrupted
guard_equal.txt|a text|fxexplain guard
aoti_run.txt|a text|fxexplain aoti
fusions.txt|a text|fxexplain fusions
expand.txt|a text|fxexplain crash expand
expand.txt crash.pt2|a text, .* compiled model|fxexplain crash expand.txt crash.pt2
mlp.pt2|a compiled model|aoti-checkinputs
nested.pt2|a compiled model|aoti-checkinputs
weights_blob.pt2|a compiled model|aoti-checkinputs
v215.pt2|a compiled model|aoti-checkinputs
v26.pt2|a compiled model|aoti-checkinputs
bare.so|a compiled model|aoti-checkinputs
unpacked|a compiled model|aoti-checkinputs
exported.pt2|an exported program|
exported26.pt2|an exported program|
mlp.pt2 batch.npy|tensors|aoti-checkinputs mlp.pt2 batch.npy.*pt2-run mlp.pt2 batch.npy
mlp.pt2 batch.safetensors|tensors|aoti-checkinputs mlp.pt2 batch.safetensors
log.pt2 log.npz|tensors|aoti-checkinputs
mlp.pt2 f32[5,8]|tensors|aoti-checkinputs
exported.pt2 batch.npy|an exported program, .* tensors|pt2-run exported.pt2 batch.npy
exported.pt2 mlp.pt2|an exported program, .* compiled model|aoti-checkinputs --against=exported.pt2 mlp.pt2.*aoti-verify exported.pt2 mlp.pt2
exported.pt2 mlp.pt2 batch.npy|an exported program|aoti-verify exported.pt2 mlp.pt2 batch.npy
dump|saved by aoti-printer|aoti-nanassert dump
dump dump2|saved by aoti-printer|aoti-printer --diff dump dump2
exported.pt2 dump|saved by aoti-printer|aoti-verify exported.pt2 dump
x.pt2b|a failure in one file|fxexplain replay
eager.json|a profile|fxexplain profile
gpu.json|a profile|fxexplain profile
eager.json compiled.json|a profile|fxexplain profile eager.json compiled.json
kept|a compile cache|fxexplain cache kept
kept cold.log|a compile cache|fxexplain cache kept --trace=cold.log
debug|TORCH_COMPILE_DEBUG|fxexplain debug
minifier_launcher.py|a program that runs one graph|fxminify
repro.py|a program that runs one graph|fxminify
runnable.py|a program that runs one graph|fxminify
graph.py|a graph|fxminify
synthetic.py|a graph|fxminify
output_code.py|code generated by Inductor|fxexplain kernel
app.py|.*|fxexplain run -- python3 app.py
go|.*|fxexplain run -- .*go
batch.npy|tensors|none: tensors are the inputs of a model
batch.pt|tensors|none: tensors are the inputs of a model
document.json|a JSON document of these tools|none: a program reads it
explained.json|a JSON document of these tools|none
contract.json|a JSON document of these tools|none
machine|machine code|none: a compiled model exports
libz.so|a library|none: a compiled model exports
noise|unknown format|none
nothing|without any file known here|none
E
# A recorder's dump is known by what is in it, but its rank only by its name.
flight=$(find flight -name 'nccl_trace*' | sort | head -1)
[ -z "$flight" ] || { cp "$flight" .; echo "${flight##*/}|a Flight Recorder dump|tlparse --all-ranks-html" >>table; }
[ -z "$core" ] || echo "thecore|a core file|fxexplain crash thecore" >>table

export PT2_PYTHON=python3
# Tools are found beside pt2: here it lies beside two that only say their name, since one writes a folder and the other asks torch.
mkdir ../beside
cp "$BUILD/bin/pt2" ../beside/
for t in "${tools[@]}"; do
	case $t in
	pt2) ;;
	fxminify | tlparse) printf '#!/bin/sh\necho ran %s "$@"\n' "$t" >"../beside/$t"; chmod +x "../beside/$t" ;;
	*) ln -s "$BUILD/bin/$t" "../beside/$t" ;;
	esac
done
door() { timeout 60 "$TMP/beside/pt2" "$@" >"$TMP/out" 2>"$TMP/err"; }
# looks WHAT IS ANSWER WORDS...: one line says what it is and who answers
looks() {
	local what=$1 is=$2 answer=$3 said
	shift 3
	door "$@" </dev/null
	status=$?
	said=$(grep '^pt2:' "$TMP/err" | tr '\n' ' ')
	[ "$status" -lt 124 ] || said="status $status: $said"
	[[ $answer != none* || $status = 2 ]] || said="status $status: $said"
	answer=${answer#none}
	like "$what" "$said" "^pt2: .*$is.*${answer#: }"
}
n=0
while IFS='|' read -r things is answer; do
	read -ra words <<<"$things"
	[[ ${words[0]} = f32* || -e ${words[0]} ]] || continue
	n=$((n + 1))
	looks "$things" "$is" "$answer" "${words[@]}"
	# Under other names: content decides.
	renamed=()
	other=$answer
	i=0
	for w in "${words[@]}"; do
		if [[ $w = f32* ]]; then renamed+=("$w"); continue; fi
		i=$((i + 1))
		rm -rf "../$i.thing"
		cp -r "$w" "../$i.thing"
		# shellcheck disable=SC2001
		other=$(sed "s|\([ =]\)$w\>|\1../$i.thing|g" <<<"$other")
		renamed+=("../$i.thing")
	done
	case $things in app.py | go) other='fxexplain run --' ;; *) other=${other// "${words[0]%%[._]*}"*/ } ;; esac # some names are not whole in the table
	looks "... under another name" "$is" "$other" "${renamed[@]}"
	[[ ${#words[@]} = 1 && -f ${words[0]} && $things != app.py && $things != go ]] || continue
	door < <(cat "${words[0]}")
	answer=${answer#none}
	answer=${answer#: }
	like "... through a pipe" "$(grep '^pt2:' "$TMP/err" | tr '\n' ' ')" "^pt2: \(standard input\) is .*$is.*${answer%% "${words[0]%%[._]*}"*}"
	[[ $is != *trace* && $is != *text* ]] || unlike "... the answer has no path of the copy" "$(cat "$TMP/out")" 'pt2\.[A-Za-z0-9]{6}/input'
done <table
ok "sixty things" test "$n" -ge 60

# A pattern whose letters are not in the order of thing.h matches nothing.
is "the patterns of the doors are in order" "$(python3 - "$ROOT" <<'P'
import re, sys
order = re.findall(r"X\(\w+, '(.)'", open(sys.argv[1] + "/cmd/pt2/thing.h").read()) + ["c"]
for verb, pattern in re.findall(r'\{"(\w*)", "([^"]+)"', open(sys.argv[1] + "/cmd/pt2/door.c").read()):
    steps = re.findall(r"\[([^]]+)\]|(\w)", pattern)
    at = [order.index(c) for group in steps for c in "".join(group)]
    if at != sorted(at):
        print(verb, pattern)
P
)" ""

# ---- the answers, and what comes next ----
cd ..
mkdir work && cd work || exit 4
cp ../things/{graph_breaks.log,simple.log,mlp.pt2,exported.pt2,batch.npy,log.pt2,log.npz,app.py,eager.json,compiled.json,expand.txt,crash.pt2} .
cp -r ../things/dump ../things/unpacked .
answers() { # answers WHAT STATUS WORDS...
	local what=$1 want=$2 line
	shift 2
	exits "$what: status" "$want" pt2 "$@"
	sed -n 's/^next  //p; s/^      \(pt2 .*\)/\1/p' out >next
	while read -r line; do
		(cd .. && rm -rf again && cp -r work again && cd again && bash -c "$line" >../out2 2>../err2 </dev/null)
		like "... next: $line" "$?" '^[015]$'
	done <next
}
answers "a trace" 0 graph_breaks.log
is "... has three next commands" "$(wc -l <next)" 3
answers "slow, a trace" 0 slow graph_breaks.log
answers "fix, a trace whose program is not here" 5 fix graph_breaks.log
answers "a model" 0 mlp.pt2
is "... has three next commands" "$(cat next)" "pt2 run mlp.pt2 'f32[8,8]'
pt2 nan mlp.pt2 'f32[8,8]'
pt2 crash mlp.pt2"
answers "a model and inputs" 0 mlp.pt2 batch.npy
like "... checked and run" "$(cat out)" 'the input fits.*out0'
answers "check" 0 check mlp.pt2 batch.npy
answers "nan" 1 nan log.pt2 log.npz:in0
like "... the kernel" "$(cat out)" 'cpp_fused'
answers "wrong" 0 wrong exported.pt2 mlp.pt2 batch.npy
answers "an exported program and its model" 0 exported.pt2 mlp.pt2
exits "run, with inputs of its own making" 0 pt2 run mlp.pt2
like "... said" "$(cat err)" "pt2-run mlp.pt2 .f32.8,8"
answers "run" 0 run exported.pt2 batch.npy
answers "slow, a model" 0 slow mlp.pt2 batch.npy
answers "diff, two models" 0 diff mlp.pt2 mlp.pt2 batch.npy
answers "diff, two traces" 1 diff graph_breaks.log simple.log
answers "diff, two profiles" 0 diff eager.json compiled.json
answers "crash, a model" 0 crash mlp.pt2
answers "a backtrace and its model" 1 expand.txt crash.pt2
answers "a program" 0 app.py --lr 3
like "... with its own arguments" "$(cat out err)" 'arguments: --lr 3'
like "... explained" "$(cat out err)" 'graph break'
exits "a command" 0 pt2 run -- python3 app.py
exits "a tool by its name" 0 pt2 tlparse --version
is "... is that tool" "$(cat out)" "$(tlparse --version)"
exits "a subcommand of fxexplain" 0 pt2 kernel mlp.pt2

exits "JSON" 0 pt2 --json graph_breaks.log
ok "... is one document" python3 -c 'import json, sys; json.load(open("out"))'
exits "JSON of two answers" 0 pt2 --format=json mlp.pt2 batch.npy
is "... is two documents" "$(python3 -c '
import json
text, n = open("out").read().strip(), 0
while text:
    _, end = json.JSONDecoder().raw_decode(text)
    text, n = text[end:].strip(), n + 1
print(n)')" 2
exits "SARIF" 0 pt2 --format=sarif graph_breaks.log
like "... is SARIF" "$(head -c 300 out)" 'sarif'
exits "SARIF of what has no findings" 0 pt2 --format=sarif mlp.pt2
like "... has none" "$(cat out)" '"results":\[\]'
exits "quiet" 0 pt2 -q mlp.pt2
is "... says nothing besides" "$(cat err)$(grep '^next' out)" ""
exits "one model of several" 0 pt2 -m first "$DATA/aoti/multi.pt2"
like "... the next commands keep it" "$(cat out)" 'next  pt2 --model=first run '

exits "nothing there" 3 pt2 nosuch.log
like "... said" "$(cat err)" "^pt2: cannot read 'nosuch.log': No such file"
exits "a misspelt tool" 2 pt2 fxexplian
like "... said" "$(cat err)" "did you mean 'fxexplain'"
exits "a question that a thing has no answer for" 2 pt2 diff mlp.pt2
like "... names those that it has" "$(cat err)" "these have: why, slow, nan, crash, check, run"
exits "a trace has no values" 2 pt2 nan graph_breaks.log
like "... what to do" "$(cat err)" 'pt2 nan -- python app.py'
: >empty
exits "an empty file" 3 pt2 empty
exits "an empty pipe" 3 pt2 </dev/null
printf 'import torch\nprint(1)\nTraceback (most recent call last):\n  File "x.py", line 1\nValueError: x\n' >log
exits "a text that quotes a program is not run" 0 pt2 log
like "... but read" "$(cat err)" 'is a text: fxexplain log'

# A signal reaches the tool, and this ends as the tool did.
cat >sleeper.py <<'P'
import time
open("started", "w").close()
time.sleep(600)
P
pt2 "$PWD/sleeper.py" >out 2>err &
for _ in $(seq 600); do [ -e started ] && break; sleep 0.05; done
kill -TERM $!
wait $!
is "killed: status" "$?" 143
is "... nothing is left running" "$(pgrep -f "$PWD/sleeper[.]py" || echo none)" none
done_testing
