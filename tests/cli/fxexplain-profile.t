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
exits "two profiles" 0 fxexplain profile eager.json kernels.json
is "standard error stays empty" "$(cat err)" ""
like "the speed-up is reported" "$(head -1 out)" '^3\.16 ms -> 4\.[0-9]+ ms per step: [0-9.]+x, '
like "tables use the unit of a step" "$(section Where)" 'eager ms +compiled ms .* 0\.[0-9]{3} .*3\.163 '
like "an op that is fused is gone" "$(grep aten::gelu_backward out)" '- .*gone'
cp out first
run fxexplain profile kernels.json eager.json
like "reversed order is reported" "$(cat out)" 'the first file is the compiled run'
is "reversed order: everything else is equal" "$(grep -v 'the first file' out)" "$(cat first)"
ok "the output fits one screen" test "$(wc -l <first)" -le 50
ok "the output fits 80 columns" sh -c 'LC_ALL=C COLUMNS=80 script -qec "fxexplain profile eager.json kernels.json" /dev/null | sed "s/\x1b\[[0-9;]*m//g" | tr -d "\r" | awk "length > 80 {exit 1}"'
unlike "no colour in a pipe" "$(cat first)" $'\033'
exits "--all" 0 fxexplain profile --all eager.json kernels.json
ok "--all prints more" test "$(wc -l <out)" -gt 70
exits "--json" 0 fxexplain profile --json eager.json kernels.json
is "counts equal torch's" "$(json '[r["count"] for r in d["profiles"][0]["rows"] if r["name"] == "aten::mm"]')" "[32]"
is "the number of steps" "$(json '[len(p["steps"]) for p in d["profiles"]]')" "[4, 4]"
is "families add up to the wall time" "$(json '[round(sum(f[i] for f in d["comparison"]["families"].values()) - d["comparison"]["wall"][i] - d["comparison"]["beside"][i]) for i in (0, 1)]')" "[0, 0]"
is "parts add up to it, too" "$(json '[sum(p["parts"].values()) - p["wall"] for p in d["profiles"]]')" "[0, 0]"
is "a fused kernel has counts per step" "$(json '[(o["count"], o["fate"]) for o in d["comparison"]["ops"] if o["name"] == "cpp_fused_gelu_1"]')" "[([0, 2], 'new')]"
for f in eager kernels; do jq -c '.traceEvents |= map((.ts, .dur) |= if . then . * 1000 else . end)' $f.json >$f.long.json; done
exits "steps that take seconds" 0 fxexplain profile eager.long.json kernels.long.json
like "seconds are the unit then" "$(cat out)" '^3\.16 s -> 4\.[0-9]+ s per step: .* [0-9.]+ ms per step, .*eager s +compiled s .* 3\.163 '
exits "two compiled profiles" 0 fxexplain profile compiled.json kernels.json
like "they are compared in the given order" "$(cat out)" 'both are compiled'
exits "a profile without steps" 0 fxexplain profile eager.json cold.json
like "a note says when totals are comparable" "$(cat out)" 'the totals compare only if both ran the same number'
like "a note says that times include compilation" "$(cat out)" 'these times include compilation'

# ---- what to look at first ----
run fxexplain profile compiled.json
like "untimed C++ kernels: the option is suggested" "$(cat out)" 'torch._inductor.config.cpp.enable_kernel_profile = True'
run fxexplain profile cold.json
like "no warm-up is reported" "$(cat out)" '4 compilations during the measurement: no warm-up'
like "recompiles are reported" "$(cat out)" '2 recompilations during the measurement.*0/1 1/1'
run fxexplain profile kernels.json
like "graph breaks are reported" "$(cat out)" 'Graph breaks: 1.0 per step'
unlike "an option that is already on is not suggested" "$(cat out)" enable_kernel_profile
run fxexplain profile gpu_eager.json gpu_compiled.json
like "an idle device is reported" "$(cat out)" 'The device is waiting for the CPU'
like "kernels on the device" "$(section 'On the device')" 'triton_red_fused_gelu_backward_0'
like "the device's busy time" "$(head -1 out)" 'device busy 440.0 us -> 270.0 us'

# As torch 2.15's inductor_trace_handler writes it (the texts as recorded on a CPU; kernels on a device are made by hand).
jq '.traceEvents |= map(if .cat == "kernel" then .args.stack = ["  File \"/lib/site-packages/torch/nn/modules/linear.py\", line 134, in forward\n    return F.linear(a)\n",
	"  File \"/home/user/model.py\", line 7, in forward\n    return gelu([y]) + \"]\"\n           ^^^^\n"] else . end)' gpu_compiled.json >timeline.json
