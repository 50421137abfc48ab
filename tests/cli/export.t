#!/bin/bash
# -e: the report of an export log. What it has in common with the Rust tool's is in parity.t.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

text() { python3 -c 'import html,re,sys; print(" ".join(html.unescape(re.sub(r"<[^>]*>", " ", open(sys.argv[1]).read())).split()))' "$1"; }

exits "draft_export: status 0" 0 tlparse "$DATA/draft_export.log" -o draft -e
is "draft_export: no warning" "$(cat err)" ""
is "draft_export: the files" "$(cd draft && find . -type f ! -path './assets/*' | sort | tr '\n' ' ')" \
	"./-_-_-_-/exported_program_0.txt ./-_-_-_-/symbolic_guard_information_line_38.html ./-_-_-_-/symbolic_guard_information_line_40.html ./index.html "
index=$(text draft/index.html)
like "the index counts findings" "$index" '4 findings'
like "... names the operator without a fake kernel" "$index" 'pt2fix.nofake.default has no fake kernel'
like "... and the mismatched fake kernel" "$index" 'fake kernel of pt2fix.badfake.default .* mismatch between fake value 4 and real value 2'
like "... the data-dependent expression with its value and line" "$index" 'u4 > 2 holds .* True .*draft_export.py:18 in forward if size > 2:'
like "... the new guard" "$index" 'Eq\(s77, 6\) holds, and the answer became a guard'
page=$(text draft/-_-_-_-/symbolic_guard_information_line_38.html)
like "the page of a guard has local variables" "$page" 'Locals size: u4'
like "... the user's stack" "$page" 'User stack .*draft_export.py:18 in forward'
like "... and how the expression was computed" "$page" 'u4 > 2 by gt\(u4, 2\) .* u4 a size or value only known .*draft_export.py:17 in forward size = n.item\(\)'
like "symbols have their sources" "$(text draft/-_-_-_-/symbolic_guard_information_line_40.html)" "s77 = L\['x'\].size\(\)\[0\]"
is "every link works" "$(python3 "$ROOT/tests/lib/compare_reports.py" draft draft)" ""

tlparse "$DATA/export.log" -o export -e 2>err
like "a failed export" "$(text export/index.html)" 'Eq\(u0, 1\) holds is only known when the program runs: export could not continue\. .*export.py:16 in forward'
ok "... and an earlier exported program" test -s export/-_-_-_-/exported_program_0.txt
like "... are in one report" "$(cat export/index.html)" 'href="-_-_-_-/exported_program_0.txt"'

mkdir v215
tar -xJf "$ROOT/tests/data/causes/v215.tar.xz" -C v215 ./export_data ./export_dim ./export_good ./b_second_op
for p in export_data export_dim export_good b_second_op; do tlparse -e "v215/$p/trace"/*.log -o "e_$p" 2>err; fxexplain "v215/$p/trace" >"$p.txt" 2>err; done
like "why torch.export failed, from TORCH_TRACE" "$(text e_export_data/index.html)" 'Export failed .*at or behind gt = item > 2.0 .*export_data.py:6 in forward if n > 2:'
like "... an operator" "$(text e_b_second_op/index.html)" 'Export failed .*audio.resample.default\(cos, 2\).*b_second_op.py:10'
like "... a size that became constant" "$(text e_export_dim/index.html)" 'A size became constant: .* is 4'
like "fxexplain reports an export" "$(cat export_good.txt)" 'exported: 0 guards added'
like "... a failed one" "$(cat export_data.txt)" 'torch.export failed: 0 guards added'
like "... one without a program in the log" "$(cat export_dim.txt)" 'torch.export traced it: 1 guard added, 1 size became constant; standard error says whether it succeeded, and so does TORCH_DTRACE=DIR'
head -n 1 v215/export_dim/trace/*.log >bare.log
like "... one of torch 2.15 with constant sizes" "$(fxexplain bare.log)" 'no compilation started here: a trace of torch\.export without strict=True has nothing more; standard error says'
is "... and does not call it compiled" "$(cat export_*.txt b_second_op.txt | grep -cE '[0-9] graphs?,|nothing was compiled|--bisect')" 0
is "... log and standard error count once" "$(fxexplain --json v215/export_data/trace v215/export_data/stderr | jq -c '[.findings[] | select(.kind == "failure") | .title[:27]]')" \
	'["GuardOnDataDependentSymNode"]'

tlparse "$DATA/simple.log" -o none -e 2>err
like "a log without an export" "$(text none/index.html)" 'no problem, but no exported program'
grep -avE "guard_on_data_dependent_error|make_fx_fail_partial" "$DATA/export.log" | tlparse - -o good -e 2>err
like "a successful export" "$(text good/index.html)" 'No problem found, and there is an exported program'
exits "-e --overwrite" 0 tlparse "$DATA/draft_export.log" -o export -e --overwrite
ok "... replaces the report" test -f export/-_-_-_-/symbolic_guard_information_line_38.html
tlparse "$DATA/draft_export.log" "$DATA/export.log" -o two -e 2>err
like "several logs get one report each" "$(echo two/*/index.html)" 'two/draft_export/index.html two/export/index.html'
exits "-e without -o" 0 tlparse "$DATA/draft_export.log" -e
ok "... writes tl_out" test -f tl_out/index.html
tlparse --custom-header-html='<p>mine</p>' "$DATA/export.log" -o header -e
like "--custom-header-html is on the page" "$(cat header/index.html)" '<p>mine</p>'

