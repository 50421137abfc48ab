#!/bin/bash
# A signal in the middle of a run: the process dies of it, says nothing, and leaves nothing.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
mkdir box
for _ in 1 2 3 4 5 6; do cat "$DATA/models.log"; done >big.log

# interrupt SIGNAL WAIT INPUT ARGUMENT... : start tlparse in box/ (input: the big log, or a pipe that never ends), send the
# signal when something is being written and WAIT seconds have passed; prints the status (-15: died of 15), messages and
# what is left.
cat >interrupt.py <<'EOS'
import glob, os, signal, subprocess, sys, time
sig, wait, kind, args = getattr(signal, sys.argv[1]), float(sys.argv[2]), sys.argv[3], sys.argv[4:]
ignored = signal.SIG_IGN if kind == "ignored" else signal.SIG_DFL
out = open("stdout", "wb")
p = subprocess.Popen(["tlparse", *args], cwd="box", stdin=subprocess.PIPE, stdout=out, stderr=subprocess.PIPE,
                     preexec_fn=lambda: signal.signal(sig, ignored))
if kind != "file":
    p.stdin.write(open(os.environ["DATA"] + "/models.log", "rb").read())
    p.stdin.flush()
end = time.time() + 20
while time.time() < end and not glob.glob("box/*.tmp.*") and not (args[0] == "--html" and kind != "file") and p.poll() is None:
    time.sleep(0.001)
time.sleep(wait)
p.send_signal(sig)
if kind == "ignored":
    time.sleep(0.1)
    p.stdin.close()
    p.stdin = None
try:
    err = p.communicate(timeout=20)[1]
except subprocess.TimeoutExpired:
    p.kill()
    err = b"it goes on"
    p.wait()
print(p.returncode, err.decode(), " ".join(sorted(os.listdir("box"))), sep="|")
EOS
check() { # check WHAT WANT ARGUMENT...
	local what=$1 want=$2
	shift 2
	is "$what" "$(python3 interrupt.py "$@" 2>&1)" "$want"
	rm -rf box && mkdir box
}

check "SIGINT, a directory" "-2||" SIGINT 0.05 pipe - -o dir
check "SIGTERM, a directory" "-15||" SIGTERM 0.05 pipe - -o dir
check "SIGHUP, a directory" "-1||" SIGHUP 0.05 pipe - -o dir
check "SIGINT, --html=" "-2||" SIGINT 0.05 pipe --html=page.html -
check "SIGTERM, --html=" "-15||" SIGTERM 0.05 pipe --html=page.html -
check "SIGINT, standard output" "-2||" SIGINT 0.2 pipe --html -
is "standard output: nothing was written" "$(wc -c <stdout)" 0
for wait in 0 0.01 0.03 0.1; do
	check "SIGTERM while workers write files ($wait s)" "-15||" SIGTERM $wait file "$TMP/big.log" -o dir
done
check "nohup: an ignored SIGHUP stays ignored" "0||dir" SIGHUP 0.05 ignored - -o dir
cp "$DATA/simple.log" box/
(cd box && tlparse simple.log -o dir && touch dir/-_0_0_0/old)
is "SIGTERM while a report is to be replaced: the old one stays" \
	"$(python3 interrupt.py SIGTERM 0.05 file "$TMP/big.log" -o dir --overwrite 2>&1) $(ls box/dir/-_0_0_0/old)" "-15||dir simple.log box/dir/-_0_0_0/old"
done_testing
