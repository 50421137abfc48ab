#!/bin/bash
# Settings of a project: pyproject.toml [tool.pt2utils] and .pt2utils.toml: where they are found, what comes first, what is refused and at
# which line; whose python is taken.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
unset PT2_PYTHON PT2_SETTINGS

export HOME=$TMP/home
mkdir -p home/repo/src/deep home/repo/.git && cd home/repo || exit 4
log=$DATA/graph_breaks.log
breaks=$(jq .summary.graph_breaks <(fxexplain --json "$log"))
holds() { pt2 settings --json | jq -r --arg name "$1" '.settings[] | select(.name == $name) | "\(.value) \(.from)"'; }

# ---- found ----
is "none: the defaults" "$(holds python)" "python3 default"
is "no file" "$(pt2 settings --json | jq .file)" null
cat >pyproject.toml <<'T'
[project]
name = "app"
[tool.ruff]
ignore = ["E501"]

[tool.pt2utils]
python = "tools/python"
ignore = ["GB0124"]
[tool.pt2utils.max]
graph-breaks = 5
T
cd src/deep || exit 4
is "found above the working directory" "$(holds ignore)" "GB0124 ../../pyproject.toml:8"
is "a path is relative to the file" "$(holds python)" "$TMP/home/repo/tools/python ../../pyproject.toml:7"
printf '[project]\nname = "inner"\n' >../pyproject.toml
is "a pyproject.toml without the table does not count" "$(holds ignore)" "GB0124 ../../pyproject.toml:8"
echo 'max.graph-breaks = 7' >../.pt2utils.toml
is "the nearest file alone holds" "$(holds max.graph-breaks)/$(holds ignore)" "7 ../.pt2utils.toml:1/"
rm ../.pt2utils.toml ../pyproject.toml
cd ../..
echo 'ignore = ["recompile"]' >.pt2utils.toml
is ".pt2utils.toml comes before pyproject.toml" "$(holds ignore)" "recompile .pt2utils.toml:1"
rm .pt2utils.toml
mkdir -p inner/.git && cd inner || exit 4
is "the root of a repository ends the search" "$(pt2 settings --json | jq .file)" null
cd ../.. && mkdir plain && cd plain || exit 4
echo 'ignore = ["cache"]' >"$TMP/.pt2utils.toml"
is "so does the home directory" "$(pt2 settings --json | jq .file)" null
echo 'ignore = ["cache"]' >../.pt2utils.toml
is "whose own file holds" "$(holds ignore)" "cache ../.pt2utils.toml:1"
rm ../.pt2utils.toml
cd ../repo || exit 4
is "PT2_SETTINGS names another" "$(PT2_SETTINGS=$TMP/.pt2utils.toml holds ignore)" "cache $TMP/.pt2utils.toml:1"
is "empty: none" "$(PT2_SETTINGS='' pt2 settings --json | jq .file)" null
run env PT2_SETTINGS="$TMP/missing" pt2 settings
is "one that is not there" "$status $(cat err)" "2 pt2: PT2_SETTINGS: '$TMP/missing' has no settings for pt2utils"
run pt2 settings
like "as text" "$(cat out)" 'max.graph-breaks +5 +pyproject.toml:10 +--max'

