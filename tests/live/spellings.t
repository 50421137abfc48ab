#!/bin/bash
# What fxminify calls torch's operators in a plain program is the same operation (share/fxminify/spellings.txt, cmd/fxminify/repro/plain.c).
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>venv.err) || skip_all "$(tail -n 1 venv.err)"
exec "$python" -W ignore "$ROOT/tests/live/spellings.py" "$ROOT" 2>/dev/null
