#!/bin/bash
# The build remembers flags and lists of files (Makefile): in a copy of a part of the tree.
# shellcheck source=tests/lib/tap.sh disable=SC2016 # stand-ins' own variables
. "$(dirname "$0")/../lib/tap.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL # of the make that runs the tests
mkdir -p copy/libcommon/core copy/tests
cp -r "$ROOT"/{Makefile,NEWS,share,scripts,packaging} copy
cp "$ROOT/tests/tests.mk" copy/tests
cp -r "$ROOT/libcommon/core/base" copy/libcommon/core
cd copy || exit 99
build() { make -s O=b CFLAGS=-O0 "$@" b/libpt2core.a b/share.c >../out 2>&1; }
has() { nm b/libpt2core.a 2>/dev/null | grep -c " T $1\$"; }
when() { stat -c %Y.%y b/libcommon/core/base/hash.o; }

ok "a build" build
is "the archive has its function" "$(has base64_add)" 1
before=$(when)
build
is "make again compiles nothing" "$(when)" "$before"
is "make -n lists nothing then" "$(build -n; cat ../out)" ""
build WERROR=-Werror
is "WERROR=-Werror compiles nothing again" "$(when)" "$before"
build -n CFLAGS=-O1
like "make -n lists what other flags would compile" "$(cat ../out)" 'gcc .*-O1 .*-c libcommon/core/base/hash\.c'
build
is "make -n leaves the build unchanged" "$(when)" "$before"
build -n O=c
ok "make -n without a build creates none" test ! -e c
build CFLAGS=-O1
ok "other flags compile again" test "$(when)" != "$before"
before=$(when)
build CFLAGS=-O1 CPPFLAGS=-DX
ok "other CPPFLAGS compile again" test "$(when)" != "$before"
rm libcommon/core/base/base64.c
build
is "a deleted source is removed from the archive" "$(has base64_add)" 0
gone=$(find share/patterns -name '*.pattern' | sort | head -1)
ok "a pattern is part of the program" grep -qF "$(basename "$gone")" b/share.c
rm "$gone"
build
ok "a deleted pattern is removed" test -z "$(grep -F "$(basename "$gone")" b/share.c)"

# Without a compiler or a library `make` says what is missing, and what to do, before it compiles.
mkdir ../bin
for p in bash sh make sed grep head cat env cut find mkdir rm cp mv true test; do ln -s "$(command -v $p)" ../bin/$p; done
stand_in() { printf '#!/bin/sh\n%s\n' "$2" >"../bin/$1"; chmod +x "../bin/$1"; }
stand_in id 'echo 1000'
stand_in apt-get 'echo installed >>apt.log'
stand_in apt-cache 'exit 100'
stand_in dpkg-query 'exit 1'
bare() { run env PATH="$(realpath ../bin)" make -s O=d "$@"; }
bare
is "make without a compiler" "$status" 2
like "the message says what to ask an administrator for" "$(cat err)" 'Ask an administrator for:.*apt-get install gcc .*libdw-dev'
unlike "no other message is printed" "$(cat out err)" 'not found|No such file|apt-cache'
before=$(cat err)
bare demo
is "make demo prints the same" "$(grep -v '^make' err)" "$(grep -v '^make' <<<"$before")"
is "nothing is installed" "$(cat apt.log 2>/dev/null)" ""
ok "the next make checks again" test ! -e d/flags
stand_in id 'echo 0'
bare
like "as root the command is printed" "$(cat err)" 'missing packages; install them .*apt-get install gcc '
stand_in gcc 'exit 0'
stand_in pkg-config '[ "$1 $2" != "--exists libdw" ]'
stand_in dpkg-query 'for p in gcc make pkg-config zlib1g-dev libmd-dev libdeflate-dev libelf-dev libdw-dev libseccomp-dev xz-utils; do echo "$p installed"; done'
bare
like "a library that pkg-config does not find" "$(cat err)" 'missing, though .*: libdw '
done_testing
