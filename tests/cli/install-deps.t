#!/bin/bash
# scripts/install-deps on systems that are not this one: programs of the system are told by stand-ins, and nothing is installed.
# shellcheck source=tests/lib/tap.sh disable=SC2016 # the stand-ins' own variables
. "$(dirname "$0")/../lib/tap.sh"
mkdir bin
for p in bash sed grep head cat env; do ln -s "$(command -v $p)" bin/$p; done
stand_in() { printf '#!%s/bin/bash\n%s\n' "$TMP" "$2" >"bin/$1"; chmod +x "bin/$1"; }
deps() { run env -i PATH="$TMP/bin" bash "$ROOT/scripts/install-deps" "$@"; }

deps build
is "without dpkg" "$status" 4
like "packages are named for dnf" "$(cat err)" "dnf install .*'pkgconfig\(libdw\)'.*'pkgconfig\(libseccomp\)' sleef"
like "packages are named for pacman" "$(cat err)" 'pacman -S .*libelf'
like "packages are named for conda" "$(cat err)" 'conda create .*elfutils'
stand_in cc :
stand_in pkg-config :
deps build
is "with a compiler and the libraries nothing is missing" "$status:$(cat out err)" "0:"

# Ubuntu 24.04, where clang is 18: apt knows it and its runtime; nothing is installed, no root, no sudo.
rm bin/cc bin/pkg-config
stand_in id 'echo 1000'
# What apt prints, as recorded in Debian 12.
stand_in apt-get 'echo "apt-get $*" >>apt.log
case "$*" in
*update*) if [ -e offline ]; then
	echo "Err:1 http://deb.debian.org/debian bookworm InRelease"; echo "  Temporary failure resolving"
	for i in 1 2 3; do echo "W: Failed to fetch http://deb.debian.org/debian/dists/bookworm/InRelease  Temporary failure resolving"; done
	else echo "Hit:1 http://deb.debian.org/debian bookworm InRelease"; fi ;;
*--assume-no*) if [ -e conflict ]; then echo "E: Unable to locate package libdw-dev"; exit 100; fi
	printf "%s\n" "Reading package lists..." "0 upgraded, 281 newly installed, 0 to remove and 5 not upgraded." "Need to get 388 MB/390 MB of archives." \
		"After this operation, 1,576 MB of additional disk space will be used." "Do you want to continue? [Y/n] N" "Abort."
	exit 1 ;;
*install*) if [ -e cut ]; then echo "Get:1 http://deb.debian.org"; for i in 1 2 3; do echo "E: Failed to fetch http://deb.debian.org/x.deb  Connection failed"; done; exit 100; fi ;;
esac'
stand_in dpkg-query 'exit 1'
stand_in apt-cache 'case "$1 $2" in
"depends clang") printf "clang\n  Depends: clang-18\n" ;;
"show libclang-rt-18-dev" | "show libsleef3") echo "Version: 1"; for i in {1..20000}; do echo "Description: $i"; done ;;
*) exit 100 ;; esac'
deps check
is "without root" "$status" 4
like "the message says what to ask an administrator for" "$(cat err)" 'Ask an administrator for:.*apt-get install .*libelf-dev.* clang .*libclang-rt-18-dev'
like "the message has a way without root" "$(cat err)" 'Without one:.*conda create -n pt2utils'
unlike "packages that apt lacks are not named" "$(cat err)" 'clang-format-14|chromium|libclang-rt-14'
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
like "missing packages are installed" "$(cat apt.log)" 'update.*install .*-y .*libseccomp-dev'
like "their number and size are announced" "$(cat out)" '^installing 281 packages \(388 MB to download, 1,576 MB on disk\): gcc .*libseccomp-dev'
unlike "check-core is not mentioned for a build" "$(cat out)" 'check-core'
deps check
like "for all tests check-core is mentioned" "$(cat out)" '^installing 281 packages .* valgrind.*make check-core'
touch offline
deps check
is "without a network" "$status:$(cat out)" "4:"
is "the error is one line" "$(wc -l <err)" 1
like "the error says that packages cannot be installed" "$(cat err)" '^install-deps: cannot install [0-9]+ missing packages, no package server answers: Failed to fetch .*Temporary failure resolving$'
rm offline
touch conflict
deps build
is "a package that apt lacks" "$status:$(cat out err)" "4:install-deps: apt cannot install them: Unable to locate package libdw-dev"
rm conflict
touch cut
deps build
is "a download that fails" "$status:$(cat err)" "4:install-deps: apt-get install failed: Failed to fetch http://deb.debian.org/x.deb  Connection failed"
rm cut apt.log
deps --look build
is "--look installs nothing" "$status:$(cat apt.log 2>/dev/null)" "4:"
like "--look says how to install them" "$(cat err)" 'missing packages; install them ..make demo. does, too. with:.*  apt-get install gcc make'
touch apt.log
grep -oE '[a-z0-9+-]+' "$ROOT/scripts/install-deps" | sed 's/$/ installed/' >all; echo 'libclang-common-11-dev installed' >>all
stand_in dpkg-query 'cat all'
rm apt.log
deps check
is "nothing is done when nothing is missing" "$status:$(cat out err):$(ls apt.log 2>/dev/null)" "0::"
exits "a missing operand" 2 bash "$ROOT/scripts/install-deps"
done_testing
