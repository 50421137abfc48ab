#!/usr/bin/env python3
"""run_action.py FILE FOLDER [INPUT=VALUE...] : a composite action, or a workflow that is called, as GitHub's runner has it; the checkout is here.

`run:` steps are run by bash with `env:`, GITHUB_OUTPUT, GITHUB_STEP_SUMMARY, GITHUB_ENV, GITHUB_PATH and RUNNER_TEMP, whose files lie in
FOLDER; what a step writes into GITHUB_ENV and GITHUB_PATH is in the environment of the next ones. Of `uses:` steps, an action of this repository
(./.pt2utils/...) is run; of others the inputs are a line of FOLDER/uses each, actions/cache restores from and saves to FOLDER/cache, and
actions/upload-artifact packs into $RUN_ACTION_ARTIFACTS (FOLDER/artifacts). Each job of a workflow has a folder of its own, FOLDER/JOB, with its own
environment, as on a machine of its own; one that does not check out the caller's repository starts in an empty folder, one
with `permissions:` has the token "read-only"; the environment that a job ended with is FOLDER/JOB/environment. GITHUB_* of the environment are the job's (GITHUB_EVENT_NAME,
GITHUB_EVENT_PATH, ...); RUN_ACTION_TOKEN is its token, which is in no environment. FOLDER/outputs is what the action or workflow gives; the exit status is
the (worst) job's. An input that is not declared, an expression in a `run:` text, a reference to a step that is not there and an action
that is not taken by its commit end it with 9."""
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile

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
    """What the steps of one job share: its machine."""

    def __init__(self, folder, token, file, workspace=None):
        self.folder, self.token, self.workspace = os.path.abspath(folder), token, workspace or os.getcwd()
        self.root = os.path.dirname(os.path.abspath(file))  # of this repository: a workflow is two folders down
        self.root = self.root[:-len("/.github/workflows")] if self.root.endswith("/.github/workflows") else self.root
        self.env = dict(os.environ, GITHUB_ACTIONS="true", CI="true", GITHUB_WORKSPACE=self.workspace, RUNNER_TEMP=os.path.join(self.folder, "temp"),
                        GITHUB_STEP_SUMMARY=os.path.join(self.folder, "summary"))
        os.makedirs(self.env["RUNNER_TEMP"], exist_ok=True)

    def file(self, name):
        return os.path.join(self.folder, name)


class Steps:
    """A list of steps with the names that they see: of a job (inputs, needs), or of a composite action in it."""

    def __init__(self, job, inputs, needs=None, path=None):
        self.job, self.inputs, self.needs, self.path, self.steps, self.failed = job, inputs, needs or {}, path, {}, False

    def look(self, name):
        if name in ("always()", "success()", "failure()", "cancelled()"):
            return {"always()": True, "success()": not self.failed, "failure()": self.failed, "cancelled()": False}[name]
        kind, _, rest = name.partition(".")
        if kind == "inputs":
            return self.inputs[rest] if rest in self.inputs else wrong("no such input: " + name)
        if name == "github.token":
            return self.job.token
        if kind == "github":
            return self.job.env.get("GITHUB_" + rest.upper(), "")
        if kind in ("steps", "needs", "jobs"):
            step, _, output = rest.partition(".outputs.")
            of = self.steps if kind == "steps" else self.needs
            return of[step].get(output, "") if step in of else wrong("no such step: " + name)
        if name in ("job.workflow_sha", "job.workflow_repository"):
            return {"job.workflow_sha": "0" * 40, "job.workflow_repository": "OWNER/pt2utils"}[name]
        if name == "runner.temp":
            return self.job.env["RUNNER_TEMP"]
        return wrong("not known here: " + name)

    def value(self, s):
        return Expression(s, self.look).either()

    def text(self, s):
        def one(m):
            value = self.value(m.group(1))
            return str(value).lower() if isinstance(value, bool) else str(value)
        return re.sub(r"\$\{\{(.*?)\}\}", one, str(s).lower() if isinstance(s, bool) else str(s))

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
        kept = self.job.file("cache")
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

    def upload(self, values):
        """As the action does: a folder as it is, files from their common folder, links as what they lead to."""
        to = os.environ.get("RUN_ACTION_ARTIFACTS") or self.job.file("artifacts")
        os.makedirs(to, exist_ok=True)
        with zipfile.ZipFile(os.path.join(to, values["name"] + ".zip"), "w", zipfile.ZIP_DEFLATED) as z:
            for path in values["path"].split("\n"):
                files = [(path, os.path.basename(path))] if os.path.isfile(path) else [
                    (os.path.join(d, f), os.path.relpath(os.path.join(d, f), path)) for d, _, fs in os.walk(path) for f in fs]
                for file, name in files:
                    if os.path.isfile(file):
                        z.write(file, name)

    def use(self, step):
        name = step["uses"]
        values = {k: self.text(v) for k, v in step.get("with", {}).items()}
        if name.startswith("./.pt2utils"):
            path = os.path.normpath(self.job.root + name[len("./.pt2utils"):])
            return action(self.job, os.path.join(path, "action.yml"), values)
        if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", name):
            wrong("not taken by its commit: " + name)
        with open(self.job.file("uses"), "a", encoding="utf-8") as f:
            f.write(json.dumps({"uses": name.split("@")[0], "with": values}) + "\n")
        if name.startswith("actions/cache/"):
            self.cache(name.split("/")[2].split("@")[0], values)
        if name.startswith("actions/upload-artifact"):
            self.upload(values)
        return 0, {}

    def run(self, step):
        if "${{" in step["run"]:
            wrong("an expression in a script: " + step["run"])
        if step.get("shell") != "bash":
            wrong("a step without its shell")
        env = dict(self.job.env, **{k: self.text(v) for k, v in step.get("env", {}).items()})
        if self.path:
            env["GITHUB_ACTION_PATH"] = self.path
        for name in ("OUTPUT", "ENV", "PATH"):
            env["GITHUB_" + name] = self.job.file(name.lower())
            open(env["GITHUB_" + name], "w").close()
        status = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], env=env,
                                cwd=os.path.join(self.job.workspace, self.text(step.get("working-directory", ".")))).returncode
        self.job.env.update(self.lines_of(env["GITHUB_ENV"]))
        with open(env["GITHUB_PATH"], encoding="utf-8") as f:
            for line in f.read().splitlines():
                self.job.env["PATH"] = line + ":" + self.job.env["PATH"]
        return status, self.lines_of(env["GITHUB_OUTPUT"])

    def go(self, steps):
        ends = 0
        for step in steps:
            when = re.sub(r"^\$\{\{(.*)\}\}$", r"\1", str(step.get("if", "success()")))
            wanted = self.value(when)
            if not wanted or (self.failed and not re.search(r"(always|failure|cancelled)\(\)", when)):
                if "id" in step:
                    self.steps[step["id"]] = {}
                continue
            status, outputs = self.use(step) if "uses" in step else self.run(step)
            if "id" in step:
                self.steps[step["id"]] = outputs
            if status and not step.get("continue-on-error"):
                self.failed, ends = True, ends or status
        return ends


