#!/bin/bash
# Profiles made now: every row of torch's key_averages() equals fxexplain's, and what ran is told as it was.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>err) || skip_all "$(tail -n 1 err)"
command -v g++ >/dev/null || skip_all "no g++"
export PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore OMP_NUM_THREADS=1 TORCHINDUCTOR_COMPILE_THREADS=1 TORCHINDUCTOR_CACHE_DIR=$TMP/cache
record() { "$python" "$ROOT/scripts/fixtures/profiles.py" "$@" >log 2>&1 || fail "recording $1" "$(tail -3 log)"; }
# same NAME : calls, totals and self times of all rows, to 2 ns
same() {
	fxexplain profile --json "$1.json" >ours.json
	is "$1: rows are torch's" "$(python3 - "$1.rows.json" <<-'PY'
		import collections, json, sys
		ours = collections.defaultdict(lambda: [0, 0.0, 0.0])
		for r in json.load(open("ours.json"))["profiles"][0]["rows"]:
		    if r["class"] in ("op", "annotation", "runtime"):
		        row = ours[r["name"]]
		        row[0] += r["count"]
		        row[1] += r["total"] / 1000
		        row[2] += (r["self"] - r["overlap"]) / 1000  # torch's is negative where callees overlap
		for name, *torch in json.load(open(sys.argv[1])):
		    if any(abs(a - b) > 0.002 for a, b in zip(ours[name], torch)):
		        print(name, ours[name], torch)
	PY
	)" ""
}
record eager eager.json eager.rows.json
same eager
TORCHINDUCTOR_CPP_ENABLE_KERNEL_PROFILE=1 record compiled kernels.json kernels.rows.json
same kernels
exits "they are compared" 0 fxexplain profile --json eager.json kernels.json
json() { python3 -c "import json; d = json.load(open('out')); print($1)"; }
is "one break a step" "$(json '[(p["graph_breaks"], len(p["steps"])) for p in d["profiles"]]')" "[(0, 4), (4, 4)]"
is "what compiled code fused away" "$(json 'sorted(o["name"] for o in d["comparison"]["ops"] if o["fate"] == "gone" and "gelu" in o["name"])')" \
	"['aten::gelu', 'aten::gelu_backward']"
done_testing
