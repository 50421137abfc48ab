"""The documents that tools write with --json, as dataclasses. Made by scripts/gen-python-documents: change the pages that it reads, not this file.

docs/formats/JSON.md says what is promised of them. Of a member that a document lacks the value is None, or an empty list; members that are
not described are in `raw`, the parsed JSON.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Dict, FrozenSet, List, Optional, Type, Union

from ._rows import Row


@dataclass(frozen=True)
class Input(Row):
    """The inputs read.

    kind: trace, text or debug-folder
    pid: of its first record
    processes: that wrote to it
    resets: how many times compile ids restarted within a process: torch._dynamo.reset()
    start: "11-21T07:59:23.043000" of the first record: a log has no year
    seconds: from the first record to the last
    command: argv
    compile_seconds: all compilations
    exports: this process used torch.export
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset(())
    path: Optional[str]
    kind: str
    rank: Optional[int]
    pid: Optional[int]
    processes: int
    resets: int
    start: Optional[str]
    seconds: Optional[float]
    bytes: int
    lines: int
    records: int
    torch_version: Optional[str]
    python_version: Optional[str]
    cuda_version: Optional[str]
    command: Optional[str]
    compile_seconds: Optional[float]
    exports: bool


@dataclass(frozen=True)
class Summary(Row):
    """Counts of a run.

    torch_version: the first one found in an input
    logs: number of inputs
    bytes: of the inputs
    lines: of the inputs
    records: of the inputs
    processes: that wrote the inputs
    resets: how many times compile ids restarted within a process: torch._dynamo.reset()
    frames: rows of frames that have an id
    compiles: rows of compiles that have an id
    attempts: of these
    recompiles: rows of recompiles
    recompile_limits: rows of recompile_limits
    restarts: rows of failures that are restarts
    graph_breaks: rows of graph_breaks that are not inferred
    inferred_graph_breaks: rows of graph_breaks that are
    failures: rows of failures that are not restarts
    graphs: captured by Dynamo (dynamo_output_graph)
    graph_ops: operations in them, where compiles has the number
    guards: where compiles has the number
    symbols: rows of symbols
    specializations: rows of bounds that are specialized
    cudagraph_skips: rows of cudagraph_skips
    artifacts: files numbered in the directory report
    chromium_events: records of them
    unknown_keys: records whose key is unknown to this version
    damaged: rows of damage; 0: the inputs were read completely
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset(("ranks",))
    torch_version: Optional[str]
    logs: int
    ranks: List[int]
    bytes: int
    lines: int
    records: int
    processes: int
    resets: int
    frames: int
    compiles: int
    attempts: int
    recompiles: int
    recompile_limits: int
    restarts: int
    graph_breaks: int
    inferred_graph_breaks: int
    failures: int
    graphs: int
    graph_ops: int
    guards: int
    symbols: int
    specializations: int
    cudagraph_skips: int
    artifacts: int
    chromium_events: int
    unknown_keys: int
    damaged: int
    cache: Dict[str, Dict[str, int]]
    compile_seconds: Optional[float]
    findings: int
    errors: int
    warnings: int
    notes: int
    ignored: int


@dataclass(frozen=True)
class Verdict(Row):
    """What failed, or where the log ends.

    basis: this run showed it; it follows from the lines of `evidence`; a known message
    unfinished: true: nothing failed, the log ends in this component
    interrupted: true: nothing failed, Ctrl-C; "title" says what was going on
    failure: index into failures
    evidence: lines of the log, and conclusions from them
    experiment: commands and settings that would prove it
    minify: the command that reduces it to a small program
    next: commands that would tell, where it is not known
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset(("evidence", "experiment", "next",))
    component: Optional[str]
    title: Optional[str]
    sure: str
    basis: str
    unfinished: bool
    interrupted: bool
    failure: Optional[int]
    compile: Optional[int]
    evidence: List[str]
    experiment: List[str]
    minify: Optional[str]
    next: List[str]


@dataclass(frozen=True)
class Location(Row):
    """A place in a program."""

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset(())
    file: str
    line: Optional[int]
    function: Optional[str]
    code: Optional[str]


