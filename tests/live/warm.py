"""A Python that has imported torch already: what starts many programs saves its seconds.

    warm.py --serve SOCKET                   # waits; ends when its standard input does
    warm.py --client SOCKET PROGRAM.py ...   # runs PROGRAM.py in a process forked from there: this one's folder, variables, streams, end

The client needs no torch."""
import json
import os
import signal
import socket
import sys


def client(path, argv):
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    what = json.dumps({"cwd": os.getcwd(), "env": dict(os.environ), "argv": argv}).encode()
    socket.send_fds(s, [len(what).to_bytes(8, "little")], [0, 1, 2])
    s.sendall(what)
    code = int(s.makefile().read() or 70)
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def handle(s):
    """In a process of its own, which waits for the program's."""
    head, fds, _, _ = socket.recv_fds(s, 8, 3)
    data = b""
    while len(data) < int.from_bytes(head, "little"):
        data += s.recv(1 << 20)
    what = json.loads(data)
    pid = os.fork()
    if pid == 0:
        import record_programs

        for n, fd in enumerate(fds):
            os.dup2(fd, n)
        s.close()
        os.chdir(what["cwd"])
        os.environ.clear()
        os.environ.update(what["env"])
        record_programs.execute(os.path.abspath(what["argv"][0]), what["argv"][1:])
    s.sendall(str(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])).encode())
    os._exit(0)


def serve(path):
    import record_programs  # noqa: F401  torch, and what its programs import

    listening = socket.socket(socket.AF_UNIX)
    listening.bind(path)
    listening.listen(16)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    print("ready", flush=True)
    while True:
        s, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            handle(s)
        s.close()


if __name__ == "__main__":
    serve(sys.argv[2]) if sys.argv[1] == "--serve" else client(sys.argv[2], sys.argv[3:])
