"""libcommon/core/aten against PyTorch's own operator database (torch.testing._internal.common_methods_invocations.op_db).

    operators.py BUILD [-v] [--table FILE] [OPERATOR...]     # OPERATOR: add, nn.functional.relu, "special.*"; all when none is given
    operators.py BUILD --core                                # how much of the core ATen set there is, and what is not

The sample inputs that the database has of an operator (PT2_LONG=1: all of them), and those of operators_more.py, in every dtype that torch supports on the CPU, and the
same operands not contiguous: values (floats by their error against the same in float64), sizes, strides and dtype of each result, and shapes asked for
without values. An overload is called as torch's dispatcher resolves the sample: torch.ops.aten.NAME; of what is no operator of ATen by that name
(nn.functional.interpolate) those that it calls are held, one by one, each on what it was really called with. Prints TAP, a line for each operator;
what is expected to fail stands in operators.tsv with its reason. --table writes a section of docs/user/OPERATORS.md, one for each release: whole, or, with
OPERATORs, their rows in the section that FILE has. What it says of overloads is checked without torch (scripts/gen-operators --compared).
"""
import collections
import fnmatch
import itertools
import os
import re
import sys
import textwrap
import warnings

warnings.filterwarnings("ignore")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import types
import unittest

import torch

# The database's module wants a test framework that it does not use for samples.
sys.modules.setdefault("expecttest", types.SimpleNamespace(TestCase=unittest.TestCase))
from torch.testing._internal.common_methods_invocations import op_db

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from aten_driver import Aten, Refused
from operators_more import IN_DOUBLE, MORE
from shim_driver import DTYPES, WIDE, Tester
from torch.utils._python_dispatch import TorchDispatchMode

VERBOSE = "-v" in sys.argv
MOST = None if os.environ.get("PT2_LONG") else 24  # samples of an operator in a dtype


def leaves(x):
    if isinstance(x, torch.Tensor):
        return [x]
    if isinstance(x, (list, tuple)):
        return [t for y in x for t in leaves(y)]
    if isinstance(x, dict):
        return [t for y in x.values() for t in leaves(y)]
    return []


def mapped(x, f):
    if isinstance(x, torch.Tensor):
        return f(x)
    if isinstance(x, (list, tuple)):
        y = [mapped(v, f) for v in x]
        return y if isinstance(x, list) else tuple(y) if type(x) is tuple else y
    if isinstance(x, dict):
        return {k: mapped(v, f) for k, v in x.items()}
    return x


def widened(x):
    x = mapped(x, lambda t: t.to(WIDE.get(t.dtype, t.dtype)))
    return {k: WIDE.get(v, v) if isinstance(v, torch.dtype) else v for k, v in x.items()} if isinstance(x, dict) else x


def of_integers(x):
    """An operator that makes floats of integers has them in double, too."""
    return mapped(x, lambda t: t.double() if not (t.dtype.is_floating_point or t.dtype.is_complex) else t.to(WIDE.get(t.dtype, t.dtype)))


def eigen_differ(values, vectors, a, want):
    """Eigenvectors of any phase are right: A v = v w, and they have the length that torch's have."""
    if vectors.shape != want.shape or vectors.dtype != want.dtype or vectors.stride() != want.stride():
        return f"vectors {vectors.dtype}{list(vectors.shape)}/{list(vectors.stride())} instead of {want.dtype}{list(want.shape)}"
    if not vectors.numel():
        return None
    wide = torch.complex128
    a, v, w = a.to(wide), vectors.to(wide), values.to(wide)
    eps = torch.finfo(want.dtype).eps * 100 * max(1, a.abs().max().item()) * a.shape[-1]
    off, lengths = (a @ v - v * w.unsqueeze(-2)).abs().max().item(), (v.norm(dim=-2) - 1).abs().max().item()
    return None if off <= eps and lengths <= eps else f"A v - v w is {off:.3g}, lengths differ from 1 by {lengths:.3g}"


def singular_differ(got, want, a):
    """Singular vectors of any phase are right: U S V^H is the matrix, and they have the length 1."""
    for g, w in zip((got[0], got[2]), (want[0], want[2])):
        if g.shape != w.shape or g.dtype != w.dtype or (g.numel() and g.stride() != w.stride()):
            return f"vectors {g.dtype}{list(g.shape)}/{list(g.stride())} instead of {w.dtype}{list(w.shape)}/{list(w.stride())}"
    if not a.numel():
        return None
    wide, k = torch.complex128, got[1].shape[-1]
    u, s, v = got[0].to(wide), got[1].to(wide), got[2].to(wide)
    eps = torch.finfo(want[0].dtype).eps * 50 * max(1, want[1].max().item()) * max(a.shape[-2:])
    off = (u[..., :k] * s.unsqueeze(-2) @ v[..., :k, :] - a.to(wide)).abs().max().item()
    off = max(off, (u.mH @ u - torch.eye(u.shape[-1])).abs().max().item(), (v @ v.mH - torch.eye(v.shape[-2])).abs().max().item())
    return None if off <= eps else f"U S V^H or U^H U differ by {off:.3g}"


