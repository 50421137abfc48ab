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
want+=(bin/pt2utils lib/pt2utils/libpt2alloc.so lib/pt2utils/libpt2probe.so lib/pt2utils/libpt2shim.so lib/pt2utils/pt2-runner share/doc/pt2utils/NEWS)
is "every file is installed" "$(missing "${want[@]}")" ""
is "the manual pages refer to documents by their installed path" \
	"$(grep -ho '/usr/share/doc/[A-Za-z0-9/._-]*\.md' dest/usr/share/man/man1/* | sort -u | while read -r f; do [ -s "dest$f" ] || echo "$f"; done)" ""
ok "a referenced document is installed" grep -q '/usr/share/doc/pt2utils/formats/REPORT.md' dest/usr/share/man/man1/tlparse.1
is "programs are stripped" "$(for f in dest/usr/bin/* dest/usr/lib/pt2utils/*; do readelf -SW "$f" | grep -o '\.debug_info'; done)" ""
exits "the installed pt2-run finds its runner" 0 env -u PT2_RUNNER dest/usr/bin/pt2-run -q "$DATA/aoti/mlp.pt2" 'f32[5,8]'
exits "the installed aoti-checkinputs finds its probe" 4 dest/usr/bin/aoti-checkinputs -q -- true
# SLEEF beside what runs models comes before the system's (a wheel brings it).
sleef=$TMP/dest/usr/lib/pt2utils/libsleef.so.3
printf 'int sleef;\n' | ${CC:-cc} -shared -x c - -o "$sleef"
xz -dc "$ROOT/tests/data/aoti/nan/log.pt2.xz" >log.pt2
unzip -qp "$ROOT/tests/data/aoti/nan/io/log.npz" in0.npy >log.npy
exits "a SLEEF without functions beside the runner" 3 dest/usr/bin/pt2-run -q log.pt2 log.npy
like "that SLEEF is the one loaded" "$(cat err)" 'Sleef_'
rm "$sleef"
for t in "${tools[@]}"; do
	ok "$t runs" "dest/usr/bin/$t" --version
done
# Installed beside a package that has one of this name.
cp dest/usr/bin/tlparse dest/usr/bin/pt2-tlparse
exits "a tool called pt2-TOOL" 3 dest/usr/bin/pt2-tlparse nowhere
like "its messages use that name" "$(cat err)" '^pt2-tlparse: '
like "its completion uses that name" "$(dest/usr/bin/pt2-tlparse --completion=zsh)" '#compdef pt2-tlparse'
rm dest/usr/bin/pt2-tlparse

