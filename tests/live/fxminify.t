#!/bin/bash
# fxminify on real failures of torch (tests/live/minify_cases.py): each ends at the operators that are to blame, with the signature
# it began with. FXMINIFY_CASES="compile way": only these.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/live/cases.sh
. "$ROOT/tests/live/cases.sh"
[ -x "$BUILD/bin/fxminify" ] || skip_all "fxminify is not built"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>venv.err) || skip_all "$(tail -n 1 venv.err)"
command -v g++ >/dev/null || skip_all "there is no C++ compiler"
export PT2_PYTHON=$python XDG_CACHE_HOME=$TMP/cache
mkdir cache
cases=$BUILD/minify-cases-$("$python" -c 'import torch; print(torch.__version__.split("+")[0])')
made() { [ -z "${FXMINIFY_CASES-}" ] || [[ " $FXMINIFY_CASES " == *" $1 "* ]]; }
mapfile -t launchers < <(xargs -n 1 <<<"${FXMINIFY_CASES-}" | sed -E 's/^(command|way)$/compile/' | sort -u | grep .)
"$python" "$ROOT/tests/live/minify_cases.py" "$cases" "${launchers[@]}" >cases.log 2>&1 || { fail "launchers are made" "$(cat cases.log)"; done_testing; exit; }

# minify CASE ARG...
minify() { local name=$1; shift; case_runs "$name" fxminify --jobs=1 --evidence=0 "$@" "$(echo "$cases/$name".p*)"; }
broken() { PYTHONPATH=$cases/bugs minify "$@"; }

