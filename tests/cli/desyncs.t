#!/bin/bash
# Ranks that hang: dumps of the Flight Recorder joined with the ranks' traces. Of real torch (tests/data/flight.tar.xz), of 1,024 ranks with 20
# planted desyncs (tests/lib/desyncs.py; their directory with PT2_LONG=1), and pickles that were made to harm.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
tar -xJf "$ROOT/tests/data/flight.tar.xz"
said="rank 2 recompiled 0/1 because tensor 'x' size mismatch at index 0. expected 16, actual 17 and missed collective 4 (all_reduce, 65.5 KB)"
for v in v213 v215; do
	exits "$v: --json" 0 tlparse --json "$v" -o $v.json
	is "$v: rank, collective and guard are named" "$(jq -r '.collectives.desyncs[].culprits[].text' $v.json)" "$said"
	is "$v: which ranks wait, and where" "$(jq -c '.collectives.desyncs[]|[.waiting, .kind, .place]' $v.json | sed 's/:[0-9]* in/: in/')" \
		'[[0,1],"missed","/home/user/app/flight.py: in work"]'
	exits "$v: the page of all ranks" 0 tlparse --all-ranks-html "$v" -o out_$v
	like "$v: the page says it" "$(python3 "$ROOT/tests/lib/page_text.py" out_$v/index.html)" "actual 17 and missed collective 4 \(all_reduce, 65.5 KB\)"
	is "$v: collectives.json is equal" "$(jq -c .collectives out_$v/collectives.json)" "$(jq -c .collectives $v.json)"
	exits "$v: the single page" 0 tlparse --html=$v.html "$v"
	like "$v: the single page says it, too" "$(sed -n '/<template id="ranks">/,/<\/template>/p' $v.html)" "missed collective 4 \(all_reduce"
done
mkdir plain && cp v213/*.json plain
exits "JSON dumps without a trace" 0 tlparse --json plain -o plain.json
is "rank and collective are named, without a reason" "$(jq -r '.collectives.desyncs[].culprits[].text' plain.json)" \
	"rank 2 missed collective 4 (all_reduce, 65.5 KB)"
exits "dumps alone as a page" 0 tlparse --all-ranks-html v213/fr_trace_rank_* -o alone
like "the page says it" "$(python3 "$ROOT/tests/lib/page_text.py" alone/index.html)" "rank 2 missed collective 4"
exits "a rank without a dump" 0 tlparse --json v213/fr_trace_rank_[01] v213/*.log -o two.json
is "it is not blamed: gloo does not record membership" "$(jq -c '.collectives.desyncs[]|[.kind, .waiting, .culprits]' two.json)" '["no_end",[0,1],[]]'
exits "without a dump" 0 tlparse --json v213/*.log -o none.json
is "there is no collectives member" "$(jq 'has("collectives")' none.json)" false
exits "a dump with -o is rejected" 2 tlparse -o dir v213/fr_trace_rank_0 v213/*.log
like "the message suggests --all-ranks-html" "$(cat err)" "is a Flight Recorder dump: it needs --all-ranks-html"
exits "dumps with --diff are rejected" 2 tlparse --diff v213/fr_trace_rank_0 v213/fr_trace_rank_1

# ---- many ranks ----
python3 "$ROOT/tests/lib/desyncs.py" many 1024 20 >planted.tsv
exits "1,024 ranks" 0 tlparse --json many -o many.json
is "rank, collective and guard of every desync" "$(python3 "$ROOT/tests/lib/desyncs.py" --check planted.tsv many.json 2>&1)" "20 of 20 named, 0 others"
if [ "${PT2_LONG-}" = 1 ]; then
	exits "1,024 ranks as a directory" 0 tlparse --all-ranks-html many -o many_out
	is "its collectives.json is equal" "$(jq -c .collectives many.json | md5sum)" "$(jq -c .collectives many_out/collectives.json | md5sum)"
fi
is "waits that follow from others are listed last" "$(jq -c '[.collectives.desyncs[]|select(.cause != null)|.group]' many.json)" '["0"]'

# ---- foreign and harmful ----
mkdir bad && cp v213/fr_trace_rank_[01] bad
python3 - <<'P'
import os, pickle
class Harm:
    def __reduce__(self): return os.system, ("touch harmed",)
open("bad/fr_trace_rank_2", "wb").write(pickle.dumps({"entries": [Harm()], "pg_config": {}}, 2))
open("os_3", "wb").write(pickle.dumps(Harm(), 4))
open("list_4", "wb").write(pickle.dumps([1, 2], 2))
open("deep_5", "wb").write(b"\x80\x02" + b"(" * 100000 + b".")
open("noname", "wb").write(open("v213/fr_trace_rank_0", "rb").read())
d = pickle.load(open("v213/fr_trace_rank_0", "rb"))
d["entries"][0]["profiling_name"] = "gloo:<script>alert(1)</script>\x1b[31m"
d["entries"][1]["input_sizes"] = [[-1, 1 << 62, 1 << 62]]
d["entries"][2]["collective_seq_id"] = -5
d["entries"][3] = 7
open("odd_0", "wb").write(pickle.dumps(d, 2))
P
exits "a malicious pickle among others" 0 tlparse --all-ranks-html bad -o bad_out
like "it is rejected by name" "$(cat err)" "bad/fr_trace_rank_2': .*(posix|os).* is refused|bad/fr_trace_rank_2': .*refuses.*system"
ok "it was not executed" test ! -e harmed
exits "a malicious pickle alone" 3 tlparse --json os_3
like "the message names the function" "$(cat err)" "system"
exits "another pickle" 3 tlparse --json list_4
like "the message says that it is not a dump" "$(cat err)" "not a Flight Recorder dump"
exits "a deeply nested pickle" 3 tlparse --json deep_5
head -c 900 v213/fr_trace_rank_0 >cut_0
exits "an incomplete pickle" 3 tlparse --json cut_0
like "the message says so" "$(cat err)" "truncated"
exits "invalid values" 0 tlparse --all-ranks-html odd_0 v213/fr_trace_rank_1 -o odd_out
ok "names are escaped" test "$(grep -c '<script>alert' odd_out/index.html)" = 0
done_testing
