#!/bin/bash
# packaging/release and changelog, in a small repository with files of the right names: what the page says, and what is refused.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
command -v git >/dev/null || skip_all "no git"
mkdir tree
cp -r "$ROOT/packaging" tree
cd tree || exit 99
mkdir debian
grep '^Maintainer' "$ROOT/debian/control" >debian/control
printf 'tools NEWS\n\n1.2.0\n  all tools\n    - One thing\n      in two lines.\n    - Another.\n  pt2-run\n    - A third.\n\n1.1.0\n  all tools\n    - Old.\n' >NEWS
printf 'dist\nout\nerr\n' >.gitignore
git init -q .
git add .
commit() { git -c user.name=t -c user.email=t@t commit -qam "$1"; }
commit first
like "debian/changelog has the newest version" "$(packaging/changelog | head -1)" '^pt2utils \(1\.2\.0\) unstable'
mkdir dist
exits "missing files" 4 packaging/release dist
like "the message names them" "$(cat err)" 'pt2utils-1\.2\.0\.tar\.xz is missing: make release'
for f in pt2utils{,_tlparse}-1.2.0-py3-none-manylinux_2_28_{x86_64,aarch64}.whl pt2utils-1.2.0{,-linux-x86_64,-linux-aarch64}.tar.xz pt2utils{,-dbgsym}_1.2.0+{bookworm,trixie}_amd64.deb; do
	echo "$f" >"dist/$f"
done
exits "all files present" 0 packaging/release dist
is "SHA256SUMS has every file" "$(cd dist && sha256sum --quiet -c SHA256SUMS 2>&1):$(wc -l <dist/SHA256SUMS):$(grep -c '^| pt2utils.* |$' dist/RELEASE.md)" ":11:11"
is "every file has a description" "$(grep -E '^\|.*\| \|' dist/RELEASE.md)" ""
is "the page has what is new, by tool" "$(sed -n '/^## What/,/^## SHA/p' dist/RELEASE.md | grep . | xargs -d '\n' printf '%s;')" \
	"## What is new;### all tools;- One thing in two lines.;- Another.;### pt2-run;- A third.;## SHA-256;"
sed -i 's/^1\.2\.0$/1.2.0 (not released)/' NEWS
exits "uncommitted changes" 4 packaging/release dist
like "the message names them, too" "$(cat err)" 'not committed: M NEWS'
commit second
exits "an unreleased version" 4 packaging/release dist
like "the message says what to change" "$(cat err)" "its line is to be '1\.2\.0' alone"
done_testing