# operators FILE : what the graph of a program calls
operators() { sed -nE '/def (forward|f)\(/,/return/p' "$1" | grep -oE 'torch\.[A-Za-z_.0-9]+' | sed -E 's/torch\.(ops\.)?(aten\.|higher_order\.|nn\.functional\.|_C\._nn\.)?//; s/\..*//' | sort -u | paste -sd' '; }
# ended CASE WANT-OPERATORS SIGNATURE [VERIFIED]
ended() {
	local name=$1
	is "$name: status" "$(cat "$name/status")" 0
	is "$name: what is left" "$(operators "$name/repro.py")" "$2"
	like "$name: the failure" "$(grep '^#' "$name/repro.py")" "$3"
	[ $# -lt 4 ] || like "$name: verified" "$(grep -E '^#:? verified:' "$name/repro.py")" "fails the same way"
	[ "${4-verified}" = launcher ] || [ $# -lt 4 ] || ok "$name: it is a plain program" grep -qE '^def f\(|^class M\(' "$name/repro.py"
	is "$name: nothing is left in TMPDIR" "$(ls -A "$name/tmp")" ""
}
# alone CASE : another folder, no options, torch only
alone() {
	mkdir -p "alone/$1"
	mv "$1"/repro.p* "alone/$1/"
	[ ! -d "$1/repro.data" ] || mv "$1/repro.data" "alone/$1/"
	(cd "alone/$1" && env -u PYTHONPATH "$python" repro.py >out 2>&1; echo $? >status)
	unlike "$1: the program alone fails" "$(cat "alone/$1/status")" '^0$'
}
# not_failing CASE
not_failing() {
	is "$1: status" "$(cat "$1/status")" 1
	like "$1: it does not fail" "$(cat "$1/err")" "the original does not fail: it ran and matched eager"
	ok "$1: nothing is written" test ! -e "$1/repro.py"
	is "$1: nothing is left in TMPDIR" "$(ls -A "$1/tmp")" ""
}

# What to expect: CASE OPERATORS SIGNATURE
check() {
	cp "$1/err" err
	case $1 in
	compile)
		ended compile relu "CppCompileError.*was not declared" verified
		alone compile
		like "compile: with the same message" "$(cat alone/compile/out)" "CppCompileError"
		;;
	accuracy)
		ended accuracy relu "accuracy" verified
		alone accuracy
		like "accuracy: as torch says it" "$(cat alone/accuracy/out)" "RMSE \(res-fp64\): .*assert same\(expected, actual, .*AssertionError"
		;;
	runtime) ended runtime relu "raised" verified ;;
	dynamo) ended dynamo relu "CppCompileError" verified ;;
	dynamic) ended dynamic relu "CppCompileError" ;;
	segfault) ended segfault atanh "crashed: SIGSEGV: while in run, in generated:call" verified ;;
	hang) ended hang acosh "timeout: while in run, in generated:call" verified ;;
	pass_hang) ended pass_hang sum "timeout: while in compile, in beside.py:has" verified ;;
	pass_memory)
		ended pass_memory sum "memory: while in compile, in beside.py:(eats|has_sum)" verified
		like "pass_memory: who asked for how much" "$(cat pass_memory/err)" "out of memory in phase compile: eats \(beside.py:[0-9]+\).* requested more than 1.0 GiB"
		;;
	pass_crash)
		ended pass_crash sum "crashed: SIGSEGV: while in compile, in beside.py:crashes" verified
		like "pass_crash: what it printed before it died" "$(cat pass_crash/err)" "printed +last output before it ended:.*about to read address 0"
		like "pass_crash: is in the journal" "$(cat pass_crash/*.journal)" '"printed":"about to read address 0'
		;;
	cxx_hang) ended cxx_hang erfc "timeout: while in compile, in .*cpp_builder.py:" verified ;;
	nan) ended nan expm1 "accuracy: nan" verified ;;
	train) ended train cos "cos is not supported" ;;
	fused) ended fused "floor sign" "floor and sign in one kernel" verified ;;
	dies)
		ended dies relu "accuracy" verified
		like "dies: where it begins and through what it leaves is told" "$(cat dies/err) $(cat dies/repro.py)" \
			'the difference starts at relu and leaves through add.*original, the difference starts at relu and leaves through add'
		;;
	custom) ended custom relu "toy_compiler knows no relu" verified ;;
	aoti) ended aoti relu "CppCompileError" verified ;;
	exported) ended exported asinh "CppCompileError.*no_such_function" verified ;;
	flaky) ended flaky erf "erf has a bad day" ;;
	shared)
		ended shared sin "alias_compiler wants memory for each" verified
		like "shared: in one storage still, where each was" "$(cat shared/repro.py)" "storage_offset=67|, 67\)"
		;;
	cond) ended cond "cond relu" "CppCompileError" launcher ;; # a subgraph has no plain form
	nonleaf)
		is "an input with a history: status" "$(cat nonleaf/status)" 0
		like "an input with a history: the failure" "$(grep -E '^#:? failure:' nonleaf/repro.py)" "TestingOnlyCompileError"
		like "an input with a history: verified" "$(grep -E '^#:? verified:' nonleaf/repro.py)" "fails the same way"
		;;
	healthy | fine) not_failing "$1" ;;
	esac
}

made compile && minify compile
made accuracy && minify accuracy
made runtime && minify runtime --passes=nodes
made dynamo && minify dynamo --passes=nodes,sizes
made dynamic && minify dynamic --passes=nodes,symbols --no-verify
made segfault && broken segfault --passes=nodes --timeout=200
made hang && broken hang --passes=nodes
made pass_hang && minify pass_hang --passes=nodes
made pass_memory && minify pass_memory --passes=nodes --max-memory=1G
made pass_crash && minify pass_crash --passes=nodes
made cxx_hang && CXX=$cases/cxx minify cxx_hang --passes=nodes
made nan && broken nan --passes=nodes,values
made train && broken train --passes=nodes --no-verify
made fused && broken fused --passes=nodes
made dies && minify dies --passes=nodes,outputs
made custom && PYTHONPATH=$cases minify custom --passes=nodes --backend=toys:toy_compiler
made aoti && minify aoti --passes=nodes
made exported && broken exported --passes=nodes
made shared && PYTHONPATH=$cases minify shared --passes=nodes,memory,leaves,strides,values --backend=toys:alias_compiler
made nonleaf && minify nonleaf --passes=nodes,leaves,strides,values
made cond && minify cond --passes=nodes,subgraphs
made healthy && minify healthy
made flaky && FLAKY_COUNTER=$TMP/counter broken flaky --passes=nodes --repeat=4 --no-verify --level=2
made fine && minify fine --level=2
cases_end

