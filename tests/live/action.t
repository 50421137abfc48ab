#!/bin/bash
# action.yml with real torch: the baseline of a program, a change of it with a graph break, which is found and annotated at its line, and the change
# taken back. The steps are run as GitHub's runner has them (tests/lib/run_action.py).
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>venv.err) || skip_all "$(tail -n 1 venv.err)"
python3 -c 'import yaml' 2>/dev/null || skip_all "python3-yaml is not installed"
unset TORCH_TRACE "${!GITHUB_@}" "${!PT2_@}"
mkdir -p checkout/app job
cd checkout || exit 4
cat >app/good.py <<'EOS'
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = torch.nn.Linear(16, 32), torch.nn.Linear(32, 4)

    def forward(self, x):
        x = torch.relu(self.a(x))
        return self.b(x)


net = torch.compile(Net())
for _ in range(3):
    net(torch.randn(8, 16)).sum().backward()
print("trained")
EOS
sed '/relu/a\        print("mean", x.mean().item())' app/good.py >app/bad.py
echo '{"pull_request": {"number": 12}}' >../job/event
action() { # action EVENT PROGRAM : as if the change were in it
	cp "app/$2.py" app/train.py
	rm -f ../job/summary
	GITHUB_EVENT_NAME=$1 GITHUB_EVENT_PATH=$TMP/job/event GITHUB_RUN_ID=$3 GITHUB_RUN_ATTEMPT=1 GITHUB_SERVER_URL=https://github.example \
		run python3 "$ROOT/tests/lib/run_action.py" "$ROOT/action.yml" ../job package= run="'$python' app/train.py"
}
verdict() { sed -n 's/^verdict=//p' ../job/outputs; }
action push good 1
is "a push makes the baseline" "$status $(verdict) $(jq .summary.graph_breaks .fxexplain/baseline.json)" "0 new 0"
like "the program ran" "$(cat out)" trained
rm -r .fxexplain
action pull_request bad 2
is "a request with a graph break" "$status $(verdict)" "1 worse"
line=$(grep -n 'print("mean' app/bad.py)
like "is annotated at its line" "$(grep ^::warning out)" "file=app/train.py,line=${line%%:*},title=graph-break [A-Z0-9]+::.*(print|item)"
like "the summary says what, where and the fix" "$(cat ../job/summary)" "worse than before.*more: graph breaks: .*\\| warning \\| [^|]*\\| .app/train.py:${line%%:*} in forward"
is "for the other job" "$(jq -r '.verdict + " " + (.findings[0].line | tostring)' ../job/temp/fxexplain-fxexplain-ci/result.json)" "worse ${line%%:*}"
action pull_request good 3
is "taken back: as before" "$status $(verdict) $(grep -c '^::warning' out)" "0 same 0"
done_testing
