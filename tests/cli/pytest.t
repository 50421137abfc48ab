#!/bin/bash
# The pytest plugin of pt2utils, without torch: tests/lib/tracetorch replays recorded traces. With torch: tests/live/python.t.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python3 -c 'import pytest' 2>/dev/null || skip_all "no pytest"
export PYTHONDONTWRITEBYTECODE=1 PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 # others' plugins
mkdir built && ln -s "$BUILD/bin" built/bin && "$ROOT/packaging/wheel/checkout" built >/dev/null
export PYTHONPATH=$TMP/built/python${PYTHONPATH:+:$PYTHONPATH}
unset PYTEST_ADDOPTS
suite() { run env PYTHONPATH="$ROOT/tests/lib/tracetorch:$PYTHONPATH" COLUMNS=200 python3 -m pytest -p pt2utils._pytest -p no:cacheprovider -q "$@"; }
# verdicts: of each test its name, "passed" or the first line of its failure
verdicts() { python3 - "$1" <<'P'
import sys, xml.etree.ElementTree as tree
for case in tree.parse(sys.argv[1]).iter("testcase"):
    bad = [e for e in case if e.tag in ("failure", "error", "skipped")]
    print(case.get("name"), bad[0].tag + ": " + bad[0].get("message").split("\n")[0].removeprefix("Failed: ") if bad and bad[0].get("message") else bad[0].tag if bad else "passed")
P
}

cat >test_marks.py <<'P'
import os
import unittest

import pytest
import torch

DATA = os.environ["DATA"]


def compiles(log):
    os.environ["TRACE"] = "%s/%s.log" % (DATA, log)
    torch.compile(lambda: 1)()


def test_unmarked():
    compiles("graph_breaks")
    assert torch._dynamo.resets == 0


@pytest.mark.pt2(graph_breaks=0)
def test_breaks():
    compiles("graph_breaks")


@pytest.mark.pt2(graph_breaks=8, failures=2)
def test_enough():
    compiles("graph_breaks")
    assert torch._dynamo.resets == 2


@pytest.mark.pt2(recompiles=1, compile_seconds=0.4)
def test_two_limits():
    compiles("recompiles")


@pytest.mark.pt2
def test_nothing():
    pass


@pytest.mark.pt2(compiles=0)
def test_nothing_allowed():
    pass


@pytest.mark.pt2(compiles=0)
def test_something():
    compiles("simple")


@pytest.mark.pt2(nosuch=1)
def test_unknown_name():
    compiles("simple")


@pytest.mark.pt2(0)
def test_position():
    compiles("simple")


def test_fixture(pt2trace):
    resets = torch._dynamo.resets
    compiles("graph_breaks")
    assert pt2trace.summary.graph_breaks == 8 and resets > 0


@pytest.mark.pt2(recompiles=20)
def test_mark_and_fixture(pt2trace):
    compiles("recompiles")
    assert pt2trace.summary.recompiles == 9


@pytest.mark.pt2
def test_skips():
    pytest.skip("no device")


@pytest.mark.pt2(graph_breaks=0)
def test_fails_itself():
    compiles("graph_breaks")
    assert 1 == 2, "mine"


@pytest.mark.xfail(strict=True)
@pytest.mark.pt2(graph_breaks=0)
def test_expected():
    compiles("graph_breaks")


@pytest.mark.pt2(graph_breaks=0)
class TestInherited:
    def test_of_class(self):
        compiles("graph_breaks")

    @pytest.mark.pt2(graph_breaks=8)
    def test_closest_mark(self):
        compiles("graph_breaks")


class Unit(unittest.TestCase):
    @pytest.mark.pt2(graph_breaks=0)
    def test_unit(self):
        compiles("graph_breaks")
P
suite test_marks.py --junitxml=marks.xml
breaks="graph breaks: 8, at most 0 allowed: /home/user/app/graph_breaks.py:9 in shout (3 times), /home/user/app/graph_breaks.py:14 in sign (2 times), /home/user/app/graph_breaks.py:21 in checksum and 2 more"
is "marks, fixture, classes, unittest, xfail" "$(verdicts marks.xml | sort)" "$(sort <<P
test_unmarked passed
test_breaks failure: $breaks
test_enough passed
test_two_limits failure: seconds compiling: $(fxexplain --max=compile-seconds=0.4 "$DATA/recompiles.log" 2>&1 >/dev/null | sed -n 's/^fxexplain: seconds compiling: //p')
test_nothing failure: nothing was compiled here: pt2(compiles=0) allows that
test_nothing_allowed passed
test_something failure: compiles: 1, at most 0 allowed: /home/user/app/simple.py:5 in f
test_unknown_name failure: pt2utils: $(fxexplain --max=nosuch=1 "$DATA/simple.log" 2>&1)
test_position failure: pt2() takes limits by name only: pt2(graph_breaks=0)
test_fixture passed
test_mark_and_fixture passed
test_skips skipped: no device
test_fails_itself failure: AssertionError: mine
test_expected skipped
test_of_class failure: $breaks
test_closest_mark passed
test_unit failure: $breaks
P
)"
is "both limits of a test are named" "$(grep -c 'recompiles: 9, at most 1 allowed' out)" 1
like "a failure shows the finding at the user's line" "$(cat out)" "warning: Data-dependent branching: if x.sum\(\) > 0:
  at     /home/user/app/graph_breaks.py:14 in sign
         > if x.sum\(\) > 0:"