def declared(of, given, look):
    for name in given:
        if name not in of:
            wrong("no such input: " + name)
    for name, what in of.items():
        if what.get("required") and name not in given:
            wrong("an input is missing: " + name)
    return {n: given.get(n, look(what.get("default", ""))) for n, what in of.items()}


def action(job, path, given):
    with open(path, encoding="utf-8") as f:
        what = yaml.safe_load(f)
    steps = Steps(job, {}, path=os.path.dirname(os.path.abspath(path)))
    steps.inputs = declared(what["inputs"], given, steps.text)
    ends = steps.go(what["runs"]["steps"])
    return ends, {n: steps.text(of["value"]) for n, of in what["outputs"].items()}


def workflow(what, path, folder, given, token):
    call = what[True]["workflow_call"]  # YAML reads `on` as true
    inputs = declared(call["inputs"], given, lambda v: v)
    inputs = {n: str(v) == "true" or v is True if call["inputs"][n]["type"] == "boolean" else v for n, v in inputs.items()}
    ends, given_back = 0, {}
    os.environ.setdefault("RUN_ACTION_ARTIFACTS", os.path.join(os.path.abspath(folder), "artifacts"))
    for name, of in what["jobs"].items():
        at, out = os.path.join(os.path.abspath(folder), name), any("checkout" in s.get("uses", "") and "repository" not in s["with"] for s in of["steps"])
        job = Job(at, "read-only" if "permissions" in of else token, path, None if out else os.path.join(at, "empty"))
        os.makedirs(job.workspace, exist_ok=True)
        steps = Steps(job, inputs, given_back)
        when = re.sub(r"^\$\{\{(.*)\}\}$", r"\1", of.get("if", "success()"))
        if not steps.value(when):
            continue
        status = steps.go(of["steps"])
        with open(job.file("environment"), "w", encoding="utf-8") as f:
            f.writelines("%s=%s\n" % row for row in sorted(job.env.items()))
        given_back[name] = {n: steps.text(v) for n, v in of.get("outputs", {}).items()}
        ends = ends or status
    names = Steps(None, inputs, given_back)
    return ends, {n: names.text(v["value"]) for n, v in call["outputs"].items()}


def main(path, folder, *rest):
    given, token = dict(a.split("=", 1) for a in rest), os.environ.pop("RUN_ACTION_TOKEN", "")
    os.makedirs(folder, exist_ok=True)
    with open(path, encoding="utf-8") as f:
        what = yaml.safe_load(f)
    ends, outputs = workflow(what, path, folder, given, token) if "jobs" in what else action(Job(folder, token, path), path, given)
    with open(os.path.join(folder, "outputs"), "w", encoding="utf-8") as f:
        for row in outputs.items():
            f.write("%s=%s\n" % row)
    return ends


sys.exit(main(*sys.argv[1:]))
