#!/bin/bash
# fxminify on real failures of torch (tests/live/minify_cases.py): each ends at the operators that are to blame, with the signature
# it began with. Two run side by side, with one test at a time each.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
[ -x "$BUILD/bin/fxminify" ] || skip_all "fxminify is not built"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>venv.err) || skip_all "$(tail -n 1 venv.err)"
command -v g++ >/dev/null || skip_all "there is no C++ compiler"
export PT2_PYTHON=$python XDG_CACHE_HOME=$TMP/cache
mkdir cache
cases=$BUILD/minify-cases
# shellcheck disable=SC2086 # a list
"$python" "$ROOT/tests/live/minify_cases.py" "$cases" ${FXMINIFY_CASES-} >cases.log 2>&1 || { fail "launchers are made" "$(cat cases.log)"; done_testing; exit; }
made() { [ -z "${FXMINIFY_CASES-}" ] || [[ " $FXMINIFY_CASES " == *" $1 "* ]]; }

# minify CASE ARG... : in a folder of that name, in the background, two at a time.
minify() {
	local name=$1 file
	shift
	file=$(echo "$cases/$name".p*)
	mkdir -p "$name/tmp"
	(
		cd "$name" || exit
		TMPDIR=$PWD/tmp timeout 1500 fxminify --jobs=1 --evidence=0 "$@" "$file" >out 2>err
		echo $? >status
	) &
	while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
}
broken() { PYTHONPATH=$cases/bugs minify "$@"; }

# What to expect: CASE NODES SIGNATURE OPERATORS
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
wait

# operators FILE : what the graph of a program calls
operators() { sed -nE '/def (forward|f)\(/,/return/p' "$1" | grep -oE 'torch\.[A-Za-z_.0-9]+' | sed -E 's/torch\.(ops\.)?(aten\.|higher_order\.|nn\.functional\.|_C\._nn\.)?//; s/\..*//' | sort -u | paste -sd' '; }
# ended CASE WANT-OPERATORS SIGNATURE [VERIFIED]
ended() {
	local name=$1
	made "$name" || return 0
	cp "$name/err" err
	is "$name: status" "$(cat "$name/status")" 0
	is "$name: what is left" "$(operators "$name/repro.py")" "$2"
	like "$name: the failure" "$(grep '^#' "$name/repro.py")" "$3"
	[ $# -lt 4 ] || like "$name: verified" "$(grep -E '^#:? verified:' "$name/repro.py")" "fails the same way"
	[ "${4-verified}" = launcher ] || [ $# -lt 4 ] || ok "$name: it is a plain program" grep -qE '^def f\(|^class M\(' "$name/repro.py"
	is "$name: nothing is left in TMPDIR" "$(ls -A "$name/tmp")" ""
}
ended compile relu "CppCompileError.*was not declared" verified
ended accuracy relu "accuracy" verified
ended runtime relu "raised" verified
ended dynamo relu "CppCompileError" verified
ended dynamic relu "CppCompileError"
ended segfault atanh "crashed: SIGSEGV: while in run, in generated:call" verified
ended hang acosh "timeout: while in run, in generated:call" verified
ended pass_hang sum "timeout: while in compile, in beside.py:has" verified
ended pass_memory sum "memory: while in compile, in beside.py:(eats|has_sum)" verified
ended pass_crash sum "crashed: SIGSEGV: while in compile, in beside.py:crashes" verified
ended cxx_hang erfc "timeout: while in compile, in .*cpp_builder.py:" verified
if made pass_crash; then
	like "pass_crash: what it printed before it died" "$(cat pass_crash/err)" "printed +last output before it ended:.*about to read address 0"
	like "pass_crash: is in the journal" "$(cat pass_crash/*.journal)" '"printed":"about to read address 0'
fi
if made pass_memory; then
	like "pass_memory: who asked for how much" "$(cat pass_memory/err)" "out of memory in phase compile: eats \(beside.py:[0-9]+\).* requested more than 1.0 GiB"
fi
ended nan expm1 "accuracy: nan" verified
ended train cos "cos is not supported"
ended fused "floor sign" "floor and sign in one kernel" verified
ended dies relu "accuracy" verified
made dies && like "dies: where it begins and through what it leaves is told" "$(cat dies/err) $(cat dies/repro.py)" \
	'the difference begins at relu and leaves through add.*original the difference begins at relu and leaves through add'
ended custom relu "toy_compiler knows no relu" verified
ended aoti relu "CppCompileError" verified
ended exported asinh "CppCompileError.*no_such_function" verified
ended flaky erf "erf has a bad day"
ended shared sin "alias_compiler wants memory for each" verified
ended cond "cond relu" "CppCompileError" launcher # a subgraph has no plain form
if made shared; then
	like "shared: in one storage still, where each was" "$(cat shared/repro.py)" "storage_offset=67|, 67\)"
fi
if made nonleaf; then
	is "an input with a history: status" "$(cat nonleaf/status)" 0
	like "an input with a history: the failure" "$(grep -E '^#:? failure:' nonleaf/repro.py)" "TestingOnlyCompileError"
	like "an input with a history: verified" "$(grep -E '^#:? verified:' nonleaf/repro.py)" "fails the same way"
fi
if made healthy; then
	cp healthy/err err
	is "a healthy export: status" "$(cat healthy/status)" 1
	like "a healthy export: what it did" "$(cat err)" "the original does not fail: it ran and matched eager"
	ok "a healthy export: nothing is written" test ! -e healthy/repro.py
fi
if made fine; then
	cp fine/err err
	is "a graph that does not fail: status" "$(cat fine/status)" 1
	like "a graph that does not fail: what it did" "$(cat fine/err)" "the original does not fail: it ran and matched eager"
	is "a graph that does not fail: nothing is left" "$(ls -A fine/tmp)" ""
fi

# ---- the result, alone ----

# Another folder, no options, torch only.
if made compile && made accuracy; then
	mkdir alone alone/compile alone/accuracy
	for name in compile accuracy; do
		mv "$name"/repro.p* alone/$name/
		[ ! -d "$name/repro.data" ] || mv "$name/repro.data" alone/$name/
		(cd alone/$name && env -u PYTHONPATH "$python" repro.py >out 2>&1; echo $? >status) &
	done
	wait
	unlike "compile: the program alone fails" "$(cat alone/compile/status)" '^0$'
	like "compile: with the same message" "$(cat alone/compile/out)" "CppCompileError"
	unlike "accuracy: the program alone fails" "$(cat alone/accuracy/status)" '^0$'
	like "accuracy: as torch says it" "$(cat alone/accuracy/out)" "RMSE \(res-fp64\): .*assert same\(expected, actual, .*AssertionError"
fi

# ---- a command asks, the operators' rules know the shapes ----

if made compile; then
	mkdir shapes
	exits "--test: shapes are known" 0 fxminify --test 'grep -q relu.default' -j1 "$cases/compile.py" -o shapes/one.py
	like "--test: that is said" "$(cat err)" 'shapes +of [0-9]+ values, by the operators. rules'
	unlike "--test: nothing is guessed" "$(cat shapes/one.py)" GUESSED
	is "--test: what is left" "$(operators shapes/one.py)" relu
	ok "--test: in at most 20 tests" test "$(grep -c '"test":' shapes/one.py.journal)" -le 20
fi

# ---- what is in the way ----

if made compile; then
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
	like "resumed: tests are known" "$(cat err)" "resumed +$before tests are known"
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
