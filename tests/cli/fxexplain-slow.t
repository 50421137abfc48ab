#!/bin/bash
# fxexplain slow: its numbers against torch's own (tests/data/slow), and what it finds in recorded traces.
# shellcheck source=tests/lib/tap.sh disable=SC2016
. "$(dirname "$0")/../lib/tap.sh"
S=$PWD/slow
mkdir slow
for f in one threads again; do
	xz -dc "$ROOT/tests/data/slow/$f.log.xz" >slow/$f.log
	cp "$ROOT/tests/data/slow/$f.json" slow
done

# ---- against torch: compile_times() and the runs of the compiler as the program saw them ----

for how in one threads again; do
	fxexplain slow --json "$S/$how.log" >$how.doc
	is "$how: the runs of the C++ compiler are torch's compile_file" \
		"$(jq -n 'input as $d | input as $t | ($d.cpp_compiler | .kernel_seconds + .header_seconds + .header_check_seconds + .probe_seconds) -
			($t.phases.compile_file // 0) | fabs < 0.05' $how.doc "$S/$how.json")" true
	is "$how: so many were for kernels" "$(jq .cpp_compiler.kernels $how.doc)" "$(jq '[.builds[] | select(.[0] == "kernel")] | length' "$S/$how.json")"
	is "$how: for the header, its check and the instructions" "$(jq -n 'input.cpp_compiler as $d | [input.builds[] | {(.[0]): .[1]}] as $b |
		def of(kind): [$b[][kind] // 0] | add // 0;
		[$d.header_seconds - of("header"), $d.header_check_seconds - of("preprocess"), $d.probe_seconds - of("probe")] | map(fabs) | max < 0.05' \
		$how.doc "$S/$how.json")" true
	is "$how: passes are torch's" "$(jq -n 'input as $d | input.phases as $t | [$d.passes[] | select((.seconds - $t["pass." + .name]) | fabs > 0.01) | .name]' -c \
		$how.doc "$S/$how.json")" "[]"
done
is "kernels have the times of their runs, in the order of the code" "$(jq -n 'input as $d | input as $t |
	([$d.kernels[].seconds] | sort) as $a | ([$t.builds[] | select(.[0] == "kernel")[1]] | sort) as $b |
	[range($a | length)] | map($a[.] - $b[.] | fabs) | max < 0.02' one.doc "$S/one.json")" true
is "two threads: two at once, and their wall time is shorter" "$(jq -c '.cpp_compiler | [.at_once, .compile_threads, (.kernel_wall_seconds < .kernel_seconds)]' threads.doc)" '[2,2,true]'
is "kernels that are there have no time, and no run" "$(jq -c '[.cpp_compiler.kernels, ([.kernels[].seconds] | unique), .cpp_compiler.kernels_not_built == (.kernels | length)]' again.doc)" '[0,[null],true]'
is "phases add up to the run" "$(jq '(([.phases[].seconds] | add) - .seconds) | fabs < 0.3' threads.doc)" true

# ---- what repeats ----

is "four equal blocks" "$(jq -c '.blocks | map([.name, .copies, .compile])' threads.doc)" '[["layers.0 ... layers.3",4,"0/0"]]'
is "modules by their parameters" "$(jq -c '[.modules[].name] | sort' threads.doc)" '["embed","head","layers.*"]'
is "modules take what grows with the graph" "$(jq '([.modules[].seconds] | add) - .frames[0].grows_seconds | fabs < 0.02' threads.doc)" true
is "the remedy: three of four blocks' nodes, of what grows" "$(jq '(.remedies[] | select(.id == "block")) as $r | .blocks[0] as $b |
	($r.saves_seconds - .frames[0].grows_seconds * $b.nodes * 3 / $b.of_nodes) | fabs < 0.01' threads.doc)" true
fxexplain slow "$S/threads.log" >text
like "it is named as the program names it" "$(cat text)" "for block in model.layers: block.compile\(\)"
like "an estimate says how it was reckoned" "$(cat text)" "estimate: [0-9]+ of the graph.s [0-9]+ nodes repeat"
is "nothing is wider than it may be when piped" "$(grep -c 'saves about' text)" "$(grep -cE '^  +[0-9]+  ' text)"

# ---- other remedies, and none where there is nothing ----

is "one thread" "$(jq -r '[.remedies[].id] | contains(["threads"])' one.doc)" true
is "two threads need no more" "$(jq -r '[.remedies[].id] | contains(["threads"])' threads.doc)" false
is "a cold cache" "$(jq -r '[.remedies[].id] | contains(["cache"])' threads.doc)" true
is "a cache that is off is no cold one" "$(jq -r '[.remedies[].id] | contains(["cache"])' again.doc)" false
is "a backward that was compiled is wanted" "$(jq -r '[.remedies[].id] | contains(["no-grad"])' threads.doc)" false
grep -v '{"bwd_compilation_metrics"' slow/again.log >forward.log
is "one that was only traced is not" "$(fxexplain slow --json forward.log | jq -r '[.remedies[].id] | contains(["no-grad"])')" true
is "recompiles with what mends them" "$(fxexplain slow --json "$DATA/recompiles.log" | jq -r '.remedies[] | select(.id == "recompile") | .steps' | grep -c mark_dynamic)" 1
is "graph breaks, too" "$(fxexplain slow --json "$DATA/graph_breaks.log" | jq -r '[.remedies[] | select(.id == "graph-break")] | length > 2')" true
is "AOTInductor's library is no kernel" "$(fxexplain slow --json "$DATA/aoti.log" | jq -c '.cpp_compiler | [.kernels, (.package_seconds > 0), (.header_seconds > 0)]')" '[0,true,true]'

# Triton's own times by kernel: the metric is a text in a text (torch/_inductor/async_compile.py, 2.13).
metric='\\"triton_poi_fused_add_0\\", 1500000], [\\"triton_red_fused_sum_1\\", 2500000'
sed "s/\"triton_kernel_compile_times_us\": null/\"triton_kernel_compile_times_us\": \"[[$metric]]\"/" "$DATA/simple.log" >triton.log
is "Triton kernels are measured" "$(fxexplain slow --json triton.log | jq -c '[.kernels[] | select(.measured) | [.name, .seconds]]')" \
	'[["triton_red_fused_sum_1",2.5],["triton_poi_fused_add_0",1.5]]'

# ---- equal graphs ----

is "equal graphs of different compilations" "$(fxexplain slow --json "$DATA/caches_cold.log" | jq -c '[.equal_graphs[] | [.compiles, .nodes]]')" '[[["0/0","0/0 (2nd)"],2]]'
like "compiled again after a reset" "$(fxexplain slow --all "$DATA/caches_cold.log")" "torch._dynamo.reset\(\)"

# ---- of a program, and through pt2 ----

cp "$S/one.log" app.log
fxexplain run -q --no-keep --slow -- sh -c 'cp app.log "$TORCH_TRACE/t.log"; echo said' >out 2>err
is "run --slow: the program's output is its own" "$(cat out)" said
like "... and the answer is on standard error" "$(cat err)" "What would help"
exits "--slow conflicts with --bisect" 2 fxexplain run --slow --bisect -- true
export XDG_STATE_HOME=$PWD/state
pt2 slow -- sh -c 'cp app.log "$TORCH_TRACE/t.log"' >out 2>&1
like "pt2 slow -- COMMAND" "$(cat out)" "Compile the repeated block once: layers.0 ... layers.3"
like "the run is kept: the second question costs no compile" "$(pt2 slow last 2>/dev/null)" "By kernel"
like "pt2 slow TRACE" "$(pt2 slow app.log 2>&1)" "fxexplain slow app.log"
exits "no SARIF of times" 2 fxexplain slow --sarif app.log
done_testing
