"""A failure in capture itself: no graph was made, so the program's source is reduced, by statements and branches. ../zygote/zygote.py,
trial.py and inline.py come before this file, fold.py after it; the one argument is a JSON document: file, args, files (the folder that the
program reads files of), by (what captures it: "Dynamo", "torch.export"), type, message, output, timeout (s), hangs, max_tests, max_time (s), quiet, command.

Each candidate is run twice, in processes forked from one that has imported torch: compiled, it must fail as the program did (the type of the
error, its message without numbers and names, and the innermost frame of torch), and in eager it must not. A graph that is captured is run as it is,
unless the program then fails in another way: the time of a compiler looks like a hang. A test has an empty directory; the
program's own is searched for modules. The result is run once more in a fresh Python. Exit status: as fxminify's.
"""
import ast

BLOCKS = ("body", "orelse", "finalbody")


# ---- a test ----

class Oracle:
    def __init__(self, config):
        self.config, self.known, self.tests, self.began = config, {}, 0, time.monotonic()
        self.want = self.eager = None
        self.states = []  # texts that failed, each smaller than the one before

    def over(self):
        return 0 < self.config["max_tests"] <= self.tests or 0 < self.config["max_time"] <= time.monotonic() - self.began

    def attempt(self, text, eager=False):
        return run(text, self.config, eager=eager)

    def baseline(self, text):
        began = time.monotonic()
        self.eager = self.attempt(text, eager=True)
        if self.config.get("hangs"):
            self.config = patience(self.config, time.monotonic() - began)
        self.want = self.attempt(text)
        return self.want

    def fails(self, text):
        if text not in self.known:
            if self.over():
                return False
            self.tests += 1
            ok = False
            with contextlib.suppress(SyntaxError, ValueError):
                compile(text, "candidate", "exec", dont_inherit=True)
                ok = same(self.attempt(text), self.want)
                if ok:
                    eager = self.attempt(text, eager=True)
                    ok = not eager if not self.eager else not same(eager, self.want)
            self.known[text] = ok
            if ok:
                self.states.append(text)
        return self.known[text]


# ---- the reduction ----

def blocks_of(tree):
    """Lists of statements, outermost first."""
    found, level = [], [tree]
    while level:
        deeper = []
        for node in level:
            for name in BLOCKS:
                if isinstance(getattr(node, name, None), list) and getattr(node, name) and isinstance(getattr(node, name)[0], ast.stmt):
                    found.append((node, name))
                    deeper += getattr(node, name)
            deeper += getattr(node, "handlers", [])
        level = deeper
    return found


def text_of(tree):
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def without(text, block, first, last):
    """The program without these statements of its block-th list; None if there are none."""
    tree = ast.parse(text)
    blocks = blocks_of(tree)
    if block >= len(blocks):
        return None
    node, name = blocks[block]
    items = getattr(node, name)
    if first >= len(items) or all(isinstance(s, ast.Pass) for s in items[first:last]):
        return None
    kept = items[:first] + items[last:]
    setattr(node, name, kept or ([ast.Pass()] if name == "body" and not isinstance(node, ast.Module) else []))
    if isinstance(node, ast.Try) and not node.handlers and not node.finalbody:
        return None
    return text_of(tree)


def drop_statements(text, oracle):
    """Halves of each list of statements, then quarters, ... as delta debugging does; outer lists first."""
    block = 0
    while block < len(blocks_of(ast.parse(text))):
        node, name = blocks_of(ast.parse(text))[block]
        size = len(getattr(node, name))
        while size:
            first = 0
            while True:
                node, name = (blocks_of(ast.parse(text)) + [(None, "")] * (block + 1))[block]
                if node is None or first >= len(getattr(node, name)):
                    break
                smaller = without(text, block, first, first + size)
                if smaller is not None and smaller != text and oracle.fails(smaller):
                    text = smaller
                else:
                    first += size
            size //= 2
        block += 1
    return text


def simpler(node):
    """Statements that may take the place of this one."""
    if isinstance(node, (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.AsyncWith)):
        yield node.body
        if getattr(node, "orelse", None):
            yield node.orelse
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return)) and node.value is not None:
        yield [ast.Expr(node.value)]
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.decorator_list:
        for i in range(len(node.decorator_list)):
            kept = node.decorator_list[:i] + node.decorator_list[i + 1:]
            yield [type(node)(**{**{f: getattr(node, f, None) for f in node._fields}, "decorator_list": kept})]