@dataclass(frozen=True)
class KnownBug(Row):
    """A known bug of torch that a finding looks like.

    basis: a known text: it never changes the verdict
    state: the run's release has it; has the fix (another cause, or it is back); not known
    first, last: the oldest and the newest release known to have it
    fixed: the oldest release known to be without it
    what, until: the bug; the workaround
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset(())
    url: str
    basis: str
    state: str
    first: Optional[str]
    last: Optional[str]
    fixed: Optional[str]
    what: str
    until: Optional[str]


@dataclass(frozen=True)
class Finding(Row):
    """What is wrong, where, what it costs, and what to do.

    level, id: stable: the rule in SARIF
    title, cause: the title ends in the cause
    location: the user's innermost line
    through: the line of torch or a package below it, where it happens
    count: number of times
    seconds: of compile time
    call_us, in_python: microseconds on each call; a whole function permanently falls back to eager
    evidence, fix, next: lines of the log; what to change, best first; commands
    hints, torch_hints: untested advice; torch's own hints
    known_bugs: bugs of torch that it looks like, at most 3
    ranks: in a run of several ranks: those that have it, at most 64; []: all of them, or there is one
    ignored_by: only in "ignored"
    fingerprint: from kind, id, file (its last two names) and function; not from lines, numbers and times
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {"location": Location, "through": Location, "known_bugs": KnownBug}
    _lists: ClassVar[FrozenSet[str]] = frozenset(("evidence", "fix", "next", "hints", "torch_hints", "compile_ids", "known_bugs", "ranks",))
    kind: str
    level: str
    id: str
    title: str
    cause: Optional[str]
    location: Optional[Location]
    through: Optional[Location]
    input: int
    line: Optional[int]
    count: int
    seconds: Optional[float]
    call_us: Optional[float]
    in_python: bool
    cost: Optional[str]
    why: Optional[str]
    evidence: List[str]
    fix: List[str]
    next: List[str]
    hints: List[str]
    torch_hints: List[str]
    url: Optional[str]
    compile_ids: List[str]
    known_bugs: List[KnownBug]
    ranks: List[int]
    ignored_by: Optional[str]
    fingerprint: str


@dataclass(frozen=True)
class BreakGroup(Row):
    """Graph breaks of one line of the program with one reason.

    first: index into graph_breaks: place, reason, hints are those of this row
    count, inferred: with a record; without one
    graphs_after, ops_after: resume functions compiled because of it, and operations in them
    frames_in_eager: whole frames that run in eager
    seconds: to compile those, and restarts
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset(())
    first: int
    count: int
    inferred: int
    graphs_after: int
    ops_after: Optional[int]
    frames_in_eager: int
    seconds: Optional[float]
    finding: Optional[int]


@dataclass(frozen=True)
class FrameStep(Row):
    """One of them, and what changed.

    recompile: index into recompiles; null for the first
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset(())
    compile: Optional[int]
    recompile: Optional[int]
    change: Optional[str]
    fix: Optional[str]


@dataclass(frozen=True)
class FrameSteps(Row):
    """A frame's compilations, in order."""

    _rows: ClassVar[Dict[str, Type[Row]]] = {"steps": FrameStep}
    _lists: ClassVar[FrozenSet[str]] = frozenset(("steps",))
    finding: Optional[int]
    steps: List[FrameStep]


@dataclass(frozen=True)
class SymbolView(Row):
    """A symbol with its bounds.

    name, symbol: index into symbols; null: only bounds name it
    range: after all bounds
    specialized, finding, bounds: indices into bounds
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset(("bounds",))
    name: str
    symbol: Optional[int]
    range: Optional[str]
    specialized: bool
    finding: Optional[int]
    bounds: List[int]


@dataclass(frozen=True)
class TimePart(Row):
    """A part of it.

    name, seconds: wall time; parts add up
    thread_seconds, calls: of all threads together: more if kernels were compiled in parallel
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset(())
    name: str
    seconds: float
    thread_seconds: float
    calls: int


@dataclass(frozen=True)
class Times(Row):
    """Compile time of one compilation, or of the whole run.

    compile: null: the whole run
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {"parts": TimePart}
    _lists: ClassVar[FrozenSet[str]] = frozenset(("parts",))
    compile: Optional[int]
    id: Optional[str]
    seconds: float
    parts: List[TimePart]


@dataclass(frozen=True)
class Compile(Row):
    """Dynamo's compilations: a frame's n-th compilation, with all its attempts.

    id: "0/1", "!2/0/1" in compiled autograd: as torch writes it, without the attempt
    label: the displayed id: "0/1", from the second on "0/1 (2nd)"
    nth: ordinal among the compilations with this id in its input, from 1
    process: index within its input, in order of first records
    generation: number of earlier restarts of ids in its process
    attempts: number in the input
    status: ok, empty (no operation), break (ended in a graph break, or restarted), error, skipped (left to Python), missing (no metrics)
    location: of the frame: file, first line, function
    resume_of: the function that this resumes, after resume_line
    start: since the input's first record
    seconds: total, including restarts and backward; the sum of the next five
    restart_seconds: of it, abandoned attempts
    guard_seconds: one evaluation of the guards: overhead of each call
    stack: the user's frames that lead here, outermost first: "app/m.py:7 in f: code"
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {"location": Location}
    _lists: ClassVar[FrozenSet[str]] = frozenset(("stack",))
    id: Optional[str]
    label: Optional[str]
    nth: int
    process: int
    generation: int
    input: int
    attempt: Optional[int]
    line: Optional[int]
    offset: Optional[int]
    artifact: Optional[int]
    compiled_autograd_id: Optional[int]
    frame_id: Optional[int]
    frame_compile_id: Optional[int]
    attempts: int
    status: str
    location: Optional[Location]
    resume_of: Optional[str]
    resume_line: Optional[int]
    backend: Optional[str]
    start: Optional[float]
    seconds: Optional[float]
    dynamo_seconds: Optional[float]
    aot_seconds: Optional[float]
    inductor_seconds: Optional[float]
    code_gen_seconds: Optional[float]
    backward_seconds: Optional[float]
    restart_seconds: Optional[float]
    graph_ops: Optional[int]
    graph_nodes: Optional[int]
    graph_inputs: Optional[int]
    guards: Optional[int]
    guard_seconds: Optional[float]
    cache_size: Optional[int]
    graphs: Optional[int]
    graph_breaks: int
    restarts: int
    fail_type: Optional[str]
    fail_reason: Optional[str]
    stack: List[str]


