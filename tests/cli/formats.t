#!/bin/bash
# --format in all tools: text and json as the flags write them; sarif, github and md of any document; what a tool lacks is refused.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

mlp=$DATA/aoti/mlp.pt2 log=$DATA/graph_breaks.log
xz -dc "$ROOT/tests/data/aoti/nan/log.pt2.xz" >log.pt2
unzip -qp "$ROOT/tests/data/aoti/nan/io/log.npz" in0.npy >log.npy
cp "$ROOT/tests/data/crash/checked.txt" .
aoti-printer -q -o dump "$mlp" 'f32[5,8]' && cp log.npy other.npy
cases=( # status, how many findings in SARIF, the command
	"1 2 aoti-checkinputs $mlp f64[100,8]"
	"0 0 aoti-checkinputs $mlp f32[5,8]"
	"1 1 aoti-nanassert log.pt2 log.npy"
	"0 0 aoti-nanassert $mlp f32[5,8]"
	"1 1 aoti-printer --diff dump $mlp f32[6,8]"
	"0 0 aoti-printer $mlp f32[5,8]"
	"0 0 pt2-run $mlp f32[5,8]"
	"1 1 fxexplain crash checked.txt"
	"0 0 fxexplain kernel $mlp"
	"0 7 fxexplain $log"
	"0 7 tlparse $log"
	"1 0 tlparse --diff $log $DATA/recompiles.log"
)
for c in "${cases[@]}"; do
	read -r want n command <<<"$c"
	name=${command//$DATA\//}
	# shellcheck disable=SC2086 # words of a command
	{
		run $command --json && mv out want.json
		exits "$name --format=json" "$want" $command --format=json
		is "the document of --json" "$(jq -S 'keys' out)" "$(jq -S 'keys' want.json)"
		exits "$name --format=sarif" "$want" $command --format=sarif
		is "SARIF with that many results, each with its rule" \
			"$(jq -c '[.version, (.runs[0].results | length), ([.runs[0] | .tool.driver.rules as $r | .results[] | select($r[.ruleIndex].id != .ruleId or (.message.text | length) == 0)] | length)]' out)" \
			"[\"2.1.0\",$n,0]"
		GITHUB_STEP_SUMMARY='' exits "$name --format=github" "$want" $command --format=github
		is "as many annotations" "$(grep -cE '^::(error|warning|notice) .*title=[^:]+::.' out)/$(wc -l <out)" "$n/$n"
		exits "$name --format=md" "$want" $command --format=md
		like "Markdown" "$(cat out)" '^### (aoti-|pt2-run|fxexplain|tlparse)'
	}
done
run aoti-checkinputs --format=md "$mlp" 'f64[100,8]'
# shellcheck disable=SC2016 # Markdown
like "findings as a table" "$(cat out)" '\| error \| input 0: dtype: expected float32, given float64 \| `[^`]*mlp.pt2` \| `.to\(torch.float32\)` \|'
like "figures and lists below" "$(cat out)" '- fits: false.*#### inputs'
run aoti-checkinputs --format=sarif "$mlp" 'f64[100,8]'
like "torch's own words, and the fix" "$(jq -r '.runs[0].results[0].message.text' out)" 'torch: input_handles\[0\]: .*Fix: .to\(torch.float32\)'
exits "--format=text undoes nothing else" 1 aoti-checkinputs --format=text "$mlp" 'f64[100,8]'
like "text" "$(cat out)" '^args\[0\]'
exits "a limit still counts" 1 tlparse --format=md --max graph-breaks=0 "$log"
run fxexplain --format=sarif "$log" && mv out want.json
run fxexplain --sarif "$log"
is "the flags of before write the same" "$(cmp out want.json)" ""

exits "an unknown form" 2 aoti-checkinputs --format=xml "$mlp"
like "the list" "$(cat err)" "must be one of text, json, sarif, github, md, not 'xml'"
exits "fxminify writes text" 2 fxminify --format=sarif x.py
like "the list of one" "$(cat err)" "must be one of text, not 'sarif'"
exits "rules of --json hold" 2 aoti-checkinputs --format=sarif -- true
exits "aoti-printer: of saved tensors" 0 aoti-printer -q --format=npy -o saved "$mlp" 'f32[5,8]'
ok "they are" compgen -G 'saved/*.npy'
exits "pt2-run: of -o" 0 pt2-run --format=safetensors -o x.bin "$mlp" 'f32[5,8]'
exits "... which it needs" 2 pt2-run --format=npy "$mlp" 'f32[5,8]'
exits "pt2 passes it on" 1 pt2 check --format=sarif "$mlp" 'f64[100,8]'
is "... as one document" "$(jq -r '.runs[0].tool.driver.name' out)" aoti-checkinputs
exits "pt2 runs has text and json" 2 pt2 runs --format=sarif
done_testing
