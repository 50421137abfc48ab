#!/bin/bash
# make install puts everything in its place, from where it works, all tools as one program; make uninstall takes it away, with the folders that it made.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

[ -x "$BUILD/one/bin/pt2utils" ] || skip_all "one program is not made under sanitizers"
old=(-o all -o "$BUILD/one/bin/pt2utils") # what is built stays as it is
for t in "${tools[@]}"; do old+=(-o "$BUILD/one/bin/$t"); done
at() { make -s --no-print-directory -C "$ROOT" "${old[@]}" O="$BUILD" DESTDIR="$TMP/dest" prefix=/usr "$@"; }
missing() { for f; do [ -s "dest/usr/$f" ] || echo "$f"; done; }

exits "make install-strip" 0 at install-strip
want=()
for t in "${tools[@]}"; do
	want+=("bin/$t")
done
for t in "${tools[@]}" pt2utils; do
	want+=("share/man/man1/$t.1" "share/bash-completion/completions/$t" "share/zsh/site-functions/_$t" "share/fish/vendor_completions.d/$t.fish")
done
want+=(bin/pt2utils lib/pt2utils/libpt2probe.so lib/pt2utils/libpt2shim.so lib/pt2utils/pt2-runner share/doc/pt2utils/NEWS)
is "all is there" "$(missing "${want[@]}")" ""
is "documents that the manual pages point at are where they say" \
	"$(grep -ho '/usr/share/doc/[A-Za-z0-9/._-]*\.md' dest/usr/share/man/man1/* | sort -u | while read -r f; do [ -s "dest$f" ] || echo "$f"; done)" ""
ok "and they do" grep -q '/usr/share/doc/pt2utils/formats/REPORT.md' dest/usr/share/man/man1/tlparse.1
is "nothing for debuggers is left" "$(for f in dest/usr/bin/* dest/usr/lib/pt2utils/*; do readelf -SW "$f" | grep -o '\.debug_info'; done)" ""
exits "what runs models is found from there" 0 env -u PT2_RUNNER dest/usr/bin/pt2-run -q "$DATA/aoti/mlp.pt2" 'f32[5,8]'
exits "so is what watches processes" 4 dest/usr/bin/aoti-checkinputs -q -- true
# SLEEF beside what runs models comes before the system's (a wheel brings it).
sleef=$TMP/dest/usr/lib/pt2utils/libsleef.so.3
printf 'int sleef;\n' | ${CC:-cc} -shared -x c - -o "$sleef"
xz -dc "$ROOT/tests/data/aoti/nan/log.pt2.xz" >log.pt2
unzip -qp "$ROOT/tests/data/aoti/nan/io/log.npz" in0.npy >log.npy
exits "a SLEEF without its functions beside the runner" 3 dest/usr/bin/pt2-run -q log.pt2 log.npy
like "is the one that is taken" "$(cat err)" 'Sleef_'
rm "$sleef"
for t in "${tools[@]}"; do
	ok "$t runs" "dest/usr/bin/$t" --version
done
# Installed beside a package that has one of this name.
cp dest/usr/bin/tlparse dest/usr/bin/pt2-tlparse
exits "a tool under another name" 3 dest/usr/bin/pt2-tlparse nowhere
like "is called so" "$(cat err)" '^pt2-tlparse: '
like "in its completion" "$(dest/usr/bin/pt2-tlparse --completion=zsh)" '#compdef pt2-tlparse'
rm dest/usr/bin/pt2-tlparse

# Python finds them on PATH where no wheel is installed.
py() { env PATH="$TMP/dest/usr/bin:$PATH" PYTHONPATH="$ROOT/packaging/wheel" python3 "$@"; }
exits "python -m pt2utils" 0 py -m pt2utils
is "lists the tools" "$(awk '{print $1}' out | sort | xargs)" "$(printf '%s\n' "${tools[@]}" | sort | xargs)"
py -u -m pt2utils 2>said | true
is "to one who does not read them, too" "$(cat said)" ""
like "with what they are for" "$(cat out)" 'tlparse +What did torch.compile do'
exits "runs one" 2 py -m pt2utils tlparse --nothing
like "which speaks for itself" "$(cat err)" '^tlparse: unknown option'
exits "a tool that there is not" 2 py -m pt2utils nosuch
is "one clear line" "$(cat out err)" "pt2utils: unknown tool 'nosuch'; 'python -m pt2utils' lists the tools"
exits "a misspelt one" 2 py -m pt2utils fxexplian
like "what was meant" "$(cat err)" "'fxexplian' \\(did you mean 'fxexplain'\\?\\)"
is "its version" "$(py -m pt2utils --version)" "$(dest/usr/bin/pt2utils --version)"
mkdir python && ln -s "$(command -v python3)" python/
exits "without any tool" 4 env PATH="$TMP/python" PYTHONPATH="$ROOT/packaging/wheel" python3 -m pt2utils fxexplain
like "which is said" "$(cat err)" "pt2utils has no tool 'fxexplain' here"
exits "pt2utils.run gives the document, a finding (status 1) too" 0 py -c '
import pt2utils, sys
print(len(pt2utils.tools()), pt2utils.run("tlparse", sys.argv[1])["schema"], pt2utils.run("aoti-checkinputs", sys.argv[2], "f32[5,9]")["schema"])
try:
    pt2utils.run("tlparse", "nowhere")