# As pip installs it: no tlparse. Every command that is shown exists there.
mkdir pip && cp -P dest/usr/bin/* pip/ && mv pip/tlparse pip/pt2-tlparse
only() { env PATH="$TMP/pip:/usr/bin:/bin" "$@"; }
ok "no tlparse of another package is in the way" bash -c '! PATH=/usr/bin:/bin command -v tlparse'
exists() { # exists FILE : the commands on its lines of next steps that there are not
	sed -n 's/^ *\(next\|see\) \{1,\}//p; s/^      \([a-z]\)/\1/p' "$1" | grep -E '^[a-z][a-z0-9-]* ' | while read -r word _; do
		only bash -c "command -v $word" >/dev/null || [ "$word" = python ] || echo "$word"
	done
}
cp "$DATA"/{graph_breaks,recompiles,compile_error}.log .
for log in graph_breaks recompiles compile_error; do
	only pip/pt2 "$log.log" >shown 2>err || test $? = 1
	is "$log: the next commands exist" "$(exists shown)" ""
	sed -n '/^next  /,$s/^\(next\|    \)  //p' shown >commands
	while read -r line; do
		only sh -c "$line" </dev/null >said 2>&1
		case $? in 0 | 1 | 5) ;; *) echo "$line" && cat said ;; esac
	done <commands >failed
	is "$log: they work" "$(cat failed)" ""
done
only pip/pt2 diff graph_breaks.log recompiles.log >out 2>err
like "which tool answers is shown by the name that it has there" "$(cat err)" ': pt2-tlparse --diff graph_breaks.log recompiles.log'
is "no text names a tlparse" "$(grep -rnE "(^|[;&|:'\`(] *|then )tlparse " "$ROOT"/share/{patterns,known,fxminify,mend,explain})" ""
rm -r pip

# Python finds them on PATH where no wheel is installed.
py() { env PATH="$TMP/dest/usr/bin:$PATH" PYTHONPATH="$ROOT/packaging/wheel" python3 "$@"; }
exits "python -m pt2utils" 0 py -m pt2utils
is "python -m pt2utils lists the tools" "$(awk '{print $1}' out | sort | xargs)" "$(printf '%s\n' "${tools[@]}" | sort | xargs)"
py -u -m pt2utils 2>said | true
is "a closed pipe is not an error" "$(cat said)" ""
like "the list says what each tool answers" "$(cat out)" 'tlparse +What did torch.compile do'
exits "python -m pt2utils TOOL runs it" 2 py -m pt2utils tlparse --nothing
like "the tool's own message is shown" "$(cat err)" '^tlparse: unknown option'
exits "an unknown tool" 2 py -m pt2utils nosuch
is "the error is one line" "$(cat out err)" "pt2utils: unknown tool 'nosuch'; 'python -m pt2utils' lists the tools"
exits "a misspelt tool" 2 py -m pt2utils fxexplian
like "the error suggests the right one" "$(cat err)" "'fxexplian' \\(did you mean 'fxexplain'\\?\\)"
is "--version" "$(py -m pt2utils --version)" "$(dest/usr/bin/pt2utils --version)"
mkdir python && ln -s "$(command -v python3)" python/
exits "a package without programs" 4 env PATH="$TMP/python" PYTHONPATH="$ROOT/packaging/wheel" python3 -m pt2utils fxexplain
like "the message says which tool is missing" "$(cat err)" "pt2utils has no tool 'fxexplain' here"
exits "pt2utils.run returns a document, with findings, too" 0 py -c '
import pt2utils, sys
print(len(pt2utils.tools()), pt2utils.run("tlparse", sys.argv[1])["schema"], pt2utils.run("aoti-checkinputs", sys.argv[2], "f32[5,9]")["schema"])
try:
    pt2utils.run("tlparse", "nowhere")
except pt2utils.Error as e:
    print(e.status, e)' "$DATA/simple.log" "$DATA/aoti/mlp.pt2"
like "pt2utils.run raises an error without a document" "$(cat out)" "^${#tools[@]} 2 pt2utils.contract/1
3 tlparse: .*'nowhere'"

# As `pip install --target` leaves it: programs beside the package, not where its RECORD says, and no lib/pt2utils.
mkdir -p target/bin target/pt2utils-1.dist-info
cp -r "$ROOT/packaging/wheel/pt2utils" target
cp dest/usr/bin/{pt2utils,fxexplain,pt2-run} target/bin
printf 'Metadata-Version: 2.1\nName: pt2utils\nVersion: 1\n' >target/pt2utils-1.dist-info/METADATA
echo '../../../bin/fxexplain,,' >target/pt2utils-1.dist-info/RECORD
exits "programs of pip install --target are found" 0 env PYTHONPATH="$TMP/target" python3 -m pt2utils fxexplain --version
exits "pt2-runner is not" 4 env -u PT2_RUNNER target/bin/pt2-run "$DATA/aoti/mlp.pt2" 'f32[5,8]'
like "the message says why" "$(cat err)" "lib/pt2utils/pt2-runner', a part of pt2utils \(pip install --target leaves it out: use --prefix"

# All tools are one program, and what lies under their names is little.
is "the tools' files are small links" "$(cd dest/usr/bin && find . -size +64k ! -name pt2utils)" ""
for t in "${tools[@]}"; do
	is "$t is part of the one program" "$("dest/usr/bin/$t" --version) $(dest/usr/bin/pt2utils "$t" --version)" "$("$t" --version) $("$t" --version)"
done
ln -s dest/usr/bin/fxexplain explain
is "a link of another name works" "$(./explain --version)" "$(fxexplain --version)"
mkdir -p unpacked/data && cp -r dest/usr/bin unpacked/scripts && cp -r dest/usr/lib unpacked/data
exits "an unpacked wheel works" 0 env -u PT2_RUNNER unpacked/scripts/pt2-run -q "$DATA/aoti/mlp.pt2" 'f32[5,8]'
is "the one program writes the same page" "$(dest/usr/bin/tlparse --html=- "$DATA/simple.log" | cksum)" "$(tlparse --html=- "$DATA/simple.log" | cksum)"
exits "pt2utils without a tool" 2 dest/usr/bin/pt2utils
like "the usage lists the tools" "$(cat err)" 'Usage: pt2utils TOOL .*fxexplain +explain what went wrong'
exits "pt2utils -h" 0 dest/usr/bin/pt2utils -h
is "-h has every tool and its question" "$(sed -n '/^Tools/,/^$/p' out | grep -cE '^  [a-z0-9-]+ +[a-z]')" "${#tools[@]}"
is "-h fits 79 columns" "$(grep -E '.{80}' out)" ""
exits "pt2utils and a thing: it is pt2" 0 dest/usr/bin/pt2utils "$DATA/simple.log"
is "... as pt2 says it" "$(cat out)" "$(dest/usr/bin/pt2 "$DATA/simple.log" 2>/dev/null)"
like "... which finds the tools beside it" "$(cat err)" '^pt2: .*simple.log is a trace of torch.compile: fxexplain'
exits "pt2utils and no such thing" 3 dest/usr/bin/pt2utils nosuch
is "the error is one line, too" "$(cat out err)" "pt2: cannot read 'nosuch': No such file or directory"
exits "pt2utils with a misspelt tool" 2 dest/usr/bin/pt2utils fxexplian
is "the error suggests the right tool" "$(cat out err)" "pt2: 'fxexplian' is neither a file nor a command (did you mean 'fxexplain'?); 'pt2 -h' lists them"
exits "pt2utils with a misspelt option" 2 dest/usr/bin/pt2utils --verson
like "the error suggests the right option" "$(cat err)" "unknown option '--verson' \(did you mean '--version'\?\)"
for o in -V --version; do is "pt2utils $o" "$(dest/usr/bin/pt2utils $o)" "pt2utils $(sed -n '/^[0-9]/{s/ .*//;p;q}' "$ROOT/NEWS")"; done
rm unpacked/scripts/pt2utils
exits "a link without the program" 4 unpacked/scripts/fxexplain --version
like "the message names the missing program" "$(cat err)" "^fxexplain: cannot run '.*unpacked/scripts/pt2utils', which holds all tools: No such file"

