#!/bin/bash
# The torch oracle of fxminify: outcomes, signatures, where it fails, limits, processes that die (tests/live/oracle.c).
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>err) || skip_all "$(tail -n 1 err)"
command -v g++ >/dev/null || skip_all "no g++ for Inductor"
# shellcheck disable=SC2046
cc -std=gnu17 -D_GNU_SOURCE -O1 -I"$ROOT/libcommon/core" -I"$ROOT/libcommon/cli" -I"$ROOT/cmd/fxminify" "$ROOT/tests/live/oracle.c" "$BUILD/libpt2rooms.a" "$BUILD/libpt2cli.a" "$BUILD/libpt2core.a" \
	$(pkg-config --libs zlib libmd libdeflate libelf libdw libseccomp) -lm -ldl -pthread -o oracle 2>err ||
	skip_all "no compiler for tests/live/oracle.c: $(tail -n 1 err)"
mkdir tmp
export TMPDIR=$PWD/tmp XDG_CACHE_HOME=${XDG_CACHE_HOME-$BUILD/live-cache}
./oracle "$python" "$ROOT/tests/data/minifier"
exit $?
