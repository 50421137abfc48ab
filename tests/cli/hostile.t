#!/bin/bash
# Names and texts of a log that want out of the report's directory or into its HTML.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
export PYTHONPATH=$ROOT/tests/lib PYTHONDONTWRITEBYTECODE=1
broken=$ROOT/tests/data/broken
mkdir -p box/a/b/c/work target
python3 "$ROOT/tests/lib/hostile.py" "$TMP/target" >hostile.log
work=$TMP/box/a/b/c/work
outside() { find box target -name 'out_*' ! -name '*.tmp.*' -prune -o -printf '%p %y\n' | LC_ALL=C sort; }
before=$(outside)

# ---- the directory ----
for log in hostile.log "$broken"/hostile_*.log; do
	name=$(basename "$log" .log)
	for p in "" -p; do
		log=$(realpath "$log")
		(cd "$work" && timeout 60 tlparse "$log" -o "out_$name$p" $p) >out 2>err
		is "$name $p: a report" "$?" 0
		is "$name $p: nothing is written outside" "$(diff <(echo "$before") <(outside))" ""
		run python3 "$ROOT/tests/lib/check_pages.py" "$work/out_$name$p"
		if [ "$status" = 0 ]; then
			pass "$name $p: no markup of the log's, each link leads somewhere ($(cat out))"
		else
			fail "$name $p: no markup of the log's, each link leads somewhere" "$(cat out)"
		fi
		is "$name $p: compile_directory.json is valid JSON" "$(python3 -c 'import report, sys; print(type(report.strict(open(sys.argv[1], "rb").read().decode())).__name__)' \
			"$work/out_$name$p/compile_directory.json" 2>&1)" dict
		is "$name $p: raw.jsonl has one JSON document per line" "$(python3 -c '
import json, sys
for line in open(sys.argv[1], "rb"): json.loads(line.decode())' "$work/out_$name$p/raw.jsonl" 2>&1)" ""
		is "$name $p: directories and regular files only" "$(find "$work/out_$name$p" ! -type d ! -type f)" ""
	done
done
cd "$work/out_hostile" || exit 4
ok "index.html is the report's own" grep -q "What happened in this compilation" index.html
is "raw.log equals the log" "$(cmp raw.log "$TMP/hostile.log" 2>&1)" ""
ok "the style sheet is ours" cmp -s assets/tlparse.css "$ROOT/share/dir/tlparse.css"
is "equal names with different numbers are all kept" "$(find ./-_0_0_0 -maxdepth 1 -regex '.*/same_[0-9]*.json' | wc -l)" "$(grep -c '"name": "same", "encoding": "json"' raw.log)"
is "two very long equal names are both kept" "$(find ./-_0_0_0 -maxdepth 1 -name 'nnnn*.json' | wc -l)" 1
ok "a directory is not mistaken for a file" test -d ./-_0_0_0/same.html_
cd "$TMP" || exit 4

# ---- the single file ----
page='
import re, report, sys
p = report.Page(open(sys.argv[1], "rb").read())
draws = lambda q: "const pt2graph = " in q.text # a page without a graph has no script that draws one
plain = [report.Page(open(f, "rb").read()) for f in sys.argv[2:]]
plain = next(q for q in plain if draws(q) == draws(p))
model = re.search(r"""id="model">(.*?)</script>""", p.text, re.S)[1]
assert "<" not in model, "markup in the model: " + model[model.index("<"):][:100]
ranks = re.search(r"""<template id="ranks">.*?</template>\n?""", p.text, re.S)
if ranks:  # of several logs: the comparison, HTML from C
    assert "<script>alert" not in ranks[0], "markup of a log in the comparison"
    import html.parser
    class Attributes(html.parser.HTMLParser):
        def handle_starttag(self, tag, attrs):
            assert not any(k.startswith("on") or (v or "").lower().startswith(("javascript:", "data:")) for k, v in attrs), (tag, attrs)
    Attributes().feed(ranks[0])
    p.text = p.text.replace(ranks[0], "")
