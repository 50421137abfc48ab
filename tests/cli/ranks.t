#!/bin/bash
# One report over many ranks: a drop-in for the Rust tlparse's, what it says of ranks that part, and of logs that are missing,
# damaged, double, without a rank or of another torch; and that documents of --json give the same page as the logs.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

name() { echo "dedicated_log_torch_trace_rank_$1_${2-x}.log"; }
# page DIR : the landing page as text, a line per row
page() { python3 "$ROOT/tests/lib/page_text.py" "$1/index.html"; }
# sound WHAT DIR [RUST-DIR]
sound() {
	if python3 "$ROOT/tests/lib/compare_ranks.py" "${@:2}" >differences 2>&1; then pass "$1"; else fail "$1" "$(cat differences)"; fi
}
# The page of the merge has no links to folders, nor to the events.
unlinked() {
	sed -E -e 's#<a href="(rank|proc)_[^>]*>([^<]*)</a>#\2#' \
		-e 's#, with every phase: <a href="chromium_events.json">chromium_events.json</a>##' "$1"
}

# ---- the same files and values as the Rust tool's ----
if rust=$("$ROOT/scripts/rust-tlparse" "$BUILD" 2>err); then
	for r in ranks2 ranks4; do
		run "$rust" "$DATA/$r" --all-ranks-html -o "rust_$r" --no-browser
		run tlparse "$DATA/$r" --all-ranks-html -o "ours_$r"
		sound "$r: the files and values of the Rust tool" "ours_$r" "rust_$r"
		run "$rust" "$DATA/$r" --all-ranks-html -o "rustp_$r" --no-browser -p
		run tlparse "$DATA/$r" --all-ranks-html -o "oursp_$r" -p
		sound "$r: the same with -p" "oursp_$r" "rustp_$r"
	done
else
	skip "the files and values of the Rust tool" "$(cat err)"
fi

