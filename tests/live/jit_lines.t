#!/bin/bash
# A program is edited between runs, so that its lines move and its graphs stay: torch's cache finds them, and aoti-nanassert names the lines of now.
# A minute.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>venv.err) || skip_all "$(tail -n 1 venv.err)"
export TORCHINDUCTOR_COMPILE_THREADS=1 TORCHINDUCTOR_CACHE_DIR=$TMP/cache
cat >before.py <<'EOF'
import torch
import torch._inductor.graph

lower = torch._inductor.graph.GraphLowering.run


def run(self, *args):
    print("compiled")
    return lower(self, *args)


torch._inductor.graph.GraphLowering.run = run


def f(x):
    y = x * 2
    return torch.log(y)


torch.compile(f)(torch.tensor([1.0, -1.0]))
EOF
# line WHAT COMPILED LINE
line() {
	run aoti-nanassert --json --log f.json -- "$python" app.py
	is "$1" "$(grep -c compiled out) $(jq -r '.findings[0].why.python' f.json | grep -oE '[0-9]+ in f: .*') $(jq '.findings | length' f.json)" "$2 $3 1"
}
cp before.py app.py
line "a cold cache" 1 "17 in f: return torch.log(y)"
libraries=$(find cache -name '*.so' | wc -l)
line "the same program: from the cache" 0 "17 in f: return torch.log(y)"
{ echo; echo; cat before.py; } >app.py
line "two lines more at its head: the line of now" 1 "19 in f: return torch.log(y)"
sed 's/return torch.log(y)/&  # of y/' before.py >app.py
line "another text of the line" 1 "17 in f: return torch.log(y)  # of y"
is "no kernel was compiled again" "$(find cache -name '*.so' | wc -l)" "$libraries"
done_testing