# ---- a command asks, the operators' rules know the shapes ----

if made command; then
	mkdir shapes
	exits "--test: shapes are known" 0 fxminify --test 'grep -q relu.default' -j1 "$cases/compile.py" -o shapes/one.py
	like "--test: that is said" "$(cat err)" 'shapes +[0-9]+ values, by operator rules'
	unlike "--test: nothing is guessed" "$(cat shapes/one.py)" GUESSED
	is "--test: what is left" "$(operators shapes/one.py)" relu
	ok "--test: in at most 20 tests" test "$(grep -c '"test":' shapes/one.py.journal)" -le 20
fi

# ---- what is in the way ----

if made way; then
	launcher=$cases/compile.py
	mkdir way notorch t
	export TMPDIR=$TMP/t
	printf 'raise ImportError("No module named torch")\n' >notorch/torch.py
	run env PYTHONPATH="$TMP/notorch" fxminify -q -o way/a.py "$launcher"
	is "no torch: status" "$status" 4
	is "no torch: one line" "$(wc -l <err)" 1
	like "no torch: which says so" "$(cat err)" "cannot import torch"

	# An import that never ends is ended by Ctrl-C.
	set -m # else Ctrl-C is ignored in the background
	HUNG_IMPORT=1 PYTHONPATH=$cases/bugs fxminify -o way/b.py "$launcher" >out 2>err &
	pid=$!
	set +m
	sleep 3
	kill -INT $pid
	wait $pid
	is "a hung import and Ctrl-C: status" $? 130

	# A graph that fails in eager already.
	sed -E 's/(relu[0-9_]*) = torch\.ops\.aten\.relu\.default\(([a-z0-9_]+)\)/\1 = torch.ops.aten.reshape.default(\2, [3, 5])/' "$launcher" >eager.py
	run fxminify -o way/c.py eager.py
	is "fails in eager: status" "$status" 1
	like "fails in eager: said" "$(cat err)" "already fails in eager"

	# The torch process is killed in the middle, and a little later Ctrl-C comes.
	wait_for() { for ((i = 0; i < 3000; i++)); do grep -q "$1" mid.err && return; sleep 0.1; done; }
	set -m
	fxminify --jobs=1 --no-verify -o way/d.py "$launcher" >out 2>mid.err &
	pid=$!
	set +m
	wait_for '^failure'
	pkill -KILL -P $pid
	wait_for '^nodes'
	kill -INT $pid
	wait $pid
	is "Ctrl-C: status" $? 130
	cp mid.err err
	like "Ctrl-C: the best so far is there" "$(cat mid.err)" "interrupted; best so far in way/d.py"
	ok "Ctrl-C: it is a program" "$python" -m py_compile way/d.py
	before=$(grep -c '"test"' way/d.py.journal)
	run fxminify --jobs=1 --no-verify --resume way/d.py.journal
	is "resumed: status" "$status" 0
	like "resumed: tests are known" "$(cat err)" "resumed +$before tests? already known"
	is "resumed: the answer" "$(operators way/d.py)" relu
	is "resumed: nothing was tested twice" "$(python3 -c 'import collections, json, sys
tests = [json.loads(line) for line in open(sys.argv[1])]
seen = collections.Counter(t["key"] for t in tests if "test" in t and t["verdict"] != "infrastructure" and t["phase"] != "Original")
print([k for k, n in seen.items() if n > 1])' way/d.py.journal)" "[]"
	is "no folders are left" "$(ls -A t)" ""
	unset TMPDIR
fi
sleep 1
is "no process is left" "$(for e in /proc/[0-9]*/environ; do { tr '\0' '\n' <"$e"; } 2>/dev/null | grep -q "^TMPDIR=$TMP/" && tr '\0' ' ' <"${e%/environ}/cmdline"; done)" ""
done_testing
