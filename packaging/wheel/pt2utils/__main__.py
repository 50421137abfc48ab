"""python -m pt2utils: the tools and what each is for; python -m pt2utils TOOL ...: that tool; python -m pt2utils --version."""
from __future__ import annotations

import difflib
import os
import signal
import subprocess
import sys

import pt2utils


def say(program: str, option: str) -> str:
    """What a tool prints of itself, its first line."""
    return subprocess.run([program, option], stdout=subprocess.PIPE, check=True, env=dict(os.environ, COLUMNS="1000")).stdout.decode().split("\n", 1)[0]


def unknown(name: str, found: dict[str, str]) -> int:
    """One line about a tool that there is not, and the one that was meant."""
    meant = difflib.get_close_matches(name, [*found, *(tool[4:] for tool in found if tool.startswith("pt2-")), "--version", "--help"], 1)
    sys.stderr.write("pt2utils: unknown %s '%s'%s; 'python -m pt2utils' lists the tools\n" % (
        "option" if name.startswith("-") else "tool", name, " (did you mean '%s'?)" % meant[0] if meant else ""))
    return 2


def main(argv: list[str]) -> int:
    found = pt2utils.tools()
    if argv and argv[0] in ("-V", "--version") and found:
        print("pt2utils " + say(min(found.values()), "--version").split()[-1])
        return 0
    if argv and argv[0] not in ("-h", "--help"):
        try:
            program = pt2utils.path(argv[0])
        except pt2utils.Error as e:
            if found:
                return unknown(argv[0], found)
            sys.stderr.write("pt2utils: %s\n" % e)
            return e.status
        os.execv(program, [program, *argv[1:]])
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    for name in sorted(found):
        print("%-18s%s" % (name, say(found[name], "-h")))
    return 0 if found else 4


sys.exit(main(sys.argv[1:]))
