#!/bin/bash
# Reports in a browser: the single file (tests/browser/report_test.py looks at all of it) of seven logs, and pages of the directory
# (pages_test.py), of a folder two of each kind. PT2_LONG=1 (make check-long): of fourteen logs, at all artifacts, and all pages.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
browser=$ROOT/tests/browser
# Inputs have the long unbroken path that users' have, not the one that this tree happens to lie at.
long=$PWD/home/somebody/workspace/projects_of_the_year/recordings_that_have_a_long_name
mkdir -p "$long" && ln -s "$ROOT/tests/data" "$long/data" && ln -s "$DATA" "$long/logs"
data=$long/data broken=$long/data/broken DATA=$long/logs

names=() more=()
[ -z "${PT2_LONG-}" ] || more=("$DATA"/{dynamic,training,recompiles,models,export}.log "$broken"/{two_writers,utf8_payload}.log)
for log in "$DATA"/{graph_breaks,provenance_jit,aoti,draft_export}.log "$DATA/ranks4" "$broken"/{hostile_names,hostile_text}.log "${more[@]}"; do
	names+=("$(basename "$log" .log)")
	tlparse "$log" >"${names[-1]}.html" 2>/dev/null
done
exec {reports}< <(timeout 1500 "$browser/report_test.py" "${names[@]/%/.html}" 2>reports.err) # in one browser; the pages in another

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
read -r first <&"$reports"
[[ $first != "1..0 # SKIP "* ]] || skip_all "${first#* SKIP }"
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
	xz -dc "$data/aoti/nan/log.pt2.xz" >log.pt2
	for i in log log_good; do printer -i -N 3 -o "dump.$i" log.pt2 "$data/aoti/nan/io/$i.npz:in0"; done
	cp -r dump.log_good fewer && sed -i '/"aoti_torch_cpu_mm_out"/{x;s/^/x/;/^x\{2\}$/{x;d};x}' fewer/calls.jsonl
	cp -r dump.log hostile_dump && sed -i 's|cpp_fused_neg_relu_0","kind|</script><script>alert(1)</script>","kind|g; s|"nodes":"[^"]*"|"nodes":"<img src=x onerror=alert(2)>"|' hostile_dump/calls.jsonl
	printer --diff dump.log_good dump.log --html kernels.html
	printer --diff dump.log_good fewer --html fewer.html
	printer --diff dump.log_good dump.log_good --html agree.html
	printer --diff dump.log_good hostile_dump --html hostile_kernels.html
	kernels=(kernels.html fewer.html agree.html hostile_kernels.html)
fi
# Kernels against their graph: all right, a wrong one, one that cannot be verified, hostile names.
verified=()
if grep -qw avx2 /proc/cpuinfo; then
	page() { # page FILE NAME PACKAGE
		aoti-verify -q --html="$1" "$data/aoti/verify/$2.exported.pt2" "$3" "$data/aoti/verify/$2.pt:in[0]" 2>/dev/null
		verified+=("$1")
	}
	for i in norm noise; do page "$i.html" $i "$DATA/aoti/verify/$i.pt2"; done
	python3 "$ROOT/tests/lib/mutate.py" "$DATA/aoti/verify/attention.pt2" wrong.pt2 6 >/dev/null && page wrong.html attention wrong.pt2
	aoti-printer -q -i -o dump.norm "$DATA/aoti/verify/norm.pt2" "$data/aoti/verify/norm.pt:in[0]" 2>/dev/null
	sed -i 's|"kernel":"cpp_fused_gelu_1|"kernel":"</script><script>alert(1)</script>|' dump.norm/calls.jsonl
	python3 "$ROOT/tests/lib/rezip.py" "$data/aoti/verify/norm.exported.pt2" spoilt.pt2 /models/model.json 'in forward' '<img src=x onerror=alert(2)>'
	aoti-verify -q --html=hostile_verified.html spoilt.pt2 dump.norm 2>/dev/null
	verified+=(hostile_verified.html)
	is "the hostile page has the hostile names" "$(grep -oE 'u003c(img src=x onerror=alert.2.|script>alert.1.)' hostile_verified.html | sort -u | wc -l)" 2
fi
# Of what is no trace (fxexplain's page of a trace is tlparse's: fxexplain-emit.t).
explained=()
tar xJf "$data/debug/torch_compile_debug.tar.xz"
for text in "$data"/logs/*.log* torch_compile_debug; do
	name=$(basename "${text%.xz}" .log)
	[[ $text != *.xz ]] || { xz -dc "$text" >"$name.txt" && text=$name.txt; }
	explained+=("explained_$name.html")
	fxexplain -q --html="${explained[-1]}" "$text"
done
fxexplain -q --html=mixed.html "$data/logs/crash.log" "$DATA/graph_breaks.log" torch_compile_debug
# Every page of every folder; what a policy forbids is an error of the console.
every() { find breaks simple several hostile provenance linked exported ranks hostile_ranks -name '*.html' | sort -V; }
# Of a folder two of each kind: those of one name but for its numbers.
some() { awk '{ kind = $0; gsub(/[0-9]+|_c[a-z0-9]{51}/, "", kind); if (++n[kind] <= 2) print }'; }
if [ -n "${PT2_LONG-}" ]; then mapfile -t made < <(every); else mapfile -t made < <(every | some); fi
pages=("${explained[@]}" mixed.html "${kernels[@]}" "${verified[@]}" "${made[@]}" graph_breaks.html ranks4.html diff.html hostile_diff.html)
# Two that complain, last and in the same browser.
sed 's|</body>|<script>document.title = "x"</script><p style="color: red" onclick="alert(1)">x</p></body>|' breaks/index.html >breaks/forbidden.html
tlparse "$DATA/graph_breaks.log" | sed 's|<body>|<body><script>nosuchfunction()</script>|' >bent.html
run timeout 600 "$browser/pages_test.py" "${pages[@]}" breaks/forbidden.html bent.html
faults=$(grep -v '^breaks/forbidden.html: \|^bent.html: ' out)
is "${#pages[@]} pages open, and nothing complains${faults:+: ${faults%%$'\n'*}}" "$faults" ""
like "what the policy forbids is seen" "$status $(grep '^breaks/forbidden.html: ' out)" "^1 .*Content Security Policy"
like "a page that does complain is seen" "$(grep '^bent.html: ' out)" "Content Security Policy"

{ echo "$first" && cat <&"$reports"; } >reports.tap
for name in "${names[@]}"; do
	if grep -qx "# $name: whole" reports.tap && ! grep -q "^not ok [0-9]* - $name:" reports.tap; then
		pass "$name: $(grep -c "^ok [0-9]* - $name:" reports.tap) things looked at"
	else
		fail "$name" "$(grep -A9 "^not ok [0-9]* - $name:" reports.tap)" "$(tail -n 3 reports.err)"
	fi
done
done_testing