# ---- draft_export's own log: its process told the files' names in another ----
grep -av '"str"' "$DATA/draft_export.log" >own.log
like "without string tables, line and code are kept" "$(fxexplain own.log)" '\?:18 in forward: Branch on data'
tlparse -e own.log -o own
like "... in the report, too" "$(text own/index.html)" ':18 in forward if size > 2:'
is "the process's other log provides the names" \
	"$(fxexplain --json "$DATA/draft_export.log" own.log | jq -r '.findings[] | select(.location.file) | "\(.location.file) \(.count)"')" "/home/user/app/draft_export.py 2"

# ---- --json and the single file ----
tlparse --json "$DATA/draft_export.log" >document.json
is "--json has the findings" "$(jq -c '[.logs[0].export.failures[]|[.kind,.op//.expr,.location.line]]' document.json)" \
	'[["missing_fake_kernel","pt2fix.nofake.default",null],["mismatched_fake_kernel","pt2fix.badfake.default",null],["specialized","u4 > 2",18],["guard","Eq(s77, 6)",20]]'
is "--json has the history" "$(jq -c '.logs[0].export|.expressions[.failures[2].expression]|[.result,.method,.arguments,.made_of]' document.json)" \
	'["u4 > 2","gt",["u4","2"],[0]]'
is "--json without an export has null" "$(tlparse --json "$DATA/simple.log" | jq -c '.logs[0].export')" null
tlparse "$DATA/draft_export.log" >page.html
PYTHONPATH=$ROOT/tests/lib python3 - page.html >got <<'PY'
import report, sys
page = report.Page(open(sys.argv[1], "rb").read())
log = page.model["logs"][0]
a, k = log["artifacts"], log["export"]["exported_program"]
print(a["name"][k], a["number"][k], log["summary"]["artifacts"])
sys.stdout.flush()
sys.stdout.buffer.write(page.payload(log, k))
PY
is "the page has the exported program, without a number" "$(head -1 got)" "exported_program -1 0"
is "... unchanged" "$(tail -n +2 got | cmp - draft/-_-_-_-/exported_program_0.txt 2>&1)" ""

# ---- hostile ----
cat >hostile.py <<'PY'
import json, sys
N = int(sys.argv[1])
def record(**m):
    print("V1121 07:59:23.043000 1234 torch/x.py:915] " + json.dumps(m))
evil = "<script>alert(1)</script>"
for k in ("guard_added", "propagate_real_tensors_provenance", "guard_on_data_dependent_error", "missing_fake_kernel", "mismatched_fake_kernel",
          "expression_created", "create_unbacked_symbol"):
    record(**{k: {}})
    record(**{k: {"expr": evil, "op": evil, "reason": evil, "prefix": "eval", "result": evil}})
record(guard_added={"prefix": "eval"})
for i in range(N):  # each made of the one before, and of one that comes later
    record(expression_created={"method": "add", "result": evil, "result_id": i, "arguments": [evil], "argument_ids": [max(i - 1, 0), (i + 1) % N, i]})
record(guard_added={"prefix": "eval", "expr": evil, "expr_node_id": N - 1, "symbol_to_sources": {evil: evil},
       "user_stack": [{"line": -5, "name": evil, "filename": 99, "loc": evil}] * 3000, "frame_locals": {"locals": {evil: [evil, None]}}})
record(guard_added={"prefix": "eval", "expr": "a", "expr_node_id": 12345678901, "frame_locals": {"locals": 3}})
PY
python3 hostile.py 100000 >hostile.log
exits "hostile records: status 0" 0 timeout 60 tlparse hostile.log -o hostile -e
like "a malformed record is reported" "$(cat err)" 'line 100017: .*wrong type.* \(1\)'
is "the log's markup is escaped" "$(cat hostile/index.html hostile/*/*.html | grep -c '<script>alert')" 0
is "every link works there, too" "$(python3 "$ROOT/tests/lib/compare_reports.py" hostile hostile)" ""
like "long histories are shortened" "$(text hostile/-_-_-_-/symbolic_guard_information_line_100016.html)" 'Only the first 500 expressions'
exits "hostile records: --json" 0 timeout 60 tlparse --json hostile.log
is "... has the complete history" "$(jq '.logs[0].export.expressions|length' out)" 100000
exits "hostile records: the page" 0 timeout 60 tlparse --html=hostile.html hostile.log
done_testing