def lower(args, kwargs):
    """The hermitian matrix of which eigh looks at a triangle."""
    a, uplo = args[0], (args[1] if len(args) > 1 else kwargs.get("UPLO", "L")).upper()
    half = a.tril() if uplo == "L" else a.triu()
    other = half.mH.clone()
    other.diagonal(dim1=-2, dim2=-1).zero_()
    half = half.clone()
    if half.is_complex():
        half.diagonal(dim1=-2, dim2=-1).imag.zero_()
    return half + other


def kept(x):
    """A copy that stays when an operator writes: the same strides and offset."""
    def copy(t):
        if t.layout != torch.strided or t.is_conj() or t.is_neg() or t.device.type != "cpu":
            return t
        whole = torch.empty(0, dtype=t.dtype).set_(t.untyped_storage().clone())
        return whole.as_strided(t.shape, t.stride(), t.storage_offset())
    return mapped(x, copy)


class Called(TorchDispatchMode):
    """Every operator of ATen that is called in it, with what it was called with and what it gave."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func.namespace == "aten" and len(self.calls) < 40:
            self.calls.append((func, kept(args), kept(kwargs)))
        return func(*args, **kwargs)


def places(x):
    """leaves, and None where a result is None: one that is not told, beside others that are."""
    if x is None:
        return [None]
    return [t for y in x for t in places(y)] if isinstance(x, (list, tuple)) else leaves(x)


def shapes_differ(got, want):
    for k, (g, w) in enumerate(zip(places(got), places(want))):
        if g is None or w is None:
            continue
        if g.shape != w.shape or g.dtype != w.dtype:
            return f"shape without values, result {k}: {g.dtype}{list(g.shape)} instead of {w.dtype}{list(w.shape)}"
        if w.numel() and any(a != b and n > 1 for a, b, n in zip(g.stride(), w.stride(), w.shape)):
            return f"shape without values, result {k}: strides {list(g.stride())} instead of {list(w.stride())}"
    return None


class Checker:
    """What came of one operator in one dtype."""

    def __init__(self, lib):
        self.lib = lib
        self.seen = set()
        self.missing = set()

    def overload(self, op, args, kwargs):
        if hasattr(op, "fixed"):
            return op.fixed
        name = op.aten_name or op.name.replace(".", "_")
        try:
            which = torch._C._jit_resolve_packet("aten::" + name, *args, **kwargs)
        except Exception:  # noqa: BLE001 - no such packet, or it does not fit: this sample is not of one operator
            return None, None
        packet = getattr(torch.ops.aten, name)
        which = which or "default"
        return (name if which == "default" else f"{name}.{which}"), getattr(packet, which)

    def samples(self, op, args, kwargs):
        """[(overload, its arguments, what is wrong or None)]; none: it is not of ATen."""
        name, function = self.overload(op, args, kwargs)
        if name:
            return [] if name in RANDOM else [self.one(name, function, args, kwargs)]
        called = Called()
        try:
            with called:
                op.op(*args, **kwargs)
        except Exception:  # noqa: BLE001 - a sample of an error
            return []
        done = []
        for function, inner, named in called.calls:
            name = str(function)[5:].removesuffix(".default")
            if name not in RANDOM and (name, brief_all(inner, named)) not in self.seen:
                self.seen.add((name, brief_all(inner, named)))
                done.append(self.one(name, function, inner, named))
        return done

    def one(self, name, function, args, kwargs):
        return name, args, kwargs, self.sample(name, function, args, kwargs)

    def sample(self, name, function, args, kwargs):
        """What is wrong; "" where there is nothing to compare, None when nothing is."""
        if not self.lib.has(name):
            return "not here"
        try:
            want = function(*kept(args), **kept(kwargs))
        except Exception:  # noqa: BLE001 - torch refuses it: samples of errors
            return ""
        if any(t.dtype not in DTYPES or t.layout != torch.strided or t.is_conj() or t.is_neg() or t.device.type != "cpu" for t in
               leaves((args, kwargs, want))):
            return ""
        try:
            got = self.lib.call(name, kept(args), kept(kwargs))
        except Refused as e:
            return str(e)
        if name in ("linalg_eig", "linalg_eigh", "_linalg_eigh") and len(leaves(got)) == len(leaves(want)) == 2 and want[1].numel():
            a = args[0] if name == "linalg_eig" else lower(args, kwargs)
            return (self.compare(got[0], want[0], function(*widened(args), **widened(kwargs))[0]) or
                    eigen_differ(got[0], got[1], a, want[1]) or self.shapes(name, args, kwargs, want))
        given = want
        if name == "svd":
            got, want = (*got[:2], got[2].mH), (*want[:2], want[2].mH)
        if name in ("linalg_svd", "_linalg_svd", "svd") and want[0].numel():
            values = function(*widened(args), **widened(kwargs))[1]
            return self.compare(got[1], want[1], values) or singular_differ(got, want, args[0]) or self.shapes(name, args, kwargs, given)
        return self.compare(got, want, self.exact(function, args, kwargs, want)) or self.shapes(name, args, kwargs, given)

    @staticmethod
    def exact(function, args, kwargs, want):
        floats = any(t.dtype.is_floating_point or t.dtype.is_complex for t in leaves(want))
        given = any(t.dtype.is_floating_point or t.dtype.is_complex for t in leaves((args, kwargs)))
        function = IN_DOUBLE.get(function, function)
        try:
            if floats and not given and "dtype" not in kwargs:
                return function(*of_integers(kept(args)), **of_integers(kept(kwargs)))
            return function(*widened(kept(args)), **widened(kept(kwargs)))
        except Exception:  # noqa: BLE001 - not in double
            return want

    def shapes(self, name, args, kwargs, want):
        try:
            return shapes_differ(self.lib.call(name, args, kwargs, shapes=True), want)
        except Refused as e:
            return None if "depends on values" in str(e) else f"shape without values: {e}"

    @staticmethod
    def compare(got, want, exact):
        g, w, e = leaves(got), leaves(want), leaves(exact)
        if len(g) != len(w):
            return f"{len(g)} results instead of {len(w)}"
        for k, (a, b) in enumerate(zip(g, w)):
            c = e[k] if len(e) == len(w) and e[k].shape == b.shape else b
            text = Tester.differ(a, b, c, True, 1e-6)
            if text:
                return f"result {k}: {text}"
        if not w and want is not None and got != want and not (isinstance(got, float) and got != got and want != want):
            return f"{got} instead of {want}"
        return None

    def operator(self, op, dtype):
        """Counter of outcomes, complaints, overloads."""
        said, n = collections.Counter(), collections.Counter()
        names = set()
        self.seen = set()
        torch.manual_seed(0)
        with torch.no_grad():
            for s in itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=False), MOST):
                for each in (s, s.noncontiguous()):
                    for name, args, kwargs, wrong in self.samples(op, (each.input, *each.args), each.kwargs):
                        if wrong == "":
                            continue
                        names.add(name)
                        n["not here" if wrong == "not here" else "wrong" if wrong else "right"] += 1
                        if wrong == "not here":
                            self.missing.add(name)
                        elif wrong:
                            said[f"{name}{brief_all(args, kwargs)}: {wrong}"] += 1
        return n, said, names


def brief(a):
    return Tester.brief(a)


def brief_all(args, kwargs):
    return f"({', '.join(str(mapped(a, brief)) if isinstance(a, (list, tuple)) else brief(a) for a in args)}, {mapped(kwargs, brief)})"


# What no two runs have the same values of; tests/live/cases_index.py holds them against torch's with a seed.
RANDOM = {"rand", "randn", "randint", "randint.low", "rand_like", "randn_like", "randint_like", "randint_like.low_dtype", "randperm",
          "bernoulli", "bernoulli_.float", "bernoulli.p", "bernoulli.Tensor", "native_dropout", "multinomial", "uniform", "normal_functional",
          "exponential", "empty.memory_format", "empty_like", "new_empty", "empty_strided", "resize_", "randint_like.Tensor",
          "normal.Tensor_Tensor", "normal.Tensor_float", "normal.float_Tensor", "rand.generator", "randn.generator", "randint.generator",
          "randint.low_generator"}


def core(lib):
    """Overloads that torch marks as of the core ATen set."""
    have, want = set(lib.overloads()), set()
    for s in torch._C._jit_get_all_schemas():
        if s.name.startswith("aten::"):
            packet = getattr(torch.ops.aten, s.name[6:], None)
            which = getattr(packet, s.overload_name or "default", None)
            if which and torch.Tag.core in which.tags:
                want.add(s.name[6:] + ("." + s.overload_name if s.overload_name else ""))
    print(f"{len(want & have)} of {len(want)} of the core ATen set ({100 * len(want & have) / len(want):.1f} %); not here:",
          " ".join(sorted(want - have)))


def expected():
    """operators.tsv: operator, dtypes (or *), reason."""
    table = {}
    with open(os.path.join(HERE, "operators.tsv"), encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                op, dtypes, why = line.rstrip("\n").split("\t")
                table[op] = (None if dtypes == "*" else set(dtypes.split(",")), why)
    return table


def main():
    args = [a for a in sys.argv[1:] if a != "-v"]
    table = None
    if "--table" in args:
        at = args.index("--table")
        table = args[at + 1]
        del args[at : at + 2]
    lib, wanted = Aten(os.path.join(args[0], "tests-lib", "aten.so")), set(args[1:])
    if "--core" in wanted:
        return core(lib)
    check, known, rows, tests, failed, not_here, lacking = Checker(lib), expected(), [], 0, 0, 0, collections.Counter()
    for op in sorted([*op_db, *MORE], key=lambda o: (o.name, o.variant_test_name)):
        title = op.name + (f"/{op.variant_test_name}" if op.variant_test_name else "")
        if wanted and not any(fnmatch.fnmatch(name, w) for name in (op.name, title) for w in wanted):
            continue
        outcome, complaints, overloads, here = {}, [], set(), False
        check.missing = set()
        for dtype in sorted(op.dtypes, key=str):
            if dtype not in DTYPES:
                continue
            try:
                n, said, names = check.operator(op, dtype)
            except Exception as e:  # noqa: BLE001 - the database's own sample cannot be made
                complaints.append(f"{dtype}: {type(e).__name__} {str(e).splitlines()[0] if str(e) else ''}")
                continue
            short = str(dtype)[6:]
            if not n:
                continue
            if n["not here"]:
                here = False
                break  # not all of what it is made of
            here = True
            overloads |= names
            excused = title in known and (known[title][0] is None or short in known[title][0])
            outcome[short] = (n["right"], n["wrong"], n["not here"], excused)
            if n["wrong"] and not excused:
                complaints.append(f"{short}: {n['wrong']} of {sum(n.values())}: " + next(iter(said)))
                if VERBOSE:
                    complaints += [f"    {s}" for s in list(said)[1:6]]
        if not here:
            not_here += 1
            lacking.update(check.missing)
            continue
        tests += 1
        bad = any(w and not x for _, w, _, x in outcome.values())
        failed += bad
        rows.append((title, sorted(overloads), outcome, known.get(title, (None, ""))[1]))
        print(f"{'not ' if bad else ''}ok {tests} - {title}: {sum(r for r, _, _, _ in outcome.values())} samples")
        for c in complaints if bad else []:
            print("#  ", c[:400])
        sys.stdout.flush()
        if table:
            write(table, rows, bool(wanted))
    print(f"# {tests - failed} of {tests} operators right, {not_here} of the database are not here")
    print("# lacking, by operators of the database:", ", ".join(f"{name} {n}" for name, n in lacking.most_common()))
    print(f"1..{tests}")
    sys.exit(1 if failed else 0)


SHORT = {"uint8": "u8", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "float16": "f16", "bfloat16": "bf16", "float32": "f32",
         "float64": "f64", "complex64": "c64", "complex128": "c128", "bool": "bool", "complex32": "c32"}


def section(path):
    """What FILE says of this release: (all before it, {title: row}, the overloads, all behind it)."""
    text = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            text = f.read()
    head = f"## torch {torch.__version__.split('+')[0]}\n"
    before, found, rest = text.partition(head)
    body, behind = re.match(r"(.*?)(^## .*|\Z)", rest, re.S | re.M).groups()
    rows = {line.split(" | ")[0][2:]: line for line in body.splitlines() if line.startswith("| ") and not line.startswith("| operator |")}
    compared = re.search(r"^Overloads: (.*?)(\n\n|\Z)", body, re.S | re.M)
    return before, rows if found else {}, set(compared[1].replace("\n", " ").rstrip(". \n").split(", ")) if compared else set(), behind


def write(path, rows, some):
    columns = list(SHORT)
    before, lines, compared, behind = section(path)
    if not some:
        lines, compared = {}, set()
    for title, overloads, outcome, why in rows:
        cells = []
        for c in columns:
            right, wrong, _, _ = outcome.get(c, (0, 0, 0, False))
            cells.append(f"**-{wrong}**" if wrong else str(right) if right else ".")
        lines[title] = f"| {title} | {' | '.join(cells)} | {why} |"
        compared |= set(overloads)
    head = f"""## torch {torch.__version__.split('+')[0]}

{f"Up to {MOST}" if MOST else "All"} samples of each dtype{"; PT2_LONG=1: all of them" if MOST else ""}.

| operator | {' | '.join(SHORT[c] for c in columns)} | |
|---|{'---|' * len(columns)}---|
"""
    names = textwrap.fill("Overloads: " + ", ".join(sorted(compared)), 150, break_long_words=False, break_on_hyphens=False)
    with open(path, "w", encoding="utf-8") as f:
        f.write(before + head + "".join(lines[title] + "\n" for title in sorted(lines)) + f"\n{names}.\n" + (f"\n{behind}" if behind else ""))


if __name__ == "__main__":
    main()
