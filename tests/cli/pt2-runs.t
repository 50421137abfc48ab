#!/bin/bash
# pt2 runs --html: the trend of each frame over kept runs, as a page.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
command -v python3 >/dev/null || skip_all "no python3"

export XDG_STATE_HOME=$TMP/state PT2_PYTHON=python3
cat >'app<b>.py' <<P
import os, shutil
shutil.copy("$DATA/" + open("which").read().strip() + ".log", os.environ["TORCH_TRACE"])
P
exits "no run yet" 0 pt2 runs --html
like "the page says so" "$(cat out)" '<h1>No runs yet</h1>'
for which in recompiles graph_breaks graph_breaks; do
	echo "$which" >which
	pt2 -q 'app<b>.py' >/dev/null 2>&1
done
exits "to a file" 0 pt2 runs --html=runs.html
is "nothing on standard output" "$(cat out)" ""
exits "to standard output" 0 pt2 runs --html
ok "the same page" cmp out runs.html
is "a frame for each that the runs have" "$(grep -c '<tr><td class="name">' runs.html)" "$(pt2 runs --json | jq '.frames | length')"
is "three bars of each measure" "$(grep -o '<rect' runs.html | wc -l)" "$(($(pt2 runs --json | jq '.frames | length') * 9))"
like "a frame's bars say run and value" "$(cat runs.html)" '<title>last~1, 2[0-9-]+ [0-9:]+: 97 ms</title>'
like "a run that did not compile it" "$(cat runs.html)" '<title>last~2, [^<]*: not compiled</title>'
like "what changed since the run before: nothing" "$(grep -o 'graph breaks</div><b>[^/]*/' runs.html)" '<b>8</'
is "the command is text, not markup" "$(grep -c '<b>.py' runs.html)" 0
is "no script" "$(grep -c '<script' runs.html)" 0
is "no style attribute, which its policy forbids" "$(grep -c ' style=' runs.html)" 0
python3 - runs.html <<'P'
import html.parser, sys
class Reader(html.parser.HTMLParser):
    open = []
    def handle_starttag(self, tag, attributes):
        if tag not in ("meta", "link", "br"):
            self.open.append(tag)
    def handle_endtag(self, tag):
        if self.open.pop() != tag:
            sys.exit(1)
r = Reader()
r.feed(open(sys.argv[1]).read())
sys.exit(bool(r.open))
P
is "its tags are closed" $? 0
echo recompiles >which
pt2 -q 'app<b>.py' >/dev/null 2>&1
exits "after a change" 0 pt2 runs --html
like "fewer breaks, more recompiles" "$(cat out)" 'graph breaks</div><b>0</b> <span class="better">-8</span>.*recompiles</div><b>[0-9]+</b> <span class="worse">\+[0-9]+'
exits "a page that cannot be written" 4 pt2 runs --html="$TMP/none/x.html"
exits "two runs compared" 1 pt2 diff last~1 last

# ---- for experiment trackers ----
exits "for mlflow" 0 pt2 runs --export=mlflow
like "what was written, and what reads it" "$(cat out)" "^wrote 4 runs to mlruns.*next  mlflow ui --backend-store-uri mlruns"
is "a run's figure, with its time and step" "$(cat mlruns/*/*/metrics/graph_breaks | awk '{print $2, $3}' | sort | uniq -c | awk '{print $1, $2, $3}' | paste -sd,)" "2 0 0,2 8 0"
is "its command" "$(for f in mlruns/*/*/params/command; do cat "$f" && echo; done | sort -u)" "$(pt2 runs --json | jq -r '.runs[0].command')"
is "its document" "$(cat mlruns/*/*/artifacts/explained.json | jq -s 'length')" 4
like "what it is" "$(cat mlruns/*/*/meta.yaml)" 'artifact_uri: "file:///.*/mlruns/[0-9]+/[0-9a-f]{32}/artifacts".*status: 3'
exits "again" 0 pt2 runs --export=mlflow
like "nothing is new" "$(cat out)" "^wrote 0 runs"
exits "one run for wandb" 0 pt2 runs --export=wandb -o w last
is "is one file" "$(find w -name 'run-*.wandb' | wc -l)" 1
python3 - w/*/*.wandb <<'P' >decoded
import sys, zlib
data = open(sys.argv[1], "rb").read()
assert data[:7] == b":W&B\xe1\xbe\0"
at, kinds = 7, []
def varint(b, i):
    v = s = 0
    while True:
        v |= (b[i] & 127) << s
        i, s = i + 1, s + 7
        if b[i - 1] < 128:
            return v, i
while at < len(data):
    crc, n, kind = int.from_bytes(data[at:at + 4], "little"), int.from_bytes(data[at + 4:at + 6], "little"), data[at + 6]
    body = data[at + 7:at + 7 + n]
    assert kind == 1 and zlib.crc32(body, zlib.crc32(bytes([kind]))) == crc
    at, i = at + 7 + n, 0
    tag, i = varint(body, i)
    number, i = varint(body, i)
    tag, i = varint(body, i)
    size, i = varint(body, i)
    assert i + size == n and number == len(kinds) + 1
    kinds.append(tag >> 3)
print(*kinds)
P
is "its records: header, run, summary, history, exit, final, footer" "$(cat decoded)" "21 17 3 2 18 20 22"
exits "a tracker that nobody knows" 2 pt2 runs --export=who
exits "a folder that cannot be made" 4 pt2 runs --export=mlflow -o runs.html/x
exits "--output alone" 2 pt2 runs -o x
done_testing