like "a test that fails itself shows findings, too" "$(sed -n '/test_fails_itself/,/TestInherited/p' out)" "Captured pt2utils call.*Data-dependent"
unlike "records of the trace are not captured" "$(cat out)" torch.__trace
is "JUnit's properties" "$(python3 - marks.xml <<'P'
import sys, xml.etree.ElementTree as tree
for case in tree.parse(sys.argv[1]).iter("testcase"):
    if case.get("name") in ("test_enough", "test_unmarked"):
        print(case.get("name"), *["%s=%s" % (p.get("name"), p.get("value")) for p in case.iter("property") if "seconds" not in p.get("name")])
P
)" "test_unmarked
test_enough pt2_compiles=14 pt2_graphs=9 pt2_graph_breaks=8 pt2_recompiles=0 pt2_failures=2"

# ---- options ----
cat >test_plain.py <<'P'
import os
import pytest, torch

@pytest.mark.pt2
@pytest.mark.parametrize("log", ["graph_breaks", "recompiles", "simple"])
def test_log(log):
    os.environ["TRACE"] = "%s/%s.log" % (os.environ["DATA"], log)
    torch.compile(lambda: 1)()
P
suite test_plain.py --pt2-max=graph-breaks=0 --pt2-max=recompiles=8 --junitxml=max.xml
is "--pt2-max" "$(verdicts max.xml | cut -d: -f1-2)" "test_log[graph_breaks] failure: graph breaks
test_log[recompiles] failure: recompiles
test_log[simple] passed"
suite test_plain.py --pt2-save=traces
is "--pt2-save keeps a folder for each test" "$status $(ls traces)" "0 test_plain.py_test_log_graph_breaks_
test_plain.py_test_log_recompiles_
test_plain.py_test_log_simple_"
fxexplain -q --json traces/*graph_breaks_ traces/*simple_ >baseline.json
suite test_plain.py --pt2-baseline=baseline.json --junitxml=baseline.xml
is "--pt2-baseline: only what it does not have fails" "$(verdicts baseline.xml | cut -c1-53)" "test_log[graph_breaks] passed
test_log[recompiles] failure: new: Recompile limit of
test_log[simple] passed"
suite test_plain.py --pt2-max=graph-breaks
is "--pt2-max without a number" "$status $(grep -o 'not a number' err out | head -1)" "4 err:not a number"
suite test_plain.py --pt2-baseline=nosuch.json
is "--pt2-baseline without its file" "$status $(grep -o "no such file: 'nosuch.json'" err out | head -1)" "4 err:no such file: 'nosuch.json'"
run python3 -m pytest -p pt2utils._pytest --markers
like "the mark is registered" "$(cat out)" "@pytest.mark.pt2\(graph_breaks=N"

# ---- without a mark ----
cat >test_none.py <<'P'
import sys
import pytest

def test_none():
    assert not {"torch", "pt2utils._watch", "pt2utils.documents"} & set(sys.modules)

@pytest.mark.pt2
def test_no_torch():
    pass
P
run env PATH=/usr/bin:/bin python3 -m pytest -p pt2utils._pytest -p no:cacheprovider -q test_none.py --junitxml=none.xml
is "without a mark nothing is imported; a marked test needs torch" "$(verdicts none.xml)" "test_none passed
test_no_torch failure: ModuleNotFoundError: No module named 'torch'"
if python3 -c 'import xdist' 2>/dev/null; then
	suite -p xdist.plugin -n 2 test_marks.py --junitxml=xdist.xml
	is "pytest-xdist: the same verdicts" "$(verdicts xdist.xml | grep -v 'unmarked\|enough' | sort)" "$(verdicts marks.xml | grep -v 'unmarked\|enough' | sort)"
	is "and properties" "$(grep -o 'property name="pt2_graphs" value="[0-9]*"' xdist.xml | sort)" "$(grep -o 'property name="pt2_graphs" value="[0-9]*"' marks.xml | sort)"
else
	skip "pytest-xdist: the same verdicts" "no pytest-xdist"
fi
done_testing