def unwrap(text, oracle):
    """Branches, loops and with blocks become their bodies."""
    at = 0
    while True:
        tree = ast.parse(text)
        places = [(node, name, i) for node, name in blocks_of(tree) for i in range(len(getattr(node, name)))]
        if at >= len(places):
            return text
        node, name, i = places[at]
        items = getattr(node, name)
        for body in simpler(items[i]):
            setattr(node, name, items[:i] + list(body) + items[i + 1:])
            smaller = text_of(tree)
            if smaller != text and oracle.fails(smaller):
                text = smaller
                break
        else:
            at += 1


class Expressions(ast.NodeTransformer):
    """Replaces the n-th expression that can be simpler by one of its operands, or by a smaller literal."""
    def __init__(self, n):
        self.n, self.seen, self.done = n, 0, False

    def options(self, node):
        if isinstance(node, ast.BinOp):
            return [node.left, node.right]
        if isinstance(node, ast.UnaryOp):
            return [node.operand]
        if isinstance(node, ast.IfExp):
            return [node.body, node.orelse]
        if isinstance(node, ast.Call):
            own = [node.func.value] if isinstance(node.func, ast.Attribute) else []
            return own + [a for a in node.args if not isinstance(a, (ast.Starred, ast.Constant))]
        return []

    def generic_visit(self, node):
        for option in self.options(node) if isinstance(node, ast.expr) else []:
            if self.seen == self.n:
                self.seen, self.done = self.seen + 1, True
                return option
            self.seen += 1
        return super().generic_visit(node)


def simplify_expressions(text, oracle):
    n = 0
    while not oracle.over():
        change = Expressions(n)
        smaller = text_of(change.visit(ast.parse(text)))
        if not change.done:
            return text
        if smaller != text and len(smaller) < len(text) and oracle.fails(smaller):
            text = smaller
        else:
            n += 1
    return text


PASSES = (("statements", drop_statements), ("branches", unwrap), ("expressions", simplify_expressions))


def reduce_source(text, oracle, say, passes=PASSES):
    before = None
    while before != text and not oracle.over():
        before = text
        for name, step in passes:
            if step is simplify_expressions and text != before:
                break  # fewer statements have fewer of them
            lines, tests, began = len(text.splitlines()), oracle.tests, time.monotonic()
            text = step(text, oracle)
            if oracle.tests > tests:
                say(name, f"{lines - len(text.splitlines())} lines dropped, {len(text.splitlines())} left; "
                          f"{oracle.tests - tests} test{'s' * (oracle.tests - tests != 1)}, {time.monotonic() - began:.1f} s")
    return text


# ---- the result ----

def fresh(path, config, **env):
    """In a new Python: its status, None if it does not end, and what it printed."""
    with tempfile.TemporaryFile(dir=config["folder"]) as said:
        done = subprocess.Popen([sys.executable, path, *config["args"]], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said,
                                cwd=config["folder"], start_new_session=True,
                                env={**os.environ, "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1",
                                     "PYTHONPATH": os.pathsep.join(filter(None, (os.path.dirname(os.path.abspath(config["file"])),
                                                                                 os.environ.get("PYTHONPATH")))), **env})
        try:
            status = wait_for(done, long_enough(config), config.get("hangs"))
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(done.pid, signal.SIGKILL)
            done.wait()
        said.seek(0)
        return status, said.read().decode(errors="replace")


def verified(path, config, want):
    """"" if it fails the same way; else why not. A hang is seen twice."""
    for name in want.get("files", ()):
        os.makedirs(os.path.join(config["folder"], os.path.dirname(name)), exist_ok=True)
        if not os.path.lexists(os.path.join(config["folder"], name)):
            os.symlink(os.path.join(config["files"], name), os.path.join(config["folder"], name))
    for _ in range(2 if want["type"] == "timeout" else 1):
        status, text = fresh(path, config)
        ended = "timeout" if status is None else signal.Signals(-status).name if status < 0 else f"exit status {status}"
        if status == 0:
            return "it ends with status 0"
        if ended != want["type"] and (status is None or want["type"].rpartition(".")[2] not in text):
            return "it takes too long" if status is None else "it fails with another error"
    return ""


def newest_verified(states, verifies):
    """The newest that does, looked for backwards in growing steps and then between them; None: not even the first."""
    bad, step = len(states) - 1, 1
    good = bad - step
    while good >= 0 and not verifies(states[good]):
        if not good:
            return None
        bad, step = good, 2 * step
        good = max(0, good - step)
    if good < 0:
        return None
    while bad - good > 1:
        middle = (good + bad) // 2
        if verifies(states[middle]):
            good = middle
        else:
            bad = middle
    return states[good]