@dataclass(frozen=True)
class Attempt(Row):
    """Of a structured trace: the attempts of a compilation; and records outside any compilation.

    input: index of inputs
    compile: index of compiles
    dir: "-_0_1_0": its directory in the report
    attempt: 0 for the first
    line: of its first record
    status: as in compiles
    seconds: entire_frame_compile_time_s of its metrics, else duration_us
    backend_seconds: backend_compile_time_s
    inductor_seconds: inductor_compile_time_s
    code_gen_seconds: code_gen_time_s
    artifacts: number of artifacts
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {"location": Location}
    _lists: ClassVar[FrozenSet[str]] = frozenset(())
    input: int
    compile: Optional[int]
    process: int
    generation: int
    dir: str
    attempt: Optional[int]
    line: int
    status: str
    location: Optional[Location]
    seconds: Optional[float]
    backend_seconds: Optional[float]
    inductor_seconds: Optional[float]
    code_gen_seconds: Optional[float]
    graph_ops: Optional[int]
    graph_nodes: Optional[int]
    graph_inputs: Optional[int]
    guards: Optional[int]
    graph_breaks: int
    cache_size: Optional[int]
    artifacts: int
    fail_type: Optional[str]
    fail_reason: Optional[str]


@dataclass(frozen=True)
class Frame(Row):
    """Code objects of one generation, with their compilations.

    input: index of inputs
    frame_id: null: a text log has only the location
    compiles: number of compilations
    recompiles: number of recompiles with a reason in the input
    limited: a recompile limit was reached
    seconds: of its recompiles
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {"location": Location}
    _lists: ClassVar[FrozenSet[str]] = frozenset(())
    input: int
    process: int
    generation: int
    frame_id: Optional[int]
    location: Optional[Location]
    compiles: int
    recompiles: int
    limited: bool
    seconds: Optional[float]


@dataclass(frozen=True)
class GraphBreak(Row):
    """A member of ExplainDocument.

    compile: index of compiles
    kind: call (unsupported), jump (a branch on data), asked, skipped (the whole frame falls back to Python), inferred
    time: since the input's first record
    location: the user's line
    gb: torch's number for it
    hints: torch's own hints
    inferred: no record of its own, not counted: deduced from a resume function
    explained: reported by torch._dynamo.explain, not by a compilation
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {"location": Location}
    _lists: ClassVar[FrozenSet[str]] = frozenset(("hints",))
    input: int
    attempt: Optional[int]
    line: Optional[int]
    offset: Optional[int]
    artifact: Optional[int]
    compile: Optional[int]
    kind: str
    time: Optional[float]
    location: Optional[Location]
    gb: Optional[str]
    reason: Optional[str]
    explanation: Optional[str]
    hints: List[str]
    context: Optional[str]
    url: Optional[str]
    inferred: bool
    explained: bool


@dataclass(frozen=True)
class Metric(Row):
    """A member of ExplainDocument.

    compile, name, value, backward, runtime: as logged; NaN as text
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset(())
    compile: int
    name: str
    value: Any
    backward: bool
    runtime: bool


@dataclass(frozen=True)
class GraphText(Row):
    """A member of ExplainDocument."""

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset(())
    input: int
    attempt: int
    line: int
    offset: int
    artifact: int
    compile: Optional[int]
    name: str
    ops: Optional[int]
    bytes: int
    text: str


@dataclass(frozen=True)
class Recompile(Row):
    """Why a frame was compiled again.

    compile: index of compiles
    time: since the input's first record
    against: the id of the code whose guard failed
    location: the user's line that the guard refers to, else the frame's
    reason: the first of `all`, as in the log
    type_old: type names, if the guard only has type numbers
    all: the reasons of all compiled versions that rejected the call
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {"location": Location}
    _lists: ClassVar[FrozenSet[str]] = frozenset(("all",))
    input: int
    attempt: Optional[int]
    line: Optional[int]
    offset: Optional[int]
    artifact: Optional[int]
    compile: Optional[int]
    time: Optional[float]
    against: Optional[str]
    location: Optional[Location]
    reason: Optional[str]
    guard: Optional[str]
    old: Optional[str]
    new: Optional[str]
    type_old: Optional[str]
    type_new: Optional[str]
    all: List[str]


@dataclass(frozen=True)
class RecompileLimit(Row):
    """A member of ExplainDocument.

    compile: index of compiles
    location: the function
    reason: the last recompile's
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {"location": Location}
    _lists: ClassVar[FrozenSet[str]] = frozenset(())
    input: int
    attempt: Optional[int]
    line: Optional[int]
    offset: Optional[int]
    artifact: Optional[int]
    compile: Optional[int]
    location: Optional[Location]
    limit: int
    accumulated: bool
    reason: Optional[str]


