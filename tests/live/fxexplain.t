#!/bin/bash
# fxexplain with real torch: known numbers of breaks, recompiles and failures (fxexplain_cases.py, fxexplain_failures.py), held against
# what was done by hand and against what torch itself counts; where torch counts otherwise, fxexplain_check.py says why.
# shellcheck disable=SC2016 # words for another shell
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
[ -x "$BUILD/bin/fxexplain" ] || skip_all "fxexplain is not built"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>venv.err) || skip_all "$(tail -n 1 venv.err)"
command -v g++ >/dev/null || skip_all "there is no C++ compiler"
live=$ROOT/tests/live
mkdir tmp cache
export TMPDIR=$TMP/tmp TORCHINDUCTOR_CACHE_DIR=$TMP/cache
unset TORCH_TRACE TORCH_LOGS

# The lines of fxexplain_check.py are tests of this file.
held() {
	tap_of "" python3 "$live/fxexplain_check.py" "$@"
}

# What TORCH_LOGS says of the same breaks and recompiles is not counted again.
TORCH_LOGS=graph_breaks,recompiles run fxexplain run -q --json -o cases.json -- "$python" "$live/fxexplain_cases.py" numbers.json
is "the cases run" "$status" 0
ok "torch._dynamo.explain of them" "$python" "$live/fxexplain_cases.py" --explain explain.json
held cases cases.json numbers.json explain.json

run fxexplain run -q --json -o failures.json -- "$python" "$live/fxexplain_failures.py" --caught lines.json eager dynamo aotautograd inductor compiler fine again
is "what is caught ends with 0" "$status" 0
held failures failures.json lines.json

# ---- run ----

# died COMMAND... : how it ended, as Python has it
died() { python3 -c 'import subprocess, sys; print(subprocess.run(sys.argv[1:], stdout=2, stderr=open("err", "w")).returncode)' "$@" 2>out; }
is "a program that crashes" "$(died fxexplain run -- "$python" "$live/fxexplain_failures.py" crash)" -11
like "its breaks are told" "$(cat err)" "fxexplain_failures.py:[0-9]+.*graph_break"
is "an uncaught exception" "$(died fxexplain run -- "$python" "$live/fxexplain_failures.py" dynamo)" 1
like "is on standard error as ever" "$(cat err)" "torch._dynamo.exc.Unsupported: Call to .torch._dynamo.graph_break"
like "and its component told" "$(cat err)" "TorchDynamo"
is "--max with real breaks" "$(died fxexplain run -q --max graph-breaks=0 -- "$python" -c '
import torch
@torch.compile(backend="eager")
def f(x):
    torch._dynamo.graph_break()
    return x + 1
f(torch.ones(3))')" 1
is "no compilation, no trace" "$(died fxexplain run -- "$python" -c 'import torch')" 4

# ---- --bisect: as few runs as tell ----

bisect() { # bisect COMPONENT RUNS
	run fxexplain run --bisect -q --json -o bisect.json -- "$python" "$live/fxexplain_failures.py" "$1"
	is "bisect: $1" "$status $(python3 -c '
import json
d = json.load(open("bisect.json"))
print(d["component"], [r["name"] for r in d["runs"]], (d["torch"] or "None").split("+")[0], d["asked_for"])')" "1 $1 $2"
}
bisect eager "['as it is', 'compilation disabled'] None None"
bisect dynamo "['as it is', 'compilation disabled', 'eager'] 2.13.0 inductor"
bisect aotautograd "['as it is', 'eager', 'aot_eager'] 2.13.0 inductor"
bisect inductor "['as it is', 'aot_eager_decomp_partition', 'as it is, without caches'] 2.13.0 inductor"
like "the exception is quoted" "$(python3 -c 'import json; print(json.load(open("bisect.json"))["runs"][0]["error"])')" "NotImplementedError: no lowering of this"
is "nothing is left" "$(find tmp -maxdepth 1 -name 'fxexplain.*')" ""
done_testing
