#!/bin/bash
# share/skills/pt2utils, followed to the letter, with the programs that failed at hand: the commands of each section on app.py are run, too.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
PT2_PYTHON=$("$ROOT/scripts/live-venv" "$BUILD") || skip_all "no torch for the live tests"
export PT2_PYTHON
tap_of "" timeout 3000 python3 "$ROOT/tests/lib/skill_walk.py" "$BUILD" --live
done_testing
