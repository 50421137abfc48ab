"""The pytest plugin: limits on what a test compiles (docs/user/PYTHON.md).

    @pytest.mark.pt2(graph_breaks=0, recompiles=1, compile_seconds=60)
    def test_step(): ...

Without such a mark and without the fixture pt2trace it does nothing, and neither torch nor a tool is looked for.
"""
from __future__ import annotations

import contextlib
import importlib
import logging
import os
import re
from typing import TYPE_CHECKING, Any, Dict, Generator, List, Optional

import pytest

if TYPE_CHECKING:
    from ._explanation import Explanation
    from ._watch import Watch
    from .documents import Finding

COMPILED = ("compiles", "graphs", "graph_breaks", "recompiles", "failures", "compile_seconds")  # what JUnit's properties have
SHOWN = 5
_watch: Any = pytest.StashKey[Any]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("pt2", "limits on torch.compile (pt2utils)")
    group.addoption("--pt2-max", metavar="NAME=N", action="append", default=[],
                    help="fail a test marked pt2 if NAME exceeds N, e.g. graph-breaks=0; the mark's own limits precede (names: fxexplain --max)")
    group.addoption("--pt2-baseline", metavar="FILE", help="fail a test marked pt2 on a finding that this saved 'fxexplain --json' lacks")
    group.addoption("--pt2-save", metavar="DIR", help="keep the traces of tests marked pt2 in DIR; 'fxexplain --json DIR' makes a baseline of them")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "pt2(graph_breaks=N, recompiles=N, compile_seconds=N, ...): fail if more is compiled than this, or nothing "
                            "(compiles=0 allows that). Names: those of fxexplain --max. Dynamo is reset before the test.")
    limits = _limits_of(config)
    for name, value in limits.items():
        if not re.fullmatch(r"[0-9]+(\.[0-9]+)?", value):
            raise pytest.UsageError("--pt2-max=%s=%s: not a number" % (name, value))
    baseline = config.getoption("--pt2-baseline")
    if baseline and not os.path.exists(baseline):
        raise pytest.UsageError("--pt2-baseline: no such file: '%s'" % baseline)


def _limits_of(config: pytest.Config) -> Dict[str, str]:
    limits = {}
    for text in config.getoption("--pt2-max") or []:
        name, _, value = text.partition("=")
        limits[name.replace("_", "-")] = value
    return limits


def _limits(item: pytest.Item) -> Optional[Dict[str, str]]:
    """Of a marked test by name, the closest mark first; None: it is not marked."""
    marks = list(item.iter_markers("pt2"))
    if not marks:
        return None
    limits = _limits_of(item.config)
    for mark in reversed(marks):
        if mark.args:
            raise pytest.fail.Exception("pt2() takes limits by name only: pt2(graph_breaks=0)", pytrace=False)
        limits.update({name.replace("_", "-"): "%s" % value for name, value in mark.kwargs.items() if value is not None})
    return limits


@pytest.fixture
def pt2trace(request: pytest.FixtureRequest) -> Generator[Watch, None, None]:
    """A pt2utils.Watch of this test, before which Dynamo is reset: pt2trace.summary.graph_breaks, pt2trace.findings, print(pt2trace)."""
    from ._watch import Watch

    item = request.node
    watch = item.stash[_watch] = Watch()
    if any(item.iter_markers("pt2")):  # the test itself is watched
        yield watch
        return
    importlib.import_module("torch")._dynamo.reset()
    with _uncaptured():
        watch.__enter__()
    try:
        yield watch
    finally:
        watch.__exit__(None, None, None)


@contextlib.contextmanager
def _uncaptured() -> Generator[None, None, None]:
    """pytest 9 attaches its log capture to loggers that do not propagate, too: records of a trace are not for people."""
    log = logging.getLogger("torch.__trace")
    taken = [h for h in log.handlers if type(h).__module__ == "_pytest.logging"]
    for handler in taken:
        log.removeHandler(handler)
    yield
    for handler in taken:
        log.addHandler(handler)


@pytest.hookimpl(hookwrapper=True, trylast=True)  # within pytest's own logging
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, None]:
    limits = _limits(item)
    if limits is None:
        with _uncaptured() if _watch in item.stash else contextlib.nullcontext():
            yield
        return
    from ._watch import Watch

    torch: Any = importlib.import_module("torch")
    torch._dynamo.reset()
    watch = item.stash.get(_watch, None) or Watch()
    with _uncaptured(), watch:
        outcome = yield
        if outcome.excinfo is not None:
            watch.exception = outcome.excinfo[1]
    skipped = outcome.excinfo is not None and issubclass(outcome.excinfo[0], pytest.skip.Exception)
    if skipped:
        return
    failed = outcome.excinfo is not None
    failures = _judge(item, watch, limits, failed)
    if failures and not failed:
        outcome.force_exception(pytest.fail.Exception("\n".join(failures), pytrace=False))


def _judge(item: pytest.Item, watch: Watch, limits: Dict[str, str], failed: bool) -> List[str]:
    """What this test compiled too much of, as lines; its counts become properties, its findings a section of the report."""
    from ._explanation import finding_lines
    from ._tools import Error, run_with_messages

    options = ["-q", *("--max=%s=%s" % limit for limit in sorted(limits.items()))]
    baseline = item.config.getoption("--pt2-baseline")
    options += ["--baseline=%s" % baseline] if baseline else []
    try:
        document, status, said = run_with_messages("fxexplain", *options, *watch.tool_args())
    except Error as e:
        return ["pt2utils: %s" % e]
    found = watch.explained(document)
    for name in COMPILED:
        item.user_properties.append(("pt2_" + name, getattr(found.summary, name) or 0))
    save = item.config.getoption("--pt2-save")
    if save:
        watch.save(os.path.join(save, re.sub(r"[^\w.-]+", "_", item.nodeid)[-150:]))
    failures = [re.sub(r"^fxexplain: ", "", line) for line in said.splitlines()] if status == 1 else []
    # Of what was run, not of what could have been compiled: a function that Dynamo skips is not compiled either.
    if not found.summary.graphs and limits.get("compiles") != "0" and not found.summary.failures:
        failures.insert(0, "nothing was compiled here: pt2(compiles=0) allows that")
    shown = _relevant(found, failures)
    lines = [line for f in shown[:SHOWN] for line in [*finding_lines(f), ""]]
    lines += ["... and %d more" % (len(shown) - SHOWN)] if len(shown) > SHOWN else []
    if failed and lines:  # of what pytest shows then
        item.add_report_section("call", "pt2utils", "\n".join(lines))
    return [*failures, "", *lines] if failures and lines else failures


def _relevant(found: Explanation, failures: List[str]) -> List[Finding]:
    """The findings that a failure is about; all of them, if it is about none."""
    words = {"graph-break": "graph break", "recompile": "recompile", "recompile-limit": "recompile", "failure": "failure", "compile-time": "seconds"}
    said = "\n".join(failures)
    return [f for f in found.findings if (f.kind in words and words[f.kind] in said) or f.title in said] or found.findings
