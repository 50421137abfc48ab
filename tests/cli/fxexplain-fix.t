#!/bin/bash
# fxexplain fix: the diffs of recorded programs (tests/data/causes, tests/live/causes), applied by patch(1) and by --apply; what is refused; the copies.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
mkdir v215 plain
tar -xJf "$ROOT/tests/data/causes/v215.tar.xz" -C v215
cp "$ROOT"/tests/live/causes/*.py plain/
trace() { echo "v215/$1/trace"; }
fresh() { rm -rf app && cp -r plain app; }

# ---- every program: what patch makes of the diff is what --apply makes, and Python reads it ----
command -v patch >/dev/null || skip_all "there is no patch(1)"
n=0 wrong=
for p in v215/*/; do
	name=$(basename "$p")
	inputs=()
	[ -n "$(ls "$p/trace")" ] && inputs+=("$p/trace")
	[ -s "$p/stderr" ] && inputs+=("$p/stderr")
	[ ${#inputs[@]} -gt 0 ] || continue
	fresh
	run fxexplain fix --root app "${inputs[@]}"
	case $status in
	0) ;;
	5) grep -q '^no edit: .*: ' err && [ ! -s out ] || wrong+=" $name:5"; continue ;;
	*) wrong+=" $name:$status"; continue ;;
	esac
	[ -s out ] || continue
	n=$((n + 1))
	mv out "$name.diff"
	(cd app && patch -s -p1 <"../$name.diff") || wrong+=" $name:patch"
	mv app patched
	fresh
	if command -v git >/dev/null; then
		(cd app && git apply "../$name.diff") 2>/dev/null || wrong+=" $name:git"
		diff -qr app patched >/dev/null || wrong+=" $name:git-differs"
		fresh
	fi
	run fxexplain fix -q --root app --apply "${inputs[@]}"
	for kept in app/*.orig; do cmp -s "$kept" "plain/$(basename "$kept" .orig)" || wrong+=" $name:orig"; done
	rm app/*.orig
	diff -qr app patched >/dev/null || wrong+=" $name:apply-differs"
	python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "app/$name.py" || wrong+=" $name:python"
	rm -rf patched
done
is "diffs apply, equal --apply, and leave valid programs" "$wrong" ""
ok "of 29 programs ($n)" test "$n" -ge 29

# ---- what the changes are ----
changes() { fresh; fxexplain fix -q --root app "$@" | grep '^[+-][^+-]'; }
is "a fix of a torch.compile argument" "$(changes "$(trace inductor_two_sizes)")" "$(printf '%s\n' '-@torch.compile' '+@torch.compile(dynamic=True)')"
is "a fix of a branch" "$(changes "$(trace fullgraph_branch)")" "$(printf '%s\n' '-    if x.sum() > 0:' '-        return x * 2' '-    return x' '+    return torch.where(x.sum() > 0, x * 2, x)')"
is "--only selects another fix" "$(changes --only torch.cond "$(trace fullgraph_branch)" | tail -n 1)" '+    return torch.cond(x.sum() > 0, lambda: x * 2, lambda: x, ())'
is "a fix that adds a setting and deletes a line" "$(changes "$(trace prints)")" "$(printf '%s\n' '+torch._dynamo.config.reorderable_logging_functions.add(print)' '-    print("mean", y.shape, file=sys.stderr)')"
is "a fix for the program's logger" "$(changes "$(trace loggers)")" '+torch._dynamo.config.ignore_logging_functions.add(log.info)'
fresh
run fxexplain fix --root app "$(trace prints)"
like "each fix has a comment above the diff" "$(head -n 1 out)" '^# prints\.py:6: .*: print\(\.\.\.\) without file='
run fxexplain fix --root app --only torch.cond "$(trace prints)"
is "--only without a match" "$status $(cat out err)" "0 no edit: no finding has a tested fix that matches --only: torch.cond"
(cd app && fxexplain fix -q "../$(trace prints)") >here
cmp -s here <(fxexplain fix -q --root app "$(trace prints)"); is "without --root: below this folder" $? 0

# ---- refused ----
refused() { # WHAT REGEX [ARGUMENT...]: nothing is printed, the program stays, and why is said
	local what=$1 why=$2
	shift 2
	cp -a app before
	run fxexplain fix --root app "$@" "$(trace prints)"
	if [ "$status" = 5 ] && [ ! -s out ] && grep -qE "^no edit: .*: $why" err && diff -r app before >/dev/null; then pass "$what"; else
		fail "$what" "status $status" "$(cat out err)"; fi
	rm -rf before app
	cp -r plain app
}
fresh; sed -i 's/    print/    log/' app/prints.py; refused "the line is another" "the line has changed"
fresh; sed -i 1d app/prints.py; refused "the line stands elsewhere" "the line has changed"
fresh; rm app/prints.py; refused "the file is gone" "the file is not below --root"
fresh; mv app/prints.py app/real.py; ln -s real.py app/prints.py; refused "a link" "the file is a symlink"
fresh; printf '# \xff\n' >>app/prints.py; refused "not UTF-8" "the file is not UTF-8"
fresh; sed -i 's/$/\r/' app/prints.py; refused "CR LF" "the file has lines that end in CR LF"
fresh; echo 'x = (' >>app/prints.py; refused "no Python" "the file cannot be parsed: .*unclosed bracket"
fresh; rm app/prints.py; mkdir app/prints.py; refused "a folder" "the file is a symlink, or not a regular file"
fresh; rm app/prints.py; mkdir out-of; cp plain/prints.py out-of/; ln -s ../out-of app/home; refused "a folder that leads out" "the file is not below" --only print
fresh; echo 'torch._dynamo.config.reorderable_logging_functions.add( print )' >>app/prints.py
refused "what is there already" "already there, in line 12" --only '.add(print)'

# ---- hostile names: of files in the trace, of text at the lines ----
mkdir evil
name_is() { cat "$(trace prints)"/*.log | sed "s#/home/user/app/prints.py#$1#g" >evil/evil.log; }
for bad in '../app/prints.py' '/x/../app/prints.py' 'app/a\\"b.py' 'app/a\\nb.py' 'app/a\\u001bb.py' '<stdin>'; do
	name_is "$bad"
	for f in $'a\nb.py' $'a\eb.py' 'a"b.py'; do cp plain/prints.py "app/$f"; done
	run fxexplain fix --root . --apply evil/evil.log
	is "a file called $bad is never changed" "$status $(cat out) $(find . -name '*.orig')" "5  "
done
name_is /usr/lib/python3/site-packages/torch/prints.py
run fxexplain fix --root . evil/evil.log
is "torch's own files are not changed" "$(grep -c '^-' out)" 0
fresh
name_is '/a/my prog.py'
cp plain/prints.py 'app/my prog.py'
ok "a file name with a space" bash -c "fxexplain fix -q --root app evil/evil.log >blank.diff && cd app && patch -s -p1 <../blank.diff && ! cmp -s 'my prog.py' prints.py"
fresh
sed -i $'7s/$/ # \e[31m/' app/prints.py
run fxexplain fix --root app "$(trace prints)"
is "a line with control characters is not shown" "$(cat out)$(grep -c 'control characters' err)" 1
fresh
printf '%s' "$(cat app/prints.py)" >app/p && mv app/p app/prints.py
ok "a file without a newline at the end" bash -c "fxexplain fix -q --root app '$(trace prints)' >end.diff && cd app && patch -s -p1 <../end.diff && [ \$(tail -c 1 prints.py | wc -l) = 0 ]"

# ---- --apply ----
fresh
chmod 741 app/prints.py
echo mine >app/prints.py.orig
run fxexplain fix --root app --apply "$(trace prints)"
is "--apply names the file and its copy" "$status $(sed "s:$PWD/::g" out)" "0 app/prints.py: 2 changes; original kept as app/prints.py.orig.1"
is "an existing copy is kept" "$(cat app/prints.py.orig)" mine
ok "the copy equals the original" cmp app/prints.py.orig.1 plain/prints.py
is "the file's mode is kept" "$(stat -c %a app/prints.py)" 741
is "no temporary file is left" "$(find app -newer evil -name '*tmp*')" ""
run fxexplain fix --root app --apply "$(trace prints)"
is "--apply again changes nothing" "$status $(cat out) $(find app -name '*.orig.2')" "5  "
fresh
chmod a-w app/prints.py
run fxexplain fix --root app --apply "$(trace prints)"
is "--apply to a read-only file" "$status $(grep -c 'read-only' err) $(find app -name '*.orig')" "4 1 "
fresh
(ulimit -f 0; fxexplain fix -q --root app --apply "$(trace prints)") >/dev/null 2>err
is "--apply on a full disk" "$? $(find app -name '*.orig*' -o -name '*.tmp*') $(cmp app/prints.py plain/prints.py)" "4  "

# Where there are no hard links (vfat, FUSE) the file is copied.
so=$BUILD/tests-lib/inject.so
if [ -e "$so" ]; then
	fresh
	chmod 741 app/prints.py
	echo mine >app/prints.py.orig
	INJECT_LINK=EPERM LD_PRELOAD=$so run fxexplain fix -q --root app --apply "$(trace prints)"
	is "--apply without hard links: a copy" "$status $(sed "s:$PWD/::g" out) $(stat -c '%a %h' app/prints.py.orig.1)" "0 app/prints.py: 2 changes; original kept as app/prints.py.orig.1 741 1"
	ok "the copy equals the original, too" cmp app/prints.py.orig.1 plain/prints.py
	is "... and nothing else is changed" "$(cat app/prints.py.orig) $(find app -name '*tmp*')" "mine "
	fresh
	(ulimit -f 0; INJECT_LINK=EPERM LD_PRELOAD=$so fxexplain fix -q --root app --apply "$(trace prints)") >/dev/null 2>err
	is "... on a full disk" "$? $(find app -name '*.orig*' -o -name '*.tmp*') $(cmp app/prints.py plain/prints.py)" "4  "
else
	skip "no hard links: a copy" "inject.so is not built (make tests)"
fi

# ---- --json: edits of the files as they are, for editors ----
cat >edit.py <<'EOS'
import json, sys
doc, files = json.load(open(sys.argv[1])), {}
for fix in doc["fixes"]:
    for e in fix["edits"]:
        files.setdefault(fix["file"], []).append(e)
for path, edits in files.items():
    text = open(path, "rb").read()
    for e in sorted(edits, key=lambda e: -e["start"]["byte"]):
        a, b = e["start"]["byte"], e["end"]["byte"]
        assert text[a:b].decode() == e["old"], e
        assert text[:a].count(b"\n") + 1 == e["start"]["line"] and a - (text.rfind(b"\n", 0, a) + 1) + 1 == e["start"]["column"], e
        text = text[:a] + e["new"].encode() + text[b:]
    open(path, "wb").write(text)
EOS
wrong=
for p in prints many_recompiles fullgraph_branch inductor_two_sizes loggers; do
	fresh
	fxexplain fix --json --root app "$(trace $p)" >doc.json 2>err || wrong+=" $p:$? $(cat err)"
	python3 edit.py doc.json || wrong+=" $p:edits"
	mv app edited
	fresh
	fxexplain fix --apply --root app "$(trace $p)" >out 2>err || wrong+=" $p:$? $(cat err)"
	cmp "app/$p.py" "edited/$p.py" || wrong+=" $p:differs"
	rm -rf edited
done
is "edits in --json equal --apply" "$wrong" ""
fresh
run fxexplain fix -q --json --apply --root app "$(trace prints)"
is "--json --apply names the copy" "$(jq -r '[.applied, .fixes[0].kept] | @csv' out | sed "s:$PWD/::")" 'true,"app/prints.py.orig"'
run fxexplain fix -q --json --root app "$(trace attribute_error)"
is "a rejected fix has no edits" "$status $(jq -c '[.fixes[0].refused, .fixes[0].edits]' out)" '5 ["no automatic fix",[]]'

# ---- the command line ----
exits "--sarif is rejected" 2 fxexplain fix --sarif "$(trace prints)"
exits "--root must be a directory" 2 fxexplain fix --root app/prints.py "$(trace prints)"
exits "a missing log" 3 fxexplain fix --root app nothing.log
run fxexplain fix --root app "$(trace numpy_c)"
is "fixes that are not one-line edits" "$status $(cat out) $(cat err)" "5  no edit: /home/user/app/numpy_c.py:6 in model: Attempted to call function marked as skipped: zlib.crc32: no automatic fix"
run fxexplain fix -q --root app "$(trace numpy_c)"
is "-q prints nothing about them" "$status $(cat out err)" "5 "
run fxexplain fix --root app "$(trace fine)"
is "nothing to fix" "$status $(cat out err)" "0 no edit: no finding has a tested fix"
done_testing
