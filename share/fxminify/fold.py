"""A result that fails only after its program has changed torch, as one file: the statements of the program that it needs, then the result. source.py
precedes this. The JSON document: file (the result, which imports `module`), program, and what source.py has; args are the program's. program "": the
result only imports modules of the folder `beside`, which define its custom operators or its passes.

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
        super().baseline(text)
        return self.want if not self.eager else {}


def split_result(text, module):
    """Its statements without the import of the program, and the comments at its end."""
    lines = text.rstrip("\n").split("\n")
    at = len(lines)
    while at and (not lines[at - 1].strip() or lines[at - 1].startswith("#")):
        at -= 1
    code = [line for line in lines[:at] if line.strip() != f"import {module}"]
    return "\n".join(code) + "\n", "\n".join(lines[at:]) + "\n"


def split_imports(code, folder):
    """(imports of the folder's modules with the lines that use them, the rest) of a result."""
    names = {(a.asname or a.name).split(".")[0] for node in ast.parse(code).body if isinstance(node, (ast.Import, ast.ImportFrom)) and needs_folder(node, folder)
             for a in node.names}
    mine = [line for line in code.split("\n") if not line.startswith((" ", "#")) and names & set(re.findall(r"\w+", line))
            and line.startswith(("import ", "from ", "torch._"))]
    return "".join(line + "\n" for line in mine), "\n".join(line for line in code.split("\n") if line not in mine)


def without_repeats(prelude, code):
    """An import that both have once, and the settings of a result after what it needs of the program."""
    have = {line for line in prelude.splitlines() if line.startswith(("import ", "from "))}
    return "\n".join(line for line in code.split("\n") if line not in have)


def fold_result(config):
    say, program, folder = progress(config, 10), "", config["beside"]
    with open(config["file"]) as f:
        code, notes = split_result(f.read(), config["module"])
    if config["program"]:
        with open(config["program"]) as f:
            program = f.read()
        program = with_args(program, config["args"])
    imports, code = split_imports(code, folder)
    if not program + imports:
        return 0
    warm_torch(config["folder"])
    sys.path.insert(0, folder)
    oracle, own = Before(config, code), text_of(ast.parse(program + "\n" + imports))
    text = inlined(own, folder)
    if text is None or not oracle.baseline(text):
        text = own
        if not oracle.baseline(text):
            say("program", "its statements, before the result, do not make it fail alone")
            return 5
    lines = len(text.splitlines())
    text = reduce_source(text, oracle, lambda *_: None, (("statements", drop_statements), ("branches", unwrap)))
    if any(needs_folder(node, folder) for node in ast.walk(ast.parse(text))):
        text = f"import sys\nsys.path.insert(0, {folder!r})\n" + text
        say("program", f"the result imports modules of {folder}")
    whole = text + "\n" + without_repeats(text, code)
    trial = os.path.join(config["folder"], os.path.basename(config["file"]))
    with open(trial, "w") as f:
        f.write(whole)
    found = run_fresh(sys.executable, {**config, "args": []}, trial, long_enough(config))
    found.pop("torch", None)
    notes += note_of_files(found)
    if not same(found, oracle.want):
        say("program", f"in one file it {words(found)}: the program is beside it")
        return 5
    write_result(config["file"], whole + notes)
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