run fxexplain profile --all gpu_eager.json timeline.json
like "kernels have the lines that the profiler wrote beside them" "$(section 'Kernels and where')" \
	$'triton_red_fused_gelu_backward_0\n *[^\n]*model.py:7\n'
like "... others than fused ones, too" "$(section 'Kernels and where')" $'ampere_sgemm_128x64_tn\n *[^\n]*model.py:7'
unlike "... not torch's own" "$(section 'Kernels and where')" linear.py
is "... in the document" "$(fxexplain profile --json gpu_eager.json timeline.json | jq -r '.. | objects | select(.name? == "triton_poi_fused_add_gelu_0" and .lines?) | .lines')" \
	/home/user/model.py:7
jq '(.traceEvents[] | select(.cat == "kernel") | .args.stack) = "odd"' gpu_compiled.json >odd.json
exits "one that is no list" 0 fxexplain profile gpu_eager.json odd.json

# ---- with the log of the compiled run ----
exits "with a trace" 0 fxexplain profile --all eager.json kernels.json kernels.log
like "frames have their functions" "$(section 'Compiled frames')" '0/0 .*profiles.py:[0-9]+ in forward'
like "graph breaks have their places" "$(section 'Graph breaks')" 'profiles.py:[0-9]+ .*graph_break'
like "kernels have nodes and lines" "$(section 'Kernels and where')" $'cpp_fused_gelu_1\n *[^\n]*profiles.py:27: [^\n]*erf'
mkdir traces
cp kernels.log traces/dedicated_log_torch_trace_abc.log
exits "with a directory of traces" 0 fxexplain profile --all kernels.json traces
like "kernels have nodes and lines, too" "$(section 'Kernels and where')" 'cpp_fused_gelu_1'

# ---- how it comes ----
gzip -k eager.json
fxexplain profile --json eager.json >plain
exits "a compressed profile" 0 fxexplain profile --json eager.json.gz
is "its document is equal" "$(sed 's/eager.json.gz/eager.json/' out)" "$(cat plain)"
exits "standard input" 0 sh -c 'fxexplain profile --json - <eager.json'
is "its document is equal, too" "$(sed 's/"path":"-"/"path":"eager.json"/' out)" "$(cat plain)"
python3 -c 'import json; json.dump(json.load(open("eager.json"))["traceEvents"], open("bare.json", "w"))'
exits "a JSON array written by Python" 0 fxexplain profile --json bare.json
near='[round(r["self"] / 10) for r in d["profiles"][0]["rows"] if r["name"] == "aten::add_"]'
bare=$(json "$near")
cp plain out
is "its times are equal up to rounding" "$bare" "$(json "$near")"

# ---- damage ----
head -c 200000 eager.json >cut.json
exits "an incomplete file" 3 fxexplain profile cut.json
like "the message says where it ends" "$(cat err)" 'the file ends inside an event, as if the profiler was killed; the [0-9]+ events before that are used'
like "events before the end are shown" "$(cat out)" 'aten::mm'
exits "-q with an incomplete file" 3 fxexplain profile -q cut.json
is "-q prints no message" "$(cat err)" ""
exits "another JSON file" 3 fxexplain profile kernels.rows.json
: >empty
exits "an empty file" 3 fxexplain profile empty
like "the message says that it is not a profile" "$(cat err)" 'is not a torch.profiler trace'
echo '{"traceEvents": []}' >none.json
exits "a profile without events" 3 fxexplain profile none.json
like "the message says so" "$(cat err)" 'has no events'
exits "three profiles are rejected" 2 fxexplain profile eager.json kernels.json cold.json
exits "--html is rejected" 2 fxexplain profile --html=x.html eager.json
exits "a trace alone is rejected" 2 fxexplain profile kernels.log
printf '[{"ph":"X","cat":"cpu_op","name":"a\\u001b[31m\\tb\\n<script>","pid":1,"tid":1,"ts":1,"dur":9000}]' >hostile.json
exits "a hostile name" 0 fxexplain profile --all hostile.json
unlike "no escape reaches the terminal" "$(cat out)" $'\033'
like "the name is shown" "$(cat out)" 'a\?\[31m b <script>'
done_testing
