#!/bin/bash
# Damaged logs: what can be read is in the report, under a word that says what was lost and where.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
broken=$ROOT/tests/data/broken
export PYTHONPATH=$ROOT/tests/lib PYTHONDONTWRITEBYTECODE=1
sanitized=$(grep -qa __asan_init "$BUILD/bin/tlparse" && echo yes)

# ---- each broken log: what is read, and what is said (counted by hand in the files) ----
# name | records artifacts | kind:how many:first line ... ; empty.log is in inputs.t
table='
bad_envelope        | 26 16 | orphan_payload:19:73 bad_json:3:72
bad_md5             | 29 19 | bad_md5:3:483
blank_lines         | 26 16 |
crlf                | 26 16 |
deep                | 33 21 | malformed:2:493
duplicate_keys      | 32 20 | bad_json:1:485 malformed:2:483
frame_ids           | 73 63 |
hostile_files       | 77 60 | bad_md5:14:496 unsafe_name:11:483
hostile_names       | 62 52 | unsafe_name:13:483
hostile_text        | 34 20 |
legacy              | 32 22 |
long_lines          | 29 19 |
mixed_ranks         | 26 6  | other_rank:8:19
new_year            | 26 16 |
no_newline          | 26 16 |
noise               | 26 16 | not_a_record:26:13
nonfinite           | 31 19 | malformed:1:491
nul                 | 29 19 | not_a_record:1:489 unsafe_name:1:486
numbers             | 73 61 | bad_json:7:545 malformed:2:506
out_of_order        | 39 17 |
payload_mismatch    | 30 20 | orphan_payload:2:484 bad_md5:1:486
rank_prefix         | 26 16 |
restarts_lost       | 36 14 |
scheduler_prefix    | 26 16 |
starts_in_payload   | 14 14 | orphan_payload:9:1
str_again           | 29 16 |
str_holes           | 26 16 |
surrogates          | 50 37 | bad_json:4:506 malformed:3:485 not_utf8:6:513 unsafe_name:4:497
truncated_line      | 25 15 | truncated:1:482
truncated_payload   | 23 13 | truncated:1:333
two_writers         | 52 32 | bad_md5:8:69
unknown_keys        | 33 17 | malformed:1:493 bad_encoding:1:490
utf8_envelope       | 27 17 | not_utf8:1:483
utf8_payload        | 26 16 | not_utf8:1:62
wrong_types         | 60 19 | orphan_payload:4:538 malformed:25:483
year_prefix         | 26 16 |
'
# What documents, pages and folders say, a line each: NAME=of the document=of the page, and "bad" where something is no JSON.
facts='
import json, report, sys
def strict(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f, parse_constant=lambda c: 1 / 0)
def said(doc):
    return "%d | %d | %s" % (doc["summary"]["records"], doc["summary"]["artifacts"], " ".join("%s:%d:%d" % (d["kind"], d["count"], d["line"]) for d in doc["damage"]))
for name in sys.argv[1:]:
    line = [name]
    try:
        line.append(said(strict(name + ".json")))
        p = report.Page(open(name + ".html", "rb").read())
        log = p.model["logs"][0]
        n = len(log["artifacts"]["line"])
        for i in range(n):
            assert len(p.payload(log, i)) == log["artifacts"]["size"][i], "artifact %d is cut" % i
        assert n == log["summary"]["artifacts"], n
        line.append(said(p.model))
        for part in ("compile_directory", "chromium_events"):
            strict(name + "/" + part + ".json")
    except Exception as e:
        line.append("bad: %r" % e)
    print("=".join(line))