@dataclass(frozen=True)
class Failure(Row):
    """Exceptions and signals; and restarts.

    compile: index of compiles
    time: since the input's first record
    restart: the analysis restarted: not a failure
    caught: the program went on
    inferred: not in any metrics: the job ended, or it was in a backward
    reason: the whole message
    location: the user's innermost line
    torch: torch's innermost line
    cause: index of failures: the exception it was raised from
    frames: the innermost 16, outermost first
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {"location": Location, "torch": Location}
    _lists: ClassVar[FrozenSet[str]] = frozenset(("frames",))
    input: int
    attempt: Optional[int]
    line: Optional[int]
    offset: Optional[int]
    artifact: Optional[int]
    compile: Optional[int]
    time: Optional[float]
    restart: bool
    caught: bool
    inferred: bool
    signal: Optional[int]
    type: Optional[str]
    reason: Optional[str]
    location: Optional[Location]
    torch: Optional[Location]
    cause: Optional[int]
    frames: List[str]


@dataclass(frozen=True)
class Symbol(Row):
    """Symbolic sizes.

    compile: index of compiles
    value: of the example input
    range: when it was created
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {"location": Location}
    _lists: ClassVar[FrozenSet[str]] = frozenset(())
    input: int
    attempt: Optional[int]
    line: Optional[int]
    offset: Optional[int]
    artifact: Optional[int]
    compile: Optional[int]
    symbol: Optional[str]
    value: Optional[str]
    range: Optional[str]
    source: Optional[str]
    location: Optional[Location]
    unbacked: bool


@dataclass(frozen=True)
class Bound(Row):
    """Constraints on symbols.

    compile: index of compiles
    kind: guard, specialized (the symbol became a constant), replaced (by another), assert (at run time), data-dependent, constraint
        (torch.export)
    location: the user's line
    torch: torch's line that evaluated it
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {"location": Location, "torch": Location}
    _lists: ClassVar[FrozenSet[str]] = frozenset(("sources",))
    input: int
    attempt: Optional[int]
    line: Optional[int]
    offset: Optional[int]
    artifact: Optional[int]
    compile: Optional[int]
    kind: str
    expr: Optional[str]
    symbol: Optional[str]
    value: Optional[str]
    location: Optional[Location]
    torch: Optional[Location]
    sources: List[str]
    reason: Optional[str]


@dataclass(frozen=True)
class CacheLookup(Row):
    """A member of ExplainDocument.

    compile: index of compiles
    what: hit, miss, bypass
    key: the key looked up
    guards: guards that did not hold, of an entry with this key
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset(())
    input: int
    attempt: Optional[int]
    line: Optional[int]
    offset: Optional[int]
    artifact: Optional[int]
    compile: Optional[int]
    cache: str
    what: str
    name: Optional[str]
    reason: Optional[str]
    key: Optional[str]
    guards: Optional[str]


@dataclass(frozen=True)
class CudagraphSkip(Row):
    """A member of ExplainDocument.

    compile: index of compiles
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {"location": Location}
    _lists: ClassVar[FrozenSet[str]] = frozenset(())
    input: int
    attempt: Optional[int]
    line: Optional[int]
    offset: Optional[int]
    artifact: Optional[int]
    compile: Optional[int]
    reason: Optional[str]
    location: Optional[Location]


@dataclass(frozen=True)
class NativeKernel(Row):
    """Kernels of torch's own operators requested from their DSL (torch 2.15, TORCH_LOGS=+native_dsl_compile).

    compile: index of compiles
    op: aten::bmm
    dsl: cutedsl, flydsl, helion, triton
    outcome: compiled, cache_hit, error
    key: shapes and types it is compiled for
    seconds: duration of the call
    hits: of its cache so far
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset(())
    input: int
    attempt: Optional[int]
    line: Optional[int]
    offset: Optional[int]
    artifact: Optional[int]
    compile: Optional[int]
    op: Optional[str]
    dsl: Optional[str]
    outcome: Optional[str]
    key: Optional[str]
    seconds: Optional[float]
    hits: int
    misses: int


@dataclass(frozen=True)
class VllmCall(Row):
    """Calls of vLLM's backend, with its configuration.

    compile: index of compiles
    prefix: of this part of the model
    event: fresh_compile, aot_cache_hit
    splitting_ops: where the graph is split
    sizes: compile_sizes: sizes compiled individually
    ranges: end points of the ranges of sizes
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset(())
    input: int
    attempt: Optional[int]
    line: Optional[int]
    offset: Optional[int]
    artifact: Optional[int]
    compile: Optional[int]
    model: Optional[str]
    prefix: Optional[str]
    event: Optional[str]
    mode: Optional[str]
    backend: Optional[str]
    custom_ops: Optional[str]
    splitting_ops: Optional[str]
    cudagraph_mode: Optional[str]
    sizes: Optional[str]
    ranges: Optional[str]
    enabled_passes: Optional[str]
    inductor_passes: Optional[str]
    dynamic_shapes: Optional[str]


@dataclass(frozen=True)
class VllmPiece(Row):
    """Compilations in such a call: a piece of the graph for a range of sizes.

    compile: index of compiles
    call: line of its row in vllm_calls, 0 if there is none
    name: submod_0
    total: number of compiled pieces
    start: start of the range of sizes
    single: a single size
    cudagraph: CUDA graphs are captured for this size
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset(())
    input: int
    attempt: Optional[int]
    line: Optional[int]
    offset: Optional[int]
    artifact: Optional[int]
    compile: Optional[int]
    call: int
    name: Optional[str]
    index: Optional[int]
    total: Optional[int]
    start: Optional[int]
    end: Optional[int]
    single: bool
    cudagraph: bool


