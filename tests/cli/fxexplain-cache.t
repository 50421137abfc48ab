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
exits "a folder" 0 fxexplain cache cache
like "kinds" "$(cat out)" 'fx_graph +1 +81\.8 KB +0 .*aotautograd +1 +75\.1 KB'
like "graphs by what they call" "$(cat out)" 'mm, relu, sum, mul +1 '
exits "as JSON" 0 fxexplain cache cache --json
is "a schema" "$(json .schema)" "pt2utils.cache/1"
is "code" "$(json '.folders[0].kinds.code.files')" "$(find cache -path 'cache/??/*' -type f | wc -l)"
is "nothing is unknown" "$(json '.folders[0].kinds.other.files')" 0
is "keys" "$(json '[.folders[0].keys[] | .cache] | join(" ")')" "aotautograd fx_graph"

# ---- what a run would find ----
exits "the run that filled it" 0 fxexplain cache cache --trace cold.log
like "would be served" "$(cat out)" 'would find here: 2 of 2'
exits "another setting" 1 fxexplain cache cache --trace changed.log --json
is "verdicts" "$(json '[.asked[] | "\(.cache) \(.verdict)"] | join(", ")')" "aotautograd missing, fx_graph missing"
is "the component, with both values" "$(json '.asked[1].components[] | "\(.name): \(.before) -> \(.after)"')" "inductor_config[max_autotune]: False -> True"
like "AOTAutograd's is that, too" "$(json '.asked[0].why')" 'same cause as for the fx_graph key of this compilation'
exits "two folders" 0 fxexplain cache cache cache
like "that are the same" "$(cat out)" 'that the first one has: 1 of 1'
mkdir none && exits "one that is empty" 1 fxexplain cache none cache
like "says so" "$(cat out)" 'The cache is empty.*there is none to compare with'

# ---- two runs ----
run tlparse --diff warm.log changed.log --json
is "--diff names the component" "$(json '.logs[0].cache_keys[] | "\(.subject): \(.before) -> \(.after)"')" \
	"fx_graph inductor_config[max_autotune]: False -> True"
run tlparse --diff cold.log warm.log --json
is "a hit needs no reason" "$(json '.logs[0].cache_keys | length')" 0
mkdir ranks && cp warm.log ranks/dedicated_log_torch_trace_rank_0_a.log && cp changed.log ranks/dedicated_log_torch_trace_rank_1_b.log
exits "two ranks" 0 tlparse -q --no-browser --all-ranks-html ranks -o ranks.out
like "of which one missed: why" "$(cat ranks.out/index.html)" 'inductor_config\[max_autotune\]</code></td><td>False</td><td>True'

# ---- broken entries ----
for how in cut:half-written empty:empty garbage:damaged; do
	fresh
	case $how in
	cut:*) truncate -s 30000 "c/${fx#cache/}" ;;
	empty:*) : >"c/${fx#cache/}" ;;
	*) printf '\x80\x05\xff\xff' | dd of="c/${fx#cache/}" conv=notrunc status=none ;;
	esac
	exits "${how%:*}: found" 1 fxexplain cache c --trace cold.log --json
	is "${how%:*}: told" "$(json '.folders[0].broken[] | .state')" "${how#*:}"
	is "${how%:*}: what of it" "$(json '[.asked[].verdict] | join(" ")')" "incomplete damaged"
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
ok "cut at $sizes places: told each time" test $sizes -gt 10 -a $whole = 0
fresh
printf 'cos\nsystem\n(S"touch harm"\ntR.' >"c/${fx#cache/}"
run fxexplain cache c
ok "a pickle that would harm is not run" test ! -e harm
like "and is named" "$(cat out)" 'Broken'
mkdir -p c/xx && printf '\x7fELF' >c/xx/cxx2222222222222222222222222222222222222222222222222.so
run fxexplain cache c --json
like "a library that breaks off" "$(json '.folders[0].broken[].path')" 'xx/cxx2*\.so'

