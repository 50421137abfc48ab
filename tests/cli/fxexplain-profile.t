#!/bin/bash
# fxexplain profile: recorded profiles of torch.profiler, alone and in pairs, whole and damaged. No torch.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
data=$ROOT/tests/data/profiles
for f in eager compiled kernels cold stack; do xz -dc "$data/$f.json.xz" >$f.json; done
cp "$data"/gpu_*.json .
xz -dc "$data/kernels.log.xz" >kernels.log
json() { python3 -c "import json, sys; d = json.load(open('out')); print($1)"; }
section() { sed -n "/^$1/,/^\$/p" out; }

# ---- a pair ----
exits "a pair" 0 fxexplain profile eager.json kernels.json
is "says nothing else" "$(cat err)" ""
like "the speed-up" "$(head -1 out)" '^3\.16 ms -> 4\.[0-9]+ ms per step: [0-9.]+x, '
like "tables are in the unit of a step" "$(section Where)" 'eager ms +compiled ms .* 0\.[0-9]{3} .*3\.163 '
like "an op that is fused away" "$(grep aten::gelu_backward out)" '- .*gone'
cp out first
run fxexplain profile kernels.json eager.json
like "the other order: said" "$(cat out)" 'the first file is the compiled run'
is "and the same otherwise" "$(grep -v 'the first file' out)" "$(cat first)"
ok "at most a screen" test "$(wc -l <first)" -le 50
ok "in 80 columns" sh -c 'LC_ALL=C COLUMNS=80 script -qec "fxexplain profile eager.json kernels.json" /dev/null | sed "s/\x1b\[[0-9;]*m//g" | tr -d "\r" | awk "length > 80 {exit 1}"'
unlike "no colour in a pipe" "$(cat first)" $'\033'
exits "all of it" 0 fxexplain profile --all eager.json kernels.json
ok "is longer" test "$(wc -l <out)" -gt 70
exits "as JSON" 0 fxexplain profile --json eager.json kernels.json
is "counts of torch" "$(json '[r["count"] for r in d["profiles"][0]["rows"] if r["name"] == "aten::mm"]')" "[32]"
is "steps" "$(json '[len(p["steps"]) for p in d["profiles"]]')" "[4, 4]"
is "families sum to the wall time" "$(json '[round(sum(f[i] for f in d["comparison"]["families"].values()) - d["comparison"]["wall"][i] - d["comparison"]["beside"][i]) for i in (0, 1)]')" "[0, 0]"
is "parts sum to it, too" "$(json '[sum(p["parts"].values()) - p["wall"] for p in d["profiles"]]')" "[0, 0]"
is "a fused kernel, per step" "$(json '[(o["count"], o["fate"]) for o in d["comparison"]["ops"] if o["name"] == "cpp_fused_gelu_1"]')" "[([0, 2], 'new')]"
for f in eager kernels; do jq -c '.traceEvents |= map((.ts, .dur) |= if . then . * 1000 else . end)' $f.json >$f.long.json; done
exits "a step of seconds" 0 fxexplain profile eager.long.json kernels.long.json
like "is told in seconds" "$(cat out)" '^3\.16 s -> 4\.[0-9]+ s per step: .* [0-9.]+ ms per step, .*eager s +compiled s .* 3\.163 '
exits "two of one kind" 0 fxexplain profile compiled.json kernels.json
like "are compared as given" "$(cat out)" 'both are compiled'
exits "one has no steps" 0 fxexplain profile eager.json cold.json
like "is said" "$(cat out)" 'the totals compare only if both ran the same number'
like "and compiling inside of it" "$(cat out)" 'these times include compilation'

# ---- what to look at first ----
run fxexplain profile compiled.json
like "C++ kernels without times: the option" "$(cat out)" 'torch._inductor.config.cpp.enable_kernel_profile = True'
run fxexplain profile cold.json
like "no warm-up" "$(cat out)" '4 compilations during the measurement: no warm-up'
like "recompiles" "$(cat out)" '2 recompilations during the measurement.*0/1 1/1'
run fxexplain profile kernels.json
like "graph breaks" "$(cat out)" 'Graph breaks: 1.0 per step'
unlike "the option is on" "$(cat out)" enable_kernel_profile
run fxexplain profile gpu_eager.json gpu_compiled.json
like "a device that waits" "$(cat out)" 'The device is waiting for the CPU'
like "its kernels" "$(section 'On the device')" 'triton_red_fused_gelu_backward_0'
like "its busy time" "$(head -1 out)" 'device busy 440.0 us -> 270.0 us'

# ---- with the log of the compiled run ----
exits "a trace" 0 fxexplain profile --all eager.json kernels.json kernels.log
like "a frame by its id" "$(section 'Compiled frames')" '0/0 .*profiles.py:[0-9]+ in forward'
like "a break" "$(section 'Graph breaks')" 'profiles.py:[0-9]+ .*graph_break'
like "a kernel's nodes and lines" "$(section 'Kernels and where')" $'cpp_fused_gelu_1\n *[^\n]*profiles.py:27: [^\n]*erf'
mkdir traces
cp kernels.log traces/dedicated_log_torch_trace_abc.log
exits "a folder of them" 0 fxexplain profile --all kernels.json traces
like "is the same" "$(section 'Kernels and where')" 'cpp_fused_gelu_1'

# ---- how it comes ----
gzip -k eager.json
fxexplain profile --json eager.json >plain
exits ".gz" 0 fxexplain profile --json eager.json.gz
is "is the same" "$(sed 's/eager.json.gz/eager.json/' out)" "$(cat plain)"
exits "standard input" 0 sh -c 'fxexplain profile --json - <eager.json'
is "is the same" "$(sed 's/"path":"-"/"path":"eager.json"/' out)" "$(cat plain)"
python3 -c 'import json; json.dump(json.load(open("eager.json"))["traceEvents"], open("bare.json", "w"))'
exits "a bare array, written by Python" 0 fxexplain profile --json bare.json
near='[round(r["self"] / 10) for r in d["profiles"][0]["rows"] if r["name"] == "aten::add_"]'
bare=$(json "$near")
cp plain out
is "has the same times, but for what a double loses" "$bare" "$(json "$near")"

# ---- damage ----
head -c 200000 eager.json >cut.json
exits "cut off" 3 fxexplain profile cut.json
like "is said" "$(cat err)" 'the file ends inside an event, as if the profiler was killed; the [0-9]+ events before that are used'
like "and what came before is shown" "$(cat out)" 'aten::mm'
exits "-q does not say it" 3 fxexplain profile -q cut.json
is "at all" "$(cat err)" ""
exits "no profile" 3 fxexplain profile kernels.rows.json
: >empty
exits "an empty file" 3 fxexplain profile empty
like "is said" "$(cat err)" 'is not a torch.profiler trace'
echo '{"traceEvents": []}' >none.json
exits "no events" 3 fxexplain profile none.json
like "is said" "$(cat err)" 'has no events'
exits "three profiles" 2 fxexplain profile eager.json kernels.json cold.json
exits "no other form" 2 fxexplain profile --html=x.html eager.json
exits "only a log" 2 fxexplain profile kernels.log
printf '[{"ph":"X","cat":"cpu_op","name":"a\\u001b[31m\\tb\\n<script>","pid":1,"tid":1,"ts":1,"dur":9000}]' >hostile.json
exits "a hostile name" 0 fxexplain profile --all hostile.json
unlike "does not reach the terminal" "$(cat out)" $'\033'
like "but is shown" "$(cat out)" 'a\?\[31m b <script>'
done_testing