@dataclass(frozen=True)
class VllmPass(Row):
    """Passes over a piece, with their changes.

    compile: index of compiles
    piece: line of its row in vllm_pieces, 0 if there is none
    index: its position among the passes
    added: lines of its graph that the previous one lacks
    removed: lines of the previous graph that this one lacks
    before: number of the previous artifact in the directory
    diff: hunks of a unified diff against the previous one; null if there is none, or it exceeds 256 KiB
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset(())
    input: int
    attempt: Optional[int]
    line: Optional[int]
    offset: Optional[int]
    artifact: Optional[int]
    compile: Optional[int]
    piece: int
    name: Optional[str]
    index: Optional[int]
    added: Optional[int]
    removed: Optional[int]
    before: Optional[int]
    diff: Optional[str]


@dataclass(frozen=True)
class VllmText(Row):
    """What else belongs to a call: how its graph is split, what its passes look for, the code that calls the pieces.

    compile: index of compiles
    call: line of its row in vllm_calls, 0 if there is none
    name: execution code, split graph, patterns of PASS
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset(())
    input: int
    attempt: Optional[int]
    line: Optional[int]
    offset: Optional[int]
    artifact: Optional[int]
    compile: Optional[int]
    call: int
    name: Optional[str]


@dataclass(frozen=True)
class Worker(Row):
    """Processes that compile kernels: those that died, slow jobs (torch 2.15).

    compile: index of compiles
    what: died, status (once a minute for each job that takes longer than one)
    time: since the input's first record
    code: exit code of one that died
    signal: or the signal that ended it
    phase: queued, running, querying_cache, compiling
    seconds: the job has taken so far
    phase_seconds: spent in this phase so far
    tail: the last lines of one that died
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset(("tail",))
    input: int
    attempt: Optional[int]
    line: Optional[int]
    offset: Optional[int]
    artifact: Optional[int]
    compile: Optional[int]
    what: str
    time: Optional[float]
    pid: Optional[int]
    code: Optional[int]
    signal: Optional[int]
    job: Optional[int]
    phase: Optional[str]
    seconds: Optional[float]
    phase_seconds: Optional[float]
    tail: List[str]


@dataclass(frozen=True)
class CompilerError(Row):
    """Errors of g++, nvcc or Triton's compiler.

    compile: index of compiles
    at: in the generated file; code: the line as quoted by the compiler
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {"at": Location}
    _lists: ClassVar[FrozenSet[str]] = frozenset(())
    input: int
    attempt: Optional[int]
    line: Optional[int]
    offset: Optional[int]
    artifact: Optional[int]
    compile: Optional[int]
    at: Optional[Location]
    column: Optional[int]
    severity: Optional[str]
    message: Optional[str]
    command: Optional[str]


@dataclass(frozen=True)
class Path(Row):
    """Paths mentioned in a log: debug traces, output code, launchers.

    compile: index of compiles
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset(())
    input: int
    attempt: Optional[int]
    line: Optional[int]
    offset: Optional[int]
    artifact: Optional[int]
    compile: Optional[int]
    what: Optional[str]
    path: Optional[str]


@dataclass(frozen=True)
class UnknownKey(Row):
    """Keys of a structured trace unknown to this version.

    input: index of inputs
    line: of the first
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset(())
    input: int
    key: Optional[str]
    count: int
    line: int


