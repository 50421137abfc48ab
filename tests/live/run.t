#!/bin/bash
# The third way: pt2-runner with an installed libtorch gives what the shim gives, on every recorded package.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>err) || skip_all "$(tail -n 1 err)"
PT2_TEST_TORCH=$("$python" -c 'import importlib.util as u; print(u.find_spec("torch").submodule_search_locations[0])')
export PT2_TEST_TORCH PT2_SOURCE=$ROOT
[ -x "$BUILD/tests/test_shim" ] || skip_all "test_shim is not built"
exec "$BUILD/tests/test_shim"
