"""A result that fails only after its program has changed torch, as one file: the statements of the program that it needs, then the result. source.py
precedes this. The JSON document: file (the result, which imports `module`), program, and what source.py has; args are the program's.

The program's own compiles, and its errors, end it when a candidate is tested (Before), but must be gone in the end. Exit status: 0 if the file
is one now, else 5: it is as it was."""


class Before(Oracle):
    """The program's text is reduced; the result, which follows it, must fail as it did."""
    def __init__(self, config, suffix):
        super().__init__(config)
        self.suffix = suffix

    def attempt(self, text, eager=False):
        return run(self.suffix, self.config, eager=eager, before=text)

    def baseline(self, text):
        self.want, self.eager = self.attempt(text), self.attempt(text, eager=True)
        return self.want if not self.eager else {}


def split_result(text, module):
    """Its statements without the import of the program, and the comments at its end."""
    lines = text.rstrip("\n").split("\n")
    at = len(lines)
    while at and (not lines[at - 1].strip() or lines[at - 1].startswith("#")):
        at -= 1
    code = [line for line in lines[:at] if line.strip() != f"import {module}"]
    return "\n".join(code) + "\n", "\n".join(lines[at:]) + "\n"


def without_repeats(prelude, code):
    """An import that both have once, and the settings of a result after what it needs of the program."""
    have = {line for line in prelude.splitlines() if line.startswith(("import ", "from "))}
    return "\n".join(line for line in code.split("\n") if line not in have)


def fold_result(config):
    warm_torch(config["folder"])
    say = progress(config, 10)
    with open(config["program"]) as f, open(config["file"]) as g:
        program, result = f.read(), g.read()
    code, notes = split_result(result, config["module"])
    if config["args"]:
        program = f"import sys\nsys.argv[1:] = {config['args']!r}\n" + program
    oracle, own = Before(config, code), text_of(ast.parse(program))
    text = inlined(own, os.path.dirname(config["program"]))
    if text is None or not oracle.baseline(text):
        text = own
        if not oracle.baseline(text):
            say("program", "its statements, before the result, do not make it fail alone")
            return 5
    lines = len(text.splitlines())
    text = reduce_source(text, oracle, lambda *_: None, (("statements", drop_statements), ("branches", unwrap)))
    folder = os.path.dirname(config["program"])
    if any(needs_folder(node, folder) for node in ast.walk(ast.parse(text))):
        text = f"import sys\nsys.path.insert(0, {folder!r})\n" + text
    whole = text + "\n" + without_repeats(text, code)
    trial = os.path.join(config["folder"], os.path.basename(config["file"]))
    with open(trial, "w") as f:
        f.write(whole)
    found = run_fresh(sys.executable, {**config, "args": []}, trial, config["timeout"])
    found.pop("torch", None)
    if not same(found, oracle.want):
        say("program", f"in one file it {words(found)}: the program is beside it")
        return 5
    with open(config["file"] + ".new", "w") as f:
        f.write(whole + notes)
    os.replace(config["file"] + ".new", config["file"])
    say("program", f"{len(text.splitlines())} of {lines} lines are needed before the graph; {oracle.tests} tests, {time.monotonic() - oracle.began:.1f} s")
    return 0


def needs_folder(node, folder):
    """An import of a module of the program's folder."""
    names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""] if isinstance(node, ast.ImportFrom) else []
    return any(Modules(folder).file_of(name) for name in names)


if __name__ == "__main__":
    # Caches whose keys know nothing of what a program changes are off.
    main("source", lambda given: fold_result(given) if "program" in given else reduce_program(given), TORCHINDUCTOR_CACHE_DIR="cache",
         TORCHINDUCTOR_FX_GRAPH_CACHE="0", TORCHINDUCTOR_AUTOGRAD_CACHE="0")