@dataclass(frozen=True)
class Damage(Row):
    """Parts that could not be read.

    input: index of inputs
    kind: a word
    line: of the first
    text: what was lost
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset(())
    input: int
    kind: Optional[str]
    line: int
    count: int
    text: Optional[str]


@dataclass(frozen=True)
class ExplainDocument(Row):
    """What `fxexplain --json` writes of a run (docs/formats/EXPLAIN.md).

    headline: a summary of the findings
    verdict: what failed, or where the log ends; null: nothing
    other_verdicts: for further failures
    findings: worst first
    ignored: silenced by # pt2: ignore or the settings: not in "findings" and their counts
    breaks: graph breaks by line of the program and reason
    frame_steps: for each row of frames: its compilations in order, and what changed
    symbol_views: symbols, with all their bounds
    metrics: only with --show metrics
    graphs: only with --show graphs
    guards: only with --show guards
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {"inputs": Input, "summary": Summary, "verdict": Verdict, "other_verdicts": Verdict, "findings":
        Finding, "ignored": Finding, "breaks": BreakGroup, "frame_steps": FrameSteps, "symbol_views": SymbolView, "times": Times, "compiles":
        Compile, "attempts": Attempt, "frames": Frame, "graph_breaks": GraphBreak, "metrics": Metric, "graphs": GraphText, "guards": GraphText,
        "recompiles": Recompile, "recompile_limits": RecompileLimit, "failures": Failure, "symbols": Symbol, "bounds": Bound, "caches":
        CacheLookup, "cudagraph_skips": CudagraphSkip, "native_kernels": NativeKernel, "vllm_calls": VllmCall, "vllm_pieces": VllmPiece,
        "vllm_passes": VllmPass, "vllm_texts": VllmText, "workers": Worker, "compiler_errors": CompilerError, "paths": Path, "unknown_keys":
        UnknownKey, "damage": Damage}
    _lists: ClassVar[FrozenSet[str]] = frozenset(("inputs", "other_verdicts", "findings", "ignored", "breaks", "frame_steps", "symbol_views",
        "times", "compiles", "attempts", "frames", "graph_breaks", "recompiles", "recompile_limits", "failures", "symbols", "bounds", "caches",
        "cudagraph_skips", "native_kernels", "vllm_calls", "vllm_pieces", "vllm_passes", "vllm_texts", "workers", "compiler_errors", "paths",
        "unknown_keys", "damage",))
    tool: str
    version: str
    schema: int
    inputs: List[Input]
    summary: Summary
    headline: Optional[str]
    verdict: Optional[Verdict]
    other_verdicts: List[Verdict]
    findings: List[Finding]
    ignored: List[Finding]
    breaks: List[BreakGroup]
    frame_steps: List[FrameSteps]
    symbol_views: List[SymbolView]
    times: List[Times]
    compiles: List[Compile]
    attempts: List[Attempt]
    frames: List[Frame]
    graph_breaks: List[GraphBreak]
    metrics: Optional[List[Metric]]
    graphs: Optional[List[GraphText]]
    guards: Optional[List[GraphText]]
    recompiles: List[Recompile]
    recompile_limits: List[RecompileLimit]
    failures: List[Failure]
    symbols: List[Symbol]
    bounds: List[Bound]
    caches: List[CacheLookup]
    cudagraph_skips: List[CudagraphSkip]
    native_kernels: List[NativeKernel]
    vllm_calls: List[VllmCall]
    vllm_pieces: List[VllmPiece]
    vllm_passes: List[VllmPass]
    vllm_texts: List[VllmText]
    workers: List[Worker]
    compiler_errors: List[CompilerError]
    paths: List[Path]
    unknown_keys: List[UnknownKey]
    damage: List[Damage]


@dataclass(frozen=True)
class ModelDim(Row):
    """A member of ContractDocument.

    size_checked, stride_checked: compared with a number under AOTI_RUNTIME_CHECK_INPUTS
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset(())
    size: Optional[Union[int, str]]
    min: Optional[int]
    max: Optional[int]
    stride: Optional[Union[int, str]]
    size_checked: bool
    stride_checked: bool


@dataclass(frozen=True)
class ModelInput(Row):
    """An input that the model expects.

    rank: null: only the highest dim mentioned is known (an unused input)
    asserted: its sizes and strides are compared before its first use, N-th among the inputs
    alignment: bytes; inputs with less alignment are copied
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {"dims": ModelDim}
    _lists: ClassVar[FrozenSet[str]] = frozenset(("dims",))
    index: int
    name: str
    path: Optional[str]
    dtype: Optional[str]
    device: Optional[str]
    rank: Optional[int]
    dims: List[ModelDim]
    asserted: Optional[int]
    alignment: Optional[int]
    used: bool


@dataclass(frozen=True)
class ModelSymbol(Row):
    """A member of ContractDocument.

    name, min, max, input, dim: null: data-dependent
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset(())
    name: str
    min: Optional[int]
    max: Optional[int]
    input: Optional[int]
    dim: Optional[int]


@dataclass(frozen=True)
class ModelOutput(Row):
    """A member of ContractDocument.

    sizes, strides, value: value: index into values
    none: true: the model returns None here; the rest is null
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset(())
    index: int
    name: str
    path: Optional[str]
    dtype: Optional[str]
    device: Optional[str]
    sizes: Optional[List[Optional[Union[int, str]]]]
    strides: Optional[List[Optional[Union[int, str]]]]
    value: Optional[int]
    none: bool


@dataclass(frozen=True)
class ModelConstant(Row):
    """A member of ContractDocument."""

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset(("sizes", "strides",))
    name: str
    fqn: Optional[str]
    dtype: Optional[str]
    device: Optional[str]
    sizes: List[int]
    strides: List[int]
    bytes: int
    offset: int
    type: str
    folded: bool


@dataclass(frozen=True)
class ModelValue(Row):
    """A member of ContractDocument.

    name, kind, index: of the input or constant
    storage, dtype, device: values with the same storage share memory
    alignment: only if the program asserts it: its offset in its storage is a multiple of these bytes
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset(())
    name: str
    kind: str
    index: Optional[int]
    storage: Optional[int]
    dtype: Optional[str]
    device: Optional[str]
    sizes: Optional[List[Optional[Union[int, str]]]]
    strides: Optional[List[Optional[Union[int, str]]]]
    alignment: Optional[int]


@dataclass(frozen=True)
class ModelStorage(Row):
    """A member of ContractDocument.

    bytes, born, dies: alive from before call `born` until after call `dies`; the number of calls: to the end
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset(())
    bytes: Optional[Union[int, str]]
    born: int
    dies: int


