#!/bin/bash
# The metrics and phases that libcommon/cli/run/diagnose knows are those of the installed torch.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>err) || skip_all "$(tail -n 1 err)"

"$python" -c '
import dataclasses, torch._dynamo.utils as u
for f in dataclasses.fields(u.CompilationMetrics): print(f.name)' >torch 2>err
sed -nE '/^#define METRICS/,/^$/s/^\tX\((\w+), .*/\1/p' "$ROOT/libcommon/core/run/metrics.h" >ours
is "torch's metrics could be listed" "$(tail -n 1 err)" ""
is "the same metrics in the same order" "$(cat ours)" "$(cat torch)"

# What a compilation writes is known: no metric without a row, and little time in phases without a part.
cat >app.py <<-'END'
	import torch
	def f(x):
	    return torch.relu(x @ x).sum()
	torch.compile(f)(torch.randn(8, 8, requires_grad=True)).backward()
END
mkdir trace
TORCH_TRACE=$PWD/trace TORCHINDUCTOR_CACHE_DIR=$PWD/cache OMP_NUM_THREADS=1 "$python" app.py >out 2>err
is "the program runs" "$?" 0
fxexplain -q --json --show metrics trace >x.json
jq -r '.metrics[].name' x.json | sort -u >written
is "no metric is unknown" "$(comm -23 written <(sort ours))" ""
ok "some were written" test "$(wc -l <written)" -gt 40
is "nearly all of the time has a name" "$(jq '.times[0] | ([.parts[] | select(.name == "other") | .seconds] | add // 0) < 0.05 * .seconds' x.json)" true
done_testing
