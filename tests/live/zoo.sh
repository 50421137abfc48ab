# zoo.sh - for tests/live/*.t, after tap.sh: a Python with torch in $python, the compiled models in $zoo; or the reason to skip.
# shellcheck shell=bash disable=SC2154 # status comes from tap.sh
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>err) || skip_all "$(tail -n 1 err)"
grep -qw avx2 /proc/cpuinfo || skip_all "the models are x86-64-v3 code"
command -v g++ >/dev/null || skip_all "no g++ to compile models with"
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore
zoo=${PT2_ZOO:-$BUILD/zoo}
# Every name that it prints with more than a time is a model that torch could not compile.
run "$python" "$ROOT/tests/live/zoo.py" "$zoo"
is "the models of the zoo are there" "$(grep -vE '^[a-z0-9_]+: [0-9]+ s$' out)$status" 0
# more_tests PROGRAM... : a program that prints TAP with numbers of its own
more_tests() {
	run "$@"
	while read -r line; do
		case $line in
		"ok "* | "not ok "*)
			tests=$((tests + 1))
			echo "${line%%ok *}ok $tests - ${line#* - }"
			;;
		"#"*) echo "$line" ;;
		esac
	done <out
}
