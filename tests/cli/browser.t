#!/bin/bash
# Reports in a browser: the single file (tests/browser/report_test.py looks at all of it) of ten logs, of the artifacts
# at a sample; PT2_LONG=1 (make check-long): of fourteen, at all artifacts. And pages of the directory.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
browser=$ROOT/tests/browser
broken=$ROOT/tests/data/broken

names=() long=()
[ -z "${PT2_LONG-}" ] || long=("$DATA"/{recompiles,models,export}.log "$broken/utf8_payload.log")
for log in "$DATA"/{graph_breaks,dynamic,training,provenance_jit,aoti,draft_export}.log "$DATA/ranks4" "$broken"/{hostile_names,hostile_text,two_writers}.log "${long[@]}"; do
	names+=("$(basename "$log" .log)")
	tlparse "$log" >"${names[-1]}.html" 2>/dev/null
done
# Half of them in one browser, half in another.
look() { timeout 1500 "$browser/report_test.py" "${@:2}" >"$1.tap" 2>"$1.err"; }
reports=("${names[@]/%/.html}")
half=$(((${#reports[@]} + 1) / 2))
look 1 "${reports[@]:0:half}" &
look 2 "${reports[@]:half}"
wait
skipped=$(grep -m1 -ohP '^1\.\.0 # SKIP \K.*' ./*.tap) && skip_all "$skipped"
for name in "${names[@]}"; do
	if grep -qx "# $name: whole" ./*.tap && ! grep -q "^not ok [0-9]* - $name:" ./*.tap; then
		pass "$name: $(cat ./*.tap | grep -c "^ok [0-9]* - $name:") things looked at"
	else
		fail "$name" "$(grep -hA9 "^not ok [0-9]* - $name:" ./*.tap)" "$(tail -n 3 ./*.err)"
	fi
done

tlparse "$DATA/graph_breaks.log" -o breaks 2>/dev/null
tlparse "$DATA/simple.log" -o simple 2>/dev/null
tlparse "$DATA/simple.log" "$DATA/recompiles.log" -o several 2>/dev/null
tlparse "$broken/hostile_text.log" -o hostile 2>/dev/null
tlparse "$DATA/provenance_jit.log" -o provenance 2>/dev/null
tlparse -i "$DATA/provenance_jit.log" -o linked 2>/dev/null
tlparse -e "$DATA/draft_export.log" -o exported 2>/dev/null
tlparse --diff "$DATA/caches_cold.log" "$DATA/caches_warm.log" >diff.html 2>/dev/null
tlparse --diff "$broken"/hostile_{names,text}.log >hostile_diff.html 2>/dev/null
tlparse --all-ranks-html "$DATA/ranks4" -o ranks 2>/dev/null
tlparse --all-ranks-html "$broken"/hostile_{names,text}.log -o hostile_ranks 2>/dev/null
# A page that runs nothing but its own: by hash, or from the files beside it.
is "every page of a folder has a policy" "$(find breaks several hostile provenance linked exported ranks hostile_ranks -name '*.html' -exec grep -L 'http-equiv="Content-Security-Policy"' {} + | head -3)" ""
is "and every page of one file" "$(grep -L "script-src 'sha256-" graph_breaks.html diff.html hostile_diff.html)" ""
tlparse --custom-header-html='<script src="https://example.org/x.js"></script>' "$DATA/graph_breaks.log" -o headed 2>/dev/null
is "but the one with a header of somebody's own, which may need anything" "$(find headed -name '*.html' -exec grep -L 'http-equiv="Content-Security-Policy"' {} +)" headed/index.html
is "nothing in them needs more" "$(find . -name '*.html' -exec grep -lE '<[a-z]+ ([^>]* )?(style|on[a-z]+)="' {} + | grep -v hostile | head -3)" ""
# Two runs kernel by kernel: kernels that differ, that are gone, that agree, and hostile names.
printer() { aoti-printer -q "$@" >/dev/null 2>&1; }
kernels=()
if grep -qw avx2 /proc/cpuinfo; then
	xz -dc "$ROOT/tests/data/aoti/nan/log.pt2.xz" >log.pt2
	for i in log log_good; do printer -i -N 3 -o "dump.$i" log.pt2 "$ROOT/tests/data/aoti/nan/io/$i.npz:in0"; done
	cp -r dump.log_good fewer && sed -i '/"aoti_torch_cpu_mm_out"/{x;s/^/x/;/^x\{2\}$/{x;d};x}' fewer/calls.jsonl
	cp -r dump.log hostile_dump && sed -i 's|cpp_fused_neg_relu_0","kind|</script><script>alert(1)</script>","kind|g; s|"nodes":"[^"]*"|"nodes":"<img src=x onerror=alert(2)>"|' hostile_dump/calls.jsonl
	printer --diff dump.log_good dump.log --html kernels.html
	printer --diff dump.log_good fewer --html fewer.html
	printer --diff dump.log_good dump.log_good --html agree.html
	printer --diff dump.log_good hostile_dump --html hostile_kernels.html
	kernels=(kernels.html fewer.html agree.html hostile_kernels.html)
fi
explained=()
for log in "$DATA"/{graph_breaks,recompiles,dynamic,compile_error,training,models,export,simple}.log "$broken"/{hostile_names,hostile_text,two_writers}.log; do
	explained+=("explained_$(basename "$log" .log).html")
	fxexplain -q --html="${explained[-1]}" "$log"
done
# Every page of every folder; what a policy forbids is an error of the console.
mapfile -t made < <(find breaks simple several hostile provenance linked exported ranks hostile_ranks -name '*.html' | sort)
pages=("${explained[@]}" "${kernels[@]}" "${made[@]}" graph_breaks.html ranks4.html diff.html hostile_diff.html)
# Two that complain, last and in the same browser.
sed 's|</body>|<script>document.title = "x"</script><p style="color: red" onclick="alert(1)">x</p></body>|' breaks/index.html >breaks/forbidden.html
tlparse "$DATA/graph_breaks.log" | sed 's|<body>|<body><script>nosuchfunction()</script>|' >bent.html
run timeout 600 "$browser/pages_test.py" "${pages[@]}" breaks/forbidden.html bent.html
is "${#pages[@]} pages open, and nothing complains" "$(grep -v '^breaks/forbidden.html: \|^bent.html: ' out)" ""
like "what the policy forbids is seen" "$status $(grep '^breaks/forbidden.html: ' out)" "^1 .*Content Security Policy"
like "a page that does complain is seen" "$(grep '^bent.html: ' out)" "Content Security Policy"
done_testing
