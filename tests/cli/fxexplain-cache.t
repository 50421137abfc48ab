#!/bin/bash
# fxexplain cache and the rows of tlparse --diff about keys: a recorded cache folder and traces of runs that it served, and did not. No torch.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
command -v jq >/dev/null || skip_all "jq is not installed"
tar -xJf "$ROOT/tests/data/cachemiss.tar.xz"
json() { jq -r "$1" out; }
fx=$(find cache/fxgraph -type f) aot=$(find cache/aotautograd -type f)
fresh() { rm -rf c && cp -a cache c && find c -type f -exec touch -d '2 days ago' {} +; }

# ---- what is there ----
exits "a cache directory" 0 fxexplain cache cache
like "files are counted by kind" "$(cat out)" 'fx_graph +1 +81\.8 KB +0 .*aotautograd +1 +75\.1 KB'
like "graphs are named by their operators" "$(cat out)" 'mm, relu, sum, mul +1 '
exits "--json" 0 fxexplain cache cache --json
is "--json has its schema" "$(json .schema)" "pt2utils.cache/1"
is "code files are counted" "$(json '.folders[0].kinds.code.files')" "$(find cache -path 'cache/??/*' -type f | wc -l)"
is "every file is recognised" "$(json '.folders[0].kinds.other.files')" 0
is "keys are listed by cache" "$(json '[.folders[0].keys[] | .cache] | join(" ")')" "aotautograd fx_graph"

# ---- what a run would find ----
exits "--trace of the run that filled it" 0 fxexplain cache cache --trace cold.log
like "both keys would be found" "$(cat out)" 'would find here: 2 of 2'
exits "--trace of a run with another setting" 1 fxexplain cache cache --trace changed.log --json
is "the verdicts" "$(json '[.asked[] | "\(.cache) \(.verdict)"] | join(", ")')" "aotautograd missing, fx_graph missing"
is "the differing component and both values" "$(json '.asked[1].components[] | "\(.name): \(.before) -> \(.after)"')" "inductor_config[max_autotune]: False -> True"
like "AOTAutograd's miss has the same cause" "$(json '.asked[0].why')" 'same cause as for the fx_graph key of this compilation'
exits "two directories" 0 fxexplain cache cache cache
like "equal ones share all keys" "$(cat out)" 'that the first one has: 1 of 1'
mkdir none && exits "an empty directory" 1 fxexplain cache none cache
like "the verdict says that it is empty" "$(cat out)" 'The cache is empty.*there is none to compare with'

# ---- two runs ----
run tlparse --diff warm.log changed.log --json
is "tlparse --diff names the component" "$(json '.logs[0].cache_keys[] | "\(.subject): \(.before) -> \(.after)"')" \
	"fx_graph inductor_config[max_autotune]: False -> True"
run tlparse --diff cold.log warm.log --json
is "a hit has no reason" "$(json '.logs[0].cache_keys | length')" 0
mkdir ranks && cp warm.log ranks/dedicated_log_torch_trace_rank_0_a.log && cp changed.log ranks/dedicated_log_torch_trace_rank_1_b.log
exits "two ranks" 0 tlparse -q --no-browser --all-ranks-html ranks -o ranks.out
like "the page says why one rank missed" "$(cat ranks.out/index.html)" 'inductor_config\[max_autotune\]</code></td><td>False</td><td>True'

# ---- broken entries ----
for how in cut:half-written empty:empty garbage:damaged; do
	fresh
	case $how in
	cut:*) truncate -s 30000 "c/${fx#cache/}" ;;
	empty:*) : >"c/${fx#cache/}" ;;
	*) printf '\x80\x05\xff\xff' | dd of="c/${fx#cache/}" conv=notrunc status=none ;;
	esac
	exits "${how%:*}: status 1" 1 fxexplain cache c --trace cold.log --json
	is "${how%:*}: the state" "$(json '.folders[0].broken[] | .state')" "${how#*:}"
	is "${how%:*}: the verdict" "$(json '[.asked[].verdict] | join(" ")')" "incomplete damaged"
done
# Every length: never whole, never a crash
sizes=0 whole=0
for n in $(seq 1 4111 "$(stat -c %s "$aot")"); do
	fresh
	truncate -s "$n" "c/${aot#cache/}"
	fxexplain cache c --json >out || [ $? = 1 ] || sizes=-1000
	[ "$(json '.folders[0].keys[] | select(.cache == "aotautograd") | .whole')" = 0 ] || whole=1
	sizes=$((sizes + 1))
done
ok "an entry cut at any of $sizes places is reported" test $sizes -gt 10 -a $whole = 0
fresh
printf 'cos\nsystem\n(S"touch harm"\ntR.' >"c/${fx#cache/}"
run fxexplain cache c
ok "a malicious pickle is not executed" test ! -e harm
like "it is reported as broken" "$(cat out)" 'Broken'
mkdir -p c/xx && printf '\x7fELF' >c/xx/cxx2222222222222222222222222222222222222222222222222.so
run fxexplain cache c --json
like "an incomplete library is reported" "$(json '.folders[0].broken[].path')" 'xx/cxx2*\.so'