'
names=() rows=() ended=()
while IFS='|' read -r name counts damage; do
	name=${name%% *}
	[ -n "$name" ] || continue
	names+=("$name")
	read -r records artifacts <<<"$counts"
	read -r -a want <<<"$damage"
	rows+=("$records | $artifacts | ${want[*]}")
	log=$broken/$name.log
	timeout 20 tlparse --json "$log" >"$name.json" 2>err
	status=$?
	is "$name: one warning if something is lost" "$(wc -l <err)" "$((${#want[@]} > 0))"
	timeout 20 tlparse --html "$log" >"$name.html" 2>err
	status+=" $?"
	timeout 20 tlparse "$log" -o "$name" >out 2>err
	ended+=("$status $?")
	told=$(grep -o '<li>line [0-9]*[^<]*([0-9]*)</li>' "$name/index.html" | sed 's/<li>line \([0-9]*\).*(\([0-9]*\))<.*/\2:\1/' | tr '\n' ' ')
	is "$name, -o: the index lists what was lost" "$told" "$(for d in "${want[@]}"; do printf '%s ' "${d#*:}"; done)"
	is "$name, -o: raw.log equals the log" "$(cmp "$log" "$name/raw.log" 2>&1)" ""
done <<<"$table"
mapfile -t got < <(python3 -c "$facts" "${names[@]}" 2>&1)
for i in "${!names[@]}"; do
	is "${names[i]}: --json, --html and the JSON of -o agree" "${ended[i]} ${got[i]}" "0 0 0 ${names[i]}=${rows[i]}=${rows[i]}"
done
listed=${#names[@]}
is "every broken log is in the table" "$listed" "$(($(find "$broken" -name '*.log' | wc -l) - 1))"

# ---- what is kept ----
ok "a payload with a wrong hash is shown" grep -rqx text bad_md5/-_0_0_0/wrong_16.txt
ok "a truncated payload is shown" grep -q "^import torch" truncated_payload/payloads/*.txt
is "invalid UTF-8 is kept in text files" "$(grep -c $'s\xffn' utf8_payload/-_0_0_0/dynamo_output_graph_1.txt)" 1
ok "invalid UTF-8 does not hide the artifact" test -e "$(printf 'utf8_envelope/-_0_0_0/caf\xff_16.txt')"
is "payloads with NUL bytes are complete" "$(md5sum <nul/-_0_0_0/nul_in_payload_16.txt)" "$(printf 'a\0b\n\0' | md5sum)"
ok "records after raw NUL bytes are read" test -s nul/-_0_0_0/after_nul_18.txt
run tlparse --json "$broken/crlf.log"
jq -S 'del(.inputs[].path,.inputs[].bytes,.logs[].summary.bytes,.summary.bytes,(..|.offset?))' out >crlf.json
tr -d '\r' <"$broken/crlf.log" >lf.log
run tlparse --json lf.log
is "CRLF changes no facts" "$(jq -S 'del(.inputs[].path,.inputs[].bytes,.logs[].summary.bytes,.summary.bytes,(..|.offset?))' out | diff - crlf.json)" ""
run tlparse "$broken/bad_envelope.log"
is "an invalid envelope is shown" "$(python3 -c '
import report
print(sum(b"bad JSON\t" in l for l in report.Page(open("out", "rb").read()).lines("r")))')" 3
run tlparse "$broken/unknown_keys.log"
is "records with unknown keys are shown with their payload" "$(python3 -c '
import report
print(*[l.split(b",", 3)[3].decode() for l in report.Page(open("out", "rb").read()).lines("r") if b"from_the_future\t" in l], sep="\n")')" \
	"from_the_future	{\"from_the_future\": {\"x\": 1}, \"frame_id\": 0, \"frame_compile_id\": 0, \"attempt\": 0, \"has_payload\": \"e1cbb0c3879af8347246f12c559a86b5\"}	\"text\\n\"
from_the_future	{\"from_the_future\": 3, \"frame_id\": 0, \"frame_compile_id\": 0, \"attempt\": 0}"
run tlparse --json "$broken/unknown_keys.log"
is "unknown keys are counted" "$(jq -c '[.unknown_keys[]|[.key,.count,.line]]' out)" '[["from_the_future",2,483],["also_new",1,487]]'

# ---- generated ----
mangle() { # mangle WHAT HOW LOG
	run timeout 100 python3 "$ROOT/tests/lib/mangle.py" "$2" "$3"
	if [ "$status" = 0 ]; then pass "$1"; else fail "$1" "$(cat out)"; fi
}
mangle "cut at 80 places" truncate "$DATA/simple.log"
mangle "90 bytes of envelopes changed" flip "$broken/no_newline.log"
mangle "random bytes, alone and between records" random "$broken/no_newline.log"

head -c 3000000 /dev/zero >zeros
for f in zeros "$BUILD/bin/tlparse" "$(command -v bash)"; do
	for mode in --json --html "-o none"; do
		# shellcheck disable=SC2086
		exits "$(basename "$f") is not a log, $mode" 3 timeout 20 tlparse $mode "$f"
	done
done
ok "no directory is written for files that are not logs" test ! -e none

# ---- large ----
many=1000000
[ ! "$sanitized" ] || many=50000
python3 - $many <<'EOS'
import sys
many = int(sys.argv[1])
with open("garbage.log", "w") as f:
    f.write('V1121 10:00:00.000000 77 torch/a.py:1] {"artifact": {"name": "first", "encoding": "string"}}\n')
    for i in range(many):
        f.write("step %d\n" % i)
    f.write('V1121 10:00:00.000000 77 torch/a.py:1] {"artifact": {"name": "last", "encoding": "string"}}\n')
with open("orphans.log", "w") as f:
    f.write('V1121 10:00:00.000000 77 torch/a.py:1] {"artifact": {"name": "first", "encoding": "string"}}\n')
    for i in range(many):
        f.write("\tstep %d\n" % i)
EOS
for f in garbage orphans; do
	for mode in --json --html "-o $f"; do
		# shellcheck disable=SC2086
		read -r status peak < <(timeout 60 python3 "$ROOT/tests/lib/peak.py" tlparse $mode $f.log)
		is "$many lines of $f, $mode: exit 0" "$status $(wc -l <err)" "0 1"
		[ "$sanitized" ] || ok "... $peak MB of memory" test "$peak" -lt 100
	done
	is "$many lines of $f are counted" "$(tlparse --json $f.log 2>/dev/null | jq -c '[.damage[]|[.count,.line]]')" "[[$many,2]]"
done
rm -rf garbage* orphans*

free=$(awk '/MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)
disk=$(df -Pm . | awk 'NR == 2 { print $4 }')
if [ "$sanitized" ] || [ "$free" -lt 2000 ] || [ "$disk" -lt 1500 ]; then
	skip "lines of 300 MB" "needs 2 GB of memory, 1.5 GB of disk, no sanitizer"
else
	python3 - "$DATA/simple.log" <<'EOS'
import sys
log = open(sys.argv[1], "rb").read()
with open("line.log", "wb") as f:  # holes read as NUL bytes
    f.write(log)
    f.seek(300 << 20, 1)
    f.write(b"\n" + log)
with open("payload.log", "wb") as f:
    f.write(log + b'V1121 10:00:00.000000 77 torch/a.py:1] {"artifact": {"name": "giant", "encoding": "string"}, "has_payload": "%s"}\n\t' % (b"0" * 32))
    f.seek(300 << 20, 1)
    f.write(b"\n" + log)
EOS
	lines=$(wc -l <"$DATA/simple.log")
	read -r status peak < <(timeout 100 python3 "$ROOT/tests/lib/peak.py" tlparse --json line.log)
	is "a line of 300 MB: read to the end" "$status $(jq -c '.summary|[.records,.lines]' out)" "0 [278,$((2 * lines + 1))]"
	is "... its line is reported" "$(jq -c '[.damage[]|[.kind,.line]]' out)" "[[\"not_a_record\",$((lines + 1))]]"
	ok "... $peak MB of memory" test "$peak" -lt 400
	read -r status peak < <(timeout 100 python3 "$ROOT/tests/lib/peak.py" tlparse payload.log -o giant)
	is "a payload of 300 MB: exit 0, one warning" "$status $(wc -l <err)" "0 1"
	like "... its record is reported" "$(cat err)" "line $((lines + 1)): payloads that were changed"
	is "... later records are read" "$(find giant -name 'inductor_output_code*' | wc -l)" 2
	is "... most of it is kept" "$(($(stat -c %s giant/-_-_-_-/giant_16.txt) >> 20))" 255
	ok "... $peak MB of memory" test "$peak" -lt 400
fi
done_testing
