#!/usr/bin/env python3
"""run_action.py ACTION.YML FOLDER [INPUT=VALUE...] : the steps of a composite action, as GitHub's runner has them; the checkout is here.

`run:` steps are run by bash with `env:`, GITHUB_OUTPUT, GITHUB_STEP_SUMMARY, GITHUB_ENV, GITHUB_PATH and RUNNER_TEMP, whose files lie in
FOLDER; `uses:` steps are not: their inputs are a line of FOLDER/uses each, and actions/cache restores from and saves to FOLDER/cache.
GITHUB_* of the environment are the job's (GITHUB_EVENT_NAME, GITHUB_EVENT_PATH, ...). FOLDER/outputs is what the action gives; the exit
status is the job's. An input that is not declared, an expression in a `run:` text, a reference to a step that is not there and an action
that is not taken by its commit end it with 9."""
import json
import os
import re
import shutil
import subprocess
import sys

import yaml


def wrong(what):
    print("run_action.py: " + what, file=sys.stderr)
    sys.exit(9)


class Expression:
    """What composite actions use of GitHub's expressions: names, texts, == != && || ! and always(), success(), failure()."""
    TOKEN = re.compile(r"\s*('(?:[^']|'')*'|==|!=|&&|\|\||!|\(|\)|[A-Za-z_][\w.-]*)")

    def __init__(self, text, look):
        self.tokens, self.look, at = [], look, 0
        while text[at:].strip():
            m = self.TOKEN.match(text, at) or wrong("an expression that is not known here: " + text)
            self.tokens.append(m.group(1))
            at = m.end()

    def take(self, *these):
        return self.tokens.pop(0) if self.tokens and self.tokens[0] in these else None

    def either(self):
        value = self.both()
        while self.take("||"):
            other = self.both()
            value = value or other
        return value

    def both(self):
        value = self.same()
        while self.take("&&"):
            other = self.same()
            value = value and other
        return value

    def same(self):
        value = self.one()
        while sign := self.take("==", "!="):
            value = (str(value).lower() == str(self.one()).lower()) == (sign == "==")
        return value

    def one(self):
        if self.take("!"):
            return not self.one()
        if self.take("("):
            value = self.either()
            self.take(")")
            return value
        token = self.tokens.pop(0)
        if token[0] == "'":
            return token[1:-1].replace("''", "'")
        if self.take("("):
            self.take(")")
            token += "()"
        return self.look(token)


class Job:
    def __init__(self, path, folder, given):
        with open(path, encoding="utf-8") as f:
            self.action = yaml.safe_load(f)
        self.path, self.folder, self.failed, self.steps, self.used = os.path.abspath(path), os.path.abspath(folder), False, {}, []
        self.env = dict(os.environ, GITHUB_ACTIONS="true", CI="true", GITHUB_ACTION_PATH=os.path.dirname(self.path),
                        GITHUB_WORKSPACE=os.getcwd(), RUNNER_TEMP=os.path.join(self.folder, "temp"),
                        GITHUB_STEP_SUMMARY=os.path.join(self.folder, "summary"))
        os.makedirs(self.env["RUNNER_TEMP"], exist_ok=True)
        declared = self.action["inputs"]
        for name in given:
            if name not in declared:
                wrong("no such input: " + name)
        for name, of in declared.items():
            if of.get("required") and name not in given:
                wrong("an input is missing: " + name)
        self.inputs = {n: given.get(n, self.text(str(of.get("default", "")))) for n, of in declared.items()}

    def look(self, name):
        if name in ("always()", "success()", "failure()"):
            return {"always()": True, "success()": not self.failed, "failure()": self.failed}[name]
        kind, _, rest = name.partition(".")
        if kind == "inputs":
            return self.inputs[rest] if rest in self.inputs else wrong("no such input: " + name)
        if kind == "github":
            return self.env.get("GITHUB_" + rest.upper(), "")
        if kind == "steps":
            step, _, output = rest.partition(".outputs.")
            return self.steps[step].get(output, "") if step in self.steps else wrong("no such step: " + name)
        if name == "runner.temp":
            return self.env["RUNNER_TEMP"]
        return wrong("not known here: " + name)

    def text(self, s):
        return re.sub(r"\$\{\{(.*?)\}\}", lambda m: str(Expression(m.group(1), self.look).either()), s)

    def lines_of(self, path):
        """NAME=VALUE, or NAME<<END with lines."""
        found = {}
        with open(path, encoding="utf-8") as f:
            rows = iter(f.read().splitlines())
        for row in rows:
            if re.match(r"[\w-]+<<", row):
                name, end = row.split("<<", 1)
                found[name] = "\n".join(iter(lambda: next(rows), end))
            else:
                name, _, found[name] = row.partition("=")
        return found

    def cache(self, what, values):
        kept = os.path.join(self.folder, "cache")
        os.makedirs(kept, exist_ok=True)
        if what == "save":
            shutil.copy(values["path"], os.path.join(kept, values["key"]))
            return
        for key in [values["key"]] + values["restore-keys"].split():
            for name in sorted(os.listdir(kept), reverse=True):
                if name.startswith(key):
                    os.makedirs(os.path.dirname(values["path"]) or ".", exist_ok=True)
                    shutil.copy(os.path.join(kept, name), values["path"])
                    return

    def use(self, step):
        name = step["uses"]
        if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", name):
            wrong("not taken by its commit: " + name)
        values = {k: self.text(str(v)) for k, v in step.get("with", {}).items()}
        with open(os.path.join(self.folder, "uses"), "a", encoding="utf-8") as f:
            f.write(json.dumps({"uses": name.split("@")[0], "with": values}) + "\n")
        if name.startswith("actions/cache/"):
            self.cache(name.split("/")[2].split("@")[0], values)
        return 0, {}

    def run(self, step):
        if "${{" in step["run"]:
            wrong("an expression in a script: " + step["run"])
        if step.get("shell") != "bash":
            wrong("a step without its shell")
        env = dict(self.env, **{k: self.text(str(v)) for k, v in step.get("env", {}).items()})
        for name in ("OUTPUT", "ENV", "PATH"):
            env["GITHUB_" + name] = os.path.join(self.folder, name.lower())
            open(env["GITHUB_" + name], "w").close()
        status = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], env=env,
                                cwd=self.text(step.get("working-directory", "."))).returncode
        self.env.update(self.lines_of(env["GITHUB_ENV"]))
        with open(env["GITHUB_PATH"], encoding="utf-8") as f:
            for line in f.read().splitlines():
                self.env["PATH"] = line + ":" + self.env["PATH"]
        return status, self.lines_of(env["GITHUB_OUTPUT"])

    def go(self):
        ends = 0
        for step in self.action["runs"]["steps"]:
            when = step.get("if", "success()")
            wanted = Expression(when, self.look).either()
            if not wanted or (self.failed and not re.search(r"(always|failure)\(\)", when)):
                if "id" in step:
                    self.steps[step["id"]] = {}
                continue
            status, outputs = self.use(step) if "uses" in step else self.run(step)
            if "id" in step:
                self.steps[step["id"]] = outputs
            if status and not step.get("continue-on-error"):
                self.failed, ends = True, ends or status
        with open(os.path.join(self.folder, "outputs"), "w", encoding="utf-8") as f:
            for name, of in self.action["outputs"].items():
                f.write("%s=%s\n" % (name, self.text(of["value"])))
        return ends


sys.exit(Job(sys.argv[1], sys.argv[2], dict(a.split("=", 1) for a in sys.argv[3:])).go())