# ---- used ----
run fxexplain --json "$log"
is "ignored findings" "$status $(jq -r '.ignored[] | "\(.id) \(.ignored_by)"' out)" "1 GB0124 pyproject.toml:8"
like "limits" "$(cat err)" '^fxexplain: graph breaks: [0-9]+, at most 5 allowed'
run fxexplain --sarif "$log"
is "SARIF: suppressed from outside" "$(jq -c '[.runs[0].results[].suppressions[]?.kind]' out)" '["external"]'
exits "tlparse, too" 1 tlparse -q --json "$log"
exits "an option comes first" 0 fxexplain --max "graph-breaks=$breaks" "$log"
exits "of other limits nothing changes" 1 fxexplain --max frames=1000 "$log"
exits "no file, no limit" 0 env PT2_SETTINGS= fxexplain "$log"
cat >pyproject.toml <<'T'
[tool.pt2utils.per-file-ignores]
"app/graph_*.py" = ["graph-break"]
"vendor/*" = ["recompile"]
T
run fxexplain --json "$log"
is "by file: the end of its path" "$(jq -r '[.ignored[].ignored_by] | unique[]' out)" "pyproject.toml:2"
is "all of that kind" "$(jq -r '[.findings[] | select(.kind == "graph-break")] | length' out)" 0
printf '[tool.pt2utils]\npatterns = "patterns"\n' >pyproject.toml
is "patterns: a path of the file" "$(cd src && holds patterns)" "$TMP/home/repo/patterns ../pyproject.toml:2"

# ---- python ----
mkdir -p tools && printf '#!/bin/sh\necho "the settings'\'' python: $*"\n' >tools/python && chmod +x tools/python
printf '[tool.pt2utils]\npython = "tools/python"\n' >pyproject.toml
printf 'import os\nprint("the own python")\n' >app.py
pt2 -q run app.py >out 2>err
like "a program is run by it" "$(cat out)" "the settings' python: app.py"
is "PT2_PYTHON comes first" "$(PT2_PYTHON=/usr/bin/python3 holds python)" "/usr/bin/python3 PT2_PYTHON"
is "a name is looked for in PATH" "$(echo 'python = "python3.11"' >.pt2utils.toml; holds python)" "python3.11 .pt2utils.toml:1"
rm .pt2utils.toml
chmod o+w pyproject.toml
pt2 settings --json >out 2>err
like "not from a file that others may write to" "$(cat err)" '^pt2: pyproject.toml:2: python is not taken from a file'
is "its default holds" "$(jq -r '.settings[] | select(.name == "python").from' out)" default
chmod o-w pyproject.toml
if [ "$(id -u)" = 0 ]; then
	chown 12345 pyproject.toml
	pt2 settings --json >out 2>err
	like "nor from another user's" "$(cat err)" 'python is not taken'
	SUDO_UID=12345 pt2 settings --json >out 2>err
	is "but from who called sudo" "$(jq -r '.settings[] | select(.name == "python").from' out)" pyproject.toml:2
	chown 0 pyproject.toml
else
	skip "whose file it is needs root" 2
fi

# ---- refused, with the line ----
refused() { # refused NAME MESSAGE : standard input is the file
	cat >.pt2utils.toml
	run fxexplain "$log"
	is "refused: $1" "$status $(cat err)" "2 fxexplain: .pt2utils.toml:$2"
}
refused "no TOML" "2: expected a value" <<<$'ignore = []\npython = x'
refused "an unknown name" "1: unknown setting 'pyton' (did you mean 'python'?): use python, patterns, ignore, max, per-file-ignores" <<<"pyton = 'x'"
refused "a number for a path" "3: 'python' must be a path" <<<$'\n\npython = 3'
refused "a text for a list" "1: 'ignore' must be a list of ids of findings, as in [\"GB0124\", \"recompile\"]" <<<'ignore = "GB0124"'
refused "a text for a number" "2: 'graph-breaks' must be a number" <<<$'[max]\ngraph-breaks = "5"'
refused "a number for a table" "1: 'max' must be a table" <<<'max = 3'
echo 'max.graph_breaks = 3' >.pt2utils.toml
run fxexplain "$log"
like "refused: an unknown limit, with what was meant" "$status $(cat err)" "^2 fxexplain: .pt2utils.toml:1: .*'graph_breaks'.*graph-breaks"
rm .pt2utils.toml
mkfifo .pt2utils.toml
exits "a pipe is not waited for" 0 timeout 20 pt2 settings
rm .pt2utils.toml
exits "-h needs no settings" 0 env PT2_SETTINGS="$TMP/missing" fxexplain -h
done_testing