bare = lambda text: re.sub(r"""<script type="text/plain" id="[pmer]\d+">[A-Za-z0-9+/=]*</script>\n""", "", re.sub(r"""id="model">[^<]*<""", "", text))
assert bare(p.text) == bare(plain.text), "more than model and blocks differ"
for kind in "mer":
    for line in p.lines(kind):
        text = line.decode(errors="strict" if kind == "r" else "replace")
        if kind == "m":
            report.json.loads(text)
        elif kind == "r":
            head, _, rest = text.partition("\t")
            assert len(head.split(",")) >= 4 and head.split(",")[2].isdigit(), head
            report.json.loads(rest.split("\t")[0])
for log in p.model["logs"]:
    n = len(log["artifacts"]["line"])
    assert all(len(c) == n for c in log["artifacts"].values())
    assert all(len(p.payload(log, i)) == log["artifacts"]["size"][i] for i in range(n))
    assert all(isinstance(k, str) for k in log["artifacts"]["name"])
'
run tlparse "$DATA/simple.log"
mv out plain.html
head -n 1 "$DATA/simple.log" >bare.log
run tlparse bare.log
mv out bare.html
for log in hostile.log "$broken"/{hostile_names,hostile_files,hostile_text,surrogates,nul,utf8_envelope,utf8_payload,nonfinite,wrong_types}.log "$DATA/compiled_autograd.log"; do
	run timeout 60 tlparse "$log"
	mv out page.html
	is "$(basename "$log"): the page is the frame, a model and blocks" "$status $(python3 -c "$page" page.html plain.html bare.html 2>&1 | tail -n 3)" "0 "
	run timeout 60 tlparse --json "$log"
	is "$(basename "$log"): --json is JSON" "$status $(python3 -c 'import report; report.strict(open("out", "rb").read().decode())' 2>&1 | tail -n 1)" "0 "
done

# ---- names of logs ----
mkdir logs
for name in '<script>alert(1)<.log' $'new\nline.log' '"quoted".log' 'a%2e%23#?.log' "$(printf 'bad\xff.log')" '-dash.log' 'a b.log' 'assets.log' 'index.html' 'assets'; do
	cp "$broken/no_newline.log" "logs/$name"
done
cp "$broken/no_newline.log" ..log
run tlparse logs ..log -o named
is "logs with unusual names" "$status $(cat err)" "0 "
is "... get one directory each" "$(find named -mindepth 2 -maxdepth 2 -name raw.log | tr -dc '\n' | wc -l)" "$(find logs ..log -type f -printf 'x\n' | wc -l)"
run python3 "$ROOT/tests/lib/check_pages.py" named
is "... are all linked" "$status $(cat out)" "0 $(find named -name '*.html' -printf 'x\n' | wc -l) pages $(sed 's/.* pages //' out)"
run tlparse logs
mv out page.html
is "... as a page" "$status $(python3 -c "$page" page.html plain.html bare.html 2>&1 | tail -n 3)" "0 "
run tlparse --json logs
is "... as a document" "$status $(python3 -c 'import report; print(len(report.strict(open("out", "rb").read().decode())["logs"]))' 2>&1)" "0 $(find logs -type f -printf 'x\n' | wc -l)"
cp "$broken/truncated_line.log" $'logs/esc\x1b[31m\n.log'
run tlparse --json $'logs/esc\x1b[31m\n.log'
is "messages show control bytes as ?" "$status $(wc -l <err) $(LC_ALL=C tr -d '[:print:]\n' <err | wc -c)" "0 1 0"
run tlparse --json -v $'logs/esc\x1b[31m\n.log'
is "... so does the summary" "$(LC_ALL=C tr -d '[:print:]\n' <err | wc -c)" 0
run tlparse -v --json hostile.log
is "... so do keys and versions" "$(LC_ALL=C tr -d '[:print:]\n' <err | LC_ALL=C tr -d '\200-\377' | wc -c)" 0
done_testing
