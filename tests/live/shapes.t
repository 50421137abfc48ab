#!/bin/bash
# Shapes without torch: of every node of the models of the zoo, as exported, the operators' rules tell what torch wrote down
# (tests/unit/aten/test_shapes.c takes the annotations away). EXPORTED=dir: of the programs that lie there, too.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>err) || skip_all "$(tail -n 1 err)"
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore
mkdir programs
run "$python" "$ROOT/tests/live/shapes.py" programs
is "torch exports them" "$(cat err)$status" 0
programs=(programs/*.pt2)
is "40 models" "$([ ${#programs[@]} -ge 40 ] && echo yes)" yes
whole=0
for file in "${programs[@]}" ${EXPORTED:+"$EXPORTED"/*.exported.pt2}; do
	run "$BUILD/tests/test_shapes" "$file"
	name=$(basename "$file")
	if [[ $(head -n 1 out) =~ ": "([0-9]+)" of "([0-9]+)$ && ${BASH_REMATCH[1]} = "${BASH_REMATCH[2]}" ]]; then
		pass "$name: all of it"
		whole=$((whole + 1))
	else # what is told is right, and an operator that is missing is said
		is "$name: nothing else than torch has" "$(grep ' instead of ' out | grep -v ': not told instead of ')" ""
		like "$name: why not" "$(cat out)" "first: node '[a-z0-9_]+' \([a-z0-9_.]+\): unsupported operator"
	fi
done
echo "# of $whole programs every node"
is "most" "$([ "$whole" -ge 35 ] && echo yes)" yes
done_testing