@dataclass(frozen=True)
class ModelArg(Row):
    """A member of ContractDocument."""

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset(())
    role: Optional[str]
    value: Optional[int]
    text: Optional[str]


@dataclass(frozen=True)
class ModelCall(Row):
    """A member of ContractDocument.

    kind, name, line: of wrapper.cpp
    function: only for a GPU kernel with another name in its module than in the text
    stream: for a GPU program with several: which of its own; left out: the caller's
    race, race_value: an earlier call on another stream uses this value's memory, one of both writes it, and no event makes this one wait; left
        out: none known role null: a tensor that is read, written, or both (never for a "text")
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {"args": ModelArg}
    _lists: ClassVar[FrozenSet[str]] = frozenset(("args",))
    kind: str
    name: str
    line: Optional[int]
    function: Optional[str]
    stream: Optional[int]
    race: Optional[int]
    race_value: Optional[int]
    source_nodes: Optional[str]
    original_aten: Optional[str]
    args: List[ModelArg]


@dataclass(frozen=True)
class Followed(Row):
    """A member of ContractDocument.

    stopped: why it stopped before the end: "calls" are those until then
    rigid: a dynamic size could be run with one value only: everything derived from it looks fixed
    ways: data-dependent branches: calls on other paths through the program than the one in "calls"
    lost_ways: how many of them could not be followed
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset(("ways",))
    stopped: Optional[str]
    rigid: bool
    ways: List[List[str]]
    lost_ways: int


@dataclass(frozen=True)
class GivenInput(Row):
    """A member of ContractDocument."""

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset(("sizes", "strides",))
    from_: str
    dtype: Optional[str]
    device: Optional[str]
    sizes: List[int]
    strides: List[int]


@dataclass(frozen=True)
class Mismatch(Row):
    """What does not fit in a call, and the fix.

    advice: true: not a mismatch, but worth knowing
    aoti: torch's own words under AOTI_RUNTIME_CHECK_INPUTS
    aoti_exact: false: torch's words depend on the memory after the sizes
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset(())
    what: str
    input: Optional[int]
    dim: Optional[int]
    advice: bool
    aoti: Optional[str]
    aoti_exact: bool
    expected: str
    given: str
    fix: str


@dataclass(frozen=True)
class ContractDocument(Row):
    """What a compiled model expects, returns and does: `aoti-checkinputs --json` (docs/formats/CONTRACT.md).

    file: as on the command line; --json only
    source: generated C++ text, only the binary, or an exported program
    weight_bytes: of all constants
    in_spec, out_spec: torch's pytree specs, as text
    notes: what the reader could not determine
    unread, unread_checks: places in the text not understood, and how many of them check inputs
    peak_bytes: most bytes of intermediate buffers alive at once ...
    followed: only for "probe": how far the program could be followed
    differences: --probe: differences between text and binary
    open: --probe: what could not be compared, and why. Both empty: everything compared agrees
    calls_compared: --probe: how many of the text's calls the binary made
    given: if inputs were given: one per input
    fits: null: yes as far as understood, but "unread" is not 0
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {"inputs": ModelInput, "symbols": ModelSymbol, "outputs": ModelOutput, "constants": ModelConstant,
        "values": ModelValue, "storages": ModelStorage, "calls": ModelCall, "followed": Followed, "given": GivenInput, "findings": Mismatch}
    _lists: ClassVar[FrozenSet[str]] = frozenset(("inputs", "symbols", "outputs", "constants", "values", "storages", "calls", "notes", "given",
        "findings",))
    schema: str
    file: Optional[str]
    source: str
    model: str
    device: Optional[str]
    weight_bytes: int
    inputs: List[ModelInput]
    symbols: List[ModelSymbol]
    outputs: List[ModelOutput]
    constants: List[ModelConstant]
    values: List[ModelValue]
    storages: List[ModelStorage]
    calls: List[ModelCall]
    in_spec: str
    out_spec: str
    notes: List[str]
    unread: int
    unread_checks: int
    peak_bytes: Optional[int]
    peak_at: Dict[str, int]
    followed: Optional[Followed]
    differences: Optional[List[str]]
    open: Optional[List[str]]
    calls_compared: Optional[int]
    given: List[Optional[GivenInput]]
    fits: Optional[bool]
    findings: List[Mismatch]


@dataclass(frozen=True)
class VerifyNode(Row):
    """A member of VerifyDocument."""

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset(())
    name: Optional[str]
    python: Optional[str]
    target: Optional[str]


@dataclass(frozen=True)
class VerifyWrite(Row):
    """A member of VerifyDocument."""

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset(("nodes",))
    buffer: Optional[str]
    nodes: List[str]