# ---- what the page says ----
exits "ranks that agree" 0 tlparse --all-ranks-html "$DATA/ranks2" -o two
sound "ranks that agree: links and JSON" two
page two >text
like "ranks that agree: the verdict" "$(cat text)" "All ranks agree"
exits "ranks that diverge" 0 tlparse --all-ranks-html "$DATA/ranks4" -o four
sound "ranks that part: links and JSON" four
page four >text
like "ranks that diverge: the verdict" "$(cat text)" "The ranks do not agree in: captured graphs , compile ids , execution order"
mkdir one_of_five
for i in 0 1 2 3 4; do # rank 3 is another program's
	from=$([ $i = 3 ] && echo "$DATA"/ranks4/*rank_3_* || echo "$DATA"/ranks4/*rank_0_*)
	sed 's/"rank": [0-9]*/"rank": '$i/ "$from" >one_of_five/dedicated_log_torch_trace_rank_${i}_x.log
done
exits "one rank that diverges" 0 tlparse --all-ranks-html one_of_five -o fifth
page fifth >fifth.text
like "... is in the verdict" "$(cat fifth.text)" "The ranks do not agree in: captured graphs \(rank 3 of 5\), compile ids \(rank 3 of 5\)"
mkdir no_lists
for i in 0 1; do cp "$DATA/simple.log" no_lists/dedicated_log_torch_trace_rank_${i}_x.log; done
tlparse --all-ranks-html no_lists -o no_lists.out 2>/dev/null
page no_lists.out >no_lists.text
is "checks without a record are one row" "$(grep -c 'not recorded$' no_lists.text)" 1
like "ranks are grouped by captured graphs" "$(grep '^Captured graphs' text)" "3 groups ranks 0, 2 \| rank 1 \| rank 3"
like "where rank 1 diverges" "$(grep -A1 '^rank 1 diverges from rank 0 (and 1 like it) at event 1$' text)" \
	"Reference: 0/0 compiles reduce .*Here: 0/0 compiles both"
like "where rank 3 diverges" "$(grep -A1 '^rank 3 diverges from rank 0 (and 1 like it) at event 3$' text)" \
	"Reference: 1/0 compiles gather .*Here: 1/0 compiles lonely"
like "both graphs are shown side by side" "$(cat text)" \
	"code: return funcol.all_gather_tensor\(x \* 2, 0, group\).sum\(\) 5 # File: [^ ]* in lonely, code: return torch.cos\(x\) \* 3"
ok "differing lines are marked" grep -q '<td class="del">.*<td class="n">[0-9]*</td><td class="add">' four/index.html
like "the collectives agree" "$(grep '^Collectives' text)" "agree"
ok "a compile id of rank 1 only" grep -qx '1/1 rank 1 ranks 0, 2, 3' text
ok "a compile id of rank 3 only" grep -qx '2/0 rank 3 ranks 0–2' text
ok "the order in which graphs ran" grep -q 'rank 3 0/0 → 1/0 → 2/0' text
like "a straggler" "$(grep '^1/0 lonely' text)" "rank 3$"
like "two ranks have other cache events" "$(cat text)" "ranks 1, 3 diverge from rank 0 .* at cache event 5"
like "differing collectives at one place" "$(cat text)" "1 collectives of the graph ranks 0, 2, 3 \| rank 1"
zcat four/combined_trace.json.gz >trace.json
is "timeline: one process per rank" \
	"$(jq -r '[.traceEvents[]|select(.name=="process_name").args.name]|join(" ")' trace.json)" "rank_0 rank_1 rank_2 rank_3"
is "timeline: one track per compile id" \
	"$(jq -r '[.traceEvents[]|select(.name=="thread_name" and .pid==3).args.name[0:5]]|join(" ")' trace.json)" "[0/0] [1/0] [2/0]"
is "timeline: recompiles are markers" "$(jq -c '[.traceEvents[]|select(.ph=="i")|[.pid,.name]]' trace.json)" '[[1,"recompile"]]'
is "timeline: times are aligned and not negative" "$(jq '[.traceEvents[]|select(.ph=="X").ts]|min >= 0' trace.json)" true
ok "timeline: the file is small" test "$(stat -c %s four/combined_trace.json.gz)" -lt 4000

# ---- documents instead of logs ----
mkdir documents
for log in "$DATA"/ranks4/*.log; do
	tlparse --json "$log" -o "documents/$(basename "$log" .log).json"
done
exits "merging documents" 0 tlparse --all-ranks-html documents/*.json -o merged
unlinked four/index.html >direct.html
ok "the merged page equals the logs' page" cmp direct.html merged/index.html
ok "the merged timeline is equal, too" cmp four/combined_trace.json.gz merged/combined_trace.json.gz
for f in runtime_estimations chromium_trace_with_runtime collective_schedules; do
	ok "the merged $f.json is equal, too" cmp "four/$f.json" "merged/$f.json"
done
sound "merge: no dead links" merged
exits "a directory of documents" 0 tlparse --all-ranks-html documents -o merged2
ok "gives an equal page" cmp merged/index.html merged2/index.html
exits "one document of all logs" 0 tlparse --json "$DATA/ranks4" -o all.json
exits "can be merged, too" 0 tlparse --all-ranks-html all.json -o merged3
ok "and gives an equal page" cmp merged/index.html merged3/index.html
exits "logs and documents together" 0 tlparse --all-ranks-html documents/*rank_[01]_*.json "$DATA"/ranks4/*rank_[23]_*.log -o mixed
sound "logs and documents: no dead links" mixed
is "only logs get directories" "$(cd mixed && echo rank_*)" "rank_2 rank_3"

# ---- missing, damaged, double, without a rank, another torch ----
mkdir bad
cp "$DATA"/ranks4/*.log bad
rm bad/*_rank_1_*
head -c 300000 "$DATA"/ranks4/*_rank_3_* >"bad/$(name 3 fixture3)"
cp "$DATA"/ranks4/*_rank_2_* "bad/$(name 6)"
: >"bad/$(name 5)"
exits "missing, incomplete and empty logs" 0 tlparse --all-ranks-html bad -o bad_out
like "a message for the empty log" "$(cat err)" "rank_5_x.log': the file is empty"
page bad_out >text
like "the page says which could not be read" "$(cat text)" "Rank 5 could not be read"
like "the page says which are missing" "$(cat text)" "No readable log of 3 ranks below the highest: 1, 4–5"
like "the page says which is incomplete" "$(cat text)" "Damaged: rank 3. the log ends inside a record"
like "an incomplete log is not a silent divergence" "$(cat text)" "this log ends .* it is incomplete"
sound "damaged: no dead links" bad_out
is "damaged logs get directories" "$(cd bad_out && echo rank_*)" "rank_0 rank_2 rank_3 rank_6"
exits "--strict fails" 1 tlparse --all-ranks-html --strict bad -o bad_strict
rm bad/*
: >"bad/$(name 0)"
exits "no readable log" 3 tlparse --all-ranks-html bad -o nothing
ok "nothing is written then" test ! -e nothing
first=documents/$(name 0 fixture0)
first=${first%.log}.json
head -c 3000 "$first" >cut.json
exits "an incomplete document among others" 0 tlparse --all-ranks-html cut.json documents/*rank_[12]_*.json -o cut_out
like "a message names it" "$(cat err)" "cut.json"
jq -c '.schema = 9' "$first" >version.json
exits "a document of another version" 3 tlparse --all-ranks-html version.json -o version_out
like "the message says so" "$(cat err)" "another version"
jq -c 'del(.steps)' "$first" >facts.json
exits "a document without facts" 3 tlparse --all-ranks-html facts.json -o facts_out
jq -c '.steps[0].attempt = 99' "$first" >index.json
exits "a document with an invalid index" 3 tlparse --all-ranks-html index.json -o index_out

mkdir twice
cp "$DATA"/ranks2/*_rank_0_* "twice/$(name 0 zz)"
cp "$DATA"/ranks2/*_rank_1_* twice
sed -E 's/^(V1121 )10:/\111:/; s/^(V1121 [0-9:.]+ )[0-9]+ /\1777 /' "$DATA"/ranks2/*_rank_0_* >"twice/$(name 0 aa)"
exits "two logs of one rank" 0 tlparse --all-ranks-html twice -o twice_out
is "each gets its own directory" "$(cd twice_out && echo rank_*)" "rank_0 rank_0_2 rank_1"
like "they are ordered by start time" "$(head -1 twice_out/rank_0_2/raw.log)" "V1121 11:.* 777 "
like "the page says that rank 0 has 2 logs" "$(page twice_out)" "Rank 0 has 2 logs"
is "the second has its own process id in timelines" "$(jq -c '[.[].pid]|unique' twice_out/chromium_events.json)" "[0,1,2000]"
sound "two logs of a rank: no dead links" twice_out

mkdir workers
for pid in 501 502; do
	sed -E "s/\"rank\": 0(, )?//; s/^(V1121 [0-9:.]+ )[0-9]+ /\1$pid /" "$DATA"/ranks2/*_rank_0_* >workers/dedicated_log_torch_trace_$pid.log
done
exits "workers without a rank" 0 tlparse --all-ranks-html workers -o workers_out
is "are called processes" "$(cd workers_out && echo proc_*)" "proc_501 proc_502"
like "their verdict is that they agree" "$(page workers_out)" "All ranks agree"
sound "workers: no dead links" workers_out

mkdir versions
cp "$DATA"/ranks2/*_rank_0_* versions
sed 's/2\.13\.0/2.12.1/g' "$DATA"/ranks2/*_rank_1_* >"versions/$(name 1)"
exits "ranks with different torch versions" 0 tlparse --all-ranks-html versions -o versions_out
like "the page has both versions" "$(page versions_out)" "Different versions of torch: 2.13.0.cpu rank 0 ?; 2.12.1.cpu rank 1"

# ---- hostile and many ----
mkdir hostile
i=0
for f in hostile_names hostile_files hostile_text unknown_keys wrong_types frame_ids nonfinite numbers surrogates deep duplicate_keys \
	utf8_envelope utf8_payload nul two_writers restarts_lost mixed_ranks; do
	cp "$ROOT/tests/data/broken/$f.log" "hostile/$(name $i)"
	i=$((i + 1))
done
exits "hostile logs" 0 tlparse --all-ranks-html hostile -o hostile_out
sound "hostile logs: links and JSON" hostile_out
ok "hostile logs: no markup in the page" bash -c '! grep -E "<(script|img|svg)[^>]*(alert|onerror|onload)" hostile_out/index.html'
ok "hostile logs: no file outside" test "$(find . -maxdepth 1 -name 'hostile*' | wc -l)" = 2
exits "hostile logs as documents" 0 tlparse --json hostile -o hostile.json
exits "hostile documents are merged" 0 tlparse --all-ranks-html hostile.json -o hostile_merged
unlinked hostile_out/index.html >direct.html
ok "hostile logs: the merged page is equal" cmp direct.html hostile_merged/index.html

mkdir many
for ((i = 0; i < 200; i++)); do ln -s "$ROOT/tests/data/broken/no_newline.log" "many/$(name $i)"; done
rm "many/$(name 77)"
cp "$ROOT/tests/data/broken/truncated_line.log" "many/$(name 77)"
exits "200 ranks" 0 tlparse -q --all-ranks-html many -o many_out
is "200 directories" "$(find many_out -maxdepth 1 -name 'rank_*' | wc -l)" 200
page many_out >text
like "200 ranks: the incomplete one is named" "$(cat text)" "Damaged: rank 77 ?\."
sound "200 ranks: no dead links" many_out

# ---- options ----
exits "--json is rejected" 2 tlparse --all-ranks-html --json "$DATA/ranks2"
exits "--latest is rejected" 2 tlparse --all-ranks-html --latest "$DATA/ranks2"
run tlparse --all-ranks-html "$DATA/ranks2" -o two
ok "an existing report is not replaced" test "$status" -ne 0
exits "--overwrite replaces it" 0 tlparse --all-ranks-html --overwrite "$DATA/ranks2" -o two
exits "--overwrite replaces a merge" 0 tlparse --all-ranks-html --overwrite "$DATA/ranks2" -o merged
gzip -c "$DATA"/ranks2/*_rank_0_* >zipped.log.gz
exits "files, some compressed" 0 tlparse --all-ranks-html zipped.log.gz "$DATA"/ranks2/*_rank_1_* -o zip_out
is "the rank comes from the log's records" "$(cd zip_out && echo rank_*)" "rank_0 rank_1"
exits "pipes" 0 tlparse --all-ranks-html <(cat "$DATA"/ranks2/*_rank_0_*) <(cat "$DATA"/ranks2/*_rank_1_*) -o pipe_out
like "pipes are read completely" "$(page pipe_out)" "All ranks agree"
unlike "nothing of them is damaged" "$(page pipe_out)" "Damaged"
exits "--custom-header-html" 0 tlparse --all-ranks-html --custom-header-html='<b>mine</b>' "$DATA/ranks2" -o head_out
ok "the header is in the page" grep -q '<b>mine</b>' head_out/index.html
done_testing