mkdir -p dest/usr/share/man/man1 && touch dest/usr/share/man/man1/other.1
exits "make uninstall" 0 at uninstall
is "only foreign files are left" "$(cd dest && find . -mindepth 1)" './usr
./usr/share
./usr/share/man
./usr/share/man/man1
./usr/share/man/man1/other.1'
rm -r dest/usr
at install && at uninstall
is "nothing is left, not even an empty directory" "$(find dest -mindepth 1)" ""
mkdir -p dest/usr/bin dest/usr/share/man/man1 dest/usr/share/doc dest/usr/lib
at install && at install-strip # the second finds the folders of the first
at uninstall
is "directories that existed before are left" "$(cd dest && find . -mindepth 1 | sort | xargs)" \
	'./usr ./usr/bin ./usr/lib ./usr/share ./usr/share/doc ./usr/share/man ./usr/share/man/man1'
rm -r dest/usr
exits "make uninstall without an installation" 0 at uninstall

# INSTALL and STRIP are the user's.
printf '#!/bin/sh\necho "$@" >>%s/said\n' "$TMP" >say
chmod +x say
at install-strip INSTALL="$TMP/say" STRIP="$TMP/say strips"
ok "INSTALL is used" grep -q -- '-m 755 .*bin/tlparse' said
ok "STRIP is used" grep -q 'strips .*pt2-runner' said
is "nothing else installs files" "$(find dest -type f)" ""
done_testing
