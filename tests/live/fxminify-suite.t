#!/bin/bash
# The CPU cases of PyTorch's own minifier tests (tests/live/minify_suite.py): each ends at the failure that PyTorch's test expects, and at no more
# operations. SUITE_CASES: some of them.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/live/cases.sh
. "$ROOT/tests/live/cases.sh"
[ -x "$BUILD/bin/fxminify" ] || skip_all "fxminify is not built"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>venv.err) || skip_all "$(tail -n 1 venv.err)"
command -v g++ >/dev/null || skip_all "there is no C++ compiler"
export PT2_PYTHON=$python XDG_CACHE_HOME=$TMP/cache
mkdir cache
version=$("$python" -c 'import torch; print(torch.__version__.split("+")[0])')
cases=$BUILD/minify-suite-$version
newer() { [ "$(printf '%s\n' "$version" 2.15 | sort -V | head -1)" = 2.15 ]; } # launchers of 2.13 have neither subgraphs nor these modules

# CASE LAUNCHER STATUS OPERATORS FAILURE ARG... : what is left, and how it fails
suite() {
	cat <<'T'
compile pt_compile 0 relu CppCompileError
accuracy pt_accuracy 0 relu accuracy
constant pt_constant 0 relu accuracy
strict pt_mask 0 log1p accuracy --strict-accuracy
mask pt_mask 0 relu accuracy
offload pt_offload 0 relu accuracy
runtime pt_runtime 0 relu raised|crashed
dynamo_compile pt_dynamo_compile 0 relu ReluCompileError
dynamo_runtime pt_dynamo_runtime 0 relu ReluRuntimeError
dynamo_accuracy pt_dynamo_accuracy 0 relu accuracy
minified pt_minified 0 relu ReluCompileError
non_leaf pt_non_leaf 0 - TestingOnlyCompileError
mixed pt_mixed 0 relu ReluCompileError
passes_compile pt_passes_compile 1
passes_runtime pt_passes_runtime 1
passes_accuracy pt_passes_accuracy 1 - - --accuracy
rounding pt_rounding 0 - accuracy --strict-accuracy
T
	newer && cat <<'T'
cond pt_cond 0 relu CppCompileError
fake_quant pt_fake_quant 0 relu ReluCompileError
qat pt_qat 0 relu ReluCompileError
T
}
wanted() { suite | while read -r name rest; do [ -z "${SUITE_CASES-}" ] || [[ " $SUITE_CASES " == *" $name "* ]] && echo "$name $rest"; done; }
mapfile -t rows < <(wanted)
# shellcheck disable=SC2046 # a list
"$python" "$ROOT/tests/live/minify_suite.py" "$cases" $(printf '%s\n' "${rows[@]}" | cut -d' ' -f2 | sort -u) >cases.log 2>&1 ||
	{ fail "launchers are made" "$(cat cases.log)"; done_testing; exit; }

few() { case $1 in rounding) echo '[1-4]' ;; cond) echo '[1-5]' ;; *) echo 1 ;; esac } # cond: with what its branches need
left() { grep -oE '^result +[0-9]+' "$1/err" | grep -oE '[0-9]+$'; }
check() {
	local name=$1 want ops failure row
	cp "$name/err" err
	for row in "${rows[@]}"; do [[ $row != "$name "* ]] || read -r _ _ want ops failure _ <<<"$row"; done
	is "$name: status" "$(cat "$name/status")" "$want"
	is "$name: nothing is left in TMPDIR" "$(ls -A "$name/tmp")" ""
	if [ "$want" = 1 ]; then
		like "$name: it does not fail" "$(cat "$name/err")" "the original does not fail: it ran and matched eager"
		return
	fi
	[ "$ops" = - ] || like "$name: what is left" "$(cat "$name/repro.py")" "torch\.[a-z.]*$ops"
	like "$name: of so many operations" "$(left "$name")" "^$(few "$name")\$"
	like "$name: the failure" "$(grep '^failure' "$name/err")" "$failure"
	like "$name: verified" "$(cat "$name/err")" "verified +it fails the same way"
	[ "$name" != rounding ] || like "rounding: numbers are eager's with a setting" "$(cat rounding/err)" \
		"settings +[0-9]+ tried.*does not fail with .*emulate_precision_casts = True"
}
for row in "${rows[@]}"; do
	read -r name launcher _ _ _ more <<<"$row"
	# shellcheck disable=SC2086 # options
	case_runs "$name" fxminify --jobs=1 --passes=nodes,head $more "$cases/$launcher.py"
done
cases_end
is "no process is left" "$(for e in /proc/[0-9]*/environ; do { tr '\0' '\n' <"$e"; } 2>/dev/null | grep -q "^TMPDIR=$TMP/" && tr '\0' ' ' <"${e%/environ}/cmdline"; done)" ""
done_testing