@dataclass(frozen=True)
class VerifyCall(Row):
    """A member of VerifyDocument."""

    _rows: ClassVar[Dict[str, Type[Row]]] = {"node": VerifyNode, "writes": VerifyWrite}
    _lists: ClassVar[FrozenSet[str]] = frozenset(("writes",))
    call: Optional[int]
    compiled_ulp: Optional[float]
    eager_ulp: Optional[float]
    kernel: Optional[str]
    line: Optional[int]
    node: Optional[VerifyNode]
    verdict: Optional[str]
    writes: List[VerifyWrite]


@dataclass(frozen=True)
class VerifyRead(Row):
    """A member of VerifyDocument."""

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset(())
    buffer: Optional[str]
    value: Optional[Union[float, str]]


@dataclass(frozen=True)
class VerifyFinding(Row):
    """A member of VerifyDocument."""

    _rows: ClassVar[Dict[str, Type[Row]]] = {"node": VerifyNode, "reads": VerifyRead}
    _lists: ClassVar[FrozenSet[str]] = frozenset(("reads",))
    buffer: Optional[str]
    call: Optional[int]
    differ: Optional[int]
    elements: Optional[int]
    got: Optional[Union[float, str]]
    kernel: Optional[str]
    node: Optional[VerifyNode]
    reads: List[VerifyRead]
    right_with_it: Optional[int]
    want: Optional[Union[float, str]]
    what: Optional[str]
    worst: Optional[str]


@dataclass(frozen=True)
class VerifyRun(Row):
    """A member of VerifyDocument.

    inputs: `as given`, `made up`, `other sizes`, `ties, zeros and signs`, `NaN and large numbers`; `kernels alone: ties and zeros`, `kernels
        alone: extremes`, `kernels alone: positive`: of these, `calls` has only the kernels that were called alone, `open` (without `why`) if
        time or memory was not enough
    counts: false: reported, but not a verdict (the last of these)
    run: 1: called again with the same inputs, by the same process
    equal: number of calls with that verdict
    rounding: number of calls with that verdict
    effect: number of calls with that verdict
    wrong: number of calls with that verdict
    open: number of calls with that verdict
    operators: number of calls with that verdict
    findings: what is wrong, or less exact than eager
    calls: in order; each of its `writes` has its own `verdict`, unless the call is wrong
    unknown: the first nodes whose values are unknown, with the reason
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {"calls": VerifyCall, "findings": VerifyFinding}
    _lists: ClassVar[FrozenSet[str]] = frozenset(("calls", "findings", "unknown",))
    calls: List[VerifyCall]
    counts: Optional[bool]
    effect: Optional[int]
    equal: Optional[int]
    findings: List[VerifyFinding]
    inputs: Optional[str]
    open: Optional[int]
    operators: Optional[int]
    rounding: Optional[int]
    run: Optional[int]
    unknown: List[Any]
    wrong: Optional[int]


@dataclass(frozen=True)
class VerifyDocument(Row):
    """Which kernels compute what their graph says: `aoti-verify --json` (docs/user/VERIFY.md).

    weights_compared: weights present in both graph and package
    weights: those that differ: `path`, `elements`, `differ` (how many), `max_abs` (the greatest difference)
    nodes: the graph's nodes except inputs, weights and the output, in order: `name`, `target` (`aten.softmax.int`), `python` (the line of the
        program)
    runs: calls of the model
    """

    _rows: ClassVar[Dict[str, Type[Row]]] = {"nodes": VerifyNode, "runs": VerifyRun}
    _lists: ClassVar[FrozenSet[str]] = frozenset(("nodes", "runs", "weights",))
    graph: Optional[str]
    nodes: List[VerifyNode]
    package: Optional[str]
    runs: List[VerifyRun]
    schema: Optional[str]
    status: Optional[int]
    weights: List[Any]
    weights_compared: Optional[int]


@dataclass(frozen=True)
class RunOutput(Row):
    """A member of RunDocument."""

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset(("size", "stride",))
    dtype: Optional[str]
    elements: Optional[int]
    max: Optional[float]
    mean: Optional[float]
    min: Optional[float]
    name: Optional[str]
    nan: Optional[int]
    neg_inf: Optional[int]
    pos_inf: Optional[int]
    size: List[int]
    stride: List[int]
    zeros: Optional[int]


@dataclass(frozen=True)
class RunTime(Row):
    """A member of RunDocument."""

    _rows: ClassVar[Dict[str, Type[Row]]] = {}
    _lists: ClassVar[FrozenSet[str]] = frozenset(())
    calls: Optional[int]
    create_ns: Optional[int]
    first_call_ns: Optional[int]
    load_model_ns: Optional[int]
    load_runtime_ns: Optional[int]
    mean_call_cpu_ns: Optional[int]
    mean_call_ns: Optional[int]
    median_call_ns: Optional[int]


@dataclass(frozen=True)
class RunDocument(Row):
    """Outputs of a model: `pt2-run --json` (docs/user/RUN.md)."""

    _rows: ClassVar[Dict[str, Type[Row]]] = {"outputs": RunOutput, "times": RunTime}
    _lists: ClassVar[FrozenSet[str]] = frozenset(("outputs",))
    model: Optional[str]
    outputs: List[RunOutput]
    schema: Optional[str]
    times: Optional[RunTime]
