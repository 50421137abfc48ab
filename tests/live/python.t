#!/bin/bash
# import pt2utils and its pytest plugin with a real torch: every example of docs/user/PYTHON.md, and programs of tests/live/causes, each inside watch() and
# under TORCH_TRACE. LIVE_TORCH=VERSION with PT2_PYTHON: another torch.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>venv.err) || skip_all "$(tail -n 1 venv.err)"
export PYTHONDONTWRITEBYTECODE=1 TORCHINDUCTOR_CACHE_DIR=$TMP/inductor
mkdir built && ln -s "$BUILD/bin" built/bin && "$ROOT/packaging/wheel/checkout" built >/dev/null
export PYTHONPATH=$TMP/built/python

# Examples of the page: all but the last are one program, the last is a file of tests.
python3 - "$ROOT/docs/user/PYTHON.md" <<'P'
import re, sys
blocks = re.findall(r"^```python\n(.*?)^```", open(sys.argv[1]).read(), re.M | re.S)
models = next(n for n, b in enumerate(blocks) if "aoti_compile" in b)
open("blocks.py", "w").write("\n".join(blocks[:models]))
open("models.py", "w").write("import pt2utils\n" + blocks[models])
open("test_page.py", "w").write(blocks[-1])
P
exits "examples: a block, a function, a log" 0 "$python" blocks.py
like "the finding and its fix are printed" "$(cat out)" 'print\("step"\).*fix '
if command -v g++ >/dev/null; then
	exits "examples: compiled models" 0 "$python" models.py
	like "the mismatch is printed" "$(cat out)" "the inputs do not fit
  input 0: size: expected 8, got 9; fix: "
else
	skip "examples: compiled models" "no C++ compiler"
fi
"$python" -c 'import pytest' 2>/dev/null || python3 -m pip install -q --target lib pytest pytest-xdist >pip.log 2>&1 || rm -rf lib
if "$python" -c 'import pytest' 2>/dev/null || [ -d lib ]; then
	export PYTHONPATH=$PYTHONPATH:$TMP/lib
	cat >>test_page.py <<'P'

def noisy(x):
    y = x.sin()
    print("noise")
    return y.cos()

@pytest.mark.pt2(graph_breaks=0)
def test_break():
    torch.compile(noisy, backend="eager")(torch.randn(3))

@pytest.mark.pt2
def test_nothing():
    noisy(torch.randn(3))

@pytest.mark.pt2(graph_breaks=0)
def test_compiled_before():                              # noisy was: Dynamo is reset
    torch.compile(noisy, backend="eager")(torch.randn(3))
P
	run "$python" -m pytest -p no:cacheprovider -q test_page.py # the plugin by its entry point
	is "pytest: the page's tests pass, others fail" "$(grep -oE '^FAILED test_page.py::\w+|[0-9]+ failed, [0-9]+ passed' out | xargs)" \
		"FAILED test_page.py::test_break FAILED test_page.py::test_nothing FAILED test_page.py::test_compiled_before 3 failed, 2 passed"
	like "at the user's line" "$(cat out)" "at     $TMP/test_page.py:[0-9]+ in noisy
         > print\(\"noise\"\)"
	unlike "without torch's records" "$(cat out)" torch.__trace
else
	skip "pytest" "pytest is not installed and cannot be: $(tail -n 1 pip.log)"
fi
cd "$ROOT/tests/live/causes" && programs=(late_closures.py b_early_exit.py b_config_flag.py fullgraph_item.py break_then_recompiles.py fine.py) && cd "$TMP" || exit
tap_of "watch() and TORCH_TRACE agree: " "$python" "$ROOT/tests/live/watched.py" "${programs[@]/#/$ROOT/tests/live/causes/}"
done_testing
