# tap.sh - for tests/cli/*.t: source it, call ok/is/like/..., end with done_testing.
# A test runs in a private, empty folder ($TMP, the current directory); $ROOT is the source tree, $BUILD the build,
# $DATA the unpacked traces, $DATA/aoti the unpacked packages. `run CMD...` keeps stdout in out, stderr in err and the status in $status; death by a signal
# is never a pass. ${tools[@]} are the names of all tools.
# shellcheck shell=bash disable=SC2034 # status is for the tests
set -u
unset NO_COLOR CLICOLOR_FORCE # of who runs it
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
: "${BUILD:=$ROOT/build}" "${DATA:=$BUILD/data}"
export ROOT BUILD DATA
PATH=$BUILD/bin:$PATH
TMP=$(mktemp -d)
trap 'cd /; chmod -R u+rwx "$TMP" 2>/dev/null; rm -rf "$TMP"' EXIT
export XDG_STATE_HOME=$TMP/.state # where runs are kept
cd "$TMP" || exit 4
tools=("$ROOT"/cmd/*/main.c) # as the Makefile has them
tools=("${tools[@]%/main.c}")
tools=("${tools[@]##*/}")
tests=0
status=0

pass() { tests=$((tests + 1)); echo "ok $tests - $1"; }
fail() {
	tests=$((tests + 1))
	echo "not ok $tests - $1"
	shift
	[ $# -gt 0 ] && printf '%s\n' "$@" | head -30 | sed 's/^/#   /'
	[ -s err ] && { echo "#   stderr:"; head -5 err | sed 's/^/#   /'; }
	return 0
}
skip_all() { echo "1..0 # SKIP $1"; exit 0; }
skip() { tests=$((tests + 1)); echo "ok $tests - $1 # SKIP $2"; }

run() {
	"$@" >out 2>err
	status=$?
}
# ok WHAT COMMAND... : the command succeeds
ok() { local what=$1; shift; if "$@" >/dev/null 2>&1; then pass "$what"; else fail "$what" "failed: $*"; fi; }
# is WHAT GOT WANT
is() { if [ "$2" = "$3" ]; then pass "$1"; else fail "$1" "got:  $2" "want: $3"; fi; }
# like WHAT TEXT EXTENDED-REGEX
like() { if [[ $2 =~ $3 ]]; then pass "$1"; else fail "$1" "got: $2" "want: $3"; fi; }
unlike() { if [[ $2 =~ $3 ]]; then fail "$1" "got: $2" "unwanted: $3"; else pass "$1"; fi; }
# exits WHAT STATUS COMMAND... : ends with exactly this status (a signal is 128 and more, and is never asked for)
exits() {
	local what=$1 want=$2
	shift 2
	run "$@"
	is "$what" "$status" "$want"
}
# tap_of BEFORE COMMAND...: what a program prints as lines of TAP, as tests of this one, with BEFORE before their names.
tap_of() {
	local before=$1 line
	shift
	while read -r line; do
		case $line in
		ok*) pass "$before${line#* - }" ;;
		"not ok"*"# TODO") line=${line#* - }; skip "$before${line%% # TODO}" "not yet" ;;
		"not ok"*) fail "$before${line#* - }" ;;
		"#"*) echo "# $before${line#\# }" ;;
		esac
	done < <("$@" || echo "not ok 0 - $1 ${2##*/} ran to its end")
}
# A command that there is none of, above all a function with another name: bash says so on standard error alone, and the test goes on.
command_not_found_handle() {
	echo "$1" >>"$TMP/.not-found"
	echo "$1: command not found" >&2
	return 127
}
done_testing() {
	[ ! -s "$TMP/.not-found" ] || fail "each command of the test is there" "$(sort -u "$TMP/.not-found")"
	echo "1..$tests"
}
