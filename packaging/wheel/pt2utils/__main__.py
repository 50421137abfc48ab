"""python -m pt2utils: the tools and what each is for; python -m pt2utils TOOL ...: that tool."""
import os
import signal
import subprocess
import sys

import pt2utils


def about(program):
    """The question that it answers, the first line of -h."""
    return subprocess.run([program, "-h"], stdout=subprocess.PIPE, check=True, env=dict(os.environ, COLUMNS="1000")).stdout.decode().split("\n", 1)[0]


def main(argv):
    if argv and argv[0] not in ("-h", "--help"):
        try:
            program = pt2utils.path(argv[0])
        except pt2utils.Error as e:
            sys.stderr.write("pt2utils: %s\n" % e)
            return e.status
        os.execv(program, [program, *argv[1:]])
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    found = pt2utils.tools()
    for name in sorted(found):
        print("%-18s%s" % (name, about(found[name])))
    return 0 if found else 4


sys.exit(main(sys.argv[1:]))
