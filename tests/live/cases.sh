# cases.sh - for fxminify.t and fxminify-suite.t: runs of fxminify side by side, two at a time with one test at a time each; what is checked of a case is
# printed as soon as that has ended, after a line with what it took.
#
#   case_runs NAME COMMAND...   in a new folder of that name, in the background; TMPDIR is NAME/tmp, what it printed NAME/out and NAME/err, then NAME/status
#   cases_end                   waits for the last ones
#   check NAME                  the test's own function: what it asks of a case that has ended
# shellcheck shell=bash
running=()

case_runs() {
	local name=$1
	shift
	mkdir -p "$name/tmp"
	(
		cd "$name" || exit
		TMPDIR=$PWD/tmp timeout 1500 "$@" >out 2>err
		code=$?
		times >cpu # of it and its children
		echo "$code" >status.new
		mv status.new status
	) &
	running+=("$name")
	while [ ${#running[@]} -ge 2 ]; do next_ends; done
}

next_ends() {
	local name left=()
	wait -n
	for name in "${running[@]}"; do
		if [ ! -e "$name/status" ]; then
			left+=("$name")
			continue
		fi
		echo "# $name: $(tail -n 1 "$name/cpu") of processor time (user, system), $(cat "$name"/*.journal 2>/dev/null | grep -c '"test"') tests"
		check "$name"
	done
	running=("${left[@]}")
}

cases_end() { while [ ${#running[@]} -gt 0 ]; do next_ends; done; }
