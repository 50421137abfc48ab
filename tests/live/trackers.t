#!/bin/bash
# pt2 runs --export, read by the packages that it is for: TRACKERS_PYTHON is a Python that has mlflow-skinny and wandb (up to 0.18, whose reader
# is Python's; later ones only list what `wandb sync --dry-run` would send).
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
: "${TRACKERS_PYTHON:=${PT2_PYTHON:-python3}}"
export PT2_PYTHON=python3 PYTHONDONTWRITEBYTECODE=1
cat >app.py <<P
import os, shutil, sys
shutil.copy("$DATA/graph_breaks.log", os.environ["TORCH_TRACE"])
sys.exit(int(sys.argv[1]))
P
pt2 -q app.py 0 >/dev/null 2>&1
pt2 -q app.py 3 >/dev/null 2>&1
for tracker in mlflow wandb; do
	if ! "$TRACKERS_PYTHON" -c "import $tracker" 2>/dev/null || { [ $tracker = wandb ] && ! "$TRACKERS_PYTHON" -c 'import wandb.sdk.internal.datastore' 2>/dev/null; }; then
		skip "$tracker reads its runs" "no such package for $TRACKERS_PYTHON"
		continue
	fi
	exits "$tracker: written" 0 pt2 runs --export=$tracker -o $tracker
	timeout 200 "$TRACKERS_PYTHON" "$ROOT/tests/live/trackers.py" $tracker $tracker >read.json 2>errors
	is "$tracker: both runs" "$(jq 'length' read.json)" 2
	is "$tracker: the figures" "$(jq -c '[.[] | select(.graph_breaks) | .graph_breaks, .compiles, .recompiles, .failures]' read.json)" "$(pt2 runs --json |
		jq -c '[.runs[] | select(.graph_breaks) | .graph_breaks, .compiles, .recompiles, .failures]')"
	is "$tracker: which failed" "$(jq -c '[.[] | .failed] | sort' read.json)" '[false,true]'
done
done_testing