except pt2utils.Error as e:
    print(e.status, e)' "$DATA/simple.log" "$DATA/aoti/mlp.pt2"
like "and an error where there is none" "$(cat out)" "^${#tools[@]} 2 pt2utils.contract/1
3 tlparse: .*'nowhere'"

# As `pip install --target` leaves it: programs beside the package, not where its RECORD says, and no lib/pt2utils.
mkdir -p target/bin target/pt2utils-1.dist-info
cp -r "$ROOT/packaging/wheel/pt2utils" target
cp dest/usr/bin/{pt2utils,fxexplain,pt2-run} target/bin
printf 'Metadata-Version: 2.1\nName: pt2utils\nVersion: 1\n' >target/pt2utils-1.dist-info/METADATA
echo '../../../bin/fxexplain,,' >target/pt2utils-1.dist-info/RECORD
exits "programs are found there" 0 env PYTHONPATH="$TMP/target" python3 -m pt2utils fxexplain --version
exits "what runs models is not" 4 env -u PT2_RUNNER target/bin/pt2-run "$DATA/aoti/mlp.pt2" 'f32[5,8]'
like "and why is said" "$(cat err)" "lib/pt2utils/pt2-runner', a part of pt2utils \(pip install --target leaves it out: use --prefix"

# All tools are one program, and what lies under their names is little.
is "what is under their names is small" "$(cd dest/usr/bin && find . -size +64k ! -name pt2utils)" ""
for t in "${tools[@]}"; do
	is "$t of one program" "$("dest/usr/bin/$t" --version) $(dest/usr/bin/pt2utils "$t" --version)" "$("$t" --version) $("$t" --version)"
done
ln -s dest/usr/bin/fxexplain explain
is "by a link of another name, too" "$(./explain --version)" "$(fxexplain --version)"
mkdir -p unpacked/data && cp -r dest/usr/bin unpacked/scripts && cp -r dest/usr/lib unpacked/data
exits "a wheel that was only unpacked runs one" 0 env -u PT2_RUNNER unpacked/scripts/pt2-run -q "$DATA/aoti/mlp.pt2" 'f32[5,8]'
is "a page is the same" "$(dest/usr/bin/tlparse --html=- "$DATA/simple.log" | cksum)" "$(tlparse --html=- "$DATA/simple.log" | cksum)"
exits "pt2utils alone" 2 dest/usr/bin/pt2utils
like "tells which tools there are" "$(cat err)" 'Usage: pt2utils TOOL .*fxexplain +explain what went wrong'
exits "-h" 0 dest/usr/bin/pt2utils -h
is "names all, with what each is for" "$(sed -n '/^Tools/,/^$/p' out | grep -cE '^  [a-z0-9-]+ +[a-z]')" "${#tools[@]}"
is "in at most 79 columns" "$(grep -E '.{80}' out)" ""
exits "no tool of this name" 2 dest/usr/bin/pt2utils nosuch
is "one clear line" "$(cat out err)" "pt2utils: unknown tool 'nosuch'; 'pt2utils -h' lists the tools"
exits "a misspelt one" 2 dest/usr/bin/pt2utils fxexplian
is "what was meant" "$(cat out err)" "pt2utils: unknown tool 'fxexplian' (did you mean 'fxexplain'?); 'pt2utils -h' lists the tools"
exits "a misspelt option" 2 dest/usr/bin/pt2utils --verson
like "what was meant, too" "$(cat err)" "unknown option '--verson' \(did you mean '--version'\?\)"
for o in -V --version; do is "pt2utils $o" "$(dest/usr/bin/pt2utils $o)" "pt2utils $(sed -n '/^[0-9]/{s/ .*//;p;q}' "$ROOT/NEWS")"; done
rm unpacked/scripts/pt2utils
exits "without the program" 4 unpacked/scripts/fxexplain --version
like "what is missing is said" "$(cat err)" "^fxexplain: cannot run '.*unpacked/scripts/pt2utils', which holds all tools: No such file"

mkdir -p dest/usr/share/man/man1 && touch dest/usr/share/man/man1/other.1
exits "make uninstall" 0 at uninstall
is "only what is another's stays" "$(cd dest && find . -mindepth 1)" './usr
./usr/share
./usr/share/man
./usr/share/man/man1
./usr/share/man/man1/other.1'
rm -r dest/usr
at install && at uninstall
is "nothing is left, no empty folder either" "$(find dest -mindepth 1)" ""
mkdir -p dest/usr/bin dest/usr/share/man/man1 dest/usr/share/doc dest/usr/lib
at install && at install-strip # the second finds the folders of the first
at uninstall
is "empty folders that were there before stay, all others go" "$(cd dest && find . -mindepth 1 | sort | xargs)" \
	'./usr ./usr/bin ./usr/lib ./usr/share ./usr/share/doc ./usr/share/man ./usr/share/man/man1'
rm -r dest/usr
exits "make uninstall where nothing is installed" 0 at uninstall

# INSTALL and STRIP are the user's.
printf '#!/bin/sh\necho "$@" >>%s/said\n' "$TMP" >say
chmod +x say
at install-strip INSTALL="$TMP/say" STRIP="$TMP/say strips"
ok "INSTALL is honoured" grep -q -- '-m 755 .*bin/tlparse' said
ok "so is STRIP" grep -q 'strips .*pt2-runner' said
is "and nothing else installs" "$(find dest -type f)" ""
done_testing