# ---- prune ----
fresh
truncate -s 100 "c/${fx#cache/}" && touch -d '2 days ago' "c/${fx#cache/}"
: >c/locks/.12.34.tmp && touch -d '2 days ago' c/locks/.12.34.tmp
echo mine >c/notes.txt && touch -d '9 days ago' c/notes.txt
ln -s "$PWD/cold.log" "c/$(dirname "${fx#cache/}")/aaaa222222222222222222222222222222222222222222222222"
find c -type f | sort >before
exits "--prune shows" 1 fxexplain cache c --prune
like "two files" "$(cat out)" 'Could be removed: 2 files'
is "and removes nothing" "$(find c -type f | sort)" "$(cat before)"
exits "--apply" 0 fxexplain cache c --prune --apply --json
is "removes these" "$(json '[.prune.files[] | select(.removed) | .why] | sort | join(", ")')" "half-written, left by an interrupted write"
is "and nothing else" "$(find c -type f | sort)" "$(grep -v -e "${fx##*/}" -e '\.tmp$' before)"
ok "what a link leads to stays" test -s cold.log
exits "--older-than" 0 fxexplain cache c --prune --older-than 1 --apply
is "entries and code are gone, what is not recognised and locks stay" "$(find c -type f ! -path 'c/locks/*')" "c/notes.txt"
fresh && touch "c/${fx#cache/}"
run fxexplain cache c --prune --older-than 1 --json
is "what is young stays" "$(json '[.prune.files[].path] | map(select(startswith("fxgraph"))) | length')" 0
fresh && truncate -s 100 "c/${fx#cache/}"
run fxexplain cache c --prune
like "what may be being written stays" "$(cat out)" 'younger than 10 minutes'

# ---- a large one: PT2_LONG=1 makes it 10 GB (libraries without bytes of their own), and the comment says what it took ----
files=$(python3 "$ROOT/tests/lib/bigcache.py" cache big "${PT2_LONG:+10}")
start=$(date +%s%N)
run fxexplain cache big --json --trace changed.log
echo "# $(du -sh --apparent-size big | cut -f1), $files files: $((($(date +%s%N) - start) / 1000000)) ms"
is "a large one: every file is counted" "$(json '[.folders[0].kinds[] | .files] | add')" "$files"
is "and the nearest found" "$(json '[.asked[].components[].name] | join(" ")')" "inductor_config[max_autotune]"
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
exits "vLLM: another configuration" 1 fxexplain cache v1 v2 --json
is "what its folders were made for is compared, those of one rank with each other" \
	"$(json '[.asked[] | "\(.verdict) \(.cache) \(.key) \(.label) \([.components[] | "\(.name) \(.before) \(.after)"] | join("; "))"] | sort | join("\n")')" \
	"$(printf '%s\n' 'hit vllm aaaa rank_1_0/backbone ' 'missing vllm bbbb rank_0_0/backbone config.model.dtype "bfloat16" "float16"' 'missing vllm bbbb rank_2_0/backbone ')"
like "and for a person" "$(fxexplain cache v1 v2)" 'missing +vllm rank_0_0/backbone bbbb.*config\.model\.dtype: "bfloat16" -> "float16".*no folder of this rank'
factors old1/aaaa/rank_0_0 '{"env": {"VLLM_X": "1"}, "config_hash": "a", "compiler_hash": "b", "code_hash": "c"}'
factors old2/bbbb/rank_0_0 '{"env": {"VLLM_X": "2", "VLLM_Y": null}, "config_hash": "a", "compiler_hash": "b", "code_hash": "z"}'
run fxexplain cache old1 old2 --json
is "the old form: variables, and hashes" "$(json '[.asked[0].components[] | "\(.name) \(.before) \(.after)"] | join("; ")')" 'env.VLLM_X "1" "2"; code_hash "c" "z"; env.VLLM_Y null null'
for bad in '' '{"env": ' '[1]' '{"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": 1}}}}}}}}}}'; do
	factors old2/bbbb/rank_0_0 "$bad"
	run fxexplain cache old1 old2
	ok "a file that says '${bad:0:12}'" test "$status" -le 1
done

# ---- what does not go ----
exits "no folder" 3 fxexplain cache missing
exits "a file" 3 fxexplain cache cold.log
exits "--apply alone" 2 fxexplain cache cache --apply
exits "--html" 2 fxexplain cache cache --html
exits "a trace and a folder" 2 fxexplain cache cache cache --trace cold.log
exits "a trace that is not there" 3 fxexplain cache cache --trace missing
done_testing
