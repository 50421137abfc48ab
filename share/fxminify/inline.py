"""A program and the modules of its own folder that it imports, as one file. trial.py precedes this and source.py follows it.

Each module's statements take the place of its first import; "module.name" becomes "name". What cannot be said that way (two meanings of one
name, a module as a value, an import inside of a function) leaves everything as it was: Tangled. Whether the one file still fails is for the caller to test."""
import ast


class Tangled(Exception):
    pass


class Modules:
    def __init__(self, folder):
        self.folder, self.trees, self.meaning = folder, {}, {}  # meaning: name -> what it is bound to

    def file_of(self, name):
        path = os.path.join(self.folder, *name.split("."))
        for file in (path + ".py", os.path.join(path, "__init__.py")):
            if os.path.isfile(file):
                return file
        return None

    def tree_of(self, name):
        with open(self.file_of(name)) as f:
            return ast.parse(f.read())

    def is_package(self, name):
        return self.file_of(name).endswith("__init__.py")

    def mean(self, name, what):
        if self.meaning.setdefault(name, what) != what:
            raise Tangled(f"{name} means two things")

    def absolute(self, node, module):
        """The module that a "from" names."""
        if not node.level:
            return node.module
        parts = module.split(".") if self.is_package(module) else module.split(".")[:-1]
        parts = parts[:len(parts) - node.level + 1]
        return ".".join(parts + ([node.module] if node.module else []))


def bound_names(tree):
    """What a module's own statements bind, without imports."""
    names = set()
    for node in tree.body:
        for part in [node] if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)) else ast.walk(node):
            if isinstance(part, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
                names.add(part.name)
            elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                names.add(part.id)
    return names


def is_docstring(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def is_main_block(node):
    return isinstance(node, ast.If) and any(isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(node.test))


class Unqualified(ast.NodeTransformer):
    """module.name -> name, for modules that were put in."""
    def __init__(self, modules, aliases):
        self.modules, self.aliases = modules, aliases

    def module_of(self, node):
        if isinstance(node, ast.Name):
            return self.aliases.get(node.id)
        if isinstance(node, ast.Attribute):
            outer = self.module_of(node.value)
            inner = f"{outer}.{node.attr}" if outer else None
            return inner if inner in self.modules.trees else None
        return None

    def visit_Attribute(self, node):
        if self.module_of(node):
            raise Tangled("a module is a value")
        if self.module_of(node.value):
            return ast.copy_location(ast.Name(node.attr, node.ctx), node)
        return self.generic_visit(node)

    def visit_Name(self, node):
        if node.id in self.aliases:
            raise Tangled(f"the module {node.id} is a value")
        return node


def put_in(modules, module, tree, main=False):
    """The statements of a module, with those of its modules where they are first imported."""
    out, aliases = [], {}
    modules.trees[module] = tree
    for node in tree.body:
        if isinstance(node, ast.Import):
            rest = []
            for name in node.names:
                if modules.file_of(name.name):
                    out += needed(modules, name.name)
                    aliases[name.asname or name.name.split(".")[0]] = name.name if name.asname else name.name.split(".")[0]
                else:
                    modules.mean(name.asname or name.name.split(".")[0], ("import", name.name if name.asname else name.name.split(".")[0]))
                    rest.append(name)
            out += [ast.Import(rest)] if rest else []
        elif isinstance(node, ast.ImportFrom) and (node.level or modules.file_of(node.module)):
            of = modules.absolute(node, module)
            if not modules.file_of(of):
                raise Tangled(f"no module {of}")
            for name in node.names:
                inner = f"{of}.{name.name}"
                if name.name != "*" and modules.is_package(of) and modules.file_of(inner):
                    out += needed(modules, of) + needed(modules, inner)
                    aliases[name.asname or name.name] = inner
                    continue
                out += needed(modules, of)
                if name.asname and name.asname != name.name:
                    modules.mean(name.asname, ("name", of, name.name))
                    out.append(ast.parse(f"{name.asname} = {name.name}").body[0])
        else:
            if isinstance(node, ast.ImportFrom):
                for name in node.names:
                    modules.mean(name.asname or name.name, ("from", node.module, name.name))
            for part in ast.walk(node) if not isinstance(node, (ast.Import, ast.ImportFrom)) else ():
                if isinstance(part, (ast.Import, ast.ImportFrom)) and (getattr(part, "level", 0) or any(
                        modules.file_of(n) for n in ([part.module] if isinstance(part, ast.ImportFrom) else [a.name for a in part.names]))):
                    raise Tangled("an import that is not at the top")
            if main or not is_main_block(node) and not is_docstring(node):
                out.append(node)
    for name in bound_names(tree):
        modules.mean(name, ("of", module, name))
    mine = [n for n in out if n in tree.body]
    change = Unqualified(modules, aliases)
    return [change.visit(n) if n in mine else n for n in out]


def needed(modules, name):
    """A module that was not put in yet, after the packages that hold it."""
    out, parts = [], name.split(".")
    for i in range(1, len(parts) + 1):
        whole = ".".join(parts[:i])
        if whole not in modules.trees and modules.file_of(whole):
            out += put_in(modules, whole, modules.tree_of(whole))
    return out


def inlined(text, folder):
    """The text of one file; None if it imports no module of its folder, or if they cannot be one."""
    modules = Modules(folder)
    try:
        tree = ast.parse(text)
        tree.body = put_in(modules, "__main__", tree, main=True)
    except (Tangled, SyntaxError, OSError, UnicodeDecodeError, RecursionError):
        return None
    future = [n for n in tree.body if isinstance(n, ast.ImportFrom) and n.module == "__future__"]
    body, seen = future[:1] + [n for n in tree.body if n not in future], set()
    tree.body = [n for n in body if not isinstance(n, (ast.Import, ast.ImportFrom)) or ast.dump(n) not in seen and not seen.add(ast.dump(n))]
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n" if len(modules.trees) > 1 else None
