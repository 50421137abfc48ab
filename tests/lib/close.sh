# close.sh - tensors of a file as lines, and lines that are the same but for rounding. After tap.sh.
# shellcheck shell=bash
tensors() { python3 "$ROOT/tests/lib/tensors.py" "$@"; }
# close GOT WANT
close() {
	python3 - "$1" "$2" <<'E2'
import ast, sys
got, want = ([l.split(" ", 2) for l in open(f)] for f in sys.argv[1:])
number = lambda rest: ast.literal_eval(rest.replace("] [", "], ["))
same = lambda g, w: g[:2] == w[:2] and number(g[2])[0] == number(w[2])[0] and all(
    abs(a - b) <= 2e-5 + 1e-3 * abs(b) for a, b in zip(number(g[2])[1], number(w[2])[1], strict=True))
bad = [w[0] for g, w in zip(got, want, strict=True) if not same(g, w)]
sys.exit(f"differ: {bad}" if bad or not want else 0)
E2
}
