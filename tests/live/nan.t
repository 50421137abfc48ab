#!/bin/bash
# aoti-nanassert on models that make a NaN at a known operator, and on models that make none.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
[ -x "$BUILD/bin/aoti-nanassert" ] || skip_all "aoti-nanassert is not built"
# shellcheck source=tests/live/zoo.sh
. "$ROOT/tests/live/zoo.sh"
more_tests python3 "$ROOT/tests/live/nan.py" "$zoo"
like "all were run" "$(tail -n 1 out)" '^# [0-9]+ of (8[0-9]|9[0-9]|[1-9][0-9]{2})$'

# The same answer in a process with torch.
for name in nan_log nan_product nan_mean_empty nan_softmax_masked; do
	kernels=$(python3 -c 'import json, sys; bad = json.load(open(sys.argv[1]))["bad"]
print("|".join(k for kind in bad.values() for k in kind["kernels"]))' "$zoo/$name.json")
	run aoti-nanassert --inf --log=found -- "$python" "$ROOT/tests/live/serve.py" "$zoo/$name.pt2" "$zoo/$name.in.pt" 1 3
	is "$name in Python: status" "$status" 1
	like "$name in Python: the kernel" "$(cat found)" "$kernels"
	run aoti-nanassert --log=found -- "$python" "$ROOT/tests/live/serve.py" "$zoo/$name.pt2" "$zoo/$name.good.pt" 1 3
	is "$name in Python: good inputs: status" "$status" 0
done
done_testing
