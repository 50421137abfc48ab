#!/bin/bash
# scripts/install-deps on systems that are not this one: programs of the system are told by stand-ins, and nothing is installed.
# shellcheck source=tests/lib/tap.sh disable=SC2016 # the stand-ins' own variables
. "$(dirname "$0")/../lib/tap.sh"
mkdir bin
for p in bash sed grep head cat env; do ln -s "$(command -v $p)" bin/$p; done
stand_in() { printf '#!%s/bin/bash\n%s\n' "$TMP" "$2" >"bin/$1"; chmod +x "bin/$1"; }
deps() { run env -i PATH="$TMP/bin" bash "$ROOT/scripts/install-deps" "$@"; }

deps build
is "without dpkg: what is missing" "$status" 4
like "is said for dnf" "$(cat err)" "dnf install .*'pkgconfig\(libdw\)'.*'pkgconfig\(libseccomp\)' sleef"
like "for pacman" "$(cat err)" 'pacman -S .*libelf'
like "for conda" "$(cat err)" 'conda create .*elfutils'
stand_in cc :
stand_in pkg-config :
deps build
is "with a compiler and the libraries all is well" "$status:$(cat out err)" "0:"

# Ubuntu 24.04, where clang is 18: apt knows it and its runtime; nothing is installed, no root, no sudo.
rm bin/cc bin/pkg-config
stand_in id 'echo 1000'
stand_in apt-get 'echo "apt-get $*" >>apt.log'
stand_in dpkg-query 'exit 1'
stand_in apt-cache 'case "$1 $2" in
"depends clang") printf "clang\n  Depends: clang-18\n" ;;
"show libclang-rt-18-dev" | "show libsleef3") echo "Version: 1"; for i in {1..20000}; do echo "Description: $i"; done ;;
*) exit 100 ;; esac'
deps check
is "without root" "$status" 4
like "what to ask for" "$(cat err)" 'Ask an administrator for:.*apt-get install .*libelf-dev.* clang .*libclang-rt-18-dev'
like "and what goes without" "$(cat err)" 'pip install pt2utils'
unlike "nothing that apt has not" "$(cat err)" 'clang-format-14|chromium|libclang-rt-14'
# Debian 11: the runtime is a part of another package.
stand_in apt-cache 'case "$1 $2" in
"depends clang") printf "clang\n  Depends: clang-11\n" ;;
"show libclang-common-11-dev") echo "Version: 1" ;;
*) exit 100 ;; esac'
deps check
like "clang 11" "$(cat err)" 'libclang-common-11-dev'
# With root: once apt knows what there is.
stand_in id 'echo 0'
deps build
is "as root" "$status" 0
like "what is missing is installed" "$(cat apt.log)" 'update.*install -y .*libseccomp-dev'
grep -oE '[a-z0-9+-]+' "$ROOT/scripts/install-deps" | sed 's/$/ installed/' >all; echo 'libclang-common-11-dev installed' >>all
stand_in dpkg-query 'cat all'
rm apt.log
deps check
is "nothing is done when all is there" "$status:$(cat out err):$(ls apt.log 2>/dev/null)" "0::"
exits "no target" 2 bash "$ROOT/scripts/install-deps"
done_testing
