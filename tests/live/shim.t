#!/bin/bash
# Compiled models of many kinds, run without torch: what torch returns, or closer to the truth.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
[ -x "$BUILD/lib/pt2utils/pt2-runner" ] || skip_all "pt2-runner is not built"
# shellcheck source=tests/live/zoo.sh
. "$ROOT/tests/live/zoo.sh"
more_tests "$python" "$ROOT/tests/live/shim.py" "$BUILD" "$zoo"
like "all were run" "$(tail -n 1 out)" '^# [0-9]+ of (8[0-9]|9[0-9]|[1-9][0-9]{2})$'
done_testing