def how_verified(config, want):
    if want["type"] == "timeout":
        return f"does not end within {long_enough(config)} s in a fresh process with all caches off, twice"
    return "fails the same way in a fresh process with all caches off"


def note_of_files(found):
    """What it needs beside it."""
    names = found.get("files")
    return f"# reads: {', '.join(names)} (run it in the directory that has {'it' if len(names) == 1 else 'them'})\n" if names else ""


def with_note(text, config, oracle, how):
    import torch
    message = re.sub(re.escape(config["folder"]) + r"/\S*?/(?=[^/\s\"]+\.py)", "", oracle.want["message"])
    note = [f"{oracle.want['type']}: {line}" if i == 0 else line for i, line in enumerate(message.splitlines()[:8])]
    note += ["", f"failure: {oracle.want['type']} while {config['by']} captures the program"
                 + ("; eager does not fail" if not oracle.eager else ""),
             f"versions: torch {torch.__version__}, Python {sys.version.split()[0]}", f"made by {config['tool']}: {config['command']}",
             f"verified: {how}"]
    return text + "\n" + "".join(f"# {line}".rstrip() + "\n" for line in note) + note_of_files(oracle.want)


def write_result(path, text):
    with open(path + ".new", "w") as f:
        f.write(text)
    os.replace(path + ".new", path)


def with_args(text, args):
    """The program with its arguments in it, so that it can be run by itself."""
    if not args:
        return text
    tree = ast.parse(text)
    first = next((i for i, node in enumerate(tree.body) if not (isinstance(node, ast.ImportFrom) and node.module == "__future__" or is_docstring(node))),
                 len(tree.body))
    tree.body[first:first] = ast.parse(f"import sys\nsys.argv[1:] = {args!r}").body
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def reduce_program(config):
    warm_torch(config["folder"])
    say = progress(config, 11)
    with open(config["file"]) as f:
        original = f.read()
    text = text_of(ast.parse(original))
    say("source", f"{config['file']}: {len(text.splitlines())} lines")
    text, config = with_args(text, config["args"]), {**config, "args": []}
    for capture in (True, False):
        oracle = Oracle({**config, "capture": capture})
        found = oracle.baseline(text)
        if found.get("type") == config["type"]:
            break
    whole = inlined(text, os.path.dirname(config["file"])) if found.get("type") == config["type"] else None
    if whole is not None:
        oracle.tests += 1
        if same(oracle.attempt(whole), found):
            text = whole
            say("modules", f"{len(text.splitlines())} lines with those of the modules beside it")
    if not found:
        say("failure", "in an empty directory the program does not fail: it needs its own files")
        return 5
    say("failure", f"{found['type']}: {next(iter(found['message'].splitlines()), '')}"[:300])
    if found["type"] != config["type"]:
        say("failure", f"that is not what the program showed ({config['type']})")
        return 5
    if oracle.eager and same(oracle.eager, found):
        say("failure", "eager fails the same way: not a failure of torch.compile")
        return 1
    lines = len(original.splitlines()) if text != whole else len(text.splitlines())
    start, output, status = text, config["output"], 0
    try:
        text = reduce_source(text, oracle, say)
    except KeyboardInterrupt:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        write_result(output, with_note([text, *oracle.states][-1], config, oracle, "NOT: interrupted"))
        say("interrupted", f"the smallest that failed is in {output}; to continue: fxminify -- python {output}")
        return 130
    if found.get("files"):
        found["files"] = oracle.attempt(text).get("files", [])
    trial = os.path.join(config["folder"], os.path.basename(output))

    def why_not(text):
        with open(trial, "w") as f:
            f.write(text)
        return verified(trial, config, found)
    states = [start, *oracle.states]
    why = why_not(text)
    if why:
        newest = newest_verified(states, lambda text: not why_not(text))
        if newest is not None:
            n = len(states) - 1 - states.index(newest)
            say("verified", f"the last {'change is' if n == 1 else f'{n} changes are'} left out: with {'it' if n == 1 else 'them'} {why}")
            text, why = newest, ""
        else:
            text, status = original, 5
    say("verified", f"no: {why}: the result is the original" if why else "it fails the same way in a fresh process, and not in eager"
        if not oracle.eager else "it fails the same way in a fresh process")
    write_result(output, with_note(text, config, oracle, f"NOT: {why}" if why else how_verified(config, found)))
    say("result", f"{len(text.splitlines())} of {lines} lines, in {output}; {oracle.tests} tests, "
                  f"{time.monotonic() - oracle.began:.1f} s")
    return status
