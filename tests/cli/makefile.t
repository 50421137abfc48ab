#!/bin/bash
# The build remembers flags and lists of files (Makefile): in a copy of a part of the tree.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
mkdir -p copy/libcommon/core copy/tests
cp -r "$ROOT"/{Makefile,NEWS,share,scripts,packaging} copy
cp "$ROOT/tests/tests.mk" copy/tests
cp -r "$ROOT/libcommon/core/base" copy/libcommon/core
cd copy || exit 99
build() { make -s O=b CFLAGS=-O0 "$@" b/libpt2core.a b/share.c >../out 2>&1; }
has() { nm b/libpt2core.a 2>/dev/null | grep -c " T $1\$"; }
when() { stat -c %Y.%y b/libcommon/core/base/hash.o; }

ok "is built" build
is "with a function" "$(has base64_add)" 1
before=$(when)
build
is "built again, nothing is compiled" "$(when)" "$before"
build CFLAGS=-O1
ok "other flags compile again" test "$(when)" != "$before"
before=$(when)
build CFLAGS=-O1 CPPFLAGS=-DX
ok "so do CPPFLAGS" test "$(when)" != "$before"
rm libcommon/core/base/base64.c
build
is "a source that is gone is gone from the archive" "$(has base64_add)" 0
gone=$(find share/patterns -name '*.pattern' | sort | head -1)
ok "a pattern is in the program" grep -qF "$(basename "$gone")" b/share.c
rm "$gone"
build
ok "a pattern that is gone is gone" test -z "$(grep -F "$(basename "$gone")" b/share.c)"
done_testing
