#!/bin/bash
# What fxexplain says of programs with one problem each, as recorded (tests/data/causes): every line of tests/live/causes.tsv, for each release.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
live=$ROOT/tests/live
for archive in "$ROOT"/tests/data/causes/*.tar.xz; do
	release=$(basename "$archive" .tar.xz)
	release=${release%%-*}
	mkdir -p "$release"
	tar -xJf "$archive" -C "$release"
done
every=1 # program
[ "${FULL-1}" = 0 ] && every=3
some() { printf '%s\n' "$@" | awk -v n=$every 'NR % n == 0'; }
for release in v*; do
	# shellcheck disable=SC2046 # names of programs
	tap_of "$release: " python3 "$ROOT/tests/lib/causes.py" "$release" "$live/causes.tsv" $(some "$release"/*/ | xargs -n 1 basename)
done

# ---- how it is shown ----
of() { fxexplain "v215/$1/trace" "v215/$1/stderr"; }
like "the summary precedes details" "$(fxexplain v215/fsdp2/trace)" 'nothing was compiled: everything runs in eager mode'
like "a forward is named by its class" "$(fxexplain v213/new_step_cache/trace)" 'forward of new_step_cache\.py:[0-9]+ permanently falls back to eager'
is "code in which the program died is not said to run in eager" "$(for p in v21*/{attribute_error,more_unpack,more_grad_vector,late_vmap_random,new_no_group}; do fxexplain "$p/trace" "$p/stderr"; done 2>err | grep -c 'permanently fall')" 0
like "the user's line precedes the package's" "$(fxexplain v215/hf_gpt2/trace)" 'hf_gpt2\.py:12 in run, through transformers/utils/generic\.py:[0-9]+'
like "an untested change is a hint" "$(of prints; fxexplain --all v215/loggers/trace)" 'hint +torch\._dynamo\.config\.reorderable_logging'
like "torch's own hint is marked as torch's" "$(fxexplain --all v215/prints/trace)" 'torch +Avoid calling builtin'
like "a crash suggests fxexplain crash" "$(of aoti_segv)" 'next +fxexplain crash CORE MODEL\.pt2'
is "seconds of an AOTInductor model are in the headline" "$(fxexplain v215/aoti_good/trace | grep -cE '^compiled by AOTInductor in [0-9]')" 1
is "the verdict is what ended the program" "$(fxexplain --json v215/b_caught_then_dies/trace v215/b_caught_then_dies/stderr | jq -r '.findings[0].title')" "KeyError: 'rate'"
like "titles have the cause" "$(of prints; of many_recompiles; of numpy_c; fxexplain v215/b_early_exit/trace)" \
	'builtin operator: print.*of model: size of x at dim 0: 4 -> 6, .*as skipped: zlib\.crc32.*branching: if x\.abs\(\)\.max\(\) < 0\.1:'
is "the headline precedes numbers" "$(fxexplain v215/fsdp2/trace | sed -n 2p)" 'nothing was compiled: everything runs in eager mode'
is "one dynamic size is a note, a changing one is not" \
	"$(for p in b_vit_batch hf_bert; do fxexplain --json v215/$p/trace; done | jq -r '.findings[]|select(.kind=="recompile")|.level+" "+.cause')" \
	"$(printf '%s\n' 'warning size of images at dim 0: 8 -> 3, no longer true: 2 <= images.size()[0]' 'note size of input_ids at dim 1: 5 -> 7' 'note size of output at dim 1: 5 -> 7')"
is "no text says that one line is left out" "$(for p in v21*/*/; do fxexplain "$p/trace" 2>err; done | grep -c '(1 more line')" 0

# ---- the order: docs/formats/EXPLAIN.md ----
many=()
for p in hf_bert prints loggers disabled deepcopy numpy_c time_inside b_config_flag many_recompiles moe key_error; do many+=("v215/$p/trace"); done
fxexplain --json "${many[@]}" >doc 2>err
order='(.findings|map([.kind != "failure", ({error:0,warning:1,note:2}[.level]), (.in_python|not), -((.seconds // 0) + (.call_us // 0) / 10)]))'
is "order of findings: failures, levels, eager code, compile time" "$(jq -c "$order == ($order|sort)" doc)" true
is "eager code outranks compile time alone" "$(jq -c '[.findings[]|select(.level=="warning" and (.in_python|not))|.seconds]|. == (sort|reverse)' doc)" false
is "the order of logs makes no difference" "$(jq -c '[.findings[].title]' doc)" \
	"$(printf '%s\n' "${many[@]}" | tac | xargs fxexplain --json 2>err | jq -c '[.findings[].title]')"

# A terminal of 24 rows has all titles of 12 findings, a line each.
if command -v script >/dev/null; then
	many=()
	for p in hf_bert prints loggers disabled deepcopy numpy_c; do many+=("v215/$p/trace"); done
	want=$(fxexplain --json "${many[@]}" 2>err | jq '.findings | length')
	TERM=dumb script -qec "stty rows 24 cols 80; fxexplain ${many[*]}" /dev/null 2>&1 </dev/null | tr -d '\r' | head -n 24 >page
	is "all titles fit on 80x24" "$(grep -cE '^(error|warn|note) ' page) $(grep -cE '^(error|warn|note) .{76}' page)" "$want 0"
	ok "there are at least twelve" [ "$want" -ge 12 ]
	like "they have their causes, even when shortened" "$(cat page)" 'as skipped: zlib\.crc32.*\.\.\.: size of input_ids at dim 1: 5 -> 7'
	TERM=dumb script -qec "stty rows 24 cols 80; fxexplain v215/hf_bert/trace" /dev/null 2>&1 </dev/null | tr -d '\r' >page
	is "the first of seven findings has its fix" "$(grep -c '^  fix ' page) $([ "$(wc -l <page)" -le 23 ] && echo on a screen)" "1 on a screen"
else
	skip "all titles on 80x24" "there is no script(1)"
fi

# ---- the directory of each ----
bad=
for log in $(some v2*/*/trace/*.log); do
	rm -rf directory
	tlparse -o directory "$log" >/dev/null 2>err && [ -s directory/index.html ] || bad+=" $log"
done
is "tlparse -o works for every one" "$bad" ""
done_testing
