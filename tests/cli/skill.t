#!/bin/bash
# share/skills/pt2utils, followed to the letter on pasted failures (tests/lib/skill_walk.py): how many walks end right. The skill was written before any was walked; at
# first sight 19 of the 20 ended right, and 162 of all 176.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
command -v python3 >/dev/null || skip_all "no python3"
skill=$ROOT/share/skills/pt2utils
timeout 500 python3 "$ROOT/tests/lib/skill_walk.py" "$BUILD" all >walked 2>errors
twenty=$(cd "$ROOT/tests/field" && python3 -c 'import score; print(*(r["name"] for r in score.rows()[4::9][:20]))')
for name in $twenty; do grep "^ok .* the skill on $name (" walked; done >right
walks=$(grep -c ' the skill on ' walked) right=$(grep -c '^ok ' walked)
ok "19 of twenty walks end right ($(grep -c . right))" test "$(grep -c . right)" -ge 19
ok "165 of all walks end right ($right of $walks)" test "$right" -ge 165
is "no walk gets lost" "$(grep ': lost' walked)" ""
# ---- the skill itself ----
is "it has a name and says when it is for" "$(sed -n '2,3s/^\(name\|description\): .*/\1/p' "$skill/SKILL.md" | paste -sd' ')" "name description"
is "its name is its folder's" "$(sed -n 's/^name: //p' "$skill/SKILL.md")" pt2utils
for link in $(grep -oE '\(references/[a-z]+\.md(#[a-z-]+)?\)' "$skill/SKILL.md" | tr -d '()' | sort -u); do
	file=${link%%#*} anchor=${link#*#}
	[ "$anchor" != "$link" ] || anchor=
	ok "$link is there" eval "test -f '$skill/$file' && { [ -z '$anchor' ] || grep -qx '## $anchor' '$skill/$file'; }"
done
# every command of it is one that the tools have
# shellcheck disable=SC2016 # code spans
grep -ohE '`(pt2|fxexplain|aoti-[a-z]+|pt2-run|fxminify)( [^`]*)?`|^(pt2|fxexplain|aoti-[a-z]+|pt2-run|fxminify) [^#]*' "$skill"/*.md "$skill"/references/*.md | tr -d '\`' | sort -u >commands
while read -r tool first _; do
	known=$("$tool" --help-synopsis 2>/dev/null | awk '{print $2}' | tr '\n' ' ')
	case $first in "" | FILE | [A-Z]* | *.pt2 | traces | -*) ok "$tool $first" command -v "$tool" ;; *) like "$tool $first" " $known fxexplain " " $first " ;; esac
done <commands
done_testing
