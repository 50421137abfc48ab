#!/bin/bash
# aoti-checkinputs -- python: models in real torch are watched, and do what they do unwatched.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>err) || skip_all "$(tail -n 1 err)"
grep -qw avx2 /proc/cpuinfo || skip_all "the recorded models are x86-64-v3 code"
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore
xz -dc "$ROOT/tests/data/aoti/mixed.pt2.xz" >mixed.pt2
server() { "$python" "$ROOT/tests/live/probe.py" mixed.pt2 "$1"; }
watched() { # watched WHAT OPTION... : the server under the tool
	local what=$1
	shift
	run aoti-checkinputs "$@" -- "$python" "$ROOT/tests/live/probe.py" mixed.pt2 "$what"
}
last() { grep '^aoti-checkinputs: ' err | tail -n 1; }

server good >good.want 2>/dev/null
watched good
is "a good call: status" "$status" 0
is "a good call: the same result, bit for bit" "$(cat out)" "$(cat good.want)"
like "a good call: is counted" "$(last)" '1 model, 1 call, 0 did not fit'

server bad >bad.want 2>/dev/null
watched bad
is "bad calls: status" "$status" 1
is "bad calls: the same results and exceptions" "$(cat out)" "$(cat bad.want)"
like "bad calls: the model's own exception passes through" "$(cat out)" 'RuntimeError: expected inputs vector size to be 4, but got 3'
like "bad calls: the type is told" "$(cat err)" 'expected int32, given int64'
like "bad calls: the number of inputs is told" "$(cat err)" 'expected 4 inputs, given 3'
like "bad calls: are counted" "$(last)" '4 calls, 2 did not fit'

watched bad --fail
is "--fail: status" "$status" 1
like "--fail: torch raises our text" "$(cat out)" 'RuntimeError: input_handles\[2\]: unmatched dtype, expected: 3\(at::kInt\), but got: 4'
is "--fail: good calls run" "$(sed -n '1p;$p' out)" "$(sed -n '1p;$p' bad.want)"

watched threads
is "threads: status" "$status" 0
like "threads: results" "$(cat out)" '(^|[^0-9])0 wrong'
like "threads: every call is counted" "$(last)" '8002 calls, 0 did not fit'

watched fork
like "a forked worker ends as it does" "$(cat out)" 'child 0'
like "a forked worker is counted" "$(last)" '1 model, 6 calls, 0 did not fit'

watched spawn
like "spawned workers are counted" "$(last)" '2 models, 14 calls, 0 did not fit'

AOTI_RUNTIME_CHECK_INPUTS=1 server bad >checked.want 2>/dev/null
AOTI_RUNTIME_CHECK_INPUTS=1 watched bad
is "AOTI_RUNTIME_CHECK_INPUTS keeps its meaning" "$(cat out)" "$(cat checked.want)"
like "and the model's words are those that are told" "$(cat err)" "$(grep -m 1 -o 'input_handles.*' checked.want | sed 's/[][()]/./g')"

run aoti-checkinputs -- "$python" -c 'import torch; print(torch.ones(2).sum().item())'
is "torch without a model: nothing was watched" "$status" 4
is "torch without a model: does what it does" "$(cat out)" "2.0"

# A model without a buffer of its own calls nothing of libtorch's while it is loaded.
"$python" - <<'PY' 2>/dev/null
import torch
class Attention(torch.nn.Module):
    def forward(self, q):
        return torch.nn.functional.scaled_dot_product_attention(q, q, q)
program = torch.export.export(Attention(), (torch.randn(1, 2, 8, 16),))
torch._inductor.aoti_compile_and_package(program, package_path="attention.pt2")
PY
use='import sys, torch
model = torch._inductor.aoti_load_package("attention.pt2")
for kind in sys.argv[1:]:
    try:
        model(torch.ones(1, 2, 8, 16, dtype=getattr(torch, kind)))
    except RuntimeError:
        pass'
run aoti-checkinputs -- "$python" -c "$use" float64 float32
is "only attention: a call that does not fit: status" "$status" 1
like "only attention: is told" "$(cat err)" 'expected float32, given float64'
like "only attention: both are counted" "$(last)" '1 model, 2 calls, 1 did not fit'
run aoti-printer --level 3 -- "$python" -c "$use" float32
like "only attention: its operator is seen" "$(cat out)" 'scaled_dot_product'
run aoti-checkinputs -- "$python" -c "$use"
is "only attention: nothing was called, and that is no 0" "$status" 4
done_testing