# ---- prune ----
fresh
truncate -s 100 "c/${fx#cache/}" && touch -d '2 days ago' "c/${fx#cache/}"
: >c/locks/.12.34.tmp && touch -d '2 days ago' c/locks/.12.34.tmp
echo mine >c/notes.txt && touch -d '9 days ago' c/notes.txt
ln -s "$PWD/cold.log" "c/$(dirname "${fx#cache/}")/aaaa222222222222222222222222222222222222222222222222"
find c -type f | sort >before
exits "--prune" 1 fxexplain cache c --prune
like "--prune lists two files" "$(cat out)" 'Could be removed: 2 files'
is "--prune removes nothing" "$(find c -type f | sort)" "$(cat before)"
exits "--prune --apply" 0 fxexplain cache c --prune --apply --json
is "--apply removes the listed files" "$(json '[.prune.files[] | select(.removed) | .why] | sort | join(", ")')" "half-written, left by an interrupted write"
is "--apply removes nothing else" "$(find c -type f | sort)" "$(grep -v -e "${fx##*/}" -e '\.tmp$' before)"
ok "the target of a link is kept" test -s cold.log
exits "--older-than" 0 fxexplain cache c --prune --older-than 1 --apply
is "entries and code are removed; locks and unknown files are kept" "$(find c -type f ! -path 'c/locks/*')" "c/notes.txt"
fresh && touch "c/${fx#cache/}"
run fxexplain cache c --prune --older-than 1 --json
is "recent files are kept" "$(json '[.prune.files[].path] | map(select(startswith("fxgraph"))) | length')" 0
fresh && truncate -s 100 "c/${fx#cache/}"
run fxexplain cache c --prune
like "files that may still be written are kept" "$(cat out)" 'younger than 10 minutes'

# ---- a large one: PT2_LONG=1 makes it 10 GB (libraries without bytes of their own), and the comment says what it took ----
files=$(python3 "$ROOT/tests/lib/bigcache.py" cache big "${PT2_LONG:+10}")
start=$(date +%s%N)
run fxexplain cache big --json --trace changed.log
echo "# $(du -sh --apparent-size big | cut -f1), $files files: $((($(date +%s%N) - start) / 1000000)) ms"
is "every file of a large cache is counted" "$(json '[.folders[0].kinds[] | .files] | add')" "$files"
is "the closest key is found in a large cache" "$(json '[.asked[].components[].name] | join(" ")')" "inductor_config[max_autotune]"
rm -rf big

# ---- vLLM's folders: written as vllm/compilation/backends.py writes them, in its old form and its new ----
factors() { # factors DIR/HASH/RANK JSON
	mkdir -p "$1"
	echo "$2" >"$1/cache_key_factors.json"
}
new() { echo "{\"env\": {\"VLLM_USE_V1\": true, \"VLLM_X\": \"$1\"}, \"config\": {\"model\": {\"dtype\": \"$2\"}, \"sizes\": [1, 2]}, \"config_hash\": \"c$2\", \"code\": [{\"filepath\": \"m.py\", \"sha\": \"1\"}], \"code_hash\": \"d\", \"compiler_hash\": \"e\"}"; }
factors v1/aaaa/rank_0_0/backbone "$(new 1 bfloat16)"
factors v1/aaaa/rank_1_0/backbone "$(new 9 bfloat16)"
factors v2/bbbb/rank_0_0/backbone "$(new 1 float16)"
factors v2/bbbb/rank_2_0/backbone "$(new 1 float16)"
factors v2/aaaa/rank_1_0/backbone "$(new 9 bfloat16)"
exits "vLLM caches with different configurations" 1 fxexplain cache v1 v2 --json
is "its factors are compared rank by rank" \
	"$(json '[.asked[] | "\(.verdict) \(.cache) \(.key) \(.label) \([.components[] | "\(.name) \(.before) \(.after)"] | join("; "))"] | sort | join("\n")')" \
	"$(printf '%s\n' 'hit vllm aaaa rank_1_0/backbone ' 'missing vllm bbbb rank_0_0/backbone config.model.dtype "bfloat16" "float16"' 'missing vllm bbbb rank_2_0/backbone ')"
like "the same as text" "$(fxexplain cache v1 v2)" 'missing +vllm rank_0_0/backbone bbbb.*config\.model\.dtype: "bfloat16" -> "float16".*no folder of this rank'
factors old1/aaaa/rank_0_0 '{"env": {"VLLM_X": "1"}, "config_hash": "a", "compiler_hash": "b", "code_hash": "c"}'
factors old2/bbbb/rank_0_0 '{"env": {"VLLM_X": "2", "VLLM_Y": null}, "config_hash": "a", "compiler_hash": "b", "code_hash": "z"}'
run fxexplain cache old1 old2 --json
is "an old vLLM: variables and hashes" "$(json '[.asked[0].components[] | "\(.name) \(.before) \(.after)"] | join("; ")')" 'env.VLLM_X "1" "2"; code_hash "c" "z"; env.VLLM_Y null null'
for bad in '' '{"env": ' '[1]' '{"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": 1}}}}}}}}}}'; do
	factors old2/bbbb/rank_0_0 "$bad"
	run fxexplain cache old1 old2
	ok "a file with '${bad:0:12}'" test "$status" -le 1
done

# ---- what does not go ----
exits "a missing directory" 3 fxexplain cache missing
exits "a file instead of a directory" 3 fxexplain cache cold.log
exits "--apply without --prune" 2 fxexplain cache cache --apply
exits "--html is rejected" 2 fxexplain cache cache --html
exits "--trace with two directories is rejected" 2 fxexplain cache cache cache --trace cold.log
exits "a missing trace" 3 fxexplain cache cache --trace missing
done_testing
